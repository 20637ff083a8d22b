"""What attempts, right answers and mistakes leave on the cases, as leaves that can be compared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import torch

from course_utils.checks.answers import Answers
from course_utils.checks.diagnose import Run
from course_utils.checks.difference import RESULT, differences, flatten
from course_utils.checks.mistakes import Mistake, mistakes_in
from course_utils.checks.observe import LEDGER, observe, observe_all
from course_utils.exercise import Case, Evidence, Exercise

RAISED, STOPPED = "what was raised", "the time limit"
"""Places beside those in the result where an attempt may differ from the right answer."""
_MOST_KEPT = 4000
PROBED = 1
"""The form of the right answer that was probed as well."""


@cache
def answers_of(home: str) -> Answers:
    """The answers of the exercise whose package is `home`."""
    found: Answers = import_module(f"{home}.answers").ANSWERS
    return found


@cache
def mistakes_of(home: str) -> tuple[Mistake, ...]:
    """The mistakes of the exercise whose package is `home`, in order."""
    return mistakes_in(import_module(f"{home}.mistakes"))


class CannotJudge(ValueError):
    """The course's own answer did not return on a case: whatever an attempt did there, it cannot be compared."""

    def __init__(self, exercise: Exercise, case: Case, right: Evidence) -> None:
        if right.raised is not None:
            ended = f"ended with {right.raised.type}: {right.raised.message}".rstrip(": ")
            advice = f"Please report it to whoever keeps this course, with your version of torch, {torch.__version__}"
        else:
            ended, advice = "ran into the time limit", "The machine may be busy: check again in a while"
        super().__init__(
            f'exercise {exercise.id} cannot be checked here: the course\'s own answer {ended} (case "{case.name}"). '
            f"That is no fault of your code. {advice}"
        )


Key = tuple[str, str, int, str]
"""Exercise package, id of a mistake (none for what is right), form and case: what our own code leaves is the same each
time."""
_seen: dict[Key, tuple[Evidence, Evidence]] = {}
"""What our own code leaves, as it was observed and in the accepted form."""
_parted: dict[Key, Mapping[str, Any]] = {}
"""{place: leaf} wherever that is not what is right."""


def left_by(exercise: Exercise, code: Callable[..., Any], name: str, form: int, case: Case) -> Evidence:
    """The evidence of the course's own `code` on one case, in the accepted form. `name` and `form` tell it apart."""
    return _left_by(exercise, code, _key(exercise, name, form, case), case)[1]


def seen_of(exercise: Exercise, mistake: Mistake, form: int, case: Case) -> Evidence:
    """The evidence of one form of a mistake as it was observed, ready to be judged as an attempt's."""
    return _left_by_form(exercise, mistake, form, case)[0]


def left_by_form(exercise: Exercise, mistake: Mistake, form: int, case: Case) -> Evidence:
    """The evidence of one form of a mistake on one case, in the accepted form."""
    return _left_by_form(exercise, mistake, form, case)[1]


def parted_by(exercise: Exercise, mistake: Mistake, form: int, run: Run) -> tuple[Evidence, Mapping[str, Any]]:
    """What one form of a mistake leaves on the case of `run`, and {place: leaf} wherever it is not what is right."""
    key = _key(exercise, mistake.id, form, run.case)
    piece = left_by_form(exercise, mistake, form, run.case)
    if key not in _parted:
        _parted[key] = between(run.expected, leaves_of(answers_of(exercise.home), piece), run.tolerance)
    return piece, _parted[key]


def _key(exercise: Exercise, name: str, form: int, case: Case) -> Key:
    return exercise.home, name, form, json.dumps([case.name, dict(case.spec)])


def _left_by_form(exercise: Exercise, mistake: Mistake, form: int, case: Case) -> tuple[Evidence, Evidence]:
    # A ledger, which takes its time, looks on only where what it finds is asked for.
    key = _key(exercise, mistake.id, form, case)
    return _left_by(exercise, mistake.forms[form], key, case, ledger=LEDGER in mistake.signs)


def _left_by(
    exercise: Exercise, code: Callable[..., Any], key: Key, case: Case, ledger: bool = False
) -> tuple[Evidence, Evidence]:
    if key not in _seen:
        if len(_seen) > _MOST_KEPT:
            _seen.clear()
            _parted.clear()
        if key[1:3] == ("", PROBED):
            piece = observe_all(exercise, code, [case])[0]
        else:
            piece = observe(exercise, code, case, ledger=ledger)
        _seen[key] = piece, _accepted(answers_of(exercise.home), case, piece)
    return _seen[key]


def _accepted(answers: Answers, case: Case, piece: Evidence) -> Evidence:
    return answers.accept(case, piece) if answers.accept is not None and piece.status == "returned" else piece


def run_of(exercise: Exercise, number: int, case: Case, piece: Evidence) -> Run:
    answers = answers_of(exercise.home)
    # Probes tell what an attempt leaves out, and take a call for each argument: only where the attempt was probed.
    right = left_by(exercise, answers.right, "", PROBED if piece.probes else 0, case)
    if right.status != "returned":
        _seen.clear()  # what ran into the limit may not do so the next time
        _parted.clear()
        raise CannotJudge(exercise, case, right)
    given = _accepted(answers, case, piece)
    tolerance = answers.tolerance(case) if answers.tolerance else None
    expected = leaves_of(answers, right)
    leaves = leaves_of(answers, given)
    found = differences(expected, leaves, tolerance) if given.status == "returned" else []
    judged = given.status == "returned" and not found and answers.rules is not None
    broken = answers.rules(case, given) if judged and answers.rules is not None else None
    return Run(number, case, right, given, expected, leaves, tuple(found), tolerance, broken)


def leaves_of(answers: Answers, piece: Evidence) -> dict[str, Any]:
    """What is graded of one piece of evidence, by place."""
    if piece.status == "stopped":
        return {STOPPED: True}
    if piece.status == "raised":
        assert piece.raised is not None
        return {RAISED: (piece.raised.type, skeleton(piece.raised.message))}
    leaves = flatten(piece.result, RESULT)
    for name, value in piece.facts.items():
        if name.startswith(answers.graded) and answers.graded:
            leaves |= flatten(value, name)
    return leaves


def skeleton(message: str) -> str:
    """A message without its numbers, which differ from input to input."""
    return re.sub(r"\d+", "#", message.split("\n")[0])[:160]


def deviations(run: Run) -> dict[str, Any]:
    """{place: leaf} wherever the evidence of one case is not that of the right answer."""
    return between(run.expected, run.leaves, run.tolerance)


def between(expected: Mapping[str, Any], leaves: Mapping[str, Any], tolerance: float | None) -> dict[str, Any]:
    return {one.where: one.given for one in differences(expected, leaves, tolerance)}
