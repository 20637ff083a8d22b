"""What is often done instead in exercise 3.5."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.checks.observe import LEDGER
from course_utils.checks.observe.spies import BACKWARDS
from course_utils.lessons.lesson3.train_step_low_memory.task import ALIVE, FORWARDS, ZEROS
from course_utils.lessons.training import LossFn, modes_put_back
from course_utils.lessons.watched_loss import ORDER

T = torch.Tensor
Optimizer = torch.optim.Optimizer
Code = Callable[[nn.Module, Optimizer, LossFn, T, T], object]


def _nothing(model: nn.Module, optimizer: Optimizer) -> None:
    pass


def _to_none(model: nn.Module, optimizer: Optimizer) -> None:
    optimizer.zero_grad()


def _to_zeros(model: nn.Module, optimizer: Optimizer) -> None:
    optimizer.zero_grad(set_to_none=False)


def _trainable_to_none(model: nn.Module, optimizer: Optimizer) -> None:
    for param in model.parameters():
        if param.requires_grad:
            param.grad = None


def _fresh_zeros(model: nn.Module, optimizer: Optimizer) -> None:
    for param in model.parameters():
        param.grad = torch.zeros_like(param)


def _zeros_for_none(model: nn.Module, optimizer: Optimizer) -> None:
    for param in model.parameters():
        if param.grad is None and param.requires_grad:
            param.grad = torch.zeros_like(param)


Do = Callable[[nn.Module, Optimizer], None]


def _step(
    *,
    first: Do = _nothing,
    after_forward: Do = _nothing,
    before_step: Do = _nothing,
    last: Do = _nothing,
    backwards: int = 1,
    steps: int = 1,
    scale: Callable[[T], float] = lambda x: 1.0,
) -> Code:
    """The five lines, and what is done between them."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> float:
        first(model, optimizer)
        loss = loss_fn(model(x), y)
        after_forward(model, optimizer)
        for _ in range(backwards):
            (loss * scale(x)).backward(retain_graph=True)  # type: ignore[no-untyped-call]
        before_step(model, optimizer)
        for _ in range(steps):
            optimizer.step()
        last(model, optimizer)
        return loss.item()

    return code


# ------------------------------------------------------------------ what was alive in the forward pass


@mistake(
    "Old gradients were alive during the forward pass",
    "When the model ran forward, .grad of its parameters still held what stood there before the call, or what the call "
    "before had left. It is of no use there, and takes as much memory as the parameters that it belongs to.",
    "When is the earliest moment at which the old gradients are of no use any more? Your first line could be the one "
    "that gives them back.",
    "Clearing after the forward pass gives the same parameters, bit for bit.",
)
def gradients_alive_in_the_forward_pass(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(after_forward=_to_none)(model, optimizer, loss_fn, x, y)


@mistake(
    "Zeros were alive during the forward pass",
    "When the model ran forward, .grad of its parameters held tensors of zeros. They take as much memory as gradients "
    "do. And an optimizer steps on them: a parameter that gets no gradient is moved by weight decay, momentum or "
    "Adam's averages, where the optimizer has one of them.",
    "Which way of clearing gives the memory back?",
    "Zero sounds like nothing. In memory a zero is a number like any other.",
    also=(_step(first=_fresh_zeros),),
    signs=(ALIVE, ZEROS),
)
def zeros_alive_in_the_forward_pass(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(first=_to_zeros)(model, optimizer, loss_fn, x, y)


def _row_by_row(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad()
    total = 0.0
    for row in range(len(x)):
        loss = loss_fn(model(x[row : row + 1]), y[row : row + 1]) / len(x)
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    optimizer.step()
    return total


@mistake(
    "A later forward pass of the call found gradients",
    "The first forward pass of a call found no gradient, a later one did: what a backward between them had brought, or "
    "what the code itself had put there.",
    "Does the batch go through the model in parts, with a backward for each? Then the gradients live from the first "
    "part to the last. Or does the model run again after the backward? One forward pass of the whole batch is enough.",
    "Small parts save the memory of activations. From the first part to the last they save none of gradients.",
    also=(_row_by_row,),
    signs=(ALIVE,),
)
def gradients_alive_in_a_later_forward_pass(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T
) -> object:
    optimizer.zero_grad()
    total = 0.0
    for rows, wanted in zip(x.chunk(2), y.chunk(2), strict=True):
        loss = loss_fn(model(rows), wanted) * (len(rows) / len(x))
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    optimizer.step()
    return total


def _apart(pieces: int) -> Code:
    """The batch in so many pieces, their gradients added outside of `.grad`."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> float:
        params = [param for param in model.parameters() if param.requires_grad]
        sums: list[T | None] = [None] * len(params)
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces), strict=True):
            loss = loss_fn(model(rows), wanted) * (len(rows) / len(x))
            new = torch.autograd.grad(loss, params, allow_unused=True)
            sums = [b if a is None else a if b is None else a + b for a, b in zip(sums, new, strict=True)]
            total += loss.item()
        for param, gradient in zip(params, sums, strict=True):
            param.grad = gradient
        optimizer.step()
        return total

    return code


@mistake(
    "A layer saw a part of the batch",
    "Where a layer works on the rows of the batch together, as batch norm does, step and loss are those of a batch in "
    "pieces: in each the layer worked with other rows.",
    "Run the batch through the model as a whole.",
    "For a model without such a layer the mean over the pieces is the mean over the batch.",
    also=(_apart(3), _apart(6)),
    signs=(ALIVE,),
)
def batch_taken_apart(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _apart(2)(model, optimizer, loss_fn, x, y)


# ------------------------------------------------------------------ what the step used


@mistake(
    "Old gradients took part in the step",
    "The step used the sum of this batch's gradient and of what .grad held before the call.",
    "backward adds. What must .grad hold before it?",
    "Nothing raises, and the loss often falls all the same.",
)
def never_cleared(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step()(model, optimizer, loss_fn, x, y)


@mistake(
    "The first call used what .grad held before it",
    "From the second call on each step used its own gradient alone. At the first call .grad held what the caller had "
    "left there, and the step used the sum.",
    "Clearing at the end is as good as at the start from the second call on. Which place serves the first one, too?",
    "In a loop that begins with a new model .grad is None before the first batch.",
)
def cleared_at_the_end_alone(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(last=_to_none)(model, optimizer, loss_fn, x, y)


@mistake(
    "The gradients were gone before the step",
    "Backward ran, and no parameter moved: a clearing after it took away what the step needs.",
    "A step reads .grad. What runs between backward and the step?",
    "It is one or two lines below the right place.",
    also=(_step(first=_to_none, before_step=_to_none),),
    signs=(BACKWARDS, LEDGER),
)
def cleared_before_the_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(before_step=_to_none)(model, optimizer, loss_fn, x, y)


@mistake(
    "The step came before the backward",
    "No step used the gradient of its batch: when step() ran, .grad was empty, and backward filled it afterwards.",
    "A step reads .grad, and backward writes it. Which of the two comes first?",
    signs=(BACKWARDS, LEDGER),
)
def stepped_before_backward(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    optimizer.step()
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.item()


@mistake(
    "No backward ran",
    "No gradient was computed, and no parameter moved.",
    "What brings a gradient into .grad?",
    signs=(BACKWARDS,),
)
def no_backward(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y).item()
    optimizer.step()
    return loss


@mistake(
    "The optimizer took no step",
    "Backward ran, no clearing came after it, and no parameter moved.",
    "Which call moves the parameters?",
    also=(_step(first=_to_none, steps=0, after_forward=_to_none),),
    signs=(BACKWARDS, LEDGER),
)
def no_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(first=_to_none, steps=0)(model, optimizer, loss_fn, x, y)


@mistake(
    "A frozen parameter was moved by an old gradient",
    "Where a frozen parameter held a gradient from before, the step used it. The optimizer holds frozen parameters, "
    "too, and it looks at .grad alone.",
    "Which parameters does your clearing leave out?",
    "A frozen parameter gets no new gradient, so there seems to be nothing to clear.",
)
def frozen_left_out(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(first=_trainable_to_none)(model, optimizer, loss_fn, x, y)


def _finite_to_none(model: nn.Module, optimizer: Optimizer) -> None:
    for param in model.parameters():
        if param.grad is not None and bool(param.grad.isfinite().all()):
            param.grad = None


@mistake(
    "An infinite or NaN gradient was left",
    "Where .grad held infinite or NaN entries before the call, it still held them at the step.",
    "Which condition passes such a gradient by? Ask whether there is one, not what is in it.",
    where=lambda spec: spec.get("earlier") == "not finite",
)
def not_finite_left(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(first=_finite_to_none)(model, optimizer, loss_fn, x, y)


@mistake(
    "Zeros for what got no gradient",
    "A parameter that this batch brings no gradient was moved, an unused one or a frozen one: zeros stood in its .grad "
    "at the step, and weight decay or momentum did the rest.",
    "What should .grad be where this batch brings nothing?",
    "With plain SGD zeros and None give the same parameters.",
    also=(_step(first=_to_none, after_forward=_fresh_zeros),),
    signs=(ALIVE,),
)
def zeros_for_the_unused(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(first=_to_none, before_step=_zeros_for_none)(model, optimizer, loss_fn, x, y)


@mistake(
    "A step of plain gradient descent, whatever the optimizer",
    "The parameters are those after p - lr * gradient, with the learning rate of the optimizer. This optimizer may have "
    "momentum, averages or weight decay, and what it remembers did not move on either.",
    "Which call makes the optimizer that was handed over take its step?",
    "With plain SGD the two are the same.",
)
def optimizer_passed_by(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for param in model.parameters():
            if param.grad is not None:
                param.sub_(param.grad, alpha=optimizer.param_groups[0]["lr"])
    return loss.item()


@mistake(
    "Two steps for one call",
    "The optimizer stepped twice on the same gradient.",
    "How often does your code call step?",
)
def stepped_twice(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(first=_to_none, steps=2)(model, optimizer, loss_fn, x, y)


@mistake(
    "Twice the gradient",
    "The step used two times the gradient of this batch, as after two backward calls.",
    "How often does what you send backward count the batch?",
    also=(_step(first=_to_none, scale=lambda x: 2.0),),
)
def gradient_doubled(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(first=_to_none, backwards=2)(model, optimizer, loss_fn, x, y)


def _clipped(model: nn.Module, optimizer: Optimizer, longest: float = 1.0) -> None:
    nn.utils.clip_grad_norm_(model.parameters(), longest)


@mistake(
    "The gradient was clipped",
    "The step used this batch's gradient, shortened where its norm was above a bound, such as 1.",
    "Asked is the gradient as it is. Which line shortens it?",
    "Many training scripts clip.",
    also=tuple(_step(first=_to_none, before_step=partial(_clipped, longest=bound)) for bound in (0.5, 5.0, 10.0)),
)
def gradient_clipped(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(first=_to_none, before_step=_clipped)(model, optimizer, loss_fn, x, y)


def _with_the_loss_multiplied(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return float(_step(first=_to_none, scale=len)(model, optimizer, loss_fn, x, y)) * len(x)  # type: ignore[arg-type]


@mistake(
    "Multiplied by the number of rows",
    "The step used the gradient times the number of rows. loss_fn is a mean already.",
    "What does loss_fn return, a sum or a mean? Send backward what it returned.",
    also=(_with_the_loss_multiplied,),
)
def multiplied_by_the_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(first=_to_none, scale=len)(model, optimizer, loss_fn, x, y)


@mistake(
    "Divided by the number of rows",
    "The step used the gradient divided by the number of rows. loss_fn is a mean already.",
    "What does loss_fn return, a sum or a mean? Send backward what it returned.",
)
def divided_by_the_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(first=_to_none, scale=lambda x: 1 / len(x))(model, optimizer, loss_fn, x, y)


@mistake(
    "The optimizer's history was thrown away",
    "The parameters were moved as by an optimizer that has never stepped before. This one has a history, and it is "
    "not what it should be afterwards.",
    "Clearing is about .grad. Leave optimizer.state alone.",
    "Momentum is made of old gradients, so it looks like something to clear.",
)
def history_thrown_away(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.state.clear()
    return _step(first=_to_none)(model, optimizer, loss_fn, x, y)


# ------------------------------------------------------------------ how the loss came about


def _left_in_eval(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    model.eval()
    return _step(first=_to_none)(model, optimizer, loss_fn, x, y)


@mistake(
    "The forward pass ran in eval mode",
    "Where a layer computes another way in eval mode, as batch norm does, loss and step are those of eval mode; the "
    "model was in train mode when it was passed in.",
    "Leave the mode alone, for the time of the call, too.",
    also=(_left_in_eval,),
)
def eval_for_the_forward(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    with modes_put_back(model):
        return _left_in_eval(model, optimizer, loss_fn, x, y)


def _train_and_back(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    with modes_put_back(model):
        return train_for_the_forward.forms[0](model, optimizer, loss_fn, x, y)


@mistake(
    "The forward pass ran in train mode",
    "The model was in eval mode when it was passed in. Its batch norm and dropout computed as in train mode, so loss and "
    "step are others.",
    "Leave the mode alone. Whoever calls a step decides about it: frozen layers are often in eval mode.",
    "Many loops begin with model.train(). This is one step, not the loop.",
    also=(_train_and_back,),
)
def train_for_the_forward(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    model.train()
    return _step(first=_to_none)(model, optimizer, loss_fn, x, y)


@mistake(
    "The arguments of loss_fn were swapped",
    "loss_fn takes the prediction first and the target second. The squared error does not care; other losses do.",
    "Compare the order of your call with that of the exercise's text.",
    signs=(ORDER,),
)
def arguments_swapped(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    return _step(first=_to_none)(model, optimizer, lambda prediction, target: loss_fn(target, prediction), x, y)


@mistake(
    "The loss was measured after the step",
    "What came back is the loss at the parameters that the step has left.",
    "Take the loss that went backward, before the step.",
    signs=(FORWARDS,),
)
def loss_after_the_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    _step(first=_to_none, last=_to_none)(model, optimizer, loss_fn, x, y)
    with torch.no_grad():
        return loss_fn(model(x), y).item()


@mistake(
    "The loss was measured in eval mode",
    "The step is right. What came back is the loss of eval mode, in which a layer such as batch norm computes another "
    "way; the model was in train mode when it was passed in.",
    "Which loss went backward? Return that one, as a number.",
    "A loss that is only looked at is often measured in eval mode.",
)
def loss_of_eval_mode(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T) -> object:
    optimizer.zero_grad()
    with modes_put_back(model), torch.no_grad():
        loss = loss_fn(model.eval()(x), y).item()
    _step(first=_to_none)(model, optimizer, loss_fn, x, y)
    return loss
