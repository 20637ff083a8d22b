"""Grade one submission: read it, run it in a sandbox, judge what it did."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from operator import itemgetter

from course_utils.checks.judge import judge
from course_utils.exercise import Case, Evidence, Exercise, Fault, Outcome, Verdict
from course_utils.grading.archives import Unreadable
from course_utils.grading.fingerprint import fingerprint
from course_utils.grading.notebook import read_notebook
from course_utils.grading.reaching import reaching
from course_utils.grading.result import Marked, Note, Result, Submission
from course_utils.grading.sandbox import Isolation, Limits, Ran, Sandbox
from course_utils.lessons import lesson as find_lesson
from course_utils.lessons.declare import Lesson
from course_utils.plain import Plain

MOST = 2_000
"""Values, a tensor counted as one, that a call may leave to be judged: judging, which has no time limit, takes its time
for each. The most that an attempt of the bank leaves is some four hundred."""


class Grader:
    """Grades one submission after the other; owns a sandbox, started when it is first needed."""

    def __init__(self, seed: str, isolation: Isolation = "bubblewrap", limits: Limits | None = None) -> None:
        """`seed` is the secret of the run: the cases of each exercise are drawn from it."""
        self._seed, self._isolation, self._limits = seed, isolation, limits
        self._sandbox: Sandbox | None = None
        self._cases: dict[str, tuple[list[Case], list[int]]] = {}
        """Of each exercise: its cases in their own order, and the order in which they are handed out."""

    def start(self) -> None:
        """Start the sandbox. Raises `NoIsolation` where this machine cannot do what was asked for."""
        if self._sandbox is None:
            self._sandbox = Sandbox(self._isolation, self._limits)

    def grade(self, submission: Submission, data: bytes) -> Result:
        """The result of one submission, whose file's bytes are `data`. Never raises for what is in them."""
        self.start()
        assert self._sandbox is not None
        try:
            notebook = read_notebook(data)
        except Unreadable as error:
            return unread(submission, digest_of(data), str(error))
        lesson = find_lesson(notebook.lesson)
        ran = self._sandbox.run(notebook, lambda: self.cases(lesson))
        shipped = [cell.source for cell in notebook.cells if cell.published]
        marked = tuple(self._marked(exercise, ran, shipped) for exercise in lesson.exercises)
        notes = (
            *_about(submission),
            *notebook.notes,
            *reaching(notebook),
            *(note for note in ran.notes if note.kind != "exercise"),
        )
        return _result(submission, digest_of(data), lesson.number, marked, notes)

    def cases(self, lesson: Lesson) -> Mapping[str, Sequence[Case]]:
        """The run's cases of each exercise of a lesson, the same for every submission, in an order of the run's own.

        Some exercises have the same kinds of cases at every seed: answers learned by heart must not fit by their order.
        The first stays the first, since it is the one that is probed.
        """
        for exercise in lesson.exercises:
            if exercise.id not in self._cases:
                seed = seed_of(self._seed, exercise.id)
                cases = exercise.cases(seed)
                rest = list(range(1, len(cases)))
                random.Random(seed).shuffle(rest)
                self._cases[exercise.id] = cases, [0, *rest]
        handed = {exercise.id: self._cases[exercise.id] for exercise in lesson.exercises}
        return {identifier: [cases[at] for at in order] for identifier, (cases, order) in handed.items()}

    def close(self) -> None:
        """End the sandbox. A further `grade` starts another."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _marked(self, exercise: Exercise, ran: Ran, shipped: Sequence[str]) -> Marked:
        notes = tuple(note for note in ran.notes if note.where == f"exercise {exercise.id}")
        evidence = ran.evidence.get(exercise.id)
        code = ran.code.get(exercise.id, "")
        if evidence is None:
            return Marked(_unseen(exercise, notes, written=bool(code)), notes, code=code)
        cases, order = self._cases[exercise.id]
        if len(evidence) == len(cases):  # all of them, so in the order in which a learner knows them
            evidence = [piece for _, piece in sorted(zip(order, evidence, strict=True), key=itemgetter(0))]
        else:
            cases = [cases[at] for at in order]
        try:
            if any(_items(piece.to_plain(), MOST) > MOST for piece in evidence):
                raise ValueError("too many values")
            verdict = judge(exercise, cases, evidence)
        except Exception as error:  # evidence is what a stranger's process sent: it may be anything
            because = str(error) if isinstance(error, ValueError) else type(error).__name__
            why = f"What came back of the function could not be judged: {because[:200]}."
            notes = (*notes, Note("exercise", why, f"exercise {exercise.id}"))
            return Marked(_unseen(exercise, notes, written=True), notes, code=code)
        if not verdict.passed and code and any(code in source for source in shipped):
            # Where a broken loop is to be mended: as it was handed out, it is nobody's mistake.
            return Marked(_unseen(exercise, notes, written=False), notes, code=code)
        return Marked(verdict, notes, _cluster(exercise, verdict, cases, evidence), code)


def _items(value: Plain, most: int) -> int:
    """How many values there are in plain data; counts on to `most` and a little further."""
    count, waiting = 0, [value]
    while waiting and count <= most:
        one = waiting.pop()
        count += 1
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list | tuple) else ()
    return count


def seed_of(secret: str, exercise: str) -> int:
    """The seed of an exercise's cases in a run with that secret."""
    return int.from_bytes(hashlib.sha256(f"{secret}/{exercise}".encode()).digest()[:4], "big") >> 1


def unread(submission: Submission, digest: str, why: str) -> Result:
    """The result of a file that is no notebook of the course, or could not be graded at all: no points, and why."""
    return _result(submission, digest, None, (), (*_about(submission), Note("file", why)))


def given_up(submission: Submission, lesson: int, digest: str, lives: int) -> Result:
    """The result of a submission that ended `lives` graders one after the other: no points, and that somebody looks."""
    why = (
        f"Grading this notebook ended the program that graded it, {lives} times. No points; please look at it by hand."
    )
    note = Note("submission", why)
    exercises = find_lesson(lesson).exercises
    marked = tuple(Marked(_unseen(exercise, (note,), written=True)) for exercise in exercises)
    return _result(submission, digest, lesson, marked, (*_about(submission), note))


def digest_of(data: bytes) -> str:
    """What a result keeps of the bytes that it is about."""
    return hashlib.sha256(data).hexdigest()


def _result(
    submission: Submission, digest: str, lesson: int | None, marked: tuple[Marked, ...], notes: tuple[Note, ...]
) -> Result:
    return Result(
        student=submission.student,
        lesson=lesson,
        digest=digest,
        source=submission.label,
        exercises=marked,
        notes=notes,
        name=submission.name,
    )


def _about(submission: Submission) -> tuple[Note, ...]:
    return tuple(Note("submission", text) for text in submission.notes)


def _unseen(exercise: Exercise, notes: Sequence[Note], written: bool) -> Verdict:
    """The verdict where nothing was observed: the function is not there, or its process did not live to tell."""
    outcome: Outcome = "failed" if written else "not attempted"
    faults = (Fault((), "", tuple(note.text for note in notes)),) if written else ()
    return Verdict(exercise.id, exercise.name, outcome, 0, exercise.points, faults)


def _cluster(exercise: Exercise, verdict: Verdict, cases: Sequence[Case], evidence: Sequence[Evidence]) -> str:
    """The cluster of a wrong answer that no mistake explains."""
    if verdict.passed or verdict.outcome == "not attempted" or verdict.misconception is not None:
        return ""
    return fingerprint(cases, evidence, exercise)
