# variant: float16 autocast with a scaler that skips its first steps; the scheduler steps only when the scaler did
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20)
skipped = 0
for step in range(14):
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() >= before:
        scheduler.step()
    else:
        skipped += 1
    optimizer.zero_grad()

print(f"{loss.item():.4f} skipped {skipped} lr {scheduler.get_last_lr()[0]:.4f}")
