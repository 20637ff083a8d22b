"""Exercise 1.2: derive a gradient by hand."""

from __future__ import annotations

import torch

from course_utils.checks.observe.spies import AutogradSpy
from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases

AUTOGRAD = "autograd"
"""The fact that lists what was used of autograd."""


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """`w (d,)`, `x (n, d)`, `y (n,)` of a case."""
    draw, n, d = Draw(case), case.spec["n"], case.spec["d"]
    w, x, y = draw.normal(d), draw.normal(n, d), draw.normal(n)
    return w, x.t().contiguous().t() if case.spec.get("transposed") else x, y


def _cases(seed: int) -> list[Case]:
    sizes = [(5, 3), (8, 2), (1, 4), (6, 1), (4, 4), (50, 7)]
    rows = [(f"n = {n} rows, d = {d} features", {"n": n, "d": d}) for n, d in sizes]
    return cases(
        seed,
        [
            *rows,
            ("x is the transpose of a contiguous matrix, n = 4, d = 3", {"n": 4, "d": 3, "transposed": True}),
            ("float32, n = 6, d = 3", {"n": 6, "d": 3, "dtype": "float32"}),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    w, x, y = inputs(case)
    spy = AutogradSpy()
    return Arrangement(
        (w, x, y), watch={"w": w, "x": x, "y": y}, within=(spy,), facts=lambda _: {AUTOGRAD: spy.used[:9]}
    )


EXERCISE = Exercise(
    id="1.2",
    name="linear_mse_gradient",
    title="Derive a gradient by hand",
    difficulty=2,
    minutes=10,
    goal=(
        "Write `linear_mse_gradient(w, x, y)`: the gradient, with respect to `w`, of `mean((x @ w - y)**2)`. Shapes: "
        "`x (n, d)`, `w (d,)`, `y (n,)`; the result has the shape of `w`. The inputs require no gradients, and "
        "`x` need not be contiguous. Derive it on paper first."
    ),
    cases=_cases,
    arrange=_arrange,
    rules=("By hand: no autograd.",),
    hints=(
        "Name the residual r = x @ w - y, of shape (n,). The loss is the mean of r squared. What is the derivative "
        "of the loss with respect to one entry of r?",
        "Entry j of w moves every row's residual, row i by x[i, j]. The chain rule multiplies the two derivatives "
        "and adds over the rows.",
        "Adding over rows of x[i, j] times r[i] is one matrix product with a transposed x. What is left is a factor "
        "in front that holds a 2 and an n.",
    ),
    properties=(
        ("there is one row", lambda spec: spec["n"] == 1),
        ("x is not contiguous", lambda spec: bool(spec.get("transposed"))),
        ("there is one feature", lambda spec: spec["d"] == 1),
        ("there are as many rows as features", lambda spec: spec["n"] == spec["d"]),
        ("there are five rows", lambda spec: spec["n"] == 5),
        ("there are more rows than features", lambda spec: spec["n"] > spec["d"]),
        ("the inputs are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    quantities={
        "n, the number of rows": lambda spec: spec["n"],
        "d, the number of features": lambda spec: spec["d"],
    },
)
