"""The sandbox: one warm process, and each submission on its way through as many children as it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_utils.exercise import Case, Evidence
from course_utils.grading.notebook import Notebook
from course_utils.grading.result import Note
from course_utils.grading.sandbox import words
from course_utils.grading.sandbox.attempt import Attempt
from course_utils.grading.sandbox.bubble import advice, why_not
from course_utils.grading.sandbox.contract import Isolation, Limits, NoIsolation, Ran
from course_utils.grading.sandbox.talk import Broken, Late, Over
from course_utils.grading.sandbox.warm import Gone, Warm
from course_utils.lessons import lesson

RESTARTS = 5
"""How often a submission whose child was ended is begun again, without what ended it."""


class Sandbox:
    """A warm process under isolation, in which one submission after the other runs, each in a child of its own.

    It is for one thread: under bubblewrap the warm process ends with the thread that started it, and with this process
    however that ends.
    """

    def __init__(self, isolation: Isolation = "bubblewrap", limits: Limits | None = None) -> None:
        """Start it. Raises `NoIsolation` where this machine cannot do what was asked for."""
        self._isolation, self._limits = isolation, limits or Limits()
        if reason := why_not(isolation):
            raise NoIsolation(reason)
        self._warm: Warm | None = None
        self._learned: set[str] = set()
        try:
            self._try()
        except BaseException:
            self.close()
            raise

    def run(self, notebook: Notebook, cases: Callable[[], Mapping[str, Sequence[Case]]]) -> Ran:
        """Run the notebook's cells, then call `cases` and observe each exercise on them.

        `cases` is called after the cells ran, and only then does the child get them. Never raises for what the
        submission does.
        """
        return _Submission(self, notebook, cases).run()

    def close(self) -> None:
        """End the warm process and whatever is left in it."""
        if self._warm is not None:
            self._warm.close()
            self._warm = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _try(self) -> None:
        """One child without a job, to see that all of it works here."""
        attempt, warm = self._attempt((), self._limits.total)
        try:
            attempt.ready()
        except (Late, Over, Broken) as error:
            raise NoIsolation(advice(f"a first child did not come up ({error!r})")) from error
        finally:
            self._end(attempt, warm)

    def _attempt(self, published: Sequence[str], seconds: float) -> tuple[Attempt, Warm]:
        """A new child; a new warm process first, where there is none or it has ended. Raises `NoIsolation`."""
        for _ in range(2):
            if self._warm is None:
                try:
                    self._warm, self._learned = Warm(self._isolation), set()
                except Gone as error:
                    raise NoIsolation(advice(str(error))) from error
            limits = self._limits
            new = [source for source in dict.fromkeys(published) if source not in self._learned]
            request = {
                "seconds": limits.total,
                "memory": limits.memory,
                "processes": limits.processes,
                "disk": limits.disk,
                "published": new,
            }
            try:
                child = self._warm.child(request)
            except Gone:
                self.close()
                continue
            self._learned.update(new)
            return Attempt(child, limits, seconds), self._warm
        raise NoIsolation(advice("the warm process ends again and again"))

    def _end(self, attempt: Attempt, warm: Warm, wait: bool = False) -> int | None:
        try:
            return attempt.end(warm, wait)
        except Gone:  # the warm process went with it
            self.close()
            return None


class _Submission:
    """One submission on its way through as many children as it takes."""

    def __init__(self, sandbox: Sandbox, notebook: Notebook, cases: Callable[[], Mapping[str, Sequence[Case]]]) -> None:
        self._sandbox, self._notebook, self._cases = sandbox, notebook, cases
        self._limits = sandbox._limits
        self._exercises = {one.id: one.name for one in lesson(notebook.lesson).exercises}
        self._lines = {cell.number: cell.source.split("\n") for cell in notebook.cells}
        self._drawn: Mapping[str, Sequence[Case]] | None = None
        self._left = self._limits.total
        """Seconds that are left of those for all of it."""
        self._left_out: set[int] = set()
        self._over: set[str] = set()
        """Exercises that are not observed any more: done, or what ended a child."""
        self._notes: list[Note] = []
        self._failed: dict[int, Mapping[str, Any]] = {}
        self._found: Mapping[str, Mapping[str, Any]] = {}
        self._evidence: dict[str, Sequence[Evidence]] = {}

    def run(self) -> Ran:
        for _ in range(RESTARTS + 1):
            if self._once():
                break
        else:
            self._notes.append(words.given_up(RESTARTS))
        for number in sorted(self._failed):
            self._notes.append(words.failed_cell(number, self._failed[number], self._lines, self._limits))
        code = {}
        for name in self._exercises:
            said = self._found.get(name, {})
            if self._found and said.get("state") != "found" and name not in self._evidence:
                self._notes.append(words.not_found(name, self._exercises[name], said))
            text = said.get("code")
            # What a child says is the code must at least stand in the notebook.
            if type(text) is str and text and any(text in cell.source for cell in self._notebook.cells):
                code[name] = text
        evidence = {name: self._evidence[name] for name in self._exercises if name in self._evidence}
        return Ran(evidence, tuple(self._notes), code)

    def _once(self) -> bool:
        """One child; whether there is nothing left for another."""
        attempt, warm = self._sandbox._attempt(
            [cell.source for cell in self._notebook.cells if cell.published], self._left
        )
        trouble: BaseException | None = None
        places: list[words.Place] = []
        try:
            attempt.ready()
            attempt.run(self._job(), self._all_cases)
        except (Late, Over, Broken) as error:
            trouble = error
            places = attempt.where() if isinstance(error, Late) else []
        finally:
            status = self._sandbox._end(attempt, warm, wait=isinstance(trouble, Broken))
        self._left -= attempt.used()
        self._keep(attempt)
        if trouble is None:
            return True
        out_of_time = self._left <= 0
        self._notes.append(words.ended(attempt, trouble, status, places, self._lines, self._limits, out_of_time))
        if attempt.cell is not None:
            self._left_out.add(attempt.cell)
        if attempt.exercise:
            self._over.add(attempt.exercise)
        return out_of_time or (attempt.found is not None and set(self._exercises) <= self._over)

    def _keep(self, attempt: Attempt) -> None:
        self._failed.update(attempt.failed)
        if attempt.found is not None:
            self._found = attempt.found
        for name, evidence in attempt.evidence.items():
            self._over.add(name)
            if evidence is None:
                self._notes.append(words.unreadable(name))
            else:
                self._evidence[name] = evidence

    def _job(self) -> dict[str, Any]:
        return {
            "cells": [[cell.number, cell.source, cell.published] for cell in self._notebook.cells],
            "left out": sorted(self._left_out),
            "exercises": self._exercises,
            "observe": sorted(set(self._exercises) - self._over),
            "cell limit": self._limits.cell,
            "case limit": self._limits.case,
        }

    def _all_cases(self) -> Mapping[str, Sequence[Case]]:
        if self._drawn is None:
            self._drawn = self._cases()
        return self._drawn
