# bug: B165
"""Gains and biases are no matrices, and the second group was lost."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(width), nn.Linear(width, 2 * width)
        self.outer = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.outer(F.gelu(self.inner(self.norm(x))))


class Model(nn.Module):
    def __init__(self, width=12, depth=2):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        return self.head(self.blocks(x))

    def optimizer(self, rate):
        named = {name: p for name, p in self.named_parameters() if p.requires_grad}
        matrices = [p for p in named.values() if p.dim() >= 2]
        vectors = [p for p in named.values() if p.dim() < 2]
        print(f"{len(matrices)} matrices, {len(vectors)} vectors")
        groups = [
            {"params": matrices, "weight_decay": 0.1},
            {"params": vectors, "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=rate)


torch.manual_seed(0)
model = Model()
optimizer = model.optimizer(3e-3)
for step in range(20):
    x = torch.randn(16, 12)
    loss = F.cross_entropy(model(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
print(f"{loss.item():.4f}")
