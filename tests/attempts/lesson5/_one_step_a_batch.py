"""Attempts at exercises 5.2, 5.3 and 5.4, which are judged alike: loops with one step a batch."""

import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson5 import mistakes


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
def counted_with_while(model, optimizer, loss_fn, batches, epochs):
    taken = 0
    while taken < epochs * len(batches):
        x, y = batches[taken % len(batches)]
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
        taken += 1


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


@wrong(mistakes.never_cleared)
def no_clearing(model, optimizer, loss_fn, batches, epochs):
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


@wrong(mistakes.cleared_once_an_epoch_and_divided)
def once_an_epoch_and_averaged(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
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


@wrong(mistakes.some_parameters_not_cleared)
def biases_cleared_once_an_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            for name, p in model.named_parameters():
                if name.endswith("weight"):
                    p.grad = None
            loss_fn(model(x), y).backward()
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


@wrong(mistakes.cleared_at_every_second_batch)
def cleared_after_odd_batches(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for i, (x, y) in enumerate(batches):
            loss_fn(model(x), y).backward()
            optimizer.step()
            if (i + 1) % 2 == 0:
                optimizer.zero_grad()


@wrong(mistakes.not_cleared_at_the_first_batch)
def nothing_to_clear_at_first(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for i, (x, y) in enumerate(batches):
            if i:
                model.zero_grad()
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


@wrong(mistakes.last_gradient_never_used)
def step_comes_first(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.step()
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()


@wrong(mistakes.stepped_between_forward_and_backward)
def step_ahead_of_backward_cleared_once_an_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y)
            optimizer.step()
            loss.backward()


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


@wrong(mistakes.stepped_twice_a_batch)
def steps_twice(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.step()


@wrong(mistakes.stepped_again_on_zeros)
def a_step_to_apply_the_clear(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss_fn(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
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


@wrong(mistakes.batches_counted_twice)
def backward_twice(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
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


@wrong(mistakes.a_frozen_parameter_moved)
def fresh_zeros_for_all(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            for p in model.parameters():
                p.grad = torch.zeros_like(p)
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.put_into_train_mode)
def train_mode_first(model, optimizer, loss_fn, batches, epochs):
    model.train()
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.hooks_left_behind)
def hook_that_clears_stays(model, optimizer, loss_fn, batches, epochs):
    optimizer.register_step_post_hook(lambda o, args, kwargs: o.zero_grad())
    for _ in range(epochs):
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
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


@raised(effects.grad_is_none)
def zeroed_without_asking(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            for p in model.parameters():
                p.grad.zero_()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()


@wrong(mistakes.gradients_clipped)
def clipped_for_stability(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()


@wrong(mistakes.gradients_clipped)
def entries_cut_off(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            loss_fn(model(x), y).backward()
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.clamp_(-0.5, 0.5)
            optimizer.step()
            optimizer.zero_grad()


@wrong(says="times the gradient that is asked for")
def clipped_to_a_norm_of_ones_own(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.037)
            optimizer.step()


@wrong(mistakes.gradients_clipped)
def thawed_and_clipped(model, optimizer, loss_fn, batches, epochs):
    for p in model.parameters():
        p.requires_grad_(True)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()


@wrong(mistakes.batches_in_another_order)
def the_last_batch_first(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in reversed(batches):
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.batches_in_another_order)
def shuffled_each_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for at in torch.randperm(len(batches)).tolist():
            x, y = batches[at]
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(says="are asked for")
def steps_where_the_loss_is_lower_than_ever(model, optimizer, loss_fn, batches, epochs):
    best = float("inf")
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            if loss.item() < best:
                best = loss.item()
                optimizer.step()


@wrong(mistakes.put_into_train_mode)
def train_mode_and_back(model, optimizer, loss_fn, batches, epochs):
    modes = [(module, module.training) for module in model.modules()]
    model.train()
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    for module, mode in modes:
        module.training = mode


@right
def another_forward_for_the_report(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
            with torch.no_grad():
                print(f"{loss_fn(model(x), y).item():.3f}")


@wrong(mistakes.not_cleared_at_the_second_batch)
def cleared_from_the_third_batch_on(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for i, (x, y) in enumerate(batches):
            if i > 1:
                optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def cleared_for_the_epoch_and_from_the_second_batch_on(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for i, (x, y) in enumerate(batches):
            if i > 0:
                optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.nothing_after_the_first_step)
def the_old_subtracted_under_two_names(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            old = [p.grad for p in model.parameters()]
            loss_fn(model(x), y).backward()
            with torch.no_grad():
                for p, before in zip(model.parameters(), old):
                    if before is not None:
                        p.grad -= before
            optimizer.step()


@right
def the_old_subtracted_from_a_copy(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            old = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
            loss_fn(model(x), y).backward()
            with torch.no_grad():
                for p, before in zip(model.parameters(), old):
                    if before is not None:
                        p.grad -= before
            optimizer.step()


@wrong(mistakes.nothing_after_the_first_step)
def cleared_behind_the_backward_but_not_the_first(model, optimizer, loss_fn, batches, epochs):
    first = True
    for _ in range(epochs):
        for x, y in batches:
            loss_fn(model(x), y).backward()
            if not first:
                optimizer.zero_grad()
            first = False
            optimizer.step()


@wrong(mistakes.cleared_once_an_epoch_and_divided)
def what_was_gathered_divided_again_and_again(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for i, (x, y) in enumerate(batches, start=1):
            loss_fn(model(x), y).backward()
            for p in model.parameters():
                if p.grad is not None:
                    p.grad /= i
            optimizer.step()


@wrong(mistakes.cleared_once_an_epoch_and_divided)
def a_mean_of_the_batches_so_far(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        sums = {}
        for i, (x, y) in enumerate(batches, start=1):
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            for p in model.parameters():
                if p.grad is not None:
                    sums[p] = sums.get(p, 0) + p.grad
                    p.grad = sums[p] / i
            optimizer.step()


@wrong(mistakes.batches_in_another_order)
def turned_round_for_each_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        batches.reverse()
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.batches_in_another_order)
def there_and_back(model, optimizer, loss_fn, batches, epochs):
    for epoch in range(epochs):
        for x, y in batches if epoch % 2 == 0 else batches[::-1]:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.stepped_after_several_batches)
def accumulated_over_two_batches(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for i, (x, y) in enumerate(batches):
            (loss_fn(model(x), y) / 2).backward()
            if (i + 1) % 2 == 0 or i + 1 == len(batches):
                optimizer.step()
                optimizer.zero_grad()


@wrong(mistakes.stepped_after_several_batches)
def added_up_over_two_batches(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for start in range(0, len(batches), 2):
            model.zero_grad()
            for x, y in batches[start : start + 2]:
                loss_fn(model(x), y).backward()
            optimizer.step()


@right
def accumulated_over_windows_of_one(model, optimizer, loss_fn, batches, epochs):
    window = 1
    for _ in range(epochs):
        for i, (x, y) in enumerate(batches, 1):
            (loss_fn(model(x), y) / window).backward()
            if i % window == 0 or i == len(batches):
                optimizer.step()
                optimizer.zero_grad()


@wrong(mistakes.cleared_once_an_epoch_and_divided)
def each_loss_divided_by_its_number(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for i, (x, y) in enumerate(batches):
            (loss_fn(model(x), y) / (i + 1)).backward()
            optimizer.step()


@wrong(mistakes.cleared_once_an_epoch)
def cleared_before_and_after_the_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()
            optimizer.step()
        optimizer.zero_grad()


@wrong(mistakes.some_parameters_not_cleared)
def linear_layers_cleared_and_all_once_an_epoch(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            for layer in model.modules():
                if isinstance(layer, torch.nn.Linear):
                    layer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.some_parameters_not_cleared)
def linear_layers_cleared(model, optimizer, loss_fn, batches, epochs):
    for _ in range(epochs):
        for x, y in batches:
            for layer in model.modules():
                if isinstance(layer, torch.nn.Linear):
                    layer.weight.grad = None
                    layer.bias.grad = None
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.stepped_after_several_batches)
def accumulated_over_four_batches(model, optimizer, loss_fn, batches, epochs):
    steps = 4
    for _ in range(epochs):
        for i, (x, y) in enumerate(batches, 1):
            (loss_fn(model(x), y) / steps).backward()
            if i % steps == 0 or i == len(batches):
                optimizer.step()
                optimizer.zero_grad()
