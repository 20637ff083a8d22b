"""Lesson 2, why gradients accumulate: its exercises in order, and their points."""

from __future__ import annotations

from course_utils.lessons.declare import Lesson, exercises_of
from course_utils.lessons.lesson2.questions import QUESTIONS

EXERCISES = exercises_of(
    __name__,
    {
        "backward_n_times": 10,
        "accumulate_grad": 15,
        "shared_weight_gradient": 15,
        "multi_loss_gradients": 15,
        "per_sample_gradients": 15,
        "scalar_backward": 20,
        "train_in_pieces": 10,
    },
)
LESSON = Lesson(2, "02_why_gradients_accumulate", "Why gradients accumulate", EXERCISES, QUESTIONS, reading_minutes=50)
