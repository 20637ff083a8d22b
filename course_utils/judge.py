"""Judge evidence: right or not from the numbers alone, then the name of the mistake.

The mistake is named by the answer each misconception would give on the very same cases; only
when no fingerprint fits, by what was broken (a type, a shape, a side effect) or by how it differs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from course_utils.difference import Difference, compare
from course_utils.exercise import Case, Change, Evidence, Exercise, Raised, Verdict
from course_utils.oracles.oracle import Answer, Oracle
from course_utils.plain import Plain

_BY_KIND = {
    "none": "returned-nothing",
    "type": "wrong-type",
    "large": "huge-result",
    "missing": "missing-entries",
    "extra": "extra-entries",
    "shape": "wrong-shape",
    "dtype": "wrong-dtype",
    "device": "wrong-device",
    "not finite": "not-a-number",
}
_ERRORS = (
    ("RuntimeError", "does not require grad and does not have a grad_fn", "no-graph"),
    ("RuntimeError", "backward through the graph a second time", "graph-freed"),
    ("RuntimeError", "grad can be implicitly created only for scalar outputs", "backward-needs-scalar"),
    ("RuntimeError", "leaf Variable that requires grad is being used in an in-place operation", "in-place-on-a-leaf"),
    ("RuntimeError", "same dtype|expected scalar type|Found dtype .* but expected", "mixed-dtypes"),
    (
        "RuntimeError|ValueError",
        "shapes cannot be multiplied|size mismatch|must match the (existing )?size|invalid for input of size"
        "|inconsistent tensor size|could not be broadcast|mismatch in its core dimension",
        "shapes-do-not-fit",
    ),
)
_GRAD_IN_LINE = re.compile(r"\bgrads?\b")
_TENSOR_METHOD_OF_NONE = re.compile(
    r"'NoneType' object has no attribute '(abs|add_|clone|copy_|data|detach_?|div_|mul_|norm|zero_)'"
)
_CHANGES_BY_WEIGHT = ("mode", "global", "requires-grad", "parameters", "input", "buffers", "grad", "rng")
"""Aspects of changes, what brings others about first: a model in train mode also counts and draws."""


@dataclass(frozen=True)
class _Problem:
    """What is wrong on one case; `named` is a misconception id known without comparing cases."""

    case: Case
    evidence: Evidence
    lines: tuple[str, ...]
    named: str | None = None
    difference: Difference | None = None
    rule_broken: bool = False


def judge(exercise: Exercise, cases: Sequence[Case], evidence: Sequence[Evidence]) -> Verdict:
    """The verdict on an attempt from its evidence, one piece for each of the first `len(evidence)` cases.

    Raises `ValueError` when evidence and cases do not belong together.
    """
    if not evidence or [e.case for e in evidence] != [c.name for c in cases[: len(evidence)]]:
        raise ValueError(f"the evidence is not about the cases of exercise {exercise.id}")
    if any(piece.status == "raised" and piece.raised is None for piece in evidence):
        raise ValueError("the evidence says that the code raised, and not what")
    oracle = _oracle(exercise)
    seen = list(zip(cases, evidence, strict=False))
    if any(piece.status == "not attempted" for piece in evidence):
        return _verdict(exercise, "not attempted", printed=evidence[0].printed, cases_total=len(cases))
    problems = [problem for case, piece in seen if (problem := _problem(oracle, case, piece)) is not None]
    if not problems and len(evidence) < len(cases):
        raise ValueError(f"{len(cases) - len(evidence)} cases of exercise {exercise.id} have no evidence")
    passed = len(evidence) - len(problems)
    if not problems:
        return _verdict(exercise, "passed", printed=evidence[0].printed, cases_passed=passed, cases_total=len(cases))
    first = problems[0]
    return _verdict(
        exercise,
        "raised" if first.evidence.status == "raised" else "failed",
        case=f"case {[c.name for c in cases].index(first.case.name) + 1} of {len(cases)}: {first.case.name}",
        observed=first.lines,
        misconception=(
            first.named
            or _fingerprint(oracle, seen, problems)
            or _by_kind(first.difference)
            or _by_change(first.evidence.changes)
        ),
        raised=first.evidence.raised,
        printed=first.evidence.printed,
        rule_broken=first.rule_broken,
        cases_passed=passed,
        cases_total=len(cases),
    )


def _verdict(exercise: Exercise, outcome: str, **rest: object) -> Verdict:
    points = exercise.points if outcome == "passed" else 0
    return Verdict(exercise.id, exercise.name, outcome, points, exercise.points, **rest)  # type: ignore[arg-type]


def _oracle(exercise: Exercise) -> Oracle:
    oracles: dict[str, Oracle] = import_module(f"course_utils.oracles.lesson{exercise.lesson}").ORACLES
    return oracles[exercise.id]


def _problem(oracle: Oracle, case: Case, evidence: Evidence) -> _Problem | None:
    if evidence.status == "stopped":
        return _Problem(case, evidence, ("the call was stopped at the time limit",), "endless-loop")
    if evidence.status == "raised":
        assert evidence.raised is not None
        line = f"{evidence.raised.type}: {evidence.raised.message}".rstrip(": ")
        return _Problem(case, evidence, (line,), _error_name(oracle, evidence))
    difference = _differs(oracle, case, evidence, oracle.answer(case))
    if difference is not None:
        # What was changed on the way may be why the numbers differ, so it is shown beside them.
        lines = (*difference.lines, *_change_lines(evidence.changes))
        return _Problem(case, evidence, lines, difference=difference)
    broken = oracle.rules(case, evidence) if oracle.rules else None
    if broken is not None:
        return _Problem(case, evidence, (broken.seen,), broken.misconception, rule_broken=True)
    if evidence.changes:
        return _Problem(case, evidence, _change_lines(evidence.changes), _by_change(evidence.changes))
    return None


def _error_name(oracle: Oracle, evidence: Evidence) -> str | None:
    raised = evidence.raised
    assert raised is not None
    for kind, pattern, name in (*oracle.errors, *_ERRORS):
        if re.fullmatch(kind, raised.type) and re.search(pattern, raised.message):
            return name
    return "grad-is-none" if _is_about_a_missing_grad(raised) else None


def _is_about_a_missing_grad(raised: Raised) -> bool:
    """Whether the None in the message is a `.grad`: most are a return that was forgotten."""
    if raised.type not in ("AttributeError", "TypeError") or "NoneType" not in raised.message:
        return False
    line = raised.frames[-1].source if raised.frames else ""
    return bool(_TENSOR_METHOD_OF_NONE.search(raised.message) or _GRAD_IN_LINE.search(line))


def _differs(
    oracle: Oracle, case: Case, evidence: Evidence, answer: Answer, numbers_only: bool = False
) -> Difference | None:
    """How the evidence differs from an answer, in the result first, then in each fact the answer speaks of."""
    result: Plain = evidence.result
    if oracle.normalise is not None:
        result = oracle.normalise(case, result)
    device = case.spec.get("device", "cpu")
    tolerance = oracle.tolerance(case) if oracle.tolerance else None
    found = compare(answer.result, result, device=device, tolerance=tolerance, numbers_only=numbers_only)
    if found is not None:
        return found
    for label, expected in answer.facts.items():
        found = compare(
            expected, evidence.facts.get(label), device=device, tolerance=tolerance, numbers_only=numbers_only
        )
        if found is not None:
            lines = tuple(line.replace("the result", label) for line in found.lines)
            # None where a tensor should be is a value here, not a forgotten return.
            return Difference(label, "value" if found.kind == "none" else found.kind, lines)
    return None


def _fingerprint(oracle: Oracle, seen: Sequence[tuple[Case, Evidence]], problems: Sequence[_Problem]) -> str | None:
    """The misconception whose answers are the attempt's on all failing cases, or else on the first one.

    One that fits all must also agree with the cases that passed, so a mistake is not named
    after another one that happens to coincide with it on an easy case.
    """
    first = problems[0]
    if first.difference is None or first.difference.kind in ("dtype", "device"):
        return None  # the numbers are right: a mistake that happens to give them here explains nothing
    fits_first = None
    for name, gives in oracle.misconceptions.items():
        if not _fits(oracle, gives, first.case, first.evidence):
            continue
        comparable = [(case, piece) for case, piece in seen if piece.status == "returned"]
        if all(_fits(oracle, gives, case, piece, True) for case, piece in comparable):
            return name
        fits_first = fits_first or name
    return fits_first


def _fits(oracle: Oracle, gives, case: Case, evidence: Evidence, if_silent: bool = False) -> bool:  # type: ignore[no-untyped-def]
    answer: Answer | None = gives(case)
    if answer is None:
        return if_silent
    return _differs(oracle, case, evidence, answer, numbers_only=True) is None


def _by_kind(difference: Difference | None) -> str | None:
    return None if difference is None else _BY_KIND.get(difference.kind)


def _by_change(changes: Sequence[Change]) -> str | None:
    known = [change for change in changes if change.aspect in _CHANGES_BY_WEIGHT]
    return f"changed-{min(known, key=_weight).aspect}" if known else None


def _weight(change: Change) -> int:
    known = change.aspect in _CHANGES_BY_WEIGHT
    return _CHANGES_BY_WEIGHT.index(change.aspect) if known else len(_CHANGES_BY_WEIGHT)


def _change_lines(changes: Sequence[Change]) -> tuple[str, ...]:
    lines = []
    for change in sorted(changes, key=_weight)[:3]:
        aspect = {"input": "values", "parameters": "values", "buffers": "values", "global": "", "rng": ""}.get(
            change.aspect, change.aspect
        )
        label = f"{change.what} ({aspect})" if aspect else change.what
        lines.append(f"{label}: before the call {change.before}, after it {change.after}")
    return tuple(lines)
