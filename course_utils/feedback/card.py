"""The card of one check: text and HTML from one Verdict."""

from __future__ import annotations

from course_utils.exercise import Raised, Verdict
from course_utils.feedback import html
from course_utils.feedback.display import Shown
from course_utils.misconceptions import misconception

_TONES = {"passed": "good", "failed": "bad", "raised": "bad", "not attempted": "quiet"}


def card(verdict: Verdict, rules: tuple[str, ...] = ()) -> Shown:
    """What a learner sees of a check: outcome and points, the numbers seen, the mistake, what to look at next."""
    title = _title(verdict)
    text, parts = [title], []

    def say(strong: str, body: str) -> None:
        text.append(f"  {strong} {body}".rstrip())
        parts.append(html.paragraph(body, strong))

    def quote(label: str, items: list[str] | tuple[str, ...]) -> None:
        text.append(f"  {label}:")
        text.extend(f"    {line}" for item in items for line in item.splitlines())
        parts.append(html.paragraph("", f"{label}:"))
        parts.append(html.lines(items, label))

    if verdict.outcome == "passed":
        say("All cases agree:", f"{verdict.cases_passed} of {verdict.cases_total}.")
    elif verdict.outcome == "not attempted":
        say("Nothing to check yet:", "the function still returns `...`. Replace the stub and run the cell again.")
    else:
        quote(f"Seen on {verdict.case}" if verdict.case else "Seen", verdict.observed)
        if verdict.raised is not None and verdict.raised.frames:
            quote("Your lines, the innermost last", _frames(verdict.raised))
        _explain(verdict, say)
        if rules:
            say("Rule of this exercise:", " ".join(rules))
        if verdict.cases_total:
            say(
                "Cases that agree:",
                f'{verdict.cases_passed} of {verdict.cases_total}. Stuck? `hint("{verdict.exercise}")`',
            )
    if verdict.printed:
        quote("Your code printed (first case shown)", verdict.printed.splitlines()[:8])
    return Shown(
        "\n".join(text), html.box(title, parts, _TONES[verdict.outcome], f"Check {verdict.exercise}: {verdict.outcome}")
    )


def _title(verdict: Verdict) -> str:
    points = f"{verdict.points} of {verdict.max_points} points"
    return f"{verdict.outcome.upper()}: exercise {verdict.exercise}, {verdict.name} ({points})"


def _explain(verdict: Verdict, say) -> None:  # type: ignore[no-untyped-def]
    if verdict.misconception is None:
        if verdict.outcome == "raised":
            say(
                "What to do next:",
                "read the message and the last of your lines above; the check passes on what was raised.",
            )
        else:
            say(
                "No known mistake gives these numbers.",
                _without_a_name(verdict),
            )
        return
    entry = misconception(verdict.misconception)
    say(f"{entry.title} ({entry.id}).", entry.happens)
    if entry.why:
        say("Why it happens:", entry.why)
    say("Look at this next:", entry.mend)


def _without_a_name(verdict: Verdict) -> str:
    if any("cosine 1.000000" in line for line in verdict.observed):
        return "The direction is right and the size is not: look for a factor, the ratio above."
    return "Compare expected and got above entry by entry: which ones agree, and what do the others have in common?"


def _frames(raised: Raised) -> list[str]:
    return [f"line {frame.line}, in {frame.function}: {frame.source}" for frame in raised.frames]
