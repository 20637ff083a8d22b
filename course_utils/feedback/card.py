"""The card of one check: text and HTML from one Verdict."""

from __future__ import annotations

from collections.abc import Sequence

from course_utils.checks import effects
from course_utils.exercise import Case, Evidence, Exercise, Fault, Raised, Verdict
from course_utils.feedback.display import Shown
from course_utils.plain import in_words
from gradient_ledger import html

_TONES = {"passed": "good", "failed": "bad", "raised": "bad", "not attempted": "quiet"}
MOST_BESIDE = 4
"""Most further faults that a card tells in one line each."""
MOST_PRINTED = 8
"""Most lines of what the code printed."""
STUB = "the function returns `...` still. Replace the stub and run the cell again."


class _Card:
    """Lines of text and pieces of HTML that say the same."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.text, self.parts = [title], list[str]()

    def say(self, strong: str, body: str) -> None:
        self.text.append(f"  {strong} {body}".rstrip())
        self.parts.append(html.paragraph(body, strong))

    def quote(self, label: str, items: Sequence[str]) -> None:
        self.text.append(f"  {label}:")
        self.text.extend(f"    {line}" for item in items for line in item.splitlines())
        self.parts.append(html.paragraph("", f"{label}:"))
        self.parts.append(html.lines(list(items), label))

    def fold(self, label: str, body: str) -> None:
        self.text.append(f"  {label} {body}")
        self.parts.append(html.folded(label, body))


def card(verdict: Verdict, rules: tuple[str, ...] = (), *, kept: int = 0, note: str = "") -> Shown:
    """What a learner sees of a check: outcome and points, the mistake, what to do next, what was seen.

    `rules` are the exercise's own, `kept` points that an earlier pass brought, `note` something to know first.
    """
    made = _Card(_title(verdict, kept))
    if note:
        made.say("Please note:", note)
    if verdict.outcome == "passed":
        made.say("All cases agree:", f"{verdict.cases_passed} of {verdict.cases_total}.")
    elif verdict.outcome == "not attempted":
        made.say("Nothing to check yet:", STUB)
    else:
        for number, fault in enumerate(verdict.faults[: MOST_BESIDE + 1]):
            if number:
                made.say(_beside(fault), _in_one_line(fault))
            else:
                _explain(made, fault, rules)
        if verdict.cases_total:
            made.say(
                "Cases that agree:",
                f'{verdict.cases_passed} of {verdict.cases_total}. Stuck? `hint("{verdict.exercise}")`',
            )
    _printed(made, verdict.printed, "on this case" if verdict.faults else "on the first case")
    if verdict.faults:
        for words in verdict.faults[0].mistakes:
            if words.why:
                made.fold("Why it is easy to believe:", words.why)
    label = f"Check {verdict.exercise}: {verdict.outcome}"
    return Shown("\n".join(made.text), html.box(made.title, made.parts, _TONES[verdict.outcome], label))


def card_of_run(
    exercise: Exercise, cases: Sequence[Case], evidence: Sequence[Evidence], *, note: str = ""
) -> tuple[Shown, str]:
    """What a learner sees of a check where no answer is, and in a word how it went: what is certain without one.

    `evidence` is of the first cases, and empty where nothing was called. The word is `"ran"`, `"raised"`, `"stopped"`
    or `"not attempted"`.
    """
    last = evidence[-1] if evidence else None
    if last is None or last.status == "not attempted":
        how, odd = "not attempted", None
    else:
        odd = next((number for number, one in enumerate(evidence) if one.status != "returned"), None)
        how = "ran" if odd is None else evidence[odd].status
    made = _Card(f"{how.upper()}: exercise {exercise.id}, {exercise.name} ({exercise.points} points, not marked here)")
    if note:
        made.say("Please note:", note)
    if how == "not attempted":
        made.say("Nothing to run yet:", STUB)
    else:
        shown = evidence[odd or 0]
        where = f"case {(odd or 0) + 1} of {len(cases)}: {shown.case}"
        if odd is None:
            made.say(f"Your code ran on all {len(cases)} cases.", "Whether it is right, this copy cannot say.")
            made.quote(f"On {where}, it returned", [in_words(shown.result)])
        elif shown.raised is not None:
            words = effects.of_exception(shown.raised, shown.warned)
            observed = (f"{shown.raised.type}: {shown.raised.message}",)
            _explain(made, Fault((odd + 1,), where, observed, words, raised=shown.raised), exercise.rules)
        else:
            _explain(made, Fault((odd + 1,), where, (), (effects.endless_loop,)), exercise.rules)
        changes = [change for change in shown.changes if change.aspect in effects.BY_CHANGE][:4]
        if changes:
            made.quote(
                f"Not as it was before the call ({where})",
                [f"{one.what}, {one.aspect}: {one.before} before, {one.after} after" for one in changes],
            )
        _printed(made, shown.printed, "on this case")
    made.say("Your work is marked by your instructor.", f'Stuck? `hint("{exercise.id}")`')
    tone = "bad" if how in ("raised", "stopped") else "calm" if how == "ran" else "quiet"
    return Shown("\n".join(made.text), html.box(made.title, made.parts, tone, f"Check {exercise.id}: {how}")), how


def _title(verdict: Verdict, kept: int) -> str:
    points = f"{verdict.points} of {verdict.max_points} points"
    if kept > verdict.points:
        points += f"; {kept} points stay yours"
    return f"{verdict.outcome.upper()}: exercise {verdict.exercise}, {verdict.name} ({points})"


def _explain(made: _Card, fault: Fault, rules: tuple[str, ...]) -> None:
    """The fault to be mended first: name and next step, then what was seen and what is certain of it."""
    if len(fault.mistakes) == 1:
        (words,) = fault.mistakes
        made.say(f"{words.title} ({words.id}).", "")
        made.say("Next:", words.mend)
        made.say("What happened:", words.happens)
    elif fault.mistakes:
        made.say("One of these mistakes was made; they leave the very same numbers.", "")
        for number, words in enumerate(fault.mistakes):
            made.say("Either:" if not number else "Or:", f"{words.title} ({words.id}). {words.happens}")
            made.say("Next, if so:", words.mend)
    elif fault.certain:
        made.say("No known mistake by itself explains this, but it is certain that:", "")
    elif fault.raised is not None:
        made.say("Next:", "read the message and the last of your lines below; the check passes on what was raised.")
    else:
        made.say(
            "No known mistake leaves these numbers.",
            "Compare expected and given below: which agree, and what do the others have in common?",
        )
    where = f"On cases {_numbers(fault.cases)}:" if len(fault.cases) > 1 else ""
    if fault.certain and where:
        made.say(where, "")
    for sentence in fault.certain:
        made.say("·", sentence)
    made.quote(f"Seen on {fault.case}" if fault.case else "Seen", fault.observed)
    if fault.raised is not None and fault.raised.frames:
        made.quote("Your lines, the innermost last", _frames(fault.raised))
    if rules:
        made.say("Rules of this exercise:", " ".join(rules))


def _printed(made: _Card, printed: str, where: str) -> None:
    if printed:
        made.quote(f"Your code printed ({where})", printed.splitlines()[:MOST_PRINTED])


def _beside(fault: Fault) -> str:
    # Not "apart from that": it may have the same cause as what is told above.
    return f"Also, {fault.case}:" if len(fault.cases) == 1 else f"Also, cases {_numbers(fault.cases)}:"


def _numbers(cases: Sequence[int]) -> str:
    shown = [str(number) for number in cases]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _in_one_line(fault: Fault) -> str:
    if fault.mistakes:
        return " or: ".join(f"{words.title[0].lower()}{words.title[1:]} ({words.id})" for words in fault.mistakes) + "."
    if fault.certain:
        return fault.certain[0]
    seen = "; ".join(line.strip() for line in fault.observed[:3])
    return f"on case {fault.cases[0]}, {seen}" if len(fault.cases) > 1 else seen


def _frames(raised: Raised) -> list[str]:
    return [f"line {frame.line}, in {frame.function}: {frame.source}" for frame in raised.frames]
