"""Losses in which every row meets every other: a column beside a vector, of which broadcasting makes a square.

The graph of a loss tells that something on its way to a mean or a sum made a square of one of the two. What the other
one was, autograd has saved for torch's losses; for arithmetic a closer look listens to it, and knows its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from gradient_ledger import compared, graph, losses, places
from gradient_ledger.events import Place

if TYPE_CHECKING:
    from gradient_ledger.closelook import CloseLook
    from gradient_ledger.state import State

LOSSES = compared.LOSSES - {"BinaryCrossEntropyWithLogitsBackward0"}
"""Losses of torch that broadcast what they are given."""
ARITHMETIC = frozenset(f"{name}Backward0" for name in "Add Sub Mul Div".split())
WHOLE = ARITHMETIC | LOSSES | frozenset(f"{name}Backward0" for name in "Mean Sum Neg Pow Abs Sqrt Clone ToCopy".split())
WHOLE |= frozenset(f"{name}Backward0" for name in "Clamp ClampMin ClampMax Minimum Maximum Relu Where".split())
WHOLE |= {"ClampBackward1", "RsubBackward1"}
"""What may lie between such a square and the loss. A sum over one side of the square is none: who takes it means it."""
LINEAR = frozenset(f"{name}Backward0" for name in "Add Sub Neg Clone ToCopy".split()) | {"RsubBackward1"}
"""What may lie between such a square and its mean, if that is to be the mean of the column and that of the vector."""
SHAPED = frozenset(f"{name}Backward0" for name in "Unsqueeze View UnsafeView ReshapeAlias".split()) | graph.TURNS


def look(state: State, node: Any, frame: FrameType) -> None:
    """Look for such a square in a loss that goes backward."""
    squares = list(_squares(node))
    averaged = _averaged(node) if squares else set()
    for one in squares:
        if one in averaged:
            continue
        if _is_of_torch(one):
            _note(state, losses.computed_at(places.user_frame(frame)) or places.user_place(frame), one)
        elif _kind(one) in LOSSES:
            continue
        elif (known := one.metadata.get(_mark(state))) is not None:
            _note(state, known, one)
        else:
            state.may_cross = True


def _note(state: State, place: Place | None, node: Any) -> None:
    if place is not None:
        state.crossed.setdefault(place, _square(node)[0])


class Crossings:
    """Arithmetic of a column and a vector, while a closer look lasts."""

    def __init__(self, look: CloseLook):
        self.mark = _mark(look.state)
        for name in ("add", "sub", "mul", "div"):
            look.tap(torch, name, self._computed, after=True)
            look.tap(Tensor, name, self._computed, after=True)
            look.tap(Tensor, "__truediv__" if name == "div" else f"__{name}__", self._computed, after=True)

    def end(self) -> None:
        """The marks on the graph tell."""

    def _computed(self, given: tuple[Any, ...], frame: FrameType) -> None:
        result, one, other = given[:3]
        node = result.grad_fn if isinstance(one, Tensor) and isinstance(other, Tensor) else None
        rows = len(result) if node is not None and result.dim() == 2 else 0
        if node is not None and rows > 1 and {one.shape, other.shape} == {(rows, 1), (rows,)}:
            node.metadata[self.mark] = places.user_place(frame)


def _squares(node: Any) -> Iterator[Any]:
    """The operations of a loss that make a square of a column or of a vector, and what they make goes into it whole."""
    for one in graph.by_entry(node, WHOLE):
        kind = _kind(one)
        if kind not in ARITHMETIC | LOSSES:
            continue
        square, given = _square(one), list(one.next_functions)
        given = [inner.next_functions[0] if _kind(inner) == "ExpandBackward0" else (inner, at) for inner, at in given]
        if len(square) == 2 and square[0] == square[1] > 1:
            computed = [(inner, at) for inner, at in given if inner is not None and not hasattr(inner, "variable")]
            lines = [_shape(inner, at) in ((square[0],), (square[0], 1)) for inner, at in computed]
            if any(lines) and not any(_is_turned(inner, at, square[0]) for inner, at in computed):
                yield one


def _averaged(node: Any) -> set[Any]:
    """Sums and differences of which a loss takes the mean, and nothing else: over all pairs that is the sum, or the
    difference, of the two means, and its gradients are those of rows that met one another."""
    found: set[Any] = set()
    waiting, means = [(node, False)], 0
    while waiting and len(found) + means < 64:
        one, averaged = waiting.pop()
        kind = _kind(one)
        if averaged and kind in ("AddBackward0", "SubBackward0"):
            found.add(one)
        mean = kind == "MeanBackward0"
        means += 1
        scaled = kind in ("MulBackward0", "DivBackward0") and graph.number(one) is not None
        if mean or scaled or kind in LINEAR:
            waiting += [(inner, averaged or mean) for inner, _ in one.next_functions if inner is not None]
    return found


def _is_turned(node: Any, at: int, rows: int) -> bool:
    """Whether somebody made a column of a vector, or a row of it, as for a table of all pairs."""
    if _shape(node, at) not in ((rows, 1), (1, rows)):
        return False
    while node is not None and _kind(node) in SHAPED:
        node, at = node.next_functions[0]
        if node is not None and not hasattr(node, "variable") and _shape(node, at) == (rows,):
            return True
    return False


def _is_of_torch(node: Any) -> bool:
    """Whether a loss of torch's own has made the square: of what it was given, one is the same along its rows, the
    other along its columns. An absolute difference is made of other operations, and has saved neither."""
    if _kind(node) == "SubBackward0":
        return [_kind(inner) for inner, _ in node.next_functions if inner is not None] == ["ExpandBackward0"]
    pair = [graph.saved(node, name) for name in ("self", "target")] if _kind(node) in LOSSES else []
    return {tuple(step > 0 for step in one.stride()) for one in pair if isinstance(one, Tensor)} == {(0, 1), (1, 0)}


def _square(node: Any) -> tuple[int, ...]:
    """The shape of what an operation makes; of a loss, that of what it is a mean over."""
    if _kind(node) not in LOSSES:
        return _shape(node)
    return next((_shape(inner, at) for inner, at in node.next_functions if _kind(inner) == "ExpandBackward0"), ())


def _shape(node: Any, at: int = 0) -> tuple[int, ...]:
    return tuple(node._input_metadata[at].shape)


def _kind(node: Any) -> str:
    return type(node).__name__


def _mark(state: State) -> str:
    return f"{state.mark} crossed"
