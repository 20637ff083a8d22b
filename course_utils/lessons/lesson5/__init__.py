"""Lesson 5, what happens when it goes wrong: its exercises in order, and their points."""

from __future__ import annotations

from course_utils.lessons.declare import Lesson, exercises_of
from course_utils.lessons.lesson5.questions import QUESTIONS

EXERCISES = exercises_of(
    __name__,
    {
        "diagnose": 20,
        "train_missing_zero": 6,
        "train_late_zero": 6,
        "train_zero_per_epoch": 8,
        "train_leaky_saliency": 12,
        "train_swapped_layer": 10,
        "train_kept_running_loss": 10,
        "momentum_twin": 14,
        "stale_steps": 14,
    },
)
LESSON = Lesson(
    5, "05_when_zeroing_goes_wrong", "What happens when it goes wrong", EXERCISES, QUESTIONS, reading_minutes=50
)
