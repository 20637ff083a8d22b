# bug: B234
# id: loaded-onto-itself
import random

import torch
from torch import nn

random.seed(1)
torch.manual_seed(1)


class Agent:
    def __init__(self):
        self.q_net = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
        self.target_net = self.q_net  # <-- bug
        self.opt = torch.optim.Adam(self.q_net.parameters(), lr=1e-3)

    def learn(self, s, a, r, s2, done):
        q = self.q_net(s).gather(1, a)
        with torch.no_grad():
            best = self.target_net(s2).max(1, keepdim=True).values
        loss = nn.functional.smooth_l1_loss(q, r + 0.98 * (1 - done) * best)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


agent = Agent()
memory = [
    (torch.randn(4), random.randrange(3), random.random(), torch.randn(4), random.random() < 0.1) for _ in range(80)
]
for _ in range(30):
    s, a, r, s2, done = zip(*random.sample(memory, 16))
    column = [torch.tensor(one, dtype=torch.float32).view(-1, 1) for one in (r, done)]
    agent.learn(torch.stack(s), torch.tensor(a).view(-1, 1), column[0], torch.stack(s2), column[1])
