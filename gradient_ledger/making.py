"""Where an optimizer was asked for: a helper that makes optimizers for several models stands in none of their places.

The line that made an optimizer is known at once. Who asked for it is known later: when it steps, whoever still runs
took it from a helper, and when others were made by the same line, the calls that led there differ where each was asked
for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from types import FrameType
from typing import Any, NamedTuple

from gradient_ledger import places, source
from gradient_ledger.books import OptimizerAccount
from gradient_ledger.events import Place
from gradient_ledger.places import Call


def made_by(optimizer: Any, frame: FrameType | None) -> tuple[Call, ...]:
    """The user's calls that made an optimizer, innermost first, but for those of its own class."""
    while frame is not None and _is_its_own(optimizer, frame):
        frame = frame.f_back
    return places.chain(frame)


def _is_its_own(optimizer: Any, frame: FrameType) -> bool:
    """Whether a frame is the `__init__` of a class that the user derived from an optimizer."""
    code = frame.f_code
    if code.co_name != "__init__" or not code.co_argcount or places.kind_of(code.co_filename) != places.USER:
        return False
    return frame.f_locals.get(code.co_varnames[0]) is optimizer


def first_step(entry: OptimizerAccount, frame: FrameType | None) -> None:
    """Its first step: which of the calls that made it is that of a function that still runs, and so took it."""
    running = places.running(frame)
    for level, call in enumerate(entry.made_by):
        if call.code in running or call.place.function == "<module>":
            entry.taker = level
            return


class Asked(NamedTuple):
    """Where an optimizer was asked for."""

    place: Place | None = None
    helper: Place | None = None
    """The line that made it, where that is another one: it made others, too."""


def asked_for(every: Iterable[OptimizerAccount]) -> dict[int, Asked]:
    """By number, where each optimizer was asked for."""
    alike: dict[Call, list[OptimizerAccount]] = {}
    found: dict[int, Asked] = {}
    for one in every:
        found[one.number] = Asked()
        if one.made_by:
            alike.setdefault(one.made_by[0], []).append(one)
    for made in alike.values():
        ways = {one.made_by for one in made}
        in_use = 0
        for one, later in zip(made, [*made[1:], None], strict=True):
            # Programs that make an optimizer for each step are compared with neighbours, not each with each.
            beside = in_use > one.made_after or (later is not None and one.last_step > later.made_after)
            found[one.number] = _asked_for(one, ways, beside)
            in_use = max(in_use, one.last_step)
    return found


def _asked_for(entry: OptimizerAccount, ways: Iterable[tuple[Call, ...]], beside: bool) -> Asked:
    """Where one was asked for, `ways` being all the ways to the line that made it.

    Where it was made in the same way as another that was in use `beside` it, as in a comprehension, that is the call
    that is repeated. Where they followed upon one another, as in a search for a learning rate, what made one made all,
    and an object that made its own is no helper.
    """
    calls = entry.made_by
    most = entry.taker if entry.taker is not None else len(calls) - 1
    if not beside:
        most = next((level for level in range(most) if _is_method(calls[level])), most)
    apart = [level for one in ways if (level := _parting(calls, one)) <= most]
    if apart:
        return Asked(calls[max(apart)].place, calls[0].place)
    level = 0
    if beside:
        level = next((n for n in range(most + 1) if _is_repeated(calls[n])), min(most, 1))
        return Asked(calls[level].place, calls[0].place if level else None)
    while level < most and calls[level].place.code.startswith("return "):
        level += 1
    return Asked(calls[level].place)


def _is_repeated(call: Call) -> bool:
    """Whether a call stands in a loop or a comprehension."""
    own = call.code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
    return own or source.is_repeated(call.place.file, call.place.line, call.column)


def _is_method(call: Call) -> bool:
    """Whether a call stands in a method, which may keep what it makes."""
    return call.code.co_argcount > 0 and call.code.co_varnames[0] == "self"


def _parting(mine: tuple[Call, ...], theirs: tuple[Call, ...]) -> int:
    """From which call on two ways are different ones."""
    pairs = enumerate(zip(mine, theirs, strict=False))
    return next((level for level, (one, other) in pairs if one != other), len(mine))


_DIMENSIONS = re.compile(r"\.(ndim|dim\(\)) *(>|>=|!=) *[12]|len\([\w.]*\.(shape|size\(\))\) *(>|>=|!=) *[12]")


def by_dimensions(place: Place | None) -> bool:
    """Whether the function that made an optimizer picks what it gives it by the number of dimensions, and asks for that
    no second time."""
    within = source.scope(place.file, place.line) if place is not None else None
    return within is not None and len(_DIMENSIONS.findall(ast.unparse(within))) == 1


def steps_without_gradients(optimizer: Any) -> bool:
    """Whether an optimizer's class is the user's own, and its step says nothing of gradients and hands on to none."""
    step: Any = getattr(type(optimizer), "step", None)
    code = getattr(getattr(step, "__wrapped__", step), "__code__", None)  # torch wraps it
    if code is None or places.kind_of(code.co_filename) != places.USER:
        return False
    function = source.function_at(code.co_filename, code.co_firstlineno)
    texts = [ast.unparse(one) for one in function.body] if function is not None else ["grad"]
    return not any(_BY_GRADIENTS.search(text) for text in texts)


_BY_GRADIENTS = re.compile(r"grad|step\(|update\(|closure\(")
