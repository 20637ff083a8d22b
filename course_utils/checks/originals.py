"""torch, NumPy and builtins as they were when the course was imported.

A cell may replace `torch.equal` for good, by design or by accident. The check works with the names it found at
import; the attempt works with whatever stands there now.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator
from contextlib import contextmanager
from operator import is_, itemgetter
from typing import Any

import numpy
import torch

_all, _callable, _delattr, _getattr, _KeyError = all, callable, delattr, getattr, KeyError
_map, _setattr, _vars, _zip = map, setattr, vars, zip
_MISSING = object()
_OWNERS: tuple[Any, ...] = (
    builtins,
    math,
    numpy,
    torch,
    torch.Tensor,
    torch.autograd,
    torch.func,
    torch.linalg,
    torch.nn.functional,
)
_KEPT = [(owner, {name: value for name, value in _vars(owner).items() if _callable(value)}) for owner in _OWNERS]
# Before and after every call of an attempt all are looked at, so without a loop of Python's.
_LOOKS = [(_vars(owner), itemgetter(*kept), tuple(kept.values())) for owner, kept in _KEPT]

_TENSOR = frozenset(_vars(torch.Tensor))
_BASE = torch.Tensor.__mro__[1]
Replaced = list[tuple[Any, str, Any, Any]]
"""(owner, name, as it was at import, as it is now) of each name that was replaced."""


def replaced() -> Replaced:
    """What has been replaced since the course was imported. A name that was deleted counts too."""
    found: Replaced = []
    for (owner, kept), (now, look, values) in _zip(_KEPT, _LOOKS):
        if _as_they_were(now, look, values):
            continue
        for name, value in kept.items():
            if now.get(name, _MISSING) is not value:
                found.append((owner, name, value, now.get(name, _MISSING)))
    # Most methods of a tensor are inherited: whoever sets one puts a new name before it.
    for name, value in _vars(torch.Tensor).items():
        if name not in _TENSOR and _getattr(_BASE, name, _MISSING) is not _MISSING:
            found.append((torch.Tensor, name, _MISSING, value))
    return found


def _as_they_were(now: Any, look: itemgetter[Any], values: tuple[object, ...]) -> bool:
    try:
        return _all(_map(is_, look(now), values))
    except _KeyError:  # one was deleted
        return False


class Names:
    """Two sets of names, ours and the learner's, of which one is in force."""

    def __init__(self) -> None:
        self._theirs: Replaced = []

    @contextmanager
    def ours(self) -> Iterator[Names]:
        """The names as they were at import, until the block ends; then the learner's again."""
        self._take_back()
        try:
            yield self
        finally:
            self._give()

    @contextmanager
    def theirs(self) -> Iterator[None]:
        """Inside `ours`: the learner's names for the length of the block, with what is replaced in it."""
        self._give()
        try:
            yield
        finally:
            self._take_back()

    def _take_back(self) -> None:
        self._theirs = replaced()
        for owner, name, ours, _ in self._theirs:
            put(owner, name, ours)

    def _give(self) -> None:
        for owner, name, _, theirs in self._theirs:
            put(owner, name, theirs)


def put(owner: Any, name: str, value: Any) -> None:
    """Set an attribute, or take it away where there was none."""
    if value is _MISSING:
        _delattr(owner, name)
    else:
        _setattr(owner, name, value)
