"""Several ranks in one process: threads that take turns, and no network.

One rank runs until it waits for the others or returns; then the next one runs. So every run of a case is the same, and
a rank that would wait for ever is seen.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")
_TRIES = 200
"""How often a rank that does not end is asked to, a hundredth of a second apart."""


class _Ended(BaseException):
    """Raised in the ranks that are left when another one has failed; no `except Exception` catches it."""


class Cluster:
    """`size` ranks of one process, which `run` calls side by side."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._own = threading.local()
        self._go = [SimpleQueue[None]() for _ in range(size)]
        self._back = SimpleQueue[None]()
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
                self._back.put(None)

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
        self._back.put(None)
        self._wait()
        if self._refusal is not None:
            raise RuntimeError(self._refusal)
        return self._met

    # ------------------------------------------------------------------ turns

    def _wait(self) -> None:
        if not self._ending:  # else its turn will not come again
            self._go[self.rank].get()
        if self._ending:
            raise _Ended

    def _let(self, rank: int) -> None:
        """Let one rank run until it waits, returns or raises."""
        self._go[rank].put(None)
        while True:  # in slices, so that the time limit of a check gets through where it cannot interrupt a wait
            with suppress(Empty):
                self._back.get(timeout=0.05)
                break
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
            self._go[rank].put(None)
            thread.join(0.05)
            for _ in range(_TRIES):
                if not thread.is_alive():
                    break
                raise_in(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Ended))  # it turns in a loop of its own
                thread.join(0.01)
