"""What the text of a loss tells beside its graph."""

from __future__ import annotations

import ast
import gc
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gradient_ledger import GradientLedger, standins
from gradient_ledger.events import Backward
from gradient_ledger.gradients import is_spent
from gradient_ledger.losses import _call_of_backward, _goes_backward, _reads_all, idle_summand
from gradient_ledger.source import weighing

LOSSES = {
    "a": ("loss = a", ""),
    "a second": ("loss = a + c", "c"),
    "a first": ("loss = c + a", "c"),
    "with a weight": ("loss = a + 0.1 * c", "0.1 * c"),
    "of three": ("loss = a + 0.1 * c + b", "0.1 * c"),
    "divided": ("loss = (a + c) / 4", "c"),
    "divided later": ("loss = a + c\n    loss = loss / 4", "c"),
    "by another name": ("total = b + c * 2\n    loss = a + total", "c * 2"),
    "added to it": ("loss = a * 1\n    loss += 3 * c", "3 * c"),
    "a call": ("loss = a + plain(c)", "plain(c)"),
    "a number that changes": ("loss = a + 2 * number", "2 * number"),
    "with a minus": ("loss = a - 0.01 * c", "0.01 * c"),
    "both have a graph": ("loss = a + 0.1 * b", ""),
    "a number": ("loss = 3 + a + 0.5", ""),
    "a setting": ("loss = a + settings.margin + settings.table['x']", ""),
    "a whole number": ("loss = a + whole", ""),
    "a running sum from 0": ("loss = 0\n    loss = loss + a\n    loss = loss + b", ""),
    "a running sum from zeros": ("loss = torch.zeros(())\n    loss += a\n    loss += b", ""),
    "a baseline": ("loss = a - c", ""),
    "a product": ("loss = a * c", ""),
    "a method": ("loss = torch.stack([a, c]).sum()", ""),
}
SQUARED = {
    "a power": ("loss = ((c + a) ** 2).mean()", "c"),
    "a method": ("loss = (a + 2 * c).pow(2).mean() + b", "2 * c"),
    "a function": ("loss = torch.square(c - a).mean()", "c"),
    "an error": ("loss = torch.nn.functional.mse_loss(a + c, torch.zeros(()))", "c"),
    "a size": ("loss = (a + c).abs().mean()", "c"),
    "a target": ("loss = ((a - c) ** 2).mean()", ""),
    "a target in an error": ("loss = torch.nn.functional.mse_loss(a, c)", ""),
    "a cube of one": ("loss = a ** 3", ""),
}
"""Summands under a square: they count where the caller is certain of them."""


@pytest.mark.parametrize("name", LOSSES)
def test_the_summand_without_a_graph_is_named(name: str, tmp_path: Path) -> None:
    text, wanted = LOSSES[name]
    script = tmp_path / "script.py"
    script.write_text(
        f"def step(a, b, c, number, whole, settings, seen):\n    {text}\n    seen(loss); loss.backward()\n"
    )
    weight = torch.ones((), requires_grad=True)
    found: list[Any] = []

    class Settings:
        margin = 0.5
        table = {"x": 0.25}

    def seen(loss: Tensor) -> None:
        found.append(idle_summand(sys._getframe(1), loss.grad_fn))

    names: dict[str, Any] = {"torch": torch, "plain": lambda one: one * 2}
    exec(compile(script.read_text(), str(script), "exec"), names)
    names["step"](weight * 2, weight * 3, torch.tensor(5.0), 0.5, 2, Settings, seen)
    assert (found[0].text if found[0] is not None else "") == wanted
    if wanted and "plain" not in wanted:
        assert found[0].value == (0.5 if "number" in wanted else 5.0)


@pytest.mark.parametrize("name", SQUARED)
@pytest.mark.parametrize("certain", [True, False])
def test_under_a_square_the_caller_decides(name: str, certain: bool, tmp_path: Path) -> None:
    text, wanted = SQUARED[name]
    script = tmp_path / "script.py"
    script.write_text(f"def step(a, b, c, seen):\n    {text}\n    seen(loss); loss.backward()\n")
    weight = torch.ones((), requires_grad=True)
    found: list[Any] = []

    def seen(loss: Tensor) -> None:
        found.append(idle_summand(sys._getframe(1), loss.grad_fn, lambda inner: certain))

    names: dict[str, Any] = {"torch": torch}
    exec(compile(script.read_text(), str(script), "exec"), names)
    names["step"](weight * 2, weight * 3, torch.tensor(5.0), seen)
    assert (found[0].text if found[0] is not None else "") == (wanted if certain else "")
    assert found[0] is None or (found[0].inner and found[0].beside is not None and not found[0].meant)


def test_a_function_that_reads_its_own_variables_as_a_whole_is_left_alone(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("def step(a, c, seen):\n    loss = a + c\n    seen(loss); loss.backward()\n    return locals()\n")
    found: list[Any] = []
    names: dict[str, Any] = {}
    exec(compile(script.read_text(), str(script), "exec"), names)
    kept = names["step"](
        torch.ones((), requires_grad=True) * 2,
        torch.ones(()),
        lambda loss: found.append(idle_summand(sys._getframe(1), loss.grad_fn)),
    )
    assert found == [None] and set(kept) == {"a", "c", "seen", "loss"}


def test_no_variable_lives_longer_for_being_looked_at() -> None:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    alive: list[weakref.ref[Tensor]] = []

    def train() -> None:
        for _ in range(3):
            extra = torch.rand(()).detach()
            loss = model(torch.randn(4, 3)).mean() + extra
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            alive.append(weakref.ref(extra))
            del extra, loss
            gc.collect()
            assert alive[-1]() is None

    with GradientLedger(model) as ledger:
        train()
    assert [e.idle_summand for e in ledger.log.events if isinstance(e, Backward)] == ["extra"] * 3


def test_the_variables_of_code_under_exec_stay(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("loss = a + c\nseen(loss); loss.backward()\n")
    found: list[Any] = []
    own: dict[str, Any] = {
        "a": torch.ones((), requires_grad=True) * 2,
        "c": torch.ones(()),
        "seen": lambda loss: found.append(idle_summand(sys._getframe(1), loss.grad_fn)),
    }
    exec(compile(script.read_text(), str(script), "exec"), {}, own)
    assert found[0].text == "c" and set(own) == {"a", "c", "seen", "loss"}


def test_an_iterator_is_asked_whether_it_has_ended_and_loses_nothing() -> None:
    model = nn.Linear(2, 2)
    generator, kept = model.parameters(), filter(lambda p: p.requires_grad, model.parameters())
    assert not is_spent(generator) and not is_spent(kept) and not is_spent(model.weight) and not is_spent([])
    assert len(list(generator)) == 2 and len(list(kept)) == 2
    assert is_spent(generator) and is_spent(kept) and is_spent(map(id, generator))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def step():\n    pg = -(dist.log_prob(a) * adv).mean()\n    loss = pg * 2\n    loss.backward()\n", 2),
        ("def step():\n    pg = ratio * adv\n    pg.backward()\n", 2),
        ("def step():\n    pg = surrogate(adv)\n    pg.backward()\n", None),
    ],
)
def test_where_the_log_probability_is_weighed(tmp_path: Path, text: str, line: int | None) -> None:
    script = tmp_path / "script.py"
    script.write_text(text)
    found = weighing(((str(script), len(ast.parse(text).body[0].body) + 1),))
    assert (found.line if found else None) == line


@pytest.mark.parametrize(
    ("end", "found"), [("return target_net", {("target_net", "model")}), ("return locals()", set())]
)
def test_a_second_name_is_looked_for_where_variables_may_be_read(tmp_path: Path, end: str, found: set[Any]) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"def step(model, seen):\n    target_net = model\n    seen()\n    {end}\n")
    names: dict[str, Any] = {}
    exec(compile(script.read_text(), str(script), "exec"), names)
    account = SimpleNamespace(owned=True, trains=True, total=3, root=SimpleNamespace(label="Linear"))
    state: Any = SimpleNamespace(
        stand_ins={},
        books=SimpleNamespace(find=lambda parameter: account),
        journal=SimpleNamespace(files=lambda: [str(script)]),
    )
    kept = names["step"](nn.Linear(2, 2), lambda: standins.look(state, sys._getframe(1)))
    assert set(state.stand_ins) == found
    assert found or set(kept) == {"model", "seen", "target_net"}


WHOLE = {
    "vars(args)": False,
    "print(vars(args), vars(other))": False,
    "model.eval()": False,
    "vars()": True,
    "keep(vars)": True,
    "locals()": True,
    "exec(code)": True,
}


@pytest.mark.parametrize("text", WHOLE)
def test_a_function_reads_its_own_variables_as_a_whole(text: str) -> None:
    assert _reads_all(ast.parse(f"def step(args):\n    {text}\n").body[0]) is WHOLE[text]


BACKWARDS = {
    "loss.backward()": "loss",
    "scaler.scale(loss).backward()": "loss",
    "accelerator.backward(loss)": "loss",
    "loss.backward(weights)": "loss",
    "(loss / k).backward()": "loss / k",
    "self.manual_backward(loss)": None,
    "fabric.backward(total / k)": "fabric",
}


@pytest.mark.parametrize("text", BACKWARDS)
def test_what_a_call_of_backward_is_for(text: str) -> None:
    call = _call_of_backward(ast.parse(text), 1)
    found = _goes_backward(call) if call is not None else None
    assert (ast.unparse(found) if found is not None else None) == BACKWARDS[text]
