# bug: B89
# id: penalty-without-graph
import torch
import torch.nn.functional as F
from torch import nn


def slope(u, x):
    return torch.autograd.grad(u.sum(), x, retain_graph=True)[0]  # <-- bug


class Advection(nn.Module):
    def __init__(self, speed, decay):
        super().__init__()
        self.speed, self.decay = speed, decay
        self.field = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, x, t):
        return self.field(torch.cat([x, t], dim=1))

    def residual(self, x, t):
        u = self.forward(x, t)
        return slope(u, t) + self.speed * slope(u, x) + self.decay * u


def train(model, steps=15):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        x, t = torch.rand(64, 1, requires_grad=True), torch.rand(64, 1, requires_grad=True)
        x0 = torch.rand(32, 1)
        inside = model.residual(x, t)
        start = F.mse_loss(model(x0, torch.zeros_like(x0)), torch.sin(x0))
        loss = F.mse_loss(inside, torch.zeros_like(inside)) + 5.0 * start
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
train(Advection(speed=1.0, decay=0.5))
