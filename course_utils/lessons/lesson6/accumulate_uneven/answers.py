"""What is right in exercise 6.2."""

from __future__ import annotations

from course_utils.checks.answers import Answers
from course_utils.lessons.cleared import gradients_alone
from course_utils.lessons.inputs import model_and_batch
from course_utils.lessons.lesson6.answers import rules, trainable_in, whole_batch
from course_utils.lessons.lesson6.inputs import GRAD

right = whole_batch
ANSWERS = Answers(
    right,
    graded=(GRAD,),
    accept=gradients_alone(GRAD, trainable_in(lambda case: model_and_batch(case)[0])),
    rules=rules,
)
