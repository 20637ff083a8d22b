"""Losses of several micro-batches in one sum, which goes backward once: by the text."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from gradient_ledger import source

_LOSSES = re.compile(r"loss|criteri|objective|entropy|nll|mse|likelihood", re.IGNORECASE)


@lru_cache(maxsize=1024)
def piles_losses(file: str, line: int) -> bool:
    """Whether the call of a model at this line stands in a loop that adds a loss of it to those of the other turns, or
    to a list of them, and hands nothing of its result on to its next call, as the state of a sequence. Or in a function
    that adds it to an attribute, which keeps the sum until the function is called again."""
    loop = source.loop_around(file, line)
    around = loop or source.scope(file, line)
    within = source.own(around) if around is not None else ()
    assigned_here = [one for one in within if isinstance(one, ast.Assign)]
    call = next((one for one in assigned_here if one.lineno <= line <= (one.end_lineno or 0)), None)
    made = {n.id for target in call.targets for n in ast.walk(target) if isinstance(n, ast.Name)} if call else set()
    if call is not None and made & source.names_in(call.value):
        return False
    for one in within:
        found = _summed(one)
        if found is None or (isinstance(one, ast.Assign) and ast.unparse(found[0]) not in source.names_in(one.value)):
            continue
        kept = loop is not None or (isinstance(found[0], ast.Attribute) and not isinstance(one, ast.Call))
        text = " ".join(map(ast.unparse, (found[0], *found[1]))) if kept else ""
        if _LOSSES.search(text) and ".item()" not in text:
            return True
    return False


@lru_cache(maxsize=1024)
def window_sum(file: str, line: int) -> bool:
    """Whether the backward pass at this line is given a sum, or a list, that a loop adds a loss to in each of its
    rounds, and that begins anew in some of them, the pass standing under a condition of that loop; or behind a loop
    over the micro-batches of a window. None of the rounds is handed anything by the one before, as the state of a
    sequence."""
    within = source.scope(file, line)
    nodes = source.own(within) if within is not None else ()
    given = {name for one in nodes if isinstance(one, ast.Call) for name in _sent_back(one, line)}
    for around in (one for one in nodes if isinstance(one, ast.If) and one.lineno < line <= (one.end_lineno or 0)):
        loop = source.loop_around(file, around.lineno)
        inside = source.own(loop) if loop is not None else ()
        for name in given:
            if any(_adds(one, name) for one in inside) and any(_begins(one, name) for one in inside):
                return not _handed_on(inside, name)
    # Or the pass stands behind a loop whose head counts the micro-batches of a window, by its words.
    for loop in (one for one in nodes if isinstance(one, ast.For) and (one.end_lineno or line) < line):
        inside = source.own(loop)
        for name in given if _WINDOW.search(ast.unparse(loop.iter)) else ():
            if any(_adds(one, name) for one in inside) and not any(_begins(one, name) for one in inside):
                return not _handed_on(inside, name)
    return False


_WINDOW = re.compile(r"accum|micro", re.IGNORECASE)
"""Words for the micro-batches of a window, in the head of a loop over them."""


def _sent_back(call: ast.Call, line: int) -> set[str]:
    """The names in what a backward pass at this line is called on, or with."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "backward"):
        return set()
    if not call.lineno <= line <= (call.end_lineno or 0):
        return set()
    return {name for one in (call.func.value, *call.args) for name in source.names_in(one)}


def _summed(one: ast.AST) -> tuple[ast.expr, list[ast.expr]] | None:
    """The sum or list that a statement or a call adds to, and the summands, itself among them if it is written so."""
    if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add):
        return one.target, [one.value]
    if isinstance(one, ast.Assign) and isinstance(one.value, ast.BinOp) and isinstance(one.value.op, ast.Add):
        return one.targets[0], source.terms(one.value)
    if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "append":
        return one.func.value, one.args
    return None


def _adds(one: ast.AST, name: str) -> bool:
    """Whether a statement adds a loss to what has this name, and no number that was read of it."""
    found = _summed(one)
    if found is None or ast.unparse(found[0]) != name:
        return False
    added = [part for part in found[1] if ast.unparse(part) != name]
    if len(found[1]) - len(added) != isinstance(one, ast.Assign):
        return False
    text = " ".join(map(ast.unparse, added))
    return bool(_LOSSES.search(text)) and ".item()" not in text and ".detach()" not in text


def _begins(one: ast.AST, name: str) -> bool:
    """Whether a statement gives a sum or a list the value it has before anything was added."""
    if isinstance(one, ast.Assign) and name in map(ast.unparse, one.targets):
        return _is_nothing(one.value)
    return isinstance(one, ast.Call) and ast.unparse(one.func) == f"{name}.clear"


def _is_nothing(value: ast.expr) -> bool:
    """Whether a value is a zero, also as a tensor, or an empty list."""
    if isinstance(value, ast.Call):
        made = source.last_name(value.func)
        return made == "zeros" or (made in ("tensor", "list", "float") and all(map(_is_nothing, value.args)))
    return ast.unparse(value) in ("0", "0.0", "[]", "None")


def _handed_on(inside: tuple[ast.AST, ...], total: str) -> bool:
    """Whether a loop reads what the round before has left under a name, but for that sum, for what is counted, and for
    numbers or lists of them that begin anew as the sum does."""
    ends = {
        id(part): float(one.end_lineno or 0) + 0.5  # a statement binds its names when all in it was read
        for one in inside
        if isinstance(one, ast.Assign)
        for target in one.targets
        for part in ast.walk(target)
    }
    counted = {ast.unparse(one.target) for one in inside if isinstance(one, ast.AugAssign)} | {total}
    given = [one for one in inside if isinstance(one, ast.Assign)]
    kept = {name for one in given if ast.unparse(one.value) != "None" for name in _names(one) if _begins(one, name)}
    kept -= {name for one in given for name in _names(one) if not _is_nothing(one.value)}
    read: dict[str, float] = {}
    bound: dict[str, float] = {}
    for one in inside:
        if isinstance(one, (ast.Name, ast.Attribute)):
            found = bound if isinstance(one.ctx, ast.Store) else read
            name, at = ast.unparse(one), ends.get(id(one), one.lineno) if found is bound else one.lineno
            found[name] = min(at, found.get(name, at))
    return any(read.get(name, at) < at for name, at in bound.items() if name not in counted | kept)


def _names(one: ast.Assign) -> set[str]:
    return set(map(ast.unparse, one.targets))
