"""From lesson sources to notebooks (`course build`), what every lesson keeps to (`course verify`), and courses made of
them (`course release`).

jupytext, nbformat, nbclient and nbgrader are imported when a command runs, never before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["build_command", "new_exercise_command", "student_notebook", "verify_command"]


def build_command(root: Path, *, check: bool, repository: str | None, only: list[int]) -> int:
    """Write both notebooks of each lesson, the README table, the map of claims and both JSON files; the exit status.

    `root` is the clone. `check` writes and executes nothing: it names every stale file and
    returns 1 when there is one. `repository` (`OWNER/NAME`, a git URL or a local path; `""`
    for none) replaces the setting in `pyproject.toml`. `only` are lesson numbers, all when empty.
    """
    from course_utils.authoring.build import build

    return build(root, check=check, repository=repository, only=only)


def verify_command(root: Path, only: list[int], part: tuple[int, int] = (1, 1)) -> int:
    """Print one line for each broken invariant of the lessons `only` (all when empty); 1 when there is any, else 0.

    With `part` (2, 3), mistakes and attempts are judged in every third exercise, from the second on.
    """
    from course_utils.authoring.verify import verify

    return verify(root, only, part)


def new_exercise_command(root: Path, identifier: str, name: str) -> int:
    """Write the skeleton of exercise `identifier` (`"1.6"`), a function or class `name`; the exit status."""
    from course_utils.authoring.scaffold import new_exercise

    return new_exercise(root, identifier, name)


def student_notebook(root: Path, lesson: int, *, repository: str | None = None) -> Any:
    """The notebook a learner of `lesson` opens, as an nbformat node, assembled from the source as it is now.

    `repository` takes the place of the setting, as in `build_command`; nothing is written.
    """
    from course_utils.authoring.files import chosen
    from course_utils.authoring.notebooks import student_notebook as assemble
    from course_utils.authoring.repository import read_setting
    from course_utils.authoring.repository import repository as parse
    from course_utils.authoring.source import read

    (found,) = chosen([lesson])
    where = parse(read_setting(root) if repository is None else repository)
    return assemble(read(root, found), found, where)
