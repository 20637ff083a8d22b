"""Fixtures shared by several test modules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fixture_lesson import write_clone

import course_utils.lessons
import course_utils.oracles
import course_utils.oracles.oracle  # noqa: F401  imported while the package still finds it
from course_utils import record


@pytest.fixture(autouse=True)
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a learner's record of its own, and leaves none behind; gives its folder."""
    home = tmp_path / ".course"
    monkeypatch.setenv("COURSE_HOME", str(home))
    monkeypatch.setattr(record, "_memory", {})
    return home


@pytest.fixture
def small_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A clone with one lesson, number 9, which is the only registered one while the test runs."""
    root = tmp_path / "course"
    write_clone(root)
    monkeypatch.setattr(course_utils.lessons, "__path__", [str(root / "lessons")])
    monkeypatch.setattr(course_utils.oracles, "__path__", [*course_utils.oracles.__path__, str(root / "oracles")])
    monkeypatch.setenv("PYTHONPATH", str(root / "site"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    _forget()
    yield root
    _forget()


def _forget() -> None:
    course_utils.lessons.lesson.cache_clear()
    course_utils.lessons.lessons.cache_clear()
    for name in ("course_utils.lessons.lesson9", "course_utils.oracles.lesson9"):
        sys.modules.pop(name, None)
