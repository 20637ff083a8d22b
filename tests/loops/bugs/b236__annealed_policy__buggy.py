# bug: B236
# id: schedule-first-group
"""Advantage actor-critic with two groups, actor and critic, and a rate that goes down to zero."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([{"params": actor.parameters()}, {"params": critic.parameters()}], lr=3e-3)
updates = 24
for update in range(updates):
    lr = 3e-3 * (1 - update / updates)
    optimizer.param_groups[0]["lr"] = lr  # <-- bug
    seen = torch.randn(32, 4)
    policy = torch.distributions.Categorical(logits=actor(seen))
    action = policy.sample()
    earned = (action == (seen[:, 0] > 0)).float()
    value = critic(seen).squeeze(1)
    advantage = (earned - value).detach()
    loss = -(policy.log_prob(action) * advantage).mean() + 0.5 * (earned - value).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
