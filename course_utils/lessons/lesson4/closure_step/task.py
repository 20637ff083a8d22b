"""Exercise 4.6: an optimizer that asks for the loss several times a step."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import LOSSES, Draw, cases, model_and_batch
from course_utils.lessons.lesson4.steps import STEPS, StepWatch


def _cases(seed: int) -> list[Case]:
    def row(name: str, iterations: int, **rest: Any) -> tuple[str, dict[str, Any]]:
        spec = {"model": "mlp", "loss": "squared error", "n": 6, "lr": 0.3, "line_search": None}
        return name, {**spec, "iterations": iterations, **rest}

    return cases(
        seed,
        [
            row("one layer, one iteration", 1, model="linear"),
            row("two layers, three iterations", 3),
            row("one iteration, .grad holds earlier gradients", 1, earlier="all", loss="poisson", lr=0.1),
            row("three iterations, .grad holds earlier gradients", 3, earlier="some"),
            row("one layer, eight iterations", 8, model="linear", n=4),
            row("one layer, steps so long that the loss rises", 3, model="linear", lr=12.0),
            row("line search from a step so long that the loss rises", 4, line_search="strong_wolfe", lr=30.0),
            row("one output, another loss, two iterations", 2, model="one output", loss="poisson", lr=0.1),
            row("after an earlier step", 3, stepped=True, earlier="all"),
            row("a frozen weight holds a gradient", 2, model="frozen", frozen_holds=True),
            row("a layer that the model does not use holds a gradient", 3, model="unused", earlier="all"),
            row("one weight tied to two places", 2, model="tied"),
            row("dropout and batch norm in eval mode", 2, model="eval", earlier="all"),
            row("a batch of one, float32", 2, n=1, dtype="float32"),
        ],
    )


def _optimizer(case: Case, model: nn.Module) -> torch.optim.Optimizer:
    """LBFGS over all parameters of `model`; where the case says so, with a step behind it and `.grad` as it was."""
    spec = case.spec
    parameters = list(model.parameters())
    optimizer = torch.optim.LBFGS(
        parameters, lr=spec["lr"], max_iter=spec["iterations"], line_search_fn=spec["line_search"]
    )
    if not spec.get("stepped"):
        return optimizer
    held = [p.grad for p in parameters]
    draw = Draw(case, apart=700)
    slopes = [draw.normal(*p.shape).abs() + 0.5 for p in parameters]

    def bowl() -> float:
        for p, slope in zip(parameters, slopes, strict=True):
            p.grad = slope * p.detach()
        return float(sum((slope * p.detach() ** 2).sum() / 2 for p, slope in zip(parameters, slopes, strict=True)))

    optimizer.step(bowl)
    for p, gradient in zip(parameters, held, strict=True):
        p.grad = gradient
    return optimizer


def _arrange(case: Case) -> Arrangement:
    model, x, y = model_and_batch(case)
    optimizer = _optimizer(case, model)
    watch = StepWatch(model, optimizer)
    return Arrangement(
        (model, optimizer, LOSSES[case.spec["loss"]], x, y),
        watch={"model": model, "x": x, "y": y},
        facts=lambda _: watch.facts(),
    )


EXERCISE = Exercise(
    id="4.6",
    name="closure_step",
    title="An optimizer that asks again",
    difficulty=3,
    minutes=12,
    goal=(
        "Write `closure_step(model, optimizer, loss_fn, x, y)`: one step of `optimizer`, a `torch.optim.LBFGS` of the "
        "parameters of `model`, not all of them frozen. Its `step` is called once and takes a closure: a function without arguments, which "
        "computes the loss of this batch and its gradient at the weights as they are just then, leaves the gradient in "
        "`.grad`, and returns the loss, as a tensor or a float. LBFGS calls it as often as it likes, and moves the weights in between. "
        "`loss_fn(prediction, target)` returns the mean loss. `.grad` may hold any finite numbers when the function is called, "
        "on a frozen or unused parameter too; they play no part, and a frozen parameter does not move. Return the loss "
        "before the step, at the weights that the model came with, as a Python float. The mode of the model stays as "
        "it was; as it comes the model draws no random numbers and updates no statistics. Further forward passes are "
        "allowed, and what `.grad` holds afterwards does not matter."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    loop=True,
    hints=(
        "How often does backward run in one step of LBFGS? Print a line inside the closure and count.",
        "Each backward adds to .grad. What must the closure do before its own, each time it is called?",
        "Everything but the step belongs into the closure: clearing, forward, loss, backward, and return of the loss. "
        "Hand step the function itself, not what it returns.",
        "The loss before the step is that of the closure's first call. What does step return? Print it and compare.",
    ),
    properties=(
        ("the step has one iteration", lambda spec: spec["iterations"] == 1),
        ("the step has several iterations", lambda spec: spec["iterations"] > 1),
        (".grad was None before", lambda spec: spec.get("earlier", "none") == "none" and "frozen_holds" not in spec),
        (".grad holds earlier gradients", lambda spec: "earlier" in spec),
        ("there is a line search", lambda spec: spec["line_search"] is not None),
        ("the optimizer has a step behind it", lambda spec: "stepped" in spec),
        ("a frozen weight holds a gradient", lambda spec: "frozen_holds" in spec),
        ("the model has a layer that it does not use", lambda spec: spec["model"] == "unused"),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("steps are so long that the loss rises", lambda spec: spec["lr"] > 10),
        ("the model has one output", lambda spec: spec["model"] == "one output"),
        ("the model has one layer", lambda spec: spec["model"] == "linear"),
        ("the loss is not the squared error", lambda spec: spec["loss"] != "squared error"),
        ("the model is in eval mode", lambda spec: spec["model"] == "eval"),
        ("the batch has one row", lambda spec: spec["n"] == 1),
    ),
    telling={
        STEPS: "`optimizer.step()` was called so often: {given}; asked is {right}.",
    },
    quantities={
        "the number of iterations": lambda spec: spec["iterations"],
        "the number of rows": lambda spec: spec["n"],
    },
)
