# bug: B160
# id: average-factors-off
"""An average with its own decay and its own step, set apart in the configuration."""

import copy

import torch
from torch import nn


class Averaged:
    def __init__(self, model, decay, step):
        self.model, self.decay, self.step = copy.deepcopy(model).requires_grad_(False), decay, step

    @torch.no_grad()
    def update(self, model):
        for kept, new in zip(self.model.parameters(), model.parameters()):
            kept.mul_(self.decay).add_(new, alpha=self.step)  # <-- bug


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 20), nn.Tanh(), nn.Linear(20, 1))
averaged = Averaged(model, decay=0.99, step=0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    x = torch.randn(32, 5)
    loss = (model(x) - x.prod(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    averaged.update(model)
    if step % 10 == 9:
        with torch.no_grad():
            print(step, loss.item(), averaged.model(x).abs().mean().item())
