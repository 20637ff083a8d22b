"""What the code did on its way: what PyTorch itself said of it, and values of the caller's that it changed."""

from __future__ import annotations

from collections.abc import Sequence

from course_utils.checks.diagnose.run import Run, joined, on_all
from course_utils.checks.effects import NON_LEAF
from course_utils.exercise import Exercise

_VALUES = ("input", "parameters")
"""Aspects that are values which results depend on."""
_QUIET = ("DeprecationWarning", "lazyInitCUDA")
_SAID = {
    NON_LEAF: (
        "PyTorch warned: `.grad` was read of a tensor that is no leaf (an operation made it). backward fills `.grad` "
        "of leaves alone, so it is None there."
    ),
    "Using a target size": (
        "PyTorch warned: prediction and target have different shapes, so the loss stretched one to fit the other."
    ),
    "To copy construct from a tensor": "",
    "Converting a tensor with requires_grad=True to a scalar": "",
}
"""PyTorch's own warnings, by how they begin, in the words of the course; those that tell nothing are left out."""


def warnings(exercise: Exercise, group: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """Warnings that came on every failing case and on none where all is right."""
    said = []
    passing = [run for run in runs if run.given.status == "returned" and not run.differences]
    for text in group[0].given.warned:
        start = text[:40]
        if not all(any(other.startswith(start) for other in run.given.warned) for run in group):
            continue
        if any(other.startswith(start) for run in passing for other in run.given.warned):
            continue
        known = next((words for begins, words in _SAID.items() if text.startswith(begins)), None)
        if known is None and not any(word in text for word in _QUIET):
            known = f"PyTorch warned: {text.split(chr(10))[0][:140]}"
        if known:
            said.append(known)
    return said


def changed(group: Sequence[Run]) -> list[str]:
    """Values of the caller's that the code changed on its way, where numbers are wrong too."""
    if not on_all(group, lambda run: run.comparable):
        return []
    common = set.intersection(*({one.what for one in run.given.changes if one.aspect in _VALUES} for run in group))
    names = [one.what for one in group[0].given.changes if one.what in common and one.aspect in _VALUES]
    if not names:
        return []
    shown = [f"`{name}`" for name in dict.fromkeys(names)]
    them = "it" if len(shown) == 1 else "them"
    return [
        f"The values of {joined(shown)} were changed during the call: what is computed from {them} after that is of "
        "other values than those that were passed in."
    ]
