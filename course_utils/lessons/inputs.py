"""Seeded inputs from a case's plain spec: tensors, small models, losses, shared by the lessons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Case

DTYPES = {"float32": torch.float32, "float64": torch.float64}


class Draw:
    """Tensors drawn from a case's own seed, leaving the global random state alone.

    Values are drawn in float64 on the CPU and then cast and moved, so that a case holds the same
    numbers, up to rounding, in every dtype and on every device.
    """

    def __init__(self, case: Case) -> None:
        self._generator = torch.Generator().manual_seed(int(case.spec["seed"]))
        self.dtype = DTYPES[case.spec.get("dtype", "float64")]
        self.device = torch.device(case.spec.get("device", "cpu"))

    def normal(self, *shape: int, scale: float = 1.0) -> torch.Tensor:
        """Normal entries of that shape, times `scale`."""
        values = torch.randn(shape, generator=self._generator, dtype=torch.float64) * scale
        return values.to(self.dtype).to(self.device)

    def fill(self, module: nn.Module, scale: float = 0.5) -> nn.Module:
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


def without_global_draws(build: Callable[[], nn.Module]) -> nn.Module:
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


class _Heads(nn.Module):
    """A trunk with two heads, of which a forward pass uses one, and a layer that none uses."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Linear(3, 4)
        self.heads = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])
        self.spare = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor, head: int = 0) -> torch.Tensor:
        return self.heads[head](torch.tanh(self.trunk(x)))


def _build_model(kind: str) -> nn.Module:
    match kind:
        case "linear":
            return nn.Linear(3, 2)
        case "mlp" | "frozen":
            return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        case "unused":
            return _Branches()
        case "tied":
            return _Tied()
        case "norm":
            return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))
        case "eval":
            # Flatten and batch norm refuse a single sample without its batch dimension.
            norm = nn.BatchNorm1d(4, affine=False)
            return nn.Sequential(nn.Flatten(), nn.Linear(3, 4), norm, nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 2))
        case "heads":
            return _Heads()
    raise ValueError(f"unknown model {kind!r}")


def model_and_batch(case: Case) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """The model of a case, in `spec["model"]`, with its earlier `.grad`, `x (n, 3)` and `y (n, outputs)`."""
    draw, kind = Draw(case), case.spec["model"]
    model = draw.fill(without_global_draws(lambda: _build_model(kind)))
    if kind == "frozen":
        model[0].weight.requires_grad_(False)  # type: ignore[index]
    if kind in ("norm", "eval"):
        model.eval()
    earlier = case.spec.get("earlier", "none")
    trainable = [p for p in model.parameters() if p.requires_grad]
    for index, parameter in enumerate(trainable):
        if earlier == "all" or (earlier == "some" and index % 2 == 0):
            parameter.grad = draw.normal(*parameter.shape)
    x = draw.normal(case.spec.get("n", 6), 3)
    outputs = 3 if kind == "tied" else 2
    return model, x, draw.normal(len(x), outputs)


def gradients_held(model: nn.Module) -> dict[str, torch.Tensor | None]:
    """{name: a copy of .grad, or None} of every parameter."""
    return {name: None if p.grad is None else p.grad.detach().clone() for name, p in model.named_parameters()}
