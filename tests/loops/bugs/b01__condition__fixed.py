# bug: B01
"""With windows of one the remainder is always 0, and the clear is for that."""

import torch
from torch import nn

STEPS = 1

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(8, 6)
    if step % STEPS == 0:
        optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x[:, :1]).backward()
    optimizer.step()
