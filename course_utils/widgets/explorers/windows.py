"""The lines that end a window, as real training loops: which batches each step used, and what each of them weighed.

A loop is written as text and run as text, so what is shown is what ran. What a batch weighs is measured: a model with
one parameter a batch has the weight of that batch as its gradient.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

Place = tuple[int, int]
"""(epoch, batch), both from 0."""

_EVERY = "(i + 1) % {window} == 0"


@dataclass(frozen=True)
class Rule:
    """When the step comes (`ends`), what a loss is divided by (`size`), and whether each epoch begins with a clearing.

    `{window}` in them stands for the size of the window; `i` counts the batches of an epoch from 0.
    """

    ends: str = _EVERY
    size: str = "{window}"
    clears: bool = False


RULES: Mapping[str, Rule] = {
    "leak": Rule(),
    "drop": Rule(clears=True),
    "go on": Rule(ends="(epoch * len(batches) + i + 1) % {window} == 0"),
    "step at the end": Rule(ends=_EVERY + " or i + 1 == len(batches)"),
    "own division": Rule(
        ends=_EVERY + " or i + 1 == len(batches)", size="min({window}, len(batches) - i // {window} * {window})"
    ),
}
"""What is done with the batches that are left over at the end of an epoch, by name."""
MOST = 24
"""More batches in an epoch than this no longer fit on the page."""


@dataclass(frozen=True)
class Story:
    """What became of every batch: for each step the weight of each batch that it used, those that stand in `.grad` at
    the end, and those that were cleared unused."""

    rule: str
    window: int
    steps: tuple[Mapping[Place, float], ...]
    left: tuple[Place, ...]
    lost: tuple[Place, ...]

    @property
    def right(self) -> bool:
        """Whether each step is a mean over batches of one epoch, and every batch was used."""
        means = all(abs(sum(step.values()) - 1) < 1e-9 for step in self.steps)
        return means and not self.mixed and not self.left and not self.lost

    @property
    def mixed(self) -> tuple[int, ...]:
        """The numbers of the steps, from 1, that used batches of more than one epoch."""
        return tuple(n for n, step in enumerate(self.steps, 1) if len({epoch for epoch, _ in step}) > 1)


def program(rule: str, window: int, epochs: int) -> str:
    """The loop as text. Raises `ValueError` for an unknown rule, and for numbers below 1."""
    if rule not in RULES:
        raise ValueError(f"there is no rule {rule!r}; there are {', '.join(RULES)}")
    if window < 1 or epochs < 1:
        raise ValueError(f"a window and the epochs are at least 1, not {window} and {epochs}")
    chosen = RULES[rule]
    lines = [
        "optimizer.zero_grad()",
        f"for epoch in range({epochs}):",
        *(["    optimizer.zero_grad()"] if chosen.clears else []),
        "    for i, (x, y) in enumerate(batches):",
        f"        loss = loss_fn(model(x), y) / {chosen.size.format(window=window)}",
        "        loss.backward()",
        f"        if {chosen.ends.format(window=window)}:",
        "            optimizer.step()",
        "            optimizer.zero_grad()",
    ]
    return "\n".join(lines) + "\n"


def run(
    rule: str,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    batches: Sequence[tuple[torch.Tensor, torch.Tensor]],
    window: int,
    epochs: int,
) -> None:
    """Train by a rule. Raises `ValueError` as `program` does."""
    text = program(rule, window, epochs)
    # A ledger reads a program by the name of its file, and remembers what it read: each loop has a name of its own.
    file = f"<loop {rule}, windows of {window}, {epochs} epochs>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"model": model, "optimizer": optimizer, "loss_fn": loss_fn, "batches": batches}
    exec(compile(text, file, "exec"), names)


class _Scale(nn.Module):
    """One parameter a batch of the whole training; its forward gives that of the batch whose turn it is."""

    def __init__(self, batches: int) -> None:
        super().__init__()
        self.values = nn.Parameter(torch.zeros(batches, dtype=torch.float64, device="cpu"))
        self._turn = 0

    def forward(self, _: torch.Tensor) -> torch.Tensor:
        self._turn += 1
        return self.values[self._turn - 1]


def story(rule: str, batches: int, window: int, epochs: int = 3) -> Story:
    """What a rule does with so many batches an epoch, measured. Raises `ValueError` as `program` does, and for more
    batches than `MOST` or none."""
    if not 1 <= batches <= MOST:
        raise ValueError(f"an epoch has 1 to {MOST} batches, not {batches}")
    scale = _Scale(batches * epochs)
    optimizer = torch.optim.SGD(scale.parameters(), lr=0.0)
    steps: list[Mapping[Place, float]] = []

    def held() -> dict[Place, float]:
        gradient = scale.values.grad
        weights = [] if gradient is None else gradient.tolist()
        return {divmod(n, batches): weight for n, weight in enumerate(weights) if weight}

    optimizer.register_step_pre_hook(lambda *_: steps.append(held()))
    nothing = torch.zeros((), device="cpu")
    run(rule, scale, optimizer, lambda output, _: output, [(nothing, nothing)] * batches, window, epochs)
    used = {place for step in steps for place in step}
    left = tuple(held())
    every = [(epoch, batch) for epoch in range(epochs) for batch in range(batches)]
    return Story(rule, window, tuple(steps), left, tuple(p for p in every if p not in used and p not in left))
