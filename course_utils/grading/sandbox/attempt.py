"""One attempt at a submission in one child: the talk with it, in order, and how it ended."""

from __future__ import annotations

import os
import re
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_utils.exercise import Case, Evidence
from course_utils.grading.jail import wire
from course_utils.grading.jail.kernel import CELL
from course_utils.grading.sandbox.bubble import advice
from course_utils.grading.sandbox.contract import Limits, NoIsolation
from course_utils.grading.sandbox.evidence import read_evidence
from course_utils.grading.sandbox.talk import Broken, Line, notice
from course_utils.grading.sandbox.warm import Child, Warm
from course_utils.grading.sandbox.watch import Watch
from course_utils.grading.sandbox.words import Place

_GRACE = 1.5
"""Seconds that a child has to stop itself at a limit, before it is ended."""
_COMING_UP = 30.0
"""Seconds that a child may take until it is shut in."""
_FRAME = re.compile(rf'File "{CELL}", line (\d+) in (\S+)')
_STACK = 2**16
"""Most bytes that are read of where a child says it is."""


class Attempt:
    """One child: what it is asked, what it has said, and where it is."""

    def __init__(self, child: Child, limits: Limits, seconds: float) -> None:
        """It may take so many seconds from the moment on at which it is shut in."""
        self._child, self._limits, self._seconds = child, limits, seconds
        self._began = self._last = time.monotonic() + _COMING_UP
        watch = Watch(child.pid, limits.memory, limits.processes, limits.total)
        self._line = Line(child.line, limits.evidence, watch.over)
        self._deadline = 0.0
        self.cell: int | None = None
        self.exercise = ""
        self.failed: dict[int, Mapping[str, Any]] = {}
        self.found: dict[str, Mapping[str, Any]] | None = None
        self.evidence: dict[str, list[Evidence] | None] = {}
        """None where what came cannot be read."""

    def ready(self) -> None:
        """Wait until it is shut in. Raises `NoIsolation` with what went wrong."""
        self._allow(_COMING_UP)
        kind, payload = self._next()
        if kind != wire.READY:
            raise NoIsolation(advice(payload.decode(errors="replace")))
        self._began = time.monotonic()
        self._last = self._began + self._seconds

    def used(self) -> float:
        """Seconds since it was shut in."""
        return max(0.0, time.monotonic() - self._began)

    def run(self, job: Mapping[str, Any], cases: Callable[[], Mapping[str, Sequence[Case]]]) -> None:
        """The whole talk. Raises `Late`, `Over`, `Broken`."""
        self._allow(self._limits.cell)
        self._line.send(wire.notice(wire.JOB, job), self._deadline)
        self._hear_cells({number for number, _, _ in job["cells"]}, set(job["exercises"]))
        drawn = {name: some for name, some in cases().items() if name in job["exercises"] and name in job["observe"]}
        self._allow(self._limits.case)
        packed = {name: [[case.name, dict(case.spec)] for case in some] for name, some in drawn.items()}
        self._line.send(wire.notice(wire.CASES, packed), self._deadline)
        self._hear_exercises(drawn)

    def end(self, warm: Warm, wait: bool = False) -> int | None:
        """End the child, and hear how it ended, as `subprocess` would say; None where it was ended from here.

        `wait` is for a child that seems to end by itself. Raises `Gone`.
        """
        try:
            status = warm.ended_within(_GRACE) if wait else None
            self._child.kill()  # it goes while we judge: nobody waits for it here
            return status
        finally:
            self._child.close()

    def _hear_cells(self, numbers: set[int], exercises: set[str]) -> None:
        while True:
            kind, payload = self._next()
            if kind == wire.CELL:
                number = notice(payload, int)
                if number not in numbers:
                    raise Broken("a cell that there is not, or twice")
                numbers.discard(number)
                self.cell = number
                self._allow(self._limits.cell)
            elif kind == wire.FAILED and self.cell is not None:
                self.failed[self.cell] = notice(payload, dict)
            elif kind == wire.FOUND:
                self.cell = None
                said = notice(payload, dict)
                self.found = {name: said[name] for name in exercises if type(said.get(name)) is dict}
                return
            else:
                raise Broken("a message out of turn")

    def _hear_exercises(self, drawn: Mapping[str, Sequence[Case]]) -> None:
        left = set(drawn)
        while True:
            kind, payload = self._next()
            if kind == wire.EXERCISE:
                name = notice(payload, str)
                if name not in left:
                    raise Broken("an exercise that there is not, or twice")
                left.discard(name)
                self.exercise = name
                self._allow(self._limits.case)
            elif kind == wire.CASE and self.exercise:
                # The call has the time of a case, and what it returned, which may be of a learner's class, once more.
                self._allow(2 * self._limits.case)
            elif kind == wire.EVIDENCE and self.exercise:
                self.evidence[self.exercise] = read_evidence(payload, drawn[self.exercise])
                self.exercise = ""
                self._allow(self._limits.case)
            elif kind == wire.DONE:
                return
            else:
                raise Broken("a message out of turn")

    def _allow(self, seconds: float) -> None:
        self._deadline = min(self._last, time.monotonic() + seconds + _GRACE)

    def _next(self) -> tuple[bytes, bytes]:
        return self._line.next(self._deadline)

    def where(self) -> list[Place]:
        """Where its own code is now, the innermost frame last; nothing where it does not answer."""
        number = getattr(signal, "SIGUSR2", None)
        if number is None:
            return []
        self._child.signal(number)
        told = b""
        until = time.monotonic() + 0.3
        while len(told) < _STACK:
            if not select.select([self._child.trouble], [], [], max(0.0, until - time.monotonic()))[0]:
                break
            part = os.read(self._child.trouble, _STACK)
            if not part:
                break
            told += part
            until = min(until, time.monotonic() + 0.02)  # it is written in one go
        found = _FRAME.findall(told.decode(errors="replace"))
        return [(int(cell[:6]), int(line[:6]), function) for cell, line, function in reversed(found)]
