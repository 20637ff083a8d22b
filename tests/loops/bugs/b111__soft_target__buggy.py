# bug: B111
# id: average-factors-swapped
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


class QNetwork(nn.Module):
    def __init__(self, states=4, actions=2, hidden=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(states, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, actions)

    def forward(self, s):
        return self.head(self.body(s))


class Agent:
    def __init__(self, gamma=0.97, tau=0.005):
        self.local, self.target = QNetwork(), QNetwork()
        self.target.load_state_dict(self.local.state_dict())
        self.optimizer = torch.optim.Adam(self.local.parameters(), lr=1e-3)
        self.memory: deque = deque(maxlen=500)
        self.gamma, self.tau = gamma, tau

    def act(self, state, eps):
        if random.random() < eps:
            return random.randrange(2)
        with torch.no_grad():
            return int(self.local(state).argmax())

    def learn(self, batch):
        s, a, r, n = (torch.stack(column) for column in zip(*batch))
        with torch.no_grad():
            wanted = r + self.gamma * self.target(n).amax(dim=1)
        chosen = self.local(s).gather(1, a.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(chosen, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.soft_update()
        return loss.item()

    def soft_update(self):
        for target_param, local_param in zip(self.target.parameters(), self.local.parameters()):
            target_param.data.copy_(self.tau * target_param.data + (1.0 - self.tau) * local_param.data)  # <-- bug


random.seed(0)
torch.manual_seed(0)
agent = Agent()
state = torch.randn(4)
for t in range(120):
    action = agent.act(state, eps=0.3)
    following = 0.9 * state + 0.3 * torch.randn(4) + 0.1 * action
    agent.memory.append((state, torch.tensor(action), -following.abs().sum(), following))
    state = following
    if t >= 40:
        loss = agent.learn(random.sample(agent.memory, 32))
print(f"{loss:.4f}")
