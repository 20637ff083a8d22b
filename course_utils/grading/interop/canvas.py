"""Canvas: put the points of one lesson into the gradebook that Canvas exported, ready to be imported again.

Format: Canvas's own exporter and importer (`lib/gradebook_exporter.rb`, `lib/gradebook_importer.rb`). Students are
found by the columns ID, SIS User ID, SIS Login ID and Integration ID, in this order of no importance: a student whom
two rows could mean gets nothing, and a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from course_utils.grading.interop.sheet import Merged, Sheet, find_row, number, read_number, share
from course_utils.grading.result import Result
from gradient_ledger.errors import UserError

_IDENTIFIERS = ("ID", "SIS User ID", "SIS Login ID", "Integration ID")
_BEFORE_ASSIGNMENTS = frozenset({"student", "lastname", "firstname", "root account", "section"}) | {
    name.casefold() for name in _IDENTIFIERS
}
_POINTS_POSSIBLE = "Points Possible"
_NO_STUDENT = re.compile(r"\s*(Muted|Manual Posting.*)?\s*", re.IGNORECASE)
_LEFT_ALONE = ("EX", "N/A")
"""Excused, and not assigned: an instructor's own word, which no grader takes back."""


def merge(sheet: Sheet, results: Iterable[Result], assignment: str, *, scale: bool = False) -> Merged:
    """The exported gradebook with the points of `results`, of one lesson, in the column of `assignment`.

    `assignment` is the column's whole name, or without the number that Canvas puts behind it. With `scale`, points are
    turned into those that the assignment has in Canvas. Raises `UserError` where the table has no such column, or
    another number of points.
    """
    column = _assignment(sheet, assignment)
    identifying = [at for at in (sheet.column(name) for name in _IDENTIFIERS) if at is not None]
    if not identifying or "student" not in sheet.header[0].casefold() and sheet.column("LastName") is None:
        raise UserError(f"{sheet.name} is no gradebook that Canvas exported: its first row has no Student and ID")
    students = [row for row in range(1, len(sheet.rows)) if _is_student(sheet, row)]
    possible = _points_possible(sheet, column)
    placed, remarks = 0, list[str]()
    for result in results:
        row = find_row(sheet, students, partial(sheet.has, columns=identifying, text=result.student), result.student)
        if isinstance(row, str):
            remarks.append(row)
        elif row is None:
            remarks.append(f"{result.student} is not in {sheet.name}: no row has that ID, SIS ID or login")
        elif sheet.cell(row, column).upper() in _LEFT_ALONE:
            remarks.append(f"{result.student} stays {sheet.cell(row, column)}, as Canvas has it")
        else:
            sheet.put(row, column, number(share(result, possible, scale, "Canvas")))
            placed += 1
    return Merged(sheet.to_bytes(), placed, tuple(remarks))


def _assignment(sheet: Sheet, wanted: str) -> int:
    titles = {at: name for at, name in enumerate(sheet.header) if name.strip().casefold() not in _BEFORE_ASSIGNMENTS}
    found = [at for at, name in titles.items() if wanted in (name, re.sub(r"\s*\(\d+\)$", "", name))]
    if len(found) != 1:
        why = "two columns have" if found else "no column has"
        shown = ", ".join(repr(name) for name in titles.values()) or "none"
        raise UserError(
            f"{sheet.name}: {why} the name {wanted!r}; its columns are {shown}. Create the assignment in Canvas first, "
            "then export the gradebook"
        )
    return found[0]


def _is_student(sheet: Sheet, row: int) -> bool:
    return _POINTS_POSSIBLE not in sheet.cell(row, 0) and not all(
        _NO_STUDENT.fullmatch(value) for value in sheet.rows[row]
    )


def _points_possible(sheet: Sheet, column: int) -> float | None:
    said = next(
        (sheet.cell(row, column) for row in range(1, len(sheet.rows)) if _POINTS_POSSIBLE in sheet.cell(row, 0)), ""
    )
    if "read only" in said.casefold():
        raise UserError(
            f"{sheet.name}: Canvas works out the column {sheet.header[column]!r} itself; name an assignment"
        )
    return read_number(said)
