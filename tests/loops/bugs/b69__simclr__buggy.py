# bug: B69
# id: contrastive-loss-accumulated
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
    optimizer.zero_grad()
    for x in window:
        loss = info_nce(encoder(augment(x)), encoder(augment(x))) / k  # <-- bug
        loss.backward()  # <-- bug
    optimizer.step()
print(f"{loss.item() * k:.4f}")
