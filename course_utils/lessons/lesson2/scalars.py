"""The scalar engine of section 8: numbers that remember what they were made of. The notebook prints this class."""

from __future__ import annotations

import math
from collections.abc import Iterable


class Value:
    """A number that remembers what it was made of.

    parents: a pair (operand, slope) for each operand; the slope says how
    fast this number moves when that operand moves.
    """

    def __init__(self, data: float, parents: Iterable[Edge] = ()) -> None:
        self.data = data
        self.parents = tuple(parents)
        self.grad = 0.0

    def __add__(self, other: Value) -> Value:
        return Value(self.data + other.data, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other: Value) -> Value:
        slopes = [(self, other.data), (other, self.data)]
        return Value(self.data * other.data, slopes)

    def tanh(self) -> Value:
        t = math.tanh(self.data)
        return Value(t, [(self, 1 - t * t)])


Edge = tuple[Value, float]
