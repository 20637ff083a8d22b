"""Counts the bytes that graphs keep for backward, through autograd's own hook for saved tensors."""

from __future__ import annotations

from collections import Counter
from types import TracebackType

import torch


class SavedBytes:
    """In its block: how many bytes living graphs keep for backward, `now` and at the `peak`.

    Memory that two operations keep is counted once. `there_anyway`, the data and the parameters, is left out.
    """

    def __init__(self, *there_anyway: torch.Tensor) -> None:
        self._outside = {tensor.untyped_storage().data_ptr() for tensor in there_anyway}
        self._users: Counter[int] = Counter()
        self.now = self.peak = 0
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, lambda kept: kept.tensor)

    def __enter__(self) -> SavedBytes:
        self._hooks.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hooks.__exit__(kind, error, trace)

    def _pack(self, tensor: torch.Tensor) -> _Kept:
        return _Kept(tensor.detach(), self)  # with its graph it would hold itself alive, where no backward frees it

    def count(self, tensor: torch.Tensor, change: int) -> None:
        """One operation more, or one less, keeps `tensor`."""
        storage = tensor.untyped_storage()
        before = self._users[storage.data_ptr()]
        self._users[storage.data_ptr()] += change
        if storage.data_ptr() not in self._outside and 0 in (before, before + change):
            self.now += change * storage.nbytes()
            self.peak = max(self.peak, self.now)


class _Kept:
    """One tensor kept by a graph; Python destroys this object when the graph lets it go."""

    def __init__(self, tensor: torch.Tensor, counter: SavedBytes) -> None:
        self.tensor, self._counter = tensor, counter
        counter.count(tensor, +1)

    def __del__(self) -> None:
        self._counter.count(self.tensor, -1)
