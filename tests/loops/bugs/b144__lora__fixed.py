# bug: B144
import torch
import torch.nn.functional as F
from torch import nn


class LoRA(nn.Module):
    def __init__(self, inner, rank=2):
        super().__init__()
        self.inner = inner
        self.down = nn.Parameter(torch.randn(rank, inner.in_features) / inner.in_features)
        self.up = nn.Parameter(torch.zeros(inner.out_features, rank))

    def forward(self, x):
        return self.inner(x) + x @ self.down.T @ self.up.T


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 3))
for p in model.parameters():
    p.requires_grad = False
model[0], model[2] = LoRA(model[0]), LoRA(model[2])
model[4] = nn.Linear(24, 3)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for _ in range(15):
    x = torch.randn(32, 8)
    loss = F.cross_entropy(model(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
