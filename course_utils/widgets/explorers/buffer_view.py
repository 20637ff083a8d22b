"""The gradient buffer as a ledger: every press of a button acts on a real parameter and adds a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from course_utils.widgets import page
from course_utils.widgets.explorers.buffer import Entry, GradientBuffer, example, squared_distance
from course_utils.widgets.explorers.numbers import vector
from course_utils.widgets.page import Still
from gradient_ledger import html

HEADER = ("#", "event", "incoming", ".grad before", ".grad after", "effect on .grad", "tensor", "w after")
CAPTION = "Ledger of w.grad: what came in, .grad before and after, what became of it"
EXAMPLE = f"An example, not your presses. {CAPTION}"
_IN_TEXT = {"#": 0, "event": 1, "incoming": 2, "old": 3, "new": 4, "effect": 5, "w": 7}
"""The columns of the plain text, which must fit 78 characters: the effect says what becomes of the tensor."""


def gradient_buffer(
    value: float | Sequence[float] = 5.0,
    loss_fn: Callable[[torch.Tensor], torch.Tensor] = squared_distance,
    lr: float = 0.1,
) -> None:
    """Show `w.grad` of one real parameter as a ledger, with buttons for backward, zero_grad and step.

    `value` is the starting value of `w` (a number or a few), `loss_fn` gives a 0-d loss from it
    (by default the sum of `(w - 2)**2`), `lr` is the learning rate of its SGD optimizer. Each line
    is measured: what backward delivered, `.grad` before and after, and whether it is the same tensor.

    Raises `ValueError` when `value` is empty.
    """
    shown = example(GradientBuffer(value, loss_fn, lr))
    buffer = GradientBuffer(value, loss_fn, lr)
    # A notebook that is opened again shows what its learner did, not the example.
    keep = page.show(
        still(shown, EXAMPLE), lambda: _widget(buffer, lambda: keep(still(buffer.entries, CAPTION))), "gradient-buffer"
    )


def cells(entry: Entry) -> list[str]:
    """One line of the ledger as text, in the order of `HEADER`."""
    return [
        str(entry.number),
        entry.event,
        "-" if entry.incoming is None else vector(entry.incoming),
        vector(entry.before),
        vector(entry.after),
        entry.effect,
        entry.tensor,
        vector(entry.parameter),
    ]


def still(entries: Sequence[Entry], caption: str) -> Still:
    """The ledger as it stands where no button can be pressed."""
    return Still(text(entries, caption), page.scrolling(ledger(entries, caption), caption))


def text(entries: Sequence[Entry], caption: str = CAPTION) -> str:
    """The ledger as a table of plain text."""
    shown = [cells(entry) for entry in entries]
    rows = [list(_IN_TEXT), *([row[place] for place in _IN_TEXT.values()] for row in shown)]
    return page.plain_table(caption, rows)


def ledger(entries: Sequence[Entry], caption: str = CAPTION) -> str:
    """The ledger as an HTML table with a caption and scoped headers."""
    if not entries:
        return html.paragraph("The ledger is empty: no event yet, and w.grad is None.")
    return html.table(caption, list(HEADER), [cells(entry) for entry in entries])


def describe(entry: Entry) -> str:
    """What the event did, in a sentence with its numbers."""
    said = f"{entry.number}. {entry.event}: "
    before, after = vector(entry.before), vector(entry.after)
    if entry.incoming is not None:
        incoming = vector(entry.incoming)
        if entry.effect == "assigned":
            return said + f"w.grad was None, so the incoming gradient {incoming} was assigned to it."
        if entry.effect == "added in place":
            return said + f"the incoming gradient {incoming} was added to {before} in the same tensor: {after}."
        return said + f"the incoming gradient was {incoming}; w.grad was {before} and is {after}."
    return said + {
        "cleared to None": f"w.grad was {before} and is None; its tensor is released.",
        "filled with zeros": f"w.grad was {before}; the same tensor now holds {after}.",
        "nothing to clear": "w.grad was None already.",
        "read, not changed": f"w is now {vector(entry.parameter)}; w.grad is still {after}.",
        "nothing to read": f"w.grad is None, so the optimizer skipped w, which is still {vector(entry.parameter)}.",
    }.get(entry.effect, f"w.grad was {before} and is {after}.")


def _widget(buffer: GradientBuffer, pressed: Callable[[], None]) -> Any:
    import ipywidgets as widgets

    status = widgets.HTML()
    # A long ledger scrolls sideways in its own box on a narrow page.
    table = widgets.HTML(layout=widgets.Layout(max_width="100%"))
    start = f"Start: w = {vector(tuple(buffer.parameter.detach().flatten().tolist()))}, w.grad is None."

    def after(act: Callable[[], Entry]) -> Callable[[], None]:
        def press() -> None:
            entry = act()
            status.value = page.status_element(describe(entry))
            table.value = page.scrolling(ledger(buffer.entries), CAPTION)
            pressed()

        return press

    def restart() -> None:
        buffer.restart()
        status.value = page.status_element(start)
        table.value = ledger(())

    def again() -> None:
        restart()
        pressed()

    restart()
    controls = page.row(
        page.button("backward()", after(buffer.backward), "Forward pass and loss.backward()"),
        page.button("zero_grad()", after(buffer.zero_grad), "optimizer.zero_grad()"),
        page.button(
            "zero_grad(set_to_none=False)",
            after(lambda: buffer.zero_grad(set_to_none=False)),
            "optimizer.zero_grad(set_to_none=False)",
        ),
        page.button("step()", after(buffer.step), "optimizer.step()"),
        page.button("Start again", again, "A fresh parameter and an empty ledger"),
    )
    return page.column(controls, status, table)
