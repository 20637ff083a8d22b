"""What is right in exercise 1.4."""

from __future__ import annotations

import torch

from course_utils.checks.answers import Answers, Broken
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson1.gradient_descent.mistakes import same_tensor_in_list
from course_utils.lessons.lesson1.gradient_descent.task import DIFFERENT
from course_utils.lessons.lesson1.inputs import Scalar


def right(f: Scalar, x0: torch.Tensor, lr: float, steps: int) -> list[torch.Tensor]:
    """By the function that is the gradient of f: nothing requires gradients, nothing is recorded."""
    slope = torch.func.grad(f)
    points = [x0.detach().clone()]
    for _ in range(steps):
        points.append(points[-1] - lr * slope(points[-1]))
    return points


def _different(case: Case, evidence: Evidence) -> Broken | None:
    points, different = evidence.result, evidence.facts.get(DIFFERENT)
    if isinstance(points, list) and different != len(points):
        return Broken(same_tensor_in_list, f"{len(points)} points in {different} different tensors")
    return None


ANSWERS = Answers(right, rules=_different)
