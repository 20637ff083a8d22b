"""What exercises 5.1 and 5.9 share: cases that are recorded traces, and questions on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from course_utils.exercise import Case
from course_utils.lessons.inputs import cases
from course_utils.lessons.lesson5.recordings import LAYERS, RUNS, recorded
from course_utils.lessons.trace import TraceEvent

Spec = Mapping[str, Any]


def cases_of_loops(seed: int, loops: Sequence[tuple[str, str]]) -> list[Case]:
    """A case for each (name of the case, loop), in a run that is drawn, with layers that are drawn."""
    chance = Random(seed)
    rows = []
    for name, loop in loops:
        run, layers = chance.randrange(len(RUNS)), list(chance.choice(LAYERS))
        rows.append((name, {"loop": loop, "run": run, "layers": layers}))
    return cases(seed, rows)


def is_loop(*loops: str) -> Callable[[Spec], bool]:
    """The property of a case that its loop is one of these."""
    return lambda spec: spec["loop"] in loops


def has_two_optimizers(spec: Spec) -> bool:
    """Whether the steps of a case's trace name different gradients."""
    return len({tuple(event["names"]) for event in recorded(spec) if event["kind"] == "step"}) > 1


def kinds(spec: Spec) -> list[str]:
    """The kinds of the events in a case's trace, in order."""
    return [event["kind"] for event in recorded(spec)]


def all_named(events: Sequence[TraceEvent], *kinds: str) -> list[TraceEvent]:
    """The trace with every gradient named by every event of these kinds."""
    every = sorted({name for event in events for name in event["names"]})
    return [{**event, "names": every} if event["kind"] in kinds else event for event in events]
