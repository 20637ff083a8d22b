# id: closure-without-zeroing
"""The closure does not clear: each call within a step adds to the gradients of the calls before."""

import torch
from torch import nn

torch.manual_seed(0)
inputs, targets = torch.randn(32, 6), torch.randn(32, 2)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.3, max_iter=4)


def closure() -> torch.Tensor:
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()  # <-- bug
    return loss


for _ in range(6):
    optimizer.step(closure)  # <-- bug
