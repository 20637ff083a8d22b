"""Models that are to stand still by their names, as a reference or a target is, and are the ones that are trained."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from torch import nn

from gradient_ledger import losses, source
from gradient_ledger.account import Account
from gradient_ledger.events import StandIn
from gradient_ledger.state import State

_MODELS = r"(model|net|network|policy|critic|actor|encoder|q_?net|qf\d?|q\d?)"
_ROLE = re.compile(
    rf"(ref|reference|teacher|frozen|old|target(?!_model))_?{_MODELS}|teacher|{_MODELS}_?(ref|reference|teacher|targ|target|old)",
    re.IGNORECASE,
)
"""Names of what stands still. Who attacks a model calls that the target model, and an average may be switched off."""
_SWITCHED = re.compile(r"disable_adapter|disable_lora|set_adapter")


def look(state: State, frame: FrameType | None) -> None:
    """Whether what a backward's function knows by such a name is also known by another, and an optimizer holds it."""
    if frame is None or not losses.may_be_read(frame):
        return
    with losses.names_in(frame) as variables:
        holders = [value for name, value in variables.items() if name == "self" or isinstance(value, nn.Module)]
        spaces = [variables, *(own for holder in holders for own in _attributes(holder))]
        for role, other, model in (found for space in spaces for found in _pairs(space)):
            held = [(p, a) for p in model.parameters() if (a := state.books.find(p)) is not None and a.owned]
            owned, trained = [a for _, a in held], [a for p, a in held if p.requires_grad]
            if not trained and not _frozen_unawares(owned):
                continue
            label = next((a.root.label for a in trained or owned if a.root is not None), None)
            if label is not None and (role, other) not in state.stand_ins:
                files = state.journal.files()
                where = source.only_line(files, rf"\b{role}\s*=\s*([\w.]+\.)?{other}\s*(#.*)?$")
                # With its adapters switched off, a model is what it was before them.
                if where is not None and not any(source.says(file, _SWITCHED) for file in files):
                    state.stand_ins[role, other] = StandIn(role, other, label, where, frozen=not trained)


def _frozen_unawares(owned: list[Account]) -> bool:
    """Whether an optimizer that trains others holds these as well, and no gradient ever reached them.

    A teacher that was trained before, and was frozen then, is what it is called.
    """
    holds = {id(owner): owner for account in owned for owner in account.owners}.values()
    others = any(a.trains for owner in holds for a in owner.accounts)
    return others and not any(account.total for account in owned)


def _attributes(owner: Any) -> Iterator[Mapping[str, Any]]:
    own = getattr(owner, "__dict__", None)
    if isinstance(own, dict):
        yield {**own, **(own.get("_modules") or {})}


def _pairs(space: Mapping[str, Any]) -> Iterator[tuple[str, str, nn.Module]]:
    """Names of what stands still, the other name of each, and the one model that both stand for."""
    models = {name: value for name, value in space.items() if isinstance(value, nn.Module)}
    for role, model in models.items():
        if _ROLE.fullmatch(role):
            other = next((n for n, value in models.items() if value is model and not _ROLE.fullmatch(n)), None)
            if other is not None:
                yield role, other, model
