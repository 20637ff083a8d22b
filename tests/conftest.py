"""Fixtures shared by several test modules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fixture_lesson import write_clone

import course_utils.lessons
import course_utils.lessons.inputs  # noqa: F401  imported while the package still finds it
from course_utils import record
from course_utils.checks import judge


@pytest.fixture(autouse=True)
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a learner's record of its own, and leaves none behind; gives its folder."""
    home = tmp_path / ".course"
    monkeypatch.setenv("COURSE_HOME", str(home))
    monkeypatch.setattr(record, "_memory", {})
    return home


@pytest.fixture(autouse=True)
def strict_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault in a diagnosis is a fault of the tests; a learner's card would only say less."""
    monkeypatch.setattr(judge, "STRICT", True)


@pytest.fixture
def small_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A clone with one lesson, number 9, which is the only registered one while the test runs."""
    root = tmp_path / "course"
    write_clone(root)
    monkeypatch.setattr(course_utils.lessons, "__path__", [str(root / "course_utils" / "lessons")])
    monkeypatch.setenv("PYTHONPATH", str(root / "site"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    _forget()
    yield root
    _forget()


def _forget() -> None:
    for known in (course_utils.lessons.lesson, course_utils.lessons.lessons, judge.answers_of, judge.mistakes_of):
        known.cache_clear()
    judge._seen.clear()
    for name in [name for name in sys.modules if name.startswith("course_utils.lessons.lesson9")]:
        sys.modules.pop(name)
    course_utils.lessons.__dict__.pop("lesson9", None)
