"""The graph of an expression as a picture, with buttons that let the gradient flow from the loss to the leaves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from course_utils.widgets import page
from course_utils.widgets.explorers.expression import Edge, Moment, Node, Trace, moment, trace
from course_utils.widgets.explorers.numbers import number
from course_utils.widgets.page import Picture, Still
from gradient_ledger import figures, html

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT = "(w*x + b - y)**2"
DEFAULT_VALUES: Mapping[str, float] = {"w": 2.0, "x": 3.0, "b": 1.0, "y": 4.0}
DEFAULT_GRADIENTS = ("w", "b")

_COLUMN, _ROW = 2.05, 1.25
"""Inches from one leaf to the next, and from one level to the next."""
_LONGEST_NAME = 22


def expression_graph(
    expression: str = DEFAULT,
    values: Mapping[str, float] | None = None,
    gradients_for: Collection[str] | None = None,
) -> None:
    """Show the autograd graph of `expression` and let the gradient flow through it step by step.

    `expression` is arithmetic on names (`+ - * / **`, brackets, `tanh`, `exp`, `log`, `relu`, ...),
    `values` gives each name a number, `gradients_for` the names that require a gradient (all when
    `values` is given without it; `w` and `b` for the default expression). Every number shown is
    measured: see `expression.trace`.

    Raises `ValueError` for an expression that cannot be drawn and a name without a value.
    """
    if values is None and expression == DEFAULT:
        values, gradients_for = DEFAULT_VALUES, DEFAULT_GRADIENTS if gradients_for is None else gradients_for
    traced = trace(expression, values or {}, gradients_for)
    page.show(still(traced), lambda: _widget(traced), "expression-graph")


def describe(traced: Trace, step: int) -> str:
    """What happened at `step` of the backward pass, in a sentence or two with its numbers."""
    now = moment(traced, step)
    if now.current is None:
        return (
            f"Step 0 of {now.steps}, the forward pass: the loss is {number(traced.nodes[0].value)}. Nothing has a "
            f"gradient yet, but every edge already knows its local derivative. "
            f"The gradient will flow from the loss down."
        )
    node, received = traced.nodes[now.current], now.arrived[now.current]
    said = f"Step {step} of {now.steps}: "
    reached = sum(1 for i in now.used if traced.edges[i].target == now.current)
    gathered = f", the sum of what {reached} edges sent" if reached > 1 else ""
    if node.kind == "leaf":
        return said + f"{node.operation} writes {_shown(received)} into {node.name}.grad{gathered}."
    if node.kind == "loss":
        said += f"backward starts at the loss, {node.operation}, with dL/dL = 1."
    else:
        said += f"{node.operation} ({node.name}) received {_shown(received)}{gathered}."
    for edge in traced.edges:
        if edge.source == now.current:
            said += " " + _sent(traced, edge, received)
    return said


def still(traced: Trace) -> Still:
    """The graph after the whole backward pass, and the steps of it as lines of text."""
    steps = range(len(traced.order) + 1)
    lines = [f"L = {traced.expression}", *(describe(traced, step) for step in steps)]
    return Still("\n".join(lines), picture=draw(traced, steps[-1]))


def table(traced: Trace, step: int) -> str:
    """Every node with its operation, its value and its gradient after `step`, as an HTML table."""
    now = moment(traced, step)
    rows = [
        [node.name, node.operation or "none (constant)", number(node.value), _gradient(node, now.arrived[i])]
        for i, node in enumerate(traced.nodes)
    ]
    caption = f"The nodes after step {step} of {now.steps}, from the loss to the leaves"
    return html.table(caption, ["node", "operation in the graph", "value", "gradient so far"], rows)


def layout(traced: Trace) -> tuple[tuple[float, int], ...]:
    """Where each node stands: (column, level). The loss is at level 0, an input below whatever uses it.

    The lowest nodes get a column each, in the order in which the expression names them; a result
    stands above the middle of its inputs.
    """
    inputs: list[list[int]] = [[] for _ in traced.nodes]
    for edge in traced.edges:
        if edge.target not in inputs[edge.source]:
            inputs[edge.source].append(edge.target)
    level = [0] * len(traced.nodes)
    for _ in traced.nodes:  # longest paths settle after as many rounds as there are nodes
        for edge in traced.edges:
            level[edge.target] = max(level[edge.target], level[edge.source] + 1)
    column: dict[int, float] = {}
    free = 0

    def place(node: int) -> float:
        nonlocal free
        if node not in column:
            below = [place(i) for i in inputs[node]]
            if below:
                column[node] = sum(below) / len(below)
            else:
                column[node] = float(free)
                free += 1
        return column[node]

    place(0)
    taken: set[tuple[float, int]] = set()
    for node in sorted(column, key=lambda i: (level[i], column[i])):
        # Shared inputs can put two results of one level at the same place: move the second aside.
        while any(at == level[node] and abs(column[node] - x) < 0.99 for x, at in taken):
            column[node] += 0.5
        taken.add((column[node], level[node]))
    return tuple((column[i], level[i]) for i in range(len(traced.nodes)))


def draw(traced: Trace, step: int) -> Picture:
    """The graph after `step` of the backward pass: values in the boxes, derivatives on the edges."""
    from matplotlib.figure import Figure

    now = moment(traced, step)
    places = layout(traced)
    columns, levels = max(x for x, _ in places), max(level for _, level in places)
    with figures.style():
        figure = Figure(figsize=(_COLUMN * (columns + 1.1), _ROW * (levels + 0.75)))
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.set(xlim=(-0.55, columns + 0.55), ylim=(-levels - 0.4, 0.35))
        for i in range(len(traced.edges)):
            _draw_edge(axes, traced, i, places, now)
        for i, node in enumerate(traced.nodes):
            _draw_node(axes, node, places[i], now.arrived[i], i == now.current)
    known = "; ".join(
        f"{node.name} = {number(node.value)}, gradient {_gradient(node, now.arrived[i])}"
        for i, node in enumerate(traced.nodes)
        if node.kind != "constant"
    )
    constants = ", ".join(f"{node.name} = {number(node.value)}" for node in traced.nodes if node.kind == "constant")
    alt = (
        f"Graph of L = {traced.expression} from the loss at the top to the leaves at the bottom, "
        f"after step {step} of {now.steps} of the backward pass: {known}."
        + (f" Constants, outside the graph: {constants}." if constants else "")
    )
    return page.picture(figure, alt)


def _widget(traced: Trace) -> Any:
    import ipywidgets as widgets

    image, status, nodes = widgets.HTML(), widgets.HTML(), widgets.HTML()
    last = len(traced.order)
    at = 0

    def go(step: int) -> None:
        nonlocal at
        at = min(max(step, 0), last)
        # Drawn before anything is shown: words, picture and table change together.
        shown = page.image_element(draw(traced, at))
        status.value = page.status_element(describe(traced, at), lines=3)
        image.value = shown
        nodes.value = page.scrolling(table(traced, at), "Table of the nodes")

    go(0)
    controls = page.row(
        page.button("Start", lambda: go(0), "To the end of the forward pass"),
        page.button("Previous", lambda: go(at - 1), "One step of the backward pass back"),
        page.button("Next", lambda: go(at + 1), "One step of the backward pass on"),
        page.button("End", lambda: go(last), "To the end of the backward pass"),
    )
    return page.column(controls, image, status, nodes)


def _sent(traced: Trace, edge: Edge, received: float | None) -> str:
    name = traced.nodes[edge.target].name
    if edge.sent is None or edge.local is None:
        return f"{name} is a constant and gets nothing."
    return f"It sends {_shown(received)} * {number(edge.local)} = {number(edge.sent)} to {name}."


def _shown(value: float | None) -> str:
    return "None" if value is None else number(value)


def _gradient(node: Node, arrived: float | None) -> str:
    return "none (constant)" if node.kind == "constant" else "none yet" if arrived is None else number(arrived)


def _draw_node(axes: Axes, node: Node, place: tuple[float, int], arrived: float | None, current: bool) -> None:
    name = node.name if len(node.name) <= _LONGEST_NAME else node.name[: _LONGEST_NAME - 3] + "..."
    lines = [f"{name} = {number(node.value)}" if len(name) <= 14 else f"{name}\n= {number(node.value)}"]
    lines.append(node.operation or "constant")
    if node.kind != "constant":
        lines.append("grad: none yet" if arrived is None else f"grad: {number(arrived)}")
    box = {
        "boxstyle": "round,pad=0.35" if node.kind in ("leaf", "constant") else "square,pad=0.35",
        "facecolor": "#fff3d6" if current else "white",
        "edgecolor": "#767676" if node.kind == "constant" else "black",
        "linewidth": 2.5 if current else 1.2,
        "linestyle": "--" if node.kind == "constant" else "-",
    }
    colour = "#595959" if node.kind == "constant" else "black"
    x, level = place
    axes.text(x, -level, "\n".join(lines), ha="center", va="center", fontsize=10, color=colour, bbox=box, zorder=3)


def _draw_edge(axes: Axes, traced: Trace, index: int, places: tuple[tuple[float, int], ...], now: Moment) -> None:
    edge = traced.edges[index]
    (top_x, top), (x, level) = places[edge.source], places[edge.target]
    bend = _bend(traced, index, places)
    used = index in now.used
    colour = figures.COLOURS["vermillion"] if used else "#767676"
    axes.annotate(
        "",
        (x, -level + 0.27) if used else (top_x, -top - 0.3),
        (top_x, -top - 0.3) if used else (x, -level + 0.27),
        arrowprops={
            "arrowstyle": "-|>",
            "color": colour,
            "linewidth": 2.2 if used else 1.0,
            "linestyle": "--" if edge.local is None else "-",
            "connectionstyle": f"arc3,rad={bend if used else -bend}",
            "shrinkA": 0,
            "shrinkB": 0,
        },
        zorder=1,
    )
    if edge.local is None:
        return
    label = f"times {number(edge.local, 3)}"
    if used and edge.sent is not None:
        label += f"\nsends {number(edge.sent, 3)}"
    # On a long edge beside a box that it passes, not between them, where other labels are.
    span = level - top
    share = 0.5 if span == 1 else (span - 1 if abs(bend) < 0.4 else max(span - 2, 1)) / span
    at_x, at_y = _on_curve((top_x, -top - 0.3), (x, -level + 0.27), bend, share)
    text_colour = "#8f3e00" if used else "#595959"
    axes.text(
        at_x, at_y, label, ha="center", va="center", fontsize=9, color=text_colour, zorder=2,
        bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
    )  # fmt: skip


def _bend(traced: Trace, index: int, places: tuple[tuple[float, int], ...]) -> float:
    """How far the edge bows, as `arc3` counts it from top to bottom: to the left when positive."""
    edge = traced.edges[index]
    (top_x, top), (x, level) = places[edge.source], places[edge.target]
    twins = [i for i, other in enumerate(traced.edges) if (other.source, other.target) == (edge.source, edge.target)]
    if level - top == 1:
        return 0.0 if len(twins) == 1 else 0.35 if index == twins[0] else -0.35
    passed = [column for column, at in places if top < at < level]
    side = 1.0 if sum(passed) / len(passed) >= (x + top_x) / 2 else -1.0
    return side * (0.25 + 0.3 * twins.index(index))


def _on_curve(start: tuple[float, float], end: tuple[float, float], bend: float, share: float) -> tuple[float, float]:
    """The point at `share` of the curve that matplotlib's `arc3` draws: one control point, beside the middle."""
    (ax, ay), (bx, by) = start, end
    across, up = (bx - ax) * _COLUMN, (by - ay) * _ROW
    control = ((ax + bx) / 2 + bend * up / _COLUMN, (ay + by) / 2 - bend * across / _ROW)
    near, middle, far = (1 - share) ** 2, 2 * share * (1 - share), share**2
    return near * ax + middle * control[0] + far * bx, near * ay + middle * control[1] + far * by
