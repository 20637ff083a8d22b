"""What happens to `.grad` between the passes and the steps: reads, writes, clears, clips, edits, steps by hand."""

from __future__ import annotations

import inspect
import math
import re
import threading
import weakref
from collections.abc import Iterable, Iterator
from itertools import chain
from types import FrameType, GeneratorType
from typing import Any

import torch
from torch import Tensor, nn

from gradient_ledger import adapted, buffers, loose, places, source
from gradient_ledger.account import EMPTY, FRESH, SKIPPED, USED, ZERO, Account, Thrown, grad_of
from gradient_ledger.budget import LOOKS, SAMPLES
from gradient_ledger.events import Accumulate, Clear, Clip, Edit, InputGradient, Place, Step, Taken
from gradient_ledger.journal import Draft
from gradient_ledger.progress import ClearCall, ClipCall, Gone, Grown, InputRead, Pass
from gradient_ledger.state import State
from gradient_ledger.tally import tally
from gradient_ledger.tensors import address, digest_of, fingerprint, is_finite, is_zero, largest, norm_of, number_of

_MEANT = re.compile(r"\.grad\.data\s*(\.\w+_\(|\[.*\]\s*[-+*/]?=|[-+*/]?=(?!=))")
"""A line that writes through `.grad.data` in so many words: whoever wrote it means the gradient to change."""

UNTOUCHED = 1e-6
"""A sum of squares that changed by no larger a share is the same."""

_ADDS = re.compile(r"\.add_\([^)]*\.grad\b")

# ------------------------------------------------------------------ the user's code takes hold of a gradient


def read(state: State, parameter: Tensor, grad: Tensor | None, frame: FrameType, kind: int) -> None:
    """`.grad` was read from Python, outside torch's own optimizers."""
    account = state.books.by_id.get(id(parameter))
    if state.rhythm is not None and state.rhythm.read(account, kind):
        return
    if account is None or account.ref() is not parameter:
        if (known := state.loose.get(id(parameter))) is not None:
            known.out = True
        if kind == places.CLIP:
            clip_of_stranger(state, parameter, grad)
        if kind == places.USER and grad is not None and not parameter.is_leaf:
            adapted.read(state, parameter)
        by_hand = state.progress.steps_by_hand > 0
        if kind == places.USER and grad is not None and (state.progress.passed_since_step or by_hand):
            input_read(state, parameter, frame)
        return
    if kind == places.CLIP:
        book_clip(state, account, grad, frame)
        return
    if grad is not None and not parameter.is_leaf:  # a copy that stood in a model for its parameter during a call
        adapted.read(state, parameter)
    hand_step(state, account, parameter)
    place = places.user_place(frame)
    if place not in state.read_at:
        state.read_at[place] = places.calls(frame)
    if kind == places.USER and place is not None and account.total and account.owned:
        note_gone(state, account, place, grad is None)
    if grad is not None and state.progress.passes:
        arrived(state, account, grad)
    if grad is not None and (account.clipped or (account.read is not None and account.read != place)):
        settle(state, account)  # what changed until now was done at the earlier place
    if account.status == FRESH and account.mixed == USED and account.deposits:
        state.join(Taken, place, account, "mixed", backward=account.deposits[-1].number)
    account.held(place)
    held = account.status in (FRESH, USED, SKIPPED)
    if grad is not None and held and account.before is None:
        note_held(state, account, place, grad)


HELD_ON = 2
"""Gradients that a line takes hold of whose values are looked at on, when the looks for all of them are spent."""


def note_held(state: State, account: Account, place: Place | None, grad: Tensor) -> None:
    """What the user's code takes hold of, to know how it has changed it. The first pass through a model of many
    parameters spends the looks: two of them are looked at in later ones too."""
    on = state.held_on.setdefault(place, [])
    if state.budget.may_look(("held", place)):
        account.before = digest_of(grad).imag
        if account.before == 0.0 and state.budget.may_look(("held zeros", place), 8 * LOOKS):
            state.budget.refund(("held", place))  # no factor shows in zeros
        elif account.before and len(on) < HELD_ON and account.index not in on:
            on.append(account.index)
    elif account.index in on and state.budget.may_look(("held on", place, account.index), LOOKS // 2):
        account.before = digest_of(grad).imag


def note_gone(state: State, account: Account, place: Place, gone: bool) -> None:
    """The gradient of a trained parameter was read at this line, and was there, or was not any more."""
    if not gone:
        state.gone[place] = None
        return
    known = state.gone.setdefault(place, Gone(account))
    if known is not None and known.passes < state.progress.pass_number:
        known.passes = state.progress.pass_number
        known.times += 1


_NUMBER = re.compile(r"\.item\(\)|\bfloat\(")
"""A line that makes a number of something."""


def input_read(state: State, tensor: Tensor, frame: FrameType) -> None:
    """The gradient of a tensor that is no parameter was read: an attack, a saliency map, or training by hand."""
    last = state.progress.last
    if not tensor.requires_grad or not tensor.is_leaf or last is None:
        return
    known = state.leaves.get(id(tensor))
    looked = fingerprint(tensor) if state.budget.may_look("leaves", 400) else None
    now = (weakref.ref(tensor), tensor._version, looked)
    alone = not last.touched or state.progress.steps_by_hand > 0
    if known is not None and known[0]() is tensor and known[1:] != now[1:] and alone:
        # No known parameter was trained but by hand, and this was changed after its gradient was read: stepped by hand.
        account = state.books.open(tensor)
        state.progress.steps_by_hand = max(state.progress.steps_by_hand, 1)
        state.progress.stepped(state.progress.steps_by_hand)
        account.held(places.user_place(frame))
        state.hook(account)
        return
    state.leaves[id(tensor)] = now
    if len(state.leaves) > 1024:
        state.leaves = {key: value for key, value in state.leaves.items() if value[0]() is not None}
    place = places.user_place(frame)
    key = (InputGradient, place and (place.file, place.line), None)
    if key not in state.journal.groups:
        number = place is not None and _NUMBER.search(place.code) is not None
        state.journal.groups[key] = state.emit(InputGradient, place, (), backward=last.deposit.number, as_number=number)
    if is_onto_read(state, tensor, looked):
        state.journal.groups[key].fields["onto_read"] = True


MOST_INPUTS = 64
"""Tensors that are no parameters whose gradients are remembered."""


def is_onto_read(state: State, tensor: Tensor, seen: float | None) -> bool:
    """Whether each backward since the gradient of a tensor was read last has added to that very gradient, and the
    tensor is another one: that it was cleared would show in its version, or to the next pass."""
    grad, passes, before = grad_of(tensor), state.progress.pass_number, state.inputs.pop(id(tensor), None)
    if grad is None or len(state.inputs) >= MOST_INPUTS:
        return False
    where, written = address(tensor), tensor._version
    now = InputRead(weakref.ref(tensor), weakref.ref(grad), grad._version, passes, where, written, seen)
    state.inputs[id(tensor)] = now
    if before is None or before.ref() is not tensor or before.grad() is not grad or before.passes == passes:
        return False
    other = before.seen is not None and seen is not None and before.seen != seen
    moved = other or (before.where, before.written) != (where, written)
    return moved and now.version - before.version == passes - before.passes


def look_at_inputs(state: State) -> None:
    """A backward begins: forget the gradients that somebody has set to zeros, as `x.grad.data.zero_()` does unseen."""
    for key, one in list(state.inputs.items()):
        grad = one.grad()
        if grad is None or one.ref() is None or not state.budget.may_look("inputs") or is_zero(grad):
            del state.inputs[key]


def write(state: State, parameter: Tensor, value: Tensor | None, frame: FrameType) -> None:
    """`.grad` is about to be set or deleted from Python."""
    account = state.books.by_id.get(id(parameter))
    if state.rhythm is not None and state.rhythm.cleared(account, value):
        return
    if account is None or account.ref() is not parameter:
        loose.written(state, parameter, value)
        return
    clearing = state.progress.clearing
    call = clearing.get(threading.get_ident()) if clearing else None
    used = value is None and account.status == USED and account.read is None  # and nobody looked: just cleared
    if value is None and account.status == EMPTY and clearing and grad_of(parameter) is None:
        return  # nothing there: the end of this zero_grad books it
    if not used:
        hand_step(state, account, parameter)
        settle(state, account)
    place = (call and call.place) or places.user_place(frame)
    if value is None:
        book_clear(state, account, place, EMPTY)
        return
    if is_shared(state, account, value):
        state.sharing[account.index] = place
    if is_zero(value) and not (account.status == FRESH and is_zero(grad_of(parameter))):
        book_clear(state, account, place, ZERO)
    else:
        book_assignment(state, account, place, value)
    account.looked(value._version, digest_of(value) if state.digests else None)


def is_shared(state: State, account: Account, value: Tensor) -> bool:
    """Whether another parameter holds this very tensor as its gradient."""
    if state.assigned_at != state.progress.pass_number:  # what autograd has made since, looked up once a pass
        state.assigned_at = state.progress.pass_number
        state.assigned = {}
        for one in state.within_reach():
            grad = one.grad
            if grad is not None:
                state.assigned[id(grad)] = (weakref.ref(grad), one)
    known = state.assigned.get(id(value))
    state.assigned[id(value)] = (weakref.ref(value), account)
    return known is not None and known[0]() is value and known[1] is not account and known[1].grad is value


# ------------------------------------------------------------------ clears


def book_clear(state: State, account: Account, place: Place | None, to: str) -> None:
    """Book a clear: what it threw away matters, so that is written down with it."""
    thread, grad = threading.get_ident(), None
    call = state.progress.clearing.get(thread)
    if account.status == FRESH:
        under_way = state.progress.stepping.get(thread)
        if under_way and "fresh" in under_way[-1].fields:
            if account.piled:
                note_grown(state, account, stepped=True)
            account.use(under_way[-1].fields["optimizer"])  # cleared by the step's own hook: it has been used
        else:
            grad = account.grad
            if account.taken:
                keep_piece(state, account)
    draft = clear_event(state, account, place, to, call)
    if account.piled:
        note_grown(state, account, stepped=False)
    if account.edited is not None and source.changes_gradient(account.edited):
        note_idle_edit(state, draft, account, account.edited)
    thrown = account.clear(to)
    if thrown.status in (FRESH, USED, SKIPPED):
        draft.fields["full"] += 1
    if thrown.deposits:
        note_loss(state, draft, account, thrown, grad)


def note_idle_edit(state: State, draft: Draft, account: Account, place: Place) -> None:
    """A gradient was changed after its step, for nothing."""
    if "idle_edits" not in draft.fields:
        step = state.journal.last(Step)
        after = step.place if step is not None and place.function else None
        by = source.called_after(after, place.function) if after is not None else None
        draft.fields |= {"idle_edits": [], "edited_at": place, "edited_by": by}
    draft.fields["idle_edits"].append(account)


def clear_event(state: State, account: Account, place: Place | None, to: str, call: ClearCall | None) -> Draft:
    """The event that this clear belongs to: of what one `zero_grad` sets to None it is looked up but once."""
    own = call if call is not None and to == EMPTY and place is call.place else None
    if own is not None and own.draft is not None:
        if account.joined is not own.draft:
            account.joined = own.draft
            own.draft.accounts.append(account)
        return own.draft
    how, by = "none" if to == EMPTY else "zeros", call.optimizer if call is not None else None
    draft = state.join(Clear, place, account, how, how=how, by=by, full=0, lost=0)
    if own is not None:
        own.draft = draft
    return draft


def note_grown(state: State, account: Account, stepped: bool) -> None:
    """Gradients that were read after each of several passes, and never cleared in between, are used or gone."""
    known = state.grown.setdefault(account.piled[0][0].place, Grown())
    known.stepped = known.stepped or stepped
    known.passes.update(deposit.number for deposit, _ in account.piled)
    known.read_at.update(place for _, place in account.piled)
    if account not in known.accounts:
        known.accounts.append(account)


def keep_piece(state: State, account: Account) -> None:
    """Remember a sum over what somebody has read and now throws away: a buffer of theirs may bring it back."""
    grad = account.grad
    if grad is not None and state.budget.may_look(("piece", account.index), 4 * SAMPLES):
        account.keep_piece(digest_of(grad).real)


def note_loss(state: State, draft: Draft, account: Account, thrown: Thrown, grad: Tensor | None) -> None:
    """Write down which unused passes a clear threw away."""
    fields, deposits = draft.fields, thrown.deposits
    if len(deposits) > fields["lost"]:
        fields["lost"] = len(deposits)
        fields["lost_trails"] = [deposit.trail for deposit in deposits]
    fields.setdefault("lost_names", []).append(account)
    fields["taken"] = fields.get("taken", False) or thrown.taken
    if not thrown.taken:
        fields.setdefault("unread", []).append(account)
    # A step came in between: what is thrown away was meant for the optimizer that took it.
    fields["after_step"] = all(deposit.steps < state.progress.steps for deposit in deposits)
    if "hooked" not in fields:
        fields["hooked"] = takes_in_hooks(state)
    if not fields.get("nonfinite") and grad is not None and state.budget.may_look("finite", 400):
        fields["nonfinite"] = not is_finite(grad)


def takes_in_hooks(state: State) -> bool:
    """Whether a module or a parameter has a hook on its backward; what was found, or not found at the first few times,
    is not asked again."""
    if not state.hooks_take and state.budget.may_look("backward hooks", SAMPLES):
        parts = [module for entry in state.books.modules.values() if (module := entry.ref()) is not None]
        hooks = (vars(part).get(word) for part in parts for word in ("_backward_hooks", "_backward_pre_hooks"))
        state.hooks_take = any(hooks) or any(account.hooks for account in state.books.accounts)
    return state.hooks_take


def clear_begins(state: State, owner: Any, frame: FrameType | None) -> object:
    """`zero_grad` of an optimizer or a module was called."""
    if state.rhythm is not None and state.rhythm.clear_begins(owner, frame):
        return None
    clearing, thread = state.progress.clearing, threading.get_ident()
    before = clearing.get(thread)
    number = state.books.number_of(owner)
    if number is None and isinstance(owner, torch.optim.Optimizer) and "param_groups" in vars(owner):
        number = state.optimizer(owner).number if state.knows(owner) else None
    place, trail = places.place_and_trail(_caller(frame))
    state.helped.add(trail)
    clearing[thread] = ClearCall(number, place)
    return before


def _caller(frame: FrameType | None) -> FrameType | None:
    """Who decides to clear: of a `zero_grad` of the user's own that does nothing else, the one who calls that."""
    while frame is not None and frame.f_back is not None and frame.f_code.co_name == "zero_grad":
        if places.kind_of(frame.f_code.co_filename) != places.USER or not source.hands_on(frame.f_code):
            break
        frame = frame.f_back
    return frame


def clear_ends(state: State, owner: Any, before: Any) -> None:
    """`zero_grad` has returned: book what it left as zeros, and that it found nothing where it did."""
    if state.rhythm is not None and state.rhythm.clear_ends():
        return
    clearing, thread = state.progress.clearing, threading.get_ident()
    call, by_id = clearing[thread], state.books.by_id
    if isinstance(owner, nn.Module):
        mine: Iterable[Tensor] = owner.parameters()
    else:
        mine = chain.from_iterable([group["params"] for group in getattr(owner, "param_groups", ())])
    seen = False
    for parameter in mine:
        account = by_id.get(id(parameter))
        if account is None or account.ref() is not parameter:
            continue
        seen = True
        grad = grad_of(parameter)
        if grad is None:
            if account.status == EMPTY and (call.draft is None or account.joined is not call.draft):
                clear_event(state, account, call.place, EMPTY, call)
        elif grad._version != account.version or account.status in (FRESH, USED, SKIPPED):
            book_clear(state, account, call.place, ZERO)
            account.looked(grad._version)
    if not seen and not state.own_only:
        state.emit(Clear, call.place, (), how="none", by=call.optimizer)
    del clearing[thread]
    if before is not None:
        clearing[thread] = before


# ------------------------------------------------------------------ clips


def book_clip(state: State, account: Account, grad: Tensor | None, frame: FrameType) -> None:
    """Clipping took hold of one gradient."""
    settle(state, account)  # what was done to it before stands before the clip
    draft, clips = state.journal.clipping, state.progress.clips
    call = clips.get(threading.get_ident()) if clips else None
    if call is not None:
        call.filled = True
    place = call.place if call is not None else places.user_place(frame)
    if draft is None or draft.place is not place:
        draft = state.journal.clipping = clip_begins(state, place, frame)
    note_clip(state, draft, account, grad)


def note_clip(state: State, draft: Draft, account: Account, grad: Tensor | None) -> None:
    """What one gradient was when a call of clipping took hold of it."""
    account.joined = draft
    draft.accounts.append(account)
    fields, label, deposits = draft.fields, account.status, account.deposits
    if label == FRESH:
        if account.owned or not state.books.optimizers:  # a scaler takes the scale off what an optimizer holds
            note_scale(draft, account)
        # Gradients that no optimizer owns count too: they are in the norm, and nobody clears them.
        if not account.owned and deposits and deposits[0].steps < state.progress.steps:
            label = "orphan"
    status = fields["status"]
    if label == USED and not status and not fields["measured"]:
        fields["measured"] = state.budget.may_look("late clips")  # it looks wrong, unless it never shortens anything
    status[label] = status.get(label, 0) + 1
    if grad is not None and fields["measured"]:
        fields["square"] += norm_of([grad]) ** 2
        if fields["function"] == "clip_grad_value_":
            fields["largest"] = max(fields["largest"], largest(grad))
    account.held(None)
    account.clipped = grad is not None


def clip_of_stranger(state: State, tensor: Tensor, grad: Tensor | None) -> None:
    """Clipping asked a tensor for its gradient that is no known parameter, as a copy of one."""
    call = state.progress.clips.get(threading.get_ident())
    if call is not None:
        if grad is None:
            call.strangers.add(id(tensor))
        else:
            call.filled = True


def clip_begins(state: State, place: Place | None, frame: FrameType) -> Draft:
    """Open the event of a clip call, with the limit it was given."""
    outer: FrameType | None = frame
    while outer is not None and not outer.f_code.co_name.startswith("clip_grad"):
        outer = outer.f_back if places.kind_of(outer.f_code.co_filename) == places.CLIP else None
    outer = outer or frame
    local = outer.f_locals
    return state.emit(
        Clip,
        place,
        (),
        function=outer.f_code.co_name,
        limit=number_of(local.get("max_norm", local.get("clip_value"))),
        limit_is_product=place is not None and source.limit_is_product(place.file, place.line),
        order=number_of(local.get("norm_type", 2.0)),
        scale=state.progress.scale,
        status={},
        measured=state.budget.may_look("clips", SAMPLES),
        square=0.0,
        largest=0.0,
    )


def clip_called(state: State, parameters: Any, function: str, limit: Any, frame: FrameType) -> object:
    """Clipping was called: where what it was given is an iterator that is used up, it will touch nothing."""
    if state.rhythm is not None and not is_spent(parameters) and state.rhythm.clip_called(function, limit, frame):
        return None
    clips, thread = state.progress.clips, threading.get_ident()
    before, (place, trail) = clips.get(thread), places.place_and_trail(frame)
    state.helped.add(trail)
    if place is not None:
        clips[thread] = ClipCall(place, number_of(limit))
    if is_spent(parameters):
        state.emit(Clip, place, (), function=function, status={}, spent=True)
    return before


def clip_ends(state: State, function: str, before: Any) -> None:
    """Clipping has returned."""
    if state.rhythm is not None and state.rhythm.clip_ends():
        return
    draft, clips, thread = state.journal.clipping, state.progress.clips, threading.get_ident()
    call = clips.get(thread)
    if call is not None and call is not before and call.strangers and not call.filled:
        state.emit(Clip, call.place, (), function=function, limit=call.limit, status={}, strangers=len(call.strangers))
    if draft is not None and draft.place is not None and source.clips_one_group(draft.place.file, draft.place.line):
        draft.fields["first_group"] = whose_group(state, draft.accounts)
    if draft is not None and (place := draft.place) is not None:
        if (line := source.whole_is_clipped(place.file, place.line)) is not None:
            draft.fields["whole_at"] = Place(place.file, line, place.function)
    if before is not None:
        clips[thread] = before
    else:
        clips.pop(thread, None)
        state.journal.clipping = None  # another call, of the same parameters, is another clip


def whose_group(state: State, accounts: list[Account]) -> int | None:
    """The optimizer of several groups whose first or last one is this, apart from what has no gradient. One whose step
    the user wrote may shorten the gradients of the others itself."""
    clipped = {id(account.ref()) for account in accounts}
    for entry in reversed(accounts[0].owners if accounts else []):
        optimizer: Any = entry.ref()
        groups: list[dict[str, Any]] = getattr(optimizer, "param_groups", [])
        code = getattr(inspect.unwrap(type(optimizer).step), "__code__", None) if groups else None
        if code is not None and places.kind_of(code.co_filename) == places.USER:
            continue
        for held in [one["params"] for one in (groups[0], groups[-1])] if len(groups) > 1 else ():
            if clipped <= set(map(id, held)) and all(id(p) in clipped for p in held if grad_of(p) is not None):
                return entry.number
    return None


def is_spent(iterator: Any) -> bool:
    """Whether a generator, or what `filter` and `map` made of one, has ended; asked without taking anything from it."""
    if isinstance(iterator, GeneratorType):
        return iterator.gi_frame is None
    if isinstance(iterator, (filter, map)):
        made_of: Any = iterator.__reduce__()[1]  # the function, then what it goes over
        return any(is_spent(one) for one in made_of[1:])
    return False


def note_scale(draft: Draft, account: Account) -> None:
    """Whether a gradient that is clipped or edited carries the loss scale."""
    if account.deposits and account.deposits[-1].scaled:
        draft.fields["scaled"] = True


# ------------------------------------------------------------------ edits


def settle(state: State, account: Account) -> None:
    """Bring one account up to date with what was done to its `.grad` behind our back."""
    parameter = account.ref()
    if parameter is None:
        return
    grad = grad_of(parameter)
    if grad is None:
        if account.status != EMPTY and not state.progress.passes:
            book_clear(state, account, account.read, EMPTY)
        account.version = -1
        return
    version = grad._version
    changed = version != account.version
    if not (changed or account.clipped or account.read is not None or account.status == EMPTY or state.digests):
        return  # nobody took hold of it
    if account.status == EMPTY:
        # A gradient nobody saw coming: put there by C++ code, or by a hook that ran before ours.
        current = current_pass(state)
        if current is not None:
            book_deposit(state, account, parameter, current)
        else:
            account.assign(account.read)
        account.version, account.read = version, None
        return
    if changed and not account.clipped:
        book_change(state, account, grad)
    elif account.read is not None and not changed and account.before and account.status in (USED, SKIPPED, FRESH):
        # `.data` and `.numpy()` change values without a trace in the version. What was zero from the start is not
        # cleared: `before` says so.
        if is_zero(grad):
            state.budget.refund(("held", account.read))
            book_clear(state, account, account.read, ZERO)
        elif not account.clipped and abs(digest_of(grad).imag - account.before) > UNTOUCHED * account.before:
            norms = math.sqrt(account.before), norm_of([grad])
            draft = book_change(state, account, grad)
            if draft is not None and not state.digests and account.status == FRESH and account.read is not None:
                note_measured(draft, account.read, norms)
    if state.digests and account.digest is not None and account.status == FRESH:
        book_hidden_change(state, account, grad, changed)
    account.looked(version, account.digest)


def arrived(state: State, account: Account, grad: Tensor) -> None:
    """What the pass under way has brought, before anybody takes hold of it: the pass notes that only at its end."""
    current = current_pass(state)
    if current is not None and account.seen == current.deposit.number and account.read is None:
        account.version = grad._version
        if state.digests:
            account.digest = digest_of(grad)


def note_measured(draft: Draft, place: Place, norms: tuple[float, float]) -> None:
    """A gradient was changed with no trace in its version: by a line that was to take its measure, or on a copy?"""
    view = buffers.changed_view(place.file, place.line)
    if view is not None and (view.read or view.may_be_copy):
        draft.fields.setdefault("norms", norms)
        draft.fields["measured_at" if view.read else "copy_changed_at"] = view.place


def book_change(state: State, account: Account, grad: Tensor) -> Draft | None:
    """A gradient was changed in place: cleared by hand, or edited. Returns what is written of an edit."""
    place = account.read
    zero = account.before != 0.0 and is_zero(grad)
    # Where nobody looked before, a line that changes other gradients and leaves numbers has found zeros here.
    if zero and not (account.before is None and account.status == FRESH and place in state.edited_at):
        state.budget.refund(("held", place))
        book_clear(state, account, place, ZERO)
        return None
    if not zero and account.before != 0.0:
        state.edited_at.add(place)
    whole = bool(account.piled) and place is not None and source.overwrites_gradient(place)
    if whole:
        note_grown(state, account, stepped=False)
    how = "assigned" if account.status == ZERO else "in place"
    draft = state.join(Edit, place, account, how, how=how, status=account.status)
    draft.fields["adds_gradient"] = place is not None and bool(_ADDS.search(place.code))
    if place is not None and "kept_at" not in draft.fields:
        draft.fields["kept_at"] = buffers.kept_gradient(place.file, place.line)
    if account.status != ZERO:
        note_factor(draft, account, grad)
    if account.status == FRESH:
        note_scale(draft, account)
    account.edit(place, whole)
    return draft


def changed_by_hook(state: State, account: Account, grad: Tensor) -> None:
    """At the end of a pass: a hook of the user's took hold of what it had made of a gradient, and left other values."""
    before = account.before
    if before and account.read is not None and account.status == FRESH and not is_zero(grad):
        if abs(digest_of(grad).imag - before) > UNTOUCHED * before:
            book_change(state, account, grad)


def book_assignment(state: State, account: Account, place: Place | None, value: Tensor) -> None:
    """The user's code puts a gradient there."""
    draft = state.join(Edit, place, account, "assigned", how="assigned", status=account.status)
    if account.status == FRESH:
        note_factor(draft, account, value)
    if len(account.pieces) > 1 and "carried" not in draft.fields:
        draft.fields["carried"] = what_came_back(account.pieces, digest_of(value).real)
    if account.piled:
        note_grown(state, account, stepped=False)
    if account.status == FRESH and account.assigned is not None and not account.taken:
        draft.fields.setdefault("overwrote", []).append(account)
    account.assign(place)


def what_came_back(pieces: list[float], now: float) -> str:
    """Of gradients that were read and thrown away one by one: whether all of them came back, or the last alone.

    A sum over the entries is linear: that of the total is the total of the sums.
    """
    total, last, most = sum(pieces), pieces[-1], max(abs(piece) for piece in pieces)
    near = 1e-3 * most
    if abs(total - last) <= 10 * near:
        return ""  # they cannot be told apart
    if any(abs(now - one) <= near for one in (last, last / len(pieces))):
        return "last"
    return "all" if any(abs(now - one) <= near for one in (total, total / len(pieces))) else ""


def note_factor(draft: Draft, account: Account, grad: Tensor) -> None:
    """By what the norm of this gradient has changed, where it was taken when the user's code took hold of it."""
    if account.before:
        draft.fields.setdefault("factors", []).append(math.sqrt(digest_of(grad).imag / account.before))
    account.before = None


def book_hidden_change(state: State, account: Account, grad: Tensor, changed: bool) -> None:
    """With digests: notice values that changed although no version counter moved."""
    now = digest_of(grad)
    # As text: what is not a number is the same as itself.
    if repr(now) != repr(account.digest) and not changed and not account.clipped:
        draft = state.join(Edit, account.read, account, "hidden", how="hidden", status=account.status)
        before, after = math.sqrt((account.digest or 0j).imag), math.sqrt(now.imag)
        draft.fields.setdefault("norms", (before, after))
        draft.fields.setdefault("meant", account.read is not None and _is_meant(account.read))
    account.digest = now


def _is_meant(place: Place) -> bool:
    """Whether a line writes to a gradient behind autograd's back, by its text, and does not only take its measure."""
    view = buffers.changed_view(place.file, place.line)
    return bool(_MEANT.search(place.code)) or (view is not None and not view.read)


def unsettled(state: State, accounts: Iterable[Account]) -> Iterator[tuple[Account, Tensor]]:
    """Those of these accounts, with their parameters, to whose gradient something may have happened since we last
    looked: somebody took hold of it, or it is another one. One loop, since it goes over all of them again and again."""
    digests = state.digests
    for account in accounts:
        parameter = account.ref()
        if parameter is None:
            continue
        grad = grad_of(parameter)
        if grad is None:
            if account.status == EMPTY:
                continue
        elif account.version == grad._version and account.read is None and not (account.clipped or digests):
            if account.status != EMPTY:
                continue
        yield account, parameter


def settle_each(state: State, accounts: Iterable[Account]) -> None:
    """Bring those of these accounts up to date that may need it."""
    for account, _ in unsettled(state, accounts):
        settle(state, account)


def settle_all(state: State) -> None:
    """Bring every account up to date that may need it."""
    for account, parameter in unsettled(state, state.within_reach()):
        hand_step(state, account, parameter)
        settle(state, account)


# ------------------------------------------------------------------ steps by hand


def hand_step(state: State, account: Account, parameter: Tensor) -> None:
    """Notice that a parameter without optimizer was changed after its gradient was read: a step by hand.

    Not where clipping alone has read it: averages put other weights in for an evaluation, and take them out again.
    """
    if account.owned or account.status != FRESH or account.taken_at is None:
        return
    moved = parameter._version != account.written
    if not moved and account.print is not None and state.budget.may_look("print", 4000):
        moved = fingerprint(parameter) != account.print
    if not moved or is_lent(state, account):
        return
    open_step = next((one for (kind, _, key), one in state.journal.groups.items() if key == "by hand"), None)
    known = open_step is not None  # a step is one however many lines it has, one for each parameter say
    draft = state.join(Step, open_step.place if open_step is not None else account.read, account, "by hand")
    tally(draft, [account])
    if account.piled:
        note_grown(state, account, stepped=True)
    account.use(-1)
    account.stands(parameter, None)
    if not known:
        progress = state.progress
        progress.steps_by_hand += 1
        progress.stepped(progress.steps_by_hand)
        state.journal.window_closed()
        state.say_step()


def is_lent(state: State, account: Account) -> bool:
    """Whether an optimizer steps another parameter by this very gradient, as that of a model which workers share."""
    grad = account.grad
    if grad is not None and any(one.owned and one.grad is grad for one in state.within_reach()):
        account.lent = True
    return account.lent


# ------------------------------------------------------------------ deposits


def current_pass(state: State) -> Pass | None:
    """The backward pass a hook belongs to: this thread's, or on a GPU's own threads the one under way."""
    passes = state.progress.passes
    if len(passes) < 2:
        return passes[0] if passes else None
    thread = threading.get_ident()
    for one in reversed(passes):
        if one.thread == thread:
            return one
    return passes[-1]


_PUSHES = re.compile(r"fgm|pgd|awp|advers|attack|perturb|(?<![a-z])adv(?![a-z])", re.IGNORECASE)
"""Names of what moves weights against the loss for a moment: its gradient is often added to the other on purpose."""


def book_deposit(state: State, account: Account, parameter: Tensor, current: Pass, as_it_was: bool = False) -> None:
    """Book that a backward pass has added to one gradient; `as_it_was` if the parameter is known to have been then what
    its last step had left."""
    deposit = current.deposit
    if account.seen == deposit.number and account.status != EMPTY:
        return  # booked before, and perhaps used and zeroed since, inside the backward itself
    taken_at = account.taken_at
    onto = account.deposit(deposit, current.thread)
    current.touched.append(account)
    if onto == USED:
        current.used.append(account)
    elif onto == SKIPPED:
        current.skipped.append(account)
    elif onto == FRESH:
        current.fresh += 1
    if account.owned and parameter._version != account.written and not as_it_was:
        account.written = parameter._version
        state.rewritten = state.rewritten or account.steps > 0
        account.shifted = account.total > 1
        if onto == FRESH and len(account.deposits) > 1:
            at = moved_at(state, taken_at, deposit.place)
            if at is None or not _PUSHES.search(at.code):
                current.moved.append(account)
                current.moved_at = current.moved_at or at
    if state.reference is not None:
        grad = grad_of(parameter)
        if grad is not None:
            account.keep_increment(grad)


def moved_at(state: State, taken_at: Place | None, caller: Place | None) -> Place | None:
    """From where in the caller's function the weights were changed, if by what took hold of their gradients last."""
    if taken_at is None or caller is None or not source.changes_in_place(taken_at.file, taken_at.line):
        return None
    calls = state.read_at.get(taken_at, ())
    return next((one for one in calls if (one.file, one.function) == (caller.file, caller.function)), None)


def flush(state: State, one: Pass) -> None:
    """Write the accumulations of a pass so far as one event."""
    if len(one.touched) == one.flushed:
        return
    draft = state.emit(
        Accumulate,
        one.draft.place,
        one.touched[one.flushed :],
        pass_number=one.deposit.number,
        onto_fresh=one.fresh,
        onto_used=one.used or (),
        onto_skipped=one.skipped or (),
        moved=one.moved or (),
        moved_at=one.moved_at,
    )
    draft.thread = one.draft.thread
    one.used, one.skipped, one.moved = [], [], []
    one.flushed = len(one.touched)
