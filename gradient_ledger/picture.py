"""The ledger as a picture: what `.grad` holds after every event, window by window, faults ringed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gradient_ledger.catalogue import misconception
from gradient_ledger.events import Accumulate, Backward, Clear, Ending, Event, Finding, Log, SchedulerStep, Step
from gradient_ledger.files import write_bytes_atomically
from gradient_ledger.report import main_optimizer
from gradient_ledger.rules.view import View, times

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRESH, USED = "fresh", "used"

SIGNS = {"step": "step", "skipped step": "skip", "clear": "clear", "clip": "clip", "unscale": "unscale", "edit": "edit"}
SIGNS |= {"scheduler": "lr", "scaler update": "update", "backward": "backward"}


@dataclass(frozen=True)
class Column:
    """One event of the picture: its word, what `.grad` holds after it, and the findings it stands for."""

    word: str
    held: tuple[str, ...]
    window: int
    marks: tuple[int, ...]


def columns(log: Log, found: Sequence[Finding], windows: int) -> list[Column]:
    """The picture as data: the events of the first windows that show something, with the stack of passes after each."""
    view = View(log)
    number = main_optimizer(view)
    if number is None:
        return []
    mine = view.windows[number]
    names = mine[0].names or frozenset(mine[0].step.names)
    out: list[Column] = []
    held: list[str] = []
    window = 0
    for event in view.events:
        here = not event.names or bool(names & set(event.names))
        if isinstance(event, Accumulate) and here:
            held.append(FRESH)
        elif isinstance(event, Clear) and here and event.names:
            held.clear()
        elif isinstance(event, Ending) and event.optimizer in (number, None):
            held[:] = [USED] * len(held)
        word = SIGNS.get(event.kind)
        if word is None or (not here and not isinstance(event, SchedulerStep)):
            if isinstance(event, Accumulate) and here and out and out[-1].word == "backward":
                last = out[-1]
                out[-1] = Column(last.word, tuple(held), last.window, last.marks)
            continue
        out.append(Column(word, tuple(held), window, _marks(event, found, window, held)))
        if isinstance(event, Ending) and event.optimizer in (number, None):
            window += 1
            if window >= windows:
                break
    return out


_ABOUT_LOSS = ("zeroed-before-step", "zeroed-inside-window", "tail-dropped")


def _marks(event: Event, found: Sequence[Finding], window: int, held: Sequence[str]) -> tuple[int, ...]:
    """Numbers of the findings an event stands for: at their line, or for those of a condition the step they name.

    held: what `.grad` holds, without what a backward pass brings.
    """
    marks = []
    for number, one in enumerate(found, 1):
        if one.severity == "info":
            continue
        here = (
            one.where is not None
            and event.where is not None
            and (one.where.file, one.where.line)
            == (
                event.where.file,
                event.where.line,
            )
        )
        if here and isinstance(event, Clear) and one.misconception in _ABOUT_LOSS and not event.lost:
            here = False  # the same line, at a moment when it did no harm
        if isinstance(event, Backward) and one.misconception == "never-zeroed" and USED not in held:
            here = False  # there was nothing old yet
        named = isinstance(event, Step) and window in one.evidence.get("steps", ()) and "sizes" in one.evidence
        if here or named:
            marks.append(number)
    return tuple(marks)


def alternative_text(log: Log, found: Sequence[Finding], drawn: Sequence[Column]) -> str:
    """The picture in words."""
    if not drawn:
        return "An empty timeline: no optimizer step was seen."
    view = View(log)
    number = main_optimizer(view)
    label = view.name(number) if number is not None else "the optimizer"
    count = drawn[-1].window + 1
    said = [
        f"Timeline of the first {times(count, 'window')} of {label}: "
        "how many backward passes .grad holds after each event."
    ]
    for window in range(min(count, 3)):
        words = [column for column in drawn if column.window == window]
        passes = sum(column.word == "backward" for column in words)
        others = ", ".join(column.word for column in words if column.word != "backward")
        most = max((len(column.held) for column in words), default=0)
        said.append(f"Window {window + 1}: {times(passes, 'backward pass')}, {others}; .grad holds at most {most}.")
    grave = [one for one in found if one.severity != "info"]
    for one in grave[:3]:
        where = f" at {one.where.short}" if one.where else ""
        said.append(f"Marked: {misconception(one.misconception).title.lower()}{where}.")
    if not grave:
        said.append("Nothing is marked as wrong.")
    return " ".join(said)


def plot(log: Log, found: Sequence[Finding], windows: int = 6) -> Figure:
    """Draw it and return the figure, with its text as `figure.alternative_text`."""
    import matplotlib.pyplot as plt

    from gradient_ledger.figures import COLOURS, style

    drawn = columns(log, found, windows)
    text = alternative_text(log, found, drawn)
    numbers = sorted({n for column in drawn for n in column.marks})
    listed = [(n, found[n - 1]) for n in numbers]
    rest = [(n, one) for n, one in enumerate(found, 1) if n not in numbers and one.severity != "info"]
    with style():
        width = min(max(0.24 * len(drawn) + 1.6, 6.0), 16.0)
        figure, axes = plt.subplots(figsize=(width, 3.1 + 0.24 * len(listed + rest)), layout="constrained")
        tallest = max((len(column.held) for column in drawn), default=1) or 1
        marked = COLOURS["vermillion"]
        for at, column in enumerate(drawn):
            if column.window % 2:
                axes.axvspan(at - 0.5, at + 0.5, color="#000000", alpha=0.05, linewidth=0)
            for level, kind in enumerate(column.held):
                old = kind == USED
                axes.bar(
                    at,
                    0.86,
                    bottom=level + 0.07,
                    width=0.86,
                    color=COLOURS["orange"] if old else COLOURS["blue"],
                    hatch="////" if old else None,
                    edgecolor="white",
                    linewidth=0,
                )
            if column.word in ("step", "skip"):
                axes.axvline(at + 0.5, color="#333333", linewidth=0.8)
            if column.marks:
                axes.bar(at, tallest + 0.35, bottom=-0.1, width=0.96, fill=False, edgecolor=marked, linewidth=2)
                label = ",".join(str(n) for n in column.marks)
                axes.text(at, tallest + 0.35, label, color=marked, ha="center", va="bottom", fontsize=10, weight="bold")
        for window in range(drawn[-1].window + 1 if drawn else 0):
            at_these = [at for at, column in enumerate(drawn) if column.window == window]
            middle, above = sum(at_these) / len(at_these), axes.get_xaxis_transform()
            axes.text(middle, 1.01, f"window {window + 1}", ha="center", va="bottom", fontsize=10, transform=above)
        axes.set_xticks(range(len(drawn)), [column.word for column in drawn], rotation=90, fontsize=10)
        axes.set_xlim(-0.6, max(len(drawn), 1) - 0.4)
        axes.set_ylim(0, tallest * 1.12 + 0.5)
        axes.set_yticks(range(tallest + 1) if tallest < 9 else range(0, tallest + 1, max(tallest // 4, 1)))
        axes.set_ylabel("backward passes\nheld in .grad")
        handles = [
            plt.Rectangle((0, 0), 1, 1, color=COLOURS["blue"]),
            plt.Rectangle((0, 0), 1, 1, facecolor=COLOURS["orange"], hatch="////", edgecolor="white"),
        ]
        figure.legend(
            handles, ["not used yet", "used by a step"], loc="outside upper right", ncols=2, fontsize=10, frameon=False
        )
        lines = [
            f"{n if n in numbers else '–'}  {misconception(one.misconception).title}"
            + (f", {one.where.short}" if one.where else "")
            for n, one in listed + rest
        ]
        axes.set_xlabel(
            "\n".join(lines) if lines else "nothing found", loc="left", color=marked if lines else "#333333"
        )
    figure.alternative_text = text  # type: ignore[attr-defined]
    return figure


def present(log: Log, found: Sequence[Finding], windows: int = 6, path: str | Path | None = None) -> Figure | None:
    """Draw it, write it to `path` as a PNG, all or nothing, and show it where there is a notebook to show it in.

    Elsewhere the figure is returned; in a notebook nothing is, so that it does not appear twice.
    """
    from gradient_ledger.figures import in_ipython, png, show

    figure = plot(log, found, windows)
    if path is not None:
        write_bytes_atomically(Path(path), png(figure))
    if not in_ipython():
        return figure
    show(figure, figure.alternative_text)  # type: ignore[attr-defined]
    return None
