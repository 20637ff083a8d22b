"""The pictures of lesson 3: one function each, with its alternative text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import matplotlib.pyplot as plt

from course_utils.lessons.lesson3.live import Moment
from gradient_ledger.figures import COLOURS, show, style

_PHASES = {"forward": "#eef4f8", "backward": "#fdf3e1", "step": "#fbe9e0", "clear": "#e6e6e6"}


def forgetting(shares: Mapping[str, Sequence[float]], trained: int) -> None:
    """Accuracy of a branch after each pass, a line a way of clearing; after `trained` passes it is used no more."""
    lines = zip(shares.items(), (COLOURS["blue"], COLOURS["vermillion"]), ("-", "--"), strict=True)
    with style():
        fig, ax = plt.subplots(figsize=(6.8, 3.6))
        for (name, run), colour, line in lines:
            ax.plot(range(1, len(run) + 1), [100 * share for share in run], line, color=colour, label=name)
        ax.axvline(trained + 0.5, color="#666666", linestyle=":")
        ax.text(trained + 0.8, 3, "from here on it is\nin no loss", va="bottom", fontsize=10)
        ax.set_ylim(0, 100)
        ax.set_xlabel("passes over the training digits")
        ax.set_ylabel("upside-down digits read right (%)")
        ax.set_title("A branch that is not trained any more")
        ax.legend(loc="upper right", bbox_to_anchor=(1, 0.82))
    ends = "; ".join(
        f"{name}: {100 * run[trained - 1]:.0f} percent after pass {trained}, {100 * run[-1]:.0f} at the end"
        for name, run in shares.items()
    )
    show(fig, alt=f"Accuracy of a branch against passes over the data, one line for each way of clearing. {ends}.")


def owners(table: Mapping[str, Mapping[str, bool]]) -> None:
    """Which parameter is held or cleared by whom: {parameter: {holder or call: yes or no}}; dots for yes."""
    rows, columns = list(table), list(next(iter(table.values())))
    with style():
        fig, ax = plt.subplots(figsize=(8.2, 0.5 * len(rows) + 1.3))
        for y, row in enumerate(rows):
            for x, column in enumerate(columns):
                yes = table[row][column]
                face = COLOURS["blue"] if yes else "white"
                ax.plot(x, y, "o", markersize=15, markerfacecolor=face, markeredgecolor="#333333")
                ax.text(x + 0.17, y, "yes" if yes else "no", va="center", fontsize=10)
        ax.set_xticks(range(len(columns)), columns)
        ax.set_yticks(range(len(rows)), rows)
        ax.xaxis.tick_top()
        ax.tick_params(length=0)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.set(xlim=(-0.5, len(columns) - 0.3), ylim=(len(rows) - 0.5, -0.5))
    told = [
        f"{row}: " + ", ".join(f"{' '.join(column.split())} {'yes' if yes else 'no'}" for column, yes in cells.items())
        for row, cells in table.items()
    ]
    show(fig, alt=f"A table with dots for yes and rings for no. {'. '.join(told)}.")


def idle_weights(paths: Mapping[str, Mapping[str, Sequence[float]]], used: int) -> None:
    """A weight over its steps, a chart an optimizer: {optimizer: {state of .grad: values}}; idle after step `used`."""
    with style():
        rows = -(-len(paths) // 2)
        fig, grid = plt.subplots(rows, 2, figsize=(6.8, 2.3 * rows), sharex=True, sharey=True, squeeze=False)
        axes = grid.flatten()
        for ax in axes[len(paths) :]:
            ax.set_visible(False)
        for ax, (optimizer, lines) in zip(axes, paths.items(), strict=False):
            ax.axvspan(0, used, color="#e6e6e6", zorder=0)
            looks = ((COLOURS["blue"], "-", 3.5), (COLOURS["vermillion"], "--", 1.8))
            for (state, values), (colour, line, width) in zip(lines.items(), looks, strict=True):
                ax.plot(values, line, color=colour, linewidth=width, label=state)
            ax.set_title(optimizer, fontsize=11)
        for ax in grid[-1]:
            ax.set_xlabel("steps")
        for ax in grid[:, 0]:
            ax.set_ylabel("the weight")
        axes[0].legend(loc="upper right")
    told = ". ".join(
        f"{optimizer}: "
        + ", ".join(f"{state} from {values[used]:.3f} to {values[-1]:.3f}" for state, values in lines.items())
        for optimizer, lines in paths.items()
    )
    show(
        fig,
        alt=f"Line charts of one weight. For {used} steps, on a grey ground, it gets a gradient; then it is in no loss. "
        f"The value from there to the end, for each state of .grad. {told}.",
    )


def step_memory(steps: Mapping[str, Sequence[Moment]]) -> None:
    """Bytes that live after each operation of one training step, a chart a habit, gradients apart from the rest."""
    peaks = {habit: max(moment.alive for moment in moments) / 1024 for habit, moments in steps.items()}
    told = []
    with style():
        width = 9.6 if len(steps) > 1 else 6.4
        fig, (axes,) = plt.subplots(1, len(steps), figsize=(width, 3.7), sharey=True, squeeze=False)
        for ax, (habit, moments) in zip(axes, steps.items(), strict=True):
            alive = [moment.alive / 1024 for moment in moments]
            gradients = [moment.gradients / 1024 for moment in moments]
            start = 0
            for phase, group in groupby(moments, key=lambda moment: moment.phase):
                count = len(list(group))
                ax.axvspan(start - 0.5, start + count - 0.5, color=_PHASES[phase], zorder=0)
                ax.text(start + count / 2 - 0.5, -0.01 * max(peaks.values()), phase[0].upper(), ha="center", va="top")
                start += count
            places = range(len(moments))
            ax.fill_between(places, gradients, step="mid", color=COLOURS["vermillion"], linewidth=0)
            ax.fill_between(places, gradients, alive, step="mid", color=COLOURS["sky blue"], linewidth=0)
            ax.axhline(peaks[habit], color="black", linewidth=1, linestyle=":")
            ax.text(0, peaks[habit] * 1.01, f"peak {peaks[habit]:.0f}", ha="left", va="bottom")
            ax.set_title(habit, fontsize=11)
            ax.set_xticks([])
            ax.set_xlabel("operations of one step", labelpad=14)
            forward = [moment.gradients / 1024 for moment in moments if moment.phase == "forward"]
            told.append(
                f"{habit}: peak {peaks[habit]:.0f}, gradients during the forward pass {max(forward, default=0):.0f}"
            )
        axes[0].set_ylim(0, 1.15 * max(peaks.values()))
        axes[0].set_ylabel("KiB alive")
        handles = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[name]) for name in ("vermillion", "sky blue")]
        names = ["gradients in .grad", "the rest: activations, gradients on their way"]
        fig.legend(handles, names, loc="outside lower center", ncols=2)
    show(
        fig,
        alt=f"Area charts of the KiB alive after each operation of one training step; F, B, S and C are forward, "
        f"backward, step and clear. {'. '.join(told)}.",
    )
