"""TorchScript: how it finds the functions that stand behind our taps.

`torch.jit.script` knows torch's functions by their identity, and compiles from its source what it does not know. So
does torch itself, where a derivative forward in mode is first asked for. With a tap in the place of a function it would
read the tap's source, and fail. Where a private name of torch is not there, it reads our taps.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gradient_ledger import places

_ASKED = (
    ("torch.jit._builtins", "_find_builtin"),
    ("torch.jit._recursive", "try_compile_fn"),
    ("torch._jit_internal", "createResolutionCallbackFromClosure"),
)
"""What it asks about a function: which operation it is, how it is compiled, what the names in its text mean."""


def see_through() -> Callable[[], None]:
    """Have TorchScript take what stands behind our taps for them. Returns what ends that."""
    kept: list[tuple[Any, str, Any, Any]] = []
    for module, name in _ASKED:
        with suppress(Exception):
            owner = importlib.import_module(module)
            theirs = getattr(owner, name)
            ours = _asking(theirs)
            setattr(owner, name, ours)
            kept.append((owner, name, theirs, ours))

    def undo() -> None:
        for owner, name, theirs, ours in kept:
            if getattr(owner, name) is ours:
                setattr(owner, name, theirs)

    return undo


def _asking(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def asked(function: Any, *args: Any, **kwargs: Any) -> Any:
        return theirs(behind(function), *args, **kwargs)

    return asked


def behind(function: Any) -> Any:
    """What stands behind our taps; a function that is none as it is, a method as one of the same object."""
    plain = getattr(function, "__func__", function)
    found = plain
    while hasattr(found, "__wrapped__") and _is_ours(found):
        found = found.__wrapped__
    if found is plain:
        return function
    return found if plain is function else found.__get__(function.__self__)


def _is_ours(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and places.is_ours(code.co_filename)
