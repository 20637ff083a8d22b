"""The card of a check: text and HTML say the same, and nothing of the learner's becomes markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser

import pytest
import torch

from course_utils.exercise import Frame, Raised, Verdict
from course_utils.feedback import display
from course_utils.feedback.card import card
from course_utils.feedback.display import Shown
from course_utils.learner import check, evaluate
from course_utils.misconceptions import catalogue

TAGS = {"section", "p", "strong", "pre", "code", "table", "caption", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {"style", "aria-label", "tabindex", "scope"}


class _Reader(HTMLParser):
    """Reads a card, and fails on a tag or attribute that no card has, or on one left open."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, f"<{tag}> in a card"
        assert {name for name, _ in attrs} <= ATTRIBUTES, attrs
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def _words_of(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return _squeezed(" ".join(reader.text))


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("`", ""))


def _right(w, x, y):
    return 2 * x.T @ (x @ w - y) / len(y)


def _half(w, x, y):
    print("<b>residual</b>", "\033[31m")
    return x.T @ (x @ w - y) / len(y)


def _unknown(w, x, y):
    return w * 17 + 3


def _raising(w, x, y):
    raise ValueError("<script>alert('x')</script> & `code` \" onload='y'")


def _stub(w, x, y):
    return ...


def _strange_names(w, x, y):
    return {"<img src=x onerror=alert(1)>": w}


def _autograd(w, x, y):
    return torch.func.grad(lambda w: ((x @ w - y) ** 2).mean())(w)


ATTEMPTS = [_right, _half, _unknown, _raising, _stub, _strange_names, _autograd, 17, torch.ones(3)]


def _shown(attempt: object) -> Shown:
    return card(evaluate("1.2", attempt), ("By hand: no autograd.",))


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda a: getattr(a, "__name__", type(a).__name__).strip("_"))
def test_text_and_html_say_the_same(attempt: object) -> None:
    shown = _shown(attempt)
    words = _words_of(shown.html)
    for line in shown.text.splitlines():
        assert _squeezed(line) in words
    assert len(words) == len(_squeezed(shown.text))


@pytest.mark.parametrize("identifier", sorted(catalogue()))
def test_every_misconception_has_a_card(identifier: str) -> None:
    verdict = Verdict("1.2", "f", "failed", 0, 15, "case 1", ("got <1>",), identifier, cases_total=7)
    shown = card(verdict)
    entry = catalogue()[identifier]
    for said in (entry.title, entry.happens, entry.mend, entry.why, identifier):
        assert said in shown.text
        assert _squeezed(said) in _words_of(shown.html)


def test_nothing_of_the_learners_becomes_markup() -> None:
    hostile = "</pre></section><script>alert(1)</script><img src=x onerror=y> ``` &amp; \" '"
    verdict = Verdict(
        exercise="1.2",
        name=hostile,
        outcome="raised",
        points=0,
        max_points=15,
        case=hostile,
        observed=(hostile,),
        raised=Raised(hostile, hostile, (Frame(hostile, 1, hostile),)),
        printed=hostile,
        cases_total=3,
    )
    shown = card(verdict, (hostile,))
    assert "<script" not in shown.html and "<img" not in shown.html
    assert _squeezed(unescape(hostile)) in unescape(_words_of(shown.html))


@pytest.mark.parametrize(
    ("attempt", "said"),
    [
        (_right, ["PASSED", "15 of 15", "7 of 7"]),
        (_half, ["FAILED", "0 of 15", "missing-factor-two", "norm ratio 0.500000", "Your code printed", "residual"]),
        (_unknown, ["FAILED", "No known mistake"]),
        (_raising, ["RAISED", "ValueError", "in _raising", "What to do next"]),
        (_stub, ["NOT ATTEMPTED", "Replace the stub"]),
        (_autograd, ["FAILED", "used-autograd", "torch.autograd.grad", "Rule of this exercise"]),
        (17, ["FAILED", "int", "not-a-function"]),
    ],
    ids=["right", "half", "unknown", "raising", "stub", "autograd", "number"],
)
def test_the_card_says_what_was_found(attempt: object, said: list[str]) -> None:
    text = _shown(attempt).text
    for words in said:
        assert words in text


def test_the_learners_traceback_ends_in_their_own_line() -> None:
    text = _shown(_raising).text
    assert "raise ValueError" in text
    assert "course_utils" not in text and "torch/" not in text


def test_a_check_prints_in_a_terminal_and_writes_nothing_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    for attempt in ATTEMPTS:
        check("1.2", attempt)
    out, err = capfd.readouterr()
    assert out.count("exercise 1.2, linear_mse_gradient") == len(ATTEMPTS)
    assert err == ""


def test_a_kernel_gets_both_forms_in_one_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, str]] = []
    monkeypatch.setattr(display, "in_kernel", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: sent.append(bundle))
    check("1.2", _right)
    assert [set(bundle) for bundle in sent] == [{"text/plain", "text/html"}]
    assert sent[0]["text/plain"].startswith("PASSED")


def test_the_same_attempt_gives_the_same_card_each_time() -> None:
    def leaky(w, x, y):
        return (n for n in [object()])

    cards: list[Callable[[], Shown]] = [lambda: _shown(leaky), lambda: _shown(_unknown), lambda: _shown(_raising)]
    for make in cards:
        assert make() == make()


def test_while_nbgrader_grades_a_check_that_does_not_pass_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    check("1.2", _right)
    for attempt in (_half, _stub, _raising):
        with pytest.raises(AssertionError, match="exercise 1.2"):
            check("1.2", attempt)


def test_an_unknown_exercise_says_which_there_are() -> None:
    with pytest.raises(KeyError, match="1.1, 1.2, 1.3"):
        check("1.9", _right)
