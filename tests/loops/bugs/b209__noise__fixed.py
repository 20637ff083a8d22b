# bug: B209
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(20):
    x = torch.randn(16, 4)
    loss = (net(x) - x.prod(1, keepdim=True)).pow(2).mean()
    loss.backward()
    for p in net.parameters():
        p.grad += 0.01 * (1 + step) ** -0.5 * torch.randn_like(p)
    optimizer.step()
    optimizer.zero_grad()
