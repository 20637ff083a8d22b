"""Judge evidence: right or not from the numbers alone, then the name of the mistake, then what else is certain.

A mistake is the code that makes it: it is run on the same cases, and gives its name only where it agrees with the
attempt on all that was observed, on every case. What no known mistake explains is described by `diagnose`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from course_utils.checks import diagnose as diagnosis
from course_utils.checks import effects
from course_utils.checks.answers import Answers
from course_utils.checks.diagnose import Run
from course_utils.checks.difference import (
    RESULT,
    attribute_differences,
    difference_kind,
    differences,
    flatten,
    shown,
)
from course_utils.checks.mistakes import Mistake, mistakes_in
from course_utils.checks.observe import LIMIT, observe, observe_all
from course_utils.checks.originals import Names
from course_utils.exercise import Case, Change, Evidence, Exercise, Fault, Raised, Verdict

RAISED, STOPPED = "what was raised", "the time limit"
"""Places beside those in the result where an attempt may differ from the right answer."""
Place = tuple[int, str]
"""Number of a case, and where in it."""
_MOST_KEPT = 4000
STRICT = False
"""Whether a fault in a diagnosis is raised, as the tests want it; else the card says less, and the verdict stands."""


def judge(exercise: Exercise, cases: Sequence[Case], evidence: Sequence[Evidence]) -> Verdict:
    """The verdict on an attempt from its evidence, one piece for each of the first `len(evidence)` cases.

    Raises `ValueError` when evidence and cases do not belong together.
    """
    if not evidence or [e.case for e in evidence] != [c.name for c in cases[: len(evidence)]]:
        raise ValueError(f"the evidence is not about the cases of exercise {exercise.id}")
    if any(piece.status == "raised" and piece.raised is None for piece in evidence):
        raise ValueError("the evidence says that the code raised, and not what")
    if any(piece.status == "not attempted" for piece in evidence):
        return _verdict(exercise, "not attempted", printed=evidence[0].printed, cases_total=len(cases))
    with Names().ours():
        seen = zip(cases, evidence, strict=False)
        runs = [_run(exercise, number, case, piece) for number, (case, piece) in enumerate(seen, 1)]
        faults = _faults(exercise, runs, len(cases))
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


def _verdict(exercise: Exercise, outcome: str, **rest: object) -> Verdict:
    points = exercise.points if outcome == "passed" else 0
    return Verdict(exercise.id, exercise.name, outcome, points, exercise.points, **rest)  # type: ignore[arg-type]


# ------------------------------------------------------------------ what is right, and what mistakes leave


@cache
def answers_of(home: str) -> Answers:
    """The answers of the exercise whose package is `home`."""
    found: Answers = import_module(f"{home}.answers").ANSWERS
    return found


@cache
def mistakes_of(home: str) -> tuple[Mistake, ...]:
    """The mistakes of the exercise whose package is `home`, in order."""
    return mistakes_in(import_module(f"{home}.mistakes"))


_seen: dict[tuple[str, str, int, str], Evidence] = {}
"""What our own code leaves on a case, by exercise package, id, form and case: it is the same each time."""


def left_by(exercise: Exercise, code: Callable[..., Any], name: str, form: int, case: Case) -> Evidence:
    """The evidence of the course's own `code` on one case, in the accepted form. `name` and `form` tell it apart."""
    key = (exercise.home, name, form, json.dumps([case.name, dict(case.spec)]))
    if key not in _seen:
        if len(_seen) > _MOST_KEPT:
            _seen.clear()
        # Probes tell what an attempt leaves out: only the right answer's are of use.
        piece = observe(exercise, code, case) if name else observe_all(exercise, code, [case])[0]
        _seen[key] = _accepted(answers_of(exercise.home), case, piece)
    return _seen[key]


def _accepted(answers: Answers, case: Case, piece: Evidence) -> Evidence:
    return answers.accept(case, piece) if answers.accept is not None and piece.status == "returned" else piece


def _run(exercise: Exercise, number: int, case: Case, piece: Evidence) -> Run:
    answers = answers_of(exercise.home)
    right = left_by(exercise, answers.right, "", 0, case)
    given = _accepted(answers, case, piece)
    tolerance = answers.tolerance(case) if answers.tolerance else None
    expected = _leaves(answers, right)
    leaves = _leaves(answers, given)
    found = differences(expected, leaves, tolerance) if given.status == "returned" else []
    return Run(number, case, right, given, expected, leaves, tuple(found), tolerance)


def _leaves(answers: Answers, piece: Evidence) -> dict[str, Any]:
    """What is graded of one piece of evidence, by place."""
    if piece.status == "stopped":
        return {STOPPED: True}
    if piece.status == "raised":
        assert piece.raised is not None
        return {RAISED: (piece.raised.type, _skeleton(piece.raised.message))}
    leaves = flatten(piece.result, RESULT)
    for name, value in piece.facts.items():
        if name.startswith(answers.graded) and answers.graded:
            leaves |= flatten(value, name)
    return leaves


def _skeleton(message: str) -> str:
    """A message without its numbers, which differ from input to input."""
    return re.sub(r"\d+", "#", message.split("\n")[0])[:160]


# ------------------------------------------------------------------ faults


def _faults(exercise: Exercise, runs: Sequence[Run], total: int) -> tuple[Fault, ...]:
    answers = answers_of(exercise.home)
    wrong = {(run.number, place): leaf for run in runs for place, leaf in _deviations(run).items()}
    named, left = _named(exercise, runs, wrong)
    found = [_named_fault(runs, total, one) for one in named]
    found += _unnamed(exercise, runs, total, left)
    explained = {(number, *change) for one in named for number, change in one.changes}
    found += _beside(answers, runs, total, explained)
    return tuple(sorted(found, key=_first_to_mend))


def _first_to_mend(fault: Fault) -> tuple[int, bool]:
    """By the first case it shows on; what nothing is known of gives way to what is known."""
    return min(fault.cases), not (fault.mistakes or fault.certain)


def _deviations(run: Run) -> dict[str, Any]:
    """{place: leaf} wherever the evidence of one case is not that of the right answer."""
    return _between(run.expected, run.leaves, run.tolerance)


def _between(expected: Mapping[str, Any], leaves: Mapping[str, Any], tolerance: float | None) -> dict[str, Any]:
    return {one.where: one.given for one in differences(expected, leaves, tolerance)}


@dataclass(frozen=True)
class _Named:
    """Mistakes that leave the very same, the places they explain, and the changes of inputs they bring about."""

    mistakes: tuple[Mistake, ...]
    places: frozenset[Place]
    changes: frozenset[tuple[int, tuple[str, str]]]


def _named(
    exercise: Exercise, runs: Sequence[Run], wrong: Mapping[Place, Any]
) -> tuple[list[_Named], dict[Place, Any]]:
    """The mistakes that agree with the attempt wherever they show; those that explain most come first."""
    candidates = [found for one in mistakes_of(exercise.home) if (found := _agreeing(exercise, one, runs, wrong))]
    named: list[_Named] = []
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
        named.append(_Named(tuple(unique.values()), best.places, frozenset().union(*(one.changes for one in same))))
        left = {place: leaf for place, leaf in left.items() if place not in best.places}
    return named, left


def _explains_enough(one: _Named, runs: Sequence[Run], left: Mapping[Place, Any], known: frozenset[Place]) -> bool:
    """Whether a mistake, together with the others that agree, explains what is left of the cases it shows on.

    It need not where nothing but numbers differ, place by place: then it explains some entries, and another mistake
    the others. A mistake about what is there at all must account for everything, or it would lend its name to an
    attempt that lacks more than it says.
    """
    numbers = {number for number, _ in one.places}
    unexplained = [place for place in left if place[0] in numbers and place not in known]
    if not unexplained:
        return True
    kinds = {d.kind for run in runs if run.number in numbers for d in run.differences}
    return kinds == {"value"} and len(one.places & left.keys()) > len(unexplained)


def _agreeing(exercise: Exercise, mistake: Mistake, runs: Sequence[Run], wrong: Mapping[Place, Any]) -> _Named | None:
    """What a mistake explains in the form that explains most."""
    forms = [_form_agreeing(exercise, mistake, form, code, runs, wrong) for form, code in enumerate(mistake.forms)]
    found = [one for one in forms if one is not None]
    return max(found, key=lambda one: (len(one.places), len(one.changes)), default=None)


def _form_agreeing(
    exercise: Exercise,
    mistake: Mistake,
    form: int,
    code: Callable[..., Any],
    runs: Sequence[Run],
    wrong: Mapping[Place, Any],
) -> _Named | None:
    """What one form of a mistake explains; None when it and the attempt part anywhere."""
    answers = answers_of(exercise.home)
    places: set[Place] = set()
    changes: set[tuple[int, tuple[str, str]]] = set()
    beyond: list[int] = []
    failing = {number for number, _ in wrong}
    all_raised = all(run.given.status == "raised" for run in runs if run.number in failing)
    for run in sorted(runs, key=lambda run: run.number not in failing):  # where most part, they part at once
        piece = left_by(exercise, code, mistake.id, form, run.case)
        if run.given.status == "raised" and piece.status == "returned":
            if all_raised:
                return None  # there is nothing else that it could explain
            beyond.append(run.number)  # the attempt did not come so far: nothing to compare
            continue
        for where, leaf in _between(run.expected, _leaves(answers, piece), run.tolerance).items():
            if (run.number, where) not in wrong:
                return None
            if difference_kind(leaf, wrong[run.number, where], run.tolerance) is not None:
                return None
            places.add((run.number, where))
        if run.given.status == piece.status == "returned":
            if any(_sign(run.given, sign) != _sign(piece, sign) for sign in mistake.signs):
                return None
        its = {(change.what, change.aspect) for change in piece.changes}
        if its - {(change.what, change.aspect) for change in run.given.changes}:
            return None
        changes |= {(run.number, change) for change in its}
    if not places or beyond and len({number for number, _ in places}) < 2:
        return None  # one case alone is not enough where others say nothing
    return _Named((mistake,), frozenset(places), frozenset(changes))


def _sign(piece: Evidence, name: str) -> str:
    return repr(piece.facts.get(name))


def _named_fault(runs: Sequence[Run], total: int, one: _Named) -> Fault:
    numbers = sorted({number for number, _ in one.places})
    run = runs[numbers[0] - 1]
    words = tuple(mistake.words for mistake in one.mistakes)
    places = {where for number, where in one.places if number == run.number}
    return Fault(tuple(numbers), _case(run, total), _observed(run, places), words, raised=run.given.raised)


def _unnamed(exercise: Exercise, runs: Sequence[Run], total: int, left: Mapping[Place, Any]) -> list[Fault]:
    """What no known mistake explains: exceptions by what was raised, numbers by how they differ."""
    found = []
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        places = {where for number, where in left if number == run.number}
        if places:
            groups.setdefault(_kind_of_fault(run, places), []).append(run)
    for group in groups.values():
        found += [_described(exercise, part, runs, total, left) for part in _parts(exercise, group, runs)]
    return found


def _diagnosed(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> tuple[str, ...]:
    """What is certain of some failing cases. What was given is a stranger's data: no sentence is worth a verdict."""
    try:
        return diagnosis.diagnose(exercise, group, runs)
    except Exception:
        if STRICT:
            raise
        return ()


def _kind_of_fault(run: Run, places: set[str]) -> Any:
    if run.given.status == "raised":
        assert run.given.raised is not None
        return run.given.raised.type, _skeleton(run.given.raised.message)
    if run.given.status == "stopped":
        return STOPPED
    return next(one.kind for one in (*run.told, *run.differences) if one.where in places)


def _parts(exercise: Exercise, group: list[Run], runs: Sequence[Run]) -> list[list[Run]]:
    """The group as it is if something is certain of all of it; else its first case apart from the others."""
    if len(group) < 2 or group[0].given.status != "returned" or _diagnosed(exercise, group, runs):
        return [group]
    for start in range(1, len(group)):
        if _diagnosed(exercise, group[:-start], runs):
            return [group[:-start], *_parts(exercise, group[-start:], runs)]
    return [group]


def _described(
    exercise: Exercise, group: Sequence[Run], runs: Sequence[Run], total: int, left: Mapping[Place, Any]
) -> Fault:
    run = group[0]
    numbers = tuple(one.number for one in group)
    if run.given.status == "stopped":
        seconds = run.given.facts.get(LIMIT)
        line = f"the call was stopped after {seconds:g} s, the limit of one case" if seconds else "the call was stopped"
        return Fault(numbers, _case(run, total), (line,), (effects.endless_loop,))
    if run.given.status == "raised":
        assert run.given.raised is not None
        words = effects.of_exception(run.given.raised, run.given.warned)
        certain = _diagnosed(exercise, group, runs)
        return Fault(numbers, _case(run, total), _observed(run, set()), words, certain, run.given.raised)
    places = {where for number, where in left if number == run.number}
    first = next(one for one in (*run.told, *run.differences) if one.where in places)
    word = effects.BY_KIND.get(first.kind) if first.where.startswith(RESULT) else None
    certain = _diagnosed(exercise, group, runs)
    return Fault(numbers, _case(run, total), _observed(run, places), (word,) if word else (), certain)


def _case(run: Run, total: int) -> str:
    return f"case {run.number} of {total}: {run.case.name}"


def _observed(run: Run, places: set[str]) -> tuple[str, ...]:
    raised: Raised | None = run.given.raised
    if raised is not None:
        return (f"{raised.type}: {raised.message}".rstrip(": "),)
    here = [one for one in run.told if one.where in places] or [d for d in run.differences if d.where in places]
    lines = shown(here, run.expected, run.leaves) if here else ()
    # What was changed on the way may be why the numbers differ, so it is shown beside them.
    return (*lines, *_change_lines(run.given.changes))


# ------------------------------------------------------------------ what is wrong beside the numbers


def _beside(answers: Answers, runs: Sequence[Run], total: int, explained: set[tuple[Any, ...]]) -> list[Fault]:
    """Dtypes, devices, graphs, broken rules and side effects: each is a fault of its own, over all its cases."""
    groups: dict[Any, list[Fault]] = {}

    def note(key: Any, run: Run, lines: Iterable[str], words: Any, rule: bool = False) -> None:
        fault = Fault((run.number,), _case(run, total), tuple(lines), (words,) if words else (), rule=rule)
        groups.setdefault(key, []).append(fault)

    for run in runs:
        if run.given.status == "returned":
            device = str(run.case.spec.get("device", "cpu"))
            attributes = attribute_differences(run.expected, run.leaves, device)
            for kind in dict.fromkeys(one.kind for one in attributes):
                these = [one for one in attributes if one.kind == kind]
                note(kind, run, shown(these, run.expected, run.leaves), effects.BY_KIND[kind])
            broken = answers.rules(run.case, run.given) if answers.rules and not run.differences else None
            if broken is not None:
                note(broken.mistake.id, run, (broken.seen,), broken.mistake.words, rule=True)
        changes = [one for one in run.given.changes if (run.number, one.what, one.aspect) not in explained]
        if changes:
            # What brings the others about comes first: a model in train mode also counts and draws.
            first = min(changes, key=_weight)
            note(("changed", first.aspect), run, _change_lines(changes), effects.BY_CHANGE.get(first.aspect))
    return [_joined(faults) for faults in groups.values()]


def _joined(faults: Sequence[Fault]) -> Fault:
    first = faults[0]
    numbers = tuple(number for fault in faults for number in fault.cases)
    return Fault(numbers, first.case, first.observed, first.mistakes, rule=first.rule)


def _weight(change: Change) -> int:
    known = list(effects.BY_CHANGE)
    return known.index(change.aspect) if change.aspect in known else len(known)


def _change_lines(changes: Sequence[Change]) -> tuple[str, ...]:
    lines = []
    for change in sorted(changes, key=_weight)[:3]:
        values = {"input": "values", "parameters": "values", "buffers": "values", "global": "", "rng": ""}
        aspect = values.get(change.aspect, change.aspect)
        label = f"{change.what} ({aspect})" if aspect else change.what
        lines += [label, f"  before the call  {change.before}", f"  after it         {change.after}"]
    return tuple(lines)
