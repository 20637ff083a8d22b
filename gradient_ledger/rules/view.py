"""What every rule starts from: the events sorted into the windows of each optimizer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gradient_ledger.events import Event, Finding, Log, Place, Severity

BY_HAND = -1
"""Number that stands for steps written by hand, without an optimizer."""


@dataclass(frozen=True)
class Window:
    """All events between two steps of one optimizer, and the step that ends it."""

    optimizer: int
    number: int
    events: tuple[Event, ...]
    step: Event
    names: frozenset[str]
    """Parameters of that optimizer."""
    meant: int | None = None
    """Micro-batches meant per step, as the user said."""

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.events if event.kind == kind]

    @property
    def skipped(self) -> bool:
        return self.step.kind == "skipped step"

    def get(self, key: str, default: Any = None) -> Any:
        return self.step.details.get(key, default)

    @property
    def passes(self) -> int:
        """Backward passes in the gradient that was used."""
        return int(self.get("passes", 0))

    @property
    def micro_batches(self) -> int:
        """Micro-batches in it. Two losses that each have a backward line of their own are not two micro-batches.

        Lines that ran equally often are losses side by side; one that ran less often is the last micro-batch of a
        loop that treats it apart, as loops with `no_sync` do.
        """
        if self.meant is not None and self.passes == self.meant:
            return self.passes
        counts = Counter(self.get("trails", ()))
        return max(counts.values(), default=0) if len(set(counts.values())) == 1 else self.passes


@dataclass
class View:
    """The log, and what several rules need from it."""

    log: Log
    by_pass: dict[int, Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_pass = {e.details["pass"]: e for e in self.events if e.kind == "backward" and "pass" in e.details}

    @cached_property
    def events(self) -> tuple[Event, ...]:
        return tuple(sorted(self.log.events, key=lambda event: event.number))

    @cached_property
    def owned(self) -> dict[int, frozenset[str]]:
        """Names of the parameters each optimizer holds."""
        names: dict[int, set[str]] = {entry.number: set() for entry in self.log.optimizers}
        for parameter in self.log.parameters:
            for owner in parameter.owners:
                names.setdefault(owner, set()).add(parameter.name)
        names[BY_HAND] = {p.name for p in self.log.parameters if not p.owners}
        return {number: frozenset(found) for number, found in names.items()}

    @cached_property
    def windows(self) -> dict[int, list[Window]]:
        """The windows of each optimizer that stepped, in order; skipped steps end a window too."""
        found: dict[int, list[Window]] = {}
        begun = {entry.number: entry.first_event for entry in self.log.optimizers}
        start: dict[int, int] = {
            number: next((at for at, event in enumerate(self.events) if event.number >= first), 0)
            for number, first in begun.items()
        }
        for at, event in enumerate(self.events):
            if event.kind not in ("step", "skipped step"):
                continue
            number = event.details.get("optimizer")
            number = BY_HAND if number is None else int(number)
            mine = found.setdefault(number, [])
            events = self.events[start.get(number, 0) : at]
            mine.append(Window(number, len(mine), events, event, self.owned.get(number, frozenset()), self.log.window))
            start[number] = at + 1
        return found

    @cached_property
    def all_windows(self) -> list[Window]:
        return sorted((w for mine in self.windows.values() for w in mine), key=lambda w: w.step.number)

    def after(self, number: int) -> tuple[Event, ...]:
        """Events after that event number."""
        return tuple(event for event in self.events if event.number > number)

    def label(self, optimizer: int) -> str:
        """How a report calls an optimizer."""
        for entry in self.log.optimizers:
            if entry.number == optimizer:
                return entry.label
        return "the hand-written step"

    def size(self, optimizer: int) -> int:
        """Micro-batches per window as meant: as the user said, else what most whole windows hold; 0 where unclear."""
        if self.log.window:
            return self.log.window
        counts = Counter(w.micro_batches for w in self.windows.get(optimizer, []) if w.micro_batches)
        if not counts:
            return 0
        size, often = counts.most_common(1)[0]
        return size if often * 2 > sum(counts.values()) else 0


def finding(
    misconception: str,
    severity: Severity,
    where: Place | None,
    text: str,
    remedy: str,
    **evidence: Any,
) -> Finding:
    """A finding whose evidence starts with its sentence."""
    return Finding(misconception, severity, where, {"text": text, **evidence}, remedy)


def first(events: Iterable[Event]) -> Event | None:
    return next(iter(events), None)


def steps_of(windows: Sequence[Window]) -> list[int]:
    """Numbers of the steps, at most ten of them."""
    return [window.number for window in windows][:10]


def some(names: Iterable[str], most: int = 3) -> str:
    """A few names in a sentence: `a, b, c and 4 more`."""
    every = list(dict.fromkeys(names))
    if len(every) <= most:
        return " and ".join([", ".join(every[:-1]), every[-1]]) if len(every) > 1 else "".join(every)
    return f"{', '.join(every[:most])} and {len(every) - most} more"


def times(count: int, noun: str) -> str:
    """`1 step`, `3 steps`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}es" if noun.endswith(("s", "sh", "ch")) else f"{count} {noun}s"
