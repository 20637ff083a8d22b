"""What is often done instead in exercise 2.2."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson2.accumulate_grad.task import MOVED

T = torch.Tensor
Test = Callable[[T, T], bool]
Code = Callable[[T, T], object]


def _checked(param: T, incoming: T) -> None:
    if incoming.shape != param.shape:
        raise ValueError("wrong shape")


def _added(param: T, incoming: T) -> None:
    """Copied into None, added in place to what is there. PyTorch's own rules for shapes."""
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


def _added_to_zeros(param: T, incoming: T) -> None:
    """The same, where None becomes zeros first."""
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    param.grad.add_(incoming)


def _later(change: Code, first: Code = _added) -> Code:
    """Shapes compared; `first` where .grad is None, `change` where it holds a tensor."""

    def code(param: T, incoming: T) -> object:
        _checked(param, incoming)
        return (first if param.grad is None else change)(param, incoming)

    return code


def _held(param: T) -> T:
    assert param.grad is not None
    return param.grad


def _nothing(param: T, incoming: T) -> None:
    pass


# ------------------------------------------------------------------ where the gradient lies


def _assigned(param: T, incoming: T) -> None:
    param.grad = incoming


def _replaced_by_sum(param: T, incoming: T) -> None:
    param.grad = _held(param) + incoming


@mistake(
    ".grad shares the caller's memory",
    "Where .grad was None it became incoming itself, or shares its memory: whatever is written into one of them "
    "arrives in the other too.",
    "Give .grad memory of its own on the first call. detach() and .data share it.",
    "backward may take over an incoming tensor because nobody else holds it. Your caller does.",
    also=(_later(_replaced_by_sum, first=_assigned),),
)
def incoming_kept_by_reference(param: T, incoming: T) -> None:
    _later(_added, first=_assigned)(param, incoming)


@mistake(
    ".grad shares the caller's memory after every call",
    "Each call that was accepted put incoming itself, or a view of it, into .grad: the old gradient is lost, and the "
    "new one changes with incoming.",
    "Copy the first gradient, and add each later one to it.",
)
def replaced_by_reference(param: T, incoming: T) -> None:
    _later(_assigned, first=_assigned)(param, incoming)


@mistake(
    "The copy kept the overlapping layout of incoming",
    "The rows of an expanded tensor are one row of memory. .grad took over that layout, so nothing can be added to "
    "it in place: PyTorch refuses.",
    "How did the first gradient come into .grad? incoming.clone() gives every entry a place of its own; "
    "copy.deepcopy and views keep the strides.",
    "expand() makes no entries, it only lets a stride be 0.",
)
def copied_the_strides(param: T, incoming: T) -> None:
    def first(param: T, incoming: T) -> None:
        param.grad = copy.deepcopy(incoming)

    _later(_added, first)(param, incoming)


def _memory_swapped(param: T, incoming: T) -> None:
    _held(param).data = _held(param).data + incoming


@mistake(
    "The sum was not written into the tensor that was there",
    "The values are right, but they lie in other memory than before. What shares the old memory, a bucket of gradients "
    "or a view, no longer sees what arrives.",
    "Add in place: an operation that writes into the tensor in .grad.",
    "x = x + y makes a new tensor; x += y and x.add_(y) write into the old one.",
    also=(_later(_memory_swapped),),
)
def new_tensor_in_grad(param: T, incoming: T) -> None:
    _later(_replaced_by_sum)(param, incoming)


@mistake(
    "Zeros in .grad made room for a new tensor",
    "Where .grad held zeros, a new tensor took their place; the call after that added to the tensor it found. None "
    "says that nothing has arrived yet; zeros are a gradient, and other code may hold that tensor.",
    "Ask whether .grad is None, not what it holds.",
    "As numbers, nothing and zero make the same sum.",
)
def zeros_taken_for_no_gradient(param: T, incoming: T) -> None:
    _checked(param, incoming)
    if param.grad is not None and not param.grad.any():
        param.grad = None
    _added(param, incoming)


# ------------------------------------------------------------------ what was added


@mistake(
    "The new gradient replaced the old one",
    ".grad holds only the newest gradient; what was there is lost.",
    "Add to what is there; put the gradient in as it is only when there is nothing yet.",
    "backward assigns where .grad is None; where .grad holds a tensor, it adds.",
)
def replaced_not_added(param: T, incoming: T) -> None:
    _checked(param, incoming)
    param.grad = incoming.clone()


def _untouched(param: T, incoming: T) -> None:
    _checked(param, incoming)


@mistake(
    "Nothing arrived in .grad",
    ".grad holds after the call what it held before it.",
    "Assign to param.grad, or write into its tensor; a local name or a returned dict does not reach it.",
    "`grad = grad + g` binds the name grad to a new tensor and leaves param.grad alone.",
    also=(_nothing,),
    signs=(MOVED,),
)
def grad_left_untouched(param: T, incoming: T) -> None:
    _untouched(param, incoming)


def _into_the_values(param: T, incoming: T) -> None:
    with torch.no_grad():
        param.add_(incoming)


@mistake(
    "The parameter's values were changed, not its .grad",
    ".grad holds after the call what it held before it, and the parameter itself has moved.",
    "Add to param.grad. The parameter moves only when an optimizer steps.",
    "A parameter and its gradient have the same shape, so nothing complains.",
    signs=(MOVED,),
)
def added_to_the_values(param: T, incoming: T) -> None:
    _checked(param, incoming)
    _into_the_values(param, incoming)


def _in_place_unchecked(param: T, incoming: T) -> None:
    param += incoming


@mistake(
    "In-place work on the parameter instead of its .grad",
    "An in-place operation met a leaf that requires gradients, as the parameter is, and autograd refused it.",
    "Add to param.grad. The parameter moves only when an optimizer steps.",
    also=(_in_place_unchecked,),
)
def added_to_the_parameter(param: T, incoming: T) -> None:
    _checked(param, incoming)
    param += incoming


@mistake(
    "Only the first gradient arrived",
    "Where .grad was None the gradient arrived; where it held one, nothing was added.",
    "Look at the line for the later calls: does it write anywhere, or is its result dropped?",
    "tensor.add(...) returns a new tensor; tensor.add_(...) writes.",
)
def first_gradient_alone(param: T, incoming: T) -> None:
    _later(_nothing)(param, incoming)


@mistake(
    "The first gradient did not arrive",
    "Where .grad was None it is None still; where it held a tensor, the gradient was added to it.",
    "Look at the line for the case of None: does it assign to param.grad? A local name does not reach it.",
    "`grad = incoming.clone()` binds the name grad to a new tensor and leaves param.grad alone.",
)
def first_gradient_lost(param: T, incoming: T) -> None:
    _later(_added, first=_nothing)(param, incoming)


@mistake(
    "A gradient of zeros was passed over",
    ".grad is None still after a gradient of zeros arrived. To an optimizer the two differ: it leaves out a "
    "parameter whose .grad is None.",
    "Ask whether .grad is None; what incoming holds does not matter.",
    "As numbers, adding zeros and adding nothing are the same.",
)
def skipped_a_gradient_of_zeros(param: T, incoming: T) -> None:
    _checked(param, incoming)
    if incoming.any():
        _added(param, incoming)


def _negated(param: T, incoming: T) -> None:
    _added(param, -incoming)


def _old_taken_away(param: T, incoming: T) -> None:
    _held(param).copy_(incoming - _held(param))


@mistake(
    "A gradient came in with a minus",
    "The sign of the new gradient or of the old one is flipped. Going against a gradient is the optimizer's business.",
    "Look for the minus: gradients are only added here.",
    "Descent is what one does with a gradient, so the minus is easily drawn into it.",
    also=(_later(_negated, first=_negated), _later(_old_taken_away)),
)
def gradient_sign_flipped(param: T, incoming: T) -> None:
    _later(_negated)(param, incoming)


def _averaged(param: T, incoming: T) -> None:
    _held(param).add_(incoming).div_(2)


def _half_of_each(param: T, incoming: T) -> None:
    _added_to_zeros(param, incoming)
    _held(param).div_(2)


@mistake(
    "Averaged instead of added",
    "The result is the mean of old and new, so the older a gradient is, the less of it is left.",
    "Only add. Dividing is the business of the loss.",
    "",
    also=(_later(_half_of_each, first=_half_of_each),),
)
def averaged_with_old(param: T, incoming: T) -> None:
    _later(_averaged)(param, incoming)


def _twice(param: T, incoming: T) -> None:
    _added_to_zeros(param, incoming)
    _held(param).add_(incoming)


@mistake(
    "A gradient was counted twice",
    "One gradient arrived two times. Did you put it in, and then add it as well?",
    "Add incoming once in each call. Does the first call run the line for later calls as well, or does one call add "
    "in two lines?",
    "",
    also=(_later(_twice, first=_twice), _later(_twice)),
)
def counted_twice(param: T, incoming: T) -> None:
    _later(_added, first=_twice)(param, incoming)


# ------------------------------------------------------------------ shapes


def _unless(wrong: Test, write: Code) -> Code:
    """`wrong` decides what is refused; the rest is up to PyTorch."""

    def code(param: T, incoming: T) -> None:
        if wrong(param, incoming):
            raise ValueError("wrong shape")
        write(param, incoming)

    return code


def _caught(write: Code) -> Code:
    """Whatever PyTorch refuses becomes a ValueError."""

    def code(param: T, incoming: T) -> None:
        try:
            write(param, incoming)
        except RuntimeError as error:
            raise ValueError("wrong shape") from error

    return code


def _other_dimensions(param: T, incoming: T) -> bool:
    return param.dim() != incoming.dim()


_PARTIAL_TESTS: tuple[Test, ...] = (
    _other_dimensions,
    lambda p, g: p.shape[:1] != g.shape[:1],
    lambda p, g: _other_dimensions(p, g) or p.shape[:1] != g.shape[:1],
    lambda p, g: p.shape[-1:] != g.shape[-1:],
    lambda p, g: _other_dimensions(p, g) or p.shape[-1:] != g.shape[-1:],
    lambda p, g: p.numel() != g.numel(),
    lambda p, g: p.dim() == 2 and g.dim() == 1,
    lambda p, g: p.grad is None and p.shape != g.shape,
    lambda p, g: any(a != b for a, b in zip(p.shape, g.shape, strict=False)),
)
_WRITES: tuple[Code, ...] = (_added, _added_to_zeros)


def _written_over(param: T, incoming: T) -> None:
    """None becomes an empty tensor, over which incoming is copied."""
    if param.grad is None:
        param.grad = torch.empty_like(param).copy_(incoming).detach()
    else:
        param.grad += incoming


@mistake(
    "A wrong shape met no ValueError",
    "At least one wrong shape got past without a ValueError. PyTorch stretches what it can and adds it without a "
    "word; what it cannot stretch it refuses by a RuntimeError.",
    "Compare the whole shapes before you add, whether .grad is None or not: dimensions that fit by broadcasting are "
    "still not equal.",
    "Adding follows the broadcasting rules: a dimension that is 1 or missing fits any.",
    also=(
        _added_to_zeros,
        _written_over,
        *(_unless(wrong, write) for wrong in _PARTIAL_TESTS for write in _WRITES),
        _caught(_added),
        _caught(_added_to_zeros),
    ),
)
def broadcast_into_grad(param: T, incoming: T) -> None:
    _added(param, incoming)


def _reshaped(param: T, incoming: T) -> None:
    _added(param, incoming.reshape(param.shape))


@mistake(
    "A gradient of another shape was reshaped",
    "The number of entries is the same, but a gradient of another shape is not this parameter's gradient, and the "
    "exercise asks for a refusal.",
    "Compare the shapes, not the number of entries.",
    "",
    also=(_reshaped, _caught(_reshaped)),
)
def reshaped_to_fit(param: T, incoming: T) -> None:
    _unless(lambda p, g: p.numel() != g.numel(), _reshaped)(param, incoming)


def _then_checked(write: Code) -> Code:
    def code(param: T, incoming: T) -> None:
        write(param, incoming)
        _checked(param, incoming)

    return code


@mistake(
    "The shape was checked after the change",
    "ValueError was raised, but by then .grad had been changed.",
    "Check first, change afterwards.",
    "A caller who catches the error goes on with a broken gradient.",
    also=(_then_checked(_added), _then_checked(_added_to_zeros), _then_checked(_caught(_added))),
)
def changed_before_check(param: T, incoming: T) -> None:
    _then_checked(_caught(_added_to_zeros))(param, incoming)


@mistake(
    "None had become zeros before the shape was checked",
    "ValueError was raised, but .grad, None before, is zeros now. To an optimizer the two differ.",
    "Check the shape before you make anything; the parameter has a shape even when its gradient is None.",
)
def zeros_before_check(param: T, incoming: T) -> None:
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    _checked(param, incoming)
    param.grad.add_(incoming)


@mistake(
    "A wrong shape raised nothing",
    "Nothing was changed, and nothing was raised: the caller goes on as if the gradient had been added.",
    "Raise ValueError; printing or returning early does not stop the caller.",
)
def wrong_shape_ignored(param: T, incoming: T) -> None:
    if incoming.shape == param.shape:
        _added(param, incoming)


def _returned_false(param: T, incoming: T) -> object:
    if incoming.shape != param.shape:
        return False
    _added(param, incoming)
    return None


def _returned_the_class(param: T, incoming: T) -> object:
    if incoming.shape != param.shape:
        return ValueError
    _added(param, incoming)
    return None


@mistake(
    "The refusal was returned, not raised",
    "Nothing was changed, but nothing was raised either: what the function returns does not stop the caller.",
    "Raise a ValueError where you return now.",
    "An exception is an object like any other until it is raised.",
    also=(_returned_false, _returned_the_class),
)
def returned_the_refusal(param: T, incoming: T) -> object:
    if incoming.shape != param.shape:
        return ValueError("wrong shape")
    _added(param, incoming)
    return None


@mistake(
    "A RuntimeError where a ValueError is asked",
    "Some wrong shapes met a RuntimeError, as PyTorch raises where a shape cannot be stretched or assigned. A caller "
    "who expects ValueError does not catch it.",
    "Compare the shapes yourself, in the case of None too, and raise ValueError.",
)
def shape_error_from_torch(param: T, incoming: T) -> None:
    _unless(lambda p, g: p.grad is not None and p.grad.shape != g.shape, _added)(param, incoming)


def _refusing(error: type[Exception]) -> Code:
    def code(param: T, incoming: T) -> None:
        if incoming.shape != param.shape:
            raise error("wrong shape")
        _added(param, incoming)

    return code


@mistake(
    "Another exception than ValueError",
    "The wrong shape was refused, but by an exception that a caller who expects ValueError does not catch.",
    "Raise ValueError. An assert disappears under python -O, so it is no check of arguments.",
    "",
    also=tuple(_refusing(error) for error in (TypeError, RuntimeError, IndexError, Exception)),
)
def another_exception(param: T, incoming: T) -> None:
    _refusing(AssertionError)(param, incoming)


_TOO_STRICT_TESTS: tuple[Test, ...] = (
    lambda p, g: p.dim() != 1 or p.shape != g.shape,
    lambda p, g: p.dim() > 1 or p.shape != g.shape,
    lambda p, g: p.stride() != g.stride() or p.shape != g.shape,
    lambda p, g: not g.is_contiguous() or p.shape != g.shape,
    lambda p, g: p.grad is None or p.shape != g.shape,
    lambda p, g: p.shape == g.shape,
    lambda p, g: True,
)


@mistake(
    "A right shape was refused",
    "An error was raised although incoming has exactly the parameter's shape.",
    "Compare the two shapes as a whole and with == or !=, and nothing else: a parameter may have any number of "
    "dimensions, none included, incoming any layout, and .grad may be None.",
    "",
    also=tuple(_unless(wrong, _added) for wrong in _TOO_STRICT_TESTS),
)
def refused_a_right_shape(param: T, incoming: T) -> None:
    _unless(lambda p, g: p.dim() == 0 or p.shape != g.shape, _added)(param, incoming)


# ------------------------------------------------------------------ what was returned


def _returned_grad(param: T, incoming: T) -> object:
    _added(param, incoming)
    return param.grad


def _returned_param(param: T, incoming: T) -> object:
    _added(param, incoming)
    return param


@mistake(
    "The function returns something",
    "The exercise asks for a function that works by its side effect and returns None.",
    "Drop the return value.",
    "A returned .grad is the live tensor, and callers who keep it see it change.",
    also=(_later(_returned_grad), _later(_added, first=_returned_grad), _later(_returned_param, first=_returned_param)),
)
def returned_the_gradient(param: T, incoming: T) -> object:
    return _later(_returned_grad, first=_returned_grad)(param, incoming)
