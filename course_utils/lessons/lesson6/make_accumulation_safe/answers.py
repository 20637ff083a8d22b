"""What is right in exercise 6.6."""

from __future__ import annotations

from dataclasses import replace

from torch import nn

from course_utils.checks.answers import Answers
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson6.make_accumulation_safe.task import (
    BATCH_NORMS,
    CHANGED_LAYERS,
    DEAD,
    GRADIENTS,
    LEFT_MODE,
    LOST,
    MODES,
    PASSES,
    SHAPES,
)


def right(model: nn.Module) -> None:
    """Nothing in place of batch norm."""
    for module in model.modules():
        for name, part in module._modules.items():
            if isinstance(part, BATCH_NORMS):
                module._modules[name] = nn.Identity()


def _accepted(case: Case, evidence: Evidence) -> Evidence:
    """What is returned does not matter."""
    return replace(evidence, result=None)


ANSWERS = Answers(
    right, graded=(LOST, CHANGED_LAYERS, LEFT_MODE, PASSES, MODES, SHAPES, DEAD, GRADIENTS), accept=_accepted
)
