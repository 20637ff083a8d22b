"""That an average of the weights took something in: the event, whoever saw it."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING

from torch import nn

from gradient_ledger import places
from gradient_ledger.account import Account
from gradient_ledger.events import AverageUpdate, Ending
from gradient_ledger.journal import Draft

if TYPE_CHECKING:
    from gradient_ledger.state import State


def is_again(state: State, average: nn.Module) -> bool:
    """Whether an average of torch's takes in weights that it has taken in before: no step was taken since."""
    known, now = state.averaged_at.get(average), state.progress.steps
    state.averaged_at[average] = now
    return known == now


def average_updated(state: State, frame: FrameType, account: Account | None = None, trained: bool = False) -> Draft:
    """A running average of the weights took in one parameter, or all of them.

    One that is trained itself is named; else the parameter that it takes in is. It belongs to the line of the training
    loop: that is where it stands in or out of the condition of the step.
    """
    last = state.journal.last(Ending)
    place = places.within(frame, last.place if last is not None else None) or places.user_place(frame)
    if account is None:
        return state.emit(AverageUpdate, place, (), pending=state.books.waiting_passes())
    key = "trained" if trained else "average"
    return state.join(AverageUpdate, place, account, key, pending=state.books.waiting_passes(), trained=trained)
