"""Weights that are written between a forward and its backward, behind autograd's back: by their values, where the text
has such a line there."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import Tensor

from gradient_ledger import graph, source
from gradient_ledger.account import Account
from gradient_ledger.books import ModuleAccount
from gradient_ledger.events import Place
from gradient_ledger.tensors import changing_print

if TYPE_CHECKING:
    from gradient_ledger.progress import Pass
    from gradient_ledger.state import State

CALLS = 8
"""Forwards of a model before which its weights are looked at."""
MOST = 32
"""How many of its weights, spread over it."""
_WRITES = re.compile(
    r"\.data\.\w+_\(|\.data\b(\[.*\])?\s*[-+*/]?=(?!=)|\.(data|detach\(\))\.numpy\(\)|(\b|\.)(mul|add|sub|div|clamp|copy|lerp)_\("
)
"""A line that writes into a tensor in place, or takes hold of its memory."""


class Before(NamedTuple):
    """Weights before a forward."""

    place: Place
    weights: list[tuple[Account, int, float]]
    """Each with the steps it had taken, and a number that another value would have as well."""


def forward_runs(state: State, entry: ModuleAccount, place: Place | None) -> None:
    """A model is about to run, to be trained: remember some of its weights, if a line may write to them."""
    root = entry.root
    if root is None:
        return
    state.midway.pop(root.number, None)
    if entry.calls > CALLS or place is None or state.sync or not writes_behind(place.file, place.line):
        return
    mine = [a for a in state.books.accounts if a.root is root and a.owned and a.trains]
    some = mine[:: -(-len(mine) // MOST) or 1]
    prints = [
        (a, a.steps, told) for a in some if (p := a.ref()) is not None and (told := changing_print(p)) is not None
    ]
    state.midway[root.number] = Before(place, prints)


def backward_begins(state: State, roots: Iterable[Any], one: Pass) -> None:
    """A loss goes backward: are the weights that it reaches those that the forwards had?"""
    place = one.deposit.place
    nodes = [node for root in roots if (node := getattr(root, "grad_fn", None)) is not None]
    uses = graph.uses(*nodes)
    written: list[Account] = []
    at: Place | None = None
    for number, before in [*state.midway.items()]:
        mine = [(a, steps, told, p) for a, steps, told in before.weights if isinstance(p := a.ref(), Tensor)]
        if not any(id(p) in uses for _, _, _, p in mine):
            continue  # the loss of another model: this one's is still to come
        del state.midway[number]
        lines = writes_behind(before.place.file, before.place.line)
        line = next((n for n in lines if place is not None and n < place.line), None)
        if line is None or place is None or place.file != before.place.file:
            continue
        changed = [a for a, steps, told, p in mine if a.steps == steps and changing_print(p) != told and id(p) in uses]
        if changed:
            written += changed
            at = at or Place(place.file, line, place.function, place.through)
    if written:
        one.draft.fields |= {"written": written, "written_at": at}


@lru_cache(maxsize=1024)
def writes_behind(file: str, line: int) -> tuple[int, ...]:
    """The lines of a function that write into tensors, below one of its lines and above the last that goes backward."""
    within: Any = source.scope(file, line)
    if within is None:
        return ()
    last = getattr(within, "end_lineno", None) or len(linecache.getlines(file))
    texts = {number: linecache.getline(file, number).partition("#")[0] for number in range(line + 1, last + 1)}
    end = max((number for number, text in texts.items() if "backward(" in text), default=0)
    return tuple(n for n, text in texts.items() if n < end and _WRITES.search(text) and ".grad" not in text)
