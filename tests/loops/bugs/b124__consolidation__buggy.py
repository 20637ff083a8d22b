# bug: B124
# id: compared-with-itself
"""Elastic weight consolidation: the second task may not move what mattered to the first."""

import torch
from torch import nn


def task(model, inputs, labels, steps, penalty=None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(inputs), labels)
        if penalty is not None:
            loss = loss + penalty(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Consolidation:
    def __init__(self, model, strength):
        self.strength = strength
        self.before = {name: p for name, p in model.named_parameters() if p.requires_grad}  # <-- bug

    def __call__(self, model):
        drift = sum(((p - self.before[name]) ** 2).sum() for name, p in model.named_parameters())
        return self.strength * drift


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3))
inputs = torch.randn(48, 6)
task(model, inputs, inputs[:, :3].argmax(1), 12)
task(model, inputs, inputs[:, 3:].argmax(1), 12, Consolidation(model, 0.5))
