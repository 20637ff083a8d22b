# bug: B58
import math

import torch
from torch import nn


def gradient_norm(model):
    total = 0.0
    for p in model.parameters():
        if p.grad is None:
            continue
        values = p.grad.detach().cpu().numpy().ravel()
        values = values**2
        total += float(values.sum())
    return math.sqrt(total)


torch.manual_seed(3)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(96, 6)
labels = x[:, :3].argmax(1)
norms = []
for at in range(0, 96, 8):
    loss = nn.functional.cross_entropy(model(x[at : at + 8]), labels[at : at + 8])
    optimizer.zero_grad()
    loss.backward()
    norms.append(gradient_norm(model))
    optimizer.step()
print(" ".join(f"{norm:.3f}" for norm in norms), f"{loss.item():.4f}")
