"""Attempts at exercise 2.2, accumulate_grad: what learners write, and what the check must say of it."""

import operator
from functools import partial
import copy
import itertools
import numpy as np
import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson2.accumulate_grad import mistakes


@raised(mistakes.added_to_the_parameter)
def in_place_on_a_leaf(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    param += incoming


@wrong(mistakes.another_exception)
def as_assert(param, incoming):
    assert param.shape == incoming.shape, "wrong shape"
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


@wrong(mistakes.another_exception)
def type_error(param, incoming):
    if param.shape != incoming.shape:
        raise TypeError(f"bad shape {incoming.shape}")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


@raised(effects.grad_is_none)
def no_first_time(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    param.grad += incoming


@raised(effects.grad_is_none)
def shape_of_none(param, incoming):
    if param.grad.shape != incoming.shape:
        raise ValueError("wrong shape")
    param.grad += incoming


@wrong(mistakes.refused_a_right_shape)
def vectors_only(param, incoming):
    if param.dim() == 0 or param.shape[0] != incoming.shape[0] or param.dim() != incoming.dim():
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


@wrong(mistakes.shape_error_from_torch)
def left_to_torch(param, incoming):
    if param.grad is None:
        param.grad = incoming.clone()
        return
    if param.grad.shape != incoming.shape:
        raise ValueError("wrong shape")
    param.grad += incoming


@raised(effects.truth_of_a_tensor)
def if_grad(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad:
        param.grad += incoming
    else:
        param.grad = incoming.clone()


@right
def clone_or_add_(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError(f"gradient of shape {tuple(incoming.shape)} for a parameter of shape {tuple(param.shape)}")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


@raised(mistakes.copied_the_strides)
def data_and_deepcopy(param, incoming):
    if not param.shape == incoming.shape:
        raise ValueError
    grad = param.grad
    if grad is not None:
        grad.data.add_(incoming.data)
    else:
        param.grad = copy.deepcopy(incoming)


@right
def empty_like_copy(param, incoming):
    held = param.grad
    if (param.shape if held is None else held.shape) != incoming.shape:
        raise ValueError("the gradient must have the parameter's shape")
    if held is None:
        param.grad = torch.empty_like(param, requires_grad=False).copy_(incoming)
        return
    held.copy_(held + incoming)
    return None


class ShapeError(ValueError):
    pass

@right
def foreach(param, incoming):
    same = param.dim() == incoming.dim() and all(a == b for a, b in zip(param.shape, incoming.shape))
    if not same:
        raise ShapeError()
    if param.grad is None:
        param.grad = incoming + 0
    else:
        torch._foreach_add_([param.grad], [incoming])


@right
def plus_equals(param, incoming):
    if tuple(param.shape) != tuple(incoming.shape):
        raise ValueError("wrong shape")
    with torch.no_grad():
        if param.grad is not None:
            param.grad += incoming
        else:
            param.grad = incoming.detach().clone()


@right
def product_backward(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError(f"expected {param.shape}, got {incoming.shape}")
    (param * incoming).sum().backward()


@right
def real_backward(param, incoming):
    try:
        param.backward(gradient=incoming)
    except RuntimeError as error:
        raise ValueError(str(error)) from error


@right
def zeros_then_add(param, incoming):
    if list(param.size()) != list(incoming.size()):
        raise ValueError("shapes differ")
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    torch.add(param.grad, incoming, out=param.grad)


@wrong(mistakes.averaged_with_old)
def mean(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming).div_(2)


@wrong(mistakes.broadcast_into_grad)
def gamed_for_two_shapes(param, incoming):
    if incoming.dim() == 1 and param.dim() == 2:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


@wrong(mistakes.broadcast_into_grad)
def no_check(param, incoming):
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    param.grad += incoming


@wrong(mistakes.broadcast_into_grad)
def only_dimensions_counted(param, incoming):
    if param.dim() != incoming.dim():
        raise ValueError("wrong number of dimensions")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


@wrong(mistakes.changed_before_check)
def checks_last(param, incoming):
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    try:
        param.grad.add_(incoming)
    except RuntimeError as error:
        raise ValueError("wrong shape") from error
    if incoming.shape != param.shape:
        raise ValueError("wrong shape")


@wrong(effects.changed_input)
def summed_in_incoming(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        incoming += param.grad
        param.grad.copy_(incoming)


@wrong(mistakes.counted_twice)
def missing_else(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    param.grad += incoming


@wrong(mistakes.first_gradient_alone)
def else_rebinds(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add(incoming)


@wrong(mistakes.added_to_the_values)
def added_to_the_values(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    with torch.no_grad():
        param += incoming


@wrong(mistakes.grad_left_untouched)
def local_name(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    grad = param.grad
    if grad is None:
        grad = incoming.clone()
    else:
        grad = grad + incoming


@wrong(mistakes.gradient_sign_flipped)
def descends(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad -= incoming


@wrong(mistakes.incoming_kept_by_reference)
def assigned(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming
    else:
        param.grad += incoming


@wrong(mistakes.incoming_kept_by_reference)
def detached_view(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.detach()
    else:
        param.grad.add_(incoming)


@wrong(mistakes.new_tensor_in_grad)
def data_swapped(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.data = param.grad.data + incoming


@wrong(mistakes.new_tensor_in_grad)
def sum_assigned(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad = param.grad + incoming


@wrong(mistakes.replaced_by_reference)
def one_line(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    param.grad = incoming


@wrong(mistakes.replaced_not_added)
def copy_in_place(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    param.grad.copy_(incoming)


@wrong(mistakes.replaced_not_added)
def newest_wins(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    param.grad = incoming.clone()


@wrong(mistakes.reshaped_to_fit)
def numel_checked(param, incoming):
    if param.numel() != incoming.numel():
        raise ValueError("wrong size")
    incoming = incoming.reshape(param.shape)
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


@wrong(mistakes.returned_the_gradient)
def returns_grad(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming
    return param.grad


@wrong(mistakes.wrong_shape_ignored)
def silent_return(param, incoming):
    if param.shape != incoming.shape:
        print("wrong shape")
        return
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


@wrong(mistakes.returned_the_refusal)
def exception_returned(param, incoming):
    if param.shape != incoming.shape:
        return ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


@wrong(mistakes.zeros_before_check)
def half_right(param, incoming):
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    if incoming.shape != param.grad.shape:
        raise ValueError("wrong shape")
    param.grad.add_(incoming)


# the sum is a new tensor assigned to .grad instead of an addition in place
@wrong(mistakes.new_tensor_in_grad)
def class_a_01(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("wrong shape for this parameter")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        # grad_new = grad_old + incoming
        param.grad = param.grad + incoming.detach()


# detach() shares memory with incoming, so the first .grad is not a copy AND the function returns .grad instead of
# None
@wrong(mistakes.returned_the_gradient)
def class_a_02(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shape of gradient and parameter differ")
    incoming = incoming.detach()  # make it independent of the caller
    if param.grad is None:
        param.grad = incoming
    else:
        param.grad.detach().add_(incoming)
    return param.grad


@right
@torch.no_grad()
def class_a_03(param, incoming):
    if tuple(incoming.size()) != tuple(param.size()):
        raise ValueError("incoming gradient must have the parameter's shape")

    if param.grad is not None:
        param.grad += incoming
        return

    param.grad = torch.empty_like(param)
    param.grad.copy_(incoming)


@right
def class_a_04(param, incoming):
    if not incoming.shape == param.shape:
        raise ValueError("not the shape of the parameter")
    arrived = incoming.detach()
    try:
        ledger = param.grad.detach()      # same memory as .grad
    except AttributeError:                # None has no detach
        param.grad = arrived.clone()
    else:
        ledger.copy_(ledger + arrived)


# torch.add returns a new tensor that is thrown away, so a later gradient is never added
@wrong(mistakes.first_gradient_alone)
def class_a_05(param, incoming):
    if param.size() != incoming.size():
        raise ValueError("param and incoming must have the same size")

    new_grad = incoming.detach().clone()
    if param.grad is None:
        param.grad = new_grad
    else:
        torch.add(param.grad, new_grad)


# the check is left to add_, which broadcasts a smaller incoming silently instead of raising ValueError when .grad
# already holds a tensor
@wrong(mistakes.broadcast_into_grad)
def class_a_06(param, incoming):
    with torch.no_grad():
        try:
            if param.grad is None:
                param.grad = incoming.clone()
            else:
                param.grad.add_(incoming)
        except RuntimeError as err:
            raise ValueError("gradient does not fit the parameter") from err


# the parameter itself is moved by a step of gradient descent AND .grad is zeroed at the end, so nothing accumulates
@wrong(says='No gradient but zero, or None, is left at .grad after the call, .grad after call 1, .grad after call 2 and .grad after call 3.')
def class_a_07(param, incoming, lr=0.01):
    if incoming.shape != param.shape:
        raise ValueError("Shapes must match!")
    with torch.no_grad():
        # 1) backward
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad += incoming
        # 2) step
        param -= lr * param.grad
        # 3) zero_grad
        param.grad.zero_()


# the stored .grad is made a leaf that requires gradients, so the second gradient raises RuntimeError at the
# addition in place
@raised(effects.in_place_on_a_leaf)
def class_a_08(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("incoming has another shape than param")
    if param.grad is None:
        param.grad = incoming.detach().clone().requires_grad_(True)
    else:
        param.grad += incoming.detach()


# without a check of its own it leaves a wrong shape to param.backward, which raises RuntimeError and not ValueError
# (for a frozen parameter it raises always)
@wrong(mistakes.another_exception)
def class_a_09(param, incoming):
    # backward with an external gradient does precisely what is asked
    param.backward(gradient=incoming.detach().clone())


@right
@torch.no_grad()
def class_a_10(p, incoming):
    if p.shape != incoming.shape: raise ValueError(f"{p.shape} vs {incoming.shape}")
    if p.grad is None: p.grad = 1 * incoming
    else: torch._foreach_add_([p.grad], [incoming])


# `if param.grad:` asks for the truth value of a tensor, which raises RuntimeError for more than one entry (and
# takes a single zero for None)
@raised(effects.truth_of_a_tensor)
def class_a_11(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("incoming has shape %s, expected %s" % (list(incoming.shape), list(param.shape)))
    with torch.no_grad():
        if param.grad:
            param.grad += incoming
        else:
            param.grad = incoming.clone()


# the shape is never checked: what broadcasts is added, the rest gives PyTorch's RuntimeError instead of ValueError
@wrong(mistakes.broadcast_into_grad)
def class_a_12(param, incoming):
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad.add_(incoming)


def _add_into(ledger, arrived):
    if ledger.dim() <= 1:
        ledger.add_(arrived)
        return
    for i in range(ledger.shape[0]):
        _add_into(ledger[i], arrived[i])

@right
def class_a_13(param, incoming):
    if param.dim() != incoming.dim() or any(a != b for a, b in zip(param.shape, incoming.shape)):
        raise ValueError("the gradient of a parameter has the parameter's shape")
    if param.grad is None:
        param.grad = torch.zeros_like(param.detach())
    with torch.no_grad():
        _add_into(param.grad, incoming)


# the sum is formed inside incoming (+=), so the caller's incoming is changed
@wrong(effects.changed_input)
def class_a_14(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shape")
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            incoming += param.grad          # old + new
            param.grad.copy_(incoming)      # write it back in place


class Ledger:
    """The .grad of one parameter."""

    def __init__(self, owner):
        self.owner = owner

    def check(self, entry):
        if entry.shape != self.owner.shape:
            raise ValueError(f"entry {tuple(entry.shape)} does not fit {tuple(self.owner.shape)}")

    def book(self, entry):
        self.check(entry)
        entry = entry.detach()
        if self.owner.grad is None:
            self.owner.grad = torch.clone(entry)
        else:
            with torch.no_grad():
                self.owner.grad.add_(entry, alpha=1)

@right
def class_a_15(param, incoming):
    Ledger(param).book(incoming)


# .grad is overwritten by every incoming gradient, nothing is ever accumulated
@wrong(mistakes.replaced_not_added)
def class_a_16(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shape mismatch")
    # backward() fills in .grad
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    param.grad.data.copy_(incoming.data)


# the first gradient is stored without a copy, so .grad and incoming are the same tensor
@wrong(mistakes.incoming_kept_by_reference)
def class_a_17(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes do not match")
    with torch.no_grad():
        if param.grad is None:
            # first gradient: nothing to add to yet
            param.grad = incoming
        else:
            param.grad += incoming


# when .grad is None the copy only goes into a local variable and is never assigned to param.grad
@wrong(mistakes.first_gradient_lost)
def class_a_18(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("bad shape")
    g = param.grad
    with torch.no_grad():
        if g is None:
            g = incoming.clone()
        else:
            g += incoming


# .grad is set to zeros before the shape is checked, so a refused gradient turns None into zeros
@wrong(mistakes.zeros_before_check)
def class_a_19(param, incoming):
    if param.grad is None:
        param.grad = torch.zeros_like(param)

    if param.grad.shape != incoming.shape:
        raise ValueError(f"cannot add {incoming.shape} to {param.grad.shape}")

    with torch.no_grad():
        param.grad.add_(incoming)


@right
def class_a_20(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError(f"gradient of shape {tuple(incoming.shape)} for a parameter of shape {tuple(param.shape)}")
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad.add_(incoming)


# assert raises AssertionError for a wrong shape, not ValueError
@wrong(mistakes.another_exception)
def class_a_21(param, incoming):
    assert incoming.shape == param.shape, "ValueError: shapes must match"
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad.add_(incoming)


# deepcopy keeps the zero strides of an expanded incoming (as sum() sends), so the entries of .grad share memory and
# the next addition raises RuntimeError
@raised(mistakes.copied_the_strides)
def class_a_22(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError(f"{incoming.shape} is not {param.shape}")
    grad_in = incoming.detach()
    if param.grad is None:
        param.grad = copy.deepcopy(grad_in)
    else:
        with torch.no_grad():
            param.grad.add_(grad_in)


# the old and the new gradient are averaged instead of added AND the result is a new tensor, not the one .grad held
@wrong(mistakes.averaged_with_old)
def class_a_23(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("gradient has the wrong shape")
    incoming = incoming.detach().clone()
    if param.grad is None:
        param.grad = incoming
    else:
        param.grad = torch.stack([param.grad, incoming]).mean(dim=0)


# numel is compared instead of the shape: the transposed or reshaped shape with as many entries does not raise
# ValueError
@wrong(mistakes.broadcast_into_grad)
@torch.no_grad()
def class_a_24(param, incoming):
    if incoming.numel() != param.numel(): raise ValueError("wrong number of entries")
    param.grad = incoming.clone() if param.grad is None else param.grad.add_(incoming)


# requires_grad of the parameter is switched off and not on again
@wrong(effects.changed_requires_grad)
def class_a_25(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shapes differ")
    # avoid "a leaf Variable that requires grad is being used in an in-place operation"
    param.requires_grad = False
    incoming = incoming.detach()
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


@right
def class_a_26(param, incoming):
    same_shape = list(param.shape) == list(incoming.shape)
    if not same_shape:
        raise ValueError(f"expected {list(param.shape)}, got {list(incoming.shape)}")

    if param.grad is None:
        param.grad = torch.zeros_like(param, requires_grad=False)   # an empty ledger
    param.grad.data.add_(incoming.data)


# `.grad.data = ...` swaps new memory into .grad instead of adding in place, so views of the old .grad held by other
# code do not follow
@wrong(mistakes.new_tensor_in_grad)
def class_a_27(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("incoming must be shaped like param")
    if param.grad is None:
        param.grad = incoming.detach().clone()
        return
    # still the same tensor object: id(param.grad) does not change
    param.grad.data = param.grad.data + incoming.data


# on the first gradient only a local variable is set: param.grad stays None
@wrong(mistakes.first_gradient_lost)
def class_b_01(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes do not match")
    grad = param.grad
    if grad is None:
        grad = incoming.detach().clone()
    else:
        grad += incoming.detach()


@right
def class_b_02(param, incoming):
    new = incoming.detach()
    if list(new.shape) != list(param.shape):
        raise ValueError(f"expected {list(param.shape)} but got {list(new.shape)}")
    if param.grad is None:
        # a copy, so nobody can change it from outside
        param.grad = new.clone()
    else:
        param.grad[...] = param.grad + new


# no else: the first gradient is copied and then added as well, so it counts twice
@wrong(mistakes.counted_twice)
def class_b_03(param, incoming):
    if incoming.size() != param.size():
        raise ValueError("incoming must have the size of param")
    # first time: there is no grad yet, make one
    if param.grad is None:
        param.grad = incoming.detach().clone()
    # then accumulate
    param.grad += incoming.detach()


# clears .grad before it adds, so only the newest gradient is left: nothing accumulates
@wrong(mistakes.replaced_not_added)
def class_b_04(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    param.grad.zero_()      # always zero the gradients before backward!
    param.grad.add_(incoming.detach())


# contiguous() makes no copy of a tensor that is contiguous already: the first .grad shares its memory with incoming
@wrong(says='where .grad lies after the call: in the memory of incoming; it should be: in memory of its own.')
def class_b_05(param, incoming):
    if tuple(incoming.shape) != tuple(param.shape):
        raise ValueError("incoming has shape %s, param has %s" % (tuple(incoming.shape), tuple(param.shape)))
    with torch.no_grad():
        if param.grad is None:
            # contiguous() gives a fresh tensor with its own memory
            param.grad = incoming.detach().contiguous()
        else:
            param.grad.add_(incoming)


@right
def class_b_06(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("a gradient has the shape of its parameter")
    if param.grad is None:
        param.grad = torch.zeros_like(param, requires_grad=False)
        return class_b_06(param, incoming)
    param.grad.add_(incoming.detach())


# the ValueError is returned, not raised
@wrong(mistakes.returned_the_refusal)
def class_b_07(param, incoming):
    if incoming.shape != param.shape:
        return ValueError("shape mismatch")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad.add_(incoming.detach())
    return None


# an empty .grad is filled with zeros before the shape is checked: after the ValueError it is zeros, not None
@wrong(mistakes.zeros_before_check)
def class_b_08(param, incoming):
    incoming = incoming.detach()

    # make sure there is something to add to
    if param.grad is None:
        param.grad = torch.zeros_like(param)

    if param.grad.shape != incoming.shape:
        raise ValueError(f"{incoming.shape} does not fit {param.grad.shape}")

    param.grad += incoming


# len() looks at the first axis alone, so (2, 1) passes for (2, 3) AND len() raises TypeError for a 0-d parameter
@raised(effects.length_of_a_0_d_tensor)
def class_b_09(param, incoming):
    if len(param) != len(incoming):
        raise ValueError("param and incoming must have the same length")
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    param.grad += incoming.detach()


# a .grad that holds only zeros counts as empty and is replaced by a new tensor: others that hold the old one miss
# the sum
@wrong(mistakes.zeros_taken_for_no_gradient)
def class_b_10(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("bad shape")
    first = param.grad is None or not param.grad.any()   # None or zeroed = nothing there yet
    if first:
        param.grad = incoming.detach().clone()
    else:
        param.grad.add_(incoming.detach())


@right
@torch.no_grad()
def class_b_11(param, incoming):
    if param.size() != incoming.size(): raise ValueError(f"{tuple(param.size())} != {tuple(incoming.size())}")
    if param.grad is None: param.grad = torch.empty_like(param).copy_(incoming)
    else: torch._foreach_add_([param.grad], [incoming])


# adds .grad into incoming, which is changed AND then makes incoming itself the new .grad
@wrong(says='where .grad lies after the call: in the memory of incoming; it should be: in memory of its own.')
def class_b_12(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("incoming and param differ in shape")
    if param.grad is None:
        param.grad = incoming.clone()
        return
    # old gradient + new gradient
    incoming += param.grad
    param.grad = incoming


# waits for PyTorch to complain about the shape: an incoming that broadcasts onto .grad raises nothing and is added
@wrong(mistakes.broadcast_into_grad)
def class_b_13(param, incoming):
    try:
        if param.grad is None:
            param.grad = incoming.detach().clone()
        else:
            param.grad.add_(incoming.detach())
    except RuntimeError as e:
        # torch raises RuntimeError, the exercise wants ValueError
        raise ValueError(str(e))


# also takes a step of gradient descent: the parameter itself is changed
@wrong(effects.changed_input)
def class_b_14(param, incoming):
    lr = 0.01
    if param.shape != incoming.shape:
        raise ValueError("shapes")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad += incoming.detach()
    # update
    with torch.no_grad():
        param -= lr * param.grad


# lets backward do it on (param * incoming).sum() without a look at the shape: an incoming that broadcasts is summed
# or spread with no error, any other misfit raises RuntimeError, not ValueError
@wrong(mistakes.broadcast_into_grad)
def class_b_15(param, incoming):
    # d/dparam sum(param * c) = c, and backward knows how to accumulate
    (param * incoming.detach()).sum().backward()


class GradLedger:
    """The .grad of one parameter, seen as an account."""

    def __init__(self, param):
        self.param = param

    def check(self, g):
        if g.ndim != self.param.ndim or any(a != b for a, b in zip(g.shape, self.param.shape)):
            raise ValueError("this gradient belongs to another parameter")

    def open(self, g):
        self.param.grad = torch.clone(g)

    def deposit(self, g):
        self.check(g)
        if self.param.grad is None:
            self.open(g)
        else:
            self.param.grad.data.add_(g)

@right
def class_b_16(param, incoming):
    GradLedger(param).deposit(incoming.detach())


# switches autograd off for everybody and never on again: grad mode stays off after the call
@wrong(effects.changed_global)
def class_b_17(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shape of incoming is wrong")
    torch.set_grad_enabled(False)   # we do not want a graph here
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


# torch.zeros without a dtype is float32: the first gradient of a float64 parameter raises RuntimeError
@raised(effects.mixed_dtypes)
def class_b_18(param, incoming):
    if tuple(param.shape) != tuple(incoming.shape):
        raise ValueError("shape mismatch: {} vs {}".format(tuple(param.shape), tuple(incoming.shape)))
    if param.grad is None:
        param.grad = torch.zeros(param.shape, device=param.device)
    param.grad += incoming.detach()


@right
def class_b_19(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("need shape " + str(tuple(param.shape)))
    g_in = incoming.detach()
    if param.grad is None:
        param.grad = torch.zeros_like(g_in, memory_format=torch.contiguous_format)
    ranges = [range(n) for n in param.shape]
    with torch.no_grad():
        # a 0-d tensor has exactly one index, the empty one
        for idx in itertools.product(*ranges):
            param.grad[idx] += g_in[idx]


# zip cannot walk over a 0-d tensor: a scalar parameter that has a .grad raises TypeError
@raised(effects.unpacked_wrongly)
def class_b_20(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("different shapes")
    if param.grad is None:
        param.grad = incoming.detach().clone()
        return
    for g, new in zip(param.grad, incoming.detach()):
        g += new      # g is a view, so this is in place


# accepts every shape that broadcasts to the parameter's AND lets PyTorch's RuntimeError through for shapes that do
# not broadcast at all
@wrong(mistakes.broadcast_into_grad)
def class_b_21(param, incoming):
    if torch.broadcast_shapes(param.shape, incoming.shape) != param.shape:
        raise ValueError("incoming is too big for param")
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    param.grad.add_(incoming.detach())


@right
def class_b_22(param, incoming):
    def fits(a, b):
        return tuple(a.shape) == tuple(b.shape)

    if not fits(param, incoming):
        raise ValueError("the incoming gradient does not fit the parameter")

    with torch.no_grad():
        old = param.grad
        if old == None:
            param.grad = torch.mul(incoming, 1)
        else:
            torch.add(old, incoming, out=old)


# sum() builds a new tensor each time and .grad is bound to it: the tensor that .grad held is not added to in place
@wrong(mistakes.new_tensor_in_grad)
def class_b_23(param, incoming):
    if param.shape != incoming.shape: raise ValueError
    param.grad = sum(g.detach() for g in (param.grad, incoming) if g is not None)


# deepcopy keeps the strides: an expanded incoming (stride 0) becomes a .grad whose entries share memory, and the
# next gradient cannot be added in place (RuntimeError)
@raised(mistakes.copied_the_strides)
def class_b_24(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("wrong shape for this parameter")
    if param.grad is None:
        param.grad = copy.deepcopy(incoming.detach())
    else:
        param.grad.add_(incoming.detach())


# item() fits only a parameter with one entry: everything larger raises RuntimeError
@raised(effects.item_of_many)
def class_b_25(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("not the same shape")
    old = 0.0 if param.grad is None else param.grad.item()
    new = old + incoming.item()
    if param.grad is None:
        param.grad = torch.full_like(param, new, requires_grad=False)
    else:
        param.grad.fill_(new)


@right
def class_b_26(param, incoming):
    # 1. check
    if param.dim() != incoming.dim():
        raise ValueError("number of axes differs")
    for axis in range(param.dim()):
        if param.size(axis) != incoming.size(axis):
            raise ValueError("axis " + str(axis) + " differs")
    # 2. first gradient
    g = incoming.data
    if param.grad is None:
        buf = g.new_empty(g.shape)
        buf.copy_(g)
        param.grad = buf
    # 3. all others: write the sum back into the same tensor
    else:
        total = param.grad + g
        param.grad.copy_(total)


# returns param.grad instead of None
@wrong(mistakes.returned_the_gradient)
def class_b_27(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("incoming has the wrong shape")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad.add_(incoming.detach())
    return param.grad


# when .grad is None, incoming itself is stored without a copy, so later changes of incoming change .grad
@wrong(mistakes.incoming_kept_by_reference)
def class_c_01(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("gradient has another shape than the parameter")
    if param.grad is None:
        # first gradient -> just put it there
        param.grad = incoming
    else:
        param.grad.add_(incoming)


# a new tensor is made by grad + incoming and stored in .grad, instead of adding in place to the tensor that is
# there
@wrong(mistakes.new_tensor_in_grad)
def class_c_02(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError(f"expected {tuple(param.shape)}, got {tuple(incoming.shape)}")
    g = incoming.detach()
    if param.grad is None:
        param.grad = g.clone()
    else:
        param.grad = param.grad + g


@right
@torch.no_grad()
def class_c_03(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes differ")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


# the shape is never checked: a gradient that broadcasts is added, another one ends in PyTorch's RuntimeError and
# not in ValueError
@wrong(mistakes.broadcast_into_grad)
def class_c_04(param, incoming):
    grad = incoming.detach().clone()
    if param.grad is None:
        param.grad = grad
    else:
        # += is in place
        param.grad += grad


# the else is missing: after the copy of the first gradient incoming is added once more, so the first gradient
# counts twice
@wrong(mistakes.counted_twice)
def class_c_05(param, incoming):
    if tuple(param.size()) != tuple(incoming.size()):
        raise ValueError('wrong shape!')
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.clone()
        param.grad.add_(incoming)


# tests "not param.grad" instead of "is None": a .grad with several entries raises RuntimeError, and a one-entry
# .grad that holds zero is replaced
@raised(effects.truth_of_a_tensor)
def class_c_06(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shape")
    if not param.grad:
        param.grad = incoming.detach().clone()
    else:
        param.grad += incoming.detach()


@right
def class_c_07(param, incoming):
    """The ledger starts at zero and everything that arrives gets added."""
    if list(incoming.shape) != list(param.shape):
        raise ValueError("incoming %s does not fit parameter %s" % (list(incoming.shape), list(param.shape)))
    if param.grad is None:
        param.grad = torch.zeros_like(param, requires_grad=False)
    with torch.no_grad():
        param.grad.add_(incoming)


# only the number of dimensions is compared, not the shape AND the function returns .grad instead of None
@wrong(mistakes.returned_the_gradient)
def class_c_08(param, incoming):
    if param.dim() != incoming.dim():
        raise ValueError("wrong number of dimensions")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad.add_(incoming.detach())
    return param.grad


# a wrong shape is refused by assert, which raises AssertionError and not ValueError
@wrong(mistakes.another_exception)
def class_c_09(param, incoming):
    assert param.shape == incoming.shape, "Shape mismatch"
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad += incoming.detach()


# the shape check relies on PyTorch's own RuntimeError from add_, which does not come for an incoming that
# broadcasts to .grad
@wrong(mistakes.broadcast_into_grad)
def class_c_10(param, incoming):
    g = incoming.detach()
    try:
        if param.grad is None:
            param.grad = g.clone()
        else:
            param.grad.add_(g)
    except RuntimeError as e:
        raise ValueError(str(e))


# the shape is checked after the addition, so a broadcast incoming has already changed .grad when ValueError comes
# (other wrong shapes raise RuntimeError before it)
@wrong(mistakes.changed_before_check)
def class_c_11(param, incoming):
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad += incoming
    # sanity check
    if param.grad.shape != incoming.shape:
        raise ValueError("gradient must have the shape of the parameter")


# zip stops at the shorter shape, so a shape that only agrees in its first dimensions, a 0-d incoming included,
# passes the check
@wrong(mistakes.broadcast_into_grad)
def class_c_12(param, incoming):
    if any(p != q for p, q in zip(param.shape, incoming.shape)):
        raise ValueError("shape mismatch")
    inc = incoming.detach()
    param.grad.add_(inc) if param.grad is not None else setattr(param, "grad", inc.clone())


@right
def class_c_13(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("no broadcasting here")
    inc = incoming.detach()
    if param.grad is None:
        fresh = torch.empty(inc.shape, dtype=inc.dtype, device=inc.device)
        fresh.copy_(inc)
        param.grad = fresh
        return
    ledger = param.grad.detach()      # shares the memory of .grad
    for idx in itertools.product(*[range(s) for s in inc.shape]):
        ledger[idx] += inc[idx]


# the shape is compared only where .grad already holds a tensor; with .grad None a wrong shape raises RuntimeError
# from the assignment and not ValueError
@wrong(mistakes.shape_error_from_torch)
def class_c_14(param, incoming):
    g = incoming.detach()
    if param.grad is not None:
        if param.grad.shape != g.shape:
            raise ValueError("cannot add: shapes differ")
        param.grad.add_(g)
    else:
        param.grad = g.clone()


# the sum is built inside incoming and then copied to .grad, so incoming is changed
@wrong(effects.changed_input)
def class_c_15(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shape!")
    if param.grad is None:
        param.grad = incoming.detach().clone()
        return
    buf = incoming.detach()
    buf += param.grad          # old + new
    param.grad.copy_(buf)


def _check(a, b):
    if a.shape != b.shape:
        raise ValueError(f"{tuple(a.shape)} vs {tuple(b.shape)}")

@right
def class_c_16(param, incoming):
    _check(param, incoming)
    with torch.no_grad():
        old = param.grad
        if old is None:
            param.grad = torch.empty_like(incoming).copy_(incoming)
        else:
            torch.add(old, incoming, out=old)


# gradient mode is switched off for the whole program and never back on
@wrong(effects.changed_global)
def class_c_17(param, incoming):
    torch.set_grad_enabled(False)   # we do not want to track this
    if param.shape != incoming.shape:
        raise ValueError("shape of incoming is wrong")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


# a .grad full of zeros is treated like None and replaced by a new tensor, instead of adding to the tensor that is
# there
@wrong(mistakes.zeros_taken_for_no_gradient)
def class_c_18(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("bad shape")
    # nothing collected so far (None, or cleared by zero_grad)
    empty = param.grad is None or not param.grad.any()
    if empty:
        param.grad = incoming.detach().clone()
    else:
        param.grad.add_(incoming.detach())


# contiguous() makes no copy of a contiguous tensor, so .grad shares the memory of incoming AND a wrong shape is
# printed and ignored instead of raising ValueError
@wrong(says='where .grad lies after the call: in the memory of incoming; it should be: in memory of its own.')
def class_c_19(param, incoming):
    if param.shape != incoming.shape:
        print("Error: shapes do not match", param.shape, incoming.shape)
        return
    if param.grad is None:
        param.grad = incoming.detach().contiguous()
    else:
        param.grad += incoming.detach()


def _open(param, g):
    param.grad = g.clone()

def _add(param, g):
    param.grad[...] += g

@right
def class_c_20(param, incoming):
    if not (param.ndim == incoming.ndim and all(a == b for a, b in zip(param.shape, incoming.shape))):
        raise ValueError("incoming must have exactly the shape of the parameter")
    with torch.no_grad():
        {True: _open, False: _add}[param.grad is None](param, incoming)


# the copy by tolist is always float32: a float64 parameter without .grad raises RuntimeError, one with .grad gets
# rounded values
@raised(effects.mixed_dtypes)
def class_c_21(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shape")
    copy = torch.tensor(incoming.tolist()).reshape(incoming.shape)
    if param.grad is None:
        param.grad = copy
    else:
        param.grad.add_(copy)


# leaves everything to param.backward(incoming), which raises RuntimeError and not ValueError for another shape
@wrong(mistakes.another_exception)
def class_c_22(param, incoming):
    # a leaf tensor can be the root of a backward itself :)
    param.backward(incoming.detach())


# the parameter is moved by an SGD step AND .grad is zeroed at the end, as in a training loop
@wrong(says='No gradient but zero, or None, is left at .grad after the call, .grad after call 1, .grad after call 2 and .grad after call 3.')
def class_c_24(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes must be equal")
    lr = 0.01
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad += incoming.detach()
    with torch.no_grad():
        param -= lr * param.grad
    param.grad.zero_()


class Ledger_of_class_c_25:
    def __init__(self, p):
        self.p = p

    def book(self, amount):
        if self.p.size() != amount.size():
            raise ValueError("this amount does not belong to this account")
        amount = amount.detach()
        try:
            self.p.grad.detach().add_(amount)
        except AttributeError:        # .grad is None
            self.p.grad = amount.clone(memory_format=torch.contiguous_format)

@right
def class_c_25(param, incoming):
    Ledger_of_class_c_25(param).book(incoming)


# the new gradient overwrites what .grad held instead of being added to it
@wrong(mistakes.replaced_not_added)
def class_c_26(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shape mismatch")
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    # write into the same tensor
    param.grad.data[...] = incoming.data


@right
def class_c_27(param, incoming):
    if tuple(param.shape) != tuple(incoming.shape):
        raise ValueError("shape %r != %r" % (tuple(incoming.shape), tuple(param.shape)))
    inc = incoming.detach()
    if param.grad is None:
        param.grad = inc * 1            # a new tensor, not the same memory
        return None
    flat = param.grad.detach()
    flat += inc
    return None


# on the first arrival .grad shares the memory of incoming, as detach() makes no copy, so the caller's later changes
# of incoming change .grad
@wrong(mistakes.incoming_kept_by_reference)
def class_d_01(param, incoming):
    # shapes must be the same!
    if param.shape != incoming.shape:
        raise ValueError("shape mismatch")
    if param.grad is None:
        param.grad = incoming.detach()
    else:
        param.grad += incoming.detach()


@right
def class_d_02(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError(f"gradient of shape {tuple(incoming.shape)} for a parameter of shape {tuple(param.shape)}")
    g = incoming.detach()
    if param.grad is None:
        param.grad = g.clone()
    else:
        with torch.no_grad():
            param.grad.add_(g)


# the sum is a new tensor put in place of .grad, so other holders of the old .grad tensor do not see it
@wrong(mistakes.new_tensor_in_grad)
def class_d_03(param, incoming):
    if list(param.size()) != list(incoming.size()):
        raise ValueError("wrong size")
    if param.grad is None:
        param.grad = incoming.data.clone()
    else:
        param.grad = param.grad + incoming.data   # accumulate


# the shape is checked against .grad only when there is one, so a first gradient of another shape ends in PyTorch's
# RuntimeError, not ValueError
@wrong(mistakes.shape_error_from_torch)
def class_d_04(param, incoming):
    if param.grad is None:
        param.grad = incoming.detach().clone()
        return
    if param.grad.shape != incoming.shape:
        raise ValueError("cannot accumulate: shapes differ")
    param.grad.add_(incoming.detach())


# another shape is caught by assert, so it raises AssertionError and not ValueError
@wrong(mistakes.another_exception)
def class_d_05(param, incoming):
    assert incoming.shape == param.shape, "ValueError: incoming must have the shape of param"
    with torch.no_grad():
        if param.grad is None:
            param.grad = torch.clone(incoming)
        else:
            param.grad.add_(incoming)


# "no gradient yet" is tested by the truth of .grad, which raises RuntimeError when .grad holds several entries (and
# replaces a held one-entry gradient of zero instead of adding to it)
@raised(effects.truth_of_a_tensor)
def class_d_06(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("incoming has a wrong shape")
    if not param.grad:
        param.grad = incoming.detach().clone()
    else:
        param.grad += incoming.detach()


@right
def class_d_07(param, incoming):
    # the ledger starts at zero, then every arrival is the same thing: +=
    if tuple(incoming.shape) != tuple(param.shape):
        raise ValueError("incoming must be shaped like param")
    with torch.no_grad():
        if param.grad is None:
            param.grad = torch.zeros_like(param)
        param.grad += incoming


# a .grad of None is filled with zeros before the shape is checked, so a rejected gradient changes .grad from None
# to zeros
@wrong(mistakes.zeros_before_check)
def class_d_08(param, incoming):
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    if param.grad.shape != incoming.shape:
        raise ValueError("shapes do not match")
    param.grad.add_(incoming.detach())


# there is no else or return after the first arrival, so the first gradient is added to its own copy and counts
# twice
@wrong(mistakes.counted_twice)
def class_d_09(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("bad shape")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    param.grad.add_(incoming.detach())


# the shape is checked after the addition, so a gradient that broadcasts has already changed .grad when ValueError
# comes (and any other shape raises PyTorch's RuntimeError before the check is reached)
@wrong(mistakes.changed_before_check)
@torch.no_grad()
def class_d_10(param, incoming):
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming
    # sanity check
    if incoming.shape != param.shape:
        raise ValueError("incoming.shape should be param.shape")


# only the number of entries is compared and incoming is then reshaped, so another shape with as many entries is
# accepted
@wrong(mistakes.reshaped_to_fit)
def class_d_11(param, incoming):
    if incoming.numel() != param.numel():
        raise ValueError("need as many gradients as weights")
    g = incoming.detach().reshape(param.shape)
    if param.grad is None:
        param.grad = g.clone()
    else:
        param.grad.add_(g)


# zip stops at the shorter shape, so a gradient with fewer (or more) dimensions passes the check: it broadcasts into
# .grad or ends in RuntimeError
@wrong(mistakes.broadcast_into_grad)
def class_d_12(param, incoming):
    if any(a != b for a, b in zip(param.shape, incoming.shape)):
        raise ValueError("shape")
    if param.grad is not None:
        param.grad.add_(incoming.data)
    else:
        param.grad = incoming.data.clone()


@right
def class_d_13(param, incoming):
    if param.size() != incoming.size():
        raise ValueError("size of incoming: %s, expected %s" % (list(incoming.size()), list(param.size())))
    if param.grad is None:
        param.grad = torch.zeros_like(param.detach())
        return class_d_13(param, incoming)
    # Ellipsis so that 0-d works too
    param.grad.data[...] = param.grad.data + incoming.data


# PyTorch's own RuntimeError is relied on for the shape check, so a gradient that broadcasts into a held .grad is
# added without an error
@wrong(mistakes.broadcast_into_grad)
def class_d_14(param, incoming):
    incoming = incoming.detach()
    try:
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad.add_(incoming)
    except RuntimeError as err:
        # EAFP: torch knows better than me which shapes fit
        raise ValueError("incoming does not fit param") from err


# .grad stays the same Python object but gets new memory through .data, so the addition is not in place and views or
# detached aliases of .grad miss it
@wrong(mistakes.new_tensor_in_grad)
def class_d_15(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        before = id(param.grad)
        param.grad.data = param.grad.data + incoming.data
        assert id(param.grad) == before   # still the same tensor, so in place


# the real backward is called without a shape check of one's own, so another shape raises RuntimeError and not
# ValueError (as any gradient does for a parameter with requires_grad off)
@wrong(mistakes.another_exception)
def class_d_16(param, incoming):
    # param is a leaf: its backward IS the accumulation
    torch.autograd.backward([param], [incoming.detach()])


# the slice [:] cannot be taken of a 0-d tensor, so the second arrival at a 0-d parameter raises IndexError
@raised(effects.index_out_of_range)
def class_d_17(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError(f"{incoming.shape} != {param.shape}")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad[:] += incoming.detach()


# incoming is changed, as the old gradient is added into it AND .grad is rebound to incoming (shared with the
# caller) instead of being added to in place
@wrong(says='It fails on cases 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10 alone, where the shape is the right one.')
def class_d_18(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("Expected shape {}".format(param.shape))
    if param.grad is not None:
        incoming += param.grad
    param.grad = incoming


@right
def class_d_19(param, incoming):
    def same_shape(a, b):
        return a.dim() == b.dim() and all(m == n for m, n in zip(a.shape, b.shape))

    if not same_shape(param, incoming):
        raise ValueError("a gradient has the shape of its parameter")
    source = incoming.detach()
    if param.grad is None:
        param.grad = torch.empty_like(source, memory_format=torch.contiguous_format).copy_(source)
        return None
    torch._foreach_add_([param.grad.detach()], [source])
    return None


# deepcopy keeps the strides of an expanded incoming, so .grad has entries that share memory and the next addition
# in place raises RuntimeError
@raised(mistakes.copied_the_strides)
def class_d_20(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shapes differ")
    if param.grad is None:
        # deep, so that nothing is shared with the caller
        param.grad = copy.deepcopy(incoming.detach())
    else:
        param.grad.add_(incoming.detach())


# only the number of dimensions is compared, so a gradient with a dimension of size 1 broadcasts into .grad, and
# other sizes raise RuntimeError
@wrong(mistakes.broadcast_into_grad)
def class_d_21(param, incoming):
    # a scalar or a row would broadcast: forbid
    if incoming.dim() != param.dim():
        raise ValueError("would broadcast")
    if param.grad is None:
        param.grad = incoming.data.clone()
    else:
        param.grad.add_(incoming.data)


# reshape(-1) of a .grad that is not contiguous is a copy, so the addition is lost there
@wrong(says='What stands at .grad after call 2 is `incoming of call 1` itself, value for value.')
def class_d_22(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shape of incoming")
    if param.grad is None:
        param.grad = incoming.detach().clone()
        return
    flat = param.grad.reshape(-1)
    new = incoming.detach().reshape(-1)
    for i in range(len(flat)):
        flat[i] += new[i]


@right
def class_d_23(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("incoming: other shape than param")
    store = partial(setattr, param, "grad")
    with torch.no_grad():
        store(torch.mul(incoming, 1)) if param.grad is None else torch.add(param.grad, incoming, out=param.grad)


# the shape is never checked AND contiguous() makes no copy of a contiguous incoming, so the first .grad shares its
# memory
@wrong(says='where .grad lies after the call: in the memory of incoming; it should be: in memory of its own.')
def class_d_24(param, incoming):
    g = param.grad
    if g is None:
        param.grad = incoming.detach().contiguous()  # own memory
    else:
        g.add_(incoming.detach())


# the parameter is frozen by requires_grad_(False) and left so AND .grad is returned instead of None
@wrong(mistakes.returned_the_gradient)
def class_d_25(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes are not equal")
    param.requires_grad_(False)   # so that autograd does not complain
    if param.grad is None:
        param.grad = incoming.data.clone()
    else:
        param.grad += incoming.data
    return param.grad


class _Ledger:
    def __init__(self, owner):
        self.owner = owner

    def check(self, entry):
        if entry.shape != self.owner.shape:
            raise ValueError(f"entry of shape {list(entry.shape)}, ledger of shape {list(self.owner.shape)}")
        return self

    def book(self, entry):
        handlers = {True: self._open, False: self._add}
        handlers[self.owner.grad is None](entry)

    def _open(self, entry):
        fresh = torch.empty(entry.shape, dtype=entry.dtype, device=entry.device)
        fresh.copy_(entry)
        self.owner.grad = fresh

    def _add(self, entry):
        held = self.owner.grad
        held.copy_(held + entry)

@right
def class_d_26(param, incoming):
    with torch.no_grad():
        _Ledger(param).check(incoming).book(incoming)


# a new tensor is bound to .grad by param.grad + incoming, the old one is not changed in place
@wrong(mistakes.new_tensor_in_grad)
def class_e_01(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shapes do not match")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad = param.grad + incoming


# the first gradient is stored without a copy, so .grad is the caller's own tensor
@wrong(mistakes.incoming_kept_by_reference)
def class_e_02(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError(f"expected {tuple(param.shape)}, got {tuple(incoming.shape)}")
    # nothing there yet -> just put it there
    if param.grad is None:
        param.grad = incoming
    else:
        param.grad += incoming


# there is no shape check: broadcastable gradients are added and others raise RuntimeError instead of ValueError
@wrong(mistakes.broadcast_into_grad)
def class_e_03(param, incoming):
    # pytorch complains by itself if the shapes are different
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad.add_(incoming)


@right
@torch.no_grad()
def class_e_04(param, incoming):
    if tuple(incoming.shape) != tuple(param.shape):
        raise ValueError("incoming has shape " + str(tuple(incoming.shape)))
    if param.grad is None:
        param.grad = incoming.detach().clone()
        return
    param.grad.add_(incoming)


# the shape is compared with param.grad before the test for None, so a cleared parameter raises AttributeError
@raised(effects.grad_is_none)
def class_e_05(param, incoming):
    if incoming.shape != param.grad.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


# shapes are compared with "is not", which is true for any two Size objects, so every call raises ValueError
@wrong(mistakes.refused_a_right_shape)
def class_e_06(param, incoming):
    if param.shape is not incoming.shape:
        raise ValueError('shape')
    if param.grad is not None:
        param.grad.add_(incoming)
    else:
        param.grad = incoming.clone()


# after the first gradient is stored the code goes on to the addition, so the first gradient counts twice
@wrong(mistakes.counted_twice)
def class_e_07(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError
    if param.grad is None:
        param.grad = incoming.clone()
    param.grad += incoming


# only the number of entries is compared, so a (3,) gradient broadcasts into a (1, 3) parameter and (3, 2) against
# (2, 3) raises RuntimeError
@wrong(mistakes.broadcast_into_grad)
def class_e_08(param, incoming):
    if param.numel() != incoming.numel():
        raise ValueError("sizes differ")
    if param.grad is None:
        param.grad = torch.clone(incoming)
    else:
        param.grad += incoming
    return None


class Ledger_of_class_e_09:
    """the account of one parameter"""
    def __init__(self, owner):
        self.owner = owner

    def check(self, g):
        if self.owner.size() != g.size():
            raise ValueError(f"cannot book {list(g.size())} on {list(self.owner.size())}")

    def book(self, g):
        self.check(g)
        g = g.detach()
        if self.owner.grad is None:
            fresh = torch.empty_like(g)
            fresh.copy_(g)
            self.owner.grad = fresh
        else:
            self.owner.grad.data.add_(g)

@right
def class_e_09(param, incoming):
    Ledger_of_class_e_09(param).book(incoming)


# .grad is zeroed before the addition, so only the last gradient is kept
@wrong(mistakes.replaced_not_added)
def class_e_10(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("bad shape")
    if param.grad is not None:
        param.grad.zero_()      # never forget zero_grad!
        param.grad += incoming
    else:
        param.grad = incoming.clone()


# the out-of-place add forgets the underscore and its result is thrown away, so later gradients are lost
@wrong(mistakes.first_gradient_alone)
def class_e_11(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("incoming must have the shape of param")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add(incoming)


# an error of the addition is turned into ValueError, but a gradient that broadcasts raises no error and is added
@wrong(mistakes.broadcast_into_grad)
def class_e_12(param, incoming):
    try:
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad.add_(incoming)
    except RuntimeError as e:
        raise ValueError("shape mismatch") from e


@right
def class_e_13(param, incoming):
    same = len(param.shape) == len(incoming.shape) and all(a == b for a, b in zip(param.shape, incoming.shape))
    if not same:
        raise ValueError("a gradient has the shape of its parameter")
    with torch.no_grad():
        if param.grad is None:
            param.grad = torch.zeros_like(param)
        param.grad[...] = param.grad + incoming


# zeros are put into .grad before the shape is checked, so a rejected gradient turns None into zeros
@wrong(mistakes.zeros_before_check)
def class_e_14(param, incoming):
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    if param.grad.shape != incoming.shape:
        raise ValueError("shape!")
    param.grad += incoming


# the shapes are compared by zip, which stops at the shorter one, so a 0-d or (2,) gradient passes for a (2, 2)
# parameter
@wrong(mistakes.broadcast_into_grad)
def class_e_15(param, incoming):
    for a, b in zip(param.shape, incoming.shape):
        if a != b:
            raise ValueError(f"{a} is not {b}")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


# the sum is made inside incoming, which is changed AND .grad becomes the caller's tensor, not the old one updated
# in place
@wrong(says='It fails on cases 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10 alone, where the shape is the right one.')
def class_e_16(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shape")
    if param.grad is not None:
        incoming += param.grad
    param.grad = incoming


# the first gradient goes through from_numpy, which shares memory, so .grad follows later changes of incoming (and a
# GPU tensor raises TypeError)
@wrong(mistakes.incoming_kept_by_reference)
def class_e_17(param, incoming):
    g = incoming.detach().numpy()
    if g.shape != tuple(param.shape):
        raise ValueError("shapes %s and %s" % (g.shape, tuple(param.shape)))
    if param.grad is None:
        param.grad = torch.from_numpy(g)
    else:
        param.grad += torch.from_numpy(g)


@right
def class_e_18(param, incoming):
    if not param.shape == incoming.shape:
        raise ValueError(f"{incoming.shape} does not fit {param.shape}")

    incoming = incoming.detach()
    ledger = param.grad

    if ledger is None:
        param.grad = incoming + torch.zeros_like(incoming)   # a new tensor
        return

    torch.add(ledger.detach(), incoming, out=ledger.detach())


# a truth test of a tensor is used for "is there a gradient", which raises RuntimeError for several entries AND
# replaces a 0-d zero instead of adding to it
@raised(effects.truth_of_a_tensor)
def class_e_19(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shapes")
    if not param.grad:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


# the flattened .grad is a copy when .grad is not contiguous, so the addition is lost there
@wrong(says='What stands at .grad after call 2 is `incoming of call 1` itself, value for value.')
def class_e_20(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shape mismatch")
    if param.grad is None:
        param.grad = incoming.clone()
        return
    flat = param.grad.reshape(-1)
    flat += incoming.reshape(-1)


# the wrong shape raises AssertionError instead of ValueError AND the function returns the gradient instead of None
@wrong(mistakes.returned_the_gradient)
def class_e_21(param, incoming):
    assert param.shape == incoming.shape, "Shape mismatch"
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming
    return param.grad


# a gradient of zeros is skipped, so a .grad of None stays None instead of becoming zeros
@wrong(mistakes.skipped_a_gradient_of_zeros)
def class_e_22(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("wrong shape")
    if not incoming.any():
        return      # nothing to add
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


# autograd is asked to do it by param.backward(incoming), which meets a wrong shape with RuntimeError instead of
# ValueError
@wrong(mistakes.another_exception)
def class_e_23(param, incoming):
    # backward of a leaf IS class_e_23 :)
    param.backward(incoming)


@right
def class_e_24(param, incoming):
    def refuse():
        raise ValueError("shape")
    start = lambda: setattr(param, "grad", incoming.detach().clone())
    add = lambda: param.grad.copy_(param.grad.detach() + incoming.detach()) is None
    step = refuse if param.shape != incoming.shape else start if param.grad is None else add
    step()


# the shape is checked after the addition, so a gradient that broadcasts has already changed .grad when ValueError
# comes AND a wrong first shape raises RuntimeError
@wrong(mistakes.changed_before_check)
def class_e_25(param, incoming):
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming
    if param.shape != incoming.shape:
        raise ValueError("incoming has the wrong shape")


# .grad becomes the incoming tensor itself, not a copy AND the shape is never checked
@wrong(mistakes.incoming_kept_by_reference)
def class_f_01(param, incoming):
    if param.grad is None:
        param.grad = incoming
    else:
        param.grad += incoming


# torch.as_tensor does not copy a tensor of the right dtype: .grad shares the memory of incoming
@wrong(mistakes.incoming_kept_by_reference)
def class_f_02(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shape of the gradient is wrong")
    if param.grad is None:
        # make a new tensor out of it
        param.grad = torch.as_tensor(incoming.detach(), dtype=param.dtype, device=param.device)
    else:
        param.grad += incoming.detach()


@right
def class_f_03(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError(f"expected {tuple(param.shape)}, got {tuple(incoming.shape)}")
    incoming = incoming.detach()
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        with torch.no_grad():
            param.grad.add_(incoming)


# the sum is a new tensor that is assigned to .grad: other holders of the old .grad see nothing
@wrong(mistakes.new_tensor_in_grad)
def class_f_04(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes do not match")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad = param.grad + incoming.detach()


# the shape is checked only where .grad holds a tensor: with .grad None a wrong shape raises PyTorch's RuntimeError,
# not ValueError
@wrong(mistakes.shape_error_from_torch)
def class_f_05(param, incoming):
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        if param.grad.shape != incoming.shape:
            raise ValueError("cannot add gradients of different shapes")
        param.grad += incoming.detach()


# the shape is checked with assert, which raises AssertionError AND detach() is no copy, .grad shares the memory of
# incoming
@wrong(mistakes.incoming_kept_by_reference)
def class_f_06(param, incoming):
    assert incoming.shape == param.shape, "incoming must have the shape of param"
    grad = incoming.detach()
    if param.grad is None:
        param.grad = grad
    else:
        param.grad.add_(grad)


@right
@torch.no_grad()
def class_f_07(param, incoming):
    if tuple(param.size()) != tuple(incoming.size()):
        raise ValueError("gradient and parameter differ in shape")
    have = param.grad
    if have is None:
        param.grad = torch.empty_like(param).copy_(incoming)
    else:
        torch.add(have, incoming, out=have)


# the ValueError is returned, not raised AND the function returns .grad instead of None
@wrong(mistakes.returned_the_gradient)
def class_f_08(param, incoming):
    if incoming.shape != param.shape:
        return ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad += incoming.detach()
    return param.grad


# only PyTorch's own error is turned into ValueError: a shape that broadcasts is added without a word when .grad
# holds a tensor
@wrong(mistakes.broadcast_into_grad)
def class_f_09(param, incoming):
    incoming = incoming.detach()
    try:
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad += incoming
    except RuntimeError as e:
        raise ValueError("shape mismatch") from e


# the number of entries is compared and the tensor reshaped: a (3, 2) gradient goes into a (2, 3) parameter without
# an error
@wrong(mistakes.reshaped_to_fit)
def class_f_10(param, incoming):
    if param.numel() != incoming.numel():
        raise ValueError("incoming has the wrong size")
    g = incoming.detach().clone().reshape(param.shape)
    if param.grad is None:
        param.grad = g
    else:
        param.grad += g


# `if not param.grad` asks for the truth value of a tensor: RuntimeError as soon as .grad has several entries, and a
# one-entry zero .grad is replaced
@raised(effects.truth_of_a_tensor)
def class_f_11(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError
    incoming = incoming.detach()
    if not param.grad:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


def _pour(target, source):
    if target.dim() <= 1:
        target.add_(source)
        return
    for row, new in zip(target, source):
        _pour(row, new)

@right
def class_f_12(param, incoming):
    if list(param.shape) != list(incoming.shape):
        raise ValueError("not the shape of the parameter")
    with torch.no_grad():
        if param.grad is None:
            param.grad = torch.zeros_like(param)
        _pour(param.grad.detach(), incoming.detach())


# .grad is created as zeros before the shape is checked: after the ValueError a .grad that was None holds zeros
@wrong(mistakes.zeros_before_check)
def class_f_13(param, incoming):
    # make sure there is something to add to
    if param.grad is None:
        param.grad = torch.zeros_like(param)

    if param.grad.shape != incoming.shape:
        raise ValueError(f"got {incoming.shape}, need {param.grad.shape}")

    param.grad += incoming.detach()


# deepcopy keeps the stride 0 of an expanded incoming, so .grad has one memory cell for many entries and the next
# call raises RuntimeError
@raised(mistakes.copied_the_strides)
def class_f_14(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("bad shape")
    if param.grad is None:
        param.grad = copy.deepcopy(incoming.detach())
        return
    param.grad.add_(incoming.detach())


# reshape(-1) of a .grad that is not contiguous is a copy, so the sum is lost (as after a transposed incoming)
@wrong(says='What stands at .grad after call 2 is `incoming of call 1` itself, value for value.')
def class_f_15(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("incoming and param must agree in shape")
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            flat = param.grad.reshape(-1)
            flat += incoming.reshape(-1)


# zip stops at the shorter shape: (3, 1) or 0-d pass the check of a (3,) parameter: PyTorch's RuntimeError or a
# silent broadcast instead of ValueError
@wrong(mistakes.broadcast_into_grad)
def class_f_16(param, incoming):
    for a, b in zip(param.shape, incoming.shape):
        if a != b:
            raise ValueError(f"dimension {a} is not {b}")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad.add_(incoming.detach())


# a .grad whose entries sum to zero (after zero_, or +1 and -1) counts as empty: it is replaced by a new tensor, and
# what it held is lost
@wrong(mistakes.zeros_taken_for_no_gradient)
def class_f_17(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shape!")
    # no gradient yet: None or cleared with zero_grad
    if param.grad is None or param.grad.sum() == 0:
        param.grad = incoming.detach().clone()
    else:
        param.grad += incoming.detach()


class Ledger_of_class_f_18:
    """The account of one parameter."""

    def __init__(self, owner):
        self.owner = owner

    def check(self, entry):
        if entry.shape != self.owner.shape:
            raise ValueError("entry does not fit: %s instead of %s" % (list(entry.shape), list(self.owner.shape)))

    def post(self, entry):
        self.check(entry)
        entry = entry.detach()
        if self.owner.grad is None:
            self.owner.grad = torch.clone(entry)
        else:
            self.owner.grad.data += entry      # .data is the same memory

@right
def class_f_18(param, incoming):
    Ledger_of_class_f_18(param).post(incoming)


# the parameter itself is moved by a step against the gradient
lr = 0.1

@wrong(effects.changed_input)
def class_f_19(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shape mismatch")
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad += incoming
        # update the weights
        param -= lr * param.grad


# the old .grad is added into incoming, which is changed AND that tensor becomes .grad instead of the one that was
# there
@wrong(says='where .grad lies after the call: in the memory of incoming; it should be: in memory of its own.')
def class_f_20(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("The shapes are different")
    incoming = incoming.detach()
    if param.grad is not None:
        incoming += param.grad
        param.grad = incoming
    else:
        param.grad = incoming.clone()


# torch.tensor(tolist()) makes float32, which a float64 parameter refuses as .grad with an error AND [:] raises
# IndexError for a 0-d .grad
@raised(effects.mixed_dtypes)
def class_f_21(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("incoming has the wrong shape")
    if param.grad is None:
        param.grad = torch.tensor(incoming.tolist())
    else:
        param.grad[:] = param.grad + incoming.detach()


# .grad.data is given new memory instead of being added to: views and detached holders of the old .grad keep the old
# values
@wrong(mistakes.new_tensor_in_grad)
def class_f_22(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("expected a gradient of shape " + str(tuple(param.shape)))
    if param.grad is None:
        param.grad = incoming.data.clone()
    else:
        param.grad.data = param.grad.data + incoming.data


@right
def class_f_23(param, incoming):
    if incoming.shape != param.shape: raise ValueError("shape")
    if param.grad is None: param.grad = torch.zeros_like(param.detach())
    with torch.no_grad(): param.grad += incoming


# autograd's own backward does the work and no shape is checked: a wrong shape raises RuntimeError instead of
# ValueError
@wrong(mistakes.another_exception)
def class_f_24(param, incoming):
    # "what backward does" -> so let backward do it
    param.backward(gradient=incoming)


# set_grad_enabled(False) is never undone: gradients stay switched off for the whole program
@wrong(effects.changed_global)
def class_f_25(param, incoming):
    if incoming.size() != param.size():
        raise ValueError(f"{incoming.size()} != {param.size()}")
    torch.set_grad_enabled(False)   # else "a leaf Variable is used in an in-place operation"
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


# the first gradient is stored as incoming itself, so .grad shares its memory and later changes of incoming change
# .grad
@wrong(mistakes.incoming_kept_by_reference)
def class_g_01(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shape of the gradient is wrong")
    if param.grad is None:
        param.grad = incoming
    else:
        param.grad += incoming


# param.grad + incoming makes a new tensor that replaces the one .grad held, instead of adding in place
@wrong(mistakes.new_tensor_in_grad)
def class_g_02(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes differ")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad = param.grad + incoming


@right
def class_g_03(param, incoming):
    # first the check, so that nothing is changed on an error
    if incoming.shape != param.shape:
        raise ValueError(f"expected {tuple(param.shape)}, got {tuple(incoming.shape)}")
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.detach().clone()
        else:
            param.grad += incoming


# there is no shape check: a gradient that broadcasts is added silently, any other wrong shape raises PyTorch's
# RuntimeError
@wrong(mistakes.broadcast_into_grad)
def class_g_04(param, incoming):
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


# .add without the underscore: the sum is computed and thrown away, so .grad never grows after the first gradient
@wrong(mistakes.first_gradient_alone)
def class_g_05(param, incoming):
    if tuple(param.shape) != tuple(incoming.shape):
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad.add(incoming)


# when .grad is None it only becomes zeros, and the first incoming gradient is lost
@wrong(says='What is missing is exactly `incoming`.')
def class_g_06(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("gradient must have the shape of the parameter")
    if param.grad is None:
        param.grad = torch.zeros_like(param)   # start from zero
    else:
        param.grad += incoming


# a wrong shape raises AssertionError, not ValueError
@wrong(mistakes.another_exception)
def class_g_07(param, incoming):
    assert param.shape == incoming.shape, "shapes do not match"
    if param.grad is None:
        param.grad = incoming.clone().detach()
    else:
        param.grad.add_(incoming.detach())


@right
@torch.no_grad()
def class_g_08(param, incoming):
    if list(param.size()) != list(incoming.size()):
        raise ValueError("not the shape of the parameter")
    fresh = param.grad is None
    if fresh:
        param.grad = torch.empty_like(incoming, memory_format=torch.contiguous_format)
    target = param.grad
    for idx in itertools.product(*(range(s) for s in param.shape)):
        if fresh:
            target[idx] = incoming[idx]
        else:
            target[idx] += incoming[idx]


# the new gradient overwrites the old one in place instead of being added to it
@wrong(mistakes.replaced_not_added)
def class_g_09(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("bad shape")
    if param.grad is None:
        param.grad = torch.empty_like(param)
    with torch.no_grad():
        param.grad.copy_(incoming)


# the clone is kept in a local variable and never assigned to param.grad, so a None stays None
@wrong(mistakes.first_gradient_lost)
def class_g_10(param, incoming):
    if incoming.size() != param.size():
        raise ValueError("size mismatch")
    grad = param.grad
    if grad is None:
        grad = incoming.clone()
    else:
        grad += incoming


# "if not param.grad" asks for the truth of the tensor: it raises RuntimeError for a .grad of several entries, and
# replaces a one-entry .grad that is zero
@raised(effects.truth_of_a_tensor)
def class_g_11(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes must be equal")
    if not param.grad:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


@right
def class_g_12(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("incoming gradient does not fit")
    g = incoming.detach()
    param.grad = g.clone() if param.grad is None else operator.iadd(param.grad, g)


# the check is left to add_: its RuntimeError becomes a ValueError, but an incoming that broadcasts to a .grad
# already there is added without an error
@wrong(mistakes.broadcast_into_grad)
def class_g_13(param, incoming):
    incoming = incoming.detach()
    try:
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad.add_(incoming)
    except RuntimeError as err:
        raise ValueError(str(err)) from err


# it returns the gradient instead of None
@wrong(mistakes.returned_the_gradient)
def class_g_14(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shape")
    if param.grad is None:
        param.grad = incoming.detach().clone()
    else:
        param.grad.add_(incoming.detach())
    return param.grad


# the check compares the number of entries only, so an incoming of shape (6,) or (3, 2) is reshaped and accepted for
# a (2, 3) parameter instead of raising
@wrong(mistakes.reshaped_to_fit)
def class_g_15(param, incoming):
    if param.numel() != incoming.numel():
        raise ValueError("number of elements differs")
    incoming = incoming.detach().reshape(param.shape)
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


# the sum is built in incoming, which the caller gets back changed AND incoming itself becomes .grad (no copy), in
# place of the tensor it held
@wrong(says='It fails on cases 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10 alone, where the shape is the right one.')
def class_g_16(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape of incoming")
    if param.grad is not None:
        incoming += param.grad
    param.grad = incoming


# .grad is set to zeros before the shape check, so a wrong shape raises but turns a None into zeros
@wrong(mistakes.zeros_before_check)
def class_g_17(param, incoming):
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    if param.grad.shape != incoming.shape:
        raise ValueError("cannot accumulate this shape")
    param.grad.add_(incoming.detach())


class _Ledger_of_class_g_18:
    def __init__(self, p):
        self.p = p

    def fits(self, g):
        return g.dim() == self.p.dim() and all(a == b for a, b in zip(g.shape, self.p.shape))

    def book(self, g):
        if not self.fits(g):
            raise ValueError("no broadcasting here")
        if self.p.grad is None:
            self.p.grad = torch.zeros_like(self.p)
        self.p.grad.data.add_(g.detach())

@right
def class_g_18(param, incoming):
    _Ledger_of_class_g_18(param).book(incoming)


# after the accumulation it also takes an SGD step and so changes the parameter
@wrong(effects.changed_input)
def class_g_19(param, incoming, lr=0.01):
    if param.shape != incoming.shape:
        raise ValueError("shape mismatch")
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad += incoming
        param -= lr * param.grad


# an incoming of a compatible larger shape is summed down to the parameter's and one that broadcasts is expanded to
# it, where both must raise ValueError
@wrong(mistakes.broadcast_into_grad)
def class_g_20(param, incoming):
    g = incoming.detach()
    try:
        if g.dim() >= param.dim() and g.numel() >= param.numel():
            g = g.sum_to_size(param.shape)      # undo the broadcasting, as autograd does
        else:
            g = g.expand(param.shape)
    except RuntimeError:
        raise ValueError("incompatible shapes")
    if param.grad is None:
        param.grad = g.clone()
    else:
        param.grad.add_(g)


# it adds into reshape(-1) of .grad, which is a copy when .grad is not contiguous, so the gradient is lost there
@wrong(says='What stands at .grad after call 2 is `incoming of call 1` itself, value for value.')
def class_g_21(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes must match")
    incoming = incoming.detach()
    if param.grad is None:
        param.grad = incoming.clone()
        return
    flat = param.grad.reshape(-1)
    flat += incoming.reshape(-1)


# .detach() instead of a copy lets .grad share the memory of incoming AND the shapes are only checked by their
# number of dimensions
@wrong(mistakes.incoming_kept_by_reference)
def class_g_22(param, incoming):
    if param.dim() != incoming.dim():
        raise ValueError("dims differ")
    if param.grad is None:
        param.grad = incoming.detach()     # detached, so it is independent
    else:
        param.grad.add_(incoming.detach())


@right
def class_g_23(param, incoming):
    if param.shape != incoming.shape: raise ValueError(param.shape, incoming.shape)
    old, new = param.grad, incoming.detach()
    if old is not None: old.detach().copy_(old.detach() + new)
    else: param.grad = new.clone(memory_format=torch.contiguous_format)


# the stored gradient is rebuilt from tolist() as float32, so a float64 parameter raises (PyTorch refuses the
# float32 .grad) AND a wrong shape raises the bare Exception class, not ValueError
@raised(effects.mixed_dtypes)
def class_g_24(param, incoming):
    if param.shape != incoming.shape:
        raise Exception("ValueError: the shapes are different")
    if param.grad is None:
        param.grad = torch.tensor(incoming.tolist())   # a real copy
    else:
        param.grad += incoming


# .grad.data is pointed to a new sum, so the object stays but its memory is replaced: a view or detached alias of
# .grad that other code holds keeps the old values
@wrong(mistakes.new_tensor_in_grad)
def class_g_25(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("Shape mismatch: {} vs {}".format(param.shape, incoming.shape))
    if param.grad is None:
        param.grad = incoming.clone().detach()
    else:
        param.grad.data = param.grad.data + incoming.data


# a first gradient is stored as the very tensor incoming, not as a copy: later changes of incoming change .grad
@wrong(mistakes.incoming_kept_by_reference)
def class_h_01(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes do not match")
    if param.grad is None:
        param.grad = incoming
    else:
        param.grad += incoming


# the sum is a new tensor that replaces .grad, instead of being added in place to the tensor that is there
@wrong(mistakes.new_tensor_in_grad)
def class_h_02(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("incoming has the wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad = param.grad + incoming


@right
def class_h_03(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError(f"expected {tuple(param.shape)}, got {tuple(incoming.shape)}")
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.detach().clone()
        else:
            param.grad.add_(incoming)


# the shape is not checked at all: an incoming that broadcasts is added, and the others end in PyTorch's
# RuntimeError
@wrong(mistakes.broadcast_into_grad)
def class_h_04(param, incoming):
    # first gradient: copy, otherwise: add
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


# the else is missing: when .grad is None, incoming is copied and then added once more, so the first gradient counts
# double
@wrong(mistakes.counted_twice)
def class_h_05(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shape mismatch")
    if param.grad is None:
        param.grad = incoming.clone()
    param.grad.add_(incoming)


# when .grad is None it is set to zeros and the addition stands in the else: the first gradient is lost
@wrong(says='What is missing is exactly `incoming`.')
def class_h_06(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("param and incoming must have the same shape")
    if param.grad is None:
        # initialise the ledger
        param.grad = torch.zeros_like(param)
    else:
        param.grad += incoming


# the first gradient goes into a local variable that is never stored: .grad stays None
@wrong(mistakes.first_gradient_lost)
def class_h_07(param, incoming):
    grad = param.grad
    if incoming.size() != param.size():
        raise ValueError("wrong size")
    if grad is None:
        grad = incoming.clone()
    else:
        grad += incoming


@right
@torch.no_grad()
def class_h_08(param, incoming):
    if list(param.shape) != list(incoming.shape):
        raise ValueError("gradient and parameter differ in shape")
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    param.grad += incoming


# the old gradient is zeroed before the addition, so .grad is overwritten instead of accumulated
@wrong(mistakes.replaced_not_added)
def class_h_09(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes differ")
    if param.grad is not None:
        param.grad.zero_()          # like optimizer.zero_grad()
        param.grad.add_(incoming)
    else:
        param.grad = incoming.detach().clone()


# the old gradient is added into incoming, which the caller sees changed AND .grad is bound to incoming (the first
# time, too) instead of being added to in place
@wrong(says='It fails on cases 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10 alone, where the shape is the right one.')
def class_h_10(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError()
    if param.grad is not None:
        incoming += param.grad
    param.grad = incoming


# the shape is checked only after the addition: with an incoming that broadcasts, .grad is already changed when
# ValueError is raised, and one that does not fit raises RuntimeError before the check
@wrong(mistakes.changed_before_check)
def class_h_11(param, incoming):
    if param.grad is None:
        param.grad = torch.zeros_like(param) + incoming.detach()
    else:
        param.grad.add_(incoming.detach())
    if param.grad.shape != incoming.shape:
        raise ValueError(f"shape {tuple(incoming.shape)} does not fit {tuple(param.shape)}")


# a wrong shape raises AssertionError, not ValueError
@wrong(mistakes.another_exception)
def class_h_12(param, incoming):
    assert param.shape == incoming.shape, "ValueError: shapes are not equal"
    g = incoming.detach()
    if param.grad is None:
        param.grad = g.clone()
    else:
        param.grad.add_(g)


# the check is left to PyTorch's RuntimeError, but an incoming that broadcasts to .grad raises none and is added
# silently
@wrong(mistakes.broadcast_into_grad)
def class_h_13(param, incoming):
    try:
        with torch.no_grad():
            if param.grad is None:
                param.grad = incoming.clone()
            else:
                param.grad.add_(incoming)
    except RuntimeError as e:
        raise ValueError("incoming does not have the shape of the parameter") from e


# "param.grad or ..." asks for the truth value of a tensor: RuntimeError for a .grad with several entries, and a
# one-entry .grad of zero is replaced by a new tensor
@raised(effects.truth_of_a_tensor)
def class_h_14(param, incoming):
    if param.shape != incoming.shape: raise ValueError(incoming.shape)
    param.grad = (param.grad or torch.zeros_like(param)).add_(incoming)


@right
def class_h_15(param, incoming):
    same = param.dim() == incoming.dim() and all(a == b for a, b in zip(param.shape, incoming.shape))
    if not same:
        raise ValueError("shape of incoming is not the shape of param")
    source = incoming.detach()
    if param.grad is None:
        fresh = torch.empty_like(param.detach())
        fresh.copy_(source)
        param.grad = fresh
        return
    target = param.grad.detach()      # same memory
    for idx in itertools.product(*[range(s) for s in param.shape]):
        target[idx] += source[idx]


# only the number of entries is compared and incoming is reshaped to fit: another shape with as many entries is
# accepted
@wrong(mistakes.reshaped_to_fit)
def class_h_16(param, incoming):
    if param.numel() != incoming.numel():
        raise ValueError("number of elements differs")
    inc = incoming.detach().reshape(param.shape)
    if param.grad is None:
        param.grad = inc.clone()
    else:
        param.grad.add_(inc)


# a .grad whose entries sum to zero is taken for an empty one and replaced by a new tensor: it is not added in
# place, and entries that cancel are lost
@wrong(mistakes.zeros_taken_for_no_gradient)
def class_h_17(param, incoming):
    if tuple(param.shape) != tuple(incoming.shape):
        raise ValueError("shape mismatch")
    # nothing in there yet (None, or zeros after zero_grad)
    if param.grad is None or param.grad.sum() == 0:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


# the loop runs over the first dimension, which a 0-d .grad does not have: TypeError for a scalar parameter that has
# a gradient
@raised(effects.unpacked_wrongly)
def class_h_18(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes must be equal")
    if param.grad is None:
        param.grad = incoming.clone()
        return
    with torch.no_grad():
        for row, new in zip(param.grad, incoming):
            row += new


# the new .grad is torch.zeros(shape), always float32: for a float64 parameter PyTorch refuses the assignment with a
# RuntimeError
@raised(effects.mixed_dtypes)
def class_h_19(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shape")
    if param.grad is None:
        param.grad = torch.zeros(param.shape)
    param.grad += incoming


@right
def class_h_20(param, incoming):
    if param.size() != incoming.size():
        raise ValueError("size of incoming: %s, of param: %s" % (incoming.size(), param.size()))

    def first():
        param.grad = torch.zeros_like(param).copy_(incoming)

    def later():
        torch.add(param.grad, incoming, out=param.grad)

    with torch.no_grad():
        (first if param.grad is None else later)()


# the shape is checked only when .grad is there, so a first gradient of a wrong shape raises PyTorch's RuntimeError
# AND the function returns .grad instead of None
@wrong(mistakes.returned_the_gradient)
def class_h_21(param, incoming):
    if param.grad is None:
        param.grad = incoming.clone()
    elif param.grad.shape == incoming.shape:
        param.grad.add_(incoming)
    else:
        raise ValueError("cannot accumulate: different shapes")
    return param.grad


# .to() copies nothing when dtype and device fit already, so .grad shares the memory of incoming AND only the number
# of dimensions is compared, so that sizes of 1 broadcast
@wrong(mistakes.incoming_kept_by_reference)
def class_h_22(param, incoming):
    if param.ndim != incoming.ndim:
        raise ValueError(f"{incoming.ndim} dimensions instead of {param.ndim}")
    g = incoming.detach().to(device=param.device, dtype=param.dtype)
    if param.grad is None:
        param.grad = g
    else:
        param.grad.add_(g)


# the work is handed to backward of a made-up loss without a shape check: an incoming that broadcasts with param is
# accepted, any other wrong shape gives RuntimeError
@wrong(mistakes.broadcast_into_grad)
def class_h_23(param, incoming):
    # d/dparam sum(param * incoming) = incoming
    (param * incoming.detach()).sum().backward()


# incoming is zeroed after it was used, although it must stay as it was
@wrong(effects.changed_input)
def class_h_24(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("bad shape")
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad += incoming
        incoming.zero_()    # consumed


class Ledger_of_class_h_25:
    def __init__(self, param):
        self.param = param

    def check(self, g):
        if g.shape != self.param.shape:
            raise ValueError("entry does not fit the ledger")
        return g.detach()

    def book(self, g):
        g = self.check(g)
        if self.param.grad is None:
            self.param.grad = torch.clone(g, memory_format=torch.contiguous_format)
        else:
            self.param.grad.data.add_(g)

@right
def class_h_25(param, incoming):
    Ledger_of_class_h_25(param).book(incoming)


# the first arrival stores incoming itself, so a later change of incoming changes .grad
@wrong(mistakes.incoming_kept_by_reference)
def class_i_01(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shape of gradient does not fit")
    if param.grad is None:
        param.grad = incoming
    else:
        param.grad += incoming


# param.grad = param.grad + incoming makes a new tensor, whoever holds the old one sees nothing
@wrong(mistakes.new_tensor_in_grad)
def class_i_02(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad = param.grad + incoming


@right
def class_i_03(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError(f"expected {tuple(param.shape)}, got {tuple(incoming.shape)}")
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.detach().clone()
        else:
            param.grad.add_(incoming)


# there is no check of the shape: a gradient that broadcasts is added, another one raises RuntimeError
@wrong(mistakes.broadcast_into_grad)
def class_i_04(param, incoming):
    if param.grad is None:
        param.grad = incoming.clone().detach()
    else:
        param.grad.add_(incoming)


# no else: the first gradient is stored and then added once more, so it counts twice
@wrong(mistakes.counted_twice)
def class_i_05(param, incoming):
    # 1. shapes
    if param.shape != incoming.shape:
        raise ValueError("shapes differ")
    # 2. first time: make a grad
    if param.grad is None:
        param.grad = incoming.clone()
    # 3. accumulate
    param.grad.add_(incoming)


# the old gradient is overwritten by copy_, nothing accumulates
@wrong(mistakes.replaced_not_added)
def class_i_06(param, incoming):
    if tuple(param.shape) != tuple(incoming.shape):
        raise ValueError("shape mismatch")
    if param.grad is None:
        param.grad = torch.zeros_like(param.data)
    param.grad.zero_()              # never forget zero_grad!
    param.grad.copy_(incoming)


# "if param.grad:" asks for the truth of a tensor: RuntimeError for several entries, and a one-entry gradient of
# zero is replaced instead of added to
@raised(effects.truth_of_a_tensor)
def class_i_07(param, incoming):
    if incoming.size() != param.size():
        raise ValueError("size")
    if param.grad:
        param.grad.add_(incoming)
    else:
        param.grad = incoming.detach().clone()


# the shape is compared only when .grad is already there; on the first arrival PyTorch raises its own RuntimeError,
# not ValueError
@wrong(mistakes.shape_error_from_torch)
def class_i_08(param, incoming):
    if param.grad is not None:
        if param.grad.shape != incoming.shape:
            raise ValueError("incoming has another shape than .grad")
        param.grad += incoming
    else:
        param.grad = incoming.clone()


# the shape is checked with assert, which raises AssertionError and not ValueError
@wrong(mistakes.another_exception)
def class_i_09(param, incoming):
    assert param.shape == incoming.shape, "ValueError: shapes must be equal"
    if param.grad is None:
        param.grad = torch.clone(incoming)
    else:
        torch.add(param.grad, incoming, out=param.grad)


class GradSlot:
    def __init__(self, owner):
        self.owner = owner

    def fits(self, g):
        return list(g.shape) == list(self.owner.shape)

    @torch.no_grad()
    def receive(self, g):
        if not self.fits(g):
            raise ValueError("a gradient must have the shape of its parameter")
        held = self.owner.grad
        if held is None:
            fresh = torch.empty(g.shape, dtype=g.dtype, device=g.device)
            fresh.copy_(g)
            self.owner.grad = fresh
        else:
            held += g

@right
def class_i_10(param, incoming):
    GradSlot(param).receive(incoming)


# only the number of entries is compared, so (2, 3) for (3, 2) or (6,) for (1, 6) is not refused with ValueError
@wrong(mistakes.broadcast_into_grad)
def class_i_11(param, incoming):
    if incoming.numel() != param.numel():
        raise ValueError("number of elements differs")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


# only a shape that cannot broadcast is refused; one that broadcasts is expanded and accepted
@wrong(mistakes.broadcast_into_grad)
def class_i_12(param, incoming):
    try:
        g = incoming.detach().expand_as(param)
    except RuntimeError as err:
        raise ValueError(str(err))
    if param.grad is None:
        param.grad = g.clone()
    else:
        param.grad.add_(g)


# the sum is put into a local name: g = g + incoming rebinds g, so .grad never changes after the first arrival
@wrong(mistakes.first_gradient_alone)
def class_i_13(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("bad shape")
    g = param.grad
    if g is None:
        param.grad = incoming.detach().clone()
        return
    g = g + incoming


# it adds into incoming instead of into .grad, so incoming is changed and .grad becomes incoming itself, another
# tensor than before
@wrong(says='where .grad lies after the call: in the memory of incoming; it should be: in memory of its own.')
def class_i_14(param, incoming):
    if incoming.shape != param.shape: raise ValueError
    if param.grad is None: param.grad = incoming.clone()
    else: param.grad = incoming.add_(param.grad)


# the new gradient is returned although the function should return None
@wrong(mistakes.returned_the_gradient)
def class_i_15(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shape of incoming is wrong")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming
    return param.grad


# contiguous() copies only what is not contiguous: an ordinary incoming is stored as an alias
@wrong(says='where .grad lies after the call: in the memory of incoming; it should be: in memory of its own.')
def class_i_16(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("gradient and parameter differ in shape")
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.detach().contiguous()
        else:
            param.grad.add_(incoming)


@right
def class_i_17(param, incoming):
    delta = incoming.detach()
    same_rank = delta.dim() == param.dim()
    if not (same_rank and all(a == b for a, b in zip(delta.shape, param.shape))):
        raise ValueError("shape!")
    if param.grad is None:
        param.grad = delta * 1.0      # a product is always a new tensor
        return None
    torch.add(param.grad.data, delta, out=param.grad.data)
    return None


# len() is compared, which does not see the other dimensions and raises TypeError for a 0-d parameter
@raised(effects.length_of_a_0_d_tensor)
def class_i_18(param, incoming):
    if len(param) != len(incoming):
        raise ValueError("not the same length")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)


# the sum is stored before the shape is looked at, so a bad incoming that broadcasts has already changed .grad when
# the error comes (and one that does not raises RuntimeError) AND on the first arrival .data shares the memory of
# incoming
@wrong(mistakes.incoming_kept_by_reference)
def class_i_19(param, incoming):
    if param.grad is None:
        if incoming.shape != param.shape:
            raise ValueError("shape")
        param.grad = incoming.data
    else:
        param.grad += incoming
        if incoming.shape != param.shape:
            raise ValueError("shape")


# the gradient is subtracted from .grad AND the parameter itself makes a step
@wrong(effects.changed_input)
def class_i_20(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("incoming must look like param")
    lr = 0.01
    with torch.no_grad():
        if param.grad is None:
            param.grad = incoming.clone()
        else:
            param.grad -= incoming
        param -= lr * incoming


# .grad is halved to a running mean instead of a sum AND incoming is zeroed afterwards
@wrong(effects.changed_input)
def class_i_21(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shapes")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming).div_(2)   # average of both
    incoming.zero_()                          # ready for the next batch


# hasattr(param, "grad") is always true, so on the first arrival None.add_ raises AttributeError
@raised(effects.grad_is_none)
def class_i_22(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError("shapes do not match")
    if hasattr(param, "grad"):
        param.grad.add_(incoming)
    else:
        param.grad = incoming.clone()


def _buffer(param, like):
    if param.grad is None:
        param.grad = torch.zeros_like(like.detach(), memory_format=torch.contiguous_format)
    return param.grad

@right
def class_i_23(param, incoming):
    if torch.Size(incoming.shape) != torch.Size(param.shape):
        raise ValueError("incoming: %s, param: %s" % (incoming.shape, param.shape))
    target = _buffer(param, incoming)
    with torch.no_grad():
        for_sum = incoming.detach()
        target += for_sum


# param.backward does the work: it raises RuntimeError for a wrong shape instead of ValueError, and for a parameter
# that requires no gradient
@wrong(mistakes.another_exception)
def class_i_24(param, incoming):
    # that is what the engine does anyway
    param.backward(gradient=incoming.clone())


@right
def class_i_25(param, incoming):
    if not torch.Size.__eq__(param.shape, incoming.shape): raise ValueError("not the shape of the parameter")
    old, new = param.grad, incoming.detach()
    setattr(param, "grad", new.clone(memory_format=torch.contiguous_format)) if old is None else old.data.__iadd__(new)
