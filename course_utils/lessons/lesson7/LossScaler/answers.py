"""What is right in exercise 7.2."""

from __future__ import annotations

from typing import Any

import torch

from course_utils.checks.answers import Answers, nothing_used
from course_utils.exercise import Case
from course_utils.lessons.lesson7.LossScaler import mistakes
from course_utils.lessons.lesson7.LossScaler.task import (
    GRADIENTS,
    IN_ORDER,
    REFUSED,
    RETURNED,
    SCALED,
    SCALES,
    STEPS,
    UNWRITTEN,
    UPDATE,
    USED,
)


def right(init_scale: float, growth_factor: float, backoff_factor: float, growth_interval: int) -> Any:
    """The scaler that PyTorch has."""
    return torch.amp.GradScaler("cpu", init_scale, growth_factor, backoff_factor, growth_interval)


def _tolerance(case: Case) -> float:
    # PyTorch keeps the scale, and what it multiplies by to divide, in float32.
    return 2e-5 if case.spec.get("dtype") == "float32" else 1e-6


ANSWERS = Answers(
    right,
    graded=(UNWRITTEN, RETURNED, IN_ORDER, REFUSED, SCALED, STEPS, SCALES, GRADIENTS, UPDATE),
    rules=nothing_used(USED, mistakes.scaler_of_torchs_own),
    tolerance=_tolerance,
)
