# bug: B66
# id: guard-skips-window-end
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
k = 4
batches = [(torch.randn(6, 8), torch.randn(6, 1)) for _ in range(48)]
for bad in (5, 15, 26, 35):
    batches[bad][0][1, 2] = math.nan

optimizer.zero_grad()
for i, (x, y) in enumerate(batches):
    loss = F.mse_loss(model(x), y)
    if not torch.isfinite(loss):  # <-- bug
        print(f"batch {i}: loss {loss.item()}, skipped")
        continue  # <-- bug
    (loss / k).backward()
    if (i + 1) % k == 0:  # <-- bug
        optimizer.step()
        optimizer.zero_grad()
