# bug: B259
"""Once the ramp has begun, the loss of what has no labels joins the other."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(12):
    x, unlabelled = torch.randn(16, 6), torch.randn(16, 6)
    known = F.cross_entropy(model(x), x[:, :3].argmax(1))
    with torch.no_grad():
        wanted = model(unlabelled).softmax(1)
    consistent = F.mse_loss(model(unlabelled + 0.1 * torch.randn_like(unlabelled)).softmax(1), wanted)
    weight = min(1.0, step / 6)
    loss = known
    if weight > 0:
        loss = loss + weight * consistent
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
