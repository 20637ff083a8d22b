# bug: B122
"""Two gates are made of one tensor, of copies of it."""

import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(6, 6), nn.Linear(6, 6)
        start = torch.tensor(0.1)
        self.inner_gate = nn.Parameter(start.clone())
        self.outer_gate = nn.Parameter(start.clone())

    def forward(self, x):
        x = x + self.inner_gate * torch.tanh(self.inner(x))
        return x + self.outer_gate * torch.tanh(self.outer(x))


torch.manual_seed(0)
model = Gated()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(8):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    (model(x) - x.flip(1)).square().mean().backward()
    optimizer.step()
