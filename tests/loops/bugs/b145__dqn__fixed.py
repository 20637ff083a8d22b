# bug: B145
import copy
import random
from collections import deque

import torch
from torch import nn


class Agent:
    def __init__(self, states=4, actions=3, gamma=0.95):
        self.online = nn.Sequential(nn.Linear(states, 32), nn.ReLU(), nn.Linear(32, actions))
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.memory, self.gamma = deque(maxlen=400), gamma

    def learn(self, size=16):
        states, actions, rewards, following = map(torch.stack, zip(*random.sample(self.memory, size)))
        said = self.online(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            wanted = rewards + self.gamma * self.target(following).amax(dim=1)
        loss = ((said - wanted) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


random.seed(0)
torch.manual_seed(0)
agent, state = Agent(), torch.randn(4)
for t in range(60):
    action = torch.randint(3, ())
    following = 0.9 * state + 0.3 * torch.randn(4) + 0.1 * action
    agent.memory.append((state, action, -following.abs().sum(), following))
    state = following
    if t >= 30:
        agent.learn()
    if t % 10 == 9:
        agent.target.load_state_dict(agent.online.state_dict())
