# bug: B157
import random
from collections import deque

import torch
from torch import nn


class Agent:
    def __init__(self, policy, target):
        self.policy, self.target, self.memory = policy, target, deque(maxlen=256)
        self.optimizer = torch.optim.RMSprop(policy.parameters(), lr=1e-3)
        self.target.load_state_dict(policy.state_dict())

    def optimize(self, size=16, gamma=0.9):
        states, actions, following, rewards = map(torch.stack, zip(*random.sample(self.memory, size)))
        values = self.policy(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            wanted = rewards + gamma * self.target(following).amax(1)
        loss = nn.functional.smooth_l1_loss(values, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        for param in self.policy.parameters():
            if param.grad is not None:
                torch.clamp(param.grad, -1, 1, out=param.grad)
        self.optimizer.step()


random.seed(0)
torch.manual_seed(0)
agent = Agent(*(nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2)) for _ in range(2)))
state = torch.randn(3)
for t in range(60):
    action, following = torch.randint(2, ()), 0.9 * state + 0.3 * torch.randn(3)
    agent.memory.append((state, action, following, following.sum() * (2 * action - 1)))
    state = following
    if t >= 32:
        agent.optimize()
    if t % 10 == 0:
        agent.target.load_state_dict(agent.policy.state_dict())
