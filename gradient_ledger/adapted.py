"""Weights that are made from gradients inside a graph: the inner loop of a learner that learns to learn.

A copy of the weights with their graph, `p.clone()`, hands its gradient on to the weights themselves: where the inner
loss goes backward, that gradient lands there, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor

from gradient_ledger.state import State

UPDATES = frozenset({"AddBackward0", "SubBackward0"})
MOST_READS = 4096


def read(state: State, tensor: Tensor) -> None:
    """The gradient was read of a tensor that is computed from others: remember after which pass."""
    node: Any = tensor.grad_fn
    last = state.progress.last
    if node is not None and last is not None and state.budget.may_look("adapted", MOST_READS):
        node.metadata[f"{state.mark} read"] = last.deposit.number


def made_from(state: State, nodes: Iterable[Any], number: int) -> tuple[int, ...]:
    """The passes before this one whose gradients are added to what they are the gradients of, in a loss's graph."""
    mark, found = f"{state.mark} read", set()
    for one in nodes:
        if type(one).__name__ in UPDATES:
            sides = [inner for inner, _ in one.next_functions]
            if sides.count(None) == 1 and len(sides) == 2:
                earlier = (sides[0] or sides[1]).metadata.get(mark, number)
                if earlier < number:
                    found.add(earlier)
    return tuple(sorted(found))
