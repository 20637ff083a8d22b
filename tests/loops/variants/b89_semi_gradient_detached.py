# variant: the derivative of the network is a constant on purpose, and the text says so
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(12):
    x, t = torch.randn(16, 1), torch.rand(16, 1).requires_grad_(True)
    u = net(torch.cat([x, t], dim=1))
    change = torch.autograd.grad(u.sum(), t, retain_graph=True)[0].detach()
    target = (x - t * change).detach()
    loss = (u - target).pow(2).mean() + (t.detach() * change + u - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
