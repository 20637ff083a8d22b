"""Read a notebook that a stranger handed in: bytes in, a list of code cells out, and what lesson they are of."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

from course_utils.grading.archives import MAX_NOTEBOOK, Unreadable
from course_utils.grading.names import clean
from course_utils.grading.result import Note
from course_utils.lessons import lesson as find_lesson
from course_utils.lessons import lessons
from course_utils.lessons.published import cell_digest, published_cells

MAX_CELLS = 2_000
MAX_CODE = 5 * 2**20
"""Characters of code in one notebook."""
MAX_BRACKETS = 1_000_000
"""Lists and objects in the JSON: each takes some 200 bytes of memory, however short it is written."""
_MARK = re.compile(r"(?:exercise|check|banner|help)-(\d{1,2})-\d{1,2}$")
_CHECK = re.compile(r"^check\(\s*[\"'](\d{1,2})\.\d{1,2}[\"']", re.MULTILINE)
_HEADING = re.compile(r"^#{1,3} (?:Lesson (\d{1,2}):|Exercise (\d{1,2})\.\d{1,2}:)", re.MULTILINE)
_DEFINED = re.compile(r"^(?:def|class)[ \t]+([^\W\d]\w{0,99})", re.MULTILINE)
AGAIN = "Save it again in JupyterLab (File, Save Notebook) and hand in the .ipynb file."
DOWNLOAD = "Hand in the .ipynb file itself: in JupyterLab, right-click the notebook and choose Download."


@dataclass(frozen=True)
class Cell:
    """One code cell, in the order of the file."""

    number: int
    """From 1, counting code cells: how notes name it ("cell 14")."""
    source: str
    published: bool = False
    """Whether the course ships this cell as it stands (exercise stubs and their checks included)."""


@dataclass(frozen=True)
class Notebook:
    """The code of one submission, and the lesson that it is of."""

    lesson: int
    cells: tuple[Cell, ...]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class _Raw:
    """A cell as it stands in the file, in the words of nbformat 4."""

    kind: str
    source: str
    marks: tuple[str, ...]
    """Its id and nbgrader's."""


def read_notebook(data: bytes) -> Notebook:
    """The notebook in `data`. Raises `Unreadable`."""
    notes: list[Note] = []
    tree = _tree(_text(data, notes))
    cells = [_raw(cell, notes) for cell in _cells(tree, notes)]
    code = [cell.source for cell in cells if cell.kind == "code"]
    if sum(map(len, code)) > MAX_CODE:
        raise Unreadable(
            f"The notebook has more than {MAX_CODE // 2**20} million characters of code. "
            "Keep data in the cells' outputs or files, and hand in a shorter notebook."
        )
    lesson = _lesson(tree, cells, notes)
    shipped = published_cells().get(lesson, frozenset())
    numbered = tuple(Cell(number, text, cell_digest(text) in shipped) for number, text in enumerate(code, 1))
    return Notebook(lesson, numbered, tuple(dict.fromkeys(notes)))


def _text(data: bytes, notes: list[Note]) -> str:
    """The text, whatever its encoding."""
    if len(data) > MAX_NOTEBOOK:
        size = MAX_NOTEBOOK // 2**20
        raise Unreadable(f"The file holds more than {size} MB. Clear its outputs and save it again.")
    if not data.strip():
        raise Unreadable(f"The file is empty. {DOWNLOAD}")
    data = data.removeprefix(b"\xef\xbb\xbf")
    for mark, encoding in (
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            notes.append(_about_file(f"The file was written as {encoding.upper()}; notebooks are UTF-8."))
            return data.decode(encoding, "replace")
    if data[1:2] == b"\x00" or data[:1] == b"\x00":  # UTF-16 without its mark: every other byte of JSON is 0
        notes.append(_about_file("The file was written as UTF-16; notebooks are UTF-8."))
        return data.decode("utf-16-le" if data[1:2] == b"\x00" else "utf-16-be", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        notes.append(_about_file("The file is not UTF-8; it was read as Latin-1, so some letters may be others."))
        return data.decode("latin-1")


def _tree(text: str) -> dict[str, Any]:
    """The JSON of a notebook, before anything in it is believed."""
    if text.count("[") + text.count("{") > MAX_BRACKETS:
        raise Unreadable("The notebook holds too many parts. Clear its outputs, save it and hand it in again.")
    try:
        tree = json.loads(text, strict=False, parse_int=_integer)
    except RecursionError:
        raise Unreadable(f"The file is nested too deep to be a notebook. {AGAIN}") from None
    except ValueError as error:
        raise Unreadable(_why_no_json(text, error)) from None
    if not isinstance(tree, dict):
        raise Unreadable(f"The file is JSON but no notebook. {DOWNLOAD}")
    return tree


def _why_no_json(text: str, error: ValueError) -> str:
    """What the file is instead of a notebook, as far as that can be told."""
    start = text.lstrip()[:200]
    if start.startswith("PK\x03\x04"):
        return "The file is a zip archive, with the name of a notebook. Give it a name that ends in .zip, or unpack it."
    if start[:1] == "<":
        return f"The file is a web page, not the notebook. {DOWNLOAD}"
    if start.startswith("%PDF"):
        return f"The file is a PDF, not the notebook. {DOWNLOAD}"
    if start.startswith("version https://git-lfs"):
        return f"The file is a pointer of Git LFS, not the notebook. {DOWNLOAD}"
    if re.search(r"^<{7} ", text, re.MULTILINE):
        return f"The file holds an unsettled merge of Git (lines that begin with <<<<<<<). Settle it. {AGAIN}"
    if not start.startswith("{"):
        return f"The file is no notebook. {DOWNLOAD}"
    if isinstance(error, json.JSONDecodeError):
        if not text.rstrip().endswith("}"):
            return f"The file is incomplete: it ends in the middle, in line {error.lineno}. {AGAIN}"
        return f"The file is damaged in line {error.lineno}: {clean(error.msg)}. {AGAIN}"
    return f"The file is damaged. {AGAIN}"


def _cells(tree: dict[str, Any], notes: list[Note]) -> list[Any]:
    """The cells, wherever the version of the format keeps them."""
    cells = tree.get("cells")
    sheets = tree.get("worksheets")
    version = tree.get("nbformat")
    if not isinstance(cells, list) and isinstance(sheets, list):
        found = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        cells = [cell for sheet in found if isinstance(sheet, list) for cell in sheet]
        notes.append(_about_file("The notebook is in an old format (nbformat 3 or older); it was read as it stands."))
    elif not isinstance(cells, list):
        raise Unreadable(f"The file has no cells, so it is no notebook that can be read. {AGAIN}")
    elif isinstance(version, int) and not isinstance(version, bool) and version != 4:
        notes.append(_about_file("The notebook says that it is not in nbformat 4; it was read as if it were."))
    if len(cells) > MAX_CELLS:
        raise Unreadable(
            f"The notebook has {len(cells):,} cells; at most {MAX_CELLS:,} are read. "
            "Delete those that are not yours, save it and hand it in again."
        )
    return cells


def _raw(cell: Any, notes: list[Note]) -> _Raw:
    """One cell, whatever is missing in it."""
    if not isinstance(cell, dict):
        notes.append(_about_file("Something that is no cell stands among the cells; it was left out."))
        return _Raw("", "", ())
    kind = cell.get("cell_type")
    text = cell.get("source", cell.get("input", "") if kind == "code" else "")  # `input` until nbformat 3
    if isinstance(text, list):
        if not all(isinstance(line, str) for line in text):
            notes.append(_about_file("A cell holds something that is no text; that was left out."))
        text = "".join(line for line in text if isinstance(line, str))
    elif not isinstance(text, str):
        notes.append(_about_file("A cell holds something that is no text; that was left out."))
        text = ""
    if not isinstance(kind, str):
        kind = "code" if "outputs" in cell else ""
        notes.append(_about_file("A cell does not say whether it is code; it is taken as code if it has outputs."))
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    marks = (cell.get("id"), nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None)
    # Half of a surrogate pair can be written in JSON, and in nothing else that the text goes through.
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return _Raw(kind, text, tuple(mark for mark in marks if isinstance(mark, str)))


def _lesson(tree: dict[str, Any], cells: list[_Raw], notes: list[Note]) -> int:
    """The lesson, by the notebook's own metadata, else by its cells. Raises `Unreadable`.

    A course of an instructor's own has some of the lessons; a notebook of another one is no notebook of it.
    """
    number = _recognised(tree, cells, notes)
    if number not in {lesson.number for lesson in lessons()}:
        raise Unreadable(f"This notebook is of lesson {number}, which is not part of this course.")
    return number


def _recognised(tree: dict[str, Any], cells: list[_Raw], notes: list[Note]) -> int:
    known = _published()
    metadata = tree.get("metadata")
    course = metadata.get("course") if isinstance(metadata, dict) else None
    said = course.get("lesson") if isinstance(course, dict) else None
    said = int(said) if isinstance(said, str) and said in map(str, known) else said
    named = said if isinstance(said, int) and not isinstance(said, bool) and said in known else None
    votes = Counter(number for cell in cells for number in _signs(cell))
    first, second = [*votes.most_common(2), (0, 0), (0, 0)][:2]
    if named is not None:
        # A wrong number costs every point, so it takes more than one stray cell to doubt a right one.
        if votes[named] or first[1] < 3:
            return named
        text = f"The notebook says that it is of lesson {named}, but its cells are those of lesson {first[0]}"
        notes.append(_about_file(f"{text}; it was graded as lesson {first[0]}."))
        return first[0]
    if not first[1]:
        raise Unreadable(
            "This is a notebook, but no lesson of the course is to be recognised in it. "
            "Hand in the course's own notebook, with your code in its exercise cells."
        )
    if 2 * second[1] > first[1]:
        both = f"cells of lesson {first[0]} and of lesson {second[0]}"
        notes.append(_about_file(f"The notebook holds {both}; it was graded as lesson {first[0]}."))
    return first[0]


def _signs(cell: _Raw) -> set[int]:
    """The lessons that one cell speaks for."""
    found: set[int] = set()
    for mark in cell.marks:
        if match := _MARK.match(mark):
            found.add(int(match[1]))
    if cell.kind == "code":
        found |= _by_digest().get(cell_digest(cell.source), set())
        text = cell.source[:20_000]
        found |= {int(match[1]) for match in _CHECK.finditer(text)}
        names = _names(tuple(lesson.number for lesson in lessons()))
        found |= {names[name] for name in _DEFINED.findall(text) if name in names}
    else:
        found |= {int(match[1] or match[2]) for match in _HEADING.finditer(cell.source)}
    return found & _published()


def _published() -> set[int]:
    """The lessons there are, whichever of them this course has."""
    return {lesson.number for lesson in lessons()} | set(published_cells())


@cache
def _by_digest() -> dict[str, set[int]]:
    """{digest of a published cell: its lesson}, without the cells that several lessons have."""
    counts = Counter(digest for digests in published_cells().values() for digest in digests)
    return {digest: {number} for number, own in published_cells().items() for digest in own if counts[digest] == 1}


@cache
def _names(numbers: tuple[int, ...]) -> dict[str, int]:
    """{name of an exercise: its lesson} in these lessons, without the names that several of them have."""
    found = {(exercise.name, number) for number in numbers for exercise in find_lesson(number).exercises}
    counts = Counter(name for name, _ in found)
    return {name: number for name, number in found if counts[name] == 1}


def _integer(text: str) -> int:
    """A number that JSON may write at any length, and that nothing here needs at more than a few digits."""
    return int(text) if len(text) < 20 else 0


def _about_file(text: str) -> Note:
    return Note("file", text)
