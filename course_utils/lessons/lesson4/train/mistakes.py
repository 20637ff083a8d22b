"""What is often done instead in exercise 4.2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import made_by, mistake
from course_utils.checks.observe.spies import BACKWARDS
from course_utils.lessons.lesson4 import mistakes as shared
from course_utils.lessons.lesson4.mistakes import Epoch, Optimizer, assigned, descended, trained, without_ones
from course_utils.lessons.lesson4.steps import HELD, LEFT, STEPS
from course_utils.lessons.lesson4.train.task import ORDER
from course_utils.lessons.training import Batch, LossFn, modes_put_back

T = torch.Tensor
Batches = Sequence[Batch]
Code = Callable[[nn.Module, Optimizer, LossFn, Batches, int], object]
Told = Callable[[list[Epoch]], object]


# ------------------------------------------------------------------ from the losses of a run to what is returned


def _over_samples(found: list[Epoch]) -> list[float]:
    return [sum(loss * rows for loss, rows in epoch) / sum(rows for _, rows in epoch) for epoch in found]


def _over_batches(found: list[Epoch]) -> list[float]:
    return [sum(loss for loss, _ in epoch) / len(epoch) for epoch in found]


def _summed(found: list[Epoch]) -> list[float]:
    return [sum(loss for loss, _ in epoch) for epoch in found]


def _last(found: list[Epoch]) -> list[float]:
    return [epoch[-1][0] for epoch in found]


def _every(found: list[Epoch]) -> list[float]:
    return [loss for epoch in found for loss, _ in epoch]


def _weighed_sum(found: list[Epoch]) -> list[float]:
    return [sum(loss * rows for loss, rows in epoch) for epoch in found]


def _sum_over_samples(found: list[Epoch]) -> list[float]:
    return [sum(loss for loss, _ in epoch) / sum(rows for _, rows in epoch) for epoch in found]


def _weighed_over_batches(found: list[Epoch]) -> list[float]:
    return [sum(loss * rows for loss, rows in epoch) / len(epoch) for epoch in found]


def _by_the_first_times_batches(found: list[Epoch]) -> list[float]:
    return [sum(a * n for a, n in epoch) / (len(epoch) * epoch[0][1]) for epoch in found]


def _by_the_last_times_batches(found: list[Epoch]) -> list[float]:
    return [sum(a * n for a, n in epoch) / (len(epoch) * epoch[-1][1]) for epoch in found]


def _run(told: Told = _over_samples, **how: Any) -> Code:
    """A run that does as `how` says, see `trained`, and returns what `told` makes of its losses."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        return told(trained(model, optimizer, loss_fn, batches, epochs, **how))

    return code


def _by_batches(**how: Any) -> Code:
    """The same training with the most usual return that is wrong."""
    return _run(_over_batches, **how)


# ------------------------------------------------------------------ how often it clears


@mistake(
    "Nothing was cleared",
    "Each step used the gradients of its own batch, of all the batches before it, and what .grad held before the call.",
    "Which line empties .grad, and how often does it run?",
    "Nothing raises, and the loss often falls all the same.",
    also=(_by_batches(clear=()),),
)
def nothing_cleared(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(clear=())(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "Cleared once for the whole run",
    "What .grad held before the call is gone, but each step used the gradients of all the batches up to its own, over "
    "all epochs.",
    "A line before both loops runs once. How many steps are there?",
    also=(_by_batches(clear=("run",)),),
)
def cleared_once(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(clear=("run",))(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "Cleared once an epoch",
    "Each step used the gradients of all the batches of its epoch up to its own.",
    "How often does a step begin? The clearing belongs into the loop that turns that often.",
    "It stands in a loop already. That loop is one level too far out.",
    also=(
        _by_batches(clear=("epoch",)),
        _run(clear=("after epoch",)),
        _by_batches(clear=("after epoch",)),
    ),
)
def cleared_once_an_epoch(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _run(clear=("epoch",))(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The first step used what .grad held before the call",
    "From the second step on .grad began empty. At the first it held what the caller had left there.",
    "Clearing after each step serves the next batch. Who serves the first?",
    "In a run that begins on an empty .grad, clearing after each step is right.",
    also=(_by_batches(clear=("after step",)),),
)
def first_step_on_old_gradients(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _run(clear=("after step",))(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "No gradient was there at the steps",
    "Backward ran, but when the steps began .grad of the model held no gradient: only None, or zeros. On None nothing "
    "moves; on zeros, weight decay and the optimizer's memory of earlier steps still move the parameters.",
    "What runs between backward and step? If nothing does, did the loss come from this model's own parameters?",
    "Diagrams can be found that put zero_grad there. What it empties is what the step was to read.",
    also=(
        _by_batches(clear=("before step",)),
        _run(clear=("before step",), zeros=True),
        _by_batches(clear=("before step",), zeros=True),
    ),
    signs=(BACKWARDS, HELD, LEFT),
)
def cleared_before_the_step(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _run(clear=("before step",))(model, optimizer, loss_fn, batches, epochs)


# ------------------------------------------------------------------ the order, and how often it steps


def _late(clear_after: bool, told: Told) -> Code:
    """Each round steps on what the round before has left, then goes backward."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        found: list[Epoch] = []
        for _ in range(epochs):
            losses: Epoch = []
            for x, y in batches:
                if not clear_after:
                    optimizer.zero_grad()
                optimizer.step()
                if clear_after:
                    optimizer.zero_grad()
                loss = loss_fn(model(x), y)
                loss.backward()
                losses.append((loss.item(), len(x)))
            found.append(losses)
        return told(found)

    return code


@mistake(
    "Each step came before its batch's backward",
    "No step used the gradient of its own batch: each ran on what .grad held before its batch's backward, and the "
    "last batch's gradient was used by none.",
    "A step reads .grad, and backward writes it. Which of the two comes first in a round?",
    also=(_late(True, _over_samples), _late(True, _over_batches), _late(False, _over_batches)),
    signs=(BACKWARDS, HELD, LEFT),
)
def stepped_before_backward(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _late(False, _over_samples)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "No backward wrote into .grad",
    "No backward pass wrote a gradient into .grad, so no step could use one.",
    "Which line brings a batch's gradient into .grad?",
    also=(
        _run(backwards=0, clear=()),
        _run(backwards=0, zeros=True),
        _by_batches(backwards=0),
        _by_batches(backwards=0, clear=()),
    ),
    signs=(BACKWARDS, STEPS),
)
def no_backward(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(backwards=0)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "No step was taken",
    "No parameter moved, and optimizer.step() was never called: every loss is that of the weights the model came with.",
    "What moves the parameters? Does that line stand there, with its parentheses?",
    also=(_by_batches(steps=0),),
    signs=(STEPS,),
)
def no_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(steps=0)(model, optimizer, loss_fn, batches, epochs)


def _an_epochs_mean(told: Told = _over_samples) -> Code:
    """One step an epoch on the mean of its batches' gradients."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        share = {"factor": lambda _: 1 / len(batches)}
        return told(trained(model, optimizer, loss_fn, batches, epochs, clear=("epoch",), each="epoch", **share))  # type: ignore[arg-type]

    return code


def _an_epochs_batch(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    """One step an epoch on the mean over its samples."""
    total = sum(len(x) for x, _ in batches)
    how: dict[str, Any] = {"clear": ("epoch",), "each": "epoch", "factor": lambda rows: rows / total}
    return _over_samples(trained(model, optimizer, loss_fn, batches, epochs, **how))


@mistake(
    "One step an epoch",
    "optimizer.step() was called once in each epoch.",
    "Every batch gives a step. Does that line stand in a loop that takes the batches one by one?",
    also=(
        _by_batches(clear=("epoch",), each="epoch"),
        _run(clear=("batch",), each="epoch"),
        _by_batches(clear=("batch",), each="epoch"),
        _run(clear=("after epoch",), each="epoch"),
        _run(clear=(), each="epoch"),
        _an_epochs_mean(),
        _an_epochs_mean(_over_batches),
        _an_epochs_batch,
    ),
    signs=(STEPS,),
)
def stepped_once_an_epoch(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _run(clear=("epoch",), each="epoch")(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "One step in all",
    "optimizer.step() was called once, after all epochs: every loss is that of the weights the model came with.",
    "How far is the line with the step indented? Every batch gives a step.",
    also=(
        _run(clear=("epoch",), each="run"),
        _run(clear=("run",), each="run"),
        _by_batches(clear=("batch",), each="run"),
    ),
    signs=(STEPS,),
)
def stepped_once_in_all(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _run(each="run")(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "Two steps a batch",
    "optimizer.step() was called twice for each batch.",
    "Which line runs a second time?",
    also=(_by_batches(steps=2),),
    signs=(STEPS,),
)
def two_steps(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(steps=2)(model, optimizer, loss_fn, batches, epochs)


def _first_epoch_alone(told: Told) -> Code:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        found = trained(model, optimizer, loss_fn, batches, min(epochs, 1))
        return told(found) if epochs else None

    return code


def _one_whatever(told: Told) -> Code:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        return told(trained(model, optimizer, loss_fn, batches, 1))

    return code


@mistake(
    "The run ended after its first epoch",
    "Only one epoch was trained.",
    "Is there a loop over the epochs, and where does the return stand? One that is indented into the loop ends it in its "
    "first round.",
    also=(
        _first_epoch_alone(_over_batches),
        *(_one_whatever(told) for told in (_over_samples, _every, _over_batches)),
    ),
    signs=(STEPS,),
)
def one_epoch_alone(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _first_epoch_alone(_over_samples)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The batches were used up in the first epoch",
    "The first epoch was trained. In the others no batch came, and a 0 came back for each.",
    "What does the inner loop walk through: the list, or something made of it once, such as iter() or zip() before the "
    "outer loop?",
    "An iterator can be walked through once, a list as often as one likes.",
    signs=(STEPS,),
)
def batches_used_up(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    first = _over_samples(trained(model, optimizer, loss_fn, batches, min(epochs, 1)))
    return first + [0.0] * (epochs - 1)


@mistake(
    "The run ended after its first batch",
    "Only one step was taken, on the first batch.",
    "Where does the return stand? One that is indented into a loop ends it in its first round.",
    also=(
        lambda model, optimizer, loss_fn, batches, epochs: (
            trained(model, optimizer, loss_fn, batches[:1])[0][0][0] if epochs else None
        ),
        lambda model, optimizer, loss_fn, batches, epochs: (
            [trained(model, optimizer, loss_fn, batches[:1])[0][0][0] / sum(len(x) for x, _ in batches)]
            if epochs
            else None
        ),
    ),
    signs=(STEPS,),
)
def one_batch_alone(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _first_epoch_alone(_over_samples)(model, optimizer, loss_fn, batches[:1], epochs)


def _repeated(told: Told) -> Code:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        by_batch = [trained(model, optimizer, loss_fn, [batch] * epochs)[0] for batch in batches]
        return told([[losses[epoch] for losses in by_batch] for epoch in range(epochs)])

    return code


@mistake(
    "Each batch was trained on in all epochs before the next one came",
    "The parameters are those of a run that goes through the first batch `epochs` times, then through the second, and "
    "so on.",
    "An epoch is one passage through all the batches. Which of the two loops is the outer one?",
    also=(_repeated(_over_batches),),
)
def loops_the_other_way_round(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _repeated(_over_samples)(model, optimizer, loss_fn, batches, epochs)


def _in_order(order: Callable[[Batches], Batches]) -> Code:
    return lambda model, optimizer, loss_fn, batches, epochs: _run()(model, optimizer, loss_fn, order(batches), epochs)


@mistake(
    "The batches came in another order",
    "Each step used the gradient of one batch, and the batches were not taken in the order of the list.",
    "In each epoch the first entry of batches comes first. Which line gives them another order?",
    "With shuffled data the order is left to chance. Here it is the caller's.",
    also=(
        _in_order(lambda batches: sorted(batches, key=lambda batch: len(batch[0]))),
        _in_order(lambda batches: sorted(batches, key=lambda batch: -len(batch[0]))),
    ),
    signs=(ORDER,),
)
def batches_in_another_order(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _in_order(lambda given: given[::-1])(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The optimizer that was handed over took no step",
    "Each parameter moved by the learning rate times its gradient, as plain SGD moves it. The other optimizers do more.",
    "Who knows what the optimizer does with a gradient? Let it take the step.",
    signs=(STEPS,),
)
def moved_as_plain_sgd(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    found: list[Epoch] = []
    for _ in range(epochs):
        found.append([])
        for batch in batches:
            found[-1] += trained(model, optimizer, loss_fn, [batch], steps=0)[0]
            descended(optimizer)
    return _over_samples(found)


# ------------------------------------------------------------------ which gradient


@mistake(
    "The gradient of a sum over the rows",
    "Each step used its batch's gradient times the number of its rows: that of the sum of the rows' losses, not of the "
    "mean.",
    "The product of loss and rows belongs into the number that is returned, not into what goes backward.",
    "Both need the loss, and one line can serve only one of them.",
    # A loss that has the rows in it already is often added up as it is, and divided by one count or another.
    also=tuple(
        _run(told, factor=lambda rows: rows)
        for told in (
            _over_batches,
            _weighed_sum,
            _weighed_over_batches,
            _by_the_first_times_batches,
            _by_the_last_times_batches,
        )
    ),
)
def summed_over_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(factor=lambda rows: rows)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "Divided by the number of rows once more",
    "Each step used its batch's gradient divided by the number of its rows.",
    "loss_fn returns a mean. Over what has it divided already?",
    also=(_by_batches(factor=lambda rows: 1 / rows),),
)
def divided_by_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(factor=lambda rows: 1 / rows)(model, optimizer, loss_fn, batches, epochs)


def _share_of_an_epoch(told: Told) -> Code:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        return told(trained(model, optimizer, loss_fn, batches, epochs, factor=lambda _: 1 / len(batches)))

    return code


@mistake(
    "Divided by the number of batches",
    "Each step used its batch's gradient divided by the number of batches.",
    "Each batch gives a step with the whole of its own gradient. What is divided by the number of batches, and why?",
    "It is right where several batches share one step.",
    also=(_share_of_an_epoch(_over_batches),),
)
def divided_by_batches(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _share_of_an_epoch(_over_samples)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "Prediction and target changed places",
    "Losses and updates are those of loss_fn(y, prediction). The squared error is the same both ways; other losses are "
    "not.",
    "In which order does loss_fn take its two arguments?",
)
def arguments_swapped(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run()(model, optimizer, lambda prediction, target: loss_fn(target, prediction), batches, epochs)


def _squeezed(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run()(model, optimizer, without_ones(loss_fn), batches, epochs)


dimension_lost = made_by(shared.dimension_lost, _squeezed)


def _weighed(share_of: Callable[[Batches], float], told: Told = _over_samples) -> Code:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        whole = share_of(batches)
        return told(trained(model, optimizer, loss_fn, batches, epochs, factor=lambda rows: rows / whole))

    return code


def _all_rows(batches: Batches) -> float:
    return sum(len(x) for x, _ in batches)


def _mean_rows(batches: Batches) -> float:
    return _all_rows(batches) / len(batches)


@mistake(
    "The batches were weighed in the gradient, too",
    "Each step used its batch's gradient times its rows over those of an epoch, or of a batch on average.",
    "In the mean that is returned a batch weighs as much as it has rows. Each step uses the gradient of its batch's own "
    "mean loss as it is.",
    "Where batches share a step, such a factor makes it the gradient of all their samples.",
    also=(_weighed(_all_rows, _over_batches), _weighed(_mean_rows), _weighed(_mean_rows, _over_batches)),
)
def weighed_in_the_gradient(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _weighed(_all_rows)(model, optimizer, loss_fn, batches, epochs)


def _put_back(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    with modes_put_back(model):
        return put_into_train_mode.forms[0](model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The model was put into train mode",
    "Where the model came in eval mode, its dropout drew and its batch norm used each batch's own statistics: losses "
    "and update are those of train mode.",
    "The mode is the caller's choice: leave model.train() out.",
    "Most loops begin with model.train().",
    also=(_put_back,),
)
def put_into_train_mode(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    model.train()
    return _run()(model, optimizer, loss_fn, batches, epochs)


def _in_eval_mode(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    with modes_put_back(model):
        return put_into_eval_mode.forms[0](model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The model was put into eval mode",
    "Where the model behaves otherwise in eval mode, losses and update are those of eval mode.",
    "The mode is the caller's choice: leave model.eval() out.",
    also=(_in_eval_mode,),
)
def put_into_eval_mode(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    model.eval()
    return _run()(model, optimizer, loss_fn, batches, epochs)


def _frozen_in_the_first_step(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    for p in model.parameters():
        if p.requires_grad:
            p.grad = None
    return _run(clear=("after step",))(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "A frozen weight moved by its old gradient",
    "The frozen weight held a gradient from before. It was still there at the first step, and moved the weight.",
    "requires_grad=False stops backward, not the optimizer: it steps on any .grad that it finds. Empty that one, too.",
    also=(_frozen_in_the_first_step,),
)
def frozen_moved(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    found: list[Epoch] = []
    for _ in range(epochs):
        found.append([])
        for batch in batches:
            for p in model.parameters():
                if p.requires_grad:
                    p.grad = None
            found[-1] += trained(model, optimizer, loss_fn, [batch], clear=())[0]
    return _over_samples(found)


def _off_by(more: int) -> Code:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        return _run()(model, optimizer, loss_fn, batches, max(epochs + more, 0))

    return code


@mistake(
    "One epoch too few or too many",
    "The run has one epoch less, or one more, than was asked for.",
    "What does range(1, epochs) count, and what range(epochs + 1)?",
    also=(_off_by(1),),
    signs=(STEPS,),
)
def epochs_off_by_one(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _off_by(-1)(model, optimizer, loss_fn, batches, epochs)


def _stopped(enough: Callable[[list[float]], bool]) -> Code:
    """A run that ends where its losses so far are `enough`."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        found: list[Epoch] = []
        while len(found) < epochs and not enough(_over_samples(found)):
            found += trained(model, optimizer, loss_fn, batches)
        return _over_samples(found)

    return code


@mistake(
    "The run ended before its last epoch",
    "Where the loss of an epoch hardly changed, rose or was small, fewer epochs were trained than asked for.",
    "Every epoch is asked for, whatever the loss does. Which condition ends the loop?",
    "Early stopping stands in many programs, and is another decision than the loop.",
    also=(
        _stopped(lambda losses: losses[-2:] != sorted(losses[-2:], reverse=True)),
        _stopped(lambda losses: len(losses) > 1 and losses[-1] > 0.999 * losses[-2]),
        _stopped(lambda losses: bool(losses) and losses[-1] < 1e-3),
    ),
    signs=(STEPS,),
)
def stopped_early(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    hardly = _stopped(lambda losses: len(losses) > 1 and abs(losses[-1] - losses[-2]) < 1e-3)
    return hardly(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The weights of the best epoch were put back",
    "The losses are right. The parameters are those of the end of an earlier epoch, the one with the smallest loss.",
    "Afterwards they are where the last step puts them. Which line brings others back?",
    "Where the loss falls from epoch to epoch the best weights are the last ones.",
    signs=(STEPS,),
)
def best_weights_put_back(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    losses: list[float] = []
    best: list[T] = []
    for _ in range(epochs):
        losses += _over_samples(trained(model, optimizer, loss_fn, batches))
        if losses[-1] <= min(losses):
            best = [p.detach().clone() for p in model.parameters()]
    with torch.no_grad():
        for p, kept in zip(model.parameters(), best, strict=bool(best)):
            p.copy_(kept)
    return losses


@mistake(
    "A smaller batch was left out",
    "Batches with fewer rows than others gave no step and no loss.",
    "Every batch gives a step. What does your code do with one that has fewer rows?",
    "Loaders can be told to drop the last, smaller batch. Here nothing says so.",
    also=(
        lambda model, optimizer, loss_fn, batches, epochs: _run()(
            model, optimizer, loss_fn, [(x, y) for x, y in batches if len(x) > 1], epochs
        ),
    ),
)
def smaller_batches_left_out(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    whole = [(x, y) for x, y in batches if len(x) >= len(batches[0][0])]
    return _run()(model, optimizer, loss_fn, whole, epochs)


@mistake(
    "The gradients were clipped",
    "Where a batch's gradient is longer than 1, its step used it scaled down to that norm.",
    "Clipping is not asked for here. Which line does it?",
    "It stands in many loops, and is another decision than the step.",
)
def clipped_to_one(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    found: list[Epoch] = []
    for _ in range(epochs):
        found.append([])
        for batch in batches:
            found[-1] += trained(model, optimizer, loss_fn, [batch], steps=0)[0]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return _over_samples(found)


def _clearing(which: Callable[[int, str], bool]) -> Code:
    """A run that empties .grad of some parameters, or before some batches alone."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        found: list[Epoch] = []
        for _ in range(epochs):
            found.append([])
            for number, batch in enumerate(batches):
                for name, p in model.named_parameters():
                    if which(number, name):
                        p.grad = None
                found[-1] += trained(model, optimizer, loss_fn, [batch], clear=())[0]
        return _over_samples(found)

    return code


@mistake(
    "Some parameters were not cleared",
    "The weights were cleared before each batch and the biases were not, or the other way round: those moved by "
    "gradients of earlier batches, too.",
    "Does the clearing reach every parameter?",
    also=(_clearing(lambda number, name: name.endswith("bias")),),
)
def cleared_in_part(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _clearing(lambda number, name: name.endswith("weight"))(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "Cleared at every second batch",
    "Each epoch's second batch, its fourth and so on stepped with the gradient of the batch before it as well.",
    "Each batch gives a step with its own gradient alone. Does the clearing stand under an if?",
    "Where two batches share a step, clearing at every second one is right, and stepping, too.",
)
def cleared_at_every_second_batch(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _clearing(lambda number, name: number % 2 == 0)(model, optimizer, loss_fn, batches, epochs)


def _by_assignment(**how: Any) -> Code:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        for p in model.parameters():
            if not p.requires_grad:
                p.grad = None
        found: list[Epoch] = []
        for _ in range(epochs):
            found.append([])
            for x, y in batches:
                loss = loss_fn(model(x), y)
                found[-1].append((loss.item(), len(x)))
                assigned(model, optimizer, loss, **how)
        return _over_samples(found)

    return code


@mistake(
    "An unused layer moved by its old gradient",
    "The layer that the model does not use held a gradient from before, kept it, and the steps moved it.",
    "No batch's loss gives that layer a gradient. What should the optimizer find there?",
    "Writing a new gradient over the old one clears only where there is a new one.",
)
def unused_moved(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _by_assignment()(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "A frozen weight moved by weight decay",
    "The frozen weight became smaller, as weight decay makes every parameter whose .grad is a tensor, if only of zeros.",
    "None is skipped by the optimizer, zeros are not. What should stand in .grad of a frozen parameter?",
)
def frozen_given_zeros(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _by_assignment(everything=True, where_none="zeros")(model, optimizer, loss_fn, batches, epochs)


def _growing(keep: bool, mean: bool) -> Code:
    """The sum of an epoch's losses goes backward at each batch; what comes back is the sum, or the mean."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        losses = []
        for _ in range(epochs):
            total = torch.zeros(())
            for x, y in batches:
                optimizer.zero_grad()
                total = total + loss_fn(model(x), y)
                total.backward(retain_graph=keep)
                optimizer.step()
            losses.append(total.item() / (len(batches) if mean else 1))
        return losses

    return code


@mistake(
    "The sum of the losses went backward",
    "What went backward at the second batch still led to the first batch's graph. Its own backward had freed it, or the "
    "step has changed weights that it needs, and PyTorch refuses; else the first batch is counted again.",
    "What goes backward is the loss of this batch. Keep the sum as a number: item().",
    "The sum of losses is wanted in the end, and a tensor in it brings its graph along.",
    also=(_growing(False, False), _growing(True, True), _growing(True, False)),
)
def backward_of_the_sum(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _growing(False, True)(model, optimizer, loss_fn, batches, epochs)


# ------------------------------------------------------------------ what is returned


@mistake(
    "The mean over batches was returned",
    "The training is right. What came back is the mean of the batches' losses: a batch of one row weighs as much in it "
    "as one of four.",
    "A batch's loss is a mean over its rows. For how many samples does it stand?",
    "For batches of one size the two means are the same.",
)
def mean_over_batches(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(_over_batches)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The sum of the batches' losses was returned",
    "The training is right. What came back for each epoch is the sum of its batches' losses.",
    "Asked is a mean over samples. How much does each batch count in it, and by what is the sum divided?",
)
def sum_of_losses(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(_summed)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The sum over samples was returned",
    "The training is right. What came back for each epoch is the sum of the losses of all its samples, not their mean.",
    "By what must that sum be divided?",
)
def sum_over_samples(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(_weighed_sum)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The sum of the batches' losses was divided by the number of samples",
    "The training is right. What came back for each epoch is the sum of its batches' losses, divided by the number of "
    "samples: each batch's loss counts once there, for all its rows together.",
    "A batch's loss is the mean of its rows. What is the sum over its rows?",
)
def sum_of_losses_over_samples(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _run(_sum_over_samples)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The sum over samples was divided by the number of batches",
    "The training is right. What came back for each epoch is the sum of the losses of all its samples, divided by the "
    "number of batches.",
    "What is counted in the sum, samples or batches? The mean divides by the same.",
)
def sum_over_samples_over_batches(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _run(_weighed_over_batches)(model, optimizer, loss_fn, batches, epochs)


def _by_the_first(found: list[Epoch]) -> list[float]:
    return [sum(a for a, _ in epoch) * epoch[0][1] / sum(n for _, n in epoch) for epoch in found]


@mistake(
    "One batch's size stands for all",
    "The training is right. What came back is a mean in which the number of rows of one batch, the first or the last, "
    "was taken for that of every batch.",
    "The batches are not always of one size. Where does the number of rows come from, in each round?",
    "For batches of one size it is the same.",
    also=(_run(_by_the_first_times_batches), _run(_by_the_last_times_batches)),
)
def one_size_for_all(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(_by_the_first)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The last batch's loss was returned",
    "The training is right. What came back for each epoch is the loss of its last batch.",
    "After the loop the name still holds the last one. Where are the others added up?",
)
def loss_of_the_last_batch(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _run(_last)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "One loss a batch was returned",
    "The training is right. What came back has an entry for each batch; asked is one for each epoch.",
    "Add up within the epoch, and append once at its end.",
)
def losses_of_all_batches(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _run(_every)(model, optimizer, loss_fn, batches, epochs)


def _sums_so_far(found: list[Epoch]) -> list[float]:
    rows = [sum(n for _, n in epoch) for epoch in found]
    sums = accumulate(sum(a * n for a, n in epoch) for epoch in found)
    return [total / n for total, n in zip(sums, rows, strict=True)]


def _means_so_far(found: list[Epoch]) -> list[float]:
    sums = accumulate(sum(a * n for a, n in epoch) for epoch in found)
    return [total / n for total, n in zip(sums, accumulate(sum(n for _, n in e) for e in found), strict=True)]


def _batch_means_so_far(found: list[Epoch]) -> list[float]:
    sums = accumulate(sum(a for a, n in epoch) for epoch in found)
    return [total / len(epoch) for total, epoch in zip(sums, found, strict=True)]


@mistake(
    "The sums go on from epoch to epoch",
    "The training is right. What came back for an epoch has the losses of the epochs before it in it, too.",
    "Where do the sum and the count begin anew?",
    "It is the same slip as a forgotten clearing, in a number of your own.",
    also=(_run(_means_so_far), _run(_batch_means_so_far)),
)
def sums_never_reset(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
    return _run(_sums_so_far)(model, optimizer, loss_fn, batches, epochs)


def _measured(when: str, told: Told = _over_samples, *, in_eval: bool = False) -> Code:
    """The losses, measured after each batch's own step, or of all batches before or after their epoch."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int) -> object:
        def look(some: Batches) -> Epoch:
            with modes_put_back(model), torch.no_grad():
                if in_eval:
                    model.eval()
                return [(loss_fn(model(x), y).item(), len(x)) for x, y in some]

        found: list[Epoch] = []
        for _ in range(epochs):
            losses = look(batches) if when == "before the epoch" else []
            for batch in batches:
                trained(model, optimizer, loss_fn, [batch])
                losses += look([batch]) if when == "after the step" else []
            found.append(look(batches) if when == "after the epoch" else losses)
        return told(found)

    return code


@mistake(
    "The losses were measured after the steps",
    "The training is right. What came back is the mean of losses that were measured after each batch's own step.",
    "Which loss went backward? Count that one.",
    also=(_measured("after the step", _over_batches),),
)
def losses_after_the_steps(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _measured("after the step")(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The losses were measured apart from the training",
    "The training is right. What came back is the mean loss at one and the same weights, those at the beginning or at "
    "the end of each epoch, in the mode of the model or in eval mode.",
    "The weights change from batch to batch. Asked is each batch's loss at the weights that it met.",
    also=(
        _measured("before the epoch"),
        _measured("after the epoch", _over_batches),
        _measured("before the epoch", _over_batches),
        _measured("after the epoch", in_eval=True),
        _measured("after the epoch", _over_batches, in_eval=True),
    ),
)
def losses_of_an_epochs_end(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> object:
    return _measured("after the epoch")(model, optimizer, loss_fn, batches, epochs)
