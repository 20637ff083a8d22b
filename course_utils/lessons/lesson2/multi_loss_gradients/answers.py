"""What is right in exercise 2.4."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch import nn

from course_utils.checks.answers import Answers, Broken
from course_utils.exercise import Case, Evidence
from course_utils.lessons.cleared import gradients_alone
from course_utils.lessons.inputs import model_and_batch
from course_utils.lessons.lesson2.multi_loss_gradients import mistakes
from course_utils.lessons.lesson2.multi_loss_gradients.task import ALIVE, CALLS, GRAD, HOOKS, SHARED, kinds_of_losses

Loss = Callable[[nn.Module], torch.Tensor]


def right(model: nn.Module, losses: Sequence[Loss], weights: Sequence[float]) -> None:
    """Gradients handed back instead of accumulated, weighed afterwards, summed by hand and put in their place."""
    params = [p for p in model.parameters() if p.requires_grad]
    totals = [torch.zeros_like(p, requires_grad=False) for p in params]
    for loss, weight in zip(losses, weights, strict=True):
        found = torch.autograd.grad(loss(model), params, allow_unused=True, materialize_grads=True)
        totals = [total + weight * gradient for total, gradient in zip(totals, found, strict=True)]
    for p, total in zip(params, totals, strict=True):
        p.grad = total


@cache
def _trainable(kind: str) -> frozenset[str]:
    """The names of the parameters of that model that are not frozen."""
    model, _, _ = model_and_batch(Case("", {"model": kind, "seed": 0}))
    return frozenset(name for name, p in model.named_parameters() if p.requires_grad)


def _rules(case: Case, evidence: Evidence) -> Broken | None:
    if evidence.facts.get(HOOKS):
        left = evidence.facts[HOOKS]
        return Broken(mistakes.hooks_left_behind, f"hooks registered by the call and still there: {left}")
    calls, kinds = evidence.facts.get(CALLS), kinds_of_losses(case)
    alive = evidence.facts.get(ALIVE)
    if isinstance(calls, list) and len(calls) == len(kinds):
        for kind in dict.fromkeys(kinds):
            # Whoever calls the first of two equal ones twice, or one of them for both, called each place's loss.
            if sum(count for count, one in zip(calls, kinds, strict=True) if one == kind) > kinds.count(kind):
                return Broken(mistakes.loss_not_called_once, f"calls of each loss: {calls}")
    if isinstance(alive, list) and any(alive):
        seen = f"earlier graphs still alive when each loss was called: {alive}"
        return Broken(mistakes.graphs_kept_alive, seen)
    return None


ANSWERS = Answers(right, graded=(GRAD, SHARED), accept=gradients_alone(GRAD, _trainable), rules=_rules)
