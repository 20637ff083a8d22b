"""Predictions and quizzes: asked once, committed for good, and never in the way of a run from top to bottom."""

from __future__ import annotations

import re

import pytest

from course_utils import record
from course_utils.feedback import display
from course_utils.lessons import Question
from course_utils.widgets import questions
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
    assert "Committed: no" in said()
    assert record.entry("1.a")["choice"] == "b"


def test_a_commitment_stays_as_it_is(said) -> None:
    predict("1.a", "b")
    predict("1.a", "a")
    assert "A commitment stays as it is" in said()
    assert record.entry("1.a")["choice"] == "b"
    predict("1.a")
    assert "Committed: no" in said()


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
    assert "Not quite: It would lose what was there." in said()
    quiz("1.q1", "a")
    assert "Right: It accumulates." in said()
    assert record.entry("1.q1") == {"choice": "a", "right": True}


def test_a_quiz_asked_again_remembers_the_answer(said) -> None:
    quiz("1.q1")
    assert "Choose one" in said()
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
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """The bundles that a front end would receive."""
    bundles: list[dict[str, object]] = []
    for module in (display, questions):
        monkeypatch.setattr(module, "in_kernel", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: bundles.append(bundle))
    return bundles


def test_a_front_end_gets_the_widget_and_both_text_forms(sent: list[dict[str, object]]) -> None:
    predict("1.a")
    (bundle,) = sent
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert "b: no" in str(bundle["text/plain"])
    assert "Is <code>x</code> &lt; 3?" in str(bundle["text/html"])


def test_without_ipywidgets_the_text_forms_remain(
    sent: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ipywidgets", None)
    predict("1.a")
    assert [set(bundle) for bundle in sent] == [{"text/plain", "text/html"}]


class _Made:
    """The parts of the widget that was built last, by their class."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import ipywidgets

        self.parts: dict[str, object] = {}
        for name in ("RadioButtons", "Button", "HTML"):
            monkeypatch.setattr(ipywidgets, name, self._keeping(name, getattr(ipywidgets, name)))

    def _keeping(self, name: str, kind: type):
        def build(*args: object, **kwargs: object) -> object:
            self.parts[name] = made = kind(*args, **kwargs)
            return made

        return build


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> _Made:
    return _Made(monkeypatch)


def test_the_button_commits_and_locks(sent: list[dict[str, object]], made: _Made) -> None:
    predict("1.a")
    choice, button, status = (made.parts[name] for name in ("RadioButtons", "Button", "HTML"))
    button.click()
    assert "Choose one" in status.value and record.entry("1.a") == {}
    choice.value = "b"
    button.click()
    assert record.entry("1.a")["choice"] == "b"
    assert choice.disabled and button.disabled
    assert "Committed: no" in status.value


def test_a_committed_prediction_opens_locked(sent: list[dict[str, object]], made: _Made) -> None:
    predict("1.a", "b")
    predict("1.a")
    assert made.parts["RadioButtons"].value == "b"
    assert made.parts["RadioButtons"].disabled and made.parts["Button"].disabled


def test_a_widget_shows_no_backticks(sent: list[dict[str, object]], made: _Made) -> None:
    predict("1.a")
    assert [label for label, _ in made.parts["RadioButtons"].options] == ["yes, x is", "no"]


def test_a_quiz_can_be_answered_again(sent: list[dict[str, object]], made: _Made) -> None:
    quiz("1.q1")
    choice, button, status = (made.parts[name] for name in ("RadioButtons", "Button", "HTML"))
    for key, reason in (("b", "lose"), ("a", "accumulates")):
        choice.value = key
        button.click()
        assert reason in status.value
    assert record.entry("1.q1")["right"] is True


def test_no_form_has_a_backtick_left(sent: list[dict[str, object]]) -> None:
    predict("1.a")
    predict("1.a", "a")
    compare("1.a", "a")
    quiz("1.q1")
    for bundle in sent:
        assert "`" not in re.sub(r'aria-label="[^"]*"', "", str(bundle["text/html"]))
