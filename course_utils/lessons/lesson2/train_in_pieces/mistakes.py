"""What is often done instead in exercise 2.7."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Literal

import torch
from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.checks.observe.spies import BACKWARDS
from course_utils.lessons.training import Batch, LossFn

Optimizer = torch.optim.Optimizer
Batches = Sequence[Batch]
Code = Callable[[nn.Module, Optimizer, LossFn, Batches, int], list[float]]


def _cut(batch: Batch, pieces: int) -> Iterator[Batch]:
    x, y = batch
    return zip(x.chunk(pieces), y.chunk(pieces), strict=True)


def _loop(
    *,
    before: bool = False,
    each_batch: bool = False,
    each_piece: bool = False,
    before_step: bool = False,
    after_step: bool = False,
    steps: Literal["batch", "piece", "end"] = "batch",
    divisor: Callable[[int, int], int] = lambda pieces, rows: 1,
    divided_told: bool = False,
    told: Callable[[list[float], int], list[float]] = lambda values, pieces: [sum(values)],
) -> Code:
    """The loop, clearing and stepping where it is said. Each piece's loss goes backward divided by the `divisor` of
    pieces and rows of the batch, and is returned so where `divided_told`; `told` makes of a batch's losses what is
    returned."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int) -> list[float]:
        def clear(here: bool) -> None:
            if here:
                optimizer.zero_grad()

        losses = []
        clear(before)
        for batch in batches:
            values = []
            clear(each_batch)
            for rows, wanted in _cut(batch, pieces):
                clear(each_piece)
                loss = loss_fn(model(rows), wanted)
                divided = loss / divisor(pieces, len(batch[0]))
                divided.backward()
                if steps == "piece":
                    optimizer.step()
                values.append((divided if divided_told else loss).item())
            clear(before_step)
            if steps == "batch":
                optimizer.step()
            clear(after_step)
            losses += told(values, pieces)
        if steps == "end":
            optimizer.step()
        return losses

    return code


# ------------------------------------------------------------------ where it is cleared


@mistake(
    "Cleared for every piece",
    "Each step used the gradient of the last piece of its batch. That is what a clearing before each piece's backward "
    "leaves: the pieces before it are thrown away. With one piece a batch nothing is wrong.",
    "How often should .grad be emptied between two steps, and which of the two loops turns that often?",
    "In a plain loop clearing, forward and backward stand together, once a step. Here backward runs several times a "
    "step.",
)
def cleared_for_each_piece(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    return _loop(each_piece=True)(model, optimizer, loss_fn, batches, pieces)


@mistake(
    "Nothing was cleared",
    "Each step used the gradients of its own batch, of all batches before it, and of what .grad held before the call.",
    "The picture of your loop: does the stack of passes ever come down?",
    "Nothing raises, and the loss often falls all the same.",
)
def never_cleared(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int) -> object:
    return _loop()(model, optimizer, loss_fn, batches, pieces)


@mistake(
    "Cleared once for all batches",
    "What .grad held before the call is gone, but each step used the gradients of all batches up to its own.",
    "A line before the outer loop runs once. How often does a batch begin?",
    "The line was one loop too deep; two levels out is one too many.",
)
def cleared_once_for_all_batches(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    return _loop(before=True)(model, optimizer, loss_fn, batches, pieces)


@mistake(
    "The first step used what .grad held before the call",
    "From the second batch on .grad began empty. At the first it held what the caller had left there.",
    "Where may .grad be emptied so that the first batch is served, too?",
    "Clearing after each step is as good as clearing before each batch, if the first one begins clean.",
)
def first_batch_on_old_gradients(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    return _loop(after_step=True)(model, optimizer, loss_fn, batches, pieces)


def _nothing_sent(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> list[float]:
    return [loss_fn(model(x), y).item() for x, y in batches]


@mistake(
    "The gradients were gone before the step",
    "Backward ran, and no parameter moved. That is what a clearing between the last backward and the step does.",
    "A step reads .grad. What runs between the last piece and the step?",
    "It is one line below the right place.",
    signs=(BACKWARDS,),
)
def cleared_before_the_step(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    return _loop(before_step=True)(model, optimizer, loss_fn, batches, pieces)


@mistake(
    "No backward ran",
    "The losses are right, no backward pass ran, and no parameter moved.",
    "What brings a gradient into .grad?",
    signs=(BACKWARDS,),
)
def nothing_trained(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int) -> object:
    return _nothing_sent(model, optimizer, loss_fn, batches, pieces)


# ------------------------------------------------------------------ how often it steps


def _by_pieces(pieces: int, rows: int) -> int:
    return pieces


def _by_rows(pieces: int, rows: int) -> int:
    return rows


_stepping = partial(_loop, steps="piece")
_stepping_divided = partial(_stepping, divisor=_by_pieces, divided_told=True)


@mistake(
    "One step for each piece",
    "Each piece got a step of its own, at weights that the piece before had moved.",
    "How many steps does the exercise ask for, one a piece or one a batch?",
    "Small batches with a step each train, too; they are another training.",
    also=(
        _stepping_divided(each_piece=True),
        *(
            code
            for make in (_stepping, _stepping_divided)
            for code in (
                make(each_batch=True),
                make(after_step=True),
                make(before=True, after_step=True),
                make(before=True),
                make(),
            )
        ),
    ),
)
def stepped_for_each_piece(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    return _stepping(each_piece=True)(model, optimizer, loss_fn, batches, pieces)


@mistake(
    "One step for all batches together",
    "All gradients were computed at the first weights and used in a single step at the end.",
    "How far is the line with the step indented?",
)
def stepped_once_in_all(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    return _loop(steps="end", before=True)(model, optimizer, loss_fn, batches, pieces)


# ------------------------------------------------------------------ what is summed


@mistake(
    "Divided by the number of pieces",
    "Each step used the gradient of the batch divided by the number of pieces.",
    "loss_fn returns a sum over rows. What is the sum of the sums of the pieces?",
    "With a loss that is a mean one has to divide: the mean of a batch is the mean of the means of equal pieces.",
    also=(_loop(each_batch=True, divisor=_by_pieces, divided_told=True),),
)
def divided_by_the_number_of_pieces(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    return _loop(each_batch=True, divisor=_by_pieces)(model, optimizer, loss_fn, batches, pieces)


@mistake(
    "Divided by the number of pieces, and the first step used old gradients",
    "Two things at once. Each piece's gradient was divided by the number of pieces. And where .grad held something "
    "before the call, the first step used that, too: from the second batch on it began empty.",
    "loss_fn returns a sum over rows: what is the sum of the sums of the pieces? And where may .grad be emptied so that "
    "the first batch is served, too?",
    "Many loops divide by the number of pieces and clear after the step. Theirs is a loss that is a mean, and a .grad "
    "that is empty at first.",
    also=(_loop(after_step=True, divisor=_by_pieces, divided_told=True),),
)
def divided_and_first_batch_on_old_gradients(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    return _loop(after_step=True, divisor=_by_pieces)(model, optimizer, loss_fn, batches, pieces)


@mistake(
    "Divided by the number of rows",
    "Each step used the gradient of the batch divided by the number of its rows: that of the mean, not of the sum.",
    "loss_fn returns a sum over rows, and the step is asked to use its gradient as it is.",
    "Most losses are means. This one is not.",
    also=(_loop(each_batch=True, divisor=_by_rows, divided_told=True),),
)
def divided_by_the_number_of_rows(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    return _loop(each_batch=True, divisor=_by_rows)(model, optimizer, loss_fn, batches, pieces)


@mistake(
    "Earlier pieces went backward again",
    "The parameters are those of a loop in which each piece's backward takes the pieces before it along once more: the "
    "first piece counts once for every piece.",
    "What goes backward in the inner loop: the loss of this piece, or a sum that grows?",
    "The sum of losses is wanted in the end, and backward of it is right, once.",
)
def earlier_pieces_counted_again(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        total = torch.zeros(())
        for rows, wanted in _cut(batch, pieces):
            total = total + loss_fn(model(rows), wanted)
            total.backward(retain_graph=True)
        optimizer.step()
        losses.append(total.item())
    return losses


@mistake(
    "The rows that the pieces do not divide were left out",
    "Where the number of rows is no multiple of the number of pieces, the last rows went through nothing.",
    "chunk makes the last piece shorter and loses no row.",
    "Floor division makes equal pieces.",
)
def rows_left_over(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int) -> object:
    whole = [(x[: len(x) - len(x) % pieces], y[: len(x) - len(x) % pieces]) for x, y in batches]
    return _loop(each_batch=True)(model, optimizer, loss_fn, whole, pieces)


# ------------------------------------------------------------------ what is returned


@mistake(
    "The loss of the last piece alone was returned",
    "The training is right. What came back is the loss of the last piece of each batch.",
    "Add the pieces' losses up, as numbers, before the step.",
)
def loss_of_the_last_piece(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    last = _loop(each_batch=True, told=lambda values, pieces: values[-1:])
    return last(model, optimizer, loss_fn, batches, pieces)


@mistake(
    "One loss a piece was returned",
    "The training is right. What came back has an entry for each piece; asked is one for each batch.",
    "Add the pieces' losses up, and append once a batch.",
)
def losses_of_all_pieces(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    return _loop(each_batch=True, told=lambda values, pieces: values)(model, optimizer, loss_fn, batches, pieces)


@mistake(
    "The mean of the pieces' losses was returned",
    "The training is right. What came back is the loss of each batch divided by the number of pieces.",
    "loss_fn returns a sum over rows. What is the loss of the whole batch?",
)
def mean_of_the_pieces_returned(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    told = _loop(each_batch=True, told=lambda values, pieces: [sum(values) / pieces])
    return told(model, optimizer, loss_fn, batches, pieces)


@mistake(
    "The losses add up from batch to batch",
    "The training is right. What came back for each batch is the sum of the losses of all batches up to it.",
    "Where does the total begin anew?",
    "It is the same slip as a forgotten clearing, in a number of your own.",
)
def total_never_reset(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int) -> object:
    return list(accumulate(_loop(each_batch=True)(model, optimizer, loss_fn, batches, pieces)))


@mistake(
    "The loss was measured after the step",
    "The training is right. What came back is each batch's loss at the weights that its own step has left.",
    "Take the loss that went backward, before the step.",
)
def loss_after_the_step(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, pieces: int
) -> object:
    losses = []
    for batch in batches:
        _loop(each_batch=True)(model, optimizer, loss_fn, [batch], pieces)
        with torch.no_grad():
            losses.append(loss_fn(model(batch[0]), batch[1]).item())
    return losses
