"""nbgrader and otter-grader on the same submissions, each through its own commands and without a container.

nbgrader grades with the notebooks' own metadata: `nbgrader generate_assignment` on the lesson, then one
`nbgrader autograde` of all students. otter has no command for many notebooks without a container, so it is one
`otter run` each; its tests are files of its OK format that call `course_utils.learner.evaluate` on the student's
function, and the notebook's own `check` cells are left out there, so that nothing is checked twice.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from handed_in import ROOT, HandedIn, published

from course_utils.lessons import lesson as find_lesson

OK_TEST = '''OK_FORMAT = True
test = {{
    "name": "{name}",
    "points": {points},
    "suites": [{{"cases": [{{"code": r"""
>>> from course_utils.learner import evaluate
>>> evaluate("{exercise}", {function}).passed
True
"""}}]}}],
}}
'''
_NBGRADER = """
c = get_config()
c.CourseDirectory.course_id = "benchmark"
c.ExecutePreprocessor.timeout = 600
c.Exchange.root = "exchange"
"""


class Unavailable(Exception):
    """Why a peer was not measured."""


@dataclass(frozen=True)
class Peer:
    """A peer that is ready: `grade` is what is measured, `points` reads {student: points} afterwards."""

    name: str
    grade: Callable[[], None]
    points: Callable[[], dict[str, float]]


def nbgrader(lesson: int, submissions: Sequence[HandedIn], folder: Path) -> Peer:
    """nbgrader's course with the lesson released and everything handed in. Raises `Unavailable`."""
    if importlib.util.find_spec("nbgrader") is None:
        raise Unavailable("nbgrader is not installed")
    folder.mkdir()
    (folder / "nbgrader_config.py").write_text(_NBGRADER, encoding="utf-8")
    HandedIn("", "", published("solutions", lesson)).write(folder / "source" / "lesson" / "lesson.ipynb")
    for one in submissions:
        one.write(folder / "submitted" / one.student / "lesson" / "lesson.ipynb")
    _run(folder, "-m", "nbgrader", "generate_assignment", "lesson")

    def points() -> dict[str, float]:
        from nbgrader.api import Gradebook

        with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
            return {one.student: book.find_submission("lesson", one.student).score for one in submissions}

    name = f"nbgrader autograde, {version('nbgrader')}"
    return Peer(name, lambda: _run(folder, "-m", "nbgrader", "autograde", "lesson", "--create"), points)


def otter(lesson: int, submissions: Sequence[HandedIn], folder: Path) -> Peer:
    """otter's autograder zip for the lesson, and everything handed in. Raises `Unavailable`."""
    if importlib.util.find_spec("otter") is None:
        raise Unavailable("otter-grader is not installed")
    tests = folder / "tests"
    tests.mkdir(parents=True)
    for exercise in find_lesson(lesson).exercises:
        name = f"q{exercise.id.replace('.', '_')}"
        text = OK_TEST.format(name=name, points=exercise.points, exercise=exercise.id, function=exercise.name)
        (tests / f"{name}.py").write_text(text, encoding="utf-8")
    for one in submissions:
        _without_checks(one).write(folder / one.student / "lesson.ipynb")
    zipped = folder / "autograder.zip"
    _run(folder, "-m", "otter", "generate", "-t", "tests", "-o", zipped.name, "--no-environment", "--no-requirements")

    def grade() -> None:
        for one in submissions:
            own = folder / one.student
            _run(own, "-m", "otter", "run", "-a", str(zipped), "-o", str(own), "--no-logo", str(own / "lesson.ipynb"))

    def points() -> dict[str, float]:
        found = {}
        for one in submissions:
            results = json.loads((folder / one.student / "results.json").read_text(encoding="utf-8"))
            found[one.student] = sum(test["score"] for test in results["tests"])
        return found

    return Peer(f"otter run, {version('otter-grader')}", grade, points)


def _without_checks(one: HandedIn) -> HandedIn:
    cells = []
    for cell in one.notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell = {**cell, "metadata": {**cell["metadata"], "tags": ["otter_ignore"]}}
        cells.append(cell)
    return replace(one, notebook={**one.notebook, "cells": cells})


def _run(folder: Path, *command: str) -> None:
    # nbgrader calls alembic by its name: it lies beside the Python that has it, also where nobody activated that one.
    programs = [str(Path(path).parents[2] / "bin") for path in sys.path if Path(path).name == "site-packages"]
    own = {
        "PATH": os.pathsep.join([*programs, os.environ.get("PATH", "")]),
        "PYTHONPATH": str(ROOT),
        "COURSE_HOME": str(folder / "records"),
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **own},
    )
    if done.returncode:
        raise Unavailable(" / ".join((done.stdout + done.stderr).strip().splitlines()[-4:]))
