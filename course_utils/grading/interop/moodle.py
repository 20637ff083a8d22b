"""Moodle: put the points of one lesson into the grading worksheet of an assignment, ready to be uploaded again.

Format: Moodle's own offline grading (`mod/assign/feedback/offline/importgradeslib.php`, `mod/assign/gradingtable.php`).
The worksheet must have been downloaded with the interface in English: its column names are of the language in use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from html import escape

from course_utils.grading.interop.sheet import Merged, Sheet, find_row, number, read_number, share
from course_utils.grading.interop.words import lines
from course_utils.grading.result import Result
from course_utils.grading.tables import harmless
from gradient_ledger.errors import UserError

_NEEDED = ("Identifier", "Grade", "Last modified (grade)")
"""Without these Moodle does not take a worksheet back."""
_IDENTIFIERS = ("Identifier", "Email address", "ID number", "Username")
_PARTICIPANT = re.compile(r"\D*(\d+)")
"""`Participant 123`, the word in the language of the site."""


def merge(sheet: Sheet, results: Iterable[Result], *, scale: bool = False, feedback: bool = True) -> Merged:
    """The worksheet with the points of `results`, of one lesson, and with a line an exercise as the comment.

    Students are found by the number of `Participant 123`, by address, ID number or user name. With `scale`, points are
    turned into those of the assignment. Raises `UserError` for what is no worksheet.
    """
    missing = [name for name in _NEEDED if sheet.column(name) is None]
    if missing:
        raise UserError(
            f"{sheet.name} is no grading worksheet of Moodle's: it has no column {missing[0]!r}. Set the interface to "
            "English, switch on *Offline grading worksheet* in the assignment, and download it again"
        )
    grade = sheet.column("Grade")
    assert grade is not None
    identifying = [at for at in (sheet.column(name) for name in _IDENTIFIERS) if at is not None]
    comments = sheet.column("Feedback comments") if feedback else None
    maximum, changeable = sheet.column("Maximum Grade"), sheet.column("Grade can be changed")
    placed, remarks = 0, list[str]()
    for result in results:
        means = partial(_means, sheet, identifying=identifying, student=result.student)
        found = find_row(sheet, range(1, len(sheet.rows)), means, result.student)
        if isinstance(found, str):
            remarks.append(found)
        elif found is None:
            remarks.append(f"{result.student} is not in {sheet.name}: no row has that participant or address")
        elif sheet.cell(found, changeable).casefold() == "no":
            remarks.append(f"{result.student}: the grade is locked in Moodle; nothing was written there")
        else:
            most = read_number(sheet.cell(found, maximum))
            sheet.put(found, grade, number(share(result, most, scale, "Moodle")))
            if comments is not None:
                # Moodle shows a comment as HTML.
                sheet.put(found, comments, harmless("<br>".join(escape(line) for line in lines(result))))
            placed += 1
    return Merged(sheet.to_bytes(), placed, tuple(remarks))


def _means(sheet: Sheet, row: int, identifying: list[int], student: str) -> bool:
    participant = _PARTICIPANT.fullmatch(sheet.cell(row, identifying[0]))
    return sheet.has(row, identifying, student) or (participant is not None and participant[1] == student)
