"""The rooms of lesson 6: what its checks rest on."""

from __future__ import annotations

import random

import pytest

from course_utils.checks.judge import answers_of, mistakes_of, seen_of
from course_utils.checks.judge.left import deviations, run_of
from course_utils.lessons import exercise, lesson
from course_utils.lessons.lesson6.largest_micro_batch.task import Measured, calls_allowed, divisors


@pytest.mark.parametrize("number", [each.id for each in lesson(6).exercises])
def test_a_mistake_shows_on_no_case_but_those_that_it_says(number: str) -> None:
    task = exercise(number)
    for one in mistakes_of(task.home):
        for form in range(len(one.forms) if one.where is not None else 0):
            for place, case in enumerate(task.cases(1), 1):
                if not one.where(case.spec):  # type: ignore[misc]
                    seen = seen_of(task, one, form, case)
                    assert not deviations(run_of(task, place, case, seen)), (one.id, form, case.name)
                    assert not seen.changes, (one.id, form, case.name)


@pytest.mark.parametrize("kind", ["steadily", "in steps", "late", "early", "level"])
def test_a_measured_peak_never_falls(kind: str) -> None:
    for seed in range(20):
        peak = Measured(kind, random.Random(seed), level=60)
        peaks = [peak.of(size) for size in range(1, 300)]
        assert peaks == sorted(peaks) and len(set(peaks)) > 1
        assert not peak.sizes


def test_divisors_come_in_order_and_halving_their_list_needs_no_more_calls_than_are_allowed() -> None:
    for number in (1, 2, 13, 36, 97, 360, 5040):
        sizes = divisors(number)
        assert sizes == [n for n in range(1, number + 1) if number % n == 0]
        assert len(sizes).bit_length() <= calls_allowed(number) - 2


def test_the_right_size_of_each_case_is_the_one_that_it_names() -> None:
    task = exercise("6.7")
    right = answers_of(task.home).right
    for seed in range(10):
        for case in task.cases(seed):
            peak, batch_size, budget = task.arrange(case).args
            fits = case.spec["fits"]
            if fits is None:
                with pytest.raises(ValueError):
                    right(peak, batch_size, budget)
            else:
                assert right(peak, batch_size, budget) == fits, case.name
