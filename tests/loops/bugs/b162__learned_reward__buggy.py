# bug: B162
# id: summand-without-graph
"""A policy trained through a learned model of its reward, which rests meanwhile."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1)
reward = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))
policy = nn.Linear(4, 1)
spread = nn.Parameter(torch.zeros(1))
reward_opt = torch.optim.Adam(reward.parameters(), lr=5e-3)
policy_opt = torch.optim.Adam([*policy.parameters(), spread], lr=5e-3)


def improve(state):
    law = Normal(policy(state), spread.exp())
    move = law.sample()  # <-- bug
    cost = 0.01 * law.log_prob(move).mean() - reward(torch.cat([state, move], -1)).mean()
    policy_opt.zero_grad()
    cost.backward()
    policy_opt.step()
    return cost.item()


for it in range(40):
    state, move = torch.randn(48, 4), torch.randn(48, 1)
    fit = (reward(torch.cat([state, move], -1)) + (move - state[:, 1:2]).abs()).pow(2).mean()
    reward_opt.zero_grad()
    fit.backward()
    reward_opt.step()
    for p in reward.parameters():
        p.requires_grad_(False)
    cost = improve(state)
    for p in reward.parameters():
        p.requires_grad_(True)
    if it % 10 == 9:
        print(it, fit.item(), cost)
