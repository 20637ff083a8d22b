"""The version of the course, which decides the marks, too."""

from __future__ import annotations

import importlib.metadata


def version() -> str:
    """The version of the distribution that is installed; `unknown` where none is."""
    try:
        return importlib.metadata.version("gradient-ledger")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
