"""The Gradient Ledger: the names a learner uses in the notebooks, and nothing else."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_utils.learner import check, hint, progress, solution
    from course_utils.lessons.trace import trace
    from course_utils.widgets.questions import compare, predict, quiz
    from gradient_ledger import GradientLedger

__all__ = ["GradientLedger", "check", "compare", "hint", "predict", "progress", "quiz", "solution", "trace"]
__version__ = "0.1.0"

_QUESTIONS = ("compare", "predict", "quiz")


def __getattr__(name: str) -> Any:
    # On first use, so that `course doctor` runs where torch or Jupyter is missing or broken.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "GradientLedger":
        return import_module("gradient_ledger").GradientLedger
    if name == "trace":
        return import_module("course_utils.lessons.trace").trace
    module = "course_utils.widgets.questions" if name in _QUESTIONS else "course_utils.learner"
    return getattr(import_module(module), name)
