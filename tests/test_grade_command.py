"""`course grade` as an instructor types it: what does not fit is said before anything is written, a part stays one."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from graders import FakeGrader, hand_in, notebook

from course_utils import cli
from course_utils.authoring import unworded
from course_utils.grading import command
from course_utils.grading.engine import Job, Settings, local
from course_utils.grading.result import Result
from course_utils.grading.submissions import read
from course_utils.lessons import exercise


@pytest.fixture(autouse=True)
def graded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whom a fake in this process graded, in place of workers."""
    students: list[str] = []

    def grade_all(jobs: Iterable[Job], settings: Settings, workers: int) -> Iterator[Result]:
        for job in jobs:
            students.append(job.submission.student)
            yield FakeGrader(settings.seed).grade(job.submission, read(job.submission))

    monkeypatch.setattr(local, "grade_all", grade_all)
    return students


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with notebooks of `student-000` and `student-001` in `in`."""
    monkeypatch.chdir(tmp_path)
    hand_in(tmp_path / "in", ["work", "work"])
    return tmp_path


def course(*arguments: str) -> int:
    return cli.main(["grade", *arguments, "--isolation", "none"])  # the fake needs no sandbox


def grades() -> dict[str, dict[str, str]]:
    """{student: their row}."""
    with open("book/grades.csv", encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "lock"}


# ------------------------------------------------------------------ what does not fit


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("nowhere --out book", "there is no folder nowhere: give the folder, or the zip"),
        ("notes.txt --out book", "notes.txt holds no notebook: give the folder, or the zip"),
        ("in --out notes.txt", "there is a file in its place; give a folder to --out"),
        ("in --out notes.txt/book", "there is a file in its place; give a folder to --out"),
        ("in --out in", "in lies among what was handed in: give another folder to --out"),
        ("in --out in/book", "in/book lies among what was handed in: give another folder to --out"),
        ("in --out thesis", "thesis is no gradebook, and holds grades.csv: give a new folder to --out"),
        ("in --out book --roster none.csv", "the roster none.csv is not there"),
        ("in --out book --roster notes.txt", "has no column that names students: it has my notes; call one id"),
        ("in --out book --lesson 9", "there is no lesson 9; the lessons are 1, 2,"),
        ("in --out book --student student-000 --student Ada", "no notebook of Ada was found: students are called as"),
        ("in --out book --course thesis", "thesis is no course of your own"),
        ("in --out book --engine dask", "--engine dask and --scheduler ADDRESS go together"),
        ("--out book", "give the folder of submissions, or --comment"),
        ("--out book --comment 3.2-0123456789 Words", "book is no gradebook: give the folder that was --out of"),
        ("--out notes.txt --comment 3.2-0123456789 Words", "notes.txt is no gradebook"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_is_written(
    arguments: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str], graded: list[str]
) -> None:
    (folder / "notes.txt").write_text("my notes\n")
    (folder / "thesis" / "pages" / "one").mkdir(parents=True)
    for mine in ("grades.csv", "pages/one/page.html", ".draft.abcdefgh"):
        (folder / "thesis" / mine).write_text("years of work")
    before = files(folder)
    assert course(*arguments.split()) == 1
    error = capsys.readouterr().err
    assert said in error and len(error.splitlines()) == 1 and graded == []
    assert files(folder) == before and not (folder / "book").exists()


def test_a_count_of_processes_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        course("in", "--out", "book", "--jobs", "0")
    assert "argument --jobs: '0' is not a count: a number from 1" in capsys.readouterr().err


def test_a_lesson_that_nobody_handed_in_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert course("in", "--out", "book", "--lesson", "4") == 1
    assert "no notebook of lesson 4 was found" in capsys.readouterr().err


def test_no_students_code_is_judged_with_before_somebody_wrote_its_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    skeleton = unworded.mistakes_path(folder, exercise("2.1"))
    skeleton.parent.mkdir(parents=True)
    skeleton.write_text(
        f'@mistake(\n    "{unworded.TO_WRITE}title: the effect in a few words",\n)\n'
        "def to_be_named_0a(model):\n    raise AssertionError('run')\n"
    )
    monkeypatch.setattr(command, "ROOT", folder)
    assert course("in", "--out", "book") == 1
    said = capsys.readouterr().err
    assert "to_be_named_0a, line 4: write its title; give it a name" in said and "nothing is graded" in said
    assert not Path("book").exists()


def test_words_on_a_cluster_that_there_is_not_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    course("in", "--out", "book")
    assert course("--out", "book", "--comment", "3.2-abc", "Words") == 1
    assert "there is no cluster '3.2-abc' in book: report.html names those there are" in capsys.readouterr().err
    assert course("--out", "book", "--comment", "3.2-0123456789", "Words") == 0


# ------------------------------------------------------------------ a part, and all of it again


def test_one_student_is_graded_again_alone(graded: list[str]) -> None:
    course("in", "--out", "book")
    before = files(Path("book"))
    graded.clear()
    assert course("in", "--out", "book", "--regrade", "--student", "student-001") == 0
    assert graded == ["student-001"] and files(Path("book")) == before


@pytest.mark.parametrize("part", [["--student", "student-001"], ["--lesson", "3"]])
def test_a_part_is_not_graded_by_another_version_than_the_rest(
    part: list[str], graded: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    course("in", "--out", "book")
    before = files(Path("book"))
    graded.clear()
    monkeypatch.setattr("course_utils.grading.gradebook.version", lambda: "9.9")
    assert course("in", "--out", "book", "--regrade", *part) == 1
    error = capsys.readouterr().err
    assert "this is 9.9" in error and "grade all of it again with --regrade, without --student and --lesson" in error
    assert graded == [] and files(Path("book")) == before

    assert course("in", "--out", "book", "--regrade") == 0
    assert graded == ["student-000", "student-001"] and set(grades()) == {"student-000", "student-001"}
    assert Path("book/results.before-1/lesson3/student-000.json").is_file()


@pytest.mark.parametrize(
    ("more", "again"),
    [([], "the same command goes"), (["--regrade"], "without --regrade it grades what has no result yet")],
)
def test_an_interrupted_run_says_how_to_go_on(
    more: list[str],
    again: str,
    graded: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = local.grade_all

    def interrupted(jobs: Iterable[Job], settings: Settings, workers: int) -> Iterator[Result]:
        yield next(iter(real(jobs, settings, workers)))
        raise KeyboardInterrupt

    if more:
        course("in", "--out", "book", "--seed", "first")
        more = [*more, "--seed", "second"]
    graded.clear()
    with monkeypatch.context() as patch:
        patch.setattr(local, "grade_all", interrupted)
        assert course("in", "--out", "book", *more) == 130
    said = capsys.readouterr()
    assert again in said.err and "nterrupted" not in said.out
    assert course("in", "--out", "book") == 0
    assert graded == ["student-000", "student-001"]


# ------------------------------------------------------------------ what could not be read


def test_a_zip_that_cannot_be_opened_has_a_row_and_a_page_that_say_why(
    folder: Path, capsys: pytest.CaptureFixture[str], graded: list[str]
) -> None:
    (folder / "in" / "zoe.zip").write_bytes(b"half of a zip")
    assert course("in", "--out", "book") == 0
    assert "2 graded, 1 that could not be read" in capsys.readouterr().out and "zoe" not in graded
    row = grades()["zoe"]
    assert row["lesson 3"] == "" and "Could not be read: zoe.zip. The zip archive cannot be read" in row["notes"]
    (page,) = (folder / "book" / "pages" / "unread").iterdir()
    assert "Pack it again, as a plain zip" in page.read_text(encoding="utf-8")


def test_what_could_not_be_read_is_forgotten_once_its_student_hands_in_another(folder: Path) -> None:
    for student in ("yan", "zoe"):
        (folder / "in" / student).mkdir()
        (folder / "in" / student / "work.ipynb").write_bytes(b"no notebook")
    course("in", "--out", "book")
    (folder / "in" / "zoe" / "work.ipynb").write_bytes(notebook("work"))
    assert course("in", "--out", "book", "--student", "zoe") == 0
    rows = grades()
    assert rows["zoe"]["lesson 3"] == "7" and "Could not be read" not in rows["zoe"]["notes"]
    assert "Could not be read: yan/work.ipynb" in rows["yan"]["notes"]


# ------------------------------------------------------------------ the roster


def test_a_roster_that_is_left_out_later_is_pointed_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.csv").write_bytes(b"\xef\xbb\xbfLogin;Name\r\nstudent-000;Ada L\r\nabsent;Bo\r\n")
    assert course("in", "--out", "book", "--roster", "r.csv") == 0
    assert {student: row["name"] for student, row in grades().items()} == {
        "absent": "Bo",
        "student-000": "Ada L",
        "student-001": "",
    }
    assert "Not in the roster, and called as their files are: student-001." in capsys.readouterr().out
    assert course("in", "--out", "book") == 0
    assert "This gradebook has a roster, and none was given" in capsys.readouterr().out
    assert grades()["absent"]["notes"] == "No notebook was found."
