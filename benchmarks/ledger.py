"""The price of watching: three training loops under GradientLedger, torch.profiler and TrainCheck.

Usage: python benchmarks/ledger.py [--rounds N] [--without-traincheck] [--loops MLP CNN transformer]
                                   [--watchers ledger "plain again" ...]

Prints ratios to the plain loop, never a time. Every watcher runs once in every round beside the plain loop, the
order of the rounds alternating, and a ratio is the median of the ratios within rounds, so that what the machine
does elsewhere cancels. Compared is the processor time of the whole process, a watcher's own threads included, which
waiting for a busy machine does not lengthen. One thread. The loops are those of benchmarks/loops.py: two
micro-batches, clip_grad_norm_, AdamW, zero_grad.

TrainCheck (Jiang et al., OSDI 2025) rewrites a script and patches torch for a whole process, so it watches in
processes of its own, which wait on a pipe while others are measured. Two of its modes are measured, both with
its defaults, through its own commands:

- collecting: `traincheck-collect --pyscript loops.py --models-to-track model`, the mode for short reference runs
  that it learns from. It writes down every call into torch, with hashes of the tensors, at every step.
- checking: first `traincheck-infer` learns invariants from ten collected iterations of the same loop, then
  `traincheck-collect --invariants` traces what those invariants need in ten steps of warm-up and every tenth step
  afterwards. This is the mode for watching a real run. It counts each micro-batch and each update as a step, so
  it looks at a tenth of the loop, where the ledger looks at all of it. The comparison of trace and invariants
  (`traincheck-check`) is a further program and is not in the ratio.

TrainCheck is the extra `bench`: `pip install -c constraints.txt -e ".[bench]"`. It installs beside torch 2.13
(it brings numba, pandas and polars), and its start-up and inference take minutes for these loops. To leave the
environment of the course as it is, run this file in another:

    python -m venv OTHER && OTHER/bin/pip install -c constraints.txt torch
    OTHER/bin/pip install -c constraints.txt -e ".[bench]" && OTHER/bin/python benchmarks/ledger.py

Without TrainCheck the rest is measured, and a line says so.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.metadata
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from loops import LOOPS, build, micro_batches, train
from torch import nn
from torch.overrides import TorchFunctionMode

from gradient_ledger import GradientLedger

SCRIPT = Path(__file__).resolve().parent / "loops.py"
COUNTS = {"MLP": 80, "CNN": 6, "transformer": 4}
"""Timed iterations of one watcher in one round."""
WARM = 12
"""Iterations before the timed ones, under the watcher too."""
SETTLED = 140
"""The same for a ledger: it takes norms at its first steps alone, and looks closer at steps 1, 2, 4, 8, …; with the
counts above no such step is among the timed ones, and by then it counts the windows that repeat. What those looks cost,
and windows that are written one by one, is in the row of the first steps."""
FIRST = 64
"""Iterations from the very first one on, in that row."""
CHECKED = 10
"""Iterations of checking in one round: thirty of TrainCheck's steps, of which it samples three."""
TRAINCHECK_EVERY = 4
"""TrainCheck takes part in one round of four: its ratios are large and need no more."""
PATIENCE = 900.0
"""Seconds after which a TrainCheck process that says nothing is given up."""

Watch = Callable[[nn.Module, torch.optim.Optimizer], contextlib.AbstractContextManager[object]]


# ------------------------------------------------------------------ watchers within this process


def unwatched(model: nn.Module, optimizer: torch.optim.Optimizer) -> contextlib.AbstractContextManager[object]:
    return contextlib.nullcontext()


def ledger(model: nn.Module, optimizer: torch.optim.Optimizer) -> contextlib.AbstractContextManager[object]:
    return GradientLedger(model, optimizer)


def digests(model: nn.Module, optimizer: torch.optim.Optimizer) -> contextlib.AbstractContextManager[object]:
    return GradientLedger(model, optimizer, digests=True)


class Idle(TorchFunctionMode):
    """Sees every call into torch from Python and does nothing about it."""

    def __torch_function__(
        self, function: Callable[..., object], types: object, arguments: Any = (), keywords: Any = None
    ) -> object:
        return function(*arguments, **(keywords or {}))


def idle(model: nn.Module, optimizer: torch.optim.Optimizer) -> contextlib.AbstractContextManager[object]:
    return Idle()


def profiler(model: nn.Module, optimizer: torch.optim.Optimizer) -> contextlib.AbstractContextManager[object]:
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])


WATCHERS: dict[str, tuple[Watch, str]] = {
    "plain": (unwatched, "nothing watches"),
    "plain again": (unwatched, "the same: how far from 1 noise alone goes"),
    "ledger": (ledger, "GradientLedger(model, optimizer): every gradient event with its line and its numbers"),
    "ledger, first steps": (ledger, f"the same over the first {FIRST} iterations, its closer looks at them included"),
    "ledger, digests": (
        digests,
        "the same with digests=True: a sum over every gradient after each backward and before each step",
    ),
    "ledger closed": (ledger, "the loop after its ledger has closed: what stays behind"),
    "idle mode": (idle, "an empty TorchFunctionMode: what merely seeing every call into torch costs"),
    "torch.profiler": (profiler, "profile(activities=[CPU]): the time of every operator, nothing about gradients"),
}
FROM_THE_START = ("ledger, first steps",)


def measure(name: str, loop: str, count: int) -> float:
    """Processor seconds for `count` iterations under a watcher at work; its opening and closing are not in them.

    Model and optimizer are new each time, so that where they happen to lie in memory differs from round to round.
    """
    batches = micro_batches(loop)
    model = build(loop)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loss_function = nn.CrossEntropyLoss()
    warm = 0 if name in FROM_THE_START else SETTLED if name.startswith("ledger") else WARM
    with contextlib.ExitStack() as stack:
        stack.enter_context(WATCHERS[name][0](model, optimizer))
        start = 0.0
        for timed in (False, True):  # from one line: a ledger looks longer at the first passes of each line
            if timed:
                if name == "ledger closed":
                    stack.close()
                gc.collect()
                start = time.process_time()
            train(model, optimizer, batches, loss_function, count if timed else warm)
        return time.process_time() - start


# ------------------------------------------------------------------ TrainCheck, in processes of its own


class Unavailable(Exception):
    """Why TrainCheck was not measured."""


class Process:
    """benchmarks/loops.py in a process of its own, plain or run by traincheck-collect."""

    def __init__(self, command: list[str], loop: str) -> None:
        # The thread count is loops.py's own; the variables hold for libraries that it does not know.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # so that it and what it starts can be ended together
            env={**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
        )
        self._said: list[str] = []
        self._write(loop)
        self._wait(r"ready")

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def _wait(self, pattern: str) -> re.Match[str]:
        assert self._process.stdout is not None
        watchdog = threading.Timer(PATIENCE, self._kill)
        watchdog.start()
        try:
            for line in self._process.stdout:
                self._said.append(re.sub(r"\x1b\[\d*m", "", line).strip())
                if found := re.search(pattern, self._said[-1]):
                    return found
        finally:
            watchdog.cancel()
        self.close()
        raise Unavailable(" / ".join(self._said[-4:]) or "it ended without a word")

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def seconds(self, count: int, warm: int = 0) -> float:
        self._write(f"{count} {warm}")
        return float(self._wait(r"seconds ([\d.e-]+)").group(1))

    def close(self) -> None:
        """End of input ends the script, and with it traincheck-collect; one that stays is killed."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        self._process.stdout.close()


def program(name: str) -> str:
    path = Path(sys.executable).parent / name
    if not path.exists():
        raise Unavailable(f"{name} is not installed beside this Python")
    return str(path)


def collect(folder: Path, output: str, loop: str, *options: str) -> Process:
    # TrainCheck writes a changed script beside the one it is given, so it is given a copy.
    script = folder / SCRIPT.name
    script.write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    command = [program("traincheck-collect"), "--pyscript", str(script), "--models-to-track", "model"]
    return Process([*command, "--output-dir", str(folder / output), *options], loop)


def infer(folder: Path, loop: str) -> Path:
    """The invariants of ten collected iterations, learnt by traincheck-infer."""
    reference = collect(folder, "reference", loop)
    reference.seconds(10)
    reference.close()
    invariants = folder / "invariants.json"
    command = [program("traincheck-infer"), "-f", str(folder / "reference"), "-o", str(invariants), "-j", "2"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise Unavailable("traincheck-infer did not end") from error
    if done.returncode or not invariants.exists():
        raise Unavailable("traincheck-infer: " + " / ".join((done.stdout + done.stderr).strip().splitlines()[-3:]))
    return invariants


def traincheck(folder: Path, loop: str) -> tuple[dict[str, tuple[Process, int]], int]:
    """{name: (process, iterations of one round)} of what runs apart, and the number of invariants checked."""
    found: dict[str, tuple[Process, int]] = {}
    try:
        invariants = infer(folder, loop)
        checking = collect(folder, "checking", loop, "--invariants", str(invariants))
        found["TrainCheck, checking"] = checking, CHECKED
        checking.seconds(10)  # beyond its ten steps of warm-up
        found["TrainCheck, collecting"] = collect(folder, "collecting", loop), 1
        found["TrainCheck, collecting"][0].seconds(1)
        found["plain, apart"] = Process([sys.executable, str(SCRIPT)], loop), COUNTS[loop]
        found["plain, apart"][0].seconds(2)
    except Unavailable:
        for process, _ in found.values():
            process.close()
        raise
    return found, len(invariants.read_text(encoding="utf-8").splitlines())


# ------------------------------------------------------------------ rounds and table


def rounds(
    loop: str, number: int, watchers: list[str], apart: dict[str, tuple[Process, int]], notes: list[str]
) -> dict[str, str]:
    """{watcher: its ratio to the plain loop, as the table shows it}; a process that dies is noted and left out."""
    ratios: dict[str, list[float]] = {}
    least: dict[str, float] = {}
    names = [*watchers, *apart]
    for index in range(number):
        order = names[index % len(names) :] + names[: index % len(names)]
        if index % 2:
            order.reverse()
        each: dict[str, float] = {}
        for name in order:
            if name in WATCHERS:
                count = FIRST if name in FROM_THE_START else COUNTS[loop]
                each[name] = measure(name, loop, count) / count
            elif index % TRAINCHECK_EVERY == 0:
                process, count = apart[name]
                try:
                    each[name] = process.seconds(count) / count
                except Unavailable as reason:
                    notes.append(f"{name} ended in round {index + 1} of the {loop} loop: {reason}")
                    names.remove(name)
        for name, seconds in each.items():
            ratios.setdefault(name, []).append(seconds / each["plain"])
            least[name] = min(seconds, least.get(name, seconds))
    return {name: shown(ratios[name], least[name] / least["plain"]) for name in ratios if name != "plain"}


def shown(ratios: list[float], quietest: float) -> str:
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    digits = 2 if middle < 10 else 0
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f}), {quietest:.{digits}f}"


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--loops", nargs="+", choices=LOOPS, default=LOOPS)
    parser.add_argument("--without-traincheck", action="store_true")
    parser.add_argument("--watchers", nargs="+", choices=list(WATCHERS), default=list(WATCHERS))
    arguments = parser.parse_args()
    watchers = list(dict.fromkeys(["plain", *arguments.watchers]))
    torch.set_num_threads(1)
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # torch.profiler else logs each of its starts and stops

    versions = [f"Python {platform.python_version()}", f"torch {torch.__version__}"]
    print(", ".join([*versions, f"TrainCheck {version('traincheck')}", f"threads {torch.get_num_threads()}"]))
    print(
        f"Processor time as a ratio to the plain loop: median of {arguments.rounds} rounds (quartiles), least to least"
    )
    table: dict[str, dict[str, str]] = {}
    notes: list[str] = []
    sizes = {loop: sum(p.numel() for p in build(loop).parameters()) for loop in arguments.loops}
    for loop in arguments.loops:
        apart: dict[str, tuple[Process, int]] = {}
        with tempfile.TemporaryDirectory() as folder:
            if not arguments.without_traincheck:
                try:
                    apart, invariants = traincheck(Path(folder), loop)
                    notes.append(f"TrainCheck, checking: {invariants} invariants learnt for the {loop} loop")
                except Unavailable as reason:
                    notes.append(f"TrainCheck was not measured on the {loop} loop: {reason}")
            try:
                for name, ratio in rounds(loop, arguments.rounds, watchers, apart, notes).items():
                    table.setdefault(name, {})[loop] = ratio
            finally:
                for process, _ in apart.values():
                    process.close()

    heads = [f"{loop}, {sizes[loop]:,} parameters" for loop in arguments.loops]
    width, column = max(map(len, table)) + 2, 34
    print("\n" + " " * width + "".join(f"{head:>{column}}" for head in heads))
    for name, row in table.items():
        print(f"{name:<{width}}" + "".join(f"{row.get(loop, '-'):>{column}}" for loop in arguments.loops))
    print()
    for name in watchers:
        print(f"{name}: {WATCHERS[name][1]}")
    if any(name.startswith("TrainCheck") for name in table):
        print(
            "plain, apart: the plain loop in a process of its own, as TrainCheck's are; these take part in every fourth"
        )
        print(
            "TrainCheck, checking: what its invariants need, in every tenth of its steps; the check itself comes on top"
        )
        print("TrainCheck, collecting: every call into torch with hashes of tensors, at every step")
    print("least to least: each watcher's quickest round to the plain loop's, which a busy machine disturbs least")
    print("Opening and closing a watcher, and what it works out afterwards, is in no ratio.")
    for note in notes:
        print(note)


if __name__ == "__main__":
    main()
