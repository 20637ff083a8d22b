"""GitHub Classroom: a workflow that grades on every push, and its answer to Classroom's own reporter.

Format: `classroom-resources/autograding-grading-reporter`, which reads `{status, max_score, tests}` in base64 from
`RUNNER_RESULTS` and writes the points where Classroom looks for them.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import secrets
import sys
from collections.abc import Sequence
from html import escape
from typing import Any

from course_utils.grading.interop.one import Student, add_arguments, grade_one, points_of
from course_utils.grading.interop.words import lines
from course_utils.grading.result import Result
from course_utils.lessons import Lesson, Terms, adopt
from course_utils.lessons import lesson as find_lesson
from course_utils.lessons.terms import parse_terms, to_text
from gradient_ledger.errors import UserError

_NAME = re.compile(r"[\w-][\w.-]*/[\w.-]+")


# ------------------------------------------------------------------ what is reported


def report(result: Result, lesson: Lesson) -> dict[str, Any]:
    """What the reporter takes: a test an exercise, with its points."""
    points = list(points_of(result, lesson))
    return {
        "version": 1,
        "status": "pass" if all(reached == most for _, reached, most in points) else "fail",
        "max_score": lesson.points,
        "tests": [
            {"name": name, "status": "pass" if reached == most else "fail", "score": round(reached, 2), "line_no": 0}
            for name, reached, most in points
        ],
    }


def summary(result: Result, lesson: Lesson) -> str:
    """The page of the run: an exercise a line. Text of the student's stays text."""
    body = escape("\n".join(lines(result)))
    return f"<h3>Lesson {lesson.number}: {result.points:g} of {lesson.points} points</h3>\n<pre>{body}</pre>\n"


def main(argv: Sequence[str] | None = None) -> int:
    """What the workflow runs: grade the checkout, hand the result to the reporter."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    add_arguments(parser)
    parser.add_argument("--terms", type=parse_terms, help="the own course's, as JSON")
    options = parser.parse_args(argv)
    adopt(options.terms)
    lesson = find_lesson(options.lesson)
    student = Student(os.environ.get("GITHUB_ACTOR", ""))
    seed = os.environ.get("COURSE_SEED") or secrets.token_hex(16)
    result = grade_one(options.submission, lesson.number, seed, options.isolation, student)
    encoded = base64.b64encode(json.dumps(report(result, lesson)).encode()).decode()
    _append("GITHUB_OUTPUT", f"result={encoded}\n")
    _append("GITHUB_STEP_SUMMARY", summary(result, lesson))
    # No text of the student's: on standard output GitHub takes some lines for commands.
    print(f"Lesson {lesson.number}: {result.points:g} of {lesson.points} points; the run's summary has more")
    return 0


def _append(variable: str, text: str) -> None:
    if os.environ.get(variable):
        with open(os.environ[variable], "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)


# ------------------------------------------------------------------ the workflow


def workflow(lesson: int, repository: str, terms: Terms) -> str:
    """`.github/workflows/classroom.yml` for the repository that students get. `repository` is where the course is.

    Raises `UserError` for what is no `OWNER/NAME`, and `KeyError` for a lesson that the course does not have.
    """
    if not _NAME.fullmatch(repository):
        raise UserError(f"--repository {repository}: write OWNER/NAME of the course on GitHub, with its answers")
    adopt(terms)
    number = find_lesson(lesson).number
    own = Terms(terms.lessons, terms.points)
    text = json.dumps(json.loads(to_text(own)), separators=(",", ":"))
    return _WORKFLOW.format(lesson=number, repository=repository, terms=f" --terms '{text}'" if own != Terms() else "")


_WORKFLOW = """\
# Grades lesson {lesson} on every push. Written by `course export github-classroom`.
# A student can change this file: the points are feedback. The marks that count come from `course grade`, run on the
# repositories by the instructor.
name: Autograding
"on": [push, workflow_dispatch]
permissions:
  contents: read
  checks: write
  actions: read
jobs:
  grade:
    if: github.actor != 'github-classroom[bot]'
    runs-on: ubuntu-24.04
    timeout-minutes: 20
    steps:
      - name: The student's notebook
        uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
        with:
          path: submission
          persist-credentials: false
      # A private course needs a token that may read it: a secret COURSE_TOKEN of the organization.
      - name: The course
        uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
        with:
          repository: {repository}
          token: ${{{{ secrets.COURSE_TOKEN || github.token }}}}
          path: course
          persist-credentials: false
      - uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0
        with:
          python-version: "3.11"
      - name: Set up
        working-directory: course
        run: |
          sudo apt-get update
          sudo apt-get install -y --no-install-recommends bubblewrap
          sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
          python -m pip install --quiet -c constraints.txt uv
          python -m uv pip install --system --torch-backend cpu -c constraints.txt torch
          python -m uv pip install --system -c constraints.txt '.[grading]'
          python -m uv pip uninstall --system gradient-ledger
      - name: Grade
        id: grade
        working-directory: course
        env:
          COURSE_SEED: ${{{{ secrets.COURSE_SEED }}}}
          OMP_NUM_THREADS: "1"
        run: |
          python -m course_utils.grading.interop.github --lesson {lesson} --submission ../submission{terms}
      - name: Report
        uses: classroom-resources/autograding-grading-reporter@v1
        env:
          GRADE_RESULTS: ${{{{ steps.grade.outputs.result }}}}
        with:
          runners: grade
"""


if __name__ == "__main__":
    sys.exit(main())
