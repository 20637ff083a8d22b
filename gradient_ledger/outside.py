"""Lines on the wrong side of a loop's end, by the text: behind a loop over parameters one that changes the last of them
alone, and in a loop that adds something up its `return`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeGuard

from gradient_ledger import source
from gradient_ledger.events import LastAlone, Place, Returned

_PARAMETERS = re.compile(r"parameters\(\)")
_IN_PLACE = re.compile(r"(?<!_)[a-z]\w*_$")
"""Methods that change what they are called on."""
_ATTRIBUTES = ("data", "grad", "requires_grad")
_FURTHER = 2
"""Statements behind a loop that are looked at."""


def found(files: Iterable[str]) -> LastAlone | None:
    """The first such line, with the name that it changes and the loop that had bound that."""
    functions = [(file, one) for file in files if source.says(file, _PARAMETERS) for one in source.functions(file)]
    return next((one for file, within in functions for one in _found_in(file, within)), None)


def _found_in(file: str, within: ast.AST) -> Iterator[LastAlone]:
    for block in source.blocks(within):
        if (last := _in_block(block)) is not None:
            line, name, loop = last
            yield LastAlone(Place(file, line, getattr(within, "name", "<module>")), name, Place(file, loop))


def _in_block(block: list[ast.stmt]) -> tuple[int, str, int] | None:
    for at, loop in enumerate(block):
        if not isinstance(loop, ast.For) or not _PARAMETERS.search(ast.unparse(loop.iter)):
            continue
        if any(isinstance(n, (ast.Break, ast.Return)) for n in ast.walk(loop)):
            continue  # the one that the loop was left at
        bound = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        for later in block[at + 1 : at + 1 + _FURTHER]:
            name = _changed(later)
            if name in bound:
                return later.lineno, name, loop.lineno
            if isinstance(later, (ast.For, ast.With)):
                break
    return None


def _changed(statement: ast.stmt) -> str:
    """The name of what a statement changes in its place, or gives data, a gradient, or `requires_grad`."""
    changed: ast.expr | None = None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        changed = called.value if isinstance(called, ast.Attribute) and _IN_PLACE.match(called.attr) else None
    elif isinstance(statement, (ast.Assign, ast.AugAssign)):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        changed = target if isinstance(target, ast.Attribute) and target.attr in _ATTRIBUTES else None
    while isinstance(changed, ast.Attribute) and changed.attr in _ATTRIBUTES:
        changed = changed.value
    return changed.id if isinstance(changed, ast.Name) else ""


def returned_at_once(files: Iterable[str]) -> tuple[Returned, ...]:
    """The `return` of loops that add to, or fill, what was made before them, and return at the end of their first turn,
    in functions that these texts call."""
    held = tuple(files)
    found = [(Place(file, line, function), name) for file in held for line, function, name in _returned_at_once(file)]
    wanted = {place.function for place, _ in found}
    called: dict[str, Place] = {}
    for file in held if wanted else ():
        for within in source.functions(file):
            for one in source.own(within):
                if isinstance(one, ast.Call) and (name := source.last_name(one.func)) in wanted:
                    called.setdefault(name, Place(file, one.lineno, getattr(within, "name", "<module>")))
    return tuple(Returned(name, place, called[place.function]) for place, name in found if place.function in called)


@lru_cache(maxsize=1024)
def _returned_at_once(file: str) -> tuple[tuple[int, str, str], ...]:
    found = []
    for within in source.functions(file):
        for loop in (one for one in source.own(within) if isinstance(one, ast.For)):
            last = loop.body[-1]
            if not isinstance(last, ast.Return) or last.value is None or any(map(_goes_on, loop.body)):
                continue
            above = [one for one in source.own(within) if _is_above(one, loop)]
            before = {name for one in above for name in source.words(one.targets[0])}
            filled = [name for one in source.own(loop) if (name := _filled(one)) in before]
            if filled:
                found.append((last.lineno, getattr(within, "name", "<module>"), filled[0]))
    return tuple(found)


def _goes_on(one: ast.AST) -> bool:
    """Whether a statement of a loop may go on to its next turn, or hands something out in each."""
    if isinstance(one, (ast.Continue, ast.Yield, ast.YieldFrom)):
        return True
    inner = ast.iter_child_nodes(one) if not isinstance(one, (*source.LOOPS, *source.FUNCTIONS)) else ()
    return any(map(_goes_on, inner))


def _is_above(one: ast.AST, loop: ast.For) -> TypeGuard[ast.Assign]:
    return isinstance(one, ast.Assign) and one.lineno < loop.lineno


def _filled(one: ast.AST) -> str:
    """The name of what a statement adds to, or writes a part of."""
    if isinstance(one, ast.AugAssign):
        target: ast.expr = one.target
    elif isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Subscript):
        target = one.targets[0]
    elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in ("append", "extend"):
        target = one.func.value
    else:
        return ""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""
