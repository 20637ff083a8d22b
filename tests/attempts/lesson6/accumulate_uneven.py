"""Attempts at exercise 6.2, accumulate_uneven: what learners write, and what the check must say of it."""

import copy

import torch
from torch.func import functional_call, grad, vjp, vmap

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson6.accumulate_uneven import mistakes


@right
def share_of_the_rows(model, loss_fn, micro_batches):
    total = sum(x.shape[0] for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        (loss * x.shape[0] / total).backward()


@right
def sums_then_divided(model, loss_fn, micro_batches):
    for p in model.parameters():
        p.grad = None
    count = 0
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        count += len(x)
    for p in model.parameters():
        if p.grad is not None:
            p.grad.div_(count)


@right
def share_given_to_backward(model, loss_fn, micro_batches):
    n = [len(y) for _, y in micro_batches]
    model.zero_grad()
    for (x, y), rows in zip(micro_batches, n):
        out = loss_fn(model(x), y)
        out.backward(out.new_tensor(rows / sum(n)))


@right
def row_by_row(model, loss_fn, micro_batches):
    rows = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        for a, b in zip(x.split(1), y.split(1)):
            (loss_fn(model(a), b) / rows).backward()


@right
def asked_of_autograd(model, loss_fn, micro_batches):
    names, params = zip(*[(n, p) for n, p in model.named_parameters() if p.requires_grad])
    model.zero_grad()
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        grads = torch.autograd.grad(loss_fn(model(x), y), params, allow_unused=True, materialize_grads=True)
        for p, g in zip(params, grads):
            g = g * (len(x) / total)
            p.grad = g if p.grad is None else p.grad + g


@right
def functional(model, loss_fn, micro_batches):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
    total = {n: torch.zeros_like(p) for n, p in params.items()}
    rows = 0
    for x, y in micro_batches:
        got = grad(lambda q: loss_fn(functional_call(model, q, (x,)), y) * len(x))(params)
        total = {n: total[n] + got[n] for n in total}
        rows += len(x)
    for n, p in model.named_parameters():
        p.grad = total[n] / rows if n in total else None


@right
def pulled_back_one_at_a_time(model, loss_fn, micro_batches):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
    rows = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss, back = vjp(lambda q: loss_fn(functional_call(model, q, (x,)), y), params)
        (found,) = back(torch.full_like(loss, len(x) / rows))
        del back
        for n, p in model.named_parameters():
            if n in found:
                p.grad = found[n] if p.grad is None else p.grad + found[n]


@right
def per_sample(model, loss_fn, micro_batches):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def one(values, a, b):
        return loss_fn(functional_call(model, values, (a.unsqueeze(0),)), b.unsqueeze(0))

    each = vmap(grad(one), in_dims=(None, 0, 0))
    found = [each(params, x, y) for x, y in micro_batches]
    for n, p in model.named_parameters():
        if n in params:
            p.grad = torch.cat([one[n] for one in found]).mean(0)


@right
def a_running_mean_over_rows(model, loss_fn, micro_batches):
    seen, mean = 0, {}
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        seen += len(x)
        for n, p in model.named_parameters():
            if p.grad is not None:
                old = mean.get(n, torch.zeros_like(p))
                mean[n] = old + (p.grad - old) * len(x) / seen
    for n, p in model.named_parameters():
        p.grad = mean[n].detach() if n in mean else None


@right
def a_running_mean_in_place(model, loss_fn, micro_batches):
    model.zero_grad()
    seen = 0
    for x, y in micro_batches:
        seen += len(x)
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= (seen - len(x)) / seen
        (loss_fn(model(x), y) * len(x) / seen).backward()


@right
def by_a_copy_in_float64(model, loss_fn, micro_batches):
    worker = copy.deepcopy(model).double()
    worker.zero_grad()
    rows = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(worker(x.double()), y.double()) * len(x) / rows).backward()
    for p, q in zip(model.parameters(), worker.parameters()):
        p.grad = None if q.grad is None else q.grad.to(p.dtype)


@right
def hook_on_the_loss(model, loss_fn, micro_batches):
    model.zero_grad()
    rows = sum(len(x) for x, _ in micro_batches)
    for x, y in sorted(micro_batches, key=lambda pair: len(pair[0])):
        prediction = model(x)
        prediction.register_hook(lambda g, n=len(x): g * n / rows)
        loss_fn(prediction, y).backward()


# ------------------------------------------------------------------ wrong: what each one counts


@wrong(mistakes.mean_of_means)
def as_in_6_1(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
        loss.backward()


@wrong(mistakes.not_divided)
def summed(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()


@wrong(mistakes.summed_over_rows)
def times_rows(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x)).backward()


@wrong(mistakes.rows_over_micro_batches)
def times_rows_over_k(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / len(micro_batches)).backward()


@wrong(mistakes.means_over_all_rows)
def over_all_rows(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / total).backward()


@wrong(mistakes.upside_down)
def over_its_own_rows(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(x)).backward()


@wrong(mistakes.upside_down)
def total_over_own(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * total / len(x)).backward()


@wrong(mistakes.upside_down)
def over_own_and_count(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(x) / len(micro_batches)).backward()


@wrong(mistakes.one_size_for_all)
def size_of_the_first(model, loss_fn, micro_batches):
    size = len(micro_batches[0][0])
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * size / total).backward()


@wrong(mistakes.one_size_for_all)
def total_by_the_first(model, loss_fn, micro_batches):
    total = len(micro_batches) * len(micro_batches[0][0])
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()


@wrong(mistakes.one_size_for_all)
def size_after_the_loop(model, loss_fn, micro_batches):
    total = 0
    model.zero_grad()
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
        total += len(x)
    for p in model.parameters():
        if p.grad is not None:
            p.grad *= len(x) / total


@wrong(mistakes.divided_by_the_rows_so_far)
def counted_on_the_way(model, loss_fn, micro_batches):
    rows = 0
    model.zero_grad()
    for x, y in micro_batches:
        rows += len(x)
        (loss_fn(model(x), y) * len(x) / rows).backward()


@wrong(mistakes.weighed_twice)
def share_and_count(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * (len(x) / total) / len(micro_batches)).backward()


@wrong(mistakes.weighed_twice)
def share_of_the_share(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / total
        loss.backward(gradient=torch.ones_like(loss) * len(x) / total)


@wrong(mistakes.smaller_ones_left_out)
def full_ones_only(model, loss_fn, micro_batches):
    size = len(micro_batches[0][0])
    kept = [(x, y) for x, y in micro_batches if len(x) >= size]
    total = sum(len(x) for x, _ in kept)
    model.zero_grad()
    for x, y in kept:
        (loss_fn(model(x), y) * len(x) / total).backward()


@wrong(mistakes.counted_again)
def running_sum(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    loss = 0
    for x, y in micro_batches:
        loss = loss + loss_fn(model(x), y) * len(x) / total
        loss.backward(retain_graph=True)


@wrong(mistakes.scaled_in_each_round)
def grad_weighed_in_the_loop(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= len(x) / total


# ------------------------------------------------------------------ wrong: what .grad held, and holds


@wrong(mistakes.not_cleared)
def zero_grad_forgotten(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()


@wrong(mistakes.old_gradients_scaled_in)
def divided_afterwards_and_not_cleared(model, loss_fn, micro_batches):
    total = 0
    for x, y in micro_batches:
        total += len(x)
        (loss_fn(model(x), y) * len(x)).backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= total


@wrong(mistakes.old_gradients_and_weights)
def neither_cleared_nor_weighed(model, loss_fn, micro_batches):
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()


@wrong(mistakes.cleared_in_each_round)
def as_in_a_training_loop(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        model.zero_grad()
        (loss_fn(model(x), y) * len(x) / total).backward()


@wrong(mistakes.last_alone)
def backward_beside_the_loop(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / total
    loss.backward()


@wrong(mistakes.first_alone)
def return_in_the_loop(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / total
        loss.backward()
        return loss.item()


@wrong(mistakes.assigned_not_added)
def put_and_not_added(model, loss_fn, micro_batches):
    params = [p for p in model.parameters() if p.requires_grad]
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / total
        for p, g in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):
            p.grad = g


@wrong(mistakes.cleared_at_the_end)
def tidied_up(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
    model.zero_grad(set_to_none=False)


@wrong(mistakes.nothing_sent)
def losses_alone(model, loss_fn, micro_batches):
    model.zero_grad()
    total = sum(len(x) for x, _ in micro_batches)
    return sum(loss_fn(model(x), y).item() * len(x) for x, y in micro_batches) / total


@wrong(mistakes.cancelled_not_cleared)
def old_one_subtracted(model, loss_fn, micro_batches):
    old = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    total = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
    for p, g in zip(model.parameters(), old):
        if g is not None:
            p.grad -= g


@wrong(mistakes.unused_not_cleared)
def written_where_there_is_one(model, loss_fn, micro_batches):
    params = [p for p in model.parameters() if p.requires_grad]
    total = sum(len(x) for x, _ in micro_batches)
    sums = {}
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / total
        for i, g in enumerate(torch.autograd.grad(loss, params, allow_unused=True)):
            if g is not None:
                sums[i] = sums.get(i, 0) + g
    for i, g in sums.items():
        params[i].grad = g


@wrong(mistakes.cleared_in_part)
def biases_forgotten(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    for p in model.parameters():
        if p.dim() > 1:
            p.grad = None
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()


@wrong(mistakes.frozen_given_zeros)
def zeros_for_everyone(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()


@wrong(mistakes.prediction_and_target_swapped)
def target_first(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(y, model(x)) * len(x) / total).backward()


@wrong(mistakes.mean_of_old_and_new)
def averaged_with_what_is_there(model, loss_fn, micro_batches):
    params = [p for p in model.parameters() if p.requires_grad]
    model.zero_grad()
    for x, y in micro_batches:
        for p, g in zip(params, torch.autograd.grad(loss_fn(model(x), y), params, allow_unused=True)):
            if g is not None:
                p.grad = g if p.grad is None else (p.grad + g) / 2


@wrong(mistakes.scaled_in_each_round)
def divided_by_all_rows_in_each_round(model, loss_fn, micro_batches):
    model.zero_grad()
    rows = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x)).backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= rows


@wrong(mistakes.scaled_in_each_round)
def divided_by_the_rows_so_far_in_each_round(model, loss_fn, micro_batches):
    model.zero_grad()
    rows = 0
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x)).backward()
        rows += len(x)
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= rows


@wrong(mistakes.predicted_in_eval_mode)
def in_eval_mode(model, loss_fn, micro_batches):
    total = sum(len(x) for x, _ in micro_batches)
    was = model.training
    modes = [m.training for m in model.modules()]
    model.eval()
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
    for m, mode in zip(model.modules(), modes):
        m.training = mode
    return was


@wrong(effects.changed_parameters)
def stepped_too(model, loss_fn, micro_batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = sum(len(x) for x, _ in micro_batches)
    optimizer.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
    optimizer.step()


# ------------------------------------------------------------------ a rule broken


@wrong(mistakes.several_graphs_at_once)
def one_backward_for_the_sum(model, loss_fn, micro_batches):
    model.zero_grad()
    total = sum(len(x) for x, _ in micro_batches)
    sum(loss_fn(model(x), y) * len(x) for x, y in micro_batches).div(total).backward()


@wrong(mistakes.several_graphs_at_once)
def joined(model, loss_fn, micro_batches):
    model.zero_grad()
    xs, ys = zip(*micro_batches)
    loss_fn(model(torch.cat(xs)), torch.cat(ys)).backward()


@wrong(mistakes.divided_by_target_entries)
def divided_by_numbers_in_the_targets(model, loss_fn, micro_batches):
    model.zero_grad()
    n = sum(y.numel() for _, y in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / n).backward()


@wrong(mistakes.several_graphs_at_once)
def joined_and_cut_again(model, loss_fn, micro_batches):
    model.zero_grad()
    xs, ys = zip(*micro_batches)
    x, y = torch.cat(xs), torch.cat(ys)
    size = -(-len(x) // len(micro_batches))
    for a, b in zip(x.split(size), y.split(size)):
        (loss_fn(model(a), b) * len(a) / len(x)).backward()


@wrong(mistakes.several_graphs_at_once)
def pulled_back_in_the_end(model, loss_fn, micro_batches):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
    rows = sum(len(x) for x, _ in micro_batches)
    pulls = []
    for x, y in micro_batches:
        loss, back = vjp(lambda q, x=x, y=y: loss_fn(functional_call(model, q, (x,)), y), params)
        pulls.append((back, torch.full_like(loss, len(x) / rows)))
    found = [back(share)[0] for back, share in pulls]
    for n, p in model.named_parameters():
        p.grad = sum(one[n] for one in found) if n in params else None


@wrong(mistakes.hooks_left_behind)
def hooks_that_stay(model, loss_fn, micro_batches):
    model.zero_grad()
    total = sum(len(x) for x, _ in micro_batches)
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda g: g / total)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x)).backward()


@raised(effects.graph_freed)
def running_loss(model, loss_fn, micro_batches):
    model.zero_grad()
    loss, total = 0, sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        loss = loss + loss_fn(model(x), y) * len(x) / total
        loss.backward()


@wrong(mistakes.rows_left_over)
def pieces_of_the_smallest_size(model, loss_fn, micro_batches):
    model.zero_grad()
    size = min(len(x) for x, _ in micro_batches)
    pieces = []
    for x, y in micro_batches:
        for i in range(len(x) // size):
            pieces.append((x[i * size : (i + 1) * size], y[i * size : (i + 1) * size]))
    for x, y in pieces:
        (loss_fn(model(x), y) / len(pieces)).backward()


@right
def pieces_of_the_smallest_size_and_the_rest(model, loss_fn, micro_batches):
    model.zero_grad()
    size = min(len(x) for x, _ in micro_batches)
    rows = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        for i in range(0, len(x), size):
            part = x[i : i + size]
            (loss_fn(model(part), y[i : i + size]) * len(part) / rows).backward()


@wrong(mistakes.shares_rounded)
def whole_percents(model, loss_fn, micro_batches):
    model.zero_grad()
    sizes = torch.tensor([len(x) for x, _ in micro_batches])
    percents = sizes * 100 // sizes.sum()
    for (x, y), share in zip(micro_batches, percents.tolist()):
        (loss_fn(model(x), y) * share / 100).backward()


@wrong(mistakes.shares_rounded)
def two_digits(model, loss_fn, micro_batches):
    model.zero_grad()
    rows = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        loss_fn(model(x), y).mul(round(len(x) / rows, 2)).backward()


@wrong(mistakes.cut_to_the_smallest)
def all_of_one_size(model, loss_fn, micro_batches):
    size = min(x.shape[0] for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x[:size]), y[:size]) / len(micro_batches)).backward()


@wrong(mistakes.counted_twice_in_a_running_mean)
def running_mean_counted_too_early(model, loss_fn, micro_batches):
    model.zero_grad()
    seen = 0
    for x, y in micro_batches:
        n = x.shape[0]
        seen += n
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(seen / (seen + n))
        (loss_fn(model(x), y) * n / (seen + n)).backward()


@wrong(mistakes.old_gradients_and_weights)
def rows_over_entries_of_y_and_not_cleared(model, loss_fn, micro_batches):
    total = sum(y.numel() for _, y in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * y.shape[0] / total).backward()


@right
def entries_over_entries_of_y(model, loss_fn, micro_batches):
    model.zero_grad()
    total = sum(y.numel() for _, y in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * y.numel() / total).backward()


@wrong(mistakes.put_into_train_mode)
def trains_first_of_all(model, loss_fn, micro_batches):
    model.train()
    model.zero_grad(set_to_none=True)
    rows = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / rows).backward()
