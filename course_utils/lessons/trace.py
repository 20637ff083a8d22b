"""A ledger's events as a short trace: what was written, cleared, clipped and used, in plain dicts.

The exercises on traces take it, and so does anybody who wants to look at a loop of their own:

    with GradientLedger() as ledger:
        train()
    events = trace(ledger)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TypedDict

from gradient_ledger import GradientLedger, Log
from gradient_ledger.events import Accumulate, Backward, Clear, Clip, Edit, Event, Forward, Step

_SHOWN: dict[type[Event], str] = {
    Forward: "forward",
    Backward: "backward",
    Accumulate: "accumulate",
    Clip: "clip",
    Clear: "clear",
    Step: "step",
}
KINDS = tuple(_SHOWN.values())
"""Every kind of event that a trace holds."""
_BY_HAND = -1
"""Stands for steps that no optimizer took."""


class TraceEvent(TypedDict):
    """One event of a trace: plain JSON."""

    kind: str
    """One of `KINDS`."""
    step: int
    """Number of steps before it, by all optimizers together."""
    window: int
    """Number of steps before it of the optimizer it concerns; of the one that stepped most, where it concerns several
    or none."""
    names: list[str]
    """`accumulate`: the parameters whose `.grad` was written. `clear`: those whose `.grad` was to be cleared. `clip`:
    those that were to be clipped. `step`: every parameter that the optimizer holds, whatever its `.grad` holds. Empty
    for `forward` and `backward`. In the order of the model."""


def trace(ledger: GradientLedger | Log) -> list[TraceEvent]:
    """The events of a ledger, or of its log, in the order in which they happened, as plain dicts.

    A backward pass is two events: `backward`, and `accumulate` with the gradients it wrote, if it wrote any. What one
    line clears in a row is one event, whichever way it is done: to None or to zeros, by `zero_grad()` or by hand. A
    gradient that the program puts into `.grad` itself is an `accumulate`; where it takes the place of one that a step
    has used, a `clear` stands before it. Clearing by `p.grad.zero_()` is seen when somebody next looks at `.grad`, the
    next backward at the latest, and stands there. All passes that a closure makes stand before the step they serve.

    `step` counts the steps of all optimizers before the event. `window` counts, of a step, those of its own optimizer;
    of another event, those of the optimizer that holds what it names. Where several optimizers hold some of that, it is
    the largest of their counts; where the event names nothing, the largest of all.

    Left out are clears and clips of nothing that the ledger knows, changes of a gradient in place that neither clear
    nor clip it, steps that a gradient scaler skipped, and whatever is no event of a gradient (schedulers, data
    loaders). Of a run of more than 400 windows, those that were like earlier ones are missing.
    """
    log = ledger.log if isinstance(ledger, GradientLedger) else ledger
    book = _Book(log)
    found: list[TraceEvent] = []
    for event in _joined(sorted(log.events, key=lambda one: one.number)):
        found += book.shown(event)
    return found


def _joined(events: Iterable[Event]) -> list[Event]:
    """The events, with clears of one line that follow each other as one: some left None and some zeros."""
    found: list[Event] = []
    for event in events:
        last = found[-1] if found else None
        if isinstance(event, Clear) and isinstance(last, Clear) and event.where is not None:
            if event.where == last.where and not {*event.names} & {*last.names}:
                found[-1] = replace(last, names=(*last.names, *event.names))
                continue
        found.append(event)
    return found


class _Book:
    """What must be remembered from event to event: steps taken, and which gradients a step has used."""

    def __init__(self, log: Log) -> None:
        self._place = {one.name: at for at, one in enumerate(log.parameters)}
        self._owners = {one.name: one.owners or (_BY_HAND,) for one in log.parameters}
        self._taken: Counter[int] = Counter()
        self._held: dict[str, str] = {}
        """`fresh` or `used`, by name; what holds nothing is not in it."""

    def shown(self, event: Event) -> list[TraceEvent]:
        """The event as it stands in a trace: nothing, one entry, or two."""
        if isinstance(event, Edit):
            return self._assigned(event)
        if type(event) not in _SHOWN:
            return []
        if isinstance(event, Step):
            return [self._step(event)]
        kind = _SHOWN[type(event)]
        if isinstance(event, (Forward, Backward)):
            return [self._entry(kind, event, ())]
        return [self._entry(kind, event, event.names)] if event.names else []

    def _step(self, event: Step) -> TraceEvent:
        names = {*event.names, *event.none, *event.zeros, *event.stale, *event.skipped}
        optimizer = _BY_HAND if event.optimizer is None else event.optimizer
        window = self._taken[optimizer]
        self._taken[optimizer] = max(window, event.window) + 1
        entry = self._entry("step", event, names)
        return {**entry, "window": max(window, event.window)}

    def _assigned(self, event: Edit) -> list[TraceEvent]:
        if event.how != "assigned":
            return []
        used = [name for name in event.names if self._held.get(name) == "used"]
        new = [name for name in event.names if self._held.get(name) != "fresh"]
        entries = [self._entry("clear", event, used)] if used else []
        return entries + ([self._entry("accumulate", event, new)] if new else [])

    def _entry(self, kind: str, event: Event, names: Iterable[str]) -> TraceEvent:
        ordered = sorted(names, key=lambda name: (self._place.get(name, len(self._place)), name))
        optimizers = {owner for name in ordered for owner in self._owners.get(name, (_BY_HAND,))} or set(self._taken)
        window = max((self._taken[one] for one in optimizers), default=0)
        for name in ordered:
            if kind == "accumulate":
                self._held[name] = "fresh"
            elif kind == "clear":
                self._held.pop(name, None)
            elif kind == "step" and name in self._held:
                self._held[name] = "used"
        return {"kind": kind, "step": event.step, "window": window, "names": ordered}
