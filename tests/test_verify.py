"""`course verify`: a lesson that keeps its promises is silent, and each broken promise is one line with a remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from course_utils.authoring import verify_command

SOURCE = "solutions/09_doubling.py"
SOLVED = "solutions/09_doubling.ipynb"
REGISTRY = "lessons/lesson9.py"
ORACLE = "oracles/lesson9.py"
COMPARE = 'compare("9.a", "a" if twice == 4 else "b")'
BANK = "tests/attempts/lesson9/ex9_1__{}.py"


@pytest.fixture
def verified(small_course: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[], tuple[int, str]]:
    """Verify the small course, whose solved notebook is there with one figure that says what it shows."""
    _put_figure(small_course, {"image/png": {"alt": "A line that rises."}})

    def run() -> tuple[int, str]:
        capsys.readouterr()
        return verify_command(small_course, []), capsys.readouterr().out

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


def test_a_lesson_that_keeps_every_promise_gives_one_line(verified: Callable[[], tuple[int, str]]) -> None:
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
        (SOURCE, "# ## Myths", "# ## Legends", SOURCE, "the last sections are Legends"),
        (SOURCE, "print((torch", "((torch", SOURCE, "Adding a tensor to itself"),
        (REGISTRY, '"Twice as much", 100', '"Twice as much", 90', "lesson9.py", "the points add up to 90"),
        (REGISTRY, '"What makes 3 into 6?", ', "", "lesson9.py", "2 different hints; write at least 3"),
        (REGISTRY, "One multiplication is enough.", "Look at one entry.", "lesson9.py", "2 different hints"),
        (
            REGISTRY,
            "One multiplication",
            "Write doubled_tensor = torch.add(x, x), it",
            "lesson9.py",
            "hint 3 gives a line",
        ),
        (REGISTRY, '"What makes 3 into 6?"', '" "', "lesson9.py", "an empty hint"),
        (REGISTRY, '"Twice as much", 100, 2', '"Twice as much", 100, 6', "lesson9.py", "difficulty 6; use 1 to 5"),
        (ORACLE, '"loss-not-averaged"', '"no-such-mistake"', "oracles/lesson9.py", "no-such-mistake is not in the cat"),
        (ORACLE, '"9.1": Oracle', '"9.2": Oracle', "oracles/lesson9.py", "has no oracle"),
        (SOURCE, 'predict("9.a")', "pass\n\n# %%\n" + COMPARE + '\npredict("9.a")', SOURCE, "comes before its predict"),
        (REGISTRY, '{"a": "4", "b": "22"}', '{"a": "4"}', "lesson9.py", "question 9.a has 1 choices"),
    ],
)
def test_a_broken_promise_is_named_with_its_place(
    small_course: Path,
    verified: Callable[[], tuple[int, str]],
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


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("right__sum", None, "2 different right attempts; write at least 3"),
        ("wrong__missing-factor-two__as_it_was", None, "2 wrong attempts with an id; write at least 3"),
        ("right__sum", "return x", "the check says failed, missing-factor-two"),
        ("wrong__loss-not-averaged__twice_twice", "return 2 * x", "the check says passed, no name"),
        ("wrong__loss-not-averaged__twice_twice", "return -2 * x", "the check says failed, gradient-sign-flipped"),
        ("wrong__loss-not-averaged__twice_twice", "return 1 / 0", "the check says raised"),
        ("right__sum", "return 2 * x  # once more", "2 different right attempts"),
        ("right__sum", "return 2 *", "cannot be loaded (SyntaxError"),
        ("wrong__no-such-mistake__new", "return 5 * x", "no-such-mistake is not in the catalogue"),
    ],
)
def test_the_bank_must_hold_what_its_file_names_say(
    small_course: Path, verified: Callable[[], tuple[int, str]], old: str, new: str | None, fault: str
) -> None:
    path = small_course / BANK.format(old)
    if new is None:
        path.unlink()
    else:
        path.write_text(f"def double(x):\n    {new}\n", encoding="utf-8")
    status, said = verified()
    assert status == 1 and "tests/attempts/lesson9" in said and fault in said


def test_an_attempt_at_an_exercise_that_is_not_declared_is_named(
    small_course: Path, verified: Callable[[], tuple[int, str]]
) -> None:
    stray = small_course / "tests/attempts/lesson9/ex9_4__right__early.py"
    stray.write_text("def triple(x):\n    return 3 * x\n")
    assert verified() == (
        1,
        "tests/attempts/lesson9/ex9_4__right__early.py: there is no exercise 9.4; declare it or rename the file\n",
    )


def test_a_figure_without_alternative_text_is_named_with_its_cell(
    small_course: Path, verified: Callable[[], tuple[int, str]]
) -> None:
    for metadata in ({}, {"image/png": {"alt": "  "}}):
        _put_figure(small_course, metadata)
        status, said = verified()
        assert status == 1 and said.startswith(f"{SOLVED}: cell code-draw: ") and said.count("\n") == 1


def test_a_lesson_that_was_never_built_is_told_how(small_course: Path, verified: Callable[[], tuple[int, str]]) -> None:
    (small_course / SOLVED).unlink()
    assert verified() == (1, f"{SOLVED}: missing; run: course build 9\n")
