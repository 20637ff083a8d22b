"""Read a lesson source: a jupytext percent script whose special cells are marked in their metadata."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from course_utils.authoring.files import AuthoringError, shown, source_path
from course_utils.lessons.declare import Lesson

DEFAULT_STUB = "return ...  # your code here"

_MARKER = re.compile(r"^\s*#+ *(BEGIN|END) (SOLUTION|STUB)\s*$")
_HEADING = re.compile(r"^(#{1,6}) +(.+?)\s*#*$")


@dataclass(frozen=True)
class SourceCell:
    """One cell as the author wrote it.

    `exercise` is the id of the exercise whose function the cell holds; `stub` is what stands in
    the student version in place of each solution region.
    """

    kind: Literal["markdown", "code"]
    text: str
    exercise: str = ""
    stub: str = DEFAULT_STUB
    alt: str = ""
    tags: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    """Ids of the rows of `docs/claims.md` that the cell settles."""

    @property
    def solved(self) -> str:
        """The text of the solved version: the solution regions with their markers, without the stub regions."""
        return "\n".join(_without_region(self.text, "STUB"))

    @property
    def solution(self) -> str:
        """The text of the solved version without any marker lines."""
        return "\n".join(line for line in self.solved.split("\n") if not _MARKER.match(line))

    @property
    def own_stub(self) -> bool:
        """Whether the text itself holds what stands in the student version: a broken program, or a class's methods."""
        return "BEGIN STUB" in self.text

    @property
    def broken_stub(self) -> bool:
        """Whether the student version holds a broken program to repair: nothing is left to be filled in there."""
        return self.own_stub and DEFAULT_STUB not in self.region("STUB")

    def region(self, name: str) -> str:
        """The lines of all regions called `name` (SOLUTION or STUB), dedented, without markers."""
        inside, kept = False, []
        for line in self.text.split("\n"):
            marker = _MARKER.match(line)
            if marker:
                inside = marker[1] == "BEGIN" and marker[2] == name
            elif inside:
                kept.append(line)
        return textwrap.dedent("\n".join(kept))


@dataclass(frozen=True)
class Source:
    """A lesson as written: its cells in order. `file` is how messages name it."""

    file: str
    cells: tuple[SourceCell, ...]

    def exercise_cell(self, identifier: str) -> SourceCell | None:
        """The first cell marked with that exercise, or None."""
        return next((cell for cell in self.cells if cell.exercise == identifier), None)

    def imports_before(self, cell: SourceCell) -> str:
        """The import statements a learner has run before reaching `cell`, those of the course left out."""
        lines = ["import torch"]
        for earlier in self.cells:
            if earlier is cell:
                break
            if earlier.kind == "code":
                for node in parse(earlier.text).body:
                    if isinstance(node, ast.Import | ast.ImportFrom):
                        lines.append(ast.unparse(node))
        return "\n".join(dict.fromkeys(lines))


def read(root: Path, lesson: Lesson) -> Source:
    """The source of `lesson`. Raises `AuthoringError` when it is missing or a region is not closed."""
    import jupytext

    path = source_path(root, lesson)
    file = shown(root, path)
    if not path.is_file():
        raise AuthoringError(f"{file}: the source of lesson {lesson.number} is missing; write it, in percent format")
    notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    cells = []
    for cell in notebook.cells:
        metadata = cell.metadata
        text = cell.source.strip("\n")
        if not text:
            continue
        if cell.cell_type not in ("markdown", "code"):
            raise AuthoringError(f"{file}: a {cell.cell_type} cell; write markdown or code")
        if metadata.get("exercise"):
            _check_regions(file, str(metadata["exercise"]), text)
        elif any(_MARKER.match(line) for line in text.split("\n")):
            raise AuthoringError(
                f'{file}: cell "{first_words(text)}": a solution region in a cell without exercise="N.M"; mark the cell'
            )
        cells.append(
            SourceCell(
                kind=cell.cell_type,
                text=text,
                exercise=str(metadata.get("exercise", "")),
                stub=str(metadata.get("stub", DEFAULT_STUB)),
                alt=str(metadata.get("alt", "")),
                tags=tuple(metadata.get("tags", ())),
                claims=tuple(str(metadata.get("claims", "")).split()),
            )
        )
    if not cells or cells[0].kind != "markdown" or not cells[0].text.startswith("# "):
        raise AuthoringError(f"{file}: the first cell is not the title; begin with a markdown cell '# {lesson.title}'")
    return Source(file, tuple(cells))


def parse(code: str) -> ast.Module:
    """The syntax tree of a code cell, IPython magics replaced; empty when it is not Python at all."""
    try:
        return ast.parse(code)
    except SyntaxError:
        from IPython.core.inputtransformer2 import TransformerManager

        try:
            return ast.parse(TransformerManager().transform_cell(code))
        except SyntaxError:
            return ast.Module(body=[], type_ignores=[])


def headings(text: str) -> list[tuple[int, str]]:
    """(level, text) of each heading of a markdown cell, fenced code left out."""
    found, fenced = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        match = None if fenced else _HEADING.match(line)
        if match:
            found.append((len(match[1]), match[2]))
    return found


def first_words(text: str, limit: int = 48) -> str:
    """The first line that says something, cut, to name a cell in a message."""
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _check_regions(file: str, exercise: str, text: str) -> None:
    where = f"{file}: exercise {exercise}"
    opened, seen = "", False
    for line in text.split("\n"):
        marker = _MARKER.match(line)
        if marker is None:
            continue
        if (marker[1] == "BEGIN") == bool(opened) or (opened and marker[2] != opened):
            raise AuthoringError(f"{where}: '{line.strip()}' does not pair; close each region before the next begins")
        opened = marker[2] if marker[1] == "BEGIN" else ""
        seen = seen or marker[2] == "SOLUTION"
    if opened or not seen:
        raise AuthoringError(f"{where}: no whole solution; put it between '### BEGIN SOLUTION' and '### END SOLUTION'")


def _without_region(text: str, name: str) -> list[str]:
    inside, kept = False, []
    for line in text.split("\n"):
        marker = _MARKER.match(line)
        if marker and marker[2] == name:
            inside = marker[1] == "BEGIN"
        elif not inside:
            kept.append(line)
    return kept
