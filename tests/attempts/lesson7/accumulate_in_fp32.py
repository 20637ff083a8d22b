"""Attempts at exercise 7.4, accumulate_in_fp32: what learners write, and what the check must say of it."""

import copy

import torch
from torch.func import functional_call, grad, vmap

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson7.accumulate_in_fp32 import mistakes


@right
def handed_back_and_added(model, loss_fn, micro_batches):
    names = [n for n, p in model.named_parameters() if p.requires_grad]
    params = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros(p.shape, dtype=torch.float32, device=p.device) for p in params]
    for x, y in micro_batches:
        for i, g in enumerate(torch.autograd.grad(loss_fn(model(x), y), params, allow_unused=True)):
            if g is not None:
                sums[i] += g.to(torch.float32)
    return {n: s / len(micro_batches) for n, s in zip(names, sums)}


@right
def a_float32_copy(model, loss_fn, micro_batches):
    twin = copy.deepcopy(model).to(torch.float32)
    k = len(micro_batches)
    for x, y in micro_batches:
        (loss_fn(twin(x.float()), y.float()) / k).backward()
    return {
        name: torch.zeros_like(p) if p.grad is None else p.grad
        for name, p in twin.named_parameters()
        if p.requires_grad
    }


@right
def moved_out_of_grad(model, loss_fn, micro_batches):
    """A main buffer beside .grad, emptied after each micro-batch, as large trainers do it."""
    held = {p: p.grad for p in model.parameters()}
    main = {n: torch.zeros_like(p, dtype=torch.float) for n, p in model.named_parameters() if p.requires_grad}
    for p in held:
        p.grad = None
    for x, y in micro_batches:
        loss_fn(model(x), y).div(len(micro_batches)).backward()
        for n, p in model.named_parameters():
            if p.grad is not None:
                main[n].add_(p.grad)
                p.grad = None
    for p, old in held.items():
        p.grad = old
    return main


@right
def by_hooks(model, loss_fn, micro_batches):
    """Hooks take what arrives, and go when all is done."""
    main, handles, held = {}, [], []
    for name, p in model.named_parameters():
        held.append((p, p.grad))
        p.grad = None
        if p.requires_grad:
            main[name] = torch.zeros(p.size())

            def take(p, name=name):
                main[name] += p.grad.float()
                p.grad = None

            handles.append(p.register_post_accumulate_grad_hook(take))
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
    for handle in handles:
        handle.remove()
    for p, old in held:
        p.grad = old
    return {name: total / len(micro_batches) for name, total in main.items()}


@right
def weights_that_are_float32(model, loss_fn, micro_batches):
    """Functional: the same numbers in float32, no second model."""
    frozen = {n: p.float() for n, p in model.named_parameters() if not p.requires_grad}
    frozen |= {n: b.float() if b.is_floating_point() else b for n, b in model.named_buffers()}
    weights = {n: p.detach().float() for n, p in model.named_parameters() if p.requires_grad}

    def loss(weights, x, y):
        return loss_fn(functional_call(model, {**weights, **frozen}, (x,)), y)

    # All micro-batches at once, as vmap does it, and the mean over the first dimension.
    x, y = (torch.stack(parts).float() for parts in zip(*micro_batches))
    each = vmap(grad(loss), in_dims=(None, 0, 0))(weights, x, y)
    return {n: g.mean(0) for n, g in each.items()}


@right
def with_compensation(model, loss_fn, micro_batches):
    """Kahan: what a bfloat16 sum loses is kept in a second bfloat16 tensor."""
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    sums = {n: torch.zeros_like(p) for n, p in params.items()}
    lost = {n: torch.zeros_like(p) for n, p in params.items()}
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y), list(params.values()), allow_unused=True)
        for n, g in zip(params, gradients):
            if g is None:
                continue
            add = g - lost[n]
            new = sums[n] + add
            lost[n] = (new - sums[n]) - add
            sums[n] = new
    return {n: (s.float() - lost[n].float()).detach() / len(micro_batches) for n, s in sums.items()}


@right
def the_whole_window(model, loss_fn, micro_batches):
    x, y = torch.cat([a for a, _ in micro_batches]), torch.cat([b for _, b in micro_batches])
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    found = torch.autograd.grad(loss_fn(model(x), y), list(params.values()), materialize_grads=True, allow_unused=True)
    return {n: g.float() for n, g in zip(params, found)}


@right
def float64_sums(model, loss_fn, micro_batches):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = sum(len(x) for x, _ in micro_batches)
    sums = {n: torch.zeros_like(p, dtype=torch.float64) for n, p in params.items()}
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y), list(params.values()), allow_unused=True)
        for s, g in zip(sums.values(), gradients):
            s += 0 if g is None else g * (len(x) / rows)
    return {n: s.to(torch.float32) for n, s in sums.items()}


# ------------------------------------------------------------------ wrong


def kept(model):
    return [(p, None if p.grad is None else p.grad.clone()) for p in model.parameters()]


def put_back(held):
    for p, old in held:
        p.grad = old


@wrong(mistakes.summed_in_bfloat16)
def float_at_the_end(model, loss_fn, micro_batches):
    held = kept(model)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
    found = {
        n: torch.zeros_like(p).float() if p.grad is None else p.grad.float()
        for n, p in model.named_parameters()
        if p.requires_grad
    }
    put_back(held)
    return found


@wrong(mistakes.summed_in_bfloat16)
def zeros_like_the_parameter(model, loss_fn, micro_batches):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    sums = {n: torch.zeros_like(p) for n, p in params.items()}
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y), list(params.values()), allow_unused=True)
        for n, g in zip(params, gradients):
            if g is not None:
                sums[n] += g
    return {n: s.detach().float() / len(micro_batches) for n, s in sums.items()}


@wrong(mistakes.running_mean_in_bfloat16)
def a_running_mean(model, loss_fn, micro_batches):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    mean = {n: torch.zeros_like(p) for n, p in params.items()}
    for i, (x, y) in enumerate(micro_batches):
        gradients = torch.autograd.grad(loss_fn(model(x), y), list(params.values()), allow_unused=True)
        for n, g in zip(params, gradients):
            if g is not None:
                mean[n] = mean[n] + (g - mean[n]) / (i + 1)
    return {n: m.detach().float() for n, m in mean.items()}


@wrong(mistakes.summed_in_float16)
def in_half(model, loss_fn, micro_batches):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    sums = {n: torch.zeros(p.shape, dtype=torch.half) for n, p in params.items()}
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y), list(params.values()), allow_unused=True)
        for n, g in zip(params, gradients):
            if g is not None:
                sums[n] += g.half()
    return {n: s.float() / len(micro_batches) for n, s in sums.items()}


def summed(model, loss_fn, micro_batches):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    sums = {n: torch.zeros(p.shape) for n, p in params.items()}
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y), list(params.values()), allow_unused=True)
        for n, g in zip(params, gradients):
            if g is not None:
                sums[n] += g
    return sums


@wrong(mistakes.sums_so_far_added_up)
def a_buffer_beside_a_full_grad(model, loss_fn, micro_batches):
    """Way 2 of the lesson, without the line that empties .grad."""
    held = kept(model)
    model.zero_grad()
    main = {n: torch.zeros_like(p, dtype=torch.float32) for n, p in model.named_parameters() if p.requires_grad}
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
        for n, p in model.named_parameters():
            if p.grad is not None:
                main[n] += p.grad.float()
    put_back(held)
    return main


@wrong(mistakes.sums_so_far_added_up)
def a_float32_twin_and_a_buffer(model, loss_fn, micro_batches):
    twin = copy.deepcopy(model).float()
    twin.zero_grad()
    main = {n: torch.zeros_like(p) for n, p in twin.named_parameters() if p.requires_grad}
    for x, y in micro_batches:
        loss_fn(twin(x.float()), y.float()).backward()
        for n, p in twin.named_parameters():
            if p.grad is not None:
                main[n] += p.grad
    return {n: total.detach() / len(micro_batches) for n, total in main.items()}


@wrong(mistakes.returned_in_bfloat16)
def back_to_the_dtype_of_the_model(model, loss_fn, micro_batches):
    sums = summed(model, loss_fn, micro_batches)
    return {n: (sums[n] / len(micro_batches)).to(p.dtype) for n, p in model.named_parameters() if n in sums}


@wrong(mistakes.returned_in_float64)
def in_double(model, loss_fn, micro_batches):
    return {n: s.double() / len(micro_batches) for n, s in summed(model, loss_fn, micro_batches).items()}


@wrong(mistakes.not_divided)
def the_sum(model, loss_fn, micro_batches):
    return summed(model, loss_fn, micro_batches)


@wrong(mistakes.not_divided_and_frozen_given_zeros)
def the_sum_on_a_copy_of_everything(model, loss_fn, micro_batches):
    twin = copy.deepcopy(model).float()
    twin.zero_grad()
    for x, y in micro_batches:
        loss_fn(twin(x.float()), y.float()).backward()
    return {n: torch.zeros_like(p).detach() if p.grad is None else p.grad for n, p in twin.named_parameters()}


@wrong(mistakes.divided_twice)
def divided_before_and_after(model, loss_fn, micro_batches):
    k = len(micro_batches)
    found = summed(model, lambda prediction, target: loss_fn(prediction, target) / k, micro_batches)
    return {n: s / k for n, s in found.items()}


@wrong(mistakes.divided_by_rows)
def over_all_rows(model, loss_fn, micro_batches):
    rows = sum(len(x) for x, _ in micro_batches)
    return {n: s / rows for n, s in summed(model, loss_fn, micro_batches).items()}


@wrong(mistakes.divided_by_rows_of_one)
def over_the_batch_size(model, loss_fn, micro_batches):
    size = micro_batches[0][0].shape[0]
    return {n: s / size for n, s in summed(model, loss_fn, micro_batches).items()}


@wrong(mistakes.last_micro_batch_alone)
def overwritten(model, loss_fn, micro_batches):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y), list(params.values()), allow_unused=True)
    return {n: torch.zeros_like(p).float() if g is None else g.float() for (n, p), g in zip(params.items(), gradients)}


@wrong(mistakes.earlier_gradients_counted)
def on_top_of_the_old(model, loss_fn, micro_batches):
    held = kept(model)
    sums = {n: torch.zeros(p.shape) for n, p in model.named_parameters() if p.requires_grad}
    for n, p in model.named_parameters():
        if n in sums and p.grad is not None:
            sums[n] += p.grad
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for n, p in model.named_parameters():
            if n in sums and p.grad is not None:
                sums[n] += p.grad
    put_back(held)
    return {n: s / len(micro_batches) for n, s in sums.items()}


@wrong(mistakes.put_into_train_mode)
def in_train_mode(model, loss_fn, micro_batches):
    model.train()
    return {n: s / len(micro_batches) for n, s in summed(model, loss_fn, micro_batches).items()}


@wrong(effects.changed_grad)
def cleared_at_the_end(model, loss_fn, micro_batches):
    total = {n: torch.zeros(p.shape) for n, p in model.named_parameters() if p.requires_grad}
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for n, p in model.named_parameters():
            if p.grad is not None:
                total[n] += p.grad.float() / len(micro_batches)
    model.zero_grad()
    return total


@wrong(effects.changed_parameters)
def model_turned_into_float32(model, loss_fn, micro_batches):
    grads = kept(model)
    model.float()
    found = summed(model, loss_fn, [(x.float(), y.float()) for x, y in micro_batches])
    for p, old in grads:
        p.grad = None if old is None else old.to(p.dtype)
    return {n: s / len(micro_batches) for n, s in found.items()}


@wrong(effects.missing_entries)
def unused_left_out(model, loss_fn, micro_batches):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    sums = {}
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y), list(params.values()), allow_unused=True)
        for n, g in zip(params, gradients):
            if g is not None:
                sums[n] = sums.get(n, 0) + g.float() / len(micro_batches)
    return sums


@wrong(effects.extra_entries)
def frozen_as_zeros(model, loss_fn, micro_batches):
    found = summed(model, loss_fn, micro_batches)
    return {
        n: found[n] / len(micro_batches) if n in found else torch.zeros(p.shape) for n, p in model.named_parameters()
    }


@wrong(effects.extra_entries)
def tied_twice(model, loss_fn, micro_batches):
    found = {n: s / len(micro_batches) for n, s in summed(model, loss_fn, micro_batches).items()}
    by_id = {id(p): n for n, p in model.named_parameters()}
    every = model.named_parameters(remove_duplicate=False)
    return {n: found[by_id[id(p)]] for n, p in every if by_id[id(p)] in found}


@raised(effects.not_in_the_graph)
def unused_forgotten(model, loss_fn, micro_batches):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    sums = {n: 0 for n in params}
    for x, y in micro_batches:
        for n, g in zip(params, torch.autograd.grad(loss_fn(model(x), y), list(params.values()))):
            sums[n] = sums[n] + g.float() / len(micro_batches)
    return sums


@raised(mistakes.none_taken_for_a_gradient)
def none_has_no_float(model, loss_fn, micro_batches):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    sums = {n: 0 for n in params}
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y), list(params.values()), allow_unused=True)
        for n, g in zip(params, gradients):
            sums[n] = sums[n] + g.float() / len(micro_batches)
    return sums


@raised(effects.mixed_dtypes)
def copy_without_its_inputs(model, loss_fn, micro_batches):
    twin = copy.deepcopy(model).float()
    return {n: s / len(micro_batches) for n, s in summed(twin, loss_fn, micro_batches).items()}


@wrong(effects.carries_a_graph)
def with_a_graph(model, loss_fn, micro_batches):
    params = {n: p for n, p in model.named_parameters() if p.requires_grad}
    sums = {n: torch.zeros(p.shape) for n, p in params.items()}
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        gradients = torch.autograd.grad(loss, list(params.values()), allow_unused=True, create_graph=True)
        for n, g in zip(params, gradients):
            if g is not None:
                sums[n] = sums[n] + g.float() / len(micro_batches)
    return sums


@right
def a_float64_copy_and_targets_as_they_came(model, loss_fn, micro_batches):
    twin = copy.deepcopy(model).double()
    twin.zero_grad()
    for x, y in micro_batches:
        (loss_fn(twin(x.double()), y) / len(micro_batches)).backward()
    return {
        name: (torch.zeros_like(p) if p.grad is None else p.grad).float()
        for name, p in twin.named_parameters()
        if p.requires_grad
    }
