# variant: a guard that clears and skips the step when a gradient is not finite
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
skipped = 0
for step in range(10):
    x = torch.randn(8, 6)
    if step in (3, 6):
        x[0, 0] = float("inf")
    loss = ((model(x) - 1) ** 2).mean()
    loss.backward()
    total_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if not torch.isfinite(total_norm):
        skipped += 1
        optimizer.zero_grad()
        continue
    optimizer.step()
    optimizer.zero_grad()

print(f"skipped {skipped} {all(p.isfinite().all() for p in model.parameters())}")
