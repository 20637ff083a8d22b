"""The catalogue of mistakes of training loops: id, title, what happens, why, how to mend it, where it is taught.

An id reads like its name (`zeroed-before-step`). The mistakes of an exercise stand in its own `mistakes.py`.
"""

from __future__ import annotations

from functools import cache

from gradient_ledger.catalogue.entry import Misconception
from gradient_ledger.catalogue.loops import MISCONCEPTIONS

__all__ = ["Misconception", "catalogue", "misconception"]


@cache
def catalogue() -> dict[str, Misconception]:
    """Every entry by id. Raises `ValueError` when one id is used twice."""
    entries: dict[str, Misconception] = {}
    for item in MISCONCEPTIONS:
        if item.id in entries:
            raise ValueError(f"the misconception id {item.id!r} is used twice")
        entries[item.id] = item
    return entries


def misconception(identifier: str) -> Misconception:
    """The entry of that id. Raises `KeyError` naming the id when there is none."""
    return catalogue()[identifier]
