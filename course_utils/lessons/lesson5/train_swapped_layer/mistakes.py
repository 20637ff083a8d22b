"""What is often done instead in exercise 5.6."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import Mistake, made_by, mistake
from course_utils.lessons.lesson5 import mistakes as shared
from course_utils.lessons.lesson5.mistakes import Loop, emptied, loop
from course_utils.lessons.lesson5.repairs import TRUNK, own_of
from course_utils.lessons.training import Batch, LossFn, MakeOptimizer

Batches = Sequence[Batch]
_right = loop(batch=emptied)


def _swapped(code: Loop) -> Callable[..., None]:
    """The layer replaced as it should be, and then that loop."""

    def swapped(
        model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
    ) -> None:
        model.head = new_head
        code(model, make(model.parameters()), loss_fn, batches, epochs)

    return swapped


def _shared(one: Mistake) -> Mistake:
    return made_by(one, *map(_swapped, one.forms))


class _Several(torch.optim.Optimizer):
    """Several optimizers that step together; one of them clears."""

    def __init__(self, stepping: Iterable[torch.optim.Optimizer], clearing: torch.optim.Optimizer) -> None:
        self._stepping, self._clearing = list(stepping), clearing
        super().__init__([p for group in clearing.param_groups for p in group["params"]], {})

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One step of each."""
        for one in self._stepping:
            one.step()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Of the one that clears."""
        self._clearing.zero_grad(set_to_none)


# ------------------------------------------------------------------ what the optimizer holds


def _of_the_trunk_alone(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    optimizer = make([own_of(model)[1], *model.trunk.parameters()])
    model.head = new_head
    _right(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The new head did not move",
    "The trunk was trained, and the new head is as it was handed in.",
    "Which tensors does the optimizer hold, and when was that list taken? And does it find the head's gradients?",
    "model.parameters() is asked once, when the optimizer is made. An assignment to the model later does not reach it.",
    also=(_of_the_trunk_alone,),
)
def the_new_head_did_not_move(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    optimizer = make(model.parameters())
    model.head = new_head
    _right(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The new head alone was trained",
    "The new head moved as it would on a trunk that stands still; the trunk is as it was handed in.",
    "The whole model is to be trained. Which tensors does the optimizer hold?",
    "With a pretrained trunk one often trains the head alone, at first.",
    signs=(TRUNK,),
)
def the_head_alone_was_trained(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    model.head = new_head
    _right(model, make(new_head.parameters()), loss_fn, batches, epochs)


@mistake(
    "A parameter of the model's own was left out",
    "The layers of the model were trained, the new head among them. The parameter that belongs to the model itself, and "
    "to none of its layers, is as it was handed in.",
    "model.parameters() gives all of them. What do the layers one by one leave out?",
)
def a_parameter_of_the_models_own_was_left_out(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    model.head = new_head
    _right(model, make([*model.trunk.parameters(), *new_head.parameters()]), loss_fn, batches, epochs)


def _chosen_by_name(of_the_trunk: Callable[[str], bool]) -> Callable[..., None]:
    def chosen(
        model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
    ) -> None:
        model.head = new_head
        trunk = [p for name, p in model.named_parameters() if of_the_trunk(name)]
        _right(model, make([*trunk, *new_head.parameters()]), loss_fn, batches, epochs)

    return chosen


def _of_each_by_name(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    """Two optimizers, one of them of what has no head in its name: where that is nothing, making it raises."""
    model.head = new_head
    of_trunk = make([p for name, p in model.named_parameters() if "head" not in name])
    of_all = make(model.parameters())
    _right(model, _Several([of_trunk, make(new_head.parameters())], clearing=of_all), loss_fn, batches, epochs)


@mistake(
    "What the old head shares with the rest was left out",
    "Where a tensor of the old head is one of the rest, too, it is as it was handed in. All else was trained.",
    "Which parameters does the model have when new_head is in its place? Taking away what the old head holds takes away "
    "what it shares, too.",
    "Most heads share nothing.",
    where=lambda spec: "tied" in spec,
)
def what_the_old_head_shares_was_left_out(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    of_the_head = {id(p) for p in model.head.parameters()}
    trunk = [p for p in model.parameters() if id(p) not in of_the_head]
    model.head = new_head
    _right(model, make([*trunk, *new_head.parameters()]), loss_fn, batches, epochs)


@mistake(
    "Parameters with head in their names were left out",
    "Where other parameters than the head's have head in their names, at the beginning or anywhere, such parameters are as "
    "they were handed in, or an optimizer was made of none.",
    "The whole model is to be trained. Does your list have to be put together by names? A name does not say to which layer "
    "a parameter belongs; new_head.parameters() does.",
    "In most models the letters head stand in the names of the head alone.",
    also=(_chosen_by_name(lambda name: not name.startswith("head")), _of_each_by_name),
    where=lambda spec: "names" in spec,
)
def names_like_the_heads_left_out(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    _chosen_by_name(lambda name: "head" not in name)(model, new_head, make, loss_fn, batches, epochs)


@mistake(
    "The trunk missed the first epoch",
    "The new head was trained in all epochs, the trunk in all but the first: in that one it did not move.",
    "The whole model is to be trained from the first step on. Which line keeps the trunk out, by requires_grad or by what "
    "the optimizer holds, and when does that end?",
    "Fine-tuning often begins with the new head alone.",
    also=(lambda model, *rest: _thawed_later(model, model.trunk.parameters(), *rest),),
)
def the_trunk_missed_the_first_epoch(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    rest = [own_of(model)[1], *model.trunk.parameters()]
    _thawed_later(model, rest, new_head, make, loss_fn, batches, epochs)


def _thawed_later(
    model: Any,
    rest: Iterable[nn.Parameter],
    new_head: nn.Module,
    make: MakeOptimizer,
    loss_fn: LossFn,
    batches: Batches,
    epochs: int,
) -> None:
    """What of `rest` is not frozen is frozen during the first epoch."""
    model.head = new_head
    frozen = [p for p in rest if p.requires_grad]
    optimizer = make(model.parameters())
    for epoch in range(epochs):
        for p in frozen:
            p.requires_grad_(epoch > 0)
        _right(model, optimizer, loss_fn, batches, 1)
    for p in frozen:
        p.requires_grad_()


@mistake(
    "The trunk was frozen",
    "requires_grad of the trunk is off after the call. The new head moved as it would on a trunk that stands still.",
    "The whole model is to be trained, and requires_grad is the caller's.",
    "With a pretrained trunk one often trains the head alone, at first.",
    signs=(TRUNK,),
)
def the_trunk_was_frozen(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    for part in (model.trunk, own_of(model)[1]):
        part.requires_grad_(False)
    model.head = new_head
    _right(model, make(model.parameters()), loss_fn, batches, epochs)


@mistake(
    "The head's gradients were not cleared",
    "The first step is right. From then on the head was given the sum of all its gradients so far; the trunk was given "
    "those of the batch.",
    "Two things are done to .grad in a step, it is cleared and it is used. Does each concern the new head?",
    "zero_grad of an optimizer clears what that optimizer holds, and no more.",
)
def the_heads_gradients_were_not_cleared(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    old = make(model.parameters())
    model.head = new_head
    _right(model, _Several([old, make(new_head.parameters())], clearing=old), loss_fn, batches, epochs)


@mistake(
    "The trunk's gradients were not cleared",
    "The first step is right. From then on the trunk was given the sum of all its gradients so far; the head was given "
    "those of the batch.",
    "Two things are done to .grad in a step, it is cleared and it is used. Does each concern the trunk?",
    "zero_grad of an optimizer clears what that optimizer holds, and no more.",
)
def the_trunks_gradients_were_not_cleared(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    old = make(model.parameters())
    model.head = new_head
    head = make(new_head.parameters())
    _right(model, _Several([old, head], clearing=head), loss_fn, batches, epochs)


@mistake(
    "The trunk was stepped twice",
    "The head is trained by one step a batch, the trunk by two. That is what two optimizers leave that both hold the "
    "trunk and both step.",
    "Is there a parameter that stands in the lists of two optimizers?",
)
def the_trunk_was_stepped_twice(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    old = make(model.parameters())
    model.head = new_head
    new = make(model.parameters())
    _right(model, _Several([old, new], clearing=new), loss_fn, batches, epochs)


@mistake(
    "The head was stepped twice",
    "The trunk is trained by one step a batch, the head by two. That is what two optimizers leave that both hold the head "
    "and both step.",
    "Is there a parameter that stands in the lists of two optimizers?",
)
def the_head_was_stepped_twice(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    model.head = new_head
    every = make(model.parameters())
    _right(model, _Several([every, make(new_head.parameters())], clearing=every), loss_fn, batches, epochs)


# ------------------------------------------------------------------ which head


def _copied_into_the_old(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    model.head.load_state_dict(new_head.state_dict())
    _right(model, make(model.parameters()), loss_fn, batches, epochs)


@mistake(
    "A copy of the new head was trained",
    "model.head is another module than new_head, and new_head is as it was handed in. The trunk is trained as it should "
    "be.",
    "Whoever handed new_head over wants to find it trained. Is a copy needed?",
    also=(_copied_into_the_old,),
)
def a_copy_was_trained(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    model.head = copy.deepcopy(new_head)
    _right(model, make(model.parameters()), loss_fn, batches, epochs)


@mistake(
    "The layer was replaced after the training",
    "The trunk was trained with the old head. The new head is in its place now, as it was handed in.",
    "Which head should the forward passes of the training go through?",
    "Then the optimizer holds what is trained; but it is the wrong head.",
)
def replaced_after_the_training(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    _right(model, make(model.parameters()), loss_fn, batches, epochs)
    model.head = new_head


@mistake(
    "The old head was trained",
    "model.head is still the old head, and new_head is as it was handed in.",
    "Does a line put new_head into the model?",
)
def the_old_head_was_trained(
    model: Any, new_head: nn.Module, make: MakeOptimizer, loss_fn: LossFn, batches: Batches, epochs: int
) -> None:
    _right(model, make(model.parameters()), loss_fn, batches, epochs)


# ------------------------------------------------------------------ as in any loop

never_cleared = _shared(shared.never_cleared)
cleared_before_the_step = _shared(shared.cleared_before_the_step)
cleared_once_an_epoch = _shared(shared.cleared_once_an_epoch)
memory_lost = made_by(shared.memory_lost, *map(_swapped, shared.forgetting(("epoch", "batch"), batch=emptied)))
stepped_once_an_epoch = _shared(shared.stepped_once_an_epoch)
stepped_twice_a_batch = _shared(shared.stepped_twice_a_batch)
never_stepped = _shared(shared.never_stepped)
stopped_after_the_first_epoch = _shared(shared.stopped_after_the_first_epoch)
a_frozen_parameter_moved = _shared(shared.a_frozen_parameter_moved)
hooks_left_behind = _shared(shared.hooks_left_behind)
