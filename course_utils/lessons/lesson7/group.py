"""A process group of the ranks of one process: what DDP and `torch.distributed` send goes round among them."""

# No `from __future__ import annotations`: what C++ calls here is told by names, and types are plain.
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _create_work_from_future  # type: ignore[attr-defined]
from torch.distributed import distributed_c10d

from course_utils.lessons.lesson7.cluster import Cluster

_REDUCE: Sequence[tuple[Any, Callable[[torch.Tensor], torch.Tensor]]] = (
    (dist.ReduceOp.SUM, lambda stack: stack.sum(0)),
    (dist.ReduceOp.AVG, lambda stack: stack.sum(0) / len(stack)),
    (dist.ReduceOp.PRODUCT, lambda stack: stack.prod(0)),
    (dist.ReduceOp.MIN, lambda stack: stack.amin(0)),
    (dist.ReduceOp.MAX, lambda stack: stack.amax(0)),
)


@dataclass(frozen=True)
class Sent:
    """One collective that a rank took part in: its name, how many numbers went round, whose call it was."""

    name: str
    numbers: int
    entries: int
    """Those of the numbers that are floating-point, as gradients are."""
    own: bool
    """Whether it was a call of `torch.distributed`; else DDP's own machinery called."""


class Group(dist.ProcessGroup):
    """The ranks of a cluster as a process group. Whoever calls is the rank whose thread it is."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(0, cluster.size)  # type: ignore[call-arg]
        self._cluster = cluster
        self.sent: list[list[Sent]] = [[] for _ in range(cluster.size)]
        """What went round, by rank, in order."""

    def rank(self) -> int:
        return self._cluster.rank

    def size(self) -> int:
        return self._cluster.size

    def name(self) -> str:
        return "ranks"

    def getBackendName(self) -> str:
        return "ranks"

    @property
    def pg_name(self) -> str:
        return "ranks"

    @property
    def group_name(self) -> str:  # type: ignore[override]
        return "ranks"

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:  # type: ignore[override]
        asked = getattr(opts, "reduceOp", dist.ReduceOp.SUM)
        reduce = next((how for operation, how in _REDUCE if asked == operation), None)
        if reduce is None:
            raise ValueError(f"no such reduction here: {asked}")
        every = self._round("all_reduce", tensors)
        for place, tensor in enumerate(tensors):
            _write(tensor, reduce(torch.stack([theirs[place] for theirs in every])))
        return _done(tensors)

    def allreduce_coalesced(self, tensors: Any, opts: Any = None) -> Any:
        return self.allreduce(tensors, opts)

    def broadcast(self, tensors: Any, opts: Any = None) -> Any:  # type: ignore[override]
        every = self._round("broadcast", tensors)
        for place, tensor in enumerate(tensors):
            _write(tensor, every[getattr(opts, "rootRank", 0)][place])
        return _done(tensors)

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        every = self._round("all_gather", inputs)
        for place, rows in enumerate(outputs):
            for theirs, row in zip(every, rows, strict=True):
                _write(row, theirs[place])
        return _done(outputs)

    def _allgather_base(self, output: Any, mine: Any, opts: Any = None) -> Any:
        every = self._round("all_gather", [mine])
        _write(output, torch.cat([theirs[0].flatten() for theirs in every]).view_as(output))
        return _done([output])

    def barrier(self, opts: Any = None) -> Any:
        self._round("barrier", [])
        return _done([])

    def _round(self, name: str, tensors: Sequence[torch.Tensor]) -> list[list[torch.Tensor]]:
        """Copies of what each rank brought; refuses, as a cluster would hang or fail, where they do not fit."""
        entries = sum(tensor.numel() for tensor in tensors if tensor.is_floating_point())
        caller = sys._getframe(2).f_code.co_filename
        numbers = sum(tensor.numel() for tensor in tensors)
        self.sent[self.rank()].append(Sent(name, numbers, entries, caller.endswith("distributed_c10d.py")))
        shapes = ", ".join(f"{tensor.numel()} {str(tensor.dtype).removeprefix('torch.')}" for tensor in tensors)
        return self._cluster.meet(f"{name}({shapes})", [tensor.detach().clone() for tensor in tensors])


def _write(tensor: torch.Tensor, values: torch.Tensor) -> None:
    with torch.no_grad():
        tensor.copy_(values)


def _done(value: Any) -> Any:
    future: torch.futures.Future[Any] = torch.futures.Future()
    future.set_result(value)
    return _create_work_from_future(future)


@contextmanager
def default_group(group: Group) -> Iterator[None]:
    """In the block, `torch.distributed` talks to this group; one that was there before is back afterwards."""
    before = dist.GroupMember.WORLD
    known = distributed_c10d._world.pg_map  # where an error message looks up what a group is
    dist.GroupMember.WORLD = group  # type: ignore[misc]
    known[group] = ("ranks", None)  # type: ignore[assignment]
    try:
        yield
    finally:
        known.pop(group, None)
        dist.GroupMember.WORLD = before  # type: ignore[misc]
