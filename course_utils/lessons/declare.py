"""What a lesson declares beside its exercises: questions to commit to, and the lesson itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Literal

from course_utils.exercise import Exercise


@dataclass(frozen=True)
class Question:
    """A question with choices. A `prediction` is compared with a measurement later; a `quiz` answers at once.

    `choices` maps a short key to the shown text. A prediction's right choice is never declared:
    the lesson's own experiment measures it. A quiz says why in `because`, one entry a choice,
    and names its right choice in `answer`.
    """

    id: str
    kind: Literal["prediction", "quiz"]
    text: str
    choices: dict[str, str]
    answer: str = ""
    because: dict[str, str] | None = None

    @property
    def lesson(self) -> int:
        return int(self.id.split(".")[0])

    @property
    def letters(self) -> dict[str, str]:
        """{letter: key}: what a learner reads and presses, in the order of the choices."""
        return dict(zip("abcdefgh", self.choices, strict=False))


SITTING = 90
"""Minutes after which a lesson marks a pause."""


@dataclass(frozen=True)
class Lesson:
    """One notebook: its file stem, title, exercises and questions, in the order in which they stand."""

    number: int
    slug: str
    title: str
    exercises: tuple[Exercise, ...]
    questions: tuple[Question, ...]
    reading_minutes: int
    """Minutes for everything but the exercises; `course verify` holds them to the number of words."""

    @property
    def points(self) -> int:
        return sum(exercise.points for exercise in self.exercises)

    def with_points(self, points: Mapping[str, int]) -> Lesson:
        """The same lesson with other points for the exercises named in {exercise id: points}."""
        if not any(exercise.id in points for exercise in self.exercises):
            return self
        return replace(
            self, exercises=tuple(replace(one, points=points.get(one.id, one.points)) for one in self.exercises)
        )

    @property
    def minutes(self) -> int:
        return self.reading_minutes + sum(exercise.minutes for exercise in self.exercises)

    @property
    def sittings(self) -> int:
        """In how many parts it is meant to be taken: one more than the pauses that its text marks."""
        return -(-self.minutes // SITTING)


def exercises_of(package: str, points: Mapping[str, int]) -> tuple[Exercise, ...]:
    """The exercises of a lesson, whose package is `package`, from {folder: points}, in that order."""
    found = []
    for folder, share in points.items():
        task: Exercise = import_module(f"{package}.{folder}.task").EXERCISE
        found.append(replace(task, points=share, home=f"{package}.{folder}"))
    return tuple(found)
