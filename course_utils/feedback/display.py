"""Show something with a plain and an HTML form, wherever the code runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Shown:
    """One thing to show: the same content as plain text and as HTML."""

    text: str
    html: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def show(shown: Shown) -> None:
    """Display in a notebook (text and HTML in one bundle); print in a terminal. Never writes to stderr."""
    if in_kernel():
        from IPython.display import display

        display({"text/plain": shown.text, "text/html": shown.html}, raw=True)
    else:
        print(shown.text)


def in_kernel() -> bool:
    """Whether a Jupyter kernel runs this code, so that a front end may receive HTML and widgets."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None
