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
    written: list[Account] = []
    at: Place | None = None
    for before in state.midway.values():
        lines = writes_behind(before.place.file, before.place.line)
        line = next((n for n in lines if place is not None and n < place.line), None)
        if line is None or place is None or place.file != before.place.file:
            continue
        changed = [
            (a, p)
            for a, steps, told in before.weights
            if a.steps == steps and isinstance(p := a.ref(), Tensor) and changing_print(p) != told
        ]
        if changed:
            nodes = [node for root in roots if (node := getattr(root, "grad_fn", None)) is not None]
            uses = graph.uses(*nodes)
            written += [a for a, p in changed if id(p) in uses]
            at = at or Place(place.file, line, place.function, place.through)
    state.midway.clear()
    if written:
        one.draft.fields |= {"written": written, "written_at": at}


@lru_cache(maxsize=1024)
def writes_behind(file: str, line: int) -> tuple[int, ...]:
    """The lines of a function that write into tensors, between one of its lines and the next that goes backward."""
    within: Any = source.scope(file, line)
    if within is None:
        return ()
    last = getattr(within, "end_lineno", None) or len(linecache.getlines(file))
    found: list[int] = []
    for number in range(line + 1, last + 1):
        text = linecache.getline(file, number)
        if "backward(" in text:
            return tuple(found)
        if _WRITES.search(text.partition("#")[0]) and ".grad" not in text:
            found.append(number)
    return ()
