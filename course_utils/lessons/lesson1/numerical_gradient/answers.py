"""What is right in exercise 1.1."""

from __future__ import annotations

import torch

from course_utils.checks.answers import Answers
from course_utils.exercise import Case
from course_utils.lessons.lesson1.inputs import Scalar
from course_utils.lessons.lesson1.numerical_gradient.task import H


@torch.no_grad()
def right(f: Scalar, x: torch.Tensor, h: float = H) -> torch.Tensor:
    """Central differences, by adding and taking away rows of the identity."""
    identity = torch.eye(x.numel(), dtype=x.dtype, device=x.device)
    slopes = [(f(x + (h * row).reshape(x.shape)) - f(x - (h * row).reshape(x.shape))) / (2 * h) for row in identity]
    return torch.stack(slopes).reshape(x.shape)


def _tolerance(case: Case) -> float:
    # Rounding of f is divided by 2h: eps / h, with a margin for the order of the operations.
    eps = torch.finfo(torch.float32 if case.spec.get("dtype") == "float32" else torch.float64).eps
    return 50 * eps / float(case.spec.get("h", H))


ANSWERS = Answers(right, tolerance=_tolerance)
