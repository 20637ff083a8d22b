# bug: B264
# id: last-parameter-alone
import copy

import torch
from torch import nn


def soft_update(target, online, tau):
    for theirs, mine in zip(target.parameters(), online.parameters()):
        mixed = tau * mine.data + (1 - tau) * theirs.data
    theirs.data.copy_(mixed)  # <-- bug


torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
for _ in range(20):
    state, following = torch.randn(8, 4), torch.randn(8, 4)
    with torch.no_grad():
        wanted = torch.rand(8) + 0.9 * target(following).max(1).values
    loss = nn.functional.mse_loss(online(state).max(1).values, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    soft_update(target, online, 0.05)
