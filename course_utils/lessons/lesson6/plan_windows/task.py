"""Exercise 6.4: which batches share a step, epoch after epoch."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import cases

ONE_LIST = "windows that are one and the same list"
LENGTHS = "how many batches each window holds"
EARLY = "last pairs of windows that end too early"
WITHOUT = "pairs in no window"
IN_SEVERAL = "pairs in several windows"
Numbers = tuple[int, int, int]
"""n_batches, window, epochs."""


_SHOWN: Sequence[Numbers] = (
    (3, 3, 1),
    (8, 4, 1),
    (6, 3, 2),
    (7, 3, 1),
    (8, 3, 1),
    (5, 3, 2),
    (4, 3, 3),
    (3, 4, 2),
    (2, 9, 3),
    (3, 1, 2),
    (1, 3, 3),
    (10, 4, 3),
    (0, 2, 2),
    (4, 2, 0),
)


def _like_those_shown(chance: random.Random) -> list[Numbers]:
    """Other numbers that are to each other as those shown: what they are a test of stays."""

    def window(least: int) -> int:
        return chance.randint(least, least + 5)

    def several(window: int) -> int:
        return chance.randint(2, window - 1)

    one, two, even, rest, more, once, thrice, long, last = (window(3) for _ in range(9))
    return [
        (one, one, 1),
        (2 * two, two, 1),
        (2 * even, even, 2),
        (2 * rest + 1, rest, 1),
        (2 * more + several(more), more, 1),
        (once + several(once), once, 2),
        (thrice + 1, thrice, 3),
        (long, long + 1, 2),
        (2, window(7), 3),
        (window(2), 1, 2),
        (1, window(3), 3),
        (2 * last + several(last), last, 3),
        (0, window(2), window(1)),
        (window(2), window(2), 0),
    ]


def _cases(seed: int) -> list[Case]:
    chance = random.Random(seed)

    def row(name: str, n_batches: int, window: int, epochs: int) -> tuple[str, dict[str, Any]]:
        return name, {"n_batches": n_batches, "window": window, "epochs": epochs}

    wide = chance.randint(3, 5)
    drawn = [
        row("drawn numbers, several left over", 2 * wide - 1, wide, 2),
        row("drawn numbers, one left over", wide + 1, wide, chance.randint(2, 3)),
        row("drawn numbers", chance.randint(7, 11), chance.randint(2, 6), chance.randint(2, 3)),
    ]
    # At seed 0, the learner's own, the numbers are small enough to do by hand. Other seeds draw numbers like those.
    numbers, prefix = (_like_those_shown(chance), "drawn, like ") if seed else (_SHOWN, "")
    told = [
        row(f"{prefix}n_batches={shown[0]}, window={shown[1]}, epochs={shown[2]}", *own)
        for shown, own in zip(_SHOWN, numbers, strict=True)
    ]
    return cases(seed, [*told[:-2], *drawn, *told[-2:]])


def _arrange(case: Case) -> Arrangement:
    n_batches, most, epochs = case.spec["n_batches"], case.spec["window"], case.spec["epochs"]
    every = [(epoch, batch) for epoch in range(epochs) for batch in range(n_batches)]

    def facts(plan: object) -> Mapping[str, object]:
        windows = _windows(plan)
        if windows is None:
            return {}
        found = Counter(pair for window in windows for pair in window)
        # Other pairs than those of the plan may be meant otherwise, and nothing is said of where they end.
        short = [window for window in windows if 0 < len(window) < most] if found.keys() <= {*every} else []
        return {
            ONE_LIST: str(_alike(plan)),
            LENGTHS: str([len(window) for window in windows]),
            EARLY: str([window[-1] for window in short if window[-1][1] != n_batches - 1][:6]),
            WITHOUT: str([pair for pair in every if not found[pair]][:6]),
            IN_SEVERAL: str([pair for pair in every if found[pair] > 1][:6]),
        }

    return Arrangement((n_batches, most, epochs), facts=facts)


def _alike(plan: object) -> list[list[int]]:
    """Places of the windows that are one and the same list, group by group."""
    found: dict[int, list[int]] = {}
    for place, window in enumerate(plan if isinstance(plan, list | tuple) else ()):
        if isinstance(window, list):
            found.setdefault(id(window), []).append(place)
    return [places for places in found.values() if len(places) > 1][:6]


def _windows(plan: object) -> list[list[tuple[int, int]]] | None:
    """A plan of lists and tuples, not too long, as lists of pairs; None for anything else."""
    if not isinstance(plan, list | tuple) or len(plan) > 200:
        return None
    found = []
    for window in plan:
        if not isinstance(window, list | tuple) or len(window) > 200:
            return None
        if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in window):
            return None
        if not all(isinstance(number, int) for pair in window for number in pair):
            return None
        found.append([(pair[0], pair[1]) for pair in window])
    return found


def _left_over(spec: Any) -> int:
    return spec["n_batches"] % spec["window"]  # type: ignore[no-any-return]


EXERCISE = Exercise(
    id="6.4",
    name="plan_windows",
    title="Which batches share a step?",
    difficulty=2,
    minutes=10,
    goal=(
        "Write `plan_windows(n_batches, window, epochs)`. Training goes `epochs` times through `n_batches` batches, always "
        "in the same order, and makes one step for `window` batches. Epochs and the batches of an epoch are numbered from "
        "0. Return the list of all windows in order; a window is the list of its batches in order, each as a pair "
        "`(epoch, batch)`. A window holds the next `window` batches of one epoch. What is left over at an epoch's end is "
        "that epoch's last, shorter window: no batch is left out, none is carried into the next epoch, and no window is "
        "empty. `window` is 1 or more and may be larger than `n_batches`; `n_batches` and `epochs` may be 0, and then "
        "there is no window. For every list a tuple is as good."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Write down on paper the windows of 5 batches, two at a time, in two epochs. How many are there, and which are "
        "short?",
        "Within one epoch a window is known by its first batch. Which numbers can that be, and what does range have a "
        "third argument for?",
        "Two loops: over the epochs, and over the first batches 0, window, 2 * window, … below n_batches. A window ends "
        "after `window` batches, or at n_batches, whichever comes first.",
    ),
    properties=(
        ("there are no batches or no epochs", lambda spec: not spec["n_batches"] * spec["epochs"]),
        ("nothing is left over at the end of an epoch", lambda spec: _left_over(spec) == 0),
        ("batches are left over at the end of an epoch", lambda spec: _left_over(spec) > 0),
        ("one batch is left over", lambda spec: _left_over(spec) == 1),
        ("there is one epoch", lambda spec: spec["epochs"] == 1),
        ("there are several epochs", lambda spec: spec["epochs"] > 1),
        ("a window is longer than an epoch", lambda spec: spec["window"] > spec["n_batches"]),
        ("an epoch has more than one window", lambda spec: spec["window"] < spec["n_batches"]),
        ("windows have one batch", lambda spec: spec["window"] == 1),
        ("an epoch has one batch", lambda spec: spec["n_batches"] == 1),
    ),
    telling={
        ONE_LIST: "the windows at these places of the result are one and the same list: {given}.",
        LENGTHS: "the windows hold so many batches each: {given}; asked is {right}.",
        EARLY: "before they are full, and before their epoch ends, windows end with {given}.",
        WITHOUT: "in no window stand {given}.",
        IN_SEVERAL: "more than once stand {given}.",
    },
    quantities={
        "n_batches": lambda spec: spec["n_batches"] or None,
        "window": lambda spec: spec["window"],
        "epochs": lambda spec: spec["epochs"] or None,
    },
)
