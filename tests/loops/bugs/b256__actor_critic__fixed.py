# bug: B256
import copy

import torch
import torch.nn.functional as F
from torch import nn


def soft_update(target, source, tau):
    with torch.no_grad():
        for old, new in zip(target.parameters(), source.parameters()):
            old.mul_(1 - tau).add_(tau * new)


torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(7, 24), nn.ReLU(), nn.Linear(24, 1))
actor_target = copy.deepcopy(actor)
critic_target = copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(40):
    s, a, r, s2 = torch.randn(32, 5), torch.rand(32, 2) * 2 - 1, torch.randn(32, 1), torch.randn(32, 5)
    with torch.no_grad():
        a2 = actor_target(s2)
        q2 = critic_target(torch.cat([s2, a2], 1))
        y = r + 0.97 * q2
    critic_loss = F.mse_loss(critic(torch.cat([s, a], 1)), y)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    actor_loss = -critic(torch.cat([s, actor(s)], 1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    soft_update(actor_target, actor, 0.01)
    soft_update(critic_target, critic, 0.01)
