"""What is right in exercise 5.8."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from course_utils.checks.answers import Answers, Broken, without_result
from course_utils.checks.observe import LEDGER
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson5.momentum_twin.mistakes import never_cleared, sum_brought_back
from course_utils.lessons.lesson5.momentum_twin.task import LEFT, UNTOUCHED
from course_utils.lessons.training import PARAMETERS, Batch, LossFn


def right(model: nn.Module, loss_fn: LossFn, batches: Sequence[Batch], lr: float) -> None:
    """By the sums themselves, without an optimizer and without any `.grad`."""
    trained = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p, requires_grad=False) for p in trained]
    for x, y in batches:
        new = torch.autograd.grad(loss_fn(model(x), y), trained, allow_unused=True, materialize_grads=True)
        sums = [old + gradient for old, gradient in zip(sums, new, strict=True)]
        with torch.no_grad():
            for p, total in zip(trained, sums, strict=True):
                p.sub_(lr * total)


def _rules(case: Case, evidence: Evidence) -> Broken | None:
    mixed = evidence.facts.get(LEFT)
    if isinstance(mixed, list) and mixed:
        mistake = never_cleared if evidence.facts.get(UNTOUCHED) else sum_brought_back
        return Broken(mistake, f"after a backward, .grad of {mixed[0]} held something of earlier batches")
    found = evidence.facts.get(LEDGER)
    if isinstance(found, list) and "never-zeroed" in found:  # on a copy of the model, say
        return Broken(never_cleared, "a loop that never clears was run on the way")
    return None


ANSWERS = Answers(right, graded=(PARAMETERS,), accept=without_result, rules=_rules)
