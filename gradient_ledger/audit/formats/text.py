"""The report for people."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from gradient_ledger.audit.outcome import Outcome
from gradient_ledger.events import Backward

if TYPE_CHECKING:
    from gradient_ledger import Log

BLIND = (
    "What an audit cannot see: losses scaled or averaged wrongly (give --reference), steps meant per micro-batch (give "
    "--window), writes through .data or .numpy() (give --digests), one of several paths that is cut off while others "
    "still bring gradients, memory, and other processes (audit each rank)."
)


def write(outcome: Outcome, out: TextIO) -> None:
    """The report; where there is none, a line on stderr that says why."""
    if outcome.log is None or outcome.no_report:
        if outcome.trace:
            print(outcome.trace, file=sys.stderr)
        print(f"gradient-ledger: {outcome.no_report}", file=sys.stderr)
        return
    from gradient_ledger.report import as_text  # where there is no log, the ledger may be what cannot be imported

    parts = ["", *([outcome.trace] if outcome.trace else []), f"gradient-ledger: {outcome.script} {outcome.said}."]
    parts.append(as_text(outcome.log, outcome.findings, trouble=outcome.trouble))
    if not outcome.stepped and outcome.how != "crash" and not outcome.trouble:  # these say why by themselves
        parts += ["", _why_no_step(outcome.log)]
    print("\n".join([*parts, "", BLIND]), file=out)


def _why_no_step(log: Log) -> str:
    passes = sum(isinstance(event, Backward) for event in log.events)
    if passes:
        ran = "1 backward pass ran" if passes == 1 else f"{passes} backward passes ran"
        return (
            f"{ran} and no step was seen. Steps of torch's optimizers and steps written by hand on a model's "
            "parameters are seen; others, through step.__wrapped__ or in C++, are not."
        )
    return (
        "No backward pass and no step was seen in this process: does the script train only with other "
        "arguments (give them behind --), or in other processes (audit each of them: "
        "torchrun … -m gradient_ledger.audit train.py)?"
    )
