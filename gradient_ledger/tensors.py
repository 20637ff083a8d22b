"""Small questions about tensors. Sparse, sharded and fake ones may refuse to answer; that is never a fault."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

USED_ENTRIES = 4096
"""Entries of a weight by which it is told whether it has changed."""
FEW = 64
"""Entries that are looked at one by one."""

HALVES = {torch.bfloat16: "bfloat16", torch.float16: "float16"}


def is_zero(value: Tensor | None) -> bool:
    """Whether a gradient holds nothing but zeros; False where there is none, or that cannot be asked."""
    if value is None:
        return False
    try:
        with torch.no_grad():
            return not bool(value.detach().any())
    except (RuntimeError, NotImplementedError):
        return False


def largest(grad: Tensor) -> float:
    """Largest absolute value; 0 where that cannot be asked."""
    try:
        return float(grad.detach().abs().max()) if grad.numel() else 0.0
    except (RuntimeError, NotImplementedError):
        return 0.0


def hooks_on(parameter: Tensor) -> int:
    """Gradient hooks a parameter carries, of both kinds."""
    after: Any = getattr(parameter, "_post_accumulate_grad_hooks", None)
    return len(parameter._backward_hooks or ()) + len(after or ())


def seems_finite(grad: Tensor) -> bool:
    """Whether the sum of a small gradient on the CPU is finite, or the gradient is where asking would cost more."""
    if not grad.is_cpu:
        return True
    try:
        if type(grad) is Tensor and grad.layout == torch.strided and grad.dim() == 1 and grad.numel() <= FEW:
            return all(map(math.isfinite, grad.tolist()))  # quicker than an operation
        return math.isfinite(grad.sum().item()) or is_finite(grad)
    except (RuntimeError, NotImplementedError):
        return True


def is_finite(grad: Tensor) -> bool:
    """Whether all entries are finite; True where that cannot be asked."""
    try:
        return bool(torch.isfinite(grad.detach()).all())
    except (RuntimeError, NotImplementedError):
        return True


def digest_of(grad: Tensor) -> complex:
    """Sum and sum of squares in float64: one of them changes whenever a value does, for all practical purposes."""
    try:
        flat = grad.detach().double()
        return complex(float(flat.sum()), float((flat**2).sum()))
    except (RuntimeError, NotImplementedError):
        return 0j


def fingerprint(parameter: Tensor) -> float | None:
    try:
        flat = parameter.detach().double()
        return float(flat.sum() + (flat**2).sum())
    except (RuntimeError, NotImplementedError):
        return None


def changing_print(parameter: Tensor) -> float | None:
    """A fingerprint of a weight's first entries: another number once a step has changed it."""
    return fingerprint(parameter.detach().flatten()[:USED_ENTRIES])


def norm_of(grads: list[Tensor]) -> float:
    """Norm of several gradients together; 0 where it cannot be taken."""
    try:
        with torch.no_grad():
            norms = torch._foreach_norm([grad.detach() for grad in grads if not grad.is_sparse])
            return math.sqrt(sum(float(norm) ** 2 for norm in norms))
    except (RuntimeError, NotImplementedError, OverflowError):
        return 0.0


def number_of(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def scale_of(scaler: Any) -> float | None:
    """The scale as the scaler holds it; asking would make a fresh scaler allocate nothing and cost a copy on a GPU."""
    scale = getattr(scaler, "_scale", None)
    return float(scale) if scale is not None else number_of(getattr(scaler, "_init_scale", None))


def address(tensor: Tensor) -> int:
    """Where a tensor lies in memory; 0 for one that has none of its own."""
    try:
        return tensor.data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0
