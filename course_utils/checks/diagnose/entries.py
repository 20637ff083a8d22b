"""Are the right numbers there, in another order, under other names, or in some of the places?"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from course_utils.checks.diagnose.run import MOST_APPROXIMATE, Pair, Run, close, names_of, on_all
from course_utils.checks.difference import RESULT, Container
from course_utils.exercise import Exercise


def questions(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """Sentences about order and place within tensors and dicts of the right shapes."""
    if not on_all(group, lambda run: run.comparable):
        return []
    return _order(group) or _other_names(group) or _some_right(group) or _one_number(group)


def _one_number(group: Sequence[Run]) -> list[str]:
    """The same number in every entry, where the right ones differ."""
    pairs = [pair for run in group for pair in run.wrong if pair.expected.numel() > 1]
    if not pairs or len(pairs) < sum(len(run.wrong) for run in group) / 2:
        return []
    if not all(bool(pair.given.any()) and _constant(pair, pair.given) for pair in pairs):
        return []
    right = {_constant(pair, pair.expected) for pair in pairs}
    if right == {False}:
        return [
            "Where there are several entries, they all hold the same number; the right ones differ from each other."
        ]
    if right == {True}:
        return [
            "Where there are several entries, they all hold the same number, as they should, but not the right one."
        ]
    return []


def _constant(pair: Pair, values: torch.Tensor) -> bool:
    return pair.agree(values, values.flatten()[0].expand_as(values))


def _order(group: Sequence[Run]) -> list[str]:
    pairs = [pair for run in group for pair in run.wrong if pair.expected.numel() > 1]
    if not pairs or len(pairs) < sum(len(run.wrong) for run in group):
        return []
    if all(pair.agree(pair.given, pair.expected) for pair in pairs):
        return []  # too near to speak of an order
    if all(pair.given.ndim == 1 and pair.agree(pair.given.flip(0), pair.expected) for pair in pairs):
        return ["The right numbers stand there in reverse order."]
    if all(pair.given.ndim == 2 and pair.agree(pair.given.flip(0), pair.expected) for pair in pairs):
        return ["The right rows stand there in reverse order."]
    if all(pair.given.ndim == 2 and _square_transposed(pair) for pair in pairs):
        return ["It is the right answer, transposed."]
    if all(_cycled(pair, 1) for pair in pairs):
        return ["The right numbers stand there one place too far on, the last one first."]
    if all(_cycled(pair, -1) for pair in pairs):
        return ["The right numbers stand there one place too early, the first one last."]
    if all(_rearranged(pair) for pair in pairs):
        return ["The right numbers are all there, in another order."]
    return []


def _rearranged(pair: Pair) -> bool:
    """Whether the right numbers are all there; not where they are as good as in their order, and only a little off."""
    if close(pair.given, pair.expected, max(MOST_APPROXIMATE, 10 * pair.limit)):
        return False
    return pair.agree(pair.given.flatten().sort()[0], pair.expected.flatten().sort()[0])


def _square_transposed(pair: Pair) -> bool:
    return pair.given.shape[0] == pair.given.shape[1] and pair.agree(pair.given.T, pair.expected)


def _cycled(pair: Pair, by: int) -> bool:
    return pair.given.ndim >= 1 and len(pair.given) > 2 and pair.agree(pair.given, pair.expected.roll(by, 0))


def _other_names(group: Sequence[Run]) -> list[str]:
    """Right values under other names of a dict."""
    wanted = group[0].expected.get(RESULT)
    if not isinstance(wanted, Container) or wanted.kind != "dict":
        return []
    found: dict[str, str] = {}
    for pair in group[0].wrong:
        for other in group[0].pairs:
            same_root = other.where.split("[")[0] == pair.where.split("[")[0]
            if same_root and other.where != pair.where and pair.agree(pair.given, other.expected):
                found[pair.where] = other.where
    held = {where: other for where, other in found.items() if all(_holds(run, where, other) for run in group)}
    if not held:
        return []
    return [
        f"{names_of([where])} holds what belongs to {names_of([other])}." for where, other in list(held.items())[:2]
    ]


def _holds(run: Run, where: str, other: str) -> bool:
    a = next((pair for pair in run.pairs if pair.where == where), None)
    b = next((pair for pair in run.pairs if pair.where == other), None)
    return a is not None and b is not None and a.agree(a.given, b.expected)


def _some_right(group: Sequence[Run]) -> list[str]:
    """Entries of one tensor that are right, and what the others hold."""
    if not on_all(group, lambda run: [pair.where for pair in run.wrong] == [RESULT]):
        return []
    pairs = [run.wrong[0] for run in group]
    if any(pair.expected.shape != pair.given.shape or pair.expected.ndim == 0 for pair in pairs):
        return []
    masks = [_right_mask(pair) for pair in pairs]
    if not all(bool(mask.any()) for mask in masks):
        return []
    held = _held_elsewhere(pairs, masks)
    if all(_only_first(mask) for mask in masks):
        return [f"Only the first entry is right{held}."]
    if all(_only_first(mask.flip(0)) for mask in masks if mask.ndim == 1) and all(mask.ndim == 1 for mask in masks):
        return [f"Only the last entry is right{held}."]
    if all(_whole_rows(mask, slice(0, 1)) for mask in masks):
        return [f"Only the first row is right{held}."]
    if all(_whole_rows(mask, slice(-1, None)) for mask in masks):
        return [f"Only the last row is right{held}."]
    if all(mask.ndim == 1 and bool(mask[:-1].all()) and len(mask) > 2 for mask in masks):
        return [f"All entries but the last are right{held}."]
    if all(mask.ndim == 1 and bool(mask[1:].all()) and len(mask) > 2 for mask in masks):
        return [f"All entries but the first are right{held}."]
    if held:
        return [f"Some entries are right{held}."]
    return []


def _right_mask(pair: Pair) -> torch.Tensor:
    scale = float(pair.expected.abs().max()) or 1.0
    return (pair.expected - pair.given).abs() <= pair.limit * scale


def _only_first(mask: torch.Tensor) -> bool:
    flat = mask.flatten()
    return len(flat) > 1 and bool(flat[0]) and not bool(flat[1:].any())


def _whole_rows(mask: torch.Tensor, rows: slice) -> bool:
    rest = mask.clone()
    rest[rows] = False
    return mask.ndim > 1 and len(mask) > 1 and bool(mask[rows].all()) and not bool(rest.any())


def _held_elsewhere(pairs: Sequence[Pair], masks: Sequence[torch.Tensor]) -> str:
    others = [pair.given[~mask] for pair, mask in zip(pairs, masks, strict=True)]
    if all(not bool(other.any()) for other in others):
        return "; the others are zero"
    factors = []
    for pair, mask in zip(pairs, masks, strict=True):
        a, b = pair.expected[~mask], pair.given[~mask]
        if a.numel() < 2 or not bool(a.any()):
            return ""
        c = float(a @ b / (a @ a))
        if not close(b, c * a, pair.limit):
            return ""
        factors.append(c)
    if factors and max(factors) - min(factors) < 1e-6:
        return f"; the others are {factors[0]:.4g} times what they should be"
    return ""
