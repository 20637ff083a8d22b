# bug: B141
# id: gradients-nobody-uses
"""Pretraining, then a second phase that goes on from the snapshot, by the optimizer of the first."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(7, 14), nn.Linear(14, 2)

    def forward(self, x):
        return self.head(self.body(x).relu())


class Trainer:
    def __init__(self):
        self.net = Encoder()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-2)

    def phase(self, steps, noise):
        for _ in range(steps):
            x = torch.randn(16, 7)
            self.optimizer.zero_grad()
            F.cross_entropy(self.net(x + noise * torch.randn(16, 7)), (x[:, 0] > 0).long()).backward()
            self.optimizer.step()

    def go_on_from(self, snapshot):
        self.net = snapshot  # <-- bug


torch.manual_seed(3)
trainer = Trainer()
trainer.phase(8, 0.0)
snapshot = copy.deepcopy(trainer.net)
trainer.phase(4, 2.0)
trainer.go_on_from(snapshot)
trainer.phase(8, 0.5)
