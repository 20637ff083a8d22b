"""`course verify`: a lesson that keeps its promises is silent, and each broken promise is one line with a remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from course_utils.authoring import verify_command

SOURCE = "solutions/09_doubling.py"
SOLVED = "solutions/09_doubling.ipynb"
LESSON = "course_utils/lessons/lesson9/__init__.py"
TASK = "course_utils/lessons/lesson9/double/task.py"
ANSWERS = "course_utils/lessons/lesson9/double/answers.py"
MISTAKES = "course_utils/lessons/lesson9/double/mistakes.py"
COMPARE = 'compare("9.a", "a" if twice == 4 else "b")'
BANK = "tests/attempts/lesson9/double.py"


@pytest.fixture
def verified(small_course: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Verify the small course, whose solved notebook is there with one figure that says what it shows."""
    _put_figure(small_course, {"image/png": {"alt": "A line that rises."}})

    def run(part: tuple[int, int] = (1, 1)) -> tuple[int, str]:
        capsys.readouterr()
        return verify_command(small_course, [], part), capsys.readouterr().out

    return run


def _put_figure(root: Path, metadata: dict[str, dict[str, str]]) -> None:
    figure = nbformat.v4.new_output("display_data", {"image/png": "iVBORw0KGgo="}, metadata=metadata)
    cell = nbformat.v4.new_code_cell("draw()", id="code-draw", outputs=[figure])
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), root / SOLVED)


def _edit(root: Path, name: str, old: str, new: str) -> None:
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{name} has no {old!r}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_lesson_that_keeps_every_promise_gives_one_line(verified: Callable[..., tuple[int, str]]) -> None:
    status, said = verified()
    assert status == 0 and said.count("\n") == 1 and "every promise is kept" in said


@pytest.mark.parametrize(
    ("name", "old", "new", "file", "fault"),
    [
        (SOURCE, '9.1"\ndef', '9.1" stub="return x"\ndef', SOURCE, "exercise 9.1: the stub is failed"),
        (SOURCE, "torch.add(x, x)\n", "torch.add(x, 1)\n", SOURCE, "exercise 9.1: the solution is failed"),
        (SOURCE, "def double(x):", "def double(z):", SOURCE, "exercise 9.1: the goal"),
        (SOURCE, "def double(", "def twofold(", SOURCE, "defines double 0 times"),
        (SOURCE, '"""Twice the tensor `x`."""', "pass", SOURCE, "has no docstring"),
        (SOURCE, '# %% exercise="9.1"', "# %% [markdown]\n# gone\n\n# %%", SOURCE, "without exercise"),
        (SOURCE, 'predict("9.a")', "pass", SOURCE, 'predict("9.a") stands there 0 times'),
        (SOURCE, 'predict("9.a")', 'predict("9.a")\npredict("9.a")', SOURCE, 'predict("9.a") stands there 2 times'),
        (SOURCE, 'predict("9.a")', 'predict("9.a")\nquiz("9.q7")', SOURCE, 'quiz("9.q7") is not declared'),
        (SOURCE, '"a" if twice == 4 else "b"', '"a"', SOURCE, "compare with a constant answer"),
        (SOURCE, "# ## True or false", "# ## Legends", SOURCE, "the last sections are Legends"),
        (SOURCE, "print((torch", "((torch", SOURCE, "Adding a tensor to itself"),
        (LESSON, '"double": 100', '"double": 90', LESSON, "the points add up to 90"),
        (TASK, '"What makes 3 into 6?", ', "", TASK, "2 different hints; write at least 3"),
        (TASK, "One multiplication is enough.", "Look at one entry.", TASK, "2 different hints"),
        (TASK, "One multiplication", "Write doubled_tensor = torch.add(x, x), it", TASK, "hint 3 gives a line"),
        (TASK, '"What makes 3 into 6?"', '" "', TASK, "an empty hint"),
        (TASK, "difficulty=2", "difficulty=6", TASK, "difficulty 6; use 1 to 5"),
        (ANSWERS, "ANSWERS =", "ANSWER =", "lesson9/double", "cannot be loaded (AttributeError"),
        (MISTAKES, "return 4 * x", "return 2 * x", MISTAKES, "twice-twice (twice_twice) is called no name"),
        (MISTAKES, "return 4 * x", "return -2 * x", BANK, "minus: the check says failed (sign-flipped or twice-twice)"),
        (SOURCE, 'predict("9.a")', "pass\n\n# %%\n" + COMPARE + '\npredict("9.a")', SOURCE, "comes before its predict"),
        (LESSON, '{"a": "4", "b": "22"}', '{"a": "4"}', LESSON, "question 9.a has 1 choices"),
        (LESSON, "(ASK,), 1)", "(ASK,), 9)", LESSON, "reading_minutes=9; 63 words take about 1 minutes"),
        (TASK, "minutes=7", "minutes=90", SOURCE, "91 minutes and 0 marked with '> **Pause.**'; pause every 90"),
    ],
)
def test_a_broken_promise_is_named_with_its_place(
    small_course: Path,
    verified: Callable[..., tuple[int, str]],
    name: str,
    old: str,
    new: str,
    file: str,
    fault: str,
) -> None:
    _edit(small_course, name, old, new)
    if COMPARE in new:  # moved, so that it still stands there once
        text = (small_course / name).read_text(encoding="utf-8")
        head, _, tail = text.rpartition(COMPARE)
        (small_course / name).write_text(head + tail, encoding="utf-8")
    status, said = verified()
    assert status == 1
    assert any(file in line and fault in line for line in said.splitlines()), said


def test_an_answer_that_is_wrong_on_another_seed_alone_is_found(
    small_course: Path, verified: Callable[..., tuple[int, str]]
) -> None:
    of_first_seed = "float(Draw(_cases(0)[0]).normal(1))"
    _edit(small_course, TASK, "def _arrange", f"FIRST = {of_first_seed}\n\ndef _arrange")
    _edit(small_course, ANSWERS, "import torch", "from course_utils.lessons.lesson9.double.task import FIRST")
    _edit(small_course, ANSWERS, "return 2 * x", "return 2 * x if float(x[0]) == FIRST or len(x) == 1 else 3 * x")
    status, said = verified()
    assert status == 1 and "the solution is failed" in said and "at seed 20261" in said and "at seed 0" not in said


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("@right\ndef added", "def added", "4 different right attempts; write at least 5"),
        ("@wrong(mistakes.as_it_was)\ndef identity", "def identity", "no attempt makes the mistake as-it-was"),
        ("return x + x\n\n@right", "return x\n\n@right", "added: the check says failed (as-it-was)"),
        ("return x + x + x + x", "return 2 * x", "four_again: the check says passed (no name)"),
        ("return x + x + x + x", "return -2 * x", "four_again: the check says failed (sign-flipped)"),
        ("return x + x + x + x", "return 1 / 0", "four_again: the check says raised"),
        ("return x / 0.5", "return 2 * x  # once more", "4 different right attempts"),
        ("return x / 0.5", "return x /", "cannot be loaded (SyntaxError"),
        ("mistakes.as_it_was", "mistakes.no_such_mistake", "cannot be loaded (AttributeError"),
        ("3 times", "5 times", "six: the check says failed (Every number is 3 times"),
    ],
)
def test_the_bank_must_hold_what_its_marks_say(
    small_course: Path, verified: Callable[..., tuple[int, str]], old: str, new: str, fault: str
) -> None:
    _edit(small_course, BANK, old, new)
    status, said = verified()
    assert status == 1 and BANK in said and fault in said, said


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        (BANK, "return x + x + x + x", "return 2 * x", "four_again: the check says passed"),
        (MISTAKES, "return 4 * x", "return 2 * x", "twice-twice (twice_twice) is called no name"),
    ],
)
def test_mistakes_and_attempts_are_judged_in_the_part_that_is_asked_for(
    small_course: Path, verified: Callable[..., tuple[int, str]], file: str, old: str, new: str, fault: str
) -> None:
    _edit(small_course, file, old, new)
    status, said = verified((1, 3))
    assert status == 1 and fault in said
    status, said = verified((2, 3))
    assert status == 0 and "kept; mistakes and attempts were judged in part 2 of 3 of the exercises" in said


def test_what_else_an_exercise_promises_is_checked_in_every_part(
    small_course: Path, verified: Callable[..., tuple[int, str]]
) -> None:
    _edit(small_course, SOURCE, "torch.add(x, x)\n", "torch.add(x, 1)\n")
    assert verified((2, 3))[0] == 1


def test_a_mistake_that_nothing_meets_is_named(small_course: Path, verified: Callable[..., tuple[int, str]]) -> None:
    path = small_course / MISTAKES
    more = '\n@mistake("Thrice", "Three times.", "Double.")\ndef thrice(x):\n    return 3 * x\n'
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    status, said = verified()
    assert status == 1 and "no attempt makes the mistake thrice" in said


def test_attempts_at_an_exercise_that_is_not_declared_are_named(
    small_course: Path, verified: Callable[..., tuple[int, str]]
) -> None:
    (small_course / "tests/attempts/lesson9/triple.py").write_text("def triple(x):\n    return 3 * x\n")
    assert verified() == (
        1,
        "tests/attempts/lesson9/triple.py: there is no exercise triple; declare it or rename the file\n",
    )


def test_attempts_may_stand_in_a_module_that_exercises_share(
    small_course: Path, verified: Callable[..., tuple[int, str]]
) -> None:
    bank, shared = small_course / BANK, "tests/attempts/lesson9/_doubling.py"
    text = bank.read_text(encoding="utf-8")
    (small_course / shared).write_text(text, encoding="utf-8")
    bank.write_text('SHARED = ("_doubling",)\n', encoding="utf-8")
    assert verified()[0] == 0
    _edit(small_course, shared, "return x + x + x + x", "return 2 * x")
    assert verified() == (
        1,
        f"{shared}: four_again: the check says passed (no name) at seed 0; mend the check, or the mark above it\n",
    )
    bank.write_text(text, encoding="utf-8")
    assert verified()[1].startswith(f"{shared}: there is no exercise _doubling")


def test_a_figure_without_alternative_text_is_named_with_its_cell(
    small_course: Path, verified: Callable[..., tuple[int, str]]
) -> None:
    for metadata in ({}, {"image/png": {"alt": "  "}}):
        _put_figure(small_course, metadata)
        status, said = verified()
        assert status == 1 and said.startswith(f"{SOLVED}: cell code-draw: ") and said.count("\n") == 1


@pytest.mark.parametrize(("columns", "status"), [(78, 0), (79, 1)])
def test_a_printed_line_that_does_not_fit_the_page_is_named_with_its_cell(
    small_course: Path, verified: Callable[..., tuple[int, str]], columns: int, status: int
) -> None:
    path = small_course / SOLVED
    notebook = nbformat.read(path, as_version=4)
    cell = nbformat.v4.new_code_cell("print()", id="code-print")
    cell.outputs = [nbformat.v4.new_output("stream", text="short\n" + "x" * columns + "\n")]
    notebook.cells.append(cell)
    nbformat.write(notebook, path)
    assert verified()[0] == status
    assert ("cell code-print: prints 79 columns" in verified()[1]) == bool(status)


def test_a_lesson_that_was_never_built_is_told_how(
    small_course: Path, verified: Callable[..., tuple[int, str]]
) -> None:
    (small_course / SOLVED).unlink()
    assert verified() == (1, f"{SOLVED}: missing; run: course build 9\n")
