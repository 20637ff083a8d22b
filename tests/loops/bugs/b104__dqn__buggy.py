# bug: B104
# id: target-not-detached
import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
GAMMA = 0.9


class Agent:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.memory = []

    def act(self, state):
        with torch.no_grad():
            return self.net(state).argmax().item()

    def learn(self):
        batch = random.sample(self.memory, 16)
        states, actions, rewards, following, done = (torch.stack(column) for column in zip(*batch))
        chosen = self.net(states).gather(1, actions[:, None]).squeeze(1)
        best = self.net(following).max(dim=1).values  # <-- bug
        wanted = rewards + GAMMA * (1 - done) * best  # <-- bug
        self.optimizer.zero_grad()
        nn.functional.smooth_l1_loss(chosen, wanted).backward()
        self.optimizer.step()


agent, state = Agent(), torch.randn(4)
for turn in range(40):
    action = agent.act(state) if random.random() > 0.3 else random.randrange(3)
    after, reward = 0.8 * state + 0.3 * torch.randn(4), state[action]
    agent.memory.append((state, torch.tensor(action), reward, after, torch.tensor(float(turn % 10 == 9))))
    state = after
    if turn >= 20:
        agent.learn()
