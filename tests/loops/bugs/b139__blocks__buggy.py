# bug: B139
# id: trained-in-eval-mode
"""Blocks that leave their noisy branch out in eval mode, evaluated by a function that does not put them back."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner, self.branch, self.drop = nn.Linear(width, width), nn.Linear(width, width), nn.Dropout(0.2)

    def forward(self, x):
        out = torch.tanh(self.inner(x))
        return out + self.drop(self.branch(x)) if self.training else out + self.branch(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(8), Block(8))
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.blocks(x))


@torch.no_grad()
def accuracy(net, x, y):
    net.eval()  # <-- bug
    return (net(x).argmax(1) == y).float().mean().item()


torch.manual_seed(1)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x_val = torch.randn(40, 8)
net.train()
for epoch in range(4):
    for _ in range(6):
        x = torch.randn(16, 8)
        optimizer.zero_grad()
        F.cross_entropy(net(x), (x[:, 0] > 0).long()).backward()
        optimizer.step()
    print(epoch, accuracy(net, x_val, (x_val[:, 0] > 0).long()))
