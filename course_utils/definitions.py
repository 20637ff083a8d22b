"""Which version of a function a check sees, when the cell that defines it did not run.

IPython tells after each cell whether it ran. A cell that does not compile leaves the function of the cell's last run
in place, and a check after it would speak of that one without a word.
"""

from __future__ import annotations

import re
import sys
from typing import Any

_DEFINED = re.compile(r"^\s*(?:def|class)\s+(\w+)", re.MULTILINE)
_failed: dict[str, str] = {}
"""{function: the exception} of each whose cell did not run to its end, the last time it was tried."""


def watch() -> None:
    """From now on, note which cells fail. Does nothing outside of IPython; a second call changes nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or after_cell in shell.events.callbacks.get("post_run_cell", ()):
        return
    shell.events.register("post_run_cell", after_cell)


def after_cell(result: Any) -> None:
    """What IPython calls after each cell, with its result."""
    text = getattr(getattr(result, "info", None), "raw_cell", None) or ""
    error = result.error_before_exec or result.error_in_exec
    for name in _DEFINED.findall(text):
        if error is None:
            _failed.pop(name, None)
        else:
            _failed[name] = type(error).__name__


def note(name: str) -> str:
    """What to know before reading a verdict on the function `name`; empty when it is the one in its cell."""
    error = _failed.get(name)
    if error is None:
        return ""
    return (
        f"the cell that defines `{name}` did not run to its end the last time ({error}), so what was checked is the "
        "version that ran before. Mend that cell first."
    )
