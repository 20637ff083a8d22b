"""One student's page of one lesson: points, what to do next, and the cards that `check` shows in the notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

from course_utils.exercise import Exercise
from course_utils.feedback.card import card
from course_utils.grading.pages.parts import CLOSING, isolated, listed, number, opening, wide
from course_utils.grading.result import Marked, Note, Result
from course_utils.lessons import exercise as find_exercise
from course_utils.lessons import lesson as find_lesson
from gradient_ledger import html

MOST_LINES = 200
"""Most lines of a student's code on a page."""
_MOST_CHARACTERS = 20_000


def title_of(lesson: int) -> str:
    """`Lesson 3: Zeroing gradients`; the number alone where the course has no such lesson."""
    try:
        return f"Lesson {lesson}: {find_lesson(lesson).title}"
    except KeyError:
        return f"Lesson {lesson}"


def student_page(result: Result, comments: Mapping[str, str]) -> str:
    """The page of a result. `comments` are an instructor's words by cluster."""
    assert result.lesson is not None
    parts = [
        opening(f"Feedback on {_lowered(title_of(result.lesson))}"),
        _whose(result),
        f"<p><strong>{number(result.points)} of {result.max_points} points</strong></p>\n",
        _notes("Please note", result.notes),
        "<section><h2>What to do next</h2>\n",
        listed(_next(result), "ol") or _all_done(result.lesson),
        "</section>\n<section><h2>Points</h2>\n",
        wide(_points(result), "Points, by exercise"),
        "</section>\n<section><h2>Exercises</h2>\n",
        *(_exercise(marked, comments.get(marked.cluster, "")) for marked in result.exercises),
        "</section>\n",
        CLOSING,
    ]
    return "".join(parts)


def unread_page(result: Result) -> str:
    """The page of a file that could not be read."""
    why = result.notes or (Note("file", "It is not a notebook of this course."),)
    return "".join(
        [
            opening("A file that could not be read"),
            _whose(result),
            "<p>It has no points, since nothing in it could be graded. Hand in the notebook again.</p>\n",
            _notes("Why", why),
            CLOSING,
        ]
    )


def code_shown(code: str, label: str) -> str:
    """A student's code, as far as there is room for it."""
    rows = code[:_MOST_CHARACTERS].splitlines()
    shown = rows[:MOST_LINES]
    if len(rows) > len(shown) or len(code) > _MOST_CHARACTERS:
        shown.append("…")
    return html.lines(shown, label)


def _whose(result: Result) -> str:
    name = f"{isolated(result.name)} ({isolated(result.student)})" if result.name else isolated(result.student)
    return f"<p>{name}, file <code>{isolated(result.source)}</code></p>\n"


def _notes(heading: str, notes: Sequence[Note], level: int = 2) -> str:
    if not notes:
        return ""
    items = [html.code_spans(note.line) for note in notes]
    return f"<section><h{level}>{heading}</h{level}>{listed(items)}</section>\n"


def _points(result: Result) -> str:
    rows = [
        [one.verdict.exercise, _title(one), one.verdict.outcome, f"{number(one.points)} of {one.verdict.max_points}"]
        for one in result.exercises
    ]
    return html.table("Points, by exercise", ["Exercise", "Title", "Outcome", "Points"], rows)


def _exercise(marked: Marked, comment: str) -> str:
    verdict, known = marked.verdict, _known(marked)
    parts = [f'<section id="{_anchor(marked)}"><h3>{escape(f"Exercise {verdict.exercise}: {_title(marked)}")}</h3>\n']
    if comment:
        words = "".join(html.paragraph(part) for part in comment.splitlines() if part.strip())
        parts.append(f'<div class="words"><p><strong>From your instructor:</strong></p>{words}</div>\n')
    # The points of this page are those after partial credit.
    points = int(marked.points) if marked.points == int(marked.points) else round(marked.points, 2)
    parts.append(card(replace(verdict, points=points), known.rules if known else ()).html)  # type: ignore[arg-type]
    if marked.points and verdict.outcome != "passed":
        parts.append(html.paragraph("Points were given for the cases that agree.", "Partial credit:"))
    parts.append(_notes("How it was run", marked.notes, 4))
    if marked.code:
        shown = code_shown(marked.code, f"Your code of exercise {verdict.exercise}")
        parts.append(f"<details><summary>The code that was graded</summary>{shown}</details>\n")
    return "".join([*parts, "</section>\n"])


def _next(result: Result) -> list[str]:
    """What to do, one piece of HTML an exercise that is not passed, in their order."""
    steps = []
    for marked in result.exercises:
        verdict = marked.verdict
        if verdict.outcome == "passed":
            continue
        first = verdict.faults[0] if verdict.faults else None
        if verdict.outcome == "not attempted":
            words = (
                marked.notes[0].text if marked.notes else "Nothing was handed in for it yet. Begin with its first hint."
            )
        elif first is not None and len(first.mistakes) == 1:
            words = f"{first.mistakes[0].title}. {first.mistakes[0].mend}"
        elif first is not None and first.mistakes:
            titles = [one.title for one in first.mistakes]
            words = f"One of these: {'; or '.join(titles)}. Its card below says how to find out."
        elif first is not None and first.raised is not None:
            words = " ".join([f"It stops with {first.raised.type}; its card below shows where.", *first.certain[:1]])
        elif first is not None and first.certain:
            words = first.certain[0]
        elif marked.notes:
            words = marked.notes[0].text
        else:
            words = "Compare what was expected with what your code gave, on its card below."
        name = f"{verdict.exercise}, {verdict.name}"
        steps.append(f'<a href="#{_anchor(marked)}">Exercise {escape(name)}</a>: {html.code_spans(words)}')
    if steps:
        first_open = next(one.verdict for one in result.exercises if one.verdict.outcome != "passed")
        call = f'`check("{first_open.exercise}", {first_open.name})`'
        steps.append(
            html.code_spans(
                f'In your notebook, {call} says at once whether a change helps, and `hint("{first_open.exercise}")` '
                "gives a nudge."
            )
        )
    return steps


def _all_done(lesson: int) -> str:
    try:
        find_lesson(lesson + 1)
    except KeyError:
        return "<p>Every exercise is passed. This was the last lesson.</p>\n"
    return f"<p>Every exercise is passed. Go on with {escape(_lowered(title_of(lesson + 1)))}.</p>\n"


def _known(marked: Marked) -> Exercise | None:
    try:
        return find_exercise(marked.verdict.exercise)
    except KeyError:
        return None


def _title(marked: Marked) -> str:
    known = _known(marked)
    return known.title if known else marked.verdict.name


def _anchor(marked: Marked) -> str:
    return escape(f"exercise-{marked.verdict.exercise.replace('.', '-')}", quote=True)


def _lowered(title: str) -> str:
    return title[0].lower() + title[1:]
