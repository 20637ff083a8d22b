"""The autograd graph of a small expression, read from PyTorch itself, and the backward pass through it.

Nodes and edges come from `grad_fn.next_functions`; the order of the backward pass, the gradient
each node received and what it sent on come from hooks that fire while PyTorch runs it; the local
derivative on an edge is what the node's own derivative rule answers to an incoming gradient of 1.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch

FUNCTIONS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "abs": torch.abs,
    "cos": torch.cos,
    "exp": torch.exp,
    "log": torch.log,
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "sin": torch.sin,
    "sqrt": torch.sqrt,
    "tanh": torch.tanh,
}
"""The functions of one argument that an expression may call."""

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}

MAX_OPERATIONS = 20
"""More operations than this no longer fit on a picture."""


@dataclass(frozen=True)
class Node:
    """One value of the expression.

    `kind`: `"loss"` (the root), `"result"` of an operation, `"leaf"` that requires a gradient, or
    `"constant"` that does not. `operation` is the name PyTorch gives its place in the graph
    (`MulBackward0`, `AccumulateGrad`), empty for a constant. `gradient` is the whole gradient of
    the loss by this value, as `retain_grad` or `.grad` kept it; `None` for a constant.
    """

    name: str
    kind: Literal["loss", "result", "leaf", "constant"]
    operation: str
    value: float
    gradient: float | None


@dataclass(frozen=True)
class Edge:
    """From a result (`source`, nearer the loss) to one of its inputs (`target`); indexes into `Trace.nodes`.

    `local` is d(source) / d(target) through this edge alone and `sent` the gradient that the
    backward pass sent along it; both are `None` on the way to a constant.
    """

    source: int
    target: int
    local: float | None
    sent: float | None


@dataclass(frozen=True)
class Trace:
    """One expression, its graph and one backward pass through it.

    `order` lists the nodes in the order in which PyTorch visited them, the loss first; constants
    are not visited.
    """

    expression: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    order: tuple[int, ...]


@dataclass(frozen=True)
class Moment:
    """The backward pass after `step` visits: what each node holds by now and which edges were used.

    Step 0 is the end of the forward pass. Step 1 is the loss, whose gradient by itself is 1.
    `arrived[i]` is the sum of what reached node i so far, `None` when nothing did; `current` is
    the node just visited.
    """

    step: int
    steps: int
    current: int | None
    arrived: tuple[float | None, ...]
    used: frozenset[int]


@dataclass(eq=False)
class _Value:
    """One value while the expression is evaluated: what autograd will be asked about afterwards."""

    text: str
    tensor: torch.Tensor
    inputs: tuple[_Value, ...] = ()

    @property
    def value(self) -> float:
        return float(self.tensor.detach())


def trace(expression: str, values: Mapping[str, float], gradients_for: Collection[str] | None = None) -> Trace:
    """Evaluate `expression` on 0-d float64 tensors, run backward through it and write down all that happened.

    `expression` uses names, numbers, `+ - * / **`, brackets and `FUNCTIONS`. `values` gives every
    name a number. `gradients_for` are the names that require a gradient (all of them by default);
    the others are constants and so, like numbers, have no node in autograd's graph.

    Raises `ValueError` for anything else in the expression, a name without a value, a value that
    is not used, an expression in which nothing requires a gradient or which is only a name, or a
    result that is not finite.
    """
    wanted = set(values) if gradients_for is None else set(gradients_for)
    root = _evaluate(expression, values, wanted)
    loss = root.tensor
    if not loss.requires_grad or loss.grad_fn is None:
        raise ValueError(f"{expression!r} has no operation on a value that requires a gradient: nothing to draw")
    if not math.isfinite(root.value):
        raise ValueError(f"{expression!r} is {root.value} at these values: choose values where it is finite")

    # 1. The graph: walk from the loss, next_functions by next_functions. The evaluated values
    #    walk along to lend their names: input i of an operation stands behind entry i.
    found: list[tuple[Any, _Value]] = [(loss.grad_fn, root)]
    links: list[tuple[int, int, int]] = []  # source, target, which input
    place: dict[Any, int] = {loss.grad_fn: 0}
    for source, (function, value) in enumerate(found):  # `found` grows while it is walked
        if function is None:
            continue
        for slot, ((below, _), operand) in enumerate(zip(function.next_functions, value.inputs, strict=True)):
            if below is None or below not in place:
                found.append((below, operand))
                if below is not None:
                    place[below] = len(found) - 1
            links.append((source, place[below] if below is not None else len(found) - 1, slot))

    # 2. The local derivatives: the rule of each node, asked with an incoming gradient of 1.
    local: dict[tuple[int, int], float] = {}
    for source, (function, value) in enumerate(found):
        if function is not None and value.inputs:
            answer = function(_scalar(1.0))
            for slot, part in enumerate(answer if isinstance(answer, tuple) else (answer,)):
                if part is not None:
                    local[source, slot] = float(part.detach())

    # 3. The backward pass, watched by hooks.
    order: list[int] = []
    sent: dict[tuple[int, int], float] = {}
    for index, (function, value) in enumerate(found):
        if function is not None:
            function.register_hook(_watch(index, order, sent))
            if value.inputs:
                value.tensor.retain_grad()
    loss.backward()  # type: ignore[no-untyped-call]

    nodes = tuple(
        Node(
            name=value.text,
            kind="loss" if i == 0 else "constant" if function is None else "result" if value.inputs else "leaf",
            operation="" if function is None else function.name().split("::")[-1],
            value=value.value,
            gradient=None if value.tensor.grad is None else float(value.tensor.grad),
        )
        for i, (function, value) in enumerate(found)
    )
    edges = tuple(
        Edge(source, target, local.get((source, slot)), sent.get((source, slot))) for source, target, slot in links
    )
    return Trace(expression, nodes, edges, tuple(order))


def moment(traced: Trace, step: int) -> Moment:
    """The backward pass of `traced` after `step` visits. Raises `ValueError` outside 0 ... `len(traced.order)`."""
    steps = len(traced.order)
    if not 0 <= step <= steps:
        raise ValueError(f"step {step} does not exist: this backward pass has steps 0 to {steps}")
    arrived: list[float | None] = [None] * len(traced.nodes)
    if step:
        arrived[traced.order[0]] = 1.0
    visited = set(traced.order[:step])
    used = set()
    for i, edge in enumerate(traced.edges):
        if edge.source in visited and edge.sent is not None:
            used.add(i)
            arrived[edge.target] = (arrived[edge.target] or 0.0) + edge.sent
    return Moment(step, steps, traced.order[step - 1] if step else None, tuple(arrived), frozenset(used))


def _scalar(value: float, requires_grad: bool = False) -> torch.Tensor:
    # On the CPU whatever the default device is.
    return torch.tensor(value, dtype=torch.float64, device="cpu", requires_grad=requires_grad)


def _watch(index: int, order: list[int], sent: dict[tuple[int, int], float]) -> Callable[[Any, Any], None]:
    def hook(grad_inputs: Any, grad_outputs: Any) -> None:
        order.append(index)
        for slot, part in enumerate(grad_inputs):
            if part is not None:
                sent[index, slot] = float(part.detach())

    return hook


def _evaluate(expression: str, values: Mapping[str, float], wanted: set[str]) -> _Value:
    try:
        tree = ast.parse(expression, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{expression!r} is not an expression: {error.msg}") from error
    unknown = sorted(wanted - set(values))
    if unknown:
        raise ValueError(f"gradients_for names {', '.join(unknown)}, which values does not hold")
    leaves: dict[str, _Value] = {}
    count = 0

    def visit(node: ast.expr) -> _Value:
        nonlocal count
        if isinstance(node, ast.Name):
            if node.id not in values:
                raise ValueError(f"{node.id!r} has no value: give values={{{node.id!r}: ...}}")
            if node.id not in leaves:
                tensor = _scalar(float(values[node.id]), requires_grad=node.id in wanted)
                leaves[node.id] = _Value(node.id, tensor)
            return leaves[node.id]
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return _Value(str(node.value), _scalar(float(node.value)))
        count += 1
        if count > MAX_OPERATIONS:
            raise ValueError(f"more than {MAX_OPERATIONS} operations do not fit on a picture: shorten {expression!r}")
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            left, right = visit(node.left), visit(node.right)
            apply = _BINARY[type(node.op)]
            if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
                # A fixed power is no tensor: PyTorch keeps it inside the node (PowBackward0).
                return _Value(ast.unparse(node), apply(left.tensor, float(right.tensor)), (left,))
            return _Value(ast.unparse(node), apply(left.tensor, right.tensor), (left, right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = visit(node.operand)
            return _Value(ast.unparse(node), -inner.tensor, (inner,))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            if len(node.args) != 1 or node.keywords:
                raise ValueError(f"{node.func.id} takes one argument, in {expression!r}")
            inner = visit(node.args[0])
            return _Value(ast.unparse(node), FUNCTIONS[node.func.id](inner.tensor), (inner,))
        raise ValueError(
            f"{ast.unparse(node)!r} cannot be drawn: use names, numbers, + - * / ** and {', '.join(sorted(FUNCTIONS))}"
        )

    root = visit(tree)
    unused = sorted(set(values) - set(leaves))
    if unused:
        raise ValueError(f"values gives {', '.join(unused)}, which {expression!r} does not use")
    return root
