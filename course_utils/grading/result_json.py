"""A result as JSON and back: the fields of the dataclasses, one for one. `result.schema.json` explains each of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from course_utils.grading.result import Result
from gradient_ledger.catalogue.entry import Misconception

FORMAT = 1
"""Grows when older readers would misunderstand what is written."""


def to_json(result: Result, run: str = "") -> str:
    """The text of a result's file: the same for equal results. `run` is the id of the run that it belongs to.

    What UTF-8 cannot hold (a name from a file system that is not in UTF-8) is escaped, so the text can always be
    encoded.
    """
    tree = _encoded(result)
    head = {"format": FORMAT, "run": run, "points": result.points, "max_points": result.max_points}
    text = json.dumps(head | tree, indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def from_json(text: str | bytes) -> tuple[Result, str]:
    """What `to_json` wrote: a result and the id of its run. Raises `ValueError`, saying where, for anything else."""
    try:
        tree = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(tree, dict) or tree.pop("format", None) != FORMAT:
        raise ValueError(f"not a result of format {FORMAT}")
    run = tree.pop("run", "")
    for derived in ("points", "max_points"):
        tree.pop(derived, None)
    if not isinstance(run, str):
        raise ValueError("its run is not a text")
    return _decoded(Result, tree, "result"), run


def _encoded(value: Any) -> Any:
    if isinstance(value, Misconception):  # most of its fields speak of rules of the ledger, and are seldom set
        kept = [name for name, _, default in _fields(Misconception) if not default or getattr(value, name) != default()]
        return {name: _encoded(getattr(value, name)) for name in kept}
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _encoded(getattr(value, name)) for name, _, _ in _fields(type(value))}
    if isinstance(value, tuple | list):
        return [_encoded(item) for item in value]
    return value


@cache
def _fields(kind: type) -> list[tuple[str, Any, Callable[[], Any] | None]]:
    """(name, type, what makes the default, None where there is none) of each field of a dataclass."""
    hints = get_type_hints(kind)
    found: list[tuple[str, Any, Callable[[], Any] | None]] = []
    for field in fields(kind):
        made: Callable[[], Any] | None = None
        if field.default is not MISSING:
            made = partial(_same, field.default)
        elif field.default_factory is not MISSING:
            made = field.default_factory
        found.append((field.name, hints[field.name], made))
    return found


def _same(value: Any) -> Any:
    return value


def _decoded(kind: Any, tree: Any, where: str) -> Any:
    """What `_encoded` made of a value of type `kind`, as that value; `where` says of what."""
    origin = get_origin(kind)
    if is_dataclass(kind) and isinstance(tree, dict):
        known = _fields(kind)  # type: ignore[arg-type]
        missing = [name for name, _, default in known if name not in tree and default is None]
        unknown = sorted(tree.keys() - {name for name, _, _ in known})
        if missing or unknown:
            raise ValueError(f"{where} lacks {', '.join(missing)}" if missing else f"{where} has {', '.join(unknown)}")
        given = {name: _decoded(hint, tree[name], f"{where}.{name}") for name, hint, _ in known if name in tree}
        return kind(**given)  # type: ignore[operator]
    if origin is tuple and isinstance(tree, list):
        (item, _) = get_args(kind)
        return tuple(_decoded(item, one, f"{where}[{number}]") for number, one in enumerate(tree))
    if origin is Literal and tree in get_args(kind):
        return tree
    if origin in (Union, UnionType):
        if tree is None and NoneType in get_args(kind):
            return None
        (other,) = (one for one in get_args(kind) if one is not NoneType)
        return _decoded(other, tree, where)
    if kind in (str, int, bool) and type(tree) is kind:
        return tree
    raise ValueError(f"{where} is not {getattr(kind, '__name__', kind)}")
