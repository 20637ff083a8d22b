"""Optimizer steps: taken, skipped by a scaler, with closures, compared with a reference."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from gradient_ledger import places
from gradient_ledger.accounts import EMPTY, FRESH, SKIPPED, USED, ZERO, OptimizerAccount, grad_of
from gradient_ledger.gradients import book_deposit, current_pass, flush, is_settled, settle
from gradient_ledger.reference import compare_with_reference
from gradient_ledger.state import SAMPLES, Draft, State, task_id
from gradient_ledger.surroundings import current_region
from gradient_ledger.tally import rate_of, tally
from gradient_ledger.tensors import hooks_on, norm_of, scale_of


def step_begins(state: State, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> Any:
    """An optimizer is about to step. Returns replaced arguments where a closure must be watched."""
    if not state.knows(optimizer):
        return None
    entry = state.optimizer(optimizer)
    thread = threading.get_ident()
    inside = state.passes and task_id() != -1
    current = current_pass(state) if inside else None
    if current is not None:
        for account in entry.accounts:
            parameter = account.ref()
            grad = grad_of(parameter) if parameter is not None else None
            if grad is not None and account.status in (EMPTY, ZERO, USED) and grad._version != account.version:
                book_deposit(state, account, current)
        flush(state, current)
    for account in entry.accounts:
        parameter = account.ref()
        grad = grad_of(parameter) if parameter is not None else None
        if not is_settled(state, account, grad):
            settle(state, account)
    draft = state.emit("step", places.user_place(frame), (), optimizer=entry.number, inside_backward=inside)
    draft.window = entry.steps
    state.stepping[thread] = draft
    within = state.scaler_steps.get(thread)
    if within is not None:
        within["fired"] = draft
    closure = args[1] if len(args) > 1 else kwargs.get("closure")
    if callable(closure):
        draft.details["closure_calls"] = 0
        wrapped = watched_closure(state, closure, entry, draft)
        if len(args) > 1:
            return (args[0], wrapped, *args[2:]), kwargs
        return args, {**kwargs, "closure": wrapped}
    weigh(state, entry, draft)
    return None


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

    return watched


def closure_ran(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """A closure has left its gradients for the step."""
    draft.details["closure_calls"] += 1
    for account in entry.accounts:
        settle(state, account)
    if draft.details["closure_calls"] == 1:
        weigh(state, entry, draft)
    else:
        late = [account for account in entry.accounts if account.mixed == USED]
        draft.details["mixed"].setdefault(USED, []).extend(late)
    # The step stands in the ledger where its update happens: after what the closure did.
    state.drafts.remove(draft)
    draft.number = state.event_number
    state.event_number += 1
    state.drafts.append(draft)
    use(state, entry)


def weigh(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """Write down what the step is about to use."""
    draft.details["region"] = current_region(state)
    draft.details["rate"] = rate_of(entry)
    tally(draft, entry.accounts)
    if draft.details["fresh"] and (entry.steps < SAMPLES or draft.details["stale"]) and state.may_look("norms"):
        held = [grad_of(p) for a in entry.accounts if a.status in (FRESH, USED) and (p := a.ref()) is not None]
        draft.details["norm"] = norm_of([grad for grad in held if grad is not None])
    if draft.details["zeros"] and not is_stateless(entry) and state.may_look("idle", 12):
        idle = [a for a in entry.accounts if a.status == ZERO]
        draft.details["idle_before"] = {a.index: p.detach().clone() for a in idle if (p := a.ref()) is not None}
    if entry.steps & (entry.steps - 1) == 0:  # steps 0, 1, 2, 4, 8, …
        if entry.steps == 0 and state.may_look("wholes", 4):
            state.books.find_wholes(even_if_whole=state.reference is not None)
        state.books.look_around()
    norms = [m for m in state.books.modules.values() if m.norm and m.window_calls > 1]
    if norms:
        draft.details["batch_norm"] = max(m.window_calls for m in norms)
        draft.details["batch_norm_names"] = [m.name for m in norms][:3]
        draft.details["batch_norm_at"] = norms[0].called_at
    for one in state.books.modules.values():
        if one.norm:
            one.window_calls = 0
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
        draft.details["hooks"] = hooks
        draft.details["hooked_at"] = state.hooked_at
    if state.reference is not None:
        compare(state, entry, draft)


def is_stateless(entry: OptimizerAccount) -> bool:
    """Plain SGD moves nothing where the gradient is zero; momentum, moments and weight decay do."""
    optimizer = entry.ref()
    groups = optimizer.param_groups if optimizer is not None else []
    return not (optimizer is not None and optimizer.state) and all(
        not g.get("momentum") and not g.get("weight_decay") and "betas" not in g and "alpha" not in g for g in groups
    )


def compare(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """Hold what the step is about to use against the user's reference."""
    assert state.reference is not None
    state.muted = True
    try:
        numbers, names = compare_with_reference(state.reference, entry.accounts)
        if numbers is not None:
            draft.details["reference"] = numbers
        state.reference_names = None if numbers is not None or state.reference_names is None else names
    except Exception as error:
        state.reference_error = error
        raise
    finally:
        state.muted = False


def use(state: State, entry: OptimizerAccount) -> None:
    """Mark what a step has just used."""
    for account in entry.accounts:
        parameter = account.ref()
        grad = grad_of(parameter) if parameter is not None else None
        if grad is None:
            if account.status != EMPTY:
                account.status, account.deposits, account.increments = EMPTY, [], []
            continue
        if account.status in (FRESH, SKIPPED, USED):
            account.status, account.used_by = USED, entry.number
        account.deposits, account.increments, account.mixed = [], [], ""
        account.assigned, account.read, account.taken, account.clipped = None, None, False, False
        account.version = grad._version
        account.digest = None
        if parameter is not None:
            account.written = parameter._version


def step_ends(state: State, optimizer: Any) -> None:
    """The optimizer has stepped."""
    thread = threading.get_ident()
    draft = state.stepping.pop(thread, None)
    if draft is None or not state.knows(optimizer):
        return
    entry = state.optimizer(optimizer)
    idle = draft.details.pop("idle_before", None)
    if idle:
        moved = {}
        for account in entry.accounts:
            parameter = account.ref()
            if account.index in idle and parameter is not None:
                by = float((parameter.detach() - idle[account.index]).norm())
                if by > 0:
                    moved[account] = by
        draft.details["idle_moved"] = moved
    within = state.scaler_steps.get(thread)
    if within is not None and within["fused"] and float(getattr(optimizer, "found_inf", None) or 0) > 0:
        skip(state, entry, draft)
        return
    use(state, entry)
    entry.steps += 1
    state.steps += 1
    state.most_steps = max(state.most_steps, entry.steps)
    state.groups.clear()
    state.window_closed()
    state.say_step()


def skip(state: State, entry: OptimizerAccount, draft: Draft | None) -> None:
    """Mark what a scaler has kept from being used."""
    if draft is None:
        draft = state.emit(
            "skipped step", state.scaler_steps[threading.get_ident()]["place"], (), optimizer=entry.number
        )
        draft.window = entry.steps
        draft.details["region"] = current_region(state)
        tally(draft, entry.accounts)
    draft.kind = "skipped step"
    for account in entry.accounts:
        if account.status in (FRESH, USED):
            account.status = SKIPPED
        parameter = account.ref()
        grad = grad_of(parameter) if parameter is not None else None
        if grad is not None:
            account.version = grad._version
    for one in state.books.modules.values():
        one.window_calls = 0
    state.groups.clear()


def scaler_step_begins(state: State, scaler: Any, optimizer: Any, frame: FrameType) -> object:
    """`scaler.step(optimizer)` was called; what is returned belongs to its end."""
    thread = threading.get_ident()
    before = state.scaler_steps.get(thread)
    state.scale = scale_of(scaler)
    # A fused step is called even when it will do nothing; it is then told so by an attribute.
    fused = bool(getattr(optimizer, "_step_supports_amp_scaling", False))
    state.scaler_steps[thread] = {"fired": None, "place": places.user_place(frame), "fused": fused}
    return before


def scaler_step_ends(state: State, optimizer: Any, before: Any, failed: bool) -> None:
    """`scaler.step(optimizer)` is over: a step that torch did not take was skipped."""
    thread = threading.get_ident()
    within = state.scaler_steps[thread]
    fired = within["fired"]
    if fired is None and not failed and state.knows(optimizer):
        skip(state, state.optimizer(optimizer), None)
    if fired is not None:
        fired.details["by_scaler"] = True
        fired.details["scale"] = state.scale
    del state.scaler_steps[thread]
    if before is not None:
        state.scaler_steps[thread] = before
