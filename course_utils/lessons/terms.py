"""The terms of an instructor's own course: its lessons, its points, and the seed of the cases that `check` draws.

`course release` writes them into `terms.json` beside the lessons, and the grader reads the same file. Where there is
none, as in the clone, every lesson is taught, with the points that it declares.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gradient_ledger.errors import UserError

FILE = "terms.json"
PLACE = Path("course_utils", "lessons", FILE)
"""Where the file stands in a folder of the course."""
MOST_POINTS = 1000
"""For one exercise."""


@dataclass(frozen=True)
class Terms:
    """What an instructor settled. Plain data, to be sent to other processes.

    The seed is no secret: it stands in every learner's copy. A grader draws its own cases from a seed of its own.
    """

    lessons: tuple[int, ...] = ()
    """Their numbers; empty for all."""
    points: Mapping[str, int] = field(default_factory=dict, hash=False)
    """{exercise id: points}; an exercise that is not named keeps those that its lesson declares."""
    seed: str = ""

    @property
    def case_seed(self) -> int:
        """The seed of the cases that `check` draws: 0, as everywhere, where none was chosen."""
        return int.from_bytes(hashlib.sha256(self.seed.encode()).digest()[:4], "big") if self.seed else 0


def read_terms(path: Path) -> Terms:
    """The terms in a file, or in a folder of the course; the usual ones where the file is not there.

    Raises `UserError` for a file that does not hold terms.
    """
    file = path / PLACE if path.is_dir() else path
    try:
        return parse_terms(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Terms()
    except ValueError as error:
        raise UserError(f"{file} does not hold the terms of a course ({error}); `course release` writes it") from None


def parse_terms(text: str) -> Terms:
    """The terms as `to_text` writes them. Raises `ValueError` for anything else."""
    try:
        data = json.loads(text)
        lessons = tuple(_whole(number, 1, 99) for number in data["lessons"])
        points = {str(name): _whole(share, 0, MOST_POINTS) for name, share in data["points"].items()}
        if not isinstance(data["seed"], str):
            raise ValueError("its seed is no text")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None
    return Terms(lessons, points, data["seed"])


def own_terms(folder: Path) -> Terms:
    """The terms of an own course. Raises `UserError` where the folder holds none."""
    if not (folder / PLACE).is_file():
        raise UserError(f"{folder} is no course of your own: `course release --out {folder}` writes one")
    return read_terms(folder)


def to_text(terms: Terms) -> str:
    """The one spelling of terms on disk."""
    data = {"lessons": list(terms.lessons), "points": dict(terms.points), "seed": terms.seed}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _whole(value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{value!r} is no whole number from {least} to {most}")
    return value
