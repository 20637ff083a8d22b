"""Everything that is wrong with an attempt, as faults with words: named, described, and what is wrong beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from course_utils.checks import diagnose as diagnosis
from course_utils.checks import effects
from course_utils.checks.diagnose import Run
from course_utils.checks.diagnose.run import case_numbers
from course_utils.checks.difference import RESULT, Container, attribute_differences, shown
from course_utils.checks.judge.left import STOPPED, deviations, parted_by, skeleton
from course_utils.checks.judge.naming import SWITCHES, Named, Place, explain, switched
from course_utils.checks.judge.scaled import Scaled, scaled
from course_utils.checks.observe import LIMIT
from course_utils.checks.observe.ledger import SAID
from course_utils.checks.observe.steps import STEPS
from course_utils.exercise import Change, Exercise, Fault, Raised

Answer = TypeVar("Answer")
STRICT = False
"""Whether a fault in a diagnosis is raised, as the tests want it; else the card says less, and the verdict stands."""


def faults_of(exercise: Exercise, runs: Sequence[Run], total: int) -> tuple[Fault, ...]:
    wrong = {(run.number, place): leaf for run in runs for place, leaf in deviations(run).items()}
    named, left = explain(exercise, runs, wrong)
    found = [_named_fault(exercise, runs, total, one) for one in named]
    if named:  # that a switch was left otherwise is told beside, and what else differs there may come of it
        known = {number for one in named for number, _ in one.places}
        company = {run.number for run in runs if switched(run)} - known
        left = {place: leaf for place, leaf in left.items() if place[0] not in company}
    found += _unnamed(exercise, _beside_names(runs, named, left), total, left)
    explained = {(number, *change) for one in named for number, change in one.changes}
    found += _beside(runs, total, explained)
    return tuple(_told_once(sorted(found, key=_first_to_mend)))


def _beside_names(runs: Sequence[Run], named: Sequence[Named], left: Mapping[Place, Any]) -> list[Run]:
    """The cases; of those that a name explains in part, what it leaves open. How the steps went there, and what the
    ledger said, is of the whole, and would tell the named mistake once more as if it were another."""
    known = {number for one in named for number, _ in one.places}

    def rest(run: Run) -> Run:
        facts = {name: value for name, value in run.given.facts.items() if name not in (STEPS, SAID)}
        differences = tuple(one for one in run.differences if (run.number, one.where) in left)
        return replace(run, given=replace(run.given, facts=facts), differences=differences)

    return [rest(run) if run.number in known else run for run in runs]


def _first_to_mend(fault: Fault) -> tuple[int, bool]:
    """By the first case it shows on; what nothing is known of gives way to what is known."""
    return min(fault.cases), not (fault.mistakes or fault.certain)


def _told_once(faults: Sequence[Fault]) -> list[Fault]:
    """A mistake that breaks a rule on some cases and leaves wrong numbers on others is one fault."""
    found: list[Fault] = []
    for fault in faults:
        for at, other in enumerate(found):
            if fault.mistakes and fault.mistakes == other.mistakes and fault.rule != other.rule:
                numbers = tuple(sorted({*other.cases, *fault.cases}))
                found[at] = replace(other, cases=numbers, rule=False)
                break
        else:
            found.append(fault)
    return found


def _shown(exercise: Exercise, runs: Sequence[Run], one: Named, numbers: Sequence[int]) -> int:
    """The first case on which the mistake shows by itself, in its first form; in another form it may have company,
    and a case that only the company makes wrong is no evidence of what the words say."""
    for number in numbers:
        for mistake in one.mistakes:
            if parted_by(exercise, mistake, 0, runs[number - 1])[1]:
                return number
    return numbers[0]


def _named_fault(exercise: Exercise, runs: Sequence[Run], total: int, one: Named) -> Fault:
    numbers = sorted({number for number, _ in one.places})
    run = runs[_shown(exercise, runs, one, numbers) - 1]
    words = tuple(mistake.words for mistake in one.mistakes)
    places = {where for number, where in one.places if number == run.number}
    apart = [runs[number - 1] for number in sorted(one.excused)]
    left = " and ".join(dict.fromkeys(SWITCHES[aspect] for run in apart for _, aspect in sorted(switched(run))))
    certain = (f"This leaves out {case_numbers(apart)}: there {left} was changed as well.",) if apart else ()
    return Fault(tuple(numbers), _case(run, total), _observed(run, places), words, certain, run.given.raised)


def _unnamed(exercise: Exercise, runs: Sequence[Run], total: int, left: Mapping[Place, Any]) -> list[Fault]:
    """What no known mistake explains: exceptions by what was raised, numbers by how they differ and by the ledger."""
    found = []
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        places = {where for number, where in left if number == run.number}
        if places:
            errors = _unless_it_fails(partial(diagnosis.errors, run)) or ()
            groups.setdefault((_kind_of_fault(run, places), errors), []).append(run)
    numeric = [run for (kind, _), group in groups.items() if kind in ("value", "shape") for run in group]
    numeric.sort(key=lambda run: run.number)
    both = _unless_it_fails(lambda: scaled(exercise, numeric))
    if both is not None:
        found.append(_two_at_once(numeric, total, left, both))
        groups = {key: group for key, group in groups.items() if key[0] not in ("value", "shape")}
    for group in groups.values():
        found += [_described(exercise, part, runs, total, left) for part in _parts(exercise, group, runs)]
    return found


def _two_at_once(group: Sequence[Run], total: int, left: Mapping[Place, Any], both: Scaled) -> Fault:
    run = group[0]
    places = {where for number, where in left if number == run.number}
    numbers = tuple(one.number for one in group)
    return Fault(numbers, _case(run, total), _observed(run, places), certain=(both.sentence,))


def _diagnosed(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> tuple[str, ...]:
    """What is certain of some failing cases."""
    return _unless_it_fails(lambda: diagnosis.diagnose(exercise, group, runs)) or ()


def _unless_it_fails(say: Callable[[], Answer]) -> Answer | None:
    """What was given is a stranger's data, and no sentence about it is worth a verdict."""
    try:
        return say()
    except Exception:
        if STRICT:
            raise
        return None


def _kind_of_fault(run: Run, places: set[str]) -> Any:
    if run.given.status == "raised":
        assert run.given.raised is not None
        return run.given.raised.type, skeleton(run.given.raised.message)
    if run.given.status == "stopped":
        return STOPPED
    if run.listed is not None:
        odd, lacks = map(bool, run.listed)
        return "numbers", odd, lacks
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
    word = word or _unless_it_fails(lambda: diagnosis.named(group, runs))
    # Last, since it is no description of the numbers: it says why they may be as they are.
    certain = (*_diagnosed(exercise, group, runs), *diagnosis.changed(group))
    if certain and (run.listed is not None or _at_other_places(run, places)):
        word = None
    return Fault(numbers, _case(run, total), _observed(run, places), (word,) if word else (), certain)


def _at_other_places(run: Run, places: set[str]) -> bool:
    """Whether a list lacks entries in one place and has too many in another: neither word tells what it is."""
    root = run.expected.get(RESULT)
    kinds = {one.kind for one in run.differences if one.where in places}
    return isinstance(root, Container) and root.kind == "list" and kinds >= {"missing", "extra"}


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


def _beside(runs: Sequence[Run], total: int, explained: set[tuple[Any, ...]]) -> list[Fault]:
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
            if run.broken is not None:
                note(run.broken.mistake.id, run, (run.broken.seen,), run.broken.mistake.words, rule=True)
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
