"""Compare two trees of plain data leaf by leaf, and show in numbers how they differ."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch

from course_utils.plain import Opaque, Plain, TensorData

TOLERANCE = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 1e-2, torch.bfloat16: 3e-2}
"""Largest difference allowed by dtype, relative to the largest entry of the expected tensor."""
RESULT = "the result"
"""What the returned value is called on a card."""

Kind = Literal["none", "type", "large", "missing", "extra", "shape", "dtype", "device", "graph", "not finite", "value"]


@dataclass(frozen=True)
class Missing:
    """The leaf of a place where one of two trees has nothing."""


@dataclass(frozen=True)
class Container:
    """The leaf of a dict or list itself: what it holds stands in leaves of its own."""

    kind: Literal["dict", "list"]
    keys: tuple[str, ...]


MISSING = Missing()
Leaf = Any
Leaves = Mapping[str, Leaf]


@dataclass(frozen=True, eq=False)
class Difference:
    """One place where two trees differ."""

    where: str
    kind: Kind
    expected: Leaf
    given: Leaf


def flatten(tree: Plain, where: str) -> dict[str, Leaf]:
    """{place: leaf} of a tree, containers included; `where` is what its root is called."""
    leaves: dict[str, Leaf] = {}
    _flatten(tree, where, leaves)
    return leaves


def _flatten(tree: Plain, where: str, leaves: dict[str, Leaf]) -> None:
    if isinstance(tree, dict):
        leaves[where] = Container("dict", tuple(tree))
        for key, value in tree.items():
            _flatten(value, f"{where}[{key!r}]", leaves)
    elif isinstance(tree, list | tuple):
        leaves[where] = Container("list", tuple(map(str, range(len(tree)))))
        for index, value in enumerate(tree):
            _flatten(value, f"{where}[{index}]", leaves)
    else:
        leaves[where] = tree


def differences(expected: Leaves, given: Leaves, tolerance: float | None = None) -> list[Difference]:
    """Every place where the numbers differ, in the order of `expected`, what is too many last."""
    found = []
    for where in (*expected, *(place for place in given if place not in expected)):
        a, b = expected.get(where, MISSING), given.get(where, MISSING)
        kind = difference_kind(a, b, tolerance)
        if kind is not None:
            found.append(Difference(where, kind, a, b))
    return found


def attribute_differences(expected: Leaves, given: Leaves, device: str) -> list[Difference]:
    """Every place where dtype, device or graph of a tensor differ. `device` is where a result belongs."""
    found = []
    for where, a in expected.items():
        b = given.get(where, MISSING)
        if not isinstance(a, TensorData) or not isinstance(b, TensorData):
            continue
        if a.value.dtype != b.value.dtype:
            found.append(Difference(where, "dtype", a, b))
        elif b.device != device:
            found.append(Difference(where, "device", a, b))
        elif b.has_graph and where.startswith(RESULT):
            found.append(Difference(where, "graph", a, b))
    return found


def difference_kind(expected: Leaf, given: Leaf, tolerance: float | None = None) -> Kind | None:
    """How two leaves differ in their numbers; None when they agree. Dtypes and devices may differ."""
    if isinstance(given, Opaque) and given.too_large:
        return None if isinstance(expected, Opaque) and expected.too_large else "large"
    if isinstance(expected, TensorData) and isinstance(given, TensorData):
        return _tensor_kind(expected.value, given.value, tolerance)
    if isinstance(expected, Missing) or isinstance(given, Missing):
        if type(expected) is type(given):
            return None
        return "extra" if isinstance(expected, Missing) else "missing"
    if isinstance(expected, Container) and isinstance(given, Container):
        return None if expected.kind == given.kind else "type"
    if expected is None or given is None:
        return None if expected is given else "none" if given is None else "type"
    if _is_number(expected) and _is_number(given):
        close = math.isclose(expected, given, rel_tol=tolerance or 1e-6, abs_tol=1e-9) or expected == given
        return None if close else "value" if math.isfinite(given) else "not finite"
    if isinstance(expected, Opaque) and isinstance(given, Opaque):
        return None if expected.type == given.type else "type"
    if type(expected) is type(given):
        return None if expected == given else "value"
    return "type"


def _tensor_kind(a: torch.Tensor, b: torch.Tensor, tolerance: float | None) -> Kind | None:
    if a.shape != b.shape:
        return "shape"
    by_dtype = max(TOLERANCE.get(a.dtype, 0.0), TOLERANCE.get(b.dtype, 0.0))
    # A float32 answer to a float64 question is as exact as float32 can be: its fault is the dtype.
    limit = max(tolerance or 0.0, by_dtype) if a.dtype != b.dtype else tolerance or by_dtype
    if a.dtype == b.dtype and torch.equal(a, b):
        return None
    a, b = wide(a), wide(b)
    finite_a, finite_b = torch.isfinite(a), torch.isfinite(b)
    if not bool(finite_b.all()) or not bool(finite_a.all()):
        if not bool(finite_a.all()) and bool(torch.all((a == b) | (a.isnan() & b.isnan()))):
            return None
        return "value" if bool(finite_b.all()) else "not finite"
    scale = float(a.abs().max()) if a.numel() else 0.0
    error = float((a - b).abs().max()) if a.numel() else 0.0
    return "value" if error > limit * (scale or 1.0) else None


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """As float64, or complex128: comparing must cost no digits."""
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# ------------------------------------------------------------------ lines to show


def shown(found: list[Difference], expected: Leaves, given: Leaves) -> tuple[str, ...]:
    """Lines about the first of the differences of one case, and where the others are."""
    first = found[0]
    if first.kind in ("missing", "extra"):
        return _entries_shown(first, expected, given)
    lines = _pair_shown(first)
    odd = {one.where: _parent(one) for one in found if one.kind in ("missing", "extra")}
    # First, since how many entries there are says more than what stands in one of them.
    others = [f"the entries of {_called(where)}" for where in expected if where in odd.values() and where not in odd]
    others += [_called(one.where) for one in found[1:] if one.kind not in ("missing", "extra")]
    if others:
        names = ", ".join(others[:4]) + (f" and {len(others) - 4} more" if len(others) > 4 else "")
        lines.append(f"other than expected, too: {names}")
    return tuple(lines)


def _parent(one: Difference) -> str:
    return one.where.rpartition("[")[0]


def _entries_shown(one: Difference, expected: Leaves, given: Leaves) -> tuple[str, ...]:
    parent = _parent(one)
    wanted, got = expected.get(parent), given.get(parent)
    if not isinstance(wanted, Container) or not isinstance(got, Container):
        return (f"{one.where}: expected {kind_of(one.expected)}, given {kind_of(one.given)}",)
    if wanted.kind == "list":
        count = f"{len(wanted.keys)} {'entry' if len(wanted.keys) == 1 else 'entries'}"
        return (f"{parent}: expected {count}, given {len(got.keys)}",)
    names = [", ".join(map(repr, one.keys)) or "none" for one in (wanted, got)]
    return _table(f"{parent}, its names", *names)


def _called(where: str) -> str:
    """A place as a card names it: `'bias': .grad after the call`, where the data has it the other way round."""
    return re.sub(r"^([^\[]+ after the call)\[('[^\[]*')\]$", r"\2: \1", where)


def _pair_shown(one: Difference) -> list[str]:
    a, b, where = one.expected, one.given, _called(one.where)
    if isinstance(a, TensorData) and isinstance(b, TensorData):
        if one.kind == "shape":
            return list(
                _table(where, f"shape {tuple(a.value.shape)}", f"shape {tuple(b.value.shape)}: {_row(b.value)}")
            )
        if one.kind == "dtype":
            return list(_table(where, str(a.value.dtype), str(b.value.dtype)))
        if one.kind == "device":
            return list(_table(where, f"on {a.device}", f"on {b.device}"))
        if one.kind == "graph":
            return [f"{where} has a grad_fn: it carries a graph"]
        return _tensors_shown(where, a.value, b.value, one.kind)
    if one.kind == "large":
        return [f"{where} is {b.text}"]
    return list(_table(where, kind_of(a), kind_of(b)))


def _tensors_shown(where: str, a: torch.Tensor, b: torch.Tensor, kind: Kind, most: int = 6) -> list[str]:
    wide_a, wide_b = wide(a).flatten(), wide(b).flatten()
    wrong = (wide_a - wide_b).abs() > TOLERANCE.get(a.dtype, 1e-9) * (float(wide_a.abs().max()) or 1.0)
    wrong |= ~torch.isfinite(wide_b)
    at = int(wrong.nonzero()[0]) if bool(wrong.any()) else 0
    start = 0 if at < most else at
    cut = slice(start, start + most)
    rows = [[_number(value) for value in row[cut].tolist()] for row in (wide_a, wide_b)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    texts = ["  ".join(entry.rjust(width) for entry, width in zip(row, widths, strict=True)) for row in rows]
    more = "  …" if len(wide_a) > start + most else ""
    label = where if a.ndim == 0 else f"{where}, shape {tuple(a.shape)}"
    label += f", from entry {start}" if start else ""
    lines = list(_table(label, texts[0] + more, texts[1] + more))
    if kind == "not finite":
        lines.append(f"{int((~torch.isfinite(wide_b)).sum())} of {len(wide_b)} entries are NaN or infinite")
    elif not wide_a.is_complex() and not wide_b.is_complex():
        lines.append(_in_words(wide_a, wide_b, int(wrong.sum())))
    return lines


def _in_words(a: torch.Tensor, b: torch.Tensor, wrong: int) -> str:
    norm_a, norm_b = float(a.norm()), float(b.norm())
    if not norm_a or not norm_b:
        return "all that was given is zero" if norm_a else "all that was expected is zero"
    cosine, ratio = float(a @ b) / (norm_a * norm_b), norm_b / norm_a
    if len(a) > 1 and 1 - abs(cosine) < 1e-9 and abs(ratio - 1) > 1e-3:
        return f"{'Same' if cosine > 0 else 'Opposite'} direction, {nice(ratio)} times as long."
    if len(a) > 1 and 1 + cosine < 1e-9 and abs(ratio - 1) < 1e-6:
        return "Opposite direction, same length."
    if len(a) == 1 and abs(ratio - 1) > 1e-3:
        return f"{nice(float(b[0] / a[0]))} times what is expected."
    return (
        f"{wrong} of {len(a)} {'entries' if len(a) > 1 else 'entry'} differ, by up to {float((a - b).abs().max()):.3g}."
    )


def _table(label: str, expected: str, given: str) -> tuple[str, str, str]:
    return label, f"  expected  {expected}", f"  given     {given}"


def _row(tensor: torch.Tensor, most: int = 6) -> str:
    flat = [_number(value) for value in wide(tensor).flatten()[:most].tolist()]
    return ", ".join(flat) + (", …" if tensor.numel() > most else "")


def _number(value: Any) -> str:
    return f"{value + 0.0:.4g}"  # no minus before a zero


def nice(value: float) -> str:
    """A number as one would say it: 2, 0.5, 1/3, 0.1234."""
    if not math.isfinite(value):
        return str(value)
    if abs(value - round(value)) < 1e-6 * max(1.0, abs(value)):
        return str(round(value))
    inverse = 1 / value if value else 0.0
    if value and abs(inverse - round(inverse)) < 1e-6 * abs(inverse) and 2 <= abs(inverse) <= 1000:
        return f"{'-' if inverse < 0 else ''}1/{abs(round(inverse))}"
    return f"{value:.4g}"


def kind_of(value: Leaf) -> str:
    """What sort of leaf this is, in words a learner would use."""
    if isinstance(value, TensorData):
        if value.value.ndim == 0:
            return f"a 0-d tensor, {_row(value.value)}"
        return f"a tensor of shape {tuple(value.value.shape)}: {_row(value.value)}"
    if isinstance(value, Opaque):
        return f"{value.text} (a {value.type})" if value.type else value.text
    if isinstance(value, Container):
        return f"{'a dict' if value.kind == 'dict' else 'a list or tuple'} of {len(value.keys)}"
    if isinstance(value, Missing):
        return "nothing"
    return "None" if value is None else f"{value!r} (a {type(value).__name__})"
