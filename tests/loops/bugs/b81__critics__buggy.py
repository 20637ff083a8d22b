# bug: B81
# id: gradients-nobody-uses
import copy
from itertools import chain

import torch
import torch.nn.functional as F
from torch import nn


class TD3:
    def __init__(self, obs_dim, act_dim):
        self.actor = nn.Sequential(nn.Linear(obs_dim, 16), nn.ReLU(), nn.Linear(16, act_dim), nn.Tanh())
        self.q1 = nn.Sequential(nn.Linear(obs_dim + act_dim, 16), nn.ReLU(), nn.Linear(16, 1))
        self.q2 = nn.Sequential(nn.Linear(obs_dim + act_dim, 16), nn.ReLU(), nn.Linear(16, 1))
        self.actor_target, self.q1_target, self.q2_target = map(copy.deepcopy, (self.actor, self.q1, self.q2))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.q1.parameters(), lr=1e-3)  # <-- bug
        self.it = 0

    @torch.no_grad()
    def soft_update(self, tau=0.005):
        online = chain(self.actor.parameters(), self.q1.parameters(), self.q2.parameters())
        target = chain(self.actor_target.parameters(), self.q1_target.parameters(), self.q2_target.parameters())
        for p, p_target in zip(online, target):
            p_target.lerp_(p, tau)

    def train(self, obs, action, reward, next_obs):
        self.it += 1
        with torch.no_grad():
            noise = (torch.randn_like(action) * 0.2).clamp(-0.5, 0.5)
            next_sa = torch.cat([next_obs, (self.actor_target(next_obs) + noise).clamp(-1, 1)], 1)
            target_q = reward + 0.99 * torch.min(self.q1_target(next_sa), self.q2_target(next_sa))
        sa = torch.cat([obs, action], 1)
        critic_loss = F.mse_loss(self.q1(sa), target_q) + F.mse_loss(self.q2(sa), target_q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        if self.it % 2 == 0:
            actor_loss = -self.q1(torch.cat([obs, self.actor(obs)], 1)).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            self.soft_update()
        return critic_loss.item()


torch.manual_seed(1)
agent = TD3(3, 1)
for _ in range(12):
    loss = agent.train(torch.randn(16, 3), torch.rand(16, 1) * 2 - 1, torch.randn(16, 1), torch.randn(16, 3))
print(f"{loss:.4f}")
