"""Averages of the weights by their numbers: how much of the newest weights each update takes, and what becomes of them.

An update is read from the arithmetic of the user's code during a closer look, whatever its form: `a * old + b * new`,
`old + b * (new - old)`, `lerp_`, `mul_().add_()`. That it is an average is told by its values alone: what an update
begins with must be what the last one ended with. Once one is known, its value is followed beside the steps of its
optimizer, so that an evaluation with the average can be told from one with the weights.
"""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from gradient_ledger import places, source, timetables
from gradient_ledger.account import Account
from gradient_ledger.averages import average_updated
from gradient_ledger.books import OptimizerAccount
from gradient_ledger.events import DrawnWeights, Place, WeightAverage
from gradient_ledger.tensors import HALVES, address, number_of

if TYPE_CHECKING:
    from gradient_ledger.closelook import CloseLook
    from gradient_ledger.state import State

MOST_OF_IT = 0.5
"""A share that has grown beyond this is no average's."""
ENTRIES = 16
"""Entries of a parameter that stand for it."""
MOST_KNOWN = 8
"""Averages that are kept apart on one line."""
LONE, FULL = 8, 4
"""Windows without an evaluation in which weights are compared, and evaluations with a clean end, until all is known."""
LASTS = 3
"""As many steps as a closer look lasts: what was seen more often was seen in two of them."""
MOST_STEPS = 4096
"""Steps for which an average is followed."""
LITTLE = 0.1
"""What an update of an average takes in where it is to change slowly."""
AT_FIRST = 2
"""Steps within which the first update of an average is seen."""
NEAR = 8
"""Frames in which the holder of a tensor is looked for."""
AVERAGES = re.compile(r"ema(?![a-z])|average|avg|shadow|swa(?![a-z])|polyak", re.IGNORECASE)
"""Names of averages: one that stands still is none."""

UPDATES = re.compile(
    r"(?<![a-z])ema(?![a-z])|update\w*(average|avg|shadow|teacher|target)|(average|avg|shadow|teacher|target|momentum)\w*update"
    r"|(soft|polyak)_?update",
    re.IGNORECASE,
)
"""Names of functions that update an average, and not what it is an average of. One that averages with fixed weights, as
`average_with_start`, may be meant to."""


class Mixture(NamedTuple):
    """What a tensor is made of: a multiple of weights, and a multiple of another tensor as it was."""

    share: float = 0.0
    source: Account | None = None
    rest: float = 0.0
    other: int = 0
    """Where the other one lies."""
    was: Tensor | None = None
    """Some of its entries."""

    @property
    def is_whole(self) -> bool:
        """Whether the shares of two things in it make up one."""
        both = self.source is not None and self.was is not None
        return both and self.rest > 0 and self.share > 0 and abs(self.share + self.rest - 1) < 1e-6

    def times(self, factor: float) -> Mixture:
        return self._replace(share=self.share * factor, rest=self.rest * factor)

    def plus(self, more: Mixture) -> Mixture | None:
        """The sum; None where it is made of too many things."""
        if self.source is not None and more.source is not None and self.source is not more.source:
            return None
        if self.was is not None and more.was is not None and self.other != more.other:
            return None
        mine = self if self.was is not None else more
        source = self.source or more.source
        return Mixture(self.share + more.share, source, self.rest + more.rest, mine.other, mine.was)


class DrawnBack(NamedTuple):
    """How often trained weights were drawn to something that stands still, one time like the other."""

    share: float
    rest: float
    last: Tensor
    """Some entries of what they are drawn to."""
    times: int
    drawn_to: str = ""
    """What the user's code calls the model that they are drawn to, or what else holds that."""
    swapped_at: Place | None = None
    """The call that hands over the two in each other's place, by its names."""
    moves: bool = False
    """Whether what they are drawn to ever changed."""
    before: Tensor | None = None
    """Some entries of the weights before that, the last time."""
    put_back: bool = False
    """Whether they were ever given these again: an average stood in their place for a while."""


class Average:
    """A running average of one parameter, as its updates show it."""

    def __init__(self, account: Account, place: Place | None, share: float, rest: float):
        self.account, self.place, self.share, self.rest = account, place, share, rest
        self.updates = self.consecutive = self.moves = 0
        """Updates seen that begin where the last one ended; those of them that came one step after the last; and those
        before which the last one had moved it, or else it may be something fixed."""
        self.changes = self.gaps = False
        """Whether its share was another one once; whether a step passed without an update."""
        self.first = share
        """Its share at the first update."""
        self.falls = False
        """Whether its share was ever less than before: the newest weights count for less and less in an average whose
        decay is warmed up."""
        self.written_back = False
        """Whether the weights were ever set to it before they stepped, as slow weights do."""
        self.clock = self.look = -1
        self.last: Tensor | None = None
        """Some of its entries after the last update."""
        self.took: Tensor | None = None
        """Those of the weights that it took in then."""
        self.was: Tensor | None = None
        """Its own before that."""
        self.entries = self.still = 0
        """Of averages in half precision: entries that an update was to move, and those of them that it left as they
        were."""
        self.half = ""
        """The half precision that it is computed in, whatever it is kept in."""
        self.once_at: Place | None = None
        """The line of a loop over epochs that makes the updates, behind all steps of one."""
        self.begun_at, self.begun_off = 0, 0.0
        """Steps that had been taken at the first update that was seen of the first average of these weights; and how
        far that was from them, in lengths of them."""

    @property
    def is_known(self) -> bool:
        """Whether it took in the weights with the same share, once a step or, by the name of the function that does so,
        now and then."""
        return not self.changes and self._goes_on

    @property
    def is_rising(self) -> bool:
        """Whether it took them in once a step, with a share that never fell and by now is most."""
        return self.changes and not self.falls and self.share > MOST_OF_IT and self._goes_on

    @property
    def _goes_on(self) -> bool:
        if self.share > MOST_OF_IT and 2 * self.moves <= self.updates:
            return False
        if self.written_back or self.updates < 2:
            return False
        named = self.place is not None and UPDATES.search(self.place.function) is not None
        return (self.consecutive > 1 and not self.gaps) or (named and self.moves > 1)

    def count_still(self, now: Tensor) -> None:
        """The next update begins here: which entries did the last one move, of those that differed from the weights?"""
        if (now.dtype in HALVES or self.half) and self.was is not None and self.took is not None:
            kind: torch.dtype = getattr(torch, self.half) if self.half else now.dtype
            was = self.was.to(kind)  # what is kept in another precision was rounded by the first update
            apart = was != self.took.to(kind)
            self.entries += int(apart.sum())
            self.still += int((apart & (now.to(kind) == was)).sum())

    def ends_at(self, now: Tensor) -> bool:
        """Whether a value is where the last update ended, and neither where it began nor what it took in.

        Where hardly anything moves, weights drawn towards fixed ones are close to these, and so is their mixture.
        """
        if self.last is None or self.took is None or self.was is None:
            return False
        off = float((now - self.last).norm())
        return 2 * off < min(float((now - self.was).norm()), float((now - self.took).norm()))


class Followed:
    """An average whose value is computed along, and the evaluations of the model that it is an average of."""

    def __init__(self, average: Average, steps: int):
        self.average, self.until = average, steps + MOST_STEPS
        self.values: list[Tensor] = []
        """What it holds; several where an evaluation may have copied it, swapped it or put it into the model."""
        self.before: list[Tensor] = []
        """The same one update ago."""
        self.after: Tensor | None = None
        """The weights after the last step."""
        self.windows = self.clean = 0
        self.forwards = 0
        self.evaluated: Tensor | None = None
        """The weights during an evaluation, where they were not those after the last step."""
        self.evaluated_at: Place | None = None
        self.address = 0
        """Where the weights lay after the last step."""
        self.kept: list[Place | None] = []
        """Evaluations with the average from which training went on."""
        self.moved = False
        """Whether the weights lie elsewhere since the last evaluation."""
        self.kept_state = False
        """Whether the last step left anything of this parameter in the state of the optimizer."""
        self.over = False


class Blends:
    """What one closer look sees of the arithmetic of weights."""

    def __init__(self, look: CloseLook):
        self.look, self.state, tap = look, look.state, look.tap
        state = self.state
        self.begun = state.progress.steps
        look.last_for_each()
        self.watched = [account for one in state.books.optimizers for account in watched(one)]
        self.shapes = {account.shape for account in self.watched}
        self.weights: dict[int, Account] = {}
        self.steps = -1
        self.known: dict[int, tuple[Any, Mixture]] = {}
        """By address: results whose parts are known, while they live, and what is being updated in place."""
        self.scaled: dict[int, float] = {}
        """By address: weights that were multiplied in place since the last step, and by what."""
        self.drawn: set[tuple[Account, Any, int]] = set()
        """Trained weights that a line has moved towards others."""
        self.pushed: set[tuple[Account, Any, int]] = set()
        """Those that it moves in another way, too."""
        for name in ("__mul__", "__rmul__", "mul"):
            tap(Tensor, name, self._multiplied, after=True)
        for name in ("__add__", "__radd__", "add"):
            tap(Tensor, name, self._added(1.0), after=True)
        for name in ("__sub__", "sub"):
            tap(Tensor, name, self._added(-1.0), after=True)
        tap(torch, "mul", self._multiplied, after=True)
        tap(torch, "add", self._added(1.0), after=True)
        tap(torch, "sub", self._added(-1.0), after=True)
        tap(Tensor, "lerp", self._drawn, after=True)
        tap(torch, "lerp", self._drawn, after=True)
        tap(Tensor, "clone", self._cloned, after=True)
        for name in ("to", "type", "half", "bfloat16", "float"):
            tap(Tensor, name, self._cast, after=True)
        tap(Tensor, "copy_", self._put)
        look.tap_data(put=self._data_put)
        for name in ("mul_", "__imul__"):
            tap(Tensor, name, self._in_place(self._multiplied))
        for name in ("add_", "__iadd__"):
            tap(Tensor, name, self._in_place(self._added(1.0)))
        for name in ("sub_", "__isub__"):
            tap(Tensor, name, self._in_place(self._added(-1.0)))
        tap(Tensor, "lerp_", self._in_place(self._drawn))
        tap(torch, "_foreach_mul_", self._each(self._multiplied))
        tap(torch, "_foreach_add_", self._each(self._added(1.0)))
        tap(torch, "_foreach_sub_", self._each(self._added(-1.0)))
        tap(torch, "_foreach_lerp_", self._each(self._drawn))

    def end(self) -> None:
        """Follow the averages that the look has made known."""
        look_ends(self.state)
        self.known.clear()

    # -------------------------------------------------------------- arithmetic

    def _of(self, tensor: Any, as_made: bool = False) -> Mixture | None:
        """What a tensor is made of; None for what has a graph, or the shape of no weights.

        An average that is made is one thing, and the next update begins with it, several of one step as well; but as it
        was made it tells what becomes of weights that are set to it.
        """
        if type(tensor) is not Tensor and not isinstance(tensor, nn.Parameter):
            return None
        if tensor.shape not in self.shapes or not tensor.is_floating_point():
            return None
        if tensor.requires_grad and torch.is_grad_enabled():
            return None
        if self.steps != self.state.progress.steps:
            self.steps = self.state.progress.steps
            self.known.clear()
            self.scaled.clear()
            held = [(p, account) for account in self.watched if (p := account.ref()) is not None]
            self.weights = {at: account for p, account in held if (at := address(p))}
        at = address(tensor)
        own = self.weights.get(at)
        if own is not None and own.shape == tensor.shape:
            return Mixture(1.0, own)
        found = self.known.get(at)
        if found is not None and found[0]() is None:
            del self.known[at]
        elif found is not None and (as_made or not found[1].is_whole):
            return found[1]
        return Mixture(0.0, None, 1.0, at, sample(tensor)) if at else None

    def _is(self, result: Tensor, mixture: Mixture | None, frame: FrameType, in_place: bool = False) -> None:
        """A tensor is, or is about to be, made of these."""
        at = address(result)
        if at in self.weights:
            if in_place and mixture is not None:
                mixture = mixture._replace(share=mixture.share * self.scaled.pop(at, 1.0))
                if mixture.was is None:
                    self.scaled[at] = mixture.share  # as in `mul_().add_()`
                else:
                    self._drawn_back(self.weights[at], at, mixture, frame)
            return
        own = self.look.weights.get(at) if in_place else None
        line = (own, frame.f_code, frame.f_lineno) if own is not None else None
        if mixture is None or not at:
            self.known.pop(at, None)
            if line is not None and line in self.drawn:
                self.pushed.add(line)
            return
        if mixture.source is not None and mixture.was is not None and 0 < mixture.share < 1 and 0 < mixture.rest < 1:
            goes_on = note(self.state, mixture, frame, self.begun, HALVES.get(result.dtype, ""))
            if goes_on and not in_place:  # what is changed in place is told of by those who listen to that
                average_updated(self.state, frame, mixture.source)
            if own is not None and line is not None and own.owned and own.trains and mixture.is_whole:
                # Once may be a push that the same line takes back, as that of an adversary of the weights.
                if line in self.drawn - self.pushed:
                    average_updated(self.state, frame, own, trained=True)
                self.drawn.add(line)
        # What is updated in place lives on; of its `.data`, each time another tensor, none might.
        self.known[at] = ((lambda: result) if in_place else weakref.ref(result)), mixture

    def _drawn_back(self, own: Account, at: int, mixture: Mixture, frame: FrameType) -> None:
        """Weights become a mixture of themselves and something else: does that stand still?"""
        place, was = places.user_place(frame), mixture.was
        if mixture.source is not own or was is None or not 0 < mixture.share < 1 or place is None:
            return
        known = self.state.drawn_back.get((own, place))
        if known is None:
            calls = places.calls(frame)
            to, swapped_at = holder(frame, mixture.other, at), source.swapped_at(calls) or updated_at(calls)
            known = DrawnBack(mixture.share, mixture.rest, was, 1, to, swapped_at)
        # By names that are swapped it is no decay towards a beginning, whatever its factors do.
        elif torch.equal(known.last, was) and (known.swapped_at is not None or abs(known.share - mixture.share) < 1e-6):
            known = known._replace(times=known.times + 1)
        else:
            known = known._replace(share=mixture.share, rest=mixture.rest, last=was, times=1, moves=True)
        parameter = own.ref()
        before = sample(parameter) if parameter is not None else None
        self.state.drawn_back[own, place] = known._replace(before=before)

    def _data_put(self, target: Tensor, value: Tensor, frame: FrameType) -> None:
        """Something is about to be put in the place of a tensor's data."""
        if address(target) in self.weights and address(target) != address(value):
            self._given(target, value, frame)

    def _put(self, given: tuple[Any, ...], frame: FrameType) -> None:
        """`copy_` is about to write into a tensor."""
        target, value = given[:2]
        if isinstance(target, Tensor) and address(target) in self.weights:
            self._given(target, value, frame)

    def _given(self, target: Tensor, value: Any, frame: FrameType) -> None:
        """Weights are about to be given a value: the one that they had before something else took their place?"""
        own = self.weights[address(target)]
        now = sample(value) if isinstance(value, Tensor) and value.shape == own.shape else None
        for key, one in self.state.drawn_back.items():
            if key[0] is own and one.before is not None and now is not None and torch.equal(one.before, now):
                self.state.drawn_back[key] = one._replace(put_back=True)
        self._is(target, self._of(value, as_made=True), frame, in_place=True)

    def _multiplied(self, given: tuple[Any, ...], frame: FrameType, in_place: bool = False) -> None:
        result, one, other = given[:3]
        if isinstance(one, Tensor) and one.dim() == 0:
            one, other = other, one
        mixture = self._of(one)
        if mixture is not None:
            factor = number_of(other) if not isinstance(other, Tensor) or other.dim() == 0 else None
            self._is(result, mixture.times(factor) if factor is not None else None, frame, in_place)

    def _added(self, sign: float) -> Callable[..., None]:
        def added(given: tuple[Any, ...], frame: FrameType, in_place: bool = False) -> None:
            result, one, other, *alpha = given
            left, right = self._of(one), self._of(other)
            if left is not None and (in_place or right is not None):
                factor = sign * ((number_of(alpha[0]) or 0.0) if alpha else 1.0)
                self._is(result, left.plus(right.times(factor)) if right is not None else None, frame, in_place)

        return added

    def _drawn(self, given: tuple[Any, ...], frame: FrameType, in_place: bool = False) -> None:
        result, one, other, by = given[:4]
        if isinstance(by, Tensor) and by.dim() and not isinstance(other, Tensor):
            other, by = by, other
        left, right = self._of(one), self._of(other)
        if left is not None and (in_place or right is not None):
            share = number_of(by) if not isinstance(by, Tensor) or by.numel() == 1 else None
            told = (left.times(1 - share), right.times(share)) if right is not None and share is not None else None
            self._is(result, told[0].plus(told[1]) if told is not None else None, frame, in_place)

    def _cloned(self, given: tuple[Any, ...], frame: FrameType) -> None:
        mixture = self._of(given[1])
        if mixture is not None and mixture.source is not None:
            self._is(given[0], mixture, frame)

    def _cast(self, given: tuple[Any, ...], frame: FrameType) -> None:
        """Another precision, and the same numbers but for rounding."""
        mixture = self._of(given[1]) if given[0] is not given[1] and isinstance(given[0], Tensor) else None
        if mixture is not None:
            self._is(given[0], mixture, frame)

    def _in_place(self, seen: Callable[..., None]) -> Callable[[tuple[Any, ...], FrameType], None]:
        return lambda given, frame: seen((given[0], *given), frame, in_place=True)

    def _each(self, seen: Callable[..., None]) -> Callable[[tuple[Any, ...], FrameType], None]:
        """The same for functions of lists: one call for each place in the lists."""

        def listed(given: tuple[Any, ...], frame: FrameType) -> None:
            if isinstance(given[0], (list, tuple)):
                for at, target in enumerate(given[0]):
                    row = [one[at] if isinstance(one, (list, tuple)) else one for one in given]
                    seen((target, *row), frame, in_place=True)

        return listed

    def averaged(self, owner: Any, model: Any, frame: FrameType) -> None:
        """torch's `AveragedModel` is about to take in the weights, by one of torch's own functions with a decay."""
        function = inspect.unwrap(owner.multi_avg_fn or owner.avg_fn or len)
        if getattr(function, "__module__", "") != torch.optim.swa_utils.__name__ or not int(owner.n_averaged):
            return
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        decay = next((number_of(cell.cell_contents) for name, cell in cells if name == "decay"), None)
        for mine, theirs in zip(owner.module.parameters(), model.parameters(), strict=False):
            if decay is not None and mine.shape == theirs.shape and theirs.shape in self.shapes:
                with torch.no_grad():
                    old, new = self._of(mine), self._of(theirs)
                    if old is not None and new is not None and new.source is not None:
                        self._is(mine, old.times(decay).plus(new.times(1 - decay)), frame, in_place=True)


def note(state: State, mixture: Mixture, frame: FrameType, look: int, half: str) -> bool:
    """Weights were mixed with something, perhaps in `half` precision: with what came of it the last time? Then it is an
    average of them."""
    account, was, place = mixture.source, mixture.was, places.user_place(frame)
    parameter = account.ref() if account is not None else None
    if account is None or was is None or parameter is None:
        return False
    took = sample(parameter)
    found = state.averages.setdefault((account, place), [])
    average = next((one for one in found if one.last is not None and is_close(one.last, was, half)), None)
    goes_on = average is not None
    if average is None:
        if len(found) >= MOST_KNOWN:
            evicted = found.pop(1)
            found[0].changes |= evicted.share != found[0].share
        average = Average(account, place, mixture.share, mixture.rest)
        average.half = half
        if not found:
            average.once_at = timetables.once_an_epoch(places.calls(frame))
            average.begun_at, average.begun_off = account.steps, _distance(was, took)
        found.append(average)
    else:
        average.updates += 1
        average.count_still(was)
        average.moves += average.ends_at(was)
        average.changes |= abs(average.share - mixture.share) > 1e-6
        average.falls |= mixture.share < average.share - 1e-6
        average.share, average.rest = mixture.share, mixture.rest
        average.consecutive += average.clock + 1 == account.steps
        average.gaps |= average.clock + 1 < account.steps and average.look == look
    average.clock, average.look, average.took, average.was = account.steps, look, took, was
    average.last = (was * mixture.rest + took * mixture.share).to(was.dtype)
    return goes_on


# ------------------------------------------------------------------ beside the steps


def step_begins(state: State, entry: OptimizerAccount) -> None:
    """An optimizer is about to step: are its weights those that its last step left?"""
    if state.close_look is not None:
        for average in (one for found in state.averages.values() for one in found):
            if entry in average.account.owners and average.clock == average.account.steps:
                average.written_back |= is_set_to(average)
    for one in state.followed.get(entry.number, ()):
        parameter = one.average.account.ref()
        if one.over or parameter is None or one.after is None:
            continue
        shown, one.evaluated = one.evaluated, None
        one.forwards = 0
        one.windows += 1
        if shown is None and one.windows > LONE:
            continue
        now = sample(parameter)
        if torch.equal(now, one.after):
            one.clean += shown is not None
        elif shown is None or not torch.equal(now, shown) or not is_average(one, shown):
            one.over = True  # somebody else writes the weights: what this is, nobody knows
            one.kept.clear()
        elif one.kept_state and not has_state(entry, parameter):
            one.over = True  # whoever empties the state of the optimizer starts anew from the average
            one.kept.clear()
        else:
            one.kept.append(one.evaluated_at)
            one.values = [shown, one.after]  # copied into the weights, or swapped with them
            one.moved = parameter.data_ptr() != one.address
        one.over = one.over or one.clean >= FULL or entry.steps >= one.until


def step_ends(state: State, entry: OptimizerAccount) -> None:
    """An optimizer has stepped: the averages that are followed take in what it left."""
    for one in state.followed.get(entry.number, ()):
        parameter = one.average.account.ref()
        if one.over or parameter is None:
            continue
        follow(one, parameter)
        one.kept_state = has_state(entry, parameter)


def follow(one: Followed, parameter: Tensor) -> None:
    """The weights have moved, and the average takes them in."""
    one.after, one.address = sample(parameter), parameter.data_ptr()
    share, one.before = one.average.share, one.values
    one.values = [value * (1 - share) + one.after * share for value in one.values]
    if one.moved:  # `p.data = average`: the step has moved that, too
        one.values.append(one.after)
        one.moved = False


def evaluated(state: State, root: Any, frame: FrameType) -> None:
    """A model ran that was not to be trained by it: with which weights?"""
    for one in (one for found in state.followed.values() for one in found):
        account = one.average.account
        parameter = account.ref()
        if one.over or account.root is not root or parameter is None or one.after is None or one.evaluated is not None:
            continue
        one.forwards += 1
        if one.forwards & (one.forwards - 1) == 0 and not torch.equal(now := sample(parameter), one.after):
            last = state.progress.last_step_at
            one.evaluated, one.evaluated_at = now, places.within(frame, last) or places.user_place(frame)


def look_ends(state: State) -> None:
    """A closer look is over: the averages it has made known are followed from here on, one an optimizer."""
    for found in state.averages.values():
        for average in found:
            entry = average.account.owners[-1] if average.account.owners else None
            whole = abs(average.share + average.rest - 1) < 1e-4
            known = average.is_known and whole and average.share < 0.5 and average.clock + 1 == average.account.steps
            if entry is not None and known and not (entry_follows := state.followed.setdefault(entry.number, [])):
                one = Followed(average, entry.steps)
                parameter = average.account.ref()
                if parameter is not None and average.last is not None:
                    one.values = [average.last]
                    follow(one, parameter)  # a look ends with a step, which the average has yet to take in
                    entry_follows.append(one)


# ------------------------------------------------------------------ small questions


def watched(entry: OptimizerAccount) -> list[Account]:
    """A few of an optimizer's parameters, from both ends of its model: they stand for all of them."""
    trained = [a for a in entry.accounts if a.total and (p := a.ref()) is not None and is_plain(p)]
    return list(dict.fromkeys((*trained[:2], *trained[-2:])))


def is_plain(tensor: Tensor) -> bool:
    """Whether a tensor has memory of its own, in which its entries can be read."""
    return tensor.is_floating_point() and tensor.layout == torch.strided and address(tensor) != 0


def sample(tensor: Tensor) -> Tensor:
    """A copy of some entries, from the end: the last rows are those of a head more often than not."""
    return tensor.detach().flatten()[-ENTRIES:].clone()


def _distance(one: Tensor, other: Tensor) -> float:
    """How far a sample is from another one, in lengths of that; 0 where one of the two is nothing but zeros."""
    lengths = float(one.norm()), float(other.norm())
    return float((one - other).norm()) / lengths[1] if all(lengths) and one.shape == other.shape else 0.0


def is_close(one: Tensor, other: Tensor, half: str = "") -> bool:
    """Whether two samples are the same but for rounding, by the precision that they are in or were computed in."""
    alike = one.shape == other.shape and one.device == other.device and one.dtype == other.dtype
    return alike and torch.allclose(one, other, rtol=1e-2 if half or one.dtype in HALVES else 1e-4, atol=1e-7)


def has_state(entry: OptimizerAccount, parameter: Tensor) -> bool:
    """Whether an optimizer keeps anything of a parameter, as moments or momentum."""
    return bool(getattr(entry.ref(), "state", {}).get(parameter))


def is_set_to(average: Average) -> bool:
    """Whether the weights are the average now, and not what it took in."""
    parameter, last, took = average.account.ref(), average.last, average.took
    if parameter is None or last is None or took is None:
        return False
    apart = float((took - last).norm())
    return apart > 0 and float((sample(parameter) - last).norm()) <= 1e-3 * apart


def is_average(one: Followed, shown: Tensor) -> bool:
    """Whether an evaluation saw the average: before or after it took in the last step."""
    assert one.after is not None
    apart = float((shown - one.after).norm())
    far = apart > 1e-5 * float(one.after.norm())
    return far and any(float((shown - value).norm()) <= 0.02 * apart for value in (*one.values, *one.before))


def holder(frame: FrameType | None, at: int, besides: int) -> str:
    """What the outermost of the user's frames that can name it calls the model, or the dict or list, which holds the
    tensor at an address, and not the one at another."""
    name = ""
    for _ in range(NEAR):
        frame = places.user_frame(frame)
        if frame is None:
            break
        own = getattr(frame.f_locals.get("self"), "__dict__", {})
        named = {**frame.f_locals, **own, **own.get("_modules", {})}
        held = (word for word, value in named.items() if _holds(value, at) and not _holds(value, besides))
        name = next(held, name)
        frame = frame.f_back
    return name


def updated_at(calls: Sequence[Place]) -> Place | None:
    """The call of a function that by its name updates an average: it was given the weights to write into."""
    named = (outer for inner, outer in zip(calls, calls[1:], strict=False) if UPDATES.search(inner.function))
    return next(named, None)


def _holds(value: Any, at: int) -> bool:
    """Whether a model, a dict or a list holds a tensor at an address."""
    if isinstance(value, nn.Module):
        return any(address(p) == at for p in (*value.parameters(), *value.buffers()))
    inside = list(value.values()) if isinstance(value, dict) else value
    return isinstance(inside, (list, tuple)) and any(isinstance(p, Tensor) and address(p) == at for p in inside[:4096])


def drawn_back(state: State) -> tuple[DrawnWeights, ...]:
    """The lines that draw trained weights to something that stands still: by more than a half each time, or what is
    drawn to has the name of an average, or was handed over in the place of the weights. Else one that draws by less
    decays them towards where they began."""
    lines: dict[Place, list[tuple[Account, DrawnBack]]] = {}
    for (account, place), one in state.drawn_back.items():
        if one.put_back:
            continue
        meant = one.share >= 0.5 and one.swapped_at is None and not AVERAGES.search(one.drawn_to)
        enough = 2 if one.swapped_at is not None else LASTS
        if one.times > 2 and not meant and (one.share < 0.5 or (one.times > enough and not one.moves)):
            lines.setdefault(place, []).append((account, one))
    return tuple(
        DrawnWeights(
            tuple(account.name for account, _ in found),
            place,
            found[0][1].share,
            found[0][1].rest,
            found[0][1].drawn_to,
            found[0][1].swapped_at,
        )
        for place, found in lines.items()
    )


def facts(state: State) -> tuple[WeightAverage, ...]:
    """The averages that are known, by line: with which share, and how often training went on from one."""
    lines: dict[tuple[Place | None, str], list[Average]] = {}
    for (_, place), found in state.averages.items():
        for one in found:  # of two models one may be kept in half precision
            in_half = HALVES.get(one.last.dtype, "") if one.last is not None else ""
            lines.setdefault((place, in_half), []).append(one)
    kept = {one.average: one.kept for found in state.followed.values() for one in found}
    told = []
    for (place, in_half), found in lines.items():
        known = [one for one in found if one.is_known]
        shares = {round(one.share, 6) for one in found}
        names: Any = dict.fromkeys(one.account.name for one in known)
        at = next((kept[one] for one in known if kept.get(one)), [])
        rising = [one for one in found if one.is_rising]
        if rising and place is not None and not any(one.falls for one in found):
            grown = min(one.first for one in found), max(one.share for one in rising)
            most = max(one.updates + 1 for one in rising)
            told.append(WeightAverage((rising[0].account.name,), place, most, grown=grown))
        elif place is not None and (falling := [one for one in found if _falls_in_half(one)]):
            every: Any = tuple(dict.fromkeys(one.account.name for one in falling))
            least = min(falling, key=lambda one: one.share)
            most = max(one.updates + 1 for one in falling)
            told.append(WeightAverage(every, place, most, dtype=HALVES[least.last.dtype], falling_to=least.share))  # type: ignore[union-attr]
        elif place is not None and len(shares) == 1 and _is_once_an_epoch(found):
            every = tuple(dict.fromkeys(one.account.name for one in found))
            most = max(one.updates + 1 for one in found)
            told.append(WeightAverage(every, place, most, found[0].share, once_at=found[0].once_at))
        elif known and place is not None:
            share = known[0].share if len(shares) == 1 else None
            most = max(one.updates + 1 for one in known)
            total = known[0].share + known[0].rest
            off = total if share is not None and abs(total - 1) > 1e-4 else None
            begun = _begun_off(found) if max(one.share for one in found) <= LITTLE else None
            fact = WeightAverage(tuple(names), place, most, share, len(at), at[0] if at else None, total=off)
            entries, still = sum(one.entries for one in known), sum(one.still for one in known)
            fact = replace(fact, begun_off=begun, dtype=in_half, computed_in="" if in_half else known[0].half)
            told.append(replace(fact, entries=entries, still=still))
    return tuple(told)


def _is_once_an_epoch(found: list[Average]) -> bool:
    """Whether a loop over epochs makes the updates behind all steps of one, by its text, and these are several."""
    return found[0].once_at is not None and found[0].share < LITTLE and not any(one.consecutive for one in found)


def _falls_in_half(one: Average) -> bool:
    """Whether an average in half precision, of weights that are not, takes in less and less of them."""
    dtypes = [each.dtype in HALVES for each in (one.took, one.last) if each is not None]
    return one.falls and one.updates > 1 and dtypes == [False, True]


def _begun_off(found: list[Average]) -> float | None:
    """How far the averages of a line were from the weights at their first updates, the nearest of those of matrices;
    None where one was seen later than that."""
    first = [one for one in found if one.begun_at]
    if not first or any(one.begun_at > AT_FIRST for one in first):
        return None
    return min((one.begun_off for one in first if len(one.account.shape) > 1), default=None)
