"""Exercise 7.4: a bfloat16 model's gradient over a long window, summed up where nothing gets lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import cases, model_and_batch
from course_utils.lessons.training import Batch, batches_of

LONG = 1000
"""Micro-batches of a long window."""
CLOSE = 0.03
"""How far an entry may be from the one in float64, beside the largest entry of its parameter's gradient."""


def mean_square_error(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The mean of the squared difference, in the dtype of the prediction; 0-d."""
    return nn.functional.mse_loss(prediction, target.to(prediction.dtype))


def _window_of(case: Case) -> list[Batch]:
    """Micro-batches whose targets drift from the first to the last, or are large from the start."""
    spec = case.spec
    drawn = batches_of(Case(case.name, {**spec, "rows": [spec["n"]] * spec["k"]}))
    found = []
    for number, (x, y) in enumerate(drawn):
        target = 30 + 3 * y if spec["targets"] == "large" else y + 2 + 8 * number / len(drawn)
        found.append(((x + 0.5).bfloat16(), target.bfloat16()))
    return found


def _cases(seed: int) -> list[Case]:
    def row(name: str, k: int, n: int = 4, model: str = "mlp", **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"model": model, "k": k, "n": n, "targets": "drifting", **rest}

    return cases(
        seed,
        [
            row("one micro-batch", 1, model="linear"),
            row("four micro-batches", 4),
            row("five hundred micro-batches, the targets drift", 500, 2, "linear"),
            row("a thousand micro-batches, the targets are large", LONG, 4, "linear", targets="large"),
            row("every parameter holds a gradient in .grad", 3, earlier="all"),
            row("some parameters hold a gradient in .grad", 5, earlier="some"),
            row("one weight is frozen", 4, model="frozen"),
            row("one layer is not used", 2, model="unused", earlier="some"),
            row("one weight tied to two places", 6, model="tied"),
            row("dropout and batch norm in eval mode, float32 buffers", 3, model="part eval"),
            row("parameters of the model's own", 3, model="twins"),
            row("twelve micro-batches of one row, large targets", 12, 1, "linear", targets="large"),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    model, _, _ = model_and_batch(case)
    held = [p.grad for p in model.parameters()]
    for p in model.parameters():
        p.grad = None
    model = model.bfloat16()
    for module in model.modules():
        for name, buffer in module.named_buffers(recurse=False):
            if buffer.is_floating_point():  # as one keeps the statistics of batch norm
                setattr(module, name, 1 + torch.arange(len(buffer), device=buffer.device) / 7)
    for p, gradient in zip(model.parameters(), held, strict=True):
        p.grad = None if gradient is None else gradient.bfloat16()
    micro_batches = _window_of(case)
    return Arrangement(
        (model, mean_square_error, micro_batches), watch={"model": model, "micro_batches": micro_batches}
    )


def _long(spec: Mapping[str, Any]) -> bool:
    return bool(spec["k"] >= 500)


EXERCISE = Exercise(
    id="7.4",
    name="accumulate_in_fp32",
    title="A sum that does not stall",
    difficulty=3,
    minutes=15,
    goal=(
        "Write `accumulate_in_fp32(model, loss_fn, micro_batches)`. All parameters of `model` are bfloat16. "
        "Dropout and batch norm, where a model has them, are in eval mode; batch norm has no weight and no bias, and "
        "float32 buffers. "
        "`micro_batches` is a list of one to a thousand pairs `(x, y)`, bfloat16 too, all with the same number of rows; "
        "`loss_fn(prediction, target)` is a mean over rows.\n\n"
        "Return `{name: gradient}`: the gradient of the mean loss over all rows of the window, in **float32**, under the "
        "names of `model.named_parameters()`. No entry may be "
        "further from the gradient that float64 gives for the same numbers than 3 % of the largest entry of its "
        "parameter's gradient. What a forward and a backward pass in bfloat16 round is within that. Long sums in "
        "bfloat16 are not.\n\n"
        "A frozen parameter has no entry, a parameter that the loss does not use has zeros, and a tied "
        "one appears once. `.grad` of every parameter holds afterwards what it held before, and the model stays as it "
        "was: modes, values and dtypes. How you do it is yours; a float32 copy of the model is as good as a float32 sum of "
        "bfloat16 gradients. `loss_fn` takes prediction and target in any of bfloat16, float32 and float64, each in its own."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "backward adds to .grad in the dtype of the parameter. At which point do you get hold of a micro-batch's "
        "gradient before it is added to anything in bfloat16?",
        "torch.autograd.grad hands gradients back and fills no .grad of a parameter. Who adds them up then, and in which "
        "dtype is the sum?",
        "One float32 tensor of zeros for each trainable parameter; for each micro-batch the gradients, turned into "
        "float32, divided by the number of micro-batches, added to it. What comes back for a parameter that is not used?",
    ),
    properties=(
        ("there are many micro-batches", _long),
        ("there are a thousand micro-batches", lambda spec: bool(spec["k"] == LONG)),
        ("there are few micro-batches", lambda spec: not _long(spec)),
        ("there is one micro-batch", lambda spec: spec["k"] == 1),
        ("there is more than one micro-batch", lambda spec: spec["k"] > 1),
        (".grad holds a gradient", lambda spec: "earlier" in spec),
        (".grad is None", lambda spec: "earlier" not in spec),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("the model has a layer that it does not use", lambda spec: spec["model"] == "unused"),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("dropout and batch norm are in eval mode", lambda spec: spec["model"] == "part eval"),
    ),
    quantities={
        "the number of micro-batches": lambda spec: spec["k"],
        "the number of rows of a micro-batch": lambda spec: spec["n"],
    },
)
