"""The journal of one ledger: events as they are written, and the windows of a long run that are kept."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from torch import Tensor

from gradient_ledger import conditions
from gradient_ledger.account import Account
from gradient_ledger.events import Ending, Event, Place, Trail

KEPT = 400
"""Windows whose events are all kept; later ones are kept if they differ from all those before."""
ALIKE = 8
"""How many later windows of one shape are kept."""

MARKS = {
    "onto_used",
    "onto_skipped",
    "moved",
    "lost",
    "idle_edits",
    "overwrote",
    "stale",
    "again",
    "crossed",
    "forwards",
    "rounded",
    "undivided",
    "unfilled",
    "evaluated",
    "rescaled",
    "scheduled_at",
    "against",
    "made_for",
}
"""Fields whose being set makes a window unlike others with the same events."""


class Draft:
    """An event being written: what will be the fields of its class, with accounts in place of names."""

    __slots__ = ("accounts", "depth", "fields", "idle", "kind", "number", "place", "step", "thread", "trail", "window")

    def __init__(
        self,
        kind: type[Event],
        number: int,
        place: Place | None,
        step: int,
        window: int,
        thread: int,
        accounts: list[Account],
        fields: dict[str, Any],
    ):
        self.kind, self.number, self.place = kind, number, place
        self.step, self.window, self.thread = step, window, thread
        self.accounts, self.fields = accounts, fields
        self.depth = 0
        """For a step: how many steps are under way with it, one inside another."""
        self.trail: Trail = ()
        """For a step: who called for it, innermost first."""
        self.idle: dict[Account, Tensor] | None = None
        """For a step under way: parameters with a gradient of zeros, as they were before it."""

    def event(self) -> Event:
        """The event, with names in place of accounts: a parameter's name may become known late."""
        if self.place is not None and issubclass(self.kind, Ending):
            self.fields |= conditions.of_step(self.place, self.trail)
        return self.kind(
            number=self.number,
            names=tuple(account.name for account in self.accounts),
            step=self.step,
            window=self.window,
            where=self.place,
            thread=self.thread,
            **{key: _named(value) for key, value in self.fields.items()},
        )


def copy_of(draft: Draft, windows: int, passes: int, events: int = 0) -> Draft:
    """The same event so many windows later, each of so many passes and events."""
    fields, passed = dict(draft.fields), windows * passes
    if "pass_number" in fields:
        fields["pass_number"] += passed
    if "pass_numbers" in fields:
        fields["pass_numbers"] = tuple([number + passed for number in fields["pass_numbers"]])
    number, step, window = draft.number + windows * events, draft.step + windows, draft.window + windows
    again = Draft(draft.kind, number, draft.place, step, window, draft.thread, draft.accounts, fields)
    again.depth, again.trail = draft.depth, draft.trail
    return again


def _named(value: Any) -> Any:
    if isinstance(value, Account):
        return value.name
    if isinstance(value, (list, tuple)):
        return tuple(_named(one) for one in value)
    if isinstance(value, dict):
        return {_named(key): _named(one) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, (type, Place)):
        return replace(value, **{one.name: _named(getattr(value, one.name)) for one in fields(value)})
    return value


class Journal:
    """The events of one ledger, in the order in which they began."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.dropped = 0
        """Windows left out because the run was long and they were like earlier ones."""
        self.number = 0
        """Of the next event."""
        self.clipping: Draft | None = None
        """The clip under way, until anything else happens."""
        self.groups: dict[tuple[Any, ...], Draft] = {}
        """Events still open for more parameters; a forward, a backward and a step close them."""
        self._threads: dict[int, int] = {}
        self._shapes: Counter[tuple[Any, ...]] = Counter()
        self._window_start = 0
        self._kept = 0

    def emit(
        self,
        kind: type[Event],
        place: Place | None,
        accounts: Iterable[Account],
        steps: int,
        window: int,
        fields: dict[str, Any],
    ) -> Draft:
        """Begin an event of its own. `steps` were taken before it; `window` is for events without parameters."""
        ident = threading.get_ident()
        thread = self._threads.get(ident)
        if thread is None:
            thread = self._threads[ident] = len(self._threads)
        concerned = list(accounts) if accounts else []
        if concerned and concerned[0].owners:
            window = concerned[0].owners[-1].steps
        draft = Draft(kind, self.number, place, steps, window, thread, concerned, fields)
        self.clipping = None
        self.number += 1
        self.drafts.append(draft)
        return draft

    def happens_now(self, draft: Draft) -> None:
        """Put an event behind all the others: it began before them and happens after them."""
        self.drafts.remove(draft)
        draft.number = self.number
        self.number += 1
        self.drafts.append(draft)

    def close_groups(self) -> None:
        """What happens next is an event of its own."""
        self.groups.clear()

    def window_closed(self) -> None:
        """Forget the events of a window that is like earlier ones, once many are kept."""
        start, self._window_start = self._window_start, len(self.drafts)
        if self._kept < KEPT:
            self._kept += 1
            return
        shape = tuple([_shape(draft) for draft in self.drafts[start:]])
        self._shapes[shape] += 1
        if self._shapes[shape] <= ALIKE:
            self._kept += 1
            return
        self.dropped += 1
        del self.drafts[start:]
        self._window_start = start

    def window(self) -> list[Draft]:
        """The events since the last window was closed."""
        return self.drafts[self._window_start :]

    def repeat(self, window: list[Draft], times: int, passes: int) -> None:
        """The last window, whose events these are, came so many times more, each of so many passes; `number` counts
        them already."""
        shape = tuple([_shape(draft) for draft in window])
        for again in range(1, times + 1):
            if self._kept >= KEPT:
                self._shapes[shape] += 1
                if self._shapes[shape] > ALIKE:
                    self._shapes[shape] += times - again
                    self.dropped += times - again + 1
                    break
            self._kept += 1
            self.drafts += [copy_of(draft, again, passes, len(window)) for draft in window]
        self._window_start = len(self.drafts)

    def files(self) -> list[str]:
        """The files that events came from."""
        return sorted({draft.place.file for draft in self.drafts if draft.place is not None})

    def last(self, *kinds: type[Event]) -> Draft | None:
        """The latest event of these kinds."""
        return next((draft for draft in reversed(self.drafts) if issubclass(draft.kind, kinds)), None)


_UNMARKED: frozenset[str] = frozenset()


def _shape(draft: Draft) -> tuple[Any, ...]:
    place, own = draft.place, draft.fields
    marks = _UNMARKED if MARKS.isdisjoint(own) else frozenset([key for key in MARKS & own.keys() if own[key]])
    return draft.kind, place and (place.file, place.line), marks, own.get("finite", True), own.get("passes")
