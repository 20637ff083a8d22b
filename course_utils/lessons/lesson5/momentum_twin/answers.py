"""What is right in exercise 5.8."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import nn

from course_utils.checks.answers import Answers, Broken
from course_utils.checks.observe import LEDGER
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson5.momentum_twin.mistakes import never_cleared
from course_utils.lessons.lesson5.momentum_twin.task import LEFT
from course_utils.lessons.training import PARAMETERS, Batch, LossFn


def right(model: nn.Module, loss_fn: LossFn, batches: Sequence[Batch], lr: float) -> None:
    """The loop whose path is asked for: it never clears."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for x, y in batches:
        torch.autograd.backward(loss_fn(model(x), y))
        optimizer.step()


def _accepted(case: Case, evidence: Evidence) -> Evidence:
    """What is returned does not matter."""
    return replace(evidence, result=None)


def _rules(case: Case, evidence: Evidence) -> Broken | None:
    mixed = evidence.facts.get(LEFT)
    if isinstance(mixed, list) and mixed:
        return Broken(never_cleared, f"after a backward, .grad held more than its batch's gradient in {mixed[0]}")
    found = evidence.facts.get(LEDGER)
    if isinstance(found, list) and "never-zeroed" in found:  # on a copy of the model, say
        return Broken(never_cleared, "a loop that never clears was run on the way")
    return None


ANSWERS = Answers(right, graded=(PARAMETERS,), accept=_accepted, rules=_rules)
