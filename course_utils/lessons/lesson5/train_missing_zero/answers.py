"""What is right in exercise 5.2."""

from __future__ import annotations

from course_utils.checks.answers import Answers, without_result
from course_utils.lessons.lesson5.answers import no_hooks, one_step_a_batch
from course_utils.lessons.lesson5.train_missing_zero import mistakes
from course_utils.lessons.training import PARAMETERS

ANSWERS = Answers(
    one_step_a_batch, graded=(PARAMETERS,), accept=without_result, rules=no_hooks(mistakes.hooks_left_behind)
)
