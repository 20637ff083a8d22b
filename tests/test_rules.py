"""The rules on logs written by hand: what each of them finds, and what looks alike and is right.

Nothing here runs torch. `Tape` writes a log event after event and knows what each gradient holds, so that a step can
say what it uses. A function under `@finds` writes a log with one mistake, one under `@quiet` a log without any.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gradient_ledger import rules
from gradient_ledger.catalogue import Misconception, catalogue, misconception
from gradient_ledger.events import (
    Accumulate,
    AverageUpdate,
    Backward,
    BareNorm,
    Clear,
    Clip,
    Comparison,
    CounterAnew,
    CrossedRows,
    Crossing,
    DataPass,
    DoubledSchedule,
    DrawnWeights,
    Edit,
    EmptyNorms,
    Evaluated,
    Event,
    Finding,
    Forward,
    FreshLeaf,
    FrozenMeanwhile,
    GoneGradients,
    GraphlessSummand,
    GrownGradients,
    HandedState,
    HelperCall,
    InputGradient,
    LastAlone,
    LateHook,
    LayerWithoutGraph,
    LocalNorm,
    Log,
    LooseLeaf,
    LowRank,
    NoisyTeacher,
    OptimizerFacts,
    OtherFollowed,
    OwnAverage,
    OwnLoad,
    ParameterFacts,
    PassedBy,
    Place,
    RateByPasses,
    Reach,
    Returned,
    Rounded,
    ScalerUpdate,
    ScheduleAnew,
    ScheduleFacts,
    SchedulerStep,
    ShownWith,
    SkippedStep,
    StandIn,
    StateSaved,
    Step,
    SumApart,
    SummedRows,
    Taken,
    TakenBack,
    TargetNetwork,
    Uncalled,
    UnfrozenModule,
    UnreadWeight,
    UnsavedKey,
    Unscale,
    UnseenWrite,
    UnsteppedSchedule,
    VainClear,
    WeightAverage,
    Withdrawn,
)
from gradient_ledger.rules import RULES, findings, ownership
from gradient_ledger.rules.view import BY_HAND, LOOKED_AT, View, Window, finding, first, some, steps_of, times

FILE = "train.py"
MADE, LAYER, RESTORED, LOADER, GUARD, FORWARD, BACKWARD, OTHER, EDIT, CLIP, IF, STEP, CLEAR, SCHEDULE, UPDATE = range(
    1, 16
)
"""Lines of an imaginary script, by what stands there."""


def at(line: int) -> Place:
    return Place(FILE, line, "main")


def trail(line: int) -> tuple[tuple[str, int], ...]:
    return ((FILE, line),)


# ------------------------------------------------------------------ writing logs


@dataclass
class Held:
    """What one gradient holds."""

    status: str = "empty"
    passes: list[tuple[int, int, bool]] = field(default_factory=list)
    """Number, line, and whether the loss was scaled."""
    mixed: str = ""
    used_by: int | None = None
    total: int = 0
    stepped_by: tuple[int, ...] = ()
    stepped_past: tuple[int, ...] = ()


class Tape:
    """A log written by hand. `Tape("w b", "d")` has two optimizers; `loose` parameters have none."""

    def __init__(self, *optimizers: str, loose: str = "") -> None:
        self.owned = [one.split() for one in optimizers]
        self.held = {name: Held() for name in " ".join([*optimizers, loose]).split()}
        self.events: list[Event] = []
        self.count = 0
        self.steps: Counter[int | None] = Counter()

    def write(self, kind: type[Event], line: int | None, names: Any = (), **fields: Any) -> None:
        steps = sum(self.steps.values())
        place = at(line) if line is not None else None
        common = {"number": len(self.events), "step": steps, "window": steps, "where": place, "names": tuple(names)}
        self.events.append(kind(**(common | fields)))

    def forward(self, line: int = FORWARD, **fields: Any) -> None:
        self.write(Forward, line, **({"model": "Net", "training": True, "grad": True} | fields))

    def backward(self, line: int = BACKWARD, names: str = "", **fields: Any) -> None:
        self.count += 1
        self.write(Backward, line, **({"pass_number": self.count, "root": "Div"} | fields))
        touched = names.split() or list(self.held)
        onto = {word: tuple(n for n in touched if self.held[n].status == word) for word in ("fresh", "used", "skipped")}
        for one in (self.held[name] for name in touched):
            one.mixed = one.status if one.status in ("used", "skipped") else one.mixed
            if one.status == "used":
                one.passes = []
            one.status, one.total = "fresh", one.total + 1
            one.passes.append((self.count, line, bool(fields.get("scaled"))))
        self.write(
            Accumulate,
            line,
            touched,
            pass_number=self.count,
            onto_fresh=len(onto["fresh"]),
            onto_used=onto["used"],
            onto_skipped=onto["skipped"],
        )

    def passes(self, count: int, line: int = BACKWARD, **fields: Any) -> None:
        """Forwards and their backward passes."""
        for _ in range(count):
            self.forward()
            self.backward(line, **fields)

    def clear(self, line: int = CLEAR, names: str = "", how: str = "none", **fields: Any) -> None:
        touched = names.split() or list(self.held)
        known = {name: self.held[name] for name in touched if name in self.held}
        lost = {name: one.passes for name, one in known.items() if one.status == "fresh"}
        most = max(lost.values(), key=len, default=[])
        told: dict[str, Any] = {"how": how, "lost": len(most), "lost_names": tuple(lost)}
        told["lost_trails"] = tuple(trail(line) for _, line, _ in most)
        told["full"] = sum(one.status not in ("empty", "zero") for one in known.values())
        self.write(Clear, line, touched, **(told | fields))
        for one in known.values():
            one.status, one.passes, one.mixed = "zero" if how == "zeros" else "empty", [], ""

    def step(self, line: int = STEP, optimizer: int | None = 0, kind: type[Event] = Step, **fields: Any) -> None:
        """A step, with what it used as the tape knows it."""
        loose = [name for name in self.held if not any(name in mine for mine in self.owned)]
        mine = {name: self.held[name] for name in (loose if optimizer is None else self.owned[optimizer])}
        by = {word: tuple(n for n, one in mine.items() if one.status == word) for word in ("fresh", "used", "skipped")}
        fullest = max((mine[name].passes for name in by["fresh"]), key=len, default=[])
        told: dict[str, Any] = {
            "optimizer": optimizer,
            "fresh": len(by["fresh"]),
            "stale": by["used"],
            "skipped": by["skipped"],
            "none": tuple(name for name, one in mine.items() if one.status == "empty"),
            "zeros": tuple(name for name, one in mine.items() if one.status == "zero"),
            "used_by": tuple(sorted({one.used_by for one in mine.values() if one.status == "used"})),
            "passes": len(fullest),
            "pass_numbers": tuple(number for number, _, _ in fullest),
            "trails": tuple(trail(line) for _, line, _ in fullest),
            "scaled": tuple(sorted({scaled for _, _, scaled in fullest})),
            "last_pass_at": at(fullest[-1][1]) if fullest else None,
        }
        for one in (self.held[name] for name in loose):
            used = {number for number, _, _ in one.passes} & {number for number, _, _ in fullest}
            if optimizer is not None and one.status == "fresh" and used:
                one.stepped_past = tuple({*one.stepped_past, optimizer})
        kinds = {mine[name].mixed for name in by["fresh"]} - {""}
        told["mixed"] = {word: tuple(n for n in by["fresh"] if mine[n].mixed == word) for word in kinds}
        self.write(kind, line, by["fresh"], **(told | fields))
        for one in mine.values():
            if optimizer is not None and one.status in ("fresh", "used", "skipped"):
                one.stepped_by = tuple({*one.stepped_by, optimizer})
            if kind is SkippedStep:
                one.status = "skipped" if one.status == "fresh" else one.status
            elif one.status not in ("empty", "zero"):
                one.status, one.used_by, one.passes = "used", -1 if optimizer is None else optimizer, []
            one.mixed = ""
        if kind is Step:
            self.steps[optimizer] += 1

    def skip(self, line: int = STEP, optimizer: int = 0, **fields: Any) -> None:
        self.step(line, optimizer, SkippedStep, by_scaler=True, **fields)

    def clip(self, line: int = CLIP, names: str = "", norm: float = 10.0, **fields: Any) -> None:
        touched = names.split() or list(self.held)
        told: dict[str, Any] = {"function": "clip_grad_norm_", "limit": 1.0, "order": 2.0, "measured": True}
        told |= {"status": Counter(self.held[name].status for name in touched), "square": norm**2}
        self.write(Clip, line, touched, **(told | fields))

    def edit(self, how: str = "in place", line: int = EDIT, names: str = "", **fields: Any) -> None:
        touched = names.split() or list(self.held)
        one = self.held[touched[0]]
        self.write(Edit, line, touched, **({"how": how, "status": one.status} | fields))

    def put(self, names: str, line: int = EDIT, **fields: Any) -> None:
        """The user's code assigns gradients."""
        self.edit("assigned", line, names, **fields)
        for one in (self.held[name] for name in names.split()):
            one.status = "fresh"

    def amend(self, **fields: Any) -> None:
        """Add to what the last event says."""
        self.events[-1] = replace(self.events[-1], **fields)

    def unscale(self, line: int = EDIT, optimizer: int = 0) -> None:
        mine = [name for name in self.owned[optimizer] if self.held[name].status == "fresh"]
        self.write(Unscale, line, mine, optimizer=optimizer)

    def schedule(self, line: int = SCHEDULE, **fields: Any) -> None:
        pending = max((len(one.passes) for one in self.held.values() if one.status == "fresh"), default=0)
        told = {"scheduler": "StepLR", "which": 1, "optimizer": 0, "pending": pending}
        self.write(SchedulerStep, line, **(told | fields))

    def new_pass(self) -> None:
        pending = max((len(one.passes) for one in self.held.values() if one.status == "fresh"), default=0)
        self.write(DataPass, LOADER, pending=pending)

    def average(self, line: int = UPDATE) -> None:
        pending = max((len(one.passes) for one in self.held.values() if one.status == "fresh"), default=0)
        self.write(AverageUpdate, line, pending=pending)

    def log(self, facts: dict[str, dict[str, Any]] | None = None, **fields: Any) -> Log:
        """The log. `facts` are what else is known of a parameter."""
        several = len(self.owned) > 1
        told: dict[str, Any] = {
            "parameters": tuple(
                self._facts(name, **({"position": position} | (facts or {}).get(name, {})))
                for position, name in enumerate(self.held)
            ),
            "optimizers": tuple(
                OptimizerFacts(number, f"SGD #{number + 1}" if several else "SGD", self.steps[number], at(MADE))
                for number in range(len(self.owned))
            ),
            "pending": {
                name: tuple(trail(line) for _, line, _ in one.passes)
                for name, one in self.held.items()
                if one.status == "fresh"
            },
            "pending_at": at(BACKWARD),
        }
        return Log(tuple(self.events), **(told | fields))

    def _facts(self, name: str, **fields: Any) -> ParameterFacts:
        told: dict[str, Any] = {
            "owners": tuple(number for number, mine in enumerate(self.owned) if name in mine),
            "deposits": self.held[name].total,
            "requires_grad": True,
            "ran": 1,
            "given": False,
            "is_parameter": True,
            "in_model": True,
            "called_at": at(FORWARD),
            "training": True,
            "model": "Net",
            "stepped_by": self.held[name].stepped_by,
            "stepped_past": self.held[name].stepped_past,
            "shape": (2,),
        }
        return ParameterFacts(name, **(told | fields))


def windows(*sizes: int, passes: dict[str, Any] | None = None, **fields: Any) -> Tape:
    """A right loop: windows of these sizes, each stepped and cleared. `fields` are of its steps."""
    tape = Tape("w b")
    for size in sizes:
        tape.passes(size, **(passes or {}))
        tape.step(**fields)
        tape.clear()
    return tape


def compared(ratio: float = 1.0, cosine: float = 1.0, right: bool = False, **fields: Any) -> Comparison:
    return Comparison(right, ratio, 1.0, ratio, cosine, abs(ratio - 1), **fields)


RIGHT = compared(right=True)


# ------------------------------------------------------------------ the tables


@dataclass(frozen=True)
class Case:
    """A log, the rule it is for, and what that rule finds in it: nothing, where it has no name."""

    rule: str
    write: Callable[[], Log]
    name: str = ""
    severity: str = ""
    line: int | None = None
    says: tuple[str, ...] = ()
    remedy: str = ""
    """What the rule writes in place of the catalogue's."""
    numbers: dict[str, Any] = field(default_factory=dict)
    """Evidence that must be there beside the text."""

    def __str__(self) -> str:
        return self.write.__name__


FOUND: list[Case] = []
RIGHT_LOGS: list[Case] = []


def finds(
    rule: str, name: str, severity: str, line: int | None, *says: str, remedy: str = "", **numbers: Any
) -> Callable[[Callable[[], Log]], Callable[[], Log]]:
    """The rule finds this in the log below, and nothing else; no other rule accuses anything."""

    def enter(write: Callable[[], Log]) -> Callable[[], Log]:
        FOUND.append(Case(rule, write, name, severity, line, says, remedy, numbers))
        return write

    return enter


def quiet(rule: str) -> Callable[[Callable[[], Log]], Callable[[], Log]]:
    """The rule finds nothing in the log below, and no rule accuses anything."""

    def enter(write: Callable[[], Log]) -> Callable[[], Log]:
        RIGHT_LOGS.append(Case(rule, write))
        return write

    return enter


# ------------------------------------------------------------------ order: gradients that were used and not cleared


@finds(
    "stale.added",
    "never-zeroed",
    "error",
    BACKWARD,
    "Nothing clears b and w between the steps",
    "3 backward passes of 4 windows added to gradients that an earlier step had used",
    "at the first steps: 1, 2, 3, 4",
    steps=[1, 2, 3],
    windows=4,
    norms=[1.0, 2.0, 3.0, 4.0],
    names=["b", "w"],
    used_at=at(STEP),
)
def nothing_ever_clears() -> Log:
    tape = Tape("w b")
    for number in range(4):
        tape.passes(1)
        tape.step(norm=number + 1.0)
    return tape.log()


def never_cleared_under_a_scaler(scale: float) -> Log:
    tape = Tape("w b")
    for _ in range(4):
        tape.passes(1, scaled=True)
        tape.unscale()
        tape.step(by_scaler=True, scale=scale)
    return tape.log()


@finds(
    "stale.added",
    "never-zeroed",
    "error",
    BACKWARD,
    "Each time the scaler divided what was left by its scale, 1024 or more: hardly any of it counted.",
)
def nothing_ever_clears_and_a_scaler_takes_what_is_left_down() -> Log:
    return never_cleared_under_a_scaler(1024.0)


def test_a_small_scale_leaves_most_of_an_old_gradient() -> None:
    (one,) = findings(never_cleared_under_a_scaler(2.0))
    assert one.misconception == "never-zeroed"
    assert "scaler" not in one.text


@finds(
    "stale.added",
    "never-zeroed",
    "error",
    CLEAR,
    "This line clears a part of what SGD steps, and nothing clears b: 3 backward passes of 4 windows",
    remedy="Clear all of it: SGD.zero_grad(), or a loop over all groups.",
    names=["b"],
)
def a_line_clears_one_of_two_groups() -> Log:
    tape = Tape("w b")
    for _ in range(4):
        tape.passes(1)
        tape.step()
        tape.clear(names="w")
    return tape.log()


@finds(
    "stale.added",
    "zeroed-another-object",
    "error",
    IF,
    "none of the parameters SGD #1",
    remedy="Call zero_grad() on the optimizer that steps (SGD #1 (train.py:1)) or on its model; one made earlier, or a "
    "copy, holds other parameters.",
    steps=[1, 2, 3],
)
def a_target_is_cleared_in_the_place_of_the_first_of_two_models() -> Log:
    tape = Tape("v", "q", loose="t")
    for _ in range(4):
        tape.clear(IF, names="t")
        tape.passes(1, names="v")
        tape.step()
        tape.clear(names="q")
        tape.passes(1, OTHER, names="q")
        tape.step(optimizer=1)
    return tape.log()


@finds("stale.added", "never-zeroed", "error", OTHER, "Nothing clears b and w between the steps", steps=[1, 2, 3])
def a_clear_without_parentheses_clears_nothing() -> Log:
    return replace(nothing_ever_clears(), named_only=(Uncalled("optimizer.zero_grad", at(OTHER)),))


@finds("stale.added", "never-zeroed", "error", IF, "There is a clear here, and it has never run", steps=[1, 2, 3])
def a_clear_under_a_condition_has_never_run() -> Log:
    return replace(nothing_ever_clears(), clears_under=(at(IF), at(OTHER)))


@finds("stale.added", "never-zeroed", "error", BACKWARD, "Nothing clears w between", "1 backward pass of 2 windows")
def nothing_clears_steps_by_hand() -> Log:
    tape = Tape(loose="w")
    for _ in range(2):
        tape.passes(1)
        tape.step(optimizer=None)
    return tape.log(steps_by_hand=2)


@finds("stale.added", "zeroed-once-per-epoch", "error", CLEAR, "cleared 2 times in 6 steps", "4 backward passes of 6")
def cleared_at_the_start_of_each_epoch() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.clear()
        for _ in range(3):
            tape.passes(1)
            tape.step()
    return tape.log()


@finds(
    "stale.added",
    "zeroed-once-per-epoch",
    "error",
    CLEAR,
    "cleared 2 times in 6 steps, and b held old gradients in between: 4 backward passes of 6",
)
def one_is_cleared_at_the_start_of_each_epoch() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.clear()
        for _ in range(3):
            tape.clear(STEP - 1, "w")
            tape.passes(1)
            tape.step()
    return tape.log()


@finds("stale.added", "zeroed-once-per-epoch", "error", CLEAR, "cleared 1 time in 3 steps")
def cleared_once_before_the_loop() -> Log:
    tape = Tape("w b")
    tape.clear()
    for _ in range(3):
        tape.passes(1)
        tape.step()
    return tape.log()


def cleared_once_a_window(**passes: Any) -> Log:
    tape = Tape("w b")
    for _ in range(4):
        for _ in range(3):
            tape.passes(1, **passes)
            tape.step()
        tape.clear()
    return tape.log()


ON_THE_CLEARS_CLOCK = "Step under the same condition as the clear: once per window, before it."


@finds(
    "stale.added",
    "step-every-micro-batch",
    "error",
    STEP,
    "cleared after every 3",
    "8 backward passes of 12 windows",
    remedy=ON_THE_CLEARS_CLOCK,
)
def cleared_once_a_window_and_stepped_every_time() -> Log:
    return cleared_once_a_window(divisor=3.0)


@finds("stale.added", "step-every-micro-batch", "error", STEP, "cleared after every 3", remedy=ON_THE_CLEARS_CLOCK)
def cleared_once_a_window_and_stepped_every_time_a_loss_that_is_no_mean() -> Log:
    return cleared_once_a_window(quotient=3)


@finds("stale.added", "closure-without-zeroing", "error", BACKWARD, "Inside the closure of SGD.step, 1 backward pass")
def the_closure_does_not_clear() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.clear()
        tape.passes(1)
        tape.step(closure_calls=1)
    tape.clear()
    tape.passes(1)
    for one in tape.held.values():  # the closure's first call has been used when its second one runs
        one.status = "used"
    tape.passes(1)
    tape.step(closure_calls=2)
    return tape.log()


@finds(
    "order.idle_closures",
    "closure-without-backward",
    "error",
    STEP,
    "SGD called its closure several times a step, in 2 steps",
    steps=[0, 1],
)
def the_closure_returns_a_loss_from_outside() -> Log:
    return windows(1, 1, closure_calls=4, closure_idle=3).log()


@finds("order.idle_closures", "closure-without-backward", "error", STEP, "in 2 steps", steps=[0, 1])
def the_closure_computes_nothing_and_ran_once_in_the_end() -> Log:
    tape = Tape("w b")
    for calls in (3, 5, 1):
        tape.passes(1)
        tape.step(closure_calls=calls, closure_idle=calls - 1)
        tape.clear()
    return tape.log()


@quiet("order.idle_closures")
def the_closure_runs_once_a_step() -> Log:
    return windows(1, 1, closure_calls=1).log()


@quiet("order.idle_closures")
def the_closure_left_no_gradient_now_and_then() -> Log:
    return windows(1, 1, closure_calls=4, closure_idle=1).log()


@quiet("order.idle_closures")
def the_closure_computed_nothing_anew_in_one_step_of_three() -> Log:
    tape = Tape("w b")
    for idle in (0, 3, 0):
        tape.passes(1)
        tape.step(closure_calls=4, closure_idle=idle)
        tape.clear()
    return tape.log()


@finds(
    "order.grown",
    "read-without-clearing",
    "warning",
    OTHER,
    "The gradients of w and b were read after every pass of this line",
    "7 passes added to what had been read",
    names=["w", "b"],
    passes=7,
)
def gradients_of_single_samples_are_read_and_never_cleared() -> Log:
    return windows(1, 1).log(grown=(GrownGradients(at(OTHER), ("w", "b"), 7),))


@quiet("order.grown")
def one_pass_was_added_to_what_had_been_read() -> Log:
    return windows(1, 1).log(grown=(GrownGradients(at(OTHER), ("w", "b"), 1),))


@quiet("order.grown")
def gradients_are_read_one_by_one_where_nothing_is_trained() -> Log:
    tape = Tape("w b")
    tape.passes(3, OTHER)
    read = {name: {"by_hand": True} for name in ("w", "b")}
    return tape.log(read, grown=(GrownGradients(at(OTHER), ("w", "b"), 2),), pending={})


@finds(
    "stale.added",
    "never-zeroed",
    "error",
    BACKWARD,
    "b still held the gradients that SGD #1 (train.py:1) had used when SGD #2 (train.py:1) took them over",
    "1 backward pass of 3 windows added to them",
    remedy="Clear the gradients of a model, or of what is released of it, before another optimizer goes on with it.",
    names=["b"],
    steps=[0],
)
def a_second_phase_begins_on_the_last_gradients_of_the_first() -> Log:
    return phases(cleared="")


@quiet("stale.added")
def a_second_phase_begins_on_cleared_gradients() -> Log:
    return phases(cleared="b w")


def phases(cleared: str) -> Log:
    """A first optimizer clears in front of its passes; a second one, which goes on with a part, behind its steps."""
    tape = Tape("b w", "b")
    for _ in range(3):
        tape.clear()
        tape.passes(1, line=OTHER)
        tape.step()
    if cleared:
        tape.clear(names=cleared)
    for _ in range(3):
        tape.passes(1, names="b")
        tape.step(optimizer=1)
        tape.clear(names="b")
    return tape.log()


@finds(
    "stale.added",
    "inner-optimizer-not-cleared",
    "error",
    CLEAR,
    "SGD #2 (train.py:1) is stepped by SGD #1 (train.py:1) in its own step",
    "2 backward passes of 3 windows",
    names=["d"],
)
def an_inner_optimizer_is_never_cleared() -> Log:
    tape = Tape("w b", "d")
    for _ in range(3):
        tape.passes(1)
        tape.step(optimizer=1, inside=0)
        tape.step()
        tape.clear(names="w b", by=0)
    return tape.log()


@finds(
    "stale.added",
    "one-of-two-optimizers-zeroed",
    "error",
    CLEAR,
    "SGD #1 (train.py:1) has its gradients cleared here; those of SGD #2 (train.py:1) never are",
    "2 backward passes of 3 windows",
    remedy="Clear the parameters of SGD #2 (train.py:1) in the same place, or call zero_grad() of the whole model.",
)
def only_the_first_of_two_optimizers_is_cleared() -> Log:
    tape = Tape("w b", "d")
    for _ in range(3):
        tape.passes(1)
        tape.step()
        tape.step(optimizer=1)
        tape.clear(names="w b", by=0)
    return tape.log()


@finds(
    "stale.added",
    "one-of-two-optimizers-zeroed",
    "error",
    EDIT,
    "SGD #1 (train.py:1) has its gradients cleared here; those of SGD #2 (train.py:1) never are",
    remedy="Clear the parameters of SGD #2 (train.py:1) in the same place, or call zero_grad() of the whole model.",
)
def a_copied_block_clears_the_first_optimizer_again() -> Log:
    return blocks(EDIT)


@finds(
    "stale.added",
    "one-of-two-optimizers-zeroed",
    "error",
    IF,
    "SGD #1 (train.py:1) has its gradients cleared (train.py:13), again and again; those of SGD #2 (train.py:1) are",
    "cleared here, before the first step, and never after it: 2 backward passes of 3 windows",
    remedy="Clear the parameters of SGD #2 (train.py:1) in the loop, too, or call zero_grad() of the whole model "
    "there.",
)
def the_second_of_two_optimizers_is_cleared_before_the_loop() -> Log:
    tape = Tape("w b", "d")
    tape.clear(IF, names="d")
    for _ in range(3):
        tape.passes(1)
        tape.step()
        tape.step(optimizer=1)
        tape.clear(names="w b", by=0)
    return tape.log()


@finds(
    "order.without_parentheses",
    "named-and-not-called",
    "warning",
    OTHER,
    "This names optimizer.zero_grad",
    remedy="optimizer.zero_grad()",
)
def a_clear_has_no_parentheses() -> Log:
    return windows(1, 1).log(named_only=(Uncalled("optimizer.zero_grad", at(OTHER)),))


@quiet("order.without_parentheses")
def another_function_has_a_clear_without_parentheses() -> Log:
    return windows(1, 1).log(named_only=(Uncalled("optimizer.zero_grad", replace(at(OTHER), function="other")),))


@quiet("order.without_parentheses")
def a_text_without_parentheses_has_not_run() -> Log:
    return Tape("w b").log(named_only=(Uncalled("optimizer.zero_grad", at(OTHER)),))


@finds(
    "stale.added",
    "one-of-two-optimizers-zeroed",
    "error",
    OTHER,
    "SGD #1 (train.py:1) has its gradients cleared (train.py:13); those of SGD #2 (train.py:1), to which this adds",
    remedy="Clear the parameters of SGD #2 (train.py:1) before this backward(), or call zero_grad() of the whole "
    "model.",
    other_cleared_at=at(CLEAR),
)
def the_first_optimizer_is_cleared_at_its_own_line_alone() -> Log:
    return blocks(None)


@finds(
    "stale.added",
    "one-of-two-optimizers-zeroed",
    "error",
    OTHER,
    "SGD #1 (train.py:1) has its gradients cleared here; those of SGD #2 (train.py:1) never are",
    "4 backward passes of 7 windows",
    remedy="Clear the parameters of SGD #2 (train.py:1) in the same place, or call zero_grad() of the whole model.",
)
def a_later_phase_clears_the_first_of_two_optimizers() -> Log:
    return two_loops(EDIT)


@finds("stale.added", "zeroed-once-per-epoch", "error", CLEAR, "This line cleared 3 times in 7 steps")
def the_clears_of_one_loop_become_too_few() -> Log:
    return two_loops(STEP)


def two_loops(later: int) -> Log:
    """Two optimizers, both cleared before each pass, and then the first one alone, while both step at this line."""
    tape = Tape("w", "d")
    for n in range(7):
        tape.clear(OTHER if n > 2 else CLEAR, names="w", by=0)
        if n < 3:
            tape.clear(names="d", by=1)
        tape.passes(1)
        tape.step(later if n > 2 else STEP)
        tape.step(later if n > 2 else STEP, optimizer=1)
    return tape.log()


def blocks(again: int | None) -> Log:
    """Two models, one block each: clear, pass, step; the second one clears at this line, and not its own."""
    tape = Tape("w", "d")
    for _ in range(4):
        tape.clear(names="w", by=0)
        tape.passes(1, names="w")
        tape.step()
        if again is not None:
            tape.clear(again, names="w", by=0)
        tape.passes(1, OTHER, names="d")
        tape.step(optimizer=1)
    return tape.log()


@finds(
    "stale.added",
    "zeroed-another-object",
    "error",
    CLEAR,
    "none of the parameters SGD steps",
    "3 backward passes of 4 windows",
    remedy="Call zero_grad() on the optimizer that steps (SGD) or on its model; one made earlier, or a copy, holds "
    "other parameters.",
)
def a_copy_of_the_model_is_cleared() -> Log:
    tape = Tape("w b")
    for _ in range(4):
        tape.clear(names="copy.w copy.b")
        tape.passes(1)
        tape.step()
    return tape.log()


@finds("stale.added", "never-zeroed", "error", BACKWARD, "Nothing clears b and w")
def a_closure_that_runs_once_a_step_does_not_clear() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1)
        tape.step(closure_calls=1)
    return tape.log(window=4)


@finds("stale.added", "never-zeroed", "error", BACKWARD, "4 backward passes of 5 windows")
def a_copy_is_cleared_once_before_the_loop() -> Log:
    tape = Tape("w b")
    tape.clear(names="copy.w copy.b")
    for _ in range(5):
        tape.passes(1)
        tape.step()
    return tape.log()


@finds("stale.added", "never-zeroed", "error", BACKWARD, "1 backward pass of 2 windows")
def cleared_once_before_two_steps() -> Log:
    tape = Tape("w b")
    tape.clear()
    for _ in range(2):
        tape.passes(1)
        tape.step()
    return tape.log()


@finds("stale.added", "never-zeroed", "error", BACKWARD, "2 backward passes of 3 windows")
def a_library_clears_once_before_the_loop() -> Log:
    tape = Tape("w b")
    tape.clear(where=Place(FILE, CLEAR, "main", "library/engine.py:9"))
    for _ in range(3):
        tape.passes(1)
        tape.step()
    return tape.log()


@finds("stale.added", "never-zeroed", "error", BACKWARD, "Nothing clears d", names=["d"])
def a_first_phase_clears_and_the_second_does_not() -> Log:
    tape = Tape("w b", "d")
    for _ in range(3):
        tape.passes(1, names="w b")
        tape.step()
        tape.clear(names="w b")
    for _ in range(3):
        tape.passes(1, names="d")
        tape.step(optimizer=1)
    return tape.log()


@finds("stale.added", "never-zeroed", "error", BACKWARD, "Nothing clears d")
def another_optimizer_steps_once_and_is_cleared() -> Log:
    tape = Tape("w b", "d")
    for number in range(6):
        tape.passes(1, names="d")
        tape.step(optimizer=1)
        if number == 1:
            tape.passes(1, names="w b")
            tape.step()
            tape.clear(names="w b")
    return tape.log()


def cleared_every_third_step(*names: str, epochs: int = 4, divisor: float | None = None, **fields: Any) -> Log:
    """Three steps and a clear; what is named is cleared after every step."""
    tape = Tape("w b", *names)
    for _ in range(epochs):
        for _ in range(3):
            tape.passes(1, divisor=divisor)
            for optimizer in range(len(names) + 1):
                tape.step(optimizer=optimizer)
            tape.clear(OTHER, " ".join(names) or "copy.w")
        tape.clear(names="w b")
    return tape.log(**fields)


@finds("stale.added", "zeroed-once-per-epoch", "error", CLEAR, "cleared 4 times in 12 steps")
def a_copy_is_cleared_every_time_and_the_model_every_third() -> Log:
    return cleared_every_third_step()


@finds("stale.added", "zeroed-once-per-epoch", "error", CLEAR, "cleared 2 times in 6 steps")
def two_clears_are_too_few_to_tell_a_window() -> Log:
    return cleared_every_third_step(epochs=2, divisor=3.0)


@finds("stale.added", "zeroed-once-per-epoch", "error", CLEAR, "cleared 4 times in 12 steps")
def another_optimizer_is_cleared_every_time() -> Log:
    return cleared_every_third_step("d")


@finds(
    "stale.added",
    "step-every-micro-batch",
    "error",
    STEP,
    "cleared after every 3",
    remedy="Step under the same condition as the clear: once per window, before it.",
)
def windows_of_three_were_meant_and_every_pass_is_stepped() -> Log:
    return cleared_every_third_step(window=3)


@finds("stale.added", "inner-optimizer-not-cleared", "error", CLEAR, "2 backward passes of 3 windows", names=["d"])
def a_model_clears_all_but_the_inner_optimizers_part() -> Log:
    tape = Tape("w b", "d")
    for _ in range(3):
        tape.passes(1)
        tape.step(optimizer=1, inside=0)
        tape.step()
        tape.clear(names="w b")
    return tape.log()


@finds("stale.added", "inner-optimizer-not-cleared", "error", OTHER, "2 backward passes of 3 windows", names=["d"])
def the_outer_optimizer_clears_before_the_model_does() -> Log:
    tape = Tape("w b", "d")
    for _ in range(3):
        tape.passes(1)
        tape.step(optimizer=1, inside=0)
        tape.step()
        tape.clear(OTHER, names="w b", by=0)
        tape.clear(names="w b")
    return tape.log()


@quiet("stale.added")
def cleared_before_every_backward() -> Log:
    tape = Tape("w b")
    for _ in range(4):
        tape.clear()
        tape.passes(1)
        tape.step()
    return tape.log()


@quiet("stale.added")
def gradients_pile_up_on_a_parameter_that_the_step_does_not_use() -> Log:
    tape = Tape("w b", "d")
    for _ in range(4):
        tape.passes(1, names="w b")
        tape.step()
        tape.clear(names="w b")
    tape.held["d"].status = "used"
    tape.passes(1, names="d")
    tape.clear(names="d", after_step=True, lost=0, lost_names=())
    return tape.log({"d": {"ran": 0}})


@quiet("stale.added")
def a_closure_that_clears_runs_several_times() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        for _ in range(3):
            tape.clear(lost=0, lost_names=())
            tape.passes(1)
        tape.step(closure_calls=3)
    return tape.log()


# ------------------------------------------------------------------ order: gradients that no step has used


@finds(
    "order.lost",
    "zeroed-before-step",
    "error",
    CLEAR,
    "3 of 3 steps of SGD found no gradients and did nothing",
    lost=1,
    windows=3,
    steps=[0, 1, 2],
)
def cleared_between_backward_and_step() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1)
        tape.clear()
        tape.step()
    return tape.log()


def now_and_then_another_loss(alone: bool = True, always: bool = True) -> Log:
    """In each fourth window a line clears before a second loss goes backward."""
    tape = Tape("w b")
    for number in range(12):
        tape.passes(1)
        if number % 4 == 0:
            tape.clear(IF)
            tape.passes(1, OTHER)
        elif not alone and number % 4 == 1:
            tape.passes(1, OTHER)
        tape.step()
        tape.clear(CLEAR if always or number % 4 != 2 else IF, lost=0, lost_names=())
    return tape.log()


@finds(
    "order.lost",
    "zeroed-inside-window",
    "error",
    IF,
    "of 6 backward passes in 3 windows, 3 were thrown away and the steps used 3.",
    lost=3,
    used=3,
)
def a_penalty_is_computed_now_and_then_behind_a_clear() -> Log:
    return now_and_then_another_loss()


@quiet("order.lost")
def a_second_loss_is_used_elsewhere_as_well() -> Log:
    return now_and_then_another_loss(alone=False)


@quiet("order.lost")
def a_line_clears_elsewhere_as_well() -> Log:
    return now_and_then_another_loss(always=False)


def cleared_to_zeros(**fields: Any) -> Log:
    """`fields` are of the two steps that find zeros."""
    tape = windows(4)
    for _ in range(2):
        tape.passes(4)
        tape.clear(how="zeros")
        tape.step(**fields)
    return tape.log()


@finds("order.lost", "zeroed-before-step", "error", CLEAR, "2 of 3 steps of SGD found zeros and did nothing.", lost=4)
def cleared_to_zeros_between_backward_and_step() -> Log:
    return cleared_to_zeros(idle_by=())


@finds("order.lost", "zeroed-before-step", "error", CLEAR, "found zeros, so only momentum could move the parameters.")
def cleared_to_zeros_before_a_step_with_momentum() -> Log:
    return cleared_to_zeros(idle_by=("momentum",))


@finds("order.lost", "zeroed-before-step", "error", CLEAR, "found zeros, so only weight decay moved the parameters.")
def cleared_to_zeros_before_a_step_that_was_seen_to_move() -> Log:
    return cleared_to_zeros(idle_by=("weight decay",), idle_moved={"w": 0.1})


@finds("order.lost", "zeroed-before-step", "error", CLEAR, "momentum and weight decay could move the parameters.")
def cleared_to_zeros_before_a_step_with_two_things_that_may_move() -> Log:
    return cleared_to_zeros(idle_by=("momentum", "weight decay"), idle_moved={"w": 0.1})


@finds("order.lost", "zeroed-before-step", "error", CLEAR, "2 of 3 steps of SGD found zeros.")
def cleared_to_zeros_before_a_step_of_unknown_kind() -> Log:
    return cleared_to_zeros()


@finds("order.lost", "zeroed-before-step", "error", CLEAR, "found zeros, and moved the parameters all the same.")
def cleared_to_zeros_before_a_step_of_unknown_kind_that_moves() -> Log:
    return cleared_to_zeros(idle_moved={"w": 0.1})


@finds(
    "order.lost",
    "zeroed-inside-window",
    "error",
    CLEAR,
    "of 12 backward passes in 3 windows, 9 were thrown away and the steps used 3",
    lost=9,
    used=3,
    windows=3,
)
def cleared_before_every_micro_batch() -> Log:
    return cleared_in_each_turn()


def cleared_in_each_turn(behind: int | None = None, loader: bool = False, **passes: Any) -> Log:
    tape = Tape("w b")
    for _ in range(3):
        if loader:
            tape.new_pass()
        for _ in range(4):
            tape.clear()
            tape.passes(1, **passes)
        tape.step(behind=at(behind) if behind is not None else None)
    return tape.log()


@finds(
    "order.lost",
    "step-behind-loop",
    "error",
    STEP,
    f"behind the loop over the data in line {LOADER}, which clears before each backward: of 12 backward passes in 3 "
    "windows, 9 were thrown away.",
    lost=9,
    windows=3,
)
def a_step_behind_the_loop_over_a_loader() -> Log:
    return cleared_in_each_turn(LOADER, loader=True)


@finds("order.lost", "zeroed-inside-window", "error", CLEAR, lost=9)
def a_step_behind_a_loop_over_micro_batches() -> Log:
    return cleared_in_each_turn(FORWARD, loader=True)


@finds("order.lost", "zeroed-inside-window", "error", CLEAR, lost=9)
def a_step_behind_a_loop_whose_losses_are_divided() -> Log:
    return cleared_in_each_turn(LOADER, loader=True, divisor=4.0)


def returned(where: Place) -> Log:
    return windows(1, 1).log(returned_at_once=(Returned("total", at(OTHER), where),))


@finds(
    "order.returned_at_once",
    "returned-in-first-turn",
    "warning",
    OTHER,
    "This stands in the loop that makes total, so it returns behind the first turn",
    called_first_at=at(FORWARD),
)
def a_loop_returns_in_its_first_turn() -> Log:
    return returned(at(FORWARD))


@quiet("order.returned_at_once")
def a_loop_that_returns_in_its_first_turn_is_called_where_nothing_ran() -> Log:
    return returned(Place(FILE, 3, "elsewhere"))


def turned_round(size: int, steps: int = 30, **fields: Any) -> Log:
    """A step at each micro-batch but every `size`-th."""
    tape = Tape("w b")
    for number in range(steps):
        tape.passes(1)
        if number % size:
            tape.step(**({"turned_at": at(OTHER)} | fields))
            tape.clear()
    return tape.log()


@finds(
    "window.turned_round",
    "window-misaligned",
    "error",
    OTHER,
    "SGD steps wherever this remainder is not 0: of 4 micro-batches all but one end a window, and that one waits",
    remedy="Turn the test round: a window of 4 ends where the remainder is 0.",
    window=4,
    step_taken_at=at(STEP),
)
def the_test_for_the_end_of_a_window_is_the_wrong_way_round() -> Log:
    return turned_round(4)


@quiet("window.turned_round")
def a_step_that_no_remainder_decides_about_is_left_out_now_and_then() -> Log:
    return turned_round(4, turned_at=None)


@quiet("window.turned_round")
def each_second_micro_batch_steps() -> Log:
    return turned_round(2)


@quiet("window.turned_round")
def a_step_was_left_out_twice() -> Log:
    return turned_round(4, steps=8)


def a_part_behind_the_loop(passes: int = 3, turns: int = 4, **fields: Any) -> Log:
    """One optimizer steps in each turn of a loop, the other behind it."""
    tape = Tape("w b", "d")
    for _ in range(passes):
        for _ in range(turns):
            tape.clear(names="w b")
            tape.backward(names="w b")
            tape.step()
        tape.clear(names="d")
        tape.backward(OTHER, names="d")
        tape.step(line=OTHER + 1, optimizer=1, **({"on_last_of": at(LOADER)} | fields))
    return tape.log()


@finds(
    "order.last_turn_alone",
    "last-turn-alone",
    "warning",
    OTHER + 1,
    f"stand behind the loop in line {LOADER}, and their loss is made of what the last turn of that was given: 3 steps, "
    "while what the loop trains took 4 or more before each.",
    steps=[0, 1, 2],
    windows=3,
    loop_at=at(LOADER),
)
def a_part_is_trained_behind_the_loop_by_its_last_turn() -> Log:
    return a_part_behind_the_loop()


@quiet("order.last_turn_alone")
def a_part_is_trained_behind_the_loop_by_something_else() -> Log:
    return a_part_behind_the_loop(on_last_of=None)


@quiet("order.last_turn_alone")
def a_part_is_trained_behind_a_loop_of_one_turn() -> Log:
    return a_part_behind_the_loop(turns=1)


@quiet("order.last_turn_alone")
def a_part_is_trained_behind_the_loop_once() -> Log:
    return a_part_behind_the_loop(passes=1)


def stepped_at_the_first_micro_batch(times_over: int = 4, **fields: Any) -> Log:
    """The step stands at the beginning of a window, and the clear at its end; `fields` are of the clears."""
    tape = Tape("w b")
    for number in range(6):
        tape.passes(1)
        tape.step()
        if number < times_over:
            tape.passes(3)
        tape.clear(**fields)
    return tape.log()


@finds(
    "order.lost",
    "zeroed-inside-window",
    "error",
    CLEAR,
    "of 16 backward passes in 4 windows, 12 were thrown away and the steps used 4",
)
def the_step_stands_at_one_end_of_the_window_and_the_clear_at_the_other() -> Log:
    return stepped_at_the_first_micro_batch()


@quiet("order.lost")
def passes_that_are_read_and_cleared_between_steps_of_one_pass() -> Log:
    return stepped_at_the_first_micro_batch(taken=True)


@quiet("order.lost")
def a_part_is_cleared_bit_by_bit_of_the_only_pass_of_each_step() -> Log:
    """Frozen by zeros in .grad, as layers of an earlier task are."""
    tape = Tape("w b d")
    for _ in range(6):
        tape.passes(1)
        for name in ("b", "d"):
            tape.clear(names=name, how="zeros")
        tape.step()
        tape.clear()
    return tape.log()


@quiet("order.lost")
def passes_that_hooks_take_between_steps_of_one_pass() -> Log:
    return stepped_at_the_first_micro_batch(hooked=True)


@quiet("order.lost")
def passes_that_are_given_up_between_a_few_steps_of_one_pass() -> Log:
    return stepped_at_the_first_micro_batch(times_over=2)


@finds("order.lost", "zeroed-inside-window", "error", CLEAR, "of 4 backward passes in 1 window, 1 ", lost=1, used=3)
def cleared_once_in_the_middle_of_a_window() -> Log:
    tape = windows(4, 4)
    tape.passes(1)
    tape.clear()
    tape.passes(3)
    tape.step()
    tape.clear()
    return tape.log()


@finds(
    "order.lost",
    "tail-dropped",
    "error",
    CLEAR,
    "4 micro-batches of 20 never reached a step: this line cleared them 1 time",
    lost=4,
    used=16,
    steps=[2],
    step_stands_under=at(IF),
)
def what_is_left_of_an_epoch_is_cleared() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.clear()
        for _ in range(2):
            tape.passes(4)
            tape.step(under=at(IF))
            tape.write(Clear, CLEAR + 20, ("w", "b"), how="none", full=2)
            for one in tape.held.values():
                one.status, one.passes = "empty", []
        tape.passes(2)
    return tape.log()


@finds(
    "order.lost",
    "tail-dropped",
    "warning",
    BACKWARD,
    "ended with 2 micro-batches accumulated and no step: windows hold 4, and 2 were left over",
    lost=2,
    used=8,
    step_stands_under=at(IF),
)
def the_run_ends_inside_a_window() -> Log:
    tape = windows(4, 4, under=at(IF))
    tape.passes(2)
    return tape.log()


def guarded(
    *gone: int,
    of: int,
    evaluated: bool = False,
    under: tuple[Place, ...] = (),
    idle_by: tuple[str, ...] | None = None,
    **fields: Any,
) -> Log:
    """Single passes, of which a guard clears some before the step."""
    tape = Tape("w b")
    for number in range(of):
        tape.passes(1)
        if number in gone:
            tape.clear(GUARD, **fields)
            if evaluated:
                tape.forward(OTHER, grad=False, training=False)
        tape.step(**({"idle_by": idle_by} if number in gone else {}))
        tape.clear()
    return tape.log(clears_under=under)


@finds("order.lost", "zeroed-before-step", "error", GUARD, "2 of 9 steps", steps=[3, 7])
def an_evaluation_clears_what_a_clip_has_read() -> Log:
    return guarded(3, 7, of=9, taken=True, evaluated=True)


@quiet("order.lost")
def a_guard_under_a_condition_clears_before_an_evaluation() -> Log:
    return guarded(3, 7, of=9, taken=True, evaluated=True, under=(at(GUARD),))


@quiet("order.lost")
def a_guard_throws_away_two_of_nine() -> Log:
    return guarded(3, 7, of=9, taken=True)


@finds(
    "order.lost",
    "zeroed-before-step",
    "warning",
    GUARD,
    "Now and then this line clears",
    "2 of 9 steps of SGD found zeros, so only momentum could move the parameters",
    remedy="Leave the step out as well; or clear with set_to_none=True: a step that finds no gradients does nothing.",
    steps=[3, 7],
    windows=9,
    step_taken_at=at(STEP),
)
def a_guard_makes_zeros_of_two_gradients_and_the_step_goes_on() -> Log:
    return guarded(3, 7, of=9, taken=True, how="zeros", idle_by=("momentum",))


@quiet("order.lost")
def a_guard_makes_zeros_and_nothing_moves_by_itself() -> Log:
    return guarded(3, 7, of=9, taken=True, how="zeros", idle_by=())


@quiet("order.lost")
def a_guard_makes_zeros_of_one_gradient() -> Log:
    return guarded(3, of=9, taken=True, how="zeros", idle_by=("momentum",))


def given_up(*, guarding: bool) -> Log:
    """Windows of two, in one of which a clear has thrown away what was there of four."""
    tape = Tape("w b")
    for number in range(8):
        tape.passes(4)
        if number == 5:
            tape.clear(GUARD)
            tape.passes(3)
        tape.step()
        tape.clear()
    return tape.log(guarding_clears=(at(GUARD),) if guarding else ())


@quiet("order.lost")
def a_window_with_a_loss_that_is_not_finite_is_given_up() -> Log:
    return given_up(guarding=True)


@finds("order.lost", "zeroed-inside-window", "error", GUARD, "of 7 backward passes in 1 window, 4 were thrown away")
def a_window_is_given_up_for_nothing() -> Log:
    return given_up(guarding=False)


@finds("order.lost", "zeroed-before-step", "error", GUARD, "3 of 8 steps", steps=[1, 4, 6])
def a_guard_throws_away_three_of_eight() -> Log:
    return guarded(1, 4, 6, of=8, taken=True)


@finds("order.lost", "zeroed-before-step", "error", GUARD, "1 of 8 steps", steps=[5])
def one_of_eight_is_thrown_away_unseen() -> Log:
    return guarded(5, of=8)


@finds("order.lost", "zeroed-before-step", "error", GUARD, "1 of 4 steps", steps=[1])
def one_of_four_is_thrown_away() -> Log:
    return guarded(1, of=4, taken=True)


def put_aside(*, taken: bool, assigned: bool = False, edited: bool = False) -> Log:
    """Every micro-batch but the last is cleared, and perhaps read before."""
    tape = Tape("w b")
    for _ in range(3):
        for _ in range(3):
            tape.passes(1)
            tape.clear(taken=taken)
        tape.passes(1)
        if edited:
            tape.edit()
        tape.step(assigned=assigned)
        tape.clear()
    return tape.log()


@finds("order.lost", "zeroed-inside-window", "error", CLEAR, "9 were thrown away and the steps used 3", lost=9)
def gradients_are_read_and_never_put_back() -> Log:
    return put_aside(taken=True)


@finds("order.lost", "zeroed-inside-window", "error", CLEAR, "9 were thrown away", lost=9)
def what_was_not_read_cannot_come_back() -> Log:
    return put_aside(taken=False, assigned=True)


@quiet("order.lost")
def gradients_are_added_back_in_place() -> Log:
    return put_aside(taken=True, edited=True)


def stepped_by_hand(*, taken: bool) -> Log:
    """Every micro-batch but the last is cleared, and perhaps read before; no optimizer steps."""
    tape = Tape(loose="w b")
    for _ in range(3):
        tape.passes(1)
        tape.clear(taken=taken)
    tape.passes(1)
    tape.step(optimizer=None)
    return tape.log(steps_by_hand=1)


@quiet("order.lost")
def a_step_by_hand_goes_along_sums_of_its_own() -> Log:
    return stepped_by_hand(taken=True)


@finds("order.lost", "zeroed-inside-window", "error", CLEAR, "3 were thrown away and the steps used 1", lost=3)
def a_step_by_hand_cannot_use_what_was_not_read() -> Log:
    return stepped_by_hand(taken=False)


@finds("order.lost", "zeroed-inside-window", "error", CLEAR, "6 were thrown away and the steps used 3")
def the_gradient_is_edited_before_the_last_backward() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        for _ in range(2):
            tape.passes(1)
            tape.clear(taken=True)
        tape.edit(status="zero")
        tape.passes(1)
        tape.step()
        tape.clear()
    return tape.log()


@finds("order.lost", "tail-dropped", "error", GUARD, "8 micro-batches of 24", "2 times", lost=8, used=16)
def a_guard_throws_away_two_windows_of_four() -> Log:
    return guarded_windows(1, 2, taken=True)


@finds("order.lost", "tail-dropped", "error", GUARD, "4 micro-batches of 20", lost=4, used=16)
def a_whole_window_is_thrown_away_unseen() -> Log:
    return guarded_windows(2)


def guarded_windows(*gone: int, given_up: bool = False, **fields: Any) -> Log:
    """Four windows of four; before some of them another four passes are cleared."""
    tape = Tape("w b")
    for number in range(4):
        if number in gone:
            tape.passes(4)
            tape.clear(GUARD, **fields)
            if given_up:
                tape.forward()
        tape.passes(4)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "order.lost",
    "tail-dropped",
    "warning",
    BACKWARD,
    "windows hold 4, and 3 were left over",
    lost=3,
    used=8,
)
def the_run_begins_with_a_gradient_of_the_users_and_ends_inside_a_window() -> Log:
    tape = Tape("w b")
    tape.edit("assigned", status="empty")
    for size in (4, 4):
        tape.passes(size)
        tape.step()
        tape.clear()
    tape.passes(3)
    return tape.log()


@quiet("order.lost")
def a_guard_throws_away_one_window_of_four() -> Log:
    return guarded_windows(2, taken=True)


@quiet("order.lost")
def a_window_with_a_broken_batch_is_thrown_away() -> Log:
    return guarded_windows(2, given_up=True)


@quiet("order.lost")
def a_gradient_is_thrown_away_after_another_optimizers_step() -> Log:
    tape = Tape("g", "d")
    for _ in range(3):
        tape.passes(1)
        tape.step(optimizer=0)
        tape.clear(names="g")
        tape.clear(names="d", after_step=True)
        tape.passes(1, names="d")
        tape.step(optimizer=1)
        tape.clear(names="d")
    return tape.log()


@quiet("order.lost")
def the_gradients_of_an_attack_are_thrown_away() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1, OTHER)
        tape.clear()
        tape.passes(4)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("order.lost")
def a_batch_is_given_up_after_its_backward() -> Log:
    tape = windows(1, 1)
    tape.passes(1)
    tape.clear(GUARD)
    tape.passes(1)
    tape.step()
    return tape.log()


def with_a_twin(how: str, status: str) -> Log:
    """Two passes are left at the end, and the gradient of another model is changed."""
    tape = windows(4, 4)
    tape.passes(2)
    tape.edit(how, names="w", status=status)
    tape.amend(names=("twin.w", "twin.b"))
    return tape.log()


@quiet("order.lost")
def the_last_gradients_were_put_into_another_model() -> Log:
    return with_a_twin("assigned", "empty")


@finds("order.lost", "tail-dropped", "warning", BACKWARD, "2 were left over")
def a_gradient_of_another_model_is_replaced() -> Log:
    return with_a_twin("assigned", "fresh")


@finds("order.lost", "tail-dropped", "warning", BACKWARD, "2 were left over")
def a_gradient_of_another_model_is_edited() -> Log:
    return with_a_twin("in place", "empty")


@quiet("order.lost")
def windows_of_another_size_were_stepped_too() -> Log:
    tape = windows(4, 4, 4, 2)
    tape.passes(2)
    return tape.log()


def never_at_the_last() -> Log:
    """Windows of two, of five batches an epoch, and a condition for the last one that never holds."""
    tape = Tape("w b")
    for _ in range(2):
        tape.clear(OTHER)
        for _ in range(2):
            tape.passes(2)
            tape.step(under=at(IF), never_last="i == len(x)")
            tape.clear()
        tape.passes(1)
    return tape.log()


@finds(
    "order.lost",
    "tail-dropped",
    "error",
    IF,
    "is to be stepped where i == len(x), and that is never so",
    "1 micro-batch never reached a step",
    remedy="Ask for i + 1 == len(x).",
    lost=1,
)
def the_last_turn_never_comes() -> Log:
    return never_at_the_last()


@finds(
    "order.lost",
    "tail-dropped",
    "warning",
    IF,
    "A window that is not full then is left over.",
    remedy="Ask for i + 1 == len(x).",
    lost=0,
)
def the_last_turn_never_comes_and_nothing_is_left_over() -> Log:
    return windows(2, 2, 2, under=at(IF), never_last="i == len(x)").log()


@quiet("order.lost")
def the_last_turn_never_comes_where_each_batch_is_stepped() -> Log:
    return windows(1, 1, 1, under=at(IF), never_last="i == len(x)").log()


def taken_by_turns(turns: int = 4, *, unread: tuple[str, ...] = ("v",), late: str = "", **fields: Any) -> Log:
    """Two tasks, each with a head of its own: what both reach is read and cleared after the first."""
    tape = Tape("w v u")
    for _ in range(turns):
        tape.clear()
        tape.passes(1, names="w v")
        tape.clear(**({"by": 0, "taken": True, "unread": unread} | fields))
        tape.passes(1, OTHER, names="w u")
        if late:
            tape.passes(1, OTHER, names=late)
        tape.edit(names="w")
        tape.step()
    return tape.log()


@finds(
    "order.part_never_arrives",
    "zeroed-inside-window",
    "error",
    CLEAR,
    "Some of the gradients had been read by then, those of v had not: they were thrown away in 4 of 4 windows of SGD, "
    "and no step ever had one of them.",
    remedy="Take those gradients before the clear as well, or leave them where they are and clear only what is taken.",
    names=["v"],
    steps=[0, 1, 2, 3],
)
def the_first_tasks_head_is_cleared_with_the_rest() -> Log:
    return taken_by_turns()


@finds(
    "order.part_never_arrives",
    "zeroed-inside-window",
    "error",
    CLEAR,
    "those of v had not",
    remedy="Take those gradients before the clear as well, or leave them where they are and clear only what is taken.",
)
def the_whole_model_is_cleared_between_two_tasks() -> Log:
    return taken_by_turns(by=None)


@quiet("order.part_never_arrives")
def the_first_tasks_head_is_read_as_well() -> Log:
    return taken_by_turns(unread=())


@quiet("order.part_never_arrives")
def the_first_tasks_head_gets_a_gradient_later() -> Log:
    return taken_by_turns(late="v")


@quiet("order.part_never_arrives")
def the_first_tasks_head_alone_is_cleared() -> Log:
    return taken_by_turns(by=None, names="v")


@quiet("order.part_never_arrives")
def nobody_reads_what_is_thrown_away_whole() -> Log:
    return taken_by_turns(taken=False)


@quiet("order.part_never_arrives")
def a_hook_may_have_kept_the_heads_gradient() -> Log:
    return taken_by_turns(hooked=True)


@quiet("order.part_never_arrives")
def the_heads_gradient_held_nan() -> Log:
    return taken_by_turns(nonfinite=True)


@quiet("order.part_never_arrives")
def two_windows_are_too_few_to_say_never() -> Log:
    return taken_by_turns(2)


@quiet("order.lost")
def the_run_was_stopped_inside_a_window() -> Log:
    tape = windows(4, 4)
    tape.passes(2)
    return tape.log(finished=False)


@quiet("order.lost")
def the_run_ended_with_an_exception_inside_a_window() -> Log:
    tape = windows(4, 4)
    tape.passes(2)
    return tape.log(error="KeyboardInterrupt: ", error_at=at(BACKWARD))


@quiet("order.lost")
def a_trial_run_before_training_is_thrown_away() -> Log:
    tape = Tape("w b")
    tape.passes(1, OTHER)
    tape.clear()
    for size in (4, 4):
        tape.passes(size)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("order.lost")
def a_guard_throws_away_one_exploded_gradient_of_eight() -> Log:
    tape = Tape("w b")
    for number in range(8):
        tape.passes(1)
        if number == 5:
            tape.clear(GUARD, taken=True)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("order.lost")
def gradients_are_kept_in_buffers_and_put_back() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        for _ in range(4):
            tape.passes(1)
            tape.clear(taken=True)
        tape.edit("assigned", carried="all")
        tape.step(fresh=2, passes=4, assigned=True)
    return tape.log()


@quiet("order.lost")
def what_was_thrown_away_held_nan() -> Log:
    tape = windows(4, 4)
    tape.passes(4)
    tape.clear(GUARD, nonfinite=True)
    tape.passes(4)
    tape.step()
    return tape.log()


# ------------------------------------------------------------------ order: passes that come after their step


def late_passes(
    *,
    line: int = OTHER,
    reaches: str = "w b",
    by: int | None = 0,
    reads: bool = False,
    cleared: bool = False,
    **fields: Any,
) -> Tape:
    """Each step is followed by a pass of another line, and a clear. `fields` are of that pass or of the clear."""
    of_clear = {name: fields.pop(name) for name in ("taken", "nonfinite", "hooked") if name in fields}
    tape = Tape("w b", loose="z") if by == 0 else Tape(loose="w b z")
    for _ in range(4):
        tape.passes(1, names="w b")
        tape.step(optimizer=by)
        if cleared:
            tape.clear(names="w b")
        tape.passes(1, line, names=reaches, **fields)
        if reads:
            tape.write(InputGradient, EDIT, backward=tape.count)
        tape.clear(**of_clear)
    return tape


@finds(
    "order.cleared_twice",
    "zeroed-inside-window",
    "error",
    EDIT,
    "of 6 backward passes in 3 windows, 3 were thrown away and the steps used 3",
    lost=3,
    used=3,
)
def one_loss_of_two_is_cleared_before_the_other() -> Log:
    return cleared_before_the_second()


@quiet("order.cleared_twice")
def the_first_loss_is_for_the_gradient_of_an_input() -> Log:
    return cleared_before_the_second(for_input=True)


@quiet("order.cleared_twice")
def the_first_losses_gradients_are_read() -> Log:
    return cleared_before_the_second(taken=True)


@quiet("order.cleared_twice")
def the_first_loss_trains_another_model_too() -> Log:
    return cleared_before_the_second(first="w v")


def cleared_before_the_second(for_input: bool = False, taken: bool = False, first: str = "w") -> Log:
    """Windows with a clear, a pass, another clear and a pass of another line."""
    tape = Tape("w", "v")
    for _ in range(3):
        tape.clear(names="w", by=0)
        tape.passes(1, OTHER, names=first)
        if for_input:
            tape.write(InputGradient, OTHER, backward=tape.count)
        if first != "w":
            tape.step(OTHER, 1)
            tape.clear(names="v")
        tape.clear(EDIT, names="w", by=0, taken=taken)
        tape.passes(1, names="w")
        tape.step()
    return tape.log()


@finds(
    "order.unused",
    "backward-after-step",
    "warning",
    OTHER,
    "after the step of SGD, and train.py:13 clears what it has computed before the next one: in 3 of 4 windows",
    steps=[1, 2, 3],
)
def a_penalty_goes_backward_after_the_step() -> Log:
    return late_passes().log()


def through_another(used: bool) -> Log:
    """A critic's step, then a pass that also reaches the generator, whose gradients are cleared before its own pass, or
    used with that."""
    tape = Tape("w", "v")
    for _ in range(4):
        tape.clear(names="w")
        tape.passes(1, names="w")
        tape.step()
        tape.passes(1, OTHER)
        if not used:
            tape.clear(EDIT, names="v")
        tape.passes(1, EDIT, names="v")
        tape.step(optimizer=1)
        if used:
            tape.clear(EDIT, names="v")
    return tape.log()


@finds("order.unused", "backward-after-step", "warning", OTHER, "after the step of SGD #1", steps=[1, 2, 3])
def a_loss_goes_backward_after_the_step_through_what_another_optimizer_holds() -> Log:
    return through_another(used=False)


@quiet("order.unused")
def gradients_after_the_step_are_read() -> Log:
    return late_passes(taken=True).log()


@quiet("order.unused")
def gradients_after_the_step_are_taken_by_hooks() -> Log:
    return late_passes(hooked=True).log()


@quiet("order.unused")
def gradients_after_the_step_are_not_finite() -> Log:
    return late_passes(nonfinite=True).log()


@quiet("order.unused")
def a_pass_after_the_step_is_for_the_gradient_of_an_input() -> Log:
    return late_passes(reads=True).log()


@quiet("order.unused")
def the_graph_of_a_pass_after_the_step_is_used_again() -> Log:
    return late_passes(retain_graph=True).log()


@quiet("order.unused")
def a_pass_after_the_step_reaches_what_this_optimizer_does_not_hold() -> Log:
    return late_passes(reaches="w b z").log({"z": {"in_model": False}})


@quiet("order.unused")
def a_pass_after_the_step_comes_after_a_clear_too() -> Log:
    return late_passes(cleared=True).log()


@quiet("order.unused")
def one_pass_in_a_long_run_comes_after_the_step() -> Log:
    tape = Tape("w b")
    for number in range(5):
        tape.passes(1)
        tape.step()
        if number == 1:
            tape.passes(1, OTHER)
        tape.clear()
    return tape.log()


@quiet("order.unused")
def passes_of_the_line_that_steps_use_come_after_one() -> Log:
    tape = Tape("w b")
    for _ in range(4):
        tape.passes(1)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("order.unused")
def the_gradient_of_a_feature_map_is_read_after_the_step() -> Log:
    return late_passes(read_inside=True).log()


@quiet("order.unused")
def an_attack_goes_backward_before_the_clear() -> Log:
    tape = Tape("w b")
    for _ in range(4):
        tape.passes(1, OTHER)
        tape.clear()
        tape.passes(1)
        tape.step()
    return tape.log()


@quiet("order.unused")
def a_pass_comes_after_steps_by_hand() -> Log:
    return late_passes(by=None).log({name: {"in_model": False} for name in "wbz"})


# ------------------------------------------------------------------ order: steps on gradients that a step has used


@finds(
    "order.used_again",
    "frozen-with-stale-gradient",
    "error",
    STEP,
    "b no longer requires a gradient but still holds an old one: 2 steps of SGD used it again",
    names=["b"],
    steps=[1, 2],
)
def a_layer_is_frozen_and_keeps_its_gradient() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.step()
    for _ in range(2):
        tape.clear(names="w")
        tape.passes(1, names="w")
        tape.step(frozen=("b",))
    return tape.log()


@finds(
    "order.used_again",
    "parameter-in-two-optimizers",
    "error",
    MADE,
    "SGD #2 (train.py:1) steps w with a gradient that SGD #1 (train.py:1) had used already: 3 steps, the first at "
    f"train.py:{OTHER}.",
    names=["w"],
    steps=[0, 1, 2],
)
def two_optimizers_hold_one_parameter() -> Log:
    tape = Tape("w b", "w d")
    for _ in range(3):
        tape.clear()
        tape.passes(1)
        tape.step()
        tape.step(OTHER, 1)
    return tape.log()


def adversaries(
    first: str = "G.w D.w D.b", second: str = "D.w D.b", rounds: int = 3, turns: bool = True, **facts: Any
) -> Log:
    """Two optimizers, each on gradients of its own, in turn or one after the other."""
    tape = Tape(first, second)
    for optimizer in [1, 0] * rounds if turns else [1] * rounds + [0] * rounds:
        mine = " ".join(tape.owned[optimizer])
        tape.forward()
        tape.clear(names=mine)
        tape.backward(names=mine)
        tape.step(optimizer=optimizer)
    return tape.log(facts)


@finds(
    "order.adversary_in_both",
    "parameter-in-two-optimizers",
    "warning",
    MADE,
    "SGD #1 (train.py:1) holds all that SGD #2 (train.py:1) holds, D.b and D.w, beside what it is there for, and has "
    "moved it in 3 steps by the gradient of another loss.",
    remedy="Give SGD #1 (train.py:1) the parameters of its own network alone.",
    names=["D.b", "D.w"],
    steps=[0, 1, 2],
)
def the_optimizer_of_a_generator_holds_the_discriminator_too() -> Log:
    return adversaries()


@finds(
    "order.adversary_in_both",
    "parameter-in-two-optimizers",
    "warning",
    MADE,
    "SGD #1 (train.py:1) holds all that SGD #2 (train.py:1) holds, D.0.w,",
    remedy="Give SGD #1 (train.py:1) the parameters of its own network alone.",
    names=["D.0.w"],
)
def the_optimizer_of_a_generator_holds_two_discriminators_too() -> Log:
    tape = Tape("G.w D.0.w D.1.w", "D.0.w", "D.1.w")
    for optimizer in [1, 2, 0] * 3:
        mine = " ".join(tape.owned[optimizer])
        tape.forward()
        tape.clear(names=mine)
        tape.backward(names=mine)
        tape.step(optimizer=optimizer)
    return tape.log()


@finds(
    "order.adversary_in_both",
    "parameter-in-two-optimizers",
    "warning",
    MADE,
    "SGD #1 (train.py:1) holds all that SGD #2 (train.py:1) holds, log_alpha, beside what it is there for",
    remedy="Give SGD #1 (train.py:1) the parameters of its own network alone.",
    names=["log_alpha"],
)
def the_optimizer_of_an_actor_holds_the_weight_of_the_entropy_too() -> Log:
    return adversaries("actor.w log_alpha", "log_alpha", log_alpha={"shape": ()})


@finds(
    "order.held_by_two",
    "parameter-in-two-optimizers",
    "info",
    MADE,
    "SGD #2 (train.py:1) and SGD #1 (train.py:1) both hold encoder.b and encoder.w, and step in turn, each on",
    "its own: 3 steps and 3.",
    remedy="If one of the losses is not to train them, detach what they compute for it, or leave them out there.",
    names=["encoder.b", "encoder.w"],
    other_one_made_at=at(MADE),
)
def two_optimizers_step_one_encoder_in_turn() -> Log:
    return adversaries("net.w encoder.w encoder.b", "encoder.w encoder.b head.w")


SHALLOW: dict[str, Any] = {"shallow_copies": ("Net2", "Net3"), "copied_at": at(OTHER)}


@finds(
    "order.copied_shallowly",
    "parameter-in-two-optimizers",
    "warning",
    OTHER,
    "Net2 is a shallow copy of another model: its parameters are that one's own. SGD #1 (train.py:1) and SGD #2 "
    "(train.py:1) both move encoder.b and encoder.w.",
    remedy="copy.deepcopy(model) has weights of its own.",
    names=["encoder.b", "encoder.w"],
    other_one_made_at=at(MADE),
)
def a_model_and_its_shallow_copy_have_an_optimizer_each() -> Log:
    return replace(adversaries("encoder.w encoder.b", "encoder.w encoder.b"), **SHALLOW)


@finds(
    "order.copied_shallowly",
    "parameter-in-two-optimizers",
    "warning",
    MADE,
    "Net2 is a shallow copy",
    remedy="copy.deepcopy(model) has weights of its own.",
)
def several_lines_make_shallow_copies() -> Log:
    return replace(adversaries("encoder.w", "encoder.w"), **(SHALLOW | {"copied_at": None}))


@quiet("order.copied_shallowly")
def the_optimizer_of_a_shallow_copy_has_never_stepped() -> Log:
    return replace(adversaries("encoder.w", "encoder.w", rounds=0), **SHALLOW)


@quiet("order.copied_shallowly")
def a_shallow_copy_is_called_and_one_optimizer_moves_it() -> Log:
    return replace(adversaries("a.w", "b.w"), **SHALLOW)


def test_what_a_shallow_copy_shares_is_told_once() -> None:
    log = replace(adversaries("net.w encoder.w encoder.b", "encoder.w encoder.b head.w"), **SHALLOW)
    assert [one.severity for one in findings(log)] == ["warning"]


@quiet("order.held_by_two")
def one_optimizer_takes_an_encoder_over_from_another() -> Log:
    return adversaries("net.w encoder.w encoder.b", "encoder.w encoder.b head.w", turns=False)


@quiet("order.held_by_two")
def two_optimizers_have_stepped_one_encoder_twice() -> Log:
    return adversaries("net.w encoder.w encoder.b", "encoder.w encoder.b head.w", rounds=2)


@quiet("order.adversary_in_both")
def one_optimizer_holds_the_encoder_of_another_one_by_no_adversarys_name() -> Log:
    return adversaries("net.w encoder.w encoder.b", "encoder.w encoder.b")


@quiet("order.adversary_in_both")
def each_of_two_adversaries_has_its_own_optimizer() -> Log:
    return adversaries("G.w G.b")


@quiet("order.adversary_in_both")
def one_optimizer_holds_two_critics_and_another_one_of_them() -> Log:
    return adversaries("critic1.w critic2.w", "critic2.w")


@quiet("order.adversary_in_both")
def a_third_optimizer_holds_what_the_two_others_hold() -> Log:
    tape = Tape("G.w D.w", "D.w", "G.w")
    for optimizer in [1, 2, 0] * 3:
        mine = " ".join(tape.owned[optimizer])
        tape.forward()
        tape.clear(names=mine)
        tape.backward(names=mine)
        tape.step(optimizer=optimizer)
    return tape.log()


@quiet("order.adversary_in_both")
def the_discriminator_is_trained_alone_and_then_with_the_rest() -> Log:
    return adversaries(turns=False)


@finds("order.used_again", "stepped-on-used-gradients", "error", STEP, "2 steps of SGD used gradients", steps=[1, 3])
def two_steps_for_one_backward() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.clear()
        tape.passes(1)
        tape.step()
        tape.step()
    return tape.log()


@finds("order.used_again", "stepped-on-used-gradients", "warning", STEP, "1 step of SGD used gradients", steps=[3])
def one_more_step_at_the_end() -> Log:
    tape = windows(1, 1)
    tape.passes(1)
    tape.step()
    tape.step()
    return tape.log()


def kept_graphs(steps: int, made_for: int | None = 1) -> Log:
    """One forward, and a pass through its graph before each step."""
    tape = Tape("w b")
    tape.passes(1, retain_graph=True)
    tape.step()
    for _ in range(steps):
        tape.clear()
        tape.backward(retain_graph=True, made_for=made_for)
        tape.step()
    return tape.log()


@finds(
    "order.outlived",
    "step-between-forward-and-backward",
    "warning",
    BACKWARD,
    "nothing in it was computed with the weights as they are now: 3 steps looked at",
    remedy="Run the forward anew after every step, and leave out retain_graph=True.",
    steps=[1, 2, 3],
)
def one_forward_serves_several_steps() -> Log:
    return kept_graphs(3)


@quiet("order.outlived")
def one_forward_serves_one_more_step() -> Log:
    return kept_graphs(1)


@quiet("order.outlived")
def a_graph_stays_and_every_pass_has_a_forward_of_its_own() -> Log:
    return kept_graphs(3, made_for=None)


@quiet("order.outlived")
def another_optimizer_takes_its_step_on_the_same_forward() -> Log:
    tape = Tape("w b", "d")
    for _ in range(3):
        tape.clear(names="w b")
        tape.passes(1, names="w b", retain_graph=True)
        tape.step()
        tape.clear(names="d")
        tape.backward(names="d", made_for=tape.count)
        tape.step(optimizer=1)
    return tape.log()


@quiet("order.outlived")
def what_a_graph_that_stayed_brings_is_one_part_of_a_step() -> Log:
    tape = Tape("w b")
    tape.passes(2, retain_graph=True)
    tape.step()
    for _ in range(3):
        tape.clear()
        tape.passes(1)
        tape.backward(retain_graph=True, made_for=1)
        tape.step()
    return tape.log()


@finds(
    "order.another_stepped",
    "another-optimizer-stepped",
    "error",
    OTHER,
    "SGD #1 (train.py:1) took 3 steps here, and found no gradient at any of them",
    "puts gradients on what SGD #2 (train.py:1) holds, which is not stepped then",
    remedy="Step SGD #2 (train.py:1) here.",
)
def the_first_optimizer_steps_behind_the_loss_of_the_second_model() -> Log:
    return stepping_another()


@quiet("order.another_stepped")
def the_first_optimizer_steps_once_behind_the_loss_of_the_second_model() -> Log:
    return stepping_another(times=1)


@quiet("order.another_stepped")
def the_turn_of_the_second_optimizer_comes_next() -> Log:
    return stepping_another(turn=True)


@quiet("order.another_stepped")
def a_step_behind_what_two_optimizers_hold_finds_nothing_of_its_own() -> Log:
    tape = Tape("w", "v", "u")
    for number in range(4):
        tape.passes(1, names="w")
        tape.step()
        tape.clear()
        tape.passes(1, names="v u")
        if number:
            tape.step(OTHER)
            tape.schedule()
        tape.step(optimizer=1)
        tape.step(optimizer=2)
        tape.clear()
    return tape.log()


@quiet("order.another_stepped")
def a_step_that_finds_nothing_has_a_closure() -> Log:
    return stepping_another(closure_calls=1)


@quiet("order.another_stepped")
def a_step_that_finds_nothing_is_taken_inside_another_one() -> Log:
    return stepping_another(inside=1)


def stepping_another(times: int = 3, turn: bool = False, **fields: Any) -> Log:
    """Both models are trained; then the first optimizer steps so often behind the second one's passes as well."""
    tape = Tape("w", "v")
    for number in range(4):
        tape.passes(1, names="v")
        if number >= 4 - times:
            tape.step(OTHER, **fields)
        if turn or number < 4 - times:
            tape.step(optimizer=1)
        tape.clear(names="v")
        tape.passes(1, names="w")
        tape.step()
        tape.clear(names="w")
    return tape.log()


@quiet("order.used_again")
def a_line_search_steps_back_and_steps_again() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.clear()
        tape.passes(1)
        tape.step()
        tape.step(rewound=True)
    return tape.log()


@quiet("order.used_again")
def an_optimizer_with_a_closure_evaluates_by_itself() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.clear()
        tape.passes(1)
        tape.step()
        tape.step(closure_calls=1)
    return tape.log()


# ------------------------------------------------------------------ window: sizes


def uneven(
    *sizes: int, loader: bool = False, epoch: int = 0, passes: dict[str, Any] | None = None, **fields: Any
) -> Tape:
    """Windows of these sizes; with a loader a pass over the data begins after every `epoch` micro-batches."""
    tape, seen = Tape("w b"), 0
    for size in sizes:
        for _ in range(size):
            if loader and seen % epoch == 0:
                tape.new_pass()
            seen += 1
            tape.passes(1, **(passes or {}))
        tape.step(**({"under": at(IF), "condition": "(i + 1) % 4 == 0"} | fields))
        tape.clear()
    return tape


@finds(
    "window.sizes",
    "tail-leaks-into-next-epoch",
    "error",
    IF,
    "Windows of 4 were meant; the steps used 4, 4, 6, 4, 6, 4:",
    "added to the next one's first window.",
    sizes=[4, 4, 6, 4, 6, 4],
    window=4,
    steps=[2, 4],
)
def what_is_left_of_an_epoch_goes_into_the_next() -> Log:
    return uneven(4, 4, 6, 4, 6, 4, loader=True, epoch=10).log()


def left_over(*sizes: int, bare: bool = True) -> Log:
    """Losses divided by the two of their windows, but for the last one of each epoch of three."""
    tape = Tape("w b")
    for size in sizes:
        if size > 2:
            tape.passes(1, bare=bare, quotient=0 if bare else 3)
        tape.passes(min(size, 2), quotient=2)
        tape.step(under=at(IF))
        tape.clear()
    return tape.log()


@finds(
    "window.sizes",
    "tail-leaks-into-next-epoch",
    "error",
    IF,
    "The first window holds 2 passes, and each of their losses is divided by 2. The 3 after it hold 3",
    sizes=[2, 3, 3, 3],
    window=2,
    steps=[1, 2, 3],
)
def the_shares_of_all_windows_but_the_first_make_up_two() -> Log:
    return left_over(2, 3, 3, 3)


def from_zero(condition: str) -> Log:
    """Epochs of a loader that is none of torch's: each begins with a window of one pass."""
    tape = Tape("w b")
    for size in (1, 4, 4, 4, 1, 4, 4, 4):
        tape.passes(size)
        tape.step(under=at(IF), condition=condition)
        tape.clear()
    return tape.log()


@finds(
    "window.sizes",
    "window-starts-short",
    "error",
    IF,
    "the steps used 1, 4, 4, 4, 1, 4, 4, 4: the first one holds 1",
    remedy="Test (step + 1) % self.accum_steps == 0: a count that begins at 0 is one behind.",
)
def each_epoch_counts_from_zero() -> Log:
    return from_zero("step % self.accum_steps == 0")


@quiet("window.sizes")
def nobody_knows_why_some_windows_hold_one_pass() -> Log:
    return from_zero("ready")


@quiet("window.sizes")
def windows_of_two_and_what_is_left_take_turns() -> Log:
    tape = Tape("w b")
    for size in (2, 1, 2, 1, 2, 1):
        tape.passes(size, quotient=2 if size > 1 else 0, bare=size == 1)
        tape.step(under=at(IF))
        tape.clear()
    return tape.log()


@finds("window.sizes", "tail-leaks-into-next-epoch", "warning", IF, "as far as the sizes alone can tell", window=4)
def every_third_window_is_too_large() -> Log:
    return uneven(4, 4, 6, 4, 4, 6, 4, 4).log()


@finds("window.sizes", "tail-leaks-into-next-epoch", "error", IF, "4, 4, 6, 4, 4, 6:", steps=[2, 5])
def every_third_window_is_larger_than_meant() -> Log:
    return uneven(4, 4, 6, 4, 4, 6).log(window=4)


def saved(*behind: int, size: int = 4, optimizer: int = 0, other_line: bool = False) -> Log:
    """Windows in each of which the optimizer's state is saved behind so many passes."""
    tape = Tape("w b")
    for number in behind:
        for count in range(1, size + 1):
            tape.passes(1, OTHER if other_line and count % 2 else BACKWARD)
            if count == number:
                tape.write(StateSaved, GUARD, optimizer=optimizer, pending=count)
        tape.step()
        tape.clear()
        if number > size:
            tape.write(StateSaved, GUARD, optimizer=optimizer, pending=0)
    return tape.log()


@finds(
    "window.saved_inside",
    "saved-inside-window",
    "warning",
    GUARD,
    "The state of SGD was saved here 2 times in the middle of a window, with 2, 1 of its micro-batches in "
    "the gradients.",
    pending=[2, 1],
    steps=[0, 2],
)
def checkpoints_are_written_while_windows_are_open() -> Log:
    return saved(2, 5, 1)


@quiet("window.saved_inside")
def a_checkpoint_was_written_once_while_a_window_was_open() -> Log:
    return saved(2, 5, 5)


@quiet("window.saved_inside")
def checkpoints_are_written_behind_the_steps() -> Log:
    return saved(5, 5, 5)


@quiet("window.saved_inside")
def checkpoints_are_written_between_the_last_pass_and_the_step() -> Log:
    return saved(4, 4, 4)


@quiet("window.saved_inside")
def the_state_of_another_optimizer_is_saved_while_a_window_is_open() -> Log:
    return saved(2, 2, 2, optimizer=1)


@quiet("window.saved_inside")
def checkpoints_are_written_between_two_losses_of_a_batch() -> Log:
    return saved(1, 1, 1, size=2, other_line=True)


@finds(
    "window.sizes",
    "resumed-inside-window",
    "error",
    RESTORED,
    "Windows of 4 are usual; the steps used 2, 4, 4, 4: the first one holds 2",
    "The state of SGD was loaded from a checkpoint here",
    window=4,
)
def a_checkpoint_was_taken_inside_a_window() -> Log:
    tape = Tape("w b")
    for number, size in enumerate((2, 4, 4, 4)):
        tape.passes(size)
        tape.step(restored=None if number else at(RESTORED))
        tape.clear()
    return tape.log()


@finds(
    "window.sizes",
    "window-starts-short",
    "error",
    IF,
    "Windows of 4 are usual; the steps used 1, 4, 4, 4: the first one holds 1",
    remedy="Test (step + 1) % 4 == 0: a count that begins at 0 is one behind.",
    sizes=[1, 4, 4, 4],
    window=4,
)
def a_count_from_zero_ends_the_first_window_at_once() -> Log:
    return uneven(1, 4, 4, 4, condition="step % 4 == 0").log()


@finds("window.sizes", "window-starts-short", "error", IF, "the first one holds 1")
def a_test_of_another_form_ends_the_first_window_at_once() -> Log:
    return uneven(1, 4, 4, 4, condition="not step % 4").log()


@finds(
    "window.sizes",
    "guard-skips-window-end",
    "error",
    GUARD,
    "Windows of 4 are usual; the steps used 4, 4, 7, 4:",
    window=4,
    steps=[2],
)
def a_guard_passes_over_the_end_of_a_window() -> Log:
    tape = uneven(4, 4)
    tape.passes(3)
    tape.forward()  # this batch is given up
    tape.passes(4)
    tape.step(under=at(IF), passed_over=at(GUARD))
    tape.clear()
    tape.passes(4)
    tape.step(under=at(IF))
    return tape.log()


def skipping(*sizes: int, told: int = 4, over: bool = True, condition: str = "(i + 1) % k == 0") -> Log:
    """A count of all batches, some of which a `continue` leaves out before the model has run."""
    tape = Tape("w b")
    for size in sizes:
        tape.passes(size)
        guard = at(GUARD) if over else None
        tape.step(under=at(IF), condition=condition, passed_over=guard, counted_to=told)
        tape.clear()
    return tape.log()


@finds(
    "window.sizes",
    "guard-skips-window-end",
    "error",
    GUARD,
    "Windows of 4 were meant; the steps used 4, 6, 3, 7, 3:",
    window=4,
    steps=[1, 3],
)
def a_guard_passes_over_the_end_of_a_window_before_the_model_runs() -> Log:
    return skipping(4, 6, 3, 7, 3)


@quiet("window.sizes")
def nothing_tells_what_the_windows_of_all_sizes_count_to() -> Log:
    return skipping(4, 6, 3, 7, 3, told=0)


@quiet("window.sizes")
def no_window_is_as_large_as_the_condition_counts_to() -> Log:
    return skipping(3, 6, 3, 7, 3, 6, told=5)


@quiet("window.sizes")
def few_windows_are_as_large_as_the_condition_counts_to_and_none_is_larger() -> Log:
    return skipping(3, 3, 3, 4, 3, 3, 3, 4, over=False)


@quiet("window.sizes")
def nothing_passes_over_the_end_of_windows_of_all_sizes() -> Log:
    return skipping(4, 6, 3, 7, 3, over=False)


@quiet("window.sizes")
def the_first_window_alone_is_too_large_and_no_count_decides() -> Log:
    return skipping(5, 4, 4, 4, condition="ready")


def passed_over(by: int, told: int = 2, second: int | None = None) -> Log:
    """Three passes in every window, a count up to two, and losses that are divided; `second` is another line that goes
    backward."""
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(2, quotient=by)
        tape.passes(1, BACKWARD if second is None else second, quotient=by)
        tape.step(under=at(IF), condition="(i + 1) % k == 0", passed_over=at(GUARD), counted_to=told)
        tape.clear()
    return tape.log()


@finds("window.sizes", "guard-skips-window-end", "error", GUARD, "Windows of 2 were meant; the steps used 3, 3, 3:")
def every_window_is_larger_than_it_counts_to_and_is_divided_by() -> Log:
    return passed_over(2)


@quiet("window.sizes")
def every_window_is_larger_than_it_counts_to_and_is_divided_by_what_it_holds() -> Log:
    return passed_over(3)


@quiet("window.sizes")
def every_window_is_larger_than_it_is_divided_by_and_nothing_is_counted() -> Log:
    return passed_over(2, told=0)


@quiet("window.sizes")
def every_batch_of_a_window_has_losses_of_two_lines() -> Log:
    return passed_over(2, second=OTHER)


def evaluated_inside(**fields: Any) -> Log:
    """A second loader begins inside the windows that are not whole."""
    tape = Tape("w b")
    for size in (4, 4, 3, 4, 3, 4, 4):
        tape.passes(size - 1)
        if size == 3:
            tape.new_pass()
            tape.forward(**fields)
        tape.passes(1)
        tape.step(under=at(IF))
        tape.clear()
    return tape.log()


@finds("window.sizes", "tail-leaks-into-next-epoch", "error", IF, "the steps used 4, 4, 3, 4, 3, 4, 4:")
def a_new_epoch_begins_inside_short_windows() -> Log:
    return evaluated_inside()


@quiet("window.sizes")
def an_evaluation_runs_inside_short_windows() -> Log:
    return evaluated_inside(training=False, grad=False)


@finds("window.sizes", "window-misaligned", "warning", IF, "Windows of 4 were meant; the steps used 4, 4, 5, 4:")
def a_batch_is_given_up_and_the_window_too_large() -> Log:
    tape = uneven(4, 4)
    tape.forward()
    tape.passes(5)
    tape.step(under=at(IF))
    tape.clear()
    tape.passes(4)
    tape.step(under=at(IF))
    return tape.log()


@finds(
    "window.sizes", "window-misaligned", "error", IF, "Windows of 4 were meant; the steps used 4, 3, 5, 4:", window=4
)
def windows_are_smaller_and_larger_than_meant() -> Log:
    return uneven(4, 3, 5, 4).log(window=4)


@finds(
    "window.sizes",
    "window-starts-short",
    "error",
    IF,
    "the steps used 1, 4, 4, 2, 4, 4, 2, 4, 4:",
    remedy="Test (i + 1) % 4 == 0: a count that begins at 0 is one behind.",
)
def a_count_from_zero_in_every_epoch() -> Log:
    """Ten batches an epoch: the last of each goes into the next one's first window."""
    return uneven(1, 4, 4, 2, 4, 4, 2, 4, 4, loader=True, epoch=10, condition="i % 4 == 0").log()


OR_THE_LAST = "i % 4 == 0 or i + 1 == n"


@finds(
    "window.sizes",
    "window-starts-short",
    "error",
    IF,
    "the steps used 1, 3 times 4, 2, 1, 3 times 4, 2, 1, 3 times 4, 2:",
    remedy="Test (i + 1) % 4 == 0: a count that begins at 0 is one behind.",
)
def a_count_from_zero_or_the_last_batch_of_an_epoch() -> Log:
    """Fifteen batches an epoch, of no loader of torch's: what is left over is stepped, too."""
    return uneven(*[1, 4, 4, 4, 2] * 3, condition=OR_THE_LAST).log()


@quiet("window.sizes")
def what_is_left_over_is_stepped_and_the_next_epoch_begins_with_two() -> Log:
    return uneven(1, 4, 4, 4, 2, 2, 4, 4, 4, 2, condition=OR_THE_LAST).log()


@quiet("window.sizes")
def what_is_left_over_is_stepped_and_the_condition_is_of_another_form() -> Log:
    return uneven(*[1, 4, 4, 4, 2] * 3, condition="ready or i + 1 == n").log()


def short_epochs(quotient: int) -> Log:
    """Twelve batches an epoch, so that no more than half of the windows are whole."""
    by = {"quotient": quotient}
    return uneven(*[1, 4, 4, 3] * 2, loader=True, epoch=12, condition="is_update_step", passes=by).log()


@finds(
    "window.sizes",
    "window-starts-short",
    "error",
    IF,
    "Windows of 4 were meant; the steps used 1, 4, 4, 3, 1, 4, 4, 3:",
    window=4,
)
def few_windows_are_whole_and_each_loss_is_divided_by_their_size() -> Log:
    return short_epochs(4)


@finds("window.sizes", "window-starts-short", "error", IF, "Windows of 4 were meant")
def few_windows_are_whole_and_each_loss_is_a_mean_of_two_as_well() -> Log:
    return short_epochs(8)


@quiet("window.sizes")
def few_windows_are_whole_and_the_losses_are_divided_by_something_else() -> Log:
    return short_epochs(6)


@quiet("window.sizes")
def few_windows_are_whole_and_each_loss_is_divided_by_the_size_of_its_own() -> Log:
    tape = Tape("w b")
    for size in [1, 4, 4, 3] * 2:
        tape.passes(size, quotient=size)
        tape.step(under=at(IF))
        tape.clear()
    return tape.log()


@finds("window.sizes", "window-misaligned", "warning", IF, "the steps used 4, 4, 3, 4:")
def a_guard_passes_over_a_batch_of_a_window() -> Log:
    tape = uneven(4, 4)
    tape.forward()
    tape.passes(3)
    tape.step(under=at(IF), passed_over=at(GUARD))
    tape.clear()
    tape.passes(4)
    tape.step(under=at(IF))
    return tape.log()


@finds("window.sizes", "window-misaligned", "warning", IF, "Windows of 4 were meant; the steps used 3, 6, 2, 7, 3, 5:")
def micro_batches_are_passed_over_and_counted() -> Log:
    return uneven(3, 6, 2, 7, 3, 5, passes={"divisor": 4.0}).log()


@quiet("window.sizes")
def losses_of_all_sizes_of_windows_are_divided_and_no_count_decides() -> Log:
    return uneven(3, 6, 2, 7, 3, 5, passes={"divisor": 4.0}, condition="tokens >= budget").log()


@quiet("window.sizes")
def no_window_is_larger_than_what_its_losses_are_divided_by() -> Log:
    return uneven(3, 2, 4, 3, 2, 1, 4, passes={"divisor": 4.0}).log()


@finds("window.sizes", "window-misaligned", "error", IF, "the steps used 4, 4, 2, 4, 4, 3:")
def windows_are_short_by_different_numbers() -> Log:
    return uneven(4, 4, 2, 4, 4, 3).log(window=4)


@finds("window.sizes", "window-misaligned", "error", IF, "the steps used 3, 3, 3:")
def every_window_is_short_and_no_loader_says_where_epochs_end() -> Log:
    return uneven(3, 3, 3).log(window=4)


@finds("window.sizes", "window-misaligned", "error", STEP, "the steps used 4, 2, 4, 4, 2:")
def short_windows_come_at_odd_times() -> Log:
    return windows(4, 2, 4, 4, 2).log(window=4)


SINGLE = "Step after every micro-batch, or say --window 9 if that many are meant."


@finds(
    "window.sizes",
    "window-misaligned",
    "error",
    IF,
    "3 steps used 9, 9, 9, each with a forward",
    remedy=SINGLE,
    window=1,
)
def the_step_waits_for_nine_where_one_was_meant() -> Log:
    return uneven(9, 9, 9).log(window=1)


@finds(
    "window.sizes", "window-misaligned", "info", STEP, "if these are not several losses", remedy=SINGLE, steps=[0, 2]
)
def an_inner_loop_of_nine_where_one_was_meant() -> Log:
    return windows(9, 1, 9).log(window=1)


@quiet("window.sizes")
def one_was_meant_and_used() -> Log:
    return windows(1, 1, 1).log(window=1)


@quiet("window.sizes")
def several_losses_of_one_forward() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.forward()
        for _ in range(4):
            tape.backward()
        tape.step(under=at(IF), condition="(i + 1) % 4 == 0")
        tape.clear()
    return tape.log(window=1)


@quiet("window.sizes")
def two_losses_with_a_line_each() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1)
        tape.passes(1, OTHER)
        tape.step()
        tape.clear()
    return tape.log(window=1)


@quiet("window.sizes")
def the_run_was_stopped_after_two_epochs_with_short_ends() -> Log:
    return uneven(4, 4, 2, 4, 4, 2, 4).log(window=4, finished=False)


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param((4, 6, 4, 4, 4, 6, 4, 6, 4, 4), id="at odd times"),
        pytest.param((4, 4, 5, 4, 4, 6, 4), id="by different numbers"),
        pytest.param((4, 4, 8, 4, 4, 8, 4), id="by a whole window"),
        pytest.param((4, 4, 6, 2, 4, 4, 6), id="and smaller ones"),
    ],
)
def test_windows_that_are_too_large_do_not_leak_unless_they_look_like_it(sizes: tuple[int, ...]) -> None:
    assert findings(uneven(*sizes).log()) == []


@finds("window.sizes", "window-misaligned", "warning", IF, "the steps used 4, 6, 4, 4, 4, 6, 4, 6, 4, 4:")
def losses_are_divided_by_four_and_windows_hold_six_at_odd_times() -> Log:
    return uneven(4, 6, 4, 4, 4, 6, 4, 6, 4, 4, passes={"divisor": 4.0}).log()


@finds("window.sizes", "window-misaligned", "warning", IF, "the steps used 8 times 4, 6, 4, 6, 2 times 4, 6:")
def windows_of_another_size_are_not_cut_off_a_long_list() -> Log:
    return uneven(*[4] * 8, 6, 4, 6, 4, 4, 6, passes={"divisor": 4.0}).log()


@quiet("window.sizes")
def windows_grow_for_good() -> Log:
    return uneven(*[4] * 8, *[8] * 3, 3, passes={"divisor": 4.0}).log()


@quiet("window.sizes")
def a_smaller_window_is_divided_by_what_it_holds() -> Log:
    tape = Tape("w b")
    for size in (4, 4, 3, 4):
        if size == 3:
            tape.forward()  # this batch is given up
        tape.passes(size)
        tape.edit(factors=(1 / size,))
        tape.step(under=at(IF), passed_over=at(GUARD))
        tape.clear()
    return tape.log()


@quiet("window.sizes")
def a_guard_gives_up_a_batch_and_nothing_passes_over_the_step() -> Log:
    tape = uneven(4, 4)
    tape.forward()
    tape.passes(3)
    tape.step(under=at(IF))
    tape.clear()
    tape.passes(4)
    tape.step(under=at(IF))
    return tape.log()


def short_first(line: int = STEP, **fields: Any) -> Log:
    """A short first window, stepped at a line of its own or begun with something."""
    tape = Tape("w b")
    if fields:
        tape.edit("assigned", **fields)
    tape.passes(2)
    tape.step(line)
    tape.clear()
    for _ in range(3):
        tape.passes(4)
        tape.step()
        tape.clear()
    return tape.log()


@finds("window.sizes", "window-starts-short", "error", STEP, "the first one holds 2")
def the_first_window_holds_two() -> Log:
    return short_first()


@quiet("window.sizes")
def the_first_window_is_stepped_at_a_line_of_its_own() -> Log:
    return short_first(OTHER)


@quiet("window.sizes")
def the_first_window_begins_with_gradients_that_were_saved() -> Log:
    return short_first(status="empty")


@quiet("window.sizes")
def the_first_window_begins_after_a_trial() -> Log:
    tape = Tape("w b")
    tape.passes(2, OTHER)
    tape.clear()
    for size in (2, 4, 4, 4):
        tape.passes(size)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("window.sizes")
def two_windows_are_short_and_one_is_the_first() -> Log:
    return uneven(1, 4, 2, 4, 4, 4).log()


@quiet("window.sizes")
def the_last_window_of_each_epoch_is_short() -> Log:
    return uneven(4, 4, 2, 4, 4, 2).log()


@quiet("window.sizes")
def the_last_window_of_each_pass_over_the_data_is_short() -> Log:
    return uneven(4, 4, 2, 4, 4, 2, loader=True, epoch=10).log(window=4)


@quiet("window.sizes")
def windows_of_random_size() -> Log:
    return uneven(2, 5, 3, 4, 1).log()


@quiet("window.sizes")
def a_short_first_window_that_is_divided_by_its_own_size() -> Log:
    tape = Tape("w b")
    for size in (2, 4, 4, 4):
        tape.passes(size, divisor=float(size))
        tape.step()
        tape.clear()
    return tape.log()


@quiet("window.sizes")
def a_step_after_every_batch() -> Log:
    return uneven(1, 1, 1, 1).log()


# ------------------------------------------------------------------ window: losses, hooks, schedulers


@finds(
    "window.losses",
    "running-loss-backward",
    "error",
    BACKWARD,
    "through the losses of 1 earlier pass again",
    passes=[1, 2],
)
def the_running_sum_goes_backward() -> Log:
    tape = Tape("w b")
    tape.passes(1, retain_graph=True)
    tape.passes(1, retain_graph=True, again=(1,))
    tape.passes(1, retain_graph=True, again=(1, 2))
    tape.step()
    return tape.log()


@finds(
    "window.losses",
    "loss-backward-twice",
    "error",
    OTHER,
    "The loss of train.py:7 is part of this one",
    passes=[1, 2],
    first_backward_at=at(BACKWARD),
)
def a_loss_goes_backward_alone_and_in_a_sum() -> Log:
    tape = Tape("w b")
    tape.passes(1, retain_graph=True)
    tape.backward(OTHER, again=(1,))
    tape.step()
    return tape.log()


@finds("window.losses", "running-loss-backward", "error", BACKWARD, "1 earlier pass", passes=[1, 2])
def the_running_sum_goes_backward_in_the_next_window() -> Log:
    tape = Tape("w b")
    for number in range(3):
        tape.passes(1, retain_graph=True, again=tuple(range(1, number + 1)))
        tape.step()
        tape.clear()
    return tape.log()


def shared_by_all(size: int = 3, partly: bool = True, **fields: Any) -> Log:
    """Each pass of a window goes through a loss that they all share, in front of the first pass's others."""
    tape = Tape("w b")
    for number in range(size):
        earlier = tuple(range(1, number + 1))
        told = {"again": earlier, "again_partly": earlier if partly else (), "shares": (size,)}
        tape.passes(1, retain_graph=True, **(told | fields))
    tape.step()
    return tape.log()


@quiet("window.losses")
def the_passes_of_a_window_share_a_loss_that_is_divided_by_their_number() -> Log:
    return shared_by_all()


@finds("window.losses", "running-loss-backward", "error", BACKWARD, "1 earlier pass")
def the_passes_of_a_window_share_a_loss_that_is_not_divided() -> Log:
    return shared_by_all(shares=())


@finds("window.losses", "running-loss-backward", "error", BACKWARD, "1 earlier pass")
def the_running_sum_is_divided_by_the_number_of_passes() -> Log:
    return shared_by_all(partly=False)


@quiet("window.losses")
def the_first_pass_was_cleared_before_the_second_one() -> Log:
    tape = Tape("w b")
    tape.passes(1, retain_graph=True)
    tape.clear(lost=0, lost_names=())
    tape.backward(OTHER, again=(1,))
    tape.step()
    return tape.log()


@quiet("window.losses")
def a_loss_goes_backward_again_for_another_step() -> Log:
    tape = Tape("w b")
    for number in range(3):
        tape.backward(retain_graph=True, again=(number,) if number else (), same_root=number or None)
        tape.step()
        tape.clear()
    return tape.log()


def hooked_now_and_then(*lines: int, **fields: Any) -> Log:
    """A hook more at every tenth step, registered at these lines."""
    tape = Tape("w b")
    for number, line in enumerate(lines, 1):
        for at_work in [True] + [False] * 9:
            tape.passes(1)
            tape.step(hooks={"w": number} if at_work else {}, hooked_at=at(line) if at_work else None, **fields)
            tape.clear()
    return tape.log()


@finds(
    "window.hooks",
    "hook-registered-every-iteration",
    "error",
    OTHER,
    "a parameter carries 1, 2, 3 gradient hooks",
    counts=[1, 2, 3],
)
def a_hook_more_at_every_step() -> Log:
    tape = Tape("w b")
    for number in range(1, 4):
        tape.passes(1)
        tape.step(hooks={"w": number, "b": 1}, hooked_at=at(OTHER))
        tape.clear()
    return tape.log()


@finds("window.hooks", "hook-registered-every-iteration", "info", OTHER, "carries 1, 2, 3 gradient hooks")
def a_hook_more_at_every_tenth_step_from_one_line() -> Log:
    return hooked_now_and_then(OTHER, OTHER, OTHER)


@finds("window.hooks", "hook-registered-every-iteration", "warning", OTHER, "carries 1, 2, 3 gradient hooks")
def a_factor_more_at_every_tenth_step() -> Log:
    return hooked_now_and_then(OTHER, OTHER, OTHER, hooks_scale=True)


@quiet("window.hooks")
def three_hooks_from_three_lines() -> Log:
    return hooked_now_and_then(OTHER, EDIT, GUARD)


@quiet("window.hooks")
def two_hooks_are_registered_one_after_the_other() -> Log:
    tape = windows(1, 1, 1)
    for number in (1, 2):
        tape.passes(1)
        tape.step(hooks={"w": number}, hooked_at=at(OTHER))
        tape.clear()
    return tape.log()


@quiet("window.hooks")
def a_hook_comes_and_goes() -> Log:
    return windows(1, 1, 1, 1, hooks={"w": 1}, hooked_at=at(OTHER)).log()


@finds(
    "window.late_hooks",
    "hooks-read-the-last-value",
    "warning",
    OTHER,
    "6 hooks were put on here while scale had 3 values",
    variable="scale",
    hooks=6,
)
def hooks_were_put_on_in_a_loop() -> Log:
    return windows(1, 1).log(late_hooks=(LateHook(at(OTHER), "scale", 6, 3),))


@quiet("window.late_hooks")
def hooks_were_put_on_and_nothing_was_stepped() -> Log:
    tape = Tape("w")
    tape.forward()
    return tape.log(late_hooks=(LateHook(at(OTHER), "scale", 6, 3),))


@finds(
    "rates.schedulers",
    "scheduler-every-micro-batch",
    "warning",
    SCHEDULE,
    "stepped 8 times for 2 optimizer steps, 8 of them in the middle of a window",
    scheduler_steps=8,
    optimizer_steps=2,
)
def the_scheduler_steps_with_every_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1)
            tape.schedule()
        tape.step()
        tape.clear()
    return tape.log()


def decays(steps: int, micro_batches: int, **fields: Any) -> Log:
    """A linear decay to zero within so many optimizer steps, moved on with every micro-batch; 16 steps are taken."""
    tape = Tape("w b")
    for step in range(16):
        for _ in range(micro_batches):
            tape.passes(1)
            tape.schedule(**fields)
        tape.step(rate=max(0.0, 1 - step / steps))
        tape.clear()
    return tape.log()


@finds(
    "rates.schedulers", "scheduler-every-micro-batch", "warning", SCHEDULE, "stepped 32 times for 16 optimizer steps"
)
def the_learning_rate_is_nothing_halfway() -> Log:
    return decays(8, 2)


@quiet("rates.schedulers")
def the_learning_rate_is_nothing_with_the_last_step() -> Log:
    return decays(16, 2)


@finds(
    "rates.schedulers", "scheduler-every-micro-batch", "warning", SCHEDULE, "stepped 32 times for 16 optimizer steps"
)
def a_plateau_is_asked_for_at_each_micro_batch_and_has_no_end_to_come_to() -> Log:
    return decays(16, 2, scheduler="ReduceLROnPlateau")


@finds(
    "rates.schedulers",
    "scheduler-after-skipped-step",
    "warning",
    SCHEDULE,
    "skipped 1 step, and the scheduler stepped after 1 of them",
    skipped=1,
)
def the_scheduler_steps_although_the_scaler_skipped() -> Log:
    tape = Tape("w b")
    for number in range(3):
        tape.passes(1, scaled=True)
        if number:
            tape.step(by_scaler=True)
        else:
            tape.skip()
        tape.clear()
        tape.schedule(after_skip=not number)
    return tape.log()


def taken_back(*rates: float) -> Log:
    """Two steps of a schedule behind each skipped one: where the first goes, and where the second ends."""
    tape = Tape("w b")
    for rate in rates:
        tape.passes(1, scaled=True)
        tape.step(by_scaler=True)
        tape.clear()
        tape.schedule(rate=0.1)
        tape.passes(1, scaled=True)
        tape.skip()
        tape.clear()
        tape.schedule(after_skip=True, rate=0.2)
        tape.schedule(after_skip=True, rate=rate)
    return tape.log()


@quiet("rates.schedulers")
def the_scheduler_is_taken_back_behind_each_skipped_step() -> Log:
    return taken_back(0.1, 0.1)


@finds("rates.schedulers", "scheduler-after-skipped-step", "warning", SCHEDULE, "after 4 of them", skipped=2)
def the_scheduler_is_not_taken_back_behind_one_of_two_skipped_steps() -> Log:
    return taken_back(0.1, 0.3)


@finds(
    "rates.schedulers",
    "scheduler-every-micro-batch",
    "warning",
    SCHEDULE,
    "does not change any more after 4 steps of 16: with 4 micro-batches a step",
    remedy="Count steps: move the schedule on where the optimizer steps.",
    optimizer_steps=16,
    window=4,
)
def a_rate_set_by_hand_has_come_to_its_end_too_early() -> Log:
    return set_by_hand(4)


@quiet("rates.schedulers")
def a_rate_set_by_hand_comes_to_its_end_with_the_run() -> Log:
    return set_by_hand(15)


@quiet("rates.schedulers")
def a_rate_set_by_hand_comes_to_its_end_somewhere() -> Log:
    return set_by_hand(8)


@quiet("rates.schedulers")
def a_rate_set_by_hand_once_a_step_comes_to_its_end_early() -> Log:
    return set_by_hand(4, shifts=0)


@quiet("rates.schedulers")
def a_rate_set_by_hand_hardly_falls() -> Log:
    return set_by_hand(4, least=0.7)


def set_by_hand(end: int, steps: int = 16, shifts: int = 3, least: float = 0.01) -> Log:
    """Windows of four at rates that fall until one of the steps."""
    tape = Tape("w b")
    for number in range(steps):
        tape.passes(4, divisor=4.0)
        falls = max(0.0, 1 - number / end)
        tape.step(rate=least + (1 - least) * falls, rate_shifts=shifts if falls else 0)
        tape.clear()
    return tape.log(rate_set_at=at(SCHEDULE))


@finds(
    "rates.schedulers",
    "scheduler-every-micro-batch",
    "warning",
    SCHEDULE,
    "SGD steps after it: its learning rate was another one at 6 passes in the middle of 2 windows",
    steps=[0, 1],
)
def a_schedule_of_the_users_own_moves_on_with_every_micro_batch() -> Log:
    return windows(4, 4, moved_rates=3, scheduled_at=at(SCHEDULE)).log()


@quiet("rates.schedulers")
def a_schedule_of_the_users_own_is_made_for_as_many_micro_batches() -> Log:
    made = tuple(ScheduleFacts("Decay", 0, length, 8, at(SCHEDULE), named=False) for length in (3, 8))
    return windows(4, 4, moved_rates=3, scheduled_at=at(SCHEDULE)).log(schedules=made)


@quiet("rates.schedulers")
def the_learning_rate_moves_inside_windows_by_what_nobody_knows() -> Log:
    return windows(4, 4, moved_rates=3).log()


@quiet("rates.schedulers")
def the_scheduler_is_told_where_training_stands() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1)
            tape.schedule(told=True)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("rates.schedulers")
def the_scheduler_steps_once_a_window() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(4)
        tape.step()
        tape.schedule()  # before the clear, after the step
        tape.clear()
    return tape.log()


@quiet("rates.schedulers")
def the_scheduler_is_made_for_as_many_steps_as_there_are_micro_batches() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1)
            tape.schedule()
        tape.step()
        tape.clear()
    return tape.log(schedules=(ScheduleFacts("LambdaLR", 0, 8, 8, at(SCHEDULE), named=False),))


@quiet("rates.schedulers")
def the_scheduler_steps_before_the_optimizer() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(4)
        tape.schedule()
        tape.step()
        tape.clear()
    return tape.log()


@quiet("rates.schedulers")
def the_scheduler_catches_up_after_every_step() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(4)
        tape.step()
        for _ in range(4):
            tape.schedule(pending=0)
        tape.clear()
    return tape.log()


@quiet("rates.schedulers")
def the_scheduler_of_each_epoch_meets_a_skipped_step() -> Log:
    tape = Tape("w b")
    for number in range(6):
        tape.passes(1, scaled=True)
        if number == 5:
            tape.skip()
        else:
            tape.step(by_scaler=True)
        tape.clear()
    tape.schedule(after_skip=True)
    return tape.log()


@quiet("rates.schedulers")
def the_scheduler_of_another_optimizer_runs_on_micro_batches() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1)
            tape.schedule(optimizer=None)
        tape.step()
        tape.clear()
    return tape.log()


# ------------------------------------------------------------------ window: means, forwards, averages


BY_FOUR = "Call (loss / 4).backward(), or weight each loss by its share; a reference= would settle it."


@finds(
    "window.means",
    "loss-not-divided",
    "info",
    BACKWARD,
    "Each of the 4 losses of a window is a mean, and nothing divides by 4",
    remedy=BY_FOUR,
    window=4,
)
def four_means_are_summed() -> Log:
    return windows(4, 4, 4, passes={"root": "MseLoss", "reduction": "mean"}).log()


@finds(
    "window.means",
    "loss-not-divided",
    "warning",
    BACKWARD,
    "nothing divides by 4",
    "The loss that is shown is divided, at train.py:9",
    remedy=BY_FOUR,
    window=4,
)
def the_loss_that_is_shown_is_divided() -> Log:
    return windows(4, 4, 4, passes=MEANS, reported=at(EDIT)).log()


@quiet("window.means")
def hooks_divide_in_place_of_the_losses() -> Log:
    return windows(4, 4, 4, passes=MEANS, reported=at(EDIT)).log(hooks_scale=True)


WEIGHED = {"root": "Add", "bare": True}


@finds(
    "window.means",
    "loss-not-divided",
    "warning",
    BACKWARD,
    "Nothing divides the 4 losses of a window here, and the other branch divides its own by accum",
    "the gradient is 4 times what it is there",
    remedy="Divide here, too: (loss / accum).backward().",
    window=4,
    divided_at=at(OTHER),
)
def the_other_branch_divides() -> Log:
    return windows(4, 4, 4, passes={"divided_beside": at(OTHER), "divided_beside_by": "accum"}).log()


@quiet("window.means")
def the_other_branch_divides_its_loss_and_this_one_the_gradients() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(4, divided_beside=at(OTHER), divided_beside_by="accum")
        tape.edit(factors=(0.25,))
        tape.step()
        tape.clear()
    return tape.log()


@quiet("window.means")
def the_other_branch_divides_and_windows_hold_one() -> Log:
    return windows(1, 1, 1, passes={"divided_beside": at(OTHER), "divided_beside_by": "accum"}).log()


@quiet("window.means")
def the_other_branch_divides_for_one_window_so_far() -> Log:
    return windows(4, passes={"divided_beside": at(OTHER), "divided_beside_by": "accum"}).log()


@finds("window.means", "loss-not-divided", "warning", BACKWARD, "is divided, at train.py:9", remedy=BY_FOUR, window=4)
def what_is_shown_of_a_weighed_sum_of_means_is_divided() -> Log:
    return windows(4, 4, 4, passes=WEIGHED, reported=at(EDIT)).log()


@finds(
    "window.means",
    "loss-not-divided",
    "warning",
    BACKWARD,
    "The size of a window is at hand as window_size (train.py:9), and nothing reads that.",
    remedy=BY_FOUR,
)
def the_size_of_the_window_is_at_hand_for_nothing() -> Log:
    return windows(4, 4, 4, passes=WEIGHED, unread=("window_size", at(EDIT))).log()


@finds(
    "window.means",
    "loss-not-divided",
    "warning",
    BACKWARD,
    "is divided by a count of its own",
    "and nothing reads that",
    remedy=BY_FOUR,
)
def the_size_of_the_window_is_at_hand_where_each_loss_is_over_a_count() -> Log:
    return windows(4, 4, 4, passes={"counts": (28.0,)}, unread=("window_size", at(EDIT))).log()


@finds("window.means", "loss-not-divided", "warning", BACKWARD, "nothing divides by 4", remedy=BY_FOUR)
def the_first_windows_alone_tell_how_their_losses_are_made() -> Log:
    tape = Tape("w b")
    for number in range(6):
        tape.passes(4, **(WEIGHED if number < 2 else {"root": "Add"}))
        tape.step(reported=at(EDIT))
        tape.clear()
    return tape.log()


@finds(
    "window.means",
    "loss-not-divided",
    "warning",
    BACKWARD,
    "Those of SGD #2 (train.py:1), in windows of 4 as well, are divided by 4.",
    remedy="Call (loss / 4).backward(), or weight each loss by its share; a reference= would settle it.",
    window=4,
)
def the_losses_of_one_of_two_are_not_divided() -> Log:
    return beside_another(4)


@finds(
    "window.means",
    "loss-not-divided",
    "info",
    BACKWARD,
    "4 times its gradient.",
    remedy="Call (loss / 4).backward(), or weight each loss by its share; a reference= would settle it.",
    window=4,
)
def the_losses_of_the_other_are_divided_by_something_else() -> Log:
    return beside_another(2)


def beside_another(quotient: int) -> Log:
    """Means in windows of four, beside those of another optimizer that are divided."""
    tape = Tape("w", "v")
    for _ in range(2):
        tape.passes(4, names="w", reduction="mean")
        tape.step()
        tape.clear(names="w")
        tape.passes(4, OTHER, names="v", quotient=quotient)
        tape.step(OTHER, 1)
        tape.clear(names="v")
    return tape.log()


@finds(
    "window.means",
    "loss-not-divided",
    "warning",
    BACKWARD,
    "Each of the 4 losses of a window is divided by a count of its own",
    remedy=BY_FOUR,
)
def sums_over_the_rows_of_a_batch_gathered_by_the_text() -> Log:
    return of_rows()


@quiet("window.means")
def sums_over_the_rows_of_a_batch_are_divided_by_the_text() -> Log:
    return of_rows(told_divided=True)


@quiet("window.means")
def sums_divided_by_one_number_gathered_by_the_text() -> Log:
    return of_rows(last=16)


@quiet("window.means")
def sums_divided_by_the_size_of_each_window() -> Log:
    return of_rows(rows=4, last=2, size=2)


def of_rows(rows: int = 16, last: int = 6, size: int = 3, **fields: Any) -> Log:
    """Windows of four micro-batches of so many rows, and a last one of fewer."""
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(4, quotient=rows, **fields)
        tape.step(gathers=True)
        tape.clear()
    tape.passes(size, quotient=last, **fields)
    tape.step(gathers=True)
    return tape.log()


@quiet("window.means")
def a_weighed_sum_of_means_is_shown_as_it_is() -> Log:
    return windows(4, 4, 4, passes=WEIGHED).log()


@quiet("window.means")
def a_weighed_sum_of_means_is_divided_as_the_loss_that_is_shown() -> Log:
    return windows(4, 4, 4, passes={"root": "Add", "divisor": 4.0}, reported=at(EDIT)).log()


@quiet("window.means")
def the_gradient_is_divided_after_the_last_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(4, root="MseLoss", reduction="mean")
        tape.edit(factors=(0.25, 0.25))
        tape.step()
        tape.clear()
    return tape.log()


MEANS = {"root": "MseLoss", "reduction": "mean"}


GATHERS = {"gathers": True, "condition": "(i + 1) % accum == 0"}


@finds(
    "window.means",
    "loss-not-divided",
    "warning",
    BACKWARD,
    "By its text the step under '(i + 1) % accum == 0' is one for all of them.",
    remedy=BY_FOUR,
    window=4,
)
def micro_batches_are_gathered_and_nothing_divides() -> Log:
    return windows(4, 4, 4, passes=MEANS, **GATHERS).log()


@finds("window.means", "loss-not-divided", "warning", BACKWARD, "By its text the step is one for all", remedy=BY_FOUR)
def sums_of_means_are_gathered_in_a_loop_over_chunks() -> Log:
    return windows(4, 4, 4, passes={"root": "Add", "means": True}, gathers=True).log()


def counted(*counts: float, **step: Any) -> Log:
    """Windows of as many passes, each a sum over its count."""
    tape = Tape("w b")
    for _ in range(3):
        for count in counts:
            tape.passes(1, root="Div", counts=(count,))
        tape.step(**step)
        tape.clear()
    return tape.log()


@finds("window.means", "loss-not-divided", "warning", BACKWARD, "divided by a count of its own", remedy=BY_FOUR)
def each_of_the_gathered_is_a_sum_over_a_count_of_its_own() -> Log:
    return counted(11.0, 14.0, 11.0, 9.0, **GATHERS)


@quiet("window.means")
def the_gathered_are_sums_over_the_count_of_all() -> Log:
    return counted(45.0, 45.0, 45.0, 45.0, **GATHERS)


@quiet("window.means")
def sums_over_counts_are_not_gathered_by_the_text() -> Log:
    return counted(11.0, 14.0, 11.0, 9.0)


@finds("window.means", "loss-not-divided", "info", BACKWARD, "nothing divides by 4", remedy=BY_FOUR)
def one_window_is_not_of_micro_batches_by_its_text() -> Log:
    tape = Tape("w b")
    for gathers in (True, False, True):
        tape.passes(4, **MEANS)
        tape.step(gathers=gathers)
        tape.clear()
    return tape.log()


@finds("window.means", "loss-not-divided", "info", BACKWARD, "nothing divides by 4", remedy=BY_FOUR)
def another_optimizer_steps_between_the_passes() -> Log:
    tape = Tape("w", "v")
    for _ in range(3):
        for _ in range(4):
            tape.passes(1, **MEANS)
            tape.step(optimizer=1)
            tape.clear(names="v")
        tape.step(**GATHERS)
        tape.clear(names="w")
    return tape.log()


@finds("window.means", "loss-not-divided", "info", OTHER, "nothing divides by 2", remedy=BY_FOUR.replace("4", "2"))
def means_of_two_lines_are_gathered() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(2, **MEANS)
        tape.passes(2, OTHER, **MEANS)
        tape.step(**GATHERS)
        tape.clear()
    return tape.log()


@quiet("window.means")
def sums_of_means_that_are_divided_are_gathered() -> Log:
    return windows(4, 4, 4, passes={"root": "Add", "means": True, "divisor": 4.0}, **GATHERS).log()


@quiet("window.means")
def the_share_of_each_mean_comes_in_as_its_gradient() -> Log:
    return windows(4, 4, 4, passes=MEANS | {"gradient": True}).log()


@quiet("window.means")
def the_gradient_is_put_together_by_hand() -> Log:
    return windows(4, 4, 4, passes=MEANS, assigned=True).log()


@quiet("window.means")
def a_hook_may_divide() -> Log:
    return windows(4, 4, passes=MEANS, hooks={"w": 1}, hooked_at=at(OTHER)).log()


@quiet("window.means")
def means_are_summed_in_one_window_of_three() -> Log:
    return windows(1, 1, 4, passes=MEANS).log()


@quiet("window.means")
def means_are_compared_with_a_reference() -> Log:
    return windows(4, 4, passes=MEANS, reference=RIGHT).log()


@quiet("window.means")
def four_sums_are_summed() -> Log:
    return windows(4, 4, 4, passes={"root": "MseLoss", "reduction": "sum"}).log()


@quiet("window.means")
def two_losses_side_by_side_are_no_micro_batches() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1, root="MseLoss", reduction="mean")
        tape.passes(1, OTHER, root="MseLoss", reduction="mean")
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "window.forwards",
    "micro-batches-without-backward",
    "warning",
    BACKWARD,
    "ran 4 times before each backward(), and the loss holds 1 of them",
    "in 3 windows",
    forwards=4,
    steps=[0, 1, 2],
)
def four_forwards_and_the_last_one_divided_goes_backward() -> Log:
    return windows(1, 1, 1, passes={"forwards": 4, "held": 1, "divisor": 4.0}).log()


def forwards_thrown_away(*before: int) -> Log:
    """A backward pass behind so many forwards each, of which it holds one; its loss is divided by four."""
    tape = Tape("w b")
    for count in before:
        for _ in range(count):
            tape.forward()
        tape.backward(divisor=4.0, **({"forwards": count, "held": 1} if count > 1 else {}))
        tape.step()
        tape.clear()
    return tape.log()


@finds("window.forwards", "micro-batches-without-backward", "warning", BACKWARD, "ran 4 times", forwards=4)
def four_forwards_and_the_last_one_goes_backward_and_fewer_at_the_end_of_an_epoch() -> Log:
    return forwards_thrown_away(4, 4, 4, 2, 4, 4, 4, 2)


def test_forwards_of_all_numbers_before_a_backward_are_no_windows() -> None:
    for before in ((4, 2, 4, 2), (2, 2, 2, 4)):
        found = findings(forwards_thrown_away(*before))
        assert "micro-batches-without-backward" not in [one.misconception for one in found], before


@finds("window.forwards", "micro-batches-without-backward", "warning", BACKWARD, "ran 3 times", forwards=3)
def a_whole_epoch_of_forwards_each_with_its_clear_and_one_backward() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        for _ in range(3):
            tape.clear()
            tape.forward()
        tape.backward(forwards=3, held=1)
        tape.step()
    return tape.log()


@finds("window.forwards", "micro-batches-without-backward", "warning", OTHER, "computes 4 losses", losses=4)
def the_last_of_a_list_of_losses_is_divided_by_their_number() -> Log:
    return windows(1, 1, passes={"forwards": 4, "held": 1, "last_at": at(OTHER), "last_of": 4}).log()


@finds("window.forwards", "micro-batches-without-backward", "warning", OTHER, "computes 4 losses", losses=4)
def the_last_loss_of_a_loop_by_the_text() -> Log:
    return windows(1, 1, passes={"last_at": at(OTHER), "last_of": 4}).log()


@quiet("window.forwards")
def the_last_loss_of_a_loop_went_backward_once() -> Log:
    tape = windows(1, 1)
    tape.passes(1, last_at=at(OTHER), last_of=4)
    tape.step()
    return tape.log()


@finds("window.forwards", "micro-batches-without-backward", "warning", BACKWARD, "ran 3 times", forwards=3)
def one_backward_behind_a_loop_over_micro_batches_by_its_name() -> Log:
    return windows(1, 1, 1, passes={"forwards": 3, "held": 1, "looped": True, "gathered": True}).log()


@finds("window.forwards", "micro-batches-without-backward", "warning", BACKWARD, "ran 4 times", forwards=4)
def the_last_loss_of_four_is_a_sum_and_divided_by_four() -> Log:
    return windows(1, 1, 1, passes={"forwards": 4, "held": 1, "quotient": 4}).log()


@finds("window.forwards", "micro-batches-without-backward", "warning", BACKWARD, "ran 4 times", forwards=4)
def the_step_counts_to_the_number_of_forwards() -> Log:
    return windows(*[1] * 6, passes={"forwards": 4, "held": 1}, counted_to=4).log()


@finds("window.forwards", "micro-batches-without-backward", "info", BACKWARD, "ran 3 times", "holds 1 of", forwards=3)
def the_best_of_three_goes_backward() -> Log:
    return windows(1, 1, 1, passes={"forwards": 3, "held": 1, "looped": True}).log()


@finds("window.forwards", "summed-loss-keeps-graphs", "info", BACKWARD, "A loop adds up losses", "4 times", uses=4)
def a_sum_of_a_window_by_its_text() -> Log:
    return windows(1, 1, 1, passes={"window_sum": 4}).log()


@quiet("window.forwards")
def a_sum_of_a_window_of_one() -> Log:
    return windows(1, 1, 1, passes={"window_sum": 1}).log()


@finds(
    "window.forwards",
    "summed-loss-keeps-graphs",
    "info",
    BACKWARD,
    "4 forward passes and one backward per step",
    "the graphs of all 4 are in memory",
    forwards=4,
)
def one_backward_for_four_forwards() -> Log:
    return windows(1, 1, 1, passes={"forwards": 4, "held": 4, "piled": True}).log()


@quiet("window.forwards")
def four_forwards_of_one_loss_that_are_no_micro_batches() -> Log:
    return windows(1, 1, 1, passes={"forwards": 4, "held": 4}).log()


@quiet("window.forwards")
def a_warm_up_before_the_first_backward() -> Log:
    tape = Tape("w b")
    for number in range(4):
        tape.backward(**({} if number else {"forwards": 3, "held": 1}))
        tape.step()
        tape.clear()
    return tape.log()


@quiet("window.forwards")
def two_backward_passes_share_the_forwards() -> Log:
    return windows(2, 2, 2, passes={"forwards": 4, "held": 1}).log()


@quiet("window.forwards")
def a_closure_runs_the_model_several_times() -> Log:
    return windows(1, 1, 1, passes={"forwards": 4, "held": 1}, closure_calls=1).log()


@quiet("window.forwards")
def nobody_asked_how_many_forwards_the_loss_holds() -> Log:
    return windows(1, 1, 1, passes={"forwards": 4}).log()


@quiet("window.forwards")
def a_method_that_three_lines_call_is_no_loop() -> Log:
    return windows(1, 1, 1, passes={"forwards": 3, "held": 1}).log()


@quiet("window.forwards")
def forwards_of_different_number_before_each_backward() -> Log:
    tape = Tape("w b")
    for number in range(2, 6):
        tape.backward(forwards=number, held=1)
        tape.step()
        tape.clear()
    return tape.log()


def by_epochs(*counts: int, first: int = 0, scheduler: str = "StepLR", decay: float = 0.5, **fields: Any) -> Log:
    """Epochs of so many steps, each with a scheduler's step before it, from the epoch `first` on."""
    tape = Tape("w b")
    for epoch, count in enumerate(counts):
        if epoch >= first:
            tape.schedule(scheduler=scheduler, **fields)
        for _ in range(count):
            tape.passes(1)
            tape.step(rate=0.1 * decay**epoch)
            tape.clear()
    return tape.log()


@finds(
    "rates.early_schedules",
    "schedule-begins-early",
    "warning",
    SCHEDULE,
    "StepLR is stepped before the first step of SGD, and at the beginning of each of 3 epochs",
    scheduler_steps=3,
    optimizer_steps=12,
)
def a_schedule_begins_each_epoch() -> Log:
    return by_epochs(4, 4, 4)


@finds("rates.early_schedules", "schedule-begins-early", "info", SCHEDULE, "at the beginning of each of 3 epochs")
def a_schedule_begins_each_epoch_of_a_run_of_one_rate() -> Log:
    return by_epochs(4, 4, 4, decay=1.0)


@quiet("rates.early_schedules")
def a_schedule_begins_each_epoch_but_the_first() -> Log:
    return by_epochs(4, 4, 4, first=1)


@quiet("rates.early_schedules")
def a_schedule_is_told_the_epoch_at_its_beginning() -> Log:
    return by_epochs(4, 4, 4, told=True)


@quiet("rates.early_schedules")
def a_warm_up_begins_each_epoch() -> Log:
    return by_epochs(4, 4, 4, scheduler="LambdaLR")


@quiet("rates.early_schedules")
def a_schedule_stands_before_each_step() -> Log:
    return by_epochs(1, 1, 1, 1)


@quiet("rates.early_schedules")
def a_schedule_began_two_epochs_of_a_short_run() -> Log:
    return by_epochs(4, 4)


def scheduled_at(*lines: int, which: tuple[int, ...] = (1, 1), rounds: int = 4, **fields: Any) -> Log:
    """Rounds of two steps, each followed by steps of a schedule at these lines."""
    tape = Tape("w b")
    for _ in range(rounds):
        for _ in range(2):
            tape.passes(1)
            tape.step()
            tape.clear()
        for line, number in zip(lines, which, strict=False):
            tape.schedule(line, which=number, **fields)
    return tape.log()


@finds(
    "rates.stepped_twice",
    "schedule-stepped-twice",
    "warning",
    OTHER,
    "StepLR was stepped at train.py:14, and here once more before SGD had taken another step, 4 times",
    first_stepped_at=at(SCHEDULE),
    scheduler_steps=8,
)
def a_schedule_is_stepped_at_two_lines_of_an_epoch() -> Log:
    return scheduled_at(SCHEDULE, OTHER)


@quiet("rates.stepped_twice")
def a_schedule_is_stepped_once_an_epoch() -> Log:
    return scheduled_at(SCHEDULE)


@quiet("rates.stepped_twice")
def a_line_steps_a_schedule_twice_on_purpose() -> Log:
    return scheduled_at(SCHEDULE, SCHEDULE)


@quiet("rates.stepped_twice")
def two_schedules_share_the_work() -> Log:
    return scheduled_at(SCHEDULE, OTHER, which=(1, 2))


@quiet("rates.stepped_twice")
def a_schedule_is_told_where_training_stands_at_both_lines() -> Log:
    return scheduled_at(SCHEDULE, OTHER, told=True)


@quiet("rates.stepped_twice")
def a_schedule_was_stepped_twice_a_single_time() -> Log:
    return scheduled_at(SCHEDULE, OTHER, rounds=1)


def beside_a_copy(steps: int = 8, copies: Sequence[str] = ("Net2.l.w", "Net2.l.b"), **fields: Any) -> Log:
    """Steps beside a copy of the model, whose update is called nowhere."""
    tape = Tape("Net.l.w Net.l.b", loose=" ".join(copies))
    for _ in range(steps):
        tape.passes(1, names="Net.l.w Net.l.b")
        tape.step()
        tape.clear()
    told = {"uncalled_update": Uncalled("update_target", at(OTHER))} | fields
    return tape.log({name: {"model": "Net2"} for name in copies}, **told)


@finds(
    "following.unfollowed",
    "average-never-updated",
    "warning",
    STEP,
    "Nothing calls update_target() (train.py:",
    "follow what is trained: they are as they were before 8 steps",
    names=["Net2.l.w", "Net2.l.b"],
)
def a_copy_has_an_update_that_nothing_calls() -> Log:
    return beside_a_copy()


@finds(
    "following.unfollowed",
    "average-never-updated",
    "warning",
    STEP,
    "EMA is made at train.py:",
    "and nothing calls an update of it: it is no average of 8 steps",
)
def an_average_is_made_and_never_updated() -> Log:
    return windows(*[1] * 8).log(unmoved_average=Uncalled("EMA", at(OTHER)))


@quiet("following.unfollowed")
def an_average_is_made_and_not_updated_in_a_short_run() -> Log:
    return windows(*[1] * 7).log(unmoved_average=Uncalled("EMA", at(OTHER)))


@finds(
    "following.unfollowed",
    "average-never-updated",
    "warning",
    STEP,
    "target_net is made at train.py:",
    "and nothing lets it follow after that: it is what it was before 100 steps",
    remedy="Let it follow behind the optimizer's step, by a small share each time or as a copy every so many steps.",
    names=["Net2.l.w", "Net2.l.b"],
)
def a_target_network_is_made_as_a_copy_and_left_behind() -> Log:
    return beside_a_copy(steps=100, uncalled_update=None, left_behind=Uncalled("target_net", at(OTHER)))


@quiet("following.unfollowed")
def a_target_network_stands_still_in_a_short_run() -> Log:
    return beside_a_copy(steps=99, uncalled_update=None, left_behind=Uncalled("target_net", at(OTHER)))


@quiet("following.unfollowed")
def a_copy_is_left_behind_of_what_is_not_trained_here() -> Log:
    left = Uncalled("target_net", at(OTHER))
    return beside_a_copy(steps=100, copies=("Net2.other.w", "Net2.other.b"), uncalled_update=None, left_behind=left)


@finds(
    "following.copied_back",
    "weights-drawn-back",
    "warning",
    OTHER,
    "loads target_net into net, which target_net was filled from at the beginning",
    remedy="Load the other way round: target_net.load_state_dict(net.state_dict()).",
)
def a_target_network_is_loaded_into_what_it_should_follow() -> Log:
    return beside_an_idle_target(never_asked=None, copied_back=TargetNetwork("target_net", at(OTHER), "net", None))


def led_by_another(steps: int = 8) -> Log:
    return windows(*[1] * steps).log(other_followed=OtherFollowed("ema", "student", at(MADE), "teacher", at(OTHER)))


@finds(
    "following.other_followed",
    "average-of-another-model",
    "warning",
    OTHER,
    "ema was made from student (train.py:1), and is updated here from teacher alone: after 8 steps it is no average of",
    remedy="Update ema from student, or make it from teacher.",
)
def an_average_of_the_student_takes_in_the_teacher() -> Log:
    return led_by_another()


@quiet("following.other_followed")
def an_average_takes_in_another_model_in_a_short_run() -> Log:
    return led_by_another(steps=7)


OF_A_TWIN = OtherFollowed("target_critic2", "critic2", at(OTHER), "critic1", at(OTHER))


@finds(
    "following.led_by_another",
    "average-of-another-model",
    "warning",
    OTHER,
    "target_critic2 is the target of critic2 by its name, and is updated here from critic1",
    remedy="Update it from critic2.",
)
def a_target_takes_in_the_twin_of_its_network() -> Log:
    return windows(*[1] * 8).log(led_by_another=OF_A_TWIN)


@quiet("following.led_by_another")
def a_target_takes_in_the_twin_of_its_network_in_a_short_run() -> Log:
    return windows(*[1] * 7).log(led_by_another=OF_A_TWIN)


@quiet("following.copied_back")
def a_target_network_is_loaded_back_in_a_few_steps() -> Log:
    return beside_an_idle_target(7, never_asked=None, copied_back=TargetNetwork("target_net", at(OTHER), "net", None))


def beside_an_idle_target(count: int = 8, instead: int | None = OTHER, **fields: Any) -> Log:
    """Steps, and a target network that follows and is never called."""
    tape = Tape("w b")
    for _ in range(count):
        tape.passes(1)
        tape.step()
        tape.clear()
    place = at(instead) if instead is not None else None
    return tape.log(**({"never_asked": TargetNetwork("target_net", at(MADE), "net", place)} | fields))


@finds(
    "following.unasked",
    "target-never-asked",
    "warning",
    OTHER,
    "target_net, made at train.py:1, is kept up to date with net, and nothing ever calls it: net itself is asked here",
    "moved with each of 8 steps",
    optimizer_steps=8,
)
def a_target_network_is_kept_up_to_date_and_never_asked() -> Log:
    return beside_an_idle_target()


@finds("following.unasked", "target-never-asked", "warning", MADE, "nothing ever calls it. What it should")
def a_target_network_is_never_asked_and_no_line_asks_the_other() -> Log:
    return beside_an_idle_target(instead=None)


@quiet("following.unasked")
def a_target_network_is_not_asked_in_a_few_steps() -> Log:
    return beside_an_idle_target(count=7)


@quiet("following.unasked")
def a_target_network_is_not_asked_before_the_run_breaks_off() -> Log:
    return beside_an_idle_target(finished=False)


@quiet("following.unasked")
def all_target_networks_are_asked() -> Log:
    return beside_an_idle_target(never_asked=None)


@quiet("following.unfollowed")
def an_update_is_called_or_there_is_none() -> Log:
    return beside_a_copy(uncalled_update=None)


@quiet("following.unfollowed")
def an_update_that_nothing_calls_and_no_copy_beside() -> Log:
    return beside_a_copy(copies=("Net2.other.w", "Net2.other.b"))


@quiet("following.unfollowed")
def an_update_that_nothing_called_in_a_short_run() -> Log:
    return beside_a_copy(steps=7)


@quiet("following.unfollowed")
def an_update_that_a_run_did_not_come_by() -> Log:
    return beside_a_copy(error="KeyboardInterrupt")


@finds(
    "following.averages",
    "average-every-micro-batch",
    "warning",
    UPDATE,
    "updated 4 times between two steps of SGD",
    "to the power 4",
    updates=4,
    steps=[0, 1],
)
def the_average_is_updated_with_every_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1)
            tape.average()
        tape.step()
        tape.clear()
    return tape.log()


def by_its_name(*sizes: int, updates: bool = False, **fields: Any) -> Log:
    """The text updates an average at each micro-batch; `updates` are seen behind the steps."""
    tape = Tape("w b")
    for size in sizes:
        tape.passes(size)
        tape.step()
        tape.clear()
        if updates:
            tape.average()
    return tape.log(**({"averaged_each_turn": at(UPDATE)} | fields))


@finds(
    "following.averages",
    "average-every-micro-batch",
    "info",
    UPDATE,
    "by the text at each micro-batch, while SGD steps after 4: its decay",
    remedy="Call it where the optimizer steps, under the same condition; or see that it waits for that by itself.",
    updates=4,
    step_taken_at=at(STEP),
)
def the_average_is_updated_with_every_micro_batch_by_the_text() -> Log:
    return by_its_name(4, 4, 4, 4, 1)


@quiet("following.averages")
def the_average_is_updated_with_every_step_though_the_text_seems_to_say_otherwise() -> Log:
    return by_its_name(4, 4, 4, updates=True)


@quiet("following.averages")
def the_average_is_updated_where_each_micro_batch_steps() -> Log:
    return by_its_name(1, 1, 1, 1)


@quiet("following.averages")
def the_text_updates_no_average_at_each_micro_batch() -> Log:
    return by_its_name(4, 4, 4, averaged_each_turn=None)


def at_the_end_of_epochs(again: bool = True, own: int = EDIT, epochs: int = 3) -> Log:
    """An average of torch's is updated behind each step, and at the end of each epoch, at a line of its `own`, too."""
    tape = Tape("w b")
    for _ in range(epochs):
        for _ in range(3):
            tape.passes(1)
            tape.step()
            tape.average()
            tape.amend(update_at=at(UPDATE))
            tape.clear()
        tape.average(OTHER)
        tape.amend(update_at=at(own), again=again)
    return tape.log()


@finds(
    "following.taken_twice",
    "average-taken-twice",
    "warning",
    EDIT,
    "no step lies between the two, 3 times.",
    updates=3,
    updated_before_at=at(UPDATE),
    called_from_at=at(OTHER),
)
def the_average_is_updated_again_at_the_end_of_each_epoch() -> Log:
    return at_the_end_of_epochs()


@quiet("following.taken_twice")
def another_average_is_updated_at_the_end_of_each_epoch() -> Log:
    return at_the_end_of_epochs(again=False)


@quiet("following.taken_twice")
def the_average_is_updated_again_at_its_own_line_behind_a_skipped_step() -> Log:
    return at_the_end_of_epochs(own=UPDATE)


@quiet("following.taken_twice")
def the_average_is_updated_again_once() -> Log:
    return at_the_end_of_epochs(epochs=1)


@quiet("following.averages")
def the_average_is_updated_with_every_step() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(4)
        tape.step()
        tape.average()
        tape.clear()
    return tape.log()


@quiet("following.averages")
def the_average_of_each_of_four_layers_is_updated_after_the_step() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(4)
        tape.step()
        for _ in range(4):
            tape.average()
        tape.clear()
    return tape.log()


@quiet("following.averages")
def four_averages_at_four_lines_are_updated_with_every_step() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(4)
        for number in range(4):
            tape.average(UPDATE + number)
        tape.step()
        tape.clear()
    return tape.log()


# ------------------------------------------------------------------ window: batch statistics, weights that move


@finds(
    "window.batch_norms",
    "batchnorm-per-micro-batch",
    "warning",
    LAYER,
    "BatchNorm (norm) saw 4 micro-batches per step",
    calls=4,
    names=("norm",),
)
def batchnorm_sees_micro_batches_of_a_window_that_was_meant() -> Log:
    return windows(4, 4, batch_norm=4, batch_norm_names=("norm",), batch_norm_at=at(LAYER)).log(window=4)


@finds("window.batch_norms", "batchnorm-per-micro-batch", "info", LAYER, "saw 2 micro-batches per step", calls=2)
def batch_statistics_of_each_micro_batch_where_the_first_window_did_not_see_the_call() -> Log:
    tape = windows(2, batch_norm=2, batch_norm_names=("norm",))
    tape.passes(2)
    tape.step(batch_norm=2, batch_norm_names=("norm",), batch_norm_at=at(LAYER))
    return tape.log()


@finds("window.batch_norms", "batchnorm-per-micro-batch", "info", LAYER, "saw 2 micro-batches per step", calls=2)
def batchnorm_sees_batches_that_may_be_meant_to_be_apart() -> Log:
    return windows(2, 2, batch_norm=2, batch_norm_names=("norm",), batch_norm_at=at(LAYER)).log()


@quiet("window.batch_norms")
def batchnorm_sees_one_batch_a_step() -> Log:
    return windows(1, 1, batch_norm=0).log()


@quiet("window.batch_norms")
def batchnorm_runs_twice_in_one_forward() -> Log:
    return windows(1, 1, batch_norm=2, batch_norm_names=("norm",), batch_norm_at=at(LAYER)).log()


@finds(
    "window.moved",
    "weights-moved-inside-window",
    "warning",
    BACKWARD,
    "the weights b and w were changed",
    "in 3 windows",
    steps=[0, 1, 2],
)
def the_weights_move_between_two_passes() -> Log:
    return moved_between()


@finds("window.moved", "weights-moved-inside-window", "warning", EDIT, "the weights b and w were changed")
def the_weights_are_moved_by_a_line_of_the_loop() -> Log:
    return moved_between(moved_at=at(EDIT))


def moved_between(**fields: Any) -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1, OTHER)
        tape.passes(1)
        tape.amend(moved=("w", "b"), **fields)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("window.moved")
def the_weights_move_after_the_clear() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1, OTHER)
        tape.clear(lost=0, lost_names=())
        tape.passes(1)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("window.moved")
def the_weights_were_moved_once_in_four_windows() -> Log:
    tape = windows(2, 2, 2)
    tape.passes(2)
    tape.amend(moved=("w",))
    tape.step()
    return tape.log()


# ------------------------------------------------------------------ division


@finds(
    "division.stepped_every_time",
    "step-every-micro-batch",
    "warning",
    STEP,
    "SGD steps after every micro-batch: 3 steps on 1 backward pass each",
    "each loss is divided by 4, as in a window of 4",
    window=4,
    sizes=[1, 1, 1],
)
def a_loss_divided_by_four_is_stepped_alone() -> Log:
    return windows(1, 1, 1, passes={"divisor": 4.0}).log()


@finds(
    "division.stepped_every_time", "step-every-micro-batch", "error", STEP, "where windows of 2 were meant", window=2
)
def windows_of_two_were_meant_and_hold_one() -> Log:
    return windows(1, 1, 1).log(window=2)


@finds(
    "division.stepped_every_time",
    "optimizer-in-backward-accumulates",
    "warning",
    STEP,
    "SGD steps inside backward(), after every micro-batch: 3 steps",
    "divided by 4",
    window=4,
)
def an_optimizer_in_backward_steps_on_divided_losses() -> Log:
    return windows(1, 1, 1, passes={"divisor": 4.0}, inside_backward=True).log()


@finds("division.stepped_every_time", "optimizer-in-backward-accumulates", "error", STEP, "windows of 4 were meant")
def an_optimizer_in_backward_steps_where_windows_were_meant() -> Log:
    return windows(1, 1, 1, inside_backward=True).log(window=4)


@finds("division.stepped_every_time", "step-every-micro-batch", "warning", STEP, "each loss is divided by 3", window=3)
def sums_of_losses_are_divided_by_the_size_of_a_window_by_its_name() -> Log:
    return windows(1, 1, 1, passes={"shares": (3,), "quotient": 3, "for_windows": True}).log()


@quiet("division.stepped_every_time")
def sums_of_losses_are_divided_by_something_else() -> Log:
    return windows(1, 1, 1, passes={"shares": (3,), "quotient": 3}).log()


@finds(
    "division.never_reset",
    "step-every-micro-batch",
    "warning",
    IF,
    "The first window of SGD holds 4 backward passes, as many as each loss is divided by; the 5 after it hold 1 each",
    remedy="Set the count back to 0 after the step, or test count % k == 0.",
    window=4,
    sizes=[4, 1, 1, 1, 1, 1],
)
def a_count_is_not_set_back_after_the_first_window() -> Log:
    return windows(4, 1, 1, 1, 1, 1, passes={"divisor": 4.0}, under=at(IF)).log()


@quiet("division.never_reset")
def a_first_window_is_large_and_no_loss_is_divided() -> Log:
    return windows(4, 1, 1, 1, 1, 1).log()


@quiet("division.never_reset")
def losses_are_divided_by_another_number_than_the_first_window_holds() -> Log:
    return windows(2, 1, 1, 1, 1, 1, passes={"divisor": 4.0}).log()


@quiet("division.never_reset")
def a_large_window_comes_back() -> Log:
    return windows(4, 1, 1, 1, 4, 1, passes={"divisor": 4.0}).log()


@quiet("division.never_reset")
def few_windows_follow_the_first() -> Log:
    return windows(4, 1, 1, 1, passes={"divisor": 4.0}).log()


@finds("division.by_itself", "loss-as-gradient", "warning", BACKWARD, "3 backward passes began here", passes=3)
def a_loss_goes_backward_with_itself_as_the_gradient() -> Log:
    return windows(1, 2, passes={"gradient": True, "by_itself": True}).log()


@quiet("division.by_itself")
def a_loss_goes_backward_with_another_gradient() -> Log:
    return windows(1, 1, passes={"gradient": True}).log()


@finds("division.twice", "divided-twice", "warning", BACKWARD, "divided by 16", "4 times 4 is 16", window=4, divisor=16)
def a_function_and_its_caller_both_divide() -> Log:
    return windows(4, 4, passes={"divisor": 16.0}).log()


@finds("division.twice", "divided-twice", "warning", BACKWARD, "divided by 4, and by 4 again", window=4, divisor=16)
def a_sum_of_losses_is_divided_by_the_window_and_again() -> Log:
    return windows(4, 4, passes={"shares": (4, 4)}).log()


@finds("division.twice", "divided-twice", "warning", OTHER, "divided by 3, and by 3 again", window=3)
def a_caller_divides_before_its_helper_does() -> Log:
    return windows(3, 3, passes={"shares": (3, 5, 3), "shared_at": at(OTHER)}).log()


@finds("division.twice", "divided-twice", "warning", OTHER, "divided by 2, and by 2 again", window=2, divisor=4)
def one_function_divides_twice_by_the_same() -> Log:
    halved = {"shares": (2, 2), "shared_at": at(OTHER), "shared_by": "self.k"}
    return windows(2, 2, 2, passes=halved).log()


@finds(
    "division.twice",
    "divided-twice",
    "warning",
    OTHER,
    "A summand of the loss is divided by 3 here, and the sum by 3 again",
    remedy="Divide the sum alone: (a + b) / 3.",
    window=3,
)
def a_summand_is_divided_and_the_sum_as_well() -> Log:
    return windows(3, 3, passes={"quotient": 3, "part_again": at(OTHER)}).log()


@quiet("division.twice")
def a_summand_is_divided_by_what_is_no_size_of_a_window() -> Log:
    return windows(3, 3, passes={"quotient": 4, "part_again": at(OTHER)}).log()


@quiet("division.twice")
def now_and_then_a_summand_is_divided_as_the_sum_is() -> Log:
    tape = Tape("w b")
    for part in (at(OTHER), None):
        tape.passes(3, quotient=3, part_again=part)
        tape.step()
        tape.clear()
    return tape.log()


def divided_behind(by: float = 4.0, factor: float = 0.25, **passes: Any) -> Log:
    """Windows of four, divided losses, and gradients that are multiplied before the step."""
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(4, **({"divisor": by} | passes))
        tape.edit(factors=(factor, factor))
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "division.divided_again",
    "divided-twice",
    "warning",
    EDIT,
    "Each loss is divided by 4, the size of a window of SGD, and here its gradients are divided by 4 again",
    remedy="Divide the losses or the gradients, and not both.",
    window=4,
    steps=[0, 1],
)
def losses_are_divided_and_the_gradients_again() -> Log:
    return divided_behind()


@finds(
    "division.divided_again",
    "divided-twice",
    "warning",
    EDIT,
    "divided by 4 again",
    remedy="Divide the losses or the gradients, and not both.",
)
def sums_of_two_losses_are_divided_by_the_window_by_its_name_and_the_gradients_again() -> Log:
    return divided_behind(None, quotient=8, for_windows=True)


@quiet("division.divided_again")
def sums_of_losses_are_divided_by_a_multiple_of_the_window_and_nothing_names_it() -> Log:
    return divided_behind(None, quotient=8)


@quiet("division.divided_again")
def losses_are_not_divided_and_the_gradients_are() -> Log:
    return divided_behind(None)


@quiet("division.divided_again")
def gradients_are_halved_behind_divided_losses() -> Log:
    return divided_behind(factor=0.5)


@finds(
    "division.counted_again",
    "divided-twice",
    "warning",
    BACKWARD,
    "is a mean over its targets, and is divided by their number again, 12 and 9 of them",
    remedy="Leave one of the two out: the mean, or reduction='sum' and the division.",
    counts=[12, 9, 12],
)
def a_mean_over_targets_is_divided_by_their_number() -> Log:
    return over_targets(12, 9, 12)


@quiet("division.counted_again")
def a_mean_over_targets_is_divided_by_what_is_their_number_each_time() -> Log:
    return over_targets(12, 12, 12)


@quiet("division.counted_again")
def a_mean_over_targets_is_divided_by_what_is_their_number_once() -> Log:
    return over_targets(12, 9, 0)


def over_rows(*rows: int, window: int = 1, **fields: Any) -> Log:
    tape = Tape("w b")
    for at_once in rows:
        tape.passes(window, **({"rows_again": at_once, "rows_again_at": at(OTHER) if at_once else None} | fields))
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "division.rows_again",
    "divided-twice",
    "warning",
    OTHER,
    "is a mean already, and this line divides it by the number of its rows again, by 8: the gradient of a batch",
    remedy="Leave one of the two out: the mean, or reduction='sum' and the division.",
    rows=[8],
    backward_at=at(BACKWARD),
)
def a_mean_is_divided_by_its_rows() -> Log:
    return over_rows(8, 8, 8, divisor=8)


@finds(
    "division.rows_again",
    "divided-twice",
    "warning",
    OTHER,
    "again, by 5 or 8: the",
    remedy="Leave one of the two out: the mean, or reduction='sum' and the division.",
    rows=[5, 8],
)
def a_mean_is_divided_by_rows_that_differ() -> Log:
    return over_rows(8, 8, 5)


@quiet("division.rows_again")
def a_mean_is_divided_by_its_rows_once() -> Log:
    return over_rows(8, 0, 8)


@quiet("division.rows_again")
def a_mean_is_divided_by_as_many_micro_batches_as_it_has_rows() -> Log:
    return over_rows(4, 4, 4, window=4)


@quiet("division.rows_again")
def a_mean_is_divided_by_as_many_as_its_rows_and_no_step_had_its_gradient() -> Log:
    tape = windows(1, 1)
    tape.backward(OTHER, rows_again=4, rows_again_at=at(OTHER))
    return tape.log()


@quiet("division.rows_again")
def a_mean_over_targets_is_divided_by_their_number_as_told_already() -> Log:
    return over_rows(8, 0, 8, counted_again=8)


def over_the_window(*counts: float, size: int = 4, per_pass: bool = False, **fields: Any) -> Log:
    """Sums that are divided by what counts a whole window, one count a window, and by its size."""
    tape = Tape("w b")
    for count in counts:
        for micro in range(size):
            by = count + micro if per_pass else count
            tape.passes(1, **({"over_counts": (float(size), by), "divisor": None} | fields))
        tape.step()
        tape.clear()
    return tape.log()


WINDOW_COUNTED = (
    "Divide by the count of the window alone, or each micro-batch by its own count and the number of micro-batches."
)


@finds(
    "division.window_counted",
    "divided-twice",
    "warning",
    BACKWARD,
    "share, 98 in the first and 101 in a later one: it counts the whole window. And it is divided by 4, the number",
    remedy=WINDOW_COUNTED,
    window=4,
    counts=[98.0, 98.0, 101.0],
)
def sums_are_divided_by_the_count_of_the_window_and_by_its_size() -> Log:
    return over_the_window(98.0, 98.0, 101.0)


@finds(
    "division.window_counted",
    "divided-twice",
    "warning",
    BACKWARD,
    "share, 96 in the first where one of them has 24 rows: it counts the whole window.",
    remedy=WINDOW_COUNTED,
)
def sums_are_divided_by_more_than_they_sum_and_by_the_size_of_the_window() -> Log:
    return over_the_window(96.0, 96.0, 96.0, summed_entries=24)


@quiet("division.window_counted")
def sums_are_divided_by_their_own_counts_and_by_the_size_of_the_window() -> Log:
    return over_the_window(24.0, 25.0, 26.0, per_pass=True)


@quiet("division.window_counted")
def sums_are_divided_by_what_is_the_same_in_all_windows() -> Log:
    return over_the_window(24.0, 24.0, 24.0, summed_entries=24)


@quiet("division.window_counted")
def sums_are_divided_by_what_may_count_all_ranks() -> Log:
    return over_the_window(96.0, 96.0, 96.0, summed_entries=24, sync=True)


@quiet("division.window_counted")
def sums_are_divided_by_the_count_of_the_window_alone() -> Log:
    return over_the_window(98.0, 99.0, 101.0, over_counts=())


def over_targets(*counts: int) -> Log:
    tape = Tape("w b")
    for count in counts:
        tape.passes(1, counted_again=count)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("division.twice")
def a_mean_of_two_losses_is_divided_by_a_window_of_two() -> Log:
    return windows(2, 2, 2, passes={"shares": (2, 2), "shared_at": at(OTHER)}).log()


@quiet("division.twice")
def a_sum_of_losses_divided_by_its_terms_and_by_the_window() -> Log:
    return windows(4, 4, passes={"shares": (4, 5)}).log()


@quiet("division.twice")
def a_loss_divided_by_the_size_of_its_window() -> Log:
    return windows(4, 4, passes={"divisor": 4.0}).log()


@quiet("division.twice")
def half_of_two_losses_in_a_window_of_two() -> Log:
    return windows(2, 2, passes={"divisor": 4.0}).log()


@quiet("division.twice")
def a_loss_divided_by_sixteen_in_windows_of_another_size() -> Log:
    return windows(8, 8, passes={"divisor": 16.0}).log()


@quiet("division.stepped_every_time")
def a_loss_divided_by_two_is_half_of_something() -> Log:
    return windows(1, 1, 1, passes={"divisor": 2.0}).log()


@quiet("division.stepped_every_time")
def sharded_gradients_come_with_the_last_of_four_passes() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        for _ in range(3):
            tape.write(Backward, BACKWARD, pass_number=0, divisor=4.0)
        tape.passes(1, divisor=4.0)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("division.stepped_every_time")
def a_single_step_on_a_divided_loss() -> Log:
    return windows(1, passes={"divisor": 4.0}).log()


@quiet("division.stepped_every_time")
def steps_by_hand_are_not_counted() -> Log:
    tape = Tape(loose="w")
    for _ in range(3):
        tape.passes(1, divisor=4.0)
        tape.step(optimizer=None)
        tape.clear()
    return tape.log(window=4, steps_by_hand=3)


@quiet("division.stepped_every_time")
def four_losses_divided_by_four_are_stepped_together() -> Log:
    return windows(4, 4, 4, passes={"divisor": 4.0}).log()


@quiet("division.stepped_every_time")
def losses_divided_by_different_numbers() -> Log:
    tape = Tape("w b")
    for number in (3.0, 5.0, 4.0):
        tape.passes(1, divisor=number)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "division.auxiliary",
    "auxiliary-loss-not-divided",
    "warning",
    BACKWARD,
    "In windows of 4 micro-batches one loss is divided by 4, and a summand that ends in Sum is not: it counts 4 times",
    window=4,
    steps=[0, 1],
)
def a_summand_is_left_undivided() -> Log:
    return windows(4, 4, passes={"divisor": 4.0, "undivided": "Sum"}).log()


@finds(
    "division.auxiliary",
    "auxiliary-loss-not-divided",
    "warning",
    OTHER,
    "one loss is divided by 4, and the loss that goes backward here is not",
    window=4,
)
def a_second_line_goes_backward_undivided() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1, divisor=4.0)
            tape.passes(1, OTHER, bare=True)
        tape.step()
        tape.clear()
    return tape.log()


def beside_divided(*worth: float | None, first: float = 4.0, **fields: Any) -> Log:
    """Windows of passes of two lines: the one's losses are divided by 4, the other's are worth so much in each window,
    or, where it is one number for all windows, in each pass of it."""
    tape = Tape("w b")
    for at_window in range(3):
        for at_pass in range(4):
            tape.passes(1, divisor=first)
            value = worth[at_window] if len(worth) == 3 else worth[4 * at_window + at_pass]
            tape.passes(1, OTHER, **({"value": value, "divisor": None} | fields))
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "division.the_same_each_time",
    "auxiliary-loss-not-divided",
    "warning",
    OTHER,
    "one loss is divided by 4, and the loss that goes backward here is not. It is the same for each of them, 3 in the",
    window=4,
    steps=[0, 1, 2],
)
def a_penalty_is_added_once_a_micro_batch() -> Log:
    return beside_divided(3.0, 2.5, 2.25)


@quiet("division.the_same_each_time")
def a_sum_over_each_micro_batch() -> Log:
    return beside_divided(*(float(n) for n in range(12)))


@quiet("division.the_same_each_time")
def a_loss_that_does_not_move() -> Log:
    return beside_divided(0.0, 0.0, 0.0)


@quiet("division.the_same_each_time")
def a_penalty_beside_what_nothing_divides() -> Log:
    return beside_divided(3.0, 2.5, 2.25, first=3.0)


@quiet("division.the_same_each_time")
def a_penalty_of_which_nobody_knows_what_it_was_worth() -> Log:
    return beside_divided(None, None, None)


@finds("division.auxiliary", "auxiliary-loss-not-divided", "warning", OTHER, "it counts 4 times", window=4)
def a_second_line_is_weighed_beside_a_sum_that_is_divided_as_a_whole() -> Log:
    return weighed_beside_divided(quotient=4)


@finds(
    "division.auxiliary_by_name",
    "auxiliary-loss-not-divided",
    "warning",
    OTHER,
    "One summand of the loss is divided by the number of micro-batches, 4, and one that ends in Mean is not",
    window=4,
)
def a_summand_is_left_undivided_by_the_names_and_the_gradients_are_taken_away() -> Log:
    return taken_away(parts_for_windows=True)


@quiet("division.auxiliary_by_name")
def a_summand_is_left_undivided_and_the_text_names_no_window() -> Log:
    return taken_away()


def taken_away(**fields: Any) -> Log:
    """Two sums of four micro-batches, each of which is taken and cleared, before a step on what is made of them."""
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(2):
            tape.passes(4, divisor=4.0, undivided="Mean", loss_at=at(OTHER), **fields)
            tape.clear(lost=0, lost_names=())
        tape.put("w b")
        tape.step()
        tape.clear()
    return tape.log()


def sums_beside_divided(by: tuple[int, ...] | None) -> Log:
    """A sum that is divided as a whole, and beside it one of which some summands are."""
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1, quotient=4)
            tape.passes(1, OTHER, summands_by=by)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "division.auxiliary", "auxiliary-loss-not-divided", "warning", OTHER, "a summand that ends in Sum is not", window=4
)
def a_summand_is_left_undivided_where_the_sum_is_made() -> Log:
    return windows(4, 4, passes={"divisor": 4.0, "undivided": "Sum", "loss_at": at(OTHER)}).log()


@finds("division.auxiliary", "auxiliary-loss-not-divided", "warning", OTHER, "it counts 4 times", window=4)
def a_second_sum_is_divided_by_the_number_of_its_terms_alone() -> Log:
    return sums_beside_divided(by=(2,))


@quiet("division.auxiliary")
def a_summand_of_the_second_sum_is_divided() -> Log:
    return sums_beside_divided(by=(4,))


@quiet("division.auxiliary")
def nobody_knows_what_the_second_loss_is() -> Log:
    return sums_beside_divided(by=None)


@quiet("division.auxiliary")
def a_second_line_is_weighed_beside_a_sum_that_is_divided_by_another_number() -> Log:
    return weighed_beside_divided(quotient=2)


@quiet("division.auxiliary")
def a_second_line_is_weighed_and_divided_too() -> Log:
    return weighed_beside_divided(quotient=4, weighed=False)


def weighed_beside_divided(quotient: int, weighed: bool = True) -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1, quotient=quotient)
            tape.passes(1, OTHER, weighed=weighed)
        tape.step()
        tape.clear()
    return tape.log()


@finds("division.auxiliary", "auxiliary-loss-not-divided", "warning", BACKWARD, "it counts 4 times", window=4)
def a_summand_is_left_undivided_in_a_run_that_is_not_looked_at_to_its_end() -> Log:
    tape = windows(*[4] * (LOOKED_AT // 4), passes={"divisor": 4.0, "undivided": "Sum"})
    for _ in range(3 * LOOKED_AT // 4):
        tape.passes(4)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("division.auxiliary")
def a_summand_is_undivided_in_a_loop_without_windows() -> Log:
    return windows(1, 1, 1, passes={"divisor": 4.0, "undivided": "Sum"}).log()


@finds("division.auxiliary", "auxiliary-loss-not-divided", "warning", BACKWARD, "it counts 2 times", window=2)
def a_summand_is_left_undivided_in_windows_of_two() -> Log:
    return windows(2, 2, passes={"divisor": 2.0, "undivided": "Sum"}).log()


@quiet("division.auxiliary")
def a_summand_is_undivided_in_one_window_of_three() -> Log:
    tape = windows(4, 4, passes={"divisor": 4.0})
    tape.passes(4, divisor=4.0, undivided="Sum")
    tape.step()
    return tape.log()


@quiet("division.auxiliary")
def a_summand_is_undivided_in_the_last_micro_batch_alone() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(3, divisor=4.0)
        tape.passes(1, divisor=4.0, undivided="Sum")
        tape.step()
        tape.clear()
    return tape.log()


@quiet("division.auxiliary")
def a_summand_is_divided_by_another_number_than_the_window() -> Log:
    return windows(4, 4, passes={"divisor": 8.0, "undivided": "Sum"}).log()


@quiet("division.auxiliary")
def the_gradient_with_an_undivided_summand_is_put_together_by_hand() -> Log:
    return windows(4, 4, passes={"divisor": 4.0, "undivided": "Sum"}, assigned=True).log()


@quiet("division.auxiliary")
def the_second_lines_loss_is_no_mean_that_is_known() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1, divisor=4.0)
            tape.passes(1, OTHER, bare=False)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("division.auxiliary")
def the_second_line_gets_its_share_as_a_gradient() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1, divisor=4.0)
            tape.passes(1, OTHER, bare=True, gradient=True)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("division.auxiliary")
def both_lines_are_divided() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1, divisor=4.0)
            tape.passes(1, OTHER, divisor=4.0)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("division.auxiliary")
def a_penalty_goes_backward_once_a_window() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(4, divisor=4.0)
        tape.passes(1, OTHER, bare=True)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("division.auxiliary")
def the_undivided_loss_is_divided_in_its_gradient() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(4, divisor=4.0, undivided="Sum")
        tape.edit(factors=(0.25,))
        tape.step()
        tape.clear()
    return tape.log()


def means(*targets: int, divisor: float = 3.0, steps: int = 3) -> Log:
    """Windows of passes whose losses are means over so many targets."""
    return divided_passes([{"divisor": divisor, "targets": count} for count in targets], steps)


def counted_sums(*counts: float, by: float = 3.0, steps: int = 3) -> Log:
    """Windows of passes whose losses are sums, divided by a count each and by a number."""
    return divided_passes([{"over_counts": (by, count)} for count in counts], steps)


def divided_passes(passes: list[dict[str, Any]], steps: int) -> Log:
    """Windows of such passes."""
    tape = Tape("w")
    for _ in range(steps):
        for one in passes:
            tape.passes(1, loss_at=at(OTHER), **one)
        tape.step()
        tape.clear()
    return tape.log()


def with_tails(*sizes: int, divisor: float = 4.0, ends: bool = True, edited: bool = False) -> Log:
    """Windows, each short one of which ends a pass over the data."""
    tape = Tape("w b")
    for size in sizes:
        tape.passes(size, divisor=divisor)
        if edited:
            tape.edit(factors=(4 / size,))
        tape.step()
        tape.clear()
        if size < max(sizes) and ends:
            tape.write(DataPass, LOADER, ())
    return tape.log()


@finds(
    "division.short_windows",
    "tail-divided-by-full-window",
    "info",
    BACKWARD,
    "2 windows at the end of the data had fewer than 4 micro-batches, the first 2, and each loss was divided by 4",
    "with 2 / 4 of the mean",
    steps=[2, 5],
    window=4,
)
def two_short_windows_are_divided_as_full_ones() -> Log:
    return with_tails(4, 4, 2, 4, 4, 2)


def behind_what_was_looked_at(condition: str, divided_by: str = "accum") -> Log:
    """A short window among passes that were not looked at any more; the text divides by a name, and counts."""
    tape = Tape("w b")
    for size in [*[4] * 16, 2]:
        for _ in range(size):
            looked_at = tape.count < LOOKED_AT
            told = {"divisor": 4.0, "divided_by": divided_by, "divided_at": at(OTHER)}
            tape.passes(1, **(told if looked_at else {}))
        tape.step(condition=condition)
        tape.clear()
    return tape.log()


@finds(
    "division.short_windows",
    "tail-divided-by-full-window",
    "info",
    OTHER,  # where it divides
    "1 window at the end of the data had fewer than 4 micro-batches, the first 2, and each loss was divided by 4",
)
def a_short_window_is_divided_as_a_full_one_by_the_text() -> Log:
    return behind_what_was_looked_at("(i + 1) % accum == 0 or i + 1 == len(loader)")


@quiet("division.short_windows")
def a_short_window_is_divided_by_another_name_than_the_condition_counts_to() -> Log:
    return behind_what_was_looked_at("(i + 1) % accum == 0", divided_by="size")


@quiet("division.short_windows")
def a_short_window_is_divided_by_a_name_that_begins_like_the_count() -> Log:
    return behind_what_was_looked_at("(i + 1) % accumulate == 0")


@quiet("division.short_windows")
def short_windows_whose_gradients_are_put_right() -> Log:
    return with_tails(4, 4, 2, 4, 4, 2, edited=True)


@quiet("division.short_windows")
def short_windows_of_losses_that_are_not_divided_by_that() -> Log:
    return with_tails(4, 4, 2, 4, 4, 2, divisor=3.0)


@quiet("division.short_windows")
def one_full_window_so_far() -> Log:
    return with_tails(4, 2)


@finds(
    "division.unequal_means",
    "mean-of-means",
    "warning",
    OTHER,
    "The 3 losses of step 0 are means over 4 to 32 targets, and each is divided by 3",
    "weighs 8 times as much",
    "in 3 of 3 windows",
    targets=[4, 8, 32],
)
def micro_batches_hold_unequal_numbers_of_targets() -> Log:
    return means(4, 8, 32)


@finds(
    "division.unequal_means",
    "mean-of-means",
    "warning",
    OTHER,
    "The 3 losses of step 0 are sums, divided by 4 to 32, each by a count of its own, and each is divided by 3",
    "a summand of the smallest micro-batch weighs 8 times as much",
    targets=[4, 8, 32],
)
def sums_over_masks_that_leave_unequal_numbers() -> Log:
    return counted_sums(4.0, 8.0, 32.0)


@quiet("division.unequal_means")
def sums_over_masks_that_leave_about_as_many() -> Log:
    return counted_sums(19.0, 32.0, 36.0)


@quiet("division.unequal_means")
def sums_over_what_is_no_count() -> Log:
    return counted_sums(4.5, 8.5, 32.5)


@quiet("division.unequal_means")
def sums_that_are_divided_by_the_count_of_the_window() -> Log:
    return counted_sums(44.0, 44.0, 44.0)


@quiet("division.unequal_means")
def sums_that_are_divided_by_something_else_than_the_window() -> Log:
    return counted_sums(4.0, 8.0, 32.0, by=2.0)


@quiet("division.unequal_means")
def micro_batches_are_about_as_large() -> Log:
    return means(30, 32, 36)


@quiet("division.unequal_means")
def each_loss_is_weighed_by_something_else() -> Log:
    return means(4, 8, 32, divisor=44.0)


@quiet("division.unequal_means")
def one_window_alone_is_unequal() -> Log:
    return means(4, 8, 32, steps=1)


@finds(
    "division.contrasts",
    "contrastive-loss-accumulated",
    "info",
    BACKWARD,
    "each of 8 rows from the others of its own micro-batch, and 4 micro-batches make a step",
    "the other 3 micro-batches",
    rows=8,
    window=4,
)
def a_contrastive_loss_is_accumulated() -> Log:
    return windows(4, 4, passes={"contrast": 8}).log()


@quiet("division.contrasts")
def a_contrastive_loss_over_the_whole_batch() -> Log:
    return windows(1, 1, passes={"contrast": 8}).log()


# ------------------------------------------------------------------ graphs


@finds(
    "graphs.critics",
    "advantage-not-detached",
    "warning",
    OTHER,
    "put gradients on v, and the step used them",
    steps=[0, 1],
    names=["v"],
)
def a_policys_loss_trains_the_value() -> Log:
    tape = Tape("w v")
    for _ in range(2):
        tape.passes(1, critic=("v",), critic_at=at(OTHER))
        tape.step()
        tape.clear()
    return tape.log()


@finds("graphs.critics", "advantage-not-detached", "warning", BACKWARD, "put gradients on v", names=["v"])
def a_policys_loss_trains_the_value_and_the_text_does_not_show_where() -> Log:
    tape = Tape("w v")
    tape.passes(1, critic=("v",))
    tape.step()
    return tape.log()


def _a_worker(line: int, **fields: Any) -> Tape:
    """A loss of a worker, whose gradients the code puts on the model that is stepped."""
    tape = Tape("shared.v.weight", loose="worker.v.weight")
    tape.backward(names="worker.v.weight", **fields)
    tape.put("shared.v.weight", line)
    tape.step(assigned=True)
    return tape


WORKER = {"shared.v.weight": {"given": True, "model": "shared"}, "worker.v.weight": {"read": True, "model": "worker"}}


@finds(
    "graphs.critics",
    "advantage-not-detached",
    "warning",
    OTHER,
    "put gradients on worker.v.weight, and the step used what the code has put on the parameters of the same names",
    names=["worker.v.weight"],
)
def a_workers_loss_trains_the_value_of_the_model_it_is_a_copy_of() -> Log:
    return _a_worker(EDIT, critic=("worker.v.weight",), critic_at=at(OTHER)).log(WORKER)


@finds(
    "graphs.reached",
    "target-not-detached",
    "warning",
    OTHER,
    "reached worker.v.weight through that target, and the step used what the code has put",
)
def a_workers_loss_trains_its_target() -> Log:
    return _a_worker(EDIT, reaches=(Reach("bootstrap", ("worker.v.weight",), at(OTHER)),)).log(WORKER)


def test_what_a_worker_clips_between_two_loads_of_the_shared_weights_is_no_micro_batch() -> None:
    """Its weights are written over now and then, as by a step by hand; each of its passes has a step elsewhere."""
    tape = Tape("shared.v.weight", loose="worker.v.weight")
    for count in range(8):
        tape.passes(1, names="worker.v.weight")
        tape.clip(names="worker.v.weight")
        tape.put("shared.v.weight", EDIT)
        tape.step(assigned=True)
        if count % 2:
            tape.step(optimizer=None)
            tape.clear(names="worker.v.weight")
    lent, alone = (
        [one.misconception for one in findings(tape.log(facts))]
        for facts in (WORKER, {"worker.v.weight": {"model": "worker"}})
    )
    assert "clipped-every-micro-batch" in alone and "clipped-every-micro-batch" not in lent


@quiet("graphs.critics")
def what_a_critic_got_is_of_another_shape_than_what_is_stepped_by_given_gradients() -> Log:
    shapes = {"shared.v.weight": {"shape": (1, 16)}, "worker.v.weight": {"shape": (1, 4)}}
    return _a_worker(EDIT, critic=("worker.v.weight",)).log({name: one | shapes[name] for name, one in WORKER.items()})


@quiet("graphs.critics")
def what_the_policys_loss_left_on_the_critic_is_cleared() -> Log:
    tape = Tape("w", "v")
    for _ in range(2):
        tape.passes(1, critic=("v",))
        tape.step()
        tape.clear()
        tape.passes(1, OTHER, names="v")
        tape.step(optimizer=1)
        tape.clear()
    return tape.log()


@quiet("graphs.critics")
def the_critic_is_not_trained() -> Log:
    tape = Tape("w", loose="v")
    tape.passes(1, names="w", critic=("v",))
    tape.step()
    return tape.log()


@finds(
    "graphs.reached",
    "target-not-detached",
    "warning",
    OTHER,
    "a reward and a discounted value that has a graph: its gradient also reached w",
    steps=[0, 1],
    names=["w"],
)
def a_target_made_of_the_next_value_has_a_graph() -> Log:
    return reaching("bootstrap", at(OTHER))


@finds("graphs.reached", "target-not-detached", "warning", FORWARD, "moves the teacher towards the student")
def a_teacher_is_reached_through_the_comparison_alone() -> Log:
    return reaching("teacher", at(FORWARD))


@finds("graphs.reached", "target-not-detached", "warning", BACKWARD, "no side is detached")
def both_views_are_moved_and_the_text_does_not_show_where() -> Log:
    return reaching("mirror", None)


@finds("graphs.reached", "target-not-detached", "warning", OTHER, "no graph the one time and has one the other time")
def one_of_two_views_is_a_constant() -> Log:
    return reaching("half mirror", at(OTHER))


@finds("graphs.reached", "target-not-detached", "warning", OTHER, "compares rows of a table twice", "the table and w")
def a_codebook_and_its_commitment_move_the_same_side() -> Log:
    return reaching("twice", at(OTHER))


@finds("graphs.reached", "drawn-with-zero-gradient", "warning", OTHER, "torch.normal(), whose gradient is exactly zero")
def a_draw_stands_between_the_loss_and_the_weights() -> Log:
    return reaching("draw", at(OTHER))


@finds(
    "graphs.reached", "straight-through-not-detached", "warning", OTHER, "cancel exactly, and on that way w got nothing"
)
def a_sum_takes_away_what_it_adds() -> Log:
    return reaching("undone", at(OTHER))


@finds("graphs.reached", "straight-through-turned", "warning", OTHER, "gives its gradient to w, none to what was")
def a_straight_through_leaves_its_gradient_with_the_codes() -> Log:
    return reaching("turned", at(OTHER))


@finds("graphs.reached", "score-of-moving-sample", "warning", OTHER, "on that way w got a gradient of zeros")
def a_log_probability_of_a_sample_that_moves_with_the_mean() -> Log:
    return reaching("score", at(OTHER))


@finds("graphs.reached", "compared-with-itself", "warning", OTHER, "the difference of w and what should be its older")
def a_penalty_holds_a_weight_to_itself() -> Log:
    return reaching("itself", at(OTHER))


@finds("graphs.reached", "compared-with-itself", "warning", OTHER, "holds w to a constant, but every difference was")
def a_penalty_holds_a_weight_to_what_moves_with_it() -> Log:
    return reaching("anchor", at(OTHER))


@finds("graphs.reached", "target-not-detached", "warning", OTHER, "holds w to labels that were guessed")
def a_loss_holds_a_model_to_labels_that_it_guesses_with_a_graph() -> Log:
    return reaching("label", at(OTHER))


@finds(
    "graphs.reached", "probe-trains-encoder", "warning", OTHER, "the loss of the probe reached w as well, and the step"
)
def a_probe_is_given_a_representation_with_its_graph() -> Log:
    return reaching("probe", at(OTHER))


@finds(
    "graphs.unreversed",
    "gradient-not-reversed",
    "warning",
    OTHER,
    "By its name this layer reverses gradients. In 2 passes looked at",
)
def a_reversal_hands_gradients_on_as_they_point() -> Log:
    return windows(1, 1, passes={"unreversed_at": at(OTHER)}).log()


@quiet("graphs.unreversed")
def a_reversal_that_was_seen_once() -> Log:
    tape = Tape("w b")
    for place in (at(OTHER), None, None):
        tape.passes(1, unreversed_at=place)
        tape.step()
        tape.clear()
    return tape.log()


@finds("graphs.ignored", "upstream-gradient-ignored", "warning", OTHER, "In 2 passes looked at", steps=[0, 1])
def a_backward_of_ones_own_never_reads_its_gradient() -> Log:
    tape = Tape("w")
    for _ in range(2):
        tape.passes(1, ignored_at=at(OTHER))
        tape.step()
        tape.clear()
    return tape.log()


@quiet("graphs.ignored")
def no_backward_ignores_its_gradient() -> Log:
    tape = Tape("w")
    tape.passes(1)
    tape.step()
    return tape.log()


@finds(
    "graphs.squashed",
    "probabilities-as-scores",
    "warning",
    LAYER,
    "takes what a softmax gave for scores and squashes it once more, in 2 passes looked at",
    remedy=(
        "Give the loss the scores as they are, without the softmax; what draws or shows probabilities takes it there."
    ),
    steps=[0, 1],
)
def a_softmax_before_the_softmax_of_a_loss() -> Log:
    return windows(1, 1, passes={"squashed": "softmax", "squashed_at": at(LAYER)}).log()


@quiet("graphs.squashed")
def probabilities_squashed_in_a_pass_that_no_step_uses() -> Log:
    tape = windows(1, 1)
    tape.passes(1, squashed="sigmoid", squashed_at=at(LAYER))
    tape.clear(lost=0, lost_names=(), lost_trails=())
    return tape.log()


FROZEN_LAYER = LayerWithoutGraph("model.1.base", "x", at(LAYER), at(OTHER))


@finds(
    "graphs.layers_without_graph",
    "layer-under-no-grad",
    "warning",
    OTHER,
    "model.1.base runs under no_grad() with an input that has a graph",
    "no gradient reaches what computed x",
    layer="model.1.base",
    layer_called_at=at(LAYER),
)
def a_layer_runs_without_a_graph_inside_a_model() -> Log:
    return windows(1, 1, 1).log(without_graph=(FROZEN_LAYER,))


@quiet("graphs.layers_without_graph")
def a_layer_runs_without_a_graph_and_nothing_is_stepped() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.clear()
    return tape.log(without_graph=(FROZEN_LAYER,))


HANDED = HandedState("encoder", "decoder", at(OTHER), 3)


@finds(
    "graphs.handed_states",
    "state-handed-without-graph",
    "warning",
    OTHER,
    "decoder begins with the state of encoder, which has no graph there, in each of 3 passes looked at",
    giver="encoder",
    taker="decoder",
)
def a_decoder_begins_with_a_state_without_graph() -> Log:
    return windows(1, 1, 1).log(handed=(HANDED,))


@quiet("graphs.handed_states")
def a_state_is_handed_on_and_nothing_is_stepped() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.clear()
    return tape.log(handed=(HANDED,))


@finds(
    "standing.taken_back",
    "eval-mode-taken-back",
    "warning",
    OTHER,
    "also puts 1 (BatchNorm1d) and 4 (BatchNorm1d) back into train mode",
    "put them into eval mode, in which they never ran.",
    parts=["1 (BatchNorm1d)", "4 (BatchNorm1d)"],
)
def train_takes_eval_mode_back() -> Log:
    return windows(1, 1).log(taken_back=(TakenBack(at(OTHER), ("1 (BatchNorm1d)", "4 (BatchNorm1d)")),))


@finds(
    "standing.taken_back", "eval-mode-taken-back", "warning", OTHER, "had put it into eval mode, in which it never ran."
)
def train_takes_the_eval_mode_of_one_part_back() -> Log:
    return windows(1, 1).log(taken_back=(TakenBack(at(OTHER), ("1 (BatchNorm1d)",)),))


@quiet("standing.taken_back")
def eval_mode_is_taken_back_and_nothing_is_stepped() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.clear()
    return tape.log(taken_back=(TakenBack(at(OTHER), ("1 (BatchNorm1d)",)),))


@finds(
    "standing.withdrawn",
    "train-mode-taken-back",
    "warning",
    OTHER,
    f"The train() at {at(FORWARD).short} is taken back here before the next step",
    "4 steps trained 1 (BatchNorm1d) in eval mode.",
    parts=["1 (BatchNorm1d)"],
    trained=4,
)
def a_helper_puts_a_model_into_eval_mode_before_it_trains() -> Log:
    return windows(1, 1).log(withdrawn=(Withdrawn(at(OTHER), at(FORWARD), ("1 (BatchNorm1d)",), 4),))


@finds(
    "standing.withdrawn",
    "trained-in-eval-mode",
    "warning",
    OTHER,
    "into eval mode for an evaluation before the first step. Nothing puts it into train mode after that: 4 steps of",
    parts=["1 (BatchNorm1d)"],
    trained=4,
)
def a_model_is_evaluated_before_its_first_step_and_stays_in_eval_mode() -> Log:
    return windows(1, 1).log(withdrawn=(Withdrawn(at(OTHER), None, ("1 (BatchNorm1d)",), 4, "evaluation"),))


@finds(
    "standing.withdrawn",
    "trained-in-eval-mode",
    "warning",
    OTHER,
    "before the first step, while ema, of the same shapes and in no optimizer, stays in train mode.",
    "Nothing puts them into train mode after that",
    remedy="Call eval() on the copy, not on the model or on what holds it; and model.train() before training.",
    parts=["1 (BatchNorm1d)", "3 (Dropout)"],
    trained=4,
)
def eval_was_called_on_the_model_in_place_of_its_copy() -> Log:
    one = Withdrawn(at(OTHER), None, ("1 (BatchNorm1d)", "3 (Dropout)"), 4, "ema")
    return windows(1, 1).log(withdrawn=(one,))


@quiet("standing.withdrawn")
def no_mode_was_taken_back() -> Log:
    return windows(1, 1).log()


@finds(
    "graphs.bare_norms",
    "norm-without-graph",
    "warning",
    OTHER,
    "in 4 passes looked at: their gradient keeps what points along them",
    "; the same loss also divides by norms that have one",
    passes=4,
)
def a_norm_without_graph_beside_others() -> Log:
    return windows(1, 1, 1, 1).log(bare_norms=(BareNorm(at(OTHER), 4, True),))


@finds("graphs.bare_norms", "norm-without-graph", "info", OTHER, "keeps what points along them.")
def a_norm_without_graph_that_may_be_meant() -> Log:
    return windows(1, 1, 1, 1).log(bare_norms=(BareNorm(at(OTHER), 4, False),))


@quiet("graphs.bare_norms")
def a_norm_without_graph_and_no_step() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.clear()
    return tape.log(bare_norms=(BareNorm(at(OTHER), 4, True),))


BARE = GraphlessSummand(at(OTHER), (0.5, 0.25, 0.0, 0.125))


@finds(
    "graphs.bare_numbers",
    "summand-without-graph",
    "info",
    OTHER,
    "A number that changes from step to step is added to the loss here, and has no graph, in any of 4 passes looked at",
    values=[0.5, 0.25, 0.0, 0.125],
)
def a_number_without_a_graph_is_added_in_each_step() -> Log:
    return windows(1, 1, 1, 1).log(graphless=(BARE,))


@finds("graphs.bare_numbers", "summand-without-graph", "warning", OTHER, "in any of 12 passes", values=[0.5] * 10)
def a_number_that_its_line_takes_out_of_its_graph_is_added_in_many_steps() -> Log:
    return windows(*[1] * 12).log(graphless=(GraphlessSummand(at(OTHER), (0.5,) * 12, taken_out=True),))


@quiet("graphs.bare_numbers")
def a_number_without_a_graph_is_added_and_nothing_steps() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.clear()
    return tape.log(graphless=(BARE,))


def test_a_summand_that_the_text_tells_of_is_not_told_of_again_by_its_sum() -> None:
    by_text = with_summand("aux", 0.5, 0.25)
    assert findings(replace(by_text, graphless=(BARE,))) == findings(by_text) != []
    apart = values_apart()
    assert findings(replace(apart, graphless=(BARE,))) == findings(apart) != []


@finds("graphs.flat_ratios", "ratio-always-one", "warning", OTHER, "before each of 3 steps looked at", steps=[0, 1, 2])
def the_old_probabilities_are_the_new_ones() -> Log:
    return ratios(3)


@finds("graphs.flat_ratios", "ratio-always-one", "warning", OTHER, "the old have a graph, too, and it reaches the same")
def the_old_policy_is_the_policy() -> Log:
    return ratios(3, cancels=True)


@quiet("graphs.flat_ratios")
def the_first_two_steps_on_new_data() -> Log:
    return ratios(2)


@quiet("graphs.flat_ratios")
def the_old_probabilities_belong_to_fresh_data() -> Log:
    return ratios(3, None)


@quiet("graphs.flat_ratios")
def one_window_of_many_passes() -> Log:
    tape = Tape("w")
    tape.passes(4, flat_ratio=True, ratio_at=at(OTHER))
    tape.step()
    return tape.log()


def ratios(steps: int, line: int | None = OTHER, cancels: bool = False) -> Log:
    tape = Tape("w")
    for _ in range(steps):
        where = at(line) if line is not None else None
        tape.passes(1, flat_ratio=True, ratio_at=where, ratio_cancels=cancels)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("graphs.reached")
def what_reached_the_target_is_cleared() -> Log:
    tape = Tape("w", "v")
    for _ in range(2):
        tape.passes(1, reaches=(Reach("bootstrap", ("v",), at(OTHER)),))
        tape.step()
        tape.clear()
        tape.passes(1, OTHER, names="v")
        tape.step(optimizer=1)
        tape.clear()
    return tape.log()


@quiet("graphs.reached")
def nobody_steps_what_a_probe_looks_at() -> Log:
    tape = Tape("w", loose="v")
    tape.passes(1, names="w", reaches=(Reach("probe", ("v",), at(OTHER)),))
    tape.step()
    return tape.log()


@quiet("graphs.reached")
def nobody_steps_the_target() -> Log:
    tape = Tape("w", loose="v")
    tape.passes(1, names="w", reaches=(Reach("bootstrap", ("v",), at(OTHER)),))
    tape.step()
    return tape.log()


@quiet("graphs.reached")
def a_teacher_learns_beside_its_student() -> Log:
    return reaching("teacher", at(OTHER), also="w")


@finds("graphs.reached", "target-not-detached", "warning", OTHER, "its gradient moves the teacher towards the student")
def something_else_is_trained_beside_a_teacher() -> Log:
    return reaching("teacher", at(OTHER), also="v")


def reaching(how: Any, where: Place | None, also: str = "") -> Log:
    """With a pass of another line that trains these others, too."""
    tape = Tape("w v" if also else "w")
    for _ in range(2):
        tape.passes(1, reaches=(Reach(how, ("w",), where),))
        if also:
            tape.passes(1, OTHER, names=also)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "graphs.values_apart",
    "summand-without-graph",
    "warning",
    EDIT,
    "a value whose gradient reaches v and nothing that SGD #1 (train.py:1) holds",
    "cleared before any step, after 2 passes looked at",
    remedy="If the value is to train what acts, do not detach that on its way in; draw an action with rsample().",
    names=["v"],
    steps=[0, 1, 2],
)
def a_critic_alone_is_reached_by_the_actors_value() -> Log:
    return values_apart()


@quiet("graphs.values_apart")
def the_critic_steps_on_the_same_pass() -> Log:
    return values_apart(joint=True)


@quiet("graphs.values_apart")
def the_value_was_given_an_action_with_a_graph() -> Log:
    return values_apart(apart=())


@quiet("graphs.values_apart")
def somebody_reads_the_critics_gradient() -> Log:
    return values_apart(facts={"v": {"read": True, "by_hand": True}})


@finds(
    "graphs.values_apart",
    "summand-without-graph",
    "warning",
    EDIT,
    "reaches v and nothing that",
    "was cleared",
    remedy="If the value is to train what acts, do not detach that on its way in; draw an action with rsample().",
)
def the_critics_gradient_is_clipped_before_its_own_step() -> Log:
    return values_apart(facts={"v": {"read": True}})


@quiet("graphs.values_apart")
def somebody_puts_the_critics_gradient_there() -> Log:
    return values_apart(facts={"v": {"given": True}})


@quiet("graphs.values_apart")
def one_pass_was_cleared_so_far() -> Log:
    return values_apart(rounds=2)


@quiet("graphs.values_apart")
def one_optimizer_holds_both() -> Log:
    tape = Tape("w v")
    for _ in range(3):
        tape.passes(1, apart=("v",))
        tape.step()
        tape.clear()
    return tape.log()


@quiet("graphs.values_apart")
def something_is_stepped_by_hand_beside_a_critic() -> Log:
    return values_apart(by_hand=True)


def values_apart(
    rounds: int = 3,
    apart: tuple[str, ...] = ("v",),
    joint: bool = False,
    by_hand: bool = False,
    facts: dict[str, dict[str, Any]] | None = None,
) -> Log:
    """A critic with its own loss, and an actor whose loss adds the critic's value."""
    tape = Tape("w", "v", loose="u" if by_hand else "")
    for _ in range(rounds):
        tape.clear(names="v")
        if not joint:
            tape.passes(1, OTHER, names="v")
            tape.step(OTHER, 1)
            tape.clear(names="v")
        tape.clear(names="w u" if by_hand else "w")
        tape.passes(1, names="w v u" if by_hand else "w v", apart=apart, apart_at=at(EDIT))
        tape.step()
        if joint:
            tape.step(optimizer=1)
        if by_hand:
            tape.step(optimizer=None)
    return tape.log(facts or {})


@finds(
    "graphs.adapted",
    "inner-gradients-in-outer-step",
    "warning",
    OTHER,
    "the step of SGD used 2 such passes together with the later ones, in 2 windows looked at",
    steps=[0, 1],
)
def the_gradients_of_an_inner_loop_are_stepped_on() -> Log:
    return inner_loop()


@quiet("graphs.adapted")
def the_gradients_of_an_inner_loop_are_cleared() -> Log:
    return inner_loop(cleared=True)


@quiet("graphs.adapted")
def nothing_is_made_from_the_gradients_of_the_first_passes() -> Log:
    return inner_loop(made=False)


def inner_loop(cleared: bool = False, made: bool = True) -> Log:
    tape = Tape("w")
    for _ in range(2):
        tape.passes(2, OTHER)
        inner = (tape.count - 1, tape.count)
        if cleared:
            tape.clear()
        tape.passes(1, adapted=inner if made else ())
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "graphs.idle_summands",
    "penalty-without-graph",
    "warning",
    EDIT,
    "The loss adds 10 * penalty (train.py:8)",
    summand="10 * penalty",
)
def a_penalty_is_computed_from_a_gradient_without_graph() -> Log:
    tape = Tape("w")
    for graphless in (None, at(EDIT)):
        tape.passes(1, idle_summand="10 * penalty", idle_at=at(OTHER), graphless_grad=graphless)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "graphs.idle_summands",
    "penalty-without-graph",
    "warning",
    EDIT,
    "The loss holds du (train.py:8), computed from what this call returns",
    "without create_graph=True that has no graph, and is a constant to backward()",
    summand="du",
)
def a_derivative_in_a_residual_has_no_graph() -> Log:
    return with_summand("du", None, idle_inner=True, graphless_grad=at(EDIT))


@finds(
    "graphs.idle_summands",
    "summand-without-graph",
    "warning",
    OTHER,
    "aux is a part of the loss that changes from step to step and has no graph, in any of 2 passes looked at",
    summand="aux",
    values=[0.5, 0.25],
)
def a_summand_that_changes_has_no_graph() -> Log:
    return with_summand("aux", 0.5, 0.25)


@finds("graphs.idle_summands", "summand-without-graph", "warning", OTHER, "far is a part of the loss that has no graph")
def the_text_shows_where_a_summand_left_the_graph() -> Log:
    return with_summand("far", None, None, idle_cut=True)


@finds(
    "graphs.idle_summands",
    "summand-without-graph",
    "warning",
    OTHER,
    "soft is a part of the loss whose gradient reaches v and nothing else, and no optimizer steps these",
    summand="soft",
    names=["v"],
)
def a_summand_reaches_what_nobody_steps() -> Log:
    tape = Tape("w", loose="v")
    tape.passes(1, idle_summand="soft", idle_at=at(OTHER), idle_names=("v",))
    tape.step()
    return tape.log(facts={"v": {"training": False}})


@finds(
    "graphs.idle_summands",
    "summand-without-graph",
    "warning",
    OTHER,
    "gradient reaches v and nothing else, and no step of these uses what it leaves there: it moves no parameter",
    summand="soft",
    names=["v"],
)
def a_summand_reaches_what_is_cleared_before_its_own_loss() -> Log:
    return beside_its_own_loss()


@quiet("graphs.idle_summands")
def a_summand_reaches_what_steps_on_it() -> Log:
    return beside_its_own_loss(cleared=False)


@quiet("graphs.idle_summands")
def a_summand_reaches_what_is_cleared_and_the_user_took_it_before() -> Log:
    return beside_its_own_loss(given=True)


def beside_its_own_loss(cleared: bool = True, given: bool = False) -> Log:
    """A discriminator with a loss of its own, and a generator whose loss has a summand that reaches it alone."""
    tape = Tape("w", "v")
    for _ in range(4):
        if cleared:
            tape.clear(names="v")
        tape.passes(1, OTHER, names="v")
        tape.step(OTHER, 1)
        tape.clear(names="w v")
        tape.passes(1, names="w v", idle_summand="soft", idle_at=at(OTHER), idle_names=("v",))
        tape.step()
    return tape.log({"v": {"given": given}})


@finds("graphs.idle_summands", "summand-without-graph", "warning", OTHER, "soft is a part of the loss")
def what_a_summand_reaches_is_stepped_no_more() -> Log:
    tape = Tape("w", "v")
    tape.passes(1, names="v")
    tape.step(optimizer=1)
    tape.clear()
    tape.passes(1, idle_summand="soft", idle_at=at(OTHER), idle_names=("v",))
    tape.step()
    return tape.log()


@quiet("graphs.idle_summands")
def what_a_summand_reaches_is_stepped_later() -> Log:
    tape = Tape("w", "v")
    tape.passes(1, idle_summand="soft", idle_at=at(OTHER), idle_names=("v",))
    tape.step()
    tape.clear(names="w")
    tape.passes(1, names="v")
    tape.step(optimizer=1)
    return tape.log()


@quiet("graphs.idle_summands")
def what_a_summand_reaches_is_stepped_by_hand() -> Log:
    tape = Tape("w", loose="v")
    tape.passes(1, idle_summand="soft", idle_at=at(OTHER), idle_names=("v",))
    tape.step()
    tape.step(optimizer=None)
    return tape.log()


@quiet("graphs.idle_summands")
def somebody_reads_the_gradient_that_a_summand_leaves() -> Log:
    tape = Tape("w", loose="v")
    tape.passes(1, idle_summand="soft", idle_at=at(OTHER), idle_names=("v",))
    tape.step()
    return tape.log(facts={"v": {"read": True, "training": False}})


@quiet("graphs.idle_summands")
def a_summand_that_is_cut_off_is_zero() -> Log:
    return with_summand("far", 0.0, 0.0, idle_cut=True)


@quiet("graphs.idle_summands")
def a_constant_stands_beside_the_loss() -> Log:
    return with_summand("prior", 1.5, 1.5, 1.5)


@quiet("graphs.idle_summands")
def what_the_summand_is_worth_is_not_known() -> Log:
    return with_summand("model.extra()", None, None)


@quiet("graphs.idle_summands")
def two_summands_that_never_change() -> Log:
    tape = Tape("w")
    for text, value in (("a", 1.0), ("b", 2.0)):
        tape.passes(1, idle_summand=text, idle_at=at(OTHER), idle_value=value)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "graphs.redrawn",
    "checkpoint-draws-again",
    "error",
    FORWARD,
    "does not keep the random state, and dropout runs inside",
)
def a_checkpoint_drops_out_other_numbers() -> Log:
    return windows(1, 1).log(redrawn_at=at(FORWARD))


@quiet("graphs.redrawn")
def a_checkpoint_that_nothing_was_trained_with() -> Log:
    tape = Tape("w")
    tape.forward()
    return tape.log(redrawn_at=at(FORWARD))


def _scheduled(scheduler: str, length: int, steps: int, taken: int) -> Log:
    schedule = ScheduleFacts(scheduler, 0, length, steps, at(SCHEDULE))
    return windows(*[1] * taken).log(schedules=(schedule,))


def _made_for(length: int, *sizes: int, steps: int = 0, scheduler: str = "OneCycleLR", **fields: Any) -> Log:
    """A scheduler that is stepped with each of these windows, or so often."""
    made = ScheduleFacts(scheduler, 0, length, steps or len(sizes), at(SCHEDULE))
    return windows(*sizes).log(schedules=(made,), **fields)


@finds(
    "rates.schedules",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "made for 60 steps, as many as there were micro-batches (60), of which each step of SGD takes several: it took 20, "
    "and the scheduler 20 steps, so the learning rate goes no further than a schedule's first 20 of 60.",
    remedy="Make it for the number of optimizer steps: divide by the micro-batches per step.",
    length=60,
    scheduler_steps=20,
    optimizer_steps=20,
)
def a_schedule_for_micro_batches_is_stepped_with_the_optimizer() -> Log:
    return _made_for(60, *[3] * 20)


@finds(
    "rates.schedules",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "(59)",
    remedy="Make it for the number of optimizer steps: divide by the micro-batches per step.",
)
def one_micro_batch_was_dropped() -> Log:
    return _made_for(60, *[3] * 19, 2)


@quiet("rates.schedules")
def a_schedule_for_a_longer_run_is_stepped_with_the_optimizer() -> Log:
    return _made_for(80, *[3] * 20)


@quiet("rates.schedules")
def a_schedule_for_a_shorter_run_is_stepped_with_the_optimizer() -> Log:
    return _made_for(40, *[3] * 20)


@quiet("rates.schedules")
def the_run_was_cut_off_where_the_schedule_is_as_long_as_its_passes() -> Log:
    return _made_for(60, *[3] * 20, finished=False)


@quiet("rates.schedules")
def a_cycle_as_long_as_all_micro_batches() -> Log:
    return _made_for(60, *[3] * 20, scheduler="CyclicLR")


@quiet("rates.schedules")
def a_schedule_as_long_as_its_passes_is_stepped_now_and_then() -> Log:
    return _made_for(60, *[3] * 20, steps=9)


@quiet("rates.schedules")
def a_function_of_the_step_holds_some_number() -> Log:
    schedule = ScheduleFacts("LambdaLR", 0, 20, 4, at(SCHEDULE), named=False)
    return windows(*[1] * 20).log(schedules=(schedule,))


@finds(
    "rates.schedules",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "OneCycleLR is made for 20 steps, SGD took 20, and the scheduler 4 steps",
    length=20,
    scheduler_steps=4,
    optimizer_steps=20,
)
def a_schedule_for_steps_is_stepped_once_an_epoch() -> Log:
    return _scheduled("OneCycleLR", 20, 4, taken=20)


@finds(
    "rates.schedules",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "CosineAnnealingLR is made for 4 steps, and took 20, one with each step of SGD: the learning rate rises again",
    length=4,
    scheduler_steps=20,
    optimizer_steps=20,
)
def a_schedule_for_epochs_is_stepped_with_the_optimizer() -> Log:
    return _scheduled("CosineAnnealingLR", 4, 20, taken=20)


@finds(
    "rates.schedules",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "the learning rate stays at its end after 10",
    length=10,
)
def a_polynomial_is_over_in_the_middle() -> Log:
    return _scheduled("PolynomialLR", 10, 20, taken=20)


@finds(
    "rates.schedules",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "CosineAnnealingLR is made for 20 steps, as many as SGD took (20), and took 80",
    "the learning rate was at its end when 5 steps were taken",
    remedy="Step the schedule once per optimizer step, behind it.",
    length=20,
    scheduler_steps=80,
    optimizer_steps=20,
)
def a_schedule_for_steps_is_stepped_once_a_task() -> Log:
    return _scheduled("CosineAnnealingLR", 20, 80, taken=20)


@quiet("rates.schedules")
def a_schedule_of_a_few_steps_is_stepped_twice_as_often() -> Log:
    return _scheduled("CosineAnnealingLR", 4, 8, taken=4)


@finds(
    "rates.schedules",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "OneCycleLR is made for 124 steps, total_steps=num_steps + 100, SGD took 20, and the scheduler 4 steps",
    remedy="Step the schedule right behind the optimizer's step(), in the same loop.",
    length=124,
    scheduler_steps=4,
    optimizer_steps=20,
)
def a_schedule_that_says_steps_is_stepped_once_an_epoch() -> Log:
    return said_in_steps("total_steps=num_steps + 100")


@quiet("rates.schedules")
def a_schedule_that_says_nothing_of_steps_is_stepped_once_an_epoch_of_many() -> Log:
    return said_in_steps("")


@quiet("rates.schedules")
def a_schedule_that_says_steps_is_stepped_every_fourth_time() -> Log:
    return said_in_steps("total_steps=num_steps", steps=5)


@quiet("rates.schedules")
def a_schedule_that_says_steps_goes_through_all_of_them_once_an_epoch() -> Log:
    return said_in_steps("total_steps=num_steps", length=4)


def said_in_steps(text: str, steps: int = 4, length: int = 124) -> Log:
    made = ScheduleFacts("OneCycleLR", 0, length, steps, at(SCHEDULE), in_steps=text)
    return windows(*[1] * 20).log(schedules=(made,))


@finds(
    "rates.schedules",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "CyclicLR is made for 20 steps, SGD took 20, and the scheduler 4 steps",
)
def a_cycle_of_steps_is_stepped_once_an_epoch() -> Log:
    return _scheduled("CyclicLR", 20, 4, taken=20)


@quiet("rates.schedules")
def a_cycle_runs_again_and_again() -> Log:
    return _scheduled("CyclicLR", 5, 20, taken=20)


@quiet("rates.schedules")
def a_cycle_of_all_steps_runs_four_times() -> Log:
    return _scheduled("CyclicLR", 20, 80, taken=20)


def holding(length: int, steps: int, taken: int = 20, **fields: Any) -> Log:
    """A function that holds a number, asked so often; each pass over the data brings five steps."""
    tape = Tape("w b")
    for number in range(taken):
        if number % 5 == 0:
            tape.new_pass()
        tape.passes(1)
        tape.step()
        tape.clear()
    return tape.log(schedules=(ScheduleFacts("LambdaLR", 0, length, steps, at(SCHEDULE), named=False, **fields),))


@finds(
    "rates.held_steps",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "The function of this LambdaLR holds 20, the number of steps that SGD took, and was asked for 4 steps",
    remedy="Step the schedule right behind the optimizer's step(), in the same loop.",
    length=20,
    scheduler_steps=4,
    optimizer_steps=20,
)
def a_function_holds_the_number_of_steps_and_is_asked_once_an_epoch() -> Log:
    return holding(20, 4)


@quiet("rates.held_steps")
def a_function_holds_another_number_than_that_of_the_steps() -> Log:
    return holding(24, 4)


@quiet("rates.held_steps")
def a_function_that_holds_the_number_of_steps_is_asked_at_each() -> Log:
    return holding(20, 20)


@quiet("rates.held_steps")
def a_function_of_the_epoch_holds_as_many_as_there_were_steps() -> Log:
    return holding(20, 4, in_epochs="f(epoch)")


ANEW = ScheduleAnew("CyclicLR", 0, at(SCHEDULE), made=4, steps=20, length=20)


@finds(
    "rates.made_anew",
    "schedule-made-anew",
    "warning",
    SCHEDULE,
    "CyclicLR is made here for SGD, 4 times in a loop over epochs. Each is made for 20 steps, and they took 20",
    made=4,
    length=20,
    scheduler_steps=20,
)
def a_schedule_is_made_anew_in_each_epoch() -> Log:
    return windows(*[1] * 20).log(schedules_anew=(ANEW,))


@quiet("rates.made_anew")
def a_schedule_is_made_anew_in_a_run_of_a_few_steps() -> Log:
    return windows(1, 1, 1).log(schedules_anew=(ANEW,))


@finds(
    "rates.after_the_last",
    "schedule-never-stepped",
    "warning",
    SCHEDULE,
    "StepLR is stepped here, in no loop, when SGD has taken its last of 8 steps: it changed the learning rate of none",
    remedy="Step the schedule in the loop that it counts: behind the steps of each epoch, or behind each step.",
    optimizer_steps=8,
)
def a_schedule_is_stepped_behind_all_loops() -> Log:
    return behind_the_last()


@quiet("rates.after_the_last")
def a_schedule_is_stepped_behind_all_loops_of_a_short_run() -> Log:
    return behind_the_last(steps=7)


@quiet("rates.after_the_last")
def a_schedule_is_stepped_in_a_loop_when_the_last_step_is_taken() -> Log:
    return behind_the_last(outside=False)


@quiet("rates.after_the_last")
def a_schedule_is_stepped_behind_all_loops_and_the_run_was_stopped() -> Log:
    return behind_the_last(told={"finished": False})


@quiet("rates.after_the_last")
def a_schedule_is_stepped_behind_all_loops_and_the_run_failed() -> Log:
    return behind_the_last(told={"error": "ValueError: x"})


@quiet("rates.after_the_last")
def a_schedule_is_stepped_in_no_loop_and_steps_follow() -> Log:
    tape = windows(*[1] * 4)
    tape.schedule(outside=True)
    for _ in range(4):
        tape.passes(1)
        tape.step()
        tape.clear()
    tape.schedule(outside=True)
    return tape.log()


@quiet("rates.after_the_last")
def another_schedule_of_that_optimizer_is_stepped_in_the_loop() -> Log:
    tape = windows(*[1] * 4)
    tape.schedule(OTHER, which=2)
    for _ in range(4):
        tape.passes(1)
        tape.step()
        tape.clear()
    tape.schedule(outside=True)
    return tape.log()


def behind_the_last(steps: int = 8, outside: bool = True, told: dict[str, Any] | None = None) -> Log:
    tape = windows(*[1] * steps)
    tape.schedule(outside=outside)
    return tape.log(**(told or {}))


@finds(
    "rates.counted_anew",
    "counter-begins-anew",
    "warning",
    OTHER,
    "i counts the steps of one epoch, and is handed over here as global_step",
    remedy="Count all steps: epoch * len(loader) + i.",
)
def the_steps_of_one_epoch_are_handed_over_as_all() -> Log:
    return windows(*[1] * 12).log(counter_anew=CounterAnew(at(OTHER), "i", "global_step"))


@finds(
    "rates.counted_anew",
    "schedule-on-another-clock",
    "warning",
    OTHER,
    "epoch is the number of the epoch, and is handed over here as global_step",
    remedy="Hand over the number of all steps.",
)
def the_number_of_the_epoch_is_handed_over_as_that_of_all_steps() -> Log:
    return windows(*[1] * 12).log(counter_anew=CounterAnew(at(OTHER), "epoch", "global_step", still=True))


@finds(
    "rates.counted_anew",
    "counter-begins-anew",
    "warning",
    OTHER,
    "global_step counts all steps by its name, and is set to 0 here in each epoch: what goes by it begins anew",
    remedy="Set global_step to 0 once, before the loop over epochs.",
)
def a_counter_of_all_steps_begins_anew() -> Log:
    return counting(counter_anew=CounterAnew(at(OTHER), "global_step"))


@finds(
    "rates.counted_anew",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "is made for the number of an epoch, by the name of its argument, and is given step",
    remedy="Give it the number of the epoch.",
)
def what_sets_the_rate_by_epochs_is_given_a_step() -> Log:
    return counting(given_for_epochs=CounterAnew(at(SCHEDULE), "step"))


@quiet("rates.counted_anew")
def a_counter_begins_anew_in_a_short_run() -> Log:
    return counting(7, counter_anew=CounterAnew(at(OTHER), "global_step"))


@quiet("rates.counted_anew")
def what_sets_the_rate_by_epochs_is_given_a_step_in_a_short_run() -> Log:
    return counting(7, given_for_epochs=CounterAnew(at(SCHEDULE), "step"))


def counting(steps: int = 8, **fields: Any) -> Log:
    return windows(*[1] * steps).log(**fields)


BY_PASSES = RateByPasses(at(SCHEDULE), "set_rate", "iteration", "iteration // 4")


@finds(
    "rates.by_passes",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "set_rate() sets the learning rate by iteration here, which counts micro-batches: a step takes 4 of them",
    remedy="Give it iteration // 4.",
    passes=4,
)
def a_rate_is_set_by_the_number_of_micro_batches() -> Log:
    return windows(4, 4, 4).log(rate_by_passes=BY_PASSES)


@quiet("rates.by_passes")
def a_rate_is_set_by_a_number_of_windows_of_one() -> Log:
    return windows(1, 1, 1).log(rate_by_passes=BY_PASSES)


@finds(
    "order.with_the_shown",
    "done-only-when-shown",
    "warning",
    OTHER,
    "This update of an average stands under 'i % print_freq == 0', beside what is shown or saved there",
)
def an_average_follows_where_something_is_shown() -> Log:
    return windows(1, 1).log(shown_with=ShownWith(at(OTHER), "i % print_freq == 0", "average"))


@finds("order.with_the_shown", "done-only-when-shown", "warning", SCHEDULE, "This step of a schedule stands under")
def a_schedule_moves_where_something_is_shown() -> Log:
    return windows(1, 1).log(shown_with=ShownWith(at(SCHEDULE), "i % print_freq == 0", "schedule"))


@finds("order.with_the_shown", "done-only-when-shown", "warning", STEP, "This step stands under")
def a_step_is_taken_where_something_is_shown() -> Log:
    return windows(1, 1).log(shown_with=ShownWith(at(STEP), "i % print_freq == 0", "optimizer"))


@quiet("order.with_the_shown")
def what_follows_where_something_is_shown_does_not_train() -> Log:
    return windows(1).log(shown_with=ShownWith(at(OTHER), "i % print_freq == 0", "average"))


LAST = LastAlone(at(OTHER), "param", at(12))


@finds(
    "order.last_alone",
    "last-parameter-alone",
    "warning",
    OTHER,
    "This stands behind the loop over parameters (train.py:12) and changes param, which is the last of them there",
)
def the_last_parameter_is_changed_behind_a_loop() -> Log:
    return windows(1, 1).log(last_alone=LAST)


@quiet("order.last_alone")
def the_last_parameter_is_changed_and_nothing_steps() -> Log:
    return Tape("w b").log(last_alone=LAST)


APART = SumApart(at(OTHER), "kl", ("main", "smooth"), "len(parts)")


@finds(
    "division.sums_apart",
    "auxiliary-loss-not-divided",
    "warning",
    OTHER,
    "main and smooth are divided by len(parts) behind it, and kl is not",
    remedy="Divide kl by len(parts) as well.",
)
def one_of_three_sums_is_not_divided() -> Log:
    return windows(1, 1).log(sum_apart=APART)


@quiet("division.sums_apart")
def one_of_three_sums_is_not_divided_and_nothing_steps() -> Log:
    return Tape("w b").log(sum_apart=APART)


HALVED = SumApart(at(OTHER), "loss_real", ("loss_fake",), "2")


@finds(
    "division.halved_alone",
    "one-of-two-halved",
    "warning",
    OTHER,
    "This adds loss_real as a whole and a half of loss_fake: one counts twice as much as the other",
    remedy="Halve the sum: (loss_real + loss_fake) / 2.",
)
def one_of_two_losses_is_halved() -> Log:
    return windows(1, 1).log(halved_alone=HALVED)


@quiet("division.halved_alone")
def one_of_two_losses_is_halved_and_nothing_steps() -> Log:
    return Tape("w b").log(halved_alone=HALVED)


@finds(
    "division.sums_beside_means",
    "sum-beside-means",
    "warning",
    OTHER,
    "The loss adds a sum over 16 rows to a mean over rows, and nothing divides the sum alone",
    passes=3,
    rows=16,
)
def a_sum_of_squares_stands_beside_a_mean_of_squares() -> Log:
    return summing(SummedRows(16, True, where=at(OTHER)))


@finds(
    "division.sums_beside_means",
    "sum-beside-means",
    "info",
    OTHER,
    "its weight beside the mean grows with the size of the batch",
    rows=16,
)
def a_sum_stands_beside_a_mean_of_something_else() -> Log:
    return summing(SummedRows(16, False, where=at(OTHER)))


@finds("division.sums_beside_means", "sum-beside-means", "warning", None, "a sum over 16 rows", rows=16)
def a_sum_stands_beside_a_mean_at_no_known_line_and_the_last_batch_is_short() -> Log:
    return summing(SummedRows(16, False), SummedRows(12, True))


@finds(
    "division.sums_beside_means",
    "divided-twice",
    "warning",
    OTHER,
    "A mean over the rows of a batch is divided by 16, the number of these rows, once more, beside a mean that is not",
    "it counts 16 times too little",
    remedy="Leave the second division out.",
    rows=16,
)
def a_mean_is_divided_by_its_rows_once_more_and_the_last_batch_is_short() -> Log:
    return summing(SummedRows(16, True, again=True, where=at(OTHER)), SummedRows(12, True, again=True, where=at(OTHER)))


PER_ENTRY = "Take the mean over all entries in both, or the sum over those of a row in both."


@finds(
    "division.sums_beside_means",
    "sum-beside-means",
    "warning",
    OTHER,
    "The loss adds a sum over the 768 entries of each row to a mean over as many: before any weight",
    remedy=PER_ENTRY,
    passes=3,
    entries=768,
)
def a_loss_of_pixels_is_summed_over_them_beside_one_of_its_kind() -> Log:
    return summing(SummedRows(16, True, entries=768, where=at(OTHER)))


@finds(
    "division.sums_beside_means",
    "sum-beside-means",
    "info",
    OTHER,
    "The loss adds a sum over the 1024 entries of each row to what is no such sum: before any weight it counts 1024",
    "times as much as its mean would.",
    remedy=PER_ENTRY,
)
def a_loss_of_pixels_is_summed_over_them_beside_what_is_no_mean_of_them() -> Log:
    return summing(SummedRows(16, False, entries=1024, where=at(OTHER), alone=True))


@finds("division.sums_beside_means", "sum-beside-means", "info", OTHER, "the 768 entries", remedy=PER_ENTRY)
def a_loss_of_pixels_is_summed_over_them_beside_another() -> Log:
    return summing(SummedRows(16, False, entries=768, where=at(OTHER)))


@finds(
    "division.unread_weights",
    "loss-weight-not-read",
    "warning",
    OTHER,
    "This adds adv_loss as it is. adv_weight (train.py:1) is there to weigh it, by its name, and nothing reads that.",
    remedy="Write adv_weight * adv_loss; or take adv_weight out, if the loss is to count as a whole.",
    declared_at=at(MADE),
)
def a_loss_is_added_without_its_weight() -> Log:
    return windows(1, 1).log(unread_weight=UnreadWeight(at(OTHER), "adv_weight", at(MADE), "adv_loss"))


@finds(
    "division.over_classes",
    "divergence-averaged",
    "info",
    OTHER,
    "A summand of the loss is a mean over 10 classes of products with their log-probabilities, in 2 passes looked at",
    passes=2,
    classes=10,
)
def a_divergence_is_averaged_over_the_classes() -> Log:
    return windows(1, 1, passes={"classes": 10, "classes_at": at(OTHER)}).log()


@quiet("division.over_classes")
def a_divergence_is_summed_over_the_classes() -> Log:
    return windows(1, 1).log()


@quiet("division.unread_weights")
def a_loss_is_added_without_its_weight_and_nothing_steps() -> Log:
    return Tape("w b").log(unread_weight=UnreadWeight(at(OTHER), "adv_weight", at(MADE), "adv_loss"))


@finds(
    "ownership.repeated",
    "module-repeated",
    "info",
    LAYER,
    "A module is made once, and stands in several places of this list",
)
def a_list_holds_one_module_several_times() -> Log:
    return windows(1, 1).log(repeated_modules=(at(LAYER),))


@quiet("ownership.repeated")
def a_list_of_one_module_is_trained_by_nobody() -> Log:
    return Tape("w b").log(repeated_modules=(at(LAYER),))


@quiet("division.sums_beside_means")
def all_summands_are_means() -> Log:
    return summing(None)


def summing(usual: SummedRows | None, last: SummedRows | None = None) -> Log:
    """Three passes of a loss whose summands are reduced so."""
    tape = Tape("w b")
    for one in (usual, usual, last or usual):
        tape.passes(1, summed=one)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "graphs.drawn",
    "sampled-without-graph",
    "warning",
    OTHER,
    "This sample() gives a name a value without a graph, and train.py:12 gives the same name one by rsample()",
)
def a_state_is_drawn_without_a_graph_beside_one_with_it() -> Log:
    return windows(1, 1).log(drawn_beside=(at(OTHER), at(12)))


@quiet("graphs.drawn")
def a_state_is_drawn_without_a_graph_and_nothing_steps() -> Log:
    return Tape("w b").log(drawn_beside=(at(OTHER), at(12)))


@quiet("rates.schedules")
def a_schedule_is_stepped_as_often_as_it_is_long() -> Log:
    return _scheduled("OneCycleLR", 20, 20, taken=20)


@quiet("rates.schedules")
def a_schedule_for_epochs_is_stepped_once_an_epoch() -> Log:
    return _scheduled("CosineAnnealingLR", 4, 4, taken=20)


@quiet("rates.schedules")
def a_schedule_for_more_epochs_than_were_run() -> Log:
    return _scheduled("CosineAnnealingLR", 100, 4, taken=20)


@quiet("rates.schedules")
def a_schedule_goes_up_and_down_once_an_epoch() -> Log:
    return _scheduled("CosineAnnealingLR", 2, 4, taken=20)


@quiet("rates.schedules")
def a_schedule_is_half_over_when_the_run_ends() -> Log:
    return _scheduled("OneCycleLR", 40, 20, taken=20)


def _by_batch(rates: list[float], epoch: int = 6, loop: int = LOADER, **told: Any) -> Log:
    """Steps at these rates, and one of the schedule after each; a pass over the data holds so many of them."""
    tape = Tape("w b")
    for number, rate in enumerate(rates):
        if epoch and number % epoch == 0:
            tape.new_pass()
        tape.passes(1)
        tape.step(rate=rate)
        tape.schedule(**({"loop": at(loop)} | told))
        tape.clear()
    return tape.log()


@finds(
    "rates.used_up",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "StepLR is told its time in epochs, step_size=epochs // 2",
    "6 steps in one pass over the data",
    remedy="Step it once an epoch, after the loop over the batches, or give it that many steps instead.",
    scheduler_steps=18,
    optimizer_steps=18,
)
def a_schedule_told_in_epochs_is_stepped_with_each_batch() -> Log:
    return _by_batch([0.1] * 18, in_epochs="step_size=epochs // 2")


def _once_an_epoch(epochs: int, batches: int, passes: bool = True, **told: Any) -> Log:
    """A schedule that is stepped behind each epoch of so many steps."""
    tape = Tape("w b")
    for _ in range(epochs):
        if passes:
            tape.new_pass()
        for _ in range(batches):
            tape.passes(1)
            tape.step(rate=0.1)
            tape.clear()
        tape.schedule(**told)
    return tape.log()


@finds(
    "rates.used_up",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "factor(step), counts steps by its text, and was asked for 4 steps while SGD took 12",
    remedy="Step the schedule right behind the optimizer's step(), in the same loop.",
    scheduler_steps=4,
    optimizer_steps=12,
)
def a_schedule_that_counts_steps_is_stepped_once_an_epoch() -> Log:
    return _once_an_epoch(4, 3, in_steps="factor(step)")


@finds(
    "rates.used_up",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "4 steps while SGD took 40",
    remedy="Step the schedule right behind the optimizer's step(), in the same loop.",
)
def a_schedule_that_counts_steps_is_stepped_seldom_where_no_loader_runs() -> Log:
    return _once_an_epoch(4, 10, passes=False, in_steps="factor(step)")


@quiet("rates.used_up")
def a_schedule_that_counts_steps_is_stepped_with_every_fifth_and_no_loader_runs() -> Log:
    return _once_an_epoch(8, 5, passes=False, in_steps="factor(step)")


def _own_clock(length: int) -> Log:
    facts = ScheduleFacts("LambdaLR", 0, length, 4, at(SCHEDULE), named=False, in_steps="factor(step)")
    return replace(_once_an_epoch(4, 3, in_steps="factor(step)"), schedules=(facts,))


@quiet("rates.used_up")
def a_schedule_that_counts_steps_of_its_own_comes_to_its_end() -> Log:
    return _own_clock(4)


@finds(
    "rates.used_up",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "was asked for 4 steps while SGD took 12",
    remedy="Step the schedule right behind the optimizer's step(), in the same loop.",
)
def a_schedule_that_counts_steps_is_made_for_those_of_the_optimizer() -> Log:
    return _own_clock(12)


@quiet("rates.used_up")
def a_schedule_that_counts_steps_has_epochs_of_two() -> Log:
    return _once_an_epoch(4, 2, in_steps="factor(step)")


@quiet("rates.used_up")
def a_schedule_that_says_nothing_of_steps_is_stepped_once_an_epoch() -> Log:
    return _once_an_epoch(4, 6)


@quiet("rates.used_up")
def a_schedule_that_counts_steps_was_stepped_once() -> Log:
    return _once_an_epoch(1, 12, in_steps="factor(step)")


@finds(
    "rates.used_up",
    "schedule-on-another-clock",
    "warning",
    SCHEDULE,
    "2 of 5 steps were taken at a learning rate below zero, down to -0.05",
    remedy="Step the schedule by the clock that it is made for, and let it end at zero.",
    steps=[3, 4],
)
def a_schedule_goes_below_zero() -> Log:
    return _by_batch([0.1, 0.05, 0.0, -0.02, -0.05])


@finds(
    "rates.used_up", "schedule-on-another-clock", "warning", SCHEDULE, "the last 10 of 24 steps", "at 9.77e-06 or less"
)
def a_schedule_is_used_up_in_the_middle() -> Log:
    return _by_batch([0.1] * 14 + [9.77e-6] * 10)


def _one_rate_moves(*alone: bool, **fields: Any) -> Log:
    """A step each; in some of them the rate of the first group alone had left the others."""
    tape = Tape("w b")
    for one in alone:
        tape.passes(1)
        tape.step(rate=0.05, first_rate_alone=one)
        tape.clear()
    return tape.log(**fields)


def _never_scheduled(rates: Sequence[float], said: bool = False, epochs: int = 0, **fields: Any) -> Log:
    """Steps at these rates, so many passes over the data, and a scheduler that nothing steps."""
    tape = Tape("w b")
    for _ in range(epochs):
        tape.new_pass()
    for rate in rates:
        tape.passes(1)
        tape.step(rate=rate)
        tape.clear()
    return tape.log(unstepped_schedules=(UnsteppedSchedule("StepLR", 0, at(OTHER), said),), **fields)


@finds(
    "rates.never_scheduled",
    "schedule-never-stepped",
    "warning",
    OTHER,
    "Nothing called the step() of this StepLR",
    "8 steps were taken at one rate, 0.1, to the end",
    optimizer_steps=8,
)
def a_scheduler_that_no_text_steps() -> Log:
    return _never_scheduled([0.1] * 8)


def _doubled(often: tuple[int, ...] = (3, 3), other: Sequence[float] = (0.1,)) -> Log:
    """Steps of two optimizers, and two schedulers of the first one that step so often."""
    tape = Tape("w", "v")
    for number in range(8):
        tape.passes(1)
        tape.step(rate=0.1)
        tape.step(optimizer=1, rate=other[number % len(other)])
        tape.clear()
        for which, most in enumerate(often):
            if number < most:
                tape.schedule(which=which, rate=0.05)
    made = DoubledSchedule("StepLR", 0, 1, (at(MADE), at(OTHER)), (0, 1))
    return tape.log(doubled_schedules=(made,))


@finds(
    "rates.doubled",
    "schedules-for-one-optimizer",
    "warning",
    OTHER,
    "2 schedulers, each StepLR, were made for SGD #1",
    "has none: it took 8 steps at 0.1",
    scheduler_steps=3,
)
def two_schedulers_of_the_first_of_two_optimizers() -> Log:
    return _doubled()


@finds("rates.doubled", "schedules-for-one-optimizer", "warning", OTHER, "SGD #2 (train.py:1) has none")
def two_schedulers_of_one_optimizer_when_the_run_ends_between_them() -> Log:
    return _doubled(often=(3, 2))


@quiet("rates.doubled")
def two_schedulers_of_one_optimizer_by_two_clocks() -> Log:
    return _doubled(often=(8, 2))


@quiet("rates.doubled")
def two_schedulers_of_one_optimizer_of_which_one_is_never_stepped() -> Log:
    return _doubled(often=(1, 0))


@quiet("rates.doubled")
def two_schedulers_of_one_optimizer_while_the_rate_of_the_other_moves() -> Log:
    return _doubled(other=(0.1, 0.05))


def _set_twice(rates: Sequence[float] = (0.1, 0.05), other: Sequence[float] = (0.1,), lines: int = 1) -> Log:
    """Steps of two optimizers at rates that change, where the text writes one rate over another."""
    tape = Tape("w", "v")
    for number in range(8):
        tape.passes(1)
        tape.step(rate=rates[number % len(rates)])
        tape.step(optimizer=1, rate=other[number % len(other)])
        tape.clear()
    return tape.log(set_twice=(at(OTHER), at(LAYER))[:lines])


@finds(
    "rates.set_twice",
    "schedules-for-one-optimizer",
    "warning",
    OTHER,
    "the steps of SGD #1 (train.py:1) were taken at rates that changed",
    "SGD #2 (train.py:1): it took 8 steps at 0.1",
    remedy="Set each rate in the groups of the optimizer that it is meant for.",
)
def a_rate_is_written_over_another_ones() -> Log:
    return _set_twice()


@quiet("rates.set_twice")
def a_rate_is_written_twice_and_both_optimizers_get_one() -> Log:
    return _set_twice(other=(0.1, 0.05))


@quiet("rates.set_twice")
def a_rate_is_written_twice_to_the_same_value_each_time() -> Log:
    return _set_twice(rates=(0.1,))


@quiet("rates.set_twice")
def rates_are_written_twice_at_two_places() -> Log:
    return _set_twice(lines=2)


def set_back(count: int = 8, taken: Sequence[float] = (0.1,), **fields: Any) -> Log:
    """Steps at these rates in turn, each behind a schedule that had set another one."""
    tape = Tape("w b")
    for number in range(count + 1):
        tape.passes(1)
        tape.step(rate=taken[number % len(taken)])
        tape.clear()
        tape.schedule(rate=0.09)
    return tape.log(**fields)


@finds(
    "rates.overruled",
    "schedule-moves-nothing",
    "warning",
    OTHER,
    "StepLR set a rate 8 times, 0.09 at first",
    "was taken at 0.1 each time",
    remedy="Take out the line that sets the rate, or let the schedule begin with that rate.",
)
def a_rate_is_set_back_before_each_step() -> Log:
    return set_back(rate_set_at=at(OTHER))


@finds(
    "rates.overruled",
    "schedule-moves-nothing",
    "warning",
    SCHEDULE,
    remedy="Take out the line that sets the rate, or let the schedule begin with that rate.",
)
def a_rate_is_set_back_nobody_knows_where() -> Log:
    return set_back()


@quiet("rates.overruled")
def one_schedule_goes_on_from_what_another_set() -> Log:
    tape = Tape("w b")
    for _ in range(10):
        tape.passes(1)
        tape.step(rate=0.05)
        tape.clear()
        tape.schedule(rate=0.1, which=1)
        tape.schedule(rate=0.05, which=2)
    return tape.log()


@quiet("rates.overruled")
def a_rate_was_set_back_in_a_short_run() -> Log:
    return set_back(7)


@quiet("rates.overruled")
def a_rate_of_its_own_before_each_step() -> Log:
    return set_back(taken=(0.1, 0.2))


@quiet("rates.overruled")
def a_rate_is_that_of_the_schedule() -> Log:
    return set_back(taken=(0.09,))


def by_a_function(base: float | None, *rates: float, in_rates: str = "decay(step)") -> Log:
    tape = Tape("w b")
    for rate in rates:
        tape.passes(1)
        tape.step(rate=rate)
        tape.clear()
        tape.schedule(scheduler="LambdaLR", in_rates=in_rates, in_rates_at=at(OTHER), base=base)
    return tape.log()


@finds(
    "rates.rates_for_factors",
    "schedule-factor-is-a-rate",
    "warning",
    OTHER,
    "decay(step) gives a learning rate by its text",
    "the optimizer's own, 0.001: the highest rate of 8 steps was 1e-06",
    highest=1e-6,
    base=1e-3,
)
def a_function_gives_a_rate_in_the_place_of_a_factor() -> Log:
    return by_a_function(1e-3, *[5e-7] * 7, 1e-6)


@quiet("rates.rates_for_factors")
def a_function_gives_a_rate_that_is_multiplied_with_1() -> Log:
    return by_a_function(1.0, *[1e-3] * 8)


@quiet("rates.rates_for_factors")
def a_function_gives_a_factor() -> Log:
    return by_a_function(1e-3, *[1e-6] * 8, in_rates="")


@quiet("rates.rates_for_factors")
def a_function_that_names_a_rate_gives_what_is_none() -> Log:
    return by_a_function(1e-3, *[5e-4] * 8)


@quiet("rates.rates_for_factors")
def a_function_gives_a_rate_in_a_short_run() -> Log:
    return by_a_function(1e-3, *[1e-6] * 7)


def with_an_unused_function_for_the_rate(rates: Sequence[float], **fields: Any) -> Log:
    tape = Tape("w b")
    for rate in rates:
        tape.passes(1)
        tape.step(rate=rate)
        tape.clear()
    return tape.log(**({"uncalled_schedule": Uncalled("adjust_rate", at(OTHER)), "loop_at": at(LOADER)} | fields))


@finds(
    "rates.unscheduled",
    "schedule-never-stepped",
    "warning",
    LOADER,
    "Nothing calls adjust_rate() (train.py:",
    "8 steps were taken at one rate, 0.1",
    remedy="Call adjust_rate() where the loop begins a new epoch or a new step, as its text counts.",
    optimizer_steps=8,
)
def a_function_for_the_rate_that_nothing_calls() -> Log:
    return with_an_unused_function_for_the_rate([0.1] * 8)


@quiet("rates.unscheduled")
def a_rate_that_something_else_moved() -> Log:
    return with_an_unused_function_for_the_rate([0.1] * 8 + [0.01])


@quiet("rates.unscheduled")
def a_function_for_the_rate_that_a_short_run_did_not_come_by() -> Log:
    return with_an_unused_function_for_the_rate([0.1] * 7)


@quiet("rates.unscheduled")
def a_function_for_the_rate_in_a_run_that_was_ended() -> Log:
    return with_an_unused_function_for_the_rate([0.1] * 8, error="KeyboardInterrupt")


@finds("rates.never_scheduled", "schedule-never-stepped", "warning", OTHER, "in 3 passes over the data")
def a_scheduler_that_three_epochs_did_not_come_by() -> Log:
    return _never_scheduled([0.1] * 9, said=True, epochs=3)


@quiet("rates.never_scheduled")
def a_scheduler_that_two_epochs_did_not_come_by() -> Log:
    return _never_scheduled([0.1] * 9, said=True, epochs=2)


@quiet("rates.never_scheduled")
def a_scheduler_that_no_text_steps_in_a_short_run() -> Log:
    return _never_scheduled([0.1] * 7)


@quiet("rates.never_scheduled")
def a_scheduler_that_is_not_stepped_while_the_rate_moves() -> Log:
    return _never_scheduled([0.1] * 7 + [0.05])


@quiet("rates.never_scheduled")
def a_scheduler_of_a_run_that_was_stopped() -> Log:
    return _never_scheduled([0.1] * 8, finished=False)


@quiet("rates.never_scheduled")
def a_scheduler_of_a_run_that_failed() -> Log:
    return _never_scheduled([0.1] * 8, error="ValueError: x")


@finds(
    "rates.first_groups",
    "schedule-first-group",
    "warning",
    OTHER,
    "by step 4 the first one was at 0.05",
    steps=[2, 3],
)
def the_rate_of_the_first_group_alone() -> Log:
    return _one_rate_moves(False, False, True, True, first_rate_at=at(OTHER))


@quiet("rates.first_groups")
def the_rate_of_the_first_group_by_no_line_that_is_known() -> Log:
    return _one_rate_moves(False, True, True)


@quiet("rates.first_groups")
def the_rate_of_the_first_group_at_one_step() -> Log:
    return _one_rate_moves(False, False, True, first_rate_at=at(OTHER))


def _resting(rates: Sequence[float], **fields: Any) -> Log:
    """Two optimizers; the second one steps at these rates."""
    tape = Tape("w", "b")
    for rate in rates:
        tape.passes(1)
        tape.step(rate=0.1)
        tape.step(optimizer=1, rate=rate, at_rest=rate == 0)
        tape.clear()
        if fields:
            tape.schedule(**fields)
    return tape.log()


@finds(
    "rates.at_rest",
    "stepped-at-rate-zero",
    "warning",
    SCHEDULE,
    "SGD #2",
    "each at a learning rate of 0",
    "this line stepped that of SGD #1",
)
def the_schedule_of_another_optimizer_is_stepped() -> Log:
    return _resting([0.0] * 5, optimizer=0, rate=0.1)


@finds("rates.at_rest", "stepped-at-rate-zero", "warning", SCHEDULE, "Its schedule, StepLR, is at 0")
def a_schedule_that_stays_at_zero() -> Log:
    return _resting([0.0] * 5, optimizer=1, rate=0.0)


@finds("rates.at_rest", "stepped-at-rate-zero", "warning", STEP, "they moved nothing.")
def a_rate_of_zero_and_no_schedule() -> Log:
    return _resting([0.0] * 4)


@quiet("rates.at_rest")
def a_warm_up_that_begins_at_zero() -> Log:
    return _resting([0.0, 0.0, 0.0, 0.01, 0.02], optimizer=1, rate=0.0)


@quiet("rates.at_rest")
def three_steps_at_a_rate_of_zero() -> Log:
    return _resting([0.0] * 3)


def _idle_schedule(rates: Sequence[float | None], moved: tuple[float, ...] = (0.1, 0.05, 0.025), **fields: Any) -> Log:
    """A schedule of the second optimizer that holds the parameters, while the first one steps them at these rates."""
    tape = Tape("w b", "w b")
    for number, rate in enumerate(rates):
        tape.passes(1)
        tape.step(rate=rate)
        tape.clear()
        if number < len(moved):
            tape.schedule(optimizer=1, rate=moved[number], **fields)
    return tape.log()


@finds(
    "rates.idle_schedules",
    "schedule-moves-nothing",
    "warning",
    OTHER,
    "StepLR moves the learning rate of SGD #2",
    "stepped by SGD #1",
    "at 0.1 in all of 5 steps",
    scheduler_steps=3,
    optimizer_steps=5,
)
def a_schedule_of_an_optimizer_that_takes_no_step() -> Log:
    return _idle_schedule([0.1] * 6, made_at=at(OTHER))


@finds("rates.idle_schedules", "schedule-moves-nothing", "warning", SCHEDULE, "which took no step")
def a_schedule_of_an_idle_optimizer_that_nobody_knows_where_it_was_made() -> Log:
    return _idle_schedule([0.1] * 6)


@quiet("rates.idle_schedules")
def a_schedule_of_an_inner_optimizer_that_shares_its_groups_with_the_outer_one() -> Log:
    return _idle_schedule([0.1, 0.1, 0.05, 0.025, 0.025])


@quiet("rates.idle_schedules")
def a_schedule_of_an_idle_optimizer_that_has_not_moved() -> Log:
    return _idle_schedule([0.1] * 6, moved=(0.1, 0.1))


@quiet("rates.idle_schedules")
def a_schedule_of_an_idle_optimizer_that_begins_at_the_end() -> Log:
    return _idle_schedule([0.1] * 2)


@quiet("rates.idle_schedules")
def a_schedule_beside_steps_at_no_known_rate() -> Log:
    return _idle_schedule([None] * 6)


@quiet("rates.idle_schedules")
def a_schedule_of_the_optimizer_that_steps() -> Log:
    return _by_batch([0.1, 0.05, 0.025, 0.0125], rate=0.1)


@quiet("rates.used_up")
def a_schedule_told_in_epochs_is_stepped_outside_of_the_loop_over_batches() -> Log:
    return _by_batch([0.1] * 18, loop=OTHER, in_epochs="step_size=epochs // 2")


@quiet("rates.used_up")
def a_schedule_told_in_epochs_has_epochs_of_few_batches() -> Log:
    return _by_batch([0.1] * 18, epoch=2, in_epochs="step_size=epochs // 2")


@quiet("rates.used_up")
def a_schedule_is_not_told_in_epochs() -> Log:
    return _by_batch([0.1] * 18)


@quiet("rates.used_up")
def one_step_is_below_zero() -> Log:
    return _by_batch([0.1, 0.05, 0.0, -0.05])


@quiet("rates.used_up")
def a_schedule_decays_by_its_own_formula() -> Log:
    return _by_batch([0.1 * 0.5**n for n in range(40)], scheduler="ExponentialLR")


@quiet("rates.used_up")
def a_schedule_is_low_for_the_last_steps_alone() -> Log:
    return _by_batch([0.1] * 30 + [1e-6] * 9)


@quiet("rates.used_up")
def a_schedule_is_low_for_a_small_part_of_the_run() -> Log:
    return _by_batch([0.1] * 40 + [1e-6] * 12)


@quiet("rates.used_up")
def a_schedule_is_used_up_by_passes_that_hold_one_step_each() -> Log:
    return _by_batch([0.1] * 20 + [1e-6] * 20, epoch=1)


@quiet("rates.used_up")
def a_schedule_is_used_up_and_nobody_knows_of_epochs() -> Log:
    return _by_batch([0.1] * 20 + [1e-6] * 20, epoch=0)


@quiet("rates.used_up")
def rates_rise_from_almost_nothing() -> Log:
    return _by_batch([1e-6] * 20 + [0.1] * 20)


@quiet("rates.used_up")
def a_schedule_is_stepped_once_in_a_while() -> Log:
    tape = windows(*[1] * 20, rate=-0.1)
    tape.schedule()
    return tape.log()


@quiet("rates.used_up")
def a_schedule_is_told_where_training_stands() -> Log:
    return _by_batch([0.1] * 18, told=True, in_epochs="step_size=epochs // 2")


@finds(
    "following.own_averages",
    "average-shares-memory",
    "error",
    MADE,
    "averaged at train.py:15 lies in the memory of w and b",
    names=["w", "b"],
    updated_at=at(UPDATE),
)
def an_average_is_kept_without_a_copy() -> Log:
    return windows(1, 1).log(own_averages=(OwnAverage(("w", "b"), at(UPDATE), at(MADE)),))


@finds("following.own_averages", "average-shares-memory", "error", UPDATE, "the memory of w, and is no copy of it")
def an_average_is_the_weights_and_the_text_does_not_show_since_where() -> Log:
    return windows(1, 1).log(own_averages=(OwnAverage(("w",), at(UPDATE)),))


@finds(
    "following.newest_averages",
    "average-factors-swapped",
    "warning",
    UPDATE,
    "takes 0.99 of the newest weights and leaves 0.01",
    share=0.99,
    updates=6,
    names=["w", "b"],
)
def an_average_takes_nearly_all_of_the_newest_weights() -> Log:
    return with_average(share=0.99)


@quiet("following.newest_averages")
def an_average_takes_a_little_of_the_newest_weights() -> Log:
    return with_average(share=0.01)


@quiet("following.newest_averages")
def an_average_takes_half_of_the_newest_weights() -> Log:
    return with_average(share=0.5)


@quiet("following.newest_averages")
def an_average_takes_all_of_the_newest_weights() -> Log:
    return with_average(share=1.0)


@quiet("following.newest_averages")
def an_average_takes_now_more_and_now_less_of_the_newest_weights() -> Log:
    return with_average()


@finds(
    "following.newest_averages",
    "average-factors-swapped",
    "warning",
    UPDATE,
    "took in 0.182 of the newest weights at the first update",
    "more and more of them, 0.818 at the last",
    shares=[0.182, 0.818],
    names=["w", "b"],
)
def an_average_takes_more_and_more_of_the_newest_weights() -> Log:
    return with_average(grown=(0.182, 0.818))


@quiet("following.newest_averages")
def an_average_takes_a_computed_share_of_the_newest_weights() -> Log:
    return with_average(share=0.9932620530009145)


@finds(
    "following.newest_averages",
    "average-factors-off",
    "warning",
    UPDATE,
    "takes 0.99 of what was averaged before and 0.1 of the newest weights, 1.09 together: it grows",
    share=0.1,
    total=1.09,
    names=["w", "b"],
)
def the_factors_of_an_average_are_more_than_one_together() -> Log:
    return with_average(share=0.1, total=1.09)


@finds(
    "following.first_averages",
    "average-begins-elsewhere",
    "warning",
    UPDATE,
    "At its first update the running average was 140% of the length of w and b away from these",
    "each update takes in 0.01: it began as something else than the weights",
    names=["w", "b"],
    distance=1.4,
)
def an_average_that_changes_slowly_begins_far_from_the_weights() -> Log:
    return followed_slowly(share=0.01, begun_off=1.4)


@finds("following.first_averages", "average-begins-elsewhere", "warning", UPDATE, "60%", "each update takes in little")
def an_average_of_changing_small_shares_begins_far_from_the_weights() -> Log:
    return followed_slowly(begun_off=0.6)


@quiet("following.first_averages")
def an_average_that_changes_slowly_begins_near_the_weights() -> Log:
    return followed_slowly(share=0.01, begun_off=0.5)


@quiet("following.first_averages")
def it_is_not_known_where_an_average_began() -> Log:
    return followed_slowly(share=0.01)


@quiet("following.first_averages")
def an_average_begins_far_from_the_weights_in_a_short_run() -> Log:
    return followed_slowly(7, share=0.01, begun_off=1.4)


@finds(
    "following.rounded_averages",
    "average-rounded-away",
    "warning",
    UPDATE,
    "The running average of w and b is bfloat16, and each update takes in 0.001 of the weights",
    "updates left 75% as they were",
    names=["w", "b"],
    dtype="bfloat16",
    share=0.001,
    entries=64,
    still=48,
)
def an_average_of_half_precision_rounds_away_what_it_takes_in() -> Log:
    return with_average(share=0.001, dtype="bfloat16", entries=64, still=48)


@finds(
    "following.rounded_averages",
    "average-rounded-away",
    "warning",
    UPDATE,
    "The running average of w and b is computed in bfloat16, and each update takes in 0.001 of the weights",
    dtype="bfloat16",
)
def an_average_that_is_computed_in_half_precision() -> Log:
    return with_average(share=0.001, computed_in="bfloat16", entries=64, still=48)


@finds(
    "following.rounded_averages",
    "average-rounded-away",
    "info",
    UPDATE,
    "The running average of w and b is float16, and the weights are not. Each update takes in less of them than the",
    "0.25 at the last one that was looked at: from 0.02 down",
    dtype="float16",
)
def an_average_of_half_precision_takes_in_less_and_less() -> Log:
    return with_average(dtype="float16", falling_to=0.25)


@finds(
    "following.rounded_averages", "average-rounded-away", "info", UPDATE, "updates left 50% as they were", share=0.04
)
def an_average_of_half_precision_rounds_away_a_good_part() -> Log:
    return with_average(share=0.04, dtype="bfloat16", entries=64, still=32)


@finds("following.rounded_averages", "average-rounded-away", "warning", MADE, "updates left 75% as they were")
def an_average_is_made_in_half_precision_by_the_text() -> Log:
    log = with_average(share=0.001, dtype="bfloat16", entries=64, still=48)
    return replace(log, averages_cast_at=(at(MADE), at(LAYER)))


@finds("following.rounded_averages", "average-rounded-away", "info", UPDATE, "updates left 73% as they were")
def an_average_of_half_precision_moves_one_entry_in_four() -> Log:
    return with_average(share=0.001, dtype="bfloat16", entries=64, still=47)


@quiet("following.rounded_averages")
def an_average_of_half_precision_takes_in_more() -> Log:
    return with_average(share=0.06, dtype="bfloat16", entries=64, still=48)


@quiet("following.rounded_averages")
def an_average_of_half_precision_moves_now_and_then() -> Log:
    return with_average(share=0.001, dtype="bfloat16", entries=64, still=15)


@quiet("following.rounded_averages")
def few_entries_of_an_average_of_half_precision_were_seen() -> Log:
    return with_average(share=0.001, dtype="bfloat16", entries=31, still=31)


@quiet("following.rounded_averages")
def an_average_of_half_precision_takes_in_another_share_each_time() -> Log:
    return with_average(dtype="bfloat16", entries=64, still=64)


@finds(
    "following.first_averages",
    "average-once-an-epoch",
    "warning",
    OTHER,
    "updated here, in the loop over epochs and behind the steps of one, and takes in 0.01 of the weights each time",
    "8 steps were taken, and few of them reach it",
    names=["w", "b"],
    share=0.01,
)
def an_average_is_updated_behind_the_steps_of_each_epoch() -> Log:
    return followed_slowly(share=0.01, once_at=at(OTHER))


@quiet("following.first_averages")
def an_average_is_updated_behind_the_steps_of_each_epoch_in_a_short_run() -> Log:
    return followed_slowly(7, share=0.01, once_at=at(OTHER))


@quiet("following.first_averages")
def an_average_of_changing_shares_is_updated_once_an_epoch() -> Log:
    return followed_slowly(once_at=at(OTHER))


def followed_slowly(steps: int = 8, **fields: Any) -> Log:
    return windows(*[1] * steps).log(averages=(WeightAverage(("w", "b"), at(UPDATE), 6, **fields),))


@finds(
    "following.drawn_back",
    "weights-drawn-back",
    "warning",
    UPDATE,
    "leaves 0.01 of w, which an optimizer trains, and takes 0.99 of other weights, which stand still",
    names=["w"],
    share=0.01,
)
def trained_weights_are_drawn_to_what_stands_still() -> Log:
    tape = Tape("w")
    tape.passes(1)
    tape.step()
    return tape.log(drawn_back=(DrawnWeights(("w",), at(UPDATE), 0.01, 0.99),))


@finds(
    "following.drawn_back",
    "weights-drawn-back",
    "warning",
    STEP,
    "Again and again train.py:15, with what is handed over here, leaves 0.99 of w, which an optimizer trains",
    "and takes 0.01 of those of target, which stand still: what the steps have learned is undone, little by little",
    names=["w"],
    share=0.99,
)
def weights_and_target_are_handed_over_in_each_others_place() -> Log:
    tape = Tape("w")
    tape.passes(1)
    tape.step()
    return tape.log(drawn_back=(DrawnWeights(("w",), at(UPDATE), 0.99, 0.01, "target", at(STEP)),))


@quiet("following.drawn_back")
def nothing_is_drawn_anywhere() -> Log:
    tape = Tape("w")
    tape.passes(1)
    tape.step()
    return tape.log()


@finds(
    "following.kept_averages",
    "average-not-swapped-back",
    "warning",
    FORWARD,
    "training went on from it, 2 times",
    evaluations=2,
    updated_at=at(UPDATE),
)
def training_goes_on_from_an_average_that_was_evaluated() -> Log:
    return with_average(share=0.01, trained_on=2, evaluated_at=at(FORWARD))


@finds("following.kept_averages", "average-not-swapped-back", "warning", UPDATE, "training went on from it, 3 times")
def training_goes_on_from_an_average_and_the_evaluation_has_no_line() -> Log:
    return with_average(trained_on=3)


@quiet("following.kept_averages")
def training_goes_on_once_from_an_average() -> Log:
    return with_average(share=0.01, trained_on=1, evaluated_at=at(FORWARD))


@quiet("following.kept_averages")
def an_average_is_never_trained_on() -> Log:
    return with_average(share=0.01)


def with_average(**fields: Any) -> Log:
    return windows(1, 1).log(averages=(WeightAverage(("w", "b"), at(UPDATE), 6, **fields),))


@quiet("following.own_averages")
def an_average_is_a_copy() -> Log:
    return windows(1, 1).log()


def _low_rank(first: dict[str, Any], second: dict[str, Any], **fields: Any) -> Log:
    """A right loop with a product of two matrices, and what is known of them."""
    told = {"model": "Net", "called_at": at(FORWARD), **fields}
    second = {"shape": (6, 2), "factors": ("w",), **told, **second}
    return windows(1, 1).log({"w": {"shape": (2, 8), **told, **first}, "b": second})


@finds(
    "graphs.dead_products", "both-factors-zero", "warning", LAYER, "w and b hold nothing but zeros", names=["w", "b"]
)
def both_factors_are_zero() -> Log:
    return _low_rank({"dead": True, "zeroed_at": at(LAYER)}, {"dead": True})


@finds("graphs.dead_products", "both-factors-zero", "warning", FORWARD, "of 2 steps of SGD")
def both_factors_are_zero_and_the_text_does_not_show_since_where() -> Log:
    return _low_rank({"shape": (8, 2)}, {"shape": (2, 6)}, dead=True)


@quiet("graphs.dead_products")
def one_factor_is_zero() -> Log:
    return _low_rank({}, {"dead": True})


@quiet("graphs.dead_products")
def two_layers_of_zeros_cannot_be_multiplied() -> Log:
    return _low_rank({"shape": (3, 8)}, {"shape": (3, 8)}, dead=True)


@quiet("graphs.dead_products")
def two_layers_of_zeros_stand_side_by_side() -> Log:
    return _low_rank({"dead": True}, {"dead": True, "factors": ()})


@quiet("graphs.dead_products")
def two_layers_of_zeros_belong_to_two_models() -> Log:
    return _low_rank({"dead": True}, {"dead": True, "model": "Judge"})


@quiet("graphs.dead_products")
def two_biases_are_zero() -> Log:
    return _low_rank({"shape": (8,)}, {"shape": (8,)}, dead=True)


@finds("graphs.frozen_zeros", "frozen-at-zero", "warning", OTHER, "in no optimizer: h. They stay so", names=["h"])
def an_adapter_is_frozen_with_the_model() -> Log:
    return frozen_at_zero()


def frozen_at_zero(zeros: str = "h", frozen: bool = True, trained: str = "w") -> Log:
    """Zeros that are frozen, beside what is trained, and what was frozen with them or trains elsewhere."""
    facts = {zeros: {"frozen_zero": True, "requires_grad": False}, "f": {"requires_grad": not frozen}}
    return part(trained, trained, loose=f"{zeros} f").log(facts, frozen_at=at(OTHER))


@quiet("graphs.frozen_zeros")
def a_constant_of_zeros_is_frozen_alone() -> Log:
    return frozen_at_zero(frozen=False)


@quiet("graphs.frozen_zeros")
def a_target_network_is_a_copy_of_zeros() -> Log:
    return frozen_at_zero("target.2.weight", trained="value.2.weight")


@quiet("graphs.frozen_zeros")
def a_frozen_adapter_that_never_runs() -> Log:
    return part("w", "w", loose="h f").log({"h": {"frozen_zero": True, "ran": 0}, "f": {"requires_grad": False}})


@quiet("graphs.frozen_zeros")
def a_frozen_adapter_of_a_model_that_is_not_trained() -> Log:
    return part("w", "w", loose="h").log({"h": {"frozen_zero": True, "model": "Teacher"}})


@quiet("graphs.frozen_zeros")
def a_frozen_adapter_of_something_else_than_zeros() -> Log:
    return part("w", "w", loose="h").log({"h": {}})


LOW_RANK = (LowRank("w", ("a", "b")), LowRank("v", ("c", "d")))
"""Two adapters, and what they stand beside."""


@finds(
    "graphs.adapted_bases",
    "adapter-beside-trained-weight",
    "warning",
    MADE,
    "Two narrow matrices, a and b, whose product begins at zero, stand beside w, and so do others beside 1 more",
    names=["w", "v"],
)
def adapters_in_a_model_that_nobody_froze() -> Log:
    return part("w v a b c d", "w v a b c d").log(low_rank=LOW_RANK)


@finds("graphs.adapted_bases", "adapter-beside-trained-weight", "warning", LAYER, "stand beside w. Steps of SGD move")
def an_adapter_is_put_in_where_the_optimizer_is_made() -> Log:
    made = (OptimizerFacts(0, "SGD", 3, at(MADE), made_by=(at(MADE),)),)
    put = {"made_by": (Place(FILE, EDIT, "__init__"), at(LAYER))}
    return part("w a b", "w a b").log({"b": put}, optimizers=made, low_rank=LOW_RANK[:1])


@quiet("graphs.adapted_bases")
def what_an_adapter_stands_beside_is_not_stepped() -> Log:
    return part("w a b", "a b", loose="w").log({"w": {"training": False}}, low_rank=LOW_RANK[:1])


@quiet("graphs.adapted_bases")
def some_steps_move_what_an_adapter_stands_beside_and_not_the_adapter() -> Log:
    tape = part("w a b", "w a b")
    tape.passes(1, names="w")
    tape.step()
    tape.clear()
    return tape.log(low_rank=LOW_RANK[:1])


@quiet("graphs.adapted_bases")
def one_step_of_an_adapter() -> Log:
    tape = Tape("w a b")
    tape.passes(1)
    tape.step()
    return tape.log(low_rank=LOW_RANK[:1])


@finds("graphs.drawn", "sampled-without-graph", "warning", FORWARD, "Other terms of the loss train the distribution")
def a_code_is_drawn_without_a_graph() -> Log:
    return windows(1, 1).log(drawn_at=at(FORWARD))


@quiet("graphs.drawn")
def a_code_is_drawn_and_nothing_is_trained() -> Log:
    tape = Tape("w")
    tape.forward()
    return tape.log(drawn_at=at(FORWARD))


@finds(
    "graphs.all_pairs",
    "loss-over-all-pairs",
    "warning",
    BACKWARD,
    "A column of shape (32, 1) and a vector of shape (32,) meet in this loss. Broadcasting makes 32 by 32 of them",
    rows=32,
)
def a_column_meets_a_vector() -> Log:
    return windows(1, 1).log(crossed=(CrossedRows(at(BACKWARD), 32),))


@quiet("graphs.all_pairs")
def a_column_meets_a_vector_and_nothing_is_trained() -> Log:
    return without_steps(crossed=(CrossedRows(at(BACKWARD), 32),))


def without_steps(**fields: Any) -> Log:
    tape = Tape("w")
    tape.forward()
    return tape.log(**fields)


KEPT = (
    "Keep the tensors: torch.stack(losses).mean() has a graph, torch.tensor(losses).mean() has none, whatever "
    "requires_grad says."
)


def with_parts(*parts: str | None) -> Log:
    """Passes that are part of such sums."""
    tape = Tape("w b")
    for part in parts:
        tape.forward()
        tape.backward(part_of=part)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "graphs.parts",
    "rest-without-backward",
    "warning",
    BACKWARD,
    "a part of g_loss, in each of 2 passes looked at",
    remedy="Call backward() on g_loss, if all of it is to be trained.",
    total="g_loss",
)
def a_part_of_a_sum_goes_backward() -> Log:
    return with_parts("g_loss", "g_loss", None)


@quiet("graphs.parts")
def a_part_of_a_sum_goes_backward_once() -> Log:
    return with_parts("g_loss", None, None)


@quiet("graphs.parts")
def a_part_of_a_sum_goes_backward_and_later_all_of_it() -> Log:
    return with_parts("g_loss", "g_loss", "")


@quiet("graphs.parts")
def no_sum_is_at_hand() -> Log:
    return with_parts("", "", "")


@finds(
    "graphs.fresh_leaves",
    "summand-without-graph",
    "warning",
    OTHER,
    "In each of 5 passes looked at, the loss of train.py:7 holds a tensor that was made for it",
    remedy=KEPT,
    looks=5,
)
def losses_are_made_a_tensor_of_their_own() -> Log:
    return windows(1, 1).log(fresh=(FreshLeaf(at(BACKWARD), at(OTHER), 5),))


@finds("graphs.fresh_leaves", "summand-without-graph", "warning", BACKWARD, "the loss of train.py:7", remedy=KEPT)
def losses_are_made_a_tensor_and_the_text_does_not_show_where() -> Log:
    return windows(1, 1).log(fresh=(FreshLeaf(at(BACKWARD), None, 5),))


@quiet("graphs.fresh_leaves")
def losses_are_made_a_tensor_and_nothing_is_trained() -> Log:
    return without_steps(fresh=(FreshLeaf(at(BACKWARD), at(OTHER), 5),))


@finds("graphs.bare_states", "state-without-graph", "warning", FORWARD, "cell runs several times", cell="cell")
def a_state_leaves_the_graph_at_every_step() -> Log:
    return windows(1, 1).log(bare_states={"cell": at(FORWARD)})


@quiet("graphs.bare_states")
def a_cell_runs_and_nothing_is_trained() -> Log:
    tape = Tape("w")
    tape.forward()
    return tape.log(bare_states={"cell": at(FORWARD)})


@finds(
    "division.running_totals",
    "divided-by-running-total",
    "warning",
    EDIT,
    "multiplies the gradient by 0.1, 0.05, 0.03, 0.025",
    factors=[0.1, 0.05, 0.03, 0.025],
)
def a_count_is_never_reset() -> Log:
    return divided(0.1, 0.05, 0.03, 0.025)


@quiet("division.running_totals")
def the_gradient_is_divided_by_its_tokens() -> Log:
    return divided(0.1, 0.09, 0.12, 0.1)


@quiet("division.running_totals")
def the_batches_grow() -> Log:
    return divided(1 / 8, 1 / 12, 1 / 16, 1 / 20)


@quiet("division.running_totals")
def three_steps_do_not_tell_a_running_total() -> Log:
    return divided(0.1, 0.05, 0.033)


def divided(*factors: float) -> Log:
    tape = Tape("w")
    for factor in factors:
        tape.passes(1)
        tape.edit(factors=(factor,))
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "order.taken",
    "used-gradients-taken",
    "warning",
    OTHER,
    "The gradients read at train.py:9 hold this pass on top of an earlier one",
    names=["b"],
)
def a_learner_keeps_the_gradient_of_its_last_step() -> Log:
    return learners(clear=False)


@quiet("order.taken")
def a_learner_is_cleared_before_its_last_pass() -> Log:
    return learners(clear=True)


@quiet("order.taken")
def they_are_taken_once() -> Log:
    return learners(clear=False, tasks=1)


def learners(clear: bool, tasks: int = 2) -> Log:
    """A copy takes a step, and the gradient of one more pass is read from it."""
    tape = Tape("w", "b")
    for _ in range(tasks):
        tape.backward(names="b")
        tape.step(optimizer=1)
        if clear:
            tape.clear(names="b")
        tape.backward(OTHER, names="b")
        if not clear:
            tape.write(Taken, EDIT, ["b"], backward=tape.count)
        tape.clear(names="b", taken=True)
        tape.put("w", CLIP)
        tape.step()
        tape.clear(names="w")
    return tape.log({"w": {"given": True}})


@finds(
    "following.trained_averages",
    "average-trained-too",
    "warning",
    MADE,
    "b are moved towards other weights at train.py:15, as an average of them, and steps of SGD move them too",
    names=["b"],
)
def an_average_is_trained() -> Log:
    return averaged("w b")


@quiet("following.trained_averages")
def an_average_is_held_by_an_optimizer_and_gets_no_gradient() -> Log:
    return averaged("w b", reached="w")


def averaged(held: str, reached: str = "") -> Log:
    tape = Tape(held)
    for _ in range(2):
        tape.forward()
        tape.backward(names=reached)
        tape.step()
        tape.write(AverageUpdate, UPDATE, ["b"], trained=True)
        tape.clear()
    return tape.log({"b": {"requires_grad": not reached}})


def with_summand(text: str, *values: float | None, **fields: Any) -> Log:
    tape = Tape("w")
    for value in values:
        tape.passes(1, idle_summand=text, idle_at=at(OTHER), idle_value=value, **fields)
        tape.step()
        tape.clear()
    return tape.log()


# ------------------------------------------------------------------ standing: modes of modules, state of optimizers


def beside_a_teacher(calls: int = 8, **fields: Any) -> Log:
    """Steps, and a fixed teacher that ran in train mode so often."""
    tape = Tape("w b")
    for _ in range(calls):
        tape.passes(1)
        tape.step()
        tape.clear()
    teacher = NoisyTeacher("teacher", at(OTHER), calls, ("BatchNorm2d", "Dropout"))
    return tape.log(**({"noisy_teachers": (teacher,)} | fields))


@finds(
    "standing.noisy_teachers",
    "teacher-in-train-mode",
    "warning",
    OTHER,
    "teacher, which nothing trains, ran 8 times, each time in train mode",
    "its BatchNorm2d and Dropout computed",
    calls=8,
)
def a_fixed_teacher_is_in_train_mode() -> Log:
    return beside_a_teacher()


@quiet("standing.noisy_teachers")
def a_fixed_teacher_is_in_train_mode_for_a_few_calls() -> Log:
    return beside_a_teacher(7)


@quiet("standing.noisy_teachers")
def no_teacher_is_in_train_mode() -> Log:
    return beside_a_teacher(noisy_teachers=())


def evaluated(*steps: str, optimizers: int = 1, **fields: Any) -> Log:
    """One step a letter: `t` in train mode, `e` trained in eval mode, `b` back in train mode after an evaluation; `o`
    is trained in eval mode by another line."""
    tape = Tape("w")
    for step in "".join(steps):
        tape.passes(1, OTHER if step == "o" else BACKWARD)
        told = (Evaluated(("1 (Dropout)",), at(EDIT), step != "b"),) if step != "t" else ()
        tape.step(evaluated=told)
        tape.clear()
    return tape.log(**fields)


@finds(
    "standing.eval_mode",
    "trained-in-eval-mode",
    "warning",
    EDIT,
    "This puts 1 (Dropout) into eval mode for an evaluation, and 5 steps of SGD, beginning with step 3, trained it",
    steps=[2, 3, 4, 5, 6],
    parts=["1 (Dropout)"],
)
def train_is_never_called_again() -> Log:
    return evaluated("tt", "eeeee")


@finds(
    "standing.eval_mode",
    "trained-in-eval-mode",
    "warning",
    FORWARD,
    "No train() here: train.py:9 puts 1 (Dropout) into eval mode for an evaluation, and 4 steps of SGD",
    eval_at=at(EDIT),
)
def a_function_that_trains_begins_without_train() -> Log:
    tape = Tape("w")
    for number in range(6):
        tape.passes(1)
        tape.step(evaluated=(Evaluated(("1 (Dropout)",), at(EDIT), True, at(FORWARD)),) if number > 1 else ())
        tape.clear()
    return tape.log()


@finds("standing.eval_mode", "trained-in-eval-mode", "warning", EDIT, "and 6 steps of SGD, beginning with step 2")
def train_is_called_at_the_start_of_each_epoch_alone() -> Log:
    return evaluated("teeeb", "b", "teeeb", "t")


@finds("standing.eval_mode", "trained-in-eval-mode", "warning", EDIT, "1 (Dropout)", parts=["1 (Dropout)"])
def another_part_is_put_back() -> Log:
    tape = Tape("w")
    for number in range(6):
        tape.passes(1)
        stays = Evaluated(("1 (Dropout)",), at(EDIT), True)
        back = Evaluated(("2 (Dropout)",), at(OTHER), False)
        tape.step(evaluated=((stays, back) if number == 3 else (stays,)) if number > 2 else ())
        tape.clear()
    return tape.log()


@quiet("standing.eval_mode")
def train_mode_follows_each_evaluation() -> Log:
    return evaluated("ttb", "ttb", "ttb")


@quiet("standing.eval_mode")
def the_last_phase_is_in_eval_mode() -> Log:
    return evaluated("ttb", "ttb", "tt", "eeeeee")


@quiet("standing.eval_mode")
def two_steps_in_eval_mode() -> Log:
    return evaluated("ttt", "ee")


@quiet("standing.eval_mode")
def another_line_trains_in_eval_mode() -> Log:
    return evaluated("ttt", "ooooo")


def anew(*entries: tuple[int, int | None], kind: str = "Adam") -> Log:
    """Optimizers of one line, by their steps and whom they follow."""
    tape = Tape(*["w"] * len(entries))
    for number, (steps, _) in enumerate(entries):
        for _ in range(steps):
            tape.clear(names="w")
            tape.passes(1, names="w")
            tape.step(optimizer=number)
    facts = [
        OptimizerFacts(number, f"{kind} #{number + 1}", steps, at(MADE), follows=follows)
        for number, (steps, follows) in enumerate(entries)
    ]
    return tape.log(optimizers=tuple(facts))


@finds(
    "standing.made_anew",
    "optimizer-made-anew",
    "warning",
    MADE,
    "4 Adam optimizers made at this line took one step each. 3 of them were seen to go on where the one before",
    optimizers=4,
    followers=3,
)
def every_step_has_an_optimizer_of_its_own() -> Log:
    return anew((1, None), (1, 0), (1, 1), (1, 2))


@finds(
    "standing.made_anew",
    "optimizer-made-anew",
    "warning",
    MADE,
    "3 Adam optimizers made at this line took 10 steps in all. 2 of them were seen to go on where",
    optimizers=3,
    followers=2,
)
def every_epoch_has_an_optimizer_of_its_own() -> Log:
    return anew((4, None), (3, 0), (3, 1))


@quiet("standing.made_anew")
def the_second_epoch_has_an_optimizer_of_its_own() -> Log:
    return anew((4, None), (4, 0))


@quiet("standing.made_anew")
def every_epoch_of_two_steps_has_an_optimizer_of_its_own() -> Log:
    return anew((4, None), (2, 0), (2, 1))


@quiet("standing.made_anew")
def an_epoch_begins_from_other_weights() -> Log:
    return anew((4, None), (4, 0), (4, 1), (4, None))


@quiet("standing.made_anew")
def three_optimizers_of_one_step() -> Log:
    return anew((1, None), (1, 0), (1, 1))


@quiet("standing.made_anew")
def one_of_that_line_took_two_steps() -> Log:
    return anew((1, None), (1, 0), (1, 1), (1, 2), (2, 3))


@quiet("standing.made_anew")
def every_other_one_begins_from_other_weights() -> Log:
    return anew((1, None), (1, 0), (1, None), (1, 2), (1, None), (1, 4))


@quiet("standing.made_anew")
def each_begins_from_other_weights() -> Log:
    return anew((1, None), (1, None), (1, None), (1, None), (1, None))


MEANWHILE = FrozenMeanwhile(at(GUARD), at(IF), at(EDIT))


def left_behind(after: int = 3, frozen: bool = True, trained: bool = True, **fields: Any) -> Log:
    """A part that is trained for two steps, and then frozen while the rest goes on."""
    tape = Tape("w b")
    for number in range(2 + after):
        tape.forward()
        tape.backward(names="w b" if trained and number < 2 else "b")
        tape.step()
        tape.clear()
    return tape.log(facts={"w": {"requires_grad": not frozen, "deposits": 2}}, **({"meanwhile": (MEANWHILE,)} | fields))


@finds(
    "ownership.never_frozen",
    "never-frozen",
    "warning",
    MADE,
    "Nothing calls freeze() (train.py:",
    "steps of SGD move b and w",
    names=["b", "w"],
)
def a_function_that_freezes_and_that_nothing_calls() -> Log:
    return windows(1, 1, 1).log(uncalled_freeze=Uncalled("freeze", at(OTHER)))


@quiet("ownership.never_frozen")
def a_function_that_freezes_in_a_run_that_was_ended() -> Log:
    return windows(1, 1, 1).log(uncalled_freeze=Uncalled("freeze", at(OTHER)), error="KeyboardInterrupt")


@finds(
    "ownership.left_frozen",
    "left-frozen",
    "warning",
    EDIT,
    "w was trained, and has been frozen since, through 3 steps of others. train.py:5 freezes",
    "and train.py:11 is to thaw them: these it did not",
    names=["w"],
    thawed_at=at(IF),
)
def a_part_is_not_thawed_after_an_evaluation() -> Log:
    return left_behind()


THAW = "Thaw the parameters of the same model that is frozen."
A_PART = FrozenMeanwhile(at(GUARD), at(IF), at(IF), a_part=True)


def never_thawed(told: FrozenMeanwhile, **facts: Any) -> Log:
    """A part that is frozen before the first step, and that no step trains."""
    tape = Tape("w b")
    for _ in range(4):
        tape.passes(1, names="b")
        tape.step()
        tape.clear()
    return tape.log(facts={"w": {"requires_grad": False, "deposits": 0, "ran": 8} | facts}, meanwhile=(told,))


@finds(
    "ownership.left_frozen",
    "left-frozen",
    "warning",
    IF,
    "w belongs to an optimizer, and no step had a gradient of it. train.py:5 freezes a model for a while, and this "
    "thaws a part of it.",
    remedy=THAW,
    names=["w"],
)
def a_part_alone_is_thawed_behind_a_backward_pass() -> Log:
    return never_thawed(A_PART)


@quiet("ownership.left_frozen")
def a_part_that_never_runs_is_not_thawed() -> Log:
    return never_thawed(A_PART, ran=0)


@quiet("ownership.left_frozen")
def what_is_thawed_is_what_was_frozen() -> Log:
    return never_thawed(MEANWHILE)


@quiet("ownership.left_frozen")
def a_part_is_frozen_by_who_knows_what() -> Log:
    return left_behind(meanwhile=())


@quiet("ownership.left_frozen")
def a_part_is_frozen_when_training_ends() -> Log:
    return left_behind(after=1)


@quiet("ownership.left_frozen")
def a_part_without_gradients_is_not_frozen() -> Log:
    return left_behind(frozen=False)


@quiet("ownership.left_frozen")
def a_frozen_part_was_never_trained() -> Log:
    return left_behind(trained=False)


def parts_come_back(first: int = 1, then: int = 4, came_back: bool = True, **facts: Any) -> Log:
    """Both are trained by the first steps, and b alone by those after it, being frozen and thawed in between."""
    tape = Tape("w b")
    for number in range(first + then):
        tape.passes(1, names="w b" if number < first else "b")
        tape.step()
        tape.clear()
    left = {"requires_grad": False, "frozen_after": first, "stepped_by": (0,)}
    back = {"came_back": came_back, "stepped_by": (0,)}
    return tape.log(facts={"w": left | facts, "b": back})


@finds(
    "ownership.left_behind",
    "left-frozen",
    "warning",
    STEP,
    "w was trained by SGD in its first step, and has been frozen since. b was frozen meanwhile as well, and thawed",
    remedy=THAW,
    names=["w"],
    steps=[2, 3, 4],
)
def a_layer_is_not_thawed_with_the_others() -> Log:
    return parts_come_back()


@finds("ownership.left_behind", "left-frozen", "warning", IF, "in its first 2 steps", remedy=THAW)
def a_layer_is_not_thawed_by_the_one_line_that_thaws() -> Log:
    return replace(parts_come_back(first=2), thawed_at=at(IF))


@quiet("ownership.left_behind")
def no_other_layer_comes_back() -> Log:
    return parts_come_back(came_back=False)


@quiet("ownership.left_behind")
def a_layer_is_frozen_when_it_has_been_trained_for_a_while() -> Log:
    return parts_come_back(first=3)


@quiet("ownership.left_behind")
def a_layer_was_frozen_before_the_first_step() -> Log:
    return parts_come_back(first=0, stepped_by=(), deposits=0)


@quiet("ownership.left_behind")
def a_layer_has_not_been_frozen_for_long() -> Log:
    return parts_come_back(then=3)


def warmed_up(
    warm: str = "head",
    norm: dict[str, Any] | None = None,
    body: dict[str, Any] | None = None,
    then: str = "head body norm",
    **fields: Any,
) -> Log:
    """A head is trained for two steps, and then all that is thawed."""
    tape = Tape("head body norm")
    for number in range(5):
        tape.forward()
        tape.backward(names=warm if number < 2 else then)
        tape.step()
        tape.clear()
    facts = {"norm": {"norm": True, "taken_frozen": True, "training": False} | (norm or {}), "body": body or {}}
    return tape.log(facts=facts, **({"norms_frozen_at": at(LAYER), "thawed_at": at(IF)} | fields))


@finds(
    "ownership.thawed_norms",
    "thawed-with-the-rest",
    "warning",
    IF,
    "norm were frozen before SGD was made, where train.py:2 freezes norms and puts them into eval mode",
    "When body were thawed, they were too: steps from 3 on move them",
    names=["norm"],
    frozen_at=at(LAYER),
)
def norms_are_thawed_with_the_body() -> Log:
    return warmed_up()


@finds("ownership.thawed_norms", "thawed-with-the-rest", "warning", STEP, "norm were frozen before SGD was made")
def norms_are_thawed_by_one_of_several_lines() -> Log:
    return warmed_up(thawed_at=None)


@quiet("ownership.thawed_norms")
def no_text_freezes_norms() -> Log:
    return warmed_up(norms_frozen_at=None)


@quiet("ownership.thawed_norms")
def norms_are_trained_with_their_statistics() -> Log:
    return warmed_up(norm={"training": True})


@quiet("ownership.thawed_norms")
def norms_are_frozen_for_the_warm_up_alone() -> Log:
    return warmed_up(norm={"taken_frozen": False})


@quiet("ownership.thawed_norms")
def the_body_was_frozen_with_its_norms() -> Log:
    return warmed_up(body={"taken_frozen": True})


@quiet("ownership.thawed_norms")
def norms_are_thawed_and_nothing_else_was_frozen() -> Log:
    return warmed_up(warm="head body")


@quiet("ownership.thawed_norms")
def norms_stay_frozen() -> Log:
    return warmed_up(then="head body", norm={"requires_grad": False})


@finds(
    "standing.passed_by",
    "wrapper-passed-by",
    "warning",
    IF,
    "6 steps of SGD were taken from outside the Lookahead that was made around it, and nothing in that has changed",
    wrapper="Lookahead",
)
def the_optimizer_inside_is_stepped() -> Log:
    return around(PassedBy("Lookahead", at(IF)))


@quiet("standing.passed_by")
def nothing_stands_around_the_optimizer() -> Log:
    return around(None)


def around(wrapper: PassedBy | None) -> Log:
    return windows(1, 1).log(optimizers=(OptimizerFacts(0, "SGD", 6, at(MADE), passed_by=wrapper),))


@finds(
    "edits.first_group",
    "clipped-first-group",
    "warning",
    CLIP,
    "This clips w, one parameter group of SGD; b, of its other groups, is stepped unclipped, in 2 windows",
    names=["b"],
    steps=[0, 1],
)
def the_first_group_is_clipped() -> Log:
    return first_group()


def first_group(number: int = 0, windows: int = 2, limit: float = 1.0, then: str = "", status: str = "") -> Log:
    tape = Tape("w b")
    for _ in range(windows):
        tape.passes(1)
        tape.clip(names="w", first_group=number, limit=limit)
        if status:
            tape.amend(status={status: 1})
        if then == "clip":
            tape.clip(OTHER, names="b")
        elif then == "edit":
            tape.edit(names="b", status="fresh")
        tape.step()
        tape.clear()
    return tape.log()


@quiet("edits.first_group")
def the_other_group_is_clipped_by_a_call_of_its_own() -> Log:
    return first_group(then="clip")


@quiet("edits.first_group")
def the_other_group_is_clipped_by_hand() -> Log:
    return first_group(then="edit")


@quiet("edits.first_group")
def the_norm_of_the_first_group_is_shown() -> Log:
    return first_group(limit=math.inf)


@quiet("edits.first_group")
def the_first_group_of_another_optimizer_is_clipped() -> Log:
    return first_group(number=1)


@quiet("edits.first_group")
def the_first_group_is_clipped_once() -> Log:
    return first_group(windows=1)


CHANGED = "This changes the gradients of w when the step has used them, and they are cleared before anything else does"


@finds("edits.idle_edits", "changed-after-step", "warning", EDIT, CHANGED + ", 2 times", names=["w"])
def gradients_are_changed_after_each_step() -> Log:
    return changed_after()


IN_HELPER = CHANGED.replace("This", at(EDIT).short)


@finds("edits.idle_edits", "changed-after-step", "warning", EDIT + 20, IN_HELPER, names=["w"])
def a_helper_that_changes_gradients_is_called_after_the_step() -> Log:
    return changed_after(edited_by=at(EDIT + 20))


def changed_after(steps: int = 2, told: bool = True, before: bool = False, **clear: Any) -> Log:
    tape = Tape("w b")
    for step in range(steps):
        tape.passes(1)
        if before and not step:
            tape.edit(names="w")
        tape.step()
        tape.edit(names="w")
        idle = {"idle_edits": ("w",), "edited_at": at(EDIT)} if told else {}
        tape.clear(**idle, **clear)
    return tape.log()


@quiet("edits.idle_edits")
def gradients_are_changed_after_one_step() -> Log:
    return changed_after(steps=1)


@quiet("edits.idle_edits")
def changed_gradients_are_looked_at() -> Log:
    return changed_after(told=False)


@quiet("edits.idle_edits")
def the_same_line_changes_gradients_before_a_step() -> Log:
    return changed_after(steps=3, before=True)


PART = "This clips w; b, which the same steps of SGD use, goes into them unclipped, in 2 windows"


@finds(
    "edits.twice",
    "clipped-another-model",
    "warning",
    OTHER,
    "This clips w, as train.py:10 has just done. What SGD #2 (train.py:1) steps has the same shapes",
)
def one_of_two_twins_is_clipped_twice() -> Log:
    return twins()


@quiet("edits.twice")
def each_of_two_twins_is_clipped() -> Log:
    return twins(second="v")


@quiet("edits.twice")
def one_of_two_twins_is_clipped_in_two_ways() -> Log:
    return twins(limit=0.5)


@quiet("edits.twice")
def one_of_two_unlike_models_is_clipped_twice() -> Log:
    return twins(shape=(3, 3))


@quiet("edits.twice")
def one_of_two_twins_is_clipped_twice_in_one_window() -> Log:
    return twins(steps=1)


@finds(
    "edits.twice",
    "clipped-another-model",
    "warning",
    CLIP,
    "This clips w twice in a row, the second time when what SGD #2 (train.py:1) steps has been unscaled: that goes",
    steps=[0, 1],
)
def a_loop_over_two_optimizers_clips_the_first_ones_model_each_time() -> Log:
    return one_after_the_other("w")


@quiet("edits.twice")
def a_loop_over_two_optimizers_clips_the_model_of_each() -> Log:
    return one_after_the_other("v")


def one_after_the_other(second: str) -> Log:
    tape = Tape("w", "v")
    for _ in range(2):
        tape.passes(1, scaled=True)
        for optimizer, clipped in enumerate(("w", second)):
            tape.unscale(optimizer=optimizer)
            tape.clip(names=clipped)
        tape.step(by_scaler=True, scale=8.0)
        tape.step(optimizer=1, by_scaler=True, scale=8.0)
        tape.clear()
    return tape.log({"w": {"shape": (2, 2)}, "v": {"shape": (3, 3)}})


def twins(second: str = "w", steps: int = 2, shape: tuple[int, ...] = (2, 2), **fields: Any) -> Log:
    tape = Tape("w", "v")
    for _ in range(steps):
        tape.passes(1)
        tape.clip(names="w")
        tape.clip(OTHER, names=second, **fields)
        tape.step()
        tape.step(optimizer=1)
        tape.clear()
    return tape.log({"w": {"shape": (2, 2)}, "v": {"shape": shape}})


BELOW = "clip_grad_norm_ was given -1 as its limit, 3 times: the gradients point the other way after it"


@finds("edits.without_limit", "clip-limit-not-positive", "error", CLIP, BELOW, limit=-1.0, clips=3)
def the_norm_of_a_clip_is_below_zero() -> Log:
    return limited(-1.0)


@finds("edits.without_limit", "clip-limit-not-positive", "error", CLIP, "given -0.5 as its limit, 3 times: every entry")
def the_value_of_a_clip_is_below_zero() -> Log:
    return limited(-0.5, function="clip_grad_value_")


@finds("edits.without_limit", "clip-limit-not-positive", "error", CLIP, "given 0 as its limit, 3 times: nothing is")
def the_norm_of_a_clip_is_zero() -> Log:
    return limited(0.0)


def limited(limit: float, steps: int = 3, **fields: Any) -> Log:
    tape = Tape("w b")
    for _ in range(steps):
        tape.passes(1)
        tape.clip(limit=limit, **fields)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("edits.without_limit")
def the_norm_of_a_clip_is_small() -> Log:
    return limited(1e-3)


@quiet("edits.without_limit")
def one_clip_alone_has_no_limit_above_zero() -> Log:
    return limited(-1.0, steps=1)


@quiet("edits.without_limit")
def a_clip_is_there_for_the_norm() -> Log:
    return limited(math.inf)


@finds("edits.in_part", "clipped-one-part", "info", CLIP, PART, names=["b"], steps=[0, 1])
def one_part_is_clipped() -> Log:
    return in_part()


@finds("edits.in_part", "clipped-one-part", "warning", OTHER, "This clips w, as train.py:10 has done; b, which")
def one_part_is_clipped_by_two_lines() -> Log:
    return in_part(then="w")


@finds(
    "edits.in_part",
    "clipped-one-part",
    "warning",
    CLIP,
    "This clips w, where train.py:9 is for the whole model; b, which the same steps",
)
def one_part_is_clipped_where_another_line_clips_all_and_the_limit_is_never_reached() -> Log:
    return in_part(whole_at=at(EDIT), norm=0.5)


@finds(
    "edits.in_part",
    "clipped-one-part",
    "warning",
    CLIP,
    "This clips dec.weight_hh_l0; enc.weight_hh_l0, which the same steps",
)
def one_of_two_recurrent_layers_is_clipped() -> Log:
    return in_part("dec.weight_hh_l0", "enc.weight_hh_l0")


def in_part(part: str = "w", rest: str = "b", then: str = "", steps: int = 2, limit: float = 1.0, **fields: Any) -> Log:
    tape = Tape(f"{part} {rest}")
    for _ in range(steps):
        tape.passes(1)
        tape.clip(names=part, limit=limit, **fields)
        if then:
            tape.clip(OTHER, names=then)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("edits.in_part")
def each_part_is_clipped() -> Log:
    return in_part(then="b")


@quiet("edits.in_part")
def the_norm_of_one_part_is_shown() -> Log:
    return in_part(limit=1e9)


@quiet("edits.in_part")
def one_part_never_reaches_its_limit() -> Log:
    return in_part(norm=0.5)


@quiet("edits.in_part")
def one_part_is_clipped_once() -> Log:
    return in_part(steps=1)


# ------------------------------------------------------------------ precision: clipping


@finds(
    "edits.clipping",
    "clipped-another-model",
    "error",
    CLIP,
    "Between the backward() of w and the step of SGD #1 (train.py:1), this clips v, which that step does not use",
    "in 2 windows",
    names=["v"],
    steps=[0, 1],
)
def the_other_models_old_gradients_are_clipped() -> Log:
    return two_models("v")


@finds(
    "edits.clipping",
    "clipped-another-model",
    "error",
    CLIP,
    "Between the backward() of w and the step of SGD, this clips 2 tensors without a gradient that no optimizer holds",
    "in 3 windows",
    steps=[0, 1, 2],
)
def a_copy_without_gradients_is_clipped() -> Log:
    return clipping_a_copy()


@quiet("edits.clipping")
def a_copy_is_asked_for_its_norm() -> Log:
    return clipping_a_copy(limit=1e9)


@quiet("edits.clipping")
def a_copy_is_clipped_beside_the_model() -> Log:
    return clipping_a_copy(both=True)


@quiet("edits.clipping")
def a_copy_is_clipped_before_the_backward() -> Log:
    return clipping_a_copy(early=True)


def clipping_a_copy(limit: float = 1.0, both: bool = False, early: bool = False) -> Log:
    tape = Tape("w")
    for _ in range(3):
        if not early:
            tape.passes(1)
        tape.write(Clip, CLIP, function="clip_grad_norm_", limit=limit, status={}, strangers=2)
        if both:
            tape.clip(EDIT)
        if early:
            tape.passes(1)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "edits.clipping",
    "clipped-more-than-zeroed",
    "warning",
    CLIP,
    "Before 2 steps of SGD #1 (train.py:1), the norm that is clipped includes gradients of v which another optimizer",
    remedy="Clip what SGD #1 (train.py:1) steps, or clear all gradients before this backward().",
    names=["v"],
    steps=[0, 1],
)
def the_norm_counts_what_another_optimizer_has_used() -> Log:
    return two_models("w v")


def critic_and_actor(names: str = "actor critic", cleared: bool = False) -> Log:
    """A critic steps; then the actor's loss goes backward through it, and these are clipped before the actor's step."""
    tape = Tape("actor", "critic")
    for _ in range(3):
        tape.clear(names="critic")
        tape.passes(1, OTHER, names="critic")
        tape.step(optimizer=1)
        tape.clear(names="actor critic" if cleared else "actor")
        tape.passes(1, names="actor critic")
        tape.clip(names=names)
        tape.step()
    return tape.log()


@finds(
    "edits.clipping",
    "clipped-more-than-zeroed",
    "warning",
    CLIP,
    "Before 3 steps of SGD #1 (train.py:1), the norm that is clipped includes gradients of critic which another",
    remedy="Clip what SGD #1 (train.py:1) steps, or clear all gradients before this backward().",
    names=["critic"],
    steps=[0, 1, 2],
)
def the_norm_counts_what_a_pass_has_added_to_the_used_gradients_of_a_critic() -> Log:
    return critic_and_actor()


def test_a_norm_of_the_actor_alone_or_behind_a_clear_of_both_counts_nothing_that_was_used() -> None:
    for log in (critic_and_actor("actor"), critic_and_actor(cleared=True)):
        assert "clipped-more-than-zeroed" not in [one.misconception for one in findings(log)]


@quiet("edits.clipping")
def both_models_are_clipped_before_both_steps() -> Log:
    tape = Tape("w", "v")
    for _ in range(3):
        tape.passes(1)
        tape.clip()
        tape.step()
        tape.step(optimizer=1)
        tape.clear()
    return tape.log()


@quiet("edits.clipping")
def values_are_clipped_of_what_another_optimizer_has_used_too() -> Log:
    tape = Tape("w", "v")
    for _ in range(3):
        tape.clear(names="v")
        tape.passes(1, OTHER, names="v")
        tape.step(OTHER, 1)
        tape.clear(names="w")
        tape.passes(1, names="w")
        tape.clip(function="clip_grad_value_", order=None, largest=3.0)
        tape.step()
    return tape.log()


@finds(
    "edits.clipping",
    "clipped-another-model",
    "error",
    CLIP,
    "Between the backward() of w and the step of SGD #1 (train.py:1), this clips v, which that step does not use",
    "in 3 windows",
    names=["v"],
    steps=[0, 1, 2],
)
def the_critic_is_clipped_after_the_actors_loss_went_through_it() -> Log:
    return through_the_critic("v")


@quiet("edits.clipping")
def the_actor_is_clipped_after_its_loss_went_through_the_critic() -> Log:
    return through_the_critic("w")


@quiet("edits.clipping")
def both_are_clipped_after_the_actors_loss_went_through_the_critic() -> Log:
    return through_the_critic("w v")


def through_the_critic(clipped: str) -> Log:
    """A critic that is stepped first, and an actor whose loss goes through it; what is clipped before its step."""
    tape = Tape("w", "v")
    for _ in range(3):
        tape.passes(1, OTHER, names="v")
        tape.step(OTHER, 1)
        tape.clear(names="w v")
        tape.passes(1, names="v w")
        tape.clip(names=clipped)
        tape.step()
        tape.clear(names="w v")
    return tape.log()


def two_models(clipped: str) -> Log:
    """A critic that is stepped first, and an actor; what is clipped before the actor's step."""
    tape = Tape("w", "v")
    for _ in range(2):
        tape.clear(names="v")
        tape.passes(1, OTHER, names="v")
        tape.clip(EDIT, names="v")
        tape.step(OTHER, 1)
        tape.clear(names="w")
        tape.passes(1, names="w")
        tape.clip(names=clipped)
        tape.step()
    return tape.log()


@finds(
    "edits.clipping",
    "clipped-nothing",
    "error",
    CLIP,
    "Clipped 2 times what an iterator gave that had come to its end",
    clips=2,
)
def an_iterator_is_used_up_after_the_first_clip() -> Log:
    tape = Tape("w")
    for spent in (False, True, True):
        tape.passes(1)
        tape.clip(**({"status": {}, "spent": True} if spent else {}))
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "edits.clipping",
    "clipped-every-micro-batch",
    "error",
    CLIP,
    "Clipped in the middle of 2 of 2 windows",
    steps=[0, 0, 0, 1, 1, 1],
)
def clipped_after_every_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1)
            tape.clip()
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "edits.clipping",
    "clipped-before-unscale",
    "error",
    CLIP,
    "still carry the loss scale, in 2 windows: max_norm 1 at scale 1024 clips to 0.00098",
    scale=1024.0,
    limit=1.0,
    steps=[0, 1],
)
def clipped_while_scaled() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(1, scaled=True)
        tape.clip(scaled=True, scale=1024.0)
        tape.step(by_scaler=True, scale=1024.0)
        tape.clear()
    return tape.log()


@finds("edits.clipping", "clipped-before-unscale", "error", EDIT, "Before this, train.py:10 has clipped gradients that")
def a_helper_clips_before_gradients_are_unscaled() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(1, scaled=True)
        tape.clip(scaled=True, scale=1024.0)
        tape.amend(where=replace(at(CLIP), function="clip"))
        tape.unscale()
        tape.step(by_scaler=True, scale=1024.0)
        tape.clear()
    return tape.log()


def by_value(largest: float) -> Log:
    """Windows of three, their values clipped at 1 after every micro-batch. The norm is not asked."""
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(3):
            tape.passes(1)
            tape.clip(function="clip_grad_value_", order=None, norm=9.0, largest=largest)
        tape.step()
        tape.clear()
    return tape.log()


@finds("edits.clipping", "clipped-after-step", "error", CLIP, "Clipped 3 times after the step", clips=3)
def clipped_after_the_step() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.clear()
        tape.passes(1)
        tape.step()
        tape.clip()
    return tape.log()


@finds("edits.clipping", "clipped-after-step", "error", CLIP, "Clipped 2 times after the step", clips=2)
def clipped_after_the_step_in_a_function_that_a_loop_calls() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.clear()
        tape.passes(1)
        tape.step()
        tape.clip()
    return tape.log(helpers=(HelperCall(at(CLIP), at(OTHER)),))


def clipped_before_the_last_pass(norm: float) -> Log:
    """The clips find less than their limit of 1, and the steps use gradients of this norm."""
    tape = Tape("w b")
    for _ in range(4):
        tape.passes(3)
        tape.clip(norm=0.8)
        tape.passes(1)
        tape.step(norm=norm)
        tape.clear()
    return tape.log()


@finds(
    "edits.clipping", "clipped-before-backward", "error", CLIP, "Clipped 4 times before the last backward pass", clips=4
)
def a_clip_comes_too_early_to_limit_what_the_step_uses() -> Log:
    return clipped_before_the_last_pass(1.1)


@quiet("edits.clipping")
def a_clip_comes_early_and_would_limit_nothing_later_either() -> Log:
    return clipped_before_the_last_pass(0.9)


@finds("edits.clipping", "clipped-before-backward", "error", CLIP, "Clipped 3 times while there were", clips=3)
def clipped_before_the_backward() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.clear()
        tape.clip()
        tape.passes(1)
        tape.step()
    return tape.log()


@quiet("edits.clipping")
def what_is_clipped_never_gets_a_gradient() -> Log:
    tape = Tape("w b h")
    for _ in range(3):
        tape.clear()
        tape.passes(1, names="h")
        tape.clip(names="w b")
        tape.step()
    return tape.log({name: {"ran": 0} for name in "wb"})


@finds(
    "edits.clipping",
    "clipped-before-backward",
    "error",
    CLIP,
    "Clipped 2 times before the last backward pass of a window: what came after was not clipped.",
    clips=2,
)
def clipped_before_the_last_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(3)
        tape.clip()
        tape.passes(1)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "edits.clipping",
    "clipped-more-than-zeroed",
    "error",
    CLIP,
    "includes h, which no optimizer steps and nothing clears",
    names=["h"],
    others_chosen_at=at(MADE),
)
def the_norm_counts_gradients_that_nobody_clears() -> Log:
    tape = Tape("w b", loose="h")
    for _ in range(3):
        tape.clear(names="w b")
        tape.passes(1)
        tape.clip(status={"fresh": 2, "orphan": 1})
        tape.step()
    return tape.log({"h": {"training": False}})


@finds("edits.clipping", "clipped-before-unscale", "error", CLIP, "in 3 windows: max_norm 1 at scale 8 clips to 0.12")
def clipped_at_a_usual_limit_with_a_small_scale() -> Log:
    return windows_clipped(3, limit=1.0, scale=8.0)


@finds("edits.clipping", "clipped-before-unscale", "error", CLIP, "max_norm 3.7 at scale 1024 clips to 0.0036")
def clipped_at_an_odd_limit_with_a_large_scale() -> Log:
    return windows_clipped(3, limit=3.7, scale=1024.0)


@finds("edits.clipping", "clipped-before-unscale", "error", CLIP, "in 3 windows: max_norm 1 at scale 1024")
def clipped_while_scaled_and_skipped() -> Log:
    return windows_clipped(3, skipped=True, limit=1.0, scale=1024.0)


def windows_clipped(count: int, *, skipped: bool = False, scale: float = 1024.0, **fields: Any) -> Log:
    """Scaled windows of a pass, clipped and never unscaled; the step tells the scale."""
    tape = Tape("w b")
    for _ in range(count):
        tape.passes(1, scaled=True)
        tape.clip(scaled=True, **fields)
        (tape.skip if skipped else tape.step)(**({"scale": scale} | ({} if skipped else {"by_scaler": True})))
        tape.clear()
    return tape.log()


def clipped_by_a_limit_that_is_not_reached(limit: float = 1.0, inside: int = CLIP) -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for last in (False, False, True):
            tape.passes(1)
            tape.clip(CLIP if last else inside, norm=0.5, limit=limit)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "edits.clipping",
    "clipped-every-micro-batch",
    "warning",
    CLIP,
    "Clipped to 1 in the middle of 2 of 2 windows. Where the norm was measured it was below that",
    steps=[0, 0, 1, 1],
)
def every_micro_batch_is_clipped_by_a_limit_that_is_not_reached() -> Log:
    return clipped_by_a_limit_that_is_not_reached()


@quiet("edits.clipping")
def the_norm_of_every_micro_batch_is_read_by_a_limit_that_is_none() -> Log:
    return clipped_by_a_limit_that_is_not_reached(1e6)


@quiet("edits.clipping")
def another_line_reads_the_norm_of_every_micro_batch() -> Log:
    return clipped_by_a_limit_that_is_not_reached(inside=OTHER)


@finds("edits.clipping", "clipped-every-micro-batch", "error", CLIP, "in the middle of 2 of 2 windows")
def the_largest_entry_is_clipped_after_every_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(3):
            tape.passes(1)
            tape.clip(norm=0.5, order=math.inf)
        tape.step()
        tape.clear()
    return tape.log()


@finds("edits.clipping", "clipped-after-step", "error", CLIP, "Clipped 3 times after the step", clips=3)
def clipped_after_the_step_beside_a_frozen_layer() -> Log:
    tape = Tape("w b", loose="frozen")
    for _ in range(3):
        tape.clear(names="w b")
        tape.passes(1, names="w b")
        tape.step()
        tape.clip()
    return tape.log()


@quiet("edits.clipping")
def clipped_once_after_the_last_step_of_four() -> Log:
    tape = Tape("w b")
    for _ in range(4):
        tape.clear()
        tape.passes(1)
        tape.step()
    tape.clip()
    return tape.log()


@quiet("edits.clipping")
def clipped_once_before_the_first_backward_of_four() -> Log:
    tape = Tape("w b")
    tape.clip(limit=1.0)
    tape.events[-1] = replace(tape.events[-1], where=at(CLIP + 20))
    for _ in range(4):
        tape.passes(1)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("edits.clipping")
def clipped_once_a_window_before_the_step() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(4)
        tape.clip()
        tape.step()
        tape.clear()
    return tape.log()


@quiet("edits.clipping")
def the_norm_alone_is_read_after_every_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        for _ in range(4):
            tape.passes(1)
            tape.clip(limit=math.inf)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("edits.clipping")
def the_limit_lies_above_every_norm() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        for _ in range(4):
            tape.passes(1)
            tape.clip(norm=10.0, limit=1e9)
        tape.step()
        tape.clear()
    return tape.log()


@finds("edits.clipping", "clipped-before-unscale", "error", CLIP, "in 2 windows", steps=[0, 1])
def two_models_are_clipped_and_one_is_unscaled() -> Log:
    tape = Tape("w b", "d")
    for _ in range(2):
        tape.passes(1, scaled=True)
        tape.unscale()
        tape.clip(scaled=True, scale=1024.0)
        for optimizer in (0, 1):
            tape.step(optimizer=optimizer, by_scaler=True, scale=1024.0)
        tape.clear()
    return tape.log()


@finds("edits.clipping", "clipped-every-micro-batch", "error", CLIP, "in the middle of 2 of 2 windows")
def values_are_clipped_after_every_micro_batch() -> Log:
    return by_value(largest=3.0)


@quiet("edits.clipping")
def no_value_reaches_the_limit() -> Log:
    return by_value(largest=0.5)


@quiet("edits.clipping")
def unscaled_before_it_is_clipped() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(2, scaled=True)
        tape.unscale()
        tape.clip(scaled=True, scale=1024.0)
        tape.step(by_scaler=True, scale=1024.0)
        tape.clear()
    return tape.log()


@quiet("edits.clipping")
def unscaled_before_it_is_clipped_and_a_part_gets_no_gradient() -> Log:
    tape = Tape("w b frozen")
    for _ in range(3):
        tape.passes(1, scaled=True, names="w b")
        tape.unscale()
        tape.clip(scaled=True, scale=1024.0)
        tape.step(by_scaler=True, scale=1024.0)
        tape.clear()
    return tape.log({"frozen": {"requires_grad": False}})


@quiet("edits.clipping")
def the_limit_is_multiplied_by_the_scale() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(2, scaled=True)
        tape.clip(scaled=True, scale=1024.0, limit=1024.0, norm=5000.0)
        tape.step(by_scaler=True, scale=1024.0)
        tape.clear()
    return tape.log()


@quiet("edits.clipping")
def a_model_that_is_not_trained_now_is_clipped_with_the_other() -> Log:
    tape = Tape("w b", "d")
    for number in range(4):
        tape.clear()
        tape.passes(1, names="w b" if number % 2 else "d")
        tape.clip(CLIP, "w b")
        tape.clip(CLIP + 20, "d")
        tape.step(optimizer=0 if number % 2 else 1)
    return tape.log()


# ------------------------------------------------------------------ edits: by hand


def clipped_and_divided(*factors: float, first: bool = False, **clip: Any) -> Log:
    """Windows of two passes, clipped and then changed by these factors, or `first` changed."""
    tape = Tape("w b")
    for factor in factors:
        tape.passes(2)
        if first:
            tape.edit(factors=(factor,))
        tape.clip(**clip)
        if not first:
            tape.edit(factors=(factor,))
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "edits.divided_late",
    "clipped-before-division",
    "warning",
    CLIP,
    "clips the sum of 2 passes, and only then are the gradients divided by 2",
    "at most 0.5 of the limit, in 3 windows",
    steps=[0, 1, 2],
    limit=1.0,
)
def a_sum_is_clipped_before_it_is_divided() -> Log:
    return clipped_and_divided(0.5, 0.5, 0.5)


@quiet("edits.divided_late")
def a_sum_is_divided_before_it_is_clipped() -> Log:
    return clipped_and_divided(0.5, 0.5, first=True)


@quiet("edits.divided_late")
def what_was_clipped_is_weakened_by_another_factor() -> Log:
    return clipped_and_divided(0.1, 0.1)


@quiet("edits.divided_late")
def the_limit_is_worked_out_as_one_for_the_sum() -> Log:
    return clipped_and_divided(0.5, 0.5, 0.5, limit_is_product=True)


@quiet("edits.divided_late")
def it_happened_once() -> Log:
    return clipped_and_divided(0.5)


def edited(*factors: float, **fields: Any) -> Log:
    """Windows of three, the gradient changed by these factors after every micro-batch but the last."""
    tape, left = Tape("w b"), list(factors)
    while left:
        for _ in range(2):
            tape.passes(1)
            tape.edit(factors=(left.pop(0),), **fields)
        tape.passes(1)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "edits.by_hand",
    "clipped-every-micro-batch",
    "warning",
    EDIT,
    "shortened in the middle of 2 windows, by factors from 0.2 to 0.9",
    steps=[0, 0, 1, 1],
)
def clipped_by_hand_after_every_micro_batch() -> Log:
    return edited(0.2, 0.5, 0.9, 0.3)


@finds(
    "edits.by_hand",
    "divided-every-micro-batch",
    "error",
    EDIT,
    "multiplied by 0.25 after every micro-batch",
    factor=0.25,
    steps=[0, 0, 1, 1],
)
def divided_after_every_micro_batch() -> Log:
    return edited(0.25, 0.25, 0.25, 0.25)


@finds(
    "edits.by_hand",
    "clipped-before-unscale",
    "warning",
    EDIT,
    "shortened here by hand, by factors from 0.1 to 0.8",
    remedy="Call scaler.unscale_(optimizer) first.",
    steps=[0, 1],
)
def clipped_by_hand_while_scaled() -> Log:
    tape = Tape("w b")
    for factor in (0.1, 0.8):
        tape.passes(1, scaled=True)
        tape.edit(factors=(factor,), scaled=True)
        tape.step(by_scaler=True, scale=1024.0)
        tape.clear()
    return tape.log()


@finds(
    "edits.by_hand",
    "clipped-before-unscale",
    "warning",
    OTHER,
    "are shortened by train.py:9, before this, by hand",
    remedy="Call scaler.unscale_(optimizer) first.",
)
def a_helper_clips_by_hand_before_gradients_are_unscaled() -> Log:
    tape = Tape("w b")
    for factor in (0.1, 0.8):
        tape.passes(1, scaled=True)
        tape.edit(factors=(factor,), scaled=True)
        tape.amend(where=replace(at(EDIT), function="clip"))
        tape.unscale(OTHER)
        tape.step(by_scaler=True, scale=1024.0)
        tape.clear()
    return tape.log()


@finds(
    "edits.by_hand",
    "outside-buffer-overwritten",
    "error",
    EDIT,
    "4 gradients were read and cleared one after the other",
    "in 2 windows of SGD",
    steps=[0, 1],
)
def only_the_last_gradient_comes_back_from_a_buffer() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1)
            tape.clear(taken=True)
        tape.edit("assigned", carried="last")
        tape.step(fresh=2, passes=4, assigned=True)
    return tape.log()


@finds("edits.by_hand", "aliased-gradients", "error", EDIT, "b got the very tensor that another", names=["b"])
def two_parameters_share_a_gradient() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.edit("shared", names="b")
    tape.step()
    return tape.log()


@finds(
    "edits.by_hand",
    "hidden-write",
    "warning",
    EDIT,
    "The gradient of w changed 2 times",
    "(norm 2 before, 0.5 after)",
    norms=(2.0, 0.5),
)
def a_gradient_is_written_through_numpy() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(1)
        tape.edit("hidden", names="w", norms=(2.0, 0.5))
        tape.step()
        tape.clear()
    return tape.log()


def steps_of_which_some_find_a_gradient(*full: int, of: int, **fields: Any) -> Log:
    """The model runs before each step, and goes backward before some of them."""
    tape = Tape("w b")
    for number in range(of):
        tape.clear()
        tape.forward(**fields)
        if number in full:
            tape.backward()
        tape.step()
    return tape.log()


@finds(
    "window.without_backward",
    "steps-without-backward",
    "warning",
    BACKWARD,
    "9 of 12 steps of SGD found no gradient and did nothing: this backward() ran before one in 4, while",
    step_taken_at=at(STEP),
)
def a_backward_is_called_for_what_is_logged() -> Log:
    return steps_of_which_some_find_a_gradient(0, 4, 8, of=12)


@finds(
    "window.without_backward",
    "steps-without-backward",
    "info",
    BACKWARD,
    "9 of 13 steps of SGD found no gradient and did nothing: this backward() ran before 4 of them",
    remedy="Call backward() for each loss that is to train something; or step where there is a gradient.",
)
def some_losses_go_backward() -> Log:
    return steps_of_which_some_find_a_gradient(0, 2, 3, 11, of=13)


VAIN = VainClear("clear_grads", at(OTHER), at(BACKWARD))


@finds(
    "stale.added",
    "never-zeroed",
    "error",
    OTHER,
    "clear_grads() clears nothing, by its text, and nothing else clears b and w",
    remedy="Call SGD.zero_grad(), or set p.grad = None of each parameter: another value of a name changes no gradient.",
)
def a_function_clears_by_its_name_alone() -> Log:
    return never_cleared(clears_in_vain=(VAIN,))


@finds("stale.added", "never-zeroed", "error", BACKWARD, "Nothing clears b and w")
def a_function_that_clears_by_its_name_alone_is_called_where_nothing_ran() -> Log:
    return never_cleared(clears_in_vain=(replace(VAIN, called_at=Place(FILE, 3, "elsewhere")),))


def never_cleared(**fields: Any) -> Log:
    tape = Tape("w b")
    for _ in range(4):
        tape.passes(1)
        tape.step()
    return tape.log(**fields)


@quiet("window.without_backward")
def most_losses_go_backward() -> Log:
    return steps_of_which_some_find_a_gradient(0, 1, 2, 4, 5, 6, 8, of=10)


@quiet("window.without_backward")
def steps_before_the_first_backward_find_nothing() -> Log:
    return steps_of_which_some_find_a_gradient(8, 9, 10, of=11)


@quiet("window.without_backward")
def the_model_runs_without_gradients_before_all_steps() -> Log:
    return steps_of_which_some_find_a_gradient(0, 4, 8, of=12, grad=False)


@finds(
    "edits.by_hand",
    "hidden-write",
    "info",
    OTHER,
    "This changes the gradient of w through NumPy, 3 times (norm 2 before, 1 after)",
    remedy="Change the gradient itself, with torch: p.grad.clamp_(), p.grad.mul_(), p.grad.nan_to_num_().",
    norms=(2.0, 1.0),
    view_taken_at=at(EDIT),
)
def a_gradient_is_clipped_in_what_cpu_gave() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1)
        tape.edit(names="w", status="fresh", norms=(2.0, 1.0), copy_changed_at=at(OTHER))
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "edits.by_hand",
    "hidden-write",
    "warning",
    OTHER,
    "This changes the gradient of w itself, 2 times (norm 2 before, 4 after): the NumPy view that it works on",
    remedy="Work on a copy, as in (g * g).sum() or p.grad.cpu().numpy().copy().",
    norms=(2.0, 4.0),
    view_taken_at=at(EDIT),
)
def a_measure_is_taken_of_a_view_that_is_changed() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(1)
        tape.edit(names="w", status="fresh", norms=(2.0, 4.0), measured_at=at(OTHER))
        tape.step()
        tape.clear()
    return tape.log()


@finds("edits.by_hand", "hidden-write", "info", EDIT, "The gradient of w changed 1 time with no trace")
def a_gradient_is_written_through_data_on_purpose() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.edit("hidden", names="w", meant=True)
    tape.step()
    return tape.log()


@quiet("edits.by_hand")
def divided_once_after_the_last_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(3)
        tape.edit(factors=(1 / 3,))
        tape.step()
        tape.clear()
    return tape.log()


@quiet("edits.by_hand")
def a_running_mean_shortens_by_the_place_in_the_window() -> Log:
    return edited(0.5, 0.9, 0.5, 0.9)


@quiet("edits.by_hand")
def an_edit_that_changes_no_length() -> Log:
    return edited(1.0, 1.0, 1.0, 1.0)


@quiet("edits.by_hand")
def unscaled_by_hand_before_the_scaler_steps() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1, scaled=True)
        tape.edit(factors=(1 / 1024,), scaled=True)
        tape.step(by_scaler=True, scale=1024.0)
        tape.clear()
    return tape.log()


@quiet("edits.by_hand")
def clipped_by_hand_after_it_was_unscaled() -> Log:
    tape = Tape("w b")
    for factor in (0.1, 0.8):
        tape.passes(1, scaled=True)
        tape.unscale()
        tape.edit(factors=(factor,), scaled=True)
        tape.step(by_scaler=True, scale=1024.0)
        tape.clear()
    return tape.log()


@quiet("edits.by_hand")
def a_buffer_brings_back_all_once_and_the_last_once() -> Log:
    tape = Tape("w b")
    for carried in ("all", "last"):
        for _ in range(4):
            tape.passes(1)
            tape.clear(taken=True)
        tape.edit("assigned", carried=carried)
        tape.step(fresh=2, passes=4, assigned=True)
    return tape.log()


@quiet("edits.by_hand")
def noise_is_added_after_every_micro_batch() -> Log:
    return edited(0.9, 1.2, 1.1, 0.8)


@quiet("edits.by_hand")
def all_gradients_come_back_from_a_buffer() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(4):
            tape.passes(1)
            tape.clear(taken=True)
        tape.edit("assigned", carried="all")
        tape.step(fresh=2, passes=4, assigned=True)
    return tape.log()


# ------------------------------------------------------------------ edits: gradients replaced, buffers


@finds(
    "edits.replaced",
    "gradient-kept-as-state",
    "error",
    EDIT,
    "w changed in .grad itself, to 2 times what was there, 2 times: the buffer is the very tensor in .grad",
    names=["w"],
)
def a_buffer_is_the_gradient_and_is_added_to_itself() -> Log:
    return added(2.0, 2.0)


@finds(
    "edits.gone",
    "gradient-read-when-cleared",
    "warning",
    OTHER,
    "the gradient of w, 3 times with new backward passes",
    times=3,
)
def gradients_are_read_when_they_are_gone() -> Log:
    return windows(1, 1, 1).log(gone=(GoneGradients(at(OTHER), "w", 3),))


@quiet("edits.gone")
def gradients_are_gone_twice() -> Log:
    return windows(1, 1).log(gone=(GoneGradients(at(OTHER), "w", 2),))


@quiet("edits.gone")
def gradients_are_gone_and_nothing_steps() -> Log:
    return Tape("w").log(gone=(GoneGradients(at(OTHER), "w", 4),))


@finds("edits.lost", "gradient-not-changed", "warning", EDIT, "the gradient that is stepped on stays as it was")
def the_name_of_a_gradient_is_bound_to_another_tensor() -> Log:
    return windows(1, 1).log(unchanged=(at(EDIT),))


@finds("edits.lost", "gradient-not-changed", "warning", EDIT, "of a gradient and does nothing with it")
def what_is_made_of_a_gradient_is_thrown_away() -> Log:
    return windows(1, 1).log(thrown_away=(at(EDIT),))


@finds(
    "edits.lost",
    "parameter-not-changed",
    "warning",
    EDIT,
    "makes a new tensor of a weight and does nothing with it: the weight stays as it was",
    remedy="Change it in place, and without a graph: with torch.no_grad(): p.clamp_(-c, c).",
)
def what_is_made_of_a_weight_is_thrown_away() -> Log:
    return windows(1, 1).log(in_vain=(at(EDIT),))


@finds(
    "edits.lost",
    "schedule-moves-nothing",
    "warning",
    EDIT,
    "This line asks for the learning rate of now, and no text writes it",
    remedy="for group in optimizer.param_groups: group['lr'] = lr",
)
def a_rate_is_computed_and_only_shown() -> Log:
    return windows(1, 1).log(unwritten=(at(EDIT),))


@finds(
    "edits.lost",
    "schedule-moves-nothing",
    "warning",
    EDIT,
    "gives the optimizer an attribute, which nothing reads",
    remedy="for group in optimizer.param_groups: group['lr'] = lr",
)
def a_rate_is_written_into_an_attribute_of_the_optimizer() -> Log:
    return windows(1, 1).log(in_attributes=(at(EDIT),))


@finds("edits.lost", "loss-overwritten", "warning", EDIT, "and the first has gone into no sum and no backward()")
def the_name_of_a_loss_is_given_to_the_next() -> Log:
    return windows(1, 1).log(overwritten=(at(EDIT),))


@quiet("edits.lost")
def what_is_made_of_a_weight_is_thrown_away_where_nothing_steps() -> Log:
    return Tape("w").log(in_vain=(at(EDIT),))


@finds(
    "edits.lost",
    "gradient-not-changed",
    "warning",
    EDIT,
    "the outer loop took from its list",
    remedy="Put it back: for i, g in enumerate(grads): ...; grads[i] = g, or change it in place.",
)
def a_projected_gradient_is_the_name_of_a_loop() -> Log:
    return windows(1, 1).log(unprojected=(at(EDIT),))


@finds(
    "edits.lost",
    "parameter-not-changed",
    "warning",
    EDIT,
    "the dictionary that state_dict() gave",
    remedy="Write into the entry: state[key].copy_(value), or load the dictionary: model.load_state_dict(state).",
)
def the_entries_of_a_state_dict_are_replaced() -> Log:
    return windows(1, 1).log(unloaded=(at(EDIT),))


@finds(
    "edits.lost",
    "schedule-moves-nothing",
    "warning",
    EDIT,
    "into the defaults of an optimizer",
    remedy="for group in optimizer.param_groups: group['lr'] = lr",
)
def a_rate_is_written_into_the_defaults() -> Log:
    return windows(1, 1).log(in_defaults=(at(EDIT),))


@finds(
    "edits.lost",
    "schedule-moves-nothing",
    "warning",
    EDIT,
    "a number that was the learning rate when the optimizer was made",
    remedy="for group in optimizer.param_groups: group['lr'] = lr",
)
def a_rate_is_lowered_in_a_number_of_the_loop() -> Log:
    return windows(1, 1).log(in_numbers=(at(EDIT),))


@quiet("edits.lost")
def a_rate_is_lowered_in_a_number_and_moves() -> Log:
    return _never_scheduled([0.1, 0.05], in_numbers=(at(EDIT),))


@finds("edits.lost", "remainder-of-one", "warning", EDIT, "taken of 1 alone, and then added")
def a_condition_takes_a_remainder_of_one() -> Log:
    return windows(1, 1).log(remainder_of_one=(at(EDIT),))


@quiet("edits.lost")
def a_condition_takes_a_remainder_of_one_and_nothing_steps() -> Log:
    return Tape("w b").log(remainder_of_one=(at(EDIT),))


@finds(
    "edits.lost",
    "snapshot-shares-memory",
    "warning",
    EDIT,
    "the two lie in one memory now",
    remedy="Copy the values: target.data.copy_(source.data), or target.load_state_dict(source.state_dict()).",
)
def a_target_is_given_the_memory_of_what_it_should_follow() -> Log:
    return windows(1, 1).log(given_memory=(at(EDIT),))


@finds(
    "edits.lost",
    "snapshot-shares-memory",
    "warning",
    EDIT,
    "This line keeps where the weights lie, and no copy of them.",
    remedy="Keep copies: p.detach().clone().",
)
def a_backup_lies_in_the_memory_of_the_weights() -> Log:
    return windows(1, 1).log(backup_in_memory=(at(EDIT),))


@quiet("edits.lost")
def a_target_is_given_the_memory_of_another_model_and_nothing_steps() -> Log:
    return Tape("w b").log(given_memory=(at(EDIT),))


@finds("edits.lost", "parameter-not-changed", "warning", EDIT, "what the loop goes over stays as it was")
def the_name_of_a_parameter_is_bound_to_another_tensor() -> Log:
    return windows(1, 1).log(rebound=(at(EDIT),))


@finds("edits.lost", "parameter-not-changed", "warning", EDIT, "binds the loop's own name to it")
def a_step_by_hand_changes_no_parameter_and_is_not_seen() -> Log:
    tape = Tape("w")
    for _ in range(2):
        tape.passes(1)
        tape.clear(lost=0, lost_names=())
    return tape.log(rebound=(at(EDIT),), stepped_in_vain=True)


@finds("edits.lost", "straight-through-cut", "warning", EDIT, "no gradient passes it to what it is made of")
def a_straight_through_is_detached_as_a_whole() -> Log:
    return windows(1, 1).log(detached_whole=(at(EDIT),))


@quiet("edits.lost")
def nothing_was_stepped_and_a_straight_through_is_detached_as_a_whole() -> Log:
    tape = Tape("w")
    tape.forward()
    return tape.log(detached_whole=(at(EDIT),))


@finds(
    "edits.lost",
    "graph-cut",
    "warning",
    EDIT,
    "the way around these layers carries numbers and no gradient",
    remedy="Keep its graph: residual = x. An addition does not write to x.",
)
def the_way_around_a_layer_is_detached() -> Log:
    return windows(1, 1).log(residuals_cut=(at(EDIT),))


@quiet("edits.lost")
def nothing_was_stepped_and_the_way_around_a_layer_is_detached() -> Log:
    return Tape("w").log(residuals_cut=(at(EDIT),))


@finds("edits.lost", "bias-correction-counts-parameters", "warning", EDIT, "it grows by one for each of them")
def the_count_of_steps_stands_in_the_loop_over_parameters() -> Log:
    return windows(1, 1).log(counted=(at(EDIT),))


@quiet("edits.lost")
def nothing_was_stepped_and_a_gradient_is_not_changed() -> Log:
    tape = Tape("w")
    tape.forward()
    return tape.log(unchanged=(at(EDIT),), thrown_away=(at(EDIT),))


@quiet("edits.lost")
def nothing_was_stepped_and_parameters_would_be_counted() -> Log:
    tape = Tape("w")
    tape.forward()
    return tape.log(counted=(at(EDIT),))


@finds(
    "edits.replaced",
    "gradient-kept-as-state",
    "error",
    LAYER,
    "This line keeps a gradient as it is, and w changed in .grad itself, to 0.8 times what was there, 2 times",
)
def a_buffer_begins_as_the_gradient_by_another_name() -> Log:
    return kept("zeros", 0.8, 0.8, 0.8)


@quiet("edits.replaced")
def a_kept_gradient_is_left_alone_by_the_clear() -> Log:
    return kept("none", 0.8, 0.8, 0.8)


@quiet("edits.replaced")
def gradients_are_edited_before_the_step_beside_a_kept_one() -> Log:
    return kept("zeros", 0.8, 0.8, 0.8, late=False)


def kept(clears: str, *factors: float, late: bool = True) -> Log:
    """Steps whose text keeps the gradient, which is changed by these factors after them, or before."""
    tape = Tape("w")
    for factor in factors:
        tape.passes(1)
        if late:
            tape.step()
        tape.edit(factors=(factor,), kept_at=at(LAYER))
        if not late:
            tape.step()
        tape.clear(how=clears)
    return tape.log()


@finds("edits.lost", "buffer-not-kept", "warning", EDIT, "the next step begins with the old one again")
def momentum_is_bound_to_a_name_and_lost() -> Log:
    return windows(1, 1).log(forgotten=(at(EDIT),))


@quiet("edits.lost")
def nothing_was_stepped_and_a_buffer_is_lost() -> Log:
    tape = Tape("w")
    tape.forward()
    return tape.log(forgotten=(at(EDIT),))


@quiet("edits.replaced")
def other_gradients_are_added() -> Log:
    return added(1.2, 0.9)


@quiet("edits.replaced")
def it_happens_once() -> Log:
    return added(2.0)


def added(*factors: float) -> Log:
    tape = Tape("w")
    for factor in factors:
        tape.passes(1)
        tape.edit(factors=(factor,), adds_gradient=True)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "edits.replaced",
    "gradient-overwritten",
    "warning",
    EDIT,
    "that no step had used, 4 times in 2 windows",
    names=["b", "w"],
    steps=[0, 1],
)
def a_gradient_takes_the_place_of_the_last_one() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.put("w b")
        for _ in range(2):
            tape.put("w b", overwrote=("w", "b"))
        tape.step(assigned=True)
        tape.clear()
    return tape.log({"w": {"given": True}, "b": {"given": True}})


@finds(
    "edits.replaced",
    "gradient-kept-as-state",
    "error",
    STEP,
    "After the step of SGD its state for w is the very tensor in .grad",
    names=["w"],
)
def the_state_of_the_optimizer_is_the_gradient() -> Log:
    return windows(1, 1, kept_as_state=("w",)).log()


@quiet("edits.replaced")
def a_gradient_is_put_there_once_a_step() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.put("w b")
        tape.step(assigned=True)
        tape.clear()
    return tape.log({"w": {"given": True}, "b": {"given": True}})


@quiet("edits.replaced")
def a_gradient_of_another_optimizers_parameter_is_replaced() -> Log:
    tape = Tape("w b", loose="h")
    for _ in range(3):
        tape.passes(1, names="w b")
        tape.put("h", overwrote=("h",))
        tape.step()
        tape.clear()
    return tape.log({"h": {"in_model": False}})


# ------------------------------------------------------------------ standing: memory


def loaded(**fields: Any) -> Log:
    """A right loop, and two loads of weights that are the model's own."""
    tape = windows(1, 1)
    for _ in range(2):
        tape.write(OwnLoad, EDIT, ("w", "b"), **fields)
    return tape.log()


@finds(
    "standing.own_loads",
    "snapshot-shares-memory",
    "warning",
    LAYER,
    "This is loaded at train.py:",
    "3 steps later. It lies in the memory",
    "themselves: nothing is restored.",
    loaded_at=at(EDIT),
    names=["w", "b"],
)
def a_snapshot_is_trained_on_with_the_weights() -> Log:
    return loaded(kept_at=at(LAYER), steps=3)


@finds(
    "standing.own_loads", "snapshot-shares-memory", "warning", EDIT, "This loads a state_dict(), after other weights"
)
def a_snapshot_is_overwritten_with_the_weights() -> Log:
    return loaded(replaced_at=at(RESTORED))


@finds("standing.own_loads", "snapshot-shares-memory", "warning", LAYER, "What is computed from this", "bit for bit")
def weights_move_between_a_snapshot_and_themselves() -> Log:
    return loaded(kept_at=at(LAYER), steps=3, computed=True)


@finds("standing.own_loads", "loaded-onto-itself", "warning", EDIT, "the weights of w and b onto themselves: the")
def the_target_is_the_model_itself() -> Log:
    return loaded(at_once=True)


@finds(
    "standing.own_loads", "loaded-onto-itself", "warning", LAYER, "loads the weights of w and b onto", names=["w", "b"]
)
def the_target_is_another_name_of_the_model() -> Log:
    return loaded(kept_at=at(LAYER), at_once=True)


@quiet("standing.own_loads")
def the_source_of_a_broadcast_is_one_of_those_it_goes_to() -> Log:
    return loaded(at_once=True, besides=True)


def _named_twice(how: str, **fields: Any) -> Log:
    """Windows in which a model that has two names runs with its graph (g) and without one (n)."""
    tape = Tape("w")
    for word in how.split():
        for one in word:
            tape.write(Forward, LAYER, model="Linear", training=True, grad=one == "g")
        tape.passes(1)
        tape.step()
        tape.clear()
    fields.setdefault("stand_ins", (StandIn("reference_model", "policy", "Linear", at(OTHER)),))
    return tape.log(**fields)


def _listed(*names: str) -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(1)
        tape.step(listed_twice=names)
        tape.clear()
    return tape.log()


@finds(
    "standing.listed_twice",
    "parameter-listed-twice",
    "warning",
    MADE,
    "w stands more than once among what SGD steps",
    names=["w"],
    steps=[0, 1],
)
def a_parameter_stands_twice_in_a_group() -> Log:
    return _listed("w")


@finds("standing.listed_twice", "parameter-listed-twice", "warning", MADE, "w and b stand more than once")
def two_parameters_stand_twice_in_a_group() -> Log:
    return _listed("w", "b")


@quiet("standing.listed_twice")
def each_parameter_is_listed_once() -> Log:
    return _listed()


@finds(
    "standing.stand_ins",
    "loaded-onto-itself",
    "warning",
    OTHER,
    "reference_model and policy are two names",
    "In 3 windows",
    remedy="Make a copy that stays behind: copy.deepcopy(model).requires_grad_(False).",
    role="reference_model",
    other="policy",
)
def a_reference_is_the_policy() -> Log:
    return _named_twice("gn g gn gn")


@finds(
    "standing.stand_ins",
    "loaded-onto-itself",
    "warning",
    OTHER,
    "It is frozen, though an optimizer holds it, and ran so in 3 windows: as teacher and as student",
    remedy="Make a copy that stays behind: copy.deepcopy(model).requires_grad_(False).",
)
def a_teacher_is_the_student_and_frozen_with_it() -> Log:
    return _named_twice("gn g gn", stand_ins=(StandIn("teacher", "student", "Linear", at(OTHER), frozen=True),))


@quiet("standing.stand_ins")
def a_teacher_is_the_student_in_a_run_of_two_windows() -> Log:
    return _named_twice("gn g", stand_ins=(StandIn("teacher", "student", "Linear", at(OTHER), frozen=True),))


@quiet("standing.stand_ins")
def a_model_of_two_names_is_evaluated_twice() -> Log:
    return _named_twice("g gn g gn g")


TWO_NAMES = TargetNetwork("encoder_k", at(OTHER), "encoder_q", None)


@finds(
    "standing.two_names",
    "loaded-onto-itself",
    "warning",
    OTHER,
    "encoder_k and encoder_q are two names of one model: what the weights of one are to bring into those of the other",
    remedy="Make a copy that stays behind: copy.deepcopy(model).requires_grad_(False).",
    role="encoder_k",
    other="encoder_q",
)
def a_model_under_two_names_is_averaged_into_itself() -> Log:
    return windows(1, 1).log(under_two_names=TWO_NAMES)


@quiet("standing.two_names")
def a_model_under_two_names_is_not_trained() -> Log:
    return Tape("w b").log(under_two_names=TWO_NAMES)


EMPTY = EmptyNorms(at(FORWARD), ("norm1", "norm2"), 8)


@finds(
    "standing.empty_statistics",
    "statistics-never-filled",
    "warning",
    FORWARD,
    "norm1 and norm2 ran in eval mode with the running statistics that they were made with, zeros and ones",
    "for 8 calls, while their weights moved: nothing fills these statistics",
    names=["norm1", "norm2"],
)
def norms_of_an_average_run_with_statistics_that_nobody_fills() -> Log:
    return windows(1, 1).log(empty_norms=EMPTY)


@quiet("standing.empty_statistics")
def norms_run_with_statistics_that_nobody_fills_and_nothing_steps() -> Log:
    return Tape("w b").log(empty_norms=EMPTY)


@finds("standing.own_loads", "loaded-onto-itself", "warning", EDIT, "onto themselves")
def a_model_of_two_names_is_loaded_onto_itself_and_that_is_said_once() -> Log:
    log = _named_twice("gn gn gn")
    load = loaded(at_once=True).events[-1]
    return replace(log, events=(*log.events, load))


@quiet("standing.own_loads")
def nothing_is_loaded() -> Log:
    return windows(1, 1).log()


@finds(
    "standing.one_memory",
    "parameters-share-memory",
    "warning",
    LAYER,
    "w and b are two parameters",
    "each step of SGD moves it twice",
    names=["w", "b"],
    steps=[0, 1],
)
def two_parameters_are_tied_by_their_data() -> Log:
    return windows(1, 1, one_memory=("w", "b"), joined_at=at(LAYER)).log()


@finds(
    "standing.one_memory",
    "parameters-share-memory",
    "warning",
    LAYER,
    "w and b are two parameters",
    remedy="Give each a tensor of its own, nn.Parameter(x.clone()); or use one parameter for both.",
)
def two_parameters_are_made_of_one_tensor() -> Log:
    return windows(1, 1, one_memory=("w", "b"), joined_at=at(LAYER), made_of_one=True).log()


@finds("standing.one_memory", "parameters-share-memory", "warning", MADE, "lie in one memory")
def two_parameters_lie_in_one_place_and_the_text_does_not_show_why() -> Log:
    return windows(1, 1, one_memory=("w", "b")).log()


@quiet("standing.one_memory")
def every_parameter_has_a_memory_of_its_own() -> Log:
    return windows(1, 1).log()


# ------------------------------------------------------------------ precision: scalers


@finds(
    "precision.mixed_precision",
    "stepped-scaled-gradients",
    "error",
    STEP,
    "3 steps of SGD used gradients that still carry the loss scale",
    steps=[0, 1, 2],
)
def the_optimizer_steps_on_scaled_gradients() -> Log:
    return windows(1, 1, 1, passes={"scaled": True}).log()


@finds(
    "precision.mixed_precision",
    "stepped-scaled-gradients",
    "warning",
    STEP,
    "3 steps of SGD used what the program made of these gradients by hand. No scaler stepped or unscaled",
    remedy="Step through the scaler: scaler.step(optimizer), then scaler.update().",
    steps=[0, 1, 2],
)
def the_optimizer_steps_on_what_was_made_of_scaled_gradients() -> Log:
    return made_of_scaled_gradients()


@quiet("precision.mixed_precision")
def the_text_takes_the_scale_off_what_it_made_of_scaled_gradients() -> Log:
    return made_of_scaled_gradients(reads_scale=True)


@quiet("precision.mixed_precision")
def one_loss_of_two_was_scaled_and_the_program_made_something_of_both() -> Log:
    return made_of_scaled_gradients(False)


def made_of_scaled_gradients(*more: bool, **fields: Any) -> Log:
    """The gradients of scaled losses, and of others, are taken away, and others are put in their place."""
    tape = Tape("w b")
    for _ in range(3):
        for scaled in (*more, True):
            tape.clear(taken=True)
            tape.passes(1, scaled=scaled)
        tape.edit("assigned", status="empty")
        tape.step(assigned=True, scaled=())
        tape.clear()
    return tape.log(**fields)


@finds(
    "precision.mixed_precision",
    "loss-not-scaled",
    "error",
    BACKWARD,
    "went backward without the scale, and the scaler then divided its gradient by 1024: 3 windows",
    scale=1024.0,
    steps=[0, 1, 2],
)
def the_scaler_steps_on_gradients_that_were_not_scaled() -> Log:
    return windows(1, 1, 1, by_scaler=True, scale=1024.0).log()


@finds("precision.mixed_precision", "loss-not-scaled", "error", OTHER, "This loss went backward without the scale")
def the_first_of_two_losses_is_not_scaled() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1, OTHER)
        tape.passes(1, scaled=True)
        tape.step(by_scaler=True)
        tape.clear()
    return tape.log()


@finds("precision.mixed_precision", "kept-gradients-of-skipped-step", "error", IF, "0 of 4 steps were taken.")
def a_clear_waits_for_a_step_that_is_never_taken() -> Log:
    tape = Tape("w b")
    for _ in range(4):
        tape.passes(1, scaled=True)
        tape.step(kind=SkippedStep, by_scaler=True)
    return tape.log(clears_under=(at(IF),))


def scaled_again(**step: Any) -> Log:
    """A loop whose losses had been scaled before they were scaled."""
    fields = {"by_scaler": True, "scale": 1024.0, **step}
    return windows(1, 1, passes={"scaled": True, "scaled_twice": at(EDIT)}, **fields).log()


@finds(
    "precision.scales",
    "loss-scaled-twice",
    "error",
    EDIT,
    "that part's gradient carries the scale twice",
    "SGD stepped on it 1024 times too long",
    scale=1024.0,
    steps=[0, 1],
)
def a_loss_is_scaled_twice() -> Log:
    return scaled_again()


@finds(
    "precision.scales",
    "loss-not-scaled",
    "error",
    BACKWARD,
    "A part of this loss goes backward without the scale, beside what the scaler has scaled",
    "divided the gradient of both by 1024: 2 windows",
    remedy="Add the parts up first, and scale their sum: scaler.scale(a + b).backward().",
    scale=1024.0,
    steps=[0, 1],
)
def a_part_of_a_loss_is_not_scaled() -> Log:
    return windows(1, 1, passes={"scaled": True, "part_unscaled": True}, by_scaler=True, scale=1024.0).log()


@quiet("precision.scales")
def a_part_of_a_loss_is_not_scaled_by_a_scale_of_one() -> Log:
    return windows(1, 1, passes={"scaled": True, "part_unscaled": True}, by_scaler=True, scale=1.0).log()


@quiet("precision.scales")
def a_loss_is_scaled_twice_by_one() -> Log:
    return scaled_again(scale=1.0)


@quiet("precision.scales")
def a_loss_is_scaled_twice_and_unscaled_by_hand() -> Log:
    tape = Tape("w b")
    tape.passes(1, scaled=True, scaled_twice=at(EDIT))
    tape.edit(factors=(1 / 1024**2,))
    tape.step()
    return tape.log()


def updated_between(between: bool = True, own_passes: bool = False, **fields: Any) -> Log:
    """Two optimizers, a scaler, and an update after the first step."""
    tape = Tape("w b", "d")
    for _ in range(2):
        tape.passes(1, scaled=True, names="w b" if own_passes else "")
        if fields.pop("unscaled", False):
            tape.unscale(optimizer=1)
        tape.step(by_scaler=True, scale=64.0)
        if own_passes:
            tape.passes(1, scaled=True, names="d")
        tape.write(ScalerUpdate, UPDATE, before=64.0, after=64.0)
        if not between:
            tape.passes(1, scaled=True, names="d")
        tape.unscale(optimizer=1)
        if fields.get("edited"):
            tape.edit(names="d", factors=(0.5,))
        told = {"by_scaler": True, "scale": 64.0, **{k: v for k, v in fields.items() if k != "edited"}}
        tape.step(optimizer=1, **({"updated_at": at(UPDATE)} | told))
        tape.clear()
    return tape.log()


@finds(
    "precision.scales",
    "scaler-updated-between-steps",
    "error",
    UPDATE,
    "came out 2 times too long, in 2 windows",
    factor=2.0,
    steps=[0, 1],
)
def the_scale_falls_between_two_steps() -> Log:
    return updated_between(rescaled=2.0)


@finds(
    "precision.scales", "scaler-updated-between-steps", "error", UPDATE, "multiplied of its first passes was divided"
)
def the_scale_changes_in_the_middle_of_a_window() -> Log:
    return updated_between(between=False, rescaled=0.5)


@finds(
    "precision.idle_scaler",
    "loss-not-scaled",
    "warning",
    BACKWARD,
    "the gradient scaler that is there was never used, in 3 steps of SGD",
    remedy="scaler.scale(loss).backward(), scaler.step(optimizer), scaler.update().",
    scaler_made_at=at(MADE),
)
def a_scaler_is_there_and_never_used() -> Log:
    return windows(1, 1, 1).log(idle_scaler=True, scaler_made_at=at(MADE))


@quiet("precision.idle_scaler")
def one_step_was_taken_beside_a_scaler() -> Log:
    return windows(1).log(idle_scaler=True)


@finds("precision.scales", "scaler-updated-between-steps", "error", UPDATE, "came out at 0.5 of its right length")
def the_scale_grows_between_two_steps() -> Log:
    return updated_between(rescaled=0.5, own_passes=True)


@finds("precision.scales", "scaler-updated-between-steps", "error", UPDATE, "divides them once more, in 1 window.")
def an_update_makes_the_scaler_forget_what_it_has_unscaled() -> Log:
    return updated_between(unscaled=True)


@finds(
    "precision.scales",
    "scaler-updated-between-steps",
    "warning",
    UPDATE,
    "It was so in 2 windows, and the scale stayed as it was",
    factor=None,
)
def the_scale_might_have_changed_between_two_steps() -> Log:
    return updated_between()


@quiet("precision.scales")
def each_optimizer_has_passes_of_its_own() -> Log:
    return updated_between(own_passes=True)


@quiet("precision.scales")
def the_passes_of_the_second_step_come_after_the_update() -> Log:
    return updated_between(updated_at=None)


@quiet("precision.scales")
def somebody_changes_the_gradients_after_the_update() -> Log:
    return updated_between(rescaled=2.0, edited=True)


@quiet("precision.scales")
def the_gradients_behind_the_update_are_somebodys_own() -> Log:
    return updated_between(rescaled=2.0, assigned=True)


@finds(
    "precision.mixed_precision",
    "unscaled-every-micro-batch",
    "error",
    EDIT,
    "those before are not, and early ones are divided several times.",
    steps=[0, 0, 1, 1],
)
def unscaled_after_every_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for _ in range(3):
            tape.passes(1, scaled=True)
            tape.unscale()
        tape.step(by_scaler=True)
        tape.clear()
    return tape.log()


@finds(
    "precision.mixed_precision",
    "unscaled-every-micro-batch",
    "error",
    EDIT,
    "Unscaled in the middle of 2 windows: the micro-batches that follow are scaled, those before are not.",
    steps=[0, 1],
)
def unscaled_before_the_last_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(2, scaled=True)
        tape.unscale()
        tape.passes(1, scaled=True)
        tape.step(by_scaler=True)
        tape.clear()
    return tape.log()


@finds(
    "precision.mixed_precision",
    "kept-gradients-of-skipped-step",
    "error",
    CLEAR,
    "1 of 4 steps were taken.",
    taken=1,
    windows=4,
)
def the_gradients_of_a_skipped_step_are_kept() -> Log:
    tape = Tape("w b")
    tape.passes(1, scaled=True)
    tape.step(by_scaler=True)
    tape.clear()
    for _ in range(3):
        tape.passes(1, scaled=True)
        tape.skip()
    return tape.log()


@finds(
    "precision.mixed_precision",
    "kept-gradients-of-skipped-step",
    "error",
    CLEAR,
    "2 of 2 steps were taken, none after that.",
    taken=2,
)
def inf_is_kept_and_no_step_is_taken_any_more() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(1, scaled=True)
        tape.step(by_scaler=True)
        tape.clear()
    tape.passes(3, scaled=True)
    return tape.log(pending_finite=False)


@finds(
    "precision.mixed_precision", "loss-not-scaled", "error", BACKWARD, "divided its gradient: 2 windows", steps=[0, 1]
)
def only_one_of_two_models_has_its_loss_scaled() -> Log:
    tape = Tape("g", "d")
    for _ in range(2):
        tape.passes(1, OTHER, names="g", scaled=True)
        tape.step(OTHER, 0, by_scaler=True)
        tape.passes(1, names="d")
        tape.step(optimizer=1, by_scaler=True)
        tape.clear()
    return tape.log()


@quiet("precision.mixed_precision")
def a_scaled_loss_hands_its_scale_on_to_cached_gradients() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.forward()
        tape.write(Backward, OTHER, pass_number=100 + tape.count, scaled=True)
        tape.backward()
        tape.step(by_scaler=True, scale=1024.0)
        tape.clear()
    return tape.log()


@quiet("precision.mixed_precision")
def a_scaler_does_all_in_order_and_skips_once() -> Log:
    tape = Tape("w b")
    for number in range(4):
        tape.passes(2, scaled=True)
        tape.unscale()
        if number:
            tape.step(by_scaler=True, scale=1024.0)
        else:
            tape.skip()
        tape.clear()
        tape.write(ScalerUpdate, UPDATE, before=1024.0, after=1024.0)
    return tape.log()


@quiet("precision.mixed_precision")
def unscaled_by_hand_before_a_plain_step() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1, scaled=True)
        tape.edit(factors=(1 / 1024,))
        tape.step()
        tape.clear()
    return tape.log()


@quiet("precision.mixed_precision")
def unscaled_by_the_scaler_before_a_plain_step() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1, scaled=True)
        tape.unscale()
        tape.step()
        tape.clear()
    return tape.log()


@quiet("precision.mixed_precision")
def the_run_ends_on_nan_with_one_full_window() -> Log:
    tape = windows(4, 4)
    tape.passes(4)
    return tape.log(pending_finite=False)


@quiet("precision.mixed_precision")
def the_scale_comes_in_as_the_gradient() -> Log:
    return windows(1, 1, 1, passes={"gradient": True}, by_scaler=True, scale=1024.0).log()


@quiet("precision.mixed_precision")
def the_run_ends_on_inf_inside_its_first_window_after_a_step() -> Log:
    tape = windows(4, 4)
    tape.passes(1)
    return tape.log(pending_finite=False, finished=False)


@finds(
    "precision.missing_steps",
    "scaler-step-missing",
    "error",
    UPDATE,
    "3 scaled backward passes put gradients on the parameters of SGD",
    "updated 3 times, and SGD never stepped",
)
def the_scaler_is_updated_and_never_steps() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1, scaled=True)
        tape.write(ScalerUpdate, UPDATE, before=1024.0, after=1024.0)
        tape.clear()
    return tape.log()


@quiet("precision.missing_steps")
def one_of_two_optimizers_is_not_trained_with_the_scaler() -> Log:
    tape = Tape("w b", "d")
    for _ in range(3):
        tape.passes(1, names="w b", scaled=True)
        tape.step(by_scaler=True)
        tape.write(ScalerUpdate, UPDATE, before=1024.0, after=1024.0)
        tape.clear()
    return tape.log()


@quiet("precision.missing_steps")
def the_scaler_is_updated_once() -> Log:
    tape = Tape("w b", "d")
    for _ in range(3):
        tape.passes(1, scaled=True, names="w b")
        tape.step(by_scaler=True)
        tape.clear()
    tape.write(ScalerUpdate, UPDATE, before=1024.0, after=1024.0)
    return tape.log()


@quiet("precision.missing_steps")
def one_scaled_pass_reached_an_optimizer_that_never_steps() -> Log:
    tape = Tape("w b", "d")
    for number in range(3):
        tape.passes(1, names="w b" if number else "w b d", scaled=True)
        tape.step(by_scaler=True)
        tape.write(ScalerUpdate, UPDATE, before=1024.0, after=1024.0)
        tape.clear(lost=0, lost_names=())
    return tape.log()


@quiet("precision.missing_steps")
def another_optimizer_steps_the_same_parameters() -> Log:
    tape = Tape("w b", "w b")
    for _ in range(3):
        tape.passes(1, scaled=True)
        tape.step(by_scaler=True)
        tape.write(ScalerUpdate, UPDATE, before=1024.0, after=1024.0)
        tape.clear()
    return tape.log()


# ------------------------------------------------------------------ precision: autocast, values


@finds(
    "precision.autocast",
    "stepped-inside-autocast",
    "error",
    STEP,
    "One autocast block holds 2 forward passes after a step",
    forwards=2,
    forward_at=at(FORWARD),
)
def one_autocast_block_around_the_loop() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.forward(region=1)
        tape.backward()
        tape.step(region=1)
        tape.clear()
    return tape.log()


@finds("precision.autocast", "stepped-inside-autocast", "error", GUARD, f"after a step ({at(STEP).short}): it keeps")
def one_autocast_block_whose_line_is_known() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.forward(region=1)
        tape.backward()
        tape.step(region=1, region_at=at(GUARD))
        tape.clear()
    return tape.log()


@quiet("precision.autocast")
def an_autocast_block_for_every_forward() -> Log:
    tape = Tape("w b")
    for number in range(3):
        tape.forward(region=number)
        tape.backward()
        tape.step(region=number)
        tape.clear()
    return tape.log()


@quiet("precision.autocast")
def the_block_holds_an_evaluation_after_the_step() -> Log:
    tape = Tape("w b")
    for number in range(3):
        tape.forward(region=number)
        tape.backward()
        tape.step(region=number)
        tape.clear()
        tape.forward(region=number, grad=False)
    return tape.log()


@finds(
    "precision.nonfinite",
    "non-finite-gradient-stepped",
    "error",
    STEP,
    "Step 2 of SGD used a gradient with inf or nan in it, and so did 2 of the 2 steps after it",
    steps=[1, 2, 3],
)
def nan_comes_and_stays() -> Log:
    tape = windows(1)
    for _ in range(3):
        tape.passes(1)
        tape.step(finite=False)
        tape.clear()
    return tape.log()


@finds(
    "precision.nonfinite", "non-finite-gradient-stepped", "info", STEP, "Step 2 of SGD", "0 of the 1 steps", steps=[1]
)
def nan_came_once_and_the_weights_were_put_back() -> Log:
    tape = windows(1)
    tape.passes(1)
    tape.step(finite=False)
    tape.clear()
    tape.passes(1)
    tape.step()
    return tape.log()


@quiet("precision.nonfinite")
def a_scaler_holds_inf_back() -> Log:
    tape = Tape("w b")
    for number in range(3):
        tape.passes(1, scaled=True)
        if number:
            tape.step(by_scaler=True)
        else:
            tape.skip(finite=False)
        tape.clear()
    return tape.log()


@quiet("precision.nonfinite")
def a_scaler_takes_a_step_whose_gradients_were_inf_before() -> Log:
    tape = Tape("w b")
    tape.passes(1, scaled=True)
    tape.step(by_scaler=True, finite=False)
    return tape.log()


@finds(
    "precision.low_sums",
    "low-precision-accumulation",
    "warning",
    BACKWARD,
    "4 backward passes per step are summed in bfloat16, which keeps 8 bits",
    dtype="bfloat16",
    passes=4,
)
def four_passes_are_summed_in_bfloat16() -> Log:
    return windows(4, 4, low_precision="bfloat16").log()


@finds(
    "precision.low_sums", "low-precision-accumulation", "warning", BACKWARD, "summed in float16, which keeps 11 bits"
)
def two_passes_are_summed_in_float16() -> Log:
    return windows(2, 2, low_precision="float16").log()


@quiet("precision.low_sums")
def four_passes_are_summed_in_float32() -> Log:
    return windows(4, 4).log()


def half(*looks: tuple[float, int, int]) -> Log:
    """Steps with weights in half precision, each given by its learning rate, the entries looked at, and how many of
    them stood still."""
    tape = Tape("w")
    for rate, entries, still in looks:
        tape.passes(1)
        tape.step(rounded=Rounded(("w",), "bfloat16", rate, entries, still))
        tape.clear()
    return tape.log()


@finds(
    "precision.rounded_away",
    "updates-rounded-away",
    "warning",
    MADE,
    "Weights are bfloat16: each of 3 steps of SGD that were looked at left 55% or more of the sampled entries of w",
    steps=[0, 1, 2],
    names=["w"],
    dtype="bfloat16",
)
def most_entries_never_move() -> Log:
    return half((0.01, 100, 80), (0.01, 200, 111), (0.01, 100, 90))


@finds("precision.rounded_away", "updates-rounded-away", "warning", MADE, "left 60% or more", steps=[2, 3, 4])
def entries_moved_only_where_the_learning_rate_was_low_or_few_had_a_gradient() -> Log:
    return half((0.001, 100, 10), (0.01, 4, 0), (0.01, 100, 60), (0.0099, 100, 60), (0.01, 100, 60), (0.005, 100, 0))


def fused(skipped: int, **unfilled: float) -> Log:
    """A scaler skips some steps before the first one, which finds momentum that nothing has filled."""
    tape = Tape("w b")
    for _ in range(skipped):
        tape.passes(1, scaled=True)
        tape.skip()
        tape.clear()
    for fields in ({"unfilled": unfilled}, {}):
        tape.passes(1, scaled=True)
        tape.step(by_scaler=True, **fields)
        tape.clear()
    return tape.log()


@finds(
    "precision.unfilled",
    "momentum-begins-unfilled",
    "warning",
    MADE,
    "The scaler skipped the first 2 steps of SGD, which is fused: it made the momentum of w and b all the same",
    "used what lay there, numbers up to 3e+30.",
    names=["w", "b"],
    largest=3e30,
)
def momentum_begins_with_what_lay_in_memory() -> Log:
    return fused(2, w=0.0, b=3e30)


@finds("precision.unfilled", "momentum-begins-unfilled", "warning", MADE, "used what lay there, zeros this time.")
def momentum_begins_with_memory_that_holds_zeros() -> Log:
    return fused(1, w=0.0)


@finds("precision.unfilled", "momentum-begins-unfilled", "warning", MADE, "used what lay there, nan.")
def momentum_begins_with_nan() -> Log:
    return fused(1, w=5.0, b=math.nan)


@quiet("precision.unfilled")
def the_first_steps_are_skipped_and_momentum_is_made_later() -> Log:
    return fused(3)


@quiet("precision.rounded_away")
def most_entries_move_at_one_look() -> Log:
    return half((0.01, 100, 80), (0.01, 100, 33), (0.01, 100, 80), (0.01, 100, 80))


@quiet("precision.rounded_away")
def half_of_the_entries_move() -> Log:
    return half((0.01, 100, 60), (0.01, 100, 40), (0.01, 100, 50))


@quiet("precision.rounded_away")
def one_look_is_too_few() -> Log:
    return half((0.01, 100, 90))


@finds(
    "precision.rounded_away",
    "updates-rounded-away",
    "warning",
    MADE,
    "left 38% or more",
    "on average 55%:",
    steps=[0, 1],
)
def two_looks_of_a_short_run() -> Log:
    return half((0.01, 100, 38), (0.01, 100, 73))


@quiet("precision.rounded_away")
def nothing_moves_while_the_learning_rate_warms_up() -> Log:
    return half((0.001, 100, 100), (0.002, 100, 100), (0.004, 100, 100), (0.01, 100, 60), (0.01, 100, 20))


@quiet("precision.rounded_away")
def few_entries_have_a_gradient() -> Log:
    return half(*[(0.01, 31, 31)] * 5)


@quiet("precision.rounded_away")
def a_scaler_left_a_step_out() -> Log:
    tape = Tape("w")
    for _ in range(3):
        tape.passes(1, scaled=True)
        tape.skip(rounded=Rounded(("w",), "float16", 0.01, 100, 100))
        tape.clear()
    return tape.log()


# ------------------------------------------------------------------ ownership: backward passes that reach too far


def adversarial(cleared: bool, reached: str = "g d") -> Log:
    """A discriminator `d` and a generator `g`: the generator's loss reaches both."""
    tape = Tape("g", "d")
    for _ in range(3):
        tape.forward()
        tape.backward(OTHER, reached)  # the generator's loss
        first_pass = tape.count
        tape.step(optimizer=0)
        tape.clear(names="g")
        if cleared:
            tape.clear(names="d", lost=0, lost_names=())
        tape.forward()
        tape.backward(BACKWARD, "d")
        crossing = Crossing(("d",), (first_pass, tape.count), at(OTHER), trail(OTHER), trail(BACKWARD))
        tape.step(optimizer=1, crossed=None if cleared else crossing)
        tape.clear(names="d")
    return tape.log()


@finds(
    "ownership.crossed",
    "backward-reaches-another-model",
    "error",
    OTHER,
    "This backward() also put gradients on d",
    "SGD #2 (train.py:1) used them together with its own, in 3 steps",
    names=["d"],
    steps=[0, 1, 2],
)
def the_generators_loss_reaches_the_discriminator() -> Log:
    return adversarial(cleared=False)


@finds("ownership.crossed", "backward-reaches-another-model", "error", OTHER, "put gradients on d", names=["d"])
def both_losses_reach_both_models() -> Log:
    tape = Tape("g", "d")
    for _ in range(3):
        tape.passes(1, OTHER)
        first_pass = tape.count
        tape.step(optimizer=0)
        tape.clear(names="g")
        tape.passes(1)
        crossing = Crossing(("d",), (first_pass, tape.count), at(OTHER), trail(OTHER), trail(BACKWARD))
        tape.step(optimizer=1, crossed=crossing)
        tape.clear(lost=0, lost_names=())
    return tape.log()


def cleared_first(reached: str) -> Log:
    """Both are cleared at the top, and the generator's loss, which comes first, reaches these in this order."""
    tape = Tape("g", "d")
    for _ in range(3):
        tape.clear(IF, "g")
        tape.clear(CLEAR, "d")
        tape.forward()
        tape.backward(OTHER, reached)
        first_pass = tape.count
        tape.step(optimizer=0)
        tape.forward()
        tape.backward(BACKWARD, "d")
        crossing = Crossing(("d",), (first_pass, tape.count), at(OTHER), trail(OTHER), trail(BACKWARD))
        tape.step(optimizer=1, crossed=crossing)
    return tape.log()


@finds(
    "ownership.crossed",
    "backward-reaches-another-model",
    "error",
    CLEAR,
    "d are cleared here, before the backward() of train.py:8 goes through them on its way to another optimizer's",
    "SGD #2 (train.py:1) used what that left together with its own, in 3 steps",
    remedy="Clear these parameters right before their own backward(), after the other optimizer's step.",
    names=["d"],
    steps=[0, 1, 2],
)
def the_discriminator_is_cleared_before_the_generators_loss_goes_through_it() -> Log:
    return cleared_first("d g")


@finds("ownership.crossed", "backward-reaches-another-model", "error", OTHER, "also put gradients on d", names=["d"])
def the_discriminator_is_cleared_before_a_loss_that_comes_to_it_last() -> Log:
    return cleared_first("g d")


@quiet("ownership.crossed")
def an_encoder_is_cleared_first_to_keep_what_another_loss_brings() -> Log:
    tape = Tape("head", "encoder")
    for _ in range(3):
        tape.clear(CLEAR, "encoder")
        tape.forward()
        tape.clear(OTHER, "head")
        tape.passes(1, OTHER, names="head encoder")
        first_pass = tape.count
        tape.step(optimizer=0)
        tape.passes(1, names="encoder")
        crossing = Crossing(("encoder",), (first_pass, tape.count), at(OTHER), trail(OTHER), trail(BACKWARD))
        tape.step(optimizer=1, crossed=crossing)
    return tape.log()


def cleared_between(names: str = "d", second: str = "g d", both: bool = False, **fields: Any) -> Log:
    """Both losses go backward, `names` being cleared between them, and then both optimizers step."""
    tape = Tape("g", "d")
    for _ in range(3):
        tape.passes(1, OTHER)
        told = {key: {tape.count: signs} for key, signs in fields.items() if key == "against"}
        tape.clear(IF, names)
        tape.forward()
        tape.backward(BACKWARD, second, **(fields | told))
        tape.step(optimizer=0)
        if not both:
            tape.step(optimizer=1)
        tape.clear(lost=0, lost_names=())
    return tape.log({"d": {"by_hand": both}})  # what no optimizer steps is read


@finds(
    "ownership.meant_for_another",
    "backward-reaches-another-model",
    "warning",
    BACKWARD,
    "What train.py:8 had put on d was cleared at train.py:11, before this backward() filled them.",
    "But it also adds to g, and there it undoes the other pass",
    "all 48 gradients that were looked at have opposite signs; SGD #1 (train.py:1) used both, in 3 steps",
    remedy="Detach what this loss is computed from where it comes to the other model, or name what it is for: "
    "loss.backward(inputs=list(model.parameters())).",
    names=["g"],
    steps=[0, 1, 2],
)
def the_critics_loss_undoes_the_generators() -> Log:
    return cleared_between(against=16)


def frozen_meanwhile(against: int, first: str = "g", line: int = OTHER) -> Log:
    """The second model is frozen while the first loss goes backward, and gets the second one alone."""
    tape = Tape("g", "d")
    for _ in range(3):
        tape.backward(line, first)
        tape.forward()
        tape.backward(BACKWARD, "g d", against={tape.count: against})
        tape.step(optimizer=0)
        tape.step(optimizer=1)
        tape.clear(lost=0, lost_names=())
    return tape.log()


@finds(
    "ownership.meant_for_another",
    "backward-reaches-another-model",
    "warning",
    BACKWARD,
    "This backward() puts gradients on d, where train.py:8 has put none. But it also adds to g, and there it",
    "all 48 gradients that were looked at have opposite signs; SGD #1 (train.py:1) used both, in 3 steps",
    remedy="Detach what this loss is computed from where it comes to the other model, or name what it is for: "
    "loss.backward(inputs=list(model.parameters())).",
    names=["g"],
)
def the_critics_loss_undoes_the_generators_for_which_the_critic_was_frozen() -> Log:
    return frozen_meanwhile(16)


@quiet("ownership.meant_for_another")
def a_second_loss_reaches_a_head_as_well() -> Log:
    return frozen_meanwhile(0)


@quiet("ownership.meant_for_another")
def both_losses_reach_what_both_optimizers_hold() -> Log:
    return frozen_meanwhile(16, first="g d")


@finds(
    "ownership.meant_for_another",
    "backward-reaches-another-model",
    "warning",
    BACKWARD,
    "it also adds to g, from whose gradients its loss is computed; SGD #1",
    remedy="Detach what this loss is computed from where it comes to the other model, or name what it is for: "
    "loss.backward(inputs=list(model.parameters())).",
    names=["g"],
)
def the_weights_of_losses_are_balanced_by_gradients_of_what_the_losses_train() -> Log:
    return cleared_between(of_gradients=("g",))


@quiet("ownership.meant_for_another")
def two_losses_train_a_trunk_and_a_head_is_cleared_between_them() -> Log:
    return cleared_between(against=0)


@quiet("ownership.meant_for_another")
def two_losses_whose_common_graph_was_not_looked_at() -> Log:
    return cleared_between()


@quiet("ownership.meant_for_another")
def two_signs_are_opposite_by_chance() -> Log:
    return cleared_between(against=1)


@quiet("ownership.meant_for_another")
def a_penalty_on_gradients_of_what_it_trains() -> Log:
    return cleared_between(of_gradients=("d",))


@quiet("ownership.meant_for_another")
def the_critics_loss_reaches_the_critic_alone() -> Log:
    return cleared_between(second="d", against=16)


@quiet("ownership.meant_for_another")
def nobody_steps_what_was_cleared_between() -> Log:
    return cleared_between(both=True, against=16)


@finds(
    "ownership.adversaries",
    "backward-reaches-another-model",
    "warning",
    BACKWARD,
    "This backward() goes through Disc.w on its way to another optimizer's parameters, and leaves gradients there. "
    "SGD #2 (train.py:1) used them together with those of its own loss, in 3 steps.",
    remedy="Clear its gradients before its own loss goes backward, or freeze it, requires_grad_(False), while the "
    "other model's does.",
    names=["Disc.w"],
    steps=[0, 1, 2],
)
def the_generators_loss_fills_the_discriminator_before_both_step() -> Log:
    return both_step_last()


@quiet("ownership.adversaries")
def the_discriminator_is_frozen_while_the_generators_loss_goes_backward() -> Log:
    return both_step_last(through="g")


@quiet("ownership.adversaries")
def the_discriminator_is_cleared_before_its_own_loss_and_both_step_last() -> Log:
    return both_step_last(cleared=True)


@quiet("ownership.adversaries")
def a_decoder_has_a_loss_of_its_own_beside_that_of_both() -> Log:
    return both_step_last(model="Decoder")


@quiet("ownership.adversaries")
def a_gradient_reversal_trains_both_by_each_line() -> Log:
    return both_step_last(own="Disc.w g")


def both_step_last(through: str = "Disc.w g", own: str = "Disc.w", cleared: bool = False, model: str = "Disc") -> Log:
    """A generator and a discriminator that step side by side, after the losses of both."""
    tape = Tape("g", "Disc.w")
    for _ in range(3):
        tape.passes(1, names=through)
        if cleared:
            tape.clear(names="Disc.w")
        tape.passes(1, OTHER, names=own)
        tape.step()
        tape.step(OTHER, 1)
        tape.clear()
    return tape.log({"Disc.w": {"model": model}})


@quiet("ownership.crossed")
def the_discriminator_is_cleared_before_its_own_loss() -> Log:
    return adversarial(cleared=True)


@quiet("ownership.crossed")
def two_heads_share_an_encoder_that_steps_on_both() -> Log:
    tape = Tape("one", "two", "encoder")
    for _ in range(3):
        tape.passes(1, names="one encoder")
        first_pass = tape.count
        tape.step(optimizer=0)
        tape.passes(1, OTHER, names="two encoder")
        tape.step(optimizer=1)
        crossing = Crossing(("encoder",), (first_pass, tape.count), at(BACKWARD), trail(BACKWARD), trail(OTHER))
        tape.step(optimizer=2, crossed=crossing)
        tape.clear()
    return tape.log()


@quiet("ownership.crossed")
def one_line_goes_backward_for_a_slow_and_a_fast_optimizer() -> Log:
    tape = Tape("fast", "slow")
    for _ in range(3):
        tape.passes(1)
        first_pass = tape.count
        tape.step(optimizer=0)
        tape.clear(names="fast")
        tape.passes(1)
        tape.step(optimizer=0)
        crossing = Crossing(("slow",), (first_pass, tape.count), at(BACKWARD), trail(BACKWARD), trail(BACKWARD))
        tape.step(optimizer=1, crossed=crossing)
        tape.clear()
    return tape.log()


def _attack(onto: int, alone: bool = False) -> Log:
    """An attack of five passes, so many of which add to a gradient that was read before."""
    tape = Tape("w b")
    for number in range(5):
        if not alone:
            tape.backward(OTHER)
        tape.write(InputGradient, EDIT, backward=tape.count, onto_read=number < onto)
        tape.clear(lost=0, lost_names=())
    tape.passes(1)
    tape.step()
    return tape.log()


@finds(
    "order.inputs",
    "input-gradient-piles-up",
    "warning",
    OTHER,
    f"read at {at(EDIT)} before",
    "3 times",
    read_at=at(EDIT),
)
def an_attack_adds_up_the_gradients_of_its_input() -> Log:
    return _attack(3)


@quiet("order.inputs")
def an_attack_adds_up_two_gradients_of_its_input() -> Log:
    return _attack(2)


@quiet("order.inputs")
def an_attack_clears_the_gradient_of_its_input() -> Log:
    return _attack(0)


def attacked(cleared: bool = False, again: bool = True) -> Log:
    """A backward for the gradient of the input, and then training on what was made of it."""
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(1, OTHER)
        tape.write(InputGradient, EDIT, backward=tape.count)
        if cleared:
            tape.clear(lost=0, lost_names=())
        if again:
            tape.forward()
        tape.backward()
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "ownership.input_gradients",
    "input-gradient-pollutes-parameters",
    "error",
    OTHER,
    "for the gradient of an input (train.py:9)",
    step=0,
)
def an_attack_leaves_gradients_on_the_parameters() -> Log:
    return attacked()


def attacked_late(**fields: Any) -> Log:
    """An attack in each of many windows; the losses of the first ones are looked at, and tell what `fields` say."""
    tape = Tape("w b")
    for _ in range(LOOKED_AT):
        for line in (OTHER, BACKWARD):
            tape.forward()
            tape.backward(line, **(fields if tape.count < LOOKED_AT else {}))
            if line == OTHER:
                tape.write(InputGradient, EDIT, backward=tape.count)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "ownership.input_gradients", "input-gradient-pollutes-parameters", "error", OTHER, "for the gradient of an input"
)
def an_attack_in_each_of_many_windows_leaves_gradients() -> Log:
    return attacked_late()


@quiet("ownership.input_gradients")
def what_attacks_leave_is_a_share_of_each_step_also_behind_the_losses_that_are_looked_at() -> Log:
    return attacked_late(divisor=2.0)


def shown(read_at: int = 0, reads: tuple[int, ...] = (0,), own: bool = False, **fields: Any) -> Log:
    """Two passes of one forward in a window, each at its line; the input gradients of some are read as numbers. With
    `own` the model runs once more for the second."""
    tape = Tape("w b")
    for _ in range(2):
        tape.forward()
        for number, line in enumerate((OTHER, BACKWARD)):
            if own and number:
                tape.forward()
            tape.backward(line, **(fields if number == read_at else {}))
            if number in reads:
                tape.write(InputGradient, EDIT, backward=tape.count, as_number=True)
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "ownership.input_gradients",
    "input-gradient-pollutes-parameters",
    "warning",
    OTHER,
    "for the gradient of an input (train.py:9), of which a number is made, but",
    step=0,
)
def a_pass_through_outputs_before_the_one_that_trains_is_there_for_a_number() -> Log:
    return shown(of_outputs=True)


@quiet("ownership.input_gradients")
def the_input_gradient_of_the_first_of_two_losses_is_shown() -> Log:
    return shown()


@quiet("ownership.input_gradients")
def the_input_gradient_of_the_first_loss_is_shown_and_the_second_has_a_forward_of_its_own() -> Log:
    return shown(own=True)


@finds("ownership.input_gradients", "input-gradient-pollutes-parameters", "warning", BACKWARD, "a number is made")
def a_pass_behind_the_one_that_trains_has_a_forward_of_its_own() -> Log:
    return shown(1, (1,), own=True)


@finds("ownership.input_gradients", "input-gradient-pollutes-parameters", "warning", BACKWARD, "a number is made")
def a_pass_behind_the_one_that_trains_goes_through_picked_outputs() -> Log:
    return shown(1, (1,), of_outputs=True)


@quiet("ownership.input_gradients")
def the_input_gradient_of_two_losses_is_shown_at_the_end() -> Log:
    return shown(1, (1,))


@quiet("ownership.input_gradients")
def the_input_gradients_of_both_losses_are_shown() -> Log:
    return shown(0, (0, 1), of_outputs=True)


@quiet("ownership.input_gradients")
def a_number_is_made_of_the_input_gradient_of_the_only_pass() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(1)
        tape.write(InputGradient, EDIT, backward=tape.count, as_number=True)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("ownership.input_gradients")
def the_gradients_of_the_attack_are_cleared() -> Log:
    return attacked(cleared=True)


@quiet("ownership.input_gradients")
def the_input_gradient_becomes_a_term_of_the_loss() -> Log:
    return attacked(again=False)


@quiet("ownership.input_gradients")
def the_input_gradient_of_the_last_pass_is_read() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(1, OTHER)
        tape.passes(1)
        tape.write(InputGradient, EDIT, backward=tape.count)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("ownership.input_gradients")
def the_line_of_the_attack_trains_too() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(1, OTHER)
        tape.write(InputGradient, EDIT, backward=tape.count)
        tape.passes(1)
        tape.passes(1, OTHER)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("ownership.input_gradients")
def every_attack_is_a_share_of_the_gradient() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.forward()
        tape.backward(OTHER, divisor=2.0)
        tape.write(InputGradient, EDIT, backward=tape.count)
        tape.forward()
        tape.backward(divisor=2.0)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("ownership.input_gradients")
def training_goes_on_at_the_line_of_the_attack() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        tape.passes(1)
        tape.write(InputGradient, EDIT, backward=tape.count)
        tape.passes(1)
        tape.step()
        tape.clear()
    return tape.log()


# ------------------------------------------------------------------ graphs: what is written through .data


@finds(
    "graphs.unseen_writes",
    "result-written-by-data",
    "warning",
    OTHER,
    "This line writes into a tensor through .data, and 3 passes looked at went backward",
    passes=3,
)
def a_result_is_clamped_through_data() -> Log:
    return windows(1, 1, 1).log(unseen_writes=(UnseenWrite(at(OTHER), 3),))


@quiet("graphs.unseen_writes")
def a_result_is_written_through_data_and_nothing_is_trained() -> Log:
    return Tape("w b").log(unseen_writes=(UnseenWrite(at(OTHER), 3),))


@quiet("graphs.unseen_writes")
def nothing_is_written_through_data() -> Log:
    return windows(1, 1, 1).log()


# ------------------------------------------------------------------ graphs: weights that are written midway


def written_midway(*hits: bool) -> Log:
    tape = Tape("w b")
    for hit in hits:
        tape.passes(1, **({"written": ("w",), "written_at": at(OTHER)} if hit else {}))
        tape.step()
        tape.clear()
    return tape.log()


@finds(
    "graphs.written_midway",
    "weights-written-before-backward",
    "warning",
    OTHER,
    "w was not the same before the forward and at the backward of train.py:7, in 2 passes looked at",
    names=["w"],
    passes=[1, 3],
)
def a_weight_is_written_between_forward_and_backward() -> Log:
    return written_midway(True, False, True)


@quiet("graphs.written_midway")
def a_weight_is_written_once_between_forward_and_backward() -> Log:
    return written_midway(True, False, False)


# ------------------------------------------------------------------ standing: what is restored

UNSAVED = UnsavedKey(at(OTHER), "optimizer", "opt", "optimizer_state")


@finds(
    "standing.not_restored",
    "restored-by-another-key",
    "warning",
    OTHER,
    "The state of optimizer is loaded if a checkpoint has the key 'opt'. It is saved by the key 'optimizer_state', ",
    remedy="Ask for 'optimizer_state', and without a condition: a key that is missing should be an error.",
)
def a_state_is_asked_for_by_another_key() -> Log:
    return windows(1, 1).log(unsaved_key=UNSAVED)


@finds(
    "standing.not_restored",
    "state-not-restored",
    "warning",
    LAYER,
    "The state of adam is saved beside them by the key 'adam', and nothing reads that",
    remedy="adam.load_state_dict(checkpoint['adam'])",
)
def a_run_goes_on_without_the_state_of_its_optimizer() -> Log:
    return windows(1, 1).log(left_in_checkpoint=UnsavedKey(at(LAYER), "adam", "", "adam"))


@finds(
    "standing.not_restored",
    "state-not-restored",
    "warning",
    LAYER,
    "resume() loads the state of adam, which is saved by the key 'adam', where it is given one, and is given none here",
    remedy="Make adam before this line, and hand it over.",
)
def a_function_that_would_load_the_state_is_not_given_the_optimizer() -> Log:
    return windows(1, 1).log(left_in_checkpoint=UnsavedKey(at(LAYER), "adam", "", "adam", "resume"))


@quiet("standing.not_restored")
def a_state_is_asked_for_by_another_key_and_nothing_is_trained() -> Log:
    return Tape("w b").log(unsaved_key=UNSAVED)


# ------------------------------------------------------------------ ownership: parameters that nothing reaches


def part(reached: str, *optimizers: str, loose: str = "", steps: tuple[int, ...] = (0,), **fields: Any) -> Tape:
    """A right loop whose backward passes reach some of the parameters alone."""
    tape = Tape(*optimizers, loose=loose)
    for _ in range(3):
        tape.passes(1, names=reached)
        for optimizer in steps:
            tape.step(optimizer=optimizer, **fields)
        tape.clear()
    return tape


@finds(
    "ownership.never",
    "sync-never-re-enabled",
    "error",
    STEP,
    "3 backward passes ran, and every step of SGD found no gradient",
    backwards=3,
)
def the_sharded_gradients_are_never_reduced() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.forward()
        tape.write(Backward, BACKWARD, pass_number=1)
        tape.step()
    return tape.log(distributed={"fsdp": True})


@finds(
    "ownership.never",
    "layer-replaced-after-optimizer",
    "error",
    MADE,
    "SGD holds b.w, which no model uses any more, while b.h, made at train.py:2, gets gradients that no optimizer uses",
    ghosts=["b.w"],
    orphans=["b.h"],
    made_at=at(LAYER),
)
def a_layer_was_replaced() -> Log:
    tape = part("w b.h", "w b.w", loose="b.h")
    return tape.log({"b.w": {"in_model": False}, "b.h": {"made_at": at(LAYER)}})


def renamed(log: Log, **names: str) -> Log:
    """The same log, in which some parameters have the names of others."""
    return replace(log, parameters=tuple(replace(p, name=names.get(p.name, p.name)) for p in log.parameters))


@finds(
    "ownership.never",
    "layer-replaced-after-optimizer",
    "error",
    MADE,
    "SGD holds the old b, which no model uses any more, while the new b, made at train.py:13, gets gradients",
    orphans=["b"],
    made_at=at(CLEAR),
)
def a_layer_was_replaced_beside_a_fixed_model_that_gradients_pass_through() -> Log:
    tape = part("fixed w h", "w b", loose="fixed h")
    fixed = {"model": "Critic", "training": False, "made_at": at(LAYER)}
    return renamed(tape.log({"fixed": fixed, "b": {"in_model": False}, "h": {"made_at": at(CLEAR)}}), h="b")


def grown(past: tuple[int, ...] = (0,), made: int = 2, steps: int = 3, owner: str = "w head", **fields: Any) -> Log:
    """An optimizer for `w` steps by passes that reach the head, too, which another one holds that is made later."""
    tape = Tape("w", owner)
    for optimizer in (0, 1):
        for _ in range(steps):
            tape.clear(names="w head")
            tape.passes(1)
            tape.step(optimizer=optimizer)
    log = tape.log({"head": {"stepped_past": past, "made": made, "made_at": at(LAYER)} | fields})
    entries = tuple(replace(one, made=1 + 2 * one.number, made_at=at(MADE + one.number)) for one in log.optimizers)
    return replace(log, optimizers=entries)


@finds(
    "ownership.held_later",
    "layer-replaced-after-optimizer",
    "warning",
    MADE,
    "head became part of the model after SGD #1 (train.py:1) was made. Its steps used passes that had reached it, and "
    "moved the rest alone, until SGD #2 (train.py:2) was made, which holds it.",
    orphans=["head"],
    made_at=at(LAYER),
)
def a_layer_comes_behind_its_optimizer_and_a_later_one_holds_it() -> Log:
    return grown()


@quiet("ownership.held_later")
def a_layer_was_there_before_its_optimizer_which_leaves_it_out_and_a_later_one_holds_it() -> Log:
    return grown(made=0)


@quiet("ownership.held_later")
def a_layer_comes_behind_two_optimizers_and_was_made_after_the_one_that_holds_it() -> Log:
    return grown(made=4)


@quiet("ownership.held_later")
def a_layer_that_comes_later_is_not_reached_before_its_optimizer_is_made() -> Log:
    return grown(past=())


@quiet("ownership.held_later")
def a_layer_of_another_model_comes_later_with_an_optimizer_of_its_own() -> Log:
    return grown(model="Critic")


@quiet("ownership.held_later")
def an_optimizer_has_stepped_twice_before_the_one_that_holds_a_new_layer() -> Log:
    return grown(steps=2)


def test_what_else_no_optimizer_holds_is_said_beside_a_layer_that_was_replaced() -> None:
    tape = part("w predictor h", "w b", loose="predictor h")
    fields = {
        "b": {"in_model": False},
        "h": {"made_at": at(CLEAR)},
        "predictor": {"shape": (7, 2), "made_at": at(LAYER)},
    }
    found = list(ownership.never(View(renamed(tape.log(fields), h="b"))))
    assert [(one.misconception, one.severity) for one in found] == [
        ("layer-replaced-after-optimizer", "error"),
        ("gradients-nobody-uses", "warning"),
    ]
    assert found[1].text.startswith("predictor gets gradients, in train mode")


@finds(
    "ownership.never", "layer-replaced-after-optimizer", "error", MADE, "while Net2.b gets gradients", ghosts=["Net1.b"]
)
def a_model_was_made_again() -> Log:
    first = {"in_model": False, "model": "Net1", "shape": (3, 2)}
    tape = part("w Net2.b", "w Net1.b", loose="Net2.b")
    return tape.log({"w": {"made": 1}, "Net1.b": first, "Net2.b": {"model": "Net2", "shape": (3, 2), "made": 5}})


def met_late(old: tuple[int, ...], new: tuple[int, ...], **fields: Any) -> Log:
    """Nobody knows what an idle parameter of the optimizer was in."""
    facts = {"b": {"in_model": False, "model": "", "shape": old}, "h": {"shape": new, "training": False}}
    return part("w h", "w b", loose="h").log(facts | {"w": fields})


@finds("ownership.never", "layer-replaced-after-optimizer", "error", MADE, "SGD holds b, which no", orphans=["h"])
def a_head_was_replaced_before_the_ledger_was_opened() -> Log:
    return met_late((10, 64), (3, 64))


@finds(
    "ownership.never",
    "gradients-nobody-uses",
    "info",
    None,
    "h gets gradients, and no optimizer holds it.",
    names=["h"],
)
def a_scale_was_made_before_the_ledger_was_opened_and_is_not_used() -> Log:
    return met_late((10,), (3, 64))


def with_an_empty_group(**fields: Any) -> Log:
    """What stands in front of what is trained, beside a group that held nothing."""
    made = (OptimizerFacts(0, "SGD", 3, at(MADE), empty_group=True, **fields),)
    return part("h w b", "w b", loose="h").log({"h": {"position": 0}}, optimizers=made)


@finds(
    "ownership.never",
    "gradients-nobody-uses",
    "warning",
    MADE,
    "By the text fast is filled with parameters, and nothing reads it.",
    names=["h"],
    filled_at=at(OTHER),
)
def a_list_of_parameters_was_given_to_nobody() -> Log:
    return with_an_empty_group(filled_in_vain=("fast", at(OTHER)))


@finds("ownership.never", "gradients-nobody-uses", "warning", OTHER, "parameters of a part of a model.", names=["h"])
def the_groups_of_an_optimizer_were_picked_from_a_part() -> Log:
    return with_an_empty_group(picked_at=at(OTHER))


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "groups is empty: a generator", names=["h"])
def a_group_was_given_nothing() -> Log:
    return with_an_empty_group()


@finds("ownership.never", "gradients-nobody-uses", "warning", OTHER, "had been gone through before, at", names=["h"])
def a_group_was_given_a_generator_that_was_used_up() -> Log:
    return with_an_empty_group(used_up_at=at(OTHER))


@finds(
    "ownership.never",
    "gradients-nobody-uses",
    "info",
    None,
    "h gets gradients, and no optimizer holds it.",
    names=["h"],
)
def a_tensor_of_an_optimizer_was_never_in_a_model() -> Log:
    return met_late((3, 64), (3, 64), made=1)


@finds(
    "ownership.never",
    "gradients-nobody-uses",
    "info",
    None,
    "h gets gradients, and no optimizer holds it.",
    names=["h"],
)
def a_layer_was_taken_out_and_another_one_is_not_trained() -> Log:
    tape = part("w h", "w b", loose="h")
    return tape.log({"w": {"made": 1}, "b": {"in_model": False}, "h": {"model": "Critic", "training": False}})


def calls(*lines: tuple[int, str]) -> tuple[Place, ...]:
    """The calls that made a layer, innermost first."""
    return tuple(Place(FILE, line, function) for line, function in lines)


@finds(
    "ownership.never",
    "layer-replaced-after-optimizer",
    "error",
    MADE,
    "while b.h, made at train.py:6, gets gradients",
    made_at=Place(FILE, FORWARD, "resume"),
)
def a_model_was_made_again_elsewhere_by_the_same_function() -> Log:
    first = {"in_model": False, "made_by": calls((LAYER, "build"), (MADE, "__init__"), (STEP, "main"))}
    again = {"made_at": at(LAYER), "made_by": calls((LAYER, "build"), (FORWARD, "resume"), (CLEAR, "main"))}
    return part("w b.h", "w b.w", loose="b.h").log({"b.w": first, "b.h": again})


@finds(
    "ownership.never",
    "layer-replaced-after-optimizer",
    "error",
    MADE,
    "while b.h, made at train.py:13, gets gradients",
    made_at=at(CLEAR),
)
def a_model_was_made_again_in_the_same_function() -> Log:
    first = {"in_model": False, "made_by": (*calls((LAYER, "build")), at(STEP))}
    again = {"made_at": at(LAYER), "made_by": (*calls((LOADER, "build")), at(CLEAR))}
    return part("w b.h", "w b.w", loose="b.h").log({"b.w": first, "b.h": again})


@finds("ownership.never", "layer-replaced-after-optimizer", "warning", STEP, "h became part of the model after SGD")
def a_function_made_the_optimizer_before_another_one_made_the_layer() -> Log:
    tape = part("w b h", "w b", loose="h")
    first = calls((MADE, "configure"), (STEP, "main"))
    then = calls((LAYER, "adapt"), (FORWARD, "main"))
    made = (OptimizerFacts(0, "SGD", 3, at(MADE), made=4, made_by=first),)
    return tape.log({"h": {"made_at": at(LAYER), "made": 5, "made_by": then}}, optimizers=made)


@finds("ownership.never", "layer-replaced-after-optimizer", "warning", MADE, "h became part of the model after SGD")
def one_line_led_to_the_optimizer_and_to_the_layer() -> Log:
    tape = part("w b h", "w b", loose="h")
    first = calls((MADE, "train"), (STEP, "main"))
    then = calls((LAYER, "new_head"), (STEP, "main"))
    made = (OptimizerFacts(0, "SGD", 3, at(MADE), made=4, made_by=first),)
    return tape.log({"h": {"made_at": at(LAYER), "made": 5, "made_by": then}}, optimizers=made)


@finds("ownership.never", "layer-replaced-after-optimizer", "warning", MADE, "h became part of the model after SGD")
def an_object_made_its_optimizer_before_another_function_made_the_layer() -> Log:
    tape = part("w b h", "w b", loose="h")
    first = calls((MADE, "__init__"), (STEP, "main"))
    then = calls((LAYER, "adapt"), (FORWARD, "main"))
    made = (OptimizerFacts(0, "SGD", 3, at(MADE), made=4, made_by=first),)
    return tape.log({"h": {"made_at": at(LAYER), "made": 5, "made_by": then}}, optimizers=made)


@finds(
    "ownership.never",
    "layer-replaced-after-optimizer",
    "warning",
    MADE,
    "h became part of the model after SGD was made (train.py:2)",
    orphans=["h"],
)
def a_layer_came_too_late() -> Log:
    tape = part("w b h", "w b", loose="h")
    made = (OptimizerFacts(0, "SGD", 3, at(MADE), made=4),)
    return tape.log({"h": {"made_at": at(LAYER), "made": 5}}, optimizers=made)


@finds(
    "ownership.never",
    "gradients-nobody-uses",
    "info",
    None,
    "h gets gradients, and no optimizer holds it.",
    names=["h"],
)
def a_layer_came_late_and_was_measured_and_no_step_followed() -> Log:
    tape = part("w b", "w b", loose="h")
    tape.passes(1, names="w b h")
    made = (OptimizerFacts(0, "SGD", 3, at(MADE), made=4),)
    return tape.log({"h": {"made_at": at(LAYER), "made": 5}}, optimizers=made)


@finds("ownership.never", "layer-replaced-after-optimizer", "warning", LAYER, "h became part of the model after SGD")
def a_layer_was_replaced_while_training_went_on() -> Log:
    tape = part("w b h", "w b", loose="h")
    made = (OptimizerFacts(0, "SGD", 3, at(MADE), made=4),)
    return tape.log({"h": {"made_at": at(LAYER), "made": 5, "made_after": 2}}, optimizers=made)


@finds(
    "ownership.never",
    "checkpoint-without-input-gradient",
    "error",
    FORWARD,
    "b run inside a reentrant checkpoint",
    "none reached them in 3 steps",
    names=["b"],
)
def a_checkpoint_whose_input_needs_no_gradient() -> Log:
    return part("w", "w b").log({"b": {"in_checkpoint": True}})


@finds(
    "ownership.never",
    "graph-cut",
    "warning",
    FORWARD,
    "b ran in every forward and belongs to SGD, but no gradient reached it in 3 steps",
    names=["b"],
)
def one_layer_gets_no_gradient() -> Log:
    return part("w", "w b").log()


@finds(
    "ownership.never",
    "graph-cut",
    "warning",
    OTHER,
    "b belongs to SGD, but no gradient reached it in 3 steps. What it computes leaves the graph at train.py:8",
    remedy="If that is not meant, take the detach(), .item(), .data, .numpy() or no_grad() away there; if it is, "
    "leave these parameters out of the optimizer.",
    names=["b"],
)
def the_number_of_a_parameter_is_used_in_its_place() -> Log:
    return part("w", "w b").log({"b": {"ran": 0, "cut_at": at(OTHER), "in_model": False}})


@quiet("ownership.never")
def a_parameter_that_no_module_runs_with_is_not_used() -> Log:
    return part("w", "w b").log({"b": {"ran": 0, "in_model": False}})


@quiet("ownership.never")
def the_number_of_a_frozen_parameter_is_used() -> Log:
    return part("w", "w b").log({"b": {"ran": 0, "cut_at": at(OTHER), "requires_grad": False}})


@finds(
    "ownership.never",
    "graph-cut",
    "error",
    OTHER,
    "What they compute leaves the graph at train.py:8",
    remedy="If that is not meant, take the detach(), .item(), .data, .numpy() or no_grad() away there; if it is, "
    "leave these parameters out of the optimizer.",
    names=["b", "w"],
)
def the_whole_model_gets_no_gradient() -> Log:
    return part("x", "b w", loose="x").log({"w": {"cut_at": at(OTHER)}, "x": {"in_model": False}})


@finds(
    "ownership.never",
    "gradients-nobody-uses",
    "warning",
    MADE,
    "h gets gradients, in train mode, and no optimizer holds it",
    names=["h"],
)
def the_last_layer_was_left_out_of_the_optimizer() -> Log:
    return part("w b h", "w b", loose="h").log()


@finds(
    "ownership.never",
    "gradients-nobody-uses",
    "warning",
    RESTORED,
    "no optimizer holds it: the one that did was let go before it ever stepped",
)
def the_optimizer_of_a_layer_was_let_go() -> Log:
    return part("w b h", "w b", loose="h").log({"h": {"position": -1, "let_go_at": at(RESTORED)}})


@quiet("ownership.never")
def a_workers_gradients_are_stepped_elsewhere() -> Log:
    return part("w b h", "w b", loose="h").log({"h": {"lent": True}})


@finds("ownership.never", "gradients-nobody-uses", "warning", LAYER, "Net2.w gets gradients, in train mode")
def what_the_optimizer_is_given_was_put_together_before() -> Log:
    made = (OptimizerFacts(0, "SGD", 2, at(MADE), grouped_at=at(LAYER)),)
    return part("Net1.w Net2.w", "Net1.w", loose="Net2.w").log(
        {"Net1.w": {"model": "Net1"}, "Net2.w": {"model": "Net2"}}, optimizers=made
    )


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "Net2.w gets gradients, in train mode")
def what_the_optimizer_is_given_was_put_together_by_a_helper() -> Log:
    made = (OptimizerFacts(0, "SGD", 2, at(MADE), grouped_at=Place(FILE, LAYER, "helper")),)
    return part("Net1.w Net2.w", "Net1.w", loose="Net2.w").log(
        {"Net1.w": {"model": "Net1"}, "Net2.w": {"model": "Net2"}}, optimizers=made
    )


@finds("ownership.never", "gradients-nobody-uses", "warning", OTHER, "h gets gradients, in train mode")
def the_optimizer_of_an_earlier_phase_holds_more_of_the_list() -> Log:
    tape = Tape("w", "b", loose="h")
    for reached, optimizer in (("w", 0), ("w", 0), ("b h", 1), ("b h", 1)):
        tape.passes(1, names=reached)
        tape.step(optimizer=optimizer)
        tape.clear()
    made = (OptimizerFacts(0, "SGD", 1, at(MADE)), OptimizerFacts(1, "SGD", 1, at(OTHER)))
    return tape.log(
        {"w": {"position": 1}, "b": {"model": "Student"}, "h": {"position": 2}},
        optimizers=made,
    )


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "Net2.w gets gradients, in train mode")
def one_of_two_twins_was_left_out() -> Log:
    return part("Net1.w Net2.w", "Net1.w", loose="Net2.w").log(
        {"Net1.w": {"model": "Net1"}, "Net2.w": {"model": "Net2"}}
    )


@finds(
    "ownership.loose",
    "gradients-nobody-uses",
    "warning",
    MADE,
    "The loss puts gradients on log_vars, and no optimizer holds it.",
    "as 14 of them were seen to do",
    names=["log_vars"],
    backward_at=at(BACKWARD),
)
def the_weights_of_a_loss_are_left_out() -> Log:
    return windows(1, 1).log(loose=(LooseLeaf("log_vars", at(BACKWARD), 14),))


@finds(
    "ownership.loose",
    "gradients-nobody-uses",
    "warning",
    MADE,
    "puts gradients on a and b, and no optimizer holds them.",
    "as 9 of them were seen to do",
    names=["a", "b"],
)
def two_weights_of_a_loss_are_left_out() -> Log:
    return windows(1, 1).log(loose=(LooseLeaf("a", at(BACKWARD), 14), LooseLeaf("b", at(BACKWARD), 9)))


@finds("ownership.loose", "gradients-nobody-uses", "warning", BACKWARD, "puts gradients on alpha, and", names=["alpha"])
def the_weight_of_a_loss_is_left_out_of_two_optimizers() -> Log:
    tape = Tape("w b", "d")
    tape.passes(1)
    tape.step()
    tape.step(optimizer=1)
    return tape.log(loose=(LooseLeaf("alpha", at(BACKWARD), 14),))


@finds(
    "ownership.loose",
    "gradients-nobody-uses",
    "warning",
    LAYER,
    "puts gradients on Mixer.mix, and no optimizer holds it. What a module has as a plain tensor, or "
    "in a plain dict or list, is none of its parameters().",
    remedy="Make it an nn.Parameter.",
    names=["Mixer.mix"],
)
def a_plain_tensor_of_a_module_is_left_out() -> Log:
    return windows(1, 1).log(loose=(LooseLeaf("Mixer.mix", at(BACKWARD), 14, True, at(LAYER)),))


@finds(
    "ownership.loose",
    "gradients-nobody-uses",
    "warning",
    BACKWARD,
    "The loss puts gradients on a tensor, and",
    names=[],
)
def what_has_no_name_is_left_out() -> Log:
    return windows(1, 1).log(loose=(LooseLeaf("", at(BACKWARD), 14),))


@quiet("ownership.loose")
def what_no_optimizer_holds_may_be_stepped_by_hand() -> Log:
    return windows(1, 1).log(loose=(LooseLeaf("log_vars", at(BACKWARD), 14),), steps_by_hand=2)


@quiet("ownership.loose")
def nothing_is_left_out() -> Log:
    return windows(1, 1).log()


@finds(
    "ownership.never",
    "gradients-nobody-uses",
    "info",
    None,
    "h gets gradients, and no optimizer holds it.",
    names=["h"],
)
def gradients_pass_through_a_model_in_eval_mode() -> Log:
    return part("w b h", "w b", loose="h").log({"h": {"training": False}})


@finds(
    "ownership.never",
    "gradients-nobody-uses",
    "info",
    None,
    "h gets gradients, and no optimizer holds it.",
    names=["h"],
)
def what_stands_in_front_of_the_trained_part_is_not_trained() -> Log:
    return part("w b h", "w b", loose="h").log({"h": {"position": -1}})


@finds("ownership.never", "gradients-nobody-uses", "info", None, "block.h gets gradients, and no optimizer")
def what_stands_beside_its_adapter_is_not_trained() -> Log:
    return part("block.w block.h", "block.w", loose="block.h").log()


@finds("ownership.never", "gradients-nobody-uses", "info", None, "Critic.0.w gets gradients, and no optimizer")
def gradients_pass_through_another_model() -> Log:
    return part("Net.w Critic.0.w", "Net.w", loose="Critic.0.w").log(
        {"Critic.0.w": {"model": "Critic", "training": False}}
    )


@finds("ownership.never", "gradients-nobody-uses", "info", None, "h gets gradients, and no optimizer holds it.")
def a_plain_tensor_gets_gradients_behind_the_model() -> Log:
    return part("w b h", "w b", loose="h").log({"h": {"is_parameter": False}})


@quiet("ownership.never")
def an_old_layer_stays_in_the_optimizer_and_no_new_one_is_there() -> Log:
    return part("w", "w b").log({"b": {"in_model": False}})


@quiet("ownership.never")
def a_layer_of_no_model_gets_its_gradient_by_hand() -> Log:
    return part("w h", "w b", loose="h").log({"b": {"in_model": False, "given": True}})


@quiet("ownership.never")
def a_tensor_of_no_model_gets_no_gradient() -> Log:
    return part("w h", "w b", loose="h").log({"b": {"in_model": False, "is_parameter": False}})


@quiet("ownership.never")
def a_tensor_of_no_model_gets_gradients() -> Log:
    return part("w b h", "w b", loose="h").log({"h": {"in_model": False}})


@finds("ownership.never", "gradients-nobody-uses", "info", None, "Judge.0.h gets gradients, and no optimizer")
def a_layer_of_another_model_comes_late_and_is_not_trained() -> Log:
    made = (OptimizerFacts(0, "SGD", 3, at(MADE), made=4),)
    late = {"made_at": at(LAYER), "made": 5, "model": "Judge", "training": False}
    tape = part("w b Judge.0.h", "w b", loose="Judge.0.h")
    return tape.log({"Judge.0.h": late}, optimizers=made)


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "Weighting.s gets gradients, in train mode")
def the_weights_of_several_losses_are_left_out() -> Log:
    facts = {"model": "Weighting", "training": True}
    return part("w Weighting.s", "w", loose="Weighting.s").log({"Weighting.s": facts})


COPY = "this line put its model in the place of one of its kind, which SGD had trained and still holds."
LOADED = "Load the weights into the model that is there, model.load_state_dict(saved), or make a new optimizer."


@finds("ownership.never", "gradients-nobody-uses", "warning", LAYER, COPY, remedy=LOADED)
def a_copy_takes_the_place_of_the_trained_model() -> Log:
    return copied(deposits=3)


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "Net2.w gets gradients, in train mode, and no")
def a_second_model_takes_a_name_of_one_that_was_never_trained() -> Log:
    return copied(deposits=0)


def copied(deposits: int) -> Log:
    facts = {
        "Net1.w": {"model": "Net1", "deposits": deposits, "given": True},
        "Net2.w": {"model": "Net2", "replaced_at": at(LAYER)},
    }
    return part("Net1.w Net2.w", "Net1.w", loose="Net2.w").log(facts)


VECTORS = {
    "a.w": {"shape": (4, 4), "position": 0},
    "a.b": {"shape": (4,), "position": 1},
    "c.w": {"shape": (4, 4), "position": 2},
    "c.b": {"shape": (4,), "position": 3},
}


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "a.b and c.b get gradients, in train mode")
def all_vectors_are_left_out_and_clipped_with_the_rest() -> Log:
    return matrices("a.w a.b c.w c.b")


@finds("ownership.never", "gradients-nobody-uses", "info", None, "a.b and c.b get gradients, and no optimizer")
def all_vectors_are_left_out_and_not_clipped() -> Log:
    return matrices("a.w c.w")


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "a.b and c.b get gradients, in train mode")
def all_vectors_are_left_out_by_a_text_that_asks_for_dimensions() -> Log:
    return matrices("a.w c.w", optimizers=(OptimizerFacts(0, "SGD", 3, at(MADE), by_dimensions=True),))


def matrices(clipped: str, **fields: Any) -> Log:
    """Matrices alone are in the optimizer, and these parameters are clipped."""
    tape = Tape("a.w c.w", loose="a.b c.b")
    for _ in range(3):
        tape.passes(1)
        tape.clip(names=clipped)
        tape.step()
        tape.clear()
    return tape.log(VECTORS, **fields)


def between(size: int = 2, **left: Any) -> Log:
    """A part of a model that is not trained, beside parts of the same block before it and another block behind."""
    tape = Tape("a.body.w b.w", loose="a.mean.w")
    for _ in range(3):
        tape.passes(1)
        tape.step()
        tape.clear(names="a.body.w b.w")
    facts = {
        name: {"position": at, "model": "", "shape": (9,)} for at, name in enumerate(("a.body.w", "a.mean.w", "b.w"))
    }
    return tape.log(facts | {"a.mean.w": {"position": 1, "model": "", "shape": (size,), **left}})


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "a.mean.w gets gradients, in train mode")
def a_small_part_stands_between_what_is_trained() -> Log:
    return between()


@finds("ownership.never", "gradients-nobody-uses", "info", None, "a.mean.w gets gradients, and no optimizer")
def a_large_part_stands_between_what_is_trained() -> Log:
    return between(size=9)


@finds("ownership.never", "gradients-nobody-uses", "info", None, "a.mean.w gets gradients, and no optimizer")
def a_small_part_between_what_is_trained_is_read() -> Log:
    return between(read=True)


def cleared_by_its_owner(rounds: int = 4, **facts: Any) -> Log:
    """An encoder that the actor's optimizer holds, and that the critic's loss alone reaches."""
    tape = Tape("actor.w encoder.w", "critic.w")
    for _ in range(rounds):
        tape.clear(names="critic.w")
        tape.passes(1, OTHER, names="critic.w encoder.w")
        tape.step(OTHER, 1)
        tape.clear(names="actor.w encoder.w")
        tape.passes(1, names="actor.w")
        tape.step()
    return tape.log({"encoder.w": facts})


@finds(
    "ownership.always_cleared",
    "gradients-nobody-uses",
    "warning",
    MADE,
    "encoder.w gets gradients from the passes that SGD #2 (train.py:1) steps with, and SGD #1 (train.py:1), which",
    "never found one in 4 steps",
    remedy="If they are to be trained by that loss, give them to SGD #2 (train.py:1); if not, detach what they "
    "compute.",
    names=["encoder.w"],
)
def what_the_critic_trains_is_held_by_the_actors_optimizer() -> Log:
    return cleared_by_its_owner()


@quiet("ownership.always_cleared")
def what_the_critic_trains_is_held_by_another_and_read() -> Log:
    return cleared_by_its_owner(read=True)


@quiet("ownership.always_cleared")
def two_steps_have_not_found_it_yet() -> Log:
    return cleared_by_its_owner(2)


@finds("ownership.never", "gradients-nobody-uses", "info", None, "Linear.weight gets gradients, and no optimizer")
def the_program_looks_at_the_gradients_of_another_model() -> Log:
    facts = {"model": "Linear", "training": True, "read": True}
    return part("w Linear.weight", "w", loose="Linear.weight").log({"Linear.weight": facts})


@finds(
    "ownership.never", "gradients-nobody-uses", "warning", MADE, "a.x gets gradients, in train mode, and no optimizer"
)
def what_was_frozen_when_the_optimizer_was_made_is_not_held_by_it() -> Log:
    return part("a.x w", "w", loose="a.x").log({"a.x": {"thawed": True, "training": True}})


@finds(
    "ownership.never", "gradients-nobody-uses", "warning", MADE, "a.x gets gradients, in train mode, and no optimizer"
)
def what_was_frozen_is_passed_over_by_a_helper() -> Log:
    made = (OptimizerFacts(0, "SGD", 3, at(OTHER), made_by=(at(MADE), at(OTHER))),)
    facts = {"a.x": {"thawed": True, "training": True}}
    return part("a.x w", "w", loose="a.x").log(facts, optimizers=made)


LISTED = "no optimizer holds them: a plain list holds the modules"
REGISTERED = "Put the modules into nn.ModuleList, or nn.ModuleDict: then parameters() finds them."


@finds("ownership.never", "gradients-nobody-uses", "warning", LAYER, LISTED, remedy=REGISTERED, names=["A.x", "B.x"])
def layers_stand_in_a_plain_list() -> Log:
    return listed({"listed_at": at(LAYER)})


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "A.x and B.x get gradients, in train mode, and no")
def one_of_two_layers_stands_in_a_plain_list() -> Log:
    return listed({})


def listed(second: dict[str, Any]) -> Log:
    facts = {"A.x": {"model": "A", "listed_at": at(LAYER)}, "B.x": {"model": "B", **second}}
    return part("A.x B.x w", "w", loose="A.x B.x").log(facts)


@finds(
    "ownership.never",
    "stepped-without-gradients",
    "error",
    STEP,
    "SGD took 2 steps, and no gradient ever reached what it holds: h got some, and no optimizer holds it.",
    names=["h"],
)
def another_model_is_trained_than_the_optimizer_holds() -> Log:
    tape = Tape("w", loose="h")
    for _ in range(2):
        tape.forward()
        tape.backward(names="h")
        tape.step()
    return tape.log({"w": {"ran": 0}})


@finds(
    "ownership.never",
    "stepped-without-gradients",
    "error",
    MADE,
    "no gradient ever reached what it holds: all of it is frozen. h got some, and no optimizer holds it.",
    remedy="Give the optimizer the parameters that are to be trained.",
    names=["h"],
)
def a_frozen_model_is_handed_over_in_the_place_of_another() -> Log:
    tape = Tape("w", loose="h")
    for _ in range(2):
        tape.forward()
        tape.backward(names="h")
        tape.step()
    return tape.log({"w": {"requires_grad": False}})


@quiet("ownership.never")
def an_optimizer_that_steps_another_one_holds_slow_weights() -> Log:
    tape = Tape("w b", "slow.w slow.b")
    for _ in range(4):
        tape.passes(1, names="w b")
        tape.step(inside=1)
        tape.step(OTHER, optimizer=1)
        tape.clear()
    return tape.log({"slow.w": {"ran": 0, "in_model": False}, "slow.b": {"ran": 0, "in_model": False}})


def beside_a_phase(shape: tuple[int, ...]) -> Log:
    """An optimizer whose model of this shape never runs steps beside one that trains a matrix of two by two."""
    tape = Tape("w", "v")
    for _ in range(4):
        tape.passes(1, names="w")
        tape.step()
        tape.step(OTHER, optimizer=1)
        tape.clear()
    return tape.log({"w": {"shape": (2, 2)}, "v": {"ran": 0, "shape": shape}})


@finds("ownership.never", "stepped-without-gradients", "info", OTHER, "SGD #2 (train.py:1) took 4 steps, and no")
def an_optimizer_waits_for_another_phase() -> Log:
    return beside_a_phase(shape=(7, 3))


@finds("ownership.never", "stepped-without-gradients", "error", OTHER, "SGD #2 (train.py:1) took 4 steps, and no")
def an_optimizer_holds_a_copy_of_what_is_trained_meanwhile() -> Log:
    return beside_a_phase(shape=(2, 2))


@finds(
    "ownership.never",
    "graph-cut",
    "info",
    FORWARD,
    "b belongs to SGD, but no gradient reached it in 3 steps. Whether the module that holds it used it was not seen.",
)
def a_parameter_of_a_model_of_ones_own_gets_no_gradient() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.forward()
        tape.backward(names="w")
        tape.step()
        tape.clear()
    return tape.log({"b": {"in_own_class": True}})


@finds(
    "ownership.never",
    "stepped-without-gradients",
    "error",
    STEP,
    "SGD took 3 steps, and no gradient ever reached what it holds: no backward() ran",
    remedy="Call backward() on the loss before the step.",
)
def no_backward_is_ever_called() -> Log:
    tape = Tape("w")
    for _ in range(3):
        tape.forward()
        tape.step()
    return tape.log()


@finds(
    "ownership.unstepped",
    "never-stepped",
    "warning",
    BACKWARD,
    "3 backward passes brought gradients to w and b, and SGD never took a step",
    names=["b", "w"],
)
def no_step_is_ever_taken() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1)
        tape.clear()
    return tape.log()


@finds(
    "ownership.unstepped",
    "never-stepped",
    "warning",
    OTHER,
    "4 backward passes brought gradients to d, and SGD #2 (train.py:1) never took a step",
    names=["d"],
)
def one_of_two_optimizers_never_steps() -> Log:
    tape = Tape("w", "d")
    for _ in range(2):
        tape.passes(1, OTHER, names="d")
        tape.passes(1, names="w d")
        tape.step()
        tape.clear()
    return tape.log()


def unstepped(of_w: dict[str, Any] | None = None, **fields: Any) -> Log:
    tape = Tape("w")
    tape.passes(2)
    return tape.log({"w": of_w or {}}, **fields)


@quiet("ownership.unstepped")
def gradients_that_are_measured() -> Log:
    return unstepped({"by_hand": True})


@quiet("ownership.unstepped")
def weights_that_something_else_moves() -> Log:
    return unstepped({"shifted": True})


@quiet("ownership.unstepped")
def weights_of_an_idle_optimizer_that_follow_others() -> Log:
    tape = Tape("w")
    tape.passes(2)
    tape.write(AverageUpdate, OTHER, ["w"], trained=True)
    return tape.log()


@quiet("ownership.unstepped")
def weights_that_follow_others() -> Log:
    return unstepped({"rewritten": True})


@quiet("ownership.unstepped")
def gradients_that_are_put_there_by_hand() -> Log:
    return unstepped({"given": True})


@quiet("ownership.unstepped")
def gradients_that_another_model_is_stepped_by() -> Log:
    return unstepped({"lent": True})


@quiet("ownership.unstepped")
def a_run_that_ends_in_an_error_before_its_first_step() -> Log:
    return unstepped(error="ValueError: no")


@quiet("ownership.unstepped")
def a_ledger_that_is_still_open() -> Log:
    return unstepped(finished=False)


@quiet("ownership.unstepped")
def a_step_that_is_compiled_with_the_rest() -> Log:
    return unstepped(compiled=("step",))


@quiet("ownership.unstepped")
def a_step_by_hand_of_other_parameters() -> Log:
    return unstepped(steps_by_hand=1)


@quiet("ownership.unstepped")
def gradients_of_the_input() -> Log:
    tape = Tape("w")
    tape.passes(2)
    tape.write(InputGradient, EDIT, backward=2)
    return tape.log()


@quiet("ownership.unstepped")
def an_optimizer_whose_parameters_another_one_steps() -> Log:
    tape = Tape("w", "w")
    for _ in range(3):
        tape.passes(1)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("ownership.unstepped")
def a_single_pass() -> Log:
    tape = Tape("w")
    tape.passes(1)
    return tape.log()


@quiet("ownership.never")
def steps_that_only_let_a_schedule_go_on() -> Log:
    tape = Tape("w")
    tape.forward()
    for _ in range(3):
        tape.step()
    return tape.log()


@quiet("ownership.never")
def an_optimizer_whose_turn_comes_later() -> Log:
    tape = Tape("w", "h")
    for step in range(4):
        tape.forward()
        tape.backward(names="w h" if step > 1 else "w")
        tape.step()
        tape.step(OTHER, 1)
        tape.clear()
    return tape.log()


@finds(
    "ownership.unfrozen",
    "frozen-by-attribute",
    "error",
    LAYER,
    "body has requires_grad = False, which on a module is an attribute like any other: body.w got gradients",
    names=["body.w"],
)
def a_module_is_frozen_by_an_attribute() -> Log:
    tape = Tape("body.w head.w")
    tape.passes(1)
    tape.step()
    return tape.log(unfrozen=(UnfrozenModule("body", at(LAYER), ("body.w",)),))


def thawed(*, steps: int = 1) -> Log:
    tape = Tape("body.w head.w")
    for _ in range(steps):
        tape.passes(1, names="body.w")
        tape.step()
    told = UnfrozenModule("head", at(LAYER), ("head.w",), thaws=True)
    return tape.log({"head.w": {"requires_grad": False}}, unfrozen=(told,))


@finds(
    "ownership.unfrozen",
    "thawed-by-attribute",
    "warning",
    LAYER,
    "head has requires_grad = True, which on a module is an attribute like any other: head.w, which an optimizer ",
    "does not require gradients to the last.",
    names=["head.w"],
)
def a_module_is_thawed_by_an_attribute() -> Log:
    return thawed()


@quiet("ownership.unfrozen")
def a_module_is_thawed_by_an_attribute_and_nothing_was_trained() -> Log:
    return thawed(steps=0)


@finds(
    "ownership.misspelt",
    "frozen-by-attribute",
    "error",
    LAYER,
    "w and b have require_grad = False, which torch does not read",
    remedy="Write requires_grad = False, or call requires_grad_(False).",
    names=["w", "b"],
    attribute="require_grad",
)
def a_parameter_is_frozen_by_a_name_that_torch_does_not_know() -> Log:
    return misspelt(Tape("w b h"))


@quiet("ownership.misspelt")
def no_step_uses_what_has_the_name() -> Log:
    return misspelt(Tape("h", loose="w b"))


def misspelt(tape: Tape) -> Log:
    tape.passes(1, names=" ".join(tape.owned[0]))
    tape.step()
    name = {"misspelt": "require_grad", "misspelt_at": at(LAYER)}
    return tape.log(facts={"w": name, "b": name})


@quiet("ownership.unfrozen")
def nothing_of_it_is_trained() -> Log:
    tape = Tape("head.w")
    tape.passes(1)
    tape.step()
    return tape.log(unfrozen=(UnfrozenModule("body", at(LAYER), ("body.w",)),))


@quiet("ownership.never")
def what_the_code_writes_to_gets_no_gradient() -> Log:
    """A key encoder that follows another one, and a bias in it that happens to stay as it is."""
    written = {"b.0.w": {"rewritten": True}, "b.0.b": {}}
    return part("w", "w b.0.w b.0.b").log(written)


@quiet("ownership.never")
def an_optimizer_of_nothing_but_what_the_code_writes_to() -> Log:
    return part("x", "w", "x", steps=(0, 1)).log({"w": {"rewritten": True}})


@finds("ownership.never", "graph-cut", "warning", FORWARD, "c ran in every forward", names=["c"])
def a_layer_is_cut_beside_one_that_the_code_writes_to() -> Log:
    return part("w", "w b c").log({"b": {"rewritten": True}})


@finds(
    "ownership.never",
    "graph-cut",
    "info",
    FORWARD,
    f"at {at(OTHER).short} throws away what it gives, or a part of that.",
    names=["c"],
)
def a_head_whose_output_is_thrown_away() -> Log:
    return part("w", "w c").log({"c": {"thrown_at": at(OTHER)}})


SCALES = {f"d.{n}.c.w": {"shape": (1, size, 3, 3)} for n, size in enumerate((8, 12, 16))}


@finds("ownership.never", "graph-cut", "info", FORWARD, "Its neighbour got some: where each task has a head of its own")
def the_heads_of_other_scales_get_no_gradient() -> Log:
    return part("d.8.w d.9.w d.10.w d.11.w", "d.8.w d.9.w d.10.w d.11.w d.12.w d.13.w").log(
        {f"d.{n}.w": {"shape": (1, n, 3, 3)} for n in range(8, 14)}
    )


@finds("ownership.never", "graph-cut", "warning", FORWARD, "d.2.c.w ran in every forward")
def the_head_of_one_other_scale_gets_no_gradient_beside_two_that_do() -> Log:
    return part("w d.0.c.w d.1.c.w", "w d.0.c.w d.1.c.w d.2.c.w").log(SCALES)


@finds("ownership.never", "graph-cut", "warning", FORWARD, "d.2.w and d.3.w ran in every forward")
def the_end_of_a_stack_gets_no_gradient() -> Log:
    return part("d.0.w d.1.w", "d.0.w d.1.w d.2.w d.3.w").log({f"d.{n}.w": {"shape": (8, 8)} for n in range(4)})


@finds("ownership.never", "graph-cut", "info", FORWARD, "The same part of the blocks before got some")
def a_part_of_the_last_block_gets_no_gradient() -> Log:
    return part("b.0.in.w b.0.out.w b.1.in.w", "b.0.in.w b.0.out.w b.1.in.w b.1.out.w").log()


@finds("ownership.never", "graph-cut", "warning", FORWARD, "b.0.out.w ran in every forward")
def a_part_of_the_first_block_gets_no_gradient() -> Log:
    return part("b.0.in.w b.1.in.w b.1.out.w", "b.0.in.w b.0.out.w b.1.in.w b.1.out.w").log()


@finds("ownership.never", "graph-cut", "warning", FORWARD, "b.2.in.w and b.2.out.w ran in every forward")
def the_whole_last_block_gets_no_gradient() -> Log:
    held = " ".join(f"b.{n}.{part}.w" for n in range(3) for part in ("in", "out"))
    return part(held[: held.index(" b.2")], held).log()


@finds(
    "ownership.never",
    "graph-cut",
    "warning",
    EDIT,
    "leaves the graph at",
    names=["c"],
    remedy="If that is not meant, take the detach(), .item(), .data, .numpy() or no_grad() away there; if it is, "
    "leave these parameters out of the optimizer.",
)
def an_output_is_thrown_away_beside_one_that_is_cut() -> Log:
    return part("w", "w c").log({"c": {"thrown_at": at(OTHER), "cut_at": at(EDIT)}})


@finds(
    "ownership.never",
    "graph-cut",
    "info",
    FORWARD,
    "no gradient reached it in 3 steps. What it gives was gone before the loss went backward: nothing was made of",
    names=["c"],
)
def what_a_layer_gives_is_dropped() -> Log:
    return part("w", "w c").log({"c": {"dropped": True}})


@finds("ownership.never", "graph-cut", "warning", FORWARD, "no gradient reached them in 3 steps.", names=["b", "c"])
def what_one_of_two_layers_gives_is_dropped() -> Log:
    return part("w", "w b c").log({"c": {"dropped": True}})


@finds("ownership.never", "graph-cut", "error", FORWARD, "no gradient reached them in 3 steps.", names=["b", "c"])
def what_all_layers_of_an_optimizer_give_is_dropped() -> Log:
    return part("x", "b c", loose="x").log({"b": {"dropped": True}, "c": {"dropped": True}, "x": {"in_model": False}})


@finds("ownership.never", "gradients-nobody-uses", "info", None, "Net2.w gets gradients, and no optimizer holds it")
def a_copy_that_is_brought_up_to_date_gets_gradients() -> Log:
    twins = {"Net1.w": {"model": "Net1"}, "Net2.w": {"model": "Net2", "rewritten": True}}
    return part("Net1.w Net2.w", "Net1.w", loose="Net2.w").log(twins)


def beside_parts(**more: Any) -> Log:
    """A model whose parts are trained, and a parameter of its own that no optimizer holds, in front of them."""
    tape = part("head.w body.w scale", "head.w body.w", loose="scale")
    placed = {"scale": {"position": 0} | more, "body.w": {"position": 1}, "head.w": {"position": 2}}
    return tape.log(placed)


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "scale gets gradients, in train mode")
def a_parameter_of_the_model_itself_is_left_out_where_its_parts_are_listed() -> Log:
    return beside_parts()


@finds("ownership.never", "gradients-nobody-uses", "info", None, "scale gets gradients, and no optimizer holds it")
def a_parameter_of_the_model_itself_whose_gradient_is_read() -> Log:
    return beside_parts(read=True)


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "block.a.w gets gradients, in train mode")
def an_adapter_is_put_among_frozen_layers() -> Log:
    return adapted()


@finds("ownership.never", "gradients-nobody-uses", "info", None, "block.a.w gets gradients, and no optimizer holds it")
def an_adapter_is_put_beside_a_layer_that_is_not_frozen() -> Log:
    return adapted(old={"requires_grad": True})


@finds("ownership.never", "gradients-nobody-uses", "info", None, "block.a.w gets gradients, and no optimizer holds it")
def two_layers_of_one_model_and_one_is_frozen() -> Log:
    return adapted(new={"made_by": calls((LAYER, "__init__"), (OTHER, "main"))})


@finds("ownership.never", "gradients-nobody-uses", "info", None, "block.a.w gets gradients, and no optimizer holds it")
def what_was_made_before_the_frozen_layers_is_not_trained() -> Log:
    return adapted(new={"made": 1})


@finds("ownership.never", "gradients-nobody-uses", "info", None, "block.a.w gets gradients, and no optimizer holds it")
def an_adapter_that_a_few_passes_reach() -> Log:
    return adapted(new={"deposits": 1})


def adapted(old: dict[str, Any] | None = None, new: dict[str, Any] | None = None) -> Log:
    """A frozen layer, one that is trained in front of it, and an adapter that no optimizer holds."""
    frozen = {"requires_grad": False, "made": 2, "made_by": calls((FORWARD, "__init__"), (OTHER, "main"))}
    late = {"made": 3, "made_by": calls((LAYER, "adapt"), (STEP, "main"))}
    tape = part("block.head.w block.a.w", "block.head.w", loose="block.a.w block.a.base.w")
    return tape.log(
        {
            "block.a.base.w": frozen | (old or {}),
            "block.a.w": late | (new or {}),
            "block.head.w": frozen | {"requires_grad": True},
        }
    )


@finds("ownership.never", "graph-cut", "warning", FORWARD, "b ran in every forward and belongs to SGD #2")
def a_later_optimizer_never_reaches_a_part() -> Log:
    return two_phases(reached="w")


@quiet("ownership.never")
def a_later_optimizer_reaches_every_part() -> Log:
    return two_phases(reached="w b")


def two_phases(reached: str) -> Log:
    """All is trained by the first optimizer, and then by a second one, as far as gradients reach."""
    tape = Tape("w b", "w b")
    for optimizer in (0, 0, 1, 1):
        tape.forward()
        tape.backward(names=reached if optimizer else "")
        tape.step(optimizer=optimizer)
        tape.clear()
    return tape.log()


@finds("ownership.never", "graph-cut", "info", FORWARD, "Its neighbour got some: where each task has a head of its own")
def the_heads_of_other_tasks_get_no_gradient() -> Log:
    return part("w h.0.w", "w h.0.w h.1.w h.2.w").log()


@finds("ownership.never", "graph-cut", "warning", FORWARD, "h.2.w ran in every forward")
def one_of_several_layers_in_a_list_gets_no_gradient() -> Log:
    return part("w h.0.w h.1.w", "w h.0.w h.1.w h.2.w").log()


@finds(
    "ownership.never",
    "graph-cut",
    "warning",
    EDIT,
    "leaves the graph at",
    remedy="If that is not meant, take the detach(), .item(), .data, .numpy() or no_grad() away there; if it is, "
    "leave these parameters out of the optimizer.",
)
def the_head_of_another_task_leaves_the_graph() -> Log:
    return part("w h.0.w", "w h.0.w h.1.w").log({"h.1.w": {"cut_at": at(EDIT)}})


@quiet("ownership.never")
def the_sharded_gradients_are_reduced() -> Log:
    return windows(1, 1, 1).log(distributed={"fsdp": True})


@quiet("ownership.never")
def nothing_was_ever_stepped() -> Log:
    tape = Tape("w b")
    tape.forward()
    return tape.log()


@quiet("ownership.never")
def a_layer_is_held_and_never_runs() -> Log:
    return part("w", "w b").log({"b": {"ran": 0}})


@quiet("ownership.never")
def a_layer_is_frozen() -> Log:
    return part("w", "w b").log({"b": {"requires_grad": False}})


@quiet("ownership.never")
def a_layer_gets_its_gradient_by_hand() -> Log:
    return part("w", "w b").log({"b": {"given": True}})


@quiet("ownership.never")
def the_rest_is_stepped_by_hand() -> Log:
    tape = Tape("w b", loose="h")
    for _ in range(3):
        tape.passes(1)
        tape.step()
        tape.step(OTHER, None)
        tape.clear()
    return tape.log()


@finds(
    "ownership.idle",
    "zeros-move-unused-parameters",
    "warning",
    CLEAR,
    "b got no gradient, but hold zeros instead of None: steps of SGD moved them all the same, by up to 0.02",
    names=["b"],
    moved=0.02,
    steps=[1, 2],
)
def zeros_move_a_layer_that_is_not_used() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.step()
    tape.clear(OTHER, "w", how="zeros")
    tape.clear(EDIT, "b")
    for by in (0.01, 0.02):
        tape.clear(how="zeros")
        tape.passes(1, names="w")
        tape.step(idle_moved={"b": by})
    return tape.log()


def own_optimizer(*moved: float, **fields: Any) -> Log:
    """An optimizer of the user's own; how far each step moves a parameter that has no gradient."""
    tape = Tape("w b")
    tape.passes(1)
    tape.step()
    tape.clear()
    for by in moved:
        tape.forward()
        tape.backward(names="w")
        tape.step(none_moved={"b": by} if by else {})
        tape.clear()
    return tape.log(**fields)


@finds(
    "ownership.moved_without",
    "zeros-move-unused-parameters",
    "warning",
    STEP,
    "b had no gradient, and steps of SGD moved it all the same, by up to 0.02.",
    remedy="In step(), pass over parameters whose .grad is None, as torch's own optimizers do.",
    names=["b"],
    moved=0.02,
    steps=[1, 3],
)
def an_own_optimizer_moves_what_has_no_gradient() -> Log:
    return own_optimizer(0.01, 0.0, 0.02)


@finds(
    "ownership.moved_without",
    "zeros-move-unused-parameters",
    "warning",
    OTHER,
    "by up to 0.02: here they are given one of zeros.",
    remedy="In step(), pass over parameters whose .grad is None, as torch's own optimizers do.",
    step_taken_at=at(STEP),
)
def an_own_optimizer_puts_zeros_where_there_is_no_gradient() -> Log:
    return own_optimizer(0.01, 0.02, puts_zeros_at=at(OTHER))


@quiet("ownership.moved_without")
def an_own_optimizer_moves_what_has_no_gradient_once() -> Log:
    return own_optimizer(0.01, 0.0, 0.0)


def frozen_and_thawed(where: Place, **fields: Any) -> Log:
    return windows(1, 1).log(thawed_again=((where, at(OTHER)),), **fields)


@finds(
    "ownership.thawed_again",
    "frozen-and-thawed",
    "info",
    EDIT,
    f"made to require gradients, behind line {OTHER}, which freezes: what that froze requires them again.",
    frozen_at=at(OTHER),
)
def what_was_frozen_is_thawed_before_training() -> Log:
    return frozen_and_thawed(at(EDIT))


@quiet("ownership.thawed_again")
def what_was_frozen_is_thawed_in_a_function_that_has_not_run() -> Log:
    return frozen_and_thawed(Place(FILE, 3, "elsewhere"))


@quiet("ownership.idle")
def zeros_move_nothing() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.step()
    for _ in range(2):
        tape.clear(how="zeros")
        tape.passes(1, names="w")
        tape.step()
    return tape.log()


def from_one_helper(*left_out: str, **fields: Any) -> Log:
    """Two models of one class, whose optimizers one helper has made; and what of them no optimizer holds."""
    tape = Tape("v", "w", loose=" ".join(left_out))
    for _ in range(2):
        tape.passes(1)
        tape.step(optimizer=0)
        tape.step(optimizer=1)
        tape.clear()
    made = tuple(
        OptimizerFacts(number, f"SGD #{number + 1}", 2, at(line), helper=at(OTHER))
        for number, line in enumerate((MADE, MADE + 1))
    )
    models = {"v": "Net", "a": "Net", "w": "Net2", "b": "Net2"}
    facts = {name: {"model": models[name], "position": 2 if name in "ab" else 1} for name in ("v", "w", *left_out)}
    return tape.log(facts, optimizers=made, **fields)


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE, "a gets gradients, in train mode")
def a_part_of_the_first_of_two_models_is_left_out() -> Log:
    return from_one_helper("a")


@finds("ownership.never", "gradients-nobody-uses", "warning", MADE + 1, "b gets gradients, in train mode")
def a_part_of_the_second_of_two_models_is_left_out() -> Log:
    return from_one_helper("b")


@finds("ownership.never", "gradients-nobody-uses", "warning", OTHER, "a and b get gradients, in train mode")
def a_part_of_both_models_is_left_out_by_the_helper() -> Log:
    return from_one_helper("a", "b")


# ------------------------------------------------------------------ ownership: several processes


def ranks(forwards: tuple[bool, ...], backwards: tuple[bool, ...]) -> Log:
    """Windows under DDP: whether each forward and each backward stood outside no_sync()."""
    tape = Tape("w b")
    for _ in range(2):
        for one, other in zip(forwards, backwards, strict=True):
            tape.forward(sync=one)
            tape.backward(sync=other)
        tape.step()
        tape.clear()
    return tape.log(distributed={"world": 2})


@finds(
    "ownership.distributed",
    "never-synchronised",
    "error",
    BACKWARD,
    "Every micro-batch of 2 of 2 windows ran under no_sync()",
    steps=[0, 1],
)
def every_micro_batch_runs_under_no_sync() -> Log:
    return ranks((False, False, False), (False, False, False))


@finds(
    "ownership.distributed",
    "forward-outside-no-sync",
    "warning",
    FORWARD,
    "every micro-batch was reduced, in 2 windows",
    steps=[0, 1],
)
def only_the_backward_stands_under_no_sync() -> Log:
    return ranks((True, True, True), (False, False, True))


@quiet("ownership.distributed")
def the_last_micro_batch_is_reduced() -> Log:
    return ranks((False, False, True), (False, False, True))


@quiet("ownership.distributed")
def the_model_is_evaluated_inside_a_window() -> Log:
    tape = Tape("w b")
    for _ in range(2):
        for last in (False, False, True):
            tape.forward(sync=last)
            tape.backward(sync=last)
            tape.forward(sync=True, grad=False)
        tape.step()
        tape.clear()
    return tape.log(distributed={"world": 2})


@quiet("ownership.distributed")
def one_window_of_three_is_left_local() -> Log:
    tape = Tape("w b")
    for number in range(3):
        for _ in range(2):
            tape.forward(sync=number != 1)
            tape.backward(sync=number != 1)
        tape.step()
        tape.clear()
    return tape.log(distributed={"world": 2})


@finds(
    "ownership.local_norms",
    "local-norm-of-sharded-gradient",
    "warning",
    CLIP,
    "The gradients of w are sharded, and the norm of this process's parts was taken 2 times",
    names=["w"],
)
def the_norm_of_a_part_is_taken() -> Log:
    return with_norms(False, False)


@quiet("ownership.local_norms")
def the_squares_of_all_parts_are_summed() -> Log:
    return with_norms(True, True)


@quiet("ownership.local_norms")
def the_norm_of_a_part_is_taken_once() -> Log:
    return with_norms(False, True)


def with_norms(*reduced: bool) -> Log:
    tape = Tape("w")
    for one in reduced:
        tape.passes(1)
        tape.write(LocalNorm, CLIP, ["w"], reduced=one)
        tape.step()
        tape.clear()
    return tape.log()


@quiet("ownership.distributed")
def every_micro_batch_is_reduced_on_purpose() -> Log:
    return ranks((True, True, True), (True, True, True))


# ------------------------------------------------------------------ numbers


def measured(*pairs: tuple[int, Comparison], scale: float | None = None, **fields: Any) -> Log:
    """Windows of these sizes with these comparisons."""
    tape = Tape("w b")
    for size, found in pairs:
        tape.passes(size)
        tape.step(reference=found, scale=scale)
        tape.clear()
    return tape.log(**fields)


@finds(
    "numbers.against_reference",
    "tail-divided-by-full-window",
    "error",
    BACKWARD,
    "At 1 of 3 steps the gradient is 0.5 times the reference (cosine 1.000)",
    "with 2 micro-batches divided by 4",
    remedy="Divide by the number of micro-batches the window really has, here 2.",
    ratio=0.5,
    steps=[2],
)
def the_short_window_is_half_as_long() -> Log:
    return measured((4, RIGHT), (4, RIGHT), (2, compared(0.5)))


@finds(
    "numbers.against_reference",
    "loss-not-divided",
    "error",
    BACKWARD,
    "At 2 of 2 steps the gradient is 4 times the reference",
    remedy="Call (loss / 4).backward().",
    ratios=[4.0, 4.0],
    cosine=1.0,
)
def the_gradient_is_as_many_times_too_long_as_there_are_micro_batches() -> Log:
    return measured((4, compared(4.0)), (4, compared(4.0)))


@finds(
    "numbers.against_reference", "divided-twice", "error", BACKWARD, "0.25 times the reference", "divided by it twice"
)
def the_gradient_is_four_times_too_short() -> Log:
    return measured((4, compared(0.25)), (4, compared(0.25)))


@finds("numbers.against_reference", "divided-twice", "error", EDIT, "At 1 of 1 step the gradient is 0.25 times")
def the_gradient_is_divided_after_its_losses_were() -> Log:
    tape = Tape("w b")
    tape.passes(4)
    tape.edit(factors=(0.25,))
    tape.step(reference=compared(0.25))
    return tape.log()


@finds("numbers.against_reference", "loss-not-scaled", "error", BACKWARD, "one over the loss scale", ratio=1 / 1024)
def the_gradient_is_too_short_by_the_loss_scale() -> Log:
    return measured((1, compared(1 / 1024)), (1, compared(1 / 1024)), scale=1024.0)


@finds("numbers.against_reference", "gradient-off-by-factor", "error", BACKWARD, "is 3 times the reference", ratio=3.0)
def the_gradient_is_three_times_too_long() -> Log:
    return measured((4, compared(3.0)), (4, compared(3.0)))


@finds(
    "numbers.against_reference",
    "mean-of-means",
    "error",
    BACKWARD,
    "At 1 of 2 steps the gradient points elsewhere than the reference: cosine 0.9000, 1.1 times its length at worst",
    "with the weights 0.4, 0.6",
    weights=(0.4, 0.6),
    cosine=0.9,
)
def unequal_micro_batches_count_the_same() -> Log:
    return measured((2, RIGHT), (2, compared(1.1, 0.9, weights=(0.4, 0.6), left_over=1e-6)))


@finds("numbers.against_reference", "rank-means-averaged", "error", BACKWARD, "DDP averages the ranks' means")
def two_ranks_average_their_means() -> Log:
    return measured((2, compared(1.1, 0.9)), distributed={"world": 2})


@finds("numbers.against_reference", "gradient-direction-wrong", "error", BACKWARD, "cosine 0.5000", ratio=1.1)
def the_gradient_points_elsewhere() -> Log:
    return measured((2, compared(1.1, 0.5)), (2, compared(1.1, 0.9)))


@finds("numbers.against_reference", "gradient-direction-wrong", "error", BACKWARD, "cosine 0.9000")
def the_passes_do_not_make_up_the_reference() -> Log:
    return measured((2, compared(1.1, 0.9, weights=(0.4, 0.6), left_over=0.5)))


@finds("numbers.against_reference", "gradient-direction-wrong", "error", BACKWARD, "cosine 0.9000")
def a_pass_would_have_to_count_less_than_nothing() -> Log:
    return measured((2, compared(1.1, 0.9, weights=(1.4, -0.4), left_over=1e-6)))


@finds(
    "numbers.against_reference",
    "tail-divided-by-full-window",
    "error",
    BACKWARD,
    "2 micro-batches divided by 4",
    remedy="Divide by the number of micro-batches the window really has, here 2.",
)
def the_only_window_is_short() -> Log:
    return measured((2, compared(0.5)), window=4)


@finds("numbers.against_reference", "gradient-off-by-factor", "error", BACKWARD, "is 0.7 times the reference")
def the_short_window_is_too_short_by_another_factor() -> Log:
    return measured((4, RIGHT), (4, RIGHT), (2, compared(0.7)))


@finds("numbers.against_reference", "gradient-off-by-factor", "error", BACKWARD, ratios=[4.0, 3.0])
def two_windows_are_too_long_by_different_factors() -> Log:
    return measured((4, compared(4.0)), (4, compared(3.0)))


@finds("numbers.against_reference", "gradient-off-by-factor", "error", BACKWARD, ratios=[0.25, 0.5])
def two_windows_are_too_short_by_different_factors() -> Log:
    return measured((4, compared(0.25)), (4, compared(0.5)), scale=1024.0)


@finds("numbers.against_reference", "gradient-direction-wrong", "error", BACKWARD, "At 2 of 2 steps")
def one_step_points_elsewhere_and_one_is_too_long() -> Log:
    return measured((2, compared(2.0)), (2, compared(1.1, 0.5)))


@quiet("numbers.against_reference")
def every_step_is_right() -> Log:
    return measured((4, RIGHT), (4, RIGHT), (2, RIGHT))


@quiet("numbers.against_reference")
def nothing_was_compared() -> Log:
    return windows(4, 4).log()


# ------------------------------------------------------------------ exceptions


def stopped(tape: Tape, message: str, line: int = STEP, **fields: Any) -> Log:
    """The run of that tape, ended by an exception of torch's."""
    return tape.log(error=message, error_at=at(line), **fields)


def scaled_run(*, unscale: bool = True, step: bool = False, update: bool = False) -> Tape:
    tape = Tape("w b")
    tape.passes(1, scaled=True)
    if unscale:
        tape.unscale()
    if step:
        tape.step(by_scaler=True)
    if update:
        tape.write(ScalerUpdate, UPDATE, before=1.0, after=1.0)
    return tape


@finds(
    "loud.exceptions",
    "zeroed-before-step",
    "error",
    CLEAR,
    "torch stopped the run here: AssertionError: No inf checks were recorded for this optimizer.",
    remedy="Clear after scaler.step(), or before the window's first backward().",
)
def the_scaler_finds_no_gradient() -> Log:
    tape = Tape("w b")
    tape.passes(1, scaled=True)
    tape.clear()
    return stopped(tape, "AssertionError: No inf checks were recorded for this optimizer.")


@finds("loud.exceptions", "scaler-not-updated", "error", STEP, "step() has already been called")
def the_scaler_steps_twice() -> Log:
    message = "RuntimeError: step() has already been called since the last update()."
    return stopped(scaled_run(step=True), message)


@finds("loud.exceptions", "scaler-not-updated", "error", EDIT, "unscale_() is being called after step()")
def the_scaler_unscales_after_it_has_stepped() -> Log:
    return stopped(scaled_run(step=True), "RuntimeError: unscale_() is being called after step().", EDIT)


@finds("loud.exceptions", "unscaled-every-micro-batch", "error", EDIT, "unscale_() has already been called on this")
def the_scaler_unscales_twice() -> Log:
    message = "RuntimeError: unscale_() has already been called on this optimizer since the last update()."
    return stopped(scaled_run(), message, EDIT)


@finds("loud.exceptions", "scaler-not-updated", "error", EDIT, "unscale_() has already been called on this")
def the_scaler_unscales_after_a_step_without_update() -> Log:
    message = "RuntimeError: unscale_() has already been called on this optimizer since the last update()."
    return stopped(scaled_run(step=True), message, EDIT)


@finds("loud.exceptions", "unscaled-every-micro-batch", "error", EDIT, "has already been called on this optimizer")
def the_scaler_was_updated_after_the_step() -> Log:
    message = "RuntimeError: unscale_() has already been called on this optimizer since the last update()."
    return stopped(scaled_run(step=True, update=True), message, EDIT)


@finds("loud.exceptions", "scaler-step-missing", "error", UPDATE, "No inf checks were recorded prior to update")
def the_scaler_is_updated_with_nothing_to_go_by() -> Log:
    message = "AssertionError: No inf checks were recorded prior to update."
    return stopped(scaled_run(unscale=False), message, UPDATE)


@finds("loud.exceptions", "unscaled-every-micro-batch", "error", UPDATE, "No inf checks were recorded prior to update")
def the_scaler_is_updated_twice_after_unscaling() -> Log:
    message = "AssertionError: No inf checks were recorded prior to update."
    return stopped(scaled_run(update=True), message, UPDATE)


@finds(
    "loud.exceptions", "half-precision-parameters", "error", STEP, "ValueError: Attempting to unscale FP16 gradients."
)
def the_parameters_are_half_precision() -> Log:
    return stopped(scaled_run(unscale=False), "ValueError: Attempting to unscale FP16 gradients.")


@finds("loud.exceptions", "step-between-forward-and-backward", "error", BACKWARD, "modified by an inplace operation")
def a_step_changed_what_a_backward_needs() -> Log:
    message = "RuntimeError: one of the variables needed has been modified by an inplace operation: [torch"
    return stopped(windows(1), message, BACKWARD)


@finds("loud.exceptions", "loss-not-scaled", "error", BACKWARD, "but _scale is None")
def the_scaler_has_never_scaled() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    return stopped(tape, "AssertionError: Attempted unscale_ but _scale is None.  This may indicate that")


TWICE = "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors). Saved"


@finds("loud.exceptions", "graph-cut", "error", BACKWARD, "tensors does not require grad and does not have a grad_fn.")
def a_loss_has_no_graph() -> Log:
    message = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    return stopped(windows(1), message, BACKWARD)


@finds("loud.exceptions", "loss-backward-twice", "error", OTHER, "Trying to backward through the graph a second time")
def a_graph_goes_backward_a_second_time() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.write(Backward, OTHER, pass_number=2)
    return stopped(tape, TWICE, OTHER)


@finds("loud.exceptions", "loss-backward-twice", "error", BACKWARD, "a second time")
def one_loss_goes_backward_twice_at_one_line() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.write(Backward, BACKWARD, pass_number=2)
    return stopped(tape, TWICE, BACKWARD)


@finds("loud.exceptions", "loss-backward-twice", "error", BACKWARD, "a second time")
def the_graph_was_used_up_where_nobody_saw_it() -> Log:
    return stopped(Tape("w b"), TWICE, BACKWARD)


@finds("loud.exceptions", "unscaled-every-micro-batch", "error", EDIT, "unscale_() has already been called on this")
def another_optimizer_steps_between_two_unscalings() -> Log:
    tape = Tape("w b", "d")
    tape.passes(1, scaled=True)
    tape.unscale()
    tape.step(optimizer=1, scaled=(False,))
    tape.clear(lost=0, lost_names=())
    message = "RuntimeError: unscale_() has already been called on this optimizer since the last update()."
    return stopped(tape, message, EDIT)


@finds("loud.exceptions", "graph-carried-over", "error", BACKWARD, "a second time")
def a_state_carries_the_graph_of_the_last_iteration() -> Log:
    tape = windows(1)
    tape.forward()
    tape.write(Backward, BACKWARD, pass_number=2)
    return stopped(tape, TWICE, BACKWARD)


@finds("loud.exceptions", "graph-cut", "error", BACKWARD, "does not require grad")
def the_loss_has_no_graph() -> Log:
    tape = windows(1)
    tape.write(Backward, BACKWARD, pass_number=2)
    message = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    return stopped(tape, message, BACKWARD)


@finds("loud.exceptions", "backward-reaches-another-model", "error", FORWARD, "a second time")
def the_other_models_loss_has_freed_the_graph() -> Log:
    tape = Tape("g", "d")
    tape.forward()
    tape.backward(OTHER, "g d")
    tape.write(Backward, BACKWARD, pass_number=2)
    return stopped(tape, TWICE, BACKWARD)


@quiet("loud.exceptions")
def an_exception_of_the_users_own() -> Log:
    return stopped(windows(1, 1), "ValueError: the data is broken")


@quiet("loud.exceptions")
def an_inplace_operation_without_any_step() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    return stopped(tape, "RuntimeError: a tensor has been modified by an inplace operation", BACKWARD)


@quiet("loud.exceptions")
def the_scaler_finds_no_gradient_and_nothing_was_cleared() -> Log:
    tape = Tape("w b")
    return stopped(tape, "AssertionError: No inf checks were recorded for this optimizer.")


def test_a_cut_in_a_helper_is_told_with_the_call_that_the_loss_came_by() -> None:
    log = part("w", "w b").log({"b": {"ran": 4, "cut_at": at(OTHER), "cut_called_at": at(FORWARD)}})
    (one,) = [one for one in findings(log) if one.misconception == "graph-cut"]
    assert (one.where, one.called_at) == (at(OTHER), at(FORWARD))


# ------------------------------------------------------------------ the tables are tried


def rule_of(case: Case) -> Callable[[View], Iterator[Finding]]:
    module, function = case.rule.split(".")
    found: Callable[[View], Iterator[Finding]] = getattr(getattr(rules, module), function)
    return found


def accused(log: Log) -> list[str]:
    return [one.misconception for one in findings(log) if one.severity != "info"]


def test_a_test_is_not_turned_round_where_another_optimizer_has_the_other_turns() -> None:
    tape = Tape("w b", "d")
    for number in range(30):
        tape.passes(1)
        if number % 5:
            tape.step(turned_at=at(OTHER))
            tape.clear()
        else:
            tape.step(line=OTHER, optimizer=1)
    assert list(rules.window.turned_round(View(tape.log()))) == []


@pytest.mark.parametrize("case", FOUND, ids=str)
def test_a_rule_finds_the_mistake_at_its_line_with_its_numbers(case: Case) -> None:
    found = list(rule_of(case)(View(case.write())))
    (one,) = [one for one in found if one.misconception not in misconception(case.name).shadows]
    assert one.misconception == case.name
    assert one.severity == case.severity
    assert one.where == (at(case.line) if case.line is not None else None)
    for said in case.says:
        assert said in one.text
    assert one.remedy == (case.remedy or misconception(case.name).mend)
    assert {key: one.evidence.get(key) for key in case.numbers} == case.numbers


@pytest.mark.parametrize("case", FOUND, ids=str)
def test_one_mistake_gives_one_finding(case: Case) -> None:
    log = case.write()
    assert accused(log) == ([case.name] if case.severity != "info" else [])
    if case.severity == "info":
        assert case.name in [one.misconception for one in findings(log)]


@pytest.mark.parametrize("case", RIGHT_LOGS, ids=str)
def test_what_looks_alike_and_is_right_is_not_accused(case: Case) -> None:
    log = case.write()
    assert list(rule_of(case)(View(log))) == []
    assert accused(log) == []


RULES_FOLDER = Path(rules.__file__).parent
NAME = re.compile(r"(?!micro-batch$)[a-z]+(-[a-z]+)+")
"""An id; `micro-batch` is a word of theirs."""


def words(node: ast.expr) -> set[str]:
    """The strings an expression can be: one, or either side of a condition."""
    if isinstance(node, ast.IfExp):
        return words(node.body) | words(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def named() -> set[tuple[str, str]]:
    """Every id that stands in a module of rules, with the module: `("order", "never-zeroed")`."""
    found = set()
    for path in RULES_FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
                found.add((path.stem, node.value))
    return found


def spoken() -> set[tuple[str, str, str]]:
    """Module, id and severity of every `finding(...)` whose id is written there."""
    found = set()
    for path in RULES_FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "finding":
                found |= {(path.stem, one, how) for one in words(node.args[0]) for how in words(node.args[1])}
    return found


def test_every_id_a_rule_names_is_in_the_catalogue_and_every_entry_is_named_by_a_rule() -> None:
    ids = {name for _, name in named()}
    assert sorted(ids - set(catalogue())) == []
    assert sorted(set(catalogue()) - ids) == []


def test_every_id_of_a_rule_and_every_severity_it_gives_has_a_log_in_the_tables() -> None:
    """A new rule, or a new way to a finding, turns this red until there is a log for it."""
    shown = {(case.rule.split(".")[0], case.name) for case in FOUND}
    assert sorted(named() - shown) == []
    spelled = {(case.rule.split(".")[0], case.name, case.severity) for case in FOUND}
    assert len(spoken()) > 70
    assert sorted(spoken() - spelled) == []


def test_every_rule_has_logs_in_both_tables() -> None:
    listed = {f"{rule.__module__.rsplit('.', 1)[1]}.{rule.__name__}" for rule in RULES}
    assert len(listed) == len(RULES)
    assert {case.rule for case in FOUND} == listed
    assert {case.rule for case in RIGHT_LOGS} == listed


def test_every_rule_of_a_module_is_listed() -> None:
    """What takes a view and yields findings is a rule, and one that is not listed never runs."""
    written = set()
    for path in RULES_FOLDER.glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.returns is not None:
                if ast.unparse(node.returns) == "Iterator[Finding]":
                    written.add((f"gradient_ledger.rules.{path.stem}", node.name))
    assert written == {(rule.__module__, rule.__name__) for rule in RULES}


def test_a_log_without_events_gives_no_finding() -> None:
    assert findings(Log(())) == []
    assert findings(Tape("w b").log()) == []


# ------------------------------------------------------------------ disputes


def said(name: str, severity: Any = "error", line: int = STEP) -> Finding:
    return finding(name, severity, at(line), f"about {name}")


def settled(monkeypatch: pytest.MonkeyPatch, log: Log, *found: Finding) -> list[str]:
    """What remains of these findings, as if rules had found them in that log, one rule each."""
    monkeypatch.setattr(rules, "RULES", tuple(lambda view, one=one: iter([one]) for one in found))
    return [one.misconception for one in findings(log)]


CAUSES = [entry for entry in catalogue().values() if entry.shadows]


def by_id(entry: Misconception) -> str:
    return entry.id


@pytest.mark.parametrize("cause", CAUSES, ids=by_id)
def test_a_cause_silences_its_shadows_and_they_do_not_silence_it(
    cause: Misconception, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = windows(1).log()
    for shadow in cause.shadows:
        for order in ((cause.id, shadow), (shadow, cause.id)):
            assert settled(monkeypatch, log, *map(said, order)) == [cause.id]
        assert settled(monkeypatch, log, said(cause.id, "warning"), said(shadow)) == [cause.id]
        assert settled(monkeypatch, log, said(shadow)) == [shadow]
        assert settled(monkeypatch, log, said(cause.id, "info"), said(shadow)) == [shadow, cause.id]  # a mere note
    other = next(entry.id for entry in catalogue().values() if entry.id not in (*cause.shadows, cause.id))
    if cause.id not in misconception(other).shadows:
        assert settled(monkeypatch, log, said(cause.id), said(other)) == [cause.id, other]


def never_cleared_and_ended_inside_a_window() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(4)
        tape.step()
    tape.passes(2)
    return tape.log()


def never_cleared_and_stepped_twice() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1)
        tape.step()
        tape.step()
    return tape.log()


def cleared_before_some_steps_and_inside_other_windows() -> Log:
    tape = Tape("w b")
    for left in (0, 1, 0, 1):
        tape.passes(4)
        tape.clear()
        tape.passes(left)
        tape.step()
        tape.clear()
    return tape.log()


def cleared_inside_a_window_and_before_another() -> Log:
    tape = windows(4, 4)
    for lost, used in ((1, 3), (2, 4)):
        tape.passes(lost)
        tape.clear()
        tape.passes(used)
        tape.step()
        tape.clear()
    return tape.log()


def the_running_sum_goes_backward_and_again_at_the_end() -> Log:
    tape = Tape("w b")
    tape.passes(1, retain_graph=True)
    tape.passes(1, retain_graph=True, again=(1,))
    tape.backward(OTHER, again=(1, 2))
    tape.step()
    return tape.log()


def clipped_and_divided_after_every_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        for _ in range(3):
            tape.passes(1)
            tape.clip()
            tape.edit(factors=(0.5,))
        tape.step()
        tape.clear()
    return tape.log()


def unscaled_and_clipped_after_every_micro_batch() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        for _ in range(3):
            tape.passes(1, scaled=True)
            tape.unscale()
            tape.clip()
        tape.step(by_scaler=True)
        tape.clear()
    return tape.log()


def a_layer_was_replaced_and_the_norm_counts_the_new_one() -> Log:
    tape = Tape("w b.w", loose="b.h")
    for _ in range(3):
        tape.clear(names="w b.w")
        tape.passes(1, names="w b.h")
        tape.clip(status={"fresh": 1, "empty": 1, "orphan": 1})
        tape.step()
    return tape.log({"b.w": {"in_model": False}})


def a_layer_is_frozen_and_the_rest_is_never_cleared() -> Log:
    tape = Tape("w b")
    tape.passes(1)
    tape.step()
    for _ in range(3):
        tape.passes(1, names="w")
        tape.step(frozen=("b",))
    return tape.log()


def two_parameters_share_a_gradient_that_is_used_again() -> Log:
    tape = Tape("w b")
    for _ in range(3):
        tape.passes(1)
        tape.edit("shared", names="b")
        tape.step()
    return tape.log()


SHADOWED = {
    "never-zeroed": [
        (never_cleared_and_ended_inside_a_window, {"tail-dropped"}),
        (never_cleared_and_stepped_twice, {"stepped-on-used-gradients"}),
    ],
    "zeroed-before-step": [(cleared_before_some_steps_and_inside_other_windows, {"zeroed-inside-window"})],
    "zeroed-inside-window": [(cleared_inside_a_window_and_before_another, {"tail-dropped"})],
    "micro-batches-without-backward": [
        (four_forwards_and_the_last_one_divided_goes_backward, {"step-every-micro-batch"})
    ],
    "running-loss-backward": [(the_running_sum_goes_backward_and_again_at_the_end, {"loss-backward-twice"})],
    "clipped-every-micro-batch": [(clipped_and_divided_after_every_micro_batch, {"divided-every-micro-batch"})],
    "unscaled-every-micro-batch": [(unscaled_and_clipped_after_every_micro_batch, {"clipped-every-micro-batch"})],
    "layer-replaced-after-optimizer": [
        (a_layer_was_replaced_and_the_norm_counts_the_new_one, {"clipped-more-than-zeroed"}),
    ],
    "frozen-with-stale-gradient": [(a_layer_is_frozen_and_the_rest_is_never_cleared, {"never-zeroed"})],
    "aliased-gradients": [(two_parameters_share_a_gradient_that_is_used_again, {"never-zeroed"})],
}
"""Logs in which rules find a cause and its shadows too."""


def test_a_layer_that_was_replaced_is_told_of_where_no_step_was_taken() -> None:
    """What nobody clears may have become nan, and a guard leaves every step out."""
    tape = Tape("w b.w", loose="b.h")
    for _ in range(3):
        tape.clear(names="w b.w")
        tape.passes(1, names="w b.h")
    found = [*ownership.unstepped(View(tape.log({"b.w": {"in_model": False}})))]
    assert [one.misconception for one in found] == ["never-stepped", "layer-replaced-after-optimizer"]
    assert found[1].evidence["ghosts"] == ["b.w"]


@pytest.mark.parametrize(
    ("cause", "write", "shadows"),
    [pytest.param(cause, *one, id=f"{cause}/{'/'.join(one[1])}") for cause, rows in SHADOWED.items() for one in rows],
)
def test_two_rules_see_one_mistake_and_one_finding_is_said(
    cause: str, write: Callable[[], Log], shadows: set[str]
) -> None:
    log = write()
    raw = {one.misconception for rule in RULES for one in rule(View(log)) if one.severity != "info"}
    assert raw == {cause} | shadows
    assert accused(log) == [cause]


def test_shadows_run_in_no_circle() -> None:
    """Two that were each other's shadow would both be silenced."""
    reached = {entry.id: set(entry.shadows) for entry in catalogue().values()}
    for _ in catalogue():
        for mine in reached.values():
            mine |= {further for shadow in mine for further in reached[shadow]}
    assert [name for name, mine in reached.items() if name in mine] == []


def test_the_gravest_comes_first_and_the_same_twice_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    log = windows(1).log()
    found = [
        said("summed-loss-keeps-graphs", "info"),
        said("hidden-write", "warning"),
        said("graph-cut"),
        said("graph-cut"),
        said("graph-cut", line=OTHER),
    ]
    assert settled(monkeypatch, log, *found) == ["graph-cut", "graph-cut", "hidden-write", "summed-loss-keeps-graphs"]


def test_a_finding_tells_the_call_of_the_helper_that_its_line_stands_in() -> None:
    helped, alone = clipped_after_the_step_in_a_function_that_a_loop_calls(), clipped_after_the_step()
    assert [(one.where, one.called_at) for one in findings(helped)] == [(at(CLIP), at(OTHER))]
    assert [(one.where, one.called_at) for one in findings(alone)] == [(at(CLIP), None)]
    elsewhere = replace(alone, helpers=(HelperCall(at(STEP), at(OTHER)),))
    assert [(one.where, one.called_at) for one in findings(elsewhere)] == [(at(CLIP), None)]


ABOUT_VALUE = [entry for entry in catalogue().values() if entry.about_value and not entry.by_numbers]
NOT_ABOUT_VALUE = [entry for entry in catalogue().values() if not entry.about_value]
BY_NUMBERS = [entry for entry in catalogue().values() if entry.by_numbers]
BOTH_RIGHT = ((4, RIGHT), (4, RIGHT))
ONE_WRONG = ((4, RIGHT), (4, compared(3.0)))


@pytest.mark.parametrize("entry", ABOUT_VALUE, ids=by_id)
def test_where_every_gradient_was_right_nothing_about_its_value_is_said(
    entry: Misconception, monkeypatch: pytest.MonkeyPatch
) -> None:
    for severity in ("error", "warning"):
        assert settled(monkeypatch, measured(*BOTH_RIGHT), said(entry.id, severity)) == []
        assert settled(monkeypatch, measured(*ONE_WRONG), said(entry.id, severity)) == [entry.id]
        assert settled(monkeypatch, windows(4, 4).log(), said(entry.id, severity)) == [entry.id]
    assert settled(monkeypatch, measured(*BOTH_RIGHT), said(entry.id, "info")) == [entry.id]


@pytest.mark.parametrize("entry", NOT_ABOUT_VALUE, ids=by_id)
def test_what_is_not_about_the_value_stands_whatever_the_numbers_say(
    entry: Misconception, monkeypatch: pytest.MonkeyPatch
) -> None:
    for severity in ("error", "warning", "info"):
        for pairs in (BOTH_RIGHT, ONE_WRONG):
            assert settled(monkeypatch, measured(*pairs), said(entry.id, severity)) == [entry.id]


@pytest.mark.parametrize("entry", BY_NUMBERS, ids=by_id)
def test_numbers_are_the_evidence_of_a_cause_that_events_name(
    entry: Misconception, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong, alone = measured(*ONE_WRONG), said(entry.id)
    assert settled(monkeypatch, wrong, alone) == [entry.id]
    assert settled(monkeypatch, wrong, alone, said("zeroed-inside-window")) == ["zeroed-inside-window"]
    assert settled(monkeypatch, wrong, alone, said("hidden-write", "warning")) == [entry.id, "hidden-write"]
    assert settled(monkeypatch, wrong, alone, said("gradients-nobody-uses")) == [entry.id, "gradients-nobody-uses"]
    assert settled(monkeypatch, wrong, said(entry.id, "info")) == []  # a guess from events, and the numbers are there


def test_right_numbers_settle_a_log_that_looks_wrong() -> None:
    def looks_wrong(found: Comparison | None) -> Log:
        tape = Tape("w b")
        for _ in range(3):
            tape.passes(3)
            tape.clear()
            tape.passes(1)
            tape.step(reference=found)
            tape.clear()
        return tape.log()

    assert accused(looks_wrong(None)) == ["zeroed-inside-window"]
    assert accused(looks_wrong(compared(0.75, 0.8))) == ["zeroed-inside-window"]
    assert findings(looks_wrong(RIGHT)) == []


def test_a_rule_that_fails_costs_its_own_finding_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(view: View) -> Iterator[Finding]:
        raise ZeroDivisionError("a rule of mine")
        yield

    monkeypatch.setattr(rules, "RULES", (RULES[0], broken, *RULES[1:]))
    heard: list[str] = []
    log = nothing_ever_clears()
    assert [one.misconception for one in findings(log, heard.append)] == ["never-zeroed"]
    (trace,) = heard
    assert "Traceback" in trace and "in broken" in trace and "ZeroDivisionError: a rule of mine" in trace
    with pytest.raises(ZeroDivisionError):
        findings(log)


# ------------------------------------------------------------------ what rules start from


def sizes_of(mine: list[Window]) -> list[int]:
    return [len(window.events) for window in mine]


def test_a_step_of_an_optimizer_ends_its_window_and_no_other() -> None:
    tape = Tape("g", "d")
    tape.passes(1)  # 0, 1, 2: a forward, a backward, and what it added
    tape.step(optimizer=0)  # 3
    tape.passes(1)  # 4, 5, 6
    tape.step(optimizer=1)  # 7
    tape.skip(optimizer=0)  # 8
    view = View(tape.log())
    assert sorted(view.windows) == [0, 1]
    assert sizes_of(view.windows[0]) == [3, 4] and sizes_of(view.windows[1]) == [7]
    assert [window.skipped for window in view.windows[0]] == [False, True]
    assert [(w.optimizer, w.number, w.step.number) for w in view.all_windows] == [(0, 0, 3), (1, 0, 7), (0, 1, 8)]
    assert view.windows[0][0].names == {"g"} and view.windows[1][0].names == {"d"}
    assert [event.number for event in view.after(6)] == [7, 8]


def test_steps_by_hand_have_windows_of_their_own() -> None:
    tape = Tape("w", loose="h")
    for _ in range(2):
        tape.passes(1)
        tape.step()
        tape.step(optimizer=None)
    view = View(tape.log())
    assert sorted(view.windows) == [BY_HAND, 0] == [-1, 0]
    assert view.windows[BY_HAND][0].names == {"h"}
    assert view.label(BY_HAND) == view.name(BY_HAND) == "the hand-written step"
    assert view.label(0) == view.name(0) == "SGD"


def test_one_of_several_optimizers_is_called_with_the_line_where_it_was_made() -> None:
    log = Tape("w", "d").log()
    assert [View(log).label(number) for number in (0, 1)] == ["SGD #1 (train.py:1)", "SGD #2 (train.py:1)"]
    assert [View(log).name(number) for number in (0, 1)] == ["SGD #1", "SGD #2"]
    nowhere = tuple(replace(entry, made_at=None) for entry in log.optimizers)
    assert View(replace(log, optimizers=nowhere)).label(1) == "SGD #2"


def test_the_first_window_of_a_late_optimizer_begins_with_it() -> None:
    tape = windows(1, 1)
    late = OptimizerFacts(0, "SGD", 2, at(MADE), made=1, first_event=5)
    mine = View(tape.log(optimizers=(late,))).windows[0]
    assert [mine[0].step.number, mine[1].events[0].number] == [3, 4]
    assert mine[0].events == ()
    late = OptimizerFacts(0, "SGD", 2, at(MADE), made=1, first_event=2)
    mine = View(tape.log(optimizers=(late,))).windows[0]
    assert [event.number for event in mine[0].events] == [2]


def test_events_are_taken_in_the_order_of_their_numbers() -> None:
    log = windows(2, 2).log()
    turned = Log(log.events[::-1], log.parameters, log.optimizers)
    assert View(turned).events == log.events
    assert View(turned).windows == View(log).windows


@pytest.mark.parametrize(
    ("lines", "meant", "micro_batches"),
    [
        pytest.param([BACKWARD] * 4, None, 4, id="one line, four times"),
        pytest.param([BACKWARD, OTHER], None, 1, id="two losses side by side"),
        pytest.param([BACKWARD, OTHER] * 3, None, 3, id="two losses in each of three micro-batches"),
        pytest.param([BACKWARD, BACKWARD, OTHER], None, 3, id="the last micro-batch apart, as with no_sync"),
        pytest.param([BACKWARD, OTHER], 2, 2, id="two lines, and windows of two were meant"),
        pytest.param([BACKWARD, OTHER], 4, 1, id="two lines, and windows of four were meant"),
        pytest.param([], None, 0, id="no pass"),
    ],
)
def test_losses_side_by_side_are_not_micro_batches(lines: list[int], meant: int | None, micro_batches: int) -> None:
    tape = Tape("w")
    for line in lines:
        tape.passes(1, line)
    tape.step()
    (window,) = View(tape.log(window=meant)).windows[0]
    assert (window.passes, window.micro_batches) == (len(lines), micro_batches)


@pytest.mark.parametrize(
    ("sizes", "meant", "size"),
    [
        ([4, 4, 4], None, 4),
        ([4, 4, 2], None, 4),
        ([4, 2], None, 0),
        ([4, 2, 4, 2], None, 0),
        ([4, 2, 4, 2], 3, 3),
        ([0, 0, 4], None, 4),
        ([], None, 0),
    ],
    ids=str,
)
def test_the_size_of_a_window_is_what_most_hold(sizes: list[int], meant: int | None, size: int) -> None:
    assert View(windows(*sizes).log(window=meant)).size(0) == size


def test_windows_in_which_a_batch_was_given_up_do_not_tell_the_size() -> None:
    tape = windows(4)
    for _ in range(2):
        tape.forward()
        tape.passes(3)
        tape.step()
        tape.clear()
    view = View(tape.log())
    assert [view.gave_up(window) for window in view.windows[0]] == [False, True, True]
    assert view.size(0) == 4
    tape = Tape("w b")
    for _ in range(2):
        tape.forward()
        tape.passes(3)
        tape.step()
    assert View(tape.log()).size(0) == 3  # there are no others


@pytest.mark.parametrize(
    ("passes", "divisor"),
    [
        pytest.param([{"divisor": 4.0}] * 3, 4, id="always the same"),
        pytest.param([{"divisor": 4.0}, {}], 0, id="once none"),
        pytest.param([{"divisor": 4.0}, {"divisor": 2.0}], 0, id="two of them"),
        pytest.param([{"divisor": 4.0, "undivided": "Sum"}] * 2, 0, id="with a summand left out"),
        pytest.param([{"divisor": 4.0}] * 10 + [{"divisor": 2.0}], 4, id="another one after ten windows"),
        pytest.param([{}], 0, id="none"),
    ],
)
def test_the_divisor_is_what_every_loss_is_divided_by(passes: list[dict[str, Any]], divisor: int) -> None:
    tape = Tape("w")
    for fields in passes:
        tape.passes(1, **fields)
        tape.step()
        tape.clear()
    assert View(tape.log()).divisor(0) == divisor
    assert View(tape.log()).divisor(1) == 0


def test_a_forward_without_gradient_or_in_eval_mode_is_no_batch_that_was_given_up() -> None:
    tape = Tape("w")
    tape.passes(2)
    for fields in ({"grad": False}, {"training": False}, {"model": "Other"}):
        tape.forward(**fields)
    tape.step()
    view = View(tape.log())
    assert not view.gave_up(view.windows[0][0])


@pytest.mark.parametrize("given_up", [0, 1])
def test_a_model_that_runs_twice_for_a_batch_has_given_up_none_unless_it_runs_more_often(given_up: int) -> None:
    tape = Tape("w b")
    for more in (0, given_up):
        for _ in range(2):
            for model in ("Net", "Net", "Head", "Head", "Head", *more * ["Net", "Net", "Head"]):
                tape.forward(model=model)
            tape.backward()
        tape.step()
        tape.clear()
    view = View(tape.log())
    assert [view.gave_up(window) for window in view.windows[0]] == [False, bool(given_up)]


def test_a_finding_has_the_catalogues_remedy_unless_its_rule_has_a_better_one() -> None:
    plain, better = said("graph-cut"), finding("graph-cut", "error", None, "seen", "do this", names=["w"])
    assert plain.remedy == misconception("graph-cut").mend and plain.evidence == {"text": "about graph-cut"}
    assert better.remedy == "do this" and better.evidence == {"text": "seen", "names": ["w"]} and better.text == "seen"


def test_words_of_a_report() -> None:
    assert [times(count, "step") for count in (0, 1, 2)] == ["0 steps", "1 step", "2 steps"]
    assert [times(2, noun) for noun in ("pass", "branch", "loss")] == ["2 passes", "2 branches", "2 losses"]
    assert [some("abcde"[:n]) for n in range(5)] == ["", "a", "a and b", "a, b and c", "a, b, c and 1 more"]
    assert some(["a", "b", "a"]) == "a and b"
    assert (first([3, 4]), first([])) == (3, None)
    assert steps_of(View(windows(*[1] * 12).log()).windows[0]) == list(range(10))
