"""Modules of the user's own that run several times for one loss and get back what they gave: with a graph or without.

Listened to during a closer look. The recurrent cells of torch are known by their type (`inside.py`); these are known
by the numbers that come back to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from gradient_ledger import places, source
from gradient_ledger.books import ModuleAccount
from gradient_ledger.tensors import digest_of

if TYPE_CHECKING:
    from gradient_ledger.closelook import CloseLook
    from gradient_ledger.state import State

OF_TORCH = (nn.RNNCellBase, nn.RNNBase)
"""torch's own: a cell is known anyhow, and a module that holds one is no second one."""
MOST_GIVEN = 16
"""Tensors among what a module is given, and among what it gives."""


class _Trained:
    """The runs of a module that one loss came back through."""

    def __init__(self) -> None:
        self.runs = 0
        self.bare = self.within = False
        """Whether one of them had got a bare state; whether from another run in the same call of its whole model."""


class Cells:
    """Whether the state of a module comes back to it without its graph."""

    def __init__(self, look: CloseLook):
        self.look = look
        self.trained: dict[tuple[ModuleAccount, int], _Trained] = {}
        """By module and pass, its runs that the loss came back through."""
        self.during: dict[ModuleAccount, int] = {}
        """How often its whole model had been called at its last run."""
        for owner in {owner_of(one) for one in run_again(look.state)}:
            look.tap_forward(owner, self._runs, self._ran)

    def end(self) -> None:
        """The modules' accounts tell."""

    def _runs(self, module: nn.Module, given: tuple[Any, ...], frame: FrameType) -> None:
        state = self.look.state
        entry = state.books.module(module)
        if entry is None or not torch.is_grad_enabled():
            return
        number = state.progress.pass_number
        known, entry.known = entry.known if entry.sequence == number else (), ()
        entry.sequence, entry.back_bare = number, False
        call = sum(one.calls for one in state.books.modules.values() if one.root is entry.root and one.outer)
        within = not entry.outer and self.during.get(entry) == call
        self.during[entry] = call
        sums = [(one, digest_of(one)) for one in _tensors(given)]
        back = [one for one, its in sums if its in known]
        besides = tuple(its for _, its in sums if its not in known)
        again, entry.besides = besides == entry.besides, besides
        if again:
            return  # round after round for one and the same input: it is refined, and no sequence
        if any(one.requires_grad for one in back):
            entry.carried += 1
        elif back:
            entry.back_bare = True
            self.trained.setdefault((entry, number), _Trained()).within |= within
            if not entry.bare:
                entry.bared_at = source.cut_around(places.calls(frame, most=3))

    def _ran(self, module: nn.Module, result: Any) -> None:
        entry = self.look.state.books.module(module)
        if entry is None or not torch.is_grad_enabled():
            return
        found = list(_tensors(result if isinstance(result, (tuple, list)) else (result,)))
        self._when_trained(entry, found)
        # What is called by itself, once a step, is fed its own prediction where it simulates something.
        states = found[1:] if entry.outer else found
        entry.known = tuple(digest_of(one) for one in states if one.requires_grad)

    def _when_trained(self, entry: ModuleAccount, results: Iterable[Tensor]) -> None:
        """Count a bare state when a loss comes back through the run; outside a call of the whole model, through two of
        them: what only warms a state up, or is played, is given it bare on purpose."""
        known = self.trained.setdefault((entry, entry.sequence), _Trained())
        bare = entry.back_bare
        seen: list[int] = []

        def trained(_: Any) -> None:
            if not seen:
                seen.append(1)
                known.runs += 1
                known.bare = known.bare or bare
                entry.bare += known.bare and (known.runs > 1 or known.within)

        for node in (one.grad_fn for one in results if one.grad_fn is not None):
            node.register_prehook(trained)


def run_again(state: State) -> list[nn.Module]:
    """The modules of the user's own that ran more often than there were passes, and hold something to train."""
    passes = state.progress.pass_number
    entries = [one for one in state.books.modules.values() if one.calls > passes > 0]
    return [module for one in entries if (module := one.ref()) is not None and _is_own(module)]


def _is_own(module: nn.Module) -> bool:
    if isinstance(module, nn.RNNBase):
        return True
    code = getattr(places.forward_of(owner_of(module)), "__code__", None)
    own = code is not None and places.kind_of(code.co_filename) == places.USER
    return own and any(True for _ in module.parameters()) and not any(isinstance(m, OF_TORCH) for m in module.modules())


def owner_of(module: nn.Module) -> type[nn.Module]:
    """The class that a module has its `forward` from."""
    return next(kind for kind in type(module).__mro__ if "forward" in vars(kind))


def _tensors(things: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors of numbers among some things, and in tuples and lists among them."""
    left = MOST_GIVEN
    for one in things:
        for each in one if isinstance(one, (tuple, list)) else (one,):
            if isinstance(each, Tensor) and each.is_floating_point() and left:
                left -= 1
                yield each
