"""Grade one submission: read it, run it in a sandbox, judge what it did."""

from __future__ import annotations

from course_utils.grading.result import Result, Submission
from course_utils.grading.sandbox import Isolation, Limits


class Grader:
    """Grades one submission after the other; owns a sandbox, started when it is first needed."""

    def __init__(self, seed: str, isolation: Isolation = "bubblewrap", limits: Limits | None = None) -> None:
        """`seed` is the secret of the run: the cases of each exercise are drawn from it."""
        raise NotImplementedError

    def grade(self, submission: Submission, data: bytes) -> Result:
        """The result of one submission, whose file's bytes are `data`. Never raises for what is in them."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError
