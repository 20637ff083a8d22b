"""Eval mode that is taken back before it mattered: parts frozen one by one, then `train()` on the whole."""

from __future__ import annotations

import weakref
from types import FrameType

from torch import nn

from gradient_ledger import modes, places
from gradient_ledger.events import Place, TakenBack
from gradient_ledger.state import State

TIMES = 4
"""Calls of `train()` at one line whose parts are looked at."""


class Undone:
    """Parts that one line put back into train mode, before they had ever run."""

    __slots__ = ("confirmed", "parts", "place")

    def __init__(self, parts: list[nn.Module], place: Place | None):
        self.parts, self.place = [weakref.ref(part) for part in parts], place
        self.confirmed: tuple[str, ...] | None = None
        """Their names, if they ran in train mode then; None as long as they did not run."""


def put_into_train(state: State, module: nn.Module, frame: FrameType) -> None:
    """The user calls `train()` on what is in train mode already: that is there for its parts."""
    if not state.budget.may_look(("back into train", places.site(frame)), TIMES):
        return
    parts = [
        one
        for part in _tops(module)
        for one in part.modules()
        if not one.training and modes.depends_on_mode(one) and not _has_run(state, one)
    ]
    if parts:
        state.undone.append(Undone(parts, places.user_place(frame)))


def _tops(module: nn.Module) -> list[nn.Module]:
    """The topmost parts in eval mode that were put there on purpose: layers by themselves, as nobody loads them, or a
    part that is frozen. A whole that is to be trained may come in eval mode from where it was loaded."""
    found: list[nn.Module] = []
    for child in module.children():
        if child.training:
            found += _tops(child)
        elif not child._modules or all(not p.requires_grad for p in child.parameters()):
            found.append(child)
    return found


def _has_run(state: State, part: nn.Module) -> bool:
    entry = state.books.module(part)
    return entry is not None and bool(entry.calls or entry.judged)


def before_step(state: State) -> None:
    """Whether the parts ran in train mode, now that something is trained."""
    for one in [one for one in state.undone if one.confirmed is None]:
        parts = [part for ref in one.parts if (part := ref()) is not None]
        ran = [part for part in parts if _has_run(state, part)]
        if not all(part.training for part in parts):
            state.undone.remove(one)  # somebody has put them into eval mode once more
        elif ran:
            one.confirmed = tuple(modes.named(state, part) for part in ran)


def facts(state: State) -> tuple[TakenBack, ...]:
    """What was taken back."""
    return tuple(TakenBack(one.place, one.confirmed) for one in state.undone if one.confirmed)
