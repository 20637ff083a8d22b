"""Predict and quiz: a question in the page, buttons to commit to a choice, the choice in the learner's record."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from course_utils import record
from course_utils.feedback.display import Shown, show
from course_utils.lessons import Question
from course_utils.lessons import question as find_question
from course_utils.widgets import page
from course_utils.widgets.page import Still
from gradient_ledger import html


def predict(identifier: str, choice: str | None = None) -> None:
    """Ask for a prediction before the experiment below settles it.

    In a notebook this shows buttons; elsewhere, or where widgets do not run, commit in code by the letter:
    `predict("1.a", "b")`. It never waits: a run from top to bottom goes on without an answer.
    Raises `KeyError` for an unknown question and `ValueError` for an unknown choice.
    """
    _ask(_of_kind(identifier, "prediction"), choice, _commit, "Commit to one before you run the next cell.")


def quiz(identifier: str, choice: str | None = None) -> None:
    """Ask a question that answers at once, with the reason. In code: `quiz("1.q1", "a")`. The last choice counts."""
    _ask(_of_kind(identifier, "quiz"), choice, _answer, "Choose one and read why. The last choice counts.")


def compare(identifier: str, measured: str) -> None:
    """Show what the experiment measured beside the prediction that was committed.

    `measured` is the key of a choice, worked out by the experiment's own code. Raises
    `ValueError` when it is not one of the question's choices.
    """
    question = _of_kind(identifier, "prediction")
    if measured not in question.choices:
        raise ValueError(_no_choice(question, measured, list(question.choices)))
    committed = record.entry(identifier).get("choice")
    title = f"Prediction {identifier}"
    said = [f"Measured: {question.choices[measured]}"]
    if committed:
        verdict = "as you predicted" if committed == measured else "not as you predicted"
        said = [f"You predicted: {_choice_text(question, committed)}", f"{said[0]} ({verdict})"]
    else:
        said.append("You had not committed to a prediction; the next ones teach more when you do.")
    record.update(identifier, measured=measured)
    show(_shown(title, said, "good" if committed == measured else "calm"))


def _commit(question: Question, key: str) -> str:
    known = record.entry(question.id)
    if known.get("choice") and "measured" in known:
        return f"{_said(question)} What was measured is known, so a commitment stays as it is."
    record.update(question.id, choice=key, late="measured" in known)
    return _said(question)


def _answer(question: Question, key: str) -> str:
    record.update(question.id, choice=key, right=key == question.answer)
    return _said(question)


def _said(question: Question, default: str = "") -> str:
    """What a question says of the choice in the record; `default` where there is none."""
    key = record.entry(question.id).get("choice")
    # A record may hold a choice that a later version of the course no longer offers.
    if not key or (question.kind == "quiz" and key not in question.choices):
        return default
    if question.kind == "prediction":
        return f"Committed: {_choice_text(question, key)}. The next cell measures it."
    why = (question.because or {}).get(key, "")
    if key == question.answer:
        return f"Right: {why}"
    return f"Not quite ({_choice_text(question, key)}): {why} Choose again: the last choice counts."


def _of_kind(identifier: str, kind: str) -> Question:
    question = find_question(identifier)
    if question.kind != kind:
        raise KeyError(f"{identifier!r} is a {question.kind}: call {_call(question)}({identifier!r})")
    return question


def _call(question: Question) -> str:
    return "predict" if question.kind == "prediction" else "quiz"


def _key(question: Question, choice: str) -> str:
    """The key of a choice, given by its letter on the page or by the key itself."""
    key = question.letters.get(choice, choice)
    if key not in question.choices:
        raise ValueError(_no_choice(question, choice, list(question.letters)))
    return key


def _no_choice(question: Question, choice: str, known: list[str]) -> str:
    return f"question {question.id} has no choice {choice!r}; choose one of {', '.join(map(repr, known))}"


def _choice_text(question: Question, key: str) -> str:
    letter = next((f"{letter}, " for letter, name in question.letters.items() if name == key), "")
    return f"{letter}{question.choices.get(key, key)}"


def _shown(title: str, said: list[str], tone: str = "calm") -> Shown:
    return Shown(
        "\n".join([title, *(f"  {line}" for line in said)]), html.box(title, [html.paragraph(s) for s in said], tone)
    )


def _title(question: Question) -> str:
    return f"{'Prediction' if question.kind == 'prediction' else 'Question'} {question.id}"


def _ask(question: Question, choice: str | None, take: Callable[[Question, str], str], note: str) -> None:
    """Take `choice` where one is given; else put the question, its choices and what was said into the page."""
    if choice is not None:
        show(_shown(_title(question), [take(question, _key(question, choice))]))
        return

    def still() -> Still:
        # An answer that was given needs no word on how to give one.
        said = _said(question) or f'{note} In code: `{_call(question)}("{question.id}", "a")`'
        choices = [f"{letter}: {question.choices[key]}" for letter, key in question.letters.items()]
        text = _shown(f"{_title(question)}: {question.text}", [*choices, said]).text.replace("`", "")
        return Still(text, html=html.paragraph(said), fixed=_asked(question))

    def widget() -> Any:
        import ipywidgets as widgets

        status = widgets.HTML(page.status_element(_said(question, note)))

        def press(key: str) -> None:
            status.value = page.status_element(take(question, key))
            replace(still())

        buttons = [
            page.button(letter, partial(press, key), question.choices[key].replace("`", ""))
            for letter, key in question.letters.items()
        ]
        return page.column(page.row(*buttons), status)

    replace = page.show(still(), widget, "course-" + question.id.replace(".", "-"))


def _asked(question: Question) -> str:
    """The question and its choices, lettered, as HTML that wraps on any page."""
    choices = "".join(f"<li>{html.code_spans(text)}</li>" for text in question.choices.values())
    listed = f'<ol type="a" style="list-style-type:lower-alpha;margin:4px 0;padding-left:2em">{choices}</ol>'
    return html.box(_title(question), [html.paragraph(question.text), listed])
