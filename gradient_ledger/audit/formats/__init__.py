"""How an outcome is told. A format is a module of this folder with `write(outcome, out)`, and a line in `FORMATS`.

Its option, its place in the usage and what becomes of standard output follow from that line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gradient_ledger.audit.process import nobody_reads

if TYPE_CHECKING:
    from gradient_ledger.audit.outcome import Outcome

TEXT = "text"
"""The format for people, which nobody needs to ask for."""

FORMATS: Mapping[str, str] = {
    TEXT: "",
    "json": "print JSON alone; what the script prints goes to stderr",
}
"""{name of the module, and with -- of the option: the option's help}. All but the text are read by programs."""


def writer(name: str) -> Callable[[Outcome, TextIO], None]:
    """What writes an outcome in the format of that name."""
    write: Callable[[Outcome, TextIO], None] = import_module(f"{__name__}.{name}").write
    return write


def tell(outcome: Outcome, name: str, out: TextIO, *, plot: Path | None = None) -> int:
    """Write the outcome in the format of that name, its picture to `plot`, and return its exit status.

    The modules are found now and not before: parts of the ledger come with them.
    """
    try:
        if plot is not None and outcome.stepped and not outcome.no_report:
            from gradient_ledger.audit.formats import picture

            picture.write(outcome, plot)
        writer(name)(outcome, out)
        out.flush()
    except BrokenPipeError:  # the reader (`| head`) has seen enough; the status still says what was found
        nobody_reads(out)
    return outcome.exit_status
