# bug: B120
# id: loss-scaled-twice
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for step in range(12):
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.mse_loss(model(x).float(), x[:, :1])
    loss = scaler.scale(loss)  # <-- bug
    scaler.scale(loss).backward()  # <-- bug
    scaler.step(optimizer)
    scaler.update()
print(loss.item())
