"""What goes on around the gradients: forwards, autocast, schedulers, data loaders, hooks, things made."""

from __future__ import annotations

import ast
import re
import threading
import weakref
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.modules.dropout import _DropoutNd

from gradient_ledger import blends, hooked, inside, losses, making, midway, modes, places, source, timetables
from gradient_ledger.account import FRESH, SKIPPED
from gradient_ledger.books import Made, ModuleAccount, Schedule
from gradient_ledger.compiled import is_product, uncompiled
from gradient_ledger.events import (
    Backward,
    DataPass,
    Ending,
    Forward,
    Place,
    SchedulerStep,
    SkippedStep,
    StateSaved,
)
from gradient_ledger.gradients import settle
from gradient_ledger.journal import Draft
from gradient_ledger.progress import Loading, Region
from gradient_ledger.state import State
from gradient_ledger.tally import rate_of


def forward(state: State, module: nn.Module, frame: FrameType) -> None:
    """A module is about to run."""
    if state.rhythm is not None and state.rhythm.forward_again(module, frame):
        return
    thread = threading.get_ident()
    compiled, inner = getattr(module, "_compiled_call_impl", None) is not None, uncompiled(module)
    entry = state.books.module(module)
    if inner is not module and entry is None:
        # What torch.compile gave for a model calls that model next, from the same line: that is no second forward.
        compiled, module, entry = True, inner, state.books.module(inner)
        state.entering[thread] = (id(module), places.site(frame))
    elif state.entering and state.entering.pop(thread, None) == (id(module), places.site(frame)):
        return
    if entry is None:
        state.write_all()
        if state.own_only or is_product(module):
            state.books.foreign[id(module)] = module
            return
        before = len(state.books.accounts)
        whole = run_by_itself(state, frame)
        if whole is not None:
            state.books.add_root(whole)
        entry = state.books.meet(module)
        if len(state.books.accounts) != before:
            state.hook_up()
    if entry.leads is not None:
        lead(state, entry, frame)
    if compiled:
        state.compiled.add("forward")
        if entry.root is not None and not entry.name:
            state.compiled_models[entry.root.number] = entry
    learning, training, root = torch.is_grad_enabled(), module.training, entry.root
    announced = entry.announced
    if learning or training:
        entry.calls += 1
        if training and not learning and (entry.called_at is None or entry.awaits_graph):
            # What computes its input may be frozen for a while, as a generator is while others are trained.
            entry.awaits_graph = inside.layer_runs(state, entry, frame) and state.budget.may_look(
                ("bare", entry.name), 16
            )
        if entry.called_at is None:
            first_call(state, entry, frame)
            if root is not None and not root.led and entry.name and _whose_forward(frame) is root.ref():
                root.led, entry.leads = True, frame.f_code
                lead(state, entry, frame)
            if announced and training:
                modes.first_asked(state, entry, module, frame)
        elif entry.imitated is not None and training:
            modes.asked_again(state, entry, module)
        entry.quiet = not entry.norm and not announced and not entry.awaits_graph
    else:
        entry.judged += 1
    if entry.norm and training and learning:
        entry.window_calls += 1
    elif entry.norm and not training and state.progress.steps:
        modes.normed_without(state, entry, module, frame)
    if announced and root is not None:
        if state.rhythm is not None and state.rhythm.forward(entry, training, learning, frame):
            return
        if not (learning and training) and state.followed:
            blends.evaluated(state, root, frame)
        if state.evaluations and learning and not training:
            modes.ran_in_eval(state, entry, frame)
        elif state.evaluations and not learning and not training:
            modes.another_ran(state, entry)
        draft = announce(state, entry, training, learning, places.user_place(frame), places.site(frame))
        if learning and training and entry.calls <= midway.CALLS + 1:
            midway.forward_runs(state, entry, draft.place)
        if root.kind == "ddp":
            draft.fields["sync"] = bool(module.require_backward_grad_sync)
            note_distributed(state)
        elif root.kind == "fsdp":
            state.sync["fsdp"] = True


def run_by_itself(state: State, frame: FrameType) -> nn.Module | None:
    """The model whose `forward` this is, where the user's code has called that, and not the model: nobody has seen it
    run, and this is the first of its parts that does."""
    whole = _whose_forward(frame)
    known = whole is None or state.books.module(whole) is not None
    return whole if not known and _is_called_itself(whole, frame) else None


def _whose_forward(frame: FrameType) -> nn.Module | None:
    """The model that a frame runs the `forward` of."""
    code = frame.f_code
    whole = frame.f_locals.get(code.co_varnames[0]) if code.co_name == "forward" and code.co_varnames else None
    return whole if isinstance(whole, nn.Module) else None


CALLS_FORWARD = nn.Module._call_impl.__code__
"""What runs the `forward` of a model that is called."""
_AROUND = 6
"""Frames between a model's call and its `forward`, as of decorators, hooks and classes that it is derived from."""


def _is_called_itself(whole: nn.Module | None, frame: FrameType) -> bool:
    """Whether the user's code has called this `forward`, and not the model."""
    back = frame.f_back
    for _ in range(_AROUND):
        if back is None or back.f_code is CALLS_FORWARD:
            break
        back = back.f_back
    return back is None or back.f_code is not CALLS_FORWARD or back.f_locals.get("self") is not whole


def lead(state: State, entry: ModuleAccount, frame: FrameType) -> None:
    """The part of a model that runs first is about to. Where its `forward` was called by itself, the model runs."""
    whole = entry.root.ref() if entry.root is not None else None
    caller: FrameType | None = frame
    while caller is not None and places.kind_of(caller.f_code.co_filename) != places.USER:
        caller = caller.f_back  # the frames of a closer look
    if whole is None or caller is None or caller.f_code is not entry.leads or not _is_called_itself(whole, caller):
        return
    assert caller.f_back is not None
    forward(state, whole, caller.f_back)


def announce(
    state: State, entry: ModuleAccount, training: bool, learning: bool, place: Place | None, site: Any
) -> Draft:
    """The event of a forward, and that it waits for a backward."""
    root, progress = entry.root, state.progress
    assert root is not None
    state.journal.close_groups()
    model = f"{root.label}.{entry.name}" if entry.name else root.label
    if learning and training:
        thread, call = threading.get_ident(), (site, model, root, place)
        progress.last_run[thread] = call
        runs = progress.runs.setdefault(thread, {})
        runs[call] = runs.get(call, 0) + 1
        state.trained_at.add(site)
    region = current_region(state)
    return state.emit(Forward, place, (), model=model, training=training, grad=learning, region=region)


def first_call(state: State, entry: ModuleAccount, frame: FrameType) -> None:
    """Note where a module first ran, and whether a reentrant checkpoint ran it."""
    entry.called_at = places.user_place(frame)
    walk: FrameType | None = frame
    while walk is not None:
        code = walk.f_code
        inside = code.co_filename.endswith("utils/checkpoint.py")
        if inside and code.co_name in ("forward", "checkpoint") and drops_out(entry.ref()):
            local = walk.f_locals
            if local.get("preserve_rng_state", local.get("preserve")) is False:
                state.redrawn_at = places.user_place(walk)
        if inside and code.co_name == "forward" and "run_function" in code.co_varnames:
            entry.checkpoint = True  # the class behind use_reentrant=True runs it inside its forward
            entry.called_at = places.user_place(walk)
            return
        walk = walk.f_back


def drops_out(module: nn.Module | None) -> bool:
    """Whether a module drops out at random."""
    return isinstance(module, _DropoutNd) and module.training and 0 < module.p < 1


def module_made(state: State, module: nn.Module, frame: FrameType) -> None:
    """A module is being made: where, in case it turns out to come too late for an optimizer."""
    if not state.own_only:
        made = state.books.made
        if len(made) > 50_000:
            state.books.made = made = {key: value for key, value in made.items() if value.ref() is not None}
        place, by = places.user_place(frame), places.calls(frame)
        made[id(module)] = Made(weakref.ref(module), place, by, state.books.tick(), state.progress.steps)


def parameter_put(state: State, module: nn.Module, parameter: Any, frame: FrameType) -> None:
    """A parameter has been put into a module: in one that has run already, no optimizer made before knows of it."""
    if not isinstance(parameter, nn.Parameter) or state.books.module(module) is None:
        return
    before = len(state.books.accounts)
    place, by = places.user_place(frame), places.calls(frame)
    made = Made(weakref.ref(module), place, by, state.books.tick(), state.progress.steps)
    state.books.put(module, parameter, made)
    if len(state.books.accounts) != before:
        state.hook_up()


def note_distributed(state: State) -> None:
    """Note that this process is one of several."""
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized():
        state.sync["world"] = dist.get_world_size()


def autocast_entered(state: State) -> None:
    """An autocast block began."""
    region = state.progress.regions.setdefault(threading.get_ident(), Region())
    region.depth += 1
    if region.depth == 1:
        new_region(state, region)


def new_region(state: State, region: Region) -> None:
    """From here on autocast makes its half-precision copies anew."""
    state.progress.region_number += 1
    region.number = state.progress.region_number


def autocast_left(state: State) -> None:
    """An autocast block ended."""
    region = state.progress.regions.get(threading.get_ident())
    if region is not None and region.depth > 0:
        region.depth -= 1


def autocast_cache_cleared(state: State) -> None:
    """The half-precision copies are gone: what follows is like a new block."""
    region = state.progress.regions.get(threading.get_ident())
    if region is not None and region.depth:
        new_region(state, region)


def current_region(state: State) -> int | None:
    """Number of the outermost autocast block we are in, if its weight cache is on."""
    region = state.progress.regions.get(threading.get_ident())
    if region is None or region.depth == 0 or not torch.is_autocast_cache_enabled():
        return None
    on = next((device for device in ("cpu", "cuda") if torch.is_autocast_enabled(device)), None)
    if on is None:
        return None
    state.in_float16 = state.in_float16 or torch.get_autocast_dtype(on) is torch.float16
    return region.number


def scheduled(state: State, scheduler: Any, frame: FrameType, told: bool = False) -> None:
    """A learning-rate scheduler has stepped."""
    frame = _around_own_schedules(frame)
    optimizer = getattr(scheduler, "optimizer", None)
    number = None
    inner = getattr(optimizer, "optimizer", optimizer)  # accelerate wraps optimizers
    if isinstance(inner, torch.optim.Optimizer) and "param_groups" in vars(inner):
        if not state.knows(inner):
            return
        number = state.optimizer(inner).number
    pending = 0
    skipped = False
    if number is not None:
        state.books.scheduled.add(number)
        state.books.schedules_at.add((frame.f_code.co_filename, frame.f_lineno))
        _count_schedule(state, scheduler, number, frame)
        entry = state.books.optimizers[number]
        pending = max((len(a.deposits) for a in entry.accounts if a.status == FRESH), default=0)
        skipped = any(a.status == SKIPPED for a in entry.accounts)
    last = state.journal.last(Ending, Backward)
    skipped = skipped or (last is not None and last.kind is SkippedStep)
    place, kind = places.user_place(frame), type(scheduler).__name__
    state.emit(
        SchedulerStep,
        place,
        (),
        **(_told_in_epochs(state, scheduler, number, place, frame) if place is not None else {}),
        **_told_by_functions(scheduler),
        optimizer=number,
        scheduler=kind,
        made_at=state.books.made_schedule(scheduler),
        which=id(scheduler),
        pending=pending,
        outside=not any(source.loop_around(at.file, at.line) is not None for at in places.calls(frame)),
        after_skip=skipped,
        told=told and not isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau),  # that is given a number
        rate=rate_of(state.books.optimizers[number]) if number is not None else None,
    )


def _around_own_schedules(frame: FrameType) -> FrameType:
    """The frame that stepped a schedule, behind those of the user's own scheduler classes, which hand a step on."""
    own = places.user_frame(frame)
    while own is not None and own.f_code.co_name == "step":
        with losses.names_in(own) as names:
            if not isinstance(names.get("self"), torch.optim.lr_scheduler.LRScheduler):
                break
        own = places.user_frame(own.f_back)
        frame = own or frame
    return frame


def _told_in_epochs(
    state: State, scheduler: Any, optimizer: int | None, place: Place, frame: FrameType
) -> dict[str, Any]:
    """Whether the text counts the epochs of this scheduler, where it stands or where its optimizer was made; or else
    the times it is given are no longer than a loop over epochs around the one that it is stepped in."""
    kind, functions = type(scheduler).__name__, _codes(scheduler)
    loop = source.loop_around(place.file, place.line) if functions or kind in timetables.CLOCKED else None
    if not isinstance(loop, ast.For):
        return {}
    if functions:
        told = _by_number_of_turn(functions, place, loop, frame)
        return {"in_epochs": told, "loop": Place(place.file, loop.lineno)} if told else {}
    made = state.books.optimizers[optimizer].made_by if optimizer is not None else ()
    files = dict.fromkeys([place.file, *(call.place.file for call in made)])
    told = next((text for file in files if (text := timetables.length_in_epochs(file, kind))), "")
    told = told or _as_few_as_epochs(scheduler, loop, place, frame)
    return {"in_epochs": told, "loop": Place(place.file, loop.lineno)} if told else {}


def _by_number_of_turn(functions: list[CodeType | None], place: Place, loop: ast.For, frame: FrameType) -> str:
    """The one of these functions that is asked for an epoch by its text, as the loop around this one counts them, in
    the same function or in one that called it."""
    lines = [(place.file, loop.lineno), *places.place_and_trail(frame)[1][1:]]
    around = next((found for line in lines if (found := source.loop_around(*line)) is not None), None)
    if not isinstance(around, ast.For) or not isinstance(around.target, ast.Name):
        return ""
    codes, name = [code for code in functions if code is not None], around.target.id
    told = (timetables.argument_in_epochs(code.co_filename, code.co_firstlineno, name) for code in codes)
    return next(filter(None, told), "")


def _as_few_as_epochs(scheduler: Any, loop: ast.For, place: Place, frame: FrameType) -> str:
    """The time after which a scheduler cuts the rate in half, or to less, and the number of epochs that its loop stands
    in, where that is no smaller."""
    name = timetables.CLOCKED[type(scheduler).__name__]
    times = getattr(scheduler, name, None)
    longest = times if isinstance(times, int) else max(times or (0,))
    turns = timetables.epochs_around(place.file, loop.lineno)
    own = places.user_frame(frame)
    if turns is None or own is None or not longest or getattr(scheduler, "gamma", 1.0) > 0.5:
        return ""
    with losses.names_in(own) as names:
        epochs = losses.stands_for(turns, names)
    few = isinstance(epochs, int) and longest <= epochs
    return f"{name}={longest}, where the loop counts {epochs}" if few else ""


def _told_by_functions(scheduler: Any) -> dict[str, Any]:
    """What the text of a `LambdaLR`'s functions says: whether it counts optimizer steps, whether it gives a rate."""
    facts: dict[str, Any] = {}
    for code, base in zip(_codes(scheduler), getattr(scheduler, "base_lrs", ()), strict=False):
        if code is None:
            continue
        if "in_steps" not in facts and (told := timetables.counts_steps(code.co_filename, code.co_firstlineno)):
            facts["in_steps"] = told
        rate = timetables.gives_rate(code.co_filename, code.co_firstlineno)
        if "in_rates" not in facts and rate is not None:
            facts |= {"in_rates": rate[0], "in_rates_at": rate[1], "base": float(base)}
    return facts


def _codes(scheduler: Any) -> list[CodeType | None]:
    """The code of a `LambdaLR`'s functions; a functools.partial has it inside."""
    return [getattr(getattr(one, "func", one), "__code__", None) for one in getattr(scheduler, "lr_lambdas", ())]


def _counted_in_epochs(scheduler: Any) -> str:
    """The function of a `LambdaLR` that calls what it is given an epoch, with that name."""
    for code in _codes(scheduler):
        name = code.co_varnames[0] if code is not None and code.co_argcount else ""
        if code is not None and "epoch" in name.lower():
            return f"{code.co_name}({name})"
    return ""


def _largest_held(scheduler: Any) -> int | None:
    """The largest whole number that the functions of a `LambdaLR` hold, such as how many steps there will be."""
    held: list[Any] = []
    for one in getattr(scheduler, "lr_lambdas", ()):
        given = getattr(one, "keywords", {})  # of a functools.partial
        function = getattr(one, "func", one)
        held += [*given.values(), *getattr(one, "args", ()), *(getattr(function, "__defaults__", None) or ())]
        held += [cell.cell_contents for cell in hooked.cells(function).values()]
    return max((n for n in held if isinstance(n, int) and not isinstance(n, bool) and n > 1), default=None)


def _count_schedule(state: State, scheduler: Any, optimizer: int, frame: FrameType) -> None:
    """Count the steps of a scheduler that says how many it is made for."""
    before, last = timetables.last_of(scheduler)
    name = type(last).__name__
    named = name in timetables.LENGTHS
    length = vars(last).get(timetables.LENGTHS[name][0]) if named else _largest_held(scheduler)
    length = int(length) if isinstance(length, float) and length.is_integer() else length
    if not isinstance(length, int):
        return
    length += before
    books, key = state.books, id(scheduler)
    entry = books.schedules.get(key)
    if entry is None or (entry.kind, entry.optimizer, entry.length) != (name, optimizer, length):
        in_epochs = _counted_in_epochs(scheduler)
        entry = books.schedules[key] = Schedule(scheduler, name, optimizer, length, named, in_epochs)
        entry.made_at = books.made_schedule(scheduler)
    entry.steps += 1
    entry.place = places.user_place(frame)


def loader_started(state: State, loader: Any, frame: FrameType) -> None:
    """A DataLoader begins a pass over its data."""
    for account in state.within_reach():
        if account.read is not None:
            settle(state, account)
    state.progress.data_passes += 1
    state.emit(DataPass, places.user_place(frame), (), pending=state.books.waiting_passes())


def loader_runs(state: State, loader: Any, iterator: Any) -> None:
    """A DataLoader has begun: how many batches there will be, where it knows."""
    try:
        state.progress.loading = Loading(weakref.ref(iterator), len(loader))
    except TypeError:  # it has no length, or somebody's own iterator takes no weak references
        state.progress.loading = None


def optimizer_made(state: State, optimizer: Any, frame: FrameType) -> None:
    """An optimizer was made."""
    if "param_groups" in vars(optimizer) and state.knows(optimizer):
        state.optimizer(optimizer, making.made_by(optimizer, frame), state.books.tick())
        state.books.name_early()


_SAVES = re.compile(r"save|checkpoint|ckpt", re.IGNORECASE)
"""Names of functions that write a checkpoint."""


def optimizer_saved(state: State, optimizer: Any, frame: FrameType) -> None:
    """The state of an optimizer was asked for, perhaps to be saved, while gradients wait for its step."""
    last = state.progress.last
    if "param_groups" not in vars(optimizer) or not state.knows(optimizer) or last is None or last.draft.place is None:
        return
    entry = state.optimizer(optimizer)
    pending = max((len(a.deposits) for a in entry.accounts if a.status == FRESH), default=0)
    inner = at = places.user_frame(frame) if pending else None
    loop = (last.draft.place.file, last.draft.place.function)
    names = []
    while at is not None and (at.f_code.co_filename, at.f_code.co_name) != loop:
        names.append(at.f_code.co_name)
        at = places.user_frame(at.f_back)
    if inner is None or at is None:
        return
    within = source.scope(inner.f_code.co_filename, inner.f_lineno)
    if any(map(_SAVES.search, names)) or (within is not None and "torch.save(" in ast.unparse(within)):
        state.emit(StateSaved, places.user_place(at), (), optimizer=entry.number, pending=pending)


def optimizer_restored(state: State, optimizer: Any, frame: FrameType) -> None:
    """The state of an optimizer was loaded from a checkpoint."""
    if "param_groups" in vars(optimizer) and state.knows(optimizer):
        state.optimizer(optimizer).restored = places.user_place(frame)
