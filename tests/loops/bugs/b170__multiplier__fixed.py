# bug: B170
import torch
from torch import nn

torch.manual_seed(2)
policy = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
multiplier = torch.full((1,), 0.5, requires_grad=True)
opt_policy = torch.optim.Adam(policy.parameters(), lr=3e-3)
opt_multiplier = torch.optim.SGD([multiplier], lr=0.05)

for step in range(16):
    obs = torch.randn(32, 5)
    action = policy(obs)
    reward, cost = -((action - 2) ** 2), action**2
    lagrangian = -reward.mean() + (multiplier * cost).mean()
    loss_multiplier = -(multiplier * (cost.detach() - 1)).mean()
    opt_policy.zero_grad()
    lagrangian.backward(retain_graph=True)
    opt_multiplier.zero_grad()
    loss_multiplier.backward()
    opt_policy.step()
    opt_multiplier.step()
    with torch.no_grad():
        multiplier.clamp_(min=0.01)
