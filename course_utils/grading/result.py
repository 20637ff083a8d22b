"""The result of one submission: plain data, one JSON file, the same bytes whenever it is graded with the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from course_utils.exercise import Verdict
from course_utils.grading.names import shown

Kind = Literal["cell", "exercise", "file", "submission"]
"""What a note is about."""


@dataclass(frozen=True)
class Submission:
    """One notebook that somebody handed in, before anything of it is read.

    `path` is a file, or an archive that holds `member`. `student` is an identifier as the roster or the layout gives
    it; any text, so whatever shows it escapes it. `notes` say what was unclear, in sentences for the student.
    """

    student: str
    path: str
    member: str | None = None
    when: float = 0.0
    """When it was handed in, in seconds since the epoch; the file's time where nothing else is known."""
    name: str = ""
    """The student's full name where a roster or a layout gives it."""
    lesson: int | None = None
    """What the layout says, if anything. The notebook itself decides."""
    notes: tuple[str, ...] = ()
    inner: str | None = None
    """Where `member` is an archive itself: what is meant in it."""
    root: str = ""
    """The folder that `path` is relative to."""
    attempt: int = 0
    """What a tool counts the files up by that were handed in; a higher one is later, whatever `when` says."""

    @property
    def label(self) -> str:
        """Where it lies, for people: `week3.zip: 03_zeroing.ipynb`."""
        return ": ".join(shown(name) for name in (self.path, self.member, self.inner) if name)


@dataclass(frozen=True)
class Note:
    """Something about how a submission was read or run that the student should know, in one sentence or two."""

    kind: Kind
    text: str
    where: str = ""
    """"cell 14" or "exercise 3.2"; empty for the whole file."""

    @property
    def line(self) -> str:
        """The text with its place before it, where it has one."""
        return f"{self.where}: {self.text}" if self.where else self.text


@dataclass(frozen=True)
class Marked:
    """One exercise of a submission: the verdict as the learner would see it, and the points after partial credit."""

    verdict: Verdict
    points: float
    notes: tuple[Note, ...] = ()
    cluster: str = ""
    """Of a wrong answer without a name: the same for all submissions that do the same on every case."""
    code: str = ""
    """The student's own code of the exercise, as it stands in the notebook; for the report's examples."""


@dataclass(frozen=True)
class Result:
    """What came of one submission. Holds no time and no duration: the same seed gives the same bytes."""

    student: str
    lesson: int | None
    """None where the file could not be read as any lesson's notebook: `notes` say why, and there are no points."""
    digest: str
    """SHA-256 of the notebook's bytes as handed in."""
    source: str
    """Where it lay, relative to the folder of submissions."""
    exercises: tuple[Marked, ...] = ()
    notes: tuple[Note, ...] = ()
    name: str = ""

    @property
    def points(self) -> float:
        return sum(marked.points for marked in self.exercises)

    @property
    def max_points(self) -> int:
        return sum(marked.verdict.max_points for marked in self.exercises)
