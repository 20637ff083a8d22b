"""The pictures of lesson 6: one function each, with its alternative text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.patches import Patch, Rectangle

from gradient_ledger.figures import COLOURS, show, style

Place = tuple[int, int]
"""(epoch, batch), both from 0."""

_EPOCHS = ("sky blue", "orange", "bluish green")
_HATCHES = ("", "//", "..")


def memory_against_k(
    each: Mapping[int, tuple[int, int]], at_the_end: Mapping[int, tuple[int, int]], gradients: int
) -> None:
    """Peak and bytes kept by graphs against the number of pieces: {pieces: (peak, kept)} for two programs."""
    pieces = list(each)
    looks = (
        (at_the_end, "vermillion", "--", "s", "one backward at the end"),
        (each, "blue", "-", "o", "a backward for each piece"),
    )
    with style():
        fig, ax = plt.subplots(figsize=(7.6, 4.0))
        for program, colour, line, marker, name in looks:
            peaks = [peak / 1024 for peak, _ in program.values()]
            ax.plot(pieces, peaks, color=COLOURS[colour], linestyle=line, marker=marker, label=f"peak, {name}")
        kept = [kept / 1024 for _, kept in each.values()]
        ax.fill_between(
            pieces,
            kept,
            color=COLOURS["sky blue"],
            linewidth=0,
            alpha=0.6,
            label="kept by graphs, a backward for each piece",
        )
        ax.axhline(3 * gradients / 1024, color="#777777", linewidth=1, linestyle="-")
        words = "gradients and AdamW's memory"
        ax.text(pieces[-1], 3.06 * gradients / 1024, words, fontsize=10, color="#444444", ha="right", va="bottom")
        ax.set_xscale("log", base=2)
        ax.set_xticks(pieces, [str(k) for k in pieces])
        ax.set(xlabel="pieces the 512 rows are cut into", ylabel="KiB", ylim=(0, None))
        ax.set_title("Memory of a step with AdamW")
        ax.legend(loc="upper right")
    told = "; ".join(
        f"{k} {'piece' if k == 1 else 'pieces'}: peak {each[k][0] / 1024:.0f}, graphs keep at most "
        f"{each[k][1] / 1024:.0f} during the passes, "
        f"with one backward at the end {at_the_end[k][0] / 1024:.0f}"
        for k in pieces
    )
    show(
        fig,
        alt=f"Memory in KiB against the number of pieces. {told}. A line at {3 * gradients / 1024:.0f} KiB marks "
        "gradients and the memory of AdamW.",
    )


def window_ledger(ledgers: Mapping[str, Sequence[Sequence[tuple[float, float]]]]) -> None:
    """Entries of micro-batches, piled up in their windows: {name: windows of (entry, sum so far)}."""
    shades = ("sky blue", "orange", "bluish green", "yellow")
    with style():
        fig, axes = plt.subplots(len(ledgers), 1, figsize=(8.0, 5.4), sharex=True)
        for ax, (name, books) in zip(axes, ledgers.items(), strict=True):
            x, highest = 0.0, 0.0
            for rows in books:
                below: list[tuple[float, float]] = []
                for place, (entry, total) in enumerate(rows):
                    below.append((total - entry, entry))
                    for number, (bottom, height) in enumerate(below):
                        box = Rectangle((x, bottom), 0.86, height, facecolor=COLOURS[shades[number]], edgecolor="white")
                        ax.add_patch(box)
                    number_box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
                    ax.text(
                        x + 0.43,
                        max(total, 0) + 0.03,
                        f"{total:.2f}",
                        ha="center",
                        va="bottom",
                        fontsize=10,
                        bbox=number_box,
                    )
                    highest = max(highest, total)
                    x += 1
                    if place == len(rows) - 1:
                        ax.axvline(x - 0.02, color=COLOURS["vermillion"], linestyle="--", linewidth=1.5)
                        ax.text(x + 0.02, highest * 1.12, "step", color="#444444", fontsize=10, ha="left", va="top")
                        x += 0.6
            ax.axhline(1, color="black", linewidth=1, linestyle=":")
            ax.set(xlim=(-0.2, x + 0.1), ylim=(0, highest * 1.25), ylabel="length along it")
            ax.set_title(name, fontsize=11)
            ax.set_xticks([])
        axes[-1].set_xlabel(
            "after each micro-batch: what .grad holds along the gradient of the whole window (dotted: 1)"
        )
        handles = [Patch(color=COLOURS[shade]) for shade in shades]
        names = [f"micro-batch {number}" for number in range(1, 5)]
        fig.legend(handles, names, loc="outside lower center", ncols=4)
    told = ". ".join(
        f"{name}: "
        + "; ".join(
            f"window {number}: " + ", ".join(f"{total:.2f}" for _, total in rows)
            for number, rows in enumerate(books, start=1)
        )
        for name, books in ledgers.items()
    )
    show(
        fig,
        alt="Two rows of stacked bars. Each bar is what .grad holds after a micro-batch, along the gradient of its whole "
        f"window and in its length, in three windows of four; a step ends each. {told}. A dotted line marks 1.",
    )


def normalisations(errors: Mapping[str, Sequence[tuple[float, bool]]]) -> None:
    """Relative error of each window's gradient, a row a rule: {rule: [(error, whether only its length is wrong)]}."""
    floor = 1e-16
    with style():
        fig, ax = plt.subplots(figsize=(8.0, 3.8))
        for row, found in enumerate(errors.values()):
            for straight, colour, marker in ((False, "vermillion", "o"), (True, "blue", "D")):
                values = [max(error, floor) for error, only_length in found if only_length == straight]
                spread = [row + 0.16 * ((place % 5) - 2) / 2 for place in range(len(values))]
                ax.plot(values, spread, marker, color=COLOURS[colour], linestyle="none", markersize=5, alpha=0.7)
        ax.set_xscale("log")
        ax.set_yticks(range(len(errors)), list(errors))
        ax.set(xlabel="distance from the gradient of one big batch, in its length", ylim=(len(errors) - 0.5, -0.5))
        ax.set_xlim(floor / 3, 3)
        ax.set_title("Divided by what?")
        handles = [
            plt.Line2D([], [], color=COLOURS[colour], marker=marker, linestyle="none")
            for colour, marker in (("vermillion", "o"), ("blue", "D"))
        ]
        fig.legend(handles, ["direction is wrong", "length alone, or nothing"], loc="outside lower center", ncols=2)
    told = "; ".join(f"{rule}: {_spread(found)}" for rule, found in errors.items())
    count = len(next(iter(errors.values())))
    show(
        fig,
        alt=f"Dots on a logarithmic axis, {count} windows for each way to divide: how far the accumulated gradient is from "
        f"that of one big batch. {told}.",
    )


def _spread(found: Sequence[tuple[float, bool]]) -> str:
    """The smallest and the largest error of some windows, and whether a direction is wrong; rounding is called so."""
    errors = [error for error, _ in found]
    if max(errors) < 1e-12:
        return "rounding"
    wrong = "wrong in length alone" if all(only_length for _, only_length in found) else "wrong in direction"
    return f"from {min(errors):.1g} to {max(errors):.1g}, {wrong}"


def windows(stories: Mapping[str, Sequence[Mapping[Place, float]]]) -> None:
    """Which batches each step used and with what weight, a row a rule: {rule: [{(epoch, batch): weight}]}."""
    with style():
        fig, axes = plt.subplots(len(stories), 1, figsize=(9.2, 0.9 * len(stories) + 1.0), sharex=True)
        for ax, (name, steps) in zip(axes, stories.items(), strict=True):
            x = 0.0
            for step in steps:
                for (epoch, batch), weight in step.items():
                    box = Rectangle(
                        (x, 0),
                        0.92,
                        weight,
                        facecolor=COLOURS[_EPOCHS[epoch]],
                        hatch=_HATCHES[epoch],
                        edgecolor="white",
                        linewidth=0.5,
                    )
                    ax.add_patch(box)
                    ax.text(x + 0.46, -0.03, str(batch + 1), ha="center", va="top", fontsize=10)
                    x += 1
                x += 0.7
            ax.axhline(0.25, color="#777777", linewidth=0.8, linestyle=":")
            ax.set(xlim=(-0.3, 38), ylim=(-0.16, 0.5))
            ax.set_axis_off()
            ax.set_title(name, fontsize=11)
        fig.legend(
            [
                Patch(facecolor=COLOURS[colour], hatch=hatch, edgecolor="white")
                for colour, hatch in zip(_EPOCHS, _HATCHES, strict=True)
            ]
            + [plt.Line2D([], [], color="#777777", linewidth=0.8, linestyle=":")],
            [*(f"batch of epoch {epoch}" for epoch in (1, 2, 3)), "weight 1/4"],
            loc="outside lower center",
            ncols=4,
        )
    told = ". ".join(
        f"{name}: "
        + "; ".join(
            ", ".join(f"{epoch + 1}.{batch + 1}" for epoch, batch in step)
            + f" weighing {' or '.join(f'{w:.2g}' for w in sorted({round(w, 6) for w in step.values()}))} each"
            for step in steps
        )
        for name, steps in stories.items()
    )
    show(
        fig,
        alt="A row of bars for each rule, a group of bars for each step: the batches it used, as epoch.batch, the height "
        f"being the weight. A dotted line marks a quarter. {told}.",
    )


def schedules(rates: Mapping[str, Sequence[float]]) -> None:
    """The learning rate of each update, a line for each place of `scheduler.step()`."""
    looks = (("blue", "-", "o"), ("vermillion", "--", "s"))
    with style():
        fig, ax = plt.subplots(figsize=(6.8, 3.2))
        for (where, seen), (colour, line, marker) in zip(rates.items(), looks, strict=True):
            updates = range(1, len(seen) + 1)
            ax.plot(updates, seen, color=COLOURS[colour], linestyle=line, marker=marker, label=f"after {where}")
        ax.set(xlabel="update", ylabel="learning rate", ylim=(-0.05, 1.3))
        ax.set_xticks(range(1, 1 + max(map(len, rates.values()))))
        ax.set_title("scheduler.step()")
        ax.legend(loc="upper right", ncols=2)
    told = "; ".join(f"after {where}: {', '.join(f'{rate:.2f}' for rate in seen)}" for where, seen in rates.items())
    show(fig, alt=f"Learning rate against update for two places of scheduler.step(). {told}.")


def cost(calls: Mapping[int, int]) -> None:
    """Operations that PyTorch starts for one step, against the number of pieces, on logarithmic axes."""
    with style():
        fig, ax = plt.subplots(figsize=(6.4, 3.2))
        ax.plot(list(calls), list(calls.values()), color=COLOURS["blue"], marker="o")
        ax.axhline(calls[1], color="#777777", linewidth=1, linestyle=":", label="as many as for one piece")
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xticks(list(calls), [str(k) for k in calls])
        ax.set(xlabel="pieces", ylabel="operations started")
        ax.set_title("One step on 512 digits, the same arithmetic")
        ax.legend(loc="upper left")
    told = ", ".join(f"{k} {'piece' if k == 1 else 'pieces'} {count}" for k, count in calls.items())
    show(fig, alt=f"Operations started in a step against the number of pieces, on logarithmic axes: {told}.")
