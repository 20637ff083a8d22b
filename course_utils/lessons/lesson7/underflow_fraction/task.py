"""Exercise 7.1: what is asked."""

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
    id="7.1",
    name="underflow_fraction",
    title="A title",
    difficulty=2,
    minutes=10,
    goal="Write `underflow_fraction(x)`: say what it takes, with shapes, what it returns, and what stays as it was.",
    cases=_cases,
    arrange=_arrange,
    hints=("A nudge.", "The idea.", "Nearly the answer, in words."),
    properties=(
        ("there is one entry", lambda spec: spec["n"] == 1),
        ("the inputs are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    quantities={"n": lambda spec: spec["n"]},
)
