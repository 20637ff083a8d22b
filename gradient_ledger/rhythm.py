"""A window that repeats the one before it is counted, not written again.

Most training loops do the same in every window: the same calls from the same lines, that reach the same parameters in
the same order. Once two windows in a row were alike in all that is written down, their events are what is expected of
the next one, beat by beat. A tap whose call is the one expected has nothing more to do. At the first that is not,
or before a window of which something is to be looked at, all that was only counted is written down, by the same
functions as ever, and the ledger goes on as if it had been writing all the time.

What is looked at in every window is looked at here, too: whether a loss is finite, and a small gradient.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gradient_ledger import gradients, graph, passes, places, steps, surroundings
from gradient_ledger.account import EMPTY, USED, Account, Deposit, grad_of
from gradient_ledger.books import ModuleAccount, OptimizerAccount
from gradient_ledger.budget import LOOKS, SAMPLES
from gradient_ledger.events import Accumulate, Backward, Clear, Clip, Event, Forward, Step, Trail
from gradient_ledger.journal import Draft, copy_of
from gradient_ledger.progress import ClearCall, ClipCall, Pass
from gradient_ledger.state import State
from gradient_ledger.tally import rate_of
from gradient_ledger.tensors import number_of, seems_finite

START = 60
"""Windows of one ledger that are always written: the first ones are looked at in many ways."""
PATIENCE, MOST_PATIENCE = 2, 256
"""Windows until the next trial where two were not alike, and where that was so again and again."""
WORTH = 4
"""Windows that must be left until the next one that something is looked at in."""
USER_FRAMES = 3
"""Of the user's frames, those that tell one call of a function from another; as in a `Trail`."""

FORWARD, BACKWARD, DEPOSIT, BACKWARD_END, CLIP, READ, CLIP_END, STEP, STEP_END, CLEAR, CLEARED, CLEAR_END = range(12)

_FIELDS: dict[type[Event], frozenset[str]] = {
    Forward: frozenset("model training grad region".split()),
    Backward: frozenset("pass_number scaled retain_graph gradient by_itself root reduction".split()),
    Accumulate: frozenset("pass_number onto_fresh onto_used onto_skipped moved moved_at".split()),
    Clip: frozenset("function limit limit_is_product order scale status measured square largest first_group".split()),
    Clear: frozenset("how by full lost".split()),
    Step: frozenset(
        "optimizer inside_backward inside restored region rate fresh none zeros stale frozen skipped used_by mixed "
        "rewound assigned passes pass_numbers trails scaled last_pass_at low_precision "
        "batch_norm batch_norm_names batch_norm_at".split()
    ),
}
"""The kinds of events that may repeat, and what may be written of them: anything else is to be written each time."""
_BLANK = {
    Forward: ("region",),
    Backward: ("scaled", "retain_graph", "gradient", "by_itself"),
    Accumulate: ("onto_used", "onto_skipped", "moved", "moved_at"),
    Clip: ("scale", "measured"),
    Clear: ("lost",),
    Step: "inside_backward inside restored region zeros stale skipped mixed rewound assigned".split(),
}
"""Of these, what must say no or nothing."""


class Beat:
    """One thing that a tap is to tell next."""

    __slots__ = ("account", "draft", "kind", "looks", "module", "sign", "site", "stack", "trail")

    def __init__(self, kind: int, draft: Draft, account: Account | None = None):
        self.kind, self.draft, self.account = kind, draft, account
        self.module: ModuleAccount | None = None
        self.looks = False
        """For the end of a pass: whether a small gradient is looked at there."""
        self.stack: tuple[tuple[CodeType, int], ...] = ()
        """The frames the call came from, once it has come."""
        self.sign: Any = None
        """What tells quickly that a loss is described as this one was."""
        self.site: Any = None
        self.trail: Trail = ()


class Heard(NamedTuple):
    """A window that has just been written, and how everything stands after it."""

    entry: OptimizerAccount
    drafts: list[Draft]
    looks: dict[Hashable, int]
    passes: int
    number: int
    totals: list[int]
    standing: list[tuple[Any, ...]]


class Listener:
    """Finds out whether windows repeat one another; it listens seldom where they do not."""

    __slots__ = ("before", "patience", "wait")

    def __init__(self) -> None:
        self.before: Heard | None = None
        self.patience, self.wait = PATIENCE, START

    def window_ends(self, state: State, entry: OptimizerAccount) -> None:
        """A window is written: whether the next ones are expected to be like it and the one before."""
        if self.wait > 0:
            self.wait -= 1
            return
        before, now = self.before, _heard(state, entry) if _is_plain(state, entry) else None
        if before is None and now is not None:
            self.before = now
            return
        self.before = None
        found = _learn(state, before, now) if before is not None and now is not None else None
        if found is not None:
            state.rhythm = found
        else:
            self._wait_longer()

    def left(self, windows: int) -> None:
        """The rhythm is over after so many windows."""
        if windows > 2 * PATIENCE:
            self.patience = PATIENCE
        else:
            self._wait_longer()

    def _wait_longer(self) -> None:
        self.wait, self.patience = self.patience, min(2 * self.patience, MOST_PATIENCE)


# ------------------------------------------------------------------ whether two windows are alike


def _is_plain(state: State, entry: OptimizerAccount) -> bool:
    """Whether nothing is under way, and nothing is listened for that calls for more than is written down."""
    progress, thread = state.progress, threading.get_ident()
    under_way = progress.passes or progress.clearing or progress.clips or progress.scaler_steps
    waiting = progress.runs.get(thread) or progress.graphless.get(thread)
    blocks = any(region.depth for region in progress.regions.values()) or any(progress.stepping.values())
    listens = state.close_look or state.digests or state.reference or state.retains or state.sharing or state.inputs
    models = state.evaluations or state.undone or state.withdrawn or state.followed or entry.wrapper
    if under_way or waiting or blocks or progress.scaling or listens or models or len(state.threads) > 1:
        return False
    mine = set(entry.accounts)
    for account in state.books.accounts:
        own = account in mine
        if account.status != EMPTY and not (own and account.status == USED):
            return False
        if not own and account.grad is not None:
            return False
    return True


def _heard(state: State, entry: OptimizerAccount) -> Heard:
    return Heard(
        entry,
        state.journal.window(),
        state.budget.looks(),
        state.progress.pass_number,
        state.journal.number,
        [account.total for account in state.books.accounts],
        [_standing(account) for account in state.books.accounts],
    )


def _standing(account: Account) -> tuple[Any, ...]:
    """All that what happens next to a gradient may depend on, apart from counts."""
    return (
        account.status,
        account.used_by,
        account.mixed,
        account.taken,
        account.finite,
        account.given,
        account.owned,
        account.trains,
        account.clipped,
        account.thread,
        account.shifted,
        account.rewritten,
        account.hooks,
        account.read is None,
        account.before is None,
        account.edited is None,
        account.assigned is None,
        account.taken_at is None,
        len(account.deposits) + len(account.increments) + len(account.pieces) + len(account.piled),
    )


def _learn(state: State, before: Heard, now: Heard) -> Rhythm | None:
    """What to expect of the next windows, if the last two were alike."""
    between = now.passes - before.passes
    if now.entry is not before.entry or len(now.drafts) != len(before.drafts) or now.standing != before.standing:
        return None
    if now.number - before.number != len(now.drafts):
        return None
    if not all(_repeats(one, other, between) for one, other in zip(before.drafts, now.drafts, strict=True)):
        return None
    beats = _beats(now.entry, now.drafts)
    if beats is None:
        return None
    more = {doubt: count - before.looks.get(doubt, 0) for doubt, count in now.looks.items()}
    more = {doubt: count for doubt, count in more.items() if count}
    left = _windows_left(now, more)
    if state.progress.loading is not None and state.progress.data_passes <= SAMPLES:  # their ends are looked at
        left = min(left, state.progress.loading.left() // max(between, 1) - 1)
    counts = [total - earlier for total, earlier in zip(now.totals, before.totals, strict=True)]
    deposits = [one.account for one in beats if one.kind == DEPOSIT]
    if left < WORTH or any(n != deposits.count(a) for a, n in zip(state.books.accounts, counts, strict=True)):
        return None
    return Rhythm(state, now.entry, now.drafts, beats, between, left, more, counts)


def _repeats(one: Draft, other: Draft, between: int) -> bool:
    """Whether two events are the same but for their numbers, `between` passes and one step apart."""
    if one.kind is not other.kind or one.place is not other.place or one.trail != other.trail:
        return False
    if one.accounts != other.accounts or one.thread != other.thread or one.depth != other.depth:
        return False
    if one.fields.keys() != other.fields.keys() or (other.step, other.window) != (one.step + 1, one.window + 1):
        return False
    shifted = copy_of(one, 1, between).fields
    return all(shifted[key] == value for key, value in other.fields.items())


def _beats(entry: OptimizerAccount, drafts: list[Draft]) -> list[Beat] | None:
    """What the taps tell in a window with these events; None where some are of a kind that is to be written."""
    beats: list[Beat] = []
    trails = dict(zip(drafts[-1].fields.get("pass_numbers", ()), drafts[-1].fields.get("trails", ()), strict=True))
    small, piled = entry.smallest(), 0
    for at, draft in enumerate(drafts):
        kind, fields = draft.kind, draft.fields
        if kind not in _FIELDS or not _FIELDS[kind].issuperset(fields) or any(fields[one] for one in _BLANK[kind]):
            return None
        if kind is Forward:
            beats.append(Beat(FORWARD, draft))
        elif kind is Backward:
            if fields["pass_number"] not in trails:
                return None
            beats.append(Beat(BACKWARD, draft))
            beats[-1].trail = trails[fields["pass_number"]]
            after = drafts[at + 1]
            touched = after.accounts if after.kind is Accumulate else []
            beats += [Beat(DEPOSIT, after, account) for account in touched]
            beats.append(Beat(BACKWARD_END, draft))
            piled += small in touched
            beats[-1].looks = small in touched and piled > 3 and piled & (piled - 1) == 0
        elif kind is Accumulate:
            if drafts[at - 1].kind is not Backward or at == 0:
                return None
        elif kind is Clip:
            beats.append(Beat(CLIP, draft))
            beats += [Beat(READ, draft, account) for account in draft.accounts]
            beats.append(Beat(CLIP_END, draft))
        elif kind is Clear:
            if fields["by"] != entry.number or fields["how"] != "none":
                return None
            beats.append(Beat(CLEAR, draft))
            beats += [Beat(CLEARED, draft, account) for account in draft.accounts[: fields["full"]]]
            beats.append(Beat(CLEAR_END, draft))
        else:
            if fields["optimizer"] != entry.number or at + 1 != len(drafts) or not draft.trail:
                return None
            beats += [Beat(STEP, draft), Beat(STEP_END, draft)]
            beats[-2].trail = draft.trail
    return beats


def _windows_left(now: Heard, more: dict[Hashable, int]) -> int:
    """How many windows there are until one of which something is looked at: at steps, and at passes of one line, 1, 2,
    4, 8, …; none where something else is counted that may be looked at."""
    step = now.entry.steps  # of the next window
    left = (1 << step.bit_length()) - 1 - step if step & (step - 1) else 0
    for doubt, count in more.items():
        asked = now.looks[doubt]
        if isinstance(doubt, tuple) and doubt[0] == "losses" and asked > LOOKS:
            left = min(left, ((1 << asked.bit_length()) - 1 - asked) // count)
        elif doubt != "clips" or asked <= SAMPLES:
            return 0
    return left


# ------------------------------------------------------------------ beat by beat


class Rhythm:
    """What is expected while every window repeats the one before it, and how far the present one is.

    Each question of a tap is answered with whether its call was the one expected. If not, everything is written down
    by then, and the call is to be taken as any other.
    """

    __slots__ = (
        "accounts",
        "at",
        "beats",
        "between",
        "counts",
        "drafts",
        "entry",
        "left",
        "more",
        "rate",
        "state",
        "thread",
        "token",
        "tokens",
        "windows",
    )

    def __init__(
        self,
        state: State,
        entry: OptimizerAccount,
        drafts: list[Draft],
        beats: list[Beat],
        between: int,
        left: int,
        more: dict[Hashable, int],
        counts: list[int],
    ):
        self.state, self.entry, self.drafts, self.beats = state, entry, drafts, beats
        self.between = between
        """Backward passes of one window."""
        self.left = left
        """Windows until one that must be written."""
        self.more = more
        """How often each doubt is asked about in one window."""
        self.counts = counts
        """Deposits of one window, by account."""
        self.accounts = [account for account in entry.accounts if account.status == USED]
        self.rate: float | None = drafts[-1].fields["rate"]
        self.thread = threading.get_ident()
        self.at, self.windows = 0, 0
        self.tokens = [copy_of(draft, 0, 0) for draft in drafts if draft.kind in (Clip, Step)]
        """In turn, what stands for the clip under way: the taps ask whether a gradient belongs to it. One more than
        there are clips in a window, so that none is asked of what the last one has left."""
        self.token = 0

    # -------------------------------------------------------------- what the taps ask

    def forward_again(self, module: nn.Module, frame: FrameType) -> bool:
        """Whether the model that is about to run is the one expected, and called as before; if not, nothing is said of
        it yet: it may be one that is no model of its own."""
        beat = self.beats[self.at]
        entry = beat.module
        if entry is None or beat.kind != FORWARD or entry.ref() is not module or not beat.stack:
            return False
        fields = beat.draft.fields
        if module.training != fields["training"] or torch.is_grad_enabled() != fields["grad"]:
            return False
        if not (module.training or fields["grad"]) or not self._comes_from(beat, frame):
            return False
        entry.calls += 1
        if entry.norm and module.training and fields["grad"]:
            entry.window_calls += 1
        self.at += 1
        return True

    def forward(self, entry: ModuleAccount, training: bool, learning: bool, frame: FrameType) -> bool:
        """A model is about to run."""
        beat = self.beats[self.at]
        fields = beat.draft.fields
        if beat.kind == FORWARD and fields["training"] == training and fields["grad"] == learning:
            if beat.module is None:
                root = entry.root
                label = (f"{root.label}.{entry.name}" if entry.name else root.label) if root is not None else ""
                plain = root is not None and not root.kind and fields["model"] == label
                if plain and places.user_place(frame) is beat.draft.place:
                    beat.module, beat.site = entry, places.site(frame)
            if beat.module is entry and self._comes_from(beat, frame, 1):
                self.at += 1
                return True
        return self.leave()

    def backward_begins(self, root: Any, gradient: Any, retain: bool, frame: FrameType) -> bool:
        """`backward` was called."""
        beat = self.beats[self.at]
        if beat.kind == BACKWARD and gradient is None and not retain and isinstance(root, Tensor):
            node, fields = root.grad_fn, beat.draft.fields
            sign = graph.sign(node) if node is not None else None
            alike = sign is not None and sign == beat.sign
            if not alike and node is not None:
                known = graph.describe(node, False)
                alike = known == {"root": fields["root"], "reduction": fields["reduction"]}
                beat.sign = sign if alike else None
            if alike and rate_of(self.entry) == self.rate and not passes.is_doubtful(root):
                if self._comes_from(beat, frame):
                    self.at += 1
                    return True
        return self.leave()

    def deposited(self, account: Account, parameter: Tensor) -> bool:
        """A gradient was accumulated. Of what was frozen after its forward autograd tells, too, and there is none."""
        beat = self.beats[self.at]
        if beat.account is account and beat.kind == DEPOSIT and parameter._version == account.written:
            if grad_of(parameter) is not None:
                self.at += 1
                return True
        return self.leave()

    def backward_ends(self) -> bool:
        """The backward pass is over."""
        beat = self.beats[self.at]
        if beat.kind == BACKWARD_END and not (beat.looks and not self._is_finite()):
            self.at += 1
            return True
        return self.leave()

    def clip_called(self, function: str, limit: Any, frame: FrameType) -> bool:
        """Clipping was called."""
        beat = self.beats[self.at]
        fields = beat.draft.fields
        if beat.kind == CLIP and fields["function"] == function and fields["limit"] == number_of(limit):
            if self._comes_from(beat, frame, 1):
                self.token = (self.token + 1) % len(self.tokens)
                self.state.journal.clipping = self.tokens[self.token]
                self.at += 1
                return True
        return self.leave()

    def read(self, account: Account | None, kind: int) -> bool:
        """A gradient was read: by clipping, if that is what is expected."""
        beat = self.beats[self.at]
        if kind == places.CLIP and beat.kind == READ and beat.account is account and account is not None:
            account.joined = self.tokens[self.token]
            self.at += 1
            return True
        return self.leave()

    def clip_ends(self) -> bool:
        """Clipping has returned."""
        if self.beats[self.at].kind == CLIP_END:
            self.state.journal.clipping = None
            self.at += 1
            return True
        return self.leave()

    def step_begins(self, optimizer: Any, closure: Any, frame: FrameType, depth: int) -> bool:
        """An optimizer is about to step."""
        beat, entry = self.beats[self.at], self.entry
        if beat.kind == STEP and entry.ref() is optimizer and closure is None and depth == beat.draft.depth:
            held = 0
            groups: list[dict[str, Any]] = getattr(optimizer, "param_groups", [])
            for group in groups:
                held += len(group["params"])
            busiest = max([norm.window_calls for norm in self.state.books.norms], default=0)
            norms = busiest == max(beat.draft.fields.get("batch_norm", 0), min(busiest, 1))
            alike = held == entry.size and rate_of(entry) == self.rate and norms and entry.restored is None
            if alike and self._is_finite() and self._comes_from(beat, frame):
                self.at += 1
                return True
        return self.leave()

    def step_ends(self, optimizer: Any, depth: int) -> bool:
        """The optimizer has stepped, and with that the window is over."""
        beat, entry, state = self.beats[self.at], self.entry, self.state
        if beat.kind != STEP_END or entry.ref() is not optimizer or depth != beat.draft.depth:
            return self.leave()
        progress = state.progress
        progress.pass_number += self.between
        entry.steps += 1
        progress.stepped(entry.steps)
        entry.last_step = progress.steps
        state.journal.number += len(self.drafts)
        for account in self.accounts:
            parameter = account.ref()
            grad = grad_of(parameter) if parameter is not None else None
            if parameter is not None and grad is not None:
                account.version, account.written = grad._version, parameter._version
        for norm in state.books.norms:
            norm.window_calls = 0
        self.windows += 1
        self.left -= 1
        self.at = 0
        if not self.left:
            self.leave()
        state.say_step()
        return True

    def clear_begins(self, owner: Any, frame: FrameType | None) -> bool:
        """`zero_grad` was called."""
        beat = self.beats[self.at]
        if beat.kind == CLEAR and frame is not None and self.entry.ref() is owner:
            if not beat.stack:
                place, beat.trail = places.place_and_trail(frame)
                if place is not beat.draft.place:
                    return self.leave()
                self.state.helped.add(beat.trail)
            if self._comes_from(beat, frame):
                self.at += 1
                return True
        return self.leave()

    def cleared(self, account: Account | None, value: Any) -> bool:
        """A gradient is about to be set."""
        beat = self.beats[self.at]
        if value is None and beat.account is account and beat.kind == CLEARED:
            self.at += 1
            return True
        return self.leave()

    def clear_ends(self) -> bool:
        """`zero_grad` has returned."""
        if self.beats[self.at].kind == CLEAR_END:
            self.at += 1
            return True
        return self.leave()

    def _is_finite(self) -> bool:
        small = self.entry.smallest()
        grad = small.grad if small is not None else None
        return grad is None or seems_finite(grad)

    def _comes_from(self, beat: Beat, frame: FrameType | None, most: int = USER_FRAMES) -> bool:
        """Whether a call comes through the same frames as when it was first expected, and then by the same lines as
        before."""
        if threading.get_ident() != self.thread:
            return False
        if beat.stack:
            for code, at in beat.stack:
                if frame is None or frame.f_code is not code or frame.f_lasti != at:
                    return False
                frame = frame.f_back
            return True
        place, trail = places.place_and_trail(frame)
        if place is not beat.draft.place or (beat.trail and trail != beat.trail):
            return False
        beat.stack = tuple(_frames(frame, most))
        return True

    # -------------------------------------------------------------- what was counted is written

    def leave(self) -> bool:
        """Write down what was only counted, and expect nothing any more. False: no call is the one expected."""
        state = self.state
        if state.rhythm is self:
            state.rhythm = None
            state.journal.clipping = None
            self._write_windows()
            self._write_beats()
            if state.listener is not None:
                state.listener.left(self.windows)
        return False

    def _write_windows(self) -> None:
        """The windows that are over."""
        state, windows = self.state, self.windows
        if not windows:
            return
        passed = windows * self.between
        state.journal.repeat(self.drafts, windows, self.between)
        for account, count in zip(state.books.accounts, self.counts, strict=False):
            if count:
                account.came_again(windows * count, passed)
        state.budget.more({doubt: windows * count for doubt, count in self.more.items()})
        last = state.progress.last
        if last is not None and self.between:
            before = last.deposit
            deposit = Deposit(before.number + passed, before.place, before.trail, before.steps + windows, False, False)
            draft = copy_of(last.draft, windows, self.between, len(self.drafts))
            one = state.progress.last = Pass(deposit, draft, last.thread)
            one.touched, one.sum = last.touched, last.sum

    def _write_beats(self) -> None:
        """What has happened of the present window."""
        state, thread = self.state, self.thread
        progress, journal = state.progress, state.journal
        for beat in self.beats[: self.at]:
            kind, draft, account, place = beat.kind, beat.draft, beat.account, beat.draft.place
            parameter = account.ref() if account is not None else None
            if kind == CLEAR:
                progress.clearing[thread] = ClearCall(self.entry.number, place)
            elif kind == CLEARED and account is not None:
                gradients.book_clear(state, account, place, EMPTY)
            elif kind == CLEAR_END:
                call = progress.clearing.pop(thread)
                for one in draft.accounts[draft.fields["full"] :]:
                    gradients.clear_event(state, one, place, EMPTY, call)
            elif kind == FORWARD and beat.module is not None:
                fields = draft.fields
                surroundings.announce(state, beat.module, fields["training"], fields["grad"], place, beat.site)
            elif kind == BACKWARD:
                journal.close_groups()
                fields = {key: value for key, value in draft.fields.items() if key not in ("pass_number", "scaled")}
                passes.open_pass_at(state, place, beat.trail, False, False, fields)
                progress.last_run.pop(thread, None)
                progress.runs.pop(thread, None)
            elif kind == DEPOSIT and account is not None and parameter is not None:
                gradients.book_deposit(state, account, parameter, progress.passes[-1], as_it_was=True)
            elif kind == BACKWARD_END:
                passes.backward_ends(state, progress.passes[-1])
            elif kind == CLIP:
                if place is not None:
                    progress.clips[thread] = ClipCall(place, draft.fields["limit"])
            elif kind == READ and account is not None:
                if journal.clipping is None:
                    fields = draft.fields | {"status": {}}
                    fields.pop("first_group", None)
                    journal.clipping = state.emit(Clip, place, (), **fields)
                gradients.note_clip(state, journal.clipping, account, account.grad)
                if thread in progress.clips:
                    progress.clips[thread].filled = True
            elif kind == CLIP_END:
                gradients.clip_ends(state, draft.fields["function"], None)
            elif kind == STEP:
                steps.catch_up(state, self.entry, False)
                steps.weigh(
                    state, self.entry, steps.begin(state, self.entry, place, beat.trail, draft.depth, False, None)
                )


def _frames(frame: FrameType | None, most: int) -> Iterable[tuple[CodeType, int]]:
    """The frames from this one outwards up to so many of the user's own."""
    while frame is not None and most:
        yield frame.f_code, frame.f_lasti
        most -= places.kind_of(frame.f_code.co_filename) == places.USER
        frame = frame.f_back
