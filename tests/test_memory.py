"""Snapshots and ties that share memory, weights of a loss that nobody steps, and scales that change at a bad moment."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gradient_ledger import GradientLedger


def train(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int = 3) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()


def found(ledger: GradientLedger) -> list[str]:
    assert not ledger.trouble, ledger.trouble
    return [one.misconception for one in ledger.findings() if one.severity != "info"]


# ------------------------------------------------------------------ snapshots

ALIASES: dict[str, Callable[[nn.Module], Any]] = {
    "as it is": lambda model: model.state_dict(),
    "shallow copy": lambda model: model.state_dict().copy(),
    "another dictionary": lambda model: dict(model.state_dict()),
    "to the device it is on": lambda model: {name: value.cpu() for name, value in model.state_dict().items()},
}
COPIES: dict[str, Callable[[nn.Module], Any]] = {
    "deep copy": lambda model: copy.deepcopy(model.state_dict()),
    "clones": lambda model: {name: value.clone() for name, value in model.state_dict().items()},
    "another dtype": lambda model: {name: value.double() for name, value in model.state_dict().items()},
    "of another model": lambda model: copy.deepcopy(model).state_dict(),
}


def kept_and_loaded(keep: Callable[[nn.Module], Any], steps: int = 3) -> GradientLedger:
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    optimizer = torch.optim.Adam(model.parameters())
    with GradientLedger() as ledger:
        train(model, optimizer)
        kept = keep(model)
        train(model, optimizer, steps)
        model.load_state_dict(kept)
    return ledger


@pytest.mark.parametrize("how", ALIASES)
def test_a_snapshot_that_is_no_copy_is_found_where_it_is_loaded(how: str) -> None:
    assert found(kept_and_loaded(ALIASES[how])) == ["snapshot-shares-memory"]


@pytest.mark.parametrize("how", ALIASES)
def test_no_step_has_changed_what_is_loaded_at_once(how: str) -> None:
    assert found(kept_and_loaded(ALIASES[how], steps=0)) == []


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_is_loaded_as_it_was(how: str) -> None:
    assert found(kept_and_loaded(COPIES[how])) == []


@pytest.mark.parametrize("changed", ["weights", "snapshot"])
def test_what_somebody_writes_into_the_weights_last_is_meant_to_be_there(changed: str) -> None:
    model = nn.Linear(4, 1)
    with GradientLedger() as ledger:
        kept = model.state_dict()
        train(model, torch.optim.Adam(model.parameters()))
        with torch.no_grad():
            for one in kept.values() if changed == "snapshot" else model.parameters():
                one.mul_(0.5)
        model.load_state_dict(kept)
    assert found(ledger) == []


def test_a_snapshot_does_not_keep_a_model_alive() -> None:
    with GradientLedger():
        model = nn.Linear(4, 1)
        kept = model.state_dict()
        gone = weakref.ref(model), weakref.ref(kept["weight"])
        del model, kept
        gc.collect()
        assert [one() for one in gone] == [None, None]


# ------------------------------------------------------------------ ties


def tied(make: Callable[[list[Tensor]], Any], transposed: bool = False) -> list[str]:
    first, last = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
    last.weight.data = first.weight.data.t() if transposed else first.weight.data
    model = nn.Sequential(first, nn.Tanh(), last)
    with GradientLedger() as ledger:
        train(model, make(list(model.parameters())))
    return found(ledger)


@pytest.mark.parametrize("transposed", [False, True])
def test_two_parameters_in_one_place_are_stepped_twice(transposed: bool) -> None:
    assert tied(torch.optim.Adam, transposed) == ["parameters-share-memory"]
    assert tied(lambda given: torch.optim.SGD(given, lr=0.1, weight_decay=0.1)) == ["parameters-share-memory"]


class LoggedSGD(torch.optim.SGD):
    def step(self, closure: Any = None) -> Any:
        self.taken = getattr(self, "taken", 0) + 1
        return super().step(closure)


class OwnSGD(torch.optim.SGD):
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                p.data.sub_(p.grad.sign(), alpha=group["lr"])


def test_two_steps_of_plain_sgd_are_one_by_the_sum() -> None:
    assert tied(lambda given: torch.optim.SGD(given, lr=0.1, momentum=0.9)) == []
    assert tied(lambda given: LoggedSGD(given, lr=0.1)) == []
    assert tied(lambda given: OwnSGD(given, lr=0.1)) == ["parameters-share-memory"]


@pytest.mark.parametrize("decayed", ["others", "twins"])
def test_the_groups_of_the_twins_tell_whether_they_decay(decayed: str) -> None:
    others = [nn.Parameter(torch.ones(2))]

    def make(given: list[Tensor]) -> Any:
        twins, rest = {"params": given}, {"params": others}
        (twins if decayed == "twins" else rest)["weight_decay"] = 0.1
        return torch.optim.SGD([rest, twins], lr=0.1, weight_decay=0.0)

    assert tied(make) == (["parameters-share-memory"] if decayed == "twins" else [])


def test_a_twin_that_stands_still_moves_nothing() -> None:
    def make(given: list[Tensor]) -> Any:
        return torch.optim.AdamW([{"params": given[:1]}, {"params": given[1:], "lr": 0.0}], lr=0.1)

    assert tied(make) == []


def test_an_optimizer_that_holds_one_of_the_two_moves_it_once() -> None:
    assert tied(lambda given: torch.optim.Adam(given[:1])) == []


def test_slices_of_one_buffer_are_in_different_places() -> None:
    flat = torch.randn(2, 4, 4)
    model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    model[0].weight, model[1].weight = nn.Parameter(flat[0]), nn.Parameter(flat[1])
    with GradientLedger() as ledger:
        train(model, torch.optim.Adam(model.parameters()))
    assert found(ledger) == []


# ------------------------------------------------------------------ weights of a loss


def weighted(
    act: Callable[[Tensor, int], Any] = lambda weight, step: None, watch: bool = True
) -> tuple[list[str], Any]:
    """Train with a weight of the loss that is no parameter of the model."""
    torch.manual_seed(0)
    model, weight = nn.Linear(4, 1), torch.zeros((), requires_grad=True)
    optimizer = torch.optim.Adam(model.parameters())

    def loop() -> None:
        for step in range(20):
            loss = weight.exp() * model(torch.randn(8, 4)).square().mean() - weight
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            act(weight, step)

    if not watch:
        loop()
        return [], [weight.grad, *model.parameters()]
    with GradientLedger() as ledger:
        loop()
    return found(ledger), [weight.grad, *model.parameters()]


def test_a_weight_of_a_loss_that_nobody_steps_is_found_and_changes_nothing() -> None:
    names, there = weighted()
    assert names == ["gradients-nobody-uses"]
    _, alone = weighted(watch=False)
    assert all(torch.equal(one, other) for one, other in zip(there, alone, strict=True))


def stepped_by_hand(weight: Tensor, step: int) -> None:
    with torch.no_grad():
        weight -= 0.01 * (weight.grad if weight.grad is not None else 0)


ACTS: dict[str, Callable[[Tensor, int], Any]] = {
    "cleared": lambda weight, step: setattr(weight, "grad", None),
    "cleared late": lambda weight, step: setattr(weight, "grad", None) if step == 18 else None,
    "shown": lambda weight, step: weight.grad is not None and weight.grad.item(),
    "stepped by hand": stepped_by_hand,
    "set": lambda weight, step: weight.data.fill_(0.1 * step),
    "clipped": lambda weight, step: nn.utils.clip_grad_norm_([weight], 1.0),
    "given to an optimizer late": lambda weight, step: torch.optim.Adam([weight]).step() if step == 17 else None,
}


@pytest.mark.parametrize("how", ACTS)
def test_a_weight_that_somebody_looks_after_is_nobodys_orphan(how: str) -> None:
    assert "gradients-nobody-uses" not in weighted(ACTS[how])[0]


# ------------------------------------------------------------------ scales


def test_a_scale_that_changes_once_in_a_long_run_is_seen() -> None:
    one, other = nn.Linear(4, 4), nn.Linear(4, 1)
    optimizers = [torch.optim.SGD(model.parameters(), lr=1e-3) for model in (one, other)]
    scaler = torch.amp.GradScaler("cpu", init_scale=64.0, growth_interval=601)
    with GradientLedger() as ledger:
        for _ in range(320):
            for optimizer in optimizers:
                optimizer.zero_grad()
            scaler.scale(other(one(torch.randn(2, 4))).square().mean()).backward()
            for optimizer in optimizers:
                scaler.step(optimizer)
                scaler.update()
    (found_it,) = ledger.findings()
    assert (found_it.misconception, found_it.severity) == ("scaler-updated-between-steps", "error")
    assert found_it.evidence["factor"] == 0.5


def test_a_list_of_losses_may_be_scaled_twice() -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
    with GradientLedger() as ledger:
        for _ in range(3):
            optimizer.zero_grad()
            losses = scaler.scale([model(torch.randn(2, 4)).square().mean() for _ in range(2)])
            for loss in scaler.scale(losses):
                loss.backward()
            scaler.step(optimizer)
            scaler.update()
    assert found(ledger) == ["loss-scaled-twice"]
