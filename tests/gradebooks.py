"""Results of real attempts, for tests of what is made from results."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

from course_utils.checks.judge import judge
from course_utils.checks.observe import observe_all
from course_utils.exercise import Evidence
from course_utils.grading.fingerprint import fingerprint
from course_utils.grading.gradebook import Gradebook
from course_utils.grading.result import Marked, Note, Result
from course_utils.learner import all_cases
from course_utils.lessons import exercise

DIGEST = "0" * 64


def right(f, x, h=1e-5):
    slopes = []
    for position in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
        step[position] = h
        step = step.reshape(x.shape)
        slopes.append((f(x + step) - f(x - step)) / (2 * h))
    return torch.stack(slopes).reshape(x.shape)


def forward(f, x, h=1e-5):
    slopes = []
    for position in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
        step[position] = h
        slopes.append((f(x + step.reshape(x.shape)) - f(x)) / h)
    return torch.stack(slopes).reshape(x.shape)


def skips_zeros(f, x, h=1e-5):
    g = torch.zeros_like(x)
    for where in x.nonzero().tolist():
        e = torch.zeros_like(x)
        e[tuple(where)] = h
        g[tuple(where)] = (f(x + e) - f(x - e)) / (2 * h)
    return g


def skips_zeros_in_double(f, x, h=1e-5):
    """The same by other names and with other rounding, and it prints."""
    print("here")
    slopes = torch.zeros_like(x)
    for index in [tuple(one) for one in x.nonzero().tolist()]:
        moved = torch.zeros(x.shape, dtype=torch.float64, device=x.device)
        moved[index] = h
        slopes[index] = (f(x - moved) - f(x + moved)) / (-h - h)
    return slopes


def steps_scaled(f, x, h=1e-5):
    g = torch.zeros_like(x).reshape(-1)
    for i, value in enumerate(x.reshape(-1).tolist()):
        step = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
        step[i] = h * max(1.0, abs(value))
        step = step.reshape(x.shape)
        g[i] = (f(x + step) - f(x - step)) / (2 * step.sum())
    return g.reshape(x.shape)


def stops(f, x, h=1e-5):
    raise RuntimeError("<script>alert(1)</script> & \u202e")


def stub(f, x, h=1e-5):
    return ...


def gradebook(folder: Path) -> Gradebook:
    """An empty one that is begun, in a folder of its own."""
    found = Gradebook(folder / "gradebook")
    found.begin()
    return found


def observed(code: Callable[..., Any], identifier: str = "1.1") -> list[Evidence]:
    task = exercise(identifier)
    return observe_all(task, code, all_cases(task))


@cache
def marked(code: Callable[..., Any], identifier: str = "1.1") -> Marked:
    """An exercise as the grader marks it."""
    task = exercise(identifier)
    cases, evidence = all_cases(task), observed(code, identifier)
    verdict = judge(task, cases, evidence)
    unnamed = verdict.faults and verdict.misconception is None
    cluster = fingerprint(cases, evidence, task) if unnamed else ""
    text = textwrap.dedent(inspect.getsource(code)).replace(f"def {code.__name__}(", f"def {task.name}(")
    return Marked(verdict, cluster=cluster, code=text)


def reaching(marked: Marked, points: int) -> Marked:
    """The same with other points, as where an exercise gives partial credit."""
    return replace(marked, verdict=replace(marked.verdict, points=points))


def result(student: str, *codes: Callable[..., Any], lesson: int = 1, **rest: Any) -> Result:
    """A submission of exercise 1.1 alone, several where several functions are given."""
    exercises = tuple(marked(code) for code in codes)
    return Result(student, lesson, DIGEST, f"week1/{student}.ipynb", exercises, **rest)


def unread(student: str, source: str = "week1/lost.ipynb") -> Result:
    return Result(student, None, DIGEST, source, notes=(Note("file", "This is not JSON: hand it in again."),))


EVERY = [
    result("anna", right, forward, skips_zeros, stops, stub, name="Anna Å."),
    result("b\udcff\u202e", steps_scaled, notes=(Note("file", "Two files: the later one counts."),)),
    unread("carl"),
]
"""One of each kind: all outcomes, a name that is no UTF-8 with a note, and a file that could not be read."""
