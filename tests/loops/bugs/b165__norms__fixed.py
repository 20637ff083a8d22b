# bug: B165
"""The weights of the norms are in the group without decay."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.mix, self.out = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.out(torch.relu(self.mix(self.norm(x))))


torch.manual_seed(0)
model = nn.Sequential(Block(16), Block(16), Block(16), nn.Linear(16, 1))
decay = [p for p in model.parameters() if p.ndim > 1]
plain = [p for p in model.parameters() if p.ndim <= 1]
groups = [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=1e-3)
for _ in range(12):
    x = torch.randn(16, 16)
    model.zero_grad()
    (model(x) - x[:, :1]).square().mean().backward()
    optimizer.step()
