"""Optimizers made anew for every step or every epoch: each begins without the state that the one before it kept."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

from gradient_ledger import timetables
from gradient_ledger.account import FRESH, Account
from gradient_ledger.books import OptimizerAccount
from gradient_ledger.events import Place
from gradient_ledger.state import State
from gradient_ledger.tensors import fingerprint

LOOKED_AT = 3
"""How many of the smallest parameters are looked at: weights that were put back change all of them."""

_STATEFUL = ("momentum", "betas", "alpha", "rho", "etas", "beta2_decay", "amsgrad")
"""What groups of optimizers name that go by what earlier steps left in their state; by nothing of it, where it is 0."""


class Once(NamedTuple):
    """An optimizer that has taken one step or more, and how the first one left the weights."""

    entry: OptimizerAccount
    versions: list[int]
    looked_at: list[Account]
    prints: list[float | None]


def _key(entry: OptimizerAccount) -> tuple[Place, Account] | None:
    return (entry.made_by[0].place, entry.accounts[0]) if entry.made_by and entry.accounts else None


def first_step_begins(state: State, entry: OptimizerAccount) -> None:
    """Note that an optimizer stands where another one of its line has just stood, and kept nothing of what that knew.

    Between the two steps nobody may have written to the weights: a task or a client that begins from weights of its
    own begins with a state of its own.
    """
    key, optimizer = _key(entry), entry.ref()
    before = state.stepped_once.pop(key, None) if key is not None else None
    if before is None or optimizer is None or optimizer.state or before.entry.accounts != entry.accounts:
        return
    if before.entry.steps > 1:
        # A task or a stage begins with an optimizer of its own.
        if not any(timetables.is_by_epochs(call.place.file, call.place.line) for call in entry.made_by):
            return
        if all(account.written == at for account, at in zip(entry.accounts, _versions(entry), strict=True)):
            entry.follows = before.entry.number
    elif before.versions == _versions(entry):
        if before.prints == [_print(account) for account in before.looked_at]:
            entry.follows = before.entry.number


def first_step_ended(state: State, entry: OptimizerAccount) -> None:
    """Remember how an optimizer's first step has left the weights, if its next ones would go by what it has kept."""
    key, optimizer = _key(entry), entry.ref()
    if key is None or optimizer is None or not _goes_by_its_state(optimizer):
        return
    if state.budget.may_look(("anew", key[0])):
        held = [(p.numel(), a) for a in entry.accounts if (p := a.ref()) is not None and a.status == FRESH]
        smallest = [account for _, account in sorted(held, key=lambda one: one[0])[:LOOKED_AT]]
        state.stepped_once[key] = Once(entry, _versions(entry), smallest, [_print(account) for account in smallest])


def _versions(entry: OptimizerAccount) -> list[int]:
    return [p._version if (p := account.ref()) is not None else -1 for account in entry.accounts]


def _print(account: Account) -> float | None:
    parameter = account.ref()
    return fingerprint(parameter) if parameter is not None else None


def _goes_by_its_state(optimizer: Any) -> bool:
    """Whether an optimizer has kept something as large as a parameter, to go by at its next step."""
    told = [group[name] for group in optimizer.param_groups for name in _STATEFUL if name in group]
    if not any(any(one) if isinstance(one, (tuple, list)) else one for one in told):
        return False
    kept = [(p, one) for p, one in optimizer.state.items() if isinstance(p, Tensor) and isinstance(one, dict)]
    return any(isinstance(v, Tensor) and v.shape == p.shape and v.dim() for p, one in kept for v in one.values())
