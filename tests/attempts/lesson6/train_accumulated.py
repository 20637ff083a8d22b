"""Attempts at exercise 6.5, train_accumulated: what learners write, and what the check must say of it."""

import torch
from torch import nn
from torch.func import functional_call, grad

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson6.train_accumulated import mistakes


@right
def windows_as_slices(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            optimizer.zero_grad()
            for x, y in part:
                loss = loss_fn(model(x), y)
                (loss * len(x) / rows).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@right
def a_flag_at_the_last_batch(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    history = []
    model.zero_grad()
    for _ in range(epochs):
        seen = weighed = 0.0
        rows = 0
        for i, (x, y) in enumerate(batches):
            loss = loss_fn(model(x), y)
            (loss * len(x)).backward()
            rows += len(x)
            seen += len(x)
            weighed += loss.item() * len(x)
            if (i + 1) % window == 0 or i + 1 == len(batches):
                for p in model.parameters():
                    if p.grad is not None:
                        p.grad /= rows
                if max_norm is not None:
                    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                optimizer.zero_grad()
                if scheduler is not None:
                    scheduler.step()
                rows = 0
        history.append(weighed / seen)
    return history


@right
def share_given_to_backward(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    history = []
    for _ in range(epochs):
        numbers = []
        for k in range(0, len(batches), window):
            chunk = batches[k : k + window]
            n = sum(x.shape[0] for x, _ in chunk)
            optimizer.zero_grad(set_to_none=False)
            for x, y in chunk:
                loss = loss_fn(model(x), y)
                loss.backward(gradient=loss.new_tensor(x.shape[0] / n))
                numbers += [loss.item()] * x.shape[0]
            if max_norm:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm=max_norm)
            optimizer.step()
            if scheduler:
                scheduler.step()
        history.append(sum(numbers) / len(numbers))
    return history


@right
def asked_of_autograd(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    params = [p for p in model.parameters() if p.requires_grad]
    model.zero_grad()
    history = []
    for _ in range(epochs):
        total, count = 0.0, 0
        for k in range(0, len(batches), window):
            sums, rows = [None] * len(params), 0
            for x, y in batches[k : k + window]:
                loss = loss_fn(model(x), y)
                found = torch.autograd.grad(loss * len(x), params, allow_unused=True)
                sums = [g if s is None else s + g if g is not None else s for s, g in zip(sums, found)]
                rows += len(x)
                total += loss.item() * len(x)
            for p, s in zip(params, sums):
                p.grad = None if s is None else s / rows
            if max_norm is not None:
                nn.utils.clip_grad_norm_(params, max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
            count += rows
        history.append(total / count)
    return history


@right
def functional(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    model.zero_grad()
    history = []
    for _ in range(epochs):
        total = 0.0
        for k in range(0, len(batches), window):
            part = batches[k : k + window]
            rows = sum(len(x) for x, _ in part)
            values = {n: p.detach() for n, p in named.items()}
            for p in named.values():
                p.grad = torch.zeros_like(p)
            for x, y in part:

                def loss_of(q):
                    return loss_fn(functional_call(model, q, (x,)), y)

                total += loss_of(values).item() * len(x)
                for n, g in grad(loss_of)(values).items():
                    named[n].grad += g * len(x) / rows
            if max_norm is not None:
                norm = torch.cat([p.grad.flatten() for p in named.values()]).norm()
                for p in named.values():
                    p.grad *= torch.clamp(max_norm / norm, max=1.0)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        history.append(total / sum(len(x) for x, _ in batches))
    return history


@right
def in_a_closure(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    history = []
    for _ in range(epochs):
        log = []
        for k in range(0, len(batches), window):
            part = batches[k : k + window]

            def closure():
                optimizer.zero_grad()
                rows = sum(len(y) for _, y in part)
                for x, y in part:
                    loss = loss_fn(model(x), y)
                    loss.mul(len(x) / rows).backward()
                    log.append((loss.item(), len(x)))
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)

            optimizer.step(closure)
            if scheduler is not None:
                scheduler.step()
        history.append(sum(a * n for a, n in log) / sum(n for _, n in log))
    return history


@right
def a_running_mean_in_place(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    history = []
    params = list(model.parameters())
    for _ in range(epochs):
        total, seen, rows = 0.0, 0, 0
        for i, (x, y) in enumerate(batches):
            if i % window == 0:
                for p in params:
                    p.grad = None
                rows = 0
            for p in params:
                if p.grad is not None:
                    p.grad.mul_(rows / (rows + len(x)))
            rows += len(x)
            loss = loss_fn(model(x), y)
            (loss * (len(x) / rows)).backward()
            total, seen = total + loss.item() * len(x), seen + len(x)
            if i % window == window - 1 or i == len(batches) - 1:
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(params, max_norm)
                optimizer.step()
                if scheduler is not None:
                    scheduler.step()
        history.append(total / seen)
    return history


@right
def with_a_scaler_that_is_off(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    history = []
    for _ in range(epochs):
        total = 0.0
        todo = list(batches)
        while todo:
            part, todo = todo[:window], todo[window:]
            rows = sum(len(x) for x, _ in part)
            optimizer.zero_grad()
            for x, y in part:
                loss = loss_fn(model(x), y)
                scaler.scale(loss * len(x) / rows).backward()
                total += float(loss.detach()) * len(x)
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), max_norm or float("inf"))
            scaler.step(optimizer)
            scaler.update()
            if scheduler is not None:
                scheduler.step()
        history.append(total / sum(len(x) for x, _ in batches))
    return history


# ------------------------------------------------------------------ what most of the class wrote


class Training:
    """The loop in pieces; most attempts below have one piece or two of their own."""

    def __init__(self, model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
        self.model, self.optimizer, self.loss_fn, self.batches = model, optimizer, loss_fn, batches
        self.window, self.epochs, self.scheduler, self.max_norm = window, epochs, scheduler, max_norm
        self.samples = sum(len(x) for x, _ in batches)

    def run(self):
        losses = []
        self.before_all()
        for _ in range(self.epochs):
            self.before_epoch()
            total = 0.0
            for first in range(0, len(self.batches), self.window):
                self.part = self.batches[first : first + self.window]
                self.rows = sum(len(x) for x, _ in self.part)
                self.before_window()
                for x, y in self.part:
                    self.before_batch()
                    self.loss = self.loss_fn(self.model(x), y)
                    self.share(len(x)).backward()
                    self.after_batch()
                    total += self.counted(len(x))
                self.after_window()
            self.after_epoch()
            losses.append(self.told(total))
        return losses

    def before_all(self):
        pass

    def before_epoch(self):
        pass

    def before_window(self):
        self.optimizer.zero_grad()

    def before_batch(self):
        pass

    def share(self, n):
        return self.loss * n / self.rows

    def after_batch(self):
        pass

    def counted(self, n):
        return self.loss.item() * n

    def after_window(self):
        self.clip()
        self.step()
        self.schedule()

    def after_epoch(self):
        pass

    def told(self, total):
        return total / self.samples

    def clip(self):
        if self.max_norm is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)

    def step(self):
        self.optimizer.step()

    def schedule(self):
        if self.scheduler is not None:
            self.scheduler.step()


def attempt(**pieces):
    def code(*args, **kwargs):
        return type("Mine", (Training,), pieces)(*args, **kwargs).run()

    return code


nothing = lambda self, *_: None
clear = lambda self: self.optimizer.zero_grad()
loss_alone = lambda self, n: self.loss.item()
over_batches = lambda self, total: total / len(self.batches)
the_sum = lambda self, total: total


# ------------------------------------------------------------------ wrong: how much each batch counts


@wrong(mistakes.divided_by_window)
def over_window(*args, **kwargs):
    return attempt(share=lambda self, n: self.loss / self.window)(*args, **kwargs)


@wrong(mistakes.divided_by_window)
def over_window_and_batches_averaged(*args, **kwargs):
    return attempt(share=lambda self, n: self.loss / self.window, counted=loss_alone, told=over_batches)(*args, **kwargs)


@wrong(mistakes.mean_of_means)
def over_the_batches_of_the_window(*args, **kwargs):
    return attempt(share=lambda self, n: self.loss / len(self.part))(*args, **kwargs)


@wrong(mistakes.not_divided)
def as_they_are(*args, **kwargs):
    return attempt(share=lambda self, n: self.loss)(*args, **kwargs)


@wrong(mistakes.summed_over_rows)
def times_rows(*args, **kwargs):
    return attempt(share=lambda self, n: self.loss * n)(*args, **kwargs)


@wrong(mistakes.rows_over_batches)
def times_rows_over_window(*args, **kwargs):
    return attempt(share=lambda self, n: self.loss * n / self.window)(*args, **kwargs)


@wrong(mistakes.rows_of_the_epoch)
def over_all_samples(*args, **kwargs):
    return attempt(share=lambda self, n: self.loss * n / self.samples)(*args, **kwargs)


@wrong(mistakes.means_over_rows)
def over_rows(*args, **kwargs):
    return attempt(share=lambda self, n: self.loss / self.rows)(*args, **kwargs)


@wrong(mistakes.one_size_for_all)
def rows_of_the_windows_first_batch(*args, **kwargs):
    return attempt(share=lambda self, n: self.loss * n / (len(self.part) * len(self.part[0][0])))(*args, **kwargs)


@wrong(mistakes.one_size_for_all)
def rows_of_the_first_batch(*args, **kwargs):
    def share(self, n):
        return self.loss * n / (self.window * len(self.batches[0][0]))

    return attempt(share=share)(*args, **kwargs)


# ------------------------------------------------------------------ wrong: which windows


@wrong(mistakes.rest_leaked)
def as_in_the_tutorials(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    optimizer.zero_grad()
    for epoch in range(epochs):
        running = 0.0
        for i, (x, y) in enumerate(batches):
            loss = loss_fn(model(x), y)
            (loss / window).backward()
            running += loss.item()
            if (i + 1) % window == 0:
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                if scheduler is not None:
                    scheduler.step()
                optimizer.zero_grad()
        losses.append(running / len(batches))
    return losses


@wrong(mistakes.rest_leaked)
def as_in_the_tutorials_with_the_rows_of_the_window(
    model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None
):
    losses = []
    optimizer.zero_grad()
    for epoch in range(epochs):
        total = 0.0
        for i, (x, y) in enumerate(batches):
            first = i // window * window
            rows = sum(len(a) for a, _ in batches[first : first + window])
            loss = loss_fn(model(x), y)
            (loss * len(x) / rows).backward()
            total += loss.item() * len(x)
            if (i + 1) % window == 0:
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                if scheduler is not None:
                    scheduler.step()
                optimizer.zero_grad()
        losses.append(total / sum(len(x) for x, _ in batches))
    return losses


@wrong(mistakes.rest_leaked)
def as_in_the_tutorials_with_the_batches_of_the_window(
    model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None
):
    losses = []
    optimizer.zero_grad()
    for epoch in range(epochs):
        running = 0.0
        for i, (x, y) in enumerate(batches):
            loss = loss_fn(model(x), y)
            (loss / min(window, len(batches) - i // window * window)).backward()
            running += loss.item()
            if (i + 1) % window == 0:
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                if scheduler is not None:
                    scheduler.step()
                optimizer.zero_grad()
        losses.append(running / len(batches))
    return losses


@wrong(mistakes.rest_dropped)
def as_in_the_tutorials_and_cleared_each_epoch(
    model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None
):
    losses = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for i, (x, y) in enumerate(batches):
            loss = loss_fn(model(x), y)
            (loss / window).backward()
            running += loss.item()
            if (i + 1) % window == 0:
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                if scheduler is not None:
                    scheduler.step()
                optimizer.zero_grad()
        losses.append(running / len(batches))
    return losses


@wrong(mistakes.rest_dropped)
def full_windows_alone(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total, samples = 0.0, 0
        for first in range(0, len(batches) - window + 1, window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            samples += rows
            optimizer.zero_grad()
            for x, y in part:
                loss = loss_fn(model(x), y)
                (loss * len(x) / rows).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / max(samples, 1))
    return losses


@wrong(mistakes.carried_over)
def one_counter_for_all(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses, count = [], 0
    optimizer.zero_grad()
    for epoch in range(epochs):
        running = 0.0
        for i, (x, y) in enumerate(batches):
            loss = loss_fn(model(x), y)
            (loss / window).backward()
            running += loss.item()
            count += 1
            if count % window == 0:
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                if scheduler is not None:
                    scheduler.step()
                optimizer.zero_grad()
        losses.append(running / len(batches))
    return losses


def one_loop(ends, over_samples=True):
    """A loop over batches with a step where `ends` says so; each weighed in the window that was meant."""

    def code(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
        losses, count = [], 0
        optimizer.zero_grad()
        for _ in range(epochs):
            total = 0.0
            for i, (x, y) in enumerate(batches):
                first = i // window * window
                rows = sum(len(part) for part, _ in batches[first : first + window])
                loss = loss_fn(model(x), y)
                (loss * len(x) / rows).backward()
                total += loss.item() * (len(x) if over_samples else 1)
                count += 1
                if ends(i, count, window, len(batches)):
                    if max_norm is not None:
                        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                    optimizer.step()
                    if scheduler is not None:
                        scheduler.step()
                    optimizer.zero_grad()
            losses.append(total / (sum(len(x) for x, _ in batches) if over_samples else len(batches)))
        return losses

    return code


@wrong(mistakes.carried_over)
def one_counter_and_the_rows_of_an_epochs_window(*args, **kwargs):
    return one_loop(lambda i, count, window, n: count % window == 0)(*args, **kwargs)


@wrong(mistakes.stepped_at_the_first)
def i_modulo_window(*args, **kwargs):
    return one_loop(lambda i, count, window, n: i % window == 0)(*args, **kwargs)


@wrong(mistakes.stepped_at_the_first)
def i_modulo_window_or_the_end(*args, **kwargs):
    return one_loop(lambda i, count, window, n: i % window == 0 or i + 1 == n, False)(*args, **kwargs)


def a_step_after_the_loop(lacks=(), always=True):
    """A step in the loop for full windows, and one after it; that one lacks something."""

    def code(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
        def step(lacks=()):
            if max_norm is not None and "clip" not in lacks:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None and "scheduler" not in lacks:
                scheduler.step()
            optimizer.zero_grad()

        losses = []
        optimizer.zero_grad()
        for _ in range(epochs):
            total = 0.0
            for i, (x, y) in enumerate(batches):
                first = i // window * window
                rows = sum(len(part) for part, _ in batches[first : first + window])
                loss = loss_fn(model(x), y)
                (loss * len(x) / rows).backward()
                total += loss.item() * len(x)
                if (i + 1) % window == 0:
                    step()
            if always or len(batches) % window:
                step(lacks)
            losses.append(total / sum(len(x) for x, _ in batches))
        return losses

    return code


@wrong(mistakes.stepped_again_at_the_end)
def a_step_after_the_loop_unasked(*args, **kwargs):
    return a_step_after_the_loop()(*args, **kwargs)


@wrong(mistakes.stepped_again_at_the_end)
def an_epoch_ends_with_a_step(*args, **kwargs):
    return attempt(after_epoch=lambda self: (clear(self), self.clip(), self.step(), self.schedule()))(*args, **kwargs)


@wrong(mistakes.rest_not_clipped)
def the_step_after_the_loop_is_not_clipped(*args, **kwargs):
    return a_step_after_the_loop({"clip"}, always=False)(*args, **kwargs)


@wrong(mistakes.rest_not_scheduled)
def the_step_after_the_loop_is_not_scheduled(*args, **kwargs):
    return a_step_after_the_loop({"scheduler"}, always=False)(*args, **kwargs)


@wrong(mistakes.stepped_for_each_batch)
def step_in_the_inner_loop(*args, **kwargs):
    return attempt(
        before_window=nothing,
        before_batch=clear,
        share=lambda self, n: self.loss,
        after_batch=Training.after_window,
        after_window=nothing,
    )(*args, **kwargs)


@wrong(mistakes.stepped_once_an_epoch)
def step_beside_the_loop(*args, **kwargs):
    return attempt(
        before_epoch=clear,
        before_window=nothing,
        share=lambda self, n: self.loss * n / self.samples,
        after_window=nothing,
        after_epoch=Training.after_window,
    )(*args, **kwargs)


@wrong(mistakes.nothing_moved)
def cleared_before_the_step(*args, **kwargs):
    def step(self):
        self.optimizer.zero_grad()
        self.optimizer.step()

    return attempt(step=step)(*args, **kwargs)


# ------------------------------------------------------------------ wrong: where it is cleared


@wrong(mistakes.cleared_for_each_batch)
def zero_grad_in_the_inner_loop(*args, **kwargs):
    return attempt(before_window=nothing, before_batch=clear)(*args, **kwargs)


@wrong(mistakes.never_cleared)
def zero_grad_forgotten(*args, **kwargs):
    return attempt(before_window=nothing)(*args, **kwargs)


@wrong(mistakes.cleared_once)
def before_all_loops(*args, **kwargs):
    return attempt(before_all=clear, before_window=nothing)(*args, **kwargs)


@wrong(mistakes.cleared_once_an_epoch)
def for_each_epoch(*args, **kwargs):
    return attempt(before_epoch=clear, before_window=nothing)(*args, **kwargs)


@wrong(mistakes.first_step_on_old_gradients)
def after_each_step_alone(*args, **kwargs):
    def step(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    return attempt(before_window=nothing, step=step)(*args, **kwargs)


@wrong(mistakes.frozen_moved)
def cleared_where_trainable(*args, **kwargs):
    def before_window(self):
        for p in self.model.parameters():
            if p.requires_grad:
                p.grad = None

    return attempt(before_window=before_window)(*args, **kwargs)


@wrong(mistakes.frozen_given_zeros)
def zeros_for_everyone(*args, **kwargs):
    def before_window(self):
        for p in self.model.parameters():
            p.grad = torch.zeros_like(p)

    return attempt(before_window=before_window)(*args, **kwargs)


# ------------------------------------------------------------------ wrong: clipping and scheduler


@wrong(mistakes.not_clipped)
def max_norm_ignored(*args, **kwargs):
    return attempt(clip=nothing)(*args, **kwargs)


@wrong(mistakes.clipped_for_each_batch)
def clipped_in_the_inner_loop(*args, **kwargs):
    return attempt(after_batch=Training.clip, clip=nothing)(*args, **kwargs)


@wrong(mistakes.clipped_by_value)
def by_value(*args, **kwargs):
    def clip(self):
        if self.max_norm is not None:
            nn.utils.clip_grad_value_(self.model.parameters(), self.max_norm)

    return attempt(clip=clip)(*args, **kwargs)


@wrong(mistakes.clipped_one_by_one)
def one_by_one(*args, **kwargs):
    def clip(self):
        if self.max_norm is not None:
            for p in self.model.parameters():
                nn.utils.clip_grad_norm_(p, self.max_norm)

    return attempt(clip=clip)(*args, **kwargs)


@wrong(mistakes.clipped_by_group)
def the_first_group_alone(*args, **kwargs):
    def clip(self):
        if self.max_norm is not None:
            nn.utils.clip_grad_norm_(self.optimizer.param_groups[0]["params"], self.max_norm)

    return attempt(clip=clip)(*args, **kwargs)


@wrong(mistakes.clipped_by_group)
def group_by_group(*args, **kwargs):
    def clip(self):
        for group in self.optimizer.param_groups if self.max_norm is not None else ():
            nn.utils.clip_grad_norm_(group["params"], self.max_norm)

    return attempt(clip=clip)(*args, **kwargs)


@wrong(mistakes.clipped_unasked)
def one_by_default(*args, **kwargs):
    def clip(self):
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm or 1.0)

    return attempt(clip=clip)(*args, **kwargs)


@wrong(mistakes.always_scaled)
def by_hand_without_min(*args, **kwargs):
    def clip(self):
        if self.max_norm is not None:
            grads = [p.grad for p in self.model.parameters() if p.grad is not None]
            norm = torch.cat([g.flatten() for g in grads]).norm()
            for g in grads:
                g.mul_(self.max_norm / norm)

    return attempt(clip=clip)(*args, **kwargs)


@wrong(mistakes.not_scheduled)
def scheduler_forgotten(*args, **kwargs):
    return attempt(schedule=nothing)(*args, **kwargs)


@wrong(mistakes.scheduled_for_each_batch)
def scheduler_in_the_inner_loop(*args, **kwargs):
    return attempt(after_batch=Training.schedule, schedule=nothing)(*args, **kwargs)


@wrong(mistakes.scheduled_for_each_epoch)
def scheduler_beside_the_loop(*args, **kwargs):
    return attempt(after_epoch=Training.schedule, schedule=nothing)(*args, **kwargs)


@wrong(mistakes.scheduled_before_the_step)
def scheduler_first(*args, **kwargs):
    def after_window(self):
        self.clip()
        self.schedule()
        self.step()

    return attempt(after_window=after_window)(*args, **kwargs)


@wrong(says="a learning rate, of some parameters, of 0.025; the loop asked for has 0.05 and 0.0125 there.")
def scheduler_twice(*args, **kwargs):
    def schedule(self):
        Training.schedule(self)
        Training.schedule(self)

    return attempt(schedule=schedule)(*args, **kwargs)


# ------------------------------------------------------------------ wrong: what is returned


@wrong(mistakes.mean_over_batches)
def batches_averaged(*args, **kwargs):
    return attempt(counted=loss_alone, told=over_batches)(*args, **kwargs)


@wrong(mistakes.batches_averaged_and_scheduled_elsewhere)
def batches_averaged_and_scheduler_beside_the_loop(*args, **kwargs):
    return attempt(counted=loss_alone, told=over_batches, after_epoch=Training.schedule, schedule=nothing)(
        *args, **kwargs
    )


@wrong(mistakes.batches_averaged_and_scheduled_elsewhere)
def batches_averaged_and_no_scheduler(*args, **kwargs):
    return attempt(counted=loss_alone, told=over_batches, schedule=nothing)(*args, **kwargs)


@wrong(mistakes.mean_over_windows)
def windows_averaged(*args, **kwargs):
    def counted(self, n):
        return self.loss.item() * n / self.rows

    def told(self, total):
        return total / -(-len(self.batches) // self.window)

    return attempt(counted=counted, told=told)(*args, **kwargs)


@wrong(mistakes.scaled_losses_summed)
def scaled_loss_added(*args, **kwargs):
    def counted(self, n):
        return self.loss.item() * n / self.rows

    return attempt(counted=counted, told=the_sum)(*args, **kwargs)


def measured_now(self):
    with torch.no_grad():
        self.late += sum(self.loss_fn(self.model(x), y).item() * len(x) for x, y in self.part)


@wrong(mistakes.measured_after_the_step)
def losses_after_the_step(*args, **kwargs):
    def after_window(self):
        Training.after_window(self)
        measured_now(self)

    def before_epoch(self):
        self.late = 0.0

    told = lambda self, total: self.late / self.samples
    return attempt(after_window=after_window, before_epoch=before_epoch, told=told)(*args, **kwargs)


@wrong(mistakes.sums_returned)
def not_divided(*args, **kwargs):
    return attempt(told=the_sum)(*args, **kwargs)


@wrong(mistakes.loss_of_the_last_batch)
def last_one(*args, **kwargs):
    return attempt(told=lambda self, total: self.loss.item())(*args, **kwargs)


@wrong(mistakes.losses_of_all_steps)
def one_a_batch(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            optimizer.zero_grad()
            for x, y in part:
                loss = loss_fn(model(x), y)
                (loss * len(x) / rows).backward()
                losses.append(loss.item())
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
    return losses


@wrong(effects.wrong_type)
def tensors(*args, **kwargs):
    return attempt(counted=lambda self, n: self.loss.detach() * n)(*args, **kwargs)


@wrong(effects.returned_nothing)
def return_forgotten(*args, **kwargs):
    attempt()(*args, **kwargs)


# ------------------------------------------------------------------ a rule broken, raised, or a side effect


@wrong(mistakes.several_graphs_at_once)
def one_backward_a_window(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            optimizer.zero_grad()
            loss_sum = 0
            for x, y in part:
                loss = loss_fn(model(x), y)
                loss_sum = loss_sum + loss * len(x) / rows
                total += loss.item() * len(x)
            loss_sum.backward()
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.several_graphs_at_once)
def joined(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            optimizer.zero_grad()
            if part:
                x = torch.cat([a for a, _ in part])
                y = torch.cat([b for _, b in part])
                loss = loss_fn(model(x), y)
                (loss * len(x) / rows).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.hooks_left_behind)
def hooks_that_stay(*args, **kwargs):
    def before_all(self):
        for p in self.model.parameters():
            if p.requires_grad:
                p.register_hook(lambda g: g)

    return attempt(before_all=before_all)(*args, **kwargs)


@raised(effects.graph_freed)
def running_loss(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            optimizer.zero_grad()
            loss = 0.0
            for x, y in part:
                loss = loss + loss_fn(model(x), y) * len(x) / rows
                loss.backward()
            total += loss.item() * rows
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / sum(len(x) for x, _ in batches))
    return losses


@wrong(mistakes.put_into_train_mode)
def train_mode_by_habit(model, *args, **kwargs):
    model.train()
    return windows_as_slices(model, *args, **kwargs)


@wrong(mistakes.put_into_train_mode)
def the_root_mode_for_all(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    was = model.training
    model.train()
    history = windows_as_slices(model, optimizer, loss_fn, batches, window, epochs, scheduler, max_norm)
    model.train(was)
    return history


@wrong(mistakes.rest_leaked)
def the_rest_leaks_and_nothing_is_cleared_first(
    model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None
):
    history = []
    for _ in range(epochs):
        total = samples = 0
        for i, (x, y) in enumerate(batches):
            first = i - i % window
            rows = sum(len(a) for a, _ in batches[first : first + window])
            loss = loss_fn(model(x), y)
            (loss * len(x) / rows).backward()
            total += loss.item() * len(x)
            samples += len(x)
            if (i + 1) % window == 0:
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                if scheduler is not None:
                    scheduler.step()
                optimizer.zero_grad()
        history.append(total / samples)
    return history


@wrong(mistakes.clipped_before_divided)
def sums_clipped(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    history = []
    for _ in range(epochs):
        loss_sum, samples = 0.0, 0
        for start in range(0, len(batches), window):
            rows = 0
            optimizer.zero_grad()
            for x, y in batches[start : start + window]:
                loss = loss_fn(model(x), y) * len(x)
                loss.backward()
                loss_sum += loss.item()
                rows += len(x)
            samples += rows
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            for p in model.parameters():
                if p.grad is not None:
                    p.grad /= rows
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        history.append(loss_sum / samples)
    return history


@wrong(mistakes.earlier_epochs_counted)
def sums_begun_once(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    history = []
    loss_sum, samples = 0.0, 0
    for _ in range(epochs):
        for start in range(0, len(batches), window):
            group = batches[start : start + window]
            rows = sum(len(x) for x, _ in group)
            optimizer.zero_grad()
            for x, y in group:
                loss = loss_fn(model(x), y)
                (loss * len(x) / rows).backward()
                loss_sum += loss.item() * len(x)
            samples += rows
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        history.append(loss_sum / samples)
    return history


def _run_on(model, optimizer, loss_fn, batches, window, epochs, scheduler, max_norm, *, by_epoch):
    out, count, rows = [], 0, 0
    optimizer.zero_grad()
    for _ in range(epochs):
        total = samples = 0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            (loss * len(x)).backward()
            rows += len(x)
            total += loss.item() * len(x)
            samples += len(x)
            count += 1
            if count % window == 0 or count == epochs * len(batches):
                for p in model.parameters():
                    if p.grad is not None:
                        p.grad.div_(rows)
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                optimizer.zero_grad()
                rows = 0
                if scheduler is not None and not by_epoch:
                    scheduler.step()
        if scheduler is not None and by_epoch:
            scheduler.step()
        out.append(total / samples)
    return out


@wrong(mistakes.carried_over_and_scheduled_elsewhere)
def one_counter_and_a_scheduler_by_epoch(
    model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None
):
    return _run_on(model, optimizer, loss_fn, batches, window, epochs, scheduler, max_norm, by_epoch=True)


@wrong(mistakes.carried_over)
def one_counter_for_all_epochs(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    return _run_on(model, optimizer, loss_fn, batches, window, epochs, scheduler, max_norm, by_epoch=False)
