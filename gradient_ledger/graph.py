"""Small questions about the graph of a loss, asked near its end and never kept."""

from __future__ import annotations

from typing import Any

THROUGH = frozenset({"MulBackward0", "ToCopyBackward0", "CloneBackward0", "AliasBackward0", "SqueezeBackward0"})

COMBINING = THROUGH | {"DivBackward0", "AddBackward0", "StackBackward0", "CatBackward0", "UnsqueezeBackward0"}
COMBINING |= {"MeanBackward0", "SumBackward0"}


def is_loss(node: Any) -> bool:
    """Whether a node of the graph reduces something to a loss."""
    name = type(node).__name__
    return hasattr(node, "_saved_reduction") or name in (
        "MeanBackward0",
        "SumBackward0",
        "MeanBackward1",
        "SumBackward1",
    )


def describe(node: Any, scaled: bool) -> dict[str, Any]:
    """Name of the loss's last operation, and whether that is a mean over a batch.

    Looks through the product with the loss scale, and through changes of dtype.
    """
    name = type(node).__name__ if node is not None else ""
    reduction = None
    for _ in range(3):
        kind = type(node).__name__ if node is not None else ""
        if hasattr(node, "_saved_reduction"):
            reduction = {0: "none", 1: "mean", 2: "sum"}.get(node._saved_reduction)
            name = kind
            break
        if kind == "MeanBackward0":
            reduction, name = "mean", kind
            break
        if kind not in THROUGH or (kind == "MulBackward0" and not scaled):
            break
        node = node.next_functions[0][0] if node.next_functions else None
    return {"root": name.removesuffix("0").removesuffix("Backward"), "reduction": reduction}
