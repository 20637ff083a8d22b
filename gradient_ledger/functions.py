"""Backwards that the user's code wrote itself, in classes of `torch.autograd.Function`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from types import CodeType
from typing import Any

from torch import Tensor
from torch.autograd.function import BackwardCFunction

from gradient_ledger import places, source
from gradient_ledger.budget import SAMPLES
from gradient_ledger.compiled import run_as_it_is
from gradient_ledger.events import Place
from gradient_ledger.progress import Pass
from gradient_ledger.state import State

_REVERSAL = re.compile(r"rever[st]|(?<![a-z])grl(?![a-z])", re.IGNORECASE)
"""Names of layers that turn a gradient round."""
_AS_IT_IS = re.compile(r"(\w+)(\.(view_as|view|clone|detach|alias)\(.*\))?")
"""How a forward returns what it is given."""


def watch(state: State, nodes: Iterable[Any], one: Pass) -> None:
    """Be told what the user's own backwards in this graph make of the gradients they are given, where their text never
    reads those."""
    fields = one.draft.fields
    for node in nodes:
        if isinstance(node, BackwardCFunction):
            _watch_reversal(state, node, fields)
        where = _ignoring(type(node)) if isinstance(node, BackwardCFunction) else None
        if where is None or not state.budget.may_look(("ignoring", where), SAMPLES):
            continue

        def ran(gives: tuple[Any, ...], given: tuple[Any, ...], where: Place = where) -> None:
            if not _is_one(given) and any(isinstance(g, Tensor) and bool(g.any()) for g in gives):
                fields["ignored_at"] = where

        run_as_it_is(ran)
        node.register_hook(ran)


def _watch_reversal(state: State, node: Any, fields: dict[str, Any]) -> None:
    """Be told whether a layer that should reverse gradients, by its name, hands them on as they point."""
    where = _reversing(type(node))
    # One pass may come through several such layers, and their factor often begins at 0.
    if where is None or not state.budget.may_look(("reversing", where), 4 * SAMPLES):
        return

    def ran(gives: tuple[Any, ...], given: tuple[Any, ...]) -> None:
        pairs = [(a, b) for a, b in zip(gives, given, strict=False) if isinstance(a, Tensor) and isinstance(b, Tensor)]
        pairs = [(a, b) for a, b in pairs if a.shape == b.shape and bool(a.any())]
        if pairs and all(bool((a * b >= 0).all()) for a, b in pairs):
            fields["unreversed_at"] = where

    run_as_it_is(ran)
    node.register_hook(ran)


def _written_backward(kind: type) -> tuple[str, ast.FunctionDef, list[ast.Return]] | None:
    """The file, the text and the returns of the `backward` of a node's class, if a user's function stands behind it."""
    code = getattr(getattr(_function_of(kind), "backward", None), "__code__", None)
    if code is None or places.kind_of(code.co_filename) != places.USER:
        return None
    within = source.function_at(code.co_filename, code.co_firstlineno)
    if within is None:
        return None
    return code.co_filename, within, [one for one in ast.walk(within) if isinstance(one, ast.Return)]


def _function_of(kind: type) -> type | None:
    """The class of the user's behind a node's (PyTorch makes `GRLBackward` of `GRL`)."""
    return getattr(kind, "_forward_cls", None)


def _reversing(kind: type) -> Place | None:
    """Where the `backward` of a class of the user's computes what it returns, if that has the name of a reversal."""
    written = _written_backward(kind)
    if written is None or not _REVERSAL.search(getattr(_function_of(kind), "__name__", "")):
        return None
    file, within, returns = written
    if len(returns) != 1 or returns[0].value is None:
        return None
    returned = returns[0]
    value = returned.value.elts[0] if isinstance(returned.value, ast.Tuple) else returned.value
    made = source.assigned(within, value.id, returned.lineno) if isinstance(value, ast.Name) else None
    return Place(file, made.line if made is not None else returned.lineno, within.name)


def _is_one(given: Iterable[Any]) -> bool:
    """Whether it is the gradient of a loss with respect to itself, which one may leave out."""
    return all(one is None or bool((one == 1).all()) for one in given)


def _ignoring(kind: type) -> Place | None:
    """Where a class returns from its `backward`, if that is the user's and never reads the gradient it is given.

    Not where the text means that: by a name such as `_`, or by a forward that changes nothing, and is there for the
    sake of its backward.
    """
    written = _written_backward(kind)
    if written is None or _hands_on(getattr(getattr(_function_of(kind), "forward", None), "__code__", None)):
        return None
    file, within, returns = written
    names = [one.arg for one in (*within.args.args[1:], within.args.vararg) if one is not None]
    names = [one for one in names if not one.startswith("_")]
    inner = list(ast.walk(within))
    read = {one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    if not names or read & {*names, "locals"} or len(returns) != 1:
        return None
    return Place(file, returns[0].lineno, within.name)


def _hands_on(code: CodeType | None) -> bool:
    """Whether a forward returns what it is given as it is."""
    within = source.function_at(code.co_filename, code.co_firstlineno) if code is not None else None
    given = [one.arg for one in within.args.args] if within is not None else []
    returns = [one.value for one in ast.walk(within) if isinstance(one, ast.Return)] if within is not None else []
    words = [_AS_IT_IS.fullmatch(ast.unparse(one)) if one is not None else None for one in returns]
    return bool(words) and all(word is not None and word[1] in given for word in words)
