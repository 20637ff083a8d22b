"""The class report: what was reached, which mistakes are common, and what an instructor should look at."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from course_utils.grading.clusters import example_of, largest_first
from course_utils.grading.gradebook import Gradebook
from course_utils.grading.names import file_stem
from course_utils.grading.pages.parts import CLOSING, link, listed, number, opening, wide
from course_utils.grading.pages.plots import bars, histogram
from course_utils.grading.pages.student import code_shown, title_of
from course_utils.grading.pages.tally import MOST_LINKS, MOST_NOTES, OfLesson, Tally
from gradient_ledger import html

MOST_MISTAKES, MOST_CLUSTERS, MOST_NAMES = 25, 15, 100
"""How many of each the report shows; the tables hold all of them."""
_BINS = 10
_OUTCOMES = ("passed", "failed", "raised", "not attempted")


def report(gradebook: Gradebook, tally: Tally, comments: Mapping[str, str]) -> str:
    """The report on what was counted."""
    parts = [opening("Class report")]
    if not tally.lessons and not tally.all_unread:
        parts.append("<p>Nothing is graded yet.</p>\n")
    for lesson, counted in sorted(tally.lessons.items()):
        parts += [
            f"<section><h2>{escape(title_of(lesson))}</h2>\n",
            _reached(lesson, counted, tally.roster),
            _exercises(counted),
            _mistakes(counted),
            _clusters(gradebook, lesson, counted, comments),
            "</section>\n",
        ]
    parts += [_unread(tally), _notes(tally), CLOSING]
    return "".join(parts)


def _reached(lesson: int, counted: OfLesson, roster: Mapping[str, str]) -> str:
    text = (
        f"<p>{_of(counted.submissions, 'submission')}; on average {number(counted.mean)} of {counted.max_points} "
        f"points, the median is {number(counted.median)}. "
        f'<a href="pages/lesson{lesson}/index.html">All feedback pages</a>.</p>\n'
    )
    if counted.absent:
        names = sorted(roster[student] or student for student in counted.absent)
        shown = "; ".join(names[:MOST_NAMES]) + (f"; and {len(names) - MOST_NAMES} more" * (len(names) > MOST_NAMES))
        text += (
            f"<details><summary>{len(names)} of {len(roster)} on the roster have nothing graded here; their marks are "
            f"empty in the tables</summary><p>{escape(shown)}</p></details>\n"
        )
    width = max(counted.max_points, 1) / _BINS
    bins = [0] * _BINS
    for points, count in counted.points.items():
        bins[min(_BINS - 1, max(0, int(points / width)))] += count
    labels = [f"{number(place * width)}–{number((place + 1) * width)}" for place in range(_BINS)]
    return text + histogram(list(zip(labels, bins, strict=True)), "How many submissions have so many points")


def _exercises(counted: OfLesson) -> str:
    head = ["Exercise", "Mean points", *(outcome.capitalize() for outcome in _OUTCOMES)]
    rows, shares = [], {}
    for identifier, one in sorted(counted.exercises.items(), key=lambda item: _order(item[0])):
        answers = one.outcomes.total()
        mean, name = one.points / answers, f"{identifier} {one.name}"
        shown = f"{number(mean)} of {one.max_points}"
        rows.append([name, shown, *(str(one.outcomes[outcome]) for outcome in _OUTCOMES)])
        shares[name] = (mean / one.max_points if one.max_points else 0.0, shown)
    title = "Points per exercise, on average"
    return f"<h3>Points per exercise</h3>\n{bars(shares, title)}" + wide(html.table("Outcomes", head, rows), "Outcomes")


def _mistakes(counted: OfLesson) -> str:
    if not counted.mistakes:
        return ""
    common = sorted(counted.mistakes.items(), key=lambda item: (-item[1], item[0]))
    rows = [[titles, identifier, str(count), ids] for (identifier, ids, titles), count in common[:MOST_MISTAKES]]
    more = f"<p>And {len(common) - MOST_MISTAKES} more.</p>\n" if len(common) > MOST_MISTAKES else ""
    table = html.table("An answer counts once for each of its mistakes", ["Mistake", "Exercise", "Answers", "Id"], rows)
    return f"<h3>Most common mistakes</h3>\n{wide(table, 'Most common mistakes')}{more}"


def _clusters(gradebook: Gradebook, lesson: int, counted: OfLesson, comments: Mapping[str, str]) -> str:
    clusters = list(largest_first(counted.clusters).values())
    if not clusters:
        return ""
    parts = [
        "<h3>Wrong answers without a name</h3>\n",
        html.paragraph(
            "Answers in one cluster do the same on every case. "
            '`course grade --out GRADEBOOK --comment CLUSTER "TEXT"` puts your words on the pages of all of them, '
            "`course new-mistake CLUSTER --out GRADEBOOK` makes a mistake with a name of it."
        ),
    ]
    for one in clusters[:MOST_CLUSTERS]:
        size = f"{_of(one.size, 'answer')} to exercise {one.exercise}"
        parts.append(f"<h4><code>{escape(one.id)}</code>: {escape(size)}</h4>\n")
        if one.id in comments:
            parts.append(html.paragraph(comments[one.id], "Your words:"))
        marked = example_of(gradebook, one)
        if marked is None:
            continue
        page = f"pages/lesson{lesson}/{file_stem(one.student)}.html"
        parts.append(f"<p>One of them: {link(page, one.student)}</p>\n")
        first = marked.verdict.faults[0] if marked.verdict.faults else None
        if first is not None:
            parts += [html.paragraph(sentence) for sentence in first.certain]
            parts.append(html.lines(first.observed, f"Seen on {first.case}") if first.observed else "")
        if marked.code:
            parts.append(code_shown(marked.code, f"Code of one answer in cluster {one.id}"))
    rest = clusters[MOST_CLUSTERS:]
    if rest:
        answers = sum(one.size for one in rest)
        parts.append(f"<p>And {_of(len(rest), 'more cluster')} with {_of(answers, 'answer')}, in exercises.csv.</p>\n")
    return "".join(parts)


def _unread(tally: Tally) -> str:
    if not tally.all_unread:
        return ""
    items = []
    for page, result in tally.unread:
        why = " ".join(note.text for note in result.notes)
        items.append(f"{link(page, result.name or result.student)}, {escape(result.source)}: {html.code_spans(why)}")
    count = f"<p>{_of(tally.all_unread, 'file')}, without points: marks are empty.</p>\n"
    return (
        f"<section><h2>Could not be read</h2>\n{count}{listed(items)}{_more(tally.all_unread - MOST_NOTES)}</section>\n"
    )


def _notes(tally: Tally) -> str:
    if not tally.notes:
        return ""
    items = []
    for note, said in sorted(tally.notes.items(), key=lambda item: (-item[1].times, item[0].where, item[0].text)):
        pages = ", ".join(link(page, name) for page, name in said.pages.items())
        times = f"{said.times} times: " if said.times > 1 else ""
        more = ", …" if said.times > len(said.pages) == MOST_LINKS else ""
        items.append(f"{html.code_spans(note.line)} ({times}{pages}{more})")
    return f"<section><h2>What was unclear</h2>\n{listed(items)}{_more(tally.more_notes)}</section>\n"


def _more(count: int) -> str:
    return f"<p>And {count:,} more, in the tables.</p>\n" if count > 0 else ""


def _of(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _order(identifier: str) -> list[int]:
    return [int(part) for part in identifier.split(".") if part.isdigit()]
