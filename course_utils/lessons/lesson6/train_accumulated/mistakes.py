"""What is often done instead in exercise 6.5."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from typing import Any, Literal

import torch
from torch import nn

from course_utils.checks.mistakes import Code, made_by, mistake
from course_utils.checks.observe.spies import BACKWARDS
from course_utils.lessons.lesson4.steps import STEPS
from course_utils.lessons.lesson6 import mistakes as shared
from course_utils.lessons.lesson6.train_accumulated.task import Scheduler
from course_utils.lessons.training import Batch, LossFn, modes_put_back

Optimizer = torch.optim.Optimizer
Pair = tuple[int, int]
Plan = Callable[[int, int, int], list[tuple[list[Pair], bool]]]
"""From n_batches, window and epochs to the windows, and whether each ends with a step."""
Weigh = Callable[[Sequence[int], int, Sequence[int]], Sequence[float]]
"""From the rows of a window's batches, `window` and the rows of all batches to what each loss is multiplied by."""
Place = Literal["run", "epoch", "window", "batch", "late", "after", "again"]
Clip = Literal["window", "batch", "never"]
When = Literal["window", "batch", "epoch", "before", "never"]
Again = Literal["never", "windows fit", "always"]
Part = Literal["nothing", "clip", "schedule"]
Seen = list[list[tuple[float, int, int, float]]]
"""Of each epoch: (loss, rows, number of the window, factor) of each batch."""


# ------------------------------------------------------------------ windows


def _cut(n_batches: int, window: int, epochs: int) -> list[tuple[list[Pair], bool]]:
    pairs = [[(epoch, batch) for batch in range(n_batches)] for epoch in range(epochs)]
    return [(one[first : first + window], True) for one in pairs for first in range(0, n_batches, window)]


def _rest_without_step(n_batches: int, window: int, epochs: int) -> list[tuple[list[Pair], bool]]:
    return [(pairs, len(pairs) == window) for pairs, _ in _cut(n_batches, window, epochs)]


def _rest_left_out(n_batches: int, window: int, epochs: int) -> list[tuple[list[Pair], bool]]:
    return [(pairs, True) for pairs, _ in _cut(n_batches, window, epochs) if len(pairs) == window]


def _through_all_epochs(n_batches: int, window: int, epochs: int) -> list[tuple[list[Pair], bool]]:
    every = [(epoch, batch) for epoch in range(epochs) for batch in range(n_batches)]
    return [(every[first : first + window], True) for first in range(0, len(every), window)]


def _through_all_epochs_when_full(n_batches: int, window: int, epochs: int) -> list[tuple[list[Pair], bool]]:
    return [(pairs, len(pairs) == window) for pairs, _ in _through_all_epochs(n_batches, window, epochs)]


def _closed_by_number(n_batches: int, window: int, epochs: int) -> list[tuple[list[Pair], bool]]:
    plan: list[tuple[list[Pair], bool]] = [([], False)]
    for epoch in range(epochs):
        for batch in range(n_batches):
            plan[-1][0].append((epoch, batch))
            if (batch + 1) % window == 0:
                plan[-1] = (plan[-1][0], True)
                plan.append(([], False))
    return [one for one in plan if one[0]]


def _closed_by_number_or_the_end(n_batches: int, window: int, epochs: int) -> list[tuple[list[Pair], bool]]:
    return [(pairs, True) for pairs, _ in _closed_by_number(n_batches, window, epochs)]


def _closed_at_the_first(n_batches: int, window: int, epochs: int) -> list[tuple[list[Pair], bool]]:
    plan: list[list[Pair]] = [[]]
    for epoch in range(epochs):
        for batch in range(n_batches):
            plan[-1].append((epoch, batch))
            if batch % window == 0:
                plan.append([])
    return [(pairs, place < len(plan) - 1) for place, pairs in enumerate(plan) if pairs]


def _closed_at_the_first_and_the_end(n_batches: int, window: int, epochs: int) -> list[tuple[list[Pair], bool]]:
    firsts = [0, *range(1, n_batches, window)]
    ends = [*firsts[1:], n_batches]
    return [
        ([(epoch, batch) for batch in range(a, b)], True)
        for epoch in range(epochs)
        for a, b in zip(firsts, ends, strict=True)
    ]


def _each_alone(n_batches: int, window: int, epochs: int) -> list[tuple[list[Pair], bool]]:
    return _cut(n_batches, 1, epochs)


def _epochs_whole(n_batches: int, window: int, epochs: int) -> list[tuple[list[Pair], bool]]:
    return _cut(n_batches, max(n_batches, 1), epochs)


# ------------------------------------------------------------------ weights


def _by_rows(rows: Sequence[int], window: int, every: Sequence[int]) -> list[float]:
    return [n / sum(rows) for n in rows]


def _by_window(rows: Sequence[int], window: int, every: Sequence[int]) -> list[float]:
    return [1 / window] * len(rows)


def _by_batches(rows: Sequence[int], window: int, every: Sequence[int]) -> list[float]:
    return [1 / len(rows)] * len(rows)


def _whole(rows: Sequence[int], window: int, every: Sequence[int]) -> list[float]:
    return [1.0] * len(rows)


def _each(factor: Callable[[int, Sequence[int], int, Sequence[int]], float]) -> Weigh:
    return lambda rows, window, every: [factor(n, rows, window, every) for n in rows]


_times_rows = _each(lambda n, rows, window, every: n)
_of_the_epoch = _each(lambda n, rows, window, every: n / sum(every))
_rows_by_window = _each(lambda n, rows, window, every: n / window)
_rows_by_batches = _each(lambda n, rows, window, every: n / len(rows))
_first_for_all = _each(lambda n, rows, window, every: n / (len(rows) * every[0]))
_own_for_all = _each(lambda n, rows, window, every: n / (len(rows) * rows[0]))
_first_for_all_windows = _each(lambda n, rows, window, every: n / (window * every[0]))
_own_for_all_windows = _each(lambda n, rows, window, every: n / (window * rows[0]))
_first_windows_rows = _each(lambda n, rows, window, every: n / sum(every[:window]))
_means_by_rows = _each(lambda n, rows, window, every: 1 / sum(rows))

# ------------------------------------------------------------------ what is returned


def _over_samples(seen: Seen) -> object:
    return [sum(a * n for a, n, _, _ in one) / sum(n for _, n, _, _ in one) if one else 0.0 for one in seen]


def _over_batches(seen: Seen) -> object:
    return [sum(one[0] for one in epoch) / len(epoch) if epoch else 0.0 for epoch in seen]


def _over_windows(seen: Seen) -> object:
    """The mean over the windows of what went backward in each."""
    found = []
    for epoch in seen:
        means = [sum(a * f for a, _, _, f in part) for _, part in groupby(epoch, key=lambda one: one[2])]
        found.append(sum(means) / len(means) if means else 0.0)
    return found


def _sums_of_windows(seen: Seen) -> object:
    return [sum(a * f for a, _, _, f in epoch) for epoch in seen]


def _sums_of_windows_over_batches(seen: Seen) -> object:
    return [sum(a * f for a, _, _, f in epoch) / len(epoch) if epoch else 0.0 for epoch in seen]


def _sums(seen: Seen) -> object:
    return [sum(one[0] for one in epoch) for epoch in seen]


def _sums_over_samples(seen: Seen) -> object:
    return [sum(one[0] for one in epoch) / sum(one[1] for one in epoch) if epoch else 0.0 for epoch in seen]


def _weighed_sums(seen: Seen) -> object:
    return [sum(one[0] * one[1] for one in epoch) for epoch in seen]


def _last(seen: Seen) -> object:
    return [epoch[-1][0] if epoch else 0.0 for epoch in seen]


def _epochs_so_far(seen: Seen) -> object:
    return [
        sum(a * n for epoch in seen[: place + 1] for a, n, _, _ in epoch)
        / sum(n for epoch in seen[: place + 1] for _, n, _, _ in epoch)
        for place in range(len(seen))
    ]


def _sums_so_far(seen: Seen) -> object:
    """Over the samples of one epoch."""
    sums = [sum(a * n for a, n, _, _ in epoch) for epoch in seen]
    return [sum(sums[: place + 1]) / sum(n for _, n, _, _ in epoch) for place, epoch in enumerate(seen)]


def _each_window(seen: Seen) -> object:
    return [sum(a * f for a, _, _, f in part) for epoch in seen for _, part in groupby(epoch, key=lambda one: one[2])]


def _each_batch(seen: Seen) -> object:
    return [one[0] for epoch in seen for one in epoch]


# ------------------------------------------------------------------ the loop


def _trained(
    plan: Plan = _cut,
    *,
    weigh: Weigh = _by_rows,
    clear: Collection[str] = ("window",),
    zeros: bool = False,
    trainable_alone: bool = False,
    clip: Clip = "window",
    clipped: Callable[[Sequence[nn.Parameter], float], object] = nn.utils.clip_grad_norm_,
    divided_late: bool = False,
    schedule: When = "window",
    steps: int = 1,
    backward: bool = True,
    by_epoch: bool = False,
    measured_late: bool = False,
    again: Again = "never",
    rest_without: Part = "nothing",
    told: Callable[[Seen], object] = _over_samples,
) -> Code:
    """A training with the windows of `plan`; `clear`, `clip` and `schedule` say where each of these is done.

    `by_epoch` weighs a batch in the window that the exercise means, whatever `plan` says; `measured_late` tells the
    losses after the step; `divided_late` divides by the rows of a window after clipping; `again` says where an epoch ends with one more step, and `rest_without` what the step of a
    shorter window lacks.
    """

    def code(
        model: nn.Module,
        optimizer: Optimizer,
        loss_fn: LossFn,
        batches: Sequence[Batch],
        window: int,
        epochs: int,
        scheduler: Scheduler | None = None,
        max_norm: float | None = None,
    ) -> object:
        params = list(model.parameters())

        def at(place: Place) -> None:
            if place in clear and trainable_alone:
                for p in params:
                    p.grad = None if p.requires_grad else p.grad
            elif place in clear:
                optimizer.zero_grad(set_to_none=not zeros)

        def cut(here: Clip) -> None:
            if here == clip and max_norm is not None:
                clipped(params, max_norm)

        def scheduled(when: When) -> None:
            if when == schedule and scheduler is not None:
                scheduler.step()

        every = [len(x) for x, _ in batches]
        seen: Seen = [[] for _ in range(epochs)]
        begun = -1
        at("run")
        for number, (pairs, stepped) in enumerate(plan(len(batches), window, epochs)):
            if pairs[0][0] != begun:
                begun = pairs[0][0]
                at("epoch")
            at("window")
            factors = weigh([every[batch] for _, batch in pairs], window, every)
            if by_epoch:
                meant = [every[batch // window * window :][:window] for _, batch in pairs]
                factors = [every[batch] / sum(rows) for (_, batch), rows in zip(pairs, meant, strict=True)]
            for (epoch, batch), factor in zip(pairs, factors, strict=True):
                if epoch != begun:
                    begun = epoch
                    scheduled("epoch")
                x, y = batches[batch]
                at("batch")
                loss = loss_fn(model(x), y)
                if backward:
                    (loss * factor).backward()
                cut("batch")
                seen[epoch].append((loss.item(), len(x), number, factor))
                scheduled("batch")
            full = len(pairs) == window
            if stepped:
                if full or rest_without != "clip":
                    cut("window")
                for p in params:
                    if divided_late and p.grad is not None:
                        p.grad /= sum(every[batch] for _, batch in pairs)
                at("late")
                scheduled("before")
                for _ in range(steps):
                    optimizer.step()
                at("after")
                if full or rest_without != "schedule":
                    scheduled("window")
            if measured_late:
                for place, (epoch, batch) in enumerate(pairs, -len(pairs)):
                    x, y = batches[batch]
                    with torch.no_grad():
                        seen[epoch][place] = (loss_fn(model(x), y).item(), *seen[epoch][place][1:])
            if pairs[-1][1] == len(batches) - 1:
                if again == "always" or (again == "windows fit" and len(batches) % window == 0):
                    at("again")
                    cut("window")
                    optimizer.step()
                    scheduled("window")
                scheduled("epoch")
        return told(seen)

    return code


def _also_over_batches(plan: Plan = _cut, **how: Any) -> tuple[Code, Code]:
    """Both ways to tell the losses of such a training that a class hands in."""
    return _trained(plan, **how), _trained(plan, told=_over_batches, **how)


def _short(spec: shared.Spec) -> bool:
    return bool(len(spec["rows"]) % spec["window"] and spec["epochs"])


def _short_or_uneven(spec: shared.Spec) -> bool:
    return _short(spec) or _uneven(spec)


def _uneven(spec: shared.Spec) -> bool:
    return len(set(spec["rows"])) > 1 and bool(spec["epochs"])


def _clips(spec: shared.Spec) -> bool:
    return "max_norm" in spec and bool(spec["epochs"])


def _schedules(spec: shared.Spec) -> bool:
    return "scheduler" in spec and bool(spec["epochs"])


def _several(spec: shared.Spec) -> bool:
    return min(len(spec["rows"]), spec["window"]) > 1 and bool(spec["epochs"])


# ------------------------------------------------------------------ rules about how


def _together(
    model: nn.Module,
    optimizer: Optimizer,
    loss_fn: LossFn,
    batches: Sequence[Batch],
    window: int,
    epochs: int,
    scheduler: Scheduler | None = None,
    max_norm: float | None = None,
) -> object:
    def joined(pairs: Sequence[Batch]) -> Batch:
        return torch.cat([x for x, _ in pairs]), torch.cat([y for _, y in pairs])

    large = [joined(batches[first : first + window]) for first in range(0, len(batches), window)]
    return _trained()(model, optimizer, loss_fn, large, 1, epochs, scheduler, max_norm)


def _hooked(model: nn.Module, *rest: Any, **more: Any) -> object:
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda gradient: None)
    return _trained()(model, *rest, **more)


several_graphs_at_once = made_by(shared.several_graphs_at_once, _together)
hooks_left_behind = made_by(shared.hooks_left_behind, _hooked)


# ------------------------------------------------------------------ how much each batch counts


@mistake(
    "Each loss was divided by `window`",
    "The gradients are those of losses divided by window. A last, shorter window has fewer losses than that, and batches "
    "of different sizes count alike.",
    "How many rows does this very window hold, and which part of them is one batch?",
    "For windows that are full, and batches of one size, it is right.",
    also=(_trained(weigh=_by_window, told=_over_batches),),
)
def divided_by_window(*args: Any, **more: Any) -> object:
    return _trained(weigh=_by_window)(*args, **more)


@mistake(
    "The mean of the batches' means was taken",
    "Each batch of a window counts alike, whatever its number of rows.",
    "Each loss is a mean over its own rows. What is its share in the mean over all rows of the window?",
    "For batches of one size it is the same. A last, shorter window is weighed right.",
    where=_uneven,
    also=(_trained(weigh=_by_batches, told=_over_batches),),
)
def mean_of_means(*args: Any, **more: Any) -> object:
    return _trained(weigh=_by_batches)(*args, **more)


@mistake(
    "The gradients of a window were added up, not averaged",
    "The steps used the sum of the batches' gradients as they are.",
    ".grad adds. What is the share of one batch's loss in the mean over all rows of its window?",
    "With Adam, and wherever a gradient is clipped, it hardly shows.",
    where=_several,
    also=(_trained(weigh=_whole, told=_over_batches),),
)
def not_divided(*args: Any, **more: Any) -> object:
    return _trained(weigh=_whole)(*args, **more)


@mistake(
    "The gradients are those of sums over rows",
    "Each row counts alike, but nothing was divided by the number of rows in the window.",
    "By what is a sum over the rows of a window divided to become their mean?",
)
def summed_over_rows(*args: Any, **more: Any) -> object:
    return _trained(weigh=_times_rows)(*args, **more)


@mistake(
    "Weighed by rows, divided by a number of batches",
    "Each row of a window counts alike. But the sum over rows was divided by window, or by the window's number of batches.",
    "What is counted in the sum, rows or batches? The mean divides by the same.",
    also=(_trained(weigh=_rows_by_batches),),
)
def rows_over_batches(*args: Any, **more: Any) -> object:
    return _trained(weigh=_rows_by_window)(*args, **more)


@mistake(
    "Divided by the rows of the whole epoch",
    "Each loss counts with its rows, divided by those of all batches. A window's own share is smaller than the whole.",
    "Over which rows is the mean of one step taken?",
    "The epoch's loss is divided by that number.",
)
def rows_of_the_epoch(*args: Any, **more: Any) -> object:
    return _trained(weigh=_of_the_epoch)(*args, **more)


@mistake(
    "The means were divided by the rows of the window",
    "The sum of the losses was divided by the window's number of rows. But each is a mean over its own rows by then.",
    "Dividing by all rows is right for a sum over rows. How do you come from a batch's mean to its sum?",
)
def means_over_rows(*args: Any, **more: Any) -> object:
    return _trained(weigh=_means_by_rows)(*args, **more)


@mistake(
    "The size of one batch, or of one window, stands for all",
    "The number that divides was taken from the first batch or the first window, as if all of them were of one size.",
    "Where does each number of rows in your code come from, in each window?",
    "For batches of one size, and windows that are full, it is the same.",
    also=(
        _trained(weigh=_own_for_all),
        _trained(weigh=_first_for_all_windows),
        _trained(weigh=_own_for_all_windows),
        _trained(weigh=_first_windows_rows),
    ),
)
def one_size_for_all(*args: Any, **more: Any) -> object:
    return _trained(weigh=_first_for_all)(*args, **more)


# ------------------------------------------------------------------ which windows


@mistake(
    "What is left over gave no step",
    "The last, shorter window of an epoch gave no step, and its gradients were used by no other.",
    "Which condition leads to a step? What happens when the epoch ends before it is met?",
    "`if (i + 1) % window == 0` is in nearly every example of accumulation.",
    where=_short_or_uneven,
    also=(
        _trained(_rest_left_out),
        *_also_over_batches(_rest_without_step, weigh=_by_window),
    ),
)
def rest_dropped(*args: Any, **more: Any) -> object:
    return _trained(_rest_without_step)(*args, **more)


@mistake(
    "What is left over leaked into the next epoch",
    "The gradients left over at the end of an epoch were in the first step of the next one. What was left over in the "
    "end gave no step, or one of its own.",
    "Where is .grad when an epoch ends and the window is not full? A test of the batch's number alone does not see that "
    "end.",
    "Each line of it is in many examples: a step where (i + 1) % window is 0, and a clear after the step.",
    where=_short_or_uneven,
    also=(
        _trained(_closed_by_number_or_the_end),
        *_also_over_batches(_closed_by_number, weigh=_by_window),
        # weighed by the window that was meant, with what was left over before still in .grad
        *_also_over_batches(_rest_without_step, clear=("run", "after")),
        *_also_over_batches(_rest_without_step, clear=("run", "after"), weigh=_by_batches),
        # cleared after a step alone: what .grad held at the call was in the first one, too
        *_also_over_batches(_rest_without_step, clear=("after",)),
        *_also_over_batches(_rest_without_step, clear=("after",), weigh=_by_batches),
    ),
)
def rest_leaked(*args: Any, **more: Any) -> object:
    return _trained(_closed_by_number)(*args, **more)


@mistake(
    "Windows run on into the next epoch",
    "A window that was not full at the end of an epoch was filled with batches of the next one.",
    "What must become of a window that is not full when its epoch ends?",
    "A counter that nobody sets back does it.",
    where=_short_or_uneven,
    also=(
        _trained(_through_all_epochs_when_full),
        *_also_over_batches(_through_all_epochs_when_full, by_epoch=True),
        *_also_over_batches(_through_all_epochs, weigh=_by_window),
        *_also_over_batches(_through_all_epochs_when_full, weigh=_by_window),
    ),
)
def carried_over(*args: Any, **more: Any) -> object:
    return _trained(_through_all_epochs)(*args, **more)


@mistake(
    "Windows run on into the next epoch, and the scheduler is not stepped once after each step",
    "Two things at once. A window that was not full at the end of an epoch was filled with batches of the next one. And "
    "the scheduler's step came at another place than after each step of the optimizer, or nowhere.",
    "What must become of a window that is not full when its epoch ends? And how far is the scheduler's step indented?",
    also=tuple(
        _trained(plan, schedule=when)
        for plan in (_through_all_epochs, _through_all_epochs_when_full)
        for when in ("epoch", "batch", "never")
    )[1:],
)
def carried_over_and_scheduled_elsewhere(*args: Any, **more: Any) -> object:
    return _trained(_through_all_epochs, schedule="epoch")(*args, **more)


@mistake(
    "The first batch ended a window",
    "The first step of an epoch came after its first batch, and each later one after `window` more. What was left over "
    "gave a step of its own, went into the next epoch's first, or gave none.",
    "Put i = 0 into your condition, then i = window - 1. With which of them is a window full?",
    "Counting from 0 and from 1 differ by one batch.",
    where=_several,
    also=(
        *_also_over_batches(_closed_at_the_first, weigh=_by_window),
        *_also_over_batches(_closed_at_the_first, by_epoch=True),
        *_also_over_batches(_closed_at_the_first_and_the_end),
        *_also_over_batches(_closed_at_the_first_and_the_end, weigh=_by_window),
        *_also_over_batches(_closed_at_the_first_and_the_end, by_epoch=True),
    ),
)
def stepped_at_the_first(*args: Any, **more: Any) -> object:
    return _trained(_closed_at_the_first)(*args, **more)


@mistake(
    "One step too many at the end of an epoch",
    "When an epoch ended and every window of it had its step, one more came. Where .grad is None the optimizer moves "
    "nothing, but a scheduler goes on all the same.",
    "What is left over if the windows fit into the epoch? Ask for that before the step that comes after the loop.",
    "A step after the loop is right where something is left over.",
    also=(
        _trained(again="windows fit", clear=("window", "again"), zeros=True),
        _trained(again="windows fit"),
        _trained(again="always", clear=("window", "again")),
        _trained(again="always", clear=("window", "again"), zeros=True),
        _trained(again="always"),
    ),
)
def stepped_again_at_the_end(*args: Any, **more: Any) -> object:
    return _trained(again="windows fit", clear=("window", "again"))(*args, **more)


@mistake(
    "One step a batch",
    "Each batch gave a step of its own, whole or with its share of the window.",
    "How many steps does an epoch have? How far is the step indented?",
    "That is how most loops look, and it trains; it is another training.",
    where=_several,
    signs=(STEPS,),
)
def stepped_for_each_batch(*args: Any, **more: Any) -> object:
    return _trained(_each_alone)(*args, **more)


@mistake(
    "One step an epoch",
    "All batches of an epoch shared one step.",
    "How many windows does an epoch have? How far is the step indented?",
    signs=(STEPS,),
    also=(_trained(_epochs_whole, weigh=_by_window),),
)
def stepped_once_an_epoch(*args: Any, **more: Any) -> object:
    return _trained(_epochs_whole)(*args, **more)


@mistake(
    "Nothing moved",
    "No step was taken, or none found a gradient.",
    "Backward brings the gradient, the step uses it. Does either line miss its parentheses?",
    also=(_trained(clear=("window", "late")), _trained(backward=False)),
)
def nothing_moved(*args: Any, **more: Any) -> object:
    return _trained(steps=0)(*args, **more)


# ------------------------------------------------------------------ where it is cleared


@mistake(
    "Only the last batch of a window was used",
    "The other batches of the window went backward and left no trace in the step: .grad was emptied in each round.",
    "How often may .grad be emptied between two steps, and which of your loops turns that often?",
    "In a loop with one step a batch the clearing belongs there.",
    where=_several,
    signs=(BACKWARDS,),
    also=_also_over_batches(clear=("batch",), weigh=_by_window),
)
def cleared_for_each_batch(*args: Any, **more: Any) -> object:
    return _trained(clear=("batch",))(*args, **more)


@mistake(
    "Nothing was cleared",
    "Each step used the gradients of all windows up to its own, and of what .grad held before the call.",
    "Which line empties .grad, and does it run between one step and the next backward?",
    "Nothing raises, and the loss often falls all the same.",
    also=_also_over_batches(clear=(), weigh=_by_window),
)
def never_cleared(*args: Any, **more: Any) -> object:
    return _trained(clear=())(*args, **more)


@mistake(
    "Cleared once for all windows",
    "What .grad held before the call is gone, but each step used the gradients of all windows up to its own.",
    "How often does a window begin, and how often does the line run that clears?",
    also=(_trained(clear=("run",), weigh=_by_window, told=_over_batches),),
)
def cleared_once(*args: Any, **more: Any) -> object:
    return _trained(clear=("run",))(*args, **more)


@mistake(
    "Cleared once an epoch",
    "Each step used the gradients of all windows of its epoch up to its own.",
    "How often does a window begin, and how often does the line run that clears?",
    also=(_trained(clear=("epoch",), weigh=_by_window, told=_over_batches),),
)
def cleared_once_an_epoch(*args: Any, **more: Any) -> object:
    return _trained(clear=("epoch",))(*args, **more)


@mistake(
    "The first step used what .grad held before the call",
    "From the second window on .grad began empty. At the first it held what the caller had left there.",
    "Where may .grad be emptied so that the first window is served, too?",
    "Clearing after each step is as good as clearing before each window, if the first one begins clean.",
    also=(_trained(clear=("after",), weigh=_by_window, told=_over_batches),),
)
def first_step_on_old_gradients(*args: Any, **more: Any) -> object:
    return _trained(clear=("after",))(*args, **more)


@mistake(
    "A frozen weight moved by its old gradient",
    "The frozen weight held a gradient, kept it, and the steps moved it.",
    "What does the optimizer do with a .grad that nobody emptied? It does not ask who is frozen.",
    where=lambda spec: "frozen_holds" in spec,
)
def frozen_moved(*args: Any, **more: Any) -> object:
    return _trained(trainable_alone=True)(*args, **more)


@mistake(
    "A frozen weight moved by weight decay",
    "The frozen weight became smaller, as weight decay makes every parameter whose .grad is a tensor, if only of zeros.",
    "None is skipped by the optimizer, zeros are not. What should stand in .grad of a frozen parameter?",
    where=lambda spec: bool(spec["model"] == "frozen"),
)
def frozen_given_zeros(model: nn.Module, *rest: Any, **more: Any) -> object:
    for p in model.parameters():
        p.grad = torch.zeros_like(p, requires_grad=False)
    return _trained(zeros=True)(model, *rest, **more)


# ------------------------------------------------------------------ clipping


@mistake(
    "No step used a clipped gradient",
    "Where max_norm is given, the steps used the gradients as they were.",
    "What is max_norm for, and between which two lines does it belong?",
    where=_clips,
)
def not_clipped(*args: Any, **more: Any) -> object:
    return _trained(clip="never")(*args, **more)


@mistake(
    "Clipped after each batch",
    "What .grad held by then was clipped in each round of a window, and not the window's gradient alone.",
    "Which gradient has the norm that is asked about: a part of it, or that of the whole window?",
    "Where no part is longer than max_norm, it is the same.",
    where=_clips,
)
def clipped_for_each_batch(*args: Any, **more: Any) -> object:
    return _trained(clip="batch")(*args, **more)


@mistake(
    "Clipped before it was divided",
    "Where max_norm is given, the sum over the rows of a window was clipped, and divided by their number afterwards: where "
    "something was clipped, the step used a gradient whose norm is max_norm divided by the rows.",
    "Which gradient has the norm that is asked about: the sum over the rows, or their mean?",
    "Without max_norm it does not matter when one divides.",
    where=_clips,
)
def clipped_before_divided(*args: Any, **more: Any) -> object:
    return _trained(weigh=_times_rows, divided_late=True)(*args, **more)


@mistake(
    "The last, shorter window was not clipped",
    "Full windows were clipped. The step of what is left over at the end of an epoch used its gradient as it was.",
    "Does your code step in two places? What comes before the one, and what before the other?",
    where=_clips,
)
def rest_not_clipped(*args: Any, **more: Any) -> object:
    return _trained(rest_without="clip")(*args, **more)


@mistake(
    "Entries were clipped, not the norm",
    "Every entry of the gradient beyond max_norm was cut off there; the direction is another one.",
    "max_norm bounds the total norm. Which function of torch.nn.utils scales all gradients together?",
    where=_clips,
)
def clipped_by_value(*args: Any, **more: Any) -> object:
    return _trained(clipped=nn.utils.clip_grad_value_)(*args, **more)


def _one_by_one(params: Sequence[nn.Parameter], max_norm: float) -> None:
    for p in params:
        nn.utils.clip_grad_norm_([p], max_norm)


@mistake(
    "Each parameter was clipped by itself",
    "Each parameter's gradient was scaled down to max_norm by its own norm; the total norm is of all together.",
    "To which parameters does max_norm apply, each one or all at once?",
    where=_clips,
)
def clipped_one_by_one(*args: Any, **more: Any) -> object:
    return _trained(clipped=_one_by_one)(*args, **more)


def _first_group_clipped(model: nn.Module, optimizer: Optimizer, *rest: Any, **more: Any) -> object:
    def first(_: Sequence[nn.Parameter], max_norm: float) -> None:
        nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], max_norm)

    return _trained(clipped=first)(model, optimizer, *rest, **more)


@mistake(
    "Each group of parameters was clipped by itself, or one of them alone",
    "Where the optimizer has two groups, max_norm was held against the norm of a group. The total norm is that of all "
    "parameters of the model.",
    "To which parameters does max_norm apply, and where do you get all of them?",
    "Most optimizers have one group, and then it is the same.",
    where=lambda spec: _clips(spec) and bool(spec["optimizer"] == "groups"),
    also=(_first_group_clipped,),
)
def clipped_by_group(model: nn.Module, optimizer: Optimizer, *rest: Any, **more: Any) -> object:
    def by_group(_: Sequence[nn.Parameter], max_norm: float) -> None:
        for group in optimizer.param_groups:
            nn.utils.clip_grad_norm_(group["params"], max_norm)

    return _trained(clipped=by_group)(model, optimizer, *rest, **more)


@mistake(
    "Clipped without max_norm",
    "Where no max_norm is given, a gradient longer than 1 was scaled down to that norm.",
    "Without max_norm nothing is clipped. What does your code do where it is None?",
    where=lambda spec: "max_norm" not in spec,
)
def clipped_unasked(*args: Any, max_norm: float | None = None, **more: Any) -> object:
    return _trained()(*args, max_norm=1.0 if max_norm is None else max_norm, **more)


def _to_max_norm(params: Sequence[nn.Parameter], max_norm: float) -> None:
    held = [p.grad for p in params if p.grad is not None]
    norm = torch.stack([gradient.norm() for gradient in held]).norm()
    for gradient in held:
        gradient *= max_norm / norm


@mistake(
    "Short gradients were made longer",
    "Each gradient was scaled to max_norm, the shorter ones as well.",
    "What becomes of a gradient that is shorter than max_norm?",
    where=_clips,
)
def always_scaled(*args: Any, **more: Any) -> object:
    return _trained(clipped=_to_max_norm)(*args, **more)


# ------------------------------------------------------------------ the scheduler


@mistake(
    "The scheduler made no step",
    "Where a scheduler is given, the learning rate stayed as it was.",
    "What does the scheduler wait for?",
    where=_schedules,
)
def not_scheduled(*args: Any, **more: Any) -> object:
    return _trained(schedule="never")(*args, **more)


@mistake(
    "The scheduler made a step for each batch",
    "The learning rate moved on with every batch, and not once for each step of the optimizer.",
    "How many steps has the scheduler been told to expect: one a batch, or one a step of the optimizer?",
    where=_schedules,
)
def scheduled_for_each_batch(*args: Any, **more: Any) -> object:
    return _trained(schedule="batch")(*args, **more)


@mistake(
    "The scheduler made a step for each epoch",
    "The learning rate moved on once an epoch, and not once for each step of the optimizer.",
    "How far is the scheduler's step indented?",
    "Many schedulers are stepped once an epoch. This exercise says once a step.",
    where=_schedules,
)
def scheduled_for_each_epoch(*args: Any, **more: Any) -> object:
    return _trained(schedule="epoch")(*args, **more)


@mistake(
    "The scheduler made no step for the last, shorter window",
    "After full windows the learning rate moved on. After the step of what is left over at the end of an epoch it did not.",
    "Does your code step in two places? What comes after the one, and what after the other?",
    where=_schedules,
)
def rest_not_scheduled(*args: Any, **more: Any) -> object:
    return _trained(rest_without="schedule")(*args, **more)


@mistake(
    "The scheduler went ahead of the optimizer",
    "Each step of the optimizer used the learning rate that belongs to the step after it.",
    "Which of the two comes first?",
    where=_schedules,
)
def scheduled_before_the_step(*args: Any, **more: Any) -> object:
    return _trained(schedule="before")(*args, **more)


# ------------------------------------------------------------------ the mode


def _train_mode_put_back(model: nn.Module, *rest: Any, **more: Any) -> object:
    with modes_put_back(model):
        model.train()
        return _trained()(model, *rest, **more)


def _root_mode_put_back(model: nn.Module, *rest: Any, **more: Any) -> object:
    was = model.training
    model.train()
    told = _trained()(model, *rest, **more)
    model.train(was)
    return told


@mistake(
    "The model was put into train mode",
    "Where parts of the model came in eval mode, dropout drew and batch norm used each batch's own statistics: the "
    "update and the losses are those of train mode.",
    "The mode is the caller's choice: leave model.train() out.",
    "Most loops begin with model.train().",
    where=lambda spec: bool(spec["model"] == "part eval"),
    also=(_train_mode_put_back, _root_mode_put_back),
)
def put_into_train_mode(model: nn.Module, *rest: Any, **more: Any) -> object:
    model.train()
    return _trained()(model, *rest, **more)


# ------------------------------------------------------------------ what is returned


@mistake(
    "The mean over batches was returned",
    "What came back is the mean of the batches' losses: a batch of one row weighs as much in it as one of four.",
    "A batch's loss is a mean over its rows. For how many samples does it stand?",
    where=_uneven,
)
def mean_over_batches(*args: Any, **more: Any) -> object:
    return _trained(told=_over_batches)(*args, **more)


@mistake(
    "The mean over batches was returned, and the scheduler is not stepped once after each step",
    "Two things at once. What came back is the mean of the batches' losses: a batch of one row weighs as much in it as "
    "one of four. And the scheduler's step came at another place than after each step of the optimizer, or nowhere.",
    "For how many samples does a batch's loss stand? And how far is the scheduler's step indented?",
    where=_uneven,
    also=tuple(_trained(schedule=when, told=_over_batches) for when in ("batch", "before", "never")),
)
def batches_averaged_and_scheduled_elsewhere(*args: Any, **more: Any) -> object:
    return _trained(schedule="epoch", told=_over_batches)(*args, **more)


@mistake(
    "The mean over windows was returned",
    "What came back is the mean of the windows' losses: a last, shorter window weighs as much in it as a full one.",
    "For how many samples does a window stand?",
)
def mean_over_windows(*args: Any, **more: Any) -> object:
    return _trained(told=_over_windows)(*args, **more)


@mistake(
    "Losses were added up with their share of the window",
    "What came back for an epoch is a sum of the losses that went backward, each with its share "
    "of its window, or that sum divided by the number of batches.",
    "What goes backward is scaled for the step. Which number belongs into the report?",
    "One name holds both the loss and the scaled loss.",
    also=(_trained(told=_sums_of_windows_over_batches),),
)
def scaled_losses_summed(*args: Any, **more: Any) -> object:
    return _trained(told=_sums_of_windows)(*args, **more)


@mistake(
    "The losses were measured after the step",
    "Each batch's loss in what came back is that of the model after the step of its window.",
    "Backward needs the loss before the step. Which number do you have by then?",
    "After the step the losses look better.",
)
def measured_after_the_step(*args: Any, **more: Any) -> object:
    return _trained(measured_late=True)(*args, **more)


@mistake(
    "Sums were returned, or sums divided by something else",
    "What came back for an epoch is the sum of its batches' losses, as they are or times their "
    "rows, or the sum of the former divided by the number of samples.",
    "Asked is a mean over samples. How much does each batch count in it, and by what is the sum divided?",
    also=(_trained(told=_weighed_sums), _trained(told=_sums_over_samples)),
)
def sums_returned(*args: Any, **more: Any) -> object:
    return _trained(told=_sums)(*args, **more)


@mistake(
    "The losses of earlier epochs were counted, too",
    "The first entry of what came back is right. From the second epoch on an entry was made from the "
    "losses of all epochs so far.",
    "How often does an epoch begin, and how often does the line run that sets the sums to 0?",
    also=(_trained(told=_sums_so_far),),
)
def earlier_epochs_counted(*args: Any, **more: Any) -> object:
    return _trained(told=_epochs_so_far)(*args, **more)


@mistake(
    "The last batch's loss was returned",
    "What came back for each epoch is the loss of its last batch.",
    "After the loop the name still holds the last one. Where are the others added up?",
)
def loss_of_the_last_batch(*args: Any, **more: Any) -> object:
    return _trained(told=_last)(*args, **more)


@mistake(
    "One loss a window, or a batch, was returned",
    "What came back has an entry for each window or each batch; asked is one for each epoch.",
    "Add up within the epoch, and append once at its end.",
    also=(_trained(told=_each_batch),),
)
def losses_of_all_steps(*args: Any, **more: Any) -> object:
    return _trained(told=_each_window)(*args, **more)
