"""What is right in exercise 4.4."""

from __future__ import annotations

import math

import torch
from torch import nn

from course_utils.checks.answers import Answers
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson4.steps import UPDATE, tolerance
from course_utils.lessons.returned import floats_beside
from course_utils.lessons.training import LossFn

LOSS, NORM = "the returned loss", "the returned norm"
_EPS = 1e-5
"""Between a scale of max_norm / norm and torch's own, which adds 1e-6 to the norm."""


def right(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: LossFn,
    x: torch.Tensor,
    y: torch.Tensor,
    max_norm: float,
) -> tuple[float, float]:
    """Gradients handed back, measured and scaled by hand, and put in place."""
    trainable = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    for p in model.parameters():
        p.grad = None
    gradients = torch.autograd.grad(loss, trainable, allow_unused=True)
    norm = math.sqrt(sum(float((gradient.double() ** 2).sum()) for gradient in gradients if gradient is not None))
    for p, gradient in zip(trainable, gradients, strict=True):
        p.grad = None if gradient is None else gradient * min(1.0, max_norm / norm)
    optimizer.step()
    return loss.item(), norm


def _accepted(_: Case, evidence: Evidence) -> Evidence:
    return floats_beside(evidence, (LOSS, NORM), tensors=(1,))


ANSWERS = Answers(
    right, graded=(UPDATE, LOSS, NORM), accept=_accepted, tolerance=lambda case: max(tolerance(case), _EPS)
)
