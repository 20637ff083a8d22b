"""Accumulating loops that lesson 6 runs without showing their code: the learner judges them by what they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn

Pair = tuple[torch.Tensor, torch.Tensor]
LossFn = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Accumulate = Callable[[nn.Module, LossFn, Sequence[Pair]], None]


def _sum(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Pair]) -> None:
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()  # type: ignore[no-untyped-call]


def _by_count(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Pair]) -> None:
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()  # type: ignore[no-untyped-call]


def _by_rows(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Pair]) -> None:
    rows = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / rows).backward()  # type: ignore[no-untyped-call]


def _cleared(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Pair]) -> None:
    for x, y in micro_batches:
        model.zero_grad()
        (loss_fn(model(x), y) / len(micro_batches)).backward()  # type: ignore[no-untyped-call]


def _without_last(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Pair]) -> None:
    for x, y in micro_batches[:-1]:
        (loss_fn(model(x), y) / len(micro_batches)).backward()  # type: ignore[no-untyped-call]


def _clipped(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Pair]) -> None:
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)


CANDIDATES: Mapping[str, Accumulate] = {
    "A": _clipped,
    "B": _by_count,
    "C": _sum,
    "D": _without_last,
    "E": _by_rows,
    "F": _cleared,
}
"""Six loops, from no gradients: they leave one in `.grad`, the right one or not."""


def counting_hooks(model: nn.Module, window: int, lr: float = 0.1) -> None:
    """Plain SGD inside the backward of each window's last micro-batch; `.grad` is freed there."""
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(_counting(parameter, window, lr))


def _counting(parameter: nn.Parameter, window: int, lr: float) -> Callable[[torch.Tensor], None]:
    optimizer, passes = torch.optim.SGD([parameter], lr=lr), 0

    def hook(_: torch.Tensor) -> None:
        nonlocal passes
        passes += 1
        if passes % window == 0:
            optimizer.step()
            optimizer.zero_grad()

    return hook
