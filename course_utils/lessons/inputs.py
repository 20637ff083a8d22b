"""Seeded inputs from a case's plain spec: tensors, small models, losses, shared by the lessons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import nn

from course_utils.exercise import Case

M = TypeVar("M", bound=nn.Module)
DTYPES = {"float32": torch.float32, "float64": torch.float64}


class Draw:
    """Tensors drawn from a case's own seed, leaving the global random state alone.

    Values are drawn in float64 on the CPU and then cast and moved, so that a case holds the same
    numbers, up to rounding, in every dtype and on every device. `apart` gives other numbers of the same case.
    """

    def __init__(self, case: Case, apart: int = 0) -> None:
        self._generator = torch.Generator().manual_seed(int(case.spec["seed"]) + apart)
        self.dtype = DTYPES[case.spec.get("dtype", "float64")]
        self.device = torch.device(case.spec.get("device", "cpu"))

    def normal(self, *shape: int, scale: float = 1.0) -> torch.Tensor:
        """Normal entries of that shape, times `scale`."""
        values = torch.randn(shape, generator=self._generator, dtype=torch.float64) * scale
        return values.to(self.dtype).to(self.device)

    def fill(self, module: M, scale: float = 0.5) -> M:
        """Move `module` to the case's dtype and device and fill its parameters with drawn values."""
        module = module.to(dtype=self.dtype, device=self.device)
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.copy_(self.normal(*parameter.shape, scale=scale))
        return module


def cases(seed: int, rows: Sequence[tuple[str, dict[str, Any]]]) -> list[Case]:
    """One case a row of (name, spec without seed); each gets its own seed, derived from `seed` and its place."""
    return [Case(name, {**spec, "seed": 1000 * seed + index}) for index, (name, spec) in enumerate(rows)]


def mean_square_error(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The mean of the squared difference over all entries; 0-d."""
    return ((prediction - target) ** 2).mean()


def _poisson(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    # The negative log-likelihood of a count, up to a constant, of the logarithm of its rate.
    return (torch.exp(prediction) - target * prediction).mean()


def _pinball(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    # What a quantile, here the eighth tenth, minimises.
    above = target - prediction
    return torch.maximum(0.8 * above, -0.2 * above).mean()


LOSSES: Mapping[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "squared error": mean_square_error,
    "poisson": _poisson,
    "pinball": _pinball,
}
"""Losses of a prediction and a target, 0-d means over all entries; all but the first tell the two apart."""


def without_global_draws(build: Callable[[], M]) -> M:
    """Build a module without moving the global random state its default initialisation draws from."""
    with torch.random.fork_rng(devices=[]):
        return build()


# ------------------------------------------------------------------ small models


class _Branches(nn.Module):
    """A model with a branch that the forward pass does not use."""

    def __init__(self) -> None:
        super().__init__()
        self.used = nn.Linear(3, 2)
        self.unused = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.used(x)


class _Tied(nn.Module):
    """Two layers that are one: the second has the first one's weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)
        self.second.weight = self.first.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.tanh(self.first(x)))


class _Scaled(nn.Module):
    """A model with a parameter of its own, one output, and two biases of equal value."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(3))
        self.layers = nn.ModuleList([nn.Linear(3, 1), nn.Linear(3, 1)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second = self.layers
        return first(x * self.scale) * torch.tanh(second(x))


class _Twins(nn.Module):
    """A layer and two further biases, added to each other: autograd hands both the very same gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2, bias=False)
        self.left = nn.Parameter(torch.zeros(2))
        self.right = nn.Parameter(torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + (self.left + self.right)


class _Sequences(nn.Module):
    """A model of samples that are sequences of 2 by 3: each step goes through one layer, and they are averaged."""

    def __init__(self) -> None:
        super().__init__()
        self.step = nn.Linear(3, 4)
        self.out = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(torch.tanh(self.step(x)).mean(1))


class _Heads(nn.Module):
    """A trunk with two heads, of which a forward pass uses one, and a layer that none uses."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Linear(3, 4)
        self.heads = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])
        self.spare = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor, head: int = 0) -> torch.Tensor:
        return self.heads[head](torch.tanh(self.trunk(x)))


class _Moded(nn.Module):
    """A model that says something else in train mode than in eval mode, as with dropout, and draws nothing for it."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.tanh(self.first(x))
        return self.second(2 * hidden.roll(1, dims=-1) if self.training else hidden)


def _build_model(kind: str) -> nn.Module:
    match kind:
        case "linear":
            return nn.Linear(3, 2)
        case "mlp" | "frozen":
            return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        case "one output":
            return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        case "unused":
            return _Branches()
        case "tied":
            return _Tied()
        case "norm":
            return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))
        case "eval" | "part eval":
            # Flatten and batch norm refuse a single sample without its batch dimension.
            norm = nn.BatchNorm1d(4, affine=False)
            return nn.Sequential(nn.Flatten(), nn.Linear(3, 4), norm, nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 2))
        case "sequences":
            return _Sequences()
        case "twins":
            return _Twins()
        case "scaled":
            return _Scaled()
        case "heads":
            return _Heads()
        case "moded":
            return _Moded()
    raise ValueError(f"unknown model {kind!r}")


def model_and_batch(case: Case) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """The model of a case, in `spec["model"]`, with its earlier `.grad`, `x (n, 3)` and `y (n, outputs)`."""
    draw, kind = Draw(case), case.spec["model"]
    model = draw.fill(without_global_draws(lambda: _build_model(kind)))
    if kind == "scaled":
        with torch.no_grad():
            model.layers[1].bias.copy_(model.layers[0].bias)  # type: ignore[index, union-attr]
    if kind == "frozen":
        model[0].weight.requires_grad_(False)  # type: ignore[index]
    if kind in ("norm", "eval"):
        model.eval()
    if kind == "part eval":  # as one fine-tunes with frozen statistics
        for module in model.modules():
            module.train(not isinstance(module, nn.BatchNorm1d | nn.Dropout))
    earlier = case.spec.get("earlier", "none")
    trainable = [p for p in model.parameters() if p.requires_grad]
    for index, parameter in enumerate(trainable):
        if earlier == "all" or (earlier == "some" and index % 2 == 0):
            parameter.grad = draw.normal(*parameter.shape)
        elif earlier == "huge":
            parameter.grad = 1e14 * draw.normal(*parameter.shape)
        elif earlier == "not finite":
            parameter.grad = torch.full_like(parameter, float("nan" if index % 2 else "inf"), requires_grad=False)
    if case.spec.get("frozen_holds"):
        model[0].weight.grad = draw.normal(*model[0].weight.shape)  # type: ignore[index]
    rows = case.spec.get("n", 6)
    x = draw.normal(rows, 2, 3) if kind == "sequences" else draw.normal(rows, 3)
    outputs = {"tied": 3, "scaled": 1, "one output": 1}.get(kind, 2)
    return model, x, draw.normal(len(x), outputs)


def gradients_held(model: nn.Module) -> dict[str, torch.Tensor | None]:
    """{name: a copy of .grad, or None} of every parameter."""
    return {name: None if p.grad is None else p.grad.detach().clone() for name, p in model.named_parameters()}


def hooks_in(model: nn.Module) -> int:
    """How many hooks are registered on a model's modules and parameters."""
    of_modules = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    of_tensors = ("_backward_hooks", "_post_accumulate_grad_hooks")
    found = sum(len(getattr(module, kind)) for module in model.modules() for kind in of_modules)
    return found + sum(len(getattr(p, kind, None) or ()) for p in model.parameters() for kind in of_tensors)
