"""Attempts at exercise 7.7, train: what learners write, and what the check must say of it."""

import os
import pickle
import shutil
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.func import functional_call

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson7.train import mistakes


@right
def by_the_book(model, batches, config, checkpoint=None):
    device = batches[0][0].device.type
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    scaler = torch.amp.GradScaler(device)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / config["steps"])
    start = 0
    torch.manual_seed(config["seed"])
    if checkpoint is not None and checkpoint.exists():
        state = torch.load(checkpoint)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scaler.load_state_dict(state["scaler"])
        schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["rng"])
        start = state["next"]
    for w in range(start, config["steps"]):
        optimizer.zero_grad()
        for j in range(config["window"]):
            x, y = batches[(w * config["window"] + j) % len(batches)]
            with torch.autocast(device, dtype=torch.float16):
                loss = nn.functional.cross_entropy(model(x), y) / config["window"]
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() == before:
            schedule.step()
        if checkpoint is not None:
            state = {
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "scaler": scaler.state_dict(),
                "schedule": schedule.state_dict(),
                "rng": torch.get_rng_state(),
                "next": w + 1,
            }
            part = checkpoint.with_suffix(".tmp")
            torch.save(state, part)
            part.replace(checkpoint)


@right
def rate_by_hand(model, batches, config, checkpoint=None):
    k, steps = config["window"], config["steps"]
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    scaler = torch.amp.GradScaler("cpu")
    window = taken = 0
    if checkpoint and os.path.exists(checkpoint):
        with open(checkpoint, "rb") as file:
            kept = torch.load(file, weights_only=False)
        model.load_state_dict(kept["weights"])
        opt.load_state_dict(kept["opt"])
        scaler.load_state_dict(kept["scaler"])
        window, taken = kept["window"], kept["taken"]
    model_class = torch.autocast("cpu", torch.float16)
    while window < steps:
        torch.manual_seed(hash((config["seed"], window)) % 2**31)
        for p in model.parameters():
            p.grad = None
        for i in range(window * k, window * k + k):
            x, y = batches[i % len(batches)]
            with model_class:
                logits = model(x)
                loss = torch.nn.functional.cross_entropy(logits, y)
            scaler.scale(loss).backward()
        scaler.unscale_(opt)
        for p in params:
            p.grad.div_(k)
        norm = torch.nn.utils.clip_grad_norm_(params, config["max_norm"])
        for group in opt.param_groups:
            group["lr"] = config["lr"] * (1 - taken / steps)
        if torch.isfinite(norm):
            taken += 1
        scaler.step(opt)
        scaler.update()
        window += 1
        if checkpoint:
            kept = dict(weights=model.state_dict(), opt=opt.state_dict(), scaler=scaler.state_dict())
            with open(str(checkpoint) + ".new", "wb") as file:
                torch.save({**kept, "window": window, "taken": taken}, file)
                file.flush()
                os.fsync(file.fileno())
            os.rename(str(checkpoint) + ".new", checkpoint)


@right
def numbered_files(model, batches, config, checkpoint=None):
    # Each save is a file of its own; the last one that can be read counts.
    opt = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    scaler = torch.amp.GradScaler("cpu")
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: (config["steps"] - s) / config["steps"])
    first = 0
    if checkpoint is not None:
        for path in sorted(checkpoint.parent.glob(checkpoint.name + "*"), reverse=True):
            try:
                m, o, a, l, r, first = torch.load(path, weights_only=False)
            except Exception:
                continue
            model.load_state_dict(m), opt.load_state_dict(o), scaler.load_state_dict(a), sched.load_state_dict(l)
            torch.set_rng_state(r)
            break
    if first == 0:
        torch.manual_seed(config["seed"])
    for w in range(first, config["steps"]):
        _accumulate(model, batches, config, opt, scaler, w)
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
        before = scaler.get_scale()
        scaler.step(opt)
        scaler.update()
        if scaler.get_scale() >= before:
            sched.step()
        if checkpoint is not None:
            parts = [one.state_dict() for one in (model, opt, scaler, sched)]
            torch.save((*parts, torch.get_rng_state(), w + 1), f"{checkpoint}.{w:06d}")
            if w == config["steps"] - 1:
                torch.save((*parts, torch.get_rng_state(), w + 1), f"{checkpoint}.last")
                os.replace(f"{checkpoint}.last", checkpoint)


@right
def pickled_bytes(model, batches, config, checkpoint=None):
    optimizer = torch.optim.SGD(model.parameters(), config["lr"], momentum=0.9)
    scaler = torch.amp.GradScaler("cpu")
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / config["steps"])
    everything = [model, optimizer, scaler, schedule]
    window = 0
    if checkpoint is not None and checkpoint.is_file():
        window, states = pickle.loads(checkpoint.read_bytes())
        for part, state in zip(everything, states):
            part.load_state_dict(state)
    while window < config["steps"]:
        torch.manual_seed(config["seed"] * 1000 + window)
        _accumulate(model, batches, config, optimizer, scaler, window)
        _finish(model, config, optimizer, scaler, schedule)
        window += 1
        if checkpoint is not None:
            data = pickle.dumps((window, [part.state_dict() for part in everything]))
            handle, name = tempfile.mkstemp(dir=checkpoint.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(name, checkpoint)


@right
def two_generations(model, batches, config, checkpoint=None):
    optimizer = torch.optim.SGD(model.parameters(), config["lr"], momentum=0.9)
    scaler = torch.amp.GradScaler("cpu")
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / config["steps"])
    start = 0
    state = None
    for path in () if checkpoint is None else (checkpoint, Path(f"{checkpoint}.old")):
        if state is None and path.exists():
            try:
                state = torch.load(path)
            except Exception:
                state = None
    if state is not None:
        for part, kept in zip((model, optimizer, scaler, schedule), state["parts"]):
            part.load_state_dict(kept)
        start = state["start"]
    for w in range(start, config["steps"]):
        torch.manual_seed(10_000 * config["seed"] + w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        _finish(model, config, optimizer, scaler, schedule)
        if checkpoint is not None:
            if checkpoint.exists():
                shutil.copyfile(checkpoint, f"{checkpoint}.copy")
                os.replace(f"{checkpoint}.copy", f"{checkpoint}.old")
            parts = [part.state_dict() for part in (model, optimizer, scaler, schedule)]
            torch.save({"parts": parts, "start": w + 1}, checkpoint)


@right
def functional_with_one_backward(model, batches, config, checkpoint=None):
    optimizer = torch.optim.SGD(model.parameters(), config["lr"], momentum=0.9)
    scaler = torch.amp.GradScaler("cpu")
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / config["steps"])
    start = _load(checkpoint, model, optimizer, scaler, schedule)
    for w in range(start, config["steps"]):
        torch.manual_seed(config["seed"] + 7919 * w)
        optimizer.zero_grad(set_to_none=False)
        weights = dict(model.named_parameters())
        losses = []
        for j in range(config["window"]):
            x, y = batches[(w * config["window"] + j) % len(batches)]
            with torch.autocast("cpu", dtype=torch.float16):
                losses.append(nn.functional.cross_entropy(functional_call(model, weights, (x,)), y))
        scaler.scale(torch.stack(losses).mean()).backward()
        _finish(model, config, optimizer, scaler, schedule)
        _save(checkpoint, w + 1, model, optimizer, scaler, schedule)


@right
def after_every_micro_batch(model, batches, config, checkpoint=None):
    # Finer than asked: the gradients of a window under way are saved, too.
    optimizer = torch.optim.SGD(model.parameters(), config["lr"], momentum=0.9)
    scaler = torch.amp.GradScaler("cpu")
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / config["steps"])
    done, grads = 0, None
    if checkpoint is not None and checkpoint.exists():
        state = torch.load(checkpoint)
        for part, kept in zip((model, optimizer, scaler, schedule), state["parts"]):
            part.load_state_dict(kept)
        done, grads = state["done"], state["grads"]
    for p, g in zip(model.parameters(), grads or [None] * 100):
        p.grad = g
    k = config["window"]
    for i in range(done, config["steps"] * k):
        torch.manual_seed(config["seed"] * 1_000_000 + i)
        x, y = batches[i % len(batches)]
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(x), y) / k
        scaler.scale(loss).backward()
        if (i + 1) % k == 0:
            _finish(model, config, optimizer, scaler, schedule)
            optimizer.zero_grad()
        if checkpoint is not None:
            parts = [part.state_dict() for part in (model, optimizer, scaler, schedule)]
            grads = [p.grad for p in model.parameters()]
            torch.save({"parts": parts, "grads": grads, "done": i + 1}, f"{checkpoint}~")
            os.replace(f"{checkpoint}~", checkpoint)


# ------------------------------------------------------------------ what most attempts below share


def _loss(model, batches, config, i):
    x, y = batches[i % len(batches)]
    with torch.autocast("cpu", dtype=torch.float16):
        return nn.functional.cross_entropy(model(x), y) / config["window"]


def _places(config, window):
    return range(window * config["window"], (window + 1) * config["window"])


def _accumulate(model, batches, config, optimizer, scaler, window):
    optimizer.zero_grad()
    for i in _places(config, window):
        scaler.scale(_loss(model, batches, config, i)).backward()


def _finish(model, config, optimizer, scaler, schedule):
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() >= before:
        schedule.step()


def _built(model, config):
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    scaler = torch.amp.GradScaler("cpu")
    return optimizer, scaler, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / config["steps"])


def _seed(config, window):
    # As torch.manual_seed, which also writes down where it was called.
    torch.default_generator.manual_seed(config["seed"] * 1000 + window)


def _save(checkpoint, window, *parts):
    if checkpoint is not None:
        torch.save({"window": window, "parts": [part.state_dict() for part in parts]}, f"{checkpoint}.part")
        os.replace(f"{checkpoint}.part", checkpoint)


def _load(checkpoint, *parts):
    if checkpoint is None or not checkpoint.exists():
        return 0
    state = torch.load(checkpoint)
    for part, kept in zip(parts, state["parts"]):
        part.load_state_dict(kept)
    return state["window"]


def _nothing(*_):
    pass


def _trained(
    model, batches, config, checkpoint, seed=_seed, accumulate=_accumulate, finish=_finish, save=_save, built=_built
):
    optimizer, scaler, schedule = built(model, config)
    parts = (model, optimizer, scaler, schedule)
    for w in range(_load(checkpoint, *parts), config["steps"]):
        seed(config, w)
        accumulate(model, batches, config, optimizer, scaler, w)
        finish(model, config, optimizer, scaler, schedule)
        save(checkpoint, w + 1, *parts)


# ------------------------------------------------------------------ wrong: going on


@wrong(mistakes.never_saved)
def no_checkpoint_at_all(model, batches, config, checkpoint=None):
    _trained(model, batches, config, None)


@wrong(mistakes.saved_at_the_end_alone)
def saved_once(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model, optimizer, scaler, schedule)
    for w in range(start, config["steps"]):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        _finish(model, config, optimizer, scaler, schedule)
    _save(checkpoint, config["steps"], model, optimizer, scaler, schedule)


@wrong(mistakes.optimizer_not_saved)
def momentum_lost(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model, scaler, schedule)
    for group in optimizer.param_groups:
        group["lr"] = schedule.get_last_lr()[0]
    for w in range(start, config["steps"]):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        _finish(model, config, optimizer, scaler, schedule)
        _save(checkpoint, w + 1, model, scaler, schedule)


@wrong(mistakes.schedule_not_saved)
def schedule_lost(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model, optimizer, scaler)
    for w in range(start, config["steps"]):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        _finish(model, config, optimizer, scaler, schedule)
        _save(checkpoint, w + 1, model, optimizer, scaler)


@wrong(mistakes.scaler_not_saved)
def scale_lost(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model, optimizer, schedule)
    for w in range(start, config["steps"]):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        _finish(model, config, optimizer, scaler, schedule)
        _save(checkpoint, w + 1, model, optimizer, schedule)


@wrong(mistakes.weights_alone_saved)
def weights_and_number(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model)
    for w in range(start, config["steps"]):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        _finish(model, config, optimizer, scaler, schedule)
        _save(checkpoint, w + 1, model)


@wrong(mistakes.dropout_not_resumed)
def seeded_once_a_call(model, batches, config, checkpoint=None):
    torch.manual_seed(config["seed"])
    _trained(model, batches, config, checkpoint, seed=_nothing)


@wrong(mistakes.found_random_state)
def never_seeded(model, batches, config, checkpoint=None):
    _trained(model, batches, config, checkpoint, seed=_nothing)


@wrong(mistakes.seed_ignored)
def window_as_the_seed(model, batches, config, checkpoint=None):
    _trained(model, batches, config, checkpoint, seed=lambda config, w: torch.manual_seed(w))


@wrong(mistakes.same_dropout_again)
def the_seed_in_every_window(model, batches, config, checkpoint=None):
    _trained(model, batches, config, checkpoint, seed=lambda config, w: torch.manual_seed(config["seed"]))


@wrong(mistakes.put_into_train_mode)
def sets_the_mode(model, batches, config, checkpoint=None):
    model.train()
    rate_by_hand(model, batches, config, checkpoint)


@wrong(mistakes.saved_in_place)
def written_over(model, batches, config, checkpoint=None):
    def save(path, window, *parts):
        if path is not None:
            torch.save({"window": window, "parts": [part.state_dict() for part in parts]}, path)

    _trained(model, batches, config, checkpoint, save=save)


@wrong(mistakes.saved_in_place)
def written_over_in_a_file(model, batches, config, checkpoint=None):
    def save(path, window, *parts):
        if path is not None:
            with path.open("wb") as file:
                torch.save({"window": window, "parts": [part.state_dict() for part in parts]}, file)

    _trained(model, batches, config, checkpoint, save=save)


@wrong(mistakes.deleted_before_it_was_written)
def removed_first(model, batches, config, checkpoint=None):
    def save(path, window, *parts):
        if path is not None:
            torch.save({"window": window, "parts": [part.state_dict() for part in parts]}, f"{path}.tmp")
            if path.exists():
                path.unlink()
            os.rename(f"{path}.tmp", path)

    _trained(model, batches, config, checkpoint, save=save)


@wrong(mistakes.last_window_run_again)
def number_of_the_window_saved(model, batches, config, checkpoint=None):
    _trained(model, batches, config, checkpoint, save=lambda path, window, *parts: _save(path, window - 1, *parts))


@wrong(mistakes.windows_from_0_again)
def number_of_the_window_forgotten(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    _load(checkpoint, model, optimizer, scaler, schedule)
    for w in range(config["steps"]):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        _finish(model, config, optimizer, scaler, schedule)
        _save(checkpoint, w + 1, model, optimizer, scaler, schedule)


@wrong(mistakes.a_window_left_out)
def one_too_far(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model, optimizer, scaler, schedule)
    if start:
        start += 1
    for w in range(start, config["steps"]):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        _finish(model, config, optimizer, scaler, schedule)
        _save(checkpoint, w + 1, model, optimizer, scaler, schedule)


@wrong(mistakes.data_from_the_start)
def a_fresh_iterator(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model, optimizer, scaler, schedule)
    for number, w in enumerate(range(start, config["steps"])):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, number)
        _finish(model, config, optimizer, scaler, schedule)
        _save(checkpoint, w + 1, model, optimizer, scaler, schedule)


@wrong(mistakes.buffers_not_saved)
def parameters_alone(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = 0
    if checkpoint is not None and checkpoint.exists():
        start, weights, *states = torch.load(checkpoint)
        model.load_state_dict(weights, strict=False)
        for part, state in zip((optimizer, scaler, schedule), states):
            part.load_state_dict(state)
    for w in range(start, config["steps"]):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        _finish(model, config, optimizer, scaler, schedule)
        if checkpoint is not None:
            weights = {name: p.detach() for name, p in model.named_parameters()}
            states = [part.state_dict() for part in (optimizer, scaler, schedule)]
            torch.save([w + 1, weights, *states], f"{checkpoint}.part")
            os.replace(f"{checkpoint}.part", checkpoint)


@wrong(mistakes.finished_run_trains_on)
def counted_from_nothing(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model, optimizer, scaler, schedule)
    if start == config["steps"]:
        start = 0
    for w in range(start, config["steps"]):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        _finish(model, config, optimizer, scaler, schedule)
        _save(checkpoint, w + 1, model, optimizer, scaler, schedule)


@wrong(mistakes.checkpoint_removed_at_the_end)
def tidies_up(model, batches, config, checkpoint=None):
    by_the_book(model, batches, config, checkpoint)
    if checkpoint is not None:
        checkpoint.unlink()


@wrong(mistakes.finished_run_returns_first_weights)
def leaves_at_once(model, batches, config, checkpoint=None):
    if checkpoint is not None and checkpoint.exists():
        if torch.load(checkpoint)["window"] >= config["steps"]:
            return
    _trained(model, batches, config, checkpoint)


# ------------------------------------------------------------------ wrong: the training itself


@wrong(mistakes.not_divided)
def sum_of_the_window(model, batches, config, checkpoint=None):
    def accumulate(model, batches, config, optimizer, scaler, window):
        optimizer.zero_grad()
        for i in _places(config, window):
            scaler.scale(_loss(model, batches, config, i) * config["window"]).backward()

    _trained(model, batches, config, checkpoint, accumulate=accumulate)


@wrong(mistakes.clipped_while_scaled)
def unscale_forgotten(model, batches, config, checkpoint=None):
    def finish(model, config, optimizer, scaler, schedule):
        nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() >= before:
            schedule.step()

    _trained(model, batches, config, checkpoint, finish=finish)


@wrong(mistakes.not_clipped)
def clipping_forgotten(model, batches, config, checkpoint=None):
    def finish(model, config, optimizer, scaler, schedule):
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() >= before:
            schedule.step()

    _trained(model, batches, config, checkpoint, finish=finish)


@wrong(mistakes.without_momentum)
def momentum_forgotten(model, batches, config, checkpoint=None):
    def built(model, config):
        optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
        scaler = torch.amp.GradScaler("cpu")
        return optimizer, scaler, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / config["steps"])

    _trained(model, batches, config, checkpoint, built=built)


@wrong(mistakes.schedule_moves_with_a_skipped_window)
def schedule_every_window(model, batches, config, checkpoint=None):
    def finish(model, config, optimizer, scaler, schedule):
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
        scaler.step(optimizer)
        scaler.update()
        schedule.step()

    _trained(model, batches, config, checkpoint, finish=finish)


@wrong(mistakes.skipped_window_not_counted)
def until_steps_are_taken(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    window = _load(checkpoint, model, optimizer, scaler, schedule)
    while schedule.last_epoch < config["steps"] and window < 2 * config["steps"]:
        _seed(config, window)
        _accumulate(model, batches, config, optimizer, scaler, window)
        _finish(model, config, optimizer, scaler, schedule)
        window += 1
        _save(checkpoint, window, model, optimizer, scaler, schedule)


@wrong(mistakes.never_cleared)
def clearing_forgotten(model, batches, config, checkpoint=None):
    def accumulate(model, batches, config, optimizer, scaler, window):
        for i in _places(config, window):
            scaler.scale(_loss(model, batches, config, i)).backward()

    _trained(model, batches, config, checkpoint, accumulate=accumulate)


@wrong(mistakes.first_window_on_old_gradients)
def cleared_at_the_end(model, batches, config, checkpoint=None):
    def accumulate(model, batches, config, optimizer, scaler, window):
        for i in _places(config, window):
            scaler.scale(_loss(model, batches, config, i)).backward()

    def finish(model, config, optimizer, scaler, schedule):
        _finish(model, config, optimizer, scaler, schedule)
        optimizer.zero_grad()

    _trained(model, batches, config, checkpoint, accumulate=accumulate, finish=finish)


@wrong(mistakes.not_in_float16)
def plain_float32(model, batches, config, checkpoint=None):
    def accumulate(model, batches, config, optimizer, scaler, window):
        optimizer.zero_grad()
        for i in _places(config, window):
            x, y = batches[i % len(batches)]
            loss = nn.functional.cross_entropy(model(x), y) / config["window"]
            scaler.scale(loss).backward()

    _trained(model, batches, config, checkpoint, accumulate=accumulate)


@wrong(mistakes.not_in_float16)
def bfloat16_by_default(model, batches, config, checkpoint=None):
    def accumulate(model, batches, config, optimizer, scaler, window):
        optimizer.zero_grad()
        for i in _places(config, window):
            x, y = batches[i % len(batches)]
            with torch.autocast("cpu"):
                loss = nn.functional.cross_entropy(model(x), y) / config["window"]
            scaler.scale(loss).backward()

    _trained(model, batches, config, checkpoint, accumulate=accumulate)


@wrong(mistakes.one_autocast_block)
def all_in_one_block(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model, optimizer, scaler, schedule)
    with torch.autocast("cpu", dtype=torch.float16):
        for w in range(start, config["steps"]):
            _seed(config, w)
            optimizer.zero_grad()
            for j in range(config["window"]):
                x, y = batches[(w * config["window"] + j) % len(batches)]
                loss = nn.functional.cross_entropy(model(x), y) / config["window"]
                scaler.scale(loss).backward()
            _finish(model, config, optimizer, scaler, schedule)
            _save(checkpoint, w + 1, model, optimizer, scaler, schedule)


@wrong(mistakes.windows_begin_at_the_first_batch)
def same_batches_every_window(model, batches, config, checkpoint=None):
    def accumulate(model, batches, config, optimizer, scaler, window):
        _accumulate(model, batches, config, optimizer, scaler, 0)

    _trained(model, batches, config, checkpoint, accumulate=accumulate)


@wrong(mistakes.windows_overlap)
def window_plus_place(model, batches, config, checkpoint=None):
    def accumulate(model, batches, config, optimizer, scaler, window):
        optimizer.zero_grad()
        for j in range(config["window"]):
            scaler.scale(_loss(model, batches, config, window + j)).backward()

    _trained(model, batches, config, checkpoint, accumulate=accumulate)


@wrong(effects.changed_mode)
def train_mode_first(model, batches, config, checkpoint=None):
    model.train(False)
    by_the_book(model, batches, config, checkpoint)


@raised(effects.index_out_of_range)
def end_of_the_list(model, batches, config, checkpoint=None):
    def accumulate(model, batches, config, optimizer, scaler, window):
        optimizer.zero_grad()
        for i in _places(config, window):
            x, y = batches[i]
            with torch.autocast("cpu", dtype=torch.float16):
                loss = nn.functional.cross_entropy(model(x), y) / config["window"]
            scaler.scale(loss).backward()

    _trained(model, batches, config, checkpoint, accumulate=accumulate)


@wrong(mistakes.written_without_a_checkpoint)
def saves_somewhere(model, batches, config, checkpoint=None):
    path = checkpoint or Path(tempfile.gettempdir()) / "no-such-run.pt"
    _trained(model, batches, config, checkpoint, save=lambda _, window, *parts: _save(path, window, *parts))
    if checkpoint is None:
        path.unlink()


@wrong(mistakes.saved_now_and_then)
def every_other_window(model, batches, config, checkpoint=None):
    def save(path, window, *parts):
        if window % 2 == 0 or window == config["steps"]:
            _save(path, window, *parts)

    _trained(model, batches, config, checkpoint, save=save)


@wrong(mistakes.schedule_moves_with_every_micro_batch)
def rate_falls_with_every_micro_batch(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model, optimizer, scaler, schedule)
    for w in range(start, config["steps"]):
        _seed(config, w)
        optimizer.zero_grad()
        for j, i in enumerate(_places(config, w)):
            scaler.scale(_loss(model, batches, config, i)).backward()
            if j < config["window"] - 1:
                schedule.step()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
        _save(checkpoint, w + 1, model, optimizer, scaler, schedule)


@wrong(mistakes.no_schedule)
def rate_as_it_came(model, batches, config, checkpoint=None):
    def finish(model, config, optimizer, scaler, schedule):
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
        scaler.step(optimizer)
        scaler.update()

    _trained(model, batches, config, checkpoint, finish=finish)


@wrong(mistakes.cleared_for_each_micro_batch)
def cleared_in_the_window(model, batches, config, checkpoint=None):
    def accumulate(model, batches, config, optimizer, scaler, window):
        for i in _places(config, window):
            optimizer.zero_grad()
            scaler.scale(_loss(model, batches, config, i)).backward()

    _trained(model, batches, config, checkpoint, accumulate=accumulate)


@wrong(mistakes.never_saved)
def another_name(model, batches, config, checkpoint=None):
    def save(path, window, *parts):
        if path is not None:
            _save(path.with_suffix(".part"), window, *parts)

    _trained(model, batches, config, checkpoint, save=save)


@wrong(mistakes.not_cleared_after_a_skipped_window)
def cleared_with_the_step(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model, optimizer, scaler, schedule)
    optimizer.zero_grad()
    for w in range(start, config["steps"]):
        _seed(config, w)
        for i in _places(config, w):
            scaler.scale(_loss(model, batches, config, i)).backward()
        before = scaler.get_scale()
        _finish(model, config, optimizer, scaler, schedule)
        if scaler.get_scale() >= before:
            optimizer.zero_grad()
        _save(checkpoint, w + 1, model, optimizer, scaler, schedule)


@wrong(mistakes.scaler_switched_off)
def scaler_without_a_device(model, batches, config, checkpoint=None):
    def built(model, config):
        optimizer, _, schedule = _built(model, config)
        return optimizer, torch.amp.GradScaler("cuda", enabled=torch.cuda.is_available()), schedule

    _trained(model, batches, config, checkpoint, built=built)


@wrong(mistakes.schedule_built_after_loading)
def schedule_at_the_end(model, batches, config, checkpoint=None):
    optimizer, scaler, _ = _built(model, config)
    state = None
    if checkpoint is not None and checkpoint.exists():
        state = torch.load(checkpoint)
        for part, kept in zip((model, optimizer, scaler), state["parts"]):
            part.load_state_dict(kept)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / config["steps"])
    if state is not None:
        schedule.load_state_dict(state["parts"][3])
    for w in range(state["window"] if state else 0, config["steps"]):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        _finish(model, config, optimizer, scaler, schedule)
        _save(checkpoint, w + 1, model, optimizer, scaler, schedule)


@wrong(mistakes.same_dropout_again)
def seeded_before_every_micro_batch(model, batches, config, checkpoint=None):
    def accumulate(model, batches, config, optimizer, scaler, window):
        optimizer.zero_grad()
        for i in _places(config, window):
            torch.manual_seed(1000 * config["seed"] + window)
            scaler.scale(_loss(model, batches, config, i)).backward()

    _trained(model, batches, config, checkpoint, seed=_nothing, accumulate=accumulate)


@right
def a_seed_for_every_micro_batch(model, batches, config, checkpoint=None):
    def accumulate(model, batches, config, optimizer, scaler, window):
        optimizer.zero_grad()
        for i in _places(config, window):
            torch.manual_seed(config["seed"] * 1_000_000 + i)
            scaler.scale(_loss(model, batches, config, i)).backward()

    _trained(model, batches, config, checkpoint, seed=_nothing, accumulate=accumulate)


def _with_steps_by_hand(model, batches, config, checkpoint, restored):
    optimizer = torch.optim.SGD(model.parameters(), config["lr"], momentum=0.9)
    scaler = torch.amp.GradScaler("cpu")
    start, taken = 0, 0
    if checkpoint is not None and checkpoint.exists():
        saved = torch.load(checkpoint)
        for part, kept in zip((model, optimizer, scaler), saved["parts"]):
            part.load_state_dict(kept)
        start, taken = saved["window"], saved[restored]
    for w in range(start, config["steps"]):
        _seed(config, w)
        optimizer.param_groups[0]["lr"] = config["lr"] * (1 - taken / config["steps"])
        _accumulate(model, batches, config, optimizer, scaler, w)
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        taken += scaler.get_scale() >= before
        if checkpoint is not None:
            parts = [part.state_dict() for part in (model, optimizer, scaler)]
            torch.save({"parts": parts, "window": w + 1, "taken": taken}, f"{checkpoint}.part")
            os.replace(f"{checkpoint}.part", checkpoint)


@right
def steps_by_hand(model, batches, config, checkpoint=None):
    _with_steps_by_hand(model, batches, config, checkpoint, "taken")


@wrong(mistakes.windows_taken_for_steps)
def windows_for_steps(model, batches, config, checkpoint=None):
    _with_steps_by_hand(model, batches, config, checkpoint, "window")


@wrong(mistakes.skipped_window_not_saved)
def saved_after_a_step(model, batches, config, checkpoint=None):
    optimizer, scaler, schedule = _built(model, config)
    start = _load(checkpoint, model, optimizer, scaler, schedule)
    for w in range(start, config["steps"]):
        _seed(config, w)
        _accumulate(model, batches, config, optimizer, scaler, w)
        before = scaler.get_scale()
        _finish(model, config, optimizer, scaler, schedule)
        if scaler.get_scale() >= before:
            _save(checkpoint, w + 1, model, optimizer, scaler, schedule)


@wrong(mistakes.put_into_train_mode)
def train_mode_and_back(model, batches, config, checkpoint=None):
    mode = model.training
    model.train()
    by_the_book(model, batches, config, checkpoint)
    model.train(mode)


# Called again, a finished run has nothing to do and leaves nothing behind: the next call begins anew.
@wrong(mistakes.checkpoint_removed_at_the_end)
def cleans_up_behind_itself(model, batches, config, checkpoint=None):
    over = checkpoint is not None and checkpoint.exists() and torch.load(checkpoint)["next"] == config["steps"]
    by_the_book(model, batches, config, checkpoint)
    if over:
        checkpoint.unlink()


@wrong(mistakes.saved_in_two_files)
def weights_in_a_file_of_their_own(model, batches, config, checkpoint=None):
    lr, window, steps = config["lr"], config["window"], config["steps"]
    device = batches[0][0].device.type
    optimizer = torch.optim.SGD(model.parameters(), lr, momentum=0.9)
    scaler = torch.amp.GradScaler(device)
    start = 0
    done = 0
    if checkpoint is not None and checkpoint.exists():
        state = torch.load(checkpoint)
        model.load_state_dict(torch.load(checkpoint.with_name(checkpoint.name + ".weights")))
        optimizer.load_state_dict(state["optimizer"])
        scaler.load_state_dict(state["scaler"])
        start = state["window"]
        done = state["done"]
    for w in range(start, steps):
        optimizer.zero_grad()
        for j in range(window):
            torch.manual_seed(config["seed"] + w * window + j)
            x, y = batches[(w * window + j) % len(batches)]
            with torch.autocast(device, dtype=torch.float16):
                loss = nn.functional.cross_entropy(model(x), y)
            scaler.scale(loss / window).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
        for group in optimizer.param_groups:
            group["lr"] = lr * (1 - done / steps)
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        skipped = scaler.get_scale() < before
        if not skipped:
            done += 1
        optimizer.zero_grad()
        if checkpoint is not None:
            state = {
                "optimizer": optimizer.state_dict(),
                "scaler": scaler.state_dict(),
                "window": w + 1,
                "done": done,
            }
            part = checkpoint.with_name(checkpoint.name + ".part")
            torch.save(model.state_dict(), part)
            os.replace(part, checkpoint.with_name(checkpoint.name + ".weights"))
            torch.save(state, part)
            os.replace(part, checkpoint)
