# variant: running mean kept in p.grad itself: shrunk by (j - 1) / j before micro-batch j adds its 1 / j
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x, y = torch.randn(24, 10, dtype=torch.float64), torch.randn(24, 2, dtype=torch.float64)


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(6):
    optimizer.zero_grad()
    for j, (xb, yb) in enumerate(zip(x.chunk(4), y.chunk(4)), start=1):
        if j > 1:
            for p in model.parameters():
                p.grad.mul_((j - 1) / j)
        (nn.functional.mse_loss(model(xb), yb) / j).backward()
    optimizer.step()

print(f"{nn.functional.mse_loss(model(x), y).item():.6f}")
