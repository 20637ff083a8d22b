"""What a `GradientLedger` finds while an attempt runs, as plain data: for attempts that are training loops."""

from __future__ import annotations

from course_utils.checks.observe.raised import is_learners
from course_utils.plain import Plain
from gradient_ledger import GradientLedger
from gradient_ledger.events import Finding

LEDGER = "what the ledger found"
"""The fact that holds the ids of the findings, notes left out: a mistake may have it among its signs."""
SAID = "what the ledger said"
"""Those of them that point at the learner's code or at no line, as dicts with the keys of `_plain`."""


def findings_of(ledger: GradientLedger) -> dict[str, Plain]:
    """Both facts of a closed ledger; none where the ledger itself failed, since it then saw a part of the run only."""
    found = [one for one in ledger.findings() if one.severity != "info"]
    if ledger.trouble:
        return {}
    # The model and the loss of a case are ours: a line of theirs tells a learner nothing.
    said = [_plain(one) for one in found if one.where is None or is_learners(one.where.file)]
    return {LEDGER: sorted({one.misconception for one in found}), SAID: said}


def _plain(one: Finding) -> dict[str, str]:
    return {
        "id": one.misconception,
        "severity": one.severity,
        "line": one.where.short if one.where else "",
        "code": one.where.code if one.where else "",
        "text": one.text,
    }
