"""One case of an attempt beside what is right on it, and the ways in which the questions look at it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from course_utils.checks.answers import Broken
from course_utils.checks.difference import (
    RESULT,
    TOLERANCE,
    Container,
    Difference,
    difference_kind,
    wide,
)
from course_utils.exercise import Case, Evidence, Exercise
from course_utils.plain import TensorData

LOOSE = 1e-3
"""A tolerance from which on two numbers may be the same to it and have nothing to do with each other."""
MOST_APPROXIMATE = 5e-3
"""Largest relative error that still reads as an approximation of the right numbers."""


@dataclass(frozen=True, eq=False)
class Pair:
    """A place where a tensor is expected and a tensor, perhaps of another shape, was given."""

    where: str
    expected: torch.Tensor
    """In float64."""
    given: torch.Tensor
    limit: float
    """Largest difference that counts as none, relative to the largest entry."""

    def agree(self, a: torch.Tensor, b: torch.Tensor) -> bool:
        """Whether two tensors are the same numbers, to the precision of this place."""
        return close(a, b, self.limit)


def close(a: torch.Tensor, b: torch.Tensor, limit: float) -> bool:
    """Whether shapes are equal, and entries within `limit` of the largest of them."""
    if a.shape != b.shape or not bool(torch.isfinite(a).all()) or not bool(torch.isfinite(b).all()):
        return False
    if not a.numel():
        return True
    scale = max(float(a.abs().max()), float(b.abs().max()))
    return float((a - b).abs().max()) <= limit * scale


@dataclass(frozen=True, eq=False)
class Run:
    """One case: its number from 1, the evidence of the right answer and of the attempt, and how they differ."""

    number: int
    case: Case
    right: Evidence
    given: Evidence
    expected: Mapping[str, Any]
    """{place: leaf} of what is graded, as the right answer leaves it."""
    leaves: Mapping[str, Any]
    """The same of the attempt."""
    differences: tuple[Difference, ...]
    tolerance: float | None
    broken: Broken | None = None
    """The stated rule about how that was broken, where the numbers are right."""

    @cached_property
    def told(self) -> list[Difference]:
        """The differences worth telling: what stands inside something of another type is a difference of its own."""
        others = [one.where for one in self.differences if one.kind in ("type", "none")]
        inside = tuple(f"{where}[" for where in others)
        return (
            [one for one in self.differences if not one.where.startswith(inside)] if inside else list(self.differences)
        )

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every place where a real tensor is expected and one was given, right places too."""
        found = []
        for where, a in self.expected.items():
            b = self.leaves.get(where)
            if isinstance(a, TensorData) and isinstance(b, TensorData):
                if not a.value.is_complex() and not b.value.is_complex():
                    limit = self.limit(a.value, b.value)
                    found.append(Pair(where, wide(a.value), wide(b.value), limit))
        return found

    def limit(self, a: torch.Tensor, b: torch.Tensor) -> float:
        """The tolerance at a place, somewhat wider than the one that decides: sums and differences cost digits."""
        by_dtype = max(TOLERANCE.get(a.dtype, 1e-9), TOLERANCE.get(b.dtype, 1e-9))
        limit = max(self.tolerance or 0.0, by_dtype)
        # What is loose already, as for half precision, is not made wider: then anything would be like anything.
        return limit if limit >= LOOSE else 20 * limit

    @cached_property
    def wrong(self) -> list[Pair]:
        """The places whose numbers differ."""
        differing = {one.where for one in self.differences}
        return [pair for pair in self.pairs if pair.where in differing]

    @cached_property
    def listed(self) -> tuple[list[int], list[int]] | None:
        """Of a list of whole numbers in order, each once: those that do not belong there, and those it lacks."""
        right, given = (_ascending(self.children(leaves)) for leaves in (self.expected, self.leaves))
        if right is None or given is None or right == given:
            return None
        return [n for n in given if n not in right], [n for n in right if n not in given]

    @property
    def comparable(self) -> bool:
        """Whether every difference is one of numbers in tensors of the right shape, all of them finite."""
        return bool(self.differences) and all(one.kind == "value" for one in self.differences) and bool(self.wrong)

    def right_at(self, where: str) -> bool:
        """Whether the leaf at a place is as expected."""
        return difference_kind(self.expected.get(where), self.leaves.get(where), self.tolerance) is None

    def children(self, leaves: Mapping[str, Any], where: str = RESULT) -> list[Any] | None:
        """The leaves inside a list or dict, in order; None where there is none."""
        parent = leaves.get(where)
        if not isinstance(parent, Container):
            return None
        keys = [f"{where}[{key if parent.kind == 'list' else repr(key)}]" for key in parent.keys]
        return [leaves.get(key) for key in keys]


def _ascending(leaves: list[Any] | None) -> list[int] | None:
    if leaves is None or not all(type(leaf) is int for leaf in leaves):
        return None
    return leaves if all(a < b for a, b in pairwise(leaves)) else None


def inputs_of(exercise: Exercise, case: Case) -> dict[str, torch.Tensor]:
    """{what it is called: values in float64} of the tensors a case hands over, parameters and earlier `.grad` too."""
    found: dict[str, torch.Tensor] = {}

    def note(name: str, tensor: torch.Tensor) -> None:
        if tensor.is_floating_point():
            found[name] = wide(tensor.detach().cpu())
            if tensor.is_leaf and tensor.grad is not None:
                found[f"the earlier {name}.grad"] = wide(tensor.grad.detach().cpu())

    for name, item in exercise.arrange(case).watch.items():
        if isinstance(item, torch.Tensor):
            note(name, item)
        elif isinstance(item, nn.Module):
            for key, parameter in item.named_parameters():
                note(key, parameter)
    return found


def place_name(where: str) -> str:
    """A place as a sentence names it: `W1`, entry 2, the result."""
    root = where.split("[")[0]
    beside = "" if root == RESULT else f" ({root})"
    match = re.fullmatch(r".*\['([^']*)'\]", where)
    if match:
        return f"`{match[1]}`{beside}"
    match = re.fullmatch(r".*\[(\d+)\]", where)
    return f"entry {match[1]}{beside}" if match else where


def joined(words: Sequence[str]) -> str:
    """Words in one phrase: a; a and b; a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def names_of(places: Sequence[str], most: int = 4) -> str:
    """Places in one phrase: `W1`, `b1` and `W2`."""
    nested = any(re.search(r"\]\[", where) for where in places)
    shown = [f"`{where.removeprefix('the ')}`" if nested else place_name(where) for where in places]
    if len(shown) > most:
        return ", ".join(shown[:most]) + f" and {len(shown) - most} more"
    return joined(shown)


def case_numbers(runs: Sequence[Run]) -> str:
    """The numbers of cases in one phrase: case 2; cases 2, 4 and 5."""
    return f"{'case' if len(runs) == 1 else 'cases'} {joined([str(run.number) for run in runs])}"


def digits_in_words(found: Collection[int]) -> str:
    """How many digits are right, over several cases: 1 digit; 3 to 5 digits."""
    low, high = min(found), max(found)
    return f"{low if low == high else f'{low} to {high}'} {'digit' if high == 1 else 'digits'}"


def on_all(group: Sequence[Run], true_of: Callable[[Run], bool]) -> bool:
    """Whether something holds on every case of a group, and there is one."""
    return bool(group) and all(true_of(run) for run in group)
