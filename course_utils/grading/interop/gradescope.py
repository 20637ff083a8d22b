"""Gradescope: an autograder to upload, and its answer in Gradescope's own format.

Format: Gradescope's published specification (gradescope-autograders.readthedocs.io, *Autograder Specifications*): a zip
with `setup.sh` and `run_autograder` at its root; the second one writes `results/results.json`.
"""

from __future__ import annotations

import argparse
import io
import json
import secrets
import shlex
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course_utils.feedback.card import card
from course_utils.grading.interop.one import Student, add_arguments, grade_one
from course_utils.grading.result import Marked, Result
from course_utils.grading.sandbox import Isolation
from course_utils.lessons import Lesson, Terms, adopt
from course_utils.lessons import exercise as find_exercise
from course_utils.lessons import lesson as find_lesson
from course_utils.lessons.terms import PLACE, to_text
from gradient_ledger.files import write_atomically

HOME = Path("/autograder")
"""Where Gradescope keeps everything: source, submission, results."""
_NEWEST = (2020, 1, 1, 0, 0, 0)
"""The one date of every file in the zip: the same course gives the same bytes."""


# ------------------------------------------------------------------ results.json


def results(result: Result, lesson: Lesson) -> dict[str, Any]:
    """`results.json` of one result: a test an exercise, with the learner's own card as its output."""
    marked = {one.verdict.exercise: one for one in result.exercises}
    return {
        "score": round(result.points, 2),
        "output": "\n".join(note.line for note in result.notes),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {
                "number": exercise.id,
                "name": exercise.name,
                "score": round(marked[exercise.id].points, 2) if exercise.id in marked else 0,
                "max_score": exercise.points,
                "status": "passed" if exercise.id in marked and marked[exercise.id].verdict.passed else "failed",
                "output": _output(marked[exercise.id]) if exercise.id in marked else "Not graded.",
                "output_format": "text",
                "visibility": "visible",
            }
            for exercise in lesson.exercises
        ],
        "extra_data": {"notebook": result.digest},
    }


def _output(marked: Marked) -> str:
    verdict = marked.verdict
    return "\n".join([card(verdict, find_exercise(verdict.exercise).rules).text, *(note.text for note in marked.notes)])


def main(argv: Sequence[str] | None = None) -> int:
    """What `run_autograder` runs: grade the submission, write `results.json`."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    add_arguments(parser)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--metadata", type=Path, default=HOME / "submission_metadata.json")
    parser.add_argument("--out", type=Path, default=HOME / "results" / "results.json")
    options = parser.parse_args(argv)
    student = _student(options.metadata)
    result = grade_one(options.submission, options.lesson, options.seed, options.isolation, student)
    write_atomically(options.out, json.dumps(results(result, find_lesson(options.lesson)), indent=1) + "\n")
    options.out.chmod(0o644)
    return 0


def _student(metadata: Path) -> Student:
    try:
        user = json.loads(metadata.read_text(encoding="utf-8"))["users"][0]
        return Student(str(user["email"]), str(user["name"]))
    except (OSError, ValueError, LookupError, TypeError):
        return Student()


# ------------------------------------------------------------------ the autograder


def autograder(root: Path, lesson: int, terms: Terms, isolation: Isolation, seed: str = "") -> bytes:
    """The zip to upload: the course with its answers, and the two scripts. `seed` is drawn where none is given.

    Raises `KeyError` for a lesson that the course of `terms` does not have.
    """
    from course_utils.authoring.release import package_files

    adopt(terms)
    found = find_lesson(lesson)
    files: dict[str, bytes] = {f"course/{name}": (root / name).read_bytes() for name in package_files(root)}
    for name in ("pyproject.toml", "constraints.txt", "README.md", "LICENSE", "LICENSE-PROSE"):
        if (root / name).is_file():
            files[f"course/{name}"] = (root / name).read_bytes()
    if terms != Terms():
        files[f"course/{PLACE.as_posix()}"] = to_text(terms).encode()
    run = _RUN.format(
        lesson=found.number,
        isolation=shlex.quote(isolation),
        seed=shlex.quote(seed or secrets.token_hex(16)),
        home=HOME,
    )
    files |= {"setup.sh": _SETUP.format(home=HOME).encode(), "run_autograder": run.encode()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _NEWEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/" not in name else 0o100644) << 16
            archive.writestr(entry, data)
    return out.getvalue()


_SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, as root, on an Ubuntu image.
set -euo pipefail
cd {home}/source/course
apt-get update
apt-get install -y --no-install-recommends python3 python3-venv bubblewrap
python3 -m venv {home}/venv
python={home}/venv/bin/python
"$python" -m pip install --quiet -c constraints.txt uv
uv() {{ "$python" -m uv pip "$1" --python "$python" "${{@:2}}"; }}
uv install --torch-backend cpu -c constraints.txt torch || uv install -c constraints.txt torch
# The package brings what it needs and is then taken out again: it runs from its folder.
uv install -c constraints.txt '.[grading]'
uv uninstall gradient-ledger
# Nobody but root reads the answers, whatever else fails.
chmod -R go-rwx {home}/source
PYTHONPATH=. "$python" -c "import course_utils.checks.judge, course_utils.grading.grade"
"""
_RUN = """\
#!/usr/bin/env bash
set -euo pipefail
export PYTHONPATH={home}/source/course OMP_NUM_THREADS=1
cd {home}
exec {home}/venv/bin/python -m course_utils.grading.interop.gradescope \\
    --lesson {lesson} --submission {home}/submission --isolation {isolation} --seed {seed}
"""


if __name__ == "__main__":
    sys.exit(main())
