"""`course release`: an instructor's own course, with the lessons they chose and nothing in it that knows an answer.

The folder opens with `make lab`. There `check` runs a learner's code and says what came of it; marks come from the
instructor's own copy, whose grader reads the folder's terms: `course grade SUBMISSIONS --course FOLDER`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from course_utils.checks import knows_an_answer
from course_utils.lessons import Lesson, adopt, lessons
from course_utils.lessons.terms import PLACE, Terms, to_text
from gradient_ledger.errors import UserError

PACKAGES = ("course_utils", "gradient_ledger")
AUTHORS_ALONE = frozenset({PurePath("course_utils/authoring"), PurePath("course_utils/grading")})
"""Rooms that a learner has no use for."""
KEPT = frozenset({".css", ".html", ".js", ".json", ".md", ".npz", ".py", ".safetensors", ".svg", ".txt", ".typed"})
"""Endings of the files that belong to a package; anything else that lies there, such as an editor's copy, stays."""
AS_THEY_ARE = ("LICENSE", "LICENSE-PROSE", "constraints.txt", "environment.yml", ".gitignore")
_LESSON_PACKAGE = re.compile(r"course_utils\.lessons\.lesson(\d+)")
_FOR_AUTHORS = re.compile(r"^# >>> author.*?^# <<< author[^\n]*\n", re.DOTALL | re.MULTILINE)


def choose_terms(only: Sequence[int], points: Mapping[str, int], seed: str) -> Terms:
    """The terms of a course of the lessons `only` (all when empty), every exercise with its points.

    `points` holds those that are to be others than declared. Raises `UserError` for a lesson or an exercise that the
    course does not have.
    """
    there = {lesson.number: lesson for lesson in lessons()}
    unknown = sorted(set(only) - set(there))
    if unknown:
        raise UserError(f"there is no lesson {unknown[0]}; the lessons are {', '.join(map(str, there))}")
    chosen = sorted(set(only) or there)
    declared = {exercise.id: exercise.points for number in chosen for exercise in there[number].exercises}
    strange = [name for name in points if name not in declared]
    if strange:
        raise UserError(
            f"exercise {strange[0]} is not in the lessons of this release, so it can have no points there; "
            f"its exercises are {', '.join(declared)}"
        )
    return Terms(tuple(chosen), {**declared, **points}, seed)


def release(root: Path, out: Path, terms: Terms) -> list[Lesson]:
    """Write the course of `terms` from the clone at `root` into the folder `out`; gives its lessons.

    `out` must be new or empty. It appears whole or not at all. Raises `UserError` where it cannot be written.
    """
    out = out.absolute()
    for package in PACKAGES:
        if out.is_relative_to((root / package).absolute()):
            raise UserError(f"{out} lies inside {package}/, which is copied: choose a folder elsewhere")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} is not empty: choose a new folder, or remove what is there; nothing was written")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}-"))
    except OSError as error:
        raise UserError(f"{out.parent} cannot be written to: {error.strerror}; choose another folder") from error
    adopt(terms)
    try:
        taught = list(lessons())
        _fill(made, root, taught, terms)
        made.chmod(0o755)
        if out.exists():
            out.rmdir()
        os.replace(made, out)
    except OSError as error:
        raise UserError(f"the release could not be written: {error}; nothing was left behind") from error
    finally:
        adopt(None)
        shutil.rmtree(made, ignore_errors=True)
    return taught


def _fill(made: Path, root: Path, taught: Sequence[Lesson], terms: Terms) -> None:
    notebooks = {f"notebooks/{lesson.slug}.ipynb": _notebook(root, lesson) for lesson in taught}
    needed = _needed(root, {lesson.number for lesson in taught}, notebooks.values())
    for file in _for_learners(root, needed):
        (made / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / file, made / file)
    for name in AS_THEY_ARE:
        if (root / name).is_file():
            shutil.copyfile(root / name, made / name)
    texts = {
        **notebooks,
        PLACE.as_posix(): to_text(terms),
        "Makefile": _FOR_AUTHORS.sub("", (root / "Makefile").read_text(encoding="utf-8")),
        "pyproject.toml": _without_home((root / "pyproject.toml").read_text(encoding="utf-8")),
        "README.md": readme(taught),
    }
    for name, text in texts.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text, encoding="utf-8", newline="\n")


# ------------------------------------------------------------------ the packages


def package_files(root: Path) -> Iterator[PurePath]:
    """The files of both packages, relative to the clone, those that know an answer included."""
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            file = PurePath(path.relative_to(root))
            hidden = any(part.startswith((".", "__pycache__")) for part in file.parts)
            if path.is_file() and path.suffix in KEPT and not hidden and file != PurePath(PLACE):
                yield file


def _for_learners(root: Path, needed: set[int]) -> Iterator[PurePath]:
    """Those of them that may stand in a learner's hands, of the lessons that are needed."""
    left_out = {PurePath(f"course_utils/lessons/lesson{number}") for number in _packages(root) - needed}
    for file in package_files(root):
        if not knows_an_answer(file) and not (AUTHORS_ALONE | left_out).intersection(file.parents):
            yield file


def _packages(root: Path) -> set[int]:
    folders = (root / "course_utils" / "lessons").glob("lesson*/__init__.py")
    return {int(path.parent.name.removeprefix("lesson")) for path in folders}


def _needed(root: Path, chosen: set[int], notebooks: Any) -> set[int]:
    """The lessons whose packages the chosen ones use: their own, and those that they import from."""
    found: set[int] = set()
    waiting = set(chosen)
    for text in notebooks:
        waiting |= {int(number) for number in _LESSON_PACKAGE.findall(text)}
    while waiting:
        number = waiting.pop()
        found.add(number)
        for path in (root / "course_utils" / "lessons" / f"lesson{number}").rglob("*.py"):
            if not knows_an_answer(path.relative_to(root)):
                uses = {int(other) for other in _LESSON_PACKAGE.findall(path.read_text(encoding="utf-8"))}
                waiting |= uses - found
    return found


# ------------------------------------------------------------------ the notebooks


def _notebook(root: Path, lesson: Lesson) -> str:
    """The student notebook of a lesson as it is published, with the points and the neighbours of this release."""
    # Imported here: the rest of this module needs no nbformat.
    from course_utils.authoring.notebooks import banner, next_link, setup_code, with_facts
    from course_utils.authoring.repository import NOWHERE

    path = root / "notebooks" / f"{lesson.slug}.ipynb"
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = {cell["id"]: cell for cell in notebook["cells"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} cannot be read ({error}): `course build {lesson.number}` writes it") from error
    # A set-up cell that names the clone's repository would fetch the answers with the package.
    new = {"setup": setup_code(NOWHERE), "next-lesson": next_link(lesson)}
    first = notebook["cells"][0]
    new[first["id"]] = with_facts("".join(first["source"]), lesson)
    for exercise in lesson.exercises:
        tail = exercise.id.replace(".", "-")
        new[f"banner-{tail}"] = banner(exercise)
        cells[f"check-{tail}"]["metadata"]["nbgrader"]["points"] = exercise.points
    for identifier, text in new.items():
        cells[identifier]["source"] = text.splitlines(keepends=True)
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


# ------------------------------------------------------------------ the other files


def _without_home(project: str) -> str:
    """`pyproject.toml` without the repository that the clone's notebooks lead to, where the answers are."""
    return re.sub(r'^repository *= *"[^"\n]*"', 'repository = ""', project, count=1, flags=re.MULTILINE)


def readme(taught: Sequence[Lesson]) -> str:
    """The release's own README."""
    rows = "\n".join(
        f"| [{one.number} · {one.title}](notebooks/{one.slug}.ipynb) | {one.minutes} | {one.points} |" for one in taught
    )
    first = taught[0].exercises[0]
    return _README.format(rows=rows, id=first.id, name=first.name, lesson=taught[0].number)


def describe(out: Path, taught: Sequence[Lesson]) -> str:
    """What `course release` says when it is done."""
    points = sum(lesson.points for lesson in taught)
    numbers = ", ".join(str(lesson.number) for lesson in taught)
    noun = "lesson" if len(taught) == 1 else "lessons"
    return (
        f"{out}: {noun} {numbers}, {points} points, no solutions and no answers.\n"
        "Hand out this folder. `make lab` in it opens the course.\n"
        f"Grade what comes back in your own copy: course grade SUBMISSIONS --out GRADEBOOK --course {out}"
    )


_README = """\
# The Gradient Ledger

Graded Jupyter notebooks on gradients in PyTorch. You predict, you measure, you write the code. Your instructor marks
what you hand in.

## Start

You need Python 3.10 or later and make.

```
make lab
```

This sets up the folder `.venv` and opens JupyterLab on a start page, with your own copies of the notebooks in
`workbook/`. What you change there is never overwritten. `.venv/bin/course reset {lesson}` gives you a fresh lesson
{lesson} and keeps your old file beside it. If something does not work, `.venv/bin/course doctor` says what and how to
mend it.

Without make, as on Windows, in this folder:

```
py -m venv .venv
.venv\\Scripts\\python -m pip install -c constraints.txt -e .[course]
.venv\\Scripts\\course lab
```

With conda: `conda env create -f environment.yml`, `conda activate gradient-ledger`, `course lab`.

Set-up installs torch only where there is none. On Linux without an NVIDIA GPU it takes the CPU build, about 200 MB.

## The lessons

| Lesson | Minutes | Points |
| --- | ---: | ---: |
{rows}

## What a check says here

```python
check("{id}", {name})   # runs your code on several cases and says what came of it
hint("{id}")    # the next rung of a ladder, from a nudge to near the answer
progress()     # exercises that run, predictions, quizzes of each lesson
```

This copy of the course holds no answers. So `check` cannot say whether a result is right. It says what is certain
without that:

- **not attempted**: the function returns `...` still;
- **raised**: on which case, in which of your lines, and what the exception means;
- **stopped**: the call took longer than ten seconds;
- **ran**: your code ran on every case, and what it returned on the first one.

It also says when your code changed something that the exercise is not about, such as an input. Your instructor's
grader judges each exercise on cases of its own, names the mistake where it knows it, and gives the points. Rules that
an exercise states, such as "by hand: no autograd", count there, too. `nbgrader validate` reports every check of this
copy as failed, with what came of the run: here nothing can be called right.

`solution()` has nothing to show. Quizzes answer at once and give the reason; they carry no points.

## Hand in

Hand in the notebook from `workbook/`, with all cells in place. Your functions are found by their names, so keep these.
What you printed or drew does not matter.

## Check your own loop

`.venv/bin/gradient-ledger train.py` runs a training script of yours and names the gradient mistakes it saw.

## Licences

The code is under the MIT licence (`LICENSE`), the prose of the lessons under CC BY 4.0 (`LICENSE-PROSE`). The digits
that the lessons train on come from scikit-learn, under its BSD licence (`course_utils/data/NOTICE.md`).
"""
