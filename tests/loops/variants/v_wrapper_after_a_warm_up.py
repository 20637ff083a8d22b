# variant: plain steps first, by the optimizer inside; the wrapper that averages takes over later, and by a flag
import sys

import torch
from torch import nn


class Averaging:
    def __init__(self, inner):
        self.inner, self.count = inner, 0
        self.means = [p.detach().clone() for group in inner.param_groups for p in group["params"]]

    def zero_grad(self):
        self.inner.zero_grad()

    def step(self):
        self.inner.step()
        self.count += 1
        for mean, p in zip(self.means, (p for group in self.inner.param_groups for p in group["params"])):
            mean += (p.detach() - mean) / self.count


def train(model, optimizer, batches):
    for x in batches:
        optimizer.zero_grad()
        (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
        optimizer.step()


torch.manual_seed(0)
net = nn.Linear(5, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.05)
averaging = Averaging(sgd)
train(net, sgd, torch.randn(19, 8, 5))
train(net, averaging, torch.randn(10, 8, 5))

other = nn.Linear(5, 1)
adam = torch.optim.Adam(other.parameters(), lr=1e-2)
optional = Averaging(adam)
train(other, optional if "--average" in sys.argv else adam, torch.randn(20, 8, 5))

third = nn.Linear(5, 1)
ways = {"plain": torch.optim.Adam(third.parameters(), lr=1e-2)}
around = ways["averaged"] = Averaging(ways["plain"])
chosen = ways["plain"]
if "--average" in sys.argv:
    chosen = around
train(third, chosen, torch.randn(20, 8, 5))
