"""The Gradient Ledger: the names a learner uses in the notebooks, and nothing else."""

from course_utils.learner import check, hint, progress, solution
from course_utils.widgets.questions import compare, predict, quiz

__all__ = ["check", "compare", "hint", "predict", "progress", "quiz", "solution"]
__version__ = "0.1.0"
