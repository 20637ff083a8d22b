"""Pages for students and the class report: the cards of the notebook, safe to open whatever was handed in."""

from __future__ import annotations

import gc
import re
import shutil
import weakref
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import gradebooks as made
import pytest

from course_utils.feedback.card import card
from course_utils.grading import pages, tables
from course_utils.grading.gradebook import Gradebook
from course_utils.grading.names import file_stem
from course_utils.grading.result import Note, Result
from course_utils.lessons import exercise
from gradient_ledger.catalogue.entry import Misconception

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
EVIL = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e\u2066\0\x1b[31m"


class Read(HTMLParser):
    """A page as a browser would take it apart."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.html = path.read_bytes().decode("utf-8")
        self._in_style = False
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        self.text += "" if self._in_style else data

    def of(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag in tags]


@pytest.fixture
def book(tmp_path: Path) -> Gradebook:
    return made.gradebook(tmp_path)


def _page(book: Gradebook, student: str) -> Read:
    return Read(book.folder / "pages" / "lesson1" / f"{file_stem(student)}.html")


# ------------------------------------------------------------------ a student's page


def test_a_page_has_the_cards_that_the_learner_sees(book: Gradebook) -> None:
    book.put(made.result("anna", made.right, made.forward, made.stops, made.stub, name="Anna Å."))
    pages.write_all(book)
    page = _page(book, "anna")
    for code in (made.right, made.forward, made.stub):
        assert card(made.marked(code).verdict, exercise("1.1").rules).html in page.html
    assert "Anna Å. (anna)" in page.text and "20 of 80 points" in page.text and "week1/anna.ipynb" in page.text
    assert "def numerical_gradient(f, x, h=1e-5):" in page.text


def test_a_page_says_what_to_do_next_in_the_order_of_the_exercises(book: Gradebook) -> None:
    book.put(made.result("anna", made.right, made.forward, made.skips_zeros, made.stops, made.stub))
    book.put(made.result("ben", made.right))
    pages.write_all(book)
    text = " ".join(_page(book, "anna").text.split("What to do next")[1].split("Points")[0].split())
    words = [
        "A one-sided difference, forward. Probe on both sides of x",
        "Some entries are right; the others are zero.",
        "The code gives up on this case by itself.",
        "Nothing was handed in for it yet.",
        'In your notebook, check("1.1", numerical_gradient) says at once',
    ]
    assert [text.index(part) for part in words] == sorted(text.index(part) for part in words)
    assert "Every exercise is passed. Go on with lesson 2" in _page(book, "ben").text


def test_partial_credit_is_said_and_notes_stand_where_they_belong(book: Gradebook) -> None:
    one = made.reaching(made.marked(made.forward), 7)
    one = replace(one, notes=(Note("exercise", "The last of two definitions counts."),))
    notes = (Note("cell", "It was stopped after 20 s.", "cell 14"),)
    book.put(Result("anna", 1, made.DIGEST, "a.ipynb", (one,), notes))
    pages.write_all(book)
    text = _page(book, "anna").text
    assert "FAILED: exercise 1.1, numerical_gradient (7 of 20 points)" in text and "7 of 20 points" in text
    assert "Partial credit:" in text
    assert text.index("cell 14: It was stopped after 20 s.") < text.index("What to do next")
    assert text.index("FAILED") < text.index("The last of two definitions counts.")


def test_words_on_a_cluster_stand_on_all_of_its_pages_and_on_no_other(book: Gradebook) -> None:
    students = {"a": made.skips_zeros, "b": made.skips_zeros_in_double, "c": made.steps_scaled, "d": made.right}
    for student, code in students.items():
        book.put(made.result(student, code))
    book.comment(made.marked(made.skips_zeros).cluster, "Zeros are entries, too.\nSee me <b>.")
    pages.write_all(book)
    said = {
        student: "From your instructor:Zeros are entries, too.See me <b>." in _page(book, student).text
        for student in students
    }
    assert said == {"a": True, "b": True, "c": False, "d": False}


def test_what_could_not_be_read_has_a_page_that_says_why(book: Gradebook) -> None:
    book.put(made.unread("carl"))
    pages.write_all(book)
    (path,) = (book.folder / "pages" / "unread").iterdir()
    assert "This is not JSON: hand it in again." in Read(path).text
    report = Read(book.folder / "report.html")
    assert f"pages/unread/{path.name}" in [one["href"] for one in report.of("a")]
    assert "week1/lost.ipynb: This is not JSON" in report.text


def test_pages_of_results_that_are_gone_are_taken_away(book: Gradebook) -> None:
    path = book.put(made.result("anna", made.right))
    book.put(made.result("index", made.right))
    pages.write_all(book)
    lesson = book.folder / "pages" / "lesson1"
    assert {one.name for one in lesson.iterdir()} == {"anna.html", "index.html", f"{file_stem('index')}.html"}
    path.unlink()
    pages.write_all(book)
    assert {one.name for one in lesson.iterdir()} == {"index.html", f"{file_stem('index')}.html"}
    assert "anna" not in Read(lesson / "index.html").text


# ------------------------------------------------------------------ the report


@pytest.fixture
def many(book: Gradebook) -> Gradebook:
    codes = [made.right, made.forward, made.forward, made.skips_zeros, made.skips_zeros_in_double, made.stub]
    for place, code in enumerate(codes):
        book.put(
            made.result(f"s{place}", code, notes=(Note("file", "Two files: the later one counts."),) * (place < 2))
        )
    book.put(made.unread("carl"))
    return book


def test_the_report_counts_points_outcomes_mistakes_and_clusters(many: Gradebook) -> None:
    many.set_roster({"s0": "Zoë", "dora": "Dora D."})
    pages.write_all(many)
    report = Read(many.folder / "report.html")
    text = " ".join(report.text.split())
    assert "6 submissions; on average 3.33 of 20 points, the median is 0." in text
    assert "1 of 2 on the roster have nothing graded here" in text and "Dora D." in text
    assert "1.1 numerical_gradient3.33 of 2014" in text.replace(" 3.33", "3.33")  # one passed, four failed
    assert "A one-sided difference, forward1.12forward-difference" in text
    cluster = made.marked(made.skips_zeros).cluster
    assert f"{cluster}: 2 answers to exercise 1.1" in text and "f(x + e) - f(x - e)" in text
    assert "Two files: the later one counts. (2 times: Zoë, s1)" in text
    labels = [one["aria-label"] or "" for one in report.of("svg")]
    assert "0–2: 5; 2–4: 0" in labels[0] and "18–20: 1." in labels[0]
    assert "1.1 numerical_gradient: 3.33 of 20" in labels[1]


def test_mistakes_between_which_nothing_decides_are_counted_together(book: Gradebook) -> None:
    one = made.marked(made.forward)
    first = one.verdict.faults[0]
    other = Misconception("other-one", "Another one", "", "")
    either = replace(first, mistakes=(*first.mistakes, other))
    both = replace(one, verdict=replace(one.verdict, faults=(either, first, first)))
    book.put(Result("anna", 1, made.DIGEST, "a.ipynb", (both,)))
    pages.write_all(book)
    tables.write_all(book)
    text = Read(book.folder / "report.html").text
    assert "A one-sided difference, forward or Another one1.11forward-difference or other-one" in text
    assert "A one-sided difference, forward1.11forward-difference" in text
    row = (book.folder / "exercises.csv").read_text("utf-8-sig").splitlines()[1]
    assert '"forward-difference or other-one; forward-difference; forward-difference"' in row


def test_an_empty_gradebook_has_a_report(book: Gradebook) -> None:
    pages.write_all(book)
    tables.write_all(book)
    assert "Nothing is graded yet." in Read(book.folder / "report.html").text


def test_a_lesson_the_course_does_not_have_is_shown_all_the_same(book: Gradebook) -> None:
    one = made.marked(made.right)
    book.put(Result("a", 77, made.DIGEST, "a", (replace(one, verdict=replace(one.verdict, exercise="77.1")),)))
    pages.write_all(book)
    assert "Lesson 77" in Read(book.folder / "report.html").text


def test_results_are_looked_at_one_at_a_time(many: Gradebook, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: weakref.WeakSet[Result] = weakref.WeakSet()
    most = 0

    class Hashed(Result):
        __hash__ = object.__hash__
        __eq__ = object.__eq__

    def streamed(lesson: int | None = None) -> Iterator[Result]:
        nonlocal most
        like = made.result("s", made.skips_zeros)
        for place in range(300):
            one = Hashed(f"s{place}", 1, like.digest, like.source, like.exercises)
            alive.add(one)
            gc.collect(0)
            most = max(most, len(alive))
            yield one

    monkeypatch.setattr(many, "results", streamed)
    pages.write_all(many)
    tables.write_all(many)
    assert 1 <= most <= 10


# ------------------------------------------------------------------ safe, and for everyone


@pytest.fixture
def hostile(book: Gradebook) -> Gradebook:
    """Everything that a student can write holds what would break a page."""
    one = made.marked(made.stops)
    verdict, fault = one.verdict, one.verdict.faults[0]
    assert fault.raised is not None
    fault = replace(fault, observed=(EVIL,), certain=(EVIL,), raised=replace(fault.raised, type=EVIL, message=EVIL))
    one = replace(
        one,
        verdict=replace(verdict, faults=(fault,), printed=EVIL),
        notes=(Note("exercise", EVIL, EVIL),),
        cluster="1.1-0123456789",
        code=f"{EVIL}\n" * 500,
    )
    for student in (EVIL, "b\udcff", "x" * 3000):
        book.put(Result(student, 1, made.DIGEST, EVIL, (one,), (Note("file", EVIL, EVIL),), name=EVIL))
    book.put(replace(made.unread(EVIL, EVIL), notes=(Note("file", EVIL),), name=EVIL))
    book.comment(one.cluster, EVIL)
    book.set_roster({EVIL: EVIL, "absent" + EVIL: EVIL})
    pages.write_all(book)
    return book


def _all_pages(book: Gradebook) -> list[Path]:
    return sorted(book.folder.rglob("*.html"))


def test_nothing_that_was_handed_in_runs_loads_or_hides(hostile: Gradebook) -> None:
    paths = _all_pages(hostile)
    assert len(paths) == 6
    for path in paths:
        page = Read(path)
        assert not page.of("script", "img", "iframe", "object", "link", "base", "form"), path.name
        for tag, attributes in page.tags:
            assert not [name for name in attributes if name.startswith("on")], (path.name, tag)
            target = attributes.get("href", "")
            assert not target or re.fullmatch(r"(#|[a-z0-9_/-]+\.html|pages/)[\w./-]*", target), target
        assert "src=" not in re.sub(r"&lt;.*?&gt;", "", page.html)
        (policy,) = [one for one in page.of("meta") if one.get("http-equiv") == "Content-Security-Policy"]
        assert "default-src 'none'" in (policy["content"] or "") and "script-src" not in (policy["content"] or "")
        assert not re.search("[\u202a-\u202e\u2066-\u2069\0-\x08\x0b-\x1f\x7f]", page.html)
        if "index" not in path.name:
            assert "[U+202E][U+2066][U+0000][U+001B]" in page.text
    assert sum("[U+DCFF]" in Read(path).text for path in paths) >= 2


def test_pages_can_be_read_by_everyone(many: Gradebook) -> None:
    many.set_roster({"dora": "Dora"})
    pages.write_all(many)
    for path in _all_pages(many):
        page = Read(path)
        assert page.of("html") == [{"lang": "en"}] and len(page.of("h1")) == len(page.of("main")) == 1
        levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
        assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False)), (path.name, levels)
        assert all(one.get("scope") in ("row", "col") for one in page.of("th"))
        assert len(page.of("caption")) == len(page.of("table"))
        assert all(one["role"] == "img" and one["aria-label"] for one in page.of("svg"))
        ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        assert len(ids) == len(set(ids))


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: install Debian's package chromium")
def test_in_a_browser_pages_fit_their_window_and_run_nothing(hostile: Gradebook, many: Gradebook) -> None:
    pytest.importorskip("playwright")
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    pages.write_all(many)
    paths = [path for path in _all_pages(many) if path.name in ("report.html", "index.html", "s1.html", "s3.html")]
    paths += [path for path in _all_pages(many) if path.name.startswith(("title", "xxx"))]
    assert len(paths) >= 6
    met: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for scheme, width in (("light", 1200), ("dark", 600)):
            page: Any = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
            page.on("dialog", lambda dialog: (met.append(f"dialog {dialog.message}"), dialog.dismiss()))
            page.on("request", lambda request: met.append(request.url) if not request.url.startswith("file:") else None)
            page.on("pageerror", lambda error: met.append(str(error)))
            for path in paths:
                page.goto(path.as_uri())
                wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                assert page.evaluate(wide) <= 0, (path.name, width)
                found = Axe().run(page).response
                assert found["passes"], "nothing was looked at"
                serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
                assert not serious, (path.name, scheme, serious[0]["id"], serious[0]["nodes"][0]["html"][:300])
        browser.close()
    assert met == []
