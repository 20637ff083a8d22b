# variant: BYOL: target projections under no_grad, the online layers learn through the other view
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 6))
predictor = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 6))
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
optimizer = torch.optim.AdamW([*online.parameters(), *predictor.parameters()], lr=2e-3)


def regression_loss(p, z):
    return 2 - 2 * F.cosine_similarity(p, z, dim=-1).mean()


for step in range(12):
    x = torch.randn(16, 8)
    view1, view2 = x + 0.1 * torch.randn_like(x), x * (torch.rand_like(x) > 0.2)
    with torch.no_grad():
        z1, z2 = target(view1), target(view2)
    loss = regression_loss(predictor(online(view1)), z2) + regression_loss(predictor(online(view2)), z1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, p_target in zip(online.parameters(), target.parameters()):
            p_target.lerp_(p, 0.05)
print(f"{loss.item():.4f}")
