"""Momentum that begins with whatever lay in its memory.

Torch's fused SGD makes its buffers, without filling them, before its kernel finds out that a gradient scaler wants the
step skipped. The kernel then leaves them as they are, and the next step takes them for momentum.
"""

from __future__ import annotations

import math
import weakref
from typing import Any

import torch
from torch import Tensor

from gradient_ledger.account import Account
from gradient_ledger.books import Bare, OptimizerAccount
from gradient_ledger.tensors import fingerprint, largest

LOOKED_AT = 4096
"""Entries of a buffer that tell whether somebody has filled it without a trace in its version."""


def _mark(buffer: Tensor) -> float | None:
    return fingerprint(buffer.flatten()[:LOOKED_AT])


def _is_still(bare: Bare, buffer: Tensor) -> bool:
    """Whether this is that buffer, and still as it was."""
    if bare.ref() is not buffer or bare.version != buffer._version:
        return False
    before, now = bare.mark, _mark(buffer)
    return before == now or (before is not None and now is not None and math.isnan(before) and math.isnan(now))


def step_begins(entry: OptimizerAccount, fused: bool) -> dict[Account, float]:
    """Before a step of an optimizer that has taken none: whose momentum nothing has filled, and the largest number in
    each. `fused` is whether a scaler leaves it to the step itself to skip.
    """
    optimizer = entry.ref()
    if not isinstance(optimizer, torch.optim.SGD):
        return {}
    now = {a: (one, b) for a, one in entry.bare.items() if (b := _momentum(optimizer, a)) is not None}
    entry.bare = {a: one for a, (one, b) in now.items() if _is_still(one, b)}
    groups = [group for group in optimizer.param_groups if fused and group.get("fused") and group.get("momentum")]
    concerned = {id(p) for group in groups for p in group["params"]}
    mine = [a for a in entry.accounts if (p := a.ref()) is not None and id(p) in concerned]
    entry.without_momentum = [a for a in mine if _momentum(optimizer, a) is None]
    return {a: largest(now[a][1]) for a in entry.bare}


def skipped(entry: OptimizerAccount) -> None:
    """The step has made buffers, maybe, and was then skipped."""
    optimizer = entry.ref()
    made = [(a, _momentum(optimizer, a)) for a in (*entry.without_momentum, *entry.bare)]
    entry.bare = {a: Bare(weakref.ref(b), b._version, _mark(b)) for a, b in made if b is not None}


def _momentum(optimizer: Any, account: Account) -> Tensor | None:
    """The momentum of a parameter, where it is a plain tensor."""
    parameter = account.ref()
    state = optimizer.state.get(parameter) if optimizer is not None and parameter is not None else None
    found = state.get("momentum_buffer") if isinstance(state, dict) else None
    return found if type(found) is Tensor and found.layout == torch.strided else None
