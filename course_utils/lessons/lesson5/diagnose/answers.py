"""What is right in exercise 5.1."""

from __future__ import annotations

import re
from collections.abc import Sequence

from course_utils.checks.answers import Answers
from course_utils.lessons.trace import TraceEvent

Events = Sequence[TraceEvent]

SUM = r"w[^z]*s[^z]*w[^z]*s"
"""A step on something old and something new."""
OLD_ALONE = r"w[^z]*s[^zw]*s"
CLEARED_BETWEEN_STEPS = r"s.*z.*s"
WRITTEN_TWICE_AROUND_A_CLEAR = r"w[^so]*z[^so]*w"
THROWN_AWAY = r"w[^s]*z[^ws]*$"
HOLDS_OLD_ALONE = r"w[^z]*s[^zw]*$"


def stories(events: Events) -> dict[str, str]:
    """A letter for all that happens to each gradient: written, cleared (z), its own step, another one (o)."""
    names = {name for event in events for name in event["names"]}
    told = dict.fromkeys(names, "")
    letters = {"accumulate": "w", "clear": "z", "step": "s"}
    for event in events:
        for name in names:
            if name in event["names"]:
                told[name] += letters.get(event["kind"], "")
            elif event["kind"] == "step":
                told[name] += "o"
    return told


def are(pattern: str, told: dict[str, str]) -> set[str]:
    """The gradients in whose story a pattern is found."""
    return {name for name, story in told.items() if re.search(pattern, story)}


def holds(story: str) -> bool:
    """Whether a gradient with that story holds something."""
    return re.search("w[^z]*$", story) is not None


def right(events: Events) -> str | None:
    """By regular expressions on the story of each gradient."""
    told = stories(events)
    stepped, written = are("s", told), are("w", told)
    if written - stepped and stepped - written:
        return "layer-replaced-after-optimizer"
    if steps_on_nothing(events):
        return "zeroed-before-step"
    if are(WRITTEN_TWICE_AROUND_A_CLEAR, told):
        return "zeroed-inside-window"
    sums, cleared = are(SUM, told), are(CLEARED_BETWEEN_STEPS, told)
    if sums & cleared:
        return "zeroed-once-per-epoch"
    others = [set(event["names"]) for event in events if event["kind"] == "step" and sums.isdisjoint(event["names"])]
    if sums and any(names <= cleared for names in others):
        return "one-of-two-optimizers-zeroed"
    if sums and not cleared:
        return "never-zeroed"
    if are(OLD_ALONE, told):
        return "stepped-on-used-gradients"
    if clips_of_old(events):
        return "clipped-after-step"
    return None


def steps_on_nothing(events: Events) -> list[int]:
    """The places of steps that use nothing of what was written for them."""
    found = []
    for at, event in enumerate(events):
        if event["kind"] == "step":
            told = {name: stories(events[:at]).get(name, "") for name in event["names"]}
            if not any(map(holds, told.values())) and are(THROWN_AWAY, told):
                found.append(at)
    return found


def clips_of_old(events: Events) -> list[int]:
    """The places of clips whose gradients a step has used, all that hold anything."""
    found = []
    for at, event in enumerate(events):
        if event["kind"] == "clip":
            told = {name: stories(events[:at]).get(name, "") for name in event["names"]}
            full = {name: story for name, story in told.items() if holds(story)}
            if full and are(HOLDS_OLD_ALONE, full) == set(full):
                found.append(at)
    return found


ANSWERS = Answers(right)
