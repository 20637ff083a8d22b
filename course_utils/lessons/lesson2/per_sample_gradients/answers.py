"""What is right in exercise 2.5."""

from __future__ import annotations

import torch
from torch import nn
from torch.func import functional_call, jacrev

from course_utils.checks.answers import Answers, Broken
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson2.per_sample_gradients import mistakes
from course_utils.lessons.lesson2.per_sample_gradients.task import GRAD, HOOKS
from course_utils.lessons.watched_loss import LossFn


def right(model: nn.Module, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
    """The Jacobian of the vector of all samples' losses, from one forward pass of the batch."""
    params = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}

    def losses(params: dict[str, torch.Tensor]) -> torch.Tensor:
        predictions = functional_call(model, params, (x,))
        return torch.stack([loss_fn(p, t) for p, t in zip(predictions.split(1), y.split(1), strict=True)])

    found: dict[str, torch.Tensor] = jacrev(losses)(params)
    return found


def _hooks_rule(case: Case, evidence: Evidence) -> Broken | None:
    left = evidence.facts.get(HOOKS)
    if not left:
        return None
    return Broken(mistakes.hooks_left_behind, f"hooks registered by the call and still there: {left}")


ANSWERS = Answers(right, graded=(GRAD,), rules=_hooks_rule)
