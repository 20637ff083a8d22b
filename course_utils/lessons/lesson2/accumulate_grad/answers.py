"""What is right in exercise 2.2."""

from __future__ import annotations

import torch

from course_utils.checks.answers import Answers, Broken
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson2.accumulate_grad import mistakes
from course_utils.lessons.lesson2.accumulate_grad.task import GRAD, MEMORY, RAISED, SAME_MEMORY, SAME_TENSOR


def right(param: torch.Tensor, incoming: torch.Tensor) -> None:
    """The sum is made elsewhere and then written over the old values."""
    if list(param.shape) != list(incoming.shape):
        raise ValueError("a gradient has the shape of its parameter")
    if param.grad is None:
        param.grad = torch.zeros(param.shape, dtype=param.dtype, device=param.device)
    param.grad[...] = param.grad + incoming


def _in_place(case: Case, evidence: Evidence) -> Broken | None:
    same = evidence.facts[SAME_TENSOR]
    if case.spec.get("earlier") == "zeros" and same[0] is False and same[-1] is True:
        return Broken(
            mistakes.zeros_taken_for_no_gradient, "after the call .grad is another tensor than the one of zeros"
        )
    if False in same:
        return Broken(mistakes.new_tensor_in_grad, "after the call .grad is another tensor than before it")
    if False in evidence.facts[SAME_MEMORY]:
        return Broken(mistakes.new_tensor_in_grad, "after the call .grad lies in other memory than before it")
    return None


ANSWERS = Answers(right, graded=(RAISED, GRAD, MEMORY), rules=_in_place)
