"""Predictions and quizzes of lesson 7."""

from __future__ import annotations

from course_utils.lessons.declare import Question

QUESTIONS: tuple[Question, ...] = ()
