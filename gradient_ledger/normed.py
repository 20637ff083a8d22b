"""Vectors that are brought to unit length: whether the norm they are divided by has its graph.

Listened to during a closer look, where the text takes a norm of `.data`. What says `detach()` is meant so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from gradient_ledger import compared, places, source
from gradient_ledger.events import BareNorm, Place

if TYPE_CHECKING:
    from gradient_ledger.closelook import CloseLook
    from gradient_ledger.state import State

_TEXT = re.compile(r"\.data\b.*(norm|pow|square|\*\*)|(norm|pow|square|sqrt)\(.*\.data\b")
_DATA = re.compile(r"\.data\b")
MOST_DIVISIONS = 256
"""Divisions in one closer look whose numbers are looked at."""
TOLERANCE = 1e-3


def may_be_bare(files: Iterable[str]) -> bool:
    """Whether one of these files may take a norm of `.data`."""
    return any(source.says(file, _TEXT) for file in files)


class Normed:
    """Which divisions bring vectors to unit length, and by what."""

    def __init__(self, look: CloseLook):
        self.look = look
        self.left = MOST_DIVISIONS
        for owner, name in ((Tensor, "__truediv__"), (Tensor, "div"), (torch, "div")):
            look.tap(owner, name, self._divided, after=True)
        look.tap(torch.nn.functional, "normalize", self._normalised, after=True)

    def end(self) -> None:
        """The losses have told."""

    def _normalised(self, args: tuple[Any, ...], frame: FrameType) -> None:
        if len(args) > 1 and isinstance(args[1], Tensor) and not args[1].is_leaf:
            self._mark(args[0], None)

    def _divided(self, args: tuple[Any, ...], frame: FrameType) -> None:
        if not self.left or len(args) < 3 or not all(isinstance(one, Tensor) for one in args[:3]):
            return
        result, of, by = args[:3]
        if not result.requires_grad or not of.requires_grad or of.is_leaf:
            return
        self.left -= 1
        if not _is_unit(result, of, by):
            return
        if by.requires_grad:
            self._mark(result, None)
        elif (place := _by_data(places.user_place(frame))) is not None:
            self._mark(result, place)

    def _mark(self, result: Tensor, bare_at: Place | None) -> None:
        """Put on the graph whether a norm has one, or where not."""
        node: Any = result.grad_fn
        if node is not None:
            node.metadata[f"{self.look.state.mark} unit"] = bare_at
            self.look.state.norms += 1


def _is_unit(result: Tensor, of: Tensor, by: Tensor) -> bool:
    """Whether a quotient has length 1 along what its divisor does not tell apart."""
    if by.dim() > of.dim() or result.shape != of.shape:
        return False
    sizes = (1,) * (of.dim() - by.dim()) + tuple(by.shape)
    steps = (0,) * (of.dim() - by.dim()) + tuple(by.stride())
    dims = [d for d in range(of.dim()) if of.shape[d] > 1 and (sizes[d] == 1 or steps[d] == 0)]
    if not dims or not result.is_floating_point():
        return False
    lengths = torch.linalg.vector_norm(result.detach().float(), dim=dims)
    lengths = lengths[lengths.isfinite() & (lengths > 0)]
    return bool(lengths.numel()) and bool(((lengths - 1).abs() < TOLERANCE).all())


def _by_data(place: Place | None) -> Place | None:
    """The line whose text takes the `.data` that a divisor is made of: of the quotient, or of what it divides by."""
    within = source.scope(place.file, place.line) if place is not None else None
    if place is None or within is None:
        return None
    for one in source.own(within):
        line = getattr(one, "lineno", 0)
        if not line <= place.line <= (getattr(one, "end_lineno", 0) or 0):
            continue
        by = one.right if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div) else None
        if isinstance(one, ast.Call) and ast.unparse(one.func).rpartition(".")[2] == "div" and one.args:
            by = one.args[-1]
        if by is None:
            continue
        if _DATA.search(ast.unparse(by)):
            return Place(place.file, by.lineno, place.function)
        names = source.words(by)
        made = [found for name in names if (found := source.assigned(within, name, line)) is not None]
        for each in made:
            if _DATA.search(ast.unparse(each.value)):
                return Place(place.file, each.line, place.function)
    return None


def look(state: State, node: Any) -> None:
    """A loss goes backward: which of its vectors are divided by a norm that has no graph, and whether others have."""
    if not state.norms:
        return
    mark = f"{state.mark} unit"
    found = [inner.metadata[mark] for inner in compared.every(node) if mark in inner.metadata]
    for place in {one for one in found if one is not None}:
        passes, beside = state.bare_norms.get(place, (0, False))
        state.bare_norms[place] = passes + 1, beside or None in found


def facts(state: State) -> tuple[BareNorm, ...]:
    """The lines that take a norm out of its graph."""
    return tuple(BareNorm(place, passes, beside) for place, (passes, beside) in state.bare_norms.items() if passes > 1)
