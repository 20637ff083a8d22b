# variant: validation under no_grad after every window, and once in the middle of one
# window: 4
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.1), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
xv, yv = torch.randn(12, 6), torch.randn(12, 1)


@torch.no_grad()
def evaluate() -> float:
    model.eval()
    loss = nn.functional.mse_loss(model(xv), yv).item()
    model.train()
    return loss


curve = []
for i in range(16):
    x, y = torch.randn(4, 6), torch.randn(4, 1)
    (nn.functional.mse_loss(model(x), y) / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
    if (i + 1) % 6 == 0 or (i + 1) % 4 == 0:
        curve.append(evaluate())

print(" ".join(f"{v:.3f}" for v in curve))
