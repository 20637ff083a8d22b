# variant: losses are summed from a number, from zeros, and from what another function began
import torch
import torch.nn.functional as F
from torch import nn


def regularise(model, weight):
    total = torch.zeros(())
    for p in model.parameters():
        total = total + weight * p.pow(2).sum()
    return total


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(12):
    loss = 0
    for _ in range(2):
        x, y = torch.randn(8, 6), torch.randint(3, (8,))
        loss = loss + F.cross_entropy(model(x), y) / 2
    extra = torch.tensor(0.0)
    extra = extra + regularise(model, 1e-3)
    loss += extra
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
