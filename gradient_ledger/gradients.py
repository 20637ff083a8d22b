"""What happens to `.grad` between the passes and the steps: reads, writes, clears, clips, edits, steps by hand."""

from __future__ import annotations

import math
import re
import threading
import weakref
from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

from gradient_ledger import places
from gradient_ledger.accounts import EMPTY, FRESH, SKIPPED, USED, ZERO, Account, grad_of
from gradient_ledger.events import Place
from gradient_ledger.state import MOST_DEPOSITS, SAMPLES, Draft, Pass, State
from gradient_ledger.tally import tally
from gradient_ledger.tensors import digest_of, fingerprint, is_finite, is_zero, largest, norm_of, number_of

_MEANT = re.compile(r"\.grad\.data\s*(\.\w+_\(|\[.*\]\s*[-+*/]?=|[-+*/]=)")
"""A line that writes through `.grad.data` in so many words: whoever wrote it means the gradient to change."""


def read(state: State, parameter: Tensor, grad: Tensor | None, frame: FrameType, kind: int) -> None:
    """`.grad` was read from Python, outside torch's own optimizers."""
    account = state.books.find(parameter)
    if account is None:
        if kind == places.USER and grad is not None and passed_since_step(state):
            input_read(state, parameter, frame)
        return
    if kind == places.CLIP:
        book_clip(state, account, grad, frame)
        return
    hand_step(state, account, parameter)
    place = places.user_place(frame)
    if grad is not None and (account.clipped or (account.read is not None and account.read != place)):
        settle(state, account)  # what changed until now was done at the earlier place
    account.read = place
    account.taken = True
    if grad is not None and account.status == FRESH and account.before is None and state.may_look("before", 400):
        account.before = digest_of(grad).imag


def passed_since_step(state: State) -> bool:
    """Whether a backward has run since the last step."""
    return state.last is not None and state.last.draft.step == state.steps


def input_read(state: State, tensor: Tensor, frame: FrameType) -> None:
    """The gradient of a tensor that is no parameter was read: an attack, a saliency map, or training by hand."""
    if not tensor.requires_grad or not tensor.is_leaf or state.last is None:
        return
    known = state.leaves.get(id(tensor))
    now = (weakref.ref(tensor), tensor._version, fingerprint(tensor) if state.may_look("leaves", 400) else None)
    if known is not None and known[0]() is tensor and known[1:] != now[1:] and not state.last.touched:
        # No known parameter was trained, and this was changed after its gradient was read: stepped by hand.
        account = state.books.open(tensor)
        account.taken, account.read = True, places.user_place(frame)
        state.hook(account)
        return
    state.leaves[id(tensor)] = now
    if len(state.leaves) > 1024:
        state.leaves = {key: value for key, value in state.leaves.items() if value[0]() is not None}
    place = places.user_place(frame)
    key = ("input gradient", place and (place.file, place.line), None)
    if key not in state.groups:
        state.groups[key] = state.emit("input gradient", place, (), backward=state.last.deposit.number)


def write(state: State, parameter: Tensor, value: Tensor | None, frame: FrameType) -> None:
    """`.grad` is about to be set or deleted from Python."""
    account = state.books.find(parameter)
    if account is None:
        return
    if value is None and account.status == EMPTY and state.clearing and grad_of(parameter) is None:
        return  # nothing there: the end of this zero_grad books it
    if not (value is None and account.status == USED and account.read is None):  # used, and nobody looked: just cleared
        hand_step(state, account, parameter)
        settle(state, account)
    _, place = state.clearing.get(threading.get_ident(), (None, None)) if state.clearing else (None, None)
    place = place or places.user_place(frame)
    if value is None:
        book_clear(state, account, place, "none")
        return
    status = account.status
    if is_shared(state, account, value):
        state.sharing[account.index] = place
    if is_zero(value):
        book_clear(state, account, place, "zeros")
    else:
        draft = state.join("edit", place, account, "assigned", how="assigned", status=status)
        if status == FRESH:
            draft.details["passes"] = max(draft.details.get("passes", 0), len(account.deposits))
            note_factor(draft, account, value)
        elif status in (USED, SKIPPED):
            account.deposits, account.mixed = [], ""
        account.status, account.assigned, account.given = FRESH, place or Place("?", 0), True
    account.version = value._version
    account.digest = digest_of(value) if state.digests else None
    account.read, account.clipped = None, False


def is_shared(state: State, account: Account, value: Tensor) -> bool:
    """Whether another parameter holds this very tensor as its gradient."""
    if state.assigned_at != state.pass_number:  # what autograd has made since, looked up once a pass
        state.assigned_at = state.pass_number
        state.assigned = {}
        for one in state.within_reach():
            parameter = one.ref()
            grad = grad_of(parameter) if parameter is not None else None
            if grad is not None:
                state.assigned[id(grad)] = (weakref.ref(grad), one)
    known = state.assigned.get(id(value))
    state.assigned[id(value)] = (weakref.ref(value), account)
    if known is not None and known[0]() is value and known[1] is not account:
        other = known[1].ref()
        return other is not None and grad_of(other) is value
    return False


def book_clear(state: State, account: Account, place: Place | None, how: str) -> None:
    """Book a clear: what it threw away matters, so that is written down with it."""
    under_way = state.stepping.get(threading.get_ident())
    if under_way is not None and "fresh" in under_way.details and account.status == FRESH:
        account.status = USED  # cleared by the step's own hook: it has been used
    fresh = account.status in (FRESH, SKIPPED)
    lost = len(account.deposits) if fresh else 0
    optimizer, _ = state.clearing.get(threading.get_ident(), (None, None))
    draft = state.join("clear", place, account, how, how=how, lost=0, by=optimizer, full=0)
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
        details["after_step"] = all(deposit.steps < state.steps for deposit in account.deposits)
        parameter = account.ref()
        grad = grad_of(parameter) if parameter is not None else None
        if not details.get("nonfinite") and grad is not None and state.may_look("finite", 400):
            details["nonfinite"] = not is_finite(grad)
    forget(account, EMPTY if how == "none" else ZERO)


def forget(account: Account, status: str) -> None:
    """What was in this gradient is gone."""
    account.status = status
    account.deposits = []
    account.increments = []
    account.assigned, account.read, account.taken, account.clipped = None, None, False, False
    account.used_by, account.mixed = None, ""


def clear_begins(state: State, owner: Any, frame: FrameType | None) -> object:
    """`zero_grad` of an optimizer or a module was called."""
    thread = threading.get_ident()
    before = state.clearing.get(thread)
    label = None
    if isinstance(owner, torch.optim.Optimizer) and "param_groups" in vars(owner) and state.knows(owner):
        label = state.optimizer(owner).number
    state.clearing[thread] = (label, places.user_place(frame))
    return before


def clear_ends(state: State, owner: Any, before: Any) -> None:
    """`zero_grad` has returned: book what it left as zeros, and that it found nothing where it did."""
    thread = threading.get_ident()
    label, place = state.clearing[thread]
    if isinstance(owner, nn.Module):
        mine: Iterable[Any] = owner.parameters()
    else:
        mine = (p for group in getattr(owner, "param_groups", ()) for p in group["params"])
    seen = False
    for parameter in mine:
        account = state.books.find(parameter) if isinstance(parameter, Tensor) else None
        if account is None:
            continue
        seen = True
        grad = grad_of(parameter)
        if grad is not None and (grad._version != account.version or account.status in (FRESH, USED, SKIPPED)):
            book_clear(state, account, place, "zeros")
            account.version = grad._version
        elif grad is None and account.status == EMPTY:
            state.join("clear", place, account, "none", how="none", lost=0, by=label, full=0)
    if not seen and not state.own_only:
        state.emit("clear", place, (), how="none", lost=0, by=label, full=0)
    del state.clearing[thread]
    if before is not None:
        state.clearing[thread] = before


def book_clip(state: State, account: Account, grad: Tensor | None, frame: FrameType) -> None:
    """Clipping took hold of one gradient."""
    draft = state.clipping
    if draft is not None and account.joined is draft:
        return  # clipping reads every gradient several times
    place = places.user_place(frame)
    if draft is None or draft.place is not place:
        draft = state.clipping = clip_begins(state, place, frame)
    settle(state, account)
    account.joined = draft
    draft.accounts.append(account)
    status = draft.details["status"]
    # Gradients that no optimizer owns count too: they are in the norm, and nobody clears them.
    old = account.status == FRESH and bool(account.deposits) and account.deposits[0].steps < state.steps
    label = "orphan" if old and not account.owned else account.status
    status[label] = status.get(label, 0) + 1
    if account.status == FRESH:
        last = account.deposits[-1] if account.deposits else None
        draft.details["scaled"] = bool(draft.details.get("scaled")) or bool(last and last.scaled)
        draft.details["passes"] = max(draft.details.get("passes", 0), len(account.deposits))
    if grad is not None and draft.details["measured"]:
        draft.details["square"] += norm_of([grad]) ** 2
        if draft.details["function"] == "clip_grad_value_":
            draft.details["largest"] = max(draft.details["largest"], largest(grad))
    account.clipped = grad is not None
    account.taken = True


def clip_begins(state: State, place: Place | None, frame: FrameType) -> Draft:
    """Open the event of a clip call, with the limit it was given."""
    outer: FrameType | None = frame
    while outer is not None and not outer.f_code.co_name.startswith("clip_grad"):
        outer = outer.f_back if places.kind_of(outer.f_code.co_filename) == places.CLIP else None
    outer = outer or frame
    local = outer.f_locals
    limit = number_of(local.get("max_norm", local.get("clip_value")))
    draft = state.emit("clip", place, (), function=outer.f_code.co_name, limit=limit, scale=state.scale, status={})
    draft.details |= {"measured": state.may_look("clips", SAMPLES), "square": 0.0, "largest": 0.0}
    draft.details["order"] = number_of(local.get("norm_type", 2.0))
    return draft


def settle(state: State, account: Account) -> None:
    """Bring one account up to date with what was done to its `.grad` behind our back."""
    parameter = account.ref()
    if parameter is None:
        return
    grad = grad_of(parameter)
    if grad is None:
        if account.status != EMPTY and not state.passes:
            book_clear(state, account, account.read, "none")
        account.version = -1
        return
    version = grad._version
    if account.status == EMPTY:
        # A gradient nobody saw coming: put there by C++ code, or by a hook that ran before ours.
        current = current_pass(state)
        if current is not None:
            book_deposit(state, account, current)
        else:
            account.status, account.assigned, account.given = FRESH, account.read or Place("?", 0), True
        account.version, account.read = version, None
        return
    changed = version != account.version
    if changed and not account.clipped:
        place = account.read
        if is_zero(grad):
            book_clear(state, account, place, "zeros")
        elif account.status == ZERO:
            state.join("edit", place, account, "assigned", how="assigned", status=ZERO)
            account.status, account.assigned, account.given = FRESH, place or Place("?", 0), True
        else:
            book_edit(state, account, place, grad)
    elif account.read is not None and not changed and account.status in (USED, SKIPPED, FRESH):
        # `.data` and `.numpy()` change values without a trace in the version.
        if state.may_look("hidden") and is_zero(grad):
            book_clear(state, account, account.read, "zeros")
    if state.digests and account.digest is not None and account.status == FRESH:
        audit_value(state, account, grad, changed)
    account.version = version
    account.read, account.clipped, account.before = None, False, None


def book_edit(state: State, account: Account, place: Place | None, grad: Tensor) -> None:
    """A gradient was changed in place."""
    draft = state.join("edit", place, account, "edit", how="in place", status=account.status)
    note_factor(draft, account, grad)
    if account.status == FRESH:
        draft.details["passes"] = max(draft.details.get("passes", 0), len(account.deposits))
        last = account.deposits[-1] if account.deposits else None
        draft.details["scaled"] = bool(draft.details.get("scaled")) or bool(last and last.scaled)
    elif account.status == USED:
        # Used gradients that are rescaled and kept, as eligibility traces are: meant, not forgotten.
        account.status, account.assigned, account.deposits = FRESH, place or Place("?", 0), []


def note_factor(draft: Draft, account: Account, grad: Tensor) -> None:
    """By what the norm of this gradient has changed, where it was taken when the user's code took hold of it."""
    if account.before:
        draft.details.setdefault("factors", []).append(math.sqrt(digest_of(grad).imag / account.before))
    account.before = None


def audit_value(state: State, account: Account, grad: Tensor, changed: bool) -> None:
    """With digests: notice values that changed although no version counter moved."""
    now = digest_of(grad)
    # As text: what is not a number is the same as itself.
    if repr(now) != repr(account.digest) and not changed and not account.clipped:
        draft = state.join("edit", account.read, account, "hidden", how="hidden", status=account.status)
        before, after = math.sqrt((account.digest or 0j).imag), math.sqrt(now.imag)
        draft.details.setdefault("norms", [before, after])
        draft.details.setdefault("meant", account.read is not None and bool(_MEANT.search(account.read.code)))
    account.digest = now


def is_settled(state: State, account: Account, grad: Tensor | None) -> bool:
    """Whether nothing can have happened to this gradient since we last looked: nobody took hold of it."""
    if grad is None:
        return account.status == EMPTY
    untouched = account.read is None and not account.clipped and grad._version == account.version
    return untouched and account.status != EMPTY and not state.digests


def settle_all(state: State) -> None:
    """Bring every account up to date that may need it."""
    for account in state.within_reach():
        parameter = account.ref()
        if parameter is not None and not is_settled(state, account, grad_of(parameter)):
            hand_step(state, account, parameter)
            settle(state, account)


def hand_step(state: State, account: Account, parameter: Tensor) -> None:
    """Notice that a parameter without optimizer was changed after its gradient was read: a step by hand."""
    if account.owned or account.status != FRESH or not account.taken:
        return
    moved = parameter._version != account.written
    if not moved and account.print is not None and state.may_look("print", 4000):
        moved = fingerprint(parameter) != account.print
    if not moved:
        return
    place = account.read
    known = state.groups.get(("step", place and (place.file, place.line), "by hand"))
    if known is None:
        state.steps += 1
    draft = state.join("step", place, account, "by hand", by_hand=True, optimizer=None, fresh=0)
    tally(draft, [account])
    account.status, account.deposits, account.mixed = USED, [], ""
    account.written = parameter._version
    account.print = None
    account.used_by = -1
    if known is None:
        state.steps_by_hand += 1
        state.most_steps = max(state.most_steps, state.steps_by_hand)
        state.window_closed()
        state.say_step()


def current_pass(state: State) -> Pass | None:
    """The backward pass a hook belongs to: this thread's, or on a GPU's own threads the one under way."""
    if len(state.passes) < 2:
        return state.passes[0] if state.passes else None
    thread = threading.get_ident()
    for one in reversed(state.passes):
        if one.thread == thread:
            return one
    return state.passes[-1]


def book_deposit(state: State, account: Account, current: Pass) -> None:
    """Book that a backward pass has added to one gradient."""
    number = current.deposit.number
    status = account.status
    if account.seen == number and status != EMPTY:
        return  # booked before, and perhaps used and zeroed since, inside the backward itself
    if status == USED:
        current.used.append(account)
        account.mixed = USED
    elif status == SKIPPED:
        current.skipped.append(account)
        account.mixed = account.mixed or SKIPPED
    elif status == FRESH:
        current.fresh += 1
    account.seen = number
    account.thread = current.thread
    account.status = FRESH
    account.deposits.append(current.deposit)
    if len(account.deposits) > MOST_DEPOSITS:  # nobody steps or clears it
        del account.deposits[1:-1]
    account.total += 1
    account.taken = False
    current.touched.append(account)
    if state.reference is not None:
        parameter = account.ref()
        grad = grad_of(parameter) if parameter is not None else None
        if grad is not None:
            account.increments.append(grad.detach().clone())


def flush(state: State, one: Pass) -> None:
    """Write the accumulations of a pass so far as one event."""
    if len(one.touched) == one.flushed:
        return
    draft = state.emit("accumulate", one.draft.place, one.touched[one.flushed :])
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
