"""What every rule starts from: the events sorted into the windows of each optimizer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from gradient_ledger.catalogue import misconception
from gradient_ledger.events import (
    Accumulate,
    Backward,
    Clear,
    Ending,
    Event,
    Finding,
    Forward,
    Log,
    ParameterFacts,
    Place,
    Severity,
    SkippedStep,
    Step,
    Uncalled,
    VainClear,
)

E = TypeVar("E", bound=Event)

LOOKED_AT = 60
"""Backward passes up to which it is asked what a loss was divided by, and how many forwards it holds."""
LEAST = 3
"""A loss divided by 2 is as often a half of something as one of two micro-batches."""
SETTLED = 8
"""Steps that are no accident of a short run."""
BY_HAND = -1
"""Number that stands for steps written by hand, without an optimizer."""


@dataclass(frozen=True)
class Window:
    """All events between two steps of one optimizer, and the step that ends it."""

    optimizer: int
    number: int
    events: tuple[Event, ...]
    step: Ending
    names: frozenset[str]
    """Parameters of that optimizer."""
    meant: int | None = None
    """Micro-batches meant per step, as the user said."""

    def of(self, kind: type[E]) -> list[E]:
        """Its events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def skipped(self) -> bool:
        return isinstance(self.step, SkippedStep)

    def whole_forwards(self) -> int:
        """How often the model ran in it to be trained, that ran least often of those that ran for each of its passes."""
        runs = Counter(e.model for e in self.of(Forward) if e.grad and e.training)
        return min((often for often in runs.values() if often >= len(self.of(Backward))), default=0)

    def most_forwards(self) -> int:
        """How often the busiest model ran in it to be trained."""
        runs = Counter(e.model for e in self.of(Forward) if e.grad and e.training)
        return max(runs.values(), default=0)

    @property
    def passes(self) -> int:
        """Backward passes in the gradient that was used."""
        return self.step.passes

    @property
    def micro_batches(self) -> int:
        """Micro-batches in it. Two losses that each have a backward line of their own are not two micro-batches.

        Lines that ran equally often are losses side by side; one that ran less often is the last micro-batch of a
        loop that treats it apart, as loops with `no_sync` do.
        """
        if self.meant is not None and self.passes == self.meant:
            return self.passes
        counts = Counter(self.step.trails)
        return max(counts.values(), default=0) if len(set(counts.values())) == 1 else self.passes


@dataclass
class View:
    """The log, and what several rules need from it."""

    log: Log
    by_pass: dict[int, Backward] = field(default_factory=dict)
    """Every backward pass by its number."""

    def __post_init__(self) -> None:
        self.by_pass = {event.pass_number: event for event in self.of(Backward)}

    @cached_property
    def events(self) -> tuple[Event, ...]:
        return tuple(sorted(self.log.events, key=lambda event: event.number))

    def of(self, kind: type[E]) -> list[E]:
        """All events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @cached_property
    def owned(self) -> dict[int, frozenset[str]]:
        """Names of the parameters each optimizer holds. What events say of a name is said of the parameter that gets
        gradients: where a layer was replaced, not of the old one of that name."""
        names: dict[int, set[str]] = {entry.number: set() for entry in self.log.optimizers}
        living = {p.name for p in self.log.parameters if p.deposits}
        for parameter in self.log.parameters:
            for owner in parameter.owners if parameter.deposits or parameter.name not in living else ():
                names.setdefault(owner, set()).add(parameter.name)
        names[BY_HAND] = {p.name for p in self.log.parameters if not p.owners}
        return {number: frozenset(found) for number, found in names.items()}

    @cached_property
    def windows(self) -> dict[int, list[Window]]:
        """The windows of each optimizer that stepped by gradients, in order; skipped steps end a window too."""
        found: dict[int, list[Window]] = {}
        begun = {entry.number: entry.first_event for entry in self.log.optimizers}
        start: dict[int, int] = {
            number: next((at for at, event in enumerate(self.events) if event.number >= first), 0)
            for number, first in begun.items()
        }
        others = {entry.number for entry in self.log.optimizers if entry.without_gradients}
        for at, event in enumerate(self.events):
            if not isinstance(event, Ending) or event.optimizer in others:
                continue
            number = BY_HAND if event.optimizer is None else event.optimizer
            mine = found.setdefault(number, [])
            events = self.events[start.get(number, 0) : at]
            mine.append(Window(number, len(mine), events, event, self.owned.get(number, frozenset()), self.log.window))
            start[number] = at + 1
        return found

    @cached_property
    def all_windows(self) -> list[Window]:
        return sorted((w for mine in self.windows.values() for w in mine), key=lambda w: w.step.number)

    def passes_of(self, window: Window) -> list[Backward]:
        """The backward passes in the gradient that ended a window."""
        return [self.by_pass[n] for n in window.step.pass_numbers if n in self.by_pass]

    @cached_property
    def conditions(self) -> frozenset[str]:
        """The conditions that steps were taken under, as they are written."""
        return frozenset(
            w.step.condition.replace("(", "").replace(")", "") for w in self.all_windows if w.step.condition
        )

    def first_at(self, where: Place | None) -> Backward | None:
        """The first backward pass of a line."""
        return self._first_at.get(where)

    @cached_property
    def _first_at(self) -> dict[Place | None, Backward]:
        return {one.where: one for one in reversed(self.of(Backward))}

    @cached_property
    def lenders(self) -> dict[str, str]:
        """Parameters in no optimizer whose gradients the user's code has read, by the parameter of the same name and
        shape which an optimizer steps by a gradient that was put there: as a worker's, beside those of a shared model."""
        given = {p.name: p for p in self.log.parameters if p.given and p.owners}
        mine = [p for p in self.log.parameters if p.deposits and not p.owners and (p.read or p.lent)] if given else []
        return {other.name: one.name for one in mine for other in given.values() if _is_copy(one, other)}

    def looked_at(self, windows: Sequence[Window]) -> list[Backward]:
        """The passes of the first windows whose losses were looked at."""
        return [one for w in windows[:10] for one in self.passes_of(w) if one.pass_number <= LOOKED_AT]

    def behind(self, window: Window) -> tuple[list[Backward], frozenset[str]]:
        """The backward passes behind the gradients that a step used, and the parameters that these were computed for:
        its own, or where its code put the gradients there, those of the model which it has them from."""
        passes = self.passes_of(window)
        if passes or not window.step.assigned:
            return passes, window.names
        names = frozenset(mine for its, mine in self.lenders.items() if its in window.names)
        reached = {one.pass_number for one in window.of(Accumulate) if names & set(one.names)}
        return [one for one in window.of(Backward) if one.pass_number in reached], names

    def after(self, number: int) -> tuple[Event, ...]:
        """Events after that event number."""
        return tuple(event for event in self.events if event.number > number)

    def label(self, optimizer: int) -> str:
        """How a finding calls an optimizer: one of several with the line where it was made."""
        for entry in self.log.optimizers:
            if entry.number == optimizer:
                several = len(self.log.optimizers) > 1 and entry.made_at is not None
                return f"{entry.label} ({entry.made_at.short})" if several and entry.made_at else entry.label
        return "the hand-written step"

    def made_at(self, optimizer: int) -> Place | None:
        """The line that made an optimizer."""
        return next((entry.made_at for entry in self.log.optimizers if entry.number == optimizer), None)

    def name(self, optimizer: int) -> str:
        """Its label alone."""
        return next((entry.label for entry in self.log.optimizers if entry.number == optimizer), self.label(optimizer))

    def divisor(self, optimizer: int) -> int:
        """The constant by which every mean loss of this optimizer was divided, as far as that was looked at; or 0."""
        looked_at = self.looked_at(self.windows.get(optimizer, []))
        found = {None if one.undivided else one.divisor for one in looked_at}
        by = found.pop() if len(found) == 1 else None
        return int(by) if by else 0

    def repeats(self, optimizer: int) -> bool:
        """Whether all that an optimizer holds is stepped by another one in between, while another model is trained and
        held by none: it may have been given the one in the place of the other. The other one is of the same shape, or
        both optimizers hold the very same."""
        mine = [p for p in self.log.parameters if optimizer in p.owners]
        left_out: dict[str, list[tuple[int, ...]]] = {}
        for p in self.log.parameters:
            if (p.training or p.trained) and p.is_parameter and p.deposits and not p.owners:
                left_out.setdefault(p.model, []).append(p.shape)
        if not left_out or not mine or any(len(p.owners) < 2 for p in mine):
            return False
        others = {owner for p in mine for owner in p.owners} - {optimizer}
        theirs = [p for p in self.log.parameters if not others.isdisjoint(p.owners)]
        if sorted(p.shape for p in mine) not in map(sorted, left_out.values()) and theirs != mine:
            return False
        windows = self.windows.get(optimizer, [])
        between = sum(any(e.optimizer in others for e in w.of(Step)) for w in windows)
        return 2 * between > len(windows)

    def gave_up(self, window: Window) -> bool:
        """Whether a training forward in it was never followed by a backward: a batch was given up. A model that runs
        several times for a batch, does so in each window."""
        return window.whole_forwards() > len(window.of(Backward)) * self._forwards_a_pass[window.optimizer]

    @cached_property
    def _forwards_a_pass(self) -> dict[int, int]:
        """How often a model runs for a backward pass, where it runs least often, at least once; for each optimizer."""
        return {
            optimizer: max(
                1, min((w.whole_forwards() // len(w.of(Backward)) for w in windows if w.of(Backward)), default=1)
            )
            for optimizer, windows in self.windows.items()
        }

    def size(self, optimizer: int) -> int:
        """Micro-batches per window as meant: as the user said; else what the condition of the steps counts to, if that is
        what the largest windows hold; else what most whole windows hold, or that count, if some hold it; 0 where unclear."""
        if self.log.window:
            return self.log.window
        windows = [w for w in self.windows.get(optimizer, []) if w.micro_batches]
        counts = Counter(w.micro_batches for w in [w for w in windows if not self.gave_up(w)] or windows)
        if not counts:
            return 0
        size, often = counts.most_common(1)[0]
        read = {w.step.counted_to for w in windows if w.step.counted_to}
        told = read.pop() if len(read) == 1 and read <= counts.keys() else 0
        # Several losses of a batch are as many passes, and make windows larger than the count.
        if often * 2 > sum(counts.values()) and told != max(counts):
            return size
        return told


def has_run(view: View, place: Place) -> bool:
    """Whether anything was seen to happen in the function that a line stands in: a file may hold several."""
    return any(
        e.where is not None and (e.where.file, e.where.function) == (place.file, place.function) for e in view.events
    )


def named_only(view: View, method: str) -> Place | None:
    """The first statement, in a function that has run, that names such a method and does not call it."""
    return next((one.where for one in not_called(view) if one.name.rpartition(".")[2] == method), None)


def not_called(view: View) -> list[Uncalled]:
    """The methods that statements name and do not call, in functions that have run."""
    return [one for one in view.log.named_only if has_run(view, one.where)]


def unrun_clear(view: View) -> Place | None:
    """The first line of the text with a clear under a condition, in a function that has run, none of which has."""
    run = {(e.where.file, e.where.line) for e in view.of(Clear) if e.where is not None}
    written = [one for one in view.log.clears_under if has_run(view, one)]
    return written[0] if written and not any((one.file, one.line) in run for one in written) else None


def vain_clear(view: View) -> VainClear | None:
    """The first function that clears gradients by its name and none by its text, and is called where something ran."""
    return next((one for one in view.log.clears_in_vain if has_run(view, one.called_at)), None)


def chosen_at(view: View, names: Iterable[str]) -> Place | None:
    """Where it was chosen what the one optimizer is given that holds others of the models which these parameters are of:
    the line that filters or groups them, or else the one that makes it."""
    models = {p.model for p in view.log.parameters if p.name in set(names)}
    owners = {number for p in view.log.parameters if p.model in models for number in p.owners}
    made = [e for e in view.log.optimizers if owners == {e.number}]
    return made[0].filtered_at or made[0].grouped_at or made[0].made_at if made else None


def finding(
    name: str,
    severity: Severity,
    where: Place | None,
    text: str,
    remedy: str = "",
    **evidence: Any,
) -> Finding:
    """A finding whose evidence starts with its sentence. Its remedy is the catalogue's unless the rule has a better."""
    return Finding(name, severity, where, {"text": text, **evidence}, remedy or misconception(name).mend)


def _is_copy(one: ParameterFacts, other: ParameterFacts) -> bool:
    """Whether two parameters stand in the same place of two models, by their names and their shape."""
    mine, its = one.name.split("."), other.name.split(".")
    return one.shape == other.shape and mine[-2:] == its[-2:] and one.model != other.model


def accumulates_after(window: Window, event: Event) -> bool:
    """Whether more was added onto the same gradients after that event, before the step."""
    names = set(event.names)
    for later in window.events:
        if later.number <= event.number:
            continue
        if isinstance(later, Clear) and names & set(later.names):
            return False
        if isinstance(later, Accumulate) and later.onto_fresh and names & set(later.names):
            return True
    return False


def first(events: Iterable[E]) -> E | None:
    return next(iter(events), None)


def steps_of(windows: Sequence[Window]) -> list[int]:
    """Numbers of the steps, at most ten of them."""
    return [window.number for window in windows][:10]


def steps_taken(view: View, optimizer: int, windows: Sequence[Window]) -> int:
    """How many steps an optimizer took, those of windows that are not kept included, and those that were skipped."""
    return max([len(windows), *(e.steps for e in view.log.optimizers if e.number == optimizer)])


def most_steps(view: View) -> int:
    """How many steps the optimizer took that took the most."""
    return max((steps_taken(view, optimizer, windows) for optimizer, windows in view.windows.items()), default=0)


def is_divided(one: Backward, by: int) -> bool:
    """Whether a loss is divided by a number as a whole, as far as its graph was looked at."""
    return by in (one.divisor, one.quotient, *one.shares)


def some(names: Iterable[str], most: int = 3) -> str:
    """A few names in a sentence: `a, b, c and 4 more`."""
    every = list(dict.fromkeys(names))
    if len(every) <= most:
        return " and ".join([", ".join(every[:-1]), every[-1]]) if len(every) > 1 else "".join(every)
    return f"{', '.join(every[:most])} and {len(every) - most} more"


def getting(names: Iterable[str]) -> str:
    """Who gets gradients: `a gets gradients`, `a and b get gradients`."""
    every = list(dict.fromkeys(names))
    return f"{some(every)} get{'s' if len(every) == 1 else ''} gradients"


def times(count: int, noun: str) -> str:
    """`1 step`, `3 steps`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}es" if noun.endswith(("s", "sh", "ch")) else f"{count} {noun}s"
