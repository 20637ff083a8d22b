"""Lay out the files of a new exercise: they run, and the check of the stub works, before a word is written."""

from __future__ import annotations

import re
from pathlib import Path

from course_utils.authoring.attempts import bank_path
from course_utils.authoring.files import AuthoringError, chosen, shown, source_path, write
from course_utils.exercise import Exercise

_PACKAGE = '"""Exercise {id}."""\n'
_TASK = '''"""Exercise {id}: what is asked."""

from __future__ import annotations

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases


def _cases(seed: int) -> list[Case]:
    return cases(
        seed,
        [
            ("3 entries", {{"n": 3}}),
            ("one entry", {{"n": 1}}),
            ("float32, 4 entries", {{"n": 4, "dtype": "float32"}}),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    x = Draw(case).normal(case.spec["n"])
    return Arrangement((x,), watch={{"x": x}})


EXERCISE = Exercise(
    id="{id}",
    name="{name}",
    title="A title",
    difficulty=2,
    minutes=10,
    goal="Write `{name}(x)`: say what it takes, with shapes, what it returns, and what stays as it was.",
    cases=_cases,
    arrange=_arrange,
    hints=("A nudge.", "The idea.", "Nearly the answer, in words."),
    properties=(
        ("there is one entry", lambda spec: spec["n"] == 1),
        ("the inputs are float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    quantities={{"n": lambda spec: spec["n"]}},
)
'''
_ANSWERS = '''"""What is right in exercise {id}."""

from __future__ import annotations

import torch

from course_utils.checks.answers import Answers


def right(x: torch.Tensor) -> torch.Tensor:
    """The right answer, by a way the exercise does not ask for."""
    return 2 * x


ANSWERS = Answers(right)
'''
_MISTAKES = '''"""What is often done instead in exercise {id}."""

from __future__ import annotations

import torch

from course_utils.checks.mistakes import mistake


@mistake(
    "A title: the effect in a few words",
    "What the code does, and what that does to the numbers.",
    "What to look at or write next, short of the answer.",
    "Why it is easy to believe.",
)
def handed_back_as_it_was(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
'''
_BANK = '''"""Attempts at exercise {id}, {name}: what learners write, and what the check must say of it."""

import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson{lesson}.{name} import mistakes


@right
def sum_of_two(x):
    return x + x


@wrong(mistakes.handed_back_as_it_was)
def forgot_everything(x):
    return x * 1


@wrong(effects.returned_nothing)
def no_return(x):
    x + x


@raised(effects.undefined_name)
def misspelled(x):
    return torch.add(y, y)
'''
_CELL = '''
# %% exercise="{id}"
def {name}(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
'''
_LAST_PART = "# %% [markdown]\n# ## True or false"


def new_exercise(root: Path, identifier: str, name: str) -> int:
    """See `course_utils.authoring.new_exercise_command`."""
    match = re.fullmatch(r"(\d+)\.(\d+)", identifier)
    if match is None:
        raise AuthoringError(f"{identifier}: not an exercise id; write LESSON.NUMBER, such as 2.6")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise AuthoringError(f"{name}: not a name for a folder and a function; use lower-case words and underscores")
    (lesson,) = chosen([int(match[1])])
    if identifier in {exercise.id for exercise in lesson.exercises}:
        raise AuthoringError(f"{identifier}: lesson {lesson.number} has this exercise already; take the next number")
    if name in {exercise.name for exercise in lesson.exercises}:
        raise AuthoringError(f"{name}: lesson {lesson.number} has an exercise of this name already; take another")
    if int(match[2]) != len(lesson.exercises) + 1:
        raise AuthoringError(f"{identifier}: the next exercise is {lesson.number}.{len(lesson.exercises) + 1}")
    package = root / "course_utils" / "lessons" / f"lesson{lesson.number}"
    draft = Exercise(identifier, name, "", 1, 1, "", lambda seed: [], lambda case: None, ())  # type: ignore[arg-type, return-value]
    words = {"id": identifier, "name": name, "lesson": lesson.number}
    for path, text in (
        (package / name / "__init__.py", _PACKAGE),
        (package / name / "task.py", _TASK),
        (package / name / "answers.py", _ANSWERS),
        (package / name / "mistakes.py", _MISTAKES),
        (bank_path(root, draft), _BANK),
    ):
        if path.exists():
            print(f"{shown(root, path)}: is there already, left as it is")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, text.format(**words))
        print(f"{shown(root, path)}: written")
    _add_to_lesson(root, package / "__init__.py", name)
    _add_to_text(root, source_path(root, lesson), identifier, name)
    print(
        "Everything runs as it stands. Next, in this order:\n"
        f"  1. {shown(root, bank_path(root, draft))}: five right and six wrong attempts, as a class would write them\n"
        f"  2. task.py: goal, rules, hints, cases; answers.py; mistakes.py, one function for each mistake\n"
        f"  3. {shown(root, package / '__init__.py')}: share out the points anew, a hundred in all\n"
        f"  4. {shown(root, source_path(root, lesson))}: move the new cell to its section\n"
        f"Then: course build {lesson.number}, course verify {lesson.number}"
    )
    return 0


def _add_to_lesson(root: Path, path: Path, name: str) -> None:
    """One line in the lesson: the exercise's folder, with no points yet."""
    text = path.read_text(encoding="utf-8")
    lines = list(re.finditer(r'^( +)"[a-z0-9_]+": \d+,\n', text, re.MULTILINE))
    if f'"{name}":' in text or not lines:
        print(f'{shown(root, path)}: add the line  "{name}": 0,  to its exercises' if not lines else "")
        return
    last = lines[-1]
    write(path, f'{text[: last.end()]}{last[1]}"{name}": 0,\n{text[last.end() :]}')
    print(f"{shown(root, path)}: one line added, with 0 points")


def _add_to_text(root: Path, path: Path, identifier: str, name: str) -> None:
    """A cell with the function, before the last sections."""
    text = path.read_text(encoding="utf-8")
    cell = _CELL.format(id=identifier, name=name)
    if f'exercise="{identifier}"' in text:
        return
    at = text.find(_LAST_PART)
    where = at if at >= 0 else len(text)
    write(path, text[:where] + cell.lstrip("\n") + "\n" + text[where:])
    print(f"{shown(root, path)}: a cell for the function added")
