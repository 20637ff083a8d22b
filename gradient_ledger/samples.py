"""Names that are drawn without a graph in one place and with one in another: by the text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from gradient_ledger import source
from gradient_ledger.events import Place

_MOVING, _STILL = re.compile(r"\.rsample\("), re.compile(r"\.sample\(")


def drawn_beside(files: Iterable[str]) -> tuple[Place, Place] | None:
    """Where `sample()` gives a name its value, with a graph around, and where `rsample()` gives the same name one in
    the same function, not as the other branch of one condition; None where the text takes its log-probability."""
    saying = [file for file in files if source.says(file, _MOVING) and source.says(file, _STILL)]
    return next((one for file in saying for within in source.functions(file) for one in _found_in(file, within)), None)


def _found_in(file: str, within: ast.AST) -> Iterator[tuple[Place, Place]]:
    if source.switched_off(within) is not None:
        return
    nodes, function = source.own(within), getattr(within, "name", "<module>")
    off = [n for n in nodes if isinstance(n, ast.With) and "no_grad" in ast.unparse(n.items[0])]
    choices = [n for n in nodes if isinstance(n, ast.If) and n.orelse]
    draws = [n for n in nodes if isinstance(n, ast.Assign) and len(n.targets) == 1 and _draws(n.value)]
    for still in (n for n in draws if _draws(n.value) == "sample" and not any(_holds(one, n) for one in off)):
        name = ast.unparse(still.targets[0])
        moving = [n for n in draws if _draws(n.value) == "rsample" and ast.unparse(n.targets[0]) == name]
        moving = [n for n in moving if not any(_holds(c, still) and _holds(c, n) for c in choices)]
        if moving and not any(_is_log_probability(n, name) for n in nodes):
            yield Place(file, still.lineno, function), Place(file, moving[0].lineno, function)


def _draws(value: ast.AST) -> str:
    """`sample` or `rsample`, if a value is what that gives."""
    called = value.func if isinstance(value, ast.Call) else None
    return called.attr if isinstance(called, ast.Attribute) and called.attr in ("sample", "rsample") else ""


def _holds(block: ast.stmt, one: ast.stmt) -> bool:
    return block.lineno < one.lineno <= (block.end_lineno or 0)


def _is_log_probability(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Call) or source.last_name(node.func) != "log_prob":
        return False
    return any(name in ast.unparse(one) for one in node.args)
