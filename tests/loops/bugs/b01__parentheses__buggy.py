# bug: B01
# id: never-zeroed
"""A clear without its parentheses."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(12):
    x = torch.randn(8, 6)
    optimizer.zero_grad  # <-- bug
    nn.functional.mse_loss(model(x), x[:, :1]).backward()
    optimizer.step()
