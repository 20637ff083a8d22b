"""The time limit: whatever the code does, it ends, and an import under way is never cut in half."""

from __future__ import annotations

import contextlib
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from itertools import chain, repeat
from types import FrameType

IMPORT_GRACE = 60.0
"""Seconds more that an import under way is given to come to its end."""


class TimeIsUp(BaseException):
    """Raised inside the learner's code at the time limit; no `except Exception` catches it."""


def limited(action: Callable[[], object], seconds: float) -> object:
    """`action()`, stopped after `seconds` by `TimeIsUp`, and pressed on if the code swallows that."""
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        return _limited_by_signal(action, seconds)
    return _limited_by_thread(action, seconds)


def _run(action: Callable[[], object]) -> object:
    """What `TimeIsUp` is raised beneath: the frames below this one are the attempt's, those above are ours."""
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
        raise TimeIsUp

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
                raise_in(ctypes.c_ulong(target), ctypes.py_object(TimeIsUp))

    watchdog = threading.Thread(target=ring, daemon=True)
    watchdog.start()
    try:
        return _run(action)
    finally:
        while watchdog.is_alive():
            # One that was asked for at the last moment may arrive in here.
            with contextlib.suppress(TimeIsUp):
                done.set()
                watchdog.join()
                raise_in(ctypes.c_ulong(target), None)
