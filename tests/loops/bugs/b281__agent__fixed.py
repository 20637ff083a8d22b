# bug: B281
"""An agent acts in eval mode, and is put back into train mode."""

import torch
import torch.nn.functional as F
from torch import nn


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
        self.of_actor = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.of_critic = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.memory = []

    def act(self, state):
        self.actor.eval()
        with torch.no_grad():
            action = self.actor(state[None])[0]
        self.actor.train()
        return action + 0.1 * torch.randn(2)

    def learn(self):
        state, action, reward = map(torch.stack, zip(*self.memory[-16:]))
        loss = F.mse_loss(self.critic(torch.cat([state, action], 1)), reward)
        self.of_critic.zero_grad()
        loss.backward()
        self.of_critic.step()
        loss = -self.critic(torch.cat([state, self.actor(state)], 1)).mean()
        self.of_actor.zero_grad()
        loss.backward()
        self.of_actor.step()


torch.manual_seed(0)
agent = Agent()
for step in range(48):
    state = torch.randn(4)
    action = agent.act(state)
    agent.memory.append((state, action, (state[:1] * action[:1])))
    if step >= 16:
        agent.learn()
