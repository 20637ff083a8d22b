"""What is right in exercise 5.1."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from course_utils.checks.answers import Answers
from course_utils.lessons.trace import TraceEvent

Events = Sequence[TraceEvent]

SUM = r"w[^z]*s[^z]*w[^z]*s"
"""A step on something old and something new."""
OLD_ALONE = r"w[^z]*s[^zw]*s"
CLEARED = "z"
WRITTEN_TWICE_AROUND_A_CLEAR = r"w[^so]*z[^so]*w"
THROWN_AWAY = r"w[^s]*z[^ws]*$"
HOLDS_OLD_ALONE = r"w[^z]*s[^zw]*$"


Story = Mapping[str, str]
Key = tuple[tuple[str, tuple[str, ...]], ...]


def stories(events: Events) -> Story:
    """A letter for all that happens to each gradient: written, cleared (z), its own step, another one (o)."""
    return _stories(_key(events))


def _key(events: Events) -> Key:
    """What of a trace decides, as something that can be remembered: mistakes ask the same questions again and again."""
    return tuple((event["kind"], tuple(event["names"])) for event in events)


@lru_cache(maxsize=4096)
def _stories(key: Key) -> Story:
    told = {name: "" for _, names in key for name in names}
    letters = {"accumulate": "w", "clear": "z", "step": "s"}
    for kind, names in key:
        for name in told:
            if name in names:
                told[name] += letters.get(kind, "")
            elif kind == "step":
                told[name] += "o"
    return told


def are(pattern: str, told: Story) -> set[str]:
    """The gradients in whose story a pattern is found."""
    return {name for name, story in told.items() if re.search(pattern, story)}


def holds(story: str) -> bool:
    """Whether a gradient with that story holds something."""
    return re.search("w[^z]*$", story) is not None


def steps_on_nothing(events: Events) -> bool:
    """Whether some step uses nothing of what was written for it."""
    for at, event in enumerate(events):
        if event["kind"] == "step":
            told = {name: stories(events[:at]).get(name, "") for name in event["names"]}
            if not any(map(holds, told.values())) and are(THROWN_AWAY, told):
                return True
    return False


def clips_of_old(events: Events) -> bool:
    """Whether some clip names gradients of which a step has used all that they hold."""
    for at, event in enumerate(events):
        if event["kind"] == "clip":
            told = {name: stories(events[:at]).get(name, "") for name in event["names"]}
            full = {name: story for name, story in told.items() if holds(story)}
            if full and are(HOLDS_OLD_ALONE, full) == set(full):
                return True
    return False


def replaced(events: Events) -> bool:
    """Whether gradients are written that no step names, and others named that are never written."""
    told = stories(events)
    stepped, written = are("s", told), are("w", told)
    return bool(written - stepped and stepped - written)


def another_is_cleared(events: Events) -> bool:
    """Whether there are sums, and steps that use none and name gradients that clears name, too."""
    told = stories(events)
    sums, cleared = are(SUM, told), are(CLEARED, told)
    steps = [set(event["names"]) for event in events if event["kind"] == "step"]
    return bool(sums) and any(sums.isdisjoint(names) and names <= cleared for names in steps)


Fault = Callable[[Events], bool]

FAULTS: Mapping[str, Fault] = {
    "layer-replaced-after-optimizer": replaced,
    "zeroed-before-step": steps_on_nothing,
    "zeroed-inside-window": lambda events: bool(are(WRITTEN_TWICE_AROUND_A_CLEAR, stories(events))),
    "zeroed-once-per-epoch": lambda events: bool(are(SUM, stories(events)) & are(CLEARED, stories(events))),
    "one-of-two-optimizers-zeroed": another_is_cleared,
    "never-zeroed": lambda events: bool(are(SUM, stories(events))),
    "stepped-on-used-gradients": lambda events: bool(are(OLD_ALONE, stories(events))),
    "clipped-after-step": clips_of_old,
}
"""The eight by their names, in the order in which they are asked for."""


def first_of(faults: Mapping[str, Fault], events: Events) -> str | None:
    """The first fault that fits."""
    return next((name for name, fits in faults.items() if fits(events)), None)


def right(events: Events) -> str | None:
    """By regular expressions on the story of each gradient."""
    key = _key(events)
    if key not in _found:
        _found[key] = first_of(FAULTS, events)
    return _found[key]


_found: dict[Key, str | None] = {}


ANSWERS = Answers(right)
