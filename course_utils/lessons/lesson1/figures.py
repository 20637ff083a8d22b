"""The pictures of lesson 1: a line in the notebook each. They say in words what they show."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from torch import nn

from course_utils.data import Digits
from course_utils.lessons.measured import sig
from gradient_ledger.figures import COLOURS, show, style

T = torch.Tensor
_GREY = "#666666"


def _box(colour: str) -> dict[str, Any]:
    return {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": COLOURS[colour]}


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], gap: float, **more: Any) -> None:
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "shrinkA": gap, "shrinkB": gap, **more})


def read_digits(data: Digits, network: Callable[[T], T], count: int = 12) -> None:
    """Digits the network was not trained on, each with what it reads there."""
    with torch.no_grad():
        read = network(data.x_test[:count]).argmax(1).tolist()
    wrong = [(said, true) for said, true in zip(read, data.y_test.tolist(), strict=False) if said != true]
    with style():
        fig, axes = plt.subplots(1, count, figsize=(9.6, 1.3))
        for ax, pixels, said, true in zip(axes, data.x_test, read, data.y_test.tolist(), strict=False):
            ax.imshow(pixels.reshape(8, 8), cmap="gray_r")
            ax.set_title(f"{said}" if said == true else f"{said}?", color="black" if said == true else "#B33A00")
            ax.axis("off")
    errors = " ".join(f"It reads a {said} where a {true} stands." for said, true in wrong) or "All are right."
    show(
        fig,
        alt=f"The first {count} test digits, 8 by 8 pixels each; above each what the network reads: "
        f"{', '.join(map(str, read))}. {errors}",
    )


def training_losses(runs: Mapping[str, Sequence[float]]) -> None:
    """The loss of every step of several runs."""
    with style():
        fig, ax = plt.subplots(figsize=(6.8, 3.2))
        for name, losses in runs.items():
            ax.plot(losses, label=name)
        ax.set(xlabel="step", ylabel="loss", ylim=(0, None))
        ax.legend()
    told = "; ".join(f"{name} from {sig(losses[0])} to {sig(losses[-1])}" for name, losses in runs.items())
    show(fig, alt=f"The training loss over {len(next(iter(runs.values())))} steps: {told}.")


def touching_line(loss: Callable[[float], T], at: float, slope: float, far: Sequence[float]) -> None:
    """A loss over one weight, the line that touches it at `at`, and lines through `at` and each of `far`."""
    weights = torch.linspace(0.0, 8.0, 161).tolist()
    heights = [loss(weight).item() for weight in weights]
    height, lowest = loss(at).item(), weights[heights.index(min(heights))]
    secants = {end: (loss(end).item() - height) / (end - at) for end in far}
    with style():
        fig, ax = plt.subplots()
        ax.plot(weights, heights, label="loss")
        reach = (0.5, 3.1)
        ax.plot(
            reach, [height + slope * (end - at) for end in reach], label=f"touching line at {at:g}: slope {sig(slope)}"
        )
        for (end, secant), colour in zip(secants.items(), ("bluish green", "reddish purple"), strict=True):
            label = f"through {at:g} and {end:g}: slope {sig(secant)}"
            ax.plot((at, end), (height, loss(end).item()), "o:", color=COLOURS[colour], label=label)
        ax.set(xlabel="pace (minutes per km)", ylabel="loss (minutes squared)", ylim=(0, 45))
        ax.legend()
    others = ", ".join(f"through {at:g} and {end:g} {sig(secant)}" for end, secant in secants.items())
    show(
        fig,
        alt=f"The loss over the pace is a bowl with its lowest point near pace {lowest:.1f}. The touching line at pace {at:g} has slope "
        f"{sig(slope)}. Lines through two points of the curve have slopes {others}: the nearer the points, the nearer "
        "to the touching line.",
    )


def difference_errors(error: Callable[..., float]) -> None:
    """`error(h, dtype, central)` of a numerical slope over h, for both formulas and two dtypes."""
    steps = torch.logspace(0, -14, 57).tolist()
    lines = {
        "central, float64": [error(h) for h in steps],
        "central, float32": [error(h, torch.float32) for h in steps],
        "forward, float64": [error(h, central=False) for h in steps],
    }
    best = {name: steps[errors.index(min(errors))] for name, errors in lines.items()}
    with style():
        fig, ax = plt.subplots(figsize=(6.8, 4.4))
        for name, errors in lines.items():
            ax.loglog(steps, errors, label=name)
        ax.annotate("rounding:\nworse as h shrinks", (1e-11, 3e-6), (1e-13, 3e-10), ha="left")
        ax.annotate("truncation:\nbetter as h shrinks", (1e-2, 1e-5), (1e-3, 3e-11), ha="left")
        ax.set(xlabel="h", ylabel="error of the slope", ylim=(1e-12, 10))
        ax.legend(loc="upper left", ncols=3, fontsize=9)
    # To the next power of ten: which of its neighbours is smallest is a matter of the last bits, and of the machine.
    told = ", ".join(f"{name} near h = {10.0 ** round(math.log10(h)):.0e}" for name, h in best.items())
    show(
        fig,
        alt="Error against h, both on logarithmic axes. From the right the errors fall as h shrinks, the central ones "
        f"steeper than the forward one, then they rise again; the float32 one at last stays flat. Each is smallest in between: {told}.",
    )


def two_lines(slopes: Mapping[tuple[str, str], float], values: Mapping[str, float]) -> None:
    """From x to the loss through u and through v, with the local slopes."""
    places = {"x": (0.0, 0.0), "u": (1.0, 0.6), "v": (1.0, -0.6), "loss": (2.0, 0.0)}
    through = {name: slopes["x", name] * slopes[name, "loss"] for name in "uv"}
    total = sum(through.values())
    with style():
        fig, ax = plt.subplots(figsize=(6.4, 2.9))
        for (source, target), value in slopes.items():
            (x0, y0), (x1, y1) = places[source], places[target]
            ax.annotate("", (x1, y1), (x0, y0), arrowprops={"arrowstyle": "->", "shrinkA": 30, "shrinkB": 36})
            middle = ((x0 + x1) / 2, (y0 + y1) / 2 + 0.12)
            ax.text(*middle, f"slope {value:.4g}", ha="center", color=COLOURS["vermillion"])
        for name, (px, py) in places.items():
            ax.text(px, py, f"{name} = {values[name]:.4g}", ha="center", va="center", bbox=_box("black"))
        ax.text(1, -1.1, f"{through['u']:.4g} + {through['v']:.4g} = {total:.4g}", ha="center", color=COLOURS["blue"])
        ax.set(xlim=(-0.4, 2.4), ylim=(-1.25, 0.95))
        ax.axis("off")
    told = "; ".join(
        f"through {name} = {values[name]:.4g} with slopes {slopes['x', name]:.4g} and {slopes[name, 'loss']:.4g}"
        for name in "uv"
    )
    show(
        fig,
        alt=f"Two lines lead from x = {values['x']:.4g} to the loss = {values['loss']:.4g}: {told}. The products are "
        f"{through['u']:.4g} and {through['v']:.4g}, their sum is {total:.4g}.",
    )


def recorded_graph(loss: T, leaves: Mapping[str, T]) -> None:
    """The chain of nodes behind a loss, read from the graph itself, and where each leaf hangs on it."""
    chain: list[str] = []
    hangs: dict[str, int] = {}
    node = loss.grad_fn
    while node is not None and not hasattr(node, "variable"):
        chain.append(node.name().split("::")[-1])
        for below, _ in node.next_functions:
            held = getattr(below, "variable", None)
            hangs |= {name: len(chain) - 1 for name, leaf in leaves.items() if held is leaf}
        node = node.next_functions[0][0]
    with style():
        fig, ax = plt.subplots(figsize=(7.2, 2.5))
        for place, name in enumerate(chain):
            label = name.replace("Backward0", "\nBackward0")
            ax.text(place, 0, label, ha="center", va="center", fontsize=10, bbox=_box("blue"))
            if place:
                _arrow(ax, (place - 1, 0), (place, 0), 32)
        for name, place in hangs.items():
            label = f"Accumulate\nGrad: {name}"
            ax.text(place, -1, label, ha="center", va="center", fontsize=10, bbox=_box("bluish green"))
            _arrow(ax, (place, 0), (place, -1), 16)
        ax.set(xlim=(-0.5, len(chain) - 0.5), ylim=(-1.5, 0.5))
        ax.axis("off")
    told = " ".join(f"The AccumulateGrad of {name} hangs below {chain[place]}." for name, place in hangs.items())
    show(
        fig,
        alt="The graph of the delivery loss, drawn from its nodes. A chain leads from the loss on the left: "
        f"{', '.join(chain)}. {told} Arrows point the way of the backward pass.",
    )


def where_gradients_live(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """A parameter, its gradient, and the two that have no gradient of their own: optimizer and state_dict."""
    name, parameter = next(iter(model.named_parameters()))
    assert parameter.grad is not None
    shape, listed = tuple(parameter.grad.shape), len(optimizer.param_groups[0]["params"])
    saved = len(model.state_dict())
    boxes = {
        "parameter": (1.0, 1.0, f"parameter {name}\nvalues of shape {tuple(parameter.shape)}"),
        "gradient": (3.0, 1.0, f".grad\nits own tensor, {shape}"),
        "optimizer": (1.0, 2.1, f"optimizer\na list of {listed} references"),
        "state": (1.0, -0.1, f"state_dict\n{saved} entries, no gradient"),
    }
    arrows = {
        ("optimizer", "parameter"): "refers to",
        ("parameter", "gradient"): "owns",
        ("state", "parameter"): "saves the values",
    }
    with style():
        fig, ax = plt.subplots(figsize=(6.8, 3.6))
        for (source, target), words in arrows.items():
            (x0, y0, _), (x1, y1, _) = boxes[source], boxes[target]
            upright = x0 == x1
            prop = {"arrowstyle": "->", "shrinkA": 30, "shrinkB": 30 if upright else 62}
            ax.annotate("", (x1, y1), (x0, y0), arrowprops=prop)
            beside = ((x0 + x1) / 2 + 0.06 * upright, (y0 + y1) / 2 + 0.12 * (not upright))
            ax.text(*beside, words, ha="left" if upright else "center", va="center")
        for kind, (px, py, label) in boxes.items():
            colour = "vermillion" if kind == "gradient" else "blue"
            ax.text(px, py, label, ha="center", va="center", bbox=_box(colour))
        ax.set(xlim=(-0.2, 4.0), ylim=(-0.5, 2.5))
        ax.axis("off")
    show(
        fig,
        alt=f"Four boxes. The optimizer, a list of {listed} references, refers to the parameter. The state_dict, {saved} "
        f"entries without gradients, saves its values. The parameter owns .grad, a tensor of its own of shape {shape}. No "
        "arrow leads from the optimizer or the state_dict to the gradient.",
    )


def descents(loss: Callable[[T], T], walks: Mapping[str, T], best: T) -> None:
    """Walks `(steps + 1, 2)` on the map of a loss of two weights `(2,)`, by their titles, and the minimum."""
    paces, starts = torch.linspace(-0.5, 8.5, 91).double(), torch.linspace(1.5, 9.5, 81).double()
    heights = torch.stack([torch.stack([loss(torch.stack([pace, start])) for pace in paces]) for start in starts])
    with style():
        fig, axes = plt.subplots(1, len(walks), figsize=(7.8, 3.2), sharey=True)
        for ax, (title, walk) in zip(axes, walks.items(), strict=True):
            ax.contour(paces, starts, heights.log(), levels=9, colors="#999999", linewidths=0.8)
            ax.plot(walk[:, 0], walk[:, 1], "o-", markersize=4, linewidth=1.4, color=COLOURS["blue"])
            ax.plot(*best.tolist(), "*", markersize=12, color=COLOURS["vermillion"])
            ax.set(title=title, xlabel="pace", xlim=(-0.5, 8.5), ylim=(1.5, 9.5))
        axes[0].set_ylabel("start")
    far = {title: ((walk - best).norm(dim=1)[[0, -1]]).tolist() for title, walk in walks.items()}
    told = "; ".join(f"{title} from {sig(before)} to {sig(after)}" for title, (before, after) in far.items())
    show(
        fig,
        alt=f"Contour lines of the loss over pace and start: a long narrow valley, its minimum near pace {best[0]:.2g} and "
        f"start {best[1]:.2g} marked with a star. Walks of {len(next(iter(walks.values()))) - 1} steps each; their "
        f"distance from the minimum goes: {told}.",
    )


def stations(values: Mapping[str, T], local: Mapping[str, T], saturated: tuple[float, float]) -> None:
    """Stations in a line with the slope into each; below, tanh and its slope, with this network's unit and a saturated one."""
    z, slope = values["z"].item(), local["h"].item()
    with style():
        fig, (top, bottom) = plt.subplots(2, 1, figsize=(7.2, 5.0), height_ratios=(1, 1.5))
        for place, (name, value) in enumerate(values.items()):
            top.text(place, 0, f"{name}\n{sig(value)}", ha="center", va="center", bbox=_box("black"))
            if place:
                _arrow(top, (place - 0.72, 0.12), (place - 0.28, 0.12), 0, color=_GREY)
                _arrow(top, (place - 0.28, -0.12), (place - 0.72, -0.12), 0, color=COLOURS["vermillion"])
                words = f"slope {sig(local[name])}"
                top.text(place - 0.5, -0.42, words, ha="center", color=COLOURS["vermillion"], fontsize=10)
        title = "Forward along the line, back by the local slopes"
        top.set(xlim=(-0.4, 4.4), ylim=(-0.6, 0.5), title=title)
        top.axis("off")
        axis = torch.linspace(-5, 5, 201)
        bottom.plot(axis, torch.tanh(axis), label="tanh(z)")
        bottom.plot(axis, 1 - torch.tanh(axis) ** 2, label="its slope")
        bottom.plot(z, slope, "o", color=COLOURS["vermillion"])
        bottom.plot(*saturated, "s", color=COLOURS["vermillion"])
        bottom.annotate("this network", (z, slope), (1.2, 0.62))
        bottom.annotate("saturated", saturated, (3.3, 0.15))
        bottom.set(xlabel="z")
        bottom.legend(loc="upper left")
    told = ", ".join(f"{sig(value)} into {name}" for name, value in local.items())
    show(
        fig,
        alt=f"Above, stations in a line, {', '.join(values)}, with their values and the local slope under each link: {told}. "
        "Below, tanh and its slope over z: the slope is a bump around zero. This network's unit sits on the bump, the "
        f"saturated one at z = {saturated[0]:g} far out, where the slope is {sig(saturated[1])}.",
    )
