# bug: B99
import torch
from torch import nn


class LoRA(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / 10)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
for p in model.parameters():
    p.requires_grad = False
model[0] = LoRA(model[0], 2)
model[2] = LoRA(model[2], 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(10):
    x, y = torch.randn(16, 8), torch.randint(4, (16,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
