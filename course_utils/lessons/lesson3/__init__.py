"""Lesson 3, how to zero gradients: its exercises in order, and their points."""

from __future__ import annotations

from course_utils.lessons.declare import Lesson, exercises_of
from course_utils.lessons.lesson3.questions import QUESTIONS

EXERCISES = exercises_of(
    __name__,
    {
        "clear_gradients": 15,
        "optimizer_zero_grad": 15,
        "freeze": 25,
        "zeroing_traffic": 20,
        "train_step_low_memory": 25,
    },
)
LESSON = Lesson(3, "03_zeroing_gradients", "How to zero gradients", EXERCISES, QUESTIONS, reading_minutes=49)
