# variant: the losses of two networks with an optimizer each go backward as one sum, and both step
import torch
from torch import nn

torch.manual_seed(13)
policy, energy = nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 1))
optimizers = [torch.optim.Adam(m.parameters(), lr=1e-3) for m in (policy, energy)]
for state in torch.randn(10, 16, 4):
    normal = torch.distributions.Normal(policy(state), 1.0)
    action = normal.sample()
    reward = -(action - state[:, :2]).pow(2).sum(1)
    loss = -(normal.log_prob(action).sum(1) * (reward - reward.mean())).mean()
    loss = loss + energy(state).mean() - energy(torch.randn(16, 4)).mean()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
