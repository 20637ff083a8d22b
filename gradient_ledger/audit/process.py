"""What an audit needs of the process it shares with the script: streams, arguments, threads, signals, exits.

Each of these is changed for a while and put back. Nothing here knows of torch, of a ledger or of a report.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TextIO

# ------------------------------------------------------------------ streams


@contextlib.contextmanager
def report_stream(*, alone: bool) -> Iterator[TextIO]:
    """Where the report goes. With `alone`, everything else that is printed, by children too, goes to stderr."""
    kept = _stdout_given_to_stderr() if alone else None
    if kept is None:
        yield sys.stdout
        return
    out = os.fdopen(os.dup(kept), "w", encoding="utf-8")
    try:
        yield out
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        out.close()


def _stdout_given_to_stderr() -> int | None:
    """Standard output as it was, under another number; None where there is no real file behind it."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:
        return None
    return kept


def nobody_reads(out: TextIO) -> None:
    """After a `BrokenPipeError`: the reader of `out` (`| head`) has left. What is still printed there goes nowhere.

    So Python's own flush at the end of the process is quiet, too.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, out.fileno())
    os.close(nowhere)


# ------------------------------------------------------------------ what Python sets up for a script


@contextlib.contextmanager
def main_module_kept() -> Iterator[None]:
    """After the block the process has its own `__main__` again."""
    former = sys.modules.get("__main__")
    try:
        yield
    finally:
        if former is not None:
            sys.modules["__main__"] = former


@contextlib.contextmanager
def working_in(folder: str) -> Iterator[None]:
    """In the block the process works in this folder, if it is still there, whatever folder the script has gone to, and
    perhaps removed: paths of a report count from where the command was given."""
    try:
        former = os.getcwd()
    except OSError:
        former = ""
    with contextlib.suppress(OSError):
        os.chdir(folder)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.chdir(former)


@contextlib.contextmanager
def arguments_and_path_kept() -> Iterator[None]:
    """After the block `sys.argv` and `sys.path` are the lists they were and hold what they held."""
    arguments, words, path, entries = sys.argv, list(sys.argv), sys.path, list(sys.path)
    try:
        yield
    finally:
        sys.argv, sys.path = arguments, path
        sys.argv[:], sys.path[:] = words, entries


# ------------------------------------------------------------------ threads


def join_threads(before: Collection[threading.Thread]) -> None:
    """Wait for the threads that were not there `before`, as Python does before it ends."""
    _release_workers(before)
    for thread in threading.enumerate():
        if thread not in before and not thread.daemon:
            thread.join()


def _release_workers(before: Collection[threading.Thread]) -> None:
    """Let the workers of thread pools finish and leave: an idle one waits for the end of the process, and so for us.

    Python itself tells them so before it joins threads, and can do it again at its own end.
    """
    pools: Any = sys.modules.get("concurrent.futures.thread")
    waiting: Mapping[threading.Thread, Any] = getattr(pools, "_threads_queues", {})
    workers = {worker: queue for worker, queue in list(waiting.items()) if worker not in before}
    if not workers:
        return
    pools._shutdown = True
    try:
        for queue in workers.values():
            queue.put(None)
        for worker in workers:
            worker.join()
    finally:
        pools._shutdown = False


@contextlib.contextmanager
def threads_end_quietly(by: type[BaseException]) -> Iterator[None]:
    """In the block a thread that is ended by this exception ends without a word."""
    usual = threading.excepthook

    def hook(arguments: threading.ExceptHookArgs) -> None:
        if not issubclass(arguments.exc_type, by):
            usual(arguments)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = usual


# ------------------------------------------------------------------ signals and exits


class Stop(BaseException):
    """Raised inside the script to end it before its own end. Not a fault, so not an `Exception`."""


class Terminated(BaseException):
    """The process was asked to end, as by a scheduler whose time is up."""


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """In the block SIGTERM is `Terminated`, so that a report can follow; what the script sets itself counts."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    pid = os.getpid()

    def end(number: int, frame: types.FrameType | None) -> None:
        if os.getpid() != pid:  # a child the script has forked: it dies as it would have died
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        raise Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is end:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextlib.contextmanager
def before_os_exit(last: Callable[[int], int]) -> Iterator[None]:
    """In the block `os._exit(status)`, which ends the process on the spot, ends it with the status `last(status)`."""
    real = os._exit

    def leave(status: int) -> None:
        real(last(status))

    os._exit = leave  # type: ignore[assignment]
    try:
        yield
    finally:
        os._exit = real
