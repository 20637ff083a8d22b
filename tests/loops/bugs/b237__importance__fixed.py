# bug: B237
"""Synaptic intelligence: how much has each weight done for the loss, on the way it went?"""

import torch
from torch import nn


class Learner:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.work = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
        self.old = {n: p.detach().clone() for n, p in model.named_parameters()}

    def measure(self):
        for n, p in self.model.named_parameters():
            if p.grad is not None:
                self.work[n].add_(-p.grad * (p.detach() - self.old[n]))
            self.old[n] = p.detach().clone()

    def step(self, x, y):
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.measure()
        self.optimizer.zero_grad()


torch.manual_seed(0)
learner = Learner(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)))
for _ in range(20):
    x = torch.randn(16, 6)
    learner.step(x, x[:, :3].argmax(1))
print({n: w.abs().sum().item() for n, w in learner.work.items()})
