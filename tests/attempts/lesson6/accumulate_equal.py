"""Attempts at exercise 6.1, accumulate_equal: what learners write, and what the check must say of it."""

import copy

import torch
from torch.func import functional_call, grad, vmap
from torch.utils.checkpoint import checkpoint

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson6.accumulate_equal import mistakes


@right
def loss_divided(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
        loss.backward()


@right
def grad_divided_afterwards(model, loss_fn, micro_batches):
    for p in model.parameters():
        p.grad = None
    k = 0
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
        k += 1
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= k


@right
def grad_divided_anew(model, loss_fn, micro_batches):
    model.zero_grad(set_to_none=True)
    for x, y in micro_batches:
        pred = model(x)
        loss = loss_fn(pred, y)
        loss.backward()
    for p in model.parameters():
        if p.requires_grad and p.grad is not None:
            p.grad = p.grad / len(micro_batches)
    return loss.item()


@right
def factor_given_to_backward(model, loss_fn, micro_batches):
    model.zero_grad()
    share = 1 / len(micro_batches)
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        loss.backward(gradient=torch.full_like(loss, share))


@right
def asked_of_autograd(model, loss_fn, micro_batches):
    params = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p) for p in params]
    for x, y in micro_batches:
        found = torch.autograd.grad(loss_fn(model(x), y), params, allow_unused=True)
        sums = [s if g is None else s + g for s, g in zip(sums, found)]
    for p, s in zip(params, sums):
        p.grad = s / len(micro_batches)


@right
def functional(model, loss_fn, micro_batches):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def loss_of(values, x, y):
        return loss_fn(functional_call(model, values, (x,)), y)

    found = [grad(loss_of)(params, x, y) for x, y in micro_batches]
    for name, p in model.named_parameters():
        if name in params:
            p.grad = sum(one[name] for one in found) / len(found)


@right
def row_by_row(model, loss_fn, micro_batches):
    model.zero_grad()
    rows = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        losses = [loss_fn(model(x[i : i + 1]), y[i : i + 1]) for i in range(len(x))]
        (sum(losses) / rows).backward()


@right
def per_sample_in_each_micro_batch(model, loss_fn, micro_batches):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def one(values, a, b):
        return loss_fn(functional_call(model, values, (a[None],)), b[None])

    total = {n: torch.zeros_like(p) for n, p in params.items()}
    for x, y in micro_batches:
        for name, rows in vmap(grad(one), in_dims=(None, 0, 0))(params, x, y).items():
            total[name] += rows.mean(0)
    for name, p in model.named_parameters():
        if name in total:
            p.grad = total[name] / len(micro_batches)


@right
def hooks_that_are_removed(model, loss_fn, micro_batches):
    model.zero_grad()
    k = len(micro_batches)
    handles = [p.register_hook(lambda g: g / k) for p in model.parameters() if p.requires_grad]
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
    for handle in handles:
        handle.remove()


@right
def running_mean(model, loss_fn, micro_batches):
    mean = {}
    for count, (x, y) in enumerate(micro_batches, 1):
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            if p.grad is not None:
                old = mean.get(name, torch.zeros_like(p.grad))
                mean[name] = old + (p.grad - old) / count
    for name, p in model.named_parameters():
        p.grad = mean.get(name)


@right
def by_a_copy(model, loss_fn, micro_batches):
    worker = copy.deepcopy(model)
    worker.zero_grad()
    for x, y in micro_batches:
        (loss_fn(worker(x), y) / len(micro_batches)).backward()
    for p, q in zip(model.parameters(), worker.parameters()):
        p.grad = q.grad


@right
def with_an_optimizer_of_its_own(model, loss_fn, micro_batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    n = len(micro_batches)
    while n > 0:
        n -= 1
        x, y = micro_batches[n]
        torch.autograd.backward([loss_fn(model.forward(x), y).mul(1 / len(micro_batches))])


@right
def checkpointed(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        out = checkpoint(model, x, use_reentrant=False, preserve_rng_state=False)
        (loss_fn(out, y) / len(micro_batches)).backward()


@right
def one_forward_to_log_all(model, loss_fn, micro_batches):
    with torch.no_grad():
        xs = torch.cat([x for x, _ in micro_batches])
        ys = torch.cat([y for _, y in micro_batches])
        before = loss_fn(model(xs), ys).item()
    model.zero_grad()
    history = []
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
        loss.backward()
        history.append(loss)
    return before, history


# ------------------------------------------------------------------ wrong


@wrong(mistakes.not_divided)
def summed(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()


@wrong(mistakes.not_cleared)
def zero_grad_forgotten(model, loss_fn, micro_batches):
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
        loss.backward()


@wrong(mistakes.old_gradients_and_weights)
def neither_cleared_nor_divided(model, loss_fn, micro_batches):
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()


@wrong(mistakes.old_gradients_scaled_in)
def divided_afterwards_and_not_cleared(model, loss_fn, micro_batches):
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= len(micro_batches)


@wrong(mistakes.cleared_in_each_round)
def as_in_a_training_loop(model, loss_fn, micro_batches):
    for x, y in micro_batches:
        model.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()


@wrong(mistakes.cleared_in_each_round)
def as_in_a_training_loop_and_divided(model, loss_fn, micro_batches):
    for x, y in micro_batches:
        model.zero_grad(set_to_none=False)
        loss = loss_fn(model(x), y) / len(micro_batches)
        loss.backward()


@wrong(mistakes.last_alone)
def backward_beside_the_loop(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
    loss.backward()


@wrong(mistakes.first_alone)
def return_in_the_loop(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
        loss.backward()
        return loss.item()


@wrong(mistakes.assigned_not_added)
def put_and_not_added(model, loss_fn, micro_batches):
    params = [p for p in model.parameters() if p.requires_grad]
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
        for p, g in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):
            p.grad = g


@wrong(mistakes.cleared_at_the_end)
def tidied_up(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
    model.zero_grad()


@wrong(mistakes.nothing_sent)
def backward_without_parentheses(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
        loss.backward


@wrong(mistakes.divided_by_rows)
def divided_by_the_rows_of_a_micro_batch(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(x)).backward()


@wrong(mistakes.divided_by_all_rows)
def divided_by_the_number_of_samples(model, loss_fn, micro_batches):
    model.zero_grad()
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) / samples).backward()


@wrong(mistakes.divided_twice)
def loss_and_grad_divided(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= len(micro_batches)


@wrong(mistakes.summed_over_rows)
def means_made_sums(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x)).backward()


@wrong(mistakes.scaled_in_each_round)
def grad_divided_in_the_loop(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= len(micro_batches)


@wrong(mistakes.counted_again)
def running_loss_retained(model, loss_fn, micro_batches):
    model.zero_grad()
    total = 0
    for x, y in micro_batches:
        total = total + loss_fn(model(x), y) / len(micro_batches)
        total.backward(retain_graph=True)


@wrong(mistakes.cancelled_not_cleared)
def times_zero(model, loss_fn, micro_batches):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.mul_(0)
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()


@wrong(mistakes.unused_not_cleared)
def written_where_there_is_one(model, loss_fn, micro_batches):
    params = [p for p in model.parameters() if p.requires_grad]
    sums = [None] * len(params)
    for x, y in micro_batches:
        found = torch.autograd.grad(loss_fn(model(x), y), params, allow_unused=True)
        sums = [g if s is None else s + g if g is not None else s for s, g in zip(sums, found)]
    for p, s in zip(params, sums):
        if s is not None:
            p.grad = s / len(micro_batches)


@wrong(mistakes.cleared_in_part)
def weights_cleared(model, loss_fn, micro_batches):
    for name, p in model.named_parameters():
        if "weight" in name:
            p.grad = None
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()


@wrong(mistakes.frozen_given_zeros)
def zeros_for_everyone(model, loss_fn, micro_batches):
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()


@wrong(mistakes.prediction_and_target_swapped)
def target_first(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(y, model(x)) / len(micro_batches)).backward()


@wrong(mistakes.mean_of_old_and_new)
def averaged_with_what_is_there(model, loss_fn, micro_batches):
    params = [p for p in model.parameters() if p.requires_grad]
    model.zero_grad()
    for x, y in micro_batches:
        for p, g in zip(params, torch.autograd.grad(loss_fn(model(x), y), params, allow_unused=True)):
            if g is not None:
                p.grad = g if p.grad is None else (p.grad + g) / 2


@wrong(mistakes.scaled_in_each_round)
def divided_by_the_number_so_far_in_each_round(model, loss_fn, micro_batches):
    model.zero_grad()
    for number, (x, y) in enumerate(micro_batches, 1):
        loss_fn(model(x), y).backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= number


@wrong(mistakes.predicted_in_eval_mode)
def in_eval_mode(model, loss_fn, micro_batches):
    modes = [m.training for m in model.modules()]
    model.eval()
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
    for m, mode in zip(model.modules(), modes):
        m.training = mode


@wrong(mistakes.put_into_train_mode)
def in_train_mode(model, loss_fn, micro_batches):
    model.train()
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()


@wrong(effects.changed_parameters)
def stepped_too(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= 0.1 * p.grad


@wrong(effects.changed_input)
def used_up(model, loss_fn, micro_batches):
    model.zero_grad()
    k = len(micro_batches)
    while micro_batches:
        x, y = micro_batches.pop(0)
        (loss_fn(model(x), y) / k).backward()


@wrong(says="[the number of micro-batches]/2 times what it should be")
def always_two(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / 2).backward()


# ------------------------------------------------------------------ a rule broken


@wrong(mistakes.several_graphs_at_once)
def one_backward_for_the_sum(model, loss_fn, micro_batches):
    model.zero_grad()
    total = 0
    for x, y in micro_batches:
        total = total + loss_fn(model(x), y)
    (total / len(micro_batches)).backward()


@wrong(mistakes.several_graphs_at_once)
def forwards_first(model, loss_fn, micro_batches):
    model.zero_grad()
    losses = [loss_fn(model(x), y) for x, y in micro_batches]
    for loss in losses:
        (loss / len(losses)).backward()


@wrong(mistakes.several_graphs_at_once)
def joined(model, loss_fn, micro_batches):
    model.zero_grad()
    x = torch.cat([a for a, _ in micro_batches])
    y = torch.cat([b for _, b in micro_batches])
    loss_fn(model(x), y).backward()


@wrong(mistakes.several_graphs_at_once)
def retained(model, loss_fn, micro_batches):
    model.zero_grad()
    losses = []
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        (loss / len(micro_batches)).backward(retain_graph=True)
        losses.append(loss)
    return torch.stack(losses).mean().item()


@wrong(mistakes.several_graphs_at_once)
def mapped_over_the_micro_batches(model, loss_fn, micro_batches):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
    x = torch.stack([a for a, _ in micro_batches])
    y = torch.stack([b for _, b in micro_batches])

    def loss_of(values, a, b):
        return loss_fn(functional_call(model, values, (a,)), b)

    found = vmap(grad(loss_of), in_dims=(None, 0, 0))(params, x, y)
    for name, p in model.named_parameters():
        if name in found:
            p.grad = found[name].mean(0)


@wrong(mistakes.hooks_left_behind)
def hooks_that_stay(model, loss_fn, micro_batches):
    model.zero_grad()
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda g: g / len(micro_batches))
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()


@raised(effects.graph_freed)
def running_loss(model, loss_fn, micro_batches):
    model.zero_grad()
    total = 0
    for x, y in micro_batches:
        total = total + loss_fn(model(x), y) / len(micro_batches)
        total.backward()


@raised(effects.no_graph)
def numbers_added(model, loss_fn, micro_batches):
    model.zero_grad()
    total = 0.0
    for x, y in micro_batches:
        total += loss_fn(model(x), y).item()
    torch.tensor(total / len(micro_batches)).backward()


@wrong(mistakes.counted_twice_in_a_running_mean)
def running_mean_counted_too_early(model, loss_fn, micro_batches):
    model.zero_grad()
    seen = 0
    for x, y in micro_batches:
        seen += 1
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(seen / (seen + 1))
        (loss_fn(model(x), y) / (seen + 1)).backward()


@right
def running_mean_counted_in_time(model, loss_fn, micro_batches):
    model.zero_grad()
    seen = 0
    for x, y in micro_batches:
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(seen / (seen + 1))
        (loss_fn(model(x), y) / (seen + 1)).backward()
        seen += 1
