"""What an experiment measured, as it is printed and as the choice of a question: one short call in the notebook."""

from __future__ import annotations

import math

import torch

TRUE_OR_FALSE = {"a": "true", "b": "false"}
"""The choices of a statement that an experiment settles."""


def closest(measured: float, **choices: float) -> str:
    """The key of the number nearest to `measured`, by ratio where all have one sign, else by distance.

    `closest(101.3, a=10, b=100, c=10_000)` is `"b"`. Tensors with one entry count as numbers. Raises `ValueError`
    when there is no choice, or `measured` is no finite number.
    """
    value = float(measured)
    if not choices or not math.isfinite(value):
        raise ValueError(f"nothing is closest to {value} among {len(choices)} choices")
    numbers = {key: float(number) for key, number in choices.items()}
    if all(number * value > 0 for number in numbers.values()):
        return min(numbers, key=lambda key: abs(math.log(numbers[key] / value)))
    return min(numbers, key=lambda key: abs(numbers[key] - value))


def true_or_false(holds: object) -> str:
    """The key of `TRUE_OR_FALSE` that says whether something held."""
    return "a" if holds else "b"


def sig(value: object) -> str:
    """A number, or a tensor or list of them, to four significant digits."""
    if isinstance(value, torch.Tensor):
        value = value.detach().tolist()
    if isinstance(value, list):
        return "[" + ", ".join(map(sig, value)) + "]"
    return f"{value:.4g}"
