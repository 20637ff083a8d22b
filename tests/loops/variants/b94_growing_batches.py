# variant: a curriculum of growing batches, 8, 12, 16, 20 … samples; each sum is divided by its own number of samples
import torch
from torch import nn


class Curriculum:
    def __init__(self, x, y, start=8, more=4):
        self.x, self.y, self.size, self.more = x, y, start, more

    def __iter__(self):
        at = 0
        while at + self.size <= len(self.x):
            yield self.x[at : at + self.size], self.y[at : at + self.size]
            at += self.size
            self.size += self.more


torch.manual_seed(0)
x = torch.randn(260, 5)
net = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for inputs, targets in Curriculum(x, x[:, :1].sin()):
    opt.zero_grad()
    nn.functional.mse_loss(net(inputs), targets, reduction="sum").backward()
    for p in net.parameters():
        p.grad /= len(inputs)
    opt.step()
