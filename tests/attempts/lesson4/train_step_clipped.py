"""Attempts at exercise 4.4, train_step_clipped: what learners write, and what the check must say of it."""

import torch
from torch import nn
from torch.func import functional_call, grad
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson4.train_step_clipped import mistakes


@right
def from_the_library(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


@right
def norm_as_a_float(model, optimizer, loss_fn, x, y, max_norm):
    loss = loss_fn(model(x), y)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_norm, norm_type=2)
    optimizer.step()
    optimizer.zero_grad()
    return float(loss), float(norm)


@right
def by_hand(model, optimizer, loss_fn, x, y, max_norm):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    total = torch.sqrt(sum((g**2).sum() for g in gradients))
    if total > max_norm:
        for g in gradients:
            g.mul_(max_norm / total)
    optimizer.step()
    return loss.item(), total


@right
def by_hand_with_a_bound(model, optimizer, loss_fn, x, y, max_norm):
    for p in model.parameters():
        p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    total = sum(p.grad.norm().item() ** 2 for p in model.parameters() if p.grad is not None) ** 0.5
    scale = min(1.0, max_norm / (total + 1e-6))
    for p in model.parameters():
        if p.grad is not None:
            p.grad = p.grad * scale
    optimizer.step()
    return [loss.item(), total]


@right
def flat_vector(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    held = [p for p in model.parameters() if p.grad is not None]
    flat = torch.cat([p.grad.flatten() for p in held])
    norm = flat.norm()
    flat = flat * torch.clamp(max_norm / norm, max=1.0)
    for p, part in zip(held, flat.split([p.numel() for p in held])):
        p.grad.copy_(part.view_as(p))
    optimizer.step()
    return loss.item(), norm.item()


@right
def all_at_once(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    held = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(held)))
    torch._foreach_mul_(held, torch.clamp(max_norm / (norm + 1e-6), max=1.0))
    optimizer.step()
    return loss.item(), norm


@right
def handed_back(model, optimizer, loss_fn, x, y, max_norm):
    wanted = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    found = torch.autograd.grad(loss, wanted, allow_unused=True)
    norm = sum((g * g).sum() for g in found if g is not None).sqrt()
    scale = (max_norm / norm).clamp(max=1)
    for p in model.parameters():
        p.grad = None
    for p, g in zip(wanted, found):
        if g is not None:
            p.grad = g * scale
    optimizer.step()
    return loss.item(), norm.item()


@right
def functional(model, optimizer, loss_fn, x, y, max_norm):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    plain = {name: p.detach() for name, p in named.items()}

    def loss_of(values):
        return loss_fn(functional_call(model, values, (x,)), y)

    optimizer.zero_grad()
    for name, gradient in grad(loss_of)(plain).items():
        named[name].grad = gradient
    norm = clip_grad_norm_(model.parameters(), max_norm)
    loss = loss_of(plain).item()
    optimizer.step()
    return loss, norm


@right
def measured_then_clipped(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    held = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.nn.utils.get_total_norm(held)
    torch.nn.utils.clip_grads_with_norm_(model.parameters(), max_norm, norm)
    optimizer.step()
    return loss.item(), norm.item()


@right
def in_a_closure(model, optimizer, loss_fn, x, y, max_norm):
    norms = []

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        norms.append(clip_grad_norm_(model.parameters(), max_norm).item())
        return loss

    return optimizer.step(closure).item(), norms[0]


@right
def all_groups(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], max_norm)
    optimizer.step()
    return loss.item(), norm.detach()


@right
def row_by_row(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    total = 0.0
    for a, b in zip(x.split(1), y.split(1)):
        loss = loss_fn(model(a), b).mul(1 / len(x))
        loss.backward()
        total += loss.item()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return total, norm


@right
def scaled_and_unscaled(model, optimizer, loss_fn, x, y, max_norm):
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.item(), norm


@right
def times_zero_at_the_start(model, optimizer, loss_fn, x, y, max_norm):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.data.mul_(0)
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


# ------------------------------------------------------------------ wrong: when


@wrong(mistakes.nothing_cleared)
def zero_grad_forgotten(model, optimizer, loss_fn, x, y, max_norm):
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.cleared_after_the_step)
def cleared_at_the_end(model, optimizer, loss_fn, x, y, max_norm):
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item(), norm


@wrong(mistakes.frozen_moved)
def cleared_where_trainable(model, optimizer, loss_fn, x, y, max_norm):
    for p in model.parameters():
        if p.requires_grad:
            p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.frozen_moved)
def cleared_and_clipped_where_trainable(model, optimizer, loss_fn, x, y, max_norm):
    params = [p for p in model.parameters() if p.requires_grad]
    for p in params:
        p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(params, max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.clipped_before_backward)
def clip_above_backward(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    loss.backward()
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.not_clipped)
def clip_below_step(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    return loss.item(), norm


@wrong(mistakes.not_clipped)
def measured_alone(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = torch.norm(torch.stack([p.grad.norm() for p in model.parameters() if p.grad is not None]))
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.not_clipped)
def scaled_copies(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    norm = sum(g.pow(2).sum() for g in gradients).sqrt()
    if norm > max_norm:
        gradients = [g * max_norm / norm for g in gradients]
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.not_clipped)
def clipped_what_autograd_returned(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    params = model.parameters()
    norm = sum(p.grad.pow(2).sum() for p in params if p.grad is not None).sqrt()
    if norm > max_norm:
        for p in params:
            p.grad.mul_(max_norm / norm)
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.clipped_the_old)
def clip_above_everything(model, optimizer, loss_fn, x, y, max_norm):
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.cleared_before_the_step)
def cleared_between_backward_and_clip(model, optimizer, loss_fn, x, y, max_norm):
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.zero_grad()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.cleared_before_the_step)
def cleared_between_clip_and_step(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.zero_grad()
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.no_backward)
def backward_forgotten(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.no_step)
def step_forgotten(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    return loss.item(), norm


# ------------------------------------------------------------------ wrong: how


@wrong(mistakes.clipped_by_value)
def by_value(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).norm()
    clip_grad_value_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.clipped_by_value)
def by_value_and_measured_after(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad.clamp_(-max_norm, max_norm)
    norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).norm()
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.each_parameter_alone)
def in_a_loop(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    total = 0.0
    for p in model.parameters():
        if p.grad is not None:
            norm = p.grad.norm()
            total += norm.item() ** 2
            if norm > max_norm:
                p.grad.mul_(max_norm / norm)
    optimizer.step()
    return loss.item(), total**0.5


@wrong(mistakes.each_parameter_alone)
def library_in_a_loop(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    for p in model.parameters():
        if p.grad is not None:
            norm = clip_grad_norm_(p, max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.each_parameter_alone)
def library_in_a_sum(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = sum(clip_grad_norm_([p], max_norm) for p in model.parameters() if p.grad is not None)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.largest_entry)
def infinity_norm(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm, norm_type=float("inf"))
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.sum_of_absolute_values)
def one_norm(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm, norm_type=1)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.sum_of_norms)
def norms_added_up(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = sum(p.grad.norm() for p in model.parameters() if p.grad is not None)
    if norm > max_norm:
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(max_norm / norm)
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.square_of_the_norm)
def no_root(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = sum((p.grad**2).sum() for p in model.parameters() if p.grad is not None)
    factor = min(1.0, max_norm / norm.item())
    for p in model.parameters():
        if p.grad is not None:
            p.grad.mul_(factor)
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.always_scaled)
def no_condition(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    for g in gradients:
        g *= max_norm / norm
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.length_one)
def divided_by_the_norm(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    if norm > max_norm:
        for g in gradients:
            g /= norm
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.factor_upside_down)
def norm_over_max(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    if norm > max_norm:
        for g in gradients:
            g *= norm / max_norm
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.factor_twice)
def clipped_with_itself(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    scale = (max_norm / norm).clamp(max=1.0)
    for g in gradients:
        g.mul_(scale)
        g.mul_(scale)
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.first_group_alone)
def first_group(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(optimizer.param_groups[0]["params"], max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.nothing_cleared)
def nothing_cleared_and_measured_after(model, optimizer, loss_fn, x, y, max_norm):
    loss = loss_fn(model(x), y)
    loss.backward()
    clip_grad_norm_(model.parameters(), max_norm)
    norm = sum(p.grad.norm() ** 2 for p in model.parameters() if p.grad is not None) ** 0.5
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.bound_of_one)
def one_for_the_bound(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.weights_alone_clipped)
def biases_forgotten(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_([p for name, p in model.named_parameters() if "bias" not in name], max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.root_mean_square)
def mean_of_the_squares(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).pow(2).mean().sqrt()
    if norm > max_norm:
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= max_norm / norm
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.square_of_the_norm)
def squares_of_what_was_never_cleared(model, optimizer, loss_fn, x, y, max_norm):
    loss = loss_fn(model(x), y)
    loss.backward()
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    norm = sum((g**2).sum() for g in grads)
    if norm > max_norm:
        for g in grads:
            g *= max_norm / norm
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.rate_scaled)
def move_shortened_after_the_step(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).norm()
    before = [p.detach().clone() for p in model.parameters()]
    optimizer.step()
    with torch.no_grad():
        for p, old in zip(model.parameters(), before):
            p.copy_(old + (p - old) * min(1.0, max_norm / norm.item()))
    return loss.item(), norm.item()


@wrong(mistakes.rate_scaled)
def smaller_rate(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = sum(p.grad.norm() ** 2 for p in model.parameters() if p.grad is not None) ** 0.5
    before = [group["lr"] for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        group["lr"] = group["lr"] * min(1.0, max_norm / norm.item())
    optimizer.step()
    for group, lr in zip(optimizer.param_groups, before):
        group["lr"] = lr
    return loss.item(), norm.item()


@wrong(mistakes.clipped_the_weights)
def weights_scaled(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = torch.cat([p.detach().flatten() for p in model.parameters()]).norm()
    if norm > max_norm:
        with torch.no_grad():
            for p in model.parameters():
                p.mul_(max_norm / norm)
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.clipped_the_loss)
def loss_clamped(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y).clamp(max=max_norm)
    loss.backward()
    norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).norm()
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.summed_over_rows)
def rows_added_up(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    values = []
    for a, b in zip(x.split(1), y.split(1)):
        loss = loss_fn(model(a), b)
        loss.backward()
        values.append(loss.item())
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return sum(values) / len(values), norm


@wrong(mistakes.divided_by_rows)
def divided_again(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    (loss / x.shape[0]).backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.put_into_train_mode)
def train_first(model, optimizer, loss_fn, x, y, max_norm):
    model.train()
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


# ------------------------------------------------------------------ wrong: what is returned


@wrong(mistakes.norm_after_clipping)
def measured_after(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    clip_grad_norm_(model.parameters(), max_norm)
    norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).norm()
    optimizer.step()
    return loss.item(), norm.item()


@wrong(mistakes.norm_after_clipping)
def clipped_and_clipped_again(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    clip_grad_norm_(model.parameters(), max_norm)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.max_norm_returned)
def the_argument_returned(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), max_norm


@wrong(mistakes.pair_turned_round)
def norm_first(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return norm.item(), loss.item()


@wrong(mistakes.another_norm_returned)
def norms_added_up_for_the_return(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = sum(p.grad.norm().item() for p in model.parameters() if p.grad is not None)
    clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.another_norm_returned)
def squared_for_the_return(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = sum((p.grad**2).sum().item() for p in model.parameters() if p.grad is not None)
    clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.loss_after_the_step)
def forward_once_more(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss_fn(model(x), y).item(), norm


@wrong(mistakes.norm_alone)
def only_the_norm(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return norm


@wrong(mistakes.loss_alone)
def only_the_loss(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()


@wrong(effects.wrong_type)
def loss_with_its_graph(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss, norm


@wrong(effects.wrong_type)
def in_a_dict(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return {"loss": loss.item(), "total_norm": norm.item()}


@wrong(effects.returned_nothing)
def value_of_the_value_clip(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()


@raised(effects.grad_is_none)
def every_grad_measured(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = sum(p.grad.norm() ** 2 for p in model.parameters()) ** 0.5
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm.item()


@raised(effects.undefined_name)
def clip_without_its_import(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_gradients(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


@raised(effects.another_signature)
def clip_without_a_bound(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters())
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.not_clipped)
def clipped_before_the_backward_and_measured_after(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    clip_grad_norm_(model.parameters(), max_norm)
    loss.backward()
    norm = sum(p.grad.norm() ** 2 for p in model.parameters() if p.grad is not None) ** 0.5
    optimizer.step()
    return loss.item(), norm.item()


@wrong(effects.carries_a_graph)
def norm_with_its_graph(model, optimizer, loss_fn, x, y, max_norm):
    leaves = [p for p in model.parameters() if p.requires_grad]
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    grads = torch.autograd.grad(loss, leaves, create_graph=True, allow_unused=True)
    norm = torch.cat([g.flatten() for g in grads if g is not None]).norm()
    scale = torch.clamp(max_norm / (norm + 1e-6), max=1.0)
    for p, g in zip(leaves, grads):
        p.grad = None if g is None else (g * scale).detach()
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.dimension_lost)
def prediction_squeezed(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x).squeeze(), y)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item(), norm


@wrong(mistakes.each_group_alone)
def group_by_group(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norms = [torch.nn.utils.clip_grad_norm_(g["params"], max_norm) for g in optimizer.param_groups]
    optimizer.step()
    return loss.item(), torch.stack(norms).norm()


@right
def measured_by_group_and_scaled_together(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    norms = [
        torch.nn.utils.get_total_norm([p.grad for p in g["params"] if p.grad is not None])
        for g in optimizer.param_groups
    ]
    total = torch.stack(norms).norm()
    for g in optimizer.param_groups:
        torch.nn.utils.clip_grads_with_norm_(g["params"], max_norm, total)
    optimizer.step()
    return loss.item(), total


@wrong(mistakes.update_clipped)
def way_shortened(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    params = list(model.parameters())
    total = torch.stack([p.grad.norm() for p in params if p.grad is not None]).norm().item()
    before = [p.detach().clone() for p in params]
    optimizer.step()
    with torch.no_grad():
        way = torch.stack([(p - b).norm() for p, b in zip(params, before, strict=True)]).norm().item()
        if way > max_norm:
            for p, b in zip(params, before, strict=True):
                p.copy_(b + (p - b) * (max_norm / way))
    return loss.item(), total


@wrong(mistakes.long_gradient_left_out)
def skipped_when_it_explodes(model, optimizer, loss_fn, x, y, max_norm):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    total = torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
    if total <= max_norm:
        optimizer.step()
    return loss.item(), total.item()


def _backward(model, optimizer, loss_fn, x, y):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    held = [p.grad for p in model.parameters() if p.grad is not None]
    return loss.item(), held, torch.stack([g.norm() for g in held]).norm()


@wrong(mistakes.made_of_norm_and_max_norm)
def norm_overwritten_by_the_quotient(model, optimizer, loss_fn, x, y, max_norm):
    loss, held, norm = _backward(model, optimizer, loss_fn, x, y)
    scale = norm.div_(max_norm).clamp_(min=1.0)
    for g in held:
        g.div_(scale)
    optimizer.step()
    return loss, norm


@wrong(mistakes.made_of_norm_and_max_norm)
def factor_in_place_of_the_norm(model, optimizer, loss_fn, x, y, max_norm):
    loss, held, norm = _backward(model, optimizer, loss_fn, x, y)
    norm = (max_norm / (norm + 1e-6)).clamp(max=1.0)
    for g in held:
        g.mul_(norm)
    optimizer.step()
    return loss, norm.item()


@wrong(mistakes.made_of_norm_and_max_norm)
def norm_raised_to_max_norm(model, optimizer, loss_fn, x, y, max_norm):
    loss, held, norm = _backward(model, optimizer, loss_fn, x, y)
    divisor = norm.clamp_(min=max_norm)
    for g in held:
        g.mul_(max_norm / divisor)
    optimizer.step()
    return loss, norm


@right
def quotient_of_a_copy(model, optimizer, loss_fn, x, y, max_norm):
    loss, held, norm = _backward(model, optimizer, loss_fn, x, y)
    scale = norm.clone().div_(max_norm).clamp_(min=1.0)
    for g in held:
        g.div_(scale)
    optimizer.step()
    return loss, norm


@wrong(mistakes.mean_of_norms)
def norms_averaged(model, optimizer, loss_fn, x, y, max_norm):
    loss, held, _ = _backward(model, optimizer, loss_fn, x, y)
    norm = torch.stack([g.norm() for g in held]).mean()
    if norm > max_norm:
        for g in held:
            g.mul_(max_norm / norm)
    optimizer.step()
    return loss, norm


@wrong(mistakes.norm_after_clipping)
def measured_late_and_in_train_mode(model, optimizer, loss_fn, x, y, max_norm):
    model.train()
    loss, held, _ = _backward(model, optimizer, loss_fn, x, y)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss, torch.cat([g.flatten() for g in held]).norm()


@wrong(mistakes.sum_of_norms)
def norms_added_and_the_loss_after_the_step(model, optimizer, loss_fn, x, y, max_norm):
    _, held, _ = _backward(model, optimizer, loss_fn, x, y)
    norm = sum(g.norm().item() for g in held)
    if norm > max_norm:
        for g in held:
            g.mul_(max_norm / norm)
    optimizer.step()
    with torch.no_grad():
        return loss_fn(model(x), y).item(), norm
