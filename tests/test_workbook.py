"""`course lab` and `course reset`: a learner's work is never overwritten, whatever happens around it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils import doctor, record
from course_utils.workbook import (
    UserError,
    find_repository,
    lab_arguments,
    lab_environment,
    prepare,
    pristine_notebooks,
    reset,
    running_lab,
)

FIRST, THIRD = "01_what_gradients_are.ipynb", "03_clearing_gradients.ipynb"
ROOT = Path(__file__).resolve().parent.parent


def make_repository(folder: Path) -> Path:
    (folder / "notebooks").mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "gradient-ledger"\n')
    for name in (FIRST, THIRD):
        publish(folder, name, f"{name}, version 1")
    return folder


def publish(root: Path, name: str, text: str) -> None:
    (root / "notebooks" / name).write_text(text, encoding="utf-8")


def actions(root: Path) -> dict[str, str]:
    return {handed.name: handed.action for handed in prepare(root)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "course")


def notebook(*sources: str, **metadata: object) -> str:
    """A published notebook, as text."""
    cells = [{"cell_type": "code", "id": s, "metadata": {}, "outputs": [], "source": s} for s in sources]
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def autosaved(path: Path, *, ran: bool = False) -> None:
    """What a front end makes of a notebook that was opened, and perhaps run, but not edited."""
    content = json.loads(path.read_text())
    content["metadata"] |= {"language_info": {"name": "python", "version": "3.99.0"}, "widgets": {}}
    for cell in content["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
        cell["metadata"]["trusted"] = True
        cell |= {"execution_count": 1, "outputs": [{"output_type": "stream", "text": "1"}]} if ran else {}
    path.write_text(json.dumps(content, indent=1))


@pytest.fixture
def mine(root: Path) -> Path:
    """The learner's copy of lesson 3, as first handed out."""
    prepare(root)
    return root / "workbook" / THIRD


# ------------------------------------------------------------------ handing out


def test_a_fresh_workbook_holds_every_published_notebook(root: Path) -> None:
    assert actions(root) == {FIRST: "placed", THIRD: "placed"}
    for name in (FIRST, THIRD):
        assert (root / "workbook" / name).read_bytes() == (root / "notebooks" / name).read_bytes()


def test_a_second_run_changes_nothing(root: Path, mine: Path) -> None:
    before = mine.stat().st_mtime_ns
    assert set(actions(root).values()) == {"current"}
    assert mine.stat().st_mtime_ns == before


def test_an_untouched_notebook_is_refreshed_when_a_newer_one_is_published(root: Path, mine: Path) -> None:
    publish(root, THIRD, "version 2")
    assert actions(root) == {FIRST: "current", THIRD: "refreshed"}
    assert mine.read_text() == "version 2"
    publish(root, THIRD, "version 3")
    assert actions(root)[THIRD] == "refreshed", "a refreshed notebook counts as handed out, too"


def test_a_changed_notebook_is_kept(root: Path, mine: Path) -> None:
    mine.write_text("my answers")
    assert actions(root)[THIRD] == "kept"
    assert mine.read_text() == "my answers"


def test_a_changed_notebook_is_kept_and_a_newer_version_is_announced_each_time(root: Path, mine: Path) -> None:
    mine.write_text("my answers")
    publish(root, THIRD, "version 2")
    assert [actions(root)[THIRD] for _ in range(2)] == ["newer exists", "newer exists"]
    assert mine.read_text() == "my answers"


@pytest.mark.parametrize("ran", [False, True])
def test_opening_saving_and_running_is_not_touching(root: Path, mine: Path, ran: bool) -> None:
    publish(root, THIRD, notebook("a = 1\nb = 2", "c"))
    prepare(root)
    autosaved(mine, ran=ran)
    before = mine.read_bytes()
    assert actions(root)[THIRD] == "current" and mine.read_bytes() == before
    publish(root, THIRD, notebook("a = 1\nb = 3", "c"))
    assert actions(root)[THIRD] == "refreshed"
    assert mine.read_text() == notebook("a = 1\nb = 3", "c")


@pytest.mark.parametrize("edit", ["source", "a cell more", "a picture", "order"])
def test_any_edit_is_touching(root: Path, mine: Path, edit: str) -> None:
    publish(root, THIRD, notebook("a", "b"))
    prepare(root)
    content = json.loads(mine.read_text())
    if edit == "source":
        content["cells"][0]["source"] += " "
    elif edit == "a cell more":
        content["cells"].append({"cell_type": "markdown", "id": "mine", "metadata": {}, "source": "my notes"})
    elif edit == "a picture":
        content["cells"][0]["attachments"] = {"mine.png": {"image/png": "aGk="}}
    else:
        content["cells"].reverse()
    mine.write_text(json.dumps(content))
    publish(root, THIRD, notebook("a", "b", "c"))
    assert actions(root)[THIRD] == "newer exists"


def test_a_manifest_of_an_earlier_version_still_knows_an_untouched_notebook(root: Path, mine: Path) -> None:
    mine.write_text(notebook("a"))
    manifest = root / "workbook" / ".course" / "pristine.json"
    old = hashlib.sha256(mine.read_bytes()).hexdigest()
    manifest.write_text(json.dumps({"version": 1, "notebooks": {THIRD: old}}))
    publish(root, THIRD, notebook("b"))
    assert actions(root)[THIRD] == "refreshed"


def test_a_notebook_is_handed_out_with_the_python_version_that_jupyterlab_would_write(root: Path) -> None:
    source = 'print({"version": "1.2"})'
    publish(root, THIRD, notebook(source, language_info={"version": "3.11.2"}))
    prepare(root)
    handed = json.loads((root / "workbook" / THIRD).read_text())
    assert handed["metadata"]["language_info"]["version"] == platform.python_version()
    assert handed["cells"][0]["source"] == source
    assert not reset(root, 3).changed


def test_a_deleted_notebook_is_placed_again(root: Path, mine: Path) -> None:
    mine.unlink()
    assert actions(root)[THIRD] == "placed"


@pytest.mark.parametrize(
    "damage",
    [b"", b"\xff\xfe", b"{", b"[]", b"null", b'{"notebooks": 3}', b'{"notebooks": {"%s": 7}}' % THIRD.encode()],
)
def test_a_damaged_manifest_costs_the_refresh_and_nothing_else(root: Path, mine: Path, damage: bytes) -> None:
    mine.write_text("my answers")
    (root / "workbook" / ".course" / "pristine.json").write_bytes(damage)
    publish(root, FIRST, "version 2")
    assert actions(root) == {FIRST: "unknown origin", THIRD: "unknown origin"}
    assert mine.read_text() == "my answers"
    assert actions(root)[THIRD] == "unknown origin", "nor is it taken for untouched later"


def test_an_untouched_notebook_is_known_again_after_a_damaged_manifest(root: Path, mine: Path) -> None:
    (root / "workbook" / ".course" / "pristine.json").write_text("damaged")
    assert actions(root)[THIRD] == "current"
    publish(root, THIRD, "version 2")
    assert actions(root)[THIRD] == "refreshed"


def test_a_handed_out_notebook_can_be_read_by_whoever_can_read_the_published_one(root: Path) -> None:
    (root / "notebooks" / THIRD).chmod(0o644)
    prepare(root)
    assert stat.S_IMODE((root / "workbook" / THIRD).stat().st_mode) == 0o644


def test_line_ends_and_accents_arrive_as_published(root: Path) -> None:
    (root / "notebooks" / THIRD).write_bytes("é\r\n∂L/∂w\n".encode())
    prepare(root)
    assert (root / "workbook" / THIRD).read_bytes() == "é\r\n∂L/∂w\n".encode()


def test_a_folder_in_the_way_is_named(root: Path) -> None:
    (root / "workbook" / THIRD).mkdir(parents=True)
    with pytest.raises(UserError, match=THIRD):
        prepare(root)


def test_no_temporary_file_is_left_behind(root: Path, mine: Path) -> None:
    publish(root, THIRD, "version 2")
    prepare(root)
    reset(root, 1)
    assert sorted(path.name for path in mine.parent.iterdir()) == [".course", FIRST, THIRD]


# ------------------------------------------------------------------ reset


def test_reset_keeps_the_learners_version_beside_the_published_one(root: Path, mine: Path) -> None:
    mine.write_text("my answers")
    done = reset(root, 3)
    assert done.backup == mine.with_name("03_clearing_gradients.old-1.ipynb")
    assert done.backup.read_text() == "my answers"
    assert mine.read_text() == f"{THIRD}, version 1"


def test_reset_never_overwrites_an_earlier_one(root: Path, mine: Path) -> None:
    for attempt in ("first", "second", "third"):
        mine.write_text(attempt)
        reset(root, 3)
    kept = [mine.with_name(f"03_clearing_gradients.old-{k}.ipynb").read_text() for k in (1, 2, 3)]
    assert kept == ["first", "second", "third"]


def test_reset_of_an_untouched_notebook_makes_no_backup(root: Path, mine: Path) -> None:
    assert not reset(root, 3).changed
    assert not list(mine.parent.glob("*.old-*"))


def test_reset_of_a_notebook_that_was_only_run_clears_it_and_makes_no_backup(root: Path, mine: Path) -> None:
    publish(root, THIRD, notebook("a"))
    prepare(root)
    autosaved(mine, ran=True)
    done = reset(root, 3)
    assert done.changed and done.backup is None
    assert mine.read_text() == notebook("a")


def test_the_old_notebook_sorts_after_the_new_one(root: Path, mine: Path) -> None:
    mine.write_text("my answers")
    done = reset(root, 3)
    assert done.backup is not None
    # By bytes, and as JupyterLab's localeCompare does it, for which punctuation comes before letters.
    for key in (str, lambda name: re.sub(r"\W", "", name)):
        assert sorted([done.backup.name, mine.name], key=key) == [mine.name, done.backup.name]


def test_reset_before_the_first_lab_places_the_notebook(root: Path) -> None:
    done = reset(root, 3)
    assert done.changed and done.backup is None
    assert done.notebook.read_text() == f"{THIRD}, version 1"


def test_a_notebook_that_was_reset_is_refreshed_like_a_new_one(root: Path, mine: Path) -> None:
    mine.write_text("my answers")
    publish(root, THIRD, "version 2")
    reset(root, 3)
    publish(root, THIRD, "version 3")
    assert actions(root)[THIRD] == "refreshed"


def test_an_interrupted_reset_leaves_the_learners_notebook_in_place(
    root: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine.write_text("my answers")

    def no_space(*arguments: object) -> None:
        raise OSError(28, "No space left on device", str(mine))

    monkeypatch.setattr(os, "replace", no_space)
    with pytest.raises(UserError, match="No space left"):
        reset(root, 3)
    assert mine.read_text() == "my answers"


def test_reset_of_an_unknown_lesson_lists_the_lessons(root: Path) -> None:
    with pytest.raises(UserError, match="no lesson 9: the lessons are 1, 3"):
        reset(root, 9)


STEPS = st.sampled_from(["lab", "reset", "edit", "publish", "damage manifest", "delete manifest"])


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(STEPS, max_size=14))
def test_in_any_order_of_events_what_the_learner_wrote_last_or_reset_away_still_exists(
    steps: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = make_repository(tmp_path_factory.mktemp("any") / "course")
    mine, manifest = root / "workbook" / THIRD, root / "workbook" / ".course" / "pristine.json"
    owed: list[str] = []  # what must still be found: each text the learner did not replace by another edit
    current: str | None = None
    prepare(root)
    for number, step in enumerate(steps):
        if step == "lab":
            prepare(root)
        elif step == "reset":
            reset(root, 3)
            current = None
        elif step == "edit":
            if current is not None:
                owed.remove(current)
            current = f"answers {number}"
            owed.append(current)
            mine.write_text(current)
        elif step == "publish":
            publish(root, THIRD, f"version {number}")
        elif step == "damage manifest":
            manifest.write_text("{")
        else:
            manifest.unlink(missing_ok=True)
    found = [path.read_text() for path in mine.parent.glob("*.ipynb")]
    assert [text for text in owed if text not in found] == []
    shutil.rmtree(root)


# ------------------------------------------------------------------ where it works


def test_the_repository_is_found_from_any_folder_inside_it(root: Path) -> None:
    deep = root / "workbook" / "a" / "b"
    deep.mkdir(parents=True)
    assert find_repository(deep) == find_repository(root) == root.resolve()


def test_another_project_on_the_way_up_is_not_taken_for_the_course(root: Path) -> None:
    inner = root / "workbook" / "own-project"
    inner.mkdir(parents=True)
    (inner / "pyproject.toml").write_text('[project]\nname = "something-else"\n')
    assert find_repository(inner) == root.resolve()


def test_outside_the_repository_the_error_says_where_to_go(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="change to the folder you cloned"):
        find_repository(tmp_path)


def test_a_repository_without_notebooks_says_how_to_get_them_back(root: Path) -> None:
    shutil.rmtree(root / "notebooks")
    with pytest.raises(UserError, match="git checkout notebooks"):
        pristine_notebooks(root)


def test_the_workbook_is_ignored_by_git() -> None:
    done = subprocess.run(["git", "check-ignore", "-q", "--no-index", f"workbook/{THIRD}"], cwd=ROOT)
    if done.returncode == 128:
        pytest.skip("this copy of the project is not a git repository")
    assert done.returncode == 0


# ------------------------------------------------------------------ JupyterLab


def test_the_lab_listens_where_it_is_told_and_extra_arguments_come_last(tmp_path: Path) -> None:
    arguments = lab_arguments(tmp_path, browser=False, port=9000, extra=["--ServerApp.ip=localhost"])
    assert arguments[:3] == [sys.executable, "-m", "jupyterlab"]
    assert {f"--ServerApp.root_dir={tmp_path}", "--no-browser", "--ServerApp.port=9000"} <= set(arguments)
    assert arguments[-1] == "--ServerApp.ip=localhost"


def test_the_lab_opens_a_browser_on_a_port_of_its_own_choice_by_default(tmp_path: Path) -> None:
    arguments = " ".join(lab_arguments(tmp_path, browser=True, port=None, extra=[]))
    assert "--no-browser" not in arguments and "port" not in arguments


def test_the_record_is_kept_in_the_workbook(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COURSE_HOME")
    assert lab_environment(root)["COURSE_HOME"] == str(root / "workbook" / ".course")
    assert doctor_record(root, monkeypatch) == root / "workbook" / ".course"


@pytest.mark.parametrize("given", ["elsewhere", "~/elsewhere", "/elsewhere"])
def test_a_course_home_means_the_same_to_the_lab_the_doctor_and_a_notebook(
    root: Path, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_HOME", given)
    monkeypatch.chdir(root)
    of_the_lab = lab_environment(root)["COURSE_HOME"]
    assert doctor_record(root, monkeypatch) == Path(of_the_lab)
    monkeypatch.setenv("COURSE_HOME", of_the_lab)
    (root / "workbook").mkdir()
    monkeypatch.chdir(root / "workbook")  # where a notebook's kernel runs
    assert record.home() == Path(of_the_lab)


def doctor_record(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(doctor, "_repository", lambda: root)
    return doctor._record_folder()


def test_the_settings_of_the_course_are_read_by_jupyterlab(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jupyter_server.services.config import ConfigManager

    for name, value in lab_environment(root).items():
        monkeypatch.setenv(name, value)
    settings = ConfigManager(config_dir_name="labconfig").get("default_setting_overrides")
    assert settings["@jupyterlab/notebook-extension:tracker"]["codeCellConfig"]["lineWrap"] is True


def test_a_second_lab_finds_the_first_that_answers_and_runs_on_this_workbook(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    prepare(root)
    workbook = root / "workbook"
    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        known = [
            {"root_dir": str(root / "gone"), "url": url, "token": "t"},
            {"root_dir": str(root), "url": url, "token": "t"},
            {"root_dir": str(workbook), "url": "http://127.0.0.1:9/", "token": "t"},
        ]
        monkeypatch.setattr("jupyter_server.serverapp.list_running_servers", lambda: known)
        assert running_lab(workbook) == ""
        known.append({"root_dir": str(workbook), "url": url, "token": "t"})
        assert running_lab(workbook) == f"{url}lab/tree/00_start.md?token=t"
        server.shutdown()


def run_course(*arguments: str, cwd: Path, fake: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, filter(None, (fake, ROOT))))
    environment = {**os.environ, "PYTHONPATH": path}
    environment.pop("COURSE_HOME", None)
    command = [sys.executable, "-m", "course_utils.cli", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_course_lab_becomes_jupyterlab_in_the_workbook_and_returns_its_status(root: Path, tmp_path: Path) -> None:
    fake = tmp_path / "fake" / "jupyterlab"
    fake.mkdir(parents=True)
    (fake / "__init__.py").touch()
    (fake / "__main__.py").write_text(
        "import json, os, sys\nprint('LAB', json.dumps([sys.argv[1:], os.environ['COURSE_HOME']]))\nsys.exit(7)\n"
    )
    below = root / "notebooks"
    done = run_course("lab", "--no-browser", "--", "--own=1", cwd=below, fake=fake.parent)
    assert done.returncode == 7, done.stderr
    handed, lab = done.stdout.splitlines()[:-1], done.stdout.splitlines()[-1]
    assert handed == [f"{FIRST}: placed", f"{THIRD}: placed"]
    arguments, home = json.loads(lab.removeprefix("LAB "))
    assert arguments[0] == f"--ServerApp.root_dir={root / 'workbook'}" and arguments[-1] == "--own=1"
    assert arguments[1] == "--LabApp.default_url=/lab/tree/00_start.md"
    assert home == str(root / "workbook" / ".course")
    assert "**Next step:** open [Lesson 1" in (root / "workbook" / "00_start.md").read_text()


def test_course_lab_says_that_a_newer_version_exists_and_how_to_get_it(root: Path, mine: Path, tmp_path: Path) -> None:
    fake = tmp_path / "fake" / "jupyterlab"
    fake.mkdir(parents=True)
    (fake / "__init__.py").touch()
    (fake / "__main__.py").touch()
    mine.write_text("my answers")
    publish(root, THIRD, "version 2")
    done = run_course("lab", cwd=root, fake=fake.parent)
    assert f"{THIRD}: yours is kept. A newer version exists; `course reset 3` gives it" in done.stdout


def test_course_reset_says_where_the_learners_version_went(root: Path, mine: Path) -> None:
    mine.write_text("my answers")
    done = run_course("reset", "3", cwd=mine.parent)
    assert done.returncode == 0, done.stderr
    assert str(Path("workbook", "03_clearing_gradients.old-1.ipynb")) in done.stdout
    assert "Your record of lesson 3 stays; `course reset 3 --record` clears that, too" in done.stdout


def test_course_reset_clears_the_record_only_when_asked_and_keeps_the_old_one(root: Path, mine: Path) -> None:
    kept = mine.parent / ".course" / "lesson3.json"
    kept.write_text('{"3.1": {"points": 20}}')
    run_course("reset", "3", cwd=root)
    assert kept.is_file()
    done = run_course("reset", "3", "--record", cwd=root)
    assert "is already as published" in done.stdout and "is cleared" in done.stdout
    assert not kept.exists() and kept.with_name("lesson3.json.old-1").read_text() == '{"3.1": {"points": 20}}'
    assert "There is no record of lesson 3" in run_course("reset", "3", "--record", cwd=root).stdout
