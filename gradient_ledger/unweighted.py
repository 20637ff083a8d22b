"""Weights of losses that a text declares and nothing reads, and the sum to which their losses are added as they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gradient_ledger import source
from gradient_ledger.events import Place, UnreadWeight

_WEIGHT = re.compile(
    r"(?:lambda|lam|lmbda|weight|coeff?)_(?P<of>[a-z]\w*)|(?P<its>[a-z]\w*?)_(?:lambda|lam|lmbda|weight|coeff?)(?:_loss)?",
    re.IGNORECASE,
)
"""Names of weights, and of what they weigh."""
_LOSS = re.compile(r"loss|cost|objective|penalty|recon|nll|elbo|(?<![a-z])([mb]?se|b?ce|kld?)(?![a-z])", re.IGNORECASE)
"""Words for what is added here, for the sum, or for the function that returns it."""
LEAST = 3
"""Letters by which an abbreviation is known."""


class _Declared(NamedTuple):
    """A weight that a text names, with what it weighs."""

    name: str
    of: tuple[str, ...]
    place: Place


def found(files: Iterable[str]) -> UnreadWeight | None:
    """The first weight of a loss that nothing reads, where a sum of losses holds that loss as it is."""
    files = tuple(files)
    declared = [one for file in files for one in _declared(file)]
    if not declared:
        return None
    read = {name for file in files for name in _read(file)}
    for one in declared:
        for place, summand in _bare(files) if one.name not in read else ():
            if _is_of(one.of, summand):
                return UnreadWeight(place, one.name, one.place, summand)
    return None


def _declared(file: str) -> Iterator[_Declared]:
    """The weights that options, fields of classes and constants declare, but those of 0 and 1."""
    tree = source.parsed(file)
    for one in ast.walk(tree) if tree is not None else ():
        name, value = _option(one) or _field(one)
        match = _WEIGHT.fullmatch(name)
        number = value.value if isinstance(value, ast.Constant) else None
        if match is not None and value is not None and isinstance(number, int | float) and number not in (0, 1):
            yield _Declared(name, _words(match["of"] or match["its"]), Place(file, value.lineno))


def _option(node: ast.AST) -> tuple[str, ast.expr | None] | None:
    """The name and the default of a command's option."""
    if not isinstance(node, ast.Call) or source.last_name(node.func) != "add_argument" or not node.args:
        return None
    given = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    long = next((one for one in given if one.startswith("--")), "")
    default = next((word.value for word in node.keywords if word.arg == "default"), None)
    return long.lstrip("-").replace("-", "_"), default


def _field(node: ast.AST) -> tuple[str, ast.expr | None]:
    """The name and the value of a constant, of a field of a class, or of an attribute."""
    if isinstance(node, ast.AnnAssign):
        return source.last_name(node.target), node.value
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return source.last_name(node.targets[0]), node.value
    return "", None


def _read(file: str) -> Iterator[str]:
    """The names and attributes that a text reads, its keywords, and the strings that may be keys."""
    tree = source.parsed(file)
    for one in ast.walk(tree) if tree is not None else ():
        if isinstance(one, ast.Name | ast.Attribute) and isinstance(one.ctx, ast.Load):
            yield source.last_name(one)
        elif isinstance(one, ast.keyword) and one.arg is not None:
            yield one.arg
        elif isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.isidentifier():
            yield one.value


def _bare(files: Iterable[str]) -> Iterator[tuple[Place, str]]:
    """The summands of sums of losses that stand there by their name, or by the name of what computes them."""
    for file in files:
        for within in source.functions(file):
            called = getattr(within, "name", "<module>")
            for one in source.own(within):
                for summand in _summands(one, called):
                    name = source.last_name(summand.func if isinstance(summand, ast.Call) else summand)
                    if name:
                        yield Place(file, summand.lineno, called), name


def _summands(node: ast.AST, called: str) -> list[ast.expr]:
    """Of a statement that adds losses, what it adds; nothing of others. `called` is the function that it stands in."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _LOSS.search(ast.unparse(node.target)):
        return source.terms(node.value)
    if isinstance(node, ast.Assign | ast.Return) and isinstance(node.value, ast.BinOp):
        parts = source.terms(node.value)
        said = " ".join([called, *map(ast.unparse, [*getattr(node, "targets", ()), *parts])])
        return parts if len(parts) > 1 and _LOSS.search(said) else []
    return []


def _words(name: str) -> tuple[str, ...]:
    return tuple(word for word in name.lower().split("_") if word and word != "loss")


def _is_of(of: tuple[str, ...], summand: str) -> bool:
    """Whether a summand bears the name of what is weighed: each of its words, or an abbreviation of it."""
    words = _words(summand)
    return bool(of) and all(any(_alike(one, word) for word in words) for one in of)


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= LEAST and long.startswith(short))
