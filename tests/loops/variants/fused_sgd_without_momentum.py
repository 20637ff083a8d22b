# variant: a fused SGD without momentum whose first steps are skipped
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, fused=True)
scaler = torch.amp.GradScaler("cpu")
loss_fn = nn.MSELoss(reduction="sum")

for step in range(12):
    x = torch.randn(32, 16)
    y = 4 * x[:, :4]
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print(f"loss {loss.item():.4f}, scale {scaler.get_scale():g}")
