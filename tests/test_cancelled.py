"""Gradients that cancel exactly: what a graph tells, and which line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Normal

from gradient_ledger import cancelled, compared

torch.manual_seed(0)
ENCODE, TABLE, DECODE, DEVIATION = nn.Linear(4, 3), nn.Linear(4, 3), nn.Linear(3, 2), nn.Parameter(torch.ones(3))
X, GAINS = torch.randn(6, 4), torch.randn(6, 1)


def z() -> Tensor:
    found: Tensor = ENCODE(X)
    return found


def q() -> Tensor:
    found: Tensor = TABLE(X)
    return found


SUMS: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], bool]] = {
    "z + (q - z)": (lambda z, q: z + (q - z), True),
    "q - z + z": (lambda z, q: q - z + z, True),
    "z - (z - q)": (lambda z, q: z - (z - q), True),
    "rounded": (lambda z, q: z + (torch.round(z) - z), True),
    "a step": (lambda z, q: (z > 0).float() - z + z, True),
    "detached": (lambda z, q: z + (q - z).detach(), False),
    "z detached": (lambda z, q: q + z - z.detach(), False),
    "a mixture": (lambda z, q: z + 0.5 * (q - z), False),
    "a share of the difference": (lambda z, q: torch.add(z, q - z, alpha=0.5), False),
    "a residual connection": (lambda z, q: z + torch.tanh(z), False),
    "made of z": (lambda z, q: z + (torch.tanh(z) - z), False),
    "another z": (lambda z, q: z + (q - z * 1.0), False),
}


@pytest.mark.parametrize("name", SUMS)
def test_a_sum_that_takes_away_what_it_adds(name: str) -> None:
    make, wanted = SUMS[name]
    first, second = z(), q()
    loss = DECODE(make(first, second)).square().mean()
    found = cancelled.undone(compared.every(loss.grad_fn))
    assert found == ([first.grad_fn] if wanted else [])
    if wanted:
        for parameter in (ENCODE.weight, DEVIATION):
            parameter.grad = None
        loss.backward()
        assert ENCODE.weight.grad is not None and not ENCODE.weight.grad.any()


AROUND = {
    "residual = x.detach()\n    return self.f(x) + residual": True,
    "identity = x.clone().detach()\n    out = self.f(x)\n    out += identity\n    return out": True,
    "shortcut = x.data\n    return self.f(x) + 0.5 + shortcut": True,
    "residual = x.detach().clone()\n    return residual + self.f(x)": True,
    "residual = x\n    return self.f(x) + residual": False,
    "residual = x.clone()\n    return self.f(x) + residual": False,
    "residual = x.detach()\n    residual = residual - self.f(x)\n    return residual": False,
    "residual = x.detach()\n    log(residual)\n    return self.f(x) + residual": False,
    "base = x.detach()\n    return self.f(x) + base": False,
    "residual = self.mean.detach()\n    return self.f(x) + residual": False,
    "residual = x.detach()\n    return self.f(x)": False,
}


@pytest.mark.parametrize("text", AROUND)
def test_the_line_that_detaches_what_goes_around_a_layer(text: str, tmp_path: Path) -> None:
    file = tmp_path / "block.py"
    file.write_text(f"import torch\n\n\ndef forward(self, x):\n    {text}\n")
    assert [place.line for place in cancelled.residuals_cut([str(file)])] == [5] * AROUND[text]
    file = tmp_path / "other.py"
    file.write_text(f"import torch\n\n\ndef project(self, x):\n    {text}\n")
    assert cancelled.residuals_cut([str(file)]) == ()


LINES = {
    "return z + (q - z)": True,
    "return q - z + z": True,
    "change = q - z\n    return z + change": True,
    "return z + (torch.round(z) - z)": True,
    "return self.z[0] + (q - self.z[0])": True,
    "return z + (q - z).detach()": False,
    "return z + 0.5 * (q - z)": False,
    "return z + (torch.tanh(z) - z)": False,
    "change = q - z\n    return z + change, change": False,
    "change = q - z\n    change = change * 2\n    return z + change": False,
    "return z - z": False,
}


@pytest.mark.parametrize("text", LINES)
def test_the_line_of_such_a_sum(text: str, tmp_path: Path) -> None:
    file = tmp_path / "quantiser.py"
    file.write_text(f"import torch\n\n\ndef forward(self, z, q):\n    {text}\n")
    found = cancelled.written_at([str(file)])
    assert (found is not None) == LINES[text]
    if found is not None:
        assert found.line == 5 + text.split("return")[0].count("\n")


def sample() -> tuple[Normal, Tensor]:
    distribution = Normal(z(), DEVIATION.exp())
    return distribution, distribution.rsample()


def weighed(weights: Tensor | float, detach: bool = False) -> Tensor:
    distribution, actions = sample()
    return -(distribution.log_prob(actions.detach() if detach else actions).sum(1, keepdim=True) * weights).mean()


def with_critic() -> Tensor:
    distribution, actions = sample()
    return (GAINS * distribution.log_prob(actions)).mean() - DECODE(actions).mean()


def by_hand() -> Tensor:
    mean = z()
    actions = mean + DEVIATION * torch.randn(6, 3)
    return -(GAINS * -(((actions - mean) / DEVIATION) ** 2)).mean()


def prior() -> Tensor:
    distribution, code = sample()
    return (GAINS * (distribution.log_prob(code) - Normal(0.0, 1.0).log_prob(code))).mean()


SCORES: dict[str, tuple[Callable[[], Tensor], bool]] = {
    "weighed by gains": (lambda: weighed(GAINS), True),
    "by hand": (by_hand, True),
    "steps of an episode": (lambda: torch.stack([weighed(GAINS), weighed(-GAINS)]).mean(), True),
    "the sample detached": (lambda: weighed(GAINS, detach=True), False),
    "an entropy": (lambda: weighed(0.01), False),
    "an entropy of some": (lambda: weighed((GAINS > 0).float()), False),
    "a critic gets it": (with_critic, False),
    "a divergence of a code": (prior, False),
}


@pytest.mark.parametrize("name", SCORES)
def test_a_sample_that_moves_with_its_mean(name: str) -> None:
    make, wanted = SCORES[name]
    loss = make()
    found = cancelled.score(loss.grad_fn, compared.every(loss.grad_fn))
    assert (found is not None) == wanted
    if found is not None:
        assert compared.leaves(found.means) == {id(ENCODE.weight), id(ENCODE.bias)}
        ENCODE.weight.grad = None
        loss.backward()
        assert ENCODE.weight.grad is not None and float(ENCODE.weight.grad.abs().max()) < 1e-6
