"""What a forward does that the graph does not show: states of recurrent cells, codes that are drawn, layers without a
graph."""

from __future__ import annotations

from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

from gradient_ledger import cuts, graph, places, source
from gradient_ledger.books import ModuleAccount
from gradient_ledger.events import LayerWithoutGraph, Place
from gradient_ledger.progress import Drawn
from gradient_ledger.state import State
from gradient_ledger.tensors import digest_of


def cell_runs(state: State, module: nn.Module, given: Any, frame: FrameType) -> None:
    """A recurrent cell is about to run: whether the state that it gets is its last one, and has a graph."""
    entry = state.books.module(module)
    if entry is None or not torch.is_grad_enabled():
        return
    number = state.progress.pass_number
    again, entry.sequence = entry.sequence == number, number
    hidden = given[0] if isinstance(given, tuple) else given
    if not again or not isinstance(hidden, Tensor):
        return
    if hidden.requires_grad:
        entry.carried += 1
    elif not entry.carried and entry.last is not None and digest_of(hidden) == entry.last:
        if not entry.bare:
            entry.bared_at = source.cut_around(places.calls(frame, most=3))
        entry.bare += 1


def cell_ran(state: State, module: nn.Module, result: Any) -> None:
    """A recurrent cell has run: remember its state, to know it again without its graph."""
    entry = state.books.module(module)
    if entry is not None:
        hidden = result[0] if isinstance(result, tuple) else result
        # One whose weights are frozen gives no graph that could be lost.
        has_graph = isinstance(hidden, Tensor) and hidden.requires_grad
        looks = has_graph and not entry.carried and state.budget.may_look("states")
        entry.last = digest_of(hidden) if looks else None


def drawn(state: State, distribution: Any, sample: Tensor, frame: FrameType) -> None:
    """`sample()` has drawn from a distribution: what it gives has no graph, whatever its parameters have."""
    if torch.is_grad_enabled() and distribution.loc.requires_grad and state.budget.may_look("drawn"):
        state.drawn[id(distribution)] = one = Drawn(distribution, sample, places.user_place(frame))
        node: Any = distribution.loc.grad_fn
        if node is not None:
            node.metadata[f"{state.mark} drawn"] = one


def drawn_moving(state: State, sample: Tensor, frame: FrameType) -> None:
    """`rsample()` has drawn: what it gives moves with the mean."""
    node: Any = sample.grad_fn
    if node is not None and state.budget.may_look("moving"):
        node.metadata[f"{state.mark} moving"] = places.user_place(frame)


def _known(state: State, distribution: Any) -> Drawn | None:
    """What is known of a sample drawn from this distribution."""
    found = state.drawn.get(id(distribution))
    return found if found is not None and found.ref() is distribution else None


def drawn_for(state: State, nodes: Iterable[Any]) -> None:
    """A loss goes backward that has these nodes: one is the mean that a sample was drawn by, another the layer that
    was given the sample."""
    means = [one for node in nodes if (one := node.metadata.get(f"{state.mark} drawn")) is not None]
    samples = [sample for one in means if not one.weighed and (sample := one.sample()) is not None]
    given = {id(_given(node)) for node in nodes} if samples else set()
    for one in means:
        if not one.weighed and id(one.sample()) in given:
            one.weighed = True
            state.drawn_at.append(one.place)


def _given(node: Any) -> Any:
    """What a layer was given, as autograd saved it."""
    name = type(node).__name__.removesuffix("Backward0")
    saved = {"Addmm": "mat1", "Mm": "self", "Convolution": "input"}.get(name)
    return graph.saved(node, saved) if saved is not None else None


def log_probability_taken(state: State, distribution: Any) -> None:
    """The log-probability of something: a policy's sample needs no graph, for its log-probability has one."""
    found = _known(state, distribution)
    if found is not None and not found.weighed:
        found.weighed = True
        if found.place in state.drawn_at:
            state.drawn_at.remove(found.place)


def divergence_taken(state: State, distribution: Any) -> None:
    """The divergence of a distribution from another is taken, as of the code of a variational autoencoder."""
    found = _known(state, distribution)
    if found is not None and not found.weighed:
        state.drawn_at.append(found.place)


def layer_runs(state: State, entry: ModuleAccount, frame: FrameType) -> bool:
    """A layer in train mode is about to run without a graph: note where its input has one, and its output, by the text,
    goes on beside something else. Whether that is what the text says, and the input has none yet."""
    place = places.user_place(frame)
    if place is None or place.file != frame.f_code.co_filename or entry.root is None:
        return False
    found = cuts.layer_without_graph(place.file, place.line)
    given = frame.f_locals.get(found[0]) if found is not None else None
    if found is None or not isinstance(given, Tensor):
        return False
    if given.requires_grad:
        opened = Place(place.file, found[1], place.function)
        name = f"{entry.root.label}.{entry.name}" if entry.name else entry.root.label
        state.without_graph.setdefault(place, LayerWithoutGraph(name, found[0], place, opened))
    return not given.requires_grad
