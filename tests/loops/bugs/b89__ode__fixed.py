# bug: B89
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(20):
    t = (torch.rand(32, 1) * 2).requires_grad_(True)
    u = net(t)
    du = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    residual = ((du + 0.5 * u) ** 2).mean()
    start = (net(torch.zeros(1, 1)) - 1).pow(2).mean()
    loss = residual + 10 * start
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
