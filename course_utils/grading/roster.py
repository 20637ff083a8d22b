"""Who takes the course: a CSV as Canvas, Moodle, Gradescope, GitHub Classroom or a spreadsheet write it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from course_utils.grading.archives import Unreadable, read_regular
from course_utils.grading.names import clean, fold
from gradient_ledger.errors import UserError

COLUMNS = {
    "id": (
        "id",
        "identifier",
        "studentid",
        "userid",
        "canvasuserid",
        "idnumber",
        "sid",
        "sisuserid",
        "orgdefinedid",
        "matriculationnumber",
        "studentnumber",
        "lmsuserid",
    ),
    "login": ("login", "loginid", "sisloginid", "username", "user", "githubusername", "netid"),
    "email": ("email", "emailaddress", "mail"),
    "name": ("name", "fullname", "student", "studentname", "displayname"),
    "first": ("firstname", "first", "givenname", "forename", "forenames"),
    "last": ("lastname", "last", "surname", "familyname"),
}
"""What a column may be called, letters and digits alone; the first that is there names the student."""
_PARTICIPANT = re.compile(r"^[^\W\d]+(?:/[^\W\d]+)? ?(\d+)$")
"""How Moodle's worksheet writes the number that its download has in the names of folders: `Participant 1234567`."""


@dataclass(frozen=True)
class Student:
    """One row. `id` is what results are kept under."""

    id: str
    name: str = ""


@dataclass(frozen=True)
class Roster:
    """Students, and every spelling that means one of them and nobody else."""

    students: tuple[Student, ...]
    ids: dict[str, Student]
    """By id, login and address."""
    names: dict[str, Student]
    """By name, in either order, and squeezed as Canvas writes it in names of files."""

    def by_id(self, text: str) -> Student | None:
        """The student whom an id, a login or an address names."""
        return self.ids.get(fold(text))

    def find(self, text: str) -> Student | None:
        """The student whom an id, a login, an address or a name names."""
        key = fold(text)
        return self.ids.get(key) or self.names.get(key) or self.names.get(_squeezed(key))

    def inside(self, text: str) -> Student | None:
        """The one student whose id, login, address or name begins or ends `text`: `hw3-jdoe`, `jdoe_final`."""
        whole = self.find(text)
        if whole:
            return whole
        cuts = [match.span() for match in re.finditer(r"[\s_.,;()+-]+", text[:255])]
        pieces = [piece for start, end in cuts for piece in (text[:start], text[end:])]
        found = {student.id: student for piece in pieces if len(piece) > 2 and (student := self.find(piece))}
        return next(iter(found.values())) if len(found) == 1 else None


def read_roster(path: Path) -> Roster:
    """The roster in a CSV file. Raises `UserError` when it is none, or names one student twice."""
    try:
        data = read_regular(path)
    except Unreadable:
        why = "could not be read" if path.is_file() else "is not there, or is no file"
        raise UserError(f"the roster {path} {why}: give a CSV file of at most 20 MB") from None
    rows = _rows(path, _text(data))
    at = _columns(rows[0]) if rows else {}
    if not at:
        known = ", ".join(rows[0])[:200] if rows else "nothing"
        raise UserError(
            f"the roster {path} has no column that names students: it has {known}; "
            "call one id, login, email or name, in the first line"
        )
    students: dict[str, tuple[int, Student]] = {}
    ids: list[tuple[str, Student]] = []
    names: list[tuple[str, Student]] = []
    for number, row in enumerate(rows[1:], 2):
        cell = {kind: [clean(row[i]) for i in found if i < len(row) and row[i].strip()] for kind, found in at.items()}
        own = [*cell.get("id", ()), *cell.get("login", ()), *cell.get("email", ())]
        spelled = cell.get("name", []) or [" ".join([*cell.get("first", []), *cell.get("last", [])])]
        if not own and (not spelled[0] or at.keys() & {"id", "login", "email"}):
            continue  # an empty line, or the line of points in Canvas's export
        own = [_number(one) for one in own]
        # Results are kept under the number, the login or the address; under the name where there is nothing else.
        student = Student((own or spelled)[0], _in_order(spelled[0]))
        key = fold(student.id)  # what differs in capitals alone could never be told apart
        if key in students:
            line = students[key][0]
            raise UserError(
                f"the roster {path} names {student.id} in row {line} and in row {number}: leave one of them"
            )
        students[key] = number, student
        ids += [(one, student) for one in own] + [(one.split("@")[0], student) for one in own if "@" in one]
        names += [(form, student) for one in spelled for form in _forms(one)]
        names += [(last + first, student) for first in cell.get("first", ()) for last in cell.get("last", ())]
    if not students:
        raise UserError(f"the roster {path} has no student in it: write one a line, under a line of column names")
    own_ids = {key: student for key, (_, student) in students.items()}
    return Roster(tuple(own_ids.values()), _unambiguous(ids) | own_ids, _unambiguous(names))


def _text(data: bytes) -> str:
    """The text of a CSV, whichever program wrote it: spreadsheets still write UTF-16 and Windows' own code."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _rows(path: Path, text: str) -> list[list[str]]:
    """The rows, parted by whatever parts the first line into most columns."""
    text = text.lstrip("\r\n ")
    first = text.splitlines()[:1]
    if first and first[0].lower().startswith("sep="):  # how Excel is told the delimiter
        text = text[len(first[0]) :].lstrip("\r\n")
        first = text.splitlines()[:1]
    delimiter = max(",;\t|", key=lambda each: len(next(csv.reader(first, delimiter=each), [])))
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise UserError(f"the roster {path} is not a CSV file ({error}): export it again as CSV, in UTF-8") from None
    return [[cell.strip() for cell in row] for row in rows]


def _columns(header: list[str]) -> dict[str, list[int]]:
    """{kind: indices of its columns}, in the order in which a kind lists its names."""
    plain = [re.sub(r"[^a-z0-9]", "", cell.lower()) for cell in header]
    found = {kind: [plain.index(name) for name in names if name in plain] for kind, names in COLUMNS.items()}
    return {kind: indices for kind, indices in found.items() if indices}


def _number(text: str) -> str:
    match = _PARTICIPANT.match(text)
    return match[1] if match and text.lower().startswith(("participant", "teilnehmer")) else text


def _in_order(name: str) -> str:
    """`Doe, Jane` as `Jane Doe`."""
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}".strip() if comma else name


def _forms(name: str) -> set[str]:
    """The spellings of a name that files and folders are called by."""
    plain = _in_order(name)
    words = plain.split()
    turned = " ".join([*words[-1:], *words[:-1]])
    return {form for form in (name, plain, turned, _squeezed(name), _squeezed(plain), _squeezed(turned)) if form}


def _squeezed(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _unambiguous(pairs: Iterable[tuple[str, Student]]) -> dict[str, Student]:
    """{spelling: student}, without the spellings that two students share."""
    found: dict[str, Student | None] = {}
    for text, student in pairs:
        key = fold(text)
        found[key] = student if found.setdefault(key, student) is student else None
    return {key: student for key, student in found.items() if key and student is not None}
