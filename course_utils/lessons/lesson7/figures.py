"""The pictures of lesson 7: one function each, with its alternative text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Rectangle

from gradient_ledger.figures import COLOURS, show, style

_ARROW: dict[str, Any] = {"arrowstyle": "-|>", "linewidth": 1.5, "mutation_scale": 14, "color": "black"}


def scale_over_steps(scales: Sequence[float], skipped: Sequence[bool]) -> None:
    """The scale at each step on a logarithmic axis, with a cross where the step was skipped."""
    powers = [math.log2(scale) for scale in scales]
    crosses = [step for step, was in enumerate(skipped) if was]
    with style():
        fig, ax = plt.subplots(figsize=(8.4, 3.4))
        ax.step(range(len(powers)), powers, where="post", color=COLOURS["blue"], linestyle="-", label="scale")
        heights = [powers[step] for step in crosses]
        ax.plot(crosses, heights, "x", color=COLOURS["vermillion"], markersize=7, label="step skipped")
        ax.set(xlabel="step", ylabel="scale, power of two")
        ax.set_title("The search for the upper end")
        ax.legend(loc="upper right")
    first = skipped.index(False)
    late = [step for step in crosses if step > first]
    show(
        fig,
        alt=f"Scale against step. It falls from 2**{powers[0]:.0f} to 2**{powers[first]:.0f} in the first {first} steps, "
        f"all of them skipped. Then it goes up and down between 2**{min(powers[first:]):.0f} and "
        f"2**{max(powers[first:]):.0f}: {len(late)} more steps are skipped, {', '.join(map(str, late))}.",
    )


def scaler_states() -> None:
    """One round of an optimizer at a scaler as a diagram of states, and what update() does with the scale."""
    places = {"scaled": (0, 0), "unscaled": (3.6, 0), "stepped": (7.2, 0)}
    words = {
        "scaled": "gradients\nare scaled",
        "unscaled": "unscaled,\nand checked",
        "stepped": "stepped,\nor skipped",
    }
    with style():
        fig, ax = plt.subplots(figsize=(8.4, 3.8))
        for name, (x, y) in places.items():
            _box(ax, x, y, words[name])
        for start, stop, name in (("scaled", "unscaled", "unscale_()"), ("unscaled", "stepped", "step()")):
            a, b = places[start][0] + 1.12, places[stop][0] - 1.12
            ax.annotate("", (b, 0), (a, 0), arrowprops=_ARROW)
            ax.text((a + b) / 2, 0.16, name, ha="center", va="bottom", fontsize=10)
        over = {**_ARROW, "connectionstyle": "arc3,rad=-0.28"}
        ax.annotate("", (7.2, 0.62), (0, 0.62), arrowprops=over)
        ax.text(3.6, 1.78, "step(), which unscales first", ha="center", va="bottom", fontsize=10)
        ax.plot([7.2, 7.2, 0], [-0.62, -1.25, -1.25], color="black", linewidth=1.5, linestyle="-")
        ax.plot([3.6, 3.6], [-0.62, -1.25], color="black", linewidth=1.5, linestyle="-")
        ax.annotate("", (0, -0.62), (0, -1.27), arrowprops=_ARROW)
        ax.text(1.8, -1.2, "update()", ha="center", va="bottom", fontsize=10)
        told = "an overflow: scale times backoff, count from 0        none: count one up; at the interval, scale times growth"
        ax.text(3.6, -1.75, told, ha="center", va="top", fontsize=9)
        ax.set(xlim=(-1.4, 8.6), ylim=(-2.15, 2.3))
        ax.set_axis_off()
    show(
        fig,
        alt="Three states of an optimizer at its scaler, from left to right: gradients are scaled; unscaled, and "
        "checked; stepped, or skipped. unscale_() leads from the first to the second, step() from the second to the third. "
        "A step() from the first state unscales first. update() leads from the second or the third back to the first. At an "
        "overflow it multiplies the scale by the backoff factor and counts from 0; else it counts one up, and at the growth interval "
        "multiplies the scale by the growth factor.",
    )


def _box(ax: Axes, x: float, y: float, words: str, width: float = 1.9, colour: str = "white") -> None:
    corner = (x - width / 2, y - 0.45)
    box = FancyBboxPatch(corner, width, 0.9, "round,pad=0.1", facecolor=colour, edgecolor="black")
    ax.add_patch(box)
    ax.text(x, y, words, ha="center", va="center", fontsize=10)


def window_order() -> None:
    """The lines of a window in their order: what is scaled, what is not, and what comes once."""
    once = ("unscale", "clip", "step", "update", "clear", "schedule")
    colours = {"scaled": "#fbe3d6", "own": "#d9ecf7"}
    with style():
        fig, ax = plt.subplots(figsize=(8.8, 2.7))
        for place, name in enumerate(("forward,\nautocast", "scale", "backward")):
            _box(ax, 1.55 * place, 0, name, 1.15, colours["scaled"] if place else "white")
            if place:
                ax.annotate("", (1.55 * place - 0.68, 0), (1.55 * place - 0.87, 0), arrowprops=_ARROW)
        ax.add_patch(
            Rectangle((-0.85, -0.85), 4.8, 1.7, facecolor="none", edgecolor="#555555", linewidth=1.5, linestyle="--")
        )
        ax.text(1.55, 0.95, "for each micro-batch", ha="center", va="bottom", fontsize=10)
        for place, name in enumerate(once):
            x = 4.95 + 1.5 * place
            _box(ax, x, 0, name, 1.1, colours["own"] if name in ("clip", "step") else "white")
            ax.annotate("", (x - 0.65, 0), (x - 0.85 if place else x - 1.0, 0), arrowprops=_ARROW)
        ax.text(4.95 + 1.5 * 2.5, 0.95, "once a window", ha="center", va="bottom", fontsize=10)
        ax.text(2.3, -1.0, "one scale for the whole window", ha="center", va="top", fontsize=10)
        ax.text(7.2, -1.0, "gradients in their own size", ha="center", va="top", fontsize=10)
        ax.text(12.3, -1.0, "if there\nwas a step", ha="center", va="top", fontsize=10)
        ax.set(xlim=(-1.0, 13.2), ylim=(-1.75, 1.4))
        ax.set_axis_off()
    show(
        fig,
        alt="The lines of a window from left to right. For each micro-batch: forward under autocast, scale, backward, with "
        f"one scale for the whole window. Then once a window: {', '.join(once)}. Clip and step see gradients in their own "
        "size. Schedule comes only if there was a step.",
    )


def stalling(sums: Mapping[str, Sequence[float]]) -> None:
    """Running sums of ones, a curve a format, on two logarithmic axes: {format: sum after each}."""
    looks = {"float32": ("black", ":"), "float16": ("orange", "--"), "bfloat16": ("vermillion", "-")}
    with style():
        fig, ax = plt.subplots(figsize=(6.8, 3.6))
        for name, values in sums.items():
            colour, line = looks[name]
            ax.loglog(range(1, len(values) + 1), values, color=COLOURS[colour], linestyle=line, label=name)
            if values[-1] < len(values):
                ax.text(len(values), 0.88 * values[-1], f"{values[-1]:g}", ha="right", va="top", fontsize=10)
        ax.set(xlabel="gradients of 1 that were added", ylabel="what .grad holds")
        ax.set_title("A sum that stands still")
        ax.legend(loc="upper left")
    told = "; ".join(f"{name} ends at {values[-1]:g}" for name, values in sums.items())
    show(
        fig,
        alt=f"Running sum of gradients of 1 against their number, up to {len(next(iter(sums.values())))}, both axes "
        f"logarithmic. All curves rise together, then some stand still: {told}.",
    )


def all_reduces(sent: Mapping[str, Sequence[int]]) -> None:
    """All-reduces in a window of micro-batches, a row a way: {way: how many in each backward}."""
    with style():
        fig, ax = plt.subplots(figsize=(7.6, 0.62 * len(sent) + 0.9))
        for row, (way, counts) in enumerate(sent.items()):
            ax.text(-0.15, 0.4 - row, way, ha="right", va="center")
            for place, count in enumerate(counts):
                colour = COLOURS["blue"] if count else "white"
                ax.add_patch(Rectangle((1.5 * place, -row), 1.4, 0.8, facecolor=colour, edgecolor="#555555"))
                ink = "white" if count else "#444444"
                words = "all-reduce" if count else "silent"
                ax.text(1.5 * place + 0.7, 0.4 - row, words, ha="center", va="center", color=ink, fontsize=10)
        for place in range(max(map(len, sent.values()))):
            ax.text(1.5 * place + 0.7, 0.92, f"backward {place + 1}", ha="center", va="bottom", fontsize=10)
        ax.set(xlim=(-2.6, 6.1), ylim=(0.9 - len(sent), 1.3))
        ax.set_axis_off()
    told = "; ".join(f"{way}: {_numbers(counts)}" for way, counts in sent.items())
    show(fig, alt=f"Which backward passes of a window end in an all-reduce, by the way it is written. {told}.")


def _numbers(counts: Sequence[int]) -> str:
    return ", ".join(str(number) for number, count in enumerate(counts, 1) if count) or "none"


def token_shares(by_ranks: Sequence[float], by_tokens: Sequence[float]) -> None:
    """The weight of each token in the step, by the mean of two ranks' means and by the mean over all tokens.

    The tokens of rank 0 come first; where their weight changes, rank 1 begins.
    """
    border = next(place for place, share in enumerate(by_ranks) if share != by_ranks[0])
    with style():
        fig, ax = plt.subplots(figsize=(7.2, 3.2))
        for place, share in enumerate(by_ranks):
            second = place >= border
            colour = COLOURS["orange" if second else "sky blue"]
            ax.bar(place + 1, share, 0.8, color=colour, hatch="////" if second else "", edgecolor="white")
        ax.step([0.5, len(by_tokens) + 0.5], 2 * [by_tokens[0]], color="black", linestyle="--")
        ax.text(0.6, by_tokens[0], "mean over all tokens", va="bottom", fontsize=10)
        ax.text((1 + border) / 2, by_ranks[0], "rank 0", ha="center", va="bottom", fontsize=10)
        ax.text((border + 1 + len(by_ranks)) / 2, by_ranks[-1], "rank 1", ha="center", va="bottom", fontsize=10)
        ax.set(xlabel="token", ylabel="weight in the step", ylim=(0, 1.2 * max(by_ranks)))
        ax.set_xticks(range(1, len(by_ranks) + 1))
        ax.set_title("The mean of two means")
    show(
        fig,
        alt=f"Weight of each of {len(by_ranks)} tokens in the step. By the mean of the ranks' means each of the {border} "
        f"tokens of rank 0 has {by_ranks[0]:.3f}, each of the {len(by_ranks) - border} of rank 1 has {by_ranks[-1]:.3f}. "
        f"A line shows the mean over all tokens, where each has {by_tokens[0]:.3f}.",
    )
