# bug: B109
# id: score-of-moving-sample
import torch
from torch import nn
from torch.distributions import Independent, Normal

torch.manual_seed(2)
mean, log_deviation = nn.Linear(3, 2), nn.Parameter(torch.zeros(2))
optimizer = torch.optim.Adam([*mean.parameters(), log_deviation], lr=1e-2)
for _ in range(12):
    states = torch.randn(48, 3)
    policy = Independent(Normal(mean(states), log_deviation.exp()), 1)
    actions = policy.rsample()  # <-- bug
    rewards = -(actions.detach() - states[:, :2]).square().sum(1)
    gains = (rewards - rewards.mean()) / rewards.std()
    loss = -(policy.log_prob(actions) * gains).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
