"""Exercise, Case, Evidence, Verdict: the contract of every check.

    learner's object ──observe(attempt, case)──▶ Evidence ──judge(case, evidence)──▶ Verdict ──▶ card | gradebook

`observe` lives in `observe.py`, `judge` in `judge.py`. An exercise is declared in `lessons/`;
what is right, and what each misconception would answer, stands in `oracles/` and is imported
by judging alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from course_utils.plain import Plain

Outcome = Literal["passed", "failed", "raised", "not attempted"]
"""The four outcomes of a check."""


@dataclass(frozen=True)
class Case:
    """One set of inputs, as plain JSON: seeds, shapes, names, numbers. The tensors are built from it.

    `name` is shown to the learner. `spec` must survive a round trip through JSON, so that the
    grader can send it to another process.
    """

    name: str
    spec: Mapping[str, Any]


@dataclass
class Arrangement:
    """A case made live: what the learner's code is called with, and what is watched while it runs.

    `watch` maps a shown name to a tensor, module or optimizer whose state is compared bit for
    bit before and after (values, `.grad`, mode, buffers, ...). `within` are context managers
    entered around the call; `facts` is called afterwards with the returned object, and what it
    returns becomes `Evidence.facts`.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    watch: dict[str, object] = field(default_factory=dict)
    within: Sequence[AbstractContextManager[Any]] = ()
    facts: Callable[[Any], Mapping[str, object]] | None = None
    call: Callable[[Any], Any] | None = None
    """How to run the attempt; by default `attempt(*args, **kwargs)`."""


@dataclass(frozen=True)
class Exercise:
    """One graded exercise: its text, its cases and how to run an attempt on one of them.

    `cases(seed)` draws the cases, easy ones first; the same seed gives the same cases.
    `arrange(case)` builds the inputs. `may_change` names the aspects of watched objects
    (`"grad"`, `"value"`, ...) that the exercise itself is about: they are judged by the oracle
    and not held to "stays as it was".
    """

    id: str
    name: str
    title: str
    points: int
    difficulty: int
    minutes: int
    goal: str
    cases: Callable[[int], list[Case]]
    arrange: Callable[[Case], Arrangement]
    hints: tuple[str, ...]
    may_change: frozenset[str] = frozenset()
    rules: tuple[str, ...] = ()
    """Rules about *how*, shown in the banner and on the card; graded only when stated here."""

    @property
    def lesson(self) -> int:
        return int(self.id.split(".")[0])


@dataclass(frozen=True)
class Frame:
    """One line of the learner's own code in a traceback."""

    function: str
    line: int
    source: str


@dataclass(frozen=True)
class Raised:
    """An exception out of the learner's code, trimmed to the learner's own lines."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True)
class Change:
    """Something watched that is not as it was: `what` (its name), `aspect` (value, grad, mode, ...)."""

    what: str
    aspect: str
    before: str
    after: str


@dataclass(frozen=True)
class Evidence:
    """What the learner's code did on one case, as plain data; holds neither the right answer nor a verdict.

    `status` is `"returned"`, `"raised"`, `"not attempted"` (it returned `...`) or `"stopped"`
    (the time limit). `result` is what was returned.
    """

    case: str
    status: Literal["returned", "raised", "not attempted", "stopped"]
    result: Plain = None
    facts: Mapping[str, Plain] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    raised: Raised | None = None
    printed: str = ""
    warned: tuple[str, ...] = ()

    def to_plain(self) -> Plain:
        """As one plain dict, ready for `plain.to_bytes`."""
        return {
            "case": self.case,
            "status": self.status,
            "result": self.result,
            "facts": dict(self.facts),
            "changes": [asdict(change) for change in self.changes],
            "raised": None if self.raised is None else asdict(self.raised),
            "printed": self.printed,
            "warned": list(self.warned),
        }

    @classmethod
    def from_plain(cls, data: Plain) -> Evidence:
        """Read back what `to_plain` gave. Raises `ValueError` when it is not evidence."""
        try:
            raised = data["raised"]
            if raised is not None:
                frames = tuple(Frame(str(f["function"]), int(f["line"]), str(f["source"])) for f in raised["frames"])
                raised = Raised(str(raised["type"]), str(raised["message"]), frames)
            if data["status"] not in ("returned", "raised", "not attempted", "stopped"):
                raise ValueError(f"unknown status {data['status']!r}")
            return cls(
                case=str(data["case"]),
                status=data["status"],
                result=data["result"],
                facts=dict(data["facts"]),
                changes=tuple(Change(**{k: str(v) for k, v in change.items()}) for change in data["changes"]),
                raised=raised,
                printed=str(data["printed"]),
                warned=tuple(map(str, data["warned"])),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not evidence: {error!r}") from error


@dataclass(frozen=True)
class Verdict:
    """What a check found, ready to be shown: the only thing a card or a gradebook reads.

    `observed` are short lines of numbers from the case named in `case`; `misconception` is an id
    of the catalogue, or None when the difference has no known name.
    """

    exercise: str
    name: str
    outcome: Outcome
    points: int
    max_points: int
    case: str = ""
    observed: tuple[str, ...] = ()
    misconception: str | None = None
    raised: Raised | None = None
    printed: str = ""
    rule_broken: bool = False
    """The numbers are right, and a rule about *how* that the exercise states was broken."""
    cases_passed: int = 0
    cases_total: int = 0

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"
