"""Gradients that cancel exactly, as the graph of a loss tells: a tensor is added and taken away again. And sums of that
kind that let no gradient through, which the text alone tells."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from torch import Tensor

from gradient_ledger import compared, graph, source
from gradient_ledger.events import Place

ROUNDED = frozenset(f"{name}Backward0" for name in "Round Floor Ceil Trunc Sign".split())
"""Operations whose gradient is zero."""
_STEPS = re.compile(r"round|floor|ceil|trunc|sign|[<>]|argmax|one_hot", re.IGNORECASE)
"""Words for the same in a text, and for what has no graph."""
FEW_WEIGHTS = 2
"""A constant and a mask have no more values than these; what weighs samples has."""
MOST_VALUES = 64


def undone(nodes: Iterable[Any]) -> list[Any]:
    """The nodes n of `n + (m - n)`, where m is not made of n: no gradient passes there, and m gets it all."""
    found = []
    for one in nodes:
        for plain, other in _sums(one):
            if plain[0] is not None and other[1] == plain and not _is_made_of(other[0][0], plain[0]):
                found.append(plain[0])
    return found


def turned(parts: compared.Compared, nodes: Iterable[Any], kind: str = "AddBackward0") -> list[Any]:
    """The rows of a table that a constant is added to, where the loss also compares them with what they stand for: a
    straight-through whose two sides have changed places leaves its gradient with the table."""
    pairs = [
        side for one in parts.found if one.is_difference for side in ((one.left, one.right), (one.right, one.left))
    ]
    pairs += [(half.side, None) for half in parts.halves]
    rows = {_below(one): other for one, other in pairs if compared.is_row(one)}
    nodes = list(nodes)
    squared = {inner for one in nodes if type(one).__name__ in _MEASURES for inner, _ in one.next_functions}
    sums = (one for one in nodes if type(one).__name__ == kind and _is_plain(one) and one not in squared)
    operands = ([inner for inner, _ in one.next_functions] for one in sums)
    added = [pair[0] or pair[1] for pair in operands if len(pair) == 2 and pair.count(None) == 1]
    if kind == "SubBackward0":
        added = [one for one in added if compared.is_row(one)]
    found = [one for one in added if _below(one) in rows]
    return [one for one in found if not _is_made_of(rows[_below(one)], one)]


def _below(node: Any) -> Any:
    """What lies under a change of shape."""
    while type(node).__name__ in compared.TURNED and node.next_functions[0][0] is not None:
        node = node.next_functions[0][0]
    return node


_TURNED = {
    "AddBackward0": r"\b(\w+) \+ \(\w+ - \1\)\.detach\(\)",
    "SubBackward0": r"\b(\w+) - \(\1 - \w+\)\.detach\(\)",
}
"""As `ast.unparse` writes a straight-through, by the operation that it leaves in the graph."""
_MEASURES = ("PowBackward0", "AbsBackward0", "MulBackward0", "LinalgVectorNormBackward0")
"""What is made of a difference that a loss compares by."""


def turned_at(files: Iterable[str], kind: str = "AddBackward0") -> Place | None:
    """The one line of all that is written as a straight-through."""
    found = []
    for file in files:
        for within in source.functions(file):
            lines = {
                one.lineno
                for one in source.own(within)
                if isinstance(one, ast.BinOp) and re.fullmatch(_TURNED[kind], ast.unparse(one))
            }
            found += [Place(file, line) for line in lines]
    return found[0] if len(found) == 1 else None


def _sums(node: Any) -> Iterator[tuple[Any, Any]]:
    """The operands of `n + (m - k)` and `n - (k - m)`, as `n, (m, k)`."""
    kind, edges = type(node).__name__, node.next_functions
    if kind not in ("AddBackward0", "SubBackward0") or len(edges) != 2 or not _is_plain(node):
        return
    for plain, inner in (edges, edges[::-1]) if kind == "AddBackward0" else (edges,):
        if type(inner[0]).__name__ == "SubBackward0" and _is_plain(inner[0]):
            first, last = inner[0].next_functions
            yield plain, (first, last) if kind == "AddBackward0" else (last, first)


def _is_plain(node: Any) -> bool:
    return bool(graph.saved(node, "alpha") == 1)


def _is_made_of(node: Any, wanted: Any) -> bool:
    """Whether a gradient flows from one node to another."""
    waiting, seen = [node], {node}
    while waiting:
        one = waiting.pop()
        if one is wanted:
            return True
        if one is not None and type(one).__name__ not in ROUNDED:
            new = {inner for inner, _ in one.next_functions} - seen
            seen |= new
            waiting += new
    return False


def written_at(files: Iterable[str]) -> Place | None:
    """The first line that adds what it takes away, as in `z + (q - z)`; the difference may have a name of its own,
    where that is read nowhere else."""
    for file in files:
        for within in source.functions(file):
            nodes = source.own(within)
            named = _read_once(nodes)
            for one in nodes:
                if isinstance(one, ast.BinOp):
                    if _undoes(list(_terms(one, named))):
                        return Place(file, one.lineno)
    return None


def detached_whole(files: Iterable[str]) -> tuple[Place, ...]:
    """Lines that take a straight-through out of its graph as a whole, as in `(z + (q - z)).detach()`: that is a long
    word for `q.detach()`."""
    return tuple(place for file in dict.fromkeys(files) for place in _detached_in(file))


@lru_cache(maxsize=1024)
def _detached_in(file: str) -> tuple[Place, ...]:
    inner = (
        one.func.value
        for within in (source.functions(file) if any(").detach()" in line for line in linecache.getlines(file)) else ())
        for one in source.own(within)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "detach"
    )
    return tuple(dict.fromkeys(Place(file, one.lineno) for one in inner if _is_straight_through(one)))


_AROUND = re.compile(r"residual|identity|shortcut|skip", re.IGNORECASE)
"""Names of what goes around a layer, to be added behind it."""
_CUT = re.compile(r"(.+?)((\.clone\(\)|\.contiguous\(\))*\.(detach\(\)|data\b))(\.clone\(\))?")


def residuals_cut(files: Iterable[str]) -> tuple[Place, ...]:
    """Lines that give a name such as `residual` what the function was given, detached, where the function adds that to
    something further down and does nothing else with it: what is taken away bit by bit is another residual."""
    return tuple(place for file in dict.fromkeys(files) for place in _residuals_in(file))


@lru_cache(maxsize=1024)
def _residuals_in(file: str) -> tuple[Place, ...]:
    found: list[Place] = []
    for within in source.functions(file):
        if not isinstance(within, ast.FunctionDef) or within.name != "forward":
            continue
        nodes = [*source.own(within)]
        given = {each.arg for each in within.args.args}
        for one in nodes:
            target = one.targets[0] if isinstance(one, ast.Assign) else None
            cut = _CUT.fullmatch(ast.unparse(one.value)) if isinstance(one, ast.Assign) else None
            if isinstance(target, ast.Name) and _AROUND.search(target.id) and cut and cut[1] in given:
                if _is_only_added(nodes, target.id):
                    found.append(Place(file, one.lineno, within.name))
    return tuple(found)


def _is_only_added(nodes: list[ast.AST], name: str) -> bool:
    """Whether what has this name is added to something, and read nowhere else."""
    reads = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    added = [each for n in nodes for each in _added(n)]
    return bool(reads) and all(each in added for each in reads)


def _added(node: ast.AST) -> list[ast.expr]:
    """What a node adds to something."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [node.left, node.right]
    return [node.value] if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) else []


def _is_straight_through(one: ast.expr) -> bool:
    """Whether a text is `z + (q - z)`, `z - (z - q)` or `z + q - z`: with a factor before the difference it would be an
    average."""
    terms = [(sign, ast.unparse(term)) for sign, term in _terms(one, {})]
    return len(terms) == 3 and terms[0][0] > 0 and (-1, terms[0][1]) in terms[1:]


def _undoes(terms: list[tuple[int, ast.expr]]) -> bool:
    """Whether a sum adds what it takes away, and is left with what is not made of that by its text."""
    texts = [(sign, ast.unparse(term)) for sign, term in terms]
    for plain in {text for sign, text in texts if (-sign, text) in texts}:
        rest = [text for _, text in texts if text != plain]
        mentions = re.compile(rf"(?<!\w){re.escape(plain)}(?!\w)")
        if rest and not any(mentions.search(text) and not _STEPS.search(text) for text in rest):
            return True
    return False


def _terms(node: ast.expr, named: dict[str, ast.BinOp], sign: int = 1) -> Iterator[tuple[int, ast.expr]]:
    """The summands of an expression, each with its sign."""
    inner: ast.expr = named.get(node.id, node) if isinstance(node, ast.Name) else node
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, (ast.Add, ast.Sub)):
        yield from _terms(inner.left, named, sign)
        yield from _terms(inner.right, named, sign if isinstance(inner.op, ast.Add) else -sign)
    else:
        yield sign, node


def _read_once(nodes: Iterable[Any]) -> dict[str, ast.BinOp]:
    """The differences of a function that have a name which is bound once and read once, by that name."""
    names = [one for one in nodes if isinstance(one, ast.Name)]
    found = {}
    for one in nodes:
        target = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
        if not isinstance(target, ast.Name) or not isinstance(one.value, ast.BinOp):
            continue
        uses = [each.ctx for each in names if each.id == target.id]
        if isinstance(one.value.op, ast.Sub) and sum(isinstance(use, ast.Load) for use in uses) == 1 and len(uses) == 2:
            found[target.id] = one.value
    return found


class Score(NamedTuple):
    """Samples that move with the mean of the distribution whose log-probability they are weighed by."""

    sample: Any
    """The node of one of them."""
    means: list[Any]


def score(node: Any, nodes: Collection[Any]) -> Score | None:
    """The samples `mean + noise * deviation` that a loss reaches through nothing but their distance to that mean,
    weighed by more than a constant: the gradient of the mean is then exactly zero."""
    distances = {one: made for one in nodes if (made := _distance(one)) is not None}
    if not distances:
        return None
    samples = {sample for sample, _ in distances.values()}
    others = {inner for one in nodes if one not in distances for inner, _ in one.next_functions}
    alone = {one: pair for one, pair in distances.items() if pair[0] in samples - others}
    if not alone or len(_weights(node, alone)) <= FEW_WEIGHTS:
        return None
    return Score(next(iter(alone.values()))[0], [mean for _, mean in alone.values()])


def _distance(node: Any) -> tuple[Any, Any] | None:
    """The sample and the mean, where a node is the one minus the other."""
    if type(node).__name__ != "SubBackward0" or len(node.next_functions) != 2:
        return None
    sample, mean = (_unexpanded(inner) for inner, _ in node.next_functions)
    if type(sample).__name__ != "AddBackward0" or mean is None:
        return None
    operands = [_unexpanded(inner) for inner, _ in sample.next_functions]
    noise = [one for one in operands if one is not mean]
    drawn = len(noise) == 1 and (noise[0] is None or None in [inner for inner, _ in noise[0].next_functions])
    return (sample, mean) if drawn and (noise[0] is None or type(noise[0]).__name__ == "MulBackward0") else None


def _unexpanded(node: Any) -> Any:
    return node.next_functions[0][0] if type(node).__name__ == "ExpandBackward0" else node


def _weights(node: Any, distances: Collection[Any]) -> set[float]:
    """The constants by which a loss multiplies what is made of these distances."""
    found: set[float] = set()
    for product in graph.by_entry(node):
        if type(product).__name__ == "MulBackward0":
            for name in ("other", "self"):
                value = graph.saved(product, name)
                if isinstance(value, Tensor) and not value.requires_grad and len(found) <= FEW_WEIGHTS:
                    if any(one in distances for one in graph.by_entry(product)):
                        found.update(value.flatten()[:MOST_VALUES].tolist())
    return found
