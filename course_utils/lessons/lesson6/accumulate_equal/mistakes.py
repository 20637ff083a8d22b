"""What is often done instead in exercise 6.1."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from course_utils.checks.mistakes import made_by, mistake
from course_utils.lessons.lesson6 import mistakes as shared
from course_utils.lessons.lesson6.mistakes import alike, by_rows, in_later_rounds, on_rows
from course_utils.lessons.training import Batch, LossFn

_whole = alike(lambda sizes: 1.0)
_twice = alike(lambda sizes: 1 / len(sizes) ** 2)
_by_own_rows = alike(lambda sizes: 1 / sizes[0])
_by_all_rows = alike(lambda sizes: 1 / sum(sizes))
_times_rows = alike(lambda sizes: sizes[0])
_WRONG = (_whole, _twice, _by_own_rows, _by_all_rows, _times_rows)

several_graphs_at_once = made_by(shared.several_graphs_at_once, on_rows(how=shared.together))
hooks_left_behind = made_by(shared.hooks_left_behind, on_rows(how=shared.hooked))


@mistake(
    "The gradients were added up, not averaged",
    "The gradient has the right direction and is too long: as many times as there are micro-batches. It is that of the "
    "sum of their losses.",
    "The loss of the large batch is a mean over its rows. What share of it does one micro-batch's loss have?",
    "backward() adds, and a sum is all it makes. With Adam the factor hardly shows.",
)
def not_divided(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_whole)(model, loss_fn, micro_batches)


@mistake(
    "Divided by the rows of a micro-batch",
    "The gradient has the right direction. Each loss counts as if divided by the number of rows in its micro-batch.",
    "loss_fn has divided by those rows already. Of how many losses is the mean still to be taken?",
    "Where there are as many micro-batches as rows in each, it is the same.",
)
def divided_by_rows(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_by_own_rows)(model, loss_fn, micro_batches)


@mistake(
    "The losses were divided by the number of all rows",
    "The gradient has the right direction. The sum of the micro-batches' losses was divided by the number of all rows, "
    "and each of these losses is a mean over its own rows before that.",
    "How often is divided by the rows of a micro-batch, once in loss_fn and where again?",
)
def divided_by_all_rows(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_by_all_rows)(model, loss_fn, micro_batches)


@mistake(
    "Divided by the number of micro-batches twice",
    "The gradient has the right direction, and is too short by the number of micro-batches.",
    "Write down what one micro-batch's loss is multiplied by, in the loop and after it.",
)
def divided_twice(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_twice)(model, loss_fn, micro_batches)


@mistake(
    "The gradient is that of the sum over all rows",
    "The gradient has the right direction, and is too long by the number of all rows.",
    "Times the rows is a good beginning: it makes a sum of each mean. What does the mean over all rows need besides?",
)
def summed_over_rows(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    on_rows(_times_rows)(model, loss_fn, micro_batches)


not_cleared = made_by(shared.not_cleared, on_rows(clear="never"))
old_gradients_scaled_in = made_by(
    shared.old_gradients_scaled_in,
    on_rows(clear="never", old=lambda sizes: 1 / len(sizes)),
    on_rows(clear="never", old=lambda sizes: 1 / sum(sizes)),
)
old_gradients_and_weights = made_by(
    shared.old_gradients_and_weights, *(on_rows(weigh, clear="never") for weigh in _WRONG)
)
cleared_in_each_round = made_by(
    shared.cleared_in_each_round,
    *(on_rows(weigh, clear="each") for weigh in (by_rows, _whole)),
)
last_alone = made_by(shared.last_alone, *(on_rows(weigh, which=slice(-1, None)) for weigh in (by_rows, _whole)))
first_alone = made_by(shared.first_alone, *(on_rows(weigh, which=slice(1)) for weigh in (by_rows, _whole)))
assigned_not_added = made_by(
    shared.assigned_not_added, *(on_rows(weigh, how=shared.assigned) for weigh in (by_rows, _whole))
)
cleared_at_the_end = made_by(shared.cleared_at_the_end, on_rows(clear="after"))
nothing_sent = made_by(shared.nothing_sent, on_rows(which=slice(0)))
cancelled_not_cleared = made_by(shared.cancelled_not_cleared, on_rows(clear="times zero"))
unused_not_cleared = made_by(shared.unused_not_cleared, on_rows(clear="used alone"))
cleared_in_part = made_by(shared.cleared_in_part, on_rows(clear="weights alone"), on_rows(clear="biases alone"))
frozen_given_zeros = made_by(shared.frozen_given_zeros, on_rows(clear="zeros for all"))
counted_again = made_by(
    shared.counted_again, *(on_rows(shared.again_in_later_rounds(weigh)) for weigh in (by_rows, _whole))
)
scaled_in_each_round = made_by(
    shared.scaled_in_each_round, *(on_rows(in_later_rounds(by)) for by in (by_rows, shared.by_rounds_so_far))
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
