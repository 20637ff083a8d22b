"""Find what was handed in: a folder of folders, notebooks, zips or downloads in, a list of submissions out."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from course_utils.grading.archives import MAX_NOTEBOOK, Unreadable, archive, read_regular
from course_utils.grading.layouts import MOODLE, SUBMITTED, Owner, owners
from course_utils.grading.names import clean, digest, shown
from course_utils.grading.oddities import EXAMPLES, Oddities
from course_utils.grading.result import Submission
from course_utils.grading.roster import Roster
from course_utils.grading.walk import File, files_in, where

MAX_PER_STUDENT = 200
"""Notebooks of one student that are read; of more, the latest."""
_OTHER_ARCHIVE = re.compile(r"\.(tar|tgz|tbz2?|txz|gz|bz2|xz|7z|rar)$", re.IGNORECASE)
_OF_NBGRADER = frozenset({"source", "release", "autograded", "feedback"})
"""Folders beside `submitted` in a course of nbgrader."""


@dataclass(frozen=True)
class Found:
    """What a folder holds. `warnings` are for the instructor: what was left alone, and what is unclear."""

    submissions: tuple[Submission, ...]
    warnings: tuple[str, ...] = ()


def find_submissions(folder: Path, roster: Roster | None = None, lesson: int | None = None) -> Found:
    """What was handed in under `folder`, in a fixed order; nothing is unpacked, and no link is followed.

    Understood are a folder a student, loose notebooks, zips (of one student or of all, and a zip in a zip), and what
    Canvas, Moodle and nbgrader give. `folder` may be one zip or one notebook, too. `lesson` is what all of it is of
    where the layout does not say. Raises `UserError` when there is no such folder.
    """
    oddities = Oddities()
    root, files = files_in(folder, oddities)
    notebooks, others = _notebooks(list(files), oddities)
    whose = owners([*notebooks, *others], roster, students=folder.name == SUBMITTED)
    notebooks = _own_work(notebooks, whose, oddities)
    called = _called(whose, oddities)
    stamps = _timestamps(root, notebooks, others)
    by_student: dict[str, list[Submission]] = defaultdict(list)
    for file in notebooks:
        owner = whose[file]
        student = called[owner.key]
        if roster and not owner.listed:
            oddities.add("Not in the roster, and called as their files are", student)
        elif owner.unclear and not owner.listed:
            oddities.add("Nothing says whose these are; give each student a folder, or a roster", "/".join(file.parts))
        if owner.copy and not owner.listed:
            oddities.add("Taken as copies, by their number, of one student's work", "/".join(file.parts))
        by_student[student].append(
            Submission(
                student,
                file.path,
                file.member,
                stamps.get(file.parts[:-1], file.when),
                clean(owner.listed.name if owner.listed else owner.name),
                owner.lesson or lesson,
                inner=file.inner,
                root=root,
                attempt=owner.attempt,
            )
        )
    for student, own in by_student.items():
        if len(own) > MAX_PER_STUDENT:
            oddities.add(f"More than {MAX_PER_STUDENT} notebooks, of which the latest are read", student)
            own[:] = sorted(own, key=_later)[-MAX_PER_STUDENT:]
    _tell_who_is_missing(by_student, called, whose, others, roster, oddities)
    chosen = [each for student in sorted(by_student) for each in sorted(by_student[student], key=_later)]
    return Found(tuple(chosen), oddities.told())


def read(submission: Submission, limit: int = MAX_NOTEBOOK) -> bytes:
    """The bytes of a submission's notebook, at most `limit`. Raises `Unreadable`, in words for the student."""
    path = os.path.join(submission.root, submission.path)
    if submission.member is None:
        return read_regular(path, limit)
    if submission.inner is None:
        return archive(path).read(submission.member, limit)
    return archive(path, submission.member).read(submission.inner, limit)


def choose_latest(found: Iterable[tuple[Submission, int | None]]) -> tuple[tuple[Submission, int | None], ...]:
    """Of each student and lesson the latest submission, with notes on what does not count and why; and that lesson.

    The lesson is the notebook's own, None where it could not be read. What cannot be read never displaces what can.
    """
    read_as: dict[tuple[str, int | None], list[Submission]] = defaultdict(list)
    unread: dict[tuple[str, int | None], list[Submission]] = defaultdict(list)
    chosen: dict[str, list[tuple[Submission, int | None]]] = {}
    for submission, lesson in found:
        chosen[submission.student] = []
        group = unread if lesson is None else read_as
        group[submission.student, submission.lesson if lesson is None else lesson].append(submission)
    alone = {key: several for key, several in unread.items() if key not in read_as}
    for (student, lesson), several in [*read_as.items(), *alone.items()]:
        could_be_read = (student, lesson) in read_as
        *earlier, latest = sorted(several, key=_later)
        notes = []
        if earlier:
            of = f" of lesson {lesson}" if lesson else ""
            told = _later(earlier[-1])[:2] < _later(latest)[:2]
            which = "the later one" if told else "it cannot be told which is later, so the last one by name"
            counts = f"{which} counts: {_named(latest)}, not {_few(earlier)}"
            notes.append(f"More than one notebook{of} was handed in; {counts}.")
        if could_be_read and (student, lesson) in unread:
            others = _few(unread[student, lesson])
            notes.append(f"Also handed in, and not readable as a notebook: {others}.")
        chosen[student].append((replace(latest, notes=(*latest.notes, *notes)), lesson if could_be_read else None))
    return tuple(pair for own in chosen.values() for pair in sorted(own, key=lambda pair: pair[1] or 0))


def _later(submission: Submission) -> tuple[int, float, str]:
    """What orders submissions of one student: a tool's own numbers, then the clock, then the name."""
    return submission.attempt, submission.when, submission.label


def _named(submission: Submission) -> str:
    return shown(submission.label)


def _few(several: list[Submission]) -> str:
    names = [_named(each) for each in several[:EXAMPLES]]
    return ", ".join(names) + (f" and {len(several) - EXAMPLES} more" if len(several) > EXAMPLES else "")


def _notebooks(files: list[File], oddities: Oddities) -> tuple[list[File], list[File]]:
    """Notebooks and other files; of an nbgrader course what was submitted, and nothing else."""
    submitted = {file.parts[:at] for file in files for at in (0, 1) if _is_submitted(file.parts, at)}
    notebooks, others = [], []
    for file in files:
        base = next((base for base in submitted if file.parts[: len(base)] == base), None)
        top = file.parts[len(base)] if base is not None else ""
        if top in _OF_NBGRADER:
            oddities.add("Left out, folders of nbgrader that hold nothing handed in", "/".join((*(base or ()), top)))
            continue
        if file.is_notebook or file.sealed:
            notebooks.append(file)
        else:
            others.append(file)
            if _OTHER_ARCHIVE.search(file.parts[-1]):
                oddities.add("Left out, archives that are no zip; unpack them or ask for a zip", where(file))
    return notebooks, others


def _is_submitted(parts: tuple[str, ...], at: int) -> bool:
    """Whether `parts[at:]` is `submitted/STUDENT/ASSIGNMENT/FILE`."""
    return len(parts) >= at + 4 and parts[at] == SUBMITTED


def _own_work(notebooks: list[File], whose: dict[File, Owner], oddities: Oddities) -> list[File]:
    """Without what a clone of the course brings along: its solutions, the untouched notebooks, backups of `reset`."""
    there = {file.parts for file in notebooks}
    kept = []
    for file in notebooks:
        *folders, name = file.parts
        inside = folders[-1] if len(folders) > 1 and whose[file].own[:-1] else ""
        beside = {each: (*folders[:-1], each, name) in there for each in ("notebooks", "workbook")}
        backup = re.sub(r"\.old-\d+(?=\.ipynb$)", "", name)
        if (
            (inside == "solutions" and beside["notebooks"])
            or (inside == "notebooks" and beside["workbook"])
            or (backup != name and (*folders, backup) in there)
        ):
            oddities.add("Left out, the course's own copies and backups beside a student's work", where(file))
        else:
            kept.append(file)
    return kept


def _called(whose: dict[File, Owner], oddities: Oddities) -> dict[tuple[str, ...], str]:
    """{key of an owner: what results are kept under}: two owners never share one."""
    keys: dict[tuple[str, ...], Owner] = {owner.key: owner for owner in whose.values()}
    wanted: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    called: dict[tuple[str, ...], str] = {}
    for key, owner in keys.items():
        if owner.listed:
            called[key] = owner.listed.id
        else:
            wanted[clean(owner.id) or "unnamed"].append(key)
    taken = set(called.values())
    for name, sharing in wanted.items():
        for key in sorted(sharing):
            owner = keys[key]
            label = name
            # The one whose name needed no cleaning keeps it.
            if name in taken or (len(sharing) > 1 and owner.id != name) or (len(sharing) > 1 and len(key) > 1):
                label = clean(f"{owner.name or name}_{owner.id}") if len(key) > 1 else f"{name} {digest(owner.id)}"
                oddities.add("Students whose names are alike are kept apart; check that these are right", label)
            while label in taken:
                label = f"{name} {digest(label + repr(key))}"
            taken.add(label)
            called[key] = label
    folded: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(called.values()):
        folded[name.casefold()].append(name)
    for names in folded.values():
        if len(names) > 1:
            oddities.add("Students whose names differ in capitals alone", " and ".join(names))
    numbers: dict[str, set[str]] = defaultdict(set)
    for key, owner in keys.items():
        if key[0] == "moodle" and len(key) > 1 and not owner.listed:
            numbers[owner.name].add(owner.id)
    for name, several in numbers.items():
        if len(several) > 1:
            oddities.add(
                "One name with several of Moodle's numbers, which are another one in each assignment; "
                "a roster brings them together",
                name,
            )
    return called


def _timestamps(root: str, notebooks: list[File], others: list[File]) -> dict[tuple[str, ...], float]:
    """{folder: when it was handed in}, from nbgrader's `timestamp.txt` beside a notebook."""
    wanted = {file.parts[:-1] for file in notebooks}
    found = {}
    for file in others:
        if file.parts[-1] == "timestamp.txt" and file.parts[:-1] in wanted:
            told = Submission("", file.path, file.member, inner=file.inner, root=root)
            try:
                found[file.parts[:-1]] = _seconds(read(told, 1000).decode("ascii").strip())
            except (Unreadable, ValueError, OverflowError):
                continue  # the file's own time stands in for it
    return found


def _seconds(text: str) -> float:
    """`2015-02-02 15:58:23.948203 PST`, as nbgrader writes it, in seconds; without an offset it is UTC."""
    match = re.match(r"^(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?)\s*([+-]\d\d:?\d\d)?", text)
    if match is None:
        raise ValueError(text)
    pattern = "%Y-%m-%dT%H:%M:%S" + (".%f" if "." in match[1] else "")
    when = datetime.strptime(match[1].replace(" ", "T"), pattern).replace(tzinfo=timezone.utc)
    if match[2]:
        hours, minutes = int(match[2][1:3]), int(match[2][-2:])
        return when.timestamp() - (1 if match[2][0] == "+" else -1) * (3600 * hours + 60 * minutes)
    return when.timestamp()


def _tell_who_is_missing(
    by_student: dict[str, list[Submission]],
    called: dict[tuple[str, ...], str],
    whose: dict[File, Owner],
    others: list[File],
    roster: Roster | None,
    oddities: Oddities,
) -> None:
    """Warn of those who handed in something else, and of those of the roster who handed in nothing."""
    for file in others:
        owner = whose[file]
        handed = len(owner.own) > 0 or len(owner.key) > 1 or owner.listed
        if handed and called[owner.key] not in by_student:
            match = MOODLE.match(file.parts[-2] if len(file.parts) > 1 else file.parts[-1])
            text = " (a text typed into Moodle)" if match and match["kind"] == "onlinetext" else ""
            oddities.add("Handed in something, but no notebook", f"{called[owner.key]}{text}")
    for student in roster.students if roster else ():
        if student.id not in by_student:
            oddities.add("In the roster, but no notebook was found", student.id)
