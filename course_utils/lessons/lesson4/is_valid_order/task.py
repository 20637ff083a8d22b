"""Exercise 4.3: which orders of zero, forward, backward and step are right?"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import cases

WORDS = {"z": "zero", "f": "forward", "b": "backward", "s": "step"}
Order = list[str]


def _window(draw: random.Random, most: int) -> Order:
    """The passes of one step: up to `most` backwards, each after a forward of its own."""
    count = draw.randint(1, most)
    return ["f"] * count + ["b"] * count if draw.random() < 0.2 else ["f", "b"] * count


def _run(draw: random.Random, windows: int, most: int) -> Order:
    """Some windows, each cleared somewhere between the step before it and its own first backward."""
    order: Order = []
    for number in range(windows):
        passes = _window(draw, most)
        places = [0, 0, passes.index("b")] + ([] if number else [None])  # the first one begins on an empty .grad
        place = draw.choice(places)
        if place is not None:
            passes.insert(place, "z")
            if draw.random() < 0.2:
                passes.insert(place, "z")
        if draw.random() < 0.2:
            passes.insert(0, "f")  # a forward without a backward, as validation is
        order += [*passes, "s"]
    return order + ["z"] * draw.randint(0, 1)


def _inserted(order: Order, place: int, *words: str) -> Order:
    return [*order[:place], *words, *order[place:]]


def _places(order: Order, wanted: Callable[[int], bool]) -> list[int]:
    return [place for place in range(len(order)) if wanted(place)]


def _changed(draw: random.Random, order: Order) -> Order:
    """The order with a change: most make it wrong, some do not."""
    after_backward = _places(order, lambda place: order[place] == "b")
    steps = _places(order, lambda place: order[place] == "s")
    zeros = _places(order, lambda place: order[place] == "z")
    changes: list[Callable[[], Order]] = [
        lambda: _inserted(order, draw.choice(after_backward) + 1, "z"),
        lambda: _inserted(order, draw.choice(steps), "z"),
        lambda: _inserted(order, draw.choice(steps) + 1, "s"),
        lambda: [*order, "f", "b"],
        lambda: [*order, "z", "f", "b"],
        lambda: order[: steps[-1]],
    ]
    if zeros:
        changes += [lambda: _without(order, draw.choice(zeros)), lambda: [one for one in order if one != "z"]]
    return draw.choice(changes)()


def _without(order: Order, place: int) -> Order:
    return order[:place] + order[place + 1 :]


def _drawn(seed: int, count: int, windows: int, most: int) -> list[str]:
    """Different orders as strings of letters, every other one changed."""
    draw = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        order = _run(draw, draw.randint(1, windows), most)
        text = "".join(_changed(draw, order) if len(found) % 2 else order)
        if text not in found:
            found.append(text)
    return found


_SHOWN: Sequence[tuple[str, str, list[str]]] = (
    ("one step, where .grad is empty at the start", "one step", ["zfbs", "fbs", "fzbs", "fbsz"]),
    ("zero after the backward", "lost", ["fbzs", "zfbzs", "zfbszfbzs", "zfbfzbs"]),
    ("two steps", "several steps", ["zfbszfbs", "fbsfbs", "zfbsfbs", "fbszfbs", "zfbsfzbs"]),
    ("two backwards before a step", "several backwards", ["zfbfbs", "zfbzfbs", "fbfbs", "zffbbs", "zfbfbszfbfbs"]),
    ("a forward without a backward, as in validation", "validation", ["zfbsf", "fzfbs", "zfbsfzfbs", "f", "zfbsffbs"]),
    ("a backward at the end", "trailing", ["fb", "zfbszfb", "zfbsfb", "zfbszfbz", "zfbf"]),
    ("a step that no backward precedes", "repeated step", ["zfbss", "zfbsszfbs", "fbsfs"]),
    ("zero twice", "zero twice", ["zzfbs", "zfzbs", "fbszzfbs", "zfbszz", "zfbzzs"]),
)


def _plain(draw: random.Random, windows: int, passes: int = 1) -> Order:
    """A right order without anything odd: as many backwards a step as passes, a clear before the first of them."""
    order: Order = []
    for number in range(windows):
        window = ["f", "b"] * passes
        place = draw.choice([0, 1] if number else [0, 1, None])  # the first one begins on an empty .grad
        if place is not None:
            window.insert(place, "z")
        order += [*window, "s"]
    return order


def _lost(draw: random.Random) -> Order:
    order = _plain(draw, draw.randint(2, 3), draw.randint(1, 2))
    backward = draw.choice(_places(order, lambda place: order[place] == "b"))
    return _inserted(order, draw.randint(backward + 1, order.index("s", backward)), "z")


def _several_steps(draw: random.Random) -> Order:
    order = _plain(draw, 2)
    again = order.index("s") + 1
    if draw.random() < 0.5:
        order = _without(order, order.index("z", again))
    return order + ["z"] * draw.randint(0, 1)


def _several_backwards(draw: random.Random) -> Order:
    order = _plain(draw, draw.randint(1, 3), 2)
    if draw.random() < 0.5:
        return order
    first = draw.choice(_places(order, lambda place: order[place : place + 3] == ["b", "f", "b"]))
    return _inserted(order, first + draw.randint(1, 2), "z")


def _validated(draw: random.Random) -> Order:
    order = _plain(draw, draw.randint(2, 3))
    place = draw.choice([0, *(at + 1 for at in _places(order, lambda place: order[place] == "s"))])
    return _inserted(order, place, *["f"] * draw.randint(1, 2))


def _trailing(draw: random.Random) -> Order:
    return _plain(draw, draw.randint(2, 4))[:-1] + draw.choice([[], ["f"], ["z"]])


def _repeated(draw: random.Random) -> Order:
    order = _plain(draw, draw.randint(2, 3))
    return _inserted(order, draw.choice(_places(order, lambda place: order[place] == "s")), "s")


def _zeroed_twice(draw: random.Random) -> Order:
    order = ["z", *_plain(draw, draw.randint(1, 3))]
    zeros = _places(order, lambda place: order[place] == "z")
    return _inserted(order, draw.choice(zeros), "z")


_LIKE_SHOWN: Mapping[str, Callable[[random.Random], Order]] = {
    "one step": lambda draw: _plain(draw, 1) + ["z"] * draw.randint(0, 1),
    "lost": _lost,
    "several steps": _several_steps,
    "several backwards": _several_backwards,
    "validation": _validated,
    "trailing": _trailing,
    "repeated step": _repeated,
    "zero twice": _zeroed_twice,
}
"""What is drawn beside the orders that are shown, so that no list of those is an answer."""


def _and_more(seed: int, about: str, orders: list[str]) -> list[str]:
    """The orders that are shown, and at other seeds than the learner's own some like them."""
    draw = random.Random(f"{about} {seed}")
    drawn = ["".join(_LIKE_SHOWN[about](draw)) for _ in range(6 if seed else 0)]
    return list(dict.fromkeys([*orders, *drawn]))


def _cases(seed: int) -> list[Case]:
    rows: list[tuple[str, dict[str, Any]]] = [
        (name, {"about": about, "orders": _and_more(seed, about, orders)}) for name, about, orders in _SHOWN
    ]
    for number, (name, windows, most) in enumerate(
        (
            ("drawn orders of up to two steps", 2, 1),
            ("drawn orders of up to three steps", 3, 1),
            ("drawn orders of up to two steps, with several backwards", 2, 3),
            ("drawn orders of up to four steps, with several backwards", 4, 2),
        )
    ):
        rows.append((name, {"about": "drawn", "orders": _drawn(100 * seed + number, 10, windows, most)}))
    return cases(seed, rows)


def events_in(order: str) -> list[str]:
    """The words of an order that is written in letters."""
    return [WORDS[letter] for letter in order]


def _ask(attempt: Any, orders: Sequence[str]) -> object:
    """{order in words: what the attempt says of it}."""
    answers: dict[str, object] = {}
    for order in orders:
        answer = attempt(events_in(order))
        if answer is ...:
            return ...
        answers[" ".join(events_in(order))] = answer
    return answers


def _arrange(case: Case) -> Arrangement:
    orders = list(case.spec["orders"])
    return Arrangement((events_in(orders[0]),), call=lambda attempt: _ask(attempt, orders))


EXERCISE = Exercise(
    id="4.3",
    name="is_valid_order",
    title="Which orders are right?",
    difficulty=3,
    minutes=15,
    goal=(
        'Write `is_valid_order(events)`. `events` is a list of the words "zero", "forward", "backward" and "step", in '
        "the order in which one model's training runs them. Before the first event every `.grad` is None. Return True "
        "when every step uses the gradients of all the backwards since the step before it, and of no others, and no "
        "backward's gradient is lost: each is used by a step. Else return False. Several backwards may share a step. A "
        "forward without a backward is no fault. You may rely on two things. Every backward has a forward of its own "
        "before it, with no step between the two. And where a step finds `.grad` empty, a zero took away a gradient "
        "that no step had used. A list without steps is right where it has no backward. The list is handed over for good: you may take events off it."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Go through the events with a note of what .grad holds. Which two kinds of gradient must you tell apart?",
        "A gradient in .grad is either waiting for its step, or it has been used by one. What does each of the four "
        "events do to the two kinds, and at which of them has something gone wrong?",
        "Zero is harmless on gradients that were used, and wrong on those that wait. A backward, and a step, are wrong "
        "on gradients that were used. And at the end nothing may be waiting.",
    ),
    properties=(
        ("zero stands after a backward that no step has used", lambda spec: spec["about"] == "lost"),
        ("each order has one step", lambda spec: spec["about"] == "one step"),
        ("two backwards stand before a step", lambda spec: spec["about"] == "several backwards"),
        ("a forward has no backward", lambda spec: spec["about"] == "validation"),
        ("an order ends with a backward", lambda spec: spec["about"] == "trailing"),
        ("a step follows a step", lambda spec: spec["about"] == "repeated step"),
        ("zero stands twice", lambda spec: spec["about"] == "zero twice"),
        ("the orders are drawn", lambda spec: spec["about"] == "drawn"),
        ("the orders are not drawn", lambda spec: spec["about"] != "drawn"),
    ),
    quantities={"the number of orders": lambda spec: len(spec["orders"])},
)
