"""Grade on this machine: some processes, each with a warm sandbox of its own."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait

from course_utils.grading.engine import LIVES, Job, Settings, bytes_of, new_grader
from course_utils.grading.result import Result
from course_utils.grading.sandbox.contract import ROOM
from gradient_ledger.errors import UserError

READY = "ready"
"""What a worker says once its sandbox is warm. Before that, its end is no job's fault."""
ENDING = 2.0
"""Seconds that workers have to end by themselves."""


def grade_all(jobs: Iterable[Job], settings: Settings, workers: int) -> Generator[Result, None, None]:
    """Grade every job, in whatever order they are done.

    Raises `NoIsolation` where no worker can isolate, `UserError` where none comes to grade at all. However it ends, it
    leaves no process and no temporary file behind.
    """
    waiting = _Waiting(iter(jobs))
    team: list[_Worker] = []
    stillborn = 0
    try:
        while True:
            while len(team) < workers and (job := waiting.next()):
                team.append(_Worker(settings, job))
            if not team:
                return
            ready = wait([worker.pipe for worker in team], timeout=1.0)
            for worker in list(team):
                if worker.pipe in ready:
                    said = worker.said()
                elif time.monotonic() - worker.since > settings.patience:
                    said = None
                else:
                    continue
                if said == READY:
                    worker.warm, stillborn = True, 0
                    continue
                if isinstance(said, Result):
                    waiting.done(worker.job)
                    yield said
                    if (job := waiting.next()) is not None and worker.take(job):
                        continue
                    if job is not None:
                        waiting.again(job, lost=False)
                elif (given_up := waiting.again(worker.job, lost=worker.warm)) is not None:
                    yield given_up
                team.remove(worker)
                code = worker.end()
                if not (worker.warm or isinstance(said, Result)):
                    stillborn += 1
                    if stillborn >= LIVES:
                        raise UserError(_never_began(code))
    finally:
        for worker in team:
            worker.pipe.close()  # all of them, before any is waited for
        until = time.monotonic() + ENDING
        for worker in team:
            worker.end(max(0.0, until - time.monotonic()))


def _never_began(code: int | None) -> str:
    how = f"signal {-code}" if code is not None and code < 0 else f"status {code}"
    hint = " The machine may be short of memory: try --jobs 1." if code == -signal.SIGKILL else ""
    return f"the processes that grade end before they begin ({how}), {LIVES} in a row; nobody's marks say so.{hint}"


@dataclass
class _Waiting:
    """The jobs that nobody works on, those that came back first."""

    fresh: Iterator[Job]
    back: list[Job] = field(default_factory=list)
    ended: dict[Job, int] = field(default_factory=dict)
    """How many workers each job has ended."""

    def next(self) -> Job | None:
        # What ended a worker waits until nothing else is left: the others are done whatever comes of it.
        return next(self.fresh, None) or (self.back.pop(0) if self.back else None)

    def done(self, job: Job) -> None:
        self.ended.pop(job, None)

    def again(self, job: Job, lost: bool = True) -> Result | None:
        """Put a job back whose worker did not finish it; its result when it is given up instead."""
        from course_utils.grading.grade import given_up

        self.ended[job] = self.ended.get(job, 0) + lost
        if self.ended[job] >= LIVES:
            return given_up(job.submission, job.lesson, job.digest, self.ended.pop(job))
        self.back.append(job)
        return None


class _Worker:
    """One process, and the job it has."""

    def __init__(self, settings: Settings, job: Job) -> None:
        context = multiprocessing.get_context("spawn")  # a forked child would share torch's threads and random state
        self._folder = _temporary_folder()
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, settings, self._folder.name), daemon=True)
        with _interrupts_held():
            self._process.start()
        theirs.close()
        self.warm = False
        self.take(job)

    def take(self, job: Job) -> bool:
        """Hand it a job; False where it is dead already."""
        self.job, self.since = job, time.monotonic()
        with suppress(OSError):
            self.pipe.send(job)
            return True
        return False

    def said(self) -> Result | str | None:
        """What it sent; None when it died. Raises what it could not begin for."""
        try:
            found = self.pipe.recv()
        except (EOFError, OSError):
            return None
        if isinstance(found, Exception):
            raise found
        return found  # type: ignore[no-any-return]

    def end(self, patience: float | None = None) -> int | None:
        """Its exit status, negative for a signal. It has `ENDING` seconds to end by itself, or so many as are given."""
        self.pipe.close()  # a worker that reads nothing any more ends by itself, and its sandbox with it
        self._process.join(ENDING if patience is None else patience)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._folder.cleanup()  # a worker that was killed left its own in it
        return self._process.exitcode


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="grading-", ignore_cleanup_errors=True)
    except OSError as error:
        raise UserError(f"no temporary folder can be made ({error.strerror}): {ROOM}") from error


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C is heard when the block ends, and here alone: a process that is started in it begins deaf to it."""
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield  # on Windows; and only the main thread hears Ctrl-C at all
        return
    resource_tracker.ensure_running()  # which comes with the first worker, and would let signals through
    heard: list[int] = []
    # A new process begins with this thread's mask; another thread, such as the progress bar's, may still be given one.
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


def _work(pipe: Connection, settings: Settings, folder: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which ends its workers
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    tempfile.tempdir = folder
    try:
        _grade(pipe, settings)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # the command may have been killed


def _grade(pipe: Connection, settings: Settings) -> None:
    from course_utils.grading.sandbox import NoIsolation

    with new_grader(settings) as grader:
        try:
            grader.start()
        except NoIsolation as error:
            _send(pipe, error)
            return
        going_on = _send(pipe, READY)
        while going_on and (job := _next(pipe)) is not None:
            data = bytes_of(job)
            going_on = _send(pipe, data if isinstance(data, Result) else grader.grade(job.submission, data))


def _next(pipe: Connection) -> Job | None:
    """The next job; None when the command is done, or has ended."""
    try:
        job: Job = pipe.recv()
        return job
    except (EOFError, OSError):
        return None


def _send(pipe: Connection, said: object) -> bool:
    with suppress(OSError):
        pipe.send(said)
        return True
    return False
