# bug: B85
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def climb(parameters, rho=0.05):
    """Walk uphill by rho, and say how far each weight went."""
    gone = []
    with torch.no_grad():
        for p in parameters:
            step = rho * p.grad / (p.grad.norm() + 1e-12)
            p.add_(step)
            gone.append(step)
    return gone


def come_back(parameters, gone):
    with torch.no_grad():
        for p, step in zip(parameters, gone):
            p.sub_(step)


for _ in range(12):
    x = torch.randn(16, 6)
    y = (x.sum(1) > 0).long()
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    gone = climb(model.parameters())
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    come_back(model.parameters(), gone)
    optimizer.step()
