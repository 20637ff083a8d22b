# bug: B173
# id: weights-drawn-back
import copy

import torch
from torch import nn
from torch.nn import functional as F


def soft_update(target, online, tau):
    for t, o in zip(target.parameters(), online.parameters()):
        t.data -= tau * (t.data - o.data)


class Agent:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
        self.target = copy.deepcopy(self.online)
        self.opt = torch.optim.Adam(self.online.parameters(), lr=2e-3)

    def learn(self, s, a, r, s2):
        with torch.no_grad():
            goal = r + 0.9 * self.target(s2).max(1).values
        loss = F.mse_loss(self.online(s).gather(1, a[:, None]).squeeze(1), goal)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        soft_update(self.online, self.target, tau=0.01)  # <-- bug


torch.manual_seed(2)
agent = Agent()
for _ in range(40):
    agent.learn(torch.randn(32, 4), torch.randint(0, 2, (32,)), torch.randn(32), torch.randn(32, 4))
