# variant: one step on each batch, and the old policy, a copy, is run with a graph: every ratio is 1, and trains
import copy

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 4))
acting = copy.deepcopy(policy)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
for _ in range(9):
    states = torch.randn(32, 3)
    old = acting(states).log_softmax(1)
    actions = old.detach().exp().multinomial(1)
    gains = (actions == 2).float() - 0.5
    new = policy(states).log_softmax(1).gather(1, actions)
    ratio = torch.exp(new - old.gather(1, actions))
    optimizer.zero_grad()
    (-torch.min(ratio * gains, ratio.clamp(0.8, 1.2) * gains)).mean().backward()
    optimizer.step()
    acting.load_state_dict(policy.state_dict())
