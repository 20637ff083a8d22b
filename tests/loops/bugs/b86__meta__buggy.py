# bug: B86
# id: gradient-overwritten
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
meta_optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
tasks_per_step = 4


def sine(amplitude, phase, n=10):
    x = torch.rand(n, 1) * 6 - 3
    return x, amplitude * torch.sin(x + phase)


for step in range(10):
    meta_optimizer.zero_grad()
    for _ in range(tasks_per_step):
        task = torch.rand(2) * torch.tensor([4.0, 3.0]) + 0.1
        learner = copy.deepcopy(model)
        inner = torch.optim.SGD(learner.parameters(), lr=0.02)
        for _ in range(2):
            x, y = sine(*task)
            inner.zero_grad()
            nn.functional.mse_loss(learner(x), y).backward()
            inner.step()
        x, y = sine(*task)
        grads = torch.autograd.grad(nn.functional.mse_loss(learner(x), y), learner.parameters())
        for p, g in zip(model.parameters(), grads):
            p.grad = g / tasks_per_step  # <-- bug
    meta_optimizer.step()
