# variant: Welford style running mean of the micro-batch gradients in a list of one's own
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x, y = torch.randn(24, 10, dtype=torch.float64), torch.randn(24, 2, dtype=torch.float64)
params = [p for p in model.parameters() if p.requires_grad]


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(6):
    mean = [torch.zeros_like(p) for p in params]
    for j, (xb, yb) in enumerate(zip(x.chunk(4), y.chunk(4)), start=1):
        model.zero_grad()
        nn.functional.mse_loss(model(xb), yb).backward()
        for m, p in zip(mean, params):
            m += (p.grad - m) / j
    for m, p in zip(mean, params):
        p.grad.copy_(m)
    optimizer.step()

print(f"{nn.functional.mse_loss(model(x), y).item():.6f}")
