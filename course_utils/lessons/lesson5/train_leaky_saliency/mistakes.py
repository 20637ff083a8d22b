"""What is often done instead in exercise 5.5."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import Mistake, made_by, mistake
from course_utils.lessons.lesson5 import mistakes as shared
from course_utils.lessons.lesson5.mistakes import Optimizer, emptied, loop
from course_utils.lessons.training import Batch, LossFn

Maps = list[torch.Tensor]
Slope = Callable[[nn.Module, LossFn, torch.Tensor, torch.Tensor], torch.Tensor]


def slope_of_loss(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The derivative of the loss with respect to `x`; nothing is left in `.grad`."""
    pixels = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels)
    return slope


def _slope_of_prediction(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    pixels = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(model(pixels).sum(), pixels)
    return slope


def _slope_of_highest(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    pixels = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(model(pixels).max(1).values.sum(), pixels)
    return slope


def _leaking_slope(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    pixels = x.clone().requires_grad_()
    loss_fn(model(pixels), y).backward()
    assert pixels.grad is not None
    return pixels.grad


def _with_maps(
    code: Callable[..., Any],
    slope: Slope = slope_of_loss,
    of: Callable[[torch.Tensor], torch.Tensor] = torch.abs,
) -> Callable[..., Maps]:
    """A loop that also returns `of(slope)` of each batch before its step."""

    def mapped(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int) -> Maps:
        maps: Maps = []
        code(model, optimizer, loss_fn, batches, epochs, lambda x, y: maps.append(of(slope(model, loss_fn, x, y))))
        return maps

    return mapped


_right = loop(batch=emptied)


def _shared(one: Mistake) -> Mistake:
    return made_by(one, *map(_with_maps, one.forms))


# ------------------------------------------------------------------ what reaches the parameters


@mistake(
    "Each batch counted twice",
    "The maps are right. The parameters are those of a loop whose steps use twice the gradient of their batch: that of "
    "the pass for the map and that of the pass for the training together.",
    "backward fills the .grad of every leaf it reaches. Which leaves does the pass for the map reach?",
    "x is what one asks about, but nobody told the pass so. Adam, which divides by the size of the gradient, hides it.",
)
def each_batch_counted_twice(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    return _with_maps(_right, _leaking_slope)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The map's pass counted, and nothing was cleared",
    "The maps are those of the weights at each step. Each step used both passes of its batch and of all batches before.",
    "Something has to empty .grad once a step. And the pass for the map must leave nothing for the training.",
)
def counted_twice_and_never_cleared(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    return _with_maps(loop(), _leaking_slope)(model, optimizer, loss_fn, batches, epochs)


a_frozen_parameter_moved = _shared(shared.a_frozen_parameter_moved)
never_cleared = _shared(shared.never_cleared)
cleared_before_the_step = made_by(
    shared.cleared_before_the_step,
    *(
        _with_maps(form, slope)
        for form in shared.cleared_before_the_step.forms
        for slope in (slope_of_loss, _leaking_slope)
    ),
)
cleared_once_an_epoch = _shared(shared.cleared_once_an_epoch)
memory_lost = _shared(shared.memory_lost)
zeros_before_the_step = _shared(shared.zeros_before_the_step)
nothing_went_backward = _shared(shared.nothing_went_backward)
hooks_left_behind = _shared(shared.hooks_left_behind)


def _in_eval_mode(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The map as it would be in eval mode; the model is left in train mode."""
    model.eval()
    slope = slope_of_loss(model, loss_fn, x, y)
    model.train()
    return slope


def _one_pass(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int) -> Maps:
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            maps.append(_leaking_slope(model, loss_fn, x, y).abs())
            optimizer.step()
    return maps


put_into_train_mode = made_by(
    shared.put_into_train_mode,
    *shared.in_train_mode(_with_maps(_right), _one_pass),
    _with_maps(_right, _in_eval_mode),
)

# ------------------------------------------------------------------ which maps


@mistake(
    "The maps have signs",
    "Training and sizes are right. The maps are the derivative itself; asked is its absolute value.",
    "Which function drops the sign of each entry?",
)
def signs_were_kept(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    return _with_maps(_right, of=lambda slope: slope)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The maps are of the prediction, not of the loss",
    "The training is right. The maps are those of the model's outputs: of all, or of each row's highest.",
    "Of what is the derivative asked, and does y play a part in it?",
    "There are saliency maps of both kinds.",
    also=(_with_maps(_right, _slope_of_highest),),
)
def maps_of_the_prediction(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    return _with_maps(_right, _slope_of_prediction)(model, optimizer, loss_fn, batches, epochs)


def _scaled_to_one(slope: torch.Tensor) -> torch.Tensor:
    return slope.abs() / slope.abs().max()


@mistake(
    "The maps are of the prediction, and scaled to one",
    "The training is right. The maps are those of the model's outputs, of all or of each row's highest, each divided by its "
    "own largest entry.",
    "Of what is the derivative asked, and does y play a part in it? And asked is the derivative in its own size.",
    "There are saliency maps of both kinds, and for a picture one often scales them.",
    also=(_with_maps(_right, _slope_of_highest, _scaled_to_one),),
)
def maps_of_the_prediction_scaled_to_one(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    return _with_maps(_right, _slope_of_prediction, _scaled_to_one)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The maps were taken after the step",
    "The training is right. Each map is the one at the weights that the batch's own step has left.",
    "Which comes first, the batch's map or its step?",
)
def maps_after_the_step(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            _right(model, optimizer, loss_fn, [(x, y)], 1)
            maps.append(slope_of_loss(model, loss_fn, x, y).abs())
    return maps


@mistake(
    "The maps were taken after the step, and leak into the next one",
    "Each map is the one at the weights that the batch's own step has left, and each step but the first also used the "
    "gradient of the map's pass before it.",
    "Which comes first, the batch's map or its step? And which gradients stand in .grad when the step comes?",
)
def maps_after_the_step_leak_into_the_next(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            loop()(model, optimizer, loss_fn, [(x, y)], 1)
            optimizer.zero_grad()
            maps.append(_leaking_slope(model, loss_fn, x, y).abs())
    return maps


def _times_the_rows(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return len(x) * slope_of_loss(model, loss_fn, x, y)


def _times_the_entries(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return y.numel() * slope_of_loss(model, loss_fn, x, y)


@mistake(
    "The maps are those of a sum, not of the mean",
    "The training is right. Each map is the right one times the number of rows of its batch, or times the number of entries "
    "of its y.",
    "loss_fn returns a mean. Is the derivative of that asked for, or of what the mean is taken of?",
    "For a picture of one example its own loss would do, without a share in a mean.",
    also=(_with_maps(_right, _times_the_entries),),
)
def maps_of_a_sum(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    return _with_maps(_right, _times_the_rows)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "The maps are scaled to one",
    "The training is right. Each map was divided by its own largest entry.",
    "Asked is the derivative itself, in its own size.",
    "For a picture one often scales a map.",
)
def maps_scaled_to_one(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    return _with_maps(_right, of=_scaled_to_one)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "All maps are zeros",
    "The training is right. The maps have their shapes, and hold nothing but zeros.",
    "Is a map a tensor of its own, or the very one that .grad holds? What is emptied in place is emptied under both names.",
    "abs() makes a new tensor; abs_() and detach() do not.",
)
def maps_are_zeros(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    return _with_maps(_right, of=torch.zeros_like)(model, optimizer, loss_fn, batches, epochs)


@mistake(
    "All maps are of the first weights",
    "The training is right. The maps are those at the weights before the first step.",
    "A map belongs to its batch's step. In which loop is it taken?",
)
def maps_of_the_first_weights(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    maps = [slope_of_loss(model, loss_fn, x, y).abs() for x, y in batches]
    _right(model, optimizer, loss_fn, batches, epochs)
    return maps * epochs


@mistake(
    "All maps are of the last weights",
    "The training is right. The maps are those at the weights after the last step.",
    "A map belongs to its batch's step. In which loop is it taken?",
)
def maps_of_the_last_weights(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    _right(model, optimizer, loss_fn, batches, epochs)
    return [slope_of_loss(model, loss_fn, x, y).abs() for x, y in batches] * epochs


@mistake(
    "The maps of the last epoch alone came back",
    "The training is right. The maps of the earlier epochs are missing.",
    "Where does the list begin?",
)
def maps_of_the_last_epoch(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    return _with_maps(_right)(model, optimizer, loss_fn, batches, epochs)[-len(batches) :]


def _grad_of_x(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.requires_grad_()
    torch.autograd.backward(loss_fn(model(x), y), inputs=[x])
    assert x.grad is not None
    return x.grad.clone()


def _adding_up(slope: Slope) -> Callable[..., Maps]:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int) -> Maps:
        maps = _with_maps(_right, slope)(model, optimizer, loss_fn, batches, epochs)
        for x, _ in batches:
            x.requires_grad_(False)
            x.grad = None
        return maps

    return code


def _grad_of_x_alone(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    found = _grad_of_x(model, loss_fn, x, y)
    x.requires_grad_(False)  # so that the pass of the training does not reach it
    return found


@mistake(
    "The maps add up from epoch to epoch",
    "The training is right, and so are the maps of the first epoch. From the second on the derivatives of earlier epochs "
    "are still in them.",
    "What does the .grad hold that the map is read from, when the second epoch begins? Work on a leaf of your own for "
    "each map, or hand gradients back in place of storing them.",
    "It is the forgotten clearing once more, on another tensor.",
    also=(_adding_up(_grad_of_x),),
)
def maps_add_up(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int) -> Maps:
    return _adding_up(_grad_of_x_alone)(model, optimizer, loss_fn, batches, epochs)


# ------------------------------------------------------------------ what is left behind


@mistake(
    "A gradient was left on x",
    "On these cases the numbers are right. The batches came back with a gradient in the .grad of their x: whoever uses "
    "them next, with requires_grad on, adds to it.",
    "Work on a leaf of your own, or put .grad of x back to None.",
)
def gradient_left_on_x(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> Maps:
    def slope(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.grad = None
        return _grad_of_x_alone(model, loss_fn, x, y)

    return _with_maps(_right, slope)(model, optimizer, loss_fn, batches, epochs)
