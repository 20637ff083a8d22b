"""What an exercise's `answers.py` declares: the right answer as code, and what else is as good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from course_utils.checks.mistakes import Mistake
from course_utils.exercise import Case, Evidence


@dataclass(frozen=True)
class Broken:
    """A stated rule about *how* was broken: the mistake, and what was seen."""

    mistake: Mistake
    seen: str


def nothing_used(fact: str, mistake: Mistake) -> Callable[[Case, Evidence], Broken | None]:
    """The rule that a fact, a list of what was used on the way, stays empty."""

    def rule(case: Case, evidence: Evidence) -> Broken | None:
        used = evidence.facts.get(fact)
        if not isinstance(used, list) or not used:
            return None
        names = ", ".join(sorted({str(one) for one in used}))
        return Broken(mistake, f"used, by the code itself or inside of what it calls: {names}")

    return rule


def without_result(case: Case, evidence: Evidence) -> Evidence:
    """Evidence of code whose result is not judged: for `accept`."""
    return replace(evidence, result=None)


@dataclass(frozen=True)
class Answers:
    """How one exercise is judged.

    `right` is run on the same cases as the attempt, and is written in a way that the exercise does not ask for. What
    it returns is compared, and the facts whose names begin with one of `graded`. `accept` brings accepted forms of
    the evidence (of the attempt, of the right answer, of a mistake) to one. `rules` looks for broken rules about how,
    in evidence whose numbers are right. `tolerance` is relative to the largest entry of each tensor; by default 1e-9
    in float64 and 2e-5 in float32.
    """

    right: Callable[..., Any]
    graded: tuple[str, ...] = ()
    accept: Callable[[Case, Evidence], Evidence] | None = None
    rules: Callable[[Case, Evidence], Broken | None] | None = None
    tolerance: Callable[[Case], float] | None = None
