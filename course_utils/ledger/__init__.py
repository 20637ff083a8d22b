"""The gradient ledger: every gradient event of a training loop, written down; and the mistakes it finds in them.

    with GradientLedger() as ledger:
        train()
    print(ledger)            # the findings, each with its line, its numbers and its remedy
    ledger.plot()            # the windows as a picture

It works on any PyTorch program and knows no lesson. It never changes training: parameters, losses and random
numbers are bit-identical with it on and off.
"""

from __future__ import annotations

from course_utils.ledger.events import Event, Finding, Log, Place
from course_utils.ledger.ledger import GradientLedger

__all__ = ["Event", "Finding", "GradientLedger", "Log", "Place"]
