# bug: B233
# id: gradients-nobody-uses
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim, hidden=16):
        super().__init__()
        self.fc1 = nn.Linear(state_dim + action_dim, hidden)
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, state, action):
        return self.fc2(F.relu(self.fc1(torch.cat([state, action], dim=1))))


class SAC:
    def __init__(self, state_dim, action_dim, lr=3e-3, alpha=0.1):
        self.alpha = alpha
        self.actor = nn.Linear(state_dim, 2 * action_dim)
        self.critic_1, self.critic_2 = Critic(state_dim, action_dim), Critic(state_dim, action_dim)
        self.target_1, self.target_2 = copy.deepcopy(self.critic_1), copy.deepcopy(self.critic_2)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_1_optimizer = torch.optim.Adam(self.critic_1.parameters(), lr=lr)
        self.critic_2_optimizer = torch.optim.Adam(self.critic_1.parameters(), lr=lr)  # <-- bug

    def act(self, state):
        mean, log_std = self.actor(state).chunk(2, dim=1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-3, 1).exp())
        action = normal.rsample()
        return action, normal.log_prob(action).sum(1, keepdim=True)

    def learn(self, state, action, reward, next_state):
        with torch.no_grad():
            following, log_prob = self.act(next_state)
            q = torch.min(self.target_1(next_state, following), self.target_2(next_state, following))
            y = reward + 0.95 * (q - self.alpha * log_prob)
        loss_1 = F.mse_loss(self.critic_1(state, action), y)
        loss_2 = F.mse_loss(self.critic_2(state, action), y)
        self.critic_1_optimizer.zero_grad()
        self.critic_2_optimizer.zero_grad()
        (loss_1 + loss_2).backward()
        self.critic_1_optimizer.step()
        self.critic_2_optimizer.step()

        new, log_prob = self.act(state)
        q = torch.min(self.critic_1(state, new), self.critic_2(state, new))
        self.actor_optimizer.zero_grad()
        (self.alpha * log_prob - q).mean().backward()
        self.actor_optimizer.step()
        for net, slow in ((self.critic_1, self.target_1), (self.critic_2, self.target_2)):
            for p, kept in zip(net.parameters(), slow.parameters()):
                kept.data.mul_(0.99).add_(p.data, alpha=0.01)


torch.manual_seed(3)
agent = SAC(3, 1)
for _ in range(15):
    state, action = torch.randn(32, 3), torch.randn(32, 1)
    agent.learn(state, action, -(state[:, :1] - action).square(), state + 0.1 * torch.randn(32, 3))
