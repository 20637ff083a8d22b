"""Exercise 5.4: repair a loop that clears once an epoch and steps once a batch."""

from __future__ import annotations

from course_utils.exercise import Exercise
from course_utils.lessons.lesson5.repairs import (
    MAY_CHANGE,
    NO_HOOKS,
    PROPERTIES,
    QUANTITIES,
    arrange,
    cases_of_batches,
    same_repair,
    telling,
)

EXERCISE = Exercise(
    id="5.4",
    name="train_zero_per_epoch",
    title="Repair: the first batch of an epoch is right, the others are not",
    difficulty=2,
    minutes=6,
    goal=same_repair("train_zero_per_epoch"),
    cases=cases_of_batches,
    arrange=arrange,
    may_change=MAY_CHANGE,
    loop=True,
    rules=(NO_HOOKS,),
    hints=(
        "With one batch an epoch this loop is right. Draw the ledger of an epoch with four batches: where does the "
        "stack in .grad come down?",
        "Steps and clearings must come equally often. How often does each of the two lines run in an epoch?",
        "There are two loops, and the clearing stands in the outer one. Exactly one line has to move; the step stays "
        "where it is, since each batch is to have its own.",
    ),
    properties=telling(PROPERTIES, cases_of_batches(0)),
    quantities=QUANTITIES,
)
