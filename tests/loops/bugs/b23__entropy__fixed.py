# bug: B23
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(4)


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.critic = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=1e-3)

    def act(self, state):
        mean, log_std = self.actor(state).chunk(2, 1)
        normal = Normal(mean, log_std.clamp(-3, 1).exp())
        raw = normal.rsample()
        action = torch.tanh(raw)
        return action, normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)

    def update(self, state):
        wanted = -(state[:, :1] ** 2)
        self.critic_optimizer.zero_grad()
        action, _ = self.act(state)
        nn.functional.mse_loss(self.critic(torch.cat([state, action.detach()], 1)), wanted).backward()
        self.critic_optimizer.step()

        action, log_prob = self.act(state)
        self.critic.requires_grad_(False)
        value = self.critic(torch.cat([state, action], 1))
        self.critic.requires_grad_(True)
        self.actor_optimizer.zero_grad()
        (self.log_alpha.exp().detach() * log_prob - value).mean().backward()
        self.actor_optimizer.step()

        self.alpha_optimizer.zero_grad()
        (-self.log_alpha * (log_prob + 1.0).detach()).mean().backward()
        self.alpha_optimizer.step()


agent = Agent()
for step in range(20):
    agent.update(torch.randn(32, 4))
