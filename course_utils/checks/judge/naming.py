"""Which known mistakes agree with an attempt on all that was observed, and which of them explain it best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from course_utils.checks.diagnose import Run
from course_utils.checks.diagnose.run import LOOSE
from course_utils.checks.difference import Difference, difference_kind, wide
from course_utils.checks.judge.left import mistakes_of, parted_by
from course_utils.checks.mistakes import Mistake
from course_utils.exercise import Evidence, Exercise
from course_utils.plain import Opaque, TensorData

Place = tuple[int, str]
"""Number of a case, and where in it."""
_SAME_DEVIATION = 1e-4
"""By how much two wrong answers may differ, beside how far they are from the right one."""
_LIKE_DEVIATION = 0.15
"""By how much two wrong answers may differ there, beside how far they are from the right one."""
SWITCHES = {"mode": "the mode", "requires-grad": "`requires_grad`"}
"""Aspects of a model that decide what is computed with it, and how a card calls them."""


@dataclass(frozen=True)
class Named:
    """Mistakes that leave the very same, the places they explain, and the changes of inputs they bring about."""

    mistakes: tuple[Mistake, ...]
    places: frozenset[Place]
    changes: frozenset[tuple[int, tuple[str, str]]]
    excused: frozenset[int] = frozenset()
    """Numbers of the cases on which they and the attempt part, and where it left a switch of the model changed."""


def explain(
    exercise: Exercise, runs: Sequence[Run], wrong: Mapping[Place, Any]
) -> tuple[list[Named], dict[Place, Any]]:
    """The mistakes that agree with the attempt wherever they show; those that explain most come first."""
    if not wrong:
        return [], {}
    candidates = [seen for one in mistakes_of(exercise.home) if (seen := _agreeing(exercise, one, runs, wrong))]
    found: list[Named] = []
    left = dict(wrong)
    while left:
        pool = [one for one in candidates if one.places & left.keys()]
        known = frozenset().union(*(one.places for one in pool))
        pool = [one for one in pool if _explains_enough(one, runs, left, known)]
        if not pool:
            break
        best = max(pool, key=lambda one: (len(one.places & left.keys()), -len(one.places)))
        same = [one for one in pool if one.places == best.places]
        unique = {mistake.id: mistake for one in same for mistake in one.mistakes}
        changes = frozenset().union(*(one.changes for one in same))
        found.append(Named(tuple(unique.values()), best.places, changes, best.excused))
        left = {place: leaf for place, leaf in left.items() if place not in best.places}
    return found, left


def _explains_enough(one: Named, runs: Sequence[Run], left: Mapping[Place, Any], known: frozenset[Place]) -> bool:
    """Whether a mistake, together with the others that agree, explains what is left of the cases it shows on.

    It need not where nothing but numbers differ, place by place: then it explains some entries, and another mistake
    the others. A mistake about what is there at all must account for everything, or it would lend its name to an
    attempt that lacks more than it says.
    """
    numbers = {number for number, _ in one.places}
    unexplained = {place for place in left if place[0] in numbers and place not in known}
    if unexplained <= {(run.number, d.where) for run in runs for d in run.differences if _of_type_alone(d)}:
        return True
    kinds = {d.kind for run in runs if run.number in numbers for d in run.differences}
    return kinds == {"value"} and len(one.places & left.keys()) > len(unexplained)


def _of_type_alone(one: Difference) -> bool:
    """Whether a number came as another type and its value stands beside it: a fault of its own, which explains no
    other."""
    return one.kind == "type" and isinstance(one.expected, Opaque) and isinstance(one.given, TensorData)


def _agreeing(exercise: Exercise, mistake: Mistake, runs: Sequence[Run], wrong: Mapping[Place, Any]) -> Named | None:
    """What a mistake explains in the form that explains most."""
    failing = {number for number, _ in wrong}
    if mistake.right_where and any(mistake.right_where(run.case.spec) for run in runs if run.number in failing):
        return None
    forms = [_form_agreeing(exercise, mistake, form, runs, wrong) for form in range(len(mistake.forms))]
    found = [one for one in forms if one is not None]
    return max(found, key=lambda one: (len(one.places), len(one.changes)), default=None)


def _form_agreeing(
    exercise: Exercise,
    mistake: Mistake,
    form: int,
    runs: Sequence[Run],
    wrong: Mapping[Place, Any],
) -> Named | None:
    """What one form of a mistake explains; None when it and the attempt part anywhere."""
    places: set[Place] = set()
    changes: set[tuple[int, tuple[str, str]]] = set()
    beyond: list[int] = []
    excused: set[int] = set()
    failing = {number for number, _ in wrong}
    all_raised = all(run.given.status == "raised" for run in runs if run.number in failing)
    shown = [run for run in runs if mistake.where is None or mistake.where(run.case.spec)]
    if not any(run.number in failing for run in shown):
        return None
    for run in sorted(shown, key=lambda run: run.number not in failing):  # where most part, they part at once
        piece, parts = parted_by(exercise, mistake, form, run)
        if run.given.status == "raised" and piece.status == "returned":
            if all_raised:
                return None  # there is nothing else that it could explain
            beyond.append(run.number)  # the attempt did not come so far: nothing to compare
            continue
        its = {(change.what, change.aspect) for change in piece.changes}
        agree = _agree_on(run, mistake, piece, parts, wrong)
        more = {where for number, where in wrong if number == run.number} - parts.keys()
        if switched(run) - its and (not agree or more):
            excused.add(run.number)  # a mistake of its own, and what else differs there may come of it
            continue
        if not agree:
            return None
        places |= {(run.number, where) for where in parts}
        changes |= {(run.number, change) for change in its}
    agreeing = len({number for number, _ in places})
    if not places or beyond and agreeing < 2 or len(excused) > agreeing:
        return None  # one case alone is not enough where others say nothing
    return Named((mistake,), frozenset(places), frozenset(changes), frozenset(excused))


def _agree_on(
    run: Run, mistake: Mistake, piece: Evidence, parts: Mapping[str, Any], wrong: Mapping[Place, Any]
) -> bool:
    """Whether a mistake and an attempt agree on one case: in what is wrong, in the signs, in what was changed."""
    for where, leaf in parts.items():
        if (run.number, where) not in wrong or not _same(run, where, leaf, wrong[run.number, where]):
            return False
    if run.given.status == piece.status == "returned" and not same_signs(mistake, run.given, piece):
        return False
    made = {(change.what, change.aspect) for change in run.given.changes}
    return all((change.what, change.aspect) in made for change in piece.changes)


def _same(run: Run, where: str, its: Any, mine: Any) -> bool:
    """Whether a mistake and an attempt leave the same there: to the tolerance, or as far from the right answer; where
    the tolerance is loose, as for half precision, both.

    What is wrong may grow from step to step, and with it the rounding; and a constant of a formula that nobody can
    guess, such as the eps of a division, moves a result by less than a thousandth of what is wrong with it.
    """
    same, loose = difference_kind(its, mine, run.tolerance) is None, (run.tolerance or 0.0) >= LOOSE
    if same and not loose:
        return True
    right = run.expected.get(where)
    if not (isinstance(its, TensorData) and isinstance(mine, TensorData) and isinstance(right, TensorData)):
        return same
    if not its.value.shape == mine.value.shape == right.value.shape:
        return same
    a, b, r = wide(its.value), wide(mine.value), wide(right.value)
    if not bool(torch.isfinite(a).all() and torch.isfinite(b).all() and torch.isfinite(r).all()):
        return same
    limit = (_LIKE_DEVIATION if loose and same else _SAME_DEVIATION) * float((b - r).abs().max())
    return float((a - b).abs().max()) <= limit


def switched(run: Run) -> set[tuple[str, str]]:
    """What decides how a model computes and was left otherwise than it came, as changes: told for itself."""
    return {(change.what, change.aspect) for change in run.given.changes if change.aspect in SWITCHES}


def same_signs(mistake: Mistake, one: Evidence, other: Evidence) -> bool:
    """Whether two pieces of evidence agree on the facts that the words of a mistake speak of."""
    return all(repr(one.facts.get(name)) == repr(other.facts.get(name)) for name in mistake.signs)
