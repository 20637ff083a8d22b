"""Inputs that several exercises of lesson 1 draw: points, and scalar functions of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch

from course_utils.exercise import Case
from course_utils.lessons.inputs import Draw

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


def _columns(x: torch.Tensor) -> torch.Tensor:
    # What each entry counts depends on its column, and so on the shape of x.
    weights = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype, device=x.device)
    return (weights * torch.sin(x)).sum() + (x**2).sum(-1).prod()


def _bowl(x: torch.Tensor) -> torch.Tensor:
    weights = torch.arange(1, x.numel() + 1, dtype=x.dtype, device=x.device).reshape(x.shape)
    return (weights * x**2).sum() / 2


def _saddle(x: torch.Tensor) -> torch.Tensor:
    # Each coordinate's slope depends on the others.
    return torch.sin(x).prod() + x.sum() ** 2 / 4 - (x[..., 0] * x[..., -1]).sum() / 2


def _valley(x: torch.Tensor) -> torch.Tensor:
    return (x**4).sum() / 4 + torch.cos(x).sum()


def _plane(x: torch.Tensor) -> torch.Tensor:
    # autograd hands out the gradient of a sum as one number, expanded: it cannot be changed in place.
    return x.sum()


FUNCTIONS: Mapping[str, Scalar] = {
    "wave": _wave,
    "cubic": _cubic,
    "opaque": _opaque,
    "columns": _columns,
    "bowl": _bowl,
    "saddle": _saddle,
    "valley": _valley,
    "plane": _plane,
}
"""Functions of a tensor of any shape that give a 0-d tensor."""


def point(case: Case) -> torch.Tensor:
    """The point of a case, of any shape; the transpose of a contiguous one when `transposed`, zeros when `flat`."""
    x = Draw(case).normal(*case.spec["shape"])
    if case.spec.get("flat"):
        x.zero_()
    return x.t() if case.spec.get("transposed") else x
