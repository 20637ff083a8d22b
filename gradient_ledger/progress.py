"""Where training stands: passes and steps under way, scalers, autocast blocks, and how many steps were taken."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gradient_ledger.account import Account, Deposit
from gradient_ledger.events import Place, Trail
from gradient_ledger.journal import Draft

MOST_CHANGES = 64
"""Updates that are remembered of one scaler."""

task_id = torch._C._current_graph_task_id
"""Number of the backward pass this thread is in, -1 outside."""


Call = tuple[Trail, frozenset[int]]
"""Who called for a gradient, and the leaves of its graph by their `id`."""


class Pass:
    """A backward pass under way."""

    __slots__ = (
        "deposit",
        "draft",
        "flushed",
        "fresh",
        "left",
        "moved",
        "moved_at",
        "skipped",
        "sum",
        "task",
        "thread",
        "touched",
        "used",
    )

    def __init__(self, deposit: Deposit, draft: Draft, thread: int):
        self.deposit, self.draft, self.thread = deposit, draft, thread
        self.touched: list[Account] = []
        self.used: list[Account] = []
        self.skipped: list[Account] = []
        self.moved: list[Account] = []
        self.moved_at: Place | None = None
        self.fresh = 0
        self.flushed = 0
        self.left: dict[int, set[int]] = {}
        """Earlier passes that it came through again, and which of the losses that made up theirs it did not reach."""
        self.sum = -1
        """The number that autograd gave to the node of its loss, apart from factors."""
        self.task = -1


IN_RHYTHM: Pass = object.__new__(Pass)
"""What stands for a pass under way that is only counted, since every window repeats the one before."""


class ScaleChange(NamedTuple):
    """An update of a gradient scaler."""

    passes: int
    """The backward passes so far."""
    before: float | None
    """The scale until then."""
    place: Place | None


class Scaler:
    """A gradient scaler: its scale when we last asked, and its last updates."""

    __slots__ = ("changes", "scale")

    def __init__(self) -> None:
        self.scale: float | None = None
        self.changes: deque[ScaleChange] = deque(maxlen=MOST_CHANGES)


class ScalerStep:
    """A `scaler.step(optimizer)` under way."""

    __slots__ = ("fired", "fused", "place", "scaler")

    def __init__(self, place: Place | None, fused: bool, scaler: Scaler):
        self.scaler = scaler
        self.place, self.fused = place, fused
        """A fused step is called even when it will do nothing; it is then told so by an attribute."""
        self.fired: Draft | None = None
        """The step it took, if it took one."""


class ClearCall:
    """A `zero_grad` under way."""

    __slots__ = ("draft", "optimizer", "place")

    def __init__(self, optimizer: int | None, place: Place | None):
        self.optimizer, self.place = optimizer, place
        """The optimizer's number, where it is one's."""
        self.draft: Draft | None = None
        """The event of what it has set to None."""


class ClipCall:
    """A call of clipping under way."""

    __slots__ = ("filled", "limit", "place", "strangers")

    def __init__(self, place: Place, limit: float | None):
        self.place, self.limit = place, limit
        self.strangers: set[int] = set()
        """Tensors, by `id`, it has asked for their gradient, that have none and are no known parameters."""
        self.filled = False
        """Whether it has met anything else."""


class Region:
    """The autocast blocks one thread is in."""

    __slots__ = ("depth", "number")

    def __init__(self) -> None:
        self.depth, self.number = 0, 0


class Gone:
    """A line that reads gradients, and finds none each time."""

    __slots__ = ("account", "passes", "times")

    def __init__(self, account: Account):
        self.account = account
        """The first parameter that it read."""
        self.passes = self.times = 0
        """The passes before it last did so, and how often it did with new passes before it."""


class Grown:
    """Gradients of one line that were read after each of its passes, and not cleared between."""

    __slots__ = ("accounts", "passes", "read_at", "stepped")

    def __init__(self) -> None:
        self.accounts: list[Account] = []
        self.passes: set[int] = set()
        """Those that came onto what had been read."""
        self.read_at: set[Place] = set()
        """The lines that read it."""
        self.stepped = False
        """Whether a step ever used what was there in the end."""


class InputRead(NamedTuple):
    """The gradient of a tensor that is no parameter, as it was when it was read."""

    ref: weakref.ref[Tensor]
    grad: weakref.ref[Tensor]
    version: int
    passes: int
    """The backward passes so far."""
    where: int | None
    """Where the tensor lay, which `x.data = …` changes."""
    written: int
    """Its own version."""
    seen: float | None
    """A sum over what it holds, which `x.data[rows] = …` changes; None where that was not looked at."""


class Loading(NamedTuple):
    """The pass over the data that began last."""

    iterator: weakref.ref[Any]
    """What hands out the batches."""
    batches: int
    """How many there are in all."""

    def left(self) -> int:
        """How many it has yet to hand out; more than there are where torch does not tell."""
        return self.batches - getattr(self.iterator(), "_num_yielded", -1)


class Drawn:
    """A distribution from which a sample was drawn that has no graph."""

    __slots__ = ("place", "ref", "sample", "weighed")

    def __init__(self, distribution: Any, sample: Tensor, place: Place | None):
        self.ref, self.place = weakref.ref(distribution), place
        self.sample = weakref.ref(sample)
        self.weighed = False
        """Whether it is known what the sample was for."""


class Progress:
    """What one ledger must remember between two of torch's doings."""

    def __init__(self) -> None:
        self.steps = 0
        self.data_passes = 0
        """How often a DataLoader has begun."""
        self.loading: Loading | None = None
        self.summands_seen: dict[Trail, int] = {}
        """By the line of a loss, how often one had begun when its summands were last looked at."""
        self.steps_by_hand = 0
        self.last_step_at: Place | None = None
        """The line of the last step."""
        self.most_steps = 0
        """Steps of whatever stepped most: an event of no optimizer's own belongs to that one's window."""
        self.pass_number = 0
        self.passes: list[Pass] = []
        self.last: Pass | None = None
        self.runs: dict[int, dict[Any, int]] = {}
        """By thread, its training forwards since its last backward, by call."""
        self.last_run: dict[int, Any] = {}
        """By thread, the call that ran last."""
        self.graphless: dict[int, list[Call]] = {}
        """By thread, the calls of `torch.autograd.grad` without `create_graph` since its last backward."""
        self.of_weights: set[Trail] = set()
        """Those of them that asked for gradients of parameters."""
        self.stepping: dict[int, list[Draft]] = {}
        """The steps under way in each thread, the innermost last."""
        self.scaler_steps: dict[int, ScalerStep] = {}
        self.clearing: dict[int, ClearCall] = {}
        """The `zero_grad` under way in each thread."""
        self.clips: dict[int, ClipCall] = {}
        """The call of clipping under way in each thread."""
        self.scaling = False
        self.scalers: weakref.WeakKeyDictionary[Any, Scaler] = weakref.WeakKeyDictionary()
        self.scale: float | None = None
        self.regions: dict[int, Region] = {}
        self.region_number = 0

    def stepped(self, steps_of_it: int) -> None:
        """One more step was taken, the `steps_of_it`-th of whatever took it."""
        self.steps += 1
        self.most_steps = max(self.most_steps, steps_of_it)

    @property
    def passed_since_step(self) -> bool:
        """Whether a backward has run since the last step."""
        return self.last is not None and self.last.draft.step == self.steps
