# variant: accumulation with two averages of the weights, a short and a long one, each updated once per step
import copy

import torch
from torch import nn


@torch.no_grad()
def update(average, model, decay):
    for a, p in zip(average.parameters(), model.parameters()):
        a.mul_(decay).add_(p, alpha=1 - decay)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
averages = {0.9: copy.deepcopy(model), 0.99: copy.deepcopy(model)}
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
k = 4
for i in range(40):
    x = torch.randn(8, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean() / k
    loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()
        for decay, average in averages.items():
            update(average, model, decay)

print(" ".join(f"{next(a.parameters()).norm().item():.4f}" for a in averages.values()))
