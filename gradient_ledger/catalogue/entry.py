"""One entry of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Misconception:
    """A mistake with a name: one or two plain sentences for each question a learner has about it."""

    id: str
    title: str
    happens: str
    """What the code does, and what that does to the numbers."""
    mend: str
    """What to look at or write next, short of the answer."""
    why: str = ""
    """Why it is easy to believe, or why PyTorch behaves so."""
    taught: str = ""
    """The lesson section or exercise where this is settled, e.g. `"1.3"`; empty for general ones."""
    shadows: tuple[str, ...] = ()
    """Findings that are only the shadow of this one: where it is found, they are not said."""
    about_value: bool = True
    """Whether it says that a gradient was wrong. If not, it stands even where numbers show that every one was right."""
    without_steps: bool = False
    """Whether it can be told where steps ran inside compiled code, unseen: by torch's own words, say."""
    by_numbers: bool = False
    """Whether numbers alone show it: where events name a cause, it is that cause's evidence and not said beside it."""
