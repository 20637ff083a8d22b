# bug: B107
# id: ratio-always-one
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)

for rollout in range(2):
    with torch.no_grad():
        states = torch.randn(32, 4)
        dist = Categorical(logits=policy(states))
        actions = dist.sample()
        gains = states.gather(1, actions[:, None]).squeeze(1)
        gains = (gains - gains.mean()) / gains.std()
    for epoch in range(4):
        for rows in torch.randperm(32).split(16):
            log_prob = Categorical(logits=policy(states[rows])).log_prob(actions[rows])
            with torch.no_grad():
                before = Categorical(logits=policy(states[rows])).log_prob(actions[rows])  # <-- bug
            ratio = torch.exp(log_prob - before)
            loss = -torch.min(ratio * gains[rows], ratio.clamp(0.8, 1.2) * gains[rows]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
