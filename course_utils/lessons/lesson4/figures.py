"""The pictures of lesson 4: one function each, with its alternative text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Patch, Rectangle

from gradient_ledger.figures import COLOURS, show, style

_BOX: dict[str, Any] = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": "black"}
_ARROW: dict[str, Any] = {"arrowstyle": "->", "linewidth": 1.5}
_EVENTS = {
    "zero": ("orange", "Z"),
    "forward": ("sky blue", "F"),
    "backward": ("blue", "B"),
    "step": ("vermillion", "S"),
}
"""Colour and letter of an event."""


def popular_diagram() -> None:
    """The diagram that many texts print: loss, backpropagation, zero the gradients, update."""
    names = ("loss", "backpropagation", "zero the\ngradients", "update the\nweights")
    with style():
        fig, ax = plt.subplots(figsize=(8.2, 2.0))
        for place, name in enumerate(names):
            corner = (2.4 * place - 0.8, -0.4)
            ax.add_patch(FancyBboxPatch(corner, 1.6, 0.8, "round,pad=0.1", facecolor="white", edgecolor="black"))
            ax.text(2.4 * place, 0, name, ha="center", va="center")
            if place:
                ax.annotate("", (2.4 * place - 0.92, 0), (2.4 * place - 1.48, 0), arrowprops=_ARROW)
        end = 2.4 * (len(names) - 1)
        ax.plot([end, end, 0], [-0.5, -0.95, -0.95], color="black", linewidth=1.5, linestyle="-")
        ax.annotate("", (0, -0.5), (0, -0.97), arrowprops=_ARROW)
        ax.text(end / 2, -1.02, "next batch", ha="center", va="top", fontsize=10)
        ax.set(xlim=(-1.0, end + 1.0), ylim=(-1.4, 0.6))
        ax.set_axis_off()
    told = ", ".join(" ".join(name.split()) for name in names)
    show(
        fig,
        alt=f"A diagram of four boxes, joined by arrows from left to right: {told}. From the last an arrow leads back.",
    )


def moved_line(runs: Mapping[str, Sequence[float]], shrinking: Sequence[float], sizes: Sequence[float]) -> None:
    """Losses of loops, of the one whose weights only shrink, and the length of its weights over its steps."""
    curves = {**runs, "the diagram, with zeros and decay": shrinking}
    colours = ("blue", "vermillion", "bluish green")
    with style():
        fig, (left, right) = plt.subplots(1, 2, figsize=(8.8, 3.6), width_ratios=(3, 2))
        for (name, losses), colour, line in zip(curves.items(), colours, ("-", "-", "--"), strict=True):
            left.plot(range(1, len(losses) + 1), losses, color=COLOURS[colour], linestyle=line, label=name)
        left.set(xlabel="step", ylabel="loss of the batch", ylim=(1.4, 2.75))
        left.axhline(math.log(10), color="#777777", linewidth=1, linestyle="-")
        left.text(91, math.log(10) - 0.02, "log 10", fontsize=10, color="#444444", va="top", ha="right")
        left.set_title("Loss")
        left.legend(loc="upper left")
        right.plot(range(len(sizes)), sizes, color=COLOURS["bluish green"], linestyle="--")
        right.set(xlabel="step of the diagram, zeros and decay", ylabel="share of the start", ylim=(0, 1.05))
        right.set_title("Length of the weights")
    told = "; ".join(f"{name} from {losses[0]:.2f} to {losses[-1]:.2f}" for name, losses in curves.items())
    show(
        fig,
        alt=f"Left, loss against step: {told}. Right, the length of all weights of the loop with zeros and weight decay, "
        f"which falls from 1 to {sizes[-1]:.2f} of what it was.",
    )


def legal_arc() -> None:
    """The loop as a ring: from the step on to the backward clearing is right, from there to the step it is not."""
    places = {"zero_grad()": 115, "forward": 65, "backward()": -20, "step()": 200}
    with style():
        fig, ax = plt.subplots(figsize=(7.4, 4.2))
        for start, stop, colour, dashed in ((200, -20, "bluish green", False), (-20, -160, "vermillion", True)):
            turns = [start + (stop - start) * part / 80 for part in range(4, 77)]
            xs, ys = zip(*(_on_ring(turn) for turn in turns), strict=True)
            line = (0, (1.2, 0.8)) if dashed else "-"
            ax.plot(xs, ys, color=COLOURS[colour], linewidth=7, linestyle=line)
            head = {"arrowstyle": "-|>", "mutation_scale": 30, "color": COLOURS[colour], "shrinkA": 0, "shrinkB": 0}
            for at in (12, 58):
                ax.annotate("", (xs[at + 1], ys[at + 1]), (xs[at], ys[at]), arrowprops=head)
        for name, turn in places.items():
            x, y = _on_ring(turn)
            look = {**_BOX, "facecolor": "#fff7cc"} if name == "zero_grad()" else _BOX
            ax.text(x, y, name, ha="center", va="center", bbox=look, zorder=3)
        ax.text(0, 0.42, "here the gradients have been used:\nclear anywhere", ha="center", va="center", fontsize=10)
        ax.text(0, -0.52, "here the step still needs them:\nclear nowhere", ha="center", va="center", fontsize=10)
        ax.set(xlim=(-2.4, 2.4), ylim=(-1.35, 1.35))
        ax.set_axis_off()
    show(
        fig,
        alt="The training loop as a ring, clockwise: step, zero_grad, forward, backward, and back to step. The upper arc, "
        "from step over zero_grad and forward to backward, is drawn solid: here the gradients have been used, clear "
        "anywhere. The lower arc, from backward to step, is broken: here the step still needs them, clear nowhere.",
    )


def _on_ring(degrees: float) -> tuple[float, float]:
    return 1.75 * math.cos(math.radians(degrees)), 1.05 * math.sin(math.radians(degrees))


def orders(kinds: Mapping[str, Sequence[Sequence[str]]]) -> None:
    """Orders of the four events, sorted by what became of them as loops: {what became of them: orders}."""
    tallest = 7
    columns = [
        (name if place == 0 else "", len(members), members[first : first + tallest])
        for name, members in kinds.items()
        for place, first in enumerate(range(0, len(members), tallest))
    ]
    with style():
        fig, ax = plt.subplots(figsize=(8.6, 4.0))
        for column, (name, count, members) in enumerate(columns):
            if name:
                ax.text(5 * column, 1.2, f"{name}: {count}", ha="left", va="bottom", weight="bold", fontsize=10)
            for row, order in enumerate(members):
                for place, event in enumerate(order):
                    colour, letter = _EVENTS[event]
                    x = 5 * column + place
                    ax.add_patch(Rectangle((x, -row), 0.94, 0.8, facecolor=COLOURS[colour], edgecolor="none"))
                    dark = event in ("backward", "step")
                    ink = "white" if dark else "black"
                    ax.text(x + 0.47, 0.4 - row, letter, ha="center", va="center", color=ink, weight="bold")
        ax.set(xlim=(-0.2, 5 * len(columns) - 0.6), ylim=(0.1 - tallest, 2.6))
        ax.set_axis_off()
        fig.legend(
            [Patch(color=COLOURS[colour]) for colour, _ in _EVENTS.values()],
            [f"{letter}  {event}" for event, (_, letter) in _EVENTS.items()],
            loc="outside lower center",
            ncols=4,
        )
    told = "; ".join(
        f"{' '.join(name.split())} {len(members)}"
        + (f" ({', '.join(''.join(_EVENTS[e][1] for e in order) for order in members)})" if len(members) < 10 else "")
        for name, members in kinds.items()
    )
    show(
        fig,
        alt=f"The {sum(map(len, kinds.values()))} orders of zero (Z), forward (F), backward (B) and step (S) as rows of boxes: {told}.",
    )


def holdings(habits: Mapping[str, Sequence[tuple[str, int | str]]]) -> None:
    """What `.grad` holds after each event, a row a habit: {where it clears: [(event, iteration, "None" or "zeros")]}."""
    shades = {1: "sky blue", 2: "orange", 3: "yellow"}
    with style():
        fig, axes = plt.subplots(len(habits), 1, figsize=(8.6, 1.15 * len(habits) + 0.5))
        for ax, (name, seen) in zip(axes, habits.items(), strict=True):
            for place, (event, held) in enumerate(seen):
                full = isinstance(held, int)
                colour = COLOURS[shades[held]] if isinstance(held, int) else "white"
                ax.add_patch(Rectangle((place, 0), 1, 1, facecolor=colour, edgecolor="#555555", linewidth=0.8))
                ax.text(place + 0.5, 0.5, str(held), ha="center", va="center", fontsize=12 if full else 10)
                bold = "bold" if event == "backward" else "normal"
                ax.text(place + 0.5, -0.12, event, ha="center", va="top", fontsize=10, weight=bold)
            ax.set(xlim=(-0.05, len(seen) + 0.05), ylim=(-0.45, 1.05))
            ax.set_axis_off()
            ax.set_title(f"cleared {name}", fontsize=11)
    told = "; ".join(f"cleared {name}: {', '.join(str(held) for _, held in seen)}" for name, seen in habits.items())
    show(
        fig,
        alt="A row of boxes for each habit, a box for each of the twelve events of three iterations, with the iteration "
        f"whose gradient .grad holds after it. {told}.",
    )


def norms(found: Mapping[str, tuple[float, Sequence[float]]], limit: float) -> None:
    """Norms before clipping, a curve a run, on a logarithmic axis: {name: (share right, norms)}."""
    looks = (("black", ":"), ("vermillion", "--"), ("blue", "-"))
    with style():
        fig, ax = plt.subplots(figsize=(7.6, 3.6))
        for (name, (share, values)), (colour, line) in zip(found.items(), looks, strict=True):
            label = f"{name}: {share:.0%} right"
            ax.semilogy(range(1, len(values) + 1), values, color=COLOURS[colour], linestyle=line, label=label)
        ax.axhline(limit, color="#777777", linewidth=1, linestyle="-")
        ax.text(1, 1.1 * limit, f"limit {limit:g}", fontsize=10, color="#444444", va="bottom")
        ax.set(xlabel="step", ylabel="norm before clipping")
        ax.set_title("What clip_grad_norm_ returns")
        ax.set_ylim(top=50 * max(max(values) for _, values in found.values()))
        ax.legend(loc="upper left")
    told = "; ".join(
        f"{name}, {share:.0%} of the test digits right, median norm {sorted(values)[len(values) // 2]:.2g}, largest "
        f"{max(values):.3g} in step {values.index(max(values)) + 1}"
        for name, (share, values) in found.items()
    )
    show(
        fig, alt=f"Norm before clipping against step on a logarithmic axis, with a line at the limit {limit:g}. {told}."
    )


def leaks(used: Mapping[str, tuple[Sequence[int], Sequence[int]]]) -> None:
    """Which backward passes the steps of the second iteration used: {loop: (those of D's step, those of G's step)}.

    Odd passes are those of D's loss, even ones those of G's loss, two an iteration.
    """
    wanted = ((3,), (4,))
    with style():
        fig, ax = plt.subplots(figsize=(8.2, 0.62 * len(used) + 1.0))
        for column, player in enumerate(("D", "G")):
            ax.text(3.1 + 5 * column, 1.0, f"the second step of {player} used", ha="center", weight="bold")
        for row, (name, pair) in enumerate(used.items()):
            ax.text(-0.1, 0.4 - row, name, ha="right", va="center")
            for column, passes in enumerate(pair):
                for place, number in enumerate(passes):
                    foreign = number not in wanted[column]
                    x = 3.1 + 5 * column + 2.3 * (place - len(passes) / 2)
                    colour = COLOURS["orange" if foreign else "sky blue"]
                    hatch = "////" if foreign else ""
                    box = Rectangle((x + 0.06, -row), 2.18, 0.8, facecolor=colour, hatch=hatch, edgecolor="white")
                    ax.add_patch(box)
                    back = {"facecolor": colour, "edgecolor": "none", "pad": 1.5}
                    words = _of_loss(number)
                    ax.text(x + 1.15, 0.4 - row, words, ha="center", va="center", fontsize=10, bbox=back)
        ax.set(xlim=(-3.2, 10.6), ylim=(0.8 - len(used), 1.5))
        ax.set_axis_off()
        fig.legend(
            [Patch(color=COLOURS["sky blue"]), Patch(facecolor=COLOURS["orange"], hatch="////", edgecolor="white")],
            ["its own", "leaked in"],
            loc="outside lower center",
            ncols=2,
        )
    told = "; ".join(
        f"{name}: D's step used {' and '.join(_of_loss(n, ' ') for n in pair[0])}, G's step "
        f"{' and '.join(_of_loss(n, ' ') for n in pair[1])}"
        for name, pair in used.items()
    )
    show(fig, alt=f"Boxes that say which backward passes the second step of each player used. {told}.")


def _of_loss(number: int, between: str = "\n") -> str:
    """`D's loss, iteration 2` for the third backward pass."""
    return f"{'D' if number % 2 else 'G'}'s loss,{between}iteration {(number + 1) // 2}"


def closures(curves: Mapping[str, Sequence[float]]) -> None:
    """The loss of each LBFGS step on a logarithmic axis: {where the clearing stands: losses}."""
    looks = {"inside": ("blue", "-", "o"), "outside": ("vermillion", "--", "s"), "nowhere": ("black", ":", "^")}
    with style():
        fig, ax = plt.subplots(figsize=(6.6, 3.6))
        _curves(ax, curves, looks)
        ax.set(xlabel="step(closure)", ylabel="loss it returned")
        ax.set_xticks(range(1, 1 + max(map(len, curves.values()))))
        ax.set_title("LBFGS, with the clearing inside, outside or nowhere")
        ax.legend(loc="upper left")
    told = "; ".join(f"{place}: {', '.join(f'{v:.2g}' for v in losses)}" for place, losses in curves.items())
    show(fig, alt=f"Loss against LBFGS step on a logarithmic axis, by the place of the clearing. {told}.")


def _curves(ax: Axes, curves: Mapping[str, Sequence[float]], looks: Mapping[str, tuple[str, str, str]]) -> None:
    for place, losses in curves.items():
        colour, line, marker = looks[place]
        steps = range(1, len(losses) + 1)
        ax.semilogy(steps, losses, color=COLOURS[colour], linestyle=line, marker=marker, label=f"cleared {place}")
