"""Eval mode: which parts of a trained model a call of `eval()` switched over, and whether training goes on in it."""

from __future__ import annotations

from types import FrameType
from typing import Any

from torch import nn

from gradient_ledger import places
from gradient_ledger.account import FRESH, Account
from gradient_ledger.books import BATCH_NORMS, ModuleAccount, OptimizerAccount
from gradient_ledger.events import Evaluated, Place
from gradient_ledger.journal import Draft
from gradient_ledger.state import State

NEAR = 8
"""Frames within which a `train()` of the user's is looked for."""


class Evaluation:
    """A call of `eval()` on a model that had been trained, until its parts are in train mode again."""

    __slots__ = ("accounts", "back", "calls", "judged", "names", "optimizers", "parts", "place", "stayed", "validated")

    def __init__(self, parts: list[ModuleAccount], accounts: list[Account], names: tuple[str, ...], at: Place | None):
        self.parts, self.accounts, self.names, self.place = parts, accounts, names, at
        self.optimizers: frozenset[int] = frozenset().union(*(account.stepped_by for account in accounts))
        """Those that have trained it: another one is another phase, which may be meant to run in eval mode."""
        self.calls, self.judged = _count(parts), sum(part.judged for part in parts)
        self.validated: bool | None = None
        """Whether the model ran without gradients before it was trained again; None while it was not."""
        self.stayed = False
        """Whether a step has trained it since."""
        self.back = False
        """Whether its parts were seen in train mode again before the next call of `eval()`."""


def _count(parts: list[ModuleAccount]) -> int:
    return sum(part.calls for part in parts)


def put_into_eval(state: State, module: nn.Module, frame: FrameType) -> None:
    """`eval()` is about to be called. What has not been trained says nothing: it may be meant to stay as it is.

    Nor does a layer by itself: nobody evaluates a BatchNorm. It is put into eval mode to be trained so.
    """
    if not state.progress.steps or not module._modules or not state.budget.may_look(("eval", places.site(frame))):
        return
    for one in state.evaluations:
        one.back = one.back or _in_training(one)
    if _in_own_train(frame):
        return
    found = [(entry, part) for part in module.modules() if part.training and (entry := state.books.module(part))]
    found = [(entry, part) for entry, part in found if entry.calls and depends_on_mode(part)]
    accounts = [a for p in module.parameters() if found and (a := state.books.find(p)) is not None and a.stepped_by]
    if accounts:
        names = tuple(f"{_name(state, entry)} ({type(part).__name__})" for entry, part in found[:8])
        parts = [entry for entry, _ in found]
        state.evaluations.append(Evaluation(parts, accounts, names, places.user_place(frame)))


def _in_own_train(frame: FrameType | None) -> bool:
    """Whether a `train()` of the user's own calls: what that puts into eval mode is meant to be trained so."""
    for _ in range(NEAR):
        if frame is not None and frame.f_code.co_name == "train" and isinstance(frame.f_locals.get("self"), nn.Module):
            return True
        frame = frame.f_back if frame is not None else None
    return False


def _name(state: State, entry: ModuleAccount) -> str:
    return (state.books.full_name(entry.root, entry.name) if entry.root is not None else entry.name) or "the model"


def _in_training(one: Evaluation) -> bool:
    """Whether any of its parts is in train mode, or gone."""
    return any((part := entry.ref()) is None or part.training for entry in one.parts)


def before_step(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """Write down whether what was evaluated is in train mode again, or was trained as it is."""
    told: list[Evaluated] = []
    for one in [one for one in state.evaluations if entry.number in one.optimizers]:
        back = one.back or _in_training(one)
        calls, judged = _count(one.parts), sum(part.judged for part in one.parts)
        trained = calls > one.calls and any(a.status == FRESH and entry in a.owners for a in one.accounts)
        if one.validated is None and (back or trained):
            one.validated = judged > one.judged
        # Where `eval()` came again before a step in train mode, `train()` was only there to be taken back.
        if one.validated and (back or trained) and not (one.back and one.stayed):
            told.append(Evaluated(one.names, one.place, not back))
        if back or one.validated is False:
            state.evaluations.remove(one)
        one.calls, one.stayed = calls, one.stayed or trained
    if told:
        draft.fields["evaluated"] = tuple(told)


_OWN_NORMS = (nn.modules.instancenorm._InstanceNorm, *BATCH_NORMS)


def depends_on_mode(module: nn.Module) -> bool:
    """Whether a module computes something else in eval mode than in train mode."""
    if isinstance(module, _OWN_NORMS):
        return module.track_running_stats and module.running_mean is not None
    if isinstance(module, nn.modules.dropout._DropoutNd):
        return module.p > 0
    if isinstance(module, nn.RNNBase):
        return module.dropout > 0 and module.num_layers > 1
    if isinstance(module, nn.MultiheadAttention):
        return module.dropout > 0
    code: Any = getattr(type(module).forward, "__code__", None)
    if code is None or "training" not in code.co_names or places.kind_of(code.co_filename) == places.QUIET:
        return False
    own = vars(module).items()  # a layer of the user's: `F.dropout(x, self.dropout, self.training)`
    return any("drop" in name and type(value) is float and 0 < value <= 1 for name, value in own)
