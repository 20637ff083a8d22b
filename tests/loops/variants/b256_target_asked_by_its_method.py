# variant: a target network is asked through a method of its own, and one more is kept to be saved with the rest
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

    def values(self, states):
        return self.net(states)


class Learner:
    def __init__(self):
        self.critic = Critic()
        self.critic_target = copy.deepcopy(self.critic)
        self.opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def nets(self):
        return {"critic": self.critic, "target": self.critic_target}

    def learn(self, s, r, s2):
        with torch.no_grad():
            y = r + 0.9 * self.nets()["target"].values(s2).max(1).values
        loss = F.mse_loss(self.critic.values(s)[:, 0], y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.critic_target.load_state_dict(self.critic.state_dict())


torch.manual_seed(0)
learner = Learner()
for _ in range(20):
    learner.learn(torch.randn(16, 4), torch.randn(16), torch.randn(16, 4))
