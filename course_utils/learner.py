"""What a learner calls in a notebook: check, hint, solution, progress."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from importlib import resources

from course_utils import record
from course_utils.exercise import Case, Exercise, Verdict
from course_utils.feedback import html
from course_utils.feedback.display import Shown, show
from course_utils.lessons import exercise as find_exercise
from course_utils.lessons import lesson as find_lesson
from course_utils.lessons import lessons

HONEST_ATTEMPTS = 2
"""Different attempts after which `solution` opens without a pass."""


class CheckFailed(AssertionError):
    """Raised by `check` while nbgrader grades, where a cell without an error counts as solved."""


def check(identifier: str, attempt: object) -> None:
    """Check `attempt` at exercise `identifier`, show the card and keep the points.

    `attempt` is the function (or class) itself: `check("1.1", numerical_gradient)`. Raises
    `KeyError` for an unknown exercise, and `CheckFailed` only while nbgrader grades.
    """
    from course_utils.feedback.card import card

    exercise = find_exercise(identifier)
    verdict = evaluate(identifier, attempt)
    _remember(verdict, attempt)
    show(card(verdict, exercise.rules if verdict.rule_broken else ()))
    if os.environ.get("NBGRADER_EXECUTION") and not verdict.passed:
        raise CheckFailed(f"exercise {identifier}: {verdict.outcome}")


def evaluate(identifier: str, attempt: object, *, seed: int = 0, limit: float | None = None) -> Verdict:
    """The verdict on `attempt`, without showing or keeping anything. `limit` is in seconds a case."""
    from course_utils.judge import judge
    from course_utils.observe import TIME_LIMIT, observe_all

    exercise = find_exercise(identifier)
    if attempt is ...:
        return Verdict(exercise.id, exercise.name, "not attempted", 0, exercise.points)
    if not callable(attempt):
        seen = f"check received {type(attempt).__name__}, which cannot be called"
        return Verdict(
            exercise.id, exercise.name, "failed", 0, exercise.points, observed=(seen,), misconception="not-a-function"
        )
    cases = all_cases(exercise, seed)
    return judge(exercise, cases, observe_all(exercise, attempt, cases, TIME_LIMIT if limit is None else limit))


def all_cases(exercise: Exercise, seed: int = 0) -> list[Case]:
    """The cases of a check: drawn from `seed`, and the first two once more on a GPU where there is one."""
    import torch

    cases = exercise.cases(seed)
    if torch.cuda.is_available():
        cases += [
            replace(case, name=f"{case.name}, on the GPU", spec={**case.spec, "device": "cuda"}) for case in cases[:2]
        ]
    return cases


def _remember(verdict: Verdict, attempt: object) -> None:
    if verdict.outcome == "not attempted":
        return
    known = record.entry(verdict.exercise)
    tried = list(known.get("tried", []))
    mark = _fingerprint(attempt)
    # Calling check twice on the same code, or on code that gives nothing, is not another honest attempt.
    if verdict.misconception not in ("returned-nothing", "not-a-function") and mark not in tried:
        tried.append(mark)
    record.update(
        verdict.exercise,
        passed=bool(known.get("passed")) or verdict.passed,
        points=max(int(known.get("points", 0)), verdict.points),
        tried=tried[-20:],
    )


def _fingerprint(attempt: object) -> str:
    code = getattr(attempt, "__code__", None)
    parts = (
        (code.co_code, repr([c for c in code.co_consts if not hasattr(c, "co_code")]), code.co_names)
        if code
        else repr(attempt)
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def hint(identifier: str) -> None:
    """Show the hints of an exercise so far and the next one: a nudge first, near the answer last."""
    exercise = find_exercise(identifier)
    shown = min(int(record.entry(identifier).get("hints", 0)) + 1, len(exercise.hints))
    record.update(identifier, hints=shown)
    rungs = [f"{index + 1} of {len(exercise.hints)}: {text}" for index, text in enumerate(exercise.hints[:shown])]
    title = f"Hints for exercise {identifier}, {exercise.name}"
    if shown == len(exercise.hints):
        rungs.append(
            f'That was the last hint. `solution("{identifier}")` opens after a pass or two different attempts.'
        )
    show(
        Shown("\n".join([title, *(f"  {rung}" for rung in rungs)]), html.box(title, [html.paragraph(r) for r in rungs]))
    )


def solution(identifier: str) -> None:
    """Show one solution of an exercise, once it is passed or after two different honest attempts."""
    exercise = find_exercise(identifier)
    known = record.entry(identifier)
    attempts = len(known.get("tried", []))
    if not known.get("passed") and attempts < HONEST_ATTEMPTS:
        title = f"The solution of exercise {identifier} is still closed"
        text = (
            f"It opens once you pass, or after {HONEST_ATTEMPTS} different attempts; so far there {_count(attempts)}. "
            f'Try your idea and run `check("{identifier}", {exercise.name})`, or ask `hint("{identifier}")`.'
        )
        show(Shown(f"{title}\n  {text}", html.box(title, [html.paragraph(text)], "quiet")))
        return
    title = f"One solution of exercise {identifier}, {exercise.name}"
    try:
        code = solution_code(identifier)
    except (FileNotFoundError, KeyError):
        code = "# This installation holds no solutions. They are written by: course build"
    show(Shown(f"{title}\n\n{code}", html.box(title, [html.lines([code], "Solution code")])))


def _count(attempts: int) -> str:
    return "was one" if attempts == 1 else f"were {attempts or 'none'}"


def solution_code(identifier: str) -> str:
    """The solution's code. It ships beside the oracles, which the grader's sandbox does not have."""
    text = resources.files("course_utils").joinpath("oracles/solutions.json").read_text(encoding="utf-8")
    code: str = json.loads(text)[identifier]
    return code


def progress(number: int | None = None) -> None:
    """Show points, exercises and predictions, a line a lesson; of lesson `number` alone when it is given.

    Raises `KeyError` for a lesson there is not.
    """
    rows, total, most = [], 0, 0
    for lesson in lessons() if number is None else (find_lesson(number),):
        known = record.read(lesson.number)
        solved = [e for e in lesson.exercises if known.get(e.id, {}).get("passed")]
        points = sum(int(known.get(e.id, {}).get("points", 0)) for e in lesson.exercises)
        predictions = [q for q in lesson.questions if q.kind == "prediction"]
        committed = [q for q in predictions if known.get(q.id, {}).get("choice")]
        came_true = [q for q in committed if known[q.id].get("measured") == known[q.id]["choice"]]
        total, most = total + points, most + lesson.points
        rows.append(
            [
                f"{lesson.number} {lesson.title}",
                f"{points} of {lesson.points}",
                f"{len(solved)} of {len(lesson.exercises)}",
                f"{len(committed)} of {len(predictions)}",
                str(len(came_true)),
            ]
        )
    where = "" if number is None else f" in lesson {number}"
    title = f"Your progress{where}: {total} of {most} points"
    header = ["Lesson", "Points", "Exercises passed", "Predictions made", "Came true"]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    text = [
        title,
        *("  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in [header, *rows]),
    ]
    parts = [html.table("Points, exercises and predictions by lesson", header, rows)]
    for path in record.damaged():
        note = f"A record could not be read and was set aside as {path.name}; the other lessons are untouched."
        text.append(f"  {note}")
        parts.append(html.paragraph(note))
    show(Shown("\n".join(text), html.box(title, parts)))
