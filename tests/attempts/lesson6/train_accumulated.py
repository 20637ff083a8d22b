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


# ------------------------------------------------------------------ wrong: how much each batch counts


@wrong(mistakes.divided_by_window)
def over_window(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                (loss / window).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.divided_by_window)
def over_window_and_batches_averaged(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                (loss / window).backward()
                total += loss.item()
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / len(batches))
    return losses


@wrong(mistakes.mean_of_means)
def over_the_batches_of_the_window(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                (loss / len(part)).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.not_divided)
def as_they_are(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                loss.backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.summed_over_rows)
def times_rows(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                (loss * len(x)).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.rows_over_batches)
def times_rows_over_window(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                (loss * len(x) / window).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.rows_of_the_epoch)
def over_all_samples(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                (loss * len(x) / samples).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.means_over_rows)
def over_rows(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                (loss / rows).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.one_size_for_all)
def rows_of_the_first_batch(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = window * len(batches[0][0])
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


@wrong(mistakes.stepped_for_each_batch)
def step_in_the_inner_loop(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            for x, y in part:
                optimizer.zero_grad()
                loss = loss_fn(model(x), y)
                (loss * 1.0).backward()
                total += loss.item() * len(x)
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                if scheduler is not None:
                    scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.stepped_once_an_epoch)
def step_beside_the_loop(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        optimizer.zero_grad()
        for x, y in batches:
            loss = loss_fn(model(x), y)
            (loss * len(x) / samples).backward()
            total += loss.item() * len(x)
        if max_norm is not None:
            nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.nothing_moved)
def cleared_before_the_step(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
            optimizer.zero_grad()
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


# ------------------------------------------------------------------ wrong: where it is cleared


@wrong(mistakes.cleared_for_each_batch)
def zero_grad_in_the_inner_loop(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            for x, y in part:
                optimizer.zero_grad()
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


@wrong(mistakes.never_cleared)
def zero_grad_forgotten(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
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


@wrong(mistakes.cleared_once)
def before_all_loops(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    optimizer.zero_grad()
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
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


@wrong(mistakes.cleared_once_an_epoch)
def for_each_epoch(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        optimizer.zero_grad()
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
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


@wrong(mistakes.first_step_on_old_gradients)
def after_each_step_alone(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            for x, y in part:
                loss = loss_fn(model(x), y)
                (loss * len(x) / rows).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            optimizer.zero_grad()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.frozen_moved)
def cleared_where_trainable(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            for p in model.parameters():
                if p.requires_grad:
                    p.grad = None
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


@wrong(mistakes.frozen_given_zeros)
def zeros_for_everyone(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            for p in model.parameters():
                p.grad = torch.zeros_like(p)
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


# ------------------------------------------------------------------ wrong: clipping and scheduler


@wrong(mistakes.not_clipped)
def max_norm_ignored(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.clipped_for_each_batch)
def clipped_in_the_inner_loop(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                total += loss.item() * len(x)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.clipped_by_value)
def by_value(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                nn.utils.clip_grad_value_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.clipped_one_by_one)
def one_by_one(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                for p in model.parameters():
                    nn.utils.clip_grad_norm_(p, max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.clipped_unasked)
def one_by_default(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    max_norm = max_norm or 1.0
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


@wrong(mistakes.always_scaled)
def by_hand_without_min(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                grads = [p.grad for p in model.parameters() if p.grad is not None]
                norm = torch.cat([g.flatten() for g in grads]).norm()
                for g in grads:
                    g.mul_(max_norm / norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.not_scheduled)
def scheduler_forgotten(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
        losses.append(total / samples)
    return losses


@wrong(mistakes.scheduled_for_each_batch)
def scheduler_in_the_inner_loop(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                if scheduler is not None:
                    scheduler.step()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
        losses.append(total / samples)
    return losses


@wrong(mistakes.scheduled_for_each_epoch)
def scheduler_beside_the_loop(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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


@wrong(mistakes.scheduled_before_the_step)
def scheduler_first(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
            if scheduler is not None:
                scheduler.step()
            optimizer.step()
        losses.append(total / samples)
    return losses


# ------------------------------------------------------------------ wrong: what is returned


@wrong(mistakes.mean_over_batches)
def batches_averaged(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                total += loss.item()
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / len(batches))
    return losses


@wrong(mistakes.mean_over_windows)
def windows_averaged(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                total += loss.item() * len(x) / rows
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / -(-len(batches) // window))
    return losses


@wrong(mistakes.scaled_losses_summed)
def scaled_loss_added(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for epoch in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            part = batches[first : first + window]
            rows = sum(len(x) for x, _ in part)
            optimizer.zero_grad()
            for x, y in part:
                loss = loss_fn(model(x), y) * len(x) / rows
                loss.backward()
                total += loss.item()
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total)
    return losses


@wrong(mistakes.sums_returned)
def not_divided(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
        losses.append(total)
    return losses


@wrong(mistakes.loss_of_the_last_batch)
def last_one(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
        losses.append(loss.item())
    return losses


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
def tensors(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
                total += loss.detach() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses


@wrong(effects.returned_nothing)
def return_forgotten(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
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
def hooks_that_stay(model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None):
    losses = []
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda g: g)
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
