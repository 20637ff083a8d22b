"""A result in a few lines of text: for places that take no page."""

from __future__ import annotations

from course_utils.grading.interop.sheet import number
from course_utils.grading.result import Marked, Result


def lines(result: Result) -> list[str]:
    """One line an exercise, then the notes on the file. It may hold text of the student's: whoever shows it escapes."""
    return [*map(_line, result.exercises), *(note.line for note in result.notes)]


def _line(marked: Marked) -> str:
    verdict = marked.verdict
    said = (
        f"{verdict.exercise} {verdict.name}: {number(marked.points)} of {verdict.max_points} points, {verdict.outcome}"
    )
    fault = verdict.faults[0] if verdict.faults else None
    if fault is not None and len(fault.mistakes) == 1:
        said += f": {fault.mistakes[0].title} ({fault.mistakes[0].id})"
    return ". ".join([said, *(note.text for note in marked.notes)])
