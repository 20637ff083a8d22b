# bug: B102
import copy

import torch
from torch import nn

torch.manual_seed(3)
online = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=5e-3)

for step in range(24):
    now, following, reward = torch.randn(16, 4), torch.randn(16, 4), torch.randn(16)
    action = torch.randint(2, (16, 1))
    with torch.no_grad():
        best = reward + 0.9 * target(following).max(dim=1).values
    loss = nn.functional.smooth_l1_loss(online(now).gather(1, action).squeeze(1), best)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), online.parameters(), strict=True):
            slow *= 0.99
            slow += 0.01 * fast
print(loss.item())
