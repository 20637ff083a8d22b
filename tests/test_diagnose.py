"""What no known mistake explains is described by sentences that hold on all the evidence, and by no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from course_utils.checks import diagnose, judge
from course_utils.checks.diagnose import Run, conditions, entries, steps, values
from course_utils.checks.difference import RESULT, Difference
from course_utils.checks.judge import faults
from course_utils.checks.judge.left import run_of
from course_utils.checks.observe import observe_all
from course_utils.checks.observe.ledger import LEDGER, SAID
from course_utils.checks.observe.steps import STEPS
from course_utils.exercise import Exercise, Verdict
from course_utils.learner import evaluate
from course_utils.lessons import lessons
from course_utils.plain import TensorData

pytestmark = pytest.mark.turns

TASKS = {task.name: task for each in lessons() for task in each.exercises}


def _right(w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return 2 * x.T @ (x @ w - y) / len(y)


def _points(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        points.append(points[-1] - lr * torch.func.grad(f)(points[-1]))
    return points


def _paced(f, x0, steps, length):
    points = [x0.clone()]
    for _ in range(steps):
        slope = torch.func.grad(f)(points[-1])
        points.append(points[-1] - length * slope / (slope.norm() + 1e-300))
    return points


def _said(name: str, attempt: object) -> str:
    """Everything certain that a card on this attempt would say, of all its faults."""
    return " ".join(_sentences(evaluate(TASKS[name].id, attempt)))


def _sentences(verdict: Verdict) -> list[str]:
    assert verdict.outcome in ("failed", "raised")
    return [sentence for fault in verdict.faults for sentence in fault.certain]


LINEAR: dict[str, tuple[Callable[..., object], str]] = {
    "an input": (lambda w, x, y: w.clone(), "What came back is `w` itself, value for value"),
    "an input, negative": (lambda w, x, y: -w, "is `w` with its sign changed"),
    "a step already taken": (lambda w, x, y: w - 0.3 * _right(w, x, y), "`w` minus 0.3 times the gradient"),
    "a constant factor": (lambda w, x, y: 3 * _right(w, x, y), "Every number is 3 times what it should be"),
    "a factor that is a number of the case": (
        lambda w, x, y: _right(w, x, y) * len(y) ** 2,
        "² times what it should be",
    ),
    "another length": (lambda w, x, y: _right(w, x, y) * w.norm(), "The direction is right on each of these cases"),
    "always the same length": (
        lambda w, x, y: 5 * torch.nn.functional.normalize(_right(w, x, y), dim=0),
        "the length is always 5",
    ),
    "in reverse": (lambda w, x, y: _right(w, x, y).flip(0), "in reverse order"),
    "sizes alone": (lambda w, x, y: _right(w, x, y).abs(), "those that should be negative are positive"),
    "rounded": (lambda w, x, y: _right(w, x, y) * (1 + 1e-4), "Right to about 4 digits"),
    "zeros": (lambda w, x, y: torch.zeros_like(w), "Every entry that was given is zero"),
    "one number everywhere": (lambda w, x, y: _right(w, x, y).max().expand_as(w).clone() + 1, "the same number"),
    "one argument ignored": (lambda w, x, y: _right(w, x, torch.ones_like(y)), "does not change when `y` changes"),
    "chance": (lambda w, x, y: _right(w, x, y) + torch.randn(()).to(w), "Two calls with the same inputs"),
    "kept from call to call": (lambda w, x, y, kept=[]: kept.append(1) or _right(w, x, y) * len(kept), "from call to"),
    "right on some cases": (lambda w, x, y: _right(w, x, y) + (len(y) == 1) * w, "alone, where there is one row"),
    "too many entries": (lambda w, x, y: torch.cat([_right(w, x, y)] * 2), "No reshape mends it"),
    "another kind": (lambda w, x, y: _right(w, x, y).tolist(), "All the numbers are right, in their order"),
    "a known mistake and a factor": (
        lambda w, x, y: x[-1] * (x[-1] @ w - y[-1]) / len(y),
        "a known mistake, times 1/2. Only the last row counts",
    ),
    "a known mistake and a shape": (
        lambda w, x, y: -_right(w, x, y)[:, None],
        "in another shape on cases 1, 2, 3, 4, 5, 6, 7 and 8. The sign is flipped",
    ),
    "an input that was changed": (
        lambda w, x, y: w.add_(1) + _right(w, x, y),
        "The values of `w` were changed during the call",
    ),
    "a function": (lambda w, x, y: _right, "are the parentheses of a call missing"),
}


@pytest.mark.parametrize("name", LINEAR)
def test_of_a_single_tensor_it_says(name: str) -> None:
    attempt, words = LINEAR[name]
    assert words in _said("linear_mse_gradient", attempt)


LISTS: dict[str, tuple[Callable[..., object], str]] = {
    "right up to a step": (
        lambda f, x0, lr, steps: [p + 0.1 * (i > 2) for i, p in enumerate(_points(f, x0, lr, steps))],
        "entries 0 to 2 are right; from entry 3 on",
    ),
    "in reverse": (lambda f, x0, lr, steps: _points(f, x0, lr, steps)[::-1], "in reverse order"),
    "steps of one length": (
        lambda f, x0, lr, steps: _paced(f, x0, steps, 0.7),
        "All steps of a walk have one length, 0.7 on the first",
    ),
    "a first step that is an approximation": (
        lambda f, x0, lr, steps: [
            p + (0.1 if i > 1 else 1e-4) * (p - x0) for i, p in enumerate(_points(f, x0, lr, steps))
        ],
        "moves as it should to about 4 digits",
    ),
    "a first step too long": (
        lambda f, x0, lr, steps: [x0.clone(), *[p + 1.5 * (p - x0) for p in _points(f, x0, lr, steps)[1:]]],
        "the right way, 2.5 times as far",
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_of_a_list_it_says(name: str) -> None:
    attempt, words = LISTS[name]
    assert words in _said("gradient_descent", attempt)


@pytest.mark.parametrize("factor", [2.0, -0.5, 3.0])
def test_a_multiple_of_the_right_answer_is_no_known_mistake_times_another_factor(factor: float) -> None:
    said = _said("linear_mse_gradient", lambda w, x, y: factor * _right(w, x, y) + 0 * w)
    assert "of a known mistake" not in said


def _in_parts(of: int) -> Callable[..., object]:
    """7.4 with bfloat16 sums of so many micro-batches, added up in float32."""

    def attempt(model, loss_fn, micro_batches):
        params = {name: p for name, p in model.named_parameters() if p.requires_grad}
        sums = {name: torch.zeros(p.shape) for name, p in params.items()}
        for start in range(0, len(micro_batches), of):
            part = {name: torch.zeros_like(p) for name, p in params.items()}
            for x, y in micro_batches[start : start + of]:
                loss = loss_fn(model(x), y)
                found = torch.autograd.grad(loss, list(params.values()), allow_unused=True, materialize_grads=True)
                for total, gradient in zip(part.values(), found, strict=True):
                    total += gradient.detach()  # in torch 2.6 the zeros of what was not used ask for gradients
            for name, total in part.items():
                sums[name] += total
        return {name: total / len(micro_batches) for name, total in sums.items()}

    return attempt


def test_where_much_is_tolerated_what_is_within_it_does_not_lend_its_name() -> None:
    (fault,) = evaluate("7.4", _in_parts(250)).faults
    assert fault.mistakes == () and "times what it should be" not in " ".join(fault.certain)
    (fault,) = evaluate("7.4", _in_parts(1000)).faults
    assert [one.id for one in fault.mistakes] == ["summed-in-bfloat16"]


def test_a_known_mistake_is_recognised_where_the_walk_blows_up() -> None:
    def divided(f, x0, lr, steps):
        points = [x0.clone()]
        for _ in range(steps):
            points.append(points[-1] - torch.func.grad(f)(points[-1]) * (1 / lr))
        return points

    for seed in (0, 1, 2):
        (first, *_) = evaluate("1.4", divided, seed=seed).faults
        assert [one.id for one in first.mistakes] == ["divided-by-learning-rate"]


def test_of_a_dict_it_says_which_entries_are_right_and_by_what_the_others_are_off() -> None:
    def attempt(W1, b1, W2, b2, x, y):
        hidden = torch.tanh(x @ W1 + b1)
        signal = 2 * (hidden @ W2 + b2 - y) / y.numel()
        back = signal @ W2.T * (1 - hidden**2)
        return {"W1": 7 * x.T @ back, "b1": back.sum(0), "W2": hidden.T @ signal, "b2": signal.sum(0)}

    said = _said("two_layer_backward", attempt)
    assert "Right: `b1`, `W2` and `b2`. Wrong: `W1`." in said and "Every number of `W1` is 7 times" in said


def test_a_function_handed_over_and_never_called_is_told() -> None:
    assert "`f` was never called." in _said("numerical_gradient", lambda f, x, h=1e-5: x**2)


def test_what_holds_on_one_case_alone_is_not_said_of_all() -> None:
    seen = iter(range(100))
    said = _said("linear_mse_gradient", lambda w, x, y: _right(w, x, y) * (3 if next(seen) == 0 else 1.7))
    assert "Every number is 3 times" not in said


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.id)
def test_right_code_is_given_no_sentence(task: Exercise) -> None:
    right = judge.answers_of(task.home).right
    assert not [fault for fault in evaluate(task.id, right).faults if fault.certain]


def test_a_fault_of_ours_in_a_sentence_does_not_cost_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> list[str]:
        raise ZeroDivisionError

    monkeypatch.setattr(diagnose, "QUESTIONS", (broken,))
    monkeypatch.setattr(faults, "STRICT", False)
    verdict = evaluate(TASKS["linear_mse_gradient"].id, lambda w, x, y: w * 17 + 3)
    assert verdict.outcome == "failed" and _sentences(verdict) == []


# ------------------------------------------------------------------ loops


def _cut_loop(
    model, optimizer, loss_fn, batches, pieces, *, clear_each=False, clear=True, factor=1.013, late=lambda *_: None
):
    """A loop for exercise 2.7 whose loss has an odd factor, so that no known mistake agrees with its numbers.

    `late` is called with model and optimizer before each step.
    """
    losses = []
    for x, y in batches:
        total = 0.0
        if clear:
            optimizer.zero_grad()
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces), strict=True):
            if clear_each:
                optimizer.zero_grad()
            loss = loss_fn(model(rows), wanted)
            (factor * loss).backward()
            total += loss.item()
        late(model, optimizer)
        optimizer.step()
        losses.append(total)
    return losses


@pytest.mark.parametrize(
    ("change", "name", "line", "but"),
    [
        ({"clear_each": True}, "zeroed-inside-window", "optimizer.zero_grad()", lambda spec: spec["pieces"] == 1),
        ({"clear": False}, "never-zeroed", "optimizer.zero_grad()", lambda spec: len(spec["rows"]) < 2),
    ],
)
def test_where_numbers_leave_it_open_the_ledger_names_the_mistake_and_its_line(change, name, line, but) -> None:
    task = TASKS["train_in_pieces"]
    verdict = evaluate(task.id, lambda *given: _cut_loop(*given, **change))
    faults_by_name = {fault.mistakes[0].id: fault for fault in verdict.faults if fault.mistakes}
    fault = faults_by_name[name]
    assert f"`{line}`" in fault.certain[0] and "test_diagnose.py:" in fault.certain[0]
    assert not any(but(task.cases(0)[number - 1].spec) for number in fault.cases), "there the ledger found nothing"


def runs_of(attempt: object) -> list[Run]:
    task = TASKS["train_in_pieces"]
    found = zip(task.cases(0), observe_all(task, attempt, task.cases(0)), strict=True)
    return [run_of(task, number, case, piece) for number, (case, piece) in enumerate(found, 1)]


def test_a_loop_in_which_the_ledger_finds_nothing_is_given_no_name_by_it() -> None:
    verdict = evaluate("2.7", _cut_loop)
    assert verdict.outcome == "failed"
    assert not any(fault.mistakes for fault in verdict.faults) and "ledger" not in " ".join(_sentences(verdict))


def test_what_the_ledger_also_finds_where_the_numbers_are_right_gives_no_name() -> None:
    runs = runs_of(lambda *given: _cut_loop(*given, clear_each=True))
    failing = [run for run in runs if "zeroed-inside-window" in diagnose.errors(run)]
    assert (found := diagnose.named(failing, runs)) is not None and found.id == "zeroed-inside-window"
    passed = replace(failing[0], differences=())
    assert diagnose.named(failing[1:], [passed, *runs]) is None
    assert diagnose.named(runs, runs) is None, "it is not found on all of these"


@pytest.mark.parametrize("task", [task for task in TASKS.values() if task.loop], ids=lambda task: task.id)
def test_in_the_right_answer_to_a_loop_the_ledger_finds_nothing(task: Exercise) -> None:
    for piece in observe_all(task, judge.answers_of(task.home).right, task.cases(0)):
        assert piece.facts[LEDGER] == [] and piece.facts[SAID] == []


def _slower(model, optimizer):
    for group in optimizer.param_groups:
        group["lr"] *= 0.75


def _moved_beside(model, optimizer):
    with torch.no_grad():
        next(model.parameters()).mul_(0.99)


STEPWISE: dict[str, tuple[dict[str, Any], str]] = {
    "a factor": ({"factor": 0.9}, "On case 1: step 1 began with 0.9 times the gradient that is asked for."),
    "a fraction": ({"factor": 1 / 3}, "step 1 began with 1/3 times the gradient that is asked for."),
    "two gradients": ({"clear": False, "factor": 1.0}, "its own gradient and that of the step before it, added up."),
    "the rate": ({"factor": 1.0, "late": _slower}, "step 1 began with the right gradient and a learning rate of 0.015"),
    "nothing": (
        {"factor": 1.0, "late": lambda model, _: model.zero_grad()},
        "step 1 found no gradient, or zeros alone",
    ),
    "a step more": ({"factor": 1.0, "late": lambda _, sgd: sgd.step()}, "2 steps of an optimizer, each of the first"),
    "moved beside": (
        {"factor": 1.0, "late": _moved_beside},
        "something else moved them, or changed what the optimizer",
    ),
    "held": ({"factor": 1.0, "late": lambda _, sgd: sgd.param_groups.clear()}, "step 1 does not hold `0.weight`"),
    "nan": ({"factor": float("nan")}, "the gradient that step 1 began with is not finite"),
    "clipped": (
        {"factor": 1.0, "late": lambda model, _: torch.nn.utils.clip_grad_value_(model.parameters(), 1e-3)},
        "step 1 began with another gradient than the one asked for: its length is",
    ),
}


@pytest.mark.parametrize("name", STEPWISE)
def test_of_a_loop_the_first_step_that_differs_is_told_with_what_is_certain_of_it(name: str) -> None:
    change, wanted = STEPWISE[name]
    runs = runs_of(lambda *given: _cut_loop(*given, **change))
    task = TASKS["train_in_pieces"]
    said = [sentence for run in runs if run.differences for sentence in steps.questions(task, [run], runs)]
    assert any(wanted in sentence for sentence in said), said


def test_where_steps_are_missing_too_another_gradient_is_told_with_their_number() -> None:
    run = runs_of(lambda *given: _cut_loop(*given, factor=1.0))[0]
    [step] = run.right.facts[STEPS]
    other = {**step, "gradients": {name: TensorData(part.value.flip(0)) for name, part in step["gradients"].items()}}

    def said(*, ran: int, asked: int) -> str:
        right, given = (
            replace(run.right, facts={STEPS: [step] * asked}),
            replace(run.given, facts={STEPS: [other] * ran}),
        )
        [sentence] = steps.questions(TASKS["train_in_pieces"], [replace(run, right=right, given=given)], [run])
        return sentence

    assert said(ran=2, asked=3).endswith("In all, 2 steps ran; 3 are asked for.")
    assert "asked for." not in said(ran=3, asked=3) and "asked for." not in said(ran=4, asked=3)


def test_of_a_gradient_that_is_nearly_the_right_one_it_is_told_by_how_much_it_differs() -> None:
    run = runs_of(lambda *given: _cut_loop(*given, factor=1.0))[0]
    [step] = run.right.facts[STEPS]
    other = {**step, "gradients": {name: TensorData(part.value * 1.0005) for name, part in step["gradients"].items()}}
    given = replace(run, given=replace(run.given, facts={STEPS: [other]}))
    wanted = "step 1 began with a gradient that differs from the one asked for by 0.05 % of its length."
    assert steps.questions(TASKS["train_in_pieces"], [given], [given]) == [f"On case 1: {wanted}"]


@pytest.mark.parametrize("right, said", [((0.2, 0.5, 1.0), True), ((0.2, 0.207, 1.0), False)])
def test_numbers_a_little_off_where_much_is_tolerated_are_in_no_other_order(right, said) -> None:
    wanted, given = TensorData(torch.tensor(right)), TensorData(torch.tensor([right[1], right[0], right[2]]))
    run = runs_of(lambda *given: _cut_loop(*given, factor=1.0))[0]
    difference = Difference(RESULT, "value", wanted, given)
    run = replace(run, expected={RESULT: wanted}, leaves={RESULT: given}, differences=(difference,), tolerance=6e-3)
    order = "The right numbers are all there, in another order."
    assert (order in entries.questions(TASKS["train_in_pieces"], [run], [run])) == said


def test_one_word_more_or_less_often_is_not_told() -> None:
    task = replace(TASKS["train_in_pieces"], telling={"held": "held {given}; asked is {right}."})
    run = runs_of(lambda *given: _cut_loop(*given, factor=1.0))[0]
    right = replace(run.right, facts={"held": ["numbers"] * 4})

    def said(*held: str) -> list[str]:
        one = replace(run, right=right, given=replace(run.given, facts={"held": list(held)}))
        return [sentence for sentence in conditions.telling(task, [one], [one]) if "held" in sentence]

    assert said("numbers", "numbers") == []
    assert said("numbers", "nothing") == [
        "On case 1: held numbers and nothing; asked is numbers and numbers and numbers and numbers."
    ]


def test_where_a_rule_is_broken_too_it_does_not_say_that_only_wrong_numbers_fail() -> None:
    def at_once_and_frozen_bent(model, loss_fn, micro_batches):
        model.zero_grad()
        sum(loss_fn(model(x), y) / len(micro_batches) for x, y in micro_batches).backward()
        if not all(p.requires_grad for p in model.parameters()):
            for p in model.parameters():
                if p.grad is not None:
                    p.grad += 0.3 * p.grad**2

    said = _said("accumulate_equal", at_once_and_frozen_bent)
    assert "The numbers are wrong on case" in said and "alone, where a parameter is frozen." in said
    assert "It fails on" not in said


def test_a_gradient_where_none_belongs_is_told_of_a_loop_and_zeros_there_are_not() -> None:
    run = runs_of(lambda *given: _cut_loop(*given, factor=1.0))[0]
    [step] = run.right.facts[STEPS]
    idle = {**step, "gradients": {**step["gradients"], "idle": None}}
    run = replace(run, right=replace(run.right, facts={STEPS: [idle]}))

    def said(*held: torch.Tensor) -> list[str]:
        found = [{**step, "gradients": {**step["gradients"], "idle": TensorData(one)}} for one in held]
        given = replace(run, given=replace(run.given, facts={STEPS: found}))
        return steps.questions(TASKS["train_in_pieces"], [given], [given])

    wanted = "On case 1: step 1 found a gradient in `.grad` of `idle`, which gets none from the loss asked for."
    assert said(torch.tensor([0.0, 2.0])) == [wanted]
    assert said(torch.zeros(2)) == []
    assert said(torch.zeros(2), torch.zeros(2)) == ["On case 1: 2 steps of an optimizer; 1 are asked for."]


@pytest.mark.parametrize("shape", [(), (2,)])
def test_of_single_numbers_no_direction_is_told(shape: tuple[int, ...]) -> None:
    right, runs = TensorData(torch.tensor(1.7).expand(shape)), []
    for run, factor in zip(runs_of(lambda *given: _cut_loop(*given, factor=1.0)), (3.1, 0.37), strict=False):
        given = TensorData(right.value * factor)
        difference = Difference(RESULT, "value", right, given)
        runs.append(replace(run, expected={RESULT: right}, leaves={RESULT: given}, differences=(difference,)))
    said = values.questions(replace(TASKS["train_in_pieces"], quantities={}), runs, runs)
    assert any("direction is right" in sentence for sentence in said) == bool(shape), said


def test_a_right_loop_parts_nowhere_and_a_step_with_a_closure_is_not_written_down() -> None:
    runs = runs_of(lambda *given: _cut_loop(*given, factor=1.0))
    assert not any(run.differences for run in runs)
    assert all(len(run.given.facts[STEPS]) == len(run.case.spec["rows"]) for run in runs)

    def by_closure(model, optimizer, loss_fn, batches, pieces):
        for x, y in batches:
            optimizer.step(lambda x=x, y=y: loss_fn(model(x), y))

    assert not any(run.given.facts.get(STEPS) for run in runs_of(by_closure))
