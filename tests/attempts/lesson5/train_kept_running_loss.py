"""Attempts at exercise 5.7, train_kept_running_loss: what learners write, and what the check must say of it."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson5.train_kept_running_loss import mistakes


@right
def one_loss_at_a_time(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@right
def cleared_after_the_step(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


@right
def cleared_before_the_first_backward(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for number, (x, y) in enumerate(batches):
            loss = loss_fn(model(x), y) / len(batches)
            if number == 0:
                optimizer.zero_grad()
            loss.backward()
        optimizer.step()


@right
def zeros_at_the_start(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad(set_to_none=False)
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@right
def model_clears(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        model.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@right
def grad_is_none(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for p in model.parameters():
            p.grad = None
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@right
def deleted(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for p in model.parameters():
            del p.grad
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@right
def fresh_zeros(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for p in model.parameters():
            p.grad = torch.zeros_like(p) if p.requires_grad else None
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@right
def zeroed_in_place(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()
        for p in model.parameters():
            if p.grad is not None:
                p.grad.zero_()


@right
def gradients_divided(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= len(batches)
        optimizer.step()


@right
def gradients_replaced_by_their_share(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad = p.grad / len(batches)
        optimizer.step()


@right
def share_as_the_first_gradient(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward(torch.full_like(loss, 1 / len(batches)))
        optimizer.step()


@right
def weighted_by_rows(model, optimizer, loss_fn, batches, epochs):
    rows = sum(len(x) for x, _ in batches)
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            (loss_fn(model(x), y) * len(x) / rows).backward()
        optimizer.step()


@right
def counted_then_divided(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        rows = 0
        for x, y in batches:
            (loss_fn(model(x), y) * len(x)).backward()
            rows += len(x)
        for p in model.parameters():
            if p.grad is not None:
                p.grad.div_(rows)
        optimizer.step()


@right
def one_backward_of_the_mean(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        total = 0.0
        for x, y in batches:
            total = total + loss_fn(model(x), y) / len(batches)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()


@right
def all_rows_at_once(model, optimizer, loss_fn, batches, epochs):
    x = torch.cat([x for x, _ in batches])
    y = torch.cat([y for _, y in batches])
    for _ in range(epochs):
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()


@right
def backward_of_a_list(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        torch.autograd.backward([loss_fn(model(x), y) / len(batches) for x, y in batches])
        optimizer.step()


@right
def handed_back_and_summed(model, optimizer, loss_fn, batches, epochs):
    params = [p for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        sums = [torch.zeros_like(p) for p in params]
        for x, y in batches:
            for total, g in zip(sums, torch.autograd.grad(loss_fn(model(x), y) / len(batches), params)):
                total += g
        for p, total in zip(params, sums):
            p.grad = total
        optimizer.step()


@right
def functional(model, optimizer, loss_fn, batches, epochs):
    names = [n for n, p in model.named_parameters() if p.requires_grad]

    def loss_of(weights):
        outs = [loss_fn(torch.func.functional_call(model, weights, (x,)), y) for x, y in batches]
        return sum(outs) / len(outs)

    for _ in range(epochs):
        weights = {n: model.get_parameter(n).detach() for n in names}
        for n, g in torch.func.grad(loss_of)(weights).items():
            model.get_parameter(n).grad = g
        optimizer.step()


@right
def counted_with_while(model, optimizer, loss_fn, batches, epochs):
    done = 0
    while done < epochs:
        optimizer.zero_grad()
        number = 0
        while number < len(batches):
            x, y = batches[number]
            (loss_fn(model(x), y) / len(batches)).backward()
            number += 1
        optimizer.step()
        done += 1


@right
def with_a_closure(model, optimizer, loss_fn, batches, epochs):
    def closure():
        optimizer.zero_grad()
        total = 0.0
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
            total += loss.item()
        return total

    return [optimizer.step(closure) for _ in range(epochs)]


@right
def step_inside_of_the_last_backward(model, optimizer, loss_fn, batches, epochs):
    params = [p for p in model.parameters() if p.requires_grad]
    left = set()

    def arrived(p):
        left.discard(p)
        if last and not left:
            optimizer.step()
            optimizer.zero_grad()

    handles = [p.register_post_accumulate_grad_hook(arrived) for p in params]
    for _ in range(epochs):
        for number, (x, y) in enumerate(batches):
            last, left = number == len(batches) - 1, set(params)
            (loss_fn(model(x), y) / len(batches)).backward()
    for handle in handles:
        handle.remove()


@right
def scaler_switched_off(model, optimizer, loss_fn, batches, epochs):
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            scaler.scale(loss_fn(model(x), y) / len(batches)).backward()
        scaler.step(optimizer)
        scaler.update()


@right
def scaled_unscaled_and_clipped_at_a_million(model, optimizer, loss_fn, batches, epochs):
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            scaler.scale(loss_fn(model(x), y) / len(batches)).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1e6)
        scaler.step(optimizer)
        scaler.update()


@right
def hooks_that_divide_and_go(model, optimizer, loss_fn, batches, epochs):
    share = 1 / len(batches)
    handles = [p.register_hook(lambda g: g * share) for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()
        optimizer.step()
    for handle in handles:
        handle.remove()


@right
def recomputed(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            out = checkpoint(model, x, use_reentrant=False)
            (loss_fn(out, y) / len(batches)).backward()
        optimizer.step()


@right
def a_buffer_of_its_own(model, optimizer, loss_fn, batches, epochs):
    params = [p for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        main = [torch.zeros_like(p) for p in params]
        for x, y in batches:
            optimizer.zero_grad()
            (loss_fn(model(x), y) / len(batches)).backward()
            for buffer, p in zip(main, params):
                buffer += p.grad
        for buffer, p in zip(main, params):
            p.grad = buffer
        optimizer.step()
        optimizer.zero_grad()


@right
def backward_into_parameters(model, optimizer, loss_fn, batches, epochs):
    params = [p for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward(inputs=params)
        optimizer.step()


@right
def backwards_through_the_batches(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in reversed(batches):
            (loss_fn(model(x), y) / len(batches)).backward()
        optimizer.step()


@right
def row_by_row(model, optimizer, loss_fn, batches, epochs):
    rows = [(x[i : i + 1], y[i : i + 1]) for x, y in batches for i in range(len(x))]
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in rows:
            (loss_fn(model(x), y) / len(rows)).backward()
        optimizer.step()


@right
def mean_over_single_samples(model, optimizer, loss_fn, batches, epochs):
    names = [n for n, p in model.named_parameters() if p.requires_grad]
    x, y = torch.cat([x for x, _ in batches]), torch.cat([y for _, y in batches])

    def loss_of(weights, row, wanted):
        return loss_fn(torch.func.functional_call(model, weights, (row[None],)), wanted[None])

    each = torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, 0, 0))
    for _ in range(epochs):
        weights = {n: model.get_parameter(n).detach() for n in names}
        for n, g in each(weights, x, y).items():
            model.get_parameter(n).grad = g.mean(0)
        optimizer.step()


@right
def running_sum_of_numbers(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            (loss / len(batches)).backward()
            running += loss.detach()
        optimizer.step()


@right
def retained_and_harmless(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward(retain_graph=True)
        optimizer.step()


@right
def each_share_of_the_running_sum_taken_off(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        number = 0
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            running = running.detach() + loss if number else loss
            running.backward()
            number += 1
        optimizer.step()


@wrong(mistakes.earlier_batches_counted_again)
def as_it_was(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for x, y in batches:
            running = running + loss_fn(model(x), y) / len(batches)
            running.backward(retain_graph=True)
        optimizer.step()


@wrong(mistakes.earlier_batches_counted_again)
def list_of_losses_summed(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        losses = []
        for x, y in batches:
            losses.append(loss_fn(model(x), y))
            (sum(losses) / len(batches)).backward(retain_graph=True)
        optimizer.step()


@wrong(mistakes.counted_again_and_not_averaged)
def share_taken_out(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for x, y in batches:
            running = running + loss_fn(model(x), y)
            running.backward(retain_graph=True)
        optimizer.step()


@wrong(mistakes.summed_and_not_averaged)
def undivided(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.summed_and_not_averaged)
def one_backward_of_the_sum(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for x, y in batches:
            running = running + loss_fn(model(x), y)
        running.backward()
        optimizer.step()


@wrong(mistakes.divided_twice)
def loss_and_gradient_divided(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= len(batches)
        optimizer.step()


@wrong(mistakes.divided_twice)
def running_sum_divided_again(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for x, y in batches:
            running = running + loss_fn(model(x), y) / len(batches)
        (running / len(batches)).backward()
        optimizer.step()


@wrong(mistakes.the_last_batch_alone)
def cleared_for_each_batch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@wrong(mistakes.the_last_batch_alone)
def backward_after_the_loop(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()


@wrong(mistakes.the_last_batch_alone)
def cleared_before_each_backward_of_the_sum(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            model.zero_grad()
            loss.backward()
        optimizer.step()


@wrong(mistakes.the_first_batch_alone)
def only_one_batch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        x, y = batches[0]
        (loss_fn(model(x), y) / len(batches)).backward()
        optimizer.step()


@wrong(mistakes.the_first_batch_alone)
def break_too_early(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            break
        optimizer.step()


@wrong(mistakes.stepped_for_each_batch)
def step_in_the_loop(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
            optimizer.step()


@wrong(mistakes.stepped_for_each_batch)
def a_plain_loop(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.divided_by_the_rows)
def mean_over_all_rows(model, optimizer, loss_fn, batches, epochs):
    rows = sum(len(x) for x, _ in batches)
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            (loss_fn(model(x), y) / rows).backward()
        optimizer.step()


@wrong(mistakes.divided_by_the_rows)
def mean_over_the_rows_of_each_batch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(x)
            loss.backward()
        optimizer.step()


@wrong(mistakes.shares_of_a_running_mean)
def a_running_mean_detached(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for i, (x, y) in enumerate(batches, 1):
            loss = running * (i - 1) / i + loss_fn(model(x), y) / i
            loss.backward()
            running = loss.item()
        optimizer.step()


@wrong(mistakes.stepped_on_what_was_gathered)
def step_in_the_loop_clear_outside(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
            optimizer.step()


@wrong(mistakes.stepped_on_what_was_gathered)
def step_in_the_loop_and_no_mean(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.put_into_train_mode)
def train_mode_first(model, optimizer, loss_fn, batches, epochs):
    model.train()
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            (loss_fn(model(x), y) / len(batches)).backward()
        optimizer.step()


@wrong(mistakes.stepped_once_in_all)
def step_after_all(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
    optimizer.step()


@wrong(mistakes.never_cleared)
def clearing_taken_out(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@wrong(mistakes.never_cleared)
def cleared_once_before_all(model, optimizer, loss_fn, batches, epochs):
    optimizer.zero_grad()
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@wrong(mistakes.cleared_before_the_step)
def cleared_too_late(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.zero_grad()
        optimizer.step()


@wrong(mistakes.zeros_before_the_step)
def zeros_too_late(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.zero_grad(set_to_none=False)
        optimizer.step()


@wrong(mistakes.never_stepped)
def step_forgotten(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()


@wrong(mistakes.memory_lost)
def a_new_optimizer_each_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer = type(optimizer)(optimizer.param_groups)
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@wrong(mistakes.memory_lost)
def state_cleared(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.state.clear()
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@wrong(mistakes.hooks_left_behind)
def hooks_that_divide_stay(model, optimizer, loss_fn, batches, epochs):
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda g: g / len(batches))
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()
        optimizer.step()


@raised(effects.graph_freed)
def retain_taken_out(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for x, y in batches:
            running = running + loss_fn(model(x), y) / len(batches)
            running.backward()
        optimizer.step()


@raised(effects.no_graph)
def detached_before_the_sum(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for x, y in batches:
            running = running + loss_fn(model(x), y).detach() / len(batches)
        running.backward()
        optimizer.step()


@raised(effects.no_such_attribute)
def a_number_sent_backward(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for x, y in batches:
            running += loss_fn(model(x), y).item() / len(batches)
        running.backward()
        optimizer.step()


@wrong(effects.changed_mode)
def eval_while_training(model, optimizer, loss_fn, batches, epochs):
    model.eval()
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
        optimizer.step()


@wrong(mistakes.stepped_after_the_first_batch)
def step_where_the_number_divides(model, optimizer, loss_fn, batches, epochs):
    optimizer.zero_grad()
    for _ in range(epochs):
        for i, (x, y) in enumerate(batches):
            (loss_fn(model(x), y) / len(batches)).backward()
            if i % len(batches) == 0:
                optimizer.step()
                optimizer.zero_grad()


@right
def step_where_the_next_number_divides(model, optimizer, loss_fn, batches, epochs):
    optimizer.zero_grad()
    for _ in range(epochs):
        for i, (x, y) in enumerate(batches):
            (loss_fn(model(x), y) / len(batches)).backward()
            if (i + 1) % len(batches) == 0:
                optimizer.step()
                optimizer.zero_grad()


@wrong(mistakes.halved_again_and_again)
def mean_of_two(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        mean = {}
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            for p in model.parameters():
                if p.grad is not None:
                    mean[p] = (mean[p] + p.grad) / 2 if p in mean else p.grad.clone()
        for p, gradient in mean.items():
            p.grad = gradient
        optimizer.step()


@right
def mean_that_is_moved(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        mean = {}
        for number, (x, y) in enumerate(batches, 1):
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            for p in model.parameters():
                if p.grad is not None:
                    old = mean.get(p, torch.zeros_like(p.grad))
                    mean[p] = old + (p.grad - old) / number
        for p, gradient in mean.items():
            p.grad = gradient
        optimizer.step()


@wrong(mistakes.rate_divided)
def the_rate_divided_and_put_back(model, optimizer, loss_fn, batches, epochs):
    rates = [group["lr"] for group in optimizer.param_groups]
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()
        for group in optimizer.param_groups:
            group["lr"] /= len(batches)
        optimizer.step()
        for group, rate in zip(optimizer.param_groups, rates):
            group["lr"] = rate


@right
def gradients_divided_before_the_step(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= len(batches)
        optimizer.step()
