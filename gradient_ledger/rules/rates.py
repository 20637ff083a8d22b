"""The learning rate from step to step: schedules and their clocks, and what sets a rate beside them."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from gradient_ledger.events import (
    DataPass,
    Finding,
    Place,
    ScheduleFacts,
    SchedulerStep,
    Step,
)
from gradient_ledger.rules.view import (
    BY_HAND,
    SETTLED,
    View,
    Window,
    finding,
    most_steps,
    some,
    steps_of,
    steps_taken,
    times,
)


def schedulers(view: View) -> Iterator[Finding]:
    """Learning-rate schedulers that run on the wrong clock."""
    for optimizer, windows in view.windows.items():
        events = [e for e in view.of(SchedulerStep) if e.optimizer == optimizer]
        if not events:
            own = [*_own_schedule(view, optimizer, windows)]
            yield from own or _over_too_early(view, optimizer, windows)
            continue
        one = Counter(e.which for e in events).most_common(1)[0][0]
        events = [e for e in events if e.which == one]  # several may share the work
        middle = [e for e in events if e.pending and not e.told]
        ends = events[0].scheduler != "ReduceLROnPlateau" and _is_over_at_the_end(view, optimizer)
        often = len(events) > 1.4 * len(windows) and not ends
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
        if after and len(events) * 2 >= len(windows) and not _taken_back(events, windows):
            yield finding(
                "scheduler-after-skipped-step",
                "warning",
                after[0].where,
                f"The scaler skipped {times(sum(w.skipped for w in windows), 'step')}, and the scheduler stepped "
                f"after {len(after)} of them: the learning rate moved although the parameters did not.",
                skipped=sum(w.skipped for w in windows),
            )


def _taken_back(events: list[SchedulerStep], windows: list[Window]) -> bool:
    """Whether the steps of a schedule behind each skipped step undo each other: there are several, and the rate is in
    the end what it was before."""
    steps, rate = [w.step.number for w in windows], None
    for _, group in groupby(events, key=lambda e: bisect(steps, e.number)):
        behind = list(group)
        if behind[0].after_skip and (len(behind) < 2 or rate not in (None, behind[-1].rate)):
            return False
        rate = behind[-1].rate
    return True


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


def _over_too_early(view: View, optimizer: int, windows: list[Window]) -> Iterator[Finding]:
    """A learning rate that is set by hand at each micro-batch, and has come to its end when as many of them have run as
    there are steps: what was to count steps has counted those."""
    size, steps = view.size(optimizer), len(windows)
    rates = [w.step.rate for w in windows]
    if view.log.dropped or not view.log.finished or size < 2 or steps < 2 * SETTLED or None in rates:
        return
    still = next(at for at in range(steps) if all(rate == rates[-1] for rate in rates[at:]))
    moved = [w for w in windows[: still + 1] if w.step.rate_shifts]
    ends = abs(still * size - steps) <= max(size, 0.1 * steps)
    if (
        not ends
        or len(moved) < 3
        or len(moved) * 4 < still * 3
        or 2 * (rates[-1] or 0.0) > max(r or 0.0 for r in rates)
    ):
        return
    told = finding(
        "scheduler-every-micro-batch",
        "warning",
        view.log.rate_set_at or moved[0].step.where,
        f"The learning rate of {view.label(optimizer)} is set by hand between the micro-batches of a window, and does not "
        f"change any more after {times(still, 'step')} of {steps}: with {size} micro-batches a step, that is where a "
        f"schedule for {steps} steps ends which counts micro-batches.",
        "Count steps: move the schedule on where the optimizer steps.",
        optimizer_steps=steps,
        window=size,
    )
    yield replace(told, called_at=view.log.rate_called_at) if view.log.rate_set_at is not None else told


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


CYCLES = ("CyclicLR",)
"""Schedulers that begin anew when they are over."""
_EPOCH = 5
"""Fewest optimizer steps between two of a scheduler by which it is taken to be stepped once an epoch."""


def schedules(view: View) -> Iterator[Finding]:
    """Schedules that are made for so many steps, and stepped by another clock."""
    taken = {e.number: e.steps for e in view.log.optimizers}
    yield from _told_in_epochs(view, taken)
    for one in (one for one in view.log.schedules if one.named):
        steps = taken.get(one.optimizer, 0)
        made = f"{one.scheduler} is made for {one.length} steps"
        as_long = abs(one.length - steps) * 10 <= steps
        if one.steps * _EPOCH <= steps and (as_long or (one.in_steps and 1 < one.steps < one.length)):
            told = "" if as_long else f", {one.in_steps}"
            yield finding(
                "schedule-on-another-clock",
                "warning",
                one.where,
                f"{made}{told}, {view.label(one.optimizer)} took {steps}, and the scheduler {times(one.steps, 'step')}: "
                f"the learning rate goes no further than a schedule's first {one.steps} of {one.length}.",
                "" if as_long else "Step the schedule right behind the optimizer's step(), in the same loop.",
                length=one.length,
                scheduler_steps=one.steps,
                optimizer_steps=steps,
                made_at=one.made_at,
            )
        elif (passes := _made_for_passes(view, one)) > steps:
            yield finding(
                "schedule-on-another-clock",
                "warning",
                one.where,
                f"{made}, as many as there were micro-batches ({passes}), of which each step of {view.label(one.optimizer)} "
                f"takes several: it took {steps}, and the scheduler {times(one.steps, 'step')}, so the learning rate goes no "
                f"further than a schedule's first {one.steps} of {one.length}.",
                "Make it for the number of optimizer steps: divide by the micro-batches per step.",
                length=one.length,
                scheduler_steps=one.steps,
                optimizer_steps=steps,
                made_at=one.made_at,
            )
        elif one.scheduler in CYCLES:
            continue  # to begin anew is what it is for
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
                made_at=one.made_at,
            )
        elif one.steps >= 2 * one.length and steps >= SETTLED and as_long:
            yield finding(
                "schedule-on-another-clock",
                "warning",
                one.where,
                f"{made}, as many as {view.label(one.optimizer)} took ({steps}), and took {one.steps}: the learning rate "
                f"was at its end when {times(-(-one.length * steps // one.steps), 'step')} were taken.",
                "Step the schedule once per optimizer step, behind it.",
                length=one.length,
                scheduler_steps=one.steps,
                optimizer_steps=steps,
                made_at=one.made_at,
            )


def _made_for_passes(view: View, one: ScheduleFacts) -> int:
    """How many micro-batches there were, where a scheduler that is stepped with the optimizer is made for so many and
    the program ran to its end; else 0."""
    windows = view.windows.get(one.optimizer, [])
    passes = sum(w.micro_batches for w in windows)
    several = len(windows) >= SETTLED and 2 * sum(w.micro_batches > 1 for w in windows) > len(windows)
    with_each = abs(one.steps - len(windows)) * 10 <= len(windows)
    whole = view.log.finished and not view.log.error and one.scheduler not in CYCLES
    return passes if several and with_each and whole and 0 <= one.length - passes <= passes // 20 else 0


def held_steps(view: View) -> Iterator[Finding]:
    """Functions that hold the number of steps the optimizer took, and are asked once an epoch."""
    taken = {e.number: e.steps for e in view.log.optimizers}
    for one in (one for one in view.log.schedules if not one.named and not one.in_epochs and not one.in_steps):
        steps = taken.get(one.optimizer, 0)
        passes = len(view.of(DataPass))
        if steps == one.length >= 2 * SETTLED and 1 < one.steps <= passes and one.steps * _EPOCH <= steps:
            yield finding(
                "schedule-on-another-clock",
                "warning",
                one.where,
                f"The function of this {one.scheduler} holds {one.length}, the number of steps that {view.label(one.optimizer)} "
                f"took, and was asked for {times(one.steps, 'step')}: the learning rate goes no further than the first "
                f"{one.steps} of {one.length}.",
                "Step the schedule right behind the optimizer's step(), in the same loop.",
                length=one.length,
                scheduler_steps=one.steps,
                optimizer_steps=steps,
                made_at=one.made_at,
            )


def made_anew(view: View) -> Iterator[Finding]:
    """Schedulers that a loop over epochs makes anew, and with them begins anew."""
    for one in view.log.schedules_anew if most_steps(view) >= SETTLED else ():
        yield finding(
            "schedule-made-anew",
            "warning",
            one.where,
            f"{one.scheduler} is made here for {view.label(one.optimizer)}, {times(one.made, 'time')} in a loop over epochs. "
            f"Each is made for {one.length} steps, and they took {one.steps} together: every epoch begins the schedule "
            "anew, and none gets to its second half.",
            made=one.made,
            length=one.length,
            scheduler_steps=one.steps,
        )


def after_the_last(view: View) -> Iterator[Finding]:
    """A schedule that is stepped in no loop, when its optimizer has taken its last step."""
    moves: dict[int, list[SchedulerStep]] = {}
    for event in view.of(SchedulerStep):
        if event.optimizer is not None:
            moves.setdefault(event.optimizer, []).append(event)
    for optimizer, events in moves.items():
        windows = view.windows.get(optimizer, [])
        if len(windows) < SETTLED or not all(one.outside for one in events) or not view.log.finished or view.log.error:
            continue
        if all(one.number > windows[-1].step.number for one in events):
            yield finding(
                "schedule-never-stepped",
                "warning",
                events[0].where,
                f"{events[0].scheduler} is stepped here, in no loop, when {view.label(optimizer)} has taken its last of "
                f"{times(len(windows), 'step')}: it changed the learning rate of none.",
                "Step the schedule in the loop that it counts: behind the steps of each epoch, or behind each step.",
                optimizer_steps=len(windows),
            )


def counted_anew(view: View) -> Iterator[Finding]:
    """A counter of all steps that each epoch sets back, and steps that stand for epochs where a rate is set."""
    if most_steps(view) < SETTLED:
        return
    if (one := view.log.counter_anew) is not None:
        told = (
            f"{one.name} counts all steps by its name, and is set to 0 here in each epoch: what goes by it begins anew."
        )
        remedy = f"Set {one.name} to 0 once, before the loop over epochs."
        if one.handed_as:
            told = (
                f"{one.name} counts the steps of one epoch, and is handed over here as {one.handed_as}: what goes by that "
                "begins anew in each epoch."
            )
            remedy = f"Count all steps: epoch * len(loader) + {one.name}."
        if one.still:
            told = (
                f"{one.name} is the number of the epoch, and is handed over here as {one.handed_as}: what goes by that stands "
                "still while an epoch lasts."
            )
            remedy = "Hand over the number of all steps."
        name = "schedule-on-another-clock" if one.still else "counter-begins-anew"
        yield finding(name, "warning", one.where, told, remedy)
    if (one := view.log.given_for_epochs) is not None:
        yield finding(
            "schedule-on-another-clock",
            "warning",
            one.where,
            f"What sets the learning rate here is made for the number of an epoch, by the name of its argument, and is given "
            f"{one.name}.",
            "Give it the number of the epoch.",
        )


def by_passes(view: View) -> Iterator[Finding]:
    """A rate that is set by the number of micro-batches, where the text knows the number of steps."""
    one = view.log.rate_by_passes
    windows = [w for w in view.all_windows if w.micro_batches > 1]
    if one is not None and len(windows) > 1:
        yield finding(
            "schedule-on-another-clock",
            "warning",
            one.where,
            f"{one.name}() sets the learning rate by {one.given} here, which counts micro-batches: a step takes "
            f"{windows[0].micro_batches} of them, and {one.steps} is what the text takes for the number of steps elsewhere.",
            f"Give it {one.steps}.",
            passes=windows[0].micro_batches,
        )


def _told_in_epochs(view: View, taken: dict[int, int]) -> Iterator[Finding]:
    """Functions of an epoch, by the name of their argument and by the number of epochs that they hold, which are asked at
    each step."""
    epochs = set(Counter(e.where for e in view.of(DataPass)).values())
    for one in view.log.schedules:
        steps = taken.get(one.optimizer, 0)
        each = one.steps >= 2 * one.length and abs(one.steps - steps) * 10 <= steps
        if one.in_epochs and not one.named and one.length in epochs and each:
            yield finding(
                "schedule-on-another-clock",
                "warning",
                one.where,
                f"The function of this {one.scheduler}, {one.in_epochs}, counts epochs by its text and holds {one.length}, as "
                f"many as there were. It was asked {times(one.steps, 'time')}, once with each step of "
                f"{view.label(one.optimizer)}.",
                "Step it once an epoch, after the loop over the batches, or let its function count steps.",
                scheduler_steps=one.steps,
                optimizer_steps=steps,
                made_at=one.made_at,
            )


_SHORT = 3
"""Fewest steps of a scheduler in one pass over the data by which it is taken to be stepped with each batch."""
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
        told: dict[str, Any] = {"scheduler_steps": len(events), "optimizer_steps": len(windows), "made_at": one.made_at}
        once = len(events) * (3 if len(events) <= len(passes) + 1 else 2 * _EPOCH) <= len(windows)
        # One that is made for just as many steps as it took runs on a clock of its own, and comes to its end.
        ends = any(f.optimizer == optimizer and 0 < f.length <= f.steps + 1 for f in view.log.schedules)
        if one.in_steps and once and len(events) > 1 and not ends:
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
        if one.in_epochs and most >= _SHORT and len(events) <= 1.1 * len(windows):
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
        if len(pairs) >= SETTLED and len(rates) == 1 and all(step.rate != e.rate for e, step in pairs):
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
        if base is None or highest is None or len(windows) < SETTLED:
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


_EPOCHS = 3
"""Epochs, where the text steps a schedule that this run did not come by, that are no accident of a short run."""


def never_scheduled(view: View) -> Iterator[Finding]:
    """A scheduler that was made and never stepped, while its optimizer took all its steps at one rate."""
    log = view.log
    passes = Counter(e.where for e in view.of(DataPass))
    for one in log.unstepped_schedules if log.finished and not log.error else ():
        windows = view.windows.get(one.optimizer, ())
        rates = {w.step.rate for w in windows}
        epochs = max(passes.values(), default=0)
        if len(windows) < SETTLED or len(rates) != 1 or None in rates or (one.said and epochs < _EPOCHS):
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


def doubled(view: View) -> Iterator[Finding]:
    """Schedulers that were made for one optimizer, one for each that there is."""
    for one in view.log.doubled_schedules:
        stepped = Counter(e.which for e in view.of(SchedulerStep))
        counts = {stepped[which] for which in one.which}
        rates = {w.step.rate for w in view.windows.get(one.bare, ())}
        if min(counts) > 0 and max(counts) - min(counts) <= 1 and len(rates) == 1 and None not in rates:
            label, other = view.label(one.optimizer), view.label(one.bare)
            yield finding(
                "schedules-for-one-optimizer",
                "warning",
                one.where[-1],
                f"{len(one.where)} schedulers, each {one.scheduler}, were made for {label}, the first one at "
                f"{one.where[0].short}, and all move its learning rate. {other} has none: it took "
                f"{times(steps_taken(view, one.bare, view.windows[one.bare]), 'step')} at {rates.pop():.3g}.",
                scheduler_steps=max(counts),
            )


def set_twice(view: View) -> Iterator[Finding]:
    """A rate of a schedule of the user's own that is written over another one's, while an optimizer gets none."""
    taken = {number: [w.step.rate for w in windows] for number, windows in view.windows.items() if number != BY_HAND}
    moved = [number for number, rates in taken.items() if len(set(rates)) > 1]
    bare = [number for number, rates in taken.items() if len(rates) >= SETTLED and len(set(rates)) == 1]
    if len(view.log.set_twice) != 1 or not moved or not bare or taken[bare[0]][0] is None:
        return
    yield finding(
        "schedules-for-one-optimizer",
        "warning",
        view.log.set_twice[0],
        f"This sets the learning rate that the statement before has just set, to another value, and the steps of "
        f"{view.label(moved[0])} were taken at rates that changed. Nothing moves that of {view.label(bare[0])}: it took "
        f"{times(steps_taken(view, bare[0], view.windows[bare[0]]), 'step')} at {taken[bare[0]][0]:.3g}.",
        "Set each rate in the groups of the optimizer that it is meant for.",
    )


def unscheduled(view: View) -> Iterator[Finding]:
    """A function that sets the learning rate, which no text calls, while all steps were taken at one rate."""
    log = view.log
    sets = log.uncalled_schedule
    if sets is None or not log.finished or log.error or view.of(SchedulerStep) or log.unstepped_schedules:
        return
    rates = {w.step.rate for w in view.all_windows}
    taken = most_steps(view)
    if taken >= SETTLED and len(rates) == 1 and None not in rates:
        yield finding(
            "schedule-never-stepped",
            "warning",
            log.loop_at or sets.where,
            f"Nothing calls {sets.name}() ({sets.where.short}), which sets the learning rate: {times(taken, 'step')} were "
            f"taken at one rate, {rates.pop():.3g}, to the end.",
            f"Call {sets.name}() where the loop begins a new epoch or a new step, as its text counts.",
            optimizer_steps=taken,
        )


def stepped_twice(view: View) -> Iterator[Finding]:
    """A schedule that two lines step, one after the other, with no step of its optimizer in between."""
    for optimizer, windows in view.windows.items():
        ends = [w.step.number for w in windows]
        mine = [e for e in view.of(SchedulerStep) if e.optimizer == optimizer and not e.told]
        pairs: list[tuple[SchedulerStep, SchedulerStep]] = []
        runs = 0
        for which in dict.fromkeys(e.which for e in mine):
            for at, run in groupby((e for e in mine if e.which == which), key=lambda e: bisect(ends, e.number)):
                lines = {e.where: e for e in run}
                runs += at > 0
                if at and len(lines) == 2 and None not in lines:
                    one, other = lines.values()
                    pairs.append((one, other))
        known = Counter((one.where, other.where) for one, other in pairs)
        [((_, where), often)] = known.most_common(1) or [((None, None), 0)]
        if often < 2 or 2 * often < runs:
            continue
        one, other = next((a, b) for a, b in pairs if b.where == where)
        yield finding(
            "schedule-stepped-twice",
            "warning",
            other.where,
            f"{other.scheduler} was stepped at {one.where}, and here once more before {view.label(optimizer)} had taken "
            f"another step, {times(often, 'time')}: each time the learning rate went two steps along its schedule.",
            first_stepped_at=one.where,
            scheduler_steps=len(mine),
        )


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
