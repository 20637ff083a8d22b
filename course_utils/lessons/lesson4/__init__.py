"""Lesson 4, where zeroing fits in the loop: its exercises in order, and their points."""

from __future__ import annotations

from course_utils.lessons.declare import Lesson, exercises_of
from course_utils.lessons.lesson4.questions import QUESTIONS

EXERCISES = exercises_of(
    __name__,
    {
        "train_step": 12,
        "train": 17,
        "is_valid_order": 18,
        "train_step_clipped": 15,
        "adversarial_step": 22,
        "closure_step": 16,
    },
)
LESSON = Lesson(
    4, "04_zeroing_in_the_training_loop", "Where zeroing fits in the loop", EXERCISES, QUESTIONS, reading_minutes=48
)
