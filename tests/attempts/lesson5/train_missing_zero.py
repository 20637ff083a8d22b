"""Attempts at exercise 5.2, train_missing_zero, that 5.3 and 5.4 need not judge again."""

import copy

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson5.train_missing_zero import mistakes

SHARED = ("_one_step_a_batch",)


@right
def zeros_at_the_start(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad(set_to_none=False)
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@right
def model_clears(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@right
def fresh_zeros(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            for p in model.parameters():
                if p.requires_grad:
                    p.grad = torch.zeros_like(p)
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@right
def times_zero(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.mul_(0)


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
def foreach_zero(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            torch._foreach_zero_([p.grad for p in model.parameters() if p.grad is not None])


@right
def data_zero(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.data.zero_()


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
def functional(model, optimizer, loss_fn, batches, epochs):
    names = [n for n, p in model.named_parameters() if p.requires_grad]

    def loss_of(weights, x, y):
        return loss_fn(torch.func.functional_call(model, weights, (x,)), y)

    slope = torch.func.grad(loss_of)
    for _ in range(epochs):
        for x, y in batches:
            weights = {n: model.get_parameter(n).detach() for n in names}
            for n, g in slope(weights, x, y).items():
                model.get_parameter(n).grad = g
            optimizer.step()


@right
def backward_into_parameters(model, optimizer, loss_fn, batches, epochs):
    params = [p for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward(inputs=params)
            optimizer.step()


@right
def autograd_backward(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            torch.autograd.backward([loss_fn(model(x), y)])
            optimizer.step()


@right
def backward_with_one(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward(gradient=torch.ones_like(loss))
            optimizer.step()


@right
def scaler_switched_off(model, optimizer, loss_fn, batches, epochs):
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            scaler.scale(loss_fn(model(x), y)).backward()
            scaler.step(optimizer)
            scaler.update()


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
def hooks_taken_away(model, optimizer, loss_fn, batches, epochs):
    handles = [p.register_hook(lambda g: g * 1) for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
    for handle in handles:
        handle.remove()


@right
def cleared_by_a_hook_after_each_step(model, optimizer, loss_fn, batches, epochs):
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: o.zero_grad())
    try:
        for _ in range(epochs):
            for x, y in batches:
                loss_fn(model(x), y).backward()
                optimizer.step()
    finally:
        handle.remove()


@right
def recomputed(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(checkpoint(model, x, use_reentrant=False), y).backward()
            optimizer.step()


@right
def a_buffer_of_its_own(model, optimizer, loss_fn, batches, epochs):
    params = [p for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        for x, y in batches:
            kept = [torch.zeros_like(p) for p in params]
            for p in params:
                p.grad = None
            loss_fn(model(x), y).backward()
            for buffer, p in zip(kept, params):
                buffer += p.grad
                p.grad = buffer
            optimizer.step()


@right
def row_by_row(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            for row, wanted in zip(x.split(1), y.split(1)):
                (loss_fn(model(row), wanted) / len(x)).backward()
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
def mean_over_single_samples(model, optimizer, loss_fn, batches, epochs):
    names = [n for n, p in model.named_parameters() if p.requires_grad]

    def loss_of(weights, row, wanted):
        out = torch.func.functional_call(model, weights, (row[None],))
        return loss_fn(out, wanted[None])

    each = torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, 0, 0))
    for _ in range(epochs):
        for x, y in batches:
            weights = {n: model.get_parameter(n).detach() for n in names}
            for n, g in each(weights, x, y).items():
                model.get_parameter(n).grad = g.mean(0)
            optimizer.step()


@right
def put_aside_and_back(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            held = [p.grad for p in model.parameters()]
            optimizer.zero_grad()
            for p, g in zip(model.parameters(), held):
                p.grad = g
            optimizer.step()
            optimizer.zero_grad()


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
def cleared_unless_it_is_the_first(model, optimizer, loss_fn, batches, epochs):
    for epoch in range(epochs):
        for number, (x, y) in enumerate(batches):
            if epoch or number:
                optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


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
def in_autocast_switched_off(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            with torch.autocast("cpu", enabled=False):
                loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@right
def graph_kept_and_dropped(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad(True)
            loss = loss_fn(model(x), y)
            loss.backward(retain_graph=True)
            optimizer.step()
            del loss


@right
def summed_and_divided(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            total = loss_fn(model(x), y) * len(x)
            total.backward()
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.div_(len(x))
            optimizer.step()


@wrong(mistakes.never_cleared)
def parentheses_forgotten(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad
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


@wrong(mistakes.never_cleared)
def once_after_the_loops(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
    optimizer.zero_grad()


@wrong(mistakes.never_cleared)
def loss_cleared(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            loss.grad = None


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
def at_the_end_of_an_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
        optimizer.zero_grad()


@wrong(mistakes.cleared_once_an_epoch)
def at_the_first_batch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for number, (x, y) in enumerate(batches):
            if number == 0:
                model.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.weights_were_zeroed)
def parameters_and_gradients_zeroed(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            with torch.no_grad():
                for p in model.parameters():
                    if p.requires_grad:
                        p.fill_(0)
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.stepped_once_an_epoch)
def losses_summed(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        total = 0
        for x, y in batches:
            total = total + loss_fn(model(x), y)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()


@wrong(mistakes.never_stepped)
def step_not_called(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step
            optimizer.zero_grad()


@wrong(mistakes.nothing_went_backward)
def gradients_not_put_in_place(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            torch.autograd.grad(loss, [p for p in model.parameters() if p.requires_grad])
            optimizer.step()


@wrong(mistakes.memory_lost)
def a_new_optimizer_each_batch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer = type(optimizer)(optimizer.param_groups)
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.memory_lost)
def state_cleared(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            optimizer.state.clear()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.plain_descent)
def update_by_hand(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            with torch.no_grad():
                for group in optimizer.param_groups:
                    for p in group["params"]:
                        if p.grad is not None:
                            p -= group["lr"] * p.grad


@wrong(mistakes.hooks_left_behind)
def hook_on_the_parameters_stays(model, optimizer, loss_fn, batches, epochs):
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda g: g)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.never_stepped)
def step_ahead_of_the_backward(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            optimizer.step()
            loss.backward()


@wrong(mistakes.stepped_once_an_epoch)
def mean_of_the_losses(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        (sum(loss_fn(model(x), y) for x, y in batches) / len(batches)).backward()
        optimizer.step()


@wrong(mistakes.some_parameters_not_cleared)
def children_cleared(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            for layer in list(model.children()) or [model]:
                for p in layer.parameters(recurse=False):
                    p.grad = None


@wrong(mistakes.memory_lost)
def state_loaded_again(model, optimizer, loss_fn, batches, epochs):
    came = copy.deepcopy(optimizer.state_dict())
    for _ in range(epochs):
        optimizer.load_state_dict(copy.deepcopy(came))
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.gradients_clipped)
def clipped(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()


@wrong(says="asked for")
def an_epoch_too_many(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs + 1):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(says="began with another gradient")
def all_rows_at_once(model, optimizer, loss_fn, batches, epochs):
    x, y = torch.cat([x for x, _ in batches]), torch.cat([y for _, y in batches])
    for _ in range(epochs):
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(says="On case 6")
def arguments_turned(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(y, model(x)).backward()
            optimizer.step()


@wrong(mistakes.a_frozen_parameter_moved)
def everything_thawed(model, optimizer, loss_fn, batches, epochs):
    model.requires_grad_(True)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.a_frozen_parameter_moved)
def gradients_for_all(model, optimizer, loss_fn, batches, epochs):
    def loss_of(weights, x, y):
        return loss_fn(torch.func.functional_call(model, weights, (x,)), y)

    for _ in range(epochs):
        for x, y in batches:
            grads = torch.func.grad(loss_of)({n: p.detach() for n, p in model.named_parameters()}, x, y)
            for n, p in model.named_parameters():
                p.grad = grads[n]
            optimizer.step()


@wrong(says="a learning rate of 0.005")
def rate_lowered(model, optimizer, loss_fn, batches, epochs):
    for group in optimizer.param_groups:
        group["lr"] /= 10
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
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


@wrong(mistakes.stepped_between_forward_and_backward)
def step_ahead_of_backward(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            optimizer.step()
            optimizer.zero_grad()
            loss.backward()
