# bug: B122
# id: parameters-share-memory
"""A class token is a slice of the tensor that the positions are made of."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width=8, length=5):
        super().__init__()
        start = torch.randn(length + 1, width) * 0.02
        self.cls = nn.Parameter(start[:1])
        self.positions = nn.Parameter(start)  # <-- bug
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        whole = torch.cat([self.cls.expand(len(x), 1, -1), x], 1) + self.positions
        return self.mix(whole)[:, 0]


torch.manual_seed(0)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(8):
    x = torch.randn(16, 5, 8)
    optimizer.zero_grad()
    (model(x) - x.mean(1)).square().mean().backward()
    optimizer.step()
