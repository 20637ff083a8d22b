# bug: B173
import random

import torch
import torch.nn.functional as F
from torch import nn


class Agent:
    def __init__(self, states=4, actions=3):
        self.policy_network = nn.Sequential(nn.Linear(states, 24), nn.ReLU(), nn.Linear(24, actions))
        self.target_network = nn.Sequential(nn.Linear(states, 24), nn.ReLU(), nn.Linear(24, actions))
        self.target_network.load_state_dict(self.policy_network.state_dict())
        self.optimizer = torch.optim.AdamW(self.policy_network.parameters(), lr=1e-3)
        self.memory = []

    def learn(self, size=16):
        states, actions, rewards, after = map(torch.stack, zip(*random.sample(self.memory, size)))
        values = self.policy_network(states).gather(1, actions[:, None]).squeeze(1)
        with torch.no_grad():
            wanted = rewards + 0.95 * self.target_network(after).max(1).values
        loss = F.huber_loss(values, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def update_target(self):
        self.target_network.load_state_dict(self.policy_network.state_dict())


random.seed(0)
torch.manual_seed(0)
agent = Agent()
state = torch.randn(4)
for step in range(96):
    action = agent.policy_network(state).argmax().detach()
    after = 0.9 * state + 0.1 * torch.randn(4)
    agent.memory.append((state, action, -after.norm(), after))
    state = after
    if len(agent.memory) >= 32:
        agent.learn()
    if step % 20 == 19:
        agent.update_target()
