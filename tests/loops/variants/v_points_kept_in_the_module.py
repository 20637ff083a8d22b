# variant: a module keeps the points at which its equation is to hold; their gradients pile up and nobody wants them
import torch
from torch import nn


class Equation(nn.Module):
    def __init__(self):
        super().__init__()
        self.points = torch.linspace(0, 1, 16)[:, None].requires_grad_()
        self.net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self):
        u = self.net(self.points)
        (slope,) = torch.autograd.grad(u.sum(), self.points, create_graph=True)
        return (slope + u).square().mean() + (self.net(torch.zeros(1, 1)) - 1).square().mean()


torch.manual_seed(0)
model = Equation()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(40):
    optimizer.zero_grad()
    loss = model()
    loss.backward()
    optimizer.step()
