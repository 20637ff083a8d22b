# variant: the best model takes the place of the last one, and gets an optimizer of its own
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(64, 6), torch.randn(64, 1)
best, best_model = float("inf"), None
for epoch in range(30):
    loss = nn.functional.mse_loss(model(x), y + 0.5 * torch.randn(64, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < best:
        best, best_model = loss.item(), copy.deepcopy(model)
    if epoch % 10 == 9:
        model = copy.deepcopy(best_model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
