"""What is right in exercise 1.6."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from course_utils.checks.answers import Answers
from course_utils.lessons.lesson1.find_cuts.task import Station


def right(stations: Sequence[Station], x: torch.Tensor) -> list[int]:
    """By torch's own judge of derivative rules, with a move and a tolerance that float32 can bear."""
    found = []
    h = x.detach()
    for position, station in enumerate(stations):
        leaf = h.clone().requires_grad_()
        whole = torch.autograd.gradcheck(
            lambda at, station=station: station(at).sum(), leaf, eps=1e-3, atol=0.05, rtol=1e-3, raise_exception=False
        )
        if not whole:
            found.append(position)
        h = station(h).detach()
    return found


ANSWERS = Answers(right)
