"""Lesson 7, mixed precision, many devices: its exercises in order, and their points."""

from __future__ import annotations

from course_utils.lessons.declare import Lesson, exercises_of
from course_utils.lessons.lesson7.questions import QUESTIONS

EXERCISES = exercises_of(
    __name__,
    {
        "underflow_fraction": 15,
        "LossScaler": 15,
        "amp_accumulation_step": 14,
        "accumulate_in_fp32": 14,
        "ddp_accumulation_step": 14,
        "normalized_ddp_loss": 10,
        "train": 18,
    },
)
LESSON = Lesson(
    7, "07_mixed_precision_accumulation", "Mixed precision, many devices", EXERCISES, QUESTIONS, reading_minutes=68
)
