"""What is often done instead in exercise 4.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import made_by, mistake
from course_utils.checks.observe.spies import BACKWARDS
from course_utils.lessons.lesson4 import mistakes as shared
from course_utils.lessons.lesson4.mistakes import Optimizer, assigned, descended, trained, without_ones
from course_utils.lessons.lesson4.steps import HELD, LEFT, STEPS
from course_utils.lessons.training import LossFn, modes_put_back

T = torch.Tensor
Code = Callable[[nn.Module, Optimizer, LossFn, T, T], object]


def _step(**how: Any) -> Code:
    """A step that does as `how` says, see `trained`, and returns the loss before it."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> float:
        return trained(model, optimizer, loss_fn, [(x, y)], **how)[0][0][0]

    return code


# ------------------------------------------------------------------ what .grad held before


@mistake(
    "What .grad held before is counted in",
    "The step used the gradient of this batch plus what .grad held when the function was called. It was never emptied.",
    "Which line empties .grad, and does it run before this batch's backward?",
    "On an empty .grad the code is right, and so it is on the first batch of a run.",
    signs=(LEFT,),
)
def nothing_cleared(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(clear=())(model, optimizer, loss_fn, x, y)


@mistake(
    "Cleared after the step alone",
    "The step used the gradient of this batch plus what .grad held when the function was called. After the step .grad "
    "is clear, which helps the next call and not this one.",
    "Nobody promises that .grad is empty when the function begins. Where must it be emptied, then?",
    "In a loop that begins clean, clearing after each step is as good as clearing before each batch.",
    signs=(LEFT,),
)
def cleared_after_the_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(clear=("after step",))(model, optimizer, loss_fn, x, y)


@mistake(
    "An unused layer moved by its old gradient",
    "The layer that the model does not use held a gradient from before, kept it, and the step moved it.",
    "This batch's loss gives that layer no gradient. What should the optimizer find there?",
    "Writing a new gradient over the old one clears only where there is a new one.",
)
def unused_moved(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    loss = loss_fn(model(x), y)
    for p in model.parameters():
        if not p.requires_grad:
            p.grad = None
    assigned(model, optimizer, loss)
    return loss.item()


@mistake(
    "A frozen weight moved by its old gradient",
    "The frozen weight held a gradient from before, kept it, and the step moved it.",
    "requires_grad=False stops backward, not the optimizer: it steps on any .grad that it finds. Empty that one, too.",
    "A frozen parameter gets no new gradient, so it seems safe to skip it when clearing.",
)
def frozen_moved(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    for p in model.parameters():
        if p.requires_grad:
            p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@mistake(
    "A frozen weight moved by weight decay",
    "The frozen weight became smaller, as weight decay makes every parameter whose .grad is a tensor, if only of zeros.",
    "None is skipped by the optimizer, zeros are not. What should stand in .grad of a frozen parameter?",
)
def frozen_given_zeros(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    loss = loss_fn(model(x), y)
    assigned(model, optimizer, loss, everything=True, where_none="zeros")
    return loss.item()


# ------------------------------------------------------------------ the order


@mistake(
    "No gradient was there at the step",
    "Backward ran, but when the step began .grad of the model held no gradient: only None, or zeros. On None nothing "
    "moves; on zeros, weight decay and the optimizer's memory of earlier steps still move the parameters.",
    "What runs between backward and step? If nothing does, did the loss come from this model's own parameters?",
    "Diagrams can be found that put zero_grad there. What it empties is what the step was to read.",
    also=(_step(clear=("before step",), zeros=True),),
    signs=(BACKWARDS, HELD, LEFT),
)
def cleared_before_the_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(clear=("before step",))(model, optimizer, loss_fn, x, y)


def _stepped_on_the_old(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.step()
    return _step(steps=0)(model, optimizer, loss_fn, x, y)


def _stepped_on_zeros(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad(set_to_none=False)
    optimizer.step()
    return _step(clear=(), steps=0)(model, optimizer, loss_fn, x, y)


def _stepped_between(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    loss = loss_fn(model(x), y)
    optimizer.step()  # on old gradients it moves the weights that backward needs, and backward may refuse
    loss.backward()
    return loss.item()


@mistake(
    "The step came without this batch's gradient",
    "When the step began, .grad did not hold this batch's gradient. After the call .grad holds a gradient.",
    "A step reads .grad, and backward writes it. Which of the two must run first?",
    also=(_stepped_on_the_old, _stepped_on_zeros, _stepped_between),
    signs=(HELD, LEFT),
)
def stepped_too_early(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad()
    optimizer.step()
    return _step(steps=0)(model, optimizer, loss_fn, x, y)


@mistake(
    "No backward wrote into .grad",
    "The loss is right, and no backward pass wrote its gradient into .grad, so the step could not use it.",
    "Which line brings this batch's gradient into .grad?",
    also=(_step(backwards=0, clear=()), _step(backwards=0, zeros=True)),
    signs=(BACKWARDS, STEPS),
)
def no_backward(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(backwards=0)(model, optimizer, loss_fn, x, y)


@mistake(
    "No step was taken",
    "The loss is right, no parameter moved, and optimizer.step() was never called.",
    "What moves the parameters? Does that line stand there, with its parentheses?",
    signs=(STEPS,),
)
def no_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(steps=0)(model, optimizer, loss_fn, x, y)


def _whole_step_twice(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return trained(model, optimizer, loss_fn, [(x, y)], 2)[0][0][0]


@mistake(
    "Two steps were taken",
    "optimizer.step() was called twice, and the parameters are where two steps put them.",
    "One batch, one step. Which line runs a second time?",
    also=(_whole_step_twice,),
    signs=(STEPS,),
)
def two_steps(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(steps=2)(model, optimizer, loss_fn, x, y)


@mistake(
    "One step for each row",
    "Each row of the batch got a step of its own, at weights that the rows before it had moved.",
    "The step is asked for once, with the gradient of the mean over the rows.",
    signs=(STEPS,),
)
def stepped_for_each_row(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    before = loss_fn(model(x), y).item()
    trained(model, optimizer, loss_fn, list(zip(x.split(1), y.split(1), strict=True)))
    return before


def _with_rate_of_the_first_group(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    loss = trained(model, optimizer, loss_fn, [(x, y)], steps=0)[0][0][0]
    descended(optimizer, optimizer.param_groups[0]["lr"])
    return loss


@mistake(
    "The optimizer that was handed over took no step",
    "Each parameter moved by the learning rate times its gradient, as plain SGD moves it. This optimizer does more: "
    "momentum, Adam's averages, weight decay, or a rate of its own for some parameters.",
    "Who knows what the optimizer does with a gradient? Let it take the step.",
    also=(_with_rate_of_the_first_group,),
    signs=(STEPS,),
)
def moved_as_plain_sgd(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    loss = trained(model, optimizer, loss_fn, [(x, y)], steps=0)[0][0][0]
    descended(optimizer)
    return loss


# ------------------------------------------------------------------ which gradient


@mistake(
    "The gradient was counted twice",
    "Backward ran twice before the step, and .grad added this batch's gradient up: it is twice as long as it should be.",
    "How many backward calls stand before the step, and what does the second one do to .grad?",
    signs=(BACKWARDS,),
)
def gradient_counted_twice(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(backwards=2)(model, optimizer, loss_fn, x, y)


def _summed_in_both(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return float(_step(factor=lambda n: n)(model, optimizer, loss_fn, x, y)) * len(x)  # type: ignore[arg-type]


@mistake(
    "The gradient of a sum over the rows",
    "The step used the batch's gradient times the number of rows: that of the sum of the rows' losses, not of the mean.",
    "loss_fn gives the mean of the rows it is handed. Is it multiplied by their number, or are losses of single rows "
    "added up and not divided?",
    "Adam and its relatives hide most of it: they divide by the size of the gradient.",
    also=(_summed_in_both,),
)
def summed_over_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(factor=lambda n: n)(model, optimizer, loss_fn, x, y)


def _divided_in_both(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return float(_step(factor=lambda n: 1 / n)(model, optimizer, loss_fn, x, y)) / len(x)  # type: ignore[arg-type]


@mistake(
    "Divided by the number of rows once more",
    "The step used the batch's gradient divided by the number of rows.",
    "loss_fn returns a mean. Over what has it divided already?",
    also=(_divided_in_both,),
)
def divided_by_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(factor=lambda n: 1 / n)(model, optimizer, loss_fn, x, y)


def _both_signs_changed(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return -float(_step(factor=lambda n: -1.0)(model, optimizer, loss_fn, x, y))  # type: ignore[arg-type]


@mistake(
    "Uphill",
    "The step used the gradient with its sign changed, so it climbs.",
    "The optimizer goes against the gradient by itself. Which minus is one too many?",
    also=(_both_signs_changed,),
)
def uphill(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(factor=lambda n: -1.0)(model, optimizer, loss_fn, x, y)


@mistake(
    "Prediction and target changed places",
    "Loss and update are those of loss_fn(y, prediction). The squared error is the same both ways; other losses are not.",
    "In which order does loss_fn take its two arguments?",
)
def arguments_swapped(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step()(model, optimizer, lambda prediction, target: loss_fn(target, prediction), x, y)


def _squeezed(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step()(model, optimizer, without_ones(loss_fn), x, y)


dimension_lost = made_by(shared.dimension_lost, _squeezed)


@mistake(
    "The old gradient was added, and taken off again",
    "backward added this batch's gradient to the old one in .grad, and the old one was subtracted afterwards. Where it is "
    "huge, the sum has too few digits left for this batch's gradient.",
    "What must .grad hold before the backward, so that nothing needs to be taken off after it?",
    "For numbers of like size it is right to many digits.",
    signs=(BACKWARDS,),
    where=lambda spec: spec.get("earlier") == "huge",
)
def old_gradient_taken_off(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    old = [(p, p.grad.clone()) for p in model.parameters() if p.grad is not None]
    loss = loss_fn(model(x), y)
    loss.backward()
    for p, gradient in old:
        p.grad = p.grad - gradient if p.grad is not None else None
    optimizer.step()
    return loss.item()


def _without_weights(model: nn.Module) -> None:
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()


def _zeroed_weights_and_old_gradients(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    _without_weights(model)
    return _step(clear=())(model, optimizer, loss_fn, x, y)


def _zeroed_at_the_end(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    loss = _step()(model, optimizer, loss_fn, x, y)
    _without_weights(model)
    return loss


@mistake(
    "The weights were set to zero",
    "The parameters themselves were zeroed: what the model had learned is gone.",
    "p.zero_() and p.data.zero_() empty the weight. Which attribute of p holds its gradient?",
    "The gradient has the shape of its parameter, and one dot separates the two.",
    also=(_zeroed_weights_and_old_gradients, _zeroed_at_the_end),
)
def weights_zeroed(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    _without_weights(model)
    return _step()(model, optimizer, loss_fn, x, y)


def _put_back(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    with modes_put_back(model):
        return put_into_train_mode.forms[0](model, optimizer, loss_fn, x, y)


@mistake(
    "The model was put into train mode",
    "Where the model or a part of it came in eval mode, its dropout drew and its batch norm used this batch's "
    "statistics: loss and update are those of train mode.",
    "The mode is the caller's choice: leave model.train() out.",
    "Most loops begin with model.train(). Frozen batch norm is one reason to leave a part in eval mode.",
    also=(_put_back,),
)
def put_into_train_mode(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    model.train()
    return _step()(model, optimizer, loss_fn, x, y)


def _in_eval_mode(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    with modes_put_back(model):
        return put_into_eval_mode.forms[0](model, optimizer, loss_fn, x, y)


@mistake(
    "The model was put into eval mode",
    "Where the model behaves otherwise in eval mode, loss and update are those of eval mode.",
    "The mode is the caller's choice: leave model.eval() out.",
    also=(_in_eval_mode,),
)
def put_into_eval_mode(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    model.eval()
    return _step()(model, optimizer, loss_fn, x, y)


def _clearing(which: Callable[[str, nn.Parameter], bool]) -> Code:
    """A step before which .grad is emptied of some parameters alone."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
        for name, p in model.named_parameters():
            if which(name, p):
                p.grad = None
        return _step(clear=())(model, optimizer, loss_fn, x, y)

    return code


def _first_group_cleared(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    for p in optimizer.param_groups[0]["params"]:
        p.grad = None
    return _step(clear=())(model, optimizer, loss_fn, x, y)


@mistake(
    "Some parameters were not cleared",
    "Some parameters moved by this batch's gradient alone. Others moved by what their .grad held before, too.",
    "Does the clearing reach every parameter: weights and biases, all layers, all groups of the optimizer?",
    also=(
        _clearing(lambda name, p: name.endswith("bias")),
        _clearing(lambda name, p: name.startswith("0")),
        _first_group_cleared,
    ),
)
def cleared_in_part(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _clearing(lambda name, p: name.endswith("weight"))(model, optimizer, loss_fn, x, y)


def _clipped_to(longest: float) -> Code:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
        loss = trained(model, optimizer, loss_fn, [(x, y)], steps=0)[0][0][0]
        nn.utils.clip_grad_norm_(model.parameters(), longest)
        optimizer.step()
        return loss

    return code


@mistake(
    "The gradient was clipped",
    "Where this batch's gradient is longer than a bound, such as 1, the step used it scaled down to that norm.",
    "Clipping is not asked for here. Which line does it?",
    "It stands in many loops, and is another decision than the step.",
    also=(_clipped_to(5.0), _clipped_to(10.0)),
)
def clipped_to_one(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _clipped_to(1.0)(model, optimizer, loss_fn, x, y)


def _last_row(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step()(model, optimizer, loss_fn, x[-1:], y[-1:])


@mistake(
    "One row alone was trained on",
    "The step used the gradient of one row of the batch, the first or the last.",
    "Which rows go through the model, and which of their gradients are still there at the step?",
    also=(_last_row,),
)
def one_row_alone(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step()(model, optimizer, loss_fn, x[:1], y[:1])


# ------------------------------------------------------------------ what is returned


def _train_mode_and_loss_after(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    model.train()
    return loss_after_the_step.forms[0](model, optimizer, loss_fn, x, y)


@mistake(
    "The loss was measured after the step",
    "What came back is the loss at the weights that the step has left, and asked is that at the weights before it.",
    "Which loss went backward? Return that one, as a number.",
    "The name is the same; the model is not.",
    also=(_train_mode_and_loss_after,),
)
def loss_after_the_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    _step()(model, optimizer, loss_fn, x, y)
    with torch.no_grad():
        return loss_fn(model(x), y).item()


@mistake(
    "The loss came back times the number of rows",
    "The update is right. What came back is the loss times the number of rows.",
    "Asked is the loss as loss_fn gives it.",
    "A running sum over an epoch needs that product. One step does not.",
)
def loss_times_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return float(_step()(model, optimizer, loss_fn, x, y)) * len(x)  # type: ignore[arg-type]


@mistake(
    "The loss came back divided by the number of rows",
    "The update is right. What came back is the loss divided by the number of rows; loss_fn has divided already.",
    "Asked is the loss as loss_fn gives it.",
)
def loss_divided_by_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return float(_step()(model, optimizer, loss_fn, x, y)) / len(x)  # type: ignore[arg-type]
