"""What is often done instead in exercise 6.2."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from torch import nn

from course_utils.checks.mistakes import made_by, mistake
from course_utils.lessons.lesson6 import mistakes as shared
from course_utils.lessons.lesson6.mistakes import alike, by_rows, each, on_rows, so_far
from course_utils.lessons.training import Batch, LossFn

_by_count = alike(lambda sizes: 1 / len(sizes))
_whole = alike(lambda sizes: 1.0)
_by_all_rows = alike(lambda sizes: 1 / sum(sizes))
_rows_by_count = each(lambda n, sizes: n / len(sizes))
_times_rows = each(lambda n, sizes: n)
_by_own_rows = each(lambda n, sizes: 1 / n)
_by_own_rows_and_count = each(lambda n, sizes: 1 / n / len(sizes))
_first_for_all = alike(lambda sizes: sizes[0] / sum(sizes))
_last_for_all = alike(lambda sizes: sizes[-1] / sum(sizes))
_largest_for_all = alike(lambda sizes: max(sizes) / sum(sizes))
_total_by_first = each(lambda n, sizes: n / (len(sizes) * sizes[0]))
_total_by_last = each(lambda n, sizes: n / (len(sizes) * sizes[-1]))
_total_by_largest = each(lambda n, sizes: n / (len(sizes) * max(sizes)))
_squared = each(lambda n, sizes: (n / sum(sizes)) ** 2)
_share_by_count = each(lambda n, sizes: n / sum(sizes) / len(sizes))
_upside_down = each(lambda n, sizes: sum(sizes) / n)
_upside_down_normed = each(lambda n, sizes: (1 / n) / sum(1 / m for m in sizes))
_LIKELY = (_by_count, _whole)

several_graphs_at_once = made_by(shared.several_graphs_at_once, on_rows(how=shared.together))
hooks_left_behind = made_by(shared.hooks_left_behind, on_rows(how=shared.hooked))


@mistake(
    "The mean of the means was taken",
    "Each micro-batch counts alike, whatever its size: a row of a small one counts more than a row of a large one.",
    "Each loss is a mean over its own rows. What is its share in the mean over all rows, where it has few of them?",
    "For micro-batches of one size the mean of the means is the mean.",
)
def mean_of_means(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_by_count)(model, loss_fn, micro_batches)


@mistake(
    "The micro-batches' losses were added up as they are",
    "The gradient is that of the sum of the means: nothing was divided, and each micro-batch counts alike, whatever its "
    "size.",
    "What is the share of one micro-batch's loss in the mean over all rows?",
    "backward() adds, and a sum is all it makes.",
)
def not_divided(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_whole)(model, loss_fn, micro_batches)


@mistake(
    "The gradient is that of the sum over all rows",
    "Each row counts alike, and the gradient has the right direction. It is too long by the number of all rows.",
    "Times the rows makes a sum of each mean. By what is the sum over all rows to be divided?",
)
def summed_over_rows(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_times_rows)(model, loss_fn, micro_batches)


@mistake(
    "Weighed by rows, divided by the number of micro-batches",
    "Each row counts alike. But the sum over rows was divided by the number of micro-batches.",
    "What is counted in the sum, rows or micro-batches? The mean divides by the same.",
    "The division by the number of micro-batches was right in 6.1.",
)
def rows_over_micro_batches(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_rows_by_count)(model, loss_fn, micro_batches)


@mistake(
    "The losses were divided by the number of all rows",
    "The sum of the losses was divided by the number of all rows. But each of them is a mean over its own rows by then, "
    "and counts once, whatever its size.",
    "Dividing by all rows is right for a sum over rows. How do you come from the mean over a micro-batch to its sum?",
)
def means_over_all_rows(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_by_all_rows)(model, loss_fn, micro_batches)


@mistake(
    "Divided by a micro-batch's own rows once more",
    "Each loss is a mean over its rows, and counts as if it had been divided by their number again: the smaller a "
    "micro-batch, the more it counts.",
    "loss_fn has divided by those rows. To come from the mean to the sum, which operation is it?",
    also=(on_rows(_by_own_rows_and_count), on_rows(_upside_down), on_rows(_upside_down_normed)),
)
def upside_down(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_by_own_rows)(model, loss_fn, micro_batches)


def _over_entries(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch], **how: Any) -> None:
    entries = sum(y.numel() for _, y in micro_batches)
    on_rows(each(lambda n, sizes: n / entries), **how)(model, loss_fn, micro_batches)


@mistake(
    "Divided by the number of all target entries",
    "Each row counts alike. But the sum over rows was divided by the number of the targets' entries: where they have two "
    "columns, that is twice the number of rows.",
    "What does numel() count, and over what is loss_fn a mean?",
    "Where the targets have one column, the two numbers are the same.",
)
def divided_by_target_entries(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    _over_entries(model, loss_fn, micro_batches)


@mistake(
    "One micro-batch's size stands for all",
    "The number of rows of one micro-batch, the first, the last or the largest, was taken for that of every one, as "
    "the weight of a loss or in the number of all rows.",
    "They are not all of one size. Where does each number of rows in your code come from, in each round?",
    "For micro-batches of one size it is the same. After a loop a name holds what the last round gave it.",
    also=tuple(map(on_rows, (_last_for_all, _largest_for_all, _total_by_first, _total_by_last, _total_by_largest))),
)
def one_size_for_all(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_first_for_all)(model, loss_fn, micro_batches)


@mistake(
    "Divided by the rows so far",
    "Each loss counts with its rows, divided by the number of rows up to its own micro-batch: the first one counts "
    "whole.",
    "The number of all rows is needed before the first backward. Where is it counted?",
    "One loop seems to be enough: count and go backward in the same round.",
)
def divided_by_the_rows_so_far(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(so_far)(model, loss_fn, micro_batches)


@mistake(
    "The share was applied twice",
    "Each loss counts with the square of its share, or with its share divided by the number of micro-batches.",
    "Write down all that one loss is multiplied by, before its backward and after it.",
    also=(on_rows(_squared),),
)
def weighed_twice(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_share_by_count)(model, loss_fn, micro_batches)


def _whole_ones(sizes: Sequence[int]) -> list[float]:
    return [n / sum(m for m in sizes if m >= sizes[0]) if n >= sizes[0] else 0.0 for n in sizes]


def _whole_ones_of_all(sizes: Sequence[int]) -> list[float]:
    return [n / sum(sizes) if n >= sizes[0] else 0.0 for n in sizes]


@mistake(
    "Smaller micro-batches were left out",
    "The micro-batches with fewer rows than the first did not count.",
    "Every row counts. What does your code do with a micro-batch that has fewer rows?",
    "Loaders can be told to drop the last, smaller batch. Here nothing says so.",
    also=(on_rows(_whole_ones_of_all),),
)
def smaller_ones_left_out(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_whole_ones)(model, loss_fn, micro_batches)


def _in_pieces(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch], *, over_all: bool = False) -> None:
    """Pieces of the smallest size; what is left over is dropped. The mean of the pieces, or over all rows."""
    size = min(len(x) for x, _ in micro_batches)
    pieces = [pair for x, y in micro_batches for pair in zip(x.split(size), y.split(size), strict=True)]
    whole = [(x, y) for x, y in pieces if len(x) == size]
    share = size / sum(len(x) for x, _ in micro_batches) if over_all else 1 / len(whole)
    on_rows(alike(lambda sizes: share))(model, loss_fn, whole)


@mistake(
    "Rows were left over",
    "Rows did not count: those that are left over when each micro-batch is cut into pieces as large as the smallest one.",
    "Every row counts. What does your code do with the rows that fill no whole piece?",
    "Where every size is a multiple of the smallest, nothing is left over.",
    also=(partial(_in_pieces, over_all=True),),
)
def rows_left_over(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    _in_pieces(model, loss_fn, micro_batches)


def _cut_to_the_smallest(
    model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch], *, over_all: bool = False
) -> None:
    size = min(len(x) for x, _ in micro_batches)
    share = size / sum(len(x) for x, _ in micro_batches) if over_all else 1 / len(micro_batches)
    on_rows(alike(lambda sizes: share))(model, loss_fn, [(x[:size], y[:size]) for x, y in micro_batches])


@mistake(
    "The micro-batches were cut to one size",
    "Of each micro-batch only as many rows counted, the first ones, as the smallest one has.",
    "Every row counts. What becomes of those that you cut off?",
    "After the cut the mean of the means is the mean, over the rows that are left.",
    also=(partial(_cut_to_the_smallest, over_all=True),),
)
def cut_to_the_smallest(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    _cut_to_the_smallest(model, loss_fn, micro_batches)


@mistake(
    "The shares were rounded",
    "Each loss counts with its share in the rows, rounded to two digits behind the point, or to one.",
    "A third is not 0.33. Which of your divisions, or functions, leaves digits out?",
    "Where the shares are whole per cents, nothing is lost.",
    also=(
        on_rows(each(lambda n, sizes: 100 * n // sum(sizes) / 100)),
        on_rows(each(lambda n, sizes: round(n / sum(sizes), 1))),
        on_rows(each(lambda n, sizes: 10 * n // sum(sizes) / 10)),
    ),
)
def shares_rounded(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(each(lambda n, sizes: round(n / sum(sizes), 2)))(model, loss_fn, micro_batches)


not_cleared = made_by(shared.not_cleared, on_rows(clear="never"))
old_gradients_scaled_in = made_by(
    shared.old_gradients_scaled_in,
    on_rows(clear="never", old=lambda sizes: 1 / sum(sizes)),
    on_rows(clear="never", old=lambda sizes: 1 / len(sizes)),
)
old_gradients_and_weights = made_by(
    shared.old_gradients_and_weights,
    *(on_rows(weigh, clear="never") for weigh in (*_LIKELY, _times_rows, _rows_by_count)),
    on_rows(_by_count, clear="never", old=lambda sizes: 1 / len(sizes)),
    partial(_over_entries, clear="never"),
)
cleared_in_each_round = made_by(
    shared.cleared_in_each_round, *(on_rows(weigh, clear="each") for weigh in (by_rows, *_LIKELY))
)
last_alone = made_by(shared.last_alone, *(on_rows(weigh, which=slice(-1, None)) for weigh in (by_rows, *_LIKELY)))
first_alone = made_by(shared.first_alone, *(on_rows(weigh, which=slice(1)) for weigh in (by_rows, *_LIKELY)))
assigned_not_added = made_by(
    shared.assigned_not_added, *(on_rows(weigh, how=shared.assigned) for weigh in (by_rows, *_LIKELY))
)
cleared_at_the_end = made_by(shared.cleared_at_the_end, on_rows(clear="after"))
nothing_sent = made_by(shared.nothing_sent, on_rows(which=slice(0)))
cancelled_not_cleared = made_by(shared.cancelled_not_cleared, on_rows(clear="times zero"))
unused_not_cleared = made_by(shared.unused_not_cleared, on_rows(clear="used alone"))
cleared_in_part = made_by(shared.cleared_in_part, on_rows(clear="weights alone"), on_rows(clear="biases alone"))
frozen_given_zeros = made_by(shared.frozen_given_zeros, on_rows(clear="zeros for all"))
counted_again = made_by(
    shared.counted_again, *(on_rows(shared.again_in_later_rounds(weigh)) for weigh in (by_rows, *_LIKELY))
)
scaled_in_each_round = made_by(
    shared.scaled_in_each_round,
    on_rows(shared.in_later_rounds(by_rows)),
    on_rows(shared.in_later_rounds(_by_count)),
    on_rows(shared.in_later_rounds(shared.by_rounds_so_far)),
    on_rows(shared.sums_in_later_rounds),
    on_rows(shared.sums_over_rows_so_far),
)
counted_twice_in_a_running_mean = made_by(
    shared.counted_twice_in_a_running_mean, on_rows(shared.counted_before_the_share)
)
mean_of_old_and_new = made_by(
    shared.mean_of_old_and_new, on_rows(shared.halved_in_each_round), on_rows(shared.halved_from_the_first)
)
predicted_in_eval_mode = made_by(shared.predicted_in_eval_mode, shared.in_eval_mode)
put_into_train_mode = made_by(shared.put_into_train_mode, shared.in_train_mode)
prediction_and_target_swapped = made_by(shared.prediction_and_target_swapped, shared.target_first)
