# variant: scaler and fused AdamW: step() is called on inf all the same, and the kernel itself moves nothing
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
for step in range(12):
    x = torch.randn(8, 6)
    if step in (2, 8):
        x[3] = 1e6
    with torch.autocast("cpu", dtype=torch.float16):
        out = model(x)
    loss = nn.functional.mse_loss(out.float(), x[:, :1])
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

print(f"scale {scaler.get_scale()}, finite {all(p.isfinite().all() for p in model.parameters())}")
