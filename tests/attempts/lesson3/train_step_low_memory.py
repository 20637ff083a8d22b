"""Attempts at exercise 3.5, train_step_low_memory: what learners write, and what the check must say of it."""

import torch
from torch.func import functional_call
from torch.nn.utils import clip_grad_norm_
from torch.utils.checkpoint import checkpoint

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson3.train_step_low_memory import mistakes
from gradient_ledger.catalogue import misconception


@right
def cleared_at_the_start(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def cleared_at_both_ends(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad(set_to_none=True)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return float(loss)


@right
def cleared_by_the_model(model, optimizer, loss_fn, x, y):
    model.zero_grad()
    prediction = model(x)
    loss = loss_fn(prediction, y)
    value = loss.detach().item()
    loss.backward()
    optimizer.step()
    return value


@right
def none_by_hand(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.tolist()


@right
def deleted(model, optimizer, loss_fn, x, y):
    for group in optimizer.param_groups:
        for p in group["params"]:
            del p.grad
    loss = loss_fn(model(x), y)
    torch.autograd.backward([loss])
    optimizer.step()
    return loss.item()


@right
def zeroed_and_then_given_back(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad(set_to_none=False)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward(gradient=torch.ones_like(loss))
    optimizer.step()
    return loss.item()


@right
def only_these_inputs(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward(inputs=[p for p in model.parameters() if p.requires_grad])
    optimizer.step()
    return loss.item()


@right
def handed_back_and_assigned(model, optimizer, loss_fn, x, y):
    model.zero_grad()
    params = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    for p, g in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):
        p.grad = g
    optimizer.step()
    return loss.item()


@right
def functional(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    params = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}

    def loss_of(params):
        return loss_fn(functional_call(model, params, (x,)), y)

    grads, loss = torch.func.grad_and_value(loss_of)(params)
    for name, p in model.named_parameters():
        if name in grads and grads[name].any():  # what is not used gets zeros here
            p.grad = grads[name]
    optimizer.step()
    return loss.item()


@right
def in_a_closure(model, optimizer, loss_fn, x, y):
    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@right
def scaled_and_divided(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    (loss * len(x)).backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= len(x)
    optimizer.step()
    return loss.item()


@right
def a_new_tensor_of_the_quotient(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.mul(4).backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad = p.grad / 4
    optimizer.step()
    return loss.item()


@right
def hooks_that_divide(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    handles = [p.register_hook(lambda g: g / 4) for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    (4 * loss).backward()
    for handle in handles:
        handle.remove()
    optimizer.step()
    return loss.item()


@right
def scaler_that_does_nothing(model, optimizer, loss_fn, x, y):
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss.item()


@right
def scaler_and_a_clip_that_does_not_bite(model, optimizer, loss_fn, x, y):
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**8)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    clip_grad_norm_(model.parameters(), 1e9)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()


@right
def checkpointed(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(checkpoint(model, x, use_reentrant=False), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def kept_elsewhere_and_brought_back(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    main = {p: p.grad.clone() for p in model.parameters() if p.grad is not None}
    optimizer.zero_grad(set_to_none=False)
    for p, g in main.items():
        p.grad.add_(g)
    optimizer.step()
    return loss.item()


@right
def rows_in_another_order(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x.flip(0)), y.flip(0))
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def loss_from_a_forward_of_its_own(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    with torch.no_grad():
        before = loss_fn(model(x), y).item()
    loss_fn(model.forward(x), y).backward()
    optimizer.step()
    return before


@right
def old_gradients_put_aside(model, optimizer, loss_fn, x, y):
    # Copies elsewhere are not looked for.
    old = [p.grad for p in model.parameters()]
    for p in model.parameters():
        p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    for p, g in zip(model.parameters(), old):
        p.grad = g
    return loss.item()


@right
def a_while_loop(model, optimizer, loss_fn, x, y):
    done = 0
    while done < 1:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        done += 1
        if done == 1:
            optimizer.step()
    return loss.item()


# ------------------------------------------------------------------ alive in the forward pass


@wrong(mistakes.gradients_alive_in_the_forward_pass)
def cleared_after_the_forward(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.gradients_alive_in_the_forward_pass)
def assigned_and_never_cleared(model, optimizer, loss_fn, x, y):
    params = list(model.parameters())
    loss = loss_fn(model(x), y)
    trainable = [p for p in params if p.requires_grad]
    grads = dict(zip(trainable, torch.autograd.grad(loss, trainable, allow_unused=True)))
    for p in params:
        p.grad = grads.get(p)
    optimizer.step()
    return loss.item()


@wrong(mistakes.zeros_alive_in_the_forward_pass)
def zeros_at_the_start(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad(set_to_none=False)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.zeros_alive_in_the_forward_pass)
def zeros_by_the_model(model, optimizer, loss_fn, x, y):
    model.zero_grad(set_to_none=False)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.zeros_alive_in_the_forward_pass)
def zeros_by_hand(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.data.zero_()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.zeros_alive_in_the_forward_pass)
def zeros_all_at_once(model, optimizer, loss_fn, x, y):
    held = [p.grad for p in model.parameters() if p.grad is not None]
    if held:
        torch._foreach_zero_(held)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.zeros_alive_in_the_forward_pass)
def times_zero(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.mul_(0)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.zeros_alive_in_the_forward_pass)
def new_zeros(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.zeros_alive_in_the_forward_pass)
def what_is_zero_already_is_left(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        if p.grad is not None and p.grad.any():
            p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.gradients_alive_in_a_later_forward_pass)
def two_micro_batches(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    total = 0.0
    for rows, wanted in zip(x.chunk(2), y.chunk(2)):
        loss = loss_fn(model(rows), wanted) * len(rows) / len(x)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


@wrong(mistakes.gradients_alive_in_a_later_forward_pass)
def a_row_at_a_time(model, optimizer, loss_fn, x, y):
    model.zero_grad()
    total = 0.0
    for row, wanted in zip(x.split(1), y.split(1)):
        loss = loss_fn(model(row), wanted) / len(x)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


@wrong(mistakes.batch_taken_apart)
def parts_and_one_backward(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    total = 0
    for rows, wanted in zip(x.chunk(2), y.chunk(2)):
        total = total + loss_fn(model(rows), wanted) * len(rows) / len(x)
    total.backward()
    optimizer.step()
    return total.item()


@wrong(mistakes.batch_taken_apart)
def predictions_of_two_rows_joined(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    predictions = torch.cat([model(rows) for rows in x.split(2)])
    loss = loss_fn(predictions, y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.batch_taken_apart)
def predictions_of_each_row_stacked(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    predictions = torch.stack([model(row[None])[0] for row in x])
    loss = loss_fn(predictions, y)
    loss.backward()
    optimizer.step()
    return loss.item()


# ------------------------------------------------------------------ wrong numbers


@wrong(mistakes.never_cleared)
def without_clearing(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.cleared_at_the_end_alone)
def cleared_at_the_end(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


@wrong(mistakes.cleared_before_the_step)
def cleared_too_late(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


@wrong(mistakes.stepped_before_backward)
def step_and_backward_swapped(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
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


@wrong(mistakes.no_step)
def step_forgotten(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    return loss.item()


@wrong(mistakes.frozen_left_out)
def trainable_ones_cleared(model, optimizer, loss_fn, x, y):
    params = [p for p in model.parameters() if p.requires_grad]
    for p in params:
        p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(says="where the model has a parameter of its own")
def layers_cleared(model, optimizer, loss_fn, x, y):
    for layer in model.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.weight.grad = layer.bias.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.zeros_for_the_unused)
def materialised(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    params = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    for p, g in zip(params, torch.autograd.grad(loss, params, materialize_grads=True)):
        p.grad = g
    optimizer.step()
    return loss.item()


@wrong(mistakes.zeros_for_the_unused)
def zeros_after_the_forward(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.stepped_twice)
def twice(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.step()
    return loss.item()


@wrong(mistakes.gradient_doubled)
def backward_twice(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward(retain_graph=True)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.gradient_clipped)
def clipped_as_in_a_recipe(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad(set_to_none=True)
    loss = loss_fn(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    return loss.item()


@wrong(mistakes.multiplied_by_the_rows)
def summed(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    (loss * x.shape[0]).backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.divided_by_the_rows)
def averaged_again(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    (loss / x.shape[0]).backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.history_thrown_away)
def state_cleared(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    optimizer.state.clear()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.eval_for_the_forward)
def eval_and_back(model, optimizer, loss_fn, x, y):
    training = model.training
    modes = [m.training for m in model.modules()]
    model.eval()
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    for m, mode in zip(model.modules(), modes):
        m.training = mode
    assert model.training == training
    return loss.item()


@wrong(mistakes.eval_for_the_forward)
def left_in_eval(model, optimizer, loss_fn, x, y):
    model.eval()
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.gradients_alive_in_a_later_forward_pass)
def looked_at_the_loss_again(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        print(loss_fn(model(x), y).item())
    return loss.item()


@wrong(mistakes.arguments_swapped)
def target_first(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(y, model(x))
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.loss_after_the_step)
def evaluated_afterwards(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss_fn(model(x), y).item()


@wrong(mistakes.train_for_the_forward)
def train_mode_set(model, optimizer, loss_fn, x, y):
    model.train()
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(effects.returned_nothing)
def nothing_returned(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()


@wrong(effects.wrong_type)
def tensor_returned(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


@raised(effects.graph_freed)
def freed(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    loss.backward()
    optimizer.step()
    return loss.item()


@raised(effects.grad_is_none)
def zero_on_none(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        p.grad.zero_()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@raised(effects.not_in_the_graph)
def unused_not_allowed(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    params = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    for p, g in zip(params, torch.autograd.grad(loss, params)):
        p.grad = g
    optimizer.step()
    return loss.item()


@wrong(mistakes.optimizer_passed_by)
def by_hand(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p.sub_(p.grad, alpha=optimizer.defaults["lr"])
    return loss.item()


@wrong(mistakes.gradients_alive_in_the_forward_pass)
def zeros_after_the_forward_alone(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.gradients_alive_in_the_forward_pass)
def old_gradient_taken_off(model, optimizer, loss_fn, x, y):
    old = {p: p.grad.clone() for p in model.parameters() if p.grad is not None}
    loss = loss_fn(model(x), y)
    loss.backward()
    for p, g in old.items():
        p.grad -= g
    optimizer.step()
    return loss.item()


@wrong(mistakes.cleared_at_the_end_alone)
def zeros_at_the_end(model, optimizer, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    return loss.item()


@wrong(says="Every number of the loss returned is 6 times what it should be")
def loss_of_all_rows(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item() * len(x)


@wrong(says="`loss_fn` was never called.")
def a_loss_of_its_own(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@raised(effects.no_graph)
def forward_without_recording(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    with torch.no_grad():
        loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(misconception("graph-cut"))
def prediction_detached(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x).detach(), y).requires_grad_()
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong()
def clipped(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
    return loss.item()


@wrong(mistakes.loss_of_eval_mode)
def reported_from_eval_mode(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    with torch.no_grad():
        value = loss_fn(model(x), y).item()
    for m, mode in modes:
        m.training = mode
    loss_fn(model(x), y).backward()
    optimizer.step()
    return value


@wrong(mistakes.zeros_for_the_unused)
def zeros_before_the_backward(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        p.grad = None
    loss = loss_fn(model(x), y)
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.gradient_clipped)
def clipped_to_ten(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    clip_grad_norm_(model.parameters(), 10.0)
    optimizer.step()
    return loss.item()


@wrong(mistakes.multiplied_by_the_rows)
def loss_and_gradient_of_the_sum(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y) * len(x)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(mistakes.not_finite_left)
def finite_gradients_cleared(model, optimizer, loss_fn, x, y):
    for p in model.parameters():
        if p.grad is not None and torch.isfinite(p.grad).all():
            p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()
