"""What exercises about training loops share: batches, optimizers by name, and what a loop leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Case
from course_utils.lessons.inputs import Draw, hooks_in
from course_utils.lessons.watched_loss import LossFn as LossFn

Batch = tuple[torch.Tensor, torch.Tensor]
MakeOptimizer = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]

PARAMETERS = "parameters after"
HOOKS = "hooks left"


def _in_two_groups(params: Iterable[nn.Parameter], lr: float) -> torch.optim.Optimizer:
    every = list(params)
    groups: list[dict[str, Any]] = [{"params": every[:-2]}, {"params": every[-2:], "lr": lr / 4}]
    return torch.optim.SGD(groups, lr=lr, momentum=0.5)


OPTIMIZERS: Mapping[str, Callable[[Iterable[nn.Parameter], float], torch.optim.Optimizer]] = {
    "SGD": lambda params, lr: torch.optim.SGD(params, lr=lr),
    "momentum": lambda params, lr: torch.optim.SGD(params, lr=lr, momentum=0.9),
    "Adam": lambda params, lr: torch.optim.Adam(params, lr=lr),
    "AdamW": lambda params, lr: torch.optim.AdamW(params, lr=lr, weight_decay=0.1),
    "decay": lambda params, lr: torch.optim.SGD(params, lr=lr, weight_decay=0.1),
    "groups": _in_two_groups,
}
"""By name, from parameters and a learning rate. "groups" are two groups of parameters: the last two, and the others."""


def optimizer_of(case: Case, model: nn.Module) -> torch.optim.Optimizer:
    """The optimizer in `spec["optimizer"]`, `spec["lr"]` of all parameters of `model`, after `spec["stepped"]` steps.

    Those steps use drawn gradients; afterwards every `.grad` is as it was.
    """
    optimizer = OPTIMIZERS[case.spec["optimizer"]](model.parameters(), case.spec.get("lr", 0.05))
    draw = Draw(case, apart=700)
    trainable = [p for p in model.parameters() if p.requires_grad]
    held = [p.grad for p in trainable]
    for _ in range(case.spec.get("stepped", 0)):
        for parameter in trainable:
            parameter.grad = draw.normal(*parameter.shape)
        optimizer.step()
    for parameter, gradient in zip(trainable, held, strict=True):
        parameter.grad = gradient
    return optimizer


def batches_of(case: Case, outputs: int = 2) -> list[Batch]:
    """A batch `x (n, 3)`, `y (n, outputs)` for each n of `spec["rows"]`; other outputs where the model has others.

    The entries of `y` are of the size `spec["size_of_targets"]`, by default 1.
    """
    draw = Draw(case, apart=500)
    outputs = {"tied": 3, "scaled": 1, "one output": 1}.get(case.spec.get("model", ""), outputs)
    size = case.spec.get("size_of_targets", 1.0)
    return [(draw.normal(n, 3), draw.normal(n, outputs, scale=size)) for n in case.spec["rows"]]


def tolerance(case: Case) -> float:
    """How far an update or a returned loss may be from the right one: rounding on another way, and no more."""
    return 2e-4 if case.spec.get("dtype") == "float32" else 1e-6


@contextmanager
def modes_put_back(model: nn.Module) -> Iterator[None]:
    """After the block each module of a model is in the mode, train or eval, in which it was before."""
    modes = {module: module.training for module in model.modules()}
    yield
    for module, mode in modes.items():
        module.training = mode


def parameters_after(model: nn.Module) -> dict[str, torch.Tensor]:
    """{name: a copy} of every parameter of a model."""
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def remembered_by(optimizer: torch.optim.Optimizer, model: nn.Module) -> dict[str, object]:
    """{name: what the optimizer remembers of it}, of those parameters of a model of which it remembers anything."""
    return {name: dict(optimizer.state[p]) for name, p in model.named_parameters() if optimizer.state.get(p)}


def hooks_left(model: nn.Module, *optimizers: torch.optim.Optimizer) -> int:
    """How many hooks are registered on a model's modules and parameters, and on optimizers."""
    of_optimizers = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
    return hooks_in(model) + sum(len(getattr(one, kind)) for one in optimizers for kind in of_optimizers)
