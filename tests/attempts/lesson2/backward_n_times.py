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
def optimizer_clears(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.1)
    optimizer.zero_grad()
    snapshots = []
    while len(snapshots) < n:
        loss_fn(param).backward()
        snapshots.append(param.grad + 0)
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


@right
def class_c_08(param, loss_fn, n):
    param.grad = None
    return [loss_fn(param).backward() or param.grad.detach().clone() for _ in range(n)]


# yield makes it a generator: no list comes back, and nothing runs until somebody iterates
@wrong(effects.wrong_type)
def class_c_10(param, loss_fn, n):
    param.grad = None
    for _ in range(n):
        loss_fn(param).backward()
        yield param.grad.clone()


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


@right
def class_d_03(param, loss_fn, n):
    param.grad = None
    out = []
    for _ in range(n):
        loss_fn(param).backward()
        out.append(param.grad.detach().clone())
    return out


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


@right
def class_f_03(param, loss_fn, n):
    snapshots = []
    param.grad = None           # start with an empty ledger
    for i in range(n):
        loss = loss_fn(param)
        loss.backward()
        snapshots.append(param.grad.detach().clone())
    return snapshots


@right
def class_f_07(param, loss_fn, n):
    param.grad = None
    loss = loss_fn(param)

    def again():
        loss.backward(retain_graph=True)
        return param.grad.clone().detach()

    return [again() for _ in range(n)]


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


# create_graph=True and a clone without detach: for most losses the snapshots and .grad carry a graph
@wrong(effects.carries_a_graph)
def class_f_22(param, loss_fn, n):
    param.grad = None
    return [(loss_fn(param).backward(create_graph=True), param.grad.clone())[1] for _ in range(n)]


# autograd.grad gives the single gradients, which are returned without adding them up AND param.grad stays None
# instead of holding the sum
@wrong(mistakes.cleared_after_each_backward)
def class_g_10(param, loss_fn, n):
    param.grad = None
    return [torch.autograd.grad(loss_fn(param), param)[0] for _ in range(n)]


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


# only one backward is run and the snapshots are its multiples, so param.grad holds one gradient instead of the sum
# of n (right for n = 1 only; for n = 0 .grad is filled)
@wrong(mistakes.one_backward_multiplied)
def class_g_23(param, loss_fn, n):
    param.grad = None
    loss_fn(param).backward()
    g = param.grad.clone()
    # the gradient is the same each time anyway
    return [g * (i + 1) for i in range(n)]


@right
def class_g_25(param, loss_fn, n):
    del param.grad

    def one(_):
        torch.autograd.backward(loss_fn(param), inputs=[param])
        return deepcopy(param.grad)

    return list(map(one, range(n)))


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
@wrong(says='digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
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


@right
def class_h_23(param, loss_fn, n):
    torch.optim.SGD([param], lr=0.1).zero_grad(set_to_none=True)

    def walk():
        torch.autograd.backward(loss_fn(param))
        return copy.deepcopy(param.grad)

    return [walk() for _ in range(n)]


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


# clears .grad at the end instead of at the start: the old .grad is counted in every snapshot AND .grad is None
# afterwards, not the sum of the n gradients
@wrong(mistakes.cleared_at_the_end_and_not_before)
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


@right
def class_i_19(param, loss_fn, n):
    param.grad = torch.zeros_like(param)

    def ledger():
        for _ in range(n):
            torch.autograd.backward(loss_fn(param), inputs=[param])
            yield torch.empty_like(param.grad).copy_(param.grad)

    return list(ledger())


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




@wrong(mistakes.cleared_at_the_end_and_not_before)
def zeroed_by_an_optimizer_at_the_end(param, loss_fn, n):
    optimizer = torch.optim.SGD([param], lr=0.1)
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.detach().clone())
    optimizer.zero_grad(set_to_none=False)
    return snapshots
