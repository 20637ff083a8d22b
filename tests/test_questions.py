"""Predictions and quizzes: asked once, committed for good, and never in the way of a run from top to bottom."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from course_utils import record
from course_utils.feedback import display as feedback_display
from course_utils.lessons import Question
from course_utils.widgets import page, questions
from course_utils.widgets.questions import compare, predict, quiz

PREDICTION = Question("1.a", "prediction", "Is `x` < 3?", {"a": "yes, `x` is", "b": "no"})
QUIZ = Question(
    "1.q1",
    "quiz",
    "What does backward do?",
    {"a": "adds", "b": "overwrites"},
    answer="a",
    because={"a": "It accumulates.", "b": "It would lose what was there."},
)


@pytest.fixture(autouse=True)
def two_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {question.id: question for question in (PREDICTION, QUIZ)}
    monkeypatch.setattr(questions, "find_question", lambda identifier: known[identifier])


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]):
    """What was printed since the last time; nothing may have gone to stderr."""

    def read() -> str:
        out, err = capfd.readouterr()
        assert err == ""
        return out

    return read


# ------------------------------------------------------------------ in a terminal


def test_a_prediction_is_asked_with_its_choices_and_how_to_commit(said) -> None:
    predict("1.a")
    out = said()
    assert "Is x < 3?" in out and "a: yes, x is" in out and "b: no" in out
    assert 'predict("1.a", "a")' in out
    assert record.entry("1.a") == {}


def test_a_commitment_is_kept(said) -> None:
    predict("1.a", "b")
    assert "Committed: b, no" in said()
    assert record.entry("1.a")["choice"] == "b"


def test_a_commitment_can_change_until_the_measurement_is_known_and_stays_then(said) -> None:
    predict("1.a", "b")
    predict("1.a", "a")
    assert record.entry("1.a") == {"choice": "a", "late": False}
    compare("1.a", "b")
    said()
    predict("1.a", "b")
    assert "a commitment stays as it is" in said()
    assert record.entry("1.a")["choice"] == "a"
    predict("1.a")
    out = said()
    assert "Committed: a, yes" in out and "predict(" not in out, "who has answered needs no word on how to answer"


def test_a_choice_is_committed_by_its_letter_on_the_page_whatever_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = Question("1.b", "prediction", "How many?", {"2": "two", "a lot": "many"})
    monkeypatch.setattr(questions, "find_question", lambda identifier: odd)
    for given, kept in (("a", "2"), ("b", "a lot"), ("2", "2")):
        predict("1.b", given)
        assert record.entry("1.b")["choice"] == kept


def test_a_choice_that_does_not_exist_says_which_do_and_commits_to_nothing() -> None:
    with pytest.raises(ValueError, match="no choice 'c'; choose one of 'a', 'b'"):
        predict("1.a", "c")
    with pytest.raises(ValueError, match="choose one of 'a', 'b'"):
        compare("1.a", "c")
    with pytest.raises(ValueError, match="choose one of 'a', 'b'"):
        quiz("1.q1", "c")
    assert record.entry("1.a") == {} and record.entry("1.q1") == {}


def test_a_question_of_the_other_kind_says_what_to_call() -> None:
    with pytest.raises(KeyError, match="call quiz"):
        predict("1.q1")
    with pytest.raises(KeyError, match="call quiz"):
        compare("1.q1", "a")
    with pytest.raises(KeyError, match="call predict"):
        quiz("1.a")


@pytest.mark.parametrize(("committed", "verdict"), [("a", "as you predicted"), ("b", "not as you predicted")])
def test_a_measurement_is_shown_beside_the_prediction(committed: str, verdict: str, said) -> None:
    predict("1.a", committed)
    said()
    compare("1.a", "a")
    out = said()
    assert "You predicted" in out and "Measured: yes" in out and f"({verdict})" in out
    assert record.entry("1.a")["measured"] == "a"


def test_without_a_prediction_the_measurement_is_shown_all_the_same(said) -> None:
    compare("1.a", "a")
    out = said()
    assert "Measured: yes" in out and "had not committed" in out


def test_a_prediction_after_the_measurement_is_known_to_be_late() -> None:
    compare("1.a", "a")
    predict("1.a", "a")
    assert record.entry("1.a")["late"] is True


def test_a_prediction_before_the_measurement_is_not_late() -> None:
    predict("1.a", "a")
    compare("1.a", "a")
    assert record.entry("1.a")["late"] is False


def test_a_quiz_answers_at_once_and_says_why(said) -> None:
    quiz("1.q1", "b")
    assert "Not quite (b, overwrites): It would lose what was there. Choose again: the last choice counts." in said()
    quiz("1.q1", "a")
    assert "Right: It accumulates." in said()
    assert record.entry("1.q1") == {"choice": "a", "right": True}


def test_a_quiz_asked_again_remembers_the_answer(said) -> None:
    quiz("1.q1")
    assert "Choose one and read why. The last choice counts." in said()
    quiz("1.q1", "b")
    quiz("1.q1")
    assert said().count("It would lose what was there.") == 2


def test_a_choice_that_a_later_version_dropped_does_no_harm(said) -> None:
    record.update("1.a", choice="z")
    record.update("1.q1", choice="z")
    predict("1.a")
    compare("1.a", "a")
    quiz("1.q1")
    assert "not as you predicted" in said()


# ------------------------------------------------------------------ in a kernel


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """The outputs that a front end would receive; what changes one later comes after it."""
    outputs: list[dict[str, str]] = []

    class Handle:
        def update(self, data: dict[str, str], **_: object) -> None:
            outputs.append(data)

    def display(data: dict[str, str], **_: object) -> Handle:
        outputs.append(data)
        return Handle()

    for module in (feedback_display, page):
        monkeypatch.setattr(module, "in_kernel", lambda: True)
    monkeypatch.setattr(page.figures, "in_front_end", lambda: True)
    monkeypatch.setattr("IPython.display.display", display)
    return outputs


@pytest.fixture
def pressed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], None]]:
    """{letter: what its button does}, of the question shown last."""
    found: dict[str, Callable[[], None]] = {}
    real = page.button

    def button(name: str, press: Callable[[], None], tooltip: str) -> object:
        assert "`" not in tooltip
        found[name] = press
        return real(name, press, tooltip)

    monkeypatch.setattr(page, "button", button)
    return found


def test_the_question_and_its_choices_are_in_the_page_and_the_widget_is_an_output_of_its_own(
    sent: list[dict[str, str]],
) -> None:
    predict("1.a")
    in_page, buttons = sent
    assert set(in_page) == {"text/plain", "text/html"} and set(buttons) == {page.VIEW}
    assert "b: no" in in_page["text/plain"]
    assert "Is <code>x</code> &lt; 3?" in in_page["text/html"] and "<li>no</li>" in in_page["text/html"]
    assert page.HOW in in_page["text/html"]


def test_without_ipywidgets_the_page_remains_and_says_what_to_write(
    sent: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    predict("1.a")
    (in_page,) = sent
    assert set(in_page) == {"text/plain", "text/html"} and 'predict("1.a", "a")' in in_page["text/plain"]


def test_a_button_commits_and_the_page_keeps_it(
    sent: list[dict[str, str]], pressed: dict[str, Callable[[], None]]
) -> None:
    predict("1.a")
    pressed["b"]()
    assert record.entry("1.a")["choice"] == "b"
    assert "Committed: b, no" in sent[-1]["text/html"] and "<li>no</li>" in sent[-1]["text/html"]
    assert sent[-1]["text/html"].count("course-1-a") == sent[0]["text/html"].count("course-1-a") > 1


def test_a_quiz_can_be_answered_again(sent: list[dict[str, str]], pressed: dict[str, Callable[[], None]]) -> None:
    quiz("1.q1")
    for letter, reason in (("b", "lose"), ("a", "accumulates")):
        pressed[letter]()
        assert reason in sent[-1]["text/html"]
    assert record.entry("1.q1")["right"] is True


def test_no_form_has_a_backtick_left(sent: list[dict[str, str]]) -> None:
    predict("1.a")
    predict("1.a", "a")
    compare("1.a", "a")
    quiz("1.q1")
    for output in sent:
        assert "`" not in re.sub(r'aria-label="[^"]*"', "", output.get("text/html", ""))
