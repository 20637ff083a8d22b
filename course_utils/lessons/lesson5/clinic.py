"""The clinic of lesson 5: a training loop runs on digits with three instruments at its bed."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from course_utils.data import digits
from gradient_ledger import GradientLedger
from gradient_ledger.catalogue import misconception

Batch = tuple[torch.Tensor, torch.Tensor]
LossFn = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Loop = Callable[[nn.Module, torch.optim.Optimizer, LossFn, Sequence[Batch], int], object]
MakeOptimizer = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]

WATCHED = 4
"""Batches an epoch that the ledger is shown, in two epochs: enough for every fault of the lesson."""
WIDTH = 76
"""Columns of what is printed."""


@dataclass(frozen=True)
class Chart:
    """What the three instruments showed of one loop."""

    losses: tuple[float, ...]
    """The mean of the losses of each epoch, as most loops print it."""
    norms: tuple[float, ...]
    """The length of all gradients of the model together, right before each step."""
    share: float
    """Of the 297 test digits, those read right afterwards."""
    ledger: GradientLedger
    """The book of a short run: two epochs of a few batches."""
    model: nn.Module
    """The model as the loop left it."""


def network(seed: int = 0) -> nn.Sequential:
    """64 pixels, 32 hidden values, 10 digits, in float64; `head` is the last layer. The same weights every time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = nn.Sequential()
        model.add_module("body", nn.Linear(64, 32))
        model.add_module("relu", nn.ReLU())
        model.add_module("head", nn.Linear(32, 10))
    return model.double()


def training_batches() -> list[Batch]:
    """The 1500 training digits as 30 batches of 50, always in the same order."""
    data = digits()
    return list(zip(data.x.double().split(50), data.y.split(50), strict=True))


def share_right(model: nn.Module) -> float:
    """The share of the 297 test digits that the model reads right."""
    data = digits()
    with torch.no_grad():
        return (model(data.x_test.double()).argmax(dim=1) == data.y_test).double().mean().item()


@contextmanager
def norms_before_steps(model: nn.Module) -> Iterator[list[float]]:
    """In its block: the norm of all gradients of `model`, noted right before every step of any optimizer."""
    norms: list[float] = []

    def note(*_: object) -> None:
        found = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
        norms.append(torch.cat(found).norm().item() if found else 0.0)

    hook = register_optimizer_step_pre_hook(note)
    try:
        yield norms
    finally:
        hook.remove()


def examine(
    loop: Loop,
    make_optimizer: MakeOptimizer,
    epochs: int = 5,
    *,
    batches: Sequence[Batch] | None = None,
    make_model: Callable[[], nn.Module] = network,
) -> Chart:
    """Run `loop` twice from the same start: on all batches for the numbers, on a few under a ledger.

    Two runs, because a loop that reads `.grad` between backward and step is one that the ledger trusts more.
    """
    rows = training_batches() if batches is None else batches
    losses: list[float] = []

    def loss_fn(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        loss = nn.functional.cross_entropy(prediction, target)
        losses.append(loss.item())
        return loss

    model = make_model()
    with norms_before_steps(model) as norms:
        loop(model, make_optimizer(model.parameters()), loss_fn, rows, epochs)
    each = len(losses) // epochs
    means = tuple(sum(losses[at : at + each]) / each for at in range(0, each * epochs, each)) if each else ()

    watched = make_model()
    optimizer = make_optimizer(watched.parameters())
    with GradientLedger() as ledger:
        loop(watched, optimizer, nn.functional.cross_entropy, rows[:WATCHED], 2)
    return Chart(means, tuple(norms), share_right(model), ledger, model)


def report(ledger: GradientLedger) -> None:
    """Print what the ledger found, without the place: the line, what was seen, how to mend it."""
    found = ledger.findings()
    if not found:
        print("the ledger found nothing")
    for finding in found:
        title = misconception(finding.misconception).title
        severity = "note" if finding.severity == "info" else finding.severity
        print(f"{severity}: {title} [{finding.misconception}]")
        if finding.where is not None and finding.where.code:
            print(f"  line  {finding.where.code}")
        for head, text in (("seen", finding.text), ("mend", finding.remedy)):
            indent = " " * 8
            first = f"  {head}  "
            print(
                textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)
            )
