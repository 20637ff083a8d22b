"""The ledger as an instrument: it changes nothing, keeps nothing alive, leaves torch as it was, and speaks clearly."""

from __future__ import annotations

import copy
import gc
import json
import random
import subprocess
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from gradient_ledger import Event, GradientLedger, closelook, told
from gradient_ledger.events import Backward, Forward, Step
from gradient_ledger.taps import _open


def model_and_data(seed: int = 0) -> tuple[nn.Sequential, list[tuple[Tensor, Tensor]]]:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 2))
    return model, [(torch.randn(5, 6), torch.randn(5, 2)) for _ in range(8)]


def train(
    model: nn.Module,
    batches: list[tuple[Tensor, Tensor]],
    make: Callable[[Any], torch.optim.Optimizer],
    *,
    window: int = 2,
    zeros: bool = False,
    clip: bool = True,
    amp: bool = False,
) -> list[float]:
    optimizer = make(model.parameters())
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**17, enabled=amp)
    losses = []
    for i, (x, y) in enumerate(batches):
        with torch.autocast("cpu", dtype=torch.float16, enabled=amp):
            loss = nn.functional.mse_loss(model(x), y) / window
        scaler.scale(loss).backward()
        losses.append(loss.item())
        if (i + 1) % window == 0:
            if clip:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()
            optimizer.zero_grad(set_to_none=not zeros)
    return losses


def steps(model: nn.Module, batches: list[tuple[Tensor, Tensor]], lr: float = 0.1) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "foreach": lambda p: torch.optim.AdamW(p, lr=0.01, foreach=True),
    "fused": lambda p: torch.optim.AdamW(p, lr=0.01, fused=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
}


pytest_plugins = ["pytester"]


# ------------------------------------------------------------------ it never changes training


@pytest.mark.parametrize("digests", [False, True])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("amp", [False, True])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_is_bit_identical_with_and_without(optimizer: str, amp: bool, zeros: bool, digests: bool) -> None:
    results = []
    for watched in (False, True):
        random.seed(0)
        model, batches = model_and_data()
        if watched:
            with GradientLedger(digests=digests) as ledger:
                losses = train(model, batches, OPTIMIZERS[optimizer], zeros=zeros, amp=amp)
            assert not ledger.trouble
            assert sum(event.kind in ("step", "skipped step") for event in ledger.events) == 4
        else:
            losses = train(model, batches, OPTIMIZERS[optimizer], zeros=zeros, amp=amp)
        state = {name: value.clone() for name, value in model.state_dict().items()}
        grads = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
        results.append((losses, state, grads, torch.random.get_rng_state(), random.getstate()))
    (plain_losses, plain, plain_grads, rng, python), (losses, state, grads, rng_after, python_after) = results
    assert losses == plain_losses
    assert all(torch.equal(plain[name], state[name]) for name in plain)
    assert all(
        (a is None) == (b is None) and (a is None or torch.equal(a, b)) for a, b in zip(plain_grads, grads, strict=True)
    )
    assert torch.equal(rng, rng_after) and python == python_after


def test_a_reference_draws_no_random_numbers_and_leaves_no_gradient() -> None:
    model, batches = model_and_data()
    model.eval()
    at: list[tuple[Tensor, Tensor]] = []

    def reference() -> dict[str, Tensor]:
        torch.randn(3), random.random()
        (x, y), names = at[-1], dict(model.named_parameters())
        grads = torch.autograd.grad(nn.functional.mse_loss(model(x), y), list(names.values()))
        return dict(zip(names, grads, strict=True))

    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = torch.random.get_rng_state(), random.getstate()
    with GradientLedger(reference=reference) as ledger:
        for x, y in batches:
            at.append((x, y))
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    assert torch.equal(before[0], torch.random.get_rng_state()) and before[1] == random.getstate()
    checks = [event.reference for event in ledger.events if isinstance(event, Step)]
    assert len(checks) == 8 and all(check.right for check in checks)
    ledger.assert_clean()


def test_the_gradient_of_a_parameter_of_a_subclass_keeps_its_type() -> None:
    class Own(Tensor):
        pass

    def kinds() -> list[type]:
        parameter = nn.Parameter(torch.ones(2).as_subclass(Own))
        parameter.square().sum().backward()
        return [type(parameter), type(parameter.grad)]

    plain = kinds()
    with GradientLedger():
        assert kinds() == plain
    assert kinds() == plain


def torch_as_it_is() -> list[object]:
    """Everything the taps touch, as it stands now."""
    from torch.nn.modules import module
    from torch.optim import optimizer

    OPTIMIZERS["adamw"]([nn.Parameter(torch.zeros(1))])  # the first of a class makes torch wrap its step
    classes = [Tensor, torch.optim.Optimizer, nn.Module, torch.amp.GradScaler, torch.amp.autocast_mode.autocast]
    classes += [torch.optim.AdamW]
    names = ["grad", "__init__", "__call__", "zero_grad", "scale", "unscale_", "step", "update", "register_hook"]
    names += ["__enter__", "__exit__", "__iter__"]
    schedulers = [value for value in vars(torch.optim.lr_scheduler).values() if isinstance(value, type)]
    state: list[object] = [torch.autograd.backward]
    for owner in [*classes, DataLoader, *schedulers]:
        state += [vars(owner).get(name, "not its own") for name in names]
    state += [dict(module._global_forward_pre_hooks), dict(optimizer._global_optimizer_pre_hooks)]
    state += [dict(optimizer._global_optimizer_post_hooks), list(_open)]
    state.append(set(torch.overrides.get_default_nowrap_functions()))
    return state


def test_torch_is_left_as_it_was() -> None:
    before = torch_as_it_is()
    model, batches = model_and_data()
    with GradientLedger():
        assert torch_as_it_is() != before
        train(model, batches, OPTIMIZERS["adamw"])
    assert torch_as_it_is() == before
    assert all(not p._backward_hooks for p in model.parameters())
    assert all(not getattr(p, "_post_accumulate_grad_hooks", None) for p in model.parameters())


def test_torch_is_left_as_it_was_after_an_exception() -> None:
    before = torch_as_it_is()
    model, batches = model_and_data()
    ledger = GradientLedger()
    with pytest.raises(ZeroDivisionError), ledger:
        steps(model, batches[:2])
        raise ZeroDivisionError
    assert torch_as_it_is() == before
    assert sum(event.kind == "step" for event in ledger.events) == 2


def test_torch_is_left_as_it_was_after_a_generator_is_dropped() -> None:
    before = torch_as_it_is()
    model, batches = model_and_data()

    def watched() -> Iterator[int]:
        with GradientLedger():
            for number in range(3):
                steps(model, batches[:1])
                yield number

    run = watched()
    next(run)
    assert torch_as_it_is() != before
    run.close()
    assert torch_as_it_is() == before


def test_ledgers_nest_and_may_close_in_any_order() -> None:
    before = torch_as_it_is()
    model, batches = model_and_data()
    outer, inner = GradientLedger(), GradientLedger()
    outer.__enter__()
    steps(model, batches[:1])
    inner.__enter__()
    steps(model, batches[:2])
    outer.__exit__(None, None, None)
    steps(model, batches[:3])
    inner.__exit__(None, None, None)
    assert torch_as_it_is() == before
    assert [sum(event.kind == "step" for event in one.events) for one in (outer, inner)] == [3, 5]


def test_a_failing_backward_and_a_failing_step_do_not_blind_it() -> None:
    model, batches = model_and_data()

    class Broken(torch.optim.SGD):
        fails = True

        def step(self, closure: Any = None) -> Any:
            if self.fails:
                raise ArithmeticError
            return super().step(closure)

    optimizer = Broken(model.parameters(), lr=0.1)
    x, y = batches[0]
    with GradientLedger() as ledger:
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        with pytest.raises(RuntimeError):
            loss.backward()
        with pytest.raises(ArithmeticError):
            optimizer.step()
        optimizer.fails = False
        optimizer.zero_grad()
        for x, y in batches[:3]:
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
    done = [event for event in ledger.events if isinstance(event, Step) and event.fresh]
    assert len(done) >= 3
    assert done[-1].passes == 1


# ------------------------------------------------------------------ nothing is kept alive


def test_nothing_is_kept_alive() -> None:
    model, batches = model_and_data()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    with GradientLedger(digests=True) as ledger:
        x, y = batches[0]
        output = model(x)
        loss = nn.functional.mse_loss(output, y)
        loss.backward(retain_graph=True)
        grads = [weakref.ref(p.grad) for p in model.parameters() if p.grad is not None]
        graph = weakref.ref(loss), weakref.ref(output)
        optimizer.step()
        del loss, output
        assert [ref() for ref in graph] == [None, None]
        optimizer.zero_grad()
        assert [ref() for ref in grads if ref() is not None] == []
        parts = weakref.ref(model), weakref.ref(optimizer), weakref.ref(model[0].weight)
        del model, optimizer
        gc.collect()
        assert [ref() for ref in parts] == [None, None, None]
    assert ledger.events


def test_a_model_under_watch_can_be_copied_and_saved(tmp_path: Any) -> None:
    model, batches = model_and_data()
    with GradientLedger():
        steps(model, batches[:2])
        twin = copy.deepcopy(model)
        torch.save(model, tmp_path / "model.pt")
        torch.save(model.state_dict(), tmp_path / "state.pt")
    back = torch.load(tmp_path / "model.pt", weights_only=False)
    for a, b, c in zip(model.parameters(), twin.parameters(), back.parameters(), strict=True):
        assert torch.equal(a, b) and torch.equal(a, c)


def test_a_long_run_keeps_few_events_and_still_sees_what_is_new() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(4, 3), torch.randn(4, 1)
    with GradientLedger() as ledger:
        for step in range(1500):
            if step not in (1200, 1201, 1202):
                optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    assert len(ledger.events) < 2500
    assert ledger.log.dropped > 1000
    assert [finding.misconception for finding in ledger.findings()] == ["zeroed-once-per-epoch"]


# ------------------------------------------------------------------ what it watches


def test_it_finds_models_and_optimizers_by_itself_or_watches_what_it_is_given() -> None:
    (first, batches), (second, _) = model_and_data(0), model_and_data(1)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (first, second)]

    def loop() -> None:
        for x, y in batches:
            for model, optimizer in zip((first, second), optimizers, strict=True):
                nn.functional.mse_loss(model(x), y).backward()
                optimizer.step()
                if model is first:
                    optimizer.zero_grad()

    with GradientLedger() as everything:
        loop()
    with GradientLedger(first, optimizers[0]) as one:
        loop()
    with GradientLedger([second], None) as other:
        loop()
    assert [f.misconception for f in everything.findings()] == ["one-of-two-optimizers-zeroed"]
    assert one.findings() == []
    assert {name for event in one.events for name in event.names} == {name for name, _ in first.named_parameters()}
    assert [f.misconception for f in other.findings()] == ["never-zeroed"]


def test_schedulers_and_scalers_may_be_watched_too() -> None:
    model, batches = model_and_data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    with GradientLedger(scheduler, torch.amp.GradScaler("cpu")) as ledger:
        x, y = batches[0]
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
    assert [event.kind for event in ledger.events if event.kind in ("step", "scheduler")] == ["step", "scheduler"]


def test_plain_tensors_in_an_optimizer_from_before_are_seen() -> None:
    weights = torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.SGD([weights], lr=0.1)
    with GradientLedger() as ledger:
        for _ in range(4):
            (weights - 1).square().sum().backward()
            optimizer.step()
    assert [finding.misconception for finding in ledger.findings()] == ["never-zeroed"]


def test_hand_written_steps_count_as_steps() -> None:
    for through_data in (False, True):
        model, batches = model_and_data()
        with GradientLedger() as ledger:
            for x, y in batches:
                nn.functional.mse_loss(model(x), y).backward()
                for p in model.parameters():
                    if through_data:
                        p.data -= 0.1 * p.grad.data
                    else:
                        with torch.no_grad():
                            p -= 0.1 * p.grad
        assert sum(event.kind == "step" for event in ledger.events) == 8
        assert [finding.misconception for finding in ledger.findings()] == ["never-zeroed"]


def test_a_divergence_may_be_asked_for_by_keywords() -> None:
    mean, one = nn.Parameter(torch.ones(2)), torch.ones(2)
    optimizer = torch.optim.SGD([mean], lr=0.1)
    with GradientLedger() as ledger:
        for _ in range(2):
            optimizer.zero_grad()
            code = torch.distributions.Normal(mean, one)
            code.sample()
            torch.distributions.kl_divergence(p=code, q=torch.distributions.Normal(0 * one, one)).sum().backward()
            optimizer.step()
    assert not ledger.trouble
    assert [finding.misconception for finding in ledger.findings()] == ["sampled-without-graph"]


class _Two(nn.Module):
    """Two layers, run by a `forward` of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.second(torch.tanh(self.first(x)))
        return result


class _Derived(_Two):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).square()


def _doubled(forward: Callable[[nn.Module, Tensor], Tensor]) -> Callable[[nn.Module, Tensor], Tensor]:
    def twice(self: nn.Module, x: Tensor) -> Tensor:
        return 2 * forward(self, x)

    return twice


class _Decorated(_Two):
    forward = _doubled(_Two.forward)


@pytest.mark.parametrize("judged", [False, True], ids=["at once", "after an evaluation"])
@pytest.mark.parametrize("by_itself", [False, True], ids=["called", "forward"])
@pytest.mark.parametrize("kind", [_Two, _Derived, _Decorated])
def test_a_model_has_run_whether_it_or_its_forward_was_called(
    kind: type[nn.Module], by_itself: bool, judged: bool
) -> None:
    model = kind()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with GradientLedger() as ledger:
        if judged:
            model.eval()
            with torch.no_grad():
                model(torch.randn(4, 3))
            model.train()
        for _ in range(9):  # closer looks among them, and windows of one rhythm
            for _ in range(2):
                x = torch.randn(4, 3)
                (model.forward(x) if by_itself else model(x)).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    assert not ledger.trouble
    calls = [one for one in ledger.log.events if isinstance(one, Forward) and one.grad]
    assert [one.model for one in calls] == [kind.__name__] * 18
    assert {one.where and Path(one.where.file).name for one in calls} == {Path(__file__).name}


def test_of_several_forwards_in_one_loss_a_derivative_needs_no_bias() -> None:
    net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters())

    def forward(t: Tensor, times: int = 1) -> Tensor:
        for _ in range(times):
            result: Tensor = net(t)
        return result

    def train_once(lost: bool) -> None:
        t = torch.rand(6, 1, requires_grad=True)
        (slope,) = torch.autograd.grad(forward(t).sum(), t, create_graph=True)
        start = forward(torch.zeros(1, 1), times=2 if lost else 1)
        optimizer.zero_grad()
        (slope.square().mean() + start.square().mean()).backward()
        optimizer.step()

    for lost in (False, True):
        with GradientLedger(net, optimizer) as ledger:
            train_once(lost)
            train_once(lost)
        found = {one.misconception for one in ledger.findings()}
        assert ("micro-batches-without-backward" in found) == lost


def test_the_names_of_two_models_are_told_apart_where_they_are_the_same() -> None:
    class Actor(nn.Module):
        def __init__(self, name: str) -> None:
            super().__init__()
            setattr(self, name, nn.Linear(2, 1))

        def forward(self, x: Tensor) -> Tensor:
            (layer,) = self.children()
            result: Tensor = layer(x)
            return result

    class Critic(Actor):
        pass

    def names(ledger: GradientLedger) -> list[str]:
        return [one.name for one in ledger.log.parameters]

    def train_once(actor: nn.Module, critic: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        optimizer.zero_grad()
        (actor(torch.ones(1, 2)) + critic(torch.ones(1, 2))).sum().backward()
        optimizer.step()

    for word, wanted in ("layer", "Actor.layer"), ("head", "head"):
        actor, critic = Actor(word), Critic("layer")
        optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
        with GradientLedger() as ledger:
            actor(torch.ones(1, 2))
            assert names(ledger) == [f"{word}.weight", f"{word}.bias"]  # one model alone needs no name
            for _ in range(2):
                train_once(actor, critic, optimizer)
                assert names(ledger) == [
                    f"{wanted}.weight",
                    f"{wanted}.bias",
                    "Critic.layer.weight",
                    "Critic.layer.bias",
                ]
        (used, *_) = [event for event in ledger.events if isinstance(event, Step)]
        assert used.names == tuple(names(ledger))


def test_training_in_another_thread_is_seen() -> None:
    model, batches = model_and_data()
    with GradientLedger() as ledger:
        worker = threading.Thread(target=steps, args=(model, batches))
        worker.start()
        worker.join()
    assert sum(event.kind == "step" for event in ledger.events) == 8
    assert ledger.findings() == []


def test_two_threads_do_not_mix() -> None:
    models = [model_and_data(seed) for seed in (0, 1)]
    with GradientLedger() as ledger:
        workers = [threading.Thread(target=steps, args=pair) for pair in models]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert not ledger.trouble
    assert sum(event.kind == "step" for event in ledger.events) == 16
    assert [f.misconception for f in ledger.findings() if f.severity != "info"] == []


def test_threads_that_train_side_by_side_do_not_end_the_process() -> None:
    """In a process of its own: a gradient read while another thread's backward writes it is a crash, no exception."""
    script = """if True:
        import sys, threading, torch
        from torch import nn
        from gradient_ledger import GradientLedger

        def work(seed):
            model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            for _ in range(300):
                optimizer.zero_grad()
                model(torch.ones(4, 8)).square().mean().backward()
                optimizer.step()

        sys.setswitchinterval(1e-5)
        with GradientLedger() as ledger:
            workers = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        print(ledger.trouble or "no trouble", [f.misconception for f in ledger.findings()])
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "no trouble []\n"), done.stderr[-2000:]


def test_a_compiled_model_is_watched() -> None:
    model, batches = model_and_data()
    compiled = torch.compile(model, backend="aot_eager")
    with GradientLedger() as ledger:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in batches[:3]:
            nn.functional.mse_loss(compiled(x), y).backward()
            optimizer.zero_grad()
            optimizer.step()
    assert [finding.misconception for finding in ledger.findings()] == ["zeroed-before-step"]


def test_a_compiled_training_step_is_watched_and_dynamo_is_left_as_it_was() -> None:
    import torch._dynamo.trace_rules as rules

    before = list(rules.SKIP_DIRS), rules.SKIP_DIRS_RE
    model, batches = model_and_data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def whole(x: Tensor, y: Tensor) -> None:
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    with GradientLedger() as ledger:
        compiled = torch.compile(whole, backend="eager")
        for x, y in batches[:4]:
            compiled(x, y)
    torch._dynamo.reset()
    assert not ledger.trouble
    assert sum(event.kind == "step" for event in ledger.events) == 4
    assert [finding.misconception for finding in ledger.findings()] == ["never-zeroed"]
    assert (list(rules.SKIP_DIRS), rules.SKIP_DIRS_RE) == before


# ------------------------------------------------------------------ what it says


KINDS = {
    "forward",
    "backward",
    "accumulate",
    "clear",
    "clip",
    "edit",
    "unscale",
    "step",
    "skipped step",
    "scheduler",
    "scaler update",
    "pass over data",
}


@pytest.mark.parametrize("unscaled", [True, False])
def test_clipping_by_hand_is_right_after_unscaling_and_wrong_before(unscaled: bool) -> None:
    model, batches = model_and_data()
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cpu", init_scale=1024.0)
    with GradientLedger() as ledger:
        for x, y in batches:
            scaler.scale(nn.functional.mse_loss(model(x), y)).backward()
            if unscaled:
                scaler.unscale_(optimizer)
            norm = float(sum(p.grad.square().sum() for p in model.parameters() if p.grad is not None) ** 0.5)
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.mul_(min(1.0, (0.1 if unscaled else 100.0) / norm))
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    found = [finding.misconception for finding in ledger.findings()]
    assert found == ([] if unscaled else ["clipped-before-unscale"])


def test_every_kind_of_event_is_written_down_with_its_line() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    loader = DataLoader(TensorDataset(torch.randn(8, 3), torch.randn(8, 1)), batch_size=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    with GradientLedger() as ledger:
        for number, (x, y) in enumerate(loader):
            loss = nn.functional.mse_loss(model(x), y)
            scaler.scale(loss * (float("inf") if number else 1.0)).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            model.weight.grad.mul_(0.5)
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()
            optimizer.zero_grad()
    assert {event.kind for event in ledger.events} == KINDS
    for event in ledger.events:
        assert isinstance(event, Event)
        assert event.where is not None and event.where.file == __file__, event
    by_kind: dict[str, Event] = {}
    for event in ledger.events:
        by_kind.setdefault(event.kind, event)
    said = {
        "unscale": "scaler.unscale_",
        "clip": "clip_grad_norm_",
        "edit": "mul_(0.5)",
        "step": "scaler.step",
        "clear": "zero_grad",
        "scheduler": "scheduler.step",
        "backward": ".backward()",
        "pass over data": "for number",
    }
    for kind, text in said.items():
        assert by_kind[kind].where is not None and text in by_kind[kind].where.code, kind
    assert by_kind["step"].names == ("weight", "bias")
    step = by_kind["step"]
    assert isinstance(step, Step) and step.norm is not None and step.norm > 0


def test_report_table_json_html_and_picture() -> None:
    model, batches = model_and_data()
    model.eval()
    with GradientLedger(window=4) as ledger:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for i, (x, y) in enumerate(batches):
            optimizer.zero_grad()  # the mistake
            (nn.functional.mse_loss(model(x), y) / 4).backward()
            if (i + 1) % 4 == 0:
                optimizer.step()
    (finding,) = [one for one in ledger.findings() if one.severity == "error"]
    assert finding.misconception == "zeroed-inside-window"
    assert finding.where is not None and "the mistake" in finding.where.code
    assert finding.evidence["lost"] == 6 and finding.evidence["used"] == 2
    text = str(ledger)
    assert "zeroed-inside-window" in text and "test_ledger.py:" in text and finding.remedy[:30] in text
    assert "(!clear forward backward)×4 step" in ledger.timeline() or "(!clear forward backward)×4 step" in text
    table = ledger.table(windows=1)
    assert "threw away 1 backward pass" in table and "clear" in table
    plain = json.loads(ledger.as_json())
    assert plain["findings"][0]["misconception"] == "zeroed-inside-window"
    assert plain["findings"][0]["where"]["line"] == finding.where.line
    assert len(plain["events"]) == len(ledger.events)
    assert "events" not in json.loads(ledger.as_json(events=False))
    html = ledger._repr_html_()
    assert "zeroed-inside-window" in html and "<section" in html
    figure = ledger.plot()
    assert figure is not None
    alt = figure.alternative_text
    assert "Window 1: 4 backward passes" in alt and "cleared in the middle of a window" in alt
    with pytest.raises(AssertionError, match="zeroed-inside-window"):
        ledger.assert_clean()


def test_a_clear_in_a_helper_is_told_with_the_loop_that_calls_it() -> None:
    model, batches = model_and_data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def start_anew() -> None:
        optimizer.zero_grad()

    def epoch() -> None:
        for at in range(0, len(batches), 2):
            for x, y in batches[at : at + 2]:
                (nn.functional.mse_loss(model(x), y) / 2).backward()
                start_anew()  # the call
            optimizer.step()

    with GradientLedger() as ledger:
        epoch()
    found = [one for one in ledger.findings() if one.where is not None and "zero_grad()" in one.where.code]
    assert found, ledger.findings()
    assert all(one.called_at is not None and one.called_at.code.endswith("# the call") for one in found)


def test_a_line_in_a_helper_is_told_with_the_loop_that_calls_it() -> None:
    model, batches = model_and_data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def update(x: Tensor, y: Tensor) -> None:
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()  # nothing is cleared

    def epoch() -> None:
        for x, y in batches:
            update(x, y)  # the call

    with GradientLedger() as ledger:
        epoch()
    (finding,) = [one for one in ledger.findings() if one.severity == "error"]
    assert finding.misconception == "never-zeroed" and finding.where is not None and finding.called_at is not None
    assert "backward()" in finding.where.code and finding.called_at.code.endswith("# the call")
    assert f"called at {finding.called_at}  update(x, y)" in str(ledger)
    assert json.loads(ledger.as_json())["findings"][0]["called_at"]["line"] == finding.called_at.line
    assert str(finding.called_at) in ledger._repr_html_()
    with GradientLedger() as ledger:
        epoch()
        for x, y in batches:
            update(x, y)
    assert {one.called_at for one in ledger.findings()} == {None}, "two loops call it"
    with GradientLedger() as ledger:
        for x, y in batches:
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    assert {one.called_at for one in ledger.findings()} == {None}, "the loop is its own"


def test_further_lines_of_a_finding_are_told_with_their_text() -> None:
    model, batches = model_and_data()
    with GradientLedger() as ledger:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)  # made
        for _ in range(4):
            for x, y in batches:
                optimizer.zero_grad()
                nn.functional.mse_loss(model(x), y).backward()
                optimizer.step()
                schedule.step()
    (finding,) = ledger.findings()
    ((words, made),) = finding.beside
    assert (finding.misconception, words) == ("schedule-on-another-clock", "made at")
    assert made.code.endswith("# made") and finding.where is not None and finding.where.code == "schedule.step()"
    assert f"       made at {made}  {made.code}" in str(ledger)
    assert "Made at:" in ledger._repr_html_() and str(made) in ledger._repr_html_()
    assert json.loads(ledger.as_json())["findings"][0]["evidence"]["made_at"]["line"] == made.line
    assert replace(finding, where=made).beside == () == replace(finding, called_at=made).beside, "told already"


def test_an_eval_in_a_helper_is_told_with_the_loop_that_calls_it() -> None:
    model, batches = model_and_data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.no_grad()
    def validate() -> None:
        model.eval()
        model(batches[0][0])

    with GradientLedger() as ledger:
        for _ in range(3):
            for x, y in batches:
                optimizer.zero_grad()
                nn.functional.mse_loss(model(x), y).backward()
                optimizer.step()
            validate()  # the call
    (finding,) = ledger.findings()
    assert finding.misconception == "trained-in-eval-mode" and finding.called_at is not None
    assert finding.called_at.code.endswith("# the call")


def test_files_are_written_whole(tmp_path: Any) -> None:
    model, batches = model_and_data()
    with GradientLedger() as ledger:
        steps(model, batches[:2])
    ledger.save(tmp_path / "ledger.json")
    ledger.plot(path=tmp_path / "ledger.png")
    assert json.loads((tmp_path / "ledger.json").read_text())["steps"] == 2
    assert (tmp_path / "ledger.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.json", "ledger.png"]


def test_findings_may_be_asked_while_it_is_open() -> None:
    model, batches = model_and_data()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with GradientLedger() as ledger:
        for x, y in batches[:4]:
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            if ledger.findings():
                break
    assert sum(event.kind == "step" for event in ledger.events) == 2


def test_an_empty_ledger_says_so() -> None:
    with GradientLedger() as ledger:
        pass
    assert "no optimizer step was seen" in str(ledger)
    assert ledger.findings() == [] and ledger.table() and ledger.timeline() == ""
    assert ledger.plot() is not None
    ledger.assert_clean()


# ------------------------------------------------------------------ what is asked of it wrongly


def test_wrong_arguments_get_clear_errors() -> None:
    with pytest.raises(TypeError, match="watches modules, optimizers.*got str"):
        GradientLedger("model")
    for window in (0, -1, 2.5, True, "4"):
        with pytest.raises(ValueError, match="window is the number of micro-batches"):
            GradientLedger(window=window)
    with pytest.raises(TypeError, match="reference is a function"):
        GradientLedger(reference={"weight": torch.zeros(1)})
    ledger = GradientLedger()
    with ledger:
        pass
    with pytest.raises(RuntimeError, match="make a new GradientLedger"), ledger:
        pass


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        ([torch.zeros(1)], TypeError, "must return a dict of parameter names"),
        ({"weight": 1.0}, TypeError, "must return a dict of parameter names"),
        ({"weight": torch.zeros(7)}, ValueError, r"gives weight the shape \(7,\), the parameter has \(1, 3\)"),
    ],
)
def test_a_reference_that_returns_nonsense_is_told_so(returned: Any, error: type[Exception], message: str) -> None:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(error, match=message), GradientLedger(reference=lambda: returned):
        model(torch.zeros(2, 3)).sum().backward()
        optimizer.step()


def test_a_fault_of_its_own_never_stops_training(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradient_ledger import steps as recording

    def broken(*_: Any, **__: Any) -> None:
        raise LookupError("a fault of the ledger's own")

    monkeypatch.setattr(recording, "tally", broken)
    model, batches = model_and_data()
    with GradientLedger() as ledger:
        steps(model, batches)
    assert "a fault of the ledger's own" in ledger.trouble
    assert "The ledger itself failed" in str(ledger)
    with pytest.raises(AssertionError, match="the ledger itself failed"):
        ledger.assert_clean()


# ------------------------------------------------------------------ as a fixture


def test_the_pytest_fixture_passes_and_fails_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import torch
        from torch import nn

        def loop(clear):
            model = nn.Linear(3, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(4):
                if clear:
                    optimizer.zero_grad()
                model(torch.ones(2, 3)).sum().backward()
                optimizer.step()

        def test_clean(gradient_ledger):
            loop(True)

        def test_faulty(gradient_ledger):
            loop(False)

        def test_faulty_but_expected(gradient_ledger):
            loop(False)
            assert [f.misconception for f in gradient_ledger.findings()] == ["never-zeroed"]
            gradient_ledger.expected("never-zeroed")
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["*never-zeroed*"])


def test_an_optimizer_that_a_helper_returns_is_said_to_be_made_where_the_helper_was_called() -> None:
    def helper(model: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.SGD(model.parameters(), lr=0.1)

    with GradientLedger() as ledger:
        models = [nn.Linear(2, 1), nn.Linear(2, 1)]
        first = helper(models[0])
        second = helper(models[1])
        for optimizer, model in zip((first, second), models, strict=True):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
    places = [one.made_at for one in ledger.log.optimizers]
    assert [place.code for place in places if place] == ["first = helper(models[0])", "second = helper(models[1])"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (partial(torch.optim.SGD, lr=0.1), "found zeros and did nothing."),
        (partial(torch.optim.SGD, lr=0.1, weight_decay=0.1), "so only weight decay moved the parameters."),
        (partial(torch.optim.SGD, lr=0.1, momentum=0.9), "so only momentum could move the parameters."),
        (partial(torch.optim.RMSprop, lr=0.1), "found zeros and did nothing."),
        (partial(torch.optim.AdamW, lr=0.1), "so only momentum and weight decay could move the parameters."),
    ],
)
def test_what_moves_parameters_on_zeros_is_said_of_the_optimizer_at_hand(make: Any, says: str) -> None:
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    optimizer = make(model.parameters())
    with GradientLedger(model, optimizer) as ledger:
        for _ in range(3):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.zero_grad(set_to_none=False)
            optimizer.step()
    (found,) = ledger.findings()
    assert found.misconception == "zeroed-before-step"
    assert found.text.endswith(says)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x).relu())


def test_the_parameters_of_a_model_that_is_gone_are_called_by_its_names() -> None:
    def left_behind() -> torch.optim.Optimizer:
        model = Net()
        first = torch.optim.SGD(model.body.parameters(), lr=0.1)
        first.add_param_group({"params": list(model.head.parameters())})
        torch.optim.SGD(model.parameters(), lr=0.1)  # a second one finds the same names
        return first

    paths = ["body.weight", "body.bias", "head.weight", "head.bias"]
    with GradientLedger() as ledger:
        held = [left_behind(), left_behind()]
        models = [nn.Linear(3, 3), Net()]
        held.append(torch.optim.SGD([p for model in models for p in model.parameters()], lr=0.1))
        models[1](models[0](torch.ones(2, 3))).sum().backward()
        for optimizer in held:
            optimizer.step()
    gone = [f"{label}.{path}" for label in ("Net", "Net2") for path in paths]
    assert [one.name for one in ledger.log.parameters] == [
        *gone,
        "weight",
        "bias",
        *(f"Net3.{path}" for path in paths),
    ]


def test_the_users_modules_are_those_that_are_loaded_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of an earlier script, though as many modules are loaded as then."""
    (tmp_path / "train.py").touch()
    state: Any = types.SimpleNamespace(journal=types.SimpleNamespace(files=lambda: [str(tmp_path / "train.py")]))
    for name in ("models", "losses"):
        module = types.ModuleType("of_the_script")
        module.__file__ = str(tmp_path / f"{name}.py")
        monkeypatch.setitem(sys.modules, "of_the_script", module)
        assert closelook.own_files(state) == [str(tmp_path / "train.py"), module.__file__]


def test_a_script_that_is_loaded_under_two_names_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked for in all files, and stands in one line, stands in one."""
    script = tmp_path / "train.py"
    script.touch()
    state: Any = types.SimpleNamespace(journal=types.SimpleNamespace(files=lambda: [str(script)]))
    module = types.ModuleType("__mp_main__")
    module.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__mp_main__", module)
    assert closelook.own_files(state) == [str(script)]


def test_a_text_that_cannot_be_read_costs_one_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is there all the same, and says that something failed."""

    def fails(files: tuple[str, ...]) -> None:
        raise TypeError("a text in a form that nobody has thought of")

    monkeypatch.setitem(told.WHERE_IT_TRAINS, "set_twice", fails)
    monkeypatch.setattr(told.uncalled, "facts", lambda state, files: fails(files))
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with GradientLedger() as ledger:
        for _ in range(3):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
    assert [one.misconception for one in ledger.findings()] == ["never-zeroed"]
    assert ledger.trouble.count("TypeError: a text in a form") == 2
    assert "The ledger itself failed" in str(ledger)
    assert ledger.log.set_twice == ()


def test_what_is_no_file_brings_no_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell of a notebook has a name, and no folder whose modules would be its own."""
    monkeypatch.chdir(tmp_path)
    state: Any = types.SimpleNamespace(journal=types.SimpleNamespace(files=lambda: ["cell_1.py"]))
    module = types.ModuleType("beside_it")
    module.__file__ = str(tmp_path / "beside_it.py")
    monkeypatch.setitem(sys.modules, "beside_it", module)
    assert closelook.own_files(state) == ["cell_1.py"]
    (tmp_path / "cell_1.py").touch()
    assert closelook.own_files(state) == ["cell_1.py", module.__file__]


def test_parameters_that_take_the_places_of_others_in_a_group_are_those_that_are_stepped() -> None:
    model = nn.Linear(3, 2).bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    with GradientLedger(model, optimizer) as ledger:
        mains = []
        for at, param in enumerate(optimizer.param_groups[0]["params"]):
            optimizer.param_groups[0]["params"][at] = main = param.detach().clone().float()
            mains.append((param, main))
        for _ in range(3):
            model(torch.ones(4, 3, dtype=torch.bfloat16)).float().square().mean().backward()
            for param, main in mains:
                main.grad, param.grad = param.grad.float(), None
            optimizer.step()
            for param, main in mains:
                param.data.copy_(main)
    owners = {one.name: one.owners for one in ledger.log.parameters}
    assert owners == {
        "weight": (),
        "bias": (),
        "weight as AdamW holds it": (0,),
        "bias as AdamW holds it": (0,),
    }
    steps = [one for one in ledger.events if isinstance(one, Step)]
    assert [(len(one.fresh) if isinstance(one.fresh, tuple) else one.fresh, one.assigned) for one in steps] == [
        (2, True)
    ] * 3
    assert not ledger.findings()
    assert not ledger.trouble


@pytest.mark.parametrize("same", [True, False])
def test_losses_that_two_passes_share_are_told_from_a_whole_loss_that_comes_again(same: bool) -> None:
    weight = nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    with GradientLedger(optimizer) as ledger:
        shared, total = (weight * 2).square().mean(), torch.zeros(())
        for number in range(3):
            mine = (weight * number).square().mean()
            total = total + mine
            (((total if same else mine) + shared) / 3).backward(retain_graph=number < 2)
        optimizer.step()
    passes = [one for one in ledger.events if isinstance(one, Backward)]
    assert [set(one.again) for one in passes] == [set(), {1}, {1, 2}]
    assert [set(one.again_partly) for one in passes] == [set(), set() if same else {1}, set() if same else {1, 2}]
