"""What is right in exercise 4.3."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from course_utils.checks.answers import Answers


def right(events: Sequence[str]) -> bool:
    """A real parameter runs the events. The loss of each backward is an entry of its own, so that `.grad` tells which
    backwards are in it, and how often."""
    count = list(events).count("backward")
    weight = torch.nn.Parameter(torch.zeros(count))
    optimizer = torch.optim.SGD([weight], lr=1.0)  # each step takes .grad off the weight
    wanted = torch.zeros(count)
    done = 0
    for event in events:
        if event == "zero":
            optimizer.zero_grad()
        elif event == "backward":
            weight[done].backward()
            done += 1
        elif event == "step":
            optimizer.step()
            wanted[:done] = -1.0
            if not torch.equal(weight.detach(), wanted):
                return False
    return bool((weight == -1).all())


ANSWERS = Answers(right)
