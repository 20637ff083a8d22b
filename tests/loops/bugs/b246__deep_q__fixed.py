# bug: B246
import copy
import random

import torch
import torch.nn.functional as F
from torch import nn


class Agent:
    def __init__(self, states=4, actions=2):
        self.net = nn.Sequential(nn.Linear(states, 32), nn.ReLU(), nn.Linear(32, actions))
        self.target_net = copy.deepcopy(self.net)
        self.optimizer = torch.optim.RMSprop(self.net.parameters(), lr=1e-3)
        self.memory = []

    def soft_update(self, tau=0.01):
        with torch.no_grad():
            for theirs, mine in zip(self.target_net.parameters(), self.net.parameters()):
                theirs.lerp_(mine, tau)

    def learn(self, size=16):
        states, actions, rewards, after = map(torch.stack, zip(*random.sample(self.memory, size)))
        values = self.net(states).gather(1, actions[:, None]).squeeze(1)
        with torch.no_grad():
            wanted = rewards + 0.99 * self.target_net(after).max(1).values
        loss = F.smooth_l1_loss(values, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.soft_update()
        return loss.item()


random.seed(0)
torch.manual_seed(0)
agent = Agent()
state = torch.randn(4)
for step in range(64):
    action = agent.net(state).argmax().detach()
    after = 0.9 * state + 0.1 * torch.randn(4)
    agent.memory.append((state, action, -after.norm(), after))
    state = after
    if len(agent.memory) >= 32:
        loss = agent.learn()
print(f"{loss:.4f}")
