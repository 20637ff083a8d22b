"""Find what was handed in: a folder of folders, notebooks, zips or downloads in, a list of submissions out."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from course_utils.grading.archives import MAX_NOTEBOOK, Archive, Unreadable, archive, read_regular
from course_utils.grading.layouts import MOODLE, SUBMITTED, File, Owner, owners
from course_utils.grading.names import clean, digest, shown
from course_utils.grading.result import Submission
from course_utils.grading.roster import Roster, read_roster
from gradient_ledger.errors import UserError

MAX_DEPTH = 20
"""Folders within folders that are looked into."""
MAX_PER_STUDENT = 200
"""Notebooks of one student that are read; of more, the latest."""
EXAMPLES = 5
"""Names in one warning."""
_OTHER_ARCHIVE = re.compile(r"\.(tar|tgz|tbz2?|txz|gz|bz2|xz|7z|rar)$", re.IGNORECASE)
_NOT_HANDED_IN = frozenset({"__MACOSX", "__pycache__", "node_modules", "site-packages"})
_OF_NBGRADER = frozenset({"source", "release", "autograded", "feedback"})
"""Folders beside `submitted` in a course of nbgrader."""


@dataclass(frozen=True)
class Found:
    """What a folder holds. `warnings` are for the instructor: what was left alone, and what is unclear."""

    submissions: tuple[Submission, ...]
    warnings: tuple[str, ...] = ()


def find_submissions(folder: Path, roster: Path | None = None, lesson: int | None = None) -> Found:
    """What was handed in under `folder`, in a fixed order; nothing is unpacked, and no link is followed.

    Understood are a folder a student, loose notebooks, zips (of one student or of all, and a zip in a zip), and what
    Canvas, Moodle and nbgrader give. `folder` may be one zip or one notebook, too. `lesson` is what all of it is of
    where the layout does not say. Raises `UserError` when there is no such folder or the roster is none.
    """
    listed = read_roster(roster) if roster else None
    oddities = _Oddities()
    root, entries = _entries(folder, oddities)
    notebooks, others = _without_clutter(entries, oddities)
    whose = owners([*notebooks, *others], listed, students=folder.name == SUBMITTED)
    notebooks = _own_work(notebooks, whose, oddities)
    called = _called(whose, oddities)
    stamps = _timestamps(root, notebooks, others)
    by_student: dict[str, list[Submission]] = defaultdict(list)
    for file in notebooks:
        owner = whose[file]
        student = called[owner.key]
        if listed and not owner.listed:
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
    _tell_who_is_missing(by_student, called, whose, others, listed, oddities)
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
    chosen: dict[str, list[tuple[int, Submission]]] = {}
    for submission, lesson in found:
        chosen[submission.student] = []
        group = unread if lesson is None else read_as
        group[submission.student, submission.lesson if lesson is None else lesson].append(submission)
    alone = {key: several for key, several in unread.items() if key not in read_as}
    for (student, lesson), several in [*read_as.items(), *alone.items()]:
        *earlier, latest = sorted(several, key=_later)
        notes = []
        if earlier:
            of = f" of lesson {lesson}" if lesson else ""
            known = _later(earlier[-1])[:2] < _later(latest)[:2]
            which = "the later one" if known else "it cannot be told which is later, so the last one by name"
            counts = f"{which} counts: {_named(latest)}, not {_few(earlier)}"
            notes.append(f"More than one notebook{of} was handed in; {counts}.")
        if several is read_as.get((student, lesson)) and (student, lesson) in unread:
            others = _few(unread[student, lesson])
            notes.append(f"Also handed in, and not readable as a notebook: {others}.")
        chosen[student].append((lesson or 0, replace(latest, notes=(*latest.notes, *notes))))
    in_order = (pair for own in chosen.values() for pair in sorted(own, key=lambda pair: pair[0]))
    return tuple((each, lesson or None) for lesson, each in in_order)


def _later(submission: Submission) -> tuple[int, float, str]:
    """What orders submissions of one student: a tool's own numbers, then the clock, then the name."""
    return submission.attempt, submission.when, submission.label


def _named(submission: Submission) -> str:
    return shown(submission.label)


def _few(several: list[Submission]) -> str:
    names = [_named(each) for each in several[:EXAMPLES]]
    return ", ".join(names) + (f" and {len(several) - EXAMPLES} more" if len(several) > EXAMPLES else "")


class _Oddities:
    """What was left alone or is unclear: one warning a kind, however many files there are of it."""

    def __init__(self) -> None:
        self._kinds: dict[str, tuple[dict[str, None], set[int]]] = {}

    def add(self, kind: str, name: str) -> None:
        examples, seen = self._kinds.setdefault(kind, ({}, set()))
        seen.add(hash(name))
        if len(examples) < EXAMPLES:
            examples[shown(name)] = None

    def told(self) -> tuple[str, ...]:
        lines = []
        for kind, (examples, seen) in self._kinds.items():
            more = f" and {len(seen) - len(examples):,} more" if len(seen) > len(examples) else ""
            lines.append(f"{kind}: {', '.join(examples)}{more}.")
        return tuple(lines)


def _entries(folder: Path, oddities: _Oddities) -> tuple[str, Iterator[File]]:
    """The folder that paths are relative to, and all files in it."""
    try:
        if folder.is_dir():
            return str(folder), _walk(str(folder), oddities)
        if folder.is_file():
            return str(folder.parent), _file(str(folder.parent), folder.name, folder.stat().st_mtime, oddities)
    except (OSError, ValueError) as error:
        raise UserError(f"{shown(str(folder))} cannot be read: {getattr(error, 'strerror', '') or error}") from None
    raise UserError(f"there is no folder {shown(str(folder))}: give the folder, or the zip, with what was handed in")


def _walk(root: str, oddities: _Oddities) -> Iterator[File]:
    """Every regular file under `root`, those in archives included, in the order of the names."""
    pending = [""]
    while pending:
        below = pending.pop()
        try:
            with os.scandir(os.path.join(root, below)) as scan:
                entries = sorted(scan, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            oddities.add(f"Not opened ({error.strerror})", below or root)
            continue
        if any(entry.name == "pyvenv.cfg" for entry in entries):
            oddities.add("Not looked into, installed Python packages", below)
            continue
        folders = []
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            try:
                if _clutter(entry.name):
                    continue
                if entry.is_symlink():
                    oddities.add("Not followed, symbolic links", path)
                elif entry.is_dir(follow_symlinks=False):
                    if path.count("/") < MAX_DEPTH:
                        folders.append(path)
                    else:
                        oddities.add("Not looked into, too many folders within each other", path)
                elif not entry.is_file(follow_symlinks=False):
                    oddities.add("Not opened, no regular files", path)
                else:
                    yield from _file(root, path, entry.stat(follow_symlinks=False).st_mtime, oddities)
            except OSError as error:
                oddities.add(f"Not opened ({error.strerror})", path)
        pending += reversed(folders)


def _file(root: str, path: str, when: float, oddities: _Oddities) -> Iterator[File]:
    """A file on disk, or what is in it if it is a zip."""
    parts = tuple(path.split("/"))
    if not path.lower().endswith(".zip"):
        yield File(parts, path, when=when)
        return
    try:
        opened = archive(os.path.join(root, path))
    except Unreadable as error:
        oddities.add("Left out, zips that cannot be read", f"{path} ({str(error).split('. ')[0]})")
        yield File((*parts[:-1], parts[-1][:-4], "broken.zip"), path, when=when)
        return
    at = len(parts) - 1
    for file in _members(opened, File((*parts[:-1], parts[-1][:-4]), path, when=when, outer_zip=at), oddities):
        if not file.parts[-1].lower().endswith(".zip"):
            yield file
            continue
        try:
            nested = archive(os.path.join(root, path), file.member)
        except Unreadable as error:
            oddities.add("Left out, zips that cannot be read", f"{_where(file)} ({str(error).split('. ')[0]})")
            yield file
            continue
        outer = replace(file, parts=(*file.parts[:-1], file.parts[-1][:-4]))
        for one in _members(nested, outer, oddities):
            if one.parts[-1].lower().endswith(".zip"):
                oddities.add("Left out, zips in a zip in a zip", _where(one))
            yield one


def _members(opened: Archive, outer: File, oddities: _Oddities) -> Iterator[File]:
    """The files of an archive, which `outer` stands for."""
    for member in opened.members():
        if any(map(_clutter, member.parts)):
            continue
        parts = (*outer.parts, *member.parts)
        file = (
            replace(outer, parts=parts, member=member.name, when=member.when or outer.when)
            if outer.member is None
            else replace(outer, parts=parts, inner=member.name, when=member.when or outer.when)
        )
        if member.fault:
            oddities.add(f"Left out of archives, {member.fault}", _where(file))
        elif len(parts) > MAX_DEPTH + 1 or max(map(len, member.parts)) > 255:
            oddities.add("Left out of archives, too long a name", _where(file))
        else:
            yield file


def _where(file: File) -> str:
    return ": ".join(filter(None, (file.path, file.member, file.inner)))


def _clutter(name: str) -> bool:
    """What nobody hands in: hidden files (checkpoints of notebooks among them) and what tools leave behind."""
    return name.startswith(".") or name in _NOT_HANDED_IN


def _without_clutter(entries: Iterator[File], oddities: _Oddities) -> tuple[list[File], list[File]]:
    """Notebooks and other files; of an nbgrader course what was submitted, and nothing else."""
    everything = list(entries)
    submitted = {file.parts[:at] for file in everything for at in (0, 1) if _is_submitted(file.parts, at)}
    notebooks, others = [], []
    for file in everything:
        base = next((base for base in submitted if file.parts[: len(base)] == base), None)
        top = file.parts[len(base)] if base is not None else ""
        if top in _OF_NBGRADER:
            oddities.add("Left out, folders of nbgrader that hold nothing handed in", "/".join((*(base or ()), top)))
            continue
        if file.is_notebook:
            notebooks.append(file)
        else:
            others.append(file)
            if _OTHER_ARCHIVE.search(file.parts[-1]):
                oddities.add("Left out, archives that are no zip; unpack them or ask for a zip", _where(file))
    return notebooks, others


def _is_submitted(parts: tuple[str, ...], at: int) -> bool:
    """Whether `parts[at:]` is `submitted/STUDENT/ASSIGNMENT/FILE`."""
    return len(parts) >= at + 4 and parts[at] == SUBMITTED


def _own_work(notebooks: list[File], whose: dict[File, Owner], oddities: _Oddities) -> list[File]:
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
            oddities.add("Left out, the course's own copies and backups beside a student's work", _where(file))
        else:
            kept.append(file)
    return kept


def _called(whose: dict[File, Owner], oddities: _Oddities) -> dict[tuple[str, ...], str]:
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
    listed: Roster | None,
    oddities: _Oddities,
) -> None:
    """Warn of those who handed in something else, and of those of the roster who handed in nothing."""
    for file in others:
        owner = whose[file]
        handed = len(owner.own) > 0 or len(owner.key) > 1 or owner.listed
        if handed and called[owner.key] not in by_student:
            match = MOODLE.match(file.parts[-2] if len(file.parts) > 1 else file.parts[-1])
            text = " (a text typed into Moodle)" if match and match["kind"] == "onlinetext" else ""
            oddities.add("Handed in something, but no notebook", f"{called[owner.key]}{text}")
    for student in listed.students if listed else ():
        if student.id not in by_student:
            oddities.add("In the roster, but no notebook was found", student.id)
