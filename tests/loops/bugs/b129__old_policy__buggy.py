# bug: B129
# id: loaded-onto-itself
"""A clipped policy gradient whose old policy is to be the one that acted."""

import torch
from torch import nn
from torch.distributions import Categorical


class Agent:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.old = self.policy  # <-- bug
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=3e-3)

    def update(self, states, actions, advantages):
        for _ in range(4):
            with torch.no_grad():
                before = Categorical(logits=self.old(states)).log_prob(actions)
            ratio = (Categorical(logits=self.policy(states)).log_prob(actions) - before).exp()
            loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.sync()

    def sync(self):
        self.old.load_state_dict(self.policy.state_dict())  # <-- bug


torch.manual_seed(1)
agent = Agent()
for _ in range(8):
    states = torch.randn(32, 4)
    with torch.no_grad():
        actions = Categorical(logits=agent.old(states)).sample()
    agent.update(states, actions, torch.randn(32))
