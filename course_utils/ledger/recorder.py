"""From torch's own doings to events: the state of every `.grad`, kept up to date by what the taps report.

Two rules make it cheap and fair. Nothing is computed on the fast path: counters move, values are looked at only
where events alone cannot tell (is what lies there zero? did a hand-written step happen?). And nothing is kept
alive: parameters, gradients, modules and optimizers are known by weak reference, graphs not at all.
"""

from __future__ import annotations

import math
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from course_utils.ledger import places
from course_utils.ledger.accounts import (
    EMPTY,
    FRESH,
    SKIPPED,
    USED,
    ZERO,
    Account,
    Books,
    Deposit,
    ModuleAccount,
    OptimizerAccount,
    grad_of,
    living,
)
from course_utils.ledger.events import Event, Kind, Log, OptimizerFacts, ParameterFacts, Place
from course_utils.ledger.reference import compare_with_reference

SAMPLES = 8
"""Norms are taken at the first so many steps, and afterwards only where something looks wrong."""
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


class Recorder:
    """Keeps the accounts of one ledger. Its methods are called by the taps, under one lock."""

    def __init__(
        self,
        watched: Iterable[object] = (),
        window: int | None = None,
        reference: Callable[[], Mapping[str, Tensor]] | None = None,
        digests: bool = False,
        on_step: Callable[[int], None] | None = None,
    ):
        self.books = Books()
        self.window = window
        self.reference = reference
        self.digests = digests
        self.on_step = on_step
        self.lock = threading.RLock()
        self.drafts: list[Draft] = []
        self.dropped = 0
        self.steps = 0
        self.steps_by_hand = 0
        self._most_steps = 0
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
        self._event_number = 0
        self._clipping: Draft | None = None
        """The clip under way, until anything else happens."""
        self._groups: dict[tuple[Any, ...], Draft] = {}
        self._passes: list[Pass] = []
        self._last: Pass | None = None
        self._stepping: dict[int, list[Draft]] = {}
        self._scaler_steps: dict[int, dict[str, Any]] = {}
        self._mark = f"gradient ledger {id(self)}: scaled"
        self._scaling = False
        self._scale: float | None = None
        self._regions: dict[int, list[Any]] = {}
        self._region_number = 0
        self._looks: Counter[str] = Counter()
        self._own_only = False
        self._shapes: Counter[tuple[Any, ...]] = Counter()
        self._window_start = 0
        self._kept_windows = 0
        self._loaders: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._module_hooks = -1
        self._hook_places: dict[int, Place | None] = {}
        self._sync: dict[str, Any] = {}
        self._leaves: dict[int, tuple[Any, ...]] = {}
        """Tensors that are no parameters, as they were when their gradient was read."""
        self._assigned_at = -1
        self._sharing: dict[int, Place | None] = {}
        self._assigned: dict[int, tuple[weakref.ref[Tensor], Account]] = {}
        self._clearing: dict[int, tuple[Any, Place | None]] = {}
        self.watch(watched)

    # ------------------------------------------------------------------ what is watched

    def watch(self, watched: Iterable[object]) -> None:
        """Open accounts for what the user named; with nothing named, everything met is watched."""
        for thing in watched:
            self._own_only = True
            if isinstance(thing, nn.Module):
                self.books.add_root(thing)
            elif isinstance(thing, torch.optim.Optimizer):
                self._optimizer(thing)
            elif hasattr(thing, "optimizer") and isinstance(thing.optimizer, torch.optim.Optimizer):
                self._optimizer(thing.optimizer)  # a scheduler
            elif isinstance(thing, torch.amp.GradScaler):
                pass  # scalers are seen when they act
            elif isinstance(thing, Tensor):
                self.books.open(thing)
            else:
                raise TypeError(
                    f"a ledger watches modules, optimizers, schedulers, gradient scalers and tensors; got {type(thing).__name__}"
                )
        self._hook_up()

    def _optimizer(self, optimizer: Any, made_at: Place | None = None, made: int = 0) -> OptimizerAccount:
        before = len(self.books.accounts)
        entry = self.books.optimizer(optimizer, made_at, made)
        if made and not entry.first_event:
            entry.first_event = self._event_number
        if len(self.books.accounts) != before:
            self._hook_up()
        return entry

    def _known(self, optimizer: Any) -> bool:
        """Whether an optimizer belongs to what is watched: with things named, one that shares a parameter with them."""
        if not self._own_only:
            return True
        return any(
            isinstance(p, Tensor) and self.books.find(p) is not None
            for group in getattr(optimizer, "param_groups", ())
            for p in group["params"]
        )

    def _hook_up(self) -> None:
        for account in self.books.accounts:
            if account.handle is None:
                self._hook(account)

    def _hook(self, account: Account) -> None:
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
                    recorder._deposit(account, p)

        account.handle = _register(parameter, deposited)

    def close(self, error: BaseException | None = None) -> None:
        """Look at everything one last time, take the hooks away."""
        with self.lock:
            self._settle_all()
            pending = [a for a in self.books.accounts if a.status == FRESH and a.deposits]
            grads = [grad_of(p) for a in pending if (p := a.ref()) is not None]
            self.pending_finite = all(_finite(g) for g in grads if g is not None)
            self.finished = True
            if error is not None and not isinstance(error, (SystemExit, KeyboardInterrupt, GeneratorExit)):
                self.error = f"{type(error).__name__}: {error}"
                self.error_at = _place_of(error)
            for account in self.books.accounts:
                if account.handle is not None:
                    account.handle.remove()
                    account.handle = None

    # ------------------------------------------------------------------ events

    def _emit(self, kind: Kind, place: Place | None, accounts: Iterable[Account] = (), **details: Any) -> Draft:
        draft = Draft(self._event_number, kind, place, self.steps, self._most_steps, details)
        self._clipping = None
        self._event_number += 1
        draft.accounts.extend(accounts)
        if draft.accounts and draft.accounts[0].owners:
            draft.window = draft.accounts[0].owners[-1].steps
        self.drafts.append(draft)
        return draft

    def _join(self, kind: Kind, place: Place | None, account: Account, key: Any, **details: Any) -> Draft:
        """Add to the open event of this kind, place and key, or open one.

        Clearing ten parameters is one event. Events stay open until a forward, a backward or a step.
        """
        whole = (kind, place and (place.file, place.line), key)
        draft = self._groups.get(whole)
        if draft is None:
            draft = self._emit(kind, place, (), **details)
            if account.owners:
                draft.window = account.owners[-1].steps
            self._groups[whole] = draft
        if account.joined is not draft:
            account.joined = draft
            draft.accounts.append(account)
        return draft

    def _may_look(self, doubt: str, at_most: int = LOOKS) -> bool:
        self._looks[doubt] += 1
        return self._looks[doubt] <= at_most

    # ------------------------------------------------------------------ reading and writing .grad

    def read(self, parameter: Tensor, grad: Tensor | None, frame: FrameType, kind: int) -> None:
        """`.grad` was read from Python, outside torch's own optimizers."""
        account = self.books.find(parameter)
        if account is None:
            if kind == places.USER and grad is not None and self._passes_since_step():
                self._input_read(parameter, frame)
            return
        if kind == places.CLIP:
            self._clip(account, grad, frame)
            return
        self._hand_step(account, parameter)
        place = places.user_place(frame)
        if grad is not None and (account.clipped or (account.read is not None and account.read != place)):
            self._settle(account)  # what changed until now was done at the earlier place
        account.read = place
        account.taken = True
        if grad is not None and account.status == FRESH and account.before is None and self._may_look("before", 400):
            account.before = _digest(grad).imag

    def knows_clip(self, parameter: Tensor, kind: int) -> bool:
        """Whether a clip under way reads this gradient again: clipping reads every gradient several times."""
        if kind != places.CLIP or self._clipping is None:
            return False
        account = self.books.find(parameter)
        return account is not None and account.joined is self._clipping

    def _passes_since_step(self) -> bool:
        return self._last is not None and self._last.draft.step == self.steps

    def _input_read(self, tensor: Tensor, frame: FrameType) -> None:
        if not tensor.requires_grad or not tensor.is_leaf or self._last is None:
            return
        known = self._leaves.get(id(tensor))
        now = (weakref.ref(tensor), tensor._version, _print(tensor) if self._may_look("leaves", 400) else None)
        if known is not None and known[0]() is tensor and known[1:] != now[1:] and not self._last.touched:
            # No known parameter was trained, and this was changed after its gradient was read: stepped by hand.
            account = self.books.open(tensor)
            account.taken, account.read = True, places.user_place(frame)
            self._hook(account)
            return
        self._leaves[id(tensor)] = now
        if len(self._leaves) > 1024:
            self._leaves = {key: value for key, value in self._leaves.items() if value[0]() is not None}
        place = places.user_place(frame)
        key = ("input gradient", place and (place.file, place.line), None)
        if key not in self._groups:
            self._groups[key] = self._emit("input gradient", place, (), backward=self._last.deposit.number)

    def write(self, parameter: Tensor, value: Tensor | None, frame: FrameType) -> None:
        """`.grad` is about to be set or deleted from Python."""
        account = self.books.find(parameter)
        if account is None:
            return
        if value is None and account.status == EMPTY and self._clearing and grad_of(parameter) is None:
            return  # nothing there: the end of this zero_grad books it
        self._hand_step(account, parameter)
        self._settle(account)
        _, place = self._clearing.get(threading.get_ident(), (None, None)) if self._clearing else (None, None)
        place = place or places.user_place(frame)
        if value is None:
            self._cleared(account, place, "none")
            return
        status = account.status
        if self._shared(account, value):
            self._sharing[account.index] = place
        if self._zero(value):
            self._cleared(account, place, "zeros")
        else:
            draft = self._join("edit", place, account, "assigned", how="assigned", status=status)
            if status == FRESH:
                draft.details["passes"] = max(draft.details.get("passes", 0), len(account.deposits))
                self._factor(draft, account, value)
            elif status in (USED, SKIPPED):
                account.deposits, account.mixed = [], ""
            account.status, account.assigned, account.given = FRESH, place or Place("?", 0), True
        account.version = value._version
        account.read, account.clipped = None, False

    def _shared(self, account: Account, value: Tensor) -> bool:
        """Whether another parameter holds this very tensor as its gradient."""
        if self._assigned_at != self.pass_number:  # what autograd has made since, looked up once a pass
            self._assigned_at = self.pass_number
            self._assigned = {}
            for one in self.books.accounts:
                parameter = one.ref()
                grad = grad_of(parameter) if parameter is not None else None
                if grad is not None:
                    self._assigned[id(grad)] = (weakref.ref(grad), one)
        known = self._assigned.get(id(value))
        self._assigned[id(value)] = (weakref.ref(value), account)
        if known is not None and known[0]() is value and known[1] is not account:
            other = known[1].ref()
            return other is not None and grad_of(other) is value
        return False

    def _zero(self, value: Tensor) -> bool:
        try:
            return not _any(value)
        except (RuntimeError, NotImplementedError):  # sparse, sharded or fake tensors
            return False

    def _cleared(self, account: Account, place: Place | None, how: str) -> None:
        """Book a clear: what it threw away matters, so that is written down with it."""
        under_way = self._stepping.get(threading.get_ident())
        if under_way and "fresh" in under_way[-1].details and account.status == FRESH:
            account.status = USED  # cleared by the step's own hook: it has been used
        fresh = account.status in (FRESH, SKIPPED)
        lost = len(account.deposits) if fresh else 0
        optimizer, _ = self._clearing.get(threading.get_ident(), (None, None))
        draft = self._join("clear", place, account, how, how=how, lost=0, by=optimizer, full=0)
        if account.status in (FRESH, USED, SKIPPED):
            draft.details["full"] += 1
        if lost and account.status == FRESH:
            details = draft.details
            if lost > details["lost"]:
                details["lost"] = lost
                details["lost_passes"] = [deposit.number for deposit in account.deposits]
                details["lost_trails"] = [deposit.trail for deposit in account.deposits]
            details.setdefault("lost_names", []).append(account)
            details["taken"] = details.get("taken", False) or account.taken
            # A step came in between: what is thrown away was meant for the optimizer that took it.
            details["after_step"] = all(deposit.steps < self.steps for deposit in account.deposits)
            parameter = account.ref()
            grad = grad_of(parameter) if parameter is not None else None
            if not details.get("nonfinite") and grad is not None and self._may_look("finite", 400):
                details["nonfinite"] = not _finite(grad)
        account.status = EMPTY if how == "none" else ZERO
        account.deposits = []
        account.increments = []
        account.assigned, account.read, account.taken, account.clipped = None, None, False, False
        account.used_by, account.mixed = None, ""

    def clear_begins(self, owner: Any, frame: FrameType | None) -> object:
        """`zero_grad` of an optimizer or a module was called."""
        thread = threading.get_ident()
        before = self._clearing.get(thread)
        label = None
        if isinstance(owner, torch.optim.Optimizer) and "param_groups" in vars(owner) and self._known(owner):
            label = self._optimizer(owner).number
        self._clearing[thread] = (label, places.user_place(frame))
        return before

    def clear_ends(self, owner: Any, before: Any) -> None:
        thread = threading.get_ident()
        label, place = self._clearing.pop(thread, (None, None))
        self._clearing[thread] = (label, place)
        if isinstance(owner, nn.Module):
            mine: Iterable[Any] = owner.parameters()
        else:
            mine = (p for group in getattr(owner, "param_groups", ()) for p in group["params"])
        seen = False
        for parameter in mine:
            account = self.books.find(parameter) if isinstance(parameter, Tensor) else None
            if account is None:
                continue
            seen = True
            grad = grad_of(parameter)
            if grad is not None and (grad._version != account.version or account.status in (FRESH, USED, SKIPPED)):
                self._cleared(account, place, "zeros")
                account.version = grad._version
            elif grad is None and account.status == EMPTY:
                self._join("clear", place, account, "none", how="none", lost=0, by=label, full=0)
        if not seen and not self._own_only:
            self._emit("clear", place, (), how="none", lost=0, by=label, full=0)
        del self._clearing[thread]
        if before is not None:
            self._clearing[thread] = before

    def _clip(self, account: Account, grad: Tensor | None, frame: FrameType) -> None:
        draft = self._clipping
        if draft is not None and account.joined is draft:
            return  # clipping reads every gradient several times
        place = places.user_place(frame)
        if draft is None or draft.place is not place:
            draft = self._clipping = self._clip_begins(place, frame)
        self._settle(account)
        account.joined = draft
        draft.accounts.append(account)
        status = draft.details["status"]
        # Gradients that no optimizer owns count too: they are in the norm, and nobody clears them.
        old = account.status == FRESH and bool(account.deposits) and account.deposits[0].steps < self.steps
        label = "orphan" if old and not account.owned else account.status
        status[label] = status.get(label, 0) + 1
        if account.status == FRESH:
            last = account.deposits[-1] if account.deposits else None
            draft.details["scaled"] = bool(draft.details.get("scaled")) or bool(last and last.scaled)
            draft.details["passes"] = max(draft.details.get("passes", 0), len(account.deposits))
        if grad is not None and draft.details["measured"]:
            draft.details["square"] += _digest(grad).imag
            draft.details["largest"] = max(draft.details["largest"], _largest(grad))
        account.clipped = grad is not None
        account.taken = True

    def _clip_begins(self, place: Place | None, frame: FrameType) -> Draft:
        outer: FrameType | None = frame
        while outer is not None and not outer.f_code.co_name.startswith("clip_grad"):
            outer = outer.f_back if places.kind_of(outer.f_code.co_filename) == places.CLIP else None
        outer = outer or frame
        local = outer.f_locals
        limit = _number(local.get("max_norm", local.get("clip_value")))
        draft = self._emit("clip", place, (), function=outer.f_code.co_name, limit=limit, scale=self._scale, status={})
        draft.details |= {"measured": self._may_look("clips", 24), "square": 0.0, "largest": 0.0}
        draft.details["order"] = _number(local.get("norm_type", 2.0))
        return draft

    def _settle(self, account: Account) -> None:
        """Bring one account up to date with what was done to its `.grad` behind our back."""
        parameter = account.ref()
        if parameter is None:
            return
        grad = grad_of(parameter)
        if grad is None:
            if account.status != EMPTY and not self._passes:
                self._cleared(account, account.read, "none")
            account.version = -1
            return
        version = grad._version
        if account.status == EMPTY:
            # A gradient nobody saw coming: put there by C++ code, or by a hook that ran before ours.
            current = self._current()
            if current is not None:
                self._book(account, current)
            else:
                account.status, account.assigned, account.given = FRESH, account.read or Place("?", 0), True
            account.version, account.read = version, None
            return
        changed = version != account.version
        if changed and not account.clipped:
            place = account.read
            if self._zero(grad):
                self._cleared(account, place, "zeros")
            elif account.status == ZERO:
                self._join("edit", place, account, "assigned", how="assigned", status=ZERO)
                account.status, account.assigned, account.given = FRESH, place or Place("?", 0), True
            else:
                self._edited(account, place, grad)
        elif account.read is not None and not changed and account.status in (USED, SKIPPED, FRESH):
            # `.data` and `.numpy()` change values without a trace in the version.
            if self._may_look("hidden") and self._zero(grad):
                self._cleared(account, account.read, "zeros")
        if self.digests and account.digest is not None and account.status == FRESH:
            self._audit_value(account, grad, changed)
        account.version = version
        account.read, account.clipped, account.before = None, False, None

    def _edited(self, account: Account, place: Place | None, grad: Tensor) -> None:
        draft = self._join("edit", place, account, "edit", how="in place", status=account.status)
        self._factor(draft, account, grad)
        if account.status == FRESH:
            draft.details["passes"] = max(draft.details.get("passes", 0), len(account.deposits))
            last = account.deposits[-1] if account.deposits else None
            draft.details["scaled"] = bool(draft.details.get("scaled")) or bool(last and last.scaled)
        elif account.status == USED:
            # Used gradients that are rescaled and kept, as eligibility traces are: meant, not forgotten.
            account.status, account.assigned, account.deposits = FRESH, place or Place("?", 0), []

    def _factor(self, draft: Draft, account: Account, grad: Tensor) -> None:
        """By what the norm of this gradient has changed, where it was taken when the user's code took hold of it."""
        if account.before:
            draft.details.setdefault("factors", []).append(math.sqrt(_digest(grad).imag / account.before))
        account.before = None

    def _audit_value(self, account: Account, grad: Tensor, changed: bool) -> None:
        now = _digest(grad)
        if now != account.digest and not changed and not account.clipped:
            draft = self._join("edit", account.read, account, "hidden", how="hidden", status=account.status)
            before, after = math.sqrt((account.digest or 0j).imag), math.sqrt(now.imag)
            draft.details.setdefault("norms", [before, after])
        account.digest = now

    def _settle_all(self) -> None:
        for account in self.books.accounts:
            parameter = account.ref()
            if parameter is None:
                continue
            grad = grad_of(parameter)
            if grad is None:
                if account.status == EMPTY:
                    continue
            elif account.read is None and not account.clipped and grad._version == account.version:
                continue
            self._hand_step(account, parameter)
            self._settle(account)

    # ------------------------------------------------------------------ hand-written steps

    def _hand_step(self, account: Account, parameter: Tensor) -> None:
        """Notice that a parameter without optimizer was changed after its gradient was read: a step by hand."""
        if account.owned or account.status != FRESH or not account.taken:
            return
        moved = parameter._version != account.written
        if not moved and account.print is not None and self._may_look("print", 4000):
            moved = _print(parameter) != account.print
        if not moved:
            return
        place = account.read
        known = self._groups.get(("step", place and (place.file, place.line), "by hand"))
        if known is None:
            self.steps += 1
        draft = self._join("step", place, account, "by hand", by_hand=True, optimizer=None, fresh=0)
        self._tally(draft, [account])
        account.status, account.deposits, account.mixed = USED, [], ""
        account.written = parameter._version
        account.print = None
        account.used_by = -1
        if known is None:
            self.steps_by_hand += 1
            self._most_steps = max(self._most_steps, self.steps_by_hand)
            self._window_closed()
            self._say_step()

    # ------------------------------------------------------------------ forward

    def forward(self, module: nn.Module, inputs: tuple[Any, ...], frame: FrameType) -> None:
        """A module is about to run."""
        entry = self.books.module(module)
        if entry is None:
            if self._own_only:
                return
            before = len(self.books.accounts)
            entry = self.books.meet(module)
            if len(self.books.accounts) != before:
                self._hook_up()
        learning = torch.is_grad_enabled()
        if learning or module.training:
            entry.calls += 1
            if entry.called_at is None:
                self._first_call(entry, frame)
            entry.quiet = not entry.norm and not (
                entry.name == "" and entry.root is not None and entry.root.number >= 0
            )
        if entry.norm and module.training and learning:
            entry.window_calls += 1
        if entry.outer and entry.root is not None and entry.root.number >= 0:
            self._groups.clear()
            region = self._region()
            details: dict[str, Any] = {
                "model": f"{entry.root.label}.{entry.name}" if entry.name else entry.root.label,
                "training": module.training,
                "grad": learning,
                "region": region,
                "batch": _batch(inputs),
                "site": places.site(frame),
            }
            if entry.root.kind == "ddp":
                details["sync"] = bool(module.require_backward_grad_sync)
                self._distributed(module)
            elif entry.root.kind == "fsdp":
                self._sync["fsdp"] = True
            self._emit("forward", places.user_place(frame), (), **details)

    def _first_call(self, entry: ModuleAccount, frame: FrameType) -> None:
        entry.called_at = places.user_place(frame)
        walk: FrameType | None = frame
        while walk is not None:
            code = walk.f_code
            if code.co_name == "forward" and code.co_filename.endswith("utils/checkpoint.py"):
                entry.checkpoint = True  # the class behind use_reentrant=True runs it inside its forward
                entry.called_at = places.user_place(walk)
                return
            walk = walk.f_back

    def module_made(self, module: nn.Module, frame: FrameType) -> None:
        """A module is being made: where, in case it turns out to come too late for an optimizer."""
        if not self._own_only:
            made = self.books.made
            if len(made) > 50_000:
                self.books.made = made = {key: value for key, value in made.items() if value[0]() is not None}
            made[id(module)] = (weakref.ref(module), places.user_place(frame), self.books.tick())

    def _distributed(self, module: nn.Module) -> None:
        import torch.distributed as dist

        if dist.is_available() and dist.is_initialized():
            self._sync["ddp"] = True
            self._sync["world"] = dist.get_world_size()
            self._sync["rank"] = dist.get_rank()

    # ------------------------------------------------------------------ autocast

    def autocast_entered(self, place: Place | None) -> None:
        region = self._regions.setdefault(threading.get_ident(), [0, 0, None])
        region[0] += 1
        if region[0] == 1:
            self._region_number += 1
            region[1], region[2] = self._region_number, place

    def autocast_left(self) -> None:
        region = self._regions.get(threading.get_ident())
        if region is not None and region[0] > 0:
            region[0] -= 1

    def autocast_cache_cleared(self) -> None:
        """The half-precision copies are gone: what follows is like a new block."""
        region = self._regions.get(threading.get_ident())
        if region is not None and region[0]:
            self._region_number += 1
            region[1] = self._region_number

    def _region(self) -> int | None:
        """Number of the outermost autocast block we are in, if its weight cache is on."""
        region = self._regions.get(threading.get_ident())
        if region is None or region[0] == 0 or not torch.is_autocast_cache_enabled():
            return None
        enabled = torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")
        return int(region[1]) if enabled else None

    # ------------------------------------------------------------------ backward

    def _current(self) -> Pass | None:
        """The backward pass a hook belongs to: this thread's, or on a GPU's own threads the one under way."""
        if not self._passes:
            return None
        thread = threading.get_ident()
        for one in reversed(self._passes):
            if one.thread == thread:
                return one
        return self._passes[-1]

    def backward_begins(
        self, roots: Any, gradient: Any, retain: bool, create: bool, inputs: Any, frame: FrameType
    ) -> Pass | None:
        """`backward` was called. None for one inside another, as reentrant checkpoints do."""
        if task_id() != -1:
            return None
        self._settle_all()
        self._groups.clear()
        if not self.books.accounts and not self._own_only and self._may_look("optimizers", 2):
            # No module has run and no optimizer has acted: plain tensors, in optimizers from before the ledger.
            for optimizer in living(torch.optim.Optimizer):
                if "param_groups" in vars(optimizer):
                    self._optimizer(optimizer)
        if any(account.handle is None for account in self.books.accounts):
            self._hook_up()
        first = roots[0] if isinstance(roots, (list, tuple)) and roots else roots
        node = getattr(first, "grad_fn", None) or getattr(first, "node", None)
        scaled = self._scaling and self._is_scaled(node)
        draft = self._emit(
            "backward",
            places.user_place(frame),
            (),
            retain_graph=retain,
            create_graph=create,
            gradient=gradient is not None,
            scaled=scaled,
            region=self._region(),
            **_describe(node, scaled),
        )
        for root, module in self.books.living():
            if root.kind == "ddp":
                draft.details["sync"] = bool(module.require_backward_grad_sync)
        self.pass_number += 1
        draft.details["pass"] = self.pass_number
        deposit = Deposit(self.pass_number, draft.place, places.trail(frame), self.steps, scaled)
        one = Pass(deposit, draft, threading.get_ident())
        self._passes.append(one)
        self._last = one
        if retain and node is not None and gradient is None:
            draft.details["same_root"] = node.metadata.get(f"{self._mark} root")
            node.metadata[f"{self._mark} root"] = self.pass_number
            self._watch_again(node, one)
        return one

    def _rate(self, entry: OptimizerAccount) -> float | None:
        optimizer = entry.ref()
        rate = optimizer.param_groups[0].get("lr") if optimizer is not None and optimizer.param_groups else None
        return rate if isinstance(rate, (int, float)) else None

    def _watch_again(self, node: Any, one: Pass) -> None:
        """Be told when a later backward comes through this loss again."""
        mine, number = weakref.ref(self), one.deposit.number

        def again(grads: Any) -> None:
            recorder = mine()
            if recorder is None or recorder.finished or recorder.muted:
                return
            current = recorder._current()
            if current is not None and current.deposit.number != number:
                seen = current.draft.details.setdefault("again", [])
                if number not in seen:
                    seen.append(number)

        # Losses are seldom summed the same way twice: the single losses in a sum are watched too.
        waiting, seen = [node], 0
        node.register_prehook(again)
        while waiting and seen < 64:
            one_node = waiting.pop()
            if type(one_node).__name__ not in _COMBINING:
                continue
            for inner, _ in one_node.next_functions:
                if inner is not None and seen < 64:
                    seen += 1
                    if _is_loss(inner):
                        inner.register_prehook(again)
                    waiting.append(inner)

    def _is_scaled(self, node: Any) -> bool:
        """Whether a loss comes from the scaler: its graph, looked at near its end, passes through the product."""
        waiting = [node]
        for _ in range(24):
            if not waiting:
                return False
            one = waiting.pop(0)
            if one is None:
                continue
            if self._mark in one.metadata:
                return True
            waiting += [inner for inner, _ in one.next_functions]
        return False

    def _deposit(self, account: Account, parameter: Tensor) -> None:
        """A gradient has just been accumulated."""
        if grad_of(parameter) is None:
            return  # a hook before ours used it and cleared it: booked at that step
        current = self._current()
        if current is None:
            # backward was called in a way we did not see: through C++, or imported by name beforehand.
            frame = sys._getframe(2)
            self._settle_all()
            self.pass_number += 1
            draft = self._emit("backward", places.user_place(frame), (), scaled=False, **{"pass": self.pass_number})
            deposit = Deposit(self.pass_number, draft.place, places.trail(frame), self.steps, False)
            current = Pass(deposit, draft, threading.get_ident())
            current.task = task_id()
            self._passes.append(current)
            self._last = current
        elif current.task != -1 and current.task != task_id():
            self.backward_ends(current)
            self._deposit(account, parameter)
            return
        self._book(account, current)

    def _book(self, account: Account, current: Pass) -> None:
        number = current.deposit.number
        if account.seen == number and (account.deposits and account.deposits[-1].number == number):
            return
        if account.seen == number and account.status in (ZERO, USED):
            return  # this pass was booked, used and perhaps cleared inside the backward itself
        status = account.status
        if status == USED:
            current.used.append(account)
            account.mixed = USED
        elif status == SKIPPED:
            current.skipped.append(account)
            account.mixed = account.mixed or SKIPPED
        elif status == FRESH:
            current.fresh += 1
        account.seen = number
        account.status = FRESH
        account.deposits.append(current.deposit)
        if len(account.deposits) > MOST_DEPOSITS:  # nobody steps or clears it
            del account.deposits[1:-1]
        account.total += 1
        account.taken = False
        current.touched.append(account)
        if self.reference is not None:
            parameter = account.ref()
            grad = grad_of(parameter) if parameter is not None else None
            if grad is not None:
                account.increments.append(grad.detach().clone())

    def _flush(self, one: Pass) -> None:
        """Write the accumulations of a pass so far as one event."""
        if len(one.touched) == one.flushed:
            return
        draft = self._emit("accumulate", one.draft.place, one.touched[one.flushed :])
        draft.details["pass"] = one.deposit.number
        if one.fresh:
            draft.details["onto_fresh"] = one.fresh
        if one.used:
            draft.details["onto_used"] = list(one.used)
            draft.details["used_by"] = sorted({a.used_by for a in one.used if a.used_by is not None})
            one.used = []
        if one.skipped:
            draft.details["onto_skipped"] = list(one.skipped)
            one.skipped = []
        one.flushed = len(one.touched)

    def backward_ends(self, one: Pass) -> None:
        """The backward pass is over, whatever way it ended."""
        self._flush(one)
        if one in self._passes:
            self._passes.remove(one)
        number = one.deposit.number
        for account in self.books.accounts:
            if account.status == EMPTY:
                continue
            parameter = account.ref()
            grad = grad_of(parameter) if parameter is not None else None
            if grad is None:
                continue
            account.version = grad._version
            if account.seen != number:
                continue
            account.read = None
            if self.digests and account.status == FRESH:
                account.digest = _digest(grad)
            if parameter is not None and not account.owned:
                account.written = parameter._version
                account.print = _print(parameter) if self._may_look("prints", 4000) else None
        if self._sharing or self.pass_number < 3:
            self._aliases(one)

    # ------------------------------------------------------------------ steps

    def step_begins(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> Any:
        """An optimizer is about to step. Returns replaced arguments where a closure must be watched."""
        if not self._known(optimizer):
            return None
        entry = self._optimizer(optimizer)
        thread = threading.get_ident()
        inside = self._passes and task_id() != -1
        current = self._current() if inside else None
        if current is not None:
            for account in entry.accounts:
                parameter = account.ref()
                grad = grad_of(parameter) if parameter is not None else None
                if grad is not None and account.status in (EMPTY, ZERO, USED) and grad._version != account.version:
                    self._book(account, current)
            self._flush(current)
        for account in entry.accounts:
            self._settle(account)
        draft = self._emit("step", places.user_place(frame), (), optimizer=entry.number, inside_backward=inside)
        draft.window = entry.steps
        self._stepping[thread] = [draft]
        within = self._scaler_steps.get(thread)
        if within is not None:
            within["fired"] = draft
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if callable(closure):
            draft.details["closure_calls"] = 0
            wrapped = self._watched_closure(closure, entry, draft)
            if len(args) > 1:
                return (args[0], wrapped, *args[2:]), kwargs
            return args, {**kwargs, "closure": wrapped}
        self._weigh(entry, draft)
        return None

    def _watched_closure(self, closure: Callable[[], Any], entry: OptimizerAccount, draft: Draft) -> Callable[[], Any]:
        def watched() -> Any:
            result = closure()
            if not self.finished:
                with self.lock:
                    draft.details["closure_calls"] += 1
                    for account in entry.accounts:
                        self._settle(account)
                    if draft.details["closure_calls"] == 1:
                        self._weigh(entry, draft)
                    else:
                        late = [account for account in entry.accounts if account.mixed == USED]
                        draft.details["mixed"].setdefault(USED, []).extend(late)
                    # The step stands in the ledger where its update happens: after what the closure did.
                    self.drafts.remove(draft)
                    draft.number = self._event_number
                    self._event_number += 1
                    self.drafts.append(draft)
                    self._use(entry)
            return result

        return watched

    def _weigh(self, entry: OptimizerAccount, draft: Draft) -> None:
        """Write down what the step is about to use."""
        draft.details["region"] = self._region()
        draft.details["rate"] = self._rate(entry)
        self._tally(draft, entry.accounts)
        if draft.details["fresh"] and (entry.steps < SAMPLES or draft.details["stale"]) and self._may_look("norms"):
            draft.details["norm"] = _norm(entry.accounts)
        if draft.details["zeros"] and not self._stateless(entry) and self._may_look("idle", 12):
            idle = [a for a in entry.accounts if a.status == ZERO]
            draft.details["idle_before"] = {a.index: p.detach().clone() for a in idle if (p := a.ref()) is not None}
        if entry.steps & (entry.steps - 1) == 0:  # steps 0, 1, 2, 4, 8, …
            if entry.steps == 0 and self._may_look("wholes", 4):
                self.books.find_wholes(even_if_whole=self.reference is not None)
            self.books.look_around()
        norms = [m for m in self.books.modules.values() if m.norm and m.window_calls > 1]
        if norms:
            draft.details["batch_norm"] = max(m.window_calls for m in norms)
            draft.details["batch_norm_names"] = [m.name for m in norms][:3]
            draft.details["batch_norm_at"] = norms[0].called_at
        for one in self.books.modules.values():
            if one.norm:
                one.window_calls = 0
        hooks: dict[Any, int] = {}
        for account in entry.accounts:
            parameter = account.ref()
            count = _hooks_on(parameter) - (account.handle is not None) if parameter is not None else 0
            if count > account.hooks:
                hooks[account] = count
            account.hooks = count
        if entry.steps < 2 * SAMPLES:
            parts = [m.ref() for m in self.books.modules.values()]
            count = sum(len(part._backward_hooks) for part in parts if part is not None)
            if count > self._module_hooks and self._module_hooks >= 0:
                hooks["the modules"] = count
            self._module_hooks = count
        if hooks:
            draft.details["hooks"] = hooks
            draft.details["hooked_at"] = self._hook_places.get(-1)
        if self.reference is not None:
            self._compare(entry, draft)

    def _tally(self, draft: Draft, accounts: list[Account]) -> None:
        none: list[Account] = []
        zeros: list[Account] = []
        stale: list[Account] = []
        frozen: list[Account] = []
        skipped: list[Account] = []
        mixed: dict[str, list[Account]] = {}
        rewound = False
        fresh = draft.details.get("fresh", 0)
        passes: list[Deposit] = []
        crossed: Account | None = None
        others: set[int] = set()
        for account in accounts:
            status = account.status
            if status == FRESH:
                fresh += 1
                if account.mixed:
                    mixed.setdefault(account.mixed, []).append(account)
                if len(account.deposits) > len(passes):
                    passes = account.deposits
                if crossed is None and len(account.deposits) > 1:
                    if account.deposits[0].steps != account.deposits[-1].steps:
                        crossed = account
            elif status == EMPTY:
                none.append(account)
            elif status == ZERO:
                zeros.append(account)
            elif status == SKIPPED:
                skipped.append(account)
            else:
                stale.append(account)
                parameter = account.ref()
                if parameter is not None and not parameter.requires_grad:
                    frozen.append(account)
                if account.used_by is not None:
                    others.add(account.used_by)
                rewound = rewound or (parameter is not None and parameter._version != account.written)
        details = draft.details
        details["fresh"] = fresh
        for name, found in (
            ("none", none),
            ("zeros", zeros),
            ("stale", stale),
            ("frozen", frozen),
            ("skipped", skipped),
        ):
            details[name] = found
        details["used_by"] = sorted(others)
        details["mixed"] = mixed
        details["rewound"] = rewound
        if len(passes) >= details.get("passes", 0):
            details["passes"] = len(passes)
            details["pass_numbers"] = [deposit.number for deposit in passes]
            lines = Counter(deposit.trail for deposit in passes)
            details["lines"] = len(lines)
            details["repeats"] = max(lines.values(), default=0)
            details["trails"] = [deposit.trail for deposit in passes]
            details["scaled"] = sorted({deposit.scaled for deposit in passes})
            if passes:
                details["last_pass_at"] = passes[-1].place
        details["assigned"] = any(a.assigned is not None and a.status == FRESH for a in accounts)
        if crossed is not None:
            details["crossed"] = {
                "name": crossed,
                "names": [a for a in accounts if len(a.deposits) > 1 and a.deposits[0].steps != a.deposits[-1].steps],
                "first": crossed.deposits[0].place,
                "first_trail": crossed.deposits[0].trail,
                "last_trail": crossed.deposits[-1].trail,
                "numbers": [d.number for d in crossed.deposits],
            }
        low = next((a for a in accounts if a.status == FRESH and len(a.deposits) > 1 and _low(a)), None)
        if low is not None:
            details["low_precision"] = _low(low)
        if draft.accounts is not accounts:
            for account in accounts:
                if account.status == FRESH and account.joined is not draft:
                    account.joined = draft
                    draft.accounts.append(account)

    def _aliases(self, one: Pass) -> None:
        """Look whether this pass added to a tensor that two parameters hold as their gradient."""
        holders: dict[int, Account] = {}
        for account in self.books.accounts:
            parameter = account.ref()
            grad = grad_of(parameter) if parameter is not None else None
            if grad is None:
                continue
            other = holders.setdefault(id(grad), account)
            if other is not account and (account.seen == one.deposit.number or other.seen == one.deposit.number):
                place = self._sharing.get(account.index) or self._sharing.get(other.index) or one.deposit.place
                self._join("edit", place, account, "shared", how="shared", status=account.status)

    def _stateless(self, entry: OptimizerAccount) -> bool:
        """Plain SGD moves nothing where the gradient is zero; momentum, moments and weight decay do."""
        optimizer = entry.ref()
        groups = optimizer.param_groups if optimizer is not None else []
        return not (optimizer is not None and optimizer.state) and all(
            not g.get("momentum") and not g.get("weight_decay") and "betas" not in g and "alpha" not in g
            for g in groups
        )

    def _compare(self, entry: OptimizerAccount, draft: Draft) -> None:
        assert self.reference is not None
        self.muted = True
        try:
            numbers, names = compare_with_reference(self.reference, entry.accounts)
            if numbers is not None:
                draft.details["reference"] = numbers
            self.reference_names = None if numbers is not None or self.reference_names is None else names
        except Exception as error:
            self.reference_error = error
            raise
        finally:
            self.muted = False

    def _use(self, entry: OptimizerAccount) -> None:
        for account in entry.accounts:
            parameter = account.ref()
            grad = grad_of(parameter) if parameter is not None else None
            if grad is None:
                if account.status != EMPTY:
                    account.status, account.deposits, account.increments = EMPTY, [], []
                continue
            if account.status in (FRESH, SKIPPED, USED):
                account.status, account.used_by = USED, entry.number
            account.deposits, account.increments, account.mixed = [], [], ""
            account.assigned, account.read, account.taken, account.clipped = None, None, False, False
            account.version = grad._version
            account.digest = None
            if parameter is not None:
                account.written = parameter._version

    def step_ends(self, optimizer: Any) -> None:
        """The optimizer has stepped."""
        thread = threading.get_ident()
        open_steps = self._stepping.pop(thread, None)
        if not open_steps or not self._known(optimizer):
            return
        entry = self._optimizer(optimizer)
        draft = open_steps[-1]
        idle = draft.details.pop("idle_before", None)
        if idle:
            moved = {}
            for account in entry.accounts:
                parameter = account.ref()
                if account.index in idle and parameter is not None:
                    by = float((parameter.detach() - idle[account.index]).norm())
                    if by > 0:
                        moved[account] = by
            draft.details["idle_moved"] = moved
        within = self._scaler_steps.get(thread)
        if within is not None and within["fused"] and float(getattr(optimizer, "found_inf", None) or 0) > 0:
            self._skip(entry, draft)
            return
        self._use(entry)
        entry.steps += 1
        self.steps += 1
        self._most_steps = max(self._most_steps, entry.steps)
        self._groups.clear()
        self._window_closed()
        self._say_step()

    def _say_step(self) -> None:
        """Tell whoever asked how far training is: steps of the optimizer that took most."""
        if self.on_step is not None:
            self.on_step(self._most_steps)

    def _skip(self, entry: OptimizerAccount, draft: Draft | None) -> None:
        if draft is None:
            draft = self._emit(
                "skipped step", self._scaler_steps[threading.get_ident()]["place"], (), optimizer=entry.number
            )
            draft.window = entry.steps
            draft.details["region"] = self._region()
            self._tally(draft, entry.accounts)
        draft.kind = "skipped step"
        entry.skips += 1
        for account in entry.accounts:
            if account.status in (FRESH, USED):
                account.status = SKIPPED
            parameter = account.ref()
            grad = grad_of(parameter) if parameter is not None else None
            if grad is not None:
                account.version = grad._version
        for one in self.books.modules.values():
            one.window_calls = 0
        self._groups.clear()

    # ------------------------------------------------------------------ mixed precision, schedulers, data

    def scaled(self, result: Any) -> None:
        """A gradient scaler has scaled a loss."""
        self._scaling = True
        for one in (result,) if isinstance(result, Tensor) else result:
            if isinstance(one, Tensor) and one.grad_fn is not None:
                node: Any = one.grad_fn
                node.metadata[self._mark] = True

    def unscaled(self, scaler: Any, optimizer: Any, frame: FrameType) -> None:
        """`scaler.unscale_(optimizer)` has run."""
        if not self._known(optimizer):
            return
        entry = self._optimizer(optimizer)
        for account in entry.accounts:
            self._settle(account)
        draft = self._emit("unscale", places.user_place(frame), (), optimizer=entry.number)
        draft.window = entry.steps
        for account in entry.accounts:
            if account.status == FRESH:
                draft.accounts.append(account)
                if self.digests:
                    parameter = account.ref()
                    grad = grad_of(parameter) if parameter is not None else None
                    account.digest = _digest(grad) if grad is not None else None
        draft.details["passes"] = max((len(a.deposits) for a in draft.accounts), default=0)
        draft.details["scaled"] = any(d.scaled for a in draft.accounts for d in a.deposits)

    def scaler_step_begins(self, scaler: Any, optimizer: Any, frame: FrameType) -> object:
        thread = threading.get_ident()
        before = self._scaler_steps.get(thread)
        self._scale = _scale_of(scaler)
        # A fused step is called even when it will do nothing; it is then told so by an attribute.
        fused = bool(getattr(optimizer, "_step_supports_amp_scaling", False))
        self._scaler_steps[thread] = {"fired": None, "place": places.user_place(frame), "fused": fused}
        return before

    def scaler_step_ends(self, scaler: Any, optimizer: Any, before: Any, failed: bool) -> None:
        thread = threading.get_ident()
        state = self._scaler_steps[thread]
        if state["fired"] is None and not failed and self._known(optimizer):
            self._skip(self._optimizer(optimizer), None)
        if state["fired"] is not None:
            state["fired"].details["by_scaler"] = True
            state["fired"].details["scale"] = self._scale
        del self._scaler_steps[thread]
        if before is not None:
            self._scaler_steps[thread] = before

    def scaler_updated(self, scaler: Any, frame: FrameType) -> None:
        before, self._scale = self._scale, _scale_of(scaler)
        self._emit("scaler update", places.user_place(frame), (), before=before, after=self._scale)

    def scheduled(self, scheduler: Any, frame: FrameType) -> None:
        """A learning-rate scheduler has stepped."""
        optimizer = getattr(scheduler, "optimizer", None)
        number = None
        inner = getattr(optimizer, "optimizer", optimizer)  # accelerate wraps optimizers
        if isinstance(inner, torch.optim.Optimizer) and "param_groups" in vars(inner):
            if not self._known(inner):
                return
            number = self._optimizer(inner).number
        pending = 0
        skipped = False
        if number is not None:
            entry = self.books.optimizers[number]
            pending = max((len(a.deposits) for a in entry.accounts if a.status == FRESH), default=0)
            skipped = any(a.status == SKIPPED for a in entry.accounts)
        last = next((d for d in reversed(self.drafts) if d.kind in ("step", "skipped step", "backward")), None)
        skipped = skipped or (last is not None and last.kind == "skipped step")
        self._emit(
            "scheduler",
            places.user_place(frame),
            (),
            optimizer=number,
            scheduler=type(scheduler).__name__,
            which=id(scheduler),
            pending=pending,
            after_skip=skipped,
            rate=self._rate(self.books.optimizers[number]) if number is not None else None,
        )

    def loader_started(self, loader: Any, frame: FrameType) -> None:
        """A DataLoader begins a pass over its data."""
        for account in self.books.accounts:
            if account.read is not None:
                self._settle(account)
        pending = max((len(a.deposits) for a in self.books.accounts if a.status == FRESH), default=0)
        count = self._loaders.get(loader, 0) + 1
        self._loaders[loader] = count
        self._emit("pass over data", places.user_place(frame), (), pending=pending, count=count)

    def hook_registered(self, owner: Any, frame: FrameType) -> None:
        """A gradient hook was put on a tensor or a module."""
        if isinstance(owner, nn.Module) or self.books.find(owner) is not None:
            self._hook_places[-1] = places.user_place(frame)

    def optimizer_made(self, optimizer: Any, frame: FrameType) -> None:
        if "param_groups" in vars(optimizer) and self._known(optimizer):
            self._optimizer(optimizer, places.user_place(frame), self.books.tick())

    # ------------------------------------------------------------------ long runs

    def _window_closed(self) -> None:
        """Forget the events of a window that is like earlier ones, once many are kept."""
        start, self._window_start = self._window_start, len(self.drafts)
        if self._kept_windows < KEPT:
            self._kept_windows += 1
            return
        shape = tuple(_shape(draft) for draft in self.drafts[start:])
        self._shapes[shape] += 1
        if self._shapes[shape] <= 8:
            self._kept_windows += 1
            return
        self.dropped += len(self.drafts) - start
        del self.drafts[start:]
        self._window_start = start

    # ------------------------------------------------------------------ what rules look at

    def log(self) -> Log:
        """Everything so far as plain, frozen data."""
        with self.lock:
            if not self.finished:
                self._settle_all()
            if not self.finished:
                self.books.look_around()
            parameters = tuple(
                ParameterFacts(
                    name=account.name,
                    owners=tuple(owner.number for owner in account.owners),
                    deposits=account.total,
                    requires_grad=account.trains,
                    ran=account.module.calls if account.module else 0,
                    given=account.given,
                    is_parameter=account.is_parameter,
                    in_model=account.attached,
                    cut_at=account.module.called_at if account.module else None,
                    in_checkpoint=bool(account.module and account.module.checkpoint),
                    made_at=account.module.made_at if account.module else None,
                    made=account.module.made if account.module else 0,
                    model=account.root.label if account.root else "",
                )
                for account in self.books.accounts
            )
            pending = {
                a.name: tuple(deposit.trail for deposit in a.deposits)
                for a in self.books.accounts
                if a.status == FRESH and a.deposits
            }
            return Log(
                events=tuple(
                    Event(
                        draft.number,
                        draft.kind,
                        tuple(account.name for account in draft.accounts),
                        draft.step,
                        draft.window,
                        draft.place,
                        {key: _named(value) for key, value in draft.details.items()},
                    )
                    for draft in self.drafts
                ),
                parameters=parameters,
                optimizers=tuple(
                    OptimizerFacts(
                        entry.number, self.books.label(entry), entry.steps, entry.made_at, entry.made, entry.first_event
                    )
                    for entry in self.books.optimizers
                ),
                window=self.window,
                pending=pending,
                pending_finite=self.pending_finite,
                pending_at=self._last.draft.place if self._last else None,
                finished=self.finished and not self.stopped,
                error=self.error,
                error_at=self.error_at,
                distributed=dict(self._sync),
                dropped=self.dropped,
                unknown_reference=tuple(self.reference_names or ()),
            )


def _named(value: Any) -> Any:
    """The same value with names in place of accounts: a parameter's name may become known late."""
    if isinstance(value, Account):
        return value.name
    if isinstance(value, list):
        return [_named(one) for one in value]
    if isinstance(value, dict):
        return {_named(key): _named(one) for key, one in value.items()}
    return value


# ------------------------------------------------------------------ small questions about tensors


def _any(value: Tensor) -> bool:
    with torch.no_grad():
        return bool(value.detach().any())


def _largest(grad: Tensor) -> float:
    try:
        return float(grad.detach().abs().max()) if grad.numel() else 0.0
    except (RuntimeError, NotImplementedError):
        return 0.0


def _hooks_on(parameter: Tensor) -> int:
    """Gradient hooks a parameter carries, of both kinds."""
    after: Any = getattr(parameter, "_post_accumulate_grad_hooks", None)
    return len(parameter._backward_hooks or ()) + len(after or ())


def _finite(grad: Tensor) -> bool:
    try:
        return bool(torch.isfinite(grad.detach()).all())
    except (RuntimeError, NotImplementedError):
        return True


def _digest(grad: Tensor) -> complex:
    """Sum and sum of squares in float64: one of them changes whenever a value does, for all practical purposes."""
    try:
        flat = grad.detach().double()
        return complex(float(flat.sum()), float((flat**2).sum()))
    except (RuntimeError, NotImplementedError):
        return 0j


def _print(parameter: Tensor) -> float | None:
    try:
        flat = parameter.detach().double()
        return float(flat.sum() + (flat**2).sum())
    except (RuntimeError, NotImplementedError):
        return None


def _norm(accounts: list[Account]) -> float | None:
    grads = [grad_of(p) for a in accounts if a.status in (FRESH, USED) and (p := a.ref()) is not None]
    grads = [g.detach() for g in grads if g is not None and not g.is_sparse]
    if not grads:
        return None
    try:
        with torch.no_grad():
            return float(torch.stack([torch.linalg.vector_norm(g).double().cpu() for g in grads]).norm())
    except (RuntimeError, NotImplementedError):
        return None


def _low(account: Account) -> str:
    """The gradient's dtype where it is a half-precision one, else an empty string."""
    parameter = account.ref()
    grad = grad_of(parameter) if parameter is not None else None
    return {torch.bfloat16: "bfloat16", torch.float16: "float16"}.get(grad.dtype, "") if grad is not None else ""


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def _scale_of(scaler: Any) -> float | None:
    """The scale as the scaler holds it; asking would make a fresh scaler allocate nothing and cost a copy on a GPU."""
    scale = getattr(scaler, "_scale", None)
    return float(scale) if scale is not None else _number(getattr(scaler, "_init_scale", None))


def _batch(inputs: tuple[Any, ...]) -> int | None:
    for value in inputs:
        if isinstance(value, Tensor) and value.dim() > 0:
            return int(value.shape[0])
    return None


_THROUGH = frozenset({"MulBackward0", "ToCopyBackward0", "CloneBackward0", "AliasBackward0", "SqueezeBackward0"})


_COMBINING = _THROUGH | {"DivBackward0", "AddBackward0", "StackBackward0", "CatBackward0", "UnsqueezeBackward0"}
_COMBINING |= {"MeanBackward0", "SumBackward0"}


def _is_loss(node: Any) -> bool:
    """Whether a node of the graph reduces something to a loss."""
    name = type(node).__name__
    return hasattr(node, "_saved_reduction") or name in (
        "MeanBackward0",
        "SumBackward0",
        "MeanBackward1",
        "SumBackward1",
    )


def _describe(node: Any, scaled: bool) -> dict[str, Any]:
    """Name of the loss's last operation, and whether that is a mean over a batch.

    Looks through the product with the loss scale, and through changes of dtype.
    """
    name = type(node).__name__ if node is not None else ""
    reduction = None
    for _ in range(3):
        kind = type(node).__name__ if node is not None else ""
        if hasattr(node, "_saved_reduction"):
            reduction = {0: "none", 1: "mean", 2: "sum"}.get(node._saved_reduction)
            name = kind
            break
        if kind == "MeanBackward0":
            reduction, name = "mean", kind
            break
        if kind not in _THROUGH or (kind == "MulBackward0" and not scaled):
            break
        node = node.next_functions[0][0] if node.next_functions else None
    return {"root": name.removesuffix("0").removesuffix("Backward"), "reduction": reduction}


def _shape(draft: Draft) -> tuple[Any, ...]:
    place, details = draft.place, draft.details
    marks = tuple(bool(details.get(key)) for key in ("onto_used", "onto_skipped", "lost", "stale", "again", "crossed"))
    counts = tuple(details.get(key) for key in ("passes", "region") if key == "passes")
    return draft.kind, place and (place.file, place.line), marks, counts


def _place_of(error: BaseException) -> Place | None:
    found = None
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if places.kind_of(file) == places.USER:
            found = Place(file, trace.tb_lineno, trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return found
