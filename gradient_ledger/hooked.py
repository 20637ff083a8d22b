"""Hooks that the user's code puts on tensors and modules, as their text and their variables show them."""

from __future__ import annotations

import dis
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from torch import nn

from gradient_ledger import places, source
from gradient_ledger.events import LateHook, Place
from gradient_ledger.state import State

PLAIN = (int, float, str)
"""Kinds of values that tell two registrations apart."""
MOST_LINES, MOST_HOOKS = 64, 512
"""Lines, and hooks of each, that are looked at: some put one on in every step."""


class Registered(NamedTuple):
    """The hooks of one line since the last backward pass."""

    code: CodeType
    passed: int
    """Backward passes before."""
    read: dict[str, tuple[Any, set[Any]]]
    """By name, the variable that all of them read, and what it was at the time of each."""
    number: int


def registered(state: State, owner: Any, hook: Any, frame: FrameType) -> None:
    """A gradient hook was put on a tensor or a module."""
    place = places.user_place(frame)
    if isinstance(owner, nn.Module) or state.books.find(owner) is not None:
        state.hooked_at, state.hooks_scale = place, scales(hook)
        state.any_hook_scales = state.any_hook_scales or state.hooks_scale
    if isinstance(hook, FunctionType) and place is not None and state.budget.may_look(("hook", place), MOST_HOOKS):
        note_variables(state, hook, place)


def scales(hook: Any) -> bool:
    """Whether a hook multiplies the gradient by a number, as far as its text and its variables show."""
    if not isinstance(hook, FunctionType):
        return False
    name = source.factor(hook.__code__.co_filename, hook.__code__.co_firstlineno)
    if name is None or not name.isidentifier():
        return name is not None
    return isinstance(_variables(hook).get(name, (None, None))[1], (int, float))


def note_variables(state: State, hook: FunctionType, place: Place) -> None:
    """Whether hooks of one line read one variable that another value is given before any of them has run.

    A function looks a variable up when it runs: all of them then find the last value. Hooks that write what stands
    outside them, as those that count down to the last gradient, share it on purpose.
    """
    before, passed = state.hooks.get(place), state.progress.pass_number
    if (before is None and len(state.hooks) >= MOST_LINES) or _writes(hook.__code__):
        return
    now = _variables(hook)
    if before is None or before.passed != passed or before.code is not hook.__code__:
        state.hooks[place] = Registered(hook.__code__, passed, {name: (at, {v}) for name, (at, v) in now.items()}, 1)
        return
    read = {
        name: (at, before.read[name][1] | {value})
        for name, (at, value) in now.items()
        if name in before.read and before.read[name][0] is at
    }
    state.hooks[place] = Registered(hook.__code__, passed, read, before.number + 1)
    for name, (_, values) in read.items():
        if len(values) > 1:
            state.late_hooks[place] = LateHook(place, name, before.number + 1, len(values))


def _writes(code: CodeType) -> bool:
    """Whether a function gives a variable outside it a value."""
    return any(
        one.opname == "STORE_GLOBAL" or (one.opname == "STORE_DEREF" and one.argval in code.co_freevars)
        for one in dis.get_instructions(code)
    )


def _variables(hook: FunctionType) -> dict[str, tuple[Any, Any]]:
    """By name, the plain variables outside it that a function reads: where each is kept, and its value.

    Not by `inspect.getclosurevars`, which raises where a variable of the function around it has no value yet.
    """
    outside = hook.__globals__
    found: dict[str, tuple[Any, Any]] = {n: (outside, outside[n]) for n in hook.__code__.co_names if n in outside}
    found |= {name: (cell, cell.cell_contents) for name, cell in cells(hook).items()}
    return {name: one for name, one in found.items() if isinstance(one[1], PLAIN)}


def cells(function: Any) -> dict[str, Any]:
    """By name, where a function finds the variables of the functions around it, of those that have a value by now."""
    held = getattr(function, "__closure__", None) or ()
    names = function.__code__.co_freevars if held else ()
    return {name: cell for name, cell in zip(names, held, strict=True) if _has(cell)}


def _has(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
