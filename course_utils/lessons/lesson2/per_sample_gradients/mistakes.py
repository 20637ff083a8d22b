"""What is often done instead in exercise 2.5."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Literal

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from course_utils.checks.mistakes import mistake
from course_utils.checks.observe.spies import BACKWARDS
from course_utils.lessons.lesson2.per_sample_gradients.task import LOSS_SHAPES, MODEL_SHAPES
from course_utils.lessons.watched_loss import ORDER, LossFn

T = torch.Tensor
Rows = dict[str, T]
Code = Callable[[nn.Module, LossFn, T, T], object]
Parts = Callable[[T, T, int], tuple[T, T]]


def _trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def _one(x: T, y: T, i: int) -> tuple[T, T]:
    return x[i : i + 1], y[i : i + 1]


def _rows(model: nn.Module, loss_fn: LossFn, x: T, y: T, part: Parts = _one) -> Rows:
    """The rows, where sample i is `part(x, y, i)`; no .grad is written."""
    named = _trainable(model)
    rows: dict[str, list[T]] = {name: [] for name in named}
    for i in range(len(x)):
        xi, yi = part(x, y, i)
        found = torch.autograd.grad(
            loss_fn(model(xi), yi), list(named.values()), allow_unused=True, materialize_grads=True
        )
        for name, gradient in zip(named, found, strict=True):
            rows[name].append(gradient)
    return {name: torch.stack(gradients) for name, gradients in rows.items()}


def _mapped(model: nn.Module, loss_fn: LossFn, x: T, y: T, part: Callable[[T, T], tuple[T, T]]) -> Rows:
    """The rows by vmap, where `part` makes of one sample what the model and loss_fn get."""

    def loss(params: Rows, xi: T, yi: T) -> T:
        inputs, target = part(xi, yi)
        return loss_fn(functional_call(model, params, (inputs,)), target)

    params = {name: p.detach() for name, p in _trainable(model).items()}
    found: Rows = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
    return found


def _each(change: Callable[[T], object]) -> Code:
    """The right rows, all changed in the same way."""
    return lambda model, loss_fn, x, y: {name: change(rows) for name, rows in _rows(model, loss_fn, x, y).items()}


Clearing = Literal["not", "None", "zeros"]
End = Literal["left", "restored", "None", "zeros", "restored, zeros for None", "same tensors"]


def _clear(named: dict[str, nn.Parameter], how: str) -> None:
    for p in named.values():
        if how == "None":
            p.grad = None
        elif how == "zeros" and p.grad is not None:
            p.grad.zero_()


def _through_grad(
    model: nn.Module,
    loss_fn: LossFn,
    x: T,
    y: T,
    *,
    first: Clearing = "not",
    each: Clearing | Literal["restored"] = "not",
    copied: bool = True,
    end: End = "left",
    part: Parts = _one,
) -> Rows:
    """A backward for each sample: what is cleared before all and before each, if rows are copies, how .grad ends."""
    named = _trainable(model)
    held = {name: p.grad for name, p in named.items()}
    saved = {name: None if g is None else g.clone() for name, g in held.items()}
    rows: dict[str, list[T]] = {name: [] for name in named}
    _clear(named, first)
    for i in range(len(x)):
        _clear(named, each)
        xi, yi = part(x, y, i)
        loss_fn(model(xi), yi).backward()
        for name, p in named.items():
            row = torch.zeros_like(p, requires_grad=False) if p.grad is None else p.grad
            rows[name].append(row.clone() if copied else row)
            if each == "restored":
                old = saved[name]
                p.grad = None if old is None else old.clone()
    for name, p in named.items():
        old = saved[name]
        if end == "restored":
            p.grad = old
        elif end == "same tensors":
            p.grad = held[name]
        elif end == "None":
            p.grad = None
        elif end == "zeros" and p.grad is not None:
            p.grad.zero_()
        elif end == "restored, zeros for None":
            p.grad = torch.zeros_like(p, requires_grad=False) if old is None else old
    return {name: torch.stack(found) for name, found in rows.items()}


def _ends(*ends: End, **how: object) -> tuple[Code, ...]:
    return tuple(partial(_through_grad, end=end, **how) for end in ends)  # type: ignore[arg-type]


# ------------------------------------------------------------------ the rows


def _one_batch(model: nn.Module, loss_fn: LossFn, x: T, y: T, *, repeated: bool, end: End) -> Rows:
    """One backward over the batch, from a cleared .grad, and how .grad ends."""
    named = _trainable(model)
    held = {name: p.grad for name, p in named.items()}
    _clear(named, "None")
    loss_fn(model(x), y).backward()
    found = {n: torch.zeros_like(p, requires_grad=False) if p.grad is None else p.grad for n, p in named.items()}
    for name, p in named.items():
        p.grad = p.grad if end == "left" else None if end == "None" else held[name]
    return {name: one.expand(len(x), *one.shape) if repeated else one for name, one in found.items()}


def _batch(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Rows:
    """The gradient of the whole batch; no .grad is written."""
    named = _trainable(model)
    found = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, found, strict=True))


def _summed_loss(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _each(lambda rows: rows.sum(0))(model, loss_fn, x, y)


@mistake(
    "The gradient of the batch, not of each sample",
    "The result has one gradient for all samples together; their rows have been added up, or averaged, already.",
    "Send each sample through by itself, or map over the samples, and keep the rows apart.",
    "A weight that serves every row receives the sum over the rows, within one backward.",
    also=(
        _summed_loss,
        _each(lambda rows: rows.mean(0)),
        partial(_one_batch, repeated=False, end="left"),
        partial(_one_batch, repeated=False, end="None"),
    ),
)
def batch_gradient_for_samples(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _batch(model, loss_fn, x, y)


@mistake(
    "The gradient of the batch in every row",
    "The shape is right, but all rows are the same: one gradient of the whole batch.",
    "Row i must depend on sample i alone.",
    also=(
        _each(lambda rows: rows.mean(0).expand_as(rows)),
        partial(_one_batch, repeated=True, end="left"),
        partial(_one_batch, repeated=True, end="None"),
    ),
)
def batch_gradient_repeated(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return {name: one.expand(len(x), *one.shape) for name, one in _batch(model, loss_fn, x, y).items()}


def _without_each(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    """n times the batch's gradient, minus n - 1 times that of the batch without sample i."""
    n, whole = len(x), _batch(model, loss_fn, x, y)
    rows: dict[str, list[T]] = {name: [] for name in whole}
    for i in range(n):
        others = torch.arange(n, device=x.device) != i
        rest = _batch(model, loss_fn, x[others], y[others]) if n > 1 else whole
        for name, one in whole.items():
            rows[name].append(n * one - (n - 1) * rest[name])
    return {name: torch.stack(found) for name, found in rows.items()}


@mistake(
    "The rows come from a loss of several samples",
    "The rows are right where the mean over the batch is a plain one, and wrong where it weighs the samples.",
    "Hand loss_fn one sample at a time, a batch of one of each: then nothing has to be undone.",
    "For a plain mean, n times a sample's share of the loss is the loss of that sample alone.",
    also=(_without_each,),
)
def share_of_the_batch_loss(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    named = _trainable(model)
    outputs = [model(xi) for xi in x.split(1)]
    apart = [one.detach().requires_grad_() for one in outputs]
    shares = torch.autograd.grad(loss_fn(torch.cat(apart), y), apart)
    rows: dict[str, list[T]] = {name: [] for name in named}
    for one, share in zip(outputs, shares, strict=True):
        found = torch.autograd.grad(
            one, list(named.values()), len(x) * share, allow_unused=True, materialize_grads=True
        )
        for name, gradient in zip(named, found, strict=True):
            rows[name].append(gradient)
    return {name: torch.stack(gradients) for name, gradients in rows.items()}


def _one_backward_repeated(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    twin = copy.deepcopy(model)
    _clear(_trainable(twin), "None")
    torch.stack([loss_fn(twin(x[i : i + 1]), y[i : i + 1]) for i in range(len(x))]).sum().backward()
    return _each(lambda rows: rows.sum(0).expand_as(rows))(model, loss_fn, x, y)


@mistake(
    "The sum over the samples in every row",
    "The shape is right, but all rows are the same: the gradient of all samples' losses added up.",
    "Row i must depend on sample i alone.",
    "What is added before the backward cannot be told apart after it.",
    also=(_one_backward_repeated,),
    signs=(BACKWARDS,),
)
def sum_over_samples_repeated(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _each(lambda rows: rows.sum(0).expand_as(rows))(model, loss_fn, x, y)


@mistake(
    "Each row contains the samples before it",
    "Row i is the sum over samples 0 to i, on top of what .grad held before, if that was not cleared. That is what "
    ".grad holds if nothing empties it between the samples.",
    "Is .grad, or a sum of your own, carried on from sample to sample? Clear between the samples, or use a function "
    "that does not go through .grad.",
    also=(
        _each(lambda rows: rows.cumsum(0)),
        *_ends("left", "restored", "None", "zeros"),
        *_ends("restored", "None", "zeros", first="None"),
        *_ends("left", "restored", first="zeros"),
    ),
)
def rows_are_running_totals(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _through_grad(model, loss_fn, x, y, first="None")


@mistake(
    "The gradients that were there before are counted in",
    "Each row lies on top of what .grad held before the call.",
    "Clear .grad before each sample's backward, or use a function that does not go through .grad.",
    "Nothing clears .grad for you: not backward, not the end of a function.",
)
def started_from_old_gradients(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _through_grad(model, loss_fn, x, y, each="restored")


@mistake(
    "Every row shows the sum in .grad",
    "All rows show the same, the sum over all samples and whatever .grad held before, as when what was stored each time "
    "is the one tensor that backward goes on adding to.",
    "Store a copy that owns its memory; detach() alone shares it. And is .grad empty when a sample's backward begins?",
    "A plain backward adds in place to the tensor that .grad holds, and a list stores references.",
    also=(
        *_ends("left", "restored", "None", copied=False),
        *_ends("restored", "None", first="None", copied=False),
        *_ends("left", "restored", first="zeros", copied=False),
    ),
    signs=(BACKWARDS,),
)
def same_live_grad(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _through_grad(model, loss_fn, x, y, first="None", copied=False)


@mistake(
    "Every row shows the same sample, or zeros",
    "All rows are the last sample's gradient, or zeros. Stored references to the one tensor in .grad show that when "
    "it is zeroed in place in each round.",
    "Store copies, or gradients that never were in .grad. And does each round use its own sample?",
    also=(
        *_ends("restored", "None", "zeros", each="zeros", copied=False),
        *_ends("left", "restored", "None", "zeros", first="None", each="zeros", copied=False),
    ),
    signs=(BACKWARDS,),
)
def rows_zeroed_afterwards(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _through_grad(model, loss_fn, x, y, each="zeros", copied=False)


@mistake(
    "Each row is divided by the number of samples",
    "Every row is the right one divided by the number of samples. Alone, a sample is a batch of one, and its mean "
    "divides by one.",
    "Take the loss of each sample by itself, not its share of the batch's mean.",
)
def rows_divided_by_n(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _each(lambda rows: rows / len(rows))(model, loss_fn, x, y)


@mistake(
    "The samples are in reverse order",
    "Row i belongs to the sample that stands i places from the end.",
    "Append the rows in the order of the samples.",
)
def samples_in_reverse(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _each(lambda rows: rows.flip(0))(model, loss_fn, x, y)


def _kept_zero(at: int) -> Code:
    def code(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
        found = _rows(model, loss_fn, x, y)
        for rows in found.values():
            rows[at] = 0
        return found

    return code


@mistake(
    "One sample is missing",
    "The first or the last sample has no row of its own gradient.",
    "How many rounds does the loop take, and with which i does it begin? range(n) counts from 0 to n - 1.",
    also=(
        lambda model, loss_fn, x, y: _rows(model, loss_fn, x[:-1], y[:-1]),
        _each(lambda rows: rows[1:]),
        _each(lambda rows: rows[:-1]),
        _kept_zero(0),
        _kept_zero(-1),
    ),
)
def a_sample_left_out(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    found = _rows(model, loss_fn, x, y)
    return {name: torch.stack([rows[i] for i in range(1, len(rows))]) for name, rows in found.items()}


@mistake(
    "All samples up to this one, not this one alone",
    "Row i is the gradient of a batch of samples 0 to i.",
    "Which rows does your slice take? Write down its first and its last index for i = 2.",
    "x[: i + 1] and x[i : i + 1] differ by one letter.",
    signs=(LOSS_SHAPES,),
)
def batches_that_grow(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _rows(model, loss_fn, x, y, lambda x, y, i: (x[: i + 1], y[: i + 1]))


@mistake(
    "A sample lost its batch dimension",
    "The model was handed one sample with one dimension less than x has. Some models accept batches alone, and a loss "
    "that counts the rows of its batch counts something else.",
    "Slice with i:i + 1, or add a dimension in front.",
    "x[i] takes a row out of the batch; x[i : i + 1] is a batch of one row.",
    also=(
        lambda model, loss_fn, x, y: _mapped(model, loss_fn, x, y, lambda xi, yi: (xi, yi)),
        lambda model, loss_fn, x, y: _rows(model, loss_fn, x, y, lambda x, y, i: (x[i], y[i : i + 1])),
        lambda model, loss_fn, x, y: _mapped(model, loss_fn, x, y, lambda xi, yi: (xi, yi.unsqueeze(0))),
    ),
    signs=(MODEL_SHAPES,),
)
def sample_without_batch_dimension(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _rows(model, loss_fn, x, y, lambda x, y, i: (x[i], y[i]))


@mistake(
    "The target lost its batch dimension",
    "loss_fn got the prediction for a batch of one, and a target without a batch dimension. Where the two broadcast, "
    "that goes unnoticed until a loss counts rows; where they do not, it stops.",
    "Give the target a batch dimension, too: slice y with i:i + 1, or add a dimension in front.",
    "The model is handed x alone, so it says nothing about the shape of y.",
    also=(lambda model, loss_fn, x, y: _mapped(model, loss_fn, x, y, lambda xi, yi: (xi.unsqueeze(0), yi)),),
    signs=(LOSS_SHAPES,),
)
def target_without_batch_dimension(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _rows(model, loss_fn, x, y, lambda x, y, i: (x[i : i + 1], y[i]))


def _x_alone(x: T, y: T, i: int) -> tuple[T, T]:
    return x[i], y[i]


_PARTS: tuple[Parts, ...] = (_x_alone, lambda x, y, i: (x[i], y[i : i + 1]), lambda x, y, i: (x[i : i + 1], y[i]))
"""What of one sample may lose the dimension of the batch."""
_WRITING: tuple[tuple[Clearing, Clearing], ...] = (("not", "None"), ("not", "zeros"), ("not", "not"), ("None", "not"))
"""What is cleared before all samples and before each, where what came is left in .grad."""


@mistake(
    "The batch dimension was lost, and .grad was written",
    "More than one thing is off. What the model or loss_fn was handed for one sample has one dimension less than a batch of one "
    "has: some models refuse that, and a loss that counts the rows counts something else. And .grad does not hold what "
    "it held before the call: each backward writes there.",
    "Slice with i:i + 1, or add a dimension in front. And use a function that returns gradients, or put .grad back.",
    "x[i] takes a row out of the batch; x[i : i + 1] is a batch of one row.",
    also=tuple(
        partial(_through_grad, part=part, first=first, each=each)
        for part, (first, each) in product(_PARTS, _WRITING)
        if (part, each) != (_x_alone, "None")
    ),
    signs=(MODEL_SHAPES,),
)
def batch_dimension_lost_and_grad_written(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _through_grad(model, loss_fn, x, y, each="None", part=_x_alone)


@mistake(
    "One sample met the whole batch",
    "Of the two that loss_fn was handed, one belonged to a single sample and the other to the whole batch. Where they "
    "broadcast, each row compares one with all.",
    "For sample i, take a batch of one out of both x and y.",
    also=(lambda model, loss_fn, x, y: _rows(model, loss_fn, x, y, lambda x, y, i: (x, y[i : i + 1])),),
    signs=(LOSS_SHAPES,),
)
def one_sample_met_the_batch(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _rows(model, loss_fn, x, y, lambda x, y, i: (x[i : i + 1], y))


@mistake(
    "Prediction and target are swapped",
    "loss_fn was called with the target first. A squared error does not mind; most losses do.",
    "Call loss_fn(prediction, target), in this order.",
    also=(
        lambda model, loss_fn, x, y: _mapped(
            model, lambda p, t: loss_fn(t, p), x, y, lambda xi, yi: (xi[None], yi[None])
        ),
    ),
    signs=(ORDER,),
)
def arguments_swapped(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _rows(model, lambda prediction, target: loss_fn(target, prediction), x, y)


# ------------------------------------------------------------------ how they are laid out


@mistake(
    "The samples lie along the last dimension",
    "The rows were stacked along another dimension than the first.",
    "Stack along a new dimension 0.",
)
def sample_dimension_last(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _each(lambda rows: rows.movedim(0, -1))(model, loss_fn, x, y)


@mistake(
    "The rows were concatenated, not stacked",
    "The gradients stand one behind the other along the parameter's own first dimension.",
    "Stack them, which makes a new dimension; cat joins along an old one.",
)
def rows_concatenated(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _each(lambda rows: rows.flatten(0, 1))(model, loss_fn, x, y)


@mistake(
    "The rows are a list, not a tensor",
    "Each name leads to a list of gradients; one tensor of shape (n, *parameter shape) is asked for.",
    "Stack each list at the end.",
)
def rows_in_a_list(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _each(list)(model, loss_fn, x, y)


@mistake(
    "There is a dimension of one too many",
    "The result has an additional dimension of length one.",
    "A gradient has its parameter's shape already; add only the dimension of the samples.",
    also=(_each(lambda rows: rows.unsqueeze(0)),),
)
def extra_batch_dimension(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _each(lambda rows: rows.unsqueeze(1))(model, loss_fn, x, y)


@mistake(
    "One dict for each sample",
    "The result is a list with a dict for each sample; one dict with all samples under each name is asked for.",
    "Turn it inside out: for each name, stack the samples' gradients.",
)
def one_dict_per_sample(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    found = _rows(model, loss_fn, x, y)
    return [{name: rows[i] for name, rows in found.items()} for i in range(len(x))]


@mistake(
    "The norms of the gradients",
    "Each row was reduced to its norm.",
    "Return the gradients themselves; norms can be taken later.",
)
def gradient_norms_for_gradients(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _each(lambda rows: rows.flatten(1).norm(dim=1))(model, loss_fn, x, y)


# ------------------------------------------------------------------ .grad


def _sums_left(average: bool, cleared: bool) -> Code:
    """The right rows, and a .grad that holds the sum or the mean of all samples."""

    def code(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
        found = _rows(model, loss_fn, x, y)
        used = {name for name, rows in found.items() if bool(rows.any())}
        for name, p in _trainable(model).items():
            p.grad = None if cleared else p.grad
            if name in used:
                left = found[name].mean(0) if average else found[name].sum(0)
                p.grad = left if p.grad is None else p.grad + left
        return found

    return code


@mistake(
    "The gradients stayed in .grad",
    ".grad now holds gradients of the samples: the caller's next backward adds on top of them.",
    "Put .grad back as it was, None included, or use a function that never writes it.",
    also=(
        *_ends("left", each="zeros"),
        *_ends("left", first="None", each="zeros"),
        *(_sums_left(average, cleared) for average, cleared in product((False, True), (False, True))),
    ),
)
def gradients_left_behind(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _through_grad(model, loss_fn, x, y, each="None")


@mistake(
    "The caller's gradients were written over",
    "Where the caller had a gradient, .grad holds one of the samples; where .grad was None, it is None again. "
    "Clearing in place and backward leave this if they write into the very tensor that is put back.",
    "Keep a clone of each old .grad, or set .grad to None before the first backward, so that the old tensor is left "
    "alone.",
    "old = p.grad makes a second name for the same tensor; it copies nothing.",
)
def old_grad_kept_by_reference(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _through_grad(model, loss_fn, x, y, each="zeros", end="same tensors")


@mistake(
    "The caller's gradients are gone",
    ".grad is None where the caller had gradients: a sum that was half gathered is lost.",
    "Put .grad back as it was, or use a function that never writes it.",
    "Clearing feels like leaving things clean; here it destroys what belongs to somebody else.",
)
def caller_gradients_cleared(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _through_grad(model, loss_fn, x, y, each="None", end="None")


def _zeros_for_old(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    found = _rows(model, loss_fn, x, y)
    _clear(_trainable(model), "zeros")
    return found


def _zeros_everywhere(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    found = _rows(model, loss_fn, x, y)
    for p in _trainable(model).values():
        p.grad = torch.zeros_like(p, requires_grad=False)
    return found


@mistake(
    "The caller's gradients were overwritten with zeros",
    ".grad holds zeros in place of the caller's gradients.",
    "Put .grad back as it was, or use a function that never writes it.",
    also=(*_ends("zeros", each="zeros"), _zeros_for_old, _zeros_everywhere),
)
def caller_gradients_zeroed(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _through_grad(model, loss_fn, x, y, each="None", end="zeros")


def _zeros_where_reached(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    found = _rows(model, loss_fn, x, y)
    for name, p in _trainable(model).items():
        if p.grad is None and bool(found[name].any()):
            p.grad = torch.zeros_like(p, requires_grad=False)
    return found


@mistake(
    "None became zeros",
    "A .grad that was None holds zeros now. To an optimizer these differ: it skips None, and moves on zeros with "
    "momentum or weight decay.",
    "Put None back where None was.",
    also=(_zeros_where_reached,),
)
def none_became_zeros(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _through_grad(model, loss_fn, x, y, each="None", end="restored, zeros for None")


# ------------------------------------------------------------------ which parameters


def _frozen_entries(value: Callable[[nn.Parameter, int], object]) -> Code:
    def code(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
        found = _rows(model, loss_fn, x, y)
        return {name: found.get(name, value(p, len(x))) for name, p in model.named_parameters()}

    return code


def _frozen_refused(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    xi, yi = _one(x, y, 0)
    torch.autograd.grad(loss_fn(model(xi), yi), list(model.parameters()), allow_unused=True)
    return _rows(model, loss_fn, x, y)


@mistake(
    "A frozen parameter was not left out",
    "A parameter with requires_grad=False has no gradient and no entry in the result.",
    "Take the parameters with requires_grad only.",
    also=(_frozen_entries(lambda p, n: None), _frozen_refused, _frozen_entries(lambda p, n: [None] * n)),
)
def frozen_parameter_listed(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _frozen_entries(lambda p, n: torch.zeros(n, *p.shape, dtype=p.dtype, device=p.device))(model, loss_fn, x, y)


def _mapped_over_all(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    thawed = copy.deepcopy(model).requires_grad_(True)
    return _rows(thawed, loss_fn, x, y)


@mistake(
    "A frozen parameter got a gradient",
    "The result has rows for a parameter with requires_grad=False, as if it were trained. torch.func asks no parameter "
    "whether it requires gradients: it differentiates all that it is handed.",
    "Hand over the parameters with requires_grad only; the others stay in the model.",
)
def frozen_parameter_differentiated(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _mapped_over_all(model, loss_fn, x, y)


def _unused_refused(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    xi, yi = _one(x, y, 0)
    torch.autograd.grad(loss_fn(model(xi), yi), list(_trainable(model).values()))
    return _rows(model, loss_fn, x, y)


def _unused_stacked(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    found = _rows(model, loss_fn, x, y)
    for rows in found.values():
        torch.stack(list(rows) if bool(rows.any()) else [None])  # type: ignore[list-item]
    return found


@mistake(
    "A parameter the loss does not use was not handled",
    "It should have an entry, of zeros: moving it does not move the loss.",
    "Allow unused parameters, and turn a missing gradient into zeros of the parameter's shape.",
    also=(_unused_refused, _unused_stacked),
)
def unused_parameter_missing(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return {name: rows for name, rows in _rows(model, loss_fn, x, y).items() if bool(rows.any())}


@mistake(
    "None where zeros belong",
    "autograd says None for a parameter the loss does not use; the exercise asks for zeros there.",
    "Turn None into zeros of the parameter's shape.",
    also=(_each(lambda rows: rows if bool(rows.any()) else [None] * len(rows)),),
)
def unused_parameter_none(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _each(lambda rows: rows if bool(rows.any()) else None)(model, loss_fn, x, y)


def _tied_split(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    found = _rows(model, loss_fn, x, y)
    names = {p: name for name, p in model.named_parameters()}
    every = model.named_parameters(remove_duplicate=False)
    return {name: found[names[p]] for name, p in every if p.requires_grad}


@mistake(
    "A tied parameter is listed twice",
    "Two names lead to one tensor; its one gradient already holds both uses.",
    "named_parameters() lists each tensor once unless it is told otherwise; state_dict() lists it under each name.",
)
def tied_parameter_twice(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    return _tied_split(model, loss_fn, x, y)


# ------------------------------------------------------------------ hooks


@mistake(
    "A hook stayed registered",
    "A hook that was registered during the call is still there and can run at later passes of the caller.",
    "Keep the handle that registering returns, and call its remove() at the end.",
    "Hooks live on the parameter or module, not in your function.",
)
def hooks_left_behind(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> object:
    next(iter(_trainable(model).values())).register_hook(lambda gradient: None)
    return _rows(model, loss_fn, x, y)
