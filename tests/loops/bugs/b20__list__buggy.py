# bug: B20
# id: scheduler-after-skipped-step
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40)
batches = [(torch.randn(8, 10), torch.randn(8, 2)) for _ in range(32)]

for x, y in batches:
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()  # <-- bug
print(f"lr {optimizer.param_groups[0]['lr']:.5f} scale {scaler.get_scale():g}")
