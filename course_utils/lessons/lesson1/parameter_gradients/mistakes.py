"""What is often done instead in exercise 1.3."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.lessons.inputs import mean_square_error
from course_utils.lessons.lesson1.parameter_gradients.task import LIVE
from course_utils.lessons.training import modes_put_back
from course_utils.lessons.watched_loss import LossFn

T = torch.Tensor
Grads = dict[str, T]
Code = Callable[[nn.Module, LossFn, T, T], Any]


def _trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def _fresh(model: nn.Module, loss: T) -> Grads:
    """The gradients of `loss`, as they are asked for, without going through .grad."""
    named = _trainable(model)
    found = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    return {name: torch.zeros_like(p) if g is None else g for (name, p), g in zip(named.items(), found, strict=True)}


def _right(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Grads:
    return _fresh(model, loss_fn(model(x), y))


def _of(value: Callable[[LossFn, T, T], T]) -> Code:
    """The gradients of another value: `value(loss_fn, prediction, y)`."""
    return lambda model, loss_fn, x, y: _fresh(model, value(loss_fn, model(x), y))


def _unused(model: nn.Module, name: str) -> bool:
    return name.startswith("unused.")  # of the one model of these cases that has any


# ------------------------------------------------------------------ by backward: how .grad is met, read and left

Touch = Callable[[nn.Module], None]
Take = Callable[[nn.Module], Any]


def _clear(which: Callable[[nn.Module], Iterable[nn.Parameter]], to_none: bool) -> Touch:
    def clear(model: nn.Module) -> None:
        for p in which(model):
            if to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()

    return clear


def _every(model: nn.Module) -> Iterable[nn.Parameter]:
    return model.parameters()


def _those_that_train(model: nn.Module) -> Iterable[nn.Parameter]:
    return _trainable(model).values()


def _nothing(model: nn.Module) -> None:
    pass


_CLEARED = tuple(_clear(which, to_none) for which in (_every, _those_that_train) for to_none in (True, False))
_ZEROED = tuple(_clear(which, False) for which in (_every, _those_that_train))


def _filled_with_zeros(model: nn.Module) -> None:
    for p in _those_that_train(model):
        p.grad = torch.zeros_like(p)


def _clones(model: nn.Module) -> Grads:
    return {n: torch.zeros_like(p) if p.grad is None else p.grad.clone() for n, p in _trainable(model).items()}


def _live(model: nn.Module) -> Grads:
    return {n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in _trainable(model).items()}


def _clones_of_all(model: nn.Module) -> Grads:
    return {n: p.grad.clone() for n, p in model.named_parameters()}  # type: ignore[union-attr]


def _clones_unasked(model: nn.Module) -> Grads:
    return {n: p.grad.clone() for n, p in _trainable(model).items()}  # type: ignore[union-attr]


_STOPS = (_clones_of_all, _clones_unasked)


def _by_backward(start: Touch, take: Take, end: Touch = _nothing) -> Code:
    def code(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
        start(model)
        loss_fn(model(x), y).backward()
        result = take(model)
        end(model)
        return result

    return code


def _saved(model: nn.Module) -> list[T | None]:
    return [None if p.grad is None else p.grad.clone() for p in model.parameters()]


def _references(model: nn.Module) -> list[T | None]:
    return [p.grad for p in model.parameters()]


def _hang(model: nn.Module, held: list[T | None]) -> None:
    for p, grad in zip(model.parameters(), held, strict=True):
        p.grad = grad


def _put_back(save: Callable[[nn.Module], list[T | None]], start: Touch, take: Take = _clones) -> Code:
    """Save, clear, go backward, read, and hang what was saved into .grad again."""

    def code(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
        held = save(model)
        result = _by_backward(start, take)(model, loss_fn, x, y)
        _hang(model, held)
        return result

    return code


# ------------------------------------------------------------------ old gradients


@mistake(
    "Old gradients are mixed in",
    "This batch's gradient was added to what .grad already held, as backward() does: the result is the sum of the two, "
    "and .grad now holds that sum.",
    "Ask for the gradients without going through .grad, or set it aside first and put it back afterwards.",
    "backward() accumulates by design; lesson 2 shows why.",
    also=(_by_backward(_nothing, _live),),
)
def added_to_old_gradients(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _by_backward(_nothing, _clones)(model, loss_fn, x, y)


@mistake(
    "Old gradients are mixed in, and a .grad was None",
    "This batch's gradient was added to what .grad already held, as backward() does: the result is the sum of the two, "
    "and .grad now holds that sum. Elsewhere the code stopped at a .grad of None: backward puts none into a parameter "
    "that is frozen or that the loss does not use.",
    "Ask for the gradients without going through .grad, or set it aside first and put it back afterwards; and decide "
    "what a frozen parameter and an unused one should get.",
    "backward() accumulates by design; lesson 2 shows why.",
    also=(_by_backward(_nothing, _clones_unasked),),
)
def added_and_none_unexpected(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _by_backward(_nothing, _clones_of_all)(model, loss_fn, x, y)


@mistake(
    "Old gradients are in the result",
    "The result is the sum of this batch's gradient and what .grad held before, as backward() makes it.",
    "Putting .grad back mends .grad alone: backward() still adds to what it finds there. What must .grad hold when "
    "backward begins?",
    "backward() accumulates by design; lesson 2 shows why.",
)
def old_gradients_in_the_result(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _put_back(_saved, _nothing)(model, loss_fn, x, y)


@mistake(
    "The old gradient was subtracted again",
    "Old plus new minus old is new only while the old one is finite, and not far larger than the new: where .grad held "
    "an infinity or NaN, the result is NaN.",
    "Let this batch's gradient never meet the old one: ask for it without .grad, or begin from a .grad of None.",
    "With exact numbers the difference would be right.",
)
def subtracted_old_gradients(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    old = {n: None if p.grad is None else p.grad.clone() for n, p in _trainable(model).items()}
    added = _put_back(_saved, _nothing)(model, loss_fn, x, y)
    return {n: added[n] if before is None else added[n] - before for n, before in old.items()}


def _difference_of_one_tensor(put_back: bool) -> Code:
    def code(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
        before = {name: p.grad for name, p in model.named_parameters()}
        loss_fn(model(x), y).backward()
        result = {}
        for name, p in model.named_parameters():
            old = before[name]
            if p.requires_grad:
                now = torch.zeros_like(p) if p.grad is None else p.grad
                result[name] = now.clone() if old is None else now - old
            if put_back:
                p.grad = old
        return result

    return code


@mistake(
    "The old gradients changed: was only a reference kept?",
    "Where a trained parameter held a gradient before, it holds another one now. After old = p.grad, what was saved is the very "
    "tensor in .grad: clearing in place, and backward, which adds in place, change it as well, and the two never "
    "differ.",
    "Save a clone, or set .grad to None before backward so that it makes a new tensor; and put back what was saved.",
    "backward adds in place to the tensor that .grad already holds.",
    also=(
        _difference_of_one_tensor(put_back=True),
        _put_back(_references, _nothing),
        *(_put_back(_references, clear) for clear in _ZEROED),
    ),
)
def kept_a_reference(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _difference_of_one_tensor(put_back=False)(model, loss_fn, x, y)


# ------------------------------------------------------------------ what is left in .grad


@mistake(
    "The gradients stayed in .grad",
    ".grad now holds this batch's gradients, where it held something else or None: the caller's next backward adds on "
    "top.",
    "Put .grad back as it was, None included, or use a function that never writes it.",
    also=tuple(_by_backward(clear, _clones) for clear in _CLEARED[1:]),
    signs=(LIVE,),
)
def gradients_left_behind(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _by_backward(_CLEARED[0], _clones)(model, loss_fn, x, y)


@mistake(
    "The result is .grad itself",
    ".grad was not put back: it holds this batch's gradients, and returned tensors are the very ones in .grad, or "
    "views of them. The caller's next backward adds to both.",
    "Put .grad back as it was, None included, or use a function that never writes it. If .grad is still in use "
    "afterwards, what is returned must be a copy.",
    "p.grad is a name for a tensor, not its values at that moment.",
    also=tuple(_by_backward(clear, _live) for clear in _CLEARED[1:]),
    signs=(LIVE,),
)
def returned_grad_itself(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _by_backward(_CLEARED[0], _live)(model, loss_fn, x, y)


@mistake(
    "The gradients are in .grad, and nothing was returned",
    "Gradients went into .grad, which belongs to the caller here and should be as it was; the function itself returned "
    "None.",
    "Return a dict of the gradients by name, and leave or put back .grad as it was.",
    "In a training loop .grad is where one looks for them; this function hands them back.",
    also=tuple(_by_backward(start, _nothing) for start in (*_CLEARED[1:], _nothing)),
)
def grad_in_place_of_a_result(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _by_backward(_CLEARED[0], _nothing)(model, loss_fn, x, y)


@mistake(
    "The gradients stayed in .grad, and a .grad was None",
    ".grad now holds this batch's gradients, where it held something else or None. Elsewhere the code stopped at a "
    ".grad of None: backward puts none into a parameter that is frozen or that the loss does not use.",
    "Put .grad back as it was, None included, or use a function that never writes it; and decide what a frozen "
    "parameter and an unused one should get.",
    also=tuple(_by_backward(clear, take) for take in _STOPS for clear in _CLEARED)[1:],
)
def left_behind_and_none_unexpected(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _by_backward(_CLEARED[0], _clones_of_all)(model, loss_fn, x, y)


@mistake(
    "This batch's gradient was added to .grad",
    ".grad now holds the sum of what it held before and of this batch's gradient.",
    "Put .grad back as it was, None included, or use a function that never writes it.",
    "backward() accumulates by design; lesson 2 shows why.",
)
def sum_left_in_grad(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    result = _right(model, loss_fn, x, y)
    loss_fn(model(x), y).backward()
    return result


@mistake(
    "The caller's gradients are gone",
    ".grad is None where the caller had gradients: a sum they may have half gathered is lost.",
    "Put .grad back as it was, or use a function that never writes it.",
    "Clearing feels like leaving things clean; here it destroys what belongs to somebody else.",
    also=(_by_backward(_CLEARED[2], _clones, _CLEARED[2]),),
)
def caller_gradients_cleared(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _by_backward(_CLEARED[0], _clones, _CLEARED[0])(model, loss_fn, x, y)


@mistake(
    "The caller's gradients are gone, and a .grad was None",
    ".grad is None where the caller had gradients. Elsewhere the code stopped at a .grad of None: backward puts none "
    "into a parameter that is frozen or that the loss does not use.",
    "Put .grad back as it was, or use a function that never writes it; and decide what a frozen parameter and an "
    "unused one should get.",
    also=(_by_backward(_CLEARED[0], _clones_unasked, _CLEARED[0]),),
)
def cleared_and_none_unexpected(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _by_backward(_CLEARED[0], _clones_of_all, _CLEARED[0])(model, loss_fn, x, y)


@mistake(
    "The caller's gradients were overwritten with zeros",
    ".grad holds zeros where the caller had gradients or None.",
    "Put .grad back as it was, or use a function that never writes it.",
    also=(
        *(_by_backward(clear, _clones, _ZEROED[0]) for clear in _CLEARED[1:]),
        _by_backward(_CLEARED[2], _clones, _ZEROED[1]),
        _by_backward(_CLEARED[3], _clones, _ZEROED[1]),
        _by_backward(_CLEARED[0], _clones, _filled_with_zeros),
        _by_backward(_CLEARED[2], _clones, _filled_with_zeros),
    ),
)
def caller_gradients_zeroed(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _by_backward(_CLEARED[0], _clones, _ZEROED[0])(model, loss_fn, x, y)


def _zeros_for_none(which: Callable[[nn.Module], Iterable[nn.Parameter]]) -> Code:
    def code(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
        for p in which(model):
            if p.grad is None:
                p.grad = torch.zeros_like(p)
        return _right(model, loss_fn, x, y)

    return code


@mistake(
    "None became zeros",
    "A .grad that was None holds zeros now. To an optimizer these differ: it skips None, and moves on zeros with "
    "momentum or weight decay.",
    "Put None back where None was.",
    also=(_zeros_for_none(_every),),
)
def none_became_zeros(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _zeros_for_none(_those_that_train)(model, loss_fn, x, y)


@mistake(
    "The returned tensors were cleared with .grad",
    "Returned tensors share their memory with .grad, and both hold zeros: zeroing .grad in place zeroes the result as "
    "well.",
    "Return clones, or gradients that never were in .grad; and .grad should end as it was, not as zeros.",
    also=(
        *(_by_backward(start, _live, _ZEROED[0]) for start in (*_CLEARED[1:], _nothing)),
        *(_by_backward(start, _live, _ZEROED[1]) for start in (_CLEARED[2], _CLEARED[3], _nothing)),
    ),
    signs=(LIVE,),
)
def returned_live_grad(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _by_backward(_CLEARED[0], _live, _ZEROED[0])(model, loss_fn, x, y)


@mistake(
    "The old values were copied into the returned tensors",
    "Returned tensors share their memory with .grad. Copying the saved values back into .grad in place wrote them into "
    "the result as well.",
    "Return clones, or put the saved tensors back with p.grad = ..., which leaves the returned ones alone.",
    "p.grad is a name for a tensor, not its values at that moment.",
    signs=(LIVE,),
)
def copied_back_into_the_result(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    held = _saved(model)
    _clear(_every, to_none=False)(model)
    loss_fn(model(x), y).backward()
    result = _live(model)
    for p, old in zip(model.parameters(), held, strict=True):
        if old is None or p.grad is None:
            p.grad = old
        else:
            p.grad.copy_(old)
    return result


# ------------------------------------------------------------------ which parameters


def _frozen_as(value: Callable[[nn.Parameter], T | None]) -> Code:
    def code(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
        found = _right(model, loss_fn, x, y)
        return {n: found[n] if n in found else value(p) for n, p in model.named_parameters()}

    return code


def _zeros(p: T) -> T:
    return torch.zeros_like(p, requires_grad=False)


def _frozen_asked(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    named = dict(model.named_parameters())
    found = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, found, strict=True))


def _frozen_differentiated(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    values = {name: p.detach() for name, p in model.named_parameters()}
    return torch.func.grad(lambda these: loss_fn(torch.func.functional_call(model, these, (x,)), y))(values)


@mistake(
    "A frozen parameter was not left out",
    "A parameter with requires_grad=False has no entry in the result; here one was listed, or asked for its gradient.",
    "Take the parameters with requires_grad only.",
    "named_parameters() lists frozen parameters with the others.",
    also=(
        _frozen_as(lambda p: None),
        _frozen_as(lambda p: p.grad),
        _frozen_as(lambda p: _zeros(p) if p.grad is None else p.grad.clone()),
        _frozen_as(lambda p: None if p.grad is None else _zeros(p)),
        _frozen_asked,
        _frozen_differentiated,
    ),
)
def frozen_parameter_listed(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _frozen_as(_zeros)(model, loss_fn, x, y)


def _one_by_one(which: Callable[[nn.Module], dict[str, nn.Parameter]], allow_unused: bool) -> Code:
    def code(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
        loss = loss_fn(model(x), y)
        found = {}
        for name, p in which(model).items():
            (gradient,) = torch.autograd.grad(loss, p, allow_unused=allow_unused)
            found[name] = torch.zeros_like(p) if gradient is None else gradient
        return found

    return code


def _named(model: nn.Module) -> dict[str, nn.Parameter]:
    return dict(model.named_parameters())


@mistake(
    "One graph was asked for gradients more than once",
    "The first call freed what the graph had kept, and the second one found nothing.",
    "Was torch.autograd.grad called for each parameter alone, or after a backward()? One call takes a list of all "
    "parameters, and gives a tuple in the same order.",
    also=(_one_by_one(_trainable, False), _one_by_one(_named, True), _one_by_one(_named, False)),
)
def asked_one_by_one(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _one_by_one(_trainable, True)(model, loss_fn, x, y)


def _left_out_where_grad_is_none(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    named = _trainable(model)
    found = _right(model, loss_fn, x, y)
    return {n: g for n, g in found.items() if not (_unused(model, n) and named[n].grad is None)}


def _unused_refused(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    named = _trainable(model)
    return dict(zip(named, torch.autograd.grad(loss_fn(model(x), y), list(named.values())), strict=True))


@mistake(
    "A parameter the loss does not use was not handled",
    "It should have an entry, of zeros: moving it does not move the loss.",
    "Allow unused parameters, and turn a missing gradient into zeros of the parameter's shape.",
    also=(_left_out_where_grad_is_none, _unused_refused),
)
def unused_parameter_missing(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return {n: g for n, g in _right(model, loss_fn, x, y).items() if not _unused(model, n)}


def _none_where_grad_is_none(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    named = _trainable(model)
    found = _right(model, loss_fn, x, y)
    return {n: None if _unused(model, n) and named[n].grad is None else g for n, g in found.items()}


@mistake(
    "None where zeros belong",
    "For a parameter that the loss does not use, autograd has None; the exercise asks for zeros there.",
    "Turn None into zeros of the parameter's shape.",
    also=(_none_where_grad_is_none,),
)
def unused_parameter_none(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return {n: None if _unused(model, n) else g for n, g in _right(model, loss_fn, x, y).items()}


@mistake(
    "A tied parameter is listed twice",
    "Two names lead to one tensor; its one gradient already holds both uses.",
    "named_parameters() lists each tensor once unless it is told otherwise.",
)
def tied_parameter_twice(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    names = {id(p): name for name, p in model.named_parameters()}
    found = _right(model, loss_fn, x, y)
    both = model.named_parameters(remove_duplicate=False)
    return {name: found[names[id(p)]] for name, p in both if p.requires_grad}


def _named_apart(model: nn.Module) -> Grads:
    both = model.named_parameters(remove_duplicate=False)
    return {name: p.detach() for name, p in both if p.requires_grad}


@mistake(
    "A tied parameter was taken apart",
    "Two names lead to one tensor. Each name has an entry here, with the gradient of its own use alone; the tensor's "
    "gradient is the sum of both.",
    "Follow the tensors, not their names: named_parameters() lists each tensor once unless it is told otherwise.",
)
def tied_parameter_taken_apart(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    def loss(these: Grads) -> T:
        return loss_fn(torch.func.functional_call(model, these, (x,), tie_weights=False), y)

    return torch.func.grad(loss)(_named_apart(model))


@mistake(
    "The biases were left out",
    "No bias has an entry; a bias is a parameter too.",
    "Take every parameter that requires gradients, whatever its name or shape.",
)
def biases_left_out(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return {name: g for name, g in _right(model, loss_fn, x, y).items() if "bias" not in name}


def _layers(found: Grads) -> list[str]:
    return list(dict.fromkeys(name.rpartition(".")[0] for name in found))


def _in_layer(number: int) -> Code:
    def code(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
        found = _right(model, loss_fn, x, y)
        kept = _layers(dict(model.named_parameters()))[number]  # type: ignore[arg-type]
        return {name: g for name, g in found.items() if name.rpartition(".")[0] == kept}

    return code


def _by_place(start: int | None, stop: int | None) -> Code:
    return lambda model, loss_fn, x, y: dict(list(_right(model, loss_fn, x, y).items())[start:stop])


@mistake(
    "Only the first layer, or its number of parameters, is there",
    "The parameters behind the first layer, or behind the first two parameters, have no entry.",
    "Take every parameter of the model that requires gradients: named_parameters() reaches all layers.",
    also=(_by_place(None, 2),),
)
def first_layer_alone(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _in_layer(0)(model, loss_fn, x, y)


@mistake(
    "Only the last layer, or its number of parameters, is there",
    "The parameters before the last layer, or before the last two parameters, have no entry.",
    "Take every parameter of the model that requires gradients: named_parameters() reaches all layers.",
    also=(_by_place(-2, None),),
)
def last_layer_alone(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _in_layer(-1)(model, loss_fn, x, y)


# ------------------------------------------------------------------ which loss


@mistake(
    "The gradient of the sum, not of the mean",
    "Every gradient is too large by a factor, the number of rows or of all entries of the output; the direction is "
    "right.",
    "loss_fn of the whole batch is a mean already: ask for its gradient as it is, once.",
    "The direction is right, so a loss curve may not tell; only the step size grows with the batch.",
    also=(_of(lambda loss_fn, p, y: loss_fn(p, y) * y.numel()),),
)
def loss_not_averaged(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _of(lambda loss_fn, p, y: loss_fn(p, y) * len(y))(model, loss_fn, x, y)


@mistake(
    "Divided again, though loss_fn is a mean",
    "Every gradient is too small by a factor, the number of rows or of all entries of the output: loss_fn is a mean "
    "already.",
    "Ask for the gradient of what loss_fn returns for the whole batch, and divide nothing.",
    also=(_of(lambda loss_fn, p, y: loss_fn(p, y) / y.numel()),),
)
def averaged_twice(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _of(lambda loss_fn, p, y: loss_fn(p, y) / len(y))(model, loss_fn, x, y)


@mistake(
    "A squared error stands where loss_fn belongs",
    "The gradient is that of the mean squared error, whatever loss_fn is. Where loss_fn is another loss, it is wrong.",
    "Call loss_fn, which was handed in: it may be any loss.",
)
def squared_error_for_loss_fn(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _of(lambda _, p, y: mean_square_error(p, y))(model, loss_fn, x, y)


@mistake(
    "A summed squared error stands where loss_fn belongs",
    "The gradient is that of the squared errors added up, whatever loss_fn is.",
    "Call loss_fn, which was handed in: it may be any loss, and it is a mean.",
)
def summed_squared_error_for_loss_fn(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _of(lambda _, p, y: ((p - y) ** 2).sum())(model, loss_fn, x, y)


@mistake(
    "The arguments of loss_fn are swapped",
    "The gradient is that of loss_fn(y, model(x)). A squared error does not tell the two apart; many other losses do.",
    "Which argument of loss_fn is the prediction, and which the target? Read the exercise's text again.",
    "Many first examples use the mean squared error, where the order does not matter.",
)
def loss_arguments_swapped(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    return _of(lambda loss_fn, p, y: loss_fn(y, p))(model, loss_fn, x, y)


# ------------------------------------------------------------------ modes


def _train_mode_put_back(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    with modes_put_back(model):
        model.train()
        return _right(model, loss_fn, x, y)


@mistake(
    "The model ran in train mode",
    "The model, or a part of it, was passed in eval mode and ran in train mode: dropout drew zeros, and batch norm "
    "used this batch's statistics and moved its own.",
    "Leave the mode as it was handed in: backward needs no train mode.",
    "train() sounds as if gradients needed it; it switches layers such as dropout and batch norm, not autograd.",
    also=(_train_mode_put_back,),
)
def ran_in_train_mode(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    model.train()
    return _right(model, loss_fn, x, y)


@mistake(
    "A hook stayed registered",
    "A hook that was registered during the call is still there and runs at each later pass of the caller.",
    "Keep the handle that registering returns, and call its remove() at the end.",
    "Hooks live on the parameter or module, not in your function.",
)
def hooks_left_behind(model: nn.Module, loss_fn: LossFn, x: T, y: T) -> Any:
    next(iter(_trainable(model).values())).register_hook(lambda gradient: None)
    return _right(model, loss_fn, x, y)
