"""Read a notebook that a stranger handed in: bytes in, a list of code cells out, and what lesson they are of."""

from __future__ import annotations

from dataclasses import dataclass

from course_utils.grading.result import Note


class Unreadable(ValueError):
    """The file cannot be read as a notebook: what is wrong and what the student can do, in one sentence or two."""


@dataclass(frozen=True)
class Cell:
    """One code cell, in the order of the file."""

    number: int
    """From 1, counting code cells: how notes name it ("cell 14")."""
    source: str
    published: bool = False
    """Whether the course ships this cell as it stands (exercise stubs and their checks included)."""


@dataclass(frozen=True)
class Notebook:
    """The code of one submission, and the lesson that it is of."""

    lesson: int
    cells: tuple[Cell, ...]
    notes: tuple[Note, ...] = ()


def read_notebook(data: bytes) -> Notebook:
    """The notebook in `data`. Raises `Unreadable`."""
    raise NotImplementedError
