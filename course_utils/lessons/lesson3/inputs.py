"""What the exercises of lesson 3 start from: gradients that are there already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import torch

from course_utils.lessons.inputs import Draw

Holding = Literal["none", "gradient", "zeros", "cancelling", "infinite", "NaN", "transposed", "part of a bucket"]


def hold(draw: Draw, param: torch.Tensor, kind: Holding) -> None:
    """Put into `param.grad` what a loop may have left there."""
    param.grad = None if kind == "none" else _earlier(draw, tuple(param.shape), kind)


def _earlier(draw: Draw, shape: tuple[int, ...], kind: Holding) -> torch.Tensor:
    grad = draw.normal(*shape)
    entries = grad.view(-1)
    match kind:
        case "zeros":
            grad.zero_()
        case "cancelling":  # sums to zero in any order, since no entry needs more than a few bits; none is zero
            half = grad.numel() // 2
            entries[:half] = (8 * entries[:half]).round() / 8 + 1 / 16
            entries[half:] = -entries[:half]
        case "infinite":
            entries[0] = float("inf")
        case "NaN":
            entries[-1] = float("nan")
        case "transposed":
            return torch.empty_strided(shape, (1, shape[0]), dtype=grad.dtype, device=grad.device).copy_(grad)
        case "part of a bucket":  # several gradients in one piece of memory, as data-parallel training keeps them
            return _within(draw.normal(grad.numel() + 4), 2, grad)
    return grad


def _within(bucket: torch.Tensor, start: int, like: torch.Tensor) -> torch.Tensor:
    """A tensor in the memory of another; not a view of it, which autograd refuses to detach in place."""
    empty = torch.empty(0, dtype=like.dtype, device=like.device)
    return empty.set_(bucket.untyped_storage(), start, like.shape, like.stride())


def share_memory(params: Iterable[torch.Tensor]) -> None:
    """Put the gradients of `params`, which all hold one, into one piece of memory, one behind the other."""
    held = [(param, param.grad) for param in params if param.grad is not None]
    for (param, _), grad in zip(held, _packed([grad for _, grad in held]), strict=True):
        param.grad = grad


def share_memory_of_values(params: Sequence[torch.Tensor]) -> None:
    """Put the values of `params`, of one dtype, into one piece of memory, in which there is room for more."""
    room = params[0].detach().new_zeros(5)
    for param, values in zip(params, _packed([*(param.detach() for param in params), room]), strict=False):
        param.data = values


def _packed(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    bucket, start, packed = torch.cat([tensor.flatten() for tensor in tensors]), 0, []
    for tensor in tensors:
        packed.append(_within(bucket, start, tensor))
        start += tensor.numel()
    return packed


def bytes_held(params: Iterable[torch.Tensor]) -> int:
    """Bytes of memory that the gradients of `params` keep, each piece of memory counted once."""
    held = [param.grad.untyped_storage() for param in params if param.grad is not None]
    return sum({storage.data_ptr(): storage.nbytes() for storage in held}.values())
