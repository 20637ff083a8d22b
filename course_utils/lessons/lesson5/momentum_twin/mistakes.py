"""What is often done instead in exercise 5.8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import Code, made_by, mistake
from course_utils.lessons.lesson5 import mistakes as shared
from course_utils.lessons.training import Batch, LossFn

Batches = Sequence[Batch]


def _sgd(model: nn.Module, lr: float, **numbers: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=lr, **numbers)


def _loop(**numbers: Any) -> Code:
    """The loop that clears to zeros, with these numbers of SGD."""

    def train(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float, set_to_none: bool = False) -> None:
        optimizer = _sgd(model, lr, **numbers)
        for x, y in batches:
            optimizer.zero_grad(set_to_none=set_to_none)
            loss_fn(model(x), y).backward()
            optimizer.step()

    return train


def _cleared_to_none(**numbers: Any) -> Code:
    train = _loop(**numbers)
    return lambda model, loss_fn, batches, lr: train(model, loss_fn, batches, lr, set_to_none=True)


# ------------------------------------------------------------------ the path is right, the gradients are not


@mistake(
    "The path is right; .grad holds something of earlier batches",
    "The parameters end where they should. On the way, after a backward, something of earlier batches' gradients stands in "
    ".grad, of the model or of a copy.",
    "Clear for each batch. What else can keep the sum, if .grad does not?",
)
def never_cleared(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    optimizer = _sgd(model, lr)
    for x, y in batches:
        loss_fn(model(x), y).backward()
        optimizer.step()


@mistake(
    "The path is right; the sum comes back into .grad",
    "The parameters end where they should. Between the batches .grad was emptied or written to, and yet after a backward "
    "something of earlier batches' gradients stands in it.",
    "Something brings their sum back there. Where else may the step find it, so that a backward leaves nothing in .grad "
    "but its own batch's gradient?",
    "A step reads .grad, so the sum seems to belong there.",
)
def sum_brought_back(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    optimizer = _sgd(model, lr)
    kept: dict[nn.Parameter, torch.Tensor] = {}
    for x, y in batches:
        optimizer.zero_grad()
        for p, gradient in kept.items():
            p.grad = gradient
        loss_fn(model(x), y).backward()
        optimizer.step()
        kept = {p: p.grad.clone() for p in model.parameters() if p.grad is not None}


# ------------------------------------------------------------------ the sum is another one


@mistake(
    "A layer that a batch does not use stands still",
    "Where a batch leaves out a layer that an earlier one used, that layer does not move, and in the loop that never clears "
    "it does.",
    "There, .grad of that layer still holds the earlier gradients, and the step uses them. What does yours do with a "
    "parameter to which a batch gave no gradient?",
    "With SGD that has neither momentum nor weight decay, None and zeros lead to the same step.",
    also=(lambda model, loss_fn, batches, lr: _own_sums(model, loss_fn, batches, lr),),
)
def unused_layer_stands_still(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _cleared_to_none(momentum=1.0)(model, loss_fn, batches, lr)


def _own_sums(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    """The sums in a dict of one's own; what has no gradient in a batch is passed over."""
    sums: dict[str, torch.Tensor] = {}
    for x, y in batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        with torch.no_grad():
            for name, p in model.named_parameters():
                if p.grad is not None:
                    sums[name] = p.grad.clone() if name not in sums else sums[name] + p.grad
                    p.sub_(lr * sums[name])


@mistake(
    "A layer that the first batch leaves out never moves",
    "Where a layer has no part in the first batch's loss, it is as it was before the call, though a later batch uses it.",
    "For which parameters do you keep a sum, and when is that decided? What becomes of one whose first gradient comes later?",
    "In most models the first batch reaches every parameter.",
    where=lambda spec: spec["model"] == "switch",
    also=(lambda model, loss_fn, batches, lr: _of_the_first(model, loss_fn, batches, lr, moved_always=False),),
)
def late_layer_never_moves(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _of_the_first(model, loss_fn, batches, lr, moved_always=True)


def _of_the_first(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float, moved_always: bool) -> None:
    """Sums of what the first batch gave a gradient; `moved_always` says that a batch which leaves it out moves it, too."""
    sums: dict[nn.Parameter, torch.Tensor] = {}
    for number, (x, y) in enumerate(batches):
        model.zero_grad()
        loss_fn(model(x), y).backward()
        if number == 0:
            sums = {p: torch.zeros_like(p.grad) for p in model.parameters() if p.grad is not None}
        with torch.no_grad():
            for p, total in sums.items():
                if p.grad is not None:
                    total += p.grad
                if p.grad is not None or moved_always:
                    p.sub_(lr * total)


@mistake(
    "Each step uses its own batch's gradient alone",
    "The parameters end where plain SGD with clears leads: nothing of earlier gradients is in a step.",
    "In the loop that never clears, the third step uses g1 + g2 + g3. Where is that sum kept in yours, is it a tensor of its "
    "own, and does it outlive the batch? An optimizer that is made inside the loop begins with nothing.",
    also=(_loop(), lambda model, loss_fn, batches, lr: _new_for_each(model, loss_fn, batches, lr)),
)
def no_sum_at_all(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _cleared_to_none()(model, loss_fn, batches, lr)


def _new_for_each(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    for x, y in batches:
        optimizer = _sgd(model, lr, momentum=1.0)
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()


@mistake(
    "The sum fades: momentum is 0.9",
    "The parameters end where SGD with momentum=0.9 leads: earlier gradients count less with each step.",
    "In .grad nothing fades: a gradient that was added counts in full until it is cleared. Which momentum keeps it so?",
    "0.9 is what most programs use.",
    also=(_cleared_to_none(momentum=0.9),),
)
def momentum_below_one(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _loop(momentum=0.9)(model, loss_fn, batches, lr)


@mistake(
    "The sum fades: momentum is below one",
    "The parameters end where SGD with a momentum below one leads, such as 0.5, 0.95, 0.99 or 0.999: earlier gradients count "
    "less with each step.",
    "Close to one is not one here: the paths part a little more with each step. May momentum be 1?",
    also=tuple(make(momentum=m) for m in (0.99, 0.999, 0.95, 0.5) for make in (_loop, _cleared_to_none)),
)
def momentum_near_one(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _loop(momentum=0.99)(model, loss_fn, batches, lr)


@mistake(
    "Sums of sums: momentum, and no clear",
    "The parameters end where SGD with momentum leads that never clears: the buffer adds up what .grad has added up already.",
    "Two things keep the sum there. One of them is enough; which one is asked for?",
    also=(lambda model, loss_fn, batches, lr: _never_with(0.9, model, loss_fn, batches, lr),),
)
def summed_twice(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _never_with(1.0, model, loss_fn, batches, lr)


def _never_with(momentum: float, model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    optimizer = _sgd(model, lr, momentum=momentum)
    for x, y in batches:
        loss_fn(model(x), y).backward()
        optimizer.step()


@mistake(
    "A step looks ahead: nesterov",
    "The parameters end where SGD with momentum and nesterov=True leads: each step adds its own gradient once more.",
    "The loop that never clears steps along the sum, and adds nothing to it.",
    also=(_cleared_to_none(momentum=1.0, nesterov=True), _loop(momentum=0.9, nesterov=True)),
)
def looked_ahead(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _loop(momentum=1.0, nesterov=True)(model, loss_fn, batches, lr)


@mistake(
    "New gradients are damped",
    "The parameters end where SGD with momentum=1 and a dampening leads: from the second step on, new gradients do not "
    "count in full.",
    "In .grad each gradient is added as it is. What is dampening by default?",
    also=(
        _loop(momentum=1.0, dampening=0.5),
        _loop(momentum=1.0, dampening=0.9),
        _loop(momentum=0.9, dampening=0.1),
        _cleared_to_none(momentum=1.0, dampening=1.0),
    ),
)
def new_gradients_damped(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _loop(momentum=1.0, dampening=1.0)(model, loss_fn, batches, lr)


def _with_sums(add: Callable[[Any, torch.Tensor, int], torch.Tensor]) -> Code:
    """A loop that steps by hand along what `add(the last step's, this gradient, number of the batch)` gives."""

    def train(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
        trained = [p for p in model.parameters() if p.requires_grad]
        sums = [torch.zeros_like(p, requires_grad=False) for p in trained]
        for number, (x, y) in enumerate(batches, 1):
            new = torch.autograd.grad(loss_fn(model(x), y), trained, allow_unused=True, materialize_grads=True)
            sums = [add(old, g, number) for old, g in zip(sums, new, strict=True)]
            with torch.no_grad():
                for p, step in zip(trained, sums, strict=True):
                    p.sub_(lr * step)

    return train


@mistake(
    "The gradients are averaged, not added",
    "The parameters end where the mean of all gradients so far leads, or a running average of them.",
    "backward adds: the third step of the loop that never clears uses the sum of three gradients.",
    also=(
        _with_sums(lambda old, g, number: 0.9 * old + 0.1 * g),
        _with_sums(lambda old, g, number: (old + g) / 2),
    ),
)
def averaged(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _with_sums(lambda old, g, number: old + (g - old) / number)(model, loss_fn, batches, lr)


@mistake(
    "Each step adds the gradient of one earlier batch alone",
    "The parameters end where steps lead that use two gradients each: that of the batch, and the one before it.",
    "In the loop that never clears, the third step uses g1 + g2 + g3. What do you keep after the second step, g2 or g1 + g2?",
    "With two batches that is the sum.",
    also=(lambda model, loss_fn, batches, lr: _with_the_one_before(model, loss_fn, batches, lr, as_zeros=False),),
)
def one_batch_back(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _with_the_one_before(model, loss_fn, batches, lr, as_zeros=True)


def _with_the_one_before(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float, as_zeros: bool) -> None:
    """`as_zeros` says that a batch which leaves a parameter out counts as a gradient of zeros, and else as none."""
    before: dict[nn.Parameter, torch.Tensor] = {}
    trained = [p for p in model.parameters() if p.requires_grad]
    for x, y in batches:
        new = torch.autograd.grad(loss_fn(model(x), y), trained, allow_unused=True, materialize_grads=as_zeros)
        with torch.no_grad():
            for p, gradient in zip(trained, new, strict=True):
                if gradient is not None:
                    p.sub_(lr * (gradient + before.get(p, torch.zeros_like(p))))
                    before[p] = gradient


@mistake(
    "Steps grow with the number of the batch, along its own gradient",
    "The parameters end where steps of lr, 2 lr, 3 lr, ... lead, each along one batch's gradient.",
    "The loop that never clears does not repeat the newest gradient: it adds the earlier ones, which were taken elsewhere.",
)
def steps_that_grow(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _with_sums(lambda old, g, number: number * g)(model, loss_fn, batches, lr)


@mistake(
    "Earlier batches are asked again at the newest place",
    "The parameters end where each step leads along the gradients of all batches so far, every one of them taken anew at the "
    "parameters of that step; or along their mean.",
    "The loop that never clears keeps an early gradient as it was taken, at the parameters of its own time. Where in yours "
    "is g1 computed when the third step uses it?",
    "It is the gradient of the sum of all losses so far, and sums are what .grad holds.",
    also=(lambda model, loss_fn, batches, lr: _all_anew(model, loss_fn, batches, lr, mean=True),),
)
def taken_anew(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _all_anew(model, loss_fn, batches, lr)


def _all_anew(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float, mean: bool = False) -> None:
    optimizer = _sgd(model, lr)
    for count in range(1, len(batches) + 1):
        optimizer.zero_grad()
        total = torch.stack([loss_fn(model(x), y) for x, y in batches[:count]]).sum()
        (total / count if mean else total).backward()
        optimizer.step()


@mistake(
    "Each gradient is applied at once for all the steps that it will be in",
    "The parameters end where steps of n lr, (n - 1) lr, ... lr lead, each along one batch's gradient.",
    "A gradient is in every later step, but each of these steps comes after another batch. Where are the later gradients "
    "taken, if the early one has moved the parameters all the way?",
)
def applied_ahead(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    count = len(batches)
    _with_sums(lambda old, g, number: (count - number + 1) * g)(model, loss_fn, batches, lr)


@mistake(
    "A step uses the sum before its own gradient is in it",
    "The first step moves nothing, and the last gradient is never used.",
    "In the loop that never clears, backward adds first, and then the step uses the sum. In which order are your lines?",
)
def newest_left_out(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    trained = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p, requires_grad=False) for p in trained]
    for x, y in batches:
        new = torch.autograd.grad(loss_fn(model(x), y), trained, allow_unused=True, materialize_grads=True)
        with torch.no_grad():
            for p, total, gradient in zip(trained, sums, new, strict=True):
                p.sub_(lr * total)
                total.add_(gradient)


@mistake(
    "The sum is lost, and the newest gradient counts twice",
    "From a parameter's second step on, the parameters move by twice the newest gradient, and by nothing of the earlier "
    "ones.",
    "Is the sum a tensor of its own, or the very one that .grad holds? What is cleared in place is cleared under both names.",
)
def sum_shares_its_memory(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    sums: dict[str, torch.Tensor] = {}
    for x, y in batches:
        model.zero_grad(set_to_none=False)
        loss_fn(model(x), y).backward()
        with torch.no_grad():
            for name, p in model.named_parameters():
                if p.grad is not None:
                    sums[name] = sums[name].add_(p.grad) if name in sums else p.grad
                    p.sub_(lr * sums[name])


@mistake(
    "All gradients are taken at one place",
    "The parameters end where one step leads along a sum of all batches' gradients, plain or weighted, or along their mean; "
    "all of them are taken where the model began.",
    "The loop steps after each batch, and the next gradient is taken where that step has led.",
    also=(
        lambda model, loss_fn, batches, lr: _one_step(model, loss_fn, batches, lr / len(batches)),
        lambda model, loss_fn, batches, lr: _one_step(model, loss_fn, batches, lr, weights=range(len(batches), 0, -1)),
    ),
)
def one_step_for_all(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _one_step(model, loss_fn, batches, lr)


def _one_step(
    model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float, weights: Sequence[int] | None = None
) -> None:
    optimizer = _sgd(model, lr)
    counts = weights or [1] * len(batches)
    torch.stack([n * loss_fn(model(x), y) for n, (x, y) in zip(counts, batches, strict=True)]).sum().backward()
    optimizer.step()


@mistake(
    "The model's parameters are as they were",
    "Nothing of the training reached them: a copy was trained, no step was taken, or the gradients were cleared before it.",
    "Whose parameters does the optimizer hold? And what do the gradients hold when it steps?",
)
def not_trained(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    optimizer = _sgd(model, lr)
    for x, y in batches:
        loss_fn(model(x), y).backward()
        optimizer.zero_grad()
        optimizer.step()


def _trained_by(kind: Any) -> Code:
    """A loop with an optimizer of that class."""

    def train(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
        optimizer = kind(model.parameters(), lr=lr)
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()

    return train


@mistake(
    "Another optimizer takes another path",
    "The parameters end where Adam, AdamW, RMSprop or Adagrad leads.",
    "These divide each gradient by a size of its own. The path asked for is one of plain sums times lr.",
    also=(_trained_by(torch.optim.AdamW), _trained_by(torch.optim.RMSprop), _trained_by(torch.optim.Adagrad)),
)
def another_optimizer(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _trained_by(torch.optim.Adam)(model, loss_fn, batches, lr)


@mistake(
    "Both runs were made on the one model",
    "The parameters end where two runs after each other lead, the second one begun where the first one ended.",
    "A run to compare with needs a model of its own: copy.deepcopy before either begins.",
    also=(
        lambda model, loss_fn, batches, lr: _twice(model, loss_fn, batches, lr, first_clears=True),
        lambda model, loss_fn, batches, lr: _twice(
            model, loss_fn, batches, lr, first_clears=True, cleared_between=True
        ),
        lambda model, loss_fn, batches, lr: _twice(model, loss_fn, batches, lr, cleared_between=True),
    ),
)
def trained_twice(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _twice(model, loss_fn, batches, lr)


def _twice(
    model: nn.Module,
    loss_fn: LossFn,
    batches: Batches,
    lr: float,
    first_clears: bool = False,
    cleared_between: bool = False,
) -> None:
    for clears in (first_clears, not first_clears):
        if cleared_between:
            model.zero_grad()
        if clears:
            _loop(momentum=1.0)(model, loss_fn, batches, lr)
        else:
            never_cleared.forms[0](model, loss_fn, batches, lr)


@mistake(
    "Prediction and target are in the wrong order",
    "The parameters end where the loss leads that takes the target for the prediction.",
    "loss_fn takes the prediction first.",
    "For squares of a difference the order does not matter.",
)
def arguments_of_the_loss_swapped(model: nn.Module, loss_fn: LossFn, batches: Batches, lr: float) -> None:
    _loop(momentum=1.0)(model, lambda prediction, target: loss_fn(target, prediction), batches, lr)


put_into_train_mode = made_by(shared.put_into_train_mode, *shared.in_train_mode(_loop(momentum=1.0)))
