# bug: B65
# id: non-finite-gradient-stepped
import math

import torch
from torch import nn


def missing_aware_mse(prediction, target):
    error = (prediction - target) ** 2
    return torch.where(target.isnan(), 0.0, error).mean()  # <-- bug


def main():
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for iteration in range(12):
        x = torch.randn(6, 5)
        target = torch.stack([x.sum(1), x.prod(1), x[:, 0]], 1)
        if iteration == 4:
            target[2, 1] = math.nan  # nobody measured it
        loss = missing_aware_mse(model(x), target)
        optimizer.zero_grad()
        loss.backward()  # <-- bug
        optimizer.step()  # <-- bug
        if not torch.isfinite(loss):
            print(f"iteration {iteration}: loss is {loss.item()}")


main()
