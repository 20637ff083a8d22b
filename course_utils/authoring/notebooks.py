"""Assemble the two notebooks of a lesson from its source: banners, check cells, stable ids, nbgrader metadata."""

from __future__ import annotations

import copy
import logging
import re
import unicodedata
from typing import Any

import nbformat
from nbformat import NotebookNode

from course_utils.authoring.files import AuthoringError
from course_utils.authoring.repository import Repository
from course_utils.authoring.source import Source, SourceCell, headings
from course_utils.exercise import Exercise
from course_utils.lessons import lessons
from course_utils.lessons.declare import Lesson

DIFFICULTY = {1: "a warm-up", 2: "gentle", 3: "moderate", 4: "demanding", 5: "hard"}
HOUSE_RULES = (
    "*As everywhere: inputs, and all else that the exercise is not about, stay as they were; results keep the dtype "
    "and device of the inputs, and returned tensors carry no graph.*"
)
"""What holds for every exercise, under each banner."""
LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
    "version": "3.11.2",
}
"""All that a kernel says of itself: a front end that finds less writes the notebook as soon as it is opened."""
_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": LANGUAGE,
}


def student_notebook(source: Source, lesson: Lesson, where: Repository) -> NotebookNode:
    """What a learner opens: solution regions cleared by nbgrader's own preprocessor, no outputs."""
    return _assemble(source, lesson, where, solved=False)


def solved_notebook(source: Source, lesson: Lesson, where: Repository) -> NotebookNode:
    """The same with the solutions in it, not yet executed.

    The solution markers stay, so that this is also the source notebook that nbgrader expects
    of an instructor.
    """
    return _assemble(source, lesson, where, solved=True)


def to_text(notebook: NotebookNode) -> str:
    """The one spelling of a notebook on disk: sorted keys, one space of indent, a newline at the end."""
    return nbformat.writes(notebook, indent=1, sort_keys=True, ensure_ascii=False).rstrip("\n") + "\n"


IN_A_KERNEL = ("torch", "numpy", "matplotlib", "ipywidgets")
"""What a lesson needs in a kernel besides the package: JupyterLab itself is there, or something in its place."""

_INSTALL = """import importlib.metadata, importlib.util, subprocess, sys
if importlib.util.find_spec("course_utils") is None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["REQUIREMENT"]
    for name in (NEEDS):
        # What is here already stays at its version.
        found = [f"{name}=={one.version}" for one in importlib.metadata.distributions(name=name)]
        pip += found[:1] or [name]
    subprocess.run(pip, check=True)
    importlib.invalidate_caches()"""

_ADVISE = """import importlib.util, os, sys
if importlib.util.find_spec("course_utils") is None:
    if "google.colab" in sys.modules:  # Colab opens one file, not the folder around it
        do = "run in a new cell:  %pip install git+https://github.com/OWNER/NAME\\nwith the names "
        do += "of the repository that this notebook is from, and then this cell again."
    elif "BINDER_REPO_URL" in os.environ:  # Binder has the whole repository
        do = "run in a new cell:  %pip install ..\\nand then this cell again."
    else:
        do = "run in a terminal, in the course's folder:  make lab\\nand open the notebook in the "
        do += "JupyterLab that it starts. Windows, or without make: README.md, Start."
    raise ModuleNotFoundError("course_utils is not in this kernel. To mend it, " + do)"""


def setup_code(where: Repository) -> str:
    """The set-up cell: the package when it is missing, or what to do about that, and the learner's names.

    pip is given the installed version of everything it might upgrade, so it can only keep that one or fail.
    """
    needs = ", ".join(f'"{one}"' for one in IN_A_KERNEL)
    missing = _INSTALL.replace("REQUIREMENT", where.requirement).replace("NEEDS", needs)
    names = "from course_utils import check, compare, hint, predict, progress, quiz, solution"
    return f"{missing if where.requirement else _ADVISE}\n\n{names}"


def banner(exercise: Exercise) -> str:
    """The markdown above an exercise, from the registry alone. Raises `AuthoringError` for an unknown difficulty."""
    if exercise.difficulty not in DIFFICULTY:
        raise AuthoringError(
            f"course_utils/lessons/lesson{exercise.lesson}/{exercise.name}/task.py: exercise {exercise.id}: "
            f"difficulty {exercise.difficulty}; use 1 to 5"
        )
    facts = (
        f"`{exercise.name}`",
        f"{exercise.points} points",
        f"difficulty {exercise.difficulty} of 5, {DIFFICULTY[exercise.difficulty]}",
        f"about {exercise.minutes} minutes",
    )
    parts = [f"### Exercise {exercise.id}: {exercise.title}", " · ".join(facts), exercise.goal.strip()]
    if exercise.rules:
        parts.append("Rules:\n\n" + "\n".join(f"- {rule}" for rule in exercise.rules))
    parts.append(HOUSE_RULES)
    return "\n\n".join(parts)


def facts_line(lesson: Lesson) -> str:
    """Minutes, sittings, points and number of exercises of a lesson."""
    exercises = len(lesson.exercises)
    noun = "graded exercise" if exercises == 1 else "graded exercises"
    sittings = f" in {lesson.sittings} sittings" if lesson.sittings > 1 else ""
    minutes = f"About {lesson.minutes} minutes{sittings}, {lesson.reading_minutes} of them to read and run"
    return f"{minutes} · {lesson.points} points · {exercises} {noun}"


def with_facts(title: str, lesson: Lesson) -> str:
    """The text of a published lesson's first cell, with the facts of `lesson` in place of its own and of its badge."""
    kept = [part for part in title.split("\n\n") if not re.match(r"About \d+ minutes|\[!\[", part)]
    return "\n\n".join([*kept, facts_line(lesson)])


def next_link(lesson: Lesson) -> str:
    """The last cell of a lesson: the way to the next one."""
    following = next((other for other in lessons() if other.number > lesson.number), None)
    if following is None:
        return "This is the last lesson."
    return f"**Next:** [Lesson {following.number}: {following.title}]({following.slug}.ipynb)"


def _assemble(source: Source, lesson: Lesson, where: Repository, *, solved: bool) -> NotebookNode:
    registered = {exercise.id: exercise for exercise in lesson.exercises}
    cells: list[NotebookNode] = []
    for position, cell in enumerate(source.cells):
        if "student_only" in cell.tags and solved or "solved_only" in cell.tags and not solved:
            continue
        if cell.exercise:
            if cell.exercise not in registered:
                raise AuthoringError(
                    f"{source.file}: exercise {cell.exercise} is not registered; "
                    f"declare it in course_utils/lessons/lesson{lesson.number}/__init__.py"
                )
            cells += _exercise_cells(registered[cell.exercise], cell, solved)
            continue
        text = cell.text
        if position == 0:
            text = text.replace("# ", f"# Lesson {lesson.number}: ", 1)
            text = "\n\n".join(part for part in (text, facts_line(lesson), where.badge(lesson.slug)) if part)
        cells.append(_cell(cell.kind, text, _id_from(cell), cell))
        if position == 0:
            cells.append(_cell("code", setup_code(where), "setup"))
    cells.append(_cell("markdown", next_link(lesson), "next-lesson"))
    _make_ids_unique(cells)
    notebook: NotebookNode = nbformat.from_dict(  # type: ignore[no-untyped-call]
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {**copy.deepcopy(_METADATA), "course": {"lesson": lesson.number}},
            "cells": cells,
        }
    )
    nbformat.validate(notebook)
    _validate_for_nbgrader(source, notebook)
    return notebook


def _exercise_cells(exercise: Exercise, cell: SourceCell, solved: bool) -> list[NotebookNode]:
    """Banner, function, check, and the help that a learner switches on line by line."""
    tail = exercise.id.replace(".", "-")
    function = _cell("code", cell.solved, f"exercise-{tail}", cell, {**_nbgrader(exercise.name), "solution": True})
    check = _cell(
        "code",
        f'check("{exercise.id}", {exercise.name})',
        f"check-{tail}",
        nbgrader={**_nbgrader(f"check-{tail}"), "grade": True, "locked": True, "points": exercise.points},
    )
    for fixed in (function, check):
        fixed["metadata"]["deletable"] = False
    check["metadata"]["editable"] = False
    help_lines = (
        f'# hint("{exercise.id}")      # remove the first # and run for a hint, again for the next',
        f'# solution("{exercise.id}")  # the course\'s own answer',
    )
    if not solved:
        function["source"] = _cleared(function, cell)
    return [
        _cell("markdown", banner(exercise), f"banner-{tail}"),
        function,
        check,
        _cell("code", "\n".join(help_lines), f"help-{tail}"),
    ]


def _nbgrader(grade_id: str) -> dict[str, Any]:
    return {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": False,
        "solution": False,
        "locked": False,
        "task": False,
    }


def _cell(
    kind: str, text: str, identifier: str, cell: SourceCell | None = None, nbgrader: dict[str, Any] | None = None
) -> NotebookNode:
    metadata: dict[str, Any] = {}
    if cell is not None:
        tags = [tag for tag in cell.tags if tag not in ("student_only", "solved_only")]
        if tags:
            metadata["tags"] = tags
        if cell.alt:
            metadata["alt"] = cell.alt
    if nbgrader:
        metadata["nbgrader"] = nbgrader
    content: dict[str, Any] = {"cell_type": kind, "id": identifier, "metadata": metadata, "source": text}
    if kind == "code":
        content |= {"execution_count": None, "outputs": []}
    node: NotebookNode = nbformat.from_dict(content)  # type: ignore[no-untyped-call]
    return node


def _cleared(function: NotebookNode, cell: SourceCell) -> str:
    """The text of an exercise cell with its solution regions replaced, by nbgrader's own rules."""
    from nbgrader.preprocessors import ClearSolutions
    from traitlets.config import Config

    stub = cell.region("STUB") if cell.own_stub else cell.stub
    config = Config({"ClearSolutions": {"code_stub": {"python": stub}}})
    one_cell = nbformat.from_dict(  # type: ignore[no-untyped-call]
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [copy.deepcopy(function)]}
    )
    cleared, _ = ClearSolutions(config=config).preprocess(one_cell, {})
    # A stub of several lines is indented line by line, the empty ones too.
    return "\n".join(line.rstrip() for line in cleared.cells[0].source.split("\n"))


def _validate_for_nbgrader(source: Source, notebook: NotebookNode) -> None:
    from nbgrader.nbgraderformat import MetadataValidator, ValidationError

    validator = MetadataValidator()
    validator.log.setLevel(logging.ERROR)
    try:
        validator.validate_nb(notebook)
    except ValidationError as error:
        raise AuthoringError(
            f"{source.file}: nbgrader refuses the notebook: {error}; mark each exercise once"
        ) from None


def _id_from(cell: SourceCell) -> str:
    """A readable id from the heading or the first words; its prefix keeps it apart from the generated ids."""
    found = headings(cell.text) if cell.kind == "markdown" else []
    text = found[0][1] if found else cell.text
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words: list[str] = re.findall(r"[a-z0-9]+", plain)[:6]
    prefix = "code" if cell.kind == "code" else "text"
    return "-".join([prefix, *words])[:56].rstrip("-")


def _make_ids_unique(cells: list[NotebookNode]) -> None:
    taken: set[str] = set()
    for cell in cells:
        identifier, number = cell["id"], 1
        while identifier in taken:
            number += 1
            identifier = f"{cell['id']}-{number}"
        taken.add(identifier)
        cell["id"] = identifier
