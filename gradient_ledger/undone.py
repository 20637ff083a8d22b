"""A mode that is taken back before it mattered: parts put into eval mode one by one, then `train()` on the whole; or
`train()`, and then an `eval()` in a helper that nothing undoes; or an `eval()` before the first step that was meant for
an evaluation, or for a copy of the model, and stays."""

from __future__ import annotations

import weakref
from types import FrameType

from torch import nn

from gradient_ledger import losses, modes, places
from gradient_ledger.account import FRESH
from gradient_ledger.books import OptimizerAccount
from gradient_ledger.events import Place, TakenBack, Withdrawn
from gradient_ledger.state import State

TIMES = 4
"""Calls of `train()` at one line whose parts are looked at."""
LONG = 3
"""Steps in eval mode that are no accident."""
FIRST = 4
"""Models that are put into eval mode before the first step, and followed."""
EVALUATION = "evaluation"


class Undone:
    """Parts that one line put back into train mode, before they had ever run."""

    __slots__ = ("confirmed", "parts", "place")

    def __init__(self, parts: list[nn.Module], place: Place | None):
        self.parts, self.place = [weakref.ref(part) for part in parts], place
        self.confirmed: tuple[str, ...] | None = None
        """Their names, if they ran in train mode then; None as long as they did not run."""


class Begun:
    """A model that the user has put into train mode; and, it may be, another function into eval mode before it ran. Or
    one that came in train mode, and that `eval()` was called on before the first step: then nothing has begun."""

    __slots__ = (
        "began_at",
        "calls",
        "copies",
        "judged",
        "meant",
        "module",
        "names",
        "parts",
        "place",
        "since",
        "steps",
    )

    def __init__(self, module: nn.Module, parts: list[nn.Module], calls: int, place: Place | None, since: int = 0):
        self.module, self.parts = weakref.ref(module), [weakref.ref(part) for part in parts]
        self.calls, self.began_at = calls, place
        """How often it had run; where it was put into train mode."""
        self.since = since
        """How many steps had been taken by then."""
        self.place: Place | None = None
        """Where it was put into eval mode."""
        self.steps = 0
        """Steps that have trained it since, in that mode."""
        self.judged: int | None = None
        """How often it had run without gradients when `eval()` was last called, the first time before the first step;
        None when a step has been taken since."""
        self.copies: list[tuple[str, weakref.ref[nn.Module]]] = []
        """Models beside it that this `eval()` did not reach, with their names."""
        self.meant = ""
        """What that `eval()` was there for: "evaluation", or the name of the copy that it left in train mode."""
        self.names: tuple[str, ...] = ()
        """Those of the parts."""


def put_into_train(state: State, module: nn.Module, frame: FrameType) -> None:
    """The user calls `train()`. On what is in train mode already, that is there for its parts."""
    if not state.budget.may_look(("back into train", places.site(frame)), TIMES):
        return
    if module._modules and (moded := [part for part in module.modules() if modes.depends_on_mode(part)]):
        state.begun = [one for one in state.begun if one.module() not in (None, module)]
        calls, place = _calls(state, module), places.user_place(frame)
        state.begun.append(Begun(module, moded, calls, place, state.progress.steps))
        # What an early eval() did to it is over.
        inside = {id(part) for part in module.modules()}
        state.withdrawn = [one for one in state.withdrawn if one.began_at is not None or id(one.module()) not in inside]
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
    """`eval()` is about to be called: before what was put into train mode has run, or was stepped, by another function?

    Or by a wrapper that the model is a part of, as an average that keeps it beside its copy.
    """
    inside = {id(part) for part in module.modules()}
    for one in [one for one in state.begun if id(one.module()) in inside]:
        state.begun.remove(one)
        place, begun = places.user_place(frame), one.module()
        if begun is None or place is None or one.began_at is None or place.function == one.began_at.function:
            continue  # whoever says both in a row may mean it
        known = any(other.module() is begun for other in state.withdrawn)
        first = one.calls == _calls(state, begun) or one.since == state.progress.steps
        if first and begun.training and not known and not modes.in_own_train(frame):
            one.place = place
            state.withdrawn.append(one)
            return
    for early in [one for one in state.withdrawn if one.began_at is None]:
        if (model := early.module()) is not None and id(model) in inside:
            early.judged = _judged(state, model)
    if not state.progress.steps and places.kind_of(frame.f_code.co_filename) == places.USER:
        _before_all(state, module, frame)


def _before_all(state: State, module: nn.Module, frame: FrameType) -> None:
    """`eval()` on a whole model in train mode, before the first step: it is written down what it may be there for."""
    moded = [part for part in module.modules() if part.training and modes.depends_on_mode(part)]
    known = any(other.module() is module for other in state.withdrawn)
    if moded and module._modules and not known and len(state.withdrawn) < FIRST and not modes.in_own_train(frame):
        one = Begun(module, moded, _calls(state, module), None)
        one.judged, one.place = _judged(state, module), places.user_place(frame)
        one.copies = _copies(module, frame)
        state.withdrawn.append(one)


def _why_early(state: State, one: Begun, module: nn.Module) -> str:
    """At the first step that trains it: what the early `eval()` was there for; "" where it may be meant to stay.

    Whoever trains a part alone, or what was loaded in eval mode, may want it so. Not who evaluates the whole first, and
    not who has a copy of it that nothing trains, and that the `eval()` did not reach.
    """
    accounts = [state.books.find(parameter) for parameter in module.parameters()]
    if not all(account is not None and account.owned for account in accounts):
        return ""
    return EVALUATION if _has_judged(state, one, module) else _left_in_train_mode(state, one)


def _copies(module: nn.Module, frame: FrameType) -> list[tuple[str, weakref.ref[nn.Module]]]:
    """Models in train mode that the frame knows, whose parameters have the same shapes as this one's and are others."""
    shapes, own = [parameter.shape for parameter in module.parameters()], {id(one) for one in module.parameters()}
    found = []
    for name, other in losses.models_known(frame).items():
        mine = list(other.parameters()) if other.training else []
        if own.isdisjoint(map(id, mine)) and [parameter.shape for parameter in mine] == shapes:
            found.append((name, weakref.ref(other)))
    return found


def _left_in_train_mode(state: State, one: Begun) -> str:
    """The name of a copy that the early `eval()` did not reach, and that no optimizer holds."""
    for name, ref in one.copies:
        copy = ref()
        if copy is not None and copy.training:
            accounts = [state.books.find(parameter) for parameter in copy.parameters()]
            if not any(account is not None and account.owned for account in accounts):
                return name
    return ""


def _has_judged(state: State, one: Begun, module: nn.Module) -> bool:
    """Whether it was evaluated between the last `eval()` and now, or there was none since the last step."""
    return one.judged is None or _judged(state, module) > one.judged


def _judged(state: State, module: nn.Module) -> int:
    """How often a model, or a part of it, has run without gradients in eval mode."""
    return sum(entry.judged for part in module.modules() if (entry := state.books.module(part)) is not None)


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
            if one.began_at is None:
                one.meant = one.meant or _why_early(state, one, module)
                again = one.meant == EVALUATION and not _has_judged(state, one, module)
                if not one.meant or again:  # whoever calls `eval()` and trains at once trains in that mode on purpose
                    state.withdrawn.remove(one)
                    continue
                one.judged = None
            one.steps += 1
            one.names = one.names or tuple(modes.named(state, part) for part in parts)
        elif one.began_at is None and not one.meant and state.progress.steps > LONG * LONG:
            state.withdrawn.remove(one)  # something else is trained here
            continue
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
    return tuple(Withdrawn(one.place, one.began_at, one.names, one.steps, one.meant) for one in found)


def taken_back(state: State) -> tuple[TakenBack, ...]:
    """What was taken back."""
    return tuple(TakenBack(one.place, one.confirmed) for one in state.undone if one.confirmed)
