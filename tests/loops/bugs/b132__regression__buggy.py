# bug: B132
# id: target-not-detached
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)
backbone = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 12), nn.LayerNorm(12))
head = nn.Sequential(nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 12))
optimizer = torch.optim.AdamW([*backbone.parameters(), *head.parameters()], lr=1e-3)


def regression(p, z):
    return F.mse_loss(F.normalize(p, dim=1), F.normalize(z, dim=1))


def step(a, b):
    za, zb = backbone(a), backbone(b)
    pa, pb = head(za), head(zb)
    loss = regression(pa, zb) + regression(pb, za.detach())  # <-- bug
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


for batch in torch.randn(10, 16, 8):
    step(batch * (torch.rand_like(batch) > 0.2), batch * (torch.rand_like(batch) > 0.2))
