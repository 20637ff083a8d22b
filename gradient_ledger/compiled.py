"""Code compiled by `torch.compile`: how the ledger stays out of it, and what of it can still be known.

Where a private name of torch is not there, the ledger sees less or Dynamo traces through more of it; training is the
same.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

import torch
from torch import Tensor, nn


def prepare() -> None:
    """Import Dynamo, as the first optimizer does: torch 2.6 cannot do so once `.grad` is a property."""
    with suppress(Exception):  # a broken one is the user's to meet, not ours
        import torch._dynamo  # noqa: F401


def keep_rules() -> Callable[[], None]:
    """Have Dynamo know torch's functions by what they are without our taps. Returns what ends that.

    Dynamo notes them once by name. `init_process_group` has it forget and note them anew at the next compilation; with
    our taps in their places it would not know the functions themselves any more, for as long as the process lives.
    """
    kept: list[tuple[str, Any]] = []
    with suppress(Exception):  # private names, and a Dynamo that works otherwise does not need this
        rules: Any = sys.modules["torch._dynamo.trace_rules"]
        for name in ("get_torch_obj_rule_map", "get_tensor_method"):
            theirs = getattr(rules, name)
            setattr(rules, name, _Rules(theirs))
            kept.append((name, theirs))

    def undo() -> None:
        for name, theirs in kept:
            setattr(rules, name, theirs)

    return undo


class _Rules:
    """One of Dynamo's cached tables, read before our taps went in."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs
        self._table = theirs()
        self._anew = _without_taps(theirs)

    def __call__(self) -> Any:
        return self._table

    def cache_clear(self) -> None:
        self._theirs.cache_clear()
        self._table = self._anew


@functools.cache
def _without_taps(theirs: Any) -> Any:
    return theirs.__wrapped__()


class _Ran:
    """What code compiled under a ledger says of itself as it runs: Dynamo carries assignments out after the graph."""

    def __init__(self) -> None:
        self.step = False


ran = _Ran()


def note(seen: set[str]) -> None:
    """Add what compiled code has said since last time."""
    if ran.step:
        seen.add("step")
    if any_graph():
        seen.add("graph")


def tell(recorders: Iterable[Any]) -> None:
    """Hand it to the ledgers that were open meanwhile, and begin anew."""
    for recorder in recorders:
        note(recorder.compiled)
    ran.step = False


def run_as_it_is(*functions: Any, below: bool = True) -> None:
    """Have Dynamo not compile functions where it meets them as frames of their own, nor, `below`, what they call.

    Where Dynamo traces a call to one of them, it is traced through all the same.
    """
    with suppress(Exception):  # private names, and Dynamo gets by without: it looks at our frames in vain
        frames: Any = torch._C._dynamo.eval_frame
        for function in functions:
            if hasattr(frames, "set_code_exec_strategy"):
                action = frames._FrameAction
                strategy = frames._FrameExecStrategy(action.SKIP, action.SKIP if below else action.DEFAULT)
                frames.set_code_exec_strategy(function.__code__, strategy)
            else:  # torch 2.6: a function at a time, so all of ours
                frames.skip_code(function.__code__)
                if below:
                    _skip_ours(frames.skip_code)


@functools.cache
def _skip_ours(skip: Callable[[CodeType], None]) -> None:
    waiting: list[Any] = []
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{__package__}."):
            for thing in vars(module).values():
                own = getattr(thing, "__module__", None) == name
                waiting += vars(thing).values() if own and isinstance(thing, type) else [thing] if own else []
    codes = [thing.__code__ for thing in waiting if isinstance(thing, FunctionType)]
    while codes:
        code = codes.pop()
        skip(code)
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]


def take_for_the_plain_call(ours: Any, theirs: Any) -> Callable[[], None]:
    """Have Dynamo go straight to a module's `forward`, as it does where nobody has wrapped `nn.Module.__call__`.

    Returns what takes that back.
    """

    def swap(old: Any, new: Any) -> None:
        for name in ("torch._dynamo.utils", "torch._dynamo.variables.nn_module"):
            module: Any = sys.modules.get(name)
            if getattr(module, "unpatched_nn_module_call", None) is old:
                module.unpatched_nn_module_call = new

    swap(theirs, ours)
    return lambda: swap(ours, theirs)


def uncompiled(module: nn.Module) -> nn.Module:
    """The model inside what `torch.compile(model)` returns; any other module itself."""
    while type(module).__name__ == "OptimizedModule":
        inner = vars(module)["_modules"].get("_orig_mod")
        if not isinstance(inner, nn.Module):
            break
        module = inner
    return module


def is_product(module: nn.Module) -> bool:
    """Whether Dynamo has made this module: a graph, which holds other people's parameters under names of its own."""
    meta = vars(module).get("meta")
    return isinstance(meta, dict) and any(str(key).startswith("dynamo") for key in meta)


def plain_name(name: str) -> str:
    """A parameter's name as it was before any part of the model was compiled."""
    return name.replace("_orig_mod.", "") if "_orig_mod." in name else name


def any_graph() -> bool:
    """Whether anything has been compiled in this process."""
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", None)
    return bool(counters and "stats" in counters and counters["stats"].get("unique_graphs"))


def ran_in_graphs(root: Any, most: int = 256) -> list[Tensor]:
    """The parameters that went into compiled graphs on the way to a loss, whether or not a gradient comes back.

    `root` is the node the loss came from.
    """
    found: list[Tensor] = []
    waiting, seen = [root], {root}
    while waiting and len(seen) < most:
        node = waiting.pop(0)
        inside = type(node).__name__ == "CompiledFunctionBackward"
        for inner, _ in getattr(node, "next_functions", ()):
            leaf = getattr(inner, "variable", None)
            if inside and leaf is not None:
                found.append(leaf)
            elif inner is not None and leaf is None and inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return found
