"""Run a learner's code on one case and write down what it did, as bounded plain data.

This is the half that may run in the grader's sandbox: it imports nothing under `oracles`, knows
no right answer, and whatever the code does (an endless loop, an exception, a flood of output, a
changed input, a switched-off grad mode) ends as `Evidence` with the kernel as it was.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import random
import signal
import sys
import sysconfig
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from types import FrameType
from typing import Any

import numpy
import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Change, Evidence, Exercise, Frame, Raised
from course_utils.plain import MAX_TEXT, Plain, short_repr, to_plain, without_addresses

_SEED = 7_340_033_000
"""Where the seeds of an attempt's random numbers begin: none that a learner would set by chance."""
TIME_LIMIT = 10.0
"""Seconds one case may take before it is stopped."""
IMPORT_GRACE = 60.0
"""Seconds more that an import under way is given to come to its end."""

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARIES = tuple({os.path.realpath(path) + os.sep for path in sysconfig.get_paths().values()})


def observe_all(
    exercise: Exercise, attempt: object, cases: Sequence[Case], limit: float = TIME_LIMIT
) -> list[Evidence]:
    """Run `attempt` on each case, in order. After a stopped or not attempted case no further one is run."""
    evidence: list[Evidence] = []
    for case in cases:
        evidence.append(observe(exercise, attempt, case, limit))
        if evidence[-1].status in ("stopped", "not attempted"):
            break
    return evidence


def observe(exercise: Exercise, attempt: object, case: Case, limit: float = TIME_LIMIT) -> Evidence:
    """Run `attempt` on `case`. Never raises for what the attempt does, `KeyboardInterrupt` excepted.

    `limit` is in seconds. Standard output, standard error and warnings are caught; random state
    and torch's global switches are put back, and a change to them is written down.
    """
    arrangement = exercise.arrange(case)
    # A stated change of `.grad` and the like is the oracle's business; all else must stay as it was.
    before = _watched_state(arrangement.watch)
    switches = _Switches(seed=_SEED + int(case.spec.get("seed", 0)))
    output = _BoundedText()
    plain: Plain = None
    facts: dict[str, Plain] = {}
    with contextlib.ExitStack() as stack:
        stack.callback(switches.put_back)  # whatever happens, an interrupt from the keyboard included
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        stack.enter_context(contextlib.redirect_stdout(output))
        stack.enter_context(contextlib.redirect_stderr(output))
        with contextlib.ExitStack() as within:
            for manager in arrangement.within:
                within.enter_context(manager)
            status, result, raised = _attempted(lambda: _call(arrangement, attempt), limit)
        changes = switches.put_back()
        if result is ...:
            return Evidence(case.name, "not attempted", printed=output.text())
        if status == "returned":
            # Under the limit too: what was returned may be of the learner's own making, with a __repr__ without end.
            status, noted, raised = _attempted(lambda: (to_plain(result), _facts(arrangement, result)), limit)
            plain, facts = noted if status == "returned" else (None, {})  # type: ignore[misc]
        changes += _compare(before, _watched_state(arrangement.watch), exercise.may_change)
    return Evidence(
        case=case.name,
        status=status,  # type: ignore[arg-type]
        result=plain,
        facts=facts,
        changes=tuple(changes),
        raised=raised,
        printed=output.text(),
        warned=tuple(dict.fromkeys(str(item.message)[:300] for item in caught))[:5],
    )


def _attempted(action: Callable[[], object], limit: float) -> tuple[str, object, Raised | None]:
    """(status, what `action` returned, what it raised) under the time limit."""
    try:
        return "returned", _limited(action, limit), None
    except _TimeIsUp:
        return "stopped", None, None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit and GeneratorExit too: nothing may end the kernel
        return "raised", None, describe_exception(error)


def _call(arrangement: Arrangement, attempt: object) -> object:
    if arrangement.call is not None:
        return arrangement.call(attempt)
    return attempt(*arrangement.args, **arrangement.kwargs)  # type: ignore[operator]


def _facts(arrangement: Arrangement, result: object) -> dict[str, Plain]:
    if arrangement.facts is None:
        return {}
    return {key: to_plain(value) for key, value in arrangement.facts(result).items()}


# ------------------------------------------------------------------ what was changed

_State = dict[tuple[str, str], Any]


def _watched_state(watch: dict[str, object]) -> _State:
    """{(shown name, aspect): value} of everything watched; tensors are cloned so that they cannot change."""
    state: _State = {}
    for name, item in watch.items():
        if isinstance(item, nn.Module):
            for key, parameter in item.named_parameters():
                _tensor_state(state, f"{name}.{key}", parameter, "parameters")
            for key, buffer in item.named_buffers():
                state[f"{name}.{key}", "buffers"] = buffer.detach().clone()
            for key, module in item.named_modules():
                state[f"{name}.{key}".rstrip("."), "mode"] = "train" if module.training else "eval"
        elif isinstance(item, torch.Tensor):
            _tensor_state(state, name, item, "input")
        elif isinstance(item, list | tuple):
            for index, element in enumerate(item):
                state.update(_watched_state({f"{name}[{index}]": element}))
            state[name, "input"] = len(item)
        else:
            raise TypeError(f"cannot watch {name}, a {type(item).__name__}")
    return state


def _tensor_state(state: _State, name: str, tensor: torch.Tensor, aspect: str) -> None:
    state[name, aspect] = tensor.detach().clone()
    state[name, "requires-grad"] = tensor.requires_grad
    if tensor.is_leaf:
        state[name, "grad"] = None if tensor.grad is None else tensor.grad.detach().clone()


def _compare(before: _State, after: _State, free: frozenset[str]) -> list[Change]:
    changes = []
    for key in before:
        what, aspect = key
        if aspect not in free and not _same(before[key], after.get(key)):
            changes.append(Change(what, aspect, *_described(before[key], after.get(key))))
    return changes


def _described(before: object, after: object) -> tuple[str, str]:
    """Both values in short; where they look the same in short, by how much they differ."""
    first, second = _brief(before), _brief(after)
    if first == second and isinstance(before, torch.Tensor) and isinstance(after, torch.Tensor):
        if before.shape == after.shape:
            # In float64 on the CPU: booleans have no difference, and two devices share none.
            off = before.to("cpu", torch.float64) - after.to("cpu", torch.float64)
            second += f", off by up to {off.abs().max().item():.1e}"
    return first, second


def _same(a: object, b: object) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.shape != b.shape or a.dtype != b.dtype or a.device != b.device:
            return False
        return bool(torch.all(torch.eq(a, b) | (a.isnan() & b.isnan())))
    return type(a) is type(b) and a == b


def _brief(value: object) -> str:
    if isinstance(value, torch.Tensor):
        if value.numel() <= 4:
            return short_repr([round(v, 4) for v in value.flatten().tolist()] if value.ndim else round(value.item(), 4))
        return f"shape {tuple(value.shape)}, norm {value.double().norm().item():.4g}"
    return short_repr(value)


class _Switches:
    """Global state of torch and Python that an attempt may leave changed; puts it back and says what changed.

    Code that draws random numbers draws the same ones in every run of the case: they are seeded here.
    """

    def __init__(self, seed: int) -> None:
        self._before = _random_states()
        torch.manual_seed(seed)
        random.seed(seed)
        numpy.random.seed(seed % 2**32)
        self._seeded = _random_states()
        self._grad = torch.is_grad_enabled()
        self._dtype = torch.get_default_dtype()
        self._anomaly = torch.is_anomaly_enabled()
        self._directory = os.getcwd()

    def put_back(self) -> list[Change]:
        changes = []
        if torch.is_grad_enabled() != self._grad:
            changes.append(Change("torch.is_grad_enabled()", "global", str(self._grad), str(not self._grad)))
            torch.set_grad_enabled(self._grad)
        if torch.get_default_dtype() != self._dtype:
            now = torch.get_default_dtype()
            changes.append(Change("torch.get_default_dtype()", "global", str(self._dtype), str(now)))
            torch.set_default_dtype(self._dtype)
        if torch.is_anomaly_enabled() != self._anomaly:
            changes.append(Change("anomaly detection", "global", str(self._anomaly), str(not self._anomaly)))
            torch.autograd.set_detect_anomaly(self._anomaly)
        if _random_states().moved_from(self._seeded):
            changes.append(Change("the random number generator", "rng", "as before the call", "moved or re-seeded"))
        self._before.restore()
        if os.getcwd() != self._directory:
            os.chdir(self._directory)
        return changes


@dataclass(frozen=True)
class _RandomStates:
    """The states of the global generators of torch, Python and NumPy."""

    of_torch: torch.Tensor
    of_cuda: list[torch.Tensor]
    of_python: tuple[Any, ...]
    of_numpy: dict[str, Any]

    def moved_from(self, other: _RandomStates) -> bool:
        mine, theirs = self.of_numpy["state"], other.of_numpy["state"]
        same_numpy = mine["pos"] == theirs["pos"] and numpy.array_equal(mine["key"], theirs["key"])
        same_torch = torch.equal(self.of_torch, other.of_torch)
        return not (same_numpy and same_torch and self.of_python == other.of_python)

    def restore(self) -> None:
        torch.set_rng_state(self.of_torch)
        random.setstate(self.of_python)
        numpy.random.set_state(self.of_numpy)
        for index, state in enumerate(self.of_cuda):
            torch.cuda.set_rng_state(state, index)


def _random_states() -> _RandomStates:
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return _RandomStates(torch.get_rng_state(), cuda, random.getstate(), numpy.random.get_state(legacy=False))


# ------------------------------------------------------------------ output, time, exceptions


class _BoundedText(io.TextIOBase):
    """A stream that keeps the first `MAX_TEXT` characters and counts the rest."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._kept = self._seen = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._kept < MAX_TEXT:
            part = text[: MAX_TEXT - self._kept]
            self._parts.append(part)
            self._kept += len(part)
        self._seen += len(text)
        return len(text)

    def text(self) -> str:
        more = self._seen - self._kept
        return "".join(self._parts) + (f"… ({more:,} more characters)" if more else "")


class _TimeIsUp(BaseException):
    """Raised inside the learner's code at the time limit; no `except Exception` catches it."""


def _limited(action: Callable[[], object], seconds: float) -> object:
    """`action()`, stopped after `seconds` by `_TimeIsUp`, and pressed on if the code swallows that."""
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        return _limited_by_signal(action, seconds)
    return _limited_by_thread(action, seconds)


def _run(action: Callable[[], object]) -> object:
    """What `_TimeIsUp` is raised beneath: the frames below this one are the attempt's, those above are ours."""
    return action()


def _may_stop(frame: FrameType | None, deadline: float) -> bool:
    """Whether the code that runs in `frame` is the attempt's, and can be stopped where it is.

    The first use of an optimizer or of `torch.func` imports a good part of torch; stopped in the
    middle, it would stay half imported and every later call would fail. So an import under way is
    let come to its end, up to `deadline` (by `time.monotonic`).
    """
    importing = False
    while frame is not None:
        importing = importing or frame.f_code.co_filename.startswith("<frozen importlib")
        frame = frame.f_back
        if frame is not None and frame.f_code is _run.__code__:
            return not importing or time.monotonic() > deadline
    return False


def _limited_by_signal(action: Callable[[], object], seconds: float) -> object:
    swallowed, dice = -1, random.Random()
    deadline = time.monotonic() + seconds + IMPORT_GRACE

    def ring(signum: int, frame: FrameType | None) -> None:
        nonlocal swallowed
        if not _may_stop(frame, deadline):
            return
        swallowed += 1
        if swallowed:
            # A bare `except:` in a loop caught the one before. Now they come every few microseconds, at
            # no fixed beat, until one falls into the handler, where nothing catches it.
            signal.setitimer(signal.ITIMER_REAL, dice.uniform(2e-6, 4e-5), 0.5)
        raise _TimeIsUp

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        return _run(action)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _limited_by_thread(action: Callable[[], object], seconds: float) -> object:
    # Windows, and threads other than the main one: ask the interpreter to raise in this thread.
    import ctypes

    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    target, done = threading.get_ident(), threading.Event()
    deadline = time.monotonic() + seconds + IMPORT_GRACE

    def ring() -> None:
        pauses = chain([seconds, 0.5], repeat(0.003))  # often, in case the code swallows it
        while not done.wait(next(pauses)):
            if _may_stop(sys._current_frames().get(target), deadline):
                raise_in(ctypes.c_ulong(target), ctypes.py_object(_TimeIsUp))

    watchdog = threading.Thread(target=ring, daemon=True)
    watchdog.start()
    try:
        return _run(action)
    finally:
        while watchdog.is_alive():
            # One that was asked for at the last moment may arrive in here.
            with contextlib.suppress(_TimeIsUp):
                done.set()
                watchdog.join()
                raise_in(ctypes.c_ulong(target), None)


def describe_exception(error: BaseException) -> Raised:
    """The exception's type and message, with the frames of the learner's own code (the innermost five)."""
    frames = [
        Frame(entry.name, entry.lineno or 0, (entry.line or "").strip()[:200])
        for entry in traceback.extract_tb(error.__traceback__)
        if _is_learners(entry.filename)
    ]
    if isinstance(error, SyntaxError) and error.text and _is_learners(error.filename or "<string>"):
        frames.append(Frame("<syntax>", error.lineno or 0, error.text.strip()[:200]))
    try:
        message = without_addresses(str(error))
    except Exception:  # a learner's __str__ may do anything
        message = ""
    return Raised(type(error).__name__, message[:MAX_TEXT], tuple(frames[-5:]))


def _is_learners(filename: str) -> bool:
    if filename.startswith("<"):
        # Cells of some front ends are named <ipython-input-...>; frozen library modules <frozen ...>.
        return not filename.startswith(("<frozen", "<__array_function__", "<eval_with_key>"))
    path = os.path.realpath(filename)
    if path.startswith(_PACKAGE):
        return False
    return bool(linecache.getlines(filename)) and not path.startswith(_LIBRARIES)


# ------------------------------------------------------------------ spies for rules about how


class CountCalls:
    """Wrap a function handed to the learner and count how often it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self._function(*args, **kwargs)


class AutogradSpy(torch.overrides.TorchFunctionMode):
    """Notes each use of autograd (`backward`, `autograd.grad`, `torch.func`, forward mode, nodes) in its block.

    It sees the thread it is entered in, and what goes through torch's Python interface.
    """

    def __init__(self) -> None:
        super().__init__()
        self.used: list[str] = []
        self._watched: dict[Callable[..., Any], str] = {
            torch.Tensor.backward: "backward",
            torch.autograd.backward: "torch.autograd.backward",
            torch.autograd.grad: "torch.autograd.grad",
            torch._VF._make_dual: "forward-mode autograd",
        }
        self._node = torch.Tensor.grad_fn.__get__  # type: ignore[union-attr]

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        if func in self._watched:
            self.used.append(self._watched[func])
        result = func(*args, **(kwargs or {}))
        if func == self._node and result is not None:
            self.used.append("grad_fn")  # whoever holds the graph's nodes can call them one by one
        return result
