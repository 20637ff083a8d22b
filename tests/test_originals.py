"""A cell that replaces a name of torch, NumPy or Python changes no verdict, and keeps its own version."""

from __future__ import annotations

import builtins

import pytest
import torch

from course_utils.checks import originals
from course_utils.learner import evaluate


def _right(w, x, y):
    return 2 * x.T @ (x @ w - y) / len(y)


def _half(w, x, y):
    return x.T @ (x @ w - y) / len(y)


REPLACED = [
    (torch, "equal", lambda *a, **k: True),
    (torch, "allclose", lambda *a, **k: True),
    (torch, "isfinite", lambda t: torch.zeros_like(t, dtype=torch.bool)),
    (torch, "all", lambda *a, **k: torch.tensor(True)),
    (torch.Tensor, "abs", lambda self: self * 0),
    (builtins, "max", lambda *a, **k: 0),
    (builtins, "float", lambda *a: 0.0),
]


@pytest.mark.parametrize(("owner", "name", "theirs"), REPLACED, ids=[name for _, name, _ in REPLACED])
def test_a_replaced_name_changes_no_verdict(
    owner: object, name: str, theirs: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate("1.2", _half)  # torch itself puts other functions in place of some of its own, on first use
    before = originals.replaced()
    with monkeypatch.context() as cell:
        cell.setattr(owner, name, theirs)
        wrong, right = evaluate("1.2", _half), evaluate("1.2", _right)
        assert getattr(owner, name) is theirs, "the learner's own version stays"
    assert wrong.misconception == "missing-factor-two" and right.passed
    assert originals.replaced() == before


def test_the_attempt_runs_with_the_learners_names(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as cell:
        cell.setattr(torch, "dot", lambda a, b: "theirs", raising=True)
        verdict = evaluate("1.2", lambda w, x, y: torch.dot(w, w))
    assert "theirs" in str(verdict.faults[0].observed)


def test_what_an_attempt_replaces_itself_changes_no_verdict_either() -> None:
    evaluate("1.2", _half)
    before, kept = originals.replaced(), (torch.equal, torch.allclose)

    def cheat(w, x, y):
        torch.equal = torch.allclose = torch.Tensor.abs = lambda *a, **k: True
        return w * 0

    try:
        assert not evaluate("1.2", cheat).passed
        assert not evaluate("1.2", _half).passed
    finally:
        torch.equal, torch.allclose = kept
        del torch.Tensor.abs
    assert originals.replaced() == before
