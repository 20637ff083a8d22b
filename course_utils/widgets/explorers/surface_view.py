"""The loss surface as a picture with buttons: the gradient points uphill, the step goes the other way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from course_utils.widgets import page
from course_utils.widgets.explorers.numbers import number
from course_utils.widgets.explorers.surface import (
    Descent,
    DescentStep,
    LineFit,
    Point,
    descend,
    learning_rates,
    line_fit,
    loss_of,
    nice,
    path,
    regime,
)
from course_utils.widgets.page import Picture, Still
from gradient_ledger import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SLIDER = "course-learning-rate"
"""The CSS class by which the slider is found."""
GRID = 81
"""Points a side at which the loss is computed for the contour lines."""
STILL_STEPS = 8
"""Steps in each panel of the still picture."""
STILL_RATES = (0.25, 0.9, 1.1)
"""The learning rates of the still picture, as multiples of 2 / the largest eigenvalue."""

_SAYS = {
    "shrinks": "up to half the limit: the error along the steepest direction shrinks and keeps its sign",
    "swings": "between half the limit and the limit: the error along the steepest direction changes sign and shrinks",
    "stalls": "at the limit: the error along the steepest direction changes sign and keeps its size",
    "grows": "above the limit: the error along the steepest direction changes sign and grows",
}


def loss_surface(
    problem: LineFit | None = None,
    *,
    lr: float | None = None,
    start: Point | None = None,
    seed: int = 0,
) -> None:
    """Show gradient descent on the loss of a fitted line: contours, gradient, step, one press at a time.

    `problem` is what to fit (`surface.line_fit(seed)` by default, 24 points), `start` the first
    (w, b) and `lr` the learning rate to begin with (a quarter of the rate at which descent stops
    converging by default). Every number shown is computed by autograd when it is shown.

    Raises `ValueError` when `lr` is not a positive number or `start` not two finite numbers.
    """
    descent = Descent(line_fit(seed) if problem is None else problem, start)
    limit = descent.landscape.limit
    largest, spacing = learning_rates(limit)
    first = round(round(limit / 4 / spacing) * spacing, 12) if lr is None else float(lr)
    if not (first > 0 and math.isfinite(first)):
        raise ValueError(
            f"lr = {lr} is not a learning rate: give a positive number, for example {number(limit / 4, 2)}"
        )
    page.show(still(descent), lambda: _widget(descent, first, max(largest, first), spacing), "loss-surface")
    page.name_sliders(SLIDER, "learning rate")


def describe(descent: Descent, lr: float) -> str:
    """Where the descent stands and what a step at `lr` would do, as one paragraph with all the numbers."""
    ahead = descent.ahead(lr)
    limit = descent.landscape.limit
    change = "lower" if ahead.loss_after < ahead.loss else "higher" if ahead.loss_after > ahead.loss else "the same"
    taken = len(descent.taken)
    return (
        f"After {taken} step{'' if taken == 1 else 's'}: "
        f"(w, b) = ({point_text(ahead.point)}), loss {number(ahead.loss)}. "
        f"Gradient (dL/dw, dL/db) = ({point_text(ahead.gradient)}), length {number(math.hypot(*ahead.gradient))}, "
        f"pointing uphill. Next step = -{number(lr)} * gradient = ({point_text(ahead.step)}); "
        f"loss after it {number(ahead.loss_after)}, {change}. "
        f"Descent converges below the limit 2 / (largest eigenvalue of the Hessian) = {number(limit)}. "
        f"lr = {number(lr)} is {_SAYS[regime(lr, limit)]}."
    )


def point_text(point: Point) -> str:
    """The two numbers of a point, without brackets."""
    return f"{number(point[0])}, {number(point[1])}"


def still(descent: Descent) -> Still:
    """Three descents from the same start, at rates below and above the limit: a picture and its numbers."""
    limit = descent.landscape.limit
    runs = [path(descent.problem, descent.start, share * limit, STILL_STEPS) for share in STILL_RATES]
    lines = [
        f"Loss surface of a line fitted to {len(descent.problem.x)} points: gradient descent on (w, b) "
        f"from ({point_text(descent.start)}), minimum at ({point_text(descent.landscape.minimum)}) "
        f"with loss {number(descent.landscape.lowest)}.",
        f"Descent converges below the limit 2 / (largest eigenvalue of the Hessian) = {number(limit)}.",
    ]
    for run in runs:
        losses = ", ".join(number(taken.loss, 3) for taken in run)
        lines.append(
            f"lr = {number(run[0].lr)}, {_SAYS[regime(run[0].lr, limit)]}. Loss before each step: "
            f"{losses}; after the last: {number(run[-1].loss_after, 3)}."
        )
    figure = _figure((9.6, 3.7))
    with figures.style():
        for i, run in enumerate(runs):
            axes = figure.add_subplot(1, 3, i + 1)
            _surface(axes, descent)
            _trail(axes, run, "blue")
            axes.set_title(
                f"lr = {number(run[0].lr, 3)}\nloss {number(run[0].loss, 3)} to {number(run[-1].loss_after, 3)}"
            )
            axes.set_ylabel("b" if i == 0 else "")
    shapes = "; ".join(
        f"at learning rate {number(run[0].lr, 3)} the error {regime(run[0].lr, limit)}, "
        f"loss {number(run[0].loss, 3)} to {number(run[-1].loss_after, 3)} in {STILL_STEPS} steps"
        for run in runs
    )
    alt = (
        "Three contour plots of the same loss over w and b, each with a path of gradient descent "
        f"from the same start: {shapes}."
    )
    return Still("\n".join(lines), picture=page.picture(figure, alt))


def draw(descent: Descent, lr: float) -> Picture:
    """The surface with the path so far, the gradient at the current point and the step that `lr` makes of it."""
    ahead = descent.ahead(lr)
    scale = _gradient_scale(descent)
    figure = _figure((7.6, 4.4))
    with figures.style():
        axes = figure.add_subplot()
        _surface(axes, descent)
        _trail(axes, descent.taken, "sky blue")
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        w, b = ahead.point
        inside = left <= w <= right and bottom <= b <= top
        if inside:
            gradient = (scale * ahead.gradient[0], scale * ahead.gradient[1])
            _arrow(axes, ahead.point, gradient, figures.COLOURS["vermillion"], "-|>")
            _arrow(axes, ahead.point, ahead.step, figures.COLOURS["blue"], "->")
        axes.plot([w], [b], "o", color="black", markersize=8, zorder=6)
        axes.set_title(f"loss {number(ahead.loss)} at ({point_text(ahead.point)})")
        _legend(figure, scale, lr)
    where = "" if inside else " The point has left the picture."
    alt = (
        f"Contour plot of the loss over w and b with its minimum at ({point_text(descent.landscape.minimum)}). "
        f"After {len(descent.taken)} steps the point is at ({point_text(ahead.point)}) with loss {number(ahead.loss)}. "
        f"The gradient arrow points uphill, along ({point_text(ahead.gradient)}); "
        f"the step arrow points the other way, by ({point_text(ahead.step)}).{where}"
    )
    return page.picture(figure, alt)


def _widget(descent: Descent, lr: float, largest: float, spacing: float) -> Any:
    import ipywidgets as widgets

    # A slider to explore with, and a field for a number in mind; both show one value.
    slider = widgets.FloatSlider(
        value=lr,
        min=min(spacing, lr),
        max=largest,
        step=spacing,
        readout=False,
        layout=widgets.Layout(width="16em"),
    )
    slider.add_class(SLIDER)
    rate = widgets.BoundedFloatText(
        value=lr,
        min=min(spacing, lr),
        max=largest,
        step=spacing,
        description="learning rate",
        style={"description_width": "initial"},
        layout=widgets.Layout(width="13em"),
    )
    image, status = widgets.HTML(), widgets.HTML()

    def refresh() -> None:
        image.value = page.image_element(draw(descent, rate.value))
        status.value = page.status_element(describe(descent, rate.value))

    def take() -> None:
        # Far beyond the picture there is nothing more to see, and float64 ends somewhere.
        if descent.ahead(rate.value).loss_after > 1e12:
            status.value = page.status_element(
                "The loss would pass 1e12: it diverges. Reset and choose a smaller rate."
            )
            return
        descent.step(rate.value)
        refresh()

    def scale(factor: float) -> None:
        rate.value = min(max(float(f"{rate.value * factor:.6g}"), rate.min), rate.max)

    def reset() -> None:
        descent.reset()
        refresh()

    def follow(moved: Any) -> None:
        # The front end counts notches in floating point: 0.2 comes back as 0.19999999999999998.
        if abs(moved.new - rate.value) > 0.51 * spacing:
            rate.value = float(f"{moved.new:.6g}")

    def change(typed: Any) -> None:
        slider.value = typed.new
        refresh()

    slider.observe(follow, names="value")
    rate.observe(change, names="value")
    refresh()
    controls = page.row(
        rate,
        slider,
        page.button("Halve it", lambda: scale(0.5), "Halve the learning rate"),
        page.button("Double it", lambda: scale(2.0), "Double the learning rate, up to the largest offered"),
        page.button("Step", take, "Take one step of gradient descent"),
        page.button("Reset", reset, "Back to the start"),
    )
    return page.column(controls, image, status)


def _figure(size: tuple[float, float]) -> Figure:
    from matplotlib.figure import Figure

    with figures.style():
        return Figure(figsize=size)


def _window(descent: Descent) -> tuple[Point, float]:
    """Centre and half width of the picture: the minimum in the middle, the start inside, room around."""
    low, start = descent.landscape.minimum, descent.start
    reach = 1.35 * max(abs(start[0] - low[0]), abs(start[1] - low[1]))
    return low, reach if reach > 0 else 1.0


def _surface(axes: Axes, descent: Descent) -> None:
    import torch

    (w, b), reach = _window(descent)
    device = descent.problem.x.device
    across = torch.linspace(w - reach, w + reach, GRID, dtype=torch.float64, device=device)
    up = torch.linspace(b - reach, b + reach, GRID, dtype=torch.float64, device=device)
    grid = torch.stack(torch.meshgrid(across, up, indexing="xy"), dim=-1)
    loss = loss_of(descent.problem, grid)
    low, high = descent.landscape.lowest, float(loss.max())
    # Levels that grow with the square are evenly spaced on a quadratic valley.
    levels = [low + (high - low) * (k / 12) ** 2 for k in range(1, 13)]
    axes.contour(
        across.cpu().numpy(), up.cpu().numpy(), loss.cpu().numpy(), levels=levels, colors="#a6a6a6", linewidths=1
    )
    axes.plot([w], [b], "+", color="black", markersize=10, markeredgewidth=2, zorder=5)
    axes.set(xlabel="w", ylabel="b", xlim=(w - reach, w + reach), ylim=(b - reach, b + reach), aspect="equal")


def _trail(axes: Axes, taken: list[DescentStep], colour: str) -> None:
    if not taken:
        return
    points = [step.point for step in taken] + [taken[-1].after]
    axes.plot(
        [w for w, _ in points], [b for _, b in points], "o-", color=figures.COLOURS[colour], linewidth=1.5, markersize=4
    )
    axes.plot([points[0][0]], [points[0][1]], "s", color="black", markersize=6, zorder=5)


def _arrow(axes: Axes, start: Point, by: Point, colour: str, head: str) -> None:
    arrow = {"arrowstyle": head, "color": colour, "linewidth": 2.5, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 16}
    axes.annotate("", (start[0] + by[0], start[1] + by[1]), start, arrowprops=arrow, annotation_clip=False, zorder=5)


def _gradient_scale(descent: Descent) -> float:
    """By what the gradient is multiplied to fit: a round number, fixed for the whole descent."""
    first = math.hypot(*descend(descent.problem, descent.start, 1.0).gradient)
    return nice(0.5 * _window(descent)[1] / first) if first > 1e-9 else 1.0


def _legend(figure: Figure, scale: float, lr: float) -> None:
    from matplotlib.lines import Line2D

    uphill = "gradient, uphill" if scale == 1 else f"gradient, uphill\n(drawn {scale:g} times as long)"
    figure.legend(
        handles=[
            Line2D([], [], color=figures.COLOURS["vermillion"], linestyle="-", label=uphill),
            Line2D([], [], color=figures.COLOURS["blue"], linestyle="-", label=f"next step = -{number(lr)} * gradient"),
            Line2D([], [], color="black", linestyle="", marker="o", label="here"),
            Line2D([], [], color="black", linestyle="", marker="+", markersize=10, label="minimum"),
        ],
        loc="outside right center",
    )
