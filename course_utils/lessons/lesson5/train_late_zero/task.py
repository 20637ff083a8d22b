"""Exercise 5.3: repair a loop that clears between backward and step."""

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
    id="5.3",
    name="train_late_zero",
    title="Repair: nothing is learned",
    difficulty=1,
    minutes=6,
    goal=same_repair("train_late_zero"),
    cases=cases_of_batches,
    arrange=arrange,
    may_change=MAY_CHANGE,
    loop=True,
    rules=(NO_HOOKS,),
    hints=(
        "The gradients are right after each backward. Print one of them once more on the line before the step.",
        "All four of clear, forward, backward and step are there. Which two stand in the wrong order?",
        "The step must find what the backward has left. Move the clearing to where nothing is lost: behind the step, "
        "or ahead of the backward. Take it out altogether, and you have the loop of 5.2.",
    ),
    properties=telling(PROPERTIES, cases_of_batches(0)),
    quantities=QUANTITIES,
)
