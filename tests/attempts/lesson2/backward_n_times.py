"""Attempts at exercise 2.1, backward_n_times: what learners write, and what the check must say of it."""

from copy import deepcopy
from itertools import accumulate
import contextlib
import copy
import itertools
import numpy as np
import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson2.backward_n_times import mistakes


@raised(effects.grad_is_none)
def zero_on_none(param, loss_fn, n):
    param.grad.zero_()
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    return snapshots


@raised(effects.graph_freed)
def one_forward(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    snapshots = []
    for _ in range(n):
        loss.backward()
        snapshots.append(param.grad.clone())
    return snapshots


@raised(effects.no_graph)
def detached(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param.detach()).backward()
        snapshots.append(param.grad.clone())
    return snapshots


@raised(effects.no_such_attribute)
def copy_method(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.copy())
    return snapshots


@right
def clear_then_clone(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    return snapshots


@wrong(mistakes.cleared_by_arithmetic)
def data_zero_and_numpy(param, loss_fn, n):
    if param.grad is not None:
        param.grad.data.mul_(0)
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(torch.tensor(param.grad.tolist(), dtype=param.dtype, device=param.device))
    return snapshots


@right
def hook_that_is_removed(param, loss_fn, n):
    del param.grad
    seen = []
    handle = param.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    try:
        for _ in range(n):
            loss_fn(param).backward(inputs=[param])
    finally:
        handle.remove()
    return tuple(seen)


@right
def one_retained_graph(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    out = []
    for _ in range(n):
        loss.backward(retain_graph=True)
        out.append(param.grad.clone())
    return out


@right
def optimizer_clears(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.1)
    optimizer.zero_grad()
    snapshots = []
    while len(snapshots) < n:
        loss_fn(param).backward()
        snapshots.append(param.grad + 0)
    return snapshots


@right
def out_of_place_history(param, loss_fn, n):
    # create_graph makes a new tensor each time; the copies do not depend on that.
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward(create_graph=True)
        snapshots.append(param.grad.detach().clone())
    return snapshots


@right
def own_running_sum(param, loss_fn, n):
    total = torch.zeros_like(param)
    snapshots = []
    for _ in range(n):
        (g,) = torch.autograd.grad(loss_fn(param), param)
        total = total + g
        snapshots.append(total)
    param.grad = total.clone()
    return snapshots


@right
def zero_in_place(param, loss_fn, n):
    if param.grad is not None:
        param.grad.zero_()
    grads = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        grads += [param.grad.detach().clone()]
    return grads


@right
def zeros_like_at_first(param, loss_fn, n):
    param.grad = torch.zeros_like(param)

    def once():
        torch.autograd.backward([loss_fn(param)])
        return copy.deepcopy(param.grad)

    return [once() for _ in range(n)]


@wrong(effects.changed_requires_grad)
def switched_off(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        param.requires_grad_(True)
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    param.requires_grad_(False)
    return snapshots


@wrong(mistakes.cleared_at_the_end)
def tidy(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    param.grad = None
    return snapshots


@wrong(mistakes.cleared_at_the_end)
def zeros(param, loss_fn, n):
    param.grad = torch.zeros_like(param)
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    param.grad.zero_()
    return snapshots


@wrong(mistakes.cleared_between_backwards)
def training_habit(param, loss_fn, n):
    snapshots = []
    param.grad = None
    for _ in range(n):
        param.grad = None
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    return snapshots


@wrong(effects.extra_entries)
def hard_coded_three(param, loss_fn, n):
    param.grad = None
    loss_fn(param).backward()
    g = param.grad.clone()
    param.grad = n * g
    return [g, 2 * g, 3 * g] if n < 4 else [g * (k + 1) for k in range(n)]


@wrong(mistakes.hooks_left_behind)
def no_remove(param, loss_fn, n):
    param.grad = None
    seen = []
    param.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    for _ in range(n):
        loss_fn(param).backward()
    return list(seen)


@wrong(mistakes.increments_for_snapshots)
def half_right(param, loss_fn, n):
    param.grad = None
    snapshots = []
    previous = 0
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad - previous)
        previous = param.grad.clone()
    return snapshots


@wrong(mistakes.last_snapshot_alone)
def returns_grad(param, loss_fn, n):
    param.grad = None
    for _ in range(n):
        loss_fn(param).backward()
    return param.grad.clone() if n else []


@wrong(mistakes.last_snapshot_is_live)
def sum_assigned(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        g = torch.autograd.grad(loss_fn(param), param)[0]
        param.grad = g if param.grad is None else param.grad + g
        snapshots.append(param.grad)
    return snapshots


@wrong(mistakes.loss_divided_by_n)
def accumulation_habit(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        (loss_fn(param) / n).backward()
        snapshots.append(param.grad.clone())
    return snapshots


@wrong(mistakes.old_gradient_put_back)
def habit_of_1_3(param, loss_fn, n):
    saved = param.grad
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    param.grad = saved
    return snapshots


@wrong(mistakes.one_backward_multiplied)
def right_for_the_wrong_reason(param, loss_fn, n):
    param.grad = None
    if n == 0:
        return []
    loss_fn(param).backward()
    return [param.grad * (i + 1) for i in range(n)]


@wrong(mistakes.one_backward_too_many)
def as_range(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n + 1):
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    return snapshots


@wrong(effects.returned_nothing)
def forgot_return(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())


@wrong(mistakes.running_sum_backward)
def total_loss(param, loss_fn, n):
    param.grad = None
    total = 0
    snapshots = []
    for _ in range(n):
        total = total + loss_fn(param)
        total.backward(retain_graph=True)
        snapshots.append(param.grad.clone())
    return snapshots


@wrong(mistakes.same_live_grad)
def append_grad(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad)
    return snapshots


@wrong(mistakes.same_live_grad)
def detach_shares_memory(param, loss_fn, n):
    if param.grad is not None:
        param.grad.zero_()
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.detach())
    return snapshots


@wrong(mistakes.snapshot_before_backward)
def order(param, loss_fn, n):
    param.grad = torch.zeros_like(param)
    snapshots = []
    for _ in range(n):
        snapshots.append(param.grad.clone())
        loss_fn(param).backward()
    return snapshots


@wrong(mistakes.started_from_old_gradients)
def never_cleared(param, loss_fn, n):
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    return snapshots


@wrong(mistakes.values_for_gradients)
def data(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.data.clone())
    return snapshots


@wrong(effects.wrong_dtype)
def always_float64(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.to(torch.float64, copy=True))
    return snapshots


@wrong(effects.wrong_type)
def python_numbers(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.tolist())
    return snapshots


# param.grad itself is appended without a clone: all snapshots are the same tensor and show the last sum
@wrong(mistakes.same_live_grad)
def class_a_01(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad)
    return snapshots


# .grad is not cleared at the start: what was in it stays in every snapshot and in the sum
@wrong(mistakes.started_from_old_gradients)
def class_a_02(param, loss_fn, n):
    grads = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        grads.append(param.grad.clone())
    return grads


@right
def class_a_03(param, loss_fn, n):
    # clear first
    param.grad = None
    history = []
    for step in range(n):
        loss = loss_fn(param)
        loss.backward()              # adds to param.grad
        history.append(param.grad.clone())
    return history


# zero_grad stands inside the loop: each snapshot and the final .grad hold one gradient alone, not the running sum
@wrong(mistakes.cleared_between_backwards)
def class_a_04(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.01)
    optimizer.zero_grad()
    snapshots = []
    for epoch in range(n):
        optimizer.zero_grad()
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.detach().clone())
    return snapshots


# one graph is walked several times without retain_graph=True: the second backward raises where the graph has saved
# tensors
@raised(effects.graph_freed)
def class_a_05(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)      # the loss does not change, so compute it once
    out = []
    for _ in range(n):
        loss.backward()
        out.append(param.grad.clone())
    return out


# param.grad.zero_() without a check raises AttributeError where .grad is None
@raised(effects.grad_is_none)
def class_a_06(param, loss_fn, n):
    param.grad.zero_()
    result = []
    for i in range(n):
        loss_fn(param).backward()
        result.append(param.grad.clone())
    return result


@right
def class_a_07(param, loss_fn, n):
    ledger = []
    param.grad = None
    handle = param.register_post_accumulate_grad_hook(lambda p: ledger.append(p.grad.detach().clone()))
    try:
        for _ in range(n):
            loss_fn(param).backward()
    finally:
        handle.remove()
    return ledger


# .detach() shares memory, so all snapshots are one storage AND .grad is zeroed at the end, which loses the sum (and
# turns the snapshots to zeros)
@wrong(mistakes.wiped_what_was_stored)
def class_a_08(param, loss_fn, n):
    if param.grad is not None:
        param.grad.zero_()
    snaps = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        snaps.append(param.grad.detach())
    # clean up
    if param.grad is not None:
        param.grad.zero_()
    return snaps


# optimizer.step() moves param after every backward: param loses its value and later gradients are taken elsewhere
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_a_09(param, loss_fn, n):
    opt = torch.optim.SGD([param], lr=1e-2)
    opt.zero_grad()
    grads = []
    for epoch in range(n):
        loss = loss_fn(param)
        loss.backward()
        opt.step()
        grads.append(param.grad.clone())
    return grads


@right
def class_a_10(param, loss_fn, n):
    param.grad = None
    if n == 0:
        return []
    loss = loss_fn(param)

    def walk():
        loss.backward(retain_graph=True)
        return param.grad.clone()

    return [walk() for _ in range(n)]


# one tensor is returned instead of a list AND it goes through Python floats to the default dtype: float64 becomes
# float32
@wrong(effects.wrong_type)
def class_a_11(param, loss_fn, n):
    param.grad = None
    rows = []
    for i in range(n):
        loss_fn(param).backward()
        rows.append(param.grad.tolist())
    return torch.tensor(rows)


# with n = 0 the function returns before it clears: what was in .grad stays there
@wrong(mistakes.not_cleared_when_n_is_0)
def class_a_12(param, loss_fn, n):
    if n == 0:
        return []
    param.grad = None
    snaps = []
    for _ in range(n):
        loss_fn(param).backward()
        snaps.append(param.grad.clone())
    return snaps


# create_graph=True instead of retain_graph=True: the snapshots (and param.grad) carry a graph wherever the gradient
# depends on param
@wrong(effects.carries_a_graph)
def class_a_13(param, loss_fn, n):
    param.grad = None
    loss, out = loss_fn(param), []
    for _ in range(n):
        loss.backward(create_graph=True)
        out.append(param.grad.clone())
    return out


# register_hook sees each incoming gradient, not the sum in .grad AND the hook is left on param, so the list grows
# at later backwards
@wrong(mistakes.increments_for_snapshots)
def class_a_14(param, loss_fn, n):
    param.grad = None
    seen = []
    param.register_hook(lambda g: seen.append(g.clone()))
    for _ in range(n):
        loss_fn(param).backward()
    return seen


@right
def class_a_15(param, loss_fn, n):
    param.grad = None
    each = (torch.autograd.grad(loss_fn(param), param)[0].clone() for _ in range(n))
    snaps = list(itertools.accumulate(each, torch.add))
    if snaps:
        param.grad = snaps[-1].clone()
    return snaps


# .grad is cleared by multiplying with 0: an old nan or inf stays as nan
@wrong(mistakes.cleared_by_arithmetic)
def class_a_16(param, loss_fn, n):
    if param.grad is not None:
        param.grad *= 0
    snaps = []
    for _ in range(n):
        loss_fn(param).backward()
        snaps += [param.grad.clone()]
    return snaps


# the backwards run on a non-leaf clone of param, whose .grad stays None: None.clone() raises AttributeError for
# every n above 0
@raised(effects.grad_of_a_non_leaf)
def class_a_17(param, loss_fn, n):
    param.grad = None
    p = param.clone()       # so that param itself is not changed
    snapshots = []
    for _ in range(n):
        loss = loss_fn(p)
        loss.backward(retain_graph=True)
        snapshots.append(p.grad.clone())
    param.grad = p.grad
    return snapshots


@right
def class_a_18(param, loss_fn, n):
    if n == 0:
        param.grad = None
        return []
    earlier = class_a_18(param, loss_fn, n - 1)
    loss_fn(param).backward()
    return earlier + [torch.empty_like(param.grad).copy_(param.grad)]


# assumes the loss is (param ** 2).sum() and writes its gradient 2 * param without calling loss_fn
@wrong(says='`loss_fn` was never called.')
def class_a_19(param, loss_fn, n):
    g = 2 * param.detach()          # d/dp of p**2
    param.grad = torch.zeros_like(g)
    snaps = []
    for i in range(n):
        param.grad += g
        snaps.append(param.grad.clone())
    return snaps


# one-sided differences approximate the gradient, no backward is run
@wrong(says='Only cases 5 and 6 came out right, where n is 0.')
def class_a_20(param, loss_fn, n):
    eps = 1e-3
    with torch.no_grad():
        p = param.detach().clone()
        flat = torch.zeros_like(p).reshape(-1)
        base = loss_fn(p)
        for i in range(p.numel()):
            bump = torch.zeros_like(flat)
            bump[i] = eps
            flat[i] = (loss_fn(p + bump.reshape(p.shape)) - base) / eps
        g = flat.reshape(p.shape)
    param.grad = torch.zeros_like(p)
    snaps = []
    for _ in range(n):
        param.grad += g
        snaps.append(param.grad.clone())
    return snaps


# only the earlier snapshots are cloned: the last one is param.grad itself, and a later backward changes it
@wrong(mistakes.last_snapshot_is_live)
def class_a_21(param, loss_fn, n):
    param.grad = None
    snaps = []
    for _ in range(n):
        if snaps:
            snaps[-1] = snaps[-1].clone()   # freeze the old one before it is added to
        loss_fn(param).backward()
        snaps.append(param.grad)
    return snaps


class Ledger:
    def __init__(self, param):
        self.param = param
        self.pages = []

    def clear(self):
        self.param.grad = torch.zeros_like(self.param, requires_grad=False)

    @contextlib.contextmanager
    def page(self):
        yield
        self.pages.append(self.param.grad.detach() + 0)   # a new tensor

@right
def class_a_22(param, loss_fn, n):
    ledger = Ledger(param)
    ledger.clear()
    while len(ledger.pages) < n:
        with ledger.page():
            loss_fn(param).backward(inputs=[param])
    return ledger.pages


# the losses are summed up and the running total is walked each time: the snapshots are 1, 3, 6 ... times the
# gradient
@wrong(mistakes.running_sum_backward)
def class_a_23(param, loss_fn, n):
    param.grad = None
    running_loss = 0.0
    snapshots = []
    for i in range(n):
        running_loss = running_loss + loss_fn(param)
        running_loss.backward(retain_graph=True)
        snapshots.append(param.grad.clone())
    return snapshots


# the snapshot is taken before each backward: the list starts with zeros and the last sum is missing
@wrong(mistakes.snapshot_before_backward)
def class_a_24(param, loss_fn, n):
    param.grad = torch.zeros_like(param)
    snaps = []
    for i in range(n):
        snaps.append(param.grad.clone())
        loss = loss_fn(param)
        loss.backward()
    return snaps


# the old .grad is put back at the end: param.grad does not hold the sum of the n gradients
@wrong(mistakes.old_gradient_put_back)
def class_a_25(param, loss_fn, n):
    saved = None if param.grad is None else param.grad.clone()
    param.grad = None
    try:
        snaps = []
        for _ in range(n):
            loss_fn(param).backward()
            snaps.append(param.grad.clone())
        return snaps
    finally:
        param.grad = saved      # leave no trace


# param.data is zeroed instead of param.grad, so param loses its value (and gradients are taken at 0) AND the old
# .grad is never cleared
@wrong(mistakes.parameter_zeroed)
def class_a_26(param, loss_fn, n):
    param.data.zero_()      # clear
    list_of_grads = []
    for i in range(n):
        l = loss_fn(param)
        l.backward()
        list_of_grads.append(param.grad.data.clone())
    return list_of_grads


@right
def class_a_27(param, loss_fn, n):
    torch.optim.SGD([param], lr=0.1).zero_grad(set_to_none=True)
    snapshots = []
    for _ in range(n):
        with torch.enable_grad():
            loss = loss_fn(param)
        torch.autograd.backward([loss])
        snapshots.append(copy.deepcopy(param.grad))
    return snapshots


# each loss is divided by n, as in gradient accumulation over micro-batches, so .grad ends with the mean of the
# gradients, not the sum
@wrong(mistakes.loss_divided_by_n)
def class_b_01(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for step in range(n):
        loss = loss_fn(param) / n
        loss.backward()
        snapshots.append(param.grad.clone())
    return snapshots


@right
def class_b_02(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.detach().clone())
    return snapshots


# the losses are summed up too and the running total is walked each time, so the gradients count 1, 3, 6, ... times
# instead of 1, 2, 3, ...
@wrong(mistakes.running_sum_backward)
def class_b_03(param, loss_fn, n):
    param.grad = None
    grads = []
    total_loss = 0
    for i in range(n):
        total_loss = total_loss + loss_fn(param)
        total_loss.backward(retain_graph=True)
        grads.append(param.grad.clone())
    return grads


# an optimizer step follows the n backwards, so param does not keep its old value
@wrong(effects.changed_input)
def class_b_04(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.01)
    optimizer.zero_grad()
    history = []
    for epoch in range(n):
        loss = loss_fn(param)
        loss.backward()
        history.append(param.grad.clone())
    optimizer.step()
    return history


# the .grad from before the call is put back at the end, so param.grad does not hold the sum of the n gradients
@wrong(mistakes.old_gradient_put_back)
def class_b_05(param, loss_fn, n):
    # leave .grad as it was, like in the exercises before
    saved = None if param.grad is None else param.grad.clone()
    param.grad = None
    result = []
    for _ in range(n):
        loss_fn(param).backward()
        result.append(param.grad.clone())
    param.grad = saved
    return result


# the first backward is run before the loop, so n = 0 gives one snapshot and a filled .grad
@wrong(says='There is one entry too many, at the beginning; the rest is the right list.')
def class_b_06(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    loss.backward()
    snaps = [param.grad.clone()]
    # and now the others
    for i in range(n - 1):
        loss = loss_fn(param)
        loss.backward()
        snaps.append(param.grad.clone())
    return snaps


@right
def class_b_07(param, loss_fn, n):
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    else:
        param.grad = torch.zeros_like(param.grad)
    if n == 0:
        return []
    loss = loss_fn(param)
    ledger = []
    for walk in range(1, n + 1):
        loss.backward(retain_graph=walk < n)
        ledger.append(param.grad.clone())
    return ledger


# a tensor has no zero_grad: raises an AttributeError on every call
@raised(effects.no_such_attribute)
def class_b_08(param, loss_fn, n):
    param.zero_grad()
    out = []
    for k in range(n):
        loss = loss_fn(param)
        loss.backward()
        out.append(param.grad.clone())
    return out


# the list is made as [zeros] * n, one tensor n times, so every snapshot shows the last sum
@wrong(mistakes.one_tensor_for_all)
def class_b_09(param, loss_fn, n):
    param.grad = None
    snapshots = [torch.zeros_like(param)] * n
    for i in range(n):
        loss_fn(param).backward()
        snapshots[i].copy_(param.grad)
    return snapshots


@right
def class_b_11(param, loss_fn, n):
    if n == 0:
        param.grad = None
        return []
    earlier = class_b_11(param, loss_fn, n - 1)
    loss_fn(param).backward()
    return earlier + [param.grad.clone()]


# .detach() is taken for a copy, so all snapshots share the memory of .grad AND what was in .grad before is never
# cleared
@wrong(mistakes.neither_cleared_nor_copied)
def class_b_12(param, loss_fn, n):
    grads = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        grads.append(param.grad.detach())
    return grads


# one graph is walked n times without retain_graph: the second backward raises a RuntimeError for any loss that
# saves tensors
@raised(effects.graph_freed)
def class_b_13(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    values = []
    for i in range(n):
        loss.backward()
        values.append(param.grad.clone())
    return values


# one stacked tensor is returned instead of a list AND n = 0 raises because torch.stack wants at least one tensor
@wrong(effects.wrong_type)
def class_b_14(param, loss_fn, n):
    param.grad = None
    def once():
        loss_fn(param).backward()
        return param.grad.clone()
    return torch.stack([once() for _ in range(n)])


def ledger(param, loss_fn, n):
    for _ in range(n):
        loss_fn(param).backward(inputs=[param])
        yield param.grad.clone()

@right
def class_b_15(param, loss_fn, n):
    param.grad = None
    return list(ledger(param, loss_fn, n))


# the old .grad is cleared by multiplying with zero, which leaves nan where it held inf or nan
@wrong(mistakes.cleared_by_arithmetic)
def class_b_16(param, loss_fn, n):
    if param.grad is not None:
        param.grad *= 0
    return [(loss_fn(param).backward(), param.grad.clone())[1] for _ in range(n)]


# the last snapshot is the tensor that is put into .grad, so the next backward of the caller changes it
@wrong(mistakes.last_snapshot_is_live)
def class_b_17(param, loss_fn, n):
    gs = [torch.autograd.grad(loss_fn(param), param)[0] for _ in range(n)]
    sums = list(accumulate(gs, torch.add))
    param.grad = sums[-1] if sums else None
    return sums


# the sums are kept in a variable of its own and never written to param.grad, which ends as None
@wrong(mistakes.cleared_and_never_written)
def class_b_18(param, loss_fn, n):
    param.grad = None
    running = torch.zeros_like(param)
    snaps = []
    for _ in range(n):
        (g,) = torch.autograd.grad(loss_fn(param), [param])
        running = running + g
        snaps.append(running)
    return snaps


@right
def class_b_19(param, loss_fn, n):
    seen = []
    param.grad = None
    handle = param.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    try:
        for _ in range(n):
            loss_fn(param).backward()
    finally:
        handle.remove()
    return seen


# create_graph=True is used to keep the graph, so the snapshots and param.grad itself carry a graph
@wrong(effects.carries_a_graph)
def class_b_20(param, loss_fn, n):
    param.grad = None
    if n == 0:
        return []
    loss = loss_fn(param)
    out = []
    while len(out) < n:
        loss.backward(create_graph=True)   # or the graph is gone the second time
        out.append(param.grad.clone())
    return out


# the hook is never removed: it stays on param, and later backwards go on appending to the returned list
@wrong(mistakes.hooks_left_behind)
def class_b_21(param, loss_fn, n):
    param.grad = None
    snapshots = []

    def remember(p):
        snapshots.append(p.grad.detach().clone())

    param.register_post_accumulate_grad_hook(remember)
    for _ in range(n):
        loss_fn(param).backward()
    return snapshots


# torch.manual_seed is called, so the global random state of the caller is changed
@wrong(effects.changed_rng)
def class_b_22(param, loss_fn, n):
    torch.manual_seed(42)   # reproducible results
    if param.grad is not None:
        param.grad.zero_()
    results = []
    for run in range(n):
        loss = loss_fn(param)
        loss.backward()
        results.append(param.grad.clone())
    return results


# the snapshots are NumPy arrays instead of tensors AND .grad is cleared at the end, so it does not hold the sum
@wrong(effects.wrong_type)
def class_b_23(param, loss_fn, n):
    param.grad = None
    tape = []
    for _ in range(n):
        loss_fn(param).backward()
        tape.append(np.copy(param.grad.cpu().numpy()))
    param.grad = None   # clean up
    return tape


# there is one backward alone: the snapshots are its multiples, and .grad ends with one gradient instead of the sum
# of n
@wrong(mistakes.one_backward_multiplied)
def class_b_24(param, loss_fn, n):
    param.grad = None
    if n == 0:
        return []
    loss_fn(param).backward()
    g = param.grad
    return [g * (i + 1) for i in range(n)]


# fitted to a parameter of one number: .item() raises for any parameter with more entries AND a float64 gradient
# becomes a 0-d float32 tensor
@raised(effects.item_of_many)
def class_b_25(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(torch.tensor(param.grad.item()))
    return snapshots


@right
def class_b_26(param, loss_fn, n):
    opt = torch.optim.SGD([param], lr=1.0)
    opt.zero_grad(set_to_none=True)
    list_of_grads = []
    i = 0
    while i < n:
        loss = loss_fn(param)
        loss.backward()
        list_of_grads += [torch.empty_like(param.grad).copy_(param.grad)]
        i += 1
    return list_of_grads


class Ledger_of_class_b_27:
    def __init__(self, param):
        self.param = param
        self.pages = []
        param.grad = None

    def enter(self, loss):
        g, = torch.autograd.grad(loss, self.param)
        if self.param.grad is None:
            self.param.grad = g.clone()
        else:
            self.param.grad = self.param.grad + g
        self.pages.append(self.param.grad.clone())

@right
def class_b_27(param, loss_fn, n):
    book = Ledger_of_class_b_27(param)
    for _ in range(n):
        book.enter(loss_fn(param))
    return book.pages


# param.grad itself is put into the list each time: all entries are the one tensor that the next backward changes
@wrong(mistakes.same_live_grad)
def class_c_01(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad)
    return snapshots


# .grad is cleared in every round, so nothing accumulates and each snapshot is a single gradient
@wrong(mistakes.cleared_between_backwards)
def class_c_02(param, loss_fn, n):
    grads = []
    param.grad = None
    for epoch in range(n):
        # always zero the grads before backward!
        if param.grad is not None:
            param.grad.zero_()
        loss = loss_fn(param)
        loss.backward()
        grads.append(param.grad.clone())
    return grads


# the .grad that was there at the start is not cleared, so it is in every snapshot
@wrong(mistakes.started_from_old_gradients)
def class_c_03(param, loss_fn, n):
    history = []
    for _ in range(n):
        loss_fn(param).backward()
        history.append(param.grad.clone().detach())
    return history


@right
def class_c_04(param, loss_fn, n):
    param.grad = None          # start from an empty ledger
    ledger = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()        # adds to .grad
        ledger.append(param.grad.clone())
    return ledger


# an optimizer step moves param after each backward, so its value changes and later gradients are taken elsewhere
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_c_05(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.01)
    optimizer.zero_grad()
    snaps = []
    for step in range(n):
        loss = loss_fn(param)
        loss.backward()
        snaps.append(param.grad.detach().clone())
        optimizer.step()
    return snaps


# one graph is built and walked n times without retain_graph=True: the second backward raises for a loss that saved
# tensors
@raised(effects.graph_freed)
def class_c_06(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    out = []
    for i in range(n):
        loss.backward()
        out.append(param.grad.clone())
    return out


# param.grad.zero_() raises an AttributeError where .grad is None at the start
@raised(effects.grad_is_none)
def class_c_07(param, loss_fn, n):
    param.grad.zero_()
    result = []
    for k in range(n):
        loss = loss_fn(param)
        loss.backward()
        result.append(param.grad.clone())
    return result


@right
def class_c_08(param, loss_fn, n):
    param.grad = None
    return [loss_fn(param).backward() or param.grad.detach().clone() for _ in range(n)]


# the clearing stands inside the loop, in its first round: with n = 0 the old .grad stays
@wrong(mistakes.not_cleared_when_n_is_0)
def class_c_09(param, loss_fn, n):
    snaps = []
    for i in range(n):
        if i == 0:
            param.grad = None
        loss_fn(param).backward()
        snaps.append(param.grad.clone())
    return snaps


# yield makes it a generator: no list comes back, and nothing runs until somebody iterates
@wrong(effects.wrong_type)
def class_c_10(param, loss_fn, n):
    param.grad = None
    for _ in range(n):
        loss_fn(param).backward()
        yield param.grad.clone()


# the snapshots are stacked into one tensor instead of a list, and stacking none (n = 0) raises
@wrong(effects.wrong_type)
def class_c_11(param, loss_fn, n):
    param.grad = torch.zeros_like(param)
    snaps = []
    for _ in range(n):
        loss_fn(param).backward()
        snaps.append(param.grad.clone())
    return torch.stack(snaps)


@right
def class_c_12(param, loss_fn, n):
    if param.grad is not None:
        param.grad = torch.zeros_like(param.grad)
    loss = loss_fn(param)
    pages = []
    while len(pages) < n:
        loss.backward(retain_graph=True)
        pages.append(copy.deepcopy(param.grad))
    return pages


# the snapshots are rebuilt from Python lists with the default dtype, so a float64 param gets float32 snapshots
@wrong(effects.wrong_dtype)
def class_c_13(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        values = param.grad.tolist()          # plain numbers, safe from later changes
        snapshots.append(torch.tensor(values))
    return snapshots


# .grad is cleared by multiplying it with zero, so nan or inf in the old .grad remains as nan
@wrong(mistakes.cleared_by_arithmetic)
def class_c_14(param, loss_fn, n):
    if param.grad is not None:
        param.grad *= 0
    states = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        states.append(param.grad.clone())
    return states


# the tensor hook sees the single gradient of each backward, not the sum in .grad AND it is never removed from param
@wrong(mistakes.increments_for_snapshots)
def class_c_15(param, loss_fn, n):
    seen = []
    param.grad = None
    param.register_hook(lambda g: seen.append(g.clone()))
    for _ in range(n):
        loss_fn(param).backward()
    return seen[:]


@right
def class_c_16(param, loss_fn, n):
    shots = []

    def photo(p):
        shots.append(p.grad.detach().clone())

    param.grad = None
    handle = param.register_post_accumulate_grad_hook(photo)
    try:
        for _ in range(n):
            loss_fn(param).backward()
    finally:
        handle.remove()
    return shots


# create_graph=True makes the gradients part of a graph, so the snapshots (and .grad) require grad
@wrong(effects.carries_a_graph)
def class_c_17(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    snaps = []
    for _ in range(n):
        # keep the graph for the next round
        loss.backward(create_graph=True)
        snaps.append(param.grad.clone())
    return snaps


# the last snapshot and param.grad are one and the same tensor: the next backward changes that snapshot
@wrong(mistakes.last_snapshot_is_live)
def class_c_18(param, loss_fn, n):
    singles = (torch.autograd.grad(loss_fn(param), param)[0].clone() for _ in range(n))
    sums = list(accumulate(singles))
    param.grad = sums[-1] if sums else None
    return sums


@right
def class_c_19(param, loss_fn, n):
    def record(m):
        if m == 0:
            return []
        if m == 1:
            loss_fn(param).backward()
            return [param.grad + 0]
        return record(m // 2) + record(m - m // 2)

    param.grad = None
    return record(n)


# all backwards run on a detached copy, so param.grad is neither cleared nor filled
@wrong(mistakes.grad_left_untouched)
def class_c_20(param, loss_fn, n):
    # work on a copy so that param keeps its value
    w = param.detach().clone().requires_grad_(True)
    snaps = []
    for _ in range(n):
        loss_fn(w).backward()
        snaps.append(w.grad.clone())
    return snaps


# the old .grad is put back at the end, where the sum of the n gradients should stay
@wrong(mistakes.old_gradient_put_back)
def class_c_21(param, loss_fn, n):
    saved = None if param.grad is None else param.grad.clone()
    param.grad = None
    collected = []
    for _ in range(n):
        loss_fn(param).backward()
        collected.append(param.grad.clone())
    # leave everything as it was
    param.grad = saved
    return collected


# backward is called on the running sum of the losses, so the snapshots hold 1, 3, 6 ... gradients instead of 1, 2,
# 3
@wrong(mistakes.running_sum_backward)
def class_c_22(param, loss_fn, n):
    param.grad = None
    total_loss = 0.0
    snaps = []
    for i in range(n):
        total_loss = total_loss + loss_fn(param)
        total_loss.backward(retain_graph=True)
        snaps.append(param.grad.clone())
    return snaps


# the snapshots are NumPy arrays, no tensors AND they share their memory with .grad, so all show the last sum
@wrong(mistakes.numpy_views_of_grad)
def class_c_23(param, loss_fn, n):
    param.grad = None
    snaps = []
    for _ in range(n):
        loss_fn(param).backward()
        snaps.append(param.grad.numpy())
    return snaps


class Ledger_of_class_c_24:
    def __init__(self, param):
        self.param = param
        self.pages = []
        torch.optim.SGD([param], lr=1.0).zero_grad(set_to_none=True)

    def book(self, loss):
        loss.backward()
        g = self.param.grad
        self.pages.append(torch.from_numpy(g.detach().cpu().numpy().copy()).to(g.device))

@right
def class_c_24(param, loss_fn, n):
    ledger = Ledger_of_class_c_24(param)
    for _ in range(n):
        ledger.book(loss_fn(param))
    return ledger.pages


# loss_fn is never called: the gradient is taken to be 2 * param, which fits the sum of squares only
@wrong(says='`loss_fn` was never called.')
def class_c_25(param, loss_fn, n):
    g = 2 * param.detach()      # d/dw of w**2
    snaps = [(i + 1) * g for i in range(n)]
    param.grad = n * g
    return snaps


@right
def class_c_26(param, loss_fn, n):
    param.grad = torch.zeros_like(param, requires_grad=False)

    def once(_):
        torch.autograd.backward(loss_fn(param), inputs=[param])
        return torch.empty_like(param.grad).copy_(param.grad)

    return list(map(once, range(n)))


# the snapshot is taken before the backward, so the list starts with zeros and lacks the last sum AND the zeros are
# made in the default dtype, which a float64 param refuses with an error
@raised(effects.mixed_dtypes)
def class_c_27(param, loss_fn, n):
    param.grad = torch.zeros(param.shape)
    snapshots = []
    for _ in range(n):
        loss = loss_fn(param)
        snapshots.append(param.grad.clone())
        loss.backward()
    return snapshots


# param.grad itself is appended each time, so that all snapshots are one and the same tensor
@wrong(mistakes.same_live_grad)
def class_d_01(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad)
    return snapshots


# .grad is not cleared at the start: what was in it before is in every snapshot
@wrong(mistakes.started_from_old_gradients)
def class_d_02(param, loss_fn, n):
    grads = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        grads.append(param.grad.clone())
    return grads


@right
def class_d_03(param, loss_fn, n):
    param.grad = None
    out = []
    for _ in range(n):
        loss_fn(param).backward()
        out.append(param.grad.detach().clone())
    return out


# the gradient is cleared inside the loop, before each backward, so that nothing adds up
@wrong(mistakes.cleared_between_backwards)
def class_d_04(param, loss_fn, n):
    history = []
    param.grad = None
    for epoch in range(n):
        param.grad = None          # zero_grad first, always!
        loss = loss_fn(param)
        loss.backward()
        history.append(param.grad.clone())
    return history


# one graph is walked n times without retain_graph=True: the second backward raises wherever the graph has saved
# tensors
@raised(effects.graph_freed)
def class_d_05(param, loss_fn, n):
    if param.grad is not None:
        param.grad.zero_()
    loss = loss_fn(param)
    snaps = []
    for i in range(n):
        loss.backward()
        snaps.append(param.grad.clone())
    return snaps


# param.grad.zero_() raises AttributeError when .grad is None
@raised(effects.grad_is_none)
def class_d_06(param, loss_fn, n):
    param.grad.zero_()
    result = []
    for i in range(n):
        loss_fn(param).backward()
        result.append(param.grad.clone())
    return result


@right
def class_d_07(param, loss_fn, n):
    if param.grad is not None:
        param.grad = torch.zeros_like(param.grad)
    if n == 0:
        return []
    loss = loss_fn(param)
    ledger = []
    for i in range(n):
        loss.backward(retain_graph=(i < n - 1))
        ledger.append(param.grad.clone())
    return ledger


# optimizer.step() in each round changes param, and with it the later gradients
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_d_08(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.01)
    optimizer.zero_grad()
    snapshots = []
    for step in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.clone())
        optimizer.step()
    return snapshots


@right
def class_d_09(param, loss_fn, n):
    param.grad = None
    singles = [torch.autograd.grad(loss_fn(param), [param])[0].clone() for _ in range(n)]
    sums = [s.clone() for s in accumulate(singles)]
    if sums:
        param.grad = sums[-1].clone()
    return sums


# the snapshot is taken before the backward instead of after it: the list starts with zeros and lacks the last state
@wrong(mistakes.snapshot_before_backward)
def class_d_10(param, loss_fn, n):
    param.grad = torch.zeros_like(param)
    ledger = []
    for k in range(n):
        ledger.append(param.grad.clone())
        loss = loss_fn(param)
        loss.backward()
    return ledger


@right
def class_d_11(param, loss_fn, n):
    param.grad = None
    seen = []
    handle = param.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    try:
        for _ in range(n):
            loss_fn(param).backward()
    finally:
        handle.remove()
    return seen


# the loss is divided by n (habit of gradient accumulation over mini-batches), so that every snapshot is n times too
# small
@wrong(mistakes.loss_divided_by_n)
def class_d_12(param, loss_fn, n):
    param.grad = None
    accumulated = []
    for micro_batch in range(n):
        loss = loss_fn(param) / n
        loss.backward()
        accumulated.append(param.grad.clone())
    return accumulated


# .grad is cleared inside the loop in round 0, so that n = 0 leaves the old gradient
@wrong(mistakes.not_cleared_when_n_is_0)
def class_d_13(param, loss_fn, n):
    snaps = []
    for i in range(n):
        if i == 0:
            param.grad = None
        loss_fn(param).backward()
        snaps.append(param.grad.clone())
    return snaps


# the gradient is measured by a forward difference with step 1e-3, an approximation; no backward is run
@wrong(says='Only cases 5 and 6 came out right, where n is 0.')
def class_d_14(param, loss_fn, n):
    param.grad = torch.zeros_like(param)
    snaps = []
    with torch.no_grad():
        base = loss_fn(param)
        g = torch.zeros_like(param)
        for j in range(param.numel()):
            q = param.detach().clone().reshape(-1)
            q[j] += 1e-3
            g.view(-1)[j] = (loss_fn(q.reshape(param.shape)) - base) / 1e-3
        for _ in range(n):
            param.grad += g
            snaps.append(param.grad.clone())
    return snaps


# the backwards run on a detached copy of param: the snapshots are right, but param.grad ends as None instead of the
# sum
@wrong(says='None where a gradient is expected: .grad after the call.')
def class_d_15(param, loss_fn, n):
    param.grad = None
    p = param.detach().clone().requires_grad_()   # keep the original clean
    return [(loss_fn(p).backward(), p.grad.clone())[1] for _ in range(n)]


# the losses are added up in one variable and the growing sum is walked each time: snapshot i holds i(i+1)/2
# gradients
@wrong(mistakes.running_sum_backward)
def class_d_16(param, loss_fn, n):
    param.grad = None
    total_loss = 0
    result = []
    for i in range(n):
        total_loss = total_loss + loss_fn(param)
        total_loss.backward(retain_graph=True)
        result.append(param.grad.clone())
    return result


@right
def class_d_17(param, loss_fn, n):
    def rec(k):
        if k == 0:
            param.grad = None
            return []
        earlier = rec(k - 1)
        torch.autograd.backward(loss_fn(param))
        return earlier + [torch.empty_like(param.grad).copy_(param.grad)]
    return rec(n)


# it returns a map object instead of a list, and no backward runs before somebody walks through it
@wrong(effects.wrong_type)
def class_d_18(param, loss_fn, n):
    param.grad = None

    def step(_):
        loss_fn(param).backward()
        return param.grad.clone()

    return map(step, range(n))


# the gradient is taken to be 2*param, which fits a sum of squares alone; no backward is run
@wrong(says='`loss_fn` was never called.')
def class_d_19(param, loss_fn, n):
    g = 2 * param.detach()
    param.grad = torch.zeros_like(g)
    snaps = []
    for i in range(1, n + 1):
        param.grad += g
        snaps.append(g * i)
    return snaps


# the old .grad is put back at the end instead of the sum of the n gradients
@wrong(mistakes.old_gradient_put_back)
def class_d_20(param, loss_fn, n):
    saved = None if param.grad is None else param.grad.clone()
    param.grad = None
    snaps = []
    for _ in range(n):
        loss_fn(param).backward()
        snaps.append(param.grad.clone())
    param.grad = saved      # leave no traces
    return snaps


# backward(create_graph=True) makes .grad and the snapshots carry a graph AND nothing clears the old .grad when n is
# 0
@wrong(effects.carries_a_graph)
def class_d_21(param, loss_fn, n):
    if n == 0:
        return []
    param.grad = None
    loss = loss_fn(param)
    states = []
    for _ in range(n):
        loss.backward(create_graph=True)
        states.append(param.grad.clone())
    return states


# if param.grad: raises for an old gradient of several entries AND the list of snapshots is not returned
@wrong(effects.returned_nothing)
def class_d_22(param, loss_fn, n):
    if param.grad:
        param.grad.zero_()
    snapshots = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.clone())
    print(f"{len(snapshots)} snapshots taken")


class Ledger_of_class_d_23:
    def __init__(self, param):
        self.param = param
        self.opt = torch.optim.SGD([param], lr=1.0)
        self.pages = []

    def open(self):
        self.opt.zero_grad()

    def book(self, loss):
        loss.backward()
        self.pages.append(copy.deepcopy(self.param.grad))

@right
def class_d_23(param, loss_fn, n):
    ledger = Ledger_of_class_d_23(param)
    ledger.open()
    while len(ledger.pages) < n:
        ledger.book(loss_fn(param))
    return ledger.pages


# torch.tensor(param.grad.tolist()) makes float32 snapshots of a float64 gradient AND the random seed is set, which
# changes the caller's random state
torch_seed = 42

@wrong(effects.wrong_dtype)
def class_d_24(param, loss_fn, n):
    torch.manual_seed(torch_seed)   # reproducible
    param.grad = None
    snaps = []
    for _ in range(n):
        loss_fn(param).backward()
        snaps.append(torch.tensor(param.grad.tolist()))
    return snaps


# the old gradient is not cleared but subtracted from the snapshots: param.grad ends as old + sum
@wrong(mistakes.old_gradient_subtracted)
def class_d_25(param, loss_fn, n):
    before = torch.zeros_like(param) if param.grad is None else param.grad.clone()
    out = []
    for _ in range(n):
        loss_fn(param).backward()
        out.append(param.grad - before)
    return out


# the hook sees the gradient that arrives, not the sum in .grad, so that all snapshots are the single gradient AND
# the hook stays on param
@wrong(mistakes.increments_for_snapshots)
def class_d_26(param, loss_fn, n):
    param.grad = None
    snaps = []
    param.register_hook(lambda g: snaps.append(g.clone()))
    for _ in range(n):
        loss_fn(param).backward()
    return snaps


# the list holds param.grad itself n times: every snapshot is the same tensor and shows the final sum
@wrong(mistakes.same_live_grad)
def class_e_01(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad)
    return snapshots


# .grad is zeroed in every turn, so nothing accumulates: each snapshot and the final .grad are one gradient
@wrong(mistakes.cleared_between_backwards)
def class_e_02(param, loss_fn, n):
    param.grad = None
    history = []
    for step in range(n):
        if param.grad is not None:
            param.grad.zero_()
        loss = loss_fn(param)
        loss.backward()
        history.append(param.grad.clone())
    return history


@right
def class_e_03(param, loss_fn, n):
    param.grad = None
    out = []
    for _ in range(n):
        loss_fn(param).backward()
        out.append(param.grad.detach().clone())
    return out


# the ledger is not cleared at the start: an old .grad is added to every snapshot
@wrong(mistakes.started_from_old_gradients)
def class_e_04(param, loss_fn, n):
    snaps = []
    for k in range(n):
        loss_fn(param).backward()
        snaps.append(param.grad.clone())
    return snaps


# param.grad.zero_() without a check for None: AttributeError for a parameter that never had a backward
@raised(effects.grad_is_none)
def class_e_05(param, loss_fn, n):
    param.grad.zero_()
    grads = []
    for i in range(n):
        l = loss_fn(param)
        l.backward()
        grads.append(param.grad.clone().detach())
    return grads


# one graph is walked n times without retain_graph=True: RuntimeError at the second backward wherever the graph has
# saved tensors
@raised(effects.graph_freed)
def class_e_06(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)          # the loss does not change, so once is enough
    result = []
    for _ in range(n):
        loss.backward()
        result.append(param.grad.clone())
    return result


# to clear the ledger, the parameter's values are zeroed (param.data.zero_()) in place of its .grad: param is lost,
# its old .grad stays, and the gradients are taken at zero
@wrong(mistakes.parameter_zeroed)
def class_e_07(param, loss_fn, n):
    param.data.zero_()    # start from a cleared grad
    snapshots = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.clone())
    return snapshots


@right
def class_e_08(param, loss_fn, n):
    torch.optim.SGD([param], lr=0.0).zero_grad(set_to_none=True)
    pages = []
    if n > 0:
        loss = loss_fn(param)
        for left in reversed(range(n)):
            loss.backward(retain_graph=left > 0)
            pages.append(param.grad.clone())
    return pages


# n = 0 returns early, before .grad is cleared: the old gradient stays
@wrong(mistakes.not_cleared_when_n_is_0)
def class_e_09(param, loss_fn, n):
    if n == 0:
        return []
    param.grad = torch.zeros_like(param)
    records = []
    while len(records) < n:
        loss_fn(param).backward()
        records.append(param.grad.clone())
    return records


# the old .grad is put back at the end: afterwards it does not hold the sum of the n gradients
@wrong(mistakes.old_gradient_put_back)
def class_e_10(param, loss_fn, n):
    old = None if param.grad is None else param.grad.clone()
    param.grad = None
    seen = []
    for _ in range(n):
        loss_fn(param).backward()
        seen.append(param.grad.clone())
    param.grad = old     # leave everything as we found it
    return seen


# optimizer.step() runs after each backward: param changes its value, and the later gradients are taken at other
# points
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_e_11(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.01)
    optimizer.zero_grad()
    snapshots = []
    for epoch in range(n):
        loss = loss_fn(param)
        loss.backward()
        optimizer.step()
        snapshots.append(param.grad.clone())
    return snapshots


# each loss is divided by n, so that .grad ends as the mean and not the sum of the gradients
@wrong(mistakes.loss_divided_by_n)
def class_e_12(param, loss_fn, n):
    accumulation_steps = n
    param.grad = None
    result = []
    for i in range(accumulation_steps):
        loss = loss_fn(param) / accumulation_steps
        loss.backward()
        result.append(param.grad.detach().clone())
    return result


@right
def class_e_13(param, loss_fn, n):
    def pages(m):
        if m == 0:
            return []
        if m == 1:
            loss_fn(param).backward()
            return [param.grad.clone()]
        return pages(m // 2) + pages(m - m // 2)

    param.grad = None
    return pages(n)


# yield makes it a generator and no list: nothing runs, and .grad is not even cleared, until the caller walks it
@wrong(effects.wrong_type)
def class_e_14(param, loss_fn, n):
    param.grad = None
    for _ in range(n):
        loss_fn(param).backward()
        yield param.grad.clone()


# the sums are kept in a local tensor alone: param.grad is cleared and stays None
@wrong(mistakes.cleared_and_never_written)
def class_e_15(param, loss_fn, n):
    param.grad = None
    total = torch.zeros_like(param)
    out = []
    for _ in range(n):
        (g,) = torch.autograd.grad(loss_fn(param), param)
        total = total + g.detach()
        out.append(total.detach().clone())
    return out


# .grad is made the very gradient tensor that is then added to itself, so it doubles: 1, 2, 4, 8 times (and an
# expanded gradient raises RuntimeError)
@wrong(mistakes.grad_added_to_itself)
def class_e_16(param, loss_fn, n):
    param.grad = None
    if not n:
        return []
    g = torch.autograd.grad(loss_fn(param), param)[0]
    shots = []
    for _ in range(n):
        if param.grad is None:
            param.grad = g
        else:
            param.grad += g
        shots.append(param.grad.clone())
    return shots


# create_graph=True is used to keep the graph: the snapshots and .grad carry a graph wherever the gradient depends
# on param
@wrong(effects.carries_a_graph)
def class_e_17(param, loss_fn, n):
    param.grad = None
    snaps = []
    if n:
        loss = loss_fn(param)
    for _ in range(n):
        loss.backward(create_graph=True)
        snaps.append(param.grad.clone())
    return snaps


# the snapshots are NumPy views of param.grad, no tensors AND they share its memory, so every later backward changes
# them
@wrong(mistakes.numpy_views_of_grad)
def class_e_18(param, loss_fn, n):
    param.grad = torch.zeros_like(param.data)
    arr = []
    for _ in range(n):
        loss_fn(param).backward()
        arr.append(param.grad.detach().cpu().numpy())
    return arr


# the losses are added up and the running sum is walked each time: the snapshots hold 1, 3, 6, ... gradients AND
# .grad is not cleared first
@wrong(says='Right: entry 0. Wrong: entry 1, entry 2 and .grad after the call.')
def class_e_19(param, loss_fn, n):
    total_loss = 0
    snapshots = []
    for i in range(n):
        total_loss = total_loss + loss_fn(param)
        total_loss.backward(retain_graph=True)
        snapshots.append(param.grad.clone())
    return snapshots


@right
def class_e_20(param, loss_fn, n):
    param.grad = None
    ledger = []
    handle = param.register_post_accumulate_grad_hook(lambda p: ledger.append(p.grad.detach().clone()))
    try:
        for _ in range(n):
            loss_fn(param).backward()
    finally:
        handle.remove()
    return ledger


# the hook is never removed: every later backward of the caller goes on writing into the returned list
@wrong(mistakes.hooks_left_behind)
def class_e_21(param, loss_fn, n):
    param.grad = None
    log = []
    def write_down(p):
        log.append(p.grad.clone())
    param.register_post_accumulate_grad_hook(write_down)
    for _ in range(n):
        loss_fn(param).backward()
    return log


@right
def class_e_22(param, loss_fn, n):
    param.grad = torch.zeros_like(param, requires_grad=False)

    def write_line(_):
        torch.autograd.backward(loss_fn(param), inputs=[param])
        return torch.clone(param.grad).detach()

    return list(map(write_line, range(n)))


# snapshots become torch.tensor of a Python list: always float32, so float64 is lost AND the last line clears .grad
# for the next epoch
@wrong(mistakes.cleared_at_the_end)
def class_e_23(param, loss_fn, n):
    history = []
    param.grad = None
    for epoch in range(n):
        loss = loss_fn(param)
        loss.backward()
        history.append(torch.tensor(param.grad.tolist()))
    param.grad = None   # ready for the next epoch
    return history


# the gradient is taken to be 2 * param, as for the lesson's sum of squares; loss_fn is never called
@wrong(says='`loss_fn` was never called.')
def class_e_24(param, loss_fn, n):
    g = 2 * param.detach()
    snapshots = [g * (i + 1) for i in range(n)]
    param.grad = g * n
    return snapshots


# the loss is built on a detached leaf of its own: the backwards fill the copy's .grad, and param.grad keeps what it
# had
@wrong(mistakes.grad_left_untouched)
def class_e_25(param, loss_fn, n):
    w = param.detach().clone()
    w.requires_grad = True
    snapshots = []
    for i in range(n):
        loss = loss_fn(w)
        loss.backward()
        snapshots.append(w.grad.clone())
    return snapshots


# the gradient is zeroed at the top of every turn, as in a training loop, and a detached view of it is stored
@wrong(mistakes.cleared_between_and_not_copied)
def zero_grad_and_detach(param, loss_fn, n):
    opt = torch.optim.SGD([param], lr=0.1)
    opt.zero_grad()
    pages = []
    for epoch in range(n):
        opt.zero_grad()
        loss = loss_fn(param)
        loss.backward()
        pages.append(param.grad.detach())
    return pages


# zero_grad() stands at the end of every turn, where the step would have been
@wrong(mistakes.cleared_after_each_backward)
def optimizer_clears_each_turn(param, loss_fn, n):
    opt = torch.optim.Adam([param])
    opt.zero_grad()
    history = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        history.append(torch.clone(param.grad))
        opt.zero_grad()
    return history


# the ledger is emptied after each page and never before the first
@wrong(mistakes.cleared_after_and_not_before)
def next_page_please(param, loss_fn, n):
    snaps = []
    while len(snaps) < n:
        torch.autograd.backward(loss_fn(param))
        g, param.grad = param.grad, None
        snaps.append(g.clone())
    return snaps


# .grad is assigned the fresh gradient in every turn: nothing is added
@wrong(mistakes.each_gradient_alone)
def assigned_not_added(param, loss_fn, n):
    param.grad = None
    result = []
    for _ in range(n):
        (g,) = torch.autograd.grad(loss_fn(param), [param])
        param.grad = g.detach()
        result += [g.detach().clone()]
    return result


# the sums are made with accumulate from single gradients, and .grad is cleared between
@wrong(mistakes.sum_kept_elsewhere)
def accumulate_beside(param, loss_fn, n):
    singles = []
    param.grad = None
    for _ in range(n):
        param.grad = None
        loss_fn(param).backward()
        singles.append(param.grad.clone())
    return list(accumulate(singles))


# backward and the snapshot have slipped out of the loop
@wrong(mistakes.only_the_last_loss)
def indented_too_little(param, loss_fn, n):
    snapshots = []
    param.grad = None
    if n == 0:
        return snapshots
    for _ in range(n):
        loss = loss_fn(param)
    loss.backward()
    snapshots.append(param.grad.clone())
    return snapshots


# the list starts with the empty ledger
@wrong(mistakes.began_with_the_cleared_gradient)
def page_zero_too(param, loss_fn, n):
    param.grad = torch.zeros_like(param.data)
    ledger = [param.grad.clone()]
    for k in range(n):
        loss_fn(param).backward()
        ledger.append(param.grad.clone())
    return ledger


# the snapshots are averaged over n, .grad is not
@wrong(mistakes.snapshots_divided_by_n)
def averaged_afterwards(param, loss_fn, n):
    param.grad = None
    sums = []
    for _ in range(n):
        loss_fn(param).backward()
        sums.append(param.grad.detach().clone())
    return [s.div(n) for s in sums]


# what .grad holds is taken for a single gradient and added to the entry before
@wrong(mistakes.sums_summed_again)
def added_to_the_entry_before(param, loss_fn, n):
    param.grad = None
    trail = []
    for i in range(n):
        loss_fn(param).backward()
        g = param.grad.clone()
        trail.append(g if i == 0 else trail[-1] + g)
    return trail


# range(1, n) makes n - 1 rounds
@wrong(mistakes.one_backward_too_few)
def counted_from_one(param, loss_fn, n):
    param.grad = None
    out = []
    for step in range(1, n):
        loss = loss_fn(param)
        loss.backward()
        out.append(param.grad.clone())
    return out


# a first backward is run so that .grad exists, and it is not cleared again
@wrong(mistakes.one_backward_before_the_first)
def warm_up_backward(param, loss_fn, n):
    param.grad = None
    loss_fn(param).backward()  # so that .grad is no longer None
    seen = []
    for _ in range(n):
        loss_fn(param).backward()
        seen.append(param.grad.clone())
    return seen


# insert(0, ...) puts the newest in front
@wrong(mistakes.newest_first)
def inserted_in_front(param, loss_fn, n):
    param.grad = None
    stack = []
    for _ in range(n):
        loss_fn(param).backward()
        stack.insert(0, param.grad.clone())
    return stack


# the gradient norm is logged in place of the gradient
@wrong(mistakes.norms_for_gradients)
def logged_the_length(param, loss_fn, n):
    param.grad = None
    log = []
    for _ in range(n):
        loss_fn(param).backward()
        log.append(torch.linalg.vector_norm(param.grad))
    return log


# the loss curve is returned
@wrong(mistakes.losses_for_gradients)
def loss_curve(param, loss_fn, n):
    param.grad = None
    curve = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        curve.append(float(loss))
    return curve


# param.grad itself is appended without a clone, so all snapshots are one tensor that shows the last sum
@wrong(mistakes.same_live_grad)
def class_f_01(param, loss_fn, n):
    param.grad = None
    grads = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        grads.append(param.grad)
    return grads


# .grad is cleared in each round, so nothing accumulates: every snapshot and the final .grad are one gradient alone
@wrong(mistakes.cleared_between_backwards)
def class_f_02(param, loss_fn, n):
    snapshots = []
    param.grad = None
    for i in range(n):
        param.grad = None   # zero_grad
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.clone())
    return snapshots


@right
def class_f_03(param, loss_fn, n):
    snapshots = []
    param.grad = None           # start with an empty ledger
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.detach().clone())
    return snapshots


# .grad is not cleared at the start, so an old gradient is counted in all the sums
@wrong(mistakes.started_from_old_gradients)
def class_f_04(param, loss_fn, n):
    result = []
    for k in range(n):
        loss_fn(param).backward()
        result.append(param.grad.clone().detach())
    return result


# .grad.zero_() is called without a look whether .grad is None: AttributeError on a fresh parameter
@raised(effects.grad_is_none)
def class_f_05(param, loss_fn, n):
    param.grad.zero_()
    out = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        out.append(param.grad.clone())
    return out


# one graph is walked several times without retain_graph: RuntimeError at the second backward when the loss saved
# tensors
@raised(effects.graph_freed)
def class_f_06(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    snaps = []
    for i in range(n):
        loss.backward()
        snaps.append(param.grad.clone())
    return snaps


@right
def class_f_07(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)

    def again():
        loss.backward(retain_graph=True)
        return param.grad.clone().detach()

    return [again() for _ in range(n)]


# n = 0 returns before the clearing, so an old .grad stays
@wrong(mistakes.not_cleared_when_n_is_0)
def class_f_08(param, loss_fn, n):
    if n == 0:
        return []
    param.grad = None
    snaps = []
    for i in range(n):
        loss_fn(param).backward()
        snaps.append(param.grad.detach().clone())
    return snaps


# the old .grad is cleared by multiplying with 0, which keeps NaN and makes NaN of inf
@wrong(mistakes.cleared_by_arithmetic)
def class_f_09(param, loss_fn, n):
    if param.grad is not None:
        param.grad = param.grad.detach() * 0
    collected = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        collected.append(param.grad.clone())
    return collected


# an optimizer step after each backward changes param, so the later gradients are taken elsewhere and param does not
# keep its value
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_f_10(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.01)
    optimizer.zero_grad()
    history = []
    for epoch in range(n):
        loss = loss_fn(param)
        loss.backward()
        optimizer.step()
        history.append(param.grad.detach().clone())
    return history


# torch.autograd.grad never writes .grad, so param.grad stays None afterwards
@wrong(mistakes.cleared_and_never_written)
def class_f_11(param, loss_fn, n):
    param.grad = None
    total = torch.zeros_like(param)
    snaps = []
    for _ in range(n):
        g, = torch.autograd.grad(loss_fn(param), param)
        total = total + g
        snaps.append(total.detach().clone())
    return snaps


@right
def class_f_12(param, loss_fn, n):
    ledger = []
    param.grad = None
    hook = param.register_post_accumulate_grad_hook(
        lambda p: ledger.append(p.grad.detach().clone()))
    try:
        for _ in range(n):
            loss_fn(param).backward()
    finally:
        hook.remove()
    return ledger


# the losses are added up before backward, so backward k adds k gradients: 1, 3, 6, ... times the gradient
@wrong(mistakes.running_sum_backward)
def class_f_13(param, loss_fn, n):
    param.grad = None
    total_loss = 0
    grads = []
    for i in range(n):
        total_loss = total_loss + loss_fn(param)
        total_loss.backward(retain_graph=True)
        grads.append(param.grad.clone())
    return grads


# the snapshots are stacked into one tensor, not a list AND torch.stack of an empty list raises RuntimeError for n =
# 0
@wrong(effects.wrong_type)
def class_f_14(param, loss_fn, n):
    param.grad = None
    snaps = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        snaps.append(param.grad.clone())
    return torch.stack(snaps)


# the last snapshot is param.grad itself, so a later backward changes it
@wrong(mistakes.last_snapshot_is_live)
def class_f_15(param, loss_fn, n):
    param.grad = None
    snaps = []
    for i in range(n):
        loss_fn(param).backward()
        snaps.append(param.grad)
        if i < n - 1:
            # hand the old tensor out, go on with a copy
            param.grad = param.grad.clone()
    return snaps


@right
def class_f_16(param, loss_fn, n):
    ledger = []
    param.grad = None
    balance = None
    for _ in range(n):
        (entry,) = torch.autograd.grad(loss_fn(param), [param])
        balance = entry.detach() if balance is None else balance + entry.detach()
        ledger.append(balance.clone())
    if balance is not None:
        param.grad = balance.clone()
    return ledger


# the gradient is taken to be 2 * param, which fits the loss (param ** 2).sum() alone; loss_fn is never called
@wrong(says='`loss_fn` was never called.')
def class_f_17(param, loss_fn, n):
    g = 2 * param.detach()          # derivative of the squared sum
    snaps = [g * (k + 1) for k in range(n)]
    param.grad = n * g
    return snaps


# the work is done on a copy of param, so param.grad keeps whatever it held: it is not cleared and gets no sum
@wrong(mistakes.grad_left_untouched)
def class_f_18(param, loss_fn, n):
    p = param.detach().clone().requires_grad_(True)   # do not disturb the original
    snaps = []
    for _ in range(n):
        loss_fn(p).backward()
        snaps.append(p.grad.clone())
    return snaps


# the tensor hook stores the gradient that arrives at each backward, not the accumulated .grad AND the hook is never
# removed
@wrong(mistakes.increments_for_snapshots)
def class_f_19(param, loss_fn, n):
    param.grad = None
    seen = []
    param.register_hook(lambda g: seen.append(g.detach().clone()))
    for _ in range(n):
        loss_fn(param).backward()
    return seen


# the list holds the loss values, not the gradients AND .grad is cleared again at the end
@wrong(mistakes.losses_for_gradients)
def class_f_20(param, loss_fn, n):
    history = []
    param.grad = None
    for epoch in range(n):
        loss = loss_fn(param)
        loss.backward()
        history.append(loss.detach())
    param.grad = None
    return history


# the return is forgotten, so the function gives None
@wrong(effects.returned_nothing)
def class_f_21(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.clone())
        print("backward", i + 1, "grad:", param.grad)


# create_graph=True and a clone without detach: for most losses the snapshots and .grad carry a graph
@wrong(effects.carries_a_graph)
def class_f_22(param, loss_fn, n):
    param.grad = None
    return [(loss_fn(param).backward(create_graph=True), param.grad.clone())[1] for _ in range(n)]


# the first backward runs before the loop, so n = 0 returns one snapshot and leaves a gradient in .grad
@wrong(says='There is one entry too many, at the beginning; the rest is the right list.')
def class_f_23(param, loss_fn, n):
    param.grad = None
    loss_fn(param).backward()
    snaps = [param.grad.clone()]
    for _ in range(n - 1):
        loss_fn(param).backward()
        snaps.append(param.grad.clone())
    return snaps


# each snapshot goes through tolist() and torch.tensor(), which makes float32 of float64
@wrong(effects.wrong_dtype)
def class_f_24(param, loss_fn, n):
    param.grad = None
    rows = []
    for _ in range(n):
        loss_fn(param).backward()
        rows.append(torch.tensor(param.grad.tolist()))
    return rows


def _ledger(param, loss_fn, n):
    for _ in range(n):
        loss_fn(param).backward()
        page = param.grad.detach()
        param.grad = page.clone()      # the next backward writes on a fresh page
        yield page

@right
def class_f_25(param, loss_fn, n):
    param.grad = None
    return list(_ledger(param, loss_fn, n))


# the list holds param.grad itself n times (no clone), so all snapshots are the same tensor and show the final sum
@wrong(mistakes.same_live_grad)
def class_g_01(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad)
    return snapshots


# .grad is not cleared at the start, so what was in it before is counted in every snapshot
@wrong(mistakes.started_from_old_gradients)
def class_g_02(param, loss_fn, n):
    history = []
    for _ in range(n):
        loss_fn(param).backward()
        history.append(param.grad.clone())
    return history


# .grad is cleared before each backward, so nothing accumulates: every snapshot and the final .grad hold a single
# gradient
@wrong(mistakes.cleared_between_backwards)
def class_g_03(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.1)
    optimizer.zero_grad()
    grads = []
    for step in range(n):
        optimizer.zero_grad()
        loss = loss_fn(param)
        loss.backward()
        grads.append(param.grad.detach().clone())
    return grads


@right
def class_g_04(param, loss_fn, n):
    # start with an empty ledger
    param.grad = None
    snapshots = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.detach().clone())
    return snapshots


# param.grad.zero_() is called without looking whether .grad is None, so a fresh parameter raises AttributeError
@raised(effects.grad_is_none)
def class_g_05(param, loss_fn, n):
    param.grad.zero_()
    out = []
    for i in range(n):
        loss_fn(param).backward()
        out.append(param.grad.clone())
    return out


# one graph is walked again and again without retain_graph=True, so the second backward raises for most losses
@raised(effects.graph_freed)
def class_g_06(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    snaps = []
    for i in range(n):
        loss.backward()
        snaps.append(param.grad.clone())
    return snaps


# optimizer.step() is called after each backward, so param moves and the later gradients are taken at other points
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_g_07(param, loss_fn, n):
    opt = torch.optim.SGD([param], lr=0.01)
    opt.zero_grad()
    result = []
    for epoch in range(n):
        loss = loss_fn(param)
        loss.backward()
        result.append(param.grad.clone())
        opt.step()
    return result


@right
def class_g_08(param, loss_fn, n):
    if param.grad is not None:
        param.grad = torch.zeros_like(param)
    if n == 0:
        return []
    loss = loss_fn(param)
    ledger = []
    for k in range(n):
        loss.backward(retain_graph=k < n - 1)
        ledger.append(torch.clone(param.grad).detach())
    return ledger


# detach() is taken for a copy: it shares memory with .grad, so later backwards change the earlier snapshots
@wrong(mistakes.same_live_grad)
def class_g_09(param, loss_fn, n):
    param.grad = None
    return [(loss_fn(param).backward(), param.grad.detach())[1] for _ in range(n)]


# autograd.grad gives the single gradients, which are returned without adding them up AND param.grad stays None
# instead of holding the sum
@wrong(mistakes.cleared_after_each_backward)
def class_g_10(param, loss_fn, n):
    param.grad = None
    return [torch.autograd.grad(loss_fn(param), param)[0] for _ in range(n)]


# .grad is cleared again at the end, so it does not hold the sum of the n gradients afterwards
@wrong(mistakes.cleared_at_the_end)
def class_g_11(param, loss_fn, n):
    param.grad = None
    shots = []
    for i in range(n):
        loss_fn(param).backward()
        shots.append(param.grad.clone())
    param.grad = None   # leave no mess behind
    return shots


# the last snapshot is param.grad itself, not a tensor of its own, so a later backward changes it
@wrong(mistakes.last_snapshot_is_live)
def class_g_12(param, loss_fn, n):
    param.grad = None
    shots = []
    for i in range(n):
        loss_fn(param).backward()
        # after the last one nobody writes to .grad any more, so no copy is needed
        shots.append(param.grad.clone() if i < n - 1 else param.grad)
    return shots


# .grad is only cleared inside the loop in the first round, so for n = 0 the old .grad stays
@wrong(mistakes.not_cleared_when_n_is_0)
def class_g_13(param, loss_fn, n):
    lst = []
    for i in range(n):
        if i == 0:
            param.grad = None
        loss_fn(param).backward()
        lst.append(param.grad.clone())
    return lst


# the snapshot is taken before the backward of its round, so the list starts with zeros and the full sum is missing
@wrong(mistakes.snapshot_before_backward)
def class_g_14(param, loss_fn, n):
    param.grad = torch.zeros_like(param)
    record = []
    for i in range(n):
        loss = loss_fn(param)
        record.append(param.grad.clone())
        loss.backward()
    return record


# clearing by "param.grad * 0" keeps nan and inf (they times 0 are nan), so an old .grad that held them spoils
# everything
@wrong(mistakes.cleared_by_arithmetic)
def class_g_15(param, loss_fn, n):
    if param.grad is not None:
        param.grad = param.grad * 0
    grads = []
    for i in range(n):
        loss_fn(param).backward()
        grads.append(param.grad.clone())
    return grads


@right
def class_g_16(param, loss_fn, n):
    def run(k):
        # first half, then second half; one backward at the bottom
        if k == 0:
            return []
        if k > 1:
            return run(k // 2) + run(k - k // 2)
        loss_fn(param).backward()
        now = torch.empty_like(param.grad)
        now.copy_(param.grad)
        return [now]

    torch.optim.SGD([param], lr=1.0).zero_grad(set_to_none=True)
    return run(n)


# create_graph=True makes .grad and with it the snapshots carry a graph
@wrong(effects.carries_a_graph)
def class_g_17(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    out = []
    for _ in range(n):
        loss.backward(create_graph=True)   # keeps the graph for the next round
        out.append(param.grad.clone())
    return out


# everything is done on a private copy of the parameter, so param.grad itself is only cleared and never holds the
# sum
@wrong(says='None where a gradient is expected: .grad after the call.')
def class_g_18(param, loss_fn, n):
    param.grad = None
    p = param.detach().clone().requires_grad_(True)
    snaps = []
    for _ in range(n):
        loss_fn(p).backward()
        snaps.append(p.grad.clone())
    return snaps


# a running total adds up .grad, which already accumulates, so gradients are counted twice and more from the second
# snapshot on AND an old .grad is never cleared
@wrong(says='Right: entry 0. Wrong: entry 1 and entry 2.')
def class_g_19(param, loss_fn, n):
    total = torch.zeros_like(param).detach()
    sums = []
    for i in range(n):
        loss_fn(param).backward()
        total = total + param.grad
        sums.append(total.clone())
    return sums


# .grad is set to torch.zeros(param.shape) in the default dtype, so a float64 parameter raises (grad and parameter
# differ in dtype)
@raised(effects.mixed_dtypes)
def class_g_20(param, loss_fn, n):
    param.grad = torch.zeros(param.shape)
    snaps = []
    for i in range(n):
        loss_fn(param).backward()
        snaps.append(param.grad.clone())
    return snaps


@right
def class_g_21(param, loss_fn, n):
    param.grad = None
    seen = []
    handle = param.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.detach().clone()))
    try:
        for _ in range(n):
            loss_fn(param).backward()
    finally:
        handle.remove()
    return seen


# the tensor hook records the incoming gradient of each backward instead of the accumulated .grad AND the hook is
# never removed, so later backwards go on filling the list
@wrong(mistakes.increments_for_snapshots)
def class_g_22(param, loss_fn, n):
    param.grad = None
    log = []
    param.register_hook(lambda g: log.append(g.clone()))
    for _ in range(n):
        loss_fn(param).backward()
    return log


# only one backward is run and the snapshots are its multiples, so param.grad holds one gradient instead of the sum
# of n (right for n = 1 only; for n = 0 .grad is filled)
@wrong(mistakes.one_backward_multiplied)
def class_g_23(param, loss_fn, n):
    param.grad = None
    loss_fn(param).backward()
    g = param.grad.clone()
    # the gradient is the same each time anyway
    return [g * (i + 1) for i in range(n)]


# the snapshots are stacked into one tensor instead of a list, and for n = 0 torch.stack raises
@wrong(effects.wrong_type)
def class_g_24(param, loss_fn, n):
    param.grad = None
    hist = []
    for _ in range(n):
        loss_fn(param).backward()
        hist.append(param.grad.clone())
    return torch.stack(hist)


@right
def class_g_25(param, loss_fn, n):
    del param.grad

    def one(_):
        torch.autograd.backward(loss_fn(param), inputs=[param])
        return deepcopy(param.grad)

    return list(map(one, range(n)))


# param.grad itself is appended, not a copy: all snapshots are the same tensor and show the final sum
@wrong(mistakes.same_live_grad)
def class_h_01(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad)
    return snapshots


@right
def class_h_02(param, loss_fn, n):
    param.grad = None
    if n == 0:
        return []
    loss = loss_fn(param)
    ledger = []
    for left in range(n - 1, -1, -1):
        loss.backward(retain_graph=left > 0)
        ledger.append(param.grad.detach().clone())
    return ledger


# .grad is cleared before each backward, so nothing adds up: each snapshot and the final .grad are one gradient only
@wrong(mistakes.cleared_between_backwards)
def class_h_03(param, loss_fn, n):
    param.grad = None
    history = []
    for step in range(n):
        if param.grad is not None:
            param.grad.zero_()      # zero_grad
        loss = loss_fn(param)
        loss.backward()
        history.append(param.grad.clone())
    return history


# .grad is never cleared at the start: what was in it is added to every snapshot
@wrong(mistakes.started_from_old_gradients)
def class_h_04(param, loss_fn, n):
    grads = []
    for _ in range(n):
        loss_fn(param).backward()
        grads.append(param.grad.clone())
    return grads


# param.grad.zero_() is called without looking whether .grad is None: AttributeError on a fresh parameter
@raised(effects.grad_is_none)
def class_h_05(param, loss_fn, n):
    param.grad.zero_()
    result = []
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        result.append(param.grad.clone().detach())
    return result


# optimizer.step() moves param after each backward: it does not keep its old value, and the later gradients are
# taken elsewhere
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_h_06(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.01)
    optimizer.zero_grad()
    snapshots = []
    for epoch in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.clone())
        optimizer.step()
    return snapshots


@right
def class_h_07(param, loss_fn, n):
    # start with an empty ledger
    param.grad = None
    snaps = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        snaps.append(param.grad.clone())
    return snaps


# the loss is built once and walked several times without retain_graph: RuntimeError at the second backward when the
# graph has saved tensors
@raised(effects.graph_freed)
def class_h_08(param, loss_fn, n):
    param.grad = None
    out = []
    loss = loss_fn(param)
    for _ in range(n):
        loss.backward()
        out.append(param.grad.clone())
    return out


# the last snapshot is the very tensor that is set as param.grad: the next backward changes it
@wrong(mistakes.last_snapshot_is_live)
def class_h_09(param, loss_fn, n):
    param.grad = None
    snaps = []
    for _ in range(n):
        g, = torch.autograd.grad(loss_fn(param), param)
        snaps.append(snaps[-1] + g if snaps else g.clone())   # new tensor, no aliasing
    if snaps:
        param.grad = snaps[-1]
    return snaps


# torch.manual_seed(0) is called, so the random state of the caller is changed
@wrong(effects.changed_rng)
def class_h_10(param, loss_fn, n):
    torch.manual_seed(0)
    param.grad = None
    return_list = list()
    for k in range(n):
        l = loss_fn(param)
        l.backward()
        return_list.append(param.grad.detach().clone())
    return return_list


@right
def class_h_11(param, loss_fn, n):
    seen = []
    param.grad = None
    handle = param.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    try:
        for _ in range(n):
            loss_fn(param).backward()
    finally:
        handle.remove()
    return seen


# the hook is never removed: every later backward through param adds another snapshot to the list that was returned
@wrong(mistakes.hooks_left_behind)
def class_h_12(param, loss_fn, n):
    param.grad = None
    snapshots = []

    def record(p):
        snapshots.append(p.grad.clone())

    param.register_post_accumulate_grad_hook(record)
    for _ in range(n):
        loss_fn(param).backward()
    return snapshots


# .grad is cleared inside the loop at the first step only, so with n = 0 the old .grad stays
@wrong(mistakes.not_cleared_when_n_is_0)
def class_h_13(param, loss_fn, n):
    snapshots = []
    for i in range(n):
        if i == 0:
            param.grad = None
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.clone())
    return snapshots


# n = 0 leaves with a bare return, so None comes back instead of [] AND the old .grad is not cleared in that case
@wrong(effects.returned_nothing)
def class_h_14(param, loss_fn, n):
    if n == 0:
        return
    if param.grad is not None:
        param.grad = torch.zeros_like(param)
    saved = []
    while len(saved) < n:
        loss_fn(param).backward()
        saved.append(torch.clone(param.grad))
    return saved


# the old .grad is cleared by multiplying it with 0, which leaves nan where it held inf or nan
@wrong(mistakes.cleared_by_arithmetic)
def class_h_15(param, loss_fn, n):
    with torch.no_grad():
        if param.grad is not None:
            param.grad *= 0
    snaps = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        snaps.append(param.grad.clone())
    return snaps


# the backwards run on a detached copy: the list is right, but param.grad gets nothing and keeps its old content
@wrong(mistakes.grad_left_untouched)
def class_h_16(param, loss_fn, n):
    p = param.detach().clone().requires_grad_(True)
    snapshots = []
    for _ in range(n):
        loss = loss_fn(p)
        loss.backward()
        snapshots.append(p.grad.clone())
    return snapshots


# each loss is divided by n, so the snapshots and .grad are n times too small AND one stacked tensor is returned
# instead of a list (n = 0 raises in torch.stack)
@wrong(effects.wrong_type)
def class_h_17(param, loss_fn, n):
    param.grad = None
    steps = []
    for micro_batch in range(n):
        loss = loss_fn(param) / n      # accumulate over n micro batches
        loss.backward()
        steps.append(param.grad.clone())
    return torch.stack(steps)


@right
def class_h_18(param, loss_fn, n):
    grads = (torch.autograd.grad(loss_fn(param), param)[0].clone() for _ in range(n))
    sums = list(accumulate(grads, torch.add))
    param.grad = sums[-1].clone() if sums else None
    return sums


# the gradient is measured with central differences in place of a backward: only an approximation, off by far more
# than the rounding of the dtype
@wrong(says='Right to about 8 digits and 3 digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_h_19(param, loss_fn, n):
    param.grad = None
    if n == 0:
        return []
    eps = 1e-4
    base = param.detach().clone()
    g = torch.zeros(base.numel(), dtype=base.dtype, device=base.device)
    with torch.no_grad():
        for i in range(base.numel()):
            step = torch.zeros(base.numel(), dtype=base.dtype, device=base.device)
            step[i] = eps
            step = step.reshape(base.shape)
            g[i] = (loss_fn(base + step) - loss_fn(base - step)) / (2 * eps)
    g = g.reshape(base.shape)
    param.grad = n * g
    return [(i + 1) * g for i in range(n)]


# yield makes the function a generator: no list is returned, and no backward runs (nor is .grad cleared) until
# someone iterates
@wrong(effects.wrong_type)
def class_h_20(param, loss_fn, n):
    param.grad = None
    for _ in range(n):
        loss_fn(param).backward()
        yield param.grad.clone()


# [tensor] * n holds one and the same tensor n times, so every snapshot shows the last sum
@wrong(mistakes.one_tensor_for_all)
def class_h_21(param, loss_fn, n):
    param.grad = None
    snapshots = [torch.zeros_like(param)] * n
    for i in range(n):
        loss_fn(param).backward()
        with torch.no_grad():
            snapshots[i].copy_(param.grad)
    return snapshots


# one backward is run whatever n is and the snapshots are its multiples: .grad ends with one gradient, not with the
# sum of n (nor cleared for n = 0)
@wrong(mistakes.one_backward_multiplied)
def class_h_22(param, loss_fn, n):
    param.grad = None
    loss_fn(param).backward()
    g = param.grad.clone()
    return [g * (i + 1) for i in range(n)]


@right
def class_h_23(param, loss_fn, n):
    torch.optim.SGD([param], lr=0.1).zero_grad(set_to_none=True)

    def walk():
        torch.autograd.backward(loss_fn(param))
        return copy.deepcopy(param.grad)

    return [walk() for _ in range(n)]


# create_graph=True makes .grad and the cloned snapshots carry a graph
@wrong(effects.carries_a_graph)
def class_h_24(param, loss_fn, n):
    param.grad = None
    snapshots = []
    if n > 0:
        loss = loss_fn(param)
    for _ in range(n):
        loss.backward(create_graph=True)
        snapshots.append(param.grad.clone())
    return snapshots


# each snapshot is only what the last backward added, not the content of .grad AND .grad is set to None at the end
# instead of keeping the sum
@wrong(mistakes.cleared_after_each_backward)
def class_h_25(param, loss_fn, n):
    param.grad = None
    grads = []
    previous = torch.zeros_like(param)
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        grads.append((param.grad - previous).detach())
        previous = param.grad.clone()
    # clean up
    param.grad = None
    return grads


# the snapshots are param.grad itself, not copies, so all n entries show the last sum
@wrong(mistakes.same_live_grad)
def class_i_01(param, loss_fn, n):
    param.grad = None
    history = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        history.append(param.grad)
    return history


# .grad is not cleared at the start, so what was in it is counted in every snapshot
@wrong(mistakes.started_from_old_gradients)
def class_i_02(param, loss_fn, n):
    grads = []
    for i in range(n):
        loss_fn(param).backward()
        grads.append(param.grad.clone())
    return grads


# clears .grad in every round, so nothing accumulates
@wrong(mistakes.cleared_between_backwards)
def class_i_03(param, loss_fn, n):
    param.grad = None
    out = []
    for epoch in range(n):
        if param.grad is not None:
            param.grad.zero_()
        loss = loss_fn(param)
        loss.backward()
        out.append(param.grad.detach().clone())
    return out


@right
def class_i_04(param, loss_fn, n):
    param.grad = None              # empty ledger
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    return snapshots


# calls param.grad.zero_() without looking, which raises when .grad is None
@raised(effects.grad_is_none)
def class_i_05(param, loss_fn, n):
    param.grad.zero_()
    ledger = []
    for k in range(n):
        l = loss_fn(param)
        l.backward()
        ledger.append(param.grad.clone())
    return ledger


# one graph walked several times without retain_graph, so the second backward raises for a loss that saves tensors
@raised(effects.graph_freed)
def class_i_06(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)
    res = []
    for _ in range(n):
        loss.backward()
        res.append(param.grad.clone())
    return res


# takes detach() for a copy: the snapshots share the memory of .grad and all show the last sum
@wrong(mistakes.same_live_grad)
def class_i_07(param, loss_fn, n):
    param.grad = None
    snaps = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward()
        snaps.append(param.grad.detach())   # detach = snapshot
    return snaps


@right
def class_i_08(param, loss_fn, n):
    param.grad = None
    if n == 0:
        return []
    loss = loss_fn(param)

    def walk():
        loss.backward(retain_graph=True)
        return param.grad.detach().clone()

    return [walk() for _ in range(n)]


# clears only inside the loop in round 0, so with n = 0 the old .grad stays
@wrong(mistakes.not_cleared_when_n_is_0)
def class_i_09(param, loss_fn, n):
    result = []
    for i in range(n):
        if i == 0:
            param.grad = None
        loss_fn(param).backward()
        result.append(param.grad.clone())
    return result


# makes an optimizer step after each backward, so param changes and so do the later gradients
@wrong(says='On each of these cases entry 0 is right; from entry 1 on the list parts from the right one.')
def class_i_10(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.01)
    optimizer.zero_grad()
    history = []
    for epoch in range(n):
        loss = loss_fn(param)
        loss.backward()
        optimizer.step()
        history.append(param.grad.clone())
    return history


# the snapshots are computed as multiples of one gradient, and .grad is left with one gradient only, not the sum of
# n (nor cleared for n = 0)
@wrong(mistakes.one_backward_multiplied)
def class_i_11(param, loss_fn, n):
    param.grad = None
    loss_fn(param).backward()
    g = param.grad
    return [g * (i + 1) for i in range(n)]


# clears .grad at the end instead of at the start: the old .grad is counted in every snapshot AND .grad is None
# afterwards, not the sum of the n gradients
@wrong(says='None where a gradient is expected: .grad after the call.')
def class_i_13(param, loss_fn, n):
    collected = []
    for _ in range(n):
        loss_fn(param).backward()
        collected.append(param.grad.clone())
    # leave everything clean for the next one
    param.grad = None
    return collected


@right
def class_i_14(param, loss_fn, n):
    param.grad = None
    steps = [torch.autograd.grad(loss_fn(param), param)[0] for _ in range(n)]
    sums = [s.clone() for s in accumulate(steps)]
    if sums:
        param.grad = sums[-1].clone()
    return sums


# backward gets create_graph=True, so the snapshots (and .grad) carry a graph wherever the gradient depends on param
@wrong(effects.carries_a_graph)
def class_i_15(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss = loss_fn(param)
        loss.backward(create_graph=True)
        snapshots.append(param.grad.clone())
    return snapshots


# the snapshot is taken before the backward, not after, so the first one is zeros and the last sum is missing
@wrong(mistakes.snapshot_before_backward)
def class_i_16(param, loss_fn, n):
    param.grad = torch.zeros_like(param)
    lst = []
    for i in range(n):
        lst.append(param.grad.clone())
        loss = loss_fn(param)
        loss.backward()
    return lst


# the losses are summed up and the growing total is walked each time, so round k adds k gradients
@wrong(mistakes.running_sum_backward)
def class_i_17(param, loss_fn, n):
    param.grad = None
    total_loss = 0
    snapshots = []
    for _ in range(n):
        total_loss = total_loss + loss_fn(param)
        total_loss.backward(retain_graph=True)
        snapshots.append(param.grad.clone())
    return snapshots


# works on a detached copy of param, so param.grad itself never holds the sum
@wrong(says='None where a gradient is expected: .grad after the call.')
def class_i_18(param, loss_fn, n):
    param.grad = None
    p = param.detach().clone().requires_grad_(True)   # do not touch the original
    out = []
    for _ in range(n):
        loss_fn(p).backward()
        out.append(p.grad.clone())
    return out


@right
def class_i_19(param, loss_fn, n):
    param.grad = torch.zeros_like(param)

    def ledger():
        for _ in range(n):
            torch.autograd.backward(loss_fn(param), inputs=[param])
            yield torch.empty_like(param.grad).copy_(param.grad)

    return list(ledger())


# returns torch.stack of the snapshots, a tensor and not a list, which raises for n = 0
@wrong(effects.wrong_type)
def class_i_20(param, loss_fn, n):
    param.grad = None
    snaps = []
    for _ in range(n):
        loss_fn(param).backward()
        snaps.append(param.grad.clone())
    return torch.stack(snaps)


# the hook is never removed from param, so it goes on writing into the returned list at every later backward
@wrong(mistakes.hooks_left_behind)
def class_i_21(param, loss_fn, n):
    param.grad = None
    record = []
    param.register_post_accumulate_grad_hook(lambda p: record.append(p.grad.clone()))
    for _ in range(n):
        loss_fn(param).backward()
    return record


# divides the loss by n, so the ledger ends at the mean of the gradients AND stores .grad without a copy
@wrong(mistakes.cleared_between_and_not_copied)
def class_i_22(param, loss_fn, n):
    param.grad = None
    grads = []
    for _ in range(n):
        loss = loss_fn(param) / n
        loss.backward()
        grads.append(param.grad.data)
    return grads


# the snapshots go through tolist() and torch.tensor, so a float64 gradient comes back as float32 AND n = 0 returns
# None, not []
@wrong(effects.wrong_dtype)
def class_i_23(param, loss_fn, n):
    param.grad = None
    if n < 1:
        return
    hist = []
    for _ in range(n):
        l = loss_fn(param)
        l.backward()
        hist.append(torch.tensor(param.grad.tolist()))
    return hist


@right
def class_i_24(param, loss_fn, n):
    param.grad = None
    ledger = []
    handle = param.register_post_accumulate_grad_hook(
        lambda p: ledger.append(p.grad.detach().clone()))
    try:
        for _ in range(n):
            loss_fn(param).backward()
    finally:
        handle.remove()
    return ledger


# saves the old .grad and puts it back at the end, so .grad does not hold the sum of the n gradients (and the old
# one is back for n = 0)
@wrong(mistakes.old_gradient_put_back)
def class_i_25(param, loss_fn, n):
    old = None if param.grad is None else param.grad.clone()
    param.grad = None
    snaps = []
    for _ in range(n):
        loss_fn(param).backward()
        snaps.append(param.grad.clone())
    param.grad = old
    return snaps
