# bug: B251
# id: gradient-not-reversed
import math

import torch
import torch.nn.functional as F
from torch import nn


class ReverseLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        output = grad_output * ctx.alpha  # <-- bug
        return output, None


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(10, 24), nn.ReLU())
        self.labels, self.domains = nn.Linear(24, 3), nn.Linear(24, 2)

    def forward(self, x, alpha):
        x = self.features(x)
        return self.labels(x), self.domains(ReverseLayer.apply(x, alpha))


torch.manual_seed(0)
net = Network()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    alpha = 2 / (1 + math.exp(-10 * step / 20)) - 1
    source, target = torch.randn(16, 10), torch.randn(16, 10) + 0.5
    labels, here = net(source, alpha)
    _, there = net(target, alpha)
    loss = F.cross_entropy(labels, source[:, :3].argmax(1))
    loss = loss + F.cross_entropy(here, torch.zeros(16, dtype=torch.long))
    loss = loss + F.cross_entropy(there, torch.ones(16, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
