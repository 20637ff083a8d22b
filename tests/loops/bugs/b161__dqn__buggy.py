# bug: B161
# id: weights-drawn-back
"""Q-learning with a soft target update after every step."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target = copy.deepcopy(online)
opt = torch.optim.Adam(online.parameters(), lr=1e-3)
tau = 0.01
for update in range(60):
    s, s2, r = torch.randn(32, 4), torch.randn(32, 4), torch.randn(32)
    a = torch.randint(0, 2, (32, 1))
    with torch.no_grad():
        y = r + 0.95 * target(s2).max(1).values
    loss = F.smooth_l1_loss(online(s).gather(1, a).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    for p, q in zip(online.parameters(), target.parameters()):
        p.data.copy_(tau * p.data + (1 - tau) * q.data)  # <-- bug
    if update % 20 == 19:
        print(update, loss.item())
