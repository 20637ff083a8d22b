# bug: B59
"""A hook divides what each micro-batch brings."""

import torch
from torch import nn

STEPS = 4


def averaged(gradient):
    return gradient / STEPS


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for parameter in model.parameters():
    parameter.register_hook(averaged)
for step in range(24):
    x = torch.randn(8, 6)
    nn.functional.mse_loss(model(x), x[:, :1]).backward()
    if (step + 1) % STEPS == 0:
        optimizer.step()
        optimizer.zero_grad()
