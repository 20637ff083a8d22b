"""The pictures of lesson 2: one function each, with its alternative text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes

from course_utils.lessons.lesson2.scalars import Value
from gradient_ledger.figures import COLOURS, show, style

_BOX: dict[str, Any] = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "black"}
_ARROW: dict[str, Any] = {"arrowstyle": "->"}


def accuracies(cleared: Sequence[Sequence[float]], kept: Sequence[Sequence[float]]) -> None:
    """Accuracy after each pass over the data, a list a start, with the clearing and without it."""
    passes = range(1, len(cleared[0]) + 1)
    with style():
        fig, ax = plt.subplots(figsize=(6.8, 3.6))
        for runs, name, colour, line in (
            (cleared, "with zero_grad()", COLOURS["blue"], "-"),
            (kept, "without it", COLOURS["vermillion"], "--"),
        ):
            for number, run in enumerate(runs):
                label = name if number == 0 else None
                ax.plot(passes, [100 * value for value in run], linestyle=line, color=colour, label=label)
        ax.set_xticks(passes)
        ax.set_ylim(0, 100)
        ax.set_xlabel("passes over the training digits")
        ax.set_ylabel("test digits read right (%)")
        ax.set_title("One line of the loop, three starts each")
        ax.legend(loc="lower left")
    firsts, ends = (
        [
            f"{100 * min(run[at] for run in runs):.0f} to {100 * max(run[at] for run in runs):.0f}"
            for runs in (cleared, kept)
        ]
        for at in (0, -1)
    )
    show(
        fig,
        alt=f"Accuracy against passes over the data, three runs with zero_grad and three without it. After the first pass "
        f"they read {firsts[0]} percent with it and {firsts[1]} without; after the last {ends[0]} and {ends[1]}. The curves "
        "without it swing.",
    )


def waterfall(story: Sequence[tuple[str, float, float | None]]) -> None:
    """`.grad` of one weight over its events: (name, value before, value after); after None it was cleared."""
    with style():
        fig, ax = plt.subplots(figsize=(7.2, 3.8))
        for place, (_, before, after) in enumerate(story):
            if after is None:
                ax.axvspan(place - 0.5, place + 0.5, color="#e6e6e6", zorder=0)
                ax.text(place, 1.7, ".grad\nis None", ha="center", va="center")
                continue
            up = after >= before
            ax.bar(
                place,
                after - before,
                bottom=before,
                width=0.6,
                color=COLOURS["blue" if up else "vermillion"],
                hatch="" if up else "//",
                edgecolor="white",
            )
            shift, side = (0.15, "bottom") if up else (-0.15, "top")
            ax.text(place, after + shift, f"{after:g}", ha="center", va=side, weight="bold")
            if place + 1 < len(story) and story[place + 1][2] is not None:
                ax.plot([place + 0.3, place + 0.7], [after, after], color="black", linewidth=1, linestyle="-")
        ax.axhline(0, color="black", linewidth=1)
        ax.set_xticks(range(len(story)), [name for name, _, _ in story])
        values = [value for _, *pair in story for value in pair if value is not None]
        ax.set_ylim(min(values) - 0.6, max(values) + 0.8)
        ax.set_ylabel("value in .grad")
        ax.set_title("The buffer holds the sum of all backward calls since the last clearing")
    told = [f"{' '.join(name.split())}: {'None' if after is None else format(after, 'g')}" for name, _, after in story]
    show(fig, alt=f"Waterfall chart of .grad of one weight. After each event it holds: {'; '.join(told)}.")


def unrolled(values: Sequence[float], by_use: Sequence[float], weight: float, total: float) -> None:
    """A chain of `tanh(w * h)`: its values, what each use of the one weight contributes, and their sum."""
    depth = len(by_use)
    with style():
        fig, ax = plt.subplots(figsize=(7.4, 3.7))
        for place, value in enumerate(values):
            name = "x" if place == 0 else f"$h_{place}$"
            ax.text(2 * place, 2, f"{name}\n{value:.3f}", ha="center", va="center", bbox=_BOX)
            if not place:
                continue
            here, share = 2 * place - 1, by_use[place - 1]
            ax.annotate("", (2 * place - 0.5, 2), (2 * place - 1.5, 2), arrowprops=_ARROW)
            ax.text(here, 2.32, "tanh(w·h)", ha="center", va="bottom", fontsize=10)
            width = 1 + 9 * abs(share) / max(map(abs, by_use))
            line = {"arrowstyle": "-", "linewidth": width, "color": COLOURS["sky blue"]}
            ax.annotate("", (depth, 0.35), (here, 1.85), arrowprops=line, zorder=0)
            ax.text(
                here + 0.42 * (depth - here),
                1.85 - 0.42 * 1.5,
                f"{share:.3f}",
                ha="center",
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )
        ax.text(depth, 0.15, f"w = {weight}     w.grad = {total:.3f}", ha="center", va="center", bbox=_BOX)
        ax.set_xlim(-0.7, 2 * depth + 0.7)
        ax.set_ylim(-0.2, 2.8)
        ax.set_axis_off()
        ax.set_title("One weight, several uses, a contribution each, one sum")
    shares = ", ".join(f"{value:.3f}" for value in by_use)
    show(
        fig,
        alt=f"A chain of {depth} tanh steps from x to h{depth}. From each step a line leads down to the one weight w. The "
        f"contributions on the lines are, from the first use to the last, {shares}. The box of w says w.grad = "
        f"{total:.3f}, their sum.",
    )


def saved_bytes(timelines: Mapping[str, Sequence[tuple[str, int]]]) -> None:
    """Bytes that graphs keep after each event, a chart a program: {title: [("forward" or "backward", bytes)]}."""
    most = max(kept for timeline in timelines.values() for _, kept in timeline) / 1024
    with style():
        fig, axes = plt.subplots(1, len(timelines), figsize=(8.4, 3.6), sharey=True, squeeze=False)
        for ax, (title, timeline) in zip(axes[0], timelines.items(), strict=True):
            for place, (event, kept) in enumerate(timeline):
                colour = COLOURS["blue" if event == "forward" else "orange"]
                ax.bar(place, kept / 1024, width=0.7, color=colour)
                ax.text(place, kept / 1024 + most / 36, f"{kept / 1024:g}", ha="center", fontsize=10)
            ax.set_xticks(range(len(timeline)), [event[0].upper() for event, _ in timeline])
            ax.set_title(title)
            ax.set_ylim(0, 1.12 * most)
            ax.set_xlabel("F: after a forward, B: after a backward")
        axes[0][0].set_ylabel("bytes kept for backward (KiB)")
    told = ". ".join(
        f"{title}: " + ", ".join(f"{event} {kept / 1024:g}" for event, kept in timeline)
        for title, timeline in timelines.items()
    )
    show(fig, alt=f"Bar charts of the KiB that graphs keep after each event. {told}.")


def spread(rows: torch.Tensor, mean: torch.Tensor, sizes: Sequence[int], noise: Sequence[float]) -> None:
    """The gradients of single samples and their mean; how far batches of each size lie from the full gradient."""
    with style():
        fig, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.9))
        thin = {"arrowstyle": "->", "color": COLOURS["sky blue"], "linewidth": 1.5}
        for row in rows.tolist():
            left.annotate("", row, (0, 0), arrowprops=thin)
        left.annotate("", mean.tolist(), (0, 0), arrowprops={"arrowstyle": "->", "color": "black", "linewidth": 3})
        left.plot([], [], color=COLOURS["sky blue"], linewidth=1.5, linestyle="-", label="a sample")
        left.plot([], [], color="black", linewidth=3, linestyle="-", label="their mean")
        left.legend(loc="upper left")
        reach = 1.15 * rows.abs().max().item()
        left.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="gradient entry 1", ylabel="gradient entry 2")
        left.set_title(f"{len(rows)} samples and their mean")
        right.loglog(sizes, noise, marker="o", label="measured")
        expected = [noise[0] / size**0.5 for size in sizes]
        right.loglog(sizes, expected, color=COLOURS["vermillion"], label="1 / root of size")
        right.set_xticks(sizes, [str(size) for size in sizes])
        right.set_yticks(noise, [f"{value:.2g}" for value in noise])
        right.minorticks_off()
        right.set(xlabel="batch size", ylabel="distance from full gradient")
        right.set_title("Noise that the mean averages out")
        right.legend()
    shorter = int((rows.norm(dim=1) > mean.norm()).sum())
    show(
        fig,
        alt=f"Left: {len(rows)} thin arrows from the origin, one a sample, and a thick black arrow, their mean, which is "
        f"shorter than {shorter} of them. Right: distance of a batch gradient from the full gradient against batch size "
        f"on logarithmic axes, from {noise[0]:.3g} at size {sizes[0]} to {noise[-1]:.3g} at size {sizes[-1]}, close to the "
        "line of one over the root of the size.",
    )


def memories(events: Sequence[str], track: Mapping[str, Sequence[float | None]]) -> None:
    """Readings of several memories after each event of a training loop, a row each; None where there is none."""
    shades = {"forward": "sky blue", "backward": "blue", "step": "vermillion", "clear": "orange"}
    told = []
    with style():
        fig, axes = plt.subplots(len(track), 1, figsize=(8.0, 1.5 * len(track)), sharex=True)
        for ax, (name, readings) in zip(axes, track.items(), strict=True):
            numbers = [math.nan if value is None else value for value in readings]
            ax.step(range(len(events)), numbers, where="mid", color="black", linewidth=1.5)
            known = [value for value in readings if value is not None]
            lowest = 0.0 if None in readings else min(known)
            reach = max(known) - lowest
            changed = [i for i in range(1, len(events)) if readings[i] != readings[i - 1]]
            for place, value in enumerate(readings):
                if value is None:
                    ax.text(place, lowest, "None", ha="center", va="center", fontsize=10)
                elif place in changed:
                    colour = COLOURS[shades[events[place]]]
                    ax.plot(place, value, "o", color=colour, markersize=9, markeredgecolor="black")
            told.append(f"{name}: changed by {' and '.join(sorted({events[i] for i in changed}))}")
            ax.set_title(told[-1], fontsize=11)
            ax.set_ylim(lowest - 0.3 * reach, lowest + 1.4 * reach)
        axes[-1].set_xticks(range(len(events)), events, rotation=60, ha="right")
    show(fig, alt=f"Step charts over the events {', '.join(events)}. {'. '.join(told)}.")


def one_slot(parameter: torch.nn.Parameter, holders: Mapping[str, torch.Tensor]) -> None:
    """Who refers to a parameter, and its one gradient: {name of the holder: the tensor it holds}."""
    gradient = "None" if parameter.grad is None else f"{parameter.grad.item():g}"
    pointing = [name for name, held in holders.items() if held is parameter]
    with style():
        fig, ax = plt.subplots(figsize=(6.8, 3.0))
        middle = (len(holders) - 1) / 2
        for place, name in enumerate(holders):
            height = 2 * middle - place
            box = ax.text(0, height, name, ha="center", va="center", bbox=_BOX).get_bbox_patch()
            if name in pointing:
                from_box = {**_ARROW, "patchA": box, "shrinkA": 4}
                ax.annotate("", (2.75, middle + 0.15 * (middle - place)), (0, height), arrowprops=from_box)
        ax.text(3.6, middle, f"parameter p\n{parameter.item():g}", ha="center", va="center", bbox=_BOX)
        ax.annotate("", (5.6, middle), (4.3, middle), arrowprops=_ARROW)
        ax.text(4.95, middle + 0.12, ".grad", ha="center", va="bottom")
        yellow = {**_BOX, "facecolor": "#fff7cc"}
        ax.text(6.3, middle, f"gradient\n{gradient}", ha="center", va="center", bbox=yellow)
        note = "one slot: whoever holds p\nmay read it, fill it, clear it"
        ax.text(6.3, middle - 0.9, note, ha="center", va="center", fontsize=10)
        ax.set(xlim=(-1.1, 7.7), ylim=(-0.5, 2 * middle + 0.5))
        ax.set_axis_off()
    show(
        fig,
        alt=f"Boxes on the left, {', '.join(pointing)}, each with an arrow to the one box of parameter p, value "
        f"{parameter.item():g}. From p one arrow labelled .grad leads to the one box of the gradient, {gradient}.",
    )


def slopes(values: dict[str, Value]) -> None:
    """An expression as its engine keeps it: {name: value}, arrows from each value to its operands with the slopes."""
    names = {id(value): name for name, value in values.items()}
    distance = dict.fromkeys(values, 0)
    for name in reversed(values):  # a value stands after its operands
        for parent, _ in values[name].parents:
            operand = names[id(parent)]
            distance[operand] = max(distance[operand], distance[name] + 1)
    columns: dict[int, list[str]] = {}
    for name in values:
        columns.setdefault(distance[name], []).append(name)
    place = {
        name: (-2.2 * column, 1.1 * ((len(members) - 1) / 2 - row))
        for column, members in columns.items()
        for row, name in enumerate(members)
    }
    told = []
    with style():
        fig, ax = plt.subplots(figsize=(7.6, 2.9))
        for name, value in values.items():
            x, y = place[name]
            ax.text(x, y, f"{name}\n{value.data:.3g}", ha="center", va="center", bbox=_BOX, zorder=3)
            for number, (parent, slope) in enumerate(value.parents):
                operand = names[id(parent)]
                _slope(ax, place[name], place[operand], slope, distance[operand] - distance[name], number)
                told.append(f"{name} to {operand} {slope:.3g}")
        ax.set(xlim=(min(x for x, _ in place.values()) - 0.8, 0.8), ylim=(-1.5, 1.5))
        ax.set_axis_off()
        ax.set_title("Each arrow carries the gradient back, times the slope on it")
    show(
        fig,
        alt=f"A graph of the values {', '.join(f'{name} = {value.data:.3g}' for name, value in values.items())}. Arrows "
        f"lead from each value back to its operands, with their slopes: {'; '.join(told)}.",
    )


def _slope(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], slope: float, steps: int, number: int
) -> None:
    bend = (
        0.0
        if steps == 1 and start[1] != end[1]
        else 0.35 * (1 if number else -1)
        if steps > 1
        else 0.25 * (2 * number - 1)
    )
    arrow = {"arrowstyle": "->", "connectionstyle": f"arc3,rad={bend}", "shrinkA": 20, "shrinkB": 20}
    ax.annotate("", end, start, arrowprops=arrow)
    dx, dy = end[0] - start[0], end[1] - start[1]
    middle = ((start[0] + end[0]) / 2 - bend * -dy / 2, (start[1] + end[1]) / 2 - bend * dx / 2)
    ax.text(
        *middle,
        f"{slope:.3g}",
        ha="center",
        va="center",
        fontsize=10,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )
