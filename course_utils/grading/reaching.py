"""Cells that reach into the machinery of the check: nothing that is marked depends on it, but somebody should look."""

from __future__ import annotations

import re

from course_utils.grading.notebook import Notebook
from course_utils.grading.result import Note

# What no exercise needs. The sandbox keeps answers and marks out of reach, but a rule about *how* is judged by what
# the student's own process tells of itself.
_REACHES = re.compile(
    r"course_utils\.(?:checks|plain|grading|exercise)|gradient_ledger\.(?:taps|recorder)|__subclasses__|_getframe"
    r"|\bgc\.get_|\bsys\.(?:modules|settrace|setprofile)|\bctypes\b|/proc/|\bos\.(?:fork|kill|_exit)"
)


def reaching(notebook: Notebook) -> tuple[Note, ...]:
    """A note on each cell of the student's own that names such a thing, for the instructor's eyes."""
    found = []
    for cell in notebook.cells:
        named = sorted(set(_REACHES.findall(cell.source))) if not cell.published else []
        if named:
            text = f"This cell uses {', '.join(named[:5])}, which no exercise needs: a person should look at it."
            found.append(Note("cell", text, f"cell {cell.number}"))
    return tuple(found)
