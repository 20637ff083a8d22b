"""The gradient ledger: every gradient event of a training loop, written down; and the mistakes it finds in them.

    with GradientLedger() as ledger:
        train()
    print(ledger)            # the findings, each with its line, its numbers and its remedy
    ledger.plot()            # the windows as a picture

It works on any PyTorch program and knows no lesson. It never changes training: parameters, losses and random
numbers are bit-identical with it on and off.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradient_ledger.events import Event, Finding, Log, Place
    from gradient_ledger.ledger import GradientLedger

__all__ = ["Event", "Finding", "GradientLedger", "Log", "Place"]


def __getattr__(name: str) -> Any:
    # On first use: the command and the pytest plugin must not import torch before the user's code does.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'ledger' if name == 'GradientLedger' else 'events'}"), name)
