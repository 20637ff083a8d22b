"""Predict and quiz: a question to commit to, in a widget or as text, kept in the learner's record."""

from __future__ import annotations

from collections.abc import Callable

from course_utils import record
from course_utils.feedback.display import Shown, in_kernel, show
from course_utils.lessons import Question
from course_utils.lessons import question as find_question
from gradient_ledger import html


def predict(identifier: str, choice: str | None = None) -> None:
    """Ask for a prediction before the experiment below settles it.

    In a notebook this shows a widget; elsewhere, or where widgets do not run, commit in code:
    `predict("1.a", "b")`. It never waits: a run from top to bottom goes on without an answer.
    Raises `KeyError` for an unknown question and `ValueError` for an unknown choice.
    """
    question = _of_kind(identifier, "prediction")
    if choice is not None:
        show(_message(question, _commit(question, choice)))
        return
    committed = record.entry(identifier).get("choice")
    note = _kept(question, committed) if committed else "Commit to one before you run the next cell."
    _ask(question, "Commit prediction", note, bool(committed), lambda key: _commit(question, key))


def compare(identifier: str, measured: str) -> None:
    """Show what the experiment measured beside the prediction that was committed.

    `measured` is the key of a choice, worked out by the experiment's own code. Raises
    `ValueError` when it is not one of the question's choices.
    """
    question = _of_kind(identifier, "prediction")
    _choice(question, measured)
    known = record.entry(identifier)
    committed = known.get("choice")
    title = f"Prediction {identifier}"
    said = [f"Measured: {question.choices[measured]}"]
    if committed:
        verdict = "as you predicted" if committed == measured else "not as you predicted"
        said = [f"You predicted: {_choice_text(question, committed)}", f"{said[0]} ({verdict})"]
    else:
        said.append("You had not committed to a prediction; the next ones teach more when you do.")
    record.update(identifier, measured=measured)
    show(_shown(title, said, "good" if committed == measured else "calm"))


def quiz(identifier: str, choice: str | None = None) -> None:
    """Ask a question that answers at once, with the reason. In code: `quiz("1.q1", "a")`."""
    question = _of_kind(identifier, "quiz")
    if choice is not None:
        show(_message(question, _answer(question, choice)))
        return
    given = record.entry(identifier).get("choice")
    note = _reason(question, given) if given in question.choices else "Choose one and read why."
    _ask(question, "Answer", note, False, lambda key: _answer(question, key))


def _commit(question: Question, key: str) -> str:
    _choice(question, key)
    known = record.entry(question.id)
    if known.get("choice"):
        return f"{_kept(question, known['choice'])} A commitment stays as it is."
    record.update(question.id, choice=key, late="measured" in known)
    return _kept(question, key)


def _kept(question: Question, key: str) -> str:
    return f"Committed: {_choice_text(question, key)}. Run the next cell to see."


def _answer(question: Question, key: str) -> str:
    _choice(question, key)
    record.update(question.id, choice=key, right=key == question.answer)
    return _reason(question, key)


def _reason(question: Question, key: str) -> str:
    lead = "Right" if key == question.answer else "Not quite"
    return f"{lead}: {(question.because or {}).get(key, '')}"


def _of_kind(identifier: str, kind: str) -> Question:
    question = find_question(identifier)
    if question.kind != kind:
        call = "predict" if question.kind == "prediction" else "quiz"
        raise KeyError(f"{identifier!r} is a {question.kind}: call {call}({identifier!r})")
    return question


def _choice(question: Question, key: str) -> None:
    if key not in question.choices:
        known = ", ".join(repr(name) for name in question.choices)
        raise ValueError(f"question {question.id} has no choice {key!r}; choose one of {known}")


def _choice_text(question: Question, key: str) -> str:
    # A record may hold a choice that a later version of the course no longer offers.
    return question.choices.get(key, key)


def _shown(title: str, said: list[str], tone: str = "calm") -> Shown:
    return Shown(
        "\n".join([title, *(f"  {line}" for line in said)]), html.box(title, [html.paragraph(s) for s in said], tone)
    )


def _message(question: Question, text: str) -> Shown:
    return _shown(_title(question), [text])


def _title(question: Question) -> str:
    return f"{'Prediction' if question.kind == 'prediction' else 'Question'} {question.id}"


def _fallback(question: Question, note: str) -> Shown:
    call = "predict" if question.kind == "prediction" else "quiz"
    choices = [f"{key}: {text}" for key, text in question.choices.items()]
    how = f'{note} Without buttons: `{call}("{question.id}", "{next(iter(question.choices))}")`'
    shown = _shown(f"{_title(question)}: {question.text}", [*choices, how])
    return Shown(shown.text.replace("`", ""), shown.html)


def _ask(question: Question, action: str, note: str, done: bool, commit: Callable[[str], str]) -> None:
    """Show the widget, with the text form in the same bundle for front ends that run no widgets."""
    fallback = _fallback(question, note)
    view = _widget(question, action, note, done, commit) if in_kernel() else None
    if view is None:
        show(fallback)
        return
    from IPython.display import display

    display({"text/plain": fallback.text, "text/html": fallback.html, **view}, raw=True)


def _widget(
    question: Question, action: str, note: str, done: bool, commit: Callable[[str], str]
) -> dict[str, object] | None:
    try:
        import ipywidgets as widgets
    except ImportError:
        return None
    given = record.entry(question.id).get("choice")
    heading = widgets.HTML(html.paragraph(question.text, f"{_title(question)}:"))
    options = widgets.RadioButtons(
        options=[(text.replace("`", ""), key) for key, text in question.choices.items()],
        value=given if given in question.choices else None,
        disabled=done,
        layout=widgets.Layout(width="max-content", max_width="100%"),
    )
    button = widgets.Button(description=action, disabled=done, layout=widgets.Layout(width="max-content"))
    status = widgets.HTML(_status(note))

    def on_click(_: object) -> None:
        if options.value is None:
            status.value = _status("Choose one of the answers first.")
            return
        status.value = _status(commit(options.value))
        if question.kind == "prediction":
            options.disabled = button.disabled = True

    button.on_click(on_click)
    box = widgets.VBox([heading, options, button, status], layout=widgets.Layout(margin="6px 0"))
    bundle = box._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    mime = "application/vnd.jupyter.widget-view+json"
    return {mime: data[mime]} if data and mime in data else None


def _status(text: str) -> str:
    # role=status: a screen reader says what the button did.
    return f'<p role="status" style="{html.TEXT};margin:4px 0">{html.code_spans(text)}</p>'
