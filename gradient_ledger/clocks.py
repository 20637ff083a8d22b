"""Schedules that no tap hears step: those of the user's own, where the learning rate itself tells that they move, and
when; and those that nothing steps."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

import torch

from gradient_ledger import losses, places, source, timetables
from gradient_ledger.account import FRESH
from gradient_ledger.books import OptimizerAccount, OwnSchedule, SchedulerMade
from gradient_ledger.budget import SAMPLES
from gradient_ledger.events import DoubledSchedule, Place, ScheduleAnew, ScheduleFacts, UnsteppedSchedule
from gradient_ledger.journal import Draft
from gradient_ledger.state import State
from gradient_ledger.tally import rate_of

_FRAMES = 3
"""Functions around a backward pass in which a schedule is looked for."""


def pass_begins(state: State, frame: FrameType) -> None:
    """A backward pass begins: whether the learning rate has moved since the last one, whose gradients wait."""
    last = state.progress.last
    account = last.touched[0] if last is not None and last.touched else None
    if account is None or not account.owners:
        return
    entry = account.owners[-1]
    clock, rate = entry.clock, rate_of(entry)
    if account.status == FRESH and clock.rate is not None and rate != clock.rate:
        clock.shifts += 1
        own = clock.schedule
        if (own is None or not _inside(own, frame)) and state.budget.may_look(("clock", entry.number), SAMPLES):
            own = clock.schedule = _found(entry.ref(), frame) or own
        clock.moves += own is not None and _inside(own, frame)
    clock.rate = rate


def step_begins(entry: OptimizerAccount, draft: Draft) -> None:
    """Its optimizer steps: whether it does so outside of the loop in which the schedule is moved on."""
    clock = entry.clock
    if clock.shifts:
        draft.fields["rate_shifts"] = clock.shifts
    if clock.moves:
        draft.fields["moved_rates"] = clock.moves
        own = clock.schedule
        if own is not None and not any(file == own.place.file and line in own.loop for file, line in draft.trail):
            draft.fields["scheduled_at"] = own.place
    clock.moves = clock.shifts = 0


def schedules(optimizers: list[OptimizerAccount]) -> tuple[ScheduleFacts, ...]:
    """Schedules of the user's own, with each of their numbers as the steps that they may be made for."""
    return tuple(
        ScheduleFacts(own.kind, entry.number, length, max(a.total for a in entry.accounts), own.place, named=False)
        for entry in optimizers
        if (own := entry.clock.schedule) is not None and entry.accounts
        for length in own.lengths
    )


MOST_SCHEDULERS = 64
"""Schedulers that are remembered: who makes more of them makes them anew."""


def scheduler_made(state: State, scheduler: Any, frame: FrameType) -> None:
    """A scheduler was made. That of a class derived from torch's is told of by each constructor on the way."""
    optimizer, made = getattr(scheduler, "optimizer", None), state.books.schedulers_made
    if len(made) < MOST_SCHEDULERS and isinstance(optimizer, torch.optim.Optimizer) and state.knows(optimizer):
        # A class of the user's own may set the rate by a `step()` that no tap hears.
        steps = next(kind for kind in type(scheduler).__mro__ if "step" in vars(kind))
        if steps.__module__.startswith("torch."):
            made_in = {getattr(vars(kind).get("__init__"), "__code__", None) for kind in type(scheduler).__mro__}
            while frame.f_code in made_in and frame.f_back is not None:
                frame = frame.f_back  # out of the constructors of a class of the user's own
            number, at = state.optimizer(optimizer).number, places.user_place(frame)
            made.append(SchedulerMade(type(scheduler).__name__, number, at, id(scheduler), places.calls(frame)))


def unstepped(state: State, files: list[str]) -> tuple[UnsteppedSchedule, ...]:
    """Schedulers of optimizers of which none was stepped, at lines that made none that was, though the text steps
    optimizers itself, and makes the steps of schedulers, if it says any, depend on no count and no option."""
    books = state.books
    waiting = [one for one in books.schedulers_made if one.optimizer not in books.scheduled and one.place]
    said = timetables.steps_schedules(tuple(files), frozenset(books.schedules_at)) if waiting else None
    if said is None:
        return ()
    # What a line makes for several phases of training, and is stepped in one of them, is left alone in the others.
    used = {one.place for one in books.schedulers_made if one.optimizer in books.scheduled}
    return tuple(
        UnsteppedSchedule(o.kind, o.optimizer, o.place, said)
        for o in waiting
        if o.place is not None and o.place not in used
    )


def doubled(state: State) -> tuple[DoubledSchedule, ...]:
    """Schedulers of one class and of one optimizer, made at lines of their own, where another optimizer has none."""
    made: dict[tuple[str, int], dict[Place, int]] = {}
    for one in state.books.schedulers_made:
        if one.place is not None:
            made.setdefault((one.kind, one.optimizer), {})[one.place] = one.which
    has_some = {one.optimizer for one in state.books.schedulers_made}
    bare = [entry.number for entry in state.books.optimizers if entry.number not in has_some and entry.steps]
    return tuple(
        DoubledSchedule(kind, number, bare[0], tuple(mine), tuple(mine.values()))
        for (kind, number), mine in made.items()
        if len(mine) > 1 and len(bare) == len(mine) - 1
    )


LEAST_MADE = 3
"""Schedulers of one line from which on it is said to make them anew, where none is made for all steps of the run."""


def anew(state: State) -> tuple[ScheduleAnew, ...]:
    """Schedulers of a known length that a line in a loop over epochs makes for one optimizer each time, where none gets
    further than half of it. The number that a function holds is its length where that is the steps of the whole run."""
    books = state.books
    taken = {entry.number: entry.steps for entry in books.optimizers}
    made: dict[tuple[str, int], list[SchedulerMade]] = {}
    for one in books.schedulers_made:
        made.setdefault((one.kind, one.optimizer), []).append(one)
    found = []
    for (kind, number), several in made.items():
        known = [one for one in books.schedules.values() if (one.type, one.optimizer) == (kind, number)]
        lengths, steps = {one.length for one in known}, sum(one.steps for one in known)
        by_epochs = {at for one in several for at in one.made_by if timetables.is_by_epochs(at.file, at.line)}
        if len(lengths) != 1 or len({one.place for one in several}) != 1 or len(by_epochs) != 1:
            continue
        (length,), (place,), often = lengths, by_epochs, len(several)
        whole = length == taken.get(number)
        enough = often > 1 if whole else often >= LEAST_MADE and all(one.named for one in known)
        if enough and often < steps and 2 * steps <= often * length:
            found.append(ScheduleAnew(kind, number, place, often, steps, length))
    return tuple(found)


def _found(optimizer: Any, frame: FrameType | None) -> OwnSchedule | None:
    """An object of the user's own that holds an optimizer, and whose `step()` is called in the loop around a backward
    pass, without a word where training stands."""
    for _ in range(_FRAMES):
        frame = places.user_frame(frame)
        if frame is None or optimizer is None:
            return None
        file, line = frame.f_code.co_filename, frame.f_lineno
        loop = source.loop_around(file, line)
        calls = [] if loop is None else [one.value for one in source.own(loop) if isinstance(one, ast.Expr)]
        with losses.names_in(frame) as names:
            for call in calls:
                own = _own_schedule(call, names, optimizer)
                if own is not None:
                    lines = range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)
                    return OwnSchedule(type(own).__name__, Place(file, call.lineno), lines, _lengths(own))
        frame = frame.f_back
    return None


def _inside(own: OwnSchedule, frame: FrameType | None) -> bool:
    """Whether a pass comes from the loop in which a schedule is moved on."""
    return any(file == own.place.file and line in own.loop for file, line in places.place_and_trail(frame)[1])


def _own_schedule(call: ast.expr, names: dict[str, Any], optimizer: Any) -> Any:
    """What a `step()` is called on, if that is no optimizer and no scheduler of torch's, and holds this optimizer."""
    if not isinstance(call, ast.Call) or call.args or call.keywords or not isinstance(call.func, ast.Attribute):
        return None
    holder, own = call.func.value, None
    if isinstance(holder, ast.Name):
        own = names.get(holder.id)
    elif isinstance(holder, ast.Attribute) and isinstance(holder.value, ast.Name):
        own = getattr(names.get(holder.value.id), "__dict__", {}).get(holder.attr)
    if call.func.attr not in _MOVES or own is None or isinstance(own, _TORCHS):
        return None
    codes = [code for one in vars(type(own)).values() if (code := getattr(one, "__code__", None)) is not None]
    mine = [one for one in codes if places.kind_of(one.co_filename) == places.USER]
    held = getattr(own, "__dict__", {}).values()
    holds = any(one is optimizer or getattr(one, "optimizer", None) is optimizer for one in held)
    return own if holds and any('["lr"]' in _text(one.co_filename, one.co_firstlineno) for one in mine) else None


_MOVES = ("step", "update", "advance")
_TORCHS = (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, torch.amp.GradScaler)


def _text(file: str, line: int) -> str:
    function = source.function_at(file, line)
    return ast.unparse(function).replace("'", '"') if function is not None else ""


def _lengths(own: Any) -> tuple[int, ...]:
    return tuple(n for n in vars(own).values() if isinstance(n, int) and not isinstance(n, bool) and n > 1)
