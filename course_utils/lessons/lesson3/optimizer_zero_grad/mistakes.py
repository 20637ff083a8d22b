"""What is often done instead in exercise 3.2."""

from __future__ import annotations

import torch

from course_utils.checks.mistakes import mistake


@mistake(
    "zero_grad was called",
    "The right gradients were cleared, and a zero_grad did it. The exercise asks for it by hand.",
    "Walk through the optimizer's groups yourself.",
    "In a training loop it is the right call.",
)
def zero_grad_called(optimizer: torch.optim.Optimizer, set_to_none: bool = True) -> None:
    optimizer.zero_grad(set_to_none)
