# variant: early stopping that breaks between two windows
# window: 2
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.7)
x, y, xv, yv = torch.randn(16, 6), torch.randn(16, 1), torch.randn(16, 6), torch.randn(16, 1)
best, patience, bad = float("inf"), 2, 0
for epoch in range(50):
    for xb, yb in zip(x.chunk(2), y.chunk(2)):
        (nn.functional.mse_loss(model(xb), yb) / 2).backward()
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        val = nn.functional.mse_loss(model(xv), yv).item()
    if val < best:
        best, bad, best_state = val, 0, copy.deepcopy(model.state_dict())
    else:
        bad += 1
        if bad > patience:
            break
model.load_state_dict(best_state)

print(f"stopped after epoch {epoch}, best {best:.4f}")
