"""What is right in exercise 3.3."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.checks.answers import Answers, without_result
from course_utils.lessons.lesson3.freeze.task import BUFFERS, FROZEN, OTHERS, OTHERS_GRAD, REPLACED, TRAINING


def right(module: nn.Module) -> None:
    """By a hook that throws away whatever backward brings, beside what is there already."""

    def thrown_away(param: torch.Tensor) -> None:
        param.grad = None

    for param in module.parameters():
        param.grad = None
        if param.requires_grad:
            param.register_post_accumulate_grad_hook(thrown_away)


ANSWERS = Answers(right, graded=(FROZEN, OTHERS, OTHERS_GRAD, BUFFERS, REPLACED, TRAINING), accept=without_result)
