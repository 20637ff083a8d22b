# variant: TD3+BC: the value of the action has its graph; the critic's gradients of that pass are cleared unused
import torch
from torch import nn

torch.manual_seed(14)
actor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
for_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
for_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
for state in torch.randn(10, 16, 4):
    action = torch.rand(16, 2) * 2 - 1
    for_critic.zero_grad()
    (critic(torch.cat([state, action], 1)).squeeze(1) - action.sum(1)).pow(2).mean().backward()
    for_critic.step()
    chosen = actor(state)
    value = critic(torch.cat([state, chosen], 1))
    loss = (chosen - action).pow(2).mean() - value.mean() / value.abs().mean().detach()
    for_actor.zero_grad()
    loss.backward()
    for_actor.step()
