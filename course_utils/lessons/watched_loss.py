"""A loss that is handed to the learner and writes down how it was called."""

from __future__ import annotations

from collections.abc import Callable

import torch

LossFn = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

CALLS = "calls of loss_fn"
ORDER = "order of the arguments of loss_fn"


class WatchedLoss:
    """`loss_fn`, with the number of its calls, the shapes it got, and which argument came first.

    `is_target` tells from a tensor whether it holds targets; where it recognises neither argument, the order is
    "unknown".
    """

    def __init__(self, loss_fn: LossFn, is_target: Callable[[torch.Tensor], bool]) -> None:
        self._loss_fn = loss_fn
        self._is_target = is_target
        self._calls = 0
        self._shapes: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
        self._order: set[str] = set()

    def __call__(self, prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        self._calls += 1
        try:
            self._shapes.add((tuple(prediction.shape), tuple(target.shape)))
            self._order.add(self._order_of(prediction, target))
        except (RuntimeError, AttributeError, TypeError):
            pass  # no plain tensors: ones that torch.func maps over, or none at all
        return self._loss_fn(prediction, target)

    def _order_of(self, prediction: torch.Tensor, target: torch.Tensor) -> str:
        if self._is_target(target):
            return "prediction, target"
        return "target, prediction" if self._is_target(prediction) else "unknown"

    def facts(self, shapes: str, most: int) -> dict[str, object]:
        """What was seen; at most `most` pairs of shapes, under the name `shapes`."""
        pairs = [[list(shape) for shape in pair] for pair in sorted(self._shapes)[:most]]
        return {CALLS: self._calls, shapes: pairs, ORDER: sorted(self._order)}
