"""The data of lesson 1: 24 made-up deliveries by bicycle."""

from __future__ import annotations

import torch


def deliveries() -> tuple[torch.Tensor, torch.Tensor]:
    """Distances in kilometres and times in minutes, `(24,)` each, float64: 4 minutes a kilometre, 6 more, and chance."""
    generator = torch.Generator().manual_seed(0)
    km = 3 * torch.rand(24, generator=generator, dtype=torch.float64)
    minutes = 4 * km + 6 + torch.randn(24, generator=generator, dtype=torch.float64)
    return km, minutes
