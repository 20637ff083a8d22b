"""The gradebook keeps every result whole, once, for one run and one process at a time; and an instructor's words."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import time
from dataclasses import replace
from pathlib import Path

import gradebooks as made
import pytest

from course_utils.grading.clusters import gathered
from course_utils.grading.gradebook import Gradebook, OtherRun
from gradient_ledger import files
from gradient_ledger.errors import UserError


@pytest.fixture
def book(tmp_path: Path) -> Gradebook:
    return made.gradebook(tmp_path)


def test_what_is_graded_is_known_and_what_changed_is_not(book: Gradebook) -> None:
    result = made.EVERY[0]
    assert book.known("anna", 1) is None
    path = book.put(result)
    assert path.relative_to(book.folder).as_posix() == "results/lesson1/anna.json"
    again = Gradebook(book.folder)
    assert again.known("anna", 1) == again.known("anna", 1, result.digest) == result
    assert again.known("anna", 1, "f" * 64) is None
    assert again.known("anna", 2) is None and again.known("Anna", 1) is None
    again.put(replace(result, digest="f" * 64))
    assert [one.digest for one in again.results()] == ["f" * 64]


def test_results_come_by_lesson_and_student_and_only_their_owner_may_read_them(book: Gradebook) -> None:
    for student in ("b", "a-b", "a"):
        for lesson in (10, 2):
            book.put(replace(made.EVERY[0], student=student, lesson=lesson))
    assert [(one.lesson, one.student) for one in book.results()] == [(n, s) for n in (2, 10) for s in ("a", "a-b", "b")]
    assert [one.student for one in book.results(10)] == ["a", "a-b", "b"]
    assert book.lessons() == [2, 10]
    if os.name == "posix":
        private = [path for path in book.folder.rglob("*") if path.is_file()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}


def test_every_unreadable_file_is_kept_until_it_is_no_longer_handed_in(book: Gradebook) -> None:
    lost = [made.unread("carl", "a.ipynb"), made.unread("carl", "b.ipynb"), made.unread("dora")]
    for result in lost:
        book.put(result)
    assert sorted(one.source for one in book.unread()) == ["a.ipynb", "b.ipynb", "week1/lost.ipynb"]
    assert list(book.results()) == []
    book.drop_unread({("dora", made.DIGEST)})
    assert [one.student for one in book.unread()] == ["dora"]


@pytest.mark.parametrize("content", [b"", b'{"format": 1', b"\xff\xfe", b"{}"], ids=["empty", "cut", "bytes", "other"])
def test_a_damaged_file_is_set_aside_and_said_and_graded_again(book: Gradebook, content: bytes) -> None:
    path = book.put(made.EVERY[0])
    path.write_bytes(content)
    assert book.known("anna", 1) is None
    assert path.with_name("anna.json.damaged-1").read_bytes() == content
    assert len(book.remarks) == 1 and "results/lesson1/anna.json was damaged" in book.remarks[0]
    assert list(book.results()) == []
    book.put(made.EVERY[0])
    assert list(Gradebook(book.folder).results()) == [made.EVERY[0]]


def test_a_full_disk_is_said_and_leaves_what_was_there(book: Gradebook, monkeypatch: pytest.MonkeyPatch) -> None:
    book.put(made.EVERY[0])

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(UserError, match="No space left on device.*run the same command again"):
        book.put(replace(made.EVERY[0], name="other"))
    assert [path.name for path in (book.folder / "results" / "lesson1").iterdir()] == ["anna.json"]
    assert book.known("anna", 1) == made.EVERY[0]


# ------------------------------------------------------------------ the run


def test_a_run_that_goes_on_has_the_same_secret(book: Gradebook) -> None:
    run = Gradebook(book.folder).begin()
    assert run == book.run and len(run.seed) == 32
    assert Gradebook(book.folder.with_name("other")).begin().seed != run.seed


@pytest.mark.parametrize(
    ("change", "said"),
    [({"seed": "mine"}, "another seed"), ({"options": {"cell": 30}}, r"cell 20\.0 \(now 30\)")],
    ids=["seed", "options"],
)
def test_another_run_does_not_mix_with_the_first(tmp_path: Path, change: dict[str, object], said: str) -> None:
    book = Gradebook(tmp_path)
    first = book.begin(options={"cell": 20.0})
    book.put(made.EVERY[0])
    with pytest.raises(OtherRun, match=said) as caught:
        Gradebook(tmp_path).begin(**{"options": {"cell": 20.0}, **change})
    assert first.seed not in str(caught.value)

    anew = Gradebook(tmp_path)
    second = anew.begin(**{"options": {"cell": 20.0}, **change}, anew=True)
    assert second.id != first.id and anew.run == second
    assert anew.known("anna", 1) is None and list(anew.results()) == []
    assert (tmp_path / "results.before-1" / "lesson1" / "anna.json").is_file() and "results.before-1" in anew.remarks[0]


def test_another_version_of_the_course_does_not_mix_with_the_first(
    book: Gradebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("course_utils.grading.gradebook.version", lambda: "9.9")
    with pytest.raises(OtherRun, match=r"version .* of the course \(this is 9\.9\)"):
        Gradebook(book.folder).begin()


def test_results_of_another_run_do_not_count_even_before_they_are_moved(book: Gradebook) -> None:
    book.put(made.EVERY[0])  # as where a run was killed between its new run.json and the move
    (book.folder / "run.json").write_text(json.dumps({"seed": "new", "course": "1", "options": {}}))
    assert list(Gradebook(book.folder).results()) == []


@pytest.mark.parametrize("text", ["", "[]", '{"seed": 1, "course": "", "options": {}}'])
def test_a_lost_secret_is_not_replaced_in_silence(book: Gradebook, text: str) -> None:
    (book.folder / "run.json").write_text(text)
    with pytest.raises(UserError, match="cannot be read .* put a copy of it back"):
        Gradebook(book.folder).begin()


# ------------------------------------------------------------------ one process at a time

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def _holder(book: Gradebook) -> int:
    """Another process that has the lock, and is writing."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            with book.lock(), files.writing_atomically(book.folder / "results" / "lesson1" / "zoe.json"):
                os.write(writing, b"x")
                time.sleep(60)
        finally:
            os._exit(1)
    os.close(writing)
    assert os.read(reading, 1) == b"x"
    os.close(reading)
    return child


@forks
def test_two_commands_do_not_mix_and_the_second_is_told_who_is_at_work(book: Gradebook) -> None:
    child = _holder(book)
    try:
        with pytest.raises(
            UserError, match=f"another `course grade` is at work on it .process {child} of .*wait until"
        ):
            with book.lock():
                pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@forks
def test_what_a_killed_command_left_behind_does_not_stop_the_next(book: Gradebook) -> None:
    book.put(made.EVERY[0])
    (book.folder / ".mine.json").write_text("{}")
    child = _holder(book)
    lesson = book.folder / "results" / "lesson1"
    assert len(list(lesson.iterdir())) == 2
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with book.lock():
        assert [path.name for path in lesson.iterdir()] == ["anna.json"]
        assert (book.folder / ".mine.json").exists()
        with pytest.raises(UserError, match="this process"), Gradebook(book.folder).lock():
            pass
    with book.lock():
        pass


# ------------------------------------------------------------------ words on clusters


def test_words_on_a_cluster_are_kept_replaced_and_taken_away(book: Gradebook) -> None:
    for student, code in {"a": made.skips_zeros, "b": made.skips_zeros_in_double, "c": made.steps_scaled}.items():
        book.put(made.result(student, code))
    largest, other = gathered(book.results()).values()
    assert (largest.size, largest.exercise, largest.lesson, largest.student) == (2, "1.1", 1, "a")
    assert other.size == 1
    assert book.comment(largest.id, "Zeros are entries, too.\n") == 2
    assert Gradebook(book.folder).comments() == {largest.id: "Zeros are entries, too."}
    book.comment(largest.id, "Other words")
    book.comment(other.id, "More")
    book.comment(largest.id, " ")
    assert book.comments() == {other.id: "More"}
    with pytest.raises(UserError, match="no cluster '1.1-none'"):
        book.comment("1.1-none", "Words")
