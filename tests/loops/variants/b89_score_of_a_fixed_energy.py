# variant: a score network is drawn to the slope of a fixed energy, which needs no graph
import torch
from torch import nn

torch.manual_seed(0)
energy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
score = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(score.parameters(), lr=1e-2)
for _ in range(12):
    x = torch.randn(16, 2, requires_grad=True)
    slope = torch.autograd.grad(energy(x).sum(), x)[0]
    loss = (slope + score(x)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
