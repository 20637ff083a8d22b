"""Attempts at exercise 5.4, train_zero_per_epoch: what learners write, and what the check must say of it."""

import itertools

import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson5.train_zero_per_epoch import mistakes


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
def zeros_at_the_start(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad(set_to_none=False)
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@right
def model_zeroes(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            model.zero_grad(set_to_none=False)


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
def foreach_zero(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            torch._foreach_zero_([p.grad for p in model.parameters() if p.grad is not None])


@right
def handed_back(model, optimizer, loss_fn, batches, epochs):
    params = [p for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            for p, g in zip(params, torch.autograd.grad(loss, params)):
                p.grad = g
            optimizer.step()


@right
def with_a_closure(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:

            def closure():
                optimizer.zero_grad()
                loss = loss_fn(model(x), y)
                loss.backward()
                return loss

            optimizer.step(closure)


@right
def backward_with_one(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward(gradient=torch.ones_like(loss))
            optimizer.step()


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
def every_epoch_in_one_row(model, optimizer, loss_fn, batches, epochs):
    for x, y in itertools.chain.from_iterable(batches for _ in range(epochs)):
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()


@right
def steps_inside_of_backward(model, optimizer, loss_fn, batches, epochs):
    params = [p for p in model.parameters() if p.requires_grad]
    waiting = set()

    def arrived(p):
        waiting.discard(p)
        if not waiting:
            optimizer.step()
            optimizer.zero_grad()

    handles = [p.register_post_accumulate_grad_hook(arrived) for p in params]
    for _ in range(epochs):
        for x, y in batches:
            waiting.update(params)
            loss_fn(model(x), y).backward()
    for handle in handles:
        handle.remove()


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


@wrong(mistakes.zeros_before_the_step)
def zeros_between_backward_and_step(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.zero_grad(set_to_none=False)
            optimizer.step()


@wrong(mistakes.cleared_once_an_epoch)
def once_an_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
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


@wrong(mistakes.stepped_once_an_epoch)
def losses_summed(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        total = 0
        for x, y in batches:
            total = total + loss_fn(model(x), y)
        optimizer.zero_grad()
        total.backward()
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
