# variant: gradients are clipped on purpose through NumPy views that are read before and not afterwards
import numpy as np
import torch
from torch import nn


def clip_by_share(model, share):
    shown = []
    for p in model.parameters():
        values = p.grad.numpy()
        limit = np.quantile(np.abs(values), share)
        shown.append(float(limit))
        values *= min(1.0, limit / (np.abs(values).max() + 1e-12))
    return shown


torch.manual_seed(4)
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(12):
    x = torch.randn(16, 5)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    loss.backward()
    limits = clip_by_share(model, 0.9)
    optimizer.step()
print(f"{loss.item():.4f}", " ".join(f"{limit:.3f}" for limit in limits))
