# bug: B60
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
batches = [(torch.randn(8, 10), torch.randn(8, 2)) for _ in range(8)]
batches[1][0][3, 4] = 1e6  # one wild value, infinite in float16

for x, y in batches:
    with torch.autocast("cpu", dtype=torch.float16):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() < before:
        print("step skipped")
    optimizer.zero_grad()
print(f"scale {scaler.get_scale()}")
