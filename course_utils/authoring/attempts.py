"""The bank of attempts: learners' answers, each marked with what the check must say of it.

One module an exercise, `tests/attempts/lessonN/NAME.py`; above each answer stands `@right`, `@wrong(...)` or
`@raised(...)` with the mistakes its card must name, as symbols. Several mean "either … or …"; none means that the
card must say something certain instead, and `says=` what. Exercises that are judged alike share attempts: those stand
in a module beside theirs, `_NAME.py`, and each of theirs says `SHARED = ("_NAME",)`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from course_utils.authoring.files import AuthoringError, shown
from course_utils.exercise import Exercise, Verdict
from course_utils.lessons import lesson as find_lesson

Mark = Literal["right", "wrong", "raised"]
OUTCOMES = {"right": "passed", "wrong": "failed", "raised": "raised"}


@dataclass(frozen=True)
class Attempt:
    """One answer of the bank. `mistakes` are the ids its card must name, `says` a part of what it must say; `path` is
    the module in which it stands."""

    exercise: str
    name: str
    code: Callable[..., Any]
    mark: Mark
    mistakes: tuple[str, ...]
    says: str
    path: Path

    def agrees(self, verdict: Verdict) -> bool:
        """Whether the check said what this answer is marked with."""
        if verdict.outcome != OUTCOMES[self.mark]:
            return False
        if self.mark == "right":
            return True
        first = verdict.faults[0]
        if tuple(words.id for words in first.mistakes) != self.mistakes:
            return False
        return bool(first.mistakes or first.certain or self.mark == "raised") and self.says in " ".join(first.certain)


@dataclass(frozen=True)
class _Marked:
    mark: Mark
    mistakes: tuple[str, ...]
    says: str


_KEY = "_course_attempt"


def right(code: Any) -> Any:
    """Mark an answer that must pass."""
    setattr(code, _KEY, _Marked("right", (), ""))
    return code


def wrong(*mistakes: Any, says: str = "") -> Callable[[Any], Any]:
    """Mark an answer that must fail under these mistakes of the exercise, or words of `check.effects`."""
    return _marking("wrong", mistakes, says)


def raised(*mistakes: Any, says: str = "") -> Callable[[Any], Any]:
    """Mark an answer whose first failing case raises."""
    return _marking("raised", mistakes, says)


def _marking(mark: Mark, mistakes: tuple[Any, ...], says: str) -> Callable[[Any], Any]:
    ids = tuple(one.id for one in mistakes)

    def put(code: Any) -> Any:
        setattr(code, _KEY, _Marked(mark, ids, says))
        return code

    return put


def bank_path(root: Path, exercise: Exercise) -> Path:
    """The module that holds the attempts at an exercise."""
    return root / "tests" / "attempts" / f"lesson{exercise.lesson}" / f"{exercise.name}.py"


def attempts_at(root: Path, exercise: Exercise) -> list[Attempt]:
    """The bank of one exercise, in order, what it shares with others last.

    Raises `AuthoringError` when there is none or it cannot be loaded.
    """
    path = bank_path(root, exercise)
    if not path.is_file():
        raise AuthoringError(f"{shown(root, path)}: missing; write five right and six wrong attempts there")
    modules = {path: _load(root, path)}
    for name in getattr(modules[path], "SHARED", ()):
        shared = path.with_name(f"{name}.py")
        modules[shared] = _load(root, shared)
    found = []
    for file, module in modules.items():
        for key, value in vars(module).items():
            marked = vars(value).get(_KEY) if hasattr(value, "__dict__") else None
            if isinstance(marked, _Marked) and callable(value):
                found.append(Attempt(exercise.id, key, value, marked.mark, marked.mistakes, marked.says, file))
    return found


def _load(root: Path, path: Path) -> ModuleType:
    name = f"attempts_at_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # a dataclass or pickle in an answer looks its module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a module of the bank may raise anything while it is imported
        raise AuthoringError(f"{shown(root, path)}: cannot be loaded ({type(error).__name__}: {error})") from error
    return module


def attempts(root: Path, lesson: int) -> list[Attempt]:
    """The bank of one lesson, by exercise. Raises `AuthoringError`."""
    return [attempt for exercise in find_lesson(lesson).exercises for attempt in attempts_at(root, exercise)]
