"""What is right in exercise 6.8."""

from __future__ import annotations

from dataclasses import replace

from course_utils.checks.answers import Answers, Broken
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson6.fuse_optimizer_into_backward import mistakes
from course_utils.lessons.lesson6.fuse_optimizer_into_backward.task import (
    AGAIN,
    GRAD_AFTER,
    HANDLE,
    HELD,
    LEFT,
    MOVED,
    MOVED_AFTER,
    UPDATE,
)


def _accepted(case: Case, evidence: Evidence) -> Evidence:
    """Of what came back, the facts tell whether it is a handle."""
    return replace(evidence, result=None)


def _freed(case: Case, evidence: Evidence) -> Broken | None:
    held = evidence.facts[HELD]
    if not held:
        return None
    return Broken(
        mistakes.freed_at_the_end, f"in .grad when backward came to a layer in front of theirs: {', '.join(held)}"
    )


ANSWERS = Answers(
    mistakes.ordinary_accumulation,  # the very numbers; its only fault is against the rule
    graded=(HANDLE, MOVED, UPDATE, LEFT, MOVED_AFTER, GRAD_AFTER, AGAIN),
    accept=_accepted,
    rules=_freed,
)
