# bug: B137
"""A momentum of its own, whose buffer begins as the first gradient."""

import torch
from torch import nn


class Momentum:
    def __init__(self, parameters, lr, mu):
        self.parameters, self.lr, self.mu, self.buffers = list(parameters), lr, mu, {}

    def clear(self):
        for p in self.parameters:
            if p.grad is not None:
                p.grad.detach_()
                p.grad.zero_()

    @torch.no_grad()
    def update(self):
        for i, p in enumerate(self.parameters):
            g = p.grad.detach()
            first = i not in self.buffers
            v = self.buffers.setdefault(i, g.clone())
            if not first:
                v *= self.mu
                v += g
            p.sub_(v, alpha=self.lr)


torch.manual_seed(1)
net = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 2))
momentum = Momentum(net.parameters(), lr=0.05, mu=0.9)
for _ in range(24):
    x = torch.randn(12, 5)
    momentum.clear()
    nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long()).backward()
    momentum.update()
