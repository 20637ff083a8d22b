"""Optimizer steps: taken, skipped by a scaler, with closures, inside one another, compared with a reference."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from itertools import islice
from types import FrameType
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from gradient_ledger import (
    anew,
    blends,
    buffers,
    clocks,
    closelook,
    conditions,
    lowrank,
    making,
    memory,
    modes,
    places,
    rounding,
    scalers,
    source,
    undone,
    unfilled,
    wrappers,
)
from gradient_ledger.account import EMPTY, FRESH, USED, ZERO, Account, can_train, grad_of
from gradient_ledger.books import Dead, OptimizerAccount
from gradient_ledger.budget import SAMPLES
from gradient_ledger.compiled import run_as_it_is
from gradient_ledger.events import Backward, Place, SkippedStep, Step, Trail
from gradient_ledger.gradients import arrived, book_deposit, current_pass, flush, note_grown, settle_each
from gradient_ledger.journal import Draft
from gradient_ledger.progress import ScalerStep, task_id
from gradient_ledger.reference import compare_with_reference
from gradient_ledger.scalers import note_updates, scale_now
from gradient_ledger.state import State
from gradient_ledger.surroundings import current_region
from gradient_ledger.tally import first_rate_alone, is_at_rest, rate_of, tally
from gradient_ledger.tensors import fingerprint, hooks_on, is_zero, norm_of, seems_finite

DEAD_AFTER, DEAD_LOOKS = 16, 5
"""Steps, and looks, after which a matrix of zeros whose gradients are zeros is held to stay one."""

REWRITTEN_AFTER, MOST_ENTRIES = 2, 4096
"""Steps after which a change of what no gradient reaches counts; entries that are looked at."""

# ------------------------------------------------------------------ a step begins


def step_begins(
    state: State, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType, depth: int
) -> Any:
    """An optimizer is about to step, `depth - 1` others being in their own steps around it.

    Returns replaced arguments where a closure must be watched.
    """
    closure = args[1] if len(args) > 1 else kwargs.get("closure")
    if state.rhythm is not None and state.rhythm.step_begins(optimizer, closure, frame, depth):
        return None
    thread = threading.get_ident()
    under_way = state.progress.stepping.setdefault(thread, [])
    del under_way[max(depth - 1, 0) :]  # steps that raised never ended
    outer: int | None = under_way[-1].fields["optimizer"] if under_way else None
    if not state.knows(optimizer):
        return None
    if outer is not None and is_part_of(state, optimizer, outer):
        weigh_anew(state, state.books.optimizers[outer], under_way[-1])
        return None
    entry = state.optimizer(optimizer)
    inside = bool(state.progress.passes) and task_id() != -1
    catch_up(state, entry, inside)
    if not entry.steps and entry.taker is None:
        making.first_step(entry, frame)
    if state.averages:
        blends.step_begins(state, entry)
    if (entry.wrapper is not None or entry.steps == wrappers.FIRST) and outer is None:
        wrappers.before_step(state, entry, frame)
    draft = begin(state, entry, *places.place_and_trail(frame), depth, inside, outer)
    if entry.steps < SAMPLES:
        draft.fields["counted_to"] = conditions.counted_to(frame)
    within = state.progress.scaler_steps.get(thread)
    if within is not None and within.fired is None:
        within.fired = draft
    fused = within is not None and within.fused
    if not entry.steps and (fused or entry.bare):
        draft.fields["unfilled"] = unfilled.step_begins(entry, fused)
    if callable(closure):
        draft.fields["closure_calls"] = 0
        wrapped = watched_closure(state, closure, entry, draft)
        if len(args) > 1:
            return (args[0], wrapped, *args[2:]), kwargs
        return args, {**kwargs, "closure": wrapped}
    weigh(state, entry, draft)
    if within is not None and within.fired is draft:
        note_updates(within.scaler, draft)
    return None


def begin(
    state: State,
    entry: OptimizerAccount,
    place: Place | None,
    trail: Trail,
    depth: int,
    inside: bool,
    outer: int | None,
) -> Draft:
    """The event of a step, which is under way from now on."""
    draft = state.emit(Step, place, (), optimizer=entry.number, inside_backward=inside, inside=outer)
    draft.window, draft.trail, draft.depth = entry.steps, trail, depth
    draft.fields["restored"], entry.restored = entry.restored, None
    state.progress.stepping.setdefault(threading.get_ident(), []).append(draft)
    return draft


def is_part_of(state: State, optimizer: Any, outer: int) -> bool:
    """Whether the step of this optimizer is a part of the outer one's: all its parameters are that one's too."""
    theirs = {id(account.ref()) for account in state.books.optimizers[outer].accounts}
    return all(id(p) in theirs for group in getattr(optimizer, "param_groups", ()) for p in group["params"])


def catch_up(state: State, entry: OptimizerAccount, inside: bool) -> None:
    """Bring every gradient the step will use up to date."""
    current = current_pass(state) if inside else None
    if current is not None:
        for account in entry.accounts:
            parameter = account.ref()
            grad = grad_of(parameter) if parameter is not None else None
            if parameter is None or grad is None:
                continue
            if account.status in (EMPTY, ZERO, USED) and grad._version != account.version:
                book_deposit(state, account, parameter, current)
            arrived(state, account, grad)
        flush(state, current)
    settle_each(state, entry.accounts)


def watched_closure(
    state: State, closure: Callable[[], Any], entry: OptimizerAccount, draft: Draft
) -> Callable[[], Any]:
    """The closure, with a look at the gradients after each call: the optimizer uses them then."""

    def watched() -> Any:
        result = closure()
        if not state.finished:
            with state.lock:
                try:
                    closure_ran(state, entry, draft)
                except Exception as error:
                    state.failed(error)
        return result

    run_as_it_is(watched, below=False)
    run_as_it_is(closure_ran)
    return watched


def closure_ran(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """A closure has left its gradients for the step."""
    draft.fields["closure_calls"] += 1
    settle_each(state, entry.accounts)
    if draft.fields["closure_calls"] == 1:
        weigh(state, entry, draft)
    else:
        if not any(account.status == FRESH for account in entry.accounts):
            draft.fields["closure_idle"] = draft.fields.get("closure_idle", 0) + 1
        late = [account for account in entry.accounts if account.mixed == USED]
        draft.fields["mixed"].setdefault(USED, []).extend(late)
    # The step stands in the ledger where its update happens: after what the closure did.
    state.journal.happens_now(draft)
    use(state, entry)


# ------------------------------------------------------------------ what it is about to use


def look_for_filled(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """Zeros that are none any more: the user's code has put its own gradients there in a way that shows nowhere, as
    `p.grad.data.add_()` does."""
    for account in entry.accounts:
        grad = account.grad if account.status == ZERO else None
        if grad is not None and state.budget.may_look("filled") and not is_zero(grad):
            account.edit(draft.place)


def weigh(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """Write down what the step is about to use."""
    fields, budget = draft.fields, state.budget
    fields["region"] = current_region(state)
    if fields["region"] is not None and draft.place is not None:
        fields["region_at"] = source.with_around(draft.place.file, draft.place.line, "autocast")
    fields["rate"] = rate_of(entry)
    if fields["rate"] == 0 and is_at_rest(entry):
        fields["at_rest"] = True
    if entry.steps < SAMPLES:
        look_for_filled(state, entry, draft)
    tally(draft, entry.accounts)
    look_for_left_out(state, entry, draft)
    if fields["fresh"] and (entry.steps < SAMPLES or fields["stale"]) and budget.may_look("norms"):
        held = [grad for a in entry.accounts if a.status in (FRESH, USED) and (grad := a.grad) is not None]
        fields["norm"] = norm_of(held)
    look_for_nonfinite(entry, draft)
    if fields["zeros"]:
        fields["idle_by"] = moves_idle(entry)
        if fields["idle_by"] != () and budget.may_look("idle", 12):
            # Zeros where the user's code computes the gradients are what it computed.
            draft.idle = copies(a for a in entry.accounts if a.status == ZERO and not a.given)
    elif fields["none"] and fields["fresh"] and moves_idle(entry) is None and budget.may_look("idle", 12):
        # Those of torch leave alone what has no gradient; what others do shows in the weights.
        draft.idle = copies(islice((a for a in entry.accounts if a.status == EMPTY), FEW))
    if entry.steps & (entry.steps - 1) == 0:  # steps 0, 1, 2, 4, 8, …
        if entry.steps == 0 and budget.may_look("wholes", 4):
            state.books.find_wholes(even_if_whole=state.reference is not None)
        state.books.look_around()
        look_for_dead(entry)
        memory.look_for_twins(state, entry, draft)
        rounding.before_step(entry)
        if first_rate_alone(entry):
            fields["first_rate_alone"] = True
        look_for_rewritten(entry)
    if not entry.steps:
        anew.first_step_begins(state, entry)
        if state.low_rank and (optimizer := entry.ref()) is not None:
            lowrank.stepped(state, optimizer.param_groups)
    if state.evaluations:
        modes.before_step(state, entry, draft)
    if state.undone:
        undone.before_step(state)
    if state.withdrawn:
        undone.count_in_eval(state, entry)
    clocks.step_begins(entry, draft)
    if state.in_float16 and not state.progress.scaling and state.budget.may_look("idle scaler", 1):
        state.idle_scaler = scalers.is_idle()
    count_batch_norms(state, draft)
    count_hooks(state, entry, draft)
    if state.reference is not None:
        compare(state, entry, draft)


def weigh_anew(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """A step hands its parameters to the optimizer inside it. Where it has run passes of its own before, as one that
    keeps the loss as a function does, what it uses is what they have left, and not what was there when it began."""
    last = state.journal.last(Backward)
    if last is None or last.number < draft.number or "closure_calls" in draft.fields:
        return
    settle_each(state, entry.accounts)
    draft.idle = {}
    tally(draft, entry.accounts)
    look_for_left_out(state, entry, draft)
    state.journal.happens_now(draft)


def look_for_left_out(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """Look for what the passes of this step have reached, too, and no optimizer holds."""
    numbers = draft.fields.get("pass_numbers", ())
    for account in state.books.accounts if numbers else ():
        if not account.owners and account.status == FRESH and account.seen in numbers:
            account.stepped_past |= {entry.number}


def look_for_nonfinite(entry: OptimizerAccount, draft: Draft) -> None:
    """Look at one small gradient on the CPU: inf and nan spread to all that stand before them."""
    fresh = entry.smallest()
    if fresh is None or fresh.status != FRESH or not draft.fields.get("finite", True):
        return
    grad = fresh.grad
    if grad is not None and not seems_finite(grad):
        draft.fields["finite"] = False


def look_for_dead(entry: OptimizerAccount) -> None:
    """Look for matrices of zeros whose gradients are zeros: all at the first step, afterwards those that were so."""
    if not entry.steps:
        held = [(a, g) for a in entry.accounts if a.status == FRESH and (g := a.grad) is not None and g.dim() > 1]
        plain = [(a, g) for a, g in held if type(g) is Tensor and g.layout == torch.strided and g.numel()]
        for device in {g.device for _, g in plain}:
            there = [(a, g[0]) for a, g in plain if g.device == device]  # a row of each, and one wait for a GPU
            alive = torch.stack([row.any() for _, row in there]).tolist()
            entry.dead.update({a: Dead(0) for (a, _), lives in zip(there, alive, strict=True) if not lives})
    for account, one in list(entry.dead.items()):
        if account.status == EMPTY:
            continue
        parameter = account.ref()
        if account.status == FRESH and is_zero(account.grad) and parameter is not None and is_zero(parameter):
            late = entry.steps >= DEAD_AFTER and one.looks + 1 >= DEAD_LOOKS
            entry.dead[account] = Dead(one.looks + 1, parameter.detach() if late else None)
        else:
            del entry.dead[account]


def look_for_rewritten(entry: OptimizerAccount) -> None:
    """Look whether what no gradient reaches moves all the same: the user's code writes to it, as to an average.

    Once is no sign: it may have been clamped or loaded before the second step.
    """
    before, entry.unreached = entry.unreached, {}
    for account in entry.accounts:
        parameter = account.ref()
        if account.status != EMPTY or entry.number in account.stepped_by or account.rewritten:
            continue
        if parameter is None or is_lazy(parameter) or not can_train(parameter):
            continue
        now = fingerprint(parameter.detach().flatten()[:MOST_ENTRIES])
        if account in before and now != before[account]:
            account.rewritten = entry.steps >= REWRITTEN_AFTER
        entry.unreached[account] = now


def count_batch_norms(state: State, draft: Draft) -> None:
    """How often the busiest BatchNorm has run in this window."""
    norms = [m for m in state.books.norms if m.window_calls > 1]
    if norms:
        draft.fields["batch_norm"] = max(m.window_calls for m in norms)
        draft.fields["batch_norm_names"] = tuple(m.name for m in norms[:3])
        draft.fields["batch_norm_at"] = norms[0].called_at
    for one in state.books.norms:
        one.window_calls = 0


def count_hooks(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """Which parameters, or the modules together, carry more hooks than at any step before."""
    hooks: dict[Any, int] = {}
    for account in entry.accounts:
        parameter = account.ref()
        count = hooks_on(parameter) - (account.handle is not None) if parameter is not None else 0
        if count > account.hooks:
            hooks[account] = count
        account.hooks = count
    if entry.steps < 2 * SAMPLES:
        parts = [m.ref() for m in state.books.modules.values()]
        count = sum(len(part._backward_hooks) for part in parts if part is not None)
        if count > state.module_hooks and state.module_hooks >= 0:
            hooks["the modules"] = count
        state.module_hooks = count
    if hooks:
        draft.fields["hooks"] = hooks
        draft.fields["hooked_at"], draft.fields["hooks_scale"] = state.hooked_at, state.hooks_scale


def moves_idle(entry: OptimizerAccount) -> tuple[str, ...] | None:
    """What moves a parameter whose gradient is zero, by the settings of one of torch's own optimizers: plain SGD leaves
    it where it is, as do the others' running means of squares. None for what others may do.
    """
    optimizer = entry.ref()
    if optimizer is None or not type(optimizer).__module__.startswith("torch.optim."):
        return None
    groups = optimizer.param_groups
    found = {"momentum": any(g.get("momentum") or any(g.get("betas", ())[:1]) for g in groups)}
    found["weight decay"] = any(g.get("weight_decay") or g.get("lambd") for g in groups)
    return tuple(name for name, moves in found.items() if moves)


def compare(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """Hold what the step is about to use against the user's reference."""
    assert state.reference is not None
    state.muted = True
    try:
        found, names = compare_with_reference(state.reference, entry.accounts)
        if found is not None:
            draft.fields["reference"] = found
        state.reference_names = None if found is not None or state.reference_names is None else names
    except Exception as error:
        state.reference_error = error
        raise
    finally:
        state.muted = state.finished


# ------------------------------------------------------------------ a step is over


def use(state: State, entry: OptimizerAccount) -> None:
    """Mark what a step has just used."""
    for account in entry.accounts:
        parameter = account.ref()
        grad = grad_of(parameter) if parameter is not None else None
        if grad is None or parameter is None:
            if account.status != EMPTY:
                account.clear(EMPTY)
            continue
        if account.piled:
            note_grown(state, account, stepped=True)
        account.use(entry.number, grad._version)
        account.written = parameter._version


def step_ends(state: State, optimizer: Any, depth: int) -> None:
    """The optimizer has stepped; what its own step called has the same name, and ends at a greater depth."""
    if state.rhythm is not None and state.rhythm.step_ends(optimizer, depth):
        return
    thread = threading.get_ident()
    under_way = state.progress.stepping.get(thread)
    entry = state.books.optimizers[under_way[-1].fields["optimizer"]] if under_way else None
    if not under_way or entry is None or entry.ref() is not optimizer or under_way[-1].depth != depth:
        return  # a part of another's step
    draft = under_way.pop()
    if draft.idle:
        moved = {account: by for account, before in draft.idle.items() if (by := how_far(account, before)) > 0}
        none = set(draft.fields["none"])
        draft.fields["idle_moved"] = {account: by for account, by in moved.items() if account not in none}
        draft.fields["none_moved"] = {account: by for account, by in moved.items() if account in none}
    if not draft.fields.get("finite", True) and all(account.grad is None for account in entry.accounts):
        draft.fields["finite"] = True  # a hook of the user's has taken them away
    within = state.progress.scaler_steps.get(thread)
    if within is not None and within.fused and float(getattr(optimizer, "found_inf", None) or 0) > 0:
        if not entry.steps:
            draft.fields["unfilled"] = {}
            unfilled.skipped(entry)
        skip(state, entry, draft)
        return
    if (rounded := rounding.after_step(entry)) is not None:
        draft.fields["rounded"] = rounded
    if entry.steps < SAMPLES:
        kept = [account for account in entry.accounts if is_state(account, optimizer)]
        draft.fields["kept_as_state"] = kept
        if kept and (read := kept[0].read) is not None:
            draft.fields["kept_at"] = buffers.kept_gradient(read.file, read.line, added=False) or read
    if not entry.steps:
        anew.first_step_ended(state, entry)
    use(state, entry)
    entry.steps += 1
    state.progress.last_step_at = draft.place
    if state.followed:
        blends.step_ends(state, entry)
    state.progress.stepped(entry.steps)
    entry.last_step = state.progress.steps
    if state.close_look is not None and state.progress.steps >= state.close_look.until:
        closelook.end(state)
    if entry.steps & (entry.steps - 1) == 0 or closelook.pass_ends(state):  # after steps 1, 2, 4, 8, …
        closelook.begin(state, several_passes=draft.fields.get("passes", 0) > 1)
    state.journal.close_groups()
    if state.listener is not None:
        state.listener.window_ends(state, entry)
    state.journal.window_closed()
    state.say_step()


def is_state(account: Account, optimizer: Any) -> bool:
    """Whether an optimizer keeps the very gradient of a parameter, or a view of it, as its state."""
    parameter, grad = account.ref(), account.grad
    kept = optimizer.state.get(parameter) if parameter is not None and grad is not None else None
    if not isinstance(kept, dict) or grad is None or grad.layout != torch.strided or grad.numel() < 2:
        return False
    held = [one for one in kept.values() if isinstance(one, Tensor) and one.layout == torch.strided]
    at = grad.data_ptr()  # 0 for sharded tensors, which have no memory of their own
    return any(one is grad or (at and one.numel() == grad.numel() and one.data_ptr() == at) for one in held)


FEW = 16
"""Parameters without a gradient that are looked at."""


def copies(accounts: Iterable[Account]) -> dict[Account, Tensor]:
    """What some parameters hold now."""
    return {a: p.detach().clone() for a in accounts if (p := a.ref()) is not None}


def how_far(account: Account, before: Any) -> float:
    """How far a parameter has moved."""
    parameter = account.ref()
    return float((parameter.detach() - before).norm()) if parameter is not None else 0.0


def skip(state: State, entry: OptimizerAccount, draft: Draft | None) -> None:
    """Mark what a scaler has kept from being used."""
    if draft is None:
        place = state.progress.scaler_steps[threading.get_ident()].place
        draft = state.emit(SkippedStep, place, (), optimizer=entry.number, region=current_region(state))
        draft.window = entry.steps
        tally(draft, entry.accounts)
    draft.kind = SkippedStep
    for account in entry.accounts:
        account.skip()
        grad = account.grad
        if grad is not None:
            account.version = grad._version
    for one in state.books.norms:
        one.window_calls = 0
    state.journal.close_groups()


def scaler_step_begins(state: State, scaler: Any, optimizer: Any, frame: FrameType) -> object:
    """`scaler.step(optimizer)` was called; what is returned belongs to its end."""
    thread = threading.get_ident()
    before = state.progress.scaler_steps.get(thread)
    known = scale_now(state, scaler)
    fused = bool(getattr(optimizer, "_step_supports_amp_scaling", False))
    state.progress.scaler_steps[thread] = ScalerStep(places.user_place(frame), fused, known)
    return before


def scaler_step_ends(state: State, optimizer: Any, before: Any, failed: bool) -> None:
    """`scaler.step(optimizer)` is over: a step that torch did not take was skipped."""
    scaler_steps, thread = state.progress.scaler_steps, threading.get_ident()
    fired = scaler_steps[thread].fired
    if fired is None and not failed and state.knows(optimizer):
        skip(state, state.optimizer(optimizer), None)
    if fired is not None:
        fired.fields["by_scaler"] = True
        fired.fields["scale"] = state.progress.scale
    del scaler_steps[thread]
    if before is not None:
        scaler_steps[thread] = before
