"""`course grade`: find what was handed in, grade what is not graded yet, write tables and pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from course_utils.authoring.unworded import unwritten
from course_utils.grading import pages, tables
from course_utils.grading.archives import Unreadable
from course_utils.grading.clusters import new_mistake
from course_utils.grading.engine import Job, Settings, cluster, local
from course_utils.grading.grade import digest_of, unread
from course_utils.grading.gradebook import Gradebook, Run
from course_utils.grading.notebook import read_notebook
from course_utils.grading.result import Result, Submission
from course_utils.grading.roster import Roster, read_roster
from course_utils.grading.sandbox import Isolation, Limits, NoIsolation, why_not
from course_utils.grading.submissions import choose_latest, find_submissions, read
from course_utils.lessons import Terms, adopt, lessons, terms
from course_utils.lessons import lesson as find_lesson
from course_utils.lessons.terms import own_terms
from gradient_ledger.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
"""Where this course lies: in a clone, or installed."""


@dataclass(frozen=True)
class Options:
    """What `course grade` was asked for."""

    submissions: Path
    out: Path
    roster: Path | None = None
    course: Path | None = None
    """An own course, as `course release` wrote it: its lessons, its points."""
    lessons: tuple[int, ...] = ()
    """Only these; all when empty."""
    students: tuple[str, ...] = ()
    regrade: bool = False
    seed: str | None = None
    jobs: int = 0
    """Processes that grade; 0 for as many as there are cores."""
    scheduler: str = ""
    """Address of a Dask scheduler; empty for processes of this machine."""
    isolation: Isolation = "bubblewrap"
    limits: Limits = Limits()


def grade_command(options: Options, say: Callable[[str], None] = print) -> int:
    """Grade a folder of submissions into a gradebook. Returns the exit status: 0 when everything was graded.

    What is graded is written at once, so an interrupted run goes on where it was. Raises `UserError`.
    """
    if not options.scheduler and (reason := why_not(options.isolation)):
        raise UserError(reason)
    _refuse_mistakes_without_words()
    adopt(Terms() if options.course is None else own_terms(options.course))
    roster = None if options.roster is None else read_roster(options.roster)
    submissions = _found(options, roster, say)
    book = Gradebook(options.out)
    with book.lock():
        run = _begun(book, options)
        if roster is not None:
            book.set_roster({student.id: student.name for student in roster.students})
        elif book.roster():
            say("This gradebook has a roster, and none was given: students are called as their files are.")
        jobs, unreadable = _recognised(submissions, options)
        for result in unreadable:
            book.put(result)
        if not options.lessons:
            book.drop_unread({(result.student, result.digest) for result in unreadable}, options.students)
        waiting = [job for job in jobs if options.regrade or not _is_graded(book, job)]
        kept = len(jobs) - len(waiting)
        settings = Settings(run.seed, options.isolation, options.limits, terms())
        try:
            for result in _progress(_graded(waiting, settings, options), len(waiting)):
                book.put(result)
        except NoIsolation as error:
            raise UserError(str(error)) from error
        except KeyboardInterrupt:
            again = "the same command goes on with the rest"
            if options.regrade:
                again = "the same command begins again; without --regrade it grades what has no result yet"
            raise KeyboardInterrupt(f"interrupted: what is graded is kept, and {again}") from None
        with _writing(book):
            tables.write_all(book)
            pages.write_all(book)
        for remark in book.remarks:
            say(remark)
    say(_summary(len(waiting), kept, len(unreadable), options.out))
    return 0


def _refuse_mistakes_without_words() -> None:
    """Judging runs the code of the mistakes: what `course new-mistake` copied there of a student waits to be read."""
    for lesson in lessons():
        for exercise in lesson.exercises:
            for left in unwritten(ROOT, exercise):
                raise UserError(f"{left}. Until then nothing is graded: a student's code would run outside the sandbox")


def _found(options: Options, roster: Roster | None, say: Callable[[str], None]) -> tuple[Submission, ...]:
    """What was handed in. Raises `UserError` where it does not fit what was asked for; nothing is written by then."""
    for number in options.lessons:
        try:
            find_lesson(number)
        except KeyError as error:
            raise UserError(str(error.args[0])) from None
    if options.out.resolve().is_relative_to(options.submissions.resolve()):
        raise UserError(f"{options.out} lies among what was handed in: give another folder to --out")
    lesson = options.lessons[0] if len(options.lessons) == 1 else None
    found = find_submissions(options.submissions, roster, lesson)
    for warning in found.warnings:
        say(warning)
    if not found.submissions:
        raise UserError(f"{options.submissions} holds no notebook: give the folder, or the zip, that was handed in")
    without = sorted(set(options.students) - {submission.student for submission in found.submissions})
    if without:
        raise UserError(f"no notebook of {without[0]} was found: students are called as in {tables.GRADES}")
    return found.submissions


def _begun(book: Gradebook, options: Options) -> Run:
    """The run to grade in; begun anew only where all is graded again, or everybody else's results were put away."""
    decisive = {"limits": _as_numbers(options.limits), "points": dict(terms().points)}
    return book.begin(options.seed, decisive, anew=options.regrade and not (options.lessons or options.students))


@contextmanager
def _writing(book: Gradebook) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(
            f"tables and pages cannot be written into {book.folder} ({error.strerror or error}): all marks are kept; "
            "mend that and run the same command again"
        ) from error


def _as_numbers(limits: Limits) -> dict[str, float]:
    """The limits, which decide what is stopped and so what is marked."""
    return {name: float(value) for name, value in vars(limits).items()}


def _recognised(submissions: Sequence[Submission], options: Options) -> tuple[list[Job], list[Result]]:
    """What there is to grade, of each student and lesson the latest, and results of what nobody can read.

    Raises `UserError` where that is nothing.
    """
    seen: list[tuple[Submission, int | None]] = []
    digests: dict[_Place, str] = {}
    why: dict[_Place, str] = {}
    for submission in tqdm(submissions, "reading", unit=" notebooks", disable=len(submissions) < 500, leave=False):
        if options.students and submission.student not in options.students:
            continue
        data, number = b"", None
        try:
            data = read(submission)
            number = read_notebook(data).lesson
        except Unreadable as error:
            why[_place(submission)] = str(error)
            number = None
        digests[_place(submission)] = digest_of(data)
        if not options.lessons or (number or submission.lesson or options.lessons[0]) in options.lessons:
            seen.append((submission, number))
    jobs: list[Job] = []
    unreadable: list[Result] = []
    for submission, lesson in choose_latest(seen):
        digest = digests[_place(submission)]
        if lesson is None:
            unreadable.append(unread(submission, digest, why[_place(submission)]))
        else:
            jobs.append(Job(submission, lesson, digest))
    if not jobs and not unreadable:
        raise UserError(f"no notebook of lesson {' or '.join(map(str, options.lessons))} was found")
    return jobs, unreadable


_Place = tuple[str, str, str | None, str | None]


def _place(submission: Submission) -> _Place:
    """Which one it is, whatever was noted about it."""
    return submission.student, submission.path, submission.member, submission.inner


def _is_graded(book: Gradebook, job: Job) -> bool:
    known = book.known(job.submission.student, job.lesson, job.digest)
    return known is not None and known.source == job.submission.label


def _graded(jobs: Sequence[Job], settings: Settings, options: Options) -> Iterator[Result]:
    if not jobs:
        return iter(())
    if options.scheduler:
        return cluster.grade_all(jobs, settings, options.scheduler)
    return local.grade_all(jobs, settings, min(options.jobs or os.cpu_count() or 1, len(jobs)))


def _progress(results: Iterator[Result], count: int) -> Iterator[Result]:
    """The results, with a bar that says how many are left and for how long."""
    yield from tqdm(results, "grading", count, unit=" notebooks", disable=not count, mininterval=0.5)


def _summary(graded: int, kept: int, unreadable: int, out: Path) -> str:
    parts = [f"{graded} graded"]
    if kept:
        parts.append(f"{kept} graded before and unchanged")
    if unreadable:
        parts.append(f"{unreadable} that could not be read as a notebook of the course")
    return f"{', '.join(parts)}. Marks: {out / 'grades.csv'}. Report: {out / 'report.html'}"


def comment_command(out: Path, cluster: str, text: str, say: Callable[[str], None] = print) -> int:
    """Put an instructor's words on the pages of all answers of a cluster. Raises `UserError`."""
    book = Gradebook.existing(out)
    with book.lock():
        size = book.comment(cluster, text)
        with _writing(book):
            pages.write_all(book)
    say(f"{'Put on' if text.strip() else 'Taken from'} {size} answer{'s' * (size != 1)} of cluster {cluster}.")
    return 0


def new_mistake_command(out: Path, cluster: str, repository: Path, say: Callable[[str], None] = print) -> int:
    """Scaffold a mistake from a cluster's example. Raises `UserError`."""
    for line in new_mistake(Gradebook.existing(out), cluster, repository):
        say(line)
    return 0
