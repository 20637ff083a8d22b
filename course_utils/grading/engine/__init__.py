"""Ways to grade many submissions: processes of this machine, or a Dask cluster. Both keep the same promises.

Every job comes back once, as a `Result`; a worker that dies hands its job to another, and a job that ends several
workers comes back as that submission's fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from course_utils.grading.result import Result, Submission
from course_utils.grading.sandbox import Isolation, Limits
from course_utils.lessons import Terms, adopt

if TYPE_CHECKING:
    from course_utils.grading.grade import Grader

LIVES = 3
"""Workers that a job may end before it is given up."""


@dataclass(frozen=True)
class Job:
    """One submission to grade, of a lesson that was recognised when it was found."""

    submission: Submission
    lesson: int
    digest: str


@dataclass(frozen=True)
class Settings:
    """How each worker grades."""

    seed: str
    isolation: Isolation = "bubblewrap"
    limits: Limits = Limits()
    terms: Terms = Terms()
    """Of the course: each worker adopts them."""

    @property
    def patience(self) -> float:
        """Seconds after which a worker that says nothing is taken for hung: judging comes after the limits."""
        return 2 * self.limits.total + 300


def bytes_of(job: Job) -> bytes | Result:
    """A job's notebook; or its result where the file that could be read when the run began is no longer there."""
    from course_utils.grading.archives import Unreadable
    from course_utils.grading.grade import unread
    from course_utils.grading.submissions import read

    try:
        return read(job.submission)
    except Unreadable as error:
        return unread(job.submission, job.digest, str(error))


def new_grader(settings: Settings) -> Grader:
    """A grader for this process. It judges on one thread: there is a process a core, and sums come out alike."""
    import torch

    from course_utils.grading.grade import Grader

    torch.set_num_threads(1)
    adopt(settings.terms)
    return Grader(settings.seed, settings.isolation, settings.limits)
