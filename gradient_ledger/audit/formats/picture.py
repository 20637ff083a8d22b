"""The timeline as a picture. It comes beside the report, not in its place: a format for a path, not for a stream."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gradient_ledger import picture
from gradient_ledger.audit.outcome import Outcome


def write(outcome: Outcome, path: Path) -> None:
    """Draw the picture and write it there. What hinders that is said on stderr and costs nothing else."""
    if outcome.log is None:
        return
    os.environ.setdefault("MPLBACKEND", "Agg")
    try:
        picture.present(outcome.log, outcome.findings, path=path)
    except ImportError as error:
        needed = f"it needs matplotlib ({error}): python -m pip install matplotlib"
        print(f"gradient-ledger: the picture {path} was not drawn; {needed}", file=sys.stderr)
    except OSError as error:
        print(f"gradient-ledger: the picture {path} could not be written: {error}", file=sys.stderr)
