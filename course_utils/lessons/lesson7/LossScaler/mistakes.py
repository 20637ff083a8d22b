"""What is often done instead in exercise 7.2."""

from __future__ import annotations

from typing import Any

import torch

from course_utils.checks.mistakes import mistake


@mistake(
    "A scaler of torch's own is at work",
    "The numbers are right, and a GradScaler of torch made them.",
    "Keep the scale, the count and what was found in attributes of your own.",
)
def scaler_of_torchs_own(init: float, growth: float, backoff: float, interval: int) -> Any:
    return torch.amp.GradScaler("cpu", init, growth, backoff, interval)
