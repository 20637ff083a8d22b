# bug: B93
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn


def sample_task(shots=8):
    phase, amplitude = torch.rand(()) * math.pi, 0.5 + torch.rand(()) * 2
    x = torch.rand(2 * shots, 1) * 8 - 4
    y = amplitude * torch.sin(x + phase)
    return (x[:shots], y[:shots]), (x[shots:], y[shots:])


def adapt(learner, support, lr=0.02, steps=2):
    x, y = support
    inner = torch.optim.SGD(learner.parameters(), lr=lr)
    for _ in range(steps):
        inner.zero_grad()
        F.mse_loss(learner(x), y).backward()
        inner.step()
    inner.zero_grad()
    return learner


def meta_step(model, meta_optimizer, tasks):
    sums = [torch.zeros_like(p) for p in model.parameters()]
    total = 0.0
    for support, (x, y) in tasks:
        learner = adapt(copy.deepcopy(model), support)
        query_loss = F.mse_loss(learner(x), y)
        query_loss.backward()
        for s, p in zip(sums, learner.parameters()):
            s += p.grad
        total += query_loss.item()
    for s, p in zip(sums, model.parameters()):
        p.grad = s / len(tasks)
    meta_optimizer.step()
    return total / len(tasks)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
meta_optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(8):
    loss = meta_step(model, meta_optimizer, [sample_task() for _ in range(3)])
print(f"{loss:.3f}")
