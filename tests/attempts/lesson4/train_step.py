"""Attempts at exercise 4.1, train_step: what learners write, and what the check must say of it."""

import torch
from torch.func import functional_call, grad, vmap

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson4.train_step import mistakes


@right
def cleared_at_the_start(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def cleared_after_the_forward(model, optimizer, loss_fn, x, y):
    prediction = model(x)
    loss = loss_fn(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)


@right
def cleared_at_both_ends(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach().item()


@right
def with_zeros(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad(set_to_none=False)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def the_models_own(model, optimizer, loss_fn, x, y):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def the_models_own_with_zeros(model, optimizer, loss_fn, x, y):
    model.zero_grad(set_to_none=False)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def none_by_hand(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def zero_by_hand(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.zero_()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def fresh_zeros(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        if p.grad is not None:
            p.grad = torch.zeros_like(p.grad)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def times_zero(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.mul_(0)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def deleted(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        del p.grad
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def all_at_once(model, optimizer, loss_fn, x, y):
    held = [p.grad for p in model.parameters() if p.grad is not None]
    if held:
        torch._foreach_zero_(held)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def through_data(model, optimizer, loss_fn, x, y):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad.data.zero_()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


# Right to the last digits while the old numbers are of the size of the new ones.
@wrong(mistakes.old_gradient_taken_off)
def taken_off_again(model, optimizer, loss_fn, x, y):
    old = {p: p.grad.clone() for p in model.parameters() if p.grad is not None}
    loss = loss_fn(model(x), y)
    loss.backward()
    for p, gradient in old.items():
        p.grad -= gradient
    optimizer.step()
    return loss.item()


@right
def handed_back_and_assigned(model, optimizer, loss_fn, x, y):
    params = list(model.parameters())
    wanted = [p for p in params if p.requires_grad]
    loss = loss_fn(model(x), y)
    found = dict(zip(wanted, torch.autograd.grad(loss, wanted, allow_unused=True)))
    for p in params:
        p.grad = found.get(p)
    optimizer.step()
    return loss.item()


@right
def functional(model, optimizer, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    plain = {name: p.detach() for name, p in named.items()}

    def loss_of(values):
        return loss_fn(functional_call(model, values, (x,)), y)

    optimizer.zero_grad()
    for name, gradient in grad(loss_of)(plain).items():
        named[name].grad = gradient
    loss = loss_of(plain)
    optimizer.step()
    return loss.item()


@right
def mean_of_mapped_rows(model, optimizer, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    plain = {name: p.detach() for name, p in named.items()}

    def loss_of(values, row, wanted):
        return loss_fn(functional_call(model, values, (row.unsqueeze(0),)), wanted.unsqueeze(0))

    each = vmap(grad(loss_of), in_dims=(None, 0, 0))(plain, x, y)
    loss = loss_fn(model(x), y).item()
    optimizer.zero_grad()
    for name, gradients in each.items():
        named[name].grad = gradients.mean(0)
    optimizer.step()
    return loss


@right
def inside_a_closure(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@right
def row_by_row(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    total = 0.0
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1]) / len(x)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


@right
def rows_in_another_order_divided_afterwards(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    values, i = [], len(x)
    while i > 0:
        i -= 1
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        loss.backward()
        values.append(loss.item())
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= len(x)
    optimizer.step()
    return sum(values) / len(values)


@right
def weighed_by_backward(model, optimizer, loss_fn, x, y):
    model.zero_grad()
    share = torch.tensor(1 / len(x), dtype=x.dtype)
    losses = [loss_fn(model(a), b) for a, b in zip(x.split(1), y.split(1))]
    torch.autograd.backward(losses, [share] * len(losses))
    optimizer.step()
    return torch.stack(losses).mean().item()


@right
def hooks_that_divide(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    handles = [p.register_hook(lambda g: g / len(x)) for p in model.parameters() if p.requires_grad]
    total = 0.0
    for a, b in zip(x.split(1), y.split(1)):
        loss = loss_fn(model(a), b)
        loss.backward()
        total += loss.item() / len(x)
    for handle in handles:
        handle.remove()
    optimizer.step()
    return total


@right
def one_backward_of_the_summed_rows(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = sum(loss_fn(model(a), b) for a, b in zip(x.split(1), y.split(1))).mul(1 / len(x))
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def buffer_of_its_own(model, optimizer, loss_fn, x, y):
    params = [p for p in model.parameters() if p.requires_grad]
    main = [torch.zeros_like(p) for p in params]
    total = 0.0
    for a, b in zip(x.split(1), y.split(1)):
        model.zero_grad()
        loss = loss_fn(model(a), b)
        loss.backward()
        total += loss.item()
        for buffer, p in zip(main, params):
            if p.grad is not None:
                buffer += p.grad
    for buffer, p in zip(main, params):
        p.grad = buffer / len(x)
    optimizer.step()
    return total / len(x)


@right
def named_inputs(model, optimizer, loss_fn, x, y):
    params = [p for p in model.parameters() if p.requires_grad]
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward(inputs=params)
    optimizer.step()
    return loss.item()


@right
def scaler_that_is_off(model, optimizer, loss_fn, x, y):
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss.item()


@right
def scaler_that_is_on(model, optimizer, loss_fn, x, y):
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()


@right
def checkpointed(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    prediction = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)
    loss = loss_fn(prediction, y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def measured_first(model, optimizer, loss_fn, x, y):
    with torch.no_grad():
        before = loss_fn(model(x), y).item()
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()
    return before


# ------------------------------------------------------------------ wrong


@wrong(mistakes.nothing_cleared)
def zero_grad_forgotten(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.nothing_cleared)
def zero_grad_without_parentheses(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.cleared_after_the_step)
def tidied_up(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


@wrong(mistakes.cleared_after_the_step)
def tidied_up_with_zeros(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    model.zero_grad(set_to_none=False)
    return loss.item()


@wrong(mistakes.cleared_before_the_step)
def as_in_the_diagram(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


@wrong(mistakes.cleared_before_the_step)
def as_in_the_diagram_with_zeros(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad.zero_()
    optimizer.step()
    return loss.item()


@wrong(mistakes.cleared_before_the_step)
def cleared_twice(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    model.zero_grad()
    optimizer.step()
    return loss.item()


@wrong(mistakes.stepped_too_early)
def step_before_backward(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    optimizer.step()
    loss.backward()
    return loss.item()


@wrong(mistakes.stepped_too_early)
def step_first_of_all(model, optimizer, loss_fn, x, y):
    optimizer.step()
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    return loss.item()


@wrong(mistakes.stepped_too_early)
def zeros_and_step_first(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad(set_to_none=False)
    optimizer.step()
    loss = loss_fn(model(x), y)
    loss.backward()
    return loss.item()


@wrong(mistakes.stepped_too_early)
def step_on_the_old_between(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    optimizer.step()
    loss.backward()
    return loss.item()


@wrong(mistakes.no_backward)
def backward_forgotten(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    optimizer.step()
    return loss.item()


@wrong(mistakes.no_backward)
def only_a_step(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    optimizer.step()
    return loss.item()


@wrong(mistakes.no_backward)
def gradients_asked_for_and_dropped(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    torch.autograd.grad(loss, [p for p in model.parameters() if p.requires_grad], allow_unused=True)
    optimizer.step()
    return loss.item()


@wrong(mistakes.no_step)
def step_forgotten(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    return loss.item()


@wrong(mistakes.no_step)
def step_without_parentheses(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step
    return loss.item()


@wrong(mistakes.two_steps)
def stepped_again(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.step()
    return loss.item()


@wrong(mistakes.two_steps)
def the_whole_thing_twice(model, optimizer, loss_fn, x, y):
    values = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    return values[0]


@wrong(mistakes.stepped_for_each_row)
def a_step_for_every_row(model, optimizer, loss_fn, x, y):
    before = loss_fn(model(x), y).item()
    for a, b in zip(x.split(1), y.split(1)):
        optimizer.zero_grad()
        loss_fn(model(a), b).backward()
        optimizer.step()
    return before


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


@wrong(mistakes.moved_as_plain_sgd)
def gradient_descent_by_groups(model, optimizer, loss_fn, x, y):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.data.add_(p.grad, alpha=-group["lr"])
    return loss.item()


@wrong(mistakes.gradient_counted_twice)
def retained_and_sent_again(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward(retain_graph=True)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.gradient_counted_twice)
def two_forwards_two_backwards(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    loss_fn(model(x), y).backward()
    optimizer.step()
    return loss.item()


@raised(effects.graph_freed)
def sent_twice(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.summed_over_rows)
def rows_added_up(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    values = []
    for a, b in zip(x.split(1), y.split(1)):
        loss = loss_fn(model(a), b)
        loss.backward()
        values.append(loss.item())
    optimizer.step()
    return sum(values) / len(values)


@wrong(mistakes.summed_over_rows)
def times_the_rows(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y) * x.shape[0]
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.divided_by_rows)
def a_second_mean(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    (loss / len(x)).backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.divided_by_rows)
def a_second_mean_returned_too(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y) / len(x)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.uphill)
def a_minus_for_descent(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    (-loss).backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.uphill)
def a_minus_that_is_returned(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = -loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.arguments_swapped)
def target_first(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(y, model(x))
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.weights_zeroed)
def data_zeroed(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        p.data.zero_()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.weights_zeroed)
def data_zeroed_beside_zero_grad(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.weights_zeroed)
def data_zeroed_afterwards(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    for p in model.parameters():
        p.data.fill_(0)
    return loss.item()


@wrong(mistakes.unused_moved)
def assigned_where_there_is_one(model, optimizer, loss_fn, x, y):
    wanted = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    for p in model.parameters():
        if not p.requires_grad:
            p.grad = None
    for p, gradient in zip(wanted, torch.autograd.grad(loss, wanted, allow_unused=True)):
        if gradient is not None:
            p.grad = gradient
    optimizer.step()
    return loss.item()


@wrong(mistakes.frozen_moved)
def cleared_where_trainable(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        if p.requires_grad:
            p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.frozen_moved)
def handed_back_for_the_trainable(model, optimizer, loss_fn, x, y):
    wanted = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    for p, gradient in zip(wanted, torch.autograd.grad(loss, wanted, allow_unused=True)):
        p.grad = gradient
    optimizer.step()
    return loss.item()


@wrong(mistakes.frozen_given_zeros)
def zeros_for_everyone(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.put_into_train_mode)
def train_first(model, optimizer, loss_fn, x, y):
    model.train()
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.put_into_train_mode)
def train_and_back(model, optimizer, loss_fn, x, y):
    was = [module.training for module in model.modules()]
    model.train()
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    for module, mode in zip(model.modules(), was):
        module.training = mode
    return loss.item()


@wrong(mistakes.put_into_eval_mode)
def eval_for_the_loss(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    model.eval()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.put_into_eval_mode)
def eval_and_back(model, optimizer, loss_fn, x, y):
    was = [module.training for module in model.modules()]
    model.eval()
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    for module, mode in zip(model.modules(), was):
        module.training = mode
    return loss.item()


@wrong(effects.changed_mode)
def train_at_the_end(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    model.train()
    return loss.item()


@wrong(mistakes.cleared_in_part)
def weights_alone_cleared(model, optimizer, loss_fn, x, y):
    for name, p in model.named_parameters():
        if "weight" in name:
            p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.cleared_in_part)
def first_group_cleared(model, optimizer, loss_fn, x, y):
    for p in optimizer.param_groups[0]["params"]:
        if p.grad is not None:
            p.grad.zero_()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.clipped_to_one)
def clipped_by_habit(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    return loss.item()


@wrong(mistakes.one_row_alone)
def only_the_first_row(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x[0:1]), y[0:1])
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.loss_after_the_step)
def forward_once_more(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()
    return loss_fn(model(x), y).item()


@wrong(mistakes.loss_times_rows)
def loss_of_all_rows(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item() * x.size(0)


@wrong(mistakes.loss_divided_by_rows)
def loss_per_row(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item() / len(x)


@wrong(effects.wrong_type)
def loss_with_its_graph(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


@wrong(effects.wrong_type)
def loss_detached(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


@wrong(effects.wrong_type)
def item_without_parentheses(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item


@wrong(effects.returned_nothing)
def return_forgotten(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()


@raised(effects.no_graph)
def nothing_recorded(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    with torch.no_grad():
        loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@raised(effects.no_such_attribute)
def a_number_sent_backward(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y).item()
    loss.backward()
    optimizer.step()
    return loss


@raised(effects.grad_is_none)
def zero_on_none(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        p.grad.zero_()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@raised(effects.not_in_the_graph)
def every_parameter_asked(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    wanted = [p for p in model.parameters() if p.requires_grad]
    for p, gradient in zip(wanted, torch.autograd.grad(loss, wanted)):
        p.grad = gradient
    optimizer.step()
    return loss.item()


@raised(effects.no_such_attribute)
def zeroed_the_loss_function(model, optimizer, loss_fn, x, y):
    loss_fn.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@raised(effects.another_signature)
def loss_of_one_argument(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x) - y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.dimension_lost)
def prediction_squeezed(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x).squeeze(), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.dimension_lost)
def target_squeezed(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    prediction = model(x)
    loss = loss_fn(prediction, y.squeeze(-1))
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def both_squeezed(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x).squeeze(), y.squeeze())
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.clipped_to_one)
def clipped_to_ten(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
    optimizer.step()
    return loss.item()


@wrong(mistakes.loss_after_the_step)
def train_mode_and_a_second_pass(model, optimizer, loss_fn, x, y):
    model.train()
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()
    with torch.no_grad():
        return loss_fn(model(x), y).item()


@wrong(mistakes.moved_as_plain_sgd)
def an_optimizer_of_its_own(model, optimizer, loss_fn, x, y):
    own = torch.optim.SGD(model.parameters(), lr=optimizer.param_groups[0]["lr"])
    own.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    own.step()
    return loss.item()


@wrong(mistakes.arguments_swapped)
def target_first_and_a_tensor_back(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(y, model(x))
    loss.backward()
    optimizer.step()
    return loss
