# variant: PINN: an Adam phase, then LBFGS with a closure on the same parameters
import math

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1)).double()
t = torch.linspace(0, math.pi, 20, dtype=torch.float64).unsqueeze(1).requires_grad_(True)


def loss_fn() -> torch.Tensor:
    u = net(t)
    (u_t,) = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)
    (u_tt,) = torch.autograd.grad(u_t, t, torch.ones_like(u_t), create_graph=True)
    residual = ((u_tt + u) ** 2).mean()
    boundary = u[0].pow(2).sum() + (u_t[0] - 1).pow(2).sum()
    return residual + boundary


adam = torch.optim.Adam(net.parameters(), lr=1e-2)
for it in range(10):
    adam.zero_grad()
    loss = loss_fn()
    loss.backward()
    adam.step()
t.grad = None

lbfgs = torch.optim.LBFGS(net.parameters(), max_iter=5, line_search_fn="strong_wolfe")


def closure() -> torch.Tensor:
    lbfgs.zero_grad()
    loss = loss_fn()
    loss.backward()
    return loss


for it in range(3):
    final = lbfgs.step(closure)

print(f"{loss.item():.5f} {final.item():.5f}")
