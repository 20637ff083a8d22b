# variant: scaler, unscaled and clipped once per step; one layer is frozen and another one unused
import torch
from torch import nn

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
spare = nn.Linear(16, 2).double()
model = nn.ModuleDict({"body": body, "spare": spare})
body[0].requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
criterion = nn.MSELoss()
x = torch.randn(24, 10, dtype=torch.float64)
y = torch.randn(24, 2, dtype=torch.float64)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

for inputs, targets in list(zip(x.chunk(4), y.chunk(4), strict=True)) * 2:
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = criterion(model["body"](inputs), targets)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    scaler.step(optimizer)
    scaler.update()

print(f"loss {criterion(model['body'](x), y).item():.6f}")
