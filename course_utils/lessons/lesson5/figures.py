"""The pictures of lesson 5: one function each, with its alternative text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from course_utils.lessons.lesson5.clinic import Chart
from gradient_ledger.figures import COLOURS, show, style
from gradient_ledger.picture import USED, columns

BROKEN, MENDED, OWN = COLOURS["vermillion"], COLOURS["blue"], COLOURS["black"]


def _epochs(values: Sequence[float]) -> range:
    return range(1, len(values) + 1)


def pairs(charts: Mapping[str, tuple[Chart, Chart]]) -> None:
    """The loss curves of several pairs of loops: {title: (with zero_grad, without it)}."""
    told = []
    with style():
        fig, axes = plt.subplots(1, len(charts), figsize=(8.8, 3.3), sharey=True, squeeze=False)
        for ax, (title, (cleared, kept)) in zip(axes[0], charts.items(), strict=True):
            ax.plot(_epochs(cleared.losses), cleared.losses, "o-", color=MENDED, label="with zero_grad()")
            ax.plot(_epochs(kept.losses), kept.losses, "s--", color=BROKEN, label="without it")
            ax.set_title(title)
            ax.set_xticks(_epochs(kept.losses))
            ax.set_xlabel("epoch")
            ends = f"with zero_grad {cleared.losses[-1]:.2f}, without it {kept.losses[-1]:.2f}"
            told.append(f"{title}: in the last epoch {ends}")
        axes[0][0].set_ylim(0, 2.6)
        axes[0][0].set_ylabel("mean training loss")
        axes[0][0].legend(loc="lower left")
    show(fig, alt=f"Loss curves of loops with and without zero_grad, a panel an optimizer. {'. '.join(told)}.")


def loss_curve(chart: Chart) -> None:
    """The loss of each epoch of one loop, alone: what most people look at first."""
    with style():
        fig, ax = plt.subplots(figsize=(4.6, 2.7))
        ax.plot(_epochs(chart.losses), chart.losses, "s--", color=BROKEN)
        ax.set_ylim(0, 1.1 * max(chart.losses))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("epoch")
        ax.set_ylabel("mean training loss")
        ax.set_title("The loss curve of the loop as found")
    values = ", ".join(f"{value:.2f}" for value in chart.losses)
    show(fig, alt=f"A loss curve, one value an epoch: {values}.")


def case(found: Chart, yours: Chart, used: str = "used") -> None:
    """Loss, gradient norm and ledger of a loop as it was found, and of the learner's; `used` names what is measured."""
    with style():
        fig = plt.figure(figsize=(7.0, 6.0))
        grid = fig.add_gridspec(2, 2, width_ratios=(1, 1.15), height_ratios=(1.3, 1))
        loss, norm = fig.add_subplot(grid[0, 0]), fig.add_subplot(grid[0, 1])
        for chart, name, colour, line in ((found, "as found", BROKEN, "--"), (yours, "yours", MENDED, "-")):
            loss.plot(_epochs(chart.losses), chart.losses, line, color=colour, label=name)
            norm.plot(_epochs(chart.norms), chart.norms, line, color=colour, linewidth=1.5, label=f"{name}: {used}")
        norm.plot(_epochs(found.own), found.own, ":", color=BROKEN, linewidth=1.5, label="as found: own")
        norm.plot(_epochs(yours.own), yours.own, ":", color=OWN, linewidth=1.5, label="yours: own")
        loss.set(xlabel="epoch", ylabel="mean training loss", title="loss", ylim=(0, None))
        loss.xaxis.set_major_locator(MaxNLocator(integer=True))
        loss.legend()
        top = max(*found.norms, *yours.norms, *found.own, *yours.own)
        norm.set(xlabel="step", title="norm of the gradient", ylim=(-0.04 * top, 1.75 * top))
        norm.legend(loc="upper left")
        strips = [
            _strip(fig.add_subplot(grid[1, place]), chart, name)
            for place, (chart, name) in enumerate(((found, "as found"), (yours, "yours")))
        ]
    told = " ".join(
        f"{name}: loss {_ends(chart.losses)}; norm {used} {_ends(chart.norms)}, at most {max(chart.norms):.2f}; norm of the "
        f"batches' own gradient {_ends(chart.own)}. Ledger: {strip}."
        for (chart, name), strip in zip(((found, "As found"), (yours, "Yours")), strips, strict=True)
    )
    show(fig, alt=f"Three panels for two loops: loss against epoch, gradient norm against step, ledger. {told}")


def _ends(values: Sequence[float]) -> str:
    return f"from {values[0]:.2f} to {values[-1]:.2f}" if values else "not measured"


def _strip(ax: Axes, chart: Chart, name: str, windows: int = 3) -> str:
    """What `.grad` holds after each event of the first windows, drawn, and in words."""
    drawn = columns(chart.ledger.log, chart.ledger.findings(), windows)
    for at, column in enumerate(drawn):
        if column.window % 2:
            ax.axvspan(at - 0.5, at + 0.5, color="#000000", alpha=0.06, linewidth=0)
        for level, kind in enumerate(column.held):
            block: dict[str, Any] = {"color": COLOURS["blue"]}
            if kind == USED:
                block = {"color": COLOURS["orange"], "hatch": "////", "edgecolor": "white", "linewidth": 0}
            ax.bar(at, 0.86, bottom=level + 0.07, width=0.86, **block)
        if column.marks:
            ax.bar(
                at, 0.3 + max(len(column.held), 1), bottom=-0.1, width=0.98, fill=False, edgecolor=BROKEN, linewidth=2
            )
    tallest = max((len(column.held) for column in drawn), default=0) or 1
    ax.set_xticks(range(len(drawn)), [column.word for column in drawn], rotation=90, fontsize=10)
    ax.set_yticks(range(tallest + 1) if tallest < 5 else range(0, tallest + 1, 4))
    ax.set(xlim=(-0.6, max(len(drawn), 1) - 0.4), ylim=(0, tallest + 0.6))
    ids = [finding.misconception for finding in chart.ledger.findings()] or ["nothing found"]
    ax.set_title("\n".join([f"{name}:", *ids]), fontsize=10.5)
    ax.set_ylabel("held", fontsize=10)
    events = " ".join(f"{'!' * bool(column.marks)}{column.word}[{len(column.held)}]" for column in drawn)
    return f"{', '.join(ids)}; backward passes held after each event, ! where a finding points: {events}"


def twins(never: Sequence[float], momentum: Sequence[float], cleared: Sequence[float]) -> None:
    """The loss of each step: never cleared, SGD with momentum 1, and plain SGD."""
    with style():
        fig, ax = plt.subplots(figsize=(7.4, 3.5))
        ax.plot(never, "-", color=COLOURS["orange"], linewidth=6, alpha=0.6, label="never cleared, no momentum")
        ax.plot(momentum, "-", color=COLOURS["black"], linewidth=1.2, label="cleared, momentum 1")
        ax.plot(cleared, "--", color=MENDED, linewidth=1.5, label="cleared, no momentum")
        ax.set(xlabel="step", ylabel="loss of the batch", title="One curve on the other")
        ax.legend()
    same = sum(a == b for a, b in zip(never, momentum, strict=True))
    show(
        fig,
        alt=f"Loss against step. The curve of the loop that never clears and that of SGD with momentum 1 lie on each "
        f"other: {same} of {len(never)} values are equal. Plain SGD ends at {cleared[-1]:.2f}, they at {never[-1]:.2f}.",
    )


def swings(paths: Mapping[str, Sequence[float]]) -> None:
    """A weight on the loss w**2 / 2, step by step: {name: its values}."""
    lines = (("-", "blue"), ("-.", "bluish green"), ("--", "vermillion"), (":", "black"))
    with style():
        fig, ax = plt.subplots(figsize=(7.4, 3.4))
        for (name, path), (line, colour) in zip(paths.items(), lines, strict=False):
            ax.plot(path, line, color=COLOURS[colour], label=name)
        ax.axhline(0, color="black", linewidth=0.8, linestyle="-")
        ax.set(xlabel="step", ylabel="weight", title="On a bowl with its minimum at 0")
        ax.legend(loc="upper right", ncols=len(paths))
        reach = max(abs(value) for path in paths.values() for value in path)
        ax.set_ylim(-1.1 * reach, 1.6 * reach)
    told = "; ".join(
        f"{name}: at most {max(map(abs, path[-40:])):.2g} away in the last 40 steps" for name, path in paths.items()
    )
    show(fig, alt=f"A weight that starts at 1, against the step. {told}.")


def moved(distances: Mapping[str, float]) -> None:
    """How far each parameter of a model has moved: {parameter: distance}."""
    with style():
        fig, ax = plt.subplots(figsize=(5.6, 2.4))
        ax.barh(list(distances), list(distances.values()), color=COLOURS["sky blue"])
        for place, value in enumerate(distances.values()):
            ax.text(value, place, f" {value:.3g}", va="center", fontsize=10)
        ax.set(xlabel="distance from its start", xlim=(0, 1.25 * max(distances.values())))
        ax.invert_yaxis()
    told = ", ".join(f"{name} {value:.3g}" for name, value in distances.items())
    show(fig, alt=f"Bars: how far each parameter moved. {told}.")


def graphs_alive(timelines: Mapping[str, Sequence[int]]) -> None:
    """Bytes that graphs keep after each forward: {name: bytes}."""
    lines = (("s--", "vermillion"), ("o-", "blue"), ("^-.", "bluish green"))
    with style():
        fig, ax = plt.subplots(figsize=(6.4, 3.2))
        for (name, kept), (line, colour) in zip(timelines.items(), lines, strict=False):
            ax.plot(_epochs(kept), [value / 1024 for value in kept], line, color=COLOURS[colour], label=name)
        ax.set_ylim(0, None)
        ax.set(xlabel="forward pass", ylabel="kept for backward (KiB)", title="What graphs keep alive")
        ax.legend()
    told = "; ".join(
        f"{name}: {', '.join(f'{value / 1024:.0f}' for value in kept)}" for name, kept in timelines.items()
    )
    show(fig, alt=f"KiB that graphs keep after each forward pass. {told}.")
