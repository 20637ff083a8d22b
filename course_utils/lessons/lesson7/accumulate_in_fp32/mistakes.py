"""What is often done instead in exercise 7.4."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import torch
from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.lessons.training import Batch, LossFn

T = torch.Tensor
Window = Sequence[Batch]
Sums = dict[str, T]
Code = Callable[[nn.Module, LossFn, Window], object]


def _trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def _handed_back(model: nn.Module, loss: T) -> list[T]:
    """The gradients of the trainable parameters, zeros for those that are not used."""
    params = list(_trainable(model).values())
    return list(torch.autograd.grad(loss, params, allow_unused=True, materialize_grads=True))


def _summed(dtype: torch.dtype, divide_first: bool) -> Code:
    """Gradients handed back, and added up in `dtype`."""

    def code(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
        k = len(micro_batches)
        sums = {name: torch.zeros(p.shape, dtype=dtype, device=p.device) for name, p in _trainable(model).items()}
        for x, y in micro_batches:
            loss = loss_fn(model(x), y) / (k if divide_first else 1)
            for total, gradient in zip(sums.values(), _handed_back(model, loss), strict=True):
                total += gradient.to(dtype)
        return {name: total.float() / (1 if divide_first else k) for name, total in sums.items()}

    return code


def _exact(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> Sums:
    """The gradient of the mean loss over a window, in float64 and all at once."""
    twin = copy.deepcopy(model).double()
    x, y = (torch.cat(parts).double() for parts in zip(*micro_batches, strict=True))
    return dict(zip(_trainable(twin), _handed_back(twin, loss_fn(twin(x), y)), strict=True))


def _times(factor: Callable[[int, int], float], of: slice = slice(None), dtype: torch.dtype = torch.float32) -> Code:
    """The right gradient, of a part of the window, times a factor made of the numbers of micro-batches and of rows in
    one."""

    def code(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
        by = factor(len(micro_batches), len(micro_batches[0][0]))
        return {name: (by * total).to(dtype) for name, total in _exact(model, loss_fn, micro_batches[of]).items()}

    return code


def _one_backward(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    """One backward pass of the mean of all losses: autograd adds up what arrives at a parameter, in its dtype."""
    mean = torch.stack([loss_fn(model(x), y) for x, y in micro_batches]).float().mean()
    found = _handed_back(model, mean)
    return {name: gradient.float() for name, gradient in zip(_trainable(model), found, strict=True)}


# ------------------------------------------------------------------ where it is summed up


@mistake(
    "Summed up in bfloat16",
    "What came back is float32, and the numbers are those of a sum in bfloat16. Each partial sum is rounded to 8 binary "
    "digits, up or down; once it is some 256 to 512 times as large as what arrives, nothing arrives any more.",
    "When is a micro-batch's gradient turned into float32, before it is added or after?",
    "float() at the end changes the dtype, and no digit.",
    also=(
        _summed(torch.bfloat16, True),
        _one_backward,
    ),
)
def summed_in_bfloat16(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    return _summed(torch.bfloat16, False)(model, loss_fn, micro_batches)


@mistake(
    "A running mean in bfloat16",
    "What came back is float32, and the numbers are those of a running mean in bfloat16: what each micro-batch changes "
    "becomes smaller and smaller, and soon it is rounded away.",
    "In which dtype is the mean kept from one micro-batch to the next?",
    "A mean does not grow as a sum does. Its steps shrink instead.",
)
def running_mean_in_bfloat16(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    means = {name: torch.zeros_like(p) for name, p in _trainable(model).items()}
    for number, (x, y) in enumerate(micro_batches, 1):
        for mean, gradient in zip(means.values(), _handed_back(model, loss_fn(model(x), y)), strict=True):
            mean += (gradient - mean) / number
    return {name: mean.float() for name, mean in means.items()}


@mistake(
    "Summed up in float16",
    "The numbers are those of a sum in float16: 11 bits are more than bfloat16 has, and still too few for a thousand "
    "large gradients.",
    "Asked is a sum in float32.",
    also=(_summed(torch.float16, True),),
)
def summed_in_float16(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    return _summed(torch.float16, False)(model, loss_fn, micro_batches)


@mistake(
    "Returned in bfloat16",
    "What came back is bfloat16. Asked is float32.",
    "The sum was float32, or could have been. Where was it turned back?",
)
def returned_in_bfloat16(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    return _times(lambda k, rows: 1.0, dtype=torch.bfloat16)(model, loss_fn, micro_batches)


@mistake(
    "Returned in float64",
    "What came back is float64. Asked is float32.",
    "float() makes float32 of it.",
)
def returned_in_float64(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    return _times(lambda k, rows: 1.0, dtype=torch.float64)(model, loss_fn, micro_batches)


# ------------------------------------------------------------------ which sum


@mistake(
    "The sum, not the mean",
    "What came back is the sum over the micro-batches.",
    "loss_fn gives a mean of one micro-batch. What is the mean over the window?",
)
def not_divided(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    return _times(lambda k, rows: k)(model, loss_fn, micro_batches)


@mistake(
    "The sum, not the mean, and an entry for the frozen parameter",
    "Two things at once. What came back is the sum over the micro-batches. And the frozen parameter has an entry, of zeros.",
    "loss_fn gives a mean of one micro-batch. What is the mean over the window? And which parameters does the loop go "
    "through that makes the entries?",
    "For a parameter that is not used zeros are asked, and seen from .grad a frozen one looks alike.",
)
def not_divided_and_frozen_given_zeros(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    sums: Sums = {name: torch.zeros(p.shape, device=p.device) for name, p in model.named_parameters()}
    k = len(micro_batches)
    return sums | {name: (k * mean).float() for name, mean in _exact(model, loss_fn, micro_batches).items()}


@mistake(
    "Divided twice",
    "What came back was divided by the number of micro-batches twice.",
    "Is the loss divided, and the sum once more?",
)
def divided_twice(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    return _times(lambda k, rows: 1 / k)(model, loss_fn, micro_batches)


@mistake(
    "Divided by the number of rows",
    "The sum was divided by the number of rows of the window. loss_fn had divided by those of a micro-batch already.",
    "What is left to divide a sum of micro-batch means by?",
)
def divided_by_rows(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    return _times(lambda k, rows: 1 / rows)(model, loss_fn, micro_batches)


@mistake(
    "Divided by the rows of a micro-batch",
    "The sum was divided by the number of rows of one micro-batch, not by the number of micro-batches.",
    "loss_fn divides by the rows. What is left to divide by?",
)
def divided_by_rows_of_one(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    return _times(lambda k, rows: k / rows)(model, loss_fn, micro_batches)


def _sums_so_far(dtype: torch.dtype, divide_first: bool) -> Code:
    """What .grad holds after each micro-batch, added up in float32; .grad itself, of a model in `dtype`, is never
    emptied."""

    def code(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
        twin, k = copy.deepcopy(model).to(dtype), len(micro_batches)
        held = {name: torch.zeros(p.shape, dtype=dtype, device=p.device) for name, p in _trainable(model).items()}
        sums = {name: torch.zeros_like(so_far, dtype=torch.float32) for name, so_far in held.items()}
        for x, y in micro_batches:
            loss = loss_fn(twin(x.to(dtype)), y.to(dtype)) / (k if divide_first else 1)
            for name, gradient in zip(held, _handed_back(twin, loss), strict=True):
                held[name] += gradient
                sums[name] += held[name]
        return {name: total / (1 if divide_first else k) for name, total in sums.items()}

    return code


@mistake(
    "Added up what was a sum already",
    "What came back is the sum over the sums so far: the first micro-batch is counted as often as there are "
    "micro-batches, the last one once.",
    "What does .grad hold after the second micro-batch, if nothing empties it after the first?",
    "The buffer is there so that .grad need not be the sum. It goes on being one until it is emptied.",
    also=(
        _sums_so_far(torch.bfloat16, True),
        _sums_so_far(torch.float32, False),
    ),
)
def sums_so_far_added_up(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    return _sums_so_far(torch.bfloat16, False)(model, loss_fn, micro_batches)


@mistake(
    "The last micro-batch alone",
    "What came back is the gradient of the last micro-batch.",
    "Is something added up, or written over each time?",
)
def last_micro_batch_alone(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    return _times(lambda k, rows: 1.0, slice(-1, None))(model, loss_fn, micro_batches)


@mistake(
    "What .grad held before is counted in",
    "What came back includes the gradients that were in .grad at the call.",
    "backward adds to what is there. What is there, when it runs for the first time?",
    where=lambda spec: "earlier" in spec,
)
def earlier_gradients_counted(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    exact, k = _exact(model, loss_fn, micro_batches), len(micro_batches)
    found = {name: total.float() for name, total in exact.items()}
    for name, p in _trainable(model).items():
        if p.grad is not None:
            found[name] += p.grad.float() / k
    return found


def _none_converted(convert: Callable[[T], T]) -> Code:
    def code(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
        params = list(_trainable(model).values())
        for x, y in micro_batches[:1]:  # it does not come further than the first
            for gradient in torch.autograd.grad(loss_fn(model(x), y), params, allow_unused=True):
                convert(gradient)
        return _times(lambda k, rows: 1.0)(model, loss_fn, micro_batches)

    return code


@mistake(
    "None was taken for a gradient",
    "Where the loss does not use a parameter, autograd handed None back for it, and None has none of a tensor's methods.",
    "Ask for None before you convert. What is to come back for such a parameter?",
    "With allow_unused=True autograd does not raise, and leaves the rest to you.",
    also=(
        _none_converted(lambda gradient: gradient.to(torch.float32)),
        _none_converted(lambda gradient: gradient.double()),
        _none_converted(lambda gradient: gradient.detach()),
    ),
    where=lambda spec: spec["model"] == "unused",
)
def none_taken_for_a_gradient(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    return _none_converted(lambda gradient: gradient.float())(model, loss_fn, micro_batches)


@mistake(
    "The model was put into train mode",
    "Where dropout and batch norm came in eval mode, dropout drew and batch norm used the statistics of the micro-batch.",
    "The mode is the caller's choice: leave model.train() out.",
    where=lambda spec: spec["model"] == "part eval",
)
def put_into_train_mode(model: nn.Module, loss_fn: LossFn, micro_batches: Window) -> object:
    model.train()
    return _summed(torch.float32, False)(model, loss_fn, micro_batches)
