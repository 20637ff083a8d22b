"""Attempts at exercise 7.5, ddp_accumulation_step: what learners write, and what the check must say of it."""

import contextlib

import torch
import torch.distributed as dist

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson7.ddp_accumulation_step import mistakes


@right
def first_ones_inside(ddp_model, optimizer, loss_fn, micro_batches):
    k = len(micro_batches)
    optimizer.zero_grad()
    with ddp_model.no_sync():
        for x, y in micro_batches[:-1]:
            (loss_fn(ddp_model(x), y) / k).backward()
    x, y = micro_batches[-1]
    (loss_fn(ddp_model(x), y) / k).backward()
    optimizer.step()


@right
def the_switch_itself(ddp_model, optimizer, loss_fn, micro_batches):
    # As nanoGPT does it.
    for step, (x, y) in enumerate(micro_batches):
        ddp_model.require_backward_grad_sync = step == len(micro_batches) - 1
        loss = loss_fn(ddp_model(x), y) / len(micro_batches)
        if step == 0:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


@right
def around_the_wrapper(ddp_model, optimizer, loss_fn, micro_batches):
    # The wrapped module knows nothing of ranks; the last pass through the wrapper sends all.
    *first, (x, y) = micro_batches
    ddp_model.zero_grad()
    for a, b in first:
        loss_fn(ddp_model.module(a), b).div(len(micro_batches)).backward()
    loss_fn(ddp_model(x), y).div(len(micro_batches)).backward()
    optimizer.step()
    return "done"


@right
def divided_afterwards(ddp_model, optimizer, loss_fn, micro_batches):
    for p in ddp_model.parameters():
        p.grad = None
    for i, (x, y) in enumerate(micro_batches):
        if i + 1 < len(micro_batches):
            with ddp_model.no_sync():
                loss_fn(ddp_model(x), y).backward()
        else:
            loss_fn(ddp_model(x), y).backward()
    for p in ddp_model.parameters():
        if p.grad is not None:
            p.grad /= len(micro_batches)
    optimizer.step()


@right
def one_backward_over_the_sum(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    losses = [loss_fn(ddp_model(x), y) for x, y in micro_batches]
    torch.stack(losses).mean().backward()
    optimizer.step()


@right
def one_large_batch(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    x = torch.cat([x for x, _ in micro_batches])
    y = torch.cat([y for _, y in micro_batches])
    loss = loss_fn(ddp_model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@right
def weighted_by_rows(ddp_model, optimizer, loss_fn, micro_batches):
    rows = torch.tensor(float(sum(len(x) for x, _ in micro_batches)), dtype=torch.float64)
    dist.all_reduce(rows)
    world = dist.get_world_size()
    optimizer.zero_grad()
    with contextlib.ExitStack() as stack:
        stack.enter_context(ddp_model.no_sync())
        for i, (x, y) in enumerate(micro_batches):
            if i == len(micro_batches) - 1:
                stack.close()
            weight = len(x) * world / rows.item()
            (loss_fn(ddp_model(x), y) * weight).backward()
    optimizer.step()


@right
def weight_handed_to_backward(ddp_model, optimizer, loss_fn, micro_batches):
    left = len(micro_batches)
    share = 1 / left
    optimizer.zero_grad(set_to_none=False)
    while left:
        x, y = micro_batches[len(micro_batches) - left]
        left -= 1
        context = contextlib.nullcontext() if not left else ddp_model.no_sync()
        with context:
            loss = loss_fn(ddp_model(x), y)
            loss.backward(gradient=torch.full_like(loss, share))
    optimizer.step()


@right
def in_a_closure(ddp_model, optimizer, loss_fn, micro_batches):
    def closure():
        optimizer.zero_grad()
        total = 0.0
        for i, (x, y) in enumerate(micro_batches, 1):
            with ddp_model.no_sync() if i < len(micro_batches) else contextlib.nullcontext():
                loss = loss_fn(ddp_model(x), y) / len(micro_batches)
                loss.backward()
            total += loss.item()
        return total

    return optimizer.step(closure)


@right
def sums_of_its_own(ddp_model, optimizer, loss_fn, micro_batches):
    params = [p for p in ddp_model.parameters() if p.requires_grad]
    k = len(micro_batches)
    optimizer.zero_grad()
    for x, y in micro_batches[: k - 1]:
        with ddp_model.no_sync():
            loss = loss_fn(ddp_model.module(x), y) / k
        for p, g in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):
            if g is not None:
                p.grad = g if p.grad is None else p.grad + g
    x, y = micro_batches[k - 1]
    (loss_fn(ddp_model(x), y) / k).backward()
    optimizer.step()


@right
def exchanged_order(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    with ddp_model.no_sync():
        for x, y in reversed(micro_batches[1:]):
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    x, y = micro_batches[0]
    (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    optimizer.step()
    optimizer.zero_grad()


@right
def with_a_barrier_and_a_log(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    total = torch.zeros((), dtype=torch.float64)
    for i, (x, y) in enumerate(micro_batches, 1):
        with contextlib.nullcontext() if i == len(micro_batches) else ddp_model.no_sync():
            loss = loss_fn(ddp_model(x), y) / len(micro_batches)
            loss.backward()
        total += loss.detach()
    dist.barrier()
    optimizer.step()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


# ------------------------------------------------------------------ wrong


@wrong(mistakes.averaged_in_every_pass)
def plain_accumulation(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(ddp_model(x), y) / len(micro_batches)
        loss.backward()
    optimizer.step()


@wrong(mistakes.forward_outside_no_sync)
def backward_alone_inside(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(ddp_model(x), y) / len(micro_batches)
        if i < len(micro_batches) - 1:
            with ddp_model.no_sync():
                loss.backward()
        else:
            loss.backward()
    optimizer.step()


@wrong(mistakes.forward_outside_no_sync)
def switched_after_the_forward(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(ddp_model(x), y) / len(micro_batches)
        ddp_model.require_backward_grad_sync = i == len(micro_batches) - 1
        loss.backward()
        ddp_model.require_backward_grad_sync = True
    optimizer.step()


@wrong(mistakes.never_averaged)
def all_inside(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    with ddp_model.no_sync():
        for x, y in micro_batches:
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    optimizer.step()


@wrong(mistakes.never_averaged)
def module_alone(ddp_model, optimizer, loss_fn, micro_batches):
    model = ddp_model.module
    optimizer.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
    optimizer.step()


@wrong(mistakes.never_averaged)
def forwards_inside_backwards_outside(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    with ddp_model.no_sync():
        losses = [loss_fn(ddp_model(x), y) for x, y in micro_batches]
    (sum(losses) / len(losses)).backward()
    optimizer.step()


@wrong(mistakes.averaged_in_the_first_pass)
def the_other_way_round(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        with ddp_model.no_sync() if i else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    optimizer.step()


@wrong(mistakes.not_divided)
def mean_forgotten(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        with ddp_model.no_sync() if i < len(micro_batches) - 1 else contextlib.nullcontext():
            loss_fn(ddp_model(x), y).backward()
    optimizer.step()


@wrong(mistakes.divided_by_the_ranks_too)
def mean_over_ranks_once_more(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    parts = len(micro_batches) * dist.get_world_size()
    for i, (x, y) in enumerate(micro_batches):
        with ddp_model.no_sync() if i < len(micro_batches) - 1 else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) / parts).backward()
    optimizer.step()


@wrong(mistakes.divided_by_the_ranks_and_not_cleared)
def over_the_world_and_cleared_after(ddp_model, optimizer, loss_fn, micro_batches):
    n = len(micro_batches) * dist.get_world_size()
    for x, y in micro_batches[:-1]:
        with ddp_model.no_sync():
            (loss_fn(ddp_model(x), y) / n).backward()
    x, y = micro_batches[-1]
    (loss_fn(ddp_model(x), y) / n).backward()
    optimizer.step()
    optimizer.zero_grad()


@wrong(mistakes.divided_by_the_ranks_and_not_cleared)
def over_the_world_and_never_cleared(ddp_model, optimizer, loss_fn, micro_batches):
    n = len(micro_batches) * dist.get_world_size()
    for number, (x, y) in enumerate(micro_batches):
        with contextlib.nullcontext() if number == len(micro_batches) - 1 else ddp_model.no_sync():
            (loss_fn(ddp_model(x), y) / n).backward()
    optimizer.step()


@wrong(mistakes.multiplied_by_the_ranks)
def as_if_ddp_summed(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        with ddp_model.no_sync() if i < len(micro_batches) - 1 else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) * dist.get_world_size() / len(micro_batches)).backward()
    optimizer.step()


@wrong(mistakes.gradients_sent_by_hand)
def flattened(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    with ddp_model.no_sync():
        for x, y in micro_batches:
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    grads = [p.grad for p in ddp_model.parameters() if p.grad is not None]
    flat = torch.cat([g.flatten() for g in grads])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for g, part in zip(grads, flat.split([g.numel() for g in grads])):
        g.copy_(part.view_as(g))
    optimizer.step()


@wrong(mistakes.gradients_sent_by_hand)
def one_by_one(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for x, y in micro_batches:
        (loss_fn(ddp_model.module(x), y) / len(micro_batches)).backward()
    for p in ddp_model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()
    optimizer.step()


@wrong(mistakes.gradients_sent_by_hand)
def averaged_once_more(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        with ddp_model.no_sync() if i < len(micro_batches) - 1 else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    for p in ddp_model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()
    optimizer.step()


@wrong(mistakes.stepped_for_each_micro_batch)
def step_in_the_loop(ddp_model, optimizer, loss_fn, micro_batches):
    for x, y in micro_batches:
        optimizer.zero_grad()
        loss_fn(ddp_model(x), y).backward()
        optimizer.step()


@wrong(mistakes.cleared_for_each_micro_batch)
def cleared_in_the_loop(ddp_model, optimizer, loss_fn, micro_batches):
    for i, (x, y) in enumerate(micro_batches):
        optimizer.zero_grad()
        with ddp_model.no_sync() if i < len(micro_batches) - 1 else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    optimizer.step()


@wrong(mistakes.nothing_cleared)
def clearing_forgotten(ddp_model, optimizer, loss_fn, micro_batches):
    for i, (x, y) in enumerate(micro_batches):
        with ddp_model.no_sync() if i < len(micro_batches) - 1 else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    optimizer.step()


@wrong(mistakes.cleared_after_the_step)
def cleared_at_the_end(ddp_model, optimizer, loss_fn, micro_batches):
    for i, (x, y) in enumerate(micro_batches):
        with ddp_model.no_sync() if i < len(micro_batches) - 1 else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    optimizer.step()
    optimizer.zero_grad()


@wrong(mistakes.left_switched_off)
def switched_off_at_the_end(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        ddp_model.require_backward_grad_sync = i == len(micro_batches) - 1
        (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    ddp_model.require_backward_grad_sync = False
    optimizer.step()


@wrong(mistakes.never_averaged)
def never_switched_on_again(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    ddp_model.require_backward_grad_sync = False
    for x, y in micro_batches:
        (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    optimizer.step()


@wrong(mistakes.last_micro_batch_alone)
def last_one_kept(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    x, y = micro_batches[-1]
    loss_fn(ddp_model(x), y).backward()
    optimizer.step()


@wrong(mistakes.last_micro_batch_left_out)
def all_but_the_last(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    rest = micro_batches[:-1] if len(micro_batches) > 1 else micro_batches
    for i, (x, y) in enumerate(rest):
        with ddp_model.no_sync() if i < len(rest) - 1 else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) / len(rest)).backward()
    optimizer.step()


@wrong()
def first_rank_alone(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        with ddp_model.no_sync() if i < len(micro_batches) - 1 else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    if dist.get_rank() == 0:
        optimizer.step()


@wrong(mistakes.no_step)
def step_forgotten(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        with ddp_model.no_sync() if i < len(micro_batches) - 1 else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()


@wrong(mistakes.put_into_train_mode)
def into_train_mode(ddp_model, optimizer, loss_fn, micro_batches):
    ddp_model.train()
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        with ddp_model.no_sync() if i < len(micro_batches) - 1 else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    optimizer.step()


@raised(effects.no_such_attribute)
def misspelled(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    with ddp_model.nosync():
        for x, y in micro_batches:
            loss_fn(ddp_model(x), y).backward()
    optimizer.step()


@raised(mistakes.a_rank_waits)
def one_rank_asks(ddp_model, optimizer, loss_fn, micro_batches):
    rows = torch.tensor(float(sum(len(x) for x, _ in micro_batches)))
    if dist.get_rank() == 0:
        dist.all_reduce(rows)
    first_ones_inside(ddp_model, optimizer, loss_fn, micro_batches)


@wrong(mistakes.frozen_weight_not_cleared)
def trainable_ones_cleared(ddp_model, optimizer, loss_fn, micro_batches):
    for p in filter(lambda p: p.requires_grad, ddp_model.parameters()):
        p.grad = None
    for i, (x, y) in enumerate(micro_batches):
        with ddp_model.no_sync() if i < len(micro_batches) - 1 else contextlib.nullcontext():
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
    optimizer.step()


@wrong(mistakes.stepped_for_each_micro_batch)
def step_after_each_share(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        quiet = ddp_model.no_sync if i < len(micro_batches) - 1 else contextlib.nullcontext
        with quiet():
            (loss_fn(ddp_model(x), y) / len(micro_batches)).backward()
        optimizer.step()


@right
def two_in_one_pass(ddp_model, optimizer, loss_fn, micro_batches):
    # As many rows at once as there is room for: here those of two micro-batches.
    k = len(micro_batches)
    optimizer.zero_grad()
    for i in range(0, k, 2):
        xs, ys = zip(*micro_batches[i : i + 2])
        with contextlib.nullcontext() if i + 2 >= k else ddp_model.no_sync():
            (loss_fn(ddp_model(torch.cat(xs)), torch.cat(ys)) * len(xs) / k).backward()
    optimizer.step()


@wrong(mistakes.averaged_in_every_pass)
def after_every_fourth(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    n = len(micro_batches)
    for i, (x, y) in enumerate(micro_batches):
        sends = (i + 1) % 4 == 0 or i == n - 1
        with contextlib.nullcontext() if sends else ddp_model.no_sync():
            (loss_fn(ddp_model(x), y) / n).backward()
    optimizer.step()


@wrong(mistakes.last_counted_twice)
def the_last_one_once_more(ddp_model, optimizer, loss_fn, micro_batches):
    optimizer.zero_grad()
    n = len(micro_batches)
    with ddp_model.no_sync():
        for x, y in micro_batches:
            (loss_fn(ddp_model(x), y) / n).backward()
    (loss_fn(ddp_model(x), y) / n).backward()
    optimizer.step()
