# variant: one target is copied with tau = 1, another one follows with tau = 0.5
import copy

import torch
import torch.nn.functional as F
from torch import nn


def polyak(target, source, tau):
    with torch.no_grad():
        for t, s in zip(target.parameters(), source.parameters()):
            t.data.lerp_(s.data, tau)


torch.manual_seed(2)
critic = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))
slow, fast = copy.deepcopy(critic), copy.deepcopy(critic)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(40):
    s, n, r = torch.randn(32, 4), torch.randn(32, 4), torch.randn(32, 1)
    with torch.no_grad():
        wanted = r + 0.95 * torch.minimum(slow(n), fast(n))
    loss = F.mse_loss(critic(s), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    polyak(slow, critic, 0.5)
    polyak(fast, critic, 1.0)
print(f"{loss.item():.4f}")
