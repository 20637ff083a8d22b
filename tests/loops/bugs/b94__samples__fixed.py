# bug: B94
import torch
from torch import nn


class Accumulator:
    """Sums the gradients of micro-batches of any size, and steps on their mean over the samples."""

    def __init__(self, net, optimizer, every):
        self.net, self.optimizer, self.every = net, optimizer, every
        self.pending = self.samples = 0

    def feed(self, x, y):
        error = (self.net(x) - y).square().sum()
        error.backward()
        self.samples += len(x)
        self.pending += 1
        if self.pending == self.every:
            self.apply()
        return error.item() / len(x)

    def apply(self):
        torch._foreach_div_([p.grad for p in self.net.parameters()], self.samples)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.pending = self.samples = 0


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))
trainer = Accumulator(net, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), every=3)
batches = [torch.randn(size, 3) for size in (8, 6, 7) * 10]
history = [trainer.feed(x, x.sum(dim=1, keepdim=True)) for x in batches]
print(f"{history[0]:.3f} -> {history[-1]:.3f}")
