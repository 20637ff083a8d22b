"""What the six repairs have in common of what is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn

from course_utils.checks.answers import Broken
from course_utils.checks.mistakes import Mistake
from course_utils.exercise import Case, Evidence
from course_utils.lessons.training import HOOKS, Batch, LossFn


def one_step_a_batch(
    model: nn.Module, optimizer: torch.optim.Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> None:
    """Each batch's gradients are handed back, not accumulated, and put in place for the step."""
    params = [p for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        for x, y in batches:
            for p, gradient in zip(params, torch.autograd.grad(loss_fn(model(x), y), params), strict=True):
                p.grad = gradient
            optimizer.step()


def no_hooks(hooks_left_behind: Mistake) -> Callable[[Case, Evidence], Broken | None]:
    """The rule that no hook is left behind."""

    def rule(case: Case, evidence: Evidence) -> Broken | None:
        left = evidence.facts.get(HOOKS)
        if not left:
            return None
        return Broken(hooks_left_behind, f"hooks registered by the call and still there: {left}")

    return rule
