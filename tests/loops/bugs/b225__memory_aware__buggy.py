# bug: B225
# id: compared-with-itself
"""Memory-aware weights: what mattered to the first task is held where it was, from the second task on."""

import torch
from torch import nn

torch.manual_seed(3)
STRENGTH = 4.0


class Continual:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        self.old, self.weight = {}, {}

    def penalty(self):
        total = torch.zeros(())
        for name, p in self.model.named_parameters():
            if name in self.old:
                total = total + (self.weight[name] * (p - self.old[name]).pow(2)).sum()
        return STRENGTH * total

    def step(self, inputs, labels):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(inputs), labels) + self.penalty()
        loss.backward()
        self.optimizer.step()

    def finish_task(self, inputs):
        self.model.zero_grad()
        self.model(inputs).pow(2).sum(1).mean().backward()
        self.weight = {name: p.grad.abs() for name, p in self.model.named_parameters()}
        self.old = {name: p.data for name, p in self.model.named_parameters()}  # <-- bug
        self.model.zero_grad()


learner = Continual(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3)))
inputs = torch.randn(48, 6)
for columns in (slice(0, 3), slice(3, 6)):
    labels = inputs[:, columns].argmax(1)
    for _ in range(10):
        learner.step(inputs, labels)
    learner.finish_task(inputs)
