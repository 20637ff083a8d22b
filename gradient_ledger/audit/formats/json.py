"""The report for programs: one JSON value, whatever happened."""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO

from gradient_ledger.audit.outcome import Outcome


def write(outcome: Outcome, out: TextIO) -> None:
    """What the ledger saw, how the script ended, and the exit status. A traceback is shown on stderr too."""
    plain: dict[str, Any] = {"findings": [], "steps": 0}
    if outcome.log is not None:  # else the ledger may be what cannot be imported
        from gradient_ledger.report import as_plain

        plain = as_plain(outcome.log, outcome.findings, events=outcome.events, trouble=outcome.trouble)
    if outcome.trace:
        print(outcome.trace, file=sys.stderr)
        plain["traceback"] = outcome.trace
    plain |= {
        "script": outcome.script,
        "ended": outcome.how,
        "message": outcome.no_report or outcome.said,
        "exit_status": outcome.exit_status,
    }
    print(json.dumps(plain, indent=1), file=out)
