"""What is right in exercise 6.7."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from course_utils.checks.answers import Answers, Broken
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson6.largest_micro_batch import mistakes
from course_utils.lessons.lesson6.largest_micro_batch.task import ALLOWED, CALLS, RAISED, STRANGE, TYPE, divisors


def right(peak_bytes: Callable[[int], int], batch_size: int, budget: int) -> int:
    """The library's bisection, over the peaks of the divisors."""
    sizes = divisors(batch_size)
    fitting = bisect_right(sizes, budget, key=peak_bytes)
    if not fitting:
        raise ValueError("no size fits")
    return sizes[fitting - 1]


def _measured(case: Case, evidence: Evidence) -> Broken | None:
    strange, calls, allowed = (evidence.facts[name] for name in (STRANGE, CALLS, ALLOWED))
    if strange:
        sizes = ", ".join(str(size) for size in strange)
        return Broken(mistakes.other_sizes_measured, f"measured, and no divisors of {case.spec['batch_size']}: {sizes}")
    if calls > allowed:
        return Broken(mistakes.too_many_measurements, f"calls of peak_bytes: {calls}, allowed here are {allowed}")
    return None


ANSWERS = Answers(right, graded=(RAISED, TYPE), rules=_measured)
