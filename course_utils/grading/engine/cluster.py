"""Grade on a Dask cluster: the same work, on whatever machines its scheduler has."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from course_utils.grading.engine import LIVES, Job, Settings
from course_utils.grading.result import Result, Submission
from course_utils.lessons import adopt

AHEAD = 4
"""Jobs that are under way for each of the cluster's threads: enough that none waits, few enough to hold in memory."""

_own = threading.Lock()
_graders: dict[Settings, Any] = {}


def grade_all(jobs: Iterable[Job], settings: Settings, scheduler: str) -> Iterator[Result]:
    """Grade every job, in whatever order they are done, on the cluster of the scheduler at that address.

    The notebooks' bytes travel with the tasks: workers need the course installed and nothing of this machine's files.
    Raises `NoIsolation` where a worker cannot isolate, `OSError` where the scheduler does not answer.
    """
    from distributed import Client, as_completed
    from distributed.scheduler import KilledWorker

    from course_utils.grading.grade import given_up, unread
    from course_utils.grading.submissions import Unreadable, read

    waiting = iter(jobs)
    with Client(scheduler, set_as_default=False) as client:
        of: dict[Any, Job] = {}
        done = as_completed()

        def submit() -> Iterator[Result]:
            for job in waiting:
                try:
                    data = read(job.submission)
                except Unreadable as error:
                    yield unread(job.submission, job.digest, str(error))
                    continue
                # Dask would hold two equal calls for one; a student may hand in what another did.
                future = client.submit(_grade, job.submission, data, settings, pure=False, retries=LIVES - 1)
                of[future] = job
                done.add(future)
                return

        for _ in range(AHEAD * max(1, sum(client.nthreads().values()))):
            yield from submit()
        for future in done:
            job = of.pop(future)
            try:
                yield future.result()
            except KilledWorker:
                yield given_up(job.submission, job.lesson, job.digest, LIVES)
            yield from submit()


def _grade(submission: Submission, data: bytes, settings: Settings) -> Result:
    """What a worker runs. A judge works with the process's own random state: one at a time."""
    from course_utils.grading.grade import Grader

    with _own:
        adopt(settings.terms)
        if settings not in _graders:
            grader = _graders[settings] = Grader(settings.seed, settings.isolation, settings.limits)
            atexit.register(grader.close)
        return _graders[settings].grade(submission, data)  # type: ignore[no-any-return]
