"""Attempts at exercise 4.6, closure_step: what learners write, and what the check must say of it."""

import torch
from torch.func import functional_call, grad_and_value

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson4.closure_step import mistakes


@right
def what_step_returns(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@right
def first_of_a_list(model, optimizer, loss_fn, x, y):
    losses = []

    def closure():
        model.zero_grad(set_to_none=False)
        loss = loss_fn(model(x), y)
        loss.backward()
        losses.append(loss.item())
        return loss.item()

    optimizer.step(closure)
    return losses[0]


@right
def measured_before(model, optimizer, loss_fn, x, y):
    with torch.no_grad():
        before = float(loss_fn(model(x), y))

    def closure():
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        return loss

    optimizer.step(closure)
    return before


@right
def row_by_row(model, optimizer, loss_fn, x, y):
    def closure():
        for p in model.parameters():
            p.grad = None
        total = 0.0
        for a, b in zip(x.split(1), y.split(1)):
            loss = loss_fn(model(a), b) / len(x)
            loss.backward()
            total += loss.detach()
        return total

    return float(optimizer.step(closure))


@right
def handed_back(model, optimizer, loss_fn, x, y):
    params = list(model.parameters())
    wanted = [p for p in params if p.requires_grad]

    def closure():
        loss = loss_fn(model(x), y)
        found = dict(zip(wanted, torch.autograd.grad(loss, wanted, allow_unused=True)))
        for p in params:
            p.grad = found.get(p)
        return loss

    return optimizer.step(closure).item()


@right
def functional(model, optimizer, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}

    def loss_of(values):
        return loss_fn(functional_call(model, values, (x,)), y)

    def closure():
        optimizer.zero_grad()
        found, value = grad_and_value(loss_of)({name: p.detach() for name, p in named.items()})
        for name, gradient in found.items():
            named[name].grad = gradient
        return value

    return optimizer.step(closure).item()


@right
def kept_by_the_first_call(model, optimizer, loss_fn, x, y):
    first = None

    def closure():
        nonlocal first
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        if first is None:
            first = loss.item()
        return loss

    optimizer.step(closure)
    return first


@right
def cleared_everywhere(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()

    def closure():
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(0)
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    before = optimizer.step(closure)
    optimizer.zero_grad()
    return before.item()


# ------------------------------------------------------------------ wrong: clearing


@wrong(mistakes.nothing_cleared)
def zero_grad_forgotten(model, optimizer, loss_fn, x, y):
    def closure():
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@wrong(mistakes.cleared_outside)
def zero_grad_above_the_closure(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()

    def closure():
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@wrong(mistakes.cleared_outside)
def zero_grad_above_the_closure_and_loss_afterwards(model, optimizer, loss_fn, x, y):
    def closure():
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    optimizer.zero_grad()
    optimizer.step(closure)
    return loss_fn(model(x), y).item()


@wrong(mistakes.cleared_outside)
def cleared_at_the_first_call_alone(model, optimizer, loss_fn, x, y):
    losses = []

    def closure():
        if not losses:
            optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        losses.append(loss.item())
        return loss

    optimizer.step(closure)
    return losses[0]


@wrong(mistakes.cleared_after_the_backward)
def zero_grad_below_backward(model, optimizer, loss_fn, x, y):
    def closure():
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.zero_grad()
        return loss

    return optimizer.step(closure).item()


@wrong(mistakes.no_backward)
def backward_forgotten(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        return loss_fn(model(x), y)

    return optimizer.step(closure).item()


@wrong(mistakes.computed_once)
def backward_outside(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()

    def closure():
        return loss

    optimizer.step(closure)
    return loss.item()


@wrong(mistakes.computed_once)
def loss_anew_and_gradient_once(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    before = loss_fn(model(x), y)
    before.backward()

    def closure():
        return loss_fn(model(x), y)

    optimizer.step(closure)
    return before.item()


@wrong(mistakes.closure_returned_a_constant)
def true_for_success(model, optimizer, loss_fn, x, y):
    seen = []

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        seen.append(loss.item())
        return True

    optimizer.step(closure)
    return seen[0]


@wrong(says="`optimizer.step()` was called so often: 3; asked is 1.")
def three_steps(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return [optimizer.step(closure).item() for _ in range(3)][0]


@raised(mistakes.forward_outside)
def forward_above_the_closure(model, optimizer, loss_fn, x, y):
    prediction = model(x)

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(prediction, y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@raised(mistakes.forward_outside)
def forward_above_the_closure_retained(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)

    def closure():
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        return loss

    optimizer.step(closure)
    return loss.item()


@wrong(mistakes.frozen_moved)
def cleared_where_trainable(model, optimizer, loss_fn, x, y):
    def closure():
        for p in model.parameters():
            if p.requires_grad:
                p.grad = None
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@wrong(mistakes.unused_moved)
def assigned_where_there_is_one(model, optimizer, loss_fn, x, y):
    params = list(model.parameters())
    wanted = [p for p in params if p.requires_grad]

    def closure():
        loss = loss_fn(model(x), y)
        found = dict(zip(wanted, torch.autograd.grad(loss, wanted, allow_unused=True)))
        for p in params:
            if not p.requires_grad:
                p.grad = None
            elif found[p] is not None:
                p.grad = found[p]
        return loss

    return optimizer.step(closure).item()


# ------------------------------------------------------------------ wrong: stepping


@wrong(mistakes.two_steps)
def stepped_twice(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    first = optimizer.step(closure).item()
    optimizer.step(closure)
    return first


@wrong(mistakes.no_step)
def closure_called_by_hand(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return closure().item()


@wrong(mistakes.moved_as_plain_sgd)
def gradient_descent(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= optimizer.param_groups[0]["lr"] * p.grad
    return loss.item()


@raised(mistakes.no_closure)
def as_with_sgd(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@raised(mistakes.closure_called)
def parentheses_too_many(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure()).item()


@raised(mistakes.closure_called)
def a_number_for_a_closure(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss.item()

    return float(optimizer.step(closure()))


@raised(mistakes.closure_without_return)
def return_of_the_closure_forgotten(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()

    return optimizer.step(closure).item()


@raised(effects.another_signature)
def closure_with_arguments(model, optimizer, loss_fn, x, y):
    def closure(x, y):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


# ------------------------------------------------------------------ wrong: which gradient, what is returned


@wrong(mistakes.summed_over_rows)
def rows_added_up(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        total = sum(loss_fn(model(a), b) for a, b in zip(x.split(1), y.split(1)))
        total.backward()
        return total

    return optimizer.step(closure).item()


@wrong(mistakes.divided_by_rows)
def divided_again(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y) / len(x)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@wrong(mistakes.clipped_in_the_closure)
def clipped_out_of_habit(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        return loss

    return optimizer.step(closure).item()


@wrong(mistakes.arguments_swapped)
def target_first(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(y, model(x))
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@wrong(mistakes.put_into_train_mode)
def train_first(model, optimizer, loss_fn, x, y):
    model.train()

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@wrong(mistakes.loss_of_the_last_call)
def name_overwritten(model, optimizer, loss_fn, x, y):
    value = None

    def closure():
        nonlocal value
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        value = loss.item()
        return loss

    optimizer.step(closure)
    return value


@wrong(mistakes.loss_after_the_step)
def forward_once_more(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    optimizer.step(closure)
    return closure().item()


@wrong(mistakes.smallest_loss)
def best_of_all(model, optimizer, loss_fn, x, y):
    seen = []

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        seen.append(loss.item())
        return loss

    optimizer.step(closure)
    return min(seen)


@wrong(effects.wrong_type)
def loss_with_its_graph(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure)


@wrong(effects.wrong_type)
def all_losses(model, optimizer, loss_fn, x, y):
    seen = []

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        seen.append(loss.item())
        return loss

    optimizer.step(closure)
    return seen


@wrong(effects.returned_nothing)
def return_forgotten(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    optimizer.step(closure)


@wrong(effects.changed_mode)
def eval_first(model, optimizer, loss_fn, x, y):
    model.eval()

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@wrong(mistakes.dimension_lost)
def prediction_squeezed(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x).squeeze(), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@wrong(mistakes.closure_returned_the_smallest)
def best_loss_returned(model, optimizer, loss_fn, x, y):
    best = float("inf")
    first = []

    def closure():
        nonlocal best
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        first.append(loss.item())
        best = min(best, loss.item())
        return best

    optimizer.step(closure)
    return first[0]


@right
def best_loss_noted(model, optimizer, loss_fn, x, y):
    best = float("inf")
    first = []

    def closure():
        nonlocal best
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        first.append(loss.item())
        best = min(best, loss.item())
        return first[-1]

    optimizer.step(closure)
    return first[0]


@wrong(mistakes.one_iteration)
def told_to_iterate_once(model, optimizer, loss_fn, x, y):
    optimizer.param_groups[0]["max_iter"] = 1

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return float(optimizer.step(closure))


@wrong(mistakes.history_thrown_away)
def clean_start(model, optimizer, loss_fn, x, y):
    optimizer.state.clear()

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@wrong(mistakes.losses_of_all_calls)
def mean_over_the_calls(model, optimizer, loss_fn, x, y):
    seen = []

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        seen.append(loss.item())
        return loss

    optimizer.step(closure)
    return sum(seen) / len(seen)


@wrong(mistakes.losses_of_all_calls)
def running_total(model, optimizer, loss_fn, x, y):
    total = 0.0

    def closure():
        nonlocal total
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        total += float(loss.detach())
        return loss

    optimizer.step(closure)
    return total


@wrong(mistakes.losses_of_all_calls)
def mean_over_the_calls_in_train_mode(model, optimizer, loss_fn, x, y):
    seen = []

    def closure():
        model.train()
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        seen.append(loss.item())
        return loss

    optimizer.step(closure)
    return torch.tensor(seen, dtype=torch.float64).mean().item()


@right
def all_calls_noted_and_the_first_returned(model, optimizer, loss_fn, x, y):
    seen = []

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        seen.append(loss.item())
        return loss

    optimizer.step(closure)
    return next(iter(seen))


@wrong(mistakes.largest_loss)
def the_worst_of_the_calls(model, optimizer, loss_fn, x, y):
    worst = float("-inf")

    def closure():
        nonlocal worst
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        worst = max(worst, loss.item())
        return loss

    optimizer.step(closure)
    return worst


@wrong(mistakes.put_into_train_mode)
def train_mode_for_the_step(model, optimizer, loss_fn, x, y):
    modes = [part.training for part in model.modules()]
    model.train()

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    before = optimizer.step(closure).item()
    for part, mode in zip(model.modules(), modes, strict=True):
        part.training = mode
    return before
