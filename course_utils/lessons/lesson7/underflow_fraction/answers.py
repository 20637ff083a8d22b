"""What is right in exercise 7.1."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from course_utils.checks.answers import Answers
from course_utils.exercise import Case, Evidence
from course_utils.lessons.returned import float_beside

SHARE = "the returned share"


def right(gradients: Sequence[torch.Tensor], scale: float, dtype: torch.dtype) -> float:
    """Entry by entry, in Python."""
    found = [
        bool(torch.tensor(entry, dtype=gradient.dtype, device=gradient.device).mul(scale).to(dtype) == 0)
        for gradient in gradients
        for entry in gradient.flatten().tolist()
        if entry != 0
    ]
    return sum(found) / max(len(found), 1)


def _accepted(_: Case, evidence: Evidence) -> Evidence:
    return float_beside(evidence, SHARE)


ANSWERS = Answers(right, graded=(SHARE,), accept=_accepted, tolerance=lambda _: 1e-6)
