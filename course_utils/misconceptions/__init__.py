"""The catalogue of misconceptions: id, title, what happens, why, how to mend it, where it is taught.

An id reads like its name (`zeroed-before-step`). The catalogue is one flat namespace; the
entries stand in one module a lesson, plus `general` for mistakes any exercise can meet.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from course_utils.misconceptions.entry import Misconception

__all__ = ["Misconception", "catalogue", "misconception"]


@cache
def catalogue() -> dict[str, Misconception]:
    """Every entry by id. Raises `ValueError` when two modules use one id."""
    entries: dict[str, Misconception] = {}
    for module in sorted(info.name for info in iter_modules(__path__) if info.name != "entry"):
        for item in import_module(f"{__name__}.{module}").MISCONCEPTIONS:
            if item.id in entries:
                raise ValueError(f"the misconception id {item.id!r} is used twice")
            entries[item.id] = item
    return entries


def misconception(identifier: str) -> Misconception:
    """The entry of that id. Raises `KeyError` naming the id when there is none."""
    return catalogue()[identifier]
