"""Numbers as short text, the same on every machine: what the explorers write on pictures and in tables."""

from __future__ import annotations

import math
from collections.abc import Sequence


def number(value: float, digits: int = 4) -> str:
    """`value` with `digits` significant digits; no negative zero, no trailing zeros.

    Rounding noise of float64 (below 1e-12) is written as 0, so that the text does not depend on
    the order in which a machine adds.
    """
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if abs(value) < 1e-12:
        return "0"
    return f"{value:.{digits}g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def vector(values: Sequence[float] | None, digits: int = 4) -> str:
    """One number as itself, several in square brackets, `None` as `None`."""
    if values is None:
        return "None"
    if len(values) == 1:
        return number(values[0], digits)
    return "[" + ", ".join(number(value, digits) for value in values) + "]"
