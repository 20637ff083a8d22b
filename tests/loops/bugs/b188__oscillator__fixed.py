# bug: B188
import torch
from torch import nn


class Oscillator(nn.Module):
    def __init__(self):
        super().__init__()
        self.path = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
        self.mass = nn.Parameter(torch.ones(1))

    def law(self, t):
        y = self.path(t)
        dy = torch.autograd.grad(y.sum(), t, create_graph=True)[0]
        acceleration = torch.autograd.grad(dy.sum(), t, create_graph=True)[0]
        force = self.mass * acceleration
        return force + 4 * y


torch.manual_seed(0)
model = Oscillator()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(20):
    t = torch.rand(32, 1, requires_grad=True)
    seen = torch.rand(8, 1)
    residual = model.law(t)
    loss = criterion(model.path(seen), torch.cos(2 * seen)) + criterion(residual, torch.zeros_like(residual))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
