# bug: B61
"""Both critics are cleared."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
values, critic = nn.Linear(4, 1), nn.Linear(6, 1)
target = copy.deepcopy(values)
of_values = torch.optim.Adam(values.parameters(), lr=1e-3)
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(12):
    state, action, later = torch.randn(16, 4), torch.randn(16, 2), torch.randn(16, 4)
    pair = torch.cat([state, action], 1)
    loss = F.mse_loss(values(state), critic(pair).detach())
    of_values.zero_grad()
    loss.backward()
    of_values.step()
    loss = F.mse_loss(critic(pair), state[:, :1] + 0.9 * target(later).detach())
    of_critic.zero_grad()
    loss.backward()
    of_critic.step()
    with torch.no_grad():
        for mine, theirs in zip(target.parameters(), values.parameters()):
            mine.lerp_(theirs, 0.01)
