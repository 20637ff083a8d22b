"""Marks as tables that a spreadsheet opens: `grades.csv`, a row a student, and `exercises.csv`, a row an exercise.

UTF-8 with a byte order mark, since Excel reads names in another encoding without one: read them as `utf-8-sig`. Text is
quoted; where it begins as a formula would, an apostrophe stands before it. A lesson that a student did not hand in,
or whose file could not be read, has an empty mark and not 0, and `notes` says which it is; the total is of the others.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from course_utils.exercise import Fault
from course_utils.grading.gradebook import Gradebook, file_stem
from course_utils.grading.result import Marked, Note, Result
from gradient_ledger.files import writing_atomically

GRADES, EXERCISES = "grades.csv", "exercises.csv"
_FORMULA = re.compile(r"(^|[;|])([\s\"]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Where a formula may begin, in full width too: at the start, and where another country's Excel splits cells."""


@dataclass(frozen=True)
class Tables:
    """What was written."""

    paths: tuple[Path, ...]
    students: int
    """Rows of `grades.csv`."""
    missing: Mapping[int, int] = field(default_factory=dict)
    """{lesson: how many students have no mark in it}, among those on the roster and those with any submission."""


@dataclass(frozen=True)
class _Student:
    """All there is of one student."""

    student: str
    name: str
    results: Mapping[int, Result]
    unread: tuple[Result, ...]
    on_roster: bool


def write_all(gradebook: Gradebook, roster: Mapping[str, str] | None = None) -> Tables:
    """Write both tables into the gradebook's folder, one student at a time.

    `roster` is {student: full name}, that of the last time where it is None; whoever is on it has a row, with or
    without submissions.
    """
    roster = gradebook.roster(roster)
    lessons = gradebook.lessons()
    missing = dict.fromkeys(lessons, 0)
    students = 0
    paths = (gradebook.folder / GRADES, gradebook.folder / EXERCISES)
    with writing_atomically(paths[0]) as first, writing_atomically(paths[1]) as second:
        grades, exercises = _Writer(first), _Writer(second)
        grades.row(["student", "name", *(f"lesson {number}" for number in lessons), "total", "notes"])
        exercises.row(
            ["student", "lesson", "exercise", "function", "points", "max_points", "outcome", "mistakes", "cluster"]
            + ["notes"]
        )
        for one in _students(gradebook, roster):
            students += 1
            for number in lessons:
                missing[number] += number not in one.results
            marks = [_rounded(one.results[n].points) if n in one.results else "" for n in lessons]
            total = _rounded(sum(result.points for result in one.results.values())) if one.results else ""
            grades.row([one.student, one.name, *marks, total, _said(one, lessons, bool(roster))])
            for number, result in sorted(one.results.items()):
                for marked in result.exercises:
                    exercises.row([one.student, number, *_exercise(marked)])
    return Tables(paths, students, missing)


def _exercise(marked: Marked) -> list[str | float]:
    verdict = marked.verdict
    return [
        verdict.exercise,
        verdict.name,
        _rounded(marked.points),
        verdict.max_points,
        verdict.outcome,
        "; ".join(filter(None, map(named, verdict.faults))),
        marked.cluster,
        notes_in_line(marked.notes),
    ]


def named(fault: Fault) -> str:
    """The ids of a fault's mistakes: `a`, or `a or b` where what was seen leaves it open; empty without any."""
    return " or ".join(words.id for words in fault.mistakes)


def notes_in_line(notes: tuple[Note, ...]) -> str:
    return " ".join(note.line for note in notes)


def _said(one: _Student, lessons: list[int], with_roster: bool) -> str:
    """Why marks are empty, and what else is to be known of a student."""
    parts = []
    none = [str(number) for number in lessons if number not in one.results]
    if not one.results and not one.unread:
        parts.append("No submission.")
    elif none:
        parts.append(f"Nothing graded for lesson {', '.join(none)}.")
    if with_roster and not one.on_roster:
        parts.append("Not on the roster.")
    for result in one.unread:
        parts.append(f"Could not be read: {result.source}. {notes_in_line(result.notes)}".rstrip())
    for number, result in sorted(one.results.items()):
        if result.notes:
            parts.append(f"Lesson {number}: {notes_in_line(result.notes)}")
    return " ".join(parts)


def _rounded(points: float) -> float:
    return int(points) if points == int(points) else round(points, 2)


# ------------------------------------------------------------------ everything of one student at a time


def _students(gradebook: Gradebook, roster: Mapping[str, str]) -> Iterator[_Student]:
    """One student after the other, in the order of their files' names, which is the same for every lesson."""
    known = {file_stem(student): student for student in roster}
    streams: list[Iterator[tuple[str, int, Result | None]]] = [((stem, -1, None) for stem in sorted(known))]
    streams += [_keyed(gradebook, number) for number in gradebook.lessons()]
    # Few cannot be read, and their files' names are in no order of students.
    unread = sorted(((file_stem(result.student), 0, result) for result in gradebook.unread()), key=lambda one: one[0])
    in_order = merge(*streams, unread, key=lambda one: one[0])
    for stem, group in groupby(in_order, key=lambda one: one[0]):
        entries = list(group)
        results = {number: result for _, number, result in entries if result and number > 0}
        others = tuple(result for _, number, result in entries if result and number == 0)
        every = [*results.values(), *others]
        student = every[0].student if every else known[stem]
        name = roster.get(student) or next((result.name for result in every if result.name), "")
        yield _Student(student, name, results, others, stem in known)


def _keyed(gradebook: Gradebook, number: int) -> Iterator[tuple[str, int, Result | None]]:
    for result in gradebook.results(number):
        yield file_stem(result.student), number, result


# ------------------------------------------------------------------ one row


class _Writer:
    """Rows of one file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._file.write(codecs.BOM_UTF8)
        self._line = io.StringIO(newline="")
        self._csv = csv.writer(self._line, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")

    def row(self, cells: Sequence[str | float]) -> None:
        self._csv.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in cells])
        self._file.write(self._line.getvalue().encode("utf-8", "backslashreplace"))
        self._line.seek(0)
        self._line.truncate()


def harmless(text: str) -> str:
    """`text` in one line, and so that no spreadsheet takes a part of it for a formula: with an apostrophe before it."""
    text = text.replace("\0", "\N{SYMBOL FOR NULL}").replace("\t", " ")
    return _FORMULA.sub(r"\1'\2", " ".join(text.splitlines()))
