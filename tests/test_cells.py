"""The cells of a lesson: each runs twice, and in any order behind the set-up of its section."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from pathlib import Path

import pytest

from course_utils.authoring.source import SourceCell, first_words, headings, read
from course_utils.lessons import lesson, lessons, question

pytestmark = pytest.mark.turns

ROOT = Path(__file__).resolve().parent.parent
HEAVY = 4
"""From this lesson on its cells take some twenty seconds here, and more."""
NUMBERS = [
    pytest.param(each.number, marks=[pytest.mark.heavy] if each.number >= HEAVY else [], id=str(each.number))
    for each in lessons()
]
LONG = 0.6
"""Seconds of processor time, that of its processes included, after which a cell is not run once more here."""


def _sections(number: int) -> tuple[list[SourceCell], dict[str, list[SourceCell]]]:
    """The code cells of a lesson: those before the first section, and {section: its cells}."""
    before: list[SourceCell] = []
    sections: dict[str, list[SourceCell]] = {}
    here = before
    for cell in read(ROOT, lesson(number)).cells:
        if cell.kind == "code":
            here.append(cell)
        for level, title in headings(cell.text) if cell.kind == "markdown" else ():
            if level == 2:
                here = sections.setdefault(title, [])
    return before, sections


class _Notebook:
    """Names as a kernel holds them, with questions that note what they were asked in place of widgets."""

    def __init__(self) -> None:
        self._measured: list[tuple[str, str]] = []
        quiet = dict.fromkeys(("check", "hint", "predict", "progress", "quiz", "solution"), lambda *_: None)
        self._names: dict[str, object] = {"__name__": "__main__", **quiet, "compare": self._compare}

    def _compare(self, identifier: str, measured: str) -> None:
        assert measured in question(identifier).choices, f"{measured!r} is no choice of {identifier}"
        self._measured.append((identifier, measured))

    def run(self, cell: SourceCell) -> tuple[str, list[tuple[str, str]]]:
        """What a cell prints, the text of its pictures included, and what it measures. A warning is an error."""
        self._measured = []
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            try:
                exec(compile(cell.solved, first_words(cell.text), "exec"), self._names)
            except Exception as error:
                raise AssertionError(f"{first_words(cell.text)}: {type(error).__name__}: {error}") from error
        return printed.getvalue(), self._measured


@pytest.mark.parametrize("number", NUMBERS)
def test_cells_run_twice_and_in_any_order_after_the_set_up_of_their_section(number: int) -> None:
    before, sections = _sections(number)
    assert before and len(sections) > 3
    for title, cells in sections.items():
        if not cells:
            continue
        notebook = _Notebook()
        for cell in (*before, cells[0], *(cell for cell in cells if cell.exercise)):
            notebook.run(cell)
        shown = {}
        for cell in reversed(cells):
            began = processor_time()
            first = notebook.run(cell)
            if processor_time() - began < LONG:
                shown[cell.text] = first
        for cell in cells:
            if cell.text in shown:
                again = notebook.run(cell)
                assert again == shown[cell.text], f"{title}: {first_words(cell.text)!r} shows something else again"


def processor_time() -> float:
    """Seconds used by this process and by those of its children that have ended."""
    return sum(os.times()[:4])
