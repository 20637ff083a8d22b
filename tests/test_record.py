"""The learner's record outlives the kernel, a damaged file and a folder that cannot be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils import learner, record
from course_utils.learner import check, hint, progress, solution
from course_utils.lessons import exercise, lesson


def _right(w, x, y):
    return 2 * x.T @ (x @ w - y) / len(y)


def _half(w, x, y):
    return x.T @ (x @ w - y) / len(y)


def _sum(w, x, y):
    return 2 * x.T @ (x @ w - y)


# ------------------------------------------------------------------ the files


def test_what_was_written_is_there_after_a_restart(own_record: Path) -> None:
    record.update("1.2", passed=True, points=15)
    code = "from course_utils import record; e = record.entry('1.2'); assert e == {'passed': True, 'points': 15}, e"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "COURSE_HOME": str(own_record)})
    assert done.returncode == 0


def test_without_a_record_nothing_is_known_and_nothing_is_made(own_record: Path) -> None:
    assert record.entry("1.2") == {}
    assert record.read(1) == {}
    assert not own_record.exists()


def test_values_are_set_one_by_one_and_others_stay() -> None:
    record.update("1.2", points=3)
    record.update("1.2", hints=1)
    record.update("1.3", points=5)
    assert record.entry("1.2") == {"points": 3, "hints": 1}


def test_each_lesson_has_a_file_of_its_own(own_record: Path) -> None:
    record.update("1.2", points=1)
    record.update("2.1", points=2)
    assert sorted(path.name for path in own_record.iterdir()) == ["lesson1.json", "lesson2.json"]


def test_another_kernel_may_have_written_in_between(own_record: Path) -> None:
    record.update("1.1", points=1)
    path = own_record / "lesson1.json"
    theirs = {**json.loads(path.read_text()), "1.5": {"points": 25}}
    path.write_text(json.dumps(theirs))
    record.update("1.2", points=2)
    assert set(record.read(1)) == {"1.1", "1.2", "1.5"}


DAMAGED = {
    "cut short": '{"1.1": {"poi',
    "empty": "",
    "a list": "[1, 2]",
    "no entries": '{"1.1": 3}',
    "not text": b"\xff\xfe\x00\x81",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_costs_that_lesson_alone_and_is_kept(name: str, own_record: Path) -> None:
    record.update("1.1", points=20)
    record.update("2.1", points=10)
    content = DAMAGED[name]
    (own_record / "lesson1.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert record.entry("1.1") == {}
    assert record.entry("2.1") == {"points": 10}
    record.update("1.2", points=15)
    assert record.read(1) == {"1.2": {"points": 15}}
    kept = record.damaged()
    assert [path.name for path in kept] == ["lesson1.json.damaged-1"]
    assert kept[0].read_bytes() == (content if isinstance(content, bytes) else content.encode())


def test_a_second_damaged_file_does_not_take_the_place_of_the_first(own_record: Path) -> None:
    own_record.mkdir(parents=True)
    for content in ("{1", "{2"):
        (own_record / "lesson1.json").write_text(content)
        record.read(1)
    assert [path.read_text() for path in record.damaged()] == ["{1", "{2"]


def test_a_write_that_breaks_off_leaves_the_old_file_and_no_other(
    own_record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.update("1.1", points=1)
    before = (own_record / "lesson1.json").read_bytes()

    def full(*arguments: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    record.update("1.1", points=2)
    assert (own_record / "lesson1.json").read_bytes() == before
    assert [path.name for path in own_record.iterdir()] == ["lesson1.json"]
    assert record.entry("1.1") == {"points": 2}, "what could not be written is kept in memory"


def test_where_nothing_can_be_written_the_record_lives_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a file").write_text("no folder can be made below a file")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "a file" / "record"))
    check("1.2", _right)
    assert record.entry("1.2")["passed"] is True
    progress()
    out, err = capfd.readouterr()
    assert "15 of 100" in out and err == ""


# ------------------------------------------------------------------ what a check keeps


def test_a_pass_is_kept_and_a_later_failure_does_not_take_it_away() -> None:
    check("1.2", _right)
    check("1.2", _half)
    known = record.entry("1.2")
    assert (known["passed"], known["points"], len(known["tried"])) == (True, 15, 2)


def test_a_stub_is_not_kept() -> None:
    check("1.2", lambda w, x, y: ...)
    check("1.2", ...)
    assert record.entry("1.2") == {}


def test_progress_adds_up_and_names_damaged_files(own_record: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check("1.2", _right)
    (own_record / "lesson2.json").write_text("{")
    record.read(2)
    capfd.readouterr()
    progress()
    out, err = capfd.readouterr()
    of_all = f"1 of {len(lesson(1).exercises)}"
    assert "Your progress: 15 of" in out and "15 of 100" in out and of_all in out
    assert "lesson2.json.damaged-1" in out and err == ""


# ------------------------------------------------------------------ hints and solutions


def test_hints_come_one_by_one_and_the_last_one_leads_on(capfd: pytest.CaptureFixture[str]) -> None:
    hints = exercise("1.2").hints
    for given in range(1, len(hints) + 2):
        hint("1.2")
        out, err = capfd.readouterr()
        shown = [text in out for text in hints]
        assert shown == [index < given for index in range(len(hints))]
        assert ("last hint" in out) == (given >= len(hints))
        assert err == ""


def test_hints_go_on_where_they_were_after_a_restart(capfd: pytest.CaptureFixture[str]) -> None:
    hint("1.2")
    record.update("1.2", hints=record.entry("1.2")["hints"])
    hint("1.2")
    assert "2 of 3" in capfd.readouterr().out


@pytest.fixture
def solutions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A solutions file with one marked answer to 1.2; gives the answer."""
    folder = tmp_path / "package"
    (folder / "lessons").mkdir(parents=True)
    code = "def linear_mse_gradient(w, x, y):\n    return the_answer < 2"
    (folder / "lessons" / "solutions.json").write_text(json.dumps({"1.2": code}))
    monkeypatch.setattr(learner.resources, "files", lambda package: folder)
    return code


def _opens(capfd: pytest.CaptureFixture[str], code: str) -> bool:
    capfd.readouterr()
    solution("1.2")
    out, err = capfd.readouterr()
    assert err == ""
    assert (code in out) != ("still closed" in out)
    return code in out


def test_a_solution_is_closed_at_first(solutions: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert not _opens(capfd, solutions)


def test_a_solution_opens_after_a_pass(solutions: str, capfd: pytest.CaptureFixture[str]) -> None:
    check("1.2", _right)
    assert _opens(capfd, solutions)


def test_a_solution_opens_after_two_different_attempts(solutions: str, capfd: pytest.CaptureFixture[str]) -> None:
    check("1.2", _half)
    assert not _opens(capfd, solutions)
    check("1.2", _sum)
    assert _opens(capfd, solutions)


def test_an_installation_without_solutions_says_so(solutions: str, capfd: pytest.CaptureFixture[str]) -> None:
    for identifier in ("1.2", "1.4"):
        record.update(identifier, passed=True)
    solution("1.4")  # the file holds 1.2 alone
    assert "holds no solutions" in capfd.readouterr().out
    Path(learner.resources.files("course_utils") / "lessons" / "solutions.json").unlink()
    solution("1.2")
    assert "holds no solutions" in capfd.readouterr().out


def test_the_same_attempt_twice_is_one(solutions: str, capfd: pytest.CaptureFixture[str]) -> None:
    def again(w, x, y):
        return x.T @ (x @ w - y) / len(y)

    for attempt in (_half, _half, again):
        check("1.2", attempt)
    assert not _opens(capfd, solutions)


def test_two_classes_of_one_name_are_two_attempts_where_a_method_differs(
    solutions: str, capfd: pytest.CaptureFixture[str]
) -> None:
    def another(factor: int) -> type:
        class Attempt:
            def __new__(cls, w, x, y):  # type: ignore[no-untyped-def]
                return x.T @ (x @ w - y)

        if factor == 3:
            Attempt.__new__ = lambda cls, w, x, y: 3 * x.T @ (x @ w - y)  # type: ignore[method-assign]
        return Attempt

    for factor in (1, 1):
        check("1.2", another(factor))
    assert not _opens(capfd, solutions), "the same class, made once more"
    check("1.2", another(3))
    assert _opens(capfd, solutions)


@pytest.mark.parametrize(
    "attempt",
    [17, lambda w, x, y: None, lambda w, x, y: ...],
    ids=["a-number", "nothing-returned", "the-stub"],
)
def test_what_is_no_attempt_does_not_count(attempt: object, solutions: str, capfd: pytest.CaptureFixture[str]) -> None:
    check("1.2", _half)
    check("1.2", attempt)
    assert not _opens(capfd, solutions)


def test_attempts_at_another_exercise_do_not_open_this_one(solutions: str, capfd: pytest.CaptureFixture[str]) -> None:
    check("1.1", lambda f, x, h=1e-5: f(x))
    check("1.1", lambda f, x, h=1e-5: x)
    assert not _opens(capfd, solutions)


def test_a_solution_is_shown_as_text_and_not_as_markup(solutions: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr(learner, "show", shown.append)
    record.update("1.2", passed=True)
    solution("1.2")
    assert "the_answer &lt; 2" in shown[0].html
