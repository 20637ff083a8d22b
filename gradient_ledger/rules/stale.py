"""Gradients that a step has used, and that the next backward adds to: why nothing has cleared them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from gradient_ledger.events import Accumulate, Clear, Event, Finding, Place, Step
from gradient_ledger.rules.view import (
    BY_HAND,
    View,
    Window,
    finding,
    named_only,
    some,
    steps_of,
    times,
    unrun_clear,
    vain_clear,
)


def added(view: View) -> Iterator[Finding]:
    """Gradients added onto ones that a step has already used."""
    for optimizer, windows in view.windows.items():
        names = view.owned.get(optimizer, frozenset())
        faulty: list[tuple[Window, Event]] = []
        for window in windows:
            mixed = set(window.step.mixed.get("used", ()))
            events = [e for e in window.of(Accumulate) if mixed & set(e.onto_used)]
            if events:
                faulty.append((window, events[-1]))
        if not faulty:
            continue
        event = faulty[0][1]
        touched = names & {name for w, _ in faulty for name in w.step.mixed["used"]} or names
        case = _Case(view, optimizer, windows, [w for w, _ in faulty], event, frozenset(touched))
        told = next(one for why in _WHY if (one := why(case)) is not None)
        named = named_only(view, "zero_grad") if told.misconception in _NO_CLEAR else None
        yield replace(told, where=named) if named is not None else told


LARGE_SCALE = 256.0
"""A loss scale from which on what is left over from a step is nothing beside what is new."""
_NO_CLEAR = ("never-zeroed", "one-of-two-optimizers-zeroed", "zeroed-once-per-epoch")
"""What a clear without its parentheses may look like."""


@dataclass(frozen=True)
class _Case:
    """One optimizer whose gradients are added to after a step has used them."""

    view: View
    optimizer: int
    windows: list[Window]
    faulty: list[Window]
    """Those in which that happened."""
    event: Event
    """The first of the backward passes that did it."""
    names: frozenset[str]
    """The parameters that it happened to."""

    @cached_property
    def label(self) -> str:
        return self.view.label(self.optimizer)

    @cached_property
    def norms(self) -> list[float]:
        return [w.step.norm for w in self.windows if w.step.norm is not None][:6]

    @cached_property
    def count(self) -> str:
        """In how many windows it happened, in words."""
        return f"{times(max(len(self.faulty), 1), 'backward pass')} of {times(len(self.windows), 'window')}"

    @cached_property
    def seen(self) -> str:
        """What was seen, in half a sentence."""
        norms = ", ".join(f"{norm:.3g}" for norm in self.norms)
        grows = f"; the norm of the gradient at the first steps: {norms}" if len(self.norms) > 1 else ""
        return f"{self.count} added to gradients that an earlier step had used{grows}{self.scaled_down}"

    @cached_property
    def scaled_down(self) -> str:
        """What a scaler makes of them: with what is new it divides what is left by its scale, time and again."""
        scales = [w.step.scale if w.step.by_scaler else None for w in self.faulty]
        least = min((scale for scale in scales if scale), default=0.0)
        if None in scales or least < LARGE_SCALE:
            return ""
        return f". Each time the scaler divided what was left by its scale, {least:g} or more: hardly any of it counted"

    @cached_property
    def some(self) -> str:
        return some(sorted(self.names))

    @cached_property
    def later(self) -> list[Window]:
        """The windows of a later phase, where it happened there alone; then the clears before it say nothing of it."""
        own = [e for e in self.view.of(Clear) if e.full and self.names & set(e.names)]
        return _later_phase(self.windows, self.faulty, own)

    @cached_property
    def phase(self) -> list[Window]:
        return self.later or self.windows

    @cached_property
    def clears(self) -> list[Clear]:
        clears = self.view.of(Clear)
        return [e for e in clears if e.number > self.later[0].events[0].number] if self.later else clears

    @cached_property
    def first_step(self) -> int:
        """The number of the first step's event."""
        return self.phase[0].step.number

    @cached_property
    def whole(self) -> frozenset[str]:
        """All that the optimizer holds, and what it happened to."""
        return self.view.owned.get(self.optimizer, frozenset()) | self.names

    @cached_property
    def touching(self) -> list[Clear]:
        """Clears of what it happened to."""
        return [e for e in self.clears if self.names & set(e.names)]

    @cached_property
    def regular(self) -> list[Clear]:
        """Those behind the first step that cleared something."""
        return [e for e in self.touching if e.number > self.first_step and e.full]

    @cached_property
    def once(self) -> list[Clear]:
        """Those before it, at a line of the user's own."""
        return [e for e in self.touching if e.where and not e.where.through and e.number < self.first_step]

    @cached_property
    def foreign(self) -> list[Clear]:
        """Clears behind the first step of nothing that the optimizer holds."""
        behind = [e for e in self.clears if e.number > self.first_step and not e.lost]
        return [e for e in behind if not self.whole & set(e.names)]

    @cached_property
    def in_vain(self) -> list[Clear]:
        """Those of a target, or of a frozen model, that found nothing to clear."""
        owned = self.view.owned.items()
        held = frozenset(name for number, mine in owned if number != BY_HAND for name in mine)
        return [e for e in self.foreign if not e.full and not held & set(e.names)]

    @cached_property
    def often(self) -> int:
        """As many clears as there are for most steps."""
        return max(1, (len(self.phase) - 1) // 2)

    @cached_property
    def used_at(self) -> Place | None:
        """The line of the step that had used them: a clear belongs behind it."""
        mixed = set(self.faulty[0].step.mixed["used"])
        earlier = [e for e in self.view.of(Step) if e.number < self.event.number and mixed & {*e.names, *e.stale}]
        return earlier[-1].where if earlier else None

    def told(self, name: str, where: Place | None, text: str, remedy: str = "", **more: Place | None) -> Finding:
        """A finding with the numbers of this case."""
        return finding(
            name,
            "error",
            where,
            text,
            remedy,
            steps=steps_of(self.faulty),
            windows=len(self.windows),
            norms=self.norms,
            names=sorted(self.names)[:10],
            used_at=self.used_at,
            **{key: place for key, place in more.items() if place is not None},
        )


def _in_a_closure(case: _Case) -> Finding | None:
    """A closure that goes backward several times in a step, and clears nothing."""
    if not any((w.step.closure_calls or 0) > 1 for w in case.faulty):
        return None
    return case.told(
        "closure-without-zeroing", case.event.where, f"Inside the closure of {case.label}.step, {case.seen}."
    )


def _from_another(case: _Case) -> Finding | None:
    """Another optimizer had used them, and this one took the parameters over."""
    earlier = _handed_over(case.view, case.optimizer, case.faulty)
    if earlier is None:
        return None
    return case.told(
        "never-zeroed",
        case.event.where,
        f"{case.some} still held the gradients that {case.view.label(earlier)} had used when {case.label} took them "
        f"over: {case.count} added to them.",
        "Clear the gradients of a model, or of what is released of it, before another optimizer goes on with it.",
    )


def _inside_another(case: _Case) -> Finding | None:
    """It is stepped by another optimizer, whose clear does not reach it."""
    nested = next((w.step.inside for w in case.faulty if w.step.inside is not None), None)
    if nested is None or case.regular:
        return None
    outer = [e for e in case.clears if e.by == nested] or [e for e in case.clears if e.full]
    return case.told(
        "inner-optimizer-not-cleared",
        outer[-1].where if outer else case.event.where,
        f"{case.label} is stepped by {case.view.label(nested)} in its own step, and holds parameters of its own, which "
        f"nothing clears: {case.seen}.",
    )


def _stepped_too_often(case: _Case) -> Finding | None:
    """It is cleared once a window, and stepped at every micro-batch."""
    partial = _steps_between_clears(case.phase, case.regular)
    quotients = {p.quotient for p in case.view.passes_of(case.phase[0])}
    if not partial or partial not in (case.view.log.window, case.view.divisor(case.optimizer), *quotients):
        return None
    return case.told(
        "step-every-micro-batch",
        case.phase[0].step.where,
        f"{case.label} steps after every micro-batch, and the gradients are cleared after every {partial}: each step uses "
        f"the sum so far. {case.seen[0].upper()}{case.seen[1:]}.",
        "Step under the same condition as the clear: once per window, before it.",
    )


def _others_alone(case: _Case) -> Finding | None:
    """Another optimizer is cleared regularly, and this one is not."""
    since = case.first_step if case.later else 0
    others = _cleared_for_others(case.view, case.optimizer, case.names, since=since)
    if others is None or case.regular or len(case.in_vain) >= case.often:
        return None
    instead = _cleared_in_its_place(case.view, case.optimizer, case.faulty)
    other, place = instead or others
    alone = _adds_alone(case.view, case.optimizer, case.faulty) if instead is None else None
    label, cleared = case.view.label(other), f" ({place.short})" if place is not None else ""
    if case.once and not instead:
        return case.told(
            "one-of-two-optimizers-zeroed",
            case.once[-1].where,
            f"{label} has its gradients cleared{cleared}, again and again; those of {case.label} are cleared here, before "
            f"the first step, and never after it: {case.seen}.",
            f"Clear the parameters of {case.label} in the loop, too, or call zero_grad() of the whole model there.",
        )
    if alone is not None:
        return case.told(
            "one-of-two-optimizers-zeroed",
            alone,
            f"{label} has its gradients cleared{cleared}; those of {case.label}, to which this adds, never are: {case.seen}.",
            f"Clear the parameters of {case.label} before this backward(), or call zero_grad() of the whole model.",
            other_cleared_at=place,
        )
    return case.told(
        "one-of-two-optimizers-zeroed",
        place,
        f"{label} has its gradients cleared here; those of {case.label} never are: {case.seen}.",
        f"Clear the parameters of {case.label} in the same place, or call zero_grad() of the whole model.",
    )


def _another_object(case: _Case) -> Finding | None:
    """A line clears again and again, and none of what is stepped."""
    if not case.foreign or case.regular or len(case.foreign) < case.often:
        return None
    return case.told(
        "zeroed-another-object",
        (case.in_vain if len(case.in_vain) >= case.often else case.foreign)[-1].where,
        f"This line clears, but none of the parameters {case.label} steps: {case.seen}.",
        f"Call zero_grad() on the optimizer that steps ({case.label}) or on its model; one made earlier, or a copy, holds "
        "other parameters.",
    )


def _too_seldom(case: _Case) -> Finding | None:
    """It is cleared, and not for every step."""
    if not case.regular and not (case.once and len(case.phase) > 2):
        return None
    place = (case.regular or case.once)[0].where
    runs = len([e for e in case.touching if e.where == place])
    written = {name for w in case.phase for e in w.of(Accumulate) for name in e.names}
    # Where something else clears the rest, it is told whose clears are too few.
    whose = f", and {case.some} held old gradients in between" if case.names < written else ""
    return case.told(
        "zeroed-once-per-epoch",
        place,
        f"This line cleared {times(runs, 'time')} in {times(len(case.phase), 'step')}{whose}: {case.seen}.",
    )


def _in_part(case: _Case) -> Finding | None:
    """A line clears some of what is stepped, and nothing the others."""
    clears = [e for e in case.clears if e.full and e.number > case.first_step and case.whole & set(e.names)]
    if len(clears) < case.often or clears[-1].where is None:
        return None
    return case.told(
        "never-zeroed",
        clears[-1].where,
        f"This line clears a part of what {case.label} steps, and nothing clears {case.some}: {case.seen}.",
        f"Clear all of it: {case.label}.zero_grad(), or a loop over all groups.",
    )


def _by_name_alone(case: _Case) -> Finding | None:
    """A function clears by its name, and by its text it does not."""
    vain = vain_clear(case.view)
    if vain is None:
        return None
    told = case.told(
        "never-zeroed",
        vain.where,
        f"{vain.name}() clears nothing, by its text, and nothing else clears {case.some}: {case.seen}.",
        f"Call {case.label}.zero_grad(), or set p.grad = None of each parameter: another value of a name changes no gradient.",
    )
    return replace(told, called_at=vain.called_at)


def _never(case: _Case) -> Finding:
    """Nothing clears them."""
    idle = unrun_clear(case.view)
    told = " There is a clear here, and it has never run: its condition was never true." if idle is not None else ""
    return case.told(
        "never-zeroed",
        idle or case.event.where,
        f"Nothing clears {case.some} between the steps: {case.seen}.{told}",
    )


_WHY: tuple[Callable[[_Case], Finding | None], ...] = (
    _in_a_closure,
    _from_another,
    _inside_another,
    _stepped_too_often,
    _others_alone,
    _another_object,
    _too_seldom,
    _in_part,
    _by_name_alone,
    _never,
)
"""Why gradients may be left, in the order in which it is asked: the first that fits is told."""


def _later_phase(windows: list[Window], faulty: list[Window], clears: list[Clear]) -> list[Window]:
    """The windows of another step's line, later than all of these clears, where they hold all that went wrong."""
    later = [w for w in windows if w.step.number >= faulty[0].step.number]
    before = {w.step.where for w in windows if w not in later}
    if not before or before & {w.step.where for w in later} or len(later) < 3:
        return []
    begins = next((w.step.number for w in reversed(windows) if w not in later), 0)
    return [] if any(e.number > begins for e in clears) else later


def _handed_over(view: View, optimizer: int, faulty: list[Window]) -> int | None:
    """The optimizer that had used the old gradients in all of these windows, and that had finished before the first."""
    steps = view.of(Step)
    users: set[int | None] = set()
    for window in faulty:
        mixed = set(window.step.mixed["used"])
        first = next(e.number for e in window.of(Accumulate) if mixed & set(e.onto_used))
        before = [one.optimizer for one in steps if one.number < first and mixed & {*one.names, *one.stale}]
        users.add(before[-1] if before else optimizer)
    (other, *more) = users
    if more or other is None or other == optimizer:
        return None
    return other if view.windows[other][-1].step.number < faulty[0].step.number else None


def _steps_between_clears(windows: list[Window], clears: list[Clear]) -> int:
    """How many steps lie between two clears, where that is the same number from 2 on, most of the time, and never more;
    else 0."""
    numbers = [w.step.number for w in windows]
    at = sorted({bisect(numbers, clear.number) for clear in clears})
    gaps = [b - a for a, b in zip(at, at[1:], strict=False)]
    most = max(gaps, default=0)
    return most if len(at) > 2 and most > 1 and 3 * gaps.count(most) >= 2 * len(gaps) else 0


def _cleared_for_others(
    view: View, optimizer: int, names: frozenset[str], since: int
) -> tuple[int, Place | None] | None:
    """Another optimizer that steps and whose own gradients are cleared regularly since then, and where."""
    for other, windows in view.windows.items():
        if other in (optimizer, BY_HAND) or len(windows) < 2:
            continue
        if windows[-1].step.number < view.windows[optimizer][0].step.number:
            continue  # it had finished before
        theirs = view.owned.get(other, frozenset()) - names
        cleared = [
            e
            for e in view.after(max(since, windows[0].step.number))
            if isinstance(e, Clear) and theirs & set(e.names) and e.full
        ]
        if cleared:
            return other, cleared[0].where
    return None


def _cleared_in_its_place(view: View, optimizer: int, faulty: list[Window]) -> tuple[int, Place | None] | None:
    """Another optimizer whose gradients are cleared right before the backward passes of this one, after its own step or
    its own clear, at a line that is not the one that clears them for its own passes: a line that was copied."""
    mine = view.owned.get(optimizer, frozenset())
    found: list[tuple[int, Place | None]] = []
    for window in faulty:
        own = [e.number for e in window.of(Accumulate) if mine & set(e.names)]
        before = [e for e in window.events if own and e.number < own[-1] and isinstance(e, (Accumulate, Clear, Step))]
        last = before[-1] if before else None
        again = next((two for one, two in pairwise(before) if _clears_again(one, two)), None)
        if isinstance(again, Clear) and again.by is not None and again.by != optimizer:
            found.append((again.by, again.where))
            continue
        if not isinstance(last, Clear) or last.by in (None, optimizer):
            continue
        stepped = any(isinstance(e, Step) and e.optimizer == last.by for e in before)
        elsewhere = any(isinstance(e, Clear) and e.by == last.by and e.where != last.where for e in before)
        if stepped and elsewhere and last.by is not None:
            found.append((last.by, last.where))
    return found[0] if len(set(found)) == 1 and len(found) * 2 > len(faulty) else None


def _clears_again(one: Event, two: Event) -> bool:
    """Whether the second of two events clears what the first has just cleared, at another line."""
    return isinstance(one, Clear) and isinstance(two, Clear) and one.by == two.by and one.where != two.where


def _adds_alone(view: View, optimizer: int, faulty: list[Window]) -> Place | None:
    """The line whose passes, after a step and with no clear since, add to the gradients of this one: what it misses is
    missed there, and not where the others' are cleared."""
    mine = view.owned.get(optimizer, frozenset())
    found: list[Place | None] = []
    for window in faulty:
        told = [e for e in window.events if isinstance(e, (Accumulate, Clear, Step)) and e is not window.step]
        begun = next((n for n, e in reversed([*enumerate(told)]) if isinstance(e, Step)), None)
        since = told[begun + 1 :] if begun is not None else told  # a window begins behind a step, too: its own last
        if since and all(isinstance(e, Accumulate) for e in since) and mine & set(since[0].names):
            found.append(since[0].where)
    return found[0] if len(set(found)) == 1 and len(found) * 2 > len(faulty) else None
