"""What is right in exercise 3.2."""

from __future__ import annotations

import torch

from course_utils.checks.answers import Answers, nothing_used, without_result
from course_utils.lessons.lesson3.clear_gradients.answers import exactly
from course_utils.lessons.lesson3.clearing import GRAD, VALUES, WHERE
from course_utils.lessons.lesson3.optimizer_zero_grad import mistakes
from course_utils.lessons.lesson3.optimizer_zero_grad.task import CALLED, GROUPS, STATE


def right(optimizer: torch.optim.Optimizer, set_to_none: bool = True) -> None:
    """By PyTorch's own, which the rule forbids."""
    optimizer.zero_grad(set_to_none)


ANSWERS = Answers(
    right,
    graded=(GRAD, WHERE, VALUES, STATE, GROUPS),
    accept=without_result,
    tolerance=exactly,
    rules=nothing_used(CALLED, mistakes.zero_grad_called),
)
