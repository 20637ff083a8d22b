"""Probabilities where a loss wants scores: what is normalised once more gives gradients that are squashed.

Looked at for the first passes of a line: nodes, and numbers that autograd saved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from gradient_ledger import graph, source
from gradient_ledger.events import Place

SHAPES = frozenset(
    f"{n}Backward0" for n in "View UnsafeView ReshapeAlias Squeeze Unsqueeze Transpose T Permute".split()
)
SHAPES |= frozenset(f"{n}Backward0" for n in "Select Slice Index Unbind Split Stack Cat Clone Alias ToCopy".split())
SHAPES |= {"SqueezeBackward1", "SelectBackward1", "IndexSelectBackward0", "ChunkBackward0"}
"""What changes no number on the way from probabilities to a loss."""
MOST = 64
"""Operations between the two that are followed."""
TOLERANCE = 1e-4

WRITTEN = {
    "softmax": re.compile(r"(?<![\w.]def )(?<!log_)(?<!gumbel_)\b(softmax|Softmax(2d)?)\("),
    "sigmoid": re.compile(r"(?<![\w.]def )\b(sigmoid|Sigmoid)\("),
}


def squashed(nodes: Iterable[Any]) -> str:
    """`softmax` or `sigmoid`, where a loss takes what that gave for scores, and applies another one; else empty."""
    for node in nodes:
        kind = type(node).__name__
        if kind not in ("LogSoftmaxBackward0", "LogsumexpBackward0", "BinaryCrossEntropyWithLogitsBackward0"):
            continue
        given = _given(node)
        kinds = {type(one).__name__ for one in given}
        if kind == "BinaryCrossEntropyWithLogitsBackward0":
            if len(kinds) == 1 and kinds <= {"SigmoidBackward0", "SoftmaxBackward0"}:
                return kinds.pop().removesuffix("Backward0").lower()
        elif kinds == {"SoftmaxBackward0"} and _sums_to_one(node, given):
            return "softmax"
    return ""


def written_at(files: Iterable[str], word: str) -> Place | None:
    """The one line of all that applies it."""
    return source.only_line(files, WRITTEN[word].pattern)


def _given(node: Any) -> list[Any]:
    """The nodes whose results an operation is given, as they are but for their shape; None for what has no graph."""
    inner = node.next_functions[0][0]
    found, waiting, seen = [], [inner], {inner}
    while waiting and len(seen) < MOST:
        one = waiting.pop()
        if one is None or type(one).__name__ not in SHAPES:
            found.append(one)
            continue
        new = {each for each, _ in one.next_functions} - seen
        seen |= new
        waiting += new
    return found + waiting


def _sums_to_one(node: Any, given: list[Any]) -> bool:
    """Whether what is normalised are these probabilities along their very dimension, by its numbers."""
    values, dim = graph.saved(node, "self"), _dimension(node)
    if type(node).__name__ == "LogSoftmaxBackward0":
        # The logarithm of a softmax is what that was given, less a constant: of probabilities, what they lack to one.
        values = graph.saved(node, "result")
        if isinstance(values, Tensor) and dim is not None and values.dim():
            values = values + (1 - values.sum(dim, keepdim=True)) / values.shape[dim]
    if not isinstance(values, Tensor) or dim is None or not values.dim() or values.shape[dim] < 2:
        return False
    values = values.detach()
    sums = values.sum(dim)
    if not bool((values >= -TOLERANCE).all()) or not torch.allclose(sums, torch.ones_like(sums), atol=TOLERANCE):
        return False
    results = [graph.saved(one, "result") for one in given]
    if len(results) == 1 and isinstance(results[0], Tensor) and results[0].numel() == values.numel():
        here, there = values.flatten().sort().values, results[0].detach().flatten().sort().values
        return torch.allclose(here, there.to(here.dtype), atol=TOLERANCE)
    # Of a part of them, or of several side by side, the sizes must do.
    return all(
        isinstance(one, Tensor) and (at := _dimension(each)) is not None and one.shape[at] == values.shape[dim]
        for one, each in zip(results, given, strict=True)
    )


def _dimension(node: Any) -> int | None:
    """The one dimension that an operation normalises or sums up."""
    dim = graph.saved(node, "dim")
    if isinstance(dim, tuple) and len(dim) == 1:
        dim = dim[0]
    if not isinstance(dim, int):
        return None
    return dim - 2**64 if dim >= 2**63 else dim  # torch gives a negative one as it lies in memory
