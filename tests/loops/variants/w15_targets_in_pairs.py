# variant: target networks are moved through a list of pairs, which the text builds elsewhere

import copy

import torch
import torch.nn.functional as F
from torch import nn


class Twins:
    def __init__(self, states=4):
        self.q = nn.Sequential(nn.Linear(states, 16), nn.ReLU(), nn.Linear(16, 1))
        self.target_q = copy.deepcopy(self.q)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3)

    @property
    def pairs(self):
        return [(self.q, self.target_q)]

    def value(self, state):
        with torch.no_grad():
            return self.target_q(state)


def follow(agent, tau=0.05):
    with torch.no_grad():
        for net, slow in agent.pairs:
            torch._foreach_lerp_(list(slow.parameters()), list(net.parameters()), tau)


torch.manual_seed(0)
agent = Twins()
for step in range(120):
    state = torch.randn(16, 4)
    wanted = -state.norm(dim=1, keepdim=True) + 0.9 * agent.value(0.9 * state)
    loss = F.mse_loss(agent.q(state), wanted)
    agent.optimizer.zero_grad()
    loss.backward()
    agent.optimizer.step()
    follow(agent)
print(f"{loss:.4f}")
