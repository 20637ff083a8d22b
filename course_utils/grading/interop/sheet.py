"""A table that a tool exported, to be imported again: cells are replaced, and every other byte stays as it was.

Below it, what Canvas and Moodle have in common: whose row it is, and how many points go there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from course_utils.grading.result import Result
from gradient_ledger.errors import UserError

_BOM = "\ufeff"
_DELIMITERS = (",", ";", "\t")


def number(value: float) -> str:
    """Points as both Canvas and Moodle read them: at most two decimals, none where there is nothing behind them."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def read_number(text: str) -> float | None:
    """A number as either writes it, with a point or a comma; None where it is none."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


@dataclass(frozen=True)
class _Field:
    begin: int
    end: int
    value: str


class Sheet:
    """The rows of a CSV file, the header first. `rows[i][j]` is a value; `put` gives a cell a new one."""

    def __init__(self, data: bytes, name: str) -> None:
        """`name` is the file's, for messages. Raises `UserError` for what is no CSV file in UTF-8."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise UserError(f"{name} is not in UTF-8: export it again, and do not save it in between") from None
        self.name = name
        self._bom = _BOM if text.startswith(_BOM) else ""
        self._text = text.removeprefix(_BOM)
        first = self._text.partition("\n")[0]
        self._delimiter = max(_DELIMITERS, key=first.count)
        self._fields = [row for row in self._read() if any(field.value for field in row)]
        if not self._fields:
            raise UserError(f"{name} is empty")
        self.rows: list[list[str]] = [[field.value for field in row] for row in self._fields]
        self._new: dict[tuple[int, int], str] = {}

    @classmethod
    def read(cls, path: Path) -> Sheet:
        """Raises `UserError` where the file cannot be read."""
        try:
            return cls(path.read_bytes(), str(path))
        except OSError as error:
            raise UserError(f"{path} cannot be read: {error.strerror}") from error

    @property
    def header(self) -> list[str]:
        return self.rows[0]

    def column(self, *names: str) -> int | None:
        """The place of the first column that has one of these names, capitals and spaces around it aside."""
        wanted = [name.casefold() for name in names]
        return next((at for at, name in enumerate(self.header) if name.strip().casefold() in wanted), None)

    def cell(self, row: int, column: int | None) -> str:
        """A value without the spaces around it; empty where the row is shorter."""
        return self.rows[row][column].strip() if column is not None and column < len(self.rows[row]) else ""

    def has(self, row: int, columns: Iterable[int], text: str) -> bool:
        """Whether one of these cells holds `text`, capitals aside: addresses and logins have none that count."""
        return bool(text) and any(self.cell(row, column).casefold() == text.casefold() for column in columns)

    def put(self, row: int, column: int, text: str) -> None:
        """Give a cell a new value. Raises `UserError` where the row has no such cell."""
        if column >= len(self.rows[row]):
            raise UserError(f"{self.name}: row {row + 1} has fewer cells than the header; export it again")
        self._new[row, column] = text

    def to_bytes(self) -> bytes:
        """The file with the new values in it."""
        parts, at = [self._bom], 0
        for (row, column), text in sorted(self._new.items()):
            field = self._fields[row][column]
            parts += [self._text[at : field.begin], self._quoted(text)]
            at = field.end
        return "".join([*parts, self._text[at:]]).encode("utf-8", "backslashreplace")

    def _quoted(self, text: str) -> str:
        odd = any(mark in text for mark in (self._delimiter, '"', "\n", "\r")) or text != text.strip()
        return '"' + text.replace('"', '""') + '"' if odd else text

    def _read(self) -> Iterator[list[_Field]]:
        """The fields of each row, as RFC 4180 has them, and where each stands in the text."""
        text, at, row = self._text, 0, list[_Field]()
        while at < len(text):
            field = self._field(at)
            row.append(field)
            at = field.end
            if at < len(text) and text[at] == self._delimiter:
                at += 1
                if at == len(text):
                    row.append(_Field(at, at, ""))
                continue
            at += 2 if text.startswith("\r\n", at) else 1
            yield row
            row = []
        if row:
            yield row

    def _field(self, begin: int) -> _Field:
        text, at = self._text, begin
        if not text.startswith('"', begin):
            while at < len(text) and text[at] not in (self._delimiter, "\n", "\r"):
                at += 1
            return _Field(begin, at, text[begin:at])
        parts, at = list[str](), begin + 1
        while True:
            close = text.find('"', at)
            if close < 0:
                raise UserError(f"{self.name} is no CSV file: a quotation mark is never closed")
            parts.append(text[at:close])
            if not text.startswith('""', close):
                break
            parts.append('"')
            at = close + 2
        end = close + 1
        while end < len(text) and text[end] not in (self._delimiter, "\n", "\r"):
            end += 1  # what stands behind the closing mark belongs to nothing
        return _Field(begin, end, "".join(parts))


@dataclass(frozen=True)
class Merged:
    """An exported table with points in it, and what an instructor should know of it."""

    data: bytes
    placed: int
    """How many students got points."""
    remarks: tuple[str, ...]


def share(result: Result, possible: float | None, scale: bool, tool: str) -> float:
    """The points of a result in a tool that gives `possible` in all.

    With `scale` they are turned into those of the tool; without, `UserError` is raised where the two differ.
    """
    if possible is None or possible == result.max_points or not result.max_points:
        return result.points
    if not scale:
        raise UserError(
            f"lesson {result.lesson} has {result.max_points} points, the assignment in {tool} {number(possible)}: "
            f"set it to {result.max_points} there, or give --scale"
        )
    return result.points * possible / result.max_points


def find_row(sheet: Sheet, rows: Iterable[int], means: Callable[[int], bool], student: str) -> int | None | str:
    """The row that means a student: None where there is none, words where several do."""
    found = [row for row in rows if means(row)]
    if len(found) > 1:
        shown = ", ".join(str(row + 1) for row in found[:4])
        return f"{student}: rows {shown} of {sheet.name} could all be meant; nothing was written there"
    return found[0] if found else None
