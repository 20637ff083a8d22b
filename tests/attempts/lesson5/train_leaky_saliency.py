"""Attempts at exercise 5.5, train_leaky_saliency: what learners write, and what the check must say of it."""

import copy

import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson5.train_leaky_saliency import mistakes
from gradient_ledger.catalogue import misconception


def map_of(model, loss_fn, x, y):
    pixels = x.clone().requires_grad_()
    return torch.autograd.grad(loss_fn(model(pixels), y), pixels)[0].abs()


@right
def handed_back(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels)
            maps.append(slope.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@right
def cleared_between(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@right
def zeroed_between_by_hand(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.zero_()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@right
def backward_into_the_pixels(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward(inputs=[pixels])
            maps.append(pixels.grad.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@right
def one_backward_for_both(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            optimizer.step()
    return maps


@right
def mapped_after_the_training_backward(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels)
            maps.append(slope.abs())
            optimizer.step()
    return maps


@right
def on_a_copy_of_the_model(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            twin = copy.deepcopy(model)
            pixels = x.clone().requires_grad_()
            loss_fn(twin(pixels), y).backward()
            maps.append(pixels.grad.abs())
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@right
def frozen_meanwhile(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            on = [p for p in model.parameters() if p.requires_grad]
            for p in on:
                p.requires_grad_(False)
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            for p in on:
                p.requires_grad_(True)
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@right
def both_losses_halved(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss = loss_fn(model(pixels), y)
            loss.backward()
            maps.append(pixels.grad.abs())
            loss_fn(model(x), y).backward()
            for p in model.parameters():
                if p.grad is not None:
                    p.grad /= 2
            optimizer.step()
    return maps


@right
def functional_map(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            maps.append(torch.func.grad(lambda rows: loss_fn(model(rows), y))(x).detach().abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@right
def all_gradients_handed_back(model, optimizer, loss_fn, batches, epochs):
    maps = []
    params = [p for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.clone().requires_grad_()
            slope, *gradients = torch.autograd.grad(loss_fn(model(pixels), y), [pixels, *params])
            for p, g in zip(params, gradients):
                p.grad = g
            maps.append(abs(slope))
            optimizer.step()
    return maps


@right
def put_aside_and_back(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            held = [p.grad for p in model.parameters()]
            for p in model.parameters():
                p.grad = None
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            for p, g in zip(model.parameters(), held):
                p.grad = g
            optimizer.step()
    return maps


@right
def x_itself_and_put_back(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            x.requires_grad_()
            loss_fn(model(x), y).backward()
            maps.append(x.grad.abs())
            x.grad = None
            x.requires_grad_(False)
            optimizer.step()
    return maps


@right
def hook_on_the_pixels(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            handle = pixels.register_hook(lambda g: maps.append(g.abs().detach()))
            loss_fn(model(pixels), y).backward()
            handle.remove()
            optimizer.step()
    return maps


@right
def signs_times_slope(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels)
            maps.append(slope * slope.sign())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@right
def a_helper(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            maps.append(map_of(model, loss_fn, x, y))
            model.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@right
def with_a_closure(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            maps.append(map_of(model, loss_fn, x, y))

            def closure():
                optimizer.zero_grad()
                loss = loss_fn(model(x), y)
                loss.backward()
                return loss

            optimizer.step(closure)
    return maps


@right
def graph_made_and_dropped(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels, create_graph=True)
            maps.append(slope.detach().abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@right
def as_a_tuple(model, optimizer, loss_fn, batches, epochs):
    def step(x, y):
        found = map_of(model, loss_fn, x, y)
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
        return found

    return tuple(step(x, y) for _ in range(epochs) for x, y in batches)


@wrong(mistakes.each_batch_counted_twice)
def as_it_was(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
    return maps


@wrong(mistakes.each_batch_counted_twice)
def map_after_the_training_backward(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            optimizer.step()
    return maps


@wrong(mistakes.each_batch_counted_twice)
def one_graph_twice(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss = loss_fn(model(pixels), y)
            loss.backward(retain_graph=True)
            maps.append(pixels.grad.abs())
            loss.backward()
            optimizer.step()
    return maps


@wrong(mistakes.each_batch_counted_twice)
def pixels_cleared_instead(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            pixels.grad = None
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.each_batch_counted_twice)
def cleared_before_the_map_only(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.counted_twice_and_never_cleared)
def clearing_taken_out(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.never_cleared)
def map_handed_back_and_nothing_cleared(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels)
            maps.append(slope.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.never_cleared)
def parentheses_forgotten(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels)
            maps.append(slope.abs())
            optimizer.zero_grad
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.cleared_before_the_step)
def cleared_after_both(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            loss_fn(model(x), y).backward()
            optimizer.zero_grad()
            optimizer.step()
    return maps


@wrong(mistakes.cleared_before_the_step)
def map_handed_back_and_cleared_too_late(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels)
            maps.append(slope.abs())
            loss_fn(model(x), y).backward()
            optimizer.zero_grad()
            optimizer.step()
    return maps


@wrong(mistakes.cleared_once_an_epoch)
def cleared_in_the_outer_loop(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            maps.append(map_of(model, loss_fn, x, y))
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.a_frozen_parameter_moved)
def everything_thawed(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            model.requires_grad_(False)
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            model.requires_grad_(True)
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.signs_were_kept)
def abs_forgotten(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels)
            maps.append(slope)
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.maps_of_the_prediction)
def prediction_differentiated(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(model(pixels).sum(), pixels)
            maps.append(slope.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.maps_of_the_prediction)
def highest_score_differentiated(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(model(pixels).max(dim=1).values.sum(), pixels)
            maps.append(slope.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.maps_after_the_step)
def map_last(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
            maps.append(map_of(model, loss_fn, x, y))
    return maps


@wrong(mistakes.maps_after_the_step)
def map_last_and_leaking(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
    return maps


@wrong(mistakes.maps_after_the_step_leak_into_the_next)
def cleared_between_step_and_map(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            loss_fn(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
    return maps


@wrong(mistakes.maps_scaled_to_one)
def scaled_for_a_picture(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels)
            maps.append(slope.abs() / slope.abs().max())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(misconception("input-gradient-pollutes-parameters"), says="began with 1.5 times the gradient")
def half_of_the_training_loss(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            (loss_fn(model(x), y) / 2).backward()
            optimizer.step()
    return maps


@wrong(mistakes.maps_of_the_first_weights)
def maps_first(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            maps.append(map_of(model, loss_fn, x, y))
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.maps_of_the_last_weights)
def maps_last(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    for _ in range(epochs):
        for x, y in batches:
            maps.append(map_of(model, loss_fn, x, y))
    return maps


@wrong(mistakes.maps_of_the_last_epoch)
def list_anew_each_epoch(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        maps = []
        for x, y in batches:
            maps.append(map_of(model, loss_fn, x, y))
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.maps_add_up)
def x_never_cleared(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            x.requires_grad_()
            loss_fn(model(x), y).backward()
            maps.append(x.grad.abs().clone())
            optimizer.step()
    for x, _ in batches:
        x.requires_grad_(False)
        x.grad = None
    return maps


@wrong(mistakes.gradient_left_on_x)
def gradient_left(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            x.requires_grad_()
            x.grad = None
            loss_fn(model(x), y).backward()
            maps.append(x.grad.abs())
            x.requires_grad_(False)
            optimizer.step()
    return maps


@wrong(mistakes.gradient_left_on_x)
def x_still_requires_gradients(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            x.requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(x), y), x)
            maps.append(slope.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(effects.changed_requires_grad)
def x_requires_gradients_and_is_detached(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            x.requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(x), y), x)
            maps.append(slope.abs())
            loss_fn(model(x.detach()), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.maps_add_up)
def x_always_requires_gradients(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            x.requires_grad_()
            x.retain_grad()
            (loss_fn(model(x), y)).backward(inputs=[x])
            maps.append(x.grad.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    for x, _ in batches:
        x.requires_grad_(False)
        x.grad = None
    return maps


@wrong(mistakes.memory_lost)
def a_new_optimizer_each_epoch(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        optimizer = type(optimizer)(optimizer.param_groups)
        for x, y in batches:
            maps.append(map_of(model, loss_fn, x, y))
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.nothing_went_backward)
def training_taken_out(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            maps.append(map_of(model, loss_fn, x, y))
            optimizer.zero_grad()
            loss_fn(model(x), y)
            optimizer.step()
    return maps


@wrong(mistakes.put_into_train_mode)
def train_mode_first(model, optimizer, loss_fn, batches, epochs):
    model.train()
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.clone().requires_grad_()
            optimizer.zero_grad()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            optimizer.step()
    return maps


@wrong(mistakes.put_into_train_mode)
def eval_for_the_map_train_for_the_step(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            model.eval()
            maps.append(map_of(model, loss_fn, x, y))
            model.train()
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.hooks_left_behind)
def hook_stays(model, optimizer, loss_fn, batches, epochs):
    maps = []
    optimizer.register_step_post_hook(lambda o, args, kwargs: None)
    for _ in range(epochs):
        for x, y in batches:
            maps.append(map_of(model, loss_fn, x, y))
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(effects.returned_nothing)
def return_forgotten(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            maps.append(map_of(model, loss_fn, x, y))
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(effects.carries_a_graph)
def graph_kept(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels, create_graph=True)
            maps.append(slope.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@raised(effects.no_graph)
def map_inside_no_grad(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            with torch.no_grad():
                loss = loss_fn(model(pixels), y)
            loss.backward()
            maps.append(pixels.grad.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@raised(effects.no_graph)
def frozen_for_good(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            model.requires_grad_(False)
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@raised(effects.grad_is_none)
def gradient_of_x_read(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(x.grad.abs())
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.maps_of_a_sum)
def mean_taken_back(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y) * len(x), pixels)
            maps.append(slope.abs())
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.put_into_train_mode)
def eval_for_the_map_and_train_for_the_step(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            model.eval()
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels)
            maps.append(slope.abs())
            model.train()
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(mistakes.maps_are_zeros)
def map_emptied_with_the_gradient(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            x.requires_grad_(True)
            loss_fn(model(x), y).backward()
            maps.append(x.grad.abs_())
            optimizer.step()
            x.grad.zero_()
            x.requires_grad_(False)
    return maps


@right
def map_copied_before_the_gradient_is_emptied(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            x.requires_grad_(True)
            loss_fn(model(x), y).backward()
            maps.append(x.grad.clone().abs_())
            optimizer.step()
            x.grad = None
            x.requires_grad_(False)
    return maps


@wrong(mistakes.zeros_before_the_step)
def the_maps_pass_subtracted_under_two_names(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())
            of_the_map = [p.grad for p in model.parameters()]
            loss_fn(model(x), y).backward()
            for p, gradient in zip(model.parameters(), of_the_map):
                if gradient is not None:
                    p.grad -= gradient
            optimizer.step()
    return maps


@wrong(mistakes.maps_of_the_prediction_scaled_to_one)
def highest_score_scaled_for_a_picture(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(model(pixels).max(dim=1)[0].sum(), pixels)
            maps.append(slope.abs() / (slope.abs().max() + 1e-8))
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps


@wrong(says="the largest entries of the first maps are 1,")
def stretched_from_zero_to_one(model, optimizer, loss_fn, batches, epochs):
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            slope = map_of(model, loss_fn, x, y)
            maps.append((slope - slope.min()) / (slope.max() - slope.min()))
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    return maps
