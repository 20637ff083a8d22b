"""Exercise 6.7: what is asked."""

from __future__ import annotations

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases


def _cases(seed: int) -> list[Case]:
    return cases(
        seed,
        [
            ("3 entries", {"n": 3}),
            ("one entry", {"n": 1}),
            ("float32, 4 entries", {"n": 4, "dtype": "float32"}),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    x = Draw(case).normal(case.spec["n"])
    return Arrangement((x,), watch={"x": x})


EXERCISE = Exercise(
    id="6.7",
    name="largest_micro_batch",
    title="The largest micro-batch that fits",
    difficulty=2,
    minutes=12,
    goal=(
        "Write `largest_micro_batch(peak_bytes, batch_size, budget)`. `peak_bytes(n)` trains a step with a micro-batch "
        "of `n` rows and returns the peak memory that it measured, in bytes. It never falls as `n` grows, and it may "
        "stay level. Nothing else is known about it. All micro-batches of a window are to have the same size, so that "
        "size divides `batch_size`; 1 and `batch_size` itself do, too. Return the largest such size whose measured "
        "peak is at most `budget`, as an int. Where no size fits, raise `ValueError`. `batch_size` is an int from 1 to "
        "100 000. Each call of your function is about another model, so keep nothing from one call to the next."
    ),
    cases=_cases,
    arrange=_arrange,
    rules=(
        "A measurement is expensive. Call `peak_bytes` only with divisors of `batch_size`, and at most "
        "`ceil(log2(D + 1)) + 2` times, where D is the number of divisors. A call for a size that was measured before "
        "counts again.",
    ),
    hints=(
        "Write down the divisors of 12, and under each whether it fits. What do you know about all smaller ones once "
        "one fits, and about all larger ones once one does not?",
        "You look for the place in a sorted list where yes turns into no. A measurement in the middle halves what is "
        "left of the list. Search in the list of divisors, not in the numbers from 1 to batch_size.",
        "Keep two places in the list: how many sizes at its beginning are known to fit, and from which place on none "
        "does. Measure the one in the middle between them, and move one of the two. Where they meet, the answer "
        "stands just before, unless nothing at all has fitted.",
    ),
)
