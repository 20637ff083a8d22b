"""Exercise 6.2: micro-batches of different sizes, and the gradient of the whole batch."""

from __future__ import annotations

from typing import Any

from course_utils.exercise import Case, Exercise
from course_utils.lessons.inputs import cases
from course_utils.lessons.lesson6.inputs import BY_ITSELF, GRAD_BEFORE, NO_HOOKS, ONE_GRAPH
from course_utils.lessons.lesson6.micro import PROPERTIES, QUANTITIES, arrange, telling_cases


def _cases(seed: int) -> list[Case]:
    def row(name: str, rows: list[int], **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"model": "mlp", "loss": "squared error", "rows": rows, **rest}

    return cases(
        seed,
        [
            row("one micro-batch", [4]),
            row("three micro-batches of one size", [2, 2, 2], loss="poisson"),
            row("two micro-batches, the second smaller", [4, 2]),
            row("three micro-batches, the last with one row", [3, 3, 1], earlier="all", loss="pinball"),
            row("three micro-batches, the first with one row", [1, 5, 3], loss="poisson"),
            row("four micro-batches, the largest in the middle", [2, 6, 1, 3], earlier="some"),
            row("a layer that the model does not use holds a gradient", [3, 1], model="unused", earlier="all"),
            row(".grad holds infinite and NaN gradients", [2, 5, 2], earlier="not finite"),
            row("a frozen weight", [4, 1, 2], model="frozen", earlier="all"),
            row("a parameter of the model's own, and nested layers", [1, 2, 4], model="scaled", earlier="all"),
            row("dropout and batch norm in eval mode", [5, 2], model="eval", earlier="some"),
            row("a model that behaves otherwise in train mode, in which it is", [2, 3, 1], model="moded"),
            row("float32, five micro-batches", [3, 1, 4, 1, 5], dtype="float32", earlier="all"),
        ],
    )


EXERCISE = Exercise(
    id="6.2",
    name="accumulate_uneven",
    title="Micro-batches of different sizes",
    difficulty=2,
    minutes=10,
    goal=(
        "Write `accumulate_uneven(model, loss_fn, micro_batches)`. The same as 6.1, but the pairs `(x, y)` may have "
        "different numbers of rows, one or more each. Afterwards every `.grad` holds the gradient of the loss of all "
        f"these rows as one large batch, in which each **row** counts alike. {BY_ITSELF} {GRAD_BEFORE}"
    ),
    cases=_cases,
    arrange=arrange,
    may_change=frozenset({"grad"}),
    rules=(ONE_GRAPH, NO_HOOKS),
    hints=(
        "One micro-batch has a single row, another has four. If both losses are divided by the same number, how much does "
        "the single row count, and how much one of the four?",
        "What is the sum of the losses over the rows of a micro-batch, if loss_fn gives their mean? And by what is the "
        "sum over all rows to be divided?",
        "Count the rows of all micro-batches before you begin. Each loss then goes backward times its own number of rows, "
        "divided by that count.",
    ),
    properties=telling_cases(PROPERTIES, _cases(0)),
    quantities=QUANTITIES,
)
