# variant: a target network is a part of the agent that the optimizer holds: no gradient reaches it, it is copied
import copy

import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
        self.target = copy.deepcopy(self.online)


torch.manual_seed(0)
agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-2)
for step in range(24):
    if step % 5 == 4:
        agent.target.load_state_dict(agent.online.state_dict())
    states, following, reward = torch.randn(16, 3), torch.randn(16, 3), torch.randn(16)
    with torch.no_grad():
        wanted = reward + 0.9 * agent.target(following).max(1).values
    optimizer.zero_grad()
    nn.functional.smooth_l1_loss(agent.online(states)[:, 0], wanted).backward()
    optimizer.step()
