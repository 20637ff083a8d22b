# bug: B269
# id: average-begins-elsewhere
import torch
from torch import nn


def build(states, actions):
    return nn.Sequential(nn.Linear(states, 24), nn.ReLU(), nn.Linear(24, actions))


class Agent:
    def __init__(self, states, actions, tau=0.01):
        self.online, self.target = build(states, actions), build(states, actions)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.tau = tau

    def learn(self, state, action, reward, following):
        with torch.no_grad():
            wanted = reward + 0.95 * self.target(following).max(1).values
        value = self.online(state).gather(1, action[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.follow()

    def follow(self):
        for theirs, mine in zip(self.target.parameters(), self.online.parameters()):
            theirs.data.copy_(self.tau * mine.data + (1 - self.tau) * theirs.data)  # <-- bug


torch.manual_seed(0)
agent = Agent(4, 3)
for _ in range(24):
    agent.learn(torch.randn(16, 4), torch.randint(0, 3, (16,)), torch.rand(16), torch.randn(16, 4))
