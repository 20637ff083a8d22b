"""What is right in exercise 3.5."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.checks.answers import Answers, Broken
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson3.train_step_low_memory import mistakes
from course_utils.lessons.lesson3.train_step_low_memory.task import ALIVE, STATE, UPDATE, ZEROS
from course_utils.lessons.returned import float_beside, floats_beside
from course_utils.lessons.training import LossFn, tolerance

LOSS = "the loss returned"


def right(
    model: nn.Module, optimizer: torch.optim.Optimizer, loss_fn: LossFn, x: torch.Tensor, y: torch.Tensor
) -> float:
    """Gradients handed back by autograd, and put in place after the forward pass."""
    every = list(model.parameters())
    for param in every:
        param.grad = None
    params = [param for param in every if param.requires_grad]
    loss = loss_fn(model(x), y)
    for param, gradient in zip(params, torch.autograd.grad(loss, params, allow_unused=True), strict=True):
        param.grad = gradient
    optimizer.step()
    return loss.item()


def _nothing_alive(case: Case, evidence: Evidence) -> Broken | None:
    calls = list(zip(evidence.facts[ALIVE], evidence.facts[ZEROS], strict=True))
    bad = [(alive, zeros) for alive, zeros in calls if any(alive)]
    if not bad:
        return None
    alive, zeros = bad[0]
    number = f" of call {calls.index(bad[0]) + 1}" if len(calls) > 1 else ""
    seen = f"bytes of gradients alive at the forward passes{number}: {', '.join(map(str, alive))}"
    if not alive[0]:
        return Broken(mistakes.gradients_alive_in_a_later_forward_pass, seen)
    if zeros[0]:
        return Broken(mistakes.zeros_alive_in_the_forward_pass, f"{seen}; at the first of them all are zeros")
    return Broken(mistakes.gradients_alive_in_the_forward_pass, seen)


def _accepted(case: Case, evidence: Evidence) -> Evidence:
    """Losses are compared as tensors beside the result, of which one can say by what factor they differ."""
    beside = floats_beside if case.spec.get("calls", 1) > 1 else float_beside
    return beside(evidence, LOSS)


ANSWERS = Answers(right, graded=(LOSS, UPDATE, STATE), accept=_accepted, rules=_nothing_alive, tolerance=tolerance)
