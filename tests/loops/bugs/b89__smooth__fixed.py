# bug: B89
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def train_step(x, y, weight=0.1):
    x = x.clone().requires_grad_(True)
    task = F.cross_entropy(model(x), y)
    slope = torch.autograd.grad(task, x, create_graph=True)[0]
    penalty = slope.pow(2).sum(dim=1).mean()
    total = task + weight * penalty
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    return float(total)


for _ in range(12):
    train_step(torch.randn(16, 6), torch.randint(3, (16,)))
