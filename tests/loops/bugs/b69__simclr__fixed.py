# bug: B69
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 8))
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
temperature = 0.2
k = 4
data = torch.randn(256, 10)


def augment(x):
    return x + 0.2 * torch.randn_like(x)


def info_nce(a, b):
    logits = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T / temperature
    return F.cross_entropy(logits, torch.arange(len(a)))


for step in range(8):
    window = data[32 * step : 32 * (step + 1)].chunk(k)
    views = [(augment(x), augment(x)) for x in window]
    with torch.no_grad():
        za, zb = (torch.cat([encoder(x) for x in part]) for part in zip(*views))
    loss = info_nce(za.requires_grad_(), zb.requires_grad_())  # over all 32 rows: each has 31 negatives
    grads = torch.autograd.grad(loss, (za, zb))
    optimizer.zero_grad()
    for (a, b), ga, gb in zip(views, grads[0].chunk(k), grads[1].chunk(k)):
        torch.autograd.backward((encoder(a), encoder(b)), (ga, gb))
    optimizer.step()
print(f"{loss.item():.4f}")
