# variant: the whole loop in one autocast block whose weight cache is off
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 6), torch.randn(16, 1)
with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
    for step in range(6):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x).float(), y)
        loss.backward()
        optimizer.step()

print(f"{loss.item():.4f}")
