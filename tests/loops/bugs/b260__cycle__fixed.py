# bug: B260
import copy

import torch
import torch.nn.functional as F
from torch import nn


def update_average(average, model, decay=0.9):
    with torch.no_grad():
        for old, new in zip(average.parameters(), model.parameters()):
            old.mul_(decay).add_(new, alpha=1 - decay)


torch.manual_seed(0)
there = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3))
back = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3))
average_there = copy.deepcopy(there).requires_grad_(False)
optimizer = torch.optim.Adam([*there.parameters(), *back.parameters()], lr=2e-3)
for _ in range(20):
    here, away = torch.randn(16, 3), torch.randn(16, 3) + 1
    loss = F.l1_loss(back(there(here)), here) + F.l1_loss(there(back(away)), away)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_average(average_there, there)
print(f"{F.l1_loss(average_there(here), away).item():.4f}")
