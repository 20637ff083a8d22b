"""What is often done instead in exercise 5.8."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.lessons.training import Batch, LossFn


@mistake(
    "No clear: the path is right, and .grad holds the sum",
    "The parameters end where they should, because this is the loop that never clears, or leaves its sum in .grad as "
    "that one does.",
    "Clear for each batch, and let the optimizer, or a buffer of your own, carry the sum.",
)
def never_cleared(model: nn.Module, loss_fn: LossFn, batches: Sequence[Batch], lr: float) -> None:
    raise NotImplementedError
