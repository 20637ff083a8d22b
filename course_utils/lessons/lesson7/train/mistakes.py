"""What is often done instead in exercise 7.7."""

from __future__ import annotations

import torch

from course_utils.checks.mistakes import mistake


@mistake(
    "A title: the effect in a few words",
    "What the code does, and what that does to the numbers.",
    "What to look at or write next, short of the answer.",
    "Why it is easy to believe.",
)
def handed_back_as_it_was(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
