# variant: a policy's actions are drawn with sample(), and a divergence from the old policy is in the loss
import copy

import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(0)
policy = nn.Linear(4, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for _ in range(12):
    old = copy.deepcopy(policy)
    states = torch.randn(24, 4)
    now = Normal(policy(states), 0.5)
    actions = now.sample()
    reward = -(actions - states[:, :2]).square().sum(-1)
    with torch.no_grad():
        before = Normal(old(states), 0.5)
    stays = kl_divergence(now, before).sum(-1).mean()
    loss = -(now.log_prob(actions).sum(-1) * (reward - reward.mean())).mean() + 0.1 * stays
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
