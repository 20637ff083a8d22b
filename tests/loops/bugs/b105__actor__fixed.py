# bug: B105
import torch
from torch import nn

torch.manual_seed(7)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1)).requires_grad_(False)
optimizer = torch.optim.Adam(actor.parameters(), lr=1e-2)
for _ in range(10):
    states = torch.randn(24, 3)
    wanted = actor(states)
    actions = wanted + 0.2 * torch.randn_like(wanted)
    loss = -critic(torch.cat([states, actions], dim=1)).mean() + 1e-3 * wanted.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
