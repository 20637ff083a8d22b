# bug: B84
"""The actor's loss asks the actor itself."""

import torch
from torch import nn


class Agent:
    def __init__(self):
        self.actor, self.critic = nn.Linear(4, 2), nn.Linear(6, 1)
        self.of_actor = torch.optim.SGD(self.actor.parameters(), lr=1e-2)
        self.of_critic = torch.optim.SGD(self.critic.parameters(), lr=1e-2)

    def act(self, state):
        with torch.no_grad():
            return torch.tanh(self.actor(state))

    def learn(self, state, action, reward):
        loss = (self.critic(torch.cat([state, action], 1)) - reward).square().mean()
        self.of_critic.zero_grad()
        loss.backward()
        self.of_critic.step()
        action = torch.tanh(self.actor(state))
        loss = -self.critic(torch.cat([state, action], 1)).mean()
        self.of_actor.zero_grad()
        loss.backward()
        self.of_actor.step()


torch.manual_seed(0)
agent = Agent()
for _ in range(12):
    state = torch.randn(16, 4)
    agent.learn(state, agent.act(state), state[:, :1])
