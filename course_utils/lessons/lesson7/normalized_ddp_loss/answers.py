"""What is right in exercise 7.6."""

from __future__ import annotations

from collections.abc import Callable

import torch

from course_utils.checks.answers import Answers
from course_utils.lessons.lesson7.normalized_ddp_loss.task import TRACED


def right(
    loss_sum: torch.Tensor, local_count: torch.Tensor, world_size: int, all_reduce: Callable[[torch.Tensor], None]
) -> torch.Tensor:
    """The mean number of tokens a rank, by which each rank divides."""
    tokens = local_count.double()
    all_reduce(tokens)
    return loss_sum * (world_size / tokens.item())


# A count divided by a count is float32 in torch, whatever the loss is.
ANSWERS = Answers(right, graded=("the gradient on rank", TRACED), tolerance=lambda case: 2e-5)
