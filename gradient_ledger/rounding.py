"""Whether steps move weights of half precision at all: a small sample of them, before and after a few steps."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from gradient_ledger.account import FRESH, Account
from gradient_ledger.books import OptimizerAccount, Sample
from gradient_ledger.events import Rounded
from gradient_ledger.tensors import HALVES

MATRICES, ENTRIES = 2, 512
"""How many matrices are looked at, and how many entries of each, spread over it."""
FIRST, LAST = 8, 2**14
"""From which step on, and up to which, it is looked: the first steps of Adam are larger than those that follow."""


def before_step(entry: OptimizerAccount) -> None:
    """Remember the sample, before a step that is looked at."""
    optimizer = entry.ref()
    if optimizer is None or not FIRST <= entry.steps <= LAST or not _rounds(optimizer):
        return
    rates = {id(p): group.get("lr") for group in optimizer.param_groups for p in group["params"]}
    if entry.sample is None:
        entry.sample = _sample(entry.accounts, rates)
    sample = entry.sample
    if sample is None:
        return
    found = [(p, g) for a in sample.accounts if (p := a.ref()) is not None and (g := a.grad) is not None]
    alike = len(found) == len(sample.accounts) and all(_can_be_read(p) and _is_dense(g) for p, g in found)
    sample.rate = float(rates.get(id(found[0][0])) or 0.0) if alike else 0.0
    sample.before = torch.cat([_entries(p) for p, _ in found]) if sample.rate > 0 else None
    sample.now = torch.cat([_entries(g) for _, g in found]) != 0 if sample.rate > 0 else None


def _rounds(optimizer: Any) -> bool:
    """Whether an optimizer is one of torch's own, which lose what is rounded away: others may keep it, or round at
    random, and a hook may put other weights in place for the step."""
    own = type(optimizer).__module__.startswith("torch.optim.")
    return own and not optimizer._optimizer_step_pre_hooks and not optimizer._optimizer_step_post_hooks


def _sample(accounts: list[Account], rates: dict[int, Any]) -> Sample | None:
    """The largest matrices of half precision that have one dtype, one device and one learning rate."""
    held = [(a, p) for a in accounts if a.status == FRESH and (p := a.ref()) is not None and _can_be_read(p)]
    held.sort(key=lambda one: -one[1].numel())
    kinds = [(p.dtype, p.device, rates.get(id(p))) for _, p in held]
    mine = [a for (a, _), kind in zip(held, kinds, strict=True) if kind == kinds[0]]
    return Sample(mine[:MATRICES]) if mine else None


def _can_be_read(parameter: Tensor) -> bool:
    is_plain = type(parameter) in (nn.Parameter, Tensor)  # no sharded or quantized one
    return parameter.dtype in HALVES and parameter.dim() > 1 and is_plain and _is_dense(parameter)


def _is_dense(tensor: Tensor) -> bool:
    return tensor.layout == torch.strided and tensor.is_contiguous()


def _entries(tensor: Tensor) -> Tensor:
    flat = tensor.detach().view(-1)
    return flat[:: max(1, flat.numel() // ENTRIES)][:ENTRIES]


def after_step(entry: OptimizerAccount) -> Rounded | None:
    """What the step has done to the sample."""
    sample = entry.sample
    if sample is None or sample.before is None or sample.now is None:
        return None
    before, sample.before = sample.before, None
    after = [_entries(p) for a in sample.accounts if (p := a.ref()) is not None and _can_be_read(p)]
    if sum(map(len, after)) != len(before):
        return None
    still = (torch.cat(after) == before) & sample.now
    entries, left = torch.stack([sample.now.sum(), still.sum()]).tolist()  # one wait for a GPU
    names: Any = tuple(sample.accounts)
    return Rounded(names, HALVES[before.dtype], sample.rate, int(entries), int(left))
