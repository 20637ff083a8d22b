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
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Case, Change, Evidence, Exercise, Frame, Raised
from course_utils.plain import MAX_TEXT, Plain, short_repr, to_plain

TIME_LIMIT = 10.0
"""Seconds one case may take before it is stopped."""

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
    switches = _Switches()
    output = _BoundedText()
    status: str = "returned"
    result: object = None
    raised: Raised | None = None
    with warnings.catch_warnings(record=True) as caught, contextlib.ExitStack() as stack:
        warnings.simplefilter("always")
        stack.enter_context(contextlib.redirect_stdout(output))
        stack.enter_context(contextlib.redirect_stderr(output))
        for manager in arrangement.within:
            stack.enter_context(manager)
        try:
            with _time_limit(limit):
                if arrangement.call is not None:
                    result = arrangement.call(attempt)
                else:
                    result = attempt(*arrangement.args, **arrangement.kwargs)  # type: ignore[operator]
        except _TimeIsUp:
            status = "stopped"
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit and GeneratorExit too: nothing may end the kernel
            status, raised = "raised", describe_exception(error)
    changes = switches.put_back()
    if result is ...:
        return Evidence(case.name, "not attempted", printed=output.text())
    facts: dict[str, Plain] = {}
    if arrangement.facts is not None and status == "returned":
        facts = {key: to_plain(value) for key, value in arrangement.facts(result).items()}
    changes += _compare(before, _watched_state(arrangement.watch), exercise.may_change)
    return Evidence(
        case=case.name,
        status=status,  # type: ignore[arg-type]
        result=to_plain(result),
        facts=facts,
        changes=tuple(changes),
        raised=raised,
        printed=output.text(),
        warned=tuple(dict.fromkeys(str(item.message)[:300] for item in caught))[:5],
    )


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
            changes.append(Change(what, aspect, _brief(before[key]), _brief(after.get(key))))
    return changes


def _same(a: object, b: object) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        same_kind = a.shape == b.shape and a.dtype == b.dtype and a.device == b.device
        return same_kind and bool(torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)))
    return type(a) is type(b) and a == b


def _brief(value: object) -> str:
    if isinstance(value, torch.Tensor):
        if value.numel() <= 4:
            return short_repr([round(v, 4) for v in value.flatten().tolist()] if value.ndim else round(value.item(), 4))
        return f"shape {tuple(value.shape)}, norm {value.double().norm().item():.4g}"
    return short_repr(value)


class _Switches:
    """Global state of torch and Python that an attempt may leave changed; puts it back and says what changed."""

    def __init__(self) -> None:
        self._python = random.getstate()
        self._torch = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
        self._grad = torch.is_grad_enabled()
        self._dtype = torch.get_default_dtype()
        self._stdout, self._stderr, self._directory = sys.stdout, sys.stderr, os.getcwd()

    def put_back(self) -> list[Change]:
        changes = []
        if torch.is_grad_enabled() != self._grad:
            changes.append(Change("torch.is_grad_enabled()", "global", str(self._grad), str(not self._grad)))
            torch.set_grad_enabled(self._grad)
        if torch.get_default_dtype() != self._dtype:
            now = torch.get_default_dtype()
            changes.append(Change("torch.get_default_dtype()", "global", str(self._dtype), str(now)))
            torch.set_default_dtype(self._dtype)
        if not torch.equal(torch.get_rng_state(), self._torch) or random.getstate() != self._python:
            changes.append(Change("the random number generator", "rng", "as before the call", "moved or re-seeded"))
            torch.set_rng_state(self._torch)
            random.setstate(self._python)
        for index, state in enumerate(self._cuda):
            torch.cuda.set_rng_state(state, index)
        sys.stdout, sys.stderr = self._stdout, self._stderr
        if os.getcwd() != self._directory:
            os.chdir(self._directory)
        return changes


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


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Stop the block after `seconds` with `_TimeIsUp`, again every half second if the code swallows it."""
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        yield from _by_signal(seconds)
    else:
        yield from _by_thread(seconds)


def _by_signal(seconds: float) -> Iterator[None]:
    def ring(signum: int, frame: FrameType | None) -> None:
        raise _TimeIsUp

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _by_thread(seconds: float) -> Iterator[None]:
    # Windows, and threads other than the main one: ask the interpreter to raise in this thread.
    import ctypes

    target, done = threading.get_ident(), threading.Event()

    def ring() -> None:
        pause = seconds
        while not done.wait(pause):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(target), ctypes.py_object(_TimeIsUp))
            pause = 0.5

    watchdog = threading.Thread(target=ring, daemon=True)
    watchdog.start()
    try:
        yield
    finally:
        done.set()
        watchdog.join()
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(target), None)


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
        message = str(error)
    except Exception:  # a learner's __str__ may do anything
        message = ""
    return Raised(type(error).__name__, message[:MAX_TEXT], tuple(frames[-5:]))


def _is_learners(filename: str) -> bool:
    if filename.startswith("<"):
        # Cells of some front ends are named <ipython-input-...>; frozen library modules <frozen ...>.
        return not filename.startswith(("<frozen", "<__array_function__"))
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
    """Notes each use of autograd (`backward`, `autograd.grad`, `torch.func`, forward mode) in its block."""

    def __init__(self) -> None:
        super().__init__()
        self.used: list[str] = []
        self._watched: dict[Callable[..., Any], str] = {
            torch.Tensor.backward: "backward",
            torch.autograd.backward: "torch.autograd.backward",
            torch.autograd.grad: "torch.autograd.grad",
            torch._VF._make_dual: "forward-mode autograd",
        }

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        if func in self._watched:
            self.used.append(self._watched[func])
        return func(*args, **(kwargs or {}))
