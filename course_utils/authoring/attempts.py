"""The bank of attempts: learners' answers whose file names say what a check must find."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from course_utils.authoring.files import AuthoringError
from course_utils.lessons import exercise as find_exercise

_NAME = re.compile(r"ex(\d+)_(\d+)__(right|wrong|raised)__(.+)")


@dataclass(frozen=True)
class Attempt:
    """One file of the bank. `misconception` is the id its card must name; None where it must name none."""

    path: Path
    exercise: str
    verdict: Literal["right", "wrong", "raised"]
    misconception: str | None


def attempts(root: Path, lesson: int) -> list[Attempt]:
    """The bank of one lesson, by file name. Raises `AuthoringError` for a name that says no verdict."""
    return [_read(path) for path in sorted((root / "tests" / "attempts" / f"lesson{lesson}").glob("*.py"))]


def load(attempt: Attempt) -> object:
    """Run the file and give the function or class it defines for its exercise."""
    spec = importlib.util.spec_from_file_location(f"attempt_{attempt.path.stem.replace('-', '_')}", attempt.path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    name = find_exercise(attempt.exercise).name
    if not hasattr(module, name):
        raise AuthoringError(f"{attempt.path.name}: defines no {name}; name the answer after its exercise")
    return getattr(module, name)


def _read(path: Path) -> Attempt:
    match = _NAME.fullmatch(path.stem)
    parts = match[4].split("__") if match else []
    if match is None or (match[3] != "right" and len(parts) != 2):
        raise AuthoringError(
            f"{path.name}: the name says no verdict; call it exL_N__right__COMMENT.py or exL_N__wrong__ID__COMMENT.py"
        )
    named = None if match[3] == "right" or parts[0] == "none" else parts[0]
    return Attempt(path, f"{match[1]}.{match[2]}", match[3], named)  # type: ignore[arg-type]
