"""HTML for people: a feedback page for each student and lesson, a list of them, and a report on the class.

    report.html                       the class: points, mistakes, clusters, what could not be read
    pages/lessonN/STUDENT.html        one student's cards, as they are in the notebook, and what to do next
    pages/lessonN/index.html          all of them with their points
    pages/unread/STUDENT--DIGEST.html what could not be read, and why

A page needs nothing but itself: no script, no font, no picture from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from course_utils.grading.gradebook import UNREAD, Gradebook, unread_stem
from course_utils.grading.names import file_stem
from course_utils.grading.pages.parts import CLOSING, link, opening, to_bytes
from course_utils.grading.pages.report import report
from course_utils.grading.pages.student import student_page, title_of, unread_page
from course_utils.grading.pages.tally import Tally
from course_utils.grading.result import Result
from gradient_ledger.files import write_bytes_atomically, writing_atomically

PAGES, REPORT, LIST = "pages", "report.html", "index.html"


def write_all(gradebook: Gradebook) -> None:
    """Write every page and the report into the gradebook's folder, one result at a time; takes old ones away.

    Whoever is on the gradebook's roster and has nothing graded is named in the report.
    """
    comments, roster = gradebook.comments(), gradebook.roster()
    tally, folder = Tally(roster), gradebook.folder / PAGES
    kept: dict[str, set[str]] = {}
    for lesson in gradebook.lessons():
        own = folder / f"lesson{lesson}"
        kept[own.name] = {LIST}
        with writing_atomically(own / LIST) as index:
            index.write(to_bytes(opening(f"Feedback pages of {title_of(lesson)}") + "<ul>\n"))
            for result in _named(gradebook.results(lesson), roster):
                name = f"{file_stem(result.student)}.html"
                _write(own / name, student_page(result, comments))
                points = f"{result.points} of {result.max_points} points"
                index.write(to_bytes(f"<li>{link(name, result.name or result.student)}: {points}</li>\n"))
                tally.add(result, f"{PAGES}/{own.name}/{name}")
                kept[own.name].add(name)
            index.write(to_bytes(f"</ul>\n{CLOSING}"))
    kept[UNREAD] = set()
    for result in _named(gradebook.unread(), roster):
        name = f"{unread_stem(result)}.html"
        _write(folder / UNREAD / name, unread_page(result))
        tally.add_unread(result, f"{PAGES}/{UNREAD}/{name}")
        kept[UNREAD].add(name)
    for old in folder.glob("*/*.html"):
        if old.name not in kept.get(old.parent.name, set()):
            old.unlink()
    _write(gradebook.folder / REPORT, report(gradebook, tally, comments))


def _write(path: Path, html: str) -> None:
    """Put a page in its place, if it is not there already: reading one is far quicker than replacing it."""
    content = to_bytes(html)
    if not path.is_file() or path.read_bytes() != content:
        write_bytes_atomically(path, content)


def _named(results: Iterator[Result], roster: Mapping[str, str]) -> Iterator[Result]:
    """The results with the names of the roster, which are the course's own."""
    return (replace(one, name=roster.get(one.student) or one.name) for one in results)
