"""The card of a check: text and HTML say the same, and nothing of the learner's becomes markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from course_utils import definitions
from course_utils.authoring.verify import SEEDS
from course_utils.checks import effects
from course_utils.checks.judge import left, mistakes_of
from course_utils.exercise import Evidence, Fault, Frame, Raised, Verdict
from course_utils.feedback import display
from course_utils.feedback.card import card
from course_utils.feedback.display import Shown
from course_utils.learner import check, evaluate, hint, solution
from course_utils.lessons import exercise, lessons

TAGS = {"section", "p", "strong", "pre", "code", "table", "caption", "thead", "tbody", "tr", "th", "td"} | {
    "details",
    "summary",
}
WORDS = {one.id: one.words for each in lessons() for task in each.exercises for one in mistakes_of(task.home)} | {
    words.id: words for words in vars(effects).values() if isinstance(words, type(effects.no_graph))
}
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
    return card(evaluate("1.2", attempt), ("By hand: no autograd.",), kept=15, note="read `this` first.")


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda a: getattr(a, "__name__", type(a).__name__).strip("_"))
def test_text_and_html_say_the_same(attempt: object) -> None:
    shown = _shown(attempt)
    words = _words_of(shown.html)
    for line in shown.text.splitlines():
        assert _squeezed(line) in words
    assert len(words) == len(_squeezed(shown.text))


def _failed(*faults: Fault) -> Verdict:
    return Verdict("1.2", "f", "failed", 0, 15, faults, cases_total=7)


@pytest.mark.parametrize("identifier", sorted(WORDS))
def test_every_mistake_has_a_card(identifier: str) -> None:
    entry = WORDS[identifier]
    shown = card(_failed(Fault((1,), "case 1", ("got <1>",), (entry,))))
    for said in (entry.title, entry.happens, entry.mend, entry.why, identifier):
        assert said in shown.text
        assert _squeezed(said) in _words_of(shown.html)


def test_nothing_of_the_learners_becomes_markup() -> None:
    hostile = "</pre></section><script>alert(1)</script><img src=x onerror=y> ``` &amp; \" '"
    raised = Raised(hostile, hostile, (Frame(hostile, 1, hostile),))
    fault = Fault((1,), hostile, (hostile,), certain=(hostile,), raised=raised)
    verdict = Verdict("1.2", hostile, "raised", 0, 15, (fault, fault), hostile, cases_total=3)
    shown = card(verdict, (hostile,))
    assert "<script" not in shown.html and "<img" not in shown.html
    assert _squeezed(unescape(hostile)) in unescape(_words_of(shown.html))


@pytest.mark.parametrize(
    ("attempt", "said"),
    [
        (_right, ["PASSED", "15 of 15", "All cases agree"]),
        (
            _half,
            ["FAILED", "0 of 15", "missing-factor-two", "Same direction, 1/2 times", "Your code printed", "residual"],
        ),
        (_unknown, ["FAILED", "does not change when"]),
        (_raising, ["RAISED", "ValueError", "in _raising", "Next:"]),
        (_stub, ["NOT ATTEMPTED", "Replace the stub"]),
        (_autograd, ["FAILED", "used-autograd", "torch.autograd.grad", "Rules of this exercise"]),
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
    assert out.count("exercise 1.2, linear_mse_gradient") == sum(map(callable, ATTEMPTS))
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


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: check("1.9", _right), "there are 1.1, 1.2, 1.3"),
        (lambda: check(1.2, _right), '`check("1.2", linear_mse_gradient)`'),
        (lambda: check("1.2"), "the function too"),
        (lambda: check("1.2", torch.ones(3)), "object of type Tensor, not a function"),
        (lambda: check(_right, "1.2"), "in quotes"),
        (lambda: hint(1.2), '`hint("1.2")`'),
        (lambda: hint("7.77"), "there is no exercise"),
        (lambda: solution(1.2), '`solution("1.2")`'),
    ],
    ids=["unknown", "a-number", "no-function", "a-result", "swapped", "hint-number", "hint-unknown", "solution-number"],
)
def test_a_call_that_is_none_gets_one_clear_line(
    call: Callable[[], None], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    call()
    out, err = capfd.readouterr()
    assert said.replace("`", "") in out.replace("`", "") and len(out.strip().splitlines()) == 1 and err == ""


def test_an_interrupt_gives_one_line_and_keeps_nothing(capfd: pytest.CaptureFixture[str], own_record: Path) -> None:
    def interrupted(w, x, y):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        check("1.2", interrupted)
    assert caught.value._render_traceback_() == ["Interrupted."]  # what a notebook shows in place of the traceback
    assert "interrupted" in capfd.readouterr().out and not own_record.exists()


def test_an_exercise_that_cannot_be_checked_here_gives_one_line_and_keeps_nothing(
    capfd: pytest.CaptureFixture[str], own_record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(left, "left_by", lambda *_: Evidence("the first", "stopped"))
    check("1.2", _right)
    said = capfd.readouterr().out
    assert "Exercise 1.2 cannot be checked here" in said and "no fault of your code" in said and "points" not in said
    assert not own_record.exists()


def test_points_of_an_earlier_pass_are_said_to_stay(capfd: pytest.CaptureFixture[str]) -> None:
    check("1.2", _right)
    check("1.2", _half)
    assert "0 of 15 points; 15 points stay yours" in capfd.readouterr().out


def test_the_time_limit_is_stated() -> None:
    def endless(w, x, y):
        while True:
            pass

    text = card(evaluate("1.2", endless, limit=0.2)).text
    assert "endless-loop" in text and "stopped after 0.2 s" in text


def test_two_faults_are_both_on_the_card() -> None:
    first = Fault((1, 2), "case 1 of 7: a", ("got 1",), (effects.wrong_shape,))
    second = Fault((4,), "case 4 of 7: b", ("got 2",), certain=("Every number is 2 times what it should be.",))
    text = card(_failed(first, second)).text
    assert "Also, case 4 of 7: b: Every number is 2 times what it should be." in text


def test_two_mistakes_that_leave_the_same_are_told_as_either_or() -> None:
    text = card(_failed(Fault((1,), "case 1 of 7: a", ("got 1",), (effects.wrong_shape, effects.wrong_type)))).text
    assert "Either: A result has another shape (wrong-shape)" in text
    assert "Or: The result has another type (wrong-type)" in text


@pytest.mark.parametrize("seed", SEEDS)
def test_the_next_step_stands_before_the_numbers(seed: int) -> None:
    text = card(evaluate("1.2", _half, seed=seed)).text.splitlines()
    order = ["missing-factor-two", "Next:", "What happened:", "expected", "given", "Why it is easy to believe"]
    places = [next(number for number, line in enumerate(text) if words in line) for words in order]
    assert places == sorted(places)


def test_a_function_whose_cell_did_not_run_is_pointed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def cell(text: str, error: Exception | None) -> None:
        info = SimpleNamespace(raw_cell=text)
        definitions.after_cell(SimpleNamespace(info=info, error_before_exec=error, error_in_exec=None))

    monkeypatch.setattr(definitions, "_failed", {})
    name = exercise("1.2").name
    assert definitions.note(name) == ""
    cell(f"import torch\ndef {name}(w, x, y:\n    return w", SyntaxError())
    assert "SyntaxError" in definitions.note(name) and "version that ran before" in definitions.note(name)
    cell("print(1)", None)
    assert definitions.note(name)
    cell(f"def {name}(w, x, y):\n    return w", None)
    assert definitions.note(name) == ""
