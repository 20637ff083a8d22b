"""`course new-exercise` lays out an exercise that runs before a word is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixture_lesson import forget

from course_utils.authoring import new_exercise_command
from course_utils.authoring.attempts import attempts_at
from course_utils.authoring.files import AuthoringError
from course_utils.learner import evaluate
from course_utils.lessons import exercise

FILES = {
    "course_utils/lessons/lesson9/triple/__init__.py",
    "course_utils/lessons/lesson9/triple/task.py",
    "course_utils/lessons/lesson9/triple/answers.py",
    "course_utils/lessons/lesson9/triple/mistakes.py",
    "tests/attempts/lesson9/triple.py",
}


def test_a_new_exercise_is_one_folder_one_line_one_module_and_a_cell(small_course: Path) -> None:
    before = {path.relative_to(small_course).as_posix(): path.read_text() for path in small_course.rglob("*.py")}
    assert new_exercise_command(small_course, "9.2", "triple") == 0
    after = {path.relative_to(small_course).as_posix(): path.read_text() for path in small_course.rglob("*.py")}
    assert after.keys() - before.keys() == FILES
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"course_utils/lessons/lesson9/__init__.py", "solutions/09_doubling.py"}
    added = set(after["course_utils/lessons/lesson9/__init__.py"].split("\n")) - set(
        before["course_utils/lessons/lesson9/__init__.py"].split("\n")
    )
    assert [line.strip() for line in added] == ['"triple": 0,']


def test_it_runs_as_it_stands(small_course: Path) -> None:
    new_exercise_command(small_course, "9.2", "triple")
    forget()
    task = exercise("9.2")
    assert task.name == "triple" and task.arguments == ("x",)
    for attempt in attempts_at(small_course, task):
        assert attempt.agrees(evaluate("9.2", attempt.code)), attempt.name


@pytest.mark.parametrize(
    ("identifier", "name", "said"),
    [
        ("9.1", "triple", "has this exercise already"),
        ("9.4", "triple", "the next exercise is 9.2"),
        ("9.2", "double", "of this name already"),
        ("9.2", "Triple", "lower-case words"),
        ("nine", "triple", "not an exercise id"),
    ],
)
def test_what_cannot_be_laid_out_says_why_and_writes_nothing(
    small_course: Path, identifier: str, name: str, said: str
) -> None:
    before = written(small_course)
    with pytest.raises(AuthoringError, match=said):
        new_exercise_command(small_course, identifier, name)
    assert written(small_course) == before


def written(folder: Path) -> list[Path]:
    """All that stands in a folder, without what Python keeps of modules that ran."""
    return sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts)
