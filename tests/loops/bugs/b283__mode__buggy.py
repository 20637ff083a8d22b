# bug: B283
# id: named-and-not-called
"""The mode is named before an evaluation, and not set."""

import torch
from torch import nn


def evaluate(model, x):
    model.eval  # <-- bug
    with torch.no_grad():
        print(model(x).mean().item())


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.2), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(12):
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x[:, :1]).backward()
    optimizer.step()
    evaluate(net, x)
