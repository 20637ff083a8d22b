# variant: linear warm-up then cosine through SequentialLR, one scheduler step per window
# window: 2
# reference: yes
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 1)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.05)
scheduler = SequentialLR(
    optimizer, [LinearLR(optimizer, 0.1, total_iters=3), CosineAnnealingLR(optimizer, T_max=7)], milestones=[3]
)
x, y = torch.randn(80, 6, dtype=torch.float64), torch.randn(80, 1, dtype=torch.float64)
rows = slice(0, 0)


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for update in range(10):
    rows = slice(8 * update, 8 * update + 8)
    for xb, yb in zip(x[rows].split(4), y[rows].split(4)):
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.div(2).backward()
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad(set_to_none=True)

print(f"{loss.item():.4f} {scheduler.get_last_lr()[0]:.2e}")
