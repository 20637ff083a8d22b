"""The text of a hand-written step, and whether it keeps its buffers."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradient_ledger.buffers import forgotten, unchanged

LOST = {
    "from a dictionary": "for k, p in w.items():\n    b = s[k]\n    b = 0.9 * b + p.grad\n    p -= b\n",
    "beside the weights": "for p, b in zip(w, s):\n    b = p.grad + b * 0.9\n    p.sub_(b)\n",
    "written to the data": "for p, b in zip(w, s):\n    b = 0.9 * b + p.grad\n    p.data = p.data - b\n",
}
KEPT = {
    "put back": "for k, p in w.items():\n    b = s[k]\n    b = 0.9 * b + p.grad\n    p -= b\n    s[k] = b\n",
    "copied back": "for p, b in zip(w, s):\n    old = b\n    b = 0.9 * b + p.grad\n    p -= b\n    old.copy_(b)\n",
    "kept in a new list": "for p, b in zip(w, s):\n    b = 0.9 * b + p.grad\n    p -= b\n    new.append(b)\n",
    "in a pair": "for p, b in zip(w, s):\n    b = 0.9 * b + p.grad\n    p -= b\n    new += [(p, b)]\n",
    "in an attribute": "for p, b in zip(w, s):\n    b = 0.9 * b + p.grad\n    p -= b\n    p.velocity = b\n",
    "handed on": "for p, b in zip(w, s):\n    b = 0.9 * b + p.grad\n    move(p, b)\n",
    "returned": "b = s[0]\nb = 0.9 * b + g\np -= b\nreturn p, b\n",
    "in place": "for p, b in zip(w, s):\n    b *= 0.9\n    b = 0.9 * b + p.grad\n    p -= b\n",
    "changed by a method": "for p, b in zip(w, s):\n    b.mul_(0.9)\n    b = 0.9 * b + p.grad\n    p -= b\n",
    "a number of its own": "b = 0.0\nfor p in w:\n    b = 0.9 * b + p.grad\n    p -= b\n",
    "a counter": "for b in range(3):\n    b = 2 * b + 1\n    p -= b\n",
    "another name": "for p, b in zip(w, s):\n    d = 0.9 * b + p.grad\n    p -= d\n",
    "not decayed": "for p, b in zip(w, s):\n    b = b + p.grad\n    p -= b\n",
    "used no more": "for p, b in zip(w, s):\n    b = 0.9 * b + p.grad\n",
}


def step(folder: Path, body: str) -> str:
    file = folder / "train.py"
    file.write_text("def step(w, s, g, new):\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    return str(file)


@pytest.mark.parametrize("name", LOST)
def test_a_buffer_that_is_bound_to_a_name_alone_is_lost(name: str, tmp_path: Path) -> None:
    found = forgotten(step(tmp_path, LOST[name]), 2)
    assert found is not None and "b = " in found.code and "0.9" in found.code


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept_or_is_no_buffer_is_left_alone(name: str, tmp_path: Path) -> None:
    assert forgotten(step(tmp_path, KEPT[name]), 2) is None


def test_without_a_text_nothing_is_said() -> None:
    assert forgotten("<string>", 1) is None


MEASURED = """
def measure(model, told):
    for p in model.parameters():
        g = p.grad
        g = g - g.mean(){}
"""


@pytest.mark.parametrize(
    "rest, found", [("", True), ("; told.append(g.norm())", False), ("\n        told.append(g)", False)]
)
def test_a_gradient_that_is_read_behind_its_new_value_is_no_lost_one(rest: str, found: bool, tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(MEASURED.format(rest))
    assert (unchanged(str(file), 5) is not None) is found
