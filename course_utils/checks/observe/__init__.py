"""The half of a check that may run in the grader's sandbox: it knows no right answer.

Whatever the code does (an endless loop, an exception, a flood of output, a changed input, a switched-off grad mode)
ends as `Evidence`, with the kernel as it was.
"""

from __future__ import annotations

from course_utils.checks.observe.deadline import IMPORT_GRACE
from course_utils.checks.observe.ledger import LEDGER
from course_utils.checks.observe.raised import describe_exception
from course_utils.checks.observe.run import LIMIT, TIME_LIMIT, observe, observe_all
from course_utils.checks.observe.spies import AutogradSpy, CountCalls

__all__ = [
    "IMPORT_GRACE",
    "LEDGER",
    "LIMIT",
    "TIME_LIMIT",
    "AutogradSpy",
    "CountCalls",
    "describe_exception",
    "observe",
    "observe_all",
]
