"""Every file in a folder, those in zips and in zips in zips included: nothing is unpacked, and no link is followed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from course_utils.grading.archives import LOCKED, UNUSUAL, Archive, Unreadable, archive
from course_utils.grading.names import shown
from course_utils.grading.oddities import Oddities
from gradient_ledger.errors import UserError

MAX_DEPTH = 20
"""Folders within folders that are looked into."""
_NOT_HANDED_IN = frozenset({"__MACOSX", "__pycache__", "node_modules", "site-packages"})
_NOTEBOOK = re.compile(r"\.ipynb(\.(json|txt))?$", re.IGNORECASE)
"""A browser may add an ending of its own."""


@dataclass(frozen=True, eq=False)
class File:
    """Something that was handed in: `parts` are its folders, archives among them, and its own name, outermost first."""

    parts: tuple[str, ...]
    path: str
    """Relative to the folder of submissions."""
    member: str | None = None
    inner: str | None = None
    when: float = 0.0
    outer_zip: int = -1
    """Which of the parts is the archive on disk."""
    sealed: bool = False
    """An archive, or a notebook in one, that cannot be opened: reading it says why."""

    @property
    def is_notebook(self) -> bool:
        return _NOTEBOOK.search(self.parts[-1]) is not None


def files_in(folder: Path, oddities: Oddities) -> tuple[str, Iterator[File]]:
    """The folder that paths are relative to, and all files in it."""
    try:
        if folder.is_dir():
            return str(folder), _walk(str(folder), oddities)
        if folder.is_file():
            if folder.suffix.lower() == ".zip":
                archive(str(folder))
            return str(folder.parent), _file(str(folder.parent), folder.name, folder.stat().st_mtime, oddities)
    except Unreadable as error:
        raise UserError(f"{shown(str(folder))} cannot be opened: {_why(error)}; get it once more") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{shown(str(folder))} cannot be read: {getattr(error, 'strerror', '') or error}") from None
    raise UserError(f"there is no folder {shown(str(folder))}: give the folder, or the zip, with what was handed in")


def _walk(root: str, oddities: Oddities) -> Iterator[File]:
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


def _file(root: str, path: str, when: float, oddities: Oddities) -> Iterator[File]:
    """A file on disk, or what is in it if it is a zip."""
    parts = tuple(path.split("/"))
    if not path.lower().endswith(".zip"):
        yield File(parts, path, when=when)
        return
    try:
        opened = archive(os.path.join(root, path))
    except Unreadable as error:
        oddities.add("Zips that cannot be read", f"{path} ({_why(error)})")
        yield File((*parts[:-1], parts[-1][:-4], parts[-1]), path, "", when=when, sealed=True)
        return
    at = len(parts) - 1
    for file in _members(opened, File((*parts[:-1], parts[-1][:-4]), path, when=when, outer_zip=at), oddities):
        if not file.parts[-1].lower().endswith(".zip"):
            yield file
            continue
        try:
            nested = archive(os.path.join(root, path), file.member)
        except Unreadable as error:
            oddities.add("Zips that cannot be read", f"{where(file)} ({_why(error)})")
            yield replace(file, inner="", sealed=True)
            continue
        outer = replace(file, parts=(*file.parts[:-1], file.parts[-1][:-4]))
        for one in _members(nested, outer, oddities):
            if one.parts[-1].lower().endswith(".zip"):
                oddities.add("Left out, zips in a zip in a zip", where(one))
            yield one


def _members(opened: Archive, outer: File, oddities: Oddities) -> Iterator[File]:
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
            oddities.add(f"Left out of archives, {member.fault}", where(file))
            if member.fault in (LOCKED, UNUSUAL) and file.is_notebook:
                yield replace(file, sealed=True)
        elif len(parts) > MAX_DEPTH + 1 or max(map(len, member.parts)) > 255:
            oddities.add("Left out of archives, too long a name", where(file))
        else:
            yield file


def where(file: File) -> str:
    return ": ".join(filter(None, (file.path, file.member, file.inner)))


def _why(error: Unreadable) -> str:
    """What is wrong, without what the student can do."""
    return str(error).split(". ")[0]


def _clutter(name: str) -> bool:
    """What nobody hands in: hidden files (checkpoints of notebooks among them) and what tools leave behind."""
    return name.startswith(".") or name in _NOT_HANDED_IN
