"""What is right in exercise 4.1."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.checks.answers import Answers
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson4.steps import UPDATE, tolerance
from course_utils.lessons.returned import float_beside
from course_utils.lessons.training import LossFn

RETURNED = "the returned loss"


def right(
    model: nn.Module, optimizer: torch.optim.Optimizer, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor
) -> float:
    """Gradients handed back and put in place; None wherever there is none."""
    trainable = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    for p in model.parameters():
        p.grad = None
    for p, gradient in zip(trainable, torch.autograd.grad(loss, trainable, allow_unused=True), strict=True):
        p.grad = gradient
    optimizer.step()
    return loss.item()


def _accepted(_: Case, evidence: Evidence) -> Evidence:
    return float_beside(evidence, RETURNED)


ANSWERS = Answers(right, graded=(UPDATE, RETURNED), accept=_accepted, tolerance=tolerance)
