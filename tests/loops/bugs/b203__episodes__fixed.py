# bug: B203
import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
EPISODES = 4
for _ in range(8):
    optimizer.zero_grad()
    total = 0
    for _ in range(EPISODES):
        gain = 0
        for t in range(5):
            dist = torch.distributions.Categorical(logits=policy(torch.randn(3)))
            action = dist.sample()
            gain += dist.log_prob(action) * (5 - t)
        total += gain
    loss = -total / EPISODES
    loss.backward()
    optimizer.step()
