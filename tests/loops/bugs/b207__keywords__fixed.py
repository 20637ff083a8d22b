# bug: B207
"""A curve through a few points that is to bend little; what is minimized is put together in a function."""

import torch
from torch import nn


def total(*, data, bending, weight=0.1):
    smooth = weight * bending
    return data + smooth


class Curve(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, t):
        return self.net(t)

    def slope_energy(self, t):
        t = t.clone().requires_grad_(True)
        (slope,) = torch.autograd.grad(self(t).sum(), t, create_graph=True)
        return slope.pow(2).mean()


torch.manual_seed(0)
curve = Curve()
optimizer = torch.optim.Adam(curve.parameters(), lr=1e-2)
points = torch.linspace(-1, 1, 9).unsqueeze(1)
values = torch.sign(points) + 0.1 * torch.randn_like(points)
for _ in range(30):
    optimizer.zero_grad()
    fit = (curve(points) - values).pow(2).mean()
    energy = curve.slope_energy(torch.rand(32, 1) * 2 - 1)
    loss = total(data=fit, bending=energy)
    loss.backward()
    optimizer.step()
print(loss.item())
