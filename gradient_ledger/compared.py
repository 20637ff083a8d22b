"""What a loss compares with what: both sides have a graph, and one of them may be meant as a constant.

Looked at for the first passes of a line. Only nodes are read, and constants that autograd saved; nothing is kept.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gradient_ledger import graph

LOSSES = frozenset(f"{n}Backward0" for n in "MseLoss SmoothL1Loss HuberLoss BinaryCrossEntropyWithLogits".split())
"""Losses of two things that both may have a graph."""
DIFFERENCES = frozenset({"PowBackward0", "AbsBackward0"})
GAPS = DIFFERENCES | {"LinalgVectorNormBackward0", "NormBackward0", "NormBackward1", "MulBackward0"}
"""What is made of the difference of a weight and what it is held to; a product is its square, or a weight of it."""
CHOICES = frozenset(f"{n}Backward0" for n in "Max Amax Min Amin Minimum Maximum Logsumexp MaskedFill IndexPut".split())
CHOICES |= {"MaxBackward1", "MinBackward1", "CopySlices"}
"""How the value of a state is made from those of its actions, or of several critics."""
LAYERS = frozenset(f"{n}Backward0" for n in "Addmm Addmv Linear Embedding".split()) | {"AccumulateGrad"}
"""What values come from: the last layer of a network, or a table."""
NORMALISED = frozenset({"DivBackward0", "CloneBackward0", "ViewBackward0", "SqueezeBackward1", "UnsqueezeBackward0"})
"""What may lie between a vector and the same vector at unit length."""
COPIES = frozenset({"CloneBackward0", "AliasBackward0", "ToCopyBackward0"})

SCALED = frozenset({"MulBackward0", "DivBackward0"})
BETWEEN = CHOICES | graph.THROUGH - {"MulBackward0"} | {"SqueezeBackward1", "MeanBackward1", "SelectBackward0"}
BETWEEN |= frozenset(f"{n}Backward0" for n in "View Stack Cat Mean Unbind".split())
"""What lies between the value of one critic and the least of several."""

MOST = 512
MOST_ENDS = 64
FEW = 8
"""More comparisons than these, as of each step of a sequence, are not followed to the leaves."""


class Comparison(NamedTuple):
    """Two sides of a difference or of a product, each with a graph, and the operation that compares them."""

    left: Any
    right: Any
    is_difference: bool
    node: Any = None
    sign: int = 1
    """Minus one where the loss falls as this grows."""


class Half(NamedTuple):
    """A comparison of something that has a graph with something that has none."""

    node: Any
    """The operation that compares."""
    side: Any
    """What has a graph."""
    numbers: Tensor | None
    """What autograd saved of the comparison: the constant, or the difference to it."""


class Compared(NamedTuple):
    """All comparisons of a loss, and the ends of its other parts."""

    found: list[Comparison]
    rest: list[Any]
    halves: list[Half]
    """The comparisons with constants. What has a graph in them is among the other parts, too."""


def compared(node: Any) -> Compared:
    """The comparisons that a loss sums up, up to the first operations that mix entries."""
    found, rest, halves = [], [], []
    waiting, seen = [(node, 1)], {node}
    while waiting and len(seen) < MOST:
        one, sign = waiting.pop()
        pair = _comparison(one)
        if pair is not None:
            found.append(pair._replace(sign=sign))
        elif (half := _half(one)) is not None:
            halves.append(half)
        if pair is None and _kind(one) in graph.BY_ENTRY:
            new = {inner: sign * way for inner, way in _ways(one) if inner not in seen}
            seen |= new.keys()
            waiting += new.items()
        elif pair is None and _kind(one) != "XlogyBackward0":  # the entropy of what a divergence is taken from
            rest.append(one)
    return Compared(found, rest + [one for one, _ in waiting], halves)


def _ways(node: Any) -> Iterator[tuple[Any, int]]:
    """What an operation is given, and whether its result grows with that or falls."""
    kind = _kind(node)
    turns = kind in ("NegBackward0", "RsubBackward1") or (kind in SCALED and (graph.number(node) or 1) < 0)
    for at, (inner, _) in enumerate(node.next_functions):
        if inner is not None:
            yield inner, -1 if turns or (at == 1 and kind == "SubBackward0") else 1


def _half(node: Any) -> Half | None:
    """A squared or absolute difference to a constant, or the product of two vectors at unit length of which one is."""
    kind = _kind(node)
    inner, numbers = node, graph.saved(node, "self")
    if kind in DIFFERENCES:
        inner = _stripped(node.next_functions[0][0], graph.THROUGH | {"ViewBackward0"})
        if _kind(inner) != "SubBackward0":
            return None
    elif kind not in LOSSES and kind != "MulBackward0":
        return None
    sides = [one for one, _ in inner.next_functions[:2]]
    if len(sides) != 2 or sides.count(None) != 1:
        return None
    side = sides[0] if sides[1] is None else sides[1]
    if kind in LOSSES:
        numbers = graph.saved(node, "target" if sides[1] is None else "self")
    if kind == "MulBackward0":
        numbers = graph.saved(node, "other" if sides[1] is None else "self")
        if _kind(side) != "DivBackward0" or numbers is None or math.prod(numbers.shape[-1:]) < 2:
            return None
    return Half(node, side, numbers if isinstance(numbers, Tensor) else None)


def _comparison(node: Any) -> Comparison | None:
    kind = _kind(node)
    if kind in LOSSES:
        return _pair(node, True)
    if kind in DIFFERENCES:
        inner = _stripped(node.next_functions[0][0], graph.THROUGH | {"ViewBackward0"})
        found = _pair(inner, True) if _kind(inner) == "SubBackward0" else None
        return found and found._replace(node=node)
    if kind != "MulBackward0":
        return None
    factors = [inner for inner, _ in node.next_functions]
    if any(one is not None and _is_number(one, at) for one, at in node.next_functions):
        return None  # a learned weight of a loss
    logs = [one for one in factors if _kind(one) == "SubBackward0"]
    return (_pair(logs[0], False) if logs else None) or _pair(node, False)


def _is_number(node: Any, at: int) -> bool:
    """Whether the result of an operation is a single number."""
    return not hasattr(node, "variable") and math.prod(node._input_metadata[at].shape) == 1


def _pair(node: Any, is_difference: bool) -> Comparison | None:
    left, right = (inner for inner, _ in node.next_functions[:2])
    return Comparison(left, right, is_difference, node) if left is not None and right is not None else None


def _kind(node: Any) -> str:
    return type(node).__name__


def _stripped(node: Any, kinds: frozenset[str]) -> Any:
    """What lies under operations of these kinds."""
    for _ in range(8):
        if _kind(node) not in kinds:
            break
        node = node.next_functions[0][0]
    return node


def _by_entry(node: Any) -> list[Any]:
    return list(graph.by_entry(node, graph.BY_ENTRY | CHOICES, MOST))


def bootstraps(one: Comparison, masks: bool = True) -> list[Any]:
    """The layers whose outputs make up a target, where one side is a target: something without a graph, plus a
    discounted value, or with `masks` one that is masked alone. Empty where neither side is one, or what is compared
    with it is no output of a layer."""
    for target, other in ((one.left, one.right), (one.right, one.left)):
        ends = _discounted(target, masks)
        if any(_kind(end) in LAYERS for end in ends) and _are_outputs(other):
            return ends
    return []


def _are_outputs(side: Any) -> bool:
    ends = [one for one in _by_entry(side) if _kind(one) not in graph.BY_ENTRY | CHOICES]
    return bool(ends) and all(_kind(end) in LAYERS for end in ends)


def _discounted(side: Any, masks: bool) -> list[Any]:
    for one in _by_entry(side):
        operands = [inner for inner, _ in one.next_functions] if _kind(one) == "AddBackward0" else []
        if len(operands) == 2 and operands.count(None) == 1:
            under = _by_entry(next(inner for inner in operands if inner is not None))
            if any(_kind(each) == "MulBackward0" and _discounts(each, masks) for each in under):
                return [each for each in under if _kind(each) not in graph.BY_ENTRY | CHOICES]
    return []


def _discounts(product: Any, masks: bool) -> bool:
    """Whether a factor is a number from a half to one, or such numbers and zeros, as where episodes end; ones and zeros
    are `masks`."""
    for name in ("other", "self"):
        value = graph.saved(product, name)
        if isinstance(value, Tensor) and not value.requires_grad and value.numel():
            largest = float(value.max())
            if 0.5 < largest <= 1 and bool(((value == 0) | (value == largest)).all()):
                return largest < 1 or (masks and value.numel() > 1)
    return False


def mirrored(parts: Compared) -> list[Any]:
    """The sides that are meant as constants, where a loss does nothing but compare what a predictor makes of one view
    with the other view, both ways, and both sides have a graph."""
    if parts.rest or not 1 < len(parts.found) <= FEW:
        return []
    sides = [(_stripped(one.left, NORMALISED), _stripped(one.right, NORMALISED)) for one in parts.found]
    above = {side: every(side) for pair in sides for side in pair}
    found = []
    for one in sides:
        for predicted, plain in (one, one[::-1]):
            others = [pair for other in sides if other is not one for pair in (other, other[::-1])]
            if any(
                plain in above[there]
                and back in above[predicted]
                and plain is not back
                and plain is not there  # a network stands between what it predicts and its prediction
                and back is not predicted
                and plain not in above[predicted]
                for there, back in others
            ):
                found.append(plain)
    return found if len(found) == len(sides) else []


def half_mirrored(parts: Compared) -> list[Any]:
    """The same where one side alone is a constant: the other way round, the other view has a graph.

    That the two are one comparison both ways is told by what lies between a view and its prediction: the very same
    operations, one by one.
    """
    if len(parts.found) != 1 or len(parts.halves) != 1:
        return []
    above = every(parts.halves[0].side)
    half = _stripped(parts.halves[0].side, NORMALISED)
    if not above.issuperset(end for end in parts.rest if end is not parts.halves[0].node):
        return []
    sides = [_stripped(one, NORMALISED) for one in parts.found[0][:2]]
    for predicted, plain in (sides, sides[::-1]):
        if plain in above and plain is not half and plain not in every(predicted):
            there = _alike(half, plain, predicted)
            if there is not None and there is not plain and _kind(there) == _kind(plain):
                return [plain]
    return []


def _alike(start: Any, end: Any, other: Any) -> Any:
    """What stands above another node where `end` stands above `start`, with the same operations on the way."""
    waiting, seen = [(start, other)], {start}
    while waiting:
        one, twin = waiting.pop(0)
        if one is end:
            return twin
        pairs = zip(one.next_functions, twin.next_functions, strict=False)
        for (inner, _), (inner_twin, _) in pairs:
            if inner is not None and inner not in seen and inner_twin is not None and _kind(inner) == _kind(inner_twin):
                seen.add(inner)
                waiting.append((inner, inner_twin))
    return None


TURNED = NORMALISED - {"DivBackward0"} | graph.TURNS | {"UnsafeViewBackward0", "ReshapeAliasBackward0"}
"""What changes no number on the way from a table to a loss."""
ROWS = frozenset(f"{name}Backward0" for name in "Embedding IndexSelect Index Gather Mm".split())


def twice(parts: Compared) -> list[Any]:
    """What a row of a table is compared with, where a loss compares the two twice and one of the times, or both, with
    no constant between them: a codebook's loss and its commitment."""
    pairs = [pair for pair in parts.found if pair.is_difference]
    if not 0 < len(pairs) <= FEW:
        return []
    found = []
    for at, one in enumerate(pairs):
        left, right, node = one.left, one.right, one.node
        rows = [is_row(side) for side in (left, right)]
        if rows.count(True) != 1:
            continue
        value = right if rows[0] else left
        # What differs in kind, as squares and absolute values, is one distance in two parts.
        again = any({left, right} == {o.left, o.right} and _kind(node) == _kind(o.node) for o in pairs[:at])
        if again or any(_is_same(half, node, left, right) for half in parts.halves):
            found.append(value)
    return found


def _is_same(half: Half, node: Any, left: Any, right: Any) -> bool:
    """Whether a comparison with a constant is one of these two sides with the other, detached: by where its numbers
    lie, or by the difference itself."""
    if half.numbers is None or half.side not in (left, right):
        return False
    if _kind(node) in DIFFERENCES:
        mine = graph.saved(node, "self")
        if not isinstance(mine, Tensor) or mine.shape != half.numbers.shape:
            return False
        return bool(torch.equal(mine, half.numbers) or torch.equal(mine, -half.numbers))
    other = graph.saved(node, "self" if half.side is right else "target")
    return (
        isinstance(other, Tensor) and other.data_ptr() == half.numbers.data_ptr() and other.shape == half.numbers.shape
    )


def is_row(side: Any) -> bool:
    """Whether it is made of rows of a table of weights and of nothing else."""
    inner = _stripped(side, TURNED)
    kind = _kind(inner)
    operands = [_stripped(one, TURNED) for one, _ in inner.next_functions if one is not None] if kind in ROWS else []
    return len(operands) == 1 and hasattr(operands[0], "variable")


SUMS = frozenset(f"{name}Backward0" for name in "Add Sub Neg Mean Sum Squeeze Unsqueeze View Clone ToCopy".split())
SUMS |= {"MeanBackward1", "SumBackward1", "SqueezeBackward1", "RsubBackward1", "CopySlices"}
"""Operations of which a loss is linear in all that they are given, or that put losses into the places of a tensor;
products and quotients may be linear, too."""


def apart(node: Any) -> Iterator[tuple[set[int], set[int], bool]]:
    """The leaves of what a loss adds where nothing else in it reaches these, and all other leaves: first of those
    summands that are a network's value as it is, and so are marked, then of each summand, or all that share leaves."""
    ends: list[Any] = []
    waiting, seen = [node], {node}
    while waiting:
        one = waiting.pop()
        if _kind(one) in SUMS or (_kind(one) in SCALED and [inner for inner, _ in one.next_functions].count(None) == 1):
            new = {inner for inner, _ in one.next_functions if inner is not None} - seen
            seen |= new
            waiting += new
        else:
            ends.append(one)
        if len(ends) > MOST_ENDS:
            return
    reached = {one: leaves([one]) for one in ends}
    values = [one for one in ends if _is_value(one)]
    for some in (values, *_together(reached)):
        found = {leaf for one in some for leaf in reached[one]}
        others = {leaf for one in ends if one not in some for leaf in reached[one]}
        if found and others and not found & others:
            yield found, others, some is values


def _together(reached: dict[Any, set[int]]) -> list[list[Any]]:
    """Summands in groups: those of two groups reach no leaf both."""
    groups: list[tuple[list[Any], set[int]]] = []
    for one, leaves_of in reached.items():
        near = [group for group in groups if group[1] & leaves_of]
        groups = [group for group in groups if group not in near]
        groups.append(([*(n for group in near for n in group[0]), one], leaves_of.union(*(group[1] for group in near))))
    return [group for group, _ in groups] if len(groups) > 1 else []


def _is_value(node: Any) -> bool:
    """Whether something is one number a row from a last layer, or the least or the mean of several such."""
    ends = [one for one in graph.by_entry(node, BETWEEN, MOST) if _kind(one) not in BETWEEN]
    return bool(ends) and all(graph.is_single_output(end) for end in ends)


def draws(nodes: Collection[Any]) -> list[Any]:
    """Where `torch.normal` draws from something with a graph: its gradient is zero whatever follows.

    Not where the sample is compared with its own mean, as a log-probability written by hand does; nor `x.normal_()`,
    which fills what may be there for its shape alone.
    """
    found = [one for one in nodes if _kind(one).startswith("NormalBackward") and _kind(one) != "NormalBackward0"]
    weighed = [
        _stripped(inner, graph.BY_ENTRY)
        for one in nodes
        if _kind(one) == "SubBackward0"
        for inner, _ in one.next_functions
    ]
    return [one for one in found if one not in weighed]


def with_itself(nodes: Iterable[Any], named: bool) -> list[Any]:
    """The parameters that are compared with a copy that still has their graph, or where they are `named` so, with
    themselves: in the difference of the two every gradient comes twice, with opposite signs.

    Not what is compared with other parameters as well: where each meets each, it also meets itself.
    """
    found, others = [], set()
    for one in nodes:
        if _kind(one) in LOSSES or _kind(one) == "SubBackward0":
            sides = [inner for inner, _ in one.next_functions[:2]]
            left, right = (_stripped(inner, COPIES) for inner in sides)
            if left is not right and hasattr(left, "variable") and hasattr(right, "variable"):
                others |= {left, right}
            elif hasattr(left, "variable") and left is right and (named or (sides[0] is left) != (sides[1] is left)):
                found.append(left)
    return [one for one in found if one not in others]


def distances(nodes: Iterable[Any]) -> Iterator[tuple[Any, bool]]:
    """The parameters that are compared with a constant of their shape, and whether the two are equal bit for bit."""
    for one in nodes:
        kind = _kind(one)
        inner = _stripped(one.next_functions[0][0], COPIES) if kind in GAPS else one
        if _kind(inner) != "SubBackward0" and kind not in LOSSES:
            continue
        sides = [side for side, _ in inner.next_functions[:2]]
        if len(sides) != 2 or sides.count(None) != 1:
            continue
        parameter = getattr(_stripped(sides[0] or sides[1], COPIES), "variable", None)
        value, other = graph.saved(one, "self"), graph.saved(one, "target") if kind in LOSSES else 0
        if parameter is not None and isinstance(value, Tensor) and value.shape == parameter.shape:
            yield parameter, bool((value == other).all())


def _divides(product: Comparison) -> bool:
    """Whether a product is of a divergence, or of vectors at unit length."""
    kinds = {_kind(one) for one in product[:2]}
    return bool(kinds & {"LogSoftmaxBackward0", "LogBackward0", "DivBackward0"})


def every(node: Any) -> set[Any]:
    """All nodes of a graph; none where it is too large."""
    waiting, seen = [node], {node}
    while waiting:
        new = {inner for inner, _ in waiting.pop().next_functions if inner is not None} - seen
        seen |= new
        waiting += new
        if len(seen) > graph.MOST_NODES:
            return set()
    return seen


def leaves(nodes: Iterable[Any]) -> set[int]:
    """The leaves that these nodes reach, by `id`."""
    given = list(nodes)
    own = {id(leaf) for one in given if (leaf := getattr(one, "variable", None)) is not None}
    return own | set(graph.uses(*given)) if given else set()


def alone(parts: Compared) -> Iterator[tuple[set[int], set[int]]]:
    """The leaves that a loss reaches through one side of a comparison alone, and those of the other side; of
    comparisons that are least where both sides are the same. Not where it also drives the two apart, as a contrastive
    loss does: both of them learn."""
    if len(parts.found) > FEW:
        return
    others = leaves(parts.rest)
    sides = [(leaves([one.left]), leaves([one.right])) for one in parts.found]
    signs = [({*map(frozenset, pair)}, one.sign) for pair, one in zip(sides, parts.found, strict=True)]
    for one, found in zip(sides, parts.found, strict=True):
        if not (found.is_difference or _divides(found)) or ({*map(frozenset, one)}, -found.sign) in signs:
            continue
        for mine, theirs in (one, one[::-1]):
            mixed = any((mine & a and mine & b) for a, b in sides)
            if mine and theirs and not mine & (theirs | others) and not mixed:
                yield mine, theirs
