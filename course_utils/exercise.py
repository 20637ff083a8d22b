"""Exercise, Case, Evidence, Verdict: the contract of every check.

    learner's object ──observe(attempt, case)──▶ Evidence ──judge(case, evidence)──▶ Verdict ──▶ card | gradebook

`observe` and `judge` live in `checks/`. An exercise is a folder under `lessons/`: `task.py` says what is asked,
`answers.py` what is right, `mistakes.py` what is often done instead. The last two are imported by judging alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from course_utils.plain import Plain
from gradient_ledger.catalogue.entry import Misconception

Outcome = Literal["passed", "failed", "raised", "not attempted"]
"""The four outcomes of a check."""
AGAIN = "again"
"""The probe that changes nothing but the state of the random generators."""


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

    `watch` maps a shown name to a tensor or module, or to a list or dict of these and of plain values, whose state is
    compared bit for bit before and after (values, `.grad`, mode, buffers, ...). `within` are context managers
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
    (`"grad"`, `"value"`, ...) that the exercise itself is about: they are judged by the answer
    and not held to "stays as it was".
    """

    id: str
    name: str
    title: str
    difficulty: int
    minutes: int
    goal: str
    cases: Callable[[int], list[Case]]
    arrange: Callable[[Case], Arrangement]
    hints: tuple[str, ...]
    may_change: frozenset[str] = frozenset()
    rules: tuple[str, ...] = ()
    """Rules about *how*, shown in the banner and on the card; graded only when stated here."""
    properties: tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...] = ()
    """(words, test of a case's spec): what may tell the cases apart that an attempt gets right, most telling first."""
    quantities: Mapping[str, Callable[[Mapping[str, Any]], float | None]] = field(default_factory=dict)
    """Numbers of a case that a factor may be made of, by the words a learner knows them under, from its spec."""
    loop: bool = False
    """Whether attempts are training loops: what a `GradientLedger` finds in them is evidence, and so is what each step
    of an optimizer began with."""
    telling: Mapping[str, str] = field(default_factory=dict)
    """Facts that tell why a result is wrong where they are not those of a right answer, by name: a sentence with
    `{given}` and `{right}` in it, true wherever the two differ."""
    partial: bool = False
    """Whether points follow the cases that agree, rounded down; else they are given for all cases or not at all."""
    points: int = 0
    """Given out by the lesson, which has a hundred."""
    home: str = ""
    """The package of the exercise, in which its `answers` and `mistakes` stand; filled in by the lesson."""

    @property
    def lesson(self) -> int:
        return int(self.id.split(".")[0])

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments, from the signature that the goal shows."""
        shown = re.search(rf"`{re.escape(self.name)}\(([^`]*)\)`", self.goal)
        return tuple(part.split("=")[0].strip(" *") for part in shown[1].split(",")) if shown and shown[1] else ()


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
class Probe:
    """A further call with one thing changed: whether it came out the `"same"`, `"other"` or `"not"` at all."""

    came: Literal["same", "other", "not"]
    result: Plain = None


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
    probes: Mapping[str, Probe] = field(default_factory=dict)
    """Of the first case: how further calls came out, each with one thing other than before, by what it is: an
    argument's name, or `AGAIN` for the same inputs once more."""

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
            "probes": {name: [probe.came, probe.result] for name, probe in self.probes.items()},
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
                probes={str(name): _probe(*found) for name, found in data["probes"].items()},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not evidence: {error!r}") from error


def _probe(came: str, result: Plain) -> Probe:
    if came not in ("same", "other", "not"):
        raise ValueError(f"a probe cannot come out {came!r}")
    return Probe(came, result)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with an attempt, on the cases where it shows.

    `mistakes` are the known mistakes that agree with everything seen: one gives the fault its name, several leave it
    open which, none leaves what is `certain`: sentences that hold on all of `cases`.
    """

    cases: tuple[int, ...]
    """Numbers of the cases, from 1."""
    case: str
    """The first of them, as it is shown: "case 2 of 9: one step"."""
    observed: tuple[str, ...] = ()
    """Lines of what was seen on that case; expected and given stand under each other."""
    mistakes: tuple[Misconception, ...] = ()
    certain: tuple[str, ...] = ()
    raised: Raised | None = None
    rule: bool = False
    """The numbers are right, and a rule about *how* that the exercise states was broken."""


@dataclass(frozen=True)
class Verdict:
    """What a check found, ready to be shown: the only thing a card or a gradebook reads."""

    exercise: str
    name: str
    outcome: Outcome
    points: int
    max_points: int
    faults: tuple[Fault, ...] = ()
    """What is wrong, the first to be mended first."""
    printed: str = ""
    cases_passed: int = 0
    cases_total: int = 0

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"

    @property
    def misconception(self) -> str | None:
        """The id of the first fault's mistake; None when it has no name, or when it may be one of several."""
        known = self.faults[0].mistakes if self.faults else ()
        return known[0].id if len(known) == 1 else None
