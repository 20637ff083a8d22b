"""The map of claims: the rows of `docs/claims.md`, and the sections of the lessons that settle each of them.

A row is written by hand up to its last column, which comes from the cells marked `claims="S0-1 S0-24"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from course_utils.authoring.source import Source, SourceCell, first_words, headings
from course_utils.lessons.declare import Lesson

PAGE = "docs/claims.md"
VERDICTS = ("true", "false", "misleading", "outdated")
NOT_YET = "not yet"
"""What stands in the last column where no lesson settles a claim."""
_BAR = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Row:
    """One claim as the page has it. `columns` are the cells of the table's row, the generated one too."""

    columns: tuple[str, ...]

    @property
    def id(self) -> str:
        return self.columns[0]

    @property
    def verdict(self) -> str:
        return self.columns[2] if len(self.columns) > 2 else ""


def rows(page: str) -> list[Row]:
    """The claims of the page, in order. Raises nothing: `faults` says what is wrong with a row."""
    return [row for line in page.split("\n") if (row := _row(line))]


def settled(lessons: Iterable[tuple[Lesson, Source]]) -> dict[str, list[str]]:
    """{id of a claim: links to the sections that settle it}, in the order of the lessons, no link twice."""
    found: dict[str, list[str]] = {}
    for lesson, source in lessons:
        section = lesson.title  # a cell above the first section
        for cell in source.cells:
            section = _section(cell) or section
            link = f"[{lesson.number} · {section}](../notebooks/{lesson.slug}.ipynb)"
            for claim in cell.claims:
                if link not in found.setdefault(claim, []):
                    found[claim].append(link)
    return found


def filled(page: str, lessons: Iterable[tuple[Lesson, Source]]) -> str:
    """The page with the last column of every row as the lessons give it, all else as it was."""
    links = settled(lessons)
    return "\n".join(_filled(line, links) for line in page.split("\n"))


def faults(page: str, lessons: Iterable[tuple[Lesson, Source]]) -> Iterator[str]:
    """What is wrong with the rows, and each mark of a source that names no row."""
    known: set[str] = set()
    for row in rows(page):
        if len(row.columns) != 5 or not all(row.columns[:4]):
            yield f"{PAGE}: claim {row.id}: not five columns; write id, what is said, verdict, what is so, {NOT_YET}"
        elif row.verdict not in VERDICTS:
            yield f"{PAGE}: claim {row.id}: verdict {row.verdict}; use {', '.join(VERDICTS[:-1])} or {VERDICTS[-1]}"
        if row.id in known:
            yield f"{PAGE}: claim {row.id} has two rows; keep one"
        known.add(row.id)
    for _, source in lessons:
        for cell in source.cells:
            for claim in dict.fromkeys(cell.claims):
                if claim not in known:
                    yield (
                        f'{source.file}: cell "{first_words(cell.text)}": claim {claim} has no row in {PAGE}; '
                        "write one, or mend the mark"
                    )


def not_run(source: Source) -> Iterator[str]:
    """Marked cells that nothing runs for: prose whose next cell is prose again, or the end."""
    for cell, after in zip(source.cells, (*source.cells[1:], None), strict=True):
        if cell.claims and cell.kind != "code" and (after is None or after.kind != "code"):
            yield (
                f'{source.file}: cell "{first_words(cell.text)}": settles {", ".join(cell.claims)} and runs nothing; '
                "let a code cell follow, or mark the cell that runs"
            )


def _row(line: str) -> Row | None:
    """The row that a line of the page holds: any line of a table but its head and the rule under it."""
    if not line.startswith("|"):
        return None
    columns = tuple(part.strip() for part in _BAR.split(line.strip())[1:-1])
    return None if not columns or columns[0] == "id" or not columns[0].strip("-: ") else Row(columns)


def _filled(line: str, links: dict[str, list[str]]) -> str:
    row = _row(line)
    if row is None or len(row.columns) != 5:
        return line
    return f"| {' | '.join((*row.columns[:4], ', '.join(links.get(row.id, [])) or NOT_YET))} |"


def _section(cell: SourceCell) -> str:
    """The title of the section that begins in a cell, as a link may show it; empty where none does."""
    titles = [title for level, title in headings(cell.text) if level == 2] if cell.kind == "markdown" else []
    return titles[-1].replace("|", r"\|") if titles else ""
