"""From a learner's object to a verdict: `observe` runs it and writes down what it did, `judge` says what that means.

`observe` may run in a sandbox. Whatever knows an answer is left out of it by one rule, `knows_an_answer`.
"""

from __future__ import annotations

from pathlib import PurePath

ANSWER_KEEPERS = frozenset({"answers", "mistakes", "judge", "diagnose", "difference", "solutions"})
"""Files and folders of these names, whatever their ending, know what is right; no others do."""


def knows_an_answer(path: PurePath) -> bool:
    """Whether a file of the course (its path relative to the clone or to the package) may tell what is right."""
    return any(part.split(".")[0] in ANSWER_KEEPERS for part in path.parts)
