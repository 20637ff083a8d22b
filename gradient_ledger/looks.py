"""What a closer look can listen for: one class a reason, which puts in its taps and keeps what it has seen."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable
from itertools import repeat
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor, nn

from gradient_ledger import graph, places
from gradient_ledger.account import Account
from gradient_ledger.averages import average_updated
from gradient_ledger.books import ModuleAccount
from gradient_ledger.cells import owner_of
from gradient_ledger.events import LocalNorm, Place
from gradient_ledger.journal import Draft
from gradient_ledger.tensors import address, number_of

if TYPE_CHECKING:
    from gradient_ledger.closelook import CloseLook

IN_PLACE = ("add_", "sub_", "lerp_", "addcmul_")
LISTS = ("_foreach_add_", "_foreach_lerp_", "_foreach_sub_")
NORMS = ("norm", "square", "pow", "__pow__")
"""What begins a norm, as a method of a tensor."""
MOST_LISTED = 64
"""Entries of a list of which a tensor is made that are looked at."""
COLLECTIVES = ("all_reduce", "reduce", "all_gather", "all_gather_into_tensor", "all_gather_object")


class Listener(Protocol):
    """What listens while a closer look lasts; made when it begins."""

    def end(self) -> None:
        """The taps are out: write down what only the whole look has shown."""


class Averages:
    """Who moves tensors towards the weights, or weights towards others."""

    def __init__(self, look: CloseLook):
        self.look = look
        self.towards: dict[Account, tuple[Draft, Account]] = {}
        """Parameters that were moved towards others, and which."""
        self.reading: tuple[Any, list[int]] = (None, [])
        """A line of the user's, and where the tensors lie whose `.data` it has read."""
        for name in IN_PLACE:
            look.tap(Tensor, name, self._changed)
        for name in LISTS:
            look.tap(torch, name, self._changed_list)
        look.tap(Tensor, "copy_", self._copied)
        look.tap_data(self._data_read, self._data_put)

    def end(self) -> None:
        """Each event was written when it was seen."""

    def _changed(self, args: tuple[Any, ...], frame: FrameType) -> None:
        target, others = args[0], [one for one in args[1:3] if isinstance(one, Tensor)]
        if isinstance(target, Tensor):
            sources = [
                a for one in others if (a := self.look.weights.get(one.data_ptr())) and one.shape == target.shape
            ]
            self._moved(target, sources, frame)

    def _moved(self, target: Tensor, sources: Iterable[Account], frame: FrameType, copied: bool = False) -> None:
        """A tensor was moved towards parameters of its shape, or was made a copy of one."""
        own = self.look.weights.get(target.data_ptr())
        for source in sources:
            if source is own or self._is_gradient(target):
                continue
            if own is None:
                if not copied:
                    average_updated(self.look.state, frame, source)
                continue
            back = self.towards.get(source)
            if back is not None and back[1] is own:  # both move towards each other
                back[0].fields["mutual"] = True
            elif not copied:
                self.towards[own] = average_updated(self.look.state, frame, own, trained=True), source

    def _copied(self, args: tuple[Any, ...], frame: FrameType) -> None:
        target, value = args[0], args[1] if len(args) > 1 else None
        if isinstance(value, Tensor):
            source = self.look.weights.get(value.data_ptr())
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
        own = self.look.weights.pop(target.data_ptr(), None)
        if own is not None:  # where it lay, something else may lie soon
            self.look.weights[value.data_ptr()] = own

    def _mixed(self, target: Tensor, frame: FrameType) -> None:
        """`old.data = m * old.data + (1 - m) * new.data`: what was read on the same line is in it."""
        line, read = self.reading
        if line == (frame.f_code, frame.f_lineno) and target.data_ptr() in read:
            known = [self.look.weights[at] for at in read if at in self.look.weights]
            self._moved(target, [a for a in known if (p := a.ref()) is not None and p.shape == target.shape], frame)
        self.reading = (None, [])

    def _changed_list(self, args: tuple[Any, ...], frame: FrameType) -> None:
        if len(args) > 1 and isinstance(args[0], (list, tuple)) and isinstance(args[1], (list, tuple)):
            for pair in zip(args[0], args[1], strict=False):
                self._changed(pair, frame)

    def _is_gradient(self, target: Tensor) -> bool:
        return any(account.grad is target for account in self.look.held)


class Shared:
    """Averages that lie in the memory of the very weights they average."""

    def __init__(self, look: CloseLook):
        self.look = look
        self.shrunk: dict[Account, float] = {}
        """Weights that were multiplied in place, and by what."""
        self.product: tuple[Any, Account | None, float] = (None, None, 0.0)
        """The last product of weights and a number, of which weights, and the number."""
        self.factor: tuple[Any, Account | None, float] = (None, None, 0.0)
        """The one before it."""
        self.same: tuple[Any, Account | None] = (None, None)
        """The last sum of two shares of the same weights, which is those weights, and of which."""
        self.nothing: tuple[Any, Account | None] = (None, None)
        """The last difference of weights and themselves, or a multiple of it, and of which weights."""
        for name in ("mul_", "__imul__"):
            look.tap(Tensor, name, self._shrank)
        for name in ("mul", "__mul__", "__rmul__"):
            look.tap(Tensor, name, self._multiplied, after=True)
        for name in ("sub", "__sub__"):
            look.tap(Tensor, name, self._subtracted, after=True)
        for name in ("add", "__add__"):
            look.tap(Tensor, name, self._summed, after=True)
        look.tap(Tensor, "copy_", self._copied)
        look.tap_data(put=self._data_put)
        for name in ("add_", "__iadd__"):
            look.tap(Tensor, name, self._added)
        for name in ("sub_", "__isub__"):
            look.tap(Tensor, name, self._moved_by_nothing)
        look.tap(Tensor, "lerp_", self._drawn_near)
        look.tap(torch, "_foreach_mul_", _each_of(self._shrank))
        look.tap(torch, "_foreach_add_", _each_of(self._added))
        look.tap(torch, "_foreach_lerp_", _each_of(self._drawn_near))

    def end(self) -> None:
        """Each average was written down when it was seen."""

    def _own(self, tensor: Any) -> Account | None:
        """The weights whose memory this is."""
        own = self.look.weights.get(address(tensor)) if isinstance(tensor, Tensor) else None
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
                self.factor, self.product = self.product, (result, own, number_of(other) or 0.0)
            elif not isinstance(other, Tensor) and one is self.nothing[0]:
                self.nothing = (result, self.nothing[1])

    def _subtracted(self, args: tuple[Any, ...], frame: FrameType) -> None:
        result, one, other, *_ = args
        own = self._own(one)
        if own is not None and own is self._own(other):
            self.nothing = (result, own)

    def _summed(self, args: tuple[Any, ...], frame: FrameType) -> None:
        result, one, other, *_ = args
        (first, own, share), (second, source, rest) = self.factor, self.product
        if (
            own is source
            and {id(one), id(other)} == {id(first), id(second)}
            and math.isclose(share + rest, 1, rel_tol=1e-5)
        ):
            self.same = (result, own)

    def _copied(self, args: tuple[Any, ...], frame: FrameType) -> None:
        """`average.copy_(decay * average + (1 - decay) * weights)`, or `average.data = …`, where the two are one."""
        target, other, *_ = args
        own = self.same[1]
        if other is self.same[0] and own is not None and self._own(target) is own:
            self._averaged(own, own, frame)

    def _data_put(self, target: Tensor, value: Tensor, frame: FrameType) -> None:
        """`average.data = …` leaves the memory of the weights, unless the average is the parameter itself."""
        own = self._own(target)
        if own is not None and own.ref() is target:
            self._copied((target, value), frame)

    def _moved_by_nothing(self, args: tuple[Any, ...], frame: FrameType) -> None:
        """`average -= (1 - decay) * (average - weights)`, where the two are one."""
        target, other, *_ = args
        own = self.nothing[1]
        if other is self.nothing[0] and own is not None and self._own(target) is own:
            self._averaged(own, own, frame)

    def _added(self, args: tuple[Any, ...], frame: FrameType) -> None:
        self._moved_by_nothing(args, frame)
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
        found = self.look.state.own_averages.setdefault(place, [])
        found.append(own if own is source and own.owned and own.trains else None)


class Norms:
    """Norms of those parts of sharded gradients that this process holds."""

    def __init__(self, look: CloseLook):
        self.look = look
        self.norms: list[Draft] = []
        """Norms of local parts that no collective has followed yet."""
        for name in NORMS:
            look.tap(Tensor, name, self._norm_taken)
        for name in ("norm", "vector_norm"):
            look.tap(torch.linalg, name, self._norm_taken)
        look.tap(torch, "norm", self._norm_taken)
        look.tap(torch, "_foreach_norm", self._norms_taken)
        for name in COLLECTIVES:
            look.tap(torch.distributed, name, self._collected)

    def end(self) -> None:
        """Each event was written when it was seen."""

    def _norm_taken(self, args: tuple[Any, ...], frame: FrameType) -> None:
        taken = args[0]
        if not isinstance(taken, Tensor) or local_part(taken) is not None:
            return  # what is still sharded knows how to sum over all parts
        for account in self.look.held:
            local = local_part(account.grad)
            if local is not None and local.numel() and local.data_ptr() == taken.data_ptr():
                draft = self.look.state.join(LocalNorm, places.user_place(frame), account, "local", reduced=False)
                self.norms.append(draft)

    def _norms_taken(self, args: tuple[Any, ...], frame: FrameType) -> None:
        for one in args[0] if args else ():
            self._norm_taken((one,), frame)

    def _collected(self, args: tuple[Any, ...], frame: FrameType) -> None:
        for draft in self.norms:
            draft.fields["reduced"] = True
        self.norms.clear()


class _Mark:
    """Put on a result, it lives as long as the graph of that."""


class Cuts:
    """Where what parameters compute leaves the graph, so that no gradient reaches them."""

    def __init__(self, look: CloseLook):
        self.look = look
        self.cut = {id(p): a for a in without_gradient(look.state.books.accounts) if (p := a.ref()) is not None}
        self.read: dict[Account, list[Place | None]] = {}
        """Where the numbers of those were taken that no module has run with."""
        self.shown: set[Place | None] = set()
        """Lines that take the numbers of trained parameters, as reports on all of them do."""
        self.blocks: list[tuple[tuple[Place, ...], dict[int, int]]] = []
        """The `no_grad()` blocks under way, by the lines that led to them, and how often each one's module had run
        before."""
        self.inside: dict[int, tuple[Place | None, int]] = {}
        """Where each one's module first ran in such a block, and how often it did in all of them."""
        self.since: dict[int, tuple[Place, ...]] = {}
        """The lines that led to the last such block of each since a backward pass."""
        self.called: dict[int, Place] = {}
        """The call of the function with that block in the function whose backward pass came next."""
        self.calls = {leaf: a.module.calls for leaf, a in self.cut.items() if a.module is not None}
        """How often each one's module had run when the look began: what leaves the graph of a run before that is shown
        or kept, when the step is over."""
        self.left: dict[Account, list[tuple[Place | None, int, int]]] = {}
        """Where those that run leave the graph, with the steps by then: all, and those of their own optimizers."""
        look.last_for_each()
        self.given: list[tuple[ModuleAccount, weakref.ref[_Mark]]] = []
        """Their modules, with a mark on what each gave that lives as long as its graph."""
        self.gone: set[ModuleAccount] = set()
        self.kept: set[ModuleAccount] = set()
        """Those whose results were gone when a loss went backward; those of which something was made or is kept."""
        owners = {owner_of(part) for a in self.cut.values() if a.module is not None and (part := a.module.ref())}
        for owner in sorted(owners, key=str)[:MOST_LISTED]:
            look.tap_forward(owner, lambda module, given, frame: None, self._gave)
        look.tap(Tensor, "backward", self._backward)
        self.numbers: dict[Account, Place | None] = {}
        """Where a number was taken out of the graph of those that run: what is only shown leaves there, too."""
        for name in graph.LEAVING:
            look.tap(Tensor, name, self._number_left if name in ("item", "tolist") else self._left)
        for name in ("tensor", "as_tensor"):
            look.tap(torch, name, self._made_of)
        for block in (torch.no_grad, torch.set_grad_enabled):
            look.tap(block, "__enter__", self._entered)
            look.tap(block, "__exit__", self._exited)
        look.tap_data(lambda tensor, frame: self._left((tensor,), frame))

    def end(self) -> None:
        """The numbers of a parameter were taken by a line that takes those of no trained one."""
        for leaf, (place, count) in self.inside.items():
            account = self.cut[leaf]
            # What runs with a graph as well was evaluated there, and is cut off somewhere else.
            if account.module is not None and account.module.calls - self.calls.get(leaf, 0) == count:
                account.cut_called_at = account.cut_called_at if account.cut_at else self.called.get(leaf)
                account.cut_at = account.cut_at or place
        for account, places_left in self.left.items():
            account.cut_at = self._before_its_step(account, places_left)
        for account, lines in self.read.items():
            account.cut_at = next((line for line in lines if line not in self.shown), account.cut_at)
        for account, place in self.numbers.items():
            account.cut_at = account.cut_at or place
        for account in self.cut.values():
            if account.module in self.gone or account.module in self.kept:
                account.dropped = account.module not in self.kept

    def _gave(self, module: nn.Module, result: Any) -> None:
        entry = self.look.state.books.module(module)
        if entry is not None and any(account.module is entry for account in self.cut.values()):
            for one in result if isinstance(result, (tuple, list)) else (result,):
                node: Any = getattr(one, "grad_fn", None)
                if node is not None:
                    node.metadata[f"{self.look.state.mark} given"] = mark = _Mark()
                    self.given.append((entry, weakref.ref(mark)))

    def _backward(self, args: tuple[Any, ...], frame: FrameType) -> None:
        for entry, mark in self.given:
            (self.gone if mark() is None else self.kept).add(entry)
        self.given.clear()
        function = frame.f_code.co_filename, frame.f_code.co_name
        for leaf, led in self.since.items():
            here = [at for at in led if (at.file, at.function) == function]
            if here and here[0] is not led[0]:
                self.called.setdefault(leaf, here[0])
        self.since.clear()

    def _left(self, args: tuple[Any, ...], frame: FrameType) -> None:
        for leaf in self._leaving(args[0], frame):
            left = self.left.setdefault(account := self.cut[leaf], [])
            if len(left) < MOST_LISTED:
                left.append((places.user_place(frame), *self._steps(account)))

    def _steps(self, account: Account) -> tuple[int, int]:
        return self.look.state.progress.steps, sum(entry.steps for entry in account.owners)

    def _before_its_step(self, account: Account, left: list[tuple[Place | None, int, int]]) -> Place | None:
        """The first place where it leaves the graph; where several optimizers take turns, in the loss before a step of
        its own, as a generator's image is rightly detached for the discriminator's."""
        after = [*(one[1:] for one in left), self._steps(account)]
        for at, (place, steps, own) in enumerate(left):
            if next((one for one in after[at:] if one[0] > steps), None) == (steps + 1, own + 1):
                return place
        return left[0][0]

    def _leaving(self, tensor: Any, frame: FrameType) -> list[int]:
        """Those in the graph of a tensor whose module has run since the look began."""
        node = getattr(tensor, "grad_fn", None)
        if node is None or not self.cut:
            return []
        held = graph.uses(node)
        self._read_out(held, frame)
        mine = [(leaf, a.module.calls) for leaf, a in self.cut.items() if leaf in held and a.module is not None]
        return [leaf for leaf, calls in mine if calls > self.calls.get(leaf, 0)]

    def _number_left(self, args: tuple[Any, ...], frame: FrameType) -> None:
        """A number leaves a graph, or a parameter itself."""
        self._read_out([id(args[0])], frame)
        for leaf in self._leaving(args[0], frame):
            self.numbers.setdefault(self.cut[leaf], places.user_place(frame))

    def _made_of(self, args: tuple[Any, ...], frame: FrameType) -> None:
        """A new tensor is made of the values of others, which stand in a list."""
        if isinstance(args[0], (list, tuple)):
            for one in args[0][:MOST_LISTED]:
                self._left((one,), frame)

    def _read_out(self, leaves: Iterable[int], frame: FrameType) -> None:
        """Numbers of parameters are taken: of which that no module has run with, and whether of trained ones, too."""
        for leaf in leaves:
            account = self.cut.get(leaf)
            if account is None:
                trained = self.look.state.books.by_id.get(leaf)
                if trained is not None and trained.total:
                    self.shown.add(places.user_place(frame))
            elif not runs(account):
                self.read.setdefault(account, []).append(places.user_place(frame))

    def _entered(self, args: tuple[Any, ...], frame: FrameType) -> None:
        if getattr(args[0], "mode", False) is False:  # `no_grad` has none
            self.blocks.append((places.calls(frame), self._calls()))

    def _exited(self, args: tuple[Any, ...], frame: FrameType) -> None:
        if not self.blocks or getattr(args[0], "mode", False) is not False:
            return
        led, before = self.blocks.pop()
        for leaf, calls in self._calls().items() if not self.blocks else ():
            if calls > before.get(leaf, 0):
                place, count = self.inside.get(leaf, (led[0] if led else None, 0))
                self.since[leaf] = led
                self.inside[leaf] = place, count + calls - before.get(leaf, 0)

    def _calls(self) -> dict[int, int]:
        return {leaf: a.module.calls for leaf, a in self.cut.items() if a.module is not None}


def without_gradient(accounts: Iterable[Account]) -> list[Account]:
    """Parameters that an optimizer holds and that no backward pass has ever reached."""
    return [a for a in accounts if a.owned and a.trains and not a.total and not a.given]


def runs(account: Account) -> bool:
    """Whether the module that holds a parameter has run."""
    return account.module is not None and account.module.calls > 0


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
