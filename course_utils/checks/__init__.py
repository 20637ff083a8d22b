"""From a learner's object to a verdict: `observe` runs it and writes down what it did, `judge` says what that means.

`observe` may run in a sandbox. Whatever knows an answer is left out of it by one rule, `knows_an_answer`.
"""

from __future__ import annotations

from pathlib import Path, PurePath

ANSWER_KEEPERS = frozenset({"answers", "mistakes", "judge", "difference", "solutions"})
"""Files and folders of these names, whatever their ending, know what is right; so does `checks/diagnose`; no others."""


def knows_an_answer(path: PurePath) -> bool:
    """Whether a file of the course (its path relative to the clone or to the package) may tell what is right."""
    parts = [part.split(".")[0] for part in path.parts]
    # An exercise may be called diagnose: its folder stands under `lessons`.
    return not ANSWER_KEEPERS.isdisjoint(parts) or {"checks", "diagnose"} <= set(parts)


def answers_are_here() -> bool:
    """Whether this copy of the course can judge. A release for learners cannot, nor can the grader's sandbox."""
    # By the file, not by the import: an editable install of another copy answers for modules that are missing here.
    return (Path(__file__).parent / "judge").is_dir()
