"""Lines that stand behind a loop over parameters, and change the last of them alone: by the text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from gradient_ledger import source
from gradient_ledger.events import LastAlone, Place

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
    blocks = [getattr(one, name, None) for one in (within, *source.own(within)) for name in ("body", "orelse")]
    for block in (one for one in blocks if isinstance(one, list)):
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
