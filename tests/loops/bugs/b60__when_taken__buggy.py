# bug: B60
# id: kept-gradients-of-skipped-step
"""The gradients are cleared where the scaler has taken the step, and kept where it has skipped it."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
for _ in range(12):
    x = 10 * torch.randn(16, 6)
    loss = nn.functional.mse_loss(model(x), x[:, :1])
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() >= before:
        optimizer.zero_grad()  # <-- bug
