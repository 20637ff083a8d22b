# bug: B98
# id: stepped-without-gradients
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
meta = torch.optim.Adam(model.parameters(), lr=1e-3)  # <-- bug


def task():
    phase = 3 * torch.rand(1)
    x = 4 * torch.rand(10, 1) - 2
    return x, torch.sin(x + phase)


for _ in range(10):
    x, y = task()
    learner = copy.deepcopy(model)  # <-- bug
    inner = torch.optim.SGD(learner.parameters(), lr=0.05)
    for _ in range(2):
        inner.zero_grad()
        nn.functional.mse_loss(learner(x), y).backward()
        inner.step()
    inner.zero_grad()
    x, y = task()
    meta.zero_grad()
    nn.functional.mse_loss(learner(x), y).backward()  # <-- bug
    meta.step()  # <-- bug
