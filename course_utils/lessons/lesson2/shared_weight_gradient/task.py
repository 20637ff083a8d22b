"""Exercise 2.3: what each use of one weight adds to its gradient."""

from __future__ import annotations

import math
from typing import Any

import torch

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases


def shared_inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """`w` (0-d or shaped like `x`) and `x` of a case, as leaves with earlier `.grad` where the case says so."""
    draw = Draw(case)
    w = 0.9 + 0.4 * torch.tanh(draw.normal(*case.spec.get("w", case.spec["shape"])))  # far from zero
    if case.spec.get("zeros"):
        w[::2] = 0
    x = draw.normal(*case.spec["shape"])
    for tensor in (w, x) if case.spec.get("leaves") else ():
        tensor.requires_grad_()
        tensor.grad = draw.normal(*tensor.shape)
        if case.spec.get("infinite"):
            tensor.grad.fill_(math.inf)
    return w, x


def _cases(seed: int) -> list[Case]:
    scalar: dict[str, Any] = {"w": []}
    return cases(
        seed,
        [
            ("w and x are vectors of 3, depth 2", {"shape": [3], "depth": 2}),
            ("w and x are vectors of 4, depth 3", {"shape": [4], "depth": 3}),
            ("w is 0-d, x a vector of 4, depth 3", {"shape": [4], "depth": 3, **scalar}),
            ("depth 1", {"shape": [3], "depth": 1}),
            ("w and x are 0-d, depth 4", {"shape": [], "depth": 4, **scalar}),
            ("w and x are matrices of 2 by 3, depth 4", {"shape": [2, 3], "depth": 4}),
            ("w is 0-d, x a matrix of 2 by 3, depth 1", {"shape": [2, 3], "depth": 1, **scalar}),
            ("w and x require gradients and hold some", {"shape": [3], "depth": 3, "leaves": True}),
            (
                "w is 0-d, requires gradients and holds an infinite one, depth 5",
                {"shape": [2, 2], "depth": 5, "leaves": True, "infinite": True, **scalar},
            ),
            ("w has zeros in it, depth 3", {"shape": [4], "depth": 3, "zeros": True}),
            ("w and x have shape (1,), depth 2", {"shape": [1], "depth": 2}),
            ("float32, depth 3", {"shape": [4], "depth": 3, "dtype": "float32"}),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    w, x = shared_inputs(case)
    return Arrangement((w, x, case.spec["depth"]), watch={"w": w, "x": x})


EXERCISE = Exercise(
    id="2.3",
    name="shared_weight_gradient",
    title="One weight, many uses",
    difficulty=4,
    minutes=20,
    goal=(
        "Let `h = x`, then `depth` times `h = tanh(w * h)`, then `loss = h.sum()`. Write "
        "`shared_weight_gradient(w, x, depth)` that returns `(contributions, total)`: what each use of `w` adds to "
        "its gradient, first use first, and their sum. `w` is 0-d or shaped like `x`, and so is each contribution. "
        "`contributions` is a list, a tuple or one stacked tensor; `depth` is at least 1. By hand or with autograd, "
        "as you like. `w` and `x` may or may not require gradients; they and their `.grad` stay as they were."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Autograd adds the uses up before you can look. What if every use had a weight of its own, all with the "
        "same value?",
        "Make depth separate copies of w that require gradients, use a fresh one in each round, and ask for the "
        "gradient of the loss with respect to all of them. The total is then an addition.",
        "Copies that are leaves have no history: detach, clone, require gradients. torch.autograd.grad takes a "
        "sequence of inputs, returns one gradient for each in the same order, and writes to no .grad.",
    ),
    properties=(
        ("depth is 1", lambda spec: spec["depth"] == 1),
        ("depth is 2", lambda spec: spec["depth"] == 2),
        ("w has zeros in it", lambda spec: bool(spec.get("zeros"))),
        ("w has one entry and is no 0-d tensor", lambda spec: spec["shape"] == [1]),
        ("w is 0-d", lambda spec: spec.get("w", spec["shape"]) == []),
        ("w is shaped like x", lambda spec: spec.get("w", spec["shape"]) == spec["shape"]),
        ("w and x require gradients", lambda spec: bool(spec.get("leaves"))),
        ("x is a vector", lambda spec: len(spec["shape"]) == 1),
        ("x is a matrix", lambda spec: len(spec["shape"]) == 2),
        ("x is 0-d", lambda spec: spec["shape"] == []),
        ("the inputs are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    quantities={
        "depth": lambda spec: spec["depth"],
        "the number of entries of x": lambda spec: torch.Size(spec["shape"]).numel(),
    },
)
