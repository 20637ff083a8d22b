"""The windows of a training, for any number of batches, any window and five ways to end one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_utils.widgets import page
from course_utils.widgets.explorers.numbers import number
from course_utils.widgets.explorers.windows import MOST, RULES, Place, Story, program, story
from course_utils.widgets.page import Still
from gradient_ledger import html

EPOCHS = 3
HEADER = ("step", "batches it used, as epoch.batch", "how many", "weight of each", "sum of the weights")
STILL_HEADER = ("rule", "batches in each step", "sums of weights", "never used")
STILL_CAPTION = f"Five rules, with 10 batches an epoch, windows of 4 and {EPOCHS} epochs"


def windows_of_training(batches: int = 10, window: int = 4) -> None:
    """See which batches each step of a training uses and what they weigh, by five rules that end a window.

    Each rule runs as a real loop of three epochs on a model that weighs its batches. Raises `ValueError` for no batch,
    for more than fit on the page, and for a window below 1.
    """
    story("leak", batches, window)  # what it cannot show it says now, not at the first press of a button
    shown = [story(rule, 10, 4, EPOCHS) for rule in RULES]
    page.show(
        Still(text(shown), page.scrolling(overview(shown), STILL_CAPTION)),
        lambda: _widget(batches, window),
        "windows-of-training",
    )


# ------------------------------------------------------------------ words


def places(found: Sequence[Place]) -> str:
    """Places as text, counted from 1: `1.9, 1.10, 2.1`; `none` where there are none."""
    return ", ".join(f"{epoch + 1}.{batch + 1}" for epoch, batch in found) or "none"


def weights(step: Mapping[Place, float]) -> str:
    """The weight of each batch of a step: one number where all are the same."""
    return " or ".join(dict.fromkeys(number(weight) for weight in step.values()))


def describe(told: Story) -> str:
    """What became of the batches, in sentences."""
    if not told.steps:
        return f"There was no step. At the end {len(told.left)} batches stand in .grad."
    said = []
    if told.right:
        said.append("Right: every batch is used once, in its own epoch, and each step is a mean.")
    if told.mixed:
        said.append(f"{_steps(told.mixed)} mixed batches of several epochs.")
    for above, words in ((True, "more"), (False, "less")):
        odd = [n for n, step in enumerate(told.steps, 1) if _is_off(step, above)]
        if odd:
            said.append(f"The weights of {_steps(odd).lower()} sum to {words} than 1.")
    if told.lost:
        said.append(f"Cleared unused: {places(told.lost)}.")
    if told.left:
        said.append(f"Still in .grad at the end, unused: {places(told.left)}.")
    return " ".join(said)


def _is_off(step: Mapping[Place, float], above: bool) -> bool:
    beyond = sum(step.values()) - 1
    return beyond > 1e-9 if above else beyond < -1e-9


def _steps(numbers: Sequence[int]) -> str:
    return ("Step " if len(numbers) == 1 else "Steps ") + ", ".join(map(str, numbers))


# ------------------------------------------------------------------ tables


def cells(told: Story) -> list[list[str]]:
    """The steps as text, in the order of `HEADER`."""
    return [
        [str(n), places(list(step)), str(len(step)), weights(step), number(sum(step.values()))]
        for n, step in enumerate(told.steps, 1)
    ]


def ledger(told: Story) -> str:
    """The loop that ran, and its steps as an HTML table."""
    caption = f"The steps of the rule '{told.rule}', windows of {told.window}"
    loop = html.lines(program(told.rule, told.window, EPOCHS).splitlines(), "The loop that ran")
    return loop + page.scrolling(html.table(caption, list(HEADER), cells(told)), caption)


def _examples(stories: Sequence[Story]) -> list[list[str]]:
    return [
        [
            told.rule,
            " ".join(str(len(step)) for step in told.steps),
            " ".join(dict.fromkeys(number(sum(step.values())) for step in told.steps)),
            str(len(told.left) + len(told.lost)),
        ]
        for told in stories
    ]


def overview(stories: Sequence[Story]) -> str:
    """Several rules as an HTML table, one a row."""
    return html.table(STILL_CAPTION, list(STILL_HEADER), _examples(stories))


def text(stories: Sequence[Story]) -> str:
    """Several rules as plain text of at most 78 characters a line."""
    return page.plain_table(STILL_CAPTION, [list(STILL_HEADER), *_examples(stories)])


# ------------------------------------------------------------------ buttons


def _widget(batches: int, window: int) -> Any:
    import ipywidgets as widgets

    rule = next(iter(RULES))
    counts = {"batches": batches, "window": window}
    status = widgets.HTML()
    table = widgets.HTML(layout=widgets.Layout(max_width="100%"))

    def draw() -> None:
        told = story(rule, counts["batches"], counts["window"], EPOCHS)
        setting = f"{counts['batches']} batches an epoch, windows of {counts['window']}, rule `{rule}`."
        status.value = page.status_element(f"{setting} {describe(told)}", lines=3)
        table.value = ledger(told)

    def choose(name: str) -> Callable[[], None]:
        def press() -> None:
            nonlocal rule
            rule = name
            draw()

        return press

    def change(what: str, by: int) -> Callable[[], None]:
        def press() -> None:
            counts[what] = min(MOST, max(1, counts[what] + by))
            draw()

        return press

    draw()
    rules = page.row(*(page.button(name, choose(name), f"Ends windows by the rule '{name}'") for name in RULES))
    numbers = page.row(
        page.button("fewer batches", change("batches", -1), "One batch an epoch less"),
        page.button("more batches", change("batches", +1), "One batch an epoch more"),
        page.button("shorter windows", change("window", -1), "One batch a window less"),
        page.button("longer windows", change("window", +1), "One batch a window more"),
    )
    return page.column(rules, numbers, status, table)
