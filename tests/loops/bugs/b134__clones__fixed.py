# bug: B134
import math

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
meta = torch.optim.Adam(model.parameters(), lr=1e-3)
error = nn.MSELoss()


def adapt(x, y, steps=2, rate=0.05):
    fast = {name: p.clone() for name, p in model.named_parameters()}
    for _ in range(steps):
        loss = error(functional_call(model, fast, x), y)
        slopes = torch.autograd.grad(loss, list(fast.values()))
        fast = {name: weight - rate * slope for (name, weight), slope in zip(fast.items(), slopes)}
    return fast


for _ in range(8):
    meta.zero_grad()
    for _ in range(3):
        x, phase = torch.rand(12, 1) * 6 - 3, torch.rand(()) * math.pi
        y = torch.sin(x + phase)
        fast = adapt(x[:6], y[:6])
        error(functional_call(model, fast, x[6:]), y[6:]).backward()
    meta.step()
