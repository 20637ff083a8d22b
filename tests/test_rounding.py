"""A sample of half-precision weights, before and after a step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gradient_ledger import GradientLedger
from gradient_ledger.events import Rounded, Step


class Kept(torch.optim.SGD):
    """An optimizer that is not torch's own."""


def run(
    kind: Any, rate: float, dtype: torch.dtype = torch.bfloat16, steps: int = 36, hook: bool = False, watch: bool = True
) -> tuple[list[Rounded], list[Tensor]]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 2)).to(dtype)
    optimizer = kind(model.parameters(), lr=rate)
    if hook:
        optimizer.register_step_pre_hook(lambda *_: None)

    def train() -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.randn(8, 6, dtype=dtype)).float().square().mean().backward()
            optimizer.step()

    if not watch:
        train()
        return [], list(model.parameters())
    with GradientLedger() as ledger:
        train()
    return rounded(ledger.log.events), list(model.parameters())


def rounded(events: Iterable[Any]) -> list[Rounded]:
    return [one.rounded for one in events if isinstance(one, Step) and one.rounded is not None]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_small_steps_leave_most_entries_as_they_were(dtype: torch.dtype) -> None:
    looks, _ = run(torch.optim.SGD, 1e-5, dtype)
    assert len(looks) == 3 and {one.dtype for one in looks} == {str(dtype).removeprefix("torch.")}
    assert all(one.entries > 100 and one.still > 0.9 * one.entries for one in looks)
    assert {one.names for one in looks} == {("0.weight", "2.weight")}


def test_large_steps_move_them() -> None:
    looks, _ = run(torch.optim.Adam, 0.05)
    assert len(looks) == 3 and all(one.still < 0.2 * one.entries for one in looks)


@pytest.mark.parametrize(
    "given",
    [
        {"kind": torch.optim.SGD, "rate": 1e-5, "dtype": torch.float32},
        {"kind": Kept, "rate": 1e-5},
        {"kind": torch.optim.SGD, "rate": 1e-5, "hook": True},
        {"kind": torch.optim.SGD, "rate": 0.0},
        {"kind": torch.optim.SGD, "rate": 1e-5, "steps": 8},
    ],
    ids=["float32", "an optimizer of one's own", "a hook of the step", "no learning rate", "the first steps"],
)
def test_what_is_not_looked_at(given: dict[str, Any]) -> None:
    assert run(**given)[0] == []


def test_training_is_the_same_bit_for_bit() -> None:
    watched, alone = (run(torch.optim.AdamW, 1e-3, watch=watch)[1] for watch in (True, False))
    assert all(torch.equal(one, other) for one, other in zip(watched, alone, strict=True))
