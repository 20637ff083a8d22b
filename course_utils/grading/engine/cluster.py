"""Grade on a Dask cluster: the same work, on whatever machines its scheduler has.

The notebooks' bytes travel with the tasks: workers need the course installed, bubblewrap, and nothing of this
machine's files. A worker that dies hands its jobs to others. The scheduler gives up a task after some deaths, and
blames all that waited on the same worker: such jobs are graded again, one at a time with nothing beside them, so that
only what ends a worker by itself is given up.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import platform
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import course_utils
import gradient_ledger
from course_utils.grading.engine import LIVES, Job, Settings, bytes_of, new_grader
from course_utils.grading.result import Result, Submission
from course_utils.grading.sandbox import NoIsolation
from course_utils.grading.version import version
from gradient_ledger.errors import UserError

if TYPE_CHECKING:
    from distributed import Client

    from course_utils.grading.grade import Grader

AHEAD = 4
"""Jobs that are under way for each of the cluster's threads: enough that none waits, few enough to hold in memory."""
CONNECT = 15.0
"""Seconds that the scheduler has to answer."""
LOOK = 5.0
"""Seconds after which the number of workers is asked for again."""


def grade_all(jobs: Iterable[Job], settings: Settings, scheduler: str) -> Iterator[Result]:
    """Grade every job, in whatever order they are done, on the cluster of the scheduler at that address.

    Raises `NoIsolation` where a worker cannot isolate, `UserError` where the scheduler does not answer, is lost, or
    has workers without this course.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UserError(
            "--engine dask needs dask.distributed: python -m pip install 'gradient-ledger[dask]', here and on the "
            "cluster's machines"
        ) from None
    try:
        client = Client(scheduler, set_as_default=False, timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise UserError(
            f"no Dask scheduler answers at {scheduler!r} ({error}): start one with `dask scheduler`, and give the "
            "address that it prints"
        ) from error
    with client:
        cluster = _Cluster(client, settings)
        yield from cluster.grade(iter(jobs))
        for job in cluster.suspects:
            yield cluster.alone(job)
        with suppress(Exception):  # a worker that is just starting or ending keeps its sandbox, and no more than one
            client.run(_let_go)


class _Cluster:
    """The jobs of one run on a cluster."""

    def __init__(self, client: Client, settings: Settings) -> None:
        self._client, self._settings = client, settings
        self._threads, self._looked = 0, 0.0
        self.suspects: list[Job] = []
        """What was given up in company."""

    def grade(self, jobs: Iterator[Job]) -> Iterator[Result]:
        """The results of all but the suspects."""
        from distributed import as_completed

        under_way: dict[Any, Job] = {}
        finished = as_completed(loop=self._client.loop)
        while True:
            while len(under_way) < self._room() and (job := next(jobs, None)) is not None:
                sent = self._send(job)
                if isinstance(sent, Result):
                    yield sent
                    continue
                under_way[sent] = job
                finished.add(sent)
            if not under_way:
                return
            future = next(finished)
            job = under_way.pop(future)
            result = self._result(future, job)
            if isinstance(result, int):
                self.suspects.append(job)
            else:
                yield result

    def alone(self, job: Job) -> Result:
        """The result of a job that nothing else of this run waits beside."""
        from course_utils.grading.grade import given_up

        ended = 0
        while ended < LIVES:
            sent = self._send(job)
            result = sent if isinstance(sent, Result) else self._result(sent, job)
            if isinstance(result, Result):
                return result
            ended += result
        return given_up(job.submission, job.lesson, job.digest, ended)

    def _send(self, job: Job) -> Any:
        """The future of a job's result; the result itself where there is nothing to grade any more."""
        data = bytes_of(job)
        if isinstance(data, Result):
            return data
        # Dask would hold two equal calls for one; a student may hand in what another did.
        return self._client.submit(
            _grade, job.submission, data, self._settings, course(), pure=False, retries=LIVES - 1
        )

    def _result(self, future: Any, job: Job) -> Result | int:
        """What came of a task; or how many workers it ended, or one beside it, until the scheduler gave it up."""
        from distributed import CancelledError
        from distributed.scheduler import KilledWorker

        try:
            result: Result = future.result()
            return result
        except KilledWorker as error:
            return int(error.allowed_failures) + 1
        except (NoIsolation, UserError):
            raise
        except ImportError as error:
            raise UserError(f"a worker of the cluster cannot import the course ({error}): {SAME}") from error
        except (CancelledError, Exception) as error:
            if future.status != "error":
                raise UserError(
                    f"the Dask scheduler was lost ({type(error).__name__}): what is graded is kept; run the same "
                    "command again"
                ) from error
            print(f"{job.submission.label}: {type(error).__name__}: {error}", file=sys.stderr)
            return LIVES

    def _room(self) -> int:
        """How many jobs may be under way: by the workers there are now, and a few while there is none yet."""
        if time.monotonic() - self._looked > LOOK:
            before, self._threads = self._looked, sum(self._client.nthreads().values())
            self._looked = time.monotonic()
            if not before and not self._threads:
                print("The cluster has no worker yet: waiting for one.", file=sys.stderr)
        return AHEAD * max(1, self._threads)


# ------------------------------------------------------------------ what runs in a worker

SAME = "install the same version of it there as here"
_one = threading.Lock()
"""A judge works with the process's own random state: one at a time."""
_held: tuple[Settings, Grader] | None = None
"""The grader of this worker, and the settings that it is for."""


def _grade(submission: Submission, data: bytes, settings: Settings, here: str) -> Result:
    if course() != here:
        raise UserError(f"a worker of the cluster has version {course()} of the course, and this is {here}: {SAME}")
    with _one, _Patience(settings):
        try:
            return _grader(settings).grade(submission, data)
        except NoIsolation as error:
            raise NoIsolation(f"On the worker {platform.node()}: {error}") from None


def _grader(settings: Settings) -> Grader:
    """This worker's grader; another run's is closed before."""
    global _held
    if _held is None or _held[0] != settings:
        _close()
        _held = settings, new_grader(settings)
    return _held[1]


def _let_go() -> None:
    """End this worker's sandbox, which takes memory, unless another run is at work in it."""
    if _one.acquire(blocking=False):
        try:
            _close()
        finally:
            _one.release()


@atexit.register
def _close() -> None:
    global _held
    if _held is not None:
        _held[1].close()
        _held = None


class _Patience:
    """Ends a worker that hangs, as `local` does, where a nanny starts another."""

    def __init__(self, settings: Settings) -> None:
        from distributed import get_worker

        nanny = getattr(get_worker(), "nanny", None)
        self._timer = threading.Timer(settings.patience, os._exit, (1,)) if nanny else None

    def __enter__(self) -> None:
        if self._timer:
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        if self._timer:
            self._timer.cancel()


@cache
def course() -> str:
    """The version of the course, and a digest of its code: marks come from both."""
    digest = hashlib.sha256()
    for package in (course_utils, gradient_ledger):
        home = Path(package.__path__[0])
        for path in sorted(home.rglob("*.py")):
            digest.update(f"{path.relative_to(home).as_posix()}\0".encode() + path.read_bytes())
    return f"{version()}-{digest.hexdigest()[:8]}"
