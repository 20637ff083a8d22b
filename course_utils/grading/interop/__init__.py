"""The tools that instructors use: results go into them in their own formats, one module a tool.

`sheet` edits a table that a tool exported; `canvas` and `moodle` put points into it. `one` grades a single student's
folder, which is what `gradescope` and `github` do on somebody else's machine. nbgrader needs no module: the notebooks
themselves are its assignments. Here is what `course export` runs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gradient_ledger.errors import UserError
from gradient_ledger.files import write_bytes_atomically

if TYPE_CHECKING:
    from course_utils.grading.interop.sheet import Merged
    from course_utils.grading.sandbox import Isolation
    from course_utils.lessons import Terms

Say = Callable[[str], None]


def export_gradescope(
    root: Path, out: Path, lesson: int, course: Path | None, isolation: Isolation, say: Say = print
) -> None:
    """Write the autograder of a lesson from the clone at `root`; `course` is an own one. Raises `UserError`."""
    from course_utils.grading.interop.gradescope import autograder

    terms = _terms(course, lesson)
    _write(out, autograder(root, lesson, terms, isolation))
    say(f"{out}: upload it as the autograder of a programming assignment, with at least 1 CPU and 1.5 GB of memory.")
    say("It holds the answers: keep it to yourself.")
    if isolation == "none":
        say("A submission runs there with the grader's own rights, and could read the answers: look at what it does.")


def export_github(
    root: Path, out: Path, lesson: int, course: Path | None, repository: str | None, say: Say = print
) -> None:
    """Write the workflow of a lesson; `repository` is where the course lives on GitHub. Raises `UserError`."""
    from course_utils.authoring.repository import read_setting
    from course_utils.grading.interop.github import workflow

    terms = _terms(course, lesson)
    _write(out, workflow(lesson, repository or read_setting(root), terms).encode())
    say(f"{out}: put it into the template repository of the assignment, as .github/workflows/classroom.yml.")
    say("Its points are feedback, since a student can change it; the marks that count come from `course grade`.")


def export_canvas(
    gradebook: Path, exported: Path, out: Path, lesson: int, assignment: str, *, scale: bool = False, say: Say = print
) -> None:
    """Write Canvas's exported gradebook with the points of a lesson in it. Raises `UserError`."""
    from course_utils.grading.gradebook import Gradebook
    from course_utils.grading.interop import canvas
    from course_utils.grading.interop.sheet import Sheet

    results = Gradebook(gradebook).results(lesson)
    _tell(out, canvas.merge(Sheet.read(exported), results, assignment, scale=scale), say)


def export_moodle(
    gradebook: Path,
    exported: Path,
    out: Path,
    lesson: int,
    *,
    scale: bool = False,
    comments: bool = True,
    say: Say = print,
) -> None:
    """Write Moodle's grading worksheet with the points of a lesson in it. Raises `UserError`."""
    from course_utils.grading.gradebook import Gradebook
    from course_utils.grading.interop import moodle
    from course_utils.grading.interop.sheet import Sheet

    results = Gradebook(gradebook).results(lesson)
    _tell(out, moodle.merge(Sheet.read(exported), results, scale=scale, feedback=comments), say)


def _terms(course: Path | None, lesson: int) -> Terms:
    """The terms of an own course, or the usual ones. Raises `UserError` where the lesson is not one of theirs."""
    from course_utils.lessons import Terms, adopt, lessons
    from course_utils.lessons.terms import own_terms

    terms = Terms() if course is None else own_terms(course)
    adopt(terms)
    there = [one.number for one in lessons()]
    if lesson not in there:
        raise UserError(f"there is no lesson {lesson} in this course; the lessons are {', '.join(map(str, there))}")
    return terms


def _tell(out: Path, merged: Merged, say: Say) -> None:
    _write(out, merged.data)
    for remark in merged.remarks:
        say(remark)
    say(f"{out}: points of {merged.placed} student{'s' * (merged.placed != 1)}; all else is as it was exported")


def _write(out: Path, data: bytes) -> None:
    try:
        write_bytes_atomically(out, data)
        out.chmod(0o644)
    except OSError as error:
        raise UserError(f"{out} cannot be written: {error.strerror}") from error
