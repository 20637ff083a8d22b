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
