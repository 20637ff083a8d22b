"""Backward passes, and what each of them adds to which gradient."""

from __future__ import annotations

import sys
import threading
import weakref
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from gradient_ledger import places
from gradient_ledger.accounts import EMPTY, FRESH, Account, Deposit, grad_of, living
from gradient_ledger.gradients import book_deposit, current_pass, flush, settle_all
from gradient_ledger.graph import COMBINING, describe, is_loss
from gradient_ledger.state import Pass, State, task_id
from gradient_ledger.surroundings import current_region
from gradient_ledger.tensors import digest_of, fingerprint


def backward_begins(
    state: State, roots: Any, gradient: Any, retain: bool, create: bool, frame: FrameType
) -> Pass | None:
    """`backward` was called. None for one inside another, as reentrant checkpoints do."""
    if task_id() != -1:
        return None
    settle_all(state)
    state.groups.clear()
    if not state.books.accounts and not state.own_only and state.may_look("optimizers", 2):
        # No module has run and no optimizer has acted: plain tensors, in optimizers from before the ledger.
        for optimizer in living(torch.optim.Optimizer):
            if "param_groups" in vars(optimizer):
                state.optimizer(optimizer)
    if any(account.handle is None for account in state.books.accounts):
        state.hook_up()
    first = roots[0] if isinstance(roots, (list, tuple)) and roots else roots
    node = getattr(first, "grad_fn", None) or getattr(first, "node", None)
    scaled = state.scaling and is_scaled(state, node)
    draft = state.emit(
        "backward",
        places.user_place(frame),
        (),
        retain_graph=retain,
        create_graph=create,
        gradient=gradient is not None,
        scaled=scaled,
        region=current_region(state),
        **describe(node, scaled),
    )
    for root, module in state.books.living():
        if root.kind == "ddp":
            draft.details["sync"] = bool(module.require_backward_grad_sync)
    state.pass_number += 1
    draft.details["pass"] = state.pass_number
    deposit = Deposit(state.pass_number, draft.place, places.trail(frame), state.steps, scaled)
    one = Pass(deposit, draft, threading.get_ident())
    state.passes.append(one)
    state.last = one
    if retain and node is not None and gradient is None:
        draft.details["same_root"] = node.metadata.get(f"{state.mark} root")
        node.metadata[f"{state.mark} root"] = state.pass_number
        watch_again(state, node, one)
    return one


def watch_again(state: State, node: Any, one: Pass) -> None:
    """Be told when a later backward comes through this loss again."""
    mine, number = weakref.ref(state), one.deposit.number

    def again(grads: Any) -> None:
        recorder = mine()
        if recorder is None or recorder.finished or recorder.muted:
            return
        current = current_pass(recorder)
        if current is not None and current.deposit.number != number:
            seen = current.draft.details.setdefault("again", [])
            if number not in seen:
                seen.append(number)

    # Losses are seldom summed the same way twice: the single losses in a sum are watched too.
    waiting, seen = [node], 0
    node.register_prehook(again)
    while waiting and seen < 64:
        one_node = waiting.pop()
        if type(one_node).__name__ not in COMBINING:
            continue
        for inner, _ in one_node.next_functions:
            if inner is not None and seen < 64:
                seen += 1
                if is_loss(inner):
                    inner.register_prehook(again)
                waiting.append(inner)


def is_scaled(state: State, node: Any) -> bool:
    """Whether a loss comes from the scaler: its graph, looked at near its end, passes through the product."""
    waiting = [node]
    for _ in range(24):
        if not waiting:
            return False
        one = waiting.pop(0)
        if one is None:
            continue
        if state.mark in one.metadata:
            return True
        waiting += [inner for inner, _ in one.next_functions]
    return False


def deposited(state: State, account: Account, parameter: Tensor) -> None:
    """A gradient has just been accumulated."""
    if grad_of(parameter) is None:
        return  # a hook before ours used it and cleared it: booked at that step
    current = current_pass(state)
    if current is None:
        # backward was called in a way we did not see: through C++, or imported by name beforehand.
        frame = sys._getframe(2)
        settle_all(state)
        state.pass_number += 1
        draft = state.emit("backward", places.user_place(frame), (), scaled=False, **{"pass": state.pass_number})
        deposit = Deposit(state.pass_number, draft.place, places.trail(frame), state.steps, False)
        current = Pass(deposit, draft, threading.get_ident())
        current.task = task_id()
        state.passes.append(current)
        state.last = current
    elif current.task != -1 and current.task != task_id():
        backward_ends(state, current)
        deposited(state, account, parameter)
        return
    book_deposit(state, account, current)


def backward_ends(state: State, one: Pass) -> None:
    """The backward pass is over, whatever way it ended."""
    flush(state, one)
    if one in state.passes:
        state.passes.remove(one)
    number = one.deposit.number
    for account in state.within_reach():
        if account.status == EMPTY:
            continue
        parameter = account.ref()
        grad = grad_of(parameter) if parameter is not None else None
        if grad is None:
            continue
        account.version = grad._version
        if account.seen != number:
            continue
        account.read = None
        if state.digests and account.status == FRESH:
            account.digest = digest_of(grad)
        if parameter is not None and not account.owned:
            account.written = parameter._version
            account.print = fingerprint(parameter) if state.may_look("prints", 4000) else None
    if state.sharing or state.pass_number < 3:
        find_aliases(state, one)


def find_aliases(state: State, one: Pass) -> None:
    """Look whether this pass added to a tensor that two parameters hold as their gradient."""
    holders: dict[int, Account] = {}
    for account in state.within_reach():
        parameter = account.ref()
        grad = grad_of(parameter) if parameter is not None else None
        if grad is None:
            continue
        other = holders.setdefault(id(grad), account)
        if other is not account and (account.seen == one.deposit.number or other.seen == one.deposit.number):
            place = state.sharing.get(account.index) or state.sharing.get(other.index) or one.deposit.place
            state.join("edit", place, account, "shared", how="shared", status=account.status)
