"""Data sets frozen into the package: lessons train without a download. `NOTICE.md` names their licences."""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple

import numpy
import torch

TRAINED_ON = 1500
"""So many of the digits, the first ones, are for training; the rest for testing."""


class Digits(NamedTuple):
    """Handwritten digits: rows of 64 grey values from 0 to 1, float32, and which digit each row shows."""

    x: torch.Tensor
    y: torch.Tensor
    x_test: torch.Tensor
    y_test: torch.Tensor


def digits() -> Digits:
    """1797 handwritten digits, 8 by 8 pixels each: `x (1500, 64)`, `y (1500,)`, and 297 more for testing."""
    with resources.files(__name__).joinpath("digits.npz").open("rb") as file, numpy.load(file) as stored:
        x = torch.from_numpy(stored["images"]).flatten(1).float() / 16
        y = torch.from_numpy(stored["labels"]).long()
    return Digits(x[:TRAINED_ON], y[:TRAINED_ON], x[TRAINED_ON:], y[TRAINED_ON:])


def paragraphs() -> list[str]:
    """360 paragraphs and headings of the Python manual, 8 to 400 ASCII characters each, in a shuffled order."""
    text = resources.files(__name__).joinpath("paragraphs.txt").read_text(encoding="ascii")
    return text.splitlines()
