# bug: B57
import torch
from torch import nn


def soften(module, factor):
    for p in module.parameters():
        p.register_hook(lambda g: g * factor)


def epoch(model, optimizer):
    for _ in range(6):
        x, y = torch.randn(16, 6), torch.randint(3, (16,))
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
soften(model[0], 0.5)
for _ in range(4):
    epoch(model, optimizer)
