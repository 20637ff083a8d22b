"""Passes that undo one another: whether what two of them bring to one place of a graph has opposite signs there."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from gradient_ledger.compiled import run_as_it_is
from gradient_ledger.gradients import current_pass
from gradient_ledger.progress import Pass
from gradient_ledger.state import State

FIRST = 8
"""Passes of a line that are looked at one by one; after them the 16th, the 32nd and so on."""
MOST_NODES = 256
"""Places of a graph that are looked at, the nearest to the loss first."""
ENTRIES = 64
ALL_BUT = 0.01
"""What rounding and the statistics of a batch may leave of the same sign."""


def listen(state: State, node: Any, one: Pass) -> None:
    """A pass begins whose graph stays for another one: keep some of what it brings to the places nearest to its loss.

    Only a graph of several optimizers' parameters has passes that are meant for one of them alone.
    """
    if len(state.books.optimizers) < 2:
        return
    passes = state.budget.asked(("opposed", one.deposit.trail))
    if passes <= FIRST or passes & (passes - 1) == 0:
        for inner in _nearest(node):
            inner.register_prehook(_listener(weakref.ref(state)))


def _nearest(node: Any) -> Iterator[Any]:
    """The nodes of a graph without its leaves, breadth first."""
    waiting, seen = [node], {node}
    for inner in waiting:
        yield inner
        for below, _ in inner.next_functions:
            if below is not None and below not in seen and below.next_functions and len(seen) < MOST_NODES:
                seen.add(below)
                waiting.append(below)


def _listener(mine: weakref.ref[State]) -> Any:
    brought: dict[int, Tensor] = {}

    def listener(grads: Any) -> None:
        recorder = mine()
        if recorder is None or recorder.muted:
            return
        with recorder.lock:
            try:
                _compare(recorder, grads[0], brought)
            except Exception as error:
                recorder.failed(error)

    run_as_it_is(listener)
    return listener


def _compare(state: State, grad: Tensor | None, brought: dict[int, Tensor]) -> None:
    """Keep what a pass brings to one place, and hold it against what earlier ones brought there."""
    current = current_pass(state)
    if current is None or grad is None or grad.layout != torch.strided or not grad.is_floating_point():
        return
    with torch.no_grad():
        now, number = grad.detach().flatten()[-ENTRIES:].clone(), current.deposit.number
        for earlier, before in brought.items():
            if earlier != number and before.shape == now.shape:
                product = (before * now).tolist()
                whole = sum(map(abs, product))
                if 0 < whole < float("inf"):
                    signs = sum(map(bool, product)) if sum(product) <= (2 * ALL_BUT - 1) * whole else 0
                    against = current.draft.fields.setdefault("against", {})
                    against[earlier] = max(against.get(earlier, 0), signs)
        brought[number] = now
