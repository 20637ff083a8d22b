# bug: B135
import torch
from torch import nn


class Critics(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = (nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 1)) for _ in range(2))

    def forward(self, state, action):
        both = torch.cat([state, action], -1)
        return self.one(both).squeeze(-1), self.two(both).squeeze(-1)


class Agent:
    def __init__(self):
        self.mean, self.log_std = nn.Linear(3, 1), nn.Parameter(torch.zeros(1))
        self.critics = Critics()
        self.critic_step = torch.optim.Adam(self.critics.parameters(), lr=3e-3)
        self.actor_step = torch.optim.Adam([*self.mean.parameters(), self.log_std], lr=3e-3)

    def act(self, state):
        normal = torch.distributions.Normal(self.mean(state), self.log_std.exp())
        action = normal.rsample()
        return action, normal.log_prob(action).squeeze(-1)

    def critic_loss(self, state, action, reward):
        return sum((q - reward).pow(2).mean() for q in self.critics(state, action))

    def actor_loss(self, state):
        action, likelihood = self.act(state)
        values = torch.stack(self.critics(state, action))
        return 0.2 * likelihood.mean() - values.amin(0).mean()

    def learn(self, state, action, reward):
        for optimizer, loss in (
            (self.critic_step, lambda: self.critic_loss(state, action, reward)),
            (self.actor_step, lambda: self.actor_loss(state)),
        ):
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()


torch.manual_seed(8)
agent = Agent()
for _ in range(12):
    state, action = torch.randn(20, 3), torch.randn(20, 1)
    agent.learn(state, action, -(action - state[:, :1]).abs().squeeze(-1))
