"""What lesson 4 measures with a helper of its own."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from course_utils.lessons.lesson4.traffic import all_reduces


@pytest.mark.parametrize("window", [1, 2, 4])
def test_every_backward_asks_for_an_average_whatever_the_window(window: int) -> None:
    assert all_reduces(batches=4, window=window) == 4


@pytest.mark.parametrize(("window", "asked"), [(1, 4), (2, 2), (4, 1)])
def test_under_no_sync_the_last_backward_of_a_window_asks_alone(window: int, asked: int) -> None:
    assert all_reduces(batches=4, window=window, no_sync=True) == asked


def test_the_process_group_is_closed_again_and_the_random_state_left_alone() -> None:
    before = torch.get_rng_state()
    all_reduces(batches=1, window=1)
    assert not dist.is_initialized() and torch.equal(torch.get_rng_state(), before)


def test_a_group_that_is_open_already_is_not_taken_over() -> None:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    try:
        with pytest.raises(ValueError, match="twice"):
            all_reduces(batches=1, window=1)
        assert dist.is_initialized() and dist.get_world_size() == 2
    finally:
        dist.destroy_process_group()
