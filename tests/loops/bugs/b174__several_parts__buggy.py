# bug: B174
# id: left-frozen
"""An agent thaws two layers of the critic that it has frozen, and the critic has three."""

import torch
from torch import nn


class Agent:
    def __init__(self):
        self.actor = nn.Linear(4, 2)
        self.critic = nn.ModuleDict({"state": nn.Linear(4, 12), "action": nn.Linear(2, 12), "value": nn.Linear(12, 1)})
        self.of_actor = torch.optim.SGD(self.actor.parameters(), lr=1e-2)
        self.of_critic = torch.optim.SGD(self.critic.parameters(), lr=1e-2, momentum=0.9)

    def value(self, state, action):
        hidden = torch.tanh(self.critic["state"](state) + self.critic["action"](action))
        return self.critic["value"](hidden)

    def learn(self, state, action, reward):
        loss = (self.value(state, action) - reward).square().mean()
        self.of_critic.zero_grad()
        loss.backward()
        self.of_critic.step()
        self.critic.requires_grad_(False)
        loss = -self.value(state, self.actor(state)).mean()
        self.of_actor.zero_grad()
        loss.backward()
        self.of_actor.step()
        for layer in (self.critic["action"], self.critic["value"]):
            layer.requires_grad_(True)  # <-- bug


torch.manual_seed(0)
agent = Agent()
for _ in range(12):
    agent.learn(torch.randn(16, 4), torch.randn(16, 2), torch.randn(16, 1))
