"""Counts the bytes of living tensors, by watching every operation that PyTorch dispatches."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


@dataclass(frozen=True)
class Moment:
    """What lived after one operation, or where a phase begins, in bytes."""

    phase: str
    alive: int
    gradients: int


class LiveBytes(TorchDispatchMode):
    """In its block: how many bytes of the tensors made there live, and how many of them are gradients of `parameters`.

    What was there before the block is left out, in-place changes and views of it too. Memory that two tensors share
    is counted once. `history` holds a moment for each operation, `asked` the sum of all bytes ever made.
    """

    def __init__(self, parameters: Iterable[torch.Tensor] = ()) -> None:
        super().__init__()
        self.now = self.asked = 0
        self.history: list[Moment] = []
        self._phase = ""
        self._parameters = list(parameters)
        self._alive: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    def phase(self, name: str) -> None:
        """What follows belongs to this phase; notes what lives when it begins."""
        self._phase = name
        self._note()

    def __torch_dispatch__(
        self, func: Any, types: object, args: tuple[object, ...] = (), kwargs: Mapping[str, object] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        given = {storage._cdata for storage in _storages((args, kwargs))}
        result = func(*args, **kwargs)
        for storage in _storages(result):
            if storage._cdata not in given and storage._cdata not in self._alive:
                self._add(storage)
        self._note()
        return result

    def _add(self, storage: torch.UntypedStorage) -> None:
        key, size = storage._cdata, storage.nbytes()
        self._alive[key] = weakref.ref(storage, self._remover(key, size))
        self.asked += size
        self.now += size

    def _remover(self, key: int, size: int) -> Callable[[object], None]:
        def gone(_: object) -> None:
            del self._alive[key]
            self.now -= size

        return gone

    def _note(self) -> None:
        gradients = [p.grad for p in self._parameters if p.grad is not None]
        held = {storage._cdata: storage.nbytes() for storage in _storages(gradients)}
        self.history.append(Moment(self._phase, self.now, sum(held.values())))


def _storages(tree: object) -> Iterator[torch.UntypedStorage]:
    """The memory of all tensors in nested containers; that of a sparse one are its positions and its values."""
    for leaf in tree_leaves(tree):
        if isinstance(leaf, torch.Tensor):
            parts = (leaf._indices(), leaf._values()) if leaf.is_sparse else (leaf,)
            for part in parts:
                yield part.untyped_storage()
