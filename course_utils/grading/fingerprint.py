"""What a wrong answer does, as a short id: answers with the same one are a cluster."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from typing import Any

import torch

from course_utils.checks.diagnose import Run
from course_utils.checks.difference import TOLERANCE, Container, wide
from course_utils.checks.judge.left import run_of, skeleton
from course_utils.checks.originals import Names
from course_utils.exercise import Case, Evidence, Exercise
from course_utils.plain import Opaque, TensorData

_FINEST, _COARSEST = 2.0**-8, 1.0
"""Steps to which numbers are rounded. They are all of the order of one."""
_MARGIN = 64.0
"""By how much a step is wider than what may differ by rounding: so seldom does a number fall to the other side."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")


def fingerprint(cases: Sequence[Case], evidence: Sequence[Evidence], exercise: Exercise) -> str:
    """The cluster of a wrong answer, such as `1.1-3fa9c2d4e1`: equal for attempts that do the same on every case.

    What counts is where and how the attempt parts from the right answer, in what is graded: results, facts, status,
    what it changed, the kind of exception. What it printed does not, nor what its author called things. Two orders of
    summation give the same id but for one pair of attempts in many thousands: numbers are rounded to steps much wider
    than their rounding errors, and what equals the right answer, to its tolerance, is not looked at any closer.
    `evidence` has passed `judge`; it is about the first cases.
    """
    parts = []
    with Names().ours():
        for number, (case, piece) in enumerate(zip(cases, evidence, strict=False), 1):
            parts.append(_deviations(run_of(exercise, number, case, piece)))
    text = json.dumps([exercise.id, len(cases), parts], sort_keys=True)
    return f"{exercise.id}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


def _deviations(run: Run) -> list[Any]:
    """How an attempt parts from the right answer on one case, as JSON; the same for attempts that do the same."""
    piece = run.given
    found: list[Any] = sorted({("changed", change.what, change.aspect) for change in piece.changes})
    if piece.status != "returned":
        found.append(piece.status)
        if piece.raised is not None:
            # Of the message what Python and torch always say: no numbers, and no names of the learner's own.
            found.append([piece.raised.type, _QUOTED.sub("_", skeleton(piece.raised.message))])
        return found
    for one in sorted(run.differences, key=lambda one: one.where):
        found.append([one.where, one.kind, _leaf(one.given, one.expected, run.tolerance)])
    for where, given in sorted(run.leaves.items()):
        expected = run.expected.get(where)
        if isinstance(given, TensorData) and isinstance(expected, TensorData):
            mine, right = ((str(one.value.dtype), one.device, one.has_graph) for one in (given, expected))
            if mine != right:
                found.append([where, *mine])
    return found


def _leaf(given: Any, expected: Any, tolerance: float | None) -> Any:
    """What stands at a place where something else is expected, as JSON."""
    if isinstance(given, TensorData):
        right = expected.value if isinstance(expected, TensorData) else None
        if right is not None and right.shape != given.value.shape:
            right = None
        limit = tolerance or max(TOLERANCE.get(one.dtype, 0.0) for one in (given.value, right) if one is not None)
        return [list(given.value.shape), str(given.value.dtype), _numbers(given.value, right, limit or 1e-9)]
    if isinstance(given, float):
        number = torch.tensor(given, dtype=torch.float64)
        right = None
        if isinstance(expected, int | float):
            right = torch.tensor(float(expected), dtype=torch.float64)
        return ["float", _numbers(number, right, tolerance or 1e-6)]
    if isinstance(given, Opaque):
        return ["object", given.type]
    if isinstance(given, Container):
        return [given.kind, list(given.keys)]
    return [type(given).__name__, repr(given)]


def _numbers(given: torch.Tensor, right: torch.Tensor | None, tolerance: float) -> Any:
    """A few numbers about how a tensor parts from the right one: its size, and two sums with fixed weights.

    They are rounded to steps that are much wider than rounding errors can be at this place.
    """
    if not given.is_floating_point() and not given.is_complex():
        return hashlib.sha256(given.contiguous().numpy().tobytes()).hexdigest()
    a, r = _real(given), torch.zeros(()) if right is None else _real(right)
    r = r.expand(a.shape) if r.shape != a.shape and r.ndim == 0 else r
    if r.shape != a.shape:  # one is complex and the other is not
        r = torch.zeros_like(a)
    finite = torch.isfinite(a) & torch.isfinite(r)
    odd = None
    if not bool(finite.all()):
        kinds = a.isnan() * 1 + (a == math.inf) * 2 + (a == -math.inf) * 3
        odd = hashlib.sha256(kinds.to(torch.uint8).numpy().tobytes()).hexdigest()
    error, scale = torch.where(finite, a - r, 0.0), _size(torch.where(finite, r, 0.0)) or 1.0
    size = _size(error)
    if size <= tolerance * scale:
        return ["as expected", odd]
    step = _MARGIN * tolerance * max(scale, size) / size
    step = min(_COARSEST, max(_FINEST, 4.0 ** math.ceil(math.log(step, 4))))
    place = torch.arange(error.numel(), dtype=torch.float64)
    sums = [
        float((error / size) @ (math.sqrt(2) * torch.cos(1 + turn * place))) / math.sqrt(error.numel())
        for turn in (2.399963229728653, 1.324717957244746)  # no two places alike
    ]
    return [step, odd, *(round(value / step) for value in (math.log2(size / scale), *sums))]


def _real(tensor: torch.Tensor) -> torch.Tensor:
    """In float64 and flat; of complex numbers the two parts."""
    return (torch.view_as_real(wide(tensor)) if tensor.is_complex() else wide(tensor)).reshape(-1)


def _size(tensor: torch.Tensor) -> float:
    """The root of the mean square."""
    largest = float(tensor.abs().max()) if tensor.numel() else 0.0
    return largest * float(((tensor / largest) ** 2).mean().sqrt()) if largest else 0.0
