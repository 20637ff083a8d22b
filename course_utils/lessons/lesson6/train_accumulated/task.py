"""Exercise 6.5: training with accumulation that is training with large batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import LOSSES, cases, model_and_batch
from course_utils.lessons.lesson4.steps import HELD, STEPS, StepWatch
from course_utils.lessons.lesson6.graphs import AT_ONCE, GraphWatch, owners_by_row
from course_utils.lessons.lesson6.inputs import BY_ITSELF, NO_HOOKS, ONE_GRAPH
from course_utils.lessons.training import HOOKS, batches_of, hooks_left, optimizer_of

SCHEDULED = "steps of the scheduler"

Scheduler = torch.optim.lr_scheduler.LRScheduler
SCHEDULERS: Mapping[str, Callable[[torch.optim.Optimizer], Scheduler]] = {
    "halved": lambda optimizer: torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5),
    "warmup": lambda optimizer: torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.25, total_iters=3),
}
"""By name, from an optimizer: both change the learning rate at each of the first steps."""


def _cases(seed: int) -> list[Case]:
    def row(
        name: str, rows: list[int], window: int, epochs: int, optimizer: str = "SGD", **rest: Any
    ) -> tuple[str, dict[str, Any]]:
        spec = {"model": "mlp", "optimizer": optimizer, "lr": 0.1, "loss": "squared error", "rows": rows}
        return name, {**spec, "window": window, "epochs": epochs, **rest}

    longer: dict[str, Any] = {"max_norm": 1000.0, "scheduler": "warmup", "earlier": "all", "model": "scaled"}
    everything: dict[str, Any] = {"stepped": 2, "scheduler": "halved", "max_norm": 0.3, "scale": 4.0}
    everything |= {"earlier": "all", "loss": "pinball"}
    fitting: dict[str, Any] = {"scheduler": "halved", "max_norm": 0.25, "scale": 4.0}
    return cases(
        seed,
        [
            row("one window of one batch", [4], 1, 1),
            row("a last, shorter window", [3, 3, 3], 2, 1),
            row("batches of different sizes, two epochs; parts in eval mode", [2, 5, 3], 2, 2, loss="poisson", model="part eval"),
            row("a window longer than an epoch; another prediction in train mode", [2, 3], 5, 2, model="moded"),
            row("a scheduler, two groups of parameters", [2, 2, 1], 2, 2, "groups", scheduler="halved", stepped=1),
            row("windows that fit, a scheduler, max_norm over two groups", [2, 1, 3, 2], 2, 2, "groups", **fitting),
            row("max_norm, shorter than the gradients", [3, 1, 2, 2], 2, 1, max_norm=0.25, scale=4.0),
            row("max_norm, longer than the gradients; a parameter of the model's own", [2, 1, 3], 2, 1, "momentum", **longer),
            row("all of it, Adam after two steps", [2, 3, 1], 2, 2, "Adam", **everything),
            row("weight decay and a frozen weight", [2, 4, 1], 2, 1, "decay", model="frozen"),
            row("a layer that the model does not use holds a gradient", [3, 2, 2], 2, 1, model="unused", earlier="all"),
            row("a frozen weight holds a gradient", [3, 1, 3], 2, 1, model="frozen", frozen_holds=True),
            row("float32, AdamW", [2, 2, 1], 2, 1, "AdamW", dtype="float32", max_norm=0.5, scale=4.0),
            row("no epochs", [3, 3], 2, 0, earlier="all", scheduler="halved"),
        ],
    )  # fmt: skip


def _arrange(case: Case) -> Arrangement:
    model, _, _ = model_and_batch(case)
    batches = [(x, case.spec.get("scale", 1.0) * y) for x, y in batches_of(case)]
    optimizer = optimizer_of(case, model)
    chosen = case.spec.get("scheduler")
    scheduler = SCHEDULERS[chosen](optimizer) if chosen else None
    watch = StepWatch(model, optimizer)
    graphs = GraphWatch(model, owners_by_row([x for x, _ in batches]))
    hooks = hooks_left(model, optimizer)
    return Arrangement(
        (model, optimizer, LOSSES[case.spec["loss"]], batches, case.spec["window"], case.spec["epochs"]),
        kwargs={"scheduler": scheduler, "max_norm": case.spec.get("max_norm")},
        watch={"model": model, "batches": batches},
        facts=lambda _: {
            **watch.facts(),
            SCHEDULED: None if scheduler is None else scheduler.last_epoch,
            HOOKS: hooks_left(model, optimizer) - hooks,
            AT_ONCE: graphs.at_once,
        },
    )


def _steps(spec: Any) -> int:
    return int(spec["epochs"] * -(-len(spec["rows"]) // spec["window"]))


def _tail(spec: Any) -> int:
    return len(spec["rows"]) % int(spec["window"])


EXERCISE = Exercise(
    id="6.5",
    name="train_accumulated",
    title="Large-batch training in small batches",
    difficulty=4,
    minutes=20,
    goal=(
        "Write `train_accumulated(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None)`: "
        "training with accumulation that is training with large batches.\n\n"
        "- `batches` is a list of one pair `(x, y)` or more, the micro-batches. Each has one row or more, and they need "
        "not be of one size.\n"
        "- Each of `epochs` epochs goes through them in order, in the windows of 6.4. What is left over at the end of an "
        "epoch is its last, shorter window.\n"
        "- Each window gives one step of `optimizer`, with the gradient of all its rows as one large batch: each row "
        "counts alike.\n"
        "- Where `max_norm` is given, a positive number, that gradient is clipped just before the step, as in 4.4: if its "
        "total norm is larger, it is scaled down to `max_norm`. (The 1e-6 that torch adds to the norm does not matter.)\n"
        "- Where `scheduler` is given, `scheduler.step()` is called once after each step of the optimizer.\n"
        "- What `.grad` held before the call plays no part. A frozen parameter does not move. Clear to None or to zeros, "
        "as you like.\n"
        "- Return a list with one float an epoch: the mean loss over all the **samples** of the epoch. Each batch is "
        "measured before its window's step. Without epochs the list is empty and nothing moves.\n"
        "- The mode of the model stays as it was. What `.grad` holds afterwards does not matter.\n\n"
        f"You may rely on this: {BY_ITSELF} `optimizer` holds all parameters of the model, frozen and unused ones too. "
        "`.grad` holds None or finite numbers at the call. Where a frozen or unused one holds numbers, the optimizer is "
        "plain SGD."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    loop=True,
    rules=(ONE_GRAPH, NO_HOOKS),
    hints=(
        "You have written the parts: the windows in 6.4, the gradient of one window in 6.2, clipping in 4.4, the loss of "
        "an epoch in 4.2. Which of them belongs into the loop over windows, and which into the loop over batches?",
        "The batches of one window are a slice of the list. By what is the loss of one of them to be weighed, and is that "
        "number the same for the last window of an epoch?",
        "Once for each window: clear, clip, step of the optimizer, step of the scheduler. Once for each batch: forward, "
        "backward, and the loss as a number.",
        "In a window, count the rows of its batches. Send each batch's loss backward times its rows, divided by that "
        "count. For the epoch's loss add up the losses as numbers times their rows, and divide by all rows of the epoch.",
    ),
    properties=(
        ("there are no epochs", lambda spec: spec["epochs"] == 0),
        ("there is one step in all", lambda spec: _steps(spec) == 1),
        ("there is more than one step", lambda spec: _steps(spec) > 1),
        ("a window has one batch", lambda spec: spec["window"] == 1),
        ("each epoch ends with a shorter window", lambda spec: _tail(spec) > 0),
        ("the windows fit into the epoch", lambda spec: _tail(spec) == 0),
        ("the batches are not of one size", lambda spec: len(set(spec["rows"])) > 1),
        ("the batches are all of one size", lambda spec: len(set(spec["rows"])) == 1),
        ("there is one epoch", lambda spec: spec["epochs"] == 1),
        ("there are several epochs", lambda spec: spec["epochs"] > 1),
        ("there is a scheduler", lambda spec: "scheduler" in spec),
        ("max_norm is given", lambda spec: "max_norm" in spec),
        ("max_norm is smaller than the gradients' norms", lambda spec: spec.get("max_norm", 1000.0) < 100),
        (".grad was None before", lambda spec: "earlier" not in spec and "frozen_holds" not in spec),
        (".grad holds earlier gradients", lambda spec: "earlier" in spec),
        ("the optimizer has steps behind it", lambda spec: "stepped" in spec),
        ("the model has a layer that it does not use", lambda spec: spec["model"] == "unused"),
        ("a frozen weight holds a gradient", lambda spec: "frozen_holds" in spec),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("the model behaves otherwise in train mode", lambda spec: spec["model"] == "moded"),
        ("parts of the model are in eval mode", lambda spec: spec["model"] == "part eval"),
        ("the model has a parameter of its own, and nested layers", lambda spec: spec["model"] == "scaled"),
        ("there are two groups of parameters", lambda spec: spec["optimizer"] == "groups"),
        ("the optimizer is plain SGD", lambda spec: spec["optimizer"] == "SGD"),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        STEPS: "`optimizer.step()` was called so often: {given}; asked is {right}.",
        SCHEDULED: "the scheduler has made so many steps: {given}; asked is {right}.",
        HELD: "when a step of the optimizer began, `.grad` held {given}; in a right answer {right}.",
    },
    quantities={
        "window": lambda spec: spec["window"],
        "the number of batches": lambda spec: len(spec["rows"]),
        "the number of samples": lambda spec: sum(spec["rows"]),
        "the number of epochs": lambda spec: spec["epochs"] or None,
        "the rows of the first batch": lambda spec: spec["rows"][0],
        "max_norm": lambda spec: spec.get("max_norm"),
    },
)
