"""Several ranks in one process: threads that take turns, and a process group that joins them. It needs no network.

One rank runs until it waits for the others or returns; then the next one runs. So every run of a case is the same, and
a rank that would wait for ever is seen.
"""

# No `from __future__ import annotations`: what C++ calls here is told by names, and types are plain.
import ctypes
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _create_work_from_future  # type: ignore[attr-defined]
from torch.distributed import distributed_c10d

Result = TypeVar("Result")

_REDUCE: Sequence[tuple[Any, Callable[[torch.Tensor], torch.Tensor]]] = (
    (dist.ReduceOp.SUM, lambda stack: stack.sum(0)),
    (dist.ReduceOp.AVG, lambda stack: stack.sum(0) / len(stack)),
    (dist.ReduceOp.PRODUCT, lambda stack: stack.prod(0)),
    (dist.ReduceOp.MIN, lambda stack: stack.amin(0)),
    (dist.ReduceOp.MAX, lambda stack: stack.amax(0)),
)


class _Ended(BaseException):
    """Raised in the ranks that are left when another one has failed; no `except Exception` catches it."""


class Cluster:
    """`size` ranks of one process, which `run` calls side by side."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._own = threading.local()
        self._go = [threading.Semaphore(0) for _ in range(size)]
        self._back = threading.Semaphore(0)
        self._offers: dict[int, tuple[str, Any]] = {}
        self._met: list[Any] = []
        self._failed: BaseException | None = None
        self._refusal: str | None = None
        self._ending = False

    @property
    def rank(self) -> int:
        """The rank whose code asks; 0 outside of `run`."""
        return getattr(self._own, "rank", 0)

    def run(self, task: Callable[[int], Result]) -> list[Result]:
        """What `task(rank)` returns, by rank. Raises what one of them raises; no rank outlives the call."""
        results: dict[int, Result] = {}

        def work(rank: int) -> None:
            self._own.rank = rank
            try:
                self._wait()
                results[rank] = task(rank)
            except BaseException as error:
                if self._failed is None and not self._ending:
                    self._failed = error
            finally:
                self._back.release()

        threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(self.size)]
        for thread in threads:
            thread.start()
        try:
            while len(results) < self.size:
                for rank in range(self.size):
                    if rank not in results:
                        self._let(rank)
                self._settle()
        finally:
            self._end(threads)
        return [results[rank] for rank in range(self.size)]

    def meet(self, what: str, offer: Any) -> list[Any]:
        """Called by a rank: wait until all others call it with the same `what`; the offers of all, by rank.

        Raises `RuntimeError` where that cannot be: another rank has returned, or does something else.
        """
        self._offers[self.rank] = what, offer
        self._back.release()
        self._wait()
        if self._refusal is not None:
            raise RuntimeError(self._refusal)
        return self._met

    # ------------------------------------------------------------------ turns

    def _wait(self) -> None:
        self._go[self.rank].acquire()
        if self._ending:
            raise _Ended

    def _let(self, rank: int) -> None:
        """Let one rank run until it waits, returns or raises."""
        self._go[rank].release()
        while not self._back.acquire(timeout=0.05):
            pass  # in slices, so that the time limit of a check gets through where it cannot interrupt a lock
        if self._failed is not None:
            raise self._failed

    def _settle(self) -> None:
        """After a round: hand the offers out, or refuse what would wait for ever."""
        offers, self._offers = self._offers, {}
        if not offers:
            return
        asked = {rank: what for rank, (what, _) in offers.items()}
        if len(asked) < self.size or len(set(asked.values())) > 1:
            others = [
                f"rank {rank} {f'is in {asked[rank]}' if rank in asked else 'has returned'}"
                for rank in range(self.size)
            ]
            self._refusal = f"these ranks would wait for ever: {', '.join(others)}"
            self._let(min(asked))
            raise RuntimeError(self._refusal)  # the rank caught it
        self._met = [offers[rank][1] for rank in range(self.size)]

    def _end(self, threads: Sequence[threading.Thread]) -> None:
        self._ending = True
        raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
        for rank, thread in enumerate(threads):
            self._go[rank].release()
            thread.join(0.05)
            while thread.is_alive():  # it turns in a loop of its own
                raise_in(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Ended))
                thread.join(0.01)


# ------------------------------------------------------------------ a process group


@dataclass(frozen=True)
class Sent:
    """One collective that a rank took part in: its name, how many floating-point entries went round, whose call."""

    name: str
    entries: int
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
        self.sent[self.rank()].append(Sent(name, entries, caller.endswith("distributed_c10d.py")))
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
