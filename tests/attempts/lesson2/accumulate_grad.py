"""Attempts at exercise 2.2, accumulate_grad: what learners write, and what the check must say of it."""

import operator
from functools import partial
import copy
import itertools
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


@right
@torch.no_grad()
def class_c_03(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("shapes differ")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming


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


@right
def class_d_13(param, incoming):
    if param.size() != incoming.size():
        raise ValueError("size of incoming: %s, expected %s" % (list(incoming.size()), list(param.size())))
    if param.grad is None:
        param.grad = torch.zeros_like(param.detach())
        return class_d_13(param, incoming)
    # Ellipsis so that 0-d works too
    param.grad.data[...] = param.grad.data + incoming.data


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


@right
@torch.no_grad()
def class_e_04(param, incoming):
    if tuple(incoming.shape) != tuple(param.shape):
        raise ValueError("incoming has shape " + str(tuple(incoming.shape)))
    if param.grad is None:
        param.grad = incoming.detach().clone()
        return
    param.grad.add_(incoming)


# shapes are compared with "is not", which is true for any two Size objects, so every call raises ValueError
@wrong(mistakes.refused_a_right_shape)
def class_e_06(param, incoming):
    if param.shape is not incoming.shape:
        raise ValueError('shape')
    if param.grad is not None:
        param.grad.add_(incoming)
    else:
        param.grad = incoming.clone()


@right
def class_e_13(param, incoming):
    same = len(param.shape) == len(incoming.shape) and all(a == b for a, b in zip(param.shape, incoming.shape))
    if not same:
        raise ValueError("a gradient has the shape of its parameter")
    with torch.no_grad():
        if param.grad is None:
            param.grad = torch.zeros_like(param)
        param.grad[...] = param.grad + incoming


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


@right
def class_e_24(param, incoming):
    def refuse():
        raise ValueError("shape")
    start = lambda: setattr(param, "grad", incoming.detach().clone())
    add = lambda: param.grad.copy_(param.grad.detach() + incoming.detach()) is None
    step = refuse if param.shape != incoming.shape else start if param.grad is None else add
    step()


# .grad becomes the incoming tensor itself, not a copy AND the shape is never checked
@wrong(mistakes.incoming_kept_by_reference)
def class_f_01(param, incoming):
    if param.grad is None:
        param.grad = incoming
    else:
        param.grad += incoming


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


# the parameter itself is moved by a step against the gradient
lr = 0.1


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


# when .grad is None it only becomes zeros, and the first incoming gradient is lost
@wrong(says='What is missing is exactly `incoming`.')
def class_g_06(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("gradient must have the shape of the parameter")
    if param.grad is None:
        param.grad = torch.zeros_like(param)   # start from zero
    else:
        param.grad += incoming


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


@right
def class_g_12(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("incoming gradient does not fit")
    g = incoming.detach()
    param.grad = g.clone() if param.grad is None else operator.iadd(param.grad, g)


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


@right
def class_i_25(param, incoming):
    if not torch.Size.__eq__(param.shape, incoming.shape): raise ValueError("not the shape of the parameter")
    old, new = param.grad, incoming.detach()
    setattr(param, "grad", new.clone(memory_format=torch.contiguous_format)) if old is None else old.data.__iadd__(new)
