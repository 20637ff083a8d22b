"""Exercise 4.1: one training step, whatever `.grad` holds."""

from __future__ import annotations

from typing import Any

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import LOSSES, cases, model_and_batch
from course_utils.lessons.lesson4.steps import HELD, STEPS, StepWatch
from course_utils.lessons.training import optimizer_of


def _cases(seed: int) -> list[Case]:
    def row(
        name: str, n: int, optimizer: str = "SGD", loss: str = "poisson", **rest: Any
    ) -> tuple[str, dict[str, Any]]:
        return name, {"model": "mlp", "optimizer": optimizer, "lr": 0.1, "loss": loss, "n": n, **rest}

    return cases(
        seed,
        [
            row("one layer, SGD", 4, model="linear"),
            row(".grad holds earlier gradients", 5, earlier="all", loss="squared error"),
            row("a batch of one", 1),
            row(".grad holds huge earlier gradients", 4, earlier="huge", loss="squared error"),
            row("momentum, after two steps", 4, "momentum", stepped=2, earlier="some"),
            row("Adam, after two steps", 6, "Adam", loss="pinball", stepped=2, earlier="all"),
            row("weight decay and a frozen weight", 3, "decay", model="frozen"),
            row("one output, and targets far away", 4, loss="squared error", model="one output", scale=100.0),
            row("a layer that the model does not use holds a gradient", 4, model="unused", earlier="all"),
            row("a frozen weight holds a gradient", 5, model="frozen", frozen_holds=True, loss="squared error"),
            row("one weight tied to two places", 4, "momentum", model="tied", stepped=1, earlier="all"),
            row("dropout and batch norm in eval mode", 4, model="eval", loss="squared error", earlier="some"),
            row("batch norm and dropout in eval mode, the rest in train mode", 3, model="part eval"),
            row("two groups of parameters, each with its own learning rate", 4, "groups", stepped=2, earlier="all"),
            row("a model that behaves otherwise in train mode, in which it is", 4, model="moded", earlier="some"),
            row("float32, AdamW", 6, "AdamW", stepped=1, earlier="all", dtype="float32"),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    model, x, y = model_and_batch(case)
    y = case.spec.get("scale", 1.0) * y  # far from what the model says, the gradient is long
    optimizer = optimizer_of(case, model)
    watch = StepWatch(model, optimizer)
    return Arrangement(
        (model, optimizer, LOSSES[case.spec["loss"]], x, y),
        watch={"model": model, "x": x, "y": y},
        facts=lambda _: watch.facts(),
    )


EXERCISE = Exercise(
    id="4.1",
    name="train_step",
    title="One training step",
    difficulty=1,
    minutes=8,
    goal=(
        "Write `train_step(model, optimizer, loss_fn, x, y)`: one step of training on one batch. `loss_fn(prediction, "
        "target)` returns the mean loss, and `optimizer` holds the parameters of `model`, the frozen ones too; not all are "
        "frozen. "
        "Afterwards every parameter is where one step of `optimizer` with the gradient of this batch's loss puts it. "
        "`.grad` may hold any finite numbers when the function is called, on a frozen or unused parameter too. They play "
        "no part, and a frozen parameter does not move. Clear to None or to zeros: no case tells the two apart. "
        "The function returns the loss before the step, as a Python float. "
        "The mode of the model, train or eval, stays as it was; as it comes the model draws no random numbers and "
        "updates no statistics. Further forward passes are allowed, and what `.grad` holds afterwards does not matter."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    loop=True,
    hints=(
        "Write down the order of the four events: clear, forward, backward, step. What does the step read, and where "
        "did it come from?",
        "There are places where clearing is safe in a loop that began clean. Here nobody promises that .grad is empty "
        "at the start, so one of them is left out.",
        "Clear with the optimizer, then compute the loss from the model's prediction, send it backward and take one "
        "step. item() makes a float of a tensor with one entry.",
    ),
    properties=(
        (".grad was None before", lambda spec: spec.get("earlier", "none") == "none" and "frozen_holds" not in spec),
        (".grad holds huge earlier gradients", lambda spec: spec.get("earlier") == "huge"),
        ("a frozen weight holds a gradient", lambda spec: "frozen_holds" in spec),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("the model has a layer that it does not use", lambda spec: spec["model"] == "unused"),
        ("the optimizer has steps behind it", lambda spec: "stepped" in spec),
        ("the optimizer has taken no step yet", lambda spec: "stepped" not in spec),
        ("the batch has one row", lambda spec: spec["n"] == 1),
        ("a module is in eval mode", lambda spec: spec["model"] in ("eval", "part eval")),
        ("the model behaves otherwise in train mode", lambda spec: spec["model"] == "moded"),
        ("the model has one output, and the gradient is long", lambda spec: spec["model"] == "one output"),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("there are two groups of parameters", lambda spec: spec["optimizer"] == "groups"),
        ("the optimizer has weight decay", lambda spec: spec["optimizer"] in ("decay", "AdamW")),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        STEPS: "`optimizer.step()` was called so often: {given}; asked is {right}.",
        HELD: "when a step of the optimizer began, `.grad` held {given}; in a right answer {right}.",
    },
    quantities={
        "the number of rows": lambda spec: spec["n"],
        "the number of entries of y": lambda spec: spec["n"] * {"tied": 3, "one output": 1}.get(spec["model"], 2),
    },
)
