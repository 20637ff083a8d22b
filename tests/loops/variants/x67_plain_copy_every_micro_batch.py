# variant: a worker's copy of the weights is refreshed before every micro-batch: a copy made twice is the same copy
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3))
actor = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
k = 4
for i in range(40):
    with torch.no_grad():
        for mine, theirs in zip(actor.parameters(), model.parameters()):
            mine.copy_(theirs)
        states = torch.randn(8, 6)
        actions = torch.distributions.Categorical(logits=actor(states)).sample()
    advantage = (actions == 1).float() - 0.3
    loss = -(advantage * model(states).log_softmax(-1).gather(1, actions[:, None]).squeeze(1)).mean()
    (loss / k).backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item():.4f}")
