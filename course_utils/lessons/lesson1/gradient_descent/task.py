"""Exercise 1.4: walk downhill."""

from __future__ import annotations

import torch

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import cases
from course_utils.lessons.lesson1.inputs import FUNCTIONS, Scalar, point

CALLS = "calls of f"
ONCE = "f called once for several steps"
SHAPES = "shapes f was called with"
DIFFERENT = "different tensors"


class _Calls:
    """The function handed to the learner, and how it was called."""

    def __init__(self, f: Scalar) -> None:
        self._f = f
        self.calls = 0
        self._shapes: set[tuple[int, ...]] = set()

    def __call__(self, at: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        try:
            self._shapes.add(tuple(at.shape))
        except (RuntimeError, AttributeError, TypeError):
            pass  # no tensor
        return self._f(at)

    def facts(self) -> dict[str, object]:
        return {CALLS: self.calls, SHAPES: sorted(map(list, self._shapes))[:8]}


def _different(result: object) -> int:
    points = [item for item in result if isinstance(item, torch.Tensor)] if isinstance(result, list | tuple) else []
    return len({item.data_ptr() for item in points})


def _cases(seed: int) -> list[Case]:
    return cases(
        seed,
        [
            ("a bowl in 2 dimensions, 3 steps", {"f": "bowl", "shape": [2], "lr": 0.2, "steps": 3}),
            ("a curved valley, 5 steps", {"f": "valley", "shape": [3], "lr": 0.05, "steps": 5}),
            ("one step", {"f": "valley", "shape": [2], "lr": 0.15, "steps": 1}),
            ("no step at all", {"f": "bowl", "shape": [2], "lr": 0.1, "steps": 0}),
            ("a matrix, 4 steps", {"f": "wave", "shape": [2, 2], "lr": 0.3, "steps": 4}),
            ("a 0-d point, 6 steps", {"f": "valley", "shape": [], "lr": 0.12, "steps": 6}),
            ("a learning rate that overshoots", {"f": "bowl", "shape": [2], "lr": 1.3, "steps": 4}),
            ("float32, 5 steps", {"f": "valley", "shape": [3], "lr": 0.05, "steps": 5, "dtype": "float32"}),
            (
                "coordinates that act on each other, 4 steps",
                {"f": "saddle", "shape": [3], "lr": 0.15, "steps": 4},
            ),
            ("a plane, 3 steps", {"f": "plane", "shape": [3], "lr": 0.25, "steps": 3}),
            ("a start where f is flat, 3 steps", {"f": "bowl", "shape": [2], "lr": 0.2, "steps": 3, "flat": True}),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    f, x0 = _Calls(FUNCTIONS[case.spec["f"]]), point(case)
    return Arrangement(
        (f, x0, case.spec["lr"], case.spec["steps"]),
        watch={"x0": x0},
        facts=lambda result: {DIFFERENT: _different(result), ONCE: f.calls == 1 < case.spec["steps"], **f.facts()},
    )


EXERCISE = Exercise(
    id="1.4",
    name="gradient_descent",
    title="Walk downhill",
    difficulty=2,
    minutes=12,
    goal=(
        "Write `gradient_descent(f, x0, lr, steps)`: start at `x0`, and in each step move against the gradient of "
        "`f`, by `lr` times the gradient. Return the list of all `steps + 1` points, the first equal to `x0`. All "
        "points are different tensors without a graph, and `x0` is unchanged. Autograd is welcome here. `x0` requires no "
        "gradient, nor does any other tensor that `f` uses. The value of `f` always depends on its argument, and `steps` "
        "is at most 100."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "In each round you need a tensor that requires gradients, the value of f there, its gradient, and a new "
        "point. Which of these may carry a graph, and which may not?",
        "Make a fresh leaf in each round out of the current point: then no gradient of an earlier round can be in "
        "it, and no graph grows from round to round.",
        "Append a new tensor each time. A list that holds one tensor updated in place shows its last value at every "
        "position.",
    ),
    properties=(
        ("x0 lies where f is flat", lambda spec: bool(spec.get("flat"))),
        ("the coordinates act on each other", lambda spec: spec["f"] == "saddle"),
        ("there is no step to take", lambda spec: spec["steps"] == 0),
        ("there is one step to take, or none", lambda spec: spec["steps"] <= 1),
        ("x0 is a 0-d tensor", lambda spec: spec["shape"] == []),
        ("x0 is a matrix", lambda spec: len(spec["shape"]) == 2),
        ("f is the sum of the entries", lambda spec: spec["f"] == "plane"),
        ("f is a quadratic bowl", lambda spec: spec["f"] == "bowl"),
        ("the learning rate is above 1", lambda spec: spec["lr"] > 1),
        ("x0 is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={ONCE: "f was called once for all the steps together; the gradient at a new point needs f at that point."},
    quantities={
        "lr": lambda spec: spec["lr"],
        "the number of steps": lambda spec: spec["steps"],
        "the number of entries of x0": lambda spec: torch.Size(spec["shape"]).numel(),
    },
)
