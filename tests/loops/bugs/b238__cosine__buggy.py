# bug: B238
# id: schedule-never-stepped
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
angles = torch.rand(96, 1) * 2 * math.pi
loader = DataLoader(TensorDataset(angles, torch.sin(angles)), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)  # <-- bug
for epoch in range(4):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, f"{loss.item():.4f}", optimizer.param_groups[0]["lr"])
