"""Small questions about the graph of a loss. Nothing of it is kept."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import torch

THROUGH = frozenset({"MulBackward0", "ToCopyBackward0", "CloneBackward0", "AliasBackward0", "SqueezeBackward0"})

COMBINING = THROUGH | {"DivBackward0", "AddBackward0", "StackBackward0", "CatBackward0", "UnsqueezeBackward0"}
COMBINING |= {"MeanBackward0", "SumBackward0"}

TURNS = frozenset({"PermuteBackward0", "TBackward0", "TransposeBackward0", "ToCopyBackward0", "ExpandBackward0"})
"""What may lie between a product of matrices and the operand as the user wrote it."""

BY_ENTRY = COMBINING | {f"{name}Backward0" for name in "Neg Sub Exp Clamp Minimum Pow Std View Select Slice".split()}
BY_ENTRY |= {f"{name}Backward0" for name in "UnsafeView ReshapeAlias Gather Index Unbind Split Where".split()}
BY_ENTRY |= {f"{name}Backward1" for name in "Squeeze Sum Mean Rsub Clamp Where Div".split()}
"""Operations between a layer's output and a loss that take their numbers one by one, or sum them up."""

LIKELIHOODS = {f"{name}Backward0" for name in "LogSoftmax Logsumexp NllLoss Log BinaryCrossEntropyWithLogits".split()}

LEAVING = ("detach", "item", "tolist", "numpy")
"""What takes a tensor's values out of its graph."""

MOST_NODES = 20_000
"""Larger graphs are not walked."""


def is_loss(node: Any) -> bool:
    """Whether a node of the graph reduces something to a loss."""
    name = type(node).__name__
    return hasattr(node, "_saved_reduction") or name in (
        "MeanBackward0",
        "SumBackward0",
        "MeanBackward1",
        "SumBackward1",
    )


def without_factors(node: Any) -> Any:
    """The node of what a loss is, apart from its sign and from numbers that it is multiplied with or divided by."""
    while type(node).__name__ in ("NegBackward0", "MulBackward0", "DivBackward0"):
        inner = [below for below, _ in node.next_functions if below is not None]
        if len(inner) != 1:
            break
        node = inner[0]
    return node


def describe(node: Any, scaled: bool) -> dict[str, Any]:
    """Name of the loss's last operation, and whether that is a mean over a batch.

    Looks through the product with the loss scale, and through changes of dtype.
    """
    last = node
    reduction = None
    for _ in range(3):
        found = _reduction(node)
        if found:
            reduction, last = found, node
            break
        kind = _kind(node.__class__)
        if kind not in THROUGH or (kind == "MulBackward0" and not scaled):
            break
        node = below(node)
    root = _kind(last.__class__).removesuffix("0").removesuffix("Backward") if last is not None else ""
    return {"root": root, "reduction": reduction}


def sign(node: Any) -> Any:
    """Something quick that is the same only for losses that `describe` describes alike; None where nothing is."""
    kind = node.__class__
    if _says_reduction(kind):
        return kind, node._saved_reduction
    word = _kind(kind)
    if word == "DivBackward0":
        return kind if _kind(below(node).__class__) != "SumBackward0" else None
    return kind if word == "MeanBackward0" else None


@lru_cache(maxsize=256)
def _kind(kind: type) -> str:
    """The name of an operation: torch makes the word anew each time."""
    return kind.__name__


@lru_cache(maxsize=256)
def _says_reduction(kind: type) -> bool:
    return hasattr(kind, "_saved_reduction")


def _reduction(node: Any) -> str | None:
    kind = node.__class__
    if _says_reduction(kind):
        return {0: "none", 1: "mean", 2: "sum"}.get(node._saved_reduction)
    return "mean" if _kind(kind) == "MeanBackward0" or _is_mean_of_rows(node) else None


def _is_mean(node: Any) -> bool:
    """Whether this is a mean, or one whose sign was changed."""
    return _reduction(below(node) if _kind(node.__class__) == "NegBackward0" else node) == "mean"


def _is_mean_of_rows(node: Any) -> bool:
    """Whether this is a sum over everything divided by the number of its rows, as `reduction="batchmean"` is."""
    if _kind(node.__class__) != "DivBackward0":
        return False
    inner = below(node)
    sizes: tuple[int, ...] = (
        getattr(inner, "_saved_self_sym_sizes", ()) if _kind(inner.__class__) == "SumBackward0" else ()
    )
    return len(sizes) > 0 and number(node) == sizes[0]


def _is_over_count(node: Any) -> bool:
    """Whether this is a sum divided by a whole number of what was summed, as a mean over what a mask leaves is."""
    count = number(node) if _kind(node.__class__) == "DivBackward0" else None
    return count is not None and count.is_integer() and 1 < count <= _summed(below(node))


def below(node: Any) -> Any:
    """The first node that a node's gradient goes on to; None where there is none."""
    for inner, _ in node.next_functions:
        if inner is not None:
            return inner
    return None


def divisions(node: Any, scaled: bool) -> dict[str, Any]:
    """By which constant a mean loss was divided, and which summand of a sum was left undivided beside one that was.

    Reads constants that autograd saved; asked for the first passes of a line only.
    """
    if (counts := _counts(node, scaled)) is not None:
        return {"counts": counts} if counts else {"means": True}
    factor, inner, quotient = _constant(node, scaled)
    if type(inner).__name__ == "AddBackward0" and _is_smoothed(inner):
        return {"divisor": float(whole)} if quotient and (whole := _whole(factor)) else {"bare": factor == 1.0}
    if type(inner).__name__ in SUMS:
        by_summand = tuple(sorted({by for one in summands(inner) for by in shares(one, False)}))
        apart = {"summands_by": by_summand} if factor == 1.0 else {}
        terms = [(1.0, one, False) if _is_over_count(one) else _constant(one, False) for one in summands(inner)]
        divided = {
            whole
            for one, (f, _, quotient) in zip(summands(inner), terms, strict=True)
            if quotient and (whole := _whole(f) or _share_under_weight(one, f))
        }
        by = _whole(factor) if quotient else 0
        plain = not divided and all(_reduction(one) == "mean" for _, one, _ in terms)
        mean_of_means = by == len(terms) > 1 and not divided and all(_is_mean(one) for _, one, _ in terms)
        means = {"means": True} if (plain and factor == 1.0) or mean_of_means else {}
        if factor == 1.0 and len(divided) == 1:
            left = [one for f, one, quotient in terms if not quotient and (f == 1.0 or _round(f))]
            if left:
                return {"divisor": float(*divided), "undivided": _word(left[0])} | apart
        known: dict[str, Any] = {"quotient": by} if by else {}
        return means | {"bare": factor == 1.0 and any(f == 1.0 for f, _, _ in terms)} | known | apart
    if _reduction(inner) != "mean":
        return {}
    whole = _whole(factor) if quotient else 0
    named = hasattr(inner, "_saved_reduction")  # a mean of something else may be divided for its unit
    if whole and (selected := _selected(inner)):
        return {"divisor": float(whole), "targets": selected}
    if not whole or not named:
        weighed = factor != 1.0 and not quotient and _round(factor)
        return {"bare": factor == 1.0} | ({"weighed": True} if weighed else {})
    if whole == _images(inner):  # a mean over the pixels that is also divided by the number of images
        return {"bare": False}
    targets = _targets(inner)
    return {"divisor": float(whole)} | ({"targets": targets} if targets is not None else {})


def _share_under_weight(node: Any, factor: float) -> int:
    """The whole number that a summand is divided by beside a weight such as people write, else 0."""
    whole = math.prod(shares(node, False))
    return whole if whole > 1 and _round(factor * whole) else 0


def _counts(node: Any, scaled: bool) -> tuple[float, ...] | None:
    """By which counts the sums in a loss were divided, beside those over all that was summed; None where the loss has
    no such sum, where a summand is neither a mean nor a sum over a count, or where each of them has a weight.

    A count of more than what was summed is that of a whole window: such a loss is none of them.
    """
    factor, top, _ = _constant(node, True) if scaled else (1.0, node, False)
    if factor != 1.0:
        return None
    counts, counted, plain = [], False, False
    for one in summands(top):
        term = _without_weight(one)
        plain = plain or term is one
        if _reduction(term) == "mean":
            continue
        entries = _summed(below(term)) if _kind(term.__class__) == "DivBackward0" else 0
        count = _divisor(term) if entries else None
        if count is None or not 1 < count <= entries:
            return None
        counted = True
        counts += [count] * (count < entries)
    return tuple(counts) if counted and plain else None


def _without_weight(node: Any) -> Any:
    """The node under a Python number that a summand of a loss is multiplied with."""
    for _ in range(4):
        if _kind(node.__class__) not in THROUGH or (_kind(node.__class__) == "MulBackward0" and number(node) is None):
            break
        node = below(node)
    return node


def _summed(node: Any) -> int:
    """How many numbers a sum is over, 0 where this is none."""
    kind = _kind(node.__class__)
    if kind in _SUMMED:
        return math.prod(getattr(node, "_saved_self_sym_sizes", ()))
    before = saved(node, "self") if _says_reduction(node.__class__) and _reduction(node) == "sum" else None
    return before.numel() if before is not None else 0


def _divisor(node: Any) -> float | None:
    """What a quotient divides by, one number."""
    by = saved(node, "other")
    return float(by) if by is not None and by.numel() == 1 and by.is_cpu and not by.requires_grad else None


def without_scale(node: Any, scaled: bool) -> Any:
    """The node of a loss under the product with the loss scale, where a scaler has made one."""
    return below(node) if scaled and type(node).__name__ == "MulBackward0" else node


def over_counts(node: Any, scaled: bool = False) -> tuple[tuple[float, ...], int]:
    """By which numbers a sum, or a sum of such, was divided as a whole, one after the other from the root on; and over
    how many rows it is at most, where it is one of cross-entropies and that is kept, else 0."""
    found: list[float] = []
    node = without_scale(node, scaled)
    for _ in range(6):
        kind = type(node).__name__ if node is not None else ""
        if kind == "DivBackward0":
            by = number(node) or _divisor(node)
            if not by:
                return (), 0
            found.append(by)
        elif kind not in THROUGH or kind == "MulBackward0":
            break
        node = below(node)
    parts = summands(node) if found and node is not None else []
    if not parts or not all(map(_is_sum, parts)):
        return (), 0
    entries = [_most_summed(one) for one in parts]
    return tuple(found), sum(entries) if all(entries) else 0


def _most_summed(node: Any) -> int:
    """Over how many rows a cross-entropy is a sum at most: the rows of the product that its scores are tell, in a
    checkpoint too, whose tensors are not there. 0 for any other sum: each of its entries may be one."""
    for _ in range(6 if _says_reduction(node.__class__) else 0):
        node = below(node) if node is not None else None
        sizes = getattr(node, "_saved_self_sym_sizes", ()) if type(node).__name__ in _ENDS else ()
        if sizes:
            return int(sizes[0])
    return 0


def _is_sum(node: Any) -> bool:
    """Whether this is a sum, by its kind alone: what it is over may not be kept, as in a checkpoint."""
    return _kind(node.__class__) in _SUMMED or _reduction(node) == "sum"


def counted_again(node: Any, scaled: bool) -> int:
    """Over how many targets a cross-entropy is a mean, where it is divided by that number once more; else 0."""
    return next((by for by, mean in _divided_means(node) if by == _targets(mean)), 0)


def rows_again(node: Any) -> int:
    """Over how many rows a mean is, two or more, where it is divided by that number once more; else 0."""
    return next((by for by, mean in _divided_means(node) if by > 1 and by in (_targets(mean), _rows(mean))), 0)


def _divided_means(node: Any) -> Iterator[tuple[int, Any]]:
    """The numbers that a mean is divided by, from the root on, each with the mean."""
    for _ in range(6):
        kind = type(node).__name__ if node is not None else ""
        if kind == "DivBackward0":
            by, mean = number(node) or _divisor(node), _constant(below(node), False)[1]
            mean = below(mean) if type(mean).__name__ == "NegBackward0" else mean
            if by and by > 1 and by == int(by) and _reduction(mean) == "mean":
                yield int(by), mean
        if kind not in THROUGH and kind != "DivBackward0":
            break
        node = below(node)


def _rows(mean: Any) -> int:
    """Over how many rows a mean is, by the size of what it was taken of; 0 where that is not kept."""
    sizes = getattr(mean, "_saved_self_sym_sizes", None) if type(mean).__name__ == "MeanBackward0" else None
    before = saved(mean, "self") if sizes is None and _says_reduction(mean.__class__) else None
    sizes = tuple(before.shape) if before is not None else sizes
    return int(sizes[0]) if sizes else 0


_PICKING = {"MaxBackward0", "MaxBackward1", "AmaxBackward0", "GatherBackward0", "SelectBackward0", "IndexBackward0"}
"""Operations that pick some of what they are given."""
_ENDS = {"AddmmBackward0", "MmBackward0", "BmmBackward0", "LinearBackward0", "ConvolutionBackward0"}
"""Operations that many models end in."""
_WHOLE = {"SumBackward0", "SumBackward1", "MeanBackward0", "MeanBackward1"}
_SHAPES = {"ViewBackward0", "ReshapeAliasBackward0", "UnsafeViewBackward0", "SqueezeBackward0", "SqueezeBackward1"}


def is_of_outputs(node: Any, scaled: bool) -> bool:
    """Whether this is a sum or a mean of outputs as they are, or of picked ones, without a weight or a function around
    it, or one of them."""
    _, inner, _ = _constant(node, scaled)
    whole = type(inner).__name__ in _WHOLE
    inner = below(inner) if whole else inner
    while inner is not None and type(inner).__name__ in _SHAPES:
        inner = below(inner)
    return inner is not None and _kind(inner.__class__) in (_PICKING | _ENDS if whole else _PICKING)


def divided(node: Any, scaled: bool) -> int:
    """The whole number that a loss was divided by as a whole, else 0."""
    factor, _, quotient = _constant(node, scaled)
    return _whole(factor) if quotient else 0


def shares(node: Any, scaled: bool) -> tuple[int, ...]:
    """By which whole numbers a loss was divided one after the other, from its root on.

    The loss is a mean, one over what a mask leaves, or a sum of several losses with a mean among them. Where it is a
    sum over a count that nobody can tell from such a number, the innermost one is the count; and what a sum of just as
    many losses is divided by may be their mean.
    """
    found: list[int] = []
    for _ in range(8):
        kind = type(node).__name__ if node is not None else ""
        value = number(node) if kind in ("MulBackward0", "DivBackward0") else None
        if kind not in THROUGH and not (kind == "DivBackward0" and value):
            break
        if kind == "MulBackward0" and value is None:
            if not scaled:
                break
            scaled = False  # the loss scale is a tensor, and the outermost factor
        if value and (whole := _whole(1 / value if kind == "DivBackward0" else value)):
            found.append(whole)
        node = below(node)
    kind = type(node).__name__ if node is not None else ""
    if kind in SUMS:
        terms = list(_losses(node))
        means = [one for one in terms if _reduction(_constant(one, False)[1]) == "mean" or type(one).__name__ in SUMS]
        return tuple(by for by in found if by != len(terms)) if means else ()
    if kind == "DivBackward0":  # by a tensor: what a mask leaves
        return tuple(found) if all(type(one).__name__ in _SUMMED for one in summands(below(node))) else ()
    if _reduction(node) == "mean":
        return tuple(found)
    return tuple(found[:-1]) if kind in _SUMMED else ()


def _losses(node: Any, most: int = 256) -> Iterable[Any]:
    """What a sum is made of, a cross-entropy with label smoothing, which is a sum itself, taken as a whole."""
    waiting, seen = [node], 0
    while waiting and seen < most:
        one = waiting.pop()
        seen += 1
        core = _constant(one, False)[1]
        if type(core).__name__ in SUMS and _is_smoothed(core):
            yield core
        elif type(one).__name__ in SUMS:
            waiting += [inner for inner, _ in one.next_functions if inner is not None]
        else:
            yield one


def _targets(node: Any) -> int | None:
    """Over how many targets a cross-entropy is a mean: those that it ignores do not count."""
    total, weights = getattr(node, "_saved_total_weight", None), getattr(node, "_saved_weight", None)
    if not isinstance(total, torch.Tensor) or weights is not None or not total.is_cpu or total.numel() != 1:
        return None
    return int(total)


_SELECTING = ("IndexBackward0", "MaskedSelectBackward0")


def _selected(node: Any) -> int:
    """Over how many entries a mean is, where a mask has selected these; else 0."""
    if type(node).__name__ != "MeanBackward0":
        return 0
    for one in by_entry(node, BY_ENTRY - set(_SELECTING)):
        indices = saved(one, "indices") if type(one).__name__ in _SELECTING else None
        masked = any(isinstance(index, torch.Tensor) and index.dtype == torch.bool for index in indices or ())
        if masked or type(one).__name__ == "MaskedSelectBackward0":
            return int(saved(node, "self_sym_numel") or 0)
    return 0


def _images(node: Any) -> int | None:
    """How many images a cross-entropy over pixels is over."""
    target = saved(node, "target") if _kind(node.__class__).startswith("NllLoss2D") else None
    if not isinstance(target, torch.Tensor) or target.dim() != 3 or target.shape[1] == 1:
        return None  # sequences come here as images of one row
    return target.shape[0]


def _is_smoothed(node: Any) -> bool:
    """Whether a sum is one cross-entropy with label smoothing: both of its terms come from one log-softmax."""
    ends = []
    for one in summands(node):
        for _ in range(8):
            if one is None or type(one).__name__ == "LogSoftmaxBackward0":
                break
            one = below(one)
        ends.append(one)
    return len(ends) == 2 and ends[0] is not None and ends[0] is ends[1]


def _constant(node: Any, scaled: bool) -> tuple[float, Any, bool]:
    """The product of the constants a loss was multiplied with, the node under them, and whether one divided."""
    factor, quotient = 1.0, False
    for _ in range(6):
        kind = type(node).__name__ if node is not None else ""
        if (kind not in THROUGH and kind != "DivBackward0") or (kind == "DivBackward0" and _is_mean_of_rows(node)):
            break
        if kind in ("MulBackward0", "DivBackward0"):
            value = number(node)
            if value is None and not scaled:
                break
            scaled = scaled and value is not None  # the loss scale is a tensor, and the outermost factor
            value = 1.0 if value is None else value
            quotient = quotient or kind == "DivBackward0"
            factor *= 1 / value if kind == "DivBackward0" and value else value
        node = below(node)
    return factor, node, quotient


def is_multiple(node: Any, of: Any) -> bool:
    """Whether a graph ends in a product, or a quotient, of a number and what another one ends in."""
    for _ in range(4):
        if node is None or node is of or type(node).__name__ not in ("MulBackward0", "DivBackward0"):
            break
        node = below(node) if number(node) is not None else None
    return node is not None and node is of


def number(node: Any) -> float | None:
    """The Python number in a product or a quotient: wrapped, it has another dtype than losses have."""
    for name in ("_saved_other", "_saved_self"):
        value = getattr(node, name, None)
        if isinstance(value, torch.Tensor) and value.dim() == 0 and value.device.type == "cpu":
            if value.dtype in (torch.int64, torch.float64) and not value.requires_grad:
                return float(value)
    return None


SUMS = ("AddBackward0", "SubBackward0")
_SUMMED = ("SumBackward0", "SumBackward1")


def summands(node: Any, most: int = 12) -> list[Any]:
    """What a sum or a difference is made of."""
    found: list[Any] = []
    waiting = [node]
    while waiting and len(found) < most:
        one = waiting.pop()
        if type(one).__name__ in SUMS:
            waiting += [inner for inner, _ in one.next_functions if inner is not None]
        else:
            found.append(one)
    return found


def is_sum(node: Any) -> bool:
    """Whether a loss, apart from what it is multiplied with or divided by, is made of several that have a graph."""
    for _ in range(8):
        parts = [inner for inner, _ in node.next_functions if inner is not None]
        if len(parts) != 1 or type(node).__name__ in SUMS:
            return len(parts) > 1
        node = parts[0]
    return False


def _whole(factor: float) -> int:
    """The whole number from 2 on that a factor divides by, else 0."""
    by = round(1 / factor) if factor > 0 else 0
    return by if by >= 2 and math.isclose(factor * by, 1.0, rel_tol=1e-6) else 0


def _round(factor: float) -> bool:
    """Whether a factor looks as people write weights: 0.1, 0.01, 2.0, with one digit that counts."""
    return factor > 0 and float(f"{factor:.0e}") == float(f"{factor:.6e}")


def factors_to(node: Any, mark: str) -> list[float]:
    """The known factors between a sum and what in it carries a mark, one for each that is found near its end."""
    found, waiting, seen = [], [(node, 1.0)], 0
    while waiting and seen < 24:
        one, factor = waiting.pop(0)
        if one is None:
            continue
        seen += 1
        kind = type(one).__name__
        if mark in one.metadata:
            found.append(factor)
        elif kind in ("MulBackward0", "DivBackward0"):
            value = number(one)
            if value:
                factor = factor / value if kind == "DivBackward0" else factor * value
                waiting.append((below(one), factor))
        elif kind in COMBINING:
            waiting += [(inner, factor) for inner, _ in one.next_functions]
    return found


def _word(node: Any) -> str:
    return type(node).__name__.removesuffix("0").removesuffix("1").removesuffix("Backward")


def contrast(node: Any) -> int:
    """Rows of the table of similarities that a loss contrasts, 0 where it does nothing of the kind.

    A cross-entropy over all pairs of one batch: a square product of two computed matrices, whose right answers stand
    each in another column: on the diagonal, or shifted. Or what people write out in its place.
    """
    for one in _near(node, 24):
        if type(one).__name__ != "NllLossBackward0":
            continue
        table, target = one._saved_self, one._saved_target
        rows = table.shape[0] if table.dim() == 2 else 0
        if (
            rows < 2
            or table.shape[1] != rows
            or not bool((target.sort().values == torch.arange(rows, device=target.device)).all())
        ):
            continue
        inner = below(one)
        for _ in range(6):
            if type(inner).__name__ in ("MmBackward0", "BmmBackward0"):
                operands = [_computed(operand) for operand, _ in inner.next_functions]
                return rows if len(operands) == 2 and all(operands) else 0
            if type(inner).__name__ not in (*THROUGH, "LogSoftmaxBackward0", "DivBackward0", "MaskedFillBackward0"):
                break
            inner = below(inner)
    return _contrast_by_hand(node)


_IN_TABLES = BY_ENTRY | TURNS | {f"{name}Backward0" for name in "MaskedFill MaskedSelect Diagonal".split()}
_IN_TABLES |= {"DiagonalBackward0_copy"}
"""Operations between a table of similarities and a loss written by hand, besides exponentials and logarithms."""


def _contrast_by_hand(node: Any) -> int:
    """Rows of a square table of similarities whose exponentials a loss sums and takes the logarithm of; else 0.

    As `-log(exp(s_ij) / sum_k exp(s_ik))`, written out, by log-softmax or by `logsumexp`; or as a cross-entropy whose
    right answers were put into the first column.
    """
    waiting, seen = [(node, "")], {(node, "")}
    while waiting and len(seen) < 512:
        one, above = waiting.pop()
        kind = type(one).__name__
        if above == "exp" and (rows := _rows_of_pairs(one)):
            return rows
        if kind == "NllLossBackward0" and _all_in_first(saved(one, "target")):
            found = "log"
        elif kind in ("LogSoftmaxBackward0", "LogsumexpBackward0"):
            found = "exp"
        elif kind == "LogBackward0":
            found = above or "log"
        elif kind in ("ExpBackward0", "SoftmaxBackward0") and above:
            found = "exp"
        elif kind in _IN_TABLES:
            found = above
        else:
            continue
        new = {(inner, found) for inner, _ in one.next_functions if inner is not None} - seen
        seen |= new
        waiting += new
    return 0


def _all_in_first(target: Any) -> bool:
    """Whether the right answer of each of several rows is the first class."""
    return isinstance(target, torch.Tensor) and target.dim() == 1 and len(target) > 1 and not bool(target.any())


def _rows_of_pairs(node: Any) -> int:
    """How many rows were each multiplied with all of as many, where both sides were computed; else 0."""
    kind = type(node).__name__
    operands = [inner for inner, _ in node.next_functions]
    if kind not in ("MmBackward0", "BmmBackward0", "MulBackward0") or len(operands) != 2:
        return 0
    shape = tuple(node._input_metadata[0].shape)
    if kind == "BmmBackward0" and shape[0] == 1:
        shape = shape[1:]
    rows = int(shape[0]) if shape else 0
    if rows < 2 or shape[:2] != (rows, rows) or len(shape) != 2 + (kind == "MulBackward0"):
        return 0
    if kind == "MulBackward0":  # each row beside all others, as for `cosine_similarity`
        sides = {_before_spread(inner) for inner in operands}
        return rows if sides == {(rows, 1), (1, rows)} else 0
    weighs = any(type(inner).__name__ == "SoftmaxBackward0" for inner in operands)  # as attention does
    return rows if all(map(_computed, operands)) and not weighs else 0


def _before_spread(node: Any) -> tuple[int, ...]:
    """The first two sizes of what was given to a product by pairs, before it was spread over these."""
    while node is not None and type(node).__name__ in ("DivBackward0", "ExpandBackward0"):
        node = below(node)
    return tuple(node._input_metadata[0].shape[:2]) if hasattr(node, "_input_metadata") else ()


def _computed(node: Any) -> bool:
    """Whether an operand of a product of matrices is no parameter, as it is or in another shape, nor rows put beside
    constants, as beside those of other micro-batches that were kept."""
    while node is not None and type(node).__name__ in TURNS | _SHAPES | {"UnsqueezeBackward0"}:
        node = below(node)
    if type(node).__name__ == "CatBackward0" and any(inner is None for inner, _ in node.next_functions):
        return False
    return node is not None and type(node).__name__ != "AccumulateGrad"


def critic(node: Any) -> list[torch.Tensor]:
    """The parameters of the value that weighs a log-probability and has a graph itself; else empty.

    A policy's loss is a log-probability times an advantage, which is a difference to a value: one number a state from
    a linear layer. Weights that depend on the probability itself, as in a focal loss or an entropy, are none.
    """
    for product in by_entry(node):
        if type(product).__name__ != "MulBackward0":
            continue
        factors = [list(by_entry(inner)) for inner, _ in product.next_functions if inner is not None]
        if len(factors) != 2:
            continue
        likely = [_is_likelihood(one) for one in factors]
        if likely[0] == likely[1]:
            continue
        weight = factors[likely.index(False)]
        ends = [one for one in weight if type(one).__name__ not in BY_ENTRY]
        subtracts = any(type(one).__name__ in ("SubBackward0", "RsubBackward1") for one in weight)
        if subtracts and ends and all(is_single_output(one) for one in ends):
            return [leaf for one in ends for leaf in _operands(one)]
    return []


def by_entry(node: Any, kinds: Collection[str] = BY_ENTRY, most: int = 512) -> Iterable[Any]:
    """A node and what lies above it, up to and with the first operations of other `kinds`."""
    waiting, seen = [node], {node}
    while waiting and len(seen) < most:
        one = waiting.pop()
        yield one
        if type(one).__name__ in kinds:
            new = {inner for inner, _ in one.next_functions if inner is not None} - seen
            seen |= new
            waiting += new


def _is_likelihood(nodes: list[Any]) -> bool:
    """Whether a log-probability is among them: of a category, or of a normal distribution, a negative square."""
    kinds = {type(one).__name__ for one in nodes}
    squares = (one for one in nodes if type(one).__name__ == "NegBackward0")
    return bool(kinds & LIKELIHOODS) or any(type(below(one)).__name__ == "PowBackward0" for one in squares)


def is_single_output(node: Any) -> bool:
    """Whether a node is a linear layer with one output."""
    if type(node).__name__ not in ("AddmmBackward0", "MmBackward0", "AddmvBackward0", "LinearBackward0"):
        return False
    shape = node._input_metadata[0].shape
    return bool(shape) and shape[-1] == 1


def _operands(node: Any) -> Iterable[torch.Tensor]:
    """The leaves that go into an operation as they are, or transposed."""
    for inner, _ in node.next_functions:
        while inner is not None and type(inner).__name__ in TURNS:
            inner = below(inner)
        leaf = getattr(inner, "variable", None)
        if leaf is not None:
            yield leaf


def _near(node: Any, most: int) -> Iterable[Any]:
    waiting, seen = [node], 0
    while waiting and seen < most:
        one = waiting.pop(0)
        if one is None:
            continue
        seen += 1
        yield one
        if type(one).__name__ in COMBINING:
            waiting += [inner for inner, _ in one.next_functions]


def saved(node: Any, name: str) -> Any:
    """What autograd saved for an operation under this name; None where there is nothing, or where it was freed."""
    try:
        return getattr(node, f"_saved_{name}", None)
    except RuntimeError:
        return None


PRODUCTS = re.compile("mul|mm|mv|linear|conv|dot|attention|compiled", re.IGNORECASE)
"""Words in the names of operations that multiply what they are given, or may."""


def multiplied(node: Any, leaves: Sequence[int]) -> list[int]:
    """Of these leaves, by `id`, the places of those that are multiplied with the one before, however far behind it."""
    bits = {leaf: 1 << at for at, leaf in enumerate(leaves)}
    reached: dict[Any, int] = {}
    found, waiting = 0, [node]
    while waiting and len(reached) < MOST_NODES:
        one = waiting[-1]
        sides = [inner for inner, _ in one.next_functions if inner is not None]
        if new := [inner for inner in sides if inner not in reached]:
            waiting += new
            continue
        waiting.pop()
        reached[one] = bits.get(id(getattr(one, "variable", None)), 0)
        multiplies = PRODUCTS.search(type(one).__name__)
        for mine in [reached[inner] for inner in sides]:
            if multiplies:
                found |= (reached[one] << 1 & mine) | (mine << 1 & reached[one])
            reached[one] |= mine
    return [at for at in range(1, len(leaves)) if found >> at & 1]


def uses(*nodes: Any) -> dict[int, int]:
    """How often the graph of these nodes uses each leaf it reaches, by the leaf's `id`; empty where it is too large.

    A cast of a leaf counts as often as it is used: autocast keeps the one it has made.
    """
    counts: Counter[int] = Counter()
    waiting, seen = list(nodes), set(nodes)
    while waiting:
        for inner, _ in waiting.pop().next_functions:
            if inner is None:
                continue
            cast = below(inner) if _kind(inner.__class__) == "ToCopyBackward0" else None
            leaf = getattr(inner if cast is None else cast, "variable", None)
            if leaf is not None:
                counts[id(leaf)] += 1
            elif inner not in seen:
                if len(seen) > MOST_NODES:
                    return {}
                seen.add(inner)
                waiting.append(inner)
    return dict(counts)


def users(node: Any) -> list[tuple[Any, Any]]:
    """The operations in the graph of a loss that take a leaf, each with that leaf; none where it is too large."""
    found: list[tuple[Any, Any]] = []
    waiting, seen = [node], {node}
    while waiting:
        one = waiting.pop()
        for inner, _ in one.next_functions:
            leaf = getattr(inner, "variable", None)
            if leaf is not None:
                found.append((one, leaf))
            elif inner is not None and inner not in seen:
                if len(seen) > MOST_NODES:
                    return []
                seen.add(inner)
                waiting.append(inner)
    return found
