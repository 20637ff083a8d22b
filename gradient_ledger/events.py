"""What a ledger writes down: events, the places they came from, and the findings drawn from them."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal[
    "forward",
    "backward",
    "accumulate",
    "clear",
    "clip",
    "edit",
    "unscale",
    "step",
    "skipped step",
    "scheduler",
    "scaler update",
    "input gradient",
    "pass over data",
]
"""`input gradient`: somebody read the gradient of a tensor that is no parameter.
`pass over data`: a DataLoader was asked for its batches from the start."""

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Place:
    """A line of the user's program: the innermost one outside torch and outside installed libraries."""

    file: str
    line: int
    function: str = ""
    through: str = ""
    """The library that acted for that line, such as `accelerate/optimizer.py:172`; empty when there is none."""

    @property
    def code(self) -> str:
        """The text of the line, or an empty string where it cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def short(self) -> str:
        """`train.py:31`, or `In[5]:3` for the third line of a notebook cell."""
        return f"{cell_name(self.file) or os.path.basename(self.file)}:{self.line}"

    def __str__(self) -> str:
        """The same with the path from here, where the file stands below: editors and terminals follow it."""
        name = self.short
        if not cell_name(self.file) and os.path.isabs(self.file):
            path = (
                os.path.relpath(self.file)
                if os.path.splitdrive(self.file)[0] == os.path.splitdrive(os.getcwd())[0]
                else ".."
            )
            name = name if path.startswith("..") else f"{path}:{self.line}"
        return f"{name} (through {self.through})" if self.through else name

    def plain(self) -> dict[str, Any]:
        """The place as JSON: file, line, function, code, and the library in between if there was one."""
        found = {"file": self.file, "line": self.line, "function": self.function, "code": self.code}
        return found | ({"through": self.through} if self.through else {})


def cell_name(file: str) -> str:
    """`In[5]` for the file name IPython gave to the text of a cell, an empty string for anything else."""
    if "ipykernel_" not in file and not file.startswith("<ipython-input"):
        return ""
    old = re.match(r"<ipython-input-(\d+)-", file)
    if old:
        return f"In[{old[1]}]"
    try:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        named = shell.compile.format_code_name(file) if shell else None
        return str(named[1]) if named and named[0] == "Cell" else "cell"
    except Exception:  # another front end, or an older IPython: the word must do
        return "cell"


@dataclass(frozen=True)
class Event:
    """One entry of the ledger.

    `step` counts the optimizer steps taken before it; `window` the steps that the optimizer of
    these parameters had taken. `names` are parameters' names, `details` plain values.
    """

    number: int
    kind: Kind
    names: tuple[str, ...]
    step: int
    window: int
    where: Place | None
    details: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The event as JSON."""
        return {
            "number": self.number,
            "kind": self.kind,
            "names": list(self.names),
            "step": self.step,
            "window": self.window,
            "where": self.where.plain() if self.where else None,
            "details": {key: _plain(value) for key, value in self.details.items()},
        }


@dataclass(frozen=True)
class Finding:
    """One cause of wrong, lost or wasted gradients: an id of the catalogue, where, the numbers, and the remedy."""

    misconception: str
    severity: Severity
    where: Place | None
    evidence: Mapping[str, Any]
    """The numbers: which steps, how many backward passes, norms; `text` says them in one sentence."""
    remedy: str
    """Which line to move, or what to write."""

    @property
    def text(self) -> str:
        """What was seen, in a sentence."""
        return str(self.evidence.get("text", ""))

    def plain(self) -> dict[str, Any]:
        """The finding as JSON."""
        return {
            "misconception": self.misconception,
            "severity": self.severity,
            "where": self.where.plain() if self.where else None,
            "evidence": {key: _plain(value) for key, value in self.evidence.items()},
            "remedy": self.remedy,
        }


def _plain(value: Any) -> Any:
    if isinstance(value, Place):
        return value.plain()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)  # JSON has no such numbers
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


@dataclass(frozen=True)
class ParameterFacts:
    """What the ledger knows of one parameter at the end."""

    name: str
    owners: tuple[int, ...]
    """Numbers of the optimizers that hold it."""
    deposits: int
    """How many backward passes added to it."""
    requires_grad: bool
    ran: int
    """How often the module that holds it was called while it could have been trained."""
    given: bool
    """Whether the user's code ever put a gradient there itself."""
    is_parameter: bool
    """Whether it is an `nn.Parameter`, not a plain tensor."""
    in_model: bool
    """Whether a module seen running still holds it."""
    cut_at: Place | None = None
    """Where the module that holds it was first called."""
    in_checkpoint: bool = False
    """Whether that first call stood inside a reentrant checkpoint."""
    made_at: Place | None = None
    """Where the module that holds it was made, when the ledger saw that."""
    made: int = 0
    """When, on the clock that also counts optimizers; 0 for before the ledger was opened."""
    model: str = ""


@dataclass(frozen=True)
class OptimizerFacts:
    """What the ledger knows of one optimizer at the end."""

    number: int
    label: str
    steps: int
    made_at: Place | None
    made: int = 0
    first_event: int = 0
    """Number of the first event after it was made; 0 where it existed before the ledger."""


@dataclass(frozen=True)
class Log:
    """All that rules may look at: the events and the standing facts. Pure data."""

    events: tuple[Event, ...]
    parameters: tuple[ParameterFacts, ...] = ()
    optimizers: tuple[OptimizerFacts, ...] = ()
    window: int | None = None
    """Micro-batches meant per step, if the user said so."""
    pending: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Parameters with gradients that no step has used at the end: the lines of the backward passes, one by one."""
    pending_finite: bool = True
    pending_at: Place | None = None
    finished: bool = True
    """False while the ledger is still open, or when it was stopped in mid-run: an open window is no fault then."""
    error: str = ""
    """Type and message of the exception that ended the run, if one did."""
    error_at: Place | None = None
    distributed: Mapping[str, Any] = field(default_factory=dict)
    threaded: bool = False
    """Whether several threads trained: their events stand between each other."""
    dropped: int = 0
    """Events left out because the run was long and they were like earlier ones."""
    unknown_reference: tuple[str, ...] = ()
    """Names a reference gave when none of them belonged to any parameter."""
