"""Where the text takes a value out of its graph, on the way to a line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from gradient_ledger import source
from gradient_ledger.events import Place

_DEEP = 3
"""Names and calls between a line and what cuts."""
_SAME = 3
"""Functions of one name, as methods of several classes, that are all read."""
_OUT = frozenset("detach numpy".split())
"""Methods that give a value without its graph."""
_WITHOUT = frozenset("no_grad inference_mode".split())


@lru_cache(maxsize=256)
def on_the_way(file: str, line: int) -> Place | None:
    """The one line that cuts a graph in the functions which the statement at a line calls, or by which the names
    it reads got their values; None where there is none, or more than one."""
    within = source.scope(file, line)
    nodes = source.own(within) if within is not None else ()
    mine = [one for one in nodes if isinstance(one, ast.stmt) and one.lineno <= line <= (one.end_lineno or 0)]
    found = dict.fromkeys(_cuts(file, within, mine[-1], line, _DEEP)) if mine else {}
    return next(iter(found)) if len(found) == 1 else None


def _cuts(file: str, within: Any, text: ast.AST, line: int, left: int) -> Iterator[Place]:
    """The lines that cut, of all that a piece of text is computed with."""
    for one in ast.walk(text) if left else ():
        if isinstance(one, ast.Call):
            for function in _called(file, source.last_name(one.func)):
                yield from _cut_in(file, function)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _OUT:
            yield Place(file, one.lineno, getattr(within, "name", ""))
        elif isinstance(one, ast.Name | ast.Attribute) and isinstance(one.ctx, ast.Load):
            made = source.assigned(within, ast.unparse(one), line)
            if made is not None and not isinstance(made.value, ast.Constant):
                yield from _blocks_without(file, within, made.line)
                yield from _cuts(file, within, made.value, made.line, left - 1)
            elif made is None and isinstance(one, ast.Name) and isinstance(within, ast.FunctionDef):
                for caller, given in _given(file, within, one.id):
                    yield from _cuts(file, caller, given, given.lineno, left - 1)


def _blocks_without(file: str, within: Any, line: int) -> Iterator[Place]:
    """The `with torch.no_grad():` around a line."""
    for one in source.own(within):
        if isinstance(one, ast.With) and _is_without(one) and one.lineno <= line <= (one.end_lineno or 0):
            yield Place(file, one.lineno, getattr(within, "name", ""))


def _called(file: str, name: str) -> list[ast.FunctionDef]:
    """The functions of this name in a file, where these are few."""
    found = [one for one in source.functions(file) if isinstance(one, ast.FunctionDef) and one.name == name]
    return found if len(found) <= _SAME else []


def _given(file: str, function: ast.FunctionDef, argument: str) -> Iterator[tuple[Any, ast.expr]]:
    """What the calls of a function in its file hand to an argument, and the functions that they stand in."""
    for within in source.functions(file):
        for call in (one for one in source.own(within) if isinstance(one, ast.Call)):
            given = source.handed_over(call, function).get(argument)
            if source.last_name(call.func) == function.name and given is not None:
                yield within, given


def _cut_in(file: str, function: ast.FunctionDef) -> Iterator[Place]:
    """The lines of a function that take something out of its graph, or are run without one."""
    for by in function.decorator_list:
        if source.last_name(by.func if isinstance(by, ast.Call) else by) in _WITHOUT:
            yield Place(file, by.lineno, function.name)
    for one in source.own(function):
        called = one.func.attr if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) else ""
        data = isinstance(one, ast.Attribute) and one.attr == "data" and isinstance(one.ctx, ast.Load)
        if data or called in _OUT | _WITHOUT:
            yield Place(file, one.lineno, function.name)


@lru_cache(maxsize=1024)
def layer_without_graph(file: str, line: int) -> tuple[str, int] | None:
    """Where a line calls a layer of its class under `no_grad()`, and the function adds what that gives to something
    else that it computes, or joins the two: the argument that the layer is given, and the line of the `with`."""
    within = source.scope(file, line)
    if not isinstance(within, ast.FunctionDef):
        return None
    nodes = source.own(within)
    arguments = {one.arg for one in within.args.args}
    for block in (one for one in nodes if isinstance(one, ast.With) and _is_without(one)):
        for one in (n for n in block.body if isinstance(n, ast.Assign) and n.lineno <= line <= (n.end_lineno or 0)):
            target, call = one.targets[0], one.value
            if not (isinstance(target, ast.Name) and isinstance(call, ast.Call) and len(call.args) == 1):
                continue
            given, layer = call.args[0], ast.unparse(call.func)
            if isinstance(given, ast.Name) and given.id in arguments and layer.startswith("self."):
                later = [n for n in nodes if getattr(n, "lineno", 0) > (block.end_lineno or 0)]
                made = {name for n in nodes if n is not one for name in _made_by_call(n)} - {target.id}
                if any(_joins(n, target.id, given.id, made) for n in later):
                    return given.id, block.lineno
    return None


def _is_without(block: ast.With) -> bool:
    return any(source.NO_GRAD.search(ast.unparse(one.context_expr)) for one in block.items)


def _made_by_call(one: ast.AST) -> list[str]:
    """The name that a statement gives to what a call gives."""
    single = isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) and len(one.targets) == 1
    return [one.targets[0].id] if single and isinstance(one.targets[0], ast.Name) else []  # type: ignore[attr-defined]


def _joins(one: ast.AST, name: str, besides: str, made: set[str]) -> bool:
    """Whether an expression adds what has this name to something else that is computed, or puts the two side by side;
    where a constant is meant, as in `x + (q - x).detach()`, something is taken out of its graph, or has `besides`."""
    parts: list[ast.expr] = []
    if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add):
        parts = source.terms(one)
    elif isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add):
        parts = [one.target, one.value]
    elif isinstance(one, ast.Call) and source.last_name(one.func) == "cat" and one.args:
        parts = one.args[0].elts if isinstance(one.args[0], ast.List | ast.Tuple) else []
    elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in ("add", "add_"):
        parts = [one.func.value, *one.args[:1]]
    alone = {part.id for part in parts if isinstance(part, ast.Name)}
    others = [part for part in parts if not isinstance(part, ast.Name)]
    computed = bool(alone & made) or any(isinstance(n, ast.Call) for part in others for n in ast.walk(part))
    out = any(source.last_name(n) in _OUT for part in others for n in ast.walk(part))
    return name in alone and (besides == name or besides not in alone) and computed and not out
