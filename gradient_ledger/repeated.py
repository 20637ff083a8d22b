"""Layers that stand in several places of a container, and are one by the text: a list times a number, a name twice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from gradient_ledger import source
from gradient_ledger.events import Place
from gradient_ledger.source import functions, last_name, own, says

_OF_MODULES = {"ModuleList", "Sequential"}


def found(files: Iterable[str]) -> tuple[Place, ...]:
    """The lines that give a container of modules a list of one that is made there, times a number, or that hold one
    name of a module twice: both are one."""
    lines = []
    for file in files:
        for within in functions(file) if says(file, _HOLDS_MODULES) else ():
            for one in own(within):
                if isinstance(one, ast.Call) and one.args and last_name(one.func) in _OF_MODULES:
                    given = one.args[0].value if isinstance(one.args[0], ast.Starred) else one.args[0]
                    times = isinstance(given, ast.BinOp) and isinstance(given.op, ast.Mult) and _is_made_once(given)
                    held = given.elts if isinstance(given, ast.List) else one.args
                    if times or _twice(within, held, one.lineno):
                        lines.append(Place(file, one.lineno, getattr(within, "name", "<module>")))
    return tuple(lines)


_HOLDS_MODULES = re.compile(r"ModuleList|Sequential")
_MAKES = re.compile(r"^_?(build|make|create|new|get|init)_|^_?(mlp|conv_?block|head|layer)$")
"""Names of functions that make a module."""
_PLAIN = re.compile(
    r"[eE]LU|SiLU|Swish|Mish|Tanh|Sigmoid|Soft|Dropout|Drop|Pool|Identity|Flatten|Upsample|Pad|Act|Shuffle"
)
"""Names of layers without weights, of which one may stand in several places."""


def _twice(within: ast.AST, held: Sequence[ast.expr], line: int) -> bool:
    """Whether a name stands twice among these that the function gives to one layer with weights, by its class."""
    names = [one.id for one in held if isinstance(one, ast.Name)]
    for name in dict.fromkeys(one for one in names if names.count(one) > 1):
        made = source.assigned(within, name, line)
        kind = last_name(made.value.func) if made is not None and isinstance(made.value, ast.Call) else ""
        if kind[:1].isupper() and not _PLAIN.search(kind):
            return True
    return False


def _is_made_once(product: ast.BinOp) -> bool:
    """Whether one side of a product is a list of one call of a class, by its name, or of what makes a module."""
    sides = [side for side in (product.left, product.right) if isinstance(side, ast.List) and len(side.elts) == 1]
    made = sides[0].elts[0] if sides else None
    name = last_name(made.func) if isinstance(made, ast.Call) else ""
    return name[:1].isupper() or _MAKES.search(name) is not None
