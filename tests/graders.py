"""Graders that grade nothing, for tests of what runs them: a notebook's text says what becomes of it.

    work    graded at once              slow    graded after a tenth of a second
    kill    ends its process            hang    never comes to an end
    fault   an error of the grader      kill once PATH, hang once PATH   the same, the first time alone
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from course_utils.exercise import Verdict
from course_utils.grading.engine import Job
from course_utils.grading.grade import digest_of
from course_utils.grading.result import Marked, Result, Submission
from course_utils.grading.sandbox import NoIsolation

LESSON = 3
WORDS = "a file that no sandbox looked at"


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
        what, _, where = data.decode().partition(" once ")
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
        return Result(submission.student, LESSON, digest_of(data), submission.label, (Marked(verdict, 7),))

    def close(self) -> None:
        pass

    def __enter__(self) -> FakeGrader:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hand_in(folder: Path, contents: list[str]) -> list[Job]:
    """A job for each of the contents, with a file that holds it."""
    jobs = []
    for number, text in enumerate(contents):
        name = f"student-{number:03}"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
        jobs.append(Job(Submission(name, f"{name}.ipynb", root=str(folder)), LESSON, digest_of(text.encode())))
    return jobs
