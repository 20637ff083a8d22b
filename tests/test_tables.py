"""Tables that open in a spreadsheet: a row each, an empty mark for what is missing, and no formula."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import gradebooks as made
import pytest

from course_utils.grading import tables
from course_utils.grading.gradebook import Gradebook
from course_utils.grading.result import Note, Result


@pytest.fixture
def book(tmp_path: Path) -> Gradebook:
    return made.gradebook(tmp_path)


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_grades_have_a_row_a_student_and_an_empty_mark_for_what_is_missing(book: Gradebook) -> None:
    twenty = made.result("anna", made.right, name="Anna")
    book.put(twenty)
    book.put(replace(twenty, lesson=2, exercises=(made.reaching(twenty.exercises[0], 12),)))
    book.put(made.result("ben", made.stub))
    book.put(made.unread("carl"))
    book.set_roster({"anna": "Anna Å.", "ben": "Ben", "dora": "Dora", "carl": "Carl"})
    tables.write_all(book)
    head, *rows = _rows(book.folder / "grades.csv")
    assert head == ["student", "name", "lesson 1", "lesson 2", "total", "notes"]
    assert [row[:5] for row in rows] == [
        ["anna", "Anna Å.", "20", "12", "32"],
        ["ben", "Ben", "0", "", "0"],
        ["carl", "Carl", "", "", ""],
        ["dora", "Dora", "", "", ""],
    ]
    assert rows[1][5] == "Nothing graded for lesson 2."
    assert "Could not be read: week1/lost.ipynb. This is not JSON" in rows[2][5]
    assert rows[3][5] == "No notebook was found."
    tables.write_all(Gradebook(book.folder))  # the roster of the last time
    assert [row[0] for row in _rows(book.folder / "grades.csv")[1:]] == ["anna", "ben", "carl", "dora"]


def test_who_is_not_on_the_roster_is_said_where_there_is_one(book: Gradebook) -> None:
    book.put(made.result("eve", made.right))
    tables.write_all(book)
    assert _rows(book.folder / "grades.csv")[1][-1] == ""
    book.set_roster({"anna": "Anna"})
    tables.write_all(book)
    said = [row[-1] for row in _rows(book.folder / "grades.csv")[1:]]
    assert said == ["No notebook was found.", "Not on the roster."]


def test_exercises_have_a_row_each_with_mistake_cluster_and_notes(book: Gradebook) -> None:
    one, other = made.marked(made.forward), made.marked(made.skips_zeros)
    noted = replace(made.reaching(other, 7), notes=(Note("cell", "It was stopped after 20 s.", "cell 14"),))
    book.put(Result("anna", 1, made.DIGEST, "a.ipynb", (one, noted)))
    tables.write_all(book)
    head, *rows = _rows(book.folder / "exercises.csv")
    assert rows == [
        ["anna", "1", "1.1", "numerical_gradient", "0", "20", "failed", "forward-difference", "", ""],
        ["anna", "1", "1.1", "numerical_gradient", "7", "20", "failed", "", other.cluster]
        + ["cell 14: It was stopped after 20 s."],
    ]
    assert len(head) == len(rows[0])


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\uff1d1",
    "=cmd|' /C calc'!A0",
    'a";=1',
    "x;-1",
    "x;\t=1",
]


@pytest.mark.parametrize("text", FORMULAS, ids=ascii)
def test_no_cell_is_a_formula_whatever_students_and_files_are_called(book: Gradebook, text: str) -> None:
    note = (Note("file", text),)
    book.put(replace(made.result("x", made.right), student=text, name=text, notes=note))
    book.put(replace(made.unread("y", text), student=f"{text}y", notes=note))
    tables.write_all(book)
    for name in ("grades.csv", "exercises.csv"):
        assert (book.folder / name).read_bytes().startswith(b"\xef\xbb\xbf")
        rows, text = _rows(book.folder / name), (book.folder / name).read_text("utf-8-sig")
        assert {len(row) for row in rows} == {len(rows[0])} and len(text.splitlines()) == len(rows)
        # Excel of other countries splits at semicolons, and some programs at tabs.
        for separator in ",;\t|":
            cells = [cell for row in csv.reader(text.splitlines(), delimiter=separator) for cell in row]
            assert not [cell for cell in cells if re.match(r"[\s\"]*[=+@\uff1d]|[\s\"]*-|\t", cell)]
