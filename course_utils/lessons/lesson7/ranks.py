"""Two processes that run one function together, as `torchrun` would start them, and hand back what each returns.

A notebook's functions live in its kernel. On Linux the processes are forked from it, which takes a few hundredths of a
second and brings the functions along. Elsewhere, and where autograd has threads for devices (PyTorch refuses to go on
in a fork of such a process; some builds have them without a GPU), they are new interpreters, and the function travels
as code, with the functions and values that it names.

The processes meet over a file in a temporary folder and talk by gloo over the loopback interface. None outlives the
call: whatever ends it, they are killed, and if the caller itself is killed, each ends by its own alarm.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import marshal
import multiprocessing
import os
import pickle
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

DEADLINE = 60.0
"""Seconds after which processes that have not answered are ended."""
TRIAL = 10.0
"""Seconds after which a fork in which a backward pass has not ended is taken for one in which it never does."""
_LOOPBACK = {"Linux": "lo", "Darwin": "lo0"}


class RankError(RuntimeError):
    """A process raised an error, ended without an answer or took too long."""


def on_ranks(
    function: Callable[..., Any],
    *arguments: Any,
    ranks: int = 2,
    deadline: float = DEADLINE,
    fork: bool | None = None,
) -> list[Any]:
    """`function(*arguments)` in `ranks` processes at once, joined in a gloo group; the results, by rank.

    In each process `torch.distributed` is ready, one thread computes, and the random state is that of
    `torch.manual_seed(0)`. What `function` prints is thrown away. Arguments and results travel by pickle; tensors are
    copied, on the CPU. `fork` says how processes are made, `None` leaves that to the machine.

    Raises `RankError` with the words of the first process that failed, or when `deadline` seconds have passed, and
    `ValueError` where `ranks` is not positive.
    """
    if ranks < 1:
        raise ValueError(f"at least one process is needed, not {ranks}")
    if fork is None:
        fork = platform.system() == "Linux" and not torch.accelerator.is_available() and _autograd_outlives_a_fork()
    with tempfile.TemporaryDirectory(prefix="ranks-") as name:
        folder = Path(name)
        started = (_forked if fork else _fresh)(function, arguments, ranks, deadline, folder)
        try:
            _wait(started, folder, deadline)
            return [_answer(folder, rank)[1] for rank in range(ranks)]
        finally:
            for process in started:
                process.kill()
            for process in started:
                process.join()


def kill_this_process() -> None:
    """End this process at once, as `kill -9` does: no `except` and no `finally` runs any more."""
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


class _Fresh:
    """A new interpreter, with the few methods that a forked process has."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()

    def join(self) -> None:
        self._process.wait()


def _autograd_outlives_a_fork() -> bool:
    """Whether a backward pass runs in a fork of this process, found out in one."""
    with _unwarned():
        trial = multiprocessing.get_context("fork").Process(target=_one_backward, daemon=True)
        trial.start()
    trial.join(TRIAL)
    trial.kill()
    trial.join()
    return trial.exitcode == 0


def _one_backward() -> None:
    torch.set_num_threads(1)
    with _silent(), contextlib.suppress(RuntimeError):
        torch.autograd.backward(torch.ones((), requires_grad=True))
        os._exit(0)
    os._exit(1)


@contextlib.contextmanager
def _unwarned() -> Iterator[None]:
    """From Python 3.12 on: threads of the parent are not in the fork. Those of torch are dealt with in `_run`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def _forked(
    function: Callable[..., Any], arguments: tuple[Any, ...], ranks: int, deadline: float, folder: Path
) -> list[Any]:
    context = multiprocessing.get_context("fork")
    made = [
        context.Process(target=_run, args=(lambda: (function, arguments), rank, ranks, deadline, folder), daemon=True)
        for rank in range(ranks)
    ]
    with _unwarned():
        for process in made:
            process.start()
    return list(made)


def _fresh(
    function: Callable[..., Any], arguments: tuple[Any, ...], ranks: int, deadline: float, folder: Path
) -> list[Any]:
    (folder / "task").write_bytes(pickle.dumps((_packed(function), arguments)))
    (folder / "path").write_bytes(pickle.dumps(sys.path))
    started = "import pickle, sys; sys.path[:] = pickle.load(open(sys.argv[1] + '/path', 'rb'))"
    started += f"; from {__name__} import _main; _main()"
    command = [sys.executable, "-c", started, str(folder)]
    return [_Fresh([*command, str(rank), str(ranks), str(deadline)]) for rank in range(ranks)]


def _main() -> None:
    """What a new interpreter runs."""
    name, rank, ranks, deadline = sys.argv[1:]
    folder = Path(name)

    def task() -> tuple[Callable[..., Any], tuple[Any, ...]]:
        packed, arguments = pickle.loads((folder / "task").read_bytes())
        return _unpacked(packed), arguments

    _run(task, int(rank), int(ranks), float(deadline), folder)


# ------------------------------------------------------------------ in each process


def _run(
    task: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]],
    rank: int,
    ranks: int,
    deadline: float,
    folder: Path,
) -> None:
    """Join the group, run the task, and write the answer down; ends the process."""
    _end_after(deadline)
    torch.set_num_threads(1)  # the threads of the parent are not there in a fork, and waiting for them would hang
    with _silent():
        try:
            function, arguments = task()
            if platform.system() in _LOOPBACK:
                os.environ["GLOO_SOCKET_IFNAME"] = _LOOPBACK[platform.system()]
            store = dist.FileStore(str(folder / "meet"), ranks)
            dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks)
            torch.manual_seed(0)
            answer = pickle.dumps((True, function(*arguments)))
            dist.barrier()  # nobody leaves while another is still talking
            dist.destroy_process_group()
        except BaseException as error:
            told = "".join(traceback.format_exception_only(type(error), error)).strip()
            answer = pickle.dumps((False, told))
    part = folder / f"part{rank}"
    part.write_bytes(answer)
    part.replace(folder / f"answer{rank}")
    os._exit(0)


def _end_after(seconds: float) -> None:
    """End this process after so long, even where the one that started it is gone."""
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds + 5)
    else:
        timer = threading.Timer(seconds + 5, os._exit, (1,))
        timer.daemon = True
        timer.start()
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt of the kernel reaches the parent, which ends us


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Nothing is printed, by Python or by libraries below it: in a fork it would land in the parent's notebook."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        for descriptor in (1, 2):
            with contextlib.suppress(OSError):
                os.dup2(nowhere.fileno(), descriptor)
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            yield


# ------------------------------------------------------------------ in the one that waits


def _wait(started: Sequence[Any], folder: Path, deadline: float) -> None:
    """Wait until all have answered or one has failed. Raises `RankError` if that takes too long."""
    last = time.monotonic() + deadline
    waiting = set(range(len(started)))
    while waiting:
        for rank in sorted(waiting):
            if (folder / f"answer{rank}").exists():
                waiting.discard(rank)
            elif not started[rank].is_alive() and not (folder / f"answer{rank}").exists():
                raise RankError(f"rank {rank} ended without an answer")
        _raise_the_first(folder, len(started))
        if waiting and time.monotonic() > last:
            ranks = ", ".join(map(str, sorted(waiting)))
            raise RankError(f"no answer from rank {ranks} after {deadline:g} seconds: does every rank take part?")
        time.sleep(0.002)


def _raise_the_first(folder: Path, ranks: int) -> None:
    """Raise `RankError` where a process failed, with the words of the first: the others may have failed for its sake."""
    answered = [rank for rank in range(ranks) if (folder / f"answer{rank}").exists()]
    for rank in sorted(answered, key=lambda rank: (folder / f"answer{rank}").stat().st_mtime_ns):
        well, value = _answer(folder, rank)
        if not well:
            raise RankError(f"rank {rank}: {value}")


def _answer(folder: Path, rank: int) -> tuple[bool, Any]:
    """Whether all went well, and the result or the words of the error."""
    answer: tuple[bool, Any] = pickle.loads((folder / f"answer{rank}").read_bytes())
    return answer


# ------------------------------------------------------------------ a function on its way to another interpreter

_HERE = "__main__"
"""The module whose functions another interpreter cannot import: that of the notebook."""


def _packed(function: Callable[..., Any]) -> bytes:
    """A function with all that it names, as bytes for another interpreter of the same Python."""
    parcel: dict[str, Any] = {}
    _collect(function, parcel)
    return pickle.dumps((function.__name__, parcel))


def _collect(function: Any, parcel: dict[str, Any]) -> None:
    """Put a function of the notebook and what it names into `parcel`: {name: (kind, how to have it there)}."""
    if function.__closure__:
        raise ValueError(f"{function.__name__} uses names of a function around it: hand them over as arguments")
    extras = pickle.dumps((function.__defaults__, function.__kwdefaults__))
    parcel[function.__name__] = ("function", (marshal.dumps(function.__code__), extras))
    for name in _names(function.__code__):
        if name in parcel or name not in function.__globals__:
            continue
        value = function.__globals__[name]
        if hasattr(builtins, name) and getattr(value, "__wrapped__", value) is getattr(builtins, name):
            continue  # as IPython's own `open`: the other interpreter has Python's
        if isinstance(value, types.ModuleType):
            parcel[name] = ("module", value.__name__)
        elif isinstance(value, types.FunctionType) and value.__module__ == _HERE:
            _collect(value, parcel)
            if value.__name__ != name:
                parcel[name] = ("same", value.__name__)
        else:
            parcel[name] = ("value", pickle.dumps(value))


def _names(code: types.CodeType) -> set[str]:
    """All names that a function's code and the code within it looks up outside."""
    inner = (_names(part) for part in code.co_consts if isinstance(part, types.CodeType))
    return set(code.co_names).union(*inner)


def _unpacked(packed: bytes) -> Callable[..., Any]:
    name, parcel = pickle.loads(packed)
    space: dict[str, Any] = {"__builtins__": builtins, "__name__": _HERE}
    for key, (kind, held) in parcel.items():
        if kind == "module":
            space[key] = importlib.import_module(held)
        elif kind == "value":
            space[key] = pickle.loads(held)
        elif kind == "function":
            code, extras = held
            made = types.FunctionType(marshal.loads(code), space, key)
            made.__defaults__, made.__kwdefaults__ = pickle.loads(extras)
            space[key] = made
    for key, (kind, held) in parcel.items():
        if kind == "same":
            space[key] = space[held]
    function: Callable[..., Any] = space[name]
    return function
