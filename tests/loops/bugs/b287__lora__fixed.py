# bug: B287
import math

import torch
from torch import nn

torch.manual_seed(0)


class LoRALinear(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.kaiming_uniform_(self.down.weight, a=math.sqrt(5))
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + 2.0 * self.up(self.down(x))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width).requires_grad_(False)
        self.first = LoRALinear(nn.Linear(width, 2 * width), 2)
        self.second = LoRALinear(nn.Linear(2 * width, width), 2)

    def forward(self, x):
        return x + self.second(torch.relu(self.first(self.norm(x))))


model = nn.Sequential(nn.Linear(8, 16).requires_grad_(False), Block(16), Block(16), nn.Linear(16, 3))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
x = torch.randn(96, 8)
y = x[:, :3].argmax(1)
for epoch in range(6):
    for rows in torch.randperm(96).split(16):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
