"""Attempts at exercise 2.5, per_sample_gradients: what learners write, and what the check must say of it."""

from torch.autograd.functional import jacobian
from contextlib import contextmanager
from torch import nn
from torch import optim
from torch.func import functional_call
from torch.func import functional_call as call
from torch.func import grad
from torch.func import jacrev
from torch.func import vmap
from torch.utils.data import DataLoader
from torch.utils.data import TensorDataset
import contextlib
import copy
import numpy as np
import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson2.per_sample_gradients import mistakes


@raised(effects.backward_needs_scalar)
def reduction_none(model, loss_fn, x, y):
    params = [p for p in model.parameters() if p.requires_grad]
    losses = torch.stack([loss_fn(model(x[i : i + 1]), y[i : i + 1]) for i in range(len(x))])
    grads = torch.autograd.grad(losses.expand(2, len(x)), params)
    return grads


@raised(mistakes.frozen_parameter_listed)
def all_parameters(model, loss_fn, x, y):
    names, params = zip(*model.named_parameters())
    rows = {n: [] for n in names}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        for n, g in zip(names, torch.autograd.grad(loss, params, allow_unused=True, materialize_grads=True)):
            rows[n].append(g)
    return {n: torch.stack(r) for n, r in rows.items()}


@raised(effects.no_such_attribute)
def linear_model_only(model, loss_fn, x, y):
    residual = model(x) - y
    weight = 2 * residual[:, :, None] * x[:, None, :] / model.weight.shape[0]
    return {"weight": weight.detach(), "bias": (2 * residual / model.bias.shape[0]).detach()}


@wrong(mistakes.sample_without_batch_dimension)
def as_vmap(model, loss_fn, x, y):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def loss(params, xi, yi):
        return loss_fn(functional_call(model, params, (xi,)), yi)

    return vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)


@wrong(mistakes.sample_without_batch_dimension)
def x_i(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i]), y[i])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(named, grads):
            rows[n].append(g)
    return {n: torch.stack(r) for n, r in rows.items()}


@raised(mistakes.unused_parameter_missing)
def not_allowed(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        for n, g in zip(named, torch.autograd.grad(loss, list(named.values()))):
            rows[n].append(g)
    return {n: torch.stack(r) for n, r in rows.items()}


@right
def backward_on_a_deep_copy(model, loss_fn, x, y):
    twin = copy.deepcopy(model)
    rows = {}
    for xi, yi in zip(x.split(1), y.split(1)):
        twin.zero_grad(set_to_none=True)
        loss_fn(twin(xi), yi).backward()
        for name, p in twin.named_parameters():
            if p.requires_grad:
                g = torch.zeros_like(p) if p.grad is None else p.grad
                rows.setdefault(name, []).append(g)
    return {name: torch.stack(gs, dim=0) for name, gs in rows.items()}


@right
def batched_vector_jacobian_product(model, loss_fn, x, y):
    names, params = zip(*[(n, p) for n, p in model.named_parameters() if p.requires_grad])
    prediction = model(x)
    losses = torch.stack([loss_fn(prediction[i : i + 1], y[i : i + 1]) for i in range(len(x))])
    eye = torch.eye(len(x), dtype=losses.dtype, device=losses.device)
    rows = torch.autograd.grad(losses, params, eye, is_grads_batched=True, allow_unused=True)
    zeros = [torch.zeros(len(x), *p.shape, dtype=p.dtype, device=p.device) for p in params]
    return {n: z if g is None else g for n, g, z in zip(names, rows, zeros)}


@right
def grad_saved_and_put_back(model, loss_fn, x, y):
    saved = {p: p.grad for p in model.parameters()}
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    out = {n: x.new_zeros((len(x), *p.shape)) for n, p in named}
    try:
        for i in range(x.shape[0]):
            for _, p in named:
                p.grad = None
            loss_fn(model(x[i][None]), y[i][None]).backward()
            for n, p in named:
                if p.grad is not None:
                    out[n][i] = p.grad
    finally:
        for p, g in saved.items():
            p.grad = g
    return out


@wrong(says='On case 10: loss_fn was called with prediction and target of shapes ([6, 2], [6]); sample i alone is a batch of one.')
def hooks_on_linear_layers(model, loss_fn, x, y):
    """Outer products of what enters and what comes back, for models of linear layers."""
    n = len(x)
    entered, handles = {}, []
    names = {p: name for name, p in model.named_parameters() if p.requires_grad}
    out = {name: torch.zeros(n, *p.shape, dtype=p.dtype, device=p.device) for p, name in names.items()}

    def forward_hook(module, inputs, output):
        a = inputs[0].detach()

        def backward_hook(g):
            if module.weight in names:
                out[names[module.weight]] += n * torch.einsum("no,ni->noi", g, a)
            if module.bias is not None and module.bias in names:
                out[names[module.bias]] += n * g

        output.register_hook(backward_hook)

    for module in model.modules():
        if isinstance(module, nn.Linear):
            handles.append(module.register_forward_hook(forward_hook))
    try:
        inputs = x.detach().clone().requires_grad_()
        torch.autograd.grad(loss_fn(model(inputs), y), inputs)
    finally:
        for handle in handles:
            handle.remove()
    return out


@right
def jacobian_of_the_losses(model, loss_fn, x, y):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def losses(params):
        predictions = functional_call(model, params, (x,))
        return torch.stack([loss_fn(p, t) for p, t in zip(predictions.split(1), y.split(1))])

    return jacrev(losses)(params)


def parameter_gradients(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    grads = torch.autograd.grad(loss, list(named.values()), materialize_grads=True, allow_unused=True)
    return dict(zip(named, grads))

@right
def reuses_parameter_gradients(model, loss_fn, x, y):
    samples = [parameter_gradients(model, loss_fn, x[[i]], y[[i]]) for i in range(len(x))]
    return {name: torch.stack([s[name] for s in samples]) for name in samples[0]}


@right
def vmap_of_func_grad(model, loss_fn, x, y):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def loss(params, xi, yi):
        return loss_fn(functional_call(model, params, (xi.unsqueeze(0),)), yi.unsqueeze(0))

    return vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)


@wrong(mistakes.batch_gradient_for_samples)
def one_call(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, grads))


@wrong(mistakes.batch_gradient_repeated)
def gamed_shape(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return {n: g.expand(len(x), *g.shape) for n, g in zip(named, grads)}


@wrong(mistakes.caller_gradients_cleared)
def tidy(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        model.zero_grad()
        loss_fn(model(x[i : i + 1]), y[i : i + 1]).backward()
        for n, p in named.items():
            rows[n].append(torch.zeros_like(p) if p.grad is None else p.grad.clone())
    model.zero_grad()
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.caller_gradients_zeroed)
def zeros_at_the_end(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        model.zero_grad()
        loss_fn(model(x[i : i + 1]), y[i : i + 1]).backward()
        for n, p in named.items():
            rows[n].append(torch.zeros_like(p) if p.grad is None else p.grad.clone())
    model.zero_grad(set_to_none=False)
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(effects.changed_mode)
def as_eval(model, loss_fn, x, y):
    model.eval()
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(named, grads):
            rows[n].append(g)
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(effects.changed_rng)
def seeds_first(model, loss_fn, x, y):
    torch.manual_seed(0)
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(named, grads):
            rows[n].append(g)
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.extra_batch_dimension)
def unsqueezed_rows(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(named, grads):
            rows[n].append(g.unsqueeze(0))
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.frozen_parameter_listed)
def zeros_for_it(model, loss_fn, x, y):
    out = {n: torch.zeros(len(x), *p.shape, dtype=p.dtype, device=p.device) for n, p in model.named_parameters()}
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
        for n, g in zip(named, grads):
            if g is not None:
                out[n][i] = g
    return out


@wrong(mistakes.gradient_norms_for_gradients)
def dp_sgd_habit(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(named, grads):
            rows[n].append(g.norm())
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.gradients_left_behind)
def last_sample(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        model.zero_grad()
        loss_fn(model(x[i : i + 1]), y[i : i + 1]).backward()
        for n, p in named.items():
            rows[n].append(torch.zeros_like(p) if p.grad is None else p.grad.clone())
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.hooks_left_behind)
def post_accumulate(model, loss_fn, x, y):
    saved = [(p, p.grad) for p in model.parameters()]
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}

    def take(name):
        def hook(p):
            rows[name].append(p.grad)
            p.grad = None

        return hook

    for name, p in named.items():
        p.grad = None
        p.register_post_accumulate_grad_hook(take(name))
    for xi, yi in zip(x.split(1), y.split(1)):
        loss_fn(model(xi), yi).backward()
    for p, g in saved:
        p.grad = g
    return {n: torch.stack(r) if r else named[n].new_zeros(len(x), *named[n].shape) for n, r in rows.items()}


@wrong(mistakes.none_became_zeros)
def half_right_restore(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    saved = {n: torch.zeros_like(p) if p.grad is None else p.grad.clone() for n, p in named.items()}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        model.zero_grad()
        loss_fn(model(x[i : i + 1]), y[i : i + 1]).backward()
        for n, p in named.items():
            rows[n].append(torch.zeros_like(p) if p.grad is None else p.grad.clone())
    for n, p in named.items():
        p.grad = saved[n]
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.one_dict_per_sample)
def as_list(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    result = []
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        result.append(dict(zip(named, grads)))
    return result


@wrong(mistakes.rows_are_running_totals)
def never_cleared(model, loss_fn, x, y):
    twin = copy.deepcopy(model)
    twin.zero_grad()
    named = {n: p for n, p in twin.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss_fn(twin(x[i : i + 1]), y[i : i + 1]).backward()
        for n, p in named.items():
            rows[n].append(torch.zeros_like(p) if p.grad is None else p.grad.clone())
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.rows_are_running_totals)
def on_top_of_the_callers(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss_fn(model(x[i : i + 1]), y[i : i + 1]).backward()
        for n, p in named.items():
            rows[n].append(torch.zeros_like(p) if p.grad is None else p.grad.clone())
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.rows_concatenated)
def cat(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(named, grads):
            rows[n].append(g)
    return {n: torch.cat(r) for n, r in rows.items()}


@wrong(mistakes.rows_divided_by_n)
def shares_of_the_mean(model, loss_fn, x, y):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def shares(params):
        predictions = functional_call(model, params, (x,))
        return torch.stack([loss_fn(p, t) for p, t in zip(predictions.split(1), y.split(1))]) / len(x)

    return jacrev(shares)(params)


@wrong(mistakes.rows_in_a_list)
def not_stacked(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(named, grads):
            rows[n].append(g)
    return rows


@wrong(mistakes.rows_zeroed_afterwards)
def zero_in_place(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        model.zero_grad(set_to_none=False)
        loss_fn(model(x[i : i + 1]), y[i : i + 1]).backward()
        for n, p in named.items():
            rows[n].append(torch.zeros_like(p) if p.grad is None else p.grad)
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.same_live_grad)
def never_cleared_never_copied(model, loss_fn, x, y):
    for p in model.parameters():
        p.grad = None
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss_fn(model(x[i : i + 1]), y[i : i + 1]).backward()
        for n, p in named.items():
            rows[n].append(torch.zeros_like(p) if p.grad is None else p.grad)
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.sample_dimension_last)
def stacked_along_minus_one(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(named, grads):
            rows[n].append(g)
    return {n: torch.stack(r, dim=-1) for n, r in rows.items()}


@wrong(mistakes.samples_in_reverse)
def insert(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(named, grads):
            rows[n].insert(0, g)
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.started_from_old_gradients)
def restored_after_each_sample(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    saved = {n: None if p.grad is None else p.grad.clone() for n, p in named.items()}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss_fn(model(x[i : i + 1]), y[i : i + 1]).backward()
        for n, p in named.items():
            rows[n].append(torch.zeros_like(p) if p.grad is None else p.grad.clone())
            p.grad = None if saved[n] is None else saved[n].clone()
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.tied_parameter_twice)
def state_dict_names(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters(remove_duplicate=False) if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(named, grads):
            rows[n].append(g)
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.unused_parameter_missing)
def none_dropped(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
        for n, g in zip(named, grads):
            if g is not None:
                rows.setdefault(n, []).append(g)
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.unused_parameter_none)
def batched_vjp(model, loss_fn, x, y):
    names, params = zip(*[(n, p) for n, p in model.named_parameters() if p.requires_grad])
    prediction = model(x)
    losses = torch.stack([loss_fn(prediction[i : i + 1], y[i : i + 1]) for i in range(len(x))])
    eye = torch.eye(len(x), dtype=losses.dtype, device=losses.device)
    rows = torch.autograd.grad(losses, params, eye, is_grads_batched=True, allow_unused=True)
    return dict(zip(names, rows))


@wrong(effects.wrong_dtype)
def zeros_in_the_default_dtype(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    out = {n: torch.zeros(len(x), *p.shape) for n, p in named.items()}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
        for n, g in zip(named, grads):
            if g is not None:
                out[n][i] = g
    return out


# stores p.grad itself without a clone and clears it in place, so all rows are one tensor and every row holds the
# last sample
@wrong(mistakes.rows_zeroed_afterwards)
def class_a_05(model, loss_fn, x, y):
    x, y = x.detach(), y.detach()
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    old = [p.grad for _, p in named]
    for _, p in named:
        p.grad = torch.zeros_like(p, requires_grad=False)

    rows = {n: [] for n, _ in named}
    for i in range(len(x)):
        for _, p in named:
            p.grad.zero_()
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        if loss.requires_grad:
            loss.backward()
        for n, p in named:
            rows[n].append(p.grad)

    for (_, p), g in zip(named, old):
        p.grad = g
    return {n: torch.stack(r) for n, r in rows.items()}


# computes the gradient of the batch loss once and repeats it n times: all rows are the batch mean
@wrong(mistakes.batch_gradient_repeated)
def class_a_07(model, loss_fn, x, y):
    n = len(x)
    loss = loss_fn(model(x), y)
    result = {}
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        g = None
        if loss.requires_grad:
            g, = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)
        if g is None:
            g = torch.zeros_like(p).detach()
        result[name] = torch.stack([g] * n)
    return result


# returns lists of n gradients, not stacked tensors
@wrong(mistakes.rows_in_a_list)
def class_a_08(model, loss_fn, x, y):
    ps = {k: p for k, p in model.named_parameters() if p.requires_grad}
    out = {k: [] for k in ps}
    for i in range(x.shape[0]):
        l = loss_fn(model(x[i:i+1]), y[i:i+1])
        for k, p in ps.items():
            g = None
            if l.requires_grad:
                g = torch.autograd.grad(l, p, retain_graph=True, allow_unused=True)[0]
            out[k].append(g if g is not None else torch.zeros_like(p).detach())
    return out


# an unused parameter (gradient None) is skipped, so it has no entry instead of zeros
@wrong(mistakes.unused_parameter_missing)
def class_a_10(model, loss_fn, x, y):
    result = {}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i + 1]), y[i:i + 1])
        if not loss.requires_grad:
            continue
        for name, p in model.named_parameters():
            if p.requires_grad:
                g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
                if g is not None:
                    result.setdefault(name, []).append(g)
    for name in result:
        result[name] = torch.stack(result[name])
    return result


# the names are taken of all parameters but the gradients of the trainable ones only, so with a frozen parameter the
# gradients stand under wrong names
@wrong(effects.wrong_shape)
def class_a_11(model, loss_fn, x, y):
    names = [n for n, _ in model.named_parameters()]
    params = [p for p in model.parameters() if p.requires_grad]
    if not params:
        return {}
    def row(i):
        l = loss_fn(model(x[i:i+1]), y[i:i+1])
        if not l.requires_grad:
            return [torch.zeros_like(p).detach() for p in params]
        return torch.autograd.grad(l, params, allow_unused=True, materialize_grads=True)
    return {n: torch.stack(gs) for n, gs in zip(names, zip(*[row(i) for i in range(len(x))]))}


# calls loss_fn(target, prediction): the arguments are swapped, wrong for a loss that is not symmetric
@wrong(mistakes.arguments_swapped)
def class_a_13(model, loss_fn, x, y):
    trainable = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    grads = {n: [] for n, _ in trainable}
    for i in range(len(x)):
        y_true = y[i:i+1]
        y_pred = model(x[i:i+1])
        loss = loss_fn(y_true, y_pred)
        if loss.requires_grad and trainable:
            gs = torch.autograd.grad(loss, [p for _, p in trainable], allow_unused=True)
        else:
            gs = [None for _ in trainable]
        for (n, p), g in zip(trainable, gs):
            grads[n].append(torch.zeros_like(p).detach() if g is None else g)
    return {n: torch.stack(g) for n, g in grads.items()}


# divides each sample's loss by n, so the rows are n times too small (they sum to the batch gradient)
@wrong(mistakes.rows_divided_by_n)
def class_a_14(model, loss_fn, x, y):
    n = len(x)
    params = {k: p for k, p in model.named_parameters() if p.requires_grad}
    prediction = model(x)
    out = {k: torch.zeros((n,) + tuple(p.shape), dtype=p.dtype, device=p.device)
           for k, p in params.items()}
    if not prediction.requires_grad or not params:
        return out
    for i in range(n):
        # share of sample i in the batch loss
        li = loss_fn(prediction[i:i+1], y[i:i+1]) / n
        gs = torch.autograd.grad(li, list(params.values()), retain_graph=True, allow_unused=True)
        for k, g in zip(params, gs):
            if g is not None:
                out[k][i] = g
    return out


# the result tensors are made with torch.zeros in the default dtype, so a float64 model gets float32 gradients
@wrong(effects.wrong_dtype)
def class_a_15(model, loss_fn, x, y):
    n = len(x)
    result = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            result[name] = torch.zeros(n, *p.shape)
    for i in range(n):
        loss = loss_fn(model(x[i].unsqueeze(0)), y[i].unsqueeze(0))
        for name, p in model.named_parameters():
            if p.requires_grad and loss.requires_grad:
                g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
                if g is not None:
                    result[name][i] = g
    return result


@right
def class_a_16(model, loss_fn, x, y):
    named = dict(model.named_parameters())
    saved = {n: p.grad for n, p in named.items()}       # the very objects
    x, y = x.detach(), y.detach()
    rows = {n: [] for n, p in named.items() if p.requires_grad}
    try:
        for i in range(len(x)):
            for p in named.values():
                p.grad = None                           # a fresh one each time
            loss = loss_fn(model(x.narrow(0, i, 1)), y.narrow(0, i, 1))
            if loss.requires_grad:
                loss.backward()
            for n in rows:
                g = named[n].grad
                rows[n].append(torch.zeros_like(named[n].detach()) if g is None else g.detach())
    finally:
        for n, p in named.items():
            p.grad = saved[n]
    return {n: torch.stack(r, dim=0) for n, r in rows.items()}


# a tied parameter appears once per name AND create_graph=True leaves a graph on the returned tensors
@wrong(effects.carries_a_graph)
def class_a_18(model, loss_fn, x, y):
    named = [(n, p) for n, p in model.named_parameters(remove_duplicate=False)
             if p.requires_grad]
    if not named:
        return {}
    cols = [[] for _ in named]
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        for c, (n, p) in zip(cols, named):
            g = None
            if loss.requires_grad:
                g, = torch.autograd.grad(loss, p, create_graph=True, allow_unused=True)
            c.append(torch.zeros_like(p) if g is None else g)
    return {n: torch.stack(c) for c, (n, p) in zip(cols, named)}


# n * (batch gradient - gradient without sample i) is not the gradient of sample i: the mean gradient of the other
# samples is still subtracted (should be n*a - (n-1)*b)
@wrong(says='On case 1: loss_fn was called with prediction and target of shapes ([3, 2], [3, 2]) and ([4, 2], [4, 2]); sample i alone is a batch of one.')
def class_a_19(model, loss_fn, x, y):
    named = {k: p for k, p in model.named_parameters() if p.requires_grad}
    n = len(x)

    def batch_gradient(keep):
        loss = loss_fn(model(x[keep]), y[keep])
        if not loss.requires_grad or not named:
            return [torch.zeros_like(p).detach() for p in named.values()]
        return torch.autograd.grad(loss, list(named.values()),
                                   allow_unused=True, materialize_grads=True)

    everyone = torch.arange(n, device=x.device)
    full = batch_gradient(everyone)
    result = {k: [] for k in named}
    for i in range(n):
        rest = batch_gradient(everyone[everyone != i])
        for k, a, b in zip(named, full, rest):
            result[k].append(n * (a - b))     # what sample i adds to the mean
    return {k: torch.stack(v) for k, v in result.items()}


@right
def class_a_20(model, loss_fn, x, y):
    theta = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def loss_of(theta, xi, yi):
        buffers = {n: b.detach().clone() for n, b in model.named_buffers()}
        return loss_fn(functional_call(model, (theta, buffers), (xi,)), yi)

    rows = [grad(loss_of)(theta, a, b)
            for a, b in zip(x.detach().split(1), y.detach().split(1))] if theta else []
    return {n: torch.stack([r[n] for r in rows]) for n in theta}


# sets the random seed AND leaves the model in eval mode
@wrong(effects.changed_mode)
def class_a_22(model, loss_fn, x, y):
    torch.manual_seed(42)      # reproducible
    model.eval()
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    out = {n: torch.empty((len(x), *p.shape), dtype=p.dtype, device=p.device)
           for n, p in params.items()}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        for n, p in params.items():
            g = None
            if loss.requires_grad:
                g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
            out[n][i] = 0.0 if g is None else g
    return out


# the target is forced to the shape (1, -1), so a target of one class index per sample gets a dimension too many
# (cross-entropy raises), and a matrix as target is flattened
@raised(says='It fails on case 10 alone, where y holds class indices, and the loss weighs its samples.')
def class_a_23(model, loss_fn, x, y):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    result = {n: [] for n in params}
    for i in range(len(x)):
        xi = x[i].unsqueeze(0)
        yi = y[i].reshape(1, -1)      # batch of one
        loss = loss_fn(model(xi), yi)
        for n, p in params.items():
            g = None
            if loss.requires_grad:
                g, = torch.autograd.grad(loss, [p], retain_graph=True, allow_unused=True)
            result[n].append(torch.zeros_like(p).detach() if g is None else g)
    return {n: torch.stack(v) for n, v in result.items()}


class Splitter:
    def __init__(self, model, loss_fn):
        self.model, self.loss_fn = model, loss_fn
        self.names = [n for n, p in model.named_parameters() if p.requires_grad]
        self.params = [p for p in model.parameters() if p.requires_grad]

    def rows(self, x, y):
        if len(x) > 1:
            mid = len(x) // 2
            yield from self.rows(x[:mid], y[:mid])
            yield from self.rows(x[mid:], y[mid:])
            return
        loss = self.loss_fn(self.model(x), y)
        # "+ 0 * sum" would spoil things at inf, so None is handled one by one
        gs = [None] * len(self.params)
        if self.params and loss.requires_grad:
            gs = torch.autograd.grad(loss, self.params, allow_unused=True)
        yield [torch.zeros_like(p, requires_grad=False) if g is None else g
               for p, g in zip(self.params, gs)]

@right
def class_a_24(model, loss_fn, x, y):
    s = Splitter(model, loss_fn)
    columns = zip(*s.rows(x, y))
    return {n: torch.cat([g.unsqueeze(0) for g in c]) for n, c in zip(s.names, columns)}


# never calls loss_fn: the mean square error is written into the function, so every other loss is wrong
@wrong(says='`loss_fn` was never called.')
def class_a_25(model, loss_fn, x, y):
    result = {}
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        rows = []
        for i in range(len(x)):
            error = model(x[i:i+1]) - y[i:i+1]
            loss = (error ** 2).mean()
            g = None
            if loss.requires_grad:
                g = torch.autograd.grad(loss, p, allow_unused=True)[0]
            rows.append(torch.zeros_like(p).detach() if g is None else g)
        result[name] = torch.stack(rows)
    return result


# catches inputs and output gradients of nn.Linear layers with hooks and multiplies them: every other kind of layer
# has no entry, and the hooks are never removed
@wrong(mistakes.hooks_left_behind)
def class_a_26(model, loss_fn, x, y):
    n = len(x)
    acts, result = {}, {}
    layers = [(name, m) for name, m in model.named_modules() if isinstance(m, nn.Linear)]

    def forward_hook(m, inputs, output):
        acts[m] = inputs[0].detach()
        if output.requires_grad:
            output.register_hook(lambda g: collect(m, g))

    def collect(m, g):
        name = [k for k, v in layers if v is m][0]
        name = name + "." if name else ""
        if m.weight.requires_grad:
            result[name + "weight"] = n * torch.einsum("ni,nj->nij", g, acts[m])
        if m.bias is not None and m.bias.requires_grad:
            result[name + "bias"] = n * g

    for name, m in layers:
        m.register_forward_hook(forward_hook)
    loss = loss_fn(model(x), y)
    ps = [p for p in model.parameters() if p.requires_grad]
    if ps:
        torch.autograd.grad(loss, ps, allow_unused=True)
    return result


@right
def class_a_27(model, loss_fn, x, y):
    picked = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    if not picked:
        return {}
    names, params = map(list, zip(*picked))

    def zeros():
        return [torch.zeros_like(p).detach() for p in params]

    def sample(i):
        idx = torch.tensor([i], device=x.device)
        loss = loss_fn(model(torch.index_select(x, 0, idx)),
                       torch.index_select(y, 0, idx.to(y.device)))
        if not loss.requires_grad:
            return zeros()
        return torch.autograd.grad([loss], params, allow_unused=True, materialize_grads=True)

    return dict(zip(names, map(torch.stack, zip(*map(sample, range(len(x)))))))


# the very tensor .grad is stored as the row and then zeroed and refilled in place, so all rows show the last sample
@wrong(mistakes.rows_zeroed_afterwards)
def class_b_01(model, loss_fn, x, y):
    net = copy.deepcopy(model)      # so that the real .grad is not touched
    grads = {name: [] for name, p in net.named_parameters() if p.requires_grad}
    for p in net.parameters():
        p.grad = torch.zeros_like(p)
    for i in range(len(x)):
        net.zero_grad(set_to_none=False)
        loss = loss_fn(net(x[i:i+1]), y[i:i+1])
        loss.backward()
        for name, p in net.named_parameters():
            if p.requires_grad:
                grads[name].append(p.grad)
    return {name: torch.stack(g) for name, g in grads.items()}


@right
def class_b_02(model, loss_fn, x, y):
    names, params = [], []
    for name, p in model.named_parameters():
        if p.requires_grad:
            names.append(name)
            params.append(p)
    out = {name: torch.zeros((len(x),) + tuple(p.shape), dtype=p.dtype, device=p.device)
           for name, p in zip(names, params)}
    buffers = [(b, b.clone()) for b in model.buffers()]
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i + 1]), y[i:i + 1])
        if params and loss.requires_grad:
            for name, g in zip(names, torch.autograd.grad(loss, params, allow_unused=True)):
                if g is not None:
                    out[name][i] = g
    with torch.no_grad():
        for b, old in buffers:
            b.copy_(old)
    return out


# the return is indented into the loop, so only the gradient of the first sample comes back
@wrong(effects.wrong_shape)
def class_b_03(model, loss_fn, x, y):
    trainable = {k: v for k, v in model.named_parameters() if v.requires_grad}
    collected = {k: [] for k in trainable}
    for i in range(x.shape[0]):
        xi = x[i].unsqueeze(0)
        yi = y[i].unsqueeze(0)
        loss = loss_fn(model(xi), yi)
        grads = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
        for (k, v), g in zip(trainable.items(), grads):
            if g is None:
                g = torch.zeros_like(v)
            collected[k].append(g)
        return {k: torch.stack(v) for k, v in collected.items()}


# the model gets a batch of one, but the loss gets one bare prediction and one bare target without the batch
# dimension: losses over a batch raise or take other means
@wrong(says='Every number is 1/2 times what it should be.')
def class_b_04(model, loss_fn, x, y):
    ps = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = []
    for xi, yi in zip(x, y):
        pred = model(xi[None])[0]
        rows.append(torch.autograd.grad(loss_fn(pred, yi), list(ps.values()),
                                        allow_unused=True, materialize_grads=True))
    return {n: torch.stack([r[j] for r in rows]) for j, n in enumerate(ps)}


# every loss is multiplied by n to undo the mean, though the batch of one has no other samples in its mean: all rows
# are n times too large
@wrong(says='Every number is [the number of samples] times what it should be.')
def class_b_05(model, loss_fn, x, y):
    n = len(x)
    params = {name: p for name, p in model.named_parameters() if p.requires_grad}
    result = {name: [] for name in params}
    for i in range(n):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1]) * n   # undo the mean over the batch
        g = torch.autograd.grad(loss, list(params.values()), materialize_grads=True, allow_unused=True)
        for name, gi in zip(params, g):
            result[name].append(gi)
    for name in result:
        result[name] = torch.stack(result[name], dim=0)
    return result


@right
def class_b_06(model, loss_fn, x, y):
    train = {k: p.detach() for k, p in model.named_parameters() if p.requires_grad}
    rest = {k: p.detach() for k, p in model.named_parameters() if not p.requires_grad}
    bufs = dict(model.named_buffers())

    def sample_loss(params, xi, yi):
        copies = {k: b.clone() for k, b in bufs.items()}    # a forward may write into them
        pred = functional_call(model, {**params, **rest, **copies}, (xi.unsqueeze(0),))
        return loss_fn(pred, yi.unsqueeze(0))

    if not train:
        return {}
    grads = vmap(grad(sample_loss), in_dims=(None, 0, 0))(train, x.detach(), y.detach())
    return {k: g.detach() for k, g in grads.items()}


# the parameters are handed to grad without detach, so the returned tensors still carry a graph
@wrong(effects.carries_a_graph)
def class_b_07(model, loss_fn, x, y):
    ps = {n: p for n, p in model.named_parameters() if p.requires_grad}
    f = lambda q, a, b: loss_fn(call(model, q, (a[None],)), b[None])
    return vmap(grad(f), (None, 0, 0))(ps, x, y)


# the model is set to eval and then to the mode of its root as a whole: submodules that were in another mode than
# the root do not get theirs back
@wrong(effects.changed_mode)
def class_b_08(model, loss_fn, x, y):
    was_training = model.training
    model.eval()
    names = [n for n, p in model.named_parameters() if p.requires_grad]
    params = [p for p in model.parameters() if p.requires_grad]
    grads = []
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        grads.append(torch.autograd.grad(loss, params, allow_unused=True, materialize_grads=True))
    model.train(was_training)
    return {n: torch.stack(gs) for n, gs in zip(names, zip(*grads))}


# torch.cat instead of torch.stack: the rows are glued along the first dimension of the parameter (and 0-d
# parameters raise)
@wrong(mistakes.rows_concatenated)
def class_b_09(model, loss_fn, x, y):
    out = {}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        for name, p in model.named_parameters():
            if not p.requires_grad:
                continue
            g, = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)
            if g is None:
                g = torch.zeros_like(p)
            if name not in out:
                out[name] = g
            else:
                out[name] = torch.cat((out[name], g))
    return out


# x is made to require gradients and stays so (an x of integers raises)
@wrong(effects.changed_requires_grad)
def class_b_10(model, loss_fn, x, y):
    x.requires_grad_(True)     # track gradients
    params = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    per_sample = {n: torch.empty(len(x), *p.shape, dtype=p.dtype, device=p.device) for n, p in params}
    for i in range(len(x)):
        out = model(x[i].unsqueeze(0))
        loss = loss_fn(out, y[i].unsqueeze(0))
        gs = torch.autograd.grad(loss, [p for _, p in params], allow_unused=True)
        for (n, p), g in zip(params, gs):
            per_sample[n][i] = 0. if g is None else g
    return per_sample


@right
def class_b_11(model, loss_fn, x, y):
    n = len(x)
    copies = {name: torch.stack([p.detach()] * n).requires_grad_()
              for name, p in model.named_parameters() if p.requires_grad}
    state = {name: b.clone() for name, b in model.named_buffers()}
    total = 0
    for i in range(n):
        mine = {name: c[i] for name, c in copies.items()}
        total = total + loss_fn(functional_call(model, {**mine, **state}, (x[i:i+1],)), y[i:i+1])
    # sample i touches only row i of each copy, so the sum mixes nothing
    if not copies:
        return {}
    if not total.requires_grad:
        return {name: torch.zeros_like(c) for name, c in copies.items()}
    grads = torch.autograd.grad(total, list(copies.values()), allow_unused=True)
    return {name: torch.zeros_like(c) if g is None else g
            for (name, c), g in zip(copies.items(), grads)}


# row i is n times the gradient of the whole batch minus (n - 1) times that of the batch without i: wrong where the
# loss is no plain average (class weights), and at n = 1 it needs an empty batch, on which some models raise
@wrong(mistakes.share_of_the_batch_loss)
def class_b_12(model, loss_fn, x, y):
    P = {k: p for k, p in model.named_parameters() if p.requires_grad}
    n = len(x)

    def g(a, b):
        return torch.autograd.grad(loss_fn(model(a), b), list(P.values()),
                                   allow_unused=True, materialize_grads=True)

    full = g(x, y)
    rows = []
    for i in range(n):
        keep = torch.arange(n, device=x.device) != i
        rest = g(x[keep], y[keep])
        rows.append([n * f - (n - 1) * r for f, r in zip(full, rest)])
    return {k: torch.stack([r[j] for r in rows]) for j, k in enumerate(P)}


# one forward pass for all samples, but no retain_graph: the second sample raises, only n = 1 works
@raised(effects.graph_freed)
def class_b_13(model, loss_fn, x, y):
    trainable = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    names, params = zip(*trainable)
    pred = model(x)
    rows = {n: [] for n in names}
    for i in range(len(x)):
        loss = loss_fn(pred[i:i+1], y[i:i+1])
        grads = torch.autograd.grad(loss, params, allow_unused=True)
        for n, p, g in zip(names, params, grads):
            rows[n].append(torch.zeros_like(p) if g is None else g)
    return {n: torch.stack(r) for n, r in rows.items()}


# a list with one dict a sample is returned instead of one dict of stacked tensors AND unused parameters are left
# out
@wrong(effects.wrong_type)
def class_b_15(model, loss_fn, x, y):
    before = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    all_grads = []
    for i in range(len(x)):
        model.zero_grad()
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        loss.backward()
        all_grads.append({name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None})
    for p, g in zip(model.parameters(), before):
        p.grad = g
    return all_grads


# a tied parameter appears once a module AND a parameter of the root module gets a name with a leading dot
@wrong(effects.missing_entries)
def class_b_16(model, loss_fn, x, y):
    table = {}
    for mname, module in model.named_modules():
        for pname, p in module.named_parameters(recurse=False):
            if p.requires_grad:
                table[mname + "." + pname] = p
    result = {k: [] for k in table}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        gs = torch.autograd.grad(loss, list(table.values()), allow_unused=True)
        for (k, p), g in zip(table.items(), gs):
            result[k].append(g if g is not None else torch.zeros_like(p))
    return {k: torch.stack(v) for k, v in result.items()}


# the result is squeezed: with n = 1, or a parameter with a dimension of length 1, the shape is no longer (n,
# *shape)
@wrong(effects.wrong_shape)
def class_b_17(model, loss_fn, x, y):
    named = [(k, p) for k, p in model.named_parameters() if p.requires_grad]

    def one(i):
        loss = loss_fn(model(x[i].unsqueeze(0)), y[i].unsqueeze(0))
        return torch.autograd.grad(loss, [p for _, p in named], allow_unused=True, materialize_grads=True)

    samples = [one(i) for i in range(len(x))]
    return {k: torch.stack([s[j] for s in samples]).squeeze() for j, (k, _) in enumerate(named)}


class SampleGradients:
    def __init__(self, model, loss_fn):
        self.net = copy.deepcopy(model)
        self.loss_fn = loss_fn
        self.params = {n: p for n, p in self.net.named_parameters() if p.requires_grad}

    def __call__(self, xi, yi):
        self.net.zero_grad(set_to_none=True)
        loss = self.loss_fn(self.net(xi), yi)
        if self.params and loss.requires_grad:
            loss.backward(inputs=list(self.params.values()))
        return {n: torch.zeros_like(p) if p.grad is None else p.grad.clone() for n, p in self.params.items()}

@right
def class_b_19(model, loss_fn, x, y):
    worker = SampleGradients(model, loss_fn)
    rows = [worker(xi, yi) for xi, yi in zip(x.detach().split(1), y.detach().split(1))]
    return {n: torch.stack([r[n] for r in rows]).detach() for n in worker.params}


# the old .grad is remembered without a copy and then zeroed in place, so what is put back holds the gradient of the
# last sample
@wrong(mistakes.old_grad_kept_by_reference)
def class_b_21(model, loss_fn, x, y):
    saved = {name: p.grad for name, p in model.named_parameters()}     # remember .grad
    result = {name: [] for name, p in model.named_parameters() if p.requires_grad}
    for i in range(len(x)):
        model.zero_grad(set_to_none=False)
        loss_fn(model(x[i:i+1]), y[i:i+1]).backward()
        for name, p in model.named_parameters():
            if p.requires_grad:
                if p.grad is None:
                    result[name].append(torch.zeros_like(p))
                else:
                    result[name].append(p.grad.clone())
    for name, p in model.named_parameters():
        p.grad = saved[name]                                           # restore .grad
    return {name: torch.stack(rows).detach() for name, rows in result.items()}


# the other samples are set to zero instead of left out: their rows of zeros still go through the model and the
# loss, and the mean still divides by n
@wrong(says='On case 1: loss_fn was called with prediction and target of shapes ([4, 2], [4, 2]); sample i alone is a batch of one.')
def class_b_23(model, loss_fn, x, y):
    keys = [k for k, p in model.named_parameters() if p.requires_grad]
    params = [p for k, p in model.named_parameters() if p.requires_grad]
    stacks = {k: [] for k in keys}
    for i in range(len(x)):
        only_x = torch.zeros_like(x)
        only_y = torch.zeros_like(y)
        only_x[i] = x[i]
        only_y[i] = y[i]
        loss = loss_fn(model(only_x), only_y)
        for k, g in zip(keys, torch.autograd.grad(loss, params, allow_unused=True, materialize_grads=True)):
            stacks[k].append(g)
    return {k: torch.stack(s) for k, s in stacks.items()}


@right
def class_b_24(model, loss_fn, x, y):
    pairs = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    old_buffers = [b.detach().clone() for b in model.buffers()]
    vec = torch.stack([loss_fn(model(x[i:i+1]), y[i:i+1]) for i in range(len(x))])
    result = {n: p.new_zeros((len(x), *p.shape)) for n, p in pairs}
    if pairs and vec.requires_grad:
        eye = torch.eye(len(x), dtype=vec.dtype, device=vec.device)
        jac = torch.autograd.grad(vec, [p for _, p in pairs], grad_outputs=eye,
                                  is_grads_batched=True, allow_unused=True)
        for (n, _), j in zip(pairs, jac):
            if j is not None:
                result[n] = j.detach().clone()
    with torch.no_grad():
        for b, o in zip(model.buffers(), old_buffers):
            b.copy_(o)
    return result


# the target is reshaped to (1, -1), which is right for targets of shape (n, k) alone: class numbers of shape (n,)
# get a dimension too many, larger targets lose theirs, and the loss raises or broadcasts
@raised(says='It fails on case 10 alone, where y holds class indices, and the loss weighs its samples.')
def class_b_25(model, loss_fn, x, y):
    ps = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    rows = []
    for i in range(len(x)):
        x_i = x[i].unsqueeze(0)
        y_i = y[i].reshape(1, -1)
        loss = loss_fn(model(x_i), y_i)
        rows.append(torch.autograd.grad(loss, [p for _, p in ps], allow_unused=True))
    return {n: torch.stack([torch.zeros_like(p) if r[j] is None else r[j] for r in rows])
            for j, (n, p) in enumerate(ps)}


@contextlib.contextmanager
def untouched(model):
    grads = [(p, p.grad) for p in model.parameters()]
    bufs = [(b, b.clone()) for b in model.buffers()]
    for p, _ in grads:
        p.grad = None
    try:
        yield
    finally:
        for p, g in grads:
            p.grad = g
        with torch.no_grad():
            for b, c in bufs:
                b.copy_(c)


# .grad is not cleared between the samples, so row i holds the sum of the samples up to i
@wrong(mistakes.rows_are_running_totals)
def class_c_01(model, loss_fn, x, y):
    saved = [p.grad for p in model.parameters()]
    for p in model.parameters():
        p.grad = None
    names = [n for n, p in model.named_parameters() if p.requires_grad]
    result = {n: [] for n in names}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        loss.backward()
        for n, p in model.named_parameters():
            if p.requires_grad:
                g = p.grad if p.grad is not None else torch.zeros_like(p)
                result[n].append(g.clone())
    for p, g in zip(model.parameters(), saved):
        p.grad = g
    return {n: torch.stack(result[n]) for n in names}


@right
def class_c_03(model, loss_fn, x, y):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    out = {n: p.new_zeros((len(x), *p.shape)) for n, p in params.items()}
    if not params:
        return out
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i + 1]), y[i:i + 1])
        if not loss.requires_grad:
            continue
        for n, g in zip(params, torch.autograd.grad(loss, list(params.values()), allow_unused=True)):
            if g is not None:
                out[n][i] = g
    return out


# p.grad is stored without clone and zeroed in place afterwards, so all rows end as zeros
@wrong(says='holds nothing but zeros: on case 1, `weight` and `bias`.')
def class_c_06(model, loss_fn, x, y):
    backup = {n: p.grad for n, p in model.named_parameters()}
    for p in model.parameters():
        p.grad = torch.zeros_like(p) if p.requires_grad else p.grad
    all_grads = {n: [] for n, p in model.named_parameters() if p.requires_grad}
    for i in range(x.shape[0]):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        loss.backward()
        for n, p in model.named_parameters():
            if p.requires_grad:
                all_grads[n].append(p.grad)
                p.grad.zero_()
    for n, p in model.named_parameters():
        p.grad = backup[n]
    return {n: torch.stack(g) for n, g in all_grads.items()}


@right
def class_c_07(model, loss_fn, x, y):
    free = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def loss_of(params, xb, yb):
        return loss_fn(functional_call(model, params, (xb,)), yb)

    g = grad(loss_of)
    rows = [g(free, xb, yb) for xb, yb in zip(x.split(1), y.split(1))] if free else []
    return {n: torch.stack([r[n] for r in rows]).detach() for n in free}


# the single prediction is compared with all targets (y in place of y[i:i+1])
@wrong(mistakes.one_sample_met_the_batch)
def class_c_09(model, loss_fn, x, y):
    names, params = [], []
    for n, p in model.named_parameters():
        if p.requires_grad:
            names.append(n)
            params.append(p)
    out = {n: [] for n in names}
    for i in range(len(x)):
        sample = x[i:i+1]
        grads = torch.autograd.grad(loss_fn(model(sample), y), params, allow_unused=True)
        for n, p, g in zip(names, params, grads):
            out[n].append(torch.zeros_like(p) if g is None else g)
    return {n: torch.stack(out[n]) for n in names}


# the 0-d mean loss is indexed as if it held one loss a sample, which raises an IndexError
@raised(effects.index_out_of_range)
def class_c_10(model, loss_fn, x, y):
    losses = loss_fn(model(x), y)
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    res = {}
    for name, p in params.items():
        res[name] = torch.stack([
            torch.autograd.grad(losses[i], p, retain_graph=True)[0] for i in range(len(x))
        ])
    return res


# vmap hands over the target without a batch dimension (only x is unsqueezed), so a loss that needs one, like cross-
# entropy, raises or broadcasts
@wrong(mistakes.target_without_batch_dimension)
def class_c_14(model, loss_fn, x, y):
    params = {k: v.detach() for k, v in model.named_parameters() if v.requires_grad}
    def compute_loss(params, sample, target):
        pred = functional_call(model, params, (sample.unsqueeze(0),))
        return loss_fn(pred, target)
    return vmap(grad(compute_loss), in_dims=(None, 0, 0))(params, x, y)


# the frozen parameters are differentiated too and have an entry
@wrong(mistakes.frozen_parameter_differentiated)
def class_c_15(model, loss_fn, x, y):
    params = {name: p.detach() for name, p in model.named_parameters()}
    buffers = {name: b for name, b in model.named_buffers()}

    def compute_loss(params, sample, target):
        batch, targets = sample.unsqueeze(0), target.unsqueeze(0)
        pred = functional_call(model, (params, buffers), (batch,))
        return loss_fn(pred, targets)

    ft = vmap(grad(compute_loss), in_dims=(None, 0, 0))
    return ft(params, x, y)


# with tie_weights=False a tied parameter is replaced in one of its places only, so the gradient of its other uses
# is missing
@wrong(says='Right: `first.bias` and `second.bias`. Wrong: `first.weight`.')
def class_c_16(model, loss_fn, x, y):
    theta = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
    f = lambda t, a, b: loss_fn(functional_call(model, t, (a,), tie_weights=False), b)
    gs = [grad(f)(theta, x[i:i+1], y[i:i+1]) for i in range(len(x))]
    return {n: torch.stack([g[n] for g in gs]).detach() for n in theta}


@right
def class_c_17(model, loss_fn, x, y):
    ps = [(n, p) for n, p in model.named_parameters() if p.requires_grad]

    def go(lo, hi):
        if hi - lo > 1:
            mid = (lo + hi) // 2
            left, right = go(lo, mid), go(mid, hi)
            return [torch.cat(pair) for pair in zip(left, right)]
        loss = loss_fn(model(x[lo:hi]), y[lo:hi])
        # + 0 * p.sum() would give nan for an infinite p, so ask autograd for zeros
        if not ps:
            return []
        if not loss.requires_grad:
            return [torch.zeros_like(p)[None] for _, p in ps]
        gs = torch.autograd.grad(loss, [p for _, p in ps], allow_unused=True, materialize_grads=True)
        return [g[None] for g in gs]

    return {n: t for (n, _), t in zip(ps, go(0, len(x)))}


# row i is the batch gradient minus the gradient of the batch without sample i, but both are means: the factors n
# and n-1 are missing
@wrong(says='On case 1: loss_fn was called with prediction and target of shapes ([3, 2], [3, 2]) and ([4, 2], [4, 2]); sample i alone is a batch of one.')
def class_c_18(model, loss_fn, x, y):
    n = len(x)
    names = [k for k, p in model.named_parameters() if p.requires_grad]
    ps = [p for p in model.parameters() if p.requires_grad]
    def g(idx):
        gs = torch.autograd.grad(loss_fn(model(x[idx]), y[idx]), ps, allow_unused=True)
        return [torch.zeros_like(p) if q is None else q for p, q in zip(ps, gs)]
    everything = g(torch.arange(n, device=x.device))
    rows = []
    for i in range(n):
        rest = torch.tensor([j for j in range(n) if j != i], dtype=torch.long, device=x.device)
        rows.append([a - b for a, b in zip(everything, g(rest))])
    return {k: torch.stack([r[j] for r in rows]) for j, k in enumerate(names)}


# the training loop takes an optimizer step after every sample, so the parameters change AND zero_grad wipes the old
# .grad, which is never put back AND lists are returned in place of stacked tensors (an empty one for a frozen
# parameter)
@wrong(effects.wrong_type)
def class_c_19(model, loss_fn, x, y):
    optimizer = optim.SGD(model.parameters(), lr=1e-3)
    history = {name: [] for name, _ in model.named_parameters()}
    for i in range(len(x)):
        inputs, labels = x[i:i+1], y[i:i+1]
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = loss_fn(outputs, labels)
        loss.backward()
        for name, p in model.named_parameters():
            if p.grad is not None:
                history[name].append(p.grad.clone())
        optimizer.step()
    return history


# a sample is flattened to (1, -1), so models that take images or sequences get the wrong shape
@raised(effects.shapes_do_not_fit)
def class_c_21(model, loss_fn, x, y):
    params = {k: p for k, p in model.named_parameters() if p.requires_grad}
    result = {k: [] for k in params}
    for i in range(len(x)):
        xi = x[i].reshape(1, -1)
        yi = y[i:i+1]
        loss = loss_fn(model(xi), yi)
        grads = torch.autograd.grad(loss, params.values(), allow_unused=True)
        for (k, p), g in zip(params.items(), grads):
            result[k].append(g if g is not None else torch.zeros_like(p))
    return {k: torch.stack(v) for k, v in result.items()}


@right
def class_c_22(model, loss_fn, x, y):
    twin = copy.deepcopy(model)                   # its .grad is nobody's business
    table = {}
    for name, p in twin.named_parameters():
        if p.requires_grad:
            table[name] = torch.empty((len(x),) + p.shape, dtype=p.dtype, device=p.device)
    for i, (a, b) in enumerate(zip(x, y)):
        twin.zero_grad(set_to_none=True)
        loss = loss_fn(twin(a.detach()[None]), b.detach()[None])
        if loss.requires_grad:
            loss.backward()
        for name, p in twin.named_parameters():
            if name in table:
                table[name][i] = 0 if p.grad is None else p.grad
    return table


# old gradients are put back as clones, but None comes back as zeros AND the rows are squeezed, so dimensions of
# size one (a batch of one included) vanish
@wrong(effects.changed_grad)
def class_c_23(model, loss_fn, x, y):
    old = {}
    for n, p in model.named_parameters():
        if p.requires_grad:
            old[n] = p.grad.clone() if p.grad is not None else torch.zeros_like(p)
    out = {n: [] for n in old}
    for i in range(len(x)):
        for p in model.parameters():
            p.grad = None
        loss_fn(model(x[i:i+1]), y[i:i+1]).backward()
        for n, p in model.named_parameters():
            if n in out:
                out[n].append(p.grad if p.grad is not None else torch.zeros_like(p))
    for n, p in model.named_parameters():
        if n in old:
            p.grad = old[n]
    return {n: torch.stack(g).squeeze() for n, g in out.items()}


# the formula of a single linear layer with mean square error, 2 * error * input, is written down for every model
# and loss
@wrong(effects.wrong_shape)
def class_c_24(model, loss_fn, x, y):
    # grad of mean((x W^T + b - y)^2)
    with torch.no_grad():
        pred = model(x)
        err = 2 * (pred - y) / pred.shape[1]
        out = {}
        for name, p in model.named_parameters():
            if not p.requires_grad:
                continue
            if name.endswith("weight"):
                out[name] = err.unsqueeze(2) * x.unsqueeze(1)
            else:
                out[name] = err.clone()
    return out


@right
def class_c_26(model, loss_fn, x, y):
    w = {k: p.detach() for k, p in model.named_parameters() if p.requires_grad}
    if not w:
        return {}

    def losses(w):
        return torch.stack([loss_fn(functional_call(model, w, (x[i:i+1],)), y[i:i+1]) for i in range(len(x))])

    J = jacrev(losses, chunk_size=1)(w)
    return {k: J[k].detach().clone() for k in w}


# an unused parameter has no entry AND the model is put in eval mode and left there
@wrong(effects.changed_mode)
def class_d_09(model, loss_fn, x, y):
    model.eval()   # no dropout please
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        for n, g in zip(params, torch.autograd.grad(loss, list(params.values()), allow_unused=True)):
            if g is not None:
                rows.setdefault(n, []).append(g)
    return {n: torch.stack(r) for n, r in rows.items()}


# the frozen parameters are differentiated too and have entries
@wrong(mistakes.frozen_parameter_differentiated)
def class_d_10(model, loss_fn, x, y):
    net = copy.deepcopy(model)   # functional_call swaps tensors in and out
    params = {n: p.detach() for n, p in model.named_parameters()}

    def loss_of_one(params, xi, yi):
        out = functional_call(net, params, (xi.unsqueeze(0),))
        return loss_fn(out, yi.unsqueeze(0))

    return vmap(grad(loss_of_one), in_dims=(None, 0, 0))(params, x, y)


@right
def class_d_12(model, loss_fn, x, y):
    theta = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
    if not theta:
        return {}
    twin = copy.deepcopy(model)    # swap tensors in a copy, not in the model
    g = grad(lambda t, a, b: loss_fn(functional_call(twin, t, (a,)), b))
    rows = [g(theta, x[i:i+1], y[i:i+1]) for i in range(len(x))]
    return {n: torch.stack([r[n] for r in rows]).detach() for n in theta}


# .grad is only put back where it was not None, elsewhere the last sample's gradient stays
@wrong(says='Only cases 2, 5, 7, 13 and 14 came out right, where every parameter that requires gradients holds one from before.')
def class_d_16(model, loss_fn, x, y):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    backup = {n: p.grad.clone() for n, p in params.items() if p.grad is not None}
    rows = {n: [] for n in params}
    for i in range(len(x)):
        for p in params.values():
            p.grad = None
        loss_fn(model(x[i:i+1]), y[i:i+1]).backward()
        for n, p in params.items():
            rows[n].append(p.grad.clone() if p.grad is not None else torch.zeros_like(p.data))
    for n, p in params.items():
        if n in backup:
            p.grad = backup[n]
    return {n: torch.stack(r) for n, r in rows.items()}


# an optimizer step moves the parameters after each sample AND .grad is left with the last sample's gradient
@wrong(effects.changed_parameters)
def class_d_18(model, loss_fn, x, y):
    trainable = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    optimizer = torch.optim.SGD([p for _, p in trainable], lr=0.01)
    history = {n: [] for n, _ in trainable}
    for i in range(len(x)):
        optimizer.zero_grad()
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        loss.backward()
        for n, p in trainable:
            history[n].append(p.grad.clone() if p.grad is not None else torch.zeros_like(p.data))
        optimizer.step()
    return {n: torch.stack(h) for n, h in history.items()}


# the gradients are finite differences of the loss, only an approximation
@wrong(says='digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
@torch.no_grad()
def class_d_20(model, loss_fn, x, y):
    h = 1e-4
    out = {}
    for n, p in model.named_parameters():
        if not p.requires_grad:
            continue
        before = p.detach().clone()
        g = p.new_zeros((len(x), p.numel()))
        for j in range(p.numel()):
            step = torch.zeros_like(before).flatten()
            step[j] = h
            step = step.reshape(before.shape)
            for i in range(len(x)):
                p.copy_(before + step)
                up = loss_fn(model(x[i:i+1]), y[i:i+1])
                p.copy_(before - step)
                g[i, j] = (up - loss_fn(model(x[i:i+1]), y[i:i+1])) / (2 * h)
        p.copy_(before)
        out[n] = g.reshape(len(x), *p.shape)
    return out


@right
def class_d_21(model, loss_fn, x, y):
    n = len(x)
    if n > 1:                      # halve the batch and glue the answers
        a = class_d_21(model, loss_fn, x[:n // 2], y[:n // 2])
        b = class_d_21(model, loss_fn, x[n // 2:], y[n // 2:])
        return {k: torch.cat([a[k], b[k]]) for k in a}
    params = dict((k, p) for k, p in model.named_parameters() if p.requires_grad)
    loss = loss_fn(model(x), y)
    if not loss.requires_grad:
        return {k: torch.zeros_like(p.data)[None] for k, p in params.items()}
    gs = torch.autograd.grad(loss, list(params.values()), allow_unused=True)
    return {k: (torch.zeros_like(p.data) if g is None else g.clone())[None]
            for (k, p), g in zip(params.items(), gs)}


# create_graph=True, so the returned tensors carry a graph
@wrong(effects.carries_a_graph)
def class_d_22(model, loss_fn, x, y):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = []
    for i in range(len(x)):
        l = loss_fn(model(x[i:i+1]), y[i:i+1])
        rows.append(torch.autograd.grad(l, list(params.values()), create_graph=True, allow_unused=True))
    return {n: torch.stack([torch.zeros_like(p) if r[k] is None else r[k] for r in rows])
            for k, (n, p) in enumerate(params.items())}


# the rows stand in reverse order AND NumPy arrays are returned, not tensors
@wrong(effects.wrong_type)
def class_d_23(model, loss_fn, x, y):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in params}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        gs = torch.autograd.grad(loss, list(params.values()), allow_unused=True)
        for (n, p), g in zip(params.items(), gs):
            rows[n].insert(0, np.zeros_like(p.detach().numpy()) if g is None else g.numpy())
    return {n: np.stack(r) for n, r in rows.items()}


@right
def class_d_25(model, loss_fn, x, y):
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    if not named:
        return {}
    names, ps = zip(*named)

    def rows():
        for xi, yi in zip(x.split(1), y.split(1)):
            loss = loss_fn(model(xi), yi)
            yield (torch.autograd.grad(loss, ps, allow_unused=True) if loss.requires_grad
                   else [None] * len(ps))

    fill = lambda g, p: torch.zeros_like(p.data) if g is None else g
    return {n: torch.stack([fill(g, p) for g in col]) for n, p, col in zip(names, ps, zip(*rows()))}


# each row is divided by n, as if it were the sample's share of the batch mean
@wrong(mistakes.rows_divided_by_n)
def class_d_26(model, loss_fn, x, y):
    n = len(x)
    params = {k: p for k, p in model.named_parameters() if p.requires_grad}
    out = {k: [] for k in params}
    for i in range(n):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1]) / n
        gs = torch.autograd.grad(loss, list(params.values()), allow_unused=True)
        for (k, p), g in zip(params.items(), gs):
            out[k].append(torch.zeros_like(p.data) if g is None else g)
    return {k: torch.stack(v) for k, v in out.items()}


@right
def class_e_12(model, loss_fn, x, y):
    trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in trainable}
    for xi, yi in zip(x.split(1), y.split(1)):
        leaves = {n: p.detach().clone().requires_grad_() for n, p in trainable.items()}
        buffers = {n: b.clone() for n, b in model.named_buffers()}
        loss = loss_fn(functional_call(model, {**leaves, **buffers}, (xi,)), yi)
        if loss.requires_grad:
            loss.backward()
        for n, leaf in leaves.items():
            rows[n].append(torch.zeros_like(leaf).detach() if leaf.grad is None else leaf.grad)
    return {n: torch.stack(r) for n, r in rows.items()}


# the zeros of an unused parameter are made by torch.zeros(p.shape) in the default dtype, so a float64 model gets
# float32 zeros there
@wrong(effects.wrong_dtype)
def class_e_18(model, loss_fn, x, y):
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    rows = {n: [] for n, _ in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        gs = torch.autograd.grad(loss, [p for _, p in named], allow_unused=True)
        for (n, p), g in zip(named, gs):
            rows[n].append(torch.zeros(p.shape) if g is None else g)
    return {n: torch.stack(r) for n, r in rows.items()}


# the target of sample i is y[i] without its batch dimension, which losses like cross-entropy refuse AND a frozen
# parameter gets an entry of zeros
@wrong(mistakes.target_without_batch_dimension)
def class_e_19(model, loss_fn, x, y):
    trainable = [p for p in model.parameters() if p.requires_grad]
    res = {n: torch.zeros((len(x), *p.shape), dtype=p.dtype, device=p.device)
           for n, p in model.named_parameters()}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i])
        gs = iter(torch.autograd.grad(loss, trainable, allow_unused=True))
        for n, p in model.named_parameters():
            g = next(gs) if p.requires_grad else None
            if g is not None:
                res[n][i] = g
    return res


# the loss is ignored: the formula of the mean square error is differentiated whatever loss_fn is
@wrong(says='`loss_fn` was never called.')
def class_e_21(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    err = (model(x) - y).pow(2).reshape(len(x), -1).mean(dim=1)
    out = {n: [] for n in named}
    for e in err:
        gs = torch.autograd.grad(e, list(named.values()), retain_graph=True, allow_unused=True)
        for (n, p), g in zip(named.items(), gs):
            out[n].append(torch.zeros_like(p) if g is None else g)
    return {n: torch.stack(v) for n, v in out.items()}


# model.eval() is called to be safe, and a model that was in train mode stays in eval mode AND a tied parameter
# appears under each of its names
@wrong(effects.changed_mode)
def class_e_23(model, loss_fn, x, y):
    model.eval()
    named = [(n, p) for n, p in model.named_parameters(remove_duplicate=False) if p.requires_grad]
    d = {n: torch.zeros_like(p).detach().repeat(len(x), *[1] * p.dim()).reshape(len(x), *p.shape) for n, p in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        for (n, p), g in zip(named, torch.autograd.grad(loss, [p for _, p in named], allow_unused=True)):
            if g is not None:
                d[n][i] = g
    return d


@right
def class_e_24(model, loss_fn, x, y):
    clone = copy.deepcopy(model)
    clone_params = [(n, p) for n, p in clone.named_parameters() if p.requires_grad]
    table = {n: [] for n, _ in clone_params}
    for i in range(len(x)):
        for _, p in clone_params:
            p.grad = None
        loss = loss_fn(clone(x.narrow(0, i, 1)), y.narrow(0, i, 1))
        if loss.requires_grad:
            loss.backward()
        for n, p in clone_params:
            table[n].append(torch.zeros_like(p.data) if p.grad is None else p.grad.detach().clone())
    return {n: torch.stack(rows) for n, rows in table.items()}


# adds all losses up first and writes the one gradient into every row
@wrong(mistakes.sum_over_samples_repeated)
def summed_then_repeated(model, loss_fn, x, y):
    wanted = {n: p for n, p in model.named_parameters() if p.requires_grad}
    total = 0
    for k in range(x.shape[0]):
        total = total + loss_fn(model(x[k : k + 1]), y[k : k + 1])
    found = torch.autograd.grad(total, list(wanted.values()), allow_unused=True, materialize_grads=True)
    return {n: torch.stack([g] * x.shape[0]) for n, g in zip(wanted, found)}


# fills rows of zeros, and the loop begins with sample 1
@wrong(mistakes.a_sample_left_out)
def begins_at_one(model, loss_fn, x, y):
    wanted = {n: p for n, p in model.named_parameters() if p.requires_grad}
    table = {n: torch.zeros((len(x), *p.shape), dtype=p.dtype) for n, p in wanted.items()}
    for k in range(1, len(x)):
        loss = loss_fn(model(x[k : k + 1]), y[k : k + 1])
        found = torch.autograd.grad(loss, list(wanted.values()), allow_unused=True)
        for n, g in zip(wanted, found):
            if g is not None:
                table[n][k] = g
    return table


# the slice has no start: x[: k + 1] for x[k : k + 1]
@wrong(mistakes.batches_that_grow)
def slice_without_start(model, loss_fn, x, y):
    wanted = {n: p for n, p in model.named_parameters() if p.requires_grad}
    table = {n: [] for n in wanted}
    for stop in range(1, len(x) + 1):
        loss = loss_fn(model(x[:stop]), y[:stop])
        found = torch.autograd.grad(loss, list(wanted.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(wanted, found):
            table[n].append(g)
    return {n: torch.stack(gs) for n, gs in table.items()}


# p.grad is collected without a clone, and cleared in place: all rows are the same tensor with the values of the
# last sample AND .grad is left changed
@wrong(effects.changed_grad)
def class_f_05(model, loss_fn, x, y):
    collected = {n: [] for n, p in model.named_parameters() if p.requires_grad}
    for xi, yi in zip(x.split(1), y.split(1)):
        for p in model.parameters():
            if p.grad is not None:
                p.grad.zero_()
        loss_fn(model(xi), yi).backward()
        for n, p in model.named_parameters():
            if p.requires_grad:
                if p.grad is None:
                    p.grad = torch.zeros_like(p)
                collected[n].append(p.grad)
    return {n: torch.stack(c) for n, c in collected.items()}


# the target loses its batch axis (y[i] instead of y[i:i+1]): the loss gets a target of another shape than a batch
# of one, which some losses broadcast and others refuse
@wrong(mistakes.target_without_batch_dimension)
def class_f_07(model, loss_fn, x, y):
    trainable = {k: p for k, p in model.named_parameters() if p.requires_grad}
    table = {k: [] for k in trainable}
    for sample, label in zip(x, y):
        pred = model(sample[None])
        loss = loss_fn(pred, label)
        g = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
        for (k, p), gk in zip(trainable.items(), g):
            table[k].append(gk if gk is not None else torch.zeros_like(p))
    return {k: torch.stack(v, 0) for k, v in table.items()}


# frozen parameters get an entry of zeros, where they should have none
@wrong(mistakes.frozen_parameter_listed)
def class_f_11(model, loss_fn, x, y):
    n = x.size(0)
    psg = {name: torch.zeros(n, *p.shape, dtype=p.dtype, device=p.device)
           for name, p in model.named_parameters()}
    for i in range(n):
        loss = loss_fn(model(x[i:i + 1]), y[i:i + 1])
        for name, p in model.named_parameters():
            if not p.requires_grad:
                continue
            g, = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)
            if g is not None:
                psg[name][i] = g
    return psg


@right
def class_f_12(model, loss_fn, x, y):
    trainable = {k: p for k, p in model.named_parameters() if p.requires_grad}
    buffers = lambda: {k: b.detach().clone() for k, b in model.named_buffers()}
    predict = lambda xs: functional_call(model, {**trainable, **buffers()}, (xs,))
    losses = map(lambda a, b: loss_fn(predict(a.clone()), b.clone()), x.split(1), y.split(1))

    def gradient(loss):
        if not loss.requires_grad:
            return [torch.zeros_like(p) for p in trainable.values()]
        return torch.autograd.grad(loss, list(trainable.values()), allow_unused=True, materialize_grads=True)

    columns = zip(*map(gradient, losses)) if trainable else []
    return {k: torch.stack([g.detach().to_dense() for g in col]) for k, col in zip(trainable, columns)}


# a .grad that was None comes back as zeros AND the result is allocated in the default dtype, so a float64 model
# gets float32 rows
@wrong(mistakes.none_became_zeros)
def class_f_14(model, loss_fn, x, y):
    params = dict(model.named_parameters())
    backup = {}
    for k, p in params.items():
        backup[k] = p.grad.clone() if p.grad is not None else torch.zeros_like(p)

    res = {k: torch.empty(len(x), *p.shape) for k, p in params.items() if p.requires_grad}
    for i in range(len(x)):
        for p in params.values():
            p.grad = None
        loss_fn(model(x[[i]]), y[[i]]).backward()
        for k in res:
            res[k][i] = 0 if params[k].grad is None else params[k].grad

    for k, p in params.items():
        p.grad = backup[k].detach()
    return res


# a DataLoader with shuffle=True gives the samples in random order, so the rows do not belong to the samples AND it
# consumes random numbers of the global state
@wrong(says='The right numbers are all there, in another order.')
def class_f_15(model, loss_fn, x, y):
    loader = DataLoader(TensorDataset(x, y), batch_size=1, shuffle=True)
    pairs = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    grads = {n: [] for n, _ in pairs}
    for xb, yb in loader:
        loss = loss_fn(model(xb), yb)
        gs = torch.autograd.grad(loss, [p for _, p in pairs], allow_unused=True)
        for (n, p), g in zip(pairs, gs):
            grads[n].append(torch.zeros_like(p) if g is None else g)
    return {n: torch.stack(g) for n, g in grads.items()}


# the mode is switched: model.eval() for the gradients and model.train() at the end, whatever it was before
@wrong(effects.changed_mode)
def class_f_16(model, loss_fn, x, y):
    model.eval()
    names = [n for n, p in model.named_parameters() if p.requires_grad]
    ps = [p for p in model.parameters() if p.requires_grad]
    all_grads = []
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        g = torch.autograd.grad(loss, ps, allow_unused=True)
        all_grads.append([torch.zeros_like(p) if gi is None else gi for p, gi in zip(ps, g)])
    model.train()
    return {n: torch.stack([row[j] for row in all_grads]) for j, n in enumerate(names)}


# prediction and target are swapped in the call of loss_fn AND there is no allow_unused, so an unused parameter
# raises
@wrong(mistakes.arguments_swapped)
def class_f_17(model, loss_fn, x, y):
    res = {n: [] for n, p in model.named_parameters() if p.requires_grad}
    for i in range(len(x)):
        xi = x[i:i + 1]
        yi = y[i:i + 1]
        loss = loss_fn(yi, model(xi))
        grads = torch.autograd.grad(loss, [p for p in model.parameters() if p.requires_grad])
        for n, g in zip(res, grads):
            res[n].append(g)
    for n in res:
        res[n] = torch.stack(res[n])
    return res


@right
def class_f_19(model, loss_fn, x, y):
    """Catch each gradient on its way to .grad with a hook on a stand-in for the parameter."""
    trainable = {k: p for k, p in model.named_parameters() if p.requires_grad}
    rows = {k: torch.zeros(len(x), *p.shape, dtype=p.dtype, device=p.device) for k, p in trainable.items()}

    def catcher(name, i):
        def hook(g):
            rows[name][i] += g.detach()
        return hook

    for i in range(len(x)):
        standin, handles = {}, []
        for k, p in trainable.items():
            standin[k] = p.detach().clone().requires_grad_(True)
            handles.append(standin[k].register_hook(catcher(k, i)))
        for k, b in model.named_buffers():
            standin[k] = b.detach().clone()
        pred = torch.func.functional_call(model, standin, (x[i:i + 1].clone(),))
        loss = loss_fn(pred, y[i:i + 1].clone())
        if loss.requires_grad:
            loss.backward()
        for h in handles:
            h.remove()
    return rows


class Untouched:
    """Puts .grad of the trainable parameters and the buffers aside, and back at the end."""
    def __init__(self, model):
        self.params = [p for p in model.parameters() if p.requires_grad]
        self.places = [(m, k) for m in model.modules() for k in m._buffers]

    def __enter__(self):
        self.grads = [p.grad for p in self.params]
        self.bufs = [m._buffers[k] for m, k in self.places]
        for m, k in self.places:
            if m._buffers[k] is not None:
                m._buffers[k] = m._buffers[k].detach().clone()
        return self

    def clear(self):
        for p in self.params:
            p.grad = None

    def __exit__(self, *exc):
        for p, g in zip(self.params, self.grads):
            p.grad = g
        for (m, k), b in zip(self.places, self.bufs):
            m._buffers[k] = b

@right
def class_f_22(model, loss_fn, x, y):
    named = {k: p for k, p in model.named_parameters() if p.requires_grad}
    rows = {k: [] for k in named}
    with Untouched(model) as keeper:
        for i in range(len(x)):
            keeper.clear()
            loss = loss_fn(model(x[i].clone().unsqueeze(0)), y[i].clone().unsqueeze(0))
            if loss.requires_grad:
                loss.backward()
            for k, p in named.items():
                rows[k].append(torch.zeros_like(p).detach() if p.grad is None else p.grad.detach().to_dense().clone())
    return {k: torch.stack(v) for k, v in rows.items()}


@right
def class_f_23(model, loss_fn, x, y):
    keys = [k for k, p in model.named_parameters() if p.requires_grad]

    def one(i):
        # fresh leaves every time, the model itself never sees a backward
        leaves = {k: model.get_parameter(k).detach().clone().requires_grad_() for k in keys}
        state = {k: b.detach().clone() for k, b in model.named_buffers()}
        loss = loss_fn(torch.func.functional_call(model, {**state, **leaves}, (x.narrow(0, i, 1).clone(),)),
                       y.narrow(0, i, 1).clone())
        if keys and loss.requires_grad:
            loss.backward()
        return {k: (torch.zeros_like(v) if v.grad is None else v.grad.to_dense()).detach().unsqueeze(0) for k, v in leaves.items()}

    def rows(lo, hi):
        if hi - lo == 1:
            return one(lo)
        mid = (lo + hi) // 2
        a, b = rows(lo, mid), rows(mid, hi)
        return {k: torch.cat([a[k], b[k]]) for k in keys}

    return rows(0, len(x))


# hooks on nn.Linear and one backward for the whole batch: trainable parameters outside Linear layers have no entry
# (and frozen ones inside have one) AND that bare backward adds to every .grad
@wrong(says='On case 1: loss_fn was called with prediction and target of shapes ([4, 2], [4, 2]); sample i alone is a batch of one.')
def class_f_25(model, loss_fn, x, y):
    inputs, result, handles = {}, {}, []
    n = len(x)
    for name, m in model.named_modules():
        if isinstance(m, nn.Linear):
            pre = name + "." if name else ""

            def fwd(mod, inp, out):
                inputs[mod] = inp[0].detach()

            def bwd(mod, gin, gout, pre=pre):
                g = gout[0].detach() * n
                result[pre + "weight"] = torch.einsum("no,ni->noi", g, inputs[mod])
                if mod.bias is not None:
                    result[pre + "bias"] = g

            handles.append(m.register_forward_hook(fwd))
            handles.append(m.register_full_backward_hook(bwd))
    loss_fn(model(x), y).backward()
    for h in handles:
        h.remove()
    return result


@right
def class_g_01(model, loss_fn, x, y):
    net = copy.deepcopy(model)          # nothing can happen to the caller's model
    named = [(name, p) for name, p in net.named_parameters() if p.requires_grad]
    names = [name for name, _ in named]
    params = [p for _, p in named]
    rows = {name: [] for name in names}
    for i in range(len(x)):
        loss = loss_fn(net(x[i:i + 1]), y[i:i + 1])
        if params and loss.requires_grad:
            grads = torch.autograd.grad(loss, params, allow_unused=True)
        else:
            grads = [None] * len(params)
        for name, p, g in zip(names, params, grads):
            rows[name].append(torch.zeros_like(p).detach() if g is None else g.detach())
    return {name: torch.stack(r) for name, r in rows.items()}


# the mean gradient is scaled: each sample's share of the batch loss times n, which is not the loss of a batch of
# one when the mean is weighted
@wrong(mistakes.share_of_the_batch_loss)
def class_g_10(model, loss_fn, x, y):
    ps = {k: p for k, p in model.named_parameters() if p.requires_grad}
    n = len(x)
    pred = model(x)
    rows = []
    for i in range(n):
        # only row i of the prediction keeps its graph
        mask = torch.zeros(n, dtype=torch.bool, device=pred.device)
        mask[i] = True
        mask = mask.reshape(-1, *[1] * (pred.dim() - 1))
        loss = n * loss_fn(torch.where(mask, pred, pred.detach()), y)
        rows.append(torch.autograd.grad(loss, list(ps.values()), retain_graph=True, allow_unused=True))
    return {k: torch.stack([torch.zeros_like(p).detach() if r[j] is None else r[j] for r in rows])
            for j, (k, p) in enumerate(ps.items())}


@right
def class_g_12(model, loss_fn, x, y):
    params = dict(model.named_parameters())
    kept_grads = {k: p.grad for k, p in params.items()}
    kept_buffers = [b.clone() for b in model.buffers()]
    result = {k: torch.zeros((len(x),) + p.shape, dtype=p.dtype, device=p.device)
              for k, p in params.items() if p.requires_grad}
    try:
        for i, (xi, yi) in enumerate(zip(x.split(1), y.split(1))):
            for p in params.values():
                p.grad = None          # detach the old tensor, do not zero it
            loss = loss_fn(model(xi), yi)
            if loss.requires_grad:
                loss.backward()
            for k in result:
                if params[k].grad is not None:
                    result[k][i].copy_(params[k].grad)
    finally:
        for k, p in params.items():
            p.grad = kept_grads[k]
        with torch.no_grad():
            for b, old in zip(model.buffers(), kept_buffers):
                b.copy_(old)
    return result


# a tied parameter appears twice, under both of its names (remove_duplicate=False)
@wrong(mistakes.tied_parameter_twice)
def class_g_15(model, loss_fn, x, y):
    single = {k: p.detach() for k, p in model.named_parameters() if p.requires_grad}

    def f(p, xi, yi):
        return loss_fn(functional_call(model, p, (xi.unsqueeze(0),)), yi.unsqueeze(0))

    g = vmap(grad(f), in_dims=(None, 0, 0))(single, x, y)
    by_id = {id(p): g[k] for k, p in model.named_parameters() if p.requires_grad}
    # one entry for every name in the model
    return {k: by_id[id(p)] for k, p in model.named_parameters(remove_duplicate=False) if p.requires_grad}


# an optimizer step after each sample changes the parameters, for the later rows and for the caller AND
# model.train() and zero_grad() leave mode and .grad changed
@wrong(effects.changed_parameters)
def class_g_17(model, loss_fn, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model.train()
    all_grads = {name: [] for name, p in model.named_parameters() if p.requires_grad}
    for i in range(len(x)):
        optimizer.zero_grad()
        output = model(x[i:i+1])
        loss = loss_fn(output, y[i:i+1])
        loss.backward()
        for name, p in model.named_parameters():
            if p.requires_grad:
                all_grads[name].append(torch.zeros_like(p.data) if p.grad is None else p.grad.detach().clone())
        optimizer.step()
    return {name: torch.stack(g) for name, g in all_grads.items()}


class Recorder:
    """Writes down each gradient that arrives at a parameter of a copy of the model."""

    def __init__(self, model, n):
        self.model = copy.deepcopy(model)
        self.row = 0
        self.table = {}
        for name, p in self.model.named_parameters():
            if p.requires_grad:
                self.table[name] = p.detach().new_zeros((n, *p.shape))
                p.register_hook(self.writer(name))

    def writer(self, name):
        def hook(grad):
            self.table[name][self.row] = grad.detach()
        return hook

    def run(self, loss_fn, x, y):
        loss = loss_fn(self.model(x), y)
        if loss.requires_grad:
            loss.backward()
        self.row += 1

@right
def class_g_19(model, loss_fn, x, y):
    recorder = Recorder(model, len(x))
    for i in range(len(x)):
        recorder.run(loss_fn, x[i:i + 1], y[i:i + 1])
    return recorder.table


# caught input times output gradient, for nn.Linear on 2-d input alone: no entries for any other layer, wrong for
# reused or tied ones AND the mean is undone by times n, wrong for weighted means
@wrong(says='On case 7: loss_fn was called with prediction and target of shapes ([4, 3], [4, 3]); sample i alone is a batch of one.')
def class_g_21(model, loss_fn, x, y):
    acts, outs, handles = {}, {}, []

    def save(name):
        def hook(module, inputs, output):
            acts[name] = inputs[0].detach()
            outs[name] = output
        return hook

    linears = {name: m for name, m in model.named_modules() if isinstance(m, nn.Linear)}
    for name, m in linears.items():
        handles.append(m.register_forward_hook(save(name)))
    loss = loss_fn(model(x), y) * len(x)
    for h in handles:
        h.remove()
    used = [name for name in linears if name in outs]
    deltas = dict(zip(used, torch.autograd.grad(loss, [outs[name] for name in used])))
    result = {}
    for name, m in linears.items():
        prefix = name + "." if name else ""
        for which, p in (("weight", m.weight), ("bias", m.bias)):
            if p is None or not p.requires_grad:
                continue
            if name not in deltas:
                result[prefix + which] = torch.zeros(len(x), *p.shape, dtype=p.dtype, device=p.device)
            elif which == "weight":
                result[prefix + which] = torch.einsum("no,ni->noi", deltas[name], acts[name])
            else:
                result[prefix + which] = deltas[name].clone()
    return result


@right
def class_g_23(model, loss_fn, x, y):
    if len(x) > 1:
        half = len(x) // 2
        left = class_g_23(model, loss_fn, x[:half], y[:half])
        right = class_g_23(model, loss_fn, x[half:], y[half:])
        return {name: torch.cat([left[name], right[name]]) for name in left}

    # a single sample: leaves of our own and copies of the buffers
    leaves = {name: p.detach().clone().requires_grad_(p.requires_grad) for name, p in model.named_parameters()}
    buffers = {name: b.clone() for name, b in model.named_buffers()}
    loss = loss_fn(functional_call(model, (leaves, buffers), (x,)), y)
    if loss.requires_grad:
        loss.backward()
    return {name: (torch.zeros_like(p.detach()) if p.grad is None else p.grad.detach()).unsqueeze(0)
            for name, p in leaves.items() if p.requires_grad}


# .grad is left running and the rows are read off as differences, so digits are lost when .grad holds large numbers
# already AND the batch gradient's sum stays in the caller's .grad
@wrong(mistakes.gradients_left_behind)
def class_g_24(model, loss_fn, x, y):
    params = {k: p for k, p in model.named_parameters() if p.requires_grad}

    def snapshot():
        return {k: torch.zeros_like(p.data) if p.grad is None else p.grad.clone() for k, p in params.items()}

    snaps = [snapshot()]
    for i in range(len(x)):
        loss_fn(model(x[i:i+1]), y[i:i+1]).backward()
        snaps.append(snapshot())
    return {k: torch.stack([b[k] - a[k] for a, b in zip(snaps, snaps[1:])]) for k in params}


# a parameter that the loss does not use is left out of the dict, where zeros are asked
@wrong(mistakes.unused_parameter_missing)
def class_g_25(model, loss_fn, x, y):
    import copy
    m = copy.deepcopy(model)
    grads = {}
    for i in range(len(x)):
        m.zero_grad()
        loss = loss_fn(m(x[i:i+1]), y[i:i+1])
        loss.backward()
        for name, param in m.named_parameters():
            if param.grad is not None:
                grads.setdefault(name, []).append(param.grad.clone())
    return {name: torch.stack(g) for name, g in grads.items()}


@right
def class_h_06(model, loss_fn, x, y):
    params = {k: p.detach() for k, p in model.named_parameters() if p.requires_grad}
    if not params:
        return {}

    def loss_of_one(params, xi, yi):
        pred = functional_call(model, params, (xi.unsqueeze(0),))
        return loss_fn(pred, yi.unsqueeze(0))

    rows = vmap(grad(loss_of_one), in_dims=(None, 0, 0))(params, x, y)
    return {k: g.detach().clone() for k, g in rows.items()}


# leave one out, n * mean - (n - 1) * mean of the others: true for a plain mean alone, false for a weighted one
@wrong(mistakes.share_of_the_batch_loss)
def class_h_08(model, loss_fn, x, y):
    names = [k for k, p in model.named_parameters() if p.requires_grad]
    params = [p for p in model.parameters() if p.requires_grad]
    if not params:
        return {}

    def total(xs, ys):
        loss = len(xs) * loss_fn(model(xs), ys)
        if not loss.requires_grad:
            return [torch.zeros_like(p) for p in params]
        gs = torch.autograd.grad(loss, params, allow_unused=True)
        return [torch.zeros_like(p) if g is None else g for p, g in zip(params, gs)]

    everything = total(x, y)
    rows = []
    for i in range(len(x)):
        keep = torch.arange(len(x), device=x.device) != i
        rows.append([a - b for a, b in zip(everything, total(x[keep], y[keep]))])
    return {k: torch.stack([r[j] for r in rows]).detach() for j, k in enumerate(names)}


# a parameter whose gradient is None is skipped, so an unused one has no entry
@wrong(mistakes.unused_parameter_missing)
def class_h_11(model, loss_fn, x, y):
    saved = [p.grad for p in model.parameters()]
    lists = {}
    for i in range(len(x)):
        for p in model.parameters():
            p.grad = None
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        if loss.requires_grad:
            loss.backward()
        for name, p in model.named_parameters():
            if p.grad is not None:
                lists.setdefault(name, []).append(p.grad.detach().clone())
    for p, g in zip(model.parameters(), saved):
        p.grad = g
    return {name: torch.stack(l) for name, l in lists.items()}


# a list with one dict per sample is returned, not one dict of stacked rows
@wrong(mistakes.one_dict_per_sample)
def class_h_18(model, loss_fn, x, y):
    all_grads = []
    for i in range(len(x)):
        xi = x[i].unsqueeze(0)
        yi = y[i].unsqueeze(0)
        loss = loss_fn(model(xi), yi)
        grads = {}
        for name, param in model.named_parameters():
            if not param.requires_grad:
                continue
            g = None
            if loss.requires_grad:
                g = torch.autograd.grad(loss, param, retain_graph=True, allow_unused=True)[0]
            grads[name] = torch.zeros_like(param).detach() if g is None else g
        all_grads.append(grads)
    return all_grads


# a formula for one linear layer and mean square error: model and loss_fn are never called, so any other model or
# loss is wrong or raises
@raised(effects.no_such_attribute)
def class_h_19(model, loss_fn, x, y):
    w, b = model.weight.detach(), model.bias.detach()
    err = x @ w.T + b - y                      # (n, out)
    d = 2 * err / err.shape[1]
    return {"weight": torch.einsum("no,ni->noi", d, x), "bias": d}


# forward hooks and outer products of input and output gradient see nn.Linear layers alone, so other parameters get
# zeros AND the hooks are never removed
@wrong(mistakes.hooks_left_behind)
def class_h_20(model, loss_fn, x, y):
    n = len(x)
    seen = []
    def remember(layer, inputs, output):
        seen.append((layer, inputs[0].detach(), output))
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            layer.register_forward_hook(remember)
    named = {k: p for k, p in model.named_parameters() if p.requires_grad}
    ids = {id(p): k for k, p in named.items()}
    out = {k: torch.zeros((n, *p.shape), dtype=p.dtype, device=p.device) for k, p in named.items()}
    for i in range(n):
        seen.clear()
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        if not seen or not loss.requires_grad:
            continue
        outputs = [o for _, _, o in seen if o.requires_grad]
        gs = iter(torch.autograd.grad(loss, outputs, allow_unused=True))
        for layer, a, o in seen:
            g = next(gs) if o.requires_grad else None
            if g is None:
                continue
            a2, g2 = a.reshape(-1, a.shape[-1]), g.reshape(-1, g.shape[-1])
            if id(layer.weight) in ids:
                out[ids[id(layer.weight)]][i] += g2.T @ a2
            if layer.bias is not None and id(layer.bias) in ids:
                out[ids[id(layer.bias)]][i] += g2.sum(0)
    return out


@right
def class_h_22(model, loss_fn, x, y):
    copies = {
        name: p.detach().unsqueeze(0).repeat(len(x), *[1] * p.dim()).requires_grad_()
        for name, p in model.named_parameters() if p.requires_grad
    }
    if not copies:
        return {}
    losses = vmap(
        lambda own, xi, yi: loss_fn(functional_call(model, own, (xi.unsqueeze(0),)), yi.unsqueeze(0))
    )(copies, x, y)
    zero = sum(c.sum() * 0 for c in copies.values()) if not losses.requires_grad else 0
    grads = torch.autograd.grad(losses.sum() + zero, list(copies.values()), allow_unused=True)
    return {
        name: torch.zeros_like(c).detach() if g is None else g.detach()
        for (name, c), g in zip(copies.items(), grads)
    }


# an SGD step follows each sample, so the parameters are changed and the later rows belong to another model AND
# .grad is cleared by the optimizer and never put back
@wrong(effects.changed_parameters)
def class_h_23(model, loss_fn, x, y):
    params = [p for p in model.parameters() if p.requires_grad]
    if not params:
        return {}
    opt = torch.optim.SGD(params, lr=0.01)
    history = {n: [] for n, p in model.named_parameters() if p.requires_grad}
    for i in range(len(x)):
        opt.zero_grad()
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        if loss.requires_grad:
            loss.backward()
        for n, p in model.named_parameters():
            if p.requires_grad:
                g = p.grad if p.grad is not None else torch.zeros_like(p)
                history[n].append(g.detach().clone())
        opt.step()
    opt.zero_grad()
    return {n: torch.stack(h) for n, h in history.items()}


@right
def class_h_25(model, loss_fn, x, y):
    twin = copy.deepcopy(model)

    def single(xi, yi):
        twin.zero_grad(set_to_none=True)
        loss = loss_fn(twin(xi), yi)
        if loss.requires_grad:
            loss.backward()
        return {k: (torch.zeros_like(p) if p.grad is None else p.grad.clone()).detach().unsqueeze(0)
                for k, p in twin.named_parameters() if p.requires_grad}

    def solve(xs, ys):
        if len(xs) == 1:
            return single(xs, ys)
        half = len(xs) // 2
        left, right = solve(xs[:half], ys[:half]), solve(xs[half:], ys[half:])
        return {k: torch.cat([left[k], right[k]]) for k in left}

    return solve(x.detach(), y.detach())


# .grad is neither cleared nor put back: every row is the sum of all gradients so far (and of what was there before)
# AND no clone, so all rows are the same tensor AND .grad is left changed
@wrong(mistakes.same_live_grad)
def class_i_02(model, loss_fn, x, y):
    grads = {name: [] for name, p in model.named_parameters() if p.requires_grad}
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        loss.backward()
        for name, p in model.named_parameters():
            if p.requires_grad:
                grads[name].append(p.grad if p.grad is not None else torch.zeros_like(p))
    return {name: torch.stack(g) for name, g in grads.items()}


# it raises when no trainable parameter takes part in the loss (all frozen, or only an unused one trainable), where
# an empty dict or zeros are asked
@right
def class_i_08(model, loss_fn, x, y):
    P = {k: p for k, p in model.named_parameters() if p.requires_grad}
    B = [b.clone() for b in model.buffers()]
    rows = []
    for a, b in zip(x.split(1), y.split(1)):
        rows.append(torch.autograd.grad(loss_fn(model(a), b), tuple(P.values()), allow_unused=True, materialize_grads=True))
    for b, old in zip(model.buffers(), B):
        b.copy_(old)
    return dict(zip(P, map(torch.stack, zip(*rows))))


# state_dict() gives every entry, so frozen parameters (and float buffers) get entries, and a tied parameter or an
# integer buffer raises
@wrong(effects.extra_entries)
def class_i_09(model, loss_fn, x, y):
    state = {k: v.detach() for k, v in model.state_dict().items()}
    def loss_one(state, xi, yi):
        return loss_fn(functional_call(model, state, (xi.unsqueeze(0),)), yi.unsqueeze(0))
    return vmap(grad(loss_one), in_dims=(None, 0, 0))(state, x, y)


# one backward for the whole batch, and its gradient divided by n is repeated for every sample: no per-sample
# gradients at all
@wrong(says='The numbers are those of a known mistake, times 1/[the number of samples]. The gradient of the batch in every row (batch-gradient-repeated)')
def class_i_10(model, loss_fn, x, y):
    n = len(x)
    params = [(k, p) for k, p in model.named_parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    grads = torch.autograd.grad(loss, [p for k, p in params], allow_unused=True, materialize_grads=True)
    return {k: (g / n).expand(n, *p.shape).clone() for (k, p), g in zip(params, grads)}


@right
def class_i_12(model, loss_fn, x, y):
    everything = list(model.named_parameters())
    trainable = [(n, p) for n, p in everything if p.requires_grad]
    old_grads = [p.grad for _, p in everything]
    old_buffers = [b.detach().clone() for b in model.buffers()]
    x, y = x.detach(), y.detach()
    rows = {n: [] for n, _ in trainable}
    for i in range(len(x)):
        for _, p in trainable:
            p.grad = None              # a new tensor next time, the old one stays untouched
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        if loss.requires_grad:
            loss.backward()
        for n, p in trainable:
            rows[n].append(torch.zeros_like(p.detach()) if p.grad is None else p.grad.clone())
    for (_, p), g in zip(everything, old_grads):
        p.grad = g
    for b, old in zip(model.buffers(), old_buffers):
        b.data.copy_(old)
    return {n: torch.stack(r) for n, r in rows.items()}


@right
def class_i_16(model, loss_fn, x, y):
    theta = {k: p.detach().clone().requires_grad_(True)
             for k, p in model.named_parameters() if p.requires_grad}

    def rows(a, b):
        if len(a) > 1:
            m = len(a) // 2
            left, right = rows(a[:m], b[:m]), rows(a[m:], b[m:])
            return {k: torch.cat([left[k], right[k]]) for k in theta}
        state = {**theta, **{k: v.detach().clone() for k, v in model.named_buffers()}}
        loss = loss_fn(functional_call(model, state, (a,)), b)
        # the zero sum ties every parameter to the loss, the unused ones too
        loss = loss + sum(t.reshape(-1)[:0].sum() for t in theta.values())
        if not theta:
            return {}
        gs = torch.autograd.grad(loss, list(theta.values()))
        return {k: g.detach().unsqueeze(0).clone() for k, g in zip(theta, gs)}

    return rows(x.detach(), y.detach())


# frozen parameters are not left out: backward gives them no .grad, and None.clone() raises an AttributeError (for
# an unused one too)
@raised(effects.grad_is_none)
def class_i_17(model, loss_fn, x, y):
    before = {n: p.grad for n, p in model.named_parameters()}
    result = {n: [] for n, p in model.named_parameters()}
    for i in range(len(x)):
        for p in model.parameters():
            p.grad = None
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        loss.backward()
        for n, p in model.named_parameters():
            result[n].append(p.grad.clone())
    for n, p in model.named_parameters():
        p.grad = before[n]
    return {n: torch.stack(v) for n, v in result.items()}


# where .grad was None it is left as a tensor of zeros AND every row is divided by n, as if the batch mean still
# stood in it
@wrong(mistakes.rows_divided_by_n)
def class_i_18(model, loss_fn, x, y):
    n = len(x)
    ps = [(k, p) for k, p in model.named_parameters() if p.requires_grad]
    saved = [p.grad.clone() if p.grad is not None else torch.zeros_like(p) for _, p in ps]
    out = {k: p.new_zeros((n, *p.shape)).detach() for k, p in ps}
    for i in range(n):
        for k, p in ps:
            p.grad = torch.zeros_like(p)
        (loss_fn(model(x[i:i+1]), y[i:i+1]) / n).backward()
        for k, p in ps:
            out[k][i] = p.grad
    for (_, p), g in zip(ps, saved):
        p.grad = g
    return out


# only nn.Linear layers on 2-d inputs are handled, by outer products: parameters of other layers, and unused ones,
# have no entry, a weight tied between two layers has two, and a layer that is used twice keeps its last use alone
# AND the hooks are never removed
@wrong(mistakes.hooks_left_behind)
def class_i_20(model, loss_fn, x, y):
    acts, out = {}, {}
    def fwd(name):
        def hook(mod, inp, o):
            acts[name] = inp[0].detach()
            o.register_hook(lambda g: save(name, mod, g))
        return hook
    def save(name, mod, g):
        if mod.weight.requires_grad:
            out[name + "weight"].append(g.unsqueeze(2) * acts[name].unsqueeze(1))
        if mod.bias is not None and mod.bias.requires_grad:
            out[name + "bias"].append(g)
    for name, mod in model.named_modules():
        if isinstance(mod, nn.Linear):
            mod.register_forward_hook(fwd(name + "." if name else ""))
    rows = []
    params = [p for p in model.parameters() if p.requires_grad]
    for i in range(len(x)):
        out.clear()
        for name, mod in model.named_modules():
            if isinstance(mod, nn.Linear):
                pre = name + "." if name else ""
                out[pre + "weight"], out[pre + "bias"] = [], []
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        torch.autograd.grad(loss, params, allow_unused=True)
        rows.append({k: v[0].detach() for k, v in out.items() if v})
    return {k: torch.cat([r[k] for r in rows]) for k in rows[0]}


# squeeze() on the result drops every dimension of size one: the batch for n = 1, and dimensions of size one of the
# parameters
@wrong(effects.wrong_shape)
def class_i_22(model, loss_fn, x, y):
    named = {k: p for k, p in model.named_parameters() if p.requires_grad}
    losses = torch.stack([loss_fn(model(a), b) for a, b in zip(x.split(1), y.split(1))])
    eye = torch.eye(len(x), dtype=losses.dtype, device=losses.device)
    g = torch.autograd.grad(losses, list(named.values()), eye, is_grads_batched=True, allow_unused=True)
    full = {k: (p.new_zeros((len(x), *p.shape)) if gi is None else gi) for (k, p), gi in zip(named.items(), g)}
    return {k: v.detach().squeeze() for k, v in full.items()}


@right
def class_i_23(model, loss_fn, x, y):
    names = [k for k, p in model.named_parameters() if p.requires_grad]
    if len(names) == 0:
        return {}
    values = tuple(p.detach() for p in model.parameters() if p.requires_grad)
    x, y = x.detach(), y.detach()

    def all_losses(*values):
        out = []
        for k in range(x.shape[0]):
            bufs = {n: b.clone() for n, b in model.named_buffers()}
            pred = functional_call(model, {**bufs, **dict(zip(names, values))}, (x[k:k + 1],))
            out.append(loss_fn(pred, y[k:k + 1]))
        return torch.stack(out)

    return dict(zip(names, jacobian(all_losses, values)))


# the rows go through NumPy into torch.FloatTensor, so float64 gradients become float32 (on the CPU) AND
# requires_grad is switched on for the frozen parameters, which get entries and are left unfrozen
@wrong(effects.wrong_dtype)
def class_i_24(model, loss_fn, x, y):
    for p in model.parameters():
        p.requires_grad = True
    names = [n for n, _ in model.named_parameters()]
    rows = [[] for _ in names]
    for i in range(len(x)):
        loss = loss_fn(model(x[i:i+1]), y[i:i+1])
        gs = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
        for r, g, p in zip(rows, gs, model.parameters()):
            r.append(g.cpu().numpy() if g is not None else np.zeros(p.shape))
    return {n: torch.FloatTensor(np.array(r)) for n, r in zip(names, rows)}


# the gradients are measured with forward differences in place of being computed, far too coarse, in float32 above
# all
@wrong(says='digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_i_25(model, loss_fn, x, y):
    eps = 1e-3
    result = {}
    with torch.no_grad():
        def losses():
            return torch.stack([loss_fn(model(x[i:i+1]), y[i:i+1]) for i in range(len(x))])
        base = losses()
        for name, p in model.named_parameters():
            if not p.requires_grad:
                continue
            G = torch.zeros(len(x), p.numel(), dtype=p.dtype, device=p.device)
            orig = p.data.clone()
            for j in range(p.numel()):
                bumped = orig.clone().reshape(-1)
                bumped[j] += eps
                p.data.copy_(bumped.reshape(p.shape))
                G[:, j] = (losses() - base) / eps
                p.data.copy_(orig)
            result[name] = G.reshape(len(x), *p.shape)
    return result


# what most write first: x[i], backward, and what is then in .grad
@wrong(mistakes.batch_dimension_lost_and_grad_written)
def x_i_backward_and_read(model, loss_fn, x, y):
    rows = {n: [] for n, p in model.named_parameters() if p.requires_grad}
    for i in range(len(x)):
        model.zero_grad()
        loss_fn(model(x[i]), y[i]).backward()
        for n, p in model.named_parameters():
            if n in rows:
                rows[n].append(torch.zeros_like(p) if p.grad is None else p.grad.clone())
    return {n: torch.stack(r).detach() for n, r in rows.items()}


@wrong(mistakes.batch_dimension_lost_and_grad_written)
def rows_of_zip_never_cleared(model, loss_fn, x, y):
    rows = {n: [] for n, p in model.named_parameters() if p.requires_grad}
    for xi, yi in zip(x, y):
        loss_fn(model(xi), yi).backward()
        for n, p in model.named_parameters():
            if n in rows:
                rows[n].append(torch.zeros_like(p).detach() if p.grad is None else p.grad.clone())
    return {n: torch.stack(r) for n, r in rows.items()}


@wrong(mistakes.batch_dimension_lost_and_grad_written)
def target_by_index_and_zeroed(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        model.zero_grad(set_to_none=False)
        loss_fn(model(x[i : i + 1]), y[i]).backward()
        for n, p in named.items():
            rows[n].append(torch.zeros_like(p).detach() if p.grad is None else p.grad.clone())
    return {n: torch.stack(r) for n, r in rows.items()}
