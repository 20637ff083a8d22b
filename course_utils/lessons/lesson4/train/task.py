"""Exercise 4.2: the loop around the step, and the loss of an epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import LOSSES, cases, model_and_batch
from course_utils.lessons.lesson4.steps import STEPS, StepWatch
from course_utils.lessons.training import Batch, LossFn, batches_of, optimizer_of

ORDER = "batches that loss_fn was handed, in order"


class _InOrder:
    """`loss_fn`, with the numbers of the batches whose targets it got."""

    def __init__(self, loss_fn: LossFn, batches: Sequence[Batch], epochs: int) -> None:
        self._loss_fn = loss_fn
        self._targets = [y.clone() for _, y in batches]
        self._expected = sorted([*range(1, len(batches) + 1)] * epochs)
        self._seen: list[int] = []

    def __call__(self, prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        try:
            same = [number for number, y in enumerate(self._targets, 1) if torch.equal(y, target)]
        except (RuntimeError, TypeError):
            same = []  # no plain tensors: ones that torch.func maps over, or none at all
        self._seen.append(same[0] if same else 0)
        return self._loss_fn(prediction, target)

    def order(self) -> list[int] | str:
        """The numbers, where each batch came as often as it should; "unknown" elsewhere: that is another mistake."""
        return self._seen if sorted(self._seen) == self._expected else "unknown"


def _cases(seed: int) -> list[Case]:
    def row(name: str, rows: list[int], epochs: int, optimizer: str = "SGD", **rest: Any) -> tuple[str, dict[str, Any]]:
        spec = {"model": "mlp", "optimizer": optimizer, "lr": 0.1, "loss": "squared error", "rows": rows}
        return name, {**spec, "epochs": epochs, **rest}

    return cases(
        seed,
        [
            row("one epoch of one batch", [4], 1),
            row("one epoch of three batches of one size", [3, 3, 3], 1, loss="poisson"),
            row("one epoch of three batches, the last one smaller", [4, 4, 1], 1),
            row("three epochs of two batches", [3, 5], 3, loss="poisson"),
            row("one batch, .grad holds earlier gradients", [4], 1, earlier="all"),
            row("two epochs of two batches, .grad holds earlier gradients", [2, 4], 2, earlier="some"),
            row(
                "one output; momentum, after a step",
                [4, 2],
                2,
                "momentum",
                stepped=1,
                loss="poisson",
                model="one output",
            ),
            row("Adam, after two steps", [3, 1, 2], 2, "Adam", stepped=2, earlier="all", loss="pinball"),
            row("weight decay and a frozen weight", [2, 4], 2, "decay", model="frozen"),
            row("a layer that the model does not use holds a gradient", [3, 2], 2, model="unused", earlier="all"),
            row("a frozen weight holds a gradient", [3, 3], 1, model="frozen", frozen_holds=True),
            row("dropout and batch norm in eval mode", [4, 3], 2, model="eval", earlier="some"),
            row("a model that behaves otherwise in train mode, in which it is", [3, 2], 2, model="moded"),
            row("one weight tied to two places", [2, 3], 1, "momentum", model="tied"),
            row("a learning rate at which the loss rises", [3, 2], 3, model="linear", lr=3.0),
            row("a small loss that hardly changes", [3, 2], 6, lr=1e-4, fits=True),
            row("float32, AdamW", [4, 4, 2], 2, "AdamW", dtype="float32"),
            row("no epochs", [3, 3], 0, earlier="all"),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    model, _, _ = model_and_batch(case)
    batches = batches_of(case)
    if case.spec.get("fits"):
        batches = [(x, model(x).detach() + 1e-3 * y) for x, y in batches]
    optimizer = optimizer_of(case, model)
    watch = StepWatch(model, optimizer)
    loss_fn = _InOrder(LOSSES[case.spec["loss"]], batches, case.spec["epochs"])
    return Arrangement(
        (model, optimizer, loss_fn, batches, case.spec["epochs"]),
        watch={"model": model, "batches": batches},
        facts=lambda _: {**watch.facts(), ORDER: loss_fn.order()},
    )


EXERCISE = Exercise(
    id="4.2",
    name="train",
    title="The loop around it",
    difficulty=2,
    minutes=12,
    goal=(
        "Write `train(model, optimizer, loss_fn, batches, epochs)`. `batches` is a list of one pair `(x, y)` or more, of one "
        "row or more each, and not always of the same number of rows. In each of `epochs` epochs every batch, in order, "
        "gives one step of `optimizer`, which holds all parameters of the model, with the gradient of its own mean loss, and with nothing else that was ever in "
        "`.grad`. When the function is called, `.grad` may hold any finite numbers, on a frozen or unused parameter too. They play no "
        "part, and a frozen parameter does not move. Clear to None or to zeros: no case tells the two apart. "
        "The function returns a "
        "list with one float an epoch: the mean loss over all the **samples** of the epoch, where each batch is "
        "measured before its own step. `loss_fn(prediction, target)` returns a mean over the rows of a batch. Without "
        "epochs the list is empty and nothing moves. The mode of the model stays as it was, and what `.grad` holds "
        "afterwards does not matter."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    loop=True,
    hints=(
        "How often should .grad be emptied: once in all, once an epoch, once a batch? Which loop turns that often?",
        "If you clear after each step, who clears before the first one?",
        "The loss of a batch is a mean over its own rows. A batch of one row and a batch of four do not weigh the "
        "same in the mean over samples: how many samples does each stand for?",
        "Add up, over the batches of an epoch, the loss as a number times the rows of the batch. Divide the sum by "
        "the number of rows of all batches, once, at the end of the epoch.",
    ),
    properties=(
        ("there are no epochs", lambda spec: spec["epochs"] == 0),
        ("there is one epoch of one batch", lambda spec: spec["epochs"] == 1 and len(spec["rows"]) == 1),
        ("the batches are not of one size", lambda spec: len(set(spec["rows"])) > 1),
        ("the batches are all of one size", lambda spec: len(set(spec["rows"])) == 1),
        (".grad was None before", lambda spec: "earlier" not in spec and "frozen_holds" not in spec),
        (".grad holds earlier gradients", lambda spec: "earlier" in spec),
        ("there is one epoch", lambda spec: spec["epochs"] == 1),
        ("there are several epochs", lambda spec: spec["epochs"] > 1),
        ("the optimizer has steps behind it", lambda spec: "stepped" in spec),
        ("the model has a layer that it does not use", lambda spec: spec["model"] == "unused"),
        ("a frozen weight holds a gradient", lambda spec: "frozen_holds" in spec),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("the model has one output", lambda spec: spec["model"] == "one output"),
        ("the loss rises", lambda spec: spec["lr"] > 1),
        ("the loss is small and hardly changes", lambda spec: bool(spec.get("fits"))),
        ("the loss rises, or hardly changes", lambda spec: spec["lr"] > 1 or bool(spec.get("fits"))),
        ("the model is in eval mode", lambda spec: spec["model"] == "eval"),
        ("the model behaves otherwise in train mode", lambda spec: spec["model"] == "moded"),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("the optimizer is plain SGD", lambda spec: spec["optimizer"] == "SGD"),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        STEPS: "`optimizer.step()` was called so often: {given}; asked is {right}.",
        ORDER: "loss_fn was handed the batches in the order {given}; asked is {right}.",
    },
    quantities={
        "the number of batches": lambda spec: len(spec["rows"]),
        "the number of samples": lambda spec: sum(spec["rows"]),
        "the number of epochs": lambda spec: spec["epochs"] or None,
        "the rows of the first batch": lambda spec: spec["rows"][0],
        "the rows of the last batch": lambda spec: spec["rows"][-1],
    },
)
