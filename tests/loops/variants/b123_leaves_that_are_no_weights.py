# variant: leaves with a gradient that nobody trains: points of an equation, fixed inputs, a multiplier, noise
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
start = torch.tensor(0.0).view(-1, 1).requires_grad_(True)
points = torch.linspace(0, 1, 20).view(-1, 1).requires_grad_(True)
inputs = torch.rand(20, 1).requires_grad_(True)
aims = torch.cos(inputs.detach()).requires_grad_(True)
multiplier = torch.tensor(0.1, requires_grad=True)
by_hand = torch.tensor(0.5, requires_grad=True)
for step in range(20):
    (slope,) = torch.autograd.grad(net(2 * points - 1).sum(), points, create_graph=True)
    noise = (0.01 * torch.randn(20, 1)).requires_grad_(True)
    at_start = net(start)
    (turn,) = torch.autograd.grad(at_start, start, create_graph=True)
    loss = (slope + net(2 * points - 1)).square().mean() + turn.square().sum()
    loss = loss + multiplier * (at_start - 1).square().sum()
    loss = loss + (net(inputs / 2) + noise * 0.1 - aims).square().mean() + (by_hand * net(points)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        multiplier += 0.1 * (at_start.detach() - 1).square().sum()
        by_hand -= 0.01 * by_hand.grad
        by_hand.grad = None
print(f"{loss.item():.4f}")
