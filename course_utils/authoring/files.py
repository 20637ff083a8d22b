"""Where the files of a lesson stand in a clone, and how they are written: whole or not at all."""

from __future__ import annotations

from pathlib import Path

from course_utils.lessons import lessons
from course_utils.lessons.declare import Lesson
from gradient_ledger.files import write_atomically


class AuthoringError(Exception):
    """A fault in what the author wrote; the message names the file, the fault and the remedy."""


def chosen(only: list[int]) -> list[Lesson]:
    """The registered lessons of those numbers, all when there are none. Raises `AuthoringError` for an unknown one."""
    registered = {lesson.number: lesson for lesson in lessons()}
    unknown = sorted(set(only) - set(registered))
    if unknown:
        known = ", ".join(map(str, registered)) or "none yet"
        raise AuthoringError(f"there is no lesson {unknown[0]}; the lessons are {known}")
    return [registered[number] for number in sorted(set(only) or registered)]


def source_path(root: Path, lesson: Lesson) -> Path:
    """The script the lesson is written in."""
    return root / "solutions" / f"{lesson.slug}.py"


def student_path(root: Path, lesson: Lesson) -> Path:
    """The notebook a learner opens."""
    return root / "notebooks" / f"{lesson.slug}.ipynb"


def solved_path(root: Path, lesson: Lesson) -> Path:
    """The solved and executed notebook."""
    return root / "solutions" / f"{lesson.slug}.ipynb"


def solutions_path(root: Path) -> Path:
    """What `solution()` shows, for every exercise."""
    return root / "course_utils" / "lessons" / "solutions.json"


def cells_path(root: Path) -> Path:
    """The digests of the code cells that learners are given, by which the grader knows them."""
    return root / "course_utils" / "lessons" / "cells.json"


def shown(root: Path, path: Path) -> str:
    """`path` as it is named in messages: relative to the clone, with forward slashes."""
    return path.relative_to(root).as_posix()


def write(path: Path, text: str) -> bool:
    """Put `text` at `path` in one step, so that a killed build leaves the old file whole; True when it changed."""
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    write_atomically(path, text)
    path.chmod(mode)  # a temporary file is its owner's alone; a generated one is as readable as any other
    return True
