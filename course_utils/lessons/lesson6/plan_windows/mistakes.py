"""What is often done instead in exercise 6.4."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson6.plan_windows.task import ONE_LIST

Pair = tuple[int, int]
Windows = list[list[Pair]]
Cut = Callable[[int, int, int], Windows]
"""From n_batches, window and the number of an epoch to its windows."""


def _right(n_batches: int, window: int, epoch: int) -> Windows:
    pairs = [(epoch, batch) for batch in range(n_batches)]
    return [pairs[first : first + window] for first in range(0, n_batches, window)]


def _planned(cut: Cut = _right) -> Callable[[int, int, int], Windows]:
    """A plan whose epochs are cut so."""

    def code(n_batches: int, window: int, epochs: int) -> Windows:
        return [part for epoch in range(epochs) for part in cut(n_batches, window, epoch)]

    return code


def _in_a_row(pairs: Iterable[Pair], window: int) -> Windows:
    every = list(pairs)
    return [every[first : first + window] for first in range(0, len(every), window)]


def _pairs(n_batches: int, epochs: int) -> list[Pair]:
    return [(epoch, batch) for epoch in range(epochs) for batch in range(n_batches)]


def _number(of: Callable[[int, int, int], Any]) -> Callable[[int, int, int], Any]:
    """The same plan with other pairs; `of` makes them of the epoch, the batch and n_batches."""

    def code(n_batches: int, window: int, epochs: int) -> Any:
        return [
            [of(epoch, batch, n_batches) for epoch, batch in part] for part in _planned()(n_batches, window, epochs)
        ]

    return code


def _after_the_first(n_batches: int, window: int, epoch: int) -> Windows:
    """A window of one batch, and windows of the others."""
    pairs = [(epoch, batch) for batch in range(n_batches)]
    return ([pairs[:1]] if pairs else []) + _in_a_row(pairs[1:], window)


def _one_list(*, by_epoch: bool = True, first: bool = False, rest: bool = True) -> Callable[[int, int, int], Windows]:
    """A plan that empties one list in place and fills it again; `first` empties it before the next batch."""

    def code(n_batches: int, window: int, epochs: int) -> Windows:
        plan: Windows = []
        current: list[Pair] = []
        for epoch in range(epochs):
            current = [] if by_epoch else current
            for batch in range(n_batches):
                if first and len(current) == window:
                    current.clear()
                current.append((epoch, batch))
                if len(current) == window or (first and rest and batch == n_batches - 1):
                    plan.append(current)
                    if not first:
                        current.clear()
            if rest and not first and current:
                plan.append(current)
        return plan

    return code


@mistake(
    "One and the same list is several windows",
    "Windows of the result are one list: what was done to it after the first of them is seen in all of them.",
    "Appending a list stores that list, not a copy of it. Where does your code make a new one?",
    "On paper one empties the basket and fills it again.",
    also=(
        _one_list(first=True, rest=False),
        _one_list(),
        _one_list(rest=False),
        _one_list(by_epoch=False, rest=False),
        _one_list(by_epoch=False, first=True, rest=False),
    ),
    signs=(ONE_LIST,),
)
def one_list_for_all(n_batches: int, window: int, epochs: int) -> Windows:
    return _one_list(first=True)(n_batches, window, epochs)


# ------------------------------------------------------------------ what becomes of the rest


@mistake(
    "What is left over was dropped",
    "The batches left over at the end of an epoch stand in no window.",
    "Which line makes a window of what is there, and does it run when the epoch ends before the window is full?",
    "`if (i + 1) % window == 0` is in nearly every example of accumulation.",
)
def rest_dropped(n_batches: int, window: int, epochs: int) -> Windows:
    return [part for part in _planned()(n_batches, window, epochs) if len(part) == window]


@mistake(
    "Windows run on into the next epoch",
    "What is left over at the end of an epoch shares a window with the first batches of the next one.",
    "What must become of a window that is not full when its epoch ends?",
    "A counter that nobody sets back does it, and so does a gradient that nobody steps with.",
)
def carried_over(n_batches: int, window: int, epochs: int) -> Windows:
    return _in_a_row(_pairs(n_batches, epochs), window)


@mistake(
    "Windows run on into the next epoch, and the last rest was dropped",
    "What is left over at the end of an epoch shares a window with the first batches of the next one, and what is left "
    "over in the very end stands in no window.",
    "What must become of a window that is not full when its epoch ends? Does the same hold for the last epoch?",
)
def carried_over_and_dropped(n_batches: int, window: int, epochs: int) -> Windows:
    return [part for part in _in_a_row(_pairs(n_batches, epochs), window) if len(part) == window]


def _closed_by_number(n_batches: int, window: int, epochs: int) -> Windows:
    """A window ends after every `window`-th batch of an epoch, and nowhere else; what waits then may stay behind."""
    plan: Windows = [[]]
    for epoch, batch in _pairs(n_batches, epochs):
        plan[-1].append((epoch, batch))
        if (batch + 1) % window == 0:
            plan.append([])
    return plan


@mistake(
    "What is left over joined the next epoch's first window",
    "What is left over at the end of an epoch stands in one window with the first batches of the next epoch, and that "
    "window is longer than the others.",
    "What must become of a window that is not full when its epoch ends? A test of the batch's number alone does not see "
    "that end.",
    "`if (i + 1) % window == 0` is in nearly every example of accumulation. There the gradients wait until it is true "
    "again.",
    also=(lambda n_batches, window, epochs: _closed_by_number(n_batches, window, epochs)[:-1],),
)
def joined_to_the_next_epoch(n_batches: int, window: int, epochs: int) -> Windows:
    return [part for part in _closed_by_number(n_batches, window, epochs) if part]


@mistake(
    "What is left over was dropped, but for the last epoch",
    "The last epoch's rest is a window; those of the epochs before it stand in none.",
    "Is the rest looked after inside the loop over epochs, or after it?",
)
def rest_of_the_last_epoch_alone(n_batches: int, window: int, epochs: int) -> Windows:
    every = _planned()(n_batches, window, epochs)
    return [part for part in every if len(part) == window or part[0][0] == epochs - 1]


@mistake(
    "What is left over joined the window before it",
    "The last full window of an epoch holds the rest as well, and is longer than asked for.",
    "How long may a window be?",
    "Some samplers avoid small batches so.",
)
def rest_joined_to_the_window_before(n_batches: int, window: int, epochs: int) -> Windows:
    def cut(n_batches: int, window: int, epoch: int) -> Windows:
        parts = _right(n_batches, window, epoch)
        if len(parts) > 1 and len(parts[-1]) < window:
            parts[-2:] = [parts[-2] + parts[-1]]
        return parts

    return _planned(cut)(n_batches, window, epochs)


@mistake(
    "The last window was filled up",
    "The last window of an epoch is as long as the others: it was filled with batches that other windows hold, too.",
    "In how many windows may a batch stand?",
    "Samplers for several devices fill up so.",
    also=(
        _planned(lambda n, w, e: [[(e, b % n) for b in range(first, first + w)] for first in range(0, n, w)]),
        _planned(lambda n, w, e: [[(e, min(b, n - 1)) for b in range(first, first + w)] for first in range(0, n, w)]),
    ),
)
def last_window_filled_up(n_batches: int, window: int, epochs: int) -> Windows:
    def cut(n_batches: int, window: int, epoch: int) -> Windows:
        parts = _right(n_batches, window, epoch)
        return [*parts[:-1], [(epoch, batch) for batch in range(n_batches)][-window:]] if parts else []

    return _planned(cut)(n_batches, window, epochs)


@mistake(
    "A window holds batches that there are not",
    "The last window of an epoch is as long as the others: the numbers in it run on past the last batch.",
    "Which is the last batch of an epoch, and where does the last window end?",
)
def past_the_end(n_batches: int, window: int, epochs: int) -> Windows:
    return _planned(lambda n, w, e: [[(e, b) for b in range(first, first + w)] for first in range(0, n, w)])(
        n_batches, window, epochs
    )


@mistake(
    "The shorter window comes first",
    "Each epoch begins with its shorter window.",
    "What is left over is what comes last. Where does the first window end?",
)
def rest_first(n_batches: int, window: int, epochs: int) -> Windows:
    def cut(n_batches: int, window: int, epoch: int) -> Windows:
        pairs = [(epoch, batch) for batch in range(n_batches)]
        rest = n_batches % window
        return ([pairs[:rest]] if rest else []) + _in_a_row(pairs[rest:], window)

    return _planned(cut)(n_batches, window, epochs)


@mistake(
    "An epoch ends with an empty window",
    "Where there are batches and nothing is left over, an epoch has an empty window as its last one. Where there are no "
    "batches it may have one, too.",
    "What is the last window that you append for an epoch, and is there always something in it?",
    "One window more than n_batches // window is right where something is left over.",
    also=(_planned(lambda n, w, e: _right(n, w, e) + ([[]] if n % w == 0 and n else [])),),
)
def empty_windows(n_batches: int, window: int, epochs: int) -> Windows:
    return _planned(lambda n, w, e: _right(n, w, e) + ([[]] if n % w == 0 else []))(n_batches, window, epochs)


def _stepping_by_nothing(n_batches: int, window: int, epoch: int) -> Windows:
    step = min(window, n_batches)
    return [[(epoch, b) for b in range(a, min(a + step, n_batches))] for a in range(0, n_batches, step)]


@mistake(
    "Without batches there was an exception",
    "Where n_batches is 0, an exception was raised in place of an empty list.",
    "What becomes 0 in your code with n_batches? A step of range may not.",
    where=lambda spec: spec["n_batches"] == 0 and spec["epochs"] > 0,
)
def no_batches_refused(n_batches: int, window: int, epochs: int) -> Windows:
    return _planned(_stepping_by_nothing)(n_batches, window, epochs)


def _in_chunks(n_batches: int, window: int, epoch: int) -> Windows:
    """As torch.chunk cuts."""
    count = max(-(-n_batches // window), 1)
    return _in_a_row(((epoch, batch) for batch in range(n_batches)), max(-(-n_batches // count), 1))


@mistake(
    "An epoch's batches were cut evenly",
    "Each epoch has the right number of windows, but its batches were spread over all of them: windows before the last one "
    "are shorter than `window`, too.",
    "How long is every window but the last one?",
    "numpy.array_split and torch.chunk do it: they are told how many pieces there are to be.",
    also=(_planned(_in_chunks),),
)
def cut_evenly(n_batches: int, window: int, epochs: int) -> Windows:
    def cut(n_batches: int, window: int, epoch: int) -> Windows:
        count = -(-n_batches // window)
        sizes = [n_batches // count + (place < n_batches % count) for place in range(count)]
        starts = [sum(sizes[:place]) for place in range(count)]
        return [[(epoch, b) for b in range(a, a + size)] for a, size in zip(starts, sizes, strict=True)]

    return _planned(cut)(n_batches, window, epochs)


# ------------------------------------------------------------------ how long, and which


@mistake(
    "`window` was taken for the number of windows",
    "Each epoch was cut into as many windows as a window should hold batches.",
    "window is a number of batches. How many windows does that make?",
    also=(
        _planned(lambda n, w, e: _in_a_row([(e, b) for b in range(n)], max(n // w, 1))),
        _planned(
            lambda n, w, e: [
                [(e, b) for b in range(k * n // w, (k + 1) * n // w)] for k in range(w) if k * n // w < (k + 1) * n // w
            ]
        ),
    ),
)
def number_of_windows(n_batches: int, window: int, epochs: int) -> Windows:
    return _planned(lambda n, w, e: _in_a_row([(e, b) for b in range(n)], max(-(-n // w), 1)))(
        n_batches, window, epochs
    )


@mistake(
    "The first window of an epoch has one batch",
    "The first window of each epoch holds one batch alone, and all others are moved by it.",
    "After which batch is the first window full, with numbers that begin at 0?",
    "`i % window == 0` is true at once, for i = 0. `(i + 1) % window == 0` is true after window batches.",
    also=(_planned(lambda n, w, e: [part for part in _after_the_first(n, w, e) if len(part) == w or part[0][1] == 0]),),
)
def full_at_zero(n_batches: int, window: int, epochs: int) -> Windows:
    return _planned(_after_the_first)(n_batches, window, epochs)


@mistake(
    "The windows are one batch too long or too short",
    "Windows hold one batch more, or one less, than asked for.",
    "Count the batches of your first window. When is it tested that it is full, before or after a batch comes in?",
    also=(_planned(lambda n, w, e: _right(n, max(w - 1, 1), e)),),
)
def one_too_many(n_batches: int, window: int, epochs: int) -> Windows:
    return _planned(lambda n, w, e: _right(n, w + 1, e))(n_batches, window, epochs)


@mistake(
    "Windows overlap",
    "A window begins at each batch, and a batch stands in several.",
    "How far is it from the first batch of a window to the first of the next?",
    also=(_planned(lambda n, w, e: [_right(n, n, e)[0][b : b + w] for b in range(n - w + 1)] if n else []),),
)
def overlapping(n_batches: int, window: int, epochs: int) -> Windows:
    return _planned(lambda n, w, e: [_right(n, n, e)[0][b : b + w] for b in range(n)] if n else [])(
        n_batches, window, epochs
    )


@mistake(
    "Every so-many-th batch shares a window",
    "The batches of a window do not follow each other: a window takes every so-many-th one.",
    "Which batches come in the order of training, one after another, while a window fills?",
    "pairs[k::n] is short, and deals a list out like cards.",
)
def dealt_out(n_batches: int, window: int, epochs: int) -> Windows:
    def cut(n_batches: int, window: int, epoch: int) -> Windows:
        count = -(-n_batches // window)
        return [[(epoch, b) for b in range(k, n_batches, count)] for k in range(count)]

    return _planned(cut)(n_batches, window, epochs)


@mistake(
    "The epochs were interleaved",
    "All epochs' first windows come first, then all their second ones, and so on.",
    "Which loop is the outer one? Training ends one epoch before it begins the next.",
)
def epochs_interleaved(n_batches: int, window: int, epochs: int) -> Windows:
    parts = [_right(n_batches, window, epoch) for epoch in range(epochs)]
    return [part for at in zip(*parts, strict=True) for part in at]


@mistake(
    "One epoch was planned",
    "The windows of the first epoch stand in the plan, and no others.",
    "Does the loop over epochs turn more than once? A return inside it ends it.",
)
def one_epoch(n_batches: int, window: int, epochs: int) -> Windows:
    return _planned()(n_batches, window, min(epochs, 1))


@mistake(
    "The last epoch alone was planned",
    "The windows of the last epoch stand in the plan, and no others.",
    "Where does the list of windows begin anew?",
)
def last_epoch(n_batches: int, window: int, epochs: int) -> Windows:
    return [part for part in _planned()(n_batches, window, epochs) if part[0][0] == epochs - 1]


# ------------------------------------------------------------------ what stands in it


@mistake(
    "The pairs are the wrong way round",
    "The windows are right; the pairs in them are (batch, epoch).",
    "Which comes first in a pair?",
)
def batch_first(n_batches: int, window: int, epochs: int) -> Any:
    return _number(lambda epoch, batch, n: (batch, epoch))(n_batches, window, epochs)


@mistake(
    "The numbers of batches stand there without their epochs",
    "A window is a list of numbers of batches, where pairs (epoch, batch) are asked for.",
    "Two epochs have a batch 0 each. How does the plan tell them apart?",
)
def batches_alone(n_batches: int, window: int, epochs: int) -> Any:
    return _number(lambda epoch, batch, n: batch)(n_batches, window, epochs)


@mistake(
    "Epochs or batches are numbered from 1",
    "The windows are right, but epochs, or batches, or both are numbered from 1.",
    "What is the number of the first epoch, and of its first batch?",
    also=(
        _number(lambda epoch, batch, n: (epoch, batch + 1)),
        _number(lambda epoch, batch, n: (epoch + 1, batch + 1)),
    ),
)
def numbered_from_one(n_batches: int, window: int, epochs: int) -> Any:
    return _number(lambda epoch, batch, n: (epoch + 1, batch))(n_batches, window, epochs)


@mistake(
    "The batches are numbered through all epochs",
    "The windows are right, but the second epoch's batches go on where the first one's ended.",
    "What is the number of the first batch of each epoch?",
)
def numbered_through(n_batches: int, window: int, epochs: int) -> Any:
    return _number(lambda epoch, batch, n: (epoch, epoch * n + batch))(n_batches, window, epochs)


@mistake(
    "The batches are numbered from the beginning of each window",
    "Each window begins with batch 0 of its epoch: the numbers are places in the window.",
    "What is the number of the first batch of the second window?",
    "enumerate counts from 0 each time it begins.",
)
def numbered_in_the_window(n_batches: int, window: int, epochs: int) -> Any:
    plan = _planned()(n_batches, window, epochs)
    return [[(epoch, place) for place, (epoch, _) in enumerate(part)] for part in plan]


@mistake(
    "Every window is empty",
    "The plan has the right number of windows, and there is nothing in them. Was a list emptied after it had been "
    "appended?",
    "append() copies nothing: whoever empties the list afterwards empties the window. Where does a new list begin?",
)
def empty_all(n_batches: int, window: int, epochs: int) -> Any:
    return [[] for _ in _planned()(n_batches, window, epochs)]


@mistake(
    "The windows stand in a list for each epoch",
    "The plan is a list of epochs, each a list of windows; one list of windows is asked for.",
    "To a list of windows, is a window added, or a list of windows? append adds one entry, extend all of a list.",
)
def epochs_apart(n_batches: int, window: int, epochs: int) -> Any:
    return [_right(n_batches, window, epoch) for epoch in range(epochs)]


@mistake(
    "The pairs are not in windows",
    "The plan is one list of pairs; a list of windows is asked for, each a list of pairs.",
    "To a list of windows, is a window added, or what is in it? append adds one entry, extend all of a list.",
)
def without_windows(n_batches: int, window: int, epochs: int) -> Any:
    return _pairs(n_batches, epochs)
