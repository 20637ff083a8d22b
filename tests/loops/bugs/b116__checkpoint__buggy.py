# bug: B116
# id: trained-in-eval-mode
"""The model is put into eval mode for a checkpoint, and trained on."""

import io

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.3), nn.Linear(24, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
best = float("inf")
for epoch in range(4):
    total = 0.0
    for x in torch.randn(6, 16, 6):
        loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if total < best:
        best = total
        model.eval()  # <-- bug
        torch.save({"model": model.state_dict(), "epoch": epoch}, io.BytesIO())
