"""Exercise 5.2: repair a loop that never clears."""

from __future__ import annotations

from course_utils.exercise import Exercise
from course_utils.lessons.lesson5.repairs import (
    MAY_CHANGE,
    NO_HOOKS,
    PROPERTIES,
    QUANTITIES,
    arrange,
    cases_of_batches,
    one_step_a_batch,
    telling,
)

EXERCISE = Exercise(
    id="5.2",
    name="train_missing_zero",
    title="Repair: a step uses more than its own batch",
    difficulty=1,
    minutes=6,
    goal=one_step_a_batch("train_missing_zero"),
    cases=cases_of_batches,
    arrange=arrange,
    may_change=MAY_CHANGE,
    loop=True,
    rules=(NO_HOOKS,),
    hints=(
        "Draw the ledger of the loop: how many backward passes stand in .grad at the first step, at the second, at the "
        "third?",
        "Nothing is in a wrong place here. Something is not there at all: which of clear, forward, backward and step "
        "does no line do?",
        "The clearing belongs into the inner loop, once a batch. After the step, or before the backward: both are "
        "right. Between backward and step is the one place that is not.",
    ),
    properties=telling(PROPERTIES, cases_of_batches(0)),
    quantities=QUANTITIES,
)
