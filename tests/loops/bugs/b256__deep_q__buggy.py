# bug: B256
# id: target-never-asked
import random

import torch
import torch.nn.functional as F
from torch import nn


class QNet(nn.Module):
    def __init__(self, states=4, actions=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(states, 32), nn.ReLU(), nn.Linear(32, actions))

    def forward(self, x):
        return self.body(x)


class Agent:
    def __init__(self):
        self.q_net = QNet()
        self.target_net = QNet()
        self.target_net.load_state_dict(self.q_net.state_dict())
        self.target_net.eval()
        self.optimizer = torch.optim.Adam(self.q_net.parameters(), lr=1e-3)
        self.memory = []
        self.learned = 0

    def act(self, state):
        with torch.no_grad():
            return self.q_net(state).argmax()

    def learn(self, size=16):
        states, actions, rewards, next_states = map(torch.stack, zip(*random.sample(self.memory, size)))
        values = self.q_net(states).gather(1, actions[:, None]).squeeze(1)
        with torch.no_grad():
            best = self.q_net(next_states).max(1)[0]  # <-- bug
        loss = F.smooth_l1_loss(values, rewards + 0.98 * best)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.learned += 1
        if self.learned % 10 == 0:
            self.target_net.load_state_dict(self.q_net.state_dict())


random.seed(0)
torch.manual_seed(0)
agent = Agent()
state = torch.randn(4)
for step in range(72):
    action = agent.act(state) if random.random() > 0.2 else torch.tensor(random.randrange(3))
    after = 0.9 * state + 0.1 * torch.randn(4)
    agent.memory.append((state, action, -after.norm(), after))
    state = after
    if len(agent.memory) >= 32:
        agent.learn()
