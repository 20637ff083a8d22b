"""Lay out the files of a new exercise, ready to be filled in."""

from __future__ import annotations

import re
from pathlib import Path

from course_utils.authoring.files import AuthoringError, chosen, shown, write


def new_exercise(root: Path, identifier: str, name: str) -> int:
    """See `course_utils.authoring.new_exercise_command`."""
    match = re.fullmatch(r"(\d+)\.(\d+)", identifier)
    if match is None:
        raise AuthoringError(f"{identifier}: not an exercise id; write LESSON.NUMBER, such as 2.6")
    if not name.isidentifier():
        raise AuthoringError(f"{name}: not a name Python takes; use words joined by underscores")
    (lesson,) = chosen([int(match[1])])
    if identifier in {exercise.id for exercise in lesson.exercises}:
        raise AuthoringError(f"{identifier}: lesson {lesson.number} has this exercise already; take the next number")
    stem = f"ex{match[1]}_{match[2]}"
    folder = root / "tests" / "attempts" / f"lesson{lesson.number}"
    for file, body in (
        (f"{stem}__right__plain.py", "a right answer"),
        (f"{stem}__wrong__wrong-shape__first_try.py", "a wrong answer; name its misconception in the file's name"),
    ):
        path = folder / file
        if path.exists():
            print(f"{shown(root, path)}: is there already, left as it is")
            continue
        write(path, f'def {name}():\n    """{body[0].upper()}{body[1:]}."""\n    return ...\n')
        print(f"{shown(root, path)}: written")
    number = lesson.number
    print(
        "Next, in this order:\n"
        f"  1. the attempts above: at least five right and six wrong ones\n"
        f'  2. course_utils/lessons/lesson{number}.py: Exercise(id="{identifier}", name="{name}", ...) and its cases\n'
        f"  3. course_utils/oracles/lesson{number}.py: an Oracle under {identifier!r}\n"
        f"  4. course_utils/misconceptions/lesson{number}.py: the ids the attempts name\n"
        f'  5. solutions/{lesson.slug}.py: a cell marked  # %% exercise="{identifier}"\n'
        f"Then: course build {number}, course verify {number}"
    )
    return 0
