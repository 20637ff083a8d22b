# bug: B174
# id: left-frozen
"""The critic is frozen while the actor is trained; a layer of it is not thawed after that."""

import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.value = nn.Linear(6, 24), nn.Linear(24, 1)

    def forward(self, state, action):
        return self.value(torch.relu(self.inner(torch.cat([state, action], 1))))


torch.manual_seed(0)
actor, critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2)), Critic()
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(12):
    state, action, reward = torch.randn(16, 4), torch.randn(16, 2), torch.randn(16, 1)
    critic_loss = F.mse_loss(critic(state, action), reward)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    for parameter in critic.parameters():
        parameter.requires_grad_(False)
    actor_loss = -critic(state, actor(state)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    for parameter in critic.value.parameters():
        parameter.requires_grad_(True)  # <-- bug
