"""The order of events, put together by buttons and run as a loop: its text, its ledger, and what that says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course_utils.widgets import page
from course_utils.widgets.explorers.numbers import number
from course_utils.widgets.explorers.order import ITERATIONS, LINES, MOST, Replay, Step, program, replay
from course_utils.widgets.page import Picture, Still
from gradient_ledger import html

NAMES = {
    "zero": "zero_grad()",
    "zeros": "zero_grad(set_to_none=False)",
    "forward": "forward",
    "backward": "backward()",
    "step": "step()",
}
"""What an event is called on its button."""
HEADER = ("step", "in .grad", "used before", "lost since the last step", "length of .grad", "weights moved by", "loss")
CAPTION = "The steps: which backward passes each found in .grad, and what came of it; the loss is that of all data"
EXAMPLES = (
    ("zero", "forward", "backward", "step"),
    ("forward", "zero", "backward", "step"),
    ("forward", "backward", "step", "zero"),
    ("forward", "backward", "zero", "step"),
    ("forward", "backward", "step"),
)
"""Orders that are run where no button can be pressed."""
STILL_HEADER = ("order", "found by step 3", "lost", "loss on all data", "what the ledger found")
STILL_CAPTION = f"Five orders, each run {ITERATIONS} times as the body of a loop"
EMPTY = "No event yet. Press events in the order in which the loop should have them, then Run."


def order_of_events(weight_decay: float = 0.0) -> None:
    """Put zero, forward, backward and step in an order and run it as a loop on a small real model with SGD.

    `weight_decay` is that of SGD. Each run begins with fresh weights and no gradient. The table is measured: a hook
    keeps what every backward pass delivered, and the passes in `.grad` are those that add up to it.
    """
    shown = [replay(order, weight_decay=weight_decay) for order in EXAMPLES]
    page.show(
        Still(text(shown), page.scrolling(overview(shown), STILL_CAPTION)),
        lambda: _widget(weight_decay),
        "order-of-events",
    )


# ------------------------------------------------------------------ words


def passes(numbers: Sequence[int]) -> str:
    """Numbers of backward passes in few words: `3`, `1 to 4`, `1, 3, 5`; `none` where there are none."""
    if len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers)) or "none"


def held(step: Step) -> str:
    """What a step found: the passes in `.grad`, or that there is no tensor, or one without anything in it."""
    if step.held:
        return ("pass " if len(step.held) == 1 else "passes ") + passes(step.held)
    return "None" if step.norm is None else "zeros"


def describe(run: Replay) -> str:
    """What the run showed, in sentences."""
    said = []
    if run.error:
        said.append(f"It stops: {run.error}.")
    if not run.steps:
        return " ".join([*said, "No step ran."])
    if run.right:
        said.append(
            "Right: every step used the backward passes since the step before, all of them and only those, "
            "and none was lost."
        )
    elif not run.moved:
        said.append("No step moved a weight.")
    stale = [step.number for step in run.steps if step.used]
    if stale:
        said.append(f"{_steps(stale)} used passes that an earlier step had used.")
    if run.lost:
        one = len(run.lost) == 1
        said.append(f"{'Pass' if one else 'Passes'} {passes(run.lost)} {'was' if one else 'were'} cleared unused.")
    if run.moved:
        empty = [step.number for step in run.steps if not step.held]
        if empty:
            said.append(f"{_steps(empty)} found no backward pass in .grad.")
    if run.left:
        one = len(run.left) == 1
        still = f"pass {run.left[0]} still stands" if one else f"passes {passes(run.left)} still stand"
        said.append(f"At the end {still} in .grad, and no step has used {'it' if one else 'them'}.")
    said.append(f"Loss on all data: {number(run.start)} before, {number(run.end)} after.")
    said.append(f"The ledger found: {'; '.join(run.names)}." if run.names else "The ledger found nothing.")
    return " ".join(said)


def _steps(numbers: Sequence[int]) -> str:
    return f"Step {numbers[0]}" if len(numbers) == 1 else f"Steps {passes(numbers)}"


# ------------------------------------------------------------------ tables


def cells(run: Replay) -> list[list[str]]:
    """The steps of a run as text, in the order of `HEADER`."""
    return [
        [
            str(step.number),
            held(step),
            passes(step.used),
            passes(step.lost),
            "-" if step.norm is None else number(step.norm),
            number(step.moved),
            number(step.loss),
        ]
        for step in run.steps
    ]


def ledger(run: Replay) -> str:
    """The loop as text, its steps as an HTML table with a caption and scoped headers, and the ledger's picture."""
    told = html.lines(run.program.splitlines(), "The loop that ran")
    if not run.steps:
        return told
    return (
        told + page.scrolling(html.table(CAPTION, list(HEADER), cells(run)), CAPTION) + page.image_element(drawn(run))
    )


def drawn(run: Replay) -> Picture:
    """The ledger's own picture of a run that has steps: what `.grad` holds after every event."""
    from gradient_ledger.picture import plot

    figure = plot(run.log, run.findings, windows=4)
    try:
        return page.picture(figure, figure.alternative_text)  # type: ignore[attr-defined]
    finally:
        import matplotlib.pyplot as plt

        plt.close(figure)


def _examples(runs: Sequence[Replay]) -> list[list[str]]:
    return [
        [
            ", ".join(run.order),
            held(run.steps[2]),
            passes(run.lost),
            f"{number(run.start)} -> {number(run.end)}",
            "; ".join(run.names) or "nothing",
        ]
        for run in runs
    ]


def overview(runs: Sequence[Replay]) -> str:
    """Several runs as an HTML table, an order a row."""
    return html.table(STILL_CAPTION, list(STILL_HEADER), _examples(runs))


def text(runs: Sequence[Replay]) -> str:
    """Several runs as plain text of at most 78 characters a line."""
    rows = [["order", "found by step 3", "lost", "loss"], *(row[:4] for row in _examples(runs))]
    return page.plain_table(STILL_CAPTION, rows)


# ------------------------------------------------------------------ buttons


def _widget(weight_decay: float) -> Any:
    import ipywidgets as widgets

    order: list[str] = []
    status = widgets.HTML()
    table = widgets.HTML(layout=widgets.Layout(max_width="100%"))

    def write(said: str, below: str) -> None:
        status.value = page.status_element(said, lines=3)
        table.value = below

    def draft() -> None:
        """The order so far, as the loop it will be."""
        if not order:
            write(EMPTY, "")
            return
        write(
            f"The loop so far: {', '.join(NAMES[event] for event in order)}. Add an event, or press Run.",
            html.lines(program(order).splitlines(), "The loop so far"),
        )

    def add(event: str) -> Callable[[], None]:
        def press() -> None:
            if len(order) < MOST:
                order.append(event)
                draft()
            else:
                write(f"{MOST} events are the most. Undo one, start again, or press Run.", table.value)

        return press

    def undo() -> None:
        if order:
            order.pop()
        draft()

    def restart() -> None:
        order.clear()
        draft()

    def run() -> None:
        if not order:
            write(EMPTY, "")
            return
        done = replay(order, weight_decay=weight_decay)
        write(describe(done), ledger(done))

    restart()
    events = page.row(
        *(page.button(NAMES[event], add(event), f"Adds to the loop: {'; '.join(LINES[event])}") for event in LINES)
    )
    acts = page.row(
        page.button("Run", run, f"Runs the loop {ITERATIONS} times, from fresh weights"),
        page.button("Undo", undo, "Takes the last event away"),
        page.button("Start again", restart, "Takes all events away"),
    )
    return page.column(events, acts, status, table)
