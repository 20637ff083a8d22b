"""LBFGS with a closure that clears, computes and returns the loss, called several times in each step."""

import torch
from torch import nn

torch.manual_seed(0)
inputs, targets = torch.randn(32, 6), torch.randn(32, 2)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.3, max_iter=4)


def closure() -> torch.Tensor:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    return loss


for _ in range(6):
    optimizer.step(closure)
