"""What a loss compares with what: both sides have a graph, and one of them may be meant as a constant.

Looked at for the first passes of a line. Only nodes are read, and constants that autograd saved; nothing is kept.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from torch import Tensor

from gradient_ledger import graph

LOSSES = frozenset(f"{n}Backward0" for n in "MseLoss SmoothL1Loss HuberLoss BinaryCrossEntropyWithLogits".split())
"""Losses of two things that both may have a graph."""
DIFFERENCES = frozenset({"PowBackward0", "AbsBackward0"})
CHOICES = frozenset(f"{n}Backward0" for n in "Max Amax Min Amin Minimum Maximum Logsumexp MaskedFill IndexPut".split())
CHOICES |= {"MaxBackward1", "MinBackward1", "CopySlices"}
"""How the value of a state is made from those of its actions, or of several critics."""
LAYERS = frozenset(f"{n}Backward0" for n in "Addmm Addmv Linear Embedding".split()) | {"AccumulateGrad"}
"""What values come from: the last layer of a network, or a table."""
NORMALISED = frozenset({"DivBackward0", "CloneBackward0", "ViewBackward0", "SqueezeBackward1", "UnsqueezeBackward0"})
"""What may lie between a vector and the same vector at unit length."""
COPIES = frozenset({"CloneBackward0", "AliasBackward0", "ToCopyBackward0"})

MOST = 512
FEW = 8
"""More comparisons than these, as of each step of a sequence, are not followed to the leaves."""


class Comparison(NamedTuple):
    """Two sides of a difference or of a product, each with a graph."""

    left: Any
    right: Any
    is_difference: bool


class Compared(NamedTuple):
    """All comparisons of a loss, and the ends of its other parts."""

    found: list[Comparison]
    rest: list[Any]


def compared(node: Any) -> Compared:
    """The comparisons that a loss sums up, up to the first operations that mix entries."""
    found, rest = [], []
    waiting, seen = [node], {node}
    while waiting and len(seen) < MOST:
        one = waiting.pop()
        pair = _comparison(one)
        if pair is not None:
            found.append(pair)
        elif _kind(one) in graph.BY_ENTRY:
            new = {inner for inner, _ in one.next_functions if inner is not None} - seen
            seen |= new
            waiting += new
        elif _kind(one) != "XlogyBackward0":  # the entropy of what a divergence is taken from
            rest.append(one)
    return Compared(found, rest + waiting)


def _comparison(node: Any) -> Comparison | None:
    kind = _kind(node)
    if kind in LOSSES:
        return _pair(node, True)
    if kind in DIFFERENCES:
        inner = _stripped(node.next_functions[0][0], graph.THROUGH | {"ViewBackward0"})
        return _pair(inner, True) if _kind(inner) == "SubBackward0" else None
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
    return Comparison(left, right, is_difference) if left is not None and right is not None else None


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


def bootstraps(one: Comparison) -> list[Any]:
    """The layers whose outputs make up a target, where one side is a target: something without a graph, plus a
    discounted value. Empty where neither side is one, or what is compared with it is no output of a layer."""
    for target, other in ((one.left, one.right), (one.right, one.left)):
        ends = _discounted(target)
        if any(_kind(end) in LAYERS for end in ends) and _are_outputs(other):
            return ends
    return []


def _are_outputs(side: Any) -> bool:
    ends = [one for one in _by_entry(side) if _kind(one) not in graph.BY_ENTRY | CHOICES]
    return bool(ends) and all(_kind(end) in LAYERS for end in ends)


def _discounted(side: Any) -> list[Any]:
    for one in _by_entry(side):
        operands = [inner for inner, _ in one.next_functions] if _kind(one) == "AddBackward0" else []
        if len(operands) == 2 and operands.count(None) == 1:
            under = _by_entry(next(inner for inner in operands if inner is not None))
            if any(_kind(each) == "MulBackward0" and _discounts(each) for each in under):
                return [each for each in under if _kind(each) not in graph.BY_ENTRY | CHOICES]
    return []


def _discounts(product: Any) -> bool:
    """Whether a factor is a number from a half to one, or such numbers and zeros, as where episodes end."""
    for name in ("other", "self"):
        value = graph.saved(product, name)
        if isinstance(value, Tensor) and not value.requires_grad and value.numel():
            largest = float(value.max())
            if 0.5 < largest <= 1 and bool(((value == 0) | (value == largest)).all()):
                return largest < 1 or value.numel() > 1
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
                and plain not in above[predicted]
                for there, back in others
            ):
                found.append(plain)
    return found if len(found) == len(sides) else []


def draws(nodes: Collection[Any]) -> list[Any]:
    """Where `torch.normal` draws from something with a graph: its gradient is zero whatever follows.

    Not where the sample is compared with its own mean, as a log-probability written by hand does.
    """
    found = [one for one in nodes if _kind(one).startswith("NormalBackward")]
    weighed = [
        _stripped(inner, graph.BY_ENTRY)
        for one in nodes
        if _kind(one) == "SubBackward0"
        for inner, _ in one.next_functions
    ]
    return [one for one in found if one not in weighed]


def with_itself(nodes: Iterable[Any]) -> list[Any]:
    """The parameters of which a copy is taken that still has their graph: in the difference of the two every gradient
    comes twice, with opposite signs."""
    found = []
    for one in nodes:
        if _kind(one) in LOSSES or _kind(one) == "SubBackward0":
            left, right = (_stripped(inner, COPIES) for inner, _ in one.next_functions[:2])
            if left is right and hasattr(left, "variable"):
                found.append(left)
    return found


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
    comparisons that are least where both sides are the same."""
    if len(parts.found) > FEW:
        return
    others = leaves(parts.rest)
    sides = [(leaves([one.left]), leaves([one.right])) for one in parts.found]
    for one in [pair for pair, found in zip(sides, parts.found, strict=True) if found.is_difference or _divides(found)]:
        for mine, theirs in (one, one[::-1]):
            mixed = any((mine & a and mine & b) for a, b in sides)
            if mine and theirs and not mine & (theirs | others) and not mixed:
                yield mine, theirs
