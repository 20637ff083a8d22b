"""Submissions of one lesson to measure graders with: solved, half solved, with a cell that raises, and untouched.

Made from notebooks/ and solutions/. No two of them are the same text: each solved cell ends with a line of its own.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_utils.lessons import lesson as find_lesson

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("all right", "half", "a cell raises", "unsolved")
Tree = dict[str, Any]
"""A notebook as its JSON."""


@dataclass(frozen=True)
class HandedIn:
    """One submission."""

    student: str
    kind: str
    notebook: Tree

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.notebook), encoding="utf-8")


def handed_in(lesson: int, count: int) -> list[HandedIn]:
    """`count` submissions of a lesson, the kinds in turn."""
    solutions, empty = solved_cells(lesson), published("notebooks", lesson)
    return [_made(number, KINDS[number % len(KINDS)], empty, solutions) for number in range(count)]


def published(folder: str, lesson: int) -> Tree:
    """The lesson's notebook in `notebooks` or `solutions`, without outputs."""
    path = ROOT / folder / f"{find_lesson(lesson).slug}.ipynb"
    tree: Tree = json.loads(path.read_text(encoding="utf-8"))
    for cell in tree["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return tree


def solved_cells(lesson: int) -> dict[str, str]:
    """{nbgrader's id of an exercise's cell: the code that solves it}, in the order of the notebook."""
    found = {}
    for cell in published("solutions", lesson)["cells"]:
        mark = cell["metadata"].get("nbgrader", {})
        if mark.get("solution"):
            lines = "".join(cell["source"]).splitlines()
            found[mark["grade_id"]] = "\n".join(line for line in lines if not line.strip().startswith("###"))
    return found


def _made(number: int, kind: str, empty: Tree, solutions: dict[str, str]) -> HandedIn:
    student = f"student-{number:05}"
    names = list(solutions)
    solved = {"all right": names, "half": names[::2], "a cell raises": names, "unsolved": []}[kind]
    notebook = copy.deepcopy(empty)
    for cell in notebook["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in solved:
            raises = kind == "a cell raises" and name == names[len(names) // 2]
            first = "print(a_name_that_nobody_defined)\n" if raises else ""
            cell["source"] = f"{first}{solutions[name]}\n# {student}"
    return HandedIn(student, kind, notebook)
