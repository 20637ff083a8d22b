"""Exercise 3.1: clear the gradients of any tensors, in one of two ways."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases
from course_utils.lessons.lesson3.clearing import KEPT, Before, keeps
from course_utils.lessons.lesson3.inputs import hold


def _generates(spec: Any) -> bool:
    return spec.get("given") == "generator"


def _cases(seed: int) -> list[Case]:
    def row(name: str, shapes: list[list[int]], held: list[str], **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"shapes": shapes, "held": held, **rest}

    none, zeros = {"set_to_none": True}, {"set_to_none": False}
    return cases(
        seed,
        [
            row("one parameter", [[3]], ["gradient"]),
            row("two parameters, set_to_none=False", [[3], [2, 3]], ["gradient"] * 2, **zeros),
            row("two of four hold no gradient", [[3], [2], [2, 2], [2]], ["none", "gradient", "none", "gradient"]),
            row(
                "two of four hold no gradient, set_to_none=False",
                [[3], [2], [2, 2], [2]],
                ["none", "gradient", "none", "gradient"],
                **zeros,
            ),
            row("a generator, set_to_none=True", [[3], [2, 3], [2]], ["gradient"] * 3, given="generator", **none),
            row("a generator, set_to_none=False", [[3], [2, 3], [2]], ["gradient"] * 3, given="generator", **zeros),
            row(
                "infinite and NaN gradients, set_to_none=False",
                [[3], [2, 2], [2]],
                ["infinite", "NaN", "gradient"],
                **zeros,
            ),
            row("gradients of zeros, and one that sums to zero", [[3], [4], [2, 2]], ["zeros", "cancelling", "NaN"]),
            row(
                "gradients that are zero or sum to zero, set_to_none=False",
                [[3], [4]],
                ["zeros", "cancelling"],
                **zeros,
            ),
            row("a frozen parameter that holds a gradient", [[3], [2]], ["gradient"] * 2, frozen=[0], **none),
            row(
                "a frozen parameter that holds a gradient, set_to_none=False",
                [[3], [2]],
                ["gradient"] * 2,
                frozen=[0],
                **zeros,
            ),
            row("plain tensors, one of them 0-d", [[], [2, 3]], ["gradient"] * 2, plain=True),
            row(
                "plain tensors, one of them 0-d, set_to_none=False",
                [[2, 3], []],
                ["gradient"] * 2,
                plain=True,
                **zeros,
            ),
            row(
                "gradients that are transposed or part of a bucket, set_to_none=False",
                [[2, 3], [2]],
                ["transposed", "part of a bucket"],
                given="tuple",
                **zeros,
            ),
            row("an empty list", [], []),
            row("an empty generator, set_to_none=False", [], [], given="generator", **zeros),
            row(
                "float32, set_to_none=False",
                [[2, 3], [2]],
                ["gradient", "gradient"],
                given="generator",
                dtype="float32",
                **zeros,
            ),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    draw, spec = Draw(case), case.spec
    params: list[torch.Tensor] = []
    for index, (shape, kind) in enumerate(zip(spec["shapes"], spec["held"], strict=True)):
        values = draw.normal(*shape)
        params.append(values.requires_grad_() if spec.get("plain") else nn.Parameter(values))
        hold(draw, params[-1], kind)
        params[-1].requires_grad_(index not in spec.get("frozen", ()))
    named = {f"param {number}": param for number, param in enumerate(params, 1)}
    before = Before(named, keeps(spec))
    flag = {"set_to_none": spec["set_to_none"]} if "set_to_none" in spec else {}
    return Arrangement(
        (_as(params, spec.get("given", "list")),), flag, watch=dict(named), facts=lambda _: before.facts()
    )


def _as(params: list[torch.Tensor], given: str) -> Iterable[torch.Tensor]:
    if given == "generator":
        return (param for param in params)
    return tuple(params) if given == "tuple" else params


EXERCISE = Exercise(
    id="3.1",
    name="clear_gradients",
    title="Clear gradients, in both ways",
    difficulty=2,
    minutes=8,
    goal=(
        "Write `clear_gradients(params, set_to_none=True)`. `params` is any iterable of parameters or leaf tensors: a "
        "list, or a generator such as `model.parameters()` returns, which can be walked through only once. It may be "
        "empty. With `set_to_none=True` every `.grad` is None afterwards. With `set_to_none=False` a `.grad` that is "
        "None stays None, and one that holds a tensor holds zeros afterwards, in the same tensor object and the same "
        "memory: other code may hold it too. What becomes of the old tensor where `.grad` is to be None does not "
        "matter. Clear every gradient: those of frozen parameters, and infinite and NaN entries, too. Values and "
        "`requires_grad` of the parameters stay as they were. No gradient is sparse or carries a graph."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad"}),
    hints=(
        "There are two questions for each tensor: does it hold a gradient at all, and what does set_to_none ask for? "
        "Only one of the four combinations needs an operation on a tensor.",
        "In the loop, a name for the gradient is not the gradient's place. What is assigned to a local name never "
        "reaches the parameter.",
        "Zeros in the same tensor need an operation that writes into it, one of those whose names end in an "
        "underscore. Which of them gives zero from NaN as well? Multiplication does not.",
    ),
    properties=(
        ("set_to_none is False", keeps),
        ("set_to_none is True or left out", lambda spec: not keeps(spec)),
        ("set_to_none is left out", lambda spec: "set_to_none" not in spec),
        ("a .grad is None before, and set_to_none is False", lambda spec: "none" in spec["held"] and keeps(spec)),
        ("a .grad is None before", lambda spec: "none" in spec["held"]),
        ("there is no parameter at all", lambda spec: not spec["shapes"]),
        ("a parameter is frozen", lambda spec: "frozen" in spec),
        ("a gradient holds NaN", lambda spec: "NaN" in spec["held"]),
        ("a gradient is all zeros", lambda spec: "zeros" in spec["held"]),
        ("a gradient is transposed or part of a bucket", lambda spec: "part of a bucket" in spec["held"]),
        ("a tensor is 0-d, and set_to_none is False", lambda spec: [] in spec["shapes"] and keeps(spec)),
        ("the tensors are no nn.Parameters", lambda spec: bool(spec.get("plain"))),
        ("params is a generator that gives tensors", lambda spec: _generates(spec) and bool(spec["shapes"])),
        ("params is a generator", lambda spec: _generates(spec)),
        ("params is no generator", lambda spec: not _generates(spec)),
        ("the parameters are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={KEPT: "still what they were are the gradients of: {given}."},
)
