"""Attempts at exercise 1.3, parameter_gradients: what learners write, and what the check must say of it."""

import numpy as np
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from torch import autograd
from torch.autograd.functional import vjp
from torch.func import functional_call
from torch.func import grad
from torch.func import jacrev
from torch.func import jvp
import contextlib
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson1.parameter_gradients import mistakes


@raised(effects.backward_needs_scalar)
def backward_of_the_output(model, loss_fn, x, y):
    model(x).backward()
    return {n: p.grad.clone() for n, p in model.named_parameters()}


@raised(mistakes.frozen_parameter_listed)
def all_parameters_asked(model, loss_fn, x, y):
    named = dict(model.named_parameters())
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, grads))


@raised(effects.grad_is_none)
def zeroes_before_the_first_backward(model, loss_fn, x, y):
    for p in model.parameters():
        p.grad.zero_()
    loss_fn(model(x), y).backward()
    return {n: p.grad.clone() for n, p in model.named_parameters()}


# One graph for all parameters, freed by the first question.
@raised(mistakes.asked_one_by_one)
def grad_in_a_loop(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    return {n: torch.autograd.grad(loss, p)[0] for n, p in model.named_parameters() if p.requires_grad}


@raised(mistakes.asked_one_by_one)
def grad_in_a_loop_unused_allowed(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    out = {}
    for n, p in model.named_parameters():
        if p.requires_grad:
            g = torch.autograd.grad(loss, p, allow_unused=True)[0]
            out[n] = torch.zeros_like(p) if g is None else g
    return out


@raised(mistakes.asked_one_by_one)
def backward_and_then_grad(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()), allow_unused=True)))


@raised(effects.no_graph)
def forward_in_no_grad(model, loss_fn, x, y):
    with torch.no_grad():
        loss = loss_fn(model(x), y)
    loss.backward()
    return {n: p.grad for n, p in model.named_parameters()}


@raised(mistakes.unused_parameter_missing)
def unused_not_allowed(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    return dict(zip(named, torch.autograd.grad(loss_fn(model(x), y), list(named.values()))))


# backward adds, so what it added is the difference; the old tensors are put back.
@wrong(mistakes.subtracted_old_gradients)
def after_minus_before(model, loss_fn, x, y):
    before = {n: None if p.grad is None else p.grad.detach().clone() for n, p in model.named_parameters()}
    loss_fn(model(x), y).backward()
    result = {}
    for n, p in model.named_parameters():
        if p.requires_grad:
            now = torch.zeros_like(p) if p.grad is None else p.grad.clone()
            result[n] = now - before[n] if before[n] is not None else now
        p.grad = before[n]
    return result


@right
def autograd_grad(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, grads))


# The tensors in .grad are taken off, and the very same ones are hung back.
@right
def backward_with_grad_set_aside(model, loss_fn, x, y):
    held = [p.grad for p in model.parameters()]
    for p in model.parameters():
        p.grad = None
    try:
        loss_fn(model(x), y).backward()
        return {
            name: torch.zeros_like(p) if p.grad is None else p.grad
            for name, p in model.named_parameters()
            if p.requires_grad
        }
    finally:
        for p, g in zip(model.parameters(), held):
            p.grad = g


# One directional derivative for each entry of each parameter: slow, and right.
@right
def forward_mode_entry_by_entry(model, loss_fn, x, y):
    values = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def loss(values):
        return loss_fn(functional_call(model, values, (x,)), y)

    result = {}
    for name, value in values.items():
        slopes = []
        for unit in torch.eye(value.numel(), dtype=value.dtype, device=value.device):
            direction = {n: torch.zeros_like(v) for n, v in values.items()}
            direction[name] = unit.reshape(value.shape)
            slopes.append(jvp(loss, (values,), (direction,))[1])
        result[name] = torch.stack(slopes).reshape(value.shape)
    return result


# Own leaves with the parameters' values: whatever lands in their .grad is nobody else's.
@right
def fresh_leaves(model, loss_fn, x, y):
    leaves = {n: p.detach().clone().requires_grad_() for n, p in model.named_parameters() if p.requires_grad}
    loss_fn(torch.func.functional_call(model, leaves, (x,)), y).backward()
    return {n: torch.zeros_like(leaf) if leaf.grad is None else leaf.grad.detach() for n, leaf in leaves.items()}


@right
def func_vjp(model, loss_fn, x, y):
    values = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
    loss, pull = torch.func.vjp(lambda v: loss_fn(torch.func.functional_call(model, v, x), y), values)
    return pull(torch.ones_like(loss))[0]


# autograd.grad runs tensor hooks too; the hooks collect, nothing is accumulated.
@right
def hooks_catch_the_gradients(model, loss_fn, x, y):
    caught, handles = {}, []
    for name, p in model.named_parameters():
        if p.requires_grad:
            caught[name] = torch.zeros_like(p, requires_grad=False)
            handles.append(p.register_hook(lambda g, name=name: caught.__setitem__(name, g.detach().clone())))
    try:
        torch.autograd.grad(loss_fn(model(x), y), [p for p in model.parameters() if p.requires_grad], allow_unused=True)
    finally:
        for handle in handles:
            handle.remove()
    return caught


@right
def as_jacrev(model, loss_fn, x, y):
    def loss(values):
        return loss_fn(functional_call(model, values, (x,)), y)

    return jacrev(loss)({n: p.detach().clone() for n, p in model.named_parameters() if p.requires_grad})


@wrong(mistakes.added_to_old_gradients)
def backward_and_read(model, loss_fn, x, y):
    loss_fn(model(x), y).backward()
    return {
        name: torch.zeros_like(p) if p.grad is None else p.grad.clone()
        for name, p in model.named_parameters()
        if p.requires_grad
    }


@wrong(says='`weight`, .grad is None after the call: False; it should be: True.')
def skips_what_has_none(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


@wrong(mistakes.caller_gradients_cleared)
def left_it_clean(model, loss_fn, x, y):
    model.zero_grad()
    loss_fn(model(x), y).backward()
    result = {
        n: p.grad.clone() if p.grad is not None else torch.zeros_like(p)
        for n, p in model.named_parameters()
        if p.requires_grad
    }
    model.zero_grad()
    return result


@wrong(mistakes.caller_gradients_zeroed)
def set_to_none_false(model, loss_fn, x, y):
    model.zero_grad()
    loss_fn(model(x), y).backward()
    result = {
        n: p.grad.clone() if p.grad is not None else torch.zeros_like(p)
        for n, p in model.named_parameters()
        if p.requires_grad
    }
    model.zero_grad(set_to_none=False)
    return result


@wrong(effects.changed_mode)
def left_in_eval(model, loss_fn, x, y):
    model.eval()
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, grads))


# Switches to train mode: dropout draws, batch norm counts, and the caller's model stays changed.
@wrong(mistakes.ran_in_train_mode)
def train_mode_for_a_backward(model, loss_fn, x, y):
    model.train()
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, grads))


# A training step where only the gradients were asked.
@wrong(effects.changed_parameters)
def took_a_step(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    with torch.no_grad():
        for p, g in zip(named.values(), grads):
            p -= 0.01 * g
    return dict(zip(named, grads))


@wrong(effects.changed_requires_grad)
def thawed_the_model(model, loss_fn, x, y):
    trainable = [n for n, p in model.named_parameters() if p.requires_grad]
    model.requires_grad_(True)
    named = dict(model.named_parameters())
    grads = torch.autograd.grad(loss_fn(model(x), y), [named[n] for n in trainable], allow_unused=True)
    return {n: torch.zeros_like(named[n]) if g is None else g for n, g in zip(trainable, grads)}


@wrong(mistakes.frozen_parameter_listed)
def zeros_for_frozen(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    result = {}
    for name, p in model.named_parameters():
        g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0] if p.requires_grad else None
        result[name] = torch.zeros_like(p) if g is None else g
    return result


@wrong(mistakes.gradients_left_behind)
def optimizer_zero_grad(model, loss_fn, x, y):
    torch.optim.SGD(model.parameters(), lr=0.1).zero_grad()
    loss_fn(model(x), y).backward()
    result = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            result[name] = torch.zeros_like(p) if p.grad is None else p.grad.clone()
    return result


@wrong(mistakes.returned_grad_itself)
def zero_grad_first(model, loss_fn, x, y):
    model.zero_grad()
    loss_fn(model(x), y).backward()
    return {
        n: p.grad if p.grad is not None else torch.zeros_like(p) for n, p in model.named_parameters() if p.requires_grad
    }


@wrong(mistakes.kept_a_reference)
def difference_of_one_tensor(model, loss_fn, x, y):
    before = {n: p.grad for n, p in model.named_parameters()}
    loss_fn(model(x), y).backward()
    result = {}
    for n, p in model.named_parameters():
        if p.requires_grad:
            now = p.grad if p.grad is not None else torch.zeros_like(p)
            result[n] = now.clone() if before[n] is None else now - before[n]
    return result


# The saved tensors are the ones backward added to; only where None was is None again.
@wrong(mistakes.kept_a_reference)
def hung_back_what_was_added_to(model, loss_fn, x, y):
    before = {n: p.grad for n, p in model.named_parameters()}
    loss_fn(model(x), y).backward()
    result = {}
    for n, p in model.named_parameters():
        if p.requires_grad:
            now = p.grad if p.grad is not None else torch.zeros_like(p)
            result[n] = now.clone() if before[n] is None else now - before[n]
        p.grad = before[n]
    return result


# One backward for each row adds the rows up; their mean was asked.
@wrong(mistakes.loss_not_averaged)
def a_backward_for_each_row(model, loss_fn, x, y):
    twin = copy.deepcopy(model)
    for row, target in zip(x, y):
        loss_fn(twin(row[None]), target[None]).backward()
    return {n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in twin.named_parameters() if p.requires_grad}


# Writes its own squared error, a sum, where loss_fn was handed in.
@wrong(mistakes.summed_squared_error_for_loss_fn)
def own_loss_for_loss_fn(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    loss = ((model(x) - y) ** 2).sum()
    grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, grads))


@wrong(mistakes.biases_left_out)
def weights_only(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad and "bias" not in n}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, grads))


@wrong(mistakes.none_became_zeros)
def restored_into_zeros(model, loss_fn, x, y):
    for p in model.parameters():
        if p.requires_grad and p.grad is None:
            p.grad = torch.zeros_like(p)
    saved = {n: p.grad.clone() for n, p in model.named_parameters() if p.requires_grad}
    model.zero_grad(set_to_none=False)
    loss_fn(model(x), y).backward()
    result = {n: p.grad.clone() for n, p in model.named_parameters() if p.requires_grad}
    for n, p in model.named_parameters():
        if p.requires_grad:
            p.grad.copy_(saved[n])
    return result


# Gamed: the hand formula of one linear layer, whatever the model is.
@wrong(says='holds nothing but zeros: on case 3, `0.weight`, `0.bias`, `2.weight` and `2.bias`.')
def formula_of_a_linear_model(model, loss_fn, x, y):
    signal = 2 * (model(x) - y).detach() / y.numel()
    result = {}
    for name, p in model.named_parameters():
        if name == "weight":
            result[name] = signal.T @ x
        elif name == "bias":
            result[name] = signal.sum(0)
        elif p.requires_grad:
            result[name] = torch.zeros_like(p)
    return result


@wrong(mistakes.returned_live_grad)
def zeroed_after_collecting(model, loss_fn, x, y):
    model.zero_grad()
    loss_fn(model(x), y).backward()
    result = {
        n: p.grad if p.grad is not None else torch.zeros_like(p) for n, p in model.named_parameters() if p.requires_grad
    }
    model.zero_grad(set_to_none=False)
    return result


@wrong(mistakes.grad_in_place_of_a_result)
def thinks_grad_is_the_answer(model, loss_fn, x, y):
    model.zero_grad()
    loss_fn(model(x), y).backward()


@wrong(mistakes.tied_parameter_twice)
def every_name_of_it(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters(remove_duplicate=False) if p.requires_grad}
    loss = loss_fn(model(x), y)
    result = {}
    for name, p in named.items():
        g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
        result[name] = torch.zeros_like(p) if g is None else g
    return result


@wrong(mistakes.unused_parameter_missing)
def left_out(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True)
    return {n: g for n, g in zip(named, grads) if g is not None}


@wrong(mistakes.unused_parameter_none)
def as_autograd_says(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), tuple(named.values()), allow_unused=True)
    return dict(zip(named.keys(), grads))


@wrong(effects.wrong_dtype)
def numpy_friendly_floats(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return {n: g.float() for n, g in zip(named, grads)}


@wrong(effects.wrong_type)
def list_without_names(model, loss_fn, x, y):
    params = [p for p in model.parameters() if p.requires_grad]
    return list(torch.autograd.grad(loss_fn(model(x), y), params, allow_unused=True, materialize_grads=True))


@wrong(effects.wrong_type)
def norms(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return {n: g.norm().item() for n, g in zip(named, grads)}


# nothing is cleared first, so the old .grad is added in AND .grad is left filled AND an unused parameter gets None
@wrong(mistakes.added_to_old_gradients)
def class_a_01(model, loss_fn, x, y):
    # forward
    y_pred = model(x)
    loss = loss_fn(y_pred, y)
    # backward
    loss.backward()
    grads = {}
    for name, param in model.named_parameters():
        if param.requires_grad:
            grads[name] = param.grad
    return grads


@right
def class_a_02(model, loss_fn, x, y):
    names, params = [], []
    for name, p in model.named_parameters():
        if p.requires_grad:
            names.append(name)
            params.append(p)

    # batch norm and friends may only write into copies of their buffers
    old_buffers = [(m, m._buffers) for m in model.modules()]
    for m, bufs in old_buffers:
        m._buffers = {k: None if b is None else b.clone() for k, b in bufs.items()}
    try:
        with torch.random.fork_rng():
            loss = loss_fn(model(x), y)
            if params and loss.requires_grad:
                grads = torch.autograd.grad(loss, params, allow_unused=True)
            else:
                grads = [None] * len(params)
    finally:
        for m, bufs in old_buffers:
            m._buffers = bufs

    result = {}
    for name, p, g in zip(names, params, grads):
        if g is None:
            g = torch.zeros_like(p)
        result[name] = g.detach()
    return result


# the optimizer takes a step, so the parameters are changed AND the old .grad is lost
@wrong(mistakes.gradients_left_behind)
def class_a_03(model, loss_fn, x, y):
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = optim.SGD(trainable, lr=0.01)
    optimizer.zero_grad()
    output = model(x)
    loss = loss_fn(output, y)
    loss.backward()
    optimizer.step()
    grads = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            if p.grad is None:
                grads[name] = torch.zeros_like(p)
            else:
                grads[name] = p.grad.clone()
    return grads


# loss_fn is called as (y_true, y_pred): its two arguments are swapped
@wrong(mistakes.loss_arguments_swapped)
def class_a_05(model, loss_fn, x, y):
    y_pred = model(x)
    loss = loss_fn(y, y_pred)
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, [p for _, p in named], allow_unused=True)
    out = dict()
    for (n, p), g in zip(named, grads):
        out[n] = torch.zeros_like(p) if g is None else g
    return out


@right
def class_a_06(model, loss_fn, x, y):
    trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
    saved_grads = {n: p.grad for n, p in trainable.items()}
    saved_buffers = [(mod, name, buf, buf.clone())
                     for mod in model.modules()
                     for name, buf in mod._buffers.items() if buf is not None]
    out = {}
    try:
        for p in trainable.values():
            p.grad = None          # the old tensor is safe in saved_grads
        with torch.random.fork_rng():
            loss = loss_fn(model(x), y)
            if trainable and loss.requires_grad:
                # inputs=...: x, y or a weight in loss_fn must not get a .grad
                loss.backward(inputs=list(trainable.values()))
        for n, p in trainable.items():
            out[n] = torch.zeros_like(p, requires_grad=False) if p.grad is None else p.grad
    finally:
        for n, p in trainable.items():
            p.grad = saved_grads[n]
        with torch.no_grad():
            for mod, name, buf, value in saved_buffers:
                buf.copy_(value)
                mod._buffers[name] = buf
    return out


# the old .grad is put back with copy_ into the very tensor that the result holds: where there was an old .grad, the
# result shows that one
@wrong(mistakes.copied_back_into_the_result)
def class_a_07(model, loss_fn, x, y):
    # remember the old gradients
    old = {}
    for name, p in model.named_parameters():
        old[name] = p.grad.clone() if p.grad is not None else None
    model.zero_grad(set_to_none=False)

    loss_fn(model(x), y).backward()

    result = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            result[name] = p.grad if p.grad is not None else torch.zeros_like(p.data)

    # restore
    for name, p in model.named_parameters():
        if old[name] is not None:
            p.grad.copy_(old[name])
        else:
            p.grad = None
    return result


# a .grad that was None comes back as zeros
@wrong(mistakes.none_became_zeros)
def class_a_08(model, loss_fn, x, y):
    backup = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            if p.grad is None:
                p.grad = torch.zeros_like(p)
            backup[name] = p.grad.clone()
            p.grad.zero_()

    loss = loss_fn(model(x), y)
    loss.backward()

    grads = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            grads[name] = p.grad.clone()
            p.grad = backup[name]
    return grads


@right
def class_a_10(model, loss_fn, x, y):
    # one fresh leaf for each parameter (a tied one: the same leaf in all its places)
    copies = {p: p.detach().clone().requires_grad_(p.requires_grad) for p in model.parameters()}
    state = {}
    for path, module in model.named_modules():
        dot = path + "." if path else ""
        state.update({dot + k: copies[p] for k, p in module._parameters.items() if p is not None})
        state.update({dot + k: b.detach().clone() for k, b in module._buffers.items() if b is not None})
    free = {n: copies[p] for n, p in model.named_parameters() if p.requires_grad}

    with torch.random.fork_rng():
        loss = loss_fn(functional_call(model, state, (x,), tie_weights=False), y)
    if not (free and loss.requires_grad):
        return {n: torch.zeros_like(c).detach() for n, c in free.items()}
    grads = torch.autograd.grad(loss, tuple(free.values()), allow_unused=True, materialize_grads=True)
    return {n: g.detach() for n, g in zip(free, grads)}


# the names of all parameters are paired with the gradients of the trainable ones: a frozen parameter shifts the
# names
@wrong(effects.wrong_shape)
def class_a_11(model, loss_fn, x, y):
    names = [n for n, _ in model.named_parameters()]
    params = list(filter(lambda p: p.requires_grad, model.parameters()))
    gs = torch.autograd.grad(loss_fn(model(x), y), params, allow_unused=True, materialize_grads=True)
    return {n: g for n, g in zip(names, gs)}


# the gradient is taken for all named parameters, so a frozen one has an entry too
@wrong(mistakes.frozen_parameter_listed)
def class_a_12(model, loss_fn, x, y):
    params = {k: v.detach() for k, v in model.named_parameters()}
    buffers = {k: v.detach().clone() for k, v in model.named_buffers()}

    def compute_loss(params, buffers):
        prediction = functional_call(model, (params, buffers), (x,))
        return loss_fn(prediction, y)

    return grad(compute_loss)(params, buffers)


@right
def class_a_14(model, loss_fn, x, y):
    clone = copy.deepcopy(model)     # own parameters, own buffers, own .grad
    clone.zero_grad(set_to_none=True)
    ps = dict((n, p) for n, p in clone.named_parameters() if p.requires_grad)
    with torch.random.fork_rng():
        loss = loss_fn(clone(x), y)
        if len(ps) > 0 and loss.requires_grad:
            loss.backward(inputs=list(ps.values()))
    result = {}
    for n, p in ps.items():
        result[n] = p.grad if p.grad is not None else torch.zeros_like(p).detach()
    return result


# the hooks are never removed AND .grad is changed by backward
@wrong(mistakes.sum_left_in_grad)
def class_a_16(model, loss_fn, x, y):
    caught = {}

    def catcher(name):
        def hook(g):
            caught[name] = g.clone()
        return hook

    for name, p in model.named_parameters():
        if p.requires_grad:
            caught[name] = torch.zeros_like(p.data)
            p.register_hook(catcher(name))
    loss = loss_fn(model(x), y)
    loss.backward()
    return caught


# the gradient is taken in eval mode AND the model is left in train mode
@wrong(effects.changed_mode)
def class_a_17(model, loss_fn, x, y):
    model.eval()      # we only measure, we don't train
    params = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    grads = torch.autograd.grad(loss, list(params.values()), allow_unused=True)
    model.train()
    result = {}
    for (name, p), g in zip(params.items(), grads):
        if g is None:
            result[name] = torch.zeros_like(p.data)
        else:
            result[name] = g
    return result


# the zeros of an unused parameter are always float32, on the CPU: another dtype in a float64 model
@wrong(effects.wrong_dtype)
def class_a_18(model, loss_fn, x, y):
    items = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss_fn(model(x), y), [p for n, p in items], allow_unused=True)
    return {n: torch.zeros(p.shape) if g is None else g for (n, p), g in zip(items, grads)}


@right
def class_a_19(model, loss_fn, x, y):
    seen = set()

    def collect(module, prefix):
        found = []
        if id(module) in seen:
            return found
        seen.add(id(module))
        for name, p in module._parameters.items():
            if p is not None and id(p) not in seen:
                seen.add(id(p))
                if p.requires_grad:
                    found.append((prefix + name, p))
        for name, child in module.named_children():
            found += collect(child, prefix + name + ".")
        return found

    wanted = collect(model, "")

    # the forward pass gets copies of the buffers and a fork of the random numbers
    kept = [(m, m._buffers) for m in model.modules()]
    for m, b in kept:
        m._buffers = type(b)((k, v if v is None else v.clone()) for k, v in b.items())
    with torch.random.fork_rng():
        loss = loss_fn(model(x), y)
        answer = {}
        for name, p in wanted:
            g = None
            if loss.requires_grad:
                g, = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)
            answer[name] = p.detach() * 0 if g is None else g
            if g is None:
                answer[name].zero_()
    for m, b in kept:
        m._buffers = b
    return answer


# the gradient is only approximated, by forward differences with h = 1e-3
@wrong()
def class_a_20(model, loss_fn, x, y):
    # like exercise 1.1, for each weight. No .grad touched at all!
    h = 1e-3
    grads = {}
    with torch.no_grad():
        for name, p in model.named_parameters():
            if not p.requires_grad:
                continue
            here = loss_fn(model(x), y)
            original = p.clone()
            g = torch.zeros_like(p)
            for i in range(p.numel()):
                step = torch.zeros(p.numel(), dtype=p.dtype, device=p.device)
                step[i] = h
                step = step.reshape(p.shape)
                p.copy_(original + step)
                up = loss_fn(model(x), y)
                g.view(-1)[i] = (up - here) / h
                p.copy_(original)
            grads[name] = g
    return grads


# the forward pass runs under no_grad, so there is no graph and backward raises
@raised(effects.no_graph)
def class_a_21(model, loss_fn, x, y):
    old = {n: p.grad for n, p in model.named_parameters()}
    for p in model.parameters():
        p.grad = None
    with torch.no_grad():      # so that nothing is left behind
        loss = loss_fn(model(x), y)
    loss.backward()
    grads = {n: p.grad for n, p in model.named_parameters() if p.requires_grad}
    for n, p in model.named_parameters():
        p.grad = old[n]
    return grads


# the gradient of the mean loss is divided by the batch size once more AND an unused parameter has no entry
@wrong(mistakes.averaged_twice)
def class_a_22(model, loss_fn, x, y):
    n = x.shape[0]
    loss = loss_fn(model(x), y)
    gradients = {}
    for name, param in model.named_parameters():
        if param.requires_grad:
            g = torch.autograd.grad(loss, param, retain_graph=True, allow_unused=True)[0]
            if g is not None:
                gradients[name] = g / n    # mean over the batch
    return gradients


class Untouched:
    """Whatever happens inside, the model's .grad, buffers and the random state come back."""

    def __init__(self, model):
        self.model = model

    def __enter__(self):
        self.rng = torch.random.fork_rng()
        self.rng.__enter__()
        self.grads = [(p, p.grad) for p in self.model.parameters()]
        for p, _ in self.grads:
            p.grad = None
        self.bufs = [(m, dict(m._buffers)) for m in self.model.modules()]
        for m, d in self.bufs:
            for k, b in d.items():
                if b is not None:
                    m._buffers[k] = b.clone()
        return self

    def __exit__(self, *error):
        for p, g in self.grads:
            p.grad = g
        for m, d in self.bufs:
            m._buffers.clear()
            m._buffers.update(d)
        self.rng.__exit__(*error)
        return False

@right
def class_a_23(model, loss_fn, x, y):
    with Untouched(model):
        names = [n for n, p in model.named_parameters() if p.requires_grad]
        leaves = [p for p in model.parameters() if p.requires_grad]
        loss = loss_fn(model(x), y)
        if leaves and loss.requires_grad:
            torch.autograd.backward(loss, inputs=leaves)
        grads = [p.grad if p.grad is not None else p.new_zeros(p.shape) for p in leaves]
    return dict(zip(names, grads))


# only the direct children that are nn.Linear are looked at: other layers, nested ones and own parameters are
# missing
@wrong(effects.missing_entries)
def class_a_24(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    grads = {}
    for name, layer in model.named_children():
        if isinstance(layer, nn.Linear):
            for pname, p in [("weight", layer.weight), ("bias", layer.bias)]:
                if p is not None and p.requires_grad:
                    g, = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)
                    grads[name + "." + pname] = g if g is not None else torch.zeros_like(p.data)
    return grads


# remove_duplicate=False: a tied parameter appears once for each of its names
@wrong(mistakes.tied_parameter_twice)
def class_a_26(model, loss_fn, x, y):
    # remove_duplicate=False so that we do not lose any name
    entries = [(n, p) for n, p in model.named_parameters(remove_duplicate=False) if p.requires_grad]
    loss = loss_fn(model(x), y)
    grads = torch.autograd.grad(loss, [p for _, p in entries], allow_unused=True)
    result = {}
    for (n, p), g in zip(entries, grads):
        result[n] = torch.zeros_like(p.detach()) if g is None else g.detach()
    return result


# the forward pass in train mode is not undone: it moves the running statistics of batch norm and the random state
# (dropout)
@right
def class_a_27(model, loss_fn, x, y):
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    if not named:
        return {}
    loss = loss_fn(model(x), y)
    if not loss.requires_grad:
        return {n: torch.zeros_like(p.detach()) for n, p in named}
    grads = torch.autograd.grad(loss, [p for _, p in named], allow_unused=True)
    return {n: torch.zeros_like(p.detach()) if g is None else g for (n, p), g in zip(named, grads)}


# the old gradients are saved by reference and then zeroed in place, so what is put back as "old" is the new
# gradient
@wrong(mistakes.kept_a_reference)
def class_b_01(model, loss_fn, x, y):
    # remember what was there
    old = {}
    for name, p in model.named_parameters():
        old[name] = p.grad

    model.zero_grad(set_to_none=False)
    loss = loss_fn(model(x), y)
    loss.backward()

    result = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            if p.grad is None:
                result[name] = torch.zeros_like(p)
            else:
                result[name] = p.grad.clone()

    # put it back
    for name, p in model.named_parameters():
        p.grad = old[name]
    return result


@right
def class_b_02(model, loss_fn, x, y):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    scratch = {n: b.clone() for n, b in model.named_buffers()}
    with torch.random.fork_rng():
        loss = loss_fn(functional_call(model, scratch, (x.clone(),)), y)
    if not params or not loss.requires_grad:
        return {n: torch.zeros_like(p) for n, p in params.items()}
    grads = torch.autograd.grad(loss, list(params.values()),
                                allow_unused=True, materialize_grads=True)
    return dict(zip(params, grads))


# the return stands inside the loop, so only the first trainable parameter gets an entry
@wrong(effects.missing_entries)
def class_b_04(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    grads = {}
    for name, param in model.named_parameters():
        if param.requires_grad:
            g = torch.autograd.grad(loss, param, retain_graph=True, allow_unused=True)[0]
            if g is None:
                g = torch.zeros_like(param)
            grads[name] = g
            return grads
    return grads


# the names come from state_dict, which also lists buffers, frozen and tied entries, so names and gradients get out
# of step
@wrong(effects.wrong_shape)
def class_b_05(model, loss_fn, x, y):
    ps = [p for p in model.parameters() if p.requires_grad]
    gs = torch.autograd.grad(loss_fn(model(x), y), ps, allow_unused=True, materialize_grads=True)
    return dict(zip(model.state_dict(), gs))


# the prediction is squeezed before the loss: a (n, 1) output broadcasts against (n, 1) targets, and a batch of one
# loses its batch dimension
@wrong(says='On case 11: loss_fn was called with prediction and target of shapes ([6], [6, 1]); asked for are ([6, 1], [6, 1]).')
def class_b_06(model, loss_fn, x, y):
    pred = model(x).squeeze()   # (n, 1) -> (n,)
    loss = loss_fn(pred, y)
    names, weights = [], []
    for n, p in model.named_parameters():
        if p.requires_grad:
            names.append(n)
            weights.append(p)
    grads = torch.autograd.grad(loss, weights, allow_unused=True)
    out = {}
    for n, w, g in zip(names, weights, grads):
        out[n] = torch.zeros_like(w) if g is None else g.detach()
    return out


@right
def class_b_07(model, loss_fn, x, y):
    # everything happens on a twin, the real model never sees a backward
    twin = copy.deepcopy(model)
    for p in twin.parameters():
        p.grad = None

    leaves = [p for p in twin.parameters() if p.requires_grad]
    with torch.random.fork_rng():
        loss = loss_fn(twin(x.detach().clone()), y.detach())
        if leaves and loss.requires_grad:
            loss.backward(inputs=leaves)

    result = {}
    for name, p in twin.named_parameters():
        if not p.requires_grad:
            continue
        if p.grad is None:
            result[name] = torch.zeros_like(p)
        else:
            result[name] = p.grad
    return result


# an unused parameter gets p * 0, which carries a graph (and is nan where the parameter is infinite)
@wrong(effects.carries_a_graph)
def class_b_09(model, loss_fn, x, y):
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    gs = torch.autograd.grad(loss_fn(model(x), y), [p for _, p in named], allow_unused=True)
    return {n: p * 0 if g is None else g for (n, p), g in zip(named, gs)}


# tied parameters are recognised by equal values, so two separate parameters that happen to be equal (two zero
# biases) become one
@wrong(effects.missing_entries)
def class_b_10(model, loss_fn, x, y):
    seen = {}
    for name, p in model.named_parameters(remove_duplicate=False):
        if not p.requires_grad:
            continue
        # tied weights: same numbers -> already in the list
        if any(torch.equal(p, q) for q in seen.values()):
            continue
        seen[name] = p

    loss = loss_fn(model(x), y)
    grads = torch.autograd.grad(loss, list(seen.values()), allow_unused=True)
    return {name: (torch.zeros_like(p) if g is None else g)
            for (name, p), g in zip(seen.items(), grads)}


@contextlib.contextmanager
def _untouched(model):
    params = list(model.parameters())
    grads = [p.grad for p in params]
    owners = [(m, k, b, b.clone()) for m in model.modules()
              for k, b in m._buffers.items() if b is not None]
    for p in params:
        p.grad = None
    try:
        with torch.random.fork_rng():
            yield
    finally:
        for p, g in zip(params, grads):
            p.grad = g
        with torch.no_grad():
            for m, k, b, values in owners:
                b.copy_(values)
                m._buffers[k] = b

@right
def class_b_11(model, loss_fn, x, y):
    wanted = {n: p for n, p in model.named_parameters() if p.requires_grad}
    answer = {}
    with _untouched(model):
        loss = loss_fn(model(x.detach().clone()), y.detach())
        if wanted and loss.requires_grad:
            loss.backward(inputs=list(wanted.values()))
        for n, p in wanted.items():
            answer[n] = torch.zeros_like(p) if p.grad is None else p.grad
    return answer


# the global seed is set AND the zeros of an unused parameter are always float32 on the CPU
@wrong(effects.changed_rng)
def class_b_12(model, loss_fn, x, y):
    torch.manual_seed(0)  # reproducible
    out = loss_fn(model(x), y)
    grads = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            g, = torch.autograd.grad(out, p, retain_graph=True, allow_unused=True)
            grads[name] = g if g is not None else torch.zeros(p.shape)
    return grads


# "g or zeros" asks a tensor for its truth value: RuntimeError as soon as a gradient has more than one entry
@raised(effects.truth_of_a_tensor)
def class_b_13(model, loss_fn, x, y):
    params = dict((n, p) for n, p in model.named_parameters() if p.requires_grad)
    grads = torch.autograd.grad(loss_fn(model(x), y), tuple(params.values()), allow_unused=True)
    return {n: g or torch.zeros_like(params[n]) for n, g in zip(params, grads)}


# the .grad that was None is not put back to None: only old gradients that existed are restored
@wrong(says='`weight`, .grad is None after the call: False; it should be: True.')
def class_b_14(model, loss_fn, x, y):
    saved = {}
    for name, p in model.named_parameters():
        if p.grad is not None:
            saved[name] = p.grad.clone()
        p.grad = None

    loss = loss_fn(model(x), y)
    loss.backward()

    grads = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            grads[name] = p.grad.clone() if p.grad is not None else torch.zeros_like(p)

    for name, p in model.named_parameters():
        if name in saved:
            p.grad = saved[name]
    return grads


@right
def class_b_15(model, loss_fn, x, y):
    theta = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
    if not theta:
        return {}
    rest = {n: p.detach() for n, p in model.named_parameters() if not p.requires_grad}

    def loss_of(*values):
        # buffers are cloned in here: batch norm writes into the clones
        state = {n: b.clone() for n, b in model.named_buffers()}
        return loss_fn(functional_call(model, {**rest, **dict(zip(theta, values)), **state}, (x.clone(),)), y)

    with torch.random.fork_rng():
        _, grads = vjp(loss_of, tuple(theta.values()))
    return {n: g.detach() for n, g in zip(theta, grads)}


# the batch is cut into chunks of four and the chunk gradients are averaged evenly, so a short last chunk weighs too
# much (and batch statistics are those of a chunk)
@wrong(says='On case 1: loss_fn was called with prediction and target of shapes ([2, 2], [2, 2]) and ([4, 2], [4, 2]); asked for are ([6, 2], [6, 2]).')
def class_b_16(model, loss_fn, x, y):
    weights = {n: p for n, p in model.named_parameters() if p.requires_grad}
    total = {n: torch.zeros_like(p) for n, p in weights.items()}
    batches = list(zip(x.split(4), y.split(4)))
    for xb, yb in batches:                      # mini batches, saves memory
        loss = loss_fn(model(xb), yb)
        gs = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
        for n, g in zip(weights, gs):
            if g is not None:
                total[n] += g / len(batches)
    return total


# the model is built anew by type(model)() without its constructor's arguments: TypeError for Linear, a
# load_state_dict error for Sequential AND where no arguments are needed its initialisation draws random numbers and
# makes float32 weights
@raised(effects.another_signature)
def class_b_17(model, loss_fn, x, y):
    fresh = type(model)()
    fresh.load_state_dict(model.state_dict())
    fresh.train(model.training)
    for p_new, p_old in zip(fresh.parameters(), model.parameters()):
        p_new.requires_grad = p_old.requires_grad
    loss = loss_fn(fresh(x), y)
    loss.backward()
    return {n: p.grad if p.grad is not None else torch.zeros_like(p)
            for n, p in fresh.named_parameters() if p.requires_grad}


@right
def class_b_19(model, loss_fn, x, y):
    wanted = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    found = {n: torch.zeros_like(p) for n, p in wanted}
    old = {n: p.grad for n, p in wanted}
    state = {n: b.clone() for n, b in model.named_buffers()}
    handles = []

    def pick(name):
        def hook(p):
            found[name] = p.grad
            p.grad = None
        return hook

    try:
        for n, p in wanted:
            p.grad = None
            handles.append(p.register_post_accumulate_grad_hook(pick(n)))
        with torch.random.fork_rng():
            loss = loss_fn(torch.func.functional_call(model, state, (x.clone(),)), y)
        if wanted and loss.requires_grad:
            torch.autograd.backward(loss, inputs=[p for _, p in wanted])
    finally:
        for h in handles:
            h.remove()
        for n, p in wanted:
            p.grad = old[n]
    return found


# every parameter is unfrozen first, so frozen ones get an entry AND the model stays unfrozen afterwards
@wrong(mistakes.frozen_parameter_listed)
def class_b_20(model, loss_fn, x, y):
    # make sure autograd tracks everything, otherwise grad() complains
    model.requires_grad_(True)
    names = [n for n, _ in model.named_parameters()]
    loss = loss_fn(model(x), y)
    grads = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True, materialize_grads=True)
    return dict(zip(names, grads))


# the forward runs in eval mode, so dropout and batch norm are left out of the gradient AND model.train() afterwards
# also switches submodules that were in eval mode
@wrong(effects.changed_mode)
def class_b_21(model, loss_fn, x, y):
    was_training = model.training
    model.eval()                     # keeps the buffers and the random state as they are
    loss = loss_fn(model(x), y)
    if was_training:
        model.train()
    ps = {n: p for n, p in model.named_parameters() if p.requires_grad}
    gs = torch.autograd.grad(loss, list(ps.values()), allow_unused=True)
    return {n: torch.zeros_like(p) if g is None else g for (n, p), g in zip(ps.items(), gs)}


@right
def class_b_22(model, loss_fn, x, y):
    found, seen = {}, set()

    def walk(module, prefix):
        for key, p in module._parameters.items():
            if p is not None and id(p) not in seen:
                seen.add(id(p))
                if p.requires_grad:
                    found[prefix + key] = p
        for key, child in module._modules.items():
            if child is not None:
                walk(child, prefix + key + ".")

    walk(model, "")
    spare = {k: b.clone() for k, b in model.named_buffers()}
    with torch.random.fork_rng():
        loss = loss_fn(torch.func.functional_call(model, spare, (x.clone(),)), y)

    def one(p):
        if not loss.requires_grad:
            return torch.zeros_like(p)
        g, = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)
        return torch.zeros_like(p) if g is None else g

    return {name: one(p) for name, p in found.items()}


class Leaves:
    """A second set of parameters and buffers with the values of the first."""

    def __init__(self, model):
        self.model = model
        self.params = {n: p.detach().clone().requires_grad_(p.requires_grad)
                       for n, p in model.named_parameters()}
        self.buffers = {n: b.detach().clone() for n, b in model.named_buffers()}

    def free(self):
        return {n: p for n, p in self.params.items() if p.requires_grad}

    def __call__(self, x):
        return torch.func.functional_call(self.model, {**self.params, **self.buffers}, (x,))

@right
def class_b_25(model, loss_fn, x, y):
    leaves = Leaves(model)
    free = leaves.free()
    with torch.random.fork_rng():
        loss = loss_fn(leaves(x.clone()), y)
    if free and loss.grad_fn is not None:
        loss.backward(inputs=list(free.values()))
    return {n: p.grad if p.grad is not None else torch.zeros_like(p).detach() for n, p in free.items()}


# only attributes called weight and bias are looked for, so a module's own nn.Parameter or the weights of a GRU get
# no entry
@wrong(effects.missing_entries)
def class_b_26(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    grads, done = {}, []
    for layer_name, layer in model.named_modules():
        for kind in ["weight", "bias"]:
            p = getattr(layer, kind, None)
            if not isinstance(p, torch.nn.Parameter) or not p.requires_grad or any(p is q for q in done):
                continue
            done.append(p)
            key = layer_name + "." + kind if layer_name else kind
            g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
            grads[key] = torch.zeros_like(p) if g is None else g
    return grads


# the model runs once for every parameter: with dropout each gradient belongs to another loss, and batch norm's
# buffers move once a parameter
@right
def class_b_27(model, loss_fn, x, y):
    return {n: torch.autograd.grad(loss_fn(model(x), y), p, allow_unused=True, materialize_grads=True)[0]
            for n, p in model.named_parameters() if p.requires_grad}


@right
def class_c_17(model, loss_fn, x, y):
    caught, handles, slots = {}, [], []
    for name, p in model.named_parameters():
        slots.append((p, p.grad))
        if not p.requires_grad:
            continue
        caught[name] = torch.zeros_like(p.data)

        def note(g, name=name):
            caught[name] = caught[name] + g

        handles.append(p.register_hook(note))
        p.grad = None
    try:
        loss = loss_fn(model(x.detach()), y)
        if loss.requires_grad:
            loss.backward()
    finally:
        for h in handles:
            h.remove()
        for p, g in slots:
            p.grad = g
    return {name: g.detach() for name, g in caught.items()}


# loss.item() turns the loss into a float, and a float has no backward: an error on every input
@raised(effects.no_such_attribute)
def class_c_18(model, loss_fn, x, y):
    model.zero_grad()
    loss = loss_fn(model(x), y).item()
    loss.backward()
    return {name: p.grad for name, p in model.named_parameters()}


# central differences in place of an exact gradient: an approximation, very rough in float32
@wrong()
@torch.no_grad()
def class_c_19(model, loss_fn, x, y):
    h = 1e-4
    out = {}
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        g = torch.zeros_like(p).reshape(-1)
        keep = p.detach().clone()
        for i in range(p.numel()):
            bump = torch.zeros(p.numel(), dtype=p.dtype, device=p.device)
            bump[i] = h
            p.copy_(keep + bump.reshape(p.shape))
            up = loss_fn(model(x), y)
            p.copy_(keep - bump.reshape(p.shape))
            down = loss_fn(model(x), y)
            g[i] = (up - down) / (2 * h)
        p.copy_(keep)
        out[name] = g.reshape(p.shape)
    return out


def _collect(module, prefix, seen, found):
    for key, p in module._parameters.items():
        if p is not None and id(p) not in seen:
            seen.add(id(p))
            if p.requires_grad:
                found[prefix + key] = p
    for key, child in module._modules.items():
        if child is not None:
            _collect(child, prefix + key + ".", seen, found)
    return found

@right
def class_c_20(model, loss_fn, x, y):
    found = _collect(model, "", set(), {})
    loss = loss_fn(model(x), y)
    grads = {}
    for name, p in found.items():
        g = None
        if loss.requires_grad:
            # once for each parameter, slow but easy to read
            g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
        grads[name] = torch.zeros_like(p.data) if g is None else g
    return grads


# create_graph=True, so the returned gradients carry a graph AND an unused parameter is left out of the dict
@wrong(effects.carries_a_graph)
def class_c_21(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    out = {}
    for n, p in model.named_parameters():
        if p.requires_grad:
            g = torch.autograd.grad(loss, p, create_graph=True, allow_unused=True)[0]
            if g is not None:
                out[n] = g
    return out


# takes only the weight and bias of the model's direct layers: nested layers, own parameters and other names are
# missing
@wrong(effects.missing_entries)
def class_c_22(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    result = {}
    for name, layer in model.named_children():
        for kind in ("weight", "bias"):
            w = getattr(layer, kind, None)
            if isinstance(w, torch.nn.Parameter) and w.requires_grad and loss.requires_grad:
                g = torch.autograd.grad(loss, w, retain_graph=True, allow_unused=True)[0]
                result[name + "." + kind] = torch.zeros_like(w.data) if g is None else g
    return result


# the zeros for an unused parameter are made with torch.zeros(p.shape): float32 on the CPU even when the model is
# float64
@wrong(effects.wrong_dtype)
def class_c_26(model, loss_fn, x, y):
    todo = [np_ for np_ in model.named_parameters() if np_[1].requires_grad]
    loss = loss_fn(model(x), y)
    res = {}
    for name, p in todo:
        if loss.requires_grad:
            g = torch.autograd.grad(loss, [p], retain_graph=True, allow_unused=True)[0]
        else:
            g = None
        res[name] = g if g is not None else torch.zeros(p.shape)
    return res


# walks over the samples one by one and sums their gradients, but never divides by the number of samples
@wrong(mistakes.loss_not_averaged)
def class_c_27(model, loss_fn, x, y):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    total = {n: torch.zeros_like(p.data) for n, p in params.items()}
    if not params:
        return total
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i + 1]), y[i:i + 1])
        if not loss.requires_grad:
            continue
        gs = torch.autograd.grad(loss, list(params.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(params, gs):
            total[n] += g
    return total


@right
def class_d_04(model, loss_fn, x, y):
    names = []
    params = []
    for name, p in model.named_parameters():
        if p.requires_grad:
            names.append(name)
            params.append(p)
    loss = loss_fn(model(x), y)
    result = {}
    if len(params) == 0 or not loss.requires_grad:
        # nothing depends on the parameters
        for name, p in zip(names, params):
            result[name] = torch.zeros_like(p)
        return result
    grads = torch.autograd.grad(loss, params, allow_unused=True)
    for name, p, g in zip(names, params, grads):
        if g is None:
            g = torch.zeros_like(p)
        result[name] = g.detach().clone()
    return result


# an unused parameter has no entry instead of zeros
@wrong(mistakes.unused_parameter_missing)
def class_d_07(model, loss_fn, x, y):
    backup = {p: p.grad for p in model.parameters()}
    for p in model.parameters():
        p.grad = None

    loss = loss_fn(model(x.detach()), y.detach())
    if loss.grad_fn is not None:
        loss.backward()

    gradients = {}
    for name, p in model.named_parameters():
        # frozen parameters have no grad
        if p.grad is not None:
            gradients[name] = p.grad

    for p in model.parameters():
        p.grad = backup[p]
    return gradients


# optimizer.step() moves the parameters of the model AND the old .grad is lost and a new one left
@wrong(mistakes.gradients_left_behind)
def class_d_08(model, loss_fn, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    optimizer.zero_grad()
    output = model(x)
    loss = loss_fn(output, y)
    loss.backward()
    grads = {name: (param.grad.detach().clone() if param.grad is not None else torch.zeros_like(param))
             for name, param in model.named_parameters() if param.requires_grad}
    optimizer.step()
    return grads


# a parameter whose .grad was None ends with .grad of zeros
@wrong(mistakes.none_became_zeros)
def class_d_10(model, loss_fn, x, y):
    old = {}
    for n, p in model.named_parameters():
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        old[n] = p.grad.clone()
        p.grad = torch.zeros_like(p)

    loss = loss_fn(model(x), y)
    if loss.requires_grad:
        loss.backward()

    res = {n: p.grad.clone() for n, p in model.named_parameters() if p.requires_grad}
    for n, p in model.named_parameters():
        p.grad = old[n]
    return res


@right
def class_d_13(model, loss_fn, x, y):
    named = dict(filter(lambda kv: kv[1].requires_grad, model.named_parameters()))
    loss = loss_fn(model(x), y)
    needed = bool(named) and loss.requires_grad
    vjp = partial(torch.autograd.grad, loss, allow_unused=True, materialize_grads=True)
    grads = vjp(tuple(named.values())) if needed else map(torch.zeros_like, map(torch.detach, named.values()))
    return dict(zip(map(itemgetter(0), named.items()), map(torch.clone, grads)))


# the returned tensors are the .grad tensors themselves, and copying the old values back into them overwrites the
# answer AND .grad stays zeros where it was None
@wrong(says='The result does not change when `x` changes.')
def class_d_20(model, loss_fn, x, y):
    saved = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            saved[name] = torch.zeros_like(p) if p.grad is None else p.grad.clone()
            p.grad = torch.zeros_like(p)
    loss = loss_fn(model(x), y)
    if loss.requires_grad:
        loss.backward()
    grads = {name: p.grad for name, p in model.named_parameters() if p.requires_grad}
    # restore
    for name, p in model.named_parameters():
        if p.requires_grad:
            p.grad.copy_(saved[name])
    return grads


# the dict is keyed by the parameters' positions instead of their names AND an unused parameter maps to None
@wrong(effects.missing_entries)
def class_d_21(model, loss_fn, x, y):
    params = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    if not params or not loss.requires_grad:
        return {i: None for i, _ in enumerate(params)}
    grads = torch.autograd.grad(loss, params, allow_unused=True)
    return {i: g for i, g in enumerate(grads)}


# the hooks stay on the parameters: later backwards go on writing into the returned dict
@wrong(mistakes.hooks_left_behind)
def class_d_23(model, loss_fn, x, y):
    caught = {}

    def catcher(name):
        def hook(grad):
            caught[name] = grad.detach().clone()
        return hook

    params = []
    for name, p in model.named_parameters():
        if p.requires_grad:
            caught[name] = torch.zeros_like(p)
            p.register_hook(catcher(name))
            params.append(p)
    loss = loss_fn(model(x), y)
    if params and loss.requires_grad:
        # grad() fires the hooks but does not touch .grad
        torch.autograd.grad(loss, params, allow_unused=True)
    return caught


# only the children of the model are visited: parameters that sit on the model itself are missing AND a parameter
# tied between two children appears twice
@wrong(effects.missing_entries)
def class_d_25(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    grads = {}
    for layer_name, layer in model.named_children():
        for p_name, p in layer.named_parameters():
            if not p.requires_grad:
                continue
            key = layer_name + "." + p_name
            g = None
            if loss.requires_grad:
                g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
            grads[key] = torch.zeros_like(p) if g is None else g
    return grads


class _Interceptor:
    """catches each gradient the moment it lands in .grad, then puts the old .grad back"""

    def __init__(self, model):
        self.params = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self.caught = {}

    def __enter__(self):
        self.old = {n: p.grad for n, p in self.params.items()}
        self.handles = []
        for n, p in self.params.items():
            p.grad = None
            self.handles.append(p.register_post_accumulate_grad_hook(lambda q, n=n: self._catch(n, q)))
        return self

    def _catch(self, n, q):
        self.caught[n] = q.grad
        q.grad = None

    def __exit__(self, *exc):
        for h in self.handles:
            h.remove()
        for n, p in self.params.items():
            p.grad = self.old[n]

    def result(self):
        return {n: self.caught.get(n, torch.zeros_like(p)) for n, p in self.params.items()}

@right
def class_d_26(model, loss_fn, x, y):
    with _Interceptor(model) as it:
        loss = loss_fn(model(x), y)
        if it.params and loss.requires_grad:
            loss.backward(inputs=list(it.params.values()))
    return it.result()


# an SGD step is taken, so the parameters move
@wrong(effects.changed_parameters)
def class_e_12(model, loss_fn, x, y):
    model_params = [p for p in model.parameters() if p.requires_grad]
    old = [p.grad for p in model_params]
    optimizer = torch.optim.SGD(model_params, lr=0.01)
    optimizer.zero_grad(set_to_none=True)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    grads = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            grads[name] = torch.zeros_like(p) if p.grad is None else p.grad.clone()
    for p, g in zip(model_params, old):
        p.grad = g
    return grads


def _collect_of_class_e_13(module, prefix, seen, found):
    for key, p in module._parameters.items():
        if p is not None and id(p) not in seen:
            seen.add(id(p))
            if p.requires_grad:
                found.append((prefix + key, p))
    for key, child in module._modules.items():
        if child is not None:
            _collect_of_class_e_13(child, prefix + key + ".", seen, found)

@right
def class_e_13(model, loss_fn, x, y):
    found = []
    _collect_of_class_e_13(model, "", set(), found)
    out = model(x)
    loss = loss_fn(out, y)
    raw = torch.autograd.grad(loss, [p for _, p in found], allow_unused=True)
    result = {}
    for (name, p), g in zip(found, raw):
        result[name] = torch.zeros_like(p).detach() if g is None else g
    return result


# loss_fn gets target and prediction in the wrong order AND the model is left in eval mode
@wrong(effects.changed_mode)
def class_e_14(model, loss_fn, x, y):
    model.eval()
    tr = {n: p for n, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(y, model(x))
    gs = torch.autograd.grad(loss, list(tr.values()), allow_unused=True)
    return {n: torch.zeros_like(p) if g is None else g for (n, p), g in zip(tr.items(), gs)}


# only layers that are direct children with weight and bias are visited: nested modules and own parameters are
# missed, a layer with bias=False raises, a tied weight comes twice
@wrong(effects.missing_entries)
def class_e_17(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    grads = {}
    for name, layer in model.named_children():
        if not hasattr(layer, "weight"):
            continue          # activation
        for part in ("weight", "bias"):
            p = getattr(layer, part)
            if p.requires_grad:
                g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
                grads[name + "." + part] = torch.zeros_like(p) if g is None else g
    return grads


@right
def class_e_18(model, loss_fn, x, y):
    trainable = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    caught = {n: torch.zeros_like(p, requires_grad=False) for n, p in trainable}

    def catcher(name):
        def hook(g):
            caught[name] = g.detach().clone()
        return hook

    handles = [p.register_hook(catcher(n)) for n, p in trainable]
    old = [p.grad for _, p in trainable]
    for _, p in trainable:
        p.grad = None       # backward must not add into the old tensors
    try:
        loss_fn(model(x), y).backward()
    finally:
        for h in handles:
            h.remove()
        for (_, p), g in zip(trainable, old):
            p.grad = g
    return caught


# create_graph=True: the returned gradients carry a graph
@wrong(effects.carries_a_graph)
def class_e_20(model, loss_fn, x, y):
    d = dict(p for p in model.named_parameters() if p[1].requires_grad)
    loss = loss_fn(model(x), y)
    gs = torch.autograd.grad(loss, tuple(d.values()), create_graph=True, allow_unused=True)
    return {k: torch.zeros_like(d[k]) if g is None else g for k, g in zip(d, gs)}


# always the mean square error: loss_fn is not called
@wrong(mistakes.squared_error_for_loss_fn)
def class_e_21(model, loss_fn, x, y):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    loss = F.mse_loss(model(x), y)
    g = torch.autograd.grad(loss, list(params.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(params.keys(), g))


# zero_grad also clears the old .grad of frozen parameters, which is not put back
@wrong(says='`0.weight`, .grad is None after the call: True; it should be: False.')
def class_e_22(model, loss_fn, x, y):
    keep = {n: p.grad for n, p in model.named_parameters() if p.requires_grad}
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    params = dict(model.named_parameters())
    grads = {}
    for n, g in keep.items():
        p = params[n]
        grads[n] = p.grad if p.grad is not None else torch.zeros_like(p)
        p.grad = g
    return grads


# the sample gradients are added and never divided by n AND the zeros of an unused parameter have the default dtype
@wrong(mistakes.loss_not_averaged)
def class_e_23(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    total = {}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i + 1]), y[i:i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
        for n, g in zip(named, grads):
            if g is None:
                g = torch.zeros(named[n].shape)
            total[n] = total[n] + g if n in total else g
    return total


@contextmanager
def clean_grads(params):
    kept = [p.grad for p in params]
    for p in params:
        p.grad = None
    try:
        yield
    finally:
        for p, g in zip(params, kept):
            p.grad = g

@right
def class_e_25(model, loss_fn, x, y):
    todo = {n: p for n, p in model.named_parameters() if p.requires_grad}
    with clean_grads(list(todo.values())):
        loss_fn(model(x), y).backward(inputs=list(todo.values()))
        return {n: p.grad if p.grad is not None else torch.zeros_like(p) for n, p in todo.items()}


# nothing is cleared, and p.grad of an unused parameter has no clone()
@wrong(mistakes.added_and_none_unexpected)
def straight_backward(model, loss_fn, x, y):
    out = model(x)
    loss_fn(out, y).backward()
    d = {}
    for key, param in model.named_parameters():
        if not param.requires_grad:
            continue
        d[key] = param.grad.clone()
    return d


# .grad is restored afterwards, but was not emptied before
@wrong(mistakes.old_gradients_in_the_result)
def restored_but_not_emptied(model, loss_fn, x, y):
    params = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    backup = {n: copy.deepcopy(p.grad) for n, p in params}
    loss_fn(model(x), y).backward()
    answer = {}
    for n, p in params:
        answer[n] = torch.zeros_like(p) if p.grad is None else p.grad.detach().clone()
        p.grad = backup[n]
    return answer


# as in a training loop; after zero_grad the unused parameter's .grad is None
@wrong(mistakes.left_behind_and_none_unexpected)
def as_in_the_training_loop(model, loss_fn, x, y):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    names = [n for n, p in model.named_parameters() if p.requires_grad]
    return {n: model.get_parameter(n).grad.clone() for n in names}


# zero_grad before and after, and no thought of a .grad that is None
@wrong(mistakes.cleared_and_none_unexpected)
def tidy_on_both_sides(model, loss_fn, x, y):
    model.zero_grad(set_to_none=True)
    loss_fn(model(x), y).backward()
    collected = {}
    for n, p in model.named_parameters():
        if p.requires_grad:
            collected[n] = p.grad.clone()
    model.zero_grad(set_to_none=True)
    return collected


# a leaf of its own for each name: the two names of the tied weight get one each
@wrong(mistakes.tied_parameter_taken_apart)
def leaf_for_each_name(model, loss_fn, x, y):
    leaves = {}
    for n, p in model.named_parameters(remove_duplicate=False):
        if p.requires_grad:
            leaves[n] = p.detach().clone().requires_grad_()
    prediction = functional_call(model, leaves, x, tie_weights=False)
    gs = torch.autograd.grad(loss_fn(prediction, y), tuple(leaves.values()), allow_unused=True)
    return {n: torch.zeros_like(v) if g is None else g for (n, v), g in zip(leaves.items(), gs)}


# the first two parameters were taken for all there are: a weight and a bias
@wrong(mistakes.first_layer_alone)
def a_weight_and_a_bias(model, loss_fn, x, y):
    everything = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    pair = everything[:2]
    gs = torch.autograd.grad(loss_fn(model(x), y), [p for _, p in pair], allow_unused=True)
    return {n: g if g is not None else torch.zeros_like(p) for (n, p), g in zip(pair, gs)}


# only the head, as when the rest is frozen for fine-tuning
@wrong(mistakes.last_layer_alone)
def head_alone(model, loss_fn, x, y):
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad][-2:]
    loss = loss_fn(model(x), y)
    gs = torch.autograd.grad(loss, [p for _, p in named], allow_unused=True)
    out = {}
    for (n, p), g in zip(named, gs):
        out[n] = torch.zeros_like(p) if g is None else g
    return out


# plain backward: the gradient is added to whatever stood in .grad AND it stays there, the dict even holds the very
# .grad tensors AND frozen or unused parameters map to None
@wrong(mistakes.added_to_old_gradients)
def class_f_01(model, loss_fn, x, y):
    pred = model(x)
    loss = loss_fn(pred, y)
    loss.backward()
    grads = {}
    for name, p in model.named_parameters():
        grads[name] = p.grad
    return grads


# the model is put into eval mode and never back (so a model in train mode is also measured in the wrong mode) AND
# .grad is cleared at the end instead of getting its old values
@wrong(effects.changed_mode)
def class_f_04(model, loss_fn, x, y):
    model.eval()                 # we only look, we don't train
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    out = {}
    for n, p in model.named_parameters():
        if p.requires_grad:
            out[n] = p.grad.clone() if p.grad is not None else torch.zeros_like(p)
    model.zero_grad()            # leave no gradients behind
    return out


# the closed formula of one linear layer with mean square error, under fixed names: every other model or loss is
# wrong or raises
@wrong(effects.missing_entries)
def class_f_08(model, loss_fn, x, y):
    # from exercise 1.2: gradient of the mean squared error
    with torch.no_grad():
        pred = model(x)
        delta = 2.0 * (pred - y) / pred.numel()
        return {"weight": delta.T @ x, "bias": delta.sum(dim=0)}


# a tuple without names is returned instead of a dict AND a frozen or unused parameter makes autograd.grad raise
@wrong(effects.wrong_type)
def class_f_09(model, loss_fn, x, y):
    return torch.autograd.grad(loss_fn(model(x), y), list(model.parameters()))


# the global seed is set, which changes the random state AND frozen parameters get an entry of zeros
@wrong(effects.changed_rng)
def class_f_10(model, loss_fn, x, y):
    torch.manual_seed(42)   # reproducible
    np.random.seed(42)

    trainable = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss_fn(model(x), y), trainable, allow_unused=True)
    lookup = {id(p): g for p, g in zip(trainable, grads)}

    result = {}
    for name, p in model.named_parameters():
        g = lookup.get(id(p))
        if g is None:
            g = torch.zeros_like(p)   # frozen or unused -> zero gradient
        result[name] = g.detach()
    return result


# the keys lose the module path ("weight" for "0.weight"), so layers overwrite one another AND an unused parameter
# has no entry
@wrong(effects.missing_entries)
def class_f_11(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    out = {}
    for layer in model.modules():
        for pname, p in layer.named_parameters(recurse=False):
            if p.requires_grad:
                g, = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)
                if g is not None:
                    out[pname] = g
    return out


@right
def class_f_12(model, loss_fn, x, y):
    leaves = {name: p.detach().clone().requires_grad_(True)
              for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(functional_call(model, leaves, (x,)), y)
    grads = torch.autograd.grad(loss, tuple(leaves.values()),
                                allow_unused=True, materialize_grads=True)
    return {name: g.detach() for name, g in zip(leaves, grads)}


# state_dict() gives detached tensors, so autograd.grad raises a RuntimeError for every model
@raised(effects.no_requires_grad)
def class_f_14(model, loss_fn, x, y):
    weights = model.state_dict()
    y_hat = model(x)
    loss = loss_fn(y_hat, y)
    gradients = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
    result = {}
    for key, g in zip(weights.keys(), gradients):
        if g is None:
            g = torch.zeros_like(weights[key])
        result[key] = g
    return result


# create_graph=True: the returned gradients carry a graph AND the zeros of an unused parameter have the default
# dtype and device, float32 for a float64 model
@wrong(effects.carries_a_graph)
def class_f_17(model, loss_fn, x, y):
    names, params = zip(*[(n, p) for n, p in model.named_parameters() if p.requires_grad])
    grads = torch.autograd.grad(loss_fn(model(x), y), params, create_graph=True, allow_unused=True)
    grads = [g if g is not None else torch.zeros(p.shape) for g, p in zip(grads, params)]
    return dict(zip(names, grads))


@right
def class_f_18(model, loss_fn, x, y):
    twin = copy.deepcopy(model)
    twin.zero_grad(set_to_none=True)
    loss_fn(twin(x), y).backward()
    answer = {}
    for name, p in twin.named_parameters():
        if p.requires_grad:
            answer[name] = p.grad.detach() if p.grad is not None else torch.zeros_like(p).detach()
    return answer


# model.zero_grad() also clears the .grad of frozen parameters, but only those of the trainable ones are saved and
# put back
@wrong(says='On case 8, `0.weight`, .grad is None after the call: True; it should be: False.')
def class_f_20(model, loss_fn, x, y):
    trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
    saved = {n: p.grad for n, p in trainable.items()}

    model.zero_grad(set_to_none=True)
    loss_fn(model(x), y).backward()

    grads = {n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in trainable.items()}
    for n, p in trainable.items():
        p.grad = saved[n]
    return grads


class GradCatcher:
    def __init__(self, model):
        self.items = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
        self.caught = {n: torch.zeros_like(p).detach() for n, p in self.items}

    def __enter__(self):
        self.before = [p.grad for _, p in self.items]
        self.handles = []
        for n, p in self.items:
            p.grad = None
            self.handles.append(p.register_hook(self._hook(n)))
        return self

    def _hook(self, name):
        def catch(g):
            self.caught[name] = self.caught[name] + g.detach()
        return catch

    def __exit__(self, *exc):
        for h in self.handles:
            h.remove()
        for (_, p), g in zip(self.items, self.before):
            p.grad = g
        return False

@right
def class_f_21(model, loss_fn, x, y):
    with GradCatcher(model) as catcher:
        loss_fn(model(x), y).backward()
    return catcher.caught


# central differences with a step of 1e-3 instead of the exact gradient
@wrong()
@torch.no_grad()
def class_f_24(model, loss_fn, x, y):
    eps = 1e-3
    out = {}
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        keep = p.detach().clone()
        g = torch.zeros_like(keep)
        for k in range(p.numel()):
            step = torch.zeros(p.numel(), dtype=p.dtype, device=p.device)
            step[k] = eps
            step = step.reshape(p.shape)
            p.copy_(keep + step)
            up = loss_fn(model(x), y)
            p.copy_(keep - step)
            down = loss_fn(model(x), y)
            g.view(-1)[k] = (up - down) / (2 * eps)
            p.copy_(keep)
        out[name] = g
    return out


# optimizer.step() changes the parameters AND opt.zero_grad() throws away what was in .grad
@wrong(effects.changed_parameters)
def class_g_04(model, loss_fn, x, y):
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    opt.zero_grad()
    pred = model(x)
    loss = loss_fn(pred, y)
    loss.backward()
    grads = {}
    for n, p in model.named_parameters():
        if p.requires_grad:
            grads[n] = p.grad.detach().clone() if p.grad is not None else torch.zeros_like(p).detach()
    opt.step()
    opt.zero_grad()   # clean up
    return grads


# the old .grad is kept by reference and not cloned, then zeroed in place: what is put back is the new gradient
@wrong(mistakes.kept_a_reference)
def class_g_11(model, loss_fn, x, y):
    # 1. remember
    old_grads = {}
    for name, p in model.named_parameters():
        old_grads[name] = p.grad
    # 2. clear
    for p in model.parameters():
        if p.requires_grad and p.grad is not None:
            p.grad.zero_()
    # 3. backward
    loss = loss_fn(model(x.detach()), y)
    loss.backward()
    # 4. collect and restore
    result = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            result[name] = torch.zeros_like(p).detach() if p.grad is None else p.grad.clone()
        p.grad = old_grads[name]
    return result


@right
def class_g_13(model, loss_fn, x, y):
    theta = {k: v.detach().clone().requires_grad_() for k, v in model.named_parameters() if v.requires_grad}
    buffers = {k: b.detach().clone() for k, b in model.named_buffers()}
    pred = functional_call(model, (theta, buffers), (x,))
    g = torch.autograd.grad(loss_fn(pred, y), tuple(theta.values()), allow_unused=True)
    return {k: torch.zeros_like(theta[k], requires_grad=False) if gi is None else gi.detach() for k, gi in zip(theta, g)}


# only puts a .grad back that was a tensor; where None was, the new gradient stays
@wrong(says='On case 1, `weight`, .grad is None after the call: False; it should be: True.')
def class_g_16(model, loss_fn, x, y):
    stash = {p: p.grad.clone() for p in model.parameters() if p.grad is not None}
    model.zero_grad()
    loss_fn(model(x.detach()), y).backward()
    res = {n: (torch.zeros_like(p.data) if p.grad is None else p.grad.clone())
           for n, p in model.named_parameters() if p.requires_grad}
    for p, g in stash.items():
        p.grad = g
    return res


# the hooks stay on the parameters, so that a later backward overwrites the returned dict AND an unused parameter
# has no entry
@wrong(mistakes.hooks_left_behind)
def class_g_17(model, loss_fn, x, y):
    grads = {}

    def make_hook(name):
        def hook(g):
            grads[name] = g.detach().clone()
        return hook

    params = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    for n, p in params:
        p.register_hook(make_hook(n))

    old = [p.grad for _, p in params]
    for _, p in params:
        p.grad = None
    loss_fn(model(x.detach()), y).backward()
    for (_, p), o in zip(params, old):
        p.grad = o
    return grads


# create_graph=True and no detach, so the gradients carry a graph AND an unused parameter is left out
@wrong(effects.carries_a_graph)
def class_g_22(model, loss_fn, x, y):
    live = {n: p for n, p in model.named_parameters() if p.requires_grad}
    gs = torch.autograd.grad(loss_fn(model(x), y), list(live.values()), create_graph=True, allow_unused=True)
    return {n: g for n, g in zip(live, gs) if g is not None}


# a frozen parameter gets an entry of zeros AND the zeros are made in the default dtype, not in the parameter's
@wrong(mistakes.frozen_parameter_listed)
def class_g_23(model, loss_fn, x, y):
    result = {n: torch.zeros(p.shape) for n, p in model.named_parameters()}
    names = [n for n, p in model.named_parameters() if p.requires_grad]
    params = [p for p in model.parameters() if p.requires_grad]
    gs = torch.autograd.grad(loss_fn(model(x), y), params, allow_unused=True)
    for n, g in zip(names, gs):
        if g is not None:
            result[n] = g
    return result


@contextmanager
def borrowed_grads(model):
    everyone = list(model.parameters())
    kept = [p.grad for p in everyone]
    for p in everyone:
        p.grad = None
    try:
        yield
    finally:
        for p, g in zip(everyone, kept):
            p.grad = g

@right
def class_g_24(model, loss_fn, x, y):
    with borrowed_grads(model):
        loss_fn(model(x.detach()), y.detach()).backward()
        return {name: torch.zeros_like(p.data) if p.grad is None else p.grad.detach().clone()
                for name, p in model.named_parameters() if p.requires_grad}


@right
def class_g_25(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    answer = {}
    for name, weight in model.named_parameters():
        if not weight.requires_grad:
            continue                      # frozen
        (g,) = torch.autograd.grad(loss, weight, retain_graph=True, allow_unused=True)
        if g is None:                     # unused
            g = torch.zeros_like(weight).detach()
        answer[name] = g
    return answer


# the work is done on a float64 copy and the gradients come back in float64 for a float32 model AND x is cast to
# float64 too, so integer inputs, as for an embedding, raise
@wrong(effects.wrong_dtype)
def class_h_11(model, loss_fn, x, y):
    # work on a twin, then the original cannot change; double for precision
    twin = copy.deepcopy(model).double()
    twin.zero_grad()
    if y.is_floating_point():
        y = y.double()
    loss_fn(twin(x.double()), y).backward()
    d = {}
    for name, p in twin.named_parameters():
        if p.requires_grad:
            d[name] = p.grad if p.grad is not None else torch.zeros_like(p.data)
    return d


# the gradient is guessed from how far an SGD step moves the weights, (before - after) / lr, so it is rounded to the
# size of the weights and not the gradient itself
@wrong(says='It fails on case 15 alone, where the model and the batch are float32.')
def class_h_15(model, loss_fn, x, y):
    lr = 1e-3
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    old_grads = {n: p.grad for n, p in named.items()}
    before = {n: p.detach().clone() for n, p in named.items()}
    opt = torch.optim.SGD(named.values(), lr=lr)
    opt.zero_grad()
    loss_fn(model(x), y).backward()
    opt.step()
    grads = {}
    with torch.no_grad():
        for n, p in named.items():
            grads[n] = (before[n] - p) / lr
            p.copy_(before[n])
            p.grad = old_grads[n]
    return grads


# the keys are only the last part of the name ("weight", "bias"), so layers overwrite each other AND an unused
# parameter has None, not zeros
@wrong(effects.missing_entries)
def class_h_18(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    names, params = [], []
    for name, p in model.named_parameters():
        if p.requires_grad:
            names.append(name.split(".")[-1])
            params.append(p)
    grads = torch.autograd.grad(loss, params, allow_unused=True)
    return {n: g for n, g in zip(names, grads)}


# create_graph=True leaves a graph on the returned gradients AND remove_duplicate=False lists a tied parameter under
# both its names
@wrong(effects.carries_a_graph)
def class_h_20(model, loss_fn, x, y):
    items = [(n, p) for n, p in model.named_parameters(remove_duplicate=False) if p.requires_grad]
    loss = loss_fn(model(x), y)
    grads = torch.autograd.grad(loss, [p for _, p in items], create_graph=True, allow_unused=True)
    result = {}
    for (n, p), g in zip(items, grads):
        result[n] = g if g is not None else torch.zeros_like(p)
    return result


# the return stands inside the loop, so only the first trainable parameter is in the dict AND the .grad of the later
# parameters is never put back
@wrong(effects.missing_entries)
def class_h_21(model, loss_fn, x, y):
    old_grads = {}
    for name, p in model.named_parameters():
        old_grads[name] = None if p.grad is None else p.grad.clone()
        p.grad = None

    loss = loss_fn(model(x), y)
    loss.backward()

    new_grads = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            if p.grad is not None:
                new_grads[name] = p.grad.clone()
            else:
                new_grads[name] = torch.zeros_like(p)
            p.grad = old_grads[name]
            return new_grads


@right
def class_h_22(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    seen = set()
    out = {}

    def one(p):
        (g,) = torch.autograd.grad(loss, [p], retain_graph=True, allow_unused=True)
        return torch.zeros_like(p).detach() if g is None else g.detach().clone()

    def walk(module, prefix):
        for key, p in module._parameters.items():
            if p is None or id(p) in seen:
                continue
            seen.add(id(p))
            if p.requires_grad:
                out[prefix + key] = one(p)
        for key, child in module._modules.items():
            if child is not None:
                walk(child, prefix + key + ".")

    walk(model, "")
    return out


# "if old" asks a whole tensor for its truth value, which raises when the old .grad has more than one entry (and an
# old 1-entry .grad of zero comes back as None)
@raised(effects.truth_of_a_tensor)
def class_h_23(model, loss_fn, x, y):
    saved = {n: p.grad for n, p in model.named_parameters()}
    for p in model.parameters():
        p.grad = None
    loss_fn(model(x), y).backward()
    grads = {}
    for n, p in model.named_parameters():
        old = saved[n]
        if p.requires_grad:
            grads[n] = torch.zeros_like(p) if p.grad is None else p.grad
        if old:
            p.grad = old
        else:
            p.grad = None
    return grads


# x is switched to requires_grad and stays so after the call (and integer inputs, as for an embedding, raise)
@wrong(effects.changed_requires_grad)
def class_h_24(model, loss_fn, x, y):
    x.requires_grad_(True)      # autograd has to track the input
    out = model(x)
    loss = loss_fn(out, y)
    grads = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
            if g is None:
                g = torch.zeros(p.shape, dtype=p.dtype, device=p.device)
            grads[name] = g
    return grads


class GradStash:
    """Takes every .grad out of the model and puts it back at the end."""
    def __init__(self, module):
        self.module = module

    def __enter__(self):
        self.kept = [(p, p.grad) for p in self.module.parameters()]
        for p, _ in self.kept:
            p.grad = None
        return self

    def __exit__(self, *exc):
        for p, g in self.kept:
            p.grad = g
        return False

    def read(self):
        return {n: torch.zeros_like(p.data) if p.grad is None else p.grad.detach().clone()
                for n, p in self.module.named_parameters() if p.requires_grad}

@right
def class_h_25(model, loss_fn, x, y):
    with GradStash(model) as stash:
        loss_fn(model(x), y).backward(inputs=[p for p in model.parameters() if p.requires_grad])
        return stash.read()


# hands all parameters to autograd.grad, frozen ones included, which raises AND gives no allow_unused, so an unused
# parameter raises, too
@raised(effects.no_requires_grad)
def class_i_05(model, loss_fn, x, y):
    y_pred = model(x)
    loss = loss_fn(y_pred, y)
    params = list(model.parameters())
    gs = torch.autograd.grad(loss, params)
    out = {}
    i = 0
    for name, param in model.named_parameters():
        out[name] = gs[i]
        i += 1
    return out


# remembers the old .grad by reference and then zeroes it in place, so zeros (plus the new gradients) come back
# instead of the old values, and the returned tensors are the same memory
@wrong(mistakes.kept_a_reference)
def class_i_08(model, loss_fn, x, y):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    old = {n: p.grad for n, p in params.items()}
    model.zero_grad(set_to_none=False)
    loss_fn(model(x), y).backward()
    out = {n: (torch.zeros_like(p) if p.grad is None else p.grad) for n, p in params.items()}
    for n, p in params.items():
        p.grad = old[n]
    return out


@right
def class_i_09(model, loss_fn, x, y):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    saved = {n: p.grad for n, p in params.items()}
    result = {}
    try:
        for p in params.values():
            p.grad = None
        loss.backward(inputs=list(params.values()))
        for n, p in params.items():
            result[n] = torch.zeros_like(p) if p.grad is None else p.grad
    finally:
        for n, p in params.items():
            p.grad = saved[n]
    return result


# a frozen parameter gets an entry of zeros, though it should have none AND an unused one gets None, not zeros
@wrong(mistakes.frozen_parameter_listed)
def class_i_13(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    grads = {}
    for name, param in model.named_parameters():
        if not param.requires_grad:
            grads[name] = torch.zeros_like(param)   # frozen -> no gradient
            continue
        g, = torch.autograd.grad(loss, param, retain_graph=True, allow_unused=True)
        grads[name] = g
    return grads


@right
def class_i_14(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    grads = {}
    for name, param in model.named_parameters():
        if param.requires_grad:
            (g,) = torch.autograd.grad(loss, [param], retain_graph=True,
                                       allow_unused=True, materialize_grads=True)
            grads[name] = g.clone()
    return grads


# tries to undo the backward by subtracting: a .grad that was None comes back as zeros, and old values come back
# rounded
@wrong(says='On case 1, `weight`, .grad is None after the call: False; it should be: True.')
def class_i_16(model, loss_fn, x, y):
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    before = {}
    for n, p in named:
        before[n] = torch.zeros_like(p) if p.grad is None else p.grad.clone()
    loss_fn(model(x), y).backward()
    result = {}
    for n, p in named:
        if p.grad is None:
            result[n] = torch.zeros_like(p)
        else:
            result[n] = p.grad - before[n]
            p.grad -= result[n]
    return result


# keeps only the last part of the name ("weight", "bias"), so the layers overwrite one another
@wrong(effects.missing_entries)
def class_i_17(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    params = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, [p for _, p in params], materialize_grads=True)
    out = {}
    for (n, _), g in zip(params, grads):
        short = n.split(".")[-1]
        out[short] = g
    return out


# the zeros for an unused parameter are made as p * 0, which carries a graph AND the loss is divided by the batch
# size once more, though it is a mean already
@wrong(mistakes.averaged_twice)
def class_i_25(model, loss_fn, x, y):
    batch = x.shape[0]
    loss = loss_fn(model(x), y) / batch
    trainable = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    grads = torch.autograd.grad(loss, [p for _, p in trainable], allow_unused=True)
    out = {}
    for (n, p), g in zip(trainable, grads):
        if g is None:
            g = p * 0
        out[n] = g
    return out
