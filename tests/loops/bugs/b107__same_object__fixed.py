# bug: B107
import copy

import torch
from torch import nn
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.value = nn.Linear(3, 1), nn.Linear(3, 1)

    def evaluate(self, states, actions):
        return Normal(self.mean(states), 0.5).log_prob(actions).sum(-1), self.value(states).squeeze(-1)


torch.manual_seed(1)
policy = Policy()
acting = copy.deepcopy(policy)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for _ in range(4):
    states = torch.randn(24, 3)
    with torch.no_grad():
        actions = acting.mean(states) + 0.5 * torch.randn(24, 1)
    gains = -(actions[:, 0] - states.sum(1)).abs()
    for _ in range(3):
        old, _ = acting.evaluate(states, actions)
        new, value = policy.evaluate(states, actions)
        ratio = torch.exp(new - old)
        better = gains - value.detach()
        loss = -torch.min(ratio * better, ratio.clamp(0.8, 1.2) * better).mean() + (gains - value).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    acting.load_state_dict(copy.deepcopy(policy.state_dict()))
