"""Grade one student's folder, on a machine that belongs to another tool and that is made anew each time."""

from __future__ import annotations

import argparse
import contextlib
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from course_utils.grading.notebook import Notebook, Unreadable, read_notebook
from course_utils.grading.result import Note, Result, Submission
from course_utils.grading.sandbox import Isolation, NoIsolation
from course_utils.grading.submissions import choose_latest, find_submissions, read
from course_utils.lessons import Lesson
from course_utils.lessons import lesson as find_lesson
from gradient_ledger.errors import UserError


@dataclass(frozen=True)
class Student:
    """Whose folder it is, as the tool has it."""

    id: str = ""
    name: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What both tools tell of the assignment."""
    parser.add_argument("--lesson", type=int, required=True)
    parser.add_argument("--submission", type=Path, required=True, help="the student's folder")
    parser.add_argument("--isolation", choices=get_args(Isolation), default="bubblewrap")


def grade_one(folder: Path, lesson: int, seed: str, isolation: Isolation, student: Student) -> Result:
    """The result of the notebook of `lesson` in a student's folder.

    A folder without one, and a machine that cannot isolate, give a result without exercises that says so. Never raises:
    whoever waits on the other side gets an answer.
    """
    submission, problem = None, ""
    try:
        submission, problem = _notebook(folder, lesson)
        if submission is not None:
            from course_utils.grading.grade import Grader

            submission = replace(submission, student=student.id, name=student.name)
            with Grader(seed, isolation) as grader:
                return grader.grade(submission, read(submission))
    except NoIsolation as error:
        print(error)
        problem = (
            "Your notebook was not graded: this machine cannot run it in isolation. Please tell your instructor, who "
            "finds the reason in the log."
        )
    except Exception:  # a fault of the grader is no fault of the student's, and must not pass for silence
        traceback.print_exc()
        problem = "Your notebook was not graded: the grader failed. Please tell your instructor."
    return Result(student.id, None, "", "", notes=(Note("submission", problem),), name=student.name)


def _notebook(folder: Path, lesson: int) -> tuple[Submission | None, str]:
    """The notebook to grade, or why there is none."""
    wanted = find_lesson(lesson)
    found: list[tuple[Submission, Notebook]] = []
    others: list[str] = []
    with contextlib.suppress(UserError):  # an empty folder
        for submission in find_submissions(folder, lesson=lesson).submissions:
            try:
                notebook = read_notebook(read(submission))
            except Unreadable as error:
                others.append(f"{submission.label}: {error}")
                continue
            if notebook.lesson == lesson:
                found.append((replace(submission, student=""), notebook))
            else:
                others.append(f"{submission.label} is lesson {notebook.lesson}.")
    # A folder of the whole course holds the notebook as it was handed out, too.
    own = [submission for submission, notebook in found if any(not cell.published for cell in notebook.cells)]
    chosen = choose_latest((submission, lesson) for submission in own or [submission for submission, _ in found])
    if chosen:
        return chosen[0][0], ""
    said = f"No notebook of lesson {lesson} was found. Hand in {wanted.slug}.ipynb, with the cells of the course in it."
    return None, " ".join([said, *others[:5]])


def points_of(result: Result, lesson: Lesson) -> Iterator[tuple[str, float, int]]:
    """(name, points, most points) of each exercise, those of a result without any included."""
    marked = {one.verdict.exercise: one.points for one in result.exercises}
    for exercise in lesson.exercises:
        yield f"{exercise.id} {exercise.name}", marked.get(exercise.id, 0.0), exercise.points
