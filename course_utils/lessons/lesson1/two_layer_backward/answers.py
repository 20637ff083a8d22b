"""What is right in exercise 1.5."""

from __future__ import annotations

import torch

from course_utils.checks.answers import Answers, nothing_used
from course_utils.lessons.lesson1.two_layer_backward.mistakes import used_autograd
from course_utils.lessons.lesson1.two_layer_backward.task import AUTOGRAD, PARAMETERS

_STEP = 1e-30


def right(
    W1: torch.Tensor, b1: torch.Tensor, W2: torch.Tensor, b2: torch.Tensor, x: torch.Tensor, y: torch.Tensor
) -> dict[str, torch.Tensor]:
    """By complex steps, exact to rounding: the slope of a real f at a is Im f(a + ih) / h for a tiny h."""
    values = dict(zip(PARAMETERS, (W1, b1, W2, b2), strict=True))
    wide = {name: value.detach().to(torch.complex128) for name, value in values.items()}
    x, y = x.detach().to(torch.complex128), y.detach().to(torch.complex128)

    def slope(name: str, unit: torch.Tensor) -> torch.Tensor:
        at = {**wide, name: wide[name] + _STEP * 1j * unit.reshape(wide[name].shape)}
        hidden = torch.tanh(x @ at["W1"] + at["b1"])
        return ((hidden @ at["W2"] + at["b2"] - y) ** 2).mean().imag / _STEP

    found = {}
    for name, value in values.items():
        units = torch.eye(value.numel(), dtype=torch.float64, device=value.device)
        found[name] = torch.stack([slope(name, unit) for unit in units]).reshape(value.shape).to(value.dtype)
    return found


ANSWERS = Answers(right, rules=nothing_used(AUTOGRAD, used_autograd))
