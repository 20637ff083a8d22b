"""Exercise 2.7: find the mistake in a loop that cuts its batches into pieces."""

from __future__ import annotations

from typing import Any

import torch

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import cases, model_and_batch
from course_utils.lessons.training import OPTIMIZERS, PARAMETERS, batches_of, parameters_after


def squared_error_sum(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The squared difference, summed over all entries; 0-d."""
    return ((prediction - target) ** 2).sum()


def _cases(seed: int) -> list[Case]:
    def row(name: str, rows: list[int], pieces: int, **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"model": "mlp", "optimizer": "SGD", "rows": rows, "pieces": pieces, **rest}

    return cases(
        seed,
        [
            row("one batch in one piece", [4], 1),
            row("one batch in two pieces", [4], 2),
            row("three batches in four pieces", [8, 8, 8], 4),
            row("three batches, each in one piece", [4, 4, 4], 1),
            row("two batches in three pieces, .grad holds earlier gradients", [6, 6], 3, earlier="all"),
            row("one batch in one piece, .grad holds earlier gradients", [4], 1, earlier="all"),
            row("seven rows in three pieces", [7, 7], 3),
            row("momentum, three batches in two pieces", [6, 6, 6], 2, optimizer="momentum"),
            row("Adam, three batches in two pieces", [6, 6, 6], 2, optimizer="Adam", earlier="some"),
            row("weight decay and a frozen weight", [6, 6], 2, optimizer="decay", model="frozen"),
            row("one weight tied to two places", [4, 6], 2, model="tied", earlier="all"),
            row("dropout and batch norm in eval mode", [4, 4], 2, model="eval"),
            row("float32, momentum", [8, 8], 4, optimizer="momentum", dtype="float32"),
            row("no batch at all", [], 2, earlier="all"),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    model, _, _ = model_and_batch(case)
    batches = batches_of(case)
    optimizer = OPTIMIZERS[case.spec["optimizer"]]([p for p in model.parameters() if p.requires_grad], 0.02)
    return Arrangement(
        (model, optimizer, squared_error_sum, batches, case.spec["pieces"]),
        watch={"model": model, "batches": batches},
        facts=lambda _: {PARAMETERS: parameters_after(model)},
    )


EXERCISE = Exercise(
    id="2.7",
    name="train_in_pieces",
    title="Find the mistake in this loop",
    difficulty=2,
    minutes=10,
    goal=(
        "`train_in_pieces(model, optimizer, loss_fn, batches, pieces)` trains, raises nothing, and is wrong. Mend it. "
        "Each of `batches` is a pair `(x, y)` and gives one step of the optimizer, with the gradient of the whole "
        "batch. The loop sends it through the model in `pieces` pieces of rows, as `x.chunk(pieces)` cuts them; what is "
        "judged are the numbers, with models that treat each row by itself. `loss_fn` returns a **sum** over rows. Whatever "
        "`.grad` held before the call plays no part, and what it holds afterwards does not matter; every parameter that is "
        "trained gets a gradient from every batch. The function returns one float a batch: the loss of the whole batch before "
        "its step."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    loop=True,
    hints=(
        "Look at the picture, not at the code: how high is the stack of backward passes in .grad at each step, and how "
        "high should it be?",
        "Something empties .grad between two pieces of one batch. In which line does the mark stand?",
        "When you have moved that line, run the picture again. A stack may now be too high: what came before the batch, "
        "the batch before or what .grad held at the start, must go.",
        "Between the step of one batch and the first backward of the next there is exactly one place inside the outer "
        "loop and outside the inner one that serves the first batch, too.",
    ),
    properties=(
        ("the batches are not cut", lambda spec: spec["pieces"] == 1),
        ("the batches are cut", lambda spec: spec["pieces"] > 1),
        ("there is more than one batch", lambda spec: len(spec["rows"]) > 1),
        ("there is one batch", lambda spec: len(spec["rows"]) == 1),
        ("there is no batch", lambda spec: not spec["rows"]),
        (".grad holds earlier gradients", lambda spec: "earlier" in spec),
        (".grad is None before", lambda spec: "earlier" not in spec),
        ("the pieces are not of one size", lambda spec: any(rows % spec["pieces"] for rows in spec["rows"])),
        ("the optimizer is SGD with momentum", lambda spec: spec["optimizer"] == "momentum"),
        ("the optimizer is Adam", lambda spec: spec["optimizer"] == "Adam"),
        ("the optimizer has weight decay", lambda spec: spec["optimizer"] == "decay"),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    quantities={
        "the number of pieces": lambda spec: spec["pieces"],
        "the number of batches": lambda spec: len(spec["rows"]),
    },
)
