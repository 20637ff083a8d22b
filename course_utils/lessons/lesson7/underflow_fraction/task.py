"""Exercise 7.1: the share of a gradient that a smaller dtype rounds to zero."""

from __future__ import annotations

from typing import Any

import torch

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import DTYPES, Draw, cases
from course_utils.lessons.returned import number_in
from course_utils.plain import to_plain

LOST = "the share, as a number of entries"
HALVES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}


def _tensor(case: Case, number: int, shape: list[int], spec: dict[str, Any]) -> torch.Tensor:
    """Entries whose exponents of two are drawn evenly from `low` to `high`, with some zeros among them."""
    drawn = Draw(Case(case.name, {"seed": case.spec["seed"] + 100 * number}))
    low, high = spec.get("low", -30), spec.get("high", -20)
    exponents = low + (high - low) * torch.special.ndtr(drawn.normal(*shape))
    values = torch.sign(drawn.normal(*shape)) * 2.0**exponents
    values[drawn.normal(*shape) < spec.get("zeros_below", -0.7)] = 0.0
    for at, value in enumerate(spec.get("begins", ())):
        values.flatten()[at] = float(value)
    return values.to(DTYPES[spec.get("dtype", case.spec["dtype"])]).to(case.spec.get("device", "cpu"))


def _cases(seed: int) -> list[Case]:
    half, brain = "float16", "bfloat16"

    def row(
        name: str, tensors: list[dict[str, Any]], scale: float = 1.0, to: str = half, dtype: str = "float32"
    ) -> tuple[str, dict[str, Any]]:
        return name, {"tensors": tensors, "scale": scale, "to": to, "dtype": dtype}

    return cases(
        seed,
        [
            # A whole number, which no probe changes: a share may stay the same where the scale changes a little.
            row("one tensor, a scale of 1", [{"shape": [40]}], 1),
            row("the same range, scaled by 16", [{"shape": [40]}], 16.0),
            row(
                "three tensors of different sizes",
                [
                    {"shape": [30], "low": -28, "high": -22},
                    {"shape": [2, 3], "low": -40},
                    {"shape": [], "zeros_below": -9},
                ],
                4.0,
            ),
            row("entries that float16 holds as subnormal numbers", [{"shape": [60], "low": -26, "high": -14}]),
            row(
                "most entries are zero before", [{"shape": [50], "zeros_below": 0.8}, {"shape": [4], "zeros_below": 9}]
            ),
            row("nothing but zeros", [{"shape": [3], "zeros_below": 9}, {"shape": [2, 2], "zeros_below": 9}]),
            row("an empty list", []),
            row("a tensor without entries among others", [{"shape": [0]}, {"shape": [20]}], 2.0),
            row("bfloat16: nothing is too small", [{"shape": [40], "low": -60}], 1.0, brain),
            row("bfloat16, at the end of its range", [{"shape": [60], "low": -140, "high": -126}], 1.0, brain),
            row("a scale below one", [{"shape": [60], "low": -24, "high": -10}], 2.0**-10),
            row(
                "so small that scaling alone makes some zero",
                [{"shape": [60], "low": -149, "high": -110}],
                2.0**-8,
                brain,
            ),
            row("infinite and NaN entries", [{"shape": [40], "begins": ["inf", "nan", "-inf"]}], 8.0),
            row("entries that overflow", [{"shape": [40], "low": -45, "high": 8}], 2.0**16),
            row(
                "float64, rounded to float32",
                [{"shape": [60], "low": -155, "high": -140}],
                4.0,
                "float32",
                dtype="float64",
            ),
            row(
                "float64 beside float32",
                [{"shape": [40], "low": -180, "high": -20}, {"shape": [10], "dtype": "float32"}],
                2.0**12,
                dtype="float64",
            ),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    gradients = [_tensor(case, number, one["shape"], one) for number, one in enumerate(case.spec["tensors"])]
    nonzero = sum(int((gradient != 0).sum()) for gradient in gradients)

    def facts(result: object) -> dict[str, str]:
        number = number_in(to_plain(result))
        return {} if number is None or not nonzero else {LOST: f"{number * nonzero:g} of {nonzero}"}

    return Arrangement(
        (gradients, case.spec["scale"], HALVES[case.spec["to"]]), watch={"gradients": gradients}, facts=facts
    )


def _entries(spec: Any) -> int:
    return sum(torch.Size(one["shape"]).numel() for one in spec["tensors"])


EXERCISE = Exercise(
    id="7.1",
    name="underflow_fraction",
    title="What is lost to underflow?",
    difficulty=1,
    minutes=8,
    goal=(
        "Write `underflow_fraction(gradients, scale, dtype)`. `gradients` is a list of float32 and float64 tensors of "
        "any shapes; the list, or a tensor in it, may be empty. Each entry is multiplied by the number `scale`, in "
        "its own dtype or a wider one, and then rounded to `dtype`, float16, bfloat16 or float32, as `.to(dtype)` does. Return the share of the nonzero "
        "entries that this makes zero, over all tensors together, as a Python float. An entry that was zero "
        "before counts neither as lost nor among the entries. An infinite or NaN entry is nonzero and does not become "
        "zero. Where no entry is nonzero, return 0.0."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Two counts are enough: how many entries were nonzero before, and how many of those are zero afterwards. In "
        "which order do scaling and rounding come?",
        "`.to(dtype)` rounds as the hardware does, subnormal numbers included: no threshold is needed. Compare what it "
        "gives with zero.",
        "Go through the tensors once, add to both counts, and divide at the end, if there is anything to divide by. A "
        "mean of shares would let a tensor of one entry weigh as much as one of a million.",
    ),
    properties=(
        ("the list is empty", lambda spec: not spec["tensors"]),
        ("there is no nonzero entry", lambda spec: all(one.get("zeros_below", 0) > 5 for one in spec["tensors"])),
        ("the dtype is bfloat16", lambda spec: spec["to"] == "bfloat16"),
        ("the dtype is float32", lambda spec: spec["to"] == "float32"),
        ("an entry is infinite or NaN", lambda spec: any("begins" in one for one in spec["tensors"])),
        ("a tensor has no entries", lambda spec: any(0 in one["shape"] for one in spec["tensors"])),
        ("a tensor is 0-d", lambda spec: any(one["shape"] == [] for one in spec["tensors"])),
        ("the scale is 1", lambda spec: spec["scale"] == 1),
        ("the scale is not 1", lambda spec: spec["scale"] != 1),
        ("the scale is smaller than 1", lambda spec: spec["scale"] < 1),
        ("there are several tensors", lambda spec: len(spec["tensors"]) > 1),
        ("there is one tensor", lambda spec: len(spec["tensors"]) == 1),
    ),
    telling={LOST: "as a share of the nonzero entries, what came back would be {given}. Lost are {right}."},
    quantities={
        "the number of tensors": lambda spec: len(spec["tensors"]),
        "the number of entries": _entries,
        "scale": lambda spec: spec["scale"],
    },
)
