"""Exercise 1.5: backpropagation by hand."""

from __future__ import annotations

import torch

from course_utils.checks.observe.spies import AutogradSpy
from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases

AUTOGRAD = "autograd"
"""The fact that lists what was used of autograd."""
PARAMETERS = ("W1", "b1", "W2", "b2")
NAMES = (*PARAMETERS, "x", "y")


def inputs(case: Case) -> dict[str, torch.Tensor]:
    """`W1 (d, h)`, `b1 (h,)`, `W2 (h, k)`, `b2 (k,)`, `x (n, d)`, `y (n, k)` of a case.

    `shift` is added to b1, so that some hidden units are far out.
    """
    draw = Draw(case)
    n, d, h, k = (case.spec[key] for key in "ndhk")
    shapes = {"W1": (d, h), "b1": (h,), "W2": (h, k), "b2": (k,), "x": (n, d), "y": (n, k)}
    found = {name: draw.normal(*shape, scale=0.8) for name, shape in shapes.items()}
    if "shift" in case.spec:
        found["b1"] = found["b1"] + found["b1"].new_tensor(case.spec["shift"])
    return found


def _cases(seed: int) -> list[Case]:
    # In the first case k is not 2: a k that is missing must not look like the 2 of the square.
    sizes = [(5, 3, 4, 3), (1, 2, 3, 1), (6, 4, 2, 3), (4, 3, 3, 3), (7, 1, 5, 2), (3, 2, 1, 4), (4, 2, 3, 1)]
    rows = [
        (f"n = {n}, d = {d}, h = {h}, k = {k}", dict(zip("ndhk", (n, d, h, k), strict=True))) for n, d, h, k in sizes
    ]
    first = rows[0][1]
    # One unit stays in the middle, so that the size of the gradients is an ordinary one.
    return cases(
        seed,
        [
            *rows,
            ("float32, n = 5, d = 3, h = 4, k = 3", {**first, "dtype": "float32"}),
            ("large values before tanh, up to about 800", {**first, "shift": [0, 22, -60, 800]}),
            (
                "large values before tanh in float32, up to about 120",
                {**first, "shift": [0, 22, -60, 120], "dtype": "float32"},
            ),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    found = inputs(case)
    spy = AutogradSpy()
    return Arrangement(
        tuple(found[name] for name in NAMES),
        watch=dict(found),
        within=(spy,),
        facts=lambda _: {AUTOGRAD: spy.used[:9]},
    )


EXERCISE = Exercise(
    id="1.5",
    name="two_layer_backward",
    title="Backpropagation by hand",
    difficulty=4,
    minutes=25,
    goal=(
        "Write `two_layer_backward(W1, b1, W2, b2, x, y)`: a dict with the gradients of "
        "`mean((tanh(x @ W1 + b1) @ W2 + b2 - y)**2)` under the keys `W1`, `b1`, `W2`, `b2`. Shapes: `W1 (d, h)`, "
        "`b1 (h,)`, `W2 (h, k)`, `b2 (k,)`, `x (n, d)`, `y (n, k)`; the mean is over all `n * k` entries. The inputs require no gradients."
    ),
    cases=_cases,
    arrange=_arrange,
    rules=("By hand: no autograd.",),
    hints=(
        "Run forward and keep what you pass: the hidden values after tanh and the output. Then walk back through the "
        "same stations in the opposite order, asking at each for the derivative of the loss with respect to it.",
        "At the output, the derivative is the residual times a factor with a 2 and the number of all entries. Each "
        "weight's gradient is its transposed input times what arrives at its output; each bias adds over the rows.",
        "To pass tanh backwards, multiply by one minus the square of the hidden value (the value after tanh). Before "
        "that, the signal crosses W2 backwards, by its transpose.",
    ),
    properties=(
        ("values before tanh are large", lambda spec: "shift" in spec),
        ("there is one row", lambda spec: spec["n"] == 1),
        ("there is one output", lambda spec: spec["k"] == 1),
        ("W2 is square", lambda spec: spec["h"] == spec["k"]),
        ("W1 is square", lambda spec: spec["d"] == spec["h"]),
        ("there is one feature", lambda spec: spec["d"] == 1),
        ("there is one hidden unit", lambda spec: spec["h"] == 1),
        ("the inputs are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    quantities={
        "n, the number of rows": lambda spec: spec["n"],
        "k, the number of outputs": lambda spec: spec["k"],
        "h, the number of hidden units": lambda spec: spec["h"],
        "d, the number of features": lambda spec: spec["d"],
    },
)
