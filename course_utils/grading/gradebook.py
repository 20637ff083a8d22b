"""The gradebook: a folder with one JSON file a submission, from which a killed run goes on and everything else is made.

    run.json                         the secret seed of the run, the course's version, the options that change marks
    results/lessonN/STUDENT.json     one result each; `result.schema.json` explains the fields
    results/unread/STUDENT--DIGEST.json   what could not be read as any lesson's notebook
    comments.json, roster.json       an instructor's words, by cluster; full names, by student
    grades.csv, exercises.csv        made by `tables`
    pages/, report.html              made by `pages`

Every file is written whole or not at all, and only its owner may read it.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from course_utils.grading.lock import locked
from course_utils.grading.names import digest, file_stem, several_stem
from course_utils.grading.result import Result
from course_utils.grading.result_json import from_json, to_json
from course_utils.grading.version import version
from gradient_ledger.errors import UserError
from gradient_ledger.files import LEFTOVER, write_bytes_atomically

RUN, ROSTER, COMMENTS, LOCK = "run.json", "roster.json", "comments.json", "lock"
RESULTS, UNREAD = "results", "unread"


class OtherRun(UserError):
    """The gradebook was begun with another seed, version or options, so marks would not be comparable."""


@dataclass(frozen=True)
class Run:
    """What decides the marks beside the submissions. The seed is secret: who knows it knows the cases."""

    seed: str
    course: str
    """The version of the course that graded."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options that change marks, as JSON."""

    @cached_property
    def id(self) -> str:
        """Short, the same for equal runs; it does not give a random seed away."""
        return digest(self.text, 16)

    @cached_property
    def text(self) -> str:
        parts = {"seed": self.seed, "course": self.course, "options": dict(self.options)}
        return json.dumps(parts, indent=1, sort_keys=True) + "\n"


def unread_stem(result: Result) -> str:
    """The name of the files about what could not be read, of which a student may hand in several, of any lesson."""
    return several_stem(result.student, f"{result.digest} {result.source}")


class Gradebook:
    """The results of one folder. One process at a time writes into it: hold `lock` meanwhile."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.remarks: list[str] = []
        """What went wrong with its files and was mended, in sentences for the instructor."""

    @classmethod
    def existing(cls, folder: Path) -> Gradebook:
        """The gradebook in a folder. Raises `UserError` where none was begun."""
        book = cls(folder)
        if book.run is None:
            raise UserError(f"{folder} is no gradebook: give the folder that was --out of `course grade`")
        return book

    # -------------------------------------------------------------- the run

    def begin(self, seed: str | None = None, options: Mapping[str, Any] | None = None, *, anew: bool = False) -> Run:
        """The run of this gradebook: as it was begun, or begun now, with a random seed where none is given.

        With `anew`, another one than it was begun with may take its place: earlier results are kept under
        `results.before-1` (or the next free number) and count no more. Raises `OtherRun` without it.
        """
        known = self.run
        wanted = Run(seed or (known.seed if known else secrets.token_hex(16)), version(), _as_json(options or {}))
        if known is not None and known.id == wanted.id:
            return known
        if known is not None and not anew:
            raise OtherRun(
                f"{self.folder} was begun with {_differences(known, wanted)}, so the marks would not be comparable: "
                "give another folder to --out, or grade all of it again with --regrade, without --student and --lesson"
            )
        self._write(self.folder / RUN, wanted.text.encode())
        self.__dict__.pop("run", None)
        results = self.folder / RESULTS
        if known is not None and results.exists():  # after the run: until here they count, from here they do not
            number = 1
            while (kept := results.with_name(f"{RESULTS}.before-{number}")).exists():
                number += 1
            results.rename(kept)
            self.remarks.append(f"Earlier results are kept in {kept.name} and count no more.")
        return wanted

    @cached_property
    def run(self) -> Run | None:
        """The run as it was begun; None before. Raises `UserError` where it cannot be read."""
        path = self.folder / RUN
        try:
            tree = json.loads(path.read_bytes())
            seed, course, options = tree["seed"], tree["course"], tree["options"]
            if not isinstance(seed, str) or not isinstance(course, str) or not isinstance(options, dict):
                raise ValueError("a value of another type")
            return Run(seed, course, options)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{path} cannot be read ({error}), and with it the seed of these results is lost: put a copy of it "
                "back, or move the folder away and grade again"
            ) from error

    # -------------------------------------------------------------- results

    def known(self, student: str, lesson: int, digest: str = "") -> Result | None:
        """The result of this run for a student and lesson; with `digest`, only that of a file with these bytes.

        A damaged file is set aside, said in `remarks`, and counts as not graded.
        """
        result = self._read(self._path(student, lesson))
        if result is None or result.student != student or (digest and result.digest != digest):
            return None
        return result

    def put(self, result: Result) -> Path:
        """Keep a result in place of an earlier one; gives its file. Raises `UserError` where it cannot be written."""
        path = self._path(result.student, result.lesson) if result.lesson is not None else self._unread_path(result)
        self._write(path, to_json(result, self._run_id).encode())
        return path

    def lessons(self) -> list[int]:
        """The numbers of the lessons of which there are results."""
        with suppress(FileNotFoundError):
            names = [re.fullmatch(r"lesson(\d{1,4})", entry.name) for entry in os.scandir(self.folder / RESULTS)]
            return sorted(int(name[1]) for name in names if name)
        return []

    def results(self, lesson: int | None = None) -> Iterator[Result]:
        """Every result of this run, one at a time, by lesson and then by the name of the student's file.

        Of one lesson alone where it is given. What could not be read is in `unread`.
        """
        for number in self.lessons() if lesson is None else [lesson]:
            yield from self._in(self.folder / RESULTS / f"lesson{number}")

    def unread(self) -> Iterator[Result]:
        """What could not be read as any lesson's notebook, one at a time, by the name of the student's file."""
        return self._in(self.folder / RESULTS / UNREAD)

    def drop_unread(self, keep: AbstractSet[tuple[str, str]], students: Collection[str] = ()) -> None:
        """Forget what could not be read and is no longer handed in: all but these (student, digest).

        Of these students alone where any are given.
        """
        for result in self.unread():
            if (result.student, result.digest) not in keep and (not students or result.student in students):
                self._unread_path(result).unlink(missing_ok=True)

    def _in(self, folder: Path) -> Iterator[Result]:
        with suppress(FileNotFoundError):
            names = [name for name in os.listdir(folder) if name.endswith(".json") and not name.startswith(".")]
            for name in sorted(names, key=lambda name: name.removesuffix(".json")):
                result = self._read(folder / name)
                if result is not None:
                    yield result

    def _path(self, student: str, lesson: int) -> Path:
        return self.folder / RESULTS / f"lesson{lesson}" / f"{file_stem(student)}.json"

    def _unread_path(self, result: Result) -> Path:
        return self.folder / RESULTS / UNREAD / f"{unread_stem(result)}.json"

    def _read(self, path: Path) -> Result | None:
        try:
            result, run = from_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self._set_aside(path, error)
            return None
        return result if run == self._run_id else None

    def _set_aside(self, path: Path, error: Exception) -> None:
        shown = path.relative_to(self.folder).as_posix()
        number = 1
        while (kept := path.with_name(f"{path.name}.damaged-{number}")).exists():
            number += 1
        try:
            path.rename(kept)
        except OSError:
            self.remarks.append(f"{shown} cannot be read ({error}); it counts as not graded.")
        else:
            self.remarks.append(f"{shown} was damaged ({error}); it is kept as {kept.name} and counts as not graded.")

    @property
    def _run_id(self) -> str:
        return self.run.id if self.run else ""

    # -------------------------------------------------------------- the roster

    def roster(self) -> dict[str, str]:
        """{student: full name} as it was set the last time; empty when it never was."""
        return self._texts(self.folder / ROSTER)

    def set_roster(self, names: Mapping[str, str]) -> None:
        """Whoever is in {student: full name} has a row in the tables from now on, with or without submissions."""
        self._write_texts(self.folder / ROSTER, names)

    # -------------------------------------------------------------- words on clusters

    def comments(self) -> dict[str, str]:
        """{cluster: an instructor's words on it}."""
        return self._texts(self.folder / COMMENTS)

    def comment(self, cluster: str, text: str) -> int:
        """Put `text` on the pages of all answers of a cluster when pages are next written; gives how many they are.

        Another text takes its place, an empty one takes it away. Raises `UserError` for a cluster that there is not.
        """
        comments = self.comments()
        size = sum(marked.cluster == cluster for result in self.results() for marked in result.exercises)
        if not size and not (cluster in comments and not text.strip()):
            raise UserError(f"there is no cluster {cluster!r} in {self.folder}: report.html names those there are")
        if text.strip():
            comments[cluster] = text.strip()
        else:
            comments.pop(cluster, None)
        self._write_texts(self.folder / COMMENTS, comments)
        return size

    def _texts(self, path: Path) -> dict[str, str]:
        try:
            found = json.loads(path.read_bytes())
            if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
                raise ValueError("not a text for each name")
            return found
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise UserError(f"{path} cannot be read ({error}): mend it, or move it away") from error

    def _write_texts(self, path: Path, texts: Mapping[str, str]) -> None:
        tree = json.dumps(dict(texts), indent=1, sort_keys=True, ensure_ascii=False)
        self._write(path, f"{tree}\n".encode("utf-8", "backslashreplace"))

    # -------------------------------------------------------------- one process at a time

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes out meanwhile, and clear away what a killed one was writing.

        Raises `UserError`, saying who has it; and where the folder holds files that are not a gradebook's.
        """
        if self.folder.is_dir() and not (self.folder / RUN).exists():
            strange = [
                name for name in sorted(os.listdir(self.folder)) if name != LOCK and not LEFTOVER.fullmatch(name)
            ]
            if strange:
                raise UserError(
                    f"{self.folder} is no gradebook, and holds {strange[0]}: give a new folder to --out, or a gradebook"
                )
        with locked(self.folder / LOCK):
            self._clean()
            yield

    def _clean(self) -> None:
        for folder, _, names in os.walk(self.folder):
            for name in names:
                if LEFTOVER.fullmatch(name):
                    Path(folder, name).unlink(missing_ok=True)

    def _write(self, path: Path, content: bytes) -> None:
        try:
            write_bytes_atomically(path, content)
        except OSError as error:
            raise UserError(
                f"{path} cannot be written ({error.strerror or error}): what is graded so far is kept; mend that and "
                "run the same command again"
            ) from error


def _as_json(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as they come back from a file: 1.0 for 1.0, a list for a tuple."""
    found: dict[str, Any] = json.loads(json.dumps(dict(options), sort_keys=True))
    return found


def _differences(known: Run, wanted: Run) -> str:
    """In which way a run is not the one that is wanted; the seeds themselves are not said."""
    found = ["another seed"] * (known.seed != wanted.seed)
    if known.course != wanted.course:
        found.append(f"version {known.course} of the course (this is {wanted.course})")
    for name in sorted(known.options.keys() | wanted.options.keys()):
        old, new = known.options.get(name), wanted.options.get(name)
        if old != new:
            found.append(f"{name} {json.dumps(old)} (now {json.dumps(new)})")
    return " and ".join(found)
