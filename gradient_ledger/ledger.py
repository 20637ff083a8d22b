"""`GradientLedger`: open it around a training loop, read it afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from torch import Tensor

from gradient_ledger.events import Event, Finding, Log
from gradient_ledger.files import write_atomically
from gradient_ledger.recorder import Recorder
from gradient_ledger.rules import findings
from gradient_ledger.taps import close_recorder, open_recorder

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class GradientLedger:
    """Writes down every gradient event of a training loop, and finds the mistakes in them.

    `watched`: modules, optimizers, schedulers, gradient scalers, tensors, in any mix; nothing given means that it
    finds models and optimizers by itself. `window`: how many micro-batches are meant per step, if known.
    `reference`: a callable, called right before each step, that returns the gradients this step should use,
    `{parameter name: tensor}` with the names of `named_parameters()`; its tensors are compared and let go.
    `digests`: also sum over every gradient after each backward and before each step, which finds writes that leave
    no trace (`p.grad.data`, `p.grad.numpy()`); costs a pass over the gradients each time.

    It never changes training: parameters, losses and random numbers are bit-identical with it on and off, and it
    keeps no parameter, gradient, graph or model alive. Ledgers may be nested. One ledger is opened once.

    Blind spots: losses scaled wrongly without a `reference`; a step through `Optimizer.step.__wrapped__`; memory;
    what other processes do; steps meant per micro-batch without a `window`; writes through `.data` or `.numpy()`
    without `digests`, except that zeros are noticed; and what `torch.compile` has put into a graph, of which
    `log.compiled` tells.
    """

    def __init__(
        self,
        *watched: object,
        window: int | None = None,
        reference: Callable[[], Mapping[str, Tensor]] | None = None,
        digests: bool = False,
    ):
        if window is not None and (isinstance(window, bool) or not isinstance(window, int) or window < 1):
            raise ValueError(
                f"window is the number of micro-batches meant per step, an integer of at least 1; got {window!r}"
            )
        if reference is not None and not callable(reference):
            raise TypeError(
                "reference is a function called right before each step that returns {parameter name: gradient}; "
                f"got {type(reference).__name__}"
            )
        things = list(_flat(watched))
        self._recorder = Recorder(things, window=window, reference=reference, digests=digests)
        self._log: Log | None = None
        self._state = "new"
        self._expected: set[str] = set()
        self._rule_trouble = ""

    # ------------------------------------------------------------------ open and closed

    def __enter__(self) -> GradientLedger:
        if self._state != "new":
            raise RuntimeError("this ledger has been opened before; make a new GradientLedger for another run")
        self._state = "open"
        open_recorder(self._recorder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        close_recorder(self._recorder)
        self._recorder.close(error)
        self._state = "closed"

    def on_step(self, call: Callable[[int], None]) -> None:
        """Call `call(steps taken)` after each optimizer step; what it raises ends the training it watches."""
        self._recorder.on_step = call

    def cut_short(self) -> None:
        """Say that the run is being stopped in the middle: a window left open is then no mistake."""
        self._recorder.stopped = True

    # ------------------------------------------------------------------ what it saw

    @property
    def log(self) -> Log:
        """Events and standing facts as plain, frozen data; what the rules look at."""
        if self._state == "closed" and self._log is not None:
            return self._log
        log = self._recorder.log()
        if self._state == "closed":
            self._log = log
        return log

    @property
    def events(self) -> tuple[Event, ...]:
        """Every event so far, oldest first. A long run keeps 400 windows, and of later ones those unlike the others."""
        return self.log.events

    @property
    def trouble(self) -> str:
        """The tracebacks of faults of the ledger's own, empty when there were none: of one that ended its recording,
        and of those over a text or in a rule, which cost a fact each or the findings of that rule."""
        return self._recorder.trouble + self._recorder.text_trouble + self._rule_trouble

    def findings(self) -> list[Finding]:
        """The mistakes found, one for each cause, the most serious first. May be asked while the ledger is open."""
        self._rule_trouble = ""
        return findings(self.log, self._note)

    def _note(self, trace: str) -> None:
        self._rule_trouble += trace

    def expected(self, *misconceptions: str) -> None:
        """Let `assert_clean` pass over these ids: mistakes made on purpose."""
        from gradient_ledger.catalogue import misconception

        self._expected.update(misconception(name).id for name in misconceptions)

    def assert_clean(self, *, warnings: bool = False) -> None:
        """Raise `AssertionError` with a readable report when there are errors, or with `warnings=True` warnings."""
        if self.trouble:
            raise AssertionError(f"the ledger itself failed and saw only part of the run:\n{self.trouble}")
        grave = ("error", "warning") if warnings else ("error",)
        if any(f.severity in grave and f.misconception not in self._expected for f in self.findings()):
            raise AssertionError(f"the gradient ledger found mistakes\n\n{self}")

    # ------------------------------------------------------------------ shown

    def __str__(self) -> str:
        from gradient_ledger.report import as_text

        return as_text(self.log, self.findings(), trouble=self.trouble)

    def __repr__(self) -> str:
        found = self.findings() if self._state != "new" else []
        return f"<GradientLedger {self._state}: {len(self.log.events)} events, {len(found)} findings>"

    def _repr_html_(self) -> str:
        from gradient_ledger.report import as_html

        return as_html(self.log, self.findings(), trouble=self.trouble)

    def table(self, windows: int = 6) -> str:
        """The first `windows` windows as text, an event a line: what happened, to how many parameters, and where."""
        from gradient_ledger.report import table

        return table(self.log, windows)

    def timeline(self, windows: int = 4) -> str:
        """The run in a few lines: each window as a row of signs, alike ones counted."""
        from gradient_ledger.report import timeline

        return timeline(self.log, windows)

    def as_json(self, *, events: bool = True, indent: int | None = None) -> str:
        """Findings, optimizers, parameters and, unless `events=False`, every event, as JSON."""
        from gradient_ledger.report import as_plain

        return json.dumps(as_plain(self.log, self.findings(), events=events, trouble=self.trouble), indent=indent)

    def save(self, path: str | Path) -> Path:
        """Write `as_json()` to a file, all or nothing."""
        target = Path(path)
        write_atomically(target, self.as_json(indent=1) + "\n")
        return target

    def plot(self, windows: int = 6, path: str | Path | None = None) -> Figure | None:
        """The timeline as a picture: what `.grad` holds after every event of the first windows, faults ringed.

        In a notebook it is shown, with alternative text, and nothing is returned, so that it does not appear twice.
        Elsewhere the figure comes back, its text as `figure.alternative_text`. With `path` it is also written there
        as a PNG, all or nothing.
        """
        from gradient_ledger.picture import present

        return present(self.log, self.findings(), windows, path)


def _flat(watched: Iterable[object]) -> Iterable[object]:
    for thing in watched:
        if isinstance(thing, (list, tuple, set)):
            yield from _flat(thing)
        elif thing is not None:
            yield thing
