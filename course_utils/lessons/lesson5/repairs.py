"""What the six repairs share: their cases, what a case is run with, what of a loop is looked at, and common words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case
from course_utils.lessons.inputs import LOSSES, Draw, cases, model_and_batch, without_global_draws
from course_utils.lessons.training import (
    HOOKS,
    OPTIMIZERS,
    PARAMETERS,
    batches_of,
    hooks_left,
    optimizer_of,
    parameters_after,
)

LEFT_ON_X = "gradients left on the batches"
HEAD = "model.head after the call"
TRUNK = "parameters of the trunk that require gradients"
MAY_CHANGE = frozenset({"grad", "parameters"})

NO_HOOKS = "No hook may be left behind, on the model, its parameters or the optimizer."
CLEAN = (
    "When the call begins, every `.grad` is None; what it holds afterwards does not matter. A frozen parameter keeps its "
    "value and stays frozen; every other one gets a gradient from every batch. No layer draws random numbers or counts its "
    "forward passes: one more, for a report, does no harm."
)
STEPPED = "The optimizer holds all parameters of the model and may have stepped before the call: train with it."
JUDGED = "Judged are the parameters after the call, and that all else stayed as it was; not what the function returns."


def one_step_a_batch(name: str, rest: str = JUDGED) -> str:
    """The goal of a repair whose loop takes one step a batch; `rest` says what is judged."""
    return (
        f"`{name}(model, optimizer, loss_fn, batches, epochs)` runs, raises nothing, and is wrong. Mend it. It goes "
        "`epochs` times through `batches`, a list of pairs `(x, y)`, in their order. Each batch gives one step of the "
        "optimizer, with the gradient of `loss_fn(model(x), y)` of that batch and with nothing else; `loss_fn` returns "
        f"a mean. {CLEAN} {STEPPED} {rest}"
    )


def same_repair(name: str) -> str:
    """The goal of another repair with the same contract as 5.2, which stands above it in the notebook."""
    return (
        f"`{name}(model, optimizer, loss_fn, batches, epochs)` runs, raises nothing, and is wrong. Mend it. What is "
        "asked and judged is what exercise 5.2 says, word for word: a step for each batch, with the gradient of that batch "
        "and with nothing else."
    )


Spec = Mapping[str, Any]
Property = tuple[str, Callable[[Spec], bool]]


_LARGE: Mapping[str, Any] = {"size_of_targets": 1000.0, "lr": 1e-5}
"""Then gradients are large, too, and whatever bounds them shows."""


def _row(name: str, rows: list[int], epochs: int, **rest: Any) -> tuple[str, dict[str, Any]]:
    return name, {"model": "mlp", "optimizer": "SGD", "rows": rows, "epochs": epochs, **rest}


def cases_of_batches(seed: int) -> list[Case]:
    """Cases for loops with one step a batch."""
    return cases(
        seed,
        [
            _row("one batch, one epoch", [4], 1),
            _row("one batch, two epochs", [4], 2),
            _row("two batches, one epoch", [4, 4], 1),
            _row("five batches, two epochs", [3, 3, 3, 3, 3], 2),
            _row("batches of 5, 1 and 3 rows", [5, 1, 3], 2),
            _row("a loss that tells prediction and target apart", [4, 4], 2, loss="poisson"),
            _row("momentum", [4, 4, 4], 2, optimizer="momentum"),
            _row("momentum, after two steps before the call", [4, 4], 2, optimizer="momentum", stepped=2),
            _row("Adam, after one step before the call", [4, 4], 2, optimizer="Adam", stepped=1),
            _row("weight decay", [4, 4], 2, optimizer="decay"),
            _row("large targets, and a small learning rate", [4, 4], 2, **_LARGE),
            _row("two groups of parameters", [4, 4], 2, optimizer="groups"),
            _row("a frozen weight, weight decay", [4, 4], 2, model="frozen", optimizer="decay"),
            _row("a parameter of the model's own, and nested layers", [4, 4], 2, model="scaled"),
            _row("one weight tied to two places, momentum", [3, 4], 2, model="tied", optimizer="momentum"),
            _row("dropout and batch norm in eval mode, AdamW", [4, 4], 2, model="eval", optimizer="AdamW"),
            _row("dropout and batch norm alone in eval mode", [4, 4], 2, model="part eval"),
            _row("float32, momentum", [4, 4, 4], 2, optimizer="momentum", dtype="float32"),
        ],
    )


def arrange(case: Case) -> Arrangement:
    """A loop's model, optimizer, loss and batches; afterwards its parameters, and what it left behind."""
    model, _, _ = model_and_batch(case)
    optimizer, batches = optimizer_of(case, model), batches_of(case)
    hooks = hooks_left(model, optimizer)
    inputs = [x for x, _ in batches]  # whatever the list holds afterwards
    return Arrangement(
        (model, optimizer, LOSSES[case.spec.get("loss", "squared error")], batches, case.spec["epochs"]),
        watch={"model": model, "batches": batches},
        facts=lambda _: {
            PARAMETERS: parameters_after(model),
            HOOKS: hooks_left(model, optimizer) - hooks,
            LEFT_ON_X: sum(x.grad is not None for x in inputs),
        },
    )


PROPERTIES: tuple[Property, ...] = (
    ("there is one step in all", lambda spec: len(spec["rows"]) * spec["epochs"] == 1),
    ("there is more than one step", lambda spec: len(spec["rows"]) * spec["epochs"] > 1),
    ("there is one batch", lambda spec: len(spec["rows"]) == 1),
    ("there is more than one batch", lambda spec: len(spec["rows"]) > 1),
    ("there is one epoch", lambda spec: spec["epochs"] == 1),
    ("there is more than one epoch", lambda spec: spec["epochs"] > 1),
    ("the optimizer has stepped before the call", lambda spec: bool(spec.get("stepped"))),
    ("the batches are of different sizes", lambda spec: len(set(spec["rows"])) > 1),
    ("the loss tells prediction and target apart", lambda spec: "loss" in spec),
    ("the optimizer has momentum", lambda spec: spec["optimizer"] in ("momentum", "groups")),
    ("the optimizer is Adam or AdamW", lambda spec: spec["optimizer"] in ("Adam", "AdamW")),
    ("the targets are large", lambda spec: "size_of_targets" in spec),
    ("the optimizer has weight decay", lambda spec: spec["optimizer"] in ("decay", "AdamW")),
    ("the optimizer has state of its own", lambda spec: spec["optimizer"] not in ("SGD", "decay")),
    ("the optimizer has two groups of parameters", lambda spec: spec["optimizer"] == "groups"),
    ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
    ("the model has a parameter of its own, and nested layers", lambda spec: spec["model"] == "scaled"),
    ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
    ("the model is in eval mode", lambda spec: spec["model"] == "eval"),
    ("parts of the model alone are in eval mode", lambda spec: spec["model"] == "part eval"),
    ("dropout and batch norm are in eval mode", lambda spec: spec["model"] in ("eval", "part eval")),
    ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
)
QUANTITIES: Mapping[str, Callable[[Spec], float | None]] = {
    "the number of batches": lambda spec: len(spec["rows"]),
    "the number of epochs": lambda spec: spec["epochs"],
}


def telling(properties: tuple[Property, ...], drawn: list[Case]) -> tuple[Property, ...]:
    """Those properties that some of the cases have and others have not."""
    return tuple(one for one in properties if len({one[1](case.spec) for case in drawn}) == 2)


# ------------------------------------------------------------------ one step an epoch


def cases_of_epochs(seed: int) -> list[Case]:
    """Cases for a loop with one step an epoch, on the mean over equal batches."""
    return cases(
        seed,
        [
            _row("one batch, one epoch", [4], 1),
            _row("one batch, three epochs", [4], 3),
            _row("two batches, one epoch", [4, 4], 1),
            _row("three batches, one epoch", [4, 4, 4], 1),
            _row("three batches, two epochs", [4, 4, 4], 2),
            _row("five batches of one row, two epochs", [1, 1, 1, 1, 1], 2),
            _row("a loss that tells prediction and target apart", [4, 4], 2, loss="poisson"),
            _row("momentum, after two steps before the call", [3, 3, 3], 2, optimizer="momentum", stepped=2),
            _row("Adam, after one step before the call", [4, 4], 2, optimizer="Adam", stepped=1),
            _row("weight decay", [4, 4], 2, optimizer="decay"),
            _row("large targets, and a small learning rate", [4, 4], 2, **_LARGE),
            _row("two groups of parameters", [4, 4], 2, optimizer="groups"),
            _row("a frozen weight, weight decay", [4, 4], 2, model="frozen", optimizer="decay"),
            _row("a parameter of the model's own, and nested layers", [4, 4], 2, model="scaled"),
            _row("one weight tied to two places, momentum", [3, 3], 2, model="tied", optimizer="momentum"),
            _row("dropout and batch norm in eval mode, AdamW", [4, 4], 2, model="eval", optimizer="AdamW"),
            _row("dropout and batch norm alone in eval mode", [4, 4], 2, model="part eval"),
            _row("float32, momentum", [4, 4, 4], 2, optimizer="momentum", dtype="float32"),
        ],
    )


# ------------------------------------------------------------------ a layer that is replaced


class Headed(nn.Module):
    """A trunk of one layer, a head, and a parameter of its own; the layer and the parameter under names that are given.

    Where it is `tied`, the head shares that parameter.
    """

    def __init__(self, layer: str = "0", own: str = "scale", *, tied: bool = False) -> None:
        super().__init__()
        self.register_parameter(own, nn.Parameter(torch.ones(4)))
        self.trunk = nn.Sequential()
        self.trunk.add_module(layer, nn.Linear(3, 4))
        self.head: nn.Module = nn.Linear(4, 4 if tied else 2)
        if tied:
            self.head.bias = own_of(self)[1]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(torch.tanh(self.trunk(x)) * own_of(self)[1])
        return out


def own_of(model: nn.Module) -> tuple[str, nn.Parameter]:
    """(name, tensor) of the one parameter that belongs to a model itself and to none of its layers."""
    ((name, parameter),) = model.named_parameters(recurse=False)
    return name, parameter


class _Own(nn.Module):
    """A parameter to be watched under the name that it has in its model."""

    def __init__(self, name: str, parameter: nn.Parameter) -> None:
        super().__init__()
        self.register_parameter(name, parameter)


_LIKE_THE_HEAD = (("overhead", "head_scale"), ("heads", "headroom"), ("ahead", "head_gain"), ("pre_head", "heads"))
"""What a layer of the trunk and the model's own parameter may be called, though they are no part of the head."""


def cases_of_heads(seed: int) -> list[Case]:
    """Cases for a loop that trains a model with a new head."""
    alike = list(_LIKE_THE_HEAD[Random(seed).randrange(len(_LIKE_THE_HEAD)) if seed else 0])
    return cases(
        seed,
        [
            _row("one batch, one epoch", [4], 1),
            _row("one batch, two epochs", [4], 2),
            _row("three batches, two epochs", [4, 4, 4], 2),
            _row("a new head with three outputs in place of two", [4, 4], 2, outputs=3),
            _row("a new head of two layers", [4, 4], 2, head="two layers"),
            _row("head in the names of other parameters", [4, 4], 2, names=alike),
            _row("an old head that shares a tensor with the rest", [4, 4], 2, tied=True),
            _row("batches of 5, 1 and 3 rows", [5, 1, 3], 1),
            _row("a loss that tells prediction and target apart", [4, 4], 2, loss="poisson"),
            _row("momentum", [4, 4, 4], 2, optimizer="momentum"),
            _row("Adam", [4, 4], 2, optimizer="Adam"),
            _row("weight decay", [4, 4], 2, optimizer="decay"),
            _row("large targets, and a small learning rate", [4, 4], 2, **_LARGE),
            _row("a frozen trunk, AdamW", [4, 4], 2, frozen=True, optimizer="AdamW"),
            _row("the model in eval mode, momentum", [4, 4], 2, evaluating=True, optimizer="momentum"),
            _row("float32, momentum", [4, 4, 4], 2, optimizer="momentum", dtype="float32"),
        ],
    )


def _new_head(case: Case) -> nn.Module:
    outputs = case.spec.get("outputs", 2)
    if case.spec.get("head") == "two layers":
        return nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, outputs))
    return nn.Linear(4, outputs)


def arrange_heads(case: Case) -> Arrangement:
    """A model, its new head, a maker of optimizers, loss and batches; afterwards all that may have been trained."""
    draw = Draw(case)
    tied = bool(case.spec.get("tied"))
    model = draw.fill(without_global_draws(lambda: Headed(*case.spec.get("names", ()), tied=tied)))
    new_head = draw.fill(without_global_draws(lambda: _new_head(case)))
    for module in (model, new_head):
        module.train(not case.spec.get("evaluating"))
    model.trunk.requires_grad_(not case.spec.get("frozen"))
    batches = batches_of(case, case.spec.get("outputs", 2))
    old_head, own = model.head, _Own(*own_of(model))

    def make_optimizer(parameters: Any) -> torch.optim.Optimizer:
        return OPTIMIZERS[case.spec["optimizer"]](parameters, case.spec.get("lr", 0.05))

    return Arrangement(
        (
            model,
            new_head,
            make_optimizer,
            LOSSES[case.spec.get("loss", "squared error")],
            batches,
            case.spec["epochs"],
        ),
        watch={"model": own, "model.trunk": model.trunk, "new_head": new_head, "batches": batches},
        facts=lambda _: {
            HEAD: "new_head" if model.head is new_head else "the old head" if model.head is old_head else "another one",
            PARAMETERS: {
                f"{name}.{key}": value
                for name, module in (("model", own), ("model.trunk", model.trunk), ("new_head", new_head))
                for key, value in parameters_after(module).items()
            },
            TRUNK: sum(p.requires_grad for p in model.trunk.parameters()),
            HOOKS: hooks_left(model) + (0 if model.head is new_head else hooks_left(new_head)),
        },
    )


PROPERTIES_OF_HEADS: tuple[Property, ...] = (
    ("the old head shares a tensor with the rest", lambda spec: "tied" in spec),
    ("the new head has another number of outputs than the old one", lambda spec: "outputs" in spec or "tied" in spec),
    ("the new head has two layers", lambda spec: "head" in spec),
    ("other parameters have head in their names", lambda spec: "names" in spec),
    ("the new head has the shape of the old one", lambda spec: not spec.keys() & {"outputs", "tied", "head"}),
    ("the trunk is frozen", lambda spec: bool(spec.get("frozen"))),
    ("the model is in eval mode", lambda spec: bool(spec.get("evaluating"))),
)
