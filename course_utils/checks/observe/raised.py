"""Exceptions out of a learner's code, trimmed to the learner's own lines."""

from __future__ import annotations

import linecache
import os
import sysconfig
import traceback
from pathlib import Path

import gradient_ledger
from course_utils.exercise import Frame, Raised
from course_utils.plain import MAX_TEXT, without_addresses

_LEDGER = Path(gradient_ledger.__file__).resolve().parent
_PACKAGES = tuple(str(folder) + os.sep for folder in (Path(__file__).resolve().parents[2], _LEDGER))
_LIBRARIES = tuple({os.path.realpath(path) + os.sep for path in sysconfig.get_paths().values()})
_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
"""Folders of packages that are not this environment's own: a system's, as Debian's and Colab's, or a user's."""


def describe_exception(error: BaseException) -> Raised:
    """The exception's type and message, with the frames of the learner's own code (the innermost five)."""
    frames = [
        Frame(entry.name, entry.lineno or 0, (entry.line or "").strip()[:200])
        for entry in traceback.extract_tb(error.__traceback__)
        if is_learners(entry.filename)
    ]
    if isinstance(error, SyntaxError) and error.text and is_learners(error.filename or "<string>"):
        frames.append(Frame("<syntax>", error.lineno or 0, error.text.strip()[:200]))
    try:
        message = without_addresses(str(error))
    except Exception:  # a learner's __str__ may do anything
        message = ""
    return Raised(type(error).__name__, message[:MAX_TEXT], tuple(frames[-5:]))


def is_learners(filename: str) -> bool:
    """Whether a file holds the learner's own code: not ours, and of no library."""
    if filename.startswith("<"):
        # Cells of some front ends are named <ipython-input-...>; frozen library modules <frozen ...>.
        return not filename.startswith(("<frozen", "<__array_function__", "<eval_with_key>"))
    path = os.path.realpath(filename)
    if path.startswith(_PACKAGES):
        return False
    if path.startswith(_LIBRARIES) or any(mark in path for mark in _INSTALLED):
        return False
    return bool(linecache.getlines(filename))
