"""Fixtures shared by several test modules."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from fixture_lesson import forget, write_clone

import course_utils.lessons
from course_utils import record
from course_utils.checks.judge import faults

import_module("course_utils.lessons.inputs")  # while the package still finds it: the small course uses it, too


def _subject(name: str) -> str:
    """What a test is about: its file and the beginning of its parameters, as an exercise. Tests of one subject share
    what takes long, and so they run on one day."""
    file, _, test = name.partition("::")
    function, bracket, parameters = test.partition("[")
    return f"{file}[{parameters.partition('-')[0]}" if bracket else f"{file}::{function}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where COURSE_PART says 2/3, of the tests that take turns, as heavy ones do, the second third runs, by what they
    are about."""
    part = os.environ.get("COURSE_PART", "")
    if "/" not in part:
        return
    number, parts = map(int, part.split("/"))
    waits = {
        item
        for item in items
        if any(map(item.get_closest_marker, ("turns", "heavy")))
        and zlib.crc32(_subject(item.nodeid).encode()) % parts != number - 1
    }
    config.hook.pytest_deselected(items=list(waits))
    items[:] = [item for item in items if item not in waits]


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
    monkeypatch.setattr(faults, "STRICT", True)


@pytest.fixture(autouse=True)
def nothing_stays_compiled() -> Iterator[None]:
    """A ledger sees less in a process where something was compiled before: that is no other test's affair."""
    yield
    utils: Any = sys.modules.get("torch._dynamo.utils")
    if utils is not None and utils.counters:
        sys.modules["torch._dynamo"].reset()
        utils.counters.clear()


@pytest.fixture
def small_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A clone with one lesson, number 9, which is the only registered one while the test runs."""
    root = tmp_path / "course"
    write_clone(root)
    monkeypatch.setattr(course_utils.lessons, "__path__", [str(root / "course_utils" / "lessons")])
    monkeypatch.setenv("PYTHONPATH", str(root / "site"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    forget()
    yield root
    forget()
