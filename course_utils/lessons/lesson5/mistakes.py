"""What the six repairs have in common of what is often done instead: words, and the loops that make them.

A loop that makes a mistake takes `see`, called with each batch before its step: so it serves where maps are asked, too.
"""

from __future__ import annotations

import copy
import inspect
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import torch
from torch import nn

from course_utils.checks.mistakes import made_by, named
from course_utils.checks.observe import LEDGER
from course_utils.checks.observe.spies import BACKWARDS
from course_utils.lessons.training import Batch, LossFn, modes_put_back

Optimizer = torch.optim.Optimizer
Clear = Callable[[nn.Module, Optimizer], None]
See = Callable[[torch.Tensor, torch.Tensor], None]
Renew = Callable[[nn.Module, Optimizer], Optimizer]
Loop = Callable[..., None]
When = Literal["call", "epoch", "batch"]


def emptied(model: nn.Module, optimizer: Optimizer) -> None:
    """Every `.grad` is None."""
    optimizer.zero_grad()


def zeroed(model: nn.Module, optimizer: Optimizer) -> None:
    """Every `.grad` holds zeros."""
    optimizer.zero_grad(set_to_none=False)


def loop(
    *,
    epoch: Clear | None = None,
    batch: Clear | None = None,
    late: Clear | None = None,
    step: When | None = "batch",
    early: bool = False,
    again: bool = False,
    backward: bool = True,
    divided: Callable[[Sequence[Batch]], float] = lambda batches: 1.0,
    renew: Renew | None = None,
    renewed: When = "call",
    most_epochs: int | None = None,
    most_batches: int | None = None,
) -> Loop:
    """A training loop: what clears before each epoch, before each batch, and late, between backward and step.

    `step` says after what a step is taken, `early` that it comes ahead of the forward, `again` that it comes twice;
    `divided` by what each loss is divided; `renew` makes the optimizer anew at the start of what `renewed` says.
    """

    def code(
        model: nn.Module,
        optimizer: Optimizer,
        loss_fn: LossFn,
        batches: Sequence[Batch],
        epochs: int,
        see: See = lambda x, y: None,
    ) -> None:
        def begin(what: When, clear: Clear | None) -> None:
            nonlocal optimizer
            if renew is not None and renewed == what:
                optimizer = renew(model, optimizer)
            if clear is not None:
                clear(model, optimizer)

        def update() -> None:
            if late is not None:
                late(model, optimizer)
            optimizer.step()
            if again:
                optimizer.step()

        begin("call", None)
        for _ in range(epochs if most_epochs is None else min(most_epochs, epochs)):
            begin("epoch", epoch)
            for x, y in batches[:most_batches]:
                if early:
                    update()
                begin("batch", batch)
                see(x, y)
                loss = loss_fn(model(x), y)
                if backward:
                    (loss / divided(batches)).backward()
                if step == "batch" and not early:
                    update()
            if step == "epoch":
                update()
        if step == "call":
            update()

    return code


# ------------------------------------------------------------------ where it is cleared

never_cleared = made_by(
    named(
        "never-cleared",
        "Nothing was cleared between the steps",
        "Each step used the gradients of all backward passes up to its own, those that earlier steps had used included.",
        "Which line empties .grad, and does it run between one step and the next backward? A method that is named and "
        "not called, without its parentheses, does nothing.",
        "Nothing raises, and the loss often falls all the same.",
    ),
    loop(),
)
cleared_before_the_step = made_by(
    named(
        "cleared-before-the-step",
        "The gradients were gone before the step",
        "Backward ran, the gradients were cleared, and then came the step. It found nothing, and no parameter moved.",
        "A step reads .grad. What runs between the backward and the step?",
        "It is one line below the right place.",
        signs=(BACKWARDS, LEDGER),
    ),
    loop(late=emptied),
)
zeros_before_the_step = made_by(
    named(
        "zeros-before-the-step",
        "Each step was given zeros",
        "What moved was moved by weight decay or by the memory of earlier steps. The parameters are those of a loop "
        "whose gradients are zeros when the step comes.",
        "A step reads .grad. What stands there on the line before it, and which line put it there?",
        "None and zeros differ for the optimizer, but neither holds the gradient of the batch.",
    ),
    loop(late=zeroed),
)


def _from_the_second_step_on(clear: Clear) -> Loop:
    """A loop that clears between backward and step, but for its first step."""

    def code(
        model: nn.Module,
        optimizer: Optimizer,
        loss_fn: LossFn,
        batches: Sequence[Batch],
        epochs: int,
        see: See = lambda x, y: None,
    ) -> None:
        taken = 0

        def late(model: nn.Module, optimizer: Optimizer) -> None:
            nonlocal taken
            if taken:
                clear(model, optimizer)
            taken += 1

        loop(batch=emptied, late=late)(model, optimizer, loss_fn, batches, epochs, see)

    return code


nothing_after_the_first_step = made_by(
    named(
        "nothing-after-the-first-step",
        "The later steps found no gradient, or zeros",
        "The first step is right. The parameters are those of a loop whose later steps find zeros in .grad, or None: what "
        "moves there is moved by weight decay or by the memory of earlier steps.",
        "What does .grad hold on the line before the second step, and which line put it there? Two names may stand for one "
        "tensor: backward adds to .grad in place, and what was taken from it without a copy changes with it.",
        signs=(BACKWARDS,),
    ),
    _from_the_second_step_on(zeroed),
    _from_the_second_step_on(emptied),
)
cleared_once_an_epoch = made_by(
    named(
        "cleared-once-an-epoch",
        "Nothing was cleared between the batches of an epoch",
        "The first step of each epoch used the gradient of its own batch. Each later one used the gradients of all "
        "batches of its epoch up to its own.",
        "How often does a step come in an epoch, and what clears between one step and the next?",
        "With one batch an epoch nothing is wrong.",
    ),
    loop(epoch=emptied),
)


def _gathered(parts: Callable[[int, int], tuple[float, float]]) -> Loop:
    """Cleared once an epoch; `parts` of (number of the batch, from 1, number of batches) are by what .grad is divided
    before a step, and multiplied after it."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int) -> None:
        def scale(factor: float) -> None:
            for p in model.parameters():
                if p.grad is not None:
                    p.grad *= factor

        for _ in range(epochs):
            optimizer.zero_grad()
            for number, (x, y) in enumerate(batches, 1):
                loss_fn(model(x), y).backward()
                before, after = parts(number, len(batches))
                scale(1 / before)
                optimizer.step()
                scale(after)

    return code


def _each_divided_by_its_number(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> None:
    for _ in range(epochs):
        optimizer.zero_grad()
        for number, (x, y) in enumerate(batches, 1):
            torch.autograd.backward(loss_fn(model(x), y) / number)
            optimizer.step()


cleared_once_an_epoch_and_divided = made_by(
    named(
        "cleared-once-an-epoch-and-divided",
        "Not cleared between the batches of an epoch, and divided",
        "The parameters are those of a loop whose steps use what .grad has gathered since the epoch began. Each loss, or what "
        "was gathered, is divided by the number of batches, or by a number that grows from batch to batch.",
        "How often does a step come in an epoch, and what clears between one step and the next? A mean is wanted where "
        "several batches share a step.",
        "Dividing makes the sum of an epoch about as long as one gradient, but one of many batches it stays.",
    ),
    loop(epoch=emptied, divided=len),
    _each_divided_by_its_number,
    _gathered(lambda number, count: (number, 1)),
    _gathered(lambda number, count: (count, 1)),
    _gathered(lambda number, count: (number, number)),
    _gathered(lambda number, count: (number + 1, 1)),
)


def _first_group(model: nn.Module, optimizer: Optimizer) -> None:
    for p in optimizer.param_groups[0]["params"]:
        p.grad = None


first_group_alone_cleared = made_by(
    named(
        "first-group-alone-cleared",
        "Only the first group of parameters was cleared",
        "With one group all is right. Where the optimizer has two, the gradients of the second one pile up.",
        "optimizer.param_groups is a list. How long is it?",
        "Most optimizers have one group.",
    ),
    loop(batch=_first_group),
)


def _of_shape(wanted: Callable[[nn.Parameter], bool]) -> Clear:
    def clear(model: nn.Module, optimizer: Optimizer) -> None:
        for p in model.parameters():
            if wanted(p):
                p.grad = None

    return clear


def _of_weights(model: nn.Module, optimizer: Optimizer) -> None:
    for name, p in model.named_parameters():
        if name.endswith("weight"):
            p.grad = None


def _of_children(model: nn.Module, optimizer: Optimizer) -> None:
    """Where the model has no children, its own."""
    for module in list(model.children()) or [model]:
        for p in module.parameters(recurse=False):
            p.grad = None


def _of_linear_layers(model: nn.Module, optimizer: Optimizer) -> None:
    for module in model.modules():
        if isinstance(module, nn.Linear):
            for p in module.parameters(recurse=False):
                p.grad = None


some_parameters_not_cleared = made_by(
    named(
        "some-parameters-not-cleared",
        "Some parameters were not cleared",
        "Some parameters were given the gradient of their batch alone. The gradients of the others pile up from step to "
        "step, all the way or within each epoch.",
        "Which parameters does the line reach that clears, and which does the step reach?",
    ),
    loop(batch=_of_shape(lambda p: p.ndim > 1)),
    loop(batch=_of_shape(lambda p: p.ndim == 1)),
    loop(batch=_of_weights),
    loop(batch=_of_children),
    loop(epoch=emptied, batch=_of_shape(lambda p: p.ndim > 1)),
    loop(epoch=emptied, batch=_of_weights),
    loop(batch=_of_linear_layers),
    loop(epoch=emptied, batch=_of_linear_layers),
)


def _every_second(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> None:
    every = [batch for _ in range(epochs) for batch in batches]
    for start in range(0, len(every), 2):
        loop(epoch=emptied)(model, optimizer, loss_fn, every[start : start + 2], 1)


cleared_at_every_second_step = made_by(
    named(
        "cleared-at-every-second-step",
        "Cleared at every second step",
        "The parameters are those of a loop that clears before the first step, the third and so on: the steps between "
        "use the gradients of two batches.",
        "How many steps come between two clearings, and how many should?",
    ),
    _every_second,
)


def _at_every_second_batch(rest: int, *, after: bool) -> Loop:
    """Cleared at the batches of an epoch whose number, from 0, leaves this rest when divided by 2: before them or after."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int) -> None:
        for _ in range(epochs):
            for number, (x, y) in enumerate(batches):
                at = number % 2 == rest
                if at and not after:
                    optimizer.zero_grad()
                loss_fn(model(x), y).backward()
                optimizer.step()
                if at and after:
                    optimizer.zero_grad()

    return code


cleared_at_every_second_batch = made_by(
    named(
        "cleared-at-every-second-batch",
        "Cleared at every second batch of an epoch",
        "The parameters are those of a loop that clears at every second batch of each epoch, before it or after it: steps "
        "without a clear use the gradients of earlier batches, too.",
        "For which batches does the line that clears run, and for which the step?",
        "It looks like gradient accumulation, where a window of two batches has one clear; but it has one step, too.",
    ),
    *(_at_every_second_batch(rest, after=after) for rest in (0, 1) for after in (False, True)),
)


def _but_at_the_first_batch(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> None:
    for _ in range(epochs):
        for number, (x, y) in enumerate(batches):
            if number > 0:
                optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


not_cleared_at_the_first_batch = made_by(
    named(
        "not-cleared-at-the-first-batch",
        "Nothing was cleared before the first batch of an epoch",
        "The first epoch is right. The first step of each later one also used what the epoch before had left in .grad.",
        "For which batches of an epoch does the line that clears run? What does .grad hold when the second epoch begins?",
        "Before the very first batch there is nothing to clear.",
    ),
    _but_at_the_first_batch,
)


def _but_at_the_second_batch(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> None:
    for _ in range(epochs):
        for number, (x, y) in enumerate(batches):
            if number != 1:
                optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


not_cleared_at_the_second_batch = made_by(
    named(
        "not-cleared-at-the-second-batch",
        "Nothing was cleared between the first two batches of an epoch",
        "The second step of each epoch also used the gradient of the epoch's first batch. The other steps are right.",
        "For which batches of an epoch does the line that clears run? Numbers that enumerate gives begin at 0.",
    ),
    _but_at_the_second_batch,
)


def _weights(model: nn.Module, optimizer: Optimizer) -> None:
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad:
                p.zero_()


def _weights_and_gradients(model: nn.Module, optimizer: Optimizer) -> None:
    _weights(model, optimizer)
    optimizer.zero_grad()


def _all_weights(model: nn.Module, optimizer: Optimizer) -> None:
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()


weights_were_zeroed = made_by(
    named(
        "weights-were-zeroed",
        "Weights were set to zero",
        "The parameters are those of a loop that sets the weights themselves to zero before each batch.",
        "p is the parameter, p.grad is its gradient. Which of the two is to be emptied?",
        '"zero_grad of a model" sounds as if it emptied the model.',
    ),
    *(loop(batch=clear) for clear in (_weights, _weights_and_gradients, _all_weights)),
)

# ------------------------------------------------------------------ when it steps

stepped_once_an_epoch = made_by(
    named(
        "stepped-once-an-epoch",
        "One step an epoch",
        "The gradients of all batches of an epoch were computed at the same weights, and one step used their sum or "
        "their mean.",
        "How many steps does the exercise ask for, one a batch or one an epoch? How far is the step indented?",
        "Then steps and clearings come equally often, too; but it is another training.",
    ),
    loop(epoch=emptied, step="epoch"),
    loop(epoch=emptied, step="epoch", divided=len),
)
stepped_on_the_last_batch_alone = made_by(
    named(
        "stepped-on-the-last-batch-alone",
        "One step an epoch, on its last batch alone",
        "The parameters are those of a loop that takes one step an epoch, with the gradient of the last batch.",
        "How far are the clearing and the step indented?",
    ),
    loop(batch=emptied, step="epoch"),
)


def _shared_by(window: int, divided: float) -> Loop:
    """A step, and a clear, after so many batches of an epoch and after its last; each loss is `divided`."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int) -> None:
        for _ in range(epochs):
            for number, (x, y) in enumerate(batches, 1):
                torch.autograd.backward(loss_fn(model(x), y) / divided)
                if number % window == 0 or number == len(batches):
                    optimizer.step()
                    optimizer.zero_grad()

    return code


stepped_after_several_batches = made_by(
    named(
        "stepped-after-several-batches",
        "One step for two batches, or for three or four",
        "The parameters are those of a loop that steps after every second, third or fourth batch of an epoch, and after its "
        "last one. Batches share a step, which uses the sum of their gradients, whole or divided by two, three or four.",
        "How many steps does the exercise ask for? On which condition does the line with the step run?",
        "Gradient accumulation looks so: it makes one large batch of several small ones.",
    ),
    *(_shared_by(window, divided) for window in (2, 3, 4) for divided in (window, 1)),
)
last_gradient_never_used = made_by(
    named(
        "last-gradient-never-used",
        "The last batch's gradient was never used",
        "The parameters are right but for the last step, which did not come. So it is where the step stands ahead of the "
        "forward: the first one finds nothing, and each later one uses what the round before has left.",
        "What comes after the last backward of all?",
    ),
    loop(early=True, batch=emptied),
)


def _between(cleared: Literal["epoch", "batch"] | None) -> Loop:
    """A step between the forward and the backward of each batch; cleared before each `cleared`, or never."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int) -> None:
        for _ in range(epochs):
            if cleared == "epoch":
                optimizer.zero_grad()
            for x, y in batches:
                if cleared == "batch":
                    optimizer.zero_grad()
                loss = loss_fn(model(x), y)
                optimizer.step()
                loss.backward()

    return code


stepped_between_forward_and_backward = made_by(
    named(
        "stepped-between-forward-and-backward",
        "The weights were moved between a forward and its backward",
        "Where a step found no gradient, no parameter moved. Where it found one, it changed in place a weight that the "
        "backward behind it still needed, and PyTorch refused to go on.",
        "Forward, backward, step: in which order do they stand? A backward computes with the weights of its own forward.",
        "The first step finds nothing, so that with a single batch nothing is raised.",
        signs=(BACKWARDS, LEDGER),
    ),
    _between(None),
    _between("epoch"),
)
never_stepped = made_by(
    named(
        "never-stepped",
        "Backward ran, and no step used what it left",
        "Each batch went backward, and no parameter moved.",
        "Which line moves the parameters, does it run, and what does it find?",
        signs=(BACKWARDS, LEDGER),
    ),
    loop(batch=emptied, step=None),
    loop(step=None),
    _between("batch"),
)
nothing_went_backward = made_by(
    named(
        "nothing-went-backward",
        "No backward wrote into .grad",
        "No backward pass wrote into .grad, and no parameter moved.",
        "What brings a gradient to the place where the step looks for it?",
        signs=(BACKWARDS,),
    ),
    loop(backward=False),
)
stepped_twice_a_batch = made_by(
    named(
        "stepped-twice-a-batch",
        "Two steps a batch",
        "The parameters are those of a loop that steps twice with the gradient of each batch.",
        "How often does the line with the step run for one backward?",
    ),
    loop(batch=emptied, again=True),
)


def _again_on_zeros(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> None:
    for _ in range(epochs):
        for x, y in batches:
            zeroed(model, optimizer)
            loss_fn(model(x), y).backward()
            optimizer.step()
            zeroed(model, optimizer)
            optimizer.step()


stepped_again_on_zeros = made_by(
    named(
        "stepped-again-on-zeros",
        "A second step for each batch, on zeros",
        "The parameters are those of a loop that steps with the gradient of each batch, and once more with zeros: momentum, "
        "weight decay and Adam's averages move them at that step, too.",
        "How many steps run for one batch, and how many should? Clearing is not something that a step has to carry out.",
        "With plain SGD a step on zeros moves nothing.",
    ),
    _again_on_zeros,
)
stopped_after_the_first_epoch = made_by(
    named(
        "stopped-after-the-first-epoch",
        "The parameters are those after one epoch",
        "The first epoch is right, and the others left no trace.",
        "How far is the return indented, and how often does the outer loop turn?",
    ),
    loop(batch=emptied, most_epochs=1),
)
stopped_after_the_first_batch = made_by(
    named(
        "stopped-after-the-first-batch",
        "The parameters are those after one step",
        "The first batch is right, and the others left no trace.",
        "How far is the return indented?",
        signs=(BACKWARDS,),
    ),
    loop(batch=emptied, most_epochs=1, most_batches=1),
)

# ------------------------------------------------------------------ with what it steps

batches_counted_twice = made_by(
    named(
        "batches-counted-twice",
        "Each batch counted twice",
        "The parameters are those of a loop whose steps use twice the gradient of their batch.",
        "How many backward passes run between two clearings, and how many should?",
    ),
    loop(batch=emptied, divided=lambda batches: 0.5),
)


def _batch_by_batch(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> None:
    for batch in batches:
        loop(batch=emptied)(model, optimizer, loss_fn, [batch], epochs)


each_batch_for_all_epochs = made_by(
    named(
        "each-batch-for-all-epochs",
        "All epochs of one batch came before the next batch",
        "The parameters are those of a loop that trains with the first batch as often as there are epochs, then with the "
        "second, and so on.",
        "Which of the two loops is the outer one?",
    ),
    _batch_by_batch,
)


def _gradients_first(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> None:
    params = [p for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        for gradients in [torch.autograd.grad(loss_fn(model(x), y), params) for x, y in batches]:
            for p, gradient in zip(params, gradients, strict=True):
                p.grad = gradient
            optimizer.step()


gradients_of_the_epochs_first_weights = made_by(
    named(
        "gradients-of-the-epochs-first-weights",
        "All gradients of an epoch are of its first weights",
        "Each step used the gradient of its own batch, but at the weights with which the epoch began: the steps between "
        "had moved them.",
        "Between a batch's forward and its step no other step should come.",
    ),
    _gradients_first,
)
divided_by_the_number_of_batches = made_by(
    named(
        "divided-by-the-number-of-batches",
        "Each gradient was divided by the number of batches",
        "The parameters are those of a loop whose steps use the gradient of the batch divided by the number of batches.",
        "Each batch has a step of its own here. Over what would one average?",
        "Where several batches share one step, their losses are averaged.",
    ),
    loop(batch=emptied, divided=len),
)


def _clipped(norm: float | None = None, value: float | None = None) -> Clear:
    def clip(model: nn.Module, optimizer: Optimizer) -> None:
        if norm is not None:
            nn.utils.clip_grad_norm_(model.parameters(), norm)
        if value is not None:
            nn.utils.clip_grad_value_(model.parameters(), value)

    return clip


gradients_clipped = made_by(
    named(
        "gradients-clipped",
        "The gradients were clipped",
        "The parameters are those of a loop that clips each batch's gradient before the step: its norm, or its entries.",
        "Asked is a step with the gradient of the batch as it is. Which line between backward and step makes it smaller?",
        "Many recipes clip, and where the gradient is small anyway nothing shows.",
    ),
    *(loop(batch=emptied, late=_clipped(norm=most)) for most in (1.0, 0.1, 0.5, 2.0, 5.0, 10.0)),
    *(loop(batch=emptied, late=_clipped(value=most)) for most in (1.0, 0.1, 0.5)),
)


def _in_the_order(of: Callable[[int], Iterable[int]]) -> Loop:
    """A loop that takes the batches of each epoch in the order `of` their number."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int) -> None:
        for _ in range(epochs):
            loop(batch=emptied)(model, optimizer, loss_fn, [batches[at] for at in of(len(batches))], 1)

    return code


def _shuffled(count: int) -> list[int]:
    order = list(range(count))
    random.shuffle(order)
    return order


def _in_an_order_kept(turn: Callable[[list[Batch]], None], *, first: bool) -> Loop:
    """A loop that turns the list of batches about for each epoch, and goes on with what comes of it; `first` says
    whether for the first epoch, too."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int) -> None:
        every = list(batches)
        for epoch in range(epochs):
            if epoch or first:
                turn(every)
            loop(batch=emptied)(model, optimizer, loss_fn, every, 1)

    return code


batches_in_another_order = made_by(
    named(
        "batches-in-another-order",
        "The batches were taken in another order",
        "The parameters are those of a loop that takes the batches backwards, or shuffled, in each epoch or in some.",
        "In which order are they asked for?",
        "With one batch there is one order alone; and data is often shuffled for each epoch.",
    ),
    _in_the_order(lambda count: reversed(range(count))),
    _in_the_order(lambda count: torch.randperm(count).tolist()),
    _in_the_order(_shuffled),
    _in_the_order(lambda count: random.sample(range(count), count)),
    *(_in_an_order_kept(turn, first=first) for turn in (list.reverse, random.shuffle) for first in (True, False)),
)


def _with_defaults(model: nn.Module, optimizer: Optimizer) -> Optimizer:
    kind: Any = type(optimizer)
    taken = inspect.signature(kind).parameters  # defaults hold more than some optimizers take
    made: Optimizer = kind(model.parameters(), **{k: v for k, v in optimizer.defaults.items() if k in taken})
    return made


def _with_rate(model: nn.Module, optimizer: Optimizer) -> Optimizer:
    kind: Any = type(optimizer)
    made: Optimizer = kind(model.parameters(), lr=optimizer.param_groups[0]["lr"])
    return made


def _with_groups(model: nn.Module, optimizer: Optimizer) -> Optimizer:
    kind: Any = type(optimizer)
    made: Optimizer = kind([dict(group) for group in optimizer.param_groups])
    return made


def _as_it_came(code: Loop) -> Loop:
    """A loop before each epoch of which the optimizer is put back to the state in which it came."""

    def put_back(
        model: nn.Module,
        optimizer: Optimizer,
        loss_fn: LossFn,
        batches: Sequence[Batch],
        epochs: int,
        see: See = lambda x, y: None,
    ) -> None:
        came = copy.deepcopy(optimizer.state_dict())
        for _ in range(epochs):
            optimizer.load_state_dict(copy.deepcopy(came))
            code(model, optimizer, loss_fn, batches, 1, see)

    return put_back


def forgetting(whens: Sequence[When] = ("call", "epoch", "batch"), **rest: Any) -> tuple[Loop, ...]:
    """The loop that `rest` describes, with an optimizer that is made anew: in each of three ways, at each of `whens`,
    or put back."""
    ways = (_with_groups, _with_defaults, _with_rate)
    anew = [loop(renew=renew, renewed=when, **rest) for renew in ways for when in whens]
    return (*anew, _as_it_came(loop(**rest)))


memory_lost = made_by(
    named(
        "memory-lost",
        "The optimizer's memory was lost",
        "The parameters are those of a loop in which the optimizer, or another one of the same kind in its place, has "
        "lost on the way what it had gathered (momentum, Adam's averages), or its settings.",
        "Only .grad is to be emptied. Was an optimizer made anew, or its state cleared?",
        "A new optimizer begins clean, but that is clean of too much.",
    ),
    *forgetting(batch=emptied),
)


class _Plain(torch.optim.Optimizer):
    """Each parameter moves against its gradient, times the learning rate of its group, or of the first group."""

    def __init__(self, optimizer: Optimizer, rates: Iterable[float]) -> None:
        groups = [
            {"params": group["params"], "lr": rate} for group, rate in zip(optimizer.param_groups, rates, strict=True)
        ]
        super().__init__(groups, {"lr": 0.0})

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One step."""
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p -= group["lr"] * p.grad


def _own_rates(model: nn.Module, optimizer: Optimizer) -> Optimizer:
    return _Plain(optimizer, [group["lr"] for group in optimizer.param_groups])


def _first_rate(model: nn.Module, optimizer: Optimizer) -> Optimizer:
    return _Plain(optimizer, [optimizer.param_groups[0]["lr"] for _ in optimizer.param_groups])


plain_descent = made_by(
    named(
        "plain-descent",
        "Plain gradient descent in place of the optimizer's steps",
        "The parameters are those of steps of the learning rate times the gradient. Where the optimizer has momentum, "
        "weight decay or Adam's rule, its own steps are others.",
        "Let the optimizer that is handed over take the steps.",
    ),
    *(loop(batch=emptied, renew=renew) for renew in (_own_rates, _first_rate)),
)


def _thawed(model: nn.Module, optimizer: Optimizer) -> None:
    model.requires_grad_(True)
    optimizer.zero_grad()


def _zeros_for_all(model: nn.Module, optimizer: Optimizer) -> None:
    for p in model.parameters():
        p.grad = torch.zeros_like(p)


def _gradients_for_all(
    model: nn.Module,
    optimizer: Optimizer,
    loss_fn: LossFn,
    batches: Sequence[Batch],
    epochs: int,
    see: See = lambda x, y: None,
) -> None:
    def loss_of(weights: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return loss_fn(torch.func.functional_call(model, weights, (x,)), y)

    for _ in range(epochs):
        for x, y in batches:
            see(x, y)
            weights = {name: p.detach() for name, p in model.named_parameters()}
            for name, gradient in torch.func.grad(loss_of)(weights, x, y).items():
                model.get_parameter(name).grad = gradient
            optimizer.step()


a_frozen_parameter_moved = made_by(
    named(
        "a-frozen-parameter-moved",
        "A frozen parameter moved",
        "A parameter whose requires_grad was off is not as it was. What the others learn may depend on it, and then they are "
        "not as they should be, either.",
        "Does a line switch requires_grad on for every parameter, or give every parameter a gradient? Zeros "
        "are one, too: weight decay and momentum move what has zeros, and leave alone what has None.",
        "Where nothing is frozen all is right.",
    ),
    loop(batch=_thawed),
    loop(batch=_zeros_for_all),
    _gradients_for_all,
)


def in_train_mode(*codes: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Each of `codes`, whose first argument is a model, in train mode; it is left so, or put back afterwards."""

    def left(code: Callable[..., Any]) -> Callable[..., Any]:
        def train(model: nn.Module, *rest: Any) -> Any:
            model.train()
            return code(model, *rest)

        return train

    def put_back(code: Callable[..., Any]) -> Callable[..., Any]:
        def train(model: nn.Module, *rest: Any) -> Any:
            with modes_put_back(model):
                return left(code)(model, *rest)

        return train

    return (*map(left, codes), *map(put_back, codes))


put_into_train_mode = made_by(
    named(
        "put-into-train-mode",
        "The model is put into train mode",
        "A model that came in eval mode, or with layers in eval mode, is trained in train mode: dropout and batch norm give "
        "other predictions, and other gradients.",
        "Leave model.train() and model.eval() to the caller.",
        "Training is what train mode is for.",
        where=lambda spec: spec["model"] in ("eval", "part eval"),
    ),
    *in_train_mode(loop(batch=emptied)),
)

# ------------------------------------------------------------------ what is left behind


def hooked(code: Loop) -> Loop:
    """A loop before which a hook is registered on each parameter, and stays."""

    def leaving(model: nn.Module, *rest: Any) -> None:
        for p in model.parameters():
            if p.requires_grad:
                p.register_hook(lambda gradient: None)
        code(model, *rest)

    return leaving


hooks_left_behind = made_by(
    named(
        "hooks-left-behind",
        "A hook was left behind",
        "On these cases the numbers are right, and a hook that the call has registered is still there: it works on in "
        "whatever is done with the model or the optimizer next.",
        "Keep the handle that registering returns and call its remove(); or do without a hook.",
    ),
    hooked(loop(batch=emptied)),
)
"""A rule that was broken; `answers.no_hooks` tells it."""
