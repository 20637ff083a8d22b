"""What is right in exercise 5.6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

from course_utils.checks.answers import Answers, without_result
from course_utils.lessons.lesson5.answers import no_hooks, one_step_a_batch
from course_utils.lessons.lesson5.repairs import HEAD, own_of
from course_utils.lessons.lesson5.train_swapped_layer import mistakes
from course_utils.lessons.training import PARAMETERS, Batch, LossFn, MakeOptimizer


def right(
    model: Any,
    new_head: nn.Module,
    make_optimizer: MakeOptimizer,
    loss_fn: LossFn,
    batches: Sequence[Batch],
    epochs: int,
) -> None:
    """The optimizer is given its parameters by name, whatever the model's head is then."""
    optimizer = make_optimizer([own_of(model)[1], *model.trunk.parameters(), *new_head.parameters()])
    model.head = new_head
    one_step_a_batch(model, optimizer, loss_fn, batches, epochs)


ANSWERS = Answers(right, graded=(HEAD, PARAMETERS), accept=without_result, rules=no_hooks(mistakes.hooks_left_behind))
