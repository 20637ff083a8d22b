"""States that one recurrent network hands to another, as an encoder to its decoder: with a graph, or without.

Listened to during a closer look. A state without its graph is one that the other network begins with, while both are
trained by one and the same part of a loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from gradient_ledger import compared, graph, places, source
from gradient_ledger.books import ModuleAccount
from gradient_ledger.events import HandedState, Place

if TYPE_CHECKING:
    from gradient_ledger.closelook import CloseLook
    from gradient_ledger.state import State

KINDS = (nn.RNN, nn.GRU, nn.LSTM, nn.RNNCell, nn.GRUCell, nn.LSTMCell)
MOST_STATES = 64
"""States of one pass that are kept to be known again."""
SUMS = frozenset(f"{n}Backward0" for n in "Add Sub Neg Mul Div Mean Sum Stack Squeeze View ToCopy".split())
"""What parts of a loss are added up by."""
MOST_ENDS = 16


class _State(NamedTuple):
    """A state with a graph that a network has computed in this pass."""

    owner: ModuleAccount
    values: Tensor
    """Without its graph."""


class Link:
    """One network that begins with the state of another."""

    __slots__ = ("bare", "carried", "place")

    def __init__(self) -> None:
        self.bare, self.carried = 0, 0
        """Passes in which that state had no graph, and both were trained by one part of the loss; calls in which it had
        one."""
        self.place: Place | None = None


class Handed:
    """Which states go from one recurrent network to another."""

    def __init__(self, look: CloseLook):
        self.look = look
        self.number = -1
        self.states: list[_State] = []
        self.cuts: dict[int, Place | None] = {}
        """By the memory of a state, the line that took it out of its graph."""
        self.begun: set[ModuleAccount] = set()
        self.bare: dict[tuple[ModuleAccount, ModuleAccount], Place | None] = {}
        """From whom to whom a state went without its graph in this pass, and at which line."""
        for kind in KINDS:
            look.tap_forward(kind, self._runs, self._ran)
        look.tap(Tensor, "detach", self._left)
        look.tap_data(lambda tensor, frame: self._left((tensor,), frame))
        look.state.handing = self

    def end(self) -> None:
        """The links tell."""
        self.look.state.handing = None
        self.states.clear()

    def _renew(self) -> None:
        number = self.look.state.progress.pass_number
        if number != self.number:
            self.number = number
            for one in (self.states, self.cuts, self.begun, self.bare):
                one.clear()

    def _left(self, args: tuple[Any, ...], frame: FrameType) -> None:
        tensor = args[0]
        if isinstance(tensor, Tensor) and tensor.requires_grad and self.states and _memory(tensor):
            if any(_memory(tensor) == _memory(one.values) for one in self.states):
                self.cuts[_memory(tensor)] = places.user_place(frame)

    def _runs(self, module: nn.Module, given: tuple[Any, ...], frame: FrameType) -> None:
        entry = self.look.state.books.module(module)
        if entry is None or not torch.is_grad_enabled():
            return
        self._renew()
        first = entry not in self.begun
        self.begun.add(entry)
        for hidden in _tensors(given[1:2]) if first else ():
            from_ = next((one for one in self.states if one.owner is not entry and _is_of(hidden, one.values)), None)
            if from_ is None:
                continue
            if hidden.requires_grad:
                self.look.state.handed.setdefault((from_.owner, entry), Link()).carried += 1
            else:
                place = self.cuts.get(_memory(from_.values)) or source.cut_around(places.calls(frame, most=3))
                self.bare[from_.owner, entry] = place or places.user_place(frame)

    def _ran(self, module: nn.Module, result: Any) -> None:
        entry = self.look.state.books.module(module)
        if entry is None or not torch.is_grad_enabled():
            return
        for one in _tensors(result if isinstance(result, tuple) else (result,)):
            node: Any = one.grad_fn
            if node is not None:
                node.metadata[f"{self.look.state.mark} recurrent"] = entry
        states = result[1:] if isinstance(module, nn.RNNBase) else (result,)
        for one in _tensors(states):
            if one.requires_grad and len(self.states) < MOST_STATES:
                self.states.append(_State(entry, one.detach()))


def trained(state: State, node: Any) -> None:
    """A loss goes backward: count the states that were handed on bare between two networks of one part of it."""
    now = state.handing
    if now is None or not now.bare or now.number + 1 != state.progress.pass_number:
        return
    mark = f"{state.mark} recurrent"
    for part in _parts(node):
        here = {entry for inner in compared.every(part) if (entry := inner.metadata.get(mark)) is not None}
        for (one, other), place in list(now.bare.items()):
            if one in here and other in here:
                link = state.handed.setdefault((one, other), Link())
                link.bare, link.place = link.bare + 1, place
                del now.bare[one, other]


def facts(state: State) -> tuple[HandedState, ...]:
    """The states that never had a graph where they were handed on."""
    return tuple(
        HandedState(_name(one), _name(other), link.place, link.bare)
        for (one, other), link in state.handed.items()
        if link.bare > 1 and not link.carried
    )


def may_hand(state: State) -> bool:
    """Whether several recurrent networks of torch's have run."""
    kinds = {kind.__name__ for kind in KINDS}
    return sum(one.kind in kinds and one.calls > 0 for one in state.books.modules.values()) > 1


def _name(entry: ModuleAccount) -> str:
    return entry.name or (entry.root.label if entry.root else "a network")


def _parts(node: Any) -> list[Any]:
    """The summands of a loss, but for factors without a graph."""
    ends: list[Any] = []
    waiting, seen = [node], {node}
    while waiting and len(ends) < MOST_ENDS:
        one = waiting.pop()
        inner = [each for each, _ in one.next_functions if each is not None]
        product = type(one).__name__ in compared.SCALED and len(inner) > 1
        if type(one).__name__ in SUMS and not product and _is_scalar(one):
            waiting += [each for each in inner if each not in seen]
            seen.update(inner)
        else:
            ends.append(one)
    return ends


def _is_scalar(node: Any) -> bool:
    """Whether an operation gives one number, or one for each part of a stack of losses."""
    return graph.saved(node, "dim") is None and all(len(one.shape) < 2 for one in node._input_metadata[:1])


def _memory(tensor: Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def _is_of(hidden: Tensor, values: Tensor) -> bool:
    """Whether what a network begins with is this state, or a layer of it: by its memory, or by its numbers."""
    if _memory(hidden) and _memory(hidden) == _memory(values):
        return True
    layers = len(hidden) if hidden.dim() == values.dim() else None
    parts = (values, values[-1], values[:layers], values[-layers:]) if layers else (values, values[-1])
    plain = hidden.detach()
    alike = [one for one in parts if one.shape == plain.shape and one.dtype == plain.dtype]
    return any(bool(torch.equal(one, plain)) and bool(plain.any()) for one in alike)


def _tensors(things: Iterable[Any]) -> Iterator[Tensor]:
    for one in things:
        for each in one if isinstance(one, (tuple, list)) else (one,):
            if isinstance(each, Tensor) and each.is_floating_point():
                yield each
