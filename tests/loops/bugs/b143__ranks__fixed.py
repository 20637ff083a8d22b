# bug: B143
"""Data parallel in one process: the sum over the workers is to become their mean."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class Workers:
    def __init__(self, model, number, lr=0.05):
        self.models = [model, *(copy.deepcopy(model) for _ in range(number - 1))]
        self.optimizers = [torch.optim.SGD(m.parameters(), lr=lr) for m in self.models]

    def average_gradients(self):
        for same in zip(*(m.parameters() for m in self.models)):
            grads = [p.grad for p in same]
            total = torch.stack(grads).sum(0)
            for grad in grads:
                grad.copy_(total)
                grad.div_(len(self.models))

    def step(self, x, y):
        for model, xs, ys in zip(self.models, x.chunk(len(self.models)), y.chunk(len(self.models))):
            F.mse_loss(model(xs), ys).backward()
        self.average_gradients()
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()


torch.manual_seed(0)
workers = Workers(nn.Linear(5, 1), 2)
for _ in range(12):
    x = torch.randn(16, 5)
    workers.step(x, x.sum(1, keepdim=True))
