# bug: B162
"""A soft actor-critic whose critic is frozen while the actor learns."""

import torch
import torch.nn.functional as F
from torch import nn


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, obs):
        mean, spread = self.body(obs).chunk(2, -1)
        law = torch.distributions.Normal(mean, spread.clamp(-3, 1).exp())
        action = law.rsample()
        return action, law.log_prob(action)


torch.manual_seed(0)
actor, critic = Actor(), nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-2)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
for update in range(40):
    obs, act = torch.randn(64, 3), torch.randn(64, 1)
    value_loss = F.mse_loss(critic(torch.cat([obs, act], 1)), -((act - obs[:, :1]) ** 2))
    critic_opt.zero_grad()
    value_loss.backward()
    critic_opt.step()
    critic.requires_grad_(False)
    action, logp = actor(obs)
    loss = (0.05 * logp - critic(torch.cat([obs, action], 1))).mean()
    actor_opt.zero_grad()
    loss.backward()
    actor_opt.step()
    critic.requires_grad_(True)
    if update % 10 == 9:
        print(update, value_loss.item(), loss.item())
