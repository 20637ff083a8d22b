"""Attempts at exercise 5.8, momentum_twin: what learners write, and what the check must say of it."""

import copy

import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson5.momentum_twin import mistakes

# ------------------------------------------------------------------ right


@right
def momentum_of_one(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=1.0)
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()


@right
def cleared_at_the_end(model, loss_fn, batches, lr):
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr, momentum=1)
    losses = []
    for x, y in batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        model.zero_grad(set_to_none=False)
        losses.append(loss.item())
    return losses


@right
def sums_by_hand(model, loss_fn, batches, lr):
    trained = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p) for p in trained]
    for x, y in batches:
        for p in trained:
            p.grad = None
        loss_fn(model(x), y).backward()
        with torch.no_grad():
            for p, total in zip(trained, sums):
                if p.grad is not None:
                    total += p.grad
                p -= lr * total


@right
def gradients_handed_back(model, loss_fn, batches, lr):
    trained = {n: p for n, p in model.named_parameters() if p.requires_grad}
    total = {n: torch.zeros_like(p) for n, p in trained.items()}
    for x, y in batches:
        found = torch.autograd.grad(loss_fn(model(x), y), list(trained.values()), allow_unused=True)
        for (n, p), g in zip(trained.items(), found):
            if g is not None:
                total[n] = total[n] + g
            p.data.sub_(total[n], alpha=lr)


@right
def the_sum_in_its_place(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    kept = {}
    for x, y in batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        for p in model.parameters():
            if p.grad is not None or p in kept:
                new = 0 if p.grad is None else p.grad
                kept[p] = (kept[p] + new) if p in kept else new.clone()
                p.grad = kept[p].clone()
        optimizer.step()


@right
def functional(model, loss_fn, batches, lr):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
    sums = {n: torch.zeros_like(p) for n, p in params.items()}

    def loss(params, x, y):
        return loss_fn(torch.func.functional_call(model, params, (x,)), y)

    for x, y in batches:
        found = torch.func.grad(loss)(params, x, y)
        sums = {n: sums[n] + g for n, g in found.items()}
        with torch.no_grad():
            for n, p in params.items():
                p -= lr * sums[n]


@right
def a_row_at_a_time(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr, momentum=1.0)
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        for i in range(len(x)):
            (loss_fn(model(x[i : i + 1]), y[i : i + 1]) / len(x)).backward()
        optimizer.step()


@right
def from_the_last_two_places(model, loss_fn, batches, lr):
    trained = [p for p in model.parameters() if p.requires_grad]
    last = [p.detach().clone() for p in trained]
    for x, y in batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        with torch.no_grad():
            for i, p in enumerate(trained):
                here = p.clone()
                p += p - last[i]
                if p.grad is not None:
                    p -= lr * p.grad
                last[i] = here


# ------------------------------------------------------------------ wrong


@wrong(mistakes.sum_brought_back)
def the_sum_laid_into_grad_first(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    sums = {}
    for x, y in batches:
        for p in model.parameters():
            p.grad = sums.get(p)
        loss_fn(model(x), y).backward()
        optimizer.step()
        sums = {p: p.grad.clone() for p in model.parameters() if p.grad is not None}


@wrong(mistakes.sum_brought_back)
def a_hook_that_adds_the_sum(model, loss_fn, batches, lr):
    sums = {}

    def adding(name):
        def hook(gradient):
            sums[name] = sums.get(name, 0) + gradient
            return sums[name]

        return hook

    handles = [p.register_hook(adding(n)) for n, p in model.named_parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for x, y in batches:
        for n, p in model.named_parameters():
            if n in sums:
                p.grad = sums[n].clone()  # for a layer that this batch does not use
        before = {n: p.grad for n, p in model.named_parameters()}
        for p in model.parameters():
            p.grad = None
        loss_fn(model(x), y).backward()
        for n, p in model.named_parameters():
            if p.grad is None and before[n] is not None:
                p.grad = before[n]
        optimizer.step()
        optimizer.zero_grad()
    for handle in handles:
        handle.remove()


@wrong(mistakes.never_cleared)
def the_loop_itself(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for x, y in batches:
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.never_cleared)
def run_on_a_copy(model, loss_fn, batches, lr):
    twin = copy.deepcopy(model)
    optimizer = torch.optim.SGD(twin.parameters(), lr=lr)
    for x, y in batches:
        loss_fn(twin(x), y).backward()
        optimizer.step()
    with torch.no_grad():
        for p, q in zip(model.parameters(), twin.parameters()):
            p.copy_(q)


@wrong(mistakes.unused_layer_stands_still)
def cleared_to_none(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=1.0)
    for x, y in batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.unused_layer_stands_still)
def velocity_of_what_has_a_gradient(model, loss_fn, batches, lr):
    velocity = {}
    for x, y in batches:
        loss_fn(model(x), y).backward()
        with torch.no_grad():
            for name, p in model.named_parameters():
                if p.grad is None:
                    continue
                velocity[name] = velocity.get(name, 0) + p.grad
                p -= lr * velocity[name]
                p.grad = None


@wrong(mistakes.no_sum_at_all)
def plain_sgd(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for x, y in batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.no_sum_at_all)
def optimizer_made_in_the_loop(model, loss_fn, batches, lr):
    for x, y in batches:
        optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=1.0)
        optimizer.zero_grad(set_to_none=False)
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.momentum_below_one)
def usual_momentum(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.momentum_near_one)
def nearly_one(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.999)
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.summed_twice)
def clear_forgotten(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=1.0)
    for x, y in batches:
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.looked_ahead)
def nesterov(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=1.0, nesterov=True)
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.new_gradients_damped)
def dampening(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=1.0, dampening=0.5)
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.averaged)
def moving_average(model, loss_fn, batches, lr):
    trained = [p for p in model.parameters() if p.requires_grad]
    mean = [torch.zeros_like(p) for p in trained]
    for x, y in batches:
        for p in trained:
            p.grad = torch.zeros_like(p)
        loss_fn(model(x), y).backward()
        with torch.no_grad():
            for p, m in zip(trained, mean):
                m.mul_(0.9).add_(p.grad, alpha=0.1)
                p.sub_(m, alpha=lr)


@wrong(mistakes.one_step_for_all)
def summed_losses(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.zero_grad()
    total = 0
    for x, y in batches:
        total = total + loss_fn(model(x), y)
    total.backward()
    optimizer.step()


@wrong(mistakes.steps_that_grow)
def rate_times_number(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for number, (x, y) in enumerate(batches, 1):
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        for group in optimizer.param_groups:
            group["lr"] = number * lr
        optimizer.step()


@wrong(mistakes.taken_anew)
def all_losses_so_far(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    seen = []
    for x, y in batches:
        seen.append((x, y))
        optimizer.zero_grad()
        sum(loss_fn(model(a), b) for a, b in seen).backward()
        optimizer.step()


@wrong(mistakes.taken_anew)
def mean_of_all_losses_so_far(model, loss_fn, batches, lr):
    for i in range(len(batches)):
        model.zero_grad()
        for x, y in batches[: i + 1]:
            (loss_fn(model(x), y) / (i + 1)).backward()
        with torch.no_grad():
            for p in model.parameters():
                if p.grad is not None:
                    p -= lr * p.grad


@wrong(mistakes.applied_ahead)
def weights_of_all_later_steps(model, loss_fn, batches, lr):
    for i, (x, y) in enumerate(batches):
        optimizer = torch.optim.SGD(model.parameters(), lr=lr * (len(batches) - i))
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.newest_left_out)
def moved_before_adding(model, loss_fn, batches, lr):
    trained = [p for p in model.parameters() if p.requires_grad]
    velocity = {p: torch.zeros_like(p) for p in trained}
    for x, y in batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for p in trained:
            p.data -= lr * velocity[p]
            if p.grad is not None:
                velocity[p] += p.grad


@wrong(mistakes.sum_shares_its_memory)
def no_clone(model, loss_fn, batches, lr):
    total = {}
    for x, y in batches:
        for p in model.parameters():
            if p.grad is not None:
                p.grad.zero_()
        loss_fn(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters():
                if p.grad is not None:
                    if p in total:
                        total[p] += p.grad
                    else:
                        total[p] = p.grad
                    p -= lr * total[p]


@wrong(mistakes.not_trained)
def trained_a_copy(model, loss_fn, batches, lr):
    twin = copy.deepcopy(model)
    optimizer = torch.optim.SGD(twin.parameters(), lr=lr, momentum=1.0)
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss_fn(twin(x), y).backward()
        optimizer.step()
    return twin


@wrong(mistakes.not_trained)
def cleared_before_the_step(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=1.0)
    for x, y in batches:
        loss_fn(model(x), y).backward()
        optimizer.zero_grad()
        optimizer.step()


@wrong(mistakes.another_optimizer)
def adam(model, loss_fn, batches, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for x, y in batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.trained_twice)
def compared_on_one_model(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for x, y in batches:
        loss_fn(model(x), y).backward()
        optimizer.step()
    model.zero_grad()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=1.0)
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.arguments_of_the_loss_swapped)
def target_first(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=1.0)
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss_fn(y, model(x)).backward()
        optimizer.step()


@wrong(mistakes.put_into_train_mode)
def train_mode(model, loss_fn, batches, lr):
    model.train()
    momentum_of_one(model, loss_fn, batches, lr)


@raised(effects.grad_is_none)
def grad_without_asking(model, loss_fn, batches, lr):
    sums = [torch.zeros_like(p) for p in model.parameters()]
    for x, y in batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        with torch.no_grad():
            for p, total in zip(model.parameters(), sums):
                total += p.grad
                p -= lr * total


@wrong(mistakes.one_step_for_all)
def closed_form_at_the_first_weights(model, loss_fn, batches, lr):
    trained = [p for p in model.parameters() if p.requires_grad]
    moves = [torch.zeros_like(p) for p in trained]
    for number, (x, y) in enumerate(batches):
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for p, move in zip(trained, moves):
            if p.grad is not None:
                move += (len(batches) - number) * p.grad
    with torch.no_grad():
        for p, move in zip(trained, moves):
            p -= lr * move


@wrong(mistakes.put_into_train_mode)
def train_mode_and_the_models_mode_again(model, loss_fn, batches, lr):
    was = model.training
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=1.0)
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss_fn(model(x), y).backward()
        optimizer.step()
    model.train(was)


@right
def sum_put_into_grad_for_the_step(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    sums = {p: torch.zeros_like(p) for p in model.parameters() if p.requires_grad}
    for x, y in batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        for p, total in sums.items():
            if p.grad is not None:
                total += p.grad
            p.grad = total.clone()
        optimizer.step()


@wrong(mistakes.one_batch_back)
def the_one_before_added(model, loss_fn, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    previous = {}
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss_fn(model(x), y).backward()
        for p in model.parameters():
            if p.grad is not None:
                own = p.grad.clone()
                if p in previous:
                    p.grad += previous[p]
                previous[p] = own
        optimizer.step()


@wrong(mistakes.one_batch_back)
def the_last_one_that_there_was_added(model, loss_fn, batches, lr):
    kept = {}
    for x, y in batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters():
                if p.grad is not None:
                    p -= lr * (p.grad + kept.get(p, 0))
                    kept[p] = p.grad


@wrong(mistakes.late_layer_never_moves)
def sums_of_the_first_batch(model, loss_fn, batches, lr):
    sums = None
    for x, y in batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        with torch.no_grad():
            new = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
            sums = new if sums is None else {name: old + new.get(name, 0) for name, old in sums.items()}
            for name, total in sums.items():
                model.get_parameter(name).sub_(lr * total)


@wrong(mistakes.late_layer_never_moves)
def sums_of_the_first_batch_where_there_is_a_gradient(model, loss_fn, batches, lr):
    sums = None
    for x, y in batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        if sums is None:
            sums = {p: torch.zeros_like(p) for p in model.parameters() if p.grad is not None}
        for p in sums:
            if p.grad is not None:
                sums[p] = sums[p] + p.grad
                p.data -= lr * sums[p]
