"""`course build`: write what is generated from the lesson sources, or say which of it is stale."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_utils.authoring import claims
from course_utils.authoring.execute import execute
from course_utils.authoring.files import (
    AuthoringError,
    cells_path,
    chosen,
    shown,
    solutions_path,
    solved_path,
    student_path,
    write,
)
from course_utils.authoring.notebooks import solved_notebook, student_notebook, to_text
from course_utils.authoring.repository import Repository, read_setting, write_setting
from course_utils.authoring.repository import repository as parse_repository
from course_utils.authoring.source import Source, read
from course_utils.lessons import lessons
from course_utils.lessons.declare import Lesson
from course_utils.lessons.published import cell_digest

_TABLE = re.compile(r"(<!-- lessons:begin -->\n)(.*?)(<!-- lessons:end -->)", re.DOTALL)


@dataclass(frozen=True)
class Assembled:
    """Both notebooks of one lesson, before execution."""

    lesson: Lesson
    source: Source
    student: NotebookNode
    solved: NotebookNode


def build(root: Path, *, check: bool, repository: str | None, only: list[int]) -> int:
    """See `course_utils.authoring.build_command`."""
    setting = read_setting(root)
    value = setting if repository is None else repository.strip()
    where = parse_repository(value)
    faults: list[str] = []
    assembled: list[Assembled] = []
    for lesson in chosen(only):
        try:
            assembled.append(assemble(root, lesson, where))
        except AuthoringError as error:
            faults.append(str(error))
    page, found = claims_page(root, assembled)
    faults += [line for line in found if line not in faults]
    if check:
        faults += [line for item in assembled for line in stale_notebooks(root, item)]
        faults += stale_shared(root, assembled, where, page)
    else:
        if value != setting:
            write_setting(root, value)
            print(f"pyproject.toml: repository = {value!r}")
            if only and len(assembled) < len(lessons()):
                print("the other notebooks still have the old repository; run course build")
        for item in assembled:
            try:
                _write_lesson(root, item)
            except AuthoringError as error:
                faults.append(str(error))
        _write_shared(root, assembled, where, page)
    for fault in faults:
        print(fault)
    if not faults and check:
        print(f"everything generated is up to date ({_count(assembled)})")
    return 1 if faults else 0


def assemble(root: Path, lesson: Lesson, where: Repository) -> Assembled:
    """Read the source of `lesson` and put both notebooks together. Raises `AuthoringError`."""
    source = read(root, lesson)
    return Assembled(lesson, source, student_notebook(source, lesson, where), solved_notebook(source, lesson, where))


def stale_notebooks(root: Path, item: Assembled) -> Iterator[str]:
    """One line for each notebook of a lesson that is not what its source gives, outputs apart."""
    student, solved = student_path(root, item.lesson), solved_path(root, item.lesson)
    for path, fresh, same in (
        (student, item.student, student.is_file() and student.read_bytes() == to_text(item.student).encode()),
        (solved, item.solved, _without_outputs(solved) == _parts(item.solved)),
    ):
        if not same:
            yield f"{shown(root, path)}: {_first_difference(path, fresh)}; run course build {item.lesson.number}"


def stale_shared(root: Path, assembled: list[Assembled], where: Repository, page: str) -> Iterator[str]:
    """One line each for `solutions.json`, `cells.json`, the README and the map of claims where they are stale.

    `page` is the map of claims as it should be, as `claims_page` gives it.
    """
    path = solutions_path(root)
    if not path.is_file() or path.read_text(encoding="utf-8") != _solutions_text(root, assembled):
        yield f"{shown(root, path)}: solutions differ from the sources; run course build"
    path = cells_path(root)
    if not path.is_file() or path.read_text(encoding="utf-8") != _cells_text(root, assembled):
        yield f"{shown(root, path)}: cells differ from the sources; run course build"
    readme = root / "README.md"
    if readme.is_file() and _readme_text(readme, where) != readme.read_text(encoding="utf-8"):
        yield "README.md: the table of lessons is stale; run course build"
    if page != _claims_text(root):
        yield f"{claims.PAGE}: the column of sections is stale; run course build"


def claims_page(root: Path, assembled: list[Assembled]) -> tuple[str, list[str]]:
    """The map of claims as all registered lessons give it, and what is wrong with it.

    A build of one lesson keeps what the others settle, so theirs are read, too. Where one cannot be, the page stays
    as it is. Empty where there is no page.
    """
    read_already = {item.lesson.number: item.source for item in assembled}
    sources: list[tuple[Lesson, Source]] = []
    unread: list[str] = []
    for lesson in lessons():
        try:
            sources.append((lesson, read_already.get(lesson.number) or read(root, lesson)))
        except AuthoringError as error:
            unread.append(str(error))
    page = _claims_text(root)
    return page if unread else claims.filled(page, sources), [*unread, *claims.faults(page, sources)]


def lesson_table(where: Repository) -> str:
    """The README's table: a row a registered lesson."""
    head = ["Lesson", "Minutes", "Points"] + (["In Colab"] if where.github else [])
    rows = [head, ["---"] + ["---:"] * 2 + ["---"] * (len(head) - 3)]
    for lesson in lessons():
        link = f"[{lesson.number} · {lesson.title}](notebooks/{lesson.slug}.ipynb)"
        badge = [where.badge(lesson.slug)] if where.github else []
        rows.append([link, str(lesson.minutes), str(lesson.points), *badge])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _write_lesson(root: Path, item: Assembled) -> None:
    path = student_path(root, item.lesson)
    written = write(path, to_text(item.student))
    print(f"{shown(root, path)}: {'written' if written else 'as it was'}, {len(item.student.cells)} cells", flush=True)
    path = solved_path(root, item.lesson)
    print(f"{shown(root, path)}: executing", flush=True)
    execute(item.solved, item.source.file)
    written = write(path, to_text(item.solved))
    print(f"{shown(root, path)}: {'written' if written else 'as it was'}", flush=True)


def _write_shared(root: Path, assembled: list[Assembled], where: Repository, page: str) -> None:
    path = solutions_path(root)
    if write(path, _solutions_text(root, assembled)):
        print(f"{shown(root, path)}: written")
    path = cells_path(root)
    if write(path, _cells_text(root, assembled)):
        print(f"{shown(root, path)}: written")
    readme = root / "README.md"
    if readme.is_file() and write(readme, _readme_text(readme, where)):
        print("README.md: table of lessons written")
    if page and write(root / claims.PAGE, page):
        print(f"{claims.PAGE}: column of sections written")


def _solutions_text(root: Path, assembled: list[Assembled]) -> str:
    """The solutions of the assembled lessons, with those of the other registered lessons as they stand."""
    path = solutions_path(root)
    known: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    fresh = {cell.exercise: cell.solution for item in assembled for cell in item.source.cells if cell.exercise}
    rebuilt = {item.lesson.number for item in assembled}
    order = [exercise.id for lesson in lessons() for exercise in lesson.exercises]
    kept = {key: text for key, text in known.items() if int(key.split(".")[0]) not in rebuilt}
    everything = kept | fresh
    ordered = {key: everything[key] for key in order if key in everything}
    return json.dumps(ordered, indent=1, ensure_ascii=False) + "\n"


def _cells_text(root: Path, assembled: list[Assembled]) -> str:
    """The digests of the assembled lessons' student code cells, with those of the other registered lessons."""
    path = cells_path(root)
    known: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for item in assembled:
        code = [cell.source for cell in item.student.cells if cell.cell_type == "code"]
        known[str(item.lesson.number)] = sorted({cell_digest(text) for text in code})
    numbers = [str(lesson.number) for lesson in lessons()]
    ordered = {number: known[number] for number in numbers if number in known}
    return json.dumps(ordered, indent=1) + "\n"


def _readme_text(readme: Path, where: Repository) -> str:
    text = readme.read_text(encoding="utf-8")
    table = lesson_table(where)
    return _TABLE.sub(lambda match: f"{match[1]}{table}{match[3]}", text)


def _claims_text(root: Path) -> str:
    path = root / claims.PAGE
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _parts(notebook: NotebookNode) -> tuple[object, ...]:
    """What a notebook is apart from outputs and execution counts."""
    cells = [(cell.get("id"), cell.cell_type, cell.source, cell.metadata) for cell in notebook.cells]
    return notebook.metadata, notebook.nbformat, notebook.nbformat_minor, cells


def _read(path: Path) -> NotebookNode | None:
    try:
        found: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        return found
    except Exception:  # nbformat raises many kinds for what is not a notebook
        return None


def _without_outputs(path: Path) -> tuple[object, ...] | None:
    notebook = _read(path)
    return None if notebook is None else _parts(notebook)


def _first_difference(path: Path, fresh: NotebookNode) -> str:
    if not path.is_file():
        return "missing"
    committed = _read(path)
    if committed is None:
        return "not a notebook"
    old, new = _parts(committed)[-1], _parts(fresh)[-1]
    assert isinstance(old, list) and isinstance(new, list)
    for index in range(max(len(old), len(new))):
        if index >= len(old):
            return f"stale, cell {new[index][0]} is missing"
        if index >= len(new):
            return f"stale, cell {old[index][0]} is no longer in the source"
        if old[index] != new[index]:
            return f"stale from cell {new[index][0]} on"
    return "stale, its outputs or metadata differ"


def _count(assembled: list[Assembled]) -> str:
    return f"{len(assembled)} lesson{'' if len(assembled) == 1 else 's'}"
