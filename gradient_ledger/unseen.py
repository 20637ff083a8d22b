"""Results and inputs that the user's code writes into behind autograd's back, before their backward: during a closer
look, where the text has such a line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from gradient_ledger import compared, graph, places, source
from gradient_ledger.events import Place, UnseenWrite
from gradient_ledger.state import State
from gradient_ledger.tensors import address

if TYPE_CHECKING:
    from gradient_ledger.closelook import CloseLook

_WRITES = re.compile(
    r"\.data\.(clamp|clip|add|sub|mul|div|masked_fill|masked_scatter|index_fill|scatter|fill|zero|relu|pow|neg)\w*_\("
    r"|\.data\s*[-+*/]=|\.data\[.*\]\s*[-+*/]?=(?!=)"
)
"""A line that changes some of a tensor, or all by a little. What puts other values in its place, as `x.data = sign(x)`
and `copy_` do, may be a straight-through."""
_MASKS = re.compile(r"inf|-\s*\d+(\.\d*)?e\+?\d")
"""A score that no probability is left of, as masks of an attention put it: on that way the gradient is zero anyway."""
_SAVED = ("self", "input", "other", "result", "mat1", "mat2")
"""What an operation keeps of what it was given, or gave, and multiplies with on the way back."""
MOST_WRITES = 32
"""The last writes that wait for a loss which goes through them."""
LEAST = 2
"""Passes in which that was seen."""


def may_write(files: Iterable[str]) -> bool:
    """Whether a line of these files writes into a tensor by its `.data`."""
    return any(source.says(file, _WRITES) for file in files)


class Write(NamedTuple):
    """A write into a tensor that is no parameter."""

    place: Place
    made: int | None
    """The number of the operation that has computed it; None where it is given. The operation itself would keep a graph
    alive."""
    address: int
    since: int
    """The number of the first operation after it."""


class Unseen:
    """Hears writes through `.data`, and asks at the next backward passes what they have changed."""

    def __init__(self, look: CloseLook):
        self.state = look.state
        self.writes: list[Write] = []
        self.hooked = False
        """Whether saved tensors were handed to hooks, as of a checkpoint: to ask for one would compute it anew."""
        look.tap_data(self._read)
        look.tap_anywhere(torch.autograd.graph.saved_tensors_hooks, "__enter__", self._hooks)
        look.state.unseen = self

    def end(self) -> None:
        """Nothing is asked any more."""
        self.state.unseen = None
        self.writes.clear()

    def _hooks(self) -> None:
        self.hooked = True

    def _read(self, tensor: Tensor, frame: FrameType) -> None:
        place = places.user_place(frame)
        code = place.code if place is not None else ""
        if place is None or isinstance(tensor, nn.Parameter) or not _WRITES.search(code) or _MASKS.search(code):
            return
        if (tensor.is_leaf and tensor.requires_grad) or not address(tensor):
            return  # somebody's own parameter
        made: Any = tensor.grad_fn
        number = made._sequence_nr() if made is not None else None
        self.writes.append(Write(place, number, address(tensor), _next_operation()))

    def backward_begins(self, roots: Iterable[Any], number: int) -> None:
        """A loss goes backward: does it go through what was written, or multiply with it?"""
        starts = [node for root in roots if (node := getattr(root, "grad_fn", None)) is not None]
        waiting, self.writes = self.writes[-MOST_WRITES:], []
        nodes = {node for start in starts for node in compared.every(start)} if waiting else set()
        numbers = {node._sequence_nr() for node in nodes}
        for write in waiting:
            before = [node for node in nodes if node._sequence_nr() < write.since] if not self.hooked else []
            if write.made in numbers or any(_keeps(node, write.address) for node in before):
                self.state.unseen_writes.setdefault(write.place, set()).add(number)
            else:
                self.writes.append(write)  # another loss may


def facts(state: State) -> tuple[UnseenWrite, ...]:
    """The lines that wrote so in more than one pass."""
    return tuple(
        UnseenWrite(place, len(passes)) for place, passes in state.unseen_writes.items() if len(passes) >= LEAST
    )


def _next_operation() -> int:
    with torch.enable_grad():
        node: Any = torch.zeros(1, requires_grad=True).view(1).grad_fn
        return int(node._sequence_nr())


def _keeps(node: Any, at: int) -> bool:
    """Whether an operation has saved the tensor that lies there."""
    return any(isinstance(held := graph.saved(node, name), Tensor) and address(held) == at for name in _SAVED)
