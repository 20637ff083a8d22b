"""Ranks that take turns in one process: none waits for ever, none outlives its run, no process group is left behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch
import torch.distributed as dist

from course_utils.checks.judge import answers_of
from course_utils.checks.observe import observe
from course_utils.learner import all_cases, evaluate
from course_utils.lessons import exercise
from course_utils.lessons.lesson7.cluster import Cluster
from course_utils.lessons.lesson7.group import Group, Sent, default_group

STEP = exercise("7.5")


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def test_every_rank_gets_what_all_of_them_offer() -> None:
    cluster = Cluster(3)
    assert cluster.run(lambda rank: cluster.meet("a number", rank * rank)) == [[0, 1, 4]] * 3


def test_one_rank_runs_at_a_time_and_always_in_the_same_order() -> None:
    cluster, order = Cluster(3), []

    def task(rank: int) -> None:
        for turn in range(2):
            order.append((turn, rank))
            cluster.meet("", None)

    cluster.run(task)
    assert order == [(turn, rank) for turn in range(2) for rank in range(3)]


def test_a_rank_that_would_wait_for_ever_is_told_so() -> None:
    cluster = Cluster(2)
    with pytest.raises(RuntimeError, match="rank 0 is in all_reduce, rank 1 has returned"):
        cluster.run(lambda rank: cluster.meet("all_reduce", 1) if rank == 0 else None)


def test_ranks_that_do_different_things_are_told_so() -> None:
    cluster = Cluster(2)
    with pytest.raises(RuntimeError, match="rank 0 is in a, rank 1 is in b"):
        cluster.run(lambda rank: cluster.meet("ab"[rank], 1))


def test_a_rank_that_swallows_the_refusal_does_not_get_away_with_it() -> None:
    cluster = Cluster(2)

    def task(rank: int) -> None:
        if rank == 0:
            try:
                cluster.meet("", 1)
            except RuntimeError:
                pass

    with pytest.raises(RuntimeError, match="wait for ever"):
        cluster.run(task)


def test_what_one_rank_raises_ends_all() -> None:
    cluster, ended = Cluster(3), []

    def task(rank: int) -> None:
        try:
            if rank == 1:
                raise LookupError("mine")
            cluster.meet("", rank)
        finally:
            ended.append(rank)

    with pytest.raises(LookupError, match="mine"):
        cluster.run(task)
    assert sorted(ended) in ([0, 1], [0, 1, 2])


def test_a_rank_without_end_is_stopped_at_the_time_limit() -> None:
    def attempt(*_: object) -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:
                pass

    assert observe(STEP, attempt, all_cases(STEP)[0], limit=0.2).status == "stopped"


def test_torch_distributed_talks_to_the_ranks_inside_and_to_nobody_outside() -> None:
    cluster = Cluster(2)
    group = Group(cluster)

    def task(rank: int) -> tuple[float, int, int]:
        number = torch.tensor(rank + 1.0)
        dist.all_reduce(number)
        return number.item(), dist.get_rank(), dist.get_world_size()

    with default_group(group):
        assert cluster.run(task) == [(3.0, 0, 2), (3.0, 1, 2)]
    assert group.sent == [[Sent("all_reduce", 1, 1, own=True)]] * 2
    assert not dist.is_initialized()


def test_the_check_works_beside_a_process_group_that_is_open_already() -> None:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=1, world_size=4)
    try:
        assert evaluate(STEP.id, answers_of(STEP.home).right).passed
        assert (dist.get_rank(), dist.get_world_size()) == (1, 4)
    finally:
        dist.destroy_process_group()
    assert not dist.is_initialized()
