"""Exercise 6.1: micro-batches of one size, one after another, and the gradient of the whole batch."""

from __future__ import annotations

from typing import Any

from course_utils.exercise import Case, Exercise
from course_utils.lessons.inputs import cases
from course_utils.lessons.lesson6.inputs import BY_ITSELF, GRAD_BEFORE, NO_HOOKS, ONE_GRAPH
from course_utils.lessons.lesson6.micro import PROPERTIES, QUANTITIES, arrange, telling_cases


def _cases(seed: int) -> list[Case]:
    def row(name: str, rows: int, count: int, **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"model": "mlp", "loss": "squared error", "rows": [rows] * count, **rest}

    return cases(
        seed,
        [
            row("one micro-batch", 4, 1),
            row("two micro-batches", 3, 2, loss="poisson"),
            row("four micro-batches of one row", 1, 4),
            row("three micro-batches, .grad holds earlier gradients", 2, 3, earlier="all"),
            row("one micro-batch, .grad holds earlier gradients", 5, 1, earlier="some", loss="pinball"),
            row("a layer that the model does not use holds a gradient", 3, 2, model="unused", earlier="all"),
            row(".grad holds infinite and NaN gradients", 2, 3, earlier="not finite", loss="poisson"),
            row("a frozen weight", 4, 3, model="frozen", earlier="all"),
            row("one weight tied to two places", 2, 4, model="tied", earlier="some"),
            row("two biases that are added to each other", 3, 3, model="twins"),
            row("a parameter of the model's own, and nested layers", 2, 3, model="scaled", earlier="all"),
            row("dropout and batch norm in eval mode", 3, 2, model="eval", earlier="some"),
            row("a model that behaves otherwise in train mode, in which it is", 2, 3, model="moded"),
            row("float32, six micro-batches", 2, 6, dtype="float32", earlier="all"),
        ],
    )


EXERCISE = Exercise(
    id="6.1",
    name="accumulate_equal",
    title="Small batches, the large batch's gradient",
    difficulty=1,
    minutes=8,
    goal=(
        "Write `accumulate_equal(model, loss_fn, micro_batches)`. `micro_batches` is a list of one pair `(x, y)` or more, "
        "all of the same number of rows. Afterwards every `.grad` holds the gradient of the loss of all these rows as one "
        f"large batch. {BY_ITSELF} {GRAD_BEFORE}"
    ),
    cases=_cases,
    arrange=arrange,
    may_change=frozenset({"grad"}),
    rules=(ONE_GRAPH, NO_HOOKS),
    hints=(
        "Two questions, one after the other. Who adds the gradients of the micro-batches? And is what comes out a sum or "
        "a mean?",
        "The loss of each micro-batch is a mean over its own rows. All have the same number of rows, so the mean over all "
        "rows is the mean of these means. What share does each have in it?",
        "Empty .grad once, before the first backward. Then let each micro-batch's loss go backward by itself, divided by "
        "the number of micro-batches: backward adds, and frees the graph it has walked.",
    ),
    properties=telling_cases(PROPERTIES, _cases(0)),
    quantities=QUANTITIES,
)
