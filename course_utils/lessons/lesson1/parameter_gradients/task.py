"""Exercise 1.3: gradients of a model, with every .grad left alone."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import LOSSES, cases, gradients_held, hooks_in, model_and_batch
from course_utils.lessons.watched_loss import ORDER, WatchedLoss

HELD = ".grad after the call"
"""The fact that holds the values of each .grad, zeros for None."""
IS_NONE = ".grad is None after the call"
SHAPES = "shapes loss_fn was called with"
HOOKS = "hooks left"
LIVE = "a returned tensor shares memory with a .grad"


def _equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and torch.equal(a.detach(), b)


def _grads_of(model: nn.Module) -> dict[str, object]:
    held, named = gradients_held(model), dict(model.named_parameters())
    return {
        IS_NONE: {name: grad is None for name, grad in held.items()},
        HELD: {name: torch.zeros_like(named[name].detach()) if grad is None else grad for name, grad in held.items()},
    }


def _shares_memory(result: object, model: nn.Module) -> bool:
    held = {p.grad.untyped_storage().data_ptr() for p in model.parameters() if p.grad is not None}
    values = (
        list(result.values()) if isinstance(result, dict) else list(result) if isinstance(result, list | tuple) else []
    )
    return any(v.untyped_storage().data_ptr() in held for v in values if isinstance(v, torch.Tensor))


def _cases(seed: int) -> list[Case]:
    # Where the model is the special thing, the loss is the plain one, so that two mistakes show apart.
    return cases(
        seed,
        [
            ("a linear model, .grad None before", {"model": "linear", "loss": "squared error"}),
            (
                "a linear model that holds gradients already",
                {"model": "linear", "loss": "squared error", "earlier": "all"},
            ),
            ("two layers, some of them hold gradients", {"model": "mlp", "loss": "squared error", "earlier": "some"}),
            ("a loss that is no squared error", {"model": "mlp", "loss": "poisson"}),
            ("a frozen weight", {"model": "frozen", "loss": "squared error", "earlier": "all"}),
            ("a branch the loss does not use", {"model": "unused", "loss": "squared error", "earlier": "some"}),
            ("one weight tied to two places", {"model": "tied", "loss": "squared error", "earlier": "all"}),
            (
                "a frozen weight that still holds a gradient",
                {"model": "frozen", "loss": "squared error", "earlier": "some", "frozen_holds": True},
            ),
            ("batch norm and dropout in eval mode", {"model": "norm", "loss": "squared error", "earlier": "some"}),
            (
                "a model in train mode, its batch norm and dropout in eval mode",
                {"model": "part eval", "loss": "squared error", "earlier": "some"},
            ),
            (
                "a parameter of the model's own, one output, two biases of equal value",
                {"model": "scaled", "loss": "squared error", "earlier": "some"},
            ),
            ("huge gradients held from before", {"model": "mlp", "loss": "squared error", "earlier": "huge"}),
            ("a batch of one, a loss of quantiles", {"model": "mlp", "loss": "pinball", "n": 1, "earlier": "some"}),
            (
                "infinite and NaN gradients held from before",
                {"model": "mlp", "loss": "squared error", "earlier": "not finite"},
            ),
            ("float32", {"model": "mlp", "loss": "poisson", "earlier": "all", "dtype": "float32"}),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    model, x, y = model_and_batch(case)
    targets = y.detach().clone()
    loss_fn = WatchedLoss(LOSSES[case.spec["loss"]], lambda one: _equal(one, targets))
    return Arrangement(
        (model, loss_fn, x, y),
        watch={"model": model, "x": x, "y": y},
        facts=lambda result: {
            HOOKS: hooks_in(model),
            **_grads_of(model),
            LIVE: _shares_memory(result, model),
            **loss_fn.facts(SHAPES, most=8),
        },
    )


EXERCISE = Exercise(
    id="1.3",
    name="parameter_gradients",
    title="Gradients of a model, with every .grad left alone",
    difficulty=3,
    minutes=15,
    goal=(
        "Write `parameter_gradients(model, loss_fn, x, y)`: a dict `{name: gradient}` of `loss_fn(model(x), y)` for "
        "this batch alone, whatever was in `.grad` before. `loss_fn(prediction, target)` takes the model's output for a "
        "batch and that batch's targets, in this order, and returns a 0-d mean. The models draw no random numbers and "
        "use no batch statistics, and the loss depends on at least one parameter that requires gradients. Leave every "
        "`.grad` as it was: the same values, and None where it was None. A frozen "
        "parameter has no entry, an unused one has zeros, a tied one appears once."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "backward() always adds into .grad. Which other function of torch.autograd hands the gradients back to you "
        "and writes nowhere?",
        "Collect the names and parameters that require gradients first, from named_parameters(); it lists a tied "
        "parameter once. Then ask for the gradients of all of them in one call.",
        "By default that call refuses parameters the loss does not use. It has one option to allow them and one to "
        "turn the missing answers into zeros; you can also do the second by hand.",
    ),
    properties=(
        (".grad was None before", lambda spec: spec.get("earlier", "none") == "none"),
        (
            "every parameter that requires gradients holds one from before",
            lambda spec: spec.get("earlier") in ("all", "huge", "not finite"),
        ),
        (
            "a .grad holds something from before",
            lambda spec: spec.get("earlier", "none") != "none" or bool(spec.get("frozen_holds")),
        ),
        ("the gradients held from before are infinite or NaN", lambda spec: spec.get("earlier") == "not finite"),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("the frozen parameter holds a gradient", lambda spec: bool(spec.get("frozen_holds"))),
        ("the loss does not use every parameter", lambda spec: spec["model"] == "unused"),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("parts of the model are in another mode than the model", lambda spec: spec["model"] == "part eval"),
        ("the model has batch norm and dropout", lambda spec: spec["model"] in ("norm", "part eval")),
        ("the model has a parameter of its own and one output", lambda spec: spec["model"] == "scaled"),
        ("the gradients held from before are huge", lambda spec: spec.get("earlier") == "huge"),
        ("the loss is no squared error", lambda spec: spec["loss"] != "squared error"),
        ("the model is one linear layer", lambda spec: spec["model"] == "linear"),
        ("the batch has one row", lambda spec: spec.get("n", 6) == 1),
        ("the model and the batch are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        SHAPES: "loss_fn was called with prediction and target of shapes {given}; asked for are {right}.",
        LIVE: "a returned tensor shares memory with a .grad.",
        ORDER: "loss_fn was called with its arguments in the order {given}.",
    },
    quantities={
        "the number of rows": lambda spec: spec.get("n", 6),
        "the number of entries of the output": lambda spec: (
            spec.get("n", 6) * {"tied": 3, "scaled": 1}.get(spec["model"], 2)
        ),
    },
)
