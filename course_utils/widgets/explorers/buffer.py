"""One real parameter and its `.grad`, with every event written into a ledger as it was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch

Values = tuple[float, ...]
"""The entries of a tensor, flattened."""
Effect = Literal[
    "assigned",
    "added in place",
    "replaced",
    "cleared to None",
    "filled with zeros",
    "nothing to clear",
    "read, not changed",
    "nothing to read",
    "unchanged",
]
"""What an event did to `.grad`, concluded from what was measured before and after it."""
Tensor = Literal["none", "new", "same", "released"]
"""Which tensor `.grad` is after the event, compared by identity with the one before."""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger.

    `incoming` is the gradient that backward delivered (a tensor hook saw it before it reached
    `.grad`), `None` for events that deliver none. `before` and `after` are the values of `.grad`,
    `None` where it is `None`. `tensor` compares the object before with the one after. `parameter`
    is the parameter's value after the event.
    """

    number: int
    event: str
    incoming: Values | None
    before: Values | None
    after: Values | None
    effect: Effect
    tensor: Tensor
    parameter: Values


def squared_distance(w: torch.Tensor) -> torch.Tensor:
    """The loss of the explorer unless another is given: the sum of `(w - 2)**2`, whose gradient is `2 * (w - 2)`."""
    return (w - 2).square().sum()


class GradientBuffer:
    """A parameter, a loss and an SGD optimizer to act on; each method acts once and returns its ledger line.

    `value` is the starting value (a number, or several for a vector), `loss_fn` takes the
    parameter and returns a 0-d tensor, `lr` is the learning rate of `torch.optim.SGD`. Everything
    is float64. Raises `ValueError` when `value` is empty.
    """

    def __init__(
        self,
        value: float | Sequence[float] = 5.0,
        loss_fn: Callable[[torch.Tensor], torch.Tensor] = squared_distance,
        lr: float = 0.1,
    ) -> None:
        self._start = torch.as_tensor(value, dtype=torch.float64, device="cpu")
        if self._start.numel() == 0:
            raise ValueError("value is empty: give a number or a list of numbers")
        self._loss_fn = loss_fn
        self.lr = lr
        self.restart()

    def restart(self) -> None:
        """A fresh parameter, a fresh optimizer, an empty ledger."""
        self.parameter = torch.nn.Parameter(self._start.clone())
        self._optimizer: torch.optim.SGD | None = None
        self._incoming: list[torch.Tensor] = []
        self.parameter.register_hook(lambda gradient: self._incoming.append(gradient.detach().clone()))
        self.entries: list[Entry] = []

    @property
    def optimizer(self) -> torch.optim.SGD:
        """Made when it is first needed: the first optimizer of a process costs most of a second."""
        if self._optimizer is None:
            self._optimizer = torch.optim.SGD([self.parameter], lr=self.lr)
        return self._optimizer

    def backward(self) -> Entry:
        """A forward pass and `loss.backward()`."""

        def run() -> None:
            self._loss_fn(self.parameter).backward()  # type: ignore[no-untyped-call]

        return self._write("backward()", run)

    def zero_grad(self, set_to_none: bool = True) -> Entry:
        """`optimizer.zero_grad()`, or with `set_to_none=False`."""
        event = "zero_grad()" if set_to_none else "zero_grad(set_to_none=False)"
        return self._write(event, lambda: self.optimizer.zero_grad(set_to_none=set_to_none))

    def step(self) -> Entry:
        """`optimizer.step()`."""

        def run() -> None:
            self.optimizer.step()

        return self._write("step()", run)

    def _write(self, event: str, act: Callable[[], None]) -> Entry:
        # The old tensor is held while the event runs: a freed one could lend its address to a new one.
        old = self.parameter.grad
        before = None if old is None else old.detach().clone()
        self._incoming.clear()
        act()
        new = self.parameter.grad
        incoming = self._incoming[-1] if self._incoming else None
        entry = Entry(
            number=len(self.entries) + 1,
            event=event,
            incoming=_values(incoming),
            before=_values(before),
            after=_values(new),
            effect=_effect(event, incoming, before, new, new is old),
            tensor=_tensor(old, new),
            parameter=_values(self.parameter) or (),
        )
        self.entries.append(entry)
        return entry


def example(buffer: GradientBuffer) -> tuple[Entry, ...]:
    """A short fixed sequence of events on `buffer`: what is stored where no button can be pressed."""
    buffer.backward()
    buffer.backward()
    buffer.step()
    buffer.zero_grad()
    buffer.backward()
    buffer.zero_grad(set_to_none=False)
    buffer.backward()
    return tuple(buffer.entries)


def _effect(
    event: str,
    incoming: torch.Tensor | None,
    before: torch.Tensor | None,
    after: torch.Tensor | None,
    same: bool,
) -> Effect:
    if incoming is not None and after is not None:
        if before is None:
            return "assigned" if torch.equal(after, incoming) else "replaced"
        return "added in place" if same and torch.equal(after, before + incoming) else "replaced"
    clearing = event.startswith("zero_grad")
    if after is None:
        if before is not None:
            return "cleared to None"
        return "nothing to clear" if clearing else "nothing to read"
    if clearing:
        return "filled with zeros" if same and not after.any() else "unchanged"
    if before is not None and torch.equal(before, after):
        return "read, not changed" if event == "step()" else "unchanged"
    return "replaced"


def _tensor(old: torch.Tensor | None, new: torch.Tensor | None) -> Tensor:
    if new is None:
        return "none" if old is None else "released"
    return "same" if new is old else "new"


def _values(tensor: torch.Tensor | None) -> Values | None:
    return None if tensor is None else tuple(tensor.detach().flatten().tolist())
