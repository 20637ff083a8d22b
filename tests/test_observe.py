"""Whatever an attempt does ends as evidence that says so, and the kernel goes on as if nothing had happened."""

from __future__ import annotations

import logging
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch import nn

from course_utils.checks.observe import AutogradSpy, CountCalls, observe, observe_all
from course_utils.exercise import Arrangement, Case, Evidence, Exercise
from course_utils.plain import MAX_TEXT, Opaque, TensorData, to_bytes

CASE = Case("a pair", {"seed": 3})
SHORT = 0.3
"""Seconds after which what never ends is stopped."""


def _exercise(build: Callable[[], Arrangement], may_change: frozenset[str] = frozenset()) -> Exercise:
    return Exercise(
        id="9.1",
        name="answer",
        title="A test",
        difficulty=1,
        minutes=1,
        goal="",
        cases=lambda seed: [CASE],
        arrange=lambda case: build(),
        hints=(),
        may_change=may_change,
    )


def _observed(attempt: object, limit: float = 30.0, **arrangement: Any) -> Evidence:
    """The evidence of `attempt(x)`, x a watched vector, or of another arrangement."""
    x = torch.tensor([1.0, 2.0])
    given = {"args": (x,), "watch": {"x": x}, **arrangement}
    streams = sys.stdout, sys.stderr
    evidence = observe(_exercise(lambda: Arrangement(**given)), attempt, CASE, limit)
    assert (sys.stdout, sys.stderr) == streams
    to_bytes(evidence.to_plain())  # whatever it is, it can be sent
    return evidence


@pytest.fixture(autouse=True)
def the_kernel_stays_as_it_was(capfd: pytest.CaptureFixture[str]):
    """After each test of this file: handlers, timer, random states, switches and folder; stderr is empty."""
    before = _kernel()
    yield
    after = _kernel()
    assert {name: after[name] for name in before} == before
    assert capfd.readouterr().err == ""


def _kernel() -> dict[str, object]:
    return {
        "alarm": signal.getsignal(signal.SIGALRM),
        "timer": signal.getitimer(signal.ITIMER_REAL),
        "torch's random state": torch.get_rng_state().tolist(),
        "Python's random state": random.getstate(),
        "NumPy's random state": str(numpy.random.get_state()),
        "grad mode": torch.is_grad_enabled(),
        "default dtype": torch.get_default_dtype(),
        "anomaly detection": torch.is_anomaly_enabled(),
        "folder": os.getcwd(),
        "warning filters": list(warnings.filters),
        "recursion limit": sys.getrecursionlimit(),
    }


# ------------------------------------------------------------------ what never ends


def _loop(x: torch.Tensor) -> None:
    while True:
        pass


def _swallow_exceptions(x: torch.Tensor) -> None:
    while True:
        try:
            x + 1
        except Exception:
            pass


def _swallow_everything(x: torch.Tensor) -> None:
    while True:
        try:
            x + 1
        except BaseException:
            pass


def _swallow_around_an_inner_loop(x: torch.Tensor) -> None:
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


# As text, because a linter rightly refuses it: whatever is raised, `continue` goes on.
_SWALLOW_IN_FINALLY = """
def attempt(x):
    while True:
        try:
            x + 1
        finally:
            continue
"""


def _swallow_in_finally(x: torch.Tensor) -> None:
    names: dict[str, Any] = {}
    exec(_SWALLOW_IN_FINALLY, names)
    names["attempt"](x)


def _sleep(x: torch.Tensor) -> None:
    time.sleep(600)


def _endless_generator(x: torch.Tensor) -> list[int]:
    def numbers():
        while True:
            yield 1

    return [n for n in numbers() if n > 1]


class _EndlessText:
    def __repr__(self) -> str:
        while True:
            pass


ENDLESS = [
    _loop,
    _swallow_exceptions,
    _swallow_everything,
    _swallow_around_an_inner_loop,
    _swallow_in_finally,
    _sleep,
    _endless_generator,
    lambda x: _EndlessText(),
]


@pytest.mark.parametrize("attempt", ENDLESS, ids=lambda attempt: attempt.__name__.strip("_<>"))
def test_what_never_ends_is_stopped(attempt: Callable[..., object]) -> None:
    evidence = _observed(attempt, limit=SHORT)
    assert evidence.status == "stopped"
    assert evidence.result is None and evidence.raised is None


@pytest.mark.parametrize("attempt", [_loop, _swallow_exceptions, _swallow_everything, _swallow_in_finally])
def test_it_is_stopped_in_another_thread_too(attempt: Callable[..., object]) -> None:
    assert _in_a_thread(lambda: _observed(attempt, limit=SHORT)).status == "stopped"


def test_another_thread_can_check_and_goes_on() -> None:
    evidence = _in_a_thread(lambda: [_observed(lambda x: x * 2), _observed(_raise_value_error), _observed(lambda x: 1)])
    assert [piece.status for piece in evidence] == ["returned", "raised", "returned"]


def _in_a_thread(action: Callable[[], Any]) -> Any:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(action()), daemon=True)
    thread.start()
    thread.join(60)
    assert results, "the thread came to no end"
    return results[0]


def test_after_a_stopped_case_no_other_is_run() -> None:
    task = _exercise(lambda: Arrangement((1,)))
    evidence = observe_all(task, _loop, [CASE, CASE, CASE], SHORT)
    assert [piece.status for piece in evidence] == ["stopped"]


def test_an_import_under_way_is_not_cut_in_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.6)\ndone = True\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def attempt(x: torch.Tensor) -> None:
        import slow_to_import  # noqa: F401

        _loop(x)

    assert _observed(attempt, limit=0.2).status == "stopped"
    assert sys.modules.pop("slow_to_import").done


def test_a_check_made_while_a_module_is_imported_still_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import test_observe\nstatus = test_observe._observed(test_observe._loop, limit=0.2).status\n"
    (tmp_path / "checks_on_import.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import checks_on_import

    assert checks_on_import.status == "stopped"


def test_an_interrupt_from_the_keyboard_goes_through_and_leaves_no_trace() -> None:
    def attempt(x: torch.Tensor) -> None:
        torch.set_grad_enabled(False)
        torch.manual_seed(0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _observed(attempt)


# ------------------------------------------------------------------ what is raised


def _raise_value_error(x: torch.Tensor) -> None:
    raise ValueError("of my own")


def test_an_exception_is_described() -> None:
    evidence = _observed(_raise_value_error)
    assert evidence.status == "raised" and evidence.raised is not None
    assert (evidence.raised.type, evidence.raised.message) == ("ValueError", "of my own")


def test_only_the_learners_own_lines_are_shown() -> None:
    def helper(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, torch.ones(3, 3))

    def attempt(x: torch.Tensor) -> torch.Tensor:
        model = nn.Sequential(nn.Linear(3, 3))
        return helper(model(torch.ones(1, 2)))

    raised = _observed(attempt).raised
    assert raised is not None and raised.type == "RuntimeError"
    assert [frame.function for frame in raised.frames] == ["attempt"]
    assert raised.frames[0].source == "return helper(model(torch.ones(1, 2)))"


def test_lines_of_a_ledger_that_looks_on_are_not_the_learners() -> None:
    def attempt(x: torch.Tensor) -> None:
        nn.Linear(2, 1)(torch.ones(3, 2)).backward()

    task = _exercise(lambda: Arrangement((torch.ones(2),)))
    raised = observe(task, attempt, CASE, ledger=True).raised
    assert raised is not None and "scalar outputs" in raised.message
    assert [frame.function for frame in raised.frames] == ["attempt"]


def test_lines_called_back_from_torch_are_the_learners_too() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x / "two"

    raised = _observed(lambda x: Model()(x)).raised
    assert raised is not None and [frame.function for frame in raised.frames] == ["<lambda>", "forward"]


def test_a_recursion_without_end_keeps_the_innermost_lines() -> None:
    def attempt(x: torch.Tensor) -> None:
        attempt(x)

    raised = _observed(attempt).raised
    assert raised is not None and raised.type == "RecursionError"
    assert [frame.function for frame in raised.frames] == ["attempt"] * 5


class _Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class _TextEnds(Exception):
    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize("error", [SystemExit(1), GeneratorExit(), _Mute(), ValueError("x" * 10**6)])
def test_nothing_that_is_raised_ends_the_kernel(error: BaseException) -> None:
    def attempt(x: torch.Tensor) -> None:
        raise error

    evidence = _observed(attempt)
    assert evidence.status == "raised" and evidence.raised is not None
    assert evidence.raised.type == type(error).__name__
    assert len(evidence.raised.message) <= MAX_TEXT


def test_a_call_with_other_arguments_is_a_type_error() -> None:
    raised = _observed(lambda: None).raised
    assert raised is not None and raised.type == "TypeError" and "positional argument" in raised.message


# ------------------------------------------------------------------ what is printed


def test_output_is_kept_up_to_a_limit_and_counted() -> None:
    def attempt(x: torch.Tensor) -> None:
        for _ in range(20_000):
            print("a flood of output")

    printed = _observed(attempt).printed
    assert printed.startswith("a flood of output\n") and "more characters" in printed
    assert len(printed) < MAX_TEXT + 100


def test_neither_stderr_nor_logging_nor_warnings_reach_the_screen(capfd: pytest.CaptureFixture[str]) -> None:
    def attempt(x: torch.Tensor) -> torch.Tensor:
        print("to stderr", file=sys.stderr)
        logging.getLogger("learner").warning("to the log")
        warnings.warn("to the warnings", stacklevel=1)
        return (x.requires_grad_() * 1).grad  # torch warns about .grad of a non-leaf

    evidence = _observed(attempt)
    assert "to stderr" in evidence.printed
    assert "to the warnings" in evidence.warned and any("non-leaf" in text for text in evidence.warned)
    assert capfd.readouterr() == ("", "")


def test_a_stream_put_in_place_of_stdout_is_taken_off(capfd: pytest.CaptureFixture[str]) -> None:
    def attempt(x: torch.Tensor) -> None:
        sys.stdout = open(os.devnull, "w")

    _observed(attempt)
    print("still here")
    assert capfd.readouterr().out == "still here\n"


# ------------------------------------------------------------------ what is returned


class _NoText:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


class _TextThatEndsThePython:
    def __repr__(self) -> str:
        raise SystemExit


class _BrokenList(list):
    def __len__(self) -> int:
        raise RuntimeError("no length")


class _OwnTensor(torch.Tensor):
    pass


def test_an_object_without_text_is_named_by_its_type() -> None:
    assert _observed(lambda x: _NoText()).result == Opaque("_NoText", "<_NoText>")


def test_a_list_without_length_is_named_by_its_type() -> None:
    assert _observed(lambda x: _BrokenList([1])).result == Opaque("_BrokenList", "<_BrokenList>")


def test_an_object_whose_text_ends_python_does_not() -> None:
    assert _observed(lambda x: _TextThatEndsThePython()).status == "raised"


def test_no_memory_address_is_kept() -> None:
    result = _observed(lambda x: (n for n in range(3))).result
    assert isinstance(result, Opaque) and result.type == "generator" and "0x" not in result.text


def test_a_huge_tensor_is_not_copied() -> None:
    result = _observed(lambda x: torch.zeros(3_000_000)).result
    assert isinstance(result, Opaque) and result.too_large and "3,000,000" in result.text


def test_a_tensor_larger_than_memory_is_an_exception() -> None:
    raised = _observed(lambda x: torch.zeros(2**50)).raised
    assert raised is not None and raised.type == "RuntimeError"


def test_deep_nesting_and_a_list_inside_itself_come_to_an_end() -> None:
    def deep(x: torch.Tensor) -> object:
        nested: list[object] = []
        for _ in range(50_000):
            nested = [nested]
        return nested

    def ring(x: torch.Tensor) -> object:
        own: list[object] = []
        own.append(own)
        return own

    for attempt in (deep, ring):
        assert "nested more than" in str(_observed(attempt).result)


@pytest.mark.parametrize("value", [None, True, 3, 2.5, "text", [1, [2]], {"a": 1.0}])
def test_plain_values_are_kept_as_they_are(value: object) -> None:
    assert _observed(lambda x: value).result == value


def test_of_a_tensor_values_and_kind_are_kept() -> None:
    def attempt(x: torch.Tensor) -> torch.Tensor:
        return (x.double().requires_grad_() * 2).as_subclass(_OwnTensor)

    result = _observed(attempt).result
    assert isinstance(result, TensorData) and type(result.value) is torch.Tensor
    assert result.value.tolist() == [2.0, 4.0] and result.value.dtype == torch.float64
    assert result.requires_grad and result.has_graph


def test_the_ellipsis_of_a_stub_is_not_an_attempt() -> None:
    task = _exercise(lambda: Arrangement((1,)))
    evidence = observe_all(task, lambda x: ..., [CASE, CASE])
    assert [piece.status for piece in evidence] == ["not attempted"]


def test_a_later_change_of_the_returned_tensor_does_not_reach_the_evidence() -> None:
    kept = torch.ones(2)
    result = _observed(lambda x: kept).result
    kept.zero_()
    assert result.value.tolist() == [1.0, 1.0]


# ------------------------------------------------------------------ what is changed


def _aspects(evidence: Evidence) -> set[tuple[str, str]]:
    return {(change.what, change.aspect) for change in evidence.changes}


@pytest.mark.parametrize(
    "switch",
    [
        lambda: torch.set_grad_enabled(False),
        lambda: torch.set_default_dtype(torch.float64),
        lambda: torch.autograd.set_detect_anomaly(True),
    ],
    ids=["grad-mode", "default-dtype", "anomaly-detection"],
)
def test_a_switch_left_over_is_noted_and_put_back(switch: Callable[[], object]) -> None:
    def attempt(x: torch.Tensor) -> None:
        switch()

    assert {aspect for _, aspect in _aspects(_observed(attempt))} == {"global"}


@pytest.mark.parametrize(
    "draw",
    [
        lambda: torch.manual_seed(0),
        lambda: torch.rand(3),
        lambda: random.random(),
        lambda: random.seed(0),
        lambda: numpy.random.rand(),
        lambda: numpy.random.seed(0),
    ],
    ids=["torch-seed", "torch-draw", "python-draw", "python-seed", "numpy-draw", "numpy-seed"],
)
def test_random_numbers_are_noted_and_the_callers_come_as_they_would_have(draw: Callable[[], object]) -> None:
    def attempt(x: torch.Tensor) -> None:
        draw()

    assert {aspect for _, aspect in _aspects(_observed(attempt))} == {"rng"}


def test_an_own_generator_is_nobody_elses_business() -> None:
    def attempt(x: torch.Tensor) -> torch.Tensor:
        return torch.rand(2, generator=torch.Generator().manual_seed(1)) + numpy.random.default_rng(1).random()

    assert _observed(attempt).changes == ()


def test_a_case_gives_the_same_random_numbers_each_time() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(5)
        first = _observed(lambda x: torch.rand(4)).result
        torch.manual_seed(6)
        second = _observed(lambda x: torch.rand(4)).result
    assert torch.equal(first.value, second.value)


def test_another_folder_is_left_again(tmp_path: Path) -> None:
    _observed(lambda x: os.chdir(tmp_path))


def test_an_input_changed_by_its_last_bit_is_noted() -> None:
    def attempt(x: torch.Tensor) -> None:
        x[0] += 1e-3
        x[0] -= 2e-3
        x[0] += 1e-3

    x = torch.tensor([0.3, 2.0])
    evidence = _observed(attempt, args=(x,), watch={"x": x})
    assert _aspects(evidence) == {("x", "input")}


def test_a_nan_that_stays_a_nan_is_no_change_and_one_that_becomes_zero_is() -> None:
    x = torch.tensor([float("nan"), 1.0])
    assert _observed(lambda x: None, args=(x,), watch={"x": x}).changes == ()
    assert _aspects(_observed(lambda x: x.nan_to_num_(), args=(x,), watch={"x": x})) == {("x", "input")}


def test_a_large_mask_with_one_entry_flipped_is_described() -> None:
    mask = torch.zeros(8, dtype=torch.bool)
    (change,) = _observed(lambda m: m[:2].copy_(~m[:2]), args=(mask,), watch={"mask": mask}).changes
    assert change.before != change.after


def test_a_change_too_small_to_show_is_told_by_its_size() -> None:
    x = torch.ones(6, dtype=torch.float64)
    (change,) = _observed(lambda x: x.add_(1e-12), args=(x,), watch={"x": x}).changes
    assert "off by up to 1.0e-12" in change.after


def test_a_converted_module_is_told_by_the_dtype_of_its_parameters() -> None:
    model = torch.nn.LayerNorm(1, bias=False).bfloat16()
    (change,) = _observed(lambda m: m.float() and None, args=(model,), watch={"model": model}).changes
    assert change.before.endswith(", bfloat16") and change.after.endswith(", float32")


def test_two_masks_that_look_the_same_in_short_do_not_break_the_check() -> None:
    mask = torch.tensor([True, False, True, False, True])
    (change,) = _observed(lambda m: m.copy_(m.flip(0).roll(1)), args=(mask,), watch={"mask": mask}).changes
    assert "off by up to" in change.after


def _model() -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    model[0].weight.grad = torch.ones(2, 2)
    return model


def _train_forward(model: nn.Module) -> None:
    model(torch.ones(3, 2))


def _decay(model: nn.Module) -> None:
    with torch.no_grad():
        model[0].weight.mul_(0.5)


MODEL_CHANGES: dict[str, tuple[Callable[[nn.Module], object], set[str]]] = {
    "nothing": (lambda model: [p.sum().item() for p in model.parameters()], set()),
    "mode": (lambda model: model.eval(), {"mode"}),
    "grad": (lambda model: model.zero_grad(), {"grad"}),
    "zeros-for-none": (lambda model: setattr(model[0].bias, "grad", torch.zeros(2)), {"grad"}),
    "parameters": (_decay, {"parameters"}),
    "buffers": (_train_forward, {"buffers"}),
    "requires-grad": (lambda model: model.requires_grad_(False), {"requires-grad"}),
}


@pytest.mark.parametrize("name", MODEL_CHANGES)
def test_each_aspect_of_a_model_is_watched(name: str) -> None:
    attempt, aspects = MODEL_CHANGES[name]
    model = _model()
    evidence = _observed(attempt, args=(model,), watch={"model": model})
    assert {aspect for _, aspect in _aspects(evidence)} == aspects


EVENT_CHANGES: dict[str, tuple[Callable[[Any], object], set[str]]] = {
    "nothing": (lambda events: [event["names"] for event in events], set()),
    "another value": (lambda events: events[1].update(step=8), {"events[1]['step']"}),
    "another type": (lambda events: events[1].update(step=True), {"events[1]['step']"}),
    "a key more": (lambda events: events[0].update(number=1), {"events[0]"}),
    "a name more": (lambda events: events[0]["names"].append("b"), {"events[0]['names']"}),
    "a key that is no text": (lambda events: events[0].update({object(): 1}), {"events[0]"}),
    "an object": (lambda events: events[1].update(step=object()), {"events[1]['step']"}),
    "an entry gone": (lambda events: events.pop(), {"events"}),
    "an object more": (lambda events: events.append(object()), {"events"}),
    "the list in itself": (lambda events: events.append(events), {"events"}),
    "the list in an entry": (lambda events: events[0].update(names=events), {"events[0]['names']"}),
}


@pytest.mark.parametrize("name", EVENT_CHANGES)
def test_a_list_of_dicts_is_watched_whatever_is_put_into_it(name: str) -> None:
    attempt, changed = EVENT_CHANGES[name]
    events: list[dict[str, Any]] = [{"step": 0, "names": ["a"]}, {"step": 1, "names": []}]
    evidence = _observed(attempt, args=(events,), watch={"events": events})
    assert {what for what, _ in _aspects(evidence)} == changed


def test_a_list_that_was_shortened_is_told_by_its_entries() -> None:
    events = [{"step": 0}, {"step": 1}, {"step": 2}]
    (change,) = _observed(lambda events: events.__delitem__(slice(2)), args=(events,), watch={"events": events}).changes
    assert (change.before, change.after) == ("3 entries", "1 entry")


def test_what_cannot_be_watched_is_refused_before_the_attempt_runs() -> None:
    ran: list[object] = []
    with pytest.raises(TypeError, match="cannot watch x, a object"):
        _observed(ran.append, watch={"x": object()})
    assert not ran


def test_what_an_exercise_is_about_may_change() -> None:
    model = _model()
    task = _exercise(lambda: Arrangement((model,), watch={"model": model}), may_change=frozenset({"grad"}))
    assert observe(task, lambda model: model.zero_grad(), CASE).changes == ()


def test_a_stopped_or_raising_attempt_is_watched_too() -> None:
    def attempt(x: torch.Tensor) -> None:
        x.zero_()
        raise ValueError

    assert _aspects(_observed(attempt)) == {("x", "input")}


# ------------------------------------------------------------------ spies


def test_calls_are_counted() -> None:
    spy = CountCalls(abs)
    evidence = _observed(lambda f: f(-1) + f(-2), args=(spy,), watch={}, facts=lambda _: {"calls": spy.calls})
    assert (evidence.result, evidence.facts["calls"]) == (3, 2)


def _spied(attempt: Callable[[torch.Tensor], object]) -> Evidence:
    spy = AutogradSpy()
    return _observed(attempt, within=(spy,), facts=lambda _: {"autograd": spy.used})


@pytest.mark.parametrize(
    "attempt",
    [
        lambda x: x.clone().requires_grad_().sum().backward(),
        lambda x: torch.func.grad(torch.sum)(x),
        lambda x: torch.func.hessian(lambda v: (v**3).sum())(x),
        lambda x: torch.func.jvp(torch.sum, (x,), (x,)),
        lambda x: x.clone().requires_grad_().sum().grad_fn(torch.tensor(1.0)),
    ],
    ids=["backward", "func.grad", "func.hessian", "func.jvp", "grad_fn"],
)
def test_every_way_to_autograd_is_seen(attempt: Callable[[torch.Tensor], object]) -> None:
    evidence = _spied(attempt)
    assert evidence.status == "returned", evidence.raised
    assert evidence.facts["autograd"]


@pytest.mark.parametrize(
    "attempt",
    [
        lambda x: 2 * x.T @ x,
        lambda x: print(x, x.grad_fn, x.grad),
        lambda x: torch.func.vmap(torch.sin)(x),
        lambda x: x.clone().requires_grad_().detach(),
        lambda x: nn.functional.mse_loss(x, x + 1),
    ],
    ids=["matmul", "print", "vmap", "detach", "mse_loss"],
)
def test_what_only_looks_like_autograd_is_not_held_against_anyone(attempt: Callable[[torch.Tensor], object]) -> None:
    evidence = _spied(attempt)
    assert evidence.status == "returned", evidence.raised
    assert evidence.facts["autograd"] == []
