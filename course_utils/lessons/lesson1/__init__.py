"""Lesson 1, what gradients are: its exercises in order, and their points."""

from __future__ import annotations

from course_utils.lessons.declare import Lesson, exercises_of
from course_utils.lessons.lesson1.questions import QUESTIONS

EXERCISES = exercises_of(
    __name__,
    {
        "numerical_gradient": 20,
        "linear_mse_gradient": 15,
        "parameter_gradients": 20,
        "gradient_descent": 10,
        "two_layer_backward": 20,
        "find_cuts": 15,
    },
)
LESSON = Lesson(1, "01_what_gradients_are", "What gradients are", EXERCISES, QUESTIONS, reading_minutes=54)
