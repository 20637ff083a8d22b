# variant: the learner keeps its last inner gradient, and nobody reads it: the query's gradient is autograd.grad's own
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 3))
outer = torch.optim.SGD(model.parameters(), lr=0.1)
for episode in range(8):
    outer.zero_grad()
    for way in range(2):
        prototypes = torch.randn(3, 4)
        labels = torch.arange(3).repeat(8)
        x = prototypes[labels] + 0.2 * torch.randn(24, 4)
        learner = copy.deepcopy(model)
        inner = torch.optim.SGD(learner.parameters(), lr=0.05)
        inner.zero_grad()
        F.cross_entropy(learner(x[:12]), labels[:12]).backward()
        inner.step()
        query = F.cross_entropy(learner(x[12:]), labels[12:])
        for p, g in zip(model.parameters(), torch.autograd.grad(query, list(learner.parameters()))):
            p.grad = g / 2 if p.grad is None else p.grad + g / 2
    outer.step()

print(f"{query.item():.4f}")
