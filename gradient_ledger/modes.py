"""Eval mode: which parts of a trained model a call of `eval()` switched over, and whether training goes on in it; and
teachers that were never put into it."""

from __future__ import annotations

import re
from types import FrameType
from typing import Any

from torch import nn

from gradient_ledger import losses, places, source
from gradient_ledger.account import FRESH, Account
from gradient_ledger.books import BATCH_NORMS, EmptyNorm, Imitated, ModuleAccount, OptimizerAccount
from gradient_ledger.events import EmptyNorms, Evaluated, NoisyTeacher, Place
from gradient_ledger.journal import Draft
from gradient_ledger.state import State
from gradient_ledger.tensors import changing_print

NEAR = 8
"""Frames within which a `train()` of the user's is looked for."""


class Evaluation:
    """A trained model, or a part of one, that a call of `eval()` has switched over, until it is switched back."""

    __slots__ = (
        "accounts",
        "again",
        "back",
        "calls",
        "elsewhere",
        "holders",
        "judged",
        "kind",
        "names",
        "optimizers",
        "parts",
        "place",
        "saved",
        "stayed",
        "validated",
        "whole",
    )

    def __init__(
        self,
        parts: dict[int, ModuleAccount],
        holders: list[ModuleAccount],
        whole: list[ModuleAccount],
        accounts: list[Account],
        at: Place | None,
    ):
        self.parts, self.holders, self.whole, self.accounts, self.place = parts, holders, whole, accounts, at
        """Its parts that depend on the mode, by their `id`; those that hold these, and may pass them over in eval mode,
        as an adapter does whose weights are merged; all of its modules."""
        self.names: tuple[str, ...] = ()
        self.optimizers: frozenset[int] = frozenset().union(*(account.stepped_by for account in accounts))
        """Those that have trained it: another one is another phase, which may be meant to run in eval mode."""
        self.calls = self.runs()
        self.kind = ""
        """The class of the model that was put into eval mode."""
        self.elsewhere = 0
        """How often it ran in eval mode with gradients, where nobody had called it in train mode, or another model of
        its class without them, as its average does in its place."""
        self.judged = self.judgements()
        self.validated: bool | None = None
        """Whether it ran without gradients or elsewhere before it was trained again; None while it was not."""
        self.saved = False
        """Whether its state was taken instead, for a checkpoint, by the function that called `eval()`."""
        self.stayed = False
        """Whether a step has trained it since."""
        self.again: int | None = None
        """How often it had run without gradients when it was last put into eval mode once more."""
        self.back = False
        """Whether somebody has called `train()` on one of the parts, whatever mode they are in now."""

    def runs(self) -> int:
        """How often what depends on the mode has run, or what holds it."""
        return sum(one.calls for one in (*self.parts.values(), *self.holders))

    def judgements(self) -> int:
        """How often it, or a part of it, ran in eval mode without gradients, or elsewhere."""
        return sum(one.judged for one in self.whole) + self.elsewhere

    def in_training(self) -> bool:
        """Whether any of its parts is in train mode, or gone."""
        return any((part := entry.ref()) is None or part.training for entry in self.parts.values())


def put_into_eval(state: State, module: nn.Module, frame: FrameType) -> None:
    """`eval()` is about to be called. What has not been trained says nothing: it may be meant to stay as it is.

    Nor does a layer by itself: nobody evaluates a BatchNorm. It is put into eval mode to be trained so. Each large part
    of a model stands for itself: somebody may put one of them back and forget another.
    """
    if state.evaluations and not in_own_train(frame):
        put_into_eval_again(state, module)
    if not state.progress.steps or not module._modules or not state.budget.may_look(("eval", places.site(frame))):
        return
    if in_own_train(frame):
        return
    # The models of earlier folds or runs are gone, and nothing steps them any more.
    state.evaluations = [o for o in state.evaluations if all(part.ref() is not None for part in o.parts.values())]
    top = state.books.module(module)
    while len(module._modules) == 1 and (inner := next(module.children(), None)) is not None and inner._modules:
        module = inner
    inside: set[int] = set()
    for part in [child for child in module.children() if child._modules]:
        inside |= {id(one) for one in part.modules()}
        _begin(state, part, list(part.modules()), top, frame)
    _begin(state, module, [one for one in module.modules() if id(one) not in inside], top, frame)


def _begin(
    state: State, owner: nn.Module, modules: list[nn.Module], top: ModuleAccount | None, frame: FrameType
) -> None:
    """Remember these modules, if they were trained in train mode and depend on it."""
    whole = [(entry, part) for part in modules if (entry := state.books.module(part)) is not None]
    found = [(entry, part) for entry, part in whole if part.training and entry.calls and depends_on_mode(part)]
    accounts = [a for p in owner.parameters() if found and (a := state.books.find(p)) is not None and a.stepped_by]
    if accounts:
        every = [entry for entry, _ in whole] + ([top] if top is not None else [])
        parts = {id(part): entry for entry, part in found}
        holders = [entry for entry, one in whole if not parts.keys().isdisjoint(map(id, one.children()))]
        place, trail = places.place_and_trail(frame)
        begun = Evaluation(parts, holders, every, accounts, place)
        begun.kind = top.kind if top is not None else ""
        begun.names = tuple(named(state, part) for _, part in found[:8])
        state.evaluations.append(begun)
        state.helped.add(trail)


def put_into_eval_again(state: State, module: nn.Module) -> None:
    """`eval()` or `train(False)` is about to be called on what may be in eval mode already.

    Where training is what comes next, and no evaluation, that is the mode to train in.
    """
    inside = {id(one) for one in module.modules()}
    for one in state.evaluations:
        if one.parts.keys() <= inside and not one.in_training():
            one.again = one.judgements()


def put_by_hand(state: State, module: nn.Module, frame: FrameType) -> None:
    """The user's code calls `train(False)`: itself, or from a `train()` of its own that was called so."""
    caller: FrameType | None = frame
    while caller is not None and _is_own_train(caller):
        caller = caller.f_back
    if caller is not None and places.kind_of(caller.f_code.co_filename) == places.USER:
        put_into_eval_again(state, module)


def ran_in_eval(state: State, entry: ModuleAccount, frame: FrameType) -> None:
    """A model was called in eval mode with gradients, as an evaluation may that does without `no_grad()`."""
    if places.site(frame) not in state.trained_at:
        for one in state.evaluations:
            one.elsewhere += entry in one.whole


def another_ran(state: State, entry: ModuleAccount) -> None:
    """A model was called in eval mode without gradients: for one of its class that was put into that mode, maybe."""
    for one in state.evaluations:
        one.elsewhere += entry.kind == one.kind and entry not in one.whole


def saved(state: State, module: nn.Module, frame: FrameType) -> None:
    """The state of a model is taken: where that is what `eval()` was called for, it is over like an evaluation."""
    entry, place = state.books.module(module), places.user_place(frame)
    for one in state.evaluations:
        here = place is not None and one.place is not None and one.place.function == place.function
        if here and entry in one.whole and one.validated is None and one.runs() == one.calls:
            one.saved = True
            one.elsewhere += 1


def put_into_train(state: State, module: nn.Module) -> None:
    """`train()` is about to be called on a module, itself or as a part of another."""
    for one in state.evaluations:
        one.back = one.back or id(module) in one.parts


def in_own_train(frame: FrameType | None) -> bool:
    """Whether a `train(self, mode)` of the user calls: what that puts into eval mode is meant to be trained so."""
    for _ in range(NEAR):
        if frame is None:
            return False
        if _is_own_train(frame):
            return True
        frame = frame.f_back
    return False


def _is_own_train(frame: FrameType) -> bool:
    code = frame.f_code
    return code.co_name == "train" and code.co_argcount > 1 and isinstance(frame.f_locals.get("self"), nn.Module)


def named(state: State, part: nn.Module) -> str:
    """A module's name and class, as a finding tells them."""
    entry, kind = state.books.module(part), type(part).__name__
    if entry is None:
        return kind
    name = state.books.full_name(entry.root, entry.name) if entry.root is not None else entry.name
    return f"{name or 'the model'} ({kind})"


def before_step(state: State, entry: OptimizerAccount, draft: Draft) -> None:
    """Write down whether what was evaluated is in train mode again, or was trained as it is."""
    told: list[Evaluated] = []
    for one in [one for one in state.evaluations if entry.number in one.optimizers]:
        if one.again is not None and one.runs() > one.calls:
            meant, one.again = one.again == one.judgements(), None
            if meant:
                state.evaluations.remove(one)
                continue
        now = one.in_training()
        back, calls = now or one.back, one.runs()
        trained = calls > one.calls and any(a.status == FRESH and entry in a.owners for a in one.accounts)
        if one.validated is None and (back or trained):
            one.validated = one.judgements() > one.judged
        # Where `eval()` came again before a step in train mode, `train()` was only there to be taken back.
        if one.validated and (back or trained) and (now or not (one.back and one.stayed)):
            begins = source.trains_in(draft.place, one.place) if draft.place and one.place and not back else None
            told.append(Evaluated(one.names, one.place, not back, begins, one.saved))
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
    code: Any = getattr(places.forward_of(type(module)), "__code__", None)
    if code is None or "training" not in code.co_names or places.kind_of(code.co_filename) == places.QUIET:
        return False
    own = vars(module).items()  # a layer of the user's: `F.dropout(x, self.dropout, self.training)`
    if any("drop" in name and type(value) is float and 0 < value <= 1 for name, value in own):
        return True
    return any("sigma" in name for name in module._parameters)  # noise of a size that is learned, in train mode alone


def normed_without(state: State, entry: ModuleAccount, module: nn.Module, frame: FrameType) -> None:
    """A BatchNorm runs in eval mode, when steps were taken: whether its statistics are those that it was made with
    while its weights move, and no optimizer holds these: they are an average's."""
    count = entry.calls + entry.judged
    if count & (count - 1) or entry in state.norms_filled:
        return
    mean, variance, weight = (getattr(module, name, None) for name in ("running_mean", "running_var", "weight"))
    empty = mean is not None and variance is not None and not bool(mean.any()) and bool((variance == 1).all())
    account = state.books.find(weight) if isinstance(weight, nn.Parameter) else None
    if not empty or weight is None or (account is not None and account.owned):
        state.norms_filled.add(entry)
        state.norms_empty.pop(entry, None)
        return
    before = state.norms_empty.get(entry)
    place = next((at for at in places.calls(frame) if at.function != "forward"), places.user_place(frame))
    now = changing_print(weight)
    moved = before.moved + (before.print != now) if before is not None else 0
    where = before.place if before is not None else place
    state.norms_empty[entry] = EmptyNorm(named(state, module), now, moved, count, where)


def empty_norms(state: State) -> EmptyNorms | None:
    """The BatchNorms that ran so, again and again."""
    found = [one for one in state.norms_empty.values() if one.moved > 1 and one.place is not None]
    if not found or found[0].place is None:
        return None
    return EmptyNorms(found[0].place, tuple(one.name for one in found), max(one.calls for one in found))


_TEACHER = re.compile(r"(?<![a-z])teacher|^t_(net|model)$|^(net|model)_t$", re.IGNORECASE)
"""Names of what is imitated. One that follows what it teaches may be run in train mode as that is."""


def first_asked(state: State, entry: ModuleAccount, module: nn.Module, frame: FrameType) -> None:
    """A model runs for the first time, in train mode: whether the user's code calls it a teacher, or has frozen it."""
    names = losses.called(frame, module)
    name = next((one for one in names if _TEACHER.search(one)), None)
    if name is None and names and not any(parameter.requires_grad for parameter in module.parameters()):
        name = names[0]
    kinds = tuple(
        dict.fromkeys(type(part).__name__ for part in module.modules() if part.training and depends_on_mode(part))
    )
    if name is not None and kinds:
        entry.imitated = Imitated(name, kinds, changing_print(next(iter(module.parameters()))))
        state.imitated.append(entry)


def asked_again(state: State, entry: ModuleAccount, module: nn.Module) -> None:
    """It runs again: whether anything has trained or moved it in between. It may be gone when the run ends."""
    one = entry.imitated
    if one is not None and not one.changed:
        accounts = [state.books.find(parameter) for parameter in module.parameters()]
        trained = any(account is not None and (account.total or account.owners) for account in accounts)
        # A frozen copy of what is trained may be there to follow it.
        trained = trained or (_TEACHER.search(one.name) is None and _has_twin(state, module))
        one.changed = trained or one.print != changing_print(next(iter(module.parameters())))


def _has_twin(state: State, module: nn.Module) -> bool:
    """Whether another model, that has no part in this one, has parameters of the same shapes, in the same order."""
    mine = list(module.parameters())
    shapes, own = [parameter.shape for parameter in mine], {id(parameter) for parameter in mine}
    others = [list(top.parameters()) for root in state.books.roots if (top := root.ref()) is not None]
    return any(own.isdisjoint(map(id, one)) and [parameter.shape for parameter in one] == shapes for one in others)


def noisy_teachers(state: State) -> tuple[NoisyTeacher, ...]:
    """The teachers that ran in train mode each time, and that neither gradients nor anything else has changed."""
    found = []
    for entry in state.imitated:
        module, one = entry.ref(), entry.imitated
        if one is None or entry.judged or entry.called_at is None:
            continue
        if module is not None:
            asked_again(state, entry, module)
        if not one.changed and (module is None or module.training):
            found.append(NoisyTeacher(one.name, entry.called_at, entry.calls, one.kinds))
    return tuple(found)
