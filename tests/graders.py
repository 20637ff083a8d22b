"""Graders that grade nothing, for tests of what runs them: a notebook's text says what becomes of it.

work    graded at once              slow    graded after a tenth of a second
kill    ends its process            hang    never comes to an end
fault   an error of the grader      kill once PATH, hang once PATH   the same, the first time alone
"""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

from course_utils.exercise import Fault, Verdict
from course_utils.grading.engine import Job
from course_utils.grading.grade import digest_of
from course_utils.grading.result import Marked, Result, Submission
from course_utils.grading.sandbox import NoIsolation

LESSON = 3
STARTED = "GRADERS_STARTED"
"""The environment variable that names a file: each submission that a fake begins to grade is a line in it."""


class FakeGrader:
    """Has the methods of `Grader`. The seed `no isolation` makes it refuse to begin, `stillborn` ends its process."""

    def __init__(self, seed: str, *_: object) -> None:
        self._seed = seed

    def start(self) -> None:
        if self._seed == "no isolation":
            raise NoIsolation("there is no isolation in this test")
        if self._seed == "stillborn":
            end()

    def grade(self, submission: Submission, data: bytes) -> Result:
        self.start()
        if STARTED in os.environ:
            with open(os.environ[STARTED], "a", encoding="utf-8") as log:
                log.write(f"{submission.student}\n")
        what, _, where = json.loads(data)["cells"][0]["source"].partition(" once ")
        if where:
            what = "work" if Path(where).exists() else what
            Path(where).touch()
        if what == "kill":
            end()
        if what == "hang":
            time.sleep(600)
        if what == "slow":
            time.sleep(0.1)
        if what == "fault":
            raise RuntimeError("the grader has a fault")
        verdict = Verdict("3.1", "clear_gradients", "passed", 7, 7)
        wrong = Verdict("3.2", "optimizer_zero_grad", "failed", 0, 8, (Fault((1,), "case 1 of 9: one step"),))
        marked = Marked(verdict), Marked(wrong, cluster="3.2-0123456789", code="def optimizer_zero_grad(): 1")
        return Result(submission.student, LESSON, digest_of(data), submission.label, marked)

    def close(self) -> None:
        pass

    def __enter__(self) -> FakeGrader:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def notebook(*sources: str, lesson: int = LESSON) -> bytes:
    """A notebook of a lesson with these cells of code."""
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**code, "id": f"c{number}", "source": text} for number, text in enumerate(sources)]
    tree = {"cells": cells, "metadata": {"course": {"lesson": lesson}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(tree).encode()


def hand_in(folder: Path, contents: list[str]) -> list[Job]:
    """A job for each of the contents, with a notebook that holds it."""
    folder.mkdir(exist_ok=True)
    jobs = []
    for number, text in enumerate(contents):
        name = f"student-{number:03}"
        data = notebook(text)
        (folder / f"{name}.ipynb").write_bytes(data)
        jobs.append(Job(Submission(name, f"{name}.ipynb", root=str(folder)), LESSON, digest_of(data)))
    return jobs
