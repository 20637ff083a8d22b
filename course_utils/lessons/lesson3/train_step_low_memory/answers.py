"""What is right in exercise 3.5."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.checks.answers import Answers, Broken
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson3.train_step_low_memory import mistakes
from course_utils.lessons.lesson3.train_step_low_memory.task import ALIVE, STATE, ZEROS
from course_utils.lessons.training import PARAMETERS, LossFn


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
    alive, zeros = evidence.facts.get(ALIVE), evidence.facts.get(ZEROS)
    if not isinstance(alive, list) or not isinstance(zeros, list) or not any(alive):
        return None
    seen = f"{ALIVE}: {', '.join(map(str, alive))}"
    at = next(number for number, count in enumerate(alive) if count)
    if zeros[at] == "all":
        return Broken(mistakes.zeros_alive_in_the_forward_pass, f"{seen}; all of them zeros")
    return Broken(mistakes.gradients_alive_in_the_forward_pass, seen)


ANSWERS = Answers(right, graded=(PARAMETERS, STATE), rules=_nothing_alive)
