"""The ratio of a policy's probabilities, new to old, by its graph and by the text that makes the old one."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Any

from gradient_ledger import graph, source
from gradient_ledger.events import Place, Trail

SAME = frozenset("to float long view reshape flatten squeeze unsqueeze clone detach cuda cpu".split())
"""Methods that give the same data in another form."""


def look(node: Any, trail: Trail) -> dict[str, Any]:
    """What a loss says of its ratio `exp(a - b)`, where all entries of that are exactly 1.

    b is a constant; or it reaches the very parameters that a does, and the two take each other's gradients away.
    """
    for one in graph.by_entry(node, graph.BY_ENTRY | {"MaximumBackward0"}):
        inner = one.next_functions[0][0] if type(one).__name__ == "ExpBackward0" else None
        if type(inner).__name__ != "SubBackward0" or inner is None:
            continue
        new, old = (side for side, _ in inner.next_functions)
        ratio = graph.saved(one, "result")
        flat = ratio is not None and ratio.numel() > 1 and bool((ratio == 1).all())
        if old is None:
            return {"flat_ratio": True, "ratio_at": recomputed(trail)} if flat else {}
        if flat and new is not None and (leaves := graph.uses(new)) and leaves == graph.uses(old):
            return {"flat_ratio": True, "ratio_cancels": True, "ratio_at": _computed(trail)}
    return {}


def _computed(trail: Trail) -> Place | None:
    """The line that computes old log-probabilities with a graph, or else the line that goes backward."""
    for file, line in trail:
        within = source.scope(file, line)
        if within is None:
            continue
        for name in _subtracted(source.own(within)):
            old = source.assigned(within, name, line)
            if old is not None and not old.without_grad:
                return Place(file, old.line)
    return Place(*trail[0]) if trail else None


def recomputed(trail: Trail) -> Place | None:
    """The line that computes old log-probabilities anew, under `no_grad()`, in the loop that also steps on them; None
    where the data come from that loop, too: then every batch is a fresh one."""
    for file, line in trail:
        within, loop = source.scope(file, line), source.loop_around(file, line)
        if within is None or loop is None:
            continue
        nodes = source.own(within)
        for name in _subtracted(nodes):
            old = source.assigned(within, name, line)
            if old is None or not old.without_grad or old.line <= loop.lineno:
                continue
            if not any(_is_fresh(one, within, loop) for one in source.words(old.value)):
                return Place(file, old.line)
        if (found := _recomputed_in_call(file, within, loop)) is not None:
            return found
    return None


def _recomputed_in_call(file: str, within: ast.AST, loop: Any) -> Place | None:
    """The same in a function of the file that this loop calls for its loss."""
    calls = [one for one in source.own(loop) if isinstance(one, ast.Call)]
    for inner in source.functions(file):
        mine = [one for one in calls if ast.unparse(one.func).rpartition(".")[2] == getattr(inner, "name", "")]
        if inner is within or not mine or any(_is_fresh(n, within, loop) for one in mine for n in source.words(one)):
            continue
        for name in _subtracted(source.own(inner)):
            old = source.assigned(inner, name, sys.maxsize)
            if old is not None and old.without_grad:
                return Place(file, old.line)
    return None


def _subtracted(nodes: tuple[Any, ...]) -> Iterator[str]:
    """The names b in `exp(a - b)` and `(a - b).exp()`."""
    for one in nodes:
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "exp":
            inner = one.args[0] if one.args else one.func.value
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub) and isinstance(inner.right, ast.Name):
                yield inner.right.id


def _is_fresh(name: str, within: ast.AST, loop: Any, depth: int = 0) -> bool:
    """Whether a name gets its value in this loop, by anything but taking a part of what was there before."""
    over = source.words(loop.target) if isinstance(loop, (ast.For, ast.AsyncFor)) else ()
    if name in over or depth > 8:
        return depth > 8
    found = source.assigned(within, name, loop.end_lineno + 1)
    if found is None or found.line <= loop.lineno:
        return False
    calls = [one.func for one in ast.walk(found.value) if isinstance(one, ast.Call)]
    if not all(isinstance(one, ast.Attribute) and one.attr in SAME for one in calls):
        return True
    return any(_is_fresh(one, within, loop, depth + 1) for one in source.words(found.value) - {name})
