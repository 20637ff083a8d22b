# bug: B01
# id: never-zeroed
"""The gradients of the first group are cleared, and the optimizer has two."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 1))
matrices = [p for p in model.parameters() if p.ndim > 1]
vectors = [p for p in model.parameters() if p.ndim < 2]
groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=1e-3)
for _ in range(12):
    x = torch.randn(8, 6)
    nn.functional.mse_loss(model(x), x[:, :1]).backward()
    optimizer.step()
    for p in optimizer.param_groups[0]["params"]:
        p.grad = None  # <-- bug
