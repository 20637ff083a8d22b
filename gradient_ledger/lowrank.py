"""Pairs of narrow matrices whose product is added to that of a large one, as LoRA's, and begins at zero."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gradient_ledger import graph
from gradient_ledger.account import Account
from gradient_ledger.events import LowRank
from gradient_ledger.state import State
from gradient_ledger.tensors import is_zero

_VIEWS = graph.TURNS | frozenset(
    f"{name}Backward0" for name in "View UnsafeView ReshapeAlias Clone Alias Unsqueeze Squeeze".split()
)
_VIEWS |= {"SqueezeBackward1"}
"""What may lie between two products, or between a product and its operand."""
_SCALES = frozenset(f"{name}Backward0" for name in "Mul Div NativeDropout FusedDropout".split())
"""What multiplies by a number or by a mask where only one of its sides has a graph."""
_SUMS = ("AddBackward0", "CopySlices")
"""The second is `+=` on a layer's output, where that is a view of what it computed."""
_PRODUCTS = frozenset(f"{name}Backward0" for name in "Mm Addmm Bmm Linear Embedding".split())


def look(state: State, nodes: Iterable[Any]) -> None:
    """Note where a loss adds what a pair of narrow matrices gives, one of them zeros, to what a large one gives."""
    for node in nodes:
        if type(node).__name__ not in _SUMS:
            continue
        sides = [inner for inner, _ in node.next_functions]
        for one, other in (sides, sides[::-1]) if len(sides) == 2 else ():  # a number may be written into a view, too
            pair = _pair(state, one)
            shape = _product(*pair) if pair is not None else ()
            if pair is None or not shape or not any(is_zero(p) for each in pair if (p := each.ref()) is not None):
                continue
            base = _factor(state, other)
            if base is not None and (base in pair or sorted(base.shape) != shape):
                continue
            state.low_rank.setdefault(base, set()).add(pair)


def facts(state: State) -> tuple[LowRank, ...]:
    """Those of them that are the only pair beside their matrix and stand in one group of an optimizer with it."""
    found = state.low_rank
    if None in found:
        return ()  # another one is beside something that is not trained: somebody has chosen
    return tuple(
        LowRank(base.name, tuple(one.name for one in pair))
        for base, pairs in sorted(found.items(), key=lambda one: one[0].index if one[0] is not None else 0)
        if base is not None and len(pairs) == 1 and base not in state.apart_from_pair
        for pair in pairs
    )


def stepped(state: State, groups: Iterable[dict[str, Any]]) -> None:
    """Note which matrices are in another group of an optimizer than their pair: that was chosen."""
    for group in groups:
        held = {id(p) for p in group["params"]}
        for base, pairs in state.low_rank.items():
            every = [base, *(one for pair in pairs for one in pair)] if base is not None else []
            inside = [one for one in every if id(one.ref()) in held]
            if inside and base is not None and len(inside) < len(every):
                state.apart_from_pair.add(base)


def _pair(state: State, node: Any) -> tuple[Account, Account] | None:
    """Two trained matrices of which a node is the product, with something or by themselves."""
    outer = _stripped(node, scales=True)
    if type(outer).__name__ not in _PRODUCTS:
        return None
    operands = list(_operands(state, outer))
    last = next((one for one in reversed(operands) if isinstance(one, Account)), None)
    if last is None:
        return None
    for one in (one for one in operands if one is not last):
        if isinstance(one, Account):
            return one, last
        inner = _stripped(one, scales=True)
        if type(inner).__name__ in _PRODUCTS:
            first = next((each for each in _operands(state, inner) if isinstance(each, Account)), None)
            return (first, last) if first is not None and first is not last else None
    return None


def _factor(state: State, node: Any) -> Account | None:
    """The trained matrix of which a node is the product with something, or that it is itself."""
    node = _stripped(node)
    if type(node).__name__ == "AddBackward0":  # a bias that is added by itself
        node = next((inner for inner, _ in node.next_functions if type(_stripped(inner)).__name__ in _PRODUCTS), node)
        node = _stripped(node)
    found = _known(state, node)
    if found is None and type(node).__name__ in _PRODUCTS:
        found = next((one for one in _operands(state, node) if isinstance(one, Account)), None)
    return found


def _operands(state: State, node: Any) -> Iterator[Any]:
    """What a product is made of: trained matrices, and the nodes of the rest."""
    for inner, _ in node.next_functions:
        if inner is not None:
            known = _known(state, _stripped(inner))
            if known is not None or getattr(_stripped(inner), "variable", None) is None:  # else a bias
                yield known or inner


def _known(state: State, node: Any) -> Account | None:
    leaf = getattr(node, "variable", None)
    account = state.books.by_id.get(id(leaf)) if leaf is not None else None
    return account if account is not None and len(account.shape) == 2 and account.owners else None


def _stripped(node: Any, scales: bool = False) -> Any:
    """A node without the views above it, and without factors that have no graph."""
    for _ in range(12):
        kind = type(node).__name__
        inner = [one for one, _ in node.next_functions if one is not None] if node is not None else []
        if kind not in _VIEWS and not (scales and kind in _SCALES and len(inner) == 1) or not inner:
            break
        node = inner[0]
    return node


def _product(one: Account, other: Account) -> list[int]:
    """The two sides of the product of two matrices that are narrower than it on their common side; else nothing."""
    for rank in {*one.shape} & {*other.shape}:
        outer = sorted((*one.shape, *other.shape))
        outer.remove(rank)
        outer.remove(rank)
        if rank < outer[0]:
            return outer
    return []
