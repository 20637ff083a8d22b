"""Exercise 1.1: measure a gradient by central differences."""

from __future__ import annotations

import torch

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import cases
from course_utils.lessons.lesson1.inputs import FUNCTIONS, Scalar, point

H = 1e-5
"""The default of `h`."""
CALLS = "calls of f"
SHAPES = "shapes f was called with"
MOVED = "entries moved in a call of f"
BY = "moved by, in steps of h"
NUMBERS = "numbers f was called with"


class _Probes:
    """The function handed to the learner, and where it was called."""

    def __init__(self, f: Scalar, x: torch.Tensor, h: float) -> None:
        self._f, self._h = f, h
        self._x = x.detach().clone()
        self._calls = 0
        self._shapes: set[tuple[int, ...]] = set()
        self._moved: set[int] = set()
        self._by: set[float] = set()
        self._numbers: set[str] = set()

    def __call__(self, at: torch.Tensor) -> torch.Tensor:
        self._calls += 1
        try:
            self._note(at)
        except (RuntimeError, AttributeError, TypeError):
            pass  # no plain tensor: one that torch.func maps over, or none at all
        return self._f(at)

    def _note(self, at: torch.Tensor) -> None:
        self._shapes.add(tuple(at.shape))
        self._numbers.add("floating" if at.is_floating_point() else "complex" if at.is_complex() else "whole")
        if at.numel() == self._x.numel() and not at.is_complex():
            moves = ((at.detach().reshape(-1) - self._x.reshape(-1)) / self._h).double()
            moved = moves[moves.abs() > 1e-4]
            self._moved.add(len(moved))
            self._by |= {float(f"{value:.2g}") for value in (moved.tolist() or [0.0])[:8]}

    def facts(self) -> dict[str, object]:
        return {
            CALLS: self._calls,
            NUMBERS: sorted(self._numbers),
            SHAPES: sorted(map(list, self._shapes)),
            MOVED: sorted(self._moved),
            BY: sorted(self._by)[:8],
        }


def _cases(seed: int) -> list[Case]:
    return cases(
        seed,
        [
            ("vector of 3, h = 0.1", {"f": "wave", "shape": [3], "h": 0.1}),
            ("vector of 4, h left at its default", {"f": "cubic", "shape": [4]}),
            ("vector of 2, h = 0.3", {"f": "cubic", "shape": [2], "h": 0.3}),
            (
                "matrix of 2 by 3, h = 0.05, f depends on the shape",
                {"f": "columns", "shape": [2, 3], "h": 0.05},
            ),
            ("0-d tensor, h = 0.2", {"f": "cubic", "shape": [], "h": 0.2}),
            ("a function autograd cannot look into, h = 0.01", {"f": "opaque", "shape": [5], "h": 0.01}),
            (
                "a transposed, non-contiguous matrix, h = 0.1",
                {"f": "columns", "shape": [3, 2], "transposed": True, "h": 0.1},
            ),
            ("float32, h = 0.1", {"f": "wave", "shape": [4], "h": 0.1, "dtype": "float32"}),
            ("shape 2 by 1 by 2, h left at its default", {"f": "opaque", "shape": [2, 1, 2]}),
            ("a vector with zeros in it, h = 0.1", {"f": "wave", "shape": [4], "h": 0.1, "zeros": True}),
        ],
    )


def point_1_1(case: Case) -> torch.Tensor:
    """The point of a case: every other entry is zero when `zeros`."""
    x = point(case)
    if case.spec.get("zeros"):
        x[::2] = 0
    return x


def _arrange(case: Case) -> Arrangement:
    x = point_1_1(case)
    f = _Probes(FUNCTIONS[case.spec["f"]], x, case.spec.get("h", H))
    step = {"h": case.spec["h"]} if "h" in case.spec else {}
    return Arrangement((f, x), step, watch={"x": x}, facts=lambda result: f.facts())


EXERCISE = Exercise(
    id="1.1",
    name="numerical_gradient",
    title="Measure a gradient without calculus",
    difficulty=2,
    minutes=12,
    goal=(
        "Write `numerical_gradient(f, x, h=1e-5)`. `f` takes a tensor of the shape of `x` (what it does may depend on "
        "that shape), of any floating dtype, and returns a new 0-d tensor. For each entry of `x`, move that entry alone "
        "up by `h` and down by `h`, and divide the change of `f` by the distance between the two points. Return a tensor "
        "with the shape, dtype and device of `x`, and leave `x` as it was, bit for bit. `x` may have any shape, and need "
        "not be contiguous; it has at least one entry, and no two share memory. Neither `x` nor what `f` returns requires gradients."
    ),
    cases=_cases,
    arrange=_arrange,
    rules=("Only calls of `f`: no autograd and no derivative rules. `f` may be one that autograd cannot look into.",),
    hints=(
        "A gradient entry answers one question: if this entry alone moves a little, how much does f move? How many "
        "times must f be called for one entry, and how many for all of them?",
        "Work on a copy of x for every probe, so that the entries you moved before are back in place, and so is x. "
        "The two probes lie 2h apart, not h.",
        "Flatten a copy of x with reshape (view refuses non-contiguous tensors), loop over its positions, and fill a "
        "result made with zeros_like. Before calling f, give the moved copy the shape of x again.",
    ),
    properties=(
        ("x is a 0-d tensor", lambda spec: spec["shape"] == []),
        ("x is not contiguous", lambda spec: bool(spec.get("transposed"))),
        ("x has more than one dimension", lambda spec: len(spec["shape"]) > 1),
        ("x is a vector", lambda spec: len(spec["shape"]) == 1),
        ("f depends on the shape of its argument", lambda spec: spec["f"] == "columns"),
        ("autograd cannot look into f", lambda spec: spec["f"] == "opaque"),
        ("h is left at its default", lambda spec: "h" not in spec),
        ("x has zeros in it", lambda spec: bool(spec.get("zeros"))),
        ("the inputs are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        NUMBERS: "f was called with {given} numbers; it takes {right} ones.",
        SHAPES: "f was called with a tensor of shape {given}; x has shape {right}.",
        MOVED: "Of the entries of x, {given} stood elsewhere in a call of f; in a right answer it is always {right}.",
        BY: "f was called with entries moved by {given} times h; asked for are {right}.",
    },
    quantities={
        "h": lambda spec: spec.get("h", H),
        "the number of entries of x": lambda spec: torch.Size(spec["shape"]).numel(),
    },
)
