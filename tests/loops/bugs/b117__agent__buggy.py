# bug: B117
# id: optimizer-made-anew
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

    def configure(self):
        return torch.optim.RMSprop(self.q.parameters(), lr=1e-3)  # <-- bug

    def learn(self, states, actions, returns):
        optimizer = self.configure()  # <-- bug
        optimizer.zero_grad()
        chosen = self.q(states).gather(1, actions[:, None])[:, 0]
        nn.functional.smooth_l1_loss(chosen, returns).backward()
        nn.utils.clip_grad_norm_(self.q.parameters(), 1.0)
        optimizer.step()


torch.manual_seed(2)
agent = Agent()
for _ in range(15):
    agent.learn(torch.randn(16, 4), torch.randint(0, 2, (16,)), torch.randn(16))
