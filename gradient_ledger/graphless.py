"""Summands of a loss that have no graph, as the sum itself tells: during a closer look, whatever function adds them."""

from __future__ import annotations

import re
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from gradient_ledger import cuts, places
from gradient_ledger.events import GraphlessSummand, Place, Trail
from gradient_ledger.graph import THROUGH, number
from gradient_ledger.state import State

if TYPE_CHECKING:
    from gradient_ledger.closelook import CloseLook

LEAST = 3
"""Passes in which such a summand was another one each time."""
BEFORE = 2
"""Losses that may have been summed up before a closer look began, and go backward in it."""
_TAKES_OUT = re.compile(r"\.(item|tolist)\(\)|\.data\b|\bfloat\(")
"""Text that takes a number out of its graph, and does not say that it is meant as `detach()` does."""
_SUMS = ("AddBackward0", "SubBackward0", "RsubBackward1", "NegBackward0")
_SCALED = ("MulBackward0", "DivBackward0")
"""Between a loss and its summands: sums, and products and quotients by a number."""
MOST = 32
"""Nodes between a loss and its summands that are looked at."""


class Seen(NamedTuple):
    """A sum of a number with a graph and of one without."""

    place: Place
    value: float


class Sums:
    """Listens to sums of single numbers."""

    def __init__(self, look: CloseLook):
        self.look = look
        look.last_for_each()
        for name in ("__add__", "__radd__", "__iadd__", "__sub__", "__rsub__", "add"):
            look.tap(Tensor, name, self._summed, after=True)
        look.tap(torch, "add", self._summed, after=True)

    def end(self) -> None:
        """The losses have told."""

    def _summed(self, args: tuple[Any, ...], frame: FrameType) -> None:
        result, *given = args
        node: Any = result.grad_fn if isinstance(result, Tensor) and result.numel() == 1 else None
        if node is None:
            return
        bare = [one for one in given[:2] if not (isinstance(one, Tensor) and one.requires_grad)]
        place = places.user_place(frame)
        if len(bare) != 1 or place is None or ".detach()" in place.code:
            return
        value = bare[0]
        if isinstance(value, float) or (isinstance(value, Tensor) and value.numel() == 1 and value.is_floating_point()):
            node.metadata[f"{self.look.state.mark} bare"] = Seen(place, float(value))


def look(state: State, node: Any, line: Trail) -> None:
    """A loss goes backward during a closer look: which of its summands had no graph."""
    listeners = state.close_look.listeners if state.close_look is not None else []
    if not any(isinstance(one, Sums) for one in listeners):
        return
    mark = f"{state.mark} bare"
    state.summed[line] = state.summed.get(line, 0) + 1
    waiting, left = [node], MOST
    while waiting and left:
        one, left = waiting.pop(), left - 1
        seen = one.metadata.get(mark)
        if seen is not None:
            state.graphless.setdefault((line, seen.place), []).append(seen.value)
        kind = type(one).__name__
        if kind in _SUMS or (number(one) is not None if kind in _SCALED else kind in THROUGH):
            waiting += [inner for inner, _ in one.next_functions if inner is not None]


def facts(state: State) -> tuple[GraphlessSummand, ...]:
    """The sums that add a number without a graph to the loss of a line each time, never the same one."""
    return tuple(
        GraphlessSummand(
            place,
            tuple(values),
            taken_out=_TAKES_OUT.search(place.code) is not None,
            cut_at=cuts.on_the_way(place.file, place.line),
        )
        for (line, place), values in state.graphless.items()
        if len(values) >= max(LEAST, state.summed[line] - BEFORE) and _always_others(values)
    )


def _always_others(values: list[float]) -> bool:
    """Whether no number comes twice but 0, as a mask gives that lets nothing pass, and at least two others come."""
    told = [value for value in values if value]
    return len(set(told)) == len(told) > 1
