"""Exercise 4.4: one step with its gradient clipped to a norm."""

from __future__ import annotations

from typing import Any

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import LOSSES, cases, model_and_batch
from course_utils.lessons.lesson4.steps import HELD, STEPS, StepWatch
from course_utils.lessons.training import optimizer_of


def _cases(seed: int) -> list[Case]:
    def row(name: str, max_norm: float, optimizer: str = "SGD", **rest: Any) -> tuple[str, dict[str, Any]]:
        spec = {"model": "mlp", "optimizer": optimizer, "lr": 0.1, "loss": "squared error", "n": 4, "scale": 4.0}
        return name, {**spec, "max_norm": max_norm, **rest}

    return cases(
        seed,
        [
            row("one layer, a gradient longer than max_norm", 0.5, model="linear"),
            row("a gradient shorter than max_norm", 1000.0),
            row("two layers, a gradient longer than max_norm", 0.75),
            row(".grad holds earlier gradients", 0.5, earlier="all"),
            row(".grad holds earlier gradients, and max_norm is large", 1000.0, earlier="all"),
            row(".grad holds huge earlier gradients", 0.5, earlier="huge"),
            row(
                "one output; momentum, after two steps", 0.25, "momentum", model="one output", stepped=2, earlier="some"
            ),
            row("Adam, after two steps", 0.5, "Adam", stepped=2),
            row("weight decay and a frozen weight", 0.5, "decay", model="frozen"),
            row("a layer that the model does not use holds a gradient", 0.5, model="unused", earlier="all"),
            row("a frozen weight holds a gradient", 0.75, model="frozen", frozen_holds=True),
            row("one weight tied to two places", 0.5, model="tied", earlier="some"),
            row("dropout and batch norm in eval mode", 0.25, model="eval", earlier="all"),
            row("two groups of parameters, each with its own learning rate", 0.5, "groups", stepped=1),
            row("float32, AdamW", 0.5, "AdamW", stepped=1, earlier="all", dtype="float32"),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    model, x, y = model_and_batch(case)
    y = case.spec["scale"] * y  # far from what the model says, so that the gradient is long
    optimizer = optimizer_of(case, model)
    watch = StepWatch(model, optimizer)
    return Arrangement(
        (model, optimizer, LOSSES[case.spec["loss"]], x, y, case.spec["max_norm"]),
        watch={"model": model, "x": x, "y": y},
        facts=lambda _: watch.facts(),
    )


EXERCISE = Exercise(
    id="4.4",
    name="train_step_clipped",
    title="A step that is not too long",
    difficulty=2,
    minutes=10,
    goal=(
        "Write `train_step_clipped(model, optimizer, loss_fn, x, y, max_norm)`: one training step as in 4.1, with "
        "clipping. The total norm of the gradient is the 2-norm of all its entries, of all parameters together. Where "
        "it is larger than `max_norm`, the optimizer steps with the gradient scaled down to that norm; else with the "
        "gradient as it is. Return the pair `(loss, total_norm)`: the loss before the step, as a Python float, and the "
        "total norm **before** clipping, as a float or a 0-d tensor. The total norm is never tiny, and "
        "dividing by it plus a millionth, as torch does, is right, too. `.grad` may hold any finite numbers when the "
        "function is called, on a frozen or unused parameter too. They play no part, not in the norm either, and a frozen "
        "parameter does not move. Clear to None or to zeros: no case tells the two apart. "
        "The mode of the model stays as it was, and what `.grad` holds afterwards does not matter."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    loop=True,
    hints=(
        "Clipping changes .grad. When is there something to change, and who reads it after that?",
        "torch.nn.utils has a function that scales all gradients together. What does it return: the norm before, or "
        "after?",
        "Clear, forward, backward, clip, step: clipping by the norm stands between the backward and the step, over all "
        "parameters of the model at once. Keep what it returns.",
    ),
    properties=(
        ("max_norm is larger than the norm of the gradient", lambda spec: spec["max_norm"] > 100),
        ("the gradient is longer than max_norm", lambda spec: spec["max_norm"] < 100),
        (".grad was None before", lambda spec: spec.get("earlier", "none") == "none" and "frozen_holds" not in spec),
        (".grad holds huge earlier gradients", lambda spec: spec.get("earlier") == "huge"),
        (".grad holds earlier gradients", lambda spec: "earlier" in spec),
        ("a frozen weight holds a gradient", lambda spec: "frozen_holds" in spec),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("the model has a layer that it does not use", lambda spec: spec["model"] == "unused"),
        ("there are two groups of parameters", lambda spec: spec["optimizer"] == "groups"),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("the optimizer has steps behind it", lambda spec: "stepped" in spec),
        ("the model has one output", lambda spec: spec["model"] == "one output"),
        ("the model is in eval mode", lambda spec: spec["model"] == "eval"),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        STEPS: "`optimizer.step()` was called so often: {given}; asked is {right}.",
        HELD: "when a step of the optimizer began, `.grad` held {given}; in a right answer {right}.",
    },
    quantities={
        "the number of rows": lambda spec: spec["n"],
        "max_norm": lambda spec: spec["max_norm"],
    },
)
