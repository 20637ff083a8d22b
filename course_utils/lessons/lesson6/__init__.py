"""Lesson 6, gradient accumulation: its exercises in order, and their points."""

from __future__ import annotations

from course_utils.lessons.declare import Lesson, exercises_of
from course_utils.lessons.lesson6.questions import QUESTIONS

EXERCISES = exercises_of(
    __name__,
    {
        "accumulate_equal": 8,
        "accumulate_uneven": 12,
        "accumulate_tokens": 18,
        "plan_windows": 10,
        "train_accumulated": 18,
        "make_accumulation_safe": 12,
        "largest_micro_batch": 8,
        "fuse_optimizer_into_backward": 14,
    },
)
LESSON = Lesson(6, "06_gradient_accumulation", "Gradient accumulation", EXERCISES, QUESTIONS, reading_minutes=73)
