"""Compare two trees of plain data, and say in numbers how they differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch

from course_utils.oracles.oracle import OneOf
from course_utils.plain import Opaque, Plain, TensorData, to_plain

TOLERANCE = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 1e-2, torch.bfloat16: 3e-2}
"""Largest difference allowed by dtype, relative to the largest entry of the expected tensor."""

Kind = Literal["none", "type", "large", "missing", "extra", "shape", "dtype", "device", "not finite", "value"]


@dataclass(frozen=True)
class Difference:
    """The first place where two trees differ: `where` it is, of what `kind`, and lines to show."""

    where: str
    kind: Kind
    lines: tuple[str, ...]


def compare(
    expected: object, got: Plain, *, device: str = "cpu", tolerance: float | None = None, numbers_only: bool = False
) -> Difference | None:
    """The first difference of `got` from `expected`, or None.

    `expected` may hold live tensors and `OneOf`. With `numbers_only` dtypes and devices may differ,
    as they may between a fingerprint and the attempt that has the same mistake. Numbers come first: a
    difference of kind `"dtype"` or `"device"` means that all numbers agree.
    """
    found = _compare(expected, got, "the result", _Rules(device, tolerance, True))
    if found is None and not numbers_only:
        found = _compare(expected, got, "the result", _Rules(device, tolerance, False))
    return found


@dataclass(frozen=True)
class _Rules:
    device: str
    tolerance: float | None
    numbers_only: bool


def _compare(expected: object, got: Plain, where: str, rules: _Rules) -> Difference | None:
    if isinstance(expected, OneOf):
        found = [_compare(option, got, where, rules) for option in expected.options]
        return None if None in found else found[-1]
    if isinstance(expected, tuple):
        expected = list(expected)
    if isinstance(expected, dict) and isinstance(got, dict):
        return _compare_dicts(expected, got, where, rules)
    if isinstance(expected, list) and isinstance(got, list):
        return _compare_lists(expected, got, where, rules)
    if isinstance(expected, torch.Tensor):
        expected = to_plain(expected)
    if isinstance(got, Opaque) and got.too_large:
        return Difference(where, "large", (f"{where} is {got.text}",))
    if isinstance(expected, TensorData) and isinstance(got, TensorData):
        return _compare_tensors(expected, got, where, rules)
    if expected is None and got is None:
        return None
    if _is_number(expected) and _is_number(got):
        return _compare_numbers(float(expected), float(got), where, rules)  # type: ignore[arg-type]
    if type(expected) is type(got) and not isinstance(expected, list | dict):
        same = expected == got
        return None if same else Difference(where, "value", (f"{where}: expected {expected!r}", f"got {got!r}"))
    if got is None:
        return Difference(where, "none", (f"{where}: expected {kind_of(expected)}, got None",))
    return Difference(where, "type", (f"{where}: expected {kind_of(expected)}, got {kind_of(got)}",))


def _compare_dicts(expected: dict[str, object], got: dict[str, Plain], where: str, rules: _Rules) -> Difference | None:
    missing, extra = [k for k in expected if k not in got], [k for k in got if k not in expected]
    names = (f"names expected: {_names(list(expected))}", f"names given: {_names(list(got))}")
    if missing:
        return Difference(where, "missing", (f"{where} has no entry {_names(missing)}", *names))
    if extra:
        return Difference(where, "extra", (f"{where} has an entry {_names(extra)} too many", *names))
    inside = (_compare(value, got[key], f"{where}[{key!r}]", rules) for key, value in expected.items())
    return next((found for found in inside if found is not None), None)


def _compare_lists(expected: list[object], got: list[Plain], where: str, rules: _Rules) -> Difference | None:
    if len(expected) != len(got):
        kind: Kind = "missing" if len(got) < len(expected) else "extra"
        return Difference(where, kind, (f"{where}: expected {len(expected)} entries, got {len(got)}",))
    inside = (_compare(e, g, f"{where}[{i}]", rules) for i, (e, g) in enumerate(zip(expected, got, strict=True)))
    return next((found for found in inside if found is not None), None)


def _compare_numbers(expected: float, got: float, where: str, rules: _Rules) -> Difference | None:
    if math.isclose(expected, got, rel_tol=rules.tolerance or 1e-6, abs_tol=1e-9) or expected == got:
        return None
    lines = [f"{where}: expected {expected:.6g}", f"got {got:.6g}"]
    if expected and math.isfinite(got):
        lines.append(f"ratio {got / expected:.6f}")
    return Difference(where, "value" if math.isfinite(got) else "not finite", tuple(lines))


def _compare_tensors(expected: TensorData, got: TensorData, where: str, rules: _Rules) -> Difference | None:
    a, b = expected.value, got.value
    if a.shape != b.shape:
        return Difference(where, "shape", (f"{where}: expected shape {tuple(a.shape)}, got {tuple(b.shape)}",))
    by_dtype = max(TOLERANCE.get(a.dtype, 0.0), TOLERANCE.get(b.dtype, 0.0))
    # A float32 answer to a float64 question is as exact as float32 can be: its fault is the dtype.
    limit = max(rules.tolerance or 0.0, by_dtype) if a.dtype != b.dtype else rules.tolerance or by_dtype
    wide_a, wide_b = _wide(a), _wide(b)
    if not bool(torch.isfinite(wide_b).all()) and bool(torch.isfinite(wide_a).all()):
        count = int((~torch.isfinite(wide_b)).sum())
        return Difference(where, "not finite", (f"{where}: {count} of {b.numel()} entries are NaN or infinite",))
    scale = float(wide_a.abs().max()) if a.numel() else 0.0
    error = float((wide_a - wide_b).abs().max()) if a.numel() else 0.0
    if error > limit * (scale or 1.0):
        return Difference(where, "value", _numbers(wide_a, wide_b, where))
    if rules.numbers_only:
        return None
    if a.dtype != b.dtype:
        return Difference(where, "dtype", (f"{where}: expected {a.dtype}, got {b.dtype}",))
    if got.device != rules.device:
        return Difference(where, "device", (f"{where}: expected on {rules.device}, got on {got.device}",))
    return None


def _numbers(expected: torch.Tensor, got: torch.Tensor, where: str) -> tuple[str, ...]:
    lines = [f"{where}: expected {_show(expected)}", f"got {_show(got)}"]
    norm_e, norm_g = float(expected.norm()), float(got.norm())
    if norm_e and norm_g:
        cosine = float((expected * got).sum()) / (norm_e * norm_g)
        lines.append(f"norm ratio {norm_g / norm_e:.6f}, cosine {cosine:.6f}")
    else:
        lines.append(f"norm expected {norm_e:.4g}, got {norm_g:.4g}")
    return tuple(lines)


def _show(tensor: torch.Tensor, most: int = 6) -> str:
    flat = [f"{value:.4g}" for value in tensor.flatten()[:most].tolist()]
    if tensor.ndim == 0:
        return flat[0]
    more = ", …" if tensor.numel() > most else ""
    shape = f" (shape {tuple(tensor.shape)})" if tensor.ndim > 1 or more else ""
    return f"[{', '.join(flat)}{more}]{shape}"


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _names(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return (shown + (", …" if len(names) > 8 else "")) or "none"


def kind_of(value: object) -> str:
    """What sort of plain value this is, in words a learner would use."""
    if isinstance(value, TensorData | torch.Tensor):
        return "a tensor"
    if isinstance(value, Opaque):
        return f"{value.text} (a {value.type})"
    if value is None:
        return "None"
    if isinstance(value, dict):
        return "a dict"
    if isinstance(value, list | tuple):
        return "a list"
    return f"{value!r} (a {type(value).__name__})"
