"""What is right in exercise 4.2."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from course_utils.checks.answers import Answers
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson4.steps import UPDATE, tolerance
from course_utils.lessons.lesson4.train_step.answers import right as step
from course_utils.lessons.returned import floats_beside
from course_utils.lessons.training import Batch, LossFn

RETURNED = "the returned losses"


def right(
    model: nn.Module, optimizer: torch.optim.Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> list[float]:
    """The losses of each row of an epoch in one tensor, and its mean."""
    losses = []
    for _ in range(epochs):
        rows = [torch.full((len(x),), step(model, optimizer, loss_fn, x, y), dtype=torch.float64) for x, y in batches]
        losses.append(torch.cat(rows).mean().item())
    return losses


def _accepted(_: Case, evidence: Evidence) -> Evidence:
    return floats_beside(evidence, RETURNED)


ANSWERS = Answers(right, graded=(UPDATE, RETURNED), accept=_accepted, tolerance=tolerance)
