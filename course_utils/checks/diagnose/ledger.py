"""What the ledger saw in a loop: it knows which line did it, where numbers alone leave that open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course_utils.checks.diagnose.run import Run
from course_utils.checks.observe.ledger import SAID
from course_utils.exercise import Exercise
from gradient_ledger.catalogue import misconception
from gradient_ledger.catalogue.entry import Misconception


def questions(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """A sentence for each finding that all the failing cases share, told of the first of them."""
    first = group[0]
    return [_sentence(first.number, one) for name, one in _findings(first).items() if _on_each(name, group)]


def named(group: Sequence[Run], runs: Sequence[Run]) -> Misconception | None:
    """The one error that the ledger found on every failing case, if it found it on no other."""
    grave = [name for name in errors(group[0]) if _on_each(name, group)]
    passed = [run for run in runs if not run.differences and run.given.status == "returned"]
    if len(grave) != 1 or any(grave[0] in _findings(run) for run in passed):
        return None
    return misconception(grave[0])


def errors(run: Run) -> tuple[str, ...]:
    """The ids of what the ledger is certain of on one case."""
    return tuple(name for name, one in _findings(run).items() if one["severity"] == "error")


def _on_each(name: str, group: Sequence[Run]) -> bool:
    return all(name in _findings(run) for run in group)


def _findings(run: Run) -> dict[str, Mapping[str, str]]:
    """{id: finding} of the attempt on one case, the most serious of each id."""
    found: dict[str, Mapping[str, str]] = {}
    for one in run.given.facts.get(SAID) or ():
        found.setdefault(one["id"], one)
    return found


def _sentence(number: int, one: Mapping[str, str]) -> str:
    at = f" points at {one['line']}" + (f", `{one['code']}`" if one["code"] else "") if one["line"] else ""
    return f"The ledger of case {number}{at}: {one['text']}"
