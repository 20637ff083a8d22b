# bug: B140
# id: backward-after-step
"""A sparsity term that has a backward of its own, in a method called too late."""

import torch
import torch.nn.functional as F
from torch import nn


class Sparse:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def regularise(self, weight=1e-3):
        term = sum(p.abs().sum() for p in self.model.parameters())
        (weight * term).backward()  # <-- bug

    def step(self, x, y):
        self.model.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.regularise()  # <-- bug
        return loss.item()


torch.manual_seed(4)
sparse = Sparse(nn.Sequential(nn.Linear(9, 20), nn.ReLU(), nn.Linear(20, 3)))
for _ in range(20):
    x = torch.randn(16, 9)
    sparse.step(x, x[:, :3].argmax(1))
