"""The registry of lessons. A lesson is the package `lessonN` beside this file, with a `LESSON` in it.

Nothing here imports `answers` or `mistakes`: lessons are what runs a learner's code.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from course_utils.exercise import Exercise
from course_utils.lessons.declare import Lesson, Question
from course_utils.lessons.terms import FILE, Terms, read_terms

__all__ = ["Lesson", "Question", "Terms", "adopt", "exercise", "lesson", "lessons", "question", "terms"]

_adopted: Terms | None = None


@cache
def terms() -> Terms:
    """The terms in force: those that were adopted, else those that stand beside the lessons."""
    return _adopted if _adopted is not None else read_terms(Path(__path__[0]) / FILE)


def adopt(own: Terms | None) -> None:
    """From now on, other terms in this process than those beside the lessons: a grader's, for a course it was given.

    None goes back to those beside the lessons.
    """
    global _adopted
    if own == _adopted:
        return
    _adopted = own
    for known in (terms, lesson, lessons):
        known.cache_clear()


@cache
def lessons() -> tuple[Lesson, ...]:
    """Every lesson of this course, in order."""
    found = sorted(int(info.name[6:]) for info in iter_modules(__path__) if info.name.startswith("lesson"))
    chosen = terms().lessons
    return tuple(lesson(number) for number in found if not chosen or number in chosen)


@cache
def lesson(number: int) -> Lesson:
    """Lesson `number`. Raises `KeyError` saying which lessons there are."""
    try:
        if terms().lessons and number not in terms().lessons:
            raise ModuleNotFoundError(name=f"{__name__}.lesson{number}")
        module = import_module(f"{__name__}.lesson{number}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.lesson{number}":
            raise
        known = ", ".join(str(item.number) for item in lessons())
        raise KeyError(f"there is no lesson {number}; the lessons are {known}") from None
    found: Lesson = module.LESSON
    return found.with_points(terms().points)


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
