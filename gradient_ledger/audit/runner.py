"""One run of one script under a ledger, and what ends it."""

from __future__ import annotations

import os
import runpy
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, TextIO

from gradient_ledger.audit import process
from gradient_ledger.audit.formats import tell
from gradient_ledger.audit.imports import after_torch, load
from gradient_ledger.audit.options import Options
from gradient_ledger.audit.outcome import Ending, ended_by, outcome_of
from gradient_ledger.audit.process import Stop, Terminated

if TYPE_CHECKING:
    from torch import Tensor

    from gradient_ledger import GradientLedger

EVERY = 10.0
"""Seconds between two lines of progress on a terminal."""

PATIENCE = 3
"""How often a script may swallow the exception that stops it."""


class Run:
    """One run of one script. Whatever ends it, in whichever thread, comes here to tell the outcome."""

    def __init__(self, options: Options, arguments: list[str], out: TextIO):
        self.options = options
        self.target = options.target
        self.arguments = arguments
        self.out = out
        self.ledger: GradientLedger | None = None
        self.main: ModuleType | None = None
        self.reference = _Reference(options, lambda: self.main)
        self.progress = _Progress()
        self.stops = 0
        self.told = False
        self.fault = ""
        """The traceback of a fault of the audit's own."""
        self.folder = os.getcwd()
        """Where the command was given."""
        self.pid = os.getpid()
        self.exit = os._exit
        """The real one, whatever the script puts in its place."""

    def run(self) -> int:
        """Run the script to its end, tell the outcome, return the exit status."""
        with (
            after_torch(self._open),
            process.before_os_exit(self._last_words),
            process.threads_end_quietly(by=Stop),
        ):
            ending = self._execute()
        if os.getpid() != self.pid:  # a child the script has forked: it ends as it would have ended
            try:
                sys.stdout.flush()
            except BrokenPipeError:
                process.nobody_reads(sys.stdout)
            os._exit(ending.status)
        return self._finish(ending)

    def _execute(self) -> Ending:
        entries = sys.path[1:]
        with process.arguments_and_path_kept():
            try:
                code, self.main = load(self.target)
                if isinstance(self.target, str):
                    shown, here = str(self.main.__dict__["__file__"]), os.getcwd()
                else:
                    shown, here = self.options.script, str(self.target.resolve().parent)
                sys.argv = [shown, *self.arguments]
                sys.path[:] = [here, *entries]
                sys.modules["__main__"] = self.main
                before = set(threading.enumerate())
                with process.terminable():
                    try:
                        exec(code, self.main.__dict__)
                    finally:
                        if self._threads_count(sys.exc_info()[1]):
                            process.join_threads(before)
                return Ending("stopped" if self.stops else "end")
            except BaseException as error:
                return ended_by(error)

    def _threads_count(self, error: BaseException | None) -> bool:
        """Whether the threads that still run are part of the run: not after it was stopped, and not in a child."""
        return os.getpid() == self.pid and not self.stops and not isinstance(error, Terminated)

    # ------------------------------------------------------------------ the ledger

    def _open(self) -> None:
        try:
            self._open_ledger()
        except Exception:  # ours, not the script's: it must run on, and the report must say whose fault it was
            self.ledger, self.fault = None, traceback.format_exc()

    def _open_ledger(self) -> None:
        # Only now: both import torch.
        from gradient_ledger import GradientLedger
        from gradient_ledger.places import claim

        if self.main is not None and self.main.__dict__.get("__file__"):
            claim(self.main.__dict__["__file__"])
        options = self.options
        reference = self.reference if options.reference else None
        self.ledger = GradientLedger(window=options.window, reference=reference, digests=options.digests)
        self.ledger.on_step(self._stepped)
        self.ledger.__enter__()

    def _stepped(self, steps: int) -> None:
        if os.getpid() != self.pid:
            return  # a forked child trains on its own account
        if self.options.steps and steps >= self.options.steps:
            self._stop(steps)
        self.progress(steps)

    # ------------------------------------------------------------------ the end

    def _stop(self, steps: int) -> None:
        """End the script from inside a step."""
        self.stops += 1
        if self.stops > PATIENCE:  # the script swallows every exception: only a hard end is left
            self.exit(self._finish_at_once(Ending("stopped")))
        raise Stop(f"{steps} steps")

    def _last_words(self, status: int) -> int:
        """Report before `os._exit`, and give its status. Forked children leave as they please."""
        if os.getpid() != self.pid or self.told:
            return status
        return self._finish_at_once(Ending("exit", f"with os._exit({status})"))

    def _finish_at_once(self, ending: Ending) -> int:
        """Finish where Python will flush nothing any more."""
        status = self._finish(ending)
        sys.stdout.flush()
        self.out.flush()
        return status

    def _finish(self, ending: Ending) -> int:
        """Close the ledger and tell the outcome, whatever goes wrong in it: our fault must not look like a finding."""
        with process.working_in(self.folder):
            try:
                if self.ledger is not None:
                    self._close(self.ledger, ending)
                return self._tell(ending)
            except Exception:
                self.fault = traceback.format_exc()
                return self._tell(ending)

    def _close(self, ledger: GradientLedger, ending: Ending) -> None:
        if ending.how in ("stopped", "interrupted"):
            ledger.cut_short()
        error = ending.error
        ledger.__exit__(type(error) if error else None, error, None)

    def _tell(self, ending: Ending) -> int:
        self.told = True
        options = self.options
        outcome = outcome_of(options, ending, self.ledger, own_fault=self.fault, reference_fault=self.reference.fault)
        return tell(outcome, options.format, self.out, plot=options.plot)


class _Reference:
    """The function that --reference names. It is looked for when it is first called: by then the script has made it."""

    def __init__(self, options: Options, script: Callable[[], ModuleType | None]):
        self.file, self.name = options.reference_file, options.reference_name
        self.script = script
        self.function: Callable[[], Mapping[str, Tensor]] | None = None
        self.fault = ""
        """Why there is no such function."""

    def __call__(self) -> Mapping[str, Tensor]:
        if self.function is None:
            self.function = self._found()
        return self.function()

    def _found(self) -> Callable[[], Mapping[str, Tensor]]:
        main = self.script()
        names: dict[str, Any] = runpy.run_path(self.file) if self.file else main.__dict__ if main else {}
        found: Callable[[], Mapping[str, Tensor]] | None = names.get(self.name)
        if not callable(found):
            self.fault = f"{os.path.basename(self.file) or 'the script'} has no function named {self.name}"
            raise RuntimeError(self.fault)
        return found


class _Progress:
    """A line now and then where somebody watches: a long run would look dead."""

    def __init__(self) -> None:
        self.next_line = time.monotonic() + EVERY

    def __call__(self, steps: int) -> None:
        if time.monotonic() > self.next_line:
            self.next_line = time.monotonic() + EVERY
            if sys.stderr.isatty():
                print(f"gradient-ledger: {steps} steps so far", file=sys.stderr)
