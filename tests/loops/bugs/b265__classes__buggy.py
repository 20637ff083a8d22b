# bug: B265
# id: sum-beside-means
# severity: info
"""A loss of several labels is a mean over them, and what is to be consistent is summed over them."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(12):
    x, unlabelled = torch.randn(16, 6), torch.randn(24, 6)
    known = F.binary_cross_entropy_with_logits(model(x), (x.repeat(1, 2)[:, :8] > 0).float())
    with torch.no_grad():
        wanted = model(unlabelled).sigmoid()
    noisy = model(unlabelled + 0.1 * torch.randn_like(unlabelled)).sigmoid()
    consistent = torch.mean(torch.sum((noisy - wanted) ** 2, dim=1))  # <-- bug
    loss = known + consistent
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
