"""`course build`: what it writes, what it refuses, and when it calls a file stale."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from course_utils.authoring import build_command, notebooks, student_notebook
from course_utils.authoring.execute import execute
from course_utils.authoring.files import AuthoringError, chosen
from course_utils.authoring.notebooks import HOUSE_RULES, setup_code, solved_notebook
from course_utils.authoring.repository import NOWHERE, read_setting, repository
from course_utils.authoring.source import DEFAULT_STUB, read
from course_utils.lessons import lesson
from course_utils.lessons.published import cell_digest

pytestmark = pytest.mark.turns

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SOURCE = "solutions/09_doubling.py"
STUDENT = "notebooks/09_doubling.ipynb"
SOLVED = "solutions/09_doubling.ipynb"
CELLS = "course_utils/lessons/cells.json"
SOLUTIONS = "course_utils/lessons/solutions.json"


def build(root: Path, *, check: bool = False, repository: str | None = None) -> int:
    return build_command(root, check=check, repository=repository, only=[])


def cell(notebook: NotebookNode, identifier: str) -> NotebookNode:
    return next(item for item in notebook.cells if item.id == identifier)


def edit(root: Path, old: str, new: str, name: str = SOURCE) -> None:
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{name} has no {old!r}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def source_fault(root: Path) -> str:
    with pytest.raises(AuthoringError) as caught:
        student_notebook(root, 9)
    return str(caught.value)


@pytest.fixture
def no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build without running cells, for tests of everything but outputs."""
    monkeypatch.setattr("course_utils.authoring.build.execute", lambda notebook, file: None)


# ------------------------------------------------------------------ what a learner opens


def test_the_student_notebook_holds_banner_stub_check_and_help_in_this_order(small_course: Path) -> None:
    notebook = student_notebook(small_course, 9)
    ids = [item.id for item in notebook.cells]
    at = ids.index("banner-9-1")
    assert ids[at : at + 4] == ["banner-9-1", "exercise-9-1", "check-9-1", "help-9-1"]
    assert cell(notebook, "check-9-1").source == 'check("9.1", double)'
    help_lines = cell(notebook, "help-9-1").source.split("\n")
    assert [line.split(")")[0] for line in help_lines] == ['# hint("9.1"', '# solution("9.1"']


def test_the_solution_is_cleared_and_the_stub_returns_an_ellipsis(small_course: Path) -> None:
    text = cell(student_notebook(small_course, 9), "exercise-9-1").source
    assert "doubled_tensor" not in text and "SOLUTION" not in text
    space: dict[str, Any] = {"torch": SimpleNamespace(Tensor=object)}
    exec(text, space)
    assert space["double"](1) is ...


def test_a_cell_may_bring_its_own_stub(small_course: Path) -> None:
    edit(small_course, 'exercise="9.1"', 'exercise="9.1" stub="..."')
    assert cell(student_notebook(small_course, 9), "exercise-9-1").source.endswith("\n    ...")


def test_a_broken_program_to_repair_is_the_stub_of_its_exercise(small_course: Path) -> None:
    broken = "    ### BEGIN STUB\n    if True:\n\n        return x\n    ### END STUB\n    ### BEGIN SOLUTION\n"
    edit(small_course, "    ### BEGIN SOLUTION\n", broken)
    text = cell(student_notebook(small_course, 9), "exercise-9-1").source
    assert text.endswith('"""Twice the tensor `x`."""\n    if True:\n\n        return x')
    (lesson,) = chosen([9])
    solved = cell(solved_notebook(read(small_course, lesson), lesson, NOWHERE), "exercise-9-1").source
    assert "STUB" not in solved and "if True" not in solved and "doubled_tensor" in solved


def test_the_methods_of_a_class_keep_their_places_in_its_stub(small_course: Path) -> None:
    methods = (
        f'    ### BEGIN STUB\n    def scale(self):\n        """One."""\n        {DEFAULT_STUB}\n    ### END STUB\n'
    )
    edit(small_course, "    ### BEGIN SOLUTION\n", methods + "    ### BEGIN SOLUTION\n")
    text = cell(student_notebook(small_course, 9), "exercise-9-1").source
    assert text.endswith(f'    def scale(self):\n        """One."""\n        {DEFAULT_STUB}')


def test_what_has_places_to_fill_in_is_no_broken_program(small_course: Path) -> None:
    (lesson,) = chosen([9])
    for line, broken in (("return x", True), (DEFAULT_STUB, False)):
        stub = f"    ### BEGIN STUB\n    {line}\n    ### END STUB\n    ### BEGIN SOLUTION\n"
        edit(small_course, "    ### BEGIN SOLUTION\n", stub)
        found = read(small_course, lesson).exercise_cell("9.1")
        assert found is not None and found.own_stub and found.broken_stub is broken
        edit(small_course, stub, "    ### BEGIN SOLUTION\n")


def test_the_banner_says_all_the_registry_knows(small_course: Path) -> None:
    banner = cell(student_notebook(small_course, 9), "banner-9-1").source
    assert banner.split("\n\n") == [
        "### Exercise 9.1: Twice as much",
        "`double` · 100 points · difficulty 2 of 5, gentle · about 7 minutes",
        "Write `double(x)`: twice the tensor.",
        "Rules:",
        "- No loops.",
        HOUSE_RULES,
    ]


def test_the_title_cell_ends_with_minutes_points_and_exercises(small_course: Path) -> None:
    title = student_notebook(small_course, 9).cells[0].source
    assert title.startswith("# Lesson 9: Doubling\n")
    assert title.endswith(
        "double a tensor.\n\nAbout 8 minutes, 1 of them to read and run · 100 points · 1 graded exercise"
    )


def test_a_long_lesson_says_in_how_many_sittings_it_is_taken(small_course: Path) -> None:
    edit(small_course, "minutes=7", "minutes=90", "course_utils/lessons/lesson9/double/task.py")
    assert "\n\nAbout 91 minutes in 2 sittings, 1 of them" in student_notebook(small_course, 9).cells[0].source


def test_a_lesson_ends_with_the_way_to_the_next(small_course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert student_notebook(small_course, 9).cells[-1].source == "This is the last lesson."
    following = replace(lesson(9), number=10, slug="10_tripling", title="Tripling")
    monkeypatch.setattr(notebooks, "lessons", lambda: (lesson(9), following))
    assert student_notebook(small_course, 9).cells[-1].source == "**Next:** [Lesson 10: Tripling](10_tripling.ipynb)"


def test_cell_ids_are_readable_unique_and_the_same_on_every_build(small_course: Path) -> None:
    edit(small_course, "# Nothing yet.", "# Nothing yet.\n\n# %% [markdown]\n# ## In the wild")
    ids = [item.id for item in student_notebook(small_course, 9).cells]
    assert ids == [item.id for item in student_notebook(small_course, 9).cells]
    assert ids[:3] == ["text-doubling", "setup", "code-import-torch"]
    assert {"text-in-the-wild", "text-in-the-wild-2"} < set(ids)
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", item) for item in ids)


def test_nbgrader_finds_one_solution_cell_and_one_graded_cell(small_course: Path) -> None:
    notebook = student_notebook(small_course, 9)
    marked = {item.id: item.metadata.nbgrader for item in notebook.cells if "nbgrader" in item.metadata}
    assert set(marked) == {"exercise-9-1", "check-9-1"}
    kinds = {key: (data.grade_id, data.grade, data.solution, data.locked) for key, data in marked.items()}
    assert kinds["exercise-9-1"] == ("double", False, True, False)
    assert kinds["check-9-1"] == ("check-9-1", True, False, True)
    assert marked["check-9-1"].points == 100


def test_cells_for_one_version_are_left_out_of_the_other(small_course: Path) -> None:
    edit(small_course, "# %%\nprint((", '# %% tags=["solved_only"]\nprint((')
    (lesson,) = chosen([9])
    solved = solved_notebook(read(small_course, lesson), lesson, NOWHERE)
    student = student_notebook(small_course, 9)
    assert any("print((" in item.source for item in solved.cells)
    assert not any("print((" in item.source for item in student.cells)


# ------------------------------------------------------------------ what a source may not say


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("    ### END SOLUTION\n", "", "no whole solution"),
        ("    ### BEGIN SOLUTION\n", "    ### BEGIN SOLUTION\n    ### BEGIN SOLUTION\n", "does not pair"),
        ('# %% exercise="9.1"', "# %%", 'without exercise="N.M"'),
        ('exercise="9.1"', 'exercise="9.7"', "exercise 9.7 is not registered"),
        ("# # Doubling", "# Doubling", "the first cell is not the title"),
    ],
)
def test_a_fault_in_the_source_is_named_with_its_file(small_course: Path, old: str, new: str, fault: str) -> None:
    edit(small_course, old, new)
    said = source_fault(small_course)
    assert said.startswith(SOURCE) and fault in said


def test_an_exercise_that_stands_twice_is_refused(small_course: Path) -> None:
    path = small_course / SOURCE
    text = path.read_text(encoding="utf-8")
    block = text[text.index('# %% exercise="9.1"') : text.index("# %% [markdown]\n# ## True or false")]
    path.write_text(text.replace(block, block + block), encoding="utf-8")
    assert "mark each exercise once" in source_fault(small_course)


def test_a_difficulty_outside_one_to_five_is_refused(small_course: Path) -> None:
    edit(small_course, "difficulty=2", "difficulty=6", "course_utils/lessons/lesson9/double/task.py")
    assert "exercise 9.1: difficulty 6; use 1 to 5" in source_fault(small_course)


def test_an_unknown_lesson_is_named_with_those_there_are(small_course: Path) -> None:
    with pytest.raises(AuthoringError, match="there is no lesson 4; the lessons are 9"):
        build_command(small_course, check=False, repository=None, only=[4])


# ------------------------------------------------------------------ repository, badge, set-up cell


@pytest.mark.parametrize(
    ("place", "advice"),
    [("plain", "make lab"), ("colab", "%pip install git+https://github.com/OWNER/NAME"), ("binder", "%pip install ..")],
)
def test_without_a_repository_there_is_no_badge_and_the_set_up_cell_says_what_to_do_where_it_runs(
    place: str, advice: str, small_course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = student_notebook(small_course, 9)
    assert not any("colab" in item.source.lower() for item in notebook.cells if item.id != "setup")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.delenv("BINDER_REPO_URL", raising=False)
    if place == "colab":
        monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    if place == "binder":
        monkeypatch.setenv("BINDER_REPO_URL", "somewhere")
    with pytest.raises(ModuleNotFoundError) as caught:
        exec(cell(notebook, "setup").source, {})
    said = str(caught.value)
    assert advice in said and ("make lab" in said) == (place == "plain")


def test_a_repository_on_github_gives_every_lesson_a_badge_with_alternative_text(small_course: Path) -> None:
    title = student_notebook(small_course, 9, repository="me/my-course").cells[0].source
    target = "https://colab.research.google.com/github/me/my-course/blob/HEAD/notebooks/09_doubling.ipynb"
    assert re.search(rf"\[!\[Open this lesson in Google Colab\]\([^)]+\.svg\)\]\({re.escape(target)}\)$", title)


def test_the_set_up_cell_parses_and_fits_the_page_for_every_kind_of_repository(tmp_path: Path) -> None:
    for value in ("", "me/my-course", "git+https://example.invalid/a.git", str(tmp_path)):
        code = setup_code(repository(value))
        ast.parse(code)
        # The name of the repository is as long as it is.
        assert max(map(len, code.replace(str(tmp_path), "").split("\n"))) <= 98, value


def test_the_set_up_cell_upgrades_nothing_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(subprocess, "run", lambda command, check: ran.append(command))
    exec(setup_code(repository("me/my-course")), {})
    (command,) = ran
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    assert "https://github.com/me/my-course/archive/HEAD.zip" in command
    there = [f"{name}=={importlib.metadata.version(name)}" for name in notebooks.IN_A_KERNEL]
    assert command[-len(there) :] == there and not any("jupyterlab" in part or "[" in part for part in command)


def test_the_set_up_cell_lets_pip_choose_where_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("importlib.metadata.distributions", lambda name: [])
    monkeypatch.setattr(subprocess, "run", lambda command, check: ran.append(command))
    exec(setup_code(repository("me/my-course")), {})
    assert ran[0][-len(notebooks.IN_A_KERNEL) :] == list(notebooks.IN_A_KERNEL)


def test_the_set_up_cell_installs_nothing_where_the_package_is(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: pytest.fail("pip was called"))
    space: dict[str, Any] = {}
    exec(setup_code(repository("me/my-course")), space)
    assert {"check", "compare", "hint", "predict", "progress", "quiz", "solution"} <= set(space)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("spelled", ["me/c", "https://github.com/me/c", "https://github.com/me/c.git"])
def test_a_github_address_means_the_same_as_owner_and_name(spelled: str) -> None:
    assert repository(spelled) == repository("me/c")


def test_a_folder_and_a_git_url_are_installed_from_without_a_badge(tmp_path: Path) -> None:
    assert repository(str(tmp_path)).requirement == f"git+{tmp_path.as_uri()}"
    (tmp_path / "pyproject.toml").touch()
    assert repository(str(tmp_path)).requirement == tmp_path.as_uri()
    assert repository("git+ssh://host.invalid/c").requirement == "git+ssh://host.invalid/c"
    assert all(repository(value).badge("x") == "" for value in (str(tmp_path), "git+ssh://host.invalid/c"))


def test_what_is_no_repository_is_refused() -> None:
    with pytest.raises(AuthoringError, match="give OWNER/NAME"):
        repository("just-a-name")


def test_build_writes_the_repository_into_the_one_setting_and_nothing_else(small_course: Path, no_kernel: None) -> None:
    before = (small_course / "pyproject.toml").read_text(encoding="utf-8")
    assert build(small_course, repository="me/my-course") == 0
    after = (small_course / "pyproject.toml").read_text(encoding="utf-8")
    assert after == before.replace('repository = ""', 'repository = "me/my-course"')
    assert read_setting(small_course) == tomllib.loads(after)["tool"]["course"]["repository"] == "me/my-course"
    assert "colab-badge" in (small_course / "README.md").read_text(encoding="utf-8")
    assert build(small_course, check=True) == 0
    assert build(small_course, repository="") == 0
    assert (small_course / "pyproject.toml").read_text(encoding="utf-8") == before


def test_check_with_another_repository_changes_no_file(small_course: Path, no_kernel: None) -> None:
    build(small_course)
    before = {path: path.read_bytes() for path in small_course.rglob("*") if path.is_file()}
    assert build(small_course, check=True, repository="me/my-course") == 1
    assert {path: path.read_bytes() for path in small_course.rglob("*") if path.is_file()} == before


# ------------------------------------------------------------------ stale or not


def test_what_was_just_built_is_up_to_date(
    small_course: Path, no_kernel: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build(small_course) == 0
    capsys.readouterr()
    assert build(small_course, check=True) == 0
    assert capsys.readouterr().out == "everything generated is up to date (1 lesson)\n"


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (SOURCE, "# Guess first.", "# Guess now.", f"{STUDENT}: stale from cell text-twice on; run course build 9"),
        (SOURCE, "doubled_tensor", "twice_of_it", f"{SOLVED}: stale from cell exercise-9-1 on; run course build 9"),
        (SOURCE, "doubled_tensor", "twice_of_it", f"{SOLUTIONS}: solutions differ from the sources"),
        (CELLS, '"9"', '"8"', f"{CELLS}: cells differ from the sources"),
        (STUDENT, "Guess first.", "Guess now.", f"{STUDENT}: stale from cell text-twice on; run course build 9"),
        ("README.md", "Doubling", "Halving", "README.md: the table of lessons is stale"),
    ],
)
def test_a_stale_file_is_named_with_the_cell_and_the_remedy(
    small_course: Path,
    no_kernel: None,
    capsys: pytest.CaptureFixture[str],
    name: str,
    old: str,
    new: str,
    said: str,
) -> None:
    build(small_course)
    edit(small_course, old, new, name)
    capsys.readouterr()
    assert build(small_course, check=True) == 1
    assert said in capsys.readouterr().out


def test_a_change_of_a_solution_leaves_the_student_notebook_up_to_date(
    small_course: Path, no_kernel: None, capsys: pytest.CaptureFixture[str]
) -> None:
    build(small_course)
    edit(small_course, "doubled_tensor", "twice_of_it")
    capsys.readouterr()
    build(small_course, check=True)
    assert STUDENT not in capsys.readouterr().out


def test_outputs_and_counts_of_the_solved_notebook_are_not_compared(small_course: Path, no_kernel: None) -> None:
    build(small_course)
    path = small_course / SOLVED
    notebook = nbformat.read(path, as_version=4)
    code = next(item for item in notebook.cells if item.cell_type == "code")
    code.execution_count = 7
    code.outputs = [nbformat.v4.new_output("stream", name="stdout", text="another machine")]
    nbformat.write(notebook, path)
    assert build(small_course, check=True) == 0


@pytest.mark.parametrize("name", [STUDENT, SOLVED])
def test_a_missing_or_unreadable_notebook_is_stale(
    small_course: Path, no_kernel: None, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    build(small_course)
    for spoil, said in ((lambda path: path.write_text("{"), "not a notebook"), (Path.unlink, "missing")):
        spoil(small_course / name)
        capsys.readouterr()
        assert build(small_course, check=True) == 1
        assert f"{name}: {said}" in capsys.readouterr().out


def test_the_table_of_lessons_stands_between_its_markers(small_course: Path, no_kernel: None) -> None:
    build(small_course)
    text = (small_course / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# Course\n\n<!-- lessons:begin -->\n| Lesson") and text.endswith("end -->\n\nThe end.\n")
    assert "| [9 · Doubling](notebooks/09_doubling.ipynb) | 8 | 100 |\n" in text


def test_a_readme_without_markers_is_left_alone(small_course: Path, no_kernel: None) -> None:
    (small_course / "README.md").write_text("# Mine\n", encoding="utf-8")
    assert build(small_course) == 0
    assert (small_course / "README.md").read_text(encoding="utf-8") == "# Mine\n"


def test_the_solutions_are_kept_without_markers(small_course: Path, no_kernel: None) -> None:
    build(small_course)
    kept = json.loads((small_course / SOLUTIONS).read_text(encoding="utf-8"))
    assert set(kept) == {"9.1"}
    assert kept["9.1"].startswith("def double(x") and "SOLUTION" not in kept["9.1"]


def test_the_cells_that_a_learner_gets_are_kept_as_digests(small_course: Path, no_kernel: None) -> None:
    build(small_course)
    kept = json.loads((small_course / CELLS).read_text(encoding="utf-8"))
    code = [item.source for item in student_notebook(small_course, 9).cells if item.cell_type == "code"]
    assert kept == {"9": sorted(map(cell_digest, code))} and len(kept["9"]) == len(code)
    edit(small_course, "doubled_tensor", "twice_of_it")
    build(small_course)
    assert json.loads((small_course / CELLS).read_text(encoding="utf-8")) == kept


# ------------------------------------------------------------------ executed


def test_building_twice_gives_the_same_bytes_and_a_solved_notebook_that_passed(small_course: Path) -> None:
    drawing = (
        "from matplotlib.figure import Figure\n"
        "from gradient_ledger.figures import show\n\n"
        "drawn = Figure()\ndrawn.subplots().plot([1, 2])\n"
        'show(drawn, alt="A line that rises.")'
    )
    edit(small_course, "# %%\nprint((", f"# %%\n{drawing}\n\n# %%\nprint((")
    assert build(small_course) == 0
    generated = [small_course / name for name in (STUDENT, SOLVED, SOLUTIONS, "README.md")]
    before = [path.read_bytes() for path in generated]
    assert all(data.endswith(b"\n") for data in before)
    assert build(small_course) == 0
    assert [path.read_bytes() for path in generated] == before

    student = nbformat.read(small_course / STUDENT, as_version=4)
    assert all(item.outputs == [] and item.execution_count is None for item in student.cells if "outputs" in item)
    solved = nbformat.read(small_course / SOLVED, as_version=4)
    counts = [item.execution_count for item in solved.cells if item.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert "PASSED" in cell(solved, "check-9-1").outputs[0].data["text/plain"].upper()
    text = before[1].decode()
    assert "widget-view" not in text and "widgets" not in solved.metadata and str(small_course) not in text
    images = [out for item in solved.cells for out in item.get("outputs", []) if "image/png" in out.get("data", {})]
    assert [image.metadata["image/png"]["alt"] for image in images] == ["A line that rises."]


def test_a_cell_that_raises_while_building_is_named_and_the_old_notebook_stays(
    small_course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (small_course / SOLVED).write_text("as it was", encoding="utf-8")
    edit(small_course, "print((torch", "print(1 / 0, (torch")
    assert build(small_course) == 1
    said = capsys.readouterr().out
    assert f"{SOURCE}: cell code-print" in said and "raised ZeroDivisionError: division by zero" in said
    assert (small_course / SOLVED).read_text(encoding="utf-8") == "as it was"


def run(code: str) -> NotebookNode:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code, id="code-only")])
    execute(notebook, "lesson.py")
    return notebook.cells[0]


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("import warnings\nwarnings.warn('beware')", r"wrote to stderr(.|\n)*UserWarning: beware"),
        ("print(object())", r"shows a memory address \('at 0x"),
        ("import os\nos._exit(3)", "ended the kernel"),
    ],
    ids=["warning", "address", "dead kernel"],
)
def test_output_that_nbgrader_or_nbval_would_trip_over_is_refused(code: str, fault: str) -> None:
    with pytest.raises(AuthoringError, match=fault) as caught:
        run(code)
    assert str(caught.value).startswith("lesson.py: cell code-only (")


def test_the_kernel_is_this_interpreter_in_an_empty_folder_with_an_empty_record() -> None:
    done = run(
        "import json, os, sys\n"
        "print(json.dumps([sys.executable, os.listdir(), os.listdir(os.environ['COURSE_HOME']), "
        "os.environ.get('MPLBACKEND', '')]))"
    )
    executable, here, record, backend = json.loads(done.outputs[0].text)
    assert executable == sys.executable
    assert (here, record) == ([], [])
    assert "inline" in backend


def test_pieces_of_one_stream_are_stored_as_one() -> None:
    done = run("import time\nfor i in range(3):\n    print(i, flush=True)\n    time.sleep(0.3)")
    assert [(output.name, output.text) for output in done.outputs] == [("stdout", "0\n1\n2\n")]
