"""Which cells to run: all that a learner added or changed, and of the course's own those that define what these use.

Reads the names in a cell without running it. What a function reads when it is called may be defined before or after it;
what a cell reads as it runs is defined before.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

_DYNAMIC = frozenset({"eval", "exec", "globals", "locals", "vars", "__main__"})
"""Whoever reads these may read any name."""


@dataclass(frozen=True)
class Names:
    """The names of a cell at the level of its module."""

    binds: frozenset[str] = frozenset()
    """Those that it may define, or change a part of."""
    surely: frozenset[str] = frozenset()
    """Those of them that it defines anew, whatever happens."""
    now: frozenset[str] = frozenset()
    """Those that it reads as it runs."""
    later: frozenset[str] = frozenset()
    """Those that its functions read when they are called."""


@cache
def names_of(source: str) -> Names:
    """The names in a cell of plain Python; none where it cannot be read."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Names()
    try:
        binds, now, later = _by_scope(source)
    except (SyntaxError, ValueError, RecursionError):  # top-level await, for one
        binds, now = _by_word(tree)
        later = now
    changed = _changed(tree)
    surely = frozenset(name for node in tree.body for name in _bound(node))
    return Names(frozenset(binds | changed), surely, frozenset(now | changed), frozenset(later))


def _by_scope(source: str) -> tuple[set[str], set[str], set[str]]:
    top = symtable.symtable(source, "<cell>", "exec")
    binds, now, later = set[str](), set[str](), set[str]()

    def visit(scope: symtable.SymbolTable, called: bool) -> None:
        for symbol in scope.get_symbols():
            if scope is not top and not symbol.is_global():
                continue
            name = symbol.get_name()
            if symbol.is_assigned() or symbol.is_imported():
                binds.add(name)
            if symbol.is_referenced():
                (later if called else now).add(name)
        for inner in scope.get_children():
            comprehension = inner.get_name() in ("listcomp", "setcomp", "dictcomp", "genexpr")
            visit(inner, called or inner.get_type() == "function" and not comprehension)

    visit(top, False)
    return binds, now, later


def _by_word(tree: ast.AST) -> tuple[set[str], set[str]]:
    stored, loaded = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else stored).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            stored.add(node.name)
        elif isinstance(node, ast.alias):
            stored.add((node.asname or node.name).split(".")[0])
    return stored, loaded


def _changed(tree: ast.AST) -> set[str]:
    """Names of which a part is set: `model.weight.grad = ...`, `seen[0] += 1`."""
    found = set()
    for node in _outside_functions(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            inner: ast.expr = node
            while isinstance(inner, ast.Attribute | ast.Subscript):
                inner = inner.value
            if isinstance(inner, ast.Name):
                found.add(inner.id)
    return found


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those in the bodies of functions and classes."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _outside_functions(node)


def _bound(node: ast.stmt) -> list[str]:
    """The names that a statement defines without fail."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else []
    flat = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [target.id for target in flat if isinstance(target, ast.Name)]


def chosen(cells: Sequence[tuple[str, bool]], wanted: Collection[str]) -> list[bool]:
    """Whether to run each of the cells, given as (source, whether the course ships it as it stands).

    `wanted` are the names looked for afterwards: where no learner's cell defines one, a cell of the course may.
    """
    names = [names_of(source) for source, _ in cells]
    run = [not published for _, published in cells]
    theirs = [one for one, published in zip(names, run, strict=True) if published]
    if any(_DYNAMIC & (one.now | one.later) for one in theirs):
        return [True] * len(cells)
    left = set(wanted) - {name for one in theirs for name in one.binds}
    while True:
        before = list(run)
        later = left.union(*(one.later for one, runs in zip(names, run, strict=True) if runs))
        needed: set[str] = set()
        for place in reversed(range(len(cells))):
            one = names[place]
            run[place] = run[place] or not one.binds.isdisjoint(needed | later)
            if run[place]:
                needed = (needed - one.surely) | one.now
        if run == before:
            return run


def definition(source: str, name: str) -> str:
    """The text that defines `name` last in a cell: a function or class with its decorators, or an assignment."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    found: ast.stmt | None = None
    for node in _outside_functions(tree):
        if isinstance(node, ast.stmt) and name in _bound(node) and (found is None or node.lineno > found.lineno):
            found = node
    if found is None:
        return ""
    decorators = getattr(found, "decorator_list", [])
    first = min([found.lineno, *(decorator.lineno for decorator in decorators)])
    return "\n".join(source.splitlines()[first - 1 : found.end_lineno])
