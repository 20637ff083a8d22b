# bug: B214
# id: trained-in-eval-mode
"""Value learning with noisy layers: the size of the noise is learned, and in eval mode there is none."""

import math

import torch
from torch import nn


class NoisyLinear(nn.Module):
    def __init__(self, inputs, outputs, std=0.5):
        super().__init__()
        bound = 1 / math.sqrt(inputs)
        self.weight_mu = nn.Parameter(torch.empty(outputs, inputs).uniform_(-bound, bound))
        self.weight_sigma = nn.Parameter(torch.full((outputs, inputs), std * bound))
        self.register_buffer("noise", torch.randn(outputs, inputs))

    def forward(self, x):
        weight = self.weight_mu
        if self.training:
            weight = weight + self.weight_sigma * self.noise
        return nn.functional.linear(x, weight)


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU())
        self.head = NoisyLinear(32, 3)

    def forward(self, x):
        return self.head(self.body(x))


torch.manual_seed(0)
net = QNetwork()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
net.train()
for step in range(60):
    net.head.noise.normal_()
    seen, reward = torch.randn(32, 4), torch.randn(32, 1)
    action = torch.randint(0, 3, (32, 1))
    loss = nn.functional.smooth_l1_loss(net(seen).gather(1, action), reward)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 14:
        net.eval()  # <-- bug
        with torch.no_grad():
            print(step, net(torch.eye(4)).amax(1).mean().item())
