"""Attempts at exercise 7.3, amp_accumulation_step: what learners write, and what the check must say of it."""

import math

import torch
from torch import nn
from torch.func import functional_call
from torch.nn.utils import clip_grad_norm_

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson7.amp_accumulation_step import mistakes
from gradient_ledger.catalogue import misconception


@right
def by_the_book(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
    optimizer.zero_grad(set_to_none=True)
    n = len(micro_batches)
    running = 0.0
    for x, y in micro_batches:
        with torch.amp.autocast(device_type=x.device.type, dtype=dtype):
            out = model(x)
            loss = loss_fn(out, y) / n
        scaler.scale(loss).backward()
        running += loss.detach().float().item()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    old = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = old > scaler.get_scale()
    if scheduler and not skipped:
        scheduler.step()
    optimizer.zero_grad(set_to_none=True)
    return {"loss": running, "grad_norm": norm, "skipped": skipped}


@right
def one_block_for_the_window(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    """Backward inside of autocast, zeros in place of None, and the division after the fact."""
    for p in model.parameters():
        if p.grad is not None:
            p.grad.zero_()
    losses = []
    with torch.autocast(micro_batches[0][0].device.type, dtype=dtype):
        for x, y in micro_batches:
            losses.append(loss_fn(model(x), y))
            scaler.scale(losses[-1]).backward()
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= len(micro_batches)
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm).item()
    scaler.step(optimizer)
    skipped = scaler.is_enabled() and not math.isfinite(norm)
    scaler.update()
    optimizer.zero_grad(set_to_none=False)
    if scheduler is not None:
        if not skipped:
            scheduler.step()
    return dict(loss=float(torch.stack(losses).double().mean()), grad_norm=norm, skipped=skipped)


@right
def clipped_while_scaled(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    """The threshold is scaled, not the gradient unscaled; a hook on the optimizer says whether it stepped."""
    model.zero_grad()
    rows = sum(x.shape[0] for x, _ in micro_batches)
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype):
            prediction = model(x)
        loss = loss_fn(prediction, y)
        scaler.scale(loss).backward(torch.tensor(len(x) / rows, dtype=loss.dtype, device=loss.device))
        total += loss.item() * len(x)
    scale = scaler.get_scale()
    norm = clip_grad_norm_(model.parameters(), max_norm * scale) / scale
    steps = []
    handle = optimizer.register_step_post_hook(lambda *_: steps.append(1))
    scaler.step(optimizer)
    handle.remove()
    scaler.update()
    if scheduler is not None and steps:
        scheduler.step()
    model.zero_grad()
    return {"loss": total / rows, "grad_norm": norm, "skipped": not steps}


@right
def functional(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
    """Gradients handed back, summed up, and put into .grad once."""
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    sums, loss = {}, 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            value = loss_fn(functional_call(model, named, (x,)), y)
        loss += value.item() / len(micro_batches)
        parts = torch.autograd.grad(scaler.scale(value / len(micro_batches)), list(named.values()), allow_unused=True)
        for name, part in zip(named, parts):
            if part is not None:
                sums[name] = part if name not in sums else sums[name] + part
    optimizer.zero_grad()
    for name, p in named.items():
        p.grad = sums.get(name)
    scaler.unscale_(optimizer)
    held = [p.grad for p in named.values() if p.grad is not None]
    norm = torch.nn.utils.get_total_norm(held)
    torch.nn.utils.clip_grads_with_norm_(named.values(), max_norm, norm)
    before = scaler.state_dict()
    scaler.step(optimizer)
    scaler.update()
    skipped = bool(before) and scaler.state_dict()["scale"] < before["scale"]
    optimizer.zero_grad()
    if scheduler is not None and not skipped:
        scheduler.step()
    return {"loss": loss, "grad_norm": norm, "skipped": skipped}


@right
def one_backward(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
    """All graphs at once; a decorated forward."""
    device = micro_batches[0][0].device.type
    forward = torch.autocast(device, dtype=dtype)(lambda x, y: loss_fn(model(x), y))
    mean = sum(forward(x, y) for x, y in micro_batches) / len(micro_batches)
    optimizer.zero_grad()
    scaler.scale(mean).backward()
    scaler.unscale_(optimizer)
    gradients = [p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
    norm = torch.linalg.vector_norm(torch.cat([g.flatten() for g in gradients]))
    if norm > max_norm:
        for g in gradients:
            g.mul_(max_norm / norm)
    finite = all(g.isfinite().all() for g in gradients) and norm.isfinite().item()
    scaler.step(optimizer)
    scaler.update()
    for g in optimizer.param_groups:
        for p in g["params"]:
            p.grad = None
    if finite and scheduler is not None:
        scheduler.step()
    return {"loss": mean.item(), "grad_norm": norm.item(), "skipped": not finite}


@right
def the_whole_batch(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
    """Micro-batches of one size: put together, they are one batch."""
    x = torch.cat([one[0] for one in micro_batches])
    y = torch.cat([one[1] for one in micro_batches])
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=dtype):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    scale = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    skipped = scaler.get_scale() < scale
    if not skipped and scheduler:
        scheduler.step()
    return {"skipped": skipped, "grad_norm": norm, "loss": loss.item()}


# ------------------------------------------------------------------ wrong


class Window:
    """What most of the class wrote, in pieces; each attempt below has one piece or two of its own."""

    def __init__(self, model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
        self.__dict__.update({k: v for k, v in locals().items() if k != "self"})
        self.n = len(micro_batches)

    def clear(self):
        self.optimizer.zero_grad()

    def autocast(self, x):
        return torch.autocast(x.device.type, dtype=self.dtype)

    def backward(self, loss):
        self.scaler.scale(loss / self.n).backward()

    def after_backward(self):
        pass

    def unscale(self):
        self.scaler.unscale_(self.optimizer)

    def clip(self):
        return clip_grad_norm_(self.model.parameters(), self.max_norm).item()

    def step(self):
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def was_skipped(self):
        return self.scaler.get_scale() < self.scale

    def clear_at_the_end(self):
        self.optimizer.zero_grad()

    def schedule(self):
        if self.scheduler is not None and not self.skipped:
            self.scheduler.step()

    def loss(self):
        return sum(self.losses) / self.n

    def run(self):
        self.clear()
        self.losses = []
        self.scale = self.scaler.get_scale()
        for x, y in self.micro_batches:
            with self.autocast(x):
                loss = self.loss_fn(self.model(x), y)
            self.backward(loss)
            self.after_backward()
            self.losses.append(loss.item())
        self.unscale()
        norm = self.clip()
        self.step()
        self.skipped = self.was_skipped()
        self.clear_at_the_end()
        self.schedule()
        return {"loss": self.loss(), "grad_norm": norm, "skipped": self.skipped}


def attempt(**pieces):
    def code(*args, **kwargs):
        return type("Mine", (Window,), pieces)(*args, **kwargs).run()

    return code


nothing = lambda self, *_: None


@wrong(mistakes.cleared_at_the_end_alone)
def end_alone(*args, **kwargs):
    return attempt(clear=nothing)(*args, **kwargs)


@wrong(mistakes.not_cleared_at_the_end)
def start_alone(*args, **kwargs):
    return attempt(clear_at_the_end=nothing)(*args, **kwargs)


@wrong(mistakes.not_cleared_after_a_skip)
def clear_if_stepped(*args, **kwargs):
    def clear_at_the_end(self):
        if not self.skipped:
            self.optimizer.zero_grad()

    return attempt(clear_at_the_end=clear_at_the_end)(*args, **kwargs)


@wrong(mistakes.stays_in_grad)
def skip_and_return(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y)
        scaler.scale(loss / len(micro_batches)).backward()
        total += loss.item() / len(micro_batches)
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm).item()
    scale = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() < scale:
        return {"loss": total, "grad_norm": norm, "skipped": True}
    optimizer.zero_grad()
    if scheduler is not None:
        scheduler.step()
    return {"loss": total, "grad_norm": norm, "skipped": False}


@wrong(mistakes.never_cleared)
def no_clear_at_all(*args, **kwargs):
    return attempt(clear=nothing, clear_at_the_end=nothing)(*args, **kwargs)


@wrong(mistakes.frozen_not_cleared)
def trainable_cleared(*args, **kwargs):
    def clear(self):
        for p in filter(lambda p: p.requires_grad, self.model.parameters()):
            p.grad = None

    return attempt(clear=clear, clear_at_the_end=clear)(*args, **kwargs)


@wrong(mistakes.multiplied_by_zero)
def zero_times(*args, **kwargs):
    def clear(self):
        for p in self.model.parameters():
            if p.grad is not None:
                p.grad *= 0

    return attempt(clear=clear)(*args, **kwargs)


@wrong(mistakes.cleared_for_each_micro_batch)
def cleared_in_the_loop(*args, **kwargs):
    def backward(self, loss):
        self.optimizer.zero_grad()
        self.scaler.scale(loss / self.n).backward()

    return attempt(backward=backward)(*args, **kwargs)


@wrong(mistakes.not_divided)
def summed(*args, **kwargs):
    return attempt(backward=lambda self, loss: self.scaler.scale(loss).backward())(*args, **kwargs)


@wrong(mistakes.divided_twice)
def divided_before_and_after(*args, **kwargs):
    def clip(self):
        for p in self.model.parameters():
            if p.grad is not None:
                p.grad.div_(self.n)
        return Window.clip(self)

    return attempt(clip=clip)(*args, **kwargs)


@wrong(mistakes.divided_by_rows)
def over_all_rows(*args, **kwargs):
    def backward(self, loss):
        self.scaler.scale(loss / sum(len(x) for x, _ in self.micro_batches)).backward()

    return attempt(backward=backward)(*args, **kwargs)


@raised(mistakes.not_scaled)
def plain_backward(*args, **kwargs):
    return attempt(backward=lambda self, loss: (loss / self.n).backward())(*args, **kwargs)


@wrong(mistakes.not_scaled)
def scaled_and_dropped(*args, **kwargs):
    def backward(self, loss):
        loss = loss / self.n
        self.scaler.scale(loss)
        loss.backward()

    return attempt(backward=backward)(*args, **kwargs)


@wrong(mistakes.no_autocast)
def full_precision(*args, **kwargs):
    return attempt(autocast=lambda self, x: torch.enable_grad())(*args, **kwargs)


@wrong(mistakes.no_autocast)
def loss_in_autocast_alone(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    optimizer.zero_grad()
    total = 0.0
    for x, y in micro_batches:
        out = model(x)
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(out, y)
        scaler.scale(loss / len(micro_batches)).backward()
        total += loss.item() / len(micro_batches)
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm).item()
    scale = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    skipped = scaler.get_scale() < scale
    if scheduler is not None and not skipped:
        scheduler.step()
    return {"loss": total, "grad_norm": norm, "skipped": skipped}


@wrong(mistakes.dtype_ignored)
def always_half(*args, **kwargs):
    return attempt(autocast=lambda self, x: torch.autocast(x.device.type, dtype=torch.float16))(*args, **kwargs)


@wrong(mistakes.dtype_ignored)
def by_default(*args, **kwargs):
    return attempt(autocast=lambda self, x: torch.autocast(x.device.type))(*args, **kwargs)


@wrong(mistakes.clipped_before_unscaling)
def unscale_left_to_step(*args, **kwargs):
    return attempt(unscale=nothing)(*args, **kwargs)


@wrong(mistakes.clipped_before_unscaling)
def clip_then_unscale(*args, **kwargs):
    def clip(self):
        norm = Window.clip(self)
        self.scaler.unscale_(self.optimizer)
        return norm

    return attempt(unscale=nothing, clip=clip)(*args, **kwargs)


@wrong(mistakes.not_clipped)
def measured(*args, **kwargs):
    return attempt(clip=lambda self: clip_grad_norm_(self.model.parameters(), float("inf")).item())(*args, **kwargs)


@wrong(mistakes.clipped_by_value)
def by_value(*args, **kwargs):
    def clip(self):
        norm = clip_grad_norm_(self.model.parameters(), float("inf")).item()
        nn.utils.clip_grad_value_(self.model.parameters(), self.max_norm)
        return norm

    return attempt(clip=clip)(*args, **kwargs)


@raised(mistakes.unscaled_in_the_loop)
def unscale_each(*args, **kwargs):
    def after_backward(self):
        self.scaler.unscale_(self.optimizer)

    return attempt(after_backward=after_backward, unscale=nothing)(*args, **kwargs)


@wrong(mistakes.stepped_past_the_scaler)
def optimizer_step(*args, **kwargs):
    def step(self):
        self.optimizer.step()
        self.scaler.update()

    return attempt(step=step)(*args, **kwargs)


@raised(mistakes.updated_in_the_loop)
def update_each(*args, **kwargs):
    return attempt(after_backward=lambda self: self.scaler.update())(*args, **kwargs)


@wrong(mistakes.update_forgotten)
def no_update(*args, **kwargs):
    return attempt(step=lambda self: self.scaler.step(self.optimizer))(*args, **kwargs)


@wrong(mistakes.stepped_for_each_micro_batch)
def each_its_step(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    total, n, scale = 0.0, len(micro_batches), scaler.get_scale()
    for x, y in micro_batches:
        optimizer.zero_grad()
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y)
        scaler.scale(loss / n).backward()
        scaler.unscale_(optimizer)
        norm = clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item() / n
    optimizer.zero_grad()
    skipped = scaler.get_scale() < scale
    if scheduler is not None and not skipped:
        scheduler.step()
    return {"loss": total, "grad_norm": norm, "skipped": skipped}


@wrong(mistakes.skipped_without_the_scaler)
def looks_at_the_loss(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    optimizer.zero_grad()
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) / len(micro_batches)
        scaler.scale(loss).backward()
        total += loss.item()
    if not math.isfinite(total):
        optimizer.zero_grad()
        return {"loss": total, "grad_norm": float("nan"), "skipped": True}
    scale = scaler.get_scale()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    skipped = scaler.get_scale() < scale
    if scheduler is not None and not skipped:
        scheduler.step()
    return {"loss": total, "grad_norm": norm, "skipped": skipped}


@wrong(mistakes.replaced_by_zeros)
def mended(*args, **kwargs):
    def unscale(self):
        for p in self.model.parameters():
            if p.grad is not None:
                p.grad = torch.nan_to_num(p.grad, nan=0.0, posinf=0.0, neginf=0.0)
        self.scaler.unscale_(self.optimizer)

    return attempt(unscale=unscale)(*args, **kwargs)


@wrong(mistakes.growth_taken_for_a_skip)
def another_scale(*args, **kwargs):
    return attempt(was_skipped=lambda self: self.scaler.get_scale() != self.scale)(*args, **kwargs)


@wrong(mistakes.unchanged_taken_for_a_skip)
def not_larger(*args, **kwargs):
    return attempt(was_skipped=lambda self: self.scaler.get_scale() <= self.scale)(*args, **kwargs)


@wrong(mistakes.never_called_skipped)
def compared_too_early(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    optimizer.zero_grad()
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) / len(micro_batches)
        scaler.scale(loss).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    scale = scaler.get_scale()
    scaler.step(optimizer)
    skipped = scaler.get_scale() < scale
    scaler.update()
    optimizer.zero_grad()
    if scheduler is not None and not skipped:
        scheduler.step()
    return {"loss": total, "grad_norm": norm, "skipped": skipped}


@wrong(mistakes.never_called_skipped)
def an_infinite_norm_alone(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    optimizer.zero_grad()
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) / len(micro_batches)
        scaler.scale(loss).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    skipped = math.isinf(norm)
    if scheduler is not None and not skipped:
        scheduler.step()
    return {"loss": total, "grad_norm": norm, "skipped": skipped}


@wrong(mistakes.loss_asked)
def finite_loss(*args, **kwargs):
    return attempt(was_skipped=lambda self: not math.isfinite(self.loss()))(*args, **kwargs)


@wrong(mistakes.skipped_turned_round)
def stepped_not_skipped(*args, **kwargs):
    told = attempt()(*args, **kwargs)
    told["skipped"] = not told["skipped"]
    return told


@wrong(mistakes.scheduler_after_a_skip)
def scheduler_each_window(*args, **kwargs):
    def schedule(self):
        if self.scheduler is not None:
            self.scheduler.step()

    return attempt(schedule=schedule)(*args, **kwargs)


@wrong(mistakes.scheduler_forgotten)
def no_scheduler(*args, **kwargs):
    return attempt(schedule=nothing)(*args, **kwargs)


@wrong(mistakes.scheduler_for_each_micro_batch)
def scheduler_in_the_loop(*args, **kwargs):
    def after_backward(self):
        if self.scheduler is not None:
            self.scheduler.step()

    return attempt(after_backward=after_backward, schedule=nothing)(*args, **kwargs)


@wrong(mistakes.loss_of_the_last)
def last_loss(*args, **kwargs):
    return attempt(loss=lambda self: self.losses[-1])(*args, **kwargs)


@wrong(mistakes.loss_of_the_last)
def share_of_the_last(*args, **kwargs):
    """`total = loss.item()`, where the loss is divided already, and `+=` was meant."""
    return attempt(loss=lambda self: self.losses[-1] / self.n)(*args, **kwargs)


@wrong(mistakes.losses_added_up)
def sum_of_losses(*args, **kwargs):
    return attempt(loss=lambda self: sum(self.losses))(*args, **kwargs)


@wrong(mistakes.loss_divided_again)
def mean_of_parts(*args, **kwargs):
    return attempt(loss=lambda self: sum(loss / self.n for loss in self.losses) / self.n)(*args, **kwargs)


@wrong(mistakes.scaled_loss_returned)
def scaled_loss(*args, **kwargs):
    return attempt(loss=lambda self: self.scale * sum(self.losses) / self.n)(*args, **kwargs)


@wrong(mistakes.scaled_norm_returned)
def norm_of_scaled(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    optimizer.zero_grad()
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) / len(micro_batches)
        scaler.scale(loss).backward()
        total += loss.item()
    norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).norm().item()
    scaler.unscale_(optimizer)
    clip_grad_norm_(model.parameters(), max_norm)
    scale = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < scale
    optimizer.zero_grad()
    if scheduler is not None and not skipped:
        scheduler.step()
    return {"loss": total, "grad_norm": norm, "skipped": skipped}


@wrong(mistakes.norm_after_clipping)
def norm_after(*args, **kwargs):
    def clip(self):
        clip_grad_norm_(self.model.parameters(), self.max_norm)
        return clip_grad_norm_(self.model.parameters(), float("inf")).item()

    return attempt(clip=clip)(*args, **kwargs)


@wrong(mistakes.put_into_train_mode)
def train_mode(*args, **kwargs):
    args[0].train()
    return attempt()(*args, **kwargs)


@wrong(effects.wrong_type)
def a_tuple(*args, **kwargs):
    return tuple(attempt()(*args, **kwargs).values())


@wrong(effects.missing_entries)
def one_key_missing(*args, **kwargs):
    told = attempt()(*args, **kwargs)
    return {"loss": told["loss"], "grad_norm": told["grad_norm"]}


@wrong(says="")
def scaler_of_its_own(*args, **kwargs):
    args = list(args)
    args[2] = torch.amp.GradScaler("cpu", init_scale=1024.0)
    return attempt()(*args, **kwargs)


@wrong(says="")
def undivided_and_not_cleared(*args, **kwargs):
    return attempt(
        backward=lambda self, loss: self.scaler.scale(loss).backward(), clear=nothing, clear_at_the_end=nothing
    )(*args, **kwargs)


@raised()
def non_finite_refused(*args, **kwargs):
    def clip(self):
        return clip_grad_norm_(self.model.parameters(), self.max_norm, error_if_nonfinite=True).item()

    return attempt(clip=clip)(*args, **kwargs)


@wrong(mistakes.always_called_skipped)
def asks_what_step_returned(*args, **kwargs):
    def step(self):
        self.returned = self.scaler.step(self.optimizer)
        self.scaler.update()

    return attempt(step=step, was_skipped=lambda self: self.returned is None)(*args, **kwargs)


@wrong(mistakes.scheduler_before_the_step)
def scheduler_first(*args, **kwargs):
    def step(self):
        if self.scheduler is not None:
            self.scheduler.step()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    return attempt(step=step, schedule=nothing)(*args, **kwargs)


@right
def past_the_scaler_where_it_is_finite(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    """Decides by the norm and calls optimizer.step itself: unscale_ has told the scaler what it must know."""
    optimizer.zero_grad()
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) / len(micro_batches)
        scaler.scale(loss).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    finite = bool(torch.isfinite(norm))
    if finite:
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
    scaler.update()
    optimizer.zero_grad()
    return {"loss": total, "grad_norm": norm, "skipped": not finite}


@raised(mistakes.skipped_without_the_scaler)
def back_early(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
    optimizer.zero_grad()
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(device_type=x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) / len(micro_batches)
        scaler.scale(loss).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    if not torch.isfinite(norm):
        optimizer.zero_grad()
        return {"loss": total, "grad_norm": float(norm), "skipped": True}
    scaler.step(optimizer)
    scaler.update()
    if scheduler is not None:
        scheduler.step()
    optimizer.zero_grad()
    return {"loss": total, "grad_norm": float(norm), "skipped": False}


@wrong(mistakes.frozen_not_cleared)
def trainable_alone_at_the_start(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    for p in model.parameters():
        if p.requires_grad:
            p.grad = None
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(device_type=x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) / len(micro_batches)
        scaler.scale(loss).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < before
    if scheduler is not None and not skipped:
        scheduler.step()
    optimizer.zero_grad()
    return {"loss": total, "grad_norm": float(norm), "skipped": skipped}


@wrong(
    misconception("unscaled-every-micro-batch"),
    says="Unscaled in the middle of 1 window: the micro-batches that follow are scaled, those before are not.",
)
def before_the_last_backward(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    optimizer.zero_grad()
    total, norm = 0.0, torch.zeros(())
    for i, (x, y) in enumerate(micro_batches):
        with torch.autocast(device_type=x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) / len(micro_batches)
        if i > 0 and i == len(micro_batches) - 1:
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.scale(loss).backward()
        total += loss.item()
    if len(micro_batches) == 1:
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < before
    if scheduler is not None and not skipped:
        scheduler.step()
    optimizer.zero_grad()
    return {"loss": total, "grad_norm": float(norm), "skipped": skipped}


@wrong(mistakes.always_scaled)
def scaled_by_hand(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
    optimizer.zero_grad()
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(device_type=x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) / len(micro_batches)
        scaler.scale(loss).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    held = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.stack([g.norm() for g in held]).norm()
    for g in held:
        g.mul_(max_norm / (norm + 1e-6))
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < before
    if scheduler is not None and not skipped:
        scheduler.step()
    optimizer.zero_grad()
    return {"loss": total, "grad_norm": float(norm), "skipped": skipped}


@wrong(mistakes.trainable_cleared_at_the_end_alone)
def clears_what_is_trained_at_the_end(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
    n, total = len(micro_batches), 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y)
        scaler.scale(loss / n).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < before
    if scheduler is not None and not skipped:
        scheduler.step()
    for p in model.parameters():
        if p.requires_grad:
            p.grad = None
    return {"loss": total / n, "grad_norm": norm, "skipped": skipped}


@wrong(mistakes.parameters_rounded)
def half_weights_first(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
    optimizer.zero_grad()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(p.to(dtype))
    n, total = len(micro_batches), 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y)
        scaler.scale(loss / n).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < before
    if scheduler is not None and not skipped:
        scheduler.step()
    optimizer.zero_grad()
    return {"loss": total / n, "grad_norm": norm, "skipped": skipped}


@wrong(mistakes.parameters_rounded)
def half_weights_afterwards(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
    optimizer.zero_grad()
    n, total = len(micro_batches), 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y)
        scaler.scale(loss / n).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < before
    if scheduler is not None and not skipped:
        scheduler.step()
    optimizer.zero_grad()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(p.to(dtype))
    return {"loss": total / n, "grad_norm": norm, "skipped": skipped}


@right
def half_weights_put_back(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
    optimizer.zero_grad()
    exact = [p.detach().clone() for p in model.parameters()]
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(p.to(dtype))
        for p, value in zip(model.parameters(), exact):
            p.copy_(value)
    n, total = len(micro_batches), 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y)
        scaler.scale(loss / n).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < before
    if scheduler is not None and not skipped:
        scheduler.step()
    optimizer.zero_grad()
    return {"loss": total / n, "grad_norm": norm, "skipped": skipped}


@wrong(mistakes.cleared_at_the_end_and_loss_of_the_last)
def clears_at_the_end_and_tells_of_the_last(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16):
    n = len(micro_batches)
    for x, y in micro_batches:
        with torch.autocast(device_type=x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y)
        scaler.scale(loss / n).backward()
    scaler.unscale_(optimizer)
    norm = clip_grad_norm_(model.parameters(), max_norm)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < before
    if scheduler is not None and not skipped:
        scheduler.step()
    optimizer.zero_grad()
    return {"loss": loss.item(), "grad_norm": norm, "skipped": skipped}
