"""The ratio of a policy's probabilities: what its graph tells, and what the text around it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from gradient_ledger.policies import look, recomputed

torch.manual_seed(0)
POLICY, OTHER, STATES = nn.Linear(3, 1), nn.Linear(3, 1), torch.randn(6, 3)
OTHER.load_state_dict(POLICY.state_dict())
GAINS = torch.randn(6, 1)


def logs() -> Tensor:
    found: Tensor = POLICY(STATES)
    return found


FLAT = {"flat_ratio"}
LOSSES: dict[str, tuple[Callable[[Tensor], Tensor], set[str]]] = {
    "its own old one": (lambda new: -((new - new.detach()).exp() * GAINS).mean(), FLAT),
    "clipped": (lambda new: -torch.min((new - new.detach()).exp() * GAINS, GAINS).mean(), FLAT),
    "negated": (lambda new: torch.max(-(new - new.detach()).exp() * GAINS, GAINS).mean(), FLAT),
    "an older one": (lambda new: -((new - new.detach() - 0.1).exp() * GAINS).mean(), set()),
    "the same graph on both sides": (lambda new: -((new - logs()).exp() * GAINS).mean(), FLAT | {"ratio_cancels"}),
    "an older one with a graph": (lambda new: -((new - logs() - 0.1).exp() * GAINS).mean(), set()),
    "another policy with a graph": (lambda new: -((new - OTHER(STATES)).exp() * GAINS).mean(), set()),
    "no ratio": (lambda new: -(new * GAINS).mean(), set()),
    "a single number": (lambda new: (new.sum() - new.sum().detach()).exp(), set()),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_ratio_that_is_one_everywhere(name: str) -> None:
    make, wanted = LOSSES[name]
    assert {name for name, said in look(make(logs()).grad_fn, ()).items() if said} == wanted


LOOP = """
def update(policy, states, actions, kept, fresh, collect, torch):
    for rows in torch.randperm(9).split(3):
        {before}
        with torch.no_grad():
            old = {old}
        ratio = {ratio}
        ratio.mean().backward()
"""
STOOD = {
    "a part of the data": ("", "policy(states[rows], actions[rows])", "(policy(states[rows]) - old).exp()"),
    "the part has a name": ("mine = states[rows].to('cpu')", "policy(mine)", "torch.exp(policy(mine) - old)"),
}
FRESH = {
    "drawn in the loop": ("mine = collect(rows)", "policy(mine)", "torch.exp(policy(mine) - old)"),
    "drawn and taken apart": ("mine = collect(rows)\n        s = mine[0]", "policy(s)", "torch.exp(policy(s) - old)"),
    "no old one": ("", "policy(states[rows])", "torch.exp(policy(states[rows]))"),
    "kept from before": ("", "policy(states[rows])", "torch.exp(policy(states[rows]) - kept)"),
}


def script(folder: Path, parts: tuple[str, str, str]) -> str:
    file = folder / "train.py"
    file.write_text(LOOP.format(**dict(zip(("before", "old", "ratio"), parts, strict=True))))
    return str(file)


@pytest.mark.parametrize("name", STOOD)
def test_old_probabilities_that_are_computed_anew(name: str, tmp_path: Path) -> None:
    file = script(tmp_path, STOOD[name])
    found = recomputed(((file, 8),))
    assert found is not None and found.code.startswith("old = ")


@pytest.mark.parametrize("name", FRESH)
def test_fresh_data_or_no_new_computation(name: str, tmp_path: Path) -> None:
    file = script(tmp_path, FRESH[name])
    last = len(Path(file).read_text().splitlines())
    assert recomputed(((file, last),)) is None


def test_outside_a_loop_nothing_is_said(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("with torch.no_grad():\n    old = f(x)\nratio = (f(x) - old).exp()\nratio.backward()\n")
    assert recomputed(((str(file), 4),)) is None
