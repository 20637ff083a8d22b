"""A closer look, for a window or two: who averages the weights, what cuts the graph, whose norm is taken.

All are done by operations that run all the time and that it would cost too much to listen to. So they are listened
to only while there is a reason: a window of several passes has been seen (averages belong to steps, not to
micro-batches), two models look like teacher and student, a parameter runs and gets no gradient, gradients are sharded
over several processes, or something shares the memory of the weights, or writes into them.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterable
from itertools import repeat
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from gradient_ledger import graph, places
from gradient_ledger.account import Account
from gradient_ledger.compiled import any_graph
from gradient_ledger.events import LocalNorm, Place
from gradient_ledger.journal import Draft
from gradient_ledger.memory import address
from gradient_ledger.state import State
from gradient_ledger.surroundings import average_updated
from gradient_ledger.tensors import number_of

LASTS = 3
"""Steps that a closer look lasts."""

IN_PLACE = ("add_", "sub_", "lerp_", "addcmul_")
LISTS = ("_foreach_add_", "_foreach_lerp_", "_foreach_sub_")
NORMS = ("norm", "square", "pow", "__pow__")
"""What begins a norm, as a method of a tensor."""
COLLECTIVES = ("all_reduce", "reduce", "all_gather", "all_gather_into_tensor", "all_gather_object")

_MISSING = object()
_busy = threading.Lock()
"""One ledger looks closely at a time: what two have put over one another could not be taken off in any order."""


class CloseLook:
    """The extra taps of one ledger, while they are in."""

    def __init__(self, state: State, averages: bool, cuts: bool, shards: bool, shared: bool):
        self.state = state
        self.until = state.progress.steps + LASTS
        self.undo: list[Callable[[], None]] = []
        held = [(p, a) for a in state.books.accounts if a.owners and (p := a.ref()) is not None]
        self.held = [account for _, account in held]
        self.weights = {at: account for parameter, account in held if (at := address(parameter))}
        """By address; a sharded one has none of its own."""
        self.cut = {id(p): a for a in without_gradient(state.books.accounts) if (p := a.ref()) is not None}
        self.read: dict[Account, list[Place | None]] = {}
        """Where the numbers of those were taken that no module has run with."""
        self.shown: set[Place | None] = set()
        """Lines that take the numbers of trained parameters, as reports on all of them do."""
        self.blocks: list[tuple[Place | None, int]] = []
        self.towards: dict[Account, tuple[Draft, Account]] = {}
        """Parameters that were moved towards others, and which."""
        self.reading: tuple[Any, list[int]] = (None, [])
        """A line of the user's, and where the tensors lie whose `.data` it has read."""
        if averages:
            for name in IN_PLACE:
                self._tap(Tensor, name, self._changed)
            for name in LISTS:
                self._tap(torch, name, self._changed_list)
            self._tap(Tensor, "copy_", self._copied)
            self._tap_data(self._data_read, self._data_put)
        self.shrunk: dict[Account, float] = {}
        """Weights that were multiplied in place, and by what."""
        self.product: tuple[Any, Account | None, float] = (None, None, 0.0)
        """The last product of weights and a number, of which weights, and the number."""
        if shared:
            for name in ("mul_", "__imul__"):
                self._tap(Tensor, name, self._shrank)
            for name in ("mul", "__mul__", "__rmul__"):
                self._tap(Tensor, name, self._multiplied, after=True)
            for name in ("add_", "__iadd__"):
                self._tap(Tensor, name, self._added)
            self._tap(Tensor, "lerp_", self._drawn_near)
            self._tap(torch, "_foreach_mul_", _each_of(self._shrank))
            self._tap(torch, "_foreach_add_", _each_of(self._added))
            self._tap(torch, "_foreach_lerp_", _each_of(self._drawn_near))
        self.norms: list[Draft] = []
        """Norms of local parts that no collective has followed yet."""
        if shards:
            for name in NORMS:
                self._tap(Tensor, name, self._norm_taken)
            for name in ("norm", "vector_norm"):
                self._tap(torch.linalg, name, self._norm_taken)
            self._tap(torch, "norm", self._norm_taken)
            self._tap(torch, "_foreach_norm", self._norms_taken)
            for name in COLLECTIVES:
                self._tap(torch.distributed, name, self._collected)
        if cuts:
            for name in graph.LEAVING:
                self._tap(Tensor, name, self._number_left if name in ("item", "tolist") else self._left)
            self._tap(torch.no_grad, "__enter__", self._entered)
            self._tap(torch.no_grad, "__exit__", self._exited)
            self._tap_data(lambda tensor, frame: self._left((tensor,), frame))

    def end(self) -> None:
        """Take the taps out."""
        while self.undo:
            self.undo.pop()()
        for account, lines in self.read.items():
            account.cut_at = next((line for line in lines if line not in self.shown), account.cut_at)
        _busy.release()

    # -------------------------------------------------------------- taps

    def _put(self, owner: Any, name: str, ours: Any) -> None:
        own = vars(owner).get(name, _MISSING)
        setattr(owner, name, ours)
        self.undo.append(lambda: delattr(owner, name) if own is _MISSING else setattr(owner, name, own))

    def _tap(
        self, owner: Any, name: str, seen: Callable[[tuple[Any, ...], FrameType], None], after: bool = False
    ) -> None:
        """Tell of each call from the user's code what it was given; `after` it, what it returned stands in front."""
        original = getattr(owner, name)

        def tapped(*args: Any, **kwargs: Any) -> Any:
            frame = sys._getframe(1)
            if torch.compiler.is_compiling() or places.kind_of(frame.f_code.co_filename) != places.USER:
                return original(*args, **kwargs)
            given = (*args, *kwargs.values())
            if not after:
                self._tell(lambda: seen(given, frame))
            result = original(*args, **kwargs)
            if after:
                self._tell(lambda: seen((result, *given), frame))
            return result

        self._put(owner, name, tapped)

    def _tap_data(
        self, seen: Callable[[Tensor, FrameType], None], put: Callable[[Tensor, Tensor, FrameType], None] | None = None
    ) -> None:
        base: Any = vars(Tensor).get("data", torch._C.TensorBase.data)

        def read(tensor: Tensor) -> Tensor:
            frame = sys._getframe(1)
            if places.kind_of(frame.f_code.co_filename) == places.USER:
                self._tell(lambda: seen(tensor, frame))
            found: Tensor = base.__get__(tensor)
            return found

        def write(tensor: Tensor, value: Tensor) -> None:
            frame = sys._getframe(1)
            if put is not None and places.kind_of(frame.f_code.co_filename) == places.USER:
                self._tell(lambda: put(tensor, value, frame))
            base.__set__(tensor, value)

        self._put(Tensor, "data", property(read, write, base.__delete__, base.__doc__))

    def _tell(self, act: Callable[[], None]) -> None:
        state = self.state
        if state.muted:
            return
        with state.lock:
            try:
                act()
            except Exception as error:
                state.failed(error)

    # -------------------------------------------------------------- what is seen

    def _changed(self, args: tuple[Any, ...], frame: FrameType) -> None:
        target, others = args[0], [one for one in args[1:3] if isinstance(one, Tensor)]
        if isinstance(target, Tensor):
            sources = [a for one in others if (a := self.weights.get(one.data_ptr())) and one.shape == target.shape]
            self._moved(target, sources, frame)

    def _moved(self, target: Tensor, sources: Iterable[Account], frame: FrameType, copied: bool = False) -> None:
        """A tensor was moved towards parameters of its shape, or was made a copy of one."""
        own = self.weights.get(target.data_ptr())
        for source in sources:
            if source is own or self._is_gradient(target):
                continue
            if own is None:
                if not copied:
                    average_updated(self.state, frame, source)
                continue
            back = self.towards.get(source)
            if back is not None and back[1] is own:  # both move towards each other
                back[0].fields["mutual"] = True
            elif not copied:
                self.towards[own] = average_updated(self.state, frame, own, trained=True), source

    def _copied(self, args: tuple[Any, ...], frame: FrameType) -> None:
        target, value = args[0], args[1] if len(args) > 1 else None
        if isinstance(value, Tensor):
            source = self.weights.get(value.data_ptr())
            if source is None:
                self._mixed(target, frame)
            else:
                self._moved(target, [source], frame, copied=True)

    def _data_read(self, tensor: Tensor, frame: FrameType) -> None:
        line = (frame.f_code, frame.f_lineno)
        if self.reading[0] != line:
            self.reading = (line, [])
        self.reading[1].append(tensor.data_ptr())

    def _data_put(self, target: Tensor, value: Tensor, frame: FrameType) -> None:
        self._mixed(target, frame)
        own = self.weights.get(target.data_ptr())
        if own is not None:
            self.weights[value.data_ptr()] = own

    def _mixed(self, target: Tensor, frame: FrameType) -> None:
        """`old.data = m * old.data + (1 - m) * new.data`: what was read on the same line is in it."""
        line, read = self.reading
        if line == (frame.f_code, frame.f_lineno) and target.data_ptr() in read:
            known = [self.weights[at] for at in read if at in self.weights]
            self._moved(target, [a for a in known if (p := a.ref()) is not None and p.shape == target.shape], frame)
        self.reading = (None, [])

    def _changed_list(self, args: tuple[Any, ...], frame: FrameType) -> None:
        if len(args) > 1 and isinstance(args[0], (list, tuple)) and isinstance(args[1], (list, tuple)):
            for pair in zip(args[0], args[1], strict=False):
                self._changed(pair, frame)

    def _own(self, tensor: Any) -> Account | None:
        """The weights whose memory this is."""
        own = self.weights.get(address(tensor)) if isinstance(tensor, Tensor) else None
        parameter = own.ref() if own is not None else None
        return own if parameter is not None and parameter.shape == tensor.shape else None

    def _shrank(self, args: tuple[Any, ...], frame: FrameType) -> None:
        own = self._own(args[0])
        if own is not None and (by := number_of(args[1])) is not None:
            self.shrunk[own] = by

    def _multiplied(self, args: tuple[Any, ...], frame: FrameType) -> None:
        result, *factors = args
        for one, other in (factors, factors[::-1]):
            if not isinstance(other, Tensor) and (own := self._own(one)) is not None:
                self.product = (result, own, number_of(other) or 0.0)

    def _added(self, args: tuple[Any, ...], frame: FrameType) -> None:
        target, other, *alpha = args
        source, share = self._own(other), 1.0
        if other is self.product[0]:
            _, source, share = self.product
        if source is None:
            return
        own = self._own(target)
        rest = self.shrunk.pop(own, None) if own is not None else None
        share *= (number_of(alpha[0]) or 0.0) if alpha else 1.0
        if own is not source or (rest is not None and share > 0 and math.isclose(rest + share, 1, rel_tol=1e-5)):
            self._averaged(own, source, frame)

    def _drawn_near(self, args: tuple[Any, ...], frame: FrameType) -> None:
        target, other, *_ = args
        source = self._own(other)
        if source is not None:
            self._averaged(self._own(target), source, frame)

    def _averaged(self, own: Account | None, source: Account, frame: FrameType) -> None:
        """A tensor took in weights; where it is their own memory, it is no average of them."""
        place = places.user_place(frame)
        found = self.state.own_averages.setdefault(place, [])
        found.append(own if own is source and own.owned and own.trains else None)

    def _is_gradient(self, target: Tensor) -> bool:
        return any(account.grad is target for account in self.held)

    def _norm_taken(self, args: tuple[Any, ...], frame: FrameType) -> None:
        taken = args[0]
        if not isinstance(taken, Tensor) or local_part(taken) is not None:
            return  # what is still sharded knows how to sum over all parts
        for account in self.held:
            local = local_part(account.grad)
            if local is not None and local.numel() and local.data_ptr() == taken.data_ptr():
                draft = self.state.join(LocalNorm, places.user_place(frame), account, "local", reduced=False)
                self.norms.append(draft)

    def _norms_taken(self, args: tuple[Any, ...], frame: FrameType) -> None:
        for one in args[0] if args else ():
            self._norm_taken((one,), frame)

    def _collected(self, args: tuple[Any, ...], frame: FrameType) -> None:
        for draft in self.norms:
            draft.fields["reduced"] = True
        self.norms.clear()

    def _left(self, args: tuple[Any, ...], frame: FrameType) -> None:
        node = getattr(args[0], "grad_fn", None)
        if node is None or not self.cut:
            return
        held = graph.uses(node)
        self._read_out(held, frame)
        for leaf in [leaf for leaf, account in self.cut.items() if leaf in held and runs(account)]:
            self.cut.pop(leaf).cut_at = places.user_place(frame)

    def _number_left(self, args: tuple[Any, ...], frame: FrameType) -> None:
        """A number leaves a graph, or a parameter itself."""
        self._read_out([id(args[0])], frame)
        self._left(args, frame)

    def _read_out(self, leaves: Iterable[int], frame: FrameType) -> None:
        """Numbers of parameters are taken: of which that no module has run with, and whether of trained ones, too."""
        for leaf in leaves:
            account = self.cut.get(leaf)
            if account is None:
                trained = self.state.books.by_id.get(leaf)
                if trained is not None and trained.total:
                    self.shown.add(places.user_place(frame))
            elif not runs(account):
                self.read.setdefault(account, []).append(places.user_place(frame))

    def _entered(self, args: tuple[Any, ...], frame: FrameType) -> None:
        self.blocks.append((places.user_place(frame), self._calls()))

    def _exited(self, args: tuple[Any, ...], frame: FrameType) -> None:
        if not self.blocks:
            return
        entered, before = self.blocks.pop()
        if self._calls() > before:
            for account in self.cut.values():
                if runs(account):
                    account.cut_at = account.cut_at or entered

    def _calls(self) -> int:
        return sum(account.module.calls for account in self.cut.values() if account.module is not None)


def without_gradient(accounts: Iterable[Account]) -> list[Account]:
    """Parameters that an optimizer holds and that no backward pass has ever reached."""
    return [a for a in accounts if a.owned and a.trains and not a.total and not a.given]


def runs(account: Account) -> bool:
    """Whether the module that holds a parameter has run."""
    return account.module is not None and account.module.calls > 0


def has_twins(accounts: Iterable[Account]) -> bool:
    """Whether two parameters that optimizers hold have the same name but for one word of it, as a teacher's have."""
    seen: set[tuple[str, ...]] = set()
    for account in accounts:
        words = account.name.split(".")
        for at, word in enumerate(words[:-1]):
            if account.owned and not word.isdigit():
                twin = (*words[:at], "", *words[at + 1 :])
                if twin in seen:
                    return True
                seen.add(twin)
    return False


_holders: Any = getattr(torch._C, "_storage_Use_Count", None)


def is_shared(account: Account) -> bool:
    """Whether another tensor lives on the memory of a trained parameter, such as its `.data` kept somewhere."""
    parameter = account.ref()
    if parameter is None or _holders is None or not account.trains or not account.owned:
        return False
    try:
        return bool(_holders(parameter.untyped_storage()._cdata) > 2)  # the parameter, and the storage asked for here
    except (RuntimeError, NotImplementedError):
        return False


def _each_of(seen: Callable[[tuple[Any, ...], FrameType], None]) -> Callable[[tuple[Any, ...], FrameType], None]:
    """The same for functions of lists: one call for each place in the lists."""

    def listed(args: tuple[Any, ...], frame: FrameType) -> None:
        columns = [one if isinstance(one, (list, tuple)) else repeat(one) for one in args]
        if isinstance(args[0], (list, tuple)):
            for row in zip(*columns, strict=False):
                seen(row, frame)

    return listed


def local_part(tensor: Tensor | None) -> Tensor | None:
    """The part of a sharded tensor that this process holds; None for a tensor that is whole."""
    found = getattr(tensor, "_local_tensor", None)
    return found if isinstance(found, Tensor) else None


def begin(state: State, several_passes: bool) -> None:
    """After a step: look closely from here on, if there is a reason and the budget allows."""
    # Compiled code would be compiled anew.
    if state.close_look is not None or any_graph():
        return
    cuts = bool(without_gradient(state.books.accounts)) and state.budget.may_look("cuts", 2)
    averages = (several_passes or has_twins(state.books.accounts)) and state.budget.may_look("averages", 2)
    shards = bool(state.sync.get("fsdp")) and state.budget.may_look("shards", 2)
    shared = (state.rewritten or any(map(is_shared, state.books.accounts))) and state.budget.may_look("shared", 2)
    if (cuts or averages or shards or shared) and _busy.acquire(blocking=False):
        state.close_look = CloseLook(state, averages, cuts, shards, shared)


def end(state: State) -> None:
    """Take the extra taps out."""
    if state.close_look is not None:
        state.close_look.end()
        state.close_look = None
