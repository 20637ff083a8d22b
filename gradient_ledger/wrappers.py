"""Optimizers of the user's own around another optimizer: whether the inner one is stepped, and they are passed by."""

from __future__ import annotations

import ast
import inspect
import re
import weakref
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gradient_ledger import places, source
from gradient_ledger.books import OptimizerAccount
from gradient_ledger.events import PassedBy, Place
from gradient_ledger.state import State

FIRST = 4
"""The step of the inner optimizer at which a wrapper is looked for, and from which its state stands still."""
STILL = 3
"""Looks at what a wrapper keeps that must have found it unchanged."""
NEAR = 8
"""Frames that are looked through."""
_OUTSIDE = frozenset(
    "step zero_grad state_dict load_state_dict add_param_group param_groups train eval __init__ __repr__ "
    "__getattr__ __getstate__ __setstate__ state".split()
)
"""What anybody calls on an optimizer, and changes nothing for training."""


class Wrapper(NamedTuple):
    """A wrapper that was made around an optimizer, and what it kept when that had stepped a few times."""

    ref: Any
    kind: str
    codes: frozenset[CodeType]
    """Its methods."""
    kept: Any
    place: Place | None
    """The line that takes the inner one, where it could take the wrapper."""
    looks: int


def before_step(state: State, entry: OptimizerAccount, frame: FrameType) -> None:
    """An optimizer is about to step: is there a wrapper around it that knows nothing of that?"""
    known: Wrapper | None = entry.wrapper
    if known is None:
        if entry.steps == FIRST and state.budget.may_look("wrappers", 16):
            entry.wrapper = _find(entry.ref(), frame)
        return
    if known.codes & {one.f_code for one in _near(frame)}:
        entry.wrapper = None  # the wrapper steps it after all
    elif entry.steps < FIRST + STILL or entry.steps & (entry.steps - 1) == 0:
        wrapper = known.ref()
        if wrapper is not None:
            same = _kept(wrapper, entry.ref()) == known.kept
            entry.wrapper = known._replace(looks=known.looks + 1) if same else None


def passed_by(entry: OptimizerAccount) -> PassedBy | None:
    """The wrapper that stood still while its inner optimizer stepped."""
    known: Wrapper | None = entry.wrapper
    if known is None or known.looks < STILL:
        return None
    wrapper, optimizer = known.ref(), entry.ref()
    if wrapper is not None and optimizer is not None and _kept(wrapper, optimizer) != known.kept:
        return None
    return PassedBy(known.kind, known.place)


def _near(frame: FrameType | None) -> Iterator[FrameType]:
    """The user's own frames, innermost first."""
    for _ in range(NEAR):
        frame = places.user_frame(frame)
        if frame is None:
            return
        yield frame
        frame = frame.f_back


def _find(optimizer: Any, frame: FrameType) -> Wrapper | None:
    """The only wrapper around an optimizer that the code which steps it, or called for that, could have named."""
    frames = list(_near(frame))
    seen = [{id(one): one for one in _in_sight(at)} for at in frames]
    found = {key: one for each in seen for key, one in each.items() if _wraps(one, optimizer)}
    if optimizer is None or len(found) != 1:
        return None
    ((key, wrapper),) = found.items()
    codes = frozenset(code for _, code in _methods(type(wrapper)))
    if codes & {one.f_code for one in frames}:
        return None
    named = [at for at, each in zip(frames, seen, strict=True) if key in each and _names(at, optimizer)]
    place = places.user_place(named[-1]) if named else None
    if place is None or any(_is_chosen(at, wrapper) for at in frames):
        return None
    return Wrapper(weakref.ref(wrapper), type(wrapper).__name__, codes, _kept(wrapper, optimizer), place, 0)


def _in_sight(frame: FrameType) -> Iterator[Any]:
    """What a frame's code can name, by itself or as an attribute of its `self`."""
    local = frame.f_locals
    yield from (*local.values(), *frame.f_globals.values())
    yield from getattr(local.get("self"), "__dict__", {}).values()


def _named(frame: FrameType, text: str) -> Any:
    """What `name` or `name.attribute` is in a frame, as far as that can be read without running anything."""
    first, *rest = text.split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first))
    for one in rest:
        value = getattr(value, "__dict__", {}).get(one)
    return value


def _names(frame: FrameType, optimizer: Any) -> bool:
    """Whether the line of a frame names an optimizer."""
    place = places.user_place(frame)
    texts = re.findall(r"[A-Za-z_][\w.]*", place.code if place is not None else "")
    chains = {text.rpartition(".step")[0] or text for text in texts}
    return any(_named(frame, chain) is optimizer for chain in chains)


def _wraps(thing: Any, optimizer: Any) -> bool:
    """Whether a thing is an optimizer of the user's own that steps another one and does more than that."""
    step = inspect.getattr_static(type(thing), "step", None)  # asked first: proxies answer `isinstance` by doing things
    code = getattr(inspect.unwrap(step) if callable(step) else None, "__code__", None)
    if code is None or places.kind_of(code.co_filename) != places.USER:
        return False
    if thing is optimizer or isinstance(thing, nn.Module) or type(thing).__weakrefoffset__ == 0:
        return False
    held = [name for name, value in getattr(thing, "__dict__", {}).items() if value is optimizer]
    like = isinstance(thing, torch.optim.Optimizer) or (code.co_argcount < 3 and not _holds_model(thing))
    return like and len(held) == 1 and _does_more(type(thing), held[0])


def _holds_model(thing: Any) -> bool:
    return any(isinstance(value, nn.Module) for value in vars(thing).values())


def _methods(kind: type) -> list[tuple[str, CodeType]]:
    """The methods of the user's classes in a class."""
    found = [(n, inspect.unwrap(f)) for one in kind.__mro__ for n, f in vars(one).items() if inspect.isfunction(f)]
    return [(n, f.__code__) for n, f in found if places.kind_of(f.__code__.co_filename) == places.USER]


def _does_more(kind: type, name: str) -> bool:
    """Whether the methods of a class step what it calls by this name, and do more to training than that, which leaves
    something in it, or is done by `step` alone."""
    steps, more, keeps, others = False, False, False, False
    for method, code in _methods(kind):
        text = source.function_at(code.co_filename, code.co_firstlineno)
        if text is None or method == "__init__":
            continue
        body = [one for one in text.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
        calls = [ast.unparse(one.func) for one in source.own(text) if isinstance(one, ast.Call)]
        if f"self.{name}.step" in calls:
            steps, more = True, more or len(body) > 1 + isinstance(body[-1], ast.Return)
        given = [t for one in source.own(text) for t in _targets(one)]
        keeps = keeps or (method not in _OUTSIDE - {"step"} and any(one.startswith("self.") for one in given))
        others = others or method not in _OUTSIDE
    return steps and more and (keeps or not others)


def _targets(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Assign):
        return [ast.unparse(one) for one in node.targets]
    return [ast.unparse(node.target)] if isinstance(node, ast.AugAssign) else []


def _is_chosen(frame: FrameType, wrapper: Any) -> bool:
    """Whether the text names a wrapper as one of several: in a branch, or in what is gone through one by one."""
    file = frame.f_code.co_filename
    for within in source.functions(file):
        for one in source.own(within):
            several: list[Any] = []
            if isinstance(one, ast.IfExp):
                several = [one.body, one.orelse]
            elif isinstance(one, (ast.Dict, ast.List)):
                several = one.values if isinstance(one, ast.Dict) else one.elts
            elif isinstance(one, ast.For):
                several = getattr(one.iter, "elts", [])
            elif isinstance(one, ast.If):
                several = [each.value for each in ast.walk(one) if isinstance(each, (ast.Assign, ast.Return))]
                called = [each.func for each in ast.walk(one) if isinstance(each, ast.Call)] if one.orelse else []
                several += [each.value for each in called if isinstance(each, ast.Attribute)]
            if any(_named(frame, ast.unparse(each)) is wrapper for each in several if _is_name(each)):
                return True
    return False


def _is_name(node: Any) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_name(node.value))


def _kept(wrapper: Any, optimizer: Any) -> dict[str, Any]:
    """What a wrapper keeps, as numbers: its counters, how much is in its lists, how often its tensors were written."""
    left_out = ("param_groups", "defaults")
    return {n: _mark(v) for n, v in vars(wrapper).items() if v is not optimizer and n not in left_out}


def _mark(value: Any, depth: int = 3) -> Any:
    if isinstance(value, (int, float, str, bool, type(None))):
        return value
    if isinstance(value, Tensor):
        return None if value.is_inference() else value._version
    inside = list(value.values()) if isinstance(value, dict) else value
    if isinstance(inside, (list, tuple)) and depth:
        return len(inside), [_mark(one, depth - 1) for one in inside[:64]]
    return None
