# bug: B89
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
t = torch.linspace(0, 1, 24).unsqueeze(1)
start = torch.zeros(1, 1)


def residual():
    points = t.clone().requires_grad_(True)
    u = net(points)
    (slope,) = torch.autograd.grad(
        outputs=u,
        inputs=points,
        grad_outputs=torch.ones_like(u),
        create_graph=True,
    )
    (bend,) = torch.autograd.grad(
        outputs=slope,
        inputs=points,
        grad_outputs=torch.ones_like(slope),
        create_graph=True,
    )
    return bend + torch.sin(t)


for _ in range(10):
    optimizer.zero_grad()
    loss = residual().pow(2).mean() + (net(start) - 1).pow(2).mean()
    loss.backward()
    optimizer.step()
