"""The trace of a ledger: from logs written by hand, from loops of every kind, and the recordings of lesson 5."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

import course_utils
from course_utils.checks.judge.left import answers_of, mistakes_of
from course_utils.lessons import exercise
from course_utils.lessons.lesson5 import recordings
from course_utils.lessons.lesson5.diagnose.answers import right as fault_of
from course_utils.lessons.lesson5.stale_steps.answers import right as stale_steps_of
from course_utils.lessons.trace import KINDS, TraceEvent, trace
from gradient_ledger import GradientLedger
from gradient_ledger.events import (
    Accumulate,
    Backward,
    Clear,
    Clip,
    Edit,
    Event,
    Forward,
    Log,
    ParameterFacts,
    Place,
    SchedulerStep,
    SkippedStep,
    Step,
)

# ------------------------------------------------------------------ logs written by hand


def log_of(
    *events: Event, names: tuple[str, ...] = ("w", "b"), owners: dict[str, tuple[int, ...]] | None = None
) -> Log:
    facts = [
        ParameterFacts(
            name=name,
            owners=(owners or {}).get(name, (0,)),
            deposits=1,
            requires_grad=True,
            ran=1,
            given=False,
            is_parameter=True,
            in_model=True,
        )
        for name in names
    ]
    return Log(events=events, parameters=tuple(facts))


def short(events: list[TraceEvent]) -> str:
    """`Z0(w b) F0 A0(w) S0(w b)`: kind, step, names."""
    letters = {"forward": "F", "backward": "B", "accumulate": "A", "clip": "C", "clear": "Z", "step": "S"}
    return " ".join(
        f"{letters[e['kind']]}{e['step']}" + (f"({' '.join(e['names'])})" if e["names"] else "") for e in events
    )


def at(number: int, step: int = 0, window: int = 0, *names: str, line: int | None = None) -> dict[str, Any]:
    where = Place("train.py", line) if line is not None else None
    return {"number": number, "step": step, "window": window, "names": names, "where": where}


def a_pass(number: int, step: int, *names: str) -> tuple[Event, ...]:
    return (
        Forward(**at(number, step), model="Linear", training=True, grad=True),
        Backward(**at(number + 1, step), pass_number=number),
        Accumulate(**at(number + 2, step, step, *names), pass_number=number),
    )


def test_each_kind_of_event_becomes_one_entry() -> None:
    log = log_of(
        Clear(**at(0, 0, 0, "w", "b"), how="none"),
        *a_pass(1, 0, "b", "w"),
        Clip(**at(4, 0, 0, "w", "b"), function="clip_grad_norm_"),
        Step(**at(5, 0, 0, "w", "b"), optimizer=0, fresh=2),
    )
    assert short(trace(log)) == "Z0(w b) F0 B0 A0(w b) C0(w b) S0(w b)"
    assert {event["kind"] for event in trace(log)} == set(KINDS)
    assert json.loads(json.dumps(trace(log))) == trace(log)


def test_a_step_names_all_that_its_optimizer_holds_whatever_that_holds() -> None:
    names = ("fresh", "none", "zero", "stale", "skipped")
    step = Step(
        **at(3, 0, 0, "fresh"), optimizer=0, none=("none",), zeros=("zero",), stale=("stale",), skipped=("skipped",)
    )
    assert trace(log_of(step, names=names))[0]["names"] == list(names)


def test_events_stand_in_the_order_of_their_numbers_and_names_in_that_of_the_model() -> None:
    log = log_of(Step(**at(9, 0, 0, "b", "w"), optimizer=0), Clear(**at(2, 0, 0, "unknown", "b", "w"), how="zeros"))
    assert short(trace(log)) == "Z0(w b unknown) S0(w b)"


def test_what_one_line_clears_in_a_row_is_one_event() -> None:
    def log(*lines: int | None) -> Log:
        first, second = lines
        return log_of(
            Clear(**at(0, 0, 0, "w", line=first), how="none"), Clear(**at(1, 0, 0, "b", line=second), how="zeros")
        )

    assert short(trace(log(7, 7))) == "Z0(w b)"
    assert short(trace(log(7, 8))) == "Z0(w) Z0(b)"
    assert short(trace(log(None, None))) == "Z0(w) Z0(b)"
    # The same gradient twice is two clears, even of one line: the line stands in a loop.
    again = log_of(Clear(**at(0, 0, 0, "w", line=7), how="none"), Clear(**at(1, 0, 0, "w", line=7), how="none"))
    assert short(trace(again)) == "Z0(w) Z0(w)"


def test_events_of_nothing_known_and_of_other_kinds_are_left_out() -> None:
    log = log_of(
        Clear(**at(0), how="none"),
        Clip(**at(1), function="clip_grad_norm_", spent=True),
        SkippedStep(**at(2, 0, 0, "w"), optimizer=0),
        SchedulerStep(**at(3), scheduler="StepLR", which=0),
    )
    assert trace(log) == []


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        ("", "A0(w b)"),
        ("written", "B0 A0(w b)"),
        ("used", "B0 A0(w b) S0(w b) Z1(w b) A1(w b)"),
        ("cleared", "B0 A0(w b) S0(w b) Z1(w b) A1(w b)"),
        ("half", "B0 A0(w) S0(w b) Z1(w) A1(w b)"),
    ],
)
def test_a_gradient_put_there_by_hand_is_written_and_takes_the_place_of_a_used_one(before: str, shown: str) -> None:
    written = a_pass(1, 0, "w") if before == "half" else a_pass(1, 0, "w", "b")
    step = Step(**at(8, 0, 0, "w"), optimizer=0, none=("b",)) if before == "half" else Step(**at(8, 0, 0, "w", "b"))
    events: tuple[Event, ...] = ()
    if before:
        events = written[1:] if before == "written" else (*written[1:], step)
    if before == "cleared":
        events = (*events, Clear(**at(9, 1, 1, "w", "b"), how="none"))
    number = 1 if before in ("used", "cleared", "half") else 0
    edit = Edit(**at(10, number, number, "w", "b"), how="assigned", status="")
    assert short(trace(log_of(*events, edit))) == shown


@pytest.mark.parametrize("how", ["in place", "hidden", "shared"])
def test_other_changes_by_hand_are_left_out(how: Any) -> None:
    assert trace(log_of(Edit(**at(0, 0, 0, "w"), how=how))) == []


def test_windows_count_the_steps_of_the_optimizer_concerned() -> None:
    log = log_of(
        Step(**at(0, 0, 0, "w"), optimizer=0),
        Step(**at(1, 1, 1, "w"), optimizer=0),
        Step(**at(2, 2, 0, "b"), optimizer=1),
        Clear(**at(3, 3, 2, "w"), how="none"),
        Clear(**at(4, 3, 1, "b"), how="none"),
        *a_pass(5, 3, "b", "w"),
        Step(**at(9, 3, 2, "w"), optimizer=0),
        owners={"w": (0,), "b": (1,)},
    )
    assert [event["window"] for event in trace(log)] == [0, 1, 0, 2, 1, 2, 2, 2, 2]
    assert [event["step"] for event in trace(log)] == [0, 1, 2, 3, 3, 3, 3, 3, 3]


def test_windows_left_out_of_a_long_run_are_counted() -> None:
    log = log_of(Step(**at(0, 0, 0, "w"), optimizer=0), Step(**at(1, 900, 900, "w"), optimizer=0), *a_pass(2, 901, "w"))
    assert [event["window"] for event in trace(log)] == [0, 900, 901, 901, 901]


# ------------------------------------------------------------------ real loops


class Bed:
    """A small model with batches, run under a ledger."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential()
        self.model.add_module("body", nn.Linear(3, 4))
        self.model.add_module("head", nn.Linear(4, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.parameters = list(self.model.parameters())
        self.batches = [(torch.randn(5, 3), torch.randn(5, 2)) for _ in range(2)]

    def loss(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return nn.functional.mse_loss(self.model(x), y)


ALL = "(body.weight body.bias head.weight head.bias)"


def traced(loop: Callable[[Bed], None]) -> str:
    bed = Bed()
    with GradientLedger() as ledger:
        loop(bed)
    events = trace(ledger)
    assert events == trace(ledger.log)
    return short(events).replace(ALL, "*")


@pytest.mark.parametrize("none", [True, False])
def test_none_and_zeros_are_cleared_alike(none: bool) -> None:
    def loop(b: Bed) -> None:
        for x, y in b.batches:
            b.loss(x, y).backward()
            b.optimizer.step()
            b.optimizer.zero_grad(set_to_none=none)

    assert traced(loop) == "F0 B0 A0* S0* Z1* F1 B1 A1* S1* Z2*"


def _to_none(b: Bed) -> None:
    for p in b.parameters:
        p.grad = None


def _deleted(b: Bed) -> None:
    for p in b.parameters:
        del p.grad


def _zeroed(b: Bed) -> None:
    for p in b.parameters:
        assert p.grad is not None
        p.grad.zero_()


def _new_zeros(b: Bed) -> None:
    for p in b.parameters:
        p.grad = torch.zeros_like(p)


def _foreach(b: Bed) -> None:
    torch._foreach_zero_([p.grad for p in b.parameters if p.grad is not None])


@pytest.mark.parametrize("clear", [_to_none, _deleted, _zeroed, _new_zeros, _foreach])
def test_clears_by_hand_stand_between_the_step_and_the_next_backward(clear: Callable[[Bed], None]) -> None:
    def loop(b: Bed) -> None:
        for x, y in b.batches:
            b.loss(x, y).backward()
            b.optimizer.step()
            clear(b)

    found = traced(loop)
    assert found in ("F0 B0 A0* S0* Z1* F1 B1 A1* S1* Z2*", "F0 B0 A0* S0* F1 Z1* B1 A1* S1* Z2*"), found


@pytest.mark.parametrize("clip", [clip_grad_norm_, clip_grad_value_])
def test_both_kinds_of_clipping_name_what_they_were_given(clip: Callable[..., Any]) -> None:
    def loop(b: Bed) -> None:
        for x, y in b.batches[:1]:
            b.optimizer.zero_grad()
            b.loss(x, y).backward()
            clip(b.model.get_submodule("head").parameters(), 0.1)
            b.optimizer.step()
            clip(b.parameters, 0.1)

    assert traced(loop) == "Z0* F0 B0 A0* C0(head.weight head.bias) S0* C1*"


def test_a_frozen_part_is_never_written_and_named_by_each_step() -> None:
    def loop(b: Bed) -> None:
        b.model.get_submodule("body").requires_grad_(False)
        for x, y in b.batches[:1]:
            b.optimizer.zero_grad()
            b.loss(x, y).backward()
            b.optimizer.step()

    assert traced(loop) == "Z0* F0 B0 A0(head.weight head.bias) S0*"


def test_a_backward_that_writes_nothing_has_no_accumulate() -> None:
    def loop(b: Bed) -> None:
        x = b.batches[0][0].clone().requires_grad_()
        b.loss(*b.batches[0]).backward(inputs=b.parameters[:1])
        torch.autograd.grad(b.loss(x, b.batches[0][1]), x)
        b.optimizer.step()

    assert traced(loop) == "F0 B0 A0(body.weight) F0 S0*"


def test_gradients_put_there_by_the_program_are_written() -> None:
    def loop(b: Bed) -> None:
        for x, y in b.batches:
            found = torch.autograd.grad(b.loss(x, y), b.parameters)
            for p, g in zip(b.parameters, found, strict=True):
                p.grad = g
            b.optimizer.step()

    assert traced(loop) == "F0 A0* S0* F1 Z1* A1* S1*"


def test_a_gradient_divided_by_hand_is_no_event() -> None:
    def loop(b: Bed) -> None:
        b.loss(*b.batches[0]).backward()
        for p in b.parameters:
            assert p.grad is not None
            p.grad /= 2
            p.grad = p.grad / 2
        b.optimizer.step()

    assert traced(loop) == "F0 B0 A0* S0*"


def test_steps_by_hand_are_steps() -> None:
    def loop(b: Bed) -> None:
        del b.optimizer
        for x, y in b.batches:
            b.loss(x, y).backward()
            with torch.no_grad():
                for p in b.parameters:
                    assert p.grad is not None
                    p -= 0.1 * p.grad
            b.model.zero_grad()

    assert traced(loop) == "F0 B0 A0* S0* Z1* F1 B1 A1* S1* Z2*"


def test_all_passes_of_a_closure_stand_before_its_step() -> None:
    def loop(b: Bed) -> None:
        optimizer = torch.optim.LBFGS(b.parameters, max_iter=2)

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = b.loss(*b.batches[0])
            loss.backward()
            return loss

        optimizer.step(closure)

    assert traced(loop) == "Z0* F0 B0 A0* Z0* F0 B0 A0* S0*"


def test_a_step_that_a_scaler_skips_is_no_step() -> None:
    def loop(b: Bed) -> None:
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
        for factor in (float("inf"), 1.0):
            b.optimizer.zero_grad()
            scaler.scale(factor * b.loss(*b.batches[0])).backward()
            scaler.step(b.optimizer)
            scaler.update()

    assert traced(loop) == "Z0* F0 B0 A0* Z0* F0 B0 A0* S0*"


def test_the_trace_is_public_and_leaves_the_log_as_it_was() -> None:
    assert course_utils.trace is trace
    bed = Bed()
    with GradientLedger() as ledger:
        bed.loss(*bed.batches[0]).backward()
        bed.optimizer.step()
    first = trace(ledger)
    first[-1]["names"].clear()
    assert trace(ledger)[-1]["names"] == ["body.weight", "body.bias", "head.weight", "head.bias"]


# ------------------------------------------------------------------ the recordings of lesson 5


@pytest.mark.heavy
def test_the_recordings_are_what_the_loops_leave_today() -> None:
    kept = recordings._FILE.read_text(encoding="utf-8")
    assert kept == recordings.as_text(recordings.every_recording()), (
        "run python -m course_utils.lessons.lesson5.recordings"
    )


BY_LEDGER = {
    # The catalogue has names of their own for these two; both are steps on what was used before.
    "frozen_on_the_way": "frozen-with-stale-gradient",
    "one_for_all_and_one_for_the_second": "parameter-in-two-optimizers",
    # What no backward reached since may be meant so: the ledger says nothing.
    "second_layer_kept": None,
    # A clip in the wrong place has more names there than among the eight of 5.1.
    "clipped_too_early": "clipped-before-backward",
    "in_turn_and_clipped_late": "clipped-another-model",
}


BOTH_BY_LEDGER = {
    # Two faults fit; of 5.1 the first of its list is the answer, and the ledger tells both.
    "replaced_and_late": {"layer-replaced-after-optimizer", "zeroed-before-step"},
    "cleared_inside_every_second": {"zeroed-inside-window", "never-zeroed"},
    "clipped_between_two_steps": {"stepped-on-used-gradients", "clipped-after-step"},
    "late_at_every_third": {"zeroed-before-step", "zeroed-once-per-epoch"},
}


@pytest.mark.parametrize("loop", recordings.LOOPS)
def test_the_ledger_and_the_definitions_of_5_1_and_5_9_agree(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[GradientLedger] = []

    class Kept(GradientLedger):
        def __enter__(self) -> GradientLedger:
            opened.append(self)
            return super().__enter__()

    monkeypatch.setattr(recordings, "GradientLedger", Kept)
    events = recordings.record(loop, recordings.RUNS[0])
    (ledger,) = opened
    found = [one.misconception for one in ledger.findings() if one.severity == "error"]
    if loop in BOTH_BY_LEDGER:
        assert len(found) == 2 and set(found) == BOTH_BY_LEDGER[loop] and fault_of(events) in found
    else:
        assert found == [one for one in [BY_LEDGER.get(loop, fault_of(events))] if one]
    # A step with gradients that one has used, or with fresh ones added onto such.
    steps = [event for event in ledger.events if isinstance(event, Step)]
    assert stale_steps_of(events) == [event.step for event in steps if event.stale or event.mixed.get("used")]


def test_every_one_of_the_eight_faults_and_none_is_among_the_cases_of_5_1() -> None:
    for seed in (0, 1, 2):
        named = [fault_of(recordings.recorded(case.spec)) for case in exercise("5.1").cases(seed)]
        assert set(named) == {
            "layer-replaced-after-optimizer",
            "zeroed-before-step",
            "zeroed-inside-window",
            "zeroed-once-per-epoch",
            "one-of-two-optimizers-zeroed",
            "never-zeroed",
            "stepped-on-used-gradients",
            "clipped-after-step",
            None,
        }
        assert named.count(None) >= 10


def test_traces_of_the_cases_hold_what_the_texts_promise() -> None:
    for number, most in (("5.1", 20), ("5.9", 20)):
        for seed in range(3):
            for case in exercise(number).cases(seed):
                events = recordings.recorded(case.spec)
                steps = [event for event in events if event["kind"] == "step"]
                assert [event["step"] for event in steps] == list(range(len(steps)))
                assert len(steps) <= most
                groups = {tuple(event["names"]) for event in steps}
                if number == "5.1":  # no gradient belongs to two optimizers
                    assert sum(map(len, groups)) == len({name for group in groups for name in group})
                assert all(event["names"] for event in events if event["kind"] not in ("forward", "backward"))


@pytest.mark.parametrize("number", ["5.1", "5.9"])
def test_a_mistake_shows_on_no_case_but_those_that_it_says(number: str) -> None:
    task = exercise(number)
    right = answers_of(task.home).right
    for one in mistakes_of(task.home):
        if one.where is None:
            continue
        for seed in (0, 1):
            for case in task.cases(seed):
                if not one.where(case.spec):
                    events = recordings.recorded(case.spec)
                    assert all(form(events) == right(events) for form in one.forms), (one.id, case.name)
