"""What is right in exercise 6.5."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn

from course_utils.checks.answers import Answers
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson4.steps import UPDATE, tolerance
from course_utils.lessons.lesson6.answers import rules, whole_batch
from course_utils.lessons.lesson6.train_accumulated.task import SCHEDULED, Scheduler
from course_utils.lessons.returned import floats_beside
from course_utils.lessons.training import Batch, LossFn

RETURNED = "the returned losses"
_EPS = 1e-5
"""Between a scale of max_norm / norm and torch's own, which adds 1e-6 to the norm."""


def right(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: LossFn,
    batches: Sequence[Batch],
    window: int,
    epochs: int,
    scheduler: Scheduler | None = None,
    max_norm: float | None = None,
) -> list[float]:
    """Each window as one large batch, its gradient scaled by hand; the losses of all rows, one by one, and their mean."""
    losses = []
    for _ in range(epochs):
        rows: list[float] = []
        for first in range(0, len(batches), window):
            part = list(batches[first : first + window])
            with torch.no_grad():
                rows += [loss_fn(model(x[[i]]), y[[i]]).item() for x, y in part for i in range(len(x))]
            whole_batch(model, loss_fn, part)
            held = [p.grad for p in model.parameters() if p.grad is not None]
            norm = math.sqrt(sum(float((gradient.double() ** 2).sum()) for gradient in held))
            for gradient in held:
                gradient *= 1.0 if max_norm is None else min(1.0, max_norm / norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(math.fsum(rows) / len(rows))
    return losses


def _accepted(_: Case, evidence: Evidence) -> Evidence:
    return floats_beside(evidence, RETURNED)


ANSWERS = Answers(
    right,
    graded=(UPDATE, RETURNED, SCHEDULED),
    accept=_accepted,
    rules=rules,
    tolerance=lambda case: max(tolerance(case), _EPS),
)
