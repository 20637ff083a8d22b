# bug: B280
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
eps = 0.1

for _ in range(6):
    observed = torch.randn(64, 4)
    with torch.no_grad():
        acted = Categorical(logits=policy(observed))
        actions = acted.sample()
        before = acted.log_prob(actions)
    advantage = torch.randn(64)
    for _ in range(4):
        ratio = torch.exp(Categorical(logits=policy(observed)).log_prob(actions) - before)
        unclipped = ratio * advantage
        clipped = ratio.clamp(1 - eps, 1 + eps)
        loss = -torch.min(unclipped, clipped * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
