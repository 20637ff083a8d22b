"""Attempts at exercise 4.2, train: what learners write, and what the check must say of it."""

import copy

import torch
from torch.func import functional_call, grad

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson4.train import mistakes


@right
def cleared_before_each_batch(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@right
def cleared_after_each_step_and_once_before(model, optimizer, loss_fn, batches, epochs):
    optimizer.zero_grad()
    history = []
    samples = sum(x.shape[0] for x, _ in batches)
    for _ in range(epochs):
        running = 0.0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            running += loss.item() * x.shape[0]
        history.append(running / samples)
    return history


@right
def cleared_after_the_forward(model, optimizer, loss_fn, batches, epochs):
    history = []
    for _ in range(epochs):
        parts = []
        for x, y in batches:
            out = model(x)
            loss = loss_fn(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            parts.append((loss.item(), x.size(0)))
        history.append(sum(a * n for a, n in parts) / sum(n for _, n in parts))
    return history


@right
def with_zeros(model, optimizer, loss_fn, batches, epochs):
    result = []
    for _ in range(epochs):
        total, n = 0, 0
        for x, y in batches:
            optimizer.zero_grad(set_to_none=False)
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += float(loss) * y.shape[0]
            n += y.shape[0]
        result.append(total / n)
    return result


@right
def zeros_after_each_step(model, optimizer, loss_fn, batches, epochs):
    model.zero_grad(set_to_none=False)
    result = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            model.zero_grad(set_to_none=False)
            total += loss.detach().item() * len(x)
            n += len(x)
        result.append(total / n)
    return result


@right
def none_by_hand(model, optimizer, loss_fn, batches, epochs):
    params = list(model.parameters())
    result = []
    while len(result) < epochs:
        total = n = 0
        for x, y in batches:
            for p in params:
                p.grad = None
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total, n = total + loss.item() * len(x), n + len(x)
        result.append(total / n)
    return result


@right
def times_zero(model, optimizer, loss_fn, batches, epochs):
    result = []
    for _ in range(epochs):
        values = []
        for x, y in batches:
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.mul_(0)
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            values += [loss.item()] * len(x)
        result.append(sum(values) / len(values))
    return result


@right
def by_a_helper(model, optimizer, loss_fn, batches, epochs):
    def one(x, y):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    sizes = torch.tensor([len(x) for x, _ in batches], dtype=torch.float64)
    result = []
    for _ in range(epochs):
        losses = torch.tensor([one(x, y) for x, y in batches], dtype=torch.float64)
        result.append(float((losses * sizes).sum() / sizes.sum()))
    return result


@right
def in_a_closure(model, optimizer, loss_fn, batches, epochs):
    result = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for x, y in batches:

            def closure():
                optimizer.zero_grad()
                loss = loss_fn(model(x), y)
                loss.backward()
                return loss

            total += optimizer.step(closure).item() * len(x)
            n += len(x)
        result.append(total / n)
    return result


@right
def handed_back_and_assigned(model, optimizer, loss_fn, batches, epochs):
    model.zero_grad()
    params = [p for p in model.parameters() if p.requires_grad]
    result = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            found = torch.autograd.grad(loss, params, allow_unused=True)
            for p, g in zip(params, found):
                p.grad = g
            optimizer.step()
            total += loss.item() * len(x)
            n += len(x)
        result.append(total / n)
    return result


@right
def functional(model, optimizer, loss_fn, batches, epochs):
    model.zero_grad()
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    result = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for x, y in batches:
            plain = {name: p.detach() for name, p in named.items()}

            def loss_of(values):
                return loss_fn(functional_call(model, values, (x,)), y)

            total += loss_of(plain).item() * len(x)
            n += len(x)
            for name, gradient in grad(loss_of)(plain).items():
                named[name].grad = gradient
            optimizer.step()
        result.append(total / n)
    return result


@right
def row_by_row(model, optimizer, loss_fn, batches, epochs):
    result = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for x, y in batches:
            model.zero_grad()
            for i in range(len(x)):
                loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
                (loss / len(x)).backward()
                total += loss.item()
            optimizer.step()
            n += len(x)
        result.append(total / n)
    return result


@right
def divided_after_the_backwards(model, optimizer, loss_fn, batches, epochs):
    result = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            for a, b in zip(x.split(1), y.split(1)):
                loss = loss_fn(model(a), b)
                loss.backward()
                total += loss.item()
            for p in model.parameters():
                if p.grad is not None:
                    p.grad = p.grad / len(x)
            optimizer.step()
            n += len(x)
        result.append(total / n)
    return result


@right
def stepped_in_the_last_backward(model, optimizer, loss_fn, batches, epochs):
    result = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad(set_to_none=True)
            loss = loss_fn(model(x), y)
            torch.autograd.backward([loss])
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            total += loss.item() * len(x)
            n += len(x)
        result += [total / n]
    return result


@right
def scaled_and_unscaled(model, optimizer, loss_fn, batches, epochs):
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    result = []
    for _ in range(epochs):
        total, n = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1e6)
            scaler.step(optimizer)
            scaler.update()
            total += loss.item() * len(x)
            n += len(x)
        result.append(total / n)
    return result


# ------------------------------------------------------------------ wrong: the training


@wrong(mistakes.nothing_cleared)
def zero_grad_forgotten(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.nothing_cleared)
def zero_grad_forgotten_and_batches_averaged(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(batches))
    return losses


@wrong(mistakes.cleared_once)
def before_both_loops(model, optimizer, loss_fn, batches, epochs):
    optimizer.zero_grad()
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.cleared_once_an_epoch)
def one_level_too_far_out(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        total, count = 0.0, 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.cleared_once_an_epoch)
def one_level_too_far_out_and_batches_averaged(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        total = 0.0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(batches))
    return losses


@wrong(mistakes.cleared_once_an_epoch)
def at_the_end_of_each_epoch(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        optimizer.zero_grad()
        losses.append(total / count)
    return losses


@wrong(mistakes.first_step_on_old_gradients)
def after_each_step_alone(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.cleared_before_the_step)
def as_in_the_diagram(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.cleared_before_the_step)
def as_in_the_diagram_with_zeros_and_batches_averaged(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.zero_()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(batches))
    return losses


@wrong(mistakes.stepped_before_backward)
def step_then_clear_then_backward(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.step()
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.stepped_before_backward)
def clear_then_step_then_backward(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            optimizer.step()
            loss.backward()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.no_backward)
def backward_forgotten(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.no_step)
def step_forgotten(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.no_step)
def nothing_but_measured(model, optimizer, loss_fn, batches, epochs):
    with torch.no_grad():
        sizes = [len(x) for x, _ in batches]
        values = [loss_fn(model(x), y).item() for x, y in batches]
    return [sum(a * n for a, n in zip(values, sizes)) / sum(sizes)] * epochs


@wrong(mistakes.stepped_once_an_epoch)
def step_beside_the_inner_loop(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        total, count = 0.0, 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            total += loss.item() * len(x)
            count += len(x)
        optimizer.step()
        losses.append(total / count)
    return losses


@wrong(mistakes.stepped_once_an_epoch)
def the_last_batch_decides(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            total += loss.item() * len(x)
            count += len(x)
        optimizer.step()
        losses.append(total / count)
    return losses


@wrong(mistakes.stepped_once_an_epoch)
def the_epoch_as_one_batch(model, optimizer, loss_fn, batches, epochs):
    losses = []
    total_rows = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = sum(loss_fn(model(x), y) * len(x) for x, y in batches) / total_rows
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@wrong(mistakes.stepped_once_in_all)
def step_after_everything(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    optimizer.step()
    return losses


@wrong(mistakes.two_steps)
def stepped_twice(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
            optimizer.step()
        losses.append(total / count)
    return losses


@wrong(mistakes.one_epoch_alone)
def return_one_level_too_deep(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
        return losses


@wrong(mistakes.one_epoch_alone)
def epochs_not_used(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@wrong(mistakes.one_batch_alone)
def return_two_levels_too_deep(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
            losses.append(total / count)
            return losses


@wrong(mistakes.loops_the_other_way_round)
def batches_outside(model, optimizer, loss_fn, batches, epochs):
    totals, count = [0.0] * epochs, 0
    for x, y in batches:
        count += len(x)
        for epoch in range(epochs):
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            totals[epoch] += loss.item() * len(x)
    return [total / count for total in totals]


@wrong(mistakes.moved_as_plain_sgd)
def gradient_descent(model, optimizer, loss_fn, batches, epochs):
    lr = optimizer.param_groups[0]["lr"]
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            model.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            with torch.no_grad():
                for p in model.parameters():
                    if p.grad is not None:
                        p -= lr * p.grad
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.summed_over_rows)
def the_product_goes_backward(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y) * len(x)
            loss.backward()
            optimizer.step()
            total += loss.item()
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.summed_over_rows)
def the_product_is_added_up_and_divided_by_the_last_size(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for _ in range(epochs):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y) * x.shape[0]
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / (len(batches) * x.shape[0]))
    return losses


@wrong(mistakes.divided_by_rows)
def divided_again(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            (loss / len(x)).backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.divided_by_batches)
def averaged_over_batches_too_early(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            (loss / len(batches)).backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.arguments_swapped)
def target_first(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(y, model(x))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.put_into_train_mode)
def train_first(model, optimizer, loss_fn, batches, epochs):
    model.train()
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.put_into_eval_mode)
def eval_first(model, optimizer, loss_fn, batches, epochs):
    model.eval()
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.epochs_off_by_one)
def counted_from_one(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(1, epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.epochs_off_by_one)
def one_more_for_luck(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs + 1):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.smaller_batches_left_out)
def dropped_the_last(model, optimizer, loss_fn, batches, epochs):
    size = len(batches[0][0])
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            if len(x) < size:
                continue
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.clipped_to_one)
def clipped_by_habit(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.cleared_in_part)
def biases_forgotten(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            for name, p in model.named_parameters():
                if "weight" in name:
                    p.grad = None
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.cleared_at_every_second_batch)
def every_second_time(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for i, (x, y) in enumerate(batches):
            if i % 2 == 0:
                optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.unused_moved)
def assigned_where_there_is_one(model, optimizer, loss_fn, batches, epochs):
    for p in model.parameters():
        if not p.requires_grad:
            p.grad = None
    params = [p for p in model.parameters() if p.requires_grad]
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            for p, g in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):
                if g is not None:
                    p.grad = g
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.frozen_moved)
def cleared_where_trainable(model, optimizer, loss_fn, batches, epochs):
    params = [p for p in model.parameters() if p.requires_grad]
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            for p in params:
                p.grad = None
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.frozen_given_zeros)
def zeros_for_everyone(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            for p in model.parameters():
                p.grad = torch.zeros_like(p)
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@raised(mistakes.backward_of_the_sum)
def running_loss_backward(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            total = total + loss_fn(model(x), y)
            total.backward()
            optimizer.step()
        losses.append(total.item() / len(batches))
    return losses


@raised(mistakes.backward_of_the_sum)
def running_loss_retained(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        running = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            running += loss_fn(model(x), y)
            running.backward(retain_graph=True)
            optimizer.step()
        losses.append(running.item() / len(batches))
    return losses


# ------------------------------------------------------------------ wrong: what is returned


@wrong(mistakes.mean_over_batches)
def batches_averaged(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(batches))
    return losses


@wrong(mistakes.sum_of_losses)
def summed(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total)
    return losses


@wrong(mistakes.sum_over_samples)
def not_divided(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        losses.append(total)
    return losses


@wrong(mistakes.sum_of_losses_over_samples)
def not_weighed(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.sum_over_samples_over_batches)
def weighed_and_divided_by_batches(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        losses.append(total / len(batches))
    return losses


@wrong(mistakes.one_size_for_all)
def size_of_the_first(model, optimizer, loss_fn, batches, epochs):
    size = len(batches[0][0])
    samples = sum(len(x) for x, _ in batches)
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * size
        losses.append(total / samples)
    return losses


@wrong(mistakes.one_size_for_all)
def size_of_the_last(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        losses.append(total / (len(batches) * len(x)))
    return losses


@wrong(mistakes.loss_of_the_last_batch)
def last_one_appended(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    return losses


@wrong(mistakes.losses_of_all_batches)
def every_one_appended(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


@wrong(mistakes.sums_never_reset)
def total_outside_the_loops(model, optimizer, loss_fn, batches, epochs):
    losses, total = [], 0.0
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        losses.append(total / samples)
    return losses


@wrong(mistakes.sums_never_reset)
def total_and_count_outside(model, optimizer, loss_fn, batches, epochs):
    losses, total, count = [], 0.0, 0
    for epoch in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.losses_after_the_steps)
def forward_once_more(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss_fn(model(x), y).item() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(mistakes.losses_of_an_epochs_end)
def evaluated_after_each_epoch(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            total = sum(loss_fn(model(x), y).item() * len(x) for x, y in batches)
        losses.append(total / sum(len(x) for x, _ in batches))
    return losses


@wrong(mistakes.losses_of_an_epochs_end)
def evaluated_before_each_epoch(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        x = torch.cat([a for a, _ in batches])
        y = torch.cat([b for _, b in batches])
        losses.append(loss_fn(model(x), y).item())
        for a, b in batches:
            optimizer.zero_grad()
            loss_fn(model(a), b).backward()
            optimizer.step()
    return losses


@wrong(mistakes.batches_in_another_order)
def last_batch_first(model, optimizer, loss_fn, batches, epochs):
    history = []
    for _ in range(epochs):
        total = rows = 0
        for x, y in reversed(batches):
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            rows += len(x)
        history.append(total / rows)
    return history


@wrong(effects.wrong_type)
def tensors_in_the_list(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.detach() * len(x)
            count += len(x)
        losses.append(total / count)
    return losses


@wrong(effects.wrong_type)
def the_last_epochs_alone(model, optimizer, loss_fn, batches, epochs):
    mean = 0.0
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        mean = total / count
    return mean


@wrong(effects.wrong_type)
def one_tensor(model, optimizer, loss_fn, batches, epochs):
    losses = torch.zeros(epochs, dtype=torch.float64)
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            losses[epoch] += loss.item() * len(x) / samples
    return losses


@wrong(effects.returned_nothing)
def return_forgotten(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)


@raised(effects.undefined_name)
def loss_of_no_epoch(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for epoch in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        losses.append(total / count)
    print("last loss", loss.item())
    return losses


def _epoch(model, optimizer, loss_fn, batches):
    total, count = 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
        count += len(x)
    return total / count


@wrong(mistakes.stopped_early)
def stopped_where_it_is_flat(model, optimizer, loss_fn, batches, epochs):
    out = []
    for _ in range(epochs):
        out.append(_epoch(model, optimizer, loss_fn, batches))
        if len(out) > 1 and abs(out[-2] - out[-1]) < 1e-3:
            break
    return out


@wrong(mistakes.stopped_early)
def stopped_where_it_rises(model, optimizer, loss_fn, batches, epochs):
    out = []
    best = float("inf")
    for _ in range(epochs):
        out.append(_epoch(model, optimizer, loss_fn, batches))
        if out[-1] > best:
            break
        best = out[-1]
    return out


@wrong(mistakes.stopped_early)
def stopped_where_it_is_small(model, optimizer, loss_fn, batches, epochs):
    out = []
    while len(out) < epochs:
        out.append(_epoch(model, optimizer, loss_fn, batches))
        if out[-1] < 1e-4:
            return out
    return out


@wrong(effects.missing_entries, says="where the loss is small and hardly changes")
def stopped_with_patience(model, optimizer, loss_fn, batches, epochs):
    out, best, bad = [], float("inf"), 0
    for _ in range(epochs):
        out.append(_epoch(model, optimizer, loss_fn, batches))
        if out[-1] < best - 1e-4:
            best, bad = out[-1], 0
        else:
            bad += 1
        if bad == 3:
            break
    return out


@wrong(mistakes.best_weights_put_back)
def best_weights_restored(model, optimizer, loss_fn, batches, epochs):
    out, best, kept = [], float("inf"), None
    for _ in range(epochs):
        out.append(_epoch(model, optimizer, loss_fn, batches))
        if out[-1] < best:
            best, kept = out[-1], copy.deepcopy(model.state_dict())
    if kept is not None:
        model.load_state_dict(kept)
    return out


@right
def last_weights_restored(model, optimizer, loss_fn, batches, epochs):
    out, kept = [], None
    for _ in range(epochs):
        out.append(_epoch(model, optimizer, loss_fn, batches))
        kept = copy.deepcopy(model.state_dict())
    if kept is not None:
        model.load_state_dict(kept)
    return out


@wrong(mistakes.dimension_lost)
def predictions_squeezed(model, optimizer, loss_fn, batches, epochs):
    def flat(prediction, target):
        return loss_fn(prediction.squeeze(), target)

    return [_epoch(model, optimizer, flat, batches) for _ in range(epochs)]


@wrong(mistakes.weighed_in_the_gradient)
def gradient_weighed_by_rows(model, optimizer, loss_fn, batches, epochs):
    n = sum(len(x) for x, _ in batches)
    average = n / len(batches)
    out = []
    for _ in range(epochs):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            (loss * len(x) / average).backward()
            optimizer.step()
            total += loss.item() * len(x)
        out.append(total / n)
    return out


@wrong(mistakes.frozen_moved)
def frozen_at_the_first_step(model, optimizer, loss_fn, batches, epochs):
    for p in model.parameters():
        if p.requires_grad:
            p.grad = None
    out = []
    for _ in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            total += loss.item() * len(x)
            count += len(x)
        out.append(total / count)
    return out


@wrong(mistakes.batches_used_up)
def one_iterator_for_all_epochs(model, optimizer, loss_fn, batches, epochs):
    batches = iter(batches)
    out = []
    for _ in range(epochs):
        total, count = 0.0, 0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        out.append(total / max(count, 1))
    return out


@right
def an_iterator_for_each_epoch(model, optimizer, loss_fn, batches, epochs):
    return [_epoch(model, optimizer, loss_fn, iter(batches)) for _ in range(epochs)]


@wrong(mistakes.losses_of_an_epochs_end)
def measured_in_eval_at_the_end(model, optimizer, loss_fn, batches, epochs):
    history = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
        modes = [(m, m.training) for m in model.modules()]
        model.eval()
        with torch.no_grad():
            total = sum(loss_fn(model(x), y).item() * len(x) for x, y in batches)
        for m, mode in modes:
            m.training = mode
        history.append(total / sum(len(x) for x, _ in batches))
    return history


def _losses(model, optimizer, loss_fn, batches):
    found = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        found.append((loss.item(), len(x)))
    return found


def _mean(found):
    return sum(a * n for a, n in found) / sum(n for _, n in found)


@wrong(mistakes.batches_in_another_order)
def taken_off_from_the_end(model, optimizer, loss_fn, batches, epochs):
    history = []
    for _ in range(epochs):
        waiting = list(batches)
        history.append(_mean(_losses(model, optimizer, loss_fn, [waiting.pop() for _ in batches])))
    return history


@wrong(mistakes.batches_in_another_order)
def small_batches_first(model, optimizer, loss_fn, batches, epochs):
    in_order = sorted(batches, key=lambda batch: batch[0].shape[0])
    return [_mean(_losses(model, optimizer, loss_fn, in_order)) for _ in range(epochs)]


@wrong(says="loss_fn was handed the batches in the order ")
def begun_at_the_second(model, optimizer, loss_fn, batches, epochs):
    return [_mean(_losses(model, optimizer, loss_fn, batches[1:] + batches[:1])) for _ in range(epochs)]


@right
def turned_round_and_taken_off(model, optimizer, loss_fn, batches, epochs):
    history = []
    for _ in range(epochs):
        waiting = batches[::-1]
        history.append(_mean(_losses(model, optimizer, loss_fn, [waiting.pop() for _ in batches])))
    return history


@wrong(mistakes.one_size_for_all)
def one_size_for_all_in_train_mode(model, optimizer, loss_fn, batches, epochs):
    model.train()
    size = len(batches[0][0])
    return [
        sum(a * size for a, _ in _losses(model, optimizer, loss_fn, batches)) / sum(len(x) for x, _ in batches)
        for _ in range(epochs)
    ]


@wrong(mistakes.mean_over_batches)
def mean_over_batches_and_left_in_train_mode(model, optimizer, loss_fn, batches, epochs):
    history = []
    for _ in range(epochs):
        model.train(True)
        found = _losses(model, optimizer, loss_fn, batches)
        history.append(sum(a for a, _ in found) / len(found))
    return history


@wrong(mistakes.smaller_batches_left_out)
def batches_of_one_row_left_out(model, optimizer, loss_fn, batches, epochs):
    more = [(x, y) for x, y in batches if x.shape[0] != 1]
    return [_mean(_losses(model, optimizer, loss_fn, more)) for _ in range(epochs)]
