# bug: B18
# id: loss-not-scaled
"""The losses of physics go backward by themselves, and without the scale."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu")
for _ in range(8):
    x = torch.randn(16, 6)
    made = model(x)
    smooth = (made[1:] - made[:-1]).square().mean()
    loss = nn.functional.mse_loss(made, x[:, :1])
    optimizer.zero_grad()
    (0.1 * smooth).backward(retain_graph=True)  # <-- bug
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
