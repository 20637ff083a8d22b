"""Returned floats as a tensor beside the result, so that a factor between them and the right ones can be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from course_utils.exercise import Evidence
from course_utils.plain import Opaque, Plain, TensorData

FLOAT = Opaque("", "a float")
"""What stands in a result for a float whose value is a fact of its own."""


def number_in(value: Plain) -> float | None:
    """The number that a float, an int or a tensor of one entry is; None for anything else."""
    if isinstance(value, TensorData) and value.value.numel() == 1 and not value.value.is_complex():
        return float(value.value)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def float_beside(evidence: Evidence, fact: str) -> Evidence:
    """Evidence of one returned float, whose value becomes the fact of that name."""
    number = number_in(evidence.result)
    value = None if number is None else TensorData(torch.tensor(number, dtype=torch.float64))
    return replace(evidence, result=_without_value(evidence.result), facts={**evidence.facts, fact: value})


def floats_beside(evidence: Evidence, facts: Sequence[str] | str, tensors: Sequence[int] = ()) -> Evidence:
    """Evidence of a list of returned floats. Their values become one fact, in a row, or a fact each where several
    names are given; a place in `tensors` may hold a tensor of one entry as well, without a graph."""
    result = evidence.result
    if not isinstance(result, list):
        return evidence
    numbers = [number_in(value) for value in result]
    known = [number for number in numbers if number is not None]
    found: dict[str, Plain] = {}
    if isinstance(facts, str):
        if len(known) == len(numbers):
            found[facts] = TensorData(torch.tensor(known, dtype=torch.float64))
    else:
        for name, number in zip(facts, numbers, strict=False):
            if number is not None:
                found[name] = TensorData(torch.tensor(number, dtype=torch.float64))
    shown = [_as_tensor(value) if place in tensors else _without_value(value) for place, value in enumerate(result)]
    return replace(evidence, result=shown, facts={**evidence.facts, **found})


def _as_tensor(value: Plain) -> Plain:
    """What stands in a result for a float or a tensor of one entry: a graph is all that tells them apart."""
    if number_in(value) is None:
        return value
    return TensorData(torch.zeros(()), has_graph=isinstance(value, TensorData) and value.has_graph)


def _without_value(value: Plain) -> Plain:
    return FLOAT if isinstance(value, int | float) and not isinstance(value, bool) else value
