"""Which tensors share memory: what is written into one of them is seen in the other. And which memory is still there."""

from __future__ import annotations

import gc
from collections.abc import Hashable

import numpy
import torch
from torch.multiprocessing.reductions import StorageWeakRef

_MOST = 4096
"""Largest number of entries that is looked at; no right answer to an exercise here has more."""


def share_memory(a: object, b: object) -> bool:
    """Whether an entry of `a` lies where one of `b` lies, views and NumPy arrays included. Never raises."""
    first, second = _tensor(a), _tensor(b)
    if first is None or second is None or not _overlap(_span(first), _span(second)):
        return False
    return bool(_addresses(first) & _addresses(second))


def _tensor(item: object) -> torch.Tensor | None:
    """`item` as a tensor; None for what is no tensor and no array, or has no memory of its own."""
    try:
        tensor = torch.from_numpy(item) if isinstance(item, numpy.ndarray) else item
        if not isinstance(tensor, torch.Tensor) or not 0 < tensor.numel() <= _MOST:
            return None
        return tensor if tensor.data_ptr() else None
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        return None


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """The first address of the entries, and the last."""
    steps = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr(), tensor.data_ptr() + steps * tensor.element_size()


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]


def _addresses(tensor: torch.Tensor) -> set[int]:
    steps = torch.zeros((), dtype=torch.int64)
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        steps = steps[..., None] + torch.arange(size) * stride
    start, width = tensor.data_ptr(), tensor.element_size()
    return {start + step * width for step in steps.flatten().tolist()}


class Remembered:
    """Memory of tensors, by weak reference, each under a label: it keeps nothing, and tells what others keep."""

    def __init__(self) -> None:
        self._kept: list[tuple[Hashable, StorageWeakRef]] = []

    def note(self, label: Hashable, tensor: torch.Tensor) -> None:
        """Remember the memory of `tensor`. Raises `NotImplementedError` where it has none of its own."""
        self._kept.append((label, StorageWeakRef(tensor.untyped_storage())))

    def there(self) -> set[Hashable]:
        """The labels of which some memory has not been freed."""
        if self._labels():
            gc.collect(1)  # a young reference cycle that nothing reaches is not something that somebody keeps
        return self._labels()

    def _labels(self) -> set[Hashable]:
        self._kept = [(label, kept) for label, kept in self._kept if not kept.expired()]
        return {label for label, _ in self._kept}
