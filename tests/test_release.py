"""`course release`: an instructor's own course, which knows no answer, opens, and is graded with its own points."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

import pytest

import course_utils.lessons
from course_utils import cli
from course_utils.authoring import release as module
from course_utils.authoring.release import choose_terms, release
from course_utils.checks import knows_an_answer
from course_utils.lessons import Terms, adopt, lesson, lessons, terms
from course_utils.lessons.terms import PLACE, own_terms, read_terms, to_text
from course_utils.workbook import find_repository, prepare
from gradient_ledger.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS: dict[str, str] = json.loads((ROOT / "course_utils/lessons/solutions.json").read_text(encoding="utf-8"))
OWN = choose_terms([1, 6], {"1.1": 25, "1.2": 10}, "spring")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lessons 1 and 6 of this clone, two exercises with other points."""
    folder = tmp_path_factory.mktemp("class") / "gradients"
    release(ROOT, folder, OWN)
    return folder


@pytest.fixture(autouse=True)
def usual_terms() -> Iterator[None]:
    yield
    adopt(None)


def files(folder: Path) -> list[PurePath]:
    return [PurePath(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()]


def notebook(folder: Path, number: int) -> dict[str, Any]:
    path = folder / "notebooks" / f"{lesson(number).slug}.ipynb"
    return dict(json.loads(path.read_text(encoding="utf-8")))


def cells(folder: Path, number: int) -> dict[str, dict[str, Any]]:
    return {cell["id"]: cell for cell in notebook(folder, number)["cells"]}


def run(folder: Path, home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Python, where a learner of the release would have it: its packages before any other copy of the course."""
    home.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(folder), "COURSE_HOME": str(home / ".course"), **more}
    command = [sys.executable, "-B", *arguments]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)


# ------------------------------------------------------------------ what is in it, and what is not


def test_no_file_of_a_release_knows_an_answer_or_serves_authors(released: Path) -> None:
    found = files(released)
    assert not [str(file) for file in found if knows_an_answer(file)]
    assert {file.parts[0] for file in found} == {
        ".gitignore",
        "LICENSE",
        "LICENSE-PROSE",
        "Makefile",
        "README.md",
        "constraints.txt",
        "course_utils",
        "environment.yml",
        "gradient_ledger",
        "notebooks",
        "pyproject.toml",
    }
    rooms = {file.parts[1] for file in found if file.parts[0] == "course_utils"}
    assert rooms.isdisjoint({"authoring", "grading"}) and {"checks", "feedback", "lessons", "widgets"} <= rooms


def test_no_solution_stands_whole_in_any_file_of_a_release_of_every_lesson(tmp_path: Path) -> None:
    release(ROOT, tmp_path / "all", choose_terms([], {}, ""))
    texts = {}
    for file in files(tmp_path / "all"):
        if file.suffix in module.KEPT - {".npz"} or file.suffix == ".ipynb":
            text = (tmp_path / "all" / file).read_text(encoding="utf-8")
            if file.suffix == ".ipynb":
                text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
            texts[file] = _bare(text)
    for identifier, code in SOLUTIONS.items():
        _, _, body = _bare(code).partition("\n")
        held = [str(file) for file, text in texts.items() if body in text]
        assert not held, f"the solution of {identifier} stands in {held[0]}"
    assert _bare(SOLUTIONS["1.1"]).partition("\n")[2] in _bare(
        (ROOT / "solutions/01_what_gradients_are.py").read_text()
    )


def _bare(code: str) -> str:
    """Lines without their indent, comments and docstrings."""
    lines = [line.strip() for line in code.splitlines()]
    return "\n".join(line for line in lines if line and not line.startswith(("#", '"""')))


def test_the_chosen_lessons_bring_the_lessons_they_import_from_and_no_other(released: Path) -> None:
    packages = {path.name for path in (released / "course_utils" / "lessons").glob("lesson*") if path.is_dir()}
    assert packages == {"lesson1", "lesson4", "lesson6", "lesson2", "lesson3"}
    assert sorted(path.name[:2] for path in (released / "notebooks").iterdir()) == ["01", "06"]


def test_a_release_of_everything_has_the_notebooks_as_they_are_published(tmp_path: Path) -> None:
    release(ROOT, tmp_path / "all", choose_terms([], {}, ""))
    for each in lessons():
        mine, theirs = notebook(tmp_path / "all", each.number), notebook(ROOT, each.number)
        for book in (mine, theirs):  # a fork's notebooks name the repository they live in, a release's none
            book["cells"] = [cell for cell in book["cells"][1:] if cell["id"] != "setup"]
        assert mine == theirs


def test_a_notebook_shows_and_carries_the_points_of_its_release(released: Path) -> None:
    mine, published = cells(released, 1), cells(ROOT, 1)
    assert mine["check-1-1"]["metadata"]["nbgrader"]["points"] == 25
    assert "· 25 points ·" in "".join(mine["banner-1-1"]["source"])
    assert "· 100 points ·" in "".join(next(iter(mine.values()))["source"])
    assert "[Lesson 6: Gradient accumulation](06_" in "".join(mine["next-lesson"]["source"])
    assert "last lesson" in "".join(cells(released, 6)["next-lesson"]["source"])
    changed = {name for name, cell in mine.items() if cell["source"] != published[name]["source"]}
    first = next(iter(mine))
    assert changed - {"setup", first} == {"banner-1-1", "banner-1-2", "next-lesson"}


def test_no_release_leads_to_the_repository_that_has_the_answers(released: Path, tmp_path: Path) -> None:
    root = tmp_path / "fork"
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    for name in ("course_utils", "gradient_ledger"):
        (root / name).symlink_to(ROOT / name)
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, root / name)
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    setting = next(line for line in project.splitlines() if line.startswith("repository ="))
    (root / "pyproject.toml").write_text(project.replace(setting, 'repository = "somebody/course"'), encoding="utf-8")
    path = root / "notebooks" / f"{lesson(3).slug}.ipynb"
    book = json.loads(path.read_text(encoding="utf-8"))
    book["cells"][0]["source"].append("\n\n[![Open in Colab](badge)](somebody/course)")
    book["cells"][1]["source"] = ['pip = "somebody/course"']
    path.write_text(json.dumps(book), encoding="utf-8")
    release(root, tmp_path / "out", choose_terms([3], {}, ""))
    for name in (path.relative_to(root), "pyproject.toml", "README.md", "Makefile"):
        assert "somebody/course" not in (tmp_path / "out" / name).read_text(encoding="utf-8"), name
    assert "course_utils is not in this kernel" in "".join(cells(tmp_path / "out", 3)["setup"]["source"])


# ------------------------------------------------------------------ what it does for a learner

_AS_A_LEARNER = """
import os
from pathlib import Path
import torch
import course_utils
from course_utils import check, hint, progress, quiz, solution
from course_utils.lessons import exercise, lessons, terms
from course_utils.standing import write_start_page

assert Path(course_utils.__file__).parent.parent == Path(FOLDER)
assert [(one.number, one.points) for one in lessons()] == [(1, 100), (6, 100)]
check("1.1", ...)
check("1.1", lambda f, x, h=1e-5: ...)
def numerical_gradient(f, x, h=1e-5):
    x += 1
    print("hello")
    return torch.zeros_like(x)
check("1.1", numerical_gradient)
check("1.1", lambda f, x, h=1e-5: x.grad.abs())
check("2.1", numerical_gradient)
for _ in range(9):
    hint("1.1")
solution("1.1")
quiz("1.q1", "a")
progress()
write_start_page(Path())

seen = []
check("1.1", lambda f, x, h=1e-5: seen.append(x.clone()) or x * 0)
one = exercise("1.1")
drawn, usual = ([one.arrange(case).args[1] for case in one.cases(seed)] for seed in (terms().case_seed, 0))
assert torch.equal(seen[0], drawn[0]) and not torch.equal(seen[0], usual[0])
os.environ["NBGRADER_EXECUTION"] = "validate"
try:
    check("1.1", numerical_gradient)
except AssertionError as error:
    print("nbgrader:", error)
"""


def test_check_says_what_is_certain_without_an_answer_and_the_rest_works(released: Path, tmp_path: Path) -> None:
    done = run(released, tmp_path, "-c", f"FOLDER = {str(released)!r}\n{_AS_A_LEARNER}")
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert said.count("NOT ATTEMPTED: exercise 1.1, numerical_gradient (25 points, not marked here)") == 2
    assert "RAN: exercise 1.1" in said and "Your code ran on all 10 cases. Whether it is right" in said
    assert "it returned:\n    a tensor of shape (3,), float64: 0, 0, 0" in said
    assert "Not as it was before the call" in said and "    hello" in said
    assert "RAISED: exercise 1.1" in said and ".grad was None (grad-is-none)" in said
    # Nothing counts as solved for nbgrader, either; and the cases were those of the release's own seed.
    assert "nbgrader: exercise 1.1: ran; this copy of the course cannot judge it" in said
    assert "there is no exercise '2.1'" in said
    assert "That was the last hint.\n" in said and "opens after a pass" not in said
    assert "The solution of exercise 1.1 is not here" in said
    assert "Your progress: marked by your instructor" in said and "1 of 6" in said
    page = (tmp_path / "00_start.md").read_text(encoding="utf-8")
    assert "Exercises that run" in page and "holds no answers" in page and "solution(" not in page
    assert "[exercise 1.2, " in page


def test_the_cells_of_a_released_notebook_run_in_a_kernel(released: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.reads(json.dumps(notebook(released, 1)), as_version=4)
    wanted = ("setup", "exercise-1-1", "check-1-1", "help-1-1")
    book.cells = [cell for cell in book.cells if cell.id in wanted]
    book.cells[-1].source = 'hint("1.1")\nsolution("1.1")'
    environment = {**os.environ, "PYTHONPATH": str(released), "COURSE_HOME": str(tmp_path / ".course")}
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute(env=environment)
    [card] = book.cells[2].outputs
    assert "NOT ATTEMPTED" in card.data["text/plain"] and "25 points, not marked here" in card.data["text/html"]
    assert "is not here" in book.cells[3].outputs[-1].data["text/plain"]


def test_the_lab_opens_in_a_release_and_authors_commands_are_not_offered(released: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(released, folder)
    assert find_repository(folder) == folder
    assert [handed.action for handed in prepare(folder)] == ["placed", "placed"]
    offered = run(folder, tmp_path, "-m", "course_utils.cli", "--help").stdout
    assert all(f"\n    {name} " in offered for name in ("lab", "reset", "doctor", "audit"))
    assert not any(f"\n    {name}" in offered for name in ("build", "verify", "new-exercise", "release", "grade"))
    refused = run(folder, tmp_path, "-m", "course_utils.cli", "build")
    assert refused.returncode == 2 and "invalid choice: 'build'" in refused.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_knows_the_lab_and_no_tests(released: Path) -> None:
    def make(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["make", "-C", released, *arguments], capture_output=True, text=True)

    planned = make("-n", "lab", "TORCH=cpu")
    assert planned.returncode == 0, planned.stderr
    assert "-e '.[course]'" in planned.stdout and "course lab" in planned.stdout
    printed = make("help").stdout
    assert "make lab" in printed and "make test" not in printed
    assert make("test").returncode != 0 and "author" not in (released / "Makefile").read_text(encoding="utf-8")


def test_the_readme_names_lessons_points_and_what_check_says(released: Path) -> None:
    text = (released / "README.md").read_text(encoding="utf-8")
    assert "| [1 · What gradients are](notebooks/01_what_gradients_are.ipynb) | 148 | 100 |" in text
    assert all(word in text for word in ("**not attempted**", "**raised**", "**stopped**", "**ran**", "no answers"))
    assert 'check("1.1", numerical_gradient)' in text and "make test" not in text


# ------------------------------------------------------------------ the grader takes its terms


def test_the_terms_hold_every_exercise_and_come_back_from_the_folder(released: Path) -> None:
    found = own_terms(released)
    assert found == OWN and found.lessons == (1, 6) and found.seed == "spring"
    assert set(found.points) == {exercise.id for number in (1, 6) for exercise in lesson(number).exercises}


def test_adopted_terms_are_those_of_the_registry_until_they_are_given_back(released: Path) -> None:
    adopt(own_terms(released))
    assert [one.number for one in lessons()] == [1, 6] and terms() == OWN
    assert course_utils.lessons.exercise("1.1").points == 25
    with pytest.raises(KeyError, match="the lessons are 1, 6"):
        lesson(2)
    adopt(None)
    assert course_utils.lessons.exercise("1.1").points == 20 and lesson(2).number == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"lessons": [1], "points": {"1.1": -1}, "seed": ""}',
        '{"lessons": [0], "points": {}, "seed": ""}',
    ]
    + ['{"lessons": [1], "points": {"1.1": true}, "seed": ""}', '{"lessons": [1], "points": {}, "seed": 3}'],
)
def test_a_file_that_holds_no_terms_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "terms.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="terms.json does not hold the terms of a course"):
        read_terms(tmp_path / "terms.json")


def test_a_folder_that_is_no_own_course_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no course of your own"):
        own_terms(tmp_path)
    assert read_terms(tmp_path) == Terms()
    (tmp_path / PLACE).parent.mkdir(parents=True)
    (tmp_path / PLACE).write_text(to_text(OWN), encoding="utf-8")
    assert own_terms(tmp_path) == OWN


# ------------------------------------------------------------------ how it is written


def test_a_folder_with_something_in_it_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(UserError, match="is not empty"):
        release(ROOT, tmp_path / "mine", OWN)
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "thesis.txt"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    release(ROOT, tmp_path / "mine", OWN)
    assert (tmp_path / "mine" / "Makefile").is_file() and [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_release_that_fails_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.shutil, "copyfile", full)
    with pytest.raises(UserError, match="No space left"):
        release(ROOT, tmp_path / "mine", OWN)
    assert not list(tmp_path.iterdir()) and terms() == Terms()


def test_a_release_into_what_it_copies_is_refused() -> None:
    with pytest.raises(UserError, match="choose a folder elsewhere"):
        release(ROOT, ROOT / "course_utils" / "mine", OWN)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lesson", "12"], "there is no lesson 12; the lessons are 1,"),
        (["--lesson", "1", "--points", "2.1=5"], "exercise 2.1 is not in the lessons of this release"),
    ],
)
def test_what_the_course_does_not_have_is_said(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert cli.main(["release", "--out", str(tmp_path / "mine"), *arguments]) == 1
    assert said in capsys.readouterr().err and not (tmp_path / "mine").exists()


def test_points_that_are_none_are_refused_by_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["release", "--out", "mine", "--points", "1.1=3.5"])
    assert "write 3.1=20, a whole number" in capsys.readouterr().err


def test_the_command_says_what_to_do_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    chosen = ["--lesson", "3", "--lesson", "4", "--points", "3.1=30", "--seed", "autumn"]
    assert cli.main(["release", "--out", str(tmp_path / "mine"), *chosen]) == 0
    assert own_terms(tmp_path / "mine").lessons == (3, 4) and own_terms(tmp_path / "mine").points["3.1"] == 30
    said = capsys.readouterr().out
    assert "lessons 3, 4" in said and "make lab" in said and f"--course {tmp_path / 'mine'}" in said
