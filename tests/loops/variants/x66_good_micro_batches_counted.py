# variant: two continues above the step: one passes over bad batches, the other waits for the k-th good one
import math

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
k, good = 3, 0
for i in range(41):
    x = torch.randn(8, 6)
    if i in (2, 4, 17, 26, 29):
        x[0, 0] = math.nan
    loss = (model(x) - x[:, :1]).pow(2).mean() / k
    if not math.isfinite(loss.item()):
        print(f"batch {i} passed over")
        continue
    loss.backward()
    good += 1
    if good < k:
        continue
    optimizer.step()
    optimizer.zero_grad()
    good = 0
