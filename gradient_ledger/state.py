"""What a recorder remembers: the events so far, the passes and steps under way, and what may still be looked at."""

from __future__ import annotations

import threading
import traceback
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from gradient_ledger.accounts import Account, Books, Deposit, OptimizerAccount
from gradient_ledger.events import Kind, Place

SAMPLES = 4
"""Norms are taken at the first so many steps and clips, and afterwards only where something looks wrong."""
LOOKS = 64
"""How often a value is looked at for one kind of doubt."""
MOST_DEPOSITS = 4096
"""Backward passes remembered for one parameter that nobody steps or clears."""
KEPT = 400
"""Windows whose events are all kept; later ones are kept if they differ from all those before."""

_register: Any = Tensor.register_post_accumulate_grad_hook
"""As torch has it: the taps wrap the name."""

task_id = torch._C._current_graph_task_id
"""Number of the backward pass this thread is in, -1 outside."""


class Draft:
    """An event being written."""

    __slots__ = ("accounts", "details", "kind", "number", "place", "step", "window")

    def __init__(self, number: int, kind: Kind, place: Place | None, step: int, window: int, details: dict[str, Any]):
        self.number, self.kind, self.place = number, kind, place
        self.step, self.window, self.details = step, window, details
        self.accounts: list[Account] = []


class Pass:
    """A backward pass under way."""

    __slots__ = ("deposit", "draft", "flushed", "fresh", "skipped", "task", "thread", "touched", "used")

    def __init__(self, deposit: Deposit, draft: Draft, thread: int):
        self.deposit, self.draft, self.thread = deposit, draft, thread
        self.touched: list[Account] = []
        self.used: list[Account] = []
        self.skipped: list[Account] = []
        self.fresh = 0
        self.flushed = 0
        self.task = -1


class State:
    """The accounts of one ledger, its events, and what it must remember between two of torch's doings."""

    def __init__(
        self,
        window: int | None,
        reference: Callable[[], Mapping[str, Tensor]] | None,
        digests: bool,
        deposited: Callable[[State, Account, Tensor], None],
    ):
        self.books = Books()
        self.window = window
        self.reference = reference
        self.digests = digests
        self.on_step: Callable[[int], None] | None = None
        self.deposited = deposited
        self.lock = threading.RLock()
        self.threads: set[int] = set()
        """Every thread that has done anything we saw, until it is found dead."""
        self.threaded = False
        """Whether there ever were several."""
        self.drafts: list[Draft] = []
        self.dropped = 0
        self.steps = 0
        self.steps_by_hand = 0
        self.most_steps = 0
        """Steps of whatever stepped most: an event of no optimizer's own belongs to that one's window."""
        self.finished = False
        self.pending_finite = True
        self.stopped = False
        self.error = ""
        self.error_at: Place | None = None
        self.muted = False
        self.trouble = ""
        """The traceback of a fault of the ledger's own, if it had one; it closes the ledger, not the training."""
        self.reference_names: list[str] | None = []
        """Names a reference gave so far, none of which belonged to any parameter; None once one did."""
        self.reference_error: BaseException | None = None
        self.pass_number = 0
        self.event_number = 0
        self.clipping: Draft | None = None
        """The clip under way, until anything else happens."""
        self.groups: dict[tuple[Any, ...], Draft] = {}
        self.passes: list[Pass] = []
        self.last: Pass | None = None
        self.stepping: dict[int, Draft] = {}
        self.scaler_steps: dict[int, dict[str, Any]] = {}
        self.mark = f"gradient ledger {id(self)}: scaled"
        self.scaling = False
        self.scale: float | None = None
        self.regions: dict[int, list[Any]] = {}
        self.region_number = 0
        self.looks: Counter[str] = Counter()
        self.own_only = False
        self.shapes: Counter[tuple[Any, ...]] = Counter()
        self.window_start = 0
        self.kept_windows = 0
        self.module_hooks = -1
        self.hooked_at: Place | None = None
        self.sync: dict[str, Any] = {}
        self.leaves: dict[int, tuple[Any, ...]] = {}
        """Tensors that are no parameters, as they were when their gradient was read."""
        self.assigned_at = -1
        self.sharing: dict[int, Place | None] = {}
        self.assigned: dict[int, tuple[weakref.ref[Tensor], Account]] = {}
        self.clearing: dict[int, tuple[Any, Place | None]] = {}

    def optimizer(self, optimizer: Any, made_at: Place | None = None, made: int = 0) -> OptimizerAccount:
        """The account of an optimizer, opened if new."""
        before = len(self.books.accounts)
        entry = self.books.optimizer(optimizer, made_at, made)
        if made and not entry.first_event:
            entry.first_event = self.event_number
        if len(self.books.accounts) != before:
            self.hook_up()
        return entry

    def within_reach(self) -> Iterable[Account]:
        """The accounts whose gradients this thread may read.

        Autograd writes a gradient without holding Python's lock: reading one that another thread works on ends the
        process.
        """
        thread = threading.get_ident()
        self.threaded = self.threaded or len(self.threads) > 1
        if len(self.threads) > 1 or thread not in self.threads:
            self.threads &= {thread} | {one.ident for one in threading.enumerate() if one.ident is not None}
        if self.threads <= {thread}:
            return self.books.accounts
        return [account for account in self.books.accounts if account.thread == thread]

    def failed(self, error: Exception) -> None:
        """Close this ledger because its own code failed; training goes on."""
        if self.reference_error is error:
            raise error  # what the user's reference raised is the user's to see
        self.trouble = "".join(traceback.format_exception(error))
        self.finished = True

    def knows(self, optimizer: Any) -> bool:
        """Whether an optimizer belongs to what is watched: with things named, one that shares a parameter with them."""
        if not self.own_only:
            return True
        return any(
            isinstance(p, Tensor) and self.books.find(p) is not None
            for group in getattr(optimizer, "param_groups", ())
            for p in group["params"]
        )

    def hook_up(self) -> None:
        """Listen to every parameter that has an account."""
        for account in self.books.accounts:
            if account.handle is None:
                self.hook(account)

    def hook(self, account: Account) -> None:
        """Listen to one parameter, as soon as it can get a gradient."""
        parameter = account.ref()
        if parameter is None or is_lazy(parameter):
            return  # a lazy module's, not made yet
        if not parameter.requires_grad or not parameter.is_leaf:
            return
        mine = weakref.ref(self)

        def deposited(p: Tensor) -> None:
            recorder = mine()
            if recorder is not None and not recorder.finished and not recorder.muted:
                with recorder.lock:
                    try:
                        recorder.deposited(recorder, account, p)
                    except Exception as error:
                        recorder.failed(error)

        account.handle = _register(parameter, deposited)

    def emit(self, kind: Kind, place: Place | None, accounts: Iterable[Account] = (), **details: Any) -> Draft:
        """Begin an event of its own."""
        draft = Draft(self.event_number, kind, place, self.steps, self.most_steps, details)
        self.clipping = None
        self.event_number += 1
        draft.accounts.extend(accounts)
        if draft.accounts and draft.accounts[0].owners:
            draft.window = draft.accounts[0].owners[-1].steps
        self.drafts.append(draft)
        return draft

    def join(self, kind: Kind, place: Place | None, account: Account, key: Any, **details: Any) -> Draft:
        """Add to the open event of this kind, place and key, or open one.

        Clearing ten parameters is one event. Events stay open until a forward, a backward or a step.
        """
        whole = (kind, place and (place.file, place.line), key)
        draft = self.groups.get(whole)
        if draft is None:
            draft = self.emit(kind, place, (), **details)
            if account.owners:
                draft.window = account.owners[-1].steps
            self.groups[whole] = draft
        if account.joined is not draft:
            account.joined = draft
            draft.accounts.append(account)
        return draft

    def may_look(self, doubt: str, at_most: int = LOOKS) -> bool:
        """Whether a value may still be looked at for this doubt: looking costs, and the first times tell most."""
        self.looks[doubt] += 1
        return self.looks[doubt] <= at_most

    def window_closed(self) -> None:
        """Forget the events of a window that is like earlier ones, once many are kept."""
        start, self.window_start = self.window_start, len(self.drafts)
        if self.kept_windows < KEPT:
            self.kept_windows += 1
            return
        shape = tuple(_shape(draft) for draft in self.drafts[start:])
        self.shapes[shape] += 1
        if self.shapes[shape] <= 8:
            self.kept_windows += 1
            return
        self.dropped += len(self.drafts) - start
        del self.drafts[start:]
        self.window_start = start

    def say_step(self) -> None:
        """Tell whoever asked how far training is: steps of the optimizer that took most."""
        if self.on_step is not None:
            self.on_step(self.most_steps)


def _shape(draft: Draft) -> tuple[Any, ...]:
    place, details = draft.place, draft.details
    marks = tuple(bool(details.get(key)) for key in ("onto_used", "onto_skipped", "lost", "stale", "again", "crossed"))
    return draft.kind, place and (place.file, place.line), marks, details.get("passes")
