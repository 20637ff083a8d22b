# bug: B67
# id: average-every-micro-batch
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
ema = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
decay = 0.95
k = 4
batches = [(torch.randn(8, 10), torch.randn(8, 2)) for _ in range(40)]

optimizer.zero_grad()
for i, (x, y) in enumerate(batches):
    loss = F.mse_loss(model(x), y) / k
    loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        for e, p in zip(ema.parameters(), model.parameters()):  # <-- bug
            e.mul_(decay).add_(p, alpha=1 - decay)  # <-- bug

with torch.no_grad():
    print(f"{sum(F.mse_loss(ema(x), y) for x, y in batches) / len(batches):.4f}")
