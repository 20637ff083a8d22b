"""Exercise 6.7: the largest micro-batch that fits into a budget of memory, found with few measurements."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import cases

RAISED = "raised"
NOTHING = "nothing"
TYPE = "type of the result"
INSTEAD = "returned where no size fits"
MESSAGE = "message of the ValueError"
CALLS = "calls of peak_bytes"
ALLOWED = "calls that are allowed"
STRANGE = "sizes measured that do not divide batch_size"
MEASURED = "sizes measured, in order"
_MOST = 12
"""Of so many calls the sizes are kept."""


def divisors(number: int) -> list[int]:
    """All divisors of a number, the smallest first."""
    small = [n for n in range(1, math.isqrt(number) + 1) if number % n == 0]
    return sorted({*small, *(number // n for n in small)})


def calls_allowed(batch_size: int) -> int:
    """How often the exercise lets `peak_bytes` be called."""
    return math.ceil(math.log2(len(divisors(batch_size)) + 1)) + 2


class Measured:
    """A `peak_bytes` that never falls, and notes what it was called with.

    `kind` says how it grows: "steadily", a part that stays and one a row; "in steps", as memory that comes in blocks;
    "late", slowly at first and then with the square; "early", fast at first and then hardly; "level", the same for
    every size up to `level`, and steadily from there.
    """

    def __init__(self, kind: str, draw: random.Random, level: int) -> None:
        self._kind, self._level = kind, level
        self._base, self._row = draw.randrange(10_000, 90_000), draw.randrange(300, 900)
        self.sizes: list[int] = []

    def __call__(self, n: int) -> int:
        self.sizes.append(int(n) if n == int(n) else operator.index(n))  # half a row is a TypeError
        return self.of(self.sizes[-1])

    def of(self, n: int) -> int:
        """The peak, without a note of it."""
        match self._kind:
            case "steadily":
                rows = n
            case "in steps":
                rows = 2 ** math.ceil(math.log2(max(n, 1)))
            case "late":
                rows = n + n * n // 8
            case "early":
                rows = math.isqrt(10_000 * max(n, 0))
            case "level":
                rows = max(n, self._level)
            case _:
                raise ValueError(f"unknown kind {self._kind!r}")
        return self._base + self._row * rows


def _cases(seed: int) -> list[Case]:
    def row(
        name: str, batch_size: int, fits: int | None, kind: str = "steadily", **rest: Any
    ) -> tuple[str, dict[str, Any]]:
        return name, {"batch_size": batch_size, "fits": fits, "kind": kind, **rest}

    return cases(
        seed,
        [
            row("batch_size 8, where 4 is the largest size that fits", 8, 4),
            row("batch_size 8, and all of it fits", 8, 8),
            row("batch_size 12, where 6 is the largest size that fits", 12, 6),
            row("batch_size 12, and not even one row fits", 12, None),
            row("batch_size 12, and the peak of 4 rows is the budget", 12, 4, exact=True),
            row("batch_size 45, where 1 is the largest size that fits", 45, 1, "late"),
            row("batch_size 36, where 6 is the largest size that fits", 36, 6, "late"),
            row("batch_size 13, a prime, where 1 is the largest size that fits", 13, 1, "early"),
            row("batch_size 13, a prime, and all of it fits", 13, 13, exact=True),
            row("batch_size 1, which fits", 1, 1),
            row("batch_size 1, which does not fit", 1, None),
            row("batch_size 360, where 72 is the largest size that fits", 360, 72, "early"),
            row("batch_size 360, where 2 is the largest size that fits, the peak comes in steps", 360, 2, "in steps"),
            row("batch_size 240, and the peak is level up to 60 rows", 240, 60, "level", level=60, exact=True),
            row("batch_size 240, where the level peak is above the budget", 240, None, "level", level=60),
            row("batch_size 5040, with 60 divisors, where 720 is the largest size that fits", 5040, 720, "late"),
            row("batch_size 5040, where 1680 is the largest size that fits", 5040, 1680, "early"),
            row("batch_size 65536, where 8192 is the largest size that fits", 65536, 8192, "in steps"),
            row("batch_size 83160, with 128 divisors, where 27720 is the largest size that fits", 83160, 27720),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    spec = case.spec
    draw = random.Random(int(spec["seed"]))
    peak = Measured(spec["kind"], draw, spec.get("level", 0))
    sizes, fits = divisors(spec["batch_size"]), spec["fits"]
    if fits is None:
        budget = peak.of(1) - draw.randrange(1, 200)
    elif spec.get("exact"):
        budget = peak.of(fits)
    else:
        larger = [size for size in sizes if size > fits]
        room = peak.of(larger[0]) - peak.of(fits) if larger else 5_000
        budget = peak.of(fits) + draw.randrange(room // 2, room)  # more rows fit, if they need not divide
    refused: list[ValueError] = []
    instead: list[object] = []

    def call(attempt: Any) -> object:
        try:
            size = attempt(peak, spec["batch_size"], budget)
        except ValueError as error:
            refused.append(error)
            return None
        if fits is None and size is not ...:
            instead.append(size)
            return None
        return int(size) if isinstance(size, Integral) else size  # NumPy's, too

    def facts(size: object) -> dict[str, object]:
        return {
            TYPE: type(size).__name__,
            INSTEAD: str(instead[0])[:80] if instead else NOTHING,
            RAISED: "ValueError" if refused else NOTHING,
            MESSAGE: str(refused[0]) if refused and fits is not None else NOTHING,
            CALLS: len(peak.sizes),
            ALLOWED: calls_allowed(spec["batch_size"]),
            STRANGE: sorted({size for size in peak.sizes if size < 1 or spec["batch_size"] % size})[:5],
            MEASURED: peak.sizes[:_MOST],
        }

    return Arrangement((peak, spec["batch_size"], budget), call=call, facts=facts)


def _of(name: str) -> Any:
    def take(spec: Mapping[str, Any]) -> float | None:
        value = spec[name]
        return None if value is None else float(value)

    return take


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
    properties=(
        ("no size fits", lambda spec: spec["fits"] is None),
        ("some size fits", lambda spec: spec["fits"] is not None),
        ("all of batch_size fits", lambda spec: spec["fits"] == spec["batch_size"]),
        ("one row fits and no larger size", lambda spec: spec["fits"] == 1 != spec["batch_size"]),
        (
            "sizes smaller than the right one have the same peak, and it is the budget",
            lambda spec: spec["kind"] == "level" and bool(spec.get("exact")),
        ),
        ("the peak of the right size is the budget", lambda spec: bool(spec.get("exact"))),
        ("batch_size is a prime or 1", lambda spec: len(divisors(spec["batch_size"])) <= 2),
        ("batch_size is a power of two", lambda spec: spec["batch_size"].bit_count() == 1),
        ("batch_size is no power of two", lambda spec: spec["batch_size"].bit_count() != 1),
        ("batch_size is odd", lambda spec: spec["batch_size"] % 2 == 1),
        ("the peak does not grow steadily", lambda spec: spec["kind"] != "steadily"),
        ("batch_size is above 100", lambda spec: spec["batch_size"] > 100),
    ),
    quantities={
        "batch_size": _of("batch_size"),
        "the right size": _of("fits"),
    },
    telling={
        INSTEAD: "No ValueError was raised; what came back is {given}.",
        MESSAGE: "What the ValueError says: {given}.",
        MEASURED: "peak_bytes was called for the sizes {given}.",
    },
)
