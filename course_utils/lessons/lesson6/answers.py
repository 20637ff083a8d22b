"""What the exercises of lesson 6 have in common of what is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch import nn

from course_utils.checks.answers import Broken
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson6 import mistakes
from course_utils.lessons.lesson6.graphs import AT_ONCE
from course_utils.lessons.training import HOOKS, Batch, LossFn


def assign_gradient(model: nn.Module, loss: torch.Tensor) -> None:
    """Handed back by autograd and put into `.grad`; None where the loss does not depend on a parameter."""
    trainable = [p for p in model.parameters() if p.requires_grad]
    for p in model.parameters():
        p.grad = None
    for p, gradient in zip(trainable, torch.autograd.grad(loss, trainable, allow_unused=True), strict=True):
        p.grad = gradient


def whole_batch(model: nn.Module, loss_fn: LossFn, micro_batches: Sequence[Batch]) -> None:
    """All rows as one batch: what accumulation stands for, and what its rule forbids."""
    x, y = (torch.cat(parts) for parts in zip(*micro_batches, strict=True))
    assign_gradient(model, loss_fn(model(x), y))


def trainable_in(build: Callable[[Case], nn.Module]) -> Callable[[str], frozenset[str]]:
    """From the kind of a model to the names of its parameters that are not frozen."""

    @cache
    def trainable(kind: str) -> frozenset[str]:
        model = build(Case("", {"model": kind, "seed": 0}))
        return frozenset(name for name, p in model.named_parameters() if p.requires_grad)

    return trainable


def rules(case: Case, evidence: Evidence) -> Broken | None:
    """No hook is left behind, and one micro-batch's graph at a time is in memory."""
    if evidence.facts.get(HOOKS):
        return Broken(
            mistakes.hooks_left_behind, f"hooks registered by the call and still there: {evidence.facts[HOOKS]}"
        )
    at_once = evidence.facts.get(AT_ONCE)
    if isinstance(at_once, list) and any(one != 1 for one in at_once):
        seen = f"micro-batches in memory at each pass through the model: {at_once}"
        return Broken(mistakes.several_graphs_at_once, seen)
    return None
