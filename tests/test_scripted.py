"""Under torch.jit: what is compiled finds torch's functions behind our taps, and nothing of ours stays in torch."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import FunctionType

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gradient_ledger import GradientLedger, scripted
from gradient_ledger.events import Forward, Step
from gradient_ledger.taps import tap

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")


def spread(x: Tensor) -> Tensor:
    """Of functions that a closer look listens to."""
    both = torch.add(x, x.flip(0))
    return (F.normalize(both, dim=-1) * torch.norm(both)).var()


def steepness(x: Tensor) -> Tensor:
    """Of a function that a ledger always listens to."""
    x = x.detach().requires_grad_()
    slope = torch.autograd.grad([(x * x).sum()], [x])[0]
    assert slope is not None
    return slope.mean()


class Reader(nn.Module):
    """Has a cell, whose `forward` a ledger listens to."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.zeros(x.shape[0], 8)
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
        out: Tensor = self.out(h)
        return out


def asked() -> list[object]:
    return [getattr(sys.modules[module], name) for module, name in scripted._ASKED]


def losses(steps: int = 6) -> list[float]:
    """Trains a compiled model by compiled losses, each compiled at each step: closer looks come and go."""
    torch.manual_seed(0)
    reader = torch.jit.script(Reader())
    opt = torch.optim.Adam(reader.parameters(), lr=1e-2)
    found = []
    for _ in range(steps):
        first, second = (torch.jit.script(anew(one)) for one in (spread, steepness))
        x = torch.randn(12, 5, 4)
        scores = reader(x)
        loss = F.cross_entropy(scores, (x.sum((1, 2)) > 0).long()) + 0.01 * first(scores) + 0.1 * second(x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        found.append(loss.item())
    return found


def anew(function: FunctionType) -> FunctionType:
    """The same text as another object: what was compiled is kept by the object."""
    copy = FunctionType(function.__code__, function.__globals__)
    copy.__annotations__ = {"x": Tensor, "return": Tensor}
    return copy


def test_what_torchscript_compiles_is_the_same_under_a_ledger() -> None:
    wanted = losses()
    with GradientLedger() as ledger:
        assert losses() == wanted
    kinds = Counter(type(one) for one in ledger.events)
    assert (kinds[Step], kinds[Forward]) == (6, 6)
    assert not ledger.trouble


def test_nothing_of_ours_stays_in_torch() -> None:
    before = asked()
    with GradientLedger():
        assert all(one is not other for one, other in zip(asked(), before, strict=True))
        with GradientLedger():
            pass
        assert all(one is not other for one, other in zip(asked(), before, strict=True))
    assert asked() == before


def test_what_somebody_else_has_put_there_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def put(function: object) -> object:
        return theirs(function)

    theirs = torch.jit._builtins._find_builtin
    monkeypatch.setattr(torch.jit._builtins, "_find_builtin", theirs)  # takes back what stands there at the end
    with GradientLedger():
        torch.jit._builtins._find_builtin = put
    assert torch.jit._builtins._find_builtin is put


def test_a_torch_without_these_names_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted, "_ASKED", (("torch.jit._nowhere", "nothing"), ("torch.jit._builtins", "nothing")))
    before = dict(vars(torch.jit._builtins))
    scripted.see_through()()
    assert vars(torch.jit._builtins) == before


class Thing:
    """Somebody's class."""

    def method(self) -> Thing:
        return self


@functools.wraps(spread)
def wrapped_by_others(x: Tensor) -> Tensor:
    return spread(x)


def test_only_our_taps_are_seen_through(monkeypatch: pytest.MonkeyPatch) -> None:
    own, thing = Thing.method, Thing()
    for function in (len, torch.add, spread, wrapped_by_others, Thing, thing.method):
        assert scripted.behind(function) == function
    monkeypatch.setattr(Thing, "method", own)  # takes back what the tap puts there
    tap(Thing, "method")
    assert Thing.method is not own
    assert scripted.behind(Thing.method) is own
    assert scripted.behind(thing.method) == own.__get__(thing)
    tap(Thing, "method")
    assert scripted.behind(Thing.method) is own


FORWARD_IN_MODE = """
import torch
from torch import nn
from gradient_ledger import GradientLedger

model = nn.Linear(3, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(4, 3)
with GradientLedger():
    for _ in range(3):
        _, change = torch.func.jvp(lambda t: nn.functional.layer_norm(model(t), (2,)).sum(), (x,), (x,))
        opt.zero_grad()
        model(x).square().mean().backward()
        opt.step()
print("went through")
"""


def test_a_derivative_forward_in_mode_is_asked_for_first_under_a_ledger(tmp_path: Path) -> None:
    file = tmp_path / "forward.py"
    file.write_text(FORWARD_IN_MODE)
    run = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120)
    assert (run.stdout, run.returncode) == ("went through\n", 0), run.stderr
