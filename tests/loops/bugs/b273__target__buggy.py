# bug: B273
# id: remainder-of-one
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
period = 8
for t in range(24):
    state, following = torch.randn(8, 4), torch.randn(8, 4)
    with torch.no_grad():
        wanted = torch.rand(8) + 0.9 * target(following).max(1).values
    loss = F.smooth_l1_loss(online(state).max(1).values, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if t + 1 % period == 0:  # <-- bug
        target.load_state_dict(online.state_dict())
