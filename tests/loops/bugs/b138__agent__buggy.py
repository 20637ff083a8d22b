# bug: B138
# id: one-of-two-optimizers-zeroed
"""Two critics of one agent, updated one after the other."""

import torch
import torch.nn.functional as F
from torch import nn


class Twin:
    def __init__(self):
        self.q1, self.q2 = (nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1)) for _ in range(2))
        self.first = torch.optim.Adam(self.q1.parameters(), lr=3e-3)
        self.second = torch.optim.Adam(self.q2.parameters(), lr=3e-3)

    def update(self, observed, returns):
        loss = F.mse_loss(self.q1(observed), returns)
        self.first.zero_grad()
        loss.backward()
        self.first.step()

        loss = F.mse_loss(self.q2(observed), returns)
        self.first.zero_grad()  # <-- bug
        loss.backward()
        self.second.step()


torch.manual_seed(2)
agent = Twin()
for _ in range(25):
    observed = torch.randn(32, 5)
    agent.update(observed, observed.sum(1, keepdim=True).tanh())
