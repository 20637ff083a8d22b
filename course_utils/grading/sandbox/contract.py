"""What the sandbox takes and gives: limits, and what came of running one notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from course_utils.exercise import Evidence
from course_utils.grading.result import Note

Isolation = Literal["bubblewrap", "none"]
ROOM = "free some room in /tmp, or set TMPDIR to another folder"
"""What to do where temporary files cannot be written."""


class NoIsolation(Exception):
    """This machine cannot isolate: why, and what to install or to switch on, in words for an instructor."""


@dataclass(frozen=True)
class Limits:
    """What one submission may take. Each is reported as itself."""

    cell: float = 20.0
    """Seconds of wall time a cell."""
    case: float = 10.0
    """Seconds of wall time a case of an exercise."""
    total: float = 120.0
    """Seconds of wall time, and of processor time, for all of it."""
    memory: int = 2 * 2**30
    """Bytes, over all processes of the submission, beyond what the warm process shares with them."""
    processes: int = 64
    disk: int = 256 * 2**20
    """Bytes of its own scratch folder, which lies in memory."""
    evidence: int = 64 * 2**20
    """Bytes of one exercise's evidence."""


@dataclass(frozen=True)
class Ran:
    """What came of running one notebook: evidence an exercise, as far as it came, and what happened on the way.

    An exercise without a function in the notebook is missing from `evidence`; a note says so. Evidence is what the
    student's process sent: it may be forged or nonsense, and `judge` may refuse it.
    """

    evidence: Mapping[str, Sequence[Evidence]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    code: Mapping[str, str] = field(default_factory=dict)
    """{exercise id: the source of its function}, where it was found."""
