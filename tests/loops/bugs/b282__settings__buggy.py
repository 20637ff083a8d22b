# bug: B282
# id: loss-weight-not-read
"""The settings of a variational autoencoder say what its divergence weighs, and the sum does not."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    rate: float = 1e-3
    lambda_kl: float = 0.01


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 8), nn.Linear(4, 8)

    def forward(self, x):
        mean, spread = self.inner(x).chunk(2, dim=1)
        code = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        return self.outer(code), mean, spread


def objective(x, made, mean, spread):
    reconstruction = (made - x).square().mean()
    kl = -0.5 * (1 + spread - mean.square() - spread.exp()).mean()
    return reconstruction + kl  # <-- bug


settings = Settings()
torch.manual_seed(0)
model = Coder()
optimizer = torch.optim.Adam(model.parameters(), lr=settings.rate)
for _ in range(10):
    x = torch.randn(16, 8)
    optimizer.zero_grad()
    loss = objective(x, *model(x))
    loss.backward()
    optimizer.step()
