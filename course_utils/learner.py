"""What a learner calls in a notebook: check, hint, solution, progress."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import replace
from importlib import resources
from pathlib import Path

from course_utils import definitions, record
from course_utils.checks import answers_are_here, effects
from course_utils.checks.observe import TIME_LIMIT, observe_all
from course_utils.exercise import Case, Exercise, Fault, Verdict
from course_utils.feedback.display import Shown, show
from course_utils.lessons import exercise as find_exercise
from course_utils.lessons import lesson as find_lesson
from course_utils.lessons import lessons, terms
from course_utils.standing import START, standing, write_start_page
from gradient_ledger import html

HONEST_ATTEMPTS = 2
"""Different attempts after which `solution` opens without a pass."""


_NOTHING = object()
definitions.watch()


class Interrupted(KeyboardInterrupt):
    """The check was interrupted: the front end shows one line, not the way through the package."""

    def _render_traceback_(self) -> list[str]:
        return ["Interrupted."]


class CheckFailed(AssertionError):
    """Raised by `check` while nbgrader grades, where a cell without an error counts as solved."""


def check(identifier: str, attempt: object = _NOTHING) -> None:
    """Check `attempt` at exercise `identifier`, show the card and keep the points.

    `attempt` is the function (or class) itself: `check("1.1", numerical_gradient)`. A call that is none, or an unknown
    exercise, gets one line that says how. Where no answer is, the code runs on the cases all the same, and the card
    says what came of it. Raises `CheckFailed` only while nbgrader grades.
    """
    from course_utils.feedback.card import card_of_run

    fault = _misused("check", identifier, attempt)
    if fault:
        _say(fault)
        outcome = "not checked"
    else:
        exercise = find_exercise(identifier)
        kept = int(record.entry(identifier).get("points", 0))
        note = definitions.note(exercise.name)
        try:
            if answers_are_here():
                outcome = _judged(exercise, attempt, kept, note)
            else:
                cases = all_cases(exercise, terms().case_seed)
                evidence = [] if attempt is ... else observe_all(exercise, attempt, cases)
                shown, how = card_of_run(exercise, cases, evidence, note=note)
                if how == "ran":
                    record.update(identifier, ran=True)
                show(shown)
                outcome = f"{how}; this copy of the course cannot judge it"
        except KeyboardInterrupt:
            _say(f"Exercise {identifier}: the check was interrupted. Nothing was judged, and nothing was written down.")
            raise Interrupted from None
    if os.environ.get("NBGRADER_EXECUTION") and outcome != "passed":
        raise CheckFailed(f"exercise {identifier}: {outcome}")


def _judged(exercise: Exercise, attempt: object, kept: int, note: str) -> str:
    """Show the card of an attempt and keep its points; the outcome, in a line."""
    from course_utils.checks.judge import CannotJudge  # here, as the answers it needs, which a learner may not have
    from course_utils.feedback.card import card

    try:
        verdict = evaluate(exercise.id, attempt, seed=terms().case_seed)
    except CannotJudge as error:
        said = str(error)
        _say(f"{said[0].upper()}{said[1:]}.")
        return "not checked"
    _remember(verdict, attempt)
    show(card(verdict, exercise.rules, kept=kept, note=note))
    return _in_a_line(verdict)


def _in_a_line(verdict: Verdict) -> str:
    """The outcome, and the mistake where it has one name: what `nbgrader validate` shows."""
    mistakes = verdict.faults[0].mistakes if verdict.faults else ()
    return f"{verdict.outcome}: {mistakes[0].title} ({mistakes[0].id})" if len(mistakes) == 1 else verdict.outcome


def _misused(command: str, identifier: object, attempt: object = None) -> str:
    """What is wrong with a call, and how it is written; empty when nothing is."""
    example = find_lesson(lessons()[0].number).exercises[0]
    if not isinstance(identifier, str):
        shown = f'"{identifier}"' if isinstance(identifier, float | int) else f'"{example.id}"'
        return f"{command}() takes the number of an exercise in quotes: {_call(command, shown.strip(chr(34)))}"
    try:
        exercise = find_exercise(identifier)
    except KeyError as error:
        return str(error.args[0])
    if attempt is _NOTHING:
        return f"check() takes the function too, without parentheses behind it: {_call(command, exercise.id)}"
    if command == "check" and attempt is not ... and not callable(attempt):
        kind = type(attempt).__name__
        return (
            f"check() received an object of type {kind}, not a function. If that is what your function returned, hand "
            f"over the function itself, without parentheses behind it: {_call(command, exercise.id)}"
        )
    return ""


def _call(command: str, identifier: str) -> str:
    """How a call is written, with the exercise's own function where there is one."""
    try:
        name = find_exercise(identifier).name
    except KeyError:
        identifier, name = lessons()[0].exercises[0].id, lessons()[0].exercises[0].name
    return f'`check("{identifier}", {name})`' if command == "check" else f'`{command}("{identifier}")`'


def _say(line: str) -> None:
    show(Shown(line, html.box("", [html.paragraph(line)], "quiet", "Message of the course")))


def evaluate(identifier: str, attempt: object, *, seed: int = 0, limit: float = TIME_LIMIT) -> Verdict:
    """The verdict on `attempt`, without showing or keeping anything. `limit` is in seconds a case."""
    exercise = find_exercise(identifier)
    if attempt is ...:
        return Verdict(exercise.id, exercise.name, "not attempted", 0, exercise.points)
    if not callable(attempt):
        seen = f"check received {type(attempt).__name__}, which cannot be called"
        fault = Fault((), "", (seen,), (effects.not_a_function,))
        return Verdict(exercise.id, exercise.name, "failed", 0, exercise.points, (fault,))
    cases = all_cases(exercise, seed)
    evidence = observe_all(exercise, attempt, cases, limit)
    from course_utils.checks.judge import judge  # here, since what observes must run where no answer is

    return judge(exercise, cases, evidence)


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
    if verdict.misconception not in (effects.returned_nothing.id, effects.not_a_function.id) and mark not in tried:
        tried.append(mark)
    record.update(
        verdict.exercise,
        passed=bool(known.get("passed")) or verdict.passed,
        points=max(int(known.get("points", 0)), verdict.points),
        tried=tried[-20:],
    )


def _fingerprint(attempt: object) -> str:
    return hashlib.sha256(repr(_code_of(attempt)).encode()).hexdigest()[:12]


def _code_of(attempt: object) -> object:
    """What an attempt computes, as it was compiled: of a class, what each of its methods does."""
    if isinstance(attempt, type):
        return [(name, _code_of(value)) for name, value in vars(attempt).items() if hasattr(value, "__code__")]
    code = getattr(attempt, "__code__", None)
    if code is None:
        return repr(attempt)
    return code.co_code, repr([c for c in code.co_consts if not hasattr(c, "co_code")]), code.co_names


def hint(identifier: str) -> None:
    """Show the hints of an exercise so far and the next one: a nudge first, near the answer last."""
    fault = _misused("hint", identifier)
    if fault:
        _say(fault)
        return
    exercise = find_exercise(identifier)
    shown = min(int(record.entry(identifier).get("hints", 0)) + 1, len(exercise.hints))
    record.update(identifier, hints=shown)
    rungs = [f"{index + 1} of {len(exercise.hints)}: {text}" for index, text in enumerate(exercise.hints[:shown])]
    title = f"Hints for exercise {identifier}, {exercise.name}"
    if shown == len(exercise.hints):
        then = (
            f' `solution("{identifier}")` opens after a pass or two different attempts.' if answers_are_here() else ""
        )
        rungs.append(f"That was the last hint.{then}")
    show(
        Shown("\n".join([title, *(f"  {rung}" for rung in rungs)]), html.box(title, [html.paragraph(r) for r in rungs]))
    )


def solution(identifier: str) -> None:
    """Show one solution of an exercise, once it is passed or after two different honest attempts."""
    fault = _misused("solution", identifier)
    if fault:
        _say(fault)
        return
    if not answers_are_here():
        _say(f"The solution of exercise {identifier} is not here: this copy of the course came without any.")
        return
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
    """The solution's code. It ships beside the lessons; like the answers, the grader's sandbox does not have it."""
    text = resources.files("course_utils").joinpath("lessons/solutions.json").read_text(encoding="utf-8")
    code: str = json.loads(text)[identifier]
    return code


def progress(number: int | None = None) -> None:
    """Show points, exercises, predictions and quizzes, a line a lesson; of lesson `number` alone when it is given.

    Where no answer is, nothing here knows the points: they are left out, and exercises count that ran on every case.
    Raises `KeyError` for a lesson there is not.
    """
    reached = [standing(lesson) for lesson in (lessons() if number is None else (find_lesson(number),))]
    total, most = sum(at.points for at in reached), sum(at.lesson.points for at in reached)
    rows = [
        [
            f"{at.lesson.number} {at.lesson.title}",
            at.shown_points,
            f"{at.passed} of {len(at.lesson.exercises)}",
            f"{at.predicted} of {at.predictions}",
            str(at.came_true),
            f"{at.answered_right} of {at.quizzes}",
        ]
        for at in reached
    ]
    where = "" if number is None else f" in lesson {number}"
    marked = answers_are_here()
    title = f"Your progress{where}: {f'{total} of {most} points' if marked else 'marked by your instructor'}"
    exercises = "Exercises" if marked else "Exercises that run"
    header = ["Lesson", "Points", exercises, "Predictions", "Came true", "Quizzes right"]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    text = [
        title,
        *("  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in [header, *rows]),
    ]
    counted = "passed" if marked else "that run"
    parts = [html.table(f"Points, exercises {counted}, predictions made and quizzes, by lesson", header, rows)]
    for path in record.damaged():
        note = f"A record could not be read and was set aside as {path.name}; the other lessons are untouched."
        text.append(f"  {note}")
        parts.append(html.paragraph(note))
    show(Shown("\n".join(text), html.box(title, parts)))
    with suppress(OSError):  # a start page that cannot be written is as old as it says
        if Path(START).is_file():
            write_start_page(Path())
