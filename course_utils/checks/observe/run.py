"""Run a learner's code on the cases and write down what it did, as bounded plain data."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import torch

from course_utils.checks.observe.deadline import TimeIsUp, limited
from course_utils.checks.observe.ledger import findings_of
from course_utils.checks.observe.raised import describe_exception
from course_utils.checks.observe.spies import EnginePasses
from course_utils.checks.observe.steps import Steps
from course_utils.checks.observe.switches import Switches, random_states_kept
from course_utils.checks.observe.watched import compare, watched_state
from course_utils.checks.originals import Names
from course_utils.exercise import AGAIN, Arrangement, Case, Evidence, Exercise, Probe, Raised
from course_utils.plain import MAX_TEXT, Opaque, Plain, TensorData, to_plain
from gradient_ledger import GradientLedger

_SEED = 7_340_033_000
"""Where the seeds of an attempt's random numbers begin: none that a learner would set by chance."""
TIME_LIMIT = 10.0
"""Seconds one case may take before it is stopped."""
LIMIT = "time limit, in seconds"
"""The fact that a stopped call leaves."""
_NUDGE = 0.375
"""What a probe adds to a tensor or to a number of an argument."""


def observe_all(
    exercise: Exercise, attempt: object, cases: Sequence[Case], limit: float = TIME_LIMIT
) -> list[Evidence]:
    """Run `attempt` on each case, in order, then probe it on the first one.

    After a stopped or not attempted case no further one is run.
    """
    with Names().ours() as names, random_states_kept():
        evidence: list[Evidence] = []
        for case in cases:
            evidence.append(_observed(exercise, attempt, case, limit, names, ledger=exercise.loop))
            if evidence[-1].status in ("stopped", "not attempted"):
                return evidence
        if evidence and evidence[0].status == "returned":
            evidence[0] = replace(evidence[0], probes=_probes(exercise, attempt, cases[0], evidence[0], limit, names))
        return evidence


def observe(
    exercise: Exercise, attempt: object, case: Case, limit: float = TIME_LIMIT, ledger: bool = False
) -> Evidence:
    """Run `attempt` on `case`. Never raises for what the attempt does, `KeyboardInterrupt` excepted.

    `limit` is in seconds. Standard output, standard error and warnings are caught; random state and torch's global
    switches are put back, and a change to them is written down. With `ledger` a `GradientLedger` looks on.
    """
    with random_states_kept():
        return _observed(exercise, attempt, case, limit, ledger=ledger)


def _observed(
    exercise: Exercise,
    attempt: object,
    case: Case,
    limit: float,
    names: Names | None = None,
    arrangement: Arrangement | None = None,
    seed: int = 0,
    ledger: bool = False,
) -> Evidence:
    """As `observe`, but for the random states, which stay where the attempt left them.

    `names` are those in force while the attempt runs; `arrangement` and `seed` are for probes.
    """
    arrangement = exercise.arrange(case) if arrangement is None else arrangement
    # A stated change of `.grad` and the like is the answer's business; all else must stay as it was.
    before = watched_state(arrangement.watch)
    switches = Switches(seed=_SEED + int(case.spec.get("seed", 0)) + seed)
    output = _BoundedText()
    plain: Plain = None
    facts: dict[str, Plain] = {}
    passes = EnginePasses()
    models = [item for item in arrangement.args if isinstance(item, torch.nn.Module)]
    books = [GradientLedger(*models)] if ledger else []
    steps = [Steps(arrangement.watch)] if exercise.loop else []
    with contextlib.ExitStack() as stack:
        stack.callback(switches.put_back)  # whatever happens, an interrupt from the keyboard included
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        stack.enter_context(contextlib.redirect_stdout(output))
        stack.enter_context(contextlib.redirect_stderr(output))
        with contextlib.ExitStack() as within:
            if names is not None:
                within.enter_context(names.theirs())
            for manager in (*arrangement.within, *books, *steps, passes):
                within.enter_context(manager)
            status, result, raised = _attempted(lambda: _call(arrangement, attempt), limit)
        changes = switches.changes()
        switches.put_back()
        if result is ...:
            return Evidence(case.name, "not attempted", printed=output.text())
        if status == "returned":
            # Under the limit too: what was returned may be of the learner's own making, with a __repr__ without end.
            status, noted, raised = _attempted(lambda: (to_plain(result), _facts(arrangement, result)), limit)
            plain, facts = noted if status == "returned" else (None, {})  # type: ignore[misc]
        if status == "returned":
            facts |= passes.counts()
            for book in books:
                facts |= findings_of(book)
            for one in steps:
                facts |= to_plain(one.found())
        changes += compare(before, watched_state(arrangement.watch), exercise.may_change)
    return Evidence(
        case=case.name,
        status=status,  # type: ignore[arg-type]
        result=plain,
        facts=facts if status == "returned" else {LIMIT: limit} if status == "stopped" else {},
        changes=tuple(changes),
        raised=raised,
        printed=output.text(),
        warned=tuple(dict.fromkeys(str(item.message)[:300] for item in caught))[:5],
    )


def _attempted(action: Callable[[], object], limit: float) -> tuple[str, object, Raised | None]:
    """(status, what `action` returned, what it raised) under the time limit."""
    try:
        return "returned", limited(action, limit), None
    except TimeIsUp:
        return "stopped", None, None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit and GeneratorExit too: nothing may end the kernel
        return "raised", None, describe_exception(error)


def _call(arrangement: Arrangement, attempt: object) -> object:
    if arrangement.call is not None:
        return arrangement.call(attempt)
    return attempt(*arrangement.args, **arrangement.kwargs)  # type: ignore[operator]


def _facts(arrangement: Arrangement, result: object) -> dict[str, Plain]:
    if arrangement.facts is None:
        return {}
    return {key: to_plain(value) for key, value in arrangement.facts(result).items()}


# ------------------------------------------------------------------ probes


def _probes(
    exercise: Exercise, attempt: object, case: Case, first: Evidence, limit: float, names: Names
) -> dict[str, Probe]:
    """How the first case comes out with one argument at a time changed, and once more with nothing changed."""
    found: dict[str, Probe] = {}
    for number, name in enumerate((AGAIN, *exercise.arguments)):
        arrangement = exercise.arrange(case)
        if name != AGAIN and not _nudged(arrangement, number - 1, name):
            continue
        other = _observed(exercise, attempt, case, limit, names, arrangement, seed=int(name == AGAIN))
        # No ledger looks on while probing: its facts are left out of the comparison.
        facts = {name: fact for name, fact in first.facts.items() if name in other.facts}
        same = other.status == "returned" and _same((first.result, facts), (other.result, dict(other.facts)))
        came: Literal["same", "other", "not"] = "not" if other.status != "returned" else "same" if same else "other"
        found[name] = Probe(came, other.result if came == "other" else None)
        if other.status == "stopped":
            break
    return found


def _nudged(arrangement: Arrangement, place: int, name: str) -> bool:
    """Change one argument where it stands; False where that means nothing (a model, a function, a count)."""
    keyword = name in arrangement.kwargs
    if not keyword and (place >= len(arrangement.args) or arrangement.call is not None):
        return False
    value = arrangement.kwargs[name] if keyword else arrangement.args[place]
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        with torch.no_grad():
            # No constant: what only sees differences between the entries must feel it too.
            value += _NUDGE * torch.arange(1, value.numel() + 1, dtype=value.dtype, device=value.device).reshape(
                value.shape
            )
        return True
    if isinstance(value, list) and value and all(isinstance(item, float) for item in value):
        value[:] = [item + _NUDGE * (place + 1) for place, item in enumerate(value)]
        return True
    if isinstance(value, float):
        if keyword:
            arrangement.kwargs[name] = value * (1 + _NUDGE)
        else:
            args = list(arrangement.args)
            args[place] = value * (1 + _NUDGE)
            arrangement.args = tuple(args)
        return True
    return False


def _same(a: Any, b: Any) -> bool:
    """Whether two pieces of plain data are the same bit for bit."""
    if isinstance(a, TensorData) and isinstance(b, TensorData):
        x, y = a.value, b.value
        return (
            x.shape == y.shape
            and x.dtype == y.dtype
            and bool(torch.all((x == y) | (x.isnan() & y.isnan()) if x.is_floating_point() else x == y))
        )
    if isinstance(a, Opaque) and isinstance(b, Opaque):
        return a.type == b.type  # its text may hold anything
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and bool(a == b or a != a)


# ------------------------------------------------------------------ output


class _BoundedText(io.TextIOBase):
    """A stream that keeps the first `MAX_TEXT` characters and counts the rest."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._kept = self._seen = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._kept < MAX_TEXT:
            part = text[: MAX_TEXT - self._kept]
            self._parts.append(part)
            self._kept += len(part)
        self._seen += len(text)
        return len(text)

    def text(self) -> str:
        more = self._seen - self._kept
        return "".join(self._parts) + (f"… ({more:,} more characters)" if more else "")
