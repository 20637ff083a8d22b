"""The account of one parameter: what its `.grad` holds, from which backward passes, and what became of them.

Everything that can happen to a gradient is one of six transitions: `deposit`, `clear`, `edit`, `assign`, `use`,
`skip`. Each returns what it threw away or found there. What an account holds is written in this file alone.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from gradient_ledger.events import Place, Trail

if TYPE_CHECKING:
    from gradient_ledger.books import Early, Made, ModuleAccount, OptimizerAccount, Root

_descriptor: Any = torch._C.TensorBase.grad
grad_of: Callable[[Tensor], Tensor | None] = _descriptor.__get__
"""`.grad` as C++ holds it, past the ledger's own property."""

EMPTY, ZERO, FRESH, USED, SKIPPED = "empty", "zero", "fresh", "used", "skipped"
"""What `.grad` holds: nothing, zeros, gradients not used yet, gradients a step has used, those of a skipped step."""

MOST_DEPOSITS = 4096
"""Backward passes remembered for one parameter that nobody steps or clears."""
MOST_PIECES = 64
"""Cleared gradients whose sums are remembered, in case they come back from a buffer of the user's."""


class Deposit:
    """One backward pass: its number, the line it came from, and how many steps others had taken before it."""

    __slots__ = ("doubtful", "number", "place", "scaled", "steps", "trail")

    def __init__(self, number: int, place: Place | None, trail: Trail, steps: int, scaled: bool, doubtful: bool):
        self.number, self.place, self.trail, self.steps, self.scaled = number, place, trail, steps, scaled
        self.doubtful = doubtful
        """Whether its loss was inf or nan."""


class Thrown(NamedTuple):
    """What a transition has ended."""

    status: str
    """What the gradient held."""
    deposits: Sequence[Deposit]
    """The passes in it that no step had used; empty where it held something else."""
    taken: bool
    """Whether the user's code had read it since the last of them."""


_new = tuple.__new__
_SPENT = {(one, taken): Thrown(one, (), taken) for one in (EMPTY, ZERO, USED, SKIPPED) for taken in (False, True)}
"""All that can be thrown away of what is not fresh: made once, since every clear asks for one."""


class Account:
    """One parameter: what its `.grad` holds, and from which backward passes."""

    __slots__ = (
        # who it is
        "attached",
        "by_hand",
        "cut_at",
        "cut_called_at",
        "dropped",
        "early",
        "came_back",
        "frozen_after",
        "frozen_zero",
        "handle",
        "hooks",
        "index",
        "is_parameter",
        "joined",
        "lent",
        "looked_at",
        "made_by",
        "misspelt",
        "module",
        "name",
        "owned",
        "owners",
        "position",
        "put",
        "ref",
        "root",
        "rewritten",
        "shape",
        "stepped_by",
        "stepped_past",
        "taken_frozen",
        "thawed_after",
        "thawed_at",
        "trained",
        "trains",
        # what its gradient holds: written by the transitions alone
        "assigned",
        "deposits",
        "finite",
        "given",
        "increments",
        "mixed",
        "pieces",
        "seen",
        "status",
        "taken",
        "taken_at",
        "piled",
        "edited",
        "thread",
        "total",
        "used_by",
        # what was known of the values when we last looked
        "before",
        "clipped",
        "digest",
        "print",
        "read",
        "version",
        "shifted",
        "written",
    )

    def __init__(self, parameter: Tensor, index: int, name: str):
        self.ref = weakref.ref(parameter)
        self.index = index
        self.name = name
        self.root: Root | None = None
        self.shape: tuple[int, ...] = () if is_lazy(parameter) else tuple(parameter.shape)
        self.module: ModuleAccount | None = None
        self.owners: list[OptimizerAccount] = []
        self.made_by: tuple[Place, ...] = ()
        """The user's calls that made its model, where that has not run yet."""
        self.early: Early | None = None
        """The model that held it when an optimizer was made, where that had not run."""
        self.put: Made | None = None
        """How it came into a module that had run without it."""
        self.position = -1
        """Its place among the parameters of its model, in the order of its modules."""
        self.owned = False
        """Whether a living optimizer holds it."""
        self.handle: Any = None
        self.is_parameter = isinstance(parameter, nn.Parameter)
        self.attached = False
        """Whether a living model held it when we last looked."""
        self.trains = can_train(parameter)
        """Whether it required a gradient when we last looked."""
        self.misspelt = ""
        """The name that the user's code set to False on it where `requires_grad` was meant."""
        self.looked_at = False
        """Whether the user's code ever read its gradient."""
        self.by_hand = False
        """Whether it did so itself, not by torch's clipping."""
        self.came_back = False
        """Whether it was seen to be frozen after its optimizers had trained it, and to require gradients again."""
        self.frozen_after: int | None = None
        """How many steps its optimizers had taken when it was last frozen."""
        self.frozen_zero: bool | None = None
        """Whether it is a frozen matrix of zeros that no optimizer holds, when we last looked; it is looked at no more
        once it was found to be none."""
        self.thawed_at: int | None = None
        """How many passes had added to it when it was first seen to require a gradient again."""
        self.thawed_after = 0
        """How many steps its optimizers had taken then."""
        self.stepped_by: frozenset[int] = frozenset()
        """The optimizers whose steps found a gradient on it, a skipped step or an old gradient included. Of a long run
        some windows are forgotten, and this is not."""
        self.stepped_past: frozenset[int] = frozenset()
        """The optimizers whose steps used a backward pass that had reached it, too, while none held it."""
        self.taken_frozen = False
        """Whether it required no gradient when its first optimizer was made."""
        self.rewritten = False
        """Whether the user's code writes to the parameter itself, where no optimizer does."""
        self.cut_at: Place | None = None
        self.cut_called_at: Place | None = None
        """Where what it computes leaves the graph; and where the function with that line was called, by the one that
        went backward."""
        self.trained = False
        """Whether it had a new gradient at a step while its module was in train mode."""
        self.dropped = False
        """Whether what its module gives is gone each time before the loss goes backward, as far as was looked."""
        """Where its output left the graph, if that was seen."""
        self.lent = False
        """Whether its gradient was seen to be another parameter's, by which an optimizer steps."""
        self.joined: object = None
        """The open event this account was last added to: asking it is quicker than searching the event."""
        self.hooks = 0

        self.status = EMPTY
        self.deposits: list[Deposit] = []
        """Since the last clear or step."""
        self.finite = True
        """False once inf or nan was seen in what it holds."""
        self.total = 0
        self.used_by: int | None = None
        """The optimizer whose step used what is there now; -1 for a step by hand."""
        self.mixed = ""
        """`used` or `skipped` when this window's gradients were added to such ones."""
        self.taken = False
        """Whether the user's code read `.grad` since its last deposit: it may have put it elsewhere."""
        self.taken_at: Place | None = None
        """Where it did so itself, since the last deposit."""
        self.piled: list[tuple[Deposit, Place]] = []
        """Deposits onto what the same line had brought before, and where the user's code had read that; since the last
        clear or step."""
        self.edited: Place | None = None
        """The line that changed used gradients, where nobody has looked at them from elsewhere since."""
        self.assigned: Place | None = None
        """Where the user's code put the gradient that is there."""
        self.given = False
        """Whether it ever did."""
        self.seen = -1
        """Number of the backward pass that last reached it."""
        self.thread: int | None = None
        """The thread whose backward last reached it."""
        self.increments: list[Tensor] = []
        """With a reference: the gradient after each of these deposits."""
        self.pieces: list[float] = []
        """Sums over what was thrown away after somebody had read it, since the last step."""

        self.version = -1
        self.written = parameter._version
        self.shifted = False
        """Whether the parameter was written to between two passes that reached it, while an optimizer held it."""
        self.print: float | None = None
        """A sum over the parameter, kept only while no optimizer owns it: finds hand-written steps."""
        self.read: Place | None = None
        """Where the user's code last took hold of `.grad` since we last looked."""
        self.before: float | None = None
        """Sum of squares of the gradient when the user's code first took hold of it, sampled."""
        self.clipped = False
        self.digest: complex | None = None

        grad = grad_of(parameter)
        if grad is not None:  # from before the ledger was opened: nobody knows what it is
            self.status, self.version = FRESH, grad._version

    @property
    def grad(self) -> Tensor | None:
        """What its `.grad` holds now; None for a parameter that is gone, too."""
        parameter = self.ref()
        return grad_of(parameter) if parameter is not None else None

    @property
    def steps(self) -> int:
        """How many steps the optimizers took that hold it."""
        return sum(owner.steps for owner in self.owners)

    @property
    def thawed(self) -> bool:
        """Whether it got gradients since it began to require them again, and no optimizer that holds it has stepped
        since it was frozen; or since it was thawed, where none of them lives any more."""
        idle = self.frozen_after == self.steps or (not self.owned and self.thawed_after == self.steps)
        return self.thawed_at is not None and idle and self.total > self.thawed_at

    # ------------------------------------------------------------------ transitions

    def deposit(self, one: Deposit, thread: int) -> str:
        """A backward pass has added to it. Returns what it was added onto."""
        onto = self.status
        if onto == USED:
            self.mixed = USED
        elif onto == SKIPPED:
            self.mixed = self.mixed or SKIPPED
        self.status, self.seen, self.thread = FRESH, one.number, thread
        deposits = self.deposits
        if self.taken_at is not None and onto == FRESH and deposits and deposits[-1].trail == one.trail:
            self.piled.append((one, self.taken_at))
        deposits.append(one)
        if len(deposits) > MOST_DEPOSITS:  # nobody steps or clears it
            del deposits[1:-1]
        self.total += 1
        self.taken, self.taken_at, self.edited = False, None, None
        return onto

    def clear(self, to: str) -> Thrown:
        """It was set to None or to zeros (`EMPTY` or `ZERO`). Returns what is gone."""
        thrown = self._thrown()
        self.status = to
        if self.deposits or self.increments or self.piled:
            self.deposits, self.increments, self.piled = [], [], []
        self.finite, self.taken, self.mixed = True, False, ""
        self.assigned = self.used_by = self.taken_at = self.edited = None
        self.read = self.before = None
        self.clipped = False
        if to == EMPTY:
            self.version = -1
        return thrown

    def edit(self, place: Place | None, whole: bool = False) -> Thrown:
        """It was changed in place; as a `whole`, if nothing of what it held is left. Used gradients that are rescaled
        and kept, as eligibility traces are, are fresh again: meant, not forgotten. Returns what it held."""
        thrown = self._thrown()
        if self.status == USED or self.edited is not None:
            self.edited = place
        if whole:
            self.piled = []
        if self.status in (USED, ZERO):
            self.status, self.deposits = FRESH, []
            self.assigned = place or Place("?", 0)
            self.given = self.given or thrown.status == ZERO
        return thrown

    def assign(self, place: Place | None) -> Thrown:
        """The user's code put a tensor there. Returns what it held; unused passes are taken to be in the new one."""
        thrown = self._thrown()
        if self.status == SKIPPED:
            self.deposits, self.mixed = [], ""
        if not self.looked_at:  # nobody has read what was there: nothing of it is in the new one
            self.mixed = ""
        self.edited = place if self.status == USED or self.edited is not None else None
        self.status, self.assigned, self.given = FRESH, place or Place("?", 0), True
        self.taken, self.taken_at, self.piled = False, None, []
        return thrown

    def use(self, by: int, version: int | None = None) -> Thrown:
        """A step has used it. Returns what it was made of. With its `version`, its value is known up to here."""
        thrown = self._thrown()
        if self.status in (FRESH, SKIPPED, USED):
            self.status, self.used_by = USED, by
        self.deposits = []
        if self.increments or self.pieces or self.piled:
            self.increments, self.pieces, self.piled = [], [], []
        self.finite, self.taken, self.mixed = True, False, ""
        self.assigned = self.taken_at = self.edited = None
        if version is not None:
            self.version, self.digest = version, None
            self.read, self.clipped, self.before = None, False, None
        return thrown

    def skip(self) -> Thrown:
        """A scaler has kept a step from using it. Returns what it holds."""
        thrown = self._thrown()
        if self.status in (FRESH, USED):
            self.status = SKIPPED
        return thrown

    def _thrown(self) -> Thrown:
        if self.status != FRESH:
            return _SPENT[self.status, self.taken]
        return _new(Thrown, (FRESH, self.deposits or (), self.taken))  # as its own `__new__` does, which is Python

    # ------------------------------------------------------------------ what is known of the values

    def came_again(self, times: int, passes: int) -> None:
        """What was written of the last window came again: so many more deposits, the last one so many passes later."""
        self.total += times
        self.seen += passes

    def held(self, place: Place | None) -> None:
        """The user's code took hold of it at that line."""
        self.read, self.taken, self.looked_at = place, True, True
        if self.edited is not None and self.edited != place:
            self.edited = None
        if place is not None:
            self.by_hand, self.taken_at = True, place

    def found_nonfinite(self) -> None:
        """inf or nan is in what it holds, and stays there whatever is added."""
        self.finite = False

    def keep_increment(self, grad: Tensor) -> None:
        """Remember what it holds after this deposit, to be compared with a reference."""
        self.increments.append(grad.detach().clone())

    def keep_piece(self, total: float) -> None:
        """Remember the sum over what is being thrown away: it may come back from a buffer."""
        if len(self.pieces) < MOST_PIECES:
            self.pieces.append(total)

    def looked(self, version: int, digest: complex | None = None) -> None:
        """Its value is known up to here: whatever happened until now is written down."""
        self.version, self.digest = version, digest
        self.read, self.clipped, self.before = None, False, None

    def stands(self, parameter: Tensor, fingerprint: float | None) -> None:
        """The parameter itself is known up to here: a later change is a step by hand."""
        self.written, self.print = parameter._version, fingerprint


def can_train(parameter: Tensor) -> bool:
    """Whether a gradient can be expected: an empty tensor never gets one."""
    return parameter.requires_grad and (is_lazy(parameter) or parameter.numel() > 0)
