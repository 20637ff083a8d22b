"""Exercise 2.5: the gradient of each sample of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import LOSSES, cases, gradients_held, hooks_in, model_and_batch
from course_utils.lessons.watched_loss import LossFn, WatchedLoss

GRAD = ".grad after the call"
HOOKS = "hooks left"
LOSS_SHAPES = "shapes of prediction and target in a call of loss_fn"
MODEL_SHAPES = "shapes the model was called with"
_MOST = 6
"""Most shapes that are written down."""


def _poisson_by_sample(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    # Summed over the outputs and averaged over the samples: it counts the rows of what it is handed.
    return (torch.exp(prediction) - target * prediction).sum() / len(target)


def _weighted_cross_entropy(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    # Rare classes count more: the mean over a batch is no plain average of what each sample has alone.
    weight = torch.arange(1, prediction.shape[-1] + 1, dtype=prediction.dtype, device=prediction.device)
    return nn.functional.cross_entropy(prediction, target, weight)


_LOSSES: Mapping[str, LossFn] = {
    **LOSSES,
    "poisson, by sample": _poisson_by_sample,
    "cross-entropy": _weighted_cross_entropy,
}


def _are_rows_of(rows: torch.Tensor, some: torch.Tensor) -> bool:
    if some.dtype != rows.dtype or some.numel() > rows.numel():
        return False
    return bool(torch.isin(some.detach(), rows).all())


class _ModelShapes:
    """The shapes that a model is called with, inside the block."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self.seen: set[tuple[int, ...]] = set()

    def __enter__(self) -> None:
        self._handle = self._model.register_forward_pre_hook(self._note)

    def __exit__(self, *_: object) -> None:
        self._handle.remove()

    def _note(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        if args and isinstance(args[0], torch.Tensor):
            self.seen.add(tuple(args[0].shape))


def _cases(seed: int) -> list[Case]:
    # Where the model is the special thing, the loss is the plain one, so that two mistakes show apart.
    plain = {"loss": "squared error"}
    return cases(
        seed,
        [
            ("a linear model, 4 samples, .grad None before", {"model": "linear", "n": 4, **plain}),
            ("two layers that hold gradients already, 5 samples", {"model": "mlp", "n": 5, "earlier": "all", **plain}),
            ("one sample", {"model": "mlp", "n": 1, "earlier": "some", **plain}),
            (
                "a loss that is no squared error and counts the rows",
                {"model": "mlp", "n": 4, "loss": "poisson, by sample"},
            ),
            ("a frozen weight", {"model": "frozen", "n": 3, "earlier": "all", **plain}),
            ("a branch the loss does not use", {"model": "unused", "n": 3, "earlier": "some", **plain}),
            ("one weight tied to two places", {"model": "tied", "n": 4, "earlier": "all", **plain}),
            ("flatten, batch norm and dropout in eval mode", {"model": "eval", "n": 4, "earlier": "some", **plain}),
            (
                "a model in train mode, its batch norm and dropout in eval mode",
                {"model": "part eval", "n": 4, "earlier": "some", **plain},
            ),
            (
                "cross-entropy with class weights and class indices, 6 samples",
                {"model": "mlp", "n": 6, "loss": "cross-entropy"},
            ),
            ("samples that are sequences of 2 by 3", {"model": "sequences", "n": 3, "earlier": "some", **plain}),
            ("a loss of quantiles, 3 samples", {"model": "mlp", "n": 3, "loss": "pinball", "earlier": "some"}),
            (".grad holds infinite and NaN gradients", {"model": "mlp", "n": 3, "earlier": "not finite", **plain}),
            ("float32, 5 samples", {"model": "mlp", "n": 5, "earlier": "all", "dtype": "float32", **plain}),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    model, x, y = model_and_batch(case)
    y = y.argmax(1) if case.spec["loss"] == "cross-entropy" else y
    rows, shapes = y.detach().clone(), _ModelShapes(model)
    loss_fn = WatchedLoss(_LOSSES[case.spec["loss"]], lambda one: _are_rows_of(rows, one))
    return Arrangement(
        (model, loss_fn, x, y),
        watch={"model": model, "x": x, "y": y},
        within=(shapes,),
        facts=lambda _: {
            GRAD: gradients_held(model),
            HOOKS: hooks_in(model),
            MODEL_SHAPES: [list(shape) for shape in sorted(shapes.seen)[:_MOST]],
            **loss_fn.facts(LOSS_SHAPES, most=_MOST),
        },
    )


EXERCISE = Exercise(
    id="2.5",
    name="per_sample_gradients",
    title="Undo the sum over the batch",
    difficulty=3,
    minutes=25,
    goal=(
        "Write `per_sample_gradients(model, loss_fn, x, y)`: a dict `{name: tensor of shape (n, *parameter shape)}` "
        "whose row `i` is the gradient of `loss_fn` on sample `i` alone; `n` is `len(x)`, at least 1. "
        "`loss_fn(prediction, target)` takes the model's output for a batch and that batch's targets, in this order, and "
        "returns a 0-d mean, plain or weighted. Sample `i` alone is a batch of one of each. Leave every `.grad` as it was. A "
        "frozen parameter has no entry, an unused one has zeros, a tied one appears once. The models draw no random "
        "numbers and use no batch statistics; some of them accept batches alone. The loss depends on at least one "
        "parameter that requires gradients. Models and losses work under `torch.func`, too."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "One backward over the batch has added the samples up already, and no trick on the sum brings them back. "
        "What does a batch of one sample give?",
        "Loop over the samples, or map with torch.func. Slice with i:i + 1, so that the batch dimension stays, and "
        "use a function that returns gradients instead of writing them to .grad.",
        "Collect one list of gradients for each name and stack each list at the end, along a new first dimension. "
        "Exercise 1.3 has what a single sample needs, unused and frozen parameters included.",
    ),
    properties=(
        (".grad was None before", lambda spec: spec.get("earlier", "none") == "none"),
        (
            "every parameter that requires gradients holds one from before",
            lambda spec: spec.get("earlier") in ("all", "not finite"),
        ),
        ("a .grad holds something from before", lambda spec: spec.get("earlier", "none") != "none"),
        ("the gradients held from before are infinite or NaN", lambda spec: spec.get("earlier") == "not finite"),
        ("there is one sample", lambda spec: spec["n"] == 1),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("the loss does not use every parameter", lambda spec: spec["model"] == "unused"),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("the model accepts batches alone", lambda spec: spec["model"] == "eval"),
        ("parts of the model are in another mode than the model", lambda spec: spec["model"] == "part eval"),
        ("a sample is a matrix", lambda spec: spec["model"] == "sequences"),
        ("y holds class indices, and the loss weighs its samples", lambda spec: spec["loss"] == "cross-entropy"),
        ("the loss is no squared error", lambda spec: spec["loss"] != "squared error"),
        ("the model is one linear layer", lambda spec: spec["model"] == "linear"),
        ("the model and the batch are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        LOSS_SHAPES: "loss_fn was called with prediction and target of shapes {given}; sample i alone is a batch of one.",
    },
    quantities={
        "the number of samples": lambda spec: spec["n"],
        "the number of outputs": lambda spec: 3 if spec["model"] == "tied" else 2,
    },
)
