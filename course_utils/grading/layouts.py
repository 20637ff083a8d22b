"""Whose a file is: from the folder, the archive or the name that it was handed in under, whichever tool made them.

What a student packs is never asked whose it is. Only the outermost name that can be a student's counts, and whether a
folder holds students or is one is settled by most folders beside it, not by what lies in one of them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from course_utils.grading.roster import Roster, Student
from course_utils.grading.walk import File
from course_utils.lessons import lessons

CANVAS = re.compile(
    r"^(?:(?P<name>[^\s.,/-]+?)_)?(?:LATE_)?(?P<id>[1-9]\d*|anon_[A-Za-z0-9]+)_(?P<file>[1-9]\d{2,})_(?P<rest>.+)$"
)
"""`doejane_LATE_12345_678901_03_zeroing-1.ipynb`: name, number of the person, number of the file, its own name. Numbers
of files grow, so a later one was handed in later. As `lib/content_zipper.rb` of canvas-lms writes it."""
MOODLE = re.compile(r"^(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<rest>.*))?$")
"""`Jane Doe_1234567_assignsubmission_file_`, a folder or the beginning of a file's name; the number is another one in
each assignment. As `mod/assign/locallib.php` of Moodle writes it."""
SUBMITTED = "submitted"
"""The folder of an nbgrader course that has a folder a student, with one an assignment in it."""
GENERIC = frozenset(
    "submissions submission submitted all archive assignments collected download downloads export exported files final "
    "handed-in homework homeworks notebook notebooks solution solutions students untitled upload uploads work workbook"
    " gradient-ledger".split()
)
"""Names that tell nothing about who handed in."""
_TASK = r"(?:lesson|week|assignment|homework|hw|ps|sheet|lab|unit|module|part|session)s?[ _.-]*0*\d+"
_COPY = re.compile(r"(?:\s*\(\d+\)|[ _-]+copy[ _-]?\d*|\.old-\d+)+$", re.IGNORECASE)
MOST_TOGETHER = 1000
"""Names that are looked at in one folder to see what it holds."""


@dataclass(frozen=True)
class Owner:
    """Whose a file is. `key` tells students apart; `id` is what each is called if nobody else is."""

    key: tuple[str, ...]
    id: str
    name: str = ""
    attempt: int = 0
    lesson: int | None = None
    listed: Student | None = None
    unclear: bool = False
    """Nothing in the name looks like a student's."""
    copy: bool = False
    """The name is the student's with a number behind it, as a browser gives a second file of one name."""
    own: tuple[str, ...] = ()
    """The parts below the one that names the student."""


def owners(files: Iterable[File], roster: Roster | None, students: bool = False) -> dict[File, Owner]:
    """Whose each file is. With `students` each of the outermost folders is known to be a student's."""
    found: dict[File, Owner] = {}
    _level(list(files), 0, None, roster, found, students)
    return found


def person(name: str) -> str:
    """What is left of a name without the lesson and the number of a copy in it; empty when that was all."""
    left = _lesson_pattern().sub(" ", _COPY.sub("", name[:255]))
    left = re.sub(r"^[\s_.,-]+|[\s_.,-]+$", "", left)
    return "" if left.casefold().replace("_", "-").replace(" ", "-") in GENERIC else left


_person = lru_cache(10_000)(person)


def lesson_in(name: str) -> int | None:
    """The lesson that a name of a file or folder tells: `03_zeroing`, `lesson 3`; None where it tells none or two."""
    told = [match["slug"] or match["number"] for match in _lesson_pattern().finditer(name[:255])]
    found = {int(text[:2]) for text in told if text}  # a slug begins with the number of its lesson, in two digits
    known = {lesson.number for lesson in lessons()}
    return found.pop() if len(found) == 1 and found <= known else None


@cache
def _lesson_pattern() -> re.Pattern[str]:
    forms = []
    for lesson in lessons():
        first, *rest = lesson.slug.split("_")
        tail = ""
        for word in reversed(rest[1:]):
            tail = rf"(?:[ _-]{re.escape(word)}{tail})?"
        forms.append(rf"{first}[ _-]{re.escape(rest[0])}{tail}" if rest else first)
    # A number alone tells a lesson where it begins or ends a name, and is no part of a date.
    numbers = "|".join(lesson.slug.split("_")[0] for lesson in lessons()) or "(?!)"
    forms += [rf"\A(?:{numbers})", rf"(?<!\d[ _-])(?:{numbers})\Z"]
    return re.compile(
        rf"(?<![^\W_])(?:(?P<slug>{'|'.join(forms)})|lesson[ _.-]*(?P<number>0?\d{{1,2}})|{_TASK})(?![^\W_])",
        re.IGNORECASE,
    )


def _level(
    files: list[File],
    depth: int,
    lesson: int | None,
    roster: Roster | None,
    found: dict[File, Owner],
    students: bool = False,
) -> None:
    """Name the owners of files that share their first `depth` parts, none of which is a student's."""
    folders: dict[str, list[File]] = defaultdict(list)
    loose: list[File] = []
    for file in files:
        if len(file.parts) == depth + 1:
            loose.append(file)
        else:
            folders[file.parts[depth]].append(file)
    for file in loose:
        found[file] = _owner(_stem(file.parts[depth]), lesson, roster)
    settled: list[list[File]] = []
    unsettled: dict[str, list[File]] = {}
    for name, inside in folders.items():
        if _of_a_tool(name) or (roster and roster.inside(name)):
            settled.append(inside)
            _give(inside, depth, lesson, roster, found)
        elif not person(name):
            # In nbgrader's folder `submitted` stand students, whatever their assignments are called.
            _level(inside, depth + 1, lesson_in(name) or lesson, roster, found, name == SUBMITTED)
        else:
            unsettled[name] = inside
    beside = sum(file.is_notebook for file in loose)
    beside += sum(any(file.is_notebook for file in inside) for inside in settled)
    deeper = set() if students else _holding_students(unsettled, depth, roster, beside, len(folders) == 1)
    for name, inside in unsettled.items():
        if name in deeper:
            _level(inside, depth + 1, lesson, roster, found)
        else:
            _give(inside, depth, lesson, roster, found)


def _holding_students(
    folders: dict[str, list[File]], depth: int, roster: Roster | None, beside: int, alone: bool
) -> set[str]:
    """Those of the folders that hold students and are none: a section of the course, or an archive of all.

    `beside` counts what certainly is a student's next to them, and `alone` says that no other folder is there.
    """
    # Folders without any notebook have no vote.
    voting = {name: own for name, files in folders.items() if (own := [file for file in files if file.is_notebook])}
    below = {name: {_next(file, depth) for file in files} for name, files in voting.items()}
    direct = {name for name, found in below.items() if any(own for _, own in found)}
    common = Counter(part for found in below.values() for part, _ in found)

    def holds(name: str) -> bool:
        parts = sorted(part for part, _ in below[name])[:MOST_TOGETHER]
        if all(map(_of_a_tool, parts)):
            return True
        if roster:
            return 2 * sum(roster.inside(_stem(part)) is not None for part in parts) > len(parts)
        if name in direct:
            # One archive and nothing else, with notebooks of several people in it.
            archive = (
                alone
                and not beside
                and all(file.outer_zip == depth and len(file.parts) == depth + 2 for file in voting[name])
            )
            named = {person(_stem(part)) for part in parts}
            return archive and len(parts) > 1 and len(named) == len(parts) and "" not in named
        # Folders that several have are assignments, and so is what is called like one.
        return sum(common[part] == 1 for part in parts) > 1

    holding = {name for name in voting if holds(name)}
    if 2 * len(holding) <= len(voting) + beside:
        return set()
    # The others beside them are sections with one student, unless they hold notebooks themselves.
    return holding | (voting.keys() - direct)


def _next(file: File, depth: int) -> tuple[str, bool]:
    """The first part below `depth` that may name a student, and whether it is the file itself."""
    for part in file.parts[depth + 1 : -1]:
        if _person(part):
            return part, False
    return file.parts[-1], True


def _give(files: list[File], depth: int, lesson: int | None, roster: Roster | None, found: dict[File, Owner]) -> None:
    """All of `files` to the student whom the part at `depth` names."""
    owner = _owner(files[0].parts[depth], lesson, roster)
    hint: Callable[[str], int | None] = cache(lesson_in)
    for file in files:
        own = file.parts[depth + 1 :]
        told = owner.lesson or next((number for part in own if (number := hint(_stem(part)))), None)
        found[file] = replace(owner, lesson=told, own=own)


def _owner(name: str, lesson: int | None, roster: Roster | None) -> Owner:
    """Whom a folder, an archive or a file called `name` belongs to."""
    match = MOODLE.match(name) or CANVAS.match(name)
    if match:
        number, full = match["id"], match["name"] or ""
        moodle = match.re is MOODLE
        listed = (roster.by_id(number) or roster.find(full)) if roster else None
        key = ("moodle" if moodle else "canvas", number, full)
        attempt = 0 if moodle else int(match["file"][-18:])
        return Owner(key, number, full, attempt, lesson_in(_stem(match["rest"] or "")) or lesson, listed)
    short = person(name)
    listed = (roster.inside(name) or roster.inside(short)) if roster else None
    copy = bool(short) and _COPY.search(name) is not None
    return Owner((short or name,), short or name, "", 0, lesson_in(name) or lesson, listed, not short, copy)


def _of_a_tool(name: str) -> bool:
    """Whether Canvas or Moodle gave a file or folder its name."""
    return MOODLE.match(name) is not None or CANVAS.match(name) is not None


def _stem(name: str) -> str:
    return re.sub(r"(\.ipynb(\.(json|txt))?|\.zip)$", "", name, flags=re.IGNORECASE)
