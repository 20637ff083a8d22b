# variant: nan marks a missing target; only what is present is taken before the loss, so no nan is computed with
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
k = 2
optimizer.zero_grad()
for i in range(20):
    x, y = torch.randn(8, 6), torch.randn(8, 3)
    y[torch.rand(8, 3) < 0.3] = float("nan")
    present = ~y.isnan()
    loss = nn.functional.mse_loss(model(x)[present], y[present], reduction="sum") / (8 * 3 * k)
    loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item():.4f}")
