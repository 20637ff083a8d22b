# bug: B202
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
inside = torch.linspace(0, 1, 20).reshape(-1, 1).requires_grad_()
for _ in range(12):
    u = net(inside)
    slope = torch.autograd.grad(u, inside, torch.ones_like(u), create_graph=True)[0]
    residual = (slope + u).square().mean()
    start = (net(torch.zeros(1, 1)) - 1).square().mean()
    loss = residual + start
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
