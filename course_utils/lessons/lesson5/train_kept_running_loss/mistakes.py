"""What is often done instead in exercise 5.7."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import made_by, mistake
from course_utils.lessons.lesson5 import mistakes as shared
from course_utils.lessons.lesson5.mistakes import Optimizer, emptied, loop, zeroed
from course_utils.lessons.training import Batch, LossFn

Batches = Sequence[Batch]

# ------------------------------------------------------------------ what each batch counts


def _again(divided: Callable[[Batches], float]) -> Callable[..., None]:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> None:
        for _ in range(epochs):
            optimizer.zero_grad()
            running: Any = 0.0
            for x, y in batches:
                running = running + loss_fn(model(x), y) / divided(batches)
                running.backward(retain_graph=True)
            optimizer.step()

    return code


@mistake(
    "Earlier batches went backward again",
    "The parameters are those of a loop in which each backward takes the batches before it along once more: of n batches "
    "the first one counts n times, the last one once, each divided by n.",
    "What goes backward in the inner loop, the loss of this batch or a sum that grows?",
    "The sum is wanted in the end, and its backward is right, once. That autograd asked for retain_graph was the sign.",
)
def earlier_batches_counted_again(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    _again(len)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "Earlier batches went backward again, and no mean was taken",
    "The parameters are those of a loop in which the first of n batches counts n times and the last one once; nothing is "
    "divided by n.",
    "What goes backward in the inner loop, the loss of this batch or a sum that grows? And what is its share of a mean?",
)
def counted_again_and_not_averaged(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    _again(lambda batches: 1)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The losses were summed, not averaged",
    "The parameters are those of steps on the sum of the batches' losses: that is the number of batches times too much.",
    ".grad adds. What share of the mean does one batch's loss have?",
    "With Adam it hardly shows: it divides by the size of the gradient.",
)
def summed_and_not_averaged(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    loop(epoch=emptied, step="epoch")(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The learning rate was divided in place of the gradient",
    "The parameters are those of steps on the sum of the batches' losses, at the learning rate divided by the number of "
    "batches. With weight decay, with Adam, or with momentum of before the call that is another step than the one asked for.",
    "What of a step does the learning rate scale beside the gradient? Give each loss its share of the mean, and leave the "
    "optimizer's settings as they are.",
    "With plain SGD it is the right step.",
)
def rate_divided(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> None:
    for group in optimizer.param_groups:
        group["lr"] /= len(batches)
    loop(epoch=emptied, step="epoch")(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "Divided by the number of batches twice",
    "The parameters are those of steps on the mean over the batches, divided by their number once more.",
    "Write down the weight of one batch's loss in what the step uses. How often does the number of batches stand in it?",
)
def divided_twice(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> None:
    twice = loop(epoch=emptied, step="epoch", divided=lambda batches: len(batches) ** 2)
    twice(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "Divided by the number of rows",
    "The parameters are those of steps on the sum of the batches' losses, divided by a number of rows: that of one batch, or "
    "that of all batches.",
    "loss_fn returns a mean over rows already. How many such means are added up?",
    "Where there are as many rows as batches the two numbers are the same.",
    also=(loop(epoch=emptied, step="epoch", divided=lambda batches: len(batches[0][0])),),
)
def divided_by_the_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> None:
    by_rows = loop(epoch=emptied, step="epoch", divided=lambda batches: sum(len(x) for x, _ in batches))
    by_rows(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The share of each batch is that of the batches so far",
    "The parameters are those of steps in which the first batch of an epoch counts whole, the second one half, the third one "
    "third: early batches still count more than late ones.",
    "Of how many batches is the mean that the step should use? Does the first one know that already?",
    "A running mean is right for the number that is printed. In .grad the earlier shares stay as they were added.",
)
def shares_of_a_running_mean(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    for _ in range(epochs):
        optimizer.zero_grad()
        for number, (x, y) in enumerate(batches, 1):
            torch.autograd.backward(loss_fn(model(x), y) / number)
        optimizer.step()


@mistake(
    "A running mean that halves what it has",
    "The parameters are those of steps on (mean + new) / 2, taken anew with each batch of the epoch: of n batches the last one "
    "counts a half, the one before it a quarter, and so on; the first two count the same.",
    "Write down the share of each batch after the third one. Which share has each in the mean of three?",
    "With two batches it is the mean.",
)
def halved_again_and_again(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    for _ in range(epochs):
        optimizer.zero_grad()
        for number, (x, y) in enumerate(batches):
            share = 0.5 ** min(len(batches) - number, len(batches) - 1)
            torch.autograd.backward(share * loss_fn(model(x), y))
        optimizer.step()


def _alone(which: int, divided: Callable[[Batches], float]) -> Callable[..., None]:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> None:
        factor = divided(batches)
        one = loop(epoch=emptied, step="epoch", divided=lambda batches: factor)
        one(model, optimizer, loss_fn, [batches[which]], epochs)

    return code


@mistake(
    "The last batch alone was used",
    "The parameters are those of steps that use the gradient of each epoch's last batch alone, whole or with its share "
    "of the mean. The other batches left no trace.",
    "Does something empty .grad between two batches? And how far is the backward indented?",
    also=(_alone(-1, lambda batches: 1),),
)
def the_last_batch_alone(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    _alone(-1, len)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The first batch alone was used",
    "The parameters are those of steps that use the gradient of each epoch's first batch alone, whole or with its share "
    "of the mean. The other batches left no trace.",
    "Does the inner loop turn more than once before the step?",
    also=(_alone(0, lambda batches: 1),),
)
def the_first_batch_alone(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    _alone(0, len)(model, optimizer, loss_fn, batches, epochs)


# ------------------------------------------------------------------ when it steps


@mistake(
    "One step a batch",
    "Each batch got a step of its own, with its own gradient, whole or with its share of the mean.",
    "How many steps does the exercise ask for, one a batch or one an epoch? How far is the step indented?",
    "That is how most loops look, and it trains; it is another training.",
    also=(loop(batch=emptied),),
)
def stepped_for_each_batch(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    loop(batch=emptied, divided=len)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "One step a batch, with what the epoch had gathered",
    "Each batch got a step, with the gradients, or their shares of the mean, of all batches of its epoch up to it.",
    "How many steps does the exercise ask for, one a batch or one an epoch? How far is the step indented?",
    "The clearing stands where it should. The step stands beside the backward, as in most loops.",
    also=(loop(epoch=emptied),),
)
def stepped_on_what_was_gathered(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    loop(epoch=emptied, divided=len)(model, optimizer, loss_fn, batches, epochs)


def _stepped_after_the_first(divided: Callable[[Batches], float]) -> Callable[..., None]:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> None:
        for _ in range(epochs):
            for number, (x, y) in enumerate(batches):
                torch.autograd.backward(loss_fn(model(x), y) / divided(batches))
                if number == 0:
                    optimizer.step()
                    optimizer.zero_grad()

    return code


@mistake(
    "The step of an epoch comes after its first batch",
    "The parameters are those of a loop that steps, and clears, right after the first batch of each epoch: the first step uses "
    "that batch alone, a later one also what the epoch before has left, and what the last epoch leaves is never used.",
    "For which numbers of the batch is the condition of the step true? Numbers begin at 0.",
    "With one batch the first one is the last one.",
    also=(_stepped_after_the_first(lambda batches: 1),),
)
def stepped_after_the_first_batch(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    _stepped_after_the_first(len)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "One step for all epochs together",
    "All gradients were computed at the first weights and used in a single step at the end.",
    "How far is the line with the step indented?",
)
def stepped_once_in_all(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> None:
    loop(step="call", divided=len)(model, optimizer, loss_fn, batches, epochs)


# ------------------------------------------------------------------ as in any loop

never_cleared = made_by(shared.never_cleared, loop(step="epoch", divided=len))
cleared_before_the_step = made_by(shared.cleared_before_the_step, loop(late=emptied, step="epoch", divided=len))
zeros_before_the_step = made_by(shared.zeros_before_the_step, loop(late=zeroed, step="epoch", divided=len))
never_stepped = made_by(shared.never_stepped, loop(epoch=emptied, step=None))
memory_lost = made_by(shared.memory_lost, *shared.forgetting(epoch=emptied, step="epoch", divided=len))
put_into_train_mode = made_by(
    shared.put_into_train_mode, *shared.in_train_mode(loop(epoch=emptied, step="epoch", divided=len))
)

hooks_left_behind = made_by(shared.hooks_left_behind, shared.hooked(loop(epoch=emptied, step="epoch", divided=len)))
