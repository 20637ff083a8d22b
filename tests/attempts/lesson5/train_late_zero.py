"""Attempts at exercise 5.3, train_late_zero: what learners write, and what the check must say of it."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson5.train_late_zero import mistakes


@right
def cleared_at_the_start(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@right
def cleared_at_the_end(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


@right
def cleared_after_the_forward(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@right
def cleared_at_both_ends(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


@right
def model_clears(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@right
def zeroed_in_place(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.zero_()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@right
def deleted(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            for p in model.parameters():
                del p.grad


@right
def by_groups(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            for group in optimizer.param_groups:
                for p in group["params"]:
                    p.grad = None
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@right
def counted_with_while(model, optimizer, loss_fn, batches, epochs):
    taken = 0
    while taken < epochs * len(batches):
        x, y = batches[taken % len(batches)]
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
        taken += 1


@right
def autograd_backward(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            torch.autograd.backward([loss_fn(model(x), y)])
            optimizer.step()


@right
def scaled_unscaled_and_clipped_at_a_million(model, optimizer, loss_fn, batches, epochs):
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            scaler.scale(loss_fn(model(x), y)).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1e6)
            scaler.step(optimizer)
            scaler.update()


@right
def recomputed(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(checkpoint(model, x, use_reentrant=False), y).backward()
            optimizer.step()


@right
def rows_weighed_afterwards(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            for i in range(len(x)):
                loss_fn(model(x[i : i + 1]), y[i : i + 1]).backward()
            for p in model.parameters():
                if p.grad is not None:
                    p.grad /= len(x)
            optimizer.step()


@right
def a_helper(model, optimizer, loss_fn, batches, epochs):
    def update(x, y):
        model.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return [[update(x, y) for x, y in batches] for _ in range(epochs)]


@right
def earlier_gradients_taken_off(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            before = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
            loss_fn(model(x), y).backward()
            for p, g in zip(model.parameters(), before):
                if g is not None:
                    p.grad = p.grad - g
            optimizer.step()
            optimizer.zero_grad()


@right
def graph_kept_and_dropped(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad(True)
            loss = loss_fn(model(x), y)
            loss.backward(retain_graph=True)
            optimizer.step()
            del loss


@wrong(mistakes.never_cleared)
def no_clearing(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.never_cleared)
def once_before_the_loops(model, optimizer, loss_fn, batches, epochs):
    optimizer.zero_grad()
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.cleared_before_the_step)
def between_backward_and_step(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()


@wrong(mistakes.cleared_before_the_step)
def model_clears_before_the_step(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            model.zero_grad()
            optimizer.step()
            optimizer.zero_grad()


@wrong(mistakes.zeros_before_the_step)
def zeros_between_backward_and_step(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.zero_grad(set_to_none=False)
            optimizer.step()


@wrong(mistakes.zeros_before_the_step)
def zeroed_by_hand_before_the_step(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.zero_()
            optimizer.step()


@wrong(mistakes.cleared_once_an_epoch)
def once_an_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.first_group_alone_cleared)
def first_group(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            for p in optimizer.param_groups[0]["params"]:
                p.grad = None
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.weights_were_zeroed)
def parameters_zeroed(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            for p in model.parameters():
                p.data.zero_()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.stepped_once_an_epoch)
def step_once_an_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
        optimizer.step()


@wrong(mistakes.stepped_on_the_last_batch_alone)
def step_outside(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
        optimizer.step()


@wrong(mistakes.used_the_batch_before)
def step_comes_first(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.step()
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()


@wrong(mistakes.never_stepped)
def step_forgotten(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()


@wrong(mistakes.nothing_went_backward)
def backward_forgotten(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y)
            optimizer.step()


@wrong(mistakes.stopped_after_the_first_epoch)
def return_in_the_epoch(model, optimizer, loss_fn, batches, epochs):
    losses = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses


@wrong(mistakes.stopped_after_the_first_batch)
def return_in_the_batch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            return loss.item()


@wrong(mistakes.divided_by_the_number_of_batches)
def averaged_over_batches(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            (loss_fn(model(x), y) / len(batches)).backward()
            optimizer.step()


@wrong(mistakes.memory_lost)
def a_new_optimizer_each_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer = type(optimizer)(model.parameters(), lr=optimizer.param_groups[0]["lr"])
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.plain_descent)
def own_sgd(model, optimizer, loss_fn, batches, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=optimizer.param_groups[0]["lr"])
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.hooks_left_behind)
def hook_that_clears_stays(model, optimizer, loss_fn, batches, epochs):
    optimizer.register_step_post_hook(lambda o, args, kwargs: o.zero_grad())
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.cleared_at_every_second_step)
def every_other_step(model, optimizer, loss_fn, batches, epochs):
    taken = 0
    for _ in range(epochs):
        for x, y in batches:
            if taken % 2 == 0:
                optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
            taken += 1


@wrong(mistakes.some_parameters_not_cleared)
def weights_alone_cleared(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            for p in model.parameters():
                if p.ndim > 1:
                    p.grad = None
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.stepped_twice_a_batch)
def steps_twice(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.step()


@wrong(mistakes.batches_counted_twice)
def backward_twice(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.a_frozen_parameter_moved)
def fresh_zeros_for_all(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            for p in model.parameters():
                p.grad = torch.zeros_like(p)
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.each_batch_for_all_epochs)
def loops_swapped(model, optimizer, loss_fn, batches, epochs):
    for x, y in batches:
        for _ in range(epochs):
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.gradients_of_the_epochs_first_weights)
def gradients_first_steps_afterwards(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        found = []
        for x, y in batches:
            model.zero_grad()
            loss_fn(model(x), y).backward()
            found.append([p.grad for p in model.parameters()])
        for gradients in found:
            for p, g in zip(model.parameters(), gradients):
                p.grad = g
            optimizer.step()


@wrong(says="On case 1")
def own_rate(model, optimizer, loss_fn, batches, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(effects.changed_mode)
def eval_while_training(model, optimizer, loss_fn, batches, epochs):
    model.eval()
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@raised(effects.no_graph)
def inside_no_grad(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            with torch.no_grad():
                loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@raised(effects.no_such_attribute)
def misspelled(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grads()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@raised(effects.grad_is_none)
def zeroed_without_asking(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            for p in model.parameters():
                p.grad.zero_()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.stepped_between_forward_and_backward)
def step_ahead_of_backward(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            optimizer.step()
            optimizer.zero_grad()
            loss.backward()


@wrong(mistakes.stepped_between_forward_and_backward)
def step_ahead_of_backward_cleared_once_an_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y)
            optimizer.step()
            loss.backward()
