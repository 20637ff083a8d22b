"""Is it the form alone that is wrong: the type, the shape, the names, the number of entries?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from course_utils.checks.diagnose.run import Pair, Run, close, names_of, on_all, place_name
from course_utils.checks.difference import RESULT, Container, Difference, Leaves, kind_of, wide
from course_utils.exercise import Exercise
from course_utils.plain import Opaque, TensorData


def questions(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """Sentences about the form of what was given; none where only numbers differ."""
    if any(run.given.status != "returned" for run in group):
        return []
    said = _observed(group)
    if on_all(group, lambda run: run.comparable):
        return said
    for ask in (_names, _nothing, _types, _shapes, _not_finite):
        said += ask(group)
    return said


# ------------------------------------------------------------------ names and types


def _names(group: Sequence[Run]) -> list[str]:
    """Entries missing or too many in a dict or list: which, and whether the others are right."""
    if not on_all(group, lambda run: any(one.kind in ("missing", "extra") for one in run.told)):
        return []
    wanted, got = group[0].expected.get(RESULT), group[0].leaves.get(RESULT)
    if not isinstance(wanted, Container) or not isinstance(got, Container):
        return []
    if wanted.kind != "dict" or got.kind != "dict":
        return []
    lower = {key.lower() for key in wanted.keys}
    if set(wanted.keys) != set(got.keys) and lower == {key.lower() for key in got.keys}:
        return ["The names differ from those asked for in upper and lower case alone."]
    said = []
    missing = [one.where for one in group[0].told if one.kind == "missing"]
    extra = [one.where for one in group[0].told if one.kind == "extra"]
    parts = [f"missing: {names_of(missing)}"] if missing else []
    parts += [f"too many: {names_of(extra)}"] if extra else []
    if all(one.kind in ("missing", "extra") for run in group for one in run.told):
        kept = [key for key in wanted.keys if key in got.keys]
        others = "all other entries are right" if kept else "no entry has a name that is asked for"
        said.append(f"On case {group[0].number}, {'; '.join(parts)}; {others}.")
    else:
        said.append(f"On case {group[0].number}, {'; '.join(parts)}.")
    if missing and on_all(group, _missing_are_zero):
        said.append("Each entry that is missing has a gradient of zeros: its parameter does not take part in the loss.")
    return said


def _missing_are_zero(run: Run) -> bool:
    absent = [one.expected for one in run.told if one.kind == "missing"]
    return bool(absent) and all(isinstance(leaf, TensorData) and not bool(leaf.value.any()) for leaf in absent)


def _observed(group: Sequence[Run]) -> list[str]:
    """What was observed beside the result, where it is a word or a number: in words."""
    first = group[0].told[0]
    if first.where.startswith(RESULT) or not isinstance(first.given, str | int | Opaque | None):
        return []
    if first.kind == "extra":
        return _too_much(group, place_name(first.where), first.where.split("[")[0])
    if not on_all(group, lambda run: any(_same_kind(one, first) for one in run.told)):
        return []
    if isinstance(first.expected, TensorData):
        if first.given is not None and not isinstance(first.given, Opaque):
            return []
        places = list(dict.fromkeys(one.where for one in group[0].told if _same_kind(one, first)))
        return [
            f"{'None' if first.given is None else first.given.text} where a gradient is expected: {names_of(places)}."
        ]
    if isinstance(first.given, Opaque) or isinstance(first.expected, Opaque):
        return []
    name = f"{place_name(first.where).split(' (')[0]}, " if "[" in first.where else ""
    case = f"On case {group[0].number}, " if name else ""
    return [f"{case}{name}{first.where.split('[')[0]}: {first.given}; it should be: {first.expected}."]


def _too_much(group: Sequence[Run], name: str, root: str) -> list[str]:
    """What stands under a name, on each of these cases, where the right answer has nothing."""
    if not on_all(group, lambda run: any(d.kind == "extra" and place_name(d.where) == name for d in run.told)):
        return []
    return [f"{name.removesuffix(f' ({root})')} stands in {root}, and should not be there."]


def _same_kind(one: Difference, other: Difference) -> bool:
    root = other.where.split("[")[0].split(" call")[0].split(" the call")[0]
    return one.where.startswith(root) and one.given == other.given and type(one.expected) is type(other.expected)


def _nothing(group: Sequence[Run]) -> list[str]:
    """None where something is expected."""
    places = [one for run in group for one in run.told if one.kind == "none"]
    if not places or not on_all(group, lambda run: run.told[0].kind == "none"):
        return []
    if all(one.where == RESULT for one in places):
        return []
    if all(isinstance(one.expected, TensorData) and not bool(one.expected.value.any()) for one in places):
        return [f"None stands where zeros are expected: {names_of(list(dict.fromkeys(p.where for p in places)))}."]
    first = [one.where for one in group[0].told if one.kind == "none"]
    return [f"On case {group[0].number}, None stands at {names_of(first)}."]


def _types(group: Sequence[Run]) -> list[str]:
    """Another kind of object, with the right numbers in it or not."""

    def of_result(run: Run) -> list[Difference]:
        return [one for one in run.told if one.kind == "type" and one.where.startswith(RESULT)]

    if not on_all(group, lambda run: bool(of_result(run))):
        return []
    one = of_result(group[0])[0]
    a, b = one.expected, one.given
    if isinstance(b, Opaque):
        if b.type == "ndarray":
            return ["NumPy values came back, where tensors are asked; torch.as_tensor makes tensors of them."]
        if b.type in ("generator", "map", "zip", "filter", "dict_values", "dict_items"):
            return [f"A {b.type} came back, where a list of values is asked."]
        if b.type in ("function", "method", "builtin_function_or_method", "type"):
            return ["A function came back, not what it returns: are the parentheses of a call missing?"]
        return [f"An object of type {b.type} came back."]
    if on_all(group, lambda run: _same_numbers(run.expected, run.leaves)):
        return [f"All the numbers are right, in their order; the form is not: {_kind(b)} where {_kind(a)} is asked."]
    return []


def _kind(leaf: Any) -> str:
    if isinstance(leaf, Container):
        return "a dict" if leaf.kind == "dict" else "a list or tuple"
    if isinstance(leaf, TensorData):
        return "a tensor"
    return "a Python number" if isinstance(leaf, int | float) else kind_of(leaf)


def _same_numbers(expected: Leaves, given: Leaves) -> bool:
    a, b = _all_numbers(expected), _all_numbers(given)
    return a is not None and b is not None and close(a, b, 1e-5 if _single(expected) else 1e-8)


def _single(leaves: Leaves) -> bool:
    """Whether a result is of float32 or less."""
    return any(isinstance(leaf, TensorData) and leaf.value.dtype != torch.float64 for leaf in leaves.values())


def _all_numbers(leaves: Leaves) -> torch.Tensor | None:
    """Every number of the result in one row; None where something in it is no number."""
    parts = []
    for where, leaf in leaves.items():
        if not where.startswith(RESULT) or isinstance(leaf, Container):
            continue
        if isinstance(leaf, TensorData) and not leaf.value.is_complex():
            parts.append(wide(leaf.value).flatten())
        elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
            parts.append(torch.tensor([float(leaf)], dtype=torch.float64))
        else:
            return None
    return torch.cat(parts) if parts else None


# ------------------------------------------------------------------ shapes


def _shapes(group: Sequence[Run]) -> list[str]:
    """Tensors of another shape: what they hold."""
    pairs = [pair for run in group for pair in run.wrong if pair.expected.shape != pair.given.shape]
    if not pairs or not on_all(group, lambda run: any(p.expected.shape != p.given.shape for p in run.wrong)):
        return []
    for words, holds in _SHAPED:
        if all(holds(pair) for pair in pairs):
            return [words]
    for words, reduce in (("sum", torch.sum), ("mean", torch.mean)):
        for dim in range(max(pair.given.ndim for pair in pairs)):
            if all(_reduced(pair, reduce, dim) for pair in pairs):
                return [f"Its {words} over dimension {dim} is right: that dimension was kept and should be reduced."]
    if all(pair.expected.numel() != pair.given.numel() for pair in pairs):
        one = group[0].wrong[0] if group[0].wrong[0] in pairs else pairs[0]
        a, b = one.expected.numel(), one.given.numel()
        stand = f"{b} {'entries stand' if b != 1 else 'entry stands'} where {a} are asked"
        return [f"No reshape mends it: on case {group[0].number}, {names_of([one.where])}, {stand}."]
    return (
        ["The number of entries is right, their values are not, in whatever shape."]
        if all(pair.expected.numel() == pair.given.numel() for pair in pairs)
        and not any(pair.agree(pair.given.flatten().sort()[0], pair.expected.flatten().sort()[0]) for pair in pairs)
        else []
    )


def _reduced(pair: Pair, reduce: Callable[..., torch.Tensor], dim: int) -> bool:
    if pair.given.ndim <= dim:
        return False
    found = reduce(pair.given, dim)
    return found.numel() == pair.expected.numel() and pair.agree(found.reshape(pair.expected.shape), pair.expected)


def _laid_out(pair: Pair) -> bool:
    same_count = pair.given.numel() == pair.expected.numel()
    return same_count and pair.agree(pair.given.reshape(pair.expected.shape), pair.expected)


def _transposed(pair: Pair) -> bool:
    return pair.given.ndim == 2 and pair.expected.ndim == 2 and pair.agree(pair.given.T, pair.expected)


def _only(value: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Pair], bool]:
    def holds(pair: Pair) -> bool:
        return pair.given.numel() == 1 and pair.agree(pair.given.reshape(()), value(pair.expected).reshape(()))

    return holds


def _repeated(pair: Pair) -> bool:
    if pair.given.numel() <= pair.expected.numel() or pair.given.ndim <= pair.expected.ndim:
        return False
    try:
        return pair.agree(pair.given, pair.expected.expand_as(pair.given))
    except RuntimeError:
        return False


def _doubled(pair: Pair) -> bool:
    if pair.given.numel() != pair.expected.numel() or not bool(pair.expected.any()):
        return False
    given = pair.given.reshape(pair.expected.shape)
    c = float((given * pair.expected).sum() / (pair.expected**2).sum())
    return c != 0 and given.numel() > 1 and pair.agree(given, c * pair.expected)


_SHAPED: tuple[tuple[str, Callable[[Pair], bool]], ...] = (
    ("It is the right answer, transposed.", _transposed),
    ("The numbers are right and in their order; only the shape is not the one asked for.", _laid_out),
    ("The one number is the sum of all entries of the right answer.", _only(torch.sum)),
    ("The one number is the mean of all entries of the right answer.", _only(torch.mean)),
    ("The one number is the length (the norm) of the right answer.", _only(torch.norm)),
    ("The right answer stands in it, repeated along a further dimension.", _repeated),
    ("In another shape, and beside that all its numbers are those of the right answer times one factor.", _doubled),
)


def _not_finite(group: Sequence[Run]) -> list[str]:
    if not on_all(group, lambda run: any(one.kind == "not finite" for one in run.told)):
        return []
    pairs = [pair for run in group for pair in run.wrong if not bool(torch.isfinite(pair.given).all())]
    if pairs and all(not bool(torch.isfinite(pair.given).any()) for pair in pairs):
        return ["Not one entry there is finite."]
    if pairs and all(_right_where_finite(pair) for pair in pairs):
        return ["The entries that are finite are right."]
    return []


def _right_where_finite(pair: Pair) -> bool:
    fine = torch.isfinite(pair.given)
    return pair.given.shape == pair.expected.shape and pair.agree(pair.given[fine], pair.expected[fine])
