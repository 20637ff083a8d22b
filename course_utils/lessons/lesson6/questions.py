"""Predictions and quizzes of lesson 6."""

from __future__ import annotations

from course_utils.lessons.declare import Question

QUESTIONS: tuple[Question, ...] = ()
