"""Bookkeeping of accumulation windows: their size, their loss, their schedule, what moves within one."""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from gradient_ledger.events import (
    Accumulate,
    AverageUpdate,
    Clear,
    DataPass,
    Edit,
    Finding,
    ParameterFacts,
    Place,
    SchedulerStep,
    Step,
)
from gradient_ledger.rules.view import (
    BY_HAND,
    LEAST,
    LOOKED_AT,
    View,
    Window,
    finding,
    some,
    steps_of,
    steps_taken,
    times,
)


def sizes(view: View) -> Iterator[Finding]:
    """Windows of another size than meant."""
    for optimizer, windows in view.windows.items():
        whole = [w for w in windows if w.passes and not w.step.stale and not _stale_inside(w)]
        if len(whole) < 2 and not view.log.window:
            continue
        size = view.size(optimizer) or _divided_for(view, optimizer, whole)
        found = [w.micro_batches for w in whole]
        if not size or not found:
            continue
        if view.log.window == 1:
            yield from _not_single(whole)
            continue
        if size < 2 or set(found) == {1}:
            continue  # a step after every micro-batch is another mistake
        if not view.log.window and (_grow(found) or _are_means([w for w in whole if w.micro_batches != size])):
            continue
        larger = [w for w in whole if w.micro_batches > size]
        smaller = [w for w in whole if w.micro_batches < size]
        across = [w for w in whole if w.micro_batches != size and _over_epochs(w)]
        if _starts_too_short(view, whole, size):
            yield _starts_short(view, whole, size)
        elif larger or across:
            yield from _odd(view, whole, larger, smaller, across, size)
        elif smaller and not _tails(view, whole, smaller):
            if view.log.window or (_gave_up(smaller) and any(w.step.passed_over for w in smaller)):
                yield _misaligned(view, whole, smaller, size)


STAYS = 3
"""Windows of one size, one after the other, from which on the size is one that was chosen."""


def _grow(sizes: list[int]) -> bool:
    """Whether windows change their size for good, each time: a batch that grows as training goes on."""
    runs = _runs(sizes[:-1])  # the last one may have been cut short
    return len(runs) > 1 and len({size for size, _ in runs}) == len(runs) and all(often >= STAYS for _, often in runs)


def _are_means(odd: list[Window]) -> bool:
    """Whether the gradients of windows were divided by how many passes each holds, as far as that was measured."""
    products = [factor * w.passes for w in odd for e in w.of(Edit) for factor in e.factors]
    return bool(products) and all(abs(product - 1) < 1e-3 for product in products)


def _runs(sizes: list[int]) -> list[tuple[int, int]]:
    """Equal sizes that follow each other: the size, and how often."""
    return [(size, len(list(run))) for size, run in groupby(sizes)]


def _divided_for(view: View, optimizer: int, windows: list[Window]) -> int:
    """The size that the losses are divided by, where windows have all sizes, up to larger ones than that, and each step
    waits for a count. A count of the passes would come to the same number each time."""
    by = view.divisor(optimizer)
    counted = all("%" in w.step.condition for w in windows)
    larger = [w for w in windows if w.micro_batches > by and not _over_epochs(w)]
    return by if by >= LEAST and counted and len(larger) > 1 else 0


def _not_single(windows: list[Window]) -> Iterator[Finding]:
    """Steps on several micro-batches where one was meant.

    Several losses of one batch share a forward, or have a line each. Where each has a forward of its own, only a count
    that the step waits for tells that they are not: else it is a note.
    """
    larger = [w for w in windows if w.micro_batches > 1 and w.most_forwards() in (w.micro_batches, 2 * w.micro_batches)]
    if larger:
        sure = all("%" in w.step.condition for w in larger)
        sizes = [w.micro_batches for w in larger]
        yield finding(
            "window-misaligned",
            "error" if sure else "info",
            _condition(larger[0]),
            f"One micro-batch was meant for a step; {times(len(larger), 'step')} used {_list(sizes)}, each with a forward "
            f"and a backward pass of its own{'' if sure else ', if these are not several losses of one batch'}.",
            f"Step after every micro-batch, or say --window {max(sizes)} if that many are meant.",
            sizes=sizes[:40],
            window=1,
            steps=steps_of(larger),
        )


def _over_epochs(window: Window) -> bool:
    """Whether a new pass over the data began while gradients of the last one were waiting."""
    return any(e.pending for e in window.of(DataPass))


def _stale_inside(window: Window) -> bool:
    return any(e.onto_used for e in window.of(Accumulate))


def _odd(
    view: View, windows: list[Window], larger: list[Window], smaller: list[Window], across: list[Window], size: int
) -> Iterator[Finding]:
    sizes = [w.micro_batches for w in windows]
    loaders = bool(view.of(DataPass))
    excess = {w.micro_batches - size for w in larger}
    at = [windows.index(w) for w in larger]
    regular = len({b - a for a, b in zip(at, at[1:], strict=False)}) <= 1
    # What is left over at the end of an epoch makes no window larger that lies within one.
    leaks = (
        bool(across) and all(w in across for w in larger)
        if loaders
        else len(excess) == 1 and max(excess) < size and regular and not smaller
    )
    place = _condition((larger or across)[0])
    if leaks and not _gave_up(larger):
        sure = loaders or bool(view.log.window)
        yield finding(
            "tail-leaks-into-next-epoch",
            "error" if sure else "warning",
            place,
            f"Windows of {size} were meant; the steps used {_list(sizes)}: micro-batches left over at the end of an "
            f"epoch were added to the next one's first window{'' if sure else ', as far as the sizes alone can tell'}.",
            sizes=sizes[:40],
            window=size,
            steps=steps_of(across or larger),
        )
    elif view.log.window or _gave_up(larger + smaller) or (larger and view.divisor(larger[0].optimizer) == size):
        yield _misaligned(view, windows, larger + smaller, size)


def _starts_too_short(view: View, windows: list[Window], size: int) -> bool:
    """Whether the first window is short, and no other that is neither the first nor the last one of an epoch.

    A first window that is short by intention is divided by its own size, or steps at a line of its own.
    """
    first = windows[0]
    if len(windows) < 3 or first.micro_batches >= size or (first.number != 0 and not first.step.restored):
        return False
    epochs = {w.number for w in windows if any(e.number > _begin(w) for e in w.of(DataPass)) or w is first}
    edges = epochs | {number - 1 for number in epochs} | {windows[-1].number}
    if any(w.micro_batches != size and w.number not in edges for w in windows):
        return False
    line = {w.step.where for w in windows}
    alike = {one.divisor for w in windows[:10] for one in view.passes_of(w)}
    begun_before = any(e.lost for e in first.of(Clear)) or any(e.how == "assigned" for e in first.of(Edit))
    return len(line) == 1 and len(alike) == 1 and not begun_before


def _begin(window: Window) -> int:
    return window.events[0].number if window.events else window.step.number


def _starts_short(view: View, windows: list[Window], size: int) -> Finding:
    first, sizes = windows[0], [w.micro_batches for w in windows]
    seen = f"Windows of {size} are usual; the steps used {_list(sizes)}: the first one holds {first.micro_batches}"
    if first.step.restored:
        return finding(
            "resumed-inside-window",
            "error",
            first.step.restored,
            f"{seen}. The state of {view.label(first.optimizer)} was loaded from a checkpoint here: the gradients of the "
            "micro-batches that came before the checkpoint are not in it.",
            sizes=sizes[:40],
            window=size,
        )
    counter = re.fullmatch(r"\(?(\w+)\)? % ([\w.]+) == 0", first.step.condition)
    remedy = f"Test ({counter[1]} + 1) % {counter[2]} == 0: a count that begins at 0 is one behind." if counter else ""
    return finding(
        "window-starts-short",
        "error",
        _condition(first),
        f"{seen}. The test that ends a window is true before the first one is full.",
        remedy,
        sizes=sizes[:40],
        window=size,
    )


def _misaligned(view: View, windows: list[Window], odd: list[Window], size: int) -> Finding:
    sizes = [w.micro_batches for w in windows]
    guarded = [w for w in odd if w.micro_batches > size and _gave_up([w]) and w.step.passed_over]
    if guarded:
        return finding(
            "guard-skips-window-end",
            "error",
            guarded[0].step.passed_over,
            f"Windows of {size} are usual; the steps used {_list(sizes)}: a batch that is given up here can be the last "
            "of its window, and the step is then left out with it.",
            sizes=sizes[:40],
            window=size,
            steps=steps_of(guarded),
        )
    return finding(
        "window-misaligned",
        "error" if view.log.window else "warning",
        _condition(odd[0]),
        f"Windows of {size} were meant; the steps used {_list(sizes)}: the test that ends a window counts something "
        "other than the backward passes.",
        sizes=sizes[:40],
        window=size,
        steps=steps_of(odd),
    )


def _gave_up(windows: list[Window]) -> bool:
    return any(window.gave_up() for window in windows)


def _tails(view: View, windows: list[Window], smaller: list[Window]) -> bool:
    """Whether the small windows are the last of their epochs, which is how it should be."""
    at = [windows.index(w) for w in smaller]
    if bool(view.of(DataPass)):
        ends = {
            w.number
            for w in windows
            if w is windows[-1]
            or any(isinstance(e, DataPass) for e in windows[windows.index(w) + 1].events)
            or not windows[windows.index(w) + 1].events
        }
        return all(w.number in ends for w in smaller)
    if len({w.micro_batches for w in smaller}) > 1 or len(smaller) == len(windows) > 1:
        return False
    gaps = [b - a for a, b in zip([-1, *at], at, strict=False)]
    return len(set(gaps)) == 1 and (at[-1] == len(windows) - 1 or not view.log.finished)


def _condition(window: Window) -> Place | None:
    """The `if` that decides when to step, where the step stands under one: that is the line to mend."""
    return window.step.under or window.step.where


def _list(sizes: list[int], most: int = 10) -> str:
    """Sizes in a sentence; of many, those that follow each other are counted: a first change must not be cut off."""
    parts = [str(size) for size in sizes]
    if len(sizes) > most:
        parts = [f"{often} times {size}" if often > 1 else str(size) for size, often in _runs(sizes)]
    return ", ".join([*parts[:most], *(["…"] if len(parts) > most else [])])


def losses(view: View) -> Iterator[Finding]:
    """Losses that go backward more than once."""
    seen: set[tuple[bool, Place | None]] = set()
    for window in view.all_windows:
        numbers = window.step.pass_numbers
        for number in numbers:
            event = view.by_pass.get(number)
            earlier = list(event.again if event else ())
            counted = [n for n in earlier if n in numbers]
            if event is None or not earlier:
                continue
            before = view.by_pass.get(earlier[0])
            same = before is not None and before.where == event.where
            same_loss = event.same_root in earlier
            if not counted and (not same or same_loss):
                continue
            if (same, event.where) in seen:
                continue
            seen.add((same, event.where))
            if same:
                yield finding(
                    "running-loss-backward",
                    "error",
                    event.where,
                    f"This backward() goes through the losses of {times(len(earlier), 'earlier pass')} again: "
                    "the running sum still carries their graphs, so early micro-batches count several times.",
                    passes=[*earlier, number],
                )
            else:
                yield finding(
                    "loss-backward-twice",
                    "error",
                    event.where,
                    f"The loss of {before.where if before else 'an earlier backward'} is part of this one, and goes "
                    "backward a second time: its gradient is counted twice.",
                    passes=[*earlier, number],
                )


def hooks(view: View) -> Iterator[Finding]:
    """Gradient hooks that are registered again and again."""
    for optimizer, windows in view.windows.items():
        growing = [w for w in windows if w.step.hooks]
        often = len(growing) * 2 >= min(len(windows), 12)
        again = all(w.step.hooks_scale for w in growing)
        if len(growing) >= 3 and (often or len({w.step.hooked_at for w in growing}) == 1):
            counts = [max(w.step.hooks.values()) for w in growing]
            if counts != sorted(set(counts)):
                continue
            yield finding(
                "hook-registered-every-iteration",
                # Now and then: pruning masks, say, may be put on again; a factor may not.
                "error" if often else "warning" if again else "info",
                growing[-1].step.hooked_at,
                f"At the steps of {view.label(optimizer)} a parameter carries {_list(counts)} gradient hooks: each of "
                "them changes the gradient once more.",
                counts=counts[:20],
            )


def late_hooks(view: View) -> Iterator[Finding]:
    """Hooks that were put on in a loop, and find the last value of its variable when they run."""
    for one in view.log.late_hooks if any(view.windows.values()) else ():
        yield finding(
            "hooks-read-the-last-value",
            "warning",
            one.where,
            f"{one.hooks} hooks were put on here while {one.variable} had {one.values} values. Each looks it up when it "
            "runs, which is at a later backward(): all of them then find the last one.",
            variable=one.variable,
            hooks=one.hooks,
        )


def schedulers(view: View) -> Iterator[Finding]:
    """Learning-rate schedulers that run on the wrong clock."""
    for optimizer, windows in view.windows.items():
        events = [e for e in view.of(SchedulerStep) if e.optimizer == optimizer]
        if not events:
            yield from _own_schedule(view, optimizer, windows)
            continue
        one = Counter(e.which for e in events).most_common(1)[0][0]
        events = [e for e in events if e.which == one]  # several may share the work
        middle = [e for e in events if e.pending and not e.told]
        often = len(events) > 1.4 * len(windows) and not _is_over_at_the_end(view, optimizer)
        if len(middle) >= 2 and often and len(middle) * 3 >= len(events):
            yield finding(
                "scheduler-every-micro-batch",
                "warning",
                middle[0].where,
                f"The scheduler stepped {times(len(events), 'time')} for {times(len(windows), 'optimizer step')}, "
                f"{len(middle)} of them in the middle of a window: the learning rate moves too fast.",
                scheduler_steps=len(events),
                optimizer_steps=len(windows),
            )
        after = [e for e in events if e.after_skip]
        if after and len(events) * 2 >= len(windows):
            yield finding(
                "scheduler-after-skipped-step",
                "warning",
                after[0].where,
                f"The scaler skipped {times(sum(w.skipped for w in windows), 'step')}, and the scheduler stepped "
                f"after {len(after)} of them: the learning rate moved although the parameters did not.",
                skipped=sum(w.skipped for w in windows),
            )


def _own_schedule(view: View, optimizer: int, windows: list[Window]) -> Iterator[Finding]:
    """A schedule of the user's own that moves on with each micro-batch, in a loop that the step stands outside of."""
    hits = [w for w in windows if w.step.scheduled_at is not None]
    if len(hits) > 1 and not _is_over_at_the_end(view, optimizer):
        yield finding(
            "scheduler-every-micro-batch",
            "warning",
            hits[0].step.scheduled_at,
            f"The schedule moves on here in the loop over the micro-batches, and {view.label(optimizer)} steps after it: "
            f"its learning rate was another one at {times(sum(w.step.moved_rates for w in hits), 'pass')} in the middle of "
            f"{times(len(hits), 'window')}, which no step has used.",
            steps=steps_of(hits),
            optimizer_steps=len(windows),
        )


def _is_over_at_the_end(view: View, optimizer: int) -> bool:
    """Whether a scheduler of this optimizer took just as many steps as it is made for: by its number of them, or for
    its learning rate comes down to nothing with the last step, and not long before."""
    mine = [one for one in view.log.schedules if one.optimizer == optimizer]
    if any(abs(one.length - one.steps) * 50 <= one.length for one in mine):
        return True
    rates = [w.step.rate or 0.0 for w in view.windows[optimizer]]
    most = max(rates)
    nothing = sum(rate <= 0.02 * most for rate in rates)
    return not view.log.dropped and 0.0 < most >= 10 * rates[-1] and nothing * 8 <= len(rates) + 8


_EPOCH = 5
"""Fewest optimizer steps between two of a scheduler by which it is taken to be stepped once an epoch."""


def schedules(view: View) -> Iterator[Finding]:
    """Schedules that are made for so many steps, and stepped by another clock."""
    taken = {e.number: e.steps for e in view.log.optimizers}
    for one in (one for one in view.log.schedules if one.named):
        steps = taken.get(one.optimizer, 0)
        made = f"{one.scheduler} is made for {one.length} steps"
        if one.steps * _EPOCH <= steps and abs(one.length - steps) * 10 <= steps:
            yield finding(
                "schedule-on-another-clock",
                "warning",
                one.where,
                f"{made}, {view.label(one.optimizer)} took {steps}, and the scheduler {times(one.steps, 'step')}: "
                f"the learning rate goes no further than a schedule's first {one.steps} of {one.length}.",
                length=one.length,
                scheduler_steps=one.steps,
                optimizer_steps=steps,
            )
        elif one.steps >= 2 * one.length and abs(one.steps - steps) * 10 <= steps:
            yield finding(
                "schedule-on-another-clock",
                "warning",
                one.where,
                f"{made}, and took {one.steps}, one with each step of {view.label(one.optimizer)}: the learning rate "
                f"{'rises again' if one.scheduler == 'CosineAnnealingLR' else 'stays at its end'} after {one.length}.",
                length=one.length,
                scheduler_steps=one.steps,
                optimizer_steps=steps,
            )


_NOTHING = 1e-4
"""A learning rate is as good as none below this share of the highest: what it moves is less than rounding hides."""


def used_up(view: View) -> Iterator[Finding]:
    """Schedules that are told in epochs and stepped with each batch, or that leave no learning rate to train with."""
    passes = view.of(DataPass)
    for optimizer, windows in view.windows.items():
        events = [e for e in view.of(SchedulerStep) if e.optimizer == optimizer and not e.told]
        if not events or len({e.which for e in events}) > 1:
            continue
        one, label = events[-1], view.label(optimizer)
        inside = [e for e in passes if one.loop is not None and e.where is not None and _is_at(e.where, one.loop)]
        starts = [bisect([e.number for e in inside], e.number) for e in events]
        most = max(Counter(at for at in starts if at).values(), default=0)
        rates = [w.step.rate for w in windows if w.step.rate is not None]
        told: dict[str, Any] = {"scheduler_steps": len(events), "optimizer_steps": len(windows)}
        once = len(events) * (3 if len(events) <= len(passes) + 1 else 2 * _EPOCH) <= len(windows)
        if one.in_steps and once and len(events) > 1:
            yield finding(
                "schedule-on-another-clock",
                "warning",
                one.where,
                f"The function of this {one.scheduler}, {one.in_steps}, counts steps by its text, and was asked for "
                f"{times(len(events), 'step')} while {label} took {len(windows)}.",
                "Step the schedule right behind the optimizer's step(), in the same loop.",
                **told,
            )
            continue
        if one.in_epochs and most >= _EPOCH and len(events) <= 1.1 * len(windows):
            yield finding(
                "schedule-on-another-clock",
                "warning",
                one.where,
                f"{one.scheduler} is told its time in epochs, {one.in_epochs}, and is stepped with each batch: "
                f"{times(most, 'step')} in one pass over the data.",
                "Step it once an epoch, after the loop over the batches, or give it that many steps instead.",
                **told,
            )
            continue
        if len(rates) < len(windows) or max(rates) <= 0.0 or len(events) * 10 < 9 * len(windows):
            continue
        below = [w for w, rate in zip(windows, rates, strict=True) if rate < 0.0]
        if len(below) > 1:
            yield finding(
                "schedule-on-another-clock",
                "warning",
                one.where,
                f"{one.scheduler} was stepped with each step of {label}, and {len(below)} of {times(len(windows), 'step')} "
                f"were taken at a learning rate below zero, down to {min(rates):.3g}: they go up what they are to go down.",
                "Step the schedule by the clock that it is made for, and let it end at zero.",
                steps=steps_of(below),
                **told,
            )
            continue
        end = next(n for n, rate in enumerate(reversed(rates)) if rate > _NOTHING * max(rates))
        often = passes and len(events) >= _EPOCH * len(passes) and not view.log.dropped
        if one.scheduler in _PIECEWISE and often and end >= 10 and end * 4 >= len(rates):
            yield finding(
                "schedule-on-another-clock",
                "warning",
                one.where,
                f"{one.scheduler} was stepped with each step of {label}, {len(events)} times in "
                f"{times(len(passes), 'pass')} over data: the last {end} of {times(len(windows), 'step')} were taken at "
                f"{rates[-end]:.3g} or less, where the first ones had {max(rates):.3g}.",
                **told,
            )


def idle_schedules(view: View) -> Iterator[Finding]:
    """Schedules of an optimizer that takes no step, while another one steps its parameters at one rate to the end."""
    facts = {one.number: one for one in view.log.optimizers}
    for number in dict.fromkeys(e.optimizer for e in view.of(SchedulerStep)):
        events = [e for e in view.of(SchedulerStep) if e.optimizer == number]
        if number not in facts or facts[number].steps or len({e.rate for e in events}) < 2:
            continue
        stepped = [set(p.stepped_by) for p in view.log.parameters if number in p.owners]
        for other in sorted(set.intersection(*stepped)) if stepped else ():
            later = [w for w in view.windows.get(other, ()) if w.step.number > events[0].number]
            rates = {w.step.rate for w in later}
            if len(later) > 1 and len(rates) == 1 and None not in rates:
                yield finding(
                    "schedule-moves-nothing",
                    "warning",
                    events[0].made_at or events[0].where,
                    f"{events[0].scheduler} moves the learning rate of {view.label(number)}, which took no step: its "
                    f"parameters are stepped by {view.label(other)}, at {rates.pop():.3g} in all of "
                    f"{times(len(later), 'step')} after the schedule had begun.",
                    scheduler_steps=len(events),
                    optimizer_steps=len(later),
                )


def overruled(view: View) -> Iterator[Finding]:
    """Schedules whose rate is set back to another one before each step."""
    for optimizer, windows in view.windows.items():
        events = [e for e in view.of(SchedulerStep) if e.optimizer == optimizer and e.rate is not None]
        numbers = [w.step.number for w in windows]
        last = {bisect(numbers, e.number): e for e in events}  # of several schedules, one goes on from what another set
        pairs = [(e, windows[at].step) for at, e in last.items() if at < len(windows)]
        rates = {step.rate for _, step in pairs}
        if len(pairs) >= _SETTLED and len(rates) == 1 and all(step.rate != e.rate for e, step in pairs):
            yield finding(
                "schedule-moves-nothing",
                "warning",
                view.log.rate_set_at or events[0].where,
                f"{events[0].scheduler} set a rate {times(len(pairs), 'time')}, {pairs[0][0].rate:.3g} at first, and the step of "
                f"{view.label(optimizer)} behind it was taken at {pairs[0][1].rate:.3g} each time: something sets that in between.",
                "Take out the line that sets the rate, or let the schedule begin with that rate.",
                scheduler_steps=len(events),
                optimizer_steps=len(windows),
            )


def rates_for_factors(view: View) -> Iterator[Finding]:
    """A `LambdaLR` whose function returns a learning rate, which is then multiplied with the one there is."""
    for optimizer, windows in view.windows.items():
        events = [e for e in view.of(SchedulerStep) if e.optimizer == optimizer and e.in_rates]
        highest = max((w.step.rate for w in windows if w.step.rate is not None), default=None)
        base = next((e.base for e in events if e.base is not None), None)
        if base is None or highest is None or len(windows) < _SETTLED:
            continue
        if 0 < highest <= 2 * base * base < 0.02 * base:
            yield finding(
                "schedule-factor-is-a-rate",
                "warning",
                events[0].in_rates_at,
                f"{events[0].in_rates} gives a learning rate by its text, and LambdaLR multiplies what it gives with the "
                f"optimizer's own, {base:.3g}: the highest rate of {times(steps_taken(view, optimizer, windows), 'step')} was "
                f"{highest:.3g}.",
                highest=highest,
                base=base,
            )


def never_scheduled(view: View) -> Iterator[Finding]:
    """A scheduler that was made and never stepped, while its optimizer took all its steps at one rate."""
    log = view.log
    passes = Counter(e.where for e in view.of(DataPass))
    for one in log.unstepped_schedules if log.finished and not log.error else ():
        windows = view.windows.get(one.optimizer, ())
        rates = {w.step.rate for w in windows}
        epochs = max(passes.values(), default=0)
        if len(windows) < _SETTLED or len(rates) != 1 or None in rates or (one.said and epochs < _EPOCHS):
            continue
        seen = f"in {times(epochs, 'pass')} over the data" if epochs else "to the end"
        yield finding(
            "schedule-never-stepped",
            "warning",
            one.where,
            f"Nothing called the step() of this {one.scheduler}, nor of another one of {view.label(one.optimizer)}: "
            f"{times(steps_taken(view, one.optimizer, windows), 'step')} were taken at one rate, {rates.pop():.3g}, {seen}.",
            optimizer_steps=steps_taken(view, one.optimizer, windows),
        )


def unscheduled(view: View) -> Iterator[Finding]:
    """A function that sets the learning rate, which no text calls, while all steps were taken at one rate."""
    log = view.log
    sets = log.uncalled_schedule
    if sets is None or not log.finished or log.error or view.of(SchedulerStep) or log.unstepped_schedules:
        return
    rates = {w.step.rate for w in view.all_windows}
    taken = max((steps_taken(view, optimizer, windows) for optimizer, windows in view.windows.items()), default=0)
    if taken >= _SETTLED and len(rates) == 1 and None not in rates:
        yield finding(
            "schedule-never-stepped",
            "warning",
            log.loop_at or sets.where,
            f"Nothing calls {sets.name}() ({sets.where.short}), which sets the learning rate: {times(taken, 'step')} were "
            f"taken at one rate, {rates.pop():.3g}, to the end.",
            f"Call {sets.name}() where the loop begins a new epoch or a new step, as its text counts.",
            optimizer_steps=taken,
        )


_SETTLED, _EPOCHS = 8, 3
"""Steps at one rate, and epochs where the text steps a schedule that this run did not come by, that are no accident of
a short run."""


def first_groups(view: View) -> Iterator[Finding]:
    """A schedule that moves the first group of several, all of which began at one rate."""
    for optimizer, windows in view.windows.items():
        hits = [w for w in windows if isinstance(w.step, Step) and w.step.first_rate_alone]
        if view.log.first_rate_at is not None and len(hits) > 1:
            yield finding(
                "schedule-first-group",
                "warning",
                view.log.first_rate_at,
                f"This line sets the learning rate of the first group alone. All groups of {view.label(optimizer)} began at "
                f"one rate; by step {hits[-1].step.step + 1} the first one was at {hits[-1].step.rate:.3g}, and the others "
                "were where they had begun.",
                steps=steps_of(hits),
            )


STANDS = 4
"""Steps at a learning rate of 0 that are no warm-up's first."""


def at_rest(view: View) -> Iterator[Finding]:
    """An optimizer that takes every step at a learning rate of 0."""
    for optimizer, windows in view.windows.items():
        steps = [w.step for w in windows if isinstance(w.step, Step)]
        if len(steps) < STANDS or not all(step.at_rest for step in steps) or not any(step.fresh for step in steps):
            continue
        schedules = view.of(SchedulerStep)
        own = [e for e in schedules if e.optimizer == optimizer]
        others = [e for e in schedules if e.optimizer not in (optimizer, None)]
        label = view.label(optimizer)
        why = f" Its schedule, {own[0].scheduler}, is at 0 at each of them." if own else ""
        if others and not own:
            labels = some(sorted({view.label(e.optimizer) for e in others if e.optimizer is not None}))
            why = f" No schedule of it was stepped; this line stepped that of {labels}."
        yield finding(
            "stepped-at-rate-zero",
            "warning",
            (own or others)[0].where if own or others else steps[0].where,
            f"{label} took {times(len(steps), 'step')}, each at a learning rate of 0: they moved nothing.{why}",
            steps=[step.step for step in steps][:10],
        )


_PIECEWISE = ("StepLR", "MultiStepLR")
"""Schedulers that lower the rate at certain times, and have no end of their own."""


def _is_at(where: Place, other: Place) -> bool:
    return (where.file, where.line) == (other.file, other.line)


def means(view: View) -> Iterator[Finding]:
    """Notes on how the losses of a window add up; only a reference can tell for certain."""
    for windows in view.windows.values():
        summed = []
        known = 0
        for window in windows:
            passes = view.passes_of(window)
            known += any(p.reduction is not None or p.bare or p.means or p.divisor is not None for p in passes)
            known += any(p.counts for p in passes)
            quiet = not window.of(Edit) and not window.step.assigned and not window.step.hooks
            # What is weighted and summed is a mean as well, but it takes the loss that is shown to say so.
            weighed = window.step.reported is not None
            # One count for all of its passes may be that of the window, which is as it should be.
            counted = len({p.counts for p in passes}) > 1
            plain = all(
                (p.reduction == "mean" or p.means or (weighed and p.bare) or (counted and p.counts))
                and p.divisor is None
                and not p.gradient
                for p in passes
            )
            if window.micro_batches > 1 and passes and quiet and plain and window.step.reference is None:
                summed.append(window)
        if summed and len(summed) * 2 >= known:
            k, shown = summed[0].micro_batches, summed[0].step.reported
            gathered = [w for w in summed if _gathers(w) and view.log.window in (None, w.micro_batches)]
            told = f" The loss that is shown is divided, at {shown}." if shown else ""
            if not told and len(gathered) == len(summed):
                under = f" under {summed[0].step.condition!r}" if "%" in summed[0].step.condition else ""
                told = f" By its text the step{under} is one for all of them."
            counted = any(p.counts for p in view.passes_of(summed[0]))
            if counted and not told:
                continue
            kind = "divided by a count of its own" if counted else "a mean"
            yield finding(
                "loss-not-divided",
                "warning" if told else "info",
                summed[0].step.last_pass_at,
                f"Each of the {k} losses of a window is {kind}, and nothing divides by {k}: if they are micro-batches "
                f"of one batch, the gradient is {k} times its gradient.{told}",
                f"Call (loss / {k}).backward(), or weight each loss by its share; a reference= would settle it.",
                window=k,
            )


def _gathers(window: Window) -> bool:
    """Whether a window is one of micro-batches by the text of its step, all from one line, and nobody steps meanwhile."""
    others = any(isinstance(e, Step) and e.optimizer != window.optimizer for e in window.events)
    return window.step.gathers and len(set(window.step.trails)) == 1 and not others


def forwards(view: View) -> Iterator[Finding]:
    """Several forwards of one call and one backward: all of them in its loss, or all but the last for nothing."""
    for windows in view.windows.values():
        several = [(w, one) for w in windows for one in view.passes_of(w) if one.forwards > 1 and one.held is not None]
        several = [(w, one) for w, one in several if w.passes == 1 and not w.step.closure_calls]
        shallow = [(w, one) for w, one in several if (one.held or 0) < one.forwards]
        counts = {one.forwards for _, one in shallow}
        if len(shallow) > 1 and len(shallow) * 2 >= min(len(windows), LOOKED_AT) and len(counts) == 1:
            (count,) = counts
            # The best of several, or what warms up a state, is chosen on purpose; a division by their number is not,
            # nor is a clear for each of them.
            meant = all(count in (one.divisor, one.last_of) or len(w.of(Clear)) >= count for w, one in shallow)
            # A method that several lines call, as a critic for a target, an advantage and a loss, is no loop.
            if meant or shallow[0][1].looped:
                yield finding(
                    "micro-batches-without-backward",
                    "warning" if meant else "info",
                    shallow[0][1].last_at or shallow[0][1].where,
                    f"One call of the model ran {count} times before each backward(), and the loss holds "
                    f"{shallow[0][1].held} of them: what the others computed was thrown away, in "
                    f"{times(len(shallow), 'window')}.",
                    forwards=count,
                    steps=steps_of([w for w, _ in shallow]),
                )
        else:
            yield from _last_ones(view, windows)
        held = [one for _, one in several if (one.held or 0) >= one.forwards and one.piled]
        if held:
            yield finding(
                "summed-loss-keeps-graphs",
                "info",
                held[0].where,
                f"{times(held[0].forwards, 'forward pass')} and one backward per step: the numbers are right, but the "
                f"graphs of all {held[0].forwards} are in memory at once.",
                forwards=held[0].forwards,
            )


def _last_ones(view: View, windows: list[Window]) -> Iterator[Finding]:
    """The last of several losses, divided as if it were their sum, by the text."""
    hits = [(w, one) for w in windows for one in view.passes_of(w) if one.last_at is not None]
    if len(hits) > 1:
        one = hits[0][1]
        yield finding(
            "micro-batches-without-backward",
            "warning",
            one.last_at,
            f"A loop computes {one.last_of} losses before this backward(), and it goes through the last of them alone, "
            f"divided by {one.last_of} as their sum would be: what the others computed was thrown away, in "
            f"{times(len(hits), 'pass')} looked at.",
            losses=one.last_of,
            steps=steps_of([w for w, _ in hits]),
        )


def unfollowed(view: View) -> Iterator[Finding]:
    """An average or a target network whose update no text calls."""
    log = view.log
    if not log.finished or log.error:
        return
    optimizer, windows = max(view.windows.items(), key=lambda one: len(one[1]), default=(BY_HAND, []))
    taken = steps_taken(view, optimizer, windows) if windows else 0
    names = _copies(view) if log.uncalled_update is not None else []
    if taken < _SETTLED:
        return
    if log.unmoved_average is not None:
        made = log.unmoved_average
        said = f"{made.name} is made at {made.where.short}, and nothing calls an update of it: it is no average of"
    elif log.uncalled_update is not None and len(names) > 1:
        update = log.uncalled_update
        said = (
            f"Nothing calls {update.name}() ({update.where.short}), and nothing else lets {some(names)} follow what is "
            "trained: they are as they were before"
        )
    else:
        return
    where = windows[0].step.where
    yield finding("average-never-updated", "warning", where, f"{said} {times(taken, 'step')}.", names=names[:10])


def _copies(view: View) -> list[str]:
    """The parameters without a gradient that have the place and the shape of trained ones, and were run beside them."""
    trained = [p for p in view.log.parameters if p.deposits and p.owners]
    still = [p for p in view.log.parameters if p.in_model and not p.deposits]
    return [p.name for p in still if any(_is_of_a_kind(p, other) for other in trained)]


def _is_of_a_kind(one: ParameterFacts, other: ParameterFacts) -> bool:
    """Whether two parameters of one shape stand in the same place of two models, or of two parts of one."""
    tails = [p.name.split(".")[-2:] for p in (one, other)]
    return one.shape == other.shape and tails[0] == tails[1] and len(tails[0]) == 2


def early_schedules(view: View) -> Iterator[Finding]:
    """Schedules of epochs that begin each of them, the first one included, with their step."""
    for optimizer, windows in view.windows.items():
        events = [e for e in view.of(SchedulerStep) if e.optimizer == optimizer]
        if not events or any(e.told for e in events) or {e.where for e in events} != {events[0].where}:
            continue
        numbers = [w.step.number for w in windows]
        between = [bisect(numbers, e.number) for e in events]
        gaps = [b - a for a, b in zip(between, between[1:], strict=False)]
        if events[0].scheduler in _FALLING and between[0] == 0 and len(events) > 2 and min(gaps) > 1:
            moved = len({w.step.rate for w in windows}) > 1
            yield finding(
                "schedule-begins-early",
                "warning" if moved else "info",  # in a run of one rate nothing came of it
                events[0].where,
                f"{events[0].scheduler} is stepped before the first step of {view.label(optimizer)}, and at the beginning of "
                f"each of {len(events)} epochs: its first rate is passed over, and all that it changes comes an epoch early.",
                scheduler_steps=len(events),
                optimizer_steps=steps_taken(view, optimizer, windows),
            )


_FALLING = frozenset("StepLR MultiStepLR ExponentialLR CosineAnnealingLR PolynomialLR".split())
"""Schedulers that begin with the highest rate: what warms up from a rate of 0 may be stepped before on purpose."""


def averages(view: View) -> Iterator[Finding]:
    """Running averages of the weights that are updated once a micro-batch."""
    for optimizer, windows in view.windows.items():
        hits = []
        for window in windows:
            lines: dict[Place | None, list[AverageUpdate]] = defaultdict(list)
            for event in (e for e in window.of(AverageUpdate) if not e.trained):
                lines[event.where].append(event)
            most = max(lines.values(), key=len, default=[])
            inside = sum(bool(event.pending) for event in most)
            if len(most) >= window.micro_batches > 1 and inside >= window.micro_batches - 1:
                hits.append((window, most))
        if hits:
            window, updates = hits[0]
            yield finding(
                "average-every-micro-batch",
                "warning",
                updates[0].where,
                f"The running average of the weights was updated {times(len(updates), 'time')} between two steps of "
                f"{view.label(optimizer)}, while the weights stood still: its decay is taken to the power "
                f"{len(updates)}.",
                updates=len(updates),
                steps=steps_of([w for w, _ in hits]),
            )
            return


def own_averages(view: View) -> Iterator[Finding]:
    """A running average of the weights that lies in their own memory."""
    for one in view.log.own_averages:
        yield finding(
            "average-shares-memory",
            "error",
            one.kept_at or one.where,
            f"What is averaged at {one.where} lies in the memory of {some(one.names)}, and is no copy of it: each update "
            "writes into the weights that are trained, and there is no average.",
            names=list(one.names)[:10],
            updated=one.where,
        )


def newest_averages(view: View) -> Iterator[Finding]:
    """A running average whose two factors stand in each other's place."""
    for one in view.log.averages:
        if one.grown is not None:
            yield finding(
                "average-factors-swapped",
                "warning",
                one.where,
                f"The running average took in {one.grown[0]:.3g} of the newest weights at the first update that was looked "
                f"at, and more and more of them, {one.grown[1]:.3g} at the last: it becomes a copy of the weights.",
                shares=list(one.grown),
                names=list(one.names)[:10],
            )
        if one.total is not None and one.share is not None:
            yield finding(
                "average-factors-off",
                "warning",
                one.where,
                f"Each update of the running average takes {one.total - one.share:.6g} of what was averaged before and "
                f"{one.share:.6g} of the newest weights, {one.total:.6g} together: it {'grows' if one.total > 1 else 'shrinks'} "
                "with every update, whatever the weights do.",
                share=one.share,
                total=one.total,
                names=list(one.names)[:10],
            )
        # A share that is computed, as where a decay is warmed up, is seldom a round number.
        elif (
            one.share is not None and 0.9 - 1e-6 < one.share < 1 - 1e-9 and abs(one.share - round(one.share, 5)) < 1e-8
        ):
            yield finding(
                "average-factors-swapped",
                "warning",
                one.where,
                f"Each update of the running average takes {one.share:.6g} of the newest weights and leaves "
                f"{1 - one.share:.6g} of what was averaged before: it is all but a copy of the weights.",
                share=one.share,
                updates=one.updates,
                names=list(one.names)[:10],
            )


def drawn_back(view: View) -> Iterator[Finding]:
    """Trained weights that are set to little of themselves and much of others that never change."""
    for one in view.log.drawn_back:
        other = f"those of {one.drawn_to}" if one.drawn_to else "other weights"
        line = f"{one.where.short}, called from here," if one.swapped_at is not None else "this line"
        yield finding(
            "weights-drawn-back",
            "warning",
            one.swapped_at or one.where,
            f"Again and again {line} leaves {one.share:.3g} of {some(one.names)}, which an optimizer trains, and takes "
            f"{one.rest:.3g} of {other}, which stand still: what the steps have learned is undone{'' if one.share < 0.5 else ', little by little'}.",
            names=list(one.names)[:10],
            share=one.share,
        )


def kept_averages(view: View) -> Iterator[Finding]:
    """A running average that is put into the model for an evaluation, and stays there."""
    for one in view.log.averages:
        if one.trained_on > 1:
            yield finding(
                "average-not-swapped-back",
                "warning",
                one.evaluated_at or one.where,
                f"The running average of {one.where} stood in the place of the weights while the model was evaluated, and "
                f"training went on from it, {times(one.trained_on, 'time')}: what the steps before had made of the "
                "weights was lost.",
                evaluations=one.trained_on,
                updated=one.where,
            )


def trained_averages(view: View) -> Iterator[Finding]:
    """A running average of the weights that an optimizer moves too."""
    updates = [e for e in view.of(AverageUpdate) if e.trained and not e.mutual]
    for optimizer, windows in view.windows.items():
        mine = [e for e in updates if view.owned.get(optimizer, frozenset()) & set(e.names)]
        moved = {name for w in windows for name in w.step.names}
        hit = next((e for e in mine if moved & set(e.names)), None)
        if hit is not None:
            made = next((e.made_at for e in view.log.optimizers if e.number == optimizer), None)
            yield finding(
                "average-trained-too",
                "warning",
                made or hit.where,
                f"{some(sorted(moved & set(hit.names)))} are moved towards other weights at {hit.where}, as an average of "
                f"them, and steps of {view.label(optimizer)} move them too, by gradients of their own.",
                names=sorted(moved & set(hit.names))[:10],
            )


def moved(view: View) -> Iterator[Finding]:
    """Weights that change between two passes whose gradients are added."""
    for windows in view.windows.values():
        hits = [(w, e) for w in windows for e in w.of(Accumulate) if w.names & set(e.moved) and w.step.fresh]
        if len(hits) * 2 < len(windows) or not hits:
            continue
        window, event = hits[0]
        yield finding(
            "weights-moved-inside-window",
            "warning",
            event.moved_at or event.where,
            f"Between two backward passes of one window the weights {some(sorted(window.names & set(event.moved)))} were "
            f"changed, and the second gradient was added to the first, in {times(len({id(w) for w, _ in hits}), 'window')}: the "
            "sum is the gradient at neither place.",
            steps=steps_of(list({w.number: w for w, _ in hits}.values())),
        )


def batch_norms(view: View) -> Iterator[Finding]:
    """Batch statistics, which accumulation does not average."""
    for windows in view.windows.values():
        norms = [w for w in windows if w.step.batch_norm > 1 and w.micro_batches > 1]
        if norms:
            names = norms[0].step.batch_norm_names
            yield finding(
                "batchnorm-per-micro-batch",
                "warning" if view.log.window else "info",
                next((place for w in norms if (place := w.step.batch_norm_at) is not None), None),
                f"BatchNorm ({some(names)}) saw {norms[0].step.batch_norm} micro-batches per step, each with "
                "statistics of its own: the accumulated gradient is not the large batch's.",
                names=names,
                calls=norms[0].step.batch_norm,
            )
