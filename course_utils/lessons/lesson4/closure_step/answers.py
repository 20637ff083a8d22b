"""What is right in exercise 4.6."""

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
    """Gradients handed back in the closure and put in place; None wherever there is none."""
    every = list(model.parameters())
    trainable = [p for p in every if p.requires_grad]
    losses: list[float] = []

    def closure() -> float:
        with torch.enable_grad():
            loss = loss_fn(model(x), y)
            gradients = torch.autograd.grad(loss, trainable, allow_unused=True)
        for p in every:
            p.grad = None
        for p, gradient in zip(trainable, gradients, strict=True):
            p.grad = gradient
        losses.append(loss.item())
        return losses[-1]

    optimizer.step(closure)
    return losses[0]


def _accepted(_: Case, evidence: Evidence) -> Evidence:
    return float_beside(evidence, RETURNED)


ANSWERS = Answers(right, graded=(UPDATE, RETURNED), accept=_accepted, tolerance=tolerance)
