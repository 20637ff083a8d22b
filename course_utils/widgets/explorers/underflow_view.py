"""Gradients on a line of sizes, moved by a loss scale: picture, counts, and a slider for the scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from course_utils.widgets import page
from course_utils.widgets.explorers.underflow import FORMATS, KINDS, POWERS, Scaled, ends, scaled
from course_utils.widgets.page import Picture, Still
from gradient_ledger import figures, html

if TYPE_CHECKING:
    import torch

SLIDER = "course-loss-scale"
"""The CSS class by which the slider is found."""
HEADER = ("format", "scale", "zero", "subnormal", "normal", "infinite")
CAPTION = "What becomes of the gradients in 16 bits: how many of them, at some scales"
STILL_POWERS = (0, 4, 8, 12, 16, 24, 32, 40)
"""The scales of the table where no slider can be moved."""
_REACH = (-46, 34)
"""The powers of two between which the picture draws."""
_LOOKS = {
    "zero": ("vermillion", "////"),
    "subnormal": ("orange", "...."),
    "normal": ("blue", ""),
    "infinite": ("reddish purple", "xxxx"),
}


def underflow_line(gradients: Sequence[torch.Tensor]) -> None:
    """Show what a loss scale does to `gradients` in float16 and bfloat16, with a slider for the scale.

    Every entry is multiplied and cast by PyTorch when the slider moves. Raises `ValueError` where no gradient is
    different from zero, or one is not finite.
    """
    runs = _examples(gradients)
    page.show(Still(text(runs), table(runs)), lambda: _widget(gradients), "underflow-line")
    page.name_sliders(SLIDER, "scale, as a power of two")


def _examples(gradients: Sequence[torch.Tensor]) -> list[Scaled]:
    chosen = [("float16", power) for power in STILL_POWERS] + [("bfloat16", 0)]
    return [scaled(gradients, power, name) for name, power in chosen]


# ------------------------------------------------------------------ words


def describe(run: Scaled) -> str:
    """What a scale does, in sentences with all numbers."""
    said = [f"Scale 2**{run.power} in {run.name} makes of {run.total:,} gradients that are not zero:"]
    parts = [f"{run.counts[kind]:,} {_BECOME[kind]}" for kind in KINDS if run.counts[kind]]
    return " ".join([*said, ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else parts[0]]) + "."


_BECOME = {
    "zero": "zero",
    "subnormal": "subnormal (with fewer digits)",
    "normal": "normal",
    "infinite": "infinite",
}


def _rows(runs: Sequence[Scaled]) -> list[list[str]]:
    return [[run.name, f"2**{run.power}", *(f"{run.counts[kind]:,}" for kind in KINDS)] for run in runs]


def table(runs: Sequence[Scaled]) -> str:
    """Several scales as an HTML table, a scale a row."""
    return page.scrolling(html.table(CAPTION, list(HEADER), _rows(runs)), CAPTION)


def text(runs: Sequence[Scaled]) -> str:
    """Several scales as plain text of at most 78 characters a line."""
    return page.plain_table(CAPTION, [list(HEADER), *_rows(runs)], align=str.rjust)


# ------------------------------------------------------------------ picture


def draw(run: Scaled) -> Picture:
    """The sizes of the scaled gradients, a bar for each power of two, over the ends of the format."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    left, right = _REACH
    limits = ends(run.name)
    edges = (
        ("zero", left, limits.zero),
        ("subnormal", limits.zero, limits.normal),
        ("normal", limits.normal, limits.infinite),
        ("infinite", limits.infinite, right),
    )
    with figures.style():
        figure = Figure(figsize=(8.4, 3.3))
        axes = figure.add_subplot()
        for kind, start, stop in edges:
            colour = figures.COLOURS[_LOOKS[kind][0]]
            start, stop = max(start, left), min(stop, right)
            if start < stop:
                axes.axvspan(start, stop, color=colour, alpha=0.13, linewidth=0)
        for kind in KINDS:
            colour, hatch = _LOOKS[kind]
            for exponent, count in run.sizes[kind].items():
                axes.bar(exponent + 0.5, count, 0.92, color=figures.COLOURS[colour], hatch=hatch, edgecolor="white")
        axes.set(xlim=_REACH, xlabel="size: power of two of the scaled gradient", ylabel="gradients")
        axes.set_title(f"scale 2**{run.power}, {run.name}")
        figure.legend(
            [Patch(facecolor=figures.COLOURS[c], hatch=h, edgecolor="white") for c, h in _LOOKS.values()],
            [f"{kind}: {run.share(kind):.1%}" for kind in KINDS],
            loc="outside lower center",
            ncols=4,
        )
    bars = [exponent for sizes in run.sizes.values() for exponent in sizes]
    alt = (
        f"Bars over powers of two, how many scaled gradients have that size, from 2**{min(bars)} to 2**{max(bars)}. "
        f"In {run.name} at most 2**{limits.zero} is zero, numbers are normal from 2**{limits.normal} on, and infinite "
        f"from about 2**{limits.infinite} on. {describe(run)}"
    )
    return page.picture(figure, alt)


# ------------------------------------------------------------------ slider


def _widget(gradients: Sequence[torch.Tensor]) -> Any:
    import ipywidgets as widgets

    power = widgets.IntSlider(
        value=0,
        min=POWERS[0],
        max=POWERS[-1],
        description="scale, power of two",
        style={"description_width": "initial"},
        layout=widgets.Layout(width="26em"),
    )
    power.add_class(SLIDER)
    chosen = ["float16"]
    image, status = widgets.HTML(), widgets.HTML()

    def refresh() -> None:
        run = scaled(gradients, power.value, chosen[0])
        image.value = page.image_element(draw(run))
        status.value = page.status_element(describe(run), lines=2)

    def by(steps: int) -> Callable[[], None]:
        def press() -> None:
            power.value = min(max(power.value + steps, POWERS[0]), POWERS[-1])

        return press

    def take(name: str) -> Callable[[], None]:
        def press() -> None:
            chosen[0] = name
            refresh()

        return press

    power.observe(lambda _: refresh(), names="value")
    refresh()
    controls = page.row(
        power,
        page.button("Halve it", by(-1), "Halve the scale"),
        page.button("Double it", by(1), "Double the scale"),
        page.button("Times 256", by(8), "Multiply the scale by 256"),
        *(page.button(name, take(name), f"Cast to {name}") for name in FORMATS),
    )
    return page.column(controls, image, status)
