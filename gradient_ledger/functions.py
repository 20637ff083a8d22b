"""Backwards that the user's code wrote itself, in classes of `torch.autograd.Function`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from types import CodeType
from typing import Any, NamedTuple

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


class _Written(NamedTuple):
    """A function of the user's with a backward, behind a node: PyTorch makes `GRLBackward` of `GRL`."""

    function: Any
    file: str
    backward: ast.FunctionDef
    returns: list[ast.Return]


def _written(kind: type) -> _Written | None:
    """What stands behind nodes of this class, if that is the user's and its text is there."""
    function = getattr(kind, "_forward_cls", None)
    code = getattr(getattr(function, "backward", None), "__code__", None)
    if code is None or places.kind_of(code.co_filename) != places.USER:
        return None
    backward = source.function_at(code.co_filename, code.co_firstlineno)
    if backward is None:
        return None
    returns = [one for one in ast.walk(backward) if isinstance(one, ast.Return)]
    return _Written(function, code.co_filename, backward, returns)


def _reversing(kind: type) -> Place | None:
    """Where the `backward` of a class of the user's computes what it returns, if that has the name of a reversal."""
    written = _written(kind)
    if written is None or not _REVERSAL.search(written.function.__name__) or len(written.returns) != 1:
        return None
    line, value = written.returns[0].lineno, written.returns[0].value
    if value is None:
        return None
    value = value.elts[0] if isinstance(value, ast.Tuple) else value
    made = source.assigned(written.backward, value.id, line) if isinstance(value, ast.Name) else None
    return Place(written.file, made.line if made is not None else line, written.backward.name)


def _is_one(given: Iterable[Any]) -> bool:
    """Whether it is the gradient of a loss with respect to itself, which one may leave out."""
    return all(one is None or bool((one == 1).all()) for one in given)


def _ignoring(kind: type) -> Place | None:
    """Where a class returns from its `backward`, if that is the user's and never reads the gradient it is given.

    Not where the text means that: by a name such as `_`, or by a forward that changes nothing, and is there for the
    sake of its backward.
    """
    written = _written(kind)
    if written is None or _hands_on(getattr(getattr(written.function, "forward", None), "__code__", None)):
        return None
    arguments = written.backward.args
    names = [one.arg for one in (*arguments.args[1:], arguments.vararg) if one is not None]
    names = [one for one in names if not one.startswith("_")]
    inner = ast.walk(written.backward)
    read = {one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    if not names or read & {*names, "locals"} or len(written.returns) != 1:
        return None
    return Place(written.file, written.returns[0].lineno, written.backward.name)


def _hands_on(code: CodeType | None) -> bool:
    """Whether a forward returns what it is given as it is."""
    within = source.function_at(code.co_filename, code.co_firstlineno) if code is not None else None
    given = [one.arg for one in within.args.args] if within is not None else []
    returns = [one.value for one in ast.walk(within) if isinstance(one, ast.Return)] if within is not None else []
    words = [_AS_IT_IS.fullmatch(ast.unparse(one)) if one is not None else None for one in returns]
    return bool(words) and all(word is not None and word[1] in given for word in words)
