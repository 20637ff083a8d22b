"""The registry of lessons. A lesson is the package `lessonN` beside this file, with a `LESSON` in it.

Nothing here imports `answers` or `mistakes`: lessons are what runs a learner's code.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from course_utils.exercise import Exercise
from course_utils.lessons.declare import Lesson, Question

__all__ = ["Lesson", "Question", "exercise", "lesson", "lessons", "question"]


@cache
def lessons() -> tuple[Lesson, ...]:
    """Every lesson there is, in order."""
    numbers = sorted(int(info.name[6:]) for info in iter_modules(__path__) if info.name.startswith("lesson"))
    return tuple(lesson(number) for number in numbers)


@cache
def lesson(number: int) -> Lesson:
    """Lesson `number`. Raises `KeyError` saying which lessons there are."""
    try:
        module = import_module(f"{__name__}.lesson{number}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.lesson{number}":
            raise
        known = ", ".join(str(item.number) for item in lessons())
        raise KeyError(f"there is no lesson {number}; the lessons are {known}") from None
    found: Lesson = module.LESSON
    return found


def exercise(identifier: str) -> Exercise:
    """The exercise of that id, `"1.1"`. Raises `KeyError` saying which exercises there are."""
    return _find(identifier, "exercise")


def question(identifier: str) -> Question:
    """The prediction or quiz of that id, `"1.a"`. Raises `KeyError` saying which there are."""
    return _find(identifier, "question")


def _find(identifier: str, kind: str):  # type: ignore[no-untyped-def]
    head = str(identifier).split(".")[0]
    near = [lesson(int(head))] if head.isdigit() and int(head) in {item.number for item in lessons()} else lessons()
    items = [item for each in near for item in (each.exercises if kind == "exercise" else each.questions)]
    for item in items:
        if item.id == identifier:
            return item
    known = ", ".join(item.id for item in items)
    raise KeyError(f"there is no {kind} {identifier!r}; there are {known}")
