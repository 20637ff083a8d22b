# bug: B196
# id: weights-drawn-back
import copy

import torch
from torch import nn


def soft_update(rho, net, target_net):
    with torch.no_grad():
        for p, kept in zip(net.parameters(), target_net.parameters()):
            kept.data.copy_(rho * kept.data + (1 - rho) * p.data)


class Agent:
    def __init__(self):
        self.first, self.second = nn.Linear(5, 1), nn.Linear(5, 1)
        self.first_target, self.second_target = copy.deepcopy(self.first), copy.deepcopy(self.second)
        both = [*self.first.parameters(), *self.second.parameters()]
        self.optimizer = torch.optim.Adam(both, lr=1e-2)

    def learn(self, state, reward, after):
        with torch.no_grad():
            target = reward + 0.9 * torch.min(self.first_target(after), self.second_target(after))
        loss = nn.functional.mse_loss(self.first(state), target) + nn.functional.mse_loss(self.second(state), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        soft_update(0.99, self.first, self.first_target)
        soft_update(0.99, self.second_target, self.second)  # <-- bug


torch.manual_seed(0)
agent = Agent()
for _ in range(60):
    agent.learn(torch.randn(32, 5), torch.randn(32, 1), torch.randn(32, 5))
