"""What is often done instead in exercise 4.6."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import made_by, mistake
from course_utils.checks.observe.spies import BACKWARDS
from course_utils.lessons.lesson4 import mistakes as shared
from course_utils.lessons.lesson4.mistakes import Optimizer, descended, without_ones
from course_utils.lessons.lesson4.steps import STEPS
from course_utils.lessons.training import LossFn, modes_put_back

T = torch.Tensor
Code = Callable[[nn.Module, Optimizer, LossFn, T, T], object]


def _step(
    *,
    clear_in: bool = True,
    clear_before: bool = False,
    clear_after_backward: bool = False,
    zeros: bool = False,
    backward: bool = True,
    factor: Callable[[int], float] = lambda n: 1.0,
    returned: str = "first",
    steps: int = 1,
    train: bool = False,
    longest: float | None = None,
) -> Code:
    """A step of LBFGS that clears where it is said: before the step, in the closure, or there after the backward.
    The closure shortens gradients that are longer than `longest`.
    What comes back is the "first", "last" or "smallest" or "largest" loss of the closure, the "sum" or "mean" of all, or the one
    "after" the step."""

    def code(model: nn.Module, optimizer: Any, loss_fn: LossFn, x: T, y: T) -> float:
        found: list[float] = []
        if train:
            model.train()

        def clear(here: bool) -> None:
            if here:
                optimizer.zero_grad(set_to_none=not zeros)

        def closure() -> T:
            clear(clear_in)
            loss = loss_fn(model(x), y) * factor(len(x))
            if backward:
                loss.backward()
            if longest is not None:
                nn.utils.clip_grad_norm_(model.parameters(), longest)
            clear(clear_after_backward)
            found.append(loss.item())
            return loss

        clear(clear_before)
        for _ in range(steps):
            optimizer.step(closure)
        with torch.no_grad():
            after = loss_fn(model(x), y).item()
        told = {"first": found[0], "last": found[-1], "smallest": min(found), "after": after}
        return {**told, "largest": max(found), "sum": sum(found), "mean": sum(found) / len(found)}[returned]

    return code


# ------------------------------------------------------------------ what .grad holds when the closure runs


@mistake(
    "The closure never cleared",
    "Each call of the closure added its gradient to those of the calls before it, and to what .grad held when the "
    "function was called. LBFGS took the sum for the gradient at the new weights.",
    "How often does backward run in one step? What must the closure do before its own, each time?",
    "With one iteration the closure is called once, and on an empty .grad the step is right.",
    also=(_step(clear_in=False, returned="last"), _step(clear_in=False, returned="after")),
)
def nothing_cleared(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(clear_in=False)(model, optimizer, loss_fn, x, y)


@mistake(
    "Cleared once, and not at each call of the closure",
    "What .grad held before the call is gone, but each call of the closure added its gradient to those of the calls "
    "before it.",
    "How often does the closure run, and how often is .grad emptied? Does its place, or a condition, keep the line that "
    "clears from running each time?",
    "Where a step has one backward, one zero_grad before it is enough.",
    also=(
        _step(clear_in=False, clear_before=True, returned="last"),
        _step(clear_in=False, clear_before=True, returned="after"),
    ),
)
def cleared_outside(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(clear_in=False, clear_before=True)(model, optimizer, loss_fn, x, y)


@mistake(
    "The gradient was gone when the closure returned",
    "Backward ran in the closure, and LBFGS found no gradient in .grad, or zeros: it takes the weights for the best "
    "ones and moves nothing.",
    "LBFGS reads .grad after the closure has returned. What stands between the backward and the return?",
    also=(
        _step(clear_in=False, clear_after_backward=True, zeros=True),
        _step(clear_after_backward=True, returned="after"),
    ),
    signs=(BACKWARDS, STEPS),
)
def cleared_after_the_backward(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(clear_in=False, clear_after_backward=True)(model, optimizer, loss_fn, x, y)


@mistake(
    "No backward in the closure",
    "No backward pass wrote a gradient into .grad, so LBFGS had none of this batch to go by.",
    "What must the closure leave in .grad?",
    "With other optimizers backward stands outside, too.",
    also=(
        _step(backward=False, clear_in=False),
        _step(backward=False, clear_in=False, clear_before=True),
        _step(backward=False, zeros=True),
    ),
    signs=(BACKWARDS, STEPS),
)
def no_backward(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(backward=False)(model, optimizer, loss_fn, x, y)


def _one_gradient(*, clear: bool = True, returned: str = "first") -> Code:
    """One gradient, taken at the weights that the model came with, for all calls of the closure."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
        if clear:
            optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step(lambda: loss.item())
        with torch.no_grad():
            return loss.item() if returned == "first" else loss_fn(model(x), y).item()

    return code


def _new_loss_old_gradient(model: nn.Module, optimizer: Any, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step(lambda: loss_fn(model(x), y))
    return loss.item()


def _handed_out_each_time(model: nn.Module, optimizer: Any, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad()
    trainable = [p for p in model.parameters() if p.requires_grad]
    before = loss_fn(model(x), y)
    found = torch.autograd.grad(before, trainable, allow_unused=True)

    def closure() -> T:
        for p, gradient in zip(trainable, found, strict=True):
            p.grad = None if gradient is None else gradient.clone()
        return loss_fn(model(x), y)

    optimizer.step(closure)
    return before.item()


@mistake(
    "Every call of the closure left the same gradient",
    "The gradient was computed once, at the weights that the model came with, and stood in .grad at each call of the "
    "closure. LBFGS asked for that at the weights it had moved to.",
    "What must stand inside the closure, so that each call sees the new weights?",
    "A step with SGD or Adam needs no more than one gradient.",
    also=(_one_gradient(clear=False), _one_gradient(returned="after"), _new_loss_old_gradient, _handed_out_each_time),
    signs=(BACKWARDS,),
)
def computed_once(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _one_gradient()(model, optimizer, loss_fn, x, y)


def _one_graph(model: nn.Module, optimizer: Any, loss_fn: LossFn, x: T, y: T, *, keep: bool = False) -> object:
    loss = loss_fn(model(x), y)

    def closure() -> T:
        optimizer.zero_grad()
        loss.backward(retain_graph=keep)
        return loss

    return optimizer.step(closure).item()


@mistake(
    "The forward pass stands outside the closure",
    "The second call of the closure went backward through the graph of the first: PyTorch refuses, since that graph "
    "was freed, or since the step has moved weights that it needs.",
    "The loss at the new weights needs a new forward pass. Which line makes it?",
    "With one iteration there is one call, and it works.",
    also=(lambda *args: _one_graph(*args, keep=True),),
)
def forward_outside(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _one_graph(model, optimizer, loss_fn, x, y)


@mistake(
    "A frozen weight's old gradient is still at work",
    "The frozen weight held a gradient from before and kept it: LBFGS took it for part of the gradient, and moved the "
    "weight.",
    "requires_grad=False stops backward, not the optimizer. Empty that .grad, too.",
)
def frozen_moved(model: nn.Module, optimizer: Any, loss_fn: LossFn, x: T, y: T) -> object:
    def closure() -> T:
        for p in model.parameters():
            if p.requires_grad:
                p.grad = None
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@mistake(
    "An unused layer's old gradient is still at work",
    "The layer that the model does not use held a gradient from before and kept it: LBFGS took it for part of the "
    "gradient, and moved the layer.",
    "This batch's loss gives that layer no gradient. What should LBFGS find there?",
)
def unused_moved(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    for p in model.parameters():
        if not p.requires_grad:
            p.grad = None
    trainable = [p for p in model.parameters() if p.requires_grad]
    losses = []

    def closure() -> float:
        with torch.enable_grad():
            loss = loss_fn(model(x), y)
        for p, gradient in zip(trainable, torch.autograd.grad(loss, trainable, allow_unused=True), strict=True):
            p.grad = p.grad if gradient is None else gradient
        losses.append(loss.item())
        return losses[-1]

    optimizer.step(closure)
    return losses[0]


# ------------------------------------------------------------------ how it steps


@mistake(
    "Two steps were taken",
    "optimizer.step() was called twice.",
    "LBFGS iterates within one step. Which line calls it again?",
    also=(_step(steps=2, returned="last"), _step(steps=2, returned="after")),
    signs=(STEPS,),
)
def two_steps(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(steps=2)(model, optimizer, loss_fn, x, y)


@mistake(
    "No step was taken",
    "No parameter moved, and optimizer.step() was never called.",
    "Who calls the closure?",
    signs=(STEPS,),
)
def no_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    return loss.item()


@mistake(
    "The optimizer that was handed over took no step",
    "Each parameter moved by the learning rate times its gradient, and optimizer.step() was not called. LBFGS does "
    "more: it chooses its steps from several gradients.",
    "Who knows what LBFGS does with a gradient? Let it take the step.",
    signs=(STEPS,),
)
def moved_as_plain_sgd(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    loss = no_step.forms[0](model, optimizer, loss_fn, x, y)
    descended(optimizer)
    return loss


@mistake(
    "step was called without a closure",
    "LBFGS has to ask for loss and gradient several times, so its step must be handed a function to call.",
    "Define a function without arguments that clears, computes the loss, goes backward and returns the loss.",
    "SGD and Adam do without one.",
)
def no_closure(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def _its_number(model: nn.Module, optimizer: Any, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    return float(optimizer.step(loss.item()))


@mistake(
    "step was handed a value in place of a function",
    "What stands in the brackets of step was called by LBFGS, and a loss cannot be called.",
    "closure is the function, closure() is what it returns. Which of the two does step need?",
    also=(_its_number,),
)
def closure_called(model: nn.Module, optimizer: Any, loss_fn: LossFn, x: T, y: T) -> object:
    loss: Any = no_step.forms[0](model, optimizer, loss_fn, x, y)
    return float(optimizer.step(torch.tensor(loss)))


@mistake(
    "The closure returned nothing",
    "LBFGS needs the loss itself as well as its gradient, and the closure returned None.",
    "What does the closure return at its end?",
    "backward has left the gradient, and the loss seems to have done its work.",
)
def closure_without_return(model: nn.Module, optimizer: Any, loss_fn: LossFn, x: T, y: T) -> object:
    def closure() -> None:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()

    return optimizer.step(closure)


@mistake(
    "The closure returned a number that is not the loss",
    "The gradients are right, but the number that the closure returned stays the same while the loss changes: LBFGS "
    "takes that for the end of the way and stops early.",
    "What does the closure return at its end?",
    signs=(BACKWARDS,),
)
def closure_returned_a_constant(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    found: list[float] = []

    def closure() -> float:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        found.append(loss.item())
        return 0.0

    optimizer.step(closure)
    return found[0]


@mistake(
    "The closure returned a smaller loss than that of its weights",
    "The gradients belong to the weights at each call. Where the loss had risen, the number beside them was that of "
    "another call, the smallest so far. LBFGS compares the losses, and went another way or stopped.",
    "What does the closure return at its end? Asked is the loss at the weights as they are just then.",
    "As a note of the best loss the smallest is useful. LBFGS does not ask for it.",
    signs=(BACKWARDS,),
)
def closure_returned_the_smallest(model: nn.Module, optimizer: Any, loss_fn: LossFn, x: T, y: T) -> object:
    found: list[float] = []

    def closure() -> float:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        found.append(loss.item())
        return min(found)

    optimizer.step(closure)
    return found[0]


@mistake(
    "One iteration, where the optimizer has several",
    "The parameters are where the first iteration of LBFGS puts them.",
    "One step of LBFGS has as many iterations as it was made for. Which line gives it another number, or stops it?",
    "With other optimizers one step is one update.",
)
def one_iteration(model: nn.Module, optimizer: Any, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.param_groups[0]["max_iter"] = 1
    return _step()(model, optimizer, loss_fn, x, y)


@mistake(
    "The optimizer's history was thrown away",
    "LBFGS moved as one that has never stepped before. This one has a step behind it, and chooses its way by it.",
    "Leave optimizer.state alone. What must be cleared is .grad.",
    "A clean start sounds right; clearing is about gradients.",
    where=lambda spec: bool(spec.get("stepped")),
)
def history_thrown_away(model: nn.Module, optimizer: Any, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.state.clear()
    return _step()(model, optimizer, loss_fn, x, y)


# ------------------------------------------------------------------ which gradient


@mistake(
    "The gradient of a sum over the rows",
    "Loss and gradient were the batch's times the number of rows: those of the sum of the rows' losses.",
    "loss_fn gives the mean of the rows it is handed. Is it multiplied by their number, or are losses of single rows "
    "added up and not divided?",
)
def summed_over_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(factor=float)(model, optimizer, loss_fn, x, y)


@mistake(
    "Divided by the number of rows once more",
    "Loss and gradient were the batch's divided by the number of rows.",
    "loss_fn returns a mean. Over what has it divided already?",
)
def divided_by_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(factor=lambda n: 1 / n)(model, optimizer, loss_fn, x, y)


@mistake(
    "The closure clipped the gradient",
    "LBFGS was given gradients of the batch's direction, shortened where their norm was above a bound, such as 1. It "
    "works out its moves from how the gradient changes, and went another way.",
    "Asked is the gradient of this batch, as long as it is. Which line shortens it?",
    "With SGD a clipped gradient makes a shorter step, and no more.",
    also=(_step(longest=0.5),),
)
def clipped_in_the_closure(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(longest=1.0)(model, optimizer, loss_fn, x, y)


@mistake(
    "Prediction and target changed places",
    "Loss and update are those of loss_fn(y, prediction). The squared error is the same both ways; other losses are not.",
    "In which order does loss_fn take its two arguments?",
)
def arguments_swapped(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step()(model, optimizer, lambda prediction, target: loss_fn(target, prediction), x, y)


def _put_back(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    with modes_put_back(model):
        return _step(train=True)(model, optimizer, loss_fn, x, y)


@mistake(
    "The model was put into train mode",
    "Where the model came in eval mode, its dropout drew anew in each call of the closure and its batch norm used this "
    "batch's statistics.",
    "The mode is the caller's choice: leave model.train() out.",
    also=(_put_back,),
)
def put_into_train_mode(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(train=True)(model, optimizer, loss_fn, x, y)


def _squeezed(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step()(model, optimizer, without_ones(loss_fn), x, y)


dimension_lost = made_by(shared.dimension_lost, _squeezed)


# ------------------------------------------------------------------ what is returned


@mistake(
    "The loss of the last call came back",
    "The update is right. What came back is the loss at the closure's last call, at weights that LBFGS had moved to.",
    "At which weights was the closure called first? What does step itself return?",
    "A name that the closure writes holds what its last call has written.",
)
def loss_of_the_last_call(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(returned="last")(model, optimizer, loss_fn, x, y)


@mistake(
    "The loss was measured after the step",
    "The update is right. What came back is the loss at the weights that the step has left.",
    "Asked is the loss before the step. What does step itself return?",
)
def loss_after_the_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(returned="after")(model, optimizer, loss_fn, x, y)


@mistake(
    "The losses of all calls came back as one number",
    "The update is right. What came back is made of the losses of all the closure's calls: their mean, or their sum.",
    "Asked is the loss before the step, that of the first call.",
    "Over an epoch one takes a mean of losses. Here they belong to different weights, and to one batch.",
    also=(_step(returned="sum"),),
)
def losses_of_all_calls(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(returned="mean")(model, optimizer, loss_fn, x, y)


@mistake(
    "The smallest loss came back",
    "The update is right. What came back is the smallest of the losses that the closure computed.",
    "Asked is the loss before the step, that of the first call.",
)
def smallest_loss(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(returned="smallest")(model, optimizer, loss_fn, x, y)


@mistake(
    "The largest loss came back",
    "The update is right. What came back is the largest of the losses that the closure computed.",
    "Asked is the loss before the step, that of the first call.",
    "Where the loss falls all the way, the first is the largest.",
)
def largest_loss(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(returned="largest")(model, optimizer, loss_fn, x, y)
