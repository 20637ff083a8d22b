"""Judge evidence: right or not from the numbers alone, then the name of the mistake, then what else is certain.

A mistake is the code that makes it: it is run on the same cases, and gives its name only where it agrees with the
attempt on all that was observed, on every case. What no known mistake explains is described by `diagnose`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_utils.checks.judge.faults import faults_of
from course_utils.checks.judge.left import CannotJudge, answers_of, left_by, mistakes_of, run_of, seen_of
from course_utils.checks.originals import Names
from course_utils.exercise import Case, Evidence, Exercise, Fault, Outcome, Verdict

__all__ = ["CannotJudge", "answers_of", "judge", "left_by", "mistakes_of", "seen_of"]


def judge(exercise: Exercise, cases: Sequence[Case], evidence: Sequence[Evidence]) -> Verdict:
    """The verdict on an attempt from its evidence, one piece for each of the first `len(evidence)` cases.

    Raises `ValueError` when evidence and cases do not belong together, and its kind `CannotJudge` when the course's own
    answer does not return here: two that fail alike are not right.
    """
    if not evidence or [e.case for e in evidence] != [c.name for c in cases[: len(evidence)]]:
        raise ValueError(f"the evidence is not about the cases of exercise {exercise.id}")
    if any(piece.status == "raised" and piece.raised is None for piece in evidence):
        raise ValueError("the evidence says that the code raised, and not what")
    if any(piece.status == "not attempted" for piece in evidence):
        return _verdict(exercise, "not attempted", printed=evidence[0].printed, cases_total=len(cases))
    with Names().ours():
        seen = zip(cases, evidence, strict=False)
        runs = [run_of(exercise, number, case, piece) for number, (case, piece) in enumerate(seen, 1)]
        faults = faults_of(exercise, runs, len(cases))
    failed = {number for fault in faults for number in fault.cases}
    if not faults and len(evidence) < len(cases):
        raise ValueError(f"{len(cases) - len(evidence)} cases of exercise {exercise.id} have no evidence")
    first = evidence[min(failed) - 1] if failed else None
    return _verdict(
        exercise,
        "passed" if first is None else "raised" if first.status == "raised" else "failed",
        faults=faults,
        printed=(first or evidence[0]).printed,
        cases_passed=len(evidence) - len(failed),
        cases_total=len(cases),
    )


def _verdict(
    exercise: Exercise,
    outcome: Outcome,
    faults: tuple[Fault, ...] = (),
    printed: str = "",
    cases_passed: int = 0,
    cases_total: int = 0,
) -> Verdict:
    points = exercise.points if outcome == "passed" else 0
    if exercise.partial and cases_total:
        points = exercise.points * cases_passed // cases_total
    return Verdict(
        exercise.id, exercise.name, outcome, points, exercise.points, faults, printed, cases_passed, cases_total
    )
