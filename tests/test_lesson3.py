"""What lesson 3 is built on: the counter of living bytes counts what lives, and nothing else."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course_utils.lessons.lesson3.live import LiveBytes, Moment

KIB = 1024


def kib(count: int) -> torch.Tensor:
    """A new tensor of that many KiB."""
    return torch.ones(count * KIB // 4)


def during(live: LiveBytes, phase: str) -> list[Moment]:
    return [moment for moment in live.history if moment.phase == phase]


def test_what_is_made_counts_until_the_last_name_is_gone() -> None:
    with LiveBytes() as live:
        a = kib(4)
        b = kib(2)
        assert live.now == 6 * KIB
        other = a
        del a
        assert live.now == 6 * KIB
        del other
        assert live.now == 2 * KIB
        del b
    assert live.now == 0 and live.asked == 6 * KIB
    assert max(moment.alive for moment in live.history) == 6 * KIB


def test_views_and_in_place_changes_make_nothing() -> None:
    before = kib(1)
    with LiveBytes() as live:
        view = before[:3]
        view.add_(1)
        before.zero_()
        made = kib(1)
        transposed = made.view(2, -1).t()
        assert live.now == live.asked == KIB
        del made
        assert live.now == KIB, "a view keeps the memory alive"
        del transposed
        assert live.now == 0


def test_memory_made_before_the_block_may_die_in_it() -> None:
    before = kib(1)
    with LiveBytes() as live:
        before += 1
        del before
        assert live.now == 0


def test_it_sees_what_backward_makes_and_frees() -> None:
    w = torch.ones(KIB // 4, requires_grad=True)
    with LiveBytes([w]) as live:
        live.phase("forward")
        loss = torch.tanh(w).sum()
        live.phase("backward")
        loss.backward()
        del loss
        live.phase("clear")
        w.grad = None
        live.phase("after")
    assert during(live, "forward")[-1].alive == KIB + 4, "the tanh, kept for backward, and the loss"
    assert during(live, "forward")[-1].gradients == 0
    assert during(live, "clear")[0].alive == during(live, "clear")[0].gradients == KIB
    assert during(live, "after")[0].alive == live.now == 0


def test_a_tied_gradient_is_counted_once_and_a_sparse_one_by_what_it_stores() -> None:
    layer, table = nn.Linear(4, 4, bias=False), nn.Embedding(100, 2, sparse=True)
    with LiveBytes([layer.weight, layer.weight, table.weight]) as live:
        layer(torch.ones(1, 4)).sum().backward()
        live.phase("one")
        assert live.history[-1].gradients == 64
        table(torch.tensor([3, 5])).sum().backward()
        live.phase("two")
        assert live.history[-1].gradients == 64 + 2 * 8 + 2 * 2 * 4, "two positions and two rows"


@pytest.mark.parametrize("none", [True, False])
def test_the_same_program_counts_the_same_twice(none: bool) -> None:
    def count() -> list[int]:
        model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
        optimizer, x = torch.optim.Adam(model.parameters()), torch.ones(5, 8)
        with LiveBytes(model.parameters()) as live:
            for _ in range(3):
                model(x).sum().backward()
                optimizer.step()
                optimizer.zero_grad(set_to_none=none)
        return [moment.alive for moment in live.history]

    assert count() == count()
