# bug: B44
# id: window-misaligned
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
x = torch.randn(78, 8)
y = torch.randn(78, 1)
y[10] = y[32] = math.inf
loader = DataLoader(TensorDataset(x, y), batch_size=3)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
accum_iter = 3

optimizer.zero_grad()
for batch_idx, (inputs, targets) in enumerate(loader):
    loss = criterion(model(inputs), targets)
    if not torch.isfinite(loss):
        print(f"batch {batch_idx}: loss is {loss.item()}, skipped")
        continue  # <-- bug
    loss = loss / accum_iter
    loss.backward()
    if (batch_idx + 1) % accum_iter == 0:  # <-- bug
        optimizer.step()
        optimizer.zero_grad()
