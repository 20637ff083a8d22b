# bug: B259
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 6))
        self.predictor = nn.Linear(6, 6)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.optimizer = torch.optim.SGD([*self.online.parameters(), *self.predictor.parameters()], lr=0.05)

    @staticmethod
    def regression_loss(x, y):
        return 2 - 2 * (F.normalize(x, dim=1) * F.normalize(y, dim=1)).sum(-1)

    def loss_of(self, one, two):
        first = self.predictor(self.online(one))
        second = self.predictor(self.online(two))
        with torch.no_grad():
            wanted_first, wanted_second = self.target(two), self.target(one)
        loss = self.regression_loss(first, wanted_first)
        loss = loss + self.regression_loss(second, wanted_second)
        return loss.mean()

    def step(self, x):
        loss = self.loss_of(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for old, new in zip(self.target.parameters(), self.online.parameters()):
                old.lerp_(new, 0.02)


torch.manual_seed(0)
trainer = Trainer()
for _ in range(20):
    trainer.step(torch.randn(16, 10))
