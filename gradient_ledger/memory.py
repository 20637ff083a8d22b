"""Whose memory weights lie in: snapshots that are no copies, and parameters of which two are in one place."""

from __future__ import annotations

import inspect
import re
import weakref
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gradient_ledger import losses, places, source
from gradient_ledger.account import FRESH, Account
from gradient_ledger.books import OptimizerAccount
from gradient_ledger.events import OwnLoad, Place
from gradient_ledger.journal import Draft
from gradient_ledger.state import State
from gradient_ledger.tensors import address, fingerprint

MOST_SNAPSHOTS = 256
"""Snapshots that are remembered before those are sought out that are gone."""
SUMMED = 2
"""Parameters whose values are summed up."""
FIRST_LOADS = 8
"""Loads of one line that are looked at; afterwards the 16th, the 32nd and so on."""

# ------------------------------------------------------------------ snapshots


class Snapshot(NamedTuple):
    """What a model's `state_dict()` gave, known by the first tensor in it."""

    first: weakref.ref[Tensor]
    model: weakref.ref[nn.Module]
    place: Place | None
    steps: int
    """Steps of all optimizers before it."""
    versions: tuple[int, ...]
    """Of the model's parameters then."""
    sums: tuple[float | None, ...]
    """Over a few of them: steps by hand may leave no trace in a version."""


class Loaded(NamedTuple):
    """Weights from elsewhere that a model was given."""

    model: weakref.ref[nn.Module]
    place: Place | None
    versions: tuple[int, ...]
    """Of its parameters behind it."""


def snapshot_taken(state: State, model: nn.Module, given: Any, frame: FrameType) -> None:
    """The user's code called `state_dict()`."""
    values = given.values() if isinstance(given, Mapping) else ()
    first = next((one for one in values if isinstance(one, Tensor)), None)
    if first is None:
        return
    known = state.snapshots
    if len(known) >= MOST_SNAPSHOTS:
        state.snapshots = known = {key: one for key, one in known.items() if one.first() is not None}
    if len(known) < MOST_SNAPSHOTS:
        place, steps = places.user_place(frame), state.progress.steps
        sums = _sums(model) if state.budget.may_look(("snapshot", place)) else (None,) * SUMMED
        known[id(first)] = Snapshot(weakref.ref(first), weakref.ref(model), place, steps, _versions(model), sums)


def load_begins(state: State, model: nn.Module, given: Any, frame: FrameType) -> bool:
    """`load_state_dict()` was called. Returns whether it brings weights from elsewhere."""
    place = places.user_place(frame)
    count = state.budget.asked(("loads", place))
    if not isinstance(given, Mapping) or not (count <= FIRST_LOADS or count & (count - 1) == 0):
        return True
    weights = [(p, given.get(name)) for name, p in model.named_parameters(remove_duplicate=False) if p.numel()]
    own = [is_own(p, value) for p, value in weights]
    if place is not None and not all(own):
        _loads_others(state, place)
    if not weights or (any(own) and not all(own)):
        return True
    if all(own):
        snapshot, computed = _among(state, model, given), False
    else:
        snapshot, computed = _named_by(state, model, frame), True
    if snapshot is not None and not computed and place is not None and _is_of_this_line(state, snapshot, place):
        if place not in state.loads_others and not _says_own(place):
            accounts = [account for p, _ in weights if (account := state.books.find(p)) is not None]
            state.emit(OwnLoad, place, list(dict.fromkeys(accounts)), kept_at=_named_at(place), at_once=True)
        return False
    changed_at = _changed_since(state, model, snapshot) if snapshot is not None else None
    if snapshot is None or changed_at is None or (computed and not all(_is_equal(p, value) for p, value in weights)):
        return not all(own)
    steps = state.progress.steps - snapshot.steps
    accounts = list(dict.fromkeys(account for p, _ in weights if (account := state.books.find(p)) is not None))
    replaced = changed_at if isinstance(changed_at, Place) else None
    more = {"kept_at": snapshot.place, "steps": steps, "replaced_at": replaced, "computed": computed}
    state.emit(OwnLoad, place, accounts, **more)
    return False


def load_ends(state: State, model: nn.Module, foreign: bool, frame: FrameType) -> None:
    """`load_state_dict()` has returned."""
    if foreign and state.snapshots:
        state.loaded[id(model)] = Loaded(weakref.ref(model), places.user_place(frame), _versions(model))


def _is_of_this_line(state: State, snapshot: Snapshot, place: Place) -> bool:
    """Whether a snapshot was taken for this very load."""
    return snapshot.place == place and snapshot.steps == state.progress.steps


def _loads_others(state: State, place: Place) -> None:
    """This line copies from one model to another: where both are one, as in a broadcast to all, nothing is wrong."""
    if place not in state.loads_others:
        state.loads_others.add(place)
        for draft in state.journal.drafts:
            if draft.kind is OwnLoad and draft.place == place:
                draft.fields["besides"] = True


_NAMES = re.compile(r"([\w.]+)\.load_state_dict\(\s*([\w.]+)\.state_dict\(")


def _says_own(place: Place) -> bool:
    """Whether the text says that a model is to load its own weights, as to have its hooks run, or that it may."""
    names = _NAMES.search(place.code)
    if names is None or names[1] == names[2]:
        return names is not None
    return source.only_line([place.file], rf"^\s*{re.escape(names[1])}\s*=.*\bif\b.*\belse\b") is not None


def _named_at(place: Place) -> Place | None:
    """The one line that gives the model of this load its other name."""
    names = _NAMES.search(place.code)
    if names is None:
        return None
    return source.only_line([place.file], rf"^\s*{re.escape(names[1])}\s*=\s*{re.escape(names[2])}\s*(#.*)?$")


def _sums(model: nn.Module) -> tuple[float | None, ...]:
    return tuple([fingerprint(p) for p in list(model.parameters())[:SUMMED]])


def _versions(model: nn.Module) -> tuple[int, ...]:
    return tuple([p._version for p in model.parameters()])


def is_own(parameter: Tensor, value: Any) -> bool:
    """Whether a tensor is the memory of a parameter, seen the same way."""
    if not isinstance(value, Tensor) or value.shape != parameter.shape or value.stride() != parameter.stride():
        return False
    at = address(parameter)
    return at != 0 and address(value) == at and value.dtype == parameter.dtype


def _is_equal(parameter: Tensor, value: Any) -> bool:
    same = isinstance(value, Tensor) and value.shape == parameter.shape and value.dtype == parameter.dtype
    return same and value.device == parameter.device and torch.equal(parameter.detach(), value.detach())


def _among(state: State, model: nn.Module, given: Mapping[str, Any]) -> Snapshot | None:
    """The snapshot of this model that these tensors are of."""
    for value in given.values():
        known = state.snapshots.get(id(value))
        if known is not None and known.first() is value and known.model() is model:
            return known
    return None


def _named_by(state: State, model: nn.Module, frame: FrameType) -> Snapshot | None:
    """The oldest living snapshot in the model's own memory that the text of a load is computed from.

    It counts where the load itself does nothing but copy it: what was copied earlier is a copy, and what changes it
    may be meant for the weights as they are. And where snapshots of two times meet, for they are one.
    """
    if not any(one.model() is model and one.first() is not None for one in state.snapshots.values()):
        return None
    inner = places.user_frame(frame)
    if inner is None:
        return None
    with losses.names_in(inner) as held:
        texts = source.made_of(inner.f_code.co_filename, inner.f_lineno)
        copied, named = ([held.get(name) for name in names] for names in texts)
    weights = [(name, p) for name, p in model.named_parameters(remove_duplicate=False) if p.numel()]

    def of(things: list[Any]) -> list[Snapshot]:
        return [
            one
            for thing in things
            if isinstance(thing, Mapping) and (one := _among(state, model, thing)) is not None
            if all(is_own(p, thing.get(name)) for name, p in weights)
        ]

    found = of(named)
    told = found if len({one.steps for one in found}) > 1 else of(copied)
    return min(told, key=lambda one: one.steps, default=None)


def _changed_since(state: State, model: nn.Module, snapshot: Snapshot) -> Place | bool | None:
    """Whether the weights were stepped since, or where others were loaded; None where neither is certain.

    What somebody writes into the snapshot is in the weights at once: no harm is done by loading it then.
    """
    loaded = state.loaded.get(id(model))
    if loaded is not None and loaded.model() is not model:
        loaded = None
    stepped, replaced = False, False
    now = list(model.parameters())
    behind = loaded.versions if loaded is not None else ()
    if len(now) != len(snapshot.versions):
        return None
    for at, (parameter, before) in enumerate(zip(now, snapshot.versions, strict=True)):
        if parameter._version == before:
            continue
        account = state.books.find(parameter)
        if account is not None and account.stepped_by and parameter._version == account.written:
            stepped = True
        elif at < len(behind) and parameter._version == behind[at]:
            replaced = True
        else:
            return None
    by_hand = state.progress.steps_by_hand > 0 and _sums_differ(model, snapshot)
    if (stepped or by_hand) and state.progress.steps > snapshot.steps:
        return True
    return loaded.place if replaced and loaded is not None else None


def _sums_differ(model: nn.Module, snapshot: Snapshot) -> bool:
    return any(None not in pair and pair[0] != pair[1] for pair in zip(_sums(model), snapshot.sums, strict=False))


# ------------------------------------------------------------------ two parameters in one place


def look_for_twins(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """Look for two parameters of one optimizer that are in one place, as a whole or in part, and both have a gradient
    for this step."""
    optimizer = entry.ref()
    if optimizer is None:
        return
    listed = Counter(id(p) for group in optimizer.param_groups for p in group["params"])
    if twice := [account for account in entry.accounts if listed[id(account.ref())] > 1]:
        draft.fields["listed_twice"] = twice
    held: list[tuple[int, int, Account]] = []
    for account in entry.accounts:
        parameter = account.ref()
        if account.status != FRESH or parameter is None or not (at := address(parameter)):
            continue
        if parameter.is_contiguous() or (parameter.dim() == 2 and parameter.t().is_contiguous()):
            held.append((at, at + parameter.numel() * parameter.element_size(), account))
    held.sort(key=lambda one: one[:2])
    for (_, end, other), (begin, _, account) in pairwise(held):
        if begin < end and other is not account and not _adds_up(entry, optimizer, other, account):
            draft.fields["one_memory"] = (other, account)
            joined = _joined_at(state, other.name, account.name)
            alike = _made_of_one(state, other.name, account.name) if joined is None else None
            draft.fields["joined_at"], draft.fields["made_of_one"] = joined or alike, alike is not None
            return


def _adds_up(entry: OptimizerAccount, optimizer: Any, one: Account, other: Account) -> bool:
    """Whether the steps of two twins are one step by the sum of their gradients, as those of plain SGD and its momentum
    are, also where a subclass does something else and then SGD's step; or one of them stands still."""
    twins = {id(one.ref()), id(other.ref())}
    groups = [group for group in optimizer.param_groups if any(id(p) in twins for p in group["params"])]
    if any(group.get("lr") == 0 for group in groups):
        return True
    if not isinstance(optimizer, torch.optim.SGD) or any(group.get("weight_decay") for group in groups):
        return False
    return entry.code is inspect.unwrap(torch.optim.SGD.step).__code__ or "super" in getattr(entry.code, "co_names", ())


def _joined_at(state: State, one: str, other: str) -> Place | None:
    """The line that gives one parameter the memory of the other, where the text shows a single one."""
    ends = [".".join(name.split(".")[-2:]) for name in (one, other)]
    if any(part.isdigit() for end in ends for part in end.split(".")):
        return None
    a, b = map(re.escape, ends)
    return source.only_line(_texts(state), rf"\b{a}(\.data)?\s*=(?!=).*\b{b}\b|\b{b}(\.data)?\s*=(?!=).*\b{a}\b")


def _made_of_one(state: State, one: str, other: str) -> Place | None:
    """The line that makes the second of two parameters of the tensor that the first is made of, by their names."""
    ends = dict.fromkeys(name.rpartition(".")[2] for name in (one, other))
    made = [
        (match[1], place)
        for end in ends
        for place in source.lines(_texts(state), rf"\b{re.escape(end)}\s*=\s*(nn\.)?Parameter\(")
        if (match := _OF_ONE.search(place.code))
    ]
    if len(made) == 2 and made[0][0] == made[1][0] and made[0][1].file == made[1][1].file:
        return max((place for _, place in made), key=lambda place: place.line)
    return None


_OF_ONE = re.compile(r"Parameter\(\s*([\w.]+)\s*(\[[^\]]*\]\s*)?[,)]")
"""A parameter that is made of what has a name, or of a slice of that, and of no copy of it."""


def _texts(state: State) -> list[str]:
    """The files that models are made and called in, and those of the events."""
    made = [at for e in state.books.modules.values() for at in (e.made_at, e.called_at) if at is not None]
    return sorted({*state.journal.files(), *(at.file for at in made)})
