"""A mode that is taken back before it mattered: parts put into eval mode one by one, then `train()` on the whole; or
`train()`, and then an `eval()` in a helper that nothing undoes."""

from __future__ import annotations

import weakref
from types import FrameType

from torch import nn

from gradient_ledger import modes, places
from gradient_ledger.account import FRESH
from gradient_ledger.books import OptimizerAccount
from gradient_ledger.events import Place, TakenBack, Withdrawn
from gradient_ledger.state import State

TIMES = 4
"""Calls of `train()` at one line whose parts are looked at."""
LONG = 3
"""Steps in eval mode that are no accident."""


class Undone:
    """Parts that one line put back into train mode, before they had ever run."""

    __slots__ = ("confirmed", "parts", "place")

    def __init__(self, parts: list[nn.Module], place: Place | None):
        self.parts, self.place = [weakref.ref(part) for part in parts], place
        self.confirmed: tuple[str, ...] | None = None
        """Their names, if they ran in train mode then; None as long as they did not run."""


class Begun:
    """A model that the user has put into train mode; and, it may be, another function into eval mode before it ran."""

    __slots__ = ("began_at", "calls", "module", "names", "parts", "place", "steps")

    def __init__(self, module: nn.Module, parts: list[nn.Module], calls: int, place: Place | None):
        self.module, self.parts = weakref.ref(module), [weakref.ref(part) for part in parts]
        self.calls, self.began_at = calls, place
        """How often it had run; where it was put into train mode."""
        self.place: Place | None = None
        """Where it was put into eval mode."""
        self.steps = 0
        """Steps that have trained it since, in that mode."""
        self.names: tuple[str, ...] = ()
        """Those of the parts."""


def put_into_train(state: State, module: nn.Module, frame: FrameType) -> None:
    """The user calls `train()`. On what is in train mode already, that is there for its parts."""
    if not state.budget.may_look(("back into train", places.site(frame)), TIMES):
        return
    if module._modules and (moded := [part for part in module.modules() if modes.depends_on_mode(part)]):
        state.begun = [one for one in state.begun if one.module() not in (None, module)]
        state.begun.append(Begun(module, moded, _calls(state, module), places.user_place(frame)))
    if not module.training:
        return
    parts = [
        one
        for part in _tops(module)
        for one in part.modules()
        if not one.training and modes.depends_on_mode(one) and not _has_run(state, one)
    ]
    if parts:
        state.undone.append(Undone(parts, places.user_place(frame)))


def put_into_eval(state: State, module: nn.Module, frame: FrameType) -> None:
    """`eval()` is about to be called: before what was put into train mode has run, by another function?"""
    for one in [one for one in state.begun if one.module() is module]:
        state.begun.remove(one)
        place = places.user_place(frame)
        if place is None or one.began_at is None or place.function == one.began_at.function:
            continue  # whoever says both in a row may mean it
        known = any(other.module() is module for other in state.withdrawn)
        if one.calls == _calls(state, module) and module.training and not known and not modes.in_own_train(frame):
            one.place = place
            state.withdrawn.append(one)


def _calls(state: State, module: nn.Module) -> int:
    """How often a model has run, or any part of it, as far as their calls are followed: those of the user's are."""
    entries = [entry for part in module.modules() if (entry := state.books.module(part)) is not None]
    return sum(entry.calls + entry.judged for entry in entries)


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


def count_in_eval(state: State, entry: OptimizerAccount) -> None:
    """What was put into train mode and back is about to be stepped: has it run in eval mode, and is it still in it?"""
    for one in state.withdrawn[:]:
        module, parts = one.module(), [part for ref in one.parts if (part := ref()) is not None]
        if module is None:
            continue
        if any(part.training for part in parts):
            state.withdrawn.remove(one)
            continue
        calls = _calls(state, module)
        accounts = (state.books.find(parameter) for parameter in module.parameters())
        if calls > one.calls and any(a is not None and a.status == FRESH and entry in a.owners for a in accounts):
            one.steps += 1
            one.names = one.names or tuple(modes.named(state, part) for part in parts)
        one.calls = calls


def before_step(state: State) -> None:
    """Whether the parts ran in train mode, now that something is trained."""
    for one in [one for one in state.undone if one.confirmed is None]:
        parts = [part for ref in one.parts if (part := ref()) is not None]
        ran = [part for part in parts if _has_run(state, part)]
        if not all(part.training for part in parts):
            state.undone.remove(one)  # somebody has put them into eval mode once more
        elif ran:
            one.confirmed = tuple(modes.named(state, part) for part in ran)


def withdrawn(state: State) -> tuple[Withdrawn, ...]:
    """Models that were trained in eval mode, though they had been put into train mode before they ran."""
    found = [one for one in state.withdrawn if one.steps >= LONG]
    return tuple(Withdrawn(one.place, one.began_at, one.names, one.steps) for one in found)


def taken_back(state: State) -> tuple[TakenBack, ...]:
    """What was taken back."""
    return tuple(TakenBack(one.place, one.confirmed) for one in state.undone if one.confirmed)
