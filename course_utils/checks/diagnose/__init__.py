"""What is certain of an attempt that no known mistake explains: sentences that hold on all the evidence.

Each module asks one family of questions. A question looks at the failing cases together, and answers with a sentence
only when it is true on every one of them; a cause is named only where the facts decide it.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_utils.checks.diagnose import conditions, effects, entries, forms, ledger, lists, steps, values
from course_utils.checks.diagnose.effects import changed
from course_utils.checks.diagnose.ledger import errors, named
from course_utils.checks.diagnose.run import Run
from course_utils.exercise import Exercise

__all__ = ["Run", "changed", "diagnose", "errors", "named"]

MOST = 4
"""Most sentences on one card: what is said first is what leads furthest."""

QUESTIONS = (
    effects.warnings,
    ledger.questions,
    conditions.telling,
    steps.questions,
    forms.questions,
    values.questions,
    entries.questions,
    lists.questions,
    conditions.questions,
)
"""In the order in which their sentences stand on a card: the most telling first."""


def diagnose(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> tuple[str, ...]:
    """Sentences that hold on each of `group`, the failing cases of one kind; `runs` are all the cases."""
    said: list[str] = []
    for ask in QUESTIONS:
        said += ask(exercise, group, runs)
    return tuple(dict.fromkeys(said))[:MOST]
