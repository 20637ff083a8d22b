"""On which cases is it right, and does the result depend on what it should depend on?"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from course_utils.checks.diagnose.run import Run, case_numbers, close
from course_utils.checks.difference import RESULT, Container, attribute_differences, flatten, wide
from course_utils.exercise import AGAIN, Exercise, Probe
from course_utils.plain import Plain, TensorData


def questions(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """Sentences about the cases themselves, and about what the attempt does not look at."""
    said = _never_called(group) + _chance(runs) + _ignored(runs) + _depends(group, runs)
    return said + _properties(exercise, group, runs)


def telling(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """Facts that are not those of the right answer on any of the failing cases, told of the first of them."""
    said = []
    for name, sentence in exercise.telling.items():
        if all(_differs(run, name) for run in group):
            first = group[0]
            given, wanted = (_brief(piece.facts[name]) for piece in (first.given, first.right))
            said.append(f"On case {first.number}: {sentence.format(given=given, right=wanted)}")
    return said


def _differs(run: Run, name: str) -> bool:
    mine, wanted = run.given.facts, run.right.facts
    if name not in mine or name not in wanted or mine[name] == wanted[name] or not mine[name]:
        return False
    if isinstance(mine[name], list) and isinstance(wanted[name], list) and _words(mine[name]) == _words(wanted[name]):
        return False  # one and the same word, more or less often: the number of times is told by itself
    return "unknown" not in repr(mine[name])  # what was not recognised is not told


def _words(value: list[object]) -> set[str] | list[object]:
    """The one word that a list repeats; a list of several words is told by its order, too."""
    found = set(map(repr, value))
    return found if len(found) == 1 else value


def _brief(value: object) -> str:
    if isinstance(value, list):
        shown = [tuple(item) if isinstance(item, list) else item for item in value]
        return " and ".join(map(str, shown)) if shown else "none"
    return str(value)


def _never_called(group: Sequence[Run]) -> list[str]:
    """Functions handed over that were not called at all. A fact named "calls of f" is such a count."""
    counts = [name for name in group[0].given.facts if name.startswith("calls of ") and " with " not in name]
    never = [
        name for name in counts if all(run.given.facts.get(name) == 0 != run.right.facts.get(name) for run in group)
    ]
    return [f"`{name.removeprefix('calls of ')}` was never called." for name in never]


def _chance(runs: Sequence[Run]) -> list[str]:
    mine, rights = runs[0].given.probes, runs[0].right.probes
    if _came(mine.get(AGAIN)) == "other" and _came(rights.get(AGAIN)) == "same":
        return [
            "Two calls with the same inputs gave different results: something is random, or is kept from call to call."
        ]
    return []


def _came(probe: Probe | None) -> str:
    return "" if probe is None else probe.came


def _depends(group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """How the result changes with each argument, where one changes it as it should and another does not."""
    first = runs[0]
    if first not in group or not first.comparable or _moved_alone(first):
        return []
    as_asked: list[str] = []
    otherwise: list[str] = []
    for name, probe in first.given.probes.items():
        wanted = first.right.probes.get(name)
        if name == AGAIN or wanted is None or probe.came != "other" or wanted.came != "other":
            continue
        mine, rights = _change(first.given.result, probe.result), _change(first.right.result, wanted.result)
        if mine is None or rights is None or mine.shape != rights.shape:
            return []
        if close(mine, rights, 1e-6):
            as_asked.append(name)
        elif not close(mine, rights, 2e-2):
            otherwise.append(name)
    if not as_asked or not otherwise:
        return []
    return [
        f"When only {_named(as_asked)} changes, the result changes as it should; when only {_named(otherwise)} "
        "changes, it changes otherwise than it should."
    ]


def _moved_alone(run: Run) -> bool:
    """Whether the result moved without a change of the inputs: then no change means anything."""
    return _came(run.given.probes.get(AGAIN)) == "other"


def _change(before: Plain, after: Plain) -> torch.Tensor | None:
    """What changed between two results, in one row; None where they do not compare."""
    a, b = _row(before), _row(after)
    return b - a if a is not None and b is not None and a.shape == b.shape else None


def _row(result: Plain) -> torch.Tensor | None:
    leaves = [leaf for leaf in flatten(result, RESULT).values() if not isinstance(leaf, Container)]
    if not leaves or not all(isinstance(leaf, TensorData) and not leaf.value.is_complex() for leaf in leaves):
        return None
    row = torch.cat([wide(leaf.value).flatten() for leaf in leaves])
    return row if bool(torch.isfinite(row).all()) else None


def _named(names: Sequence[str]) -> str:
    return " or ".join(f"`{name}`" for name in names)


def _ignored(runs: Sequence[Run]) -> list[str]:
    """Arguments that were changed and did not change the result, though they change the right one."""
    mine, rights = runs[0].given.probes, runs[0].right.probes
    if _row(runs[0].right.result) is not None and _row(runs[0].given.result) is None:
        return []  # nothing there that could change: an empty dict, a generator
    ignored = [name for name, probe in mine.items() if probe.came == "same" and _came(rights.get(name)) == "other"]
    if not ignored or len(ignored) == sum(probe.came == "other" for probe in rights.values()) > 2:
        return []
    names = " and ".join(f"`{name}`" for name in ignored)
    return [f"The result does not change when {names} {'changes' if len(ignored) == 1 else 'change'}."]


def _properties(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """What the failing cases have in common, and the others have not: said only of all that fail."""
    if _moved_alone(runs[0]):
        return []  # the same case may be right on one call and wrong on the next
    failing = {run.number for run in runs if _failing(run)}
    right = [run for run in runs if not _failing(run)]
    if not right or failing != {run.number for run in group} or any(_tainted(run) for run in right):
        return []
    fails = "The numbers are wrong on" if any(run.broken for run in right) else "It fails on"
    for words, test in exercise.properties:
        if all(test(run.case.spec) for run in group) and not any(test(run.case.spec) for run in right):
            return [f"{fails} {case_numbers(list(group))} alone, where {words}."]
    for words, test in exercise.properties:
        if all(test(run.case.spec) for run in right) and not any(test(run.case.spec) for run in group):
            if any(run.broken for run in right):
                return [f"The numbers are right on {case_numbers(right)} alone, where {words}."]
            return [f"Only {case_numbers(right)} came out right, where {words}."]
    return []


def _tainted(run: Run) -> bool:
    """Whether something is wrong beside the numbers, so that the case cannot be called right."""
    device = str(run.case.spec.get("device", "cpu"))
    return bool(run.given.changes or attribute_differences(run.expected, run.leaves, device))


def _failing(run: Run) -> bool:
    return run.given.status != "returned" or bool(run.differences)
