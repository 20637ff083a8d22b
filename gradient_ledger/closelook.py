"""A closer look, for a window or two: who averages the weights, what cuts the graph, whose norm is taken.

All are done by operations that run all the time and that it would cost too much to listen to. So they are listened
to only while there is a reason. `REASONS` lists these; a new one is a row there, and a class in `looks.py` that says
what is listened for.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gradient_ledger import graphless, looks, normed, places, unseen
from gradient_ledger.account import Account
from gradient_ledger.blends import Blends
from gradient_ledger.cells import Cells, run_again
from gradient_ledger.compiled import any_graph
from gradient_ledger.crossed import Crossings
from gradient_ledger.handed import Handed, may_hand
from gradient_ledger.source import may_average
from gradient_ledger.state import State
from gradient_ledger.tensors import address

LASTS = 3
"""Steps that a closer look lasts."""
LOOKS = 2
"""Closer looks that a run takes for most reasons."""

_MISSING = object()
_busy = threading.Lock()
"""One ledger looks closely at a time: what two have put over one another could not be taken off in any order."""


Seen = Callable[[tuple[Any, ...], FrameType], None]
"""What is told of a call: what it was given, and from where it was made."""


class CloseLook:
    """The extra taps of one ledger, while they are in."""

    def __init__(self, state: State, listeners: Sequence[Callable[[CloseLook], looks.Listener]]):
        self.state = state
        self.until = state.progress.steps + LASTS
        self.undo: list[Callable[[], None]] = []
        self.told: dict[tuple[int, str], tuple[list[Seen], list[Seen]]] = {}
        """By owner and name, who is told before a call and who after it."""
        self.reads: list[Callable[[Tensor, FrameType], None]] = []
        self.puts: list[Callable[[Tensor, Tensor, FrameType], None]] = []
        """Who is told of reads and writes of `.data`."""
        held = [(p, a) for a in state.books.accounts if a.owners and (p := a.ref()) is not None]
        self.held = [account for _, account in held]
        # What is trained goes before what lies in its memory and is not, though an optimizer holds it.
        ordered = sorted(held, key=lambda one: one[1].trains)
        self.weights = {at: account for parameter, account in ordered if (at := address(parameter))}
        """By address; a sharded one has none of its own."""
        self.listeners = [listen(self) for listen in listeners]

    def last_for_each(self) -> None:
        """Last as long for each of up to four optimizers, which may take turns."""
        self.until = max(self.until, self.state.progress.steps + LASTS * min(len(self.state.books.optimizers), 4))

    def end(self) -> None:
        """Take the taps out."""
        while self.undo:
            self.undo.pop()()
        for one in self.listeners:
            one.end()
        self.reads.clear()
        self.puts.clear()
        self.told.clear()  # else this look keeps itself alive, and what it has seen
        _busy.release()

    def _put(self, owner: Any, name: str, ours: Any) -> None:
        own = vars(owner).get(name, _MISSING)
        setattr(owner, name, ours)
        self.undo.append(lambda: delattr(owner, name) if own is _MISSING else setattr(owner, name, own))

    def tap(self, owner: Any, name: str, seen: Seen, after: bool = False) -> None:
        """Tell of each call from the user's code what it was given; `after` it, what it returned stands in front.

        One tap tells all who listen: to a tap around another one, the call would seem to come from the ledger.
        """
        told = self.told.get((id(owner), name))
        if told is not None:
            told[after].append(seen)
            return
        earlier: list[Seen] = []
        later: list[Seen] = []
        (later if after else earlier).append(seen)
        self.told[id(owner), name] = earlier, later
        original = getattr(owner, name)

        @functools.wraps(original)
        def tapped(*args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling():
                return original(*args, **kwargs)
            frame = sys._getframe(1)
            if places.kind_of(frame.f_code.co_filename) != places.USER:
                return original(*args, **kwargs)
            given = (*args, *kwargs.values())
            for one in earlier:
                self._tell(partial(one, given, frame))
            result = original(*args, **kwargs)
            for one in later:
                self._tell(partial(one, (result, *given), frame))
            return result

        self._put(owner, name, tapped)

    def tap_anywhere(self, owner: Any, name: str, called: Callable[[], None]) -> None:
        """Tell that a function or method was called, from whatever code."""
        original = getattr(owner, name)

        @functools.wraps(original)
        def tapped(*args: Any, **kwargs: Any) -> Any:
            self._tell(called)
            return original(*args, **kwargs)

        self._put(owner, name, tapped)

    def tap_data(
        self,
        seen: Callable[[Tensor, FrameType], None] | None = None,
        put: Callable[[Tensor, Tensor, FrameType], None] | None = None,
    ) -> None:
        """Tell of each read of a tensor's `.data` by the user's code, and of each write to it."""
        first = not (self.reads or self.puts)
        self.reads += [seen] if seen is not None else []
        self.puts += [put] if put is not None else []
        if not first:
            return  # one tap tells all who listen, as above
        base: Any = vars(Tensor).get("data", torch._C.TensorBase.data)

        def read(tensor: Tensor) -> Tensor:
            frame = sys._getframe(1)
            if places.kind_of(frame.f_code.co_filename) == places.USER:
                for one in self.reads:
                    self._tell(partial(one, tensor, frame))
            found: Tensor = base.__get__(tensor)
            return found

        def write(tensor: Tensor, value: Tensor) -> None:
            frame = sys._getframe(1)
            if places.kind_of(frame.f_code.co_filename) == places.USER:
                for one in self.puts:
                    self._tell(partial(one, tensor, value, frame))
            base.__set__(tensor, value)

        self._put(Tensor, "data", property(read, write, base.__delete__, base.__doc__))

    def tap_forward(
        self,
        kind: type[nn.Module],
        runs: Callable[[nn.Module, tuple[Any, ...], FrameType], None],
        ran: Callable[[nn.Module, Any], None],
    ) -> None:
        """Tell of each call of a class of modules what it is given, and what it returned."""
        original = kind.forward

        def forward(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling():
                return original(module, *args, **kwargs)
            frame = sys._getframe(1)
            self._tell(lambda: runs(module, (*args, *kwargs.values()), frame))
            result = original(module, *args, **kwargs)
            self._tell(lambda: ran(module, result))
            return result

        self._put(kind, "forward", functools.wraps(original)(forward))

    def _tell(self, act: Callable[[], None]) -> None:
        state = self.state
        if state.muted:
            return
        with state.lock:
            try:
                act()
            except Exception as error:
                state.failed(error)


# ------------------------------------------------------------------ reasons to look


class Reason(NamedTuple):
    """When to look closely, and at what."""

    name: str
    """The budget's word for it."""
    given: Callable[[State, bool], bool]
    """Whether there is that reason, after a step; asked with whether the step used several passes."""
    listen: Callable[[CloseLook], looks.Listener]
    most: int = LOOKS
    """Closer looks that a run may take for it."""


def _averages(state: State, several_passes: bool) -> bool:
    """Averages belong to steps, not to micro-batches; and teachers are averages of their students."""
    return several_passes or has_twins(state.books.accounts)


def _shared(state: State, several_passes: bool) -> bool:
    if state.rewritten or any(map(is_shared, state.books.accounts)):
        return True
    # Who shares the parameters themselves, or where this torch does not tell who shares memory: the text is the reason.
    return state.budget.may_look("sharing text", 4) and may_average(own_files(state))


def _shards(state: State, several_passes: bool) -> bool:
    return bool(state.sync.get("fsdp"))


def _cuts(state: State, several_passes: bool) -> bool:
    return bool(looks.without_gradient(state.books.accounts))


def _blends(state: State, several_passes: bool) -> bool:
    """Weights may be averaged by this text, and it is not known yet how. One that seems to take in too much is looked
    at again and again: its factor may change as training goes on. So are weights that are handed over as averages."""
    if any(one.swapped_at is not None and one.times <= LASTS for one in state.drawn_back.values()):
        return True
    known = [one for found in state.averages.values() for one in found if one.is_known]
    if any(one.share > 0.5 for one in known):
        return True
    if state.averaging is not None and not any(one.place == state.averaging for one in known):
        return True
    doubt = "averages at an end" if pass_ends(state) else "averaging text"
    return not known and state.budget.may_look(doubt, 4) and may_average(own_files(state))


def _crossings(state: State, several_passes: bool) -> bool:
    return state.may_cross


def _cells(state: State, several_passes: bool) -> bool:
    return bool(run_again(state))


def _handing(state: State, several_passes: bool) -> bool:
    return state.budget.may_look("recurrent", 8) and may_hand(state)


def _sums(state: State, several_passes: bool) -> bool:
    """At the first step, from the 8th and from the 64th on: a mask may let nothing pass at first."""
    return state.progress.steps >= 8 ** state.budget.count("sums")


def _norms(state: State, several_passes: bool) -> bool:
    return state.budget.may_look("norm text", 4) and normed.may_be_bare(own_files(state))


def _writes(state: State, several_passes: bool) -> bool:
    return state.budget.may_look("writing text", 4) and unseen.may_write(own_files(state))


def own_files(state: State) -> list[str]:
    """The files that events came from, and the user's modules that were loaded from their folders or below, each once:
    a script may be loaded as `__mp_main__` as well. What is no file, as a cell of a notebook, has no folder."""
    files = state.journal.files()
    folders = tuple(os.path.join(os.path.dirname(places.absolute(file)), "") for file in files if os.path.isfile(file))
    # Asked at every step: the modules are looked through when one more of them is loaded, not each time.
    name, module = next(reversed(sys.modules.items()))
    loaded = _loaded(len(sys.modules), name, id(module))
    return list(dict.fromkeys([*files, *(one for one in loaded if one.startswith(folders))]))


@functools.lru_cache(maxsize=1)
def _loaded(number: int, last: str, identity: int) -> list[str]:
    """The files of the user's modules that are loaded, `__main__` apart, which events tell of. `number` of them, and
    the `last` one by its name and its `id`, tell whether this was asked before."""
    held = [module for name, module in list(sys.modules.items()) if name != "__main__"]
    # Asked for an attribute, modules that load lazily would answer slowly.
    files = [getattr(module, "__dict__", {}).get("__file__") for module in held]
    return [one for one in files if isinstance(one, str) and places.kind_of(one) == places.USER]


REASONS = (
    Reason("averages", _averages, looks.Averages),
    Reason("shared", _shared, looks.Shared),
    Reason("blends", _blends, Blends, most=64),
    Reason("shards", _shards, looks.Norms),
    Reason("cuts", _cuts, looks.Cuts),
    Reason("crossings", _crossings, Crossings),
    Reason("cells", _cells, Cells),
    Reason("handed", _handing, Handed),
    Reason("normed", _norms, normed.Normed),
    Reason("sums", _sums, graphless.Sums, most=3),
    Reason("unseen", _writes, unseen.Unseen),
)
"""In the order in which their taps are put in: several listen at the same places."""


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
"""How many hold a storage. It is a private function of torch, which a later one may not have."""


def _held(tensor: Tensor) -> int:
    return int(_holders(tensor.untyped_storage()._cdata))


@functools.lru_cache(maxsize=1)
def _held_alone() -> int:
    """How many hold the memory of a tensor that has it to itself: 2 where torch counts the storage that is asked for
    here (2.13), 1 where it does not (2.6)."""
    return _held(torch.zeros(1, device="cpu"))


def is_shared(account: Account) -> bool:
    """Whether another tensor lives on the memory of a trained parameter, such as its `.data` kept somewhere."""
    parameter = account.ref()
    if parameter is None or _holders is None or not account.trains or not account.owned:
        return False
    try:
        return _held(parameter) > _held_alone()
    except (RuntimeError, NotImplementedError):
        return False


# ------------------------------------------------------------------ beginning and end


def pass_ends(state: State) -> bool:
    """Whether the last batch of a pass over the data has been handed out: what is done once an epoch, behind all of its
    steps, seldom falls into another look."""
    loading = state.progress.loading
    return loading is not None and loading.left() <= 0


def begin(state: State, several_passes: bool) -> None:
    """After a step: look closely from here on, if there is a reason and the budget allows."""
    # Compiled code would be compiled anew.
    if state.close_look is not None or any_graph():
        return
    given = [one for one in REASONS if one.given(state, several_passes) and state.budget.may_look(one.name, one.most)]
    if given and _busy.acquire(blocking=False):
        state.close_look = CloseLook(state, [one.listen for one in given])


def end(state: State) -> None:
    """Take the extra taps out."""
    if state.close_look is not None:
        state.close_look.end()
        state.close_look = None
