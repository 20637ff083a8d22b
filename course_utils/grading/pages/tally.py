"""What the class report counts, one result at a time."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from course_utils.grading.clusters import Cluster, gather
from course_utils.grading.result import Marked, Note, Result

MOST_NOTES, MOST_LINKS = 200, 10
"""How many are kept of notes, and of pages with the same one."""


@dataclass
class OfExercise:
    """What is counted of one exercise."""

    name: str
    max_points: int
    points: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)


@dataclass
class OfLesson:
    """What is counted of one lesson."""

    absent: set[str]
    """Students on the roster without a submission that could be read."""
    points: Counter[int] = field(default_factory=Counter)
    """How many submissions have so many."""
    max_points: int = 0
    exercises: dict[str, OfExercise] = field(default_factory=dict)
    mistakes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By exercise, ids and titles: of each fault of an answer once."""
    clusters: dict[str, Cluster] = field(default_factory=dict)

    @property
    def submissions(self) -> int:
        return self.points.total()

    @property
    def mean(self) -> float:
        return statistics.fmean(self.points.elements())

    @property
    def median(self) -> float:
        return statistics.median(self.points.elements())


@dataclass
class Said:
    """How often a note was made, and on whose pages the first of them are: {page: name}."""

    times: int = 0
    pages: dict[str, str] = field(default_factory=dict)


@dataclass
class Tally:
    """Counts over all results, added one result at a time: it does not grow with their number, but for the clusters."""

    roster: Mapping[str, str]
    lessons: dict[int, OfLesson] = field(default_factory=dict)
    notes: dict[Note, Said] = field(default_factory=dict)
    """As long as there is room."""
    more_notes: int = 0
    """How often one was made for which there was no more room."""
    unread: list[tuple[str, Result]] = field(default_factory=list)
    all_unread: int = 0

    def add(self, result: Result, page: str) -> None:
        assert result.lesson is not None
        lesson = self.lessons.setdefault(result.lesson, OfLesson(set(self.roster)))
        lesson.absent.discard(result.student)
        lesson.points[result.points] += 1
        lesson.max_points = max(lesson.max_points, result.max_points)
        gather(lesson.clusters, result)
        for marked in result.exercises:
            _count(lesson, marked)
        for note in (*result.notes, *(note for marked in result.exercises for note in marked.notes)):
            said = self.notes.get(note)
            if said is None and len(self.notes) >= MOST_NOTES:
                self.more_notes += 1
                continue
            said = self.notes.setdefault(note, Said())
            said.times += 1
            if len(said.pages) < MOST_LINKS:
                said.pages[page] = result.name or result.student

    def add_unread(self, result: Result, page: str) -> None:
        self.all_unread += 1
        if len(self.unread) < MOST_NOTES:
            self.unread.append((page, result))


def _count(lesson: OfLesson, marked: Marked) -> None:
    verdict = marked.verdict
    one = lesson.exercises.setdefault(verdict.exercise, OfExercise(verdict.name, verdict.max_points))
    one.points += marked.points
    one.outcomes[verdict.outcome] += 1
    for fault in {tuple(words.id for words in fault.mistakes): fault for fault in verdict.faults}.values():
        if fault.mistakes:
            ids, titles = (" or ".join(part) for part in zip(*((w.id, w.title) for w in fault.mistakes), strict=True))
            lesson.mistakes[verdict.exercise, ids, titles] += 1
