"""How a script ended, and what the audit makes of it: all that a format has to tell, as frozen data."""

from __future__ import annotations

import os
import signal
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import gradient_ledger
from gradient_ledger import events
from gradient_ledger.audit.imports import CannotLoad
from gradient_ledger.audit.options import Options
from gradient_ledger.audit.process import Stop, Terminated

if TYPE_CHECKING:
    from gradient_ledger import Finding, GradientLedger, Log

CLEAN, FOUND, COULD_NOT_RUN = 0, 1, 2
"""Exit statuses: no errors found; errors found; the script could not be run, or never stepped."""

How = Literal["end", "exit", "stopped", "interrupted", "terminated", "crash", "unreadable"]
"""`stopped` is by --steps; `terminated` by SIGTERM; `unreadable` is a script that could not even begin."""


# ------------------------------------------------------------------ how the script ended


@dataclass(frozen=True)
class Ending:
    """How the script ended."""

    how: How
    message: str = ""
    trace: str = ""
    status: int = 0
    """The exit status the script itself would have had."""
    error: BaseException | None = None
    """What a crash was; the ledger is told of it."""


def ended_by(error: BaseException) -> Ending:
    """How a script has ended that let this exception out."""
    if isinstance(error, SystemExit):
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
        return Ending("exit", "" if error.code in (None, 0) else f"with {error.code!r}", status=status)
    if isinstance(error, KeyboardInterrupt):
        return Ending("interrupted")
    if isinstance(error, Terminated):
        return Ending("terminated", status=128 + signal.SIGTERM)
    if isinstance(error, CannotLoad):
        return Ending("unreadable", str(error))
    if isinstance(error, Stop):
        return Ending("stopped")
    return Ending("crash", f"{type(error).__name__}: {error}", _trimmed(error), status=1, error=error)


def _trimmed(error: BaseException) -> str:
    """The traceback from the script's own first frame on, as Python would have printed it."""
    told = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
    # All of the package: the taps stand between the script and torch.
    ours = os.path.dirname(os.path.abspath(gradient_ledger.__file__)) + os.sep
    chained: traceback.TracebackException | None = told
    while chained is not None:
        # What stands before our own first frame is whoever started the audit.
        first = next((at for at, frame in enumerate(chained.stack) if frame.filename.startswith(ours)), 0)
        kept = [frame for frame in chained.stack[first:] if not frame.filename.startswith(ours)]
        chained.stack = traceback.StackSummary.from_list(kept)
        chained = chained.__cause__ or chained.__context__
    return "".join(told.format()).rstrip()


# ------------------------------------------------------------------ what the audit makes of it


@dataclass(frozen=True)
class Outcome:
    """All that a format may tell of an audit: with a report, or with the reason why there is none."""

    script: str
    """As the user named it."""
    how: How
    exit_status: int
    said: str = ""
    """How it ended, in words that follow the script's name; empty without a report."""
    no_report: str = ""
    """Why there is no report, as a sentence; empty where there is one."""
    trace: str = ""
    """The script's own traceback, if it crashed."""
    log: Log | None = None
    """What the ledger wrote down, without a report too; None where none was open, or where the audit itself failed."""
    findings: tuple[Finding, ...] = ()
    trouble: str = ""
    """The traceback of a fault of the ledger's own."""
    stepped: bool = False
    """Whether an optimizer step was seen, or one that a scaler skipped."""
    events: bool = False
    """Whether every event is wanted too."""


def outcome_of(
    options: Options, ending: Ending, ledger: GradientLedger | None, *, own_fault: str = "", reference_fault: str = ""
) -> Outcome:
    """What came of a run: the closed ledger, if one was opened, and what went wrong beside the script.

    `own_fault` is the traceback of a fault of the audit's own: what the ledger holds is not looked at then.
    `reference_fault` says why --reference could not be followed.
    """
    name = options.script
    log: Log | None = None
    findings: tuple[Finding, ...] = ()
    trouble = ""
    if ledger is not None and not own_fault:
        log, findings = ledger.log, tuple(ledger.findings())
        trouble = ledger.trouble  # asked for last: a rule may have failed over the findings
    if reference_fault and ending.how != "unreadable" and not own_fault:
        ending = Ending("crash", reference_fault)  # its traceback would lead through our frames alone
    seen = Outcome(
        script=name,
        how=ending.how,
        exit_status=COULD_NOT_RUN,
        trace=ending.trace,
        log=log,
        findings=findings,
        trouble=trouble,
        stepped=log is not None and any(isinstance(event, events.Ending) for event in log.events),
        events=options.events,
    )
    if ending.how == "unreadable":
        return replace(seen, no_report=f"{name} could not be run: {ending.message}")
    if own_fault:
        return replace(seen, no_report=f"the audit itself failed, please report this:\n{own_fault}")
    if reference_fault:
        return replace(seen, no_report=f"{reference_fault}: --reference names a function at its top level")
    if log is None:
        return replace(seen, no_report=_without_torch(name, ending))
    return replace(seen, said=_words(ending, options.steps), exit_status=_status(seen, log))


def refused(options: Options, why: str) -> Outcome:
    """The outcome of a command line that asks for what cannot be: nothing has run."""
    return Outcome(options.script, "unreadable", COULD_NOT_RUN, no_report=why)


def _without_torch(name: str, ending: Ending) -> str:
    if ending.how == "crash":
        return f"{name} crashed before it imported torch: {ending.message}"
    if ending.how == "exit":
        return f"{name} never imported torch: it {_words(ending)}"
    return f"{name} never imported torch: there is nothing to audit"


def _words(ending: Ending, steps: int | None = None) -> str:
    """How a script ended that could begin."""
    if ending.how == "exit":
        return f"exited {ending.message}".strip()
    if ending.how == "crash":
        return f"crashed: {ending.message}".rstrip(".")
    return {
        "end": "ran to its end",
        "stopped": f"was stopped after {steps} steps",
        "interrupted": "was interrupted",
        "terminated": "was terminated from outside (SIGTERM)",
    }[ending.how]


def _status(seen: Outcome, log: Log) -> int:
    if any(one.severity == "error" for one in seen.findings):
        return FOUND
    watched = seen.stepped and seen.how != "crash" and not seen.trouble and not log.unknown_reference
    return CLEAN if watched else COULD_NOT_RUN
