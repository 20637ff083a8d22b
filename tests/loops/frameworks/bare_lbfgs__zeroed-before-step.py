# id: zeroed-before-step
"""The closure clears after backward: LBFGS is handed gradients of zero."""

import torch
from torch import nn

torch.manual_seed(0)
inputs, targets = torch.randn(32, 6), torch.randn(32, 2)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.3, max_iter=4)


def closure() -> torch.Tensor:
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.zero_grad()  # <-- bug
    return loss


for _ in range(6):
    optimizer.step(closure)
