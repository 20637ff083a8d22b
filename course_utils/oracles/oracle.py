"""What an oracle declares for one exercise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from course_utils.exercise import Case, Evidence
from course_utils.plain import Plain


@dataclass(frozen=True)
class Answer:
    """What an attempt would leave on one case: the returned value and the facts the exercise observes."""

    result: object
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class OneOf:
    """In an `Answer`: any of these is right, such as None or zeros for an unused parameter."""

    options: tuple[object, ...]


@dataclass(frozen=True)
class Broken:
    """A stated rule about *how* was broken: the misconception, and what was seen."""

    misconception: str
    seen: str


@dataclass(frozen=True)
class Oracle:
    """How one exercise is judged.

    `answer(case)` is right. `misconceptions` gives, by id, the answer each known mistake would
    give on this very case, or None where it does not apply: a numeric fingerprint. `rules`
    looks for broken rules about how, in evidence whose numbers are right. `errors` names
    exceptions: (type, regular expression, id). `normalise` brings accepted forms of the result
    to the one form of the answer.
    """

    answer: Callable[[Case], Answer]
    misconceptions: Mapping[str, Callable[[Case], Answer | None]]
    rules: Callable[[Case, Evidence], Broken | None] | None = None
    errors: tuple[tuple[str, str, str], ...] = ()
    normalise: Callable[[Case, Plain], Plain] | None = None
    tolerance: Callable[[Case], float] | None = None
    """Relative to the largest entry of each tensor; by default 1e-9 in float64 and 2e-5 in float32."""
