"""What the mistakes of lesson 4's exercises share: a training loop that clears, goes backward and steps as it is told."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Literal

import torch
from torch import nn

from course_utils.checks.mistakes import named
from course_utils.lessons.training import Batch, LossFn

Optimizer = torch.optim.Optimizer
Place = Literal["run", "epoch", "batch", "before step", "after step", "after epoch"]
Epoch = list[tuple[float, int]]
"""(loss, rows) of each batch of an epoch, the loss before the batch's own step."""


def as_it_is(rows: int) -> float:
    """The factor on a loss that goes backward as it is."""
    return 1.0


def trained(
    model: nn.Module,
    optimizer: Optimizer,
    loss_fn: LossFn,
    batches: Sequence[Batch],
    epochs: int = 1,
    *,
    clear: Container[Place] = ("batch",),
    zeros: bool = False,
    factor: Callable[[int], float] = as_it_is,
    backwards: int = 1,
    steps: int = 1,
    each: Literal["batch", "epoch", "run"] = "batch",
) -> list[Epoch]:
    """Train, clearing at the places in `clear`, with `zeros` in place of None, and stepping once for `each`."""

    def at(place: Place) -> None:
        if place in clear:
            optimizer.zero_grad(set_to_none=not zeros)

    found = []
    at("run")
    for _ in range(epochs):
        losses: Epoch = []
        at("epoch")
        for x, y in batches:
            at("batch")
            loss = loss_fn(model(x), y)
            for _ in range(backwards):
                (loss * factor(len(x))).backward(retain_graph=True)
            at("before step")
            for _ in range(steps if each == "batch" else 0):
                optimizer.step()
            at("after step")
            losses.append((loss.item(), len(x)))
        if each == "epoch":
            optimizer.step()
        at("after epoch")
        found.append(losses)
    if each == "run":
        optimizer.step()
    return found


def assigned(
    model: nn.Module,
    optimizer: Optimizer,
    loss: torch.Tensor,
    *,
    everything: bool = False,
    where_none: Literal["leave", "zeros"] = "leave",
) -> None:
    """Put the gradients that autograd hands back into `.grad`, and step. What has none keeps what it held, or gets
    zeros; with `everything` the frozen parameters, too."""
    trainable = [p for p in model.parameters() if p.requires_grad]
    found: Sequence[torch.Tensor | None] = torch.autograd.grad(loss, trainable, allow_unused=True)
    for p, gradient in zip(trainable, found, strict=True):
        if gradient is not None:
            p.grad = gradient
        elif where_none == "zeros":
            p.grad = torch.zeros_like(p, requires_grad=False)
    for p in model.parameters():
        if everything and not p.requires_grad:
            p.grad = torch.zeros_like(p)
    optimizer.step()


def descended(optimizer: Optimizer, rate: float | None = None) -> None:
    """The update by hand, as plain SGD makes it: with each group's own rate, or the one given."""
    with torch.no_grad():
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p -= (group["lr"] if rate is None else rate) * p.grad


dimension_lost = named(
    "dimension-lost",
    "Every prediction was compared with every target",
    "Where prediction and target have one column, one of the two reached loss_fn without it: n numbers beside a shape of "
    "(n, 1). Broadcasting makes n by n of that, and so the mean is over all pairs of rows.",
    "Hand both to loss_fn in the shapes in which they come. Which line takes a dimension off?",
    "With more columns, or one row, the dimension is not lost or not missed, and nothing raises.",
)


def without_ones(loss_fn: LossFn) -> LossFn:
    """`loss_fn`, handed the prediction without its dimensions of size 1."""
    return lambda prediction, target: loss_fn(prediction.squeeze(), target)
