"""Weights that are made from gradients inside a graph: the inner loop of a learner that learns to learn.

A copy of the weights with their graph, `p.clone()`, hands its gradient on to the weights themselves: where the inner
loss goes backward, that gradient lands there, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor

from gradient_ledger.compared import COPIES
from gradient_ledger.state import State

UPDATES = frozenset({"AddBackward0", "SubBackward0"})
MOST_READS = 4096


def read(state: State, tensor: Tensor) -> None:
    """The gradient was read of a tensor that is computed from others: remember after which pass, and where it is a copy
    of a parameter, of what."""
    node: Any = tensor.grad_fn
    last, mark = state.progress.last, f"{state.mark} read"
    if node is not None and last is not None and state.budget.may_look("adapted", MOST_READS):
        last.draft.fields["read_inside"] = True
        if _is_copy(state, node, mark):
            node.metadata[mark] = last.deposit.number


def _is_copy(state: State, node: Any, mark: str) -> bool:
    """Whether it is a parameter's copy, updated perhaps: what a layer makes of its weights is none."""
    while mark not in node.metadata:
        if (leaf := getattr(node, "variable", None)) is not None:
            return state.books.find(leaf) is not None
        sides = [inner for inner, _ in node.next_functions if inner is not None]
        if type(node).__name__ not in COPIES | UPDATES or len(sides) != 1:
            return False
        node = sides[0]
    return True


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
