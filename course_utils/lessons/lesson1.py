"""Lesson 1, what gradients are: its exercises and questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.declare import Lesson
from course_utils.lessons.inputs import Draw, cases, gradients_held, mean_square_error, model_and_batch
from course_utils.lessons.questions1 import QUESTIONS
from course_utils.observe import AutogradSpy, CountCalls

# ------------------------------------------------------------------ scalar functions of 1.1 and 1.4

Scalar = Callable[[torch.Tensor], torch.Tensor]


def _wave(x: torch.Tensor) -> torch.Tensor:
    return (torch.sin(x) * torch.exp(0.3 * x)).sum()


def _cubic(x: torch.Tensor) -> torch.Tensor:
    return (x**3).sum() + x.sum() ** 2


def _opaque(x: torch.Tensor) -> torch.Tensor:
    # Through Python numbers: autograd cannot look inside.
    values = x.detach().flatten().tolist()
    total = sum((index + 1) * math.sin(value) * value for index, value in enumerate(values))
    return torch.tensor(total, dtype=x.dtype, device=x.device)


def _bowl(x: torch.Tensor) -> torch.Tensor:
    weights = torch.arange(1, x.numel() + 1, dtype=x.dtype, device=x.device).reshape(x.shape)
    return (weights * x**2).sum() / 2


def _valley(x: torch.Tensor) -> torch.Tensor:
    return (x**4).sum() / 4 + torch.cos(x).sum()


FUNCTIONS: Mapping[str, Scalar] = {
    "wave": _wave,
    "cubic": _cubic,
    "opaque": _opaque,
    "bowl": _bowl,
    "valley": _valley,
}


def point(case: Case) -> torch.Tensor:
    """The point of a case of 1.1 or 1.4: any shape; the transpose of a contiguous one when `transposed`."""
    x = Draw(case).normal(*case.spec["shape"])
    return x.t() if case.spec.get("transposed") else x


def _cases_1_1(seed: int) -> list[Case]:
    return cases(
        seed,
        [
            ("vector of 3, h = 0.1", {"f": "wave", "shape": [3], "h": 0.1}),
            ("vector of 4, h left at its default", {"f": "cubic", "shape": [4]}),
            ("vector of 2, h = 0.3", {"f": "cubic", "shape": [2], "h": 0.3}),
            ("matrix of 2 by 3, h = 0.05", {"f": "wave", "shape": [2, 3], "h": 0.05}),
            ("0-d tensor, h = 0.2", {"f": "cubic", "shape": [], "h": 0.2}),
            ("a function autograd cannot look into, h = 0.01", {"f": "opaque", "shape": [5], "h": 0.01}),
            (
                "a transposed, non-contiguous matrix, h = 0.1",
                {"f": "wave", "shape": [3, 2], "transposed": True, "h": 0.1},
            ),
            ("float32, h = 0.1", {"f": "wave", "shape": [4], "h": 0.1, "dtype": "float32"}),
            ("shape 2 by 1 by 2, h left at its default", {"f": "opaque", "shape": [2, 1, 2]}),
        ],
    )


def _arrange_1_1(case: Case) -> Arrangement:
    f, x = CountCalls(FUNCTIONS[case.spec["f"]]), point(case)
    step = {"h": case.spec["h"]} if "h" in case.spec else {}
    return Arrangement((f, x), step, watch={"x": x}, facts=lambda result: {"calls of f": f.calls})


# ------------------------------------------------------------------ 1.2


def linear_inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """`w (d,)`, `x (n, d)`, `y (n,)` of a case of 1.2."""
    draw, n, d = Draw(case), case.spec["n"], case.spec["d"]
    return draw.normal(d), draw.normal(n, d), draw.normal(n)


def _cases_1_2(seed: int) -> list[Case]:
    sizes = [(5, 3), (8, 2), (1, 4), (6, 1), (4, 4), (50, 7)]
    rows = [(f"n = {n} rows, d = {d} features", {"n": n, "d": d}) for n, d in sizes]
    return cases(seed, [*rows, ("float32, n = 6, d = 3", {"n": 6, "d": 3, "dtype": "float32"})])


def _arrange_1_2(case: Case) -> Arrangement:
    w, x, y = linear_inputs(case)
    spy = AutogradSpy()
    return Arrangement((w, x, y), watch={"w": w, "x": x, "y": y}, within=(spy,), facts=lambda _: {"autograd": spy.used})


# ------------------------------------------------------------------ 1.3


def _cases_1_3(seed: int) -> list[Case]:
    return cases(
        seed,
        [
            ("a linear model, .grad None before", {"model": "linear"}),
            ("a linear model that holds gradients already", {"model": "linear", "earlier": "all"}),
            ("two layers, some of them hold gradients", {"model": "mlp", "earlier": "some"}),
            ("a frozen weight", {"model": "frozen", "earlier": "all"}),
            ("a branch the loss does not use", {"model": "unused", "earlier": "some"}),
            ("one weight tied to two places", {"model": "tied", "earlier": "all"}),
            ("batch norm and dropout in eval mode", {"model": "norm", "earlier": "some"}),
            ("a batch of one", {"model": "mlp", "n": 1}),
            ("float32", {"model": "mlp", "earlier": "all", "dtype": "float32"}),
        ],
    )


def _arrange_1_3(case: Case) -> Arrangement:
    model, x, y = model_and_batch(case)
    return Arrangement(
        (model, mean_square_error, x, y),
        watch={"model": model, "x": x, "y": y},
        facts=lambda _: {".grad after the call": gradients_held(model)},
    )


# ------------------------------------------------------------------ 1.4


def _cases_1_4(seed: int) -> list[Case]:
    return cases(
        seed,
        [
            ("a bowl in 2 dimensions, 3 steps", {"f": "bowl", "shape": [2], "lr": 0.1, "steps": 3}),
            ("a curved valley, 5 steps", {"f": "valley", "shape": [3], "lr": 0.05, "steps": 5}),
            ("one step", {"f": "valley", "shape": [2], "lr": 0.2, "steps": 1}),
            ("no step at all", {"f": "bowl", "shape": [2], "lr": 0.1, "steps": 0}),
            ("a matrix, 4 steps", {"f": "wave", "shape": [2, 2], "lr": 0.1, "steps": 4}),
            ("a 0-d point, 6 steps", {"f": "valley", "shape": [], "lr": 0.1, "steps": 6}),
            ("a learning rate that overshoots", {"f": "bowl", "shape": [2], "lr": 1.3, "steps": 4}),
            ("float32, 5 steps", {"f": "valley", "shape": [3], "lr": 0.05, "steps": 5, "dtype": "float32"}),
        ],
    )


def _arrange_1_4(case: Case) -> Arrangement:
    f, x0 = FUNCTIONS[case.spec["f"]], point(case)

    def facts(result: object) -> dict[str, object]:
        points = [item for item in result if isinstance(item, torch.Tensor)] if isinstance(result, list | tuple) else []
        return {"different tensors": len({item.data_ptr() for item in points})}

    return Arrangement((f, x0, case.spec["lr"], case.spec["steps"]), watch={"x0": x0}, facts=facts)


# ------------------------------------------------------------------ 1.5

TWO_LAYER_NAMES = ("W1", "b1", "W2", "b2", "x", "y")


def two_layer_inputs(case: Case) -> dict[str, torch.Tensor]:
    """`W1 (d, h)`, `b1 (h,)`, `W2 (h, k)`, `b2 (k,)`, `x (n, d)`, `y (n, k)` of a case of 1.5."""
    draw = Draw(case)
    n, d, h, k = (case.spec[key] for key in "ndhk")
    shapes = {"W1": (d, h), "b1": (h,), "W2": (h, k), "b2": (k,), "x": (n, d), "y": (n, k)}
    return {name: draw.normal(*shape, scale=0.8) for name, shape in shapes.items()}


def _cases_1_5(seed: int) -> list[Case]:
    sizes = [(5, 3, 4, 2), (1, 2, 3, 1), (6, 4, 2, 3), (4, 3, 3, 3), (7, 1, 5, 2), (3, 2, 1, 4)]
    rows = [
        (f"n = {n}, d = {d}, h = {h}, k = {k}", dict(zip("ndhk", (n, d, h, k), strict=True))) for n, d, h, k in sizes
    ]
    return cases(seed, [*rows, ("float32, n = 5, d = 3, h = 4, k = 2", {**rows[0][1], "dtype": "float32"})])


def _arrange_1_5(case: Case) -> Arrangement:
    inputs = two_layer_inputs(case)
    spy = AutogradSpy()
    return Arrangement(
        tuple(inputs[name] for name in TWO_LAYER_NAMES),
        watch=dict(inputs),
        within=(spy,),
        facts=lambda _: {"autograd": spy.used},
    )


EXERCISES = (
    Exercise(
        id="1.1",
        name="numerical_gradient",
        title="Measure a gradient without calculus",
        points=20,
        difficulty=2,
        minutes=12,
        goal=(
            "Write `numerical_gradient(f, x, h=1e-5)`. `f` takes a tensor and returns a 0-d tensor. For each entry of "
            "`x`, move that entry alone up by `h` and down by `h`, and divide the change of `f` by the distance between "
            "the two points. Return a tensor with the shape, dtype and device of `x`, and leave `x` as it was, bit for "
            "bit. `x` may have any shape, and need not be contiguous."
        ),
        cases=_cases_1_1,
        arrange=_arrange_1_1,
        rules=("Only calls of `f`: no autograd and no derivative rules. `f` may be opaque to autograd.",),
        hints=(
            "A gradient entry answers one question: if this entry alone moves a little, how much does f move? How many "
            "times must f be called for one entry, and how many for all of them?",
            "Work on a copy of x for every probe, so that the entries you moved before are back in place, and so is x. "
            "The two probes lie 2h apart, not h.",
            "Flatten a copy of x with reshape (view refuses non-contiguous tensors), loop over its positions, and fill a "
            "result made with zeros_like. Before calling f, give the moved copy the shape of x again.",
        ),
    ),
    Exercise(
        id="1.2",
        name="linear_mse_gradient",
        title="Derive a gradient by hand",
        points=15,
        difficulty=2,
        minutes=10,
        goal=(
            "Write `linear_mse_gradient(w, x, y)`: the gradient, with respect to `w`, of `mean((x @ w - y)**2)`. Shapes: "
            "`x (n, d)`, `w (d,)`, `y (n,)`; the result has the shape of `w`. Derive it on paper first."
        ),
        cases=_cases_1_2,
        arrange=_arrange_1_2,
        rules=("By hand: no autograd.",),
        hints=(
            "Name the residual r = x @ w - y, of shape (n,). The loss is the mean of r squared. What is the derivative "
            "of the loss with respect to one entry of r?",
            "Entry j of w moves every row's residual, row i by x[i, j]. The chain rule multiplies the two derivatives "
            "and adds over the rows.",
            "Adding over rows of x[i, j] times r[i] is one matrix product with a transposed x. What is left is a factor "
            "in front that holds a 2 and an n.",
        ),
    ),
    Exercise(
        id="1.3",
        name="parameter_gradients",
        title="Gradients of a model, with every .grad left alone",
        points=25,
        difficulty=3,
        minutes=15,
        goal=(
            "Write `parameter_gradients(model, loss_fn, x, y)`: a dict `{name: gradient}` of `loss_fn(model(x), y)` for "
            "this batch alone, whatever was in `.grad` before. Leave every `.grad` as it was: the same values, and None "
            "where it was None. A frozen parameter has no entry, an unused one has zeros, a tied one appears once."
        ),
        cases=_cases_1_3,
        arrange=_arrange_1_3,
        hints=(
            "backward() always adds into .grad. Which other function of torch.autograd hands the gradients back to you "
            "and writes nowhere?",
            "Collect the names and parameters that require gradients first, from named_parameters(); it lists a tied "
            "parameter once. Then ask for the gradients of all of them in one call.",
            "By default that call refuses parameters the loss does not use. It has one option to allow them and one to "
            "turn the missing answers into zeros; you can also do the second by hand.",
        ),
    ),
    Exercise(
        id="1.4",
        name="gradient_descent",
        title="Walk downhill",
        points=15,
        difficulty=2,
        minutes=12,
        goal=(
            "Write `gradient_descent(f, x0, lr, steps)`: start at `x0`, and in each step move against the gradient of "
            "`f`, by `lr` times the gradient. Return the list of all `steps + 1` points, the first equal to `x0`. All "
            "points are different tensors without a graph, and `x0` is unchanged. Autograd is welcome here."
        ),
        cases=_cases_1_4,
        arrange=_arrange_1_4,
        hints=(
            "In each round you need a tensor that requires gradients, the value of f there, its gradient, and a new "
            "point. Which of these may carry a graph, and which may not?",
            "Make a fresh leaf in each round out of the current point: then no gradient of an earlier round can be in "
            "it, and no graph grows from round to round.",
            "Append a new tensor each time. A list that holds one tensor updated in place shows its last value at every "
            "position.",
        ),
    ),
    Exercise(
        id="1.5",
        name="two_layer_backward",
        title="Backpropagation by hand",
        points=25,
        difficulty=4,
        minutes=25,
        goal=(
            "Write `two_layer_backward(W1, b1, W2, b2, x, y)`: a dict with the gradients of "
            "`mean((tanh(x @ W1 + b1) @ W2 + b2 - y)**2)` under the keys `W1`, `b1`, `W2`, `b2`. Shapes: `W1 (d, h)`, "
            "`b1 (h,)`, `W2 (h, k)`, `b2 (k,)`, `x (n, d)`, `y (n, k)`; the mean is over all `n * k` entries."
        ),
        cases=_cases_1_5,
        arrange=_arrange_1_5,
        rules=("By hand: no autograd.",),
        hints=(
            "Run forward and keep what you pass: the hidden values after tanh and the output. Then walk back through the "
            "same stations in the opposite order, asking at each for the derivative of the loss with respect to it.",
            "At the output, the derivative is the residual times a factor with a 2 and the number of all entries. Each "
            "weight's gradient is its transposed input times what arrives at its output; each bias adds over the rows.",
            "To pass tanh backwards, multiply by one minus the square of the hidden value (the value after tanh). Before "
            "that, the signal crosses W2 backwards, by its transpose.",
        ),
    ),
)

LESSON = Lesson(1, "01_what_gradients_are", "What gradients are", EXERCISES, QUESTIONS, reading_minutes=50)
