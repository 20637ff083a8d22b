# bug: B17
# id: unscaled-every-micro-batch
# window: 4
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
k = 4
batches = [(torch.randn(6, 10), torch.randn(6, 2)) for _ in range(24)]

for i, (x, y) in enumerate(batches):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = F.mse_loss(model(x), y) / k
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)  # <-- bug
    if (i + 1) % k == 0:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        optimizer.zero_grad()
    scaler.update()  # <-- bug
print(loss.item())
