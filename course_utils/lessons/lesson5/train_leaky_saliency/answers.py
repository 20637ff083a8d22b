"""What is right in exercise 5.5."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from course_utils.checks.answers import Answers, Broken
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson5.answers import no_hooks
from course_utils.lessons.lesson5.repairs import LEFT_ON_X
from course_utils.lessons.lesson5.train_leaky_saliency import mistakes
from course_utils.lessons.training import PARAMETERS, Batch, LossFn


def right(
    model: nn.Module, optimizer: torch.optim.Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> list[torch.Tensor]:
    """One pass a batch hands back the gradients of parameters and pixels together."""
    params = [p for p in model.parameters() if p.requires_grad]
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            pixels = x.detach().clone().requires_grad_()
            slope, *gradients = torch.autograd.grad(loss_fn(model(pixels), y), [pixels, *params])
            maps.append(slope.abs())
            for p, gradient in zip(params, gradients, strict=True):
                p.grad = gradient
            optimizer.step()
    return maps


_hooks = no_hooks(mistakes.hooks_left_behind)


def _rules(case: Case, evidence: Evidence) -> Broken | None:
    left = evidence.facts.get(LEFT_ON_X)
    if left:
        return Broken(mistakes.gradient_left_on_x, f"batches whose x holds a gradient after the call: {left}")
    return _hooks(case, evidence)


ANSWERS = Answers(right, graded=(PARAMETERS,), rules=_rules)
