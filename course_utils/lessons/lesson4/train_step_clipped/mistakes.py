"""What is often done instead in exercise 4.4."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import nn

from course_utils.checks.mistakes import made_by, mistake
from course_utils.checks.observe.spies import BACKWARDS
from course_utils.lessons.lesson4 import mistakes as shared
from course_utils.lessons.lesson4.mistakes import Optimizer, Place, as_it_is, without_ones
from course_utils.lessons.lesson4.steps import HELD, LEFT, STEPS
from course_utils.lessons.training import LossFn, modes_put_back

T = torch.Tensor
Gradients = Sequence[torch.Tensor]
Code = Callable[[nn.Module, Optimizer, LossFn, T, T, float], object]
Norm = Callable[[Gradients], float]


def _norm(gradients: Gradients) -> float:
    return math.sqrt(sum(float((g.double() ** 2).sum()) for g in gradients))


def _largest(gradients: Gradients) -> float:
    return max((float(g.abs().max()) for g in gradients), default=0.0)


def _absolute(gradients: Gradients) -> float:
    return sum(float(g.double().abs().sum()) for g in gradients)


def _held(params: Sequence[nn.Parameter]) -> list[torch.Tensor]:
    return [p.grad for p in params if p.grad is not None]


def _scale(params: Sequence[nn.Parameter], factor: float) -> None:
    for gradient in _held(params):
        gradient.mul_(factor)


def _clip(params: Sequence[nn.Parameter], max_norm: float, norm: Norm = _norm) -> float:
    """Scale what `.grad` holds down to `max_norm`, as `norm` measures it; the norm before."""
    found = norm(_held(params))
    _scale(params, min(1.0, max_norm / found) if found else 1.0)
    return found


Clip = Callable[[Sequence[nn.Parameter], float], float]


def _norm_after(clip: Clip) -> Clip:
    def code(params: Sequence[nn.Parameter], limit: float) -> float:
        clip(params, limit)
        return _norm(_held(params))

    return code


At = Literal["start", "after forward", "before step", "after step", "never"]


def _step(
    clip: Clip = _clip,
    *,
    at: At = "before step",
    clear: Sequence[Place | Literal["start"]] = ("start",),
    zeros: bool = False,
    factor: Callable[[int], float] = as_it_is,
    told: Callable[[float, float, float], object] = lambda loss, norm, max_norm: (loss, norm),
    which: Callable[[nn.Module, Optimizer], Sequence[nn.Parameter]] = lambda model, _: list(model.parameters()),
) -> Code:
    """A step that clears at the places in `clear` and clips at one of them. What comes back is made by `told` of the
    loss, the norm that the clipping gave, and max_norm."""

    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
        norms = [0.0]

        def place(here: str) -> None:
            if here in clear:
                optimizer.zero_grad(set_to_none=not zeros)
            if here == at:
                norms[0] = clip(which(model, optimizer), max_norm)

        place("start")
        loss = loss_fn(model(x), y)
        place("after forward")
        (loss * factor(len(x))).backward()
        place("before step")
        optimizer.step()
        place("after step")
        return told(loss.item(), norms[0], max_norm)

    return code


# ------------------------------------------------------------------ what .grad held before


@mistake(
    "What .grad held before is counted in",
    "Norm and step are those of this batch's gradient plus what .grad held when the function was called. It was never "
    "emptied.",
    "Which line empties .grad, and does it run before this batch's backward?",
    also=(_step(_norm_after(_clip), clear=()),),
    signs=(LEFT,),
)
def nothing_cleared(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(clear=())(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "Cleared after the step alone",
    "Norm and step are those of this batch's gradient plus what .grad held when the function was called. After the "
    "step .grad is clear, which helps the next call and not this one.",
    "Nobody promises that .grad is empty when the function begins. Where must it be emptied, then?",
    also=(_step(_norm_after(_clip), clear=("after step",)),),
    signs=(LEFT,),
)
def cleared_after_the_step(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float
) -> object:
    return _step(clear=("after step",))(model, optimizer, loss_fn, x, y, max_norm)


def _without_the_frozen(model: nn.Module) -> None:
    for p in model.parameters():
        if p.requires_grad:
            p.grad = None


def _frozen_in_step_alone(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float
) -> object:
    _without_the_frozen(model)
    trainable = [p for p in model.parameters() if p.requires_grad]
    return _step(clear=(), which=lambda *_: trainable)(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "A frozen weight's old gradient is still at work",
    "The frozen weight held a gradient from before and kept it: the step moved the weight, and where all parameters "
    "are measured the norm counts it, too.",
    "requires_grad=False stops backward, not the optimizer: it steps on any .grad that it finds. Empty that one, too.",
    also=(_frozen_in_step_alone,),
)
def frozen_moved(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    _without_the_frozen(model)
    return _step(clear=())(model, optimizer, loss_fn, x, y, max_norm)


# ------------------------------------------------------------------ when it clips and clears


@mistake(
    "Clipped before the backward",
    "The step used this batch's gradient unclipped, and the norm that came back is that of an empty .grad: 0.",
    "Clipping changes what stands in .grad. When does this batch's gradient arrive there?",
    "With .grad empty nothing raises: there is nothing to scale.",
    also=(_step(at="after forward"), _step(at="start", zeros=True)),
)
def clipped_before_backward(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float
) -> object:
    return _step(at="start")(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "Not clipped, or clipped too early or too late",
    "The step used this batch's gradient unclipped, and the norm that came back is right.",
    "What changes .grad between the backward and the step? Measuring a norm scales nothing.",
    "A clip before the backward finds nothing of this batch, one after the step scales what nobody reads any more. "
    "Neither raises.",
    also=(_step(at="after step"), _step(lambda params, _: _norm(_held(params)), clear=("start", "after step"))),
)
def not_clipped(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(lambda params, _: _norm(_held(params)))(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "The gradients that were there before were clipped",
    "The step used this batch's gradient unclipped. The norm that came back is that of what .grad held when the "
    "function was called.",
    "In which order stand clip, clear and backward?",
)
def clipped_the_old(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    norm = _clip(list(model.parameters()), max_norm)
    told: Any = _step(at="never")(model, optimizer, loss_fn, x, y, max_norm)
    return told[0], norm


def _clipped_then_cleared(zeros: bool, start: bool = True) -> Code:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
        def clip(params: Sequence[nn.Parameter], limit: float) -> float:
            norm = _clip(params, limit)
            optimizer.zero_grad(set_to_none=not zeros)
            return norm

        return _step(clip, clear=("start",) if start else ())(model, optimizer, loss_fn, x, y, max_norm)

    return code


@mistake(
    "No gradient was there at the step",
    "Backward ran, but when the step began .grad of the model held no gradient: only None, or zeros.",
    "What runs between backward and step? If nothing does, did the loss come from this model's own parameters?",
    also=(
        _step(clear=("before step",), zeros=True),
        _step(at="after forward", clear=("before step",)),
        _clipped_then_cleared(False),
        _clipped_then_cleared(True),
        _clipped_then_cleared(False, start=False),
    ),
    signs=(BACKWARDS, HELD),
)
def cleared_before_the_step(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float
) -> object:
    return _step(clear=("before step",))(model, optimizer, loss_fn, x, y, max_norm)


def _no_backward(clear: bool) -> Code:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
        if clear:
            optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        norm = _clip(list(model.parameters()), max_norm)
        optimizer.step()
        return loss.item(), norm

    return code


@mistake(
    "No backward wrote into .grad",
    "No backward pass wrote a gradient into .grad, so there was none to clip and none to step with.",
    "Which line brings this batch's gradient into .grad?",
    signs=(BACKWARDS, STEPS),
    also=(_no_backward(False),),
)
def no_backward(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _no_backward(True)(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "No step was taken",
    "Loss and norm are right, no parameter moved, and optimizer.step() was never called.",
    "What moves the parameters? Does that line stand there, with its parentheses?",
    signs=(STEPS,),
)
def no_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    return loss.item(), _norm(_held(list(model.parameters())))


# ------------------------------------------------------------------ how it clips


def _by_value(params: Sequence[nn.Parameter], limit: float) -> float:
    norm = _norm(_held(params))
    for gradient in _held(params):
        gradient.clamp_(-limit, limit)
    return norm


@mistake(
    "Each entry was clipped by itself",
    "Every entry of the gradient was cut to the range from -max_norm to max_norm. Its 2-norm may still be larger "
    "than max_norm, and its direction another.",
    "Asked is one factor for all entries. Which function of torch.nn.utils works on the norm, and which on the values?",
    also=(_step(_norm_after(_by_value)),),
)
def clipped_by_value(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(_by_value)(model, optimizer, loss_fn, x, y, max_norm)


def _each_alone(params: Sequence[nn.Parameter], limit: float) -> float:
    norm = _norm(_held(params))
    for p in params:
        _clip([p], limit)
    return norm


def _each_alone_and_its_norms(combine: Callable[[list[float]], float]) -> Clip:
    def code(params: Sequence[nn.Parameter], limit: float) -> float:
        return combine([_clip([p], limit) for p in params if p.grad is not None])

    return code


@mistake(
    "Each parameter was clipped by itself",
    "Every parameter's gradient was measured by itself, and scaled down where it alone was longer than max_norm. The "
    "whole may still be longer than that, and point another way.",
    "The norm is that of all entries of all parameters together, and one factor scales them all.",
    "A loop over the parameters is where one would write it.",
    also=tuple(
        _step(_each_alone_and_its_norms(combine))
        for combine in (sum, max, lambda norms: norms[-1], lambda norms: norms[0])
    )
    + (_step(_norm_after(_each_alone)),),
)
def each_parameter_alone(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float
) -> object:
    return _step(_each_alone)(model, optimizer, loss_fn, x, y, max_norm)


def _scaled_by_another(norm: Norm) -> Clip:
    def code(params: Sequence[nn.Parameter], limit: float) -> float:
        total = _norm(_held(params))
        _clip(params, limit, norm)
        return total

    return code


@mistake(
    "Another norm",
    "What was measured, and compared with max_norm, is the largest entry, not the 2-norm.",
    "Asked is the 2-norm: the root of the sum of the squares. Which one do you take?",
    also=(_step(_scaled_by_another(_largest)),),
)
def largest_entry(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(lambda params, limit: _clip(params, limit, _largest))(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "The sum of absolute values",
    "What was measured, and compared with max_norm, is the sum of the absolute values, the 1-norm, not the 2-norm.",
    "Asked is the 2-norm: the root of the sum of the squares. Which one do you take?",
    also=(_step(_scaled_by_another(_absolute)),),
)
def sum_of_absolute_values(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float
) -> object:
    return _step(lambda params, limit: _clip(params, limit, _absolute))(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "The sum of the parameters' norms",
    "What was measured, and compared with max_norm, is the sum of the norms of the parameters. It is larger than the "
    "norm of all entries together.",
    "The squares add up, the norms do not. What do you take the root of?",
    also=(_step(_scaled_by_another(lambda gradients: sum(_norm([g]) for g in gradients))),),
)
def sum_of_norms(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    total: Norm = lambda gradients: sum(_norm([g]) for g in gradients)  # noqa: E731
    return _step(lambda params, limit: _clip(params, limit, total))(model, optimizer, loss_fn, x, y, max_norm)


def _mean_of_norms(gradients: Gradients) -> float:
    return sum(_norm([g]) for g in gradients) / len(gradients) if gradients else 0.0


@mistake(
    "The mean of the parameters' norms",
    "What was measured, and compared with max_norm, is the mean of the norms of the parameters.",
    "The squares add up, the norms do not, and nothing is divided. What do you take the root of?",
    also=(_step(_scaled_by_another(_mean_of_norms)),),
)
def mean_of_norms(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(lambda params, limit: _clip(params, limit, _mean_of_norms))(model, optimizer, loss_fn, x, y, max_norm)


def _square(gradients: Sequence[T]) -> float:
    return _norm(gradients) ** 2


def _clip_by_the_square(params: Sequence[nn.Parameter], limit: float) -> float:
    return _clip(params, limit, _square)


@mistake(
    "The root is missing",
    "What was measured, and compared with max_norm, is the sum of the squares of what .grad held then: the square of its "
    "norm.",
    "The norm is the root of that sum.",
    also=(_step(_scaled_by_another(_square)), _step(_clip_by_the_square, clear=())),
)
def square_of_the_norm(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(_clip_by_the_square)(model, optimizer, loss_fn, x, y, max_norm)


def _always(params: Sequence[nn.Parameter], limit: float) -> float:
    norm = _norm(_held(params))
    _scale(params, limit / norm)
    return norm


@mistake(
    "A short gradient was made longer",
    "The gradient was scaled to max_norm on every case, also where it is shorter than that: there the step is longer "
    "than the gradient asks for.",
    "What should happen where the norm is not larger than max_norm?",
    also=(_step(_norm_after(_always)),),
)
def always_scaled(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(_always)(model, optimizer, loss_fn, x, y, max_norm)


def _to_length_one(params: Sequence[nn.Parameter], limit: float) -> float:
    norm = _norm(_held(params))
    if norm > limit:
        _scale(params, 1 / norm)
    return norm


@mistake(
    "Brought to length 1, whatever max_norm is",
    "Where the gradient is longer than max_norm it was divided by its norm: its length is 1 then, not max_norm.",
    "By what must a vector of length 1 be multiplied, so that it has length max_norm?",
)
def length_one(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(_to_length_one)(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "Clipped to 1, whatever max_norm is",
    "The bound that was used is 1, not max_norm.",
    "Where does the bound come from in your code?",
    "1.0 is the bound in most examples.",
)
def bound_of_one(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(lambda params, limit: _clip(params, 1.0))(model, optimizer, loss_fn, x, y, max_norm)


def _upside_down(params: Sequence[nn.Parameter], limit: float) -> float:
    norm = _norm(_held(params))
    if norm > limit:
        _scale(params, norm / limit)
    return norm


@mistake(
    "The factor is upside down",
    "Where the gradient is longer than max_norm it was multiplied by norm / max_norm, which makes it longer still.",
    "Which of the two is larger there, and is the factor then above or below 1?",
)
def factor_upside_down(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(_upside_down)(model, optimizer, loss_fn, x, y, max_norm)


def _twice(params: Sequence[nn.Parameter], limit: float) -> float:
    norm = _norm(_held(params))
    if norm > limit:
        _scale(params, (limit / norm) ** 2)
    return norm


@mistake(
    "The factor was applied twice",
    "Where the gradient is longer than max_norm it was multiplied by the square of max_norm / norm.",
    "Where is the gradient multiplied by the factor? Is it done in two places, or once for each parameter in turn?",
)
def factor_twice(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(_twice)(model, optimizer, loss_fn, x, y, max_norm)


def _first_group(_: nn.Module, optimizer: Optimizer) -> Sequence[nn.Parameter]:
    return list(optimizer.param_groups[0]["params"])


@mistake(
    "The first group of parameters alone",
    "Where the optimizer has two groups of parameters, only those of the first were measured and scaled.",
    "Who has all the parameters: param_groups[0], or the model?",
    "Most optimizers have one group.",
)
def first_group_alone(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(which=_first_group)(model, optimizer, loss_fn, x, y, max_norm)


def _by_group(combine: Callable[[list[float]], float]) -> Code:
    def code(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
        def clip(_: Sequence[nn.Parameter], limit: float) -> float:
            return combine([_clip(group["params"], limit) for group in optimizer.param_groups])

        return _step(clip)(model, optimizer, loss_fn, x, y, max_norm)

    return code


@mistake(
    "Each group of parameters was clipped by itself",
    "Where the optimizer has two groups of parameters, the gradient of each was measured and scaled by itself.",
    "The norm is that of all parameters together, and one factor scales them all.",
    "A loop over the groups is where one would write it. Most optimizers have one group.",
    also=(_by_group(max), _by_group(sum), _by_group(lambda norms: norms[-1])),
)
def each_group_alone(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    root = _by_group(lambda norms: math.sqrt(sum(norm**2 for norm in norms)))
    return root(model, optimizer, loss_fn, x, y, max_norm)


def _named(ending: str) -> Code:
    return _step(which=lambda model, _: [p for name, p in model.named_parameters() if name.endswith(ending)])


@mistake(
    "Not all parameters were measured and clipped",
    "The weights alone were measured and scaled, without the biases, or the biases alone.",
    "The total norm is that of all entries of all parameters together. Whom do you hand to the clipping?",
    also=(_named("bias"),),
)
def weights_alone_clipped(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float
) -> object:
    return _named("weight")(model, optimizer, loss_fn, x, y, max_norm)


def _root_mean_square(gradients: Gradients) -> float:
    return _norm(gradients) / math.sqrt(sum(g.numel() for g in gradients))


@mistake(
    "A mean in place of a sum",
    "What was measured, and compared with max_norm, is the root of the mean of the squares, not of their sum.",
    "The 2-norm adds the squares up and divides by nothing.",
    also=(_step(_scaled_by_another(_root_mean_square)),),
)
def root_mean_square(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(lambda params, limit: _clip(params, limit, _root_mean_square))(
        model, optimizer, loss_fn, x, y, max_norm
    )


@mistake(
    "The move was shortened, or the learning rate, and not the gradient",
    "Loss and norm are right. The step is that of a smaller learning rate: with plain SGD it is the same, but momentum, "
    "Adam and weight decay do something else with a rate than with a gradient.",
    "Which number is to become shorter, and who reads it?",
)
def rate_scaled(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    def clip(params: Sequence[nn.Parameter], limit: float) -> float:
        norm = _norm(_held(params))
        for group in optimizer.param_groups:
            group["lr"] *= min(1.0, limit / norm)
        return norm

    rates = [group["lr"] for group in optimizer.param_groups]
    told = _step(clip)(model, optimizer, loss_fn, x, y, max_norm)
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = rate
    return told


@mistake(
    "The way of the parameters was clipped, not the gradient",
    "Loss and norm are right. The step used the gradient unclipped. Where the parameters together went further than "
    "max_norm, the way was shortened to that length afterwards.",
    "max_norm is for the gradient. What must change between the backward and the step?",
    "With plain SGD a long gradient makes a long way. The learning rate stands between the two.",
)
def update_clipped(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    before = [p.detach().clone() for p in model.parameters()]
    told = _step(lambda params, _: _norm(_held(params)))(model, optimizer, loss_fn, x, y, max_norm)
    with torch.no_grad():
        way = _norm([p - was for p, was in zip(model.parameters(), before, strict=True)])
        for p, was in zip(model.parameters(), before, strict=True):
            p.copy_(was + (p - was) * min(1.0, max_norm / way))
    return told


@mistake(
    "No step where the gradient is long",
    "Loss and norm are right. Where the norm is larger than max_norm no step was taken.",
    "Asked is a step there, too, with the gradient scaled down to max_norm.",
    "In mixed precision a step with an infinite gradient is left out. A long one can be made shorter.",
    signs=(STEPS,),
)
def long_gradient_left_out(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float
) -> object:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = _norm(_held(list(model.parameters())))
    if norm <= max_norm:
        optimizer.step()
    return loss.item(), norm


@mistake(
    "The parameters were clipped, not their gradients",
    "The weights themselves were scaled down to max_norm, and the step used this batch's gradient unclipped.",
    "What is to be scaled, p or p.grad?",
    also=(lambda *args: _weights_clipped(*args, before=False),),
)
def clipped_the_weights(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _weights_clipped(model, optimizer, loss_fn, x, y, max_norm, before=True)


def _weights_clipped(*args: Any, before: bool) -> object:
    model, limit = args[0], args[-1]

    def clip(params: Sequence[nn.Parameter], _: float) -> float:
        with torch.no_grad():
            norm = _norm([p.detach() for p in model.parameters()])
            for p in model.parameters():
                p.mul_(min(1.0, limit / norm))
        return norm

    return _step(clip, at="before step" if before else "after step")(*args)


@mistake(
    "The loss was clipped, not the gradient",
    "The loss was cut at max_norm before it went backward. Beyond that it is constant, and its gradient zero.",
    "Which of the two is meant to be short, the loss or its gradient?",
    also=(lambda *args: _loss_cut(*args, whole=True),),
)
def clipped_the_loss(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _loss_cut(model, optimizer, loss_fn, x, y, max_norm, whole=False)


def _loss_cut(*args: Any, whole: bool) -> object:
    model, optimizer, loss_fn, x, y, limit = args
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    cut = loss.clamp(max=limit)
    cut.backward()
    norm = _norm(_held(list(model.parameters())))
    optimizer.step()
    return (cut if whole else loss).item(), norm


# ------------------------------------------------------------------ which gradient


@mistake(
    "The gradient of a sum over the rows",
    "Norm and step are those of the batch's gradient times the number of rows: that of the sum of the rows' losses.",
    "loss_fn gives the mean of the rows it is handed. Is it multiplied by their number, or are losses of single rows "
    "added up and not divided?",
    "Where the clip is active, the step hides it: only the norm tells.",
    also=(_step(factor=float, told=lambda loss, norm, _: (loss * 4, norm)),),
)
def summed_over_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(factor=float)(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "Divided by the number of rows once more",
    "Norm and step are those of the batch's gradient divided by the number of rows.",
    "loss_fn returns a mean. Over what has it divided already?",
    also=(_step(factor=lambda n: 1 / n, told=lambda loss, norm, _: (loss / 4, norm)),),
)
def divided_by_rows(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(factor=lambda n: 1 / n)(model, optimizer, loss_fn, x, y, max_norm)


def _squeezed(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step()(model, optimizer, without_ones(loss_fn), x, y, max_norm)


dimension_lost = made_by(shared.dimension_lost, _squeezed)


def _put_back(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    with modes_put_back(model):
        return put_into_train_mode.forms[0](model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "The model was put into train mode",
    "Where the model came in eval mode, its dropout drew and its batch norm used this batch's statistics: loss, norm "
    "and update are those of train mode.",
    "The mode is the caller's choice: leave model.train() out.",
    also=(_put_back,),
)
def put_into_train_mode(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    model.train()
    return _step()(model, optimizer, loss_fn, x, y, max_norm)


# ------------------------------------------------------------------ what is returned


@mistake(
    "The norm after clipping was returned",
    "The update is right. The norm that came back was measured after clipping: at most max_norm.",
    "When is the norm measured? What clip_grad_norm_ returns is the norm before.",
    also=(_step(told=lambda loss, norm, limit: (loss, min(norm, limit))),),
)
def norm_after_clipping(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(_norm_after(_clip))(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "max_norm was returned in place of the norm",
    "The update is right. What came back as the norm is max_norm.",
    "Which number do you return second?",
)
def max_norm_returned(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(told=lambda loss, _, limit: (loss, limit))(model, optimizer, loss_fn, x, y, max_norm)


def _with_a_quotient(of: Callable[[float, float], float]) -> Code:
    return _step(told=lambda loss, norm, limit: (loss, of(norm, limit)))


@mistake(
    "A number made of the norm and max_norm was returned",
    "The update is right. What came back in place of the norm is a quotient of norm and max_norm, or the larger of the two.",
    "Which name do you return, and does it still hold the norm then? An operation whose name ends in _, and /= too, "
    "writes into the tensor itself.",
    "The factor is worked out from the norm, and one tensor seems enough for both.",
    also=(
        _with_a_quotient(lambda norm, limit: norm / limit),
        _with_a_quotient(lambda norm, limit: limit / norm),
        _with_a_quotient(lambda norm, limit: min(1.0, limit / norm)),
        _with_a_quotient(max),
    ),
)
def made_of_norm_and_max_norm(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float
) -> object:
    at_least_one = _with_a_quotient(lambda norm, limit: max(1.0, norm / limit))
    return at_least_one(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "The two results changed places",
    "The update is right. What came back is the pair (total_norm, loss).",
    "Asked is (loss, total_norm).",
)
def pair_turned_round(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(told=lambda loss, norm, _: (norm, loss))(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "The norm that came back is measured another way",
    "The update is right. What came back as the norm is another measure of the gradient: the square of the right one, "
    "the norm of one parameter alone, the sum, the mean or the largest of the parameters' norms, or the largest entry.",
    "The total norm is the root of the sum of all squares. clip_grad_norm_ returns it.",
    also=tuple(
        _step(lambda params, limit, other=other: (other(_held(params)), _clip(params, limit))[0])  # type: ignore[misc]
        for other in (
            lambda gradients: _norm(gradients[-1:]),
            lambda gradients: _norm(gradients[:1]),
            lambda gradients: max(_norm([g]) for g in gradients),
            lambda gradients: sum(_norm([g]) for g in gradients) / len(gradients),
            lambda gradients: sum(_norm([g]) for g in gradients),
            _largest,
        )
    ),
)
def another_norm_returned(
    model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float
) -> object:
    squared = _step(told=lambda loss, norm, _: (loss, norm**2))
    return squared(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "The loss was measured after the step",
    "Norm and update are right. What came back as the loss is that at the weights which the step has left.",
    "Which loss went backward? Return that one, as a number.",
)
def loss_after_the_step(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    told: Any = _step()(model, optimizer, loss_fn, x, y, max_norm)
    with torch.no_grad():
        return loss_fn(model(x), y).item(), told[1]


@mistake(
    "The norm alone was returned",
    "The update is right. Only the norm came back, without the loss.",
    "Asked is a pair: (loss, total_norm).",
    also=(_step(told=lambda loss, norm, _: torch.tensor(norm)),),
)
def norm_alone(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(told=lambda loss, norm, _: norm)(model, optimizer, loss_fn, x, y, max_norm)


@mistake(
    "The loss alone was returned",
    "The update is right. Only the loss came back, without the norm.",
    "Asked is a pair: (loss, total_norm).",
)
def loss_alone(model: nn.Module, optimizer: Optimizer, loss_fn: LossFn, x: T, y: T, max_norm: float) -> object:
    return _step(told=lambda loss, norm, _: loss)(model, optimizer, loss_fn, x, y, max_norm)
