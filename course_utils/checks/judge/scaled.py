"""Two mistakes at once, one of them a factor, a shape or an order: which known mistake is the other?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from course_utils.checks.diagnose import Run
from course_utils.checks.diagnose.run import case_numbers
from course_utils.checks.difference import RESULT, Container, Leaves, difference_kind, nice, wide
from course_utils.checks.judge.left import answers_of, leaves_of, left_by_form, mistakes_of
from course_utils.checks.judge.naming import same_signs
from course_utils.checks.mistakes import Mistake
from course_utils.exercise import Exercise
from course_utils.plain import TensorData

_CONSTANTS = (1.0, 2.0, 0.5, -1.0, -2.0, -0.5)
"""By what a second mistake is likely to multiply, beside the numbers of the case."""
_FEWEST = 3
"""With fewer numbers than these some mistake times some factor always fits."""


@dataclass(frozen=True)
class Scaled:
    """Mistakes whose numbers, times one factor, in another shape or in reverse order, are those of the attempt."""

    mistakes: tuple[Mistake, ...]
    factor: str
    """As it is said: -1, 1/[n]; empty where there is none."""
    backwards: bool
    """Whether the list stands in reverse order."""
    reshaped: tuple[Run, ...]
    """The cases on which a shape is another."""

    @property
    def sentence(self) -> str:
        """What is certain of the attempt: not that the mistakes were made, but that their numbers are there."""
        parts = [f"times {self.factor}"] if self.factor else []
        parts += ["in reverse order"] if self.backwards else []
        parts += [f"in another shape on {case_numbers(self.reshaped)}"] if self.reshaped else []
        words = [f"{one.words.title} ({one.id}). To mend that: {one.words.mend}" for one in self.mistakes]
        return f"The numbers are those of a known mistake, {' and '.join(parts)}. {' Or: '.join(words)}"


def scaled(exercise: Exercise, group: Sequence[Run]) -> Scaled | None:
    """The mistakes that differ from the attempt by a factor, shapes and the order alone, on each case of the group."""
    if sum(_numbers(run.leaves, _root(run)).numel() for run in group) < _FEWEST:
        return None
    factors = _factors(exercise, group)
    found: dict[tuple[str, tuple[Run, ...]], list[Mistake]] = {}
    for backwards in (False, True):
        for one in mistakes_of(exercise.home):
            for form in range(len(one.forms)):
                relation = _relation(exercise, one, form, group, factors, backwards)
                if relation is not None:
                    found.setdefault(relation, []).append(one)
                    break
        if found:
            break
    if not found:
        return None
    factor, reshaped = min(found, key=lambda relation: list(factors).index(relation[0]))
    return Scaled(tuple(found[factor, reshaped]), factor, backwards, reshaped)


def _factors(exercise: Exercise, group: Sequence[Run]) -> dict[str, list[float]]:
    """{how it is said: its value on each case}, the likeliest first; none is said that another says already."""
    found = {"" if c == 1 else nice(c): [c] * len(group) for c in _CONSTANTS}
    for name, take in exercise.quantities.items():
        values = [take(run.case.spec) for run in group]
        numbers = [float(value) for value in values if value]
        if len(numbers) == len(values) and len(set(numbers)) > 1:
            found |= {f"[{name}]": numbers, f"1/[{name}]": [1 / number for number in numbers]}
    return found


def _relation(
    exercise: Exercise,
    mistake: Mistake,
    form: int,
    group: Sequence[Run],
    factors: Mapping[str, Sequence[float]],
    backwards: bool,
) -> tuple[str, tuple[Run, ...]] | None:
    """(factor, cases where shapes differ) from a form of a mistake to the attempt; None without such a relation."""
    fitting, reshaped, itself, right_itself = set(factors), [], True, True
    for number, run in enumerate(group):
        piece = left_by_form(exercise, mistake, form, run.case)
        if piece.status != "returned" or piece.changes or not same_signs(mistake, run.given, piece):
            return None
        root, its = _root(run), leaves_of(answers_of(exercise.home), piece)
        its = _backwards(its) if backwards else its
        if its.keys() != run.leaves.keys() or any(
            difference_kind(leaf, run.leaves[where], run.tolerance)
            for where, leaf in its.items()
            if not where.startswith(root)
        ):
            return None
        a, b, right = (_numbers(leaves, root) for leaves in (its, run.leaves, run.expected))
        if not a.numel() or a.numel() != b.numel() or not run.pairs:
            return None
        limit = max(pair.limit for pair in run.pairs) * max(float(b.abs().max()), 1e-30)
        fitting = {said for said in fitting if float((factors[said][number] * a - b).abs().max()) <= limit}
        if not fitting:
            return None
        if _shapes(its) != _shapes(run.leaves):
            reshaped.append(run)
        itself = itself and right.shape == a.shape and float((a - right).abs().max()) <= limit
        right_itself = right_itself and right.shape == b.shape and _multiple(right, b, limit)
    # A multiple of the right answer is one mistake, and `diagnose` says which multiple.
    if itself or len(fitting) > 1:
        return None
    (factor,) = fitting
    if right_itself and (factor or not reshaped):
        return None
    return (factor, tuple(reshaped)) if factor or reshaped or backwards else None


def _backwards(leaves: dict[str, Any]) -> dict[str, Any]:
    """With the list that is the result, or the first thing in it, the other way round; empty where there is none."""
    for where in (RESULT, f"{RESULT}[0]"):
        parent = leaves.get(where)
        if isinstance(parent, Container) and parent.kind == "list":
            places = [f"{where}[{key}]" for key in parent.keys]
            if len(places) > 1 and all(isinstance(leaves.get(place), TensorData) for place in places):
                turned = {place: leaves[other] for place, other in zip(places, reversed(places), strict=True)}
                return {**leaves, **turned}
            if places and where != RESULT:
                return leaves  # a list of one is the same both ways
    return {}


def _root(run: Run) -> str:
    """The result, or the fact that is wrong first."""
    return run.differences[0].where.split("[")[0] if run.differences else RESULT


def _multiple(a: torch.Tensor, b: torch.Tensor, limit: float) -> bool:
    square = float(a @ a)
    return square > 0 and float((b - float(a @ b) / square * a).abs().max()) <= limit


def _numbers(leaves: Leaves, root: str) -> torch.Tensor:
    """Every number under `root` in one row; none where something there is no tensor of finite real numbers."""
    parts = []
    for where, leaf in leaves.items():
        if isinstance(leaf, Container) or not where.startswith(root):
            continue
        if not isinstance(leaf, TensorData) or leaf.value.is_complex():
            return torch.zeros(0)
        parts.append(wide(leaf.value).flatten())
    row = torch.cat(parts) if parts else torch.zeros(0)
    return row if bool(torch.isfinite(row).all()) else torch.zeros(0)


def _shapes(leaves: Leaves) -> list[tuple[int, ...]]:
    return [tuple(leaf.value.shape) for leaf in leaves.values() if isinstance(leaf, TensorData)]
